"""Several threads at once: eager operators, gradients, one compiled function, recomputation, hooks; each gets its own answer."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


def full(k, n=3):
    return Tensor(np.full(n, k, np.float32))


@ms.jit
def shared(x, n):
    for _ in range(n):
        x = ops.tanh(x) * 2
    return x


class Twice(nn.Cell):
    def construct(self, x):
        return x * x


class Half(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(Tensor([2.0]))

    def construct(self, x):
        return x * self.weight


recomputed, hooked, half = Twice(), Twice(), Half().to_float(ms.float16)
recomputed.recompute()
hooked.register_backward_hook(lambda cell, of_inputs, of_outputs: (of_inputs[0] * 3,))


def eager(k):
    return ops.exp(full(k)).sum(), 3 * np.exp(np.float32(k))


def compiled(k):
    want = np.float32(k)
    for _ in range(k):
        want = np.tanh(want) * 2
    return shared(full(k, k + 1), k)[0], want


def gradient(k):
    return ms.grad(lambda x: (ops.sin(x) * x).sum())(full(k))[0], np.sin(k) + k * np.cos(k)


def again(k):
    return ms.grad(lambda x: recomputed(x).sum())(full(k))[0], 2 * k


def hook(k):
    return ms.grad(lambda x: hooked(x).sum())(full(k))[0], 6 * k


def cast(k):
    return half(full(k))[0].float() + (half.weight.dtype == ms.float16), 2 * k


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_threads(mode):
    work, wrong, n = (eager, compiled, gradient, again, hook, cast), [], 6
    start = threading.Barrier(n)

    def run(k):
        try:
            start.wait()
            for i in range(25):
                got, want = work[(k + i) % 6](k + i % 3)
                np.testing.assert_allclose(got.asnumpy(), want, 1e-4, 1e-5)
        except BaseException as e:  # noqa: B902
            wrong.append(e)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    ms.set_context(mode=mode)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.parametrize('own, spins', [({}, '2500'), ({'GOMP_SPINCOUNT': '70'}, '70'), ({'OMP_WAIT_POLICY': 'passive'}, '0')])
def test_waiting_threads_spin_as_long_as_the_design_or_the_user_says(own, spins):
    code = "import os, mindspore; print(os.environ.get('GOMP_SPINCOUNT'))"
    env = {k: v for k, v in os.environ.items() if k not in ('GOMP_SPINCOUNT', 'OMP_WAIT_POLICY')} | own
    run = subprocess.run([sys.executable, '-c', code], env=env | {'OMP_DISPLAY_ENV': 'verbose'}, capture_output=True, text=True, check=True)
    assert f"GOMP_SPINCOUNT = '{spins}'" in run.stderr
    assert run.stdout.strip() == own.get('GOMP_SPINCOUNT', 'None')


def _child(queue):
    x = queue.get()
    queue.put(ops.matmul(x, x).asnumpy().sum())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_computes_without_the_threads_of_its_parent():
    import mindspore.multiprocessing as mp
    x = Tensor(np.ones((300, 300), np.float32))
    ops.matmul(x, x).asnumpy()
    context = mp.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    queue.put(x)
    child.join(30)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0 and queue.get(timeout=5) == 300 ** 3
