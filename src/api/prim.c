/* prim.c - what only the primitive classes of `mindspore.ops` compute: rows of the group `_p`. Where a function of
 * the public API does the same, the class calls that one; here is what differs by dtype rules, by outputs, or by a
 * convention of its own. */
#include "api/args.h"
#include "api/window.h"
#include "op/random.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

static MsTensor *number(MsTensor *like, double v)
{
    return ms_tensor_scalar(ms_tensor_dtype(like), v);
}
/* ---- elementwise ---- */

MS_API(p_add_n, "_p.add_n", "(x: Tensor|Tensor[]) -> Tensor")
{
    if (ARG(0)->kind == MS_ARG_TENSOR) return R(T(0));
    const MsArg *list = ARG(0)->list;
    int n = ARG(0)->n;
    if (n < 1) return MS_FAIL(MS_ERROR_VALUE, "For 'AddN', there must be at least one input.");
    MsTensor *sum = list[0].t;
    for (int k = 1; k < n && sum; k++) {
        if (ms_tensor_dtype(list[k].t) != ms_tensor_dtype(list[0].t))
            return MS_FAIL(
                MS_ERROR_TYPE, "For 'AddN', all inputs must have the same dtype, but got %s and %s.",
                ms_dtype_name(ms_tensor_dtype(list[0].t)), ms_dtype_name(ms_tensor_dtype(list[k].t)));
        if (nd(list[k].t) != nd(list[0].t) ||
            memcmp(shape(list[k].t), shape(list[0].t), (size_t)nd(list[0].t) * sizeof(int64_t)) != 0)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'AddN', all inputs must have the same shape, but got %s and %s.",
                           ms__shape_text(nd(list[0].t), shape(list[0].t)),
                           ms__shape_text(nd(list[k].t), shape(list[k].t)));
        sum = ms_add(sum, list[k].t);
    }
    return R(n == 1 ? ms_copy(sum) : sum);
}

/* Integers are divided without a remainder, towards minus infinity; floats as usual. */
MS_API(p_div, "_p.div", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    return R(ms_dtype_is_int(ms_tensor_dtype(a)) ? ms_floor_div(a, b) : ms_div(a, b));
}

MS_API(p_truncate_div, "_p.truncate_div", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    return R(ms_dtype_is_int(ms_tensor_dtype(a)) ? ms_floor_div(ms_sub(a, ms_fmod(a, b)), b)
                                                 : ms_trunc(ms_div(a, b)));
}

MS_API(p_truncate_mod, "_p.truncate_mod", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    if (ms_tensor_dtype(a) == MS_BOOL)
        return MS_FAIL(MS_ERROR_TYPE, "For 'TruncateMod', 'x' and 'y' must not both be bool.");
    return R(ms_fmod(a, b));
}

/* f(a, b) where b (or a) is not zero, and zero there, also in the gradient. */
static MsTensor *unless_zero(MsTensor *key, MsTensor *a, MsTensor *b, MsTensor *(*f)(MsTensor *, MsTensor *),
                             bool key_is_b)
{
    MsTensor *is_zero = ms_eq(key, number(key, 0)), *one = number(key, 1);
    MsTensor *safe = ms_where(is_zero, one, key);
    MsTensor *y = key_is_b ? f(a, safe) : f(safe, b);
    return y ? ms_where(is_zero, number(y, 0), y) : NULL;
}

MS_API(p_div_no_nan, "_p.div_no_nan", "(x1: Tensor|number, x2: Tensor|number) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    return R(unless_zero(b, a, b, ms_dtype_is_int(ms_tensor_dtype(a)) ? ms_floor_div : ms_div, true));
}

MS_API(p_xdivy, "_p.xdivy", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    return R(unless_zero(a, a, b, ms_div, false));
}

MS_API(p_mul_no_nan, "_p.mul_no_nan", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    MsTensor *y = ms_mul(a, b);
    return R(y ? ms_where(ms_eq(b, number(b, 0)), number(y, 0), y) : NULL);
}

MS_API(p_squared_difference, "_p.squared_difference", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    return R(ms_square(ms_sub(a, b)));
}

MS_API(p_approximate_equal, "_p.approximate_equal", "(x: Tensor, y: Tensor, tolerance: float) -> Tensor")
{
    MsTensor *d = ms_abs(ms_sub(T(0), T(1)));
    return R(d ? ms_lt(d, number(d, F(2))) : NULL);
}

MS_API(p_equal_count, "_p.equal_count", "(x: Tensor, y: Tensor) -> Tensor")
{
    MsTensor *n = ms_sum(ms_cast(ms_eq(T(0), T(1)), MS_INT64), MS_INTS_NONE, false);
    n = ms_cast(n, ms_tensor_dtype(T(0)));
    return R(n ? ms_reshape(n, MS_INTS(1)) : NULL);
}

/* ---- reductions that keep the dtype ---- */

MS_API(p_reduce_sum, "_p.reduce_sum",
       "(x: Tensor, axis: ints = (), keep_dims: bool = False, skip_mode: bool = False) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts axis = INTS(1, buf);
    if (axis.n == -2) return ms_error()->code;
    return R(axis.n == 0 && I(3) ? T(0) : ms_sum(T(0), axis.n ? axis : MS_INTS_NONE, I(2)));
}

MS_API(p_reduce_prod, "_p.reduce_prod", "(x: Tensor, axis: ints = (), keep_dims: bool = False) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts axis = INTS(1, buf);
    return axis.n == -2 ? ms_error()->code : R(ms_prod(T(0), axis.n ? axis : MS_INTS_NONE, I(2)));
}

/* The mean of integers is truncated to their dtype. */
MS_API(p_reduce_mean, "_p.reduce_mean", "(x: Tensor, axis: ints = (), keep_dims: bool = False) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts axis = INTS(1, buf);
    if (axis.n == -2) return ms_error()->code;
    MsDtype dtype = ms_tensor_dtype(T(0));
    bool whole = ms_dtype_is_int(dtype);
    MsTensor *y = ms_mean(whole ? ms_cast(T(0), MS_FLOAT64) : T(0), axis.n ? axis : MS_INTS_NONE, I(2));
    return R(whole ? ms_cast(y, dtype) : y);
}

/* The extreme of an axis and where it is. */
static MsStatus extreme(MsApiCall *c, bool max)
{
    MsTensor *x = T(0);
    int64_t axis = I(1) < 0 ? I(1) + nd(x) : I(1);
    MsTensor *index = max ? ms_argmax(x, I(1), I(2)) : ms_argmin(x, I(1), I(2));
    MsTensor *value = max ? ms_reduce_max(x, MS_INTS(axis), I(2)) : ms_reduce_min(x, MS_INTS(axis), I(2));
    return ms__api_return_list(c, 2, (MsTensor *[]){value, index});
}
#define WITH_VALUE "(self: Tensor, axis: int = 0, keep_dims: bool = False) -> any"
MS_API(argmax_with_value, "Tensor.argmax_with_value", WITH_VALUE)
{
    return extreme(c, true);
}
MS_API(argmin_with_value, "Tensor.argmin_with_value", WITH_VALUE)
{
    return extreme(c, false);
}

MS_API(p_cumsum, "_p.cumsum", "(x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor")
{
    return R(ms_cumsum(T(0), I(1), I(3), I(2)));
}
MS_API(p_cumprod, "_p.cumprod", "(x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor")
{
    return R(ms_cumprod(T(0), I(1), I(3), I(2)));
}

/* x moved by `by` places towards the end of an axis, the free places at -inf. */
static MsTensor *moved_on(MsTensor *x, int axis, int64_t by)
{
    int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0};
    low[axis] = by;
    high[axis] = -by;
    return x ? ms_pad(x, (MsInts){x->ndim, low}, (MsInts){x->ndim, high}, -INFINITY) : NULL;
}

/* log(exp(a) + exp(b)), also where both are -inf. */
static MsTensor *log_sum(MsTensor *a, MsTensor *b)
{
    MsTensor *top = ms_stop_gradient(ms_maximum(a, b));
    if (!top) return NULL;
    top = ms_where(ms_is_finite(top), top, number(top, 0));
    return ms_add(ms_log(ms_add(ms_exp(ms_sub(a, top)), ms_exp(ms_sub(b, top)))), top);
}

/* log(cumsum(exp(x))) by doubling the reach: each step loses nothing, whatever the range of x. */
MS_API(p_cumulative_logsumexp, "_p.cumulative_logsumexp",
       "(x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor")
{
    int axis;
    MsTensor *x = T(0);
    MS_TRY(ms__api_axis("CumulativeLogsumexp", I(1), x->ndim, &axis));
    if (!ms_dtype_is_float(ms_tensor_dtype(x)))
        return MS_FAIL(MS_ERROR_TYPE,
                       "For 'CumulativeLogsumexp', the input must be a Tensor of floats, but got %s.",
                       ms_dtype_name(ms_tensor_dtype(x)));
    if (x->numel == 0 || x->ndim == 0) return R(ms_identity(x));
    int64_t n = x->shape[axis];
    if (I(3)) x = ms_flip(x, MS_INTS(axis));
    for (int64_t reach = 1; reach < n && x; reach *= 2) x = log_sum(x, moved_on(x, axis, reach));
    if (I(2)) x = moved_on(x, axis, 1);
    return R(I(3) ? ms_flip(x, MS_INTS(axis)) : x);
}

MS_API(p_l2_loss, "_p.l2_loss", "(x: Tensor) -> Tensor")
{
    MsTensor *s = ms_sum(ms_square(T(0)), MS_INTS_NONE, false);
    return R(s ? ms_mul(s, number(s, 0.5)) : NULL);
}

/* x / sqrt(max(sum(x^2), epsilon)) */
MS_API(p_l2_normalize, "_p.l2_normalize", "(x: Tensor, axis: ints, epsilon: float) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts axis = INTS(1, buf);
    if (axis.n == -2) return ms_error()->code;
    MsTensor *s = ms_sum(ms_square(T(0)), axis, true);
    return R(s ? ms_mul(T(0), ms_rsqrt(ms_maximum(s, number(s, F(2))))) : NULL);
}

MS_API(p_lp_norm, "_p.lp_norm",
       "(x: Tensor, p: number, axis: ints, keep_dims: bool, epsilon: float) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts axis = INTS(2, buf);
    if (axis.n == -2) return ms_error()->code;
    if (F(1) == 0) return MS_FAIL(MS_ERROR_VALUE, "For 'LpNorm', the 'p' must not be 0.");
    MsTensor *x = T(0), *s = ms_sum(ms_pow(ms_abs(x), number(x, F(1))), axis.n ? axis : MS_INTS_NONE, I(3));
    if (s && F(4) > 0) s = ms_maximum(s, number(s, pow(F(4), F(1))));
    return R(s ? ms_pow(s, number(s, 1 / F(1))) : NULL);
}

MS_API(p_square_sum_all, "_p.square_sum_all", "(x: Tensor, y: Tensor) -> any")
{
    if (ms_tensor_dtype(T(0)) != ms_tensor_dtype(T(1)))
        return MS_FAIL(MS_ERROR_TYPE,
                       "For 'SquareSumAll', 'x' and 'y' must have one dtype, but got %s and %s.",
                       ms_dtype_name(ms_tensor_dtype(T(0))), ms_dtype_name(ms_tensor_dtype(T(1))));
    if (nd(T(0)) != nd(T(1)) || memcmp(shape(T(0)), shape(T(1)), (size_t)nd(T(0)) * sizeof(int64_t)) != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'SquareSumAll', 'x' and 'y' must have one shape, but got %s and %s.",
                       ms__shape_text(nd(T(0)), shape(T(0))), ms__shape_text(nd(T(1)), shape(T(1))));
    MsTensor *a = ms_sum(ms_square(T(0)), MS_INTS_NONE, false),
             *b = ms_sum(ms_square(T(1)), MS_INTS_NONE, false);
    return a && b ? ms__api_return_list(c, 2, (MsTensor *[]){a, b}) : ms_error()->code;
}

/* ---- shapes ---- */

MS_API(p_flatten, "_p.flatten", "(x: Tensor) -> Tensor")
{
    MsTensor *x = T(0);
    int64_t first = nd(x) ? shape(x)[0] : 1, rest = 1;
    for (int d = 1; d < nd(x); d++) rest *= shape(x)[d];
    return R(ms_reshape(x, MS_INTS(first, rest)));
}

MS_API(p_split, "_p.split", "(x: Tensor, axis: int, output_num: int) -> any")
{
    enum {
        MANY = 1024
    };
    MsTensor *x = T(0), *part[MANY];
    int64_t axis = I(1) < 0 ? I(1) + nd(x) : I(1), n = I(2), begin[MS_MAX_DIM] = {0}, size[MS_MAX_DIM],
            step[MS_MAX_DIM];
    if (axis < 0 || axis >= nd(x))
        return MS_FAIL(MS_ERROR_VALUE, "For 'Split', the 'axis' must be in [%d, %d), but got %lld.", -nd(x),
                       nd(x), (long long)I(1));
    if (n < 1 || n > MANY || shape(x)[axis] % n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'Split', the size %lld of axis %lld must be divisible by 'output_num' %lld.",
                       (long long)shape(x)[axis], (long long)axis, (long long)n);
    for (int d = 0; d < nd(x); d++) size[d] = shape(x)[d], step[d] = 1;
    size[axis] /= n;
    for (int64_t k = 0; k < n; k++) {
        begin[axis] = k * size[axis];
        part[k] = ms_slice(x, (MsInts){nd(x), begin}, (MsInts){nd(x), size}, (MsInts){nd(x), step});
        if (!part[k]) return ms_error()->code;
    }
    return ms__api_return_list(c, (int)n, part);
}

/* paddings: ((low, high), ...), negative numbers crop */
MS_API(p_pad, "_p.pad", "(x: Tensor, paddings: any) -> Tensor")
{
    MsTensor *x = T(0);
    int64_t low[MS_MAX_DIM], high[MS_MAX_DIM];
    const MsArg *p = ARG(1);
    if (p->kind != MS_ARG_LIST || p->n != nd(x))
        return MS_FAIL(MS_ERROR_VALUE, "For 'Pad', the 'paddings' must hold a pair for each of the %d axes.",
                       nd(x));
    for (int d = 0; d < nd(x); d++) {
        const MsArg *pair = &p->list[d];
        if (pair->kind != MS_ARG_LIST || pair->n != 2 || pair->list[0].kind != MS_ARG_INT ||
            pair->list[1].kind != MS_ARG_INT)
            return MS_FAIL(MS_ERROR_TYPE, "For 'Pad', the 'paddings' must be pairs of int.");
        low[d] = pair->list[0].i;
        high[d] = pair->list[1].i;
        if (low[d] < 0 || high[d] < 0)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'Pad', all elements of 'paddings' must be at least 0, but got (%lld, %lld).",
                           (long long)low[d], (long long)high[d]);
    }
    return R(ms_pad(x, (MsInts){nd(x), low}, (MsInts){nd(x), high}, 0));
}

MS_API(p_fill, "_p.fill", "(shape: ints, value: Tensor|number|bool) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts size = INTS(0, buf);
    MsTensor *v = ms__arg_tensor(ARG(1), NULL);
    if (size.n < 0 || !v)
        return size.n == -1 ? MS_FAIL(MS_ERROR_TYPE, "For 'FillV2', the 'shape' must be given.")
                            : ms_error()->code;
    if (ms_tensor_numel(v) != 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'FillV2', the 'value' must have one element, but got shape %s.",
                       ms__shape_text(nd(v), shape(v)));
    return R(ms_copy(ms_broadcast_to(ms_reshape(v, (MsInts){0, buf}), size)));
}

MS_API(p_tuple_to_array, "_p.tuple_to_array", "(x: any) -> Tensor")
{
    const MsArg *list = ARG(0)->list;
    if (ARG(0)->kind != MS_ARG_LIST || ARG(0)->n < 1)
        return MS_FAIL(MS_ERROR_TYPE,
                       "For 'TupleToArray', the input must be a tuple of numbers that is not empty.");
    int64_t n = ARG(0)->n;
    bool whole = list[0].kind == MS_ARG_INT;
    MsTensor *t = ms_tensor_empty(whole ? MS_INT64 : MS_FLOAT32, 1, &n);
    if (!t) return ms_error()->code;
    for (int64_t k = 0; k < n; k++) {
        if (list[k].kind != (whole ? MS_ARG_INT : MS_ARG_FLOAT))
            return MS_FAIL(MS_ERROR_TYPE,
                           "For 'TupleToArray', all elements must be of the same type, int or float.");
        if (whole)
            ((int64_t *)ms_tensor_data(t))[k] = list[k].i;
        else
            ((float *)ms_tensor_data(t))[k] = (float)list[k].f;
    }
    return R(t);
}

/* [n, c b b, h, w] <-> [n, c, h b, w b] with the block before the channels (PyTorch's pixel_shuffle has it after). */
static MsStatus blocks(MsApiCall *c, bool to_space, const char *who)
{
    MsTensor *x = T(0);
    int64_t b = I(1);
    if (nd(x) != 4 || b < 2)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the input must be 4-D and the 'block_size' at least 2, but got shape %s and %lld.",
            who, ms__shape_text(nd(x), shape(x)), (long long)b);
    const int64_t *s = shape(x);
    if (to_space ? s[1] % b || s[1] / b % b : s[2] % b || s[3] % b)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the shape %s is not divisible by the 'block_size' %lld.",
                       who, ms__shape_text(nd(x), shape(x)), (long long)b);
    if (to_space) {
        int64_t ch = s[1] / (b * b);
        x = ms_transpose(ms_reshape(x, MS_INTS(s[0], b, b, ch, s[2], s[3])), MS_INTS(0, 3, 4, 1, 5, 2));
        return R(x ? ms_reshape(x, MS_INTS(s[0], ch, s[2] * b, s[3] * b)) : NULL);
    }
    x = ms_transpose(ms_reshape(x, MS_INTS(s[0], s[1], s[2] / b, b, s[3] / b, b)), MS_INTS(0, 3, 5, 1, 2, 4));
    return R(x ? ms_reshape(x, MS_INTS(s[0], s[1] * b * b, s[2] / b, s[3] / b)) : NULL);
}
MS_API(p_depth_to_space, "_p.depth_to_space", "(x: Tensor, block_size: int) -> Tensor")
{
    return blocks(c, true, "DepthToSpace");
}
MS_API(p_space_to_depth, "_p.space_to_depth", "(x: Tensor, block_size: int) -> Tensor")
{
    return blocks(c, false, "SpaceToDepth");
}

/* x [a..., a...] -> its elements [i..., i...] */
MS_API(p_diag_part, "_p.diag_part", "(x: Tensor) -> Tensor")
{
    MsTensor *x = T(0);
    int n = nd(x) / 2;
    int64_t strides[MS_MAX_DIM], whole[MS_MAX_DIM];
    if (nd(x) < 2 || nd(x) % 2 || memcmp(shape(x), shape(x) + n, (size_t)n * sizeof(int64_t)) != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'DiagPart', the shape must be the same sizes twice, but got %s.",
                       ms__shape_text(nd(x), shape(x)));
    int64_t step = 1;
    for (int d = nd(x) - 1; d >= 0; d--) whole[d] = step, step *= shape(x)[d];
    for (int d = 0; d < n; d++) strides[d] = whole[d] + whole[d + n];
    return R(ms_copy(ms_as_strided(ms_contiguous(x), (MsInts){n, shape(x)}, (MsInts){n, strides}, 0)));
}

/* ---- gathering and scattering ---- */

/* Rows of a table at index - offset; outside of it zeros. */
MS_API(p_embedding_lookup, "_p.embedding_lookup", "(params: Tensor, indices: Tensor, offset: int) -> Tensor")
{
    MsTensor *at = ms_sub(ms_cast(T(1), MS_INT64), ms_tensor_scalar_int(MS_INT64, I(2)));
    if (nd(T(0)) < 1 || !at)
        return at ? MS_FAIL(MS_ERROR_VALUE, "For 'EmbeddingLookup', the table must not be 0-D.")
                  : ms_error()->code;
    MsTensor *zero = ms_tensor_scalar_int(MS_INT64, 0), *n = ms_tensor_scalar_int(MS_INT64, shape(T(0))[0]);
    MsTensor *inside = ms_logical_and(ms_ge(at, zero), ms_lt(at, n));
    MsTensor *y = ms_gather(T(0), inside ? ms_where(inside, at, zero) : NULL, 0);
    for (int d = nd(T(1)); y && inside && d < nd(y); d++) {
        int64_t s[MS_MAX_DIM];
        memcpy(s, shape(inside), (size_t)nd(inside) * sizeof *s);
        s[nd(inside)] = 1;
        inside = ms_reshape(inside, (MsInts){nd(inside) + 1, s});
    }
    return R(y ? ms_where(inside, y, number(y, 0)) : NULL);
}

MS_API(p_scatter_nd_update, "_p.scatter_nd_update_",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    MsTensor *y = ms_scatter_nd(T(0), T(1), T(2), "set");
    MS_TRY(ms_tensor_write(T(0), y));
    return R(T(0));
}

/* The index is int32. */
MS_API(p_sort, "_p.sort", "(x: Tensor, axis: int, descending: bool) -> any")
{
    MsTensor *y[2];
    MS_TRY(ms_sort(T(0), I(1), I(2), true, y));
    y[1] = ms_cast(y[1], MS_INT32);
    return y[1] ? ms__api_return_list(c, 2, y) : ms_error()->code;
}

/* ---- products ---- */

MS_API(p_matmul, "_p.matmul",
       "(a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool, batch: bool) -> Tensor")
{
    const char *who = I(4) ? "BatchMatMul" : "MatMul";
    if (ms_tensor_dtype(T(0)) != ms_tensor_dtype(T(1)) && ms__autocast() == MS_DTYPE_NONE)
        return MS_FAIL(MS_ERROR_TYPE,
                       "For '%s', the dtypes of both inputs must be the same, but got %s and %s.", who,
                       ms_dtype_name(ms_tensor_dtype(T(0))), ms_dtype_name(ms_tensor_dtype(T(1))));
    if (I(4) ? nd(T(0)) < 2 || nd(T(1)) < 2 : nd(T(0)) != 2 || nd(T(1)) != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', both inputs must have %s dimensions, but got %s and %s.",
                       who, I(4) ? "at least 2" : "2", ms__shape_text(nd(T(0)), shape(T(0))),
                       ms__shape_text(nd(T(1)), shape(T(1))));
    return R(ms_matmul(T(0), T(1), I(2), I(3)));
}

MS_API(p_bias_add, "_p.bias_add", "(x: Tensor, bias: Tensor, data_format: str) -> Tensor")
{
    MsTensor *x = T(0), *b = T(1);
    const char *f = ARG(2)->s;
    bool last = strcmp(f, "NHWC") == 0;
    if (!last && strcmp(f, "NCHW") != 0 && strcmp(f, "NCDHW") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'BiasAdd', the 'data_format' must be in ['NCHW', 'NHWC', 'NCDHW'], but got %s.",
                       f);
    int axis = last ? nd(x) - 1 : 1;
    if (nd(x) < 2 || nd(b) != 1 || shape(b)[0] != shape(x)[axis])
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'BiasAdd', the 'bias' must be 1-D with as many elements as the input has channels, but got "
            "shapes %s and %s.",
            ms__shape_text(nd(x), shape(x)), ms__shape_text(nd(b), shape(b)));
    int64_t s[MS_MAX_DIM];
    for (int d = 0; d < nd(x); d++) s[d] = d == axis ? shape(b)[0] : 1;
    return R(ms_add(x, ms_reshape(b, (MsInts){nd(x), s})));
}

/* ---- neural networks ---- */

/* The input of a convolution, of shape input_size, whose output is dout: the transposed convolution. */
MS_API(p_conv_backprop_input, "_p.conv_backprop_input",
       "(dout: Tensor, weight: Tensor, input_size: ints, stride: ints, pad_mode: str, padding: ints, "
       "dilation: ints, "
       "group: int) -> Tensor")
{
    const char *who = "Conv2DTranspose";
    int64_t buf[MS_MAX_DIM];
    MsInts size = INTS(2, buf);
    int n = nd(T(0)) - 2;
    static const int64_t ones[3] = {1, 1, 1};
    if (n < 1 || n > 3 || nd(T(1)) != n + 2 || size.n != n + 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the input, the weight and the 'input_size' must have as many dimensions, "
                       "but got %s and %s.",
                       who, ms__shape_text(nd(T(0)), shape(T(0))), ms__shape_text(nd(T(1)), shape(T(1))));
    MsWindow w = {.n = n};
    memcpy(w.kernel, shape(T(1)) + 2, (size_t)n * sizeof(int64_t));
    MS_TRY(ms__per_axis(ARG(3), n, 1, who, "stride", ones, w.stride));
    MS_TRY(ms__per_axis(ARG(6), n, 1, who, "dilation", ones, w.dilation));
    MsArg none = {.kind = MS_ARG_INT, .i = 0};
    MS_TRY(ms__window_mode(&w, ARG(4)->s, strcmp(ARG(4)->s, "pad") == 0 ? ARG(5) : &none, size.v + 2, who));
    return R(ms_conv_input_grad(T(0), T(1), NULL, size, MS_SPAN(&w, stride), MS_SPAN(&w, low),
                                MS_SPAN(&w, high), MS_SPAN(&w, dilation), I(7)));
}

static MsTensor *channels(MsTensor *t, int ndim)
{
    if (!t) return NULL;
    int64_t s[MS_MAX_DIM];
    for (int d = 0; d < ndim; d++) s[d] = d == 1 ? shape(t)[0] : 1;
    return ms_reshape(t, (MsInts){ndim, s});
}

/* (y, mean, variance, mean, variance): of this batch when training, where the running ones are written too. */
MS_API(p_batch_norm, "_p.batch_norm",
       "(x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, training: bool, epsilon: "
       "float, momentum: float, "
       "data_format: str) -> any")
{
    MsTensor *x = T(0), *out[3];
    if (strcmp(ARG(8)->s, "NCHW") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'BatchNorm', the 'data_format' must be 'NCHW' on the CPU, but got %s.",
                       ARG(8)->s);
    if (nd(x) < 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'BatchNorm', the input must have at least 2 dimensions, but got %d.", nd(x));
    for (int k = 1; k < 5; k++)
        if (nd(T(k)) != 1 || shape(T(k))[0] != shape(x)[1])
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For 'BatchNorm', input %d must have the shape (%lld,) of the channels, but got %s.", k,
                (long long)shape(x)[1], ms__shape_text(nd(T(k)), shape(T(k))));
    if (!I(5)) {
        MsTensor *factor = ms_mul(T(1), ms_rsqrt(ms_add(T(4), number(T(4), F(6)))));
        if (!factor) return ms_error()->code;
        MsTensor *shift = ms_sub(T(2), ms_mul(T(3), factor));
        MsTensor *y = shift ? ms_add(ms_mul(x, channels(ms_cast(factor, ms_tensor_dtype(x)), nd(x))),
                                     channels(ms_cast(shift, ms_tensor_dtype(x)), nd(x)))
                            : NULL;
        return y ? ms__api_return_list(c, 5, (MsTensor *[]){y, T(3), T(4), T(3), T(4)}) : ms_error()->code;
    }
    MS_TRY(ms_batch_norm(x, T(1), T(2), F(6), out));
    int64_t n = ms_tensor_numel(x) / (shape(x)[1] ? shape(x)[1] : 1);
    MsTensor *unbiased = ms_mul(out[2], number(out[2], n > 1 ? (double)n / (double)(n - 1) : 1));
    MsTensor *from[2] = {out[1], unbiased};
    for (int k = 0; k < 2; k++) {
        MsTensor *old = T(3 + k), *stepped = ms_sub(from[k], old);
        stepped = stepped ? ms_add(old, ms_mul(stepped, number(old, F(7)))) : NULL;
        if (!stepped) return ms_error()->code;
        MS_TRY(ms_tensor_write(old, ms_stop_gradient(stepped)));
    }
    return ms__api_return_list(c, 5, (MsTensor *[]){out[0], out[1], out[2], out[1], out[2]});
}

/* (y, mean, variance) */
MS_API(p_layer_norm, "_p.layer_norm",
       "(x: Tensor, gamma: Tensor, beta: Tensor, begin_norm_axis: int, begin_params_axis: int, epsilon: "
       "float) -> any")
{
    MsTensor *x = T(0), *out[3];
    int n = nd(x);
    int64_t norm = I(3) < 0 ? I(3) + n : I(3), params = I(4) < 0 ? I(4) + n : I(4);
    if (norm < 0 || norm >= n || params < 0 || params >= n)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'LayerNorm', 'begin_norm_axis' and 'begin_params_axis' must be in [-%d, %d), but got "
            "%lld and %lld.",
            n, n, (long long)I(3), (long long)I(4));
    bool inside = params == norm;
    MS_TRY(ms_layer_norm(x, inside ? T(1) : NULL, inside ? T(2) : NULL, n - norm, F(5), out));
    if (!inside) {
        MsInts own = {n - (int)params, shape(x) + params};
        out[0] = ms_add(ms_mul(out[0], ms_reshape(ms__cast_to(T(1), ms_tensor_dtype(x)), own)),
                        ms_reshape(ms__cast_to(T(2), ms_tensor_dtype(x)), own));
        if (!out[0]) return ms_error()->code;
    }
    int64_t s[MS_MAX_DIM];
    for (int d = 0; d < n; d++) s[d] = d < norm ? shape(x)[d] : 1;
    MsTensor *mean = ms_reshape(out[1], (MsInts){n, s}), *rstd = ms_reshape(out[2], (MsInts){n, s});
    MsTensor *var = rstd ? ms_sub(ms_reciprocal(ms_square(rstd)), number(rstd, F(5))) : NULL;
    return mean && var ? ms__api_return_list(c, 3, (MsTensor *[]){out[0], mean, var}) : ms_error()->code;
}

/* (y, mask): elements, or whole channels when drawn_axes is 2, are kept with probability keep_prob. */
MS_API(p_dropout, "_p.dropout",
       "(x: Tensor, keep_prob: float, drawn_axes: int, state: Tensor? = None) -> any")
{
    MsTensor *x = T(0);
    double keep = F(1);
    if (!(keep > 0 && keep <= 1) && !(keep == 0 && I(2) == 2))
        return MS_FAIL(MS_ERROR_VALUE, "For 'Dropout', the 'keep_prob' must be in (0, 1], but got %g.", keep);
    int64_t s[MS_MAX_DIM];
    for (int d = 0; d < nd(x); d++) s[d] = I(2) < 0 || d < I(2) ? shape(x)[d] : 1;
    MsTensor *u =
        ms_rng_uniform(ms__rng_next(GIVEN(3) ? T(3) : ms_random_state()), (MsInts){nd(x), s}, MS_FLOAT32);
    MsTensor *mask = u ? ms_lt(u, ms_tensor_scalar(MS_FLOAT32, keep)) : NULL;
    mask = mask ? ms_broadcast_to(mask, shape_of(x)) : NULL;
    MsTensor *y = mask ? ms_where(mask, keep > 0 ? ms_mul(x, number(x, 1 / keep)) : x, number(x, 0)) : NULL;
    if (!y) return ms_error()->code;
    return ms__api_return_list(c, 2, (MsTensor *[]){y, I(2) < 0 ? ms_cast(mask, ms_tensor_dtype(x)) : mask});
}

/* ---- losses ---- */

/* (loss by row, its gradient) for labels as distributions */
MS_API(p_softmax_cross_entropy, "_p.softmax_cross_entropy", "(logits: Tensor, labels: Tensor) -> any")
{
    MsTensor *x = T(0), *t = T(1);
    if (nd(x) != 2 || nd(t) != 2 || memcmp(shape(x), shape(t), 2 * sizeof(int64_t)) != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'SoftmaxCrossEntropyWithLogits', logits and labels must have the same 2-D shape, "
                       "but got %s and %s.",
                       ms__shape_text(nd(x), shape(x)), ms__shape_text(nd(t), shape(t)));
    MsTensor *loss = ms_neg(ms_sum(ms_mul(t, ms_log_softmax(x, 1)), MS_INTS(1), false));
    MsTensor *grad = ms_sub(ms_softmax(x, 1), t);
    return loss && grad ? ms__api_return_list(c, 2, (MsTensor *[]){loss, grad}) : ms_error()->code;
}

/* The mean loss, or its gradient. */
MS_API(p_sparse_softmax_cross_entropy, "_p.sparse_softmax_cross_entropy",
       "(logits: Tensor, labels: Tensor, is_grad: bool) -> Tensor")
{
    MsTensor *x = T(0);
    if (nd(x) != 2 || nd(T(1)) != 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'SparseSoftmaxCrossEntropyWithLogits', logits must be 2-D and labels 1-D, but "
                       "got %s and %s.",
                       ms__shape_text(nd(x), shape(x)), ms__shape_text(nd(T(1)), shape(T(1))));
    if (!I(2)) return R(ms_mean(ms_softmax_cross_entropy(x, T(1), -100), MS_INTS_NONE, false));
    MsTensor *each = ms_full(MS_INTS(shape(x)[0]), 1 / (double)shape(x)[0], ms_tensor_dtype(x));
    return R(ms_softmax_cross_entropy_grad(each, x, T(1), -100));
}

MS_API(p_sigmoid_cross_entropy, "_p.sigmoid_cross_entropy", "(logits: Tensor, label: Tensor) -> Tensor")
{
    MsTensor *x = T(0);
    return R(ms_sub(ms_softplus(x), ms_mul(x, T(1))));
}

/* (loss, total weight) of log probabilities */
MS_API(p_nll_loss, "_p.nll_loss",
       "(logits: Tensor, labels: Tensor, weight: Tensor, reduction: str, ignore_index: int) -> any")
{
    MsTensor *x = T(0), *t = ms_cast(T(1), MS_INT64), *w = T(2);
    const char *how = ARG(3)->s;
    if (strcmp(how, "none") && strcmp(how, "sum") && strcmp(how, "mean"))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'NLLLoss', the 'reduction' must be in ['none', 'sum', 'mean'], but got %s.", how);
    if (nd(x) != 2 || nd(T(1)) != 1 || nd(w) != 1 || shape(x)[0] != shape(T(1))[0] ||
        shape(w)[0] != shape(x)[1])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'NLLLoss', the shapes must be [N, C], [N] and [C], but got %s, %s and %s.",
                       ms__shape_text(nd(x), shape(x)), ms__shape_text(nd(T(1)), shape(T(1))),
                       ms__shape_text(nd(w), shape(w)));
    MsTensor *skip = ms_eq(t, ms_tensor_scalar_int(MS_INT64, I(4)));
    t = skip ? ms_where(skip, ms_tensor_scalar_int(MS_INT64, 0), t) : NULL;
    MsTensor *each =
        t ? ms_reshape(ms_take_along(x, ms_reshape(t, MS_INTS(shape(x)[0], 1)), 1), MS_INTS(shape(x)[0]))
          : NULL;
    MsTensor *of = t ? ms_gather(w, t, 0) : NULL;
    of = of ? ms_where(skip, number(of, 0), of) : NULL;
    MsTensor *loss = ms_neg(ms_mul(each, of)), *total = ms_sum(of, MS_INTS_NONE, false);
    if (loss && strcmp(how, "none")) loss = ms_sum(loss, MS_INTS_NONE, false);
    if (loss && strcmp(how, "mean") == 0) loss = ms_div(loss, total);
    return loss && total ? ms__api_return_list(c, 2, (MsTensor *[]){loss, total}) : ms_error()->code;
}

/* ---- optimizer steps, in place ---- */

static MsTensor *value(MsApiCall *c, int k, MsTensor *like)
{
    MsTensor *t = ms__arg_tensor(ARG(k), like);
    return t ? ms_cast(t, ms_tensor_dtype(like)) : NULL;
}

MS_API(p_apply_momentum, "_p.apply_momentum",
       "(variable: Tensor, accumulation: Tensor, learning_rate: Tensor|number, gradient: Tensor, momentum: "
       "Tensor|number, nesterov: bool, "
       "gradient_scale: float) -> Tensor")
{
    MsTensor *v = T(0), *lr = value(c, 2, v), *m = value(c, 4, v), *g = ms_cast(T(3), ms_tensor_dtype(v));
    g = g ? ms_mul(g, number(g, F(6))) : NULL;
    MsTensor *a = m ? ms_add(ms_mul(T(1), m), g) : NULL;
    MsTensor *step = I(5) ? ms_add(ms_mul(g, lr), ms_mul(ms_mul(a, m), lr)) : ms_mul(a, lr);
    MsTensor *next = ms_sub(v, step);
    if (!a || !next) return ms_error()->code;
    MS_TRY(ms_tensor_write(T(1), a));
    MS_TRY(ms_tensor_write(v, next));
    return R(v);
}

MS_API(p_apply_adagrad, "_p.apply_adagrad",
       "(var: Tensor, accum: Tensor, lr: Tensor|number, grad: Tensor, update_slots: bool) -> any")
{
    MsTensor *v = T(0), *g = ms_cast(T(3), ms_tensor_dtype(v)), *a = T(1);
    if (I(4)) a = ms_add(a, ms_square(g));
    MsTensor *next = ms_sub(v, ms_div(ms_mul(g, value(c, 2, v)), ms_sqrt(a)));
    if (!a || !next) return ms_error()->code;
    if (I(4)) MS_TRY(ms_tensor_write(T(1), a));
    MS_TRY(ms_tensor_write(v, next));
    return ms__api_return_list(c, 2, (MsTensor *[]){v, T(1)});
}

MS_API(p_apply_adam, "_p.apply_adam",
       "(var: Tensor, m: Tensor, v: Tensor, beta1_power: Tensor|number, beta2_power: Tensor|number, lr: "
       "Tensor|number, beta1: Tensor|number, "
       "beta2: Tensor|number, epsilon: Tensor|number, gradient: Tensor, nesterov: bool) -> any")
{
    MsTensor *x = T(0), *g = ms_cast(T(9), ms_tensor_dtype(x)), *one = number(x, 1);
    MsTensor *p1 = value(c, 3, x), *p2 = value(c, 4, x), *lr = value(c, 5, x), *b1 = value(c, 6, x),
             *b2 = value(c, 7, x), *eps = value(c, 8, x);
    if (!g || !p1 || !p2 || !lr || !b1 || !b2 || !eps) return ms_error()->code;
    MsTensor *m = ms_add(ms_mul(T(1), b1), ms_mul(g, ms_sub(one, b1)));
    MsTensor *v = ms_add(ms_mul(T(2), b2), ms_mul(ms_square(g), ms_sub(one, b2)));
    MsTensor *rate = ms_div(ms_mul(lr, ms_sqrt(ms_sub(one, p2))), ms_sub(one, p1));
    MsTensor *top = I(10) ? ms_add(ms_mul(m, b1), ms_mul(g, ms_sub(one, b1))) : m;
    MsTensor *next = ms_sub(x, ms_div(ms_mul(rate, top), ms_add(ms_sqrt(v), eps)));
    if (!next) return ms_error()->code;
    MS_TRY(ms_tensor_write(T(1), m));
    MS_TRY(ms_tensor_write(T(2), v));
    MS_TRY(ms_tensor_write(x, next));
    return ms__api_return_list(c, 3, (MsTensor *[]){x, T(1), T(2)});
}

MS_API(p_apply_rms_prop, "_p.apply_rms_prop",
       "(var: Tensor, mean_square: Tensor, moment: Tensor, lr: Tensor|number, grad: Tensor, decay: "
       "Tensor|number, momentum: Tensor|number, "
       "epsilon: Tensor|number) -> any")
{
    MsTensor *x = T(0), *g = ms_cast(T(4), ms_tensor_dtype(x)), *one = number(x, 1);
    MsTensor *lr = value(c, 3, x), *rho = value(c, 5, x), *mu = value(c, 6, x), *eps = value(c, 7, x);
    if (!g || !lr || !rho || !mu || !eps) return ms_error()->code;
    MsTensor *s = ms_add(ms_mul(T(1), rho), ms_mul(ms_square(g), ms_sub(one, rho)));
    MsTensor *m = ms_add(ms_mul(T(2), mu), ms_mul(ms_mul(lr, g), ms_rsqrt(ms_add(s, eps))));
    MsTensor *next = ms_sub(x, m);
    if (!next) return ms_error()->code;
    MS_TRY(ms_tensor_write(T(1), s));
    MS_TRY(ms_tensor_write(T(2), m));
    MS_TRY(ms_tensor_write(x, next));
    return ms__api_return_list(c, 3, (MsTensor *[]){x, T(1), T(2)});
}

/* ---- positions of pooling, bands of matrices ---- */

/* dout at the flat positions `at` of each plane of x. */
MS_API(p_max_pool_grad, "_p.max_pool_grad", "(x: Tensor, dout: Tensor, argmax: Tensor) -> Tensor")
{
    MsTensor *at = ms__cast_to(T(2), MS_INT64);
    return R(at ? ms_max_pool_grad(T(1), at, (MsInts){nd(T(0)), shape(T(0))}) : NULL);
}

/* What lies at most `lower` below and `upper` above the diagonal; negative: all of it. */
MS_API(matrix_band_part, "ops.matrix_band_part",
       "(x: Tensor, lower: int|Tensor, upper: int|Tensor) -> Tensor")
{
    if (nd(T(0)) < 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'matrix_band_part', 'x' must have 2 dimensions or more, but got shape %s.",
                       ms__shape_text(nd(T(0)), shape(T(0))));
    int64_t rows = shape(T(0))[nd(T(0)) - 2], cols = shape(T(0))[nd(T(0)) - 1];
    if (ARG(1)->kind == MS_ARG_TENSOR || ARG(2)->kind == MS_ARG_TENSOR) { /* a band for each matrix */
        MsTensor *gap = ms_sub(ms_reshape(ms_arange_int(0, 1, rows, MS_INT64), MS_INTS(rows, 1)),
                               ms_arange_int(0, 1, cols, MS_INT64));
        MsTensor *zero = ms_tensor_scalar_int(MS_INT64, 0), *keep = NULL;
        for (int k = 1; k < 3 && gap; k++) {
            MsTensor *w = ms__cast_to(ms__arg_tensor(ARG(k), gap), MS_INT64);
            MsTensor *in = w ? ms_logical_or(ms_lt(w, zero), ms_le(k == 1 ? gap : ms_neg(gap), w)) : NULL;
            keep = k == 1 ? in : ms_logical_and(keep, in);
        }
        return R(ms_where(keep, T(0), number(T(0), 0)));
    }
    int64_t lower = I(1), upper = I(2);
    MsTensor *y = lower < 0 ? T(0) : ms_triu(T(0), -lower);
    y = upper < 0 ? y : ms_tril(y, upper);
    return R(y == T(0) ? ms_identity(y) : y);
}
