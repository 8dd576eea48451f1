"""Layers under older names, most of them those of mint.nn, and layers that are a call of a function."""
from mindspore import ops
from mindspore.nn.cell import Cell

__all__ = ["AvgPool1dExt", "AvgPool2dExt", "AvgPool3dExt", "Dropout2dExt", "DropoutExt", "EmbeddingExt", "L1LossExt", "LayerNormExt",
           "LogSoftmaxExt", "MaxPool2dExt", "PReLUExt", "Jvp", "Vjp", "SparseToDense", "SparseTensorDenseMatmul"]


def __getattr__(name):
    if name in __all__ and name.endswith("Ext"):
        from mindspore.mint import nn
        return getattr(nn, name[:-3])
    raise AttributeError(f"module 'mindspore.nn' has no attribute {name!r}")


class _Derivative(Cell):
    def __init__(self, fn):
        super().__init__()
        if not callable(fn):
            raise TypeError(f"For '{type(self).__name__}', the 'fn' must be callable, but got {type(fn).__name__}.")
        self.fn = fn

    def _split(self, args, n):
        """The inputs, and the n (None: half of all) that come after them; one alone stands for itself."""
        n = len(args) // 2 if n is None else n
        return args[:len(args) - n], args[len(args) - n:] if n > 1 else args[-1]


class Jvp(_Derivative):
    """Called with inputs and tangents: the outputs of ``fn`` and their tangents."""

    def construct(self, *args):
        if len(args) < 2 or len(args) % 2:
            raise ValueError(f"For 'Jvp', there must be a tangent for each input, but got {len(args)} arguments.")
        inputs, tangents = self._split(args, None)
        return ops.jvp(self.fn, inputs if len(inputs) > 1 else inputs[0], tangents)


class Vjp(_Derivative):
    """Called with inputs and one cotangent per output: the outputs of ``fn`` and the products with the Jacobian."""

    def construct(self, *args):
        if len(args) < 2:
            raise ValueError(f"For 'Vjp', there must be inputs and a cotangent, but got {len(args)} arguments.")
        last = args[-1]
        outputs, back = ops.vjp(self.fn, *args[:-1])
        return outputs, back(*last) if isinstance(last, tuple) else back(last)


class SparseToDense(Cell):
    """A COOTensor as a Tensor."""

    def construct(self, sparse_tensor):
        return sparse_tensor.to_dense()


class SparseTensorDenseMatmul(Cell):
    """The product of a sparse matrix, given by indices and values, and a dense one; either may be transposed (and conjugated)."""

    def __init__(self, adjoint_st=False, adjoint_dt=False):
        super().__init__()
        for name, value in (("adjoint_st", adjoint_st), ("adjoint_dt", adjoint_dt)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'SparseTensorDenseMatmul', the '{name}' must be bool, but got {type(value).__name__}.")
        self.adjoint_st, self.adjoint_dt = adjoint_st, adjoint_dt

    def construct(self, indices, values, sparse_shape, dense):
        return ops.SparseTensorDenseMatmul(self.adjoint_st, self.adjoint_dt)(indices, values, sparse_shape, dense)
