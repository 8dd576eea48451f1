"""mindspore.ops under the path that existing code imports as F."""
from mindspore import ops as _ops


def __getattr__(name):
    return getattr(_ops, name)


def __dir__():
    return dir(_ops)
