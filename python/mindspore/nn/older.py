"""Layers under older names, most of them those of mint.nn, and layers that are a call of a function."""
from mindspore import ops
from mindspore.nn.cell import Cell

__all__ = ["AvgPool1dExt", "AvgPool2dExt", "AvgPool3dExt", "Dropout2dExt", "DropoutExt", "EmbeddingExt", "L1LossExt", "LayerNormExt",
           "LogSoftmaxExt", "MaxPool2dExt", "PReLUExt", "SparseToDense", "SparseTensorDenseMatmul"]


def __getattr__(name):
    if name in __all__ and name.endswith("Ext"):
        from mindspore.mint import nn
        return getattr(nn, name[:-3])
    raise AttributeError(f"module 'mindspore.nn' has no attribute {name!r}")


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
