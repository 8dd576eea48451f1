"""What only primitive classes compute: the rows `_p`, and operators by their own names: the rows `prim`."""
import math

import numpy as np

import mindspore as ms

from . import network
from .network import S, W2, X2, affine, avg_pool, conv, conv_ops, conv_transpose, max_pool, normalised
from .signal import stft
from .table import F, G, I, P, T3, T4, axes, c, elementwise, f, i, lgamma, log_softmax, row, softmax

J = i(2, 3, lo=1, hi=6) * np.array([1, -1, 1])
HOLES = np.array([[0, 1.5, -2], [0.5, 0, 1]])


def divided(f, where):
    """f(a, b), zero where `where` of them is zero."""
    def call(x, y):
        x, y = np.broadcast_arrays(x, y)
        key = (x, y)[where]
        z = np.zeros(x.shape, np.result_type(x, y))
        z[key != 0] = f(x[key != 0], y[key != 0])
        return z
    return call


def quotient(x, y):
    return x // y if np.result_type(x, y).kind == 'i' else x / y


row('_p.add_n', lambda x: x if isinstance(x, np.ndarray) else sum(x), c([F, G, P]), c(x=(F,)), c(F))
row('_p.div', quotient, c(F, P), c(I, J), c(input=2.0, other=P))
row('_p.truncate_div', lambda x, y: np.trunc(np.true_divide(x, y)).astype(np.result_type(x, y)), c(F * 5, P), c(x=I, y=J))
row('_p.truncate_mod', np.fmod, c(F * 5, P), c(x=I, y=J))
row('_p.div_no_nan', divided(quotient, 1), c(F, P), c(x1=2.0, x2=P))
row('_p.div_no_nan', divided(quotient, 1), c(F, HOLES), c(I, J * 0), grad=(0,))
row('_p.xdivy', divided(quotient, 0), c(F, P), c(x=F, y=2.0))
row('_p.xdivy', divided(quotient, 0), c(HOLES, P), grad=(1,))
row('_p.mul_no_nan', lambda x, y: x * y, c(F, G), c(x=2.0, y=F))
row('_p.mul_no_nan', lambda x, y: np.where(y == 0, 0, np.where(y == 0, 0, x) * y), c(np.array([[np.inf, np.nan, 1]]), HOLES), grad=(0,))
row('_p.squared_difference', lambda x, y: (x - y)**2, c(F, G), c(I, J), c(x=F, y=1.5))
row('_p.approximate_equal', lambda x, y, tolerance: abs(x - y) < tolerance, c(F, G, 1.0), c(x=F, y=F + 0.25, tolerance=0.2), grad=False)
row('_p.equal_count', lambda x, y: np.array([(x == y).sum()]).astype(x.dtype), c(I, J), c(x=F, y=F), grad=False)

# ---- reductions ----


def reduction(fn):
    return lambda x, axis=(), keep_dims=False, skip_mode=False: x if skip_mode and axis == () else np.asarray(
        fn(x, axis=axes(axis), keepdims=keep_dims)).astype(x.dtype)


row('_p.reduce_sum', reduction(np.sum), c(T3), c(T3, (0, 2), True), c(I), c(x=T3, axis=(), keep_dims=False, skip_mode=True))
row('_p.reduce_prod', reduction(np.prod), c(T3), c(F, 1, True), c(I), c(x=F, axis=(0, 1), keep_dims=False))
row('_p.reduce_mean', reduction(lambda x, **k: np.trunc(np.mean(x, **k)) if x.dtype.kind == 'i' else np.mean(x, **k)), c(T3), c(T3, (0, 2), True), c(I),
    c(x=T3, axis=1, keep_dims=False))


def running(fn, first):
    """Along an axis, without the element itself if `exclusive`, from the end if `reverse`."""
    def call(x, axis, exclusive, reverse):
        y = np.flip(x, axis) if reverse else x
        y = fn(y, axis)
        if exclusive:
            y = np.concatenate([np.full_like(y.take([0], axis), first), y.take(range(y.shape[axis] - 1), axis)], axis)
        return np.flip(y, axis) if reverse else y
    return call


for name, fn, first in (('cumsum', np.cumsum, 0), ('cumprod', np.cumprod, 1), ('cumulative_logsumexp', np.logaddexp.accumulate, -np.inf)):
    row(f'_p.{name}', running(fn, first), c(T3, 1, False, False), c(T3, -1, True, False), c(T3, 0, False, True),
        c(x=T3, axis=2, exclusive=True, reverse=True), second=name != 'cumulative_logsumexp', grad=name != 'cumulative_logsumexp')
row('_p.cumulative_logsumexp', running(np.logaddexp.accumulate, 0), c(T3, 1, False, False), c(T3, 2, False, True))
row('_p.l2_loss', lambda x: (x * x).sum() / 2, c(F), c(x=T3))
row('_p.l2_normalize', lambda x, axis, epsilon: x / np.sqrt(np.maximum((x * x).sum(axes(axis), keepdims=True), epsilon)), c(F, 1, 1e-4),
    c(x=T3, axis=(0, 2), epsilon=1e-4), c(F * 1e-2, 0, 1.0))
row('_p.lp_norm', lambda x, p, axis, keep_dims, epsilon: np.maximum((abs(x)**p).sum(axes(axis), keepdims=keep_dims)**(1 / p), epsilon),
    c(F, 2, 1, False, 1e-12), c(F, 3, (), True, 1e-12), c(x=T3, p=1, axis=(0, 2), keep_dims=False, epsilon=1e-12), c(F * 0.1, 2, 0, False, 5.0))
row('_p.square_sum_all', lambda x, y: ((x * x).sum(), (y * y).sum()), c(F, G), c(x=F, y=G))

# ---- shapes ----

row('_p.flatten', lambda x: x.reshape(len(x), -1), c(T3), c(x=f(3)))
row('_p.split', lambda x, axis, output_num: tuple(np.split(x, output_num, axis)), c(T4, 1, 3), c(x=T4, axis=-2, output_num=2))
row('_p.pad', lambda x, paddings: np.pad(x, paddings), c(F, ((1, 0), (0, 2))), c(x=T3, paddings=((0, 0), (1, 1), (2, 0))))
row('_p.fill', lambda shape, value: np.full(shape, value), c((2, 3), 1.5), c(shape=(2, 2), value=np.array(2.5)), out=lambda name: name)
row('_p.fill', lambda shape, value: np.full(shape, value), c((2,), True))
row('_p.tuple_to_array', np.array, c((1, 2, 3)), grad=False)
row('_p.tuple_to_array', np.array, c(x=(1.5, -2.0)), out='float32', grad=False)


def to_space(x, block_size):
    n, ch, h, w = x.shape
    y = np.zeros((n, ch // block_size**2, h * block_size, w * block_size))
    for k in range(ch):
        at, inner = divmod(k, ch // block_size**2)
        y[:, inner, at // block_size::block_size, at % block_size::block_size] = x[:, k]
    return y


def to_depth(x, block_size):
    b = block_size
    return np.concatenate([x[:, :, p::b, q::b] for p in range(b) for q in range(b)], 1)


row('_p.depth_to_space', to_space, c(f(2, 8, 2, 3), 2), c(x=f(1, 9, 2, 2), block_size=3))
row('_p.space_to_depth', to_depth, c(f(2, 3, 4, 6), 2), c(x=f(1, 2, 3, 6), block_size=3))
row('_p.diag_part', lambda x: np.diagonal(x) if x.ndim == 2 else np.einsum('abab->ab', x), c(f(3, 3)), c(x=f(2, 3, 2, 3)))

# ---- gathering, sorting ----


def looked_up(params, indices, offset):
    y = np.zeros(indices.shape + params.shape[1:])
    for at in np.ndindex(indices.shape):
        if 0 <= indices[at] - offset < len(params):
            y[at] = params[indices[at] - offset]
    return y


def scattered(input_x, indices, updates):
    input_x[tuple(np.moveaxis(indices, -1, 0))] = updates
    return input_x


row('_p.embedding_lookup', looked_up, c(f(4, 3), np.array([[0, 3], [1, 3]]), 0), c(params=f(4, 2), indices=np.array([2, 5, 9, 1]), offset=2))
row('_p.scatter_nd_update_', scattered, c(f(4, 3), np.array([[2], [0]]), f(2, 3)), c(input_x=f(2, 3), indices=np.array([[0, 1], [1, 2]]), updates=f(2)),
    inplace=True)


def ordered(x, axis, descending):
    at = np.argsort(-x if descending else x, axis, kind='stable')
    return np.take_along_axis(x, at, axis), at.astype(np.int32)


row('_p.sort', ordered, c(T3, 1, False), c(x=T3, axis=-1, descending=True))


def segments(x, segment_ids, num_segments, mode):
    fn, first = {'add': (np.add, 0), 'mul': (np.multiply, 1), 'max': (np.maximum, None), 'min': (np.minimum, None)}[mode]
    y = [None] * num_segments
    for part, at in zip(x, segment_ids):
        if 0 <= at < num_segments:
            y[at] = part if y[at] is None else fn(y[at], part)
    return np.stack([np.full(x.shape[1:], first) if v is None else v for v in y])


IDS = np.array([1, 0, 1, 2, -1])
row('_p.unsorted_segment', segments, *[c(f(5, 2), IDS, 3, mode) for mode in ('add', 'mul', 'max', 'min')],
    c(x=f(5), segment_ids=IDS, num_segments=4, mode='add'))

# ---- products, networks ----


def product(a, b, transpose_a=False, transpose_b=False, batch=False):
    return (a.swapaxes(-1, -2) if transpose_a else a) @ (b.swapaxes(-1, -2) if transpose_b else b)


row('_p.matmul', product, c(f(2, 3), f(3, 4), False, False, False), c(f(3, 2), f(3, 4), True, False, False),
    c(a=f(5, 2, 3), b=f(5, 4, 3), transpose_a=False, transpose_b=True, batch=True))
row('prim.matmul', product, c(f(2, 3), f(3, 4)), c(a=f(5, 3, 2), b=f(5, 4, 3), transpose_a=True, transpose_b=True))
row('prim.linear', lambda x, w, bias=None: x @ w.T + (0 if bias is None else bias), c(f(2, 3), f(4, 3)), c(x=T3, w=f(5, 4), bias=f(5)))
row('_p.bias_add', lambda x, bias, data_format: x + (bias if data_format == 'NHWC' else bias.reshape(-1, *[1] * (x.ndim - 2))), c(T4, f(3), 'NCHW'),
    c(T4, f(5), 'NHWC'), c(x=f(2, 3), bias=f(3), data_format='NCHW'), c(f(2, 3, 2, 2, 2), f(3), 'NCDHW'))


def back(dout, weight, input_size, stride, pad_mode, padding, dilation, group):
    """The adjoint of a convolution, as the matrix of it transposed."""
    basis = np.eye(int(np.prod(input_size))).reshape(-1, *input_size)
    forward = conv_ops(weight.ndim - 2)
    return np.array([(forward(e, weight, None, stride, pad_mode, padding, dilation, group) * dout).sum() for e in basis]).reshape(input_size)


row('_p.conv_backprop_input', back, c(f(1, 2, 3, 3), f(2, 2, 2, 2), (1, 2, 4, 4), 1, 'valid', 0, 1, 1),
    c(f(1, 2, 2, 2), f(2, 1, 2, 2), (1, 2, 3, 3), 2, 'same', 0, 1, 2),
    c(dout=f(1, 2, 3, 3), weight=f(2, 2, 2, 2), input_size=(1, 2, 4, 4), stride=2, pad_mode='pad', padding=1, dilation=1, group=1))
ONE = (1, 1)
row('prim.conv', lambda x, w, bias, stride, low, high, dilation, groups=1: conv(x, w, bias, stride, low, high, dilation, groups),
    c(X2, f(3, 4, 2, 2), None, ONE, (0, 0), (0, 0), ONE), c(x=X2, w=W2, bias=f(6), stride=(2, 1), low=(1, 0), high=(0, 2), dilation=(1, 2), groups=2))
row('prim.conv_input_grad', lambda dy, w, bias, shape, stride, low, high, dilation, groups=1: conv_transpose(dy, w, bias, stride, low, 0, groups, dilation),
    c(X2, f(4, 3, 2, 2), None, (2, 3, 7, 8), ONE, (0, 0), (0, 0), ONE),
    c(dy=X2, w=f(4, 3, 2, 2), bias=f(6), shape=(2, 6, 10, 12), stride=(2, 2), low=ONE, high=ONE, dilation=ONE, groups=2))
row('prim.max_pool', lambda x, kernel, stride, low, high, dilation: max_pool(2, x, kernel, stride, low, dilation, False, True),
    c(X2, (2, 3), (2, 1), (0, 1), (0, 1), ONE), c(x=X2, kernel=(2, 2), stride=(2, 2), low=(0, 0), high=(0, 0), dilation=(2, 1)))
row('prim.avg_pool', lambda x, kernel, stride, low, high, count_pad=True, divisor=0: avg_pool(2, x, kernel, stride, low, False, count_pad, divisor),
    c(X2, (2, 3), (2, 1), (0, 1), (0, 1)), c(x=X2, kernel=(2, 2), stride=(2, 2), low=ONE, high=ONE, count_pad=False, divisor=3))
OVER = (0, 2, 3)


def batch_statistics(x, gamma, beta, eps):
    return network.batch_norm(x, None, None, gamma, beta, True, 0, eps), x.mean(OVER), x.var(OVER)


def whole_batch_norm(x, scale, bias, mean, variance, training, epsilon, momentum, data_format):
    """The results, then what is written to the running mean and variance."""
    if not training:
        return (network.batch_norm(x, mean, variance, scale, bias, False, 0, epsilon), mean, variance, mean, variance, mean, variance)
    y, m, v = batch_statistics(x, scale, bias, epsilon)
    n = x.size / x.shape[1]
    return (y, m, v, m, v, mean + momentum * (m - mean), variance + momentum * (v * n / (n - 1) - variance))


row('prim.batch_norm', batch_statistics, c(X2, f(4), f(4), 1e-3), c(x=X2, gamma=f(4), beta=f(4), eps=1e-5), tol=10)
row('_p.batch_norm', whole_batch_norm, c(X2, S[2], S[3], S[0], S[1], True, 1e-3, 0.1, 'NCHW'),
    c(x=X2, scale=S[2], bias=S[3], mean=S[0], variance=S[1], training=False, epsilon=1e-3, momentum=0.1, data_format='NCHW'), tol=10, writes=(3, 4),
    second=False)


def layer_statistics(x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon):
    over = tuple(range(begin_norm_axis % x.ndim, x.ndim))
    return affine(normalised(x, over, epsilon), gamma, beta, x.shape[begin_params_axis % x.ndim:]), x.mean(over, keepdims=True), x.var(over, keepdims=True)


def layer_norm(x, gamma, beta, ndim, eps):
    over = tuple(range(-ndim, 0))
    return affine(normalised(x, over, eps), gamma, beta, x.shape[-ndim:]), x.mean(over, keepdims=True), 1 / np.sqrt(x.var(over, keepdims=True) + eps)


row('_p.layer_norm', layer_statistics, c(T3, f(4), f(4), -1, -1, 1e-3), c(x=T3, gamma=f(3, 4), beta=f(3, 4), begin_norm_axis=1, begin_params_axis=1,
                                                                     epsilon=1e-5), c(T3, f(4), f(4), 1, -1, 1e-3), tol=10)
row('prim.layer_norm', layer_norm, c(T3, f(4), f(4), 1, 1e-3), c(x=T3, gamma=None, beta=None, ndim=2, eps=1e-5), tol=10)


def pool_back(x, dout, argmax):
    y = np.zeros(x.shape).reshape(*x.shape[:2], -1)
    for at in np.ndindex(dout.shape):
        y[at[0], at[1], argmax[at]] += dout[at]
    return y.reshape(x.shape)


PLACES = max_pool(2, X2, 2, 1, 0, 1, False, True)[1]
row('_p.max_pool_grad', pool_back, c(X2, f(*PLACES.shape), PLACES), c(x=X2, dout=f(*PLACES.shape), argmax=PLACES.astype(np.int32)))


def short_stft(x, window, n_fft, hop_length, win_length, normalized, onesided, return_complex):
    return stft(x, n_fft, hop_length, win_length, window, False, 'reflect', normalized, onesided, return_complex)


row('_p.stft', short_stft, c(f(2, 23), f(8, lo=.5), 8, 3, 8, True, True, False), c(x=f(19), window=f(6, lo=.5), n_fft=8, hop_length=2, win_length=6,
                                                                              normalized=False, onesided=False, return_complex=True), tol=10)


def betainc(a, b, x):
    """The power series, factor before it."""
    term = total = np.ones(np.broadcast(a, b, x).shape)
    for n in range(600):
        term = term * (a + b + n) / (a + 1 + n) * x
        total = total + term
    return total * x**a * (1 - x)**b / a * np.exp(lgamma(a + b) - lgamma(a) - lgamma(b))


row('_p.betainc', betainc, c(P, P + 0.2, f(2, 3, lo=.1, hi=.9)), c(a=P, b=P + 1, x=f(2, 3, lo=.1, hi=.9)), tol=10)

# ---- losses ----

LABELS = np.array([2, 0, 1])


def picked(x, labels):
    return np.take_along_axis(x, labels[:, None], 1)[:, 0]


def nll(logits, labels, weight, reduction, ignore_index):
    w = np.where(labels == ignore_index, 0, weight[np.where(labels == ignore_index, 0, labels)])
    loss = -w * picked(logits, np.where(labels == ignore_index, 0, labels))
    return {'none': loss, 'sum': loss.sum(), 'mean': loss.sum() / w.sum()}[reduction], w.sum()


def sparse_loss(logits, labels, is_grad):
    if is_grad:
        return (softmax(logits, 1) - np.eye(logits.shape[1])[labels]) / len(logits)
    return -picked(log_softmax(logits, 1), labels).mean()


row('_p.softmax_cross_entropy', lambda logits, labels: (-(labels * log_softmax(logits, 1)).sum(1), softmax(logits, 1) - labels),
    c(f(3, 4), softmax(f(3, 4), 1)), c(logits=f(2, 3), labels=np.eye(3)[:2]))
row('_p.sparse_softmax_cross_entropy', sparse_loss, c(f(3, 4), LABELS, False), c(logits=f(3, 4), labels=LABELS.astype(np.int32), is_grad=True))
row('_p.sigmoid_cross_entropy', lambda logits, label: np.log1p(np.exp(logits)) - logits * label, c(F, f(2, 3, lo=0, hi=1)), c(logits=F, label=P))
row('_p.nll_loss', nll, *[c(f(3, 4), LABELS, f(4, lo=.3), how, -100) for how in ('mean', 'sum')],
    c(logits=f(3, 4), labels=LABELS, weight=f(4, lo=.3), reduction='none', ignore_index=0))

# ---- regions and boxes ----


def boxes(n, width=4):
    at = f(n, 2, lo=0, hi=4)
    return np.concatenate([at, at + f(n, 2, lo=1, hi=3), *([f(n, 1)] if width > 4 else [])], 1)


def hat(size, at):
    """Linear weights of a position."""
    return np.maximum(1 - abs(np.clip(at, 0, size - 1) - np.arange(size)), 0)


def roi_align(features, rois, pooled_height, pooled_width, spatial_scale, sample_num, roi_end_mode):
    def axis(lo, hi, n, size):
        lo, hi = lo * spatial_scale, (hi + (1 if roi_end_mode else 0)) * spatial_scale
        bin_ = max(hi - lo, 0 if roi_end_mode else 1) / n
        rows = [[lo + bin_ * (k + (s + 0.5) / sample_num) for s in range(sample_num)] for k in range(n)]
        return np.array([np.mean([hat(size, p) * (-1 <= p <= size) for p in r], 0) for r in rows])
    h, w = features.shape[2:]
    return np.stack([np.einsum('ph,chw,qw->cpq', axis(y1, y2, pooled_height, h), features[int(b)], axis(x1, x2, pooled_width, w))
                     for b, x1, y1, x2, y2 in rois])


ROIS = np.concatenate([np.array([[0.], [1.], [0.]]), boxes(3)], 1)
row('_p.roi_align', roi_align, c(f(2, 2, 6, 7), ROIS, 2, 3, 0.9, 2, 1), c(features=f(2, 2, 6, 7), rois=ROIS, pooled_height=2, pooled_width=2,
                                                                 spatial_scale=1.0, sample_num=1, roi_end_mode=0), grad=(0,))


def crop_and_resize(x, boxes, box_index, crop_size, method, extrapolation_value):
    y = np.full((len(boxes), *crop_size, x.shape[3]), float(extrapolation_value))
    for k, (y1, x1, y2, x2) in enumerate(boxes):
        for at in np.ndindex(*crop_size):
            p = [(0.5 * (lo + hi) if n == 1 else lo + a * (hi - lo) / (n - 1)) * (size - 1)
                 for a, n, size, lo, hi in zip(at, crop_size, x.shape[1:3], (y1, x1), (y2, x2))]
            if all(0 <= v <= size - 1 for v, size in zip(p, x.shape[1:3])):
                p = [math.floor(v + 0.5) for v in p] if method == 'nearest' else p
                y[(k, *at)] = np.einsum('h,hwc,w->c', hat(x.shape[1], p[0]), x[box_index[k]], hat(x.shape[2], p[1]))
    return y


CROPS, WHOSE = np.array([[0.1, 0.2, 0.83, 0.9], [0.3, 0.6, 0.71, 1.3], [0.9, 0.1, 0.2, 0.7]]), np.array([0, 1, 0], np.int32)
row('_p.crop_and_resize', crop_and_resize, c(f(2, 5, 6, 2), CROPS, WHOSE, (3, 2), 'bilinear', 0.5), c(
    x=f(2, 5, 6, 2), boxes=CROPS, box_index=WHOSE, crop_size=(2, 1), method='nearest', extrapolation_value=0.0), out='float32', grad=False)


def centred(t):
    return (t[:, :2] + t[:, 2:]) / 2, t[:, 2:] - t[:, :2] + 1


def encode(anchor, truth, means, stds):
    (a, s), (b, r) = centred(anchor), centred(truth)
    return (np.concatenate([(b - a) / s, np.log(r / s)], 1) - means) / stds


def decode(anchor, deltas, max_shape, means, stds, wh_ratio_clip):
    a, s = centred(anchor)
    d, most = deltas * stds + means, abs(math.log(wh_ratio_clip))
    at, size = a + s * d[:, :2], s * np.exp(np.clip(d[:, 2:], -most, most))
    limit = np.array([max_shape[1], max_shape[0]]) - 1
    return np.concatenate([np.clip(at - size / 2 + 0.5, 0, limit), np.clip(at + size / 2 - 0.5, 0, limit)], 1)


def iou(anchors, truth, mode):
    a, b = anchors[None], truth[:, None]
    inner = np.maximum(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]) + 1, 0).prod(-1)
    area = [(t[..., 2:] - t[..., :2] + 1).prod(-1) for t in (a, b)]
    return inner / (area[1] if mode == 'iof' else area[0] + area[1] - inner)


MEANS, STDS = (0.1, 0.0, -0.1, 0.2), (0.1, 0.2, 0.3, 0.4)
row('_p.box_encode', encode, c(boxes(3), boxes(3), MEANS, STDS), c(anchor=boxes(2), truth=boxes(2), means=MEANS, stds=STDS))
row('_p.box_decode', decode, c(boxes(3), f(3, 4), (9, 8), MEANS, STDS, 0.016), c(anchor=boxes(2), deltas=f(2, 4), max_shape=(5, 6), means=MEANS, stds=STDS,
                                                                              wh_ratio_clip=0.9))
row('_p.iou', iou, c(boxes(3), boxes(2), 'iou'), c(anchors=boxes(2), truth=boxes(4), mode='iof'), tol=10)
row('_p.check_valid', lambda bboxes, img_metas: (bboxes[:, :2] >= 0).all(1) & (bboxes[:, 2:] <= img_metas[[1, 0]] * img_metas[2] - 1).all(1),
    c(boxes(4), np.array([6.0, 5.5, 1.0])), c(bboxes=boxes(3) - 1, img_metas=np.array([4.0, 8.0, 1.5])), grad=False)


def suppressed(bboxes, iou_threshold):
    at = np.argsort(-bboxes[:, 4], kind='stable')
    x, keep = bboxes[at], np.ones(len(bboxes), bool)
    for p in range(len(x)):
        for q in range(p + 1, len(x)):
            inner = np.maximum(np.minimum(x[p, 2:4], x[q, 2:4]) - np.maximum(x[p, :2], x[q, :2]), 0).prod()
            area = sum((x[k, 2:4] - x[k, :2]).prod() for k in (p, q))
            keep[q] &= not (keep[p] and inner > iou_threshold * (area - inner))
    return x, at.astype(np.int32), keep


def suppressed_by(overlaps, scores, max, overlap_threshold, score_threshold):
    taken = []
    for k in np.argsort(-scores, kind='stable'):
        if len(taken) < max and scores[k] > score_threshold and all(overlaps[k, j] <= overlap_threshold for j in taken):
            taken.append(k)
    return np.array(taken, np.int32)


row('_p.nms_with_mask', suppressed, c(boxes(6, 5), 0.3), c(bboxes=boxes(5, 5), iou_threshold=0.1), grad=False)
row('_p.nms_overlaps', suppressed_by, c(f(5, 5, lo=0, hi=1), f(5, lo=0, hi=1), 4, 0.6, 0.1), c(
    overlaps=f(4, 4, lo=0, hi=1), scores=f(4, lo=0, hi=1), max=2, overlap_threshold=0.9, score_threshold=0.3), grad=False, dynamic=True)


def resize(x, size, mode, align_corners, half_pixel_centers):
    """TensorFlow's rule: positions from corners, from pixel centres, or by the plain ratio."""
    for d, out in enumerate(size):
        have, rows = x.shape[2 + d], []
        for k in range(out):
            at = k * (have - 1) / max(out - 1, 1) if align_corners and out > 1 else (k + 0.5) * have / out - (
                0.5 if mode == 'bilinear' else 0) if half_pixel_centers else k * have / out
            rows.append(hat(have, at) if mode == 'bilinear' else np.eye(have)[min(math.floor(at + 0.5) if align_corners else math.floor(at), have - 1)])
        x = np.moveaxis(np.tensordot(np.array(rows), x, (1, 2 + d)), 0, 2 + d)
    return x


for mode in ('bilinear', 'nearest'):
    row('_p.resize', resize, c(X2, (3, 9), mode, False, False), c(X2, (8, 4), mode, True, False), c(
        x=X2, size=(9, 5), mode=mode, align_corners=False, half_pixel_centers=True))


def ctc(x, indices, values, lengths, collapse, merge, ignore):
    """The sum over all paths by enumeration, and its gradient by differences; the blank is the last class."""
    def loss_of(x, n):
        steps, classes = int(lengths[n]), x.shape[2]
        want = [int(v) for v, (who, _) in zip(values, indices) if who == n]
        if collapse:
            want = [v for k, v in enumerate(want) if k == 0 or v != want[k - 1]]
        if ignore and len(want) > steps:
            return 0.0
        p, total = softmax(x[:, n], -1), 0.0
        for path in np.ndindex(*(classes,) * steps):
            seen = [v for k, v in enumerate(path) if k == 0 or v != path[k - 1]] if merge else path
            if [v for v in seen if v != classes - 1] == want:
                total += np.prod([p[t, v] for t, v in enumerate(path)])
        return -math.log(total)

    def losses(x):
        return np.array([loss_of(x, n) for n in range(x.shape[1])])

    grad = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][at] += 1e-6
        moved[1][at] -= 1e-6
        grad[at] = (losses(moved[0]) - losses(moved[1])).sum() / 2e-6
    return losses(x), grad


PATHS, WHERE, WORDS = f(4, 2, 3), np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 1], np.int32)
row('_p.ctc_loss', ctc, c(PATHS, WHERE, WORDS, np.array([4, 3], np.int32), False, True, False), c(
    x=PATHS, indices=WHERE, values=WORDS, lengths=np.array([3, 1], np.int32), collapse=True, merge=True, ignore=True), c(
    PATHS, WHERE, WORDS, np.array([4, 1], np.int32), False, False, True), tol=100, grad=False)

# ---- draws: of a state all that is drawn is known, so checks are of ranges and moments ----

STATE, MANY = np.array([7, 0]), (200, 20)


def near(value, want, by):
    assert abs(value - want) < by, (value, want)


def check_draw(y, kind, shape, state):
    assert y.shape == tuple(shape) and y.dtype == np.float32
    mean, deviation = {'normal': (0, 1), 'uniform': (0.5, 12**-0.5), 'laplace': (0, 2**0.5)}[kind]
    near(y.mean(), mean, 0.06)
    near(y.std(), deviation, 0.06)
    assert kind != 'uniform' or (y.min() >= 0 and y.max() < 1)


row('_p.draw', None, *[c(kind, MANY, STATE) for kind in ('normal', 'uniform', 'laplace')], c(kind='normal', shape=MANY, state=None), check=check_draw)


def check_draw_int(y, shape, low, high, state, dtype):
    assert y.shape == tuple(shape) and set(np.unique(y)) == set(range(low, high)) and y.dtype == np.int32


row('_p.draw_int', None, c(MANY, -2, 3, STATE, ms.int32), c(shape=MANY, low=0, high=2, state=None, dtype=ms.int32), check=check_draw_int)


def check_normal(y, shape, mean, std, state):
    assert y.shape == tuple(shape)
    near(np.mean(y - mean), 0, 0.15)
    near(np.std((y - mean) / std), 1, 0.06)


row('_p.normal', None, c(MANY, 1.5, 2.0, STATE), c(shape=MANY, mean=f(20), std=f(20, lo=.5), state=None), check=check_normal)


def check_moments(y, shape, parameter, state, dtype=None):
    """Of the Poisson and of the gamma distribution mean and variance are the parameter."""
    assert y.shape == (*shape, *np.shape(parameter)) and (dtype is None or y.dtype == np.int32) and y.min() >= 0
    assert abs(y.mean((0, 1)) - parameter).max() < 0.2 and abs(y.var((0, 1)) - parameter).max() < 0.5


RATES = np.array([0.5, 2.5])
row('_p.poisson', None, c(MANY, RATES, STATE, ms.int32), c(shape=MANY, rate=RATES, state=None, dtype=ms.int32),
    check=lambda y, shape, rate, state, dtype: check_moments(y, shape, rate, state, dtype))
row('_p.gamma', None, c(MANY, RATES, STATE), c(shape=MANY, alpha=RATES, state=None),
    check=lambda y, shape, alpha, state: check_moments(y, shape, alpha, state))


def check_bernoulli(y, x, p, state):
    assert y.shape == x.shape and set(np.unique(y)) <= {0, 1}
    near(y.mean(), np.mean(p), 0.04)


row('_p.bernoulli', None, c(f(*MANY), 0.3, STATE), c(x=f(*MANY), p=f(*MANY, lo=0, hi=1), state=None), check=check_bernoulli)


def check_multinomial(y, x, n, state, dtype):
    assert y.shape == (*x.shape[:-1], n) and y.dtype == np.int32
    for drawn, weight in zip(np.atleast_2d(y), np.atleast_2d(x)):
        assert abs(np.bincount(drawn, minlength=len(weight)) / n - weight / weight.sum()).max() < 0.05


row('_p.multinomial', None, c(np.array([[1.0, 0, 3], [2, 2, 1]]), 3000, STATE, ms.int32), c(x=P[0], n=3000, state=None, dtype=ms.int32),
    check=check_multinomial)


def check_permutation(y, n, state, dtype):
    assert y.dtype == np.int32 and sorted(y) == list(range(n)) and (n < 9 or list(y) != sorted(y))


row('_p.randperm', None, c(50, STATE, ms.int32), c(n=9, state=None, dtype=ms.int32), check=check_permutation)


def check_shuffle(y, x, state):
    assert y.shape == x.shape and sorted(map(tuple, y)) == sorted(map(tuple, x.astype(y.dtype))) and (y != x.astype(y.dtype)).any()


row('_p.shuffle', None, c(f(20, 2), STATE), c(x=f(30, 3), state=None), check=check_shuffle)


def check_choice(index, ok, x, count, state):
    drawn = [tuple(at) for at in index[ok]]
    assert index.shape == (count, x.ndim) and len(set(drawn)) == len(drawn) == min(count, x.sum()) and all(x[at] for at in drawn)


row('_p.random_choice', None, c(i(5, 6, hi=2).astype(bool), 4, STATE), c(x=np.eye(3, dtype=bool), count=7, state=None), check=check_choice)


def check_dropout(y, mask, x, keep_prob, drawn_axes, state=None):
    kept = mask.astype(bool)
    assert np.allclose(y, np.where(kept, x / keep_prob, 0), atol=1e-5)
    near(kept.mean(), keep_prob, 0.12)
    assert drawn_axes < 0 or (kept == kept.reshape(*kept.shape[:drawn_axes], -1)[..., :1].reshape(
        *kept.shape[:drawn_axes], *[1] * (x.ndim - drawn_axes))).all()


row('_p.dropout', None, c(f(*MANY), 0.7, -1), c(x=f(20, 30, 2, 2), keep_prob=0.4, drawn_axes=2, state=STATE), check=check_dropout)


def bits(mask, n):
    return np.unpackbits(mask, bitorder='little')[:n]


def check_mask(mask, shape, keep_prob, state=None):
    n = int(np.prod(shape))
    assert mask.dtype == np.uint8 and mask.shape == ((n + 127) // 128 * 16,)
    near(bits(mask, n).mean(), keep_prob, 0.05)


row('_p.dropout_mask', None, c(MANY, 0.7), c(shape=(31, 90), keep_prob=0.2, state=STATE), check=check_mask)
row('_p.dropout_apply', lambda x, mask, keep_prob: x * bits(mask, x.size).reshape(x.shape) / keep_prob, c(f(3, 5), i(16, hi=256, dtype=np.uint8), 0.7),
    c(x=f(2, 3), mask=i(16, hi=256, dtype=np.uint8), keep_prob=0.25))

# ---- images [N, H, W, C], computed in float32 (gradients: test_primitives_images.py) ----


def seen(x, rows, columns):
    return np.einsum('ph,nhwc,qw->npqc', np.array(rows), x, np.array(columns))


def resize_area(images, size, align_corners):
    """Means of a function that is constant on each pixel, the last of which goes on for ever."""
    def means(have, out):
        share = (have - 1) / (out - 1) if align_corners and out > 1 else have / out
        knots, whole = np.arange(have + 1), np.concatenate([np.zeros((1, have)), np.tril(np.ones((have, have)))])

        def integral(t):
            return [np.interp(t, knots, column) + max(t - have, 0) * (k == have - 1) for k, column in enumerate(whole.T)]
        return [(np.array(integral((o + 1) * share)) - integral(o * share)) / share for o in range(out)]
    return seen(images, means(images.shape[1], size[0]), means(images.shape[2], size[1]))


def cubic(b, c):
    """Mitchell and Netravali 1988."""
    def value(x):
        if x < 1:
            return ((12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b) / 6
        return ((-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c) / 6
    return value


KERNELS = {'triangle': (1, lambda x: 1 - x), 'keyscubic': (2, cubic(0, 0.5)), 'mitchellcubic': (2, cubic(1 / 3, 1 / 3)), 'box': (0.5, lambda x: 1),
           'lanczos3': (3, lambda x: np.sinc(x) * np.sinc(x / 3)), 'gaussian': (1.5, lambda x: math.exp(-2 * x * x))}


def scale_and_translate(images, size, scale, translation, kernel_type, antialias):
    radius, value = KERNELS[kernel_type]

    def axis(have, out, s, t):
        rows, wide = np.zeros((out, have)), max(1 / s, 1) if antialias else 1
        for o in range(out):
            at = (o + 0.5 - t) / s
            if 0 <= at <= have:
                d = [abs(k + 0.5 - at) / wide for k in range(have)]
                rows[o] = [value(v) if v <= radius else 0 for v in d]
                rows[o] /= rows[o].sum() or 1
        return rows
    return seen(images, *[axis(images.shape[1 + d], size[d], scale[d], translation[d]) for d in range(2)])


def glimpse(x, size, offsets, centered, normalized, noise):
    y = np.zeros((len(x), *size, x.shape[3]))
    for n, p, q in np.ndindex(len(x), *size):
        at = [offsets[n][d] * (x.shape[1 + d] if normalized else 1) for d in range(2)]
        at = [v / 2 + have / 2 if centered else v for v, have in zip(at, x.shape[1:3])]
        a, b = (math.trunc(v - s / 2) + k for v, s, k in zip(at, size, (p, q)))
        if 0 <= a < x.shape[1] and 0 <= b < x.shape[2]:
            y[n, p, q] = x[n, a, b]
    return y


PICTURES = f(2, 5, 7, 2)
row('_p.resize_area', resize_area, c(PICTURES, (3, 4), False), c(images=PICTURES, size=(8, 3), align_corners=True), out='float32', grad=False)
row('_p.scale_and_translate', scale_and_translate, *[c(PICTURES, (4, 6), np.array([0.7, 1.3]), np.array([0.2, -0.35]), kernel, True) for kernel in KERNELS], c(
    images=PICTURES, size=(9, 3), scale=np.array([1.7, 0.4]), translation=np.array([0.3, 0.1]), kernel_type='triangle', antialias=False), out='float32',
    grad=False, tol=10)
row('_p.extract_glimpse', glimpse, c(PICTURES, (3, 4), np.array([[0.3, -0.2], [0.9, 0.1]]), True, True, 'zero'), c(
    x=PICTURES, size=(2, 3), offsets=np.array([[1.0, 2.0], [4.0, 6.5]]), centered=False, normalized=False, noise='zero'), grad=(0,))
