"""scipy.fft's cosine transforms, by the Fourier transform of the mirrored sequence."""
import math as _math

import numpy as _np

from mindspore import _c
from mindspore.common import dtype as _ms
from mindspore._c import Tensor

_ops = _c.rows('ops')
_mint = _c.rows('mint')


def _prepared(name, x, kind, n, axis, norm):
    if kind != 2:
        raise ValueError(f"For '{name}', 'type' must be 2, but got {kind}.")
    if norm not in (None, 'backward', 'forward', 'ortho'):
        raise ValueError(f"For '{name}', 'norm' must be None, 'backward', 'forward' or 'ortho', but got {norm!r}.")
    x = x if x.is_floating_point() else x.astype(_ms.float32)
    if n is not None and n != x.shape[axis]:
        if n < 1:
            raise ValueError(f"For '{name}', 'n' must be positive, but got {n}.")
        x = _mint['narrow'](x, axis, 0, n) if n < x.shape[axis] else _mint['cat'](
            [x, _ops['zeros'](tuple(n - s if d == axis % x.ndim else s for d, s in enumerate(x.shape)), x.dtype)], axis)
    return _ops['moveaxis'](x, axis, -1)


def _turn(n, sign, dtype):
    """exp(sign i pi k / 2n)."""
    k = _np.arange(n)
    w = _np.exp(sign * 1j * _math.pi * k / (2 * n))
    return Tensor(w.astype(_np.complex128 if dtype == _ms.float64 else _np.complex64))


def _weights(n, norm, dtype):
    """What the unnormalised transform is multiplied by."""
    w = _np.ones(n)
    if norm == 'ortho':
        w = _np.full(n, _math.sqrt(1 / (2 * n)))
        w[0] = _math.sqrt(1 / (4 * n))
    elif norm == 'forward':
        w = w / (2 * n)
    return Tensor(w.astype(_np.float64 if dtype == _ms.float64 else _np.float32))


def dct(x, type=2, n=None, axis=-1, norm=None):  # noqa: A002
    """y_k = 2 sum_j x_j cos(pi k (2 j + 1) / 2 n)."""
    x = _prepared('dct', x, type, n, axis, norm)
    n = x.shape[-1]
    # even entries in order, then the odd ones backwards: one transform of the same length (Makhoul, 1980)
    order = _np.concatenate((_np.arange(0, n, 2), _np.arange(1, n, 2)[::-1]))
    v = _ops['fft'](x[..., Tensor(order)])
    y = 2 * _ops['real'](v * _turn(n, -1, x.dtype)) * _weights(n, norm, x.dtype)
    return _ops['moveaxis'](y, -1, axis)


def idct(x, type=2, n=None, axis=-1, norm=None):  # noqa: A002
    """The inverse of dct."""
    x = _prepared('idct', x, type, n, axis, norm)
    n = x.shape[-1]
    x = x / _weights(n, norm, x.dtype)
    mirror = _mint['cat']([_ops['zeros'](tuple(x.shape[:-1]) + (1,), x.dtype), _ops['flip'](x[..., 1:], (-1,))], -1)
    i = Tensor(_np.array(1j, _np.complex128 if x.dtype == _ms.float64 else _np.complex64))
    kind = _ms.complex128 if x.dtype == _ms.float64 else _ms.complex64
    v = _ops['ifft']((x.astype(kind) - i * mirror.astype(kind)) * _turn(n, 1, x.dtype) * 0.5)
    back = _np.empty(n, _np.int64)
    back[_np.concatenate((_np.arange(0, n, 2), _np.arange(1, n, 2)[::-1]))] = _np.arange(n)
    return _ops['moveaxis'](_ops['real'](v)[..., Tensor(back)], -1, axis)


def _several(f, x, kind, s, axes, norm):
    if axes is None:
        axes = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    s = (None,) * len(axes) if s is None else tuple(s)
    if len(s) != len(axes):
        raise ValueError("'s' and 'axes' must have the same length")
    for n, axis in zip(s, axes):
        x = f(x, kind, n, axis, norm)
    return x


def dctn(x, type=2, s=None, axes=None, norm=None):  # noqa: A002
    return _several(dct, x, type, s, axes, norm)


def idctn(x, type=2, s=None, axes=None, norm=None):  # noqa: A002
    return _several(idct, x, type, s, axes, norm)
