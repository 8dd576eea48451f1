"""Functions as Cells."""
import numpy as np

from mindspore import ops
from mindspore.common._rows import nn as _nn
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_type

__all__ = ["ReduceLogSumExp", "Range", "LGamma", "DiGamma", "IGamma", "LBeta", "MatMul", "Moments", "MatInverse", "MatDet"]


class ReduceLogSumExp(Cell):
    """log of the sum of exponentials along ``axis``."""

    def __init__(self, axis, keep_dims=False):
        super().__init__()
        self.axis = check_type(axis, "axis", (int, list, tuple), self.cls_name)
        self.keep_dims = check_bool(keep_dims, "keep_dims", self.cls_name)

    def construct(self, x):
        return ops.logsumexp(x, self.axis if isinstance(self.axis, int) else tuple(self.axis), self.keep_dims)


class Range(Cell):
    """start, start + delta, ... below limit; one argument is the limit. int32 or float32."""

    def __init__(self, start, limit=None, delta=1):
        super().__init__()
        if limit is None:
            start, limit = 0, start
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            check_type(value, name, (int, float), self.cls_name)
        if delta == 0:
            raise ValueError(f"For '{self.cls_name}', the 'delta' must not be 0.")
        values = np.arange(start, limit, delta)
        self.result_tensor = Tensor(values.astype(np.float32 if values.dtype.kind == "f" else np.int32))

    def construct(self):
        return self.result_tensor


class LGamma(Cell):
    def construct(self, x):
        return ops.lgamma(x)


class DiGamma(Cell):
    def construct(self, x):
        return ops.digamma(x)


class IGamma(Cell):
    """The regularised lower incomplete gamma function P(a, x)."""

    def construct(self, a, x):
        return ops.igamma(a, x)


class LBeta(Cell):
    """log of the beta function."""

    def construct(self, x, y):
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class MatMul(Cell):
    """Product of matrices (or vectors), either transposed first."""

    def __init__(self, transpose_x1=False, transpose_x2=False):
        super().__init__()
        self.transpose_x1 = check_type(transpose_x1, "transpose_x1", bool, self.cls_name)
        self.transpose_x2 = check_type(transpose_x2, "transpose_x2", bool, self.cls_name)

    def construct(self, x1, x2):
        if self.transpose_x1 and x1.ndim > 1:
            x1 = x1.swapaxes(-1, -2)
        if self.transpose_x2 and x2.ndim > 1:
            x2 = x2.swapaxes(-1, -2)
        return ops.matmul(x1, x2)


class Moments(Cell):
    """(mean, population variance) along ``axis``."""

    def __init__(self, axis=None, keep_dims=None):
        super().__init__()
        if axis is None:
            axis = ()
        if isinstance(axis, list):
            axis = tuple(axis)
        self.axis = check_type(axis, "axis", (int, tuple), self.cls_name)
        if keep_dims is not None:
            check_bool(keep_dims, "keep_dims", self.cls_name)
        self.keep_dims = bool(keep_dims)

    def construct(self, x):
        return _nn.moments(x, None if self.axis == () else self.axis, self.keep_dims)


class MatInverse(Cell):
    """Inverse of positive definite matrices."""

    def construct(self, a):
        return ops.inverse(a)


class MatDet(Cell):
    """Determinant of positive definite matrices."""

    def construct(self, a):
        return ops.det(a)
