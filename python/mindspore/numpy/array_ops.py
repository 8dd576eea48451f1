"""numpy's creation and rearrangement of arrays over the registry's rows."""
import builtins as _b
import math as _math
import operator as _operator

import numpy as _np

from mindspore.common import dtype as _ms
from mindspore._c import Tensor
from mindspore.numpy._convert import (_mint, _ops, axes_of as _axes, dtype_of as _dtype, floating as _floating, narrowed as _narrowed,
                                      out as _out, promote, tensor as _t)


def _shape(shape):
    if isinstance(shape, Tensor):
        shape = shape.asnumpy().tolist()
    return (shape,) if isinstance(shape, int) else tuple(_operator.index(s) for s in shape)


# ---- creation ----

def array(obj, dtype=None, copy=True, ndmin=0):
    """A Tensor of a number, a list, a tuple or a Tensor, with at least `ndmin` axes."""
    x = _t(obj, dtype)
    if copy and isinstance(obj, Tensor) and x is obj:
        x = _ops['deepcopy'](x)
    return x.reshape((1,) * (ndmin - x.ndim) + tuple(x.shape)) if ndmin > x.ndim else x


def asarray(a, dtype=None):
    return _t(a, dtype)


def asfarray(a, dtype=_ms.float32):
    dtype = _dtype(dtype)
    return _t(a, _ms.float32 if dtype is None or dtype in (_ms.int32, _ms.int64) else dtype)


def copy(a):
    return _ops['deepcopy'](_t(a))


def ones(shape, dtype=_ms.float32):
    return _ops['ones'](_shape(shape), _dtype(dtype) or _ms.float32)


def zeros(shape, dtype=_ms.float32):
    return _ops['zeros'](_shape(shape), _dtype(dtype) or _ms.float32)


def empty(shape, dtype=_ms.float32):
    """Zeros: memory without a value is not given out."""
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None):
    v = _t(fill_value, dtype)
    return _ops['broadcast_to'](v, _shape(shape)) + _ops['zeros']((), v.dtype) if v.dtype != _ms.bool_ else \
        _ops['deepcopy'](_ops['broadcast_to'](v, _shape(shape)))


def _like(a, dtype, shape, make):
    a = _t(a)
    return make(tuple(a.shape) if shape is None else _shape(shape), _dtype(dtype) or a.dtype)


def ones_like(a, dtype=None, shape=None):
    return _like(a, dtype, shape, ones)


def zeros_like(a, dtype=None, shape=None):
    return _like(a, dtype, shape, zeros)


def empty_like(prototype, dtype=None, shape=None):
    return _like(prototype, dtype, shape, zeros)


def full_like(a, fill_value, dtype=None, shape=None):
    return _like(a, dtype, shape, lambda s, d: full(s, fill_value, d))


def arange(start, stop=None, step=None, dtype=None):
    """int32 for integers, float32 for floats, unless `dtype` is given."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    start, stop, step = (v.asnumpy().item() if isinstance(v, Tensor) else v for v in (start, stop, step))
    if step == 0:
        raise ZeroDivisionError("division by zero: 'step' is 0")
    y = _np.arange(start, stop, step)
    return _narrowed(y) if dtype is None else _t(y, dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """`num` numbers from start to stop, equally far apart; start and stop may be arrays."""
    if not isinstance(num, int):
        raise TypeError("num: integer argument expected")
    if num < 0:
        raise ValueError("Number of samples must be non-negative.")
    a, z = _floating(start), _floating(stop)
    n = num - 1 if endpoint else num
    step = (z - a) / (n if n > 0 else float('nan'))
    k = _ops['arange'](0, num, 1).astype(_ms.float32).reshape((num,) + (1,) * step.ndim)
    y = a + k * step if n > 0 else a + k * (z - a)
    if endpoint and num > 1:
        y = concatenate((y[:-1], expand_dims(broadcast_to(z, y.shape[1:]), 0).astype(y.dtype)), 0)
    y = moveaxis(y, 0, axis) if axis != 0 else y
    y = _out(y, dtype)
    return (y, step) if retstep else y


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    return _out(_ops['pow'](float(base), linspace(start, stop, num, endpoint, axis=axis)), dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers of constant ratio from start to stop, which have one sign."""
    a, z = _floating(start), _floating(stop)
    sign = _ops['sign'](a)
    y = _ops['exp'](linspace(_ops['log'](a * sign), _ops['log'](z * sign), num, endpoint, axis=axis))
    return _out(y * sign if axis == 0 else y * expand_dims(sign, axis) if sign.ndim else y * sign, dtype)


def eye(N, M=None, k=0, dtype=_ms.float32):
    """Ones on diagonal k."""
    rows, cols = arange(N).reshape((-1, 1)), arange(N if M is None else M)
    return (cols - rows == k).astype(_dtype(dtype))


def identity(n, dtype=_ms.float32):
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=_ms.float32):
    rows, cols = arange(N).reshape((-1, 1)), arange(N if M is None else M)
    return (cols - rows <= k).astype(_dtype(dtype))


def tril(m, k=0):
    m = _t(m)
    return where(tri(m.shape[-2], m.shape[-1], k, _ms.bool_), m, _t(0).astype(m.dtype))


def triu(m, k=0):
    m = _t(m)
    return where(tri(m.shape[-2], m.shape[-1], k - 1, _ms.bool_), _t(0).astype(m.dtype), m)


def diag(v, k=0):
    """A matrix with diagonal k, or the diagonal of a matrix."""
    v = _t(v)
    if v.ndim not in (1, 2):
        raise ValueError("Input must be 1- or 2-d.")
    return diagflat(v, k) if v.ndim == 1 else diagonal(v, k)


def diagflat(v, k=0):
    v = _t(v).reshape((-1,))
    n = v.size + _b.abs(k)
    low, high = (0, k) if k >= 0 else (-k, 0)
    row = concatenate((zeros(low, v.dtype), v, zeros(high, v.dtype)))
    return where(eye(n, k=k, dtype=_ms.bool_), row.reshape((-1, 1)),
                 _t(0).astype(v.dtype))


def diagonal(a, offset=0, axis1=0, axis2=1):
    a = _t(a)
    i, j = _axes((axis1, axis2), a.ndim)
    rest = [d for d in _b.range(a.ndim) if d not in (i, j)]
    x = a.transpose(tuple(rest) + (i, j))
    m, n = x.shape[-2:]
    r, c = (0, offset) if offset >= 0 else (-offset, 0)
    size_ = _b.max(0, _b.min(m - r, n - c))
    k = arange(size_)
    return x.reshape(tuple(x.shape[:-2]) + (m * n,))[..., (k + r) * n + k + c]


def vander(x, N=None, increasing=False):
    x = _t(x)
    n = x.size if N is None else N
    p = arange(n) if increasing else arange(n - 1, -1, -1)
    return _ops['pow'](x.reshape((-1, 1)), p.astype(x.dtype))


def _window(M, f):
    if M < 1:
        return zeros(0)
    if M == 1:
        return ones(1)
    return f(arange(M).astype(_ms.float32), float(M - 1))


def bartlett(M):
    return _window(M, lambda k, n: 1 - _ops['abs'](2 * k / n - 1))


def blackman(M):
    return _window(M, lambda k, n: 0.42 - 0.5 * _ops['cos'](k * (2 * _math.pi / n)) + 0.08 * _ops['cos'](
        k * (4 * _math.pi / n)))


def hamming(M):
    return _window(M, lambda k, n: 0.54 - 0.46 * _ops['cos'](k * (2 * _math.pi / n)))


def hanning(M):
    return _window(M, lambda k, n: 0.5 - 0.5 * _ops['cos'](k * (2 * _math.pi / n)))


def _drawn(name, shape, dtype):
    dtype = _dtype(dtype)
    if dtype not in (_ms.float16, _ms.float32, _ms.float64):
        raise ValueError(f"For '{name}', the dtype must be a floating type, but got {dtype}.")
    return _ops[name](*(shape or (1,)), dtype=dtype).reshape(shape)


def _sizes(shape):
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list)):
        raise TypeError(f"The shape should be ints or a tuple or list of them, but got {type(shape[0]).__name__}")
    return _shape(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape


def rand(*shape, dtype=_ms.float32):
    return _drawn('rand', _sizes(shape), dtype)


def randn(*shape, dtype=_ms.float32):
    return _drawn('randn', _sizes(shape), dtype)


def randint(minval, maxval=None, shape=None, dtype=_ms.int32):
    """Integers in [minval, maxval), or in [0, minval)."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    if not isinstance(low, int) or not isinstance(high, int):
        raise TypeError("minval and maxval should be int")
    if low >= high:
        raise ValueError("minval should be less than maxval")
    dtype = _dtype(dtype)
    if dtype not in _ms.int_type + _ms.uint_type:
        raise ValueError(f"dtype should be an integer type, but got {dtype}")
    y = _ops['randint'](low, high, (1,) if shape is None else _shape(shape)).astype(dtype)
    return y.reshape(()) if shape is None else y


# ---- shapes ----

def reshape(x, new_shape):
    return _t(x).reshape(_shape(new_shape))


def ravel(x):
    return _t(x).reshape((-1,))


def transpose(a, axes=None):
    a = _t(a)
    return a.transpose(tuple(_b.range(a.ndim))[::-1] if axes is None else _axes(axes, a.ndim)) if a.ndim else a


def swapaxes(x, axis1, axis2):
    return _ops['swapaxes'](_t(x), axis1, axis2)


def moveaxis(a, source, destination):
    a = _t(a)
    s, d = _axes(source, a.ndim), _axes(destination, a.ndim)
    if len(s) != len(d):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in _b.range(a.ndim) if k not in s]
    for to, frm in sorted(zip(d, s)):
        order.insert(to, frm)
    return a.transpose(tuple(order))


def rollaxis(x, axis, start=0):
    """Moves an axis in front of `start`."""
    x = _t(x)
    axis = _axes(axis, x.ndim)[0]
    if not -x.ndim <= start <= x.ndim:
        raise ValueError(f"start {start} is out of bounds for array of dimension {x.ndim}")
    start = start + x.ndim if start < 0 else start
    order = [d for d in _b.range(x.ndim) if d != axis]
    order.insert(start - (start > axis), axis)
    return x.transpose(tuple(order))


def expand_dims(a, axis):
    a = _t(a)
    axis = axis if isinstance(axis, (tuple, list)) else (axis,)
    nd = a.ndim + len(axis)
    axes = _axes(tuple(axis), nd)
    sizes = iter(a.shape)
    return a.reshape(tuple(1 if d in axes else next(sizes) for d in _b.range(nd)))


def squeeze(a, axis=None):
    a = _t(a)
    axes = tuple(d for d in _b.range(a.ndim) if a.shape[d] == 1) if axis is None else _axes(axis, a.ndim)
    if any(a.shape[d] != 1 for d in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a.reshape(tuple(s for d, s in enumerate(a.shape) if d not in axes))


def atleast_1d(*arys):
    y = [x if x.ndim else x.reshape((1,)) for x in map(_t, arys)]
    return y[0] if len(y) == 1 else y


def atleast_2d(*arys):
    y = [x if x.ndim > 1 else x.reshape((1, -1)) for x in map(_t, arys)]
    return y[0] if len(y) == 1 else y


def atleast_3d(*arys):
    y = [x if x.ndim > 2 else x.reshape((1, -1, 1)) if x.ndim < 2 else expand_dims(x, 2) for x in map(_t, arys)]
    return y[0] if len(y) == 1 else y


def broadcast_to(array, shape):  # noqa: A002
    return _ops['broadcast_to'](_t(array), _shape(shape))


def broadcast_arrays(*args):
    arrays = [_t(x) for x in args]
    shape = _np.broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def _common(arrays):
    arrays = [_t(x) for x in arrays]
    if not arrays:
        raise ValueError("need at least one array")
    kind = arrays[0].dtype
    for x in arrays[1:]:
        kind = promote(kind, x.dtype)
    return [x.astype(kind) for x in arrays]


def concatenate(arrays, axis=0):
    if isinstance(arrays, Tensor):
        arrays = [arrays[k] for k in _b.range(arrays.shape[0])]
    arrays = _common(arrays)
    if axis is None:
        arrays, axis = [x.reshape((-1,)) for x in arrays], 0
    return _mint['cat'](arrays, axis)


def append(arr, values, axis=None):
    return concatenate((arr, values), axis)


def stack(arrays, axis=0):
    if isinstance(arrays, Tensor):
        arrays = [arrays[k] for k in _b.range(arrays.shape[0])]
    return _mint['stack'](_common(arrays), axis)


def _parts(tup):
    return [tup[k] for k in _b.range(tup.shape[0])] if isinstance(tup, Tensor) else list(tup)


def hstack(tup):
    arrays = [atleast_1d(x) for x in _parts(tup)]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


def vstack(tup):
    return concatenate([atleast_2d(x) for x in _parts(tup)], 0)


def dstack(tup):
    return concatenate([atleast_3d(x) for x in _parts(tup)], 2)


def column_stack(tup):
    return concatenate([x.reshape((-1, 1)) if x.ndim < 2 else x for x in map(_t, _parts(tup))], 1)


def _split(x, places, axis, equal):
    x = _t(x)
    axis = _axes(axis, x.ndim)[0]
    n = x.shape[axis]
    if isinstance(places, int):
        if places < 1:
            raise ValueError("number sections must be larger than 0.")
        if equal and n % places:
            raise ValueError("array split does not result in an equal division")
        size_, more = _b.divmod(n, places)
        cuts = [0]
        for k in _b.range(places):
            cuts.append(cuts[-1] + size_ + (k < more))
    else:
        cuts = [0] + [_b.min(_b.max(p + n if p < 0 else p, 0), n) for p in places] + [n]
    return tuple(x[(slice(None),) * axis + (slice(a, _b.max(a, b)),)] for a, b in zip(cuts, cuts[1:]))


def split(x, indices_or_sections, axis=0):
    """Equal sections, or cuts at the given places."""
    return _split(x, indices_or_sections, axis, True)


def array_split(x, indices_or_sections, axis=0):
    return _split(x, indices_or_sections, axis, False)


def vsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 0)


def hsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 0 if _t(x).ndim == 1 else 1)


def dsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 2)


def tile(a, reps):
    a = _t(a)
    reps = _shape(reps)
    n = _b.max(a.ndim, len(reps))
    a = a.reshape((1,) * (n - a.ndim) + tuple(a.shape))
    return _ops['tile'](a, (1,) * (n - len(reps)) + reps)


def repeat(a, repeats, axis=None):
    a = _t(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    if isinstance(repeats, (list, tuple)) and len(repeats) == 1:
        repeats = repeats[0]
    if isinstance(repeats, int):
        return _mint['repeat_interleave'](a, repeats, axis)
    if len(repeats) != a.shape[axis]:
        raise ValueError('operands could not be broadcast together')
    return _mint['repeat_interleave'](a, _t(repeats).astype(_ms.int64), axis)


def roll(a, shift, axis=None):
    a = _t(a)
    if axis is None:
        shift = _b.sum(shift) if isinstance(shift, (tuple, list)) else shift
        return roll(a.reshape((-1,)), shift, 0).reshape(a.shape)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    for s, d in zip(shifts, axes):
        d = _axes(d, a.ndim)[0]
        n = a.shape[d]
        s = s % n if n else 0
        if s:
            cut = (slice(None),) * d
            a = concatenate((a[cut + (slice(n - s, None),)], a[cut + (slice(0, n - s),)]), d)
    return a


def flip(m, axis=None):
    m = _t(m)
    return _ops['flip'](m, _axes(axis, m.ndim)) if m.ndim else m


def flipud(m):
    return flip(m, 0)


def fliplr(m):
    return flip(m, 1)


def rot90(a, k=1, axes=(0, 1)):
    """Turns by k quarters in a plane of axes."""
    a = _t(a)
    i, j = _axes(axes, a.ndim)
    k %= 4
    if k == 0:
        return a
    if k == 2:
        return flip(a, (i, j))
    return swapaxes(flip(a, j), i, j) if k == 1 else flip(swapaxes(a, i, j), j)


# ---- selection ----

def where(condition, x=None, y=None):
    if x is None and y is None:
        return tuple(moveaxis(_ops['argwhere'](_t(condition)), 1, 0))
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return _ops['where'](_t(condition).astype(_ms.bool_), _t(x), _t(y))


def argwhere(a):
    return _ops['argwhere'](_t(a))


def take(a, indices, axis=None, mode='clip'):
    """Elements along an axis; indices out of range are clipped, wrapped or (mode 'raise') an error."""
    a, i = _t(a), _t(indices)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = _axes(axis, a.ndim)[0]
    i = _bounded(i, a.shape[axis], mode)
    return _ops['gather'](a, i, axis)


def _bounded(i, n, mode):
    if mode not in ('raise', 'wrap', 'clip'):
        raise ValueError(f"mode must be one of ['raise', 'wrap', 'clip'], but got {mode!r}")
    if mode == 'clip':
        return _ops['clamp'](i, 0, n - 1)
    return _ops['remainder'](i, n) if mode == 'wrap' else i


def take_along_axis(arr, indices, axis):
    arr, i = _t(arr), _t(indices).astype(_ms.int64)
    if axis is None:
        arr, axis = arr.reshape((-1,)), 0
    axis = _axes(axis, arr.ndim)[0]
    shape = _np.broadcast_shapes(tuple(1 if d == axis else s for d, s in enumerate(arr.shape)),
                                 tuple(1 if d == axis else s for d, s in enumerate(i.shape)))
    full_ = lambda x: broadcast_to(x, tuple(x.shape[d] if d == axis else s for d, s in enumerate(shape)))
    return _ops['gather_elements'](full_(arr), axis, full_(i))


def choose(a, choices, mode='clip'):
    """For each place the entry of the choice whose number stands there."""
    a = _t(a)
    choices = _common(_parts(choices))
    arrays = broadcast_arrays(a, *choices)
    index = _bounded(arrays[0].astype(_ms.int64), len(choices), mode)
    return _ops['gather_elements'](stack(arrays[1:]), 0, expand_dims(index, 0))[0]


def select(condlist, choicelist, default=0):
    """The first choice whose condition holds."""
    conds, choices = _parts(condlist), _parts(choicelist)
    if len(conds) != len(choices):
        raise ValueError('list of cases must be same length as list of conditions')
    y = _t(default)
    for c, v in list(zip(conds, choices))[::-1]:
        y = where(c, v, y)
    return y


def piecewise(x, condlist, funclist, *args, **kw):
    """A function or a value for each condition; one more is the default."""
    x = _t(x)
    conds = _parts(condlist) if isinstance(condlist, (list, tuple)) and not isinstance(condlist[0], bool) else [condlist]
    conds = [_t(c).astype(_ms.bool_) for c in conds]
    n = len(conds)
    if len(funclist) not in (n, n + 1):
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    value = lambda f: f(x, *args, **kw) if callable(f) else _t(f).astype(x.dtype)
    y = value(funclist[n]) if len(funclist) > n else zeros_like(x)
    for c, f in zip(conds, funclist):
        y = where(c, value(f), y)
    return y.astype(x.dtype)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of every line along an axis."""
    arr = _t(arr)
    axis = _axes(axis, arr.ndim)[0]
    x = moveaxis(arr, axis, -1)
    lines = x.reshape((-1, x.shape[-1]))
    y = stack([func1d(lines[k], *args, **kwargs) for k in _b.range(lines.shape[0])])
    return moveaxis(y.reshape(tuple(x.shape[:-1]) + tuple(y.shape[1:])),
                    tuple(_b.range(x.ndim - 1, x.ndim - 1 + y.ndim - 1)),
                    tuple(_b.range(axis, axis + y.ndim - 1))) if y.ndim > 1 else y.reshape(x.shape[:-1])


def apply_over_axes(func, a, axes):
    """func(a, axis) for one axis after the other; a lost axis comes back with size one."""
    a = _t(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        y = func(a, axis)
        a = y if y.ndim == a.ndim else expand_dims(y, axis)
    return a


def ix_(*args):
    """1-d indices reshaped so that they span a grid."""
    n = len(args)
    arrays = [_t(x) for x in args]
    if any(x.ndim != 1 for x in arrays):
        raise ValueError('Cross index must be 1 dimensional')
    return tuple(x.reshape(tuple(-1 if d == k else 1 for d in _b.range(n))) for k, x in enumerate(arrays))


def meshgrid(*xi, sparse=False, indexing='xy'):
    """Coordinates of a grid: columns first ('xy') or rows ('ij')."""
    if indexing not in ('xy', 'ij'):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    arrays = [_t(x).reshape((-1,)) for x in xi]
    n = len(arrays)
    place = [1, 0] + list(_b.range(2, n)) if indexing == 'xy' and n > 1 else list(_b.range(n))
    grid = [x.reshape(tuple(-1 if d == place[k] else 1 for d in _b.range(n))) for k, x in enumerate(arrays)]
    return grid if sparse or n < 2 else broadcast_arrays(*grid)


class _Grid:
    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, keys):
        single = not isinstance(keys, tuple)
        lines = []
        for key in (keys,) if single else keys:
            start, step = key.start or 0, 1 if key.step is None else key.step
            if isinstance(step, complex):
                lines.append(linspace(start, key.stop, int(_b.abs(step))))
            else:
                lines.append(arange(start, key.stop, step))
        if single:
            return lines[0]
        grid = meshgrid(*_common(lines), sparse=self._sparse, indexing='ij')
        return grid if self._sparse else stack(grid)


mgrid, ogrid = _Grid(False), _Grid(True)


def indices(dimensions, dtype=_ms.int32, sparse=False):
    return meshgrid(*(arange(n, dtype=dtype) for n in dimensions), sparse=sparse, indexing='ij')


def diag_indices(n, ndim=2):
    return (arange(n),) * ndim


def _triangle(keep):
    return tuple(Tensor(k.astype(_np.int32)) for k in _np.nonzero(keep))


def tril_indices(n, k=0, m=None):
    return _triangle(_np.tri(n, m, k, dtype=bool))


def triu_indices(n, k=0, m=None):
    return _triangle(~_np.tri(n, m, k - 1, dtype=bool))


def tril_indices_from(arr, k=0):
    arr = _t(arr)
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    arr = _t(arr)
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[0], k, arr.shape[1])


def unravel_index(indices, shape, order='C'):  # noqa: A002
    """Flat indices as coordinates."""
    if order not in ('C', 'F'):
        raise ValueError("invalid order. Expected 'C' or 'F'")
    i, shape = _t(indices), _shape(shape)
    i = _ops['clamp'](i, -_math.prod(shape), _math.prod(shape) - 1)
    i = where(i < 0, i + _math.prod(shape), i)
    result = []
    for n in shape[::-1] if order == 'C' else shape:
        result.append(_ops['remainder'](i, n))
        i = _ops['floor_divide'](i, n)
    return tuple(result[::-1] if order == 'C' else result)


def ravel_multi_index(multi_index, dims, mode='clip', order='C'):
    """Coordinates as flat indices."""
    if order not in ('C', 'F'):
        raise ValueError("invalid order. Expected 'C' or 'F'")
    parts = [_t(x) for x in _parts(multi_index)]
    pairs = list(zip(parts, _shape(dims)))
    y = None
    for i, n in pairs if order == 'C' else pairs[::-1]:
        i = _bounded(i, n, mode)
        y = i if y is None else y * n + i
    return y


def pad(arr, pad_width, mode='constant', stat_length=None, constant_values=0, end_values=0, reflect_type='even',
        **kwargs):
    """Grows every axis at both ends; `mode` says by what (numpy's modes, or a function)."""
    arr = _t(arr)
    n = arr.ndim
    spread = lambda v: _np.broadcast_to(_np.asarray(v), (n, 2)).tolist()
    widths = spread(pad_width)
    if callable(mode):
        y = pad(arr, pad_width)
        for d in _b.range(n):
            y = apply_along_axis(lambda line, d=d: mode(line, tuple(widths[d]), d, kwargs) or line, d, y) \
                if widths[d] != [0, 0] else y
        return y
    if reflect_type not in ('even', 'odd'):
        raise ValueError("reflect_type must be 'even' or 'odd'")
    values, ends = spread(constant_values), spread(end_values)
    stats = [[None, None]] * n if stat_length is None else spread(stat_length)
    for d in _b.range(n):
        arr = _pad_axis(arr, d, widths[d], mode, values[d], ends[d], stats[d], reflect_type)
    return arr


def _pad_axis(x, d, width, mode, value, end, stat, reflect_type):
    size_ = x.shape[d]
    cut = lambda a, b: x[(slice(None),) * d + (slice(a, b),)]
    if mode in ('edge', 'reflect', 'symmetric', 'wrap'):
        if reflect_type == 'odd' and mode in ('reflect', 'symmetric'):
            line = lambda i: _ops['gather'](x, Tensor(i), d)
            odd = _np.pad(_np.arange(size_, dtype=_np.int64), width, mode, reflect_type='odd')
            rise = cut(size_ - 1, size_) - cut(0, 1)
            base, rest = _np.divmod(odd, _b.max(size_ - 1, 1)) if mode == 'reflect' else _np.divmod(odd, size_)
            if mode == 'reflect':
                turns = Tensor(base.astype(_np.float32)).reshape(tuple(-1 if k == d else 1 for k in _b.range(x.ndim)))
                return (line(rest) + turns.astype(x.dtype) * rise).astype(x.dtype)
            raise ValueError("reflect_type 'odd' goes with mode 'reflect' only")
        return _ops['gather'](x, Tensor(_np.pad(_np.arange(size_), width, mode)), d)
    parts = []
    for side in (0, 1):
        shape = tuple(width[side] if k == d else s for k, s in enumerate(x.shape))
        if mode == 'constant':
            parts.append(full(shape, value[side], x.dtype))
        elif mode == 'empty':
            parts.append(zeros(shape, x.dtype))
        elif mode == 'linear_ramp':
            edge = cut(0, 1) if side == 0 else cut(size_ - 1, size_)
            k = _np.arange(width[side]) / _b.max(width[side], 1)
            k = Tensor((k if side == 0 else k[::-1].copy()).astype(_np.float32))
            k = k.reshape(tuple(-1 if j == d else 1 for j in _b.range(x.ndim)))
            parts.append((end[side] + (edge - end[side]) * k).astype(x.dtype))
        elif mode in ('mean', 'maximum', 'minimum', 'median'):
            length = size_ if stat[side] is None else _b.min(stat[side], size_)
            part = cut(0, length) if side == 0 else cut(size_ - length, size_)
            if mode == 'mean':
                v = _ops['mean'](_floating(part), d, True)
                v = v if x.is_floating_point() else _ops['round'](v)
            elif mode == 'median':
                s = _ops['sort'](part, d)[0]
                mid = s[(slice(None),) * d + (slice((length - 1) // 2, length // 2 + 1),)]
                v = _ops['mean'](_floating(mid), d, True)
            else:
                v = _ops['amax' if mode == 'maximum' else 'amin'](part, d, True)
            parts.append(broadcast_to(v.astype(x.dtype), shape))
        else:
            raise ValueError(f"mode '{mode}' is not supported")
    return concatenate((parts[0], x, parts[1]), d)


def size(a, axis=None):
    a = _t(a)
    return a.size if axis is None else a.shape[axis]


def isscalar(element):
    return isinstance(element, (int, float, bool, complex, str, _np.generic))


def array_str(a):
    return str(_t(a))
