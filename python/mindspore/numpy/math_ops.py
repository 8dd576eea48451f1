"""numpy's arithmetic, logic, reductions and polynomials over the registry's rows."""
import math as _math
import operator as _operator

import numpy as _np

from mindspore.common import dtype as _ms
from mindspore._c import Tensor
from mindspore.numpy import array_ops as _a
from mindspore.numpy._convert import (_mint, _ops, axes_of as _axes, dtype_of as _dtype, floating as _floating,
                                      is_float as _is_float, out as _out, promote, tensor as _t)

pi = _math.pi
inf = float('inf')
nan = float('nan')
e = _math.e


def _unary(name, f, prepare=_t, doc=None, parameter='x'):
    if parameter == 'x':
        def fn(x, dtype=None):
            return _out(f(prepare(x)), dtype)
    elif parameter == 'a':
        def fn(a, dtype=None):
            return _out(f(prepare(a)), dtype)
    else:
        def fn(input, dtype=None):  # noqa: A002
            return _out(f(prepare(input)), dtype)
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = doc or f"numpy's {name}, element by element; `dtype` is the result's."
    return fn


for _name, _row in dict(sqrt='sqrt', exp='exp', expm1='expm1', log='log', log1p='log1p', log2='log2', log10='log10',
                        sin='sin', cos='cos', tan='tan', sinh='sinh', cosh='cosh', tanh='tanh', arcsinh='asinh',
                        arccosh='acosh', arctan='atan', arctanh='atanh', deg2rad='deg2rad',
                        rad2deg='rad2deg', radians='deg2rad').items():
    globals()[_name] = _unary(_name, _ops[_row], _floating)
for _name, _row in dict(arccos='acos', arcsin='asin').items():
    globals()[_name] = _unary(_name, _ops[_row], _floating, parameter='input')
for _name, _row in dict(abs='abs', absolute='abs', square='square', floor='floor', ceil='ceil', trunc='trunc',
                        rint='round', isnan='isnan', isinf='isinf', isfinite='isfinite', signbit='signbit').items():
    globals()[_name] = _unary(_name, _ops[_row])
negative = _unary('negative', _ops['neg'], parameter='a')
positive = _unary('positive', lambda x: x + 0, parameter='a')
invert = _unary('invert', _mint['bitwise_not'])
bitwise_not = _unary('bitwise_not', _mint['bitwise_not'])
logical_not = _unary('logical_not', _ops['logical_not'], parameter='a')
fabs = _unary('fabs', _ops['abs'], _floating)
sign = _unary('sign', lambda x: _ops['sign'](x.astype(_ms.int32) if x.dtype == _ms.bool_ else x))
exp2 = _unary('exp2', lambda x: _ops['pow'](2, x))
cbrt = _unary('cbrt', lambda x: _ops['sign'](x) * _ops['pow'](_ops['abs'](x), 1 / 3), _floating)
reciprocal = _unary('reciprocal', lambda x: _ops['reciprocal'](x).astype(x.dtype) if not _is_float(x)
                    else _ops['reciprocal'](x))
del _name, _row


def fix(x):
    """Rounds towards zero."""
    return _ops['trunc'](_floating(x))


def isneginf(x):
    return _ops['isneginf'](_floating(x))


def isposinf(x):
    return _ops['isposinf'](_floating(x))


def around(a, decimals=0):
    """Rounds half to even at a decimal place."""
    a = _t(a)
    return a if not _is_float(a) else _ops['round'](a, decimals=decimals)


def _binary(name, f, doc=None):
    def fn(x1, x2, dtype=None):
        return _out(f(_t(x1), _t(x2)), dtype)
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = doc or f"numpy's {name} of two broadcast arrays; `dtype` is the result's."
    return fn


def _as_float(f):
    def fn(x, y):
        x, y = _floating(x), _floating(y)
        return f(x, y)
    return fn


for _name, _row in dict(add='add', subtract='sub', multiply='mul', true_divide='div', divide='div',
                        floor_divide='floor_divide', power='pow', mod='remainder', remainder='remainder',
                        fmod='fmod', maximum='maximum', minimum='minimum', equal='equal', not_equal='not_equal',
                        greater='greater', greater_equal='greater_equal', less='less', less_equal='less_equal',
                        logical_and='logical_and', logical_or='logical_or', logical_xor='logical_xor',
                        bitwise_and='bitwise_and', bitwise_or='bitwise_or', bitwise_xor='bitwise_xor').items():
    globals()[_name] = _binary(_name, _ops[_row])
for _name, _row in dict(arctan2='atan2', hypot='hypot', logaddexp='logaddexp', logaddexp2='logaddexp2',
                        copysign='copysign', heaviside='heaviside').items():
    globals()[_name] = _binary(_name, _as_float(_ops[_row]))


def _as_int(f):
    whole = lambda v: v.astype(_ms.int32) if _is_float(v) or v.dtype == _ms.bool_ else v
    return lambda x, y: f(whole(x), whole(y))


gcd, lcm = _binary('gcd', _as_int(_ops['gcd'])), _binary('lcm', _as_int(_ops['lcm']))
float_power = _binary('float_power', _as_float(lambda x, y: _ops['pow'](x, y)))
del _name, _row


def divmod(x1, x2, dtype=None):  # noqa: A001
    """Quotient and remainder, both floored."""
    return _out(floor_divide(x1, x2), dtype), _out(remainder(x1, x2), dtype)


def clip(x, xmin, xmax, dtype=None):
    """Limits the values to [xmin, xmax]; a bound of None is none."""
    if xmin is None and xmax is None:
        raise ValueError("One of max or min must be given.")
    x = _t(x)
    if xmin is not None:
        x = maximum(x, xmin)
    return _out(x if xmax is None else minimum(x, xmax), dtype)


def matmul(x1, x2, dtype=None):
    x1, x2 = _t(x1), _t(x2)
    kind = promote(x1.dtype, x2.dtype)
    return _out(_ops['matmul'](x1.astype(kind), x2.astype(kind)), dtype)


def _same(a, b):
    a, b = _t(a), _t(b)
    kind = promote(a.dtype, b.dtype)
    return a.astype(kind), b.astype(kind)


def dot(a, b):
    """Over the last axis of a and the last but one of b; a product by a scalar."""
    a, b = _same(a, b)
    return a * b if a.ndim == 0 or b.ndim == 0 else _ops['dot'](a, b)


def inner(a, b):
    a, b = _same(a, b)
    if a.ndim and b.ndim and a.shape[-1] != b.shape[-1]:
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned: {a.shape[-1]} != {b.shape[-1]}")
    return a * b if a.ndim == 0 or b.ndim == 0 else _ops['inner'](a, b)


def outer(a, b):
    a, b = _same(a, b)
    return a.reshape((-1, 1)) * b.reshape((1, -1))


def tensordot(a, b, axes=2):
    """Sum of products over the given axes of both."""
    a, b = _same(a, b)
    if isinstance(axes, int):
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left, right = (tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes)
    left, right = _axes(left, a.ndim), _axes(right, b.ndim)
    if len(left) != len(right) or any(a.shape[i] != b.shape[j] for i, j in zip(left, right)):
        raise ValueError(f"the axes {axes} of the shapes {a.shape} and {b.shape} do not match")
    keep_a = [d for d in range(a.ndim) if d not in left]
    keep_b = [d for d in range(b.ndim) if d not in right]
    n = _math.prod(a.shape[d] for d in left)
    x = a.transpose(tuple(keep_a) + left).reshape((_math.prod(a.shape[d] for d in keep_a), n))
    y = b.transpose(right + tuple(keep_b)).reshape((n, _math.prod(b.shape[d] for d in keep_b)))
    return _ops['matmul'](x, y).reshape(tuple(a.shape[d] for d in keep_a) + tuple(b.shape[d] for d in keep_b))


def kron(a, b):
    """Blocks of b scaled by the entries of a."""
    a, b = _t(a), _t(b)
    n = a.ndim if a.ndim > b.ndim else b.ndim
    sa, sb = (1,) * (n - a.ndim) + tuple(a.shape), (1,) * (n - b.ndim) + tuple(b.shape)
    x = a.reshape(tuple(s for v in sa for s in (v, 1)))
    y = b.reshape(tuple(s for v in sb for s in (1, v)))
    return (x * y).reshape(tuple(v * w for v, w in zip(sa, sb)))


def multi_dot(arrays):
    """The product of a chain of matrices."""
    y = _t(arrays[0])
    for x in arrays[1:]:
        y = matmul(y, x)
    return y


def matrix_power(a, n):
    a = _t(a)
    if n < 0:
        a, n = _ops['inverse'](a), -n
    return _ops['matrix_power'](a, n)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product of vectors of 2 or 3 components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _a.moveaxis(_t(a), axisa, -1), _a.moveaxis(_t(b), axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(f"incompatible dimensions for cross product: {a.shape[-1]} and {b.shape[-1]} (must be 2 or 3)")
    zero = _t(0).astype(promote(a.dtype, b.dtype))
    x = [a[..., k] if k < a.shape[-1] else zero for k in range(3)]
    y = [b[..., k] if k < b.shape[-1] else zero for k in range(3)]
    z = x[0] * y[1] - x[1] * y[0]
    if a.shape[-1] == b.shape[-1] == 2:
        return z
    parts = _a.broadcast_arrays(x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], z)
    return _a.moveaxis(_a.stack(parts, -1), -1, axisc)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    return sum(_a.diagonal(a, offset, axis1, axis2), -1, dtype)


def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    """A matrix or vector norm; see ops.norm."""
    return _ops['norm'](_floating(x), ord, axis, keepdims)


# ---- reductions ----

def sum(a, axis=None, dtype=None, keepdims=False, initial=None):  # noqa: A001
    a = _t(a)
    y = _ops['sum'](a, _axes(axis, a.ndim), keepdims, dtype=_dtype(dtype)) if a.ndim else _ops['sum'](a, dtype=_dtype(dtype))
    return y if initial is None else (y + initial).astype(y.dtype) if dtype is not None else y + initial


def _whole(x, axis, dtype=None):
    return _axes(axis, x.ndim) if x.ndim else None


def mean(a, axis=None, keepdims=False, dtype=None):
    """The average; of integers it keeps their dtype, as the original does, unless `dtype` is given."""
    a = _t(a, dtype)
    return _ops['mean'](a, _whole(a, axis), keepdims)


def std(x, axis=None, ddof=0, keepdims=False):
    return _ops['sqrt'](var(x, axis, ddof, keepdims))


def var(x, axis=None, ddof=0, keepdims=False):
    """The mean squared distance from the mean, of n - ddof."""
    x = _floating(x)
    if x.ndim == 0:
        return x * 0
    axes = _axes(axis, x.ndim)
    n = _math.prod(x.shape[d] for d in axes)
    d = x - _ops['mean'](x, axes, True)
    return _ops['sum'](d * d, axes, keepdims) / (n - ddof if n > ddof else 0)


def average(x, axis=None, weights=None, returned=False):
    x = _t(x)
    if weights is None:
        y = mean(x, axis)
        n = x.size // y.size
        return (y, _a.full_like(y, n)) if returned else y
    w = _t(weights)
    if w.shape != x.shape:
        if not isinstance(axis, int):
            raise TypeError("Axis must be specified when shapes of x and weights differ.")
        if w.ndim != 1 or w.shape[0] != x.shape[axis]:
            raise ValueError("Shape of weights must be consistent with shape of x along specified axis.")
        w = w.reshape(tuple(-1 if d == axis % x.ndim else 1 for d in range(x.ndim)))
        w = _a.broadcast_to(w, x.shape)
    total = sum(w, axis)
    y = true_divide(sum(x * w, axis), total)
    return (y, total) if returned else y


def _extreme(name, largest):
    row, both = _ops['amax' if largest else 'amin'], _ops['maximum' if largest else 'minimum']

    def fn(a, axis=None, keepdims=False, initial=None, where=True):
        a = _t(a)
        if initial is not None and not isinstance(initial, (int, float, bool)):
            raise TypeError(f"initial argument should be a scalar, but got {initial!r}")
        if where is not True:
            if initial is None:
                raise ValueError("initial value must be provided for where masks")
            a = _a.where(where, a, _t(initial).astype(a.dtype))
        y = row(a, _whole(a, axis), keepdims) if a.ndim else a
        return y if initial is None else both(y, _t(initial).astype(y.dtype))
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"The {'largest' if largest else 'smallest'} value of axes, of those `where` is True, and of `initial`."
    return fn


amax, max = _extreme('amax', True), _extreme('max', True)  # noqa: A001
amin, min = _extreme('amin', False), _extreme('min', False)  # noqa: A001


def ptp(x, axis=None, keepdims=False):
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def argmax(a, axis=None):
    return _ops['argmax'](_t(a), axis)


def argmin(a, axis=None):
    return _ops['argmin'](_t(a), axis)


def count_nonzero(x, axis=None, keepdims=False):
    x = _t(x)
    return _ops['count_nonzero'](x, _axes(axis, x.ndim) if x.ndim else (), keepdims)


def sometrue(a, axis=None, keepdims=False):
    a = _t(a)
    return _ops['any'](a.astype(_ms.bool_), _whole(a, axis), keepdims)


def _cumulative(row):
    def f(a, axis, dtype):
        a = _t(a, dtype)
        if a.dtype in (_ms.bool_, _ms.int8, _ms.int16, _ms.uint8) and dtype is None:
            a = a.astype(_ms.int32)
        of_bool = a.dtype == _ms.bool_
        a = a.astype(_ms.int32) if of_bool else a
        y = row(a.reshape((-1,)) if axis is None else a, 0 if axis is None else axis, a.dtype)
        return y.astype(_ms.bool_) if of_bool else y
    return f


def cumsum(a, axis=None, dtype=None):
    return _cumulative(_ops['cumsum'])(a, axis, dtype)


def cumprod(a, axis=None, dtype=None):
    return _cumulative(_ops['cumprod'])(a, axis, dtype)


def _nan_as(a, v):
    a = _t(a)
    return a if not _is_float(a) else _a.where(_ops['isnan'](a), _t(v).astype(a.dtype), a)


def nansum(a, axis=None, dtype=None, keepdims=False):
    return sum(_nan_as(a, 0), axis, dtype, keepdims)


def nancumsum(a, axis=None, dtype=None):
    return cumsum(_nan_as(a, 0), axis, dtype)


def _count_valid(a, axis, keepdims):
    return sum(_ops['logical_not'](_ops['isnan'](a)).astype(_ms.float32), axis, None, keepdims)


def nanmean(a, axis=None, dtype=None, keepdims=False):
    a = _floating(a)
    return _out(nansum(a, axis, None, keepdims) / _count_valid(a, axis, keepdims), dtype)


def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False):
    a = _floating(a)
    d = _a.where(_ops['isnan'](a), _t(0.0), a - nanmean(a, axis, None, True))
    return _out(sum(d * d, axis, None, keepdims) / maximum(_count_valid(a, axis, keepdims) - ddof, 0), dtype)


def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False):
    return _out(_ops['sqrt'](nanvar(a, axis, None, ddof, keepdims)), dtype)


def _nan_extreme(f, filler):
    def fn(a, axis=None, dtype=None, keepdims=False):
        a = _t(a)
        if not _is_float(a):
            return _out(f(a, axis, keepdims), dtype)
        y = f(_nan_as(a, filler), axis, keepdims)
        none = _count_valid(a, axis, keepdims) == 0
        return _out(_a.where(none, _t(nan).astype(y.dtype), y), dtype)
    return fn


nanmax, nanmin = _nan_extreme(amax, -inf), _nan_extreme(amin, inf)


# ---- comparison ----

def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return _ops['isclose'](_floating(a), _floating(b), rtol, atol, equal_nan)


def array_equal(a1, a2, equal_nan=False):
    a1, a2 = _t(a1), _t(a2)
    if a1.shape != a2.shape:
        return _t(False)
    same = _ops['equal'](a1, a2)
    if equal_nan:
        same = _ops['logical_or'](same, _ops['logical_and'](_ops['isnan'](a1), _ops['isnan'](a2)))
    return _ops['all'](same)


def array_equiv(a1, a2):
    a1, a2 = _t(a1), _t(a2)
    try:
        _np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return _t(False)
    return _ops['all'](_ops['equal'](a1, a2))


# ---- statistics ----

def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    """The covariance of variables in rows (columns without `rowvar`)."""
    x = _floating(m)
    if x.ndim > 2:
        raise ValueError(f"m has more than 2 dimensions: {x.ndim}")
    x = x if x.ndim == 2 else x.reshape((1, -1))
    if not rowvar and x.shape[0] != 1:
        x = x.transpose((1, 0))
    if y is not None:
        z = _floating(y)
        z = z if z.ndim == 2 else z.reshape((1, -1))
        if not rowvar and z.shape[0] != 1:
            z = z.transpose((1, 0))
        x = _a.concatenate((x, z), 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    for part in (fweights, aweights):
        if part is not None:
            w = _floating(part) if w is None else w * _floating(part)
    if w is None:
        mu, total = mean(x, 1, True), x.shape[1]
        norm_ = total - ddof
        d = x - mu
        right = d
    else:
        total = sum(w)
        d = x - sum(x * w, 1, None, True) / total
        right = d * w
        norm_ = total - ddof if aweights is None else total - ddof * sum(w * _floating(aweights)) / total
    y = _ops['matmul'](d, right.transpose((1, 0))) / norm_
    return _out(_a.squeeze(y), dtype)


def corrcoef(x, y=None, rowvar=True, dtype=None):
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return _out(c / c, dtype)
    s = _ops['sqrt'](_a.diagonal(c))
    return _out(clip(c / s.reshape((-1, 1)) / s, -1, 1), dtype)


def bincount(x, weights=None, minlength=0, length=None):
    """How often each number occurs (the sum of its weights); `length` fixes the size of the result."""
    x = _t(x)
    if x.ndim != 1:
        raise ValueError("`x` should be one-dimensional.")
    y = _ops['bincount'](x.astype(_ms.int64), None if weights is None else _floating(weights), minlength)
    if length is None:
        return y
    return y[:length] if y.shape[0] >= length else _a.concatenate((y, _a.zeros(length - y.shape[0], y.dtype)))


def histogram_bin_edges(a, bins=10, range=None, weights=None):  # noqa: A002
    """The borders of equally wide bins over the range of the values (or of `bins` themselves)."""
    if not isinstance(bins, int):
        return _floating(bins)
    if isinstance(bins, bool) or bins < 1:
        raise ValueError("`bins` must be positive")
    a = _floating(a)
    if range is None:
        lo, hi = (float(amin(a)), float(amax(a))) if a.size else (0.0, 1.0)
    else:
        lo, hi = range
        if lo > hi:
            raise ValueError("max must be larger than min in range parameter")
    if lo == hi:
        lo, hi = lo - 0.5, hi + 0.5
    return _a.linspace(lo, hi, bins + 1)


def _bins(x, edges):
    """The bin of each value, and whether it is in any; the last bin includes its right border."""
    n = edges.shape[0] - 1
    at = searchsorted(edges, x, 'right') - 1
    at = _a.where(_ops['equal'](x, edges[n]), _t(n - 1), at)
    return _ops['clamp'](at, 0, n - 1), _ops['logical_and'](x >= edges[0], x <= edges[n])


def _check_bins(bins):
    if not isinstance(bins, (int, list, tuple, Tensor)):
        raise TypeError(f"bins should be an int or a list of borders, but got {bins!r}")


def histogram(a, bins=10, range=None, weights=None, density=False):  # noqa: A002
    edges = histogram_bin_edges(a, bins, range, weights)
    counts, _ = histogramdd(_floating(a).reshape((-1, 1)), [edges], None,
                            None if weights is None else _t(weights).reshape((-1,)), density)
    return counts, edges


def histogramdd(sample, bins=10, range=None, weights=None, density=False):  # noqa: A002
    """Counts of points in a grid of bins, and the list of its borders."""
    if isinstance(sample, (list, tuple)):
        sample = _a.stack([_floating(s).reshape((-1,)) for s in sample], 1)
    sample = _floating(sample)
    sample = sample if sample.ndim == 2 else sample.reshape((-1, 1))
    d = sample.shape[1]
    _check_bins(bins)
    bins = [bins] * d if isinstance(bins, int) else list(bins)
    if len(bins) != d:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample")
    ranges = [None] * d if range is None else list(range)
    edges = [histogram_bin_edges(sample[:, k], bins[k], ranges[k]) for k in _range(d)]
    index, inside, shape = None, None, []
    for k in _range(d):
        at, ok = _bins(sample[:, k], edges[k])
        n = edges[k].shape[0] - 1
        index = at if index is None else index * n + at
        inside = ok if inside is None else _ops['logical_and'](inside, ok)
        shape.append(n)
    if 0 in shape:
        return _a.zeros(tuple(shape)), edges
    w = inside.astype(_ms.float32)
    if weights is not None:
        w = _a.where(inside, _floating(weights), _t(0.0))
    counts = _ops['bincount'](index.astype(_ms.int64), w, _math.prod(shape)).reshape(tuple(shape))
    if density:
        counts = counts / sum(counts)
        for k in _range(d):
            counts = counts / diff(edges[k]).reshape(tuple(-1 if j == k else 1 for j in _range(d)))
    return counts, edges


def histogram2d(x, y, bins=10, range=None, weights=None, density=False):  # noqa: A002
    if not isinstance(bins, int) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd((x, y), bins, range, weights, density)
    return counts, edges[0], edges[1]


_range = __builtins__['range'] if isinstance(__builtins__, dict) else __builtins__.range


def searchsorted(a, v, side='left', sorter=None):
    """Where each value of v goes into the sorted a."""
    if side not in ('left', 'right'):
        raise ValueError(f"invalid value for keyword \"side\": {side!r}")
    a, v = _same(a, v)
    if a.ndim != 1:
        raise ValueError("`a` should be 1-D array")
    if sorter is not None:
        a = a[_t(sorter)]
    return _ops['searchsorted'](a, v, right=side == 'right').astype(_ms.int32)


def digitize(x, bins, right=False):
    """The number of the bin that each value is in; bins rise or fall."""
    x, bins = _same(x, bins)
    if bins.ndim != 1:
        raise ValueError("bins should be 1-dimensional")
    if bins.size == 0:
        return _a.zeros_like(x, _ms.int32)
    side = 'left' if right else 'right'
    if bool(bins[0] <= bins[-1]):
        return searchsorted(bins, x, side)
    return bins.size - searchsorted(_a.flip(bins), x, side)


def interp(x, xp, fp, left=None, right=None):
    """Piecewise linear interpolation through (xp, fp), which rise in xp."""
    x, xp, fp = _floating(x), _floating(xp), _floating(fp)
    if xp.ndim != 1 or fp.ndim != 1 or xp.shape != fp.shape:
        raise ValueError("xp and fp must be 1-d sequences of the same length")
    n = xp.size
    at = _ops['clamp'](searchsorted(xp, x, 'right') - 1, 0, n - 2 if n > 1 else 0)
    nxt = _ops['clamp'](at + 1, 0, n - 1)
    x0, x1, y0, y1 = xp[at], xp[nxt], fp[at], fp[nxt]
    gap = _a.where(x1 == x0, _t(1.0).astype(x0.dtype), x1 - x0)
    y = y0 + (y1 - y0) * ((x - x0) / gap)
    y = _a.where(x < xp[0], _t(fp[0] if left is None else left).astype(y.dtype), y)
    return _a.where(x > xp[-1], _t(fp[-1] if right is None else right).astype(y.dtype), y)


def trapz(y, x=None, dx=1.0, axis=-1):
    """The integral by the trapezoidal rule."""
    y = _floating(y)
    axis = _axes(axis, y.ndim)[0]
    if x is None:
        step = dx
    else:
        step = diff(_floating(x), axis=-1 if _t(x).ndim == 1 else axis)
        if step.ndim == 1:
            step = step.reshape(tuple(-1 if d == axis else 1 for d in _range(y.ndim)))
    n = y.shape[axis]
    cut = lambda b, e_: y[(slice(None),) * axis + (slice(b, e_),)]
    return sum((cut(1, n) + cut(0, n - 1)) / 2 * step, axis)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    a = _t(a)
    if n == 0:
        return a
    edge = lambda v: None if v is None else _a.broadcast_to(_t(v), a.shape[:axis % a.ndim] + (1,) + a.shape[
        axis % a.ndim + 1:]).astype(a.dtype) if _t(v).ndim == 0 else _t(v)
    return _ops['diff'](a, n, axis, edge(prepend), edge(append))


def ediff1d(ary, to_end=None, to_begin=None):
    x = _t(ary).reshape((-1,))
    parts = [] if to_begin is None else [_t(to_begin).reshape((-1,)).astype(x.dtype)]
    parts.append(diff(x))
    if to_end is not None:
        parts.append(_t(to_end).reshape((-1,)).astype(x.dtype))
    return parts[0] if len(parts) == 1 else _a.concatenate(parts)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Central differences inside, one-sided ones at the ends; a list for several axes."""
    f = _floating(f)
    if edge_order != 1:
        raise ValueError("edge_order must be 1")
    axes = _axes(axis, f.ndim)
    steps = list(varargs) or [1.0]
    if len(steps) == 1:
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    result = []
    for d, h in zip(axes, steps):
        n = f.shape[d]
        if n < 2:
            raise ValueError("Shape of array too small to calculate a numerical gradient, at least 2 elements are required.")
        cut = lambda b, e_: f[(slice(None),) * d + (slice(b, e_),)]
        inner_ = (cut(2, n) - cut(0, n - 2)) / 2
        y = _a.concatenate((cut(1, 2) - cut(0, 1), inner_, cut(n - 1, n) - cut(n - 2, n - 1)), d)
        result.append(y / h)
    return result[0] if len(result) == 1 else result


def unwrap(p, discont=3.141592653589793, axis=-1):
    """Removes jumps of more than `discont` by multiples of 2 pi."""
    p = _floating(p)
    axis = _axes(axis, p.ndim)[0]
    d = diff(p, axis=axis)
    turn = mod(d + pi, 2 * pi) - pi
    turn = _a.where(_ops['logical_and'](turn == -pi, d > 0), _t(pi).astype(p.dtype), turn)
    fixed = _a.where(_ops['abs'](d) < discont, _t(0.0).astype(p.dtype), turn - d)
    first = p[(slice(None),) * axis + (slice(0, 1),)]
    rest = p[(slice(None),) * axis + (slice(1, None),)]
    return _a.concatenate((first, rest + cumsum(fixed, axis)), axis)


def convolve(a, v, mode='full'):
    a, v = _same(a, v)
    if a.size == 0 or v.size == 0:
        raise ValueError("Arrays must not be empty.")
    if a.size < v.size:
        a, v = v, a
    return _slide(a, _a.flip(v), mode)


def correlate(a, v, mode='valid'):
    a, v = _same(a, v)
    if a.size < v.size:
        return _a.flip(_slide(v, a, mode))
    return _slide(a, v, mode)


def _slide(a, v, mode):
    """Products of v with every part of a that it overlaps."""
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array: only 1-d arrays are convolved")
    n = v.size
    if mode not in ('full', 'same', 'valid'):
        raise ValueError(f"mode must be one of ['full', 'same', 'valid'], but got {mode!r}")
    low, high = {'full': (n - 1, n - 1), 'same': (n // 2, n - 1 - n // 2), 'valid': (0, 0)}[mode]
    a = _a.concatenate((_a.zeros(low, a.dtype), a, _a.zeros(high, a.dtype)))
    index = _a.arange(a.size - n + 1).reshape((-1, 1)) + _a.arange(n)
    return _ops['matmul'](a[index], v)


# ---- polynomials: coefficients from the highest power on ----

def _poly(a):
    return _t(a).reshape((-1,))


def _aligned(a1, a2):
    a1, a2 = _poly(a1), _poly(a2)
    n = a1.size if a1.size > a2.size else a2.size
    grow = lambda p: p if p.size == n else _a.concatenate((_a.zeros(n - p.size, p.dtype), p))
    return grow(a1), grow(a2)


def polyadd(a1, a2):
    return _operator.add(*_aligned(a1, a2))


def polysub(a1, a2):
    return _operator.sub(*_aligned(a1, a2))


def polymul(a1, a2):
    return convolve(_poly(a1), _poly(a2))


def polyval(p, x):
    p, x = _poly(p), _t(x)
    y = _a.zeros_like(x)
    for k in _range(p.size):
        y = y * x + p[k]
    return y


def polyder(p, m=1):
    p = _poly(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive")
    for _ in _range(m):
        n = p.size - 1
        p = p[:-1] * _a.arange(n, 0, -1).astype(p.dtype) if n > 0 else p[:0]
    return p


def polyint(p, m=1, k=None):
    """The antiderivative, m times, with the constants k."""
    p = _floating(p).reshape((-1,))
    if m < 0:
        raise ValueError("Order of integral must be positive")
    k = [0] * m if k is None else list(k) if isinstance(k, (list, tuple)) else [k]
    if len(k) == 1 and m > 1:
        k = k * m
    if len(k) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for j in _range(m):
        p = _a.concatenate((p / _a.arange(p.size, 0, -1).astype(p.dtype), _t(k[j]).reshape((1,)).astype(p.dtype)))
    return p


def promote_types(type1, type2):
    """The smallest dtype that holds both."""
    return promote(_dtype(type1), _dtype(type2))


def result_type(*arrays_and_dtypes):
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    kinds = [x.dtype if isinstance(x, Tensor) else _t(x).dtype if isinstance(x, (bool, int, float, list, tuple))
             else _dtype(x) for x in arrays_and_dtypes]
    kind = kinds[0]
    for other in kinds[1:]:
        kind = promote(kind, other)
    return kind


# ---- sets ----

def unique(x, return_inverse=False):
    """The distinct values, ascending."""
    x = _t(x)
    y = _mint['unique'](x, return_inverse=True)
    return y if return_inverse else y[0]


def in1d(ar1, ar2, invert=False):  # noqa: A002
    return isin(_t(ar1).reshape((-1,)), ar2, invert)


def isin(element, test_elements, invert=False):  # noqa: A002
    """Whether each element is among the others."""
    x, y = _same(element, test_elements)
    if y.size == 0:
        hit = _a.zeros(x.shape, _ms.bool_)
    else:
        hit = _ops['any'](_ops['equal'](_a.expand_dims(x, -1), y.reshape((-1,))), -1)
    return _ops['logical_not'](hit) if invert else hit


def setdiff1d(ar1, ar2, assume_unique=False):
    x = _t(ar1).reshape((-1,))
    x = x if assume_unique else unique(x)
    return x[in1d(x, ar2, True)]


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """Values in both, ascending; with the places of their first occurrences."""
    x, y = _same(_t(ar1).reshape((-1,)), _t(ar2).reshape((-1,)))
    both = unique(x)
    both = both[in1d(both, y)]
    if not return_indices:
        return both
    first = lambda z: _ops['argmax'](_ops['equal'](both.reshape((-1, 1)), z).astype(_ms.int32), 1)
    return both, first(x), first(y)
