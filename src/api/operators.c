/* operators.c - public names of elementwise functions of two tensors: Python's operators, arithmetic,
 * comparison, logic, bits, selection. Numbers are weak: they take the other side's dtype within their
 * category; tensors are promoted to the smallest dtype that holds both. */
#include "api/args.h"
#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

typedef MsTensor *(*Binary)(MsTensor *, MsTensor *);

static MsStatus pair(MsApiCall *c, Binary f)
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(f(x, y));
}

/* An integer that the tensor's dtype cannot hold still compares exactly: as int64, and a negative one with uint64
 * as float64, where only the sign matters. */
static MsStatus compare(MsApiCall *c, Binary f)
{
    for (int k = 0; k < 2; k++) {
        const MsArg *number = ARG(k), *other = ARG(1 - k);
        if (number->kind != MS_ARG_INT || other->kind != MS_ARG_TENSOR) continue;
        MsDtype d = ms_tensor_dtype(other->t), wide = d == MS_UINT64 ? MS_FLOAT64 : MS_INT64;
        if (ms__int_side(d, number->i) == 0) continue;
        MsTensor *x = ms_cast(other->t, wide), *y = ms_tensor_scalar_int(wide, number->i);
        return R(k == 1 ? f(x, y) : f(y, x));
    }
    return pair(c, f);
}

static MsStatus swapped(MsApiCall *c, Binary f)
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(f(y, x));
}

/* True division: integers and bool as float32. */
static MsTensor *divide(MsTensor *x, MsTensor *y)
{
    if (is_exact(x)) {
        x = ms_cast(x, MS_FLOAT32);
        y = ms_cast(y, MS_FLOAT32);
    }
    return ms_div(x, y);
}

/* Arithmetic that bool has none of: as int64. */
static MsTensor *number_pair(MsTensor *x, MsTensor *y, Binary f)
{
    if (ms_tensor_dtype(x) == MS_BOOL) {
        x = ms_cast(x, MS_INT64);
        y = ms_cast(y, MS_INT64);
    }
    return f(x, y);
}

/* Of bool: the difference is whether they differ, and both results are bool. */
static MsTensor *subtract(MsTensor *x, MsTensor *y)
{
    return ms_tensor_dtype(x) == MS_BOOL ? ms_logical_xor(x, y) : ms_sub(x, y);
}
static MsTensor *floor_divide(MsTensor *x, MsTensor *y)
{
    MsTensor *q = number_pair(x, y, ms_floor_div);
    return ms_tensor_dtype(x) == MS_BOOL && q ? ms_cast(q, MS_BOOL) : q;
}
static MsTensor *modulo(MsTensor *x, MsTensor *y)
{
    return number_pair(x, y, ms_mod);
}
static MsTensor *c_modulo(MsTensor *x, MsTensor *y)
{
    return number_pair(x, y, ms_fmod);
}
static MsTensor *power(MsTensor *x, MsTensor *y)
{
    return number_pair(x, y, ms_pow);
}

static MsTensor *as_bool(MsTensor *x)
{
    return ms_tensor_dtype(x) == MS_BOOL ? x : ms_cast(x, MS_BOOL);
}
static MsTensor *both(MsTensor *x, MsTensor *y)
{
    return ms_logical_and(as_bool(x), as_bool(y));
}
static MsTensor *either(MsTensor *x, MsTensor *y)
{
    return ms_logical_or(as_bool(x), as_bool(y));
}
static MsTensor *one_of(MsTensor *x, MsTensor *y)
{
    return ms_logical_xor(as_bool(x), as_bool(y));
}

static MsTensor *bits(MsTensor *x, MsTensor *y, Binary of_bool, Binary of_int)
{
    return ms_tensor_dtype(x) == MS_BOOL ? of_bool(x, y) : of_int(x, y);
}
static MsTensor *bit_and(MsTensor *x, MsTensor *y)
{
    return bits(x, y, ms_logical_and, ms_bitwise_and);
}
static MsTensor *bit_or(MsTensor *x, MsTensor *y)
{
    return bits(x, y, ms_logical_or, ms_bitwise_or);
}
static MsTensor *bit_xor(MsTensor *x, MsTensor *y)
{
    return bits(x, y, ms_logical_xor, ms_bitwise_xor);
}

static MsTensor *floating(MsTensor *x)
{
    return is_exact(x) ? ms_cast(x, MS_FLOAT32) : x;
}
static MsTensor *angle_of(MsTensor *y, MsTensor *x)
{
    return ms_atan2(floating(y), floating(x));
}

MS_API(op_add, "Tensor.__add__ Tensor.__iadd__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_add);
}

MS_API(op_radd, "Tensor.__radd__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, ms_add);
}

MS_API(op_sub, "Tensor.__sub__ Tensor.__isub__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, subtract);
}

MS_API(op_rsub, "Tensor.__rsub__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, subtract);
}

MS_API(op_mul, "Tensor.__mul__ Tensor.__imul__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_mul);
}

MS_API(op_rmul, "Tensor.__rmul__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, ms_mul);
}

MS_API(op_truediv, "Tensor.__truediv__ Tensor.__itruediv__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, divide);
}

MS_API(op_rtruediv, "Tensor.__rtruediv__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, divide);
}

MS_API(op_floordiv, "Tensor.__floordiv__ Tensor.__ifloordiv__",
       "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, floor_divide);
}

MS_API(op_rfloordiv, "Tensor.__rfloordiv__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, floor_divide);
}

MS_API(op_mod, "Tensor.__mod__ Tensor.__imod__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, modulo);
}

MS_API(op_rmod, "Tensor.__rmod__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, modulo);
}

MS_API(op_pow, "Tensor.__pow__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, power);
}

MS_API(op_rpow, "Tensor.__rpow__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, power);
}

MS_API(op_and, "Tensor.__and__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, bit_and);
}

MS_API(op_rand, "Tensor.__rand__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, bit_and);
}

MS_API(op_or, "Tensor.__or__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, bit_or);
}

MS_API(op_ror, "Tensor.__ror__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, bit_or);
}

MS_API(op_xor, "Tensor.__xor__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, bit_xor);
}

MS_API(op_rxor, "Tensor.__rxor__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, bit_xor);
}

MS_API(op_lshift, "Tensor.__lshift__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_left_shift);
}

MS_API(op_rlshift, "Tensor.__rlshift__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, ms_left_shift);
}

MS_API(op_rshift, "Tensor.__rshift__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_right_shift);
}

MS_API(op_rrshift, "Tensor.__rrshift__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return swapped(c, ms_right_shift);
}

MS_API(op_eq, "Tensor.__eq__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_eq);
}

MS_API(op_ne, "Tensor.__ne__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_ne);
}

MS_API(op_lt, "Tensor.__lt__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_lt);
}

MS_API(op_le, "Tensor.__le__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_le);
}

MS_API(op_gt, "Tensor.__gt__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_gt);
}

MS_API(op_ge, "Tensor.__ge__", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_ge);
}

/* x + alpha * y in the dtype of the pair. */
static MsStatus scaled(MsApiCall *c, Binary f)
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    if (ARG(2)->kind == MS_ARG_FLOAT && is_exact(x))
        return MS_FAIL(MS_ERROR_TYPE, "For integer tensors, 'alpha' must be an int, but got a float.");
    if (F(2) != 1) y = ms_mul(y, ms__arg_tensor(ARG(2), y));
    return R(f(x, y));
}

MS_API(add, "ops.add", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_add);
}

MS_API(add_alpha, "mint.add Tensor.add",
       "(input: Tensor|number, other: Tensor|number, *, alpha: number = 1) -> Tensor")
{
    return scaled(c, ms_add);
}

MS_API(sub, "ops.sub", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, subtract);
}

MS_API(sub_alpha, "mint.sub Tensor.sub ops.subtract Tensor.subtract",
       "(input: Tensor|number, other: Tensor|number, *, alpha: number = 1) -> Tensor")
{
    return scaled(c, subtract);
}
MS_API_ALSO(sub_y, sub, "Tensor.sub", "(input: Tensor|number, y: Tensor|number) -> Tensor")

MS_API(mul, "ops.mul ops.multiply mint.mul Tensor.mul Tensor.multiply",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_mul);
}
MS_API_ALSO(mul_value, mul, "Tensor.multiply", "(input: Tensor|number, value: Tensor|number) -> Tensor")

static MsStatus rounded(MsApiCall *c)
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    if (!GIVEN(2)) return R(divide(x, y));
    bool trunc = strcmp(ARG(2)->s, "trunc") == 0;
    if (!trunc && strcmp(ARG(2)->s, "floor") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'div', 'rounding_mode' must be None, 'floor' or 'trunc', but got '%s'.",
                       ARG(2)->s);
    if (!trunc || ms_tensor_dtype(x) == MS_BOOL) return R(floor_divide(x, y));
    if (!is_exact(x)) return R(ms_trunc(ms_div(x, y)));
    MsTensor *rest = c_modulo(x, y); /* exact for every integer */
    return R(floor_divide(subtract(x, rest), y));
}

MS_API(div, "ops.div ops.divide mint.div mint.divide Tensor.div Tensor.divide",
       "(input: Tensor|number, other: Tensor|number, *, rounding_mode: str = None) -> Tensor")
{
    return rounded(c);
}

MS_API(true_divide, "ops.true_divide", "(dividend: Tensor|number, divisor: Tensor|number) -> Tensor")
{
    return pair(c, divide);
}

MS_API(true_divide_method, "Tensor.true_divide", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, divide);
}

MS_API(floor_divide, "ops.floor_divide mint.floor_divide Tensor.floor_divide",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, floor_divide);
}

MS_API(floor_div, "ops.floor_div", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    return pair(c, floor_divide);
}

MS_API(floor_mod, "ops.floor_mod", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    return pair(c, modulo);
}

MS_API(remainder, "ops.remainder mint.remainder Tensor.remainder",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, modulo);
}
MS_API_ALSO(remainder_divisor, remainder, "Tensor.remainder",
            "(input: Tensor|number, divisor: Tensor|number) -> Tensor")

MS_API(fmod, "ops.fmod mint.fmod Tensor.fmod", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, c_modulo);
}

MS_API(pow, "ops.pow mint.pow Tensor.pow", "(input: Tensor|number, exponent: Tensor|number) -> Tensor")
{
    return pair(c, power);
}

MS_API(maximum, "ops.maximum mint.maximum Tensor.maximum",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_maximum);
}

MS_API(minimum, "ops.minimum mint.minimum Tensor.minimum",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_minimum);
}

MS_API(eq, "ops.eq ops.equal mint.eq Tensor.eq", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_eq);
}

MS_API(ne, "ops.ne ops.not_equal mint.ne mint.not_equal Tensor.ne Tensor.not_equal",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_ne);
}

MS_API(lt, "ops.lt ops.less mint.lt mint.less Tensor.lt Tensor.less",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_lt);
}

MS_API(le, "ops.le ops.less_equal mint.le mint.less_equal Tensor.le Tensor.less_equal",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_le);
}

MS_API(gt, "ops.gt ops.greater mint.gt mint.greater Tensor.gt Tensor.greater",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_gt);
}

MS_API(ge, "ops.ge ops.greater_equal mint.ge mint.greater_equal Tensor.ge Tensor.greater_equal",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_ge);
}

MS_API(logical_and, "ops.logical_and mint.logical_and Tensor.logical_and",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, both);
}

MS_API(logical_or, "ops.logical_or mint.logical_or Tensor.logical_or",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, either);
}

MS_API(logical_xor, "ops.logical_xor mint.logical_xor Tensor.logical_xor",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, one_of);
}

MS_API(bitwise_and, "ops.bitwise_and mint.bitwise_and Tensor.bitwise_and",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, bit_and);
}

MS_API(bitwise_or, "ops.bitwise_or mint.bitwise_or Tensor.bitwise_or",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, bit_or);
}

MS_API(bitwise_xor, "ops.bitwise_xor mint.bitwise_xor Tensor.bitwise_xor",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, bit_xor);
}

MS_API(left_shift, "ops.bitwise_left_shift Tensor.bitwise_left_shift",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_left_shift);
}

MS_API(right_shift, "ops.bitwise_right_shift Tensor.bitwise_right_shift",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_right_shift);
}

MS_API(atan2, "ops.atan2 ops.arctan2 mint.atan2 mint.arctan2 Tensor.atan2 Tensor.arctan2",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, angle_of);
}

MsTensor *ms__logaddexp(MsTensor *x, MsTensor *y)
{
    MsTensor *m = ms_maximum(x, y), *zero = m ? ms_tensor_scalar(ms_tensor_dtype(m), 0) : NULL;
    MsTensor *d = ms_where(ms_eq(x, y), zero, ms_sub(x, y)); /* of equal infinities too */
    return ms_add(m, ms_log1p(ms_exp(ms_neg(ms_abs(d)))));
}

MS_API(logaddexp, "ops.logaddexp mint.logaddexp Tensor.logaddexp", "(input: Tensor, other: Tensor) -> Tensor")
{
    return pair(c, ms__logaddexp);
}

/* x * log(y), 0 where x is 0 unless y is NaN. */
static MsTensor *xlogy(MsTensor *x, MsTensor *y)
{
    x = floating(x);
    y = floating(y);
    MsTensor *zero = x ? ms_tensor_scalar(ms_tensor_dtype(x), 0) : NULL;
    MsTensor *undefined = ms_logical_not(ms_logical_or(ms_is_finite(ms_log(y)), ms_is_nan(y)));
    MsTensor *skip = ms_logical_and(ms_eq(x, zero), undefined); /* else the slope is log(y) */
    MsTensor *safe = y ? ms_where(skip, ms_tensor_scalar(ms_tensor_dtype(y), 1), y) : NULL;
    return ms_mul(x, ms_log(safe));
}

static MsTensor *hypot2(MsTensor *x, MsTensor *y)
{
    x = ms_abs(floating(x));
    y = ms_abs(floating(y));
    MsTensor *big = ms_maximum(x, y), *small = ms_minimum(x, y);
    MsTensor *zero = big ? ms_tensor_scalar(ms_tensor_dtype(big), 0) : NULL;
    MsTensor *one = big ? ms_tensor_scalar(ms_tensor_dtype(big), 1) : NULL;
    MsTensor *r = ms_div(small, ms_where(ms_eq(big, zero), one, big));
    MsTensor *h = ms_mul(big, ms_sqrt(ms_add(one, ms_mul(r, r))));
    h = ms_where(ms_eq(big, zero), big, h);
    return ms_where(ms_is_inf(y), y, ms_where(ms_is_inf(x), x, h)); /* also beside NaN */
}

MS_API(xlogy, "ops.xlogy mint.xlogy Tensor.xlogy", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, xlogy);
}

MS_API(hypot, "ops.hypot Tensor.hypot", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, hypot2);
}

/* Limits may be numbers or tensors; NaN in the input stays, NaN in a limit spreads. */
static MsStatus clamp(MsApiCall *c)
{
    MsTensor *x = T(0);
    if (!GIVEN(1) && !GIVEN(2))
        return MS_FAIL(MS_ERROR_VALUE, "For 'clamp', at least one of 'min' or 'max' must not be None.");
    for (int k = 1; k <= 2 && x; k++) {
        bool idle = ARG(k)->kind == MS_ARG_INT && ms__int_side(ms_tensor_dtype(x), I(k)) == (k == 1 ? -1 : 1);
        if (!GIVEN(k) || idle) continue;
        MsTensor *limit = ms__arg_tensor(ARG(k), x);
        MsDtype d = limit ? ms_dtype_promote(ms_tensor_dtype(x), ms_tensor_dtype(limit)) : MS_DTYPE_NONE;
        if (limit && d == MS_DTYPE_NONE)
            return MS_FAIL(MS_ERROR_TYPE, "For 'clamp', %s and %s do not go together.",
                           ms_dtype_name(ms_tensor_dtype(x)), ms_dtype_name(ms_tensor_dtype(limit)));
        if (limit && ms_tensor_dtype(x) != d) x = ms_cast(x, d);
        if (limit && ms_tensor_dtype(limit) != d) limit = ms_cast(limit, d);
        x = k == 1 ? ms_clamp_min(x, limit) : ms_clamp_max(x, limit);
    }
    return R(x == T(0) ? ms_copy(x) : x);
}

MS_API(clamp, "ops.clamp ops.clip mint.clamp Tensor.clamp Tensor.clip",
       "(input: Tensor, min: Tensor|number = None, max: Tensor|number = None) -> Tensor")
{
    return clamp(c);
}

MS_API(clip_by_value, "ops.clip_by_value",
       "(x: Tensor, clip_value_min: Tensor|number = None, clip_value_max: Tensor|number = None) -> Tensor")
{
    return clamp(c);
}

/* Every tensor of a list or tuple. */
MS_API(clip_by_value_list, "ops.clip_by_value",
       "(x: Tensor[], clip_value_min: Tensor|number = None, clip_value_max: Tensor|number = None) -> any")
{
    const MsArg *given = c->arg;
    int n = given[0].n;
    MsTensor **y = ms__malloc((size_t)(n + 1) * sizeof(MsTensor *));
    if (!y) return ms_error()->code;
    MsStatus st = MS_OK;
    for (int k = 0; k < n && st == MS_OK; k++) {
        MsArg one[3] = {given[0].list[k], given[1], given[2]};
        c->arg = one;
        st = clamp(c);
        y[k] = c->out.t;
    }
    c->arg = given;
    if (st == MS_OK) st = ms__api_return_list(c, n, y);
    free(y);
    return st;
}

/* a + w * (b - a), from the nearer end so that w = 1 gives b. */
static MsStatus lerp(MsApiCall *c)
{
    MsTensor *w = ms__arg_tensor(ARG(2), T(0)), *d = ms_sub(T(1), T(0));
    if (!w || !d) return ms_error()->code;
    MsTensor *one = ms_tensor_scalar(ms_tensor_dtype(w), 1);
    MsTensor *low = ms_add(T(0), ms_mul(w, d)), *high = ms_sub(T(1), ms_mul(ms_sub(one, w), d));
    return R(ms_where(ms_lt(ms_abs(w), ms_tensor_scalar(ms_tensor_dtype(w), 0.5)), low, high));
}

MS_API(lerp, "ops.lerp mint.lerp Tensor.lerp",
       "(input: Tensor, end: Tensor, weight: Tensor|number) -> Tensor")
{
    return lerp(c);
}

MS_API(addcmul, "ops.addcmul Tensor.addcmul",
       "(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor|number = 1) -> Tensor")
{
    return R(ms_add(T(0), ms_mul(ms__arg_tensor(ARG(3), T(0)), ms_mul(T(1), T(2)))));
}

MS_API(addcdiv, "ops.addcdiv mint.addcdiv Tensor.addcdiv",
       "(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor|number = 1) -> Tensor")
{
    return R(ms_add(T(0), ms_mul(ms__arg_tensor(ARG(3), T(0)), divide(T(1), T(2)))));
}

static MsStatus choose(MsApiCall *c, int cond, int a, int b)
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, a, b, &x, &y));
    return R(ms_where(as_bool(T(cond)), x, y));
}

MS_API(where, "ops.where mint.where",
       "(condition: Tensor, input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return choose(c, 0, 1, 2);
}

MS_API(where_method, "Tensor.where", "(self: Tensor, condition: Tensor, y: Tensor|number) -> Tensor")
{
    return choose(c, 1, 0, 2);
}

static MsTensor *close_to(MsApiCall *c)
{
    MsTensor *x, *y;
    if (ms__arg_promote(c, 0, 1, &x, &y) != MS_OK) return NULL;
    x = floating(x);
    y = floating(y);
    if (!x || !y) return NULL;
    MsTensor *size = ms_abs(y);
    MsDtype d = ms_tensor_dtype(size);
    MsTensor *limit = ms_add(ms_tensor_scalar(d, F(3)), ms_mul(ms_tensor_scalar(d, F(2)), size));
    MsTensor *near = ms_logical_and(ms_le(ms_abs(ms_sub(x, y)), limit), ms_is_finite(y));
    near = ms_logical_or(near, ms_eq(x, y));
    return I(4) ? ms_logical_or(near, ms_logical_and(ms_is_nan(x), ms_is_nan(y))) : near;
}

MS_API(isclose, "ops.isclose mint.isclose Tensor.isclose",
       "(input: Tensor, other: Tensor, rtol: number = 1e-05, atol: number = 1e-08, equal_nan: bool = False) "
       "-> Tensor")
{
    return R(close_to(c));
}
MS_API_ALSO(isclose_x2, isclose, "Tensor.isclose",
            "(input: Tensor, x2: Tensor, rtol: number = 1e-05, atol: number = 1e-08, equal_nan: bool = "
            "False) -> Tensor")

/* Whether all are true: a Python bool; within a staged function, where there is no value, a tensor. */
static MsStatus whole(MsApiCall *c, MsTensor *each)
{
    MsTensor *all = ms_reduce_all(each, MS_INTS_NONE, false);
    if (!all) return ms_error()->code;
    if (!ms__concrete(all)) return R(all);
    c->out = (MsArg){.kind = MS_ARG_BOOL};
    return ms_tensor_item_int(all, &c->out.i);
}

MS_API(allclose, "mint.allclose Tensor.allclose",
       "(input: Tensor, other: Tensor, rtol: number = 1e-05, atol: number = 1e-08, equal_nan: bool = False) "
       "-> Tensor")
{
    return whole(c, close_to(c));
}

MS_API(equal_whole, "mint.equal", "(input: Tensor, other: Tensor) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    bool alike = x->ndim == y->ndim && !memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape);
    return whole(c, alike ? ms_eq(x, y) : ms_tensor_scalar(MS_BOOL, 0));
}

MS_API(equal_method, "Tensor.equal", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return compare(c, ms_eq);
}
