"""Devices, streams, memory counters and their options."""
import gc
import os
import signal
import threading
import time

import pytest

import mindspore as ms
from mindspore import device_context, hal, runtime


def test_devices():
    assert hal.is_available('CPU') and not hal.is_available('GPU') and hal.device_count() == 1
    assert hal.get_device_name(0) == 'CPU' and ms.get_current_device() == ('CPU', 0)
    assert device_context.cpu.is_available() and not device_context.gpu.is_available()
    for call, error in ((lambda: hal.is_available('zz'), ValueError), (lambda: hal.device_count('GPU'), ValueError),
                        (lambda: ms.set_device('GPU'), RuntimeError), (lambda: ms.set_device('zz'), ValueError),
                        (lambda: device_context.gpu.device_count(), RuntimeError), (lambda: ms.set_context(device_id=-1), ValueError)):
        with pytest.raises(error):
            call()
    ms.set_device('CPU', 0)


def test_streams_and_events():
    hal.synchronize()
    start, end = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    stream = runtime.Stream()
    start.record()
    with runtime.StreamCtx(stream):
        assert runtime.current_stream() is stream
        time.sleep(0.01)
    end.record(stream)
    assert 9 < start.elapsed_time(end) < 5000 and end.query() and stream.query()
    assert runtime.current_stream() is runtime.default_stream()
    with pytest.raises(RuntimeError, match='enable_timing'):
        runtime.Event().elapsed_time(end)
    with pytest.raises(TypeError, match='stream'):
        end.record(3)


def test_memory():
    runtime.reset_peak_memory_stats()
    gc.collect()
    before = runtime.memory_allocated()
    x = ms.ops.ones((1024, 256), ms.float32)
    assert runtime.memory_allocated() - before >= 1 << 20
    del x
    assert runtime.memory_allocated() - before < 1 << 20 <= runtime.max_memory_allocated() - before
    assert runtime.memory_reserved() >= runtime.memory_allocated()
    runtime.empty_cache()
    assert 'Max allocated memory' in runtime.memory_summary()
    assert hal.memory_stats()['max_allocated_memory'] == runtime.max_memory_allocated()
    with pytest.raises(ValueError, match='init_size'):
        runtime.set_memory(init_size='many')


def test_empty_cache_gives_back():
    """Blocks between others that stay alive go back to the system as well."""
    def resident():
        with open('/proc/self/statm') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
    ms.ops.ones((2048, 3000), ms.float32).asnumpy()  # the C library serves blocks up to the largest freed from its heap
    runtime.empty_cache()
    xs = [ms.ops.ones((256, 1000 + k), ms.float32) for k in range(128)]
    for x in xs:
        x.asnumpy()
    kept, before = xs[::16], resident()
    del x, xs
    runtime.empty_cache()
    assert before - resident() > 64 << 20 and len(kept) == 8


def test_options():
    device_context.ascend.op_precision.precision_mode('force_fp32')
    with pytest.raises(ValueError, match='precision_mode'):
        device_context.ascend.op_precision.precision_mode('zz')
    with pytest.raises(TypeError, match='matmul_allow_tf32'):
        device_context.gpu.op_precision.matmul_allow_tf32(1)
    with pytest.raises(ValueError, match='num'):
        device_context.cpu.threads_num(0)
    ms.set_deterministic(True)
    assert ms.get_context('deterministic') == 'ON'


def test_context_options():
    assert ms.get_context('enable_ge') is False and ms.get_context('max_device_memory') == 1024
    for options, error in (({'enable_ge': True}, AttributeError), ({'max_device_memory': '3'}, ValueError), ({'check_bprop': 1}, TypeError),
                           ({'deterministic': True}, TypeError), ({'exec_order': 'zz'}, ValueError), ({'max_call_depth': 0}, ValueError),
                           ({'memory_optimize_level': 'O2'}, ValueError), ({'zz': 1}, ValueError)):
        with pytest.raises(error, match=next(iter(options))):
            ms.set_context(op_timeout=1, **options)
    assert ms.get_context('op_timeout') == 900  # nothing of a refused call is set
    try:
        ms.set_context(mempool_block_size='3.5GB', memory_optimize_level='O1')
        assert (ms.get_context('mempool_block_size'), ms.get_context('memory_optimize_level')) == (3.5, 1)
    finally:
        ms.set_context(mempool_block_size='1GB', memory_optimize_level='O0')


def test_parallel_context():
    ms.set_auto_parallel_context(parallel_mode='data_parallel', gradients_mean=True)
    assert ms.get_auto_parallel_context('parallel_mode') == 'data_parallel'
    ms.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context('parallel_mode') == 'stand_alone'
    for args, error in (({'zz': 1}, ValueError), ({'parallel_mode': 'zz'}, ValueError), ({'device_num': 0}, ValueError),
                        ({'device_num': 8}, NotImplementedError), ({'gradients_mean': 1}, TypeError)):
        with pytest.raises(error):
            ms.set_auto_parallel_context(**args)


def test_interrupt_in_a_compiled_loop():
    @ms.jit
    def endless(y):
        i = ms.Tensor(0)
        while i < 10**9:
            i = i + 1
            y = y * 1.0
        return y

    for call in (endless, ms.grad(lambda y: endless(y).sum())):
        live = []
        for _ in range(3):
            sent = []
            timer = threading.Timer(0.2, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                call(ms.Tensor([1.0]))
            assert time.monotonic() - sent[0] < 2  # in truth within 0.1 s
            timer.join()
            live.append(ms._c.memory_stats()['n_live'])
        assert live[1] == live[2]
