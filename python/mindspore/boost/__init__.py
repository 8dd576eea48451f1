"""Ways to train with less memory."""
from mindspore.boost.grad_accumulation import GradientAccumulation

__all__ = ["GradientAccumulation"]
