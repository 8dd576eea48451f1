"""Numbers of Python that a tensor decides are numbers in what a compiled function returns, as they are without it."""
import pytest

import mindspore as ms
from mindspore import Tensor

def counted(x):
    n, half, t = 0, 1.0, (0, 1.0)
    while x.sum() < 10:
        n += 1
        m = n
        m += 1
        half *= 0.5
        t = (t[0] + 2, t[1] - 1)
        x = x + 1
    return {"n": n, "half": half, "t": t, "x": x}


def chosen(x):
    n, flag = 2, False
    if x.sum() > 2:
        n, flag = 5, True
    y = x.astype(ms.int32)
    return [n, n + 1, 7 // n, -n, n / 4, n > 3, n == 2.0, flag, not flag], [y * n, n - y, y > n, x * n, x * flag]


def asked(x):
    n, s = 0, 0.0
    if x.sum() > 2:
        n, s = 2, 3.5
    return isinstance(n, int), isinstance(n, Tensor), isinstance(s, (str, float)), not x.sum() > 2, x[0] in [1., 3.]


def indexed(x):
    n = 1
    if x.sum() > 2:
        n = 3
    for i in range(n):
        x = x + i
    return x, [1, 2, 3, 4][n], f"{n} of {n + 1}", x[n - 1 - n]


def summed(x):
    total = 0
    for i in range(x.sum().astype(ms.int64)):
        total = total + i
    return total, x * total


def changed(x):
    n = 0
    while x.sum() < 10:
        n = n + x[0]
        x = x + 1
    return n, x


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return (value.dtype, value.asnumpy().tolist()) if isinstance(value, Tensor) else (type(value), value)


@pytest.mark.parametrize("mode", ("ast", "bytecode"))
@pytest.mark.parametrize("f", (counted, chosen, asked, indexed, summed, changed))
def test_numbers_stay_numbers(f, mode):
    compiled = ms.jit(f, capture_mode=mode)
    for v in ([1., 2.], [0., 0.5], [3., 4.]):
        assert plain(compiled(Tensor(v))) == plain(f(Tensor(v)))


def test_a_number_in_a_dict_of_the_caller():
    @ms.jit
    def f(x, box):
        if x.sum() > 0:
            box["n"] = box["n"] + 1
        return x
    box = {"n": 1}
    f(Tensor(1.), box)
    assert box == {"n": 2} and type(box["n"]) is int


def test_a_number_inside_vmap_has_many_values():
    @ms.jit
    def f(x):
        n = 1
        if x.sum() > 2:
            n = 2
        return x * n, n
    y, n = ms.vmap(f)(Tensor([[1., 2.], [0., 1.]]))
    assert y.asnumpy().tolist() == [[2, 4], [0, 1]] and n.asnumpy().tolist() == [2, 1]
