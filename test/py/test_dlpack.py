"""Tensors to and from other libraries by DLPack: shared memory, strides, dtypes, capsules that were taken."""
import gc

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor
from mindspore.utils import from_dlpack, to_dlpack


def test_numpy_shares_memory():
    a = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    n = np.from_dlpack(a.T[1:])
    np.testing.assert_array_equal(n, a.asnumpy().T[1:])
    a[0, 1] = 50
    assert n[0, 0] == 50
    del a
    gc.collect()
    assert n[0, 0] == 50


def test_from_numpy():
    n = np.arange(12, dtype=np.int16).reshape(3, 4)
    t = from_dlpack(n[:, ::2])
    assert t.dtype is ms.int16 and t.tolist() == n[:, ::2].tolist()
    n[0, 2] = 77
    assert t[0, 1].item() == 77
    t[0, 0] = -5
    assert n[0, 0] == -5
    view = t[1:]
    del t, n
    gc.collect()
    assert view.tolist() == [[4, 6], [8, 10]]


@pytest.mark.parametrize('dtype', ['bool_', 'int8', 'int64', 'uint16', 'float16', 'bfloat16', 'float64', 'complex64'])
def test_round_trip(dtype):
    a = Tensor([0, 1, 2]).astype(getattr(ms, dtype))
    b = Tensor.from_dlpack(a.to_dlpack())
    assert b.dtype is a.dtype and b.data_ptr() == a.data_ptr() and b.asnumpy().tolist() == a.asnumpy().tolist()


def test_a_capsule_is_taken_once():
    capsule = to_dlpack(Tensor([1., 2.]))
    from_dlpack(capsule)
    with pytest.raises(ValueError, match='not taken before'):
        from_dlpack(capsule)
    to_dlpack(Tensor([1.]))
    with pytest.raises(TypeError):
        to_dlpack(3)
    with pytest.raises(AttributeError):
        from_dlpack(3)


def test_torch():
    torch = pytest.importorskip('torch')
    a = Tensor([[1., 2.], [3., 4.]])
    t = torch.from_dlpack(a)
    t[0, 0] = 9
    assert a[0, 0].item() == 9 and from_dlpack(t.T).tolist() == [[9, 3], [2, 4]]
