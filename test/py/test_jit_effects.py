"""Printing, asserting and raising in compiled functions: when the graph runs, in order, on the path that is taken."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops


def T(*v):
    return Tensor(np.array(v, np.float32))


def test_print_of_tensors(capsys):
    @ms.jit(fullgraph=True)
    def f(x):
        y = x * 2
        print("y", y, [y.sum(), 3])
        if y.sum() > 3:
            print("big")
        else:
            print("small", y)
        for i in range(2):
            print(i, x + i)
        return y + 1
    for v in (1., 5., 1.):
        f(T(v))
    small = "y [2.] [Tensor(shape=[], dtype=Float32, value= 2), 3]\nsmall [2.]\n0 [1.]\n1 [2.]\n"
    big = "y [10.] [Tensor(shape=[], dtype=Float32, value= 10), 3]\nbig\n0 [5.]\n1 [6.]\n"
    assert capsys.readouterr().out == small + big + small


def test_print_in_a_loop_that_a_tensor_decides(capsys):
    @ms.jit(fullgraph=True)
    def f(x):
        while x < 3:
            print("at", x)
            x = x + 1
        return x
    f(Tensor(1.))
    assert capsys.readouterr().out == "at 1.0\nat 2.0\n"


def test_print_primitive(capsys):
    @ms.jit(fullgraph=True)
    def f(x):
        ops.Print()("x", x)
        return x + 1
    f(T(1)), f(T(2))
    assert capsys.readouterr().out == "x\nTensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])\n" \
        "x\nTensor(shape=[1], dtype=Float32, value= [ 2.00000000e+00])\n"


def test_assert():
    @ms.jit(fullgraph=True)
    def f(x):
        assert x.sum() > 0, "must be positive"
        return x + 1
    assert f(T(1)).asnumpy().tolist() == [2]
    with pytest.raises(AssertionError, match="must be positive"):
        f(T(-1))
    assert f(T(1)).asnumpy().tolist() == [2]


def test_assert_primitive():
    @ms.jit(fullgraph=True)
    def f(x):
        ops.Assert()(x.sum() > 0, (x,))
        return x + 1
    assert f(T(1)).asnumpy().tolist() == [2]
    with pytest.raises(RuntimeError):
        f(T(-1))


def test_gradient_passes_by(capsys):
    @ms.jit
    def f(x):
        print("x", x)
        return x * x
    assert ms.grad(f)(T(3)).asnumpy().tolist() == [6]
    assert "x [3.]" in capsys.readouterr().out


def test_hooks_registered_after_compilation():
    w = ms.Parameter(T(2), name="w")

    @ms.jit
    def step(x):
        return ms.grad(lambda v: (v * w).sum(), 0, [w])(x)
    seen = []
    for k, hook in enumerate((None, lambda g: g * 10, lambda g: seen.append(g.shape))):
        handle = w.register_hook(hook) if hook else None
        for _ in range(2):
            assert step(T(3))[1][0].asnumpy().tolist() == [30 if k == 1 else 3]
        if handle:
            handle.remove()
    assert step(T(3))[1][0].asnumpy().tolist() == [3] and seen


def test_hooks_of_arguments():
    @ms.jit
    def step(x):
        return ms.grad(lambda v: (v * v).sum())(x)
    plain, hooked = T(3), T(3)
    assert step(plain).asnumpy().tolist() == [6]
    handle = hooked.register_hook(lambda g: g + 1)
    for _ in range(2):
        assert step(hooked).asnumpy().tolist() == [7] and step(plain).asnumpy().tolist() == [6]
    handle.remove()
    assert step(hooked).asnumpy().tolist() == [6]


def test_arguments_that_share_memory():
    def f(a, b, c):
        c[0] = 9.0
        return a * 1 + b.sum(), a is c, b is c
    compiled = ms.jit(f)
    for make in (lambda x: (x, x, x), lambda x: (x, x + 0, x + 0), lambda x: (x, x[1:], x + 0), lambda x: (x, x[:1], x[1:]),
                 lambda x: (x, x + 1, x[1:])) * 2:
        for n in (3, 4, 5):
            x, y = T(*range(n)), T(*range(n))
            assert str(f(*make(x))) == str(compiled(*make(y))) and str(x) == str(y)
    same = ms.jit(lambda a, items: (a in items, items[0] is a, items[1] * a))
    x = T(1, 2)
    assert same(x, [x, x + 1])[:2] == (True, True)


def test_a_print_on_a_path_that_a_tensor_decides_is_not_repeated(capsys):
    """The value that is looked at next needs that path, so the graph so far would print before it is known to be right."""
    def f(x):
        if x.sum() > 0:
            for y in (x, x + 1, x):
                print("turn")
                if y[0] < 2:
                    return x, x
        return x
    compiled = ms.jit(f)
    for v in (1., -1., 3., -1., 2.):
        f(T(v))
        want = capsys.readouterr().out
        compiled(T(v))
        assert capsys.readouterr().out == want


def branch(x):
    if x.sum() < 0:
        x = x * 2
    x[0] = 7.
    return x


def loop(x):
    while x.sum() < 0:
        x = x + 5
    x[0] = 9.
    return x


def loop_that_writes(x):
    while x.sum() < 10:
        x[0] = 4.
        x = x + 3
    return x


def returned(x):
    def pick(z):
        if z.sum() > 0:
            return z
        return z - 1
    y = pick(x)
    y[0] = 7.
    return y


def local(x):
    z = x * 1
    y = z if x.sum() > 0 else x * 3
    y[0] = 2.
    return y, z


def read_later(x):
    z = x * 1
    y = z if x.sum() > 0 else x * 3
    z[0] = 2.
    return y


def nested_branch(x):
    y = x + 1
    if x.sum() > 0:
        z = y
        if x[0] > 1:
            z = y * 2
        z[0] = 5.
    return y


@pytest.mark.parametrize("f", (branch, loop, loop_that_writes, returned, local, read_later, nested_branch))
def test_writes_through_what_is_another_tensor_on_one_path(f):
    compiled = ms.jit(f)
    for v in ((1., 2.), (-1., -2.), (2., 2.), (1., 2.)):
        ours, want = T(*v), T(*v)
        for a, b in zip(compiled(ours), f(want)):
            assert a.asnumpy().tolist() == b.asnumpy().tolist()
        assert ours.asnumpy().tolist() == want.asnumpy().tolist()
    with pytest.raises(RuntimeError, match=r"test_jit_effects.py:\d+: a tensor that is another one"):
        ms.jit(f, fullgraph=True)(T(1., 2.))


@pytest.mark.parametrize("through", (True, False))
def test_a_write_to_what_is_a_parameter_on_one_path(through):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(T(1., 2.), name="w")

        def construct(self, x):
            out = self.w if x.sum() > 0 else self.w * 2
            if through:
                out[0] = 7.
            else:
                ms.ops.assign_add(self.w, x)
            return out * x
    plain, compiled = Net(), Net()
    run = ms.jit(compiled)
    for v in ((-1., -1.), (1., 1.), (2., -3.)):
        assert run(T(*v)).asnumpy().tolist() == plain(T(*v)).asnumpy().tolist()
        assert compiled.w.asnumpy().tolist() == plain.w.asnumpy().tolist()


def test_writes_to_what_only_one_variable_holds():
    @ms.jit(fullgraph=True)
    def f(x):
        y = x * 1
        if x.sum() < 0:
            y = y * 2
        y[0] = 7.
        while y.sum() < 10:
            y[1] = 1.
            y = y + 1
        return y
    assert f(T(-1., 1.)).asnumpy().tolist() == [8, 2] and f(T(1., 4.)).asnumpy().tolist() == [7, 4]
