"""Methods of Tensor: in-place forms with gradients through views, bytes as another dtype, resize, choose, set_."""
import operator

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops

f4 = np.float32


def x():
    return Tensor(np.array([[.5, .25, -.75], [.125, -.5, .9]], f4))


@pytest.mark.parametrize('name, args', [
    ('exp', ()), ('neg', ()), ('sign', ()), ('tanh', ()), ('floor', ()), ('sigmoid', ()), ('erfinv', ()), ('log', ()),
    ('clamp', (-.3, .3)), ('floor_divide', (.2,)), ('remainder', (.2,)), ('mul', (3.,)), ('div', (4.,)),
    ('addmm', (Tensor(np.ones((2, 2), f4)), Tensor(np.full((2, 3), 2, f4)))),
    ('masked_scatter', (Tensor([[True, False, True]] * 2), Tensor([1., 2, 3, 4])))])
def test_in_place_form(name, args):
    want = getattr(x(), name)(*args).asnumpy()
    a = x()
    got = getattr(a, name + '_')(*args)
    assert got is a
    np.testing.assert_allclose(a.asnumpy(), want, rtol=1e-6)
    base = mint.zeros((2, 6))
    view = base[:, ::2]
    view.copy_(x())
    getattr(view, name + '_')(*args)
    np.testing.assert_allclose(base[:, ::2].asnumpy(), want, rtol=1e-6)
    assert not base[:, 1::2].asnumpy().any()


@pytest.mark.parametrize('name, args', [('exp', ()), ('tanh', ()), ('sigmoid', ()), ('erfinv', ()), ('clamp', (-.3, .3))])
@pytest.mark.parametrize('jit', [False, True])
def test_gradient_of_in_place_form(name, args, jit):
    def of_copy(t):
        y = (t * 1.)[0]
        return (getattr(y, name)(*args) * 2).sum()

    def in_place(t):
        y = t * 1.
        getattr(y[0], name + '_')(*args)
        return (y[0] * 2).sum()

    f = ms.jit(in_place) if jit else in_place
    np.testing.assert_allclose(ms.grad(f)(x()).asnumpy(), ms.grad(of_copy)(x()).asnumpy(), rtol=1e-6)


def test_addr_and_put():
    a = x()
    v, w = Tensor([1., 2.]), Tensor([1., 2., 3.])
    assert mint.addr_(a, v, w) is a
    np.testing.assert_allclose(a.asnumpy(), x().asnumpy() + np.outer([1, 2], [1, 2, 3]))
    a = x()
    a.put_(Tensor([[1, -1]]), Tensor([9., 8.]))
    a.put_(Tensor([1, 1]), Tensor([1., 1.]), accumulate=True)
    assert a.tolist()[0][1] == 11 and a.tolist()[1][2] == 8
    assert a.itemset((0, 0), 3) is a and a[0, 0].item() == 3
    a.itemset(-1, 4)
    assert a[1, 2].item() == 4
    with pytest.raises(IndexError):
        a.itemset(6, 1.)


def test_view_of_bytes():
    a = x()
    for d in ('int32', 'float16', 'uint8', 'int8'):
        got = a.view(getattr(ms, d))
        np.testing.assert_array_equal(got.asnumpy(), x().asnumpy().view(d))
    a.view(ms.int32)[0, 0] = 0
    assert a[0, 0].item() == 0
    assert a.view(3, 2).shape == (3, 2) and a.view(ms.float32).shape == (2, 3)
    with pytest.raises(ValueError, match='whole number'):
        a.view(ms.float64)


def test_sizes():
    a = x()
    assert a.resize(2, 2).tolist() == [[.5, .25], [-.75, .125]] and a.resize((7,)).tolist()[-1] == 0
    assert a.sum_to_size((2, 1)).shape == (2, 1) and a.sum_to_size(3).tolist() == a.sum(0).tolist()
    with pytest.raises(ValueError):
        a.sum_to_size(2)
    assert a.stride() == [3, 1] and a.T.stride() == [1, 3] and a.stride(dim=-1) == 1 and a[1:, 1:].storage_offset() == 4
    assert Tensor([0, 3, -1]).choose([[1, 2, 3], [4, 5, 6]], mode='wrap').tolist() == [1, 5, 6]
    assert Tensor([0, 3, -1]).choose(Tensor([[1, 2, 3], [4, 5, 6]])).tolist() == [1, 5, 3]
    assert a.index((Tensor([0, 1]), Tensor([1, 2]))).tolist() == [.25, np.float32(.9)]
    assert a.fills(2).tolist() == [[2.] * 3] * 2 and a.cauchy(1, 2).shape == (2, 3)
    assert a.get_bytes() == a.asnumpy().tobytes()


def test_set_shares_memory():
    a, b = x(), Tensor([1., 2.])
    b.set_(a, 2, (2,), (1,))
    b += 0
    assert b.tolist() == [-.75, .125]
    c = Tensor([0.])
    c.set_(a)
    a[0, 0] = 7
    assert c[0, 0].item() == 7
    assert a.storage().nbytes() == 24 and a.storage().data_ptr() == a.data_ptr()


@pytest.mark.parametrize('op', [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod])
@pytest.mark.parametrize('jit', [False, True])
def test_augmented_assignment_makes_a_new_tensor(op, jit):
    """As in the original: an alias keeps its values; the dtype may change."""
    assert f'__{op.__name__}__' in dir(Tensor)
    a, number = x(), Tensor([3, 4, 5])
    alias, view = a, a[0]
    r = op(a, 2.)
    assert r is not a
    np.testing.assert_array_equal(r.asnumpy(), op(x().asnumpy(), f4(2)))
    assert alias.tolist() == x().tolist() and view.tolist() == x()[0].tolist()
    assert op(number, 2.5).dtype is ms.float32 and number.tolist() == [3, 4, 5]

    def f(t):
        t = op(t, 2.)
        return (t * t).sum()

    def plain(t):
        t = getattr(t, op.__name__.replace('i', '__', 1) + '__')(2.)
        return (t * t).sum()
    np.testing.assert_allclose(ms.grad(ms.jit(f) if jit else f)(x()).asnumpy(), ms.grad(plain)(x()).asnumpy())


def test_round_of_python():
    assert round(Tensor([.5, 1.5, -2.25])).tolist() == [0, 2, -2]
    assert round(Tensor([.125, 1.26]), 1).tolist() == [np.float32(.1), np.float32(1.3)]


def test_hooks_by_number():
    a = x()
    h = a.register_hook(triple := lambda g: g * 3)
    assert a.hooks() == [triple] and ms.grad(lambda t: t.sum())(a)[0, 0].item() == 3
    Tensor.remove_hook(h.id)
    assert a.hooks() == [] and ms.grad(lambda t: t.sum())(a)[0, 0].item() == 1


@pytest.mark.parametrize('a', [x(), x().astype(ms.bfloat16), x()[:, ::2], Tensor(1), Tensor([]), Tensor([True, False])], ids=str)
def test_bytes_and_back(a):
    b = Tensor.convert_bytes_to_tensor(a.get_bytes(), a.shape, a.dtype)
    assert len(a.get_bytes()) == a.nbytes and b.dtype is a.dtype and b.shape == a.shape and b.tolist() == a.tolist()
    with pytest.raises(ValueError):
        Tensor.convert_bytes_to_tensor(b'1' + a.get_bytes(), a.shape, a.dtype)


def test_flags_of_a_parameter():
    p = ms.Parameter(x(), name='p')
    for flag, default in (('parallel_optimizer', True), ('layerwise_parallel', False), ('parallel_optimizer_comm_recompute', False)):
        assert getattr(p, flag) is default
        setattr(p, flag, not default)
        assert getattr(p.clone(), flag) is getattr(p.param_info, flag) is (not default)
        with pytest.raises(TypeError, match=flag):
            setattr(p, flag, 1)
    p.param_info.name = 'q'
    assert p.name == 'q' and p.param_info.parameter_shape == [2, 3] and p.param_info.obj is p
    q = ms.Parameter(x(), name='r')
    q.param_info = p.param_info
    assert q.name == 'q' and q.layerwise_parallel
    with pytest.raises(AttributeError):
        p.param_info.foo = 1
    assert p.requires_grad_(False) is p and not p.requires_grad
    assert x().requires_grad_().shape == (2, 3)
    with pytest.raises(TypeError):
        p.requires_grad_(1)
    with pytest.raises(RuntimeError, match='page-locked'):
        x().pin_memory()


def test_new_ones_and_zeros():
    a = Tensor([1.5])
    for fn, value in ((a.new_ones, 1), (a.new_zeros, 0)):
        for got, dtype in ((fn((2, 3)), ms.float32), (fn((2, 3), ms.int32), ms.int32), (fn(size=[2, 3], dtype=ms.bool_), ms.bool_)):
            assert got.dtype is dtype and got.tolist() == [[value] * 3] * 2
