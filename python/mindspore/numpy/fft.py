"""numpy.fft over the registry's rows."""
from mindspore import _c

_ops = _c.rows('ops')


def _one(name):
    row = _ops[name]

    def fn(a, n=None, axis=-1, norm=None):
        return row(a, n, axis, norm)
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"See ops.{name}."
    return fn


def _many(name, default):
    row = _ops[name]

    def fn(a, s=None, axes=default, norm=None):
        return row(a, s, axes, norm)
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"See ops.{name}."
    return fn


for _n in ('fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft'):
    globals()[_n] = _one(_n)
    globals()[_n + '2'] = _many(_n + '2', (-2, -1))
    globals()[_n + 'n'] = _many(_n + 'n', None)
del _n


def fftfreq(n, d=1.0, dtype=None):
    return _ops['fftfreq'](n, d, dtype)


def rfftfreq(n, d=1.0, dtype=None):
    return _ops['rfftfreq'](n, d, dtype)


def fftshift(x, axes=None):
    return _ops['fftshift'](x, axes)


def ifftshift(x, axes=None):
    return _ops['ifftshift'](x, axes)
