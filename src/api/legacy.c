/* legacy.c - the older public names of the original: shapes as tuples, arithmetic of plain numbers,
 * reductions under the names of their primitives, `tensor_x` and `scalar_x` forms. Each is a call of the same
 * primitive that the current name uses; names that only differ in parameter names from a current row share
 * its rule here instead of getting another implementation.
 */
#include "api/args.h"

#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static MsStatus give_int(MsApiCall *c, int64_t v)
{
    c->out = (MsArg){.kind = MS_ARG_INT, .i = v};
    return MS_OK;
}

static MsStatus give_float(MsApiCall *c, double v)
{
    c->out = (MsArg){.kind = MS_ARG_FLOAT, .f = v};
    return MS_OK;
}

static MsStatus give_bool(MsApiCall *c, bool v)
{
    c->out = (MsArg){.kind = MS_ARG_BOOL, .i = v};
    return MS_OK;
}

/* ---- shapes ---- */

MS_API(legacy_shape, "ops.shape ops.shape_", "(input_x: Tensor) -> any")
{
    int n = ms_tensor_ndim(T(0));
    MsArg *list = ms__malloc((size_t)(n ? n : 1) * sizeof *list);
    if (!list) return MS_ERROR_MEMORY;
    for (int d = 0; d < n; d++) list[d] = (MsArg){.kind = MS_ARG_INT, .i = ms_tensor_shape(T(0))[d]};
    c->out = (MsArg){.kind = MS_ARG_LIST, .tuple = true, .n = n, .list = list};
    return MS_OK;
}

MS_API(legacy_dyn_shape, "ops.dyn_shape", "(input_x: Tensor) -> Tensor")
{
    int64_t n = ms_tensor_ndim(T(0));
    return R(ms_tensor_from(MS_INT64, 1, &n, ms_tensor_shape(T(0))));
}

MS_API(legacy_rank, "ops.rank", "(input_x: Tensor) -> int")
{
    return give_int(c, ms_tensor_ndim(T(0)));
}

MS_API(legacy_size, "ops.size", "(input_x: Tensor) -> int")
{
    return give_int(c, ms_tensor_numel(T(0)));
}

MS_API(legacy_shape_mul, "ops.shape_mul", "(input_data: ints) -> int")
{
    int64_t buf[MS_MAX_DIM], n = 1;
    MsInts s = INTS(0, buf);
    if (s.n == -2) return ms_error()->code;
    for (int d = 0; d < s.n; d++) n *= s.v[d];
    return give_int(c, n);
}

MS_API(legacy_tuple_to_array, "ops.tuple_to_array", "(input_x: any) -> Tensor")
{
    if (ARG(0)->kind != MS_ARG_LIST || ARG(0)->n == 0)
        return MS_FAIL(MS_ERROR_TYPE, "For 'tuple_to_array', 'input_x' must be a tuple of numbers.");
    MsTensor *t = ms__arg_data("tuple_to_array", ARG(0), MS_DTYPE_NONE);
    return R(t && ms_tensor_dtype(t) == MS_INT64 ? ms_cast(t, MS_INT32) : t); /* as the original */
}

MS_API(legacy_is_nonzero, "ops.is_nonzero", "(input: Tensor) -> bool")
{
    double v;
    MS_TRY(ms_tensor_item(ms_cast(T(0), MS_BOOL), &v));
    return give_bool(c, v != 0);
}

/* ---- reductions under the names of their primitives ---- */

static MsStatus reduce(MsApiCall *c, MsTensor *(*f)(MsTensor *, MsInts, bool))
{
    VAR("reduce", 1, buf, axis);
    return R(f(T(0), axis.n > 0 ? axis : MS_INTS_NONE, false));
}

MS_API(legacy_reduce_sum, "ops.reduce_sum", "(x: Tensor, axis: any = ()) -> Tensor")
{
    return reduce(c, ms_sum);
}
MS_API(legacy_reduce_mean, "ops.reduce_mean", "(x: Tensor, axis: any = ()) -> Tensor")
{
    return reduce(c, ms_mean);
}
MS_API(legacy_reduce_max, "ops.reduce_max", "(x: Tensor, axis: any = ()) -> Tensor")
{
    return reduce(c, ms_reduce_max);
}
MS_API(legacy_reduce_min, "ops.reduce_min", "(x: Tensor, axis: any = ()) -> Tensor")
{
    return reduce(c, ms_reduce_min);
}

/* ---- arithmetic ---- */

static MsStatus pair(MsApiCall *c, MsTensor *(*f)(MsTensor *, MsTensor *))
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(f(x, y));
}

static MsTensor *floating(MsTensor *x)
{
    return x && !ms_dtype_is_float(ms_tensor_dtype(x)) && !ms_dtype_is_complex(ms_tensor_dtype(x))
               ? ms_cast(x, MS_FLOAT32)
               : x;
}
static MsTensor *divide(MsTensor *x, MsTensor *y)
{
    return ms_div(floating(x), floating(y));
}
/* The quotient of integers or floats without its fraction; exact for integers. */
static MsTensor *truncated(MsTensor *x, MsTensor *y)
{
    if (ms_dtype_is_int(ms_tensor_dtype(x))) return ms_floor_div(ms_sub(x, ms_fmod(x, y)), y);
    return ms_trunc(divide(x, y));
}

MS_API(legacy_add, "ops.tensor_add ops.hyper_add", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_add);
}
MS_API(legacy_sub, "ops.tensor_sub", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_sub);
}
MS_API(legacy_mul, "ops.tensor_mul", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_mul);
}
MS_API(legacy_div, "ops.tensor_div", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    return pair(c, divide);
}
MS_API(legacy_mod, "ops.tensor_mod ops.floormod", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    return pair(c, ms_mod);
}
MS_API(legacy_floordiv, "ops.tensor_floordiv ops.floordiv",
       "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_floor_div);
}
MS_API(legacy_truncate_div, "ops.truncate_div", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    return pair(c, truncated);
}
MS_API(legacy_truncate_mod, "ops.truncate_mod", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    return pair(c, ms_fmod);
}
MS_API(legacy_pow, "ops.tensor_pow ops.pows", "(input: Tensor|number, exponent: Tensor|number) -> Tensor")
{
    return pair(c, ms_pow);
}
MS_API(legacy_ge, "ops.tensor_ge", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_ge);
}
MS_API(legacy_gt, "ops.tensor_gt", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_gt);
}
MS_API(legacy_le, "ops.tensor_le", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_le);
}
MS_API(legacy_lt, "ops.tensor_lt", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_lt);
}
MS_API(legacy_exp, "ops.tensor_exp", "(input: Tensor) -> Tensor")
{
    return R(ms_exp(T(0)));
}
MS_API(legacy_expm1, "ops.tensor_expm1", "(input: Tensor) -> Tensor")
{
    return R(ms_expm1(T(0)));
}

/* The sum of several tensors of one shape. */
MS_API(legacy_addn, "ops.addn ops.accumulate_n", "(x: Tensor[]) -> Tensor")
{
    int n;
    const MsArg *item = ms__arg_items(ARG(0), &n);
    if (n == 0) return MS_FAIL(MS_ERROR_VALUE, "For 'addn', 'x' must have at least one tensor.");
    MsTensor *y = item[0].t;
    for (int k = 1; k < n && y; k++) {
        if (ms_tensor_dtype(y) != ms_tensor_dtype(item[k].t))
            return MS_FAIL(MS_ERROR_TYPE,
                           "For 'addn', the dtypes of 'x' must be the same, but got %s and %s.",
                           ms_dtype_name(ms_tensor_dtype(y)), ms_dtype_name(ms_tensor_dtype(item[k].t)));
        y = ms_add(y, item[k].t);
    }
    return R(n == 1 ? ms_identity(y) : y);
}

/* ---- plain numbers ---- */

typedef double (*NumberFn)(double, double);

static bool exact(const MsArg *a)
{
    return a->kind != MS_ARG_FLOAT;
}
static double plus(double x, double y)
{
    return x + y;
}
static double minus(double x, double y)
{
    return x - y;
}
static double times(double x, double y)
{
    return x * y;
}
static double floored(double x, double y)
{
    return floor(x / y);
}
static double modulo(double x, double y)
{
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* Of two integers an integer, computed in 64 bits; the operation is named by one letter. */
static MsStatus number(MsApiCall *c, char op, NumberFn f)
{
    if (strchr("/d%", op) && F(1) == 0) return MS_FAIL(MS_ERROR_ZERO_DIVISION, "division by zero");
    if (!exact(ARG(0)) || !exact(ARG(1)) || op == '/') return give_float(c, f(F(0), F(1)));
    int64_t x = I(0), y = I(1), v = 0;
    bool over = false;
    switch (op) {
    case '+': over = __builtin_add_overflow(x, y, &v); break;
    case '-': over = __builtin_sub_overflow(x, y, &v); break;
    case '*': over = __builtin_mul_overflow(x, y, &v); break;
    case 'd':
    case '%':
        if (y == -1) {
            over = op == 'd' && x == INT64_MIN;
            v = op == 'd' && !over ? -x : 0;
        } else {
            int64_t r = x % y, q = x / y;
            bool down = r != 0 && (r < 0) != (y < 0);
            v = op == 'd' ? q - down : r + (down ? y : 0);
        }
        break;
    case 'M': v = x > y ? x : y; break;
    case 'm': v = x < y ? x : y; break;
    }
    return over ? MS_FAIL(MS_ERROR_OVERFLOW, "The result of %lld %c %lld has no 64-bit integer.",
                          (long long)x, op == 'd' ? '/' : op, (long long)y)
                : give_int(c, v);
}

static double quotient(double x, double y)
{
    return x / y;
}

MS_API(scalar_add, "ops.scalar_add", "(x: number, y: number) -> number")
{
    return number(c, '+', plus);
}
MS_API(scalar_sub, "ops.scalar_sub", "(x: number, y: number) -> number")
{
    return number(c, '-', minus);
}
MS_API(scalar_mul, "ops.scalar_mul", "(x: number, y: number) -> number")
{
    return number(c, '*', times);
}
MS_API(scalar_div, "ops.scalar_div", "(x: number, y: number) -> number")
{
    return number(c, '/', quotient);
}
MS_API(scalar_floordiv, "ops.scalar_floordiv", "(x: number, y: number) -> number")
{
    return number(c, 'd', floored);
}
MS_API(scalar_mod, "ops.scalar_mod", "(x: number, y: number) -> number")
{
    return number(c, '%', modulo);
}
MS_API(scalar_max, "ops.scalar_max", "(x: number, y: number) -> number")
{
    return number(c, 'M', fmax);
}
MS_API(scalar_min, "ops.scalar_min", "(x: number, y: number) -> number")
{
    return number(c, 'm', fmin);
}
MS_API(scalar_pow, "ops.scalar_pow", "(x: number, y: number) -> number")
{
    double v = pow(F(0), F(1));
    if (!exact(ARG(0)) || !exact(ARG(1)) || I(1) < 0 || fabs(v) > 0x1p53) return give_float(c, v);
    return give_int(c, (int64_t)v);
}
MS_API(scalar_log, "ops.scalar_log", "(x: number) -> number")
{
    if (!(F(0) > 0))
        return MS_FAIL(MS_ERROR_VALUE, "For 'scalar_log', 'x' must be positive, but got %g.", F(0));
    return give_float(c, log(F(0)));
}
MS_API(scalar_uadd, "ops.scalar_uadd", "(x: number) -> number")
{
    c->out = *ARG(0);
    return MS_OK;
}
MS_API(scalar_usub, "ops.scalar_usub", "(x: number) -> number")
{
    return exact(ARG(0)) ? give_int(c, -I(0)) : give_float(c, -F(0));
}
MS_API(scalar_eq, "ops.scalar_eq", "(x: number, y: number) -> bool")
{
    return give_bool(c, F(0) == F(1));
}
MS_API(scalar_lt, "ops.scalar_lt", "(x: number, y: number) -> bool")
{
    return give_bool(c, F(0) < F(1));
}
MS_API(scalar_le, "ops.scalar_le", "(x: number, y: number) -> bool")
{
    return give_bool(c, F(0) <= F(1));
}
MS_API(scalar_gt, "ops.scalar_gt", "(x: number, y: number) -> bool")
{
    return give_bool(c, F(0) > F(1));
}
MS_API(scalar_ge, "ops.scalar_ge", "(x: number, y: number) -> bool")
{
    return give_bool(c, F(0) >= F(1));
}
MS_API(scalar_cast, "ops.scalar_cast", "(input_x: number, input_y: dtype) -> number")
{
    MsDtype d = DTYPE(1);
    if (d == MS_BOOL) return give_bool(c, F(0) != 0);
    if (ms_dtype_is_int(d)) return give_int(c, exact(ARG(0)) ? I(0) : (int64_t)F(0));
    return give_float(c, d == MS_FLOAT64 ? F(0) : (double)(float)F(0));
}

/* ---- slices ---- */

/* x[begin : end : step] with the bit masks of the StridedSlice primitive. */
MS_API(strided_slice, "ops.strided_slice",
       "(input_x: Tensor, begin: any, end: any, strides: any, begin_mask: int = 0, end_mask: int = 0, "
       "ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> Tensor")
{
    MsTensor *x = T(0);
    VAR("strided_slice", 1, b, begin);
    VAR("strided_slice", 2, e, end);
    VAR("strided_slice", 3, s, step);
    int n = begin.n, nd = ms_tensor_ndim(x), d = 0, rank = 0, used = 0;
    if (end.n != n || step.n != n)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'strided_slice', 'begin', 'end' and 'strides' must have one length, but got %d, %d, %d.", n,
            end.n, step.n);
    if (I(6) & (I(6) - 1))
        return MS_FAIL(MS_ERROR_VALUE, "For 'strided_slice', 'ellipsis_mask' must have at most one bit.");
    for (int k = 0; k < n; k++) used += !(I(6) >> k & 1) && !(I(7) >> k & 1);
    int64_t at[MS_MAX_DIM], size[MS_MAX_DIM], by[MS_MAX_DIM], shape[MS_MAX_DIM];
    for (int k = 0; k < n; k++) {
        if (I(6) >> k & 1) {
            for (int rest = nd - used; rest > 0; rest--, d++) {
                at[d] = 0, by[d] = 1, shape[rank++] = size[d] = ms_tensor_shape(x)[d];
            }
            continue;
        }
        if (I(7) >> k & 1) {
            if (rank < MS_MAX_DIM) shape[rank++] = 1;
            continue;
        }
        if (d >= nd || s[k] == 0)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For 'strided_slice', the slice of length %d does not fit the shape %s, or a stride is 0.", n,
                ms__shape_text(nd, ms_tensor_shape(x)));
        int64_t len = ms_tensor_shape(x)[d], lo = b[k] < 0 ? b[k] + len : b[k],
                hi = e[k] < 0 ? e[k] + len : e[k];
        if (I(8) >> k & 1) {
            if (lo < 0 || lo >= len)
                return MS_FAIL(MS_ERROR_INDEX,
                               "For 'strided_slice', index %lld is out of range for size %lld.",
                               (long long)b[k], (long long)len);
            at[d] = lo, size[d] = 1, by[d++] = 1;
            continue;
        }
        int64_t low = s[k] < 0 ? -1 : 0, high = s[k] < 0 ? len - 1 : len;
        lo = I(4) >> k & 1 ? (s[k] < 0 ? high : 0) : lo < low ? low : lo > high ? high : lo;
        hi = I(5) >> k & 1 ? (s[k] < 0 ? -1 : len) : hi < low ? low : hi > high ? high : hi;
        int64_t m = s[k] > 0 ? (hi - lo + s[k] - 1) / s[k] : (lo - hi - s[k] - 1) / -s[k];
        at[d] = m > 0 ? lo : 0, by[d] = s[k], shape[rank++] = size[d] = m > 0 ? m : 0;
        d++;
    }
    for (; d < nd && rank < MS_MAX_DIM; d++)
        at[d] = 0, by[d] = 1, shape[rank++] = size[d] = ms_tensor_shape(x)[d];
    x = ms_slice(x, (MsInts){nd, at}, (MsInts){nd, size}, (MsInts){nd, by});
    return R(ms_reshape(x, (MsInts){rank, shape}));
}

MS_API(tensor_slice, "ops.tensor_slice", "(input: Tensor, begin: any, size: any) -> Tensor")
{
    VAR("tensor_slice", 1, b, begin);
    VAR("tensor_slice", 2, s, size);
    int nd = ms_tensor_ndim(T(0));
    int64_t one[MS_MAX_DIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (begin.n != nd || size.n != nd)
        return MS_FAIL(MS_ERROR_VALUE, "For 'tensor_slice', 'begin' and 'size' must have %d entries.", nd);
    for (int d = 0; d < nd; d++) {
        if (s[d] == -1) s[d] = ms_tensor_shape(T(0))[d] - b[d];
        if (b[d] < 0 || s[d] < 0 || b[d] > ms_tensor_shape(T(0))[d] - s[d])
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'tensor_slice', [%lld, %lld) is outside of axis %d of size %lld.",
                           (long long)b[d], (long long)(b[d] + s[d]), d, (long long)ms_tensor_shape(T(0))[d]);
    }
    return R(ms_slice(T(0), begin, size, (MsInts){nd, one}));
}

MS_API(reshape_name, "ops.reshape_", "(input: Tensor, shape: any) -> Tensor")
{
    VAR("reshape_", 1, buf, shape);
    return R(ms__reshaped(T(0), shape));
}

/* ---- casts ---- */

/* The floats of a tree of tensors in one dtype (MS_DTYPE_NONE: in theirs); integers and everything else stay. */
static MsStatus cast_tree(const MsArg *in, MsDtype dtype, MsArg *out)
{
    *out = *in;
    if (in->kind == MS_ARG_TENSOR && dtype != MS_DTYPE_NONE && ms_dtype_is_float(ms_tensor_dtype(in->t))) {
        out->t = ms__cast_to(in->t, dtype);
        return out->t ? MS_OK : ms_error()->code;
    }
    if (in->kind != MS_ARG_LIST) return MS_OK;
    out->list = ms__calloc((size_t)(in->n ? in->n : 1), sizeof *out->list);
    if (dtype != MS_DTYPE_NONE) out->tuple = true;
    if (!out->list) return MS_ERROR_MEMORY;
    for (int k = 0; k < in->n; k++) {
        MsStatus st = cast_tree(&in->list[k], dtype, &out->list[k]);
        if (st == MS_OK) continue;
        out->n = k;
        ms__api_release(out);
        return st;
    }
    return MS_OK;
}

MS_API(mixed_precision_cast, "ops.mixed_precision_cast", "(dst_dtype: dtype, x: any) -> any")
{
    return cast_tree(ARG(1), DTYPE(0), &c->out);
}

MS_API(identity, "ops.identity", "(x: any) -> any")
{
    return ARG(0)->kind == MS_ARG_TENSOR ? R(ms_identity(ARG(0)->t))
                                         : cast_tree(ARG(0), MS_DTYPE_NONE, &c->out);
}

/* ---- classes ---- */

/* Whether each label is among the k largest predictions of its row. */
MS_API(intopk, "ops.intopk", "(x1: Tensor, x2: Tensor, k: int) -> Tensor")
{
    MsTensor *x = T(0), *label = T(1);
    if (ms_tensor_ndim(x) != 2 || ms_tensor_ndim(label) != 1 ||
        ms_tensor_shape(x)[0] != ms_tensor_shape(label)[0])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'intopk', 'x1' must be 2-d and 'x2' 1-d of as many rows, but got %s and %s.",
                       ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)),
                       ms__shape_text(ms_tensor_ndim(label), ms_tensor_shape(label)));
    MsTensor *own = ms_take_along(x, ms__unsqueezed(ms__cast_to(label, MS_INT64), 1), 1);
    MsTensor *above = ms_sum(ms_cast(ms_gt(x, own), MS_INT64), MS_INTS(1), false);
    return R(above ? ms_lt(above, ms_full_int((MsInts){0, NULL}, I(2), MS_INT64)) : NULL);
}
