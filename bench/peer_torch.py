"""PyTorch's side of the benchmarks; prints one JSON object: name -> seconds."""
import json
import os
import subprocess
import sys
import time

names = sys.argv[1:]
result = {}

if 'import' in names:
    code = 'import numpy, time; t = time.perf_counter(); import torch; print(time.perf_counter() - t)'
    result['import'] = min(float(subprocess.check_output([sys.executable, '-c', code])) for _ in range(3))

import torch  # noqa: E402
from torch import nn  # noqa: E402
from timing import per_call  # noqa: E402


def train_step():
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2, 2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)

    def step(x, y):
        optimizer.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,))


if 'lenet_eager' in names:
    step, x, y = train_step()
    result['lenet_eager'] = per_call(lambda: step(x, y), 3)
if 'lenet_graph' in names or 'lenet_first' in names:
    os.environ['TORCHINDUCTOR_FORCE_DISABLE_CACHES'] = '1'
    step, x, y = train_step()
    step = torch.compile(step)
    t = time.perf_counter()
    step(x, y)
    result['lenet_first'] = time.perf_counter() - t
    result['lenet_graph'] = per_call(lambda: step(x, y), 3)
if 'add_4' in names:
    a, b = torch.ones(4), torch.ones(4)
    result['add_4'] = per_call(lambda: a + b, 1, 1000)
if 'grad_10' in names:
    x = torch.tensor(0.7, requires_grad=True)

    def g():
        y = x
        for _ in range(5):
            y = torch.sin(y) * y
        return torch.autograd.grad(y, x)

    result['grad_10'] = per_call(g, 1, 10)
for name, shape, dtype in [('matmul_1024_f32', (1024, 1024, 1024), torch.float32),
                           ('matmul_big_f32', (4096, 1024, 1024), torch.float32),
                           ('matmul_small_f32', (64, 400, 120), torch.float32),
                           ('matmul_1024_bf16', (1024, 1024, 1024), torch.bfloat16)]:
    if name in names:
        m, k, n = shape
        a, b = torch.rand(m, k).to(dtype), torch.rand(k, n).to(dtype)
        with torch.no_grad():
            result[name] = per_call(lambda: a @ b, 2, 100 if 'small' in name else 1)
print(json.dumps({n: t for n, t in result.items() if n in names}))
