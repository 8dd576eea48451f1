"""grad, value_and_grad, vjp, jvp, vmap and the Jacobians: forms of arguments and results, nesting, errors."""
import gc

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

X = np.array([1., 2.], np.float32)


def x():
    return Tensor(X)


def square(a):
    return a * a


def two(a, b):
    return a * b, a


def same(tree, expected):
    """Compares nested tuples of tensors with nested tuples of lists."""
    if isinstance(tree, Tensor):
        np.testing.assert_allclose(tree.asnumpy(), expected, rtol=1e-6)
    elif isinstance(tree, dict):
        assert tree.keys() == expected.keys()
        for k in tree:
            same(tree[k], expected[k])
    elif isinstance(tree, (tuple, list)):
        assert type(tree) is type(expected) and len(tree) == len(expected)
        for t, e in zip(tree, expected):
            same(t, e)
    else:
        assert tree == expected


def test_grad_positions():
    same(ms.grad(square)(x()), [2, 4])
    same(ms.grad(square, (0,))(x()), [2, 4])
    same(ms.grad(lambda a, b: a * b, (0, 1))(x(), x() + 1), ([2, 3], [1, 2]))
    same(ms.grad(lambda a, b: a * b * b, 1)(x(), x()), [2, 8])
    same(ms.grad(lambda a, k=1: a * k)(x(), k=3), [3, 3])
    same(ms.grad(square)(Tensor([1, 2])), [2, 4])
    assert ms.grad(square)(Tensor([1, 2])).dtype is ms.int64


def test_outputs():
    same(ms.value_and_grad(square)(x()), ([1, 4], [2, 4]))
    same(ms.value_and_grad(lambda a: (a * a, a))(x()), (([1, 4], [1, 2]), [3, 5]))
    same(ms.value_and_grad(lambda a: [a * a, a])(x()), ([[1, 4], [1, 2]], [3, 5]))
    same(ms.value_and_grad(lambda a: {'l': a})(x()), ({'l': [1, 2]}, [1, 1]))
    same(ms.grad(lambda a: (a * a, a, 3), has_aux=True)(x()), ([2, 4], ([1, 2], 3)))
    same(ms.value_and_grad(lambda a: (a * a, (a, 2 * a)), has_aux=True)(x()), (([1, 4], ([1, 2], [2, 4])), [2, 4]))
    same(ms.value_and_grad(lambda a: (a * a, a, 3, 'x', None), has_aux=True)(x()), (([1, 4], [1, 2], 3, 'x', None), [2, 4]))
    same(ms.grad(lambda a: 3.0)(x()), [0, 0])
    same(ms.grad(lambda a: None)(x()), [0, 0])
    same(ms.grad(lambda a: a.sum())(Tensor(np.ones((2, 3), np.float32))), np.ones((2, 3)))


def test_weights():
    w, u = Parameter(Tensor([3., 4.]), name='w'), Parameter(Tensor([5., 6.]), name='u')

    def f(a):
        return a * w
    same(ms.grad(f, None, w)(x()), [1, 2])
    same(ms.grad(f, None, [w])(x()), ([1, 2],))
    same(ms.grad(f, 0, [w, u])(x()), ([3, 4], ([1, 2], [0, 0])))
    same(ms.grad(f, (0,), ParameterTuple([w]))(x()), ([3, 4], ([1, 2],)))
    same(ms.value_and_grad(f, None, [w])(x()), ([3, 8], ([1, 2],)))
    same(ms.grad(f, None, [])(x()), ())
    same(ms.grad(lambda a: a * w * w, 0, w)(x()), ([9, 16], [6, 16]))


def test_return_ids():
    w = Parameter(Tensor([3., 4.]), name='w')

    def f(a):
        return a * w
    same(ms.grad(f, 0, return_ids=True)(x()), (0, [3, 4]))
    same(ms.grad(f, None, w, return_ids=True)(x()), ('w', [1, 2]))
    same(ms.grad(f, (0,), [w], return_ids=True)(x()), ((0, [3, 4]), (('w', [1, 2]),)))
    g = ms.grad(f, 0, w, return_ids=True)(x())
    same(ms.get_grad(g, 0), [3, 4])
    same(ms.get_grad(g, w), [1, 2])
    with pytest.raises(RuntimeError):
        ms.get_grad(g, 3)


def test_sens_param():
    same(ms.grad(square, sens_param=True)(x(), Tensor([5., 6.])), [10, 24])
    same(ms.grad(two, (0, 1), sens_param=True)(x(), x(), (x(), x())), ([2, 6], [1, 4]))


def test_containers_and_numbers():
    same(ms.grad(lambda p: p[0] * p[1])((x(), x() + 1)), ([2, 3], [1, 2]))
    same(ms.grad(lambda d: d['a'] * 2)({'a': x()}), {'a': [2, 2]})
    assert ms.grad(lambda a: x())(2.0) == ()
    same(ms.grad(lambda a, b: a * b, (0, 1))(x(), 3.0), [3, 3])


@pytest.mark.parametrize('make, error', [
    (lambda: ms.grad(square, None), ValueError), (lambda: ms.grad(square, -1), ValueError),
    (lambda: ms.grad(square, 'a'), TypeError), (lambda: ms.grad(square, (0, 0)), ValueError),
    (lambda: ms.grad(3), TypeError), (lambda: ms.grad(square, 0, 3), TypeError),
    (lambda: ms.grad(square, 1)(x()), RuntimeError), (lambda: ms.grad(square)(x(), x()), TypeError),
    (lambda: ms.grad(lambda a: a, has_aux=True)(x()), ValueError), (lambda: ms.grad(square, has_aux=1), TypeError),
])
def test_errors(make, error):
    with pytest.raises(error):
        make()


def test_an_error_inside_closes_the_trace():
    def f(a):
        raise KeyError('mine')
    for transform in (ms.grad(f), ms.value_and_grad(f), ms.vmap(f), lambda a: ms.vjp(f, a), lambda a: ms.jvp(f, a, a)):
        with pytest.raises(KeyError, match='mine'):
            transform(x())
    same(ms.grad(square)(x()), [2, 4])


def test_higher_order():
    def f(a):
        return a * a * a
    same(ms.grad(ms.grad(f))(x()), [6, 12])
    same(ms.grad(ms.grad(ms.grad(f)))(x()), [6, 6])
    same(ms.grad(lambda a: ms.value_and_grad(f)(a)[1] * a)(x()), [9, 36])
    same(ms.jvp(ms.grad(f), x(), Tensor([1., 1.])), ([3, 12], [6, 12]))
    same(ms.grad(lambda a: ms.jvp(f, a, a * 0 + 1)[1])(x()), [6, 12])
    same(ms.vmap(ms.grad(f))(x()), [3, 12])
    same(ms.grad(lambda a: ms.vmap(f)(a))(x()), [3, 12])


def test_stop_gradient():
    same(ms.grad(lambda a: ops.stop_gradient(a) * a)(x()), [1, 2])


def test_control_by_value():
    def f(a):
        return a * a if a.sum() > 0 else a
    same(ms.grad(f)(x()), [2, 4])
    same(ms.grad(f)(x() - 5), [1, 1])
    same(ms.grad(lambda a: a * float(a[0]))(x() + 1), [2, 2])


def test_writes_inside():
    def f(a):
        b = a * 1
        b[0] = b[1] * 3
        return b * b
    same(ms.grad(f)(x()), [0, 40])
    w = Parameter(Tensor([1., 1.]), name='w')

    def g(a):
        w[...] = a * 2
        return a * w
    same(ms.grad(g)(x()), [4, 8])
    same(w, [2, 4])


def test_vjp():
    out, fn = ms.vjp(square, x())
    same(out, [1, 4])
    same(fn(x()), ([2, 8],))
    same(fn(x() * 2), ([4, 16],))
    out, fn = ms.vjp(two, x(), x())
    same(out, ([1, 4], [1, 2]))
    same(fn(x(), x()), ([2, 6], [1, 4]))
    same(fn((x(), x())), ([2, 6], [1, 4]))
    w = Parameter(Tensor([3., 4.]), name='w')
    same(ms.vjp(lambda a: a * w, x(), weights=w)[1](x()), (([3, 8],), [1, 4]))
    same(ms.vjp(lambda a: a * w, x(), weights=[w])[1](x()), (([3, 8],), ([1, 4],)))
    out, fn, aux = ms.vjp(lambda a: (a * a, a), x(), has_aux=True)
    same((out, aux, fn(x())), ([1, 4], [1, 2], ([2, 8],)))
    with pytest.raises(ValueError):
        fn(Tensor([1.]))
    with pytest.raises(RuntimeError):
        fn(x(), x())


def test_vjp_runs_the_function_once():
    calls = []

    def f(a):
        calls.append(1)
        return a * a
    fn = ms.vjp(f, x())[1]
    fn(x()), fn(x())
    assert len(calls) == 1


def test_jvp():
    same(ms.jvp(square, x(), Tensor([1., 1.])), ([1, 4], [2, 4]))
    same(ms.jvp(lambda a, b: a * b, (x(), x()), (x(), x())), ([1, 4], [2, 8]))
    same(ms.jvp(two, (x(), x()), (x(), x())), (([1, 4], [1, 2]), ([2, 8], [1, 2])))
    same(ms.jvp(lambda a: (a * a, a), x(), x(), has_aux=True), ([1, 4], [2, 8], [1, 2]))
    with pytest.raises(ValueError):
        ms.jvp(square, x(), Tensor([1.]))


def test_vmap_of_sequences():
    """Recurrent layers, CTC and searchsorted: batched as the examples one by one, with their gradients."""
    rng = np.random.default_rng(3)
    draw = lambda *shape: Tensor(rng.normal(size=shape).astype(np.float32))
    for layer, axis in ((nn.LSTM(3, 4), 0), (nn.GRU(3, 4), 1)):
        net, seqs = lambda s, cell=layer: cell(s)[0], draw(5, 5, 2, 3)
        loss = lambda s, f=net: (f(s) ** 2).sum()
        for f in (net, ms.grad(loss)):
            rows = [f(seqs[k] if axis == 0 else seqs[:, k]).asnumpy() for k in range(5)]
            np.testing.assert_allclose(ms.vmap(f, axis)(seqs).asnumpy(), rows, atol=1e-6)
    probs, labels = ops.log_softmax(draw(2, 6, 3, 5), -1), Tensor(rng.integers(1, 5, (2, 3, 2)))
    ctc = lambda p, t: ops.ctc_loss(p, t, Tensor([6, 5, 6]), Tensor([2, 1, 2]), reduction='sum')[0]
    for f in (ctc, ms.grad(ctc)):
        np.testing.assert_allclose(ms.vmap(f)(probs, labels).asnumpy(), [f(probs[k], labels[k]).asnumpy() for k in range(2)], atol=1e-5)
    edges, v = Tensor(np.sort(rng.normal(size=(2, 5)))), Tensor(rng.normal(size=(2, 3, 4)))
    same(ms.vmap(ops.searchsorted)(edges, v), [np.searchsorted(edges[k].asnumpy(), v[k].asnumpy()) for k in range(2)])
    same(ms.vmap(ops.searchsorted, (None, 0))(edges[0], v), np.searchsorted(edges[0].asnumpy(), v.asnumpy()))
    same(ms.vmap(lambda t: ops.unique(t)[0])(Tensor([[1, 2, 1], [4, 4, 3]])), [[1, 2], [4, 3]])
    with pytest.raises(ValueError, match='unique.*one shape'):
        ms.vmap(lambda t: ops.unique(t)[0])(Tensor([[1, 2, 1], [4, 4, 4]]))


def test_vmap():
    def mul(a, b):
        return a * b
    same(ms.vmap(square)(x()), [1, 4])
    same(ms.vmap(mul, (0, None))(x(), x()), [[1, 2], [2, 4]])
    same(ms.vmap(mul, (0, None), 1)(x(), x()), [[1, 2], [2, 4]])
    a, b = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((3, 2), np.float32))
    out = ms.vmap(lambda p, q: (p * q, p), (0, 1), (1, 0))(a, b)
    assert out[0].shape == (3, 2) and out[1].shape == (2, 3)
    same(ms.vmap(lambda p: p[0] + p[1], ((0, 0),))((x(), x())), [2, 4])
    same(ms.vmap(lambda p: p.sum(), -1)(Tensor([[1., 2.], [3., 4.]])), [4, 6])
    for axes, args in ((None, (x(),)), (3, (x(),)), ((None, None), (x(), x())), ((0,), (x(), x())), ('a', (x(),)),
                       (0, (x(), Tensor([1., 2., 3.])))):
        with pytest.raises(RuntimeError):
            ms.vmap(mul if len(args) == 2 else square, axes)(*args)


@pytest.mark.parametrize('jac', [ms.jacfwd, ms.jacrev])
def test_jacobians(jac):
    d2, e = [[2, 0], [0, 4]], [[1, 0], [0, 1]]
    d1, zero = [[1, 0], [0, 2]], [[0, 0], [0, 0]]
    same(jac(square)(x()), d2)
    same(jac(two, (0, 1))(x(), x()), ((d1, d1), (e, zero)))
    same(jac(two)(x(), x()), (d1, e))
    same(jac(lambda a, b: a * b, (0, 1))(x(), x()), (d1, d1))
    same(jac(lambda a: (a * a, a), has_aux=True)(x()), (d2, [1, 2]))
    same(jac(lambda a: a.sum())(x()), [1, 1])


def test_nothing_is_left():
    f = ms.value_and_grad(lambda a: (a * a + a / 3).sum())
    f(x())
    gc.collect()
    before = ms._c.memory_stats()['n_live']
    for _ in range(20):
        f(x())
        ms.vjp(square, x())[1](x())
    gc.collect()
    assert ms._c.memory_stats()['n_live'] == before


def test_all_inputs_with_names():
    grads = ops.GradOperation(get_all=True)(lambda a, b=None, c=1: (a * b * c).sum())(x(), b=x(), c=3)
    same(grads, ([3, 6], [3, 6]))


def test_a_compiled_function_of_constants_inside_jvp():
    constant = ms.jit(lambda: ops.ones((2,)) * 3)
    assert constant().asnumpy().tolist() == [3, 3]
    x = ms.Tensor([1.0, 2.0])
    out, tangent = ms.jvp(lambda t: t * constant(), x, ms.Tensor([1.0, 1.0]))
    assert out.asnumpy().tolist() == [3, 6] and tangent.asnumpy().tolist() == [3, 3]
    for fn in (lambda: ms.jvp(ops.sin, 1, 1), lambda: ms.vjp(ops.sin, 1)):
        with pytest.raises(TypeError, match='must be Tensors, but got int'):
            fn()


def test_inputs_that_all_have_names():
    same(ops.GradOperation()(lambda *, a, b: (a * a * b).sum())(a=x(), b=x()), 2 * X * X)


def test_weights_that_ask_for_no_gradient():
    p, q = Parameter(x(), name='p'), Parameter(x(), name='q', requires_grad=False)
    for wrap in (lambda f: f, ms.jit):
        same(ops.GradOperation(get_by_list=True)(wrap(lambda a: (a * p * q).sum()), [p, q])(x()), (X * X, 0 * X))


def test_the_sensitivity_by_name():
    same(ops.GradOperation(sens_param=True)(square)(x(), sens=Tensor([1.0, 10.0])), [2, 40])


def test_a_gradient_of_ones_own_is_reduced_and_cast():
    class Net(ms.nn.Cell):
        def __init__(self, *grads):
            super().__init__()
            self.grads = grads

        def construct(self, a, b):
            return a + b

        def bprop(self, *args):
            return self.grads
    b, grad = ops.GradOperation(get_all=True), Tensor([[1, 2], [3, 4]])
    same(b(Net(grad, grad.astype(ms.float32)))(x(), Tensor(np.ones((2, 2), np.float32))), ([4, 6], [[1, 2], [3, 4]]))
    with pytest.raises(RuntimeError, match='should be broadcast to'):
        b(Net(Tensor(np.ones((2, 3), np.float32)), None))(x(), x())


def test_points_between_ends_that_are_followed():
    ends = Tensor([1.0, -2.0]), Tensor([4.0, 6.0])
    want = np.linspace(*[e.asnumpy() for e in ends], 4, axis=-1)
    for wrap in (lambda f: f, ms.jit):
        f = wrap(lambda a, b: ops.linspace(a, b, 4))
        same(ms.vmap(f)(*ends), want)
        same(ms.grad(lambda a, b: f(a, b)[2], (0, 1))(Tensor(1.0), Tensor(4.0)), (1 / 3, 2 / 3))
    same(ops.ones(Tensor([2, 1])), [[1], [1]])
    with pytest.raises(TypeError, match='A shape as a Tensor must be'):
        ops.zeros(Tensor([1.5]))


def test_sensitivity_beside_inputs_by_name():
    a, b, c = (Tensor([float(k), k + 1.0]) for k in (1, 2, 3))
    grads = ops.GradOperation(get_all=True, sens_param=True)(lambda x, *, y, z: x * y + z)(a, y=b, z=c, sens=Tensor([1.0, 10.0]))
    same(grads, ([2, 30], [1, 20], [1, 10]))


def test_integers_beside_floats():
    """Their gradients have their type, as the original's; what rounds has none."""
    w, x = Parameter(Tensor([1, 2]), name='w'), Tensor([1.0, 3.0])
    of_x, (of_w,) = ms.grad(lambda t: (w * t).sum(), 0, [w])(x)
    assert of_x.tolist() == [1, 2] and of_w.tolist() == [1, 3] and of_w.dtype is ms.int64
    assert ms.grad(lambda n: (n.astype(ms.float32) * x).sum())(Tensor([4, 5], ms.int32)).tolist() == [1, 3]
    assert ms.grad(lambda t: t.astype(ms.int32).astype(ms.float32).sum())(x).tolist() == [0, 0]
    assert ms.grad(lambda t: ((t > 2).astype(ms.float32) * t).sum())(x).tolist() == [0, 1]


def test_an_output_that_is_the_input_is_an_object_of_its_own():
    class Net(ms.nn.Cell):
        def construct(self, a):
            return a, a * 2

        def bprop(self, a, out, dout):
            return dout[0] * 3
    a = x()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            out = Net()(a)[0]
            assert mode == ms.GRAPH_MODE or out is not a
            same(out, X)
            same(ms.grad(lambda t: Net()(t)[0].sum())(a), 3 + 0 * X)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
