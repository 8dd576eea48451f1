"""Functions of table lines on sparse tensors: coordinates with values, rows of pointers (CSR), ragged rows.

Where an element stands is a value that decides shapes, so positions are computed in numpy; values stay tensors and keep their gradients.
"""
import math

import numpy as np

from mindspore._c import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._rows import Rows

__all__ = ["sparse_segment", "sparse_segment_grad", "sparse_add", "sparse_addmm", "sparse_concat", "sparse_cwise", "sparse_fill_empty_rows",
           "sparse_fill_empty_rows_grad", "sparse_reorder", "sparse_reshape", "sparse_slice", "sparse_slice_grad", "sparse_softmax",
           "sparse_extremum", "sparse_split", "sparse_to_dense", "sspaddmm", "sparse_count", "csr_from_coo", "csr_to_dense", "csr_to_coo",
           "csr_from_dense", "csr_add", "csr_matmul", "csr_nnz", "csr_softmax", "csr_transpose", "csr_sparse_matmul", "csr_rows", "csr_pointers",
           "csr_elements", "csr_reduce", "set_size", "ragged_to_sparse", "ragged_to_tensor", "csr_mv", "csr_gather",
           "dense_sets", "dense_sparse_sets", "map_uniform", "sub_and_filter", "sequence_count", "sequence_with"]

_p = Rows("_p")
_o = Rows("ops")


def _np(t):
    return t.asnumpy() if isinstance(t, Tensor) else np.asarray(t)


def _sizes(t):
    return tuple(int(v) for v in _np(t).reshape(-1))


def _int64(a):
    return Tensor(np.ascontiguousarray(a, np.int64))


def _as(a, like):
    """Positions in the dtype of `like`."""
    return Tensor(np.ascontiguousarray(a, _np(like).dtype))


def _keys(indices, shape):
    """The places of coordinates, one a row, in row-major order."""
    indices = _np(indices).astype(np.int64)
    if indices.size and ((indices < 0).any() or (indices >= np.asarray(shape)).any()):
        raise ValueError(f"The indices of a sparse tensor must be within its shape {shape}.")
    return np.ravel_multi_index(indices.T, shape) if indices.size else np.zeros(len(indices), np.int64)


def _coordinates(keys, shape):
    return np.stack(np.unravel_index(keys, shape), -1).reshape(len(keys), len(shape))


def _pick(values, at):
    return _o.gather(values, _int64(at), 0)


def _gathered(values, at, n):
    """The sum of the values of equal place."""
    return _p.unsorted_segment(values, _int64(at), n, "add")


# ---- segments ----

def _scale(y, ids, n, mode, dtype):
    count = np.bincount(_np(ids).astype(np.int64), minlength=n)[:n] if ids.size else np.zeros(n)
    by = np.maximum(count, 1).astype(np.float64)
    by = Tensor(np.sqrt(by) if mode == "sqrt" else by).astype(dtype)
    return by.reshape((-1,) + (1,) * (y.ndim - 1))


def _check_segments(name, indices, ids, rows):
    i, s = _np(indices), _np(ids)
    if i.shape != s.shape or i.ndim != 1:
        raise ValueError(f"For '{name}', 'indices' and 'segment_ids' must be vectors of one size, but got {i.shape} and {s.shape}.")
    if s.size and (s[0] < 0 or (np.diff(s) < 0).any()):
        raise RuntimeError(f"For '{name}', 'segment_ids' must rise and not be negative.")
    if i.size and (i.min() < 0 or i.max() >= rows):
        raise RuntimeError(f"For '{name}', 'indices' must be in [0, {rows}).")


def sparse_segment(x, indices, ids, mode, n=None):
    """The sum, mean, or sum by the root of the count, of the rows x[indices] with equal id."""
    _check_segments("SparseSegment", indices, ids, x.shape[0])
    last = int(_np(ids)[-1]) + 1 if ids.size else 0
    if n is None and ids.size and len(np.unique(_np(ids))) != last:
        raise ValueError("For 'SparseSegment', the 'segment_ids' must count from 0 without a gap.")
    n = last if n is None else int(n)
    if n < last:
        raise RuntimeError(f"For 'SparseSegment', 'num_segments' must be above the largest id {last - 1}, but got {n}.")
    y = _gathered(_pick(x, _np(indices)), _np(ids), n)
    return y if mode == "sum" else _o.div(y, _scale(y, ids, n, mode, x.dtype)).astype(x.dtype)


def sparse_segment_grad(grad, indices, ids, rows, mode):
    rows = int(rows)
    _check_segments("SparseSegmentGrad", indices, ids, rows)
    if mode != "sum":
        grad = _o.div(grad, _scale(grad, ids, grad.shape[0], mode, grad.dtype)).astype(grad.dtype)
    return _gathered(_pick(grad, _np(ids)), _np(indices), rows)


# ---- coordinates ----

def _union(one, other, shape):
    """The places of either and where each element of both stands among them."""
    keys = np.concatenate((_keys(one, shape), _keys(other, shape)))
    return np.unique(keys, return_inverse=True)


def _same_shape(name, a, b):
    a, b = _sizes(a), _sizes(b)
    if a != b:
        raise ValueError(f"For '{name}', the shapes must be equal, but got {a} and {b}.")
    return a


def sparse_add(i1, v1, s1, i2, v2, s2, thresh):
    """(indices, values, shape) of the sum; what is smaller than `thresh` vanishes."""
    shape = _same_shape("SparseAdd", s1, s2)
    keys, at = _union(i1, i2, shape)
    values = _gathered(_o.cat((v1, v2)), at.reshape(-1), len(keys))
    kept = np.flatnonzero(np.abs(_np(values)) >= float(_np(thresh)))
    return _as(_coordinates(keys[kept], shape), i1), _pick(values, kept), s1


def sparse_extremum(i1, v1, s1, i2, v2, s2, extremum):
    """(indices, values) of the larger or smaller elements; what is absent is 0."""
    shape = _same_shape("SparseSparse" + extremum.__name__.capitalize(), s1, s2)
    keys, at = _union(i1, i2, shape)
    at, n = at.reshape(-1), v1.shape[0]
    values = extremum(_gathered(v1, at[:n], len(keys)), _gathered(v2, at[n:], len(keys)))
    return _as(_coordinates(keys, shape), i1), values


def sparse_addmm(indices, values, shape, x2, x3, alpha, beta):
    """alpha times a sparse matrix times a dense one, and beta times another."""
    from mindspore.ops.operations._compose import sparse_dense_matmul
    return sparse_dense_matmul(indices, values, _sizes(shape), x2, False, False) * alpha + x3 * beta


def sspaddmm(i1, v1, s1, i2, v2, s2, x3, alpha, beta):
    """(indices, values, shape) of beta x1 + alpha x2 x3 for sparse x1, x2; coordinates stand in columns, none are joined."""
    rows, inner = _np(i2).astype(np.int64)
    n = x3.shape[1]
    if rows.size and (rows.max() >= _sizes(s1)[0] or inner.max() >= x3.shape[0]):
        raise ValueError("For 'Sspaddmm', the indices of 'x2' must be within its shape.")
    own, back = np.unique(rows, return_inverse=True)
    product = _gathered(v2.expand_dims(1) * _pick(x3, inner), back.reshape(-1), len(own)) * alpha
    at = np.concatenate((_np(i1).astype(np.int64), np.stack((np.repeat(own, n), np.tile(np.arange(n), len(own))))), 1)
    return _int64(at), _o.cat((v1 * beta, product.reshape(-1).astype(v1.dtype))), s1


def sparse_concat(indices, values, shapes, axis):
    """(indices, values, shape) of sparse tensors one after the other."""
    sizes = [_sizes(s) for s in shapes]
    axis %= len(sizes[0])
    if any(s[:axis] + s[axis + 1:] != sizes[0][:axis] + sizes[0][axis + 1:] for s in sizes):
        raise ValueError(f"For 'SparseConcat', the shapes must be equal beside the axis {axis}, but got {sizes}.")
    parts, begin = [], 0
    for i, s in zip(indices, sizes):
        part = _np(i).astype(np.int64).copy()
        part[:, axis] += begin
        begin += s[axis]
        parts.append(part)
    shape = sizes[0][:axis] + (begin,) + sizes[0][axis + 1:]
    at, all_values = np.concatenate(parts), _o.cat(tuple(values))
    order = np.argsort(_keys(at, shape), kind="stable")
    return _int64(at[order]), _pick(all_values, order), _int64(shape)


def sparse_cwise(indices, values, shape, dense, op):
    """The values with those of a dense tensor that broadcasts to the shape."""
    return op(values, _o.gather_nd(_o.broadcast_to(dense, _sizes(shape)), indices))


def sparse_fill_empty_rows(indices, values, shape, default):
    """(indices, values, which rows were empty, where each value went): an empty row gets a default value in its first column."""
    i, rows = _np(indices).astype(np.int64), _sizes(shape)[0]
    if i.size and (i[:, 0].min() < 0 or i[:, 0].max() >= rows):
        raise RuntimeError(f"For 'SparseFillEmptyRows', the rows of the indices must be in [0, {rows}).")
    empty = np.bincount(i[:, 0], minlength=rows) == 0
    extra = np.zeros((int(empty.sum()), i.shape[1]), np.int64)
    extra[:, 0] = np.flatnonzero(empty)
    joined = np.concatenate((i, extra))
    order = np.argsort(joined[:, 0], kind="stable")
    whole = _o.cat((values, _o.broadcast_to(default.astype(values.dtype).reshape((1,)), (len(extra),))))
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return _int64(joined[order]), _pick(whole, order), Tensor(empty), _int64(back[:len(i)])


def sparse_fill_empty_rows_grad(back, grad):
    """(gradient of the values, of the default value)."""
    mine = _o.gather(grad, back, 0)
    return mine, grad.sum() - mine.sum()


def sparse_reorder(indices, values, shape):
    order = np.argsort(_keys(indices, _sizes(shape)), kind="stable")
    return _as(_np(indices)[order], indices), _pick(values, order)


def sparse_reshape(indices, shape, new_shape):
    """(indices, shape) of the same elements in another shape, of which one size may be -1."""
    old, new = _sizes(shape), list(_sizes(new_shape))
    total = math.prod(old)
    if new.count(-1) > 1:
        raise ValueError(f"For 'SparseReshape', only one size may be -1, but got {new}.")
    if -1 in new:
        rest = math.prod(v for v in new if v != -1)
        new[new.index(-1)] = total // rest if rest else 0
    if math.prod(new) != total:
        raise ValueError(f"For 'SparseReshape', the shapes {old} and {new} must have equally many elements.")
    return _as(_coordinates(_keys(indices, old), tuple(new)), indices), _as(new, new_shape)


def sparse_slice(indices, values, shape, start, size):
    """(indices, values, shape) of the part that begins at `start`."""
    i, begin, shape = _np(indices).astype(np.int64), np.asarray(_sizes(start)), np.asarray(_sizes(shape))
    n = np.minimum(np.asarray(_sizes(size)), np.maximum(shape - begin, 0))
    kept = np.flatnonzero(((i >= begin) & (i < begin + n)).all(1))
    return _int64(i[kept] - begin), _pick(values, kept), _int64(n)


def sparse_slice_grad(grad, indices, start, new_indices):
    """The gradients of the elements that the slice took, 0 for the others."""
    place = {tuple(row): k for k, row in enumerate((_np(new_indices) + np.asarray(_sizes(start))).tolist())}
    at = np.array([place.get(tuple(row), -1) for row in _np(indices).tolist()], np.int64)
    if not place:
        return _o.zeros((len(at),), grad.dtype)
    return _o.where(_int64(at) >= 0, _pick(grad, np.maximum(at, 0)), Tensor(0, grad.dtype))


def sparse_softmax(indices, values, shape):
    """Softmax over the present elements of each row of the last axis."""
    shape = _sizes(shape)
    if len(shape) < 2:
        raise ValueError(f"For 'SparseSoftmax', the shape must have 2 sizes or more, but got {shape}.")
    rows, at = np.unique(_keys(_np(indices)[:, :-1], shape[:-1]), return_inverse=True)
    return _row_softmax(values, at.reshape(-1), len(rows))


def _row_softmax(values, at, n):
    top = _p.unsorted_segment(values, _int64(at), n, "max")
    e = _o.exp(values - _pick(top, at))
    return e / _pick(_gathered(e, at, n), at)


def sparse_split(axis, indices, values, shape, n):
    """(indices, values, shapes), each a tuple with one entry per part; the first parts are larger by one when the size does not divide."""
    axis, shape, i = int(axis), _sizes(shape), _np(indices).astype(np.int64)
    if not 0 <= axis < len(shape) or not 1 <= n <= shape[axis]:
        raise ValueError(f"For 'SparseSplit', the axis must be one of {len(shape)} and at least {n} long, but got {axis} of {shape}.")
    small, larger = divmod(shape[axis], n)
    out, begin = [], 0
    for k in range(n):
        size = small + (k < larger)
        kept = np.flatnonzero((i[:, axis] >= begin) & (i[:, axis] < begin + size))
        part = i[kept].copy()
        part[:, axis] -= begin
        out.append((_int64(part), _pick(values, kept), _int64(shape[:axis] + (size,) + shape[axis + 1:])))
        begin += size
    return tuple(zip(*out))


def sparse_to_dense(indices, shape, values, default, validate):
    """A dense tensor of the default value with values at coordinates."""
    shape, i = _sizes(shape), _np(indices).astype(np.int64)
    i = i.reshape(-1, len(shape))
    keys = _keys(i, shape)
    if validate and (np.diff(keys) <= 0).any():
        raise RuntimeError("For 'SparseToDenseV2', the indices must rise and be different.")
    values = _o.broadcast_to(values.reshape((-1,)), (len(keys),))
    return _o.tensor_scatter_update(_o.broadcast_to(default, shape) + _o.zeros(shape, default.dtype), _int64(i), values.astype(default.dtype))


def sparse_count(indices, values, shape, weights, binary, minlength, maxlength):
    """(indices, values, shape): how often, or with what weight, each value occurs in each row."""
    i, v, shape = _np(indices), _np(values).astype(np.int64), _sizes(shape)
    if v.size and v.min() < 0:
        raise RuntimeError("For 'SparseCountSparseOutput', the values must not be negative.")
    if i.size and ((i < 0).any() or (i.reshape(len(v), -1) >= np.asarray(shape)).any()):
        raise RuntimeError(f"For 'SparseCountSparseOutput', the indices must be within the shape {shape}.")
    w = _np(weights)
    if w.size and w.shape != v.shape:
        raise RuntimeError(f"For 'SparseCountSparseOutput', 'weights' must have the shape of 'values', but got {w.shape} and {v.shape}.")
    wide = max(int(v.max()) + 1 if v.size else 0, minlength, 0)
    if maxlength > 0:
        wide = min(wide, maxlength)
    kept = v < wide if wide else np.zeros(v.shape, bool)
    rows = i[:, :-1].astype(np.int64) if i.ndim == 2 and i.shape[1] > 1 else np.zeros((len(v), 0), np.int64)
    at = np.concatenate((rows, v[:, None]), 1)[kept]
    out_shape = tuple(shape[:-1]) + (wide,) if len(shape) > 1 else (wide,)
    keys, back = np.unique(_keys(at, out_shape), return_inverse=True)
    if binary or not w.size:
        w = np.ones(v.shape, w.dtype)
    total = np.zeros(len(keys), w.dtype)
    np.add.at(total, back.reshape(-1), w[kept])
    return _int64(_coordinates(keys, out_shape)), Tensor(np.ones_like(total) if binary else total), _int64(out_shape)


def set_size(indices, values, shape, validate):
    """How many different values each row of the last axis holds."""
    shape = _sizes(shape)
    rows = _keys(_np(indices)[:, :-1], shape[:-1])
    seen = np.unique(np.stack((rows, _np(values).astype(np.int64)), -1), axis=0)[:, 0] if len(rows) else rows
    return Tensor(np.bincount(seen, minlength=math.prod(shape[:-1])).reshape(shape[:-1]).astype(np.int32))


def _sets(who, a, shape, row_of, operation):
    """(indices, values, shape) of the sets of each row of a with ``row_of(place)`` of a tensor of the given shape."""
    kinds = {"a-b": np.setdiff1d, "b-a": lambda a, b: np.setdiff1d(b, a), "intersection": np.intersect1d, "union": np.union1d}
    if operation.lower() not in kinds:
        raise ValueError(f"For '{who}', the 'set_operation' must be one of {sorted(kinds)}, but got {operation}.")
    if a.ndim < 2 or a.shape[:-1] != tuple(shape[:-1]):
        raise ValueError(f"For '{who}', the shapes must be equal but for the last axis, but got {a.shape} and {tuple(shape)}.")
    sets = [(at, kinds[operation.lower()](a[at], row_of(at))) for at in np.ndindex(*a.shape[:-1])]
    places = [(*at, k) for at, s in sets for k in range(len(s))]
    values = np.concatenate([s for _, s in sets]) if sets else a.reshape(-1)
    wide = max((len(s) for _, s in sets), default=0)
    return _int64(np.asarray(places, np.int64).reshape(-1, a.ndim)), Tensor(values), _int64(a.shape[:-1] + (wide,))


def dense_sets(one, other, operation):
    """The sets of each row of the last axis: a-b, b-a, intersection or union."""
    a, b = _np(one), _np(other)
    return _sets("DenseToDenseSetOperation", a, b.shape, lambda at: b[at], operation)


def dense_sparse_sets(one, indices, values, shape, operation, validate):
    """The same with the rows of a sparse tensor."""
    who = "DenseToSparseSetOperation"
    a, i, v, shape = _np(one), _np(indices), _np(values), _sizes(shape)
    if i.ndim != 2 or i.shape != (len(v), len(shape)) or a.ndim != len(shape):
        raise ValueError(f"For '{who}', the indices must have shape {(len(v), a.ndim)}, but got {i.shape}.")
    if validate and len(i) and ((i < 0).any() or (i >= np.asarray(shape)).any() or (np.diff(_keys(i, shape)) <= 0).any()):
        raise ValueError(f"For '{who}', the indices must be inside of the shape {tuple(shape)}, in order, each once.")
    rows = {}
    for at, value in zip(i[:, :-1].tolist(), v):
        rows.setdefault(tuple(at), []).append(value)
    return _sets(who, a, shape, lambda at: np.asarray(rows.get(at, []), a.dtype), operation)


def map_uniform(keys, size, groups):
    """Keys spread over groups of ``size`` places: the k-th key of a group stands at its k-th place."""
    k, size, groups = _np(keys), int(size), int(groups)
    if size < 1 or groups < 1:
        raise ValueError(f"For 'MapUniform', 'per_group_size' and 'group_num' must be positive, but got {size} and {groups}.")
    place = k % groups * size + k // groups
    if ((k < 0) | (k >= size * groups)).any():
        raise ValueError(f"For 'MapUniform', the input must be in [0, {size * groups}), but got {k[(k < 0) | (k >= size * groups)][0]}.")
    return Tensor(place)


def sub_and_filter(x, max_num, offset):
    """(x - offset where it lies in [0, max_num), its places)."""
    shifted = _np(x) - offset
    at = np.flatnonzero((shifted >= 0) & (shifted < max_num))
    return Tensor(shifted.reshape(-1)[at]), Tensor(at.astype(np.int32))


# ---- sequences of Python ----

def sequence_count(sequence, target):
    """How often the target occurs; tensors are equal when all of their elements are."""
    def equal(v):
        if not isinstance(v, Tensor) or not isinstance(target, Tensor):
            return type(v) is type(target) and v == target
        return v.shape == target.shape and v.dtype == target.dtype and bool((_np(v) == _np(target)).all())
    return sum(1 for v in sequence if equal(v))


def sequence_with(target, at, values):
    out = list(target)
    out[at] = list(values)
    return out


# ---- CSR matrices, possibly a batch: (shape, batch pointers, row pointers, columns, values) ----

def _parts(shape, row_pointers):
    """(batch, rows, columns) and the batch and row of each element."""
    sizes, ptr = _sizes(shape), _np(row_pointers).astype(np.int64)
    b, m, n = sizes if len(sizes) == 3 else (1,) + sizes
    counts = np.diff(ptr.reshape(b, m + 1), axis=1).reshape(-1)
    place = np.repeat(np.arange(b * m), counts)
    return (b, m, n), place


def _build(shape, like, batch_rows, columns, values, order=None):
    """A CSR matrix from the place `batch * rows + row` and the column of each element."""
    sizes = _sizes(shape)
    b, m, n = sizes if len(sizes) == 3 else (1,) + sizes
    if order is None:
        order = np.argsort(batch_rows * n + columns, kind="stable")
    counts = np.bincount(batch_rows, minlength=b * m).reshape(b, m)
    pointers = np.concatenate((np.zeros((b, 1), np.int64), np.cumsum(counts, 1)), 1).reshape(-1)
    ends = np.concatenate(([0], np.cumsum(counts.sum(1))))
    return shape, _as(ends, like), _as(pointers, like), _as(columns[order], like), _pick(values, order)


def csr_from_coo(indices, values, shape):
    sizes, i = _sizes(shape), _np(indices).astype(np.int64)
    _keys(i, sizes)
    m = sizes[-2]
    rows = i[:, -2] + (i[:, 0] * m if len(sizes) == 3 else 0)
    return _build(shape, indices, rows, i[:, -1], values)


def csr_to_coo(shape, batch_pointers, row_pointers, columns, values):
    (b, m, _), place = _parts(shape, row_pointers)
    at = [place % m, _np(columns).astype(np.int64)]
    if len(_sizes(shape)) == 3:
        at.insert(0, place // m)
    return _as(np.stack(at, -1), columns), values, shape


def csr_to_dense(shape, batch_pointers, row_pointers, columns, values):
    at = csr_to_coo(shape, batch_pointers, row_pointers, columns, values)[0]
    return _o.tensor_scatter_add(_o.zeros(_sizes(shape), values.dtype), at.astype(mstype.int64), values)


def csr_from_dense(dense, indices):
    return csr_from_coo(indices, _o.gather_nd(dense, indices), _as(dense.shape, indices))


def csr_add(*inputs):
    """alpha x1 + beta x2."""
    one, other, alpha, beta = inputs[:5], inputs[5:10], inputs[10], inputs[11]
    sizes = _same_shape("SparseMatrixAdd", one[0], other[0])
    i1, i2 = csr_to_coo(*one)[0], csr_to_coo(*other)[0]
    keys, at = _union(i1, i2, sizes)
    values = _gathered(_o.cat((one[4] * alpha, other[4] * beta)), at.reshape(-1), len(keys))
    return csr_from_coo(_as(_coordinates(keys, sizes), one[3]), values, one[0])


def _oriented(x, transpose, adjoint):
    return _o.conj(x.swapaxes(-1, -2)) if adjoint else x.swapaxes(-1, -2) if transpose else x


def csr_matmul(shape, batch_pointers, row_pointers, columns, values, dense, prim):
    """A sparse matrix times a dense one."""
    x = _oriented(csr_to_dense(shape, batch_pointers, row_pointers, columns, values), prim.transpose_x1, prim.adjoint_x1)
    y = _o.matmul(x, _oriented(dense, prim.transpose_x2, prim.adjoint_x2))
    y = y.swapaxes(-1, -2) if prim.transpose_output else y
    return _o.conj(y) if prim.conjugate_output else y


def csr_sparse_matmul(*inputs_and_prim):
    """The product of two sparse matrices; what is 0 is left out."""
    *inputs, prim = inputs_and_prim
    a = _oriented(csr_to_dense(*inputs[:5]), prim.transpose_a, prim.adjoint_a)
    y = _o.matmul(a, _oriented(csr_to_dense(*inputs[5:]), prim.transpose_b, prim.adjoint_b))
    at = np.argwhere(_np(y))
    return csr_from_coo(_as(at, inputs[3]), _o.gather_nd(y, _int64(at)), _as(y.shape, inputs[0]))


def csr_nnz(shape, batch_pointers, row_pointers, columns, values):
    """How many elements each matrix of the batch has."""
    return Tensor(np.diff(_np(batch_pointers)).astype(np.int32))


def csr_softmax(shape, batch_pointers, row_pointers, columns, values):
    """Softmax over the present elements of each row."""
    _, place = _parts(shape, row_pointers)
    rows, at = np.unique(place, return_inverse=True)
    return shape, batch_pointers, row_pointers, columns, _row_softmax(values, at.reshape(-1), len(rows))


def csr_transpose(shape, batch_pointers, row_pointers, columns, values, conjugate):
    sizes = _sizes(shape)
    at = _np(csr_to_coo(shape, batch_pointers, row_pointers, columns, values)[0])
    at = np.concatenate((at[:, :-2], at[:, -1:], at[:, -2:-1]), 1)
    swapped = sizes[:-2] + (sizes[-1], sizes[-2])
    return csr_from_coo(_as(at, columns), _o.conj(values) if conjugate else values, _as(swapped, shape))


# ---- one matrix: pointers, columns, values ----

def csr_rows(pointers, n=None):
    """The row of each element."""
    counts = np.diff(_np(pointers))
    return _as(np.repeat(np.arange(len(counts)), counts), pointers)


def csr_pointers(rows, height):
    """Where each row begins, and the last one ends."""
    counts = np.bincount(_np(rows).astype(np.int64), minlength=int(height))
    return _as(np.concatenate(([0], np.cumsum(counts))), rows)


def csr_elements(pointers, columns, values, shape, dense, op):
    """The values with those of a dense tensor that broadcasts to the matrix."""
    at = _o.stack((csr_rows(pointers).astype(mstype.int64), columns.astype(mstype.int64)), -1)
    shape = tuple(shape)
    return op(values, _o.gather_nd(_o.broadcast_to(dense, shape), at))


def csr_reduce(pointers, columns, values, shape, axis):
    """The sum over the rows (axis 0) or the columns, the axis kept."""
    if axis % 2 == 0:
        return _gathered(values, _np(columns), shape[1]).reshape((1, -1) + values.shape[1:])
    return _gathered(values, _np(csr_rows(pointers)), shape[0]).reshape((-1, 1) + values.shape[1:])


def csr_mv(pointers, columns, values, shape, dense):
    """A sparse matrix times a dense one."""
    parts = values.reshape((-1,) + (1,) * (dense.ndim - 1)) * _o.gather(dense, columns, 0)
    return _gathered(parts, _np(csr_rows(pointers)), shape[0])


def csr_gather(pointers, columns, dense, shape):
    """The elements of a dense tensor at the places of a sparse matrix."""
    return _o.gather_nd(dense, _o.stack((csr_rows(pointers).astype(mstype.int64), columns.astype(mstype.int64)), -1))


# ---- ragged rows ----

def _ragged_coordinates(splits):
    """The coordinates of the rows of values under nested splits."""
    at = None
    for s in splits:
        counts = np.diff(s)
        rows = np.repeat(np.arange(len(counts)), counts)
        inner = np.concatenate([np.arange(c) for c in counts]) if len(counts) else counts
        outer = rows[:, None] if at is None else at[rows]
        at = np.concatenate((outer, inner[:, None].astype(np.int64)), 1)
    return at


def ragged_to_sparse(splits, values):
    """(indices, values, shape) of ragged rows."""
    splits = [_np(s).astype(np.int64) for s in splits]
    if any(s.size == 0 or s[0] != 0 or (np.diff(s) < 0).any() for s in splits) or splits[-1][-1] != values.shape[0]:
        raise ValueError("For 'RaggedTensorToSparse', splits must rise from 0 to the number of values.")
    at = _ragged_coordinates(splits)
    shape = [len(splits[0]) - 1] + [int(np.diff(s).max()) if len(s) > 1 else 0 for s in splits] + list(values.shape[1:])
    inner = np.argwhere(np.ones(values.shape[1:])) if values.ndim > 1 else np.zeros((1, 0), np.int64)
    at = np.concatenate((np.repeat(at, len(inner), 0), np.tile(inner, (len(at), 1))), 1)
    return _int64(at), values.reshape(-1), _int64(shape)


def ragged_to_tensor(shape, values, default, partitions, kinds):
    """A dense tensor of ragged rows; longer rows are cut, shorter ones filled."""
    splits, rows = [], None
    for kind, part in zip(kinds, partitions):
        part = _np(part).astype(np.int64).reshape(-1)
        if kind == "FIRST_DIM_SIZE":
            rows = int(part[0])
        elif kind == "ROW_SPLITS":
            splits.append(part)
            rows = int(part[-1])
        elif kind == "VALUE_ROWIDS":
            splits.append(np.concatenate(([0], np.cumsum(np.bincount(part, minlength=rows or 0)))))
            rows = len(part)
        else:
            raise ValueError(f"For 'RaggedTensorToTensor', the 'row_partition_types' must be FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS, "
                             f"but got {kind}.")
    natural = [len(splits[0]) - 1] + [int(np.diff(s).max()) if len(s) > 1 else 0 for s in splits] + list(values.shape[1:])
    wanted = [w if w >= 0 else n for w, n in zip(_sizes(shape) or (-1,) * len(natural), natural)]
    at = _ragged_coordinates(splits)
    kept = np.flatnonzero((at < np.asarray(wanted[:at.shape[1]])).all(1))
    base = _o.broadcast_to(default, tuple(wanted)) + _o.zeros(tuple(wanted), values.dtype)
    return _o.tensor_scatter_update(base, _int64(at[kept]), _pick(values, kept))
