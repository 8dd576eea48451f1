"""Gradients written by the caller: Cells with bprop, hooks of tensors and Cells, in PyNative mode, under jit and nested."""
import gc

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import operations as P

X, Y = np.array([1., 2., 3.], np.float32), np.array([4., 5., 6.], np.float32)
MODES = pytest.mark.parametrize('wrap', [lambda f: f, ms.jit], ids=['eager', 'jit'])


def same(got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    else:
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


class Wrong(nn.Cell):
    """x * y with a gradient that is not the derivative."""

    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return 2 * dout, out + y


@MODES
def test_bprop(wrap):
    net = Wrong()
    run = wrap(lambda x, y: ms.grad(net, (0, 1))(x, y))
    same(run(Tensor(X), Tensor(Y)), (2 * np.ones(3), X * Y + Y))
    same(wrap(net)(Tensor(X), Tensor(Y)), X * Y)


@MODES
def test_bprop_inside(wrap):
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Wrong()
            self.w = Parameter(Tensor(Y), name='w')

        def construct(self, x):
            return (self.inner(x * x, self.w) * 3).sum()
    net = Outer()
    run = wrap(lambda x: ms.grad(net, 0, net.trainable_params())(x))
    dx, (dw,) = run(Tensor(X))
    same((dx, dw), (6 * 2 * X, X * X * Y + Y))


@MODES
def test_bprop_is_differentiated_again(wrap):
    class Square(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (x * x * x * dout,)
    run = wrap(lambda x: ms.grad(lambda a: ms.grad(Square())(a).sum())(x))
    same(run(Tensor(X)), 3 * X * X)


@MODES
def test_bprop_with_containers_and_numbers(wrap):
    class Net(nn.Cell):
        def construct(self, pair, k):
            return pair[0] * k, pair[1] + 1

        def bprop(self, pair, k, out, dout):
            return (dout[0] * 10 * k, None), 0
    def total(p, q):
        a, b = Net()((p, q), 2)
        return a.sum() + b.sum()
    run = wrap(lambda a, b: ms.grad(total, (0, 1))(a, b))
    same(run(Tensor(X), Tensor(Y)), (20 * np.ones(3), np.zeros(3)))


def test_bprop_of_jitted_cell():
    class Net(Wrong):
        @ms.jit
        def construct(self, x, y):
            return x * y
    same(ms.grad(Net(), (0, 1))(Tensor(X), Tensor(Y)), (2 * np.ones(3), X * Y + Y))


def test_bprop_errors():
    class Few(Wrong):
        def bprop(self, x, y, out, dout):
            return (dout,)

    class Text(Wrong):
        def bprop(self, x, y, out, dout):
            return dout, 'text'

    class Shape(Wrong):
        def bprop(self, x, y, out, dout):
            return dout, Tensor(np.ones(2, np.float32))

    class Raises(Wrong):
        def bprop(self, x, y, out, dout):
            raise KeyError('mine')
    for net, error in ((Few(), TypeError), (Text(), TypeError), (Shape(), RuntimeError), (Raises(), KeyError)):
        with pytest.raises(error):
            ms.grad(net, (0, 1))(Tensor(X), Tensor(Y))
    same(ms.grad(Wrong(), (0, 1))(Tensor(X), Tensor(Y)), (2 * np.ones(3), X * Y + Y))


@MODES
def test_tensor_hooks(wrap):
    def f(x, y):
        z = x * y
        handle = z.register_hook(lambda g: g * 10)
        w = z * z
        gone = w.register_hook(lambda g: g * 1000)
        gone.remove()
        assert handle is not None
        return w.sum()
    same(wrap(lambda x, y: ms.grad(f, (0, 1))(x, y))(Tensor(X), Tensor(Y)), (20 * X * Y * Y, 20 * X * X * Y))


def test_hooks_of_leaves():
    seen = []
    x, w = Tensor(X), Parameter(Tensor(Y), name='w')
    handle = x.register_hook(lambda g: g * 2)
    w.register_hook(lambda g: seen.append(g.asnumpy()))
    grad = ms.grad(lambda a: (a * w).sum(), 0, [w])
    same(grad(x), (2 * Y, (X,)))
    np.testing.assert_array_equal(seen[0], X)
    handle.remove()
    same(grad(x)[0], Y)
    with pytest.raises(TypeError, match='hook_fn'):
        x.register_hook(3)
    from mindspore.common import hooks
    before = len(hooks._tables)
    del x, handle
    gc.collect()
    assert len(hooks._tables) == before - 1


def test_cell_hook_without_gradient_of_inputs():
    """The first layer of a network in training."""
    net, seen = nn.Dense(3, 2), []
    net.register_backward_hook(lambda cell, gin, gout: seen.append((gin, gout[0].asnumpy().tolist())))
    ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(Tensor(np.ones((1, 3), np.float32)))
    assert seen == [((None,), [[1, 1]])]
    net(Tensor(np.ones((1, 3), np.float32)))
    assert len(seen) == 1


@MODES
def test_cell_hooks(wrap):
    class Mul(nn.Cell):
        def construct(self, x, y):
            return x * y
    net, seen = Mul(), []
    one = net.register_backward_pre_hook(lambda cell, grads: (grads[0] * 2,))
    two = net.register_backward_hook(lambda cell, gin, gout: (seen.append((len(gin), len(gout))), (gin[0], gin[1] + 1))[1])
    run = wrap(lambda x, y: ms.grad(lambda a, b: net(a, b).sum(), (0, 1))(x, y))
    same(run(Tensor(X), Tensor(Y)), (2 * Y, 2 * X + 1))
    assert seen == [(2, 1)]
    one.remove()
    two.remove()
    same(ms.grad(lambda a, b: net(a, b).sum(), (0, 1))(Tensor(X), Tensor(Y)), (Y, X))


def test_primitives_with_gradients():
    seen = []
    hook = P.HookBackward(seen.append)
    same(ms.grad(lambda x: (hook(x * x) * 3).sum())(Tensor(X)), 6 * X)
    np.testing.assert_array_equal(seen[0][0].asnumpy(), [3, 3, 3])
    clip = P.InsertGradientOf(lambda g: ops.clamp(g, -1, 1))
    same(ms.grad(lambda x: (clip(x) * Tensor(Y)).sum())(Tensor(X)), np.ones(3))


def test_vmap_and_memory():
    net = Wrong()
    batch = Tensor(np.stack([X, Y]))
    same(ms.vmap(ms.grad(lambda x, y: net(x, y).sum()), (0, None))(batch, Tensor(Y)), 2 * np.ones((2, 3)))
    same(ms.grad(lambda b: ms.vmap(net, (0, None))(b, Tensor(Y)).sum())(batch), 2 * np.ones((2, 3)))
    grad = ms.grad(lambda x: net(x, x).sum())
    grad(Tensor(X))
    gc.collect()
    before = ms.runtime.memory_allocated()
    for _ in range(50):
        grad(Tensor(X))
    gc.collect()
    assert ms.runtime.memory_allocated() == before
