"""Matrix factorisations, solvers and norms against numpy and against what defines them."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops

rng = np.random.default_rng(5)


def mat(*shape, dtype=np.float64):
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


def H(x):
    return np.conj(np.swapaxes(x, -1, -2))


def spd(n, dtype=np.float64):
    a = mat(n, n, dtype=dtype)
    return a @ H(a) + n * np.eye(n, dtype=dtype)


def close(t, want, tol=1e-10):
    np.testing.assert_allclose(t.asnumpy() if isinstance(t, Tensor) else t, want, rtol=tol, atol=tol)


DTYPES = [np.float64, np.complex128]


@pytest.mark.parametrize('dtype', DTYPES)
def test_solve_and_inverse(dtype):
    a, b = mat(3, 5, 5, dtype=dtype), mat(3, 5, 2, dtype=dtype)
    close(ops.matrix_solve(Tensor(a), Tensor(b)), np.linalg.solve(a, b))
    close(ops.matrix_solve(Tensor(a), Tensor(b), adjoint=True), np.linalg.solve(H(a), b))
    close(ops.inverse(Tensor(a)), np.linalg.inv(a))
    close(mint.linalg.inv(Tensor(a.astype(np.complex64))), np.linalg.inv(a), 1e-3)
    close(ops.det(Tensor(a)), np.linalg.det(a))
    sign, size = ops.slogdet(Tensor(a))
    want = np.linalg.slogdet(a)
    close(sign, want[0]), close(size, want[1])
    with pytest.raises(ValueError, match='singular'):
        ops.inverse(Tensor(np.zeros((2, 2))))
    assert ops.det(Tensor(np.ones((2, 2)))).asnumpy() == 0


@pytest.mark.parametrize('dtype', DTYPES)
def test_cholesky(dtype):
    a, b = spd(4, dtype), mat(4, 2, dtype=dtype)
    l = np.linalg.cholesky(a)
    close(ops.cholesky(Tensor(a)), l)
    close(ops.cholesky(Tensor(a), upper=True), H(l))
    close(ops.cholesky(Tensor(np.tril(a))), l)  # the upper triangle is not read
    close(ops.cholesky_solve(Tensor(b), Tensor(l)), np.linalg.solve(a, b))
    close(ops.cholesky_inverse(Tensor(l)), np.linalg.inv(a))
    with pytest.raises(ValueError, match='positive definite'):
        ops.cholesky(Tensor(-a))


def test_cholesky_gradient_is_symmetric():
    a = spd(3)
    g = ms.grad(lambda x: ops.cholesky(x).sum())(Tensor(a)).asnumpy()
    close(g, g.T)
    d = np.zeros((3, 3))
    d[0, 1] = d[1, 0] = 1e-6
    f = lambda x: np.linalg.cholesky(x).sum()
    assert abs((f(a + d) - f(a - d)) / 2e-6 - (g[0, 1] + g[1, 0])) < 1e-6


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('m, n', [(5, 3), (3, 5), (4, 4)])
def test_qr_and_reflections(dtype, m, n):
    a = mat(2, m, n, dtype=dtype)
    for mode in ('reduced', 'complete'):
        q, r = (x.asnumpy() for x in ops.qr(Tensor(a), mode))
        close(q @ r, a)
        close(H(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (2,) + (q.shape[-1],) * 2))
        close(r, np.triu(r))
    f, tau = ops.geqrf(Tensor(a))
    if m >= n:
        close(ops.orgqr(f, tau), ops.qr(Tensor(a))[0].asnumpy())
    x = mat(2, m, 2, dtype=dtype)
    q = ops.qr(Tensor(a), 'complete')[0].asnumpy()
    if m <= n or dtype is np.float64:
        close(ops.ormqr(f, tau, Tensor(x)), q @ x)
        close(ops.ormqr(f, tau, Tensor(x), transpose=True), H(q) @ x)
        close(ops.ormqr(f, tau, Tensor(H(x).copy()), left=False), H(x) @ q)


@pytest.mark.parametrize('dtype', DTYPES)
def test_lu(dtype):
    a, b = mat(4, 4, dtype=dtype), mat(4, 2, dtype=dtype)
    from mindspore.common._rows import Rows
    linalg = Rows('_linalg')
    p, l, u = (x.asnumpy() for x in linalg.lu(Tensor(a)))
    close(p @ l @ u, a)
    lu, piv = linalg.lu_factor(Tensor(a))
    p2, l2, u2 = ops.lu_unpack(lu, piv + 1)
    close(p2, p), close(l2, l), close(u2, u)
    close(ops.lu_solve(Tensor(b), lu, piv + 1), np.linalg.solve(a, b))


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('m, n', [(5, 3), (3, 5), (4, 4)])
def test_svd(dtype, m, n):
    a = mat(2, m, n, dtype=dtype)
    for full in (False, True):
        s, u, v = (x.asnumpy() for x in ops.svd(Tensor(a), full))
        k = min(m, n)
        close(s, np.linalg.svd(a, compute_uv=False))
        close((u[..., :k] * s[..., None, :]) @ H(v[..., :k]), a)
        close(H(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (2,) + (u.shape[-1],) * 2))
        close(H(v) @ v, np.broadcast_to(np.eye(v.shape[-1]), (2,) + (v.shape[-1],) * 2))
    close(ops.svd(Tensor(a), compute_uv=False), np.linalg.svd(a, compute_uv=False))
    close(ops.pinv(Tensor(a)), np.linalg.pinv(a))


def test_svd_of_low_rank():
    a = np.outer(np.arange(1., 5), np.ones(3))
    s, u, v = (x.asnumpy() for x in ops.svd(Tensor(a)))
    close((u * s) @ v.T, a)
    close(u.T @ u, np.eye(3))
    close(ops.pinv(Tensor(a)), np.linalg.pinv(a))
    assert np.isnan(ops.svd(Tensor(np.full((2, 2), np.nan)))[0].asnumpy()).all()


def test_eigenvalues():
    for n in (1, 2, 5, 12):
        a = mat(n, n)
        w = ops.eigvals(Tensor(a)).asnumpy()
        key = lambda z: (round(z.real, 8), round(z.imag, 8))
        close(np.array(sorted(w, key=key)), np.array(sorted(np.linalg.eigvals(a).astype(complex), key=key)), 1e-8)
    from mindspore.common._rows import Rows
    linalg = Rows('_linalg')
    a = mat(6, 6, dtype=np.complex128)
    w, v = (x.asnumpy() for x in linalg.eig(Tensor(a)))
    close(a @ v, v * w)
    a = spd(6, np.complex128)
    w, v = (x.asnumpy() for x in linalg.eigh(Tensor(a)))
    close(w, np.linalg.eigvalsh(a)), close(a @ v, v * w)
    g = ms.grad(lambda x: ms.ops.abs(ops.eigvals(x)).sum())(Tensor(np.array([[2., 1], [0.5, 3]]))).asnumpy()
    close(np.trace(g), 2)  # both eigenvalues are positive: the sum is the trace


def test_norms():
    x = mat(3, 4)
    for o in (None, 'fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf):
        close(ops.norm(Tensor(x), o), np.linalg.norm(x, o))
    for o in (0, 1, 2, 3.5, np.inf, -np.inf):
        close(ops.vector_norm(Tensor(x), o, 1), np.linalg.norm(x, o, axis=1))
        close(mint.linalg.vector_norm(Tensor(x), o, 0, True), np.linalg.norm(x, o, axis=0, keepdims=True))
    close(mint.norm(Tensor(x), 2, (0, 1)), np.linalg.norm(x))
    close(ops.matrix_norm(Tensor(mat(2, 3, 4)), 'fro').shape, (2,))
    for o in (None, 1, 2, -2, 'fro', np.inf):
        a = mat(3, 3)
        close(ops.cond(Tensor(a), o), np.linalg.cond(a, o), 1e-8)
    assert np.array_equal(ms.grad(lambda t: ops.norm(t))(Tensor(np.zeros(3))).asnumpy(), np.zeros(3))


def test_least_squares_and_exponential():
    a, b = mat(5, 3), mat(5, 2)
    close(ops.lstsq(Tensor(a), Tensor(b)), np.linalg.lstsq(a, b, rcond=None)[0])
    close(ops.lstsq(Tensor(a.T.copy()), Tensor(b[:3])), np.linalg.lstsq(a.T, b[:3], rcond=None)[0])
    w = mat(3, 3)
    e, v = np.linalg.eig(w)
    close(ops.matrix_exp(Tensor(w)), (v * np.exp(e) @ np.linalg.inv(v)).real, 1e-9)
    close(ops.matrix_exp(Tensor(np.diag([10., -20.]))), np.diag(np.exp([10., -20.])), 1e-9)
    x = mint.triangular_solve(Tensor(b[:3]), Tensor(w), upper=False, transpose=True)[0]
    close(np.tril(w).T @ x.asnumpy(), b[:3])


def test_batching_and_graphs():
    a = mat(4, 3, 3)
    close(ms.vmap(ops.inverse)(Tensor(a)), np.linalg.inv(a))
    close(ms.jit(lambda self: ops.inverse(self))(Tensor(a)), np.linalg.inv(a))
