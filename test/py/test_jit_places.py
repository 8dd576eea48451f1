"""Errors of compiled functions point at the user's line, when the graph is made and when it runs."""
import inspect
import traceback

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


def T(*v):
    return Tensor(np.array(v, np.float32))


def shapes(x):
    y = x * 2
    return y @ ops.ones((7, 7))  # here


def python(x):
    return x * {}["missing"]  # here


class Inner(nn.Cell):
    def construct(self, x):
        return x.reshape(5, 5)  # here


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x):
        return self.inner(x + 1)


outer = Outer()


def in_a_cell(x):
    return outer(x)


def in_a_branch(x):
    if x.sum() > 0:
        return x.reshape(9)  # here
    return x


def in_a_function_of_a_loop(x):
    for _ in range(2):
        if x.sum() > 0:
            x = in_a_branch(x)  # here
    return x


def raised(x):
    if x.sum() > 0:
        raise ValueError(f"no {x}")  # here
    return x


def asserted(x):
    assert x.sum() < 0, "negative"  # here
    return x


def in_a_gradient(x):
    return ms.grad(lambda v: ops.matmul(v, ops.ones((9,))))(x)  # here


def at_run_time(x):
    y = x + 1
    return ops.gather(y, Tensor([10]) + x.astype(ms.int32), 0) * 2  # here


def line(fn):
    owner = Inner if fn is in_a_cell else fn
    lines, first = inspect.getsourcelines(owner)
    return first + next(k for k, text in enumerate(lines) if "# here" in text)


@pytest.mark.parametrize("mode", ["ast", "trace"])
@pytest.mark.parametrize("fn", [shapes, python, in_a_cell, in_a_branch, raised, asserted, in_a_gradient, at_run_time],
                         ids=lambda f: f.__name__)
def test_places(fn, mode):
    compiled = ms.jit(fn, capture_mode=mode)
    for x in (T(1, 2, 3), T(1, 2, 3)):
        with pytest.raises(Exception) as e:
            compiled(x)
        if fn is at_run_time:
            assert f'File "{__file__}", line {line(fn)}, in {fn.__name__}' in str(e.value)
        else:
            last = [t for t in traceback.extract_tb(e.value.__traceback__) if t.filename == __file__][-1]
            assert last.lineno == line(fn)


@pytest.mark.parametrize("mode", ["ast", "bytecode"])
def test_the_calls_that_lead_to_a_branch(mode):
    compiled = ms.jit(in_a_function_of_a_loop, capture_mode=mode)
    for _ in range(2):
        with pytest.raises(ValueError) as e:
            compiled(T(1, 2, 3))
        found = [(t.name, t.lineno) for t in traceback.extract_tb(e.value.__traceback__) if t.filename == __file__]
        here, there = line(in_a_function_of_a_loop), line(in_a_branch)
        f, g = "in_a_function_of_a_loop", "in_a_branch"
        assert found[1:] == [(f, here - 2), (f, here - 1), (f, here), (g, there - 1), (g, there)]


def test_places_for_other_sizes():
    compiled = ms.jit(at_run_time)
    for n in (3, 4, 5, 6):
        compiled(T(*[-10] * n))
        with pytest.raises(Exception) as e:
            compiled(T(*[1] * n))
        assert f"line {line(at_run_time)}," in str(e.value) and str(e.value).count("File") == 1
    assert compiled.ms_jit.compile_count == 2


def test_why_again():
    compiled = ms.jit(lambda x, k: x * k)
    compiled(T(1), 2), compiled(T(1), 3), compiled(T(1, 2), k=3)
    assert compiled.explain().splitlines() == [
        "1. first call", "2. argument 1 was 2 and is 3",
        "3. argument 0 was Float32[1] and is Float32[2], argument 'k' was absent and is 3"]
