"""Special functions, pairs and the older names of functions against known values."""
import math

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops


def f64(*v):
    return Tensor(np.array(v, np.float64))


def close(t, want, tol=1e-12):
    np.testing.assert_allclose(t.asnumpy(), np.asarray(want), rtol=tol, atol=tol)


# Abramowitz and Stegun, tables 9.1, 9.8 and by mpmath at 20 digits
@pytest.mark.parametrize('name, x, want', [
    ('bessel_j0', 2.0, 0.22389077914123566805), ('bessel_j1', 2.0, 0.57672480775687338720),
    ('bessel_y0', 2.0, 0.51037567264974511960), ('bessel_y1', 2.0, -0.10703243154093754689),
    ('bessel_i0', 2.0, 2.2795853023360672674), ('bessel_i1', 2.0, 1.5906368546373290634),
    ('bessel_k0', 2.0, 0.11389387274953343565), ('bessel_k1', 2.0, 0.13986588181652242728),
    ('bessel_i0e', 2.0, 2.2795853023360672674 * math.exp(-2)), ('bessel_k0e', 0.1, 2.4270690247020165644 * math.exp(0.1)),
    ('bessel_k1', 0.1, 9.8538447808706050), ('bessel_i0e', 50.0, np.i0(50) * math.exp(-50))])
def test_bessel(name, x, want):
    close(getattr(ops, name)(f64(x)), [want], 1e-9)


def test_incomplete_beta():
    x = np.array([0, .05, .3, .5, .9, .999, 1])
    betainc = ops.Betainc()
    for a, b in ((1, 3.5), (1, 1), (1, .25)):
        close(betainc(f64(a), f64(b), f64(*x)), 1 - (1 - x)**b)
        close(betainc(f64(b), f64(a), f64(*x)), x**b)
    for a, b in ((2, 3), (5, 1), (40, 60), (3, 200)):
        n = a + b - 1
        close(betainc(f64(a), f64(b), f64(*x)), sum(math.comb(n, j) * x**j * (1 - x)**(n - j) for j in range(a, n + 1)), 1e-11)
    assert np.isnan(betainc(f64(1, -1, 1, np.nan), f64(1, 1, 0, 1), f64(2, .5, .5, .5)).asnumpy()).all()
    a, b, t = f64(.7, 3), f64(2, 1.5), f64(.2, .6)
    step = 1e-5
    for k, g in enumerate(ms.grad(betainc, (0, 1, 2))(a, b, t)):
        up, down = ([v + (s * step if j == k else 0) for j, v in enumerate((a, b, t))] for s in (1, -1))
        close(g, ((betainc(*up) - betainc(*down)) / (2 * step)).asnumpy(), 1e-8)
    assert betainc(*(v.astype(ms.float16) for v in (a, b, t))).dtype is ms.float16


def test_gamma_family():
    close(ops.igamma(f64(1, 2.5, 10), f64(1, 2, 12)), [1 - math.exp(-1), 0.45058404864721976, 0.7576078383294876], 1e-10)
    close(ops.igammac(f64(1, 2.5), f64(1, 2)), [math.exp(-1), 1 - 0.45058404864721976], 1e-10)
    close(ops.zeta(f64(2, 3), f64(1, 1)), [math.pi ** 2 / 6, 1.2020569031595942], 1e-13)
    close(ops.mvlgamma(f64(3), 2), [math.lgamma(3) + math.lgamma(2.5) + 0.5 * math.log(math.pi)])
    slope = ms.grad(lambda a: ops.igamma(a, f64(2)))(f64(2.5))
    h = 1e-5
    close(slope, (ops.igamma(f64(2.5 + h), f64(2)).asnumpy() - ops.igamma(f64(2.5 - h), f64(2)).asnumpy()) / (2 * h), 1e-8)


SLOPES = ([-0.8229360969795988, -0.11260572310818615, -0.01925383837470143, -1.3185137804113742e-20],
          [1.6586313062993034, 0.025433676870481196, -0.0006314875566518713, -3.323856334612396e-20],
          [-2.2629213871187894, 0.005569946588897704, 4.348622788016125e-05, -8.102925578991119e-20],
          [0.2768155243583513, 0.04695810996651497, 3.287364573062843, 0.09746282739680061],
          [-0.29957708212070977, 0.0006949085846383215, -20.070092709562225, -0.5894847629026048],
          [-0.47342123086420335, -0.004149824038430953, -10.258670228408237, 0.022947714474125542])


def test_slopes_of_incomplete_functions():
    """Derivatives by the parameters, the first three orders, beside values of 60 digits' arithmetic."""
    a, x, total = f64(.5, 10, 300, 5), f64(.1, 8, 310, 60), lambda f: lambda *v: f(*v).sum()
    first = ms.grad(total(ops.igamma), 0)
    second = ms.grad(total(first), 0)
    close(first(a, x), SLOPES[0], 1e-13)
    close(second(a, x), SLOPES[1], 1e-13)
    close(ms.grad(total(second), 0)(a, x), SLOPES[2], 1e-13)
    close(ms.grad(total(ms.grad(total(ops.igammac), 0)), 0)(a, x), [-v for v in SLOPES[1]], 1e-13)
    v, betainc = (f64(.5, 10, .3, 2.5), f64(.5, 20, .01, .7), f64(.1, .3, .6, .999)), ops.Betainc()
    by_b = ms.grad(total(betainc), 1)
    close(by_b(*v), SLOPES[3], 1e-12)
    close(ms.grad(total(by_b), 1)(*v), SLOPES[4], 1e-12)
    close(ms.grad(total(by_b), 0)(*v), SLOPES[5], 1e-12)


def test_integers():
    a, b = np.array([12, -18, 0, 7]), np.array([18, 12, 5, 0])
    assert np.array_equal(ops.gcd(Tensor(a), Tensor(b)).asnumpy(), np.gcd(a, b))
    assert np.array_equal(ops.lcm(Tensor(a), Tensor(b)).asnumpy(), np.lcm(a, b))
    assert ops.population_count(Tensor([3, 7, -1], ms.int16)).asnumpy().tolist() == [2, 3, 16]


def test_pairs():
    x, y = np.array([1.5, -2, np.nan, -0.0]), np.array([np.nan, 3, 1, 0.0])
    np.testing.assert_array_equal(ops.fmax(Tensor(x), Tensor(y)).asnumpy(), np.fmax(x, y))
    np.testing.assert_array_equal(ops.fmin(Tensor(x), Tensor(y)).asnumpy(), np.fmin(x, y))
    np.testing.assert_array_equal(ops.signbit(Tensor(x)).asnumpy()[[0, 1, 3]], [False, True, True])
    np.testing.assert_array_equal(ops.copysign(Tensor(x[:2]), f64(-1, 1)).asnumpy(), [-1.5, 2])
    np.testing.assert_array_equal(ops.heaviside(f64(-1, 0, 2), f64(0.5, 0.5, 0.5)).asnumpy(), [0, 0.5, 1])
    np.testing.assert_array_equal(ops.nextafter(f64(1, 0), f64(2, -1)).asnumpy(), np.nextafter([1, 0], [2, -1]))
    close(mint.logaddexp2(f64(3, 5), f64(3, 2)), np.logaddexp2([3, 5], [3, 2]))
    close(ops.polar(f64(2), f64(np.pi / 2)), [2j])
    assert ops.float_power(Tensor([2, 3]), 2).dtype == ms.float64
    close(ops.xdivy(f64(0, 1), f64(0, 4)), [0, 0.25])


def test_old_names():
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert ops.shape(x) == (2, 3) and ops.rank(x) == 2 and ops.size(x) == 6
    assert ops.scalar_add(2, 3) == 5 and ops.scalar_mod(-7, 2) == 1 and ops.scalar_div(1, 2) == 0.5
    assert isinstance(ops.scalar_floordiv(7, 2), int) and ops.scalar_lt(1, 2) is True
    with pytest.raises(ZeroDivisionError):
        ops.scalar_div(1, 0)
    assert ops.reduce_sum(x, (0, 1)).asnumpy() == 15
    assert np.array_equal(ops.strided_slice(x, (0, 2), (2, -4), (1, -2)).asnumpy(), x.asnumpy()[:, ::-2])
    assert ops.strided_slice(x, (1, 0), (2, 3), (1, 1), shrink_axis_mask=1).shape == (3,)
    assert np.array_equal(ops.addn((x, x, x)).asnumpy(), 3 * x.asnumpy())
    a, b = ops.mixed_precision_cast(ms.float16, (x, Tensor([1])))
    assert a.dtype == ms.float16 and b.dtype == ms.int64
    assert ops.intopk(Tensor([[1., 2], [3, 1]]), Tensor([1, 1], ms.int32), 1).asnumpy().tolist() == [True, False]


def test_augmented_assignment_makes_a_new_tensor():
    x = Tensor(np.ones(2, np.float32))
    y = x
    x += 1
    assert y.asnumpy().tolist() == [1, 1] and x.asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize('n', [3, 16, 17, 40, 1030])
def test_softmax_of_far_apart_values(n):
    x = -np.linspace(10, 40, n, dtype='f')
    x[:3] = -95, -102.5, 0  # results below the smallest normal number, rounded as the others
    e = np.exp(x.astype('d'))
    y = ops.softmax(Tensor(x), -1).asnumpy()
    np.testing.assert_allclose(y, e / e.sum(), rtol=5e-7, atol=1.5e-45)
    assert 0 < y[1] < y[0] < np.finfo('f').tiny
    np.testing.assert_allclose(ops.logsumexp(Tensor(x), 0).asnumpy(), np.log(e.sum()), rtol=1e-6, atol=1.2e-7)


def test_softmax_of_special_values():
    inf, nan = np.inf, np.nan
    x = Tensor(np.array([[1, nan, 3], [-inf, -inf, -inf], [inf, 1, 2], [-inf, nan, -inf], [inf, nan, 0]], 'f'))
    assert np.isnan(ops.softmax(x, -1).asnumpy()).all()
    np.testing.assert_array_equal(ops.logsumexp(x, 1).asnumpy(), [nan, -inf, inf, nan, nan])


@pytest.mark.parametrize('n', [1, 2, 15, 16, 17, 48, 1000])
def test_first_of_the_largest(n):
    r = np.random.RandomState(n)
    x = r.randint(-9, 9, (40, n)).astype('f')
    x[r.rand(40, n) < 0.02] = np.nan
    x[0], x[1], x[2], x[3, n // 2:] = -np.inf, np.inf, np.nan, np.inf
    np.testing.assert_array_equal(ops.argmax(Tensor(x), 1).asnumpy(), x.argmax(1))
    np.testing.assert_array_equal(ops.argmin(Tensor(x), 1).asnumpy(), x.argmin(1))


@pytest.mark.parametrize('low, high', [(0, 40), (-40, 40), (0, 41), (-41, 40)])
def test_elements_by_index(low, high):
    r = np.random.RandomState(0)
    x, i = r.randn(30, 40).astype('f'), r.randint(low, high, (30, 70))
    i[7, 3], i[29, 69] = low, high - 1
    src = r.randn(30, 70).astype('f')
    if low < -40 or high > 40:
        with pytest.raises(RuntimeError):
            ops.gather_elements(Tensor(x), 1, Tensor(i))
        with pytest.raises(RuntimeError):
            ops.tensor_scatter_elements(Tensor(x), Tensor(i), Tensor(src), 1, 'add')
        return
    np.testing.assert_array_equal(ops.gather_elements(Tensor(x), 1, Tensor(i)).asnumpy(), np.take_along_axis(x, i % 40, 1))
    want = x.copy()
    np.add.at(want, (np.arange(30)[:, None], i), src)
    np.testing.assert_array_equal(ops.tensor_scatter_elements(Tensor(x), Tensor(i), Tensor(src), 1, 'add').asnumpy(), want)


@pytest.mark.parametrize('dtype', ['int8', 'uint8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('n', [1, 2, 17, 128, 160, 161])
def test_order_of_rows(dtype, n):
    x = np.random.RandomState(n).randint(-90, 90, (5, n)).astype(dtype)
    if dtype[0] == 'f':
        x[0, ::3], x[1, ::2], x[2, ::5], x[3, ::2] = np.nan, -0.0, np.inf, -np.inf
        x[1, 1::2] = 0
    y, i = ops.sort(Tensor(x), 1)
    np.testing.assert_array_equal(i.asnumpy(), np.argsort(x, 1, kind='stable'))
    np.testing.assert_array_equal(y.asnumpy(), np.sort(x, 1, kind='stable'))
    k = min(n, 9)
    high = np.argsort(-(x.astype('f8') if dtype[0] == 'f' else x.astype('i8')), 1, kind='stable')
    if dtype[0] == 'f':
        x, high = x[1:], high[1:]
    np.testing.assert_array_equal(ops.topk(Tensor(x), k)[1].asnumpy(), high[:, :k])


@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64])
def test_values_at_infinity(dtype):
    x = Tensor(np.array([np.inf, -np.inf, np.nan] * 9, dtype))  # a vector and a rest
    for fn, want in ((ops.asinh, [np.inf, -np.inf, np.nan]), (ops.Softplus(), [np.inf, 0, np.nan]),
                     (ops.logsigmoid, [0, -np.inf, np.nan])):
        if fn is not ops.logsigmoid or dtype != np.float16:
            np.testing.assert_array_equal(fn(x).asnumpy(), np.array(want * 9, dtype))


def test_whole_tensors_compared():
    a, b = Tensor([1, 2]), Tensor([1., 2.])
    assert mint.equal(a, b) is True and mint.equal(a, Tensor([1, 3])) is False and mint.equal(a, Tensor([[1, 2]])) is False
    assert ms.jit(lambda p, q: p if mint.equal(p, q) else q + 1)(a, Tensor([5, 6])).asnumpy().tolist() == [6, 7]
    z = Tensor(np.array([1 + 2j, 3], np.complex64))
    assert mint.isclose(z, z + 1e-7).asnumpy().all() and not mint.allclose(z, z + Tensor(np.complex64(1j)))


def test_power_of_two_in_the_wider_dtype():
    y = ops.ldexp(Tensor([True, False]), f64(1.5, 2))
    assert y.dtype == ms.float64
    close(y, [2**1.5, 0])


# mpmath at 40 digits
def test_far_and_near_the_poles():
    close(ops.digamma(f64(-1e-175, -11.999999757063184)), [1e175, -4116294.123908150084376], 1e-9)
    close(ops.bessel_k0e(f64(1e40)), [math.sqrt(math.pi / 2e40)], 1e-13)
    close(ops.bessel_k1e(f64(30., 1e40)), [0.23165412937771180, math.sqrt(math.pi / 2e40)], 1e-13)
    close(ops.exp2(f64(519.98144356008879)) / 3.3885328499749204e+156, [1], 1e-14)
    for a, b in ((math.inf, math.nan), (math.nan, -math.inf), (math.inf, -math.inf)):
        assert ops.hypot(f64(a), f64(b)).item() == math.inf


@pytest.mark.parametrize("name", ("sin", "cos", "tan"))
def test_angles_of_any_size(name):
    x = np.concatenate([s * np.float32(2)**np.arange(100.) * 1.37 for s in (1, -1)]).astype(np.float32)
    x = np.tile(x, 5)
    want = getattr(np, name)(x.astype(np.float64))
    np.testing.assert_allclose(getattr(ops, name)(Tensor(x)).asnumpy(), want, rtol=2e-6)
    assert np.isnan(getattr(ops, name)(Tensor([math.inf, -math.inf, math.nan])).asnumpy()).all()


def slope(f, *v):
    return ms.grad(f)(Tensor(np.array(v, np.float32))).asnumpy().tolist()


@pytest.mark.parametrize("compiled", (False, True))
def test_slopes_at_kinks(compiled):
    wrap = ms.jit if compiled else lambda f: f
    nan = math.nan
    assert slope(wrap(ops.relu6), 0, -0., 3, 6, 9, -1) == [0, 0, 1, 0, 0, 0]
    assert slope(wrap(lambda x: ops.clamp(x, -1, 6)), -1, 6, 0, -2, 9, nan) == [1, 1, 1, 0, 0, 0]
    assert slope(wrap(lambda x: ops.maximum(x, 1.)), 1, 2, 0) == [.5, 1, 0]
    assert slope(wrap(ops.celu), 0, 1, 100, math.inf) == [1, 1, 1, 1]
    assert slope(wrap(lambda x: ops.std(x)), 2, 2, 2) == [0, 0, 0]
    np.testing.assert_allclose(slope(wrap(lambda x: ops.xlogy(x, Tensor([.5, 3., 0.]))), 0, 1, 0), [np.log(.5), np.log(3), 0], rtol=1e-6)
    limit = ms.grad(wrap(lambda m: ops.clamp(Tensor([0., 1., 2.]), m)))(Tensor(1.))
    assert limit.item() == 1


def test_logcumsumexp_of_far_apart_values():
    x = Tensor(np.array([0, 200, 3, -500], np.float32))
    assert ops.logcumsumexp(x, 0).asnumpy().tolist() == [0, 200, 200, 200]
    np.testing.assert_allclose(slope(lambda x: ops.logcumsumexp(x, 0), 0, 200, 3, -500), [1, 3, 0, 0], atol=1e-6)
    y = ops.logcumsumexp(Tensor(np.array([[-math.inf, -math.inf, 1, math.inf]], np.float16)), -1)
    assert y.dtype == ms.float16 and y.asnumpy().tolist() == [[-math.inf, -math.inf, 1, math.inf]]
    assert slope(lambda x: ops.logcumsumexp(x, 0)[2], -math.inf, -math.inf, 1) == [0, 0, 1]
