"""mindspore.mint.distributed with the one process that there is."""
from datetime import timedelta

import numpy as np
import pytest

from mindspore import Tensor, communication, ops
from mindspore.mint import distributed as dist


@pytest.fixture(autouse=True)
def world():
    dist.init_process_group('mccl')
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def test_groups():
    assert dist.is_available() and dist.is_initialized() and dist.get_backend() == 'mccl'
    assert (dist.get_rank(), dist.get_world_size(), dist.get_process_group_ranks()) == (0, 1, [0])
    group = dist.new_group([0])
    assert dist.get_world_size(group) == 1 and dist.get_global_rank(group, 0) == 0 == dist.get_group_rank(group, 0)
    assert dist.new_group(group_desc='named') == 'named' != group
    dist.destroy_process_group(group)
    with pytest.raises(ValueError, match='does not exist'):
        dist.get_rank(group)
    with pytest.raises(ValueError, match='only rank is 0'):
        dist.new_group([1])
    with pytest.raises(RuntimeError, match='already'):
        dist.init_process_group('mccl')
    dist.destroy_process_group()
    assert not dist.is_initialized() and not communication.GlobalComm.INITED
    with pytest.raises(ValueError, match='world_size'):
        dist.init_process_group('mccl', world_size=2)
    assert ops.get_rank is dist.get_rank and ops.all_reduce is dist.all_reduce


def x(*v):
    return Tensor(np.array(v, np.float32))


@pytest.mark.parametrize('call', [
    lambda y: dist.all_gather([y], x(1, 2)), lambda y: dist.all_gather_into_tensor(y, x(1, 2)),
    lambda y: dist.all_gather_into_tensor_uneven(y, x(1, 2), [2]), lambda y: dist.gather(x(1, 2), [y]), lambda y: dist.scatter(y, [x(1, 2)]),
    lambda y: dist.reduce_scatter(y, [x(1, 2)]), lambda y: dist.reduce_scatter_tensor(y, x(1, 2), 'max'),
    lambda y: dist.reduce_scatter_tensor_uneven(y, x(1, 2), [2]), lambda y: dist.all_to_all([y], [x(1, 2)]),
    lambda y: dist.all_to_all_single(y, x(1, 2)),
])
def test_results_are_written(call):
    y = x(0, 0)
    assert call(y) is None and y.asnumpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match=r'must be Float32 of shape \(2,\)'):
        call(x(0, 0, 0))


def test_in_place():
    y = x(1, 2)
    assert dist.all_reduce(y, 'sum') is None and dist.reduce(y, 0) is None and dist.broadcast(y, 0) is None
    dist.all_reduce(y, async_op=True).wait()
    dist.barrier(async_op=True).wait()
    assert y.asnumpy().tolist() == [1, 2]


def test_objects():
    held = [None]
    dist.all_gather_object(held, {'a': 1})
    assert held == [{'a': 1}]
    dist.gather_object('b', held)
    dist.broadcast_object_list(held)
    assert held == ['b']
    dist.scatter_object_list(held, ['c'])
    assert held == ['c']


@pytest.mark.parametrize('call, kind, text', [
    (lambda: dist.all_reduce(x(1), 'mean'), ValueError, "'op' must be in"), (lambda: dist.all_reduce(3), TypeError, "'tensor' must be Tensor"),
    (lambda: dist.broadcast(x(1), 1), ValueError, 'only rank is 0'), (lambda: dist.all_gather([x(1)] * 2, x(1)), ValueError, '1, but got 2'),
    (lambda: dist.all_to_all_single(x(0, 0), x(1, 2), [1, 1]), ValueError, 'output_split_sizes'),
    (lambda: dist.send(x(1), 1), RuntimeError, 'no other process'), (lambda: dist.recv_object_list([1]), RuntimeError, 'no other process'),
    (lambda: dist.barrier(async_op=1), TypeError, 'async_op'),
])
def test_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_store():
    store = dist.TCPStore('127.0.0.1', 0, 1, True, timedelta(seconds=0.01))
    store.set('a', 'text')
    assert store.get('a') == b'text' and store.add('n', 2) == 2 and store.add('n', 3) == 5 and store.get('n') == b'5'
    assert store.delete_key('a') and not store.delete_key('a')
    with pytest.raises(TimeoutError, match="'a'"):
        store.get('a')
    with pytest.raises(RuntimeError, match='master'):
        dist.TCPStore('127.0.0.1', 0, 2, True)
