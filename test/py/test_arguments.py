"""An argument is honoured or refused; none is dropped in silence."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import mint, ops


@pytest.fixture
def x():
    return ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


def test_devices(x):
    assert mint.empty(2, 3, device='CPU').shape == (2, 3)
    for call in (lambda: mint.empty(2, device='GPU'), lambda: mint.empty_like(x, device='GPU'),
                 lambda: x.new_empty((2,), device='GPU'), lambda: mint.randint_like(x, 5, device='GPU'),
                 lambda: mint.randint_like(x, 1, 5, device='GPU'), lambda: mint.rand(2, device='GPU')):
        with pytest.raises(RuntimeError, match="device 'GPU' is not there"):
            call()


def test_pinned_memory(x):
    for call in (lambda: mint.empty(2, pin_memory=True), lambda: mint.empty_like(x, pin_memory=True)):
        with pytest.raises(RuntimeError, match='pin_memory'):
            call()


def test_range_maxlen():
    assert ops.range(0, 10, 1, 10).shape == (10,)
    with pytest.raises(ValueError, match="'maxlen' is 5"):
        ops.range(0, 10, 1, 5)


def test_repeat_interleave_output_size(x):
    assert mint.repeat_interleave(x, 2, 1, output_size=6).shape == (2, 6)
    assert mint.repeat_interleave(x, ms.Tensor([1, 2]), 0, output_size=3).shape == (3, 3)
    with pytest.raises(ValueError, match="'output_size' is 5"):
        mint.repeat_interleave(x, 2, 1, output_size=5)


def test_dropout2d_inplace():
    y = ms.Tensor(np.ones((4, 8, 2, 2), np.float32))
    z = ops.dropout2d(y, 0.5, True, True)
    assert np.array_equal(y.asnumpy(), z.asnumpy()) and set(np.unique(y.asnumpy())) == {0, 2}


def test_deepcopy_shares_nothing(x):
    y = ops.deepcopy(x)
    y.add_(1)
    assert x.asnumpy()[0, 0] == 0
