"""Less common layers and losses; values recorded from the original where it has a CPU kernel, else from definitions."""
import itertools

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common._rows import nn as rows

RNG = np.random.RandomState(0)
X = RNG.rand(2, 3, 8, 8).astype(np.float32)
M = np.arange(6).reshape(2, 3).astype(np.float32)
L = np.array([[[-3, 1, 2, -1, 5, .5]]], np.float32)
V = np.arange(27).reshape(1, 1, 3, 3, 3).astype(np.float32)


def near(got, want, tol=1e-4):
    np.testing.assert_allclose(got.asnumpy().ravel()[:np.size(want)], np.ravel(want), rtol=tol, atol=tol)


@pytest.mark.parametrize("text,want", [
    ("nn.ClipByNorm()(T(M), Tensor(2.0))", [0, 0.26968, 0.53936, 0.80904, 1.07872, 1.3484]),
    ("nn.Norm()(T(M))", [7.4162]), ("nn.Norm(1, True)(T(M))", [2.23607, 7.07107]),
    ("nn.Moments()(T(M))[1]", [2.91667]), ("nn.Moments(axis=0, keep_dims=True)(T(M))[0]", [1.5, 2.5, 3.5]),
    ("nn.ReduceLogSumExp(1)(T(M))", [2.4076, 5.40761]), ("nn.Range(1, 8, 2)()", [1, 3, 5, 7]), ("nn.Range(0., 1., .25)()", [0, .25, .5]),
    ("nn.Roll(1, 1)(T(M))", [2, 0, 1, 5, 3, 4]), ("nn.Tril()(T(M))", [0, 0, 0, 3, 4, 0]), ("nn.Triu()(T(M), 1)", [0, 1, 2, 0, 0, 5]),
    ("nn.MatrixDiagPart()(T(M))", [0, 4]), ("nn.MatrixSetDiag()(T(M), Tensor([7., 8.]))", [7, 1, 2, 3, 8, 5]),
    ("nn.LRN()(T(X))", [0.41185, 0.5435, 0.38753, 0.44636, 0.30735]),
    ("nn.LPPool1d(2, 3, 2)(T(X[0]))", [1.08444, 0.91635, 0.88778, 1.3048]),
    ("nn.LPPool2d(2, 3, 2, True)(T(X))", [2.04394, 2.09501, 1.94471, 1.65298]),
    ("nn.CentralCrop(.5)(T(X))", [0.77816, 0.87001, 0.97862, 0.79916]), ("nn.L1Regularizer(.5)(T(M))", [7.5]),
    ("nn.ImageGradients()(T(X))[1]", [0.16638, -0.11243, -0.05788, -0.12123]),
    ("nn.MatMul(True)(T(M), T(M))", [9, 12, 15, 12]), ("nn.IGamma()(Tensor([1., 2., 3.]), Tensor([1., 2., 3.]))", [0.63212, 0.59399]),
    ("nn.LBeta()(Tensor([1., 2., 3.]), Tensor([1., 2., 3.]))", [0, -1.79176, -3.4012]),
    ("nn.LPPool1d(1, 2)(T(L))", [-2, 1, 5.5]), ("nn.LPPool1d(3, 2)(T(L))", [np.nan, 1.91293, 5.00167]),
    ("nn.AvgPool3d(2, 2, 'same')(T(V))", [6.5, 4, 5.5, 3.125, 10, 5.375, 6.125, 3.25]),
    ("nn.AvgPool3d(2, 2, 'same', count_include_pad=False)(T(V))", [6.5, 8, 11, 12.5, 20, 21.5]),
    ("nn.DiceLoss(0.5)(T(M / 6), T(M / 7))", [0.16862]), ("nn.DiceLoss()(T(M / 6), T(M / 7))", [0.01177]), ("nn.MultiClassDiceLoss()(T(M), T(M / 7))", [0.32135]),
    ("nn.FocalLoss()(T(M), Tensor([[1, 0, 1], [0, 1, 1]], ms.int32))", [0.48132]),
    ("nn.FocalLoss(Tensor([1., 2., 3.]), 1.5, 'none')(T(M), Tensor([[1], [2]], ms.int32))", [1.84784, 0.23684]),
    ("nn.TripletMarginWithDistanceLoss()(T(M), T(M + 1), T(M * 2))", [0.24799]),
    ("nn.TripletMarginWithDistanceLoss(lambda a, b: (a - b).abs().sum(-1), True, 'none', 2.0)(T(M), T(M + 1), T(M * 2))", [3, 0]),
    ("nn.FractionalMaxPool2d(3, (4, 4), _random_samples=T(np.full((2, 3, 2), .3, np.float32)))(T(X))",
     [0.96366, 0.97862, 0.97862, 0.9256, 0.83262]),
])
def test_values(text, want):
    T = Tensor
    near(eval(text), want)


def test_range_and_psnr():
    assert nn.Range(3)().dtype == ms.int32
    near(nn.PSNR()(Tensor(X), Tensor(X * 0.9)), 10 * np.log10(1 / ((X * 0.1) ** 2).mean((1, 2, 3))))


def ssim(a, b, sigma=1.5, n=11):
    g = np.exp(-(np.arange(n) - n // 2) ** 2 / (2 * sigma ** 2))
    g = np.outer(g, g) / g.sum() ** 2
    smooth = lambda x: np.array([[(x[i:i + n, j:j + n] * g).sum() for j in range(x.shape[1] - n + 1)] for i in range(x.shape[0] - n + 1)])
    ma, mb = smooth(a), smooth(b)
    va, vb, c = smooth(a * a) - ma ** 2, smooth(b * b) - mb ** 2, smooth(a * b) - ma * mb
    return ((2 * ma * mb + 1e-4) * (2 * c + 9e-4) / ((ma ** 2 + mb ** 2 + 1e-4) * (va + vb + 9e-4))).mean()


def test_ssim():
    a, b = RNG.rand(1, 1, 16, 14), RNG.rand(1, 1, 16, 14)
    near(nn.SSIM()(Tensor(a.astype(np.float32)), Tensor(b.astype(np.float32))), ssim(a[0, 0], b[0, 0]), 1e-3)
    a = RNG.rand(1, 1, 64, 64).astype(np.float32)
    near(nn.MSSSIM(power_factors=(0.4, 0.6))(Tensor(a), Tensor(a)), [1.0], 1e-4)


def test_patches():
    w = RNG.randn(2, 3, 3, 3).astype(np.float32)
    for pad, stride in (("valid", 2), ("same", 1)):
        p = nn.Unfold([1, 3, 3, 1], [1, stride, stride, 1], [1, 1, 1, 1], pad)(Tensor(X)).asnumpy()
        y = np.einsum("nkhw,ok->nohw", p, w.reshape(2, 27))
        near(nn.Conv2d(3, 2, 3, stride, pad, weight_init=Tensor(w))(Tensor(X)), y, 1e-4)
    u = rows.unfold(Tensor(X), 3, 2, 1, 2)
    v = Tensor(RNG.rand(*u.shape).astype(np.float32))
    # folding is the adjoint of unfolding
    near((u * v).sum(), (X * rows.fold(v, (8, 8), 3, 2, 1, 2).asnumpy()).sum(), 1e-3)
    with pytest.raises(ValueError):
        nn.Unfold([1, 3, 3, 2], [1, 1, 1, 1], [1, 1, 1, 1])


def test_unpooling():
    pool = nn.MaxPool2d(2, 2, return_indices=True, pad_mode="pad")
    y, places = pool(Tensor(X))
    back = nn.MaxUnpool2d(2, 2)(y, places).asnumpy()
    assert back.shape == X.shape and np.array_equal(back[back != 0], X[back != 0])
    assert np.array_equal(pool(Tensor(back))[0].asnumpy(), y.asnumpy())
    assert nn.MaxUnpool2d(2, 2)(y, places, (9, 8)).shape == (2, 3, 9, 8)
    with pytest.raises(ValueError):
        nn.MaxUnpool2d(2, 2)(y, places, (20, 8))


def ctc(lp, target, steps):
    """By enumeration of all alignments."""
    total = 0.0
    for path in itertools.product(range(lp.shape[1]), repeat=steps):
        short = [k for k, _ in itertools.groupby(path) if k != 0]
        if short == list(target):
            total += np.exp(sum(lp[t, k] for t, k in enumerate(path)))
    return -np.log(total) if total else np.inf


def test_ctc():
    lp = np.log(RNG.dirichlet(np.ones(3), (5, 3))).astype(np.float32)
    targets, inputs, lengths = [[1, 2], [2, 2], [1, 1]], [5, 4, 2], [2, 2, 2]
    want = [ctc(lp[:, b], targets[b], inputs[b]) for b in range(3)]
    args = (Tensor(targets, ms.int32), Tensor(inputs, ms.int32), Tensor(lengths, ms.int32))
    near(nn.CTCLoss(reduction="none")(Tensor(lp), *args), want)
    near(nn.CTCLoss(reduction="none", zero_infinity=True)(Tensor(lp), *args), [*want[:2], 0])
    loss = nn.CTCLoss(zero_infinity=True)
    near(loss(Tensor(lp), *args), np.mean([want[0] / 2, want[1] / 2, 0]))
    g = ms.grad(lambda x: loss(ops.log_softmax(x, -1), *args))(Tensor(lp)).asnumpy()
    for at in ((0, 0, 1), (2, 1, 2), (3, 0, 0)):
        moved = [lp.copy(), lp.copy()]
        moved[0][at] += 1e-2
        moved[1][at] -= 1e-2
        up, down = [float(loss(ops.log_softmax(Tensor(m), -1), *args)) for m in moved]
        assert abs((up - down) / 2e-2 - g[at]) < 2e-3
    assert np.isfinite(g).all()


def test_combined_and_sync_norm():
    names = [p.name for p in nn.Conv2dBnAct(3, 4, 3, has_bn=True, activation="leakyrelu").get_parameters()]
    assert names == ["conv.weight", "batchnorm.moving_mean", "batchnorm.moving_variance", "batchnorm.gamma", "batchnorm.beta"]
    assert nn.DenseBnAct(3, 4, has_bn=True, activation="relu")(Tensor(M)).shape == (2, 4)
    a, b = nn.SyncBatchNorm(3).set_train(), nn.BatchNorm2d(3).set_train()
    near(a(Tensor(X)), b(Tensor(X)).asnumpy(), 1e-6)
    assert repr(a).startswith("SyncBatchNorm(num_features=3, eps=1e-05")


def test_multi_field_embedding():
    ids = Tensor([[2, 4, 6, 0, 0], [1, 3, 5, 0, 0]], ms.int32)
    values = Tensor([[1, 1, 1, 0, 0], [1, 2, 1, 0, 0]], ms.float32)
    fields = Tensor([[0, 1, 1, 0, 0], [0, 0, 2, 0, 0]], ms.int32)
    for operator, fn in (("SUM", sum), ("MEAN", None), ("MAX", None)):
        net = nn.MultiFieldEmbeddingLookup(10, 2, 3, operator=operator)
        y, t = net(ids, values, fields).asnumpy(), net.embedding_table.asnumpy()
        assert y.shape == (2, 3, 2)
        if fn:
            near(Tensor(y[0, 1]), t[4] + t[6], 1e-6)
            near(Tensor(y[1, 0]), t[1] + 2 * t[3], 1e-6)


def test_sampled_softmax():
    w, b = Tensor(RNG.rand(5, 3).astype(np.float32)), Tensor(np.zeros(5, np.float32))
    labels = Tensor([[0], [1]], ms.int32)
    fixed = (Tensor([0, 3, 4], ms.int32), Tensor([[0.5], [0.5]]), Tensor([0.5, 0.25, 0.25]))
    got = nn.SampledSoftmaxLoss(3, 5, 1, fixed)(w, b, labels, Tensor(M)).asnumpy()
    s = M @ w.asnumpy().T - np.log([0.5, 0.5, 1, 0.25, 0.25])
    for k, keep in ((0, [0, 3, 4]), (1, [1, 0, 3, 4])):
        np.testing.assert_allclose(got[k], -s[k, k] + np.log(np.exp(s[k, keep]).sum()), rtol=1e-5)
    assert nn.SampledSoftmaxLoss(3, 5, 1)(w, b, labels, Tensor(M)).shape == (2,)


def test_pipeline_cells():
    net = nn.WithLossCell(nn.Dense(3, 1), nn.MSELoss())
    x, y = Tensor(RNG.rand(4, 3).astype(np.float32)), Tensor(RNG.rand(4, 1).astype(np.float32))
    near(nn.MicroBatchInterleaved(net, 2)(x, y), net(x, y).asnumpy(), 1e-5)
    near(nn.PipelineCell(net, 4)(x, y), 4 * net(x, y).asnumpy(), 1e-5)
    with pytest.raises(ValueError):
        nn.PipelineCell(net, 3)(x, y)
    with pytest.raises(RuntimeError):
        nn.GetNextSingleOp([], [], "q")
    assert nn.TimeDistributed(nn.Dense(3, 2), 1)(Tensor(RNG.rand(4, 5, 3).astype(np.float32))).shape == (4, 5, 2)
    for bad in (0, 2.0):
        with pytest.raises((ValueError, TypeError)):
            nn.MicroBatchInterleaved(net, bad)
