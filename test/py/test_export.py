"""Models in files: those that MindSpore wrote (data/mindir) and our own."""
import os
import pathlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

DATA = pathlib.Path(__file__).parent / "data" / "mindir"


def arrays(name, what):
    return [np.load(f) for f in sorted(DATA.glob(f"{name}.{what}*.npy"))]


def flat(y):
    return [z for part in y for z in flat(part)] if isinstance(y, (tuple, list)) else [y]


def close(got, want, tol=1e-5):
    got, want = flat(got), flat(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        a, b = (x.asnumpy() if isinstance(x, Tensor) else np.asarray(x) for x in (a, b))
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, tol, tol)


# ---- files of the original ----

@pytest.mark.parametrize("name", ["lenet_tiny", "lenet_tiny_v1", "control_flow"])
def test_foreign_model(name):
    net = nn.GraphCell(ms.load(str(DATA / f"{name}.mindir")))
    base = name.removesuffix("_v1")
    close(net(*map(Tensor, arrays(base, "input"))), arrays(base, "output"))


def test_loop_and_branch_follow_the_values():
    net = nn.GraphCell(ms.load(str(DATA / "control_flow.mindir")))
    x, i = arrays("control_flow", "input")
    turns = []
    for start in (0, 2, 3):
        turns.append(int(net(Tensor(-abs(x)), Tensor(np.asarray(start, i.dtype)))[1].asnumpy()))
    assert turns == [3, 3, 3]
    yes, no = (net(Tensor(s * abs(x)), Tensor(np.asarray(3, i.dtype)))[0].asnumpy() for s in (1, -1))
    np.testing.assert_allclose(no, np.tanh(-abs(x)), 1e-6)
    assert abs(yes - np.tanh(abs(x))).max() > 1e-3


def test_parameters_of_a_loaded_model():
    graph = ms.load(str(DATA / "lenet_tiny.mindir"))
    x, = arrays("lenet_tiny", "input")
    net = nn.GraphCell(graph)
    names = [p.name for p in net.get_parameters()]
    assert sorted(names) == ["conv1.bias", "conv1.weight", "conv2.weight", "fc1.bias", "fc1.weight", "fc2.bias", "fc2.weight"]
    bias = np.arange(10, dtype=np.float32)
    moved = nn.GraphCell(graph, params_init={"fc2.bias": Tensor(bias)})
    old = {p.name: p.asnumpy() for p in net.get_parameters()}["fc2.bias"]
    close(moved(Tensor(x)), net(Tensor(x)).asnumpy() - old + bias)
    grads = ms.grad(lambda a: net(a).sum(), None, net.trainable_params())(Tensor(x))
    assert dict(zip([p.name for p in net.trainable_params()], grads))["fc2.bias"].asnumpy() == pytest.approx(2 * np.ones(10))


@pytest.mark.parametrize("call, error, text", [
    (lambda: ms.load("nowhere.mindir"), ValueError, "does not exist"),
    (lambda: ms.load("nowhere"), ValueError, "should end with '.mindir'"),
    (lambda: ms.load(3), ValueError, "must be string"),
    (lambda: nn.GraphCell(3), TypeError, "must be a FuncGraph"),
    (lambda: nn.GraphCell(ms.load(str(DATA / "lenet_tiny.mindir")), params_init=3), TypeError, "must be a dict"),
    (lambda: nn.GraphCell(ms.load(str(DATA / "lenet_tiny.mindir")))(), ValueError, "takes 1 inputs"),
])
def test_errors_of_loading(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_damaged_files(tmp_path):
    whole = (DATA / "lenet_tiny.mindir").read_bytes()
    path = tmp_path / "m.mindir"
    for content in (b"hello", whole[:5000], whole[:-1], whole[:300] + b"\xff" * 8 + whole[308:]):
        path.write_bytes(content)
        with pytest.raises(RuntimeError, match="Load MindIR failed"):
            nn.GraphCell(ms.load(str(path)))(Tensor(np.zeros((2, 1, 14, 14), np.float32)))
