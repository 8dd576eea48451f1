"""ms.jit and Graph mode against the same functions run as plain Python."""
import math

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


def t(x, dtype=ms.float32):
    return Tensor(np.array(x), dtype)


def arrays(value):
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (tuple, list)):
        return type(value)(arrays(v) for v in value)
    if isinstance(value, dict):
        return {k: arrays(v) for k, v in value.items()}
    return value


def assert_same(a, b):
    assert type(a) is type(b), (a, b)
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            assert_same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            assert_same(a[k], b[k])
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, (a, b)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    else:
        assert a == b


def check(fn, *arg_lists, **options):
    """jit(fn) as one graph gives what fn gives."""
    options.setdefault("fullgraph", True)
    new = ms.jit(fn, **options)
    for args in arg_lists:
        args = args if isinstance(args, tuple) else (args,)
        want = arrays(fn(*args))
        for _ in range(2):
            assert_same(arrays(new(*args)), want)
    return new


def forms(f):
    """How often f was compiled."""
    return sum(len(known) for known in f.ms_jit.forms.values())


X = [[1.0, -2.0, 3.0], [0.5, 4.0, -6.0]]


# ---- plain functions ----

def test_simple():
    check(lambda x, y: (x + y) * x - 2, (t(X), t(X)), (t([1.0, 2.0]), t(3.0)))


def test_containers_and_constants():
    def f(x, pair, options, scale=2):
        a, (b, *c) = pair
        return {"sum": x + a, "more": [b * scale, c], "kept": options["k"], "text": "ok", "none": None}, x

    check(f, (t(X), (t(1.0), (t(2.0), t(3.0), 4)), {"k": 7, "w": t(5.0)}))
    new = ms.jit(f, fullgraph=True)
    x = t(X)
    out = new(x, pair=(t(1.0), [t(2.0)]), options={"k": "a"}, scale=3)
    assert out[0]["kept"] == "a" and out[1] is x


def test_static_values_select_forms():
    @ms.jit
    def f(x, n, flag=None):
        for _ in range(n):
            x = x + 1
        return x if flag is None else x * flag

    x = t([0.0])
    for n in (1, 2, 1, 2, 3):
        assert f(x, n).asnumpy() == n
    assert forms(f) == 3
    assert f(x, 1, flag=2.0).asnumpy() == 2 and f(x, 1, flag=4.0).asnumpy() == 4
    assert f(x, True).asnumpy() == 1 and f(x, 1.0 if False else 1).asnumpy() == 1


def test_new_types_compile_again():
    @ms.jit
    def f(x):
        return x * 2

    for x in (t([1.0]), t([1.0, 2.0]), t([[1.0]]), t([1], ms.int32), t([1.0]), t([3.0])):
        assert_same(f(x).asnumpy(), x.asnumpy() * 2)
    assert forms(f) == 4


# ---- control flow on tensors ----

def branches(x):
    y = x * 0
    if x.sum() > 0:
        y = x * 2
        z = 1.0
    elif x.sum() < -10:
        y = x - 1
        z = 2.0
    else:
        z = 3.0
    return y, z * x


def early_return(x):
    if x.sum() > 0:
        return x + 1
    y = x * x
    if y.sum() > 100:
        return y
    return y - 1


def loops(x):
    i = 0
    total = x * 0
    while total.sum() < 20:
        total = total + x
        i += 1
        if i > 6:
            break
    return total, i + x.sum()


def for_range(n, x):
    s = x
    for i in range(n):
        if i == 2:
            continue
        s = s + i
    return s


def range_bounds(a, b, x):
    for i in range(a, b, 2):
        x = x + i
    for i in range(b, a, -1):
        x = x * 2
    return x


def return_in_loop(x, limit):
    s = x
    for i in range(10):
        s = s * 2
        if s.sum() > limit:
            return s, i
    return s - 1, -1


def return_in_while(x):
    while x.sum() < 1000:
        x = x * 2
        if x.max() > 50:
            return x
    return -x


def while_else(x):
    while x.sum() < 10:
        x = x + 1
        if x.max() > 3:
            break
    else:
        x = x * 100
    return x


def nested_loops(x):
    i = Tensor(0)
    out = x
    while i < 3:
        j = Tensor(0)
        while j < i:
            out = out + i * j
            j = j + 1
        i = i + 1
    return out


def booleans(x, y):
    a = x.sum() > 0 and y.sum() > 0
    b = x.sum() > 0 or y.sum() > 0
    c = not a
    d = 0 < x.sum() < 10
    return a, b, c, d, (x if a and not d else y)


def rows(x):
    s = x[0] * 0
    for row in x:
        if row.sum() > 2:
            s = s + row
    return s


def lists(x):
    out = []
    for i in range(3):
        if x.sum() > i:
            out.append(x * i)
        else:
            out.append(x - i)
    return out


def test_if():
    check(branches, t([1.0, 2.0]), t([-1.0, -2.0]), t([-10.0, -2.0]))
    check(early_return, t([1.0]), t([-1.0]), t([-20.0]))


def test_loops():
    check(loops, t([1.0, 2.0]), t([10.0, 20.0]), t([0.1, 0.1]))
    check(for_range, (Tensor(5), t([1.0])), (Tensor(0), t([1.0])))
    check(range_bounds, (Tensor(1), Tensor(6), t([1.0])), (Tensor(5), Tensor(2), t([1.0])))
    check(nested_loops, t([1.0]))


def test_leaving_loops():
    new = ms.jit(return_in_loop, fullgraph=True)
    for x, limit in ((1.0, 30), (1.0, 10 ** 6), (50.0, 3)):
        want, got = return_in_loop(t([x]), t(limit)), new(t([x]), t(limit))
        assert_same(arrays(want[0]), arrays(got[0]))
        assert int(got[1]) == want[1]
    check(return_in_while, t([1.0, 2.0]), t([60.0, -1.0]), t([2000.0]))
    check(while_else, t([1.0, 1.0]), t([20.0]), t([9.5, 0.0]))


def test_booleans():
    new = ms.jit(booleans, fullgraph=True)
    for x in (1.0, -1.0, 20.0):
        for y in (1.0, -1.0):
            want, got = booleans(t([x]), t([y])), new(t([x]), t([y]))
            assert [bool(v) for v in want[:4]] == [bool(v) for v in got[:4]]
            assert_same(arrays(want[4]), arrays(got[4]))


def test_rows_and_lists():
    check(rows, t(X), t(np.ones((40, 3))))
    check(lists, t([1.5]), t([-1.0]), t([9.0]))


def test_short_circuit_guards_an_index():
    def f(x, i):
        if i < x.shape[0] and x[i] > 0:
            return x[i]
        return x[0] * 0 - 1

    check(f, (t([1.0, -2.0, 3.0]), Tensor(0)), (t([1.0, -2.0, 3.0]), Tensor(1)), (t([1.0, -2.0, 3.0]), Tensor(3)))


def test_called_functions_and_methods():
    class Helper:
        def __init__(self, k):
            self.k = k

        def run(self, x):
            return x * self.k if x.sum() > 0 else inner(x)

    def inner(x):
        if x.min() < -5:
            return x / 2
        return -x

    h = Helper(3.0)
    check(lambda x: h.run(x) + inner(x), t([1.0]), t([-1.0]), t([-10.0]))


# ---- gradients ----

def scalar_loop(x, n):
    y = x
    for i in range(n):
        if y.sum() > 3:
            y = y * 0.5
        else:
            y = y * x + i
    return (y * y).sum()


def test_grad_of_jit_and_jit_of_grad():
    for f, args in ((lambda x: (x * x * x).sum(), (t(X),)),
                    (lambda x: ops.tanh(x).sum() * x.mean(), (t(X),)),
                    (lambda x: early_return(x).sum(), (t([-2.0, -1.0]),)),
                    (lambda x: branches(x)[0].sum(), (t([2.0, 1.0]),))):
        want = ms.grad(f)(*args).asnumpy()
        assert_same(ms.grad(ms.jit(f, fullgraph=True))(*args).asnumpy(), want)
        assert_same(ms.jit(ms.grad(f), fullgraph=True)(*args).asnumpy(), want)


def test_grad_through_traced_loop():
    want = ms.grad(scalar_loop)(t([0.5, 2.0]), 4).asnumpy()
    n = Tensor(4)
    assert_same(ms.grad(ms.jit(scalar_loop, fullgraph=True))(t([0.5, 2.0]), n).asnumpy(), want)

    def g(x, k):
        return ms.grad(scalar_loop)(x, k)

    assert_same(ms.jit(g, fullgraph=True)(t([0.5, 2.0]), n).asnumpy(), want)


def test_second_order():
    def f(x):
        return (x ** 3).sum()

    hess = ms.grad(lambda x: ms.grad(f)(x).sum())
    want = hess(t([1.0, 2.0])).asnumpy()
    assert_same(ms.jit(hess, fullgraph=True)(t([1.0, 2.0])).asnumpy(), want)
    jf = ms.jit(f, fullgraph=True)
    assert_same(ms.grad(lambda x: ms.grad(jf)(x).sum())(t([1.0, 2.0])).asnumpy(), want)


def test_vmap_of_jit():
    f = ms.jit(lambda x, y: (x * y).sum(), fullgraph=True)
    want = (np.array(X) * 2).sum(1)
    np.testing.assert_allclose(ms.vmap(f, (0, None))(t(X), t(2.0)).asnumpy(), want, rtol=1e-6)
    g = ms.jit(lambda x: ms.vmap(lambda r: r.sum() * 2)(x), fullgraph=True)
    np.testing.assert_allclose(g(t(X)).asnumpy(), want, rtol=1e-6)


def test_nested_jit():
    inner = ms.jit(lambda x: x * 2 if x.sum() > 0 else x)
    check(lambda x: inner(x) + inner(-x), t([1.0, 2.0]), t([-1.0]))
    traced = ms.jit(lambda x: x * 3, capture_mode="trace")
    check(lambda x: traced(x) + 1, t([1.0]))
    check(lambda x: inner(x) + 1, t([1.0]), t([-4.0]), capture_mode="trace")


# ---- values of outside: never stale ----

SCALE = 2.0
CONFIG = {"k": 1.0, "deep": [1, 2]}


class Settings:
    factor = 1.0


def uses_globals(x):
    return x * SCALE + CONFIG["k"] + len(CONFIG["deep"]) + Settings.factor + called(x)


def called(x):
    return x * OTHER


OTHER = 1.0


@pytest.mark.parametrize("mode", ["ast", "trace"])
def test_globals(monkeypatch, mode):
    f = ms.jit(uses_globals, capture_mode=mode, fullgraph=True)
    x = t([1.0])

    def same():
        assert_same(f(x).asnumpy(), uses_globals(x).asnumpy())

    same()
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    same()
    monkeypatch.setitem(CONFIG, "k", 7.0)
    same()
    CONFIG["deep"].append(3)
    same()
    CONFIG["deep"].pop()
    same()
    monkeypatch.setattr(Settings, "factor", 9.0)
    same()
    monkeypatch.setitem(globals(), "OTHER", 4.0)
    same()
    monkeypatch.setitem(globals(), "called", lambda x: x - 100)
    same()
    monkeypatch.setitem(globals(), "math", None)
    same()
    assert math is None


def test_closures():
    k, items = 1.0, [t([1.0])]

    def f(x):
        return x * k + items[-1]

    new = ms.jit(f, fullgraph=True)
    for k in (1.0, 2.0, 2, True, -0.0, 0.0, float("nan")):
        np.testing.assert_array_equal(new(t([3.0])).asnumpy(), f(t([3.0])).asnumpy())
    items.append(t([10.0]))
    assert_same(new(t([3.0])).asnumpy(), f(t([3.0])).asnumpy())


def test_object_attributes():
    class Box:
        def __init__(self):
            self.k, self.inner, self.w = 1.0, None, t([1.0])

        def run(self, x):
            return x * self.k + (self.inner.k if self.inner else 0) + self.w

    box = Box()
    f, g = ms.jit(box.run, fullgraph=True), ms.jit(lambda b, x: b.run(x), fullgraph=True)

    def same():
        want = box.run(t([3.0])).asnumpy()
        assert_same(f(t([3.0])).asnumpy(), want)
        assert_same(g(box, t([3.0])).asnumpy(), want)

    same()
    box.k = 2.0
    same()
    box.inner = Box()
    same()
    box.inner.k = 5.0
    same()
    box.w = t([4.0])
    same()


def test_tensors_of_outside_are_read_when_it_runs():
    w = t([1.0])
    f = ms.jit(lambda x: x * w, fullgraph=True)
    assert f(t([3.0])).asnumpy() == 3
    w[0] = 5.0
    assert f(t([3.0])).asnumpy() == 15


def test_explain(monkeypatch, capsys):
    monkeypatch.setenv("MS_JIT_EXPLAIN", "1")
    k = 1

    @ms.jit
    def f(x):
        return x + k

    f(t([1.0]))
    k = 2
    f(t([1.0]))
    f(t([1.0, 2.0]))
    err = capsys.readouterr().err
    assert err.count("compiling") == 3 and "was 1 and is 2" in err and "argument 0 was Float32[1] and is Float32[2]" in err


# ---- falling back, errors ----

def test_concrete_value_in_the_middle():
    def f(x):
        k = float(x.sum())
        return x * k

    x = t([1.0, 2.0])
    assert_same(ms.jit(f)(x).asnumpy(), f(x).asnumpy())
    with pytest.raises(RuntimeError, match=r"test_jit\.py:\d+: .*float\(x\.sum\(\)\)") as info:
        ms.jit(f, fullgraph=True)(x)
    assert f"{f.__code__.co_firstlineno + 1}" in str(info.value)
    g = ms.jit(lambda x: x + Tensor(x.asnumpy()))
    assert_same(g(x).asnumpy(), x.asnumpy() * 2)
    with pytest.raises(RuntimeError, match="asnumpy"):
        ms.jit(lambda x: x.asnumpy(), fullgraph=True)(x)


def test_changes_of_python_values():
    seen, count = [], 0

    def f(x):
        nonlocal count
        count += 1
        seen.append(count)
        return x * count

    new = ms.jit(f)
    assert [float(new(t([1.0]))) for _ in range(3)] == [1, 2, 3]
    assert seen == [1, 2, 3]
    with pytest.raises(RuntimeError, match="changes what it reads"):
        ms.jit(f, fullgraph=True)(t([1.0]))
    assert count == 3 and seen == [1, 2, 3]


def test_branches_that_do_not_fit():
    def dtype(x):
        if x.sum() > 0:
            y = x
        else:
            y = x.astype(ms.int32)
        return y

    def undefined(x):
        if x.sum() > 0:
            y = x
        return y

    def unused(x):
        if x.sum() > 0:
            y = x
            x = y + 1
        return x

    with pytest.raises(RuntimeError, match="'y'.*Float32.*Int32"):
        ms.jit(dtype, fullgraph=True)(t([1.0]))
    assert_same(ms.jit(dtype)(t([-1.5])).asnumpy(), dtype(t([-1.5])).asnumpy())
    with pytest.raises(RuntimeError, match="'y'.*one branch only"):
        ms.jit(undefined, fullgraph=True)(t([1.0]))
    assert ms.jit(undefined)(t([1.0])).asnumpy() == 1
    with pytest.raises(UnboundLocalError):
        ms.jit(undefined)(t([-1.0]))
    check(unused, t([1.0]), t([-1.0]))


@pytest.mark.parametrize("fullgraph", [False, True])
def test_errors_are_those_of_the_function(fullgraph):
    @ms.jit(fullgraph=fullgraph)
    def f(x, kind):
        if kind == "value":
            raise ValueError("mine")
        if kind == "shape":
            return x + t([1.0, 2.0])
        if kind == "key":
            return {}["a"]
        if kind == "attr":
            return x.nothing
        return x

    x = t([1.0, 2.0, 3.0])
    for kind, error in (("value", ValueError), ("shape", ValueError), ("key", KeyError), ("attr", AttributeError)):
        with pytest.raises(error):
            f(x, kind)
        assert_same((x + 1).asnumpy(), np.array([2, 3, 4], np.float32))  # no trace is left open
    assert f(x, "") is x


def test_arguments():
    for bad in (dict(capture_mode="x"), dict(jit_level="O9"), dict(dynamic=3), dict(backend="zzz")):
        with pytest.raises(ValueError):
            ms.jit(lambda x: x, **bad)
    with pytest.raises(TypeError):
        ms.jit(lambda x: x, fullgraph=1)
    with pytest.raises(TypeError):
        ms.jit(3)

    @ms.jit
    def f(a, b=1):
        """Text."""
        return a

    assert f.__name__ == "f" and f.__doc__ == "Text."
    with pytest.raises(TypeError):
        f()


# ---- writes, random numbers ----

def test_written_arguments():
    def f(x):
        x[0] = 7.0
        return x * 2

    a, b = t([1.0, 2.0]), t([1.0, 2.0])
    assert_same(ms.jit(f, fullgraph=True)(a).asnumpy(), f(b).asnumpy())
    assert_same(a.asnumpy(), b.asnumpy())


def test_parameters_in_control_flow():
    p = ms.Parameter(t([1.0]), name="p")

    def f(x):
        if x.sum() > 0:
            ops.assign(p, p + x)
        i = Tensor(0)
        while i < 3:
            ops.assign(p, p * 2)
            i = i + 1
        return p + 0

    new = ms.jit(f, fullgraph=True)
    for x in (2.0, -1.0, 3.0):
        start = p.asnumpy().copy()
        want = (f(t([x])).asnumpy(), p.asnumpy().copy())
        ops.assign(p, t(start))
        assert_same((new(t([x])).asnumpy(), p.asnumpy().copy()), want)


def test_random():
    def f(x):
        y = ops.rand(3) + x
        return y, ops.randn(2), ops.dropout(x, 0.5, True)

    ms.set_seed(3)
    want = [arrays(f(t([1.0, 1.0, 1.0]))) for _ in range(3)]
    ms.set_seed(3)
    new = ms.jit(f, fullgraph=True)
    got = [arrays(new(t([1.0, 1.0, 1.0]))) for _ in range(3)]
    assert_same(got, want)


# ---- Cells ----

class Net(nn.Cell):
    def __init__(self, scale=1.0):
        super().__init__()
        self.fc1 = nn.Dense(3, 4)
        self.fc2 = nn.Dense(4, 2)
        self.scale = scale
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x):
        y = ops.relu(self.fc1(x))
        if y.sum() > 1000:
            y = y * 0
        return self.fc2(self.drop(y)) * self.scale


@pytest.fixture
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_cell_as_jit():
    net = Net()
    want = net(t(X)).asnumpy()
    assert_same(ms.jit(net, fullgraph=True)(t(X)).asnumpy(), want)
    assert_same(ms.jit(net.construct, fullgraph=True)(t(X)).asnumpy(), want)
    assert_same(ms.jit(lambda x: net(x), fullgraph=True)(t(X)).asnumpy(), want)

    class Own(Net):
        @ms.jit
        def construct(self, x):
            return super().construct(x) + self.scale

    own = Own()
    a = own(t(X)).asnumpy()
    own.scale = 3.0
    b = own(t(X)).asnumpy()
    np.testing.assert_allclose(b, (a - 1) * 3 + 3, rtol=1e-5)


def test_cell_changes_are_seen():
    net = Net()
    f = ms.jit(net, fullgraph=True)

    def same():
        assert_same(f(t(X)).asnumpy(), net(t(X)).asnumpy())

    same()
    net.scale = 4.0
    same()
    net.fc1.weight.set_data(t(np.ones((4, 3))))
    same()
    net.fc2 = nn.Dense(4, 2)
    same()
    net.set_train(True)
    ms.set_seed(1)
    a = net(t(X)).asnumpy()
    ms.set_seed(1)
    assert_same(f(t(X)).asnumpy(), a)
    net.set_train(False)
    same()


def test_graph_mode(graph_mode):
    net = Net()
    got = net(t(X)).asnumpy()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert_same(got, net(t(X)).asnumpy())
    ms.set_context(mode=ms.GRAPH_MODE)
    seq = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 3))
    got = seq(t(X)).asnumpy()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert_same(got, seq(t(X)).asnumpy())


def train(steps, wrap):
    ms.set_seed(5)
    np.random.seed(5)
    net = Net()
    net.set_train()
    loss_fn = nn.MSELoss()
    opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    x, y = t(np.random.rand(8, 3)), t(np.random.rand(8, 2))

    def forward(a, b):
        return loss_fn(net(a), b)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)

    def step(a, b):
        loss, grads = grad_fn(a, b)
        opt(grads)
        return loss

    step = wrap(step)
    losses = [float(step(x, y)) for _ in range(steps)]
    return losses, [p.asnumpy().copy() for p in net.get_parameters()]


def test_train_step_is_one_graph():
    want, params = train(5, lambda f: f)
    got, new = train(5, lambda f: ms.jit(f, fullgraph=True))
    np.testing.assert_allclose(got, want, rtol=1e-5)
    for a, b in zip(params, new):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert want[-1] < want[0]


def test_train_in_graph_mode(graph_mode):
    got, _ = train(3, lambda f: f)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    want, _ = train(3, lambda f: f)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_tensor_that_stands_for_other_data():
    w = t([1.0])
    f = ms.jit(lambda x: x * w, fullgraph=True)
    assert f(t([3.0])).asnumpy() == 3
    w.assign_value(t([5.0]))
    assert f(t([3.0])).asnumpy() == 15


def test_compiled_functions_die_with_what_they_hold():
    import gc
    import weakref

    def once():
        net = nn.Dense(3, 3)
        f = ms.jit(lambda x: net(x))
        for n in (1, 2, 3):
            f(Tensor(np.ones((n, 3), np.float32)))
        return weakref.ref(net)
    def in_graph_mode():
        import copy
        net = nn.Dense(3, 3)
        ms.set_context(mode=ms.GRAPH_MODE)
        net(Tensor(np.ones((1, 3), np.float32)))
        twin = copy.deepcopy(net)
        twin.bias.set_data(twin.bias + 1)
        x = Tensor(np.ones((1, 3), np.float32))
        np.testing.assert_allclose(twin(x).asnumpy(), net(x).asnumpy() + 1, rtol=1e-5)
        ms.set_context(mode=ms.PYNATIVE_MODE)
        return weakref.ref(net)
    for make in (once, in_graph_mode):
        dead = make()
        gc.collect()
        assert dead() is None


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
def test_a_chain_that_ends_in_a_reduction_is_the_same_to_the_bit(reduce, axis):
    rng = np.random.RandomState(0)
    a, b = Tensor(rng.randn(3, 67, 130).astype(np.float32)), Tensor(rng.randn(67, 130).astype(np.float32))
    if reduce in ("max", "min"):
        name = {"max": "amax", "min": "amin"}[reduce]
        axis = () if axis is None else axis
    else:
        name = reduce
        if reduce == "prod" and not isinstance(axis, int):
            axis = 2

    def f(a, b):
        return getattr(ops, name)(ops.relu(a * b + 1), axis)
    compiled = ms.jit(f, jit_level="O1")
    for x in (a, Tensor(np.where(a.asnumpy() > 3, np.nan, a.asnumpy()))):
        np.testing.assert_array_equal(compiled(x, b).asnumpy(), f(x, b).asnumpy())
    grads = [ms.grad(lambda a, b: g(a, b).sum(), (0, 1))(a, b) for g in (f, compiled)]
    for x, y in zip(*grads):
        np.testing.assert_allclose(x.asnumpy(), y.asnumpy(), 1e-5, 1e-6)


def test_the_gradient_of_an_imaginary_part_in_a_graph():
    x = Tensor(np.array([1 + 2j, 3 - 1j], np.complex64))
    for f in (ops.imag, ms.jit(ops.imag)):
        assert ms.grad(lambda x: (f(x) * f(x)).sum())(x).asnumpy().tolist() == ms.grad(lambda x: (ops.imag(x) ** 2).sum())(x).asnumpy().tolist()
