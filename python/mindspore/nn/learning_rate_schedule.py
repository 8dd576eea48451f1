"""Learning rates as Cells of the step counter."""
import math

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_float, check_positive_int

__all__ = ["LearningRateSchedule", "ExponentialDecayLR", "NaturalExpDecayLR", "InverseDecayLR", "CosineDecayLR",
           "PolynomialDecayLR", "WarmUpLR"]


class LearningRateSchedule(Cell):
    """Base of schedules: ``construct(global_step)`` gives the learning rate."""

    def construct(self, global_step):
        raise NotImplementedError(f"'{self.cls_name}' must define 'construct'.")


def _float(step):
    return step.astype(mstype.float32)


class _Decay(LearningRateSchedule):
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        who = self.cls_name
        self.learning_rate = check_float(learning_rate, "learning_rate", who, 0.0, True)
        self.decay_rate = check_float(decay_rate, "decay_rate", who, 0.0, True)
        self.decay_steps = check_positive_int(decay_steps, "decay_steps", who)
        self.is_stair = check_bool(is_stair, "is_stair", who)

    def _progress(self, global_step):
        p = _float(global_step) / self.decay_steps
        return p.floor() if self.is_stair else p


class ExponentialDecayLR(_Decay):
    """lr rate^(step / steps)"""

    def construct(self, global_step):
        return (self._progress(global_step) * math.log(self.decay_rate)).exp() * self.learning_rate


class NaturalExpDecayLR(_Decay):
    """lr exp(-rate step); stairs: step rounded down to a multiple of steps"""

    def construct(self, global_step):
        step = self._progress(global_step) * self.decay_steps if self.is_stair else _float(global_step)
        return (step * -self.decay_rate).exp() * self.learning_rate


class InverseDecayLR(_Decay):
    """lr / (1 + rate step / steps)"""

    def construct(self, global_step):
        return self.learning_rate / (self._progress(global_step) * self.decay_rate + 1)


class CosineDecayLR(LearningRateSchedule):
    """From max_lr to min_lr along half a cosine."""

    def __init__(self, min_lr, max_lr, decay_steps):
        super().__init__()
        who = self.cls_name
        if not isinstance(min_lr, float):
            raise TypeError(f"For '{who}', the type of 'min_lr' must be float, but got {type(min_lr).__name__}.")
        if min_lr < 0:
            raise ValueError(f"For '{who}', the 'min_lr' must be float and must >= 0, but got '{min_lr}' with type 'float'.")
        check_float(max_lr, "max_lr", who, 0.0, True)
        check_positive_int(decay_steps, "decay_steps", who)
        if min_lr >= max_lr:
            raise ValueError(f"For '{who}', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' value: {max_lr}, "
                             f"'min_lr' value: {min_lr}.")
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, decay_steps

    def construct(self, global_step):
        p = ops.minimum(_float(global_step), Tensor(self.decay_steps, mstype.float32))
        return ((p * (math.pi / self.decay_steps)).cos() + 1.0) * (0.5 * (self.max_lr - self.min_lr)) + self.min_lr


class PolynomialDecayLR(LearningRateSchedule):
    """From learning_rate to end_learning_rate along a power of the rest of the way."""

    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False):
        super().__init__()
        who = self.cls_name
        check_float(learning_rate, "learning_rate", who, 0.0, True)
        check_float(end_learning_rate, "end_learning_rate", who, 0.0)
        check_positive_int(decay_steps, "decay_steps", who)
        check_float(power, "power", who, 0.0, True)
        self.update_decay_steps = check_bool(update_decay_steps, "update_decay_steps", who)
        self.learning_rate, self.end_learning_rate = learning_rate, end_learning_rate
        self.decay_steps, self.power = decay_steps, power

    def construct(self, global_step):
        step, total = _float(global_step), Tensor(self.decay_steps, mstype.float32)
        if self.update_decay_steps:
            total = total * ops.maximum((step / self.decay_steps).ceil(), Tensor(1.0, mstype.float32))
        else:
            step = ops.minimum(step, total)
        rest = (1.0 - step / total).pow(self.power)
        return rest * (self.learning_rate - self.end_learning_rate) + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """Rises linearly to learning_rate within warmup_steps."""

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        who = self.cls_name
        if not isinstance(learning_rate, float):
            raise TypeError(f"For '{who}', the type of 'learning_rate' must be float, but got {type(learning_rate).__name__}.")
        check_float(learning_rate, "learning_rate", who, 0.0)
        check_positive_int(warmup_steps, "warmup_steps", who)
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps

    def construct(self, global_step):
        share = ops.minimum(_float(global_step) / self.warmup_steps, Tensor(1.0, mstype.float32))
        return share * self.learning_rate
