"""Statistics, distances, segments, windows, combinations."""
import itertools

import numpy as np

import mindspore as ms

from .table import c, f, i, row

X, V, W = f(3, 4), f(6), f(6)
A, B3 = f(4, 3), f(2, 4, 3)
N = np.where(f(3, 5) > 1, np.nan, f(3, 5))
SEG = np.array([1, 0, 1, 3])


def lower_middle(x, axis=-1, keepdims=False, skip=False):
    x = np.moveaxis(np.asarray(x), axis, -1)
    order = np.argsort(x, -1, kind='stable')
    n = (~np.isnan(x)).sum(-1)
    k = np.maximum((n - 1) // 2, 0) if skip else np.where(n < x.shape[-1], x.shape[-1] - 1, (x.shape[-1] - 1) // 2)
    at = np.take_along_axis(order, k[..., None], -1)
    y = np.take_along_axis(x, at, -1)
    y, at = np.moveaxis(y, -1, axis), np.moveaxis(at, -1, axis)
    return (y, at) if keepdims else (y.squeeze(axis), at.squeeze(axis))


def quantile(fn):
    def call(x, q, axis=None, keepdims=False):
        return fn(x, q, axis=axis, keepdims=keepdims)
    return call


row('ops.median Tensor.median', lower_middle, c(X), c(X, axis=0, keepdims=True), c(N))
row('ops.nanmedian Tensor.nanmedian', lambda x, axis=-1, keepdims=False: lower_middle(x, axis, keepdims, True), c(X),
    c(N, axis=0, keepdims=True))
row('mint.median', lambda x, dim=None, keepdim=False: np.sort(x.reshape(-1))[(x.size - 1) // 2] if dim is None
    else lower_middle(x, dim, keepdim), c(X), c(X, 1), c(X, dim=0, keepdim=True))
row('mint.kthvalue Tensor.kthvalue', lambda x, k, dim=-1, keepdim=False: tuple(
    v if keepdim else v.squeeze(dim) for v in (np.take(np.sort(x, dim), [k - 1], dim), np.take(np.argsort(x, dim), [k - 1], dim))),
    c(X, 2), c(X, 1, dim=0, keepdim=True))
row('ops.quantile Tensor.quantile', quantile(np.quantile), c(X, 0.3), c(X, 0.7, axis=1, keepdims=True),
    c(X, 1, axis=0), c(N, 0.5, axis=1))
row('ops.nanquantile Tensor.nanquantile', quantile(np.nanquantile), c(X, 0.3), c(N, 0.5, axis=0, keepdims=True))
row('ops.aminmax Tensor.aminmax', lambda x, axis=0, keepdims=False: (x.min(axis, keepdims=keepdims), x.max(axis, keepdims=keepdims)),
    c(X), c(X, axis=1, keepdims=True), c(X, axis=None))
row('Tensor.ptp', np.ptp, c(X), c(X, axis=1, keepdims=True))
row('ops.nanmean Tensor.nanmean', lambda x, axis=None, keepdims=False, dtype=None: np.nanmean(x, axis, keepdims=keepdims),
    c(X), c(N, axis=1, keepdims=True))
row('ops.nanmean Tensor.nanmean', lambda x, axis=None, keepdims=False, dtype=None: np.nanmean(x, axis, keepdims=keepdims),
    c(X, 0, dtype=ms.float64), out='float64')


def covariance(x, correction=1, fweights=None, aweights=None):
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


row('ops.cov Tensor.cov', covariance, c(X), c(V, correction=0), c(X, fweights=np.array([1, 2, 1, 3])), grad=True)
row('ops.cov Tensor.cov', covariance, c(X, aweights=np.abs(f(4)) + 0.1))


def norm(x, p):
    return np.linalg.norm(x, p, axis=-1)


row('ops.cdist', lambda a, b, p=2.0: norm(a[..., :, None, :] - b[..., None, :, :], p), c(A, f(5, 3)), c(B3, f(2, 5, 3), p=1.5),
    c(A, f(5, 3), float('inf')))
row('mint.cdist', lambda a, b, p=2.0, compute_mode=None: norm(a[..., :, None, :] - b[..., None, :, :], p), c(A, f(5, 3)),
    c(B3, f(2, 5, 3), 3, compute_mode='donot_use_mm_for_euclid_dist'))
row('ops.pdist', lambda x, p=2.0: np.stack([norm(x[..., a, :] - x[..., b, :], p) for a, b in itertools.combinations(
    range(x.shape[-2]), 2)], -1), c(A), c(B3, p=1))
row('ops.dist mint.dist', lambda a, b, p=2: np.linalg.norm((a - b).reshape(-1), p), c(X, f(3, 4)), c(X, f(4), p=3))
row('ops.cosine_similarity', lambda a, b, dim=1, eps=1e-8: (a * b).sum(dim) / np.maximum(
    np.linalg.norm(a, axis=dim), eps) / np.maximum(np.linalg.norm(b, axis=dim), eps), c(X, f(3, 4)), c(X, f(3, 4), dim=0, eps=1e-3))


def renorm(x, p, axis, maxnorm):
    n = np.linalg.norm(np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1), p, axis=1)
    s = np.where(n > maxnorm, maxnorm / (n + 1e-7), 1)
    return x * s.reshape([-1 if d == axis else 1 for d in range(x.ndim)])


row('ops.renorm Tensor.renorm mint.renorm', renorm, c(X, 2, 0, 1.5), c(X, 1, axis=1, maxnorm=2.0), c(X, p=2, axis=0, maxnorm=9))


def clip_by_norm(x, max_norm, norm_type=2.0, error_if_nonfinite=False):
    xs = x if isinstance(x, (list, tuple)) else [x]
    n = np.linalg.norm([np.linalg.norm(v.reshape(-1), norm_type) for v in xs], norm_type)
    y = tuple(v * min(1, max_norm / (n + 1e-6)) for v in xs)
    return y if isinstance(x, (list, tuple)) else y[0]


row('ops.clip_by_norm', clip_by_norm, c(X, 1.0), c((X, V), 1.0, norm_type=1.0, error_if_nonfinite=True), c(X, 99))
row('ops.kron', np.kron, c(X, f(2, 3)), c(V, X))
row('ops.vecdot', lambda x, y, axis=-1: (x * y).sum(axis), c(X, f(3, 4)), c(X, f(3, 4), axis=0))
row('ops.addr Tensor.addr', lambda x, a, b, beta=1, alpha=1: beta * x + alpha * np.outer(a, b), c(X, f(3), f(4)),
    c(X, f(3), f(4), beta=0.5, alpha=2.0))
row('ops.bidense', lambda a, b, w, bias=None: np.einsum('bi,oij,bj->bo', a, w, b) + (0 if bias is None else bias),
    c(f(2, 3), f(2, 4), f(5, 3, 4)), c(f(2, 3), f(2, 4), f(5, 3, 4), bias=f(5)))
row('ops.cross mint.cross mint.linalg.cross Tensor.cross', lambda a, b, dim=None: np.cross(a, b, axis=a.shape.index(3) if dim is None else dim),
    c(f(3, 2), f(3, 2)), c(f(2, 3), f(2, 3), dim=1))
row('ops.trapz', lambda y, x=None, dx=1.0, dim=-1: getattr(np, 'trapezoid', getattr(np, 'trapz', None))(y, x, dx, dim), c(X),
    c(X, dx=0.5, dim=0), c(X, np.sort(f(4))))
row('ops.vander', np.vander, c(f(4)), c(f(4), 3))
row('ops.logcumsumexp Tensor.logcumsumexp', lambda x, axis: np.logaddexp.accumulate(x, axis), c(X, 0), c(X, axis=-1))


def segments(fn, start):
    def call(x, segment_ids, num_segments):
        n = int(num_segments)
        y = np.full((n,) + x.shape[segment_ids.ndim:], start(x) if callable(start) else start, x.dtype)
        for at in np.ndindex(segment_ids.shape):
            if segment_ids[at] >= 0:
                y[segment_ids[at]] = fn(y[segment_ids[at]], x[at])
        return y
    return call


FULL = np.array([1, 0, 1, 2])
row('ops.unsorted_segment_sum', segments(np.add, 0), c(A, SEG, 5), c(input_x=X, segment_ids=i(3, 4, lo=-1), num_segments=5))
row('ops.unsorted_segment_max Tensor.unsorted_segment_max', segments(np.maximum, -np.inf), c(A, FULL, 3), c(A, segment_ids=FULL, num_segments=3))
row('ops.unsorted_segment_min Tensor.unsorted_segment_min', segments(np.minimum, np.inf), c(A, FULL, 3), c(A, segment_ids=FULL, num_segments=3))
row('ops.unsorted_segment_prod Tensor.unsorted_segment_prod', segments(np.multiply, 1), c(A, SEG, 5), c(A, segment_ids=SEG, num_segments=4))


def block_diag(*m):
    m = [np.atleast_2d(x) for x in m]
    y = np.zeros(np.sum([x.shape for x in m], 0))
    r = k = 0
    for x in m:
        y[r:r + x.shape[0], k:k + x.shape[1]] = x
        r, k = r + x.shape[0], k + x.shape[1]
    return y


row('ops.block_diag', block_diag, c(X, V, f(2, 1)))
row('ops.cartesian_prod', lambda *x: np.stack([v.reshape(-1) for v in np.meshgrid(*x, indexing='ij')], 1) if len(x) > 1 else x[0],
    c(f(2), f(3)), c(f(3)), c(f(2), f(2), f(2)))
row('ops.combinations', lambda x, r=2, with_replacement=False: x[np.array(list((
    itertools.combinations_with_replacement if with_replacement else itertools.combinations)(range(len(x)), r)))],
    c(f(4)), c(f(4), r=3, with_replacement=True))
row('ops.sequence_mask', lambda n, maxlen=None: np.arange(maxlen or n.max()) < n[..., None], c(np.array([1, 3]), maxlen=4),
    c(np.array([[1], [2]]), 3), grad=False)
row('ops.reverse_sequence', lambda x, n, seq_dim, batch_dim=0: np.stack([np.concatenate([v[:k][::-1], v[k:]]) for v, k in zip(x, n)])
    if seq_dim == 1 else np.stack([np.concatenate([v[:k][::-1], v[k:]]) for v, k in zip(x.T, n)]).T,
    c(X, np.array([2, 4, 0]), 1), c(X, np.array([2, 3, 0, 1]), seq_dim=0, batch_dim=1))
row('Tensor.reverse_sequence', lambda x, n, seq_dim=0, batch_dim=0: np.stack([np.concatenate([v[:k][::-1], v[k:]]) for v, k in zip(x, n)]),
    c(X, np.array([2, 4, 0]), 1), c(X, np.array([2, 4, 0]), seq_dim=1, batch_dim=0))
row('ops.tensor_range', lambda a, b, s: np.arange(a, b, s), c(np.array(1), np.array(8), np.array(3)), grad=False, dynamic=True)


def window(fn, *defaults):
    def call(n, periodic=True, *a, dtype=None, **kw):
        return fn(n + 1, *a, **kw)[:-1] if periodic else fn(n, *a, **kw)
    return call


for _name in ('bartlett', 'blackman'):
    row(f'ops.{_name}_window', window(getattr(np, _name)), c(7), c(6, periodic=False, dtype=ms.float64), grad=False,
        check=lambda y, n, periodic=True, dtype=None, fn=getattr(np, _name): np.testing.assert_allclose(
            y, fn(n + 1)[:-1] if periodic else fn(n), atol=1e-6))
row('ops.hann_window', None, c(7), c(6, periodic=False, dtype=ms.float64), grad=False,
    check=lambda y, n, periodic=True, dtype=None: np.testing.assert_allclose(y, np.hanning(n + periodic)[:n], atol=1e-6))
row('ops.hamming_window', None, c(7), c(6, periodic=False, alpha=0.54, beta=0.46, dtype=ms.float64), grad=False,
    check=lambda y, n, periodic=True, alpha=0, beta=0, dtype=None: np.testing.assert_allclose(y, np.hamming(n + periodic)[:n], atol=1e-6))
row('ops.kaiser_window', None, c(7), c(6, periodic=False, beta=8.0, dtype=ms.float64), grad=False,
    check=lambda y, n, periodic=True, beta=12.0, dtype=None: np.testing.assert_allclose(y, np.kaiser(n + periodic, beta)[:n], atol=1e-6))
row('ops.gumbel_softmax', None, c(X), c(X, tau=0.5, hard=True, dim=0), grad=False,
    check=lambda y, x, tau=1, hard=False, dim=-1: np.testing.assert_allclose(y.sum(dim), 1, rtol=1e-5))
