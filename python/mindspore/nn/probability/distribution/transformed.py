"""Distributions of f(x) for an invertible, increasing f and a distribution of x."""
import math

from mindspore import mint, ops
from mindspore.common import dtype as mstype
from mindspore.nn.probability import bijector as maps
from mindspore.nn.probability._params import positive
from mindspore.nn.probability.distribution._base import Distribution, spread
from mindspore.nn.probability.distribution.continuous import Normal, Uniform

__all__ = ['TransformedDistribution', 'Gumbel', 'LogNormal']

_EULER = 0.57721566490153286


class TransformedDistribution(Distribution):
    """The distribution of ``bijector.forward(x)`` for x of ``distribution``."""

    def __init__(self, bijector, distribution, seed=None, name="transformed_distribution"):
        given = {k: v for k, v in locals().items() if k not in ('self', '__class__')}
        self._check(bijector, distribution)
        super().__init__(seed, distribution.dtype, name, given)
        self._bijector, self._distribution = bijector, distribution
        if not self._names:
            self._batch_shape = distribution.batch_shape

    @staticmethod
    def _check(bijector, distribution):
        if not isinstance(bijector, maps.Bijector):
            raise TypeError(f"For 'TransformedDistribution', the type of 'bijector' should be 'Bijector', but got type "
                            f"'{type(bijector).__name__}'.")
        if not isinstance(distribution, Distribution):
            raise TypeError(f"For 'TransformedDistribution', the type of 'distribution' should be 'Distribution', but got type "
                            f"'{type(distribution).__name__}'.")

    bijector = property(lambda self: self._bijector)
    distribution = property(lambda self: self._distribution)

    @property
    def is_linear_transformation(self):
        return self._bijector.is_constant_jacobian

    def _log_prob(self, value, *args, **kwargs):
        x = self._bijector.inverse(value)
        return self._distribution.log_prob(x, *args, **kwargs) + self._bijector.inverse_log_jacobian(value)

    def _cdf(self, value, *args, **kwargs):
        return self._distribution.cdf(self._bijector.inverse(value), *args, **kwargs)

    def _survival_function(self, value, *args, **kwargs):
        return self._distribution.survival_function(self._bijector.inverse(value), *args, **kwargs)

    def _mean(self, *args, **kwargs):
        if not self.is_linear_transformation:
            raise ValueError("mean function must be implemented for non-linear transformation")
        return self._bijector.forward(self._distribution.mean(*args, **kwargs))

    def _sample(self, *args, **kwargs):
        return self._bijector.forward(self._distribution.sample(*args, **kwargs))


def _with_parameters(self, bijector, distribution, seed, dtype, name, **given):
    """Makes ``self`` a transformed distribution whose methods take ``given`` instead of the parameters of ``distribution``."""
    Distribution.__init__(self, seed, dtype, name, dict(given, bijector=bijector, distribution=distribution))
    self._bijector, self._distribution = bijector, distribution
    positive('scale', self._scale_value)


class LogNormal(TransformedDistribution):
    """Distribution of exp(x) for a normal x of mean ``loc`` and standard deviation ``scale``."""

    _names = ('loc', 'scale')
    loc, scale = property(lambda self: self._loc_value), property(lambda self: self._scale_value)

    def __init__(self, loc=None, scale=None, seed=0, dtype=mstype.float32, name="LogNormal"):
        _with_parameters(self, maps.Exp(), Normal(loc, scale, dtype=dtype), seed, dtype, name, loc=loc, scale=scale)

    def _log_prob(self, x, loc, scale):
        return self._distribution._log_prob(mint.log(x), loc, scale) - mint.log(x)

    def _cdf(self, x, loc, scale):
        return self._distribution._cdf(mint.log(x), loc, scale)

    def _survival_function(self, x, loc, scale):
        return self._distribution._survival_function(mint.log(x), loc, scale)

    def _mean(self, loc, scale):
        return mint.exp(loc + 0.5 * mint.square(scale))

    def _mode(self, loc, scale):
        return mint.exp(loc - mint.square(scale))

    def _var(self, loc, scale):
        return mint.expm1(mint.square(scale)) * mint.exp(2 * loc + mint.square(scale))

    def _entropy(self, loc, scale):
        return loc + mint.log(scale) + 0.5 * (1 + math.log(2 * math.pi))

    def _kl_loss(self, *args):
        return self._distribution._kl_loss(*args)

    def _sample(self, shape, loc, scale):
        return mint.exp(loc + scale * self._normal(shape))


class Gumbel(TransformedDistribution):
    """Gumbel distribution: of the largest of many values."""

    _names = ('loc', 'scale')
    loc, scale = property(lambda self: self._loc_value), property(lambda self: self._scale_value)

    def __init__(self, loc, scale, seed=0, dtype=mstype.float32, name="Gumbel"):
        for what, value in (('loc', loc), ('scale', scale)):
            if value is None:
                raise TypeError(f"{what} cannot be type {type(value)}")
        _with_parameters(self, maps.Invert(maps.GumbelCDF(loc, scale)), Uniform(0., 1., dtype=dtype), seed, dtype, name, loc=loc,
                         scale=scale)

    def _log_prob(self, x, loc, scale):
        z = (x - loc) / scale
        return -z - mint.exp(-z) - mint.log(scale)

    def _log_cdf(self, x, loc, scale):
        return -mint.exp((loc - x) / scale)

    def _cdf(self, x, loc, scale):
        return mint.exp(self._log_cdf(x, loc, scale))

    def _survival_function(self, x, loc, scale):
        return -mint.expm1(self._log_cdf(x, loc, scale))

    def _mean(self, loc, scale):
        return loc + scale * _EULER

    def _mode(self, loc, scale):
        return spread(loc, scale)

    def _sd(self, loc, scale):
        return spread(scale, loc) * (math.pi / math.sqrt(6))

    def _entropy(self, loc, scale):
        return spread(mint.log(scale), loc) + (1 + _EULER)

    def _kl_loss(self, loc_b, scale_b, loc, scale):
        ratio = scale / scale_b
        return (mint.log(scale_b / scale) + _EULER * (ratio - 1) + (loc - loc_b) / scale_b +
                mint.exp((loc_b - loc) / scale_b + ops.lgamma(ratio + 1)) - 1)

    def _sample(self, shape, loc, scale):
        u = self._uniform(shape)
        return loc - scale * mint.log(-mint.log1p(-u))
