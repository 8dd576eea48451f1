"""Our side of the benchmarks; prints one JSON object: name -> seconds."""
import json
import subprocess
import sys
import time

import numpy as np

names = sys.argv[1:]
result = {}

if 'import' in names:
    code = 'import numpy, time; t = time.perf_counter(); import mindspore; print(time.perf_counter() - t)'
    result['import'] = min(float(subprocess.check_output([sys.executable, '-c', code])) for _ in range(3))

import mindspore as ms  # noqa: E402
from mindspore import nn, ops  # noqa: E402
from timing import per_call  # noqa: E402


def lenet():
    return nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode='pad', padding=2, has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode='valid', has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
        nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10))


def train_step():
    net, loss_fn = lenet(), nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, grads = grad_fn(x, y)
        optimizer(grads)
        return loss

    x = ms.Tensor(np.random.rand(64, 1, 28, 28).astype(np.float32))
    y = ms.Tensor(np.random.randint(0, 10, 64).astype(np.int32))
    return step, x, y


if 'lenet_eager' in names:
    step, x, y = train_step()
    result['lenet_eager'] = per_call(lambda: step(x, y), 3)
if 'lenet_graph' in names or 'lenet_first' in names:
    step, x, y = train_step()
    step = ms.jit(step)
    t = time.perf_counter()
    step(x, y).asnumpy()
    result['lenet_first'] = time.perf_counter() - t
    result['lenet_graph'] = per_call(lambda: step(x, y), 3)
if 'add_4' in names:
    a, b = ms.Tensor(np.ones(4, np.float32)), ms.Tensor(np.ones(4, np.float32))
    result['add_4'] = per_call(lambda: a + b, 1, 1000)
if 'grad_10' in names:
    def f(x):
        for _ in range(5):
            x = ops.sin(x) * x
        return x

    g, x = ms.grad(f), ms.Tensor(0.7)
    result['grad_10'] = per_call(lambda: g(x), 1, 10)
for name, shape, dtype in [('matmul_1024_f32', (1024, 1024, 1024), ms.float32),
                           ('matmul_big_f32', (4096, 1024, 1024), ms.float32),
                           ('matmul_small_f32', (64, 400, 120), ms.float32),
                           ('matmul_1024_bf16', (1024, 1024, 1024), ms.bfloat16)]:
    if name in names:
        m, k, n = shape
        a = ms.Tensor(np.random.rand(m, k).astype(np.float32)).astype(dtype)
        b = ms.Tensor(np.random.rand(k, n).astype(np.float32)).astype(dtype)
        result[name] = per_call(lambda: ops.matmul(a, b), 2, 100 if 'small' in name else 1)
print(json.dumps({n: t for n, t in result.items() if n in names}))
