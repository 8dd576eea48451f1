"""Shapes and arrangement: views, joining, splitting, repetition, diagonals."""
import itertools

import numpy as np

import mindspore as ms

from .table import F, G, I, T3, T4, c, f, i, np_dtype, row, z

V = f(4)
S = f(2, 1, 3, 1)
M = f(3, 4)


def ints(a):
    return (a,) if isinstance(a, (int, np.integer)) else tuple(a)


def spread(*a):
    """Sizes given one by one or as a tuple."""
    return ints(a[0]) if len(a) == 1 else tuple(a)


# ---- views ----

row('ops.reshape mint.reshape', lambda x, shape: x.reshape(shape), c(T3, (4, 6)), c(T3, (-1, 2)), c(input=I, shape=-1))
row('Tensor.reshape Tensor.view', lambda x, *shape: x.reshape(spread(*shape)), c(T3, 4, 6), c(T3, (3, -1)), c(T3, -1))
row('ops.view_as Tensor.view_as Tensor.reshape_as', lambda x, other: x.reshape(other.shape), c(T3, f(4, 6)),
    c(T3, other=f(24)), grad=(0,))
row('ops.transpose', lambda x, dims: x.transpose(dims), c(T3, (2, 0, 1)), c(input=T3, dims=(0, -1, 1)))
row('mint.transpose', lambda x, dim0, dim1: x.swapaxes(dim0, dim1), c(T3, 0, 2), c(T3, dim0=-1, dim1=1))
row('Tensor.transpose Tensor.permute', lambda x, *axes: x.transpose(spread(*axes)), c(T3, 2, 0, 1), c(T3, (1, 2, 0)), c(F, (0, 1)))
row('Tensor.transpose', lambda x, dim0, dim1: x.swapaxes(dim0, dim1), c(T3, 0, 1), c(F, 0, 1), c(T3, dim0=-1, dim1=0))
row('Tensor.permute', lambda x, dims: x.transpose(dims), c(T3, dims=(1, 2, 0)))
row('Tensor.transpose', lambda x: x.T, c(T3))
row('ops.permute', lambda x, axis: x.transpose(axis), c(T3, (2, 0, 1)), c(T3, axis=(0, -1, 1)))
row('mint.permute', lambda x, dims: x.transpose(dims), c(T3, (2, 0, 1)), c(T3, dims=(0, -1, 1)))
row('ops.swapaxes mint.swapaxes Tensor.swapaxes', lambda x, axis0, axis1: x.swapaxes(axis0, axis1), c(T3, 0, 2),
    c(T3, axis0=-1, axis1=1))
row('ops.swapdims Tensor.swapdims', lambda x, dim0, dim1: x.swapaxes(dim0, dim1), c(T3, 0, 2), c(T3, dim0=-1, dim1=1))


def squeeze(x, axis=None):
    axis = range(x.ndim) if axis is None else [a % x.ndim for a in ints(axis)]
    return x.reshape([n for d, n in enumerate(x.shape) if n != 1 or d not in axis])


row('ops.squeeze', squeeze, c(S), c(S, 1), c(S, axis=(1, -1)), c(S, 0))
row('mint.squeeze', lambda input, dim=None: squeeze(input, dim), c(S), c(S, 1), c(S, dim=(1, -1)))
row('Tensor.squeeze', squeeze, c(S), c(S, 1), c(S, (1, -1)), c(S, [1]), c(S, None))
row('ops.unsqueeze mint.unsqueeze Tensor.unsqueeze', np.expand_dims, c(F, 0), c(F, -1), c(input=F, dim=1))
row('ops.expand_dims', np.expand_dims, c(F, 0), c(input_x=F, axis=-1))
row('Tensor.expand_dims', np.expand_dims, c(F, 0), c(F, axis=-1))


def flatten(x, start_dim=0, end_dim=-1, order='C'):
    x = x.T if order == 'F' else x
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(x.shape[:start] + (-1,) + x.shape[end + 1:])


row('ops.flatten', lambda x, order='C', start_dim=1, end_dim=-1: flatten(x, start_dim, end_dim, order), c(T4),
    c(T4, 'C', start_dim=1, end_dim=2), c(input=T4, order='C', start_dim=0))
row('ops.flatten', lambda x, order: flatten(x, 1, -1, 'F'), c(T4, 'F'))
row('mint.flatten Tensor.flatten', flatten, c(T4), c(T4, 1, 2), c(T4, start_dim=1, end_dim=-2))
row('Tensor.flatten', lambda x, order='C', start_dim=0, end_dim=-1: flatten(x, start_dim, end_dim, order), c(T4, 'F'),
    c(T4, order='C', start_dim=1, end_dim=2))
row('ops.ravel mint.ravel Tensor.ravel', np.ravel, c(T3))
row('Tensor.T', lambda x: x.T, c(T3))
row('Tensor.mT', lambda x: x.swapaxes(-1, -2), c(T3))
row('Tensor.H', lambda x: x.conj().T, c(F), c(z(2, 3)))
row('ops.moveaxis Tensor.moveaxis', np.moveaxis, c(T3, 0, 2), c(T3, (0, 1), (1, 2)), c(x=T3, source=-1, destination=0))
row('ops.movedim Tensor.movedim', np.moveaxis, c(T3, 0, 2), c(x=T3, source=-1, destination=0))
row('Tensor.contiguous mint.clone Tensor.clone Tensor.copy', lambda x: x, c(F), c(I))
row('ops.clone', lambda x: x, c(F), c(input=I))
row('Tensor.is_contiguous', lambda x: True, c(F))
row('ops.narrow', lambda x, axis, start, length: x.take(range(start, start + length), axis), c(T3, 1, 1, 2),
    c(T3, axis=-1, start=0, length=3))
row('mint.narrow Tensor.narrow', lambda x, dim, start, length: x.take(range(start, start + length), dim),
    c(T3, 1, 1, 2), c(T3, dim=-1, start=0, length=3))
row('ops.slice', lambda x, begin, size: x[tuple(slice(b, None if n == -1 else b + n) for b, n in zip(begin, size))],
    c(T3, (0, 1, 2), (2, 2, 2)), c(input_x=T3, begin=(1, 0, 1), size=(1, -1, -1)))
row('mint.select Tensor.select', lambda x, dim, index: x.take(index, dim), c(T3, 1, 2), c(T3, dim=-1, index=-2))

# ---- repetition ----

row('ops.tile mint.tile Tensor.tile', lambda x, dims: np.tile(x, dims), c(F, (2, 3)), c(F, (2, 1, 2)), c(input=F, dims=(3,)))
row('Tensor.tile', np.tile, c(F, reps=(2, 3)))
row('ops.broadcast_to mint.broadcast_to', lambda x, shape: np.broadcast_to(x, [n if s == -1 else s for s, n in zip(
    shape, (1,) * (len(shape) - x.ndim) + x.shape)]), c(F, (4, 2, 3)), c(input=f(2, 1), shape=(-1, 3)))
row('Tensor.broadcast_to Tensor.expand', lambda x, *shape: np.broadcast_to(x, [n if s == -1 else s for s, n in zip(
    spread(*shape), (1,) * (len(spread(*shape)) - x.ndim) + x.shape)]), c(F, (4, 2, 3)), c(f(2, 1), -1, 3))
row('ops.expand', lambda x, size: np.broadcast_to(x, size), c(F, (4, 2, 3)), c(input_x=f(2, 1), size=(2, 3)))
row('ops.expand Tensor.expand', lambda x, size: np.broadcast_to(x, size), c(f(2, 1), np.array([3, 2, 4])), dynamic=True, grad=(0,))
row('ops.expand_as Tensor.expand_as', lambda x, other: np.broadcast_to(x, other.shape), c(f(2, 1), F), c(f(3), other=F),
    grad=(0,))
row('Tensor.repeat', lambda x, *r: np.tile(x, spread(*r)), c(F, 2, 3), c(F, (2, 1, 2)))


def repeat_interleave(x, repeats, axis=None, output_size=None):
    return np.repeat(x, repeats, axis)


row('ops.repeat_interleave', repeat_interleave, c(F, 2, 1), c(F, (1, 2), 0), c(input=F, repeats=3, axis=-1), c(F, 2))
row('ops.repeat_interleave', repeat_interleave, c(F, np.array([1, 2]), 0), dynamic=True)
row('mint.repeat_interleave Tensor.repeat_interleave', lambda input, repeats, dim=None, output_size=None:
    np.repeat(input, repeats, dim), c(F, 2, 1), c(F, 2), c(F, repeats=3, dim=1, output_size=9))
row('mint.repeat_interleave Tensor.repeat_interleave', lambda input, repeats, dim=None, output_size=None:
    np.repeat(input, repeats, dim), c(F, np.array([1, 2]), 0), dynamic=True)
row('ops.repeat_elements', lambda x, rep, axis=0: np.repeat(x, rep, axis), c(F, 2), c(x=F, rep=3, axis=1))

# ---- joining ----

PAIR = [F, G]
row('ops.concat ops.cat', lambda tensors, axis=0: np.concatenate(tensors, axis), c(PAIR), c((F, G, F * 2), 1),
    c(tensors=PAIR, axis=-1))
row('mint.concat mint.cat', lambda tensors, dim=0: np.concatenate(tensors, dim), c(PAIR), c(tensors=PAIR, dim=-1))
row('ops.stack', lambda tensors, axis=0: np.stack(tensors, axis), c(PAIR), c(tensors=PAIR, axis=-1))
row('mint.stack', lambda tensors, dim=0: np.stack(tensors, dim), c(PAIR), c(tensors=PAIR, dim=-1))
row('ops.hstack mint.hstack', np.hstack, c(PAIR), c(tensors=[V, f(2)]))
row('ops.vstack', np.vstack, c(PAIR), c(inputs=[V, f(4)]))
row('ops.row_stack', np.vstack, c(PAIR), c(tensors=[V, f(4)]))
row('ops.dstack mint.dstack', np.dstack, c(PAIR), c(tensors=[V, f(4)]))
row('ops.column_stack', np.column_stack, c(PAIR), c(tensors=[V, f(4)]))
row('ops.atleast_1d', lambda inputs: np.atleast_1d(inputs), c(np.array(2.5)), c(inputs=F))
row('ops.atleast_2d', lambda inputs: np.atleast_2d(inputs), c(np.array(2.5)), c(inputs=V))
row('ops.atleast_3d', lambda inputs: np.atleast_3d(inputs), c(np.array(2.5)), c(inputs=V), c(F))
row('ops.atleast_1d', lambda inputs: [np.atleast_1d(x) for x in inputs], c([np.array(2.5), F]))

# ---- splitting ----


def split(x, size, axis=0, dim=None):
    """Torch's: pieces of a size, or of these sizes."""
    axis = axis if dim is None else dim
    at = range(size, x.shape[axis], size) if isinstance(size, int) else list(itertools.accumulate(size))[:-1]
    return np.split(x, list(at), axis)


def chunk(x, chunks, axis=0):
    return split(x, -(-x.shape[axis] // chunks), axis)


def tensor_split(x, indices_or_sections, axis=0):
    return np.array_split(x, indices_or_sections, axis)


for prefix, key in (('ops', 'axis'), ('mint', 'dim'), ('Tensor', 'axis')):
    first = {} if prefix == 'Tensor' else {'tensor': f(7, 2)}
    row(f'{prefix}.split', split, c(f(7, 2), 3), c(f(2, 6), (2, 3, 1), 1),
        c(*([] if first else [f(7, 2)]), **first, split_size_or_sections=4, **{key: 0}))
row('Tensor.split', split, c(f(2, 6), split_size=4, dim=1), c(f(7, 2), (3, 4), dim=0))
row('Tensor.expand_as', lambda t, x: np.broadcast_to(t, x.shape), c(f(2, 1), x=F), grad=(0,))
row('ops.chunk Tensor.chunk', chunk, c(f(7, 2), 3), c(input=f(2, 6), chunks=2, axis=1))
row('mint.chunk Tensor.chunk', lambda input, chunks, dim=0: chunk(input, chunks, dim), c(f(7, 2), 3),
    c(input=f(2, 6), chunks=2, dim=-1))
row('ops.unbind mint.unbind Tensor.unbind', lambda x, dim=0: list(np.moveaxis(x, dim, 0)), c(T3), c(T3, dim=-1))
row('ops.unstack', lambda x, axis=0: list(np.moveaxis(x, axis, 0)), c(T3), c(input_x=T3, axis=-1))
row('ops.tensor_split Tensor.tensor_split', tensor_split, c(f(7, 2), 3), c(f(2, 6), (1, 4), 1),
    c(input=f(7, 2), indices_or_sections=[2], axis=0))
row('ops.hsplit Tensor.hsplit', lambda input, indices_or_sections: np.array_split(input, indices_or_sections, 1), c(f(2, 7), 3), c(input=f(2, 6), indices_or_sections=[1, 4]))
row('ops.vsplit Tensor.vsplit', np.array_split, c(f(7, 2), 3), c(input=f(6, 2), indices_or_sections=[1, 4]))
row('ops.dsplit Tensor.dsplit', np.dsplit, c(f(2, 1, 6), 3), c(input=f(2, 1, 6), indices_or_sections=[1, 4]))

# ---- arrangement ----


def reverse(x, axis):
    return np.flip(x, ints(axis))


row('ops.movedim Tensor.movedim ops.moveaxis Tensor.moveaxis', np.moveaxis, c(T3, 0, -1), c(T3, (0, 1), (2, 0)), c(T3, -1, 1))
row('ops.flip mint.flip Tensor.flip', lambda x, dims: np.flip(x, ints(dims)), c(T3, (0, 2)), c(T3, dims=1), c(T3, (-1,)), c(T3, ()))
row('ops.reverse Tensor.reverse', reverse, c(T3, (0, 2)), c(x=T3, axis=[1]))
row('ops.fliplr Tensor.fliplr', np.fliplr, c(F))
row('ops.flipud Tensor.flipud', np.flipud, c(F))
row('ops.rot90 Tensor.rot90', lambda x, k, dims: np.rot90(x, k, dims), c(F, 1, (0, 1)), c(T3, 3, [1, 2]),
    c(input=F, k=-2, dims=(1, 0)))
row('mint.roll ops.roll Tensor.roll', lambda x, shifts, dims=None: np.roll(x, shifts, dims), c(T3, 5), c(T3, (1, -2), (0, 2)),
    c(T3, shifts=1, dims=-1))
row('ops.tril mint.tril Tensor.tril', lambda x, diagonal=0: np.tril(x, diagonal), c(M), c(M, -1), c(T3, diagonal=1))
row('ops.triu mint.triu Tensor.triu', lambda x, diagonal=0: np.triu(x, diagonal), c(M), c(M, -1), c(T3, diagonal=1))


def indices(fn):
    return lambda row, col, offset=0, dtype=None: np.stack(fn(row, offset, col)).astype(np_dtype(dtype or ms.int64))


row('ops.tril_indices', indices(np.tril_indices), c(3, 4), c(4, 3, 1), c(row=3, col=3, offset=-1, dtype=ms.int32))
row('ops.triu_indices', indices(np.triu_indices), c(3, 4), c(4, 3, 1), c(row=3, col=3, offset=-1, dtype=ms.int32))


# Bands, alignments and errors of the next three are in test_primitives_more.py.
def matrix_diag(x, k=0, num_rows=-1, num_cols=-1, padding_value=0, align='RIGHT_LEFT'):
    at = np.eye(max(x.shape[-1], num_rows), max(x.shape[-1], num_cols), k, dtype=bool)
    out = np.full((*x.shape[:-1], *at.shape), float(padding_value))
    out[..., at] = x
    return out


def matrix_set_diag(x, diagonal, k=0, align='RIGHT_LEFT'):
    out = x.copy()
    out[..., np.eye(*x.shape[-2:], k, dtype=bool)] = diagonal
    return out


row('ops.matrix_diag', matrix_diag, c(f(2, 3)), c(f(3), 0, 3, 5, 2.0),
    c(x=f(2, 3), k=0, num_rows=4, num_cols=3, padding_value=np.array(1.5), align='LEFT_LEFT'), grad=(0,))
row('ops.matrix_diag_part', lambda x, k, padding_value, align='RIGHT_LEFT': np.diagonal(x, k, -2, -1), c(f(2, 3, 4), 1, 0),
    c(x=f(3, 4), k=-1, padding_value=np.array(0.5), align='LEFT_RIGHT'), grad=(0,))
row('ops.matrix_set_diag', matrix_set_diag, c(f(2, 3, 4), f(2, 3)), c(x=f(3, 4), diagonal=f(2), k=2, align='LEFT_LEFT'))
row('ops.diag Tensor.diag', np.diag, c(V), c(input=V))
row('mint.diag Tensor.diag', lambda x, diagonal=0: np.diag(x, diagonal), c(V, 1), c(M, diagonal=-1), c(M))
row('ops.diagflat Tensor.diagflat', lambda x, offset=0: np.diagflat(x, offset), c(V), c(F, 1), c(V, offset=-2))
row('ops.diagonal', lambda x, offset=0, dim1=0, dim2=1: np.diagonal(x, offset, dim1, dim2), c(M), c(T3, 1, 1, 2),
    c(input=T3, offset=-1, dim1=2, dim2=0))
row('Tensor.diagonal', np.diagonal, c(M), c(T3, 1, 1, 2), c(T3, offset=-1, axis1=2, axis2=0))


def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    n = x.shape[-1] + abs(offset)
    out = np.zeros(x.shape[:-1] + (n, n))
    at = np.arange(x.shape[-1])
    out[..., at + max(-offset, 0), at + max(offset, 0)] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


row('ops.diag_embed', diag_embed, c(F), c(F, 1), c(input=F, offset=-1, dim1=0, dim2=2))


def diagonal_scatter(x, src, offset=0, dim1=0, dim2=1):
    out = x.copy()
    np.einsum('...ii->...i', np.moveaxis(out, (dim1, dim2), (-2, -1))[..., max(-offset, 0):, max(offset, 0):][
        ..., :src.shape[-1], :src.shape[-1]])[...] = src
    return out


row('ops.diagonal_scatter Tensor.diagonal_scatter', diagonal_scatter, c(M, f(3)), c(M, f(3), 1),
    c(M, src=f(2), offset=-1, dim1=0, dim2=1), c(T3, f(3, 2), 0, 0, 2))
row('ops.trace mint.trace', np.trace, c(f(3, 3)), c(M))
row('Tensor.trace', lambda x, offset=0, axis1=0, axis2=1, dtype=None: np.trace(
    x if dtype is None else x.astype(np_dtype(dtype)), offset, axis1, axis2), c(M), c(T3, 1, 1, 2, ms.float32),
    c(T3, offset=-1, axis1=2, axis2=0), grad=False)
row('Tensor.trace', lambda x: np.trace(x), c(M), c(np.eye(3, dtype=np.int16)))
row('mint.trace', np.trace, c(M), c(np.eye(3, dtype=np.int16)))


def fill_diagonal(x, fill_value, wrap=False):
    out = x.copy()
    np.fill_diagonal(out, fill_value, wrap)
    return out


TALL = f(7, 3)
row('Tensor.fill_diagonal', fill_diagonal, c(M, 2.5), c(TALL, 1, True), c(TALL, fill_value=3, wrap=False))
row('Tensor.fill_diagonal_', fill_diagonal, c(M, 2.5), c(TALL, 1, True), c(TALL, fill_value=3, wrap=False), inplace=True)


def select_scatter(x, src, axis, index):
    out = x.copy()
    np.moveaxis(out, axis, 0)[index] = src
    return out


def slice_scatter(x, src, axis=0, start=None, end=None, step=1):
    out = x.copy()
    np.moveaxis(out, axis, 0)[start:end:step] = np.moveaxis(src, axis, 0)
    return out


row('ops.select_scatter Tensor.select_scatter', select_scatter, c(T3, f(2, 4), 1, 2), c(T3, src=f(2, 3), axis=-1, index=-2))
row('ops.slice_scatter Tensor.slice_scatter', slice_scatter, c(M, f(3, 4)), c(M, f(3, 2), 1, 0, 4, 2),
    c(M, src=f(1, 4), axis=0, start=1, end=2, step=1))
row('ops.meshgrid', lambda *x, indexing='xy': np.meshgrid(*x, indexing=indexing), c(V, f(3)), c(V, f(3), indexing='ij'))
row('mint.meshgrid', lambda *x, indexing=None: np.meshgrid(*x, indexing=indexing or 'ij'), c(V, f(3)),
    c(V, f(3), indexing='xy'))


def pixel_shuffle(x, r):
    *n, ch, h, w = x.shape
    y = x.reshape(*n, ch // (r * r), r, r, h, w)
    k = len(n)
    return y.transpose(*range(k), k, k + 3, k + 1, k + 4, k + 2).reshape(*n, ch // (r * r), h * r, w * r)


def pixel_unshuffle(x, r):
    *n, ch, h, w = x.shape
    y = x.reshape(*n, ch, h // r, r, w // r, r)
    k = len(n)
    return y.transpose(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*n, ch * r * r, h // r, w // r)


row('ops.pixel_shuffle mint.nn.functional.pixel_shuffle', pixel_shuffle, c(f(1, 8, 2, 3), 2), c(input=f(4, 2, 3), upscale_factor=2))
row('ops.pixel_unshuffle mint.nn.functional.pixel_unshuffle', pixel_unshuffle, c(f(1, 2, 4, 6), 2),
    c(input=f(2, 4, 6), downscale_factor=2))
row('ops.channel_shuffle', lambda x, groups: x.reshape(x.shape[0], groups, -1, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape),
    c(f(2, 4, 2, 3), 2), c(x=f(2, 6, 2, 2), groups=3))


def matrix_band_part(x, lower, upper):
    i, k = np.indices(x.shape[-2:])
    return np.where(((lower < 0) | (i - k <= lower)) & ((upper < 0) | (k - i <= upper)), x, 0)


row('ops.matrix_band_part', matrix_band_part, c(M, 1, 0), c(T3, -1, 1), c(x=T3, lower=0, upper=-1))
