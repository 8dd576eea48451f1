"""Optimizers with parameter groups that can be changed between steps, and schedules of their learning rates."""
from mindspore.experimental.optim import lr_scheduler
from mindspore.experimental.optim.optimizer import Optimizer
from mindspore.experimental.optim.rules import *  # noqa: F403
from mindspore.experimental.optim.rules import __all__ as _rules

__all__ = ["Optimizer", "lr_scheduler", *_rules]
