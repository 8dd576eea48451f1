"""Layers of mint.nn beside numpy and the layers of nn."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, nn
from mindspore.mint import nn as mnn

RNG = np.random.RandomState(1)
X = RNG.randn(2, 4, 6, 6).astype(np.float32)


def near(got, want, tol=1e-5):
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy() if isinstance(want, Tensor) else want, rtol=tol, atol=tol)


@pytest.mark.parametrize("mine,other", [
    ("Conv2d(4, 3, 3, 2, 1)", "Conv2d(4, 3, 3, 2, 'pad', 1, has_bias=True)"),
    ("Conv2d(4, 4, 3, padding='same', groups=2)", "Conv2d(4, 4, 3, 1, 'same', group=2, has_bias=True)"),
    ("ConvTranspose2d(4, 3, 3, 2, 1)", "Conv2dTranspose(4, 3, 3, 2, 'pad', 1, has_bias=True)")])
def test_convolutions(mine, other):
    a, b = eval("mnn." + mine), eval("nn." + other)
    assert [p.name for p in a.get_parameters()] == ["weight", "bias"]
    b.weight.set_data(a.weight)
    b.bias.set_data(a.bias)
    near(a(Tensor(X)), b(Tensor(X)), 1e-4)


def test_convolution_padding_modes_and_sizes():
    a = mnn.Conv2d(4, 3, 3, padding=1, padding_mode="reflect")
    padded = Tensor(np.pad(X, ((0, 0), (0, 0), (1, 1), (1, 1)), "reflect"))
    near(a(Tensor(X)), mint.nn.functional.conv2d(padded, a.weight, a.bias), 1e-4)
    t = mnn.ConvTranspose2d(4, 3, 3, 2, 1)
    assert t(Tensor(X), (12, 12)).shape == (2, 3, 12, 12)
    assert mnn.Conv1d(4, 2, 3)(Tensor(X[:, :, 0])).shape == (2, 2, 4)
    assert mnn.Conv3d(2, 2, 3)(Tensor(RNG.randn(1, 2, 4, 4, 4).astype(np.float32))).shape == (1, 2, 2, 2, 2)
    for bad in ("Conv2d(0, 1, 1)", "Conv2d(4, 3, 3, padding_mode='x')", "Conv2d(4, 3, 3, 2, 'same')", "Conv2d(4, 3, 3, groups=3)"):
        with pytest.raises(ValueError):
            eval("mnn." + bad)


def test_norms():
    bn = mnn.BatchNorm2d(4).set_train()
    assert [p.name for p in bn.get_parameters()] == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    mean, var = X.mean((0, 2, 3)), X.var((0, 2, 3))
    near(bn(Tensor(X)), (X - mean[:, None, None]) / np.sqrt(var + 1e-5)[:, None, None], 1e-4)
    near(bn.running_mean, 0.1 * mean)
    near(bn.running_var, 0.9 + 0.1 * var * 72 / 71)
    assert int(bn.num_batches_tracked) == 1
    near(mnn.BatchNorm2d(4, track_running_stats=False)(Tensor(X)), bn(Tensor(X)), 1e-4)
    ln = mnn.LayerNorm((6, 6))
    near(ln(Tensor(X)), (X - X.mean((2, 3), keepdims=True)) / np.sqrt(X.var((2, 3), keepdims=True) + 1e-5), 1e-4)
    gn = mnn.GroupNorm(2, 4)
    g = X.reshape(2, 2, -1)
    near(gn(Tensor(X)), ((g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5)).reshape(X.shape), 1e-4)


@pytest.mark.parametrize("layer,fn", [
    ("ReLU()", lambda x: np.maximum(x, 0)), ("Tanh()", np.tanh), ("Sigmoid()", lambda x: 1 / (1 + np.exp(-x))),
    ("SiLU()", lambda x: x / (1 + np.exp(-x))), ("ELU(0.5)", lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))),
    ("Threshold(0.1, 7.0)", lambda x: np.where(x > 0.1, x, 7)), ("ReLU6()", lambda x: np.clip(x, 0, 6)),
    ("Hardtanh(-0.5, 0.5)", lambda x: np.clip(x, -0.5, 0.5)), ("Softmax(1)", lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    ("Flatten()", lambda x: x.reshape(2, -1)), ("GLU(1)", lambda x: x[:, :2] / (1 + np.exp(-x[:, 2:]))),
    ("AvgPool2d(2)", lambda x: x.reshape(2, 4, 3, 2, 3, 2).mean((3, 5))), ("ZeroPad2d(1)", lambda x: np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))),
    ("ConstantPad1d((1, 2), 5.0)", lambda x: np.pad(x, ((0, 0),) * 3 + ((1, 2),), constant_values=5)),
    ("ReplicationPad2d(1)", lambda x: np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "edge")),
    ("UpsamplingNearest2d(scale_factor=2.0)", lambda x: x.repeat(2, 2).repeat(2, 3)),
    ("AdaptiveAvgPool2d(1)", lambda x: x.mean((2, 3), keepdims=True)), ("PReLU()", lambda x: np.where(x > 0, x, 0.25 * x)),
    ("Dropout(0.5)", lambda x: x), ("Identity()", lambda x: x)])
def test_layers(layer, fn):
    near(eval("mnn." + layer)(Tensor(X)), fn(X), 1e-5)


def test_in_place():
    x = Tensor(X)
    y = mnn.ReLU6(inplace=True)(x)
    near(x, np.clip(X, 0, 6))
    near(y, x)


def test_fold_is_the_adjoint():
    u = mnn.Unfold(3, 1, 1, 2)(Tensor(X))
    v = RNG.randn(*u.shape).astype(np.float32)
    back = mnn.Fold((6, 6), 3, 1, 1, 2)(Tensor(v))
    np.testing.assert_allclose((u.asnumpy() * v).sum(), (X * back.asnumpy()).sum(), rtol=1e-3)


def test_losses():
    a, b = Tensor(RNG.rand(3, 4).astype(np.float32)), Tensor(RNG.rand(3, 4).astype(np.float32))
    x, y = a.asnumpy(), b.asnumpy()
    near(mnn.MSELoss()(a, b), ((x - y) ** 2).mean())
    near(mnn.L1Loss("sum")(a, b), abs(x - y).sum())
    near(mnn.SmoothL1Loss(beta=0.1)(a, b), np.where(abs(x - y) < 0.1, (x - y) ** 2 / 0.2, abs(x - y) - 0.05).mean())
    near(mnn.KLDivLoss("batchmean", log_target=True)(a.log(), b.log()), (y * (np.log(y) - np.log(x))).sum() / 3)
    near(mnn.BCELoss()(a, b), -(y * np.log(x) + (1 - y) * np.log(1 - x)).mean())
    near(mnn.CrossEntropyLoss()(a, Tensor([1, 0, 3])), np.mean([-x[k, c] + np.log(np.exp(x[k]).sum()) for k, c in enumerate((1, 0, 3))]))
    near(mnn.CosineEmbeddingLoss()(a, b, Tensor([1, 1, 1])),
         (1 - (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1))).mean())
    with pytest.raises(ValueError):
        mnn.MSELoss("x")


def test_embedding_and_dropout():
    e = mnn.Embedding(5, 3, padding_idx=1)
    assert (e.weight.asnumpy()[1] == 0).all() and abs(e.weight.asnumpy()).max() > 0.3
    ids = Tensor([1, 2, 2])
    g = ms.grad(lambda i: e(i).sum(), None, e.weight)(ids).asnumpy()
    assert g[:, 0].tolist() == [0, 0, 2, 0, 0]
    d = mnn.Dropout(0.5).set_train()
    y = d(Tensor(np.ones((100, 100), np.float32))).asnumpy()
    assert set(np.unique(y)) == {0, 2} and 0.45 < (y == 0).mean() < 0.55
    near(mint.nn.functional.normalize(Tensor(X)), X / np.sqrt((X * X).sum(1, keepdims=True)), 1e-4)
