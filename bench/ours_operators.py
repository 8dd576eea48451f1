"""Our side of the operator benchmarks (table.py); prints one JSON object: name -> seconds."""
import json
import sys

import numpy as np

import mindspore as ms
from mindspore import mint, ops
from table import LAYER_SIZES, SIZES, layer_arrays, problems
from timing import per_call


def embedding_grad(x, i):
    return ops.zeros_like(x).index_add(0, i, x)


def namespace(kind, detail):
    r = np.random.RandomState(0)
    if kind == 'small':
        t = [ms.Tensor(r.randn(8, 16).astype(np.float32)) for _ in range(2)]
        return {'ms': ms, 'ops': ops, 'a': t[0], 'b': t[1], 'p': ms.Tensor(r.rand(8, 16).astype(np.float32) + 1),
                'c': ms.Tensor(r.rand(8, 16) > 0.5), 't': ms.Tensor(r.randn(16, 8).astype(np.float32)),
                'i': ms.Tensor(np.array([1, 3, 5])), 'g': ms.Tensor(np.ones(16, np.float32))}
    if kind == 'big':
        x = ms.Tensor((r.rand(4096, 4096) * 4).astype(np.float32)).astype(getattr(ms, detail.replace('bool', 'bool_')))
        return {'ops': ops, 'x': x, 'y': x + 0 if detail != 'bool' else ops.logical_not(x)}
    if kind == 'layer':
        tensors = {k: ms.Tensor(a) for k, a in layer_arrays(r, detail).items()}
        return {'F': mint.nn.functional, 'C': LAYER_SIZES[detail][1], 'S': LAYER_SIZES[detail][2], **tensors}
    n, m = SIZES[detail]
    return {'ops': ops, 'x': ms.Tensor(r.randn(n, m).astype(np.float32)), 'embedding_grad': embedding_grad,
            'i': ms.Tensor(r.randint(0, n, n)), 'j': ms.Tensor(r.randint(0, m, (n, m)))}


ms.set_context(enable_graph_kernel=False)  # a call computes its result, also when nobody looks at it
table, result, made = problems(), {}, {}
for name in sys.argv[1:]:
    kind, (expression, _), detail = table[name]
    if (kind, detail) not in made:
        made = {(kind, detail): namespace(kind, detail)}
    f = eval(f'lambda: {expression}', made[kind, detail])
    result[name] = per_call(f, *((0.03, 200) if kind == 'small' else (0.2, 1)))
print(json.dumps(result))
