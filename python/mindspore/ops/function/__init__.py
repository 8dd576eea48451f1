"""mindspore.ops under the paths that the original sorts its functions into."""
import sys

from mindspore import ops as _ops
from mindspore._c import Tensor


_PARTS = ('array_func', 'math_func', 'nn_func', 'linalg_func', 'random_func', 'clip_func', 'debug_func', 'grad', 'image_func', 'other_func',
              'parameter_func', 'sparse_func', 'sparse_unary_func', 'spectral_func', 'vmap_func', 'fft_func', 'reshard_func', 'fused_func', '_add_attr_func')


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    if name in _PARTS or name == 'F':  # the short name that scripts import from here
        return sys.modules[__name__]
    try:
        return getattr(_ops, name)
    except AttributeError:
        if name.startswith('new_'):
            return getattr(Tensor, name)
        if not name.endswith('_ext'):
            raise
        from mindspore.ops import auto_generate
        return getattr(auto_generate, name)


def __dir__():
    return dir(_ops)


for _name in _PARTS:
    sys.modules[f'{__name__}.{_name}'] = sys.modules[__name__]
