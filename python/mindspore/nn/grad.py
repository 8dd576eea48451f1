"""Derivatives as Cells: products of the Jacobian of a Cell with a vector, from the right (Jvp) and the left (Vjp)."""
from mindspore import autodiff
from mindspore.nn.cell import Cell

__all__ = ["Jvp", "Vjp"]


class _Product(Cell):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def _split(self, args):
        if len(args) < 2:
            raise TypeError(f"For '{self.cls_name}', the inputs and the vector are needed, but got {len(args)} arguments.")
        return args[:-1], args[-1]


class Jvp(_Product):
    """jvp(*inputs, v): the outputs of fn and its Jacobian times v, a Tensor or a tuple of them as the inputs are."""

    def construct(self, *args):
        inputs, v = self._split(args)
        return autodiff.jvp(self.fn, inputs, v)


class Vjp(_Product):
    """vjp(*inputs, v): the outputs of fn and v, of the form of the outputs, times its Jacobian."""

    def construct(self, *args):
        inputs, v = self._split(args)
        outputs, pull = autodiff.vjp(self.fn, *inputs)
        if isinstance(v, tuple) != isinstance(outputs, tuple):
            raise TypeError(f"For '{self.cls_name}', the vector must have the form of the outputs, {type(outputs).__name__}, "
                            f"but got {type(v).__name__}.")
        grads = pull(*v) if isinstance(v, tuple) else pull(v)
        return outputs, grads[0] if len(grads) == 1 else grads
