"""Making networks without initial values."""
import contextlib

from mindspore.common import initializer as _initializer

__all__ = ["no_init_parameters"]


@contextlib.contextmanager
def no_init_parameters():
    """Parameters made inside are zeros: their values will be loaded, so that drawing them would be a waste."""
    make = _initializer.make
    _initializer.make = lambda init, shape, dtype: make(_initializer.Zero(), shape, dtype)
    try:
        yield
    finally:
        _initializer.make = make
