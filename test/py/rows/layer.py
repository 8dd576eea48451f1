"""What layers compute: the rows `_nn`, `_linalg`, `_init` and `_tensor`."""
import math

import numpy as np

import mindspore as ms

from . import network
from .decomposition import LOW, RHS, SPD, SPDS, SQUARE, STACK, TALL, lu, parts
from .network import S, W2, X1, X2, affine, avg_pool, conv_ops, conv_transpose, group_norm, many, max_pool, normalised
from .table import F, G, T3, T4, axes, c, f, i, log_softmax, np_dtype, row, sigmoid, softmax

# ---- convolution and pooling ----


def padding_of(x, kernel, stride, pad_mode, padding, dilation=1):
    """(low, high) of the spatial axes."""
    n = len(kernel)
    stride, dilation = many(stride, n), many(dilation, n)
    if pad_mode == 'valid':
        return (0,) * n, (0,) * n
    if pad_mode == 'pad':
        p = (padding,) * 2 * n if isinstance(padding, int) else padding
        return (p, p) if len(p) == n else (p[::2], p[1::2])
    total = [max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0) for size, k, s, d in zip(x.shape[-n:], kernel, stride, dilation)]
    return tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)


def conv(x, weight, bias, stride, pad_mode, padding, dilation, group):
    low, high = padding_of(x, weight.shape[2:], stride, pad_mode, padding, dilation)
    return network.conv(x, weight, bias, stride, low[:weight.ndim - 2], high[:weight.ndim - 2], dilation, group)


def transposed(x, weight, bias, stride, pad_mode, padding, dilation, group, output_padding):
    if pad_mode == 'pad':
        return conv_transpose(x, weight, bias, stride, padding, output_padding, group, dilation)
    full = conv_transpose(x, weight, None, stride, 0, 0, group, dilation)
    if pad_mode == 'same':
        n = weight.ndim - 2
        size = [a * b for a, b in zip(x.shape[2:], many(stride, n))]
        low, _ = padding_of(np.empty(size), weight.shape[2:], stride, 'same', 0, dilation)
        full = np.pad(full, [(0, 0)] * 2 + [(0, max(s - k, 0)) for s, k in zip(size, full.shape[2:])])
        full = full[(..., *[slice(p, p + s) for p, s in zip(low, size)])]
    return full if bias is None else full + bias.reshape(-1, *[1] * (weight.ndim - 2))


row('_nn.conv', conv, c(X2, f(3, 4, 2, 3), None, 1, 'valid', 0, 1, 1), c(X2, W2, f(6), (2, 1), 'same', 0, 1, 2), c(
    x=X1, weight=f(3, 4, 2), bias=f(3), stride=2, pad_mode='pad', padding=(1, 2), dilation=2, group=1))
row('_nn.conv_transpose', transposed, c(X2, f(4, 3, 2, 3), None, 1, 'valid', 0, 1, 1, 0), c(X2, f(4, 3, 3, 3), f(6), 2, 'same', 0, 1, 2, 0), c(
    x=X1, weight=f(4, 3, 3), bias=f(3), stride=2, pad_mode='pad', padding=1, dilation=1, group=1, output_padding=1))


def layer_max(x, n, kernel, stride, pad_mode, padding, dilation=1, ceil_mode=False, return_indices=False):
    low, _ = padding_of(x, many(kernel, n), stride, pad_mode, padding, dilation)
    if pad_mode == 'same':
        ceil_mode = True  # what is missing at the end is padding too
    return max_pool(n, x, kernel, stride, low[:n], dilation, ceil_mode, return_indices)


def layer_average(x, n, kernel, stride, pad_mode, padding, ceil_mode=False, count_include_pad=True, divisor=0):
    low, _ = padding_of(x, many(kernel, n), stride, pad_mode, padding)
    same = pad_mode == 'same'
    return avg_pool(n, x, kernel, stride, low[:n], ceil_mode or same, count_include_pad and not same, divisor or None)


row('_nn.max_pool', layer_max, c(X2, 2, (2, 3), 2, 'valid', 0), c(X2, 2, 3, 2, 'same', 0), c(
    x=X2[0], n=2, kernel=(3, 2), stride=2, pad_mode='pad', padding=1, dilation=1, ceil_mode=True, return_indices=True), c(X1, 1, 2, 1, 'valid', 0, 2))
row('_nn.avg_pool', layer_average, c(X2, 2, (2, 3), 2, 'valid', 0), c(X2, 2, 3, 2, 'same', 0), c(
    x=X2[0], n=2, kernel=(3, 2), stride=2, pad_mode='pad', padding=1, ceil_mode=False, count_include_pad=False, divisor=0), c(
    X1, 1, 2, 2, 'valid', 0, True), c(X1, 1, 3, 2, 'pad', 1, True, True), c(X2, 2, 2, 2, 'valid', 0, False, True, 3))


def lp_pool(x, n, norm_type, kernel, stride=None, ceil_mode=False):
    mean = avg_pool(n, x**norm_type, kernel, stride, 0, ceil_mode, False)
    return (mean * np.prod(many(kernel, n)))**(1 / norm_type)


row('_nn.lp_pool', lp_pool, c(abs(X2) + 0.1, 2, 2, 2), c(x=abs(X1) + 0.1, n=1, norm_type=3, kernel=3, stride=2, ceil_mode=True))


def unpool(x, indices, n, kernel, stride=None, padding=0, output_size=None):
    kernel, pad = many(kernel, n), many(padding, n)
    step = kernel if stride is None else many(stride, n)
    size = output_size[-n:] if output_size else [(s - 1) * t - 2 * p + k for s, t, p, k in zip(x.shape[-n:], step, pad, kernel)]
    y = np.zeros((*x.shape[:-n], int(np.prod(size))))
    np.put_along_axis(y, indices.reshape(*x.shape[:-n], -1), x.reshape(*x.shape[:-n], -1), -1)
    return y.reshape(*x.shape[:-n], *size)


TOP, WHERE = max_pool(2, X2[..., :6], 2, None, 0, 1, False, True)
row('_nn.max_unpool', unpool, c(TOP, WHERE, 2, 2), c(x=TOP, indices=WHERE, n=2, kernel=2, stride=2, padding=0, output_size=(2, 4, 6, 6)))


def fractional(x, n, kernel, output_size, samples):
    size, kernel, out = x.shape[-n:], many(kernel, n), many(output_size, n)
    lead = x.shape[:-n]
    u, plane = samples.reshape(*lead, n), np.arange(np.prod(size)).reshape(size)
    y, at = np.zeros((*lead, *out)), np.zeros((*lead, *out), np.int64)
    for p in np.ndindex(*lead):
        begin = []
        for d in range(n):
            t = np.float32(u[p][n - 1 - d if n == 2 else d])
            alpha = np.float32((size[d] - kernel[d]) / (out[d] - 1) if out[d] > 1 else 0)
            steps = [int(np.floor((k + t) * alpha) - np.floor(t * alpha)) for k in range(out[d] - 1)]
            begin.append([*steps, size[d] - kernel[d]])
        for o in np.ndindex(*out):
            where = tuple(slice(begin[d][o[d]], begin[d][o[d]] + kernel[d]) for d in range(n))
            y[(*p, *o)] = x[p][where].max()
            at[(*p, *o)] = plane[where].reshape(-1)[x[p][where].argmax()]
    return y, at


row('_nn.fractional_max_pool', fractional, c(X2, 2, 2, (3, 3), f(2, 4, 2, lo=0, hi=1)), c(
    x=f(1, 2, 4, 5, 6), n=3, kernel=(2, 2, 3), output_size=(2, 3, 2), samples=f(1, 2, 3, lo=0, hi=1)), grad=(0,))

# ---- patches ----


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    k, d, s, p = (many(a, 2) for a in (kernel_size, dilation, stride, padding))
    x = np.pad(input, [(0, 0)] * (input.ndim - 2) + [(a, a) for a in p])
    out = [(size - b * (a - 1) - 1) // t + 1 for size, a, b, t in zip(x.shape[-2:], k, d, s)]
    taps = [x[..., a * d[0]:a * d[0] + (out[0] - 1) * s[0] + 1:s[0], b * d[1]:b * d[1] + (out[1] - 1) * s[1] + 1:s[1]]
            for a in range(k[0]) for b in range(k[1])]
    y = np.stack(taps, -3)
    return y.reshape(*y.shape[:-4], -1, out[0] * out[1])


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The adjoint of unfold, by its matrix."""
    size, ch = many(output_size, 2), input.shape[-2] // int(np.prod(many(kernel_size, 2)))
    basis = np.eye(size[0] * size[1]).reshape(-1, 1, *size)
    m = np.array([unfold(e, kernel_size, dilation, padding, stride) for e in basis])
    return np.einsum('pkl,...ckl->...cp', m, input.reshape(*input.shape[:-2], ch, -1, input.shape[-1])).reshape(*input.shape[:-2], ch, *size)


def extract(x, kernel, stride, rate, pad_mode):
    if pad_mode == 'same':
        low, high = padding_of(x, many(kernel, 2), stride, 'same', 0, rate)
        x = np.pad(x, [(0, 0), (0, 0), *zip(low, high)])
    size = [(n - r * (k - 1) - 1) // s + 1 for n, k, s, r in zip(x.shape[2:], many(kernel, 2), many(stride, 2), many(rate, 2))]
    return unfold(x, kernel, rate, 0, stride).reshape(len(x), -1, *size)


row('_nn.unfold', unfold, c(X2, 2), c(X2, (2, 3), 1, 1, 2), c(input=X2, kernel_size=(2, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1)))
row('_nn.fold', fold, c(f(2, 8, 12), (4, 5), 2), c(f(2, 12, 12), 6, (2, 3), 1, 1, 2), c(
    input=f(8, 9), output_size=(5, 5), kernel_size=(2, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1)))
row('_nn.extract_patches', extract, c(X2, 2, 1, 1, 'valid'), c(x=X2, kernel=(2, 3), stride=(2, 1), rate=(1, 2), pad_mode='same'))

# ---- normalisation, dropout, simple layers ----


def batch_norm(x, gamma, beta, mean, variance, eps, momentum, training):
    y, n = network.batch_norm(x, mean, variance, gamma, beta, training, 0, eps), x.size / x.shape[1]
    if not training:
        return y, mean, variance
    over = (0, *range(2, x.ndim))
    return y, mean * momentum + x.mean(over) * (1 - momentum), variance * momentum + x.var(over) * n / (n - 1) * (1 - momentum)


row('_nn.batch_norm', batch_norm, c(X2, S[2], S[3], S[0], S[1], 1e-3, 0.9, True), c(
    x=X1, gamma=S[2], beta=S[3], mean=S[0], variance=S[1], eps=1e-3, momentum=0.9, training=False), writes=(3, 4), tol=10, second=False)
row('_nn.layer_norm', lambda x, gamma, beta, ndim, eps: affine(normalised(x, tuple(range(-ndim, 0)), eps), gamma, beta, x.shape[-ndim:]),
    c(T3, f(4), f(4), 1, 1e-3), c(x=T3, gamma=None, beta=None, ndim=2, eps=1e-5), tol=10)
row('_nn.group_norm', group_norm, c(X2, 2), c(input=X2, num_groups=2, weight=f(4), bias=f(4), eps=1e-3), tol=10)


def check_dropout(y, x, p, drawn_axes=-1):
    kept = y != 0
    assert np.allclose(y, np.where(kept, x / (1 - p) if p < 1 else 0, 0), atol=1e-5) and abs(kept.mean() - (1 - p)) < 0.1
    assert drawn_axes < 0 or (kept.all((2, 3)) | ~kept.any((2, 3))).all()


row('_nn.dropout', None, c(f(50, 40), 0.3), c(f(5, 4), 1.0), c(x=f(30, 20, 2, 2), p=0.5, drawn_axes=2), check=check_dropout)
row('_nn.linear', lambda x, weight, bias: x @ weight.T + (0 if bias is None else bias), c(T3, f(5, 4), f(5)), c(x=F, weight=f(2, 3), bias=None))
row('_nn.take', lambda x, index, axis=0: np.take(x, index, axis), c(T3, np.array([[1, 0], [0, 1]])), c(x=T3, index=np.array([2, 0, -1]), axis=1))
row('_nn.pad', lambda x, low, high: np.pad(x, list(zip(low, high))), c(F, (1, 0), (0, 2)), c(x=T3, low=(0, 1, 0), high=(2, 0, 1)))
row('_nn.assign', lambda t, value: np.broadcast_to(value, t.shape), c(F.copy(), G), c(F.copy(), G[0]), c(t=F.copy(), value=2.5), writes=(0,), grad=False)

# ---- losses, images ----


def dice(logits, label, smooth):
    return 1 - 2 * (logits * label).sum() / ((logits**2).sum() + (label**2).sum() + smooth)


def focal(logits, labels, weight, gamma):
    n, ch = logits.shape[:2]
    x = log_softmax(logits.reshape(n, ch, -1), 1)
    y = labels.reshape(n, labels.shape[1], -1)
    w = np.ones(ch) if weight is None else weight
    if labels.shape[1] == 1:
        p = np.take_along_axis(x, y.astype(int), 1)
        return (-(1 - np.exp(p))**gamma * p * w[y.astype(int)]).sum(1).mean(1)
    p = x * y
    return (-(1 - np.exp(p))**gamma * p * w[:, None]).mean(1).mean(1)


row('_nn.dice_loss', dice, c(F, G, 1e-2), c(logits=T3, label=f(2, 3, 4), smooth=1.0))
row('_nn.focal_loss', focal, c(f(3, 4), np.array([[1], [0], [3]]), None, 2.0), c(f(2, 3, 4), np.moveaxis(np.eye(3)[i(2, 4, hi=3)], -1, 1), f(3, lo=.5), 1.5), c(
    logits=f(2, 3, 2, 2), labels=i(2, 1, 2, 2, hi=3), weight=f(3, lo=.5), gamma=2.0), grad=(0,), second=False)


def psnr(a, b, max_val):
    return 10 * np.log10(max_val**2 / ((a - b)**2).mean((1, 2, 3)))


def ssim(a, b, max_val, filter_size, filter_sigma, k1, k2, factors):
    at = np.arange(filter_size) - (filter_size - 1) / 2
    g = np.exp(-(at[:, None]**2 + at**2) / (2 * filter_sigma**2))
    window = np.broadcast_to(g / g.sum(), (a.shape[1], 1, filter_size, filter_size))

    def smooth(x):
        return network.conv(x, window, groups=x.shape[1])

    c1, c2, product = (k1 * max_val)**2, (k2 * max_val)**2, 1
    for k, power in enumerate(factors):
        ma, mb = smooth(a), smooth(b)
        light = (2 * ma * mb + c1) / (ma**2 + mb**2 + c1)
        contrast = (2 * (smooth(a * b) - ma * mb) + c2) / (smooth(a * a + b * b) - ma**2 - mb**2 + c2)
        part = (light * contrast if k == len(factors) - 1 else contrast).mean((2, 3))
        product = product * (part if len(factors) == 1 else np.maximum(part, 0)**power)
        a, b = (avg_pool(2, x, 2, 2) for x in (a, b))
    return product.mean(1)


IMAGES = f(2, 3, 8, 10, lo=0, hi=1)
NOISY = IMAGES + f(2, 3, 8, 10) * 0.05
row('_nn.psnr', psnr, c(IMAGES, NOISY, 1.0), c(a=IMAGES, b=NOISY, max_val=255.0), out='float32', tol=10, grad=False)
row('_nn.ssim', ssim, c(IMAGES, NOISY, 1.0, 3, 1.5, 0.01, 0.03, (1.0,)), c(
    a=IMAGES, b=NOISY, max_val=1.0, filter_size=3, filter_sigma=1.0, k1=0.02, k2=0.05, factors=(0.4, 0.6)), out='float32', tol=10, grad=False)
row('_nn.moments', lambda x, axis=None, keepdims=False: (x.mean(axes(axis) if axis is not None else None, keepdims=keepdims), x.var(
    axes(axis) if axis is not None else None, keepdims=keepdims)), c(T3), c(T3, 1), c(x=T3, axis=(0, 2), keepdims=True))

# ---- loss scales, clipping ----


def tree(x):
    return [x] if isinstance(x, np.ndarray) else [t for part in x for t in tree(part)]


row('_nn.all_finite', lambda inputs: all(np.isfinite(t).all() for t in tree(inputs)), c(F), c([F, (G, np.array([1, np.nan]))]), c(
    inputs=(F, np.array([-np.inf]))), grad=False)


def update_scale(scale, current, last, overflow, factor, window):
    grow = current - last >= window
    new = np.maximum(scale / factor, 1) if overflow else scale * factor if grow else scale
    return new, current + 1, current if overflow or grow else last


def adjust(scale, counter, finite, factor, window):
    if not finite:
        return np.maximum(scale / factor, 1), counter * 0
    return scale * factor if counter == window - 1 else scale, (counter + 1) % window


def whole(v):
    return np.array(v, np.int32)


row('_nn.update_loss_scale', update_scale, *[c(np.array(8.0), whole(now), whole(2), np.array(bad), 2.0, 4) for now, bad in ((4, False), (6, False), (4, True))],
    c(scale=np.array(1.5), current=whole(9), last=whole(2), overflow=np.array(True), factor=2.0, window=3), writes=(0, 1, 2), grad=False)
row('_nn.adjust_scale', adjust, *[c(np.array(8.0), whole(n), np.array(good), 2.0, 4) for n, good in ((1, True), (3, True), (2, False))],
    c(scale=np.array(8.0), counter=whole(0), finite=True, factor=4.0, window=1), writes=(0, 1), grad=False)


def clip(x, clip_norm, axis=None):
    size = np.sqrt((x * x).sum(axes(axis) if axis is not None else None, keepdims=True))
    return x * clip_norm / np.maximum(size, clip_norm)


row('_nn.clip_by_norm', clip, c(F, 1.0), c(F, 50.0), c(x=T3, clip_norm=np.array(0.7), axis=(0, 2)))

# ---- recurrent ----


def step(kind, a, h, cell, w, b):
    r = h @ w.T + (0 if b is None else b)
    if kind == 'LSTM':
        k, forget, new, out = np.split(a + r, 4, -1)
        cell = sigmoid(forget) * cell + sigmoid(k) * np.tanh(new)
        return sigmoid(out) * np.tanh(cell), cell
    if kind == 'GRU':
        (ra, ka, na), (rr, kr, nr) = np.split(a, 3, -1), np.split(r, 3, -1)
        new, keep = np.tanh(na + sigmoid(ra + rr) * nr), sigmoid(ka + kr)
        return new + keep * (h - new), None
    return (np.maximum(a + r, 0) if kind == 'RNN_RELU' else np.tanh(a + r)), None


def rnn_cell(kind, x, h, c, w_ih, w_hh, b_ih, b_hh):
    h, cell = step(kind, x @ w_ih.T + (0 if b_ih is None else b_ih), h, c, w_hh, b_hh)
    return h if cell is None else (h, cell)


def recurrent(kind, x, h, c, weights, has_bias, num_layers, bidirectional, batch_first, seq_length, dropout):
    x = x.swapaxes(0, 1) if batch_first else x
    steps, batch, hidden = *x.shape[:2], weights[1].shape[1]
    dirs, each = 1 + bidirectional, 4 if has_bias else 2
    state = [np.zeros((dirs * num_layers, batch, hidden)) if s is None else s for s in (h, c)]
    ends = [[], []]
    length = np.full(batch, steps) if seq_length is None else seq_length
    for layer in range(num_layers):
        outs = []
        for d in range(dirs):
            at = layer * dirs + d
            w = [*weights[at * each:(at + 1) * each], None, None]
            y = np.zeros((steps, batch, hidden))
            lasts = [state[0][at].copy(), state[1][at].copy()]
            for b in range(batch):
                hb, cb = state[0][at][b], state[1][at][b]
                for t in range(int(length[b]))[::-1 if d else 1]:
                    hb, new = step(kind, x[t, b] @ w[0].T + (0 if w[2] is None else w[2]), hb, cb, w[1], w[3])
                    cb = cb if new is None else new
                    y[t, b] = hb
                lasts[0][b], lasts[1][b] = hb, cb
            outs.append(y)
            ends[0].append(lasts[0])
            ends[1].append(lasts[1])
        x = np.concatenate(outs, -1)
    y = x.swapaxes(0, 1) if batch_first else x
    return (y, np.stack(ends[0]), np.stack(ends[1])) if kind == 'LSTM' else (y, np.stack(ends[0]))


GATES = {'LSTM': 4, 'GRU': 3, 'RNN_TANH': 1, 'RNN_RELU': 1}


def weights_of(kind, width, hidden, layers, dirs, bias):
    found = []
    for layer in range(layers):
        for _ in range(dirs):
            g = GATES[kind] * hidden
            found += [f(g, hidden * dirs if layer else width), f(g, hidden), *([f(g), f(g)] if bias else [])]
    return found


for kind, g in GATES.items():
    cell = f(3, 2) if kind == 'LSTM' else None
    row('_nn.rnn_cell', rnn_cell, c(kind, f(3, 4), f(3, 2), cell, f(2 * g, 4), f(2 * g, 2), f(2 * g), f(2 * g)), c(
        kind=kind, x=f(3, 4), h=f(3, 2), c=cell, w_ih=f(2 * g, 4), w_hh=f(2 * g, 2), b_ih=None, b_hh=None), tol=10, second=False)
    cells = f(4, 2, 2) if kind == 'LSTM' else None
    row('_nn.recurrent', recurrent, c(kind, f(4, 2, 3), None, None, weights_of(kind, 3, 2, 1, 1, False), False, 1, False, False, None, 0.0), c(
        kind, f(2, 4, 3), f(4, 2, 2), cells, weights_of(kind, 3, 2, 2, 2, True), True, 2, True, True, None, 0.0), c(
        kind=kind, x=f(4, 2, 3), h=None, c=None, weights=weights_of(kind, 3, 2, 1, 2, True), has_bias=True, num_layers=1, bidirectional=True,
        batch_first=False, seq_length=np.array([4, 2], np.int32), dropout=0.0), tol=10, second=False)


def attention(query, key, value, w_q, w_k, w_v, b_in, bias_k, bias_v, w_out, b_out, heads, zero_attn, dropout, key_padding_mask, attn_mask,
              need_weights, average):
    width = len(w_out)
    w = [w_q, w_k, w_v] if w_k is not None else np.split(w_q, 3)
    b = [0, 0, 0] if b_in is None else np.split(b_in, 3)
    q, k, v = (x @ m.T + a for x, m, a in zip((query, key, value), w, b))
    more = 0
    for extra in (*([(bias_k[0], bias_v[0])] if bias_k is not None else []), *([(0, 0)] if zero_attn else [])):
        k, v = (np.concatenate([x, np.broadcast_to(e, (1, *x.shape[1:]))]) for x, e in zip((k, v), extra))
        more += 1
    q, k, v = (x.reshape(*x.shape[:2], heads, -1).transpose(1, 2, 0, 3) for x in (q, k, v))
    score = q @ k.swapaxes(-1, -2) / math.sqrt(width // heads)
    for mask, shape in ((key_padding_mask, (len(q), 1, 1, -1)), (attn_mask, (1, 1, q.shape[2], -1))):
        if mask is not None:
            mask = np.where(mask, -np.inf, 0) if mask.dtype == bool else mask
            score = score + np.pad(mask, ((0, 0), (0, more))).reshape(shape)
    p = softmax(score, -1)
    y = (p @ v).transpose(2, 0, 1, 3).reshape(*query.shape[:2], width) @ w_out.T + (0 if b_out is None else b_out)
    return (y, p.mean(1) if average else p) if need_weights else y


Q, K, V = f(3, 2, 4), f(5, 2, 4), f(5, 2, 4)
row('_nn.multi_head_attention', attention, c(Q, K, V, f(12, 4), None, None, f(12), None, None, f(4, 4), f(4), 2, False, 0.0, None, None, False, True), c(
    Q, f(5, 2, 3), f(5, 2, 6), f(4, 4), f(4, 3), f(4, 6), None, f(1, 1, 4), f(1, 1, 4), f(4, 4), None, 2, True, 0.0, None, f(3, 5), True, True), c(
    query=Q, key=K, value=V, w_q=f(12, 4), w_k=None, w_v=None, b_in=None, bias_k=None, bias_v=None, w_out=f(4, 4), b_out=f(4), heads=4, zero_attn=False,
    dropout=0.0, key_padding_mask=np.array([[False] * 5, [False] * 3 + [True] * 2]), attn_mask=None, need_weights=True, average=False), tol=10, second=False)

# ---- linear algebra ----


def block_diag(*inputs):
    inputs = [np.atleast_2d(x) for x in inputs]
    y, at = np.zeros(np.sum([x.shape for x in inputs], 0)), np.zeros(2, int)
    for x in inputs:
        end = at + x.shape
        y[at[0]:end[0], at[1]:end[1]] = x
        at = end
    return y


row('_linalg.block_diag', block_diag, c(F, f(1, 2), f(3, 1)), c(F))
row('_linalg.inv', np.linalg.inv, c(SQUARE), c(A=STACK), tol=10)
row('_linalg.solve', np.linalg.solve, c(SQUARE, RHS), c(a=STACK, b=f(2, 3, 2)), tol=10)
row('_linalg.triangular', lambda a, b, upper, unit, trans: np.linalg.solve(
    (lambda t: t.T if trans else t)((np.triu if upper else np.tril)(a - np.diag(np.diag(a) - 1) if unit else a)), b), c(SQUARE, RHS, True, False, 0), c(
    SQUARE, f(3), False, True, 1), c(a=SQUARE, b=RHS, upper=True, unit=False, trans=2), tol=10)
row('_linalg.diagonal', lambda x: np.diagonal(x, axis1=-2, axis2=-1), c(SQUARE), c(x=f(2, 3, 4)))
WIDE_LU = f(3, 3)
row('_linalg.lu_factor', lambda a: (lu(a)[0], lu(a)[1] - 1), c(WIDE_LU), c(a=SQUARE), tol=10)
row('_linalg.lu', lambda a: parts(*lu(a)), c(WIDE_LU), c(a=SQUARE), tol=10)

# ---- initial values ----


def initial(mean=0.0, sigma=1.0, low=-np.inf, high=np.inf):
    def check(y, seed, shape, dtype, *args, **kw):
        assert y.shape == tuple(shape) and y.dtype == np_dtype(dtype)
        assert abs(y.mean() - mean) < 0.05 * sigma and abs(y.std() / sigma - 1) < 0.05 and y.min() >= low and y.max() <= high
    return check


BIG = (100, 80)
row('_init.full', lambda shape, value, dtype: np.full(shape, value, np_dtype(dtype)), c((2, 3), 1.5, ms.int32), c(
    shape=(4,), value=2.0, dtype=ms.int8), grad=False)
row('_init.normal', None, c(3, BIG, ms.float32, 1.0, 2.0), c(seed=4, shape=BIG, dtype=ms.float64, mean=1.0, sigma=2.0), check=initial(1, 2))
row('_init.uniform', None, c(3, BIG, ms.float32, 3.0), c(seed=4, shape=BIG, dtype=ms.float64, scale=3.0), check=initial(0, 3**0.5, -3, 3))
row('_init.truncated_normal', None, c(3, BIG, ms.float32, 0.0, 2.0, -1.0, 1.0), c(seed=4, shape=BIG, dtype=ms.float16, mean=0.0, sigma=2.0, low=-1.0,
                                                                                 high=1.0), check=initial(0, 0.5683, -1, 1))


def check_sparse(y, seed, shape, dtype, sigma, n_zero):
    assert y.shape == tuple(shape) and ((y == 0).sum(0) == n_zero).all() and abs(y[y != 0].std() / sigma - 1) < 0.05


row('_init.sparse', None, c(3, BIG, ms.float32, 2.0, 30), c(seed=4, shape=BIG, dtype=ms.float32, sigma=1.0, n_zero=5), check=check_sparse)

# ---- tensors with an element, or elements, replaced ----


def with_item(self, *args):
    y = self.copy()
    y.reshape(-1)[args[0] if len(args) > 1 and not isinstance(args[0], tuple) else np.ravel_multi_index(args[0], y.shape) if len(args) > 1 else 0] = args[-1]
    return y


def with_put(self, index, source, accumulate=False):
    y = self.copy().reshape(-1)
    (np.add.at if accumulate else np.put)(y, index, source)
    return y.reshape(self.shape)


row('_tensor.with_item', with_item, c(F, 4, 2.5), c(F, (1, 2), -1.0), c(f(1), 3.0))
row('_tensor.with_put', with_put, c(T3, np.array([3, 0]), f(2)), c(self=F, index=np.array([[1, 1], [5, 0]]), source=f(2, 2), accumulate=True))
