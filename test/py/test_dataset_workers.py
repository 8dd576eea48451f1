"""Worker processes of the pipeline: order, seeds, failures, and that none outlives its pipeline."""
import gc
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mindspore.dataset as ds


def numbers(n=12, **kwargs):
    return ds.NumpySlicesDataset({'x': np.arange(n), 'y': np.arange(n) * 0.5}, shuffle=False, **kwargs)


def values(d):
    return [r[0].tolist() for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f'/proc/{pid}/stat') as f:
        return f.read().rsplit(')', 1)[1].split()[0] != 'Z'


class Source:
    """Rows that say which process made them."""

    def __init__(self, n=12):
        self.n = n

    def __getitem__(self, i):
        time.sleep(0.002)
        return np.array(i), np.array(os.getpid()), np.full(100000, i, np.float32)

    def __len__(self):
        return self.n


def test_map():
    def double(x, y):
        return x * 2, os.getpid()
    d = numbers(40).map(double, ['x', 'y'], ['x', 'pid'], num_parallel_workers=3, python_multiprocessing=True)
    got = list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [int(r[0]) for r in got] == list(range(0, 80, 2))
    assert os.getpid() not in {int(r[1]) for r in got}


def test_source_and_large_rows():
    d = ds.GeneratorDataset(Source(), ['i', 'pid', 'big'], shuffle=False, num_parallel_workers=3)
    for _ in range(2):
        got = list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))
        assert [int(r[0]) for r in got] == list(range(12))
        assert all((r[2] == i).all() for i, r in enumerate(got))
        assert os.getpid() not in {int(r[1]) for r in got}
    d = ds.GeneratorDataset(Source(), ['i', 'pid', 'big'], num_parallel_workers=3, python_multiprocessing=False)
    assert {int(r[1]) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)} == {os.getpid()}


def test_batch():
    def total(xs, info):
        return [np.array([sum(int(x) for x in xs), os.getpid(), info.get_batch_num()])]
    d = numbers().batch(5, per_batch_map=total, input_columns=['x'], python_multiprocessing=True)
    got = np.concatenate([r[0] for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)])
    assert got[:, 0].tolist() == [10, 35, 21] and got[:, 2].tolist() == [0, 1, 2] and os.getpid() not in got[:, 1]


def test_random_numbers_follow_the_row_not_the_worker():
    def draw(x):
        return np.array([random.random(), np.random.rand()])

    def run(workers):
        ds.config.set_seed(3)
        d = numbers(20).map(draw, 'x', num_parallel_workers=workers, python_multiprocessing=True)
        return [r[0].tolist() for _ in range(2) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    one = run(1)
    assert one == run(3) and len({tuple(r) for r in one[:20]}) == 20


def test_exception_names_operation_and_keeps_its_place():
    def picky(x):
        if x == 5:
            raise KeyError('five is bad')
        return x
    d = numbers().map(picky, 'x', num_parallel_workers=2, python_multiprocessing=True)
    it = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
    with pytest.raises(RuntimeError, match=r"map operation: \[PyFunc\] failed[\s\S]*five is bad.*row 5") as e:
        list(it)
    assert isinstance(e.value.__cause__, KeyError) and 'in picky' in str(e.value.__cause__.__cause__)


@pytest.mark.parametrize('how, says', [(lambda: os._exit(3), 'exit code 3'),
                                       (lambda: os.kill(os.getpid(), signal.SIGKILL), 'SIGKILL')])
def test_dying_worker(how, says):
    def fatal(x):
        if x == 4:
            how()
        return x
    d = numbers().map(fatal, 'x', num_parallel_workers=2, python_multiprocessing=True)
    with pytest.raises(RuntimeError, match=rf'worker process of map operation: \[fatal\].*{says}'):
        values(d)

    class Fatal(Source):
        def __getitem__(self, i):
            if i == 4:
                how()
            return super().__getitem__(i)
    with pytest.raises(RuntimeError, match=f'source of GeneratorDataset Fatal.*{says}'):
        values(ds.GeneratorDataset(Fatal(), ['a', 'b', 'c'], num_parallel_workers=2))


def test_what_cannot_be_sent_is_an_error():
    d = numbers().map(lambda x: (lambda: x), 'x', num_parallel_workers=2, python_multiprocessing=True)
    with pytest.raises(RuntimeError, match='pickle'):
        values(d)


def test_processes_end_with_their_iterators():
    d = numbers(1000).map(lambda x: x, 'x', num_parallel_workers=2, python_multiprocessing=True)
    one, two = d.create_tuple_iterator(), d.create_tuple_iterator()
    next(one), next(two)
    pids = d._workers[0].pids()
    assert len(pids) == 2 and all(alive(p) for p in pids)
    one.close()
    assert all(alive(p) for p in pids) and next(two)
    del two
    assert not any(alive(p) for p in pids)
    slow = numbers().map(lambda x: time.sleep(60), 'x', num_parallel_workers=2, python_multiprocessing=True)
    it, begin = slow.create_tuple_iterator(), time.monotonic()
    with pytest.raises(ZeroDivisionError):
        signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        next(it)
    it.close()
    assert time.monotonic() - begin < 20


SCRIPT = '''
import os, sys, time, numpy as np, mindspore.dataset as ds
def work(x):
    time.sleep(%r)
    return x
d = ds.NumpySlicesDataset(list(range(100000)), shuffle=False).map(work, num_parallel_workers=2,
                                                                  python_multiprocessing=True)
it = d.create_tuple_iterator(output_numpy=True)
next(it)
print(*d._workers[0].pids(), flush=True)
for row in it:
    pass
'''


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_no_orphans(number):
    p = subprocess.Popen([sys.executable, '-c', SCRIPT % 0.01], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, start_new_session=True)
    pids = [int(w) for w in p.stdout.readline().split()]
    assert len(pids) == 2
    if number == signal.SIGINT:
        os.killpg(p.pid, number)  # as a terminal does
    else:
        p.send_signal(number)
    err = p.communicate(timeout=30)[1]
    assert p.returncode != 0
    if number == signal.SIGINT:
        assert err.count('KeyboardInterrupt') == 1, err
    end = time.monotonic() + 10
    while any(alive(q) for q in pids) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(alive(q) for q in pids)


def test_a_fork_leaves_the_pipeline_of_its_parent_alone():
    d = numbers(60).map(lambda x: x * 2, 'x', num_parallel_workers=2, python_multiprocessing=True)
    it = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(it)
    pid = os.fork()
    if pid == 0:
        good = 1
        try:
            next(it)
        except RuntimeError as e:
            it.close()
            good = int('forked process' not in str(e) or len(values(d)) != 60)
        finally:
            os._exit(good)
    assert os.waitpid(pid, 0)[1] == 0
    assert [int(r[0]) for r in it] == list(range(2, 120, 2))


def test_an_exception_that_cannot_be_printed_or_pickled():
    class Odd(Exception):
        def __str__(self):
            raise ValueError('no text')

    def fail(x):
        raise Odd()
    with pytest.raises(RuntimeError, match='Odd'):
        values(numbers().map(fail, 'x', num_parallel_workers=2, python_multiprocessing=True))


def test_nothing_is_left_of_iterators_that_are_dropped():
    d = numbers().map(lambda x: x, 'x', num_parallel_workers=2, python_multiprocessing=True)

    def drop():
        next(d.create_tuple_iterator(output_numpy=True))
        return len(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task'))
    gc.collect()  # iterators of other tests
    fds, threads = drop()
    for _ in range(8):
        more = drop()
    # a worker that was interrupted may still hold its memory, and a thread be about to end
    assert more[0] <= fds + 3 and more[1] <= threads + 2


def test_iterators_are_begun_once():
    """An object whose __iter__ starts anew is asked for an iterator once per epoch, not for every row."""
    class Source:
        def __iter__(self):
            self.left = 3
            return self

        def __next__(self):
            self.left -= 1
            if self.left < 0:
                raise StopIteration
            return (np.array(self.left),)
    it = ds.GeneratorDataset(Source(), ['x']).create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[int(r[0]) for r in it] for _ in range(2)] == [[2, 1, 0], [2, 1, 0]]


class Numbers:
    def __getitem__(self, i):
        return np.array([i]), i * 10

    def __len__(self):
        return 6


def test_batch_sampler():
    class Halves:
        def __init__(self):
            self.first = 0

        def __iter__(self):
            self.first += 1
            return iter([[self.first, 0], [5]])
    d = ds.GeneratorDataset(Numbers(), ['a', 'b'], batch_sampler=Halves())
    for _ in range(2):  # each pass has a sampler of its own
        it = d.create_tuple_iterator(num_epochs=2, output_numpy=True)
        assert [[(r[0].tolist(), r[1].tolist()) for r in it] for _ in range(2)] == \
            [[([[1], [0]], [10, 0]), ([[5]], [50])], [([[2], [0]], [20, 0]), ([[5]], [50])]]
    assert len(d) == 2 and d.get_batch_size() == -1
    d = ds.GeneratorDataset(Numbers(), ['n'], batch_sampler=[[1, 2, 3]], collate_fn=lambda a, b: (sum(b),))
    assert [int(r[0]) for r in d] == [60]
    for given, kind, text in (({'batch_sampler': 1}, TypeError, '__getitem__ or __iter__'),
                              ({'batch_sampler': [[1]], 'shuffle': True}, ValueError, 'mutually exclusive'),
                              ({'collate_fn': len}, ValueError, 'only when batch_sampler'),
                              ({'batch_sampler': [[1]], 'collate_fn': 1}, TypeError, 'callable')):
        with pytest.raises(kind, match=text):
            ds.GeneratorDataset(Numbers(), ['a', 'b'], **given)
    for wrong, text in (([1], 'but got an integer'), ([['1']], 'index of type integer')):
        with pytest.raises(RuntimeError, match=text):
            list(ds.GeneratorDataset(Numbers(), ['a', 'b'], batch_sampler=wrong))


def test_items_in_the_order_of_the_rows():
    seed = ds.config.get_seed()
    ds.config.set_seed(3)
    try:
        d = ds.GeneratorDataset(Numbers(), ['a', 'b'], num_shards=2, shard_id=1)
        rows = [int(r[1]) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        assert [d[k][1] for k in range(3)] == rows
    finally:
        ds.config.set_seed(seed)
    with pytest.raises(RuntimeError, match=r'Index \[3\] exceeded'):
        d[3]
    with pytest.raises(RuntimeError, match='randomized access'):
        ds.GeneratorDataset(lambda: iter([1]), ['a'])[0]


def test_schema_of_a_generator():
    schema = ds.Schema()
    schema.add_column('a', 'int64')
    assert ds.GeneratorDataset([1], schema=schema).get_col_names() == ['a']
    with pytest.raises(RuntimeError, match='float64'):
        list(ds.GeneratorDataset([1.5], schema=schema))
