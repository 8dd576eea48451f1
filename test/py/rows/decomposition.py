"""Linear algebra beyond products: solving, factorising, norms."""
import inspect

import numpy as np

import mindspore as ms

from .table import F, T3, axes, c, f, np_dtype, row, z

SQUARE = f(3, 3) + 3 * np.eye(3)
STACK = f(2, 3, 3) + 3 * np.eye(3)
SPD = SQUARE @ SQUARE.T
SPDS = STACK @ STACK.swapaxes(-1, -2)
LOW = np.linalg.cholesky(SPD)
RHS = f(3, 2)
TALL = f(5, 3)

row('ops.inverse mint.inverse Tensor.inverse', np.linalg.inv, c(SQUARE), c(input=STACK), tol=10)
row('mint.linalg.inv', np.linalg.inv, c(SQUARE), c(input=STACK), tol=10)
row('ops.matrix_solve', lambda a, b, adjoint=False: np.linalg.solve(a.swapaxes(-1, -2) if adjoint else a, b), c(SQUARE, RHS),
    c(SQUARE, RHS, True), c(matrix=STACK, rhs=f(2, 3, 2), adjoint=False), tol=10)


def lower(a, upper):
    """The symmetric matrix whose lower (upper) triangle counts."""
    t = np.triu(a).swapaxes(-1, -2) if upper else np.tril(a)
    return t + np.tril(t, -1).swapaxes(-1, -2)


def cholesky(a, upper=False):
    root = np.linalg.cholesky((a + a.swapaxes(-1, -2)) / 2)
    return root.swapaxes(-1, -2) if upper else root


row('ops.cholesky', cholesky, c(SPD), c(SPDS, True), c(input_x=SPD, upper=True), tol=10, second=False)
row('Tensor.cholesky _linalg.cholesky', cholesky, c(SPD), c(SPDS, upper=True), tol=10, second=False)


def from_factor(u, upper):
    u = np.triu(u) if upper else np.tril(u)
    return u.swapaxes(-1, -2) @ u if upper else u @ u.swapaxes(-1, -2)


row('ops.cholesky_solve Tensor.cholesky_solve _linalg.cholesky_solve', lambda b, u, upper=False: np.linalg.solve(from_factor(u, upper), b), c(RHS, LOW),
    c(RHS, LOW.T.copy(), True), c(input=RHS, input2=LOW, upper=False), tol=10)
row('ops.cholesky_inverse Tensor.cholesky_inverse', lambda u, upper=False: np.linalg.inv(from_factor(u, upper)), c(LOW),
    c(LOW.T.copy(), True), c(input_x=LOW, upper=False), tol=10)
row('ops.det ops.matrix_determinant Tensor.det Tensor.matrix_determinant', np.linalg.det, c(SQUARE), c(STACK), tol=10)
row('ops.slogdet ops.log_matrix_determinant Tensor.slogdet Tensor.log_matrix_determinant', lambda a: tuple(np.linalg.slogdet(a)),
    c(SQUARE), c(STACK), tol=10)
row('ops.logdet Tensor.logdet', lambda a: np.log(np.linalg.det(a)), c(SPD), c(input=SPDS), tol=10)


def lu(a):
    """LU with partial pivoting: (LU, pivots from 1)."""
    a, pivots = a.copy(), []
    for k in range(len(a)):
        p = k + abs(a[k:, k]).argmax()
        pivots.append(p + 1)
        a[[k, p]] = a[[p, k]]
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return a, np.array(pivots, np.int32)


LU, PIVOTS = lu(f(3, 3))


def parts(data, pivots):
    m, n = data.shape
    k = min(m, n)
    l, u = np.tril(data[:, :k], -1) + np.eye(m, k), np.triu(data[:k])
    order = np.arange(m)
    for j, p in enumerate(pivots):
        order[[j, p - 1]] = order[[p - 1, j]]
    return np.eye(m)[:, order], l, u


row('ops.lu_unpack', lambda data, pivots, unpack_data=True, unpack_pivots=True: parts(data, pivots), c(LU, PIVOTS),
    c(LU_data=LU, LU_pivots=PIVOTS, unpack_data=True, unpack_pivots=True), tol=10, dynamic=True)
row('ops.lu_solve', lambda b, LU_data, LU_pivots: np.linalg.solve(np.linalg.multi_dot(parts(LU_data, LU_pivots)), b), c(RHS, LU, PIVOTS),
    c(b=RHS, LU_data=LU, LU_pivots=PIVOTS), tol=100, dynamic=True)
row('Tensor.lu_solve', lambda b, data, pivots: np.linalg.solve(np.linalg.multi_dot(parts(data, pivots)), b), c(RHS, LU, PIVOTS),
    c(RHS, LU_data=LU, LU_pivots=PIVOTS), tol=100, dynamic=True)


def triangular(b, a, upper=True, transpose=False, unitriangular=False):
    t = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        t = t - np.diag(np.diag(t)) + np.eye(len(t))
    return np.linalg.solve(t.T if transpose else t, b), a


row('mint.triangular_solve', lambda b, A, upper=True, transpose=False, unitriangular=False: triangular(b, A, upper, transpose, unitriangular),
    c(RHS, SQUARE), c(RHS, SQUARE, False, True, True), c(b=RHS, A=SQUARE, upper=True, transpose=True,
                                                                                        unitriangular=False), tol=10)
row('Tensor.triangular_solve', lambda b, A, upper=True, transpose=False, unitriangular=False: triangular(b, A, upper, transpose, unitriangular), c(RHS, SQUARE), c(RHS, SQUARE, False, True, True), c(RHS, A=SQUARE, upper=True, transpose=True,
                                                                                          unitriangular=False), tol=10)
row('ops.matrix_exp', lambda a: sum(np.linalg.matrix_power(a, k) / np.prod(np.arange(1, k + 1, dtype=float)) for k in range(60)),
    c(f(3, 3)), c(input=f(2, 3, 3)), tol=10)
row('ops.lstsq Tensor.lstsq', lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], c(TALL, f(5, 2)), c(input=TALL, A=f(5, 1)), tol=10)
row('ops.pinv', lambda x, atol=None, rtol=None, hermitian=False: np.linalg.pinv(x), c(TALL), c(x=TALL, atol=1e-6, rtol=1e-6), tol=10, second=False)
row('ops.pinv', lambda x, atol=None, rtol=None, hermitian=False: np.linalg.pinv(x), c(SPD, hermitian=True), tol=10, grad=False)

# ---- factors are unique up to signs: what they multiply to counts ----


def wide(x):
    return x.astype(np.float64)


def near(a, b):
    return np.allclose(a, b, atol=2e-4)


def check_qr(q, r, x, mode='reduced', *args, some=True, **kw):
    assert near(q @ r, x) and near(np.triu(r), r) and near(q.swapaxes(-1, -2) @ q, np.eye(q.shape[-1]))
    full = mode == 'complete' or mode is False or some is False
    assert q.shape[-1] == (x.shape[-2] if full else min(x.shape[-2:]))


row('ops.qr', None, c(TALL), c(TALL, 'complete'), c(input=f(2, 3, 5), mode='reduced'),
    check=lambda *a, input=None, **k: check_qr(*a, *([] if input is None else [input]), **k))
row('mint.linalg.qr _linalg.qr', None, c(TALL), c(TALL, 'complete'), c(A=f(2, 3, 5), mode='reduced'),
    check=lambda *a, A=None, **k: check_qr(*a, *([] if A is None else [A]), **k))
row('Tensor.qr', None, c(TALL), c(TALL, False), c(TALL, some=True), check=check_qr)


def check_svd(*results, full_matrices=False, compute_uv=True, input=None):
    values = [r for r in results if isinstance(r, np.ndarray)]
    x = input if input is not None else next(r for r in results if r is TALL or r is T3)
    outs = results[:3] if len(values) > 3 or (input is not None and len(values) == 3) else results[:1]
    s = outs[0]
    assert near(np.sort(s, -1), np.sort(np.linalg.svd(x, compute_uv=False), -1))
    if len(outs) == 3:
        u, v = outs[1], outs[2]
        k = s.shape[-1]
        assert near((u[..., :k] * s[..., None, :]) @ v[..., :k].swapaxes(-1, -2), x)


row('ops.svd Tensor.svd', None, c(TALL), c(TALL, True, True), c(T3, False, False), c(input=TALL, full_matrices=True, compute_uv=True),
    check=check_svd)
row('ops.eigvals', None, c(SQUARE), c(A=SQUARE), check=lambda v, A: near(np.sort_complex(v), np.sort_complex(np.linalg.eigvals(A))) or 1 / 0)
row('_linalg.eig', None, c(SQUARE), c(a=SQUARE), check=lambda v, w, a: near(a @ w, v * w) or 1 / 0)
row('ops.eig', None, c(SQUARE), c(A=SQUARE), check=lambda v, w, A: near(A @ w, v * w) or 1 / 0)
row('Tensor.eigvals', None, c(SQUARE), check=lambda v, A: near(np.sort_complex(v), np.sort_complex(np.linalg.eigvals(A))) or 1 / 0)


# ---- the same by functions of the factors that signs, phases and bases do not change, so gradients can be compared ----


def h(x):
    return x.conj().swapaxes(-1, -2)


def seen_svd(s, u, v):
    k, w = s.shape[-1], s[..., None, :]
    u1, v1 = u[..., :k], v[..., :k]
    return (s, (u1 * w) @ h(u1), (u1 * (w * w)) @ h(v1), (v1 * w) @ h(v1),
            u[..., k:] @ h(u[..., k:]), v[..., k:] @ h(v[..., k:]))


def svd(x, full_matrices=False, compute_uv=True):
    u, s, vh = np.linalg.svd(x, full_matrices)
    return seen_svd(s, u, h(vh))


def seen_qr(q, r):
    k = min(r.shape[-2:])
    d = (r[..., :k, :k] * np.eye(k).astype(np.float32)).sum(-1) if isinstance(r, np.ndarray) else ms.ops.diagonal(r, 0, -2, -1)[..., :k]
    q1, r1 = q[..., :k], r[..., :k, :]
    return q1 * d[..., None, :], r1 * d.conj()[..., :, None], q[..., k:] @ h(q[..., k:])


def qr(x, mode):
    return seen_qr(*np.linalg.qr(x, mode))


def half(a, lower):
    """The Hermitian matrix of a triangle, the other one not read."""
    t = np.tril(a, -1) if lower else np.triu(a, 1)
    return t + h(t) + a * np.eye(a.shape[-1])


def seen_eigh(w, v):
    return w, (v * (w**3)[..., None, :]) @ h(v)


def seen_eig(w, v):
    exp, inverse = (np.exp, np.linalg.inv) if isinstance(w, np.ndarray) else (ms.ops.exp, ms.ops.inverse)
    return exp(w).sum(-1), (v * exp(w)[..., None, :]) @ inverse(v), (v * v.conj()).sum(-2)


LONG, COMPLEX = f(4, 2), z(3, 2)
row('ops.svd', svd, c(TALL), c(TALL.T.copy(), True), c(LONG, full_matrices=True), c(COMPLEX, True), c(f(2, 3, 3)), view=seen_svd, tol=10)
row('ops.qr', qr, c(TALL, 'reduced'), c(TALL, 'complete'), c(f(2, 3, 5), 'reduced'), c(LONG, 'complete'), c(COMPLEX, 'complete'), view=seen_qr, tol=10)
row('_linalg.eigh', lambda a, lower=True: seen_eigh(*np.linalg.eigh(half(a, lower))), c(SQUARE), c(STACK, False), c(a=z(3, 3), lower=True),
    view=seen_eigh, tol=10, grad=False)
row('_linalg.eigh', lambda a: seen_eigh(*np.linalg.eigh((a + h(a)) / 2)), c(SPD), c(COMPLEX @ h(COMPLEX)), view=seen_eigh, tol=10,
    second=False)  # the other triangle is not read, but has half of the derivative
row('ops.eig', lambda A: seen_eig(*np.linalg.eig(A)), c(SQUARE), c(z(3, 3)), view=seen_eig, tol=10)


def reflectors(a, tau):
    """H_1 H_2 ... of the columns below the diagonal."""
    m = a.shape[0]
    q = np.eye(m)
    for k in range(len(tau)):
        v = np.concatenate([np.zeros(k), [1], a[k + 1:, k]])
        q = q @ (np.eye(m) - tau[k] * np.outer(v, v))
    return q


def check_geqrf(a, tau, x=None, input=None):
    x = input if x is None else x
    q = reflectors(wide(a), wide(tau))
    assert near(q @ np.triu(a), x)


row('ops.geqrf Tensor.geqrf', None, c(TALL), c(input=TALL), check=check_geqrf)
HOUSE, TAU = np.tril(f(5, 3), -1) * 0.5, f(3, lo=0.2, hi=1)
row('ops.orgqr Tensor.orgqr', lambda a, tau: reflectors(a, tau)[:, :a.shape[1]], c(HOUSE, TAU), c(input=HOUSE, input2=TAU), tol=10)


def ormqr(a, tau, other, left=True, transpose=False):
    q = reflectors(a, tau)
    q = q.T if transpose else q
    return q @ other if left else other @ q


row('Tensor.ormqr', lambda x, input2, input3, left=True, transpose=False: ormqr(x, input2, input3, left, transpose), c(HOUSE, TAU, f(5, 2)),
    c(HOUSE, input2=TAU, input3=f(2, 5), left=False, transpose=True), tol=10)
row('ops.ormqr', ormqr, c(HOUSE, TAU, f(5, 2)), c(HOUSE, TAU, f(2, 5), False, True),
    c(input=HOUSE, tau=TAU, other=f(5, 2), left=True, transpose=True), tol=10)

# ---- norms ----


def norm(a, order=None, dim=None, keepdim=False, dtype=None):
    a = a if dtype is None else a.astype(np_dtype(dtype))
    over = axes(dim) if dim is not None else None
    if over is None and (order is None or a.ndim > 2):
        y = np.linalg.norm(a.reshape(-1), order)
        return y.reshape((1,) * a.ndim) if keepdim else y
    return np.linalg.norm(a, order, over if not isinstance(over, tuple) or len(over) > 1 else over[0], keepdim)


def vector_norm(x, order=2, dim=None, keepdim=False, dtype=None):
    x = x if dtype is None else x.astype(np_dtype(dtype))
    over = tuple(range(x.ndim)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    rest = [d for d in range(x.ndim) if d not in [o % x.ndim for o in over]]
    y = np.linalg.norm(x.transpose(rest + [o % x.ndim for o in over]).reshape([x.shape[d] for d in rest] + [-1]), order, -1)
    return y.reshape([x.shape[d] if d in rest else 1 for d in range(x.ndim)]) if keepdim else y


def matrix_norm(a, order='fro', dim=(-2, -1), keepdim=False, dtype=None):
    return np.linalg.norm(a if dtype is None else a.astype(np_dtype(dtype)), order, dim, keepdim)


row('ops.norm', lambda A, ord=None, dim=None, keepdim=False, dtype=None: norm(A, ord, dim, keepdim, dtype), c(T3), c(T3, 1, 1, True),
    c(T3, 'fro', (0, 2)), c(T3, ord=3, dim=2), c(F, 1), c(T3, np.inf, 1), c(T3, -np.inf, 1), c(A=F, ord='nuc', dim=(0, 1), keepdim=True), tol=10)
row('ops.norm', lambda A, dtype=None: norm(A), c(F, dtype=ms.float64), out='float64')
row('Tensor.norm', lambda A, ord=None, dim=None, keepdim=False, dtype=None: norm(A, ord, dim, keepdim, dtype), c(T3), c(T3, 1, 1, True),
    c(T3, 'fro', (0, 2)), c(T3, ord=3, dim=2, keepdim=False), tol=10)
row('Tensor.norm', lambda A, dtype=None: norm(A), c(F, dtype=ms.float64), out='float64')
row('mint.linalg.norm', lambda A, ord=None, dim=None, keepdim=False, dtype=None: norm(A, ord, dim, keepdim, dtype), c(T3), c(T3, 1, 1, True),
    c(T3, 'fro', (0, 2)), c(A=T3, ord=3, dim=2, keepdim=False), tol=10)
row('mint.linalg.norm', lambda A, dtype=None: norm(A), c(F, dtype=ms.float64), out='float64')
row('mint.norm', lambda x, p='fro', dim=None, keepdim=False, dtype=None: vector_norm(x, 2 if p == 'fro' else p, axes(dim) if dim is not None
                                                                                   else None, keepdim, dtype), c(T3), c(T3, 1, 1, True),
    c(T3, 'fro', (0, 2)), c(input=T3, p=3, dim=2, keepdim=False), tol=10)
row('mint.norm', lambda x, dtype=None: norm(x), c(F, dtype=ms.float64), out='float64')
def by_dim(fn, dim, keep):
    def call(x, ord=None, *more, **kw):
        given = {'dim': kw[dim], 'keepdim': kw[keep]} if kw else {}
        return fn(x, *(() if ord is None else (ord,)), *more, **given)
    call.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD)
                                            for n in ('first', 'ord', dim, keep)])
    return call


for name, dim in (('ops', 'axis'), ('mint.linalg', 'dim')):
    keep = 'keepdims' if name == 'ops' else 'keepdim'
    row(f'{name}.vector_norm', by_dim(vector_norm, dim, keep), c(T3),
        c(T3, 1, 1, True), c(T3, 3, (0, 2)), c(T3, np.inf, 1), c(T3, 0, 1),
        c(x=T3, ord=2, **{dim: -1, keep: True}), tol=10)
    row(f'{name}.vector_norm', lambda x, dtype=None: norm(x), c(F, dtype=ms.float64), out='float64')
    row(f'{name}.matrix_norm', by_dim(matrix_norm, dim, keep),
        c(T3), c(T3, 1, (0, 2), True), c(T3, np.inf), c(F, 'nuc'), c(F, -1), c(A=T3, ord='fro', **{dim: (0, 1), keep: True}), tol=10)
    row(f'{name}.matrix_norm', lambda A, dtype=None: norm(A), c(F, dtype=ms.float64), out='float64')
row('ops.cond', lambda A, p=None: np.linalg.cond(A, p), c(SQUARE), c(SQUARE, 'fro'), c(A=STACK, p=1), tol=100, second=False)
