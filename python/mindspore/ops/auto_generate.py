"""Primitive classes, functions, and the functions of mindspore.mint under their names with `_ext`."""
from mindspore import mint as _mint
from mindspore import ops as _ops


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    try:
        return getattr(_ops, name)
    except AttributeError:
        if name.endswith('_ext'):
            return getattr(_mint, name[:-4])
        raise


def __dir__():
    return dir(_ops)
