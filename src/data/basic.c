/* basic.c - transforms on any tensor: TypeCast, OneHot, Duplicate, Fill; and the cast they share. Own
 * conversions rather than the operator `cast`, whose loops would start a thread team in every worker. */
#include "data/data.h"

#include "core/tensor.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- casts ---- */

static float from_bf16(uint16_t v)
{
    uint32_t bits = (uint32_t)v << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint16_t to_bf16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if (f != f) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Integers go through 64-bit integers, so that they stay exact; everything else through double. */
#define EACH(expr)                                                                                           \
    for (int64_t i = 0; i < n; i++) expr;                                                                    \
    break

static void read_int(const void *p, MsDtype dtype, int64_t n, int64_t *v)
{
    switch (dtype) {
    case MS_BOOL: EACH(v[i] = ((const uint8_t *)p)[i] != 0);
    case MS_UINT8: EACH(v[i] = ((const uint8_t *)p)[i]);
    case MS_INT8: EACH(v[i] = ((const int8_t *)p)[i]);
    case MS_UINT16: EACH(v[i] = ((const uint16_t *)p)[i]);
    case MS_INT16: EACH(v[i] = ((const int16_t *)p)[i]);
    case MS_UINT32: EACH(v[i] = ((const uint32_t *)p)[i]);
    case MS_INT32: EACH(v[i] = ((const int32_t *)p)[i]);
    default: EACH(v[i] = ((const int64_t *)p)[i]);
    }
}

static void write_int(void *p, MsDtype dtype, int64_t n, const int64_t *v)
{
    switch (dtype) {
    case MS_BOOL: EACH(((uint8_t *)p)[i] = v[i] != 0);
    case MS_UINT8:
    case MS_INT8: EACH(((uint8_t *)p)[i] = (uint8_t)v[i]);
    case MS_UINT16:
    case MS_INT16: EACH(((uint16_t *)p)[i] = (uint16_t)v[i]);
    case MS_UINT32:
    case MS_INT32: EACH(((uint32_t *)p)[i] = (uint32_t)v[i]);
    default: EACH(((int64_t *)p)[i] = v[i]);
    }
}

static void read_float(const void *p, MsDtype dtype, int64_t n, double *v)
{
    switch (dtype) {
    case MS_FLOAT16: EACH(v[i] = ((const _Float16 *)p)[i]);
    case MS_BFLOAT16: EACH(v[i] = from_bf16(((const uint16_t *)p)[i]));
    case MS_FLOAT32: EACH(v[i] = ((const float *)p)[i]);
    default: EACH(v[i] = ((const double *)p)[i]);
    }
}

static void write_float(void *p, MsDtype dtype, int64_t n, const double *v)
{
    switch (dtype) {
    case MS_FLOAT16: EACH(((_Float16 *)p)[i] = (_Float16)v[i]);
    case MS_BFLOAT16: EACH(((uint16_t *)p)[i] = to_bf16((float)v[i]));
    case MS_FLOAT32: EACH(((float *)p)[i] = (float)v[i]);
    default: EACH(((double *)p)[i] = v[i]);
    }
}

/* To an integer: toward zero; NaN and what does not fit become the smallest value, as x86 converts. */
static int64_t whole(double v)
{
    return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

MsTensor *ms__data_cast(MsTensor *t, MsDtype dtype)
{
    if ((MsDtype)t->dtype == dtype) return t;
    if (t->dtype >= MS_COMPLEX64 || dtype >= MS_COMPLEX64 || dtype < 0)
        return MS_FAIL_NULL(MS_ERROR_TYPE, "For 'TypeCast', there is no cast from %s to %s.",
                            ms_dtype_name((MsDtype)t->dtype), ms_dtype_name(dtype));
    t = ms__data_contiguous(t);
    MsTensor *y = t ? ms_tensor_empty(dtype, t->ndim, t->shape) : NULL;
    if (!y) return NULL;
    bool from_float = ms_dtype_is_float((MsDtype)t->dtype), to_float = ms_dtype_is_float(dtype);
    size_t in_size = ms_dtype_size((MsDtype)t->dtype), out_size = ms_dtype_size(dtype);
    for (int64_t at = 0; at < t->numel; at += 256) {
        int64_t v[256], n = t->numel - at < 256 ? t->numel - at : 256;
        double f[256];
        const char *from = t->data + (size_t)at * in_size;
        if (from_float)
            read_float(from, (MsDtype)t->dtype, n, f);
        else
            read_int(from, (MsDtype)t->dtype, n, v);
        if (from_float && !to_float)
            for (int64_t i = 0; i < n; i++) v[i] = dtype == MS_BOOL ? f[i] != 0 : whole(f[i]);
        if (!from_float && to_float)
            for (int64_t i = 0; i < n; i++)
                f[i] = t->dtype == MS_UINT64 ? (double)(uint64_t)v[i] : (double)v[i];
        if (to_float)
            write_float(y->data + (size_t)at * out_size, dtype, n, f);
        else
            write_int(y->data + (size_t)at * out_size, dtype, n, v);
    }
    return y;
}

static MsStatus check_dtype(MsTransform *t)
{
    double d = t->arg[0];
    if (!(d >= 0 && d < MS_COMPLEX64 && d == floor(d)))
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the dtype must be bool, an integer or a float type.",
                       t->kind->name);
    return MS_OK;
}

static MsStatus run_type_cast(MsTransformCall *c)
{
    c->out[0] = ms__data_cast(c->in[0], (MsDtype)c->op->arg[0]);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static int stage_type_cast(const MsTransform *t, MsStage s[2])
{
    if (t->arg[0] != MS_FLOAT32) return 0;
    s[0] = (MsStage){.kind = MS_STAGE_FLOAT};
    return 1;
}

/* ---- OneHot ---- */

static MsStatus check_one_hot(MsTransform *t)
{
    double n = t->arg[0], rate = t->n_arg > 1 ? t->arg[1] : 0;
    if (!(n >= 1 && n <= INT_MAX && n == floor(n)))
        return MS_FAIL(MS_ERROR_VALUE,
                       "Input num_classes is not within the required interval of [1, 2147483647].");
    if (!(rate >= 0 && rate <= 1))
        return MS_FAIL(MS_ERROR_VALUE,
                       "Input smoothing_rate is not within the required interval of [0.0, 1.0].");
    return MS_OK;
}

/* Class k of n becomes a row with 1 at k; smoothing moves a share of it to all classes and gives float64. */
static MsStatus run_one_hot(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    int64_t n = (int64_t)c->op->arg[0];
    double rate = c->op->n_arg > 1 ? c->op->arg[1] : 0;
    int rank = 0; /* axes of size 1 do not count */
    for (int d = 0; d < x->ndim; d++) rank += x->shape[d] != 1;
    if (rank > 1)
        return MS_FAIL(MS_ERROR_RUNTIME, "OneHot: Only support scalar or 1D input, got rank: %d", rank);
    if (!ms_dtype_is_int((MsDtype)x->dtype))
        return MS_FAIL(MS_ERROR_RUNTIME, "OneHot: Only support input of int type, but got: %s",
                       ms_dtype_name((MsDtype)x->dtype));
    MsTensor *label = ms__data_cast(x, MS_INT64);
    int64_t shape[] = {x->numel, n};
    MsTensor *wide = ms_tensor_empty(MS_FLOAT64, rank + 1, shape + 1 - rank);
    if (!label || !wide) return ms_error()->code;
    double *v = (double *)wide->data;
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t k = ((int64_t *)label->data)[i];
        if (k < 0 || k >= n)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "OneHot: index values should not bigger than num classes: %lld, but got: %lld",
                           (long long)n, (long long)k);
        for (int64_t j = 0; j < n; j++) v[i * n + j] = rate / (double)n;
        v[i * n + k] += 1 - rate;
    }
    c->out[0] = rate > 0 ? wide : ms__data_cast(wide, (MsDtype)x->dtype);
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* ---- Duplicate, Fill ---- */

static MsStatus run_duplicate(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    c->out[0] = x;
    c->out[1] = ms_tensor_from((MsDtype)x->dtype, x->ndim, x->shape, x->data);
    c->n_out = 2;
    return c->out[1] ? MS_OK : ms_error()->code;
}

MsTensor *ms__data_filled(MsDtype dtype, int ndim, const int64_t *shape, double value)
{
    MsTensor *y = ms_tensor_empty(dtype, ndim, shape), *wide = ms_tensor_empty(MS_FLOAT64, 0, NULL);
    if (!y || !wide) return NULL;
    if (ms__data_is_text(y)) return memset(y->data, 0, (size_t)y->numel), y;
    *(double *)wide->data = value;
    MsTensor *one = ms__data_cast(wide, dtype);
    size_t size = ms_dtype_size(dtype);
    for (int64_t i = 0; one && i < y->numel; i++) memcpy(y->data + (size_t)i * size, one->data, size);
    return one ? y : NULL;
}

static MsStatus run_fill(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    c->out[0] = ms__data_filled((MsDtype)x->dtype, x->ndim, x->shape, c->op->arg[0]);
    return c->out[0] ? MS_OK : ms_error()->code;
}

const MsTransformKind ms__transforms_basic[] = {
    {"TypeCast", "data_type", 1, 1, false, check_dtype, run_type_cast, stage_type_cast},
    {"ToType", "data_type", 1, 1, false, check_dtype, run_type_cast, stage_type_cast},
    {"OneHot", "num_classes, smoothing_rate=0", 1, 2, false, check_one_hot, run_one_hot, NULL},
    {"Duplicate", "", 0, 0, MS_TAKES_TEXT, NULL, run_duplicate, NULL},
    {"Fill", "fill_value", 1, 1, false, NULL, run_fill, NULL},
    {.name = NULL},
};
