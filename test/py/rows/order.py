"""Sorting, searching, running sums, counting and distinct values."""
import numpy as np

import mindspore as ms

from .table import B, F, I, T3, c, f, i, np_dtype, row

D = f(4, 5)
REPEAT = i(4, 5, lo=0, hi=3)
N = D.copy()
N[1, 2] = np.nan


def sort(x, axis=-1, descending=False, stable=False):
    at = np.argsort(-x if descending else x, axis=axis, kind='stable')
    return np.take_along_axis(x, at, axis), at


def sort32(x, axis=-1, descending=False):
    v, at = sort(x, axis, descending)
    return v, at.astype(np.int32)


row('ops.sort', sort32, c(D), c(D, 0, True), c(input_x=I, axis=1, descending=False), c(N))
row('Tensor.sort', sort32, c(D), c(D, 0, True), c(I, axis=1, descending=True))
row('mint.sort', lambda input, dim=-1, descending=False, stable=False: sort(input, dim, descending),
    c(D, dim=0), c(D, dim=0, descending=True, stable=True), c(REPEAT, dim=-1, stable=True))
row('Tensor.sort', lambda input, dim=-1, descending=False, stable=False: sort32(input, dim, descending),
    c(D, dim=0, descending=True, stable=True))
row('ops.argsort Tensor.argsort', lambda x, axis=-1, descending=False: sort32(x, axis, descending)[1], c(D), c(D, 0, True),
    c(input=D, axis=1, descending=True))
row('Tensor.argsort', lambda x, dim=-1, descending=False, stable=False: sort32(x, dim, descending)[1], c(D, 0, True, True),
    c(D, dim=1, descending=True, stable=False))
row('mint.argsort', lambda x, dim=-1, descending=False, stable=False: sort(x, dim, descending)[1], c(D), c(D, 0, True),
    c(input=REPEAT, dim=1, descending=True, stable=True))
row('ops.msort Tensor.msort', lambda x: np.sort(x, 0), c(D), c(input=I))


def topk(x, k, dim=-1, largest=True, sorted=True):
    v, at = sort(x, -1 if dim is None else dim, largest)
    first = range(k)
    return v.take(first, dim or -1 if dim is None else dim), at.take(first, -1 if dim is None else dim)


def topk32(x, k, dim=None, largest=True, sorted=True):
    v, at = topk(x, k, -1 if dim is None else dim, largest)
    return v, at.astype(np.int32)


row('ops.topk Tensor.topk', topk32, c(D, 2), c(D, 3, 0, False, True), c(input=D, k=1, dim=-1, largest=False, sorted=True))
row('ops.topk Tensor.topk', lambda x, k, dim, largest=True, sorted=False: topk32(x, k, dim), c(D, 1, 1, sorted=False))
row('mint.topk', topk, c(D, 2), c(D, 3, 0, False, True), c(input=D, k=1, dim=-1, largest=False, sorted=False))
row('ops.top_k Tensor.top_k', lambda x, k, sorted=True: topk32(x, k), c(D, 2), c(input_x=D, k=1, sorted=False))

# ---- running ----


def cumsum(x, axis, dtype=None):
    return np.cumsum(x if dtype is None else x.astype(np_dtype(dtype)), axis, None if dtype is not None else x.dtype)


def cumprod(x, dim, dtype=None):
    return np.cumprod(x if dtype is None else x.astype(np_dtype(dtype)), dim)


row('ops.cumsum', cumsum, c(D, 0), c(x=I, axis=1, dtype=ms.float32), c(I, -1), c(I.astype(np.int8), 0))
row('Tensor.cumsum', cumsum, c(D, 0), c(I, axis=1, dtype=ms.float32))
row('Tensor.cumsum', lambda x, axis: np.cumsum(x, axis, np.int32), c(I.astype(np.int8), 0), c(B, 1), c(np.array([200, 100], np.uint8), 0))
row('Tensor.cumsum', lambda x, dim, dtype=None: cumsum(x, dim, dtype), c(D, dim=0), c(I, dim=1, dtype=ms.float32))
row('mint.cumsum', lambda x, dim, dtype=None: cumsum(x, dim, dtype), c(D, 0), c(input=I, dim=1, dtype=ms.float32))
row('ops.cumprod mint.cumprod Tensor.cumprod', cumprod, c(D, 0), c(I, 1), c(I, dim=1, dtype=ms.float32),
    c(I.astype(np.int8), 0), c(B, 1))


def running(fn, x, axis, dtype):
    values = fn.accumulate(x, axis)
    at = np.zeros(x.shape, int)
    moved, out = np.moveaxis(x, axis, 0), np.moveaxis(at, axis, 0)
    best = np.moveaxis(values, axis, 0)
    for k in range(1, len(moved)):
        out[k] = np.where(moved[k] == best[k], k, out[k - 1])
    return values, at.astype(dtype)


for name, fn in (('max', np.maximum), ('min', np.minimum)):
    row(f'ops.cum{name} Tensor.cum{name}', lambda input, axis, fn=fn, at=np.int64 if name == 'max' else np.int32:
        running(fn, input, axis, at), c(D, 0), c(D, 1), c(REPEAT, axis=1))
    row(f'mint.cum{name}', lambda input, dim, fn=fn: running(fn, input, dim, np.int64), c(D, 0), c(D, 1), c(REPEAT, dim=1))


def diff(x, n=1, axis=-1, prepend=None, append=None):
    more = {k: v for k, v in (('prepend', prepend), ('append', append)) if v is not None}
    return np.diff(x, n, axis, **more)


row('ops.diff Tensor.diff', diff, c(D), c(D, 2), c(D, 1, 0, f(1, 5), f(2, 5)), c(x=I, n=1, axis=1, prepend=i(2, 1), append=i(2, 2)))
row('mint.diff', lambda input, n=1, dim=-1, prepend=None, append=None: diff(input, n, dim, prepend, append), c(D), c(D, 2),
    c(D, 1, 0, f(1, 5), f(2, 5)), c(input=I, n=1, dim=1, prepend=i(2, 1), append=i(2, 2)))

# ---- searching and counting ----

EDGES = np.sort(f(6))
ROWS = np.sort(f(2, 6), 1)
SHUFFLED = np.array([3, 1, 0, 2, 5, 4])


def searchsorted(seq, values, out_int32=False, right=False, side=None, sorter=None):
    side = side or ('right' if right else 'left')
    seq = seq if sorter is None else np.take_along_axis(seq, sorter, -1)
    if seq.ndim == 1:
        out = np.searchsorted(seq, values, side)
    else:
        out = np.stack([np.searchsorted(s, v, side) for s, v in zip(seq, values)])
    return np.asarray(out, np.int32 if out_int32 else np.int64)


UNSORTED = np.empty(6)
UNSORTED[SHUFFLED] = EDGES
row('ops.searchsorted mint.searchsorted', searchsorted, c(EDGES, F), c(EDGES, EDGES[1:3].copy(), right=True),
    c(ROWS, f(2, 3), out_int32=True), c(UNSORTED, F, side='right', sorter=SHUFFLED), c(sorted_sequence=EDGES, values=0.5))
row('Tensor.searchsorted', lambda x, v, side='left', sorter=None: np.asarray(np.searchsorted(x, v, side, sorter), np.int32),
    c(EDGES, F), c(EDGES, v=EDGES[1:3].copy(), side='right'), c(UNSORTED, F, 'left', SHUFFLED))
row('ops.bucketize', lambda x, boundaries, right=False: np.searchsorted(boundaries, x, 'right' if right else 'left')
    .astype(np.int32), c(F, [-1.0, 0.0, 1.0]), c(input=np.array([0.0, 1.0]), boundaries=[0.0, 1.0], right=True))


def unique(x, inverse=False, counts=False, axis=None):
    v, at, n = np.unique(x, return_inverse=True, return_counts=True, axis=axis)
    at = at.reshape(x.shape if axis is None else -1)
    out = [v] + [at] * inverse + [n] * counts
    return out[0] if len(out) == 1 else tuple(out)


def consecutive(x, return_inverse=False, return_counts=False, dim=None):
    y = x.reshape(-1) if dim is None else np.moveaxis(x, dim, 0)
    new = [True] + [not np.array_equal(y[k], y[k - 1]) for k in range(1, len(y))]
    group = np.cumsum(new) - 1
    v = y[np.array(new)] if dim is None else np.moveaxis(y[np.array(new)], 0, dim)
    out = [v] + [group.reshape(x.shape) if dim is None else group] * return_inverse + [np.bincount(group)] * return_counts
    return out[0] if len(out) == 1 else tuple(out)


def first_seen(x):
    values, first, at = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.argsort(order)
    return values[order], place[at].reshape(x.shape)


RUNS = np.array([1, 1, 2, 2, 2, 1, 3, 3])
LINES = np.array([[1, 2], [1, 2], [0, 3], [1, 2]])
row('ops.unique', first_seen, c(RUNS), c(input=REPEAT), dynamic=True)
row('ops.unique', first_seen, c(F), dynamic=True, grad=False, out=(None, 'int32'))
row('mint.unique Tensor.unique', lambda x, sorted=True, return_inverse=False, return_counts=False, dim=None:
    unique(x, return_inverse, return_counts, dim), c(REPEAT), c(REPEAT, True, True, True), c(LINES, True, True, True, 0),
    c(input=LINES, sorted=True, return_inverse=False, return_counts=True, dim=1), dynamic=True)
row('ops.unique_consecutive mint.unique_consecutive Tensor.unique_consecutive', consecutive, c(RUNS), c(RUNS, True, True),
    c(LINES, True, True, 0), c(input=LINES, return_inverse=True, return_counts=True, dim=0), dynamic=True)


def unique_with_pad(x, pad_num):
    v, at = first_seen(x)
    return np.concatenate([v, np.full(x.size - v.size, pad_num, x.dtype)]), at


row('ops.unique_with_pad Tensor.unique_with_pad', unique_with_pad, c(RUNS, 0), c(x=RUNS, pad_num=9), dynamic=True)


def bincount(x, weights=None, minlength=0):
    return np.bincount(x, weights, minlength)


row('ops.bincount Tensor.bincount', bincount, c(RUNS), c(RUNS, f(8)), c(input=RUNS, weights=None, minlength=7), dynamic=True, out='float32')
row('mint.bincount', bincount, c(RUNS), c(RUNS, f(8)), c(input=RUNS, weights=None, minlength=7), dynamic=True)


def histc(x, bins=100, min=0, max=0):
    lo, hi = (x.min(), x.max()) if min == max == 0 else (min, max)
    return np.histogram(x, bins, (lo, hi))[0].astype(x.dtype)


row('ops.histc mint.histc Tensor.histc', histc, c(D), c(D, 4), c(D, 5, -1, 1.5), c(input=D, bins=3, min=-1, max=1), grad=False,
    dynamic=True)
