/* measure.c - rows of statistics, distances, windows and combinations: compositions that need no loop of
 * their own. Order statistics come from a sort, so their gradient goes to the elements that were picked. */
#include "api/args.h"

#include <math.h>
#include <string.h>

static MsTensor *floating(MsTensor *x)
{
    return x && is_exact(x) ? ms_cast(x, MS_FLOAT32) : x;
}
static MsTensor *constant(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(dtype_of(like), v) : NULL;
}
static MsTensor *whole(int64_t v)
{
    return ms_full_int((MsInts){0, NULL}, v, MS_INT64);
}
static MsTensor *plus(MsTensor *x, double v)
{
    return ms_add(x, constant(x, v));
}
static MsTensor *times(MsTensor *x, double v)
{
    return ms_mul(x, constant(x, v));
}
static MsTensor *flat(MsTensor *x)
{
    return x ? ms_reshape(x, MS_INTS(x->numel)) : NULL;
}
static MsStatus pair_of(MsApiCall *c, MsTensor *a, MsTensor *b)
{
    MsTensor *both[2] = {a, b};
    return a && b ? ms__api_return_list(c, 2, both) : ms_error()->code;
}

/* ---- order statistics ---- */

/* Element k (a 0-d tensor or one per line, with the axis kept) of the sorted axis, and where it was. */
static MsStatus at_rank(MsTensor *x, int axis, MsTensor *k, MsTensor *y[2])
{
    MsTensor *o[2];
    MS_TRY(ms_sort(x, axis, false, true, o));
    int64_t s[MS_MAX_DIM];
    memcpy(s, x->shape, sizeof s);
    if (x->ndim) s[axis] = 1;
    k = ms_broadcast_to(k, (MsInts){x->ndim, s});
    y[0] = k ? ms_take_along(o[0], k, axis) : NULL;
    y[1] = k ? ms_take_along(o[1], k, axis) : NULL;
    return y[0] && y[1] ? MS_OK : ms_error()->code;
}

/* The lower middle. NaN wins, or is not counted (`skip`). */
static MsStatus median(MsApiCall *c, int64_t dim, bool keep, bool skip)
{
    int axis;
    MsTensor *x = T(0), *y[2];
    MS_TRY(ms__api_axis("median", dim, x->ndim, &axis));
    if (x->ndim && x->shape[axis] == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'median', the axis %d is empty.", axis);
    MsTensor *valid = ms_sum(ms_cast(ms_logical_not(ms_is_nan(x)), MS_INT64),
                             x->ndim ? MS_INTS(axis) : MS_INTS_NONE, x->ndim > 0);
    MsTensor *n = whole(x->ndim ? x->shape[axis] : 1), *zero = whole(0);
    MsTensor *k =
        skip ? ms_maximum(ms_floor_div(ms_sub(valid, whole(1)), whole(2)), zero)
             : ms_where(ms_lt(valid, n), ms_sub(n, whole(1)), ms_floor_div(ms_sub(n, whole(1)), whole(2)));
    MS_TRY(at_rank(x, axis, k, y));
    if (!keep && x->ndim) y[0] = ms__dropped(y[0], axis), y[1] = ms__dropped(y[1], axis);
    return pair_of(c, y[0], y[1]);
}
MS_API(median, "ops.median Tensor.median", "(input: Tensor, axis: int = -1, keepdims: bool = False) -> any")
{
    return median(c, I(1), I(2), false);
}
MS_API(nanmedian, "ops.nanmedian Tensor.nanmedian",
       "(input: Tensor, axis: int = -1, keepdims: bool = False) -> any")
{
    return median(c, I(1), I(2), true);
}
MS_API(median_all, "mint.median", "(input: Tensor) -> Tensor")
{
    MsTensor *x = T(0), *y[2];
    int64_t n = x->numel;
    MsTensor *nan = ms_reduce_any(ms_is_nan(x), MS_INTS_NONE, false);
    if (n == 0) return MS_FAIL(MS_ERROR_VALUE, "For 'median', 'input' is empty.");
    MS_TRY(at_rank(flat(x), 0, ms_where(nan, whole(n - 1), whole((n - 1) / 2)), y));
    return R(ms__dropped(y[0], 0));
}
MS_API(median_dim, "mint.median", "(input: Tensor, dim: int, keepdim: bool = False) -> any")
{
    return median(c, I(1), I(2), false);
}
MS_API(kthvalue, "mint.kthvalue Tensor.kthvalue",
       "(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> any")
{
    int axis;
    MsTensor *x = T(0), *y[2];
    MS_TRY(ms__api_axis("kthvalue", I(2), x->ndim, &axis));
    int64_t n = x->ndim ? x->shape[axis] : 1;
    if (I(1) < 1 || I(1) > n)
        return MS_FAIL(MS_ERROR_VALUE, "For 'kthvalue', 'k' must be in [1, %lld], but got %lld.",
                       (long long)n, (long long)I(1));
    MS_TRY(at_rank(x, axis, whole(I(1) - 1), y));
    if (!I(3) && x->ndim) y[0] = ms__dropped(y[0], axis), y[1] = ms__dropped(y[1], axis);
    return pair_of(c, y[0], y[1]);
}

/* Linear interpolation between the neighbours in the sorted axis; the axis of q in front. */
static MsStatus quantile(MsApiCall *c, bool skip)
{
    MsTensor *x = floating(T(0)), *o[2];
    int axis = 0;
    bool all = !GIVEN(2);
    MsTensor *q = x ? ms__cast_to(ms__arg_tensor(ARG(1), x), dtype_of(x)) : NULL;
    if (!q) return ms_error()->code;
    if (q->ndim > 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'quantile', 'q' must be a number or 1-d, but got %d dimensions.",
                       q->ndim);
    for (int64_t k = 0; k < q->numel && !ms_tensor_is_traced(q) && q->contiguous; k++) {
        double v = dtype_of(q) == MS_FLOAT64   ? ((double *)ms_tensor_data(q))[k]
                   : dtype_of(q) == MS_FLOAT32 ? ((float *)ms_tensor_data(q))[k]
                                               : 0;
        if (!(v >= 0 && v <= 1))
            return MS_FAIL(MS_ERROR_VALUE, "For 'quantile', 'q' must be in [0, 1], but got %g.", v);
    }
    if (all)
        x = flat(x);
    else
        MS_TRY(ms__api_axis("quantile", I(2), x->ndim, &axis));
    if (!x || x->numel == 0)
        return x ? MS_FAIL(MS_ERROR_VALUE, "For 'quantile', 'input' is empty.") : ms_error()->code;
    if (x->ndim == 0) x = ms_reshape(x, MS_INTS(1));
    MS_TRY(ms_sort(x, axis, false, true, o));
    MsTensor *valid = ms_sum(ms_cast(ms_logical_not(ms_is_nan(x)), dtype_of(x)), MS_INTS(axis), true);
    MsTensor *last =
        skip ? ms_maximum(plus(valid, -1), constant(x, 0)) : constant(x, (double)(x->shape[axis] - 1));
    MsTensor *part[64];
    int64_t n = q->ndim ? q->numel : 1;
    if (n > 64)
        return MS_FAIL(MS_ERROR_VALUE, "For 'quantile', 'q' has at most 64 entries, but got %lld.",
                       (long long)n);
    MsTensor *nan = ms_full((MsInts){0, NULL}, NAN, dtype_of(x));
    MsTensor *bad = skip ? ms_eq(valid, constant(x, 0)) : ms_lt(valid, constant(x, (double)x->shape[axis]));
    for (int64_t k = 0; k < n; k++) {
        MsTensor *at = ms_mul(q->ndim ? ms__picked(q, 0, k) : q, last);
        int64_t s[MS_MAX_DIM];
        memcpy(s, x->shape, sizeof s);
        s[axis] = 1;
        at = ms_broadcast_to(at, (MsInts){x->ndim, s});
        MsTensor *low = ms_floor(at), *w = ms_sub(at, low);
        MsTensor *i = low ? ms_cast(low, MS_INT64) : NULL, *j = low ? ms_cast(ms_ceil(at), MS_INT64) : NULL;
        if (!i || !j) return ms_error()->code;
        MsTensor *a = ms_take_along(o[0], i, axis), *b = ms_take_along(o[0], j, axis);
        MsTensor *y = ms_where(bad, nan, ms_add(a, ms_mul(w, ms_sub(b, a))));
        if (!I(3)) y = ms__dropped(y, axis);
        if (I(3) && all && y) {
            int64_t ones[MS_MAX_DIM] = {1, 1, 1, 1, 1, 1, 1, 1};
            y = ms_reshape(y, (MsInts){T(0)->ndim, ones});
        }
        part[k] = y;
        if (!y) return ms_error()->code;
    }
    return R(q->ndim ? ms__stacked((int)n, part, 0) : part[0]);
}
MS_API(quantile, "ops.quantile Tensor.quantile",
       "(input: Tensor, q: Tensor|number, axis: int = None, keepdims: bool = False) -> Tensor")
{
    return quantile(c, false);
}
MS_API(nanquantile, "ops.nanquantile Tensor.nanquantile",
       "(input: Tensor, q: Tensor|number, axis: int = None, keepdims: bool = False) -> Tensor")
{
    return quantile(c, true);
}

MS_API(aminmax, "ops.aminmax Tensor.aminmax",
       "(input: Tensor, *, axis: int? = 0, keepdims: bool = False) -> any")
{
    int axis = 0;
    if (GIVEN(1)) MS_TRY(ms__api_axis("aminmax", I(1), T(0)->ndim, &axis));
    MsInts axes = T(0)->ndim && GIVEN(1) ? MS_INTS(axis) : MS_INTS_NONE;
    return pair_of(c, ms_reduce_min(T(0), axes, I(2)), ms_reduce_max(T(0), axes, I(2)));
}
MS_API(ptp, "Tensor.ptp", "(self: Tensor, axis: ints = None, keepdims: bool = False) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts a = INTS(1, buf);
    if (a.n == -2) return ms_error()->code;
    return R(ms_sub(ms_reduce_max(T(0), a, I(2)), ms_reduce_min(T(0), a, I(2))));
}
MS_API(nanmean, "ops.nanmean Tensor.nanmean",
       "(input: Tensor, axis: ints = None, keepdims: bool = False, *, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts a = INTS(1, buf);
    if (!ms_dtype_is_float(ms_tensor_dtype(T(0))) && !ms_dtype_is_complex(ms_tensor_dtype(T(0))))
        return MS_FAIL(MS_ERROR_TYPE, "For 'nanmean', the 'input' must be float or complex, but got %s.",
                       ms_dtype_name(ms_tensor_dtype(T(0))));
    MsTensor *x = ms__cast_to(T(0), DTYPE(3));
    if (a.n == -2 || !x) return ms_error()->code;
    if (a.n == 0) a = MS_INTS_NONE;
    MsTensor *nan = ms_is_nan(x), *zero = constant(x, 0);
    MsTensor *n = ms_sum(ms_where(nan, zero, constant(x, 1)), a, I(2));
    return R(ms_div(ms_sum(ms_where(nan, zero, x), a, I(2)), n));
}

/* ---- spread and distance ---- */

/* Rows are variables. Weights count observations (`fweights`) or their importance. */
MS_API(cov, "ops.cov Tensor.cov",
       "(input: Tensor, *, correction: int = 1, fweights: Tensor = None, aweights: Tensor = None) -> Tensor")
{
    MsTensor *x = floating(T(0)), *w = NULL;
    if (!x || x->ndim > 2)
        return x ? MS_FAIL(MS_ERROR_VALUE, "For 'cov', 'input' must have at most 2 dimensions, but got %d.",
                           x->ndim)
                 : ms_error()->code;
    bool scalar = x->ndim < 2;
    if (scalar) x = ms_reshape(x, MS_INTS(1, x->numel));
    if (!x) return ms_error()->code;
    for (int k = 2; k <= 3; k++) {
        if (!GIVEN(k)) continue;
        if (T(k)->ndim != 1 || T(k)->numel != x->shape[1])
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'cov', the weights must be one per observation, but got shape %s for %lld.",
                           ms__shape_text(T(k)->ndim, T(k)->shape), (long long)x->shape[1]);
        MsTensor *v = ms__cast_to(T(k), dtype_of(x));
        w = w ? ms_mul(w, v) : v;
    }
    MsTensor *total = w ? ms_sum(w, MS_INTS_NONE, false) : constant(x, (double)x->shape[1]);
    MsTensor *mean = ms_div(ms_sum(w ? ms_mul(x, w) : x, MS_INTS(1), true), total), *d = ms_sub(x, mean);
    MsTensor *norm = plus(total, -(double)I(1));
    if (GIVEN(3)) {
        MsTensor *a = ms_sum(ms_mul(w, ms__cast_to(T(3), dtype_of(x))), MS_INTS_NONE, false);
        norm = ms_sub(total, times(ms_div(a, total), (double)I(1)));
    }
    norm = ms_maximum(norm, constant(norm, 0));
    MsTensor *y = ms_div(ms_matmul(d, w ? ms_mul(d, w) : d, false, true), norm);
    return R(scalar ? ms_reshape(y, (MsInts){0, NULL}) : y);
}

static MsStatus check_p(const char *op, double p)
{
    return p >= 0 ? MS_OK : MS_FAIL(MS_ERROR_VALUE, "For '%s', 'p' must not be negative, but got %g.", op, p);
}
/* The distances of all rows of a to all rows of b. */
static MsTensor *distances(MsTensor *a, MsTensor *b, double p)
{
    return ms__vector_norm(ms_sub(ms__unsqueezed(a, a->ndim - 1), ms__unsqueezed(b, b->ndim - 2)), p,
                           MS_INTS(-1), false);
}
static MsStatus cdist(MsApiCall *c)
{
    MsTensor *a = T(0), *b = T(1);
    MS_TRY(check_p("cdist", F(2)));
    if (a->ndim < 2 || b->ndim < 2 || a->shape[a->ndim - 1] != b->shape[b->ndim - 1])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'cdist', the shapes %s and %s must have two axes and equal last ones.",
                       ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
    return R(distances(a, b, F(2)));
}
MS_API(cdist, "ops.cdist", "(x1: Tensor, x2: Tensor, p: number = 2.0) -> Tensor")
{
    return cdist(c);
}
/* `compute_mode` chooses between methods of one result; here there is one method. */
MS_API(cdist_mint, "mint.cdist",
       "(x1: Tensor, x2: Tensor, p: number = 2.0, compute_mode: str = 'use_mm_for_euclid_dist_if_necessary') "
       "-> Tensor")
{
    static const char *const modes[] = {"use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                                        "donot_use_mm_for_euclid_dist"};
    for (int k = 0; k < 3; k++)
        if (strcmp(modes[k], ARG(3)->s) == 0) return cdist(c);
    return MS_FAIL(MS_ERROR_VALUE, "For 'cdist', 'compute_mode' must not be '%s'.", ARG(3)->s);
}
/* The pairs i < j of the distances of x to itself. */
MS_API(pdist, "ops.pdist", "(input: Tensor, p: number = 2.0) -> Tensor")
{
    MsTensor *x = T(0);
    MS_TRY(check_p("pdist", F(1)));
    if (x->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'pdist', 'input' must have at least 2 dimensions, but got %d.",
                       x->ndim);
    int64_t n = x->shape[x->ndim - 2], m = n * (n - 1) / 2;
    MsTensor *i = ms_tensor_empty(MS_INT64, 1, &m), *j = ms_tensor_empty(MS_INT64, 1, &m);
    if (!i || !j) return ms_error()->code;
    for (int64_t a = 0, k = 0; a < n; a++)
        for (int64_t b = a + 1; b < n; b++, k++)
            ((int64_t *)ms_tensor_data(i))[k] = a, ((int64_t *)ms_tensor_data(j))[k] = b;
    int axis = x->ndim - 2;
    return R(ms__vector_norm(ms_sub(ms_gather(x, i, axis), ms_gather(x, j, axis)), F(1), MS_INTS(-1), false));
}
MS_API(dist, "ops.dist mint.dist", "(input: Tensor, other: Tensor, p: number = 2) -> Tensor")
{
    return R(ms__vector_norm(ms_sub(floating(T(0)), floating(T(1))), F(2), MS_INTS_NONE, false));
}
MS_API(cosine_similarity, "ops.cosine_similarity",
       "(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    a = floating(a), b = floating(b);
    MsInts axis = MS_INTS(I(2));
    MsTensor *dot = ms_sum(ms_mul(a, b), axis, false), *least = constant(a, F(3));
    MsTensor *na = ms_maximum(ms__vector_norm(a, 2, axis, false), least);
    return R(ms_div(dot, ms_mul(na, ms_maximum(ms__vector_norm(b, 2, axis, false), least))));
}

/* Slices along an axis scaled so that no norm exceeds maxnorm. */
MS_API(renorm, "ops.renorm Tensor.renorm mint.renorm",
       "(input: Tensor, p: number, axis: int, maxnorm: number) -> Tensor")
{
    MsTensor *x = T(0);
    int axis, n = 0;
    int64_t rest[MS_MAX_DIM];
    MS_TRY(ms__api_axis("renorm", I(2), x->ndim, &axis));
    for (int d = 0; d < x->ndim; d++)
        if (d != axis) rest[n++] = d;
    MsTensor *size = n ? ms__vector_norm(x, F(1), (MsInts){n, rest}, true) : ms_abs(x);
    MsTensor *scale = ms_div(constant(size, F(3)), plus(size, 1e-7));
    return R(size ? ms_mul(x, ms_where(ms_gt(size, constant(size, F(3))), scale, constant(size, 1))) : NULL);
}

/* The tensors scaled so that the norm of all of them together is at most max_norm. */
MS_API(clip_by_norm, "ops.clip_by_norm",
       "(x: any, max_norm: number, norm_type: number = 2.0, error_if_nonfinite: bool = False) -> any")
{
    int n = 0;
    const MsArg *item = ms__arg_items(ARG(0), &n);
    MsTensor *norm[256], *y[256];
    if (n < 1 || n > 256)
        return MS_FAIL(MS_ERROR_VALUE, "For 'clip_by_norm', 'x' must be 1 to 256 tensors, but got %d.", n);
    for (int k = 0; k < n; k++) {
        if (item[k].kind != MS_ARG_TENSOR)
            return MS_FAIL(MS_ERROR_TYPE, "For 'clip_by_norm', 'x' must be tensors.");
        norm[k] = ms__vector_norm(floating(item[k].t), F(2), MS_INTS_NONE, false);
        if (k && norm[k]) norm[k] = ms__cast_to(norm[k], dtype_of(norm[0]));
        if (!norm[k]) return ms_error()->code;
    }
    MsTensor *all = n == 1 ? norm[0] : ms__vector_norm(ms__stacked(n, norm, 0), F(2), MS_INTS_NONE, false);
    if (I(3) && all && !ms_tensor_is_traced(all)) {
        double v;
        MS_TRY(ms_tensor_item(all, &v));
        if (!isfinite(v))
            return MS_FAIL(MS_ERROR_RUNTIME, "For 'clip_by_norm', the norm is not finite: %g.", v);
    }
    MsTensor *scale = ms_minimum(ms_div(constant(all, F(1)), plus(all, 1e-6)), constant(all, 1));
    for (int k = 0; k < n; k++) {
        y[k] = ms_mul(floating(item[k].t), ms__cast_to(scale, dtype_of(floating(item[k].t))));
        if (!y[k]) return ms_error()->code;
    }
    return ARG(0)->kind == MS_ARG_LIST ? ms__api_return_list(c, n, y) : R(y[0]);
}

/* ---- products ---- */

MS_API(kron, "ops.kron", "(input: Tensor, other: Tensor) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    int n = a->ndim > b->ndim ? a->ndim : b->ndim;
    int64_t sa[MS_MAX_DIM], sb[MS_MAX_DIM], s[MS_MAX_DIM];
    if (2 * n > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For 'kron', at most %d dimensions are possible, but got %d.",
                       MS_MAX_DIM / 2, n);
    for (int d = 0; d < n; d++) {
        sa[2 * d] = d < n - a->ndim ? 1 : a->shape[d - n + a->ndim], sa[2 * d + 1] = 1;
        sb[2 * d + 1] = d < n - b->ndim ? 1 : b->shape[d - n + b->ndim], sb[2 * d] = 1;
        s[d] = sa[2 * d] * sb[2 * d + 1];
    }
    return R(ms_reshape(ms_mul(ms_reshape(a, (MsInts){2 * n, sa}), ms_reshape(b, (MsInts){2 * n, sb})),
                        (MsInts){n, s}));
}
MS_API(vecdot, "ops.vecdot", "(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    if (ms_dtype_is_complex(dtype_of(a))) a = ms_conj(a);
    return R(ms_sum(ms_mul(a, b), MS_INTS(I(2)), false));
}
/* beta x + alpha (vec1 outer vec2); a beta of zero ignores x. */
static MsTensor *addr(MsApiCall *c)
{
    MsTensor *x = T(0), *a = T(1), *b = T(2);
    if (a->ndim != 1 || b->ndim != 1)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'addr', 'vec1' and 'vec2' must be 1-d, but got %d and %d dimensions.",
                            a->ndim, b->ndim);
    MsTensor *y = ms_mul(ms__unsqueezed(a, 1), b);
    if (y && F(4) != 1) y = ms_mul(y, ms__arg_tensor(ARG(4), y));
    if (F(3) == 0) return y && ms_broadcast_to(x, (MsInts){y->ndim, y->shape}) ? y : NULL;
    return ms_add(F(3) == 1 ? x : ms_mul(x, ms__arg_tensor(ARG(3), x)), y);
}
MS_API(addr, "ops.addr",
       "(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: number = 1, alpha: number = 1) -> Tensor")
{
    return R(addr(c));
}
MS_API(addr_method, "Tensor.addr",
       "(self: Tensor, vec1: Tensor, vec2: Tensor, beta: number = 1, alpha: number = 1) -> Tensor")
{
    return R(addr(c));
}
/* x1^T w x2 for each slice of w. */
MS_API(bidense, "ops.bidense",
       "(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor = None) -> Tensor")
{
    MsTensor *a = T(0), *b = T(1), *w = T(2);
    if (w->ndim != 3 || a->ndim < 1 || b->ndim < 1 || a->shape[a->ndim - 1] != w->shape[1] ||
        b->shape[b->ndim - 1] != w->shape[2])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'bidense', the weight of shape %s does not fit the inputs of shape %s and %s.",
                       ms__shape_text(w->ndim, w->shape), ms__shape_text(a->ndim, a->shape),
                       ms__shape_text(b->ndim, b->shape));
    int64_t rows = a->numel / a->shape[a->ndim - 1], s[MS_MAX_DIM], m = w->shape[1], n = w->shape[2],
            k = w->shape[0];
    memcpy(s, a->shape, sizeof s);
    s[a->ndim - 1] = k;
    MsTensor *left =
        ms_matmul(ms_reshape(a, MS_INTS(rows, m)),
                  ms_reshape(ms_transpose(w, MS_INTS(1, 0, 2)), MS_INTS(m, k * n)), false, false);
    MsTensor *y = ms_sum(ms_mul(ms_reshape(left, MS_INTS(rows, k, n)), ms_reshape(b, MS_INTS(rows, 1, n))),
                         MS_INTS(2), false);
    y = ms_reshape(y, (MsInts){a->ndim, s});
    return R(T(3) ? ms_add(y, T(3)) : y);
}
/* The vector product along an axis of three; None: the first such axis. */
static MsStatus cross(MsApiCall *c)
{
    MsTensor *a, *b, *y[3];
    int axis = -1;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    if (a->ndim != b->ndim)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'cross', the inputs must have equally many dimensions, but got %d and %d.",
                       a->ndim, b->ndim);
    if (GIVEN(2)) MS_TRY(ms__api_axis("cross", I(2), a->ndim, &axis));
    for (int d = 0; d < a->ndim && axis < 0; d++)
        if (a->shape[d] == 3) axis = d;
    if (axis < 0 || a->ndim == 0 || a->shape[axis] != 3 || b->shape[axis] != 3)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'cross', the axis must have size 3 in both inputs, but got shapes %s and %s.",
                       ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
    for (int k = 0; k < 3; k++) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        y[k] = ms_sub(ms_mul(ms__narrowed(a, axis, p, 1), ms__narrowed(b, axis, q, 1)),
                      ms_mul(ms__narrowed(a, axis, q, 1), ms__narrowed(b, axis, p, 1)));
        if (!y[k]) return ms_error()->code;
    }
    return R(ms_concat(3, y, axis));
}
MS_API(cross, "ops.cross mint.cross mint.linalg.cross Tensor.cross",
       "(input: Tensor, other: Tensor, dim: int = None) -> Tensor")
{
    return cross(c);
}
MS_API(trapz, "ops.trapz", "(y: Tensor, x: Tensor = None, *, dx: float = 1.0, dim: int = -1) -> Tensor")
{
    int axis;
    MsTensor *y = floating(T(0)), *x = T(1) ? floating(T(1)) : NULL;
    if (!y || y->ndim == 0)
        return y ? MS_FAIL(MS_ERROR_VALUE, "For 'trapz', 'y' must have at least one dimension.")
                 : ms_error()->code;
    MS_TRY(ms__api_axis("trapz", I(3), y->ndim, &axis));
    int64_t n = y->shape[axis];
    if (n < 2) return R(ms_sum(ms__narrowed(times(y, 0), axis, 0, n), MS_INTS(axis), false));
    MsTensor *mid = times(ms_add(ms__narrowed(y, axis, 1, n - 1), ms__narrowed(y, axis, 0, n - 1)), 0.5);
    if (!x) return R(times(ms_sum(mid, MS_INTS(axis), false), F(2)));
    if (x->ndim == 1) {
        int64_t s[MS_MAX_DIM];
        for (int d = 0; d < y->ndim; d++) s[d] = d == axis ? x->numel : 1;
        x = ms_reshape(x, (MsInts){y->ndim, s});
    }
    if (!x || x->ndim != y->ndim || x->shape[axis] != n)
        return x ? MS_FAIL(MS_ERROR_VALUE, "For 'trapz', 'x' of shape %s does not fit 'y' of shape %s.",
                           ms__shape_text(x->ndim, x->shape), ms__shape_text(y->ndim, y->shape))
                 : ms_error()->code;
    MsTensor *step = ms_sub(ms__narrowed(x, axis, 1, n - 1), ms__narrowed(x, axis, 0, n - 1));
    return R(ms_sum(ms_mul(mid, step), MS_INTS(axis), false));
}
MS_API(vander, "ops.vander", "(x: Tensor, N: int = None) -> Tensor")
{
    MsTensor *x = T(0);
    if (x->ndim != 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'vander', 'x' must be 1-d, but got %d dimensions.", x->ndim);
    int64_t n = GIVEN(1) ? I(1) : x->numel;
    if (n < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'vander', 'N' must not be negative, but got %lld.", (long long)n);
    MsTensor *p = ms_cast(ms_arange_int(n - 1, -1, n, MS_INT64), dtype_of(x));
    return R(ms_pow(ms__unsqueezed(x, 1), p));
}
/* The logarithm of the running sum of exponentials: of sums of 2, 4, 8 ... elements, each from two halves. */
MS_API(logcumsumexp, "ops.logcumsumexp Tensor.logcumsumexp", "(input: Tensor, axis: int) -> Tensor")
{
    MsTensor *x = T(0);
    int axis;
    MS_TRY(ms__api_axis("logcumsumexp", I(1), x->ndim, &axis));
    if (!ms_dtype_is_float(dtype_of(x)))
        return MS_FAIL(MS_ERROR_TYPE, "For 'logcumsumexp', 'input' must be floats, but got %s.",
                       ms_dtype_name(dtype_of(x)));
    MsTensor *y = ms__cast_to(x, dtype_of(x) == MS_FLOAT64 ? MS_FLOAT64 : MS_FLOAT32);
    int64_t n = x->ndim ? x->shape[axis] : 1;
    for (int64_t k = 1; y && k < n; k *= 2) {
        MsTensor *head = ms__narrowed(y, axis, 0, k);
        MsTensor *rest = ms__logaddexp(ms__narrowed(y, axis, k, n - k), ms__narrowed(y, axis, 0, n - k));
        y = head && rest ? ms_concat(2, (MsTensor *[]){head, rest}, axis) : NULL;
    }
    return R(ms__cast_to(y, dtype_of(x)));
}

/* ---- combinations ---- */

static MsStatus tensors(const char *op, const MsArg *a, int least, int most, MsTensor **t, int *n)
{
    const MsArg *item = ms__arg_items(a, n);
    if (*n < least || *n > most)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', %d to %d tensors are needed, but got %d.", op, least, most,
                       *n);
    for (int k = 0; k < *n; k++) {
        if (item[k].kind != MS_ARG_TENSOR)
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', the inputs must be Tensors.", op);
        t[k] = item[k].t;
    }
    return MS_OK;
}
MS_API(block_diag, "ops.block_diag _linalg.block_diag", "(*inputs: any) -> Tensor")
{
    MsTensor *t[256];
    int n;
    int64_t rows = 0, columns = 0, r = 0, k = 0;
    MS_TRY(tensors("block_diag", ARG(0), 1, 256, t, &n));
    MS_TRY(ms__common_dtype("block_diag", n, t, t));
    for (int j = 0; j < n; j++) {
        if (t[j]->ndim > 2)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'block_diag', an input has %d dimensions; at most 2 are possible.",
                           t[j]->ndim);
        t[j] = t[j]->ndim == 2 ? t[j] : ms_reshape(t[j], MS_INTS(1, t[j]->numel));
        if (!t[j]) return ms_error()->code;
        rows += t[j]->shape[0], columns += t[j]->shape[1];
    }
    for (int j = 0; j < n; j++) {
        int64_t m = t[j]->shape[0], w = t[j]->shape[1];
        t[j] = ms_pad(t[j], MS_INTS(0, k), MS_INTS(0, columns - k - w), 0);
        r += m, k += w;
        if (!t[j]) return ms_error()->code;
    }
    return R(ms_concat(n, t, 0));
}
MS_API(cartesian_prod, "ops.cartesian_prod", "(*inputs: any) -> Tensor")
{
    MsTensor *t[MS_MAX_DIM];
    int n;
    int64_t s[MS_MAX_DIM], total = 1;
    MS_TRY(tensors("cartesian_prod", ARG(0), 1, MS_MAX_DIM, t, &n));
    for (int k = 0; k < n; k++) {
        if (t[k]->ndim != 1)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'cartesian_prod', the inputs must be 1-d, but got %d dimensions.",
                           t[k]->ndim);
        s[k] = t[k]->numel, total *= s[k];
    }
    if (n == 1) return R(t[0]);
    MS_TRY(ms__common_dtype("cartesian_prod", n, t, t));
    for (int k = 0; k < n; k++) {
        int64_t one[MS_MAX_DIM] = {1, 1, 1, 1, 1, 1, 1, 1};
        one[k] = s[k];
        t[k] =
            ms_reshape(ms_broadcast_to(ms_reshape(t[k], (MsInts){n, one}), (MsInts){n, s}), MS_INTS(total));
        if (!t[k]) return ms_error()->code;
    }
    return R(ms__stacked(n, t, 1));
}
/* Subsets of r positions in lexicographic order. */
MS_API(combinations, "ops.combinations",
       "(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor")
{
    MsTensor *x = T(0);
    int64_t n = x->numel, r = I(1), at[32], count = 0, cap = 1;
    if (x->ndim != 1 || r < 0 || r > 32)
        return MS_FAIL(MS_ERROR_VALUE, "For 'combinations', 'input' must be 1-d and 'r' in [0, 32].");
    bool again = I(2);
    for (int64_t k = 0; k < r; k++) cap = cap * (again ? n + k : n - k) / (k + 1);
    if (cap < 0 || (!again && r > n)) cap = 0;
    int64_t s[2] = {cap, r};
    MsTensor *index = ms_tensor_empty(MS_INT64, 2, s);
    if (!index) return ms_error()->code;
    int64_t *to = ms_tensor_data(index);
    for (int64_t k = 0; k < r; k++) at[k] = again ? 0 : k;
    while (count < cap) {
        for (int64_t k = 0; k < r; k++) to[count * r + k] = at[k];
        count++;
        int64_t k = r - 1;
        while (k >= 0 && at[k] == (again ? n - 1 : n - r + k)) k--;
        if (k < 0) break;
        at[k]++;
        for (int64_t j = k + 1; j < r; j++) at[j] = again ? at[k] : at[j - 1] + 1;
    }
    return R(ms_gather(x, index, 0));
}

/* ---- sequences ---- */

MS_API(sequence_mask, "ops.sequence_mask", "(lengths: Tensor, maxlen: int = None) -> Tensor")
{
    MsTensor *x = T(0);
    int64_t n = I(1);
    if (!ms_dtype_is_int(dtype_of(x)))
        return MS_FAIL(MS_ERROR_TYPE, "For 'sequence_mask', 'lengths' must be integers, but got %s.",
                       ms_dtype_name(dtype_of(x)));
    if (GIVEN(1) && n < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'sequence_mask', 'maxlen' must be positive, but got %lld.",
                       (long long)n);
    if (!GIVEN(1)) MS_TRY(ms_tensor_item_int(ms_reduce_max(x, MS_INTS_NONE, false), &n));
    return R(ms_lt(ms_cast(ms_arange_int(0, 1, n, MS_INT64), dtype_of(x)), ms__unsqueezed(x, x->ndim)));
}
/* The first seq_lengths[b] elements of each line reversed. */
MS_API(reverse_sequence, "ops.reverse_sequence",
       "(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor")
{
    MsTensor *x = T(0), *len = ms__cast_to(T(1), MS_INT64);
    int seq, batch;
    MS_TRY(ms__api_axis("reverse_sequence", I(2), x->ndim, &seq));
    MS_TRY(ms__api_axis("reverse_sequence", I(3), x->ndim, &batch));
    if (!len || seq == batch || len->ndim != 1 || len->numel != x->shape[batch])
        return len ? MS_FAIL(MS_ERROR_VALUE, "For 'reverse_sequence', 'seq_lengths' must be 1-d with one "
                                             "entry per batch, and the axes must differ.")
                   : ms_error()->code;
    int64_t ss[MS_MAX_DIM], sb[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++)
        ss[d] = d == seq ? x->shape[d] : 1, sb[d] = d == batch ? x->shape[d] : 1;
    MsTensor *k = ms_reshape(ms_arange_int(0, 1, x->shape[seq], MS_INT64), (MsInts){x->ndim, ss});
    MsTensor *n = ms_reshape(len, (MsInts){x->ndim, sb});
    MsTensor *at = ms_where(ms_lt(k, n), ms_sub(ms_sub(n, k), whole(1)), k);
    at = ms_broadcast_to(at, (MsInts){x->ndim, x->shape});
    return R(at ? ms_take_along(x, at, seq) : NULL);
}
MS_API(reverse_sequence_method, "Tensor.reverse_sequence",
       "(self: Tensor, seq_lengths: Tensor, seq_dim: int = 0, batch_dim: int = 0) -> Tensor")
{
    return api_reverse_sequence(c);
}
MS_API(tensor_range, "ops.tensor_range", "(start: Tensor, end: Tensor, step: Tensor) -> Tensor")
{
    double a, b, s;
    MS_TRY(ms_tensor_item(T(0), &a));
    MS_TRY(ms_tensor_item(T(1), &b));
    MS_TRY(ms_tensor_item(T(2), &s));
    if (s == 0 || (b - a) / s < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'tensor_range', 'step' %g does not lead from %g to %g.", s, a, b);
    int64_t n = (int64_t)ceil((b - a) / s);
    return R(is_exact(T(0)) ? ms_arange_int((int64_t)a, (int64_t)s, n, dtype_of(T(0)))
                            : ms_arange(a, s, n, dtype_of(T(0))));
}

/* ---- windows ---- */

/* sum over k of a[k] cos(2 pi k i / m) for i in [0, n), m = n or n - 1. */
static MsStatus window(MsApiCall *c, const char *op, int64_t n, bool periodic, int terms, const double *a,
                       MsDtype dtype)
{
    if (n < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'window_length' must not be negative, but got %lld.", op,
                       (long long)n);
    if (dtype == MS_DTYPE_NONE) dtype = MS_FLOAT32;
    if (!ms_dtype_is_float(dtype))
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', 'dtype' must be a float type, but got %s.", op,
                       ms_dtype_name(dtype));
    if (n == 1) return R(ms_full(MS_INTS(1), 1, dtype));
    double m = (double)(periodic ? n : n - 1);
    MsTensor *w = ms_tensor_empty(MS_FLOAT64, 1, &n);
    if (!w) return ms_error()->code;
    for (int64_t i = 0; i < n; i++) {
        double v = 0;
        for (int k = 0; k < terms; k++) v += a[k] * cos(2 * M_PI * k * (double)i / m);
        if (terms == 0) v = 1 - fabs(2 * (double)i / m - 1); /* the triangle */
        ((double *)ms_tensor_data(w))[i] = v;
    }
    return R(ms__cast_to(w, dtype));
}
static MsStatus length(const MsArg *a, int64_t *n)
{
    if (a->kind == MS_ARG_TENSOR) return ms_tensor_item_int(a->t, n);
    *n = a->i;
    return MS_OK;
}
MS_API(bartlett_window, "ops.bartlett_window",
       "(window_length: int|Tensor, periodic: bool = True, *, dtype: dtype = None) -> Tensor")
{
    int64_t n;
    MS_TRY(length(ARG(0), &n));
    return window(c, "bartlett_window", n, I(1), 0, NULL, DTYPE(2));
}
MS_API(blackman_window, "ops.blackman_window",
       "(window_length: int|Tensor, periodic: bool = True, *, dtype: dtype = None) -> Tensor")
{
    int64_t n;
    MS_TRY(length(ARG(0), &n));
    return window(c, "blackman_window", n, I(1), 3, (double[]){0.42, -0.5, 0.08}, DTYPE(2));
}
MS_API(hann_window, "ops.hann_window",
       "(window_length: int, periodic: bool = True, *, dtype: dtype = None) -> Tensor")
{
    return window(c, "hann_window", I(0), I(1), 2, (double[]){0.5, -0.5}, DTYPE(2));
}
MS_API(hamming_window, "ops.hamming_window",
       "(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: dtype "
       "= None) -> Tensor")
{
    return window(c, "hamming_window", I(0), I(1), 2, (double[]){F(2), -F(3)}, DTYPE(4));
}
MS_API(kaiser_window, "ops.kaiser_window",
       "(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: dtype = None) -> Tensor")
{
    int64_t n = I(0);
    MsDtype d = GIVEN(3) ? DTYPE(3) : MS_FLOAT32;
    if (n < 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'kaiser_window', 'window_length' must not be negative, but got %lld.",
                       (long long)n);
    if (n == 1) return R(ms_full(MS_INTS(1), 1, d));
    double half = (double)(I(1) ? n : n - 1) / 2;
    MsTensor *r = plus(times(ms_cast(ms_arange_int(0, 1, n, MS_INT64), MS_FLOAT64), 1 / half), -1);
    MsTensor *arg = times(ms_sqrt(ms_maximum(plus(ms_neg(ms_square(r)), 1), constant(r, 0))), F(2));
    MsTensor *top = ms_bessel(ms_full((MsInts){0, NULL}, F(2), MS_FLOAT64), "i0");
    return R(ms__cast_to(ms_div(ms_bessel(arg, "i0"), top), d));
}

/* Softmax of logits with Gumbel noise; hard: one-hot forward with the gradient of the soft one. */
MS_API(gumbel_softmax, "ops.gumbel_softmax",
       "(logits: Tensor, tau: number = 1, hard: bool = False, dim: int = -1) -> Tensor")
{
    MsTensor *x = T(0);
    if (!(F(1) > 0))
        return MS_FAIL(MS_ERROR_VALUE, "For 'gumbel_softmax', 'tau' must be positive, but got %g.", F(1));
    MsTensor *u = ms_rng_uniform(ms__arg_state(NULL, NULL), (MsInts){x->ndim, x->shape}, MS_FLOAT32);
    u = ms_maximum(u, constant(u, 0x1p-64));
    MsTensor *g =
        ms__cast_to(ms_neg(ms_log(ms_maximum(ms_neg(ms_log(u)), constant(u, 0x1p-64)))), dtype_of(x));
    MsTensor *y = ms_softmax(times(ms_add(x, g), 1 / F(1)), I(3));
    if (!I(2) || !y) return R(y);
    MsTensor *at = ms_argmax(y, I(3), true);
    MsTensor *one = at ? ms_put_along(times(ms_stop_gradient(y), 0), at,
                                      ms_full((MsInts){at->ndim, at->shape}, 1, dtype_of(y)), I(3), "set")
                       : NULL;
    return R(ms_add(ms_stop_gradient(ms_sub(one, y)), y));
}
