"""Initial values of Parameters.

A random initializer takes one double from numpy's global stream as the seed of a stream of its own, so that
``np.random.seed`` (which ``mindspore.set_seed`` calls) alone fixes the weights; constant ones take none.
"""
import math
import numbers

import numpy as np

from mindspore.common import dtype as mstype
from mindspore.common._rows import init as _init
from mindspore.common.tensor import Tensor

__all__ = ["Initializer", "initializer", "Zero", "One", "Constant", "Identity", "Dirac", "Sparse", "Normal", "Uniform",
           "TruncatedNormal", "XavierUniform", "XavierNormal", "HeUniform", "HeNormal", "Orthogonal", "VarianceScaling"]

_BY_NAME = {}


def _register(*aliases):
    def wrapper(cls):
        for name in (cls.__name__.lower(), *aliases):
            _BY_NAME[name] = cls
        return cls
    return wrapper


def _calculate_fan_in_and_fan_out(shape):
    """Inputs and outputs of one unit of a weight (out, in, kernel...)."""
    if len(shape) < 2:
        raise ValueError("'fan_in' and 'fan_out' can not be computed for tensor with fewer than 2 dimensions, but got "
                         f"dimensions {len(shape)}.")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(shape, mode):
    mode = mode.lower() if isinstance(mode, str) else mode
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"'mode' {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(shape)[mode == "fan_out"]


def _calculate_gain(nonlinearity, param=None):
    """Factor that keeps the variance through an activation (He et al. 2015)."""
    if nonlinearity in ("linear", "sigmoid") or str(nonlinearity).startswith("conv"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"For 'HeUniform', 'negative_slope' {slope} is not a valid number.")
        return math.sqrt(2.0 / (1 + slope ** 2))
    raise ValueError("For 'HeUniform', the argument 'nonlinearity' should be one of ['sigmoid', 'tanh', 'relu' or "
                     f"'leaky_relu'], but got {nonlinearity}.")


def _assignment(arr, num):
    """Fills ``arr`` (an ndarray) with a number or an array."""
    arr[...] = num
    return arr


def _seed():
    """The seed of a new native stream: one double of numpy's global stream."""
    return int(np.random.random() * (1 << 53))


def _compute_dtype(dtype):
    return mstype.float64 if dtype == mstype.float64 else mstype.float32


class Initializer:
    """Base of initializers. A subclass fills an ndarray in ``_initialize(arr)``."""

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._seed = None

    @property
    def seed(self):
        return (0, 0) if self._seed is None else self._seed

    @seed.setter
    def seed(self, value):
        self._seed = value

    def _initialize(self, *args, **kwargs):
        raise NotImplementedError(f"'{type(self).__name__}' must define '_initialize'.")

    def __call__(self, arr):
        return self._initialize(arr)

    def _make(self, shape, dtype):
        """A new Tensor of initial values."""
        arr = np.zeros(shape, mstype.dtype_to_nptype(_compute_dtype(dtype)))
        self._initialize(arr)
        return Tensor(arr).astype(dtype)


class _Native(Initializer):
    """Initializers whose values are computed by operators: ``_values(shape, dtype)`` in a floating dtype."""

    def _values(self, shape, dtype):
        raise NotImplementedError

    def _make(self, shape, dtype):
        return self._values(shape, _compute_dtype(dtype)).astype(dtype)

    def _initialize(self, arr):
        dtype = mstype.float64 if arr.dtype == np.float64 else mstype.float32
        return _assignment(arr, self._values(arr.shape, dtype).asnumpy())


@_register("zeros")
class Zero(_Native):
    def _values(self, shape, dtype):
        return _init.full(shape, 0.0, dtype)


@_register("ones")
class One(_Native):
    def _values(self, shape, dtype):
        return _init.full(shape, 1.0, dtype)


class Constant(_Native):
    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _values(self, shape, dtype):
        return Tensor(np.broadcast_to(np.asarray(self.value, mstype.dtype_to_nptype(dtype)), shape).copy())


@_register()
class Identity(_Native):
    def _values(self, shape, dtype):
        if len(shape) != 2:
            raise ValueError("For Identity initializer, the dimension of the initialized tensor should be 2, but got "
                             f"{len(shape)}.")
        return Tensor(np.eye(*shape, dtype=mstype.dtype_to_nptype(dtype)))


@_register()
class Dirac(_Native):
    """Kernels that pass their inputs through."""

    def __init__(self, groups=1):
        super().__init__(groups=groups)
        self.groups = groups

    def _values(self, shape, dtype):
        if len(shape) not in (3, 4, 5):
            raise ValueError("For Dirac initializer, only support to initialize tensor with dimension of 3, 4 or 5, but "
                             f"got {len(shape)}.")
        if self.groups < 1 or shape[0] % self.groups:
            raise ValueError("For Dirac initializer, the first dimension of the initialized tensor must be divisible by "
                             f"groups, but got first dimension {shape[0]}, groups {self.groups}.")
        arr = np.zeros(shape, mstype.dtype_to_nptype(dtype))
        each = shape[0] // self.groups
        center = tuple(k // 2 for k in shape[2:])
        for g in range(self.groups):
            for i in range(min(each, shape[1])):
                arr[(g * each + i, i, *center)] = 1
        return Tensor(arr)


@_register()
class Normal(_Native):
    def __init__(self, sigma=0.01, mean=0.0):
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def _values(self, shape, dtype):
        return _init.normal(_seed(), shape, dtype, self.mean, self.sigma)


@_register()
class Uniform(_Native):
    """Uniform in [-scale, scale)."""

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _values(self, shape, dtype):
        return _init.uniform(_seed(), shape, dtype, self.scale)


@_register()
class TruncatedNormal(_Native):
    """Normal values within [a, b]."""

    def __init__(self, sigma=0.01, mean=0.0, a=-2.0, b=2.0):
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def _values(self, shape, dtype):
        return _init.truncated_normal(_seed(), shape, dtype, self.mean, self.sigma, self.a, self.b)


@_register("xavier_uniform")
class XavierUniform(_Native):
    """Glorot & Bengio 2010."""

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _values(self, shape, dtype):
        return Uniform(self.gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(shape))))._values(shape, dtype)


@_register("xavier_normal")
class XavierNormal(_Native):
    """Glorot & Bengio 2010."""

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _values(self, shape, dtype):
        return Normal(self.gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(shape))))._values(shape, dtype)


class _He(_Native):
    """He et al. 2015."""

    def __init__(self, negative_slope=0, mode="fan_in", nonlinearity="leaky_relu"):
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _std(self, shape):
        fan = _calculate_correct_fan(shape, self.mode)
        return _calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


@_register("he_uniform")
class HeUniform(_He):
    def _values(self, shape, dtype):
        return Uniform(math.sqrt(3.0) * self._std(shape))._values(shape, dtype)


@_register("he_normal")
class HeNormal(_He):
    def _values(self, shape, dtype):
        return Normal(self._std(shape))._values(shape, dtype)


@_register()
class Orthogonal(_Native):
    """Rows (or columns) are orthonormal, times ``gain`` (Saxe et al. 2014)."""

    def __init__(self, gain=1.0):
        super().__init__(gain=gain)
        self.gain = gain

    def _values(self, shape, dtype):
        if len(shape) < 2:
            raise ValueError("For Orthogonal initializer, the dimension of the initialized tensor should be no less than "
                             f"2, but got {len(shape)}.")
        rows, cols = shape[0], math.prod(shape[1:])
        a = _init.normal(_seed(), (max(rows, cols), min(rows, cols)), mstype.float64, 0.0, 1.0).asnumpy()
        q, r = np.linalg.qr(a)
        q *= np.sign(np.diag(r))
        q = q.T if rows < cols else q
        return Tensor((self.gain * q).reshape(shape).astype(mstype.dtype_to_nptype(dtype)))


@_register()
class Sparse(_Native):
    """Normal values, a fraction ``sparsity`` of each column zero (Martens 2010)."""

    def __init__(self, sparsity, sigma=0.01):
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def _values(self, shape, dtype):
        if len(shape) != 2:
            raise ValueError("For Sparse initializer, the dimension of the initialized tensor should be 2, but got "
                             f"{len(shape)}.")
        n_zero = min(math.ceil(self.sparsity * shape[0]), shape[0])
        return _init.sparse(_seed(), shape, dtype, self.sigma, max(n_zero, 0))


@_register()
class VarianceScaling(_Native):
    """Values whose variance is ``scale`` over the fan."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal"):
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0.:
            raise ValueError(f"For VarianceScaling initializer, the argument 'scale' must be greater than 0, but got {scale}.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("For VarianceScaling initializer, the argument 'mode' must be fan_in, fan_out or fan_avg, but "
                             f"got {mode}.")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("For VarianceScaling initializer, the argument 'distribution' must be uniform, truncated_norm "
                             f"or untruncated_norm, but got {distribution}.")
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def _values(self, shape, dtype):
        fan_in, fan_out = _calculate_fan_in_and_fan_out(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            return Uniform(math.sqrt(3 * variance))._values(shape, dtype)
        if self.distribution == "untruncated_normal":
            return Normal(math.sqrt(variance))._values(shape, dtype)
        sigma = math.sqrt(variance) / 0.87962566103423978  # the deviation of a normal cut at two sigma
        return _init.truncated_normal(_seed(), shape, dtype, 0.0, sigma, -2 * sigma, 2 * sigma)


def _as_initializer(init):
    if isinstance(init, Initializer):
        return init
    if isinstance(init, str):
        cls = _BY_NAME.get(init.lower())
        if cls is None:
            raise ValueError(f"For 'initializer', the class corresponding to '{init}' was not found.")
        return cls()
    if isinstance(init, numbers.Number):
        return Constant(init)
    raise TypeError("For 'initializer', the type of the 'init' argument should be 'Tensor', 'number', 'string' or "
                    f"'initializer', but got {type(init)}.")


def initializer(init, shape=None, dtype=mstype.float32):
    """A Tensor that gets its values from ``init`` (a name, a number, an Initializer or a Tensor) when it becomes a
    Parameter or ``init_data()`` is called; until then it reads as zeros."""
    if isinstance(shape, numbers.Integral) and not isinstance(shape, bool):
        shape = (int(shape),)
    if isinstance(init, Tensor):
        wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        if tuple(init.shape) != wanted:
            raise ValueError("For 'initializer', the shape of the 'init' argument should be same as the argument 'shape', "
                             f"but got the 'init' shape {list(init.shape)} and the 'shape' {shape}.")
        return init
    init = _as_initializer(init)
    if shape is None:
        raise ValueError("For 'initializer', the argument 'shape' must be given.")
    for size in shape:
        if not isinstance(size, numbers.Integral) or isinstance(size, bool) or size < 1:
            raise ValueError("For 'initializer', the argument 'shape' is invalid, the value of 'shape' must be positive "
                             f"integer, but got {shape}")
    return Tensor(shape=tuple(int(size) for size in shape), dtype=dtype, init=init)


def make(init, shape, dtype):
    """A new Tensor of the values that ``init`` (an Initializer, a name or a number) gives."""
    return _as_initializer(init)._make(tuple(shape), dtype)


def init_tensor(init, tensor):
    """Gives a promised Tensor its data."""
    return Tensor.assign_value(tensor, make(init, tensor.shape, tensor.dtype))
