"""Neural network building blocks: Cells, layers, losses, optimizers, learning rates."""
from mindspore.nn import dynamic_lr, layer, learning_rate_schedule, loss, optim, wrap
from mindspore.nn.cell import Cell
from mindspore.nn.dynamic_lr import *  # noqa: F403
from mindspore.nn.layer import *  # noqa: F403
from mindspore.nn.learning_rate_schedule import *  # noqa: F403
from mindspore.nn.loss import *  # noqa: F403
from mindspore.nn.optim import *  # noqa: F403
from mindspore.nn.wrap import *  # noqa: F403

__all__ = ["Cell"] + (dynamic_lr.__all__ + layer.__all__ + learning_rate_schedule.__all__ + loss.__all__ + optim.__all__ +
                      wrap.__all__)


def __getattr__(name):
    """What is seldom used is imported when it is first named: some modules, and the names of theirs that belong here too."""
    import importlib
    lazy = ("grad", "utils", "probability", "metrics", "older")
    if name in lazy:
        return importlib.import_module("mindspore.nn." + name)
    for module in () if name.startswith("_") else ("grad", "utils", "older", "metrics"):
        module = importlib.import_module("mindspore.nn." + module)
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'mindspore.nn' has no attribute {name!r}")
