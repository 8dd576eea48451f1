"""Event files: framing and content, read back by a small decoder of the protocol buffer wire format."""
import shutil
import struct
import zlib

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.train import SummaryCollector, SummaryRecord


def crc32c(data):
    v = 0xffffffff
    for byte in data:
        v ^= byte
        for _ in range(8):
            v = v >> 1 ^ (0x82f63b78 if v & 1 else 0)
    v ^= 0xffffffff
    return ((v >> 15 | v << 17) + 0xa282ead8) & 0xffffffff


def records(path):
    data, found = path.read_bytes(), []
    while data:
        n, = struct.unpack('<Q', data[:8])
        assert struct.unpack('<I', data[8:12])[0] == crc32c(data[:8])
        found.append(data[12:12 + n])
        assert struct.unpack('<I', data[12 + n:16 + n])[0] == crc32c(found[-1])
        data = data[16 + n:]
    return found


def message(data):
    """{field: [values]}: ints, 4 or 8 raw bytes, or bytes."""
    at, out = 0, {}

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        kind = key & 7
        n = {1: 8, 5: 4}.get(kind) or (varint() if kind == 2 else 0)
        value = varint() if kind == 0 else data[at:at + n]
        at += 0 if kind == 0 else n
        out.setdefault(key >> 3, []).append(value)
    return out


def events(folder):
    path, = folder.iterdir()
    assert 'tfevents' in path.name
    found = {}
    for raw in records(path):
        event = message(raw)
        for value in message(event[5][0])[1] if 5 in event else ():
            value = message(value)
            found[value[1][0].decode(), event[2][0]] = value
    return found


def test_values(tmp_path):
    with SummaryRecord(str(tmp_path)) as log:
        log.add_value('scalar', 'loss', ms.Tensor(0.5))
        log.add_value('image', 'picture', ms.Tensor(np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)))
        log.add_value('histogram', 'weights', np.array([1.0, 2.0, 2.0, np.nan]))
        log.add_value('text', 'note', 'Zürich')
        assert log.record(7)
        log.add_value('scalar', 'loss', 0.25)
        log.record(300)
    found = events(tmp_path)
    assert struct.unpack('<f', found['loss', 7][2][0]) == (0.5,) and struct.unpack('<f', found['loss', 300][2][0]) == (0.25,)
    image = message(found['picture', 7][4][0])
    assert (image[1], image[2], image[3]) == ([4], [4], [3])
    png = image[4][0]
    size, = struct.unpack('>I', png[33:37])
    rows = np.frombuffer(zlib.decompress(png[41:41 + size]), np.uint8).reshape(4, 13)[:, 1:].reshape(4, 4, 3)
    np.testing.assert_array_equal(rows[0, 0], (np.array([0, 16, 32]) * 255 / 47).astype(np.uint8))
    histogram = message(found['weights', 7][5][0])
    assert struct.unpack('<d', histogram[3][0]) == (3.0,) and struct.unpack('<d', histogram[4][0]) == (5.0,)
    assert message(found['note', 7][8][0])[8] == ['Zürich'.encode()]


def test_limit_and_errors(tmp_path):
    log = SummaryRecord(str(tmp_path), max_file_size=80, raise_exception=True)
    log.add_value('scalar', 'a', 1)
    assert log.record(1)
    log.add_value('scalar', 'a', 1)
    with pytest.raises(RuntimeError, match='max_file_size'):
        log.record(2)
    for args, error in ((('zz', 'a', 1), ValueError), (('scalar', 3, 1), TypeError), (('scalar', 'b', np.ones(2)), ValueError),
                        (('image', 'b', np.ones(2)), ValueError), (('scalar', 'b', 'text'), TypeError),
                        (('graph', 'b', 1), NotImplementedError)):
        with pytest.raises(error):
            log.add_value(*args)
    with pytest.raises(TypeError, match='step'):
        log.record('1')


def test_collector(tmp_path):
    x = np.random.RandomState(0).rand(8, 1, 4, 4).astype(np.float32)
    data = ds.NumpySlicesDataset((x, np.arange(8, dtype=np.int32) % 2), ['x', 'y'], shuffle=False).batch(2)
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(16, 2))
    model = ms.Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9), {'acc'})
    model.fit(1, data, data, callbacks=SummaryCollector(str(tmp_path), collect_freq=3))
    found = events(tmp_path)
    assert {('loss/auto', 1), ('loss/auto', 3), ('learning_rate/auto', 1), ('input_data/auto', 3), ('1.weight/auto', 1), ('eval/metric/acc', 4)} <= set(found)
    assert not {('loss/auto', 2), ('loss/auto', 4)} & set(found)
    with pytest.raises(NotImplementedError, match='collect_graph'):
        SummaryCollector(str(tmp_path), collect_specified_data={'collect_graph': True})
    with pytest.raises(ValueError, match='zz'):
        SummaryCollector(str(tmp_path), collect_specified_data={'zz': True})


@pytest.mark.parametrize('mode', [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_operators_of_a_network(tmp_path, mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scalar, self.tensor = ms.ops.ScalarSummary(), ms.ops.TensorSummary()

        def construct(self, x):
            self.scalar('total', x.sum())
            self.tensor('all', x)
            return x * 2
    ms.set_context(mode=mode)
    net = Net()
    try:
        net(ms.Tensor([9.0]))  # nobody listens
        with SummaryRecord(str(tmp_path), export_options={'tensor_format': 'npy'}) as log:
            for step in (1, 2):
                net(ms.Tensor([1.0, step]))
                log.record(step)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    found = {path.name: np.load(path).tolist() for path in tmp_path.glob('export_*/tensor/*.npy')}
    assert found == {'all_1.npy': [1, 1], 'all_2.npy': [1, 2]}
    for folder in tmp_path.glob('export_*'):
        shutil.rmtree(folder)
    found = events(tmp_path)
    assert [struct.unpack('<f', found['total', step][2][0]) for step in (1, 2)] == [(2.0,), (3.0,)]
    with pytest.raises(ValueError, match='name'):
        ms.ops.ScalarSummary()('', ms.Tensor(1.0))


def test_values_outlive_the_memory_of_a_graph(tmp_path):
    """A graph's memory serves other values after the operator ran."""
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense, self.tell = nn.Dense(64, 64, 'ones', has_bias=False), ms.ops.TensorSummary()

        def construct(self, x):
            y = self.dense(x)
            self.tell('y', y)
            for _ in range(3):
                y = self.dense(y).softmax(-1)
            return y
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net, x = Net(), np.ones((32, 64), np.float32)
        with SummaryRecord(str(tmp_path), export_options={'tensor_format': 'npy'}) as log:
            for k in range(4):
                net(ms.Tensor(x * k))
                log.record(k)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    files = {path.name: np.load(path) for path in tmp_path.glob('export_*/tensor/*.npy')}
    assert len(files) == 4
    for k in range(4):
        np.testing.assert_array_equal(files[f'y_{k}.npy'], np.full((32, 64), 64.0 * k))


def test_arguments_of_a_collector(tmp_path):
    for more, error, text in ((dict(collect_freq=0), ValueError, 'greater than 0'), (dict(keep_default_action=1), TypeError, 'bool'),
                              (dict(collect_specified_data={'histogram_regular': '*'}), ValueError, 'histogram_regular'),
                              (dict(collect_specified_data={'collect_metric': 1}), TypeError, 'collect_metric'),
                              (dict(export_options={'tensor_format': 'npz'}), ValueError, 'npz'),
                              (dict(custom_lineage_data={'a': None}), TypeError, 'lineage')):
        with pytest.raises(error, match=text):
            SummaryCollector(str(tmp_path), **more)
    (tmp_path / 'file').write_text('')
    with pytest.raises(NotADirectoryError):
        SummaryCollector(str(tmp_path / 'file'))
