"""Odd and hostile arguments: each gives the right value or an exception, and the process goes on."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops


def test_index_tensors_around_an_ellipsis_without_axes():
    a = np.arange(48).reshape(3, 4, 4)
    rows, cols = np.array([[0, 1, 3], [2, 0, 3]]), np.array([[0, 3, 0], [0, 1, 2]])
    t = Tensor(a)
    want = a[::-1, rows, ..., cols]
    assert np.array_equal(t[::-1, Tensor(rows), ..., Tensor(cols)].asnumpy(), want)
    assert np.array_equal(t[:, 1, ..., rows].asnumpy(), a[:, 1, ..., rows])
    t[::-1, Tensor(rows), ..., Tensor(cols)] = Tensor(want * 2)
    b = a.copy()
    b[::-1, rows, ..., cols] = want * 2
    assert np.array_equal(t.asnumpy(), b)


def test_lists_are_written_in_full_precision():
    t = Tensor(np.zeros(3))
    t[:] = [0.1, 0.2, 0.3]
    assert np.array_equal(t.asnumpy(), np.array([0.1, 0.2, 0.3]))


def test_a_long_list_of_tensors_as_index():
    one = Tensor(1)
    assert Tensor([3, 4])[[one] * 3000].shape == (3000,)
    with pytest.raises(ValueError, match='32768'):
        Tensor([3, 4])[[one] * 1500000]


def test_repeats_and_factors_of_any_size():
    empty = Tensor(np.zeros((2, 2, 3, 1, 0), np.float32))
    with pytest.raises(ValueError):
        mint.tile(empty, (3, 2**62, 0, 1, 1))
    with pytest.raises((ValueError, MemoryError)):
        mint.tile(Tensor([1.0]), (2**60,))
    assert np.array_equal(mint.tile(Tensor([[1, 2]]), (2, 3)).asnumpy(), np.tile([[1, 2]], (2, 3)))
    assert mint.tile(Tensor([1.0]), (10**6,)).shape == (10**6,)
    x = Tensor(np.zeros((4, 2, 2), np.float32))
    for factor in (2**32, 2**62):
        with pytest.raises(ValueError):
            ops.pixel_shuffle(x, factor)
        with pytest.raises(ValueError):
            ops.pixel_unshuffle(x, factor)
        with pytest.raises(ValueError):
            ops.DepthToSpace(factor)(x[None])
        with pytest.raises((ValueError, OverflowError)):
            ops.fold(x, (2 * factor, 2 * factor), (factor, factor))


def test_adaptive_pooling_to_impossible_sizes():
    x = Tensor(np.ones((2, 4, 3), np.float32))
    for f in (ops.adaptive_avg_pool1d, ops.adaptive_max_pool1d):
        with pytest.raises(MemoryError):
            f(x, 2**46)
        with pytest.raises(ValueError):
            f(Tensor(np.ones((2, 4, 0), np.float32)), 2)


def test_buffers_without_a_plain_element_type():
    for value in (np.datetime64('2020'), np.timedelta64(3), np.void(b'a'), np.longdouble(1)):
        with pytest.raises(TypeError):
            Tensor(value)
    with pytest.raises(ValueError, match='whole number'):
        ms.frombuffer(b'abc', dtype=ms.int32)
    unaligned = bytearray(b'x' + np.arange(3, dtype=np.float32).tobytes())
    assert ms.frombuffer(unaligned, dtype=ms.float32, offset=1).tolist() == [0, 1, 2]


def test_transposed_properties():
    a = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(Tensor(a).T.asnumpy(), a.T)
    assert np.array_equal(Tensor(a).mT.asnumpy(), a.swapaxes(1, 2))
    c = np.array([[1 + 2j, 3], [0, -1j]], np.complex64)
    assert np.array_equal(Tensor(c).H.asnumpy(), c.T.conj())
    assert np.array_equal(Tensor(c).mH.asnumpy(), c.T.conj())
    assert Tensor(3).T.shape == ()
    for name in ('mT', 'H', 'mH'):
        with pytest.raises(ValueError):
            getattr(Tensor([1, 2]), name)


def test_dot_of_a_number_and_many_axes():
    for a, b in ((Tensor(2.0), Tensor(np.ones((2, 0, 3), np.float32))), (Tensor(np.ones((2, 2, 3), np.float32)), Tensor(2.0))):
        with pytest.raises((ValueError, TypeError)):
            ops.dot(a, b)


@pytest.mark.parametrize("n", [2 ** 31, 2 ** 61, 2 ** 62])
def test_more_pieces_than_memory_has(n):
    for split in (ops.tensor_split, ops.vsplit):
        with pytest.raises(ValueError, match="cannot be cut"):
            split(Tensor(np.ones((2, 3), np.float32)), n)


def test_a_value_that_does_not_fit_where_it_is_written():
    def indexed(index):
        x = ops.zeros((2, 3), ms.float32)
        x[index] = ops.ones(4)

    writes = [lambda: indexed(0), lambda: indexed(Tensor([0, 1])), lambda: ops.assign(ms.Parameter(ops.zeros((2, 3)), name='w'), ops.ones(4)),
              lambda: ops.zeros((2, 3)).copy_(ops.ones(4)), lambda: ms.jit(lambda x: x.copy_(ops.ones(4)))(ops.zeros((2, 3)))]
    for write in writes:
        with pytest.raises(ValueError, match=r'value of shape \[4\] cannot be written to a place of shape \[(2, )?3\]'):
            write()
    x = ops.zeros((2, 3), ms.float32)
    x[0] = ops.ones((1, 1, 3)) # axes of size 1 in front are dropped
    assert x.sum() == 3


def test_refused_memory_names_the_operator_at_the_call():
    row, column = ops.ones((1, 2**23), ms.float32), ops.ones((2**23, 1), ms.float32)
    with pytest.raises(MemoryError, match="For 'add', out of memory"): # 2^46 elements: not postponed
        row + column
    with pytest.raises(MemoryError, match="For 'matmul', out of memory"):
        ops.matmul(column, row)
    assert (row + 1).sum() == 2**24


def test_a_convolution_says_how_many_channels_it_takes():
    x = ops.ones((1, 4, 8, 8), ms.float32)
    with pytest.raises(ValueError, match=r'\[8, 3, 3, 3\] takes 3 input channels .* of 1 groups, but got an input of shape \[1, 4, 8, 8\]'):
        ms.nn.Conv2d(3, 8, 3)(x)
    with pytest.raises(ValueError, match='output channels must be a multiple of the 2 groups'):
        ops.conv2d(x, ops.ones((3, 2, 3, 3), ms.float32), groups=2)


def test_truncated_division_of_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="broadcast"):
        mint.div(Tensor([1, 2, 3]), Tensor([1, 2]), rounding_mode="trunc")
    bools = mint.div(Tensor([True, False]), Tensor([True, True]), rounding_mode="trunc")
    assert bools.dtype == ms.bool_ and bools.asnumpy().tolist() == [True, False]


@pytest.mark.parametrize("call", [
    lambda x: ops.permute(x, ()), lambda x: mint.permute(x, (0,)), lambda x: ops.index_select(x, 0, Tensor([[0]])),
    lambda x: ops.masked_fill(x, x > 2, x), lambda x: ops.slice_scatter(x, Tensor(np.ones((1, 1), np.float32))),
    lambda x: x.copy().fill_(x), lambda x: ops.trace(x[None]), lambda x: mint.trace(x[None]),
    lambda x: ops.movedim(x, (0, 1), (0, 0)), lambda x: ops.movedim(x, (0, 1), 0)])
def test_shapes_that_an_operator_does_not_take(call):
    with pytest.raises(ValueError):
        call(Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)))


def test_a_tensor_of_one_integer_is_the_other_operand():
    for other in (Tensor([0]), Tensor(0)):
        assert mint.max(Tensor([1.0]), other).asnumpy().tolist() == [1]
        assert mint.min(Tensor([1.0]), other).asnumpy().tolist() == [0]
    assert mint.max(Tensor([1.0]), 0)[1].asnumpy() == 0


def test_layers_refuse_what_they_cannot_do():
    x = Tensor(np.ones((1, 3, 4, 4), np.float32))
    for layer in (ms.nn.AvgPool2d, ms.nn.MaxPool2d): # a window of padding alone has no value
        assert layer(2, pad_mode="pad", padding=1)(x).shape == (1, 3, 5, 5)
        with pytest.raises(ValueError, match="'padding'"):
            layer(2, pad_mode="pad", padding=2)(x)
    with pytest.raises(ValueError, match="label_smoothing"):
        ms.nn.CrossEntropyLoss(label_smoothing=2.0)
    with pytest.raises(ValueError, match=r"p must be in \[0, 1\]"):
        ops.bernoulli(x, 2.0)


def test_pooling_of_integers():
    x = Tensor(np.arange(64).reshape(1, 1, 4, 4, 4))
    y, at = ops.max_pool3d(x, 2, 2, return_indices=True)
    assert y.dtype == ms.int64 and y.asnumpy().ravel().tolist() == at.asnumpy().ravel().tolist() == [21, 23, 29, 31, 53, 55, 61, 63]
    assert ops.adaptive_max_pool3d(x.astype(ms.int32), (1, 1, 3)).asnumpy().ravel().tolist() == [61, 62, 63]
    assert ops.max_pool2d(x[0].astype(ms.uint8), 4).dtype == ms.uint8
