"""Primitive classes, functions, and the functions of mindspore.mint under their names with `_ext`."""
import sys as _sys

from mindspore import mint as _mint
from mindspore import ops as _ops


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    if name in _PARTS:
        return _sys.modules[__name__]
    try:
        return getattr(_ops, name)
    except AttributeError:
        if name.endswith('_ext'):
            return getattr(_mint if hasattr(_mint, name[:-4]) else _mint.nn.functional, name[:-4])
        raise


def __dir__():
    return dir(_ops)


__path__ = []
_PARTS = ('gen_ops_def', 'gen_ops_prim', 'gen_arg_handler', 'gen_arg_dtype_cast', 'cpp_create_prim_instance_helper')
for _name in _PARTS:
    _sys.modules[f'{__name__}.{_name}'] = _sys.modules[__name__]
