/* fill.c - constants by value, ranges of the older kind, logspace. `empty` is filled with zeros: no row shows
 * old memory. */
#include "api/args.h"

#include <math.h>
#include <string.h>

static MsDtype or_else(const MsArg *a, MsDtype dflt)
{
    return a->kind == MS_ARG_NONE ? dflt : (MsDtype)a->i;
}

/* A number, or a tensor of one element, with whether it is an integer. */
static MsStatus number(const char *op, const MsArg *a, double *f, int64_t *i, bool *whole)
{
    if (a->kind == MS_ARG_TENSOR) {
        *whole = !ms_dtype_is_float(ms_tensor_dtype(a->t)) && !ms_dtype_is_complex(ms_tensor_dtype(a->t));
        MS_TRY(ms_tensor_item(a->t, f));
        return *whole ? ms_tensor_item_int(a->t, i) : MS_OK;
    }
    *whole = a->kind == MS_ARG_INT || a->kind == MS_ARG_BOOL;
    if (!*whole && a->kind != MS_ARG_FLOAT)
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', a number was expected.", op);
    *f = *whole ? (double)a->i : a->f;
    if (*whole) *i = a->i;
    return MS_OK;
}

/* Every element becomes the argument: number or tensor of one element. */
static MsTensor *filled(const char *op, MsInts shape, const MsArg *value, MsDtype dtype)
{
    if (value->kind == MS_ARG_TENSOR) return ms_broadcast_to(ms__cast_to(value->t, dtype), shape);
    if (value->kind == MS_ARG_FLOAT) return ms_full(shape, value->f, dtype);
    if (ms__int_check(value, dtype) != MS_OK) return NULL;
    if (value->kind == MS_ARG_INT || value->kind == MS_ARG_BOOL) return ms_full_int(shape, value->i, dtype);
    return MS_FAIL_NULL(MS_ERROR_TYPE, "For '%s', the value must be a number or a Tensor.", op);
}

/* ---- constants ---- */

static MsStatus constant(MsApiCall *c, const char *op, int64_t value, int dtype_at)
{
    VAR(op, 0, buf, shape);
    return R(ms_full_int(shape, value, or_else(ARG(dtype_at), MS_FLOAT32)));
}
MS_API(empty, "mint.empty",
       "(*size: any, dtype: dtype? = None, device: str = None, pin_memory: bool = False) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(2)));
    MS_TRY(ms__arg_unpinned("empty", ARG(3)));
    return constant(c, "empty", 0, 1);
}

MS_API(fill, "ops.fill", "(type: dtype, shape: any, value: any) -> Tensor")
{
    VAR("fill", 1, buf, shape);
    return R(filled("fill", shape, ARG(2), DTYPE(0)));
}

MS_API(empty_like, "mint.empty_like",
       "(input: Tensor, *, dtype: dtype? = None, device: str = None, pin_memory: bool = False) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(2)));
    MS_TRY(ms__arg_unpinned("empty_like", ARG(3)));
    return R(ms_full_int(shape_of(T(0)), 0, or_else(ARG(1), ms_tensor_dtype(T(0)))));
}
static MsStatus new_constant(MsApiCall *c, int64_t value)
{
    VAR("new", 1, buf, shape);
    return R(ms_full_int(shape, value, or_else(ARG(2), ms_tensor_dtype(T(0)))));
}
MS_API(new_empty, "Tensor.new_empty",
       "(self: Tensor, size: any, *, dtype: dtype? = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(3)));
    return new_constant(c, 0);
}
MS_API(new_full, "Tensor.new_full",
       "(self: Tensor, size: any, fill_value: any, *, dtype: dtype? = None) -> Tensor")
{
    VAR("new_full", 1, buf, shape);
    return R(filled("new_full", shape, ARG(2), or_else(ARG(3), ms_tensor_dtype(T(0)))));
}

MS_API(fill_method, "Tensor.fill", "(self: Tensor, value: any) -> Tensor")
{
    if (!GIVEN(1)) return R(ms_full_int(shape_of(T(0)), 0, ms_tensor_dtype(T(0))));
    return R(filled("fill", shape_of(T(0)), ARG(1), ms_tensor_dtype(T(0))));
}
MS_API(copy_method, "ops.clone", "(input: Tensor) -> Tensor")
{
    return R(ms_copy(T(0)));
}
MS_API(is_contiguous, "Tensor.is_contiguous", "(self: Tensor) -> bool")
{
    c->out = (MsArg){.kind = MS_ARG_BOOL, .i = ms_tensor_is_contiguous(T(0))};
    return MS_OK;
}

/* ---- ranges ---- */

static MsStatus count_of(const char *op, double start, double end, double step, int64_t *n)
{
    if (step == 0 || !isfinite(start) || !isfinite(end) || isnan(step))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', start and end must be finite and step not zero, but got %g, %g, %g.", op,
                       start, end, step);
    double k = ceil((end - start) / step);
    if (k < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the step %g does not lead from %g to %g.", op, step, start,
                       end);
    if (k > 0x1p56) return MS_FAIL(MS_ERROR_MEMORY, "Out of memory: '%s' of %g elements.", op, k);
    *n = (int64_t)k;
    return MS_OK;
}

static MsStatus arange(MsApiCall *c, const char *op, const MsArg *dtype_arg)
{
    double f[3];
    int64_t i[3] = {0}, n = 0;
    bool whole[3], all = true;
    static const MsArg zero = {.kind = MS_ARG_INT};
    bool one = !GIVEN(1); /* arange(end) */
    MS_TRY(number(op, one ? &zero : ARG(0), &f[0], &i[0], &whole[0]));
    MS_TRY(number(op, one ? ARG(0) : ARG(1), &f[1], &i[1], &whole[1]));
    MS_TRY(number(op, ARG(2), &f[2], &i[2], &whole[2]));
    for (int k = 0; k < 3; k++) all &= whole[k];
    MsDtype dtype = or_else(dtype_arg, all ? MS_INT64 : MS_FLOAT32);
    if (!all) {
        MS_TRY(count_of(op, f[0], f[1], f[2], &n));
        return R(ms_arange(f[0], f[2], n, dtype));
    }
    if (i[2] == 0) return MS_FAIL(MS_ERROR_VALUE, "For '%s', the step must not be zero.", op);
    if (i[2] > 0 ? i[1] < i[0] : i[1] > i[0])
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the step %lld does not lead from %lld to %lld.", op,
                       (long long)i[2], (long long)i[0], (long long)i[1]);
    uint64_t span = i[2] > 0 ? (uint64_t)i[1] - (uint64_t)i[0] : (uint64_t)i[0] - (uint64_t)i[1];
    uint64_t step = i[2] > 0 ? (uint64_t)i[2] : (uint64_t)0 - (uint64_t)i[2];
    n = (int64_t)(span ? (span - 1) / step + 1 : 0);
    return R(ms__arange(i[0], i[2], n, dtype));
}

MS_API(range, "ops.range", "(start: any, end: any, step: any, maxlen: int = 1000000) -> Tensor")
{
    static const MsArg none = {.kind = MS_ARG_NONE};
    MS_TRY(arange(c, "range", &none));
    if (c->out.t->numel <= I(3)) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For 'range', there would be %lld numbers, but 'maxlen' is %lld.",
                   (long long)c->out.t->numel, (long long)I(3));
}

/* The ends are exact: all but the last come from the start, the last is the end. */
static MsTensor *linspace(const char *op, double start, double end, int64_t n, MsDtype dtype)
{
    if (n < 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', steps must not be negative, but got %lld.", op,
                            (long long)n);
    if (n < 2) return ms_full(MS_INTS(n), start, dtype);
    MsTensor *part[2] = {ms_arange(start, (end - start) / (double)(n - 1), n - 1, dtype),
                         ms_full(MS_INTS(1), end, dtype)};
    return part[0] && part[1] ? ms_concat(2, part, 0) : NULL;
}

static MsStatus ends(MsApiCall *c, const char *op, double *start, double *end, int64_t *n)
{
    int64_t i;
    double f;
    bool whole;
    MS_TRY(number(op, ARG(0), start, &i, &whole));
    MS_TRY(number(op, ARG(1), end, &i, &whole));
    MS_TRY(number(op, ARG(2), &f, n, &whole));
    if (!whole) return MS_FAIL(MS_ERROR_TYPE, "For '%s', steps must be an integer.", op);
    return MS_OK;
}

MS_API(logspace, "ops.logspace",
       "(start: any, end: any, steps: any, base: number = 10, *, dtype: dtype? = None) -> Tensor")
{
    double a, b;
    int64_t n;
    MS_TRY(ends(c, "logspace", &a, &b, &n));
    MsTensor *e = linspace("logspace", a, b, n, MS_FLOAT64);
    MsTensor *y = ms_pow(ms_full((MsInts){0, NULL}, F(3), MS_FLOAT64), e);
    return R(ms__cast_to(y, or_else(ARG(4), MS_FLOAT32)));
}

/* Ones are every (m + 1)-th element of the flattened matrix. */