"""jet and derivative: any order, several inputs and outputs, under other transformations and compiled."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


def T(v, dtype=np.float64):
    return Tensor(np.array(v, dtype))


X = np.array([[0.3, 1.1], [-0.7, 2.0]])
SIN = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)]


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit])
def test_sine_to_the_fourth_order(wrap):
    series = T(np.stack([np.ones_like(X)] + [np.zeros_like(X)] * 3))
    y, out = wrap(lambda x, s: ops.jet(ops.sin, x, s))(T(X), series)
    np.testing.assert_allclose(y.asnumpy(), np.sin(X), atol=1e-12)
    for k in range(4):
        np.testing.assert_allclose(out.asnumpy()[k], SIN[(k + 1) % 4](X), atol=1e-12)
    for order in range(1, 7):
        y, d = ops.derivative(ops.sin, T(X), order)
        np.testing.assert_allclose(d.asnumpy(), SIN[order % 4](X), atol=1e-11)


def test_curve_with_higher_terms():
    # y = x(t)^2 with x = 3 + 2 t + 5 t^2 / 2: y' = 12, y'' = 2 (2 * 2 + 3 * 5) = 38, y''' = 6 * 2 * 5 = 60
    y, s = ops.jet(lambda x: x * x, T([3.]), T([[2.], [5.], [0.]]))
    assert y.asnumpy().tolist() == [9]
    np.testing.assert_allclose(s.asnumpy().ravel(), [12, 38, 60])


def test_several_inputs_and_a_cell():
    class Net(nn.Cell):
        def construct(self, x, y):
            return ops.matmul(x, y), x + 1
    x, y = T(X), T(X.T)
    (a, b), (da, db) = ops.jet(Net(), (x, y), (T([np.ones((2, 2)), np.zeros((2, 2))]), T([np.ones((2, 2)), np.zeros((2, 2))])))
    one = np.ones((2, 2))
    np.testing.assert_allclose(a.asnumpy(), X @ X.T)
    np.testing.assert_allclose(da.asnumpy()[0], one @ X.T + X @ one)
    np.testing.assert_allclose(da.asnumpy()[1], 2 * one @ one)
    assert db.asnumpy()[0].tolist() == one.tolist() and not db.asnumpy()[1].any()


def test_gradient_and_vmap_of_a_derivative():
    f = lambda x: ops.derivative(lambda x: x ** 4, x, 2)[1]
    np.testing.assert_allclose(ms.grad(f)(T([2.])).asnumpy(), [48])
    np.testing.assert_allclose(ms.vmap(f)(T([1., 2.])).asnumpy(), [12, 48])
    np.testing.assert_allclose(ops.derivative(f, T([2.]), 2)[1].asnumpy(), [24])


def test_arguments_are_checked():
    with pytest.raises(ValueError):
        ops.derivative(ops.sin, T([1.]), 0)
    with pytest.raises(TypeError):
        ops.derivative(ops.sin, T([1.]), 1.5)
    with pytest.raises(ValueError):
        ops.jet(ops.sin, T([1.]), T([1.]))
    with pytest.raises(TypeError):
        ops.jet(ops.sin, 1.0, T([1.]))
