"""Optimizers after PyTorch's definitions."""
from mindspore.experimental.optim import SGD, Adam, AdamW

__all__ = ["Adam", "AdamW", "SGD", "FusedAdamW"]


class FusedAdamW(AdamW):
    """AdamW over groups; every group is one call anyway."""
