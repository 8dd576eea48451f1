"""mindspore.numpy against numpy: one line per function, the same call on both sides."""
import numpy as onp
import pytest

import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Tensor

rng = onp.random.default_rng(1)
X = rng.standard_normal((3, 4)).astype('f4')
Y = rng.standard_normal((3, 4)).astype('f4')
P = onp.abs(X) + 0.5
Q = rng.uniform(-0.9, 0.9, (3, 4)).astype('f4')
V = rng.standard_normal(6).astype('f4')
W = rng.standard_normal(4).astype('f4')
S = onp.sort(V)
I = rng.integers(1, 9, (3, 4)).astype('i4')  # noqa: E741
J = rng.integers(1, 9, (3, 4)).astype('i4')
B = X > 0
A = rng.standard_normal((4, 4)).astype('f4')
NAN = onp.where(X > 1, onp.nan, X).astype('f4')
C = rng.standard_normal((2, 3, 4)).astype('f4')


def numpy_(name):
    return getattr(onp, {'absolute': 'abs', 'trapz': 'trapezoid' if hasattr(onp, 'trapezoid') else 'trapz',
                         'sometrue': 'any', 'norm': 'norm', 'matrix_power': 'matrix_power', 'multi_dot': 'multi_dot',
                         'in1d': 'isin', 'asfarray': 'asarray'}.get(name, name), None) or getattr(onp.linalg, name)


def check(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            check(g, w)
        return
    want = onp.asarray(want)
    got = got.asnumpy() if isinstance(got, Tensor) else onp.asarray(got)
    assert got.shape == want.shape, (got.shape, want.shape)
    onp.testing.assert_allclose(got.astype(want.dtype), want, rtol=2e-4, atol=2e-5)


def call(name, *args, **kw):
    t = lambda x: Tensor(x) if isinstance(x, onp.ndarray) else type(x)(t(v) for v in x) if isinstance(
        x, (tuple, list)) else x
    return getattr(mnp, name)(*(t(a) for a in args), **{k: t(v) for k, v in kw.items()}), numpy_(name)(*args, **kw)


UNARY = {'sqrt cbrt log log1p log2 log10 reciprocal': P, 'exp expm1 exp2 sin cos tan sinh cosh tanh arctan arcsinh '
         'abs absolute square floor ceil trunc rint fix sign negative positive isnan isinf isfinite signbit deg2rad '
         'rad2deg radians fabs isneginf isposinf around logical_not': X, 'arcsin arccos arctanh': Q, 'arccosh': P + 1,
         'invert bitwise_not': I}
BINARY = {'add subtract multiply maximum minimum equal not_equal greater greater_equal less less_equal logical_and '
          'logical_or logical_xor arctan2 hypot logaddexp logaddexp2 copysign heaviside': (X, Y),
          'divide true_divide floor_divide mod remainder fmod divmod': (X, P),
          'power float_power': (P, Y), 'gcd lcm bitwise_and bitwise_or bitwise_xor': (I, J), 'outer dot inner': (V, V),
          'matmul dot kron': (X, A), 'inner': (X, W), 'convolve correlate': (V, W), 'polyadd polysub polymul': (V, W),
          'isclose array_equal array_equiv': (X, X), 'in1d setdiff1d intersect1d': (V, S[2:])}


@pytest.mark.parametrize('name, x', [(n, x) for names, x in UNARY.items() for n in names.split()])
def test_unary(name, x):
    check(*call(name, x))


@pytest.mark.parametrize('name, xy', [(n, xy) for names, xy in BINARY.items() for n in names.split()])
def test_binary(name, xy):
    check(*call(name, *xy))


REDUCTIONS = ('sum mean std var amax amin max min ptp argmax argmin count_nonzero sometrue cumsum cumprod nansum nanmean '
              'nanvar nanstd nanmax nanmin nancumsum average').split()


@pytest.mark.parametrize('name', REDUCTIONS)
def test_reductions(name):
    x = NAN if name.startswith('nan') else X
    for axis in (None, 0, -1):
        check(*call(name, x, axis=axis))
    if name in ('sum', 'mean', 'std', 'var', 'amax', 'nansum', 'nanstd', 'count_nonzero'):
        check(*call(name, x, axis=(0, 1), keepdims=True))


CASES = [
    ('tensordot', C, C, 3), ('tensordot', C, X, ((1, 2), (0, 1))), ('cross', C[..., :3], C[..., 1:]),
    ('cross', X[:, :2], Y[:, :3]), ('trace', A, 1), ('norm', X), ('matrix_power', A, 3), ('multi_dot', (X, A, A)),
    ('clip', X, -0.5, 0.5), ('cov', X), ('corrcoef', X), ('bincount', I.reshape(-1)), ('histogram', V, 4),
    ('histogram', V, [-1.0, 0.0, 1.0]), ('histogram_bin_edges', V, 5), ('histogram2d', V, S, 3),
    ('searchsorted', S, V), ('searchsorted', S, V, 'right'), ('digitize', V, S), ('digitize', V, S[::-1].copy(), True),
    ('interp', W, S, V), ('trapz', X), ('trapz', V, S), ('diff', X, 2), ('diff', X, 1, 0), ('ediff1d', V),
    ('gradient', X), ('gradient', V, 2.0), ('unwrap', 3 * V), ('convolve', V, W, 'same'), ('correlate', V, W, 'full'),
    ('polyval', V, W), ('polyder', V, 2), ('polyint', V), ('unique', I), ('isin', I, J[0]),
    ('eye', 3, 4, 1), ('tri', 3, 4, -1), ('tril', X, 1), ('triu', X, -1), ('diag', V, -1), ('diag', X, 1),
    ('diagflat', W, 2), ('diagonal', C, 1, 0, 2), ('vander', W), ('vander', W, 3, True), ('bartlett', 7),
    ('blackman', 7), ('hamming', 7), ('hanning', 7), ('linspace', 0, 5, 7), ('linspace', 0, 5, 7, False),
    ('logspace', 0, 2, 5), ('geomspace', 1, 100, 5), ('arange', 5), ('arange', 1, 7, 2), ('full', (2, 3), 2),
    ('full_like', X, 2), ('ones_like', X), ('zeros', (2,)), ('identity', 3),
    ('transpose', C), ('transpose', C, (1, 2, 0)), ('swapaxes', C, 0, 2), ('moveaxis', C, 0, -1), ('rollaxis', C, 2),
    ('rollaxis', C, 0, 3), ('expand_dims', X, (0, 2)), ('squeeze', X[None]), ('atleast_3d', X), ('atleast_2d', V),
    ('broadcast_to', W, (3, 4)), ('broadcast_arrays', X, W), ('concatenate', (X, Y), 1), ('concatenate', (X, Y), None),
    ('append', X, Y), ('stack', (X, Y), -1), ('hstack', (X, Y)), ('vstack', (V, V)), ('dstack', (X, Y)),
    ('column_stack', (V, V)), ('split', V, 3), ('split', V, (1, 4)), ('array_split', V, 4), ('hsplit', X, 2),
    ('vsplit', X, 3), ('dsplit', C, 2), ('tile', X, (2, 1, 2)), ('repeat', X, 2), ('repeat', X, [1, 0, 2], 0),
    ('roll', X, 3), ('roll', X, (1, 2), (0, 1)), ('flip', X, 0), ('flipud', X), ('fliplr', X), ('rot90', X),
    ('rot90', X, 3), ('where', B, X, Y), ('where', B), ('argwhere', B), ('take', X, I[0] % 4, 1),
    ('take_along_axis', X, onp.argsort(X, 1), 1), ('choose', B.astype('i4'), (X, Y)), ('select', (B, X > -1), (X, Y), 3),
    ('piecewise', X, [B], [1.0, -1.0]), ('apply_along_axis', lambda v: v.sum(), 0, X),
    ('apply_over_axes', lambda a, ax: a.sum(ax), C, (0, 2)), ('meshgrid', V, W), ('indices', (2, 3)), ('diag_indices', 3),
    ('tril_indices', 3, 1), ('triu_indices', 3, 0, 4), ('unravel_index', I, (3, 4)), ('ix_', I[0], J[1]),
    ('pad', X, 1), ('pad', X, ((1, 2), (0, 1)), 'edge'), ('pad', X, 2, 'reflect'), ('pad', X, 1, 'symmetric'),
    ('pad', X, 1, 'wrap'), ('pad', X, 2, 'linear_ramp'), ('pad', X, 1, 'maximum'), ('pad', X, 1, 'mean'),
    ('pad', X, 1, 'median'), ('ravel', X), ('reshape', X, (2, 6)), ('array', X), ('copy', X), ('nanmax', NAN),
    ('average', X, 0, P), ('ravel_multi_index', (I[0] % 3, J[0] % 4), (3, 4)),
]


@pytest.mark.parametrize('case', CASES, ids=lambda c: c[0])
def test_case(case):
    got, want = call(*case)
    check(list(got) if case[0] == 'indices' else got, list(want) if case[0] == 'indices' else want)


def test_types_and_grids():
    assert mnp.array([1, 2]).dtype == ms.int32 and mnp.array(1.5).dtype == ms.float32
    assert mnp.arange(3).dtype == ms.int32 and mnp.sum(mnp.array([1, 2])).dtype == ms.int64
    assert mnp.promote_types(mnp.int32, mnp.float32) == ms.float32 and mnp.add(1, 2, dtype=mnp.float32).dtype == ms.float32
    check(mnp.mgrid[0:3, 0:2], onp.mgrid[0:3, 0:2])
    check(mnp.ogrid[0:3, 0:2], list(onp.ogrid[0:3, 0:2]))
    assert mnp.rand(2, 3).shape == (2, 3) and mnp.randn().shape == () and mnp.randint(1, 5, 3).dtype == ms.int32
    check(mnp.histogramdd((V, S), 3)[0], onp.histogramdd((V, S), 3)[0])
    check(mnp.cov(X, fweights=onp.array([1, 2, 1, 3])), onp.cov(X, fweights=[1, 2, 1, 3]))
    check(mnp.intersect1d(V, S[2:], return_indices=True), onp.intersect1d(V, S[2:], return_indices=True))
    g = ms.grad(lambda x: mnp.sum(mnp.square(mnp.tensordot(x, Tensor(A), 1))))(Tensor(X)).asnumpy()
    check(Tensor(g), 2 * X @ A @ A.T)
    check(ms.jit(lambda self: mnp.std(mnp.concatenate((self, self)), 0))(Tensor(X)), X.std(0))


def test_errors():
    for f in (lambda: mnp.randint(0), lambda: mnp.squeeze(Tensor(X), 0), lambda: mnp.split(Tensor(V), 4),
              lambda: mnp.sum(Tensor(X), axis=5), lambda: mnp.take(Tensor(X), 0, mode='x'), lambda: mnp.clip(X, None, None)):
        with pytest.raises(ValueError):
            f()


def test_cumulative_functions_of_bool():
    for name in ('cumsum', 'cumprod'):
        got, want = (getattr(m, name)(B, axis=1, dtype=bool) for m in (mnp, onp))
        assert got.dtype == ms.bool_
        onp.testing.assert_array_equal(got.asnumpy(), want)
    with pytest.raises(ValueError, match='must be a floating type'):
        mnp.rand(2, dtype=ms.int32)


@pytest.mark.parametrize('draw', [mnp.rand, mnp.randn])
def test_a_set_is_no_shape(draw):
    with pytest.raises(TypeError, match='set'):
        draw({1})


def test_integers_beyond_int32():
    for y in (mnp.full(2, 2**40), mnp.full(2, 2**40, ms.int64), mnp.array([2**40, 2**40]), mnp.arange(2**40, 2**40 + 1)):
        assert y.dtype == ms.int64 and y.asnumpy()[0] == 2**40
    assert mnp.arange(3).dtype == mnp.array([-2**31]).dtype == mnp.cumprod(Tensor([1, 2], ms.int32)).dtype == ms.int32
    with pytest.raises(OverflowError):
        mnp.full_like(Tensor([1], ms.int32), 2**40)


def test_infinities_and_too_few_values():
    x, y = onp.array([1, -2, 3], onp.float32), onp.array([onp.inf, onp.inf, -onp.inf], onp.float32)
    for got, want in zip(mnp.divmod(Tensor(x), Tensor(y)), onp.divmod(x, y)):
        onp.testing.assert_array_equal(got.asnumpy(), want)
    assert onp.isnan(mnp.nanvar(Tensor([1.0, onp.inf, onp.nan])).asnumpy())
    assert onp.isnan(mnp.var(mnp.zeros((2, 0)), -1, ddof=1).asnumpy()).all() and onp.isinf(mnp.var(Tensor([1.0, 2]), ddof=5).asnumpy())
    assert onp.isinf(mnp.nanvar(Tensor([1.0, 2]), ddof=5).asnumpy())
