"""Functions on tensors: every row `ops.x` of the registry, and the transformations under their second path."""
from mindspore import _c

globals().update(_c.rows('ops'))

_TRANSFORMATIONS = ('grad', 'value_and_grad', 'vjp', 'jvp', 'vmap', 'jacfwd', 'jacrev', 'get_grad')
_COMPOSITE = ('GradOperation', 'HyperMap', 'Map', 'MultitypeFuncGraph', 'partial', 'depend')


def __getattr__(name):
    if name in _TRANSFORMATIONS:
        from mindspore import autodiff
        return getattr(autodiff, name)
    if name in _COMPOSITE:
        from mindspore.ops import composite
        return getattr(composite, name)
    if name in ('functional', 'function'):
        import importlib
        return importlib.import_module('mindspore.ops.functional')
    raise AttributeError(f"module 'mindspore.ops' has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | set(_TRANSFORMATIONS) | set(_COMPOSITE) | {'functional'})
