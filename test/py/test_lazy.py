"""Fusion of eager chains: every value is the one without it, to the bit, whoever looks at it and whatever happens in between."""
import gc
import csv
import os
import threading
from collections import Counter

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _c, nn, ops
from mindspore.common.initializer import initializer


@pytest.fixture(autouse=True)
def fused():
    was = _c.lazy(1)
    yield
    _c.lazy(was)


def data(shape, seed=0, dtype=ms.float32):
    x = np.random.default_rng(seed).standard_normal(shape)
    return ops.mul(Tensor(x.astype(np.float32)), 1.0).astype(dtype)


def arrays(out):
    return [np.array(t.asnumpy()) for t in (out if isinstance(out, (tuple, list)) else [out])]


def same(f, *shapes, dtype=ms.float32):
    """f's arrays without and with fusion, on fresh inputs."""
    results = []
    for least in (0, 1):
        _c.lazy(least)
        results.append(arrays(f(*[data(s, k, dtype) for k, s in enumerate(shapes)])))
    for a, b in zip(*results, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return results[1]


def kernels(f, path):
    """Runs f(); how often each operator's kernel ran."""
    p = ms.Profiler(output_path=str(path))
    f()
    p.analyse()
    ran = Counter()
    with next(path.rglob('operator_statistic.csv')).open() as file:
        for r in csv.DictReader(file):
            ran[r['Operator']] += int(r['Calls'])
    return ran


def chain(x, y):
    for _ in range(3):
        x = ops.relu(x * 0.5 + y) - ops.tanh(x)
    return ops.where(x > 0, x, y * x)


@pytest.mark.parametrize('dtype', [ms.float32, ms.float16, ms.bfloat16, ms.float64])
def test_chain(dtype):
    same(chain, (5, 7), (5, 7), dtype=dtype)
    same(chain, (5, 7), (7,), dtype=dtype)
    same(lambda x, y: chain(x.T, y).astype(ms.int32) // 2 + 1, (5, 7), (7, 5), dtype=dtype)


def test_one_program(tmp_path):
    x, y = data((64, 64)), data((64, 64), 1)
    ran = kernels(lambda: chain(x, y).asnumpy(), tmp_path)
    assert ran['fused'] == 1 and 'relu' not in ran and 'tanh' not in ran


@pytest.mark.skipif('MS_DEV_PYNATIVE_FUSION_FLAGS' in os.environ, reason='the environment sets the size')
def test_switch(tmp_path):
    x = data((64, 64))
    x.asnumpy()
    try:
        ms.set_context(enable_graph_kernel=False)
        assert 'fused' not in kernels(lambda: (ops.exp(x) + 1).asnumpy(), tmp_path / 'off')
        ms.set_context(enable_graph_kernel=True)
        assert 'fused' not in kernels(lambda: (ops.exp(x) + 1).asnumpy(), tmp_path / 'small')
        big = data((256, 256))
        assert _c.lazy(0) == 16384 and _c.lazy(16384) == 0
        assert 'fused' in kernels(lambda: (ops.exp(big) + 1).asnumpy(), tmp_path / 'on')
    finally:
        ms.set_context(enable_graph_kernel=True)


def test_the_middle_is_asked_for_later():
    def f(x, y):
        a = x * y
        b = a + 1
        c = ops.exp(b)
        d = c - a
        return d, b, c, a, b + a
    same(f, (4, 6), (4, 6))


def test_writes_to_operands():
    def f(x, y):
        z = x + y
        w = z * 2
        x += 1  # z and w were called before
        y[1:3] = 7
        u = x * y
        z -= u
        ops.assign(y, z)
        return x, y, z, w, u
    same(f, (4, 6), (4, 6))


def test_writes_through_buffers():
    def f(x, y):
        seen = y.asnumpy()
        z = x * y
        seen[:] = 3
        t = x + y
        x.asnumpy()[0] = 9
        return z, t, x - y
    same(f, (4, 6), (4, 6))


def test_views():
    def f(x, y):
        z = x * y + 1
        top, turned, flat = z[1:], z.T, z.reshape(-1)
        w = turned.reshape(4, 6) * 2 + 1
        top += 5
        z[0] = 2
        return z, top, turned, flat, w
    same(f, (4, 6), (4, 6))


def test_errors_are_raised_at_the_call():
    x, y = data((4, 6)), data((5,))
    z = x + 1
    with pytest.raises(ValueError):
        z + y
    with pytest.raises(ZeroDivisionError):
        ops.ones((4,), ms.int32) // (ops.ones((4,), ms.int32) - 1)
    with pytest.raises(TypeError):
        ops.sigmoid(ops.ones((4,), ms.int32) + 1)
    assert z.asnumpy().tobytes() == (x.asnumpy() + np.float32(1)).tobytes()


def test_refused_memory_leaves_the_value_pending():
    x = data((512, 512))
    want = np.exp(x.asnumpy() * 0) * 2 + x.asnumpy() * 0
    z = ops.exp(x * 0) * 2 + x * 0
    _c.memory_fail_after(1, True)
    try:
        with pytest.raises((MemoryError, RuntimeError)):
            z.sum().asnumpy()
    finally:
        _c.memory_fail_after(0)
    np.testing.assert_array_equal(z.asnumpy(), want)


def loss(x, y):
    return (chain(x, y) * ops.sigmoid(y)).sum()


def test_gradients():
    same(ms.grad(loss, (0, 1)), (5, 7), (5, 7))
    same(ms.grad(lambda x, y: ms.grad(loss)(x, y).sum(), (0, 1)), (5, 7), (5, 7))
    same(lambda x, y: ms.jvp(chain, (x, y), (y, x)), (5, 7), (5, 7))
    same(ms.vmap(chain), (3, 5, 7), (3, 5, 7))
    same(ms.vmap(ms.grad(loss, (0, 1))), (3, 5, 7), (3, 5, 7))


def test_a_write_inside_a_gradient():
    w = ms.Parameter(initializer('ones', [5, 7]))

    def f(x, y):
        z = x * w
        ops.assign(w, z + y)
        return (z * w).sum()

    def run(x, y):
        w.set_data(ops.ones((5, 7), ms.float32))
        return *ms.grad(f, (0, 1))(x, y), w
    same(run, (5, 7), (5, 7))


def test_graphs_take_and_write_pending_values():
    state = ms.Parameter(initializer('zeros', [5, 7]))

    @ms.jit
    def graph(x):
        state.set_data(state + x)
        return x * 2

    def run(x, y):
        state.set_data(x * y)
        before = state * 2 + 1
        z = graph(x - y)
        return before, z, state + z
    for _ in range(2):
        same(run, (5, 7), (5, 7))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 32, 3, pad_mode='same')
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm2d(32), nn.BatchNorm2d(32), nn.BatchNorm2d(32)
        self.conv2, self.conv3 = nn.Conv2d(32, 32, 3, pad_mode='same'), nn.Conv2d(32, 32, 1)

    def construct(self, x):
        x = self.conv(x)
        y = ops.relu(self.bn1(x))
        y = self.bn2(self.conv2(y))
        y = ops.relu(y + self.bn3(x))
        return ops.relu(self.conv3(y) + y)


def test_the_mask_of_a_normalisation_is_its_relu():
    """What was written into the ReLU's result, or into the statistics' input, counts."""
    def f(x, y):
        bn = nn.BatchNorm2d(32).set_train()
        conv = nn.Conv2d(32, 32, 1, weight_init='ones')

        def g(a):
            z = ops.relu(bn(conv(a)))
            kept = z * 2
            z[1] = -1
            return (z * y).sum() + (kept * y).sum()
        return ms.grad(g)(x), ms.grad(lambda a: (ops.relu(bn(conv(a))) * y).sum())(x)
    same(f, (4, 32, 5, 6), (4, 32, 5, 6))


def train(x):
    ms.set_seed(3)
    net = Net().set_train()
    opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    fn = ms.value_and_grad(lambda a: (net(a) ** 2).mean(), None, opt.parameters)
    losses = []
    for _ in range(3):
        value, grads = fn(x)
        opt(grads)
        losses.append(value)
    net.set_train(False)
    return *losses, *net.get_parameters(), net(x)


def test_training_with_normalisation():
    same(train, (4, 32, 9, 8))


def test_normalisation_joins(tmp_path):
    x = data((4, 32, 16, 16))
    ran = kernels(lambda: train(x), tmp_path)
    assert ran['batch_norm'] == ran['relu_grad'] == 0
    assert ran['batch_norm_act_grad'] == ran['batch_norm_sum_grad'] == 3


def test_threads():
    x, failed = data((128, 128)), []
    def values(shared, k, i):
        return (shared * k + i) - x, shared + 1

    _c.lazy(0)
    want = {(k, i): arrays(values(ops.exp(x * 0.25) + x, k, i)) for k in range(6) for i in range(5)}
    _c.lazy(1)
    shared = [ops.exp(x * 0.25) + x for _ in range(5)]

    def work(k):
        try:
            for i in range(5):
                for a, b in zip(arrays(values(shared[i], k, i)), want[k, i], strict=True):
                    np.testing.assert_array_equal(a, b)
        except Exception as e:  # noqa: BLE001
            failed.append(e)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_memory_is_bounded():
    size = 1 << 20  # 4 MiB each
    def peak(least):
        _c.lazy(least)
        kept, total = [], ops.zeros((size,), ms.float32)
        _c.memory_reset_peak()
        for k in range(60):
            a, b = ops.full((size,), k, dtype=ms.float32), ops.full((size,), 1.0, dtype=ms.float32)
            total = total + a * b
            kept.append(a * b + k)
            del a, b
        total.asnumpy()
        return _c.memory_stats()['peak']
    assert peak(1) < peak(0) + 300 * (1 << 20)


def test_nothing_is_left():
    for _ in range(2):
        x = data((64, 64))
        loss(x, x).asnumpy()
        ms.grad(loss)(x, x).asnumpy()
        del x
    gc.collect()
    before = _c.memory_stats()['n_live']
    for _ in range(5):
        x = data((64, 64))
        keep = ops.exp(x * 2) + 1
        ms.grad(loss)(x, keep)
        del x, keep
    assert _c.memory_stats()['n_live'] == before
