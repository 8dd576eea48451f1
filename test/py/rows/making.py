"""Making tensors: constants, ranges and random numbers. Random results are checked by their distribution."""
import numpy as np

import mindspore as ms

from .table import B, F, I, c, f, i, np_dtype, row

BIG = np.full((60, 50), 0.5)


def typed(a, dtype, default):
    return np.asarray(a).astype(np_dtype(dtype) if dtype is not None else default)


def sizes(*size):
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


for name, value in (('zeros', 0), ('ones', 1)):
    key = 'size' if name == 'zeros' else 'shape'
    row(f'ops.{name}', lambda size, dtype=None, v=value: typed(np.full(size, v), dtype, np.float32), c((2, 3)), c(4),
        c(**{key: (2,), 'dtype': ms.int8}))
    row(f'mint.{name}', lambda *size, dtype=None, v=value: typed(np.full(sizes(*size), v), dtype, np.float32), c(2, 3), c((2, 3)),
        c(4, dtype=ms.bool))
    row(f'ops.{name}_like mint.{name}_like', lambda x, dtype=None, v=value: typed(np.full(x.shape, v), dtype, x.dtype), c(F), c(I),
        c(B), c(input=F, dtype=ms.int32))
    row(f'Tensor.new_{name}', lambda x, size, dtype=None, v=value: typed(np.full(size, v), dtype, x.dtype), c(F, (2,)), c(I, 3),
        c(F, size=(1, 2), dtype=ms.int32))


def full(size, fill_value, dtype=None):
    kind = {bool: np.bool_, int: np.int64, float: np.float32}.get(type(fill_value))
    return typed(np.full(size, fill_value), dtype, kind or np.asarray(fill_value).dtype)


row('ops.full', lambda size, v, dtype=None: typed(np.full(size, int(v)), dtype, np.int64), c((2, 3), 3), c((2,), 3.5))
row('ops.full', full, c((2,), 2.5, dtype=ms.float16), c(size=3, fill_value=True, dtype=ms.bool))
row('mint.full', full, c((2, 3), 3), c(size=3, fill_value=2.5, dtype=ms.float16))
row('ops.full_like mint.full_like', lambda x, v, dtype=None: typed(np.full(x.shape, v), dtype, x.dtype), c(F, 2.5), c(I, 3),
    c(input=F, fill_value=2, dtype=ms.int32))
row('Tensor.new_full', lambda x, size, fill_value, dtype=None: typed(np.full(size, fill_value), dtype, x.dtype), c(F, (2,), 2.5),
    c(I, size=(2, 1), fill_value=3, dtype=ms.float32))
row('Tensor.fill', lambda x, value: np.full(x.shape, value, x.dtype), c(F, 2.5), c(I, value=3))
row('ops.fill', lambda dtype, shape, value: typed(np.full(shape, value), dtype, None), c(ms.float32, (2, 3), 2.5),
    c(type=ms.int8, shape=(2,), value=3))


def arange(start=0, end=None, step=1, dtype=None):
    a = np.arange(start) if end is None else np.arange(start, end, step)
    kind = np.float32 if any(isinstance(v, float) for v in (start, end, step)) else np.int64
    return typed(a, dtype, kind)


row('ops.arange mint.arange', arange, c(5), c(1, 10, 3), c(0.5, 2.0, 0.25), c(start=3, end=0, step=-1, dtype=ms.float16))
row('ops.arange mint.arange', lambda start, end, step: np.arange(int(start), end, int(step)), c(np.array(1), 10, np.array(3)), dynamic=True)
row('ops.range', lambda start, end, step, maxlen=0: np.arange(start, end, step), c(0, 7, 2), c(start=5, end=0, step=-2, maxlen=10))
row('ops.linspace', lambda start, end, steps: np.linspace(start, end, steps).astype(np.float32), c(1, 2, 5), c(0.5, -1, 1),
    c(start=0, end=3, steps=4))
row('mint.linspace', lambda start, end, steps, dtype=None: typed(np.linspace(start, end, steps), dtype, np.float32), c(1, 2, 5),
    c(start=0, end=3, steps=4, dtype=ms.float16))
row('ops.logspace', lambda start, end, steps, base=10, dtype=None: typed(np.logspace(start, end, steps, base=base), dtype, np.float32),
    c(0.0, 2.0, 3), c(start=1, end=3, steps=3, base=2, dtype=ms.float16))
row('ops.eye mint.eye', lambda n, m=None, dtype=None: typed(np.eye(n, m), dtype, np.float32), c(3), c(2, 4, ms.int32),
    c(n=3, m=1, dtype=ms.int8))

# ---- random ----


def within(low, high, mean=None, whole=False):
    """Numbers in [low, high), with this mean when there are many."""
    def check(y, *args, **kw):
        y = y.astype(float)
        assert (y >= low).all() and (y < high).all() and (not whole or (y == y.round()).all())
        if mean is not None and y.size > 1000:
            assert abs(y.mean() - mean) < 6 * (high - low) / np.sqrt(12 * y.size) and len(np.unique(y)) > 1
    return check


def normal(mean=0.0, std=1.0):
    def check(y, *args, **kw):
        if y.size > 1000:
            assert abs(y.mean() - mean) < 6 * std / np.sqrt(y.size) and abs(y.std() - std) < 6 * std / np.sqrt(y.size)
    return check


def shaped(shape, dtype, check):
    def call(y, *args, **kw):
        want = shape(*args, **kw) if callable(shape) else shape
        assert y.shape == tuple(want), (y.shape, want)
        kind = dtype(*args, **kw) if callable(dtype) else dtype
        assert y.dtype == kind, (y.dtype, kind)
        check(y, *args, **kw)
    return call


def anything(y, *args, **kw):
    pass


def asked(default):
    return lambda *a, dtype=None, **kw: np.dtype(np_dtype(dtype) if dtype is not None else default)


def made(*size, **kw):
    return sizes(*size)


def g():
    return ms.Generator()


GEN = g()
for name, check in (('rand', within(0, 1, 0.5)), ('randn', normal())):
    row(f'ops.{name}', None, c(60, 50), c((3, 4)), c(5, dtype=ms.float64, seed=3), check=shaped(made, asked('float32'), check))
    row(f'mint.{name}', None, c(60, 50), c((3, 4)), c(5, generator=GEN, dtype=ms.float64, device='CPU'),
        check=shaped(made, asked('float32'), check))
    row(f'ops.{name}_like', None, c(I, 7, dtype=ms.float64), c(input=I, seed=1, dtype=ms.float16),
        check=shaped((2, 3), asked('float32'), check))
    row(f'mint.{name}_like', None, c(I, dtype=ms.float32, device='CPU'), c(input=I, dtype=ms.float16, device='CPU'),
        check=shaped((2, 3), asked('float32'), check))
row('ops.randint', None, c(-3, 7, (60, 50)), c(low=-3, high=7, size=(4,), seed=5, dtype=ms.int32),
    check=shaped(lambda low, high, size, **k: size, asked('int64'), within(-3, 7, 1.5, True)))
row('mint.randint', None, c(-3, 7, (60, 50)), c(low=-3, high=7, size=(4,), generator=GEN, dtype=ms.int32, device='CPU'),
    check=shaped(lambda low, high, size, **k: size, asked('int64'), within(-3, 7, 1.5, True)))
row('mint.randint', None, c(7, (60, 50)), c(high=7, size=(4,), generator=GEN, dtype=ms.int32, device='CPU'),
    check=shaped(lambda high, size, **k: size, asked('int64'), within(0, 7, 3, True)))
row('ops.randint_like', None, c(I, -3, 7), c(input=BIG, low=-3, high=7, seed=5, dtype=ms.int32),
    check=shaped(lambda input, low, high, **k: input.shape, asked('int64'), within(-3, 7, 1.5, True)))
row('mint.randint_like', None, c(I, -3, 7), c(input=I, low=-3, high=7, dtype=ms.int32, device='CPU'),
    check=shaped((2, 3), asked('int64'), within(-3, 7, 1.5, True)))
row('mint.randint_like', None, c(I, 7), c(input=I, high=7, dtype=ms.int32, device='CPU'),
    check=shaped((2, 3), asked('int64'), within(0, 7, 3, True)))


def check_permutation(y, n, *args, dtype=ms.int64, **kw):
    assert y.dtype == np_dtype(dtype if not args[2:] else args[2]) and sorted(y.tolist()) == list(range(n))


row('ops.randperm', None, c(9), c(9, 3, 0, ms.int32), c(n=5, seed=1, offset=2, dtype=ms.int64), check=check_permutation)
row('mint.randperm', None, c(9), c(n=5, generator=GEN, dtype=ms.int32), check=check_permutation)
row('ops.uniform', None, c((60, 50), np.array(-1.0), np.array(3.0)), c((4,), -1.0, 3.0, 5, ms.float32),
    c(shape=(2,), minval=np.array(-1.0), maxval=np.array(3.0), seed=1, dtype=ms.float32),
    check=shaped(lambda *a, **k: k['shape'] if 'shape' in k else a[0], 'float32', within(-1, 3, 1)))
row('ops.normal', None, c((60, 50), 2.0, 0.5), c((4, 3), np.array([1.0, 2, 3]), 0.5, 7), c(shape=(2,), mean=2.0, stddev=0.5, seed=1),
    check=shaped(lambda *a, **k: k['shape'] if 'shape' in k else a[0], 'float32', normal(2, 0.5)))
row('ops.standard_normal', None, c((60, 50)), c((4,), 3), c(shape=(2,), seed=1),
    check=shaped(lambda *a, **k: k['shape'] if 'shape' in k else a[0], 'float32', normal()))
row('ops.standard_laplace', None, c((60, 50)), c((4,), 3), c(shape=(2,), seed=1),
    check=shaped(lambda *a, **k: k['shape'] if 'shape' in k else a[0], 'float32', normal(0, 2**0.5)))
row('ops.laplace', None, c((60, 50), np.array(2.0, np.float32), np.array(0.5, np.float32)),
    c(shape=(2,), mean=np.array(2.0, np.float32), lambda_param=np.array(0.5, np.float32), seed=1),
    check=shaped(lambda *a, **k: k['shape'] if 'shape' in k else a[0], 'float32', lambda y, *a, **k: normal(2, 0.5**0.5)(y)))


def check_mint_normal(y, mean=0.0, std=1.0, size=None, generator=None):
    want = tuple(size) if size is not None else np.broadcast_shapes(np.shape(mean), np.shape(std))
    assert y.shape == want


row('mint.normal', None, c(F, abs(F)), c(1.0, abs(F)), c(mean=1.0, std=2.0, size=(3, 2), generator=GEN), check=check_mint_normal)


def kept(p, axes):
    """dropout: whole planes over `axes` are zero or 1 / (1 - p) times the input."""
    def check(y, x, *args, training=True, **kw):
        if not (args[1] if len(args) > 1 else training):
            assert np.allclose(y, x, rtol=1e-6)
            return
        ratio = y / x
        assert (np.isclose(ratio, 0) | np.isclose(ratio, 1 / (1 - p), rtol=1e-5)).all()
        flat = ratio.reshape(ratio.shape[:axes] + (-1,)) if axes else ratio.reshape(-1, 1)
        assert (np.isclose(flat, flat[..., :1], rtol=1e-5)).all() and abs((flat[..., 0] == 0).mean() - p) < 0.15
    return check


ONES = f(40, 50, lo=0.5, hi=2)
MAPS = f(20, 30, 2, 3, lo=0.5, hi=2)
row('ops.dropout', None, c(ONES, 0.3), c(ONES, 0.3, False), c(ONES, p=0.3, training=True, seed=3), c(ONES, 0.3, True, 5), check=kept(0.3, 0))
row('mint.nn.functional.dropout', None, c(ONES, 0.3), c(ONES, 0.3, False), c(ONES, p=0.3, training=True, inplace=False), check=kept(0.3, 0))
row('ops.dropout1d', None, c(f(20, 30, 6, lo=0.5), 0.3), c(f(20, 30, 6, lo=0.5), 0.3, False), c(f(20, 30, 6, lo=0.5), p=0.3, training=True),
    check=kept(0.3, 2))
row('ops.dropout2d mint.nn.functional.dropout2d', None, c(MAPS, 0.3), c(MAPS, 0.3, False), c(MAPS, p=0.3, training=True, inplace=False),
    check=kept(0.3, 2))
row('ops.dropout3d', None, c(MAPS[..., None], 0.3), c(MAPS[..., None], 0.3, False), c(MAPS[..., None], p=0.3, training=True), check=kept(0.3, 2))


def ones_of(p):
    def check(y, x, *args, **kw):
        assert y.shape == x.shape and set(np.unique(y)) <= {0, 1}
        if y.size > 1000:
            assert abs(y.mean() - p) < 0.06
    return check


row('ops.bernoulli', None, c(BIG, 0.2), c(BIG, np.array(0.2), 3), c(BIG, p=0.2, seed=1), check=ones_of(0.2))
row('mint.bernoulli Tensor.bernoulli ops.bernoulli_ext', None, c(BIG), c(BIG, generator=GEN), check=ones_of(0.5))
row('Tensor.bernoulli_', None, c(BIG, 0.2), c(BIG, p=0.2, generator=GEN), check=ones_of(0.2))


def check_shuffle(y, x, seed=None):
    assert sorted(y.tolist()) == sorted(x.tolist())


RATES, FULL = np.array([3.0, 5.0]), np.array([200, 100])
row('ops.random_poisson', None, c(FULL, RATES), c(shape=FULL, rate=RATES, seed=3, dtype=ms.float64), c(FULL, RATES, 3, ms.int32),
    check=lambda y, *a, **k: (y.shape == (200, 100, 2) and abs(y.mean() - 4) < 0.1) or 1 / 0)
row('ops.random_gamma', None, c((200, 100), RATES), c(shape=FULL, alpha=RATES, seed=3),
    check=lambda y, *a, **k: (y.shape == (200, 100, 2) and abs(y.mean() - 4) < 0.1) or 1 / 0)
row('ops.gamma', None, c((9000, 2), RATES, np.array(0.5)), c(shape=(9000, 2), alpha=RATES, beta=0.5, seed=3),
    check=lambda y, *a, **k: (y.shape == (9000, 2) and abs(y.mean() - 8) < 0.3) or 1 / 0, grad=False)
row('ops.poisson', None, c((9000, 2), RATES), c(shape=(9000, 2), mean=RATES, seed=3),
    check=lambda y, *a, **k: (y.shape == (9000, 2) and abs(y.mean() - 4) < 0.1) or 1 / 0)
row('ops.shuffle', None, c(i(9, 2)), c(i(9, 2), 3), c(i(9, 2), seed=1), check=check_shuffle)
WEIGHTS = np.array([[0.0, 3.0, 1.0], [1.0, 0.0, 0.0]])


def check_multinomial(y, x, num_samples, replacement=True, *args, **kw):
    assert y.shape == (2, num_samples) and (y[0] != 0).all() and (y[1] == 0).all()
    assert y.dtype in (np.int32, np.int64)
    if num_samples > 100:
        assert abs((y[0] == 1).mean() - 0.75) < 0.08


def check_distinct(y, x, num_samples, *args, **kw):
    assert sorted(y[0].tolist()) == [1, 2]


row('ops.multinomial Tensor.multinomial', None, c(WEIGHTS, 2000), c(WEIGHTS, 2000, True, 3), c(WEIGHTS, num_samples=5, replacement=True, seed=1),
    check=check_multinomial)
row('mint.multinomial', None, c(WEIGHTS, 2000, True), c(WEIGHTS, num_samples=5, replacement=True, generator=GEN), check=check_multinomial)
row('mint.multinomial', None, c(WEIGHTS[:1], 2), check=check_distinct)
row('ops.random_categorical Tensor.random_categorical', None, c(np.log(WEIGHTS + 1e-30), 2000), c(np.log(WEIGHTS + 1e-30), 5, 1, ms.int32),
    c(np.log(WEIGHTS + 1e-30), num_sample=5, seed=2, dtype=ms.int64),
    check=lambda y, x, num_sample, *a, **k: check_multinomial(y, x, num_sample))
row('Tensor.uniform', None, c(BIG, -1.0, 3.0), c(BIG, from_=-1.0, to=3.0, generator=GEN), check=within(-1, 3, 1))
row('Tensor.uniform_', None, c(BIG, -1.0, 3.0), c(BIG, from_=-1.0, to=3.0, generator=GEN), check=within(-1, 3, 1))
row('Tensor.normal_ ops.normal_', None, c(BIG, 2.0, 0.5), c(BIG, mean=2.0, std=0.5, generator=GEN), check=normal(2, 0.5))
row('Tensor.log_normal', None, c(BIG, 2.0, 0.5), c(BIG, mean=2.0, std=0.5), check=lambda y, *a, **k: normal(2, 0.5)(np.log(y)))
row('Tensor.exponential_', None, c(BIG, 2.0), c(BIG, lambd=2.0, generator=GEN), check=normal(0.5, 0.5))
row('Tensor.random_ ops.random_', None, c(BIG, 3, 9), c(BIG, from_=3, to=9, generator=GEN), check=within(3, 9, 5.5, True))
row('mint.empty', None, c(2, 3), c((2, 3), dtype=ms.float32, device='CPU', pin_memory=False), check=shaped((2, 3), 'float32', anything))
row('mint.empty_like', None, c(I, dtype=ms.float32, device='CPU', pin_memory=False), check=shaped((2, 3), 'float32', anything))
row('Tensor.new_empty', None, c(I, (2, 3), dtype=ms.float32), c(I, size=(2, 3), dtype=ms.float32, device='CPU'),
    check=shaped((2, 3), 'float32', anything))
