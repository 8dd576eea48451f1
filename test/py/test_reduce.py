"""Reductions of runs and rows of every length, dtype and layout, beside numpy."""
import mindspore as ms
import numpy as np
import pytest
from mindspore import ops

DTYPES = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16', 'float32', 'float64']
LENGTHS = [1, 2, 7, 31, 32, 33, 64, 65, 511, 513, 1100, 4097]


def values(dtype, shape, seed=0):
    r = np.random.RandomState(seed)
    if dtype == 'bool':
        return r.rand(*shape) > 0.9
    if dtype.startswith('float'):
        a = r.randn(*shape).astype(dtype)
        a.flat[::5] *= -1000
        return a
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize('dtype', DTYPES)
def test_extremes_along_rows(dtype):
    for n in LENGTHS:
        a = values(dtype, (3, n), n)
        for low in (a, a[:, ::-1], a[:, ::2]):
            x = ms.Tensor(a)
            x = x if low is a else x.flip((1,)) if low.strides[1] < 0 else x[:, ::2]
            np.testing.assert_array_equal(ops.amax(x, 1).asnumpy(), low.max(1))
            np.testing.assert_array_equal(ops.amin(x, 1).asnumpy(), low.min(1))
        np.testing.assert_array_equal(ops.amax(ms.Tensor(a)).asnumpy(), a.max())
        np.testing.assert_array_equal(ops.amin(ms.Tensor(a), 0).asnumpy(), a.min(0))


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_extremes_of_special_values(dtype):
    to = getattr(ms, dtype)
    for n in LENGTHS:
        for at in {0, n // 2, n - 1}:
            a = np.full((4, n), -np.inf)
            a[1], a[2], a[3] = np.inf, -2.5, 7
            x = ms.Tensor(a).astype(to)
            np.testing.assert_array_equal(ops.amax(x, 1).astype(ms.float64).asnumpy(), [-np.inf, np.inf, -2.5, 7])
            np.testing.assert_array_equal(ops.amin(x, 1).astype(ms.float64).asnumpy(), [-np.inf, np.inf, -2.5, 7])
            a[:, at] = [np.nan, np.nan, -3, 2.0 ** -14]
            for sign in (1, -1):  # NaN with either sign
                y = ms.Tensor(a * sign).astype(to)
                high, low = ops.amax(y, 1).astype(ms.float64).asnumpy(), ops.amin(y, 1).astype(ms.float64).asnumpy()
                np.testing.assert_array_equal(high, (a * sign).max(1))
                np.testing.assert_array_equal(low, (a * sign).min(1))
    with pytest.raises(ValueError):
        ops.amax(ms.Tensor(np.zeros((3, 0))).astype(to), 1)


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32'])
def test_sums_along_rows(dtype):
    for n in LENGTHS:
        x = ms.Tensor(values('float32', (5, n), n) / 16).astype(getattr(ms, dtype))
        exact = x.astype(ms.float64).asnumpy()
        scale = np.abs(exact).sum(1) + 1e-30
        eps = {'float16': 2.0 ** -11, 'bfloat16': 2.0 ** -8, 'float32': 2.0 ** -24}[dtype]
        got = x.sum(axis=1).astype(ms.float64).asnumpy()
        assert (np.abs(got - exact.sum(1)) <= np.abs(exact.sum(1)) * eps + scale * 2.0 ** -22).all()
