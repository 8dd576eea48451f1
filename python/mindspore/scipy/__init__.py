"""scipy's functions on Tensors."""
from mindspore.scipy import fft, linalg, ops, optimize, utils  # noqa: F401
