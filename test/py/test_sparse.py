"""Sparse tensors against dense ones."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import COOTensor, CSRTensor, RowTensor, Tensor, ops

rng = np.random.default_rng(0)
A = np.where(rng.random((4, 5)) < 0.5, rng.standard_normal((4, 5)), 0)
B = np.where(rng.random((4, 5)) < 0.5, rng.standard_normal((4, 5)), 0)


def close(t, want):
    t = t.to_dense() if not isinstance(t, Tensor) else t
    np.testing.assert_allclose(t.asnumpy(), want, rtol=1e-12, atol=1e-12)


def coo(a):
    at = np.argwhere(a)
    return COOTensor(Tensor(at), Tensor(a[tuple(at.T)]), a.shape)


def test_forms_and_conversions():
    x = coo(A)
    close(x, A), close(x.to_csr(), A), close(x.to_csr().to_coo(), A)
    close(ops.dense_to_sparse_csr(Tensor(A)), A), close(ops.dense_to_sparse_coo(Tensor(A)), A)
    assert x.shape == (4, 5) and x.ndim == 2 and x.dtype == ms.float64 and x.size == np.count_nonzero(A)
    assert len(x.to_tuple()) == 3 and len(x.to_csr().to_tuple()) == 4
    assert COOTensor(coo_tensor=x).shape == CSRTensor(csr_tensor=x.to_csr()).shape
    twice = COOTensor(Tensor([[1, 1], [0, 0], [1, 1]]), Tensor([1., 2, 3]), (2, 2))
    c = twice.coalesce()
    assert c.indices.asnumpy().tolist() == [[0, 0], [1, 1]] and c.values.asnumpy().tolist() == [2, 4]
    r = RowTensor(Tensor([0, 2]), Tensor(np.ones((2, 3))), (3, 3))
    assert r.dense_shape == (3, 3) and r.values.shape == (2, 3)


def test_arithmetic():
    x, y = coo(A), coo(B)
    close(x + y, A + B), close(x - y, A - B), close(x * Tensor(B), A * B), close(x * 2.0, 2 * A), close(-x, -A)
    close(ops.coo_add(x, y, Tensor(0.5)), np.where(abs(A + B) >= 0.5, A + B, 0))
    close(ops.coo_concat((x, y), 1), np.concatenate((A, B), 1))
    p, q = x.to_csr(), y.to_csr()
    close(p + q, A + B), close(p - q, A - B), close(ops.csr_add(p, q, Tensor(2.0), Tensor(-1.0)), 2 * A - B)
    close(p * Tensor(B), A * B), close(p / Tensor(np.full((4, 5), 2.0)), A / 2)
    close(p.mm(Tensor(B.T.copy())), A @ B.T), close(p.mv(Tensor(B[0][:, None].copy())), A @ B[0][:, None])
    close(p.mm(ops.dense_to_sparse_csr(Tensor(B.T.copy()))), A @ B.T)
    close(ops.csr_mm(p, Tensor(B), trans_a=True), A.T @ B)
    close(p.sum(1), A.sum(1, keepdims=True)), close(ops.csr_reduce_sum(p, -1), A.sum(1, keepdims=True))
    with np.errstate(divide='ignore'):
        e = np.where(A != 0, np.exp(A), 0)
    close(ops.csr_softmax(p, ms.float64), e / np.maximum(e.sum(1, keepdims=True), 1e-300))


def test_unary():
    x = coo(A)
    for name in ('abs', 'sin', 'tanh', 'square', 'neg', 'floor', 'relu', 'sigmoid', 'expm1'):
        want = getattr(ops, name)(x.values).asnumpy()
        np.testing.assert_array_equal(getattr(ops, 'coo_' + name)(x).values.asnumpy(), want)
        assert isinstance(getattr(ops, 'csr_' + name)(x.to_csr()), CSRTensor)
    assert ops.coo_isnan(x).dtype == ms.bool_ and x.astype(ms.float32).dtype == ms.float32
    with pytest.raises(TypeError):
        ops.csr_sin(x)


def test_gradient_and_batch():
    p = coo(A).to_csr()
    g = ms.grad(lambda v: CSRTensor(p.indptr, p.indices, v, p.shape).mm(Tensor(B.T.copy())).sum())(p.values).asnumpy()
    np.testing.assert_allclose(g, B.sum(0)[p.indices.asnumpy()])
    batch = CSRTensor(Tensor([0, 1, 2]), Tensor([0, 1]), Tensor([[2., 1, 3], [2, 1, 3]]), (2, 4, 3))
    assert batch.sum(1).asnumpy().tolist() == [[[2, 1, 3]], [[2, 1, 3]]]


def test_errors():
    with pytest.raises(ValueError):
        COOTensor(Tensor([[0, 1]]), Tensor([1., 2.]), (3, 4))
    with pytest.raises(ValueError):
        CSRTensor(Tensor([0, 1]), Tensor([0, 1]), Tensor([1., 2.]), (2, 4))
    with pytest.raises(TypeError):
        COOTensor(Tensor([[0., 1]]), Tensor([1.]), (3, 4))
    with pytest.raises(ValueError):
        coo(A).to_csr().sum(0)


def test_in_compiled_functions_and_gradients():
    a = np.array([[0, 2, 0], [3, 0, 4]], np.float32)
    x = Tensor(a).to_csr()

    @ms.jit
    def double(x, dense):
        return x * dense, x.to_coo()

    for scale in (2.0, 5.0):  # values and places are inputs: neither is kept from the first call
        product, same = double(x * scale, Tensor(np.full((2, 3), 2, np.float32)))
        close(product.to_dense(), 2 * scale * a)
        close(same.to_dense(), scale * a)
    assert double(Tensor(a.T.copy()).to_csr(), Tensor(np.ones((3, 2), np.float32)))[0].shape == (3, 2)

    def build(indptr, indices, values):
        return CSRTensor(indptr, indices, values, (2, 3)) * 3

    parts = x.to_tuple()[:3]
    for f in (build, ms.jit(build)):
        value, grads = ms.value_and_grad(f, (0, 1, 2))(*parts)
        close(value.to_dense(), 3 * a)
        close(grads[1], [0, 0, 0])  # the places have no gradient
        close(grads[2], [3, 3, 3])
    close(ms.grad(lambda x: (x.to_dense() ** 2).sum())(x).to_dense(), 2 * a)
    close(ms.vjp(lambda x: x * 2, x)[1](x)[0], 2 * a)
