"""mindspore.scipy against numpy and against definitions."""
import itertools

import numpy as np
import pytest

import mindspore as ms
import mindspore.scipy as msp
from mindspore import Tensor

rng = np.random.default_rng(3)
A = rng.standard_normal((4, 4))
S = A @ A.T + 4 * np.eye(4)
B = rng.standard_normal((4, 2))


def close(t, want, tol=1e-9):
    np.testing.assert_allclose(t.asnumpy(), want, rtol=tol, atol=tol)


def test_linalg():
    close(msp.linalg.inv(Tensor(A)), np.linalg.inv(A))
    close(msp.linalg.cholesky(Tensor(S), lower=True), np.linalg.cholesky(S))
    close(msp.linalg.cholesky(Tensor(S)), np.linalg.cholesky(S).T)
    for lower in (True, False):
        close(msp.linalg.cho_solve(msp.linalg.cho_factor(Tensor(S), lower=lower), Tensor(B)), np.linalg.solve(S, B))
    p, l, u = msp.linalg.lu(Tensor(A))
    close(p @ l @ u, A)
    pl, u = msp.linalg.lu(Tensor(A), permute_l=True)
    close(pl @ u, A)
    assert msp.linalg.lu_factor(Tensor(A))[1].dtype == ms.int32
    for lower, trans in itertools.product((True, False), (0, 1, 'N', 'T', 'C')):
        t = np.tril(A) if lower else np.triu(A)
        close(msp.linalg.solve_triangular(Tensor(A), Tensor(B), trans, lower), np.linalg.solve(t.T if trans in (1, 'T', 'C') else t, B))
    close(msp.linalg.block_diag(Tensor(A), Tensor(B)), np.block([[A, np.zeros((4, 2))], [np.zeros((4, 4)), B]]))
    x, res, rank, s = msp.linalg.lstsq(Tensor(A[:, :2]), Tensor(B))
    want = np.linalg.lstsq(A[:, :2], B, rcond=None)
    close(x, want[0]), close(res, want[1]), close(s, want[3])
    assert rank.asnumpy() == 2


@pytest.mark.parametrize('kind', [1, 2, 3])
def test_eigh(kind):
    H = A + A.T
    w, v = msp.linalg.eigh(Tensor(H))
    close(w, np.linalg.eigvalsh(H)), close(Tensor(H) @ v, v.asnumpy() * w.asnumpy())
    w, v = (x.asnumpy() for x in msp.linalg.eigh(Tensor(H), Tensor(S), type=kind))
    if kind == 1:
        np.testing.assert_allclose(H @ v, S @ v * w, atol=1e-9)
    else:
        np.testing.assert_allclose((H @ S if kind == 2 else S @ H) @ v, v * w, atol=1e-8)
    assert msp.linalg.eigh(Tensor(H), eigvals=(1, 2), eigvals_only=True).shape == (2,)


def test_dct():
    x = rng.standard_normal((3, 7))
    for n in (None, 5, 8):
        z = x[:, :n] if n and n < 7 else np.pad(x, ((0, 0), (0, (n or 7) - 7 if n and n > 7 else 0)))
        m = z.shape[1]
        j, k = np.arange(m), np.arange(m)[:, None]
        want = 2 * z @ np.cos(np.pi * k * (2 * j + 1) / (2 * m)).T
        close(msp.fft.dct(Tensor(x), n=n), want)
    for norm in (None, 'ortho', 'forward'):
        close(msp.fft.idct(msp.fft.dct(Tensor(x), norm=norm), norm=norm), x)
        close(msp.fft.idctn(msp.fft.dctn(Tensor(x), norm=norm), norm=norm), x)
    y = msp.fft.dct(Tensor(x), norm='ortho', axis=0)
    close(Tensor(np.array((y.asnumpy()**2).sum())), (x**2).sum())


def test_minimize():
    rosenbrock = lambda x: (100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2).sum()
    for method in ('BFGS', 'LBFGS'):
        r = msp.optimize.minimize(rosenbrock, Tensor(np.zeros(3)), method=method, options=dict(gtol=1e-8))
        close(r.x, np.ones(3), 1e-5)
        assert bool(r.success) and int(r.nit) > 3
    s = msp.optimize.line_search(lambda x: (x * x).sum(), Tensor(np.array([3.0])), Tensor(np.array([-1.0])))
    assert not bool(s.failed) and 0 < float(s.a_k) < 6
    with pytest.raises(ValueError, match='bounds'):
        msp.optimize.minimize(rosenbrock, Tensor(np.zeros(3)), method='BFGS', bounds=[(0, 1)])


@pytest.mark.parametrize('m, n', [(3, 3), (3, 5), (5, 3), (1, 4)])
def test_assignment(m, n):
    c = rng.standard_normal((m, n))
    for big in (False, True):
        r, k = (x.asnumpy() for x in msp.optimize.linear_sum_assignment(Tensor(c), Tensor(big)))
        sums = [c[list(p), range(n)].sum() if m > n else c[range(m), list(p)].sum()
                for p in itertools.permutations(range(max(m, n)), min(m, n))]
        assert abs(c[r, k].sum() - (max if big else min)(sums)) < 1e-12 and list(r) == sorted(r)
