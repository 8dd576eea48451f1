"""Optimizers."""
from mindspore.nn.optim.adam import Adam, AdamWeightDecay
from mindspore.nn.optim.adaptive import Adagrad, RMSProp
from mindspore.nn.optim.momentum import SGD, Momentum
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.nn.optim.rules import *  # noqa: F403
from mindspore.nn.optim import rules

__all__ = ["Optimizer", "SGD", "Momentum", "Adam", "AdamWeightDecay", "RMSProp", "Adagrad"] + rules.__all__
