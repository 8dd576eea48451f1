"""Weights that a convolution has brought into its own layout are used again only while they are unchanged."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import nn, ops


@pytest.mark.parametrize('compiled', [False, True])
def test_every_kind_of_write_is_seen(compiled):
    rng = np.random.default_rng(0)
    net = nn.Conv2d(32, 64, 3, pad_mode='pad', padding=1)
    x = ms.Tensor(rng.standard_normal((2, 32, 9, 9), np.float32))
    f = ms.jit(net.construct) if compiled else net

    def thrice():
        y = [f(x).asnumpy().copy() for _ in range(3)]
        assert (y[1] == y[0]).all() and (y[2] == y[0]).all()
        return y[2]

    first = thrice()
    net.weight.set_data(net.weight * 2)
    np.testing.assert_allclose(thrice(), 2 * first, 1e-4, 1e-4)
    ops.assign(net.weight, net.weight * 0.5)
    np.testing.assert_allclose(thrice(), first, 1e-4, 1e-4)
    shared = net.weight.asnumpy()
    shared *= 3
    np.testing.assert_allclose(thrice(), 3 * first, 1e-4, 1e-4)
    shared /= 3
    np.testing.assert_allclose(thrice(), first, 1e-4, 1e-4)
    shared *= 2
    del shared
    np.testing.assert_allclose(thrice(), 2 * first, 1e-4, 1e-4)
    net.weight[0] = 0
    assert (thrice()[:, 0] == 0).all()


def test_old_and_new_value_in_one_graph():
    rng = np.random.default_rng(1)
    x = ms.Tensor(rng.standard_normal((2, 32, 9, 9), np.float32))
    w = ms.Parameter(ms.Tensor(rng.standard_normal((64, 32, 3, 3), np.float32)), name='w')

    @ms.jit
    def step(x):
        y = ops.conv2d(x, w) + ops.conv2d(x, w)
        ops.assign(w, w * 2.)
        return y, ops.conv2d(x, w), ops.conv2d(x, w)

    for _ in range(4):
        want = 2 * ops.conv2d(x, ms.Tensor(w.asnumpy().copy())).asnumpy()
        for y in step(x):
            np.testing.assert_allclose(y.asnumpy(), want, 1e-4, 1e-5 * abs(want).max())
