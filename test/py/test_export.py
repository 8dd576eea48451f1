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

@pytest.mark.parametrize("name", ["lenet_tiny", "lenet_tiny_v1", "control_flow", "encoder_layer", "lstm"])
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


# ---- our own files ----

class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="same", has_bias=True)
        self.norm = nn.BatchNorm2d(16)
        self.pool = nn.MaxPool2d(2, 2)
        self.flat = nn.Flatten()
        self.fc1 = nn.Dense(16 * 6 * 6, 32)
        self.fc2 = nn.Dense(32, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.norm(self.conv2(x))))
        return ops.softmax(self.fc2(ops.relu(self.fc1(self.flat(x)))))


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 8)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm((8,))
        self.up, self.down = nn.Dense(8, 16), nn.Dense(16, 8)
        self.step = nn.LSTM(8, 5, batch_first=True)

    def construct(self, ids):
        x = self.table(ids)
        y, _ = self.attend(x, x, x)
        x = self.norm(x + y)
        x = x + self.down(ops.gelu(self.up(x), approximate="none"))
        y, (h, _) = self.step(x)
        return y[:, -1], (h, None)


IMAGES = np.random.default_rng(0).standard_normal((2, 1, 28, 28)).astype(np.float32)
IDS = np.array([[1, 2, 3, 4], [10, 0, 5, 1]], np.int32)


@pytest.mark.parametrize("make, x", [(LeNet, IMAGES), (Encoder, IDS)])
def test_round_trip(tmp_path, make, x):
    net = make().set_train(False)
    ms.export(net, Tensor(x), file_name=str(tmp_path / "sub" / "net"), file_format="MINDIR")
    path = tmp_path / "sub" / "net.mindir"
    assert os.stat(path).st_mode & 0o777 == 0o400
    loaded = nn.GraphCell(ms.load(str(path)))
    assert {p.name for p in loaded.get_parameters()} <= {p.name for p in net.get_parameters()}
    got, want = flat(loaded(Tensor(x))), flat(net(Tensor(x)))
    assert [y is None for y in got] == [y is None for y in want]
    close([y for y in got if y is not None], [y for y in want if y is not None])


def test_tensors_in_containers(tmp_path):
    class Sum(nn.Cell):
        def construct(self, xs, scale):
            return (xs[0] + xs[1]) * scale

    xs = [Tensor(np.float32([1, 2])), Tensor(np.float32([3, 5]))]
    ms.export(Sum(), xs, Tensor(np.float32(2)), file_name=str(tmp_path / "net"), file_format="MINDIR")
    net = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    assert net(xs, Tensor(np.float32(2))).asnumpy().tolist() == [8, 14]


def test_written_parameters(tmp_path):
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(np.zeros(3, np.float32), name="count")

        def construct(self, x):
            y, old = x + self.count, ops.deepcopy(self.count)
            self.count += 1.0
            return y, old

    x = Tensor(np.arange(3, dtype=np.float32))
    ms.export(Counter(), x, file_name=str(tmp_path / "net"), file_format="MINDIR")
    net = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    for k in range(3):
        close(net(x), [np.arange(3, dtype=np.float32) + k, np.full(3, k, np.float32)])
    assert net.trainable_params()[0].asnumpy().tolist() == [3, 3, 3]


def test_a_write_behind_a_call(tmp_path):
    class Caller(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(np.zeros((), np.float32), name="count")

        def construct(self, x):
            if x.sum() > 0:
                y = x * 2
            else:
                y = x - 1
            self.count += 1.0
            return y

    x = Tensor(np.ones(3, np.float32))
    ms.export(Caller(), x, file_name=str(tmp_path / "net"), file_format="MINDIR")
    net = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    for k in (1, -1, 1):
        close(net(x * k), x * 2 if k > 0 else x * k - 1)
    assert net.trainable_params()[0].asnumpy() == 3


def test_weights_in_files_of_their_own(tmp_path, monkeypatch):
    from mindspore.train import model_files
    monkeypatch.setattr(model_files, "_SPLIT", 100)
    net = LeNet().set_train(False)
    ms.export(net, Tensor(IMAGES), file_name=str(tmp_path / "big"), file_format="MINDIR")
    assert not (tmp_path / "big.mindir").exists()
    assert os.stat(tmp_path / "big_graph.mindir").st_size < 20000
    size = os.stat(tmp_path / "big_variables" / "data_0").st_size
    assert size % 64 == 0 and size >= sum(4 * p.size for p in net.get_parameters())
    close(nn.GraphCell(ms.load(str(tmp_path / "big_graph.mindir")))(Tensor(IMAGES)), net(Tensor(IMAGES)))
    for kind in ("MINDIR", "ONNX"):
        with pytest.raises(NotImplementedError, match="cannot be encrypted"):
            ms.export(net, Tensor(IMAGES), file_name=str(tmp_path / "secret"), file_format=kind, enc_key=b"0" * 16)
    assert not [f for f in os.listdir(tmp_path) if "secret" in f]


def test_encryption_by_functions(tmp_path):
    def swap(content, key):
        return bytes(b ^ key[0] for b in content)

    path = str(tmp_path / "net.mindir")
    net, x = nn.Dense(3, 2), Tensor(np.ones((1, 3), np.float32))
    ms.export(net, x, file_name=path, file_format="MINDIR", enc_key=b"k", enc_mode=swap)
    with pytest.raises(RuntimeError, match="Load MindIR failed"):
        ms.load(path)
    graph = ms.load(path, dec_key=b"k", dec_mode=lambda p, key: swap(pathlib.Path(p).read_bytes(), key))
    close(nn.GraphCell(graph)(x), net(x))


@pytest.mark.parametrize("mode", ["AES-GCM", "AES-CBC", "SM4-CBC"])
def test_encryption(tmp_path, mode):
    path, key = str(tmp_path / "net.mindir"), b"0123456789abcdef"
    net, x = nn.Dense(3, 2), Tensor(np.ones((1, 3), np.float32))
    ms.export(net, x, file_name=path, file_format="MINDIR", enc_key=key, enc_mode=mode)
    assert b"MatMul" not in pathlib.Path(path).read_bytes()
    close(nn.GraphCell(ms.load(path, dec_key=key, dec_mode=mode))(x), net(x))
    for kw in (dict(), dict(dec_key=b"0" * 16, dec_mode=mode)):
        with pytest.raises(RuntimeError, match="Load MindIR failed"):
            ms.load(path, **kw)


class Loop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.step = nn.Dense(3, 3, weight_init=Tensor(np.eye(3, dtype=np.float32) * 1.5), bias_init="zeros")

    def construct(self, x):
        k = ops.zeros((), ms.int32)
        while k < 5:
            x = self.step(x) + 1
            if x.sum() > 10:
                return x, k
            elif x.sum() < 0:
                x = -x
            k += 1
        return x * 2, k


class Eigen(nn.Cell):
    def construct(self, x):
        return ops.svd(x, compute_uv=False)


def test_branches_and_loops(tmp_path):
    net = Loop()
    ms.export(net, Tensor(np.ones((1, 3), np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")
    loaded = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    ends = set()
    for scale in (-3, -1, 0, 1, 30):
        x = Tensor(np.full((1, 3), scale, np.float32))
        close(loaded(x), net(x))
        ends.add(int(net(x)[1].asnumpy()))
    assert len(ends) > 1


@pytest.mark.parametrize("call, error, text", [
    (lambda net, x: ms.export(net, x, file_name="a", file_format="XX"), ValueError, "'file_format' must be one of"),
    (lambda net, x: ms.export(net, x, file_name=3, file_format="MINDIR"), TypeError, "must be string"),
    (lambda net, x: ms.export(net, file_name="a", file_format="MINDIR"), TypeError, "missing 1 required"),
    (lambda net, x: ms.export(3, x, file_name="a", file_format="MINDIR"), TypeError, "a Cell or a function"),
    (lambda net, x: ms.export(net, x, file_name="a", file_format="AIR"), ValueError, "Ascend backend"),
    (lambda net, x: ms.export(net, x, file_name="a", file_format="MINDIR", enc_key=b"k"), ValueError, "16, 24 or 32"),
    (lambda net, x: ms.export(net, x, file_name="a", file_format="MINDIR", enc_key=b"k", enc_mode="X"), ValueError, "AES-GCM"),
    (lambda net, x: ms.export(Loop(), x, file_name="a", file_format="ONNX"), NotImplementedError, "operator 'while'"),
    (lambda net, x: ms.export(Eigen(), x, file_name="a", file_format="MINDIR"), NotImplementedError, "operator 'svd'"),
])
def test_errors_of_export(tmp_path, monkeypatch, call, error, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        call(nn.Dense(3, 2), Tensor(np.ones((1, 3), np.float32)))
    assert not list(tmp_path.iterdir())


# ---- open sizes ----

@pytest.mark.parametrize("make, dtype, tail, shape", [
    (LeNet, ms.float32, (1, 28, 28), (5, 1, 28, 28)), (lambda: nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), ms.float32, (6, 3), (2, 6, 3))])
@pytest.mark.parametrize("size", [None, ms.Symbol(max=64, min=2)])
def test_open_batch(tmp_path, make, dtype, tail, shape, size):
    net = make().set_train(False)
    ms.export(net, Tensor(shape=[size, *tail], dtype=dtype), file_name=str(tmp_path / "net"), file_format="MINDIR")
    loaded = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    for n in shape[0], 1:
        x = Tensor(np.random.default_rng(n).standard_normal((n, *shape[1:])).astype(np.float32))
        close(loaded(x), net(x))


def test_what_depends_on_an_open_size_is_refused(tmp_path):
    class Mean(nn.Cell):
        def construct(self, x):
            return x.sum(0) / x.shape[0]

    with pytest.raises(NotImplementedError, match="open"):
        ms.export(Mean(), Tensor(shape=[None, 3], dtype=ms.float32), file_name=str(tmp_path / "net"), file_format="MINDIR")


def test_symbol():
    assert ms.Symbol(max=10, min=2, divisor=2).to_dict() == {"max": 10, "divisor": 2}
    assert ms.Symbol().to_dict() == {} and ms.Symbol(min=5).to_dict() == {"min": 5}
    assert Tensor(shape=(ms.Symbol(max=3), 4), dtype=ms.float32).shape == (-1, 4)
    for kwargs, error in (({"divisor": 0}, ValueError), ({"min": 0}, ValueError), ({"max": "a"}, TypeError), ({"unique": 3}, TypeError),
                          ({"remainder": 5, "divisor": 3}, ValueError), ({"max": 1.5}, TypeError)):
        with pytest.raises(error, match="For 'Symbol'"):
            ms.Symbol(**kwargs)


# ---- ONNX ----

@pytest.mark.parametrize("make, x", [(LeNet, IMAGES), (Encoder, IDS)])
def test_onnx(tmp_path, make, x):
    ort = pytest.importorskip("onnxruntime")
    net = make()
    path = str(tmp_path / "net.onnx")
    ms.export(net, Tensor(x), file_name=path, file_format="ONNX")
    got = ort.InferenceSession(path).run(None, {"x" if make is LeNet else "ids": x})
    close(got, [y for y in flat(net.set_train(False)(Tensor(x))) if y is not None])


def test_onnx_names_and_open_axes(tmp_path):
    ort = pytest.importorskip("onnxruntime")
    net, path = LeNet().set_train(False), str(tmp_path / "net.onnx")
    ms.onnx.export(net, Tensor(IMAGES), file_name=path, input_names=["image"], output_names=["score"], dynamic_axes={"image": {0: "n"}})
    session = ort.InferenceSession(path)
    five = np.concatenate([IMAGES, IMAGES, IMAGES[:1]])
    close(session.run(["score"], {"image": five}), [net(Tensor(five))])


def test_models_are_copied(tmp_path):
    model = ms.load_mindir(str(DATA / "lenet_tiny.mindir"))
    assert model["mind_ir_version"] == 3 and len(model["graph"]["parameter"]) == 7
    ms.save_mindir(model, str(tmp_path / "copy"))
    assert (tmp_path / "copy.mindir").read_bytes() == (DATA / "lenet_tiny.mindir").read_bytes()
