"""Distributions of real numbers."""
import math

from mindspore import mint, ops
from mindspore.common import dtype as mstype
from mindspore.nn.probability._params import check, positive
from mindspore.nn.probability.distribution._base import Distribution, const, spread, xlogy

__all__ = ['Beta', 'Cauchy', 'Exponential', 'Gamma', 'HalfNormal', 'Laplace', 'Logistic', 'Normal', 'StudentT', 'Uniform']

_LOG_PI, _LOG_2PI = math.log(math.pi), math.log(2 * math.pi)


class Normal(Distribution):
    """Normal distribution of ``mean`` and standard deviation ``sd``."""

    _names = ('mean', 'sd')

    def __init__(self, mean=None, sd=None, seed=None, dtype=mstype.float32, name="Normal"):
        super().__init__(seed, dtype, name, locals())
        positive('sd', self._sd_value, 'Standard deviation')

    def _log_prob(self, x, mean, sd):
        return -0.5 * mint.square((x - mean) / sd) - mint.log(sd) - 0.5 * _LOG_2PI

    def _cdf(self, x, mean, sd):
        return 0.5 * mint.erfc((mean - x) / (sd * math.sqrt(2)))

    def _survival_function(self, x, mean, sd):
        return 0.5 * mint.erfc((x - mean) / (sd * math.sqrt(2)))

    def _mean(self, mean, sd):
        return spread(mean, sd)

    _mode = _mean

    def _var(self, mean, sd):
        return mint.square(spread(sd, mean))

    def _entropy(self, mean, sd):
        return spread(mint.log(sd), mean) + 0.5 * (1 + _LOG_2PI)

    def _kl_loss(self, mean_b, sd_b, mean, sd):
        return 0.5 * mint.square((mean - mean_b) / sd_b) + 0.5 * (mint.square(sd / sd_b) - 1) - mint.log(sd / sd_b)

    def _sample(self, shape, mean, sd):
        return mean + sd * self._normal(shape)


class HalfNormal(Distribution):
    """Distribution of the absolute distance from ``mean``; only values of at least ``mean`` have density."""

    _names = ('mean', 'sd')

    def __init__(self, mean=None, sd=None, seed=None, dtype=mstype.float32, name="HalfNormal"):
        super().__init__(seed, dtype, name, locals())
        positive('sd', self._sd_value, 'Standard deviation')

    def _log_prob(self, x, mean, sd):
        y = -0.5 * mint.square((x - mean) / sd) - mint.log(sd) + 0.5 * math.log(2 / math.pi)
        return mint.where(x >= mean, y, const(y, -math.inf))

    def _cdf(self, x, mean, sd):
        y = mint.erf((x - mean) / (sd * math.sqrt(2)))
        return mint.where(x >= mean, y, const(y, 0.))

    def _mean(self, mean, sd):
        return mean + sd * math.sqrt(2 / math.pi)

    def _mode(self, mean, sd):
        return spread(mean, sd)

    def _var(self, mean, sd):
        return mint.square(spread(sd, mean)) * (1 - 2 / math.pi)

    def _entropy(self, mean, sd):
        return spread(mint.log(sd), mean) + 0.5 * (1 + math.log(math.pi / 2))

    def _sample(self, shape, mean, sd):
        return mean + sd * mint.abs(self._normal(shape))


class _LocationScale(Distribution):
    """What distributions of loc + scale * z share: ``_z_*`` are the functions of z."""

    def __init__(self, seed, dtype, name, param):
        super().__init__(seed, dtype, name, param)
        positive(self._names[1], self._values[1])

    def _log_prob(self, x, loc, scale):
        return self._z_log_prob((x - loc) / scale) - mint.log(scale)

    def _cdf(self, x, loc, scale):
        return self._z_cdf((x - loc) / scale)

    def _survival_function(self, x, loc, scale):
        return self._z_cdf((loc - x) / scale)

    def _mean(self, loc, scale):
        return spread(loc, scale)

    def _mode(self, loc, scale):
        return spread(loc, scale)

    def _var(self, loc, scale):
        return mint.square(spread(scale, loc)) * self._z_var

    def _entropy(self, loc, scale):
        return spread(mint.log(scale), loc) + self._z_entropy

    def _sample(self, shape, loc, scale):
        return loc + scale * self._z_at(self._uniform(shape))


class Laplace(_LocationScale):
    """Laplace distribution around ``mean`` with scale ``sd``."""

    _names = ('mean', 'sd')
    _z_var, _z_entropy = 2., 1 + math.log(2)

    def __init__(self, mean=None, sd=None, seed=None, dtype=mstype.float32, name="Laplace"):
        super().__init__(seed, dtype, name, locals())

    def _z_log_prob(self, z):
        return -mint.abs(z) - math.log(2)

    def _z_cdf(self, z):
        tail = 0.5 * mint.exp(-mint.abs(z))
        return mint.where(z < 0, tail, 1 - tail)

    def _z_at(self, u):
        return -mint.sign(u - 0.5) * mint.log1p(-2 * mint.abs(u - 0.5))


class Logistic(_LocationScale):
    """Logistic distribution."""

    _names = ('loc', 'scale')
    _z_var, _z_entropy = math.pi ** 2 / 3, 2.
    loc, scale = property(lambda self: self._loc_value), property(lambda self: self._scale_value)

    def __init__(self, loc=None, scale=None, seed=None, dtype=mstype.float32, name="Logistic"):
        super().__init__(seed, dtype, name, locals())

    def _z_log_prob(self, z):
        return mint.nn.functional.logsigmoid(z) + mint.nn.functional.logsigmoid(-z)

    def _z_cdf(self, z):
        return mint.sigmoid(z)

    def _z_at(self, u):
        return mint.log(u) - mint.log1p(-u)


class Cauchy(_LocationScale):
    """Cauchy distribution, which has neither mean nor variance."""

    _names = ('loc', 'scale')
    _z_entropy = math.log(4 * math.pi)
    loc, scale = property(lambda self: self._loc_value), property(lambda self: self._scale_value)

    def __init__(self, loc=None, scale=None, seed=None, dtype=mstype.float32, name="Cauchy"):
        super().__init__(seed, dtype, name, locals())

    def _undefined(what):
        def method(self, loc, scale):
            raise ValueError(f"{what} is undefined for Cauchy distribution.")
        return method

    _mean, _var, _sd = _undefined('mean'), _undefined('variance'), _undefined('standard deviation')

    def _z_log_prob(self, z):
        return -mint.log1p(mint.square(z)) - _LOG_PI

    def _z_cdf(self, z):
        return 0.5 + mint.atan(z) / math.pi

    def _z_at(self, u):
        return mint.tan(math.pi * (u - 0.5))

    def _kl_loss(self, loc_b, scale_b, loc, scale):
        return mint.log((mint.square(scale + scale_b) + mint.square(loc - loc_b)) / (4 * scale * scale_b))


class StudentT(Distribution):
    """Student's t distribution of ``df`` degrees of freedom, moved by ``mean`` and scaled by ``sd``."""

    _names = ('df', 'mean', 'sd')

    def __init__(self, df=None, mean=None, sd=None, seed=None, dtype=mstype.float32, name="StudentT"):
        super().__init__(seed, dtype, name, locals())
        positive('df', self._df_value, 'Degrees of freedom')
        positive('sd', self._sd_value, 'Standard deviation')

    def _log_prob(self, x, df, mean, sd):
        z = (x - mean) / sd
        return (ops.lgamma(0.5 * (df + 1)) - ops.lgamma(0.5 * df) - 0.5 * (mint.log(df) + _LOG_PI) - mint.log(sd) -
                0.5 * (df + 1) * mint.log1p(z * z / df))

    def _sample(self, shape, df, mean, sd):
        chi = 2 * _gamma(self, shape, 0.5 * df)
        return mean + sd * self._normal(shape) * mint.sqrt(df / chi)


class Exponential(Distribution):
    """Exponential distribution of ``rate``."""

    _names = ('rate',)
    rate = property(lambda self: self._rate_value)

    def __init__(self, rate=None, seed=None, dtype=mstype.float32, name="Exponential"):
        super().__init__(seed, dtype, name, locals())
        positive('rate', self._rate_value)

    def _log_prob(self, x, rate):
        y = mint.log(rate) - rate * x
        return mint.where(x >= 0, y, const(y, -math.inf))

    def _cdf(self, x, rate):
        return -mint.expm1(-rate * mint.nn.functional.relu(x))

    def _log_survival(self, x, rate):
        return -rate * mint.nn.functional.relu(x)

    def _mean(self, rate):
        return 1 / rate

    _sd = _mean

    def _mode(self, rate):
        return mint.zeros_like(rate)

    def _entropy(self, rate):
        return 1 - mint.log(rate)

    def _kl_loss(self, rate_b, rate):
        return mint.log(rate / rate_b) + rate_b / rate - 1

    def _sample(self, shape, rate):
        return -mint.log1p(-self._uniform(shape)) / rate


class Uniform(Distribution):
    """Uniform distribution on [low, high)."""

    _names = ('low', 'high')
    low, high = property(lambda self: self._low_value), property(lambda self: self._high_value)

    def __init__(self, low=None, high=None, seed=None, dtype=mstype.float32, name="Uniform"):
        super().__init__(seed, dtype, name, locals())
        if self._low_value is not None and self._high_value is not None:
            check(self._low_value < self._high_value, "low must be less than high")

    def _prob(self, x, low, high):
        inside = mint.logical_and(x >= low, x <= high)
        return mint.where(inside, 1 / (high - low), mint.zeros_like(spread(high - low, x)))

    def _cdf(self, x, low, high):
        return mint.clamp((x - low) / (high - low), 0., 1.)

    def _mean(self, low, high):
        return 0.5 * (low + high)

    def _var(self, low, high):
        return mint.square(high - low) / 12

    def _entropy(self, low, high):
        return mint.log(high - low)

    def _kl_loss(self, low_b, high_b, low, high):
        y = mint.log((high_b - low_b) / (high - low))
        return mint.where(mint.logical_and(low_b <= low, high <= high_b), y, const(y, math.inf))

    def _sample(self, shape, low, high):
        return low + (high - low) * self._uniform(shape)


_ROUNDS = 12


def _gamma(dist, shape, a):
    """Draws of the gamma distribution of concentration ``a`` and rate 1 (Marsaglia and Tsang, 2000). A draw is refused with
    probability under 5 %, so that a fixed number of rounds leaves none over."""
    boost = mint.where(a < 1, 1., 0.).astype(a.dtype)
    d = a + boost - 1 / 3
    y = None
    for _ in range(_ROUNDS):
        z, u = dist._normal(shape), dist._uniform(shape)
        v = mint.pow(1 + z / mint.sqrt(9 * d), 3)
        ok = mint.logical_and(v > 0, mint.log(u) < 0.5 * z * z + d * (1 - v + mint.log(mint.where(v > 0, v, const(v, 1.)))))
        y = d * v if y is None else mint.where(done, y, d * v)
        done = ok if _ == 0 else mint.logical_or(done, ok)
    small = mint.pow(1 - dist._uniform(shape), 1 / a)
    return y * mint.where(boost > 0, small, const(small, 1.))


class Gamma(Distribution):
    """Gamma distribution of ``concentration`` and ``rate``."""

    _names = ('concentration', 'rate')
    concentration, rate = property(lambda self: self._concentration_value), property(lambda self: self._rate_value)

    def __init__(self, concentration=None, rate=None, seed=None, dtype=mstype.float32, name="Gamma"):
        super().__init__(seed, dtype, name, locals())
        positive('concentration', self._concentration_value)
        positive('rate', self._rate_value)

    def _log_prob(self, x, a, rate):
        return xlogy(a - 1, x) + a * mint.log(rate) - rate * x - ops.lgamma(a)

    def _cdf(self, x, a, rate):
        return ops.igamma(spread(a, x, rate), spread(rate * mint.nn.functional.relu(x), a))

    def _mean(self, a, rate):
        return a / rate

    def _var(self, a, rate):
        return a / mint.square(rate)

    def _mode(self, a, rate):
        y = (a - 1) / rate
        return mint.where(a > 1, y, const(y, math.nan))

    def _entropy(self, a, rate):
        return a - mint.log(rate) + ops.lgamma(a) + (1 - a) * ops.digamma(a)

    def _kl_loss(self, a_b, rate_b, a, rate):
        return ((a - a_b) * ops.digamma(a) + ops.lgamma(a_b) - ops.lgamma(a) + a_b * mint.log(rate / rate_b) +
                a * (rate_b / rate - 1))

    def _sample(self, shape, a, rate):
        return _gamma(self, shape, a) / rate


def _lbeta(a, b):
    return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)


class Beta(Distribution):
    """Beta distribution."""

    _names = ('concentration1', 'concentration0')
    concentration1 = property(lambda self: self._concentration1_value)
    concentration0 = property(lambda self: self._concentration0_value)

    def __init__(self, concentration1=None, concentration0=None, seed=None, dtype=mstype.float32, name="Beta"):
        super().__init__(seed, dtype, name, locals())
        positive('concentration1', self._concentration1_value)
        positive('concentration0', self._concentration0_value)

    def _log_prob(self, x, a, b):
        return xlogy(a - 1, x) + xlogy(b - 1, 1 - x) - _lbeta(a, b)

    def _mean(self, a, b):
        return a / (a + b)

    def _var(self, a, b):
        return a * b / (mint.square(a + b) * (a + b + 1))

    def _mode(self, a, b):
        y = (a - 1) / (a + b - 2)
        return mint.where(mint.logical_and(a > 1, b > 1), y, const(y, math.nan))

    def _entropy(self, a, b):
        return _lbeta(a, b) - (a - 1) * ops.digamma(a) - (b - 1) * ops.digamma(b) + (a + b - 2) * ops.digamma(a + b)

    def _kl_loss(self, a_b, b_b, a, b):
        return (_lbeta(a_b, b_b) - _lbeta(a, b) + (a - a_b) * ops.digamma(a) + (b - b_b) * ops.digamma(b) +
                (a_b + b_b - a - b) * ops.digamma(a + b))

    def _sample(self, shape, a, b):
        x = _gamma(self, shape, a)
        return x / (x + _gamma(self, shape, b))
