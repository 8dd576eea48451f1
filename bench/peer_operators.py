"""PyTorch's side of the operator benchmarks (table.py); prints one JSON object: name -> seconds."""
import json
import sys

import numpy as np
import torch
from table import LAYER_SIZES, SIZES, layer_arrays, problems
from timing import per_call
from torch.nn import functional as F


def embedding_grad(x, i):
    return torch.ops.aten.embedding_dense_backward(x, i, x.shape[0], -1, False)


def namespace(kind, detail):
    r = np.random.RandomState(0)
    if kind == 'small':
        t = [torch.from_numpy(r.randn(8, 16).astype(np.float32)) for _ in range(2)]
        return {'torch': torch, 'F': F, 'a': t[0], 'b': t[1], 'p': torch.from_numpy(r.rand(8, 16).astype(np.float32) + 1),
                'c': torch.from_numpy(r.rand(8, 16) > 0.5), 't': torch.from_numpy(r.randn(16, 8).astype(np.float32)),
                'i': torch.tensor([1, 3, 5]), 'g': torch.ones(16)}
    if kind == 'big':
        x = torch.from_numpy((r.rand(4096, 4096) * 4).astype(np.float32)).to(getattr(torch, detail))
        return {'torch': torch, 'x': x, 'y': x + 0 if detail != 'bool' else ~x}
    if kind == 'layer':
        tensors = {k: torch.from_numpy(a) for k, a in layer_arrays(r, detail).items()}
        return {'F': F, 'C': LAYER_SIZES[detail][1], 'S': LAYER_SIZES[detail][2], **tensors}
    n, m = SIZES[detail]
    return {'torch': torch, 'x': torch.from_numpy(r.randn(n, m).astype(np.float32)), 'embedding_grad': embedding_grad,
            'i': torch.from_numpy(r.randint(0, n, n)), 'j': torch.from_numpy(r.randint(0, m, (n, m)))}


table, result, made = problems(), {}, {}
for name in sys.argv[1:]:
    kind, (_, expression), detail = table[name]
    if (kind, detail) not in made:
        made = {(kind, detail): namespace(kind, detail)}
    f = eval(f'lambda: {expression}', made[kind, detail])
    with torch.no_grad():
        result[name] = per_call(f, *((0.03, 200) if kind == 'small' else (0.2, 1)))
print(json.dumps(result))
