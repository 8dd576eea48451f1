"""Callbacks of a map, and pipelines as JSON and as copies."""
import copy
import json

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.dataset import transforms, vision


class Noted(ds.DSCallback):
    def __init__(self, step_size=1):
        super().__init__(step_size)
        self.seen = []

    def _note(self, what, c):
        self.seen.append((what, c.cur_epoch_num, c.cur_step_num_in_epoch, c.cur_step_num))

    def ds_begin(self, c):
        self._note('begin', c)

    def ds_epoch_begin(self, c):
        self._note('epoch', c)

    def ds_epoch_end(self, c):
        self._note('epoch end', c)

    def ds_step_begin(self, c):
        self._note('step', c)

    def ds_step_end(self, c):
        self._note('step end', c)


def pass_through(d, epochs=1):
    it = d.create_tuple_iterator(num_epochs=epochs)
    for _ in range(epochs):
        for _ in it:
            pass


def numbers(n):
    return ds.NumpySlicesDataset({'x': np.arange(n)}, shuffle=False)


@pytest.mark.parametrize('debug', [False, True])
def test_stages_and_counts(debug):
    """A step is every step_size-th row of an epoch; steps count through epochs."""
    note = Noted(2)
    d = numbers(3).map(lambda x: x, callbacks=note)
    assert d.output_shapes() == [[]] and note.seen == []
    ds.config.set_debug_mode(debug)
    try:
        pass_through(d, 2)
    finally:
        ds.config.set_debug_mode(False)
    assert note.seen == [('begin', 0, 0, 0), ('epoch', 1, 0, 0), ('step', 1, 1, 1), ('step end', 1, 1, 1), ('step', 1, 3, 3),
                         ('step end', 1, 3, 3), ('epoch end', 1, 3, 3), ('epoch', 2, 0, 3), ('step', 2, 1, 4),
                         ('step end', 2, 1, 4), ('step', 2, 3, 6), ('step end', 2, 3, 6), ('epoch end', 2, 3, 6)]


def test_repeat_is_one_epoch_and_workers_keep_order():
    note = Noted()
    pass_through(numbers(2).map(lambda x: x, callbacks=[note], num_parallel_workers=2).repeat(2))
    assert [s[0] for s in note.seen].count('epoch') == 1 and note.seen[-1] == ('epoch end', 1, 4, 4)
    for what in ('step', 'step end'):
        assert [s[3] for s in note.seen if s[0] == what] == [1, 2, 3, 4]


def test_wrong_callbacks():
    with pytest.raises(TypeError, match=r'Argument callbacks with value 0 is not'):
        numbers(2).map(lambda x: x, callbacks=0)
    with pytest.raises(TypeError, match=r'Argument callbacks\[1\] with value 0 is not'):
        numbers(2).map(lambda x: x, callbacks=[Noted(), 0])
    with pytest.raises(ValueError, match='step_size'):
        ds.DSCallback(0)
    with pytest.raises(AttributeError, match='without overriding'):
        pass_through(numbers(2).map(lambda x: x, callbacks=ds.DSCallback()))

    class Bad(ds.DSCallback):
        def ds_epoch_end(self, c):
            raise KeyError('nothing')
    with pytest.raises(RuntimeError, match='KeyError'):
        pass_through(numbers(2).map(lambda x: x, callbacks=Bad()))


class Waited(ds.WaitedDSCallback):
    def __init__(self, step_size, seen):
        super().__init__(step_size)
        self.seen = seen

    def sync_epoch_begin(self, train, data):
        self.seen.append(('epoch', data.cur_epoch_num, train.original_args().cur_step_num))

    def sync_step_begin(self, train, data):
        self.seen.append(('step', data.cur_step_num, train.original_args().cur_step_num))


class Trained(ms.train.Callback):
    def __init__(self, seen):
        self.seen = seen

    def step_end(self, run_context):
        self.seen.append(('trained', run_context.original_args().cur_step_num))


class First(nn.Cell):
    def construct(self, x, y):
        return x


def test_the_pipeline_waits_for_the_training():
    seen = []
    waited = Waited(2, seen)
    d = ds.NumpySlicesDataset((np.arange(4), np.arange(4)), ['x', 'y'], shuffle=False).map(lambda x: x, 'x', callbacks=waited)
    ms.Model(First()).train(2, d.batch(2), callbacks=[Trained(seen), waited], dataset_sink_mode=False)
    assert seen == [('trained', 1), ('step', 3, 1), ('trained', 2), ('epoch', 2, 2), ('step', 5, 2), ('trained', 3),
                    ('step', 7, 3), ('trained', 4)]


def test_waiting_has_an_end():
    ds.config.set_callback_timeout(1)
    try:
        with pytest.raises(RuntimeError, match=r'RuntimeError: ds_step_begin timed out after 1 second\(s\)\.'):
            pass_through(numbers(4).map(lambda x: x, callbacks=Waited(2, [])).batch(3))
    finally:
        ds.config.set_callback_timeout(60)


# ---- JSON ----

def same(d, path):
    """d is the same after a way through a file."""
    written = ds.serialize(d, str(path))
    back = ds.deserialize(json_filepath=str(path))
    assert ds.compare(d, back) and json.loads(path.read_text()) == written
    assert ds.compare(d, ds.deserialize(input_dict=written))
    return written, back


def test_pipeline_as_json(tmp_path):
    (tmp_path / 'c').mkdir()
    for k in range(3):
        vision.write_png(str(tmp_path / 'c' / f'{k}.png'), np.full((8, 8, 3), k, np.uint8))
    sampler = ds.SequentialSampler(1, 2)
    sampler.add_child(ds.SubsetSampler([2, 1, 0]))
    d = ds.ImageFolderDataset(str(tmp_path), sampler=sampler, num_parallel_workers=2)
    d = d.map([vision.Decode(), vision.Resize([4, 4], vision.Inter.NEAREST), transforms.TypeCast(ms.float32),
               transforms.RandomApply([vision.HorizontalFlip()], 0.0)], 'image')
    d = d.map(transforms.OneHot(2), ['label']).repeat(3).batch(2, drop_remainder=True).take(2)
    written, back = same(d, tmp_path / 'p.json')
    source = written['children'][0]['children'][0]['children'][0]['children'][0]['children'][0]
    assert written['op_type'] == 'Take' and source['op_type'] == 'ImageFolderDataset'
    assert source['sampler']['sampler_name'] == 'SequentialSampler'
    assert source['sampler']['child_sampler'][0]['indices'] == [2, 1, 0]
    ops = written['children'][0]['children'][0]['children'][0]['children'][0]['operations']
    assert [o['tensor_op_name'] for o in ops] == ['Decode', 'Resize', 'TypeCast', 'RandomApply']
    assert ops[1]['tensor_op_params']['size'] == [4, 4]
    for a, b in zip(d.create_tuple_iterator(num_epochs=1, output_numpy=True),
                    back.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        assert np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])
    assert not ds.compare(d, d.skip(1))


def test_joined_pipelines_as_json(tmp_path):
    a = numbers(3).rename('x', 'y').project(['y']).skip(1)
    d = ds.zip((a, numbers(2) + numbers(2)))
    written, back = same(d, tmp_path / 'p.json')
    assert [c['op_type'] for c in written['children']] == ['Skip', 'Concat']
    assert [[int(v) for v in r] for r in back.create_tuple_iterator(num_epochs=1)] == [[1, 0], [2, 1]]


def test_functions_are_names_in_json():
    d = ds.GeneratorDataset([1, 2], ['x']).map(lambda x: x)
    written = ds.serialize(d)
    assert written['operations'][0]['tensor_op_name'] == '<lambda>'
    with pytest.raises(RuntimeError, match='unsupported operation type: GeneratorDataset'):
        ds.deserialize(written)
    with pytest.raises(RuntimeError, match="Failed to find key 'tensor_op_params'"):
        ds.deserialize(ds.serialize(numbers(2).map(lambda x: x)))
    with pytest.raises(RuntimeError, match='unsupported operation type: Filter'):
        ds.deserialize(ds.serialize(numbers(2).filter(lambda x: True)))
    with pytest.raises(TypeError, match='dataset'):
        ds.serialize(3)


def test_a_copy_is_a_dataset_of_its_own():
    d = numbers(4)
    e = copy.deepcopy(d.batch(2))
    d.use_sampler(ds.SequentialSampler(2))
    assert len(e.children[0]) == 4 and len(d) == 2
    assert [r[0].asnumpy().tolist() for r in e] == [[0, 1], [2, 3]]
