"""Distribution: public methods, each from the hook of its own name or derived from the others.

A subclass defines hooks (``_log_prob``, ``_cdf``, ``_mean``, ``_sample`` ...) with the value first and the parameters after
it. Classes of this package name their parameters in ``_names``; their hooks get every parameter as a Tensor, those of the
call before those of the constructor. Hooks of other subclasses get the arguments of the call as they are.
"""
import numpy as np

from mindspore import mint
from mindspore.common import dtype as mstype
from mindspore.common.generator import Generator
from mindspore.nn.cell import Cell
from mindspore.nn.probability._params import FLOATS, batch_shape, parameter, tensor, text_of

_KINDS = {'float': FLOATS, 'number': (mstype.int8, mstype.int16, mstype.int32, mstype.int64, mstype.uint8, mstype.uint16,
                                      mstype.uint32, mstype.uint64) + FLOATS}


class Distribution(Cell):
    """Base of distributions over a batch of parameters."""

    _names = ()
    _kind = 'float'

    def __init__(self, seed, dtype, name, param):
        super().__init__()
        if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
            raise TypeError(f"For '{name}', the 'seed' must be int, but got '{type(seed).__name__}'")
        if not isinstance(name, str):
            raise TypeError(f"For '{type(self).__name__}', the type of 'name' should be 'str', but got type "
                            f"'{type(name).__name__}'.")
        if dtype is not None and dtype not in _KINDS[self._kind]:
            raise TypeError(f"For '{type(self).__name__}', the 'dtype' should be one of {list(_KINDS[self._kind])}, but got "
                            f"{dtype}.")
        self._name, self._dtype, self._seed = name, dtype, seed or 0
        self._parameters = {k: v for k, v in dict(param or {}).items() if k not in ('self', '__class__')}
        self.parameter_type = dtype if dtype in FLOATS else mstype.float32
        self._values = [parameter(self._parameters.get(n), self.parameter_type) for n in self._names]
        for n, v in zip(self._names, self._values):
            setattr(self, f'_{n}_value', v)
        self._batch_shape = batch_shape(self._values) if self._names else ()
        self._generator = Generator().manual_seed(self._seed) if self._seed else None

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    seed = property(lambda self: self._seed)
    parameters = property(lambda self: self._parameters)
    batch_shape = property(lambda self: self._batch_shape)

    @property
    def broadcast_shape(self):
        return self._batch_shape

    @property
    def is_scalar_batch(self):
        return not self._batch_shape

    def extend_repr(self):
        return ', '.join(f"{n} = {text_of(v)}" for n, v in zip(self._names, self._values) if v is not None)

    # ---- parameters of a call ----

    def _bind(self, args, kw, suffix='', required=False):
        """Values of the parameters, those given first; takes its keywords out of ``kw``."""
        if len(args) > len(self._names):
            raise TypeError(f"For '{self._name}', at most {len(self._names)} parameters may be given, but got {len(args)}.")
        values = []
        for k, n in enumerate(self._names):
            given = args[k] if k < len(args) else kw.pop(n + suffix, kw.pop(n + '1' + suffix, None))
            if given is None and required:
                raise TypeError(f"{self._name}.kl_loss() is missing the argument '{n}{suffix}'.")
            value = self._values[k] if given is None else parameter(given, self.parameter_type)
            if value is None:
                raise TypeError(f"the type {n} must be subclass of Tensor. It can not be None since it is not specified during "
                                "initialization.")
            values.append(value)
        return values

    def _run(self, hooks, first, args, kw):
        """The first hook that exists, by name or as (name, function of its result)."""
        for name, then in hooks:
            hook = getattr(self, name, None)
            if hook is None:
                continue
            if self._names:
                kw = dict(kw)
                values = self._bind(args, kw)
                if kw:
                    raise TypeError(f"For '{self._name}', unknown arguments: {', '.join(kw)}.")
                y = hook(*first, *values)
            else:
                y = hook(*first, *args, **kw)
            return then(y) if then else y
        raise NotImplementedError(f"{hooks[0][0][1:]} is not implemented for {type(self).__name__} distribution.")

    def _of_value(self, hooks, value, args, kw):
        tensor(value, 'value')
        if self._names:
            value = value.astype(self.parameter_type)
        return self._run(hooks, (value,), args, kw)

    # ---- functions of a value ----

    def prob(self, value, *args, **kwargs):
        """Density or mass at ``value``."""
        return self._of_value((('_prob', None), ('_log_prob', mint.exp)), value, args, kwargs)

    def log_prob(self, value, *args, **kwargs):
        """Logarithm of prob."""
        return self._of_value((('_log_prob', None), ('_prob', mint.log)), value, args, kwargs)

    def cdf(self, value, *args, **kwargs):
        """Probability of at most ``value``."""
        return self._of_value((('_cdf', None), ('_log_cdf', mint.exp), ('_survival_function', lambda s: 1 - s)), value, args, kwargs)

    def log_cdf(self, value, *args, **kwargs):
        return self._of_value((('_log_cdf', None), ('_cdf', mint.log), ('_survival_function', lambda s: mint.log1p(-s))), value, args,
                              kwargs)

    def survival_function(self, value, *args, **kwargs):
        """Probability of more than ``value``."""
        return self._of_value((('_survival_function', None), ('_log_survival', mint.exp), ('_cdf', lambda p: 1 - p),
                               ('_log_cdf', lambda p: -mint.expm1(p))), value, args, kwargs)

    def log_survival(self, value, *args, **kwargs):
        return self._of_value((('_log_survival', None), ('_survival_function', mint.log), ('_cdf', lambda p: mint.log1p(-p))), value,
                              args, kwargs)

    # ---- numbers of the distribution ----

    def mean(self, *args, **kwargs):
        return self._run((('_mean', None),), (), args, kwargs)

    def mode(self, *args, **kwargs):
        return self._run((('_mode', None),), (), args, kwargs)

    def var(self, *args, **kwargs):
        return self._run((('_var', None), ('_sd', mint.square)), (), args, kwargs)

    def sd(self, *args, **kwargs):
        """Standard deviation."""
        return self._run((('_sd', None), ('_var', mint.sqrt)), (), args, kwargs)

    def entropy(self, *args, **kwargs):
        return self._run((('_entropy', None),), (), args, kwargs)

    def _pair(self, name, dist, args, kwargs):
        hook = getattr(self, name, None)
        if hook is None:
            raise NotImplementedError(f"{name[1:]} is not implemented for {type(self).__name__} distribution.")
        if not self._names:
            return hook(dist, *args, **kwargs)
        if dist != self.get_dist_type():
            raise ValueError(f"Expected dist input is {self.get_dist_type()}, but got {dist}.")
        n, kw = len(self._names), dict(kwargs)
        other, own = self._bind(args[:n], kw, '_b', True), self._bind(args[n:], kw, '_a')
        if kw:
            raise TypeError(f"For '{self._name}', unknown arguments: {', '.join(kw)}.")
        return hook(*other, *own)

    def kl_loss(self, dist, *args, **kwargs):
        """Kullback-Leibler divergence from this distribution to one of the same kind with the given parameters."""
        return self._pair('_kl_loss', dist, args, kwargs)

    def cross_entropy(self, dist, *args, **kwargs):
        """Entropy plus kl_loss."""
        if hasattr(self, '_cross_entropy'):
            return self._pair('_cross_entropy', dist, args, kwargs)
        kl = self._pair('_kl_loss', dist, args, kwargs)
        return self.entropy(*args[len(self._names):], **{k[:-2]: v for k, v in kwargs.items() if k.endswith('_a')}) + kl

    def sample(self, *args, **kwargs):
        """Draws of shape ``shape`` + batch shape."""
        if not self._names:
            return self._run((('_sample', None),), (), args, kwargs)
        kwargs = dict(kwargs)
        shape, args = (args[0], args[1:]) if args else (kwargs.pop('shape', ()), ())
        if not isinstance(shape, tuple):
            raise TypeError("For shape, input type must be a tuple.")
        values = self._bind(args, kwargs)
        if not hasattr(self, '_sample'):
            raise NotImplementedError(f"sample is not implemented for {type(self).__name__} distribution.")
        y = self._sample(shape + tuple(self._sample_shape(values)), *values)
        return y if self._dtype is None else y.astype(self._dtype)

    def _sample_shape(self, values):
        return np.broadcast_shapes(*(v.shape for v in values))

    def _uniform(self, shape):
        return mint.rand(shape, dtype=self.parameter_type, generator=self._generator)

    def _normal(self, shape):
        return mint.randn(shape, dtype=self.parameter_type, generator=self._generator)

    def get_dist_type(self):
        """The name of the kind, which kl_loss takes."""
        return type(self).__name__

    def get_dist_args(self, *args, **kwargs):
        """The parameters as a tuple."""
        return tuple(self._bind(args, dict(kwargs)))

    def construct(self, name, *args, **kwargs):
        """Calls the method ``name``."""
        if name.startswith('_') or not hasattr(Distribution, name):
            raise ValueError(f"For '{self._name}', there is no method '{name}'.")
        return getattr(self, name)(*args, **kwargs)


xlogy = mint.xlogy


def const(like, value):
    return mint.full_like(like, value)


def spread(x, *others):
    """x broadcast against the others."""
    for o in others:
        x = x + mint.zeros_like(o)
    return x


__all__ = ['Distribution', 'const', 'spread', 'xlogy']
