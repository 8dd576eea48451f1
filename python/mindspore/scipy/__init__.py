"""scipy's functions on Tensors."""
from mindspore.scipy import fft, linalg, optimize  # noqa: F401
