"""Reductions over axes."""
import numpy as np

import mindspore as ms

from .table import B, F, I, P, T3, axes, b, c, f, i, np_dtype, row, rng

N = np.where(rng.random((2, 3, 4)) < 0.3, np.nan, T3)
I3 = i(2, 3, 4, lo=-4, hi=5)
B3 = b(2, 3, 4)
W = b(2, 3, 4)
E0 = np.zeros((0, 3))
I8 = i(2, 3, dtype=np.int8)


def total(fn, x, axis, keep, dtype=None, wide=True):
    if dtype is not None:
        x = x.astype(np_dtype(dtype))
    elif wide and x.dtype.kind in 'bi':
        x = x.astype(np.int64)
    return fn(x, axis=axes(axis), keepdims=keep)


def sum_(input, dim=None, keepdim=False, dtype=None):
    return total(np.sum, input, dim, keepdim, dtype)


def sum_numpy(x, axis=None, dtype=None, keepdims=False, initial=None):
    return sum_(x, axis, keepdims, dtype) + (initial or 0)


def prod(input, dim=None, keepdim=False, dtype=None):
    return total(np.prod, input, dim, keepdim, dtype)


def mean(x, axis=None, keep_dims=False, dtype=None):
    return total(np.mean, x, axis, keep_dims, dtype)


D = c(T3, 1, True), c(T3, dim=(0, 2)), c(T3, dim=-1, keepdim=True)
row('ops.sum mint.sum Tensor.sum', sum_, c(T3), *D, c(I3, 1), c(B3), c(I8), c(I3, dtype=ms.float32), c(E0), c(E0, 0),
    c(T3, ()))
row('Tensor.sum', sum_numpy, c(T3, axis=1, keepdims=True, initial=2.0), c(I3, axis=(0, 1), dtype=ms.float32))
row('mint.prod Tensor.prod', prod, c(T3), *D[:1], c(T3, dim=2), c(I3, 1), c(I8, dtype=ms.float32), c(E0))
row('ops.prod Tensor.prod', lambda x, axis=None, keep_dims=False, dtype=None: prod(x, axis, keep_dims, dtype), c(T3),
    c(T3, 1, True), c(T3, axis=2, keep_dims=True), c(I3, axis=1, dtype=ms.float32), c(I8))
row('ops.mean', mean, c(T3), c(T3, 1, True), c(x=T3, axis=(0, 2), keep_dims=True), c(E0, 1))
row('Tensor.mean', mean, c(T3), c(T3, 1, True), c(T3, axis=(0, 2), keep_dims=True))
row('mint.mean Tensor.mean', lambda input, dim=None, keepdim=False, dtype=None: mean(input, dim, keepdim, dtype),
    c(T3), *D, c(I3, dtype=ms.float32))
for name in 'all any'.split():
    fn = getattr(np, name)
    cases = c(B3), c(B3, 1, True), c(I3, (0, 2)), c(F), c(np.zeros((0, 3), bool))
    row(f'ops.{name} Tensor.{name}', lambda x, axis=None, keep_dims=False, fn=fn: fn(x, axes(axis), keepdims=keep_dims),
        *cases, c(B3, axis=2, keep_dims=True))
    row(f'mint.{name} Tensor.{name}', lambda input, dim=None, keepdim=False, fn=fn: fn(input, axes(dim), keepdims=keepdim),
        *cases, c(B3, dim=2, keepdim=True))


def extreme(fn, x, axis, keep, initial=None, where=None):
    more = {} if initial is None else {'initial': initial}
    if where is not None:
        more['where'] = where
    return fn(x, axis=axes(axis), keepdims=keep, **more)


def dims(fn):
    return lambda input, dim=None, keepdim=False: fn(input, dim, keepdim)


def arg(pick, x, axis, keep):
    at = pick(np.asarray(x), axis)
    return np.expand_dims(at, axis) if keep else at


for name, fn, pick, low in (('max', np.max, np.argmax, -9.0), ('min', np.min, np.argmin, 9.0)):
    row(f'ops.a{name} Tensor.a{name}', lambda x, axis=None, keepdims=False, initial=None, where=None, fn=fn:
        extreme(fn, x, axis, keepdims, initial, where), c(T3), c(T3, 1, True), c(T3, axis=(0, 2), keepdims=True), c(I3),
        c(T3, initial=low, where=W), c(T3, 1, initial=0.5), c(N))
    row(f'mint.a{name}', lambda input, dim=(), keepdim=False, fn=fn: extreme(fn, input, dim, keepdim), c(T3), *D, c(I3))

    def pair(x, axis=None, keepdims=False, initial=None, where=None, fn=fn, pick=pick):
        if axis is None:
            return extreme(fn, x, None, keepdims, initial, where), np.int64(0)
        filled = x if where is None else np.where(where, x, initial)
        return extreme(fn, x, axis, keepdims, initial, where), arg(pick, filled, axis, keepdims)
    row(f'ops.{name}', pair, c(T3), c(T3, 1), c(T3, axis=2, keepdims=True), c(I3, 0), c(N, 1))
    row(f'ops.{name}', pair, c(T3, 1, initial=low, where=W))
    row(f'mint.{name} Tensor.{name}', lambda input, fn=fn: fn(input), c(T3), c(I3), c(N))
    row(f'mint.{name} Tensor.{name}', lambda input, dim, keepdim=False, fn=fn, pick=pick:
        (extreme(fn, input, dim, keepdim), arg(pick, input, dim, keepdim)), c(T3, 1), c(T3, 2, True),
        c(I3, dim=0, keepdim=True), c(N, 1))
    row(f'mint.{name}', np.maximum if name == 'max' else np.minimum, c(F, P), c(input=F, other=P[0]))
    row(f'Tensor.{name}', lambda x, axis=None, keepdims=False, initial=None, where=None, return_indices=False, fn=fn,
        pick=pick: (extreme(fn, x, axis, keepdims, initial, where), arg(pick, x, axis, keepdims)) if return_indices
        else extreme(fn, x, axis, keepdims, initial, where), c(T3, axis=1), c(T3, axis=(0, 2), keepdims=True),
        c(T3, axis=1, initial=low, where=W), c(T3, axis=2, keepdims=True, return_indices=True))

    row(f'Tensor.arg{name}_with_value', lambda x, axis=0, keep_dims=False, fn=fn, pick=pick:
        (extreme(fn, x, axis, keep_dims), arg(pick, x, axis, keep_dims)), c(T3), c(T3, 1, True), c(I3, axis=-1), c(N, 1))

    def argm(x, axis=None, keepdims=False, pick=pick):
        if axis is None:
            return np.asarray(pick(x.reshape(-1))).reshape((1,) * x.ndim if keepdims else ())
        return arg(pick, x, axis, keepdims)

    def argm32(*a, argm=argm, **k):
        return argm(*a, **k).astype(np.int32)
    by_dim = c(T3), c(T3, 1), c(T3, 2, True), c(I3, dim=0, keepdim=True), c(N, 1), c(T3, keepdim=True)
    by_axis = c(T3), c(T3, axis=1), c(T3, axis=2, keepdims=True)
    if name == 'max':
        row('ops.argmax mint.argmax Tensor.argmax', dims(argm), *by_dim)
        row('Tensor.argmax', argm, *by_axis)
    else:
        row('mint.argmin', dims(argm), *by_dim)
        row('Tensor.argmin', dims(argm32), *by_dim)
        row('ops.argmin Tensor.argmin', argm32, *by_axis)


def var(x, axis=None, ddof=0, keepdims=False):
    return np.var(x, axis=axes(axis), ddof=int(ddof), keepdims=keepdims)


def var_dim(x, dim=None, correction=1, keepdim=False):
    return var(x, dim, correction, keepdim)


V = c(T3), c(T3, 1), c(T3, (0, 2), 1, True), c(T3, axis=2, ddof=True, keepdims=True)
VD = c(T3), c(T3, 1), c(T3, (0, 2), correction=0, keepdim=True), c(T3, dim=2, correction=2)
for name in 'var std'.split():
    root = np.sqrt if name == 'std' else np.asarray
    row(f'ops.{name} Tensor.{name}', lambda *a, root=root, **k: root(var(*a, **k)), *V)
    row(f'mint.{name}', lambda *a, root=root, **k: root(var_dim(*a, **k)), *VD)
    row(f'Tensor.{name}', lambda *a, root=root, **k: root(var_dim(*a, **k)), *VD[2:])
    row(f'ops.{name}_mean', lambda x, axis=None, ddof=0, keepdims=False, root=root:
        (root(var(x, axis, ddof, keepdims)), mean(x, axis, keepdims)), *V)
    row(f'mint.{name}_mean', lambda x, dim=None, correction=1, keepdim=False, root=root:
        (root(var_dim(x, dim, correction, keepdim)), mean(x, dim, keepdim)), *VD)
row('ops.logsumexp mint.logsumexp Tensor.logsumexp', lambda input, dim, keepdim=False:
    np.log(np.sum(np.exp(input), axes(dim), keepdims=keepdim)), c(T3, 1), c(T3, (0, 2), True), c(T3, dim=-1, keepdim=True))


def count(x, axis=(), keep_dims=False, dtype=ms.int32):
    return np.sum(x != 0, axes(axis), keepdims=keep_dims).astype(np_dtype(dtype))


row('ops.count_nonzero Tensor.count_nonzero', count, c(I3), c(I3, 1, True), c(T3, (0, 2), True, ms.int64),
    c(B3, axis=1, keep_dims=True, dtype=ms.int64))
row('mint.count_nonzero', lambda input, dim=None: np.asarray(np.sum(input != 0, axes(dim))), c(I3), c(I3, 1),
    c(T3, dim=(0, 2)))
row('Tensor.count_nonzero', lambda x, dim: np.asarray(np.sum(x != 0, axes(dim))), c(T3, dim=(0, 2)))
row('Tensor.nansum', lambda x, dim, keepdim=False, dtype=None: np.nansum(x, axes(dim), keepdims=keepdim,
    dtype=None if dtype is None else np_dtype(dtype)), c(N, dim=(0, 2), keepdim=True), c(I3, dim=1, dtype=ms.float32))
row('ops.nansum Tensor.nansum', lambda x, axis=None, keepdims=False, dtype=None:
    np.nansum(x if dtype is None else x.astype(np_dtype(dtype)), axes(axis), keepdims=keepdims), c(N), c(N, 1, True),
    c(N, axis=(0, 2), keepdims=True), c(I3, dtype=ms.float32))
row('mint.nansum', lambda x, dim=None, keepdim=False, dtype=None:
    np.nansum(x if dtype is None else x.astype(np_dtype(dtype)), axes(dim), keepdims=keepdim), c(N), c(N, 1, True),
    c(N, dim=(0, 2), keepdim=True), c(I3, dtype=ms.float32))
