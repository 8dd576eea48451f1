"""What every function here does to its arguments: lists and numbers become tensors, dtypes may be named.

Numbers and lists are int32 (int64 where a number needs it), float32 or bool, as the original has it; a Tensor keeps its dtype.
"""
import numpy as _np

from mindspore import _c
from mindspore.common import dtype as mstype
from mindspore._c import Tensor

_ops = _c.rows('ops')
_mint = _c.rows('mint')
_NARROW = {'int64': mstype.int32, 'float64': mstype.float32}
_PYTHON = {int: mstype.int32, float: mstype.float32, bool: mstype.bool_}


def dtype_of(d):
    """A dtype from a dtype, its name, or Python's int, float and bool."""
    if d is None:
        return None
    if d in _PYTHON:
        return _PYTHON[d]
    if isinstance(d, str):
        name = d.lower()
        known = {'bool': mstype.bool_, '?': mstype.bool_, 'int': mstype.int32, 'float': mstype.float32}
        found = known.get(name) or getattr(mstype, name, None)
        if found is None:
            raise TypeError(f"data type '{d}' is not understood")
        return found
    return d


def _has_tensor(x):
    return isinstance(x, Tensor) or isinstance(x, (list, tuple)) and any(_has_tensor(v) for v in x)


def narrowed(data):
    """A numpy array as a Tensor of int32 or float32, or of int64 where it has a number beyond int32."""
    wide = data.dtype.kind == 'i' and data.size and not -2**31 <= data.min() <= data.max() < 2**31
    return Tensor(data) if wide else Tensor(data, _NARROW.get(data.dtype.name))


def tensor(x, dtype=None):
    """x as a Tensor."""
    dtype = dtype_of(dtype)
    if isinstance(x, Tensor):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    if isinstance(x, (list, tuple)) and _has_tensor(x):
        items = [tensor(v) for v in x]
        kind = items[0].dtype
        for v in items[1:]:
            kind = promote(kind, v.dtype)
        y = _mint['stack']([v.astype(kind) for v in items], 0)
    elif isinstance(x, _np.ndarray):
        y = Tensor(x)
    elif isinstance(x, (bool, int, float, list, tuple, range, _np.generic)):
        data = _np.asarray(x if not isinstance(x, range) else list(x))
        if data.dtype.kind not in 'biuf':
            raise TypeError(f"input data must be numbers, but got {x!r}")
        if dtype is not None and type(x) is int:
            return Tensor(x, dtype)  # refuses what the dtype cannot hold
        y = narrowed(data) if dtype is None else Tensor(data)
    else:
        raise TypeError(f"input data must be `int`, `float`, `bool`, `Tensor`, `list`, `tuple`, but got {type(x)}")
    return y if dtype is None or y.dtype == dtype else y.astype(dtype)


def promote(a, b):
    """The smallest dtype that holds both."""
    one = lambda d: _ops['zeros']((), d)
    return a if a == b else (one(a) + one(b)).dtype


def out(y, dtype):
    return y if dtype is None else y.astype(dtype_of(dtype))


def is_float(x):
    return x.is_floating_point() or x.is_complex()


def floating(x, dtype=None):
    """x as floats: float32 when it is none."""
    x = tensor(x, dtype)
    return x if is_float(x) else x.astype(mstype.float32)


def axes_of(axis, ndim):
    """An int or a tuple as a tuple of non-negative axes; None is all."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    for a in axes:
        if not isinstance(a, int):
            raise TypeError(f"axis must be int or tuple of int, but got {a!r}")
        if not -ndim <= a < ndim:
            raise ValueError(f"axis {a} is out of bounds for array of dimension {ndim}")
    axes = tuple(a % ndim for a in axes)
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes
