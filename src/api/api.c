/* api.c - helpers of API rows: arguments to numbers, lists and tensors, and what a row returns. */
#include "api/api.h"

#include "core/mem.h"

#include <stdlib.h>

double ms__arg_float(const MsArg *a)
{
    return a->kind == MS_ARG_FLOAT ? a->f : (double)a->i;
}

MsInts ms__arg_ints(const MsArg *a, int64_t *buf)
{
    if (a->kind == MS_ARG_NONE) return MS_INTS_NONE;
    const MsArg *item = a->kind == MS_ARG_LIST ? a->list : a;
    int n = a->kind == MS_ARG_LIST ? a->n : 1;
    if (n > MS_MAX_DIM) {
        MS_FAIL(MS_ERROR_VALUE, "A list of sizes or axes has at most %d entries, but got %d.", MS_MAX_DIM, n);
        return (MsInts){-2, NULL};
    }
    for (int k = 0; k < n; k++) {
        if (item[k].kind == MS_ARG_TENSOR) {
            if (ms_tensor_item_int(item[k].t, &buf[k]) != MS_OK) return (MsInts){-2, NULL};
            continue;
        }
        if (item[k].kind != MS_ARG_INT && item[k].kind != MS_ARG_BOOL) {
            MS_FAIL(MS_ERROR_TYPE, "Expected an int or a list of int.");
            return (MsInts){-2, NULL};
        }
        buf[k] = item[k].i;
    }
    return (MsInts){n, buf};
}

MsStatus ms__api_return(MsApiCall *c, MsTensor *t)
{
    if (!t)
        return ms__failed() ? ms_error()->code : MS_FAIL(MS_ERROR_RUNTIME, "%s: no result.", c->row->names);
    c->out = (MsArg){.kind = MS_ARG_TENSOR, .t = t};
    return MS_OK;
}

MsStatus ms__api_return_list(MsApiCall *c, int n, MsTensor *const *t)
{
    MsArg *list = ms__malloc((size_t)(n > 0 ? n : 1) * sizeof *list);
    if (!list) return MS_ERROR_MEMORY;
    for (int k = 0; k < n; k++) {
        if (!t[k]) {
            free(list);
            return ms__failed() ? ms_error()->code
                                : MS_FAIL(MS_ERROR_RUNTIME, "%s: no result.", c->row->names);
        }
        list[k] = (MsArg){.kind = MS_ARG_TENSOR, .t = t[k]};
    }
    c->out = (MsArg){.kind = MS_ARG_LIST, .n = n, .list = list};
    return MS_OK;
}

void ms__api_release(MsArg *out)
{
    if (out->kind != MS_ARG_LIST) return;
    for (int k = 0; k < out->n; k++) ms__api_release(&out->list[k]);
    free(out->list);
    out->kind = MS_ARG_NONE;
}

/* The dtype of a number next to `like`: numbers never widen within a category. */
static MsDtype weak_dtype(uint8_t kind, const MsTensor *like)
{
    MsDtype d = like ? (MsDtype)like->dtype : MS_DTYPE_NONE;
    if (kind == MS_ARG_FLOAT)
        return like && (ms_dtype_is_float(d) || ms_dtype_is_complex(d)) ? d : MS_FLOAT32;
    if (kind == MS_ARG_INT) return like && d != MS_BOOL ? d : MS_INT64;
    return like ? d : MS_BOOL;
}

int ms__int_side(MsDtype dtype, int64_t i)
{
    bool has_sign = ms_dtype_is_signed_int(dtype);
    if (!ms_dtype_is_int(dtype) || dtype == MS_INT4) return 0;
    if (i < 0 && !has_sign) return -1;
    size_t bits = 8 * ms_dtype_size(dtype) - has_sign;
    if (bits >= 63) return 0;
    return i >> bits > 0 ? 1 : i >> bits < -1 ? -1 : 0;
}

MsStatus ms__int_check(const MsArg *a, MsDtype dtype)
{
    if (a->kind != MS_ARG_INT || ms__int_side(dtype, a->i) == 0) return MS_OK;
    return MS_FAIL(MS_ERROR_OVERFLOW, "The integer %lld is out of bounds for %s.", (long long)a->i,
                   ms_dtype_name(dtype));
}

MsTensor *ms__arg_tensor(const MsArg *a, MsTensor *like)
{
    if (a->kind == MS_ARG_TENSOR) return a->t;
    MsDtype dtype = weak_dtype(a->kind, like);
    if (ms__int_check(a, dtype) != MS_OK) return NULL;
    if (a->kind == MS_ARG_FLOAT) return ms_tensor_scalar(dtype, a->f);
    if (a->kind == MS_ARG_INT || a->kind == MS_ARG_BOOL) return ms_tensor_scalar_int(dtype, a->i);
    return MS_FAIL_NULL(MS_ERROR_TYPE, "Expected a Tensor or a number.");
}

MsStatus ms__arg_promote(MsApiCall *c, int a, int b, MsTensor **x, MsTensor **y)
{
    const MsArg *p = &c->arg[a], *q = &c->arg[b];
    MsTensor *s = p->kind == MS_ARG_TENSOR ? p->t : NULL, *t = q->kind == MS_ARG_TENSOR ? q->t : NULL;
    if (!s) s = ms__arg_tensor(p, t);
    if (!t) t = ms__arg_tensor(q, s);
    if (!s || !t) return ms_error()->code;
    if (s->dtype != t->dtype) {
        MsDtype dtype = ms_dtype_promote((MsDtype)s->dtype, (MsDtype)t->dtype);
        if (dtype == MS_DTYPE_NONE)
            return MS_FAIL(MS_ERROR_TYPE, "Type implicit conversion between %s and %s is not supported.",
                           ms_dtype_name((MsDtype)s->dtype), ms_dtype_name((MsDtype)t->dtype));
        if ((MsDtype)s->dtype != dtype) s = ms_cast(s, dtype);
        if ((MsDtype)t->dtype != dtype) t = ms_cast(t, dtype);
        if (!s || !t) return ms_error()->code;
    }
    *x = s;
    *y = t;
    return MS_OK;
}
