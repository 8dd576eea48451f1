"""Public names around the operators: marks, dynamic sizes, what compiled functions hand back, names of checkpoints."""
import os

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


def test_set_dump():
    net = nn.SequentialCell(nn.ReLU())
    net.add = ops.Add()
    with pytest.warns(UserWarning, match='Ascend'):
        ms.set_dump(net)
    assert net[0].get_flags()['dump'] is True and net.add.attrs['dump'] == 'true'
    with pytest.warns(UserWarning):
        ms.set_dump(net.add, False)
    assert net.add.attrs['dump'] == 'false'
    with pytest.raises(ValueError, match='target'):
        ms.set_dump(1)


def test_enable_dynamic():
    @ms.enable_dynamic(x=Tensor(shape=[None, 3], dtype=ms.float32))
    @ms.jit
    def double(x):
        return x * 2
    for n in (2, 4, 5):
        x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
        np.testing.assert_array_equal(double(Tensor(x)).asnumpy(), 2 * x)
    assert double.ms_jit.compile_count == 1
    for wrong in (np.ones((2, 4), np.float32), np.ones((2, 3), np.int32), np.ones(3, np.float32)):
        with pytest.raises(ValueError, match="'x'"):
            double(Tensor(wrong))
    with pytest.raises(ValueError, match="no parameter 'z'"):
        ms.enable_dynamic(z=Tensor(1))(double)
    with pytest.raises(TypeError, match="'x'"):
        ms.enable_dynamic(x=3)


def test_mutable_refuses():
    loop = []
    loop.append(loop)
    for args, error, text in ((([1], [1]), TypeError, 'second input'), ((True, True), TypeError, 'list or tuple'), ((loop,), TypeError, 'self-reference'),
                              (([1, np.ones(1)],), TypeError, 'should be one of'), (([1, 2.5], True), ValueError, 'same')):
        with pytest.raises(error, match=text):
            ms.mutable(*args)
    assert ms.mutable([1, 2], True) == [1, 2]


def test_compiled_function_hands_a_parameter_back():
    p = Parameter(Tensor([1.0, 2.0]), name='p')

    @ms.jit
    def first(q, x):
        return q

    @ms.jit
    def global_one(x):
        return p
    x = Tensor([1.0, 1.0])
    assert first(p, x) is p and global_one(x) is p
    p.name = 'other'
    assert global_one(x).name == 'other'
    q = Parameter(Tensor([5.0]), name='q')
    assert first(q, x) is q


def test_names_of_checkpoints(tmp_path):
    net = nn.Dense(2, 1)
    p = ms.train.callback.InternalCallbackParam(train_network=net, epoch_num=1, cur_epoch_num=1, cur_step_num=3, batch_num=4)
    context = ms.RunContext(p)
    for prefix, name in ((lambda p: f'step{p.cur_step_num}', 'step3.ckpt'), ('a', 'a-1_3.ckpt')):
        saver = ms.ModelCheckpoint(prefix, lambda p: str(tmp_path), ms.CheckpointConfig(1))
        saver.begin(context)
        saver.step_end(context)
        assert os.listdir(tmp_path) == [name]
        path = tmp_path / name
        with pytest.raises(ValueError, match='choice_func'):
            ms.load_checkpoint(str(path), choice_func=lambda name: name.startswith(3))
        path.unlink()


def test_fault_tolerance_is_refused(monkeypatch):
    with pytest.raises(ValueError, match='MS_ENABLE_TFT'):
        ms.train.TrainFaultTolerance()
    monkeypatch.setenv('MS_ENABLE_TFT', '{UCE:1}')
    with pytest.raises(ValueError, match='Ascend'):
        ms.train.TrainFaultTolerance()


def test_partial_by_name():
    total = ops.Partial()(ops.ReduceSum(keep_dims=True), axis=1)
    assert total(Tensor([[1.0, 2.0]])).shape == (1, 1)


def test_vmap_refuses():
    x = Tensor([[1.0, 2, 3], [4, 5, 6]])

    def two(a, b):
        return a + b, a - b
    for axes, args, error, text in ((dict(in_axes=(0, 0, 0)), (x, x), RuntimeError, 'size: 3'), (dict(out_axes=(0, 0, 0)), (x, x), RuntimeError, 'results of'),
                                    (dict(out_axes=(None, (None, None))), (x, x), RuntimeError, 'all None'),
                                    (dict(out_axes=(None, 0)), (x, x), RuntimeError, 'dst is None'), ({}, (x,), TypeError, 'parameters number'),
                                    (dict(in_axes=1.0), (x, x), RuntimeError, 'int')):
        with pytest.raises(error, match=text):
            ms.vmap(two, **axes)(*args)
    with pytest.raises(RuntimeError, match='axis_size'):
        ms.vmap(lambda: 1)()
    cells = nn.CellList([nn.ReLU(), nn.Tanh()])
    with pytest.raises(ValueError, match='cell size: 2'):
        ms.vmap(cells)(Tensor(np.ones((3, 2), np.float32)))
    with pytest.raises(RuntimeError, match='greater than 1'):
        ms.vmap(nn.CellList([nn.ReLU()]))
    np.testing.assert_array_equal(ms.vmap(ops.Add(), (1, 1))(x, x).asnumpy(), 2 * x.asnumpy().T)


def test_layers_refuse():
    x = Tensor(np.ones((2, 3, 16, 16), np.float32))
    with pytest.raises(ValueError, match='shape'):
        nn.PSNR()(x, x[:1])
    with pytest.raises(TypeError, match='type'):
        nn.PSNR()(x, x.astype(ms.float16))
    for make, error in ((lambda: nn.ReflectionPad1d((-1, 2)), ValueError), (lambda: nn.MultiClassDiceLoss(activation='www'), ValueError),
                        (lambda: ms.train.BleuScore(n_gram='3'), TypeError), (lambda: ms.train.BleuScore(n_gram=5), ValueError),
                        (lambda: nn.Adam([Parameter(x, name='x')], use_lazy=True, use_amsgrad=True), ValueError),
                        (lambda: nn.Cell().insert_child_to_cell('a.b', nn.ReLU()), KeyError),
                        (lambda: nn.Cell().insert_param_to_cell('', Parameter(x, name='x')), KeyError)):
        with pytest.raises(error):
            make()
    np.testing.assert_array_equal(nn.LeakyReLU(2)(Tensor([-3, 4])).asnumpy(), [-6, 4])


def test_bijector_of_ones_own():
    from mindspore.nn.probability import bijector

    class Scale(bijector.Bijector):
        def __init__(self, factor):
            super().__init__(name='Scale', dtype=ms.float32, param=dict(param_dict={'factor': factor}))
            self._factor = self._add_parameter(factor, 'factor')

        def _forward(self, value):
            value = self._check_value_dtype(value)
            return value * self.cast_param_by_value(value, self._factor)
    scale = Scale([2.0, 3.0])
    assert scale.batch_shape == (2,)
    np.testing.assert_array_equal(scale.forward(Tensor([1.0, 1.0])).asnumpy(), [2, 3])
    with pytest.raises(TypeError, match='Float32'):
        scale.forward(Tensor([1.0, 1.0], ms.float16))


def test_markers_of_types():
    dtype = ms.common.dtype
    assert isinstance(ms.int8, ms.Int) and not isinstance(ms.uint8, ms.Int) and ms.Int(32) is ms.int32
    with pytest.raises(ValueError, match='bits'):
        ms.Int(7)
    assert repr(ms.number) == 'mindspore.number' and str(ms.type_none) == 'None' and str(ms.TensorType(ms.float32)) == 'Tensor[Float32]'
    assert ms.tensor_type == ms.TensorType() != ms.TensorType(ms.float32)
    kinds = [(ms.int32, ms.number, True), (ms.bool_, ms.number, True), (ms.tensor_type, ms.number, False), (ms.list_, ms.tuple_, False),
             (ms.TensorType(ms.int8), ms.tensor_type, True), (ms.float32, ms.float32, True)]
    assert all(dtype._issubclass_(a, b) is want for a, b, want in kinds)


def test_memory_is_given_back():
    x = Tensor(np.ones(1 << 20, np.float32)) + 1
    del x
    ms.ms_memory_recycle()
    assert ms.runtime.memory_reserved() <= ms.runtime.memory_allocated() + (1 << 20)


def test_what_cannot_be_compared_is_not_in_a_tensor():
    t = Tensor([1, 2])
    assert 1 in t and Tensor([2]) in t and 3 not in t and 'a' not in t and [1] not in t and np.array(1) not in t


def test_bprop_with_too_few_parameters():
    class Sum(nn.Cell):
        def construct(self, x, y):
            return x + y

    class No(Sum):
        def bprop(self, out):
            return out, out

    class Few(Sum):
        def bprop(self, x, y, out):
            return out, out
    x = Tensor([2.0])
    for cell, text in ((No(), 'at least 2 params'), (Few(), 'forward inputs as well')):
        with pytest.raises(TypeError, match=text):
            ms.grad(cell, (0, 1))(x, x)
    with pytest.raises(ValueError, match='requires a forward network'):
        ops.GradOperation()()


def test_names_of_the_extension():
    from mindspore import _c_expression as e
    from mindspore._extends.parse.standard_method import list_append, list_insert, ms_len
    for draw, numbers, mean, low, high in ((e._random_normal, (1.0, 2.0), 1.0, -20, 20), (e._random_uniform, (1.0, 3.0), 2.0, 1, 3),
                                           (e._truncated_normal, (-2.0, 2.0, 5.0, 0.5), 5.0, 4, 6)):
        data = [np.empty((100, 50), np.float32) for _ in range(3)]
        for seed, array in zip((7, 7, 8), data):
            draw(seed, array, *numbers)
        np.testing.assert_array_equal(data[0], data[1])
        assert not np.allclose(data[0], data[2]) and abs(data[0].mean() - mean) < 0.1 and low <= data[0].min() <= data[0].max() <= high
    assert ms_len(list_insert(list_append([1], 2), 0, 3)) == 3
