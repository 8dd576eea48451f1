"""Methods of Cells that concern compilation, devices and state."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn


def test_methods():
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU())
    x = Tensor(np.ones((2, 3), np.float32))
    np.testing.assert_allclose(net.compile_and_run(x).asnumpy(), net(x).asnumpy(), rtol=1e-6)
    net.compile(x)
    assert net.set_comm_fusion(2) is net and net[0].weight.comm_fusion == 2
    net[0].pipeline_stage = 1
    assert net[0].pipeline_stage == 1 and net.pipeline_stage == -1 and net.parameter_layout_dict == {}
    assert len(net.infer_param_pipeline_stage()) == 2
    assert net.cast_inputs((x, 3), ms.float16)[0].dtype == ms.float16
    assert net.shard(((1, 1),)) is net
    net.generate_scope()
    assert net[0].get_scope() == "0"
    net.offload()
    net.flatten_weights()
    for call, kind in ((lambda: net.shard(((2, 1),)), ValueError), (lambda: net.set_comm_fusion(-1), ValueError),
                       (lambda: net.set_boost("less_bn"), NotImplementedError), (lambda: net.set_boost("x"), ValueError),
                       (lambda: setattr(net, "pipeline_stage", -2), ValueError)):
        with pytest.raises(kind):
            call()


def test_a_slice_keeps_the_names():
    net = nn.SequentialCell(*(nn.Dense(1, 1, has_bias=False) for _ in range(4)))
    assert [name for name, _ in net[1::2].parameters_and_names()] == ["1.weight", "3.weight"]

    class Holder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.tail = net[2:][:1]

    assert [p.name for p in Holder().get_parameters()] == ["tail.2.weight"]
    assert net[2:](Tensor([[1.]])).shape == (1, 1)


def test_a_slice_of_a_list_names_by_its_own_numbers():
    cells = nn.CellList([nn.Dense(1, 1, has_bias=False) for _ in range(4)])
    assert [p.name for p in cells[2:].get_parameters()] == ["0.weight", "1.weight"]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stages = nn.CellList([nn.Dense(1, 1, has_bias=False) for _ in range(3)])

        def construct(self, x):
            for cell in self.stages[1:]:
                x = cell(x)
            return x

    net = Net()
    net(Tensor([[1.]]))
    assert [p.name for p in net.get_parameters()] == [f"stages.{k}.weight" for k in range(3)]


def test_names_of_unnamed_parameters_in_tuples():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = ms.Parameter(Tensor([1.0]), name="a")
            self.t = ms.ParameterTuple((ms.Parameter(Tensor([1.0])), self.a, ms.Parameter(Tensor([1.0]))))
            self.u = ms.ParameterTuple([ms.Parameter(Tensor([1.0]))])

    for _ in range(2):
        assert [p.name for p in Net().get_parameters()] == ["a", "Parameter$1", "Parameter$2", "Parameter$3"]


def test_no_init_parameters():
    with nn.no_init_parameters():
        net = nn.Dense(3, 4)
    assert (net.weight.asnumpy() == 0).all()
    assert (nn.Dense(3, 4).weight.asnumpy() != 0).any()
    assert nn.Accuracy is ms.train.Accuracy
    assert not hasattr(nn, "NoSuchLayer")


def test_set_dtype_and_buffers():
    from mindspore.common.parameter import _Buffer
    net = nn.Dense(3, 4)
    values = net.weight.asnumpy()
    assert net.weight.set_dtype(ms.float16) is net.weight and net.weight.dtype == ms.float16
    np.testing.assert_allclose(net.weight.asnumpy(), values, rtol=1e-3)
    net.extra = _Buffer(Tensor([1.0, 2.0]))
    assert [n for n, _ in net.named_buffers()] == ["extra"] and net.extra.tolist() == [1, 2]


def test_names_of_children_appended_before_the_list_is_named():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stages = nn.CellList()
            for _ in range(3):
                self.stages.append(nn.SequentialCell([nn.Dense(1, 1, has_bias=False)]))

    names = [p.name for p in Net().get_parameters()]
    assert names == ["0.0.weight", "0.1.0.weight", "0.2.0.weight"]  # those of the original's checkpoints


def test_cell_list_grows_in_place():
    cells = nn.CellList([nn.ReLU()])
    same = cells
    cells += [nn.Tanh()]
    assert cells is same and len(cells) == 2


def test_a_pre_hook_with_keywords_gives_both():
    net = nn.ReLU()
    net.register_forward_pre_hook(lambda cell, args, kwargs: [a for a in args], with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        net(Tensor([1.0]))


def test_products_with_the_jacobian():
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y, x ** 2
    x, y, v = Tensor([2.0, 3.0]), Tensor([4.0, 5.0]), Tensor([1.0, 10.0])
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            outs, tangents = nn.Jvp(Net())(x, y, (v, v))
            _, grads = nn.Vjp(Net())(x, y, (v, v))
            with pytest.raises(TypeError, match="form of the outputs"):
                nn.Vjp(Net())(x, y, v)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
        assert [t.asnumpy().tolist() for t in outs] == [[8, 15], [4, 9]]
        assert [t.asnumpy().tolist() for t in tangents] == [[6, 80], [4, 60]]
        assert [t.asnumpy().tolist() for t in grads] == [[8, 110], [2, 30]]
    (_, grad) = nn.Vjp(nn.ReLU())(x, v)
    assert grad.asnumpy().tolist() == [1, 10]


def test_paddings_are_ints():
    for layer in (nn.ReflectionPad1d, nn.ZeroPad2d):
        with pytest.raises(TypeError, match="must be int"):
            layer(('2', 2))


def test_a_cell_without_its_base():
    class Net(nn.Cell):
        def __init__(self):
            self.a = 1
    for call in (lambda: Net().trainable_params(), lambda: Net().update_cell_prefix()):
        with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
            call()
