"""Reading and writing by indices and masks."""
import numpy as np

import mindspore as ms

from .table import B, F, I, T3, axes, b, c, f, i, np_dtype, row

M = f(4, 3)
K = np.array([2, 0, 3])             # rows of M
D = np.array([[2, 0, 1], [0, 1, 2]])  # places along an axis of F
W = f(2, 3)
ND = np.array([[0, 2], [3, 1], [1, 1]])  # places in M


def changed(x, at, values, mode='set'):
    """x with values at x[at]; repeated places accumulate."""
    out = x.copy()
    values = np.asarray(values, x.dtype)
    if mode == 'set':
        out[at] = values
    else:
        getattr(np, {'add': 'add', 'sub': 'subtract', 'mul': 'multiply', 'div': 'divide', 'max': 'maximum',
                     'min': 'minimum'}[mode]).at(out, at, values)
    return out


def along(x, axis, index):
    """The places that index names along an axis, as numpy indices (torch's gather and scatter)."""
    at = list(np.indices(index.shape))
    at[axis] = index
    return tuple(at)


def whole(axis, index):
    """Whole slices along an axis."""
    return (slice(None),) * axis + (index,)


def gather(x, dim, index):
    return x[along(x, dim % x.ndim, index)]


# ---- reading ----

row('ops.gather', lambda x, index, axis, batch_dims=0: np.take(x, index, axis) if not batch_dims else
    np.stack([np.take(p, k, axis - 1) for p, k in zip(x, index)]), c(M, K, 0), c(T3, D, 1), c(M, np.array(-1), 1),
    c(input_params=f(2, 3, 4), input_indices=D, axis=1, batch_dims=1))
row('Tensor.gather', lambda x, index, axis, batch_dims=0: np.take(x, index, axis) if not batch_dims else
    np.stack([np.take(p, k, axis - 1) for p, k in zip(x, index)]), c(M, K, 0), c(T3, D, 1),
    c(f(2, 3, 4), input_indices=D, axis=1, batch_dims=1))
row('mint.gather Tensor.gather', gather, c(F, 1, D), c(f(3, 3), dim=0, index=D), c(F, -1, D[:, :2]))
row('ops.gather_elements Tensor.gather_elements', gather, c(F, 1, D), c(input=f(3, 3), dim=0, index=D))
row('ops.gather_d', gather, c(F, 1, D), c(x=f(3, 3), dim=0, index=D.astype(np.int32)))
row('ops.gather_nd Tensor.gather_nd', lambda x, indices: x[tuple(np.moveaxis(indices, -1, 0))], c(M, ND),
    c(input_x=T3, indices=ND[:1] * 0 + 1), c(T3, np.array([[1], [0]])))
row('ops.index_select Tensor.index_select', lambda x, axis, index: np.take(x, index, axis), c(M, 0, K),
    c(input=T3, axis=-1, index=K))
row('mint.index_select Tensor.index_select', lambda x, dim, index: np.take(x, index, dim), c(M, 0, K),
    c(input=T3, dim=-1, index=K))
row('mint.take Tensor.take', lambda input, index: input.reshape(-1)[index], c(M, D), c(input=F, index=np.array([-1, 2])))
row('Tensor.take', lambda x, indices, axis=None, mode='clip': np.take(x, indices, axis, mode=mode), c(M, K, 0),
    c(M, [0, 9, 1], 0, 'clip'), c(M, [0, 9, -1], 0, mode='wrap'), c(M, indices=[1, 2]))
row('ops.masked_select mint.masked_select Tensor.masked_select', lambda x, mask: x[np.broadcast_to(mask, x.shape)],
    c(F, B), c(input=F, mask=np.array([True, False, True])), dynamic=True)
row('ops.select', lambda condition, input, other: np.where(condition, input, other), c(B, F, W), c(B, 1.5, F), c(condition=B, input=F, other=2.5))
row('Tensor.select', lambda x, condition, y: np.where(condition, x, y), c(F, B, W), c(F, condition=B, y=2.5))
row('ops.nonzero mint.nonzero Tensor.nonzero', lambda x, as_tuple=False: np.nonzero(x) if as_tuple else
    np.argwhere(x), c(B), c(I), c(F * B, as_tuple=True), dynamic=True)
row('ops.argwhere Tensor.argwhere', np.argwhere, c(B), c(F * B), dynamic=True)
row('Tensor.__getitem__', lambda x, index: x[index], c(T3, 1), c(T3, (slice(None), -1)), c(T3, (Ellipsis, slice(0, 3, 2))),
    c(T3, (None, slice(None, None, -1))), c(T3, (0, np.array([2, 0]))), c(T3, ([1, 0], slice(None), [3, 3])))
row('Tensor.__getitem__', lambda x, index: x[index], c(F, B), dynamic=True)

# ---- writing ----


def setitem(x, index, value):
    """The method gives nothing back, so a function that gives the tensor stands for it (see test_rows.function)."""
    return changed(x, index, value)


row('Tensor.__setitem__', setitem, c(T3, 1, f(3, 4)), c(T3, (slice(None), -1), 2.5), c(T3, (Ellipsis, slice(0, 3, 2)), f(2, 3, 2)),
    c(T3, (0, np.array([2, 0])), f(2, 4)), c(T3, T3 > 0, 1.5), inplace=True)
row('ops.masked_fill', lambda x, mask, value: np.where(mask, value, x), c(F, B, 2.5), c(input_x=F, mask=B[0], value=np.array(1.5)))
row('mint.masked_fill Tensor.masked_fill', lambda x, mask, value: np.where(mask, value, x), c(F, B, 2.5),
    c(input=F, mask=B[0], value=np.array(1.5)), c(I, B, 7))
row('Tensor.masked_fill_', lambda x, mask, value: np.where(mask, value, x), c(F, B, 2.5), c(F, mask=B[0], value=np.array(1.5)),
    inplace=True)


def masked_scatter(x, mask, source):
    out = x.copy()
    at = np.broadcast_to(mask, x.shape)
    out[at] = source.reshape(-1)[:at.sum()]
    return out


row('Tensor.masked_scatter', masked_scatter, c(F, B, W), c(F, mask=B[0], source=W), dynamic=True)


def scatter(x, axis, index, src, reduce=None):
    at = along(x, axis % x.ndim, index)
    src = np.broadcast_to(src, index.shape) if np.ndim(src) == 0 else src[tuple(slice(0, n) for n in index.shape)]
    return changed(x, at, src, {None: 'set', 'none': 'set', 'add': 'add', 'multiply': 'mul', 'mul': 'mul'}[reduce])


row('ops.scatter Tensor.scatter', scatter, c(F, 1, D, W), c(f(3, 3), 0, D, W), c(input=F, axis=-1, index=D[:, :2], src=W[:, :2]))
row('mint.scatter Tensor.scatter', lambda input, dim, index, src: scatter(input, dim, index, src), c(F, 1, D, W),
    c(f(3, 3), 0, D, 2.5), c(input=F, dim=-1, index=D[:, :2], src=W[:, :2]))
row('Tensor.scatter_', lambda x, dim, index, src, reduce=None: scatter(x, dim, index, src, reduce), c(F, 1, D, W),
    c(f(3, 3), 0, D, 2.5, reduce='add'), c(F, dim=1, index=D, src=W, reduce='multiply'), inplace=True)
row('Tensor.scatter_', lambda x, dim, index, value, reduce=None: scatter(x, dim, index, value, reduce),
    c(F, dim=1, index=D, value=2.5), c(F, 1, D, value=2.5, reduce='add'), inplace=True)
row('mint.scatter_add Tensor.scatter_add', lambda input, dim, index, src: scatter(input, dim, index, src, 'add'),
    c(F, 1, D, W), c(F, dim=1, index=D * 0, src=W))
row('Tensor.scatter_add', lambda input_x, indices, updates: changed(input_x, tuple(np.moveaxis(indices, -1, 0)), updates, 'add'),
    c(M, ND, f(3)), c(input_x=M, indices=ND, updates=f(3)))
row('Tensor.scatter_add_', lambda x, dim, index, src: scatter(x, dim, index, src, 'add'), c(F, 1, D, W),
    c(F, dim=1, index=D * 0, src=W), inplace=True)
row('ops.tensor_scatter_elements Tensor.tensor_scatter_elements', lambda x, indices, updates, axis=0, reduction='none':
    scatter(x, axis, indices, updates, reduction), c(f(3, 3), D, W), c(F, D, W, 1, 'add'),
    c(input_x=F, indices=D, updates=W, axis=1, reduction='none'))


def index_add(x, dim, index, source, alpha=1):
    return changed(x, whole(dim % x.ndim, index), alpha * source, 'add')


def index_add_old(x, indices, y, axis, use_lock=True, check_index_bound=True):
    return index_add(x, axis, indices, y)


TWICE = np.array([2, 0, 2])
row('mint.index_add Tensor.index_add', lambda input, dim, index, source, alpha=1: index_add(input, dim, index, source, alpha),
    c(M, 0, TWICE, f(3, 3)), c(M, dim=-1, index=TWICE, source=f(4, 3), alpha=2.5))
row('Tensor.index_add_', index_add, c(M, 0, TWICE, f(3, 3)), c(M, dim=-1, index=TWICE, source=f(4, 3), alpha=2.5), inplace=True)
row('Tensor.index_add', index_add_old, c(M, TWICE, f(3, 3), 0), c(M, indices=TWICE, y=f(4, 3), axis=1, use_lock=False,
                                                                check_index_bound=True))
row('ops.index_add', index_add_old, c(M, TWICE.astype(np.int32), f(3, 3), 0), c(
    x=M, indices=TWICE, y=f(4, 3), axis=1, use_lock=False, check_index_bound=True), inplace=False)
row('ops.inplace_index_add', lambda var, indices, updates, axis: index_add(var, axis, indices, updates),
    c(M, TWICE.astype(np.int32), f(3, 3), 0), c(var=M, indices=TWICE, updates=f(4, 3), axis=1))
row('ops.index_fill Tensor.index_fill', lambda x, axis, index, value: changed(x, whole(axis, index), value),
    c(M, 0, K, 2.5), c(x=M, axis=1, index=K[:2], value=np.array(1.5)))
row('Tensor.index_fill_', lambda x, dim, index, value: changed(x, whole(dim, index), value), c(M, 0, K, 2.5),
    c(M, dim=1, index=K[:2], value=np.array(1.5)), inplace=True)
row('Tensor.index_copy_', lambda x, dim, index, tensor: changed(x, whole(dim, index), tensor), c(M, 0, K, f(3, 3)),
    c(M, dim=1, index=K[:2], tensor=f(4, 2)), inplace=True)
row('ops.inplace_add', lambda x, v, indices: index_add(x, 0, np.array(indices), v), c(M, f(2, 3), (3, 1)),
    c(x=M, v=f(2, 3), indices=[1, 2]))
row('ops.inplace_sub', lambda x, v, indices: index_add(x, 0, np.array(indices), -v), c(M, f(2, 3), (3, 1)),
    c(x=M, v=f(2, 3), indices=[1, 2]))
row('ops.inplace_update Tensor.inplace_update', lambda x, v, indices: changed(x, np.array(indices), v), c(M, f(2, 3), (3, 1)),
    c(x=M, v=f(2, 3), indices=[1, 2]))


def index_put(x, indices, values, accumulate=False):
    return changed(x, tuple(indices), values, 'add' if accumulate else 'set')


row('Tensor.index_put', index_put, c(M, (K, np.array([0, 1, 2])), f(3)), c(M, indices=(TWICE,), values=f(3, 3), accumulate=True))
row('Tensor.index_put_', index_put, c(M, (K, np.array([0, 1, 2])), f(3)), c(M, indices=(TWICE,), values=f(3, 3), accumulate=True),
    inplace=True)


def nd(mode):
    return lambda input_x, indices, updates, use_locking=False: changed(input_x, tuple(np.moveaxis(indices, -1, 0)), updates, mode)


POINTS = f(3, lo=0.5, hi=2)
REPEATED = np.array([[0, 2], [3, 1], [0, 2]])
row('ops.tensor_scatter_update ops.scatter_nd_update Tensor.scatter_nd_update', nd('set'), c(M, ND, POINTS),
    c(input_x=M, indices=ND[:, :1], updates=f(3, 3)))
row('ops.tensor_scatter_add Tensor.tensor_scatter_add', nd('add'), c(M, REPEATED, POINTS),
    c(input_x=M, indices=ND[:, :1], updates=f(3, 3)))
for mode in 'sub mul div max min'.split():
    row(f'ops.tensor_scatter_{mode} Tensor.scatter_{mode}', nd(mode), c(M, REPEATED, POINTS),
        c(input_x=M, indices=ND[:, :1], updates=f(3, 3, lo=1)))
for mode in 'add sub mul div max min'.split():
    row(f'ops.scatter_nd_{mode}', nd(mode), c(M, REPEATED, POINTS),
        c(input_x=M, indices=ND[:, :1], updates=f(3, 3, lo=1), use_locking=True), inplace=True)
for mode in 'update add mul div max min'.split():
    row(f'ops.scatter_{mode}', lambda x, indices, updates, mode='set' if mode == 'update' else mode:
        changed(x, indices, updates, mode), c(M, K, f(3, 3, lo=1)), c(input_x=M, indices=K[:2], updates=f(2, 3, lo=1)),
        inplace=True)
row('ops.scatter_nd', lambda indices, updates, shape: changed(np.zeros(shape), tuple(np.moveaxis(indices, -1, 0)), updates, 'add'),
    c(REPEATED, POINTS, (4, 3)), c(indices=ND[:, :1], updates=f(3, 3), shape=(4, 3)))


def one_hot(indices, depth, on_value=1, off_value=0, axis=-1):
    hot = np.where(indices[..., None] == np.arange(depth), on_value, off_value)
    return np.moveaxis(hot, -1, axis)


row('ops.one_hot', one_hot, c(D, 3), c(D, 4, 2, -1, 1), c(indices=K, depth=5, on_value=1.5, off_value=0.5, axis=0),
    out=None)
row('mint.nn.functional.one_hot', lambda tensor, num_classes=-1: one_hot(tensor, num_classes), c(D, 4), c(tensor=K, num_classes=4))
row('mint.nn.functional.one_hot', lambda tensor, num_classes=-1: one_hot(tensor, 4), c(K), dynamic=True)
