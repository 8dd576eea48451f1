"""The Tensor under the path that existing code imports it from."""
from mindspore._c import Tensor

__all__ = ['Tensor']
