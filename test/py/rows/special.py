"""Special functions, number theory, rarer functions of two tensors."""
import math

import numpy as np

import mindspore as ms

from .table import B, F, G, I, P, U, c, elementwise, f, i, lgamma, row

J = i(2, 3, lo=-4, hi=5)
POS = f(2, 3, lo=0.3, hi=6)


def integral(fn, lo, hi, n=4000):
    """Simpson's rule."""
    t = np.linspace(lo, hi, n + 1)
    w = np.ones(n + 1)
    w[1:-1:2], w[2:-1:2] = 4, 2
    return (fn(t) * w).sum() * (hi - lo) / n / 3


def over(fn):
    return elementwise(fn)


def j(n):
    return over(lambda x: integral(lambda t: np.cos(n * t - x * np.sin(t)), 0, math.pi) / math.pi)


def y(n):
    def one(x):
        first = integral(lambda t: np.sin(x * np.sin(t) - n * t), 0, math.pi) / math.pi
        u = np.linspace(0, 12, 200001)
        with np.errstate(over='ignore'):
            v = (np.exp(n * u) + (-1)**n * np.exp(-n * u)) * np.exp(-x * np.sinh(u))
        w = np.ones(len(u))
        w[1:-1:2], w[2:-1:2] = 4, 2
        return first - (v * w).sum() * (u[1] - u[0]) / 3 / math.pi
    return over(one)


def modified_i(n, scaled=False):
    return over(lambda x: integral(lambda t: np.exp(x * np.cos(t) - (abs(x) if scaled else 0)) * np.cos(n * t), 0, math.pi) / math.pi)


def modified_k(n, scaled=False):
    return over(lambda x: integral(lambda t: np.exp(-x * np.cosh(t) + (x if scaled else 0)) * np.cosh(n * t), 0, 7.5, 40000))


row('ops.bessel_j0', j(0), c(POS), c(x=F), second=False)
row('ops.bessel_j1', j(1), c(POS), c(x=F), second=False)
row('ops.bessel_y0', y(0), c(POS), c(x=P), tol=100, second=False)
row('ops.bessel_y1', y(1), c(POS), c(x=P), tol=100, second=False)
row('ops.bessel_i0', modified_i(0), c(F), c(x=POS), second=False)
row('ops.i0 Tensor.i0', modified_i(0), c(F), c(input=POS), second=False)
row('ops.bessel_i1', modified_i(1), c(F), c(x=POS), second=False)
row('ops.bessel_i0e', modified_i(0, True), c(F), c(x=POS), second=False)
row('ops.bessel_i1e', modified_i(1, True), c(F), c(x=POS), second=False)
row('ops.bessel_k0', modified_k(0), c(POS), c(x=P), second=False)
row('ops.bessel_k1', modified_k(1), c(POS), c(x=P), second=False)
row('ops.bessel_k0e', modified_k(0, True), c(POS), c(x=P), second=False)
row('ops.bessel_k1e', modified_k(1, True), c(POS), c(x=P), second=False)


def igamma(a, x):
    """Series of the lower incomplete gamma function."""
    def one(p, q):
        term = total = 1 / p
        for n in range(1, 400):
            term *= q / (p + n)
            total += term
        return total * math.exp(-q + p * math.log(q) - math.lgamma(p))
    a, x = np.broadcast_arrays(a, x)
    return np.array([one(p, q) for p, q in zip(a.ravel(), x.ravel())]).reshape(a.shape)


def zeta(s, q):
    """Euler and Maclaurin's formula after 20 terms."""
    def one(s, q):
        total = sum((q + k)**-s for k in range(20))
        v = q + 20
        total += v**(1 - s) / (s - 1) + v**-s / 2
        rising, bern = s, [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66]
        for k, b in enumerate(bern, 1):
            total += b / math.factorial(2 * k) * rising * v**(-s - 2 * k + 1)
            rising *= (s + 2 * k - 1) * (s + 2 * k)
        return total
    s, q = np.broadcast_arrays(s, q)
    return np.array([one(a, b) for a, b in zip(s.ravel(), q.ravel())]).reshape(s.shape)


def mvlgamma(x, p):
    return p * (p - 1) / 4 * math.log(math.pi) + sum(lgamma(x - k / 2) for k in range(p))


row('ops.igamma Tensor.igamma', igamma, c(P, POS), c(input=P, other=P[0]), tol=10)
row('ops.igammac Tensor.igammac', lambda a, x: 1 - igamma(a, x), c(P, POS), c(input=P, other=P[0]), tol=10)
row('ops.zeta', zeta, c(P + 1, POS), c(input=2.5, other=P), tol=10)
row('ops.mvlgamma Tensor.mvlgamma', mvlgamma, c(P + 2, 3), c(input=P + 1, p=2))

# ---- two tensors ----


N = np.array([[np.nan, 1, 2], [3, np.nan, -1]])
row('ops.fmax Tensor.fmax', np.fmax, c(F, G), c(N, F), c(input=F, other=G[0]))
row('ops.fmin Tensor.fmin', np.fmin, c(F, G), c(N, F), c(input=F, other=G[0]))
row('ops.signbit Tensor.signbit', np.signbit, c(np.array([0.0, -0.0, 1, -1, np.inf, -np.inf])), c(input=I))
row('ops.copysign Tensor.copysign', np.copysign, c(F, G), c(x=F, other=-1.0), second=False)
row('ops.positive Tensor.positive Tensor.__pos__', np.positive, c(F), c(I))
row('ops.heaviside Tensor.heaviside', np.heaviside, c(F * B, G), c(input=F, values=G[0]), grad=False)
row('ops.float_power mint.float_power ops.float_power_ext', np.float_power, c(P, F), c(input=2.0, exponent=F), out='float64')
row('Tensor.float_power', np.float_power, c(P, F), c(P, other=2), out='float64')
row('ops.logaddexp2 mint.logaddexp2 Tensor.logaddexp2', np.logaddexp2, c(F, G), c(input=F, other=G[0]))
row('ops.ldexp Tensor.ldexp', lambda x, other: x * 2.0**other, c(F, J), c(x=F, other=J[0]))
row('ops.xdivy Tensor.xdivy', lambda x, y: np.where(x == 0, 0, x / y), c(F, P), c(x=F, y=2.5))
row('Tensor.approximate_equal', lambda x, other, tolerance=1e-5: np.abs(x - other) < tolerance, c(F, F + 1e-3, 1e-2), c(F, other=G, tolerance=0.5))
row('ops.approximate_equal', lambda x, y, tolerance=1e-5: np.abs(x - y) < tolerance, c(F, F + 1e-3),
    c(F, F + 1e-3, 1e-2), c(x=F, y=G, tolerance=0.5))
row('ops.gcd mint.gcd Tensor.gcd', np.gcd, c(J * 6, I * 4), c(input=I * 4, other=6))
row('ops.lcm Tensor.lcm', np.lcm, c(J * 6, I * 4), c(input=I * 4, other=6))


def check_next(y, x, other):
    wide = [np.nextafter(x.astype(t), other.astype(t)) for t in (np.float32, np.float64)]
    assert np.array_equal(y, wide[y.dtype == np.float64])


row('ops.nextafter Tensor.nextafter', None, c(F, G), c(F, other=F.copy()), check=check_next)
row('ops.population_count', lambda x: elementwise(lambda v: bin(int(v)).count('1'), np.uint8)(x), c(i(2, 3, hi=100, dtype=np.int16)),
    c(input_x=i(4, hi=100, dtype=np.uint8)))
row('ops.polar mint.polar', lambda r, t: r * np.exp(1j * t), c(P, F), c(abs=P, angle=F), tol=10)
row('ops.complex', lambda a, b: a + 1j * b, c(F, G), c(real=F, imag=G))
row('ops.view_as_real', lambda x: np.stack([x.real, x.imag], -1), c(f(2, 3) + 1j * f(2, 3)))


def clip_by_global_norm(x, clip_norm=1.0, use_norm=None):
    norm = math.sqrt(sum((p * p).sum() for p in x))
    return [p * clip_norm / max(norm, clip_norm) for p in x]


row('ops.clip_by_global_norm', clip_by_global_norm, c([F, G]), c((F, P), 2.5), c(x=[F], clip_norm=100.0, use_norm=None), tol=1e4)


def check_eps(y, x):
    assert y.shape == x.shape and (y == np.finfo(y.dtype).eps).all()


row('ops.eps', None, c(F), c(x=P), check=check_eps)
