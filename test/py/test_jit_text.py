"""Texts with tensors of a compiled function in them."""
import logging

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn


def T(*v):
    return Tensor(np.array(v, np.float32))


def printed(capsys, fn, *calls, **options):
    """What fn prints is what its compiled form prints, at every call; one compilation per shape."""
    def out(f):
        for args in calls:
            f(*args)
        return capsys.readouterr().out
    compiled = ms.jit(fn, **options)
    assert out(fn) == out(compiled)
    assert compiled.ms_jit.compile_count == len({a[0].shape for a in calls})


def fstring(x):
    print(f"x is {x}, its sum {x.sum()!r:>60} of {x.shape[0]:03d} {'' if x.ndim else 'no'} rows", end="|\n")
    return x


def formatted(x):
    print("{} and {b}".format(x, b=x + 1), "%s" % x, "%s %d" % (x * 2, 3), str(x), "a" + str(x) + "b", repr(x))
    text = "{0}"
    print(text.format(x), ", ".join([str(x), "y"]), [f"{x}"], {"k": x})
    return x


def in_branch(x):
    y = x * 2
    if y.sum() > 4:
        print(f"large {y}")
    for k in range(2):
        print(f"{k}: {x + k}")
    return y


@pytest.mark.parametrize("fn", [fstring, formatted, in_branch], ids=lambda f: f.__name__)
def test_print_at_run_time(fn, capsys):
    printed(capsys, fn, (T(1, 2),), (T(3, 4),), (T(3, 4),), fullgraph=True)


def test_print_for_other_sizes(capsys):
    printed(capsys, lambda x: (print(f"{x} {x.shape}"), x)[1], (T(1, 2),), (T(3, 4, 5),), (T(1, 2, 3, 4),), (T(5, 6),))
    compiled = ms.jit(lambda x: (print(f"{x}"), x + 1)[1])
    for n in range(1, 5):
        compiled(T(*range(n)))
        assert capsys.readouterr().out == f"{T(*range(n))}\n"
    assert compiled.ms_jit.compile_count == 2


def returned(x):
    return f"{x.sum()}", x


def compared(x):
    return x * 2 if f"{x.sum()}" == "3.0" else x


def measured(x):
    return x * len(str(x.sum())) + len("%s" % x)


def listed(x):
    return x + len(",".join(str(v) for v in (x.sum(), x.max())).split(","))


def keyed(x):
    return {f"k{x.sum()}": x}


def by_c(x):
    return x * int("".join(["1", f"{x.sum()}"[0]]))


@pytest.mark.parametrize("fn", [returned, compared, measured, listed, keyed, by_c], ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["ast", "trace"])
def test_texts_that_matter(fn, mode):
    compiled = ms.jit(fn, capture_mode=mode)
    for x in (T(1, 2), T(3, 40), T(1, 2), T(0, 1)):
        assert str(compiled(x)) == str(fn(x))


def test_exceptions_say_the_values():
    @ms.jit(fullgraph=True)
    def f(x):
        if x.sum() > 3:
            raise ValueError(f"too large: {x}", x.shape)
        assert x.sum() != 1, f"one: {x}"
        return x

    @ms.jit
    def g(x):
        raise ValueError(f"always {x}")
    f(T(1, 2))
    @ms.jit(fullgraph=True)
    def h(x):
        if x.sum() > 3:
            y = x * 2
            raise RuntimeError(f"doubled {y}", y)
        return x + 1
    for x in (T(3, 4), T(5, 6)):
        with pytest.raises(RuntimeError) as e:
            h(x)
        assert e.value.args[0] == f"doubled {x * 2}" and str(e.value.args[1]) == str(x * 2)
        assert str(h(T(1, 1))) == "[2. 2.]"
        with pytest.raises(ValueError) as e:
            f(x)
        assert e.value.args == (f"too large: {x}", (2,))
        with pytest.raises(ValueError, match="always") as e:
            g(x)
        assert str(e.value) == f"always {x}"
    with pytest.raises(AssertionError) as e:
        f(T(0, 1))
    assert str(e.value) == f"one: {T(0, 1)}"


def test_log(caplog):
    @ms.jit
    def f(x):
        logging.getLogger("model").warning(f"x {x}")
        return x
    f(T(7))
    assert "x [7.]" in caplog.text


def test_full_graph_names_the_line():
    @ms.jit(fullgraph=True)
    def f(x):
        return len(f"{x}") * x
    with pytest.raises(RuntimeError, match=r"test_jit_text.py:\d+: f\"\{x\}\""):
        f(T(1))


class Net(nn.Cell):
    def construct(self, x):
        print(f"{type(self).__name__}: {x}")
        return x * 2


def test_in_graph_mode(capsys):
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = Net()
        for k in (1, 2):
            net(T(k))
            assert capsys.readouterr().out == f"Net: [{k}.]\n"
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
