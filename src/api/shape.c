/* shape.c - public names that move elements: shapes, axes, joining and splitting, gathering and scattering.
 * The two families of the original differ in parameter names (axis, dim) and in a few defaults; the bodies
 * are shared. */
#include "api/args.h"
#include "op/view.h"

#include <string.h>

static int rank(const MsTensor *x)
{
    return ms_tensor_ndim(x);
}

/* The ints of argument k, where f(2, 3), f((2, 3)) and f([2, 3]) mean the same, and f(None) is f without. */
static MsInts collected(MsApiCall *c, int k, int64_t *buf)
{
    const MsArg *a = ARG(k);
    bool one = a->kind == MS_ARG_LIST && a->n == 1;
    if (one && (a->list[0].kind == MS_ARG_LIST || a->list[0].kind == MS_ARG_NONE)) a = &a->list[0];
    for (int j = 0; a->kind == MS_ARG_LIST && j < a->n; j++) {
        int kind = a->list[j].kind;
        if (kind == MS_ARG_INT || kind == MS_ARG_BOOL || kind == MS_ARG_TENSOR) continue;
        const char *row = strchr(c->row->names, '.') + 1, *name = strchr(c->row->sig, '*') + 1;
        MS_FAIL(MS_ERROR_TYPE, "%.*s(): argument '%.*s' (position %d) must be tuple of int, not %s.",
                (int)strcspn(row, " "), row, (int)strcspn(name, ":"), name, j + 1,
                kind == MS_ARG_FLOAT  ? "float"
                : kind == MS_ARG_STR  ? "string"
                : kind == MS_ARG_LIST ? "list"
                                      : "None");
        return (MsInts){-2, NULL};
    }
    return ms__arg_ints(a, buf);
}

static MsStatus axis_of(const char *op, int64_t axis, int nd, int *out)
{
    *out = 0;
    if (axis < -nd || axis >= nd)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the axis must be in [%d,%d), but got %lld.", op, -nd, nd,
                       (long long)axis);
    *out = (int)(axis < 0 ? axis + nd : axis);
    return MS_OK;
}

static MsTensor *reshape(MsTensor *x, MsInts s)
{
    if (s.n < 0)
        return ms__failed() ? NULL
                            : MS_FAIL_NULL(MS_ERROR_TYPE, "For 'reshape', the shape must not be None.");
    int64_t shape[MS_MAX_DIM], known = 1, n = ms_tensor_numel(x);
    int free_axis = -1;
    for (int d = 0; d < s.n; d++) {
        shape[d] = s.v[d];
        if (shape[d] == -1 && free_axis < 0)
            free_axis = d;
        else if (shape[d] < 0)
            return MS_FAIL_NULL(
                MS_ERROR_VALUE,
                "For 'reshape', the shape %s must have at most one -1 and no other negative size.",
                ms__shape_text(s.n, s.v));
        else
            known *= shape[d];
    }
    if (free_axis >= 0) shape[free_axis] = known ? n / known : 0;
    if (free_axis >= 0) known *= shape[free_axis];
    if (known != n || (free_axis >= 0 && known == 0 && n != 0))
        return MS_FAIL_NULL(MS_ERROR_VALUE, "proposed_shape '%s' is invalid for input of size %lld",
                            ms__shape_text(s.n, s.v), (long long)n);
    return ms_reshape(x, (MsInts){s.n, shape});
}

static MsTensor *permute(MsTensor *x, MsInts p)
{
    int64_t perm[MS_MAX_DIM];
    int nd = rank(x);
    if (p.n < 0 && ms__failed()) return NULL;
    if (p.n <= 0 && nd != 0) {
        for (int d = 0; d < nd; d++) perm[d] = nd - 1 - d;
        return ms_transpose(x, (MsInts){nd, perm});
    }
    if (p.n != nd) return ms_transpose(x, p);
    for (int d = 0; d < nd; d++) perm[d] = p.v[d] < 0 ? p.v[d] + nd : p.v[d];
    return ms_transpose(x, (MsInts){nd, perm});
}

static MsTensor *swap(MsTensor *x, int64_t a, int64_t b)
{
    int i, j, nd = rank(x);
    if (axis_of("swapaxes", a, nd, &i) != MS_OK || axis_of("swapaxes", b, nd, &j) != MS_OK) return NULL;
    int64_t perm[MS_MAX_DIM];
    for (int d = 0; d < nd; d++) perm[d] = d == i ? j : d == j ? i : d;
    return ms_transpose(x, (MsInts){nd, perm});
}

/* Drops the given axes of size 1; all of them without a list. A longer axis stays, as in the original. */
static MsTensor *squeeze(MsTensor *x, MsInts axes)
{
    if (!x) return NULL;
    int64_t shape[MS_MAX_DIM];
    int n = 0, nd = rank(x);
    uint32_t drop = axes.n < 0 ? ~0u : 0;
    if (axes.n < 0 && ms__failed()) return NULL;
    for (int k = 0; k < axes.n; k++) {
        int d;
        if (axis_of("squeeze", axes.v[k], nd ? nd : 1, &d) != MS_OK) return NULL;
        drop |= 1u << d;
    }
    for (int d = 0; d < nd; d++)
        if (!(drop >> d & 1) || ms_tensor_shape(x)[d] != 1) shape[n++] = ms_tensor_shape(x)[d];
    return ms_reshape(x, (MsInts){n, shape});
}

static MsTensor *unsqueeze(MsTensor *x, int64_t axis)
{
    int at, nd = rank(x);
    if (nd == MS_MAX_DIM)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'expand_dims', a tensor has at most %d dimensions.",
                            MS_MAX_DIM);
    if (axis_of("expand_dims", axis, nd + 1, &at) != MS_OK) return NULL;
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d <= nd; d++)
        shape[d] = d < at ? ms_tensor_shape(x)[d] : d == at ? 1 : ms_tensor_shape(x)[d - 1];
    return ms_reshape(x, (MsInts){nd + 1, shape});
}

static MsTensor *flatten(MsTensor *x, int64_t start, int64_t end)
{
    int a, b, nd = rank(x);
    int64_t one = 1;
    if (nd == 0) return ms_reshape(x, (MsInts){1, &one});
    if (start >= nd && start == 1) start = 0; /* the default start on one axis */
    if (axis_of("flatten", start, nd, &a) != MS_OK || axis_of("flatten", end, nd, &b) != MS_OK) return NULL;
    if (a > b)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'flatten', 'start_dim' %d must not be behind 'end_dim' %d.",
                            a, b);
    int64_t shape[MS_MAX_DIM];
    int n = 0;
    for (int d = 0; d < nd; d++) {
        if (d > a && d <= b)
            shape[n - 1] *= ms_tensor_shape(x)[d];
        else
            shape[n++] = ms_tensor_shape(x)[d];
    }
    return ms_reshape(x, (MsInts){n, shape});
}

/* -1 in the shape keeps the size. */
static MsTensor *expand(MsTensor *x, MsInts s)
{
    if (s.n < 0) return NULL;
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < s.n; d++) {
        int from = d - (s.n - rank(x));
        shape[d] = s.v[d] == -1 && from >= 0 ? ms_tensor_shape(x)[from] : s.v[d];
    }
    return ms_broadcast_to(x, (MsInts){s.n, shape});
}

/* Repeats of every axis, one after the other: broadcast along a new axis before it, then a reshape. */
static MsTensor *tile(MsTensor *x, MsInts reps)
{
    if (reps.n < 0) return NULL;
    while (rank(x) < reps.n)
        if (!(x = unsqueeze(x, 0))) return NULL;
    int nd = rank(x);
    for (int d = nd - reps.n; d < nd; d++) {
        int64_t times = reps.v[d - (nd - reps.n)], shape[MS_MAX_DIM], lead = 1, rest = 1;
        if (times < 0)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'tile', a repeat must not be negative, but got %lld.",
                                (long long)times);
        if (times == 1) continue;
        memcpy(shape, ms_tensor_shape(x), (size_t)nd * sizeof *shape);
        for (int k = 0; k < nd; k++) *(k < d ? &lead : &rest) *= shape[k];
        if (__builtin_mul_overflow(shape[d], times, &shape[d]))
            return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'tile', axis %d repeated %lld times is too long.", d,
                                (long long)times);
        x = ms_broadcast_to(ms_reshape(x, MS_INTS(lead, 1, rest)), MS_INTS(lead, times, rest));
        if (!(x = ms_reshape(x, (MsInts){nd, shape}))) return NULL;
    }
    return x;
}

/* ---- joining and splitting ---- */

/* Tensors of argument k brought to one dtype. */
static MsStatus tensors(MsApiCall *c, const char *op, int k, int *n, MsTensor **x)
{
    const MsArg *a = ARG(k);
    if (a->kind != MS_ARG_LIST || a->n == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', at least one tensor is needed.", op);
    if (a->n > 1024)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', at most 1024 tensors are taken, but got %d.", op, a->n);
    MsDtype d = MS_DTYPE_NONE;
    for (int i = 0; i < a->n; i++) {
        if (a->list[i].kind != MS_ARG_TENSOR)
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', element %d is not a Tensor.", op, i);
        x[i] = a->list[i].t;
        MsDtype own = ms_tensor_dtype(x[i]);
        d = i == 0 ? own : ms_dtype_promote(d, own);
        if (d == MS_DTYPE_NONE)
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', the dtypes of the tensors do not go together.", op);
    }
    for (int i = 0; i < a->n; i++)
        if (ms_tensor_dtype(x[i]) != d && !(x[i] = ms_cast(x[i], d))) return ms_error()->code;
    *n = a->n;
    return MS_OK;
}

static MsStatus concat(MsApiCall *c)
{
    MsTensor *x[1024];
    int n;
    MS_TRY(tensors(c, "concat", 0, &n, x));
    return R(ms_concat(n, x, I(1)));
}

static MsStatus stack(MsApiCall *c)
{
    MsTensor *x[1024];
    int n;
    MS_TRY(tensors(c, "stack", 0, &n, x));
    int64_t axis = I(1) < 0 ? I(1) + rank(x[0]) + 1 : I(1);
    for (int i = 0; i < n; i++) {
        if (rank(x[i]) != rank(x[0]) ||
            memcmp(ms_tensor_shape(x[i]), ms_tensor_shape(x[0]), (size_t)rank(x[0]) * sizeof(int64_t)))
            return MS_FAIL(MS_ERROR_VALUE, "For 'stack', all shapes must be equal, but got %s and %s.",
                           ms__shape_text(rank(x[0]), ms_tensor_shape(x[0])),
                           ms__shape_text(rank(x[i]), ms_tensor_shape(x[i])));
    }
    for (int i = 0; i < n; i++)
        if (!(x[i] = unsqueeze(x[i], axis))) return ms_error()->code;
    return R(ms_concat(n, x, axis));
}

static MsStatus pieces(MsApiCall *c, int axis, int n, const int64_t *size)
{
    MsTensor *out[n + 1];
    int64_t at = 0;
    for (int k = 0; k < n; k++) {
        if (!(out[k] = ms__narrow(T(0), axis, at, size[k]))) return ms_error()->code;
        at += size[k];
    }
    return ms__api_return_list(c, n, out);
}

/* split_size_or_sections: the size of a piece, or the sizes of all. */
static MsStatus split(MsApiCall *c)
{
    int axis;
    MS_TRY(axis_of("split", I(2), rank(T(0)), &axis));
    int64_t n = ms_tensor_shape(T(0))[axis], size[1024], total = 0;
    int count = 0;
    if (ARG(1)->kind == MS_ARG_INT) {
        if (I(1) <= 0)
            return MS_FAIL(MS_ERROR_VALUE, "For 'split', 'split_size_or_sections' must be > 0, but got %lld.",
                           (long long)I(1));
        if ((n + I(1) - 1) / I(1) > 1024)
            return MS_FAIL(MS_ERROR_VALUE, "For 'split', there would be more than 1024 pieces.");
        for (int64_t at = 0; at < n || count == 0; at += I(1)) size[count++] = n - at < I(1) ? n - at : I(1);
    } else {
        if (ARG(1)->kind != MS_ARG_LIST || ARG(1)->n > 1024)
            return MS_FAIL(
                MS_ERROR_TYPE,
                "For 'split', 'split_size_or_sections' must be int or a list of at most 1024 int.");
        for (; count < ARG(1)->n; total += size[count++]) {
            size[count] = ARG(1)->list[count].i;
            if (ARG(1)->list[count].kind != MS_ARG_INT || size[count] < 0)
                return MS_FAIL(MS_ERROR_VALUE, "For 'split', the sizes must be int and not negative.");
        }
        if (total != n)
            return MS_FAIL(MS_ERROR_VALUE, "For 'split', the sizes must add up to %lld, but give %lld.",
                           (long long)n, (long long)total);
    }
    return pieces(c, axis, count, size);
}

static MsStatus chunk(MsApiCall *c)
{
    int axis, count = 0;
    MS_TRY(axis_of("chunk", I(2), rank(T(0)), &axis));
    if (I(1) <= 0 || I(1) > 1024)
        return MS_FAIL(MS_ERROR_VALUE, "For 'chunk', 'chunks' must be in [1, 1024], but got %lld.",
                       (long long)I(1));
    int64_t n = ms_tensor_shape(T(0))[axis], each = (n + I(1) - 1) / I(1), size[1024];
    for (int64_t at = 0; at < n || count == 0; at += each) size[count++] = n - at < each ? n - at : each;
    return pieces(c, axis, count, size);
}

static MsStatus unbind(MsApiCall *c)
{
    int axis;
    MS_TRY(axis_of("unbind", I(1), rank(T(0)), &axis));
    int64_t n = ms_tensor_shape(T(0))[axis], drop = axis;
    if (n > 1024) return MS_FAIL(MS_ERROR_VALUE, "For 'unbind', there would be more than 1024 pieces.");
    MsTensor *out[1024];
    for (int64_t k = 0; k < n; k++)
        if (!(out[k] = squeeze(ms__narrow(T(0), axis, k, 1), (MsInts){1, &drop}))) return ms_error()->code;
    return ms__api_return_list(c, (int)n, out);
}

/* ---- gathering and scattering ---- */

static MsTensor *indices(MsTensor *x)
{
    MsDtype d = x ? ms_tensor_dtype(x) : MS_DTYPE_NONE;
    if (d == MS_INT32 || d == MS_INT64 || !x) return x;
    if (!ms_dtype_is_int(d))
        return MS_FAIL_NULL(MS_ERROR_TYPE, "An index tensor must be of integers, but got %s.",
                            ms_dtype_name(d));
    return ms_cast(x, MS_INT64);
}

static MsTensor *like(MsTensor *v, MsTensor *x)
{
    return v && ms_tensor_dtype(v) != ms_tensor_dtype(x) ? ms_cast(v, ms_tensor_dtype(x)) : v;
}

static MsStatus one_hot(MsApiCall *c)
{
    MsTensor *x = indices(T(0)), *on = ms__arg_tensor(ARG(2), NULL), *off = ms__arg_tensor(ARG(3), on);
    if (!x || !on || !off) return ms_error()->code;
    if (I(1) < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'one_hot', 'depth' must not be negative, but got %lld.",
                       (long long)I(1));
    MsTensor *range = ms_arange_int(0, 1, I(1), ms_tensor_dtype(x));
    int nd = rank(x);
    int axis;
    MS_TRY(axis_of("one_hot", I(4), nd + 1, &axis));
    MsTensor *hit = ms_eq(unsqueeze(x, nd), range);
    return R(ms__move_axis(ms_where(hit, on, like(off, on)), nd, axis));
}

static MsStatus fill(MsApiCall *c)
{
    MsTensor *x = T(0), *v = like(ms__arg_tensor(ARG(2), x), x);
    if (ms_tensor_ndim(v) > 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'masked_fill', the value must have no dimensions, but got shape %s.",
                       ms__shape_text(v->ndim, v->shape));
    return R(ms_where(T(1), v, x));
}

static MsStatus masked(MsApiCall *c)
{
    MsTensor *x = T(0), *m = T(1);
    MsTensor *both = ms_logical_or(m, ms_full((MsInts){rank(x), ms_tensor_shape(x)}, 0, MS_BOOL));
    if (!both) return ms_error()->code;
    m = ms_broadcast_to(m, shape_of(both));
    x = ms_broadcast_to(x, shape_of(both));
    int64_t n = ms_tensor_numel(both);
    MsTensor *at = ms_nonzero(ms_reshape(m, (MsInts){1, &n}));
    if (!at) return ms_error()->code;
    int64_t k = ms_tensor_numel(at);
    return R(ms_gather(ms_reshape(x, (MsInts){1, &n}), ms_reshape(at, (MsInts){1, &k}), 0));
}

/* torch.scatter with a number or tensor. */
static MsStatus put(MsApiCall *c, const char *mode)
{
    MsTensor *i = indices(T(2)), *v = ms__arg_tensor(ARG(3), T(0));
    if (!i || !v) return ms_error()->code;
    v = like(v, T(0));
    if (ARG(3)->kind != MS_ARG_TENSOR) v = ms_broadcast_to(v, shape_of(i));
    return R(ms_put_along(T(0), i, v, I(1), mode));
}

static MsTensor *roll_axis(MsTensor *x, int64_t shift, int axis)
{
    int64_t n = x ? ms_tensor_shape(x)[axis] : 0;
    if (n == 0) return x;
    shift = (shift % n + n) % n;
    if (shift == 0) return x;
    MsTensor *part[2] = {ms__narrow(x, axis, n - shift, shift), ms__narrow(x, axis, 0, n - shift)};
    return ms_concat(2, part, axis);
}

static MsStatus roll(MsApiCall *c)
{
    int64_t a[MS_MAX_DIM], b[MS_MAX_DIM], n = ms_tensor_numel(T(0));
    MsInts shifts = INTS(1, a), dims = INTS(2, b);
    if (shifts.n == -2 || dims.n == -2) return ms_error()->code;
    if (dims.n < 0) {
        MsTensor *flat = roll_axis(ms_reshape(T(0), (MsInts){1, &n}), shifts.n > 0 ? shifts.v[0] : 0, 0);
        return R(ms_reshape(flat, shape_of(T(0))));
    }
    if (shifts.n != dims.n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'roll', 'shifts' and 'dims' must have one length, but got %d and %d.", shifts.n,
                       dims.n);
    MsTensor *x = T(0);
    for (int k = 0; k < dims.n; k++) {
        int axis;
        MS_TRY(axis_of("roll", dims.v[k], rank(T(0)), &axis));
        x = roll_axis(x, shifts.v[k], axis);
    }
    return R(x);
}

/* ---- order ---- */

static MsStatus sorted(MsApiCall *c, int64_t axis, bool descending, bool stable, MsDtype index)
{
    MsTensor *out[2];
    MS_TRY(ms_sort(T(0), axis, descending, stable, out));
    if (index != MS_INT64) out[1] = ms_cast(out[1], index);
    return ms__api_return_list(c, 2, out);
}

static MsStatus order(MsApiCall *c, int64_t axis, bool descending, bool stable, MsDtype index)
{
    MsTensor *out[2];
    MS_TRY(ms_sort(T(0), axis, descending, stable, out));
    return R(index != MS_INT64 ? ms_cast(out[1], index) : out[1]);
}

static MsStatus topk(MsApiCall *c, MsDtype index)
{
    MsTensor *out[2];
    MS_TRY(ms_topk(T(0), I(1), GIVEN(2) ? I(2) : -1, I(3), I(4), out));
    if (index != MS_INT64) out[1] = ms_cast(out[1], index);
    return ms__api_return_list(c, 2, out);
}

static MsStatus running(MsApiCall *c, MsTensor *(*f)(MsTensor *, int64_t, bool, bool), MsDtype natural)
{
    MsTensor *x = T(0);
    MsDtype d = GIVEN(2) ? DTYPE(2) : natural != MS_DTYPE_NONE ? natural : ms_tensor_dtype(x);
    if (d != ms_tensor_dtype(x)) x = ms_cast(x, d);
    if (!GIVEN(1))
        return R(x ? f(ms_reshape(x, MS_INTS(x->numel)), 0, false, false) : NULL); /* of all elements */
    return R(f(x, I(1), false, false));
}

static MsStatus nonzero(MsApiCall *c)
{
    MsTensor *at = ms_nonzero(T(0));
    if (!at || !I(1)) return R(at);
    MsTensor *out[MS_MAX_DIM];
    int nd = rank(T(0));
    int64_t n = ms_tensor_shape(at)[0];
    for (int d = 0; d < nd; d++)
        if (!(out[d] = ms_reshape(ms__narrow(at, 1, d, 1), (MsInts){1, &n}))) return ms_error()->code;
    return ms__api_return_list(c, nd, out);
}

static MsStatus narrow(MsApiCall *c)
{
    int axis;
    MS_TRY(axis_of("narrow", I(1), rank(T(0)), &axis));
    int64_t n = ms_tensor_shape(T(0))[axis], start = I(2) < 0 ? I(2) + n : I(2);
    if (start < 0 || I(3) < 0 || start + I(3) > n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'narrow', start %lld and length %lld leave the axis of size %lld.",
                       (long long)I(2), (long long)I(3), (long long)n);
    return R(ms__narrow(T(0), axis, start, I(3)));
}

MS_API(shape_1_reshape, "ops.reshape mint.reshape", "(input: Tensor, shape: ints) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(reshape(T(0), INTS(1, buf)));
}

MS_API(shape_2_reshape, "Tensor.reshape Tensor.view", "(self: Tensor, *shape: any) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(reshape(T(0), collected(c, 1, buf)));
}

MS_API(shape_3_view_as, "ops.view_as Tensor.view_as Tensor.reshape_as",
       "(input: Tensor, other: Tensor) -> Tensor")
{
    return R(reshape(T(0), shape_of(T(1))));
}

MS_API(shape_4_transpose, "ops.transpose", "(input: Tensor, dims: ints) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(permute(T(0), INTS(1, buf)));
}

MS_API(shape_5_transpose, "mint.transpose", "(input: Tensor, dim0: int, dim1: int) -> Tensor")
{
    return R(swap(T(0), I(1), I(2)));
}

/* Two numbers are two axes to swap; every other way gives a permutation. */
MS_API(shape_6_transpose, "Tensor.transpose", "(self: Tensor, *axes: any) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    bool two = ARG(1)->kind == MS_ARG_LIST && ARG(1)->n == 2 && ARG(1)->list[0].kind == MS_ARG_INT &&
               ARG(1)->list[1].kind == MS_ARG_INT;
    if (two && !ARG(1)->tuple) return R(swap(T(0), ARG(1)->list[0].i, ARG(1)->list[1].i));
    return R(permute(T(0), collected(c, 1, buf)));
}
MS_API_ALSO(shape_6_transpose_dim, shape_5_transpose, "Tensor.transpose",
            "(input: Tensor, dim0: int, dim1: int) -> Tensor")

MS_API(shape_6_permute, "Tensor.permute", "(self: Tensor, *axes: any) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(permute(T(0), collected(c, 1, buf)));
}
MS_API_ALSO(shape_6_permute_dims, shape_6_permute, "Tensor.permute", "(self: Tensor, dims: any) -> Tensor")

/* Unlike a transpose, which reverses the axes when none is named. */
static MsStatus reordered(MsApiCall *c)
{
    int64_t buf[MS_MAX_DIM];
    MsInts dims = INTS(1, buf);
    if (dims.n >= 0 && dims.n != rank(T(0)))
        return MS_FAIL(MS_ERROR_VALUE, "For 'permute', there must be %d axes, but got %d.", rank(T(0)),
                       dims.n);
    return R(permute(T(0), dims));
}
MS_API(shape_7_permute, "ops.permute", "(input: Tensor, axis: ints) -> Tensor")
{
    return reordered(c);
}

MS_API(shape_8_permute, "mint.permute", "(input: Tensor, dims: ints) -> Tensor")
{
    return reordered(c);
}

MS_API(shape_9_swapaxes, "ops.swapaxes mint.swapaxes Tensor.swapaxes",
       "(input: Tensor, axis0: int, axis1: int) -> Tensor")
{
    return R(swap(T(0), I(1), I(2)));
}

MS_API(shape_10_swapdims, "ops.swapdims Tensor.swapdims", "(input: Tensor, dim0: int, dim1: int) -> Tensor")
{
    return R(swap(T(0), I(1), I(2)));
}

MS_API(shape_11_squeeze, "ops.squeeze", "(input: Tensor, axis: ints = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(squeeze(T(0), INTS(1, buf)));
}

MS_API(shape_12_squeeze, "mint.squeeze", "(input: Tensor, dim: ints = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(squeeze(T(0), INTS(1, buf)));
}

MS_API(shape_13_squeeze, "Tensor.squeeze", "(self: Tensor, *axis: any) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts a = collected(c, 1, buf);
    return R(squeeze(T(0), a.n == 0 ? MS_INTS_NONE : a));
}

MS_API(shape_14_unsqueeze, "ops.unsqueeze mint.unsqueeze Tensor.unsqueeze",
       "(input: Tensor, dim: int) -> Tensor")
{
    return R(unsqueeze(T(0), I(1)));
}

MS_API(shape_15_expand_dims, "ops.expand_dims", "(input_x: Tensor, axis: int) -> Tensor")
{
    return R(unsqueeze(T(0), I(1)));
}

MS_API(shape_16_expand_dims, "Tensor.expand_dims", "(self: Tensor, axis: int) -> Tensor")
{
    return R(unsqueeze(T(0), I(1)));
}

MS_API(shape_17_flatten, "ops.flatten",
       "(input: Tensor, order: str = 'C', *, start_dim: int = 1, end_dim: int = -1) -> Tensor")
{
    if (strcmp(ARG(1)->s, "C") != 0 && strcmp(ARG(1)->s, "F") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'flatten', 'order' must be 'C' or 'F', but got '%s'.", ARG(1)->s);
    MsTensor *x = strcmp(ARG(1)->s, "F") == 0 ? permute(T(0), MS_INTS_NONE) : T(0);
    return R(x ? flatten(x, I(2), I(3)) : NULL);
}

MS_API(shape_18_flatten, "mint.flatten Tensor.flatten",
       "(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor")
{
    return R(flatten(T(0), I(1), I(2)));
}

MS_API(shape_19_flatten, "Tensor.flatten",
       "(input: Tensor, order: str = 'C', *, start_dim: int = 0, end_dim: int = -1) -> Tensor")
{
    if (strcmp(ARG(1)->s, "C") != 0 && strcmp(ARG(1)->s, "F") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'flatten', 'order' must be 'C' or 'F', but got '%s'.", ARG(1)->s);
    MsTensor *x = strcmp(ARG(1)->s, "F") == 0 ? permute(T(0), MS_INTS_NONE) : T(0);
    return R(x ? flatten(x, I(2), I(3)) : NULL);
}

MS_API(shape_20_ravel, "ops.ravel mint.ravel Tensor.ravel", "(input: Tensor) -> Tensor")
{
    return R(flatten(T(0), 0, -1));
}

MS_API(shape_21_tile, "ops.tile mint.tile Tensor.tile", "(input: Tensor, dims: ints) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(tile(T(0), INTS(1, buf)));
}

MS_API(shape_22_tile, "Tensor.tile", "(self: Tensor, reps: ints) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(tile(T(0), INTS(1, buf)));
}

MS_API(shape_23_broadcast_to, "ops.broadcast_to mint.broadcast_to", "(input: Tensor, shape: ints) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(expand(T(0), INTS(1, buf)));
}

MS_API(shape_24_broadcast_to, "Tensor.broadcast_to Tensor.expand", "(self: Tensor, *shape: any) -> Tensor")
{
    VAR("broadcast_to", 1, buf, shape);
    return R(expand(T(0), shape));
}

MS_API(shape_25_expand, "ops.expand", "(input_x: Tensor, size: any) -> Tensor")
{
    VAR("expand", 1, buf, size);
    return R(expand(T(0), size));
}

MS_API(shape_26_expand_as, "ops.expand_as Tensor.expand_as", "(input: Tensor, other: Tensor) -> Tensor")
{
    return R(ms_broadcast_to(T(0), shape_of(T(1))));
}
MS_API_ALSO(shape_26_expand_as_x, shape_26_expand_as, "Tensor.expand_as",
            "(input: Tensor, x: Tensor) -> Tensor")

MS_API(shape_27_concat, "ops.concat ops.cat", "(tensors: Tensor[], axis: int = 0) -> Tensor")
{
    return concat(c);
}

MS_API(shape_28_concat, "mint.concat mint.cat", "(tensors: Tensor[], dim: int = 0) -> Tensor")
{
    return concat(c);
}

MS_API(shape_29_stack, "ops.stack", "(tensors: Tensor[], axis: int = 0) -> Tensor")
{
    return stack(c);
}

MS_API(shape_30_stack, "mint.stack", "(tensors: Tensor[], dim: int = 0) -> Tensor")
{
    return stack(c);
}

MS_API(shape_31_split, "ops.split", "(tensor: Tensor, split_size_or_sections: any, axis: int = 0) -> Tensor")
{
    return split(c);
}

MS_API(shape_32_split, "mint.split", "(tensor: Tensor, split_size_or_sections: any, dim: int = 0) -> Tensor")
{
    return split(c);
}

MS_API(shape_33_split, "Tensor.split", "(self: Tensor, split_size_or_sections: any, axis: int = 0) -> Tensor")
{
    return split(c);
}
MS_API_ALSO(shape_33_split_dim, shape_33_split, "Tensor.split",
            "(self: Tensor, split_size: any, dim: int = 0) -> Tensor")

MS_API(shape_34_chunk, "ops.chunk Tensor.chunk", "(input: Tensor, chunks: int, axis: int = 0) -> Tensor")
{
    return chunk(c);
}

MS_API(shape_35_chunk, "mint.chunk Tensor.chunk", "(input: Tensor, chunks: int, dim: int = 0) -> Tensor")
{
    return chunk(c);
}

MS_API(shape_36_unbind, "ops.unbind mint.unbind Tensor.unbind", "(input: Tensor, dim: int = 0) -> Tensor")
{
    return unbind(c);
}

MS_API(shape_37_unstack, "ops.unstack", "(input_x: Tensor, axis: int = 0) -> Tensor")
{
    return unbind(c);
}

MS_API(shape_38_narrow, "ops.narrow", "(input: Tensor, axis: int, start: int, length: int) -> Tensor")
{
    return narrow(c);
}

MS_API(shape_39_narrow, "mint.narrow Tensor.narrow",
       "(input: Tensor, dim: int, start: int, length: int) -> Tensor")
{
    return narrow(c);
}

MS_API(shape_40_select, "ops.select",
       "(condition: Tensor, input: Tensor|number, other: Tensor|number) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 1, 2, &x, &y));
    return R(ms_where(T(0), x, y));
}

MS_API(shape_40_select_method, "Tensor.select",
       "(self: Tensor, condition: Tensor, y: Tensor|number) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 2, &x, &y));
    return R(ms_where(T(1), x, y));
}

MS_API(shape_41_select, "mint.select Tensor.select", "(input: Tensor, dim: int, index: int) -> Tensor")
{
    int axis;
    MS_TRY(axis_of("select", I(1), rank(T(0)), &axis));
    int64_t n = ms_tensor_shape(T(0))[axis], at = I(2) < 0 ? I(2) + n : I(2), drop = axis;
    if (at < 0 || at >= n)
        return MS_FAIL(MS_ERROR_INDEX, "index %lld is out of bounds for dimension with size %lld",
                       (long long)I(2), (long long)n);
    return R(squeeze(ms__narrow(T(0), axis, at, 1), (MsInts){1, &drop}));
}

/* Whole slices along an axis; the first batch_dims axes of x and index go together: as take_along of the axis
 * with index repeated over the axes before and after it. */
static MsStatus gather(MsApiCall *c)
{
    MsTensor *x = T(0), *at = indices(T(1));
    if (!at) return ms_error()->code;
    if (I(3) == 0) return R(ms_gather(x, at, I(2)));
    int axis, nd = rank(x), ni = rank(at);
    MS_TRY(axis_of("gather", I(2), nd, &axis));
    int64_t b = I(3) < 0 ? I(3) + ni : I(3), n[4] = {1, 1, 1, 1}, m = 1, shape[2 * MS_MAX_DIM];
    if (b < 0 || b > axis || b > ni)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'gather', 'batch_dims' must be in [0, %d], not above axis and the index's rank, "
                       "but got %lld.",
                       ni < axis ? ni : axis, (long long)I(3));
    const int64_t *xs = ms_tensor_shape(x), *is = ms_tensor_shape(at);
    for (int d = 0; d < b; d++)
        if (xs[d] != is[d])
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For 'gather', the first %lld axes of input and index must agree, but got %s and %s.",
                (long long)b, ms__shape_text(nd, xs), ms__shape_text(ni, is));
    int k = 0;
    for (int d = 0; d < nd; d++) n[d < b ? 0 : d < axis ? 1 : d == axis ? 2 : 3] *= xs[d];
    for (int d = 0; d < axis; d++) shape[k++] = xs[d];
    for (int d = (int)b; d < ni; d++) shape[k++] = is[d], m *= is[d];
    for (int d = axis + 1; d < nd; d++) shape[k++] = xs[d];
    if (k > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For 'gather', the result has more than %d axes.", MS_MAX_DIM);
    at = ms_broadcast_to(ms_reshape(at, MS_INTS(n[0], 1, m, 1)), MS_INTS(n[0], n[1], m, n[3]));
    return R(ms_reshape(ms_take_along(ms_reshape(x, (MsInts){4, n}), at, 2), (MsInts){k, shape}));
}

MS_API(shape_42_gather, "ops.gather",
       "(input_params: Tensor, input_indices: Tensor, axis: int, batch_dims: int = 0) -> Tensor")
{
    return gather(c);
}

MS_API(shape_43_gather, "mint.gather Tensor.gather", "(input: Tensor, dim: int, index: Tensor) -> Tensor")
{
    return R(ms_take_along(T(0), indices(T(2)), I(1)));
}

MS_API(shape_44_gather, "Tensor.gather",
       "(self: Tensor, input_indices: Tensor, axis: int, batch_dims: int = 0) -> Tensor")
{
    return gather(c);
}

MS_API(shape_45_gather_elements, "ops.gather_elements Tensor.gather_elements",
       "(input: Tensor, dim: int, index: Tensor) -> Tensor")
{
    return R(ms_take_along(T(0), indices(T(2)), I(1)));
}

MS_API(shape_46_gather_d, "ops.gather_d", "(x: Tensor, dim: int, index: Tensor) -> Tensor")
{
    return R(ms_take_along(T(0), indices(T(2)), I(1)));
}

MS_API(shape_47_gather_nd, "ops.gather_nd Tensor.gather_nd", "(input_x: Tensor, indices: Tensor) -> Tensor")
{
    return R(ms_gather_nd(T(0), indices(T(1))));
}

static MsStatus index_select(MsApiCall *c)
{
    if (rank(T(2)) > 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'index_select', the index must have at most 1 dimension, but got %d.",
                       rank(T(2)));
    return R(ms_gather(T(0), indices(T(2)), I(1)));
}
MS_API(shape_48_index_select, "ops.index_select Tensor.index_select",
       "(input: Tensor, axis: int, index: Tensor) -> Tensor")
{
    return index_select(c);
}

MS_API(shape_49_index_select, "mint.index_select Tensor.index_select",
       "(input: Tensor, dim: int, index: Tensor) -> Tensor")
{
    return index_select(c);
}

MS_API(shape_50_masked_select, "ops.masked_select mint.masked_select Tensor.masked_select",
       "(input: Tensor, mask: Tensor) -> Tensor")
{
    return masked(c);
}

MS_API(shape_51_masked_fill, "ops.masked_fill",
       "(input_x: Tensor, mask: Tensor, value: Tensor|number) -> Tensor")
{
    return fill(c);
}

MS_API(shape_52_masked_fill, "mint.masked_fill Tensor.masked_fill",
       "(input: Tensor, mask: Tensor, value: Tensor|number) -> Tensor")
{
    return fill(c);
}

MS_API(shape_53_scatter, "ops.scatter Tensor.scatter",
       "(input: Tensor, axis: int, index: Tensor, src: Tensor|number) -> Tensor")
{
    return put(c, "set");
}

MS_API(shape_54_scatter, "mint.scatter Tensor.scatter",
       "(input: Tensor, dim: int, index: Tensor, src: Tensor|number) -> Tensor")
{
    return put(c, "set");
}

MS_API(shape_55_scatter_add, "mint.scatter_add Tensor.scatter_add",
       "(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor")
{
    return put(c, "add");
}

MS_API(
    shape_56_tensor_scatter_elements, "ops.tensor_scatter_elements Tensor.tensor_scatter_elements",
    "(input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = 'none') -> Tensor")
{
    if (strcmp(ARG(4)->s, "none") != 0 && strcmp(ARG(4)->s, "add") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'tensor_scatter_elements', 'reduction' must be 'none' or 'add', but got '%s'.",
                       ARG(4)->s);
    return R(ms_put_along(T(0), indices(T(1)), like(T(2), T(0)), I(3),
                          strcmp(ARG(4)->s, "add") == 0 ? "add" : "set"));
}

MS_API(shape_57_tensor_scatter_update,
       "ops.tensor_scatter_update ops.scatter_nd_update Tensor.scatter_nd_update",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return R(ms_scatter_nd(T(0), indices(T(1)), like(T(2), T(0)), "set"));
}

MS_API(shape_58_tensor_scatter_add, "ops.tensor_scatter_add Tensor.tensor_scatter_add",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return R(ms_scatter_nd(T(0), indices(T(1)), like(T(2), T(0)), "add"));
}
MS_API_ALSO(shape_58_scatter_add, shape_58_tensor_scatter_add, "Tensor.scatter_add",
            "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")

MS_API(shape_59_tril, "ops.tril mint.tril Tensor.tril", "(input: Tensor, diagonal: int = 0) -> Tensor")
{
    return R(ms_tril(T(0), I(1)));
}

MS_API(shape_60_triu, "ops.triu mint.triu Tensor.triu", "(input: Tensor, diagonal: int = 0) -> Tensor")
{
    return R(ms_triu(T(0), I(1)));
}

MS_API(shape_61_one_hot, "ops.one_hot",
       "(indices: Tensor, depth: int, on_value: Tensor|number = 1, off_value: Tensor|number = 0, axis: int = "
       "-1) -> Tensor")
{
    return one_hot(c);
}

MS_API(shape_62_roll, "mint.roll ops.roll Tensor.roll",
       "(input: Tensor, shifts: ints, dims: ints = None) -> Tensor")
{
    return roll(c);
}

MS_API(shape_63_flip, "ops.flip mint.flip Tensor.flip", "(input: Tensor, dims: ints) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts a = INTS(1, buf);
    if (a.n < 0) return ms_error()->code;
    return R(a.n ? ms_flip(T(0), a) : T(0)); /* the operator takes no axes as all of them */
}

MS_API(shape_64_sort, "ops.sort", "(input_x: Tensor, axis: int = -1, descending: bool = False) -> Tensor")
{
    return sorted(c, I(1), I(2), false, MS_INT32);
}

MS_API(shape_65_sort, "Tensor.sort", "(self: Tensor, axis: int = -1, descending: bool = False) -> Tensor")
{
    return sorted(c, I(1), I(2), false, MS_INT32);
}

MS_API(shape_66_sort, "mint.sort",
       "(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor")
{
    return sorted(c, I(1), I(2), I(3), MS_INT64);
}

MS_API(shape_66_sort_method, "Tensor.sort",
       "(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor")
{
    return sorted(c, I(1), I(2), I(3), MS_INT32);
}

MS_API(shape_67_argsort, "ops.argsort Tensor.argsort",
       "(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor")
{
    return order(c, I(1), I(2), false, MS_INT32);
}

MS_API(shape_67_argsort_dim, "Tensor.argsort",
       "(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor")
{
    return order(c, I(1), I(2), I(3), MS_INT32);
}

MS_API(shape_68_argsort, "mint.argsort",
       "(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor")
{
    return order(c, I(1), I(2), I(3), MS_INT64);
}

MS_API(shape_69_topk, "ops.topk Tensor.topk",
       "(input: Tensor, k: int, dim: int = None, largest: bool = True, sorted: bool = True) -> Tensor")
{
    return topk(c, MS_INT32);
}

MS_API(shape_70_topk, "mint.topk",
       "(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Tensor")
{
    return topk(c, MS_INT64);
}

MS_API(shape_71_cumsum, "ops.cumsum", "(x: Tensor, axis: int, dtype: dtype = None) -> Tensor")
{
    return running(c, ms_cumsum, MS_DTYPE_NONE);
}

MS_API(shape_72_cumsum, "mint.cumsum", "(input: Tensor, dim: int, dtype: dtype = None) -> Tensor")
{
    return running(c, ms_cumsum, is_exact(T(0)) ? MS_INT64 : MS_DTYPE_NONE);
}

MS_API(shape_73_cumsum, "Tensor.cumsum", "(self: Tensor, axis: int = None, dtype: dtype = None) -> Tensor")
{
    MsDtype d = ms_tensor_dtype(T(0));
    bool narrow = d == MS_BOOL || d == MS_INT8 || d == MS_INT16 || d == MS_UINT8;
    return running(c, ms_cumsum, narrow ? MS_INT32 : MS_DTYPE_NONE);
}
MS_API_ALSO(shape_73_cumsum_dim, shape_73_cumsum, "Tensor.cumsum",
            "(self: Tensor, dim: int, *, dtype: dtype = None) -> Tensor")

MS_API(shape_74_cumprod, "ops.cumprod mint.cumprod Tensor.cumprod",
       "(input: Tensor, dim: int, dtype: dtype = None) -> Tensor")
{
    return running(c, ms_cumprod, is_exact(T(0)) ? MS_INT64 : MS_DTYPE_NONE);
}

MS_API(shape_75_nonzero, "ops.nonzero mint.nonzero Tensor.nonzero",
       "(input: Tensor, *, as_tuple: bool = False) -> Tensor")
{
    return nonzero(c);
}

MS_API(shape_79_contiguous, "Tensor.contiguous", "(self: Tensor) -> Tensor")
{
    return R(ms_contiguous(T(0)));
}

MS_API(shape_80_clone, "mint.clone Tensor.clone Tensor.copy", "(input: Tensor) -> Tensor")
{
    return R(ms_copy(T(0)));
}
