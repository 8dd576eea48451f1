"""Profiles: what is recorded, schedules, files."""
import csv
import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import ops, profiler


def work(x):
    return ops.matmul(x, x).sum()


X = ms.Tensor(np.ones((32, 32), np.float32))


def read(folder):
    trace = json.loads((folder / 'trace_view.json').read_text())
    rows = list(csv.DictReader((folder / 'operator_statistic.csv').open()))
    return trace['traceEvents'], {r['Operator']: r for r in rows}


@pytest.mark.parametrize('fn', [work, ms.jit(work)], ids=['eager', 'graph'])
def test_profiler(tmp_path, fn):
    fn(X)
    p = ms.Profiler(output_path=str(tmp_path), record_shapes=True)
    p.add_metadata('who', 'me')
    for _ in range(3):
        fn(X)
        p.step()
    p.analyse()
    fn(X)  # not recorded
    folder, = tmp_path.iterdir()
    events, rows = read(folder)
    products = [e for e in events if e['name'] == 'matmul']
    assert len(products) == 3 == int(rows['matmul']['Calls']) and int(rows['sum']['Calls']) == 3
    assert all(e['args']['flops'] == 2 * 32 ** 3 and '32, 32' in e['args']['shapes'] and e['dur'] > 0 for e in products)
    assert [e['name'] for e in events if e['cat'] == 'range'][:3] == ['step 0', 'step 1', 'step 2']
    assert json.loads((folder / 'profiler_metadata.json').read_text()) == {'who': 'me'}
    assert json.loads(p.op_analyse('matmul'))[0]['op_count'] == 3


def test_schedule(tmp_path):
    ready = []
    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    assert [plan(k).value for k in range(11)] == [0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0]
    with profiler.profile(schedule=plan, on_trace_ready=lambda p: ready.append(p.statistic())) as p:
        for _ in range(11):
            work(X)
            p.step()
    assert len(ready) == 2 and all(dict((r[0], r[2]) for r in rows)['matmul'] == 2 for rows in ready)


def test_context_and_ranges(tmp_path):
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))):
        number = profiler.mstx.range_start('mine "here"')
        work(X)
        profiler.mstx.range_end(number)
        profiler.mstx.mark('there')
    folder, = tmp_path.iterdir()
    names = [e['name'] for e in read(folder)[0]]
    assert 'mine "here"' in names and 'there' in names and 'matmul' in names


def test_errors():
    for call, error in ((lambda: ms.Profiler(zz=1), TypeError), (lambda: ms.Profiler(output_path=3, start_profile=False), TypeError),
                        (lambda: profiler.schedule(wait=0, active=0), ValueError), (lambda: profiler.profile(activities=['CPU']), TypeError),
                        (lambda: profiler.profile(start_profile=False).step(), RuntimeError)):
        with pytest.raises(error):
            call()
