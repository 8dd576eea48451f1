"""PyTorch-shaped functions: every row `mint.x` of the registry."""
from mindspore import _c

globals().update(_c.rows('mint'))
_MODULES = ('nn', 'optim', 'linalg', 'special', 'distributed')


def __getattr__(name):
    if name in _MODULES:
        import importlib
        try:
            return importlib.import_module('mindspore.mint.' + name)
        except ModuleNotFoundError:
            pass
    raise AttributeError(f"module 'mindspore.mint' has no attribute {name!r}")
