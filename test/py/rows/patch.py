"""Blocks, grids, unpooling, boxes."""
import numpy as np

from .table import c, f, row

X = f(2, 3, 5, 6)


def two(v):
    v = tuple(np.atleast_1d(v))
    return v if len(v) == 2 else v * 2


def blocks(x, kernel_size, dilation=1, padding=0, stride=1):
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = map(two, (kernel_size, dilation, padding, stride))
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    h, w = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1, (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    return np.stack([x[:, :, a * dh:a * dh + sh * (h - 1) + 1:sh, b * dw:b * dw + sw * (w - 1) + 1:sw].reshape(
        x.shape[:2] + (h * w,)) for a in range(kh) for b in range(kw)], 2)


def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    y = blocks(x, kernel_size, dilation, padding, stride)
    return y.reshape(y.shape[0], -1, y.shape[3])


def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The transpose of unfold, by its matrix."""
    single, x = x.ndim == 2, x.reshape((-1,) + x.shape[-2:])
    h, w = two(output_size)
    kh, kw = two(kernel_size)
    ch = x.shape[1] // (kh * kw)
    eye = np.eye(h * w).reshape(h * w, 1, h, w)
    m = unfold(eye, kernel_size, dilation, padding, stride).reshape(h * w, -1)
    y = (x.reshape(x.shape[0], ch, -1) @ m.T).reshape(x.shape[0], ch, h, w)
    return y[0] if single else y


row('ops.unfold mint.nn.functional.unfold Tensor.unfold', unfold, c(X, 2),
    c(X, kernel_size=(2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 2)))
row('ops.fold mint.nn.functional.fold Tensor.fold', fold, c(f(2, 8, 9), (4, 4), 2), c(f(8, 9), 4, 2),
    c(f(1, 6, 12), output_size=(4, 5), kernel_size=(2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 1)))
row('ops.col2im Tensor.col2im', lambda x, output_size, kernel_size, dilation, padding_value, stride: fold(
    x.reshape(x.shape[0], -1, x.shape[3]), output_size, kernel_size, dilation, padding_value, stride),
    c(f(2, 3, 4, 9), output_size=(4, 4), kernel_size=2, dilation=1, padding_value=0, stride=1))


def affine_grid(theta, size, align_corners=False):
    lines = [np.linspace(-1, 1, n) if align_corners else (np.arange(n) * 2 + 1) / n - 1 for n in size[2:]]
    grid = np.stack(list(np.meshgrid(*lines, indexing='ij'))[::-1] + [np.ones(size[2:])], -1)
    return np.stack([grid @ t.T for t in theta])


row('ops.affine_grid mint.nn.functional.affine_grid', affine_grid, c(f(2, 2, 3), (2, 1, 3, 4)),
    c(f(1, 3, 4), (1, 1, 2, 3, 4), align_corners=True))


def reflect(p, low, high):
    if high <= low:
        return 0.0
    p, turns = abs(p - low) % (high - low), int(abs(p - low) // (high - low))
    return (high - p) if turns % 2 else (low + p)


def weight(t):
    t, a = abs(t), -0.75
    return (a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a


def grid_sample(x, grid, mode='bilinear', padding_mode='zeros', align_corners=False):
    sizes = x.shape[2:]
    y = np.zeros(x.shape[:2] + grid.shape[1:-1])

    def bound(p, n):
        if padding_mode == 'reflection':
            p = reflect(p, 0, n - 1) if align_corners else reflect(p, -0.5, n - 0.5)
        return p if padding_mode == 'zeros' else min(max(p, 0), n - 1)

    for b in range(x.shape[0]):
        for at in np.ndindex(grid.shape[1:-1]):
            taps = []
            for g, n in zip(grid[(b,) + at][::-1], sizes):
                p = (g + 1) * (n - 1) / 2 if align_corners else ((g + 1) * n - 1) / 2
                p = p if mode == 'bicubic' else bound(p, n)
                if mode == 'nearest':
                    line = [(round(p), 1.0)]
                elif mode == 'bilinear':
                    line = [(int(np.floor(p)) + k, (1 - (p - np.floor(p))) if k == 0 else p - np.floor(p)) for k in (0, 1)]
                else:
                    q = int(np.floor(p))
                    line = [(int(bound(q + k, n)), weight(p - q - k)) for k in (-1, 0, 1, 2)]
                taps.append([(i, w) for i, w in line if 0 <= i < n])
            spots = [((), 1.0)]
            for line in taps:
                spots = [(s + (i,), v * w) for s, v in spots for i, w in line]
            for s, w in spots:
                y[(b, slice(None)) + at] += w * x[(b, slice(None)) + s]
    return y


GRID = f(2, 3, 4, 2, lo=-1.3, hi=1.3)
row('ops.grid_sample mint.nn.functional.grid_sample', grid_sample, c(X, GRID), c(X, GRID, 'bilinear', 'border', True),
    c(X, GRID, padding_mode='reflection', align_corners=False), c(X, GRID, mode='bicubic', padding_mode='border'),
    c(f(1, 2, 3, 3, 4), f(1, 2, 2, 2, 3, lo=-1.2, hi=1.2)), second=False)
row('ops.grid_sample', grid_sample, c(X, GRID, 'nearest'), c(X, GRID, 'bicubic', 'reflection', True))


def space_to_batch(x, block, pads):
    m, head = len(block), x.ndim - len(block)
    x = np.pad(x, [(0, 0)] * head + [tuple(p) for p in pads])
    parts = [x[(slice(None),) * head + tuple(slice(o, None, k) for o, k in zip(at, block))] for at in np.ndindex(*block)]
    return np.concatenate(parts, 0)


def batch_to_space(x, block, crops):
    block = (block, block) if isinstance(block, int) else block
    n, head = x.shape[0] // np.prod(block), x.ndim - len(block)
    y = np.zeros((n,) + x.shape[1:head] + tuple(s * k for s, k in zip(x.shape[head:], block)))
    for j, at in enumerate(np.ndindex(*block)):
        y[(slice(None),) * head + tuple(slice(o, None, k) for o, k in zip(at, block))] = x[j * n:(j + 1) * n]
    return y[(slice(None),) * head + tuple(slice(a, s - b) for (a, b), s in zip(crops, y.shape[head:]))]


row('ops.space_to_batch_nd', space_to_batch, c(f(2, 3, 4, 5), [2, 3], [[0, 0], [0, 1]]), c(f(1, 4), [2], [[1, 1]]))
row('ops.batch_to_space_nd', batch_to_space, c(f(12, 1, 2, 3), [2, 3], [[1, 0], [0, 2]]), c(f(4, 1, 2, 2), 2, [[0, 0], [0, 0]]))


def unpool(r):
    def call(x, indices, kernel_size, stride=None, padding=0, output_size=None):
        wide = lambda v: tuple(np.atleast_1d(v)) * (1 if np.ndim(v) else r)
        k, p = wide(kernel_size), wide(padding)
        s = k if stride is None else wide(stride)
        head = x.ndim - r
        size = tuple(output_size)[-r:] if output_size is not None else tuple(
            (n - 1) * b - 2 * q + a for n, a, b, q in zip(x.shape[head:], k, s, p))
        y = np.zeros(x.shape[:head] + (int(np.prod(size)),))
        np.put_along_axis(y, indices.reshape(x.shape[:head] + (-1,)), x.reshape(x.shape[:head] + (-1,)), -1)
        return y.reshape(x.shape[:head] + size)
    return call


row('ops.max_unpool1d', unpool(1), c(f(2, 3), np.array([[0, 3, 4], [1, 2, 5]]), 2),
    c(f(1, 1, 2), np.array([[[1, 3]]]), kernel_size=2, stride=3, padding=0, output_size=(1, 1, 6)))
row('ops.max_unpool2d mint.nn.functional.max_unpool2d', unpool(2), c(f(1, 2, 2), np.array([[[0, 3], [9, 14]]]), 2),
    c(f(1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]]), kernel_size=2, stride=2, padding=0, output_size=(4, 4)))
row('ops.max_unpool3d', unpool(3), c(f(1, 1, 1, 2, 1), np.array([[[[[1], [6]]]]]), 2),
    c(f(1, 1, 1, 1, 1), np.array([[[[[5]]]]]), kernel_size=2, stride=2, padding=0, output_size=(2, 2, 2)))


def iou(a, g, mode='iou'):
    y = np.zeros((len(g), len(a)))
    for i, p in enumerate(g):
        for j, q in enumerate(a):
            w = max(0, min(p[2], q[2]) - max(p[0], q[0]) + 1) * max(0, min(p[3], q[3]) - max(p[1], q[1]) + 1)
            area = lambda r: (r[2] - r[0] + 1) * (r[3] - r[1] + 1)
            y[i, j] = w / (area(p) if mode == 'iof' else area(p) + area(q) - w)
    return y


BOX = np.concatenate([f(3, 2, lo=0, hi=4), f(3, 2, lo=3, hi=9)], 1)
row('ops.iou', iou, c(BOX, BOX[:2] + 0.7), c(BOX, BOX[:2] + 0.3, mode='iof'))
row('ops.bias_add', lambda x, b: x + b.reshape((-1,) + (1,) * (x.ndim - 2)), c(X, f(3)), c(f(2, 3), f(3)))
