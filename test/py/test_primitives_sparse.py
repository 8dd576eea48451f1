"""Primitive classes of sparse tensors: values recorded from the original."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor
from mindspore.ops import operations as P


def _array(dtype):
    return lambda v: np.array(v, dtype)


f4, i4, i8, b1 = (_array(t) for t in (np.float32, np.int32, np.int64, np.bool_))
CASES = [
    ('SparseAdd', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4]), i8([[0, 1], [0, 2], [2, 0]]), f4([5, -2, 6]), i8([3, 4]), f4(0.5)),
     (i8([[0, 0], [0, 1], [1, 1], [2, 0]]), f4([1, 5, 3, 10]), i8([3, 4]))),
    ('SparseAddmm', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4]), f4([[1, 1], [1, 1], [1, 1], [1, 1]]), f4([[1, 1], [1, 1], [1, 1]]), f4([2]), f4([3])),
     f4([[9, 9], [9, 9], [11, 11]])),
    ('Sspaddmm', {}, (i8([[0, 1], [1, 0]]), f4([1, 2]), i8([3, 3]), i8([[0, 2], [1, 0]]), f4([3, 4]), i8([3, 3]), f4([[0, 1, 2], [3, 4, 5], [6, 7, 8]]), f4([2]), f4([3])),
     (i8([[0, 1, 0, 0, 0, 2, 2, 2], [1, 0, 0, 1, 2, 0, 1, 2]]), f4([3, 6, 18, 24, 30, 0, 8, 16]), i8([3, 3]))),
    ('SparseConcat', (1,), ([i8([[0, 0], [0, 2], [1, 1], [2, 0]]), i8([[0, 1], [0, 2], [2, 0]])], [f4([1, 2, 3, 4]), f4([5, -2, 6])], [i8([3, 4]), i8([3, 4])]),
     (i8([[0, 0], [0, 2], [0, 5], [0, 6], [1, 1], [2, 0], [2, 4]]), f4([1, 2, 5, -2, 3, 4, 6]), i8([3, 8]))),
    ('SparseConcat', (0,), ([i8([[0, 0], [0, 2], [1, 1], [2, 0]]), i8([[0, 1], [0, 2], [2, 0]])], [f4([1, 2, 3, 4]), f4([5, -2, 6])], [i8([3, 4]), i8([3, 4])]),
     (i8([[0, 0], [0, 2], [1, 1], [2, 0], [3, 1], [3, 2], [5, 0]]), f4([1, 2, 3, 4, 5, -2, 6]), i8([6, 4]))),
    ('SparseDenseCwiseAdd', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4]), f4([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])),
     f4([1, 4, 8, 12])),
    ('SparseDenseCwiseMul', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4]), f4([[0, 1, 2, 3]])),
     f4([0, 4, 3, 0])),
    ('SparseFillEmptyRows', {}, (i8([[0, 1], [2, 0], [2, 3]]), f4([1, 2, 3]), i8([5, 4]), f4(9)),
     (i8([[0, 1], [1, 0], [2, 0], [2, 3], [3, 0], [4, 0]]), f4([1, 9, 2, 3, 9, 9]), b1([False, True, False, True, True]), i8([0, 2, 3]))),
    ('SparseFillEmptyRowsGrad', {}, (i8([0, 2, 3]), f4([1, 2, 3, 4, 5, 6])),
     (f4([1, 3, 4]), f4(13))),
    ('SparseReorder', {}, (i8([[2, 0], [1, 1], [0, 2], [0, 0]]), f4([1, 2, 3, 4]), i8([3, 4])),
     (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([4, 3, 2, 1]))),
    ('SparseSegmentSumWithNumSegments', {}, (f4([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]), i4([0, 2, 1]), i4([0, 0, 2]), i4([4])),
     f4([[8, 10, 12, 14], [0, 0, 0, 0], [4, 5, 6, 7], [0, 0, 0, 0]])),
    ('SparseSegmentMeanWithNumSegments', {}, (f4([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]), i4([0, 2, 1]), i4([0, 0, 2]), i4([4])),
     f4([[4, 5, 6, 7], [0, 0, 0, 0], [4, 5, 6, 7], [0, 0, 0, 0]])),
    ('SparseSegmentSqrtNWithNumSegments', {}, (f4([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]), i4([0, 2, 1]), i4([0, 0, 2]), i4([4])),
     f4([[5.65685, 7.07107, 8.48528, 9.8995], [0, 0, 0, 0], [4, 5, 6, 7], [0, 0, 0, 0]])),
    ('SparseSegmentMeanGrad', {}, (f4([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]), i4([0, 2, 1]), i4([0, 0, 2]), i4(5)),
     f4([[0, 0.5, 1, 1.5], [8, 9, 10, 11], [0, 0.5, 1, 1.5], [0, 0, 0, 0], [0, 0, 0, 0]])),
    ('SparseSegmentSqrtNGrad', {}, (f4([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]), i4([0, 2, 1]), i4([0, 0, 2]), i4(5)),
     f4([[0, 0.707107, 1.41421, 2.12132], [8, 9, 10, 11], [0, 0.707107, 1.41421, 2.12132], [0, 0, 0, 0], [0, 0, 0, 0]])),
    ('SparseSlice', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4]), i8([0, 1]), i8([2, 5])),
     (i8([[0, 1], [1, 0]]), f4([2, 3]), i8([2, 3]))),
    ('SparseSliceGrad', {}, (f4([7, 8]), i8([[0, 0], [0, 2], [1, 1], [2, 0]]), i8([0, 1]), i8([[0, 1], [1, 0]])),
     f4([0, 7, 8, 0])),
    ('SparseSoftmax', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4])),
     f4([0.268941, 0.731059, 1, 1])),
    ('SparseSparseMaximum', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4]), i8([[0, 1], [0, 2], [2, 0]]), f4([5, -2, 6]), i8([3, 4])),
     (i8([[0, 0], [0, 1], [0, 2], [1, 1], [2, 0]]), f4([1, 5, 2, 3, 6]))),
    ('SparseSparseMinimum', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i8([3, 4]), i8([[0, 1], [0, 2], [2, 0]]), f4([5, -2, 6]), i8([3, 4])),
     (i8([[0, 0], [0, 1], [0, 2], [1, 1], [2, 0]]), f4([0, 0, -2, 0, 4]))),
    ('SparseToDenseV2', {}, (i8([[0, 0], [0, 2], [1, 1], [2, 0]]), i8([3, 4]), f4([1, 2, 3, 4]), f4(-1)),
     f4([[1, -1, 2, -1], [-1, 3, -1, -1], [4, -1, -1, -1]])),
    ('SparseCountSparseOutput', {}, (i8([[0, 0], [0, 1], [1, 0], [1, 2]]), i8([0, 0, 1, 3]), i8([3, 3]), f4([1, 2, 3, 4])),
     (i8([[0, 0], [1, 1], [1, 3]]), f4([3, 3, 4]), i8([3, 4]))),
    ('SparseCountSparseOutput', dict(binary_output=True, minlength=6), (i8([[0, 0], [0, 1], [1, 0], [1, 2]]), i8([0, 0, 1, 3]), i8([3, 3]), f4([])),
     (i8([[0, 0], [1, 1], [1, 3]]), f4([1, 1, 1]), i8([3, 6]))),
    ('SparseTensorToCSRSparseMatrix', {}, (i4([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i4([3, 4])),
     (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4]))),
    ('SparseTensorToCSRSparseMatrix', {}, (i4([[0, 0, 1], [1, 0, 0], [1, 1, 1]]), f4([1, 2, 3]), i4([2, 2, 3])),
     (i4([2, 2, 3]), i4([0, 1, 3]), i4([0, 1, 1, 0, 1, 2]), i4([1, 0, 1]), f4([1, 2, 3]))),
    ('CSRSparseMatrixToSparseTensor', {}, (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4])),
     (i4([[0, 0], [0, 2], [1, 1], [2, 0]]), f4([1, 2, 3, 4]), i4([3, 4]))),
    ('CSRSparseMatrixToDense', {}, (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4])),
     f4([[1, 0, 2, 0], [0, 3, 0, 0], [4, 0, 0, 0]])),
    ('DenseToCSRSparseMatrix', {}, (f4([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]), i4([[0, 1], [1, 2], [2, 0]])),
     (i4([3, 4]), i4([0, 3]), i4([0, 1, 2, 3]), i4([1, 2, 0]), f4([1, 6, 8]))),
    ('SparseMatrixAdd', {}, (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4]), i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4]), f4(2), f4(3)),
     (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([5, 10, 15, 20]))),
    ('SparseMatrixMatMul', {}, (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4]), f4([[1, 1], [1, 1], [1, 1], [1, 1]])),
     f4([[3, 3], [3, 3], [4, 4]])),
    ('SparseMatrixMatMul', dict(transpose_x1=True), (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4]), f4([[1, 1], [1, 1], [1, 1]])),
     f4([[5, 5], [3, 3], [2, 2], [0, 0]])),
    ('SparseMatrixNNZ', {}, (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4])),
     i4([4])),
    ('SparseMatrixSoftmax', (ms.float32,), (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4])),
     (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([0.268941, 0.731059, 1, 1]))),
    ('SparseMatrixTranspose', {}, (i4([3, 4]), i4([0, 4]), i4([0, 2, 3, 4]), i4([0, 2, 1, 0]), f4([1, 2, 3, 4])),
     (i4([4, 3]), i4([0, 4]), i4([0, 2, 3, 4, 4]), i4([0, 2, 1, 0]), f4([1, 4, 3, 2]))),
    ('RaggedTensorToSparse', (ms.int64,), ([i8([0, 2, 2, 5])], f4([1, 2, 3, 4, 5])),
     (i8([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]), f4([1, 2, 3, 4, 5]), i8([3, 3]))),
]


def tensors(v):
    return type(v)(tensors(t) for t in v) if isinstance(v, (tuple, list)) and not all(isinstance(t, int) for t in v) else \
        Tensor(v) if isinstance(v, np.ndarray) else v


def same(got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    else:
        np.testing.assert_allclose(got.asnumpy(), want, 1e-4, 1e-6)
        assert got.shape == want.shape and got.asnumpy().dtype == want.dtype


@pytest.mark.parametrize('name, attributes, inputs, want', CASES, ids=[f'{k}-{c[0]}' for k, c in enumerate(CASES)])
def test_value(name, attributes, inputs, want):
    make = getattr(P, name)
    prim = make(**attributes) if isinstance(attributes, dict) else make(*attributes)
    same(prim(*tensors(inputs)), want)


def test_gradients():
    i, s, v = Tensor(i8([[0, 0], [0, 2], [2, 1]])), Tensor(i8([3, 3])), Tensor(f4([1, 2, 3]))
    g = ms.grad(lambda t: P.SparseSoftmax()(i, t, s)[1])(v).asnumpy()
    p = np.exp(1) / (1 + np.exp(1))
    np.testing.assert_allclose(g, [-p * (1 - p), p * (1 - p), 0], 1e-5)
    x, at, ids = Tensor(np.ones((3, 2), np.float32)), Tensor(i4([2, 0, 2])), Tensor(i4([0, 0, 1]))
    g = ms.grad(lambda t: P.SparseSegmentMean()(t, at, ids).sum())(x).asnumpy()
    assert g[:, 0].tolist() == [0.5, 0, 1.5]


def test_bad_places():
    i, s, v = Tensor(i8([[0, 5]])), Tensor(i8([3, 3])), Tensor(f4([1]))
    with pytest.raises(ValueError, match='within its shape'):
        P.SparseReorder()(i, v, s)
    with pytest.raises(ValueError, match='without a gap'):
        P.SparseSegmentSum()(v, Tensor(i4([0, 0])), Tensor(i4([0, 2])))
