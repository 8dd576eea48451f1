"""The older names of functions, scalars, shapes."""
import math

import numpy as np

import mindspore as ms

from .table import B, F, G, I, P, T3, axes, c, f, i, np_dtype, row

J = i(2, 3, lo=1, hi=6) * np.array([1, -1, 1])

for names, fn in (('ops.tensor_add ops.hyper_add', np.add), ('ops.tensor_sub', np.subtract), ('ops.tensor_mul', np.multiply)):
    row(names, fn, c(F, G), c(F, 2.5), c(input=I, other=J))
row('ops.tensor_div', np.true_divide, c(F, P), c(x=F, y=2.5))
row('ops.tensor_mod ops.floormod', np.mod, c(F, P), c(x=I, y=J))
row('ops.tensor_floordiv ops.floordiv', np.floor_divide, c(F, P), c(input=I, other=J))
row('ops.truncate_div', lambda x, y: np.trunc(np.true_divide(x, y)).astype(np.result_type(x, y)), c(F * 5, P), c(x=I, y=J))
row('ops.truncate_mod', np.fmod, c(F * 5, P), c(x=I, y=J))
row('ops.tensor_pow ops.pows', np.power, c(P, F), c(input=P, exponent=2))
for name, fn in (('ge', np.greater_equal), ('gt', np.greater), ('le', np.less_equal), ('lt', np.less)):
    row(f'ops.tensor_{name}', fn, c(F, G), c(input=I, other=2))
row('ops.tensor_exp', np.exp, c(F), c(input=G))
row('ops.tensor_expm1', np.expm1, c(F), c(input=G))
for name, fn in (('iadd', np.add), ('isub', np.subtract), ('imul', np.multiply), ('itruediv', np.true_divide),
                 ('ifloordiv', np.floor_divide), ('imod', np.mod)):
    row(f'Tensor.__{name}__', fn, c(F, P), c(F, 2.5))
row('ops.addn', lambda x: sum(x), c([F, G, P]), c(x=(F, G)))
row('ops.accumulate_n', lambda x: sum(x), c([F, G, P]), c(x=(F, G)))
for name, fn in (('sum', np.sum), ('mean', np.mean), ('max', np.max), ('min', np.min)):
    row(f'ops.reduce_{name}', lambda x, axis=(), fn=fn: fn(x, axis=axes(axis)), c(T3), c(T3, 1), c(x=T3, axis=(0, 2)))
for name, fn in (('add', lambda x, y: x + y), ('sub', lambda x, y: x - y), ('mul', lambda x, y: x * y), ('div', lambda x, y: x / y),
                 ('floordiv', lambda x, y: x // y), ('mod', lambda x, y: x % y), ('max', max), ('min', min), ('pow', lambda x, y: x**y),
                 ('eq', lambda x, y: x == y), ('lt', lambda x, y: x < y), ('le', lambda x, y: x <= y), ('gt', lambda x, y: x > y),
                 ('ge', lambda x, y: x >= y)):
    row(f'ops.scalar_{name}', lambda x, y, fn=fn: fn(x, y), c(7, 2), c(-7.5, 2.0), c(x=3, y=3))
row('ops.scalar_log', lambda x: math.log(x), c(2.5), c(x=7.0))
row('ops.scalar_uadd', lambda x: x, c(2.5), c(x=7))
row('ops.scalar_usub', lambda x: -x, c(2.5), c(x=7))
row('ops.scalar_cast', lambda v, d: {ms.int64: int, ms.float32: float, ms.bool: bool}[d](v), c(2.5, ms.int64), c(input_x=3, input_y=ms.float32))

# ---- shapes ----

row('ops.shape ops.shape_', lambda x: x.shape, c(T3), c(input_x=np.array(1.5)))
row('ops.dyn_shape', lambda x: np.array(x.shape), c(T3), c(input_x=F))
row('ops.rank', lambda x: x.ndim, c(T3), c(input_x=F))
row('ops.size', lambda x: x.size, c(T3), c(input_x=F))
row('ops.shape_mul', lambda s: math.prod(s), c((2, 3, 4)), c(input_data=(5,)))
row('ops.tuple_to_array', lambda x: np.array(x, None if isinstance(x[0], float) else np.int32), c((1, 2, 3)), c(input_x=(4.5, 5.0)))
row('ops.is_nonzero', lambda x: bool(x), c(np.array([2.5])), c(input=np.array(0)), dynamic=True)
row('ops.t mint.t Tensor.t', lambda x: x.T, c(F), c(input=f(3)))
row('ops.adjoint Tensor.adjoint', lambda x: x.swapaxes(-1, -2).conj(), c(T3), c(f(2, 3) + 1j * f(2, 3)))
row('ops.reshape_', lambda x, shape: x.reshape(shape), c(T3, (4, 6)), c(input=T3, shape=(-1,)))
row('ops.tensor_slice', lambda x, begin, size: x[tuple(slice(b, b + n) for b, n in zip(begin, size))], c(T3, (0, 1, 2), (2, 2, 2)),
    c(input=F, begin=(1, 0), size=(1, 2)))


def strided_slice(x, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0):
    index = []
    for k, (b, e, s) in enumerate(zip(begin, end, strides)):
        bit = 1 << k
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(b)
        else:
            index.append(slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return x[tuple(index)]


row('ops.strided_slice', strided_slice, c(T3, (0, 1, 0), (2, 3, 4), (1, 1, 2)), c(T3, (0, 1, 3), (2, 3, 0), (1, 1, -1), 1, 2, 0, 0, 0),
    c(input_x=T3, begin=(1, 0, 0), end=(2, 3, 2), strides=(1, 1, 1), begin_mask=0, end_mask=0, ellipsis_mask=2, new_axis_mask=0,
      shrink_axis_mask=1), c(T3, (0, 0, 1), (1, 1, 3), (1, 1, 1), new_axis_mask=2))
row('ops.mixed_precision_cast', lambda d, x: [v.astype(np_dtype(d)) if v.dtype.kind == 'f' else v for v in x] if isinstance(x, (list, tuple))
    else x.astype(np_dtype(d)), c(ms.float16, F), c(dst_dtype=ms.float16, x=(F, I)), grad=False)
row('ops.intopk', lambda x, at, k: np.array([(r > r[t]).sum() < k for r, t in zip(x, at)]), c(f(4, 5), i(4, dtype=np.int32), 2),
    c(x1=f(4, 5), x2=i(4, dtype=np.int32), k=3))
