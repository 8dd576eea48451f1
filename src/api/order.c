/* order.c - rows that search, count, accumulate extrema and find distinct values. */
#include "api/args.h"

#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sort, topk ---- */

/* bool has no order of its own among the operators' dtypes. */
static MsTensor *orderable(MsTensor *t)
{
    return t && ms_tensor_dtype(t) == MS_BOOL ? ms_cast(t, MS_UINT8) : t;
}

static MsStatus sorted_pair(MsApiCall *c, MsTensor **y, MsDtype dtype, MsDtype index)
{
    y[0] = ms__cast_to(y[0], dtype);
    y[1] = ms__cast_to(y[1], index);
    return y[0] && y[1] ? ms__api_return_list(c, 2, y) : ms_error()->code;
}

MS_API(msort, "ops.msort Tensor.msort", "(input: Tensor) -> Tensor")
{
    MsTensor *x = orderable(T(0)), *y[2];
    if (!x) return ms_error()->code;
    MS_TRY(ms_sort(x, 0, false, true, y));
    return R(ms__cast_to(y[0], ms_tensor_dtype(T(0))));
}

static MsStatus topk(MsApiCall *c, int64_t axis, bool largest, MsDtype index)
{
    MsTensor *x = orderable(T(0)), *y[2];
    int64_t k;
    if (!x) return ms_error()->code;
    if (ARG(1)->kind == MS_ARG_TENSOR)
        MS_TRY(ms_tensor_item_int(T(1), &k));
    else
        k = I(1);
    MS_TRY(ms_topk(x, k, axis, largest, true, y));
    return sorted_pair(c, y, ms_tensor_dtype(T(0)), index);
}
MS_API(top_k, "ops.top_k Tensor.top_k", "(input_x: Tensor, k: int|Tensor, sorted: bool = True) -> any")
{
    return topk(c, -1, true, MS_INT32);
}

/* ---- searching ---- */

static MsStatus searchsorted(MsApiCall *c, MsTensor *seq, MsTensor *v, bool right, MsTensor *sorter,
                             bool narrow)
{
    MsTensor *t[2] = {seq, v}, *both[2];
    MS_TRY(ms__common_dtype("searchsorted", 2, t, both));
    if (sorter) both[0] = ms_take_along(both[0], sorter, -1);
    MsTensor *y = ms_searchsorted(orderable(both[0]), orderable(both[1]), right);
    return R(ms__cast_to(y, narrow ? MS_INT32 : MS_INT64));
}

static MsStatus side_of(const MsArg *a, bool *right)
{
    if (a->kind == MS_ARG_NONE) return MS_OK;
    if (strcmp(a->s, "left") != 0 && strcmp(a->s, "right") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'searchsorted', the side must be 'left' or 'right', but got '%s'.", a->s);
    if (*right && *a->s == 'l')
        return MS_FAIL(MS_ERROR_VALUE, "For 'searchsorted', side and right contradict each other.");
    *right = *a->s == 'r';
    return MS_OK;
}

MS_API(searchsorted, "ops.searchsorted mint.searchsorted",
       "(sorted_sequence: Tensor, values: Tensor|number, *, out_int32: bool = False, right: bool = False, "
       "side: str? = None, sorter: Tensor? = None) -> Tensor")
{
    bool right = I(3);
    MsTensor *v = ms__arg_tensor(ARG(1), T(0));
    MS_TRY(side_of(ARG(4), &right));
    return v ? searchsorted(c, T(0), v, right, T(5), I(2)) : ms_error()->code;
}
MS_API(searchsorted_method, "Tensor.searchsorted",
       "(self: Tensor, v: any, side: str = 'left', sorter: Tensor? = None) -> Tensor")
{
    bool right = false;
    MsTensor *v = ms__arg_data("searchsorted", ARG(1), MS_DTYPE_NONE);
    MS_TRY(side_of(ARG(2), &right));
    return v ? searchsorted(c, T(0), v, right, T(3), true) : ms_error()->code;
}
MS_API(bucketize, "ops.bucketize", "(input: Tensor, boundaries: any, *, right: bool = False) -> Tensor")
{
    MsTensor *b = ms__arg_data("bucketize", ARG(1), MS_FLOAT32);
    return b ? searchsorted(c, b, T(0), I(2), NULL, true) : ms_error()->code;
}

/* ---- running sums ---- */

static MsStatus cumbest(MsApiCall *c, bool max, MsDtype index)
{
    MsTensor *x = orderable(T(0)), *y[2];
    if (!x) return ms_error()->code;
    MS_TRY(max ? ms_cummax(x, I(1), y) : ms_cummin(x, I(1), y));
    return sorted_pair(c, y, ms_tensor_dtype(T(0)), index);
}
MS_API(cummax, "ops.cummax Tensor.cummax", "(input: Tensor, axis: int) -> any")
{
    return cumbest(c, true, MS_INT64);
}
MS_API(cummin, "ops.cummin Tensor.cummin", "(input: Tensor, axis: int) -> any")
{
    return cumbest(c, false, MS_INT32);
}
MS_API(cummax_mint, "mint.cummax", "(input: Tensor, dim: int) -> any")
{
    return cumbest(c, true, MS_INT64);
}
MS_API(cummin_mint, "mint.cummin", "(input: Tensor, dim: int) -> any")
{
    return cumbest(c, false, MS_INT64);
}

/* Differences of neighbours, n times. */
static MsStatus diff(MsApiCall *c)
{
    MsTensor *x = T(0);
    int axis, n = 0;
    if (I(1) < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'diff', n must not be negative, but got %lld.", (long long)I(1));
    MS_TRY(ms__api_axis("diff", I(2), x->ndim, &axis));
    if (x->ndim == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'diff', the input must have at least one dimension.");
    MsTensor *part[3];
    if (GIVEN(3)) part[n++] = T(3);
    part[n++] = x;
    if (GIVEN(4)) part[n++] = T(4);
    MS_TRY(ms__common_dtype("diff", n, part, part));
    if (n > 1) x = ms_concat(n, part, axis);
    for (int64_t k = 0; k < I(1) && x && x->shape[axis] > 0; k++) {
        int64_t m = x->shape[axis] - 1;
        MsTensor *a = ms__narrowed(x, axis, m ? 1 : 0, m), *b = ms__narrowed(x, axis, 0, m);
        if (!a || !b) return ms_error()->code;
        x = ms_tensor_dtype(x) == MS_BOOL ? ms_ne(a, b) : ms_sub(a, b);
    }
    return R(x);
}
MS_API(diff_ops, "ops.diff Tensor.diff",
       "(x: Tensor, n: int = 1, axis: int = -1, prepend: Tensor? = None, append: Tensor? = None) -> Tensor")
{
    return diff(c);
}
MS_API(
    diff_mint, "mint.diff",
    "(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor? = None, append: Tensor? = None) -> Tensor")
{
    return diff(c);
}

/* ---- unique ---- */

/* ops.unique keeps the order of first occurrence. */
MS_API(unique_ops, "ops.unique", "(input: Tensor) -> any")
{
    MsTensor *x = T(0), *u[4], *o[2];
    MS_TRY(ms_unique(ms_reshape(x, MS_INTS(x->numel)), u));
    MS_TRY(ms_sort(u[3], 0, false, true, o)); /* o[1]: the old number of each new one */
    MsTensor *rank =
        ms_put_along(o[1], o[1], ms_arange_int(0, 1, o[1] ? o[1]->numel : 0, MS_INT64), 0, "set");
    /* the indices are int32 but for int64 tensors */
    MsDtype index = ms_tensor_dtype(x) == MS_INT64 ? MS_INT64 : MS_INT32;
    MsTensor *y[2] = {ms_gather(u[0], o[1], 0),
                      ms__cast_to(ms_reshape(ms_gather(rank, u[1], 0), (MsInts){x->ndim, x->shape}), index)};
    return y[0] && y[1] ? ms__api_return_list(c, 2, y) : ms_error()->code;
}

static MsStatus some(MsApiCall *c, int n, MsTensor **y)
{
    for (int k = 0; k < n; k++)
        if (!y[k]) return ms_error()->code;
    return n == 1 ? R(y[0]) : ms__api_return_list(c, n, y);
}

/* Rows of x along dim as numbers: equal rows get equal ones, ordered as the rows are. */
static MsTensor *row_ranks(MsTensor *x, int dim)
{
    int64_t n = x->shape[dim], perm[MS_MAX_DIM], m = 1;
    perm[0] = dim;
    for (int d = 0; d < x->ndim; d++)
        if (d != dim) perm[m++] = d;
    int64_t width = n ? x->numel / n : 0;
    MsTensor *flat = ms_reshape(ms_transpose(x, (MsInts){x->ndim, perm}), MS_INTS(n, width));
    MsTensor *rank = ms_full_int(MS_INTS(n), 0, MS_INT64), *u[4];
    for (int64_t k = width - 1; k >= 0 && rank;
         k--) { /* from the least significant column, combined with the rank */
        if (ms_unique(ms__picked(flat, 1, k), u) != MS_OK) return NULL;
        MsTensor *key = ms_add(ms_mul(u[1], ms_full_int((MsInts){0, NULL}, n + 1, MS_INT64)), rank);
        if (ms_unique(key, u) != MS_OK) return NULL;
        rank = u[1];
    }
    return rank;
}

static MsStatus unique_sorted(MsApiCall *c)
{
    MsTensor *x = T(0), *u[4], *y[3];
    int n = 0, dim = 0;
    if (!GIVEN(4)) {
        MS_TRY(ms_unique(x, u));
        y[n++] = u[0];
    } else {
        MS_TRY(ms__api_axis("unique", I(4), x->ndim, &dim));
        if (x->ndim == 0)
            return MS_FAIL(MS_ERROR_VALUE, "For 'unique', the input has no axis %lld.", (long long)I(4));
        MsTensor *rank = row_ranks(x, dim);
        MS_TRY(ms_unique(rank, u));
        y[n++] = ms_gather(x, u[3], dim);
    }
    if (I(2)) y[n++] = u[1];
    if (I(3)) y[n++] = u[2];
    return some(c, n, y);
}
/* Sorted in any case; `sorted=False` allows every order. */
MS_API(unique_mint, "mint.unique Tensor.unique",
       "(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, "
       "dim: int? = None) -> any")
{
    return unique_sorted(c);
}

/* Runs of equal neighbours: a run begins where an element differs from the one before. */
MS_API(unique_consecutive, "ops.unique_consecutive mint.unique_consecutive Tensor.unique_consecutive",
       "(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int? = None) -> any")
{
    MsTensor *x = T(0), *key, *y[3];
    int dim = 0, m = 0;
    if (GIVEN(3)) {
        MS_TRY(ms__api_axis("unique_consecutive", I(3), x->ndim, &dim));
        if (x->ndim == 0) return MS_FAIL(MS_ERROR_VALUE, "For 'unique_consecutive', the input has no axis.");
        key = row_ranks(x, dim);
    } else {
        key = ms_reshape(x, MS_INTS(x->numel));
    }
    if (!key) return ms_error()->code;
    int64_t n = key->numel;
    MsTensor *part[2] = {ms_full_int(MS_INTS(n > 0), 1, MS_BOOL), NULL};
    part[1] = n ? ms_ne(ms__narrowed(key, 0, n > 1, n - 1), ms__narrowed(key, 0, 0, n - 1)) : part[0];
    if (!part[0] || !part[1]) return ms_error()->code;
    MsTensor *begins = ms_concat(2, part, 0);
    MsTensor *at = ms_nonzero(begins);
    if (!at) return ms_error()->code;
    at = ms_reshape(at, MS_INTS(at->numel));
    y[m++] = ms_gather(GIVEN(3) ? x : ms_reshape(x, MS_INTS(n)), at, dim);
    if (I(1)) {
        MsTensor *run = ms_sub(ms_cumsum(ms_cast(begins, MS_INT64), 0, false, false),
                               ms_full_int(MS_INTS(1), 1, MS_INT64));
        y[m++] = GIVEN(3) ? run : ms_reshape(run, (MsInts){x->ndim, x->shape});
    }
    if (I(2)) {
        MsTensor *ends[2] = {at ? ms__narrowed(at, 0, at->numel > 0, at->numel > 0 ? at->numel - 1 : 0)
                                : NULL,
                             ms_full_int(MS_INTS(n > 0), n, MS_INT64)};
        y[m++] = ends[0] && ends[1] ? ms_sub(ms_concat(2, ends, 0), at) : NULL;
    }
    return some(c, m, y);
}

MS_API(unique_with_pad, "ops.unique_with_pad Tensor.unique_with_pad", "(x: Tensor, pad_num: number) -> any")
{
    MsTensor *x = T(0), *u[4], *o[2];
    if (x->ndim != 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'unique_with_pad', the input must be 1-d, but got %d dimensions.",
                       x->ndim);
    MS_TRY(ms_unique(x, u));
    MS_TRY(ms_sort(u[3], 0, false, true, o));
    int64_t m = o[1]->numel;
    MsTensor *rank = ms_put_along(o[1], o[1], ms_arange_int(0, 1, m, MS_INT64), 0, "set");
    MsTensor *part[2] = {
        ms_gather(u[0], o[1], 0),
        ms_broadcast_to(ms__number("unique_with_pad", ARG(1), ms_tensor_dtype(x)), MS_INTS(x->numel - m))};
    if (!part[0] || !part[1]) return ms_error()->code;
    MsTensor *y[2] = {ms_concat(2, part, 0), ms_gather(rank, u[1], 0)};
    return some(c, 2, y);
}

/* ---- counting ---- */

static MsStatus bincount(MsApiCall *c, MsDtype dtype)
{
    MsTensor *x = T(0), *w = T(1);
    int64_t least = 0, n = I(2);
    if (x->ndim != 1 || !ms_dtype_is_int(ms_tensor_dtype(x)) || n < 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'bincount', the input must be a 1-d tensor of integers and minlength >= 0.");
    if (x->numel > 0) {
        int64_t most;
        MS_TRY(ms_tensor_item_int(ms_reduce_max(x, MS_INTS_NONE, false), &most));
        MS_TRY(ms_tensor_item_int(ms_reduce_min(x, MS_INTS_NONE, false), &least));
        if (most >= n) n = most + 1;
    }
    if (least < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'bincount', the input must not be negative, but got %lld.",
                       (long long)least);
    if (w && (w->ndim != 1 || w->numel != x->numel))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'bincount', the weights must have the input's shape %s, but got %s.",
                       ms__shape_text(x->ndim, x->shape), ms__shape_text(w->ndim, w->shape));
    MsDtype d = w && ms_dtype_is_float(ms_tensor_dtype(w)) ? ms_tensor_dtype(w) : dtype;
    MsTensor *src = w ? ms__cast_to(w, d) : ms_full_int(MS_INTS(x->numel), 1, d);
    MsTensor *index = ms__cast_to(x, MS_INT64);
    MsTensor *y = ms_scatter_add(ms_full_int(MS_INTS(n), 0, d), index, src, 0);
    return R(dtype == MS_FLOAT32 ? ms__cast_to(y, dtype) : y);
}
MS_API(bincount, "ops.bincount Tensor.bincount",
       "(input: Tensor, weights: Tensor? = None, minlength: int = 0) -> Tensor")
{
    return bincount(c, MS_FLOAT32);
}
MS_API(bincount_mint, "mint.bincount",
       "(input: Tensor, weights: Tensor? = None, minlength: int = 0) -> Tensor")
{
    return bincount(c, MS_INT64);
}

MS_API(histc, "ops.histc mint.histc Tensor.histc",
       "(input: Tensor, bins: int = 100, min: number = 0, max: number = 0) -> Tensor")
{
    MsTensor *x = ms__cast_to(T(0), MS_FLOAT64);
    double lo = F(2), hi = F(3);
    int64_t n = I(1);
    MsInts none = {0, NULL};
    if (!x) return ms_error()->code;
    if (n <= 0 || !(lo <= hi))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'histc', bins must be positive and min not above max, but got %lld, %g, %g.",
                       (long long)n, lo, hi);
    if (lo == hi && x->numel > 0) {
        MS_TRY(ms_tensor_item(ms_reduce_min(x, MS_INTS_NONE, false), &lo));
        MS_TRY(ms_tensor_item(ms_reduce_max(x, MS_INTS_NONE, false), &hi));
    }
    if (!isfinite(lo) || !isfinite(hi))
        return MS_FAIL(MS_ERROR_VALUE, "For 'histc', the range [%g, %g] is not finite.", lo, hi);
    if (lo == hi) lo -= 1, hi += 1;
    x = ms_reshape(x, MS_INTS(x->numel));
    MsTensor *low = ms_full(none, lo, MS_FLOAT64), *high = ms_full(none, hi, MS_FLOAT64);
    MsTensor *inside = ms_logical_and(ms_ge(x, low), ms_le(x, high));
    MsTensor *bin = ms_div(ms_sub(x, low), ms_full(none, (hi - lo) / (double)n, MS_FLOAT64));
    bin = ms_cast(ms_where(inside, bin, ms_full(none, 0, MS_FLOAT64)), MS_INT64);
    bin = ms_minimum(bin, ms_full_int(none, n - 1, MS_INT64));
    MsDtype dtype = ms_dtype_is_float(ms_tensor_dtype(T(0))) ? ms_tensor_dtype(T(0)) : MS_FLOAT32;
    MsTensor *y = ms_scatter_add(ms_full_int(MS_INTS(n), 0, MS_INT64), bin, ms__cast_to(inside, MS_INT64), 0);
    return R(ms__cast_to(y, dtype));
}
