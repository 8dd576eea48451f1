"""Tensor: making, reading, sharing memory with numpy, printing, copying and pickling."""
import copy
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor

ALL = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16', 'float32', 'float64',
       'complex64', 'complex128']


def dtype(name):
    return ms._c.dtypes[name]


@pytest.mark.parametrize('data, expected, shape', [
    (1.5, 'float32', ()), (3, 'int64', ()), ([1, 2], 'int64', (2,)), ([True, 2], 'int64', (2,)),
    ([1, 2.5], 'float32', (2,)), (True, 'bool', ()), (1 + 2j, 'complex128', ()), ([], 'float32', (0,)),
    ([[], []], 'float32', (2, 0)), (((1, 2), [3, 4]), 'int64', (2, 2)), (np.float64(2), 'float64', ()),
    (np.int32(2), 'int32', ()), (np.ones((2, 3)), 'float64', (2, 3)), (2**63, 'uint64', ()),
    ([np.ones(2), np.zeros(2)], 'float64', (2, 2)), ([Tensor(1), Tensor(2)], 'int64', (2,)),
    ([np.float32(1), 2], 'float32', (2,)),
])
def test_dtype_of_data(data, expected, shape):
    t = Tensor(data)
    assert (str(t.dtype).lower(), t.shape) == (expected, shape)


def test_values_of_data():
    assert Tensor(1e300).item() == math.inf
    assert Tensor([1.5, 2], ms.int32).tolist() == [1, 2]
    assert Tensor([[1, 2], [3, 4]], ms.float64).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert Tensor(2**63).item() == 2**63
    assert Tensor([1.0, 3.00390625], ms.bfloat16).tolist() == [1.0, 3.0]
    assert Tensor(65504., ms.float16).item() == 65504.
    assert Tensor([0.1], ms.float64).item() == 0.1
    assert Tensor(np.arange(6).reshape(2, 3)[:, ::-2]).tolist() == [[2, 0], [5, 3]]


@pytest.mark.parametrize('data', ['abc', None, [1, 'a'], [1, None], {}, range(3), [[1, 2], [3]], b'x', np.array(['a']),
                                  np.array(['2020-01-01'], 'M8[D]'), np.array([1], 'm8[s]'), np.datetime64('2020-01-01'),
                                  np.array([1, None], object), np.array([(1, 2)], 'i4,i4')])
def test_refused_data(data):
    with pytest.raises(TypeError, match="For '?Tensor"):
        Tensor(data)
    with pytest.raises(TypeError):
        Tensor.from_numpy(data)


@pytest.mark.parametrize('data, dtype', [
    ([2**40], ms.int32), (300, ms.int8), ([[1, -129]], ms.int8), (-1, ms.uint8), ([2**63], ms.int64), (2**70, None),
    ([-2**63 - 1], None), (2**64, ms.uint64), (-1, ms.uint64),
])
def test_refused_ints(data, dtype):
    value = np.array(data, object).ravel()[-1]
    with pytest.raises(OverflowError, match=f"For 'Tensor', the integer {value} is out of bounds for"):
        Tensor(data, dtype)
    if dtype is not None and -2**63 <= value < 2**63:
        for same in (np.int64(value), [np.int64(value)]):
            with pytest.raises(OverflowError):
                Tensor(same, dtype)


def test_ints_at_the_bounds():
    for name in ('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'):
        low, high = np.iinfo(name).min, np.iinfo(name).max
        assert Tensor([low, high], dtype(name)).tolist() == [low, high]
    assert Tensor([2**70, 0], ms.bool_).tolist() == [True, False] and Tensor(2**70, ms.float32).item() == 2.0**70


def test_operators_with_ints_out_of_bounds():
    x = Tensor([1, 2], ms.int8)
    for call in (lambda: x + 128, lambda: -129 * x, lambda: Tensor([1], ms.uint8) + -1, lambda: x + 2**70, lambda: ms.ops.add(x, 300),
                 lambda: ms.ops.full((2,), 128, dtype=ms.int8), lambda: ms.mint.full((2,), -1, dtype=ms.uint16),
                 lambda: ms.ops.arange(126, 129, dtype=ms.int8), lambda: ms.mint.arange(2**40, 2**40 + 2, dtype=ms.int32),
                 lambda: x.masked_fill(x == 1, 300), lambda: x.__setitem__(0, 300), lambda: x + np.int64(300),
                 lambda: ms.ops.pad(x, (1, 1), value=300), lambda: ms.mint.nn.functional.pad(x, (1, 1), value=-2**40)):
        with pytest.raises(OverflowError, match='out of bounds for'):
            call()
    assert (x + 127).tolist() == [-128, -127] and ms.ops.arange(126, 128, dtype=ms.int8).tolist() == [126, 127]
    for number in (300, -300):
        for op in ('__lt__', '__le__', '__eq__', '__ne__', '__gt__', '__ge__'):
            assert getattr(x, op)(number).tolist() == getattr(x.asnumpy(), op)(number).tolist()
    assert (Tensor([0, 2**64 - 1], ms.uint64) > -1).tolist() == [True, True]
    assert x.clamp(-300, 300).tolist() == [1, 2] and x.clamp(2, 300).tolist() == [2, 2]


def test_refused_arguments():
    with pytest.raises(TypeError, match="'dtype' should be one of"):
        Tensor([1, 2], 'float32')
    with pytest.raises(OverflowError):
        Tensor(-2**70)
    with pytest.raises((ValueError, TypeError)):
        Tensor(np.ones((1,) * 9))
    with pytest.raises(TypeError):
        Tensor(shape=(2,))


def test_promised():
    t = Tensor(shape=(2, 3), dtype=ms.float32, init='ones')
    assert t.has_init and t.shape == (2, 3) and copy.deepcopy(t).has_init
    assert t.tolist() == [[1.0] * 3] * 2 and not t.has_init


@pytest.mark.parametrize('use', [lambda t: t + 1, lambda t: 1 + t, lambda t: -t + 3, lambda t: ms.ops.add(t, 1), lambda t: t[0] + 1, lambda t: t.sum(),
                                 lambda t: Tensor(t) * 2, lambda t: ms.ops.stack([t, t]).sum() / 2, lambda t: t.asnumpy() + 1, lambda t: float(t[1]) + 1,
                                 lambda t: ms.jit(lambda x: x * 2)(t), lambda t: ms.jit(lambda: t + 1)(),
                                 lambda t: ms.grad(lambda x: (x * t).sum() * 2)(Tensor([3.0, 4.0]))])
def test_promised_data_is_made_for_who_uses_it(use):
    assert np.all(np.array(use(Tensor(shape=(2,), dtype=ms.float32, init='ones'))) == 2)


@pytest.mark.parametrize('name', ALL)
def test_numpy_round_trip(name):
    a = np.array([[1, 0, 3], [0, 5, 6]]).astype(name)
    t = Tensor(a)
    assert t.dtype is dtype(name) and t.itemsize == a.itemsize and t.nbytes == a.nbytes and t.strides == a.strides
    for b in (t.asnumpy(), t.numpy(), np.asarray(t), np.array(t)):
        assert b.dtype == a.dtype and (b == a).all()
    assert t.tolist() == a.tolist()


def test_asnumpy_shares():
    t = Tensor([1., 2., 3.])
    a = t.asnumpy()
    a[1] = 7
    assert t.tolist() == [1, 7, 3]
    del t
    gc.collect()
    assert a.tolist() == [1, 7, 3]


def test_from_numpy_shares():
    a = np.arange(6.).reshape(2, 3)
    t = ms.from_numpy(a.T[::-1])
    a[0, 0] = 9
    assert t.shape == (3, 2) and t.tolist() == a.T[::-1].tolist()
    alive = weakref.ref(a.base if a.base is not None else a)
    del a
    gc.collect()
    assert t.tolist()[2][0] == 9
    del t
    gc.collect()
    assert alive() is None


def test_from_numpy_readonly_copies():
    a = np.arange(3)
    a.flags.writeable = False
    assert ms.from_numpy(a).tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        ms.from_numpy([1, 2])


def test_unusual_arrays():
    assert Tensor(np.arange(4, dtype='>i4')).tolist() == [0, 1, 2, 3]
    packed = np.zeros(3, dtype=[('a', 'i1'), ('b', 'f4')])
    packed['b'] = [1, 2, 3]
    assert Tensor(packed['b']).tolist() == [1, 2, 3]
    assert Tensor(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert Tensor(np.broadcast_to(np.float32(2), (2, 2))).tolist() == [[2, 2], [2, 2]]


def test_frombuffer():
    b = bytearray(np.arange(4, dtype=np.int32).tobytes())
    t = ms.frombuffer(b, ms.int32, offset=4)
    assert t.tolist() == [1, 2, 3]
    b[4] = 9
    assert t.tolist() == [9, 2, 3]
    with pytest.raises(ValueError):
        ms.frombuffer(b, ms.int32, count=9)


def test_array_protocol():
    t = Tensor([1, 2])
    assert np.array(t, dtype=np.float32).dtype == np.float32
    assert memoryview(t).format in 'lq' and memoryview(t).shape == (2,)
    assert t.__array__(np.float64).dtype == np.float64
    assert np.asarray(Tensor([1.5], ms.bfloat16)).dtype == np.float32


def test_scalars():
    assert int(Tensor([1.5])) == 1 and float(Tensor(2)) == 2.0 and bool(Tensor([0.0])) is False
    assert complex(Tensor(1.0)) == 1 and [1, 2][Tensor(1)] == 2 and Tensor(True).item() is True
    with pytest.raises(ValueError, match='only one element'):
        Tensor([1, 2, 3]).item()
    with pytest.raises(TypeError):
        Tensor([1.]).item(0)
    for bad in ([], [1, 2]):
        with pytest.raises(ValueError):
            bool(Tensor(bad))
    with pytest.raises(ValueError, match='Only one element'):
        float(Tensor([1., 2.]))
    with pytest.raises(ValueError, match='integer tensors'):
        [1, 2][Tensor(1.)]
    with pytest.raises(TypeError, match='len of a 0-D'):
        len(Tensor(1))
    with pytest.raises(TypeError):
        list(Tensor(1))
    assert len(Tensor([[1], [2]])) == 2


def test_identity():
    t = Tensor([1, 2])
    assert hash(t) == hash(t) and t in {t} and (t == None) is False and (t == 'a') is False  # noqa: E711
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'foo'"):
        t.foo
    with pytest.raises(TypeError, match='unsupported format string'):
        f'{t:.2f}'
    assert f'{t}' == '[1 2]'
    assert weakref.ref(t)() is t


def test_subclass():
    class Named(Tensor):
        def __init__(self, data, name):
            self.name = name

        def __new__(cls, data, name):
            return super().__new__(cls, data)
    t = Named([1., 2.], 'w')
    assert t.name == 'w' and isinstance(t, Tensor) and t.tolist() == [1, 2]
    t.me = t
    gone = weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None


REPR = [
    ([1., -2, 1e10], 'Tensor(shape=[3], dtype=Float32, value= [ 1.00000000e+00, -2.00000000e+00,  1.00000000e+10])'),
    ([math.nan, math.inf], 'Tensor(shape=[2], dtype=Float32, value= [            nan,             inf])'),
    ([[1., -2], [3, 4]], 'Tensor(shape=[2, 2], dtype=Float32, value=\n[[ 1.00000000e+00, -2.00000000e+00],\n'
                         ' [ 3.00000000e+00,  4.00000000e+00]])'),
    ([1, 200, -3], 'Tensor(shape=[3], dtype=Int64, value= [  1, 200,  -3])'),
    ([[True, False]], 'Tensor(shape=[1, 2], dtype=Bool, value=\n[[ True, False]])'),
    (np.array([1 + 2j, 3 - 1j]), 'Tensor(shape=[2], dtype=Complex128, value= [1+2j, 3-1j])'),
    (np.arange(2000), 'Tensor(shape=[2000], dtype=Int64, value= [   0,    1,    2 ... 1997, 1998, 1999])'),
    (1.5, 'Tensor(shape=[], dtype=Float32, value= 1.5)'), ([], 'Tensor(shape=[0], dtype=Float32, value= )'),
    (np.zeros((2, 0)), 'Tensor(shape=[2, 0], dtype=Float64, value=\n)'),
    (np.float64(1 / 3), 'Tensor(shape=[], dtype=Float64, value= 0.333333)'),
    (True, 'Tensor(shape=[], dtype=Bool, value= True)'),
    (np.arange(14, dtype=np.float16),
     'Tensor(shape=[14], dtype=Float16, value= [ 0.0000e+00,  1.0000e+00,  2.0000e+00,  3.0000e+00,  4.0000e+00,  '
     '5.0000e+00,  6.0000e+00,  7.0000e+00,  8.0000e+00,  9.0000e+00,  1.0000e+01,  1.1000e+01, \n  1.2000e+01,  '
     '1.3000e+01])'),
]


@pytest.mark.parametrize('data, text', REPR)
def test_repr(data, text):
    assert repr(Tensor(data)) == text


def test_repr_of_the_original():
    """Recorded: shortened matrices and bfloat16."""
    assert repr(Tensor(np.arange(60).reshape(2, 30) - 5)) == (
        'Tensor(shape=[2, 30], dtype=Int64, value=\n[[-5, -4, -3 ... 22, 23, 24],\n [25, 26, 27 ... 52, 53, 54]])')
    assert repr(Tensor([1.5, -2.25, 3e10, 1 / 3], ms.bfloat16)) == (
        'Tensor(shape=[4], dtype=BFloat16, value= [        1.5,       -2.25, 3.00648e+10,    0.333984])')
    assert str(Tensor([1.5, 2, 3], ms.bfloat16)) == '[1.500000 2.000000 3.000000]'
    assert '1.90000000e+01],\n ...\n [' in repr(Tensor(np.arange(80.).reshape(8, 10)[:, :])).replace(
        '[ 2.00000000e+01,  2.10000000e+01,  2.20000000e+01 ...  2.70000000e+01,  2.80000000e+01,  2.90000000e+01]',
        '1.90000000e+01]')


@pytest.mark.parametrize('name', ALL + ['bfloat16'])
def test_copies(name):
    t = Tensor([[1, 0], [1, 1]], dtype(name))
    for c in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert c.dtype is t.dtype and c.tolist() == t.tolist()
    d = copy.deepcopy([t, t])
    assert d[0] is d[1] and d[0].data_ptr() != t.data_ptr()
    assert set(t.__getstate__()) == ({'value', 'dtype'} if name == 'bfloat16' else {'value'})


def test_dtypes():
    assert str(ms.float32) == 'Float32' and repr(ms.float32) == 'mindspore.float32' and str(ms.bfloat16) == 'BFloat16'
    assert str(ms.uint8) == 'UInt8' and str(ms.bool) == 'Bool' and str(ms.int) == 'Int32' and str(ms.float) == 'Float32'
    for d in ms._c.dtypes.values():
        assert pickle.loads(pickle.dumps(d)) is d and copy.deepcopy(d) is d and d in {d}
    assert ms.dtype_to_nptype(ms.float16) is np.float16 and ms.pytype_to_dtype(np.int32) is ms.int32
    assert ms.dtype_to_pytype(ms.int8) is int and ms.get_py_obj_dtype(Tensor(1)) is ms.int64


def test_memory_is_returned():
    gc.collect()
    before = ms._c.memory_stats()
    for _ in range(50):
        t = Tensor(np.ones(1000))
        t.asnumpy(), copy.deepcopy(t), repr(t), t.tolist()
    del t
    gc.collect()
    after = ms._c.memory_stats()
    assert after['allocated'] == before['allocated'] and after['n_live'] == before['n_live']


def test_refused_allocation():
    try:
        ms._c.memory_fail_after(1)
        with pytest.raises(MemoryError):
            Tensor(np.ones(1 << 20))
    finally:
        ms._c.memory_fail_after(0)
    with pytest.raises((MemoryError, ValueError)):
        Tensor(shape=(1 << 40, 1 << 20), dtype=ms.float32, init='zeros')


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'float16', 'float32', 'int64', 'complex128'])
@pytest.mark.parametrize('shape', [(257, 300), (3, 200, 65), (2, 64, 9, 64)])
def test_transposed_strided_and_repeated_elements(dtype, shape):
    """Sizes at which copies go in blocks and operands are brought into order first."""
    rng = np.random.RandomState(0)
    a = (rng.randn(*shape) * 5).astype(dtype)
    perm = (*range(1, len(shape)), 0)
    turned = np.ascontiguousarray(a.transpose(perm))
    t, u = ms.Tensor(a).transpose(perm), ms.Tensor(turned)
    np.testing.assert_array_equal(t.contiguous().asnumpy(), turned)
    np.testing.assert_array_equal((t + u).asnumpy(), turned + turned)
    np.testing.assert_array_equal((u[..., ::2] + u[..., 1::2][..., :1]).asnumpy(),
                                  turned[..., ::2] + turned[..., 1::2][..., :1])


@pytest.mark.parametrize('dtype', [ms.float16, ms.bfloat16])
@pytest.mark.parametrize('shape', [(50, 5000), (5000, 33), (7, 16)])
def test_sums_of_half_precision_are_rounded_once(dtype, shape):
    x = ms.Tensor(np.random.RandomState(0).randn(*shape).astype(np.float32)).astype(dtype)
    wide = x.astype(ms.float64).asnumpy()
    for axis in (0, 1):
        want = ms.Tensor(wide.sum(axis)).astype(dtype).astype(ms.float32).asnumpy()
        got = x.sum(axis=axis).astype(ms.float32).asnumpy()
        np.testing.assert_allclose(got, want, rtol=2 ** -7, atol=1e-4)
        assert (got == want).mean() > 0.95
