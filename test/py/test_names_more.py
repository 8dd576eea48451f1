"""swap_tensors, run_check; Cell.to; layers and primitives under older names: values, gradients, refusals."""
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, mint, nn, ops

rng = np.random.default_rng(3)


def close(got, want, tol=1e-6):
    np.testing.assert_allclose(got.asnumpy(), want, tol, tol)
    assert got.shape == np.shape(want)


def test_swap_tensors():
    a, b = Tensor([1., 2.]), Tensor([3], ms.int32)
    ms.swap_tensors(a, b)
    assert a.tolist() == [3] and a.dtype is ms.int32 and b.tolist() == [1, 2]
    p, q = Parameter(Tensor([1.]), name='p'), Parameter(Tensor([2., 3.]), name='q', requires_grad=False)
    ms.swap_tensors(p, q)
    assert (p.name, p.requires_grad, p.asnumpy().tolist()) == ('q', False, [2, 3]) and (q.name, q.requires_grad) == ('p', True)
    with pytest.raises(RuntimeError):
        ms.swap_tensors(a, p)
    with pytest.raises(TypeError):
        ms.swap_tensors(a, 1)


def test_checks(capsys):
    ms.run_check()
    assert 'successfully' in capsys.readouterr().out
    before = sys.getrecursionlimit()
    try:
        ms.set_recursion_limit(12345)
        assert sys.getrecursionlimit() == 12345
    finally:
        sys.setrecursionlimit(before)
    for kind, value in ((ValueError, 0), (TypeError, 1.5)):
        with pytest.raises(kind):
            ms.set_recursion_limit(value)


def test_cell_to():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3))
    net.insert_param_to_cell('count', Parameter(3, name='count'))
    w = net[0].weight
    want = w.asnumpy().astype(np.float16)
    assert net.to(ms.float16) is net and net[0].weight is w and w.dtype is ms.float16 and (w.asnumpy() == want).all()
    assert net.count.dtype is ms.int32 and net[0](Tensor(np.ones((1, 2), np.float16))).dtype is ms.float16
    assert net.to('CPU', ms.float32)[0].bias.dtype is ms.float32 and net.to(Tensor(1., ms.float64)) and w.dtype is ms.float64
    assert net.to(device='CPU', dtype=ms.bfloat16, non_blocking=True)[1].gamma.dtype is ms.bfloat16
    assert net.to_empty(device='CPU') is net and w.shape == (3, 2) and w.dtype is ms.bfloat16
    with pytest.raises(TypeError):
        net.to(ms.int32)
    for call in (lambda: net.to('Ascend'), lambda: net.to_empty(device='GPU')):
        with pytest.raises(ValueError, match='CPU'):
            call()


def test_layers_under_older_names():
    for name in ('AvgPool1d', 'AvgPool2d', 'AvgPool3d', 'Dropout2d', 'Dropout', 'Embedding', 'L1Loss', 'LayerNorm', 'LogSoftmax', 'MaxPool2d',
                 'PReLU'):
        assert getattr(nn, name + 'Ext') is getattr(mint.nn, name)
    x, t = Tensor([1., 2.]), Tensor([3., 4.])
    out, (g,) = nn.Vjp(lambda v: v**3)(x, t)
    for got, want in ((nn.Jvp(lambda v: v**3)(x, t), ([1, 8], [9, 48])), ((out, g), ([1, 8], [9, 48])),
                      (nn.Jvp(lambda u, v: u * v)(x, t, t, x), ([3, 8], [10, 20]))):
        close(got[0], want[0]), close(got[1], want[1])
    out, (gu, gv) = nn.Vjp(lambda u, v: u * v)(x, t, Tensor([1., 1.]))
    close(gu, [3, 4]), close(gv, [1, 2])
    for call, kind in ((lambda: nn.Jvp(3), TypeError), (lambda: nn.Jvp(abs)(x), ValueError), (lambda: nn.Vjp(abs)(x), ValueError)):
        with pytest.raises(kind):
            call()


@pytest.mark.parametrize('a, b', [(False, False), (True, False), (False, True), (True, True)])
def test_sparse_products(a, b):
    at, v = np.array([[0, 1], [2, 0], [0, 1]]), rng.normal(size=3)
    sparse, dense = np.zeros((3, 2)), rng.normal(size=(3 if a else 2, 4))
    np.add.at(sparse, tuple(at.T), v)
    want = (sparse.T if a else sparse) @ dense
    given = Tensor(dense.T.copy() if b else dense)
    for layer in (nn.SparseTensorDenseMatmul(a, b), ops.SparseTensorDenseMatmul(a, b)):
        close(layer(Tensor(at), Tensor(v), (3, 2), given), want)
    g = ms.grad(lambda t: nn.SparseTensorDenseMatmul(a, b)(Tensor(at), t, (3, 2), given).sum())(Tensor(v))
    close(g, dense.sum(1)[at[:, 0 if a else 1]])
    with pytest.raises(ValueError):
        ops.SparseTensorDenseMatmul(a, b)(Tensor(at), Tensor(v), (5, 5), given)
    close(ops.SparseTensorDenseAdd()(Tensor(at), Tensor(v), (3, 2), Tensor(sparse)), 2 * sparse)
    close(nn.SparseToDense()(ms.COOTensor(Tensor(at[:2]), Tensor(v[:2]), (3, 2))).sum(), v[:2].sum())


def test_primitives():
    labels, guesses = Tensor([0, 1, 1, 2], ms.int32), Tensor([0, 1, 2, 2], ms.int32)
    close(ops.ConfusionMatrix(4)(labels, guesses), np.diag([1, 1, 1, 0]) + np.eye(4)[1][:, None] * np.eye(4)[2])
    assert ops.ConfusionMatrix(4, 'float32')(labels, guesses, Tensor([.5, 1, 1, 1]))[0, 0].item() == .5
    assert ops.ConfusionMatrix(4)(labels, guesses).dtype is ms.int32
    x = Tensor(rng.normal(size=(3, 4)))
    assert ops.FloatStatus()(x).tolist() == [0] and ops.FloatStatus()(x / 0).tolist() == [1]
    close(ops.NuclearNorm()(x), np.linalg.norm(x.asnumpy(), 'nuc')), close(ops.NuclearNorm((0, 1), True)(x), [[np.linalg.norm(x.asnumpy(), 'nuc')]])
    close(ops.Expand()(Tensor([[1.], [2.]]), Tensor([2, 2])), [[1, 1], [2, 2]])
    close(ops.ScatterAddWithAxis(1)(Tensor([[1., 2., 3.]]), Tensor([[0, 0]]), Tensor([[5., 7.]])), [[13, 2, 3]])
    d = [rng.normal(size=(2, 1, 4)) for _ in range(3)]
    rhs = rng.normal(size=(2, 4, 3))
    full = np.stack([np.diag(d[0][k, 0, :-1], 1) + np.diag(d[1][k, 0]) + np.diag(d[2][k, 0, 1:], -1) for k in range(2)])
    close(ops.TridiagonalMatMul()(*map(Tensor, d), Tensor(rhs)), full @ rhs)


def test_functions():
    x, y = Tensor(rng.normal(size=(2, 4))), Tensor(rng.normal(size=(2, 4)))
    close(ops.swiglu(x), ops.silu(x[:, :2]).asnumpy() * x.asnumpy()[:, 2:])
    close(ops.swiglu(x, 0), ops.silu(x[:1]).asnumpy() * x.asnumpy()[1:])
    with pytest.raises(ValueError):
        ops.swiglu(x[:, :3])
    out, rstd, total = ops.add_rms_norm(x, y, Tensor(np.ones(4)), 1e-3)
    close(total, (x + y).asnumpy()), close(rstd, 1 / np.sqrt((total.asnumpy()**2).mean(-1, keepdims=True) + 1e-3))
    close(out, total.asnumpy() * rstd.asnumpy())
    close(ops.diff_ext(x, 2, 1), np.diff(x.asnumpy(), 2)), close(ops.embedding(Tensor([1, 0]), x), x.asnumpy()[::-1])
    assert ops.isnan_ext(Tensor([np.nan, 1.])).tolist() == [True, False]
    a, b, c = (Tensor(rng.normal(size=s)) for s in ((2, 3, 5), (2, 3, 4), (2, 4, 5)))
    close(ops.baddbmm_ext(a, b, c, beta=2, alpha=3), 2 * a.asnumpy() + 3 * b.asnumpy() @ c.asnumpy())
