"""All the Python that a model author writes: each function compiled, in every mode, does what it does as plain Python, call
after call, with its gradient, and leaves the same state behind.

A maker gives a fresh (function, state, change): state is an object whose attributes are compared at the end, change(k) is
done before call k.
"""
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

CASES = {}
G = 1.0
TABLE = {"a": 1.0, "b": [2.0, 3.0]}


class State:
    """A user's object."""

    def __init__(self, **values):
        self.__dict__.update(values)


def case(maker):
    CASES[maker.__name__] = maker
    return maker


def simple(fn):
    """A function without state."""
    CASES[fn.__name__] = lambda: (fn, None, None)
    return fn


# ---- expressions and containers ----

@simple
def star_arguments(x):
    def f(a, *rest, k=2, **more):
        return a * k + sum(rest) + more.get("z", 0) * a
    args, named = (x, x + 1), {"k": 3, "z": 4}
    return f(*args, x, **named) + f(x)


@simple
def comprehension(x):
    return sum([v * i for i, v in enumerate([x, x + 1, x * 2]) if i != 1]) + {k: x * k for k in (1, 2)}[2]


@simple
def nested_comprehension(x):
    m = [[x * i + j for j in range(2)] for i in range(2)]
    return m[1][1] + sum(v for row in m for v in row)


@simple
def set_and_frozenset(x):
    s = {1, 2} | frozenset({3})
    return x * len(s) + (2 in s)


@simple
def generator(x):
    def gen(n):
        for i in range(n):
            yield x * i
    return sum(gen(4)) + next(iter(gen(2)))


@simple
def generator_with_send(x):
    def gen():
        got = yield x
        yield x * got
    g = gen()
    next(g)
    return g.send(3)


@simple
def zip_enumerate_reversed(x):
    out = x
    for i, (a, b) in enumerate(zip((1, 2, 3), reversed((4, 5, 6)))):
        out = out + a * b * i
    return out


@simple
def itertools_and_functools(x):
    return functools.reduce(lambda a, b: a * b, itertools.chain([x], itertools.repeat(x + 1, 2)))


@simple
def sorted_min_max(x):
    items = sorted([3, 1, 2], key=lambda v: -v)
    return x * items[0] + max(items) - min(items, key=abs) + any(items) + all(items)


@simple
def slices_of_lists(x):
    items = [x * i for i in range(6)]
    a, *b, c = items[1:5]
    del items[0]
    items[1:3] = [x]
    return a + b[-1] - c + items[1] + len(items)


@simple
def dict_methods(x):
    d = dict(a=x, b=x + 1)
    d.update({"c": x * 2}, e=x)
    d.setdefault("z", x * 3)
    a = d.pop("a")
    return sum(d.values()) * a + len([k for k, _ in d.items() if k > "b"])


@simple
def ordered_dict(x):
    return OrderedDict([("u", x), ("v", {"w": (x * 2, [x])})])


Pair = namedtuple("Pair", "left right")


@simple
def named_tuple(x):
    p = Pair(x, right=x * 2)
    return p._replace(left=p.right + 1)


@dataclasses.dataclass
class Config:
    scale: float = 2.0
    items: list = dataclasses.field(default_factory=lambda: [1, 2])

    @property
    def total(self):
        return self.scale * sum(self.items)


@simple
def dataclass(x):
    c = Config(scale=3.0)
    c.items.append(4)
    return x * c.total


class Kind(enum.Enum):
    RELU = "relu"
    TANH = "tanh"


@simple
def enumeration(x):
    act = {Kind.RELU: ops.relu, Kind.TANH: ops.tanh}
    return act[Kind.TANH](x) + act[Kind("relu")](x) * (Kind.RELU is not Kind.TANH)


@simple
def walrus(x):
    if (n := x.shape[0]) > 1 and (y := x * n) is not None:
        return y + n
    return x


@simple
def conditional_expression(x):
    return (x if x.sum() > 3 else -x) * (2 if x.ndim == 1 else 3)


@simple
def chained_comparison(x):
    return x * 2 if 0 < x.sum() < 100 else x * 3


@simple
def logic(x):
    a = x.sum() > 0 and x.max() < 100
    b = not a or x.min() > 1
    return x * 2 if a and b else x


@simple
def matrix_and_augmented(x):
    y = x * 1
    y += 2
    y *= x
    y -= 1
    y /= 2
    y **= 2
    return y @ x


@simple
def alias_writes(x):
    y = x * 2
    z = y
    z[0] = 5.0
    w = y[1:]
    w += 1
    return y + z


@simple
def view_of_view(x):
    y = x.reshape(3, 1) + 0
    y[1:][0] = 7.0
    return y.reshape(-1) * x


@simple
def f_string_of_plain(x):
    n = x.shape[0]
    return x * len(f"{n:04d}{n!r}{'ab' if n else ''}{math.pi:.2f}")


@simple
def string_methods(x):
    return x * len("a,b,c".split(",")) + "xyz".index("z") + ord("a".upper()) + int("%d" % 3)


@simple
def isinstance_and_type(x):
    v = [x, 1, "a", None, 2.0, (x,)]
    return x * sum(isinstance(i, (int, float)) for i in v) + isinstance(x, Tensor) + (type(v[5]) is tuple) + callable(len)


@simple
def getattr_and_hasattr(x):
    return getattr(x, "sum")() + hasattr(x, "nothing") + getattr(x, "nothing", 3) * x


@simple
def numpy_on_constants(x):
    table = np.linspace(0, 1, 3).astype(np.float32)
    return x * Tensor(table) + float(np.sqrt(4.0)) + int(np.argmax(table))


@simple
def math_on_sizes(x):
    return x / math.sqrt(x.shape[0]) + math.ceil(x.size / 2) * math.prod(x.shape)


@simple
def numbers(x):
    return x * round(2.567, 1) + abs(-3) + divmod(7, 2)[1] + pow(2, 3) + 7 // 2 + complex(1, 2).real + (5 & 3) + (1 << 3)


@simple
def ellipsis_and_none_index(x):
    return x[None, ..., :2].squeeze(0) + x[..., -1] + x[[0, 1]] + x[slice(0, 2)]


@simple
def where_index(x):
    y = x * 1
    y[y > 2] = 0
    return y


# ---- control flow ----

@simple
def early_return(x):
    if x.sum() > 50:
        return x * 2
    for i in range(3):
        if i == 2:
            return x + i
    return x


@simple
def early_return_in_loop(x):
    total = x.sum()
    for i in range(5):
        total = total + i
        if total > 8:
            return x * total
    return x - total


@simple
def while_with_break_continue_else(x):
    i, out = 0, x
    while i < 6:
        i += 1
        if i == 2:
            continue
        if out.sum() > 40:
            break
        out = out + i
    else:
        out = -out
    return out


@simple
def while_on_tensor(x):
    n = 0
    while x.sum() < 50:
        x = x * 2 + 1
        n += 1
    return x * n


@simple
def nested_loops(x):
    out = x
    for i in range(3):
        for j in range(i):
            if j == 1:
                break
            out = out + i * j + 1
    return out


@simple
def for_over_tensor(x):
    out = 0.0
    for v in x:
        out = out + v * v
    return out


@simple
def for_over_range_of_tensor(x):
    out = x
    for i in range(x.sum().astype(ms.int32)):
        out = out + i * 0.5
    return out


@simple
def branches_bind_names(x):
    if x.sum() > 4:
        a, b = x, 2
    else:
        a, b = -x, 3
    return a * b


@simple
def elif_chain(x):
    s = x.sum()
    if s < 1:
        return x
    elif s < 4:
        y = x + 1
    elif s < 10:
        y = x * 2
    else:
        return -x
    return y * 3


@simple
def try_finally(x):
    out = [x]
    try:
        out.append({}["missing"])
    except KeyError as e:
        out.append(x * len(e.args))
    else:
        out.append(x * 100)
    finally:
        out.append(x + 1)
    return out[-1] + out[-2]


@simple
def try_with_own_exception(x):
    class Stop(Exception):
        pass
    try:
        for i in range(5):
            x = x + 1
            if i == 2:
                raise Stop(i)
    except Stop as s:
        return x * s.args[0]
    return x


@simple
def context_manager(x):
    seen = []

    @contextlib.contextmanager
    def scope(n):
        seen.append(n)
        yield n * 2
        seen.append(-n)
    with scope(1) as a, scope(2) as b:
        y = x * a + b
    return y * sum(seen) + len(seen) * y


@simple
def class_with_enter(x):
    class Scale:
        def __enter__(self):
            self.k = 3
            return self

        def __exit__(self, *exc):
            self.k = 0
            return False
    with Scale() as s:
        y = x * s.k
    return y + s.k


@simple
def match_statement(x):
    match (x.ndim, "relu"):
        case (1, str() as name) if name.startswith("r"):
            return ops.relu(x) * len(name)
        case _:
            return x


@simple
def assertions(x):
    assert x.ndim == 1, "one axis"
    assert x.sum() > -100, "not too small"
    return x


@simple
def raise_of_a_size(x):
    if x.ndim != 1:
        raise ValueError(f"ndim {x.ndim}")
    return x * 2


@simple
def passes(x):
    """A docstring."""
    def nothing():
        ...
    pass
    return x if nothing() is None else -x


@simple
def global_statement(x):
    return x * G + TABLE["b"][1] * TABLE["a"]


# ---- functions ----

@simple
def recursion(x):
    def fact(n):
        return 1 if n <= 1 else n * fact(n - 1)
    return x * fact(5)


@simple
def mutual_recursion(x):
    def even(n):
        return x if n == 0 else odd(n - 1)

    def odd(n):
        return -x if n == 0 else even(n - 1) + 1
    return even(4) + odd(3)


@simple
def closures_and_nonlocal(x):
    total = x

    def add(v):
        nonlocal total
        total = total + v
        return total
    for f in [lambda v, i=i: add(v * i) for i in range(3)]:
        f(x)
    return total


@simple
def lambdas(x):
    twice = lambda f: lambda v: f(f(v))  # noqa: E731
    return twice(twice(lambda v: v * 2 + 1))(x)


@simple
def default_arguments(x):
    def f(a, b=2, *, c=None, d=()):
        return a * b + (0 if c is None else c) + len(d)
    return f(x) + f(x, 3, c=x, d=(1, 2))


@simple
def partial_and_map(x):
    mul = functools.partial(lambda a, b, c=1: a * b + c, 2)
    return sum(map(mul, (x, x + 1))) + sum(filter(lambda v: v > 1, (1, 2, 3))) * functools.partial(mul, c=5)(x)


@simple
def decorated(x):
    def scaled(k):
        def wrap(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs) * k
            return inner
        return wrap

    @scaled(3)
    @scaled(2)
    def f(v):
        return v + 1
    return f(x)


@simple
def cached(x):
    @functools.lru_cache(maxsize=None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)
    return x * fib(10)


@simple
def returns_function_results(x):
    def minmax(v):
        return v.min(), v.max()
    low, high = minmax(x)
    return {"low": low, "rest": [high, (low + high, None, 3, "s", True)]}


@case
def function_from_exec():
    space = {}
    exec("def f(x):\n    y = x * 2\n    for i in range(3):\n        y = y + i\n    return y", space)
    return space["f"], None, None


@case
def lambda_from_eval():
    return eval("lambda x: (x * x if x.ndim else x) + 1"), None, None


@case
def two_lambdas_on_a_line():
    fs = [lambda x: x * 2, lambda x: x * 3]
    return (lambda x: fs[0](x) - fs[1](x)), None, None


# ---- classes ----

class Base:
    scale = 2.0

    def __init__(self, k):
        self.k = k

    def run(self, x):
        return x * self.k * self.scale

    @property
    def shifted(self):
        return self.k + 1

    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def scaled(cls, x):
        return x * cls.scale


class Derived(Base):
    scale = 3.0

    def run(this, x):
        return super().run(x) + super(Derived, this).twice(x) + this.shifted

    def __call__(self, x):
        return self.run(x) + self.scaled(x)

    def __add__(self, other):
        return other + self.k

    def __getitem__(self, i):
        return self.k * i

    def __len__(self):
        return 4

    def __iter__(self):
        return iter([self.k, 2 * self.k])

    def __getattr__(self, name):
        if name.startswith("dyn_"):
            return len(name)
        raise AttributeError(name)


@case
def methods_and_super():
    d = Derived(2)
    return (lambda x: d(x) + d.run(x)), d, None


@case
def operators_of_objects():
    d = Derived(2)
    return (lambda x: (d + x) * d[3] + len(d) + sum(d) + d.dyn_attr), d, lambda k: setattr(d, "k", k)


@case
def property_reads_state():
    d = Derived(1)
    return (lambda x: x * d.shifted), d, lambda k: setattr(d, "k", k * 3)


@case
def slots():
    class S:
        __slots__ = ("k",)
    s = S()
    s.k = 1
    return (lambda x: x * s.k), None, lambda k: setattr(s, "k", k)


@case
def object_made_inside():
    def f(x):
        d = Derived(3)
        d.k += 1
        return d(x) + Base.scaled(x)
    return f, None, lambda k: setattr(Base, "scale", 2.0 + k % 2)


@case
def bound_method():
    d = Derived(2)
    return d.run, d, lambda k: setattr(d, "k", k // 2)


@case
def static_and_class_methods():
    return (lambda x: Derived.scaled(x) + Derived.twice(x)), None, lambda k: setattr(Derived, "scale", 3.0 + k)


@case
def object_state_written():
    s = State(n=0, last=None, seen=[], by={})

    def f(x):
        s.n += 1
        s.last = x * 2
        s.seen.append(s.n)
        s.by[s.n] = x
        return x * s.n
    return f, s, None


@case
def object_state_written_only():
    s = State()

    def f(x):
        s.last = x * 2
        return x
    return f, s, None


@case
def state_written_in_a_branch():
    s = State(n=1, items=[])

    def f(x):
        if x.sum() > 4:
            s.n = s.n + 1
            s.items.append(x)
        return x * s.n
    return f, s, None


@case
def list_in_closure():
    log = []

    def f(x):
        log.append(len(log))
        return x * len(log)
    return f, State(log=log), None


@case
def iterator_in_closure():
    it = itertools.count(1)
    return (lambda x: x * next(it)), None, None


@case
def nonlocal_counter():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x * n
    return f, None, None


# ---- what changes between calls ----

@case
def closure_changes():
    k = 1.0

    def f(x):
        return x * k

    def change(n):
        nonlocal k
        k = n + 0.5
    return f, None, change


@case
def global_changes():
    def change(n):
        globals()["G"] = 1.0 + n % 2
    return (lambda x: x * G), None, change


@case
def dict_item_changes():
    d = {"a": {"b": [1, 2]}}
    return (lambda x: x * d["a"]["b"][0]), None, lambda n: d["a"]["b"].__setitem__(0, n)


@case
def function_is_replaced():
    s = State(f=lambda v: v)
    return (lambda x: s.f(x)), None, lambda n: setattr(s, "f", (lambda v: v * 2) if n % 2 else (lambda v: v * 3))


@case
def array_changes():
    a = np.ones(3, np.float32)
    return (lambda x: x * Tensor(a)), None, lambda n: a.__setitem__(0, n)


@case
def tensor_changes():
    w = Tensor(np.ones(3, np.float32))
    return (lambda x: x * w), None, lambda n: w.__setitem__(0, float(n))


@case
def tensor_is_replaced():
    s = State(w=Tensor(np.ones(3, np.float32)))
    return (lambda x: x * s.w), None, lambda n: setattr(s, "w", Tensor(np.full(3, n, np.float32)))


@case
def default_argument_changes():
    def f(x, k=[1]):
        return x * k[0]
    return f, None, lambda n: f.__defaults__[0].__setitem__(0, n)


@case
def module_attribute_changes():
    import types
    m = types.ModuleType("settings")
    m.k = 1
    return (lambda x: x * m.k), None, lambda n: setattr(m, "k", n)


# ---- Cells ----

class Block(nn.Cell):
    def __init__(self, width=3):
        super().__init__()
        self.w = Parameter(Tensor(np.arange(width, dtype=np.float32)), name="w")
        self.count = Parameter(Tensor(0.0), requires_grad=False, name="count")
        self.k = 2
        self.layers = nn.CellList([nn.ReLU(), nn.Tanh()])
        self.acts = {"a": ops.sin}

    def construct(self, x):
        self.count += 1
        y = x * self.w * self.k
        for i, layer in enumerate(self.layers):
            y = layer(y) + i
        return self.acts["a"](y) + self.helper(y) * self.count

    def helper(self, y):
        return y - 1 if self.training else y + 1


class Child(Block):
    def construct(self, x, scale=None):
        return super().construct(x) * (1 if scale is None else scale)


@case
def cell():
    net = Block()
    return (lambda x: net(x)), net, None


@case
def cell_mode_changes():
    net = Child()
    return (lambda x: net(x, scale=2)), net, lambda n: net.set_train(bool(n % 2))


@case
def cell_attribute_changes():
    net = Child()
    return (lambda x: net(x)), net, lambda n: setattr(net, "k", n)


@case
def cell_parameter_set():
    net = Block()
    return (lambda x: net(x)), net, lambda n: net.w.set_data(Tensor(np.full(3, n, np.float32)))


@case
def cell_parameter_replaced():
    net = Block()
    return (lambda x: net(x)), net, lambda n: setattr(net, "w", Parameter(Tensor(np.full(3, n, np.float32)), name="w"))


@case
def cell_layer_replaced():
    net = Block()
    return (lambda x: net(x)), net, lambda n: net.layers.__setitem__(1, nn.Sigmoid() if n % 2 else nn.Tanh())


@case
def cell_python_state():
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.steps, self.history = 0, []

        def construct(self, x):
            self.steps += 1
            self.history.append(self.steps)
            return x * self.steps + len(self.history)
    net = Counter()
    return (lambda x: net(x)), net, None


@case
def cell_keeps_a_tensor():
    class Keeper(nn.Cell):
        def __init__(self):
            super().__init__()
            self.last = None

        def construct(self, x):
            y = x if self.last is None else x + self.last
            self.last = x
            return y
    net = Keeper()
    return (lambda x: net(x)), net, None


@case
def cell_state_in_a_branch():
    class Switch(nn.Cell):
        def __init__(self):
            super().__init__()
            self.x = 1

        def construct(self, x):
            if self.x > 3:
                self.x = x
            else:
                self.x = self.x + 1
            return self.x + x
    net = Switch()
    return (lambda x: net(x)), None, None


class Boxes(nn.Cell):
    def __init__(self):
        super().__init__()
        self.ks, self.od, self.d = [1.0, 2.0], OrderedDict(a=1.0), {"x": ([1.0],)}

    def construct(self, x):
        return x * self.ks[0] + self.od["a"] + self.d["x"][0][0]


@case
def containers_of_a_cell_change():
    net = Boxes()

    def change(n):
        [lambda: net.ks.__setitem__(0, 3.0), lambda: net.od.update(a=4.0), lambda: net.d["x"][0].append(1),
         lambda: net.d["x"][0].__setitem__(0, 5.0), lambda: None, lambda: net.ks.insert(0, 9.0)][n]()
    return (lambda x: net(x)), net, change


@case
def containers_of_a_cell_written():
    class Log(Boxes):
        def construct(self, x):
            self.ks.append(x.shape[0])
            self.od["n"] = len(self.ks)
            return x * self.od["n"]
    net = Log()
    return (lambda x: net(x)), State(ks=net.ks), None


@case
def hooks_of_a_cell_change():
    net = Boxes()
    handles = []

    def change(n):
        handles[-1].remove() if handles and n % 2 else handles.append(net.register_forward_hook(lambda c, i, o: o * n))
    return (lambda x: net(x)), net, change


@case
def buffers_and_running_mean():
    net = nn.BatchNorm1d(1).set_train()
    return (lambda x: net(x.reshape(3, 1)).reshape(3)), net, None


@case
def dropout_draws():
    net = nn.Dropout(p=0.5).set_train()
    return (lambda x: net(x)), None, lambda n: ms.set_seed(n)


@case
def custom_bprop():
    class Own(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (dout * 10,)
    net = Own()
    return (lambda x: net(x) + 1), net, None


@case
def jit_inside_jit():
    inner = ms.jit(lambda v, k: v * k if v.sum() > 3 else v)
    return (lambda x: inner(x, 2) + inner(x, k=3)), None, None


@case
def gradient_inside():
    return (lambda x: ms.grad(lambda v: (v ** 3).sum())(x) + ops.vmap(lambda v: v * 2)(x)), None, None


# ---- the check ----

def plain(value):
    if isinstance(value, Tensor):
        return np.asarray(value.asnumpy())
    if isinstance(value, nn.Cell):
        own = {k: v for k, v in vars(value).items() if k in ("k", "steps", "history", "last", "x")}
        return {**{p.name: plain(p) for p in value.get_parameters()}, **plain(own)}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    return plain(vars(value)) if isinstance(value, (State, Base)) else value


def close(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and np.allclose(
            a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == b or a != a and b != b


def total(value):
    """The sum of all floats of a result."""
    if isinstance(value, Tensor):
        return value.sum() if value.is_floating_point() else 0.0
    if isinstance(value, dict):
        value = value.values()
    return sum(map(total, value)) if isinstance(value, (list, tuple, type({}.values()))) else 0.0


INPUTS = [[1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [4.0, 5.0, 6.0], [-1.0, 0.0, 2.0], [1.0, 2.0, 0.5], [4.0, 5.0, 6.0]]
DECIDED_BY_TENSORS = {}


def run(maker, wrap, backward):
    saved = G, Base.scale, Derived.scale
    ms.set_seed(0)
    try:
        fn, state, change = maker()
        fn = wrap(fn)
        out = []
        for k, row in enumerate(INPUTS):
            if change is not None:
                change(k)
            x = Tensor(np.array(row, np.float32))
            try:
                out.append(plain(ms.grad(lambda v: total(fn(v)))(x) if backward else fn(x)))
            except (ValueError, TypeError, AssertionError) as e:
                out.append(type(e).__name__)
        return [*out, plain(state)]
    finally:
        globals()["G"], Base.scale, Derived.scale = saved


@pytest.mark.parametrize("name", CASES)
def test_python(name):
    for backward in (False, True):
        want = run(CASES[name], lambda f: f, backward)
        for options in ({}, {"jit_level": "O1"}, {"capture_mode": "bytecode"}, {"capture_mode": "trace"}):
            got = run(CASES[name], lambda f: ms.jit(f, **options), backward)
            for k, (a, b) in enumerate(zip(want, got)):
                assert close(a, b), (options, "gradient" if backward else "value", "call" if k < len(INPUTS) else "state", k, a, b)


def test_classes():
    @ms.jit(capture_mode="trace")
    class Net(ms.nn.Cell):
        def __init__(self, factor):
            super(Net, self).__init__()
            self.factor = factor

        def construct(self, x):
            return x * self.factor

    @ms.jit
    class Call:
        def __call__(self, x):
            return x + 1
    x = Tensor([1.0, 2.0])
    assert Net(3)(x).asnumpy().tolist() == [3, 6] and Net(4)(x).asnumpy().tolist() == [4, 8]
    assert Call()(x).asnumpy().tolist() == [2, 3]
    with pytest.raises(TypeError, match="class Empty has no '__call__'"):
        ms.jit(type("Empty", (), {}))


def test_elementwise_operators_that_no_fused_loop_has():
    for fn, inputs in ((lambda a, b: ms.ops.igamma(a, b) * 2 + 1, (Tensor([1.0, 2.0]), Tensor([1.0, 2.0]))),
                       (lambda a, b: ms.ops.lcm(a, b) + a, (Tensor([4, 6]), Tensor([6, 9]))),
                       (lambda a, b: ms.ops.nextafter(a, b) * a, (Tensor([1.0, 2.0]), Tensor([5.0, 0.0])))):
        assert ms.jit(fn, jit_level="O1")(*inputs).asnumpy().tolist() == fn(*inputs).asnumpy().tolist()


@pytest.mark.parametrize("mode", ["ast", "trace", "bytecode"])
def test_iterators_in_the_result_are_run(mode):
    """A graph hands out sequences, as the original's; what they compute is part of it."""
    @ms.jit(capture_mode=mode)
    def f(x):
        return (x * k for k in range(3) if k), map(lambda a: a + 1, (1, x)), {"z": zip((1, 2), (x, x))}, range(2), enumerate((x,)), filter(None, (0, 5))
    for value in (1.0, 2.0):
        gen, mapped, rest, numbers, pairs, kept = f(Tensor([value]))
        assert type(gen) is list and [t.item() for t in gen] == [value, 2 * value]
        assert mapped[0] == 2 and mapped[1].item() == value + 1
        assert rest["z"][1][0] == 2 and rest["z"][1][1].item() == value and numbers == (0, 1) and kept == [5]
        assert pairs[0][0] == 0 and pairs[0][1].item() == value


def test_functions_in_the_result():
    for fn in (lambda x: (x, ops.add), lambda x: lambda: x, lambda x: [nn.ReLU()]):
        with pytest.raises(RuntimeError, match="Function in output is not supported"):
            ms.jit(fn)(Tensor([1.0]))
    assert ms.jit(lambda x: [nn.ReLU()], capture_mode="bytecode")(Tensor([1.0]))[0](Tensor([-1.0])).tolist() == [0]


def test_graphs_are_saved(tmp_path, monkeypatch):
    def f(x):
        while x.sum() < 10:
            x = x * 2
        return x
    x = Tensor([1.0, 2.0])
    saved = {}
    try:
        for level in (0, 1, 2, 3, True):
            ms.set_context(save_graphs=level, save_graphs_path=str(tmp_path / repr(level)))
            ms.jit(f)(x)
            saved[level is True, level] = [(p.name, p.read_text()) for p in (tmp_path / repr(level)).glob("*")]
        ms.set_context(save_graphs=0, save_graphs_path=".")
        monkeypatch.setenv("MS_DEV_SAVE_GRAPHS", "1")
        monkeypatch.setenv("MS_DEV_SAVE_GRAPHS_PATH", str(tmp_path / "env"))
        ms.jit(f)(x)
        assert len(list((tmp_path / "env").glob("*_validate_*.ir"))) == 1
        with pytest.raises(ValueError, match="save_graphs"):
            ms.set_context(save_graphs=4)
    finally:
        ms.set_context(save_graphs=False, save_graphs_path=".")
    assert list(map(len, saved.values())) == [0, 1, 2, 3, 2]
    for name, text in saved[False, 3]:
        if name.endswith(".ir"):
            assert str(ms._c.graph_parse(text)).strip() == text.strip() and "while(" in text
        else:
            assert text.startswith("digraph {") and text.count(" -> ") > 5
