"""Functions of table lines that slide windows or step through time: pooling by drawn or given windows, regions, dilation, recurrent
networks with packed weights, second gradients."""
import math

import numpy as np

from mindspore._c import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._rows import Rows, nn

__all__ = ["check_PSROIPooling", "check_PSROIPoolingGrad", "ps_roi_pooling", "ps_roi_pooling_grad", "fractional_pool", "fractional_pool_grad", "dilation2d", "max_pool_grad_grad", "taken",
           "deformable_offsets_grad", "lstm", "gru_v2", "second_gradient", "edit_distance", "combined_nms", "update_cache",
           "dynamic_stitch", "accidental_hits", "tridiagonal_solve", "solve_least_squares", "self_adjoint_eig", "lu_rows", "eigh", "nms_v3",
           "instance_norm_v2", "sequence_mask", "rotary", "matrix_logarithm", "rnnt_loss", "cholesky_grad", "pad_v3_grad", "rms_norm_grad",
           "lu_unpack_grad", "plane_taken", "concat_offset_v1"]

_p = Rows("_p")
_o = Rows("ops")
_linalg = Rows("_linalg")


# ---- regions ----

def _bins(first, last, scale, group, size, top):
    """(roi, bin, position), 1 for the positions below `top` along an axis that each bin covers."""
    start = _o.floor(first * scale + 0.5)
    step = (_o.maximum(_o.floor(last * scale + 0.5) - start, Tensor(0.1, first.dtype)) / group).expand_dims(1)
    k, start = _o.arange(group).astype(first.dtype), start.expand_dims(1)
    low, high = (_o.clamp(v, 0, top).expand_dims(2) for v in (_o.floor(k * step + start), _o.ceil((k + 1) * step + start)))
    at = _o.arange(size).astype(first.dtype)
    return _o.logical_and(at >= low, at < high).astype(first.dtype)


def _check_attributes(prim, **kinds):
    for what, kind in kinds.items():
        value = getattr(prim, what)
        if isinstance(value, bool) or not isinstance(value, kind):
            raise TypeError(f"For '{prim.name}', the '{what}' must be {kind.__name__}, but got {type(value).__name__}.")
        if value <= 0:
            raise ValueError(f"For '{prim.name}', the '{what}' must be positive, but got {value}.")


def check_PSROIPooling(prim):  # noqa: N802
    _check_attributes(prim, spatial_scale=float, group_size=int, output_dim=int)


def check_PSROIPoolingGrad(prim):  # noqa: N802
    check_PSROIPooling(prim)
    size = prim.input_size
    sizes = (size, size) if isinstance(size, int) else size
    if not isinstance(sizes, (tuple, list)) or not all(isinstance(v, int) and not isinstance(v, bool) for v in sizes):
        raise TypeError(f"For '{prim.name}', the 'input_size' must be an int or a tuple of two, but got {size}.")
    if len(sizes) != 2 or min(sizes) <= 0:
        raise ValueError(f"For '{prim.name}', the 'input_size' must be two positive sizes, but got {size}.")


def ps_roi_pooling(prim, x, rois, whole=0):
    """The mean of each bin of a region, each bin in channels of its own: (rois, output_dim, group, group). As in the original the last row
    and column never count, but do for gradients (whole 1)."""
    if not isinstance(x, Tensor) or not isinstance(rois, Tensor) or not x.is_floating_point() or x.dtype != rois.dtype:
        raise TypeError(f"For '{prim.name}', the features and 'rois' must be Tensors of one float dtype.")
    group, n = prim.group_size, prim.output_dim
    if x.ndim != 4 or x.shape[1] != n * group * group:
        raise RuntimeError(f"For '{prim.name}', the features must have {n * group * group} channels, but got {x.shape}.")
    if rois.ndim != 3 or rois.shape[1] != 5:
        raise RuntimeError(f"For '{prim.name}', 'rois' must have shape (batch, 5, number), but got {rois.shape}.")
    r = rois.astype(mstype.float32).transpose((0, 2, 1)).reshape(-1, 5)
    rows = _bins(r[:, 2], r[:, 4], prim.spatial_scale, group, x.shape[2], x.shape[2] - 1 + whole)
    columns = _bins(r[:, 1], r[:, 3], prim.spatial_scale, group, x.shape[3], x.shape[3] - 1 + whole)
    area = _o.maximum(rows.sum(-1).expand_dims(2) * columns.sum(-1).expand_dims(1), Tensor(1, r.dtype)).expand_dims(1)
    image = _o.gather(x, r[:, 0].astype(mstype.int64), 0).reshape((r.shape[0], n, group, group) + tuple(x.shape[2:]))
    rows = rows.reshape((r.shape[0], 1, group, 1, x.shape[2], 1)).astype(x.dtype)
    columns = columns.reshape((r.shape[0], 1, 1, group, 1, x.shape[3])).astype(x.dtype)
    return (image * rows * columns).sum((4, 5)) / area.astype(x.dtype)


def ps_roi_pooling_grad(prim, dy, rois):
    from mindspore.ops.operations._compose import vjp
    size = (prim.input_size,) * 2 if isinstance(prim.input_size, int) else tuple(prim.input_size)
    if not isinstance(dy, Tensor) or not isinstance(rois, Tensor):
        raise TypeError(f"For '{prim.name}', 'dy' and 'rois' must be Tensors.")
    if rois.ndim != 3 or dy.shape != (rois.shape[0] * rois.shape[2], prim.output_dim, prim.group_size, prim.group_size):
        raise RuntimeError(f"For '{prim.name}', 'dy' must have the shape of the result, but got {dy.shape}.")
    x = _o.zeros((rois.shape[0], prim.output_dim * prim.group_size ** 2) + size, dy.dtype)
    return vjp(lambda t: ps_roi_pooling(prim, t, rois, 1), dy, x)


# ---- windows of drawn sizes, over the two middle axes of NHWC ----

def _sequence(n, ratio, pseudo, rng):
    """Where n positions are cut into n / ratio windows: B. Graham, "Fractional Max-Pooling" (2014)."""
    out = int(math.floor(n / ratio))
    if out < 1:
        raise ValueError(f"The pooling ratio {ratio} is larger than the size {n}.")
    if pseudo:
        alpha, u = n / out, rng.random()
        base = math.ceil(alpha * u)
        cuts = [0] + [math.ceil(alpha * (k + u)) - base for k in range(1, out)] + [n]
        return np.asarray(cuts, np.int64)
    small, larger = divmod(n, out)
    sizes = np.full(out, small, np.int64)
    sizes[:larger] += 1
    rng.shuffle(sizes)
    return np.concatenate(([0], np.cumsum(sizes)))


def _windows(cuts, overlapping, n):
    """(window, tap) positions, the last one repeated in shorter windows, and how many are real."""
    high = np.minimum(cuts[1:] + (1 if overlapping else 0), n)
    count = high - cuts[:-1]
    at = np.minimum(cuts[:-1, None] + np.arange(count.max()), high[:, None] - 1)
    return at, count


def _pooled(x, rows, columns, overlapping, mode):
    r, nr = _windows(np.asarray(rows), overlapping, x.shape[1])
    c, nc = _windows(np.asarray(columns), overlapping, x.shape[2])
    y = _o.gather(_o.gather(x, Tensor(r), 1), Tensor(c), 3)  # N, rows, taps, columns, taps, C
    if mode == "max":
        return _o.amax(y, (2, 4))
    real = (np.arange(r.shape[1]) < nr[:, None])[:, :, None, None] & (np.arange(c.shape[1]) < nc[:, None])
    share = real / (nr[:, None, None, None] * nc[None, None, :, None])
    exact = y.dtype if y.dtype in (mstype.float32, mstype.float64) else mstype.float64
    return (y.astype(exact) * Tensor(share[None, ..., None]).astype(exact)).sum((2, 4)).astype(x.dtype)


def fractional_pool(x, prim, mode):
    """(pooled, where the rows were cut, where the columns)."""
    ratio = tuple(prim.pooling_ratio)
    if x.ndim != 4 or len(ratio) != 4 or ratio[0] != 1 or ratio[3] != 1 or min(ratio) < 1:
        raise ValueError(f"For '{prim.name}', the input must have 4 axes and the 'pooling_ratio' be (1.0, rows, columns, 1.0) of at least 1, "
                         f"but got {x.shape} and {ratio}.")
    fixed = prim.deterministic or prim.seed or prim.seed2
    rng = np.random.default_rng((prim.seed, prim.seed2) if fixed else None)
    cuts = [_sequence(x.shape[d], ratio[d], prim.pseudo_random, rng) for d in (1, 2)]
    return _pooled(x, *cuts, prim.overlapping, mode), Tensor(cuts[0]), Tensor(cuts[1])


def fractional_pool_grad(shape, dy, rows, columns, overlapping, mode, x=None):
    from mindspore.ops.operations._compose import vjp
    exact = dy.dtype in (mstype.float32, mstype.float64)
    wide = dy if exact else dy.astype(mstype.float64)
    x = _o.zeros(tuple(int(v) for v in shape), wide.dtype) if x is None else x.astype(wide.dtype)
    return vjp(lambda t: _pooled(t, rows.asnumpy(), columns.asnumpy(), overlapping, mode), wide, x).astype(dy.dtype)


# ---- gray-scale dilation ----

def dilation2d(x, weight, prim):
    """The maximum of image and weight added, over the taps of each window."""
    def pair(v):
        return (v, v) if isinstance(v, int) else tuple(v)[-2:]
    mode, stride, dilation, size = prim.pad_mode.upper(), pair(prim.stride), pair(prim.dilation), weight.shape[1:]
    if prim.data_format != "NCHW" or mode not in ("SAME", "VALID") or x.ndim != 4 or weight.ndim != 3 or x.shape[1] != weight.shape[0]:
        raise ValueError(f"For '{prim.name}', images NCHW, weights CHW and 'pad_mode' SAME or VALID are needed, but got {x.shape}, "
                         f"{weight.shape}, {prim.data_format} and {prim.pad_mode}.")
    span = [d * (k - 1) + 1 for d, k in zip(dilation, size)]
    if mode == "SAME":
        out = [-(-n // s) for n, s in zip(x.shape[2:], stride)]
        total = [max((o - 1) * s + k - n, 0) for o, s, k, n in zip(out, stride, span, x.shape[2:])]
        low = [t // 2 for t in total]
        x = _o.pad(x, (low[1], total[1] - low[1], low[0], total[0] - low[0]), "constant", -math.inf)
    else:
        out = [(n - k) // s + 1 for n, s, k in zip(x.shape[2:], stride, span)]
    taps = []
    for i in range(size[0]):
        for j in range(size[1]):
            a, b = i * dilation[0], j * dilation[1]
            part = x[:, :, a:a + (out[0] - 1) * stride[0] + 1:stride[0], b:b + (out[1] - 1) * stride[1] + 1:stride[1]]
            taps.append(part + weight[:, i, j].reshape(-1, 1, 1))
    return _o.amax(_o.stack(taps, 0), 0)


# ---- gradients ----

def max_pool_grad_grad(prim, x, grad, n):
    """What a change of the input does to the maxima."""
    from mindspore import autodiff
    from mindspore.ops.operations._special import max_pool
    return autodiff.jvp(lambda t: max_pool(prim, t, n), (x,), (grad,))[1]


def taken(grad, at):
    """Each example's elements at flat places."""
    y = _o.gather_elements(grad.reshape(grad.shape[0], -1), 1, at.reshape(at.shape[0], -1).astype(mstype.int64))
    return y.reshape(at.shape)


def plane_taken(grads, at, n):
    """The elements at flat places of each plane of the last n axes."""
    y = _o.gather_elements(grads.flatten(start_dim=-n), -1, at.flatten(start_dim=-n).astype(mstype.int64))
    return y.reshape(at.shape)


def pad_v3_grad(dout, paddings, mode, contiguous):
    """The sum over the copies of each element."""
    from mindspore.ops.operations._compose import pad_v3, vjp
    flat = [int(v) for v in paddings]
    half = len(flat) // 2
    pairs = list(zip(flat[::2], flat[1::2])) if contiguous else list(zip(flat[:half], flat[half:]))
    shape = list(dout.shape)
    for k, (low, high) in enumerate(pairs):
        shape[-1 - k] -= low + high
    return vjp(lambda t: pad_v3(t, tuple(flat), mode, contiguous, None), dout, _o.zeros(tuple(shape), dout.dtype))


def cholesky_grad(factor, grad):
    """The gradient at the matrix whose factor this is."""
    from mindspore.ops.operations._compose import vjp
    return vjp(_o.cholesky, grad, _o.matmul(factor, factor.swapaxes(-1, -2)))


def rms_norm_grad(dy, x, rstd, gamma):
    """(gradient of x, of gamma) for y = x rstd gamma, where rstd is a function of x."""
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    wide = x.astype(mstype.float32) * rstd
    g = dy.astype(mstype.float32) * gamma.astype(mstype.float32)
    dx = (g - wide * (g * wide).mean(axes, True)) * rstd
    rest = tuple(range(x.ndim - gamma.ndim))
    dgamma = dy.astype(mstype.float32) * wide
    return dx.astype(x.dtype), (dgamma.sum(rest) if rest else dgamma).astype(mstype.float32)


def lu_unpack_grad(low_grad, up_grad, packed, wants_low, wants_up):
    """The parts of the gradient of packed factors below the diagonal and from it on."""
    m, n = packed.shape[-2:]
    k = min(m, n)
    low = nn.pad(_o.tril(low_grad, -1), (0,) * packed.ndim, (0,) * (packed.ndim - 1) + (n - k,)) if wants_low else None
    up = nn.pad(_o.triu(up_grad), (0,) * packed.ndim, (0,) * (packed.ndim - 2) + (m - k, 0)) if wants_up else None
    none = _o.zeros_like(packed)
    return low if wants_low else none, up if wants_up else none


def concat_offset_v1(axis, shapes):
    """Where each part begins in the concatenation of tensors of these shapes."""
    axis, begin, found = int(axis) % shapes[0].size, 0, []
    for s in shapes:
        at = np.zeros(s.size, np.int32)
        at[axis] = begin
        begin += int(s.asnumpy()[axis])
        found.append(Tensor(at))
    return tuple(found)


def deformable_offsets_grad(dout, x, offsets, prim):
    """(gradient of the images, of the offsets)."""
    from mindspore.ops.operations._compose import deformable_offsets, vjp
    last = prim.data_format == "NHWC"

    def run(a, b):
        a, b = a.astype(mstype.float32), b.astype(mstype.float32)
        strides, dilations = prim.strides, prim.dilations
        if last:
            a, b = a.transpose(0, 3, 1, 2), b.transpose(0, 3, 1, 2)
            strides, dilations = (strides[0], strides[3], *strides[1:3]), (dilations[0], dilations[3], *dilations[1:3])
        y = deformable_offsets(a, b, strides, prim.pads, prim.kernel_size, dilations, "NCHW", prim.deformable_groups, prim.modulated,
                               tuple(b.shape[2:]))
        return y.transpose(0, 2, 3, 1) if last else y
    return tuple(vjp(run, dout.astype(mstype.float32), x, offsets))


def second_gradient(gradient, cotangents, *inputs):
    """The gradient of a gradient's results at its inputs."""
    from mindspore import autodiff
    _, pull = autodiff.vjp(gradient, *inputs)
    return tuple(pull(*cotangents))


# ---- recurrent networks whose weights are one vector ----

def _unpacked(prim, w, gates, biases, hidden):
    """The weights of each layer and direction: input, state, biases."""
    flat, at, found = w.reshape(-1), 0, []
    both = 2 if prim.bidirectional else 1
    sizes = []
    for layer in range(prim.num_layers):
        width = prim.input_size if layer == 0 else hidden * both
        for _ in range(both):
            sizes.append([(gates * prim.hidden_size, width), (gates * prim.hidden_size, hidden)])
    total = sum(math.prod(s) for pair in sizes for s in pair) + (biases * gates * prim.hidden_size * len(sizes) if prim.has_bias else 0)
    if flat.size != total:
        raise ValueError(f"For '{prim.name}', 'w' must have {total} elements, but got {flat.size}.")
    for pair in sizes:
        own = []
        for s in pair + [(gates * prim.hidden_size,)] * (biases if prim.has_bias else 0):
            own.append(flat[at:at + math.prod(s)].reshape(s))
            at += math.prod(s)
        if prim.has_bias and biases == 1:
            own.append(_o.zeros_like(own[-1]))
        found += own
    return found


def _reserve(x):
    none = _o.zeros((1, 1), x.dtype)
    return none, none


def lstm(prim, x, h, c, w):
    """(output, h, c, and two tensors of no use)."""
    if prim.proj_size:
        return _projected_lstm(prim, x, h, c, w)
    out = nn.recurrent("LSTM", x, h, c, _unpacked(prim, w, 4, 1, prim.hidden_size), prim.has_bias, prim.num_layers, prim.bidirectional, False,
                       None, float(prim.dropout))
    return (*out, *_reserve(x))


def _projected_lstm(prim, x, h, c, w):
    """One layer in one direction, the state projected to `proj_size` after each step."""
    if prim.num_layers != 1 or prim.bidirectional:
        raise ValueError(f"For '{prim.name}', a projection is for one layer in one direction.")
    n, flat, k = prim.hidden_size, w.reshape(-1), prim.proj_size
    sizes = [(4 * n, prim.input_size), (4 * n, k), (k, n)] + ([(4 * n,)] if prim.has_bias else [])
    ends = np.cumsum([math.prod(s) for s in sizes])
    if flat.size != ends[-1]:
        raise ValueError(f"For '{prim.name}', 'w' must have {ends[-1]} elements, but got {flat.size}.")
    w_in, w_state, w_out, *bias = (flat[int(e) - math.prod(s):int(e)].reshape(s) for e, s in zip(ends, sizes))
    state, cell, out = h[0], c[0], []
    zero = _o.zeros((4 * n,), x.dtype)
    for step in x:
        full, cell = nn.rnn_cell("LSTM", step, state, cell, w_in, w_state, bias[0] if bias else zero, zero)
        state = _o.matmul(full, w_out.T)
        out.append(state)
    return (_o.stack(out, 0), state.expand_dims(0), cell.expand_dims(0), *_reserve(x))


def gru_v2(prim, x, h, w, lengths):
    """(output, h, and two tensors of no use) of one layer in one direction; gates stand as update, reset, new, each with one bias, and the
    reset gate acts on the state before its product."""
    if prim.num_layers != 1 or prim.bidirectional:
        raise ValueError(f"For '{prim.name}', one layer in one direction is supported on the CPU.")
    w_in, w_state, *bias = _unpacked(prim, w, 3, 2, prim.hidden_size)
    n, state, out = prim.hidden_size, h[0], []
    for t, step in enumerate(x):
        a = _o.matmul(step, w_in.T) + (bias[0] if bias else 0)
        gates = _o.sigmoid(a[:, :2 * n] + _o.matmul(state, w_state[:2 * n].T))
        update, reset = gates[:, :n], gates[:, n:]
        fresh = _o.tanh(a[:, 2 * n:] + _o.matmul(reset * state, w_state[2 * n:].T))
        new = update * state + (1 - update) * fresh
        inside = (lengths > t).expand_dims(1)
        state = _o.where(inside, new, state)
        out.append(_o.where(inside, new, _o.zeros_like(new)))
    return (_o.stack(out, 0), state.expand_dims(0), *_reserve(x))


# ---- sequences ----

def _rows_of(indices, values, shape):
    """The values of each row of the last axis."""
    rows = {}
    for at, v in sorted(zip(map(tuple, indices.asnumpy().tolist()), values.asnumpy().tolist())):
        rows.setdefault(at[:-1], []).append(v)
    return rows


def edit_distance(i1, v1, s1, i2, v2, s2, normalize):
    """The Levenshtein distance of the rows of two sparse tensors, divided by the length of the second one's."""
    def sizes(s):
        return tuple(int(v) for v in (s.asnumpy() if isinstance(s, Tensor) else s))
    a, b = _rows_of(i1, v1, s1), _rows_of(i2, v2, s2)
    shape = tuple(max(p, q) for p, q in zip(sizes(s1)[:-1], sizes(s2)[:-1]))
    out = np.zeros(shape, np.float32)
    for at in np.ndindex(*shape):
        one, other = a.get(at, []), b.get(at, [])
        last = np.arange(len(other) + 1)
        for k, v in enumerate(one):
            new = [k + 1]
            for j, u in enumerate(other):
                new.append(min(last[j + 1] + 1, new[j] + 1, last[j] + (u != v)))
            last = new
        d = float(last[-1])
        out[at] = d if not normalize else d / len(other) if other else (math.inf if one else 0.0)
    return Tensor(out)


def sequence_mask(lengths, maxlen):
    return _o.arange(int(maxlen)).astype(lengths.dtype) < lengths.expand_dims(-1)


def rnnt_loss(acts, labels, input_lengths, label_lengths, blank):
    """(costs, gradients of acts): A. Graves, "Sequence Transduction with Recurrent Neural Networks" (2012)."""
    from mindspore import autodiff
    t_of, u_of, text = (v.asnumpy().astype(int) for v in (input_lengths, label_lengths, labels))

    def costs(x):
        logp = _o.log_softmax(x, -1)
        found = []
        for b in range(x.shape[0]):
            alpha = {}
            for t in range(t_of[b]):
                for u in range(u_of[b] + 1):
                    ways = []
                    if t:
                        ways.append(alpha[t - 1, u] + logp[b, t - 1, u, blank])
                    if u:
                        ways.append(alpha[t, u - 1] + logp[b, t, u - 1, int(text[b, u - 1])])
                    alpha[t, u] = _o.zeros((), x.dtype) if not ways else ways[0] if len(ways) == 1 else _o.logaddexp(*ways)
            end = (t_of[b] - 1, u_of[b])
            found.append(-(alpha[end] + logp[(b, *end, blank)]))
        return _o.stack(found, 0)
    value, pull = autodiff.vjp(costs, acts)
    grad = pull(_o.ones_like(value))
    return value, grad[0] if isinstance(grad, tuple) else grad


# ---- boxes ----

def _overlap(one, other):
    """Intersection over union of corner boxes whose corners may stand in either order."""
    (a, b), (p, q) = (np.sort(np.stack((v[:2], v[2:])), 0) for v in (one, other))
    inside = np.prod(np.maximum(np.minimum(b, q) - np.maximum(a, p), 0))
    union = np.prod(b - a) + np.prod(q - p) - inside
    return inside / union if union > 0 else 0.0


def _suppressed(boxes, scores, limit, iou, least):
    kept = []
    for k in np.argsort(-scores, kind="stable"):
        if len(kept) == limit:
            break
        if scores[k] > least and all(_overlap(boxes[k], boxes[j]) <= iou for j in kept):
            kept.append(k)
    return kept


def nms_v3(boxes, scores, limit, iou, least):
    """The places of the boxes that are kept, the best first."""
    kept = _suppressed(boxes.asnumpy().astype(np.float32), scores.asnumpy(), max(int(limit), 0), float(iou), float(least))
    return Tensor(np.asarray(kept, np.int32))


def combined_nms(boxes, scores, per_class, total, iou, least, pad_per_class, clip):
    """(boxes, scores, classes, how many) of each image: the best over all classes."""
    b, s, per_class, total = boxes.asnumpy(), scores.asnumpy(), int(per_class), int(total)
    n, _, q, _ = b.shape
    classes = s.shape[2]
    if q not in (1, classes):
        raise ValueError(f"For 'CombinedNonMaxSuppression', the boxes must be for one class or for {classes}, but got {q}.")
    size = min(per_class * classes, total) if pad_per_class else total
    out = np.zeros((n, size, 4), np.float32), np.zeros((n, size), np.float32), np.zeros((n, size), np.float32), np.zeros(n, np.int32)
    for k in range(n):
        found = []
        for c in range(classes):
            own = b[k, :, c if q > 1 else 0]
            found += [(-s[k, j, c], order, c, own[j]) for order, j in enumerate(_suppressed(own, s[k, :, c], per_class, float(iou), float(least)))]
        found = sorted(found, key=lambda f: f[0])[:size]
        for j, (score, _, c, box) in enumerate(found):
            out[0][k, j], out[1][k, j], out[2][k, j] = np.clip(box, 0, 1) if clip else box, -score, c
        out[3][k] = len(found)
    return tuple(Tensor(v) for v in out)


# ---- places ----

def update_cache(x, indices, updates, limit):
    """Writes the rows whose index is within the limit; the result says nothing."""
    at = indices.asnumpy().reshape(-1)
    good = np.flatnonzero((at >= 0) & (at < int(limit)))
    rows = _o.gather(updates.reshape((-1,) + tuple(x.shape[1:])), Tensor(good), 0)
    if good.size:
        x[Tensor(at[good].astype(np.int64))] = rows.astype(x.dtype)
    return _o.zeros((1,), x.dtype)


def dynamic_stitch(indices, data):
    """The rows of all data at their indices; later ones win."""
    flat = np.concatenate([i.asnumpy().reshape(-1) for i in indices]).astype(np.int64)
    rest = tuple(data[0].shape[indices[0].ndim:])
    rows = _o.cat(tuple(d.reshape((-1,) + rest) for d in data))
    n = int(flat.max()) + 1 if flat.size else 0
    last = np.zeros(n, np.int64)
    last[flat] = np.arange(len(flat))
    seen = np.zeros(n, bool)
    seen[flat] = True
    mask = Tensor(seen).reshape((n,) + (1,) * len(rest))
    return _o.where(mask, _o.gather(rows, Tensor(last), 0), Tensor(0, rows.dtype))


def accidental_hits(true, sampled, num_true):
    """(example, place among the sampled, a weight that rules it out) of each sampled class that is a true one."""
    t, s = true.asnumpy(), sampled.asnumpy()
    if t.ndim != 2 or t.shape[1] != num_true:
        raise ValueError(f"For 'ComputeAccidentalHits', the 'true_classes' must have shape (batch, {num_true}), but got {t.shape}.")
    hits = [(i, j) for i, row in enumerate(t) for v in row for j in np.flatnonzero(s == v)]
    at = np.asarray(hits, np.int64).reshape(-1, 2)
    return Tensor(at[:, 0].astype(np.int32)), Tensor(at[:, 1].copy()), Tensor(np.full(len(at), -np.finfo(np.float32).max, np.float32))


# ---- matrices ----

def tridiagonal_solve(diagonals, rhs):
    """The x of a x = b for a given by its three diagonals (.., 3, m): above, main, below."""
    m = diagonals.shape[-1]
    if diagonals.shape[-2] != 3 or rhs.shape[-2] != m:
        raise ValueError(f"For 'TridiagonalSolve', the diagonals must be (.., 3, m) and the right side (.., m, k), but got {diagonals.shape} "
                         f"and {rhs.shape}.")
    above, main, below = diagonals[..., 0, :], diagonals[..., 1, :], diagonals[..., 2, :]
    a = _o.diag_embed(main)
    if m > 1:
        a = a + _o.diag_embed(above[..., :-1], 1) + _o.diag_embed(below[..., 1:], -1)
    return _linalg.solve(a, rhs)


def solve_least_squares(matrix, rhs, regularizer, fast):
    """The x of least |matrix x - rhs|, with the regularizer times its square added when fast."""
    square = _o.matmul(_o.adjoint(matrix), matrix)
    if fast:
        square = square + _o.eye(matrix.shape[-1], matrix.shape[-1], matrix.dtype) * regularizer.astype(matrix.dtype)
        return _linalg.solve(square, _o.matmul(_o.adjoint(matrix), rhs))
    return _o.matmul(_o.pinv(matrix), rhs)


def self_adjoint_eig(x, vectors):
    w, v = _linalg.eigh(x, True)
    return w.astype(x.dtype), v if vectors else _o.zeros_like(x)


def eigh(x, vectors, lower):
    """Eigenvalues and vectors of the Hermitian matrix of one triangle, which all of the gradient belongs to."""
    half = _o.tril(x, -1) if lower else _o.triu(x, 1)
    w, v = _linalg.eigh((_o.tril(x) if lower else _o.triu(x)) + _o.adjoint(half), lower)
    return (w, v) if vectors else w


def lu_rows(x, dtype):
    """(packed factors, the row of the matrix that each row comes from)."""
    packed, pivots = _linalg.lu_factor(x)
    at = pivots.asnumpy()
    rows = np.broadcast_to(np.arange(at.shape[-1]), at.shape).copy()
    for batch in np.ndindex(*at.shape[:-1]):
        for k, j in enumerate(at[batch]):
            rows[batch][[k, j]] = rows[batch][[j, k]]
    return packed, Tensor(rows, dtype)


def matrix_logarithm(x):
    """By eigenvalues: v log(w) v^-1."""
    w, v = _linalg.eig(x)
    return _o.matmul(v * _o.log(w).expand_dims(-2), _o.inverse(v)).astype(x.dtype)


# ---- normalisation and positions ----

def instance_norm_v2(x, gamma, beta, mean, variance, training, epsilon):
    """(y, mean, reciprocal deviation) of each channel of each example; zeros for both when they are given."""
    if not training:
        y = (x - mean) * _o.rsqrt(variance + epsilon) * gamma + beta
        return y.astype(x.dtype), _o.zeros_like(mean), _o.zeros_like(variance)
    axes, wide = tuple(range(2, x.ndim)), x.astype(mstype.float32)
    m = wide.mean(axes, True)
    r = _o.rsqrt(_o.square(wide - m).mean(axes, True) + epsilon)
    return ((wide - m) * r * gamma + beta).astype(x.dtype), m, r


def rotary(query, key, cos, sin, position_ids, cos_format):
    """(query, key), their halves turned by angles: the pair (a, b) becomes (a cos - b sin, b cos + a sin).

    cos and sin belong to the positions as they stand, or are tables [positions, size] that `position_ids`, of the first two axes of
    query [batch, positions, heads, size], reads."""
    if cos_format not in (0, 1):
        raise ValueError(f"For 'ApplyRotaryPosEmb', the 'cos_format' must be 0 or 1 on the CPU, but got {cos_format}.")
    if cos.ndim == 2 and query.ndim == 4:
        if position_ids is None or position_ids.shape != query.shape[:2]:
            raise ValueError(f"For 'ApplyRotaryPosEmb', 'position_ids' of shape {query.shape[:2]} must say which rows of the tables 'cos' and "
                             f"'sin' are meant, but got {None if position_ids is None else position_ids.shape}.")
        cos, sin = (_o.gather(table, position_ids, 0).unsqueeze(2) for table in (cos, sin))

    def turned(x):
        n = x.shape[-1] // 2
        return x * cos + _o.cat((-x[..., n:], x[..., :n]), -1) * sin
    return turned(query), turned(key)
