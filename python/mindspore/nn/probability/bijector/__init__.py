"""Invertible maps of real numbers with the logarithms of their derivatives.

A subclass of Bijector defines the hooks ``_forward`` and ``_inverse`` and at least one of ``_forward_log_jacobian`` and
``_inverse_log_jacobian``; the other one follows from it.
"""
from mindspore import mint
from mindspore.common import dtype as mstype
from mindspore.nn.cell import Cell
from mindspore.nn.probability._params import FLOATS, batch_shape, check, parameter, positive, tensor, text_of

__all__ = ['Bijector', 'Exp', 'GumbelCDF', 'Invert', 'PowerTransform', 'ScalarAffine', 'Softplus']


class Bijector(Cell):
    """Base of invertible maps."""

    _names = ()

    def __init__(self, is_constant_jacobian=False, is_injective=True, name=None, dtype=None, param=None):
        super().__init__()
        for flag, value in (('is_constant_jacobian', is_constant_jacobian), ('is_injective', is_injective)):
            if not isinstance(value, bool):
                raise TypeError(f"For '{type(self).__name__}', the '{flag}' must be bool, but got {type(value).__name__}.")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"For '{type(self).__name__}', the type of 'name' should be 'str', but got type '{type(name).__name__}'.")
        self._constant, self._injective, self._name, self._dtype = is_constant_jacobian, is_injective, name, dtype
        self._parameters = {k: v for k, v in dict(param or {}).items() if k not in ('self', '__class__')}
        self._values = [parameter(self._parameters.get(n), dtype or mstype.float32) for n in self._names]
        for n, v in zip(self._names, self._values):
            setattr(self, '_' + n, v)
        self._batch_shape = batch_shape(self._values) if self._names else ()

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    parameters = property(lambda self: self._parameters)
    is_constant_jacobian = property(lambda self: self._constant)
    is_injective = property(lambda self: self._injective)
    batch_shape = property(lambda self: self._batch_shape)
    is_scalar_batch = property(lambda self: not self._batch_shape)

    def extend_repr(self):
        return ', '.join(f"{n} = {text_of(v)}" for n, v in zip(self._names, self._values))

    def cast_param_by_value(self, value, para):
        """A parameter in the dtype of a value."""
        return para.astype(value.dtype)

    def _add_parameter(self, value, name):
        """A parameter of a bijector of one's own as a Tensor; its shape is part of that of a batch."""
        value = parameter(value, self._dtype or mstype.float32)
        self._values_added = (*self.__dict__.get('_values_added', ()), value)
        self._batch_shape = batch_shape((*self._values, *self._values_added))
        return value

    def _check_value_dtype(self, value):
        """The value, which must be a Tensor of floats; of the bijector's dtype, if that was given."""
        tensor(value, 'input value of bijector')
        if value.dtype not in (FLOATS if self._dtype is None else (self._dtype,)):
            raise TypeError(f"For input value of bijector, the type must be {self._dtype or 'a subclass of Float'}, but got {value.dtype}")
        return value

    def _call(self, hook, fallback, other, value, args, kwargs):
        tensor(value, 'input value of bijector')
        if value.dtype not in FLOATS:
            raise TypeError(f"For input value of bijector, the type must be or be subclass of Float, but got {value.dtype}")
        params = [self.cast_param_by_value(value, v) for v in self._values]
        if hasattr(self, hook):
            return getattr(self, hook)(value, *params, *args, **kwargs)
        if fallback is None or not hasattr(self, fallback):
            raise NotImplementedError(f"{hook[1:]} is not implemented for {type(self).__name__}.")
        return -getattr(self, fallback)(getattr(self, other)(value, *params, *args, **kwargs), *params, *args, **kwargs)

    def forward(self, value, *args, **kwargs):
        """f(value)"""
        return self._call('_forward', None, None, value, args, kwargs)

    def inverse(self, value, *args, **kwargs):
        """The x of f(x) = value."""
        return self._call('_inverse', None, None, value, args, kwargs)

    def forward_log_jacobian(self, value, *args, **kwargs):
        """log f'(value)"""
        return self._call('_forward_log_jacobian', '_inverse_log_jacobian', '_forward', value, args, kwargs)

    def inverse_log_jacobian(self, value, *args, **kwargs):
        """Logarithm of the derivative of the inverse at ``value``."""
        return self._call('_inverse_log_jacobian', '_forward_log_jacobian', '_inverse', value, args, kwargs)

    def __call__(self, *args, **kwargs):
        from mindspore.nn.probability.distribution import Distribution, TransformedDistribution
        if args and isinstance(args[0], Distribution):
            return TransformedDistribution(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, name, *args, **kwargs):
        """Calls the method ``name``."""
        if name not in ('forward', 'inverse', 'forward_log_jacobian', 'inverse_log_jacobian'):
            raise ValueError(f"For '{type(self).__name__}', there is no method '{name}'.")
        return getattr(self, name)(*args, **kwargs)


class PowerTransform(Bijector):
    """(1 + power x)^(1 / power), and exp(x) where power is 0."""

    _names = ('power',)
    power = property(lambda self: self._power)

    def __init__(self, power=0., name='PowerTransform'):
        super().__init__(name=name, param=locals())
        check(self._power >= 0, "power must not be negative.")

    def _pick(self, c, some, none):
        return mint.where(c == 0, none, some(mint.where(c == 0, mint.ones_like(c), c)))

    def _forward(self, x, c):
        return self._pick(c, lambda c: mint.exp(mint.log1p(x * c) / c), mint.exp(x))

    def _inverse(self, y, c):
        return self._pick(c, lambda c: mint.expm1(mint.log(y) * c) / c, mint.log(y))

    def _forward_log_jacobian(self, x, c):
        return self._pick(c, lambda c: (1 / c - 1) * mint.log1p(x * c), x)

    def _inverse_log_jacobian(self, y, c):
        return (c - 1) * mint.log(y)


class Exp(PowerTransform):
    """exp(x)"""

    def __init__(self, name='Exp'):
        super().__init__(0., name)

    def extend_repr(self):
        return 'exp'


class GumbelCDF(Bijector):
    """exp(-exp(-(x - loc) / scale))"""

    _names = ('loc', 'scale')
    loc, scale = property(lambda self: self._loc), property(lambda self: self._scale)

    def __init__(self, loc=0.0, scale=1.0, name='GumbelCDF'):
        super().__init__(name=name, param=locals())
        positive('scale', self._scale)

    def _forward(self, x, loc, scale):
        return mint.exp(-mint.exp((loc - x) / scale))

    def _inverse(self, y, loc, scale):
        return loc - scale * mint.log(-mint.log(y))

    def _forward_log_jacobian(self, x, loc, scale):
        z = (x - loc) / scale
        return -z - mint.exp(-z) - mint.log(scale)

    def _inverse_log_jacobian(self, y, loc, scale):
        return mint.log(scale / (-mint.log(y) * y))


class ScalarAffine(Bijector):
    """scale x + shift"""

    _names = ('scale', 'shift')
    scale, shift = property(lambda self: self._scale), property(lambda self: self._shift)

    def __init__(self, scale=1.0, shift=0.0, name='ScalarAffine'):
        super().__init__(True, True, name, None, locals())

    def _forward(self, x, scale, shift):
        return scale * x + shift

    def _inverse(self, y, scale, shift):
        return (y - shift) / scale

    def _forward_log_jacobian(self, x, scale, shift):
        return mint.log(mint.abs(scale))

    def _inverse_log_jacobian(self, y, scale, shift):
        return -mint.log(mint.abs(scale))


class Softplus(Bijector):
    """log(1 + exp(sharpness x)) / sharpness"""

    _names = ('sharpness',)
    sharpness = property(lambda self: self._sharpness)

    def __init__(self, sharpness=1.0, name='Softplus'):
        super().__init__(name=name, param=locals())

    def _forward(self, x, s):
        return mint.nn.functional.softplus(s * x) / s

    def _inverse(self, y, s):
        return y + mint.log(-mint.expm1(-s * y)) / s

    def _forward_log_jacobian(self, x, s):
        return mint.nn.functional.logsigmoid(s * x)

    def _inverse_log_jacobian(self, y, s):
        return -mint.log(-mint.expm1(-s * y))


class Invert(Bijector):
    """The inverse of another bijector."""

    def __init__(self, bijector, name=''):
        if not isinstance(bijector, Bijector):
            raise TypeError(f"For 'Invert', the type of 'bijector' should be 'Bijector', but got type '{type(bijector).__name__}'.")
        name = name or 'Invert' + (bijector.name or '')
        super().__init__(bijector.is_constant_jacobian, bijector.is_injective, name, bijector.dtype, {'bijector': bijector,
                                                                                                     'name': name})
        self._bijector, self._batch_shape = bijector, bijector.batch_shape

    bijector = property(lambda self: self._bijector)

    def forward(self, x):
        return self._bijector.inverse(x)

    def inverse(self, y):
        return self._bijector.forward(y)

    def forward_log_jacobian(self, x):
        return self._bijector.inverse_log_jacobian(x)

    def inverse_log_jacobian(self, y):
        return self._bijector.forward_log_jacobian(y)
