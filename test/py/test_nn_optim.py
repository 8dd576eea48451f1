"""Optimizers made of rules: values of four steps recorded from the original, the others from their papers' formulas."""
import json
import pathlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn

DATA = json.loads((pathlib.Path(__file__).parent / "data" / "optimizers.json").read_text())
P0 = [np.array(p, np.float32) for p in DATA["P0"]]
G = [[np.array(x, np.float32) for x in g] for g in DATA["G"]]


def make():
    return [Parameter(Tensor(P0[0]), name="w"), Parameter(Tensor(P0[1]), name="bias")]


def steps(opt, n=4):
    for g in G[:n]:
        opt(tuple(Tensor(x) for x in g))
    return [p.asnumpy().astype(np.float64) for p in opt.parameters]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda c: c["name"])
def test_recorded(case):
    kw = {k: tuple(v) if isinstance(v, list) else v for k, v in case["kw"].items()}
    opt = getattr(nn, case["name"])(make(), **kw)
    assert [p.name for p in opt.get_parameters()] == case["state"]
    assert repr(opt) == case["name"] + "()"
    for got, want in zip(steps(opt), case["last"]):
        np.testing.assert_allclose(got.ravel(), want, rtol=5e-6, atol=5e-6)


def test_ftrl_with_l1():
    p, g = np.array([1., -2.]), np.array([0.5, -0.25])
    opt = nn.FTRL([Parameter(Tensor(p.astype(np.float32)), name="w")], initial_accum=0.2, learning_rate=0.1, l1=0.01, l2=0.02)
    opt((Tensor(g.astype(np.float32)),))
    n = 0.2 + g * g
    z = g - (np.sqrt(n) - np.sqrt(0.2)) / 0.1 * p
    want = np.where(abs(z) > 0.01, (0.01 * np.sign(z) - z) / (np.sqrt(n) / 0.1 + 0.04), 0)
    np.testing.assert_allclose(opt.parameters[0].asnumpy(), want, rtol=1e-5)


def lamb(p, gs, lr, b1=0.9, b2=0.999, eps=1e-6, decay=0.0):
    m = v = 0
    for t, g in enumerate(gs, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        u = m / (1 - b1 ** t) / (np.sqrt(v / (1 - b2 ** t)) + eps) + decay * p
        p = p - lr * np.linalg.norm(p) / np.linalg.norm(u) * u
    return p


@pytest.mark.parametrize("decay", [0.0, 0.2])
def test_lamb(decay):
    got = steps(nn.Lamb(make(), 0.1, weight_decay=decay))
    for k in range(2):
        want = lamb(P0[k].astype(np.float64), [g[k] for g in G], 0.1, decay=decay)
        np.testing.assert_allclose(got[k], want, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("clip", [False, True])
def test_lars(clip):
    inner = nn.Momentum(make(), 0.1, 0.9, weight_decay=0.1)
    opt = nn.LARS(inner, coefficient=0.01, use_clip=clip, lars_filter=lambda x: "bias" not in x.name)
    got = steps(opt)
    assert int(opt.global_step) == 4
    for k, scaled in ((0, True), (1, False)):
        p, m = P0[k].astype(np.float64), 0
        for g in (g[k] for g in G):
            w, u = np.linalg.norm(p), np.linalg.norm(g)
            ratio = 0.01 * w / (u + 0.1 * w + 1e-5)
            ratio = (min(ratio / 0.1, 1) if clip else ratio) if scaled else 1
            m = 0.9 * m + (g + 0.1 * p) * ratio
            p = p - 0.1 * m
        np.testing.assert_allclose(got[k], p, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["AdaMax", "Adadelta", "ASGD", "Lamb", "Rprop", "ProximalAdagrad", "AdaFactor"])
def test_compiled_step_is_the_eager_one(name):
    kw = {} if name in ("AdaFactor", "Adadelta", "ProximalAdagrad") else {"learning_rate": 0.1}
    eager, other = getattr(nn, name)(make(), **kw), getattr(nn, name)(make(), **kw)
    run = ms.jit(lambda *g: other(g))
    for g in G:
        eager(tuple(Tensor(x) for x in g))
        run(*[Tensor(x) for x in g])
    for p, q in zip(eager.get_parameters(), other.get_parameters()):
        np.testing.assert_allclose(p.asnumpy(), q.asnumpy(), rtol=2e-6, atol=1e-7)


def test_gradient_centralization():
    """Of convolution weights only: what the step subtracts has mean 0 per output channel."""
    shapes, r = ((4,), (4, 3), (4, 3, 2, 2)), np.random.RandomState(0)
    params = [Parameter(Tensor(np.zeros(s, np.float32)), name=f"p{k}") for k, s in enumerate(shapes)]
    grads = [r.standard_normal(s).astype(np.float32) for s in shapes]
    nn.Momentum([{"params": params, "grad_centralization": True}], 1.0, 0.0)(tuple(map(Tensor, grads)))
    grads[2] -= grads[2].mean((1, 2, 3), keepdims=True)
    for p, g in zip(params, grads):
        np.testing.assert_allclose(p.asnumpy(), -g, 0, 1e-6)


@pytest.mark.parametrize("text,kind", [
    ("nn.AdaMax(make(), beta1=1.0)", ValueError), ("nn.Adadelta(make(), rho=1.5)", ValueError),
    ("nn.FTRL(make(), lr_power=0.5)", ValueError), ("nn.Rprop(make(), etas=(1.5, 1.2))", ValueError),
    ("nn.LARS(3)", TypeError), ("nn.AdaFactor(make(), compression=1)", TypeError),
    ("nn.Lamb(make(), 0.1, eps=0.0)", ValueError), ("nn.ASGD(make(), lambd=1)", TypeError)])
def test_refused(text, kind):
    with pytest.raises(kind):
        eval(text)


def test_adafactor_keeps_a_compressed_moment():
    plain, small = (nn.AdaFactor(make(), beta1=0.9, compression=c) for c in (False, True))
    for got, want in zip(steps(small), steps(plain)):
        np.testing.assert_allclose(got, want, 1e-3, 1e-4)
    assert [p.dtype for p in small.exp_avg] == [ms.float16] * 2 and small.exp_avg_sq_row[0].dtype == ms.float32
    np.testing.assert_allclose(small.exp_avg[0].asnumpy(), plain.exp_avg[0].asnumpy(), 2e-3, 1e-5)
