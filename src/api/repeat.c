/* repeat.c - rows that transpose by name or repeat elements. Repeats by a tensor of counts take each slice
 * for the positions between two running sums of the counts. */
#include "api/args.h"

#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* ---- reshape ---- */

/* ---- axes ---- */

static MsTensor *swapped(const char *op, MsTensor *t, int64_t a, int64_t b)
{
    int64_t perm[MS_MAX_DIM];
    int i, j;
    if (ms__api_axis(op, a, t->ndim, &i) != MS_OK || ms__api_axis(op, b, t->ndim, &j) != MS_OK) return NULL;
    for (int d = 0; d < t->ndim; d++) perm[d] = d == i ? j : d == j ? i : d;
    return ms_transpose(t, (MsInts){t->ndim, perm});
}

static MsTensor *reversed(MsTensor *t)
{
    int64_t perm[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++) perm[d] = t->ndim - 1 - d;
    return ms_transpose(t, (MsInts){t->ndim, perm});
}

MS_API(property_t, "Tensor.T", "(self: Tensor) -> Tensor")
{
    return R(reversed(T(0)));
}

MS_API(property_mt, "Tensor.mT", "(self: Tensor) -> Tensor")
{
    if (T(0)->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'mT', the tensor must have at least 2 dimensions, but got %d.",
                       T(0)->ndim);
    return R(swapped("mT", T(0), -2, -1));
}

MS_API(property_h, "Tensor.H", "(self: Tensor) -> Tensor")
{
    if (T(0)->ndim != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'H', the tensor must have 2 dimensions, but got %d.", T(0)->ndim);
    MsTensor *t = reversed(T(0));
    return R(t && ms_dtype_is_complex(ms_tensor_dtype(t)) ? ms_conj(t) : t);
}

MS_API(moveaxis, "ops.moveaxis ops.movedim Tensor.moveaxis Tensor.movedim",
       "(x: Tensor, source: any, destination: any) -> Tensor")
{
    MsTensor *t = T(0);
    VAR("movedim", 1, buf0, from);
    VAR("movedim", 2, buf1, to);
    if (from.n != to.n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'movedim', source and destination must have one length, but got %d and %d.",
                       from.n, to.n);
    int64_t perm[MS_MAX_DIM];
    uint32_t taken = 0, placed = 0;
    for (int k = 0; k < from.n; k++) {
        int a, b;
        MS_TRY(ms__api_axis("movedim", from.v[k], t->ndim, &a));
        MS_TRY(ms__api_axis("movedim", to.v[k], t->ndim, &b));
        if (taken >> a & 1 || placed >> b & 1)
            return MS_FAIL(MS_ERROR_VALUE, "For 'movedim', the axes must not repeat.");
        taken |= 1u << a, placed |= 1u << b;
        if (t->ndim) perm[b] = a;
    }
    for (int d = 0, a = 0; d < t->ndim; d++) {
        if (placed >> d & 1) continue;
        while (taken >> a & 1) a++;
        perm[d] = a++;
    }
    return R(ms_transpose(t, (MsInts){t->ndim, perm}));
}

/* ---- broadcasting and repeating ---- */

/* t repeated reps[d] times along each axis; the shorter of the two shapes gets leading ones. Goes axis by
 * axis, so that the rank never grows beyond one more. */
static MsTensor *tiled(const char *op, MsTensor *t, MsInts reps)
{
    int64_t shape[MS_MAX_DIM];
    int nd = t->ndim > reps.n ? t->ndim : reps.n;
    for (int d = 0; d < nd; d++) shape[d] = d < nd - t->ndim ? 1 : t->shape[d - (nd - t->ndim)];
    t = ms_reshape(t, (MsInts){nd, shape});
    for (int d = 0; d < reps.n && t; d++) {
        int axis = d + nd - reps.n;
        int64_t times = reps.v[d];
        if (times < 0)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the repeats must not be negative, but got %s.", op,
                                ms__shape_text(reps.n, reps.v));
        if (times == 1) continue;
        int64_t before = 1, after = 1, size = t->shape[axis];
        memcpy(shape, t->shape, sizeof shape);
        for (int k = 0; k < axis; k++) before *= shape[k];
        for (int k = axis + 1; k < nd; k++) after *= shape[k];
        shape[axis] *= times;
        t = ms_broadcast_to(ms_reshape(t, MS_INTS(before, 1, size * after)),
                            MS_INTS(before, times, size * after));
        t = ms_reshape(t, (MsInts){nd, shape});
    }
    return t;
}

MS_API(repeat_method, "Tensor.repeat", "(self: Tensor, *repeats: any) -> Tensor")
{
    VAR("repeat", 1, buf, reps);
    if (reps.n < T(0)->ndim)
        return MS_FAIL(MS_ERROR_VALUE, "For 'repeat', there must be at least %d repeats, but got %d.",
                       T(0)->ndim, reps.n);
    return R(tiled("repeat", T(0), reps));
}

static MsTensor *repeat_each(MsTensor *t, int axis, int64_t times)
{
    if (times < 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'repeat_interleave', repeats must not be negative, but got %lld.",
                            (long long)times);
    int64_t shape[MS_MAX_DIM], before = 1, after = 1;
    memcpy(shape, t->shape, sizeof shape);
    for (int d = 0; d <= axis; d++) before *= shape[d];
    for (int d = axis + 1; d < t->ndim; d++) after *= shape[d];
    shape[axis] *= times;
    MsTensor *y = ms_broadcast_to(ms_reshape(t, MS_INTS(before, 1, after)), MS_INTS(before, times, after));
    return ms_reshape(y, (MsInts){t->ndim, shape});
}

/* Slice k of the axis times[k] times. */
static MsTensor *repeat_each_of(MsTensor *t, int axis, const int64_t *times)
{
    int64_t total = 0, n = 0;
    for (int64_t k = 0; k < t->shape[axis]; k++) {
        if (times[k] < 0)
            return MS_FAIL_NULL(MS_ERROR_VALUE,
                                "For 'repeat_interleave', repeats must not be negative, but got %lld.",
                                (long long)times[k]);
        if (__builtin_add_overflow(total, times[k], &total) || ms__numel(1, &total) < 0)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'repeat_interleave', the repeats are too many.");
    }
    MsTensor *index = ms_tensor_empty(MS_INT64, 1, &total);
    int64_t *at = index ? ms_tensor_data(index) : NULL;
    if (!at && total) return NULL;
    for (int64_t k = 0; k < t->shape[axis]; k++)
        for (int64_t r = 0; r < times[k]; r++) at[n++] = k;
    return ms_gather(t, index, axis);
}

/* The repeats, an int, a list or a tensor of them, as numbers in memory to free. */
static int64_t *repeats(const MsArg *a, int64_t *n)
{
    int count;
    const MsArg *item = ms__arg_items(a, &count);
    bool whole = count == 1 && item->kind == MS_ARG_TENSOR;
    *n = whole ? item->t->numel : count;
    int64_t *times = ms__malloc((size_t)(*n ? *n : 1) * sizeof *times);
    if (!times) return NULL;
    MsStatus st = MS_OK;
    if (whole) {
        st =
            ms_dtype_is_int((MsDtype)item->t->dtype)
                ? ms__tensor_read(item->t, MS_INT64, times)
                : MS_FAIL(MS_ERROR_TYPE, "For 'repeat_interleave', the repeats must be integers, but got %s.",
                          ms_dtype_name((MsDtype)item->t->dtype));
    } else {
        for (int k = 0; k < count && st == MS_OK; k++) {
            if (item[k].kind == MS_ARG_TENSOR)
                st = ms_tensor_item_int(item[k].t, &times[k]);
            else if (item[k].kind == MS_ARG_INT)
                times[k] = item[k].i;
            else
                st = MS_FAIL(MS_ERROR_TYPE, "For 'repeat_interleave', the repeats must be integers.");
        }
    }
    if (st == MS_OK) return times;
    free(times);
    return NULL;
}

static MsStatus repeat_interleave(MsApiCall *c, const MsArg *axis_arg)
{
    MsTensor *t = T(0);
    int axis = 0;
    if (axis_arg->kind == MS_ARG_NONE)
        t = ms_reshape(t, MS_INTS(t->numel));
    else
        MS_TRY(ms__api_axis("repeat_interleave", axis_arg->i, t->ndim, &axis));
    if (!t) return ms_error()->code;
    if (t->ndim == 0) t = ms_reshape(t, MS_INTS(1));
    int64_t n = 0, *times = repeats(ARG(1), &n);
    if (!times) return ms_error()->code;
    MsStatus st = MS_OK;
    if (n != 1 && n != t->shape[axis])
        st = MS_FAIL(MS_ERROR_VALUE, "For 'repeat_interleave', %lld repeats do not fit an axis of size %lld.",
                     (long long)n, (long long)t->shape[axis]);
    else
        st = R(n == 1 ? repeat_each(t, axis, times[0]) : repeat_each_of(t, axis, times));
    free(times);
    return st;
}

MS_API(repeat_interleave, "ops.repeat_interleave",
       "(input: Tensor, repeats: any, axis: int? = None) -> Tensor")
{
    return repeat_interleave(c, ARG(2));
}
MS_API(repeat_interleave_dim, "mint.repeat_interleave Tensor.repeat_interleave",
       "(input: Tensor, repeats: any, dim: int? = None, *, output_size: int? = None) -> Tensor")
{
    MS_TRY(repeat_interleave(c, ARG(2)));
    if (!GIVEN(3)) return MS_OK;
    int axis = 0;
    if (GIVEN(2)) MS_TRY(ms__api_axis("repeat_interleave", I(2), c->out.t->ndim, &axis));
    if (c->out.t->shape[axis] == I(3)) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE,
                   "For 'repeat_interleave', the repeats add up to %lld, but 'output_size' is %lld.",
                   (long long)c->out.t->shape[axis], (long long)I(3));
}
MS_API(repeat_elements, "ops.repeat_elements", "(x: Tensor, rep: int, axis: int = 0) -> Tensor")
{
    int axis;
    if (T(0)->ndim == MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For repeat_elements, the rank of x should be less than or equal to %d, but got %d.",
                       MS_MAX_DIM - 1, T(0)->ndim);
    MS_TRY(ms__api_axis("repeat_elements", I(2), T(0)->ndim, &axis));
    return R(repeat_each(T(0), axis, I(1)));
}
