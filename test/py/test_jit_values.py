"""Compiled functions that look at values: the graph goes up to there and on behind; nothing is ever baked in."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


def T(*v):
    return Tensor(np.array(v, np.float32))


def same(f, g, *inputs):
    for x in inputs:
        a, b = f(*x), g(*x)
        a, b = (a, b) if isinstance(a, tuple) else ((a,), (b,))
        assert [t.asnumpy().tolist() for t in a] == [t.asnumpy().tolist() for t in b]


def test_number_of_a_value():
    def f(x):
        y = x * 2
        s = float(y.sum())
        return y + s if s > 3 else y - s
    g = ms.jit(f)
    same(g, f, *[(T(v),) for v in (1, 1, 2, 3, 2, 1)])
    assert g.ms_jit.compile_count == 3 and g.ms_jit.break_count == 1


def test_many_values_end_in_python():
    def f(x):
        return x * int(x.sum())
    g = ms.jit(f)
    same(g, f, *[(T(v),) for v in range(20)])
    assert g.ms_jit.compile_count <= 8


def test_branches_of_different_structure():
    def f(x):
        if x.sum() > 0:
            return x + 1
        return x, x * 2
    g = ms.jit(f)
    same(g, f, *[(T(v),) for v in (1, -1, 2, -3)])
    assert g.ms_jit.compile_count == 2


def test_code_without_source():
    space = {}
    exec("def f(x):\n    n = 0\n    while x.sum() < 10:\n        x = x * 2\n        n += 1\n    return x * n\n", space)
    for mode in ("ast", "bytecode", "trace"):
        g = ms.jit(space["f"], capture_mode=mode)
        same(g, space["f"], *[(T(v),) for v in (1, 3, 1, 20)])
    h = ms.jit(eval("lambda x: x + 1 if x.sum() > 0 else x - 1"))
    assert h(T(1)).asnumpy() == 2 and h(T(-1)).asnumpy() == -2


def test_whole_graph_names_the_expression():
    @ms.jit(fullgraph=True)
    def f(x):
        y = x + 1
        return x * float(y)
    with pytest.raises(RuntimeError, match=r"test_jit_values.py:\d+: float\(y\)"):
        f(T(1))


def test_raise_on_the_path_that_is_taken():
    @ms.jit(fullgraph=True)
    def f(x):
        if x.sum() > 10:
            raise ValueError("too big")
        return x + 1
    assert f(T(1)).asnumpy() == 2
    with pytest.raises(ValueError, match="too big"):
        f(T(11))
    assert f(T(2)).asnumpy() == 3


def test_raise_in_the_other_branch():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            y = x * 2
        else:
            raise KeyError("negative")
        return y
    assert f(T(1)).asnumpy() == 2
    with pytest.raises(KeyError):
        f(T(-1))


@pytest.mark.parametrize("read", [float, lambda w: w.asnumpy().sum(), lambda w: w.item(), lambda w: 1 if w > 4 else 2, lambda w: len(range(int(w)))])
def test_values_of_outside_tensors_are_watched(read):
    w = T(3)

    @ms.jit
    def f(x):
        return x * float(read(w))
    assert f(T(1)).asnumpy() == float(read(w))
    w[0] = 5
    assert f(T(1)).asnumpy() == float(read(w))
    w.add_(4)
    assert f(T(1)).asnumpy() == float(read(w))


def test_tensors_that_say_sizes_are_watched():
    n = Tensor(2)

    @ms.jit
    def f(x):
        return x.reshape((n, -1)) + ops.ones((n, 2))
    assert f(T(1, 2, 3, 4)).shape == (2, 2)
    n.sub_(1)
    with pytest.raises(ValueError):
        f(T(1, 2, 3, 4))
    assert f(T(1, 2)).shape == (1, 2)


def test_arrays_are_watched():
    a = np.ones(2, np.float32)

    @ms.jit
    def f(x):
        return x + Tensor(a)
    assert f(T(1, 2)).asnumpy().tolist() == [2, 3]
    a[0] = 7
    assert f(T(1, 2)).asnumpy().tolist() == [8, 3]


def test_writes_before_and_behind_a_look():
    p, q = Parameter(T(1), name="p"), Parameter(T(1), name="q")

    def step(p):
        def f(x):
            p.add_(x)
            if float(p) > 2:
                p.mul_(10)
            return p + 0
        return f
    f, g = ms.jit(step(p)), step(q)
    for v in (1, 1, -300, 1, 1):
        assert f(T(v)).asnumpy() == g(T(v)).asnumpy()
        assert p.asnumpy() == q.asnumpy()


def test_random_numbers_before_a_look():
    def f(x):
        r = ops.rand(3)
        return (r + x, ops.rand(2)) if float(r[0]) > 0.5 else (r - x, ops.rand(2))
    g = ms.jit(f)
    for k in range(6):
        ms.set_seed(k)
        a = g(T(1)) + g(T(1))
        ms.set_seed(k)
        b = f(T(1)) + f(T(1))
        assert [t.asnumpy().tolist() for t in a] == [t.asnumpy().tolist() for t in b]


def test_prints_come_once(capsys):
    @ms.jit
    def f(x):
        print("before", x)
        if float(x) > 2:
            print("big")
        return x
    for v in (1, 3, 1, 3):
        f(T(v))
    assert capsys.readouterr().out == "before [1.]\nbefore [3.]\nbig\n" * 2


def test_gradients_of_functions_that_look():
    @ms.jit
    def f(x):
        y = x * x
        return y * 2 if float(y.sum()) > 5 else y
    assert ms.grad(f)(T(1)).asnumpy() == 2
    assert ms.grad(f)(T(3)).asnumpy() == 12
    assert ms.jit(ms.grad(f))(T(3)).asnumpy() == 12
    assert ms.jit(ms.grad(f))(T(1)).asnumpy() == 2


def test_looking_inside_a_gradient():
    def loss(x):
        y = x * x
        return (y * (3 if bool(y.sum() > 4) else 1)).sum()
    g = ms.jit(ms.grad(loss))
    for v in (1, 3, 1):
        assert g(T(v)).asnumpy() == ms.grad(loss)(T(v)).asnumpy()


def test_cells_that_look():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(T(2), name="w")

        @ms.jit
        def construct(self, x):
            y = self.w * x
            return [y, y + 1][int(y.sum()) % 2]
    net = Net()
    assert [net(T(v)).asnumpy().tolist() for v in (1, 2, 0.5, 1)] == [[2], [4], [2], [2]]
    net.w.set_data(T(3))
    assert [net(T(v)).asnumpy().tolist() for v in (1, 2)] == [[4], [6]]


def test_explanations():
    k = 1

    @ms.jit
    def f(x):
        return x + k
    assert f.explain() == "not compiled yet"
    f(T(1)), f(T(1, 2))
    k = 2
    f(T(1))
    assert "k" in f.explain().splitlines()[2] or "closure" in f.explain().splitlines()[2]
    assert f.ms_jit.compile_count == 3
