"""Random functions: streams, generators, distributions, and the same numbers in every mode."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops


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
