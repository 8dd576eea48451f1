"""Cells, parameters, initializers, layers and losses; expected values were recorded from the original or follow numpy."""
import copy
import pickle

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn
from mindspore.common import initializer as init
from mindspore.common.initializer import initializer


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(2, 3)
        self.bn = nn.BatchNorm1d(3)
        self.w = Parameter(Tensor(np.ones(2, np.float32)))
        self.v = Parameter(Tensor(np.ones(2, np.float32)), name="myv")
        self.seq = nn.SequentialCell(nn.Dense(3, 3), nn.ReLU(), nn.SequentialCell([nn.BatchNorm2d(3)]))
        self.lst = nn.CellList([nn.Dense(1, 1)])
        self.dct = nn.CellDict({"a": nn.Dense(1, 1)})
        self.k = 3
        self.pt = ParameterTuple([Parameter(Tensor([1.]), name="p1"), Parameter(Tensor([2.]), name="p2")])

    def construct(self, x):
        return self.fc1(x)


PATHS = ["w", "v", "p1", "p2", "fc1.weight", "fc1.bias", "bn.moving_mean", "bn.moving_variance", "bn.gamma", "bn.beta",
         "seq.0.weight", "seq.0.bias", "seq.2.0.moving_mean", "seq.2.0.moving_variance", "seq.2.0.gamma", "seq.2.0.beta",
         "lst.0.weight", "lst.0.bias", "dct.a.weight", "dct.a.bias"]
NAMES = [p.replace("v", "myv") if p == "v" else p for p in PATHS]


def names(cell):
    return [p.name for p in cell.get_parameters()]


def test_names():
    n = Net()
    assert names(n) == NAMES and list(n.parameters_dict()) == NAMES
    assert [k for k, _ in n.parameters_and_names()] == PATHS == list(n.state_dict())
    assert [k for k, _ in n.parameters_and_names("zz")] == ["zz." + p for p in PATHS]
    assert [p.name for p in n.untrainable_params()] == [p for p in NAMES if "moving" in p]
    assert [k for k, _ in n.cells_and_names()] == ["", "fc1", "bn", "seq", "seq.0", "seq.1", "seq.2", "seq.2.0", "lst", "lst.0",
                                                   "dct", "dct.a"]
    assert list(n.name_cells()) == ["fc1", "bn", "seq", "lst", "dct"]
    assert names(nn.BatchNorm2d(2)) == ["mean", "variance", "gamma", "beta"]
    n.update_parameters_name("x.")
    assert names(n) == ["x." + p for p in PATHS]


def test_shared_cell_and_same_names():
    class Shared(nn.Cell):
        def __init__(self):
            super().__init__()
            a = nn.Dense(1, 1)
            self.a, self.b = a, a
    s = Shared()
    assert names(s) == ["b.weight", "b.bias"] and [k for k, _ in s.parameters_and_names()] == ["a.weight", "a.bias"]
    assert list(s.name_cells()) == ["a"]
    c = nn.Cell()
    c.a, c.b = Parameter(1.0, name="same"), Parameter(1.0, name="same")
    with pytest.raises(ValueError, match="'same' already exists"):
        c.check_names()


def test_attributes():
    n = Net()
    version = n._ms_version
    n.k = 4
    assert n._ms_version > version
    del n.lst
    assert "lst.0.weight" not in names(n)
    n.w = None
    assert "w" not in names(n) and n.w is None
    n.v = Tensor([3., 4.])
    assert isinstance(n.v, Parameter) and n.v.tolist() == [3, 4]
    with pytest.raises(KeyError, match="fc1 parameter already exists"):
        n.fc1 = Parameter(1.0)
    with pytest.raises(TypeError, match="Sub cell 'fc1' already exists"):
        n.fc1 = 3
    n.bn = nn.Dense(1, 1)
    assert "bn.weight" in names(n) and "bn.gamma" not in names(n)
    n.insert_child_to_cell("zz", nn.Dense(1, 1))
    assert names(n)[-2:] == ["weight", "bias"]
    n.insert_param_to_cell("pp", Parameter(Tensor([1.])))
    assert n.pp.name == "pp"
    for name, error in (("p.p", "should not contain"), ("seq", "already exists")):
        with pytest.raises(KeyError, match=error):
            n.insert_param_to_cell(name, Parameter(Tensor([1.])))
    with pytest.raises(TypeError, match="must be 'Parameter'"):
        n.insert_param_to_cell("q", 3)
    with pytest.raises(TypeError, match="must be 'Cell'"):
        n.insert_child_to_cell("q", 3)
    with pytest.raises(AttributeError, match="The 'Net' object has no attribute 'foo'"):
        n.foo
    with pytest.raises(AttributeError, match="'construct' is not defined"):
        nn.Cell()()

    class NoSuper(nn.Cell):
        def __init__(self):
            self.fc = nn.Dense(1, 1)
    with pytest.raises(AttributeError, match="_auto_prefix"):
        NoSuper()


def test_modes_and_freezing():
    n = Net()
    assert not n.training and not n.seq[2][0].training
    assert n.set_train() is n and n.seq[2][0].training and n.phase == "train"
    n.set_train(False)
    assert not n.fc1.training and n.phase == "predict"
    n.fc1.weight.requires_grad = False
    assert "fc1.weight" not in [p.name for p in n.trainable_params()]
    assert n.set_grad() is n and n.requires_grad
    seen = []
    n.apply(lambda c: seen.append(type(c).__name__))
    assert seen[0] == "Dense" and seen[-1] == "Net"


REPR = """Net(
  (fc1): Dense(input_channels=2, output_channels=3, has_bias=True)
  (act): ReLU()
  (seq): SequentialCell(
    (0): Dense(
      input_channels=2, output_channels=3, has_bias=True, activation=ReLU()
      (activation): ReLU()
    )
    (1): Dropout(p=0.2)
  )
)"""


def test_repr():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(2, 3)
            self.act = nn.ReLU()
            self.seq = nn.SequentialCell(nn.Dense(2, 3, activation="relu"), nn.Dropout(p=0.2))
    assert repr(Net()) == REPR
    assert repr(nn.Dense(2, 3, has_bias=False)) == "Dense(input_channels=2, output_channels=3)"
    assert repr(nn.MaxPool1d(2)) == "MaxPool1d(kernel_size=(1, 2), stride=(1, 1), pad_mode=VALID)"
    assert repr(nn.AvgPool2d(2, 2)) == "AvgPool2d(kernel_size=2, stride=2, pad_mode=VALID)"
    text = repr(nn.Conv1d(2, 3, 4))
    assert text.startswith("Conv1d(input_channels=2, output_channels=3, kernel_size=(1, 4), stride=(1, 1), pad_mode=same, "
                           "padding=(0, 0, 0, 0), dilation=(1, 1), group=1, has_bias=False, weight_init=")
    p = "Parameter (name={}, shape=(3,), dtype=Float32, requires_grad={})"
    assert repr(nn.BatchNorm2d(3)) == (
        f"BatchNorm2d(num_features=3, eps=1e-05, momentum=0.9, gamma={p.format('gamma', True)}, beta={p.format('beta', True)}, "
        f"moving_mean={p.format('mean', False)}, moving_variance={p.format('variance', False)})")
    assert repr(nn.Embedding(4, 5)) == (
        "Embedding(vocab_size=4, embedding_size=5, use_one_hot=False, embedding_table=Parameter (name=embedding_table, "
        "shape=(4, 5), dtype=Float32, requires_grad=True), dtype=Float32, padding_idx=None)")


def test_hooks():
    class Double(nn.Cell):
        def construct(self, x, y=2):
            return x * y
    h, seen = Double(), []
    pre = h.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1,))
    post = h.register_forward_hook(lambda cell, inputs, output: seen.append(inputs[0].item()) or output * 10)
    assert h(Tensor(1.)).item() == 40 and seen == [2]
    pre.remove()
    assert h(Tensor(1.)).item() == 20
    post.remove()
    assert h(Tensor(1.), y=4).item() == 4 and h._ms_plain is False
    with pytest.raises(TypeError, match="callable hook"):
        h.register_forward_hook(3)
    with pytest.raises(TypeError, match="positional arguments"):
        h(1, 2, 3)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_cell_list_of_a_chain(mode):
    ms.set_context(mode=mode)
    try:
        seq = nn.SequentialCell(nn.ReLU(), nn.Dense(2, 3), nn.Softmax())
        x = Tensor(np.float32([[1, -2]]))
        assert [type(c).__name__ for c in seq.cell_list] == ["ReLU", "Dense", "Softmax"]
        np.testing.assert_allclose(seq(x).asnumpy().sum(), 1, 1e-6)
        dense = seq[1]
        seq.cell_list = [dense, nn.Tanh()]  # what is assigned is what runs
        np.testing.assert_allclose(seq(x).asnumpy(), np.tanh(dense(x).asnumpy()), 1e-6)
        assert len(seq) == 2 and names(seq) == ["1.weight", "1.bias"]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_containers():
    lst = nn.CellList([nn.ReLU()])
    lst.append(nn.Dense(1, 2))
    lst.insert(0, nn.Tanh())
    assert [type(c).__name__ for c in lst] == ["Tanh", "ReLU", "Dense"] and names(lst) == ["2.weight", "2.bias"]
    assert isinstance(lst[-1], nn.Dense) and len(lst[1:]) == 2
    del lst[0]
    assert names(lst) == ["1.weight", "1.bias"]
    for bad, error in ((3, IndexError), ("a", TypeError)):
        with pytest.raises(error):
            lst[bad]
    for make in (lambda: nn.CellList(3), lambda: nn.CellList([3]), lambda: nn.SequentialCell(3), lambda: nn.CellDict(3),
                 lambda: nn.CellDict({"a": 3}), lambda: nn.SequentialCell([nn.ReLU(), 3])):
        with pytest.raises(TypeError):
            make()

    class Holder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.seq = nn.SequentialCell(nn.Dense(1, 1))
    holder = Holder()
    holder.seq.append(nn.Dense(1, 1))
    assert names(holder)[-1] == "seq.1.bias"
    d = nn.CellDict({"a": nn.ReLU(), "b": nn.Tanh()})
    assert list(d.keys()) == ["a", "b"] and "a" in d and isinstance(d.pop("a"), nn.ReLU) and len(d) == 1


def test_copy_and_state():
    n = Net()
    d = copy.deepcopy(n)
    assert names(d) == names(n)
    d.fc1.weight[0] = 9
    assert (n.fc1.weight.asnumpy()[0] != 9).all()
    d._cells["extra"] = nn.ReLU()
    assert "extra" not in n._cells and d.extra is d._cells["extra"]
    keys = n.load_state_dict(d.state_dict())
    assert keys == ([], []) and (n.fc1.weight.asnumpy()[0] == 9).all()
    assert n.load_state_dict({"a": Tensor(1.)}, strict=False).unexpected_keys == ["a"]
    with pytest.raises(RuntimeError, match='Unexpected key'):
        n.load_state_dict({"a": Tensor(1.)})


def test_to_float():
    class F(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = nn.Dense(2, 2)

        def construct(self, x):
            return self.a(x)
    f = F().to_float(ms.float16)
    assert f(Tensor(np.ones((1, 2), np.float32))).dtype == ms.float16 and f.a.weight.dtype == ms.float32
    with pytest.raises(ValueError, match="to_float"):
        F().to_float(ms.int32)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_to_float_of_constants(mode):
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale, self.index, self.product = Tensor(1 / 3, ms.float32), Tensor([1, 0]), ms.ops.BatchMatMul()

        def construct(self, x):
            y = x * self.scale  # would be float32
            return self.product(y, x)[self.index]
    ms.set_context(mode=mode)
    try:
        net, x = Scaled(), Tensor(np.ones((2, 2, 2), np.float32))
        for dtype in (ms.float16, ms.bfloat16):
            assert net.to_float(dtype)(x).dtype == net.scale.dtype == dtype and net.index.dtype == ms.int64
        assert net.to_float(ms.float32).scale.asnumpy() == np.float32(1 / 3)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_parameter():
    assert Parameter(3).dtype == ms.int32 and Parameter([1, 2]).dtype == ms.int64 and Parameter(3.5).dtype == ms.float32
    assert Parameter(np.ones(2)).dtype == ms.float64
    p = Parameter(initializer("ones", (2,), ms.float32), name="w", requires_grad=False)
    assert repr(p) == str(p) == "Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=False)"
    assert Parameter(1.0).name.startswith("Parameter#")
    source = Tensor([1., 2.])
    q = Parameter(source, name="q")
    q[0] = 5
    assert source.tolist() == [1, 2] and q.value().tolist() == [5, 2] and type(q.data) is Tensor and type(q + 1) is Tensor
    assert q.clone("zeros").tolist() == [0, 0] and q.clone().name == "q" and q.copy().tolist() == [5, 2]
    assert q.set_data(Tensor([[1, 2]])) is q and q.shape == (1, 2) and q.dtype == ms.float32
    assert q.set_data(3.0).shape == () and q.set_data(initializer("ones", (3,))).tolist() == [1, 1, 1]
    q.assign_value(Tensor([1, 2, 3]))
    assert q.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="Parameter data must be"):
        q.set_data(np.zeros(3))
    for data, error in (("a", TypeError), (None, TypeError), (True, ValueError), ((1, 2.5), TypeError)):
        with pytest.raises(error):
            Parameter(data)
    with pytest.raises(ValueError, match="name should be 'string'"):
        Parameter(1.0, name=3)
    with pytest.raises(TypeError, match="requires_grad"):
        Parameter(1.0, requires_grad=3)
    for other in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p), copy.copy(p)):
        assert repr(other) == repr(p) and other.tolist() == [1, 1]
    view = q.value()
    q.assign_value(Tensor([7, 8, 9]))
    assert view.tolist() == [7, 8, 9]


def test_parameter_tuple():
    a, b = Parameter(Tensor([1.]), name="a"), Parameter(Tensor([1.]), name="b")
    t = ParameterTuple([a, b])
    assert [p.name for p in t.clone("m", init="zeros")] == ["m.a", "m.b"] and t.clone("m", "zeros")[0].tolist() == [0]
    with pytest.raises(TypeError, match="'Parameter' collection"):
        ParameterTuple([3])
    with pytest.raises(ValueError, match="already exists"):
        ParameterTuple([a, Parameter(1.0, name="a")])


def values(i, shape=(200, 100), dtype=ms.float32):
    return initializer(i, shape, dtype).init_data().asnumpy()


@pytest.mark.parametrize("make,mean,std,low,high", [
    ("normal", 0, 0.01, -0.07, 0.07), ("uniform", 0, 0.07 / 3 ** 0.5, -0.07, 0.07),
    ("truncatedNormal", 0, 0.01, -0.07, 0.07), (init.TruncatedNormal(1.0), 0, 0.8796, -2, 2),
    (init.TruncatedNormal(0.5, 1.0, -1, 2), 0.9723, 0.4705, -1, 2), ("xavier_uniform", 0, (2 / 300) ** 0.5, -0.1415, 0.1415),
    ("XavierNormal", 0, (2 / 300) ** 0.5, -1, 1), ("he_uniform", 0, 0.1414, -0.245, 0.245), ("HeNormal", 0, 0.1414, -1, 1),
    (init.HeNormal(0.5, "fan_out", "leaky_relu"), 0, (2 / 1.25 / 200) ** 0.5, -1, 1),
    (init.VarianceScaling(), 0, 0.1, -0.2275, 0.2275), (init.VarianceScaling(2., "fan_out", "uniform"), 0, 0.1, -0.1733, 0.1733),
    (init.VarianceScaling(2., "fan_avg", "untruncated_normal"), 0, (2 / 150) ** 0.5, -1, 1)])
def test_distributions(make, mean, std, low, high):
    v = values(make)
    assert abs(v.mean() - mean) < 5 * std / 100 and abs(v.std() / std - 1) < 0.03 and low <= v.min() and v.max() <= high


def test_initializers():
    assert initializer("ones", (2, 2)).has_init and initializer("ones", (2, 2)).tolist() == [[1, 1], [1, 1]]
    assert (values("ones") == 1).all() and (values("zeros") == 0).all() and (values(init.Constant(3.7), (2,), ms.int32) == 3).all()
    q = values(init.Orthogonal(2.0), (3, 8))
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(3), atol=1e-5)
    assert (values(init.Identity(), (2, 3)) == np.eye(2, 3)).all()
    d = values(init.Dirac(2), (4, 2, 3))
    assert [list(i) for i in d.nonzero()] == [[0, 1, 2, 3], [0, 1, 0, 1], [1, 1, 1, 1]]
    s = values(init.Sparse(0.1, 1.0))
    assert ((s == 0).sum(0) == 20).all()

    class Seven(init.Initializer):
        def _initialize(self, arr):
            arr[...] = 7
    assert (values(Seven()) == 7).all()
    for make, error in ((lambda: initializer("foo", (2,)), "class corresponding to 'foo'"),
                        (lambda: initializer("normal", (0, 2)), "must be positive"),
                        (lambda: values("xavier_uniform", (2,)), "fewer than 2 dimensions"),
                        (lambda: initializer(Tensor([1., 2.]), (3,)), "should be same as the argument 'shape'"),
                        (lambda: values(init.HeUniform(nonlinearity="foo")), "nonlinearity"),
                        (lambda: values(init.HeUniform(mode="foo")), "not supported"),
                        (lambda: init.VarianceScaling(scale=-1), "greater than 0")):
        with pytest.raises(ValueError, match=error):
            make()
    with pytest.raises(TypeError, match="init"):
        initializer(None, (2,))


def test_seeding():
    """np.random.seed alone fixes weights; a random initializer takes one double of that stream, a constant none."""
    np.random.seed(3)
    a, after = values("normal"), np.random.rand()
    np.random.seed(3)
    values("zeros")
    b = values("normal")
    np.testing.assert_array_equal(a, b)
    np.random.seed(3)
    assert np.random.rand(2)[1] == after
    ms.set_seed(1)
    c = nn.Dense(3, 4).weight.asnumpy()
    ms.set_seed(1)
    np.testing.assert_array_equal(c, nn.Dense(3, 4).weight.asnumpy())
    assert np.abs(nn.Conv2d(3, 50, 3, has_bias=True).bias.asnumpy()).max() <= 27 ** -0.5


@pytest.mark.parametrize("make,error,text", [
    ("nn.Dense(0,3)", ValueError, "For 'Dense', the 'in_channels' must be int and must > 0, but got '0' with type 'int'."),
    ("nn.Dense('a',3)", TypeError, "For 'Dense', the 'in_channels' must be int, but got 'str'"),
    ("nn.Dense(2,3,has_bias=1)", TypeError, "For 'Dense', the 'has_bias' must be a bool, but got int."),
    ("nn.Dense(2,3,weight_init=Tensor(np.ones((2,3),np.float32)))", ValueError, "weight init shape error"),
    ("nn.Dense(2,3,activation=3)", TypeError, "must be str or Cell or Primitive"),
    ("nn.Dense(2,3,activation='foo')", KeyError, "but got foo"),
    ("nn.Conv2d(2,3,0)", ValueError, "the 'kernel_size item' must be int and must > 0, but got '0'"),
    ("nn.Conv2d(2,3,(1,2,3))", TypeError, "input tuple dimension must be 2, but got (1, 2, 3)"),
    ("nn.Conv2d(2,3,3,pad_mode='x')", ValueError, "must be in '['valid', 'same', 'pad']', but got 'x'."),
    ("nn.Conv2d(2,3,3,padding=1)", ValueError, "must be zero when 'pad_mode' is not 'pad'"),
    ("nn.Conv2d(2,3,3,pad_mode='pad',padding=(1,2))", ValueError, "'pad size' must be int and must = 4, but got '2'"),
    ("nn.Conv2d(2,3,3,group=2)", ValueError, "group:2, in_channels:2, out_channels:3."),
    ("nn.BatchNorm2d(0)", ValueError, "the 'num_features' must be at least 1, but got 0."),
    ("nn.BatchNorm2d(3,momentum=2)", ValueError, "must be a number in range [0, 1], but got 2."),
    ("nn.BatchNorm2d(3)(Tensor(np.ones((2,3),np.float32)))", ValueError, "the in_shape must have 4 dims, but got 2."),
    ("nn.LayerNorm(3)", TypeError, "must be tuple[int] or list[int]"),
    ("nn.GroupNorm(2,3)", ValueError, "must be divided by 'num_groups'"),
    ("nn.Dropout(p=1.0)", ValueError, "For 'Dropout', the 'p' must be a number in range [0, 1), but got 1.0."),
    ("nn.Dropout(p='a')", TypeError, "the type of 'p' should be one of '['float', 'int']', but got type 'str'."),
    ("nn.Dropout(1)", TypeError, "the type of 'keep_prob' should be 'float', but got type 'int'."),
    ("nn.Embedding(3,4,padding_idx=5)", ValueError, "must be in range of [0, 3), but got 5 with type 'int'."),
    ("nn.MaxPool2d(0)", ValueError, "must be an positive int number or a tuple, but got 0"),
    ("nn.MaxPool2d(2,pad_mode='x')", ValueError, "must be in '['VALID', 'SAME', 'PAD']', but got 'X'."),
    ("nn.MaxPool2d(2,2,return_indices=True)", ValueError, "can not be set to non-default value when pad_mode is not 'pad'"),
    ("nn.MSELoss('x')", ValueError, "For 'MSELoss', the 'reduction' must be in ['mean', 'sum', 'none'], but got x."),
    ("nn.CrossEntropyLoss(weight=3)", TypeError, "the type of 'weight' should be 'Tensor', but got type 'int'."),
    ("nn.SoftmaxCrossEntropyWithLogits(sparse=1)", TypeError, "the 'sparse' must be a bool, but got int."),
    ("nn.get_activation('foo')", KeyError, "but got foo"),
    ("nn.Hardtanh(2,1)", ValueError, "min_val should be less than max_val"),
])
def test_argument_errors(make, error, text):
    with pytest.raises(error) as e:
        eval(make)
    assert text in str(e.value)


def f32(*shape):
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


def close(got, want, tol=1e-5):
    np.testing.assert_allclose(np.asarray(got.asnumpy(), np.float64), want, rtol=tol, atol=tol)


X = f32(1, 1, 4, 4)
Y = f32(1, 1, 8)


@pytest.mark.parametrize("layer,x,want", [
    ("nn.MaxPool2d(3,2,pad_mode='same')", X, [[10, 11], [14, 15]]),
    ("nn.MaxPool2d(3,2,pad_mode='pad',padding=1)", X, [[5, 7], [13, 15]]),
    ("nn.MaxPool2d(3,2,pad_mode='pad',ceil_mode=True)", X, [[10, 11], [14, 15]]),
    ("nn.MaxPool2d(2,1,pad_mode='pad',dilation=2)", X, [[10, 11], [14, 15]]),
    ("nn.MaxPool2d(2)", f32(1, 1, 3, 3), [[4, 5], [7, 8]]),
    ("nn.AvgPool2d(3,2,pad_mode='same')", X, [[5, 6.5], [11, 12.5]]),
    ("nn.AvgPool2d(3,2,pad_mode='pad',padding=1)", X, [[1.11111116, 2.66666675], [5.66666651, 10]]),
    ("nn.AvgPool2d(3,2,pad_mode='pad',padding=1,count_include_pad=False)", X, [[2.5, 4], [8.5, 10]]),
    ("nn.AvgPool2d(2,2,divisor_override=3)", X, [[10 / 3, 6], [14, 50 / 3]]),
    ("nn.AvgPool2d(3,2,ceil_mode=True)", X, [[5, 6.5], [11, 12.5]]),
    ("nn.MaxPool1d(3,2)", Y, [2, 4, 6]), ("nn.MaxPool1d(3,2,pad_mode='same')", Y, [2, 4, 6, 7]),
    ("nn.AvgPool1d(3,2,pad_mode='pad',padding=1)", Y, [1 / 3, 2, 4, 6]),
    ("nn.Conv2d(1,1,3,weight_init='ones',stride=2)", X, [[45, 39], [66, 50]]),
    ("nn.Conv2d(1,1,3,weight_init='ones',stride=2,pad_mode='pad',padding=1)", X, [[10, 24], [51, 90]]),
    ("nn.Conv2d(1,1,3,weight_init='ones',dilation=2)", X,
     [[20, 24, 20, 24], [36, 40, 36, 40], [20, 24, 20, 24], [36, 40, 36, 40]]),
    ("nn.Conv2d(1,1,3,weight_init='ones',pad_mode='pad',padding=(1,0,0,2))", X,
     [[18, 24, 18, 10], [45, 54, 39, 21], [81, 90, 63, 33]]),
    ("nn.Conv1d(1,1,3,weight_init='ones',stride=2)", Y, [3, 9, 15, 13]),
    ("nn.Conv1d(1,1,3,weight_init='ones',stride=2,pad_mode='pad',padding=1)", Y, [1, 6, 12, 18]),
    ("nn.Conv1dTranspose(1,1,5,weight_init='ones',stride=2)", Y,
     [0, 1, 1, 3, 3, 6, 5, 9, 7, 12, 9, 15, 11, 18, 13, 13]),
    ("nn.Conv1dTranspose(1,1,2,weight_init='ones',stride=3)", Y,
     [0, 0, 0, 1, 1, 0, 2, 2, 0, 3, 3, 0, 4, 4, 0, 5, 5, 0, 6, 6, 0, 7, 7, 0]),
])
def test_windows(layer, x, want):
    close(eval(layer)(x)[0, 0], want)


def test_windows_more():
    y, index = nn.MaxPool2d(2, 2, pad_mode="pad", return_indices=True)(X)
    assert index.tolist() == [[[[5, 7], [13, 15]]]] and y.shape == (1, 1, 2, 2)
    assert nn.MaxPool2d(2, 2)(X[0]).tolist() == [[[5, 7], [13, 15]]]
    for k, row in (("stride=2,pad_mode='same'", [0, 0, 1, 1, 3, 2, 5, 3]),
                   ("stride=2,pad_mode='valid'", [0, 0, 1, 1, 3, 2, 5, 3, 3]),
                   ("stride=2,pad_mode='pad',padding=1", [0, 1, 1, 3, 2, 5, 3]),
                   ("stride=2,pad_mode='pad',padding=1,output_padding=1", [0, 1, 1, 3, 2, 5, 3, 3]),
                   ("pad_mode='same',dilation=2", [20, 24, 20, 24])):
        assert eval(f"nn.Conv2dTranspose(1,1,3,weight_init='ones',{k})")(X)[0, 0, 0].tolist() == row
    assert nn.Conv2dTranspose(4, 4, 3, group=2, has_bias=True)(Tensor(np.ones((1, 4, 4, 4), np.float32))).shape == (1, 4, 4, 4)
    assert nn.Conv3d(2, 3, 3)(Tensor(np.ones((1, 2, 4, 5, 6), np.float32))).shape == (1, 3, 4, 5, 6)
    assert [c.weight.shape for c in (nn.Conv1d(2, 3, 4), nn.Conv1dTranspose(2, 3, 4), nn.Conv2dTranspose(2, 4, 3, group=2))] == [
        (3, 2, 1, 4), (2, 3, 1, 4), (2, 2, 3, 3)]


def test_dense_embedding_flatten():
    d = nn.Dense(2, 3, weight_init=Tensor([[1., 2.], [3., 4.], [5., 6.]]), bias_init="ones", activation="relu")
    close(d(Tensor([[[1., -1.]]])), [[[0, 0, 0]]])
    close(d(Tensor([[1., 1.]])), [[4, 8, 12]])
    e = nn.Embedding(4, 3, padding_idx=1, embedding_table="ones")
    assert e(Tensor([[1, 2]], ms.int32)).tolist() == [[[0, 0, 0], [1, 1, 1]]]
    with pytest.raises((IndexError, RuntimeError), match="7"):
        e(Tensor([7]))
    assert nn.Flatten()(Tensor(np.ones((2, 3, 4)))).shape == (2, 12)
    assert nn.Flatten(0, 1)(Tensor(np.ones((2, 3, 4)))).shape == (6, 4)
    assert nn.Flatten()(Tensor(np.ones((0, 3, 4)))).shape == (0, 12)
    assert nn.Identity()(X) is X
    with pytest.raises((TypeError, ValueError)):
        nn.Dense(2, 3)(Tensor(np.ones((2, 4), np.float32)))
    with pytest.raises(TypeError):
        nn.Dense(2, 3)(Tensor(np.ones((2, 2), np.float16)))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        nn.Dense(2, 3)()


def test_batch_norm():
    z = np.random.RandomState(0).randn(4, 2, 3, 3).astype(np.float32)
    bn = nn.BatchNorm2d(2).set_train()
    y = bn(Tensor(z)).asnumpy()
    close(Tensor(y[0, 0, 0]), [1.4978874, 0.29333073, 0.8043182])
    close(bn.moving_mean, [0.00680248, -0.00780374])
    close(bn.moving_variance, [1.0318677, 0.9853439])
    bn.set_train(False)
    close(nn.BatchNorm2d(2, use_batch_statistics=False).set_train()(Tensor(z))[0, 0, 0], [1.7640436, 0.40015522, 0.9787331])
    close(nn.BatchNorm2d(2, use_batch_statistics=True)(Tensor(z))[0, 0, 0], [1.4978874, 0.29333073, 0.8043182])
    assert [p.requires_grad for p in nn.BatchNorm2d(2, affine=False).get_parameters()] == [False] * 4
    assert names(nn.BatchNorm3d(2)) == ["bn2d.moving_mean", "bn2d.moving_variance", "bn2d.gamma", "bn2d.beta"]
    w = z.reshape(4, 2, 3, 3, 1)
    close(nn.BatchNorm3d(2).set_train()(Tensor(w)), y[..., None])
    close(nn.BatchNorm1d(2).set_train()(Tensor(z[..., 0, 0])).mean(0), [0, 0])


def test_other_norms():
    close(nn.LayerNorm((3,))(Tensor([[1., 2., 4.]])), [[-1.06904483, -0.267261147, 1.33630621]])
    y = nn.LayerNorm((2, 3), begin_norm_axis=1, begin_params_axis=1)(f32(1, 2, 3))
    close(y, [[[-1.46385002, -0.878310025, -0.292769998], [0.292769998, 0.878310025, 1.46385002]]])
    with pytest.raises(ValueError, match="gamma or beta shape"):
        nn.LayerNorm((3,))(Tensor(np.ones((2, 4), np.float32)))
    close(nn.GroupNorm(2, 4)(f32(1, 4, 2, 2))[0, :, 0, 0], [-1.5275238, 0.21821769, -1.5275238, 0.21821769])
    close(nn.GroupNorm(2, 4)(f32(1, 4)), [[-0.99998, 0.99998, -0.99998, 0.99998]])
    x = np.random.RandomState(1).randn(2, 3, 4, 5).astype(np.float32)
    want = (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)
    close(nn.InstanceNorm2d(3)(Tensor(x)), want, 1e-4)


def test_dropout():
    x = Tensor(np.ones((100, 100), np.float32))
    assert nn.Dropout(p=0.5)(x) is x
    d = nn.Dropout(p=0.25).set_train()
    ms.set_seed(1)
    a = d(x).asnumpy()
    assert set(np.unique(a)) <= {np.float32(0), np.float32(1 / 0.75)} and abs((a == 0).mean() - 0.25) < 0.02
    assert (d(x).asnumpy() != a).any()
    ms.set_seed(1)
    np.testing.assert_array_equal(d(x).asnumpy(), a)
    b = nn.Dropout2d(0.5).set_train()(Tensor(np.ones((8, 16, 2, 2), np.float32))).asnumpy().reshape(128, 4)
    assert (b == b[:, :1]).all() and {0, 2} == set(np.unique(b))
    with pytest.raises(TypeError):
        d(Tensor([1, 2]))


V = Tensor([-4., -1., -.5, 0., .3, 2., 7.])


@pytest.mark.parametrize("layer,want", [
    ("ReLU()", [0, 0, 0, 0, .3, 2, 7]), ("ReLU6()", [0, 0, 0, 0, .3, 2, 6]),
    ("Sigmoid()", [.0179861914, .268941551, .377540648, .5, .574442804, .880797148, .999089003]),
    ("Tanh()", np.tanh([-4., -1., -.5, 0., .3, 2., 7.])),
    ("GELU()", [-7.02142715e-05, -.158807993, -.154285997, 0, .185370937, 1.95459771, 7]),
    ("GELU(False)", [-1.26719475e-04, -.158655256, -.154268771, 0, .185373440, 1.95449972, 7]),
    ("FastGelu()", [-4.41472372e-03, -.154204234, -.149611562, 0, .187484145, 1.93565857, 6.99995327]),
    ("SiLU()", [-.0719447657, -.268941551, -.188770324, 0, .172332853, 1.76159430, 6.99362278]),
    ("LeakyReLU()", [-.8, -.2, -.1, 0, .3, 2, 7]), ("LeakyReLU(0.5)", [-2, -.5, -.25, 0, .3, 2, 7]),
    ("ELU()", [-.981684387, -.632121205, -.393469512, 0, .3, 2, 7]),
    ("ELU(2.0)", [-1.963368774, -1.26424241, -.786939024, 0, .3, 2, 7]),
    ("CELU(2.)", [-1.72932947, -.786938667, -.442398429, 0, .3, 2, 7]),
    ("PReLU()", [-1, -.25, -.125, 0, .3, 2, 7]),
    ("HSwish()", [0, -1 / 3, -.208333328, 0, .165, 5 / 3, 7]), ("HSigmoid()", [0, 1 / 3, 5 / 12, .5, .55, 5 / 6, 1]),
    ("LogSoftmax()", [-11.0097370, -8.00973701, -7.50973701, -7.00973701, -6.70973682, -5.00973701, -9.73700639e-03]),
    ("Softsign()", [-.8, -.5, -1 / 3, 0, .230769232, 2 / 3, .875]), ("SoftShrink()", [-3.5, -.5, 0, 0, 0, 1.5, 6.5]),
    ("HShrink()", [-4, -1, 0, 0, 0, 2, 7]),
    ("Tanhshrink()", [-3.00065565, -.238405824, -.0378828347, 0, 8.68737698e-03, 1.03597236, 6.0000017]),
    ("Threshold(0.1,20)", [20, 20, 20, 20, .3, 2, 7]),
    ("Mish()", [-.0725918710, -.303401023, -.220743716, 0, .208001316, 1.94395900, 6.99998808]),
    ("LogSigmoid()", [-4.01814985, -1.31326079, -.974076688, -.693147004, -.554354727, -.126927927, -9.11412586e-04]),
    ("Hardtanh()", [-1, -1, -.5, 0, .3, 1, 1]),
    ("SeLU()", [-1.72589862, -1.11133075, -.691758156, 0, .315210313, 2.10140204, 7.35490704]),
])
def test_activations(layer, want):
    close(eval("nn." + layer)(V), want)


L = Tensor(np.array([[1., 2., -1.], [0.5, 0., 2.]], np.float32))
I = Tensor([2, 0], ms.int32)
P = Tensor(np.array([[.2, .5, .3], [.1, .1, .8]], np.float32))
T = Tensor(np.array([[0., 1., 0.], [1., 0., .5]], np.float32))
W = Tensor(np.array([1., 2., .5], np.float32))
S = Tensor(np.array([[1, -1, 1], [1, 1, -1]], np.float32))


@pytest.mark.parametrize("loss,args,want", [
    ("CrossEntropyLoss()", (L, I), 2.57768), ("CrossEntropyLoss(weight=W)", (L, I), 2.32057),
    ("CrossEntropyLoss(ignore_index=2)", (L, I), 1.80636), ("CrossEntropyLoss(reduction='none')", (L, I), [3.34901166, 1.80635571]),
    ("CrossEntropyLoss(reduction='sum',label_smoothing=0.1)", (L, I), 4.95537),
    ("CrossEntropyLoss(weight=W,label_smoothing=0.1)", (L, I), 2.31727), ("CrossEntropyLoss()", (L, T), 1.15427),
    ("CrossEntropyLoss(weight=W,label_smoothing=0.1)", (L, T), 1.333),
    ("SoftmaxCrossEntropyWithLogits(sparse=True)", (L, I), [3.34901214, 1.80635571]),
    ("SoftmaxCrossEntropyWithLogits(sparse=True,reduction='mean')", (L, Tensor([2, 0])), 2.57768),
    ("SoftmaxCrossEntropyWithLogits()", (L, T), [.349012166, 1.95953357]),
    ("SoftmaxCrossEntropyWithLogits(reduction='sum')", (L, T), 2.30855),
    ("MSELoss()", (L, T), 0.916667), ("MSELoss('none')", (L, T), [[1, 1, 1], [.25, 0, 2.25]]), ("MSELoss('sum')", (L, T), 5.5),
    ("L1Loss()", (L, T), 0.833333), ("SmoothL1Loss()", (L, T), [[.5, .5, .5], [.125, 0, 1]]),
    ("SmoothL1Loss(0.5,'mean')", (L, T), 0.625), ("HuberLoss()", (L, T), 0.4375),
    ("HuberLoss('none',0.5)", (L, T), [[.375, .375, .375], [.125, 0, .625]]),
    ("BCELoss()", (P, T), 0.7662), ("BCELoss(weight=P,reduction='sum')", (P, T), 1.47203),
    ("BCEWithLogitsLoss()", (L, T), 0.674601),
    ("BCEWithLogitsLoss('none',weight=W,pos_weight=W)", (L, T),
     [[1.31326163, .507712185, .156630814], [.474076986, 1.38629436, .547598004]]),
    ("NLLLoss()", (L, I), 0.25), ("NLLLoss(weight=W)", (L, I), 0), ("NLLLoss(ignore_index=0)", (L, I), 1),
    ("KLDivLoss()", (L, P), -0.703114), ("KLDivLoss('batchmean')", (L, P), -2.10934), ("KLDivLoss('sum')", (L, P), -4.21869),
    ("CosineEmbeddingLoss()", (L, P, Tensor([1, -1], ms.int32)), 0.694572),
    ("CosineEmbeddingLoss(0.5,'none')", (L, P, Tensor([1, -1], ms.int32)), [.403960407, .485184371]),
    ("MultiLabelSoftMarginLoss()", (L, T), 0.6746), ("HingeEmbeddingLoss()", (L, S), 0.0833333),
    ("MarginRankingLoss()", (L, P, S), 0.683333), ("PoissonNLLLoss()", (L, P), 2.99383),
    ("GaussianNLLLoss()", (L, T, P), 0.609247), ("RMSELoss()", (L, T), 0.957427), ("MAELoss()", (L, T), 0.833333),
    ("MultiMarginLoss()", (L, Tensor([2, 0])), 1.66667), ("MSELoss()", (L, Tensor([1.])), 1.20833),
    ("BCEWithLogitsLoss()", (Tensor([1000., -1000.]), Tensor([0., 1.])), 1000),
    ("SoftMarginLoss()", (L, S), np.log1p(np.exp(-S.asnumpy() * L.asnumpy())).mean()),
    ("TripletMarginLoss()", (L, P, T), np.maximum(np.linalg.norm(L.asnumpy() - P.asnumpy() + 1e-6, axis=1) -
                                                  np.linalg.norm(L.asnumpy() - T.asnumpy() + 1e-6, axis=1) + 1, 0).mean()),
])
def test_losses(loss, args, want):
    close(eval("nn." + loss)(*args), want, 2e-5)


def test_loss_errors():
    with pytest.raises((RuntimeError, ValueError, IndexError), match="5"):
        nn.CrossEntropyLoss()(L, Tensor([0, 5], ms.int32))
    with pytest.raises((RuntimeError, ValueError, IndexError), match="5"):
        nn.SoftmaxCrossEntropyWithLogits(sparse=True)(L, Tensor([0, 5], ms.int32))
    with pytest.raises(TypeError, match="'labels' must be"):
        nn.MSELoss()(L, 3)
    with pytest.raises(ValueError):
        nn.MSELoss()(L, Tensor(np.ones((2, 4), np.float32)))
    with pytest.raises(TypeError):
        nn.SoftmaxCrossEntropyWithLogits()(L, I)
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        nn.BCELoss()(Tensor([2.]), Tensor([1.]))
    assert np.isnan(nn.CrossEntropyLoss(ignore_index=1)(L, Tensor([1, 1], ms.int32)).item())


def test_gradients():
    """A layer's gradient against differences, and of a whole step."""
    x = Tensor(np.random.RandomState(0).randn(3, 2, 5, 5), ms.float64)
    net = nn.SequentialCell(nn.Conv2d(2, 3, 3, has_bias=True, dtype=ms.float64), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
                            nn.Dense(12, 2, dtype=ms.float64))
    loss = nn.WithLossCell(net, nn.MSELoss())
    y = Tensor(np.zeros((3, 2)), ms.float64)
    params = ParameterTuple(net.trainable_params())
    value, grads = ms.value_and_grad(loss, None, params)(x, y)
    assert value.item() == pytest.approx(loss(x, y).item())
    for p, g in zip(params, grads):
        flat, at = p.asnumpy().reshape(-1), p.size // 2
        old = flat[at]
        flat[at] = old + 1e-6
        up = loss(x, y).item()
        flat[at] = old - 1e-6
        down = loss(x, y).item()
        flat[at] = old
        assert g.asnumpy().reshape(-1)[at] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-8)


X23 = f32(1, 1, 2, 3)


@pytest.mark.parametrize("make,want", [
    ("ops.pad(X23,(1,1,1,0),'reflect')", [[4, 3, 4, 5, 4], [1, 0, 1, 2, 1], [4, 3, 4, 5, 4]]),
    ("ops.pad(X23,[2,-1],'replicate')", [[0, 0, 0, 1], [3, 3, 3, 4]]),
    ("ops.pad(X23,(1,2),'circular')", [[2, 0, 1, 2, 0, 1], [5, 3, 4, 5, 3, 4]]),
    ("ops.pad(X23,(1,-1),'constant',5)", [[5, 0, 1], [5, 3, 4]]),
    ("nn.Pad(((0,0),(0,0),(1,0),(2,1)),'SYMMETRIC')(X23)", [[1, 0, 0, 1, 2, 2], [1, 0, 0, 1, 2, 2], [4, 3, 3, 4, 5, 5]]),
    ("nn.ReflectionPad2d((1,0,0,1))(X23)", [[1, 0, 1, 2], [4, 3, 4, 5], [1, 0, 1, 2]]),
    ("nn.ConstantPad1d((1,0),2.)(X23)", [[2, 0, 1, 2], [2, 3, 4, 5]]),
    ("ops.interpolate(X23,size=(4,3))", [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]]),
    ("nn.Upsample(scale_factor=2.,mode='bilinear')(X23)",
     [[0, .25, .75, 1.25, 1.75, 2], [.75, 1, 1.5, 2, 2.5, 2.75], [2.25, 2.5, 3, 3.5, 4, 4.25], [3, 3.25, 3.75, 4.25, 4.75, 5]]),
    ("ops.interpolate(X23,size=(3,5),mode='bilinear',align_corners=True)",
     [[0, .5, 1, 1.5, 2], [1.5, 2, 2.5, 3, 3.5], [3, 3.5, 4, 4.5, 5]]),
    # Keys' kernel: a = -0.5 within the image as the original, a = -0.75 as PyTorch
    ("ops.interpolate(X23,size=(4,6),mode='bicubic')[:,:,:2]",
     [[-.352941, -.096823, .445218, 1.025371, 1.567411, 1.823530], [.533193, .789312, 1.331352, 1.911505, 2.453545, 2.709664]]),
    ("mint.nn.functional.interpolate(X23,size=(3,5),mode='bicubic')[:,:,:2]",
     [[-.356417, .055583, .739583, 1.423583, 1.835583], [1.404, 1.816, 2.5, 3.184, 3.596]]),
    ("nn.PixelShuffle(2)(f32(1,4,1,2))", [[0, 2, 1, 3], [4, 6, 5, 7]]),
])
def test_resampling(make, want):
    from mindspore import mint, ops  # noqa: F401
    close(eval(make)[0, 0], want)


def test_resampling_more():
    from mindspore import ops
    x = f32(2, 8, 2, 3)
    assert nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x)).tolist() == x.tolist()
    for call in (lambda: ops.pad(X23, (3, 3), "reflect"), lambda: ops.pad(X23, (1,)), lambda: ops.pad(X23, (1, 1), "foo"),
                 lambda: ops.interpolate(X23), lambda: ops.interpolate(X23, size=(0, 2)), lambda: nn.PixelShuffle(3)(x),
                 lambda: ops.interpolate(X23, size=(2, 2), mode="linear")):
        with pytest.raises(ValueError):
            call()
    g = ms.grad(lambda t: ops.interpolate(t, size=(4, 6), mode="bilinear").sum())(X23)
    close(g.sum(), 24)
    slopes = -nn.RReLU(0.1, 0.3)(Tensor(-np.ones(1000, np.float32))).asnumpy()
    assert 0.1 <= slopes.min() and slopes.max() <= 0.3 and slopes.std() > 0.04
