/* create.c - public names that make tensors: constants, ranges, random numbers. Random functions draw from
 * the default generator's state, which they read and advance as any tensor, so that staged functions thread
 * it; with `seed` they draw from a stream of their own. */
#include "api/api.h"
#include "api/args.h"
#include "op/random.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

/* The elements of a tensor of integers, n = -2 after an error. */
static MsInts elements(MsTensor *t, int64_t *buf)
{
    int64_t n = t->ndim == 0 ? 1 : t->shape[0];
    if (t->ndim > 1 || n > MS_MAX_DIM || !ms_dtype_is_int(dtype_of(t))) {
        MS_FAIL(MS_ERROR_TYPE, "A shape as a Tensor must be at most %d integers, but got %s of shape %s.",
                MS_MAX_DIM, ms_dtype_name(dtype_of(t)), ms__shape_text(t->ndim, t->shape));
        return (MsInts){-2, NULL};
    }
    return (MsInts){ms__tensor_read(t, MS_INT64, buf) == MS_OK ? (int)n : -2, buf};
}

/* The shape of argument k: an int, a list, a tensor, or collected positional ints; n = -2 after an error. */
static MsInts size_of(MsApiCall *c, int k, int64_t *buf)
{
    const MsArg *a = ARG(k);
    if (a->kind == MS_ARG_LIST && a->n == 1 && a->list[0].kind == MS_ARG_LIST) a = &a->list[0];
    MsInts s = a->kind == MS_ARG_TENSOR ? elements(a->t, buf) : ms__arg_ints(a, buf);
    if (s.n == -1) {
        MS_FAIL(MS_ERROR_TYPE, "A shape must be an int or a list of int, but got None.");
        s.n = -2;
    }
    for (int d = 0; d < s.n; d++)
        if (s.v[d] < 0) {
            MS_FAIL(MS_ERROR_VALUE, "A shape must not have negative sizes, but got %s.",
                    ms__shape_text(s.n, s.v));
            s.n = -2;
        }
    return s;
}

static MsTensor *filled(MsInts s, double v, MsDtype d)
{
    return s.n == -2 ? NULL : ms_full(s, v, d == MS_DTYPE_NONE ? MS_FLOAT32 : d);
}

/* A tensor of the fill value: a number in its natural dtype (whole=true: int64 as the original's ops.full).
 */
static MsStatus full(MsApiCall *c, MsInts s, const MsArg *value, MsDtype d)
{
    if (s.n == -2) return ms_error()->code;
    if (value->kind == MS_ARG_TENSOR) {
        MsTensor *v = d == MS_DTYPE_NONE ? value->t : ms_cast(value->t, d);
        return R(v ? ms_contiguous(ms_broadcast_to(v, s)) : NULL);
    }
    if (value->kind == MS_ARG_FLOAT) return R(ms_full(s, value->f, d == MS_DTYPE_NONE ? MS_FLOAT32 : d));
    MS_TRY(ms__int_check(value, d));
    return R(
        ms_full_int(s, value->i, d == MS_DTYPE_NONE ? (value->kind == MS_ARG_BOOL ? MS_BOOL : MS_INT64) : d));
}

static MsStatus arange(MsApiCall *c)
{
    bool one = !GIVEN(1);
    const MsArg zero = {.kind = MS_ARG_INT};
    const MsArg *from = one ? &zero : ARG(0), *to = one ? ARG(0) : ARG(1), *by = ARG(2);
    bool exact = from->kind != MS_ARG_FLOAT && to->kind != MS_ARG_FLOAT && by->kind != MS_ARG_FLOAT;
    double a = ms__arg_float(from), b = ms__arg_float(to), step = ms__arg_float(by);
    if (step == 0 || isnan(a) || isnan(b) || isnan(step))
        return MS_FAIL(MS_ERROR_VALUE, "For 'arange', 'step' must not be 0 and no bound NaN.");
    if ((b - a) / step < 0)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'arange', 'end' must lie from 'start' in the direction of 'step', but got %g, %g, %g.", a, b,
            step);
    MsDtype d = GIVEN(3) ? DTYPE(3) : exact ? MS_INT64 : MS_FLOAT32;
    if (exact) {
        int64_t span = to->i - from->i,
                n = by->i > 0 ? (span + by->i - 1) / by->i : (span + by->i + 1) / by->i;
        return R(ms__arange(from->i, by->i, n, d));
    }
    return R(ms_arange(a, step, (int64_t)ceil((b - a) / step), d));
}

/* n points from a to b; the last is b exactly. */
static MsTensor *linspace(double a, double b, int64_t n, MsDtype d)
{
    if (n < 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'linspace', 'steps' must not be negative, but got %lld.",
                            (long long)n);
    if (n <= 1) return ms_full((MsInts){1, &n}, a, d);
    MsTensor *x = ms_arange(a, (b - a) / (double)(n - 1), n, MS_FLOAT64);
    if (!x) return NULL;
    int64_t head = n - 1, one = 1;
    MsTensor *part[2] = {ms_slice(x, MS_INTS(0), (MsInts){1, &head}, MS_INTS(1)),
                         ms_full((MsInts){1, &one}, b, MS_FLOAT64)};
    return ms_cast(ms_concat(2, part, 0), d);
}

/* The same between ends of which one is being followed. */
static MsTensor *points_between(MsTensor *a, MsTensor *b, int64_t n, MsDtype d)
{
    if (!a || !b) return NULL;
    if (ms_tensor_numel(a) != 1 || ms_tensor_numel(b) != 1)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For 'linspace', 'start' and 'end' must have one element, but got shapes %s and %s.",
            ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
    MsTensor *w = linspace(0, 1, n, d), *rest = w ? ms_sub(ms_full((MsInts){0, NULL}, 1, d), w) : NULL;
    if (!rest) return NULL;
    MsInts scalar = {0, NULL};
    return ms_add(ms_mul(ms_cast(ms_reshape(a, scalar), d), rest),
                  ms_mul(ms_cast(ms_reshape(b, scalar), d), w));
}

static MsTensor *end_of(const MsArg *a, MsDtype d)
{
    return a->kind == MS_ARG_TENSOR ? a->t : ms_full((MsInts){0, NULL}, ms__arg_float(a), d);
}

static MsTensor *eye(int64_t n, int64_t m, MsDtype d)
{
    if (n < 0 || m < 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'eye', the sizes must not be negative, but got %lld and %lld.", (long long)n,
                            (long long)m);
    MsTensor *row = ms_reshape(ms_arange_int(0, 1, n, MS_INT64), MS_INTS(n, 1));
    return ms_cast(ms_eq(row, ms_arange_int(0, 1, m, MS_INT64)), d == MS_DTYPE_NONE ? MS_FLOAT32 : d);
}

/* ---- random ---- */

/* The state to draw from; arguments of seed and generator, -1 = the row has none. */
static MsTensor *source(MsApiCall *c, int seed, int generator)
{
    return ms__arg_state(seed < 0 ? NULL : ARG(seed), generator < 0 ? NULL : ARG(generator));
}

static MsDtype float_dtype(MsApiCall *c, int k)
{
    return k >= 0 && GIVEN(k) ? DTYPE(k) : MS_FLOAT32;
}

static MsTensor *affine(MsTensor *x, MsTensor *scale, MsTensor *shift)
{
    if (!x || !scale || !shift) return NULL;
    MsDtype d = ms_tensor_dtype(x);
    if (ms_tensor_dtype(scale) != d) scale = ms_cast(scale, d);
    if (ms_tensor_dtype(shift) != d) shift = ms_cast(shift, d);
    return ms_add(ms_mul(x, scale), shift);
}

/* Uniform or normal numbers of the given shape broadcast with the two parameters. */
static MsStatus between(MsApiCall *c, int a, int b, int seed, MsDtype d, bool normal)
{
    int64_t buf[MS_MAX_DIM];
    MsInts s = size_of(c, 0, buf);
    MsTensor *p = ms__arg_tensor(ARG(a), NULL), *q = ms__arg_tensor(ARG(b), NULL),
             *state = source(c, seed, -1);
    if (s.n == -2 || !p || !q || !state) return ms_error()->code;
    MsTensor *x = normal ? ms_rng_normal(state, s, d) : ms_rng_uniform(state, s, d);
    p = ms_cast(p, d);
    q = ms_cast(q, d);
    return R(normal ? affine(x, q, p) : affine(x, ms_sub(q, p), p));
}

static MsStatus integers(MsApiCall *c, int64_t low, int64_t high, int size, int seed, int generator,
                         MsDtype d)
{
    int64_t buf[MS_MAX_DIM];
    MsInts s = size_of(c, size, buf);
    if (low >= high)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'randint', 'low' must be less than 'high', but got %lld and %lld.",
                       (long long)low, (long long)high);
    MsTensor *state = s.n == -2 ? NULL : source(c, seed, generator);
    return R(state ? ms_rng_int(state, low, high, s, d == MS_DTYPE_NONE ? MS_INT64 : d) : NULL);
}

/* Elements of x are kept with probability 1 - p and scaled by its inverse. */
static MsTensor *dropout(MsTensor *x, double p, MsTensor *state)
{
    MsDtype d = ms_tensor_dtype(x);
    return state ? ms_mul(x, ms_rng_keep(state, p, shape_of(x), d)) : NULL;
}

static MsStatus drop(MsApiCall *c, int seed)
{
    double p = F(1);
    if (!(p >= 0 && p <= 1))
        return MS_FAIL(MS_ERROR_VALUE, "For 'dropout', 'p' must be in [0, 1], but got %g.", p);
    if (!I(2) || p == 0) return R(T(0));
    return R(dropout(T(0), p, source(c, seed, -1)));
}

MS_API(create_1_zeros, "ops.zeros", "(size: ints|Tensor, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(filled(size_of(c, 0, buf), 0, DTYPE(1)));
}

MS_API(create_2_zeros, "mint.zeros", "(*size: any, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(filled(size_of(c, 0, buf), 0, DTYPE(1)));
}

MS_API(create_3_ones, "ops.ones", "(shape: ints|Tensor, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(filled(size_of(c, 0, buf), 1, DTYPE(1)));
}

MS_API(create_4_ones, "mint.ones", "(*size: any, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(filled(size_of(c, 0, buf), 1, DTYPE(1)));
}

MS_API(create_5_full, "ops.full",
       "(size: ints, fill_value: Tensor|number|bool, *, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return full(c, size_of(c, 0, buf), ARG(1),
                DTYPE(2) == MS_DTYPE_NONE && ARG(1)->kind == MS_ARG_FLOAT ? MS_INT64 : DTYPE(2));
}

MS_API(create_6_full, "mint.full",
       "(size: ints, fill_value: Tensor|number|bool, *, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return full(c, size_of(c, 0, buf), ARG(1), DTYPE(2));
}

MS_API(create_7_full_like, "ops.full_like mint.full_like",
       "(input: Tensor, fill_value: Tensor|number|bool, *, dtype: dtype = None) -> Tensor")
{
    return full(c, shape_of(T(0)), ARG(1), GIVEN(2) ? DTYPE(2) : ms_tensor_dtype(T(0)));
}

MS_API(create_8_zeros_like, "ops.zeros_like mint.zeros_like",
       "(input: Tensor, *, dtype: dtype = None) -> Tensor")
{
    return R(filled(shape_of(T(0)), 0, GIVEN(1) ? DTYPE(1) : ms_tensor_dtype(T(0))));
}

MS_API(create_9_ones_like, "ops.ones_like mint.ones_like",
       "(input: Tensor, *, dtype: dtype = None) -> Tensor")
{
    return R(filled(shape_of(T(0)), 1, GIVEN(1) ? DTYPE(1) : ms_tensor_dtype(T(0))));
}

MS_API(create_10_new_zeros, "Tensor.new_zeros", "(self: Tensor, size: ints, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(filled(size_of(c, 1, buf), 0, GIVEN(2) ? DTYPE(2) : ms_tensor_dtype(T(0))));
}

MS_API(create_11_new_ones, "Tensor.new_ones", "(self: Tensor, size: ints, dtype: dtype = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(filled(size_of(c, 1, buf), 1, GIVEN(2) ? DTYPE(2) : ms_tensor_dtype(T(0))));
}

MS_API(create_12_arange, "ops.arange mint.arange",
       "(start: Tensor|number = 0, end: Tensor|number = None, step: Tensor|number = 1, *, dtype: dtype = "
       "None) -> "
       "Tensor")
{
    MsArg plain[4]; /* tensors of one element as the numbers they are */
    memcpy(plain, c->arg, sizeof plain);
    for (int k = 0; k < 3; k++) {
        if (plain[k].kind != MS_ARG_TENSOR) continue;
        MsTensor *t = plain[k].t;
        bool real = ms_dtype_is_float(ms_tensor_dtype(t));
        plain[k] = (MsArg){.kind = real ? MS_ARG_FLOAT : MS_ARG_INT};
        MS_TRY(real ? ms_tensor_item(t, &plain[k].f) : ms_tensor_item_int(t, &plain[k].i));
    }
    const MsArg *given = c->arg;
    c->arg = plain;
    MsStatus st = arange(c);
    c->arg = given;
    return st;
}

/* A number, or a tensor of one element, that is known now. */
static MsStatus known(const MsArg *a, double *v)
{
    if (a->kind == MS_ARG_TENSOR) return ms_tensor_item(a->t, v);
    *v = ms__arg_float(a);
    return MS_OK;
}

MS_API(create_13_linspace, "ops.linspace", "(start: Tensor|number, end: Tensor|number, steps: int) -> Tensor")
{
    double start, end;
    MsDtype d = ARG(0)->kind == MS_ARG_TENSOR ? ms_tensor_dtype(T(0)) : MS_FLOAT32;
    bool followed = false;
    for (int k = 0; k < 2; k++) followed |= ARG(k)->kind == MS_ARG_TENSOR && T(k)->trace;
    if (followed && ms_dtype_is_float(d))
        return R(points_between(end_of(ARG(0), d), end_of(ARG(1), d), I(2), d));
    MS_TRY(known(ARG(0), &start));
    MS_TRY(known(ARG(1), &end));
    return R(linspace(start, end, I(2), d));
}

MS_API(create_14_linspace, "mint.linspace",
       "(start: number, end: number, steps: int, *, dtype: dtype = None) -> Tensor")
{
    return R(linspace(F(0), F(1), I(2), GIVEN(3) ? DTYPE(3) : MS_FLOAT32));
}

MS_API(create_15_eye, "ops.eye mint.eye", "(n: int, m: int = None, dtype: dtype = None) -> Tensor")
{
    return R(eye(I(0), GIVEN(1) ? I(1) : I(0), DTYPE(2)));
}

MS_API(create_16_rand, "ops.rand", "(*size: any, dtype: dtype = None, seed: int = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts s = size_of(c, 0, buf);
    MsTensor *state = s.n == -2 ? NULL : source(c, 2, -1);
    return R(state ? ms_rng_uniform(state, s, float_dtype(c, 1)) : NULL);
}

MS_API(create_17_rand, "mint.rand",
       "(*size: any, generator: any = None, dtype: dtype = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(3)));
    int64_t buf[MS_MAX_DIM];
    MsInts s = size_of(c, 0, buf);
    MsTensor *state = s.n == -2 ? NULL : source(c, -1, 1);
    return R(state ? ms_rng_uniform(state, s, float_dtype(c, 2)) : NULL);
}

MS_API(create_18_rand_like, "ops.rand_like",
       "(input: Tensor, seed: int = None, *, dtype: dtype = None) -> Tensor")
{
    MsTensor *state = source(c, 1, -1);
    return R(state ? ms_rng_uniform(state, shape_of(T(0)), GIVEN(2) ? DTYPE(2) : ms_tensor_dtype(T(0)))
                   : NULL);
}

MS_API(create_19_rand_like, "mint.rand_like",
       "(input: Tensor, *, dtype: dtype = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(2)));
    MsTensor *state = source(c, -1, -1);
    return R(state ? ms_rng_uniform(state, shape_of(T(0)), GIVEN(1) ? DTYPE(1) : ms_tensor_dtype(T(0)))
                   : NULL);
}

MS_API(create_20_randn, "ops.randn", "(*size: any, dtype: dtype = None, seed: int = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts s = size_of(c, 0, buf);
    MsTensor *state = s.n == -2 ? NULL : source(c, 2, -1);
    return R(state ? ms_rng_normal(state, s, float_dtype(c, 1)) : NULL);
}

MS_API(create_21_randn, "mint.randn",
       "(*size: any, generator: any = None, dtype: dtype = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(3)));
    int64_t buf[MS_MAX_DIM];
    MsInts s = size_of(c, 0, buf);
    MsTensor *state = s.n == -2 ? NULL : source(c, -1, 1);
    return R(state ? ms_rng_normal(state, s, float_dtype(c, 2)) : NULL);
}

MS_API(create_22_randn_like, "ops.randn_like",
       "(input: Tensor, seed: int = None, *, dtype: dtype = None) -> Tensor")
{
    MsTensor *state = source(c, 1, -1);
    return R(state ? ms_rng_normal(state, shape_of(T(0)), GIVEN(2) ? DTYPE(2) : MS_FLOAT32) : NULL);
}

MS_API(create_23_randn_like, "mint.randn_like",
       "(input: Tensor, *, dtype: dtype = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(2)));
    MsTensor *state = source(c, -1, -1);
    return R(state ? ms_rng_normal(state, shape_of(T(0)), GIVEN(1) ? DTYPE(1) : ms_tensor_dtype(T(0)))
                   : NULL);
}

MS_API(create_24_randint, "ops.randint",
       "(low: int, high: int, size: ints, seed: int = None, *, dtype: dtype = None) -> Tensor")
{
    return integers(c, I(0), I(1), 2, 3, -1, DTYPE(4));
}

MS_API(create_25_randint, "mint.randint",
       "(low: int, high: int, size: ints, *, generator: any = None, dtype: dtype = None, device: str = "
       "None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(5)));
    return integers(c, I(0), I(1), 2, -1, 3, DTYPE(4));
}

MS_API(create_26_randint, "mint.randint",
       "(high: int, size: ints, *, generator: any = None, dtype: dtype = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(4)));
    return integers(c, 0, I(0), 1, -1, 2, DTYPE(3));
}

MS_API(create_27_randperm, "ops.randperm",
       "(n: int, seed: int = 0, offset: int = 0, dtype: dtype = int64) -> Tensor")
{
    if (I(0) < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'randperm', 'n' must not be negative, but got %lld.",
                       (long long)I(0));
    int64_t two = 2, state[2] = {I(1), I(2)};
    MsTensor *x = ms_rng_perm(ms_tensor_from(MS_INT64, 1, &two, state), I(0));
    return R(x ? ms_cast(x, GIVEN(3) ? DTYPE(3) : MS_INT64) : NULL);
}

MS_API(create_28_randperm, "mint.randperm",
       "(n: int, *, generator: any = None, dtype: dtype = int64) -> Tensor")
{
    if (I(0) < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'randperm', 'n' must not be negative, but got %lld.",
                       (long long)I(0));
    MsTensor *x = ms_rng_perm(source(c, -1, 1), I(0));
    return R(x ? ms_cast(x, GIVEN(2) ? DTYPE(2) : MS_INT64) : NULL);
}

MS_API(create_29_uniform, "ops.uniform",
       "(shape: ints, minval: Tensor|number, maxval: Tensor|number, seed: int = None, dtype: dtype = "
       "float32) -> Tensor")
{
    return between(c, 1, 2, 3, float_dtype(c, 4), false);
}

MS_API(create_30_normal, "ops.normal",
       "(shape: ints, mean: Tensor|number, stddev: Tensor|number, seed: int = None) -> Tensor")
{
    return between(c, 1, 2, 3, MS_FLOAT32, true);
}

MS_API(create_31_standard_normal, "ops.standard_normal", "(shape: ints, seed: int = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts s = size_of(c, 0, buf);
    MsTensor *state = s.n == -2 ? NULL : source(c, 1, -1);
    return R(state ? ms_rng_normal(state, s, MS_FLOAT32) : NULL);
}

MS_API(create_32_dropout, "ops.dropout",
       "(input: Tensor, p: number = 0.5, training: bool = True, seed: int = None) -> Tensor")
{
    return drop(c, 3);
}

MS_API(create_33_dropout, "mint.nn.functional.dropout",
       "(input: Tensor, p: number = 0.5, training: bool = True, inplace: bool = False) -> Tensor")
{
    MS_TRY(drop(c, -1));
    if (!I(3) || c->out.t == T(0)) return MS_OK;
    MS_TRY(ms_tensor_write(T(0), c->out.t));
    return R(T(0));
}
