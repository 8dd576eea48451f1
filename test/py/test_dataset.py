"""The data pipeline from Python: sources, operations, samplers, transforms, iterators, and bad input."""
import gc
import copy
import gzip
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import _c
from mindspore.dataset import transforms, vision

FASHION = '/usr/share/datasets/fashion-mnist'
needs_fashion = pytest.mark.skipif(not os.path.isdir(FASHION), reason='needs the package dataset-fashion-mnist')


def numbers(n=10, **kwargs):
    kwargs.setdefault('shuffle', False)
    return ds.NumpySlicesDataset({'x': np.arange(n), 'y': np.arange(n) * 1.5}, **kwargs)


def rows(d, column=0):
    return [r[column].tolist() for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.fixture
def seed():
    ds.config.set_seed(11)


# ---- operations ----

def test_flow():
    assert rows(numbers(5).skip(1).take(3)) == [1, 2, 3]
    assert rows(numbers(2).repeat(2)) == [0, 1, 0, 1]
    assert rows(numbers(2) + numbers(3)) == [0, 1, 0, 1, 2]
    assert rows(numbers(5).filter(lambda x: x > 2, ['x'])) == [3, 4]
    d = numbers(4).rename(['x'], ['a']).project(['y', 'a'])
    assert d.get_col_names() == ['y', 'a'] and rows(d, 1) == [0, 1, 2, 3]
    z = ds.zip((numbers(3).rename(['x', 'y'], ['a', 'b']), numbers(2)))
    assert z.get_col_names() == ['a', 'b', 'x', 'y'] and len(z) == 2
    assert len(numbers(3).apply(lambda d: d.repeat(3))) == 9


def test_facts():
    d = numbers(10).batch(4)
    assert (len(d), d.get_batch_size(), d.get_repeat_count()) == (3, 4, 1)
    assert d.output_shapes() == [[4], [4]] and d.output_types() == [np.int64, np.float64]
    assert d.output_shapes(estimate=True) == [[None], [None]]
    assert numbers(10).batch(4, drop_remainder=True).get_dataset_size() == 2
    assert numbers(10).repeat(2).get_repeat_count() == 2
    assert numbers(10).repeat().get_dataset_size() == 10
    assert numbers(10).filter(lambda x: x % 2 == 0, 'x').get_dataset_size() == 5


def test_batch():
    batches = list(numbers(5).batch(2).create_dict_iterator(output_numpy=True))
    assert [b['x'].tolist() for b in batches] == [[0, 1], [2, 3], [4]]
    d = numbers(4).batch(2, per_batch_map=lambda x, y, info: ([v + info.get_batch_num() for v in x], y))
    assert rows(d) == [[0, 1], [3, 4]]
    d = numbers(4).batch(2, per_batch_map=lambda x, info: (x, x), input_columns=['x'], output_columns=['p', 'q'])
    assert d.get_col_names() == ['p', 'q', 'y'] and rows(d, 1) == [[0, 1], [2, 3]]
    assert rows(numbers(6).batch(lambda info: info.get_batch_num() + 1)) == [[0], [1, 2], [3, 4, 5]]
    ragged = ds.GeneratorDataset(lambda: ((np.arange(i + 1),) for i in range(3)), ['x'])
    assert rows(ragged.padded_batch(3)) == [[[0, 0, 0], [0, 1, 0], [0, 1, 2]]]
    assert rows(ragged.padded_batch(2, pad_info={'x': ([4], -1)})) == [[[0, -1, -1, -1], [0, 1, -1, -1]],
                                                                       [[0, 1, 2, -1]]]
    with pytest.raises(RuntimeError, match=r"column 'x'.*\[1\].*\[2\]"):
        rows(ragged.batch(2))


def test_map_columns():
    d = numbers(2).map(lambda x: (x, x + 1), 'x', ['a', 'b'])
    assert d.get_col_names() == ['a', 'b', 'y'] and rows(d, 1) == [1, 2]
    d = numbers(2).map(lambda x, y: x + y, ['x', 'y'], ['s'])
    assert d.get_col_names() == ['s'] and rows(d) == [0.0, 2.5]
    d = numbers(2).map([lambda x: x * 2, transforms.TypeCast(ms.float32), lambda x: x + 0.5], 'x')
    assert rows(d) == [0.5, 2.5]
    assert rows(numbers(2).map(transforms.Duplicate(), ['x'], ['x', 'x2']), 1) == [0, 1]


def test_python_functions_own_their_input():
    base = np.arange(4.0)
    d = ds.NumpySlicesDataset({'x': base}, shuffle=False)

    def spoil(x):
        x += 100
        return x
    for _ in range(2):
        assert rows(d.map(spoil, 'x')) == [100, 101, 102, 103]
    for (x,) in d:
        x.asnumpy()[...] = -1
    assert rows(d) == [0, 1, 2, 3]


def test_iterators():
    it = numbers(3).create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [len(list(it)), len(list(it))] == [3, 3]
    with pytest.raises(RuntimeError, match='beyond the specified number of epochs'):
        next(it)
    it = numbers(2).create_dict_iterator()
    for _ in range(3):
        assert [int(r['x'].asnumpy()) for r in it] == [0, 1]
    assert isinstance(next(iter(numbers(2)))[0], ms.Tensor)
    assert rows(numbers(2), 1) == [0, 1.5]
    assert [len(r) for r in numbers(1).create_tuple_iterator(columns=['y'])] == [1]


# ---- order and randomness ----

def pipeline(workers):
    d = numbers(50, shuffle=True).shuffle(8)
    d = d.map([transforms.RandomApply([transforms.Fill(7)], 0.5)], 'x', num_parallel_workers=workers)
    return rows(d.repeat(2))


def test_deterministic_for_any_number_of_workers(seed):
    first = pipeline(1)
    assert pipeline(1) == first and pipeline(2) == first and pipeline(7) == first
    assert first[:50] != first[50:]
    ds.config.set_debug_mode(True)
    try:
        assert pipeline(3) == first
    finally:
        ds.config.set_debug_mode(False)
    ds.config.set_seed(12)
    assert pipeline(1) != first


def test_slow_rows_do_not_overtake():
    def slow(x):
        time.sleep(0.02 if x % 3 == 0 else 0)
        return x
    assert rows(numbers(12).map(slow, 'x', num_parallel_workers=4)) == list(range(12))


def test_samplers(seed):
    def order(sampler, n=8):
        return rows(ds.NumpySlicesDataset(np.arange(n), sampler=sampler))
    assert order(ds.SequentialSampler(2, 3)) == [2, 3, 4]
    assert sorted(order(ds.RandomSampler())) == list(range(8)) and order(ds.RandomSampler()) != list(range(8))
    assert len(order(ds.RandomSampler(True, 20))) == 20
    assert order(ds.SubsetSampler([5, 1])) == [5, 1]
    assert sorted(order(ds.SubsetRandomSampler([5, 1, 2]))) == [1, 2, 5]
    assert order(ds.DistributedSampler(3, 2, shuffle=False)) == [2, 5, 0]
    assert sorted(sum((order(ds.DistributedSampler(2, k)) for k in range(2)), [])) == list(range(8))
    assert set(order(ds.WeightedRandomSampler([0, 1, 0, 1], 50), 4)) == {1, 3}
    assert sorted(order(ds.WeightedRandomSampler([1, 0, 1, 1], 3, False), 4)) == [0, 2, 3]

    class Backwards(ds.Sampler):
        def __iter__(self):
            return iter(range(self.dataset_size - 1, -1, -1))
    assert order(Backwards(), 3) == [2, 1, 0]
    assert order([3, 3, 0]) == [3, 3, 0]
    child = ds.SequentialSampler(0, 4)
    parent = ds.SubsetSampler([3, 0])
    parent.add_child(child)
    assert order(parent) == [3, 0]
    with pytest.raises(RuntimeError, match=r'\(9\) is out of bound'):
        order([9])
    labels = np.repeat(np.arange(3), 4)
    d = ds.NumpySlicesDataset({'v': np.arange(12), 'label': labels}, sampler=ds.PKSampler(2, 2))
    assert rows(d, 1) == [0, 0, 1, 1]
    assert rows(numbers(7, num_shards=2, shard_id=1)) == [1, 3, 5, 0]
    assert rows(numbers(7, num_samples=3)) == [0, 1, 2]
    assert sorted(rows(numbers(6, shuffle=None))) == list(range(6))


def test_places_of_the_original():
    from mindspore.dataset.engine.datasets_vision import ImageFolderDataset
    assert ImageFolderDataset is ds.ImageFolderDataset is ds.engine.datasets_vision.ImageFolderDataset


def test_sampler_of_python():
    class Counting(ds.Sampler):
        def __init__(self, length=None, num_samples=None):
            super().__init__(num_samples)
            self.at, self.length = 0, length

        def __iter__(self):
            return iter([self.at] * 3)

        def reset(self):
            self.at += 1

    d = ds.NumpySlicesDataset(list(range(8)), sampler=Counting())
    assert d.get_dataset_size() == 3
    for _ in range(2):  # each pass works on a copy
        it = d.create_tuple_iterator(num_epochs=3, output_numpy=True)
        assert [[int(r[0]) for r in it] for _ in range(3)] == [[0] * 3, [1] * 3, [2] * 3]
    assert rows(d.repeat(2)) == [0, 0, 0, 1, 1, 1]

    class Sized:
        def __init__(self, n):
            self.n = n

        def __len__(self):
            return self.n

        def __iter__(self):
            return iter(range(10))  # more than the dataset has, and than it says

    d = ds.NumpySlicesDataset(list(range(8)), sampler=Sized(5))
    assert d.get_dataset_size() == 5 and rows(d) == [0, 1, 2, 3, 4]
    selected = Sized(5)
    selected.num_samples = 15  # not of a ds.Sampler: of how many it selects, say
    d = ds.NumpySlicesDataset(list(range(8)), sampler=selected)
    assert d.get_dataset_size() == len(rows(d)) == 5
    d = ds.NumpySlicesDataset(list(range(20)), sampler=Sized(15))
    assert d.get_dataset_size() == 15
    with pytest.raises(RuntimeError, match='data read from generator 10 is different from generator.len 15'):
        rows(d)
    with pytest.raises(TypeError, match='Unsupported sampler'):
        ds.NumpySlicesDataset([1], sampler='a')
    with pytest.raises(TypeError, match='not an instance of a sampler'):
        d.use_sampler(1)


def test_split_sizes():
    def sizes(*shares, n=5):
        return [len(p) for p in numbers(n).split(list(shares), randomize=False)]
    assert sizes(0.5, 0.5) == [3, 2]  # 2.5 rounds to 2, the row that is left over goes to the first
    assert sizes(0.35, 0.35, 0.3, n=10) == [3, 4, 3]  # 4 + 4 + 3 are one too many
    for shares, kind, what in (([], ValueError, 'empty'), ([5, 0.6], ValueError, 'list of int or list of float'),
                               ([-1, 6], ValueError, 'negative'), ([3, 1], RuntimeError, 'split sizes 4 is not equal'),
                               ([0.3, 0.6], ValueError, 'sum up to 1'), ([1.5, 0.5], ValueError, 'outside the range'),
                               ([0.05, 0.95], RuntimeError, '0.05 is too small'),
                               ([0.15] * 5 + [0.25], RuntimeError, 'calculated split sizes 6')):
        with pytest.raises(kind, match=what):
            numbers(5).split(shares)
    with pytest.raises(RuntimeError, match='sharded'):
        numbers(5, num_shards=2, shard_id=0).split([2, 1])


def test_split(seed):
    a, b = numbers(10, shuffle=True).split([0.7, 0.3])
    assert len(a) == 7 and sorted(rows(a) + rows(b)) == list(range(10)) and sorted(rows(a)) == sorted(rows(a.repeat(1)))
    a, b = numbers(5).batch(1).split([2, 3], randomize=False)
    assert rows(b) == [[2], [3], [4]]


def test_config():
    ds.config.set_prefetch_size(2)
    assert ds.config.get_prefetch_size() == 2
    ds.config.set_prefetch_size(16)
    for bad in (0, -1, 2 ** 31):
        with pytest.raises(ValueError):
            ds.config.set_prefetch_size(bad)
    with pytest.raises(TypeError):
        ds.config.set_num_parallel_workers('2')
    with pytest.raises(ValueError):
        ds.config.set_seed(-1)


# ---- sources ----

class Squares:
    def __getitem__(self, i):
        return np.float32(i), np.array([i * i, i])

    def __len__(self):
        return 6


def test_generator():
    d = ds.GeneratorDataset(Squares(), ['a', 'b'], shuffle=False)
    assert len(d) == 6 and rows(d, 1)[3] == [9, 3]
    assert rows(ds.GeneratorDataset(Squares(), ['a', 'b'], shuffle=False, num_parallel_workers=3), 1) == rows(d, 1)
    assert sorted(rows(ds.GeneratorDataset(Squares(), ['a', 'b']))) == [0, 1, 2, 3, 4, 5]
    assert rows(ds.GeneratorDataset(Squares(), ['a', 'b'], sampler=ds.SequentialSampler(4))) == [4, 5]
    made = ds.GeneratorDataset(lambda: ((i,) for i in range(4)), ['a'])
    assert rows(made.repeat(2)) == [0, 1, 2, 3] * 2 and len(made) == 4
    assert rows(ds.GeneratorDataset(lambda: range(5), ['a'], num_samples=2)) == [0, 1]
    assert rows(ds.GeneratorDataset([5, 6], ['a'], shuffle=False)) == [5, 6]

    class Forward:
        def __iter__(self):
            return iter([(ms.Tensor([1.0, 2.0]),), (np.zeros(2, np.float32),)])
    assert rows(ds.GeneratorDataset(Forward(), ['a'])) == [[1, 2], [0, 0]]
    it1, it2 = made.create_tuple_iterator(output_numpy=True), made.create_tuple_iterator(output_numpy=True)
    assert [int(next(it1)[0]), int(next(it2)[0]), int(next(it1)[0]), int(next(it2)[0])] == [0, 0, 1, 1]


def test_generator_errors():
    def wrong():
        yield (1, 2)
    with pytest.raises(RuntimeError, match='column_names is:1 and number of returned NumPy array is:2'):
        rows(ds.GeneratorDataset(wrong, ['a']))

    def breaks():
        yield 1,
        raise KeyError('gone')
    it = ds.GeneratorDataset(breaks, ['a']).create_tuple_iterator()
    next(it)
    with pytest.raises(RuntimeError, match='gone') as e:
        next(it)
    assert isinstance(e.value.__cause__, KeyError)
    with pytest.raises(RuntimeError, match='type of returned data'):
        rows(ds.GeneratorDataset([1, 2], ['a'], [ms.float32], shuffle=False))
    with pytest.raises(RuntimeError):
        rows(ds.GeneratorDataset([object()], ['a'], shuffle=False))
    for call in (lambda: ds.GeneratorDataset(Squares()), lambda: ds.GeneratorDataset(wrong, ['a'], shuffle=True),
                 lambda: ds.GeneratorDataset(Squares(), ['a'], num_shards=2)):
        with pytest.raises((ValueError, RuntimeError)):
            call()
    with pytest.raises(TypeError):
        ds.GeneratorDataset(3, ['a'])


@needs_fashion
def test_fashion_mnist():
    d = ds.FashionMnistDataset(FASHION, 'train', shuffle=False)
    assert len(d) == 60000 and d.output_shapes() == [[28, 28, 1], []] and d.output_types() == [np.uint8, np.uint32]
    assert len(ds.FashionMnistDataset(FASHION)) == 70000
    with gzip.open(f'{FASHION}/t10k-images-idx3-ubyte.gz') as f:
        images = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 28, 28, 1)
    with gzip.open(f'{FASHION}/t10k-labels-idx1-ubyte.gz') as f:
        labels = np.frombuffer(f.read(), np.uint8, offset=8)
    test = ds.FashionMnistDataset(FASHION, 'test', shuffle=False).batch(1000)
    for k, (x, y) in enumerate(test.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        assert np.array_equal(x, images[k * 1000:k * 1000 + 1000]) and np.array_equal(y, labels[k * 1000:k * 1000 + 1000])
    assert k == 9
    ops = [vision.Rescale(1 / 255, 0), vision.Normalize([0.1307], [0.3081]), vision.HWC2CHW()]
    x = next(iter(test.map(lambda v: v, 'label').project('image')))[0].asnumpy()
    fused = ds.FashionMnistDataset(FASHION, 'test', shuffle=False).map(ops, 'image').batch(1000)
    got = next(fused.create_tuple_iterator(output_numpy=True))[0]
    scaled = x[:1000].astype(np.float32) * np.float32(1 / 255)
    assert np.array_equal(got, ((scaled - np.float32(0.1307)) / np.float32(0.3081)).transpose(0, 3, 1, 2))


def idx(path, shape, data, magic=None):
    head = struct.pack('>I', 0x800 | len(shape) if magic is None else magic) + struct.pack(f'>{len(shape)}I', *shape)
    (gzip.open if str(path).endswith('.gz') else open)(path, 'wb').write(head + data)


@pytest.mark.parametrize('suffix', ['', '.gz'])
def test_idx_files(tmp_path, suffix):
    images, labels = tmp_path / f'train-images-idx3-ubyte{suffix}', tmp_path / f'train-labels-idx1-ubyte{suffix}'
    idx(labels, (2,), bytes([3, 9]))
    pixels = os.urandom(2 * 784)
    idx(images, (2, 28, 28), pixels)
    d = ds.MnistDataset(str(tmp_path), 'train', shuffle=False)
    assert rows(d, 1) == [3, 9] and bytes(np.array(rows(d), np.uint8).tobytes()) == pixels

    def refused(text):
        with pytest.raises((RuntimeError, ValueError, OSError), match=text) as e:
            rows(ds.MnistDataset(str(tmp_path), 'train', shuffle=False))
        assert 'train-images-idx3-ubyte' in str(e.value)
    for shape, data, magic, text in (((2, 28, 28), pixels[:-1], None, 'truncated'),
                                     ((2, 28, 28), pixels + b'x', None, 'goes on after'),
                                     ((2, 28, 28), pixels, 0x801, 'magic'), ((2, 28, 28), pixels, 0xd03, 'magic'),
                                     ((2, 27, 28), pixels, None, '28 x 28'), ((3, 28, 28), pixels * 2, None, 'belong'),
                                     ((2 ** 32 - 1, 28, 28), pixels, None, 'truncated or corrupted'),
                                     ((2 ** 32 - 1,) * 3, pixels, None, 'corrupted')):
        idx(images, shape, data, magic)
        refused(text)
    images.write_bytes(b'')
    refused('truncated')
    images.write_bytes(os.urandom(5000))
    refused('train-images')
    if suffix:
        idx(images, (2, 28, 28), pixels)
        whole = images.read_bytes()
        images.write_bytes(whole[:-30])
        refused('truncated|corrupted')
        images.write_bytes(whole[:400] + bytes([whole[400] ^ 16]) + whole[401:])
        refused('corrupted|truncated|goes on')
    images.unlink()
    images.mkdir()
    refused('not a regular file')
    images.rmdir()
    refused('not in the folder')
    with pytest.raises(ValueError, match='does not exist or is not a directory'):
        ds.MnistDataset(str(tmp_path / 'nope'))
    with pytest.raises(ValueError, match='usage'):
        ds.MnistDataset(str(tmp_path), 'training')


# ---- transforms ----

IMAGE = np.random.RandomState(0).randint(0, 256, (6, 5, 3)).astype(np.uint8)


def test_affine():
    x = IMAGE.astype(np.float32)
    assert np.array_equal(vision.Rescale(0.5, 1)(IMAGE), x * np.float32(0.5) + 1)
    mean, std = [1, 2, 3], [4, 5, 6]
    normal = (x - np.float32(mean)) / np.float32(std)
    assert np.array_equal(vision.Normalize(mean, std)(IMAGE), normal)
    chw = x.transpose(2, 0, 1)
    assert np.array_equal(vision.Normalize(mean, std, is_hwc=False)(chw), normal.transpose(2, 0, 1))
    assert np.array_equal(vision.ToTensor()(IMAGE), chw * np.float32(1 / 255))
    assert vision.ToTensor()(IMAGE[:, :, 0]).shape == (1, 6, 5)
    assert vision.ToTensor(np.float16)(IMAGE).dtype == np.float16
    assert np.array_equal(vision.HWC2CHW()(IMAGE), IMAGE.transpose(2, 0, 1))
    for ops in ([vision.Rescale(0.1, 0), vision.Normalize(mean, std), vision.HWC2CHW()],
                [vision.Normalize(mean, std), vision.HWC2CHW(), vision.Rescale(2, -1)],
                [vision.HWC2CHW(), vision.Normalize(mean, std, is_hwc=False), transforms.TypeCast(np.float32)],
                [vision.Rescale(0.1, 3), transforms.TypeCast(np.float32), vision.Rescale(3, 1)],
                [vision.ToTensor(), vision.Normalize(mean, std, is_hwc=False)]):
        one_by_one = transforms.Compose(ops)(IMAGE)
        d = ds.NumpySlicesDataset({'x': IMAGE[None]}, shuffle=False).map(ops, 'x')
        assert np.array_equal(next(d.create_tuple_iterator(output_numpy=True))[0], one_by_one)
    d = ds.NumpySlicesDataset({'x': IMAGE[None]}, shuffle=False)
    for bad in ([vision.Rescale(1, 0), vision.Normalize([1], [1]), vision.Normalize([1, 1], [1, 1])],
                [vision.HWC2CHW(), vision.Normalize([1] * 3, [1] * 3)]):
        with pytest.raises(RuntimeError, match='Normalize'):
            rows(d.map(bad, 'x'))


def test_geometry():
    assert np.array_equal(vision.HorizontalFlip()(IMAGE), IMAGE[:, ::-1])
    assert np.array_equal(vision.VerticalFlip()(IMAGE), IMAGE[::-1])
    assert np.array_equal(vision.CenterCrop((3, 3))(IMAGE), IMAGE[1:4, 1:4])
    assert np.array_equal(vision.Crop((1, 2), 3)(IMAGE), IMAGE[1:4, 2:5])
    for mode, name in ((vision.Border.EDGE, 'edge'), (vision.Border.REFLECT, 'reflect'),
                       (vision.Border.SYMMETRIC, 'symmetric')):
        assert np.array_equal(vision.Pad((1, 2, 3, 4), 0, mode)(IMAGE), np.pad(IMAGE, ((2, 4), (1, 3), (0, 0)), name))
    padded = vision.Pad(1, (7, 8, 9))(IMAGE)
    assert padded[0, 0].tolist() == [7, 8, 9] and np.array_equal(padded[1:-1, 1:-1], IMAGE)
    crops = {vision.RandomCrop(4)(IMAGE).tobytes() for _ in range(50)}
    assert crops == {IMAGE[a:a + 4, b:b + 4].tobytes() for a in range(3) for b in range(2)}
    assert vision.RandomCrop(8, pad_if_needed=True)(IMAGE).shape == (8, 8, 3)
    flips = [np.array_equal(vision.RandomHorizontalFlip(p)(IMAGE), IMAGE) for p in (0.0, 1.0)]
    assert flips == [True, False]
    assert vision.Resize(10)(IMAGE).shape == (12, 10, 3)
    assert np.array_equal(vision.Resize((12, 10), vision.Inter.NEAREST)(IMAGE), IMAGE.repeat(2, 0).repeat(2, 1))
    assert vision.Resize((1, 3))(np.array([[0, 10]], np.float32)).tolist() == [[0, 5, 10]]
    two = ds.NumpySlicesDataset({'a': np.stack([IMAGE] * 8), 'b': np.stack([IMAGE] * 8)}, shuffle=False)
    two = two.map([vision.RandomCrop(3), vision.RandomHorizontalFlip()], ['a', 'b'])
    assert all(np.array_equal(a, b) for a, b in two.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_basic():
    assert transforms.OneHot(4)(2).tolist() == [0, 0, 1, 0]
    assert np.allclose(transforms.OneHot(4, 0.1)(np.array([0, 3])), [[.925, .025, .025, .025], [.025, .025, .025, .925]])
    for bad in (4, -1):
        with pytest.raises(RuntimeError, match=str(bad)):
            transforms.OneHot(4)(bad)
    for t in (np.int32, ms.float16, np.bool_, ms.uint8):
        assert transforms.TypeCast(t)(np.array([0, 1, 3.7])).tolist() == \
            np.array([0, 1, 3.7]).astype(transforms.TypeCast(t)(1).dtype).tolist()
    big = np.array([2 ** 63 - 1, -2 ** 63])
    assert transforms.TypeCast(np.uint64)(big).tolist() == [2 ** 63 - 1, 2 ** 63]
    assert transforms.Fill(3)(np.zeros(2, np.uint8)).tolist() == [3, 3]
    assert transforms.RandomChoice([transforms.Fill(1), transforms.Fill(2)])(np.zeros(1)).tolist() in ([1], [2])
    assert sorted(transforms.RandomOrder([lambda x: x + 1, lambda x: x * 2])(np.array(1)).ravel().tolist())[0] in (3, 4)
    op = pickle.loads(pickle.dumps(vision.Normalize([1], [2])))
    assert copy.deepcopy(op)(np.full((1, 1, 1), 3.0)).item() == 1


@pytest.mark.parametrize('call, kind, text', [
    (lambda: vision.Normalize([1], [0]), ValueError, r'std\[0\]'),
    (lambda: vision.Normalize([1, 2], [1]), ValueError, 'must be equal'),
    (lambda: vision.Rescale('a', 1), TypeError, 'rescale'),
    (lambda: vision.RandomHorizontalFlip(1.5), ValueError, 'prob'),
    (lambda: vision.Resize((1, 2, 3)), TypeError, 'length 2'),
    (lambda: vision.Resize(0), ValueError, 'size'),
    (lambda: vision.Rescale(1, 0)([[1]]), TypeError, 'NumPy or PIL'),
    (lambda: vision.RandomCrop(9)(IMAGE), RuntimeError, 'bigger than the image'),
    (lambda: vision.HWC2CHW()(np.zeros(3)), RuntimeError, 'HWC2CHW'),
    (lambda: transforms.TypeCast('no type'), TypeError, 'data_type'),
    (lambda: transforms.Compose([]), ValueError, 'empty'),
    (lambda: transforms.Compose([3]), TypeError, 'callable'),
    (lambda: numbers().batch(0), ValueError, 'batch_size'),
    (lambda: numbers().shuffle(1), ValueError, 'buffer_size'),
    (lambda: numbers().repeat(0), ValueError, 'count'),
    (lambda: numbers().map(lambda x: x, 'x', nonsense=1), TypeError, 'nonsense'),
    (lambda: numbers().map(lambda x: x, 'q'), RuntimeError, "'q'.*x, y"),
    (lambda: numbers().map([], 'x'), ValueError, 'empty'),
    (lambda: numbers().project('q'), RuntimeError, 'q'),
    (lambda: ds.zip((numbers(), numbers())), RuntimeError, 'duplicate column x'),
    (lambda: numbers(num_shards=2), RuntimeError, 'requires shard_id'),
    (lambda: ds.NumpySlicesDataset({'a': [1, 2], 'b': [1]}), ValueError, 'equally long'),
    (lambda: numbers().create_tuple_iterator(num_epochs=0), ValueError, 'num_epochs'),
    (lambda: rows(numbers().map(lambda x: (x, x), 'x')), RuntimeError, 'number of columns'),
    (lambda: rows(numbers().map(lambda x: object(), 'x')), RuntimeError, "Column 'x' of row 0"),
])
def test_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


# ---- failures, shutdown, leaks ----

@pytest.mark.parametrize('workers', [1, 3])
def test_failing_function(workers):
    def fails(x):
        if x == 5:
            raise ZeroDivisionError('no five')
        return x
    it = numbers().map(fails, 'x', num_parallel_workers=workers).create_tuple_iterator(output_numpy=True)
    seen = []
    with pytest.raises(RuntimeError, match=r"\[PyFunc\] failed\..*no five.*Column 'x' of row 5") as e:
        for x, _ in it:
            seen.append(int(x))
    assert seen == [0, 1, 2, 3, 4] and isinstance(e.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError):
        next(it)
    assert len(rows(numbers())) == 10


def test_dropped_early_leaves_nothing():
    def once(k):
        d = numbers(1000).map(lambda x: x + 1, 'x', num_parallel_workers=3).map(transforms.TypeCast(ms.int32), 'x')
        it = d.shuffle(50).batch(4).create_tuple_iterator(num_epochs=-1)
        for _ in range(k):
            next(it)
    once(3)
    gc.collect()
    live, threads = _c.memory_stats()['n_live'], len(os.listdir('/proc/self/task'))
    for k in (0, 1, 5):
        once(k)
    assert _c.memory_stats()['n_live'] == live and len(os.listdir('/proc/self/task')) == threads


def test_several_consumers():
    results = {}

    def consume(k):
        results[k] = rows(numbers(200).map(lambda x: x * 2, 'x', num_parallel_workers=2))
    threads = [threading.Thread(target=consume, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(results[k] == list(range(0, 400, 2)) for k in range(3))


def run_python(text, **kwargs):
    return subprocess.Popen([sys.executable, '-c', text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            **kwargs)


def test_interrupt():
    p = run_python('import time, sys, mindspore.dataset as ds\n'
                   'def slow():\n'
                   '    yield 1,\n'
                   '    time.sleep(1.5)\n'
                   '    yield 2,\n'
                   'try:\n'
                   '    for row in ds.GeneratorDataset(slow, ["x"]):\n'
                   '        print("ready", flush=True)\n'
                   'except KeyboardInterrupt:\n'
                   '    print("stopped")\n'
                   'print(len(list(ds.NumpySlicesDataset([1, 2]))))\n')
    assert p.stdout.readline() == 'ready\n'
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=20)
    assert out == 'stopped\n2\n' and p.returncode == 0, err


def test_exit_with_live_iterators():
    p = run_python('import mindspore.dataset as ds\n'
                   'its = [iter(ds.NumpySlicesDataset([1, 2, 3]).map(lambda x: x).repeat()) for _ in range(3)]\n'
                   'for it in its: next(it)\n'
                   'print("end")\n')
    out, err = p.communicate(timeout=20)
    assert out == 'end\n' and p.returncode == 0, err


def test_refused_allocations():
    def run():
        d = numbers(6).map(lambda x: x + 1, 'x').map(transforms.TypeCast(ms.int32), 'x', num_parallel_workers=2).batch(2)
        return rows(d)
    expect = run()
    gc.collect()
    live = _c.memory_stats()['n_live']
    refused = 0
    for k in range(1, 120):
        _c.memory_fail_after(k)
        try:
            assert run() == expect
        except (MemoryError, RuntimeError):
            refused += 1
        finally:
            _c.memory_fail_after(0)
    assert refused > 20 and _c.memory_stats()['n_live'] == live
