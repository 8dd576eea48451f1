"""Weight gradients of channels-last convolutions: shapes around the tiles, strides, padding, dilation."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import mint, ops


def channels_last(v):
    return ms.Tensor(np.ascontiguousarray(v.transpose(0, 2, 3, 1))).transpose((0, 3, 1, 2))


@pytest.mark.parametrize('n,c,size,o,k,stride,pad,dilation', [
    (2, 64, 9, 64, 3, 1, 1, 1), (2, 64, 9, 128, 1, 1, 0, 1), (2, 128, 9, 64, 1, 2, 0, 1), (3, 80, 8, 20, 3, 2, 1, 1),
    (2, 20, 8, 48, 5, 1, 2, 1), (1, 3, 15, 64, 7, 2, 3, 1), (2, 16, 9, 7, 3, 1, 2, 2), (2, 33, 7, 16, 1, 1, 0, 1),
    (1, 64, 2, 64, 3, 1, 1, 1), (2, 64, 5, 64, 3, 1, 4, 1), (1, 192, 12, 128, 3, 1, 1, 1), (40, 64, 6, 70, 1, 1, 0, 1),
    (1, 64, 1, 64, 1, 1, 0, 1), (2, 17, 6, 18, 3, 1, 1, 1), (2, 16, 9, 0, 5, 1, 2, 1), (3, 40, 11, 0, 5, 2, 2, 1),
    (2, 33, 9, 0, 7, 1, 3, 1), (1, 17, 12, 0, 4, 3, 0, 2), (2, 48, 3, 0, 5, 1, 4, 1), (2, 16, 10, 0, 8, 1, 3, 1)])
def test_weight_gradient(n, c, size, o, k, stride, pad, dilation):
    """o = 0: depthwise."""
    groups, o = (1, o) if o else (c, c)
    rng = np.random.default_rng(0)
    x = channels_last(rng.standard_normal((n, c, size, size)).astype(np.float32))
    w = ms.Tensor((rng.standard_normal((o, c // groups, k, k)) * 0.1).astype(np.float32))

    def f(weight):
        return ops.conv2d(x, weight, None, stride, 'pad', pad, dilation, groups)

    out = f(w).shape[2]
    dy = channels_last(rng.standard_normal((n, o, out, out)).astype(np.float32))
    got = ms.grad(lambda weight: (f(weight) * dy).sum())(w).asnumpy()
    wide = np.pad(x.asnumpy(), ((0, 0), (0, 0), (pad, pad), (pad, pad))).astype(np.float64)
    want = np.zeros(got.shape)
    span = stride * (out - 1) + 1
    for a in range(k):
        for b in range(k):
            part = wide[:, :, a * dilation:a * dilation + span:stride, b * dilation:b * dilation + span:stride]
            pairs = 'nohw,nihw->oi' if groups == 1 else 'nohw,nohw->o'
            want[:, :, a, b] = np.einsum(pairs, dy.asnumpy().astype(np.float64), part).reshape(o, -1)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * np.abs(want).max())



@pytest.mark.parametrize('product', ['conv', 'matmul', 'dense'])
def test_subnormal_bfloat16_times_infinity(product):
    """Instructions of the processor for bfloat16 read subnormal numbers as zero."""
    x = np.ones((32, 32), np.float32)
    x[3, 5] = np.inf
    x = ms.Tensor(x).astype(ms.bfloat16)
    w = ms.Tensor(np.full((32, 32), 1e-39, np.float32)).astype(ms.bfloat16)
    if product == 'conv':
        y = mint.nn.functional.conv2d(x.reshape(32, 32, 1, 1), w.reshape(32, 32, 1, 1)).reshape(32, 32)
    else:
        y = {'matmul': mint.matmul, 'dense': mint.nn.functional.linear}[product](x, w)
    y = y.astype(ms.float32).asnumpy()
    assert np.isinf(y[3]).all() and np.isfinite(np.delete(y, 3, 0)).all()
