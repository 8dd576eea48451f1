"""Training steps with a loss scale, for gradients of half precision."""
from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_positive_int
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell, value_and_grad_of

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]


class DynamicLossScaleUpdateCell(Cell):
    """Divides the scale by ``scale_factor`` after an overflow, multiplies it after ``scale_window`` steps without."""

    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        self.scale_window = check_positive_int(scale_window, "scale_window", self.cls_name)
        self.scale_factor = check_positive_int(scale_factor, "scale_factor", self.cls_name)
        if isinstance(loss_scale_value, bool) or not isinstance(loss_scale_value, (int, float)) or loss_scale_value <= 0:
            raise ValueError(f"For '{self.cls_name}', the 'loss_scale_value' must be a number > 0, but got {loss_scale_value}.")
        self.loss_scale_value = loss_scale_value
        self.cur_iter = Parameter(Tensor(1, mstype.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, mstype.int32), name="last_overflow_iterator_step")

    def get_loss_scale(self):
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        _nn.update_loss_scale(loss_scale, self.cur_iter, self.last_overflow_iter, overflow, float(self.scale_factor),
                              self.scale_window)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """A scale that stays."""

    def __init__(self, loss_scale_value):
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self):
        return self.loss_scale_value

    def construct(self, _, overflow):
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step on the scaled loss: (loss, overflow, scale). A step that overflows leaves the parameters alone."""

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer, sens=None)
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            self.scale_sense = Parameter(Tensor(float(scale_sense.get_loss_scale()), mstype.float32), name="scale_sense")
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((), (1,)):
                raise ValueError(f"For '{self.cls_name}', the shape of 'scale_sense' must be (1,) or (), but got "
                                 f"{scale_sense.shape}.")
            self.scale_sense = Parameter(scale_sense, name="scale_sense")
        else:
            raise TypeError(f"For '{self.cls_name}', the 'scale_sense' must be Cell or Tensor, but got 'scale_sense' type: "
                            f"{type(scale_sense)}.")

    def construct(self, *inputs):
        network, scale = self.network, self.scale_sense
        status, sens = self.start_overflow_check(0, scale)

        def scaled(*args):
            loss = network(*args)
            return loss * sens.astype(loss.dtype), loss
        (_, loss), grads = value_and_grad_of(scaled, None, self.weights, True)(*inputs)
        grads = tuple(g * (1.0 / sens).astype(g.dtype) for g in grads)
        grads = self.grad_reducer(grads)
        cond = self.get_overflow_status(status, grads)
        overflow = self.process_loss_scale(cond)
        sens = sens + 0.0
        if not overflow:
            loss = ops.depend(loss, self.optimizer(grads))
        return loss, cond, sens

    def set_sense_scale(self, sens):
        """Sets the scale that steps begin with from now on."""
        if not isinstance(sens, Tensor):
            raise TypeError(f"For '{self.cls_name}', the input type must be Tensor, but got {type(sens).__name__}.")
        if self.loss_scaling_manager is not None and isinstance(sens, Parameter):
            self._params["scale_sense"] = sens
            return
        self._params["scale_sense"].set_data(sens)

    def start_overflow_check(self, pre_cond, compute_input):
        """(status, compute_input): there is no flag to clear, overflow is seen in the gradients."""
        return False, compute_input

    def get_overflow_status(self, status, compute_output):
        """Whether a value of the Tensors ``compute_output`` is infinite or NaN, as a bool Tensor."""
        return ops.logical_not(_nn.all_finite(compute_output))

    def process_loss_scale(self, overflow):
        """Lets the manager adapt the scale; returns whether this step overflowed."""
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow
