"""Fourier transforms."""
import numpy as np

import mindspore as ms

from .table import F, T3, c, f, np_dtype, row, z

Z = z(2, 6)
Z3 = z(2, 3, 4)


def over(s, dim, ndim):
    """(sizes, axes) as numpy takes them; without axes the last len(s), or all."""
    if dim is None:
        dim = tuple(range(ndim)) if s is None else tuple(range(ndim - len(s), ndim))
    return s, tuple(dim)


def hfftn(x, s=None, dim=None, norm=None):
    s, dim = over(s, dim, x.ndim)
    n = None if s is None else s[-1]
    if len(dim) > 1:
        x = np.fft.fftn(x, None if s is None else s[:-1], dim[:-1], norm)
    return np.fft.hfft(x, n, dim[-1], norm)


def ihfftn(x, s=None, dim=None, norm=None):
    s, dim = over(s, dim, x.ndim)
    x = np.fft.ihfft(x, None if s is None else s[-1], dim[-1], norm)
    return np.fft.ifftn(x, None if s is None else s[:-1], dim[:-1], norm) if len(dim) > 1 else x


for name in ('fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft'):
    fn = getattr(np.fft, name)
    x, y = (f(2, 6), f(3, 5)) if name in ('rfft', 'ihfft') else (Z, z(3, 5))
    row(f'ops.{name}', lambda input, n=None, dim=-1, norm=None, fn=fn: fn(input, n, dim, norm), c(x), c(y, 4, 0, 'ortho'),
        c(input=y, n=7, dim=1, norm='forward'), tol=10)
    more = {'hfft': hfftn, 'ihfft': ihfftn}.get(name) or getattr(np.fft, name + 'n')
    w = T3 if name in ('rfft', 'ihfft') else Z3
    row(f'ops.{name}2', lambda input, s=None, dim=(-2, -1), norm=None, fn=more: fn(input, s, dim, norm), c(w), c(w, (2, 5), (0, 1), 'ortho'),
        c(input=w, s=(3, 6), dim=(1, 2), norm='forward'), tol=10)
    row(f'ops.{name}n', lambda input, s=None, dim=None, norm=None, fn=more: fn(input, *over(s, dim, input.ndim), norm), c(w),
        c(w, (2, 5), (0, 1), 'ortho'), c(input=w, s=(3, 6), dim=(1, 2), norm='forward'), tol=10)
row('ops.fft', lambda x: np.fft.fft(x), c(F), tol=10)
row('ops.fftshift', lambda input, dim=None: np.fft.fftshift(input, dim), c(T3), c(T3, 1), c(input=T3, dim=(0, 2)))
row('ops.ifftshift', lambda input, dim=None: np.fft.ifftshift(input, dim), c(T3), c(T3, 1), c(input=T3, dim=(0, 2)))
row('ops.fftfreq', lambda n, d=1.0, dtype=None: np.fft.fftfreq(n, d).astype(np_dtype(dtype or ms.float32)), c(5), c(n=4, d=0.5, dtype=ms.float16))
row('ops.rfftfreq', lambda n, d=1.0, dtype=None: np.fft.rfftfreq(n, d).astype(np_dtype(dtype or ms.float32)), c(5),
    c(n=4, d=0.5, dtype=ms.float16))
