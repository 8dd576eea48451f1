"""Random functions: streams, generators, distributions, and the same numbers in every mode."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.ops import operations as P


def test_generator_is_a_stream_of_its_own():
    g = ms.Generator()
    g.manual_seed(5)
    a, b = mint.rand(3, generator=g).tolist(), mint.rand(3, generator=g).tolist()
    g.manual_seed(5)
    assert mint.rand(3, generator=g).tolist() == a != b
    ms.set_seed(7)
    x = ops.rand(4).tolist()
    mint.randn(10, generator=g)
    ms.set_seed(7)
    assert ops.rand(4).tolist() == x


def test_refusals():
    with pytest.raises(RuntimeError, match="'GPU' is not there"):
        mint.rand(3, device='GPU')
    with pytest.raises(TypeError, match='Generator'):
        mint.rand(3, generator=3)
    with pytest.raises(ValueError, match='low'):
        ops.randint(5, 5, (2,))
    with pytest.raises(ValueError, match="'p'"):
        ops.dropout(Tensor([1.0]), 1.5)


def test_distributions():
    ms.set_seed(1)
    u, n = ops.rand(200000).asnumpy(), ops.randn(200000).asnumpy()
    assert 0 <= u.min() and u.max() < 1 and abs(u.mean() - 0.5) < 0.005 and abs(u.std() - 12 ** -0.5) < 0.005
    assert abs(n.mean()) < 0.01 and abs(n.std() - 1) < 0.01 and abs((n ** 3).mean()) < 0.05
    i = ops.randint(-3, 4, (100000,)).asnumpy()
    assert set(i.tolist()) == set(range(-3, 4)) and abs(i.mean()) < 0.05
    assert sorted(mint.randperm(1000).tolist()) == list(range(1000))
    y = ops.dropout(ops.ones(100000), 0.25).asnumpy()
    assert set(np.unique(y)) == {0, np.float32(1 / 0.75)} and abs(y.mean() - 1) < 0.02


def test_jit_and_grad_draw_the_same_numbers():
    def f(x):
        return ops.dropout(x, 0.5) * ops.rand(8)

    x = Tensor(np.arange(8, dtype=np.float32))
    out = []
    for g in (f, ms.jit(f), lambda v: ms.value_and_grad(f)(v)[0]):
        ms.set_seed(3)
        out.append([g(x).tolist(), g(x).tolist()])
    assert out[0] == out[1] == out[2] and out[0][0] != out[0][1]


@pytest.mark.parametrize('draw,mean,variance', [
    (lambda n: ops.random_poisson(Tensor([n]), Tensor(0.3), 5), 0.3, 0.3),
    (lambda n: ops.random_poisson(Tensor([n]), Tensor(40.0, ms.float64), 5, ms.int64), 40, 40),
    (lambda n: ops.poisson((n,), Tensor(11.0), 3), 11, 11),
    (lambda n: ops.random_gamma((n,), Tensor(0.4), 7), 0.4, 0.4),
    (lambda n: ops.random_gamma(Tensor([n]), Tensor(9.0), 7), 9, 9),
    (lambda n: ops.gamma((n,), Tensor(3.0), Tensor(2.0), 7), 1.5, 0.75),
    (lambda n: P.RandomPoisson(4, dtype=ms.float32)((n,), Tensor(25.0)), 25, 25),
    (lambda n: P.Gamma(4)((n,), Tensor(2.0), Tensor(4.0)), 0.5, 0.125),
    (lambda n: P.Uniform(1.0, 3.0, 5)(Tensor(np.zeros(n, np.float32))), 2, 1 / 3)])
def test_moments_of_counts_and_waiting_times(draw, mean, variance):
    n = 20000
    x = draw(n).asnumpy().astype(np.float64)
    assert x.shape == (n,) and abs(x.mean() - mean) < 5 * np.sqrt(variance / n) and abs(x.var() / variance - 1) < 0.15


def test_parameters_of_counts():
    x = ops.random_poisson(Tensor([4, 2]), Tensor([[0.0, -1.0], [1e3, np.inf]])).asnumpy()
    assert x.shape == (4, 2, 2, 2) and not x[..., 0, 0].any() and np.isnan(x[..., 0, 1]).all() and np.isinf(x[..., 1, 1]).all()
    assert abs(x[..., 1, 0].mean() - 1e3) < 100
    for shape, rate, dtype in (((3,), Tensor(1.0), ms.int32), (Tensor([3.0]), Tensor(1.0), ms.int32), (Tensor([3]), Tensor(True), ms.int32),
                               (Tensor([3]), Tensor(1.0), ms.bool_)):
        with pytest.raises(TypeError):
            ops.random_poisson(shape, rate, 1, dtype)
    for shape in (Tensor([[3]]), Tensor([-3])):
        with pytest.raises(ValueError):
            ops.random_poisson(shape, Tensor(1.0))


@pytest.mark.parametrize('make,inputs', [
    (lambda s: P.Multinomial(*s), (Tensor(np.ones(100, np.float32)), 20)), (lambda s: P.Normal(*s), ((20,), Tensor(1.0), Tensor(2.0))),
    (lambda s: P.Bernoulli(*s), (Tensor(np.zeros(99, np.float32)), 0.5)), (lambda s: P.RandpermV2(*s), (30,)),
    (lambda s: P.DropoutGenMask(*s), ((200,), 0.5)), (lambda s: P.RandomPoisson(*s), ((20,), Tensor(50.0))),
    (lambda s: P.RandomGamma(*s), ((20,), Tensor(5.0)))], ids=['Multinomial', 'Normal', 'Bernoulli', 'RandpermV2', 'DropoutGenMask',
                                                                'RandomPoisson', 'RandomGamma'])
def test_seeds_of_primitives_count(make, inputs):
    def drawn(seeds, other):
        ms.set_seed(other)
        p = make(seeds)
        return [p(*inputs).asnumpy() for _ in range(2)]
    a, b, c = drawn((3, 4), 1), drawn((3, 4), 2), drawn((5, 4), 1)
    assert all((x == y).all() for x, y in zip(a, b)) and (a[0] != a[1]).any() and (a[0] != c[0]).any()


def test_step_of_a_generator():
    g = ms.Generator().manual_seed(3)
    assert [int(v) for v in g._step(4)] == [3, 0] and [int(v) for v in ms.jit(lambda: g._step(2))()] == [3, 4]
    assert [int(v) for v in g._step(1)] == [3, 6]
