"""Functions of table lines that are compositions of rows."""
import math

import numpy as np

from mindspore import _c
from mindspore._c import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._rows import Rows, nn

__all__ = ["own_state", "drawn_between", "dim_map", "clip_by_norm", "check_numerics", "segment", "unravel_index", "padding", "pad_v3", "mirror_pad", "space_to_batch", "batch_to_space",
           "vec_permute", "bincount", "quantile", "pool_with_index", "conv3d_transpose", "resize_linear", "truncated_normal",
           "cauchy", "randperm", "sparse_gradient", "merge", "move_to", "alone", "broadcast_axes", "concat_offset", "vjp",
           "unstack", "triangular_solve", "eig", "median", "im2col",
           "volume_patches", "max_unpool", "list_diff", "coalesce", "rgb_to_hsv", "hsv_to_rgb", "adjust_hsv", "candidates", "between_normal",
           "layer_norm_grad", "batch_norm_grad", "mirror_pad_grad", "resize_grad", "svd", "fft_with_size", "reverse_sequence",
           "confusion_matrix", "sparse_dense_add", "sparse_dense_matmul", "tridiagonal_matmul", "compare_and_bitpack",
           "histogram_fixed_width", "multilabel_margin_loss", "ragged_range", "deformable_offsets", "check_ExtractGlimpse",
           "log_uniform_candidates", "adam_change", "no_repeat_ngram"]

_p = Rows("_p")
_o = Rows("ops")


def check_ExtractGlimpse(prim):  # noqa: N802
    if prim.uniform_noise and prim.noise != "uniform":
        raise ValueError(f"For '{prim.name}', the 'noise' must be 'uniform' when 'uniform_noise' is True, but got '{prim.noise}'.")
    if prim.noise not in ("uniform", "gaussian", "zero"):
        raise ValueError(f"For '{prim.name}', the 'noise' must be in ['uniform', 'gaussian', 'zero'], but got '{prim.noise}'.")


def check_numerics(x):
    """x, after a look for infinities and NaN."""
    if not bool(_o.all(_o.isfinite(x))):
        raise RuntimeError("For 'CheckNumerics', the input has elements that are infinite or NaN.")
    return x


def segment(x, ids, mode):
    """The rows of equal segment combined; the ids rise."""
    n = int(ids[-1]) + 1 if ids.size else 0
    out = _p.unsorted_segment(x, ids, n, mode)
    if mode not in ("max", "min"):
        return out
    count = _p.unsorted_segment(_o.ones_like(ids), ids, n, "add").reshape((n,) + (1,) * (x.ndim - 1))
    return _o.where(count > 0, out, Tensor(0, x.dtype))


def unravel_index(indices, dims):
    """The coordinates of flat indices, one row each."""
    sizes = [int(d) for d in dims]
    flat = indices.reshape((-1,)) if indices.ndim else indices
    total = math.prod(sizes)
    if flat.size and (int(flat.max()) >= total or int(flat.min()) < 0):
        raise ValueError(f"For 'UnravelIndex', the indices must be in [0, {total}).")
    rows = []
    for d in reversed(sizes):
        rows.append(_o.floor_mod(flat, Tensor(d, flat.dtype)))
        flat = _o.floor_div(flat, Tensor(d, flat.dtype))
    return _o.stack(rows[::-1], -1)


# ---- shapes ----

def padding(x, size):
    """The last axis, which has one element, padded with zeros to `size`."""
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(f"For 'Padding', the last axis must have size 1 and there must be 2 axes or more, but got shape {x.shape}.")
    if isinstance(size, bool) or size < 1:
        raise ValueError(f"For 'Padding', the 'pad_dim_size' must be positive, but got {size}.")
    return _nn_pad(x, (0,) * x.ndim, (0,) * (x.ndim - 1) + (size - 1,))


def _nn_pad(x, low, high):
    return nn.pad(x, low, high)


def _flat_paddings(values):
    return [int(v) for row in values for v in row] if values and isinstance(values[0], (tuple, list)) else [int(v) for v in values]


def pad_v3(x, paddings, mode, contiguous, value):
    """Padding from the last axis on: low, high, ... or (not contiguous) all lows and then all highs."""
    flat = _flat_paddings(paddings)
    if not contiguous:
        n = len(flat) // 2
        flat = [v for pair in zip(flat[:n], flat[n:]) for v in pair]
    if isinstance(value, Tensor):
        value = value.item()
    if mode == "edge":
        mode = "replicate"
    return _o.pad(x, tuple(flat), mode, value if mode == "constant" and value is not None else None)


def mirror_pad(x, paddings, mode):
    """Every axis padded by its own mirror image; SYMMETRIC repeats the border."""
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"For 'MirrorPad', the 'mode' must be 'REFLECT' or 'SYMMETRIC', but got '{mode}'.")
    pairs = [tuple(int(v) for v in row) for row in paddings]
    if len(pairs) != x.ndim:
        raise ValueError(f"For 'MirrorPad', the 'paddings' must have a pair for each of {x.ndim} axes, but got {len(pairs)}.")
    border = 1 if mode == "REFLECT" else 0
    for d, (low, high) in enumerate(pairs):
        n = x.shape[d]
        if min(low, high) < 0 or max(low, high) > n - border:
            raise ValueError(f"For 'MirrorPad', the paddings {low} and {high} do not fit an axis of size {n}.")
        at = [*range(low - 1 + border, border - 1, -1), *range(n), *range(n - 1 - border, n - 1 - border - high, -1)]
        x = _o.gather(x, Tensor(at, mstype.int64), d)
    return x


def _pairs(name, values, n):
    pairs = [tuple(int(v) for v in row) for row in values]
    if len(pairs) != n or any(len(p) != 2 or min(p) < 0 for p in pairs):
        raise ValueError(f"For '{name}', the paddings must be {n} pairs of numbers that are not negative, but got {values}.")
    return pairs


def space_to_batch(x, block, paddings):
    """Blocks of the last axes moved into the batch."""
    block = [block] * (x.ndim - 2) if isinstance(block, int) else [int(b) for b in block]
    n, lead = len(block), x.ndim - len(block)
    pairs = _pairs("SpaceToBatch", paddings, n)
    x = nn.pad(x, (0,) * lead + tuple(p[0] for p in pairs), (0,) * lead + tuple(p[1] for p in pairs))
    if lead < 1 or any(b < 1 or s % b for b, s in zip(block, x.shape[lead:])):
        raise ValueError(f"For 'SpaceToBatch', the block {block} does not divide the padded shape {x.shape}.")
    split = [v for s, b in zip(x.shape[lead:], block) for v in (s // b, b)]
    y = x.reshape(tuple(x.shape[:lead]) + tuple(split))
    inner, outer = [lead + 2 * k + 1 for k in range(n)], [lead + 2 * k for k in range(n)]
    y = _o.transpose(y, (*inner, *range(lead), *outer))
    return y.reshape((x.shape[0] * math.prod(block), *x.shape[1:lead], *split[::2]))


def batch_to_space(x, block, crops):
    """The inverse of space_to_batch."""
    block = [block] * (x.ndim - 2) if isinstance(block, int) else [int(b) for b in block]
    n, lead, count = len(block), x.ndim - len(block), math.prod(block)
    pairs = _pairs("BatchToSpace", crops, n)
    if lead < 1 or count < 1 or x.shape[0] % count:
        raise ValueError(f"For 'BatchToSpace', the block {block} does not divide the batch of shape {x.shape}.")
    y = x.reshape((*block, x.shape[0] // count, *x.shape[1:]))
    order = [n + k for k in range(lead)] + [v for k in range(n) for v in (n + lead + k, k)]
    y = _o.transpose(y, tuple(order))
    y = y.reshape((x.shape[0] // count, *x.shape[1:lead], *[s * b for s, b in zip(x.shape[lead:], block)]))
    for (low, high), size in zip(pairs, y.shape[lead:]):
        if low + high > size:
            raise ValueError(f"For 'BatchToSpace', the crops {low} and {high} do not fit an axis of size {size}.")
    return y[(slice(None),) * lead + tuple(slice(low, s - high) for (low, high), s in zip(pairs, y.shape[lead:]))]


def vec_permute(x, src, dst):
    """4 numbers, or 4 pairs, in the order of dst; 2 are those of H and W."""
    if x.shape[0] not in (2, 4):
        raise ValueError(f"For 'DataFormatVecPermute', the first size must be 2 or 4, but got shape {x.shape}.")
    if x.shape[0] == 2:
        src, dst = ("".join(c for c in s if c in "HW") for s in (src, dst))
    return _o.gather(x, Tensor([src.index(c) for c in dst], mstype.int64), 0)


def dim_map(x, src, dst):
    """The axis of src at the place of each axis of dst."""
    if sorted(src) != sorted(dst) or len(set(src)) != len(src):
        raise ValueError(f"For 'DataFormatDimMap', the formats must have the same letters, but got '{src}' and '{dst}'.")
    table = Tensor([src.index(c) for c in dst], x.dtype)
    return _o.gather(table, _o.floor_mod(x, Tensor(len(src), x.dtype)), 0)


def clip_by_norm(x, norm, axis):
    """x scaled down where its norm over the axes is larger than `norm`."""
    size = _o.sqrt(_p.reduce_sum(_o.square(x), () if axis is None else axis, True))
    return x * norm / _o.maximum(size, norm)


def bincount(array, size, weights):
    """Sums of weights (or counts) of the values 0 to size - 1; others are left out."""
    flat = array.reshape((-1,)).astype(mstype.int64)
    w = weights.reshape((-1,)) if weights.size else _o.ones_like(flat).astype(weights.dtype)
    inside = _o.logical_and(flat >= 0, flat < size)
    w = _o.where(inside, w, Tensor(0, w.dtype))
    return _p.unsorted_segment(w, _o.where(inside, flat, Tensor(0, mstype.int64)), size, "add")


def quantile(x, q, dim, keep_dims, ignore_nan):
    """Linear interpolation between the two nearest order statistics."""
    if not hasattr(_c, "row") or "quantile" not in _c.rows("ops"):
        raise NotImplementedError("For 'Quantile', the function 'ops.quantile' is not available.")
    return _c.row("ops.nanquantile" if ignore_nan else "ops.quantile")(x, q, dim, keep_dims)


def unstack(x, axis, num):
    """The slices along an axis, of which there must be `num` where that is given."""
    if num is not None and not (-x.ndim <= axis < x.ndim and x.shape[axis] == num):
        raise ValueError(f"For 'Unstack', the 'num' must be the size of axis {axis} of shape {x.shape}, but got {num}.")
    return _o.unstack(x, axis)


# ---- windows ----

def pool_with_index(prim, x, n, kernel, strides):
    def each(v):
        return (v,) * n if isinstance(v, int) else tuple(v)[-n:]
    kernel = each(kernel)
    pads = tuple(v for v in each(prim.pads) for _ in (0, 1))
    y, at = nn.max_pool(x, n, kernel, kernel if strides is None else each(strides), "pad", pads, each(prim.dilation), prim.ceil_mode, True)
    return y, _o.cast(at, prim.argmax_type)


def conv3d_transpose(prim, x, weight, bias):
    if prim.data_format != "NCDHW" or prim.mode != 1:
        raise ValueError(f"For 'Conv3DTranspose', the 'data_format' must be 'NCDHW' and the 'mode' 1, but got '{prim.data_format}' and "
                         f"{prim.mode}.")

    def each(v):
        return (v,) * 3 if isinstance(v, int) else tuple(v)[-3:]
    pad = (prim.pad,) * 6 if isinstance(prim.pad, int) else tuple(prim.pad)
    return nn.conv_transpose(x, weight, bias, each(prim.stride), prim.pad_mode.lower(), pad, each(prim.dilation), prim.group,
                             each(prim.output_padding))


def resize_linear(x, size, mode):
    if mode not in ("align_corners", "half_pixel"):
        raise ValueError(f"For 'ResizeLinear1D', the 'coordinate_transformation_mode' must be 'align_corners' or 'half_pixel', but got "
                         f"'{mode}'.")
    return _o.interpolate(x, size, None, "linear", mode == "align_corners")


# ---- classes over functions ----

_linalg = Rows("_linalg")


def triangular_solve(matrix, rhs, lower, adjoint):
    """x with matrix x = rhs, of which one triangle is read; adjoint: with the matrix conjugated and transposed."""
    return _linalg.triangular(matrix, rhs, not lower, False, 2 if adjoint else 0)


def eig(x, vectors):
    """Eigenvalues, and eigenvectors or an empty Tensor."""
    values, columns = _o.eig(x)
    return values, columns if vectors else _o.zeros((0,), values.dtype)


def median(x, everything, axis, keep_dims, ignore_nan):
    """The lower median and its place; of all elements the place is 0."""
    find = _o.nanmedian if ignore_nan else _o.median
    if not everything:
        return tuple(find(x, axis, keep_dims))
    y = find(x.reshape((-1,)), 0)[0] if x.size else _o.sum(x) / Tensor(0, x.dtype) if x.is_floating_point() else Tensor(0, x.dtype)
    return (y.reshape((1,) * x.ndim) if keep_dims else y), Tensor(0, mstype.int64)


def im2col(x, ksizes, strides, dilations, pads):
    """The elements of windows [N, C, elements of a window, windows]."""
    pair = (ksizes,) * 2 if isinstance(ksizes, int) else tuple(ksizes)[-2:]
    y = _o.unfold(x, pair, dilations, pads, strides)
    return y.reshape((x.shape[0], x.shape[1], math.prod(pair), y.shape[-1]))


def volume_patches(x, kernel, strides, padding):
    """Windows of the last three axes as channels: the window's place first, then the channel."""
    if padding not in ("VALID", "SAME"):
        raise ValueError(f"For 'ExtractVolumePatches', the 'padding' must be 'VALID' or 'SAME', but got '{padding}'.")
    kernel, strides = [(v,) * 3 if isinstance(v, int) else tuple(v)[-3:] for v in (kernel, strides)]
    size = x.shape[2:]
    if padding == "SAME":
        free = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(size, strides, kernel)]
        x = nn.pad(x, (0, 0, *[v // 2 for v in free]), (0, 0, *[v - v // 2 for v in free]))
        size = x.shape[2:]
    ends = [(n - k) // s * s + 1 for n, s, k in zip(size, strides, kernel)]
    if min(ends) < 1:
        raise ValueError(f"For 'ExtractVolumePatches', the window {kernel} is larger than the input of shape {x.shape}.")
    parts = [x[:, :, i:i + ends[0]:strides[0], j:j + ends[1]:strides[1], k:k + ends[2]:strides[2]]
             for i in range(kernel[0]) for j in range(kernel[1]) for k in range(kernel[2])]
    return _o.concat(parts, 1)


def max_unpool(prim, x, argmax, n):
    """The maxima at their places, zeros elsewhere."""
    def each(v):
        return v if isinstance(v, int) else tuple(v)[-n:]
    return nn.max_unpool(x, argmax, n, each(prim.ksize), each(prim.strides) or None, each(prim.pads), prim.output_shape or None)


def list_diff(x, y, out_idx):
    """The elements of x that are not in y, and their places."""
    there = _o.equal(x.reshape((-1, 1)), y.reshape((1, -1)))
    kept = _o.nonzero(_o.logical_not(_o.any(there, 1)) if y.size else _o.ones_like(x).astype(mstype.bool_)).reshape((-1,))
    return _o.gather(x, kept, 0), _o.cast(kept, out_idx)


def coalesce(indices, values, shape):
    """Coordinates [axes, n] sorted and each once, with the sums of their values."""
    at = indices.asnumpy()
    flat, inverse = np.unique(np.ravel_multi_index(tuple(at), tuple(int(v) for v in shape)), return_inverse=True)
    summed = _p.unsorted_segment(values, Tensor(inverse.reshape(-1), mstype.int64), len(flat), "add")
    return Tensor(np.stack(np.unravel_index(flat, tuple(int(v) for v in shape))), indices.dtype), summed, shape


def rgb_to_hsv(x):
    """Hue, saturation and value of colours along the last axis."""
    if x.ndim < 1 or x.shape[-1] != 3:
        raise ValueError(f"For 'RGBToHSV', the last axis must have size 3, but got shape {x.shape}.")
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    top = _o.maximum(_o.maximum(r, g), b)
    span = top - _o.minimum(_o.minimum(r, g), b)
    some, zero = _o.where(span > 0, span, Tensor(1, x.dtype)), Tensor(0, x.dtype)
    hue = _o.where(r == top, (g - b) / some, _o.where(g == top, (b - r) / some + 2, (r - g) / some + 4)) / 6
    hue = _o.where(span > 0, _o.where(hue < 0, hue + 1, hue), zero)
    return _o.stack([hue, _o.where(top > 0, span / _o.where(top > 0, top, Tensor(1, x.dtype)), zero), top], -1)


def hsv_to_rgb(x):
    """The inverse of rgb_to_hsv."""
    if x.ndim < 1 or x.shape[-1] != 3:
        raise ValueError(f"For 'HSVToRGB', the last axis must have size 3, but got shape {x.shape}.")
    h, s, v = x[..., 0] * 6, x[..., 1], x[..., 2]
    parts = (_o.abs(h - 3) - 1, 2 - _o.abs(h - 2), 2 - _o.abs(h - 4))
    return _o.stack([(1 - s + s * _o.clamp(d, 0.0, 1.0)) * v for d in parts], -1)


def adjust_hsv(image, channel, by):
    """The hue moved around its circle, or the saturation scaled, within [0, 1]."""
    hsv = rgb_to_hsv(image.astype(mstype.float32))
    parts = [hsv[..., 0], hsv[..., 1], hsv[..., 2]]
    if channel == 0:
        parts[0] = _o.floor_mod(parts[0] + by, 1.0)
    else:
        parts[1] = _o.clamp(parts[1] * by, 0.0, 1.0)
    return hsv_to_rgb(_o.stack(parts, -1)).astype(image.dtype)


def candidates(*args):
    from mindspore.ops import older
    return older._candidates(*args)


def log_uniform_candidates(true_classes, num_true, num_sampled, unique, range_max, state):
    """Classes drawn with log((k + 2) / (k + 1)) / log(range_max + 1), and how often the true and the drawn ones are expected."""
    name = "LogUniformCandidateSampler"
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(f"For '{name}', the 'true_classes' must have shape (N, {num_true}), but got {true_classes.shape}.")
    if num_sampled < 1 or range_max < 1 or (unique and num_sampled > range_max):
        raise ValueError(f"For '{name}', {num_sampled} classes cannot be drawn out of {range_max}{', each once' if unique else ''}.")
    drawn, tries = [], 0
    while len(drawn) < num_sampled:
        u = _p.draw('uniform', (num_sampled,), state).asnumpy()
        for k in np.minimum(np.exp(u * math.log(range_max + 1)).astype(np.int64) - 1, range_max - 1).tolist():
            tries += 1
            if not unique or k not in drawn:
                drawn.append(k)
            if len(drawn) == num_sampled:
                break

    def expected(classes):
        k = classes.asnumpy().astype(np.float64)
        p = np.log((k + 2) / (k + 1)) / math.log(range_max + 1)
        return Tensor(-np.expm1(tries * np.log1p(-p)) if unique else p * num_sampled, mstype.float32)
    sampled = Tensor(drawn, mstype.int64)
    return sampled, expected(true_classes), expected(sampled)


def between_normal(shape, mean, deviation, low, high, state):
    """Normal numbers within bounds, by the inverse distribution; a parameter for all or one for each example."""
    dtype = mean.dtype

    def wide(v):
        return v.astype(mstype.float32).reshape((-1,) + (1,) * (len(shape) - 1))
    mean, deviation, a, b = [wide(v) for v in (mean, deviation, low, high)]
    cdf = [_o.erf((edge - mean) / deviation * math.sqrt(0.5)) for edge in (a, b)]
    u = _p.draw('uniform', shape, state) * (cdf[1] - cdf[0]) + cdf[0]
    y = _o.erfinv(u) * math.sqrt(2) * deviation + mean
    return _o.minimum(_o.maximum(y, a), b).astype(dtype)


def adam_change(m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, use_nesterov):
    """What a step of Adam (Kingma & Ba 2015) adds to a parameter; m and v are updated."""
    _o.assign(m, beta1 * m + (1 - beta1) * gradient)
    _o.assign(v, beta2 * v + (1 - beta2) * gradient * gradient)
    rate = lr * (1 - beta2_power) ** 0.5 / (1 - beta1_power)
    step = beta1 * m + (1 - beta1) * gradient if use_nesterov else m
    return -rate * step / (_o.sqrt(v) + epsilon)


def no_repeat_ngram(state_seq, log_probs, n):
    """log_probs with the lowest number for each word that would repeat n words of its sequence."""
    length = state_seq.shape[-1]
    if n < 1 or n > length:
        raise ValueError(f"For 'NoRepeatNGram', the 'ngram_size' must be in [1, {length}], but got {n}.")
    windows, last = length - n + 1, length - n + 1
    same = _o.ones(state_seq.shape[:-1] + (windows,), mstype.bool_)
    for k in range(n - 1):
        same = _o.logical_and(same, state_seq[..., k:k + windows] == state_seq[..., last + k:last + k + 1])
    words = _o.expand_dims(state_seq[..., n - 1:], -1) == _o.arange(log_probs.shape[-1]).astype(state_seq.dtype)
    banned = _o.any(_o.logical_and(words, _o.expand_dims(same, -1)), -2)
    return _o.masked_fill(log_probs, banned, Tensor(float(np.finfo(mstype.dtype_to_nptype(log_probs.dtype)).min), log_probs.dtype))


# ---- random ----

def truncated_normal(shape, dtype, state):
    """Standard normal numbers within two deviations, by the inverse distribution."""
    edge = math.erf(2 / math.sqrt(2))
    u = _p.draw('uniform', shape, state) * (2 * edge) - edge
    return _o.cast(_o.erfinv(u) * math.sqrt(2), dtype)


def own_state(prim, seed, seed2):
    """The state of a primitive with seeds, which its draws advance; None for the default generator."""
    if seed == 0 and seed2 == 0:
        return None
    for name, value in (("seed", seed), ("seed2", seed2)):
        if value < 0:
            raise ValueError(f"For '{prim.name}', the '{name}' must not be negative, but got {value}.")
    if "_state" not in prim.__dict__:
        prim._state = Tensor([(seed * 0x9e3779b1 + seed2) % (1 << 62), 0], mstype.int64)
    return prim._state


def drawn_between(prim, x, state):
    """Numbers of x's shape and dtype, which is a float."""
    if not x.is_floating_point():
        raise TypeError(f"For '{prim.name}', the input must be a Tensor of floats, but got {x.dtype}.")
    return (_p.draw("uniform", x.shape, state) * (prim.maxval - prim.minval) + prim.minval).astype(x.dtype)


def cauchy(size, median, sigma):
    u = _o.rand(tuple(size), dtype=mstype.float32)
    return _o.tan((u - 0.5) * math.pi) * sigma + median


def randperm(n, max_length, pad, dtype):
    if n > max_length:
        raise ValueError(f"For 'Randperm', 'n' must be at most 'max_length' {max_length}, but got {n}.")
    out = _o.randperm(n, dtype=mstype.int64)
    if n < max_length:
        out = _o.concat([out, _o.full((max_length - n,), pad, dtype=mstype.int64)], 0)
    return _o.cast(out, dtype)


# ---- state, control, devices ----

def sparse_gradient(var, gradient, indices):
    """Slices along axis 0, summed into the variable's shape."""
    return _o.tensor_scatter_add(_o.zeros_like(var), _o.expand_dims(indices, -1), gradient.astype(var.dtype))


def merge(inputs):
    """The first value that is there, and its position."""
    for k, value in enumerate(inputs):
        if value is not None:
            return value, Tensor(k, mstype.int32)
    raise ValueError("For 'Merge', one input must be there.")


def move_to(x, to):
    if to != "CPU":
        raise ValueError(f"For 'MoveTo', the only device is 'CPU', but got '{to}'.")
    return _o.deepcopy(x)


def alone(group, result, op=None, root=0, sizes=()):
    """The result of a collective in a group of one."""
    from mindspore.communication.comm_func import check
    check("communication", group, op, root if isinstance(root, tuple) else (root,), sizes)
    return result


# ---- inner operators and gradients ----

def broadcast_axes(a, b):
    """The axes that broadcasting two shapes repeats, for each of them."""
    n = max(len(a), len(b))
    wide = [(1,) * (n - len(s)) + tuple(s) for s in (a, b)]
    found = []
    for own, other in (wide, wide[::-1]):
        if any(p != q and 1 not in (p, q) for p, q in zip(own, other)):
            raise ValueError(f"For 'DynamicBroadcastGradientArgs', the shapes {a} and {b} do not broadcast.")
        found.append(Tensor([d for d in range(n) if own[d] == 1], mstype.int64))
    return tuple(found)


def concat_offset(tensors, axis):
    """Where each tensor begins in the concatenation."""
    rows, at, ndim = [], 0, tensors[0].ndim
    axis %= ndim
    for t in tensors:
        rows.append([at if d == axis else 0 for d in range(ndim)])
        at += t.shape[axis]
    return tuple(tuple(r) for r in rows)


def vjp(fn, dout, *inputs):
    """The gradient of fn at the inputs for the output's cotangent; one Tensor for one input."""
    from mindspore import autodiff
    out, pull = autodiff.vjp(fn, *inputs)
    grads = pull(dout.reshape(out.shape) if dout.size == out.size else dout)
    return grads[0] if isinstance(grads, tuple) and len(grads) == 1 else grads


def batch_norm_grad(prim, dy, x, scale, mean, variance):
    """Gradients of x, scale and bias; in training the moments of the batch are computed again."""
    def run(a, g, b):
        return _p.batch_norm(a, g, b, mean, variance, prim.is_training, prim.epsilon, 0.0, prim.data_format)[0]
    return vjp(run, dy, x, scale, _o.zeros_like(scale))


def layer_norm_grad(prim, x, dy, variance, mean, gamma):
    """Gradients of x, gamma and beta; the moments are computed again from x."""
    epsilon = getattr(prim, "epsilon", 1e-7)
    beta = _o.zeros_like(gamma)
    return vjp(lambda a, g, b: _p.layer_norm(a, g, b, prim.begin_norm_axis, prim.begin_params_axis, epsilon)[0], dy, x, gamma, beta)


def mirror_pad_grad(dout, paddings, mode):
    shape = tuple(n - sum(int(v) for v in pair) for n, pair in zip(dout.shape, paddings))
    return vjp(lambda t: mirror_pad(t, paddings, mode), dout, _o.zeros(shape, dout.dtype))


def resize_grad(dout, size, mode, align_corners, half_pixel_centers):
    image = _o.zeros(tuple(dout.shape[:2]) + tuple(size), dout.dtype)
    return vjp(lambda t: _p.resize(t, tuple(dout.shape[2:]), mode, align_corners, half_pixel_centers), dout, image)


# ---- matrices and sequences ----

def svd(x, full_matrices, compute_uv):
    """(values, left, right); zeros of one element for the vectors that are not asked for."""
    out = _o.svd(x, full_matrices, compute_uv)
    if compute_uv:
        return tuple(out)
    none = _o.zeros((1,), x.dtype)
    return (out[0] if isinstance(out, (tuple, list)) else out), none, none


def fft_with_size(x, signal_ndim, inverse, real, norm, onesided, signal_sizes):
    """The transform of the last 1 to 3 axes, complex or real (half of the spectrum when onesided)."""
    if norm not in ("backward", "forward", "ortho"):
        raise ValueError(f"For 'FFTWithSize', the 'norm' must be 'backward', 'forward' or 'ortho', but got '{norm}'.")
    if isinstance(signal_ndim, bool) or signal_ndim not in (1, 2, 3):
        raise ValueError(f"For 'FFTWithSize', the 'signal_ndim' must be 1, 2 or 3, but got {signal_ndim}.")
    if x.ndim < signal_ndim:
        raise ValueError(f"For 'FFTWithSize', the input must have {signal_ndim} axes or more, but got shape {x.shape}.")
    axes, sizes = tuple(range(-signal_ndim, 0)), tuple(signal_sizes) or None
    if not real:
        return (_o.ifftn if inverse else _o.fftn)(x, None, axes, norm)
    if not inverse:
        return (_o.rfftn if onesided else _o.fftn)(x, None, axes, norm)
    if not onesided:
        return _o.real(_o.ifftn(x, sizes, axes, norm))
    if sizes is None and x.shape[-1] == 1:
        raise ValueError("For 'FFTWithSize', the last dimension of the input cannot be 1 where it is half of a real signal's spectrum.")
    return _o.irfftn(x, sizes, axes, norm)


def reverse_sequence(x, lengths, seq_dim, batch_dim):
    """The first lengths[b] elements along seq_dim reversed, per example."""
    seq, batch = seq_dim % x.ndim, batch_dim % x.ndim
    if seq == batch or seq_dim >= x.ndim or batch_dim >= x.ndim:
        raise ValueError(f"For 'ReverseSequence', 'seq_dim' and 'batch_dim' must be two axes of {x.ndim}, but got {seq_dim} and {batch_dim}.")
    if lengths.shape != (x.shape[batch],):
        raise ValueError(f"For 'ReverseSequence', the 'seq_lengths' must have shape {(x.shape[batch],)}, but got {lengths.shape}.")

    def along(v, d):
        return v.reshape(tuple(-1 if k == d else 1 for k in range(x.ndim)))
    n, at = along(lengths.astype(mstype.int64), batch), along(_o.arange(x.shape[seq]), seq)
    index = _o.where(at < n, n - 1 - at, at)
    return _o.gather_elements(x, seq, _o.broadcast_to(index, x.shape))


def confusion_matrix(labels, predictions, weights, n, dtype):
    """How often, or with what weight, each pair (label, prediction) occurs."""
    if dtype not in ("int32", "int64", "float16", "float32"):
        raise ValueError(f"For 'ConfusionMatrix', the 'dtype' must be int32, int64, float16 or float32, but got {dtype}.")
    dtype = getattr(mstype, dtype)
    if weights is None:
        weights = _o.ones(labels.shape, dtype)
    at = _o.stack((labels, predictions), -1).astype(mstype.int64)
    return _o.tensor_scatter_add(_o.zeros((n, n), weights.dtype), at, weights).astype(dtype)


def sparse_dense_add(indices, values, shape, dense):
    """The sum of a sparse and a dense tensor."""
    if tuple(shape) != dense.shape:
        raise ValueError(f"For 'SparseTensorDenseAdd', the shapes must be equal, but got {tuple(shape)} and {dense.shape}.")
    return _o.tensor_scatter_add(dense, indices.astype(mstype.int64), values)


def sparse_dense_matmul(indices, values, shape, dense, adjoint_sparse, adjoint_dense):
    """The product of a sparse and a dense matrix: rows of the dense one, gathered, scaled and summed."""
    rows, columns = indices[:, 0].astype(mstype.int64), indices[:, 1].astype(mstype.int64)
    n, k = shape
    if adjoint_sparse:
        rows, columns, n, k, values = columns, rows, k, n, _o.conj(values)
    if adjoint_dense:
        dense = _o.conj(dense).transpose((1, 0))
    if dense.shape[0] != k:
        raise ValueError(f"For 'SparseTensorDenseMatmul', {k} columns meet {dense.shape[0]} rows.")
    parts = values.expand_dims(1) * _o.gather(dense, columns, 0)
    return _o.tensor_scatter_add(_o.zeros((n, dense.shape[1]), parts.dtype), rows.expand_dims(1), parts)


def tridiagonal_matmul(above, main, below, rhs):
    """The product of a matrix, given by three diagonals of shape (..., 1, m), and rhs (..., m, n); the last element of ``above`` and the
    first of ``below`` lie outside."""
    none = _o.zeros_like(rhs[..., :1, :])
    down, up = _o.cat((none, rhs[..., :-1, :]), -2), _o.cat((rhs[..., 1:, :], none), -2)
    return above.swapaxes(-1, -2) * up + main.swapaxes(-1, -2) * rhs + below.swapaxes(-1, -2) * down


def compare_and_bitpack(x, threshold):
    """x > threshold, eight neighbours of the last axis to a byte, the first in its highest bit."""
    if x.ndim == 0 or x.shape[-1] % 8:
        raise ValueError(f"For 'CompareAndBitpack', the size of the last axis must be a multiple of 8, but the shape is {x.shape}.")
    bits = (x > threshold).astype(mstype.int32).reshape(*x.shape[:-1], x.shape[-1] // 8, 8)
    return (bits * Tensor([128, 64, 32, 16, 8, 4, 2, 1], mstype.int32)).sum(-1).astype(mstype.uint8)


def histogram_fixed_width(x, limits, n, dtype):
    """How many elements lie in each of n equal parts of a range; those outside count in the first and last one."""
    if dtype not in ("int32", "int64"):
        raise ValueError(f"For 'HistogramFixedWidth', the 'dtype' must be int32 or int64, but got {dtype}.")
    if n < 1 or not limits[0] < limits[1]:
        raise ValueError(f"For 'HistogramFixedWidth', {n} parts of the range [{limits[0]}, {limits[1]}] cannot be counted.")
    at = _o.clamp(_o.floor((x - limits[0]) / (limits[1] - limits[0]) * n), 0, n - 1).astype(mstype.int64).reshape(-1)
    return _p.unsorted_segment(_o.ones(at.shape, getattr(mstype, dtype)), at, n, "add")


def multilabel_margin_loss(x, target, reduction):
    """(loss, is_target): 1 - (score of a target - score of another class), where positive, summed over both and divided by the number
    of classes; the targets of an example end at the first -1."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"For 'MultilabelMarginLoss', the 'reduction' must be in ['none', 'mean', 'sum'], but got {reduction}.")
    if x.shape != target.shape or x.ndim not in (1, 2):
        raise ValueError(f"For 'MultilabelMarginLoss', 'x' and 'target' must have one shape of 1 or 2 axes, but got {x.shape} and "
                         f"{target.shape}.")
    shape = x.shape
    x, target = x.reshape(-1, shape[-1]), target.reshape(-1, shape[-1]).astype(mstype.int64)
    given = _o.cumprod((target >= 0).astype(mstype.int64), 1)
    at = target * given
    mine = _o.tensor_scatter_elements(_o.zeros_like(at), at, given, 1, "add") > 0
    margins = _o.relu(1 - _o.gather_elements(x, 1, at).expand_dims(2) + x.expand_dims(1))
    counted = given.astype(x.dtype).expand_dims(2) * _o.logical_not(mine).astype(x.dtype).expand_dims(1)
    loss = (margins * counted).sum((1, 2)) / shape[-1]
    loss = loss.reshape(shape[:-1]) if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()
    return loss, mine.astype(mstype.int32).reshape(shape)


def ragged_range(starts, limits, deltas, splits_dtype):
    """(where the rows begin and end, the numbers of all rows): row k counts from starts[k] to limits[k] in steps of deltas[k]."""
    if bool((deltas == 0).any()):
        raise ValueError("For 'RaggedRange', the 'deltas' must not be 0.")
    n = max(t.size for t in (starts, limits, deltas))
    starts, limits, deltas = (t.reshape(-1).broadcast_to((n,)) for t in (starts, limits, deltas))
    exact = starts.dtype in mstype.int_type
    count = -((starts - limits) // deltas) if exact else _o.ceil((limits - starts) / deltas)
    count = _o.maximum(count.astype(mstype.int64), Tensor(0, mstype.int64))
    ends = _o.cumsum(count, 0)
    splits = _o.cat((Tensor([0], mstype.int64), ends))
    row = _o.repeat_interleave(_o.arange(n), count.tolist(), 0)
    place = _o.arange(int(ends[-1]) if n else 0) - splits[row]
    return splits.astype(splits_dtype), starts[row] + place.astype(starts.dtype) * deltas[row]


def _window_places(n_out, stride, low, n_taps, dilation, dtype):
    """(tap, output): where each tap of each window begins."""
    return _o.arange(n_taps).astype(dtype).reshape(-1, 1) * dilation + _o.arange(n_out).astype(dtype) * stride - low


def deformable_offsets(x, offsets, strides, pads, ksize, dilations, layout, groups, modulated, windows=None):
    """The samples of a deformable convolution, those of one window together: (N, C, Ho kh, Wo kw)."""
    n, c, h, w = x.shape
    (kh, kw), (sh, sw), (dh, dw) = ksize, strides[2:], dilations[2:]
    ho, wo = windows or ((h + pads[0] + pads[1] - dh * (kh - 1) - 1) // sh + 1, (w + pads[2] + pads[3] - dw * (kw - 1) - 1) // sw + 1)
    parts = 3 if modulated else 2
    if layout != "NCHW" or c % groups or offsets.shape != (n, parts * groups * kh * kw, ho, wo):
        raise ValueError(f"For 'DeformableOffsets', the data format must be NCHW, the channels a multiple of {groups} and 'offsets' of shape "
                         f"{(n, parts * groups * kh * kw, ho, wo)}, but got {layout}, {c} and {offsets.shape}.")
    offsets = offsets.reshape(n, parts, groups, kh, kw, ho, wo).transpose(1, 0, 2, 5, 3, 6, 4)  # part, n, group, ho, kh, wo, kw
    at_x = offsets[0] + _window_places(wo, sw, pads[2], kw, dw, x.dtype).swapaxes(0, 1)
    at_y = offsets[1] + _window_places(ho, sh, pads[0], kh, dh, x.dtype).swapaxes(0, 1).reshape(ho, kh, 1, 1)
    grid = _o.stack(((2 * at_x + 1) / w - 1, (2 * at_y + 1) / h - 1), -1).reshape(n * groups, ho * kh, wo * kw, 2)
    y = _o.grid_sample(x.reshape(n * groups, c // groups, h, w), grid, "bilinear", "zeros", False)
    if modulated:
        y = y * offsets[2].reshape(n * groups, 1, ho * kh, wo * kw)
    return y.reshape(n, c, ho * kh, wo * kw)
