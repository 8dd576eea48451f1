"""Names that existing code takes from the original's extension."""
from mindspore._c import Tensor
from mindspore._c import Tensor as TensorPy
from mindspore.common import dtype as typing

__all__ = ['Tensor', 'TensorPy', 'typing', 'security']


class security:
    """Whether this was built without the tools that write data out: it never is."""

    @staticmethod
    def enable_security():
        return False
