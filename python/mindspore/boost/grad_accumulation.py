"""GradientAccumulation: an optimizer step over several batches."""
from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]

gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Int64", "Tensor", "Tensor")
def _accumulate(accumulation_step, cumulative_grad, grad):
    """Adds a share of a gradient."""
    return ops.assign_add(cumulative_grad, grad / accumulation_step)


@gradient_clear_op.register("Tensor")
def _clear(cumulative_grad):
    return ops.assign(cumulative_grad, ops.zeros_like(cumulative_grad))


class GradientAccumulation(Cell):
    """Adds up gradients over ``max_accumulation_step`` calls (loss, grads), each by its share, and then updates by them.
    Returns the loss."""

    def __init__(self, max_accumulation_step, optimizer):
        super().__init__()
        if isinstance(max_accumulation_step, bool) or not isinstance(max_accumulation_step, int) or max_accumulation_step < 1:
            raise ValueError("For 'GradientAccumulation', the 'max_accumulation_step' must be a positive int, but got "
                             f"{max_accumulation_step}.")
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = ops.HyperMap()
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, dtype=mstype.int32), name="accumulation_step")

    def construct(self, loss, grads):
        loss = ops.depend(loss, self.hyper_map(ops.partial(gradient_accumulation_op, self._max_accumulation_step),
                                               self._grad_accumulation, grads))
        self._accumulation_step += 1
        if self._accumulation_step >= self._max_accumulation_step:
            loss = ops.depend(loss, self.optimizer(self._grad_accumulation))
            ops.assign(self._accumulation_step, 0)
        if self._accumulation_step == 0:
            loss = ops.depend(loss, self.hyper_map(ops.partial(gradient_clear_op), self._grad_accumulation))
        return loss
