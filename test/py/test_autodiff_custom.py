"""Gradients that users define: bprop, _Function, hooks, recomputation; eager, compiled and nested."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

F32 = np.float32


def T(*v):
    return Tensor(np.array(v, F32))


class TwiceGrad(nn.Cell):
    """x * x with the gradient 5 x."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (5 * x * dout,)


@pytest.mark.parametrize("jit", [False, True])
def test_bprop_is_used(jit):
    net = TwiceGrad()
    f = ms.grad(lambda x: (net(x) * 2).sum())
    f = ms.jit(f) if jit else f
    assert f(T(1, 2)).asnumpy().tolist() == [10, 20]
    assert net(T(3)).asnumpy().tolist() == [9]


def test_bprop_of_a_jitted_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = TwiceGrad()

        @ms.jit
        def construct(self, x):
            return self.inner(x) + 1
    assert ms.grad(Net())(T(1, 2)).asnumpy().tolist() == [5, 10]
    assert ms.grad(ms.grad(Net()))(T(1, 2)).asnumpy().tolist() == [5, 5]


def test_bprop_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert ms.grad(TwiceGrad())(T(1, 2)).asnumpy().tolist() == [5, 10]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_bprop_under_every_transformation():
    net = TwiceGrad()
    x = T(1, 2, 3)
    assert ms.vmap(ms.grad(net))(x).asnumpy().tolist() == [5, 10, 15]
    assert ms.grad(lambda x: ms.vmap(net)(x).sum())(x).asnumpy().tolist() == [5, 10, 15]
    assert ops.jvp(net, x, T(1, 1, 1))[1].asnumpy().tolist() == [5, 10, 15]
    assert ms.jacrev(net)(x).asnumpy().tolist() == np.diag([5, 10, 15]).tolist()
    assert ms.jacfwd(net)(x).asnumpy().tolist() == np.diag([5, 10, 15]).tolist()


def test_bprop_with_several_inputs_and_outputs():
    class Net(nn.Cell):
        def construct(self, x, k, y):
            return x * y, x + k

        def bprop(self, x, k, y, out, dout):
            return dout[0] * 10, 0, dout[1] * 100
    gx, gy = ms.grad(Net(), (0, 2))(T(1), 3, T(2))
    assert (gx.asnumpy().tolist(), gy.asnumpy().tolist()) == ([10], [100])


def test_wrong_number_of_gradients_is_an_error():
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return (dout,)
    with pytest.raises(TypeError, match="which is: 2, but got: 1"):
        ms.grad(Net())(T(1), T(2))


def test_exception_of_a_rule_arrives_as_it_is():
    class Net(nn.Cell):
        def construct(self, x):
            return x

        def bprop(self, x, out, dout):
            raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        ms.grad(Net())(T(1))
    with pytest.raises(KeyError, match="mine"):
        ms.jit(ms.grad(Net()))(T(1))
    assert (T(1) + 1).asnumpy().tolist() == [2]


def test_function_class():
    class Square(ms._Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x * x * k

        @staticmethod
        def backward(ctx, dy):
            x, = ctx.saved_tensors
            return 7 * x * ctx.k * dy, None
    assert Square.apply(T(3), 2).asnumpy().tolist() == [18]
    assert ms.grad(lambda x: Square.apply(x, 2))(T(3)).asnumpy().tolist() == [42]
    assert ms.jit(ms.grad(lambda x: Square.apply(x, 2)))(T(3)).asnumpy().tolist() == [42]


def test_no_grad():
    def f(x):
        with ms._no_grad():
            k = x * x
        return k * x
    assert ms.grad(f)(T(3)).asnumpy().tolist() == [9]
    assert ms.jit(ms.grad(f))(T(3)).asnumpy().tolist() == [9]


@pytest.mark.parametrize("jit", [False, True])
def test_insert_gradient_and_hook_backward(jit):
    clip = ops.InsertGradientOf(lambda d: ops.clip_by_value(d, T(-1)[0], T(1)[0]))
    double = ops.HookBackward(lambda g: (g[0] * 2,))

    def f(x):
        return (clip(x) * 9 + double(x) * 3).sum()
    g = ms.jit(ms.grad(f)) if jit else ms.grad(f)
    assert g(T(1, 2)).asnumpy().tolist() == [7, 7]
    assert f(T(1)).asnumpy() == 12


def test_tensor_hooks():
    seen = []

    def f(x):
        y = x * 2
        h1 = y.register_hook(lambda g: seen.append(g.asnumpy().tolist()))
        h2 = y.register_hook(lambda g: g * 10)
        y.register_hook(lambda g: g + 1)
        if remove:
            h2.remove()
        return (y * 3).sum()
    remove = False
    assert ms.grad(f)(T(1, 2)).asnumpy().tolist() == [62, 62]
    remove = True
    assert ms.grad(f)(T(1, 2)).asnumpy().tolist() == [8, 8]
    assert seen == [[3, 3]] * 2


def test_hooks_of_parameters_and_inputs():
    p, x = Parameter(T(1, 2), name="p"), T(3, 4)
    hp, hx = p.register_hook(lambda g: g * 2), x.register_hook(lambda g: g + 1)
    f = ms.grad(lambda x: (x * p).sum(), 0, [p])
    gx, (gp,) = f(x)
    assert (gx.asnumpy().tolist(), gp.asnumpy().tolist()) == ([2, 3], [6, 8])
    hp.remove(), hx.remove()
    gx, (gp,) = f(x)
    assert (gx.asnumpy().tolist(), gp.asnumpy().tolist()) == ([1, 2], [3, 4])


class Mul(nn.Cell):
    def construct(self, x):
        return x * 2


def test_cell_hooks():
    log = []
    net = Mul()
    pre = net.register_backward_pre_hook(lambda cell, g: (g[0] * 10,))
    post = net.register_backward_hook(lambda cell, gi, go: log.append((gi[0].asnumpy().tolist(), go[0].asnumpy().tolist())))
    change = net.register_backward_hook(lambda cell, gi, go: (gi[0] + 1,))
    f = ms.grad(lambda x: net(x).sum())
    assert f(T(1, 2)).asnumpy().tolist() == [21, 21]
    assert log == [([20, 20], [10, 10])]
    change.remove()
    assert f(T(1, 2)).asnumpy().tolist() == [20, 20]
    pre.remove(), post.remove()
    assert f(T(1, 2)).asnumpy().tolist() == [2, 2]
    assert len(log) == 2


class Block(nn.Cell):
    def __init__(self, n=16):
        super().__init__()
        self.a, self.b, self.drop = nn.Dense(n, n), nn.Dense(n, n), nn.Dropout(p=0.5)

    def construct(self, x):
        return x + ops.tanh(self.b(self.drop(ops.relu(self.a(x)))))


class Stack(nn.Cell):
    def __init__(self, recompute, depth=3, n=16):
        super().__init__()
        self.blocks = nn.CellList([Block(n) for _ in range(depth)])
        if recompute:
            for b in self.blocks:
                b.recompute()

    def construct(self, x):
        for b in self.blocks:
            x = b(x)
        return (x * x).sum()


@pytest.mark.parametrize("mode", ["eager", "jit"])
def test_recompute_gives_the_same_gradients(mode):
    a, b = Stack(False), Stack(True)
    for p, q in zip(a.get_parameters(), b.get_parameters()):
        q.set_data(p.value())
    a.set_train(), b.set_train()
    x = Tensor(np.random.RandomState(0).randn(4, 16).astype(F32))
    results = []
    for net in (a, b):
        ms.set_seed(3)
        f = ms.value_and_grad(net, 0, net.trainable_params())
        f = ms.jit(f) if mode == "jit" else f
        value, (gx, gw) = f(x)
        results.append([value, gx, *gw, ops.rand(3)])
    for u, v in zip(*results):
        np.testing.assert_allclose(u.asnumpy(), v.asnumpy(), rtol=2e-5, atol=2e-5)


def test_recompute_of_weights_alone():
    net = nn.Dense(3, 2)
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    grads = [ms.grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params())(x)]
    net.recompute()
    grads.append(ms.grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params())(x))
    for a, b in zip(*grads):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    assert (grads[0][0].asnumpy() != 0).all()


def test_a_recomputed_cell_in_graph_mode_draws_the_same_numbers_again():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(p=0.5)

        def construct(self, x):
            return self.drop(x) * x
    net, x = Net(), Tensor(np.ones(64, F32))
    net.set_train()
    net.recompute()
    results = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(3)
        try:
            results += [ms.value_and_grad(lambda x: net(x).sum())(x), (net(x), ms.grad(lambda x: net(x).sum())(x))]
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    for a, b in zip(results[:2], results[2:]):
        for u, v in zip(a, b):
            np.testing.assert_array_equal(u.asnumpy(), v.asnumpy())
    assert set(results[2][1].asnumpy()) == {0, 4}


def test_what_a_function_with_its_own_gradient_saves_in_a_graph():
    class Cube(ms._Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x)
            ctx.square = y
            return y * x

        @staticmethod
        def backward(ctx, dy):
            return ctx.square * 3 * dy + ctx.saved_tensors[0] * 0

    class Net(nn.Cell):
        def construct(self, x):
            return Cube.apply(x) * 2
    net, f = Net(), ms.grad(lambda x: net(x).sum())
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            assert f(T(1, 2, 3)).asnumpy().tolist() == [6, 24, 54]
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)


def test_recompute_function():
    block = Block()
    x = Tensor(np.random.RandomState(0).randn(4, 16).astype(F32))
    f, g = ms.grad(lambda x: block(x).sum()), ms.grad(lambda x: ms.recompute(block, x).sum())
    np.testing.assert_allclose(f(x).asnumpy(), g(x).asnumpy(), rtol=1e-5)
    with pytest.raises(TypeError, match="Cell"):
        ms.recompute(lambda x: x, x)


def test_gradients_through_views_and_writes():
    def f(x):
        y = x * 1
        v = y[1:]
        v.mul_(3)
        y[0] = y[2] * 2
        return (y * y).sum()

    def g(x):
        return (2 * 3 * x[2]) ** 2 + (3 * x[1]) ** 2 + (3 * x[2]) ** 2
    x = T(1, 2, 3)
    want = ms.grad(g)(x).asnumpy().tolist()
    assert ms.grad(f)(x).asnumpy().tolist() == want
    assert ms.jit(ms.grad(f))(x).asnumpy().tolist() == want


@pytest.mark.parametrize("jit", [False, True])
def test_recompute_saves_memory(jit):
    from mindspore import _c
    x = Tensor(np.ones((1024, 64), F32))

    def peak(recompute):
        net = Stack(recompute, 12, 64)
        f = ms.value_and_grad(net, 0, net.trainable_params())
        f = ms.jit(f) if jit else f
        f(x)
        del_before = _c.memory_stats()["allocated"] if not jit else 0
        _c.memory_reset_peak()
        f(x)
        return _c.memory_stats()["peak"] - del_before
    kept = peak(False)
    assert peak(True) < 0.65 * kept
