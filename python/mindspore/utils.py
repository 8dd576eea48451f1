"""Exchange of tensors with other libraries."""
from mindspore._c import from_dlpack, to_dlpack

__all__ = ['from_dlpack', 'to_dlpack']
