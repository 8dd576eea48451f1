"""No stale answers: whatever a compiled function reads is looked at again, however it reads it."""
import array
import collections
import contextlib
import functools
import operator
import types
import weakref

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn

MODES = ("ast", "bytecode", "trace")


class Settings:
    k = 1

    def __init__(self, **values):
        self.__dict__.update(values)

    def run(self, x):
        return x * self.k


class Calls(Settings):
    def __call__(self, x):
        return self.run(x)


def of_text():
    s = Settings(name="a", a=1, b=5)
    return (lambda x: x * getattr(s, s.name)), lambda n: [setattr(s, "a", n), setattr(s, "name", "ab"[n % 2])]


def of_vars():
    s = Settings(k=1)
    return (lambda x: x * vars(s)["k"] + s.__dict__["k"]), lambda n: setattr(s, "k", n)


def of_attrgetter():
    s, get = Settings(a=Settings(k=1)), operator.attrgetter("a.k")
    return (lambda x: x * get(s)), lambda n: setattr(s.a, "k", n)


def instance_over_class():
    s = Settings()
    return (lambda x: x * s.k), lambda n: setattr(s, "k", n) if n == 2 else None


def class_of_object():
    s = Settings()
    other = type("Other", (Settings,), {"run": lambda self, x: x * 7})
    return (lambda x: s.run(x)), lambda n: setattr(s, "__class__", (Settings, other)[n % 2])


def attribute_of_function():
    def f(x):
        return x * f.k
    f.k = 1
    return f, lambda n: setattr(f, "k", n)


def attribute_of_helper():
    def helper(x):
        return x * helper.k
    helper.k = 1
    return (lambda x: helper(x)), lambda n: setattr(helper, "k", n)


def code_of_function():
    def helper(x):
        return x
    codes = helper.__code__, (lambda x: x * 3).__code__
    return (lambda x: helper(x)), lambda n: setattr(helper, "__code__", codes[n % 2])


def keyword_defaults():
    def helper(x, *, k=1):
        return x * k
    return (lambda x: helper(x)), lambda n: setattr(helper, "__kwdefaults__", {"k": n})


def partial():
    s, d = Settings(), {"k": 1}
    f = functools.partial(lambda s, d, x: x * s.k * d["k"], s, d)
    return f, lambda n: [setattr(s, "k", n), d.update(k=n)]


def callable_object():
    c = Calls()
    return c, lambda n: setattr(c, "k", n)


def collection_objects():
    items, table, chain = collections.UserList([1]), collections.UserDict(a=1), {"c": 1}
    chained, proxy, values = collections.ChainMap({}, chain), types.MappingProxyType(chain), chain.values()

    def change(n):
        items[0] = table["a"] = n
        chain["c"] = n * n
    return (lambda x: x * items[0] + table["a"] + chained["c"] + proxy["c"] + sum(values)), change


def bytes_and_arrays():
    a, b = bytearray(b"\x01"), array.array("i", [1])
    return (lambda x: x * a[0] + b[0]), lambda n: [a.__setitem__(0, n), b.__setitem__(0, n + 1)]


def weak_reference():
    s = Settings()
    ref = weakref.ref(s)
    return (lambda x: x * ref().k), lambda n, keep=s: setattr(keep, "k", n)


def cached_helper():
    s = Settings()

    @functools.lru_cache(maxsize=None)
    def helper():
        return s.k
    return (lambda x: x * helper()), lambda n: [setattr(s, "k", n), helper.cache_clear()]


SCALE = Settings()


def key_of_item(v):
    return abs(v) * SCALE.k


def functions_called_from_c():
    def f(x):
        items = [3, -4, 1]
        items.sort(key=key_of_item)
        return x * max(items, key=key_of_item) + items[0]
    return f, lambda n: setattr(SCALE, "k", (-1) ** n)


def attributes_of_parameters():
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    p.k = 1
    return (lambda x: x * p * p.k + (2 if p.requires_grad else 3) + len(p.name)), lambda n: [
        setattr(p, "k", n), setattr(p, "requires_grad", n % 2 == 0), setattr(p, "name", "p" * (n + 1))]


class Scaled(nn.Cell):
    scale = 1

    def construct(self, x):
        return x * self.scale * 1.001


class Derived(Scaled):
    def construct(self, x):
        return super().construct(x) + 1


def attribute_behind_super():
    net = Derived()
    return (lambda x: net(x)), lambda n: setattr(Scaled, "scale", n)


def construct_of_class():
    kind = type("Net", (nn.Cell,), {"construct": lambda self, x: x})
    net = kind()
    return (lambda x: net(x)), lambda n: setattr(kind, "construct", lambda self, x: x * n)


def precision_of_cell():
    net = Scaled()
    return (lambda x: net(x).astype(ms.float32)), lambda n: net.to_float((ms.float16, ms.float32)[n % 2])


CASES = [of_text, of_vars, of_attrgetter, instance_over_class, class_of_object, attribute_of_function, attribute_of_helper, code_of_function,
         keyword_defaults, partial, callable_object, collection_objects, bytes_and_arrays, weak_reference, cached_helper,
         functions_called_from_c, attributes_of_parameters, attribute_behind_super, construct_of_class, precision_of_cell]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("maker", CASES, ids=lambda f: f.__name__)
def test_changes_are_seen(maker, mode, monkeypatch):
    monkeypatch.setattr(Scaled, "scale", 1)
    x = Tensor([1.5, 2.5])
    answers = []
    for wrap in (lambda f: f, lambda f: ms.jit(f, capture_mode=mode)):
        fn, change = maker()
        fn = wrap(fn)
        answers.append([])
        for n in range(4):
            change(n)
            answers[-1].append(fn(x).asnumpy().tolist())
    assert np.allclose(*answers)
    assert len({tuple(a) for a in answers[0]}) > 1


def test_walrus_in_the_test_of_a_loop():
    def f(x):
        while (s := x.sum()) < 60:
            x = x + s
            if x.max() > 40:
                break
        else:
            x = -x
        return x, s
    for row in ([1.0, 2.0], [0.0, 41.0], [20.0, 5.0], [70.0, 1.0]):
        for a, b in zip(f(Tensor(row)), ms.jit(f)(Tensor(row))):
            assert a.tolist() == b.tolist()


def test_texts_of_tensors_in_gradients():
    def f(x):
        assert str(x) == "[1. 2.]" and f"{x[1]}" == "2.0" and "1.00000000e+00" in repr(x)
        return (x * len(str(x))).sum()
    for fn in (ms.grad(f), ms.grad(ms.jit(f)), ms.jit(ms.grad(f))):
        assert fn(Tensor([1.0, 2.0])).tolist() == [7, 7]


class Sum:
    def __init__(self):
        self.total, self.turns = 0, 0


@pytest.mark.parametrize("mode", MODES[:2])
def test_a_tensor_kept_in_an_attribute_on_one_path(mode):
    """No graph holds that: what staging has left is undone, without a look at the tensors in it."""
    def f(x, k, box):
        if k > 1:
            box.total = box.total + x
        elif x.min() > 0:
            box.total = box.total + x * 2
        box.turns += 1
        return x
    compiled, box, want = ms.jit(f, capture_mode=mode), Sum(), Sum()
    for v, k in ((1., 1), (-1., 2), (1., 2), (2., 1)):
        compiled(Tensor([v]), k, box)
        f(Tensor([v]), k, want)
        assert box.turns == want.turns and np.array_equal(box.total, want.total)


inside = {"depth": 0}


@contextlib.contextmanager
def level(n):
    inside["depth"] = n
    yield
    inside["depth"] = -n


def test_state_that_a_context_manager_writes():
    """The standard library runs it, so that it is not seen running; it is put back where it was staged in vain."""
    @ms.jit
    def f(x, box):
        while x.sum() < 0:
            x = x + 1
            box.turns += 1
            with level(2):
                x = x * 1
        return x
    box = Sum()
    f(Tensor([1.]), box)
    assert inside["depth"] == 0 and box.turns == 0
    f(Tensor([-1.5]), box)
    assert inside["depth"] == -2 and box.turns == 2
