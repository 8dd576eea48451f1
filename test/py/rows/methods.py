"""Methods of Tensor that are no functions, and the in-place forms made from other rows."""
import numpy as np

from .index import masked_scatter
from .table import B, F, I, P, U, c, erfinv, f, i, row

M, N, V, W = f(2, 4), f(4, 3), f(2), f(3)

for name, ref, x in (('log', np.log, P), ('sign', np.sign, F), ('tanh', np.tanh, F), ('floor', np.floor, F),
                     ('sigmoid', lambda v: 1 / (1 + np.exp(-v)), F)):
    row(f'Tensor.{name}_', ref, c(x), inplace=True)
row('Tensor.erfinv_ ops.erfinv_', erfinv, c(U), inplace=True, tol=3)
row('Tensor.clamp_ ops.clamp_', lambda x, min=None, max=None: np.clip(x, min, max), c(F, -0.5, 0.5), c(F, max=0.5),
    c(I, min=1, max=3), inplace=True)
row('Tensor.floor_divide_', np.floor_divide, c(F, P), c(I, 3), inplace=True)
row('Tensor.remainder_', np.mod, c(F, P), c(I, 3), inplace=True)
row('Tensor.addmm_', lambda x, a, b, beta=1, alpha=1: beta * x + alpha * a @ b, c(F, M, N), c(F, M, N, beta=0.5, alpha=2), inplace=True)
row('mint.addr_', lambda x, a, b, beta=1, alpha=1: beta * x + alpha * np.outer(a, b), c(F, V, W), c(F, V, W, beta=0.5, alpha=2),
    inplace=True)
row('Tensor.masked_scatter_', masked_scatter, c(F, B, f(6)), inplace=True, dynamic=True)


def put(x, index, source, accumulate=False):
    y = x.copy()
    if accumulate:
        np.add.at(y.reshape(-1), index.reshape(-1), source.reshape(-1))
    else:
        y.reshape(-1)[index.reshape(-1)] = source.reshape(-1)
    return y


def with_item(x, *args):
    y = x.copy()
    if len(args) == 1:
        y.reshape(-1)[0] = args[0]
    elif isinstance(args[0], tuple):
        y[args[0]] = args[1]
    else:
        y.reshape(-1)[args[0]] = args[1]
    return y


row('Tensor.put_', put, c(F, np.array([[1, -1]]), f(2)), c(F, np.array([1, 1]), f(2), accumulate=True), inplace=True)
ITEMS = c(F, 2, 0.5), c(F, (1, -1), 0.5), c(f(1), 0.5), c(I, 3, 7)
row('Tensor.itemset', with_item, *ITEMS, inplace=True)
row('Tensor.soft_shrink', lambda x, lambd=0.5: np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, 0)), c(F), c(F, 0.3))


def resize(x, *size):
    n = int(np.prod(size))
    return np.concatenate([x.reshape(-1), np.zeros(n)])[:n].astype(x.dtype).reshape(size)


row('Tensor.resize', resize, c(F, 2, 2), c(F, 3, 4), c(I, 7))
row('Tensor.sum_to_size', lambda x, *size: x.sum(tuple(range(x.ndim - len(size)))).sum(
    tuple(d for d, n in enumerate(size) if n == 1), keepdims=True) if size else x.sum(), c(F, 2, 1), c(F, 3), c(f(2, 3, 4), 1, 4), c(F))
row('ops.as_strided Tensor.as_strided', lambda x, size, stride, storage_offset=0: np.lib.stride_tricks.as_strided(
    x.reshape(-1)[storage_offset:], size, [s * x.itemsize for s in stride]), c(F, (2, 2), (1, 2)), c(f(12), (3, 2), (2, 1), 3))
row('Tensor.storage_offset', lambda x: 0, c(F), grad=False)
row('Tensor.fills', lambda x, value: np.full_like(x, value), c(F, 2.5), c(I, 3), grad=False)
row('Tensor.choose', lambda x, choices, mode='clip': np.choose(x, choices, mode=mode),
    c(i(2, 3, lo=-1, hi=3), [f(2, 3), f(3)]), c(i(2, 3, lo=-4, hi=5), f(2, 2, 3), mode='wrap'))
row('Tensor.cauchy', None, c(f(100, 100)), c(f(100, 100), 1.0, 2.0), c(f(100, 100), median=1.0, sigma=2.0),
    check=lambda y, x, median=0.0, sigma=1.0: abs(np.median(y) - median) < 0.1 * sigma and
    abs(np.percentile(y, 75) - median - sigma) < 0.1 * sigma)
row('Tensor.index', lambda x, indices: x[tuple(indices)], c(F, [np.array([0, 1]), np.array([2, -1])]), c(F, [np.array([[1, 0]])]))
