"""Tensors, parameters, dtypes and initializers."""
from mindspore._c import Tensor
from mindspore.common.dtype import *  # noqa: F403
from mindspore.context import JitConfig, get_seed, set_seed

_HOME = {'Parameter': 'parameter', 'ParameterTuple': 'parameter', 'initializer': 'initializer', 'dtype': 'dtype',
         'parameter': 'parameter', 'tensor': 'tensor', 'api': 'api', 'mutable': '_mutable', 'jit': 'api'}


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'mindspore.common' has no attribute {name!r}")
    import importlib
    module = importlib.import_module('mindspore.common.' + _HOME[name])
    return module if name == _HOME[name] and not hasattr(module, name) else getattr(module, name)
