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
    """Metrics, which used to live here, are imported when they are first named."""
    import importlib
    if name in ("grad", "utils", "probability", "metrics"):
        return importlib.import_module("mindspore.nn." + name)
    if name in ("Jvp", "Vjp"):
        return getattr(importlib.import_module("mindspore.nn.grad"), name)
    if name == "no_init_parameters":
        return importlib.import_module("mindspore.nn.utils").no_init_parameters
    older = importlib.import_module("mindspore.nn.older")
    if name in older.__all__:
        return getattr(older, name)
    if name.startswith("_"):
        raise AttributeError(f"module 'mindspore.nn' has no attribute {name!r}")
    from mindspore.train import metrics
    value = metrics.get_metrics if name == "get_metrics" and hasattr(metrics, "get_metrics") else getattr(metrics, name, None)
    if value is None:
        raise AttributeError(f"module 'mindspore.nn' has no attribute {name!r}")
    return value
