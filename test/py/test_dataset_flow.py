"""Operations that join, hold back or split rows: buckets, padding, shards of a concat, sync_wait, debug hooks."""
import threading

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import debug, transforms, vision


def ragged(sizes):
    return ds.GeneratorDataset(lambda: ((np.full(n, i),) for i, n in enumerate(sizes)), ['x'])


def batches(d):
    return [r[0].tolist() for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_buckets():
    d = ragged([1, 4, 2, 5, 1, 9]).bucket_batch_by_length(['x'], [3, 6], [2, 2, 1], pad_info={'x': ([None], -1)})
    assert batches(d) == [[[0, -1], [2, 2]], [[1, 1, 1, 1, -1], [3, 3, 3, 3, 3]], [[5] * 9], [[4]]]
    d = ragged([1, 4, 2, 5, 1]).bucket_batch_by_length(['x'], [3, 6], [2, 2, 1], lambda x: len(x), {'x': ([None], 7)}, True,
                                                      True)
    two = d.repeat(2)
    assert batches(d) == [[[0, 7], [2, 2]], [[1, 1, 1, 1, 7], [3] * 5]] and batches(two) == 2 * batches(d)
    assert d.get_dataset_size() == 2
    with pytest.raises(RuntimeError, match='below the last boundary, 6'):
        batches(ragged([8]).bucket_batch_by_length(['x'], [3, 6], [1, 1, 1], None, {}, True))
    with pytest.raises(RuntimeError, match='element_length_function'):
        batches(ragged([8]).bucket_batch_by_length(['x'], [3], [1, 1], lambda x: x))
    with pytest.raises(RuntimeError, match='different shapes'):
        batches(ragged([1, 2]).bucket_batch_by_length(['x'], [3], [2, 2]))


def test_padding_crops_and_fills():
    d = ragged([1, 3])
    assert batches(d.padded_batch(2, pad_info={'x': ([2], -1)})) == [[[0, -1], [1, 1]]]
    assert batches(d.padded_batch(2, pad_info={'x': (None, 9)})) == [[[0, 9, 9], [1, 1, 1]]]
    assert batches(d.padded_batch(2, pad_info={})) == batches(d.padded_batch(2)) == [[[0, 0, 0], [1, 1, 1]]]
    with pytest.raises(RuntimeError, match="names the column 'z'"):
        d.padded_batch(2, pad_info={'z': ([2], 0)})
    with pytest.raises(RuntimeError, match='has 2 sizes, but a row has 1'):
        batches(d.padded_batch(2, pad_info={'x': ([2, 2], 0)}))


def test_shards_of_a_concat():
    more = ds.PaddedDataset([{'x': np.array(100 + i)} for i in range(2)])
    whole = ds.NumpySlicesDataset({'x': np.arange(4)}, shuffle=False) + more
    parts = []
    for shard in range(3):
        whole.use_sampler(ds.DistributedSampler(3, shard, shuffle=False))
        assert whole.get_dataset_size() == 2
        parts.append(batches(whole.repeat(2)))
    assert parts == [[0, 3] * 2, [1, 100] * 2, [2, 101] * 2]
    whole.use_sampler(ds.RandomSampler())
    assert whole.get_dataset_size() == 6 and sorted(batches(whole)) == [0, 1, 2, 3, 100, 101]
    with pytest.raises(TypeError, match='DistributedSampler'):
        whole.use_sampler(ds.SequentialSampler())


def test_concat_of_what_does_not_fit():
    one = ds.NumpySlicesDataset({'x': np.arange(4)}, shuffle=False)
    for other, what in ((ds.NumpySlicesDataset({'y': np.arange(4)}), 'same columns, but dataset 1'),
                        (ds.NumpySlicesDataset({'x': np.arange(4.0)}), "column 'x' of dataset 1 is float64"),
                        (one.batch(2), "of dataset 1 is int64 of 1 dimensions, but before it was int64 of 0")):
        whole = one + other
        assert whole.get_dataset_size() >= 6  # sizes need no rows
        with pytest.raises(RuntimeError, match=what):
            batches(whole)
    texts = ds.NumpySlicesDataset({'x': ['a']}) + ds.NumpySlicesDataset({'x': ['long']})
    assert batches(texts) == ['a', 'long']


def test_random_dataset(seed=3):
    schema = ds.Schema()
    for name, kind, shape in (('a', 'uint8', [2]), ('b', 'float32', [3, 1]), ('c', 'bool', [])):
        schema.add_column(name, kind, shape)
    d = ds.RandomDataset(5, schema, ['b', 'a', 'c'], shuffle=False)
    first, again = (list(d.create_tuple_iterator(num_epochs=1, output_numpy=True)) for _ in range(2))
    assert [(c.shape, c.dtype.name) for c in first[0]] == [((3, 1), 'float32'), ((2,), 'uint8'), ((), 'bool')]
    assert len(first) == 5 and all(np.array_equal(x, y) for r, q in zip(first, again) for x, y in zip(r, q))
    assert ds.RandomDataset(num_samples=2000).get_dataset_size() == 2000


def test_flat_map():
    d = ds.NumpySlicesDataset([2, 3], shuffle=False)
    flat = d.flat_map(lambda n: ds.NumpySlicesDataset(np.arange(int(n)), shuffle=False))
    assert batches(flat) == [0, 1, 0, 1, 2]
    with pytest.raises(TypeError, match='must give a dataset'):
        d.flat_map(lambda row: row)


@pytest.fixture
def on_failure():
    yield ds.config.set_error_samples_mode
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)


@pytest.mark.parametrize('workers', [1, 3])
def test_rows_that_fail(on_failure, workers):
    """They are left out, or other rows of the epoch stand for them at its end."""
    mode = ds.config.ErrorSamplesMode

    def odd(x):
        return 1 // int(x % 2) * x
    d = ds.NumpySlicesDataset(np.arange(6), shuffle=False).map(odd, num_parallel_workers=workers)
    for wanted, rows in ((mode.SKIP, [1, 3, 5] * 2), (mode.REPLACE, [1, 3, 5, 1, 3, 5] * 2)):
        on_failure(wanted)
        it = d.create_tuple_iterator(num_epochs=2, output_numpy=True)
        assert [int(r[0]) for _ in range(2) for r in it] == rows
    with pytest.raises(RuntimeError, match='cannot be replaced'):
        batches(ds.NumpySlicesDataset([2, 4]).map(odd))
    on_failure(mode.SKIP)
    assert ds.NumpySlicesDataset([2, 3]).map(odd).get_dataset_size() == 1
    on_failure(mode.RETURN)
    with pytest.raises(RuntimeError, match='ZeroDivision'):
        batches(d)


def test_failing_functions_leave_the_causes_of_others(on_failure):
    on_failure(ds.config.ErrorSamplesMode.SKIP)
    assert batches(ds.NumpySlicesDataset(np.arange(200), shuffle=False).map(lambda x: [][x])) == []
    on_failure(ds.config.ErrorSamplesMode.RETURN)
    with pytest.raises(RuntimeError) as e:
        batches(ds.NumpySlicesDataset([1]).map(lambda x: [][x]))
    assert isinstance(e.value.__cause__, IndexError)


def test_shards_are_parts_of_one_order():
    """Also where the processes' pipelines differ: the order is not drawn for a pass or a place in a pipeline."""
    def shard(k):
        return ds.NumpySlicesDataset(np.arange(40), num_shards=2, shard_id=k)
    other = ds.zip((ds.NumpySlicesDataset({'y': np.arange(20)}), shard(1)))
    rows = batches(shard(0)) + [int(r[1]) for r in other.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert sorted(rows) == list(range(40)) and rows != sorted(rows)


def test_sync_wait_counts_batches():
    d = ds.NumpySlicesDataset(np.arange(9), shuffle=False).sync_wait('p').batch(3)
    seen = []
    for row in d.create_tuple_iterator(num_epochs=1, output_numpy=True):
        seen.append(row[0].tolist())
        d.sync_update('p')
    assert seen == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    with pytest.raises(RuntimeError, match='No shuffle after sync'):
        d.shuffle(2)
    it = d.create_tuple_iterator(num_epochs=1)
    d.disable_sync() if next(it) else None
    assert len(list(it)) == 2


def test_sync_wait():
    seen, factor = [], [1]
    d = ds.NumpySlicesDataset(np.arange(6), shuffle=False)
    d = d.sync_wait('policy', num_batch=2, callback=lambda v: factor.__setitem__(0, v))
    d = d.map(lambda x: x * factor[0], 'column_0')
    for k, row in enumerate(d.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        seen.append(int(row[0]))
        if k % 2:
            d.sync_update('policy', data=10 ** (k // 2 + 1))
    assert seen == [0, 1, 20, 30, 400, 500]
    with pytest.raises(RuntimeError, match='not found'):
        d.sync_update('other')
    it = d.create_tuple_iterator(output_numpy=True)  # closing does not wait for an update that never comes
    next(it), next(it)
    end = threading.Timer(20, it.close)
    it.close()
    end.cancel()


def test_debug_hooks(capsys):
    class Add(debug.DebugHook):
        def compute(self, args):
            return [a + 1 for a in args]
    d = ds.NumpySlicesDataset({'x': np.arange(2)}, shuffle=False)
    ds.config.set_debug_mode(True, [Add(), debug.PrintMetaDataHook()])
    try:
        assert batches(d.map([lambda x: x * 10, transforms.Fill(3)], 'x')) == [4, 4]
        assert capsys.readouterr().out.count('dtype: int64') == 6
    finally:
        ds.config.set_debug_mode(False)
    assert batches(d.map(lambda x: x * 10, 'x')) == [0, 10]


def test_refusals():
    d = ds.NumpySlicesDataset([1], shuffle=False)
    for call in (lambda: ds.DatasetCache(1), lambda: ds.config.set_multiprocessing_start_method('spawn')):
        with pytest.raises(NotImplementedError):
            call()


def test_lines_of_a_file(tmp_path):
    (tmp_path / 'f').write_bytes('a\r\n\ngrün'.encode())
    f = ds.LineReader(str(tmp_path / 'f'))
    assert len(f) == f.len() == 3 and [f.readline(3), f[2], f.readline(1)] == ['grün', '', 'a']
    for line in (0, 4, -1):
        with pytest.raises(ValueError, match='required interval'):
            f.readline(line)
    f.close()
    with pytest.raises(RuntimeError, match='does not exist'):
        ds.LineReader(str(tmp_path / 'g'))


@pytest.mark.parametrize('to_pil', [False, True])
def test_python_transforms_draw_from_the_seed(to_pil):
    images = np.random.RandomState(0).randint(0, 256, (12, 20, 24, 3), np.uint8)

    def run(workers):
        ops = ([vision.ToPIL()] if to_pil else []) + [vision.RandomResize((9, 9)), vision.RandomCrop(7), np.asarray]
        d = ds.NumpySlicesDataset((images,), ['x'], shuffle=False).map(ops, 'x', num_parallel_workers=workers)
        return np.stack([r[0] for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)])
    ds.config.set_seed(5)
    one, three = run(1), run(3)
    np.testing.assert_array_equal(one, three)
    ds.config.set_seed(6)
    assert (run(1) != one).any()


@pytest.mark.parametrize('debug', [False, True])
def test_a_pass_resumes_at_a_step(debug):
    d = ds.NumpySlicesDataset((np.arange(10),), ['x'], shuffle=True).map(lambda x: x + 1, 'x').batch(3)

    def steps(it, epochs):
        return [b[0].tolist() for _ in range(epochs) for b in it]
    ds.config.set_seed(7)
    ds.config.set_debug_mode(debug)
    try:
        whole = steps(d.create_tuple_iterator(num_epochs=3, output_numpy=True), 3)
        for step in (1, 4, 6):
            d.set_init_step(step)
            it = d.create_tuple_iterator(num_epochs=3, output_numpy=True)
            assert len(d) == 4 and steps(it, 3 - step // 4) == whole[step:]
            with pytest.raises(RuntimeError, match='beyond the specified number of epochs'):
                next(it)
        d.set_init_step(0)
        it = d.create_tuple_iterator(num_epochs=3, output_numpy=True)
        next(it)
        it._reset(5, 4)
        assert steps(it, 2) == whole[5:]
        with pytest.raises(RuntimeError, match='must be less than dataset_size'):
            it._reset(12, 4)
    finally:
        ds.config.set_debug_mode(False)
