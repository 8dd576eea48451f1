"""Distributions of integers."""
import math

from mindspore import mint, ops
from mindspore.common import dtype as mstype
from mindspore.nn.probability._params import check, positive
from mindspore.nn.probability.distribution._base import Distribution, const, spread, xlogy

__all__ = ['Bernoulli', 'Categorical', 'Geometric', 'Poisson']


def _check_probability(p):
    if p is not None:
        check(p > 0, "Probabilities must be greater than zero")
        check(p < 1, "Probabilities must be less than one")


class Bernoulli(Distribution):
    """1 with probability ``probs``, else 0."""

    _names, _kind = ('probs',), 'number'
    probs = property(lambda self: self._probs_value)

    def __init__(self, probs=None, seed=None, dtype=mstype.int32, name="Bernoulli"):
        super().__init__(seed, dtype, name, locals())
        _check_probability(self._probs_value)

    def _prob(self, x, p):
        return p * x + (1 - p) * (1 - x)

    def _cdf(self, x, p):
        q = spread(1 - p, x)
        return mint.where(x < 0, const(q, 0.), mint.where(x < 1, q, const(q, 1.)))

    def _mean(self, p):
        return p

    def _mode(self, p):
        return (p >= 0.5).astype(self.dtype)

    def _var(self, p):
        return p * (1 - p)

    def _entropy(self, p):
        return -xlogy(p, p) - xlogy(1 - p, 1 - p)

    def _kl_loss(self, b, p):
        return xlogy(p, p / b) + xlogy(1 - p, (1 - p) / (1 - b))

    def _sample(self, shape, p):
        return self._uniform(shape) < p


class Geometric(Distribution):
    """Failures before the first success of probability ``probs``."""

    _names, _kind = ('probs',), 'number'
    probs = property(lambda self: self._probs_value)

    def __init__(self, probs=None, seed=None, dtype=mstype.int32, name="Geometric"):
        super().__init__(seed, dtype, name, locals())
        _check_probability(self._probs_value)

    def _log_prob(self, x, p):
        x = mint.floor(x)
        y = x * mint.log1p(-p) + mint.log(p)
        return mint.where(x >= 0, y, const(y, -math.inf))

    def _cdf(self, x, p):
        x = mint.floor(x)
        y = -mint.expm1((x + 1) * mint.log1p(-p))
        return mint.where(x >= 0, y, const(y, 0.))

    def _mean(self, p):
        return (1 - p) / p

    def _mode(self, p):
        return mint.zeros_like(p).astype(self.dtype)

    def _var(self, p):
        return (1 - p) / mint.square(p)

    def _entropy(self, p):
        return -(xlogy(p, p) + xlogy(1 - p, 1 - p)) / p

    def _kl_loss(self, b, p):
        return mint.log(p / b) + (1 - p) / p * mint.log((1 - p) / (1 - b))

    def _sample(self, shape, p):
        return mint.floor(mint.log1p(-self._uniform(shape)) / mint.log1p(-p))


class Poisson(Distribution):
    """Poisson distribution of ``rate``."""

    _names, _kind = ('rate',), 'number'
    rate = property(lambda self: self._rate_value)

    def __init__(self, rate=None, seed=None, dtype=mstype.float32, name="Poisson"):
        super().__init__(seed, dtype, name, locals())
        positive('rate', self._rate_value)

    def _log_prob(self, x, rate):
        y = xlogy(x, rate) - rate - ops.lgamma(x + 1)
        return mint.where(x >= 0, y, const(y, -math.inf))

    def _cdf(self, x, rate):
        k = mint.floor(mint.nn.functional.relu(x)) + 1
        y = ops.igammac(spread(k, rate), spread(rate, k))
        return mint.where(x >= 0, y, const(y, 0.))

    def _mean(self, rate):
        return rate

    _var = _mean

    def _mode(self, rate):
        return mint.floor(rate)

    def _sample(self, shape, rate):
        """The least k whose cdf reaches a uniform number, by halving."""
        u, low = self._uniform(shape), mint.zeros(shape, dtype=self.parameter_type) - 1
        high = low + mint.floor(rate + 12 * mint.sqrt(rate) + 32)
        for _ in range(24):
            middle = mint.floor((low + high) / 2)
            below = self._cdf(middle, rate) < u
            low, high = mint.where(below, middle, low), mint.where(below, high, middle)
        return high


class Categorical(Distribution):
    """Numbers of categories, whose probabilities are the last axis of ``probs``."""

    _names, _kind = ('probs',), 'number'
    probs = property(lambda self: self._probs_value)

    def __init__(self, probs=None, seed=None, dtype=mstype.int32, name="Categorical"):
        super().__init__(seed, dtype, name, locals())
        if self._probs_value is not None:
            check(self._probs_value >= 0, "Probabilities must not be negative")
            check(mint.abs(self._probs_value.sum(-1) - 1) < 1e-3,
                  "Probabilities for each category should sum to one for Categorical distribution.")

    @property
    def is_scalar_batch(self):
        return self._probs_value is None or self._probs_value.ndim == 1

    def _at(self, x, table):
        """table[..., x], nothing outside; a plain vector of probabilities goes with every value."""
        n = table.shape[-1]
        index = mint.floor(x).astype(mstype.int64)
        inside = mint.clamp(index, 0, n - 1)
        if table.ndim == 1:
            y = table[inside]
        else:
            rows = mint.broadcast_to(table, tuple(inside.shape[:max(inside.ndim - table.ndim + 1, 0)]) + tuple(table.shape))
            y = mint.gather(rows, -1, mint.broadcast_to(inside, rows.shape[:-1]).unsqueeze(-1)).squeeze(-1)
        return y, index >= 0, index < n

    def _prob(self, x, p):
        y, above, below = self._at(x, p)
        return mint.where(mint.logical_and(above, below), y, const(y, 0.))

    def _cdf(self, x, p):
        y, above, _ = self._at(x, mint.cumsum(p, -1))
        return mint.where(above, mint.clamp(y, 0., 1.), const(y, 0.))

    def _numbers(self, p):
        return mint.arange(p.shape[-1]).astype(p.dtype)

    def _mean(self, p):
        return (p * self._numbers(p)).sum(-1, keepdims=p.ndim == 1)

    def _var(self, p):
        return (p * mint.square(self._numbers(p))).sum(-1, keepdims=p.ndim == 1) - mint.square(self._mean(p))

    def _mode(self, p):
        return mint.argmax(p, -1).astype(self.dtype)

    def _entropy(self, p):
        return -xlogy(p, p).sum(-1)

    def _kl_loss(self, b, p):
        return (xlogy(p, p) - xlogy(p, b)).sum(-1)

    def _sample_shape(self, values):
        return values[0].shape[:-1]

    def _sample(self, shape, p):
        u = self._uniform(shape).unsqueeze(-1)
        return mint.clamp((mint.cumsum(p, -1) <= u).sum(-1), 0, p.shape[-1] - 1)
