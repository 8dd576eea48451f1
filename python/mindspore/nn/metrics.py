"""The metrics under the older name of their module."""
from mindspore.train.metrics import *  # noqa: F403
from mindspore.train.metrics import __all__  # noqa: F401
