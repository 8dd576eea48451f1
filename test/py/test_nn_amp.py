"""Mixed precision and loss scaling."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, amp, nn, ops

X = Tensor(np.random.RandomState(0).rand(2, 1, 4, 4).astype(np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()
        self.fc, self.ln = nn.Dense(32, 3), nn.LayerNorm((3,))
        self.seen = []

    def construct(self, x):
        a = self.conv(x)
        b = self.bn(a)
        c = self.fc(self.relu(b).reshape((x.shape[0], -1)))
        self.seen.append([str(t.dtype) for t in (a, b, c)])
        return self.ln(c)


@pytest.mark.parametrize("level,seen", [("O0", ["Float32"] * 3), ("O1", ["Float32"] * 3), ("O2", ["Float16"] * 3),
                                        ("O3", ["Float16"] * 3), ("auto", ["Float16", "Float32", "Float16"])])
def test_levels(level, seen):
    net = Net()
    plain = net(X).asnumpy()
    names = [p.name for p in net.get_parameters()]
    half = amp.auto_mixed_precision(net, level)
    y = half(X)
    assert y.dtype == ms.float32 and net.seen[-1] == seen
    assert [p.name for p in half.get_parameters()] == names and all(p.dtype == ms.float32 for p in half.get_parameters())
    np.testing.assert_allclose(y.asnumpy(), plain, atol=0.03)
    assert level == "O0" or not (y.asnumpy() == plain).all()


def test_auto_reaches_every_operator():
    x = Tensor(np.full((2, 2), 0.5, np.float32))

    def layer(x):
        return ops.matmul(ops.relu(ops.matmul(x, x)), x)  # half and float32 meet in the second

    half = amp.auto_mixed_precision(layer, "auto", ms.bfloat16)
    compiled = ms.jit(layer)
    assert compiled(x).dtype == layer(x).dtype == ms.float32
    around = amp.auto_mixed_precision(lambda x: (compiled(x), layer(x), ops.exp(layer(x)), layer(x) * x), "auto")
    for f in (around, ms.jit(around), ms.jit(around, capture_mode="bytecode")):
        assert [y.dtype for y in f(x)] == [ms.float16, ms.float16, ms.float32, ms.float32]
    assert compiled(x).dtype == ms.float32 and half(x).dtype == ms.jit(half)(x).dtype == ms.bfloat16
    value, grad = ms.value_and_grad(lambda x: half(x).sum())(x)
    assert value.dtype == ms.bfloat16 and grad.dtype == ms.float32
    np.testing.assert_allclose(grad.asnumpy(), ms.grad(lambda x: layer(x).sum())(x).asnumpy(), rtol=0.02)
    with pytest.raises(ZeroDivisionError):
        amp.auto_mixed_precision(lambda x: 1 // 0, "auto")(x)
    assert ops.matmul(x, x).dtype == ms.float32
    with pytest.raises(TypeError):
        amp.auto_mixed_precision(layer, "O2")


def test_auto_and_recomputation():
    class Wide(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 1))

        def construct(self, x):
            return self.inner(x).sum()

    x = Tensor(np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32))
    net = amp.auto_mixed_precision(Wide(), "auto")
    grads = [ms.grad(net, None, net.trainable_params())(x)]
    net.inner.recompute()
    grads.append(ms.grad(net, None, net.trainable_params())(x))
    for a, b in zip(*grads):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_bfloat16_and_lists():
    net = Net()
    assert amp.auto_mixed_precision(net, "O2", ms.bfloat16)(X).dtype == ms.float32 and net.seen[-1] == ["BFloat16"] * 3
    net = Net()
    amp.custom_mixed_precision(net, white_list=[nn.Conv2d])(X)
    assert net.seen[-1] == ["Float32"] * 3
    net = Net()
    assert amp.custom_mixed_precision(net, black_list=[nn.BatchNorm2d])(X).dtype == ms.float32
    assert net.seen[-1] == ["Float16"] * 3
    assert nn.Conv2d in amp.get_white_list() and nn.BatchNorm2d in amp.get_black_list()
    for kw in ({}, {"white_list": [], "black_list": []}):
        with pytest.raises(ValueError):
            amp.custom_mixed_precision(Net(), **kw)
    for bad in ({"amp_level": "O5"}, {"amp_level": "O1", "dtype": ms.float32}):
        with pytest.raises(ValueError):
            amp.auto_mixed_precision(Net(), **bad)


def test_labels_keep_their_integers():
    """The cells that evaluate and train in half precision cast what is floating, of several outputs too."""
    net = nn.Dense(3, 4)
    loss, label = nn.CrossEntropyLoss(), Tensor([1, 3])
    y, logits, same = nn.WithEvalCell(net.to_float(ms.float16), loss, True)(Tensor(np.ones((2, 3), np.float32)), label)
    assert logits.dtype == y.dtype == ms.float32 and same.dtype == label.dtype

    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 4)

        def construct(self, x):
            return self.fc(x), self.fc(x)

    net = Two()
    step = amp.build_train_network(net, nn.SGD(net.trainable_params()), lambda ys, t: loss(ys[0], t) + loss(ys[1], t), level="O2")
    assert np.isfinite(step(Tensor(np.ones((2, 3), np.float32)), label).item())


def test_scalers():
    x = Tensor([1., 2.])
    s = amp.DynamicLossScaler(4, 2, 2)
    assert s.scale(x).tolist() == [4, 8] and s.unscale((x, [x]))[1][0].tolist() == [0.25, 0.5]
    seen = []
    for good in (True, True, False, True, True, True):
        assert s.adjust(Tensor(good)) is True
        seen.append((float(s.scale_value), int(s.counter)))
    assert seen == [(4, 1), (8, 0), (4, 0), (4, 1), (8, 0), (8, 1)]
    static = amp.StaticLossScaler(4)
    assert static.adjust(Tensor(True)) is False and static.scale(x).tolist() == [4, 8]
    assert bool(amp.all_finite((x, [x]))) and not bool(amp.all_finite((x, Tensor([np.inf], ms.float16))))
    with pytest.raises(ValueError):
        amp.DynamicLossScaler(0.5, 2, 2)


def step(scale):
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    opt = nn.Momentum(net.trainable_params(), 0.1, 0.0)
    return net, nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), opt, scale)


def test_train_step_with_loss_scale():
    x, y = Tensor([[1., 2.]]), Tensor([[1.]])
    net, train = step(nn.DynamicLossScaleUpdateCell(4.0, 2, 2))
    loss, overflow, scale = train(x, y)
    assert float(loss) == 4 and not bool(overflow) and float(scale) == 4
    np.testing.assert_allclose(net.weight.asnumpy(), [[1 - 0.4, 1 - 0.8]], rtol=1e-6)
    before = net.weight.asnumpy().copy()
    loss, overflow, scale = train(Tensor([[np.inf, 2.]]), y)
    assert bool(overflow) and (net.weight.asnumpy() == before).all()
    assert float(train.scale_sense) == 2
    _, fixed = step(Tensor(1024.0))
    fixed(x, y)
    fixed.set_sense_scale(Tensor(8.0))
    assert float(fixed(x, y)[2]) == 8
    with pytest.raises(TypeError):
        step(3)


def test_dynamic_update_cell():
    cell, scale, seen = nn.DynamicLossScaleUpdateCell(8, 2, 2), Parameter(Tensor(8.0), name="s"), []
    for bad in (False, False, True, False, False, True, True, True, True):
        cell(scale, Tensor(bad))
        seen.append(float(scale))
    assert seen == [8, 16, 8, 8, 16, 8, 4, 2, 1]


def test_build_train_network():
    for manager in (None, ms.train.FixedLossScaleManager(8.0), ms.train.DynamicLossScaleManager(8.0, 2, 100)):
        net = Net()
        options = {} if manager is None else {"loss_scale_manager": manager}
        train = amp.build_train_network(net, nn.Momentum(net.trainable_params(), 0.1, 0.9), nn.MSELoss(), level="O2", **options)
        before = net.fc.weight.asnumpy().copy()
        out = train(X, Tensor(np.zeros((2, 3), np.float32)))
        loss = out if manager is None else out[0]
        assert loss.dtype == ms.float32 and (net.fc.weight.asnumpy() != before).any()
        assert isinstance(train, nn.TrainOneStepWithLossScaleCell) == (manager is not None)


def test_clip_by_global_norm():
    a, b = Tensor([3., 0.]), Tensor([[4.]])
    x, y = ops.clip_by_global_norm((a, b), 1.0)
    np.testing.assert_allclose(x.asnumpy(), [0.6, 0], rtol=1e-6)
    np.testing.assert_allclose(y.asnumpy(), [[0.8]], rtol=1e-6)
    assert ops.clip_by_global_norm([a, b], 10.0)[1].tolist() == [[4]]
    with pytest.raises(ValueError):
        ops.clip_by_global_norm((a,), 0)
