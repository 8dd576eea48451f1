"""Functions of one tensor, element by element: mathematics, activations, classification, casts."""
import math

import numpy as np

import mindspore as ms

from .table import B, F, I, P, U, c, erf, erfinv, f, i, lgamma, polygamma, row, sigmoid, z

ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 1e30])
BIG = f(2, 3, lo=1.1, hi=3)
E0 = np.zeros((0, 3))
C = z(2, 3)


def keep(x):
    return x


row('ops.abs ops.absolute mint.abs Tensor.abs Tensor.absolute Tensor.__abs__', np.abs, c(F), c(I), c(ODD), c(E0))
row('ops.neg ops.negative mint.neg mint.negative Tensor.neg Tensor.negative Tensor.__neg__', np.negative, c(F), c(I),
    c(C))
row('ops.sign ops.sgn mint.sign Tensor.sign Tensor.sgn', np.sign, c(F), c(I), c(ODD))
row('ops.square mint.square Tensor.square', np.square, c(F), c(I))
row('ops.sqrt', np.sqrt, c(P), c(i(4)), c(x=P))
row('mint.sqrt Tensor.sqrt', np.sqrt, c(P), c(i(4)))
row('ops.rsqrt mint.rsqrt Tensor.rsqrt', lambda x: 1 / np.sqrt(x), c(P), c(i(4, lo=1)))
row('ops.reciprocal mint.reciprocal Tensor.reciprocal ops.inv Tensor.inv', lambda x: 1 / x, c(P), c(i(4, lo=1)))
row('ops.exp mint.exp Tensor.exp', np.exp, c(F), c(E0))
row('ops.exp2 mint.exp2 mint.special.exp2', np.exp2, c(F), c(i(4)))
row('ops.expm1 mint.expm1 Tensor.expm1 mint.special.expm1', np.expm1, c(F), c(F * 1e-6))
row('ops.log mint.log Tensor.log', np.log, c(P))
row('ops.log1p mint.log1p Tensor.log1p mint.special.log1p', np.log1p, c(U), c(P * 1e-6))
row('ops.log2 mint.log2 Tensor.log2', np.log2, c(P), c(i(4, lo=1)))
row('ops.log10 mint.log10 Tensor.log10', np.log10, c(P), c(i(4, lo=1)))
for name in 'sin cos tan sinh cosh tanh'.split():
    more = ' mint.nn.functional.tanh' if name == 'tanh' else ''
    row(f'ops.{name} mint.{name} Tensor.{name}{more}', getattr(np, name), c(U), c(np.array(0.5)))
for name, data in (('acos', U), ('atan', F), ('asinh', F), ('acosh', BIG), ('atanh', U)):
    long = 'arc' + name[1:]
    row(f'ops.{name} ops.{long} mint.{name} mint.{long} Tensor.{name} Tensor.{long}', getattr(np, long), c(data))
row('ops.asin mint.asin Tensor.asin Tensor.arcsin', np.arcsin, c(U))
row('ops.arcsin mint.arcsin', np.arcsin, c(x=U))
row('ops.erf mint.erf Tensor.erf', erf, c(F))
row('ops.erfc mint.erfc Tensor.erfc mint.special.erfc', lambda x: 1 - erf(x), c(F))
row('ops.erfinv mint.erfinv Tensor.erfinv', erfinv, c(U), tol=3)
row('ops.lgamma Tensor.lgamma', lgamma, c(P), c(P + 8))
row('ops.digamma Tensor.digamma', lambda x: polygamma(0, x), c(P), c(P + 8), tol=3)
row('ops.polygamma', lambda n, input: polygamma(int(n), input), c(1, P), c(0, P), tol=10)
row('ops.polygamma', lambda n, input: polygamma(int(n), input), c(np.array(2), P), tol=10, dynamic=True)
row('ops.sinc mint.sinc mint.special.sinc Tensor.sinc', np.sinc, c(F), c(i(4)))
row('ops.deg2rad Tensor.deg2rad', lambda x: np.deg2rad(x), c(F))
row('ops.rad2deg Tensor.rad2deg', lambda x: np.rad2deg(x), c(F))


def logit(x, eps=None):
    x = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


row('ops.logit Tensor.logit mint.logit', logit, c(f(4, lo=0.1, hi=0.9)), c(f(8, lo=0, hi=1), 0.2), c(F, eps=0.1))
row('ops.floor mint.floor Tensor.floor', np.floor, c(F), c(I))
row('ops.ceil mint.ceil Tensor.ceil', np.ceil, c(F), c(I))
row('ops.trunc mint.trunc Tensor.trunc mint.fix', np.trunc, c(F), c(I))


def rounded(x, decimals=0):
    return np.round(x, decimals)


row('ops.round mint.round mint.special.round Tensor.round', rounded, c(F), c(F, decimals=1), c(F * 100, decimals=-1), c(I))
row('ops.round mint.round mint.special.round Tensor.round', rounded, c(np.array([0.5, 1.5, -0.5, -2.5])), grad=False)
row('ops.frac', lambda x: x - np.trunc(x), c(F), c(x=F))
row('mint.frac Tensor.frac', lambda x: x - np.trunc(x), c(F))
row('ops.real mint.real Tensor.real', lambda x: np.real(x) + 0.0, c(C), c(F))
row('ops.imag mint.imag Tensor.imag', lambda x: np.imag(x) + 0.0, c(C))
row('ops.conj Tensor.conj', np.conj, c(C), c(F))
row('ops.angle Tensor.angle', np.angle, c(C), c(F))


def nan_to_num(x, nan=None, posinf=None, neginf=None):
    big = np.finfo(np.float64).max
    y = np.where(np.isnan(x), 0 if nan is None else nan, x)
    y = np.where(x == np.inf, big if posinf is None else posinf, y)
    return np.where(x == -np.inf, -big if neginf is None else neginf, y)


row('ops.nan_to_num mint.nan_to_num Tensor.nan_to_num', nan_to_num, c(F), c(ODD, 1.0, 2.0, 3.0),
    c(ODD, nan=9, posinf=7, neginf=-7))
row('ops.isnan Tensor.isnan', np.isnan, c(ODD), c(I))
row('mint.isnan ops.isnan_ext', np.isnan, c(ODD), c(I))
row('ops.isinf mint.isinf Tensor.isinf', np.isinf, c(ODD), c(I))
row('ops.isfinite mint.isfinite Tensor.isfinite', np.isfinite, c(ODD), c(I))
row('ops.isposinf Tensor.isposinf', np.isposinf, c(ODD), c(I))
row('ops.isneginf mint.isneginf Tensor.isneginf', np.isneginf, c(ODD), c(I))
row('ops.isreal Tensor.isreal', np.isreal, c(C), c(F))
row('ops.is_floating_point mint.is_floating_point Tensor.is_floating_point', lambda x: x.dtype.kind == 'f', c(F), c(I))
row('ops.is_complex mint.is_complex Tensor.is_complex', lambda x: x.dtype.kind == 'c', c(F), c(C))
row('Tensor.is_signed', lambda x: x.dtype.kind in 'if', c(F), c(I), c(i(3, dtype=np.uint8)))
row('ops.logical_not mint.logical_not Tensor.logical_not Tensor.__invert__', np.logical_not, c(B), c(I), c(F))
row('ops.invert', np.invert, c(I), c(x=I))
row('mint.bitwise_not Tensor.bitwise_not Tensor.invert', np.invert, c(I), c(B))

# ---- activations ----


def relu(x, inplace=False):
    return np.maximum(x, 0)


def softplus(x, beta=1, threshold=20):
    return np.where(x * beta > threshold, x, np.log1p(np.exp(np.minimum(x * beta, 50))) / beta)


def gelu(x, approximate='none'):
    if approximate == 'tanh':
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def elu(x, alpha=1.0, inplace=False):
    return np.where(x > 0, x, alpha * np.expm1(x))


def celu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x / alpha))


def selu(x):
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def hardtanh(x, min_val=-1.0, max_val=1.0, inplace=False):
    return np.clip(x, min_val, max_val)


def glu(x, axis=-1):
    a, b = np.split(x, 2, axis)
    return a * sigmoid(b)


def prelu(x, weight):
    w = weight.reshape((1, -1) + (1,) * (x.ndim - 2)) if weight.size > 1 else weight
    return np.where(x > 0, x, w * x)


W = F * 4
row('ops.relu mint.nn.functional.relu', relu, c(W), c(W, True), c(F, inplace=True), c(I), second=False)
row('mint.relu Tensor.relu', relu, c(W), c(I))
row('ops.relu6', lambda x: np.clip(x, 0, 6), c(W), c(x=W))
row('mint.nn.functional.relu6', lambda x, inplace=False: np.clip(x, 0, 6), c(W), c(W, True))
row('ops.sigmoid mint.sigmoid mint.nn.functional.sigmoid Tensor.sigmoid', sigmoid, c(F))
row('ops.logsigmoid', lambda x: np.log(sigmoid(x)), c(F), c(x=F))
row('mint.nn.functional.logsigmoid', lambda x: np.log(sigmoid(x)), c(F))
row('ops.softplus mint.nn.functional.softplus', softplus, c(F), c(W, 2, 3), c(W, beta=0.5, threshold=1.5))
row('ops.gelu', gelu, c(F), c(F, 'tanh'), c(F, approximate='none'))
row('mint.nn.functional.gelu', gelu, c(F), c(F, approximate='tanh'))
row('ops.fast_gelu', lambda x: x / (1 + np.exp(-1.702 * np.abs(x))) * np.exp(0.851 * (x - np.abs(x))), c(F), c(x=F))
row('ops.silu', lambda x: x * sigmoid(x), c(F))
row('mint.nn.functional.silu', lambda x, inplace=False: x * sigmoid(x), c(F), c(F, True))
row('ops.mish', lambda x: x * np.tanh(softplus(x)), c(F), c(x=F))
row('mint.nn.functional.mish', lambda x: x * np.tanh(softplus(x)), c(F))
row('ops.hardswish mint.nn.functional.hardswish', lambda x: x * np.clip(x + 3, 0, 6) / 6, c(W))
row('ops.hardsigmoid mint.nn.functional.hardsigmoid', lambda x: np.clip(x + 3, 0, 6) / 6, c(W))
row('ops.elu', elu, c(F), c(F, alpha=1.0))
row('mint.nn.functional.elu', elu, c(F), c(F, 2.0), c(F, 0.5, True))
row('ops.celu', celu, c(F), c(F, 2.0), c(x=F, alpha=0.5))
row('ops.selu', selu, c(F))
row('mint.nn.functional.selu', selu, c(F))
row('ops.leaky_relu', lambda x, alpha=0.2: np.where(x > 0, x, alpha * x), c(F), c(F, 0.3), c(F, alpha=0))
row('mint.nn.functional.leaky_relu', lambda x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x), c(F),
    c(F, 0.3))
row('ops.prelu mint.nn.functional.prelu', prelu, c(F, np.array([0.25])), c(f(2, 3, 4), f(3)))
row('ops.hardtanh', hardtanh, c(F), c(F, -0.5, 0.7), c(F, min_val=0, max_val=1))
row('mint.nn.functional.hardtanh', hardtanh, c(F), c(F, -0.5, 0.7, True))
row('ops.hardshrink mint.nn.functional.hardshrink Tensor.hardshrink',
    lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0), c(F), c(F, 1.0), c(F, lambd=0.2))
row('ops.softshrink mint.nn.functional.softshrink',
    lambda x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0), c(F), c(F, 1.0), c(F, lambd=0.2))
row('ops.softsign', lambda x: x / (1 + np.abs(x)), c(F), c(x=F), second=False)
row('ops.tanhshrink mint.nn.functional.tanhshrink', lambda x: x - np.tanh(x), c(F))
row('ops.threshold', lambda x, thr, value: np.where(x > thr, x, value), c(F, 0.1, 5.0), c(F, thr=0, value=2))
row('mint.nn.functional.threshold', lambda x, threshold, value, inplace=False: np.where(x > threshold, x, value),
    c(F, 0.1, 5.0), c(F, threshold=0, value=2, inplace=True))
row('ops.glu', glu, c(f(2, 4)), c(f(4, 3), 0), c(x=f(2, 4), axis=1))
row('mint.nn.functional.glu', lambda x, dim=-1: glu(x, dim), c(f(2, 4)), c(f(4, 3), 0), c(f(2, 4), dim=1))

# ---- casts ----


def cast(x, dtype, copy=True):
    return np.asarray(x).astype(np.dtype(ms.dtype_to_nptype(dtype)))


def to(x, dtype=None, non_blocking=False, copy=False):
    return x if dtype is None else cast(x, dtype)


row('ops.cast', cast, c(W, ms.int32), c(I, ms.float16), c(3.7, ms.int64), c(I, dtype=ms.bool), out=None, grad=False)
row('Tensor.astype', cast, c(W, ms.int32), c(I, ms.bool, False), c(B, dtype=ms.int8, copy=True), grad=False)
row('ops.cast', cast, c(F, ms.float64), c(I, ms.float64), out='float64')
row('Tensor.to', to, c(W, ms.int32), c(I, ms.int8, True, True), c(F, dtype=ms.int64, non_blocking=True, copy=True))
row('Tensor.to', lambda x, other, non_blocking=False, copy=False: x.astype(other.dtype), c(W, I), c(I, B, True, True),
    c(I, other=B))
row('Tensor.to', lambda x, device=None, dtype=None, non_blocking=False, copy=False: to(x, dtype), c(F, 'CPU'), c(F, 'CPU', ms.int32, True, True),
    c(W, device='CPU', dtype=ms.int32, non_blocking=True, copy=True))
row('Tensor.type', cast, c(W, ms.int32), c(F, dtype=ms.int64))
row('Tensor.type', lambda x: 'Int64', c(I))
row('Tensor.type_as', lambda x, other: x.astype(other.dtype), c(W, I), c(I, other=B))
for name, dtype in (('bool', 'bool'), ('char', 'int8'), ('short', 'int16'), ('int', 'int32'), ('long', 'int64'),
                    ('byte', 'uint8'), ('half', 'float16'), ('bfloat16', 'bfloat16'), ('float', 'float32'),
                    ('double', 'float64')):
    row(f'Tensor.{name}', lambda x, d=dtype: x.astype('float32' if d == 'bfloat16' else d), c(P * 10), c(B),
        out=dtype, grad=False)
row('ops.identity', keep, c(F), c(x=I))
row('ops.stop_gradient', keep, c(F), c(value=I), grad=False)
row('ops.deepcopy', keep, c(F), c(input_x=I))
row('ops.scalar_to_tensor', lambda input_x, dtype=ms.float32: cast(input_x, dtype), c(2.5), c(3), c(3.5, ms.int64),
    c(input_x=1, dtype=ms.float32))
row('ops.numel Tensor.numel', lambda x: x.size, c(F), c(E0))
