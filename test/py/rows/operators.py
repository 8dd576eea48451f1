"""Functions of two and three tensors, element by element, with broadcasting; comparisons, in-place forms."""
import math

import numpy as np

from .table import B, F, G, I, P, U, b, c, f, i, row

J = i(2, 3, lo=1, hi=6) * np.array([1, -1, 1])
V = f(3)
K = f(2, 1)


def both(names, ref, *cases, **options):
    """The dunder method and, with the operands exchanged, its reflection."""
    method, reflected = names.split()
    row(method, ref, *cases, **options)
    row(reflected, lambda x, y: ref(y, x), *[c(case.args[1], case.args[0]) for case in cases
                                            if isinstance(case.args[1], np.ndarray)], **options)


both('Tensor.__add__ Tensor.__radd__', np.add, c(F, G), c(F, V), c(I, J), c(F, 2.5), c(I, 3))
both('Tensor.__sub__ Tensor.__rsub__', np.subtract, c(F, G), c(F, V), c(I, J), c(F, 2.5), c(I, 3))
both('Tensor.__mul__ Tensor.__rmul__', np.multiply, c(F, G), c(F, K), c(I, J), c(F, 2.5), c(I, 3))
both('Tensor.__truediv__ Tensor.__rtruediv__', np.true_divide, c(F, P), c(I, J), c(F, 2.5), c(I, 4))
both('Tensor.__floordiv__ Tensor.__rfloordiv__', np.floor_divide, c(F, P), c(I, J), c(F, 0.7), c(I, -3))
both('Tensor.__mod__ Tensor.__rmod__', np.mod, c(F, P), c(I, J), c(F, 0.7), c(I, -3))
both('Tensor.__pow__ Tensor.__rpow__', np.power, c(P, F), c(I, abs(J)), c(F, 3), c(P, -1.5), c(I, 2))
both('Tensor.__and__ Tensor.__rand__', np.bitwise_and, c(I, J), c(B, b(2, 3)), c(I, 3))
both('Tensor.__or__ Tensor.__ror__', np.bitwise_or, c(I, J), c(B, b(2, 3)), c(I, 3))
both('Tensor.__xor__ Tensor.__rxor__', np.bitwise_xor, c(I, J), c(B, b(2, 3)), c(I, 3))
both('Tensor.__lshift__ Tensor.__rlshift__', np.left_shift, c(I, abs(J)), c(I, 3))
both('Tensor.__rshift__ Tensor.__rrshift__', np.right_shift, c(I, abs(J)), c(I, 1))
for name, ref in (('eq', np.equal), ('ne', np.not_equal), ('lt', np.less), ('le', np.less_equal),
                  ('gt', np.greater), ('ge', np.greater_equal)):
    long = {'eq': 'equal', 'ne': 'not_equal', 'lt': 'less', 'le': 'less_equal', 'gt': 'greater',
            'ge': 'greater_equal'}[name]
    method = '' if name == 'eq' else f' Tensor.{long}'
    cases = c(I, J), c(F, V), c(F, F.copy()), c(F, 0.5), c(input=I, other=2), c(np.array([np.nan, 1]), np.array([np.nan, 1]))
    row(f'Tensor.__{name}__', ref, *cases[:4])
    row(f'ops.{name} ops.{long} mint.{name}' + f' mint.{long}' * (name != 'eq'), ref, *cases)
    row(f'Tensor.{name}{method}', ref, *cases[:4])


def with_alpha(sign):
    return lambda input, other, alpha=1: input + sign * alpha * other


def div(x, y, rounding_mode=None):
    return {None: lambda v: v, 'floor': np.floor, 'trunc': np.trunc}[rounding_mode](np.true_divide(x, y))


row('ops.add', np.add, c(F, G), c(F, V), c(2.5, F), c(input=I, other=3))
row('mint.add Tensor.add', with_alpha(1), c(F, G), c(F, V, alpha=2.5), c(F, 3, alpha=2), c(I, J, alpha=3))
row('ops.sub', np.subtract, c(F, G), c(F, V), c(F, 2.5), c(I, 3))
row('Tensor.sub', np.subtract, c(F, y=G))
row('mint.sub Tensor.sub ops.subtract Tensor.subtract', with_alpha(-1), c(F, G), c(F, V, alpha=2.5), c(F, 3, alpha=2), c(I, J, alpha=3))
row('ops.mul ops.multiply mint.mul Tensor.mul Tensor.multiply', np.multiply, c(F, G), c(F, K), c(F, 2.5), c(I, J))
row('ops.div ops.divide mint.div mint.divide Tensor.div Tensor.divide', div, c(F, P), c(I, J), c(F, 2.5),
    c(F, P, rounding_mode='floor'), c(F * 3, P, rounding_mode='trunc'))
row('ops.true_divide', np.true_divide, c(F, P), c(dividend=I, divisor=J))
row('Tensor.true_divide', np.true_divide, c(F, P), c(I, J))
row('ops.floor_divide mint.floor_divide Tensor.floor_divide', np.floor_divide, c(F, P), c(I, J), c(F, 0.7))
row('ops.floor_div', np.floor_divide, c(F, P), c(x=I, y=J))
row('ops.floor_mod', np.mod, c(F, P), c(x=I, y=J))
row('ops.remainder mint.remainder Tensor.remainder', np.remainder, c(F * 3, P), c(I, J), c(F, 0.7), c(I, -3))
row('Tensor.remainder', np.remainder, c(F * 3, divisor=P), c(I, divisor=-3))
row('Tensor.multiply', np.multiply, c(F, value=G))
row('ops.fmod mint.fmod Tensor.fmod', np.fmod, c(F * 3, P), c(I, J), c(F, 0.7))
row('ops.pow mint.pow Tensor.pow', np.power, c(P, F), c(F, 3), c(P, V), c(I, abs(J)))
row('ops.pow mint.pow', np.power, c(2, F), c(input=1.5, exponent=F))
row('ops.maximum mint.maximum Tensor.maximum', np.maximum, c(F, G), c(F, V), c(I, J), c(F, 0.5),
    c(np.array([np.nan, 1, 2]), np.array([1, np.nan, 3.0])))
row('ops.minimum mint.minimum Tensor.minimum', np.minimum, c(F, G), c(F, V), c(I, J), c(F, 0.5),
    c(np.array([np.nan, 1, 2]), np.array([1, np.nan, 3.0])))
for name in 'and or xor'.split():
    row(f'ops.logical_{name} mint.logical_{name} Tensor.logical_{name}', getattr(np, 'logical_' + name), c(B, b(2, 3)),
        c(I, J), c(F, b(3)), c(B, True))
    row(f'ops.bitwise_{name} mint.bitwise_{name} Tensor.bitwise_{name}', getattr(np, 'bitwise_' + name), c(I, J),
        c(B, b(2, 3)), c(I, 6))
row('ops.bitwise_left_shift Tensor.bitwise_left_shift', np.left_shift, c(I, abs(J)), c(I, 3))
row('ops.bitwise_right_shift Tensor.bitwise_right_shift', np.right_shift, c(I, abs(J)), c(I, 1))
row('ops.atan2 ops.arctan2 mint.atan2 mint.arctan2 Tensor.atan2 Tensor.arctan2', np.arctan2, c(F, G), c(F, V))
row('ops.logaddexp mint.logaddexp Tensor.logaddexp', np.logaddexp, c(F, G), c(F, V))
row('ops.xlogy mint.xlogy Tensor.xlogy', lambda x, y: np.where(x == 0, 0, x * np.log(y)), c(F, P), c(F, 2.5),
    c(i(3), i(3, lo=1)))
row('ops.xlogy', lambda x, y: x * 0, c(np.zeros(2), np.array([0.0, 2.0])), grad=False)
row('ops.hypot Tensor.hypot', np.hypot, c(F, G), c(F, V))
LOW, HIGH = f(3, lo=-1, hi=0), f(3, lo=0, hi=1)
row('ops.clamp ops.clip mint.clamp Tensor.clamp Tensor.clip', lambda x, min=None, max=None: np.clip(x, min, max),
    c(F, -0.5, 0.7), c(F, LOW, HIGH), c(F, min=0.1), c(F, max=0.1), c(I, -1, 2))
row('ops.clip_by_value', lambda x, lo=None, hi=None: np.clip(x, lo, hi), c(F, -0.5, 0.7), c(F, LOW, HIGH))
row('ops.clip_by_value', lambda x, clip_value_min=None, clip_value_max=None: np.clip(x, clip_value_min, clip_value_max),
    c(x=F, clip_value_max=0.5), c(F, clip_value_min=0.5))
row('ops.lerp mint.lerp Tensor.lerp', lambda x, end, weight: x + weight * (end - x), c(F, G, 0.3), c(F, G, V))
row('ops.addcmul Tensor.addcmul', lambda x, t1, t2, value=1: x + value * t1 * t2, c(F, G, V), c(F, G, V, 2.5),
    c(F, G, V, value=np.array([0.5])))
row('ops.addcdiv mint.addcdiv Tensor.addcdiv', lambda x, t1, t2, value=1: x + value * t1 / t2, c(F, G, P),
    c(F, G, P, value=2.5))
row('ops.addcdiv Tensor.addcdiv', lambda x, t1, t2, value=1: x + value * t1 / t2, c(F, G, P, np.array([0.5])))
row('ops.where mint.where', np.where, c(B, F, G), c(B, F, 2.5), c(b(3), 1.5, F), c(B, I, J))
row('Tensor.where', lambda x, condition, y: np.where(condition, x, y), c(F, B, G), c(F, B, 2.5))


row('ops.clip_by_value', lambda x, clip_value_min=None, clip_value_max=None: [np.clip(p, clip_value_min, clip_value_max) for p in x],
    c([F, G], -0.5, 0.7), c(x=(F, P), clip_value_min=0.5, clip_value_max=np.array(1.0)))


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return np.isclose(input, other, rtol, atol, equal_nan)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


row('mint.allclose Tensor.allclose', allclose, c(F, F + 1e-3), c(F, F + 1e-3, 1e-9, 1e-2, True),
    c(F, F + 1e-3, rtol=10, atol=0, equal_nan=False), dynamic=True)
NEAR = F + np.array([0, 1e-3, 0.1])
NAN = np.array([1.0, np.nan])
row('ops.isclose mint.isclose Tensor.isclose', isclose, c(F, NEAR), c(F, NEAR, 1e-2), c(F, NEAR, atol=0.2),
    c(NAN, NAN.copy()), c(NAN, NAN.copy(), equal_nan=True))
row('Tensor.isclose', lambda x, x2, rtol=1e-5, atol=1e-8, equal_nan=False: np.isclose(x, x2, rtol, atol, equal_nan),
    c(F, x2=NEAR, rtol=1e-2, atol=1e-3, equal_nan=True))
row('ops.equal', np.equal, c(F, F.copy()))
row('mint.equal', lambda x, y: np.array_equal(x, y), c(F, F.copy()), c(F, G), c(F, F[0]), dynamic=True)
row('Tensor.equal', lambda x, y: np.equal(x, y), c(F, F.copy()), c(I, J))

# ---- in place ----

row('ops.assign Tensor.assign_value', lambda variable, value: value, c(F, G), inplace=True)
row('ops.assign_add', np.add, c(F, G), c(variable=F, value=G), inplace=True)
row('ops.assign_sub', np.subtract, c(F, G), c(variable=F, value=G), inplace=True)
row('Tensor.copy_', lambda x, src, non_blocking=False: np.broadcast_to(src, x.shape).astype(x.dtype), c(F, G), c(F, V), c(I, F),
    c(F, src=G, non_blocking=True), inplace=True)
row('Tensor.fill_', lambda x, value: np.full_like(x, value), c(F, 2.5), c(I, 3), inplace=True)
row('Tensor.zero_', np.zeros_like, c(F), c(I), inplace=True)
row('Tensor.add_', with_alpha(1), c(F, G), c(F, V, alpha=2.5), c(F, 3), inplace=True)
row('Tensor.sub_', with_alpha(-1), c(F, G), c(F, V, alpha=2.5), c(F, 3), inplace=True)
row('Tensor.mul_', np.multiply, c(F, G), c(F, 3), inplace=True)
row('Tensor.div_', div, c(F, P), c(F, 4), c(F, P, rounding_mode='floor'), c(F * 3, P, rounding_mode='trunc'), inplace=True)
row('Tensor.exp_', np.exp, c(F), inplace=True)
row('Tensor.neg_', np.negative, c(F), inplace=True)
