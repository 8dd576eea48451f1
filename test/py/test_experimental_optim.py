"""experimental.optim and mint.optim: eight steps and learning rates recorded from PyTorch (in float64)."""
import json
import pathlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, mint, nn
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler as S

DATA = pathlib.Path(__file__).parent / "data"
INPUT = json.loads((DATA / "optimizers.json").read_text())
WANT = json.loads((DATA / "experimental_optim.json").read_text())
P0 = [np.array(p, np.float32) for p in INPUT["P0"]]
G = [[np.array(x, np.float32) for x in g] for g in INPUT["G"]]


def make():
    return [Parameter(Tensor(P0[0]), name="w"), Parameter(Tensor(P0[1]), name="b")]


def options(case):
    return {k: tuple(v) if isinstance(v, list) else v for k, v in case["kw"].items()}


@pytest.mark.parametrize("case", WANT["optim"], ids=lambda c: c["name"])
def test_recorded(case):
    kw = options(case)
    decay = kw.get("weight_decay", 0) if case["name"] == "Rprop" else 0
    assert decay == 0
    opt = getattr(optim, case["name"])(make(), **kw)
    for g in G + G:
        assert opt(tuple(Tensor(x) for x in g)) is True
    for p, want in zip(opt.parameters, case["last"]):
        np.testing.assert_allclose(p.asnumpy().ravel(), want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("case", WANT["sched"], ids=lambda c: c["f"][2:16])
def test_schedules(case):
    groups = [{"params": [Parameter(Tensor([0.0]), name="a")], "lr": 0.1}, {"params": [Parameter(Tensor([0.0]), name="b")], "lr": 0.2}]
    o = optim.SGD(groups, lr=0.1)
    s = eval(case["f"].replace(",cycle_momentum=False", ""), {"S": S, "o": o})
    got = [[float(g["lr"]) for g in o.param_groups]]
    for k in range(len(case["r"]) - 1):
        s.step(*([Tensor(case["m"][k])] if "m" in case else []))
        got.append([float(g["lr"]) for g in o.param_groups])
        assert [float(r) for r in s.get_last_lr()] == got[-1]
    np.testing.assert_allclose(got, case["r"], rtol=1e-4)


@pytest.mark.parametrize("name", ["Adam", "NAdam", "RAdam", "ASGD", "Rprop", "SGD"])
def test_compiled(name):
    kw = {"lr": 0.1}
    eager, other = getattr(optim, name)(make(), **kw), getattr(optim, name)(make(), **kw)
    run = ms.jit(lambda *g: other(g))
    for g in G:
        eager(tuple(Tensor(x) for x in g))
        run(*[Tensor(x) for x in g])
    for p, q in zip(eager.parameters, other.parameters):
        np.testing.assert_allclose(p.asnumpy(), q.asnumpy(), rtol=2e-6, atol=1e-7)


def test_groups_text_and_training():
    net = nn.Dense(3, 1)
    opt = mint.optim.AdamW([{"params": [net.weight], "lr": 0.1}, {"params": [net.bias], "weight_decay": 0.0}], lr=0.01)
    assert [float(g["lr"]) for g in opt.param_groups] == [pytest.approx(0.1), pytest.approx(0.01)]
    assert repr(opt).startswith("AdamW (\nParameter Group 0\n    amsgrad: False\n    betas: (0.9, 0.999)\n    eps: 1e-08\n    lr: 0.1\n")
    x, y = Tensor(np.eye(3, dtype=np.float32)), Tensor(np.ones((3, 1), np.float32))
    step = ms.value_and_grad(lambda a, b: ((net(a) - b) ** 2).mean(), None, opt.parameters)
    losses = []
    for _ in range(20):
        loss, grads = step(x, y)
        opt(grads)
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2
    opt = optim.SGD([Parameter(Tensor([1.0]), name="a")], lr=0.1)
    opt.add_param_group({"params": Parameter(Tensor([2.0]), name="b"), "lr": 1.0})
    opt((Tensor([1.0]), Tensor([1.0])))
    assert [float(p) for p in opt.parameters] == [pytest.approx(0.9), pytest.approx(1.0)]
    for text, kind in (("optim.Adam([])", ValueError), ("optim.Adam(make(), lr=-1)", ValueError),
                       ("optim.Adam(make(), betas=(1.0, 0.9))", ValueError), ("optim.SGD(make(), 0.1, nesterov=True)", ValueError),
                       ("S.StepLR(3, 1)", TypeError), ("S.ReduceLROnPlateau(opt, factor=2.0)", ValueError)):
        with pytest.raises(kind):
            eval(text)


def test_a_compiled_step_of_a_schedule():
    rates = {}
    for compiled in (False, True):
        scheduler = S.StepLR(optim.SGD(make(), lr=0.5), 2, 0.5)

        def step():
            scheduler.step()
            return scheduler.get_last_lr()[0]
        step = ms.jit(step) if compiled else step
        rates[compiled] = [float(step()) for _ in range(5)]
    assert rates[False] == rates[True] == [0.5, 0.25, 0.25, 0.125, 0.125]
