"""Batch normalisation with ReLU and skip: one graph gives what eager execution gives, in every layout and dtype."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import nn


class Block(nn.Cell):
    """Convolutions make the activations channels-last; `skip` and the shared gradient meet in the backward pass."""

    def __init__(self, channels, conv):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, pad_mode='same') if conv else None
        self.bn1, self.bn2, self.bn3 = (nn.BatchNorm2d(channels) for _ in range(3))
        self.relu = nn.ReLU()

    def construct(self, x):
        z = self.conv1(x) if self.conv1 is not None else x
        y = self.relu(self.bn1(z))
        w = self.relu(self.bn2(y) + y)
        return self.relu(self.bn3(w * 1.5) + w)


@pytest.mark.parametrize('conv', [True, False])
@pytest.mark.parametrize('channels', [3, 64, 70])
@pytest.mark.parametrize('dtype', [ms.float32, ms.bfloat16, ms.float16])
def test_graph_is_eager(conv, channels, dtype):
    rng = np.random.default_rng(1)
    x = ms.Tensor(rng.standard_normal((4, channels, 9, 8)).astype(np.float32)).astype(dtype)
    net = Block(channels, conv)
    if conv and dtype != ms.float32:
        net.conv1.to_float(dtype)
    net.set_train()
    start = [p.asnumpy().copy() for p in net.get_parameters()]
    fn = ms.value_and_grad(lambda a: (net(a).astype(ms.float32) ** 2).mean(), 0, net.trainable_params())

    def run(f):
        for p, value in zip(net.get_parameters(), start):
            p.set_data(ms.Tensor(value))
        loss, (dx, dw) = f(x)
        moved = [p.asnumpy() for p in net.get_parameters()]
        return [loss.asnumpy(), dx.astype(ms.float32).asnumpy()] + [g.asnumpy() for g in dw] + moved

    eager = run(fn)
    for level in ('O0', 'O1'):
        graph = ms.jit(fn, jit_level=level)
        for _ in range(2):  # node by node, then planned
            for a, b in zip(eager, run(graph)):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('offset', [0.0, 1000.0])
@pytest.mark.parametrize('shape', [(2, 5, 3, 4), (9, 64, 7, 11), (3, 1030, 2, 2), (700, 6)])
def test_statistics_keep_their_digits(offset, shape):
    rng = np.random.default_rng(2)
    v = (rng.standard_normal(shape) + offset).astype(np.float32)
    channels = shape[1]
    bn = (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(channels, momentum=0.0)
    bn.set_train()
    x = ms.Tensor(np.ascontiguousarray(np.moveaxis(v, 1, -1)))
    x = x.transpose((0, 3, 1, 2)) if len(shape) == 4 else x
    y = bn(x).asnumpy()
    axes = tuple(d for d in range(len(shape)) if d != 1)
    wide = v.astype(np.float64)
    mean, var = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    n = v.size // channels
    np.testing.assert_allclose(bn.moving_mean.asnumpy(), mean.ravel(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(bn.moving_variance.asnumpy(), var.ravel() * n / (n - 1), rtol=2e-6)
    np.testing.assert_allclose(y, (wide - mean) / np.sqrt(var + 1e-5), rtol=1e-4, atol=2e-5 + offset * 1e-7)


def test_values_that_are_not_finite():
    v = np.ones((2, 3, 4, 5), np.float32)
    v[0, 0, 1, 1], v[1, 1, 0, 0] = np.nan, np.inf
    bn = nn.BatchNorm2d(3, momentum=0.0)
    bn.set_train()
    bn(ms.Tensor(np.moveaxis(v, 1, -1).copy()).transpose((0, 3, 1, 2)))
    assert np.isnan(bn.moving_mean.asnumpy()[0]) and np.isinf(bn.moving_mean.asnumpy()[1])
    assert np.isnan(bn.moving_variance.asnumpy()[:2]).all()
    assert bn.moving_mean.asnumpy()[2] == 1 and bn.moving_variance.asnumpy()[2] == 0


def test_mixed_precision_graph_is_eager():
    rng = np.random.default_rng(3)
    x = ms.Tensor(rng.standard_normal((4, 64, 9, 8)).astype(np.float32))
    net = ms.amp.auto_mixed_precision(Block(64, True), 'O2', ms.bfloat16)
    net.set_train()
    start = [p.asnumpy().copy() for p in net.get_parameters()]
    fn = ms.value_and_grad(lambda a: (net(a).astype(ms.float32) ** 2).mean(), 0, net.trainable_params())
    got = []
    for f in (fn, ms.jit(fn, jit_level='O1')):
        for p, value in zip(net.get_parameters(), start):
            p.set_data(ms.Tensor(value))
        loss, (dx, dw) = f(x)
        got.append([v.astype(ms.float32).asnumpy() for v in (loss, dx, *dw, *net.get_parameters())])
    for a, b in zip(*got):
        np.testing.assert_array_equal(a, b)


class Inverted(nn.Cell):
    """A first layer, expansion, a kernel for each channel, projection with its input added; then 3x3 for all channels."""

    def __init__(self, stride):
        super().__init__()
        self.first, self.bn0 = nn.Conv2d(3, 32, 3, 2, 'pad', 1), nn.BatchNorm2d(32)
        self.expand, self.bn1 = nn.Conv2d(32, 48, 1), nn.BatchNorm2d(48)
        self.depth, self.bn2 = nn.Conv2d(48, 48, 3, stride, 'pad', 1, group=48), nn.BatchNorm2d(48)
        self.project, self.bn3 = nn.Conv2d(48, 32, 1, has_bias=True), nn.BatchNorm2d(32)
        self.wide, self.bn4 = nn.Conv2d(32, 32, 1), nn.BatchNorm2d(32)
        self.full, self.bn5 = nn.Conv2d(32, 32, 3), nn.BatchNorm2d(32)
        self.relu6, self.relu, self.stride = nn.ReLU6(), nn.ReLU(), stride

    def construct(self, x):
        x = self.relu6(self.bn0(self.first(x)))
        y = self.relu6(self.bn2(self.depth(self.relu6(self.bn1(self.expand(x))))))
        y = self.bn3(self.project(y))
        y = self.relu(self.bn4(self.wide(x + y if self.stride == 1 else y)))
        return self.relu(self.bn5(self.full(y)) + y)


@pytest.mark.parametrize('stride', [1, 2])
def test_inference_in_one_pass_is_eager(stride):
    rng = np.random.default_rng(2)
    net = Inverted(stride)
    net.set_train(False)
    for p in net.get_parameters():
        if p.ndim == 1:
            p.set_data(ms.Tensor(rng.uniform(0.5, 1.5, p.shape).astype(np.float32)))
    graph = ms.jit(net.construct, jit_level='O1')
    for value in (0.0, np.nan, np.inf):
        x = rng.standard_normal((2, 3, 42, 38)).astype(np.float32)
        x[1, 2, 14, 0] += value
        x = ms.Tensor(x)
        eager = net(x).asnumpy()
        for _ in range(3):  # node by node, planned, with kept weights
            np.testing.assert_array_equal(graph(x).asnumpy(), eager)
    net.project.weight.set_data(net.project.weight * 2)
    np.testing.assert_array_equal(graph(x).asnumpy(), net(x).asnumpy())
