"""mindspore.amp: mixed precision and loss scaling."""
from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.train.amp import (auto_mixed_precision, build_train_network, custom_mixed_precision, get_black_list,
                                 get_white_list)
from mindspore.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = ["DynamicLossScaleManager", "LossScaleManager", "FixedLossScaleManager", "build_train_network", "DynamicLossScaler",
           "StaticLossScaler", "LossScaler", "auto_mixed_precision", "all_finite", "custom_mixed_precision", "get_white_list",
           "get_black_list", "init_status"]


def init_status():
    """The state that older versions passed to all_finite: overflow is read from the values, so it says nothing."""
    return Tensor([0.0] * 8, mstype.float32)


def all_finite(inputs, status=None):
    """Whether no element of the Tensors in ``inputs`` is infinite or NaN, as a bool Tensor."""
    return _nn.all_finite(inputs)


def _each(inputs, factor):
    if isinstance(inputs, (tuple, list)):
        scaled = [_each(x, factor) for x in inputs]
        return tuple(scaled) if isinstance(inputs, tuple) else scaled
    return inputs * factor.astype(inputs.dtype)


class LossScaler:
    """Base: scales values, takes the scale off gradients, adapts it."""

    def scale(self, inputs):
        """Inputs times the scale."""
        raise NotImplementedError

    def unscale(self, inputs):
        """Inputs over the scale."""
        raise NotImplementedError

    def adjust(self, grads_finite):
        """Adapts the scale to whether the gradients were finite."""
        raise NotImplementedError


class StaticLossScaler(LossScaler):
    """A constant scale."""

    def __init__(self, scale_value):
        if isinstance(scale_value, bool) or not isinstance(scale_value, (int, float)) or scale_value < 1.0:
            raise ValueError("For 'StaticLossScaler', the argument 'scale_value' must be a number >= 1.0, but got "
                             f"{scale_value}.")
        self.scale_value = Parameter(Tensor(scale_value, mstype.float32), name="scale_value")

    def scale(self, inputs):
        return _each(inputs, self.scale_value)

    def unscale(self, inputs):
        return _each(inputs, 1 / self.scale_value)

    def adjust(self, grads_finite):
        return False


class DynamicLossScaler(LossScaler):
    """A scale divided by ``scale_factor`` after an overflow and multiplied after ``scale_window`` finite steps in a row."""

    def __init__(self, scale_value, scale_factor, scale_window):
        if isinstance(scale_value, bool) or not isinstance(scale_value, (int, float)) or scale_value < 1.0:
            raise ValueError("For 'DynamicLossScaler', the argument 'scale_value' must be a number >= 1.0, but got "
                             f"{scale_value}.")
        for name, value in (("scale_window", scale_window), ("scale_factor", scale_factor)):
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise ValueError(f"For 'DynamicLossScaler', the argument '{name}' must be a positive int, but got {value}.")
        self.scale_value = Parameter(Tensor(scale_value, mstype.float32), name="scale_value")
        self.scale_window, self.scale_factor = scale_window, scale_factor
        self.counter = Parameter(Tensor(0, mstype.int32), name="counter")

    def scale(self, inputs):
        return _each(inputs, self.scale_value)

    def unscale(self, inputs):
        return _each(inputs, 1 / self.scale_value)

    def adjust(self, grads_finite):
        _nn.adjust_scale(self.scale_value, self.counter, grads_finite, float(self.scale_factor), self.scale_window)
        return True
