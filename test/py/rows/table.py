"""The table of API rows: what an entry is, and the values entries are made of.

Adding a row is one line in the module of its family (elementwise, reduction, shape, index, linear, network, loss,
making, order; what layers, primitive classes and optimizers call: layer, primitive, step):

    row('ops.exp mint.exp Tensor.exp', np.exp, c(F), c(f(0)))

names first (every alias), then a numpy reference with the parameters of the row, then cases `c(arguments)`; float
arrays are run as float32 and as float64, the reference always sees float64. Expected dtype: floats keep the dtype
of the run, bool and integers are those of the reference, unless `out=` names it ('float32', or a function of the
run's dtype). Options: `grad=False` where there is nothing to differentiate, `second=False` where the gradient's
gradient is not wanted, `dynamic=True` where the shape of the result depends on values, `inplace=True` where the
first argument is changed, `writes=` numbers of the arrays that are changed, whose new values the reference gives after
the results, `view=` a function of the results that makes unique what is unique only up to a sign, a phase or a basis
(the reference then gives that), `tol=` as a factor on the tolerances, `check=` instead of a reference for random results:
it gets the result (numpy) and the arguments.
"""
import inspect
import math

import numpy as np

import mindspore as ms

TABLE = []
rng = np.random.default_rng(7)


class Case:
    def __init__(self, args, kw):
        self.args, self.kw = args, kw

    def __repr__(self):
        def show(a):
            return f'{a.dtype}{list(a.shape)}' if isinstance(a, np.ndarray) else repr(a)
        return ', '.join([show(a) for a in self.args] + [f'{k}={show(v)}' for k, v in self.kw.items()])


class Row:
    def __init__(self, names, ref, cases, options):
        self.names, self.ref, self.cases = names.split(), ref, cases
        self.out = options.pop('out', None)
        self.grad = options.pop('grad', True)
        self.second = options.pop('second', True)
        self.dynamic = options.pop('dynamic', False)
        self.inplace = options.pop('inplace', False)
        self.writes = options.pop('writes', ())
        self.view = options.pop('view', lambda *results: results)
        self.tol = options.pop('tol', 1)
        self.check = options.pop('check', None)
        assert not options, options
        assert cases, names


def c(*args, **kw):
    return Case(args, kw)


def row(names, ref, *cases, **options):
    TABLE.append(Row(names, ref, cases, options))


def f(*shape, lo=-2.0, hi=2.0):
    """Floats, no two alike and none on a kink."""
    return rng.uniform(lo, hi, shape)


def i(*shape, lo=0, hi=5, dtype=np.int64):
    return rng.integers(lo, hi, shape).astype(dtype)


def b(*shape):
    return rng.integers(0, 2, shape).astype(bool)


def z(*shape):
    return f(*shape) + 1j * f(*shape)


def like(fn, skip=0, extra=()):
    """Decorator: takes the parameters of fn from `skip` on (and more) by name."""
    def decorate(call):
        parameters = list(inspect.signature(fn).parameters.values())[skip:]
        parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in extra]
        call.__signature__ = inspect.Signature(parameters)
        return call
    return decorate


def np_dtype(d):
    """The numpy dtype of a MindSpore dtype (bfloat16: float32)."""
    return ms.dtype_to_nptype(d) if d is not None else None


F, G = f(2, 3), f(2, 3)                 # two matrices
P = f(2, 3, lo=0.3, hi=2)               # positive
U = f(2, 3, lo=-0.9, hi=0.9)            # inside (-1, 1)
I = i(2, 3, lo=-4, hi=5)                # integers
B = b(2, 3)
T3 = f(2, 3, 4)
T4 = f(2, 3, 4, 5)


def elementwise(fn, kind=float):
    """A function of one float as a function of arrays."""
    return lambda x, *rest: np.array([fn(v, *rest) for v in np.ravel(x).astype(float)], kind).reshape(np.shape(x))


def axes(axis):
    """An axis argument as numpy takes it: an empty list is all axes."""
    if isinstance(axis, (list, tuple)):
        return tuple(axis) or None
    return axis


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


erf = elementwise(math.erf)
lgamma = elementwise(math.lgamma)


def polygamma(n, x):
    """Recurrence up to 20, then the asymptotic series."""
    def one(v):
        total = 0.0
        while v < 20:
            total += (-1)**(n + 1) * math.factorial(n) / v**(n + 1) if n else -1 / v
            v += 1
        bernoulli = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66]
        if n == 0:
            tail = math.log(v) - 1 / (2 * v) - sum(b / (2 * k * v**(2 * k)) for k, b in enumerate(bernoulli, 1))
        else:
            tail = (-1)**(n + 1) * (math.factorial(n - 1) / v**n + math.factorial(n) / (2 * v**(n + 1)) + sum(
                b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * v**(2 * k + n))
                for k, b in enumerate(bernoulli, 1)))
        return total + tail
    return elementwise(one)(x)


def erfinv(y):
    """Newton's method on math.erf."""
    def one(v):
        x = 0.0
        for _ in range(60):
            x -= (math.erf(x) - v) * math.sqrt(math.pi) / 2 * math.exp(x * x)
        return x
    return elementwise(one)(y)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    m = x - x.max(axis, keepdims=True)
    return m - np.log(np.exp(m).sum(axis, keepdims=True))


def torch_reduce(loss, reduction):
    return {'mean': np.mean, 'sum': np.sum, 'none': np.asarray}[reduction](loss)
