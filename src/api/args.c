/* args.c - arguments of rows as integers and tensors, and the small steps that rows are made of. */
#include "api/args.h"

#include "op/random.h"

#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

const MsArg *ms__arg_items(const MsArg *a, int *n)
{
    if (a->kind != MS_ARG_LIST) {
        *n = a->kind == MS_ARG_NONE ? 0 : 1;
        return a;
    }
    if (a->n == 1 && a->list[0].kind == MS_ARG_LIST) a = &a->list[0];
    *n = a->n;
    return a->list;
}

MsInts ms__arg_var(const char *op, const MsArg *a, int64_t *buf)
{
    int n;
    const MsArg *item = ms__arg_items(a, &n);
    if (n == 1 && item->kind == MS_ARG_TENSOR && ms_tensor_ndim(item->t) == 1) {
        MsTensor *t = item->t;
        n = (int)ms_tensor_numel(t);
        if (n <= MS_MAX_DIM && ms__tensor_read(t, MS_INT64, buf) != MS_OK) return (MsInts){-2, NULL};
    } else {
        for (int k = 0; k < n && n <= MS_MAX_DIM; k++) {
            if (item[k].kind == MS_ARG_INT) {
                buf[k] = item[k].i;
            } else if (item[k].kind == MS_ARG_TENSOR) {
                if (ms_tensor_item_int(item[k].t, &buf[k]) != MS_OK) return (MsInts){-2, NULL};
            } else {
                MS_FAIL(MS_ERROR_TYPE, "For '%s', the sizes and axes must be integers.", op);
                return (MsInts){-2, NULL};
            }
        }
    }
    if (n <= MS_MAX_DIM) return (MsInts){n, buf};
    MS_FAIL(MS_ERROR_VALUE, "For '%s', at most %d sizes or axes are possible, but got %d.", op, MS_MAX_DIM,
            n);
    return (MsInts){-2, NULL};
}

MsStatus ms__api_axis(const char *op, int64_t axis, int ndim, int *out)
{
    int nd = ndim > 0 ? ndim : 1;
    if (axis < -nd || axis >= nd)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the axis must be in [%d,%d), but got %lld.", op, -nd, nd,
                       (long long)axis);
    *out = (int)(axis < 0 ? axis + nd : axis);
    return MS_OK;
}

MsTensor *ms__reshaped(MsTensor *t, MsInts shape)
{
    if (!t) return NULL;
    int64_t full[MS_MAX_DIM], rest = 1;
    int open = -1;
    for (int d = 0; d < shape.n; d++) {
        full[d] = shape.v[d];
        if (full[d] == -1 && open < 0)
            open = d;
        else if (full[d] < 0)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'reshape', the shape %s is invalid.",
                                ms__shape_text(shape.n, shape.v));
        else if (__builtin_mul_overflow(rest, full[d], &rest))
            rest = 0;
    }
    if (open >= 0) {
        if (rest == 0 || t->numel % rest)
            return MS_FAIL_NULL(MS_ERROR_VALUE,
                                "For 'reshape', the shape %s is invalid for input of size %lld.",
                                ms__shape_text(shape.n, shape.v), (long long)t->numel);
        full[open] = t->numel / rest;
    }
    return ms_reshape(t, (MsInts){shape.n, full});
}

MsTensor *ms__unsqueezed(MsTensor *t, int axis)
{
    if (!t) return NULL;
    if (t->ndim == MS_MAX_DIM)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'expand_dims', a tensor has at most %d dimensions.",
                            MS_MAX_DIM);
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d <= t->ndim; d++) shape[d] = d < axis ? t->shape[d] : d == axis ? 1 : t->shape[d - 1];
    return ms_reshape(t, (MsInts){t->ndim + 1, shape});
}

MsTensor *ms__dropped(MsTensor *t, int axis)
{
    if (!t) return NULL;
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d + 1 < t->ndim; d++) shape[d] = t->shape[d < axis ? d : d + 1];
    return ms_reshape(t, (MsInts){t->ndim - 1, shape});
}

MsTensor *ms__cast_to(MsTensor *t, MsDtype dtype)
{
    return t && dtype != MS_DTYPE_NONE && t->dtype != (int8_t)dtype ? ms_cast(t, dtype) : t;
}

MsTensor *ms__narrowed(MsTensor *t, int axis, int64_t begin, int64_t n)
{
    if (!t) return NULL;
    int64_t b[MS_MAX_DIM], s[MS_MAX_DIM], step[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++)
        b[d] = d == axis ? begin : 0, s[d] = d == axis ? n : t->shape[d], step[d] = 1;
    return ms_slice(t, (MsInts){t->ndim, b}, (MsInts){t->ndim, s}, (MsInts){t->ndim, step});
}

MsTensor *ms__picked(MsTensor *t, int axis, int64_t i)
{
    return ms__dropped(ms__narrowed(t, axis, i, 1), axis);
}

MsStatus ms__common_dtype(const char *op, int n, MsTensor *const *t, MsTensor **out)
{
    MsDtype dtype = n ? ms_tensor_dtype(t[0]) : MS_DTYPE_NONE;
    for (int k = 1; k < n; k++) {
        MsDtype both = ms_dtype_promote(dtype, ms_tensor_dtype(t[k]));
        if (both == MS_DTYPE_NONE)
            return MS_FAIL(MS_ERROR_TYPE,
                           "For '%s', type implicit conversion between %s and %s is not supported.", op,
                           ms_dtype_name(dtype), ms_dtype_name(ms_tensor_dtype(t[k])));
        dtype = both;
    }
    for (int k = 0; k < n; k++)
        if (!(out[k] = ms__cast_to(t[k], dtype))) return ms_error()->code;
    return MS_OK;
}

MsTensor *ms__stacked(int n, MsTensor *const *t, int axis)
{
    MsTensor **each = ms__malloc((size_t)(n ? n : 1) * sizeof *each);
    if (!each) return NULL;
    bool ok = true;
    for (int k = 0; k < n; k++) ok = (each[k] = ms__unsqueezed(t[k], axis)) && ok;
    MsTensor *y = ok ? ms_concat(n, each, axis) : NULL;
    free(each);
    return y;
}

/* ---- data as tensors ---- */

MsTensor *ms__number(const char *op, const MsArg *a, MsDtype dtype)
{
    MsInts none = {0, NULL};
    if (ms__int_check(a, dtype) != MS_OK) return NULL;
    if (a->kind == MS_ARG_FLOAT) return ms_full(none, a->f, dtype == MS_DTYPE_NONE ? MS_FLOAT32 : dtype);
    if (a->kind == MS_ARG_INT) return ms_full_int(none, a->i, dtype == MS_DTYPE_NONE ? MS_INT64 : dtype);
    if (a->kind == MS_ARG_BOOL) return ms_full_int(none, a->i, dtype == MS_DTYPE_NONE ? MS_BOOL : dtype);
    return MS_FAIL_NULL(MS_ERROR_TYPE, "For '%s', a number or a Tensor was expected.", op);
}

MsTensor *ms__arange(int64_t from, int64_t by, int64_t n, MsDtype dtype)
{
    const MsArg end[2] = {{.kind = MS_ARG_INT, .i = from}, {.kind = MS_ARG_INT, .i = from + by * (n - 1)}};
    for (int k = 0; k < 2 && n > 0; k++)
        if (ms__int_check(&end[k], dtype) != MS_OK) return NULL;
    return ms_arange_int(from, by, n, dtype);
}

MsTensor *ms__arg_data(const char *op, const MsArg *a, MsDtype dtype)
{
    if (a->kind == MS_ARG_TENSOR) return ms__cast_to(a->t, dtype);
    if (a->kind != MS_ARG_LIST) return ms__number(op, a, dtype);
    if (a->n == 0) return ms_full(MS_INTS(0), 0, dtype == MS_DTYPE_NONE ? MS_FLOAT32 : dtype);
    MsTensor **item = ms__malloc((size_t)a->n * sizeof *item), *y = NULL;
    if (!item) return NULL;
    bool ok = true;
    for (int k = 0; k < a->n && ok; k++) {
        item[k] = ms__arg_data(op, &a->list[k], dtype);
        ok = item[k] && item[k]->ndim == item[0]->ndim &&
             memcmp(item[k]->shape, item[0]->shape, (size_t)item[0]->ndim * sizeof *item[0]->shape) == 0;
        if (!ok && item[k])
            MS_FAIL(MS_ERROR_VALUE, "For '%s', the nested lists must have equal lengths.", op);
    }
    if (ok && ms__common_dtype(op, a->n, item, item) == MS_OK) y = ms__stacked(a->n, item, 0);
    free(item);
    return y;
}

MsStatus ms__arg_device(const MsArg *a)
{
    if (a->kind == MS_ARG_NONE || strcmp(a->s, "CPU") == 0) return MS_OK;
    return MS_FAIL(MS_ERROR_RUNTIME, "The device '%s' is not there; only 'CPU' is.", a->s);
}

MsStatus ms__arg_unpinned(const char *op, const MsArg *a)
{
    return a->i ? MS_FAIL(MS_ERROR_RUNTIME, "For '%s', 'pin_memory' needs a device other than CPU.", op)
                : MS_OK;
}

MsTensor *ms__arg_state(const MsArg *seed, const MsArg *generator)
{
    if (seed && seed->kind == MS_ARG_INT) {
        if (seed->i < 0)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "The seed must not be negative, but got %lld.",
                                (long long)seed->i);
        int64_t two = 2, value[2] = {seed->i, 0};
        return ms_tensor_from(MS_INT64, 1, &two, value);
    }
    if (generator && generator->kind == MS_ARG_TENSOR) return ms__rng_next(generator->t);
    if (generator && generator->kind != MS_ARG_NONE)
        return MS_FAIL_NULL(MS_ERROR_TYPE, "The generator must be a Generator or None.");
    return ms__rng_next(ms_random_state());
}
