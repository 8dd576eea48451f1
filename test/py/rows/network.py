"""Convolution, pooling, normalisation, resampling and padding, written down with loops over the kernel."""
import math

import numpy as np

from .table import c, f, like, row


def many(a, n):
    return (a,) * n if isinstance(a, (int, float)) else tuple(a) * (n if len(a) == 1 else 1)


def padded(x, low, high, value=0.0):
    return np.pad(x, [(0, 0)] * (x.ndim - len(low)) + list(zip(low, high)), constant_values=value)


def windows(x, kernel, stride, dilation, out):
    """{offset in the kernel: the elements of x under it}, each with the shape of the result."""
    found = {}
    for at in np.ndindex(*kernel):
        where = tuple(slice(a * d, a * d + (n - 1) * s + 1, s) for a, d, s, n in zip(at, dilation, stride, out))
        found[at] = x[(Ellipsis,) + where]
    return found


def conv(x, w, b=None, stride=1, low=0, high=None, dilation=1, groups=1):
    n = w.ndim - 2
    stride, low, dilation = many(stride, n), many(low, n), many(dilation, n)
    high = low if high is None else many(high, n)
    batched = x.ndim == w.ndim
    x = padded(x if batched else x[None], low, high)
    kernel = w.shape[2:]
    out = [(x.shape[2 + d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in range(n)]
    y = 0
    for at, part in windows(x, kernel, stride, dilation, out).items():
        part = part.reshape(len(x), groups, -1, *out)
        tap = w[(Ellipsis,) + at].reshape(groups, -1, w.shape[1])
        y = y + np.einsum('ngi...,goi->ngo...', part, tap).reshape(len(x), len(w), *out)
    y = y if b is None else y + b.reshape((-1,) + (1,) * n)
    return y if batched else y[0]


def conv_ops(n):
    def call(x, w, b=None, stride=1, pad_mode='valid', padding=0, dilation=1, groups=1):
        if pad_mode != 'same':
            return conv(x, w, b, stride, padding, None, dilation, groups)
        low, high = [], []
        for size, k, s, d in zip(x.shape[-n:], w.shape[-n:], many(stride, n), many(dilation, n)):
            total = max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
            low.append(total // 2)
            high.append(total - total // 2)
        return conv(x, w, b, stride, low, high, dilation, groups)
    return call


def conv_mint(n):
    def call(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if isinstance(padding, str):
            return conv_ops(n)(input, weight, bias, stride, padding, 0, dilation, groups)
        return conv(input, weight, bias, stride, padding, None, dilation, groups)
    return call


def conv_transpose(x, w, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    n = w.ndim - 2
    stride, pad, extra, dilation = (many(a, n) for a in (stride, padding, output_padding, dilation))
    kernel, size = w.shape[2:], x.shape[2:]
    full = [(size[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1 + extra[d] for d in range(n)]
    y = np.zeros((len(x), w.shape[1] * groups, *full))
    for at, part in windows(y, kernel, stride, dilation, size).items():
        tap = w[(Ellipsis,) + at].reshape(groups, -1, w.shape[1])
        part += np.einsum('ngi...,gio->ngo...', x.reshape(len(x), groups, -1, *size), tap).reshape(part.shape)
    y = y[(Ellipsis,) + tuple(slice(p, m - p) for p, m in zip(pad, full))]
    return y if b is None else y + b.reshape((-1,) + (1,) * n)


X1, X2, X3 = f(2, 4, 9), f(2, 4, 6, 7), f(1, 2, 4, 4, 5)
W1, W2, W3 = f(6, 2, 3), f(6, 2, 3, 2), f(4, 1, 2, 2, 2)
for n, x, w, b in ((1, X1, W1, f(6)), (2, X2, W2, f(6)), (3, X3, W3, f(4))):
    whole = f(3, x.shape[1], *w.shape[2:])
    row(f'ops.conv{n}d', conv_ops(n), c(x, whole), c(x, w, b, 2, 'pad', 1, 1, 2),
        c(input=x, weight=w, bias=b, stride=(1,) * n, pad_mode='same', dilation=(2,) * n if n < 3 else 1, groups=2))
    row(f'ops.conv{n}d', conv_ops(n), c(x, w, None, 2, 'same', groups=2))
    alias = ' mint.conv2d' if n == 2 else ''
    row(f'mint.nn.functional.conv{n}d{alias}', conv_mint(n), c(x, whole), c(x, w, b, 2, 1, 1, 2),
        c(input=x, weight=w, bias=b, stride=(1,) * n, padding='same', dilation=1, groups=2), c(x[0], whole, padding=(1,) * n))
    back = f(x.shape[1], 3, *w.shape[2:])
    row(f'mint.nn.functional.conv_transpose{n}d' + (' ops.conv_transpose2d' if n == 2 else ''), conv_transpose, c(x, back),
        c(x, back, f(6), 2, 1, 1, 2, 1), c(input=x, weight=back, bias=f(3), stride=(2,) * n, padding=(0,) * n, output_padding=1,
                                         groups=1, dilation=(2,) * n))

# ---- pooling ----


def out_size(size, k, s, low, high, d, ceil):
    room = size + low + high - d * (k - 1) - 1
    out = (-(-room // s) if ceil else room // s) + 1
    return out - 1 if ceil and (out - 1) * s >= size + low else out


def max_pool(n, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    kernel, pad, dil = many(kernel_size, n), many(padding, n), many(dilation, n)
    step = kernel if stride is None else many(stride, n)
    size = x.shape[-n:]
    out = [out_size(size[d], kernel[d], step[d], pad[d], pad[d], dil[d], ceil_mode) for d in range(n)]
    need = [(out[d] - 1) * step[d] + dil[d] * (kernel[d] - 1) + 1 for d in range(n)]
    grow = [max(need[d] - size[d] - pad[d], 0) for d in range(n)]
    y = np.stack(list(windows(padded(x, pad, grow, -np.inf), kernel, step, dil, out).values()))
    flat = padded(np.broadcast_to(np.arange(np.prod(size)).reshape(size), x.shape), pad, grow, -1)
    places = np.stack(list(windows(flat, kernel, step, dil, out).values()))
    best = np.take_along_axis(places, y.argmax(0)[None], 0)[0]
    return (y.max(0), best) if return_indices else y.max(0)


def avg_pool(n, x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    kernel, pad = many(kernel_size, n), many(padding, n)
    step = kernel if stride is None else many(stride, n)
    size = x.shape[-n:]
    out = [out_size(size[d], kernel[d], step[d], pad[d], pad[d], 1, ceil_mode) for d in range(n)]
    grow = [max((out[d] - 1) * step[d] + kernel[d] - size[d] - pad[d], 0) for d in range(n)]
    total = sum(windows(padded(x, pad, grow), kernel, step, (1,) * n, out).values())
    counted = padded(np.ones(x.shape), pad, pad, float(count_include_pad))
    counted = padded(counted, (0,) * n, [max(g - p, 0) for g, p in zip(grow, pad)])
    return total / (divisor_override or sum(windows(counted, kernel, step, (1,) * n, out).values()))


def pooling(fn, n, swap=False):
    @like(fn, 1)
    def call(x, kernel_size=1, *more, **kw):
        if swap and len(more) > 3:  # return_indices stands before ceil_mode
            more = more[:3] + more[3:][::-1] if len(more) == 5 else more[:3] + (False,) + more[3:]
        return fn(n, x, kernel_size, *more, **kw)
    return call


def strided(fn):
    """The original's own pooling functions have a stride of 1 by default."""
    @like(fn)
    def call(x, kernel_size=1, stride=1, *more, **kw):
        return fn(x, kernel_size, stride, *more, **kw)
    return call


for n, x, wide in ((1, X1, (3,)), (2, X2, (3, 2)), (3, X3, (2, 2, 2))):
    ones = (1,) * n
    if n > 1:
        row(f'ops.max_pool{n}d', pooling(max_pool, n, n == 2), c(x, 2), c(x, wide, 2, 1), *(
            [c(x, wide, (2, 1), (1, 0), 1, True, True)] if n == 2 else [c(x, wide, (2, 1, 1), (1, 0, 0), 1, True, True)]),
            c(x=x, kernel_size=2, stride=2, padding=ones, dilation=2, return_indices=True, ceil_mode=True))
    row(f'mint.nn.functional.max_pool{n}d', pooling(max_pool, n), c(x, 2), c(x, wide, 2, 1, 1, True, True),
        c(input=x, kernel_size=2, stride=1, padding=ones, dilation=2, ceil_mode=False, return_indices=True))
    last = {} if n == 1 else {'divisor_override': 3}
    row(f'ops.avg_pool{n}d', strided(pooling(avg_pool, n)), c(x, 2), c(x, wide, 2, 1, True, False),
        c(input_x=x, kernel_size=3 if n < 3 else 2, stride=2, padding=1, ceil_mode=False, count_include_pad=True, **last))
    row(f'mint.nn.functional.avg_pool{n}d', pooling(avg_pool, n), c(x, 2), c(x, wide, 2, 1, True, False),
        c(input=x, kernel_size=3 if n < 3 else 2, stride=2, padding=1, ceil_mode=True, count_include_pad=True, **last))


def adaptive(n, x, output_size, reduce, index=False):
    out = [size if o is None else o for o, size in zip(many(output_size, n) if output_size is not None else (None,) * n, x.shape[-n:])]
    y, at = np.zeros(x.shape[:-n] + tuple(out)), np.zeros(x.shape[:-n] + tuple(out), np.int64)
    plane = np.arange(np.prod(x.shape[-n:])).reshape(x.shape[-n:])
    for p in np.ndindex(*out):
        where = tuple(slice(k * s // o, -(-(k + 1) * s // o)) for k, s, o in zip(p, x.shape[-n:], out))
        part = x[(Ellipsis,) + where].reshape(*x.shape[:-n], -1)
        y[(Ellipsis,) + p] = reduce(part, -1)
        at[(Ellipsis,) + p] = plane[where].reshape(-1)[part.argmax(-1)]
    return (y, at.astype(np.int32) if n == 3 else at) if index else y  # int32 is the original's choice


for n, x, size, name in ((1, X1, 4, ''), (2, X2, (3, 4), ' ops.adaptive_avg_pool2d_ext'), (3, X3, (2, 3, 2), '')):
    row(f'ops.adaptive_avg_pool{n}d mint.nn.functional.adaptive_avg_pool{n}d{name}', lambda x, output_size, n=n:
        adaptive(n, x, output_size, np.mean), c(x, size), c(input=x, output_size=2), *([c(x, (None, 3))] if n == 2 else []))
    if n > 1:
        names = f'ops.adaptive_max_pool{n}d' + (f' mint.nn.functional.adaptive_max_pool{n}d' if n == 2 else '')
        row(names, lambda x, output_size, return_indices=False, n=n: adaptive(n, x, output_size, np.max, return_indices), c(x, size),
            c(x, size, True), c(input=x, output_size=2, return_indices=True))
row('ops.adaptive_max_pool1d', lambda x, output_size: adaptive(1, x, output_size, np.max), c(X1, 4), c(input=X1, output_size=3))
row('mint.nn.functional.adaptive_max_pool1d', lambda x, output_size, return_indices=False:
    adaptive(1, x, output_size, np.max, return_indices), c(X1, 4), c(input=X1, output_size=3, return_indices=True))

# ---- normalisation ----


def normalised(x, over, eps):
    return (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + eps)


def affine(x, weight, bias, shape):
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


def batch_norm(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    shape = (1, -1) + (1,) * (x.ndim - 2)
    over = (0,) + tuple(range(2, x.ndim))
    y = normalised(x, over, eps) if training else (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + eps)
    return affine(y, weight, bias, shape)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return affine(normalised(x, tuple(range(-len(normalized_shape), 0)), eps), weight, bias, normalized_shape)


def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    y = normalised(x.reshape(len(x), num_groups, -1), 2, eps).reshape(x.shape)
    return affine(y, weight, bias, (1, -1) + (1,) * (x.ndim - 2))


def rms_norm(x, gamma, epsilon=1e-6):
    r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return x * r * gamma, r


def lrn(x, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS'):
    total = np.zeros(x.shape)
    for ch in range(x.shape[1]):
        total[:, ch] = (x[:, max(ch - depth_radius, 0):ch + depth_radius + 1]**2).sum(1)
    return x / (bias + alpha * total)**beta


S = f(4), f(4, lo=0.5, hi=2), f(4), f(4)
row('ops.batch_norm', batch_norm, c(X2, *S), c(X2, *S, False, 0.3, 1e-2), c(X1, *S),
    c(input_x=X2, running_mean=S[0], running_var=S[1], weight=S[2], bias=S[3], training=True, momentum=0.5, eps=1e-3), tol=10, second=False)
row('mint.nn.functional.batch_norm', batch_norm, c(X2, *S), c(X2, *S, True, 0.3, 1e-2), c(X1, None, None, training=True), c(
    input=X2, running_mean=S[0], running_var=S[1], weight=S[2], bias=S[3], training=False, momentum=0.5, eps=1e-3), tol=10, second=False)
row('ops.layer_norm mint.nn.functional.layer_norm', layer_norm, c(X2, (7,)), c(X2, (6, 7), f(6, 7), f(6, 7), 1e-2),
    c(input=X1, normalized_shape=(9,), weight=f(9), bias=f(9), eps=1e-3), tol=10)
row('ops.group_norm mint.nn.functional.group_norm', group_norm, c(X2, 2), c(X2, 2, f(4), f(4), 1e-2),
    c(input=X1, num_groups=4, weight=f(4), bias=f(4), eps=1e-3), tol=10)
row('ops.rms_norm', rms_norm, c(f(2, 6), f(6)), c(x=f(2, 6), gamma=f(6), epsilon=1e-2), tol=10)
row('ops.lrn', lrn, c(f(2, 8, 2, 3), 2), c(f(2, 8, 2, 3), 1, 2.0, 0.5, 0.75), c(
    x=f(1, 8, 2, 2), depth_radius=3, bias=1.5, alpha=0.3, beta=0.4, norm_region='ACROSS_CHANNELS'), second=False)

# ---- resampling ----


def cubic(t, a=-0.75):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def axis_weights(size, out, mode, align, scale):
    """Matrix [out, size] of one axis."""
    m = np.zeros((out, size))
    for k in range(out):
        if mode == 'area':
            lo, hi = k * size // out, -(-(k + 1) * size // out)
            m[k, lo:hi] = 1 / (hi - lo)
            continue
        if mode.startswith('nearest'):
            at = (k + 0.5) * scale if mode == 'nearest-exact' else k * (size - 1) / max(out - 1, 1) if align else k * scale
            m[k, min(int(math.floor(at + (0.5 if align and mode == 'nearest' else 0))), size - 1)] = 1
            continue
        at = k * (size - 1) / max(out - 1, 1) if align else (k + 0.5) * scale - 0.5
        if mode == 'keys':
            inside = [j for j in range(math.floor(at) - 1, math.floor(at) + 3) if 0 <= j < size]
            for j in inside:
                m[k, j] = cubic(at - j, -0.5) / sum(cubic(at - i, -0.5) for i in inside)
        elif mode == 'bicubic':
            base = math.floor(at)
            for j in range(base - 1, base + 3):
                m[k, min(max(j, 0), size - 1)] += cubic(at - j)
        else:
            at = max(at, 0)
            lo = min(int(at), size - 1)
            hi, t = min(lo + 1, size - 1), at - lo
            m[k, lo] += 1 - t
            m[k, hi] += t
    return m


def interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None):
    n = input.ndim - 2
    factor = None if scale_factor is None else many(scale_factor, n)
    out = many(size, n) if size is not None else [int(s * k) for s, k in zip(input.shape[2:], factor)]
    for d in range(n):
        have = input.shape[2 + d]
        scale = have / out[d] if factor is None or recompute_scale_factor else 1 / factor[d]
        m = axis_weights(have, out[d], mode, bool(align_corners), scale)
        input = np.moveaxis(np.tensordot(m, input, (1, 2 + d)), 0, 2 + d)
    return input


def interpolate_keys(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None):
    mode = 'keys' if mode == 'bicubic' and not align_corners else mode
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


UP = 'mint.nn.functional.interpolate mint.nn.functional.upsample'
row('ops.interpolate ops.upsample', interpolate_keys, c(X2, (4, 9), None, 'bicubic'), c(X2, (12, 9), mode='bicubic', align_corners=True),
    c(X2, None, (2.0, 0.5), 'bicubic', recompute_scale_factor=True), c(X3, (3, 6, 5), mode='trilinear'), c(X1, 5), c(X2, (9, 10), mode='nearest-exact'), second=False)
row(UP, interpolate, c(X1, 5), c(X2, (4, 9)), c(X2, size=(12, 14), mode='nearest'), c(X1, 5, None, 'linear'),
    c(X1, 12, None, 'linear', True), c(X2, (4, 9), None, 'bilinear', False), c(X2, (12, 9), mode='bilinear', align_corners=True),
    c(X2, (4, 9), None, 'bicubic', False), c(X2, (12, 9), None, 'bicubic', True), c(X2, (3, 4), mode='area'), c(X1, 4, mode='area'),
    c(X3, (3, 6, 5), None, 'trilinear', False), c(input=X1, scale_factor=(2.0,), mode='linear', align_corners=False,
                                                 recompute_scale_factor=True), c(X2, None, (2.0, 2.0), 'bilinear'), c(
        X2, (9, 10), mode='nearest-exact'), second=False)


def pad(x, padding, mode='constant', value=None):
    pairs = [(0, 0)] * (x.ndim - len(padding) // 2) + list(zip(padding[::2], padding[1::2]))[::-1]
    crop = tuple(slice(max(-lo, 0), n - max(-hi, 0)) for (lo, hi), n in zip(pairs, x.shape))
    pairs = [(max(lo, 0), max(hi, 0)) for lo, hi in pairs]
    if mode == 'constant':
        return np.pad(x[crop], pairs, constant_values=value or 0)
    return np.pad(x[crop], pairs, {'reflect': 'reflect', 'replicate': 'edge', 'circular': 'wrap'}[mode])


PADS = (c(X2, (1, 2)), c(X2, (1, -1, 0, 2), 'constant', 2.5), c(X2, (1, 2, 2, 1), 'reflect'), c(X2, (1, 2, 2, 1), 'replicate'),
        c(X1, (2, 1), 'circular'))
row('ops.pad', lambda x, padding: pad(x, list(padding)), c(X2, np.array([1, 2])), dynamic=True)
row('ops.pad', pad, *PADS, c(input_x=X1, padding=(1, 1), mode='constant', value=1))
row('mint.nn.functional.pad', pad, *PADS, c(input=X1, pad=(1, 1), mode='constant', value=1))


def check_rrelu(y, x, lower=0.125, upper=1 / 3):
    slope = np.where(x < 0, y / x, lower)
    assert np.allclose(y[x >= 0], x[x >= 0]) and (slope >= lower - 1e-6).all() and (slope <= upper + 1e-6).all()


row('ops.rrelu', None, c(f(4, 5)), c(f(4, 5), 0.2, 0.4), c(f(4, 5), lower=0.1, upper=0.1), check=check_rrelu)
