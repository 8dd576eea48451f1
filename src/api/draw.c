/* draw.c - distributions beyond the uniform and the normal one, draws in place, and dropout of whole
 * channels. Each takes one state from the default generator, or, with a seed, a state of its own. */
#include "op/random.h"

#include "api/args.h"

#include <math.h>
#include <string.h>

static MsDtype or_else(const MsArg *a, MsDtype dflt)
{
    return a->kind == MS_ARG_NONE ? dflt : (MsDtype)a->i;
}
static MsTensor *scalar(double v, MsDtype dtype)
{
    return ms_full((MsInts){0, NULL}, v, dtype);
}

static MsTensor *whole_range(MsTensor *state, int64_t low, int64_t high, MsInts shape, MsDtype dtype)
{
    return state ? ms_rng_int(state, low, high, shape, dtype) : NULL;
}

/* ---- standard draws ---- */

MS_API(randint_like, "ops.randint_like",
       "(input: Tensor, low: int, high: int, seed: int? = None, *, dtype: dtype? = None) -> Tensor")
{
    return R(whole_range(ms__arg_state(ARG(3), NULL), I(1), I(2), shape_of(T(0)),
                         or_else(ARG(4), ms_tensor_dtype(T(0)))));
}
MS_API(randint_like_mint, "mint.randint_like",
       "(input: Tensor, low: int, high: int, *, dtype: dtype? = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(4)));
    return R(whole_range(ms__arg_state(NULL, NULL), I(1), I(2), shape_of(T(0)),
                         or_else(ARG(3), ms_tensor_dtype(T(0)))));
}
MS_API(randint_like_mint_high, "mint.randint_like",
       "(input: Tensor, high: int, *, dtype: dtype? = None, device: str = None) -> Tensor")
{
    MS_TRY(ms__arg_device(ARG(3)));
    return R(whole_range(ms__arg_state(NULL, NULL), 0, I(1), shape_of(T(0)),
                         or_else(ARG(2), ms_tensor_dtype(T(0)))));
}

MS_API(shuffle, "ops.shuffle", "(x: Tensor, seed: int? = None) -> Tensor")
{
    MsTensor *x = T(0);
    if (x->ndim == 0) return R(x);
    MsTensor *s = ms__arg_state(ARG(1), NULL);
    return R(s ? ms_gather(x, ms_rng_perm(s, x->shape[0]), 0) : NULL);
}

/* ---- distributions ---- */

/* The shape of the result: `shape` before the broadcast shape of the parameters. */
static MsStatus full_shape(const char *op, MsInts shape, MsTensor *a, MsTensor *b, int64_t *buf, MsInts *out)
{
    int n = a->ndim > b->ndim ? a->ndim : b->ndim;
    if (n == 0) {
        *out = shape;
        return MS_OK;
    }
    /* the shape itself broadcasts with the parameters', as in the original */
    int nd = shape.n > n ? shape.n : n;
    if (nd > MS_MAX_DIM) return MS_FAIL(MS_ERROR_VALUE, "For '%s', the result has too many dimensions.", op);
    for (int d = 1; d <= nd; d++) {
        int64_t s = d <= shape.n ? shape.v[shape.n - d] : 1;
        const MsTensor *p[2] = {a, b};
        for (int k = 0; k < 2; k++) {
            int64_t m = d <= p[k]->ndim ? p[k]->shape[p[k]->ndim - d] : 1;
            if (m != s && m != 1 && s != 1)
                return MS_FAIL(MS_ERROR_VALUE,
                               "For '%s', the shape %s and the parameters' shape %s need to broadcast.", op,
                               ms__shape_text(shape.n, shape.v), ms__shape_text(p[k]->ndim, p[k]->shape));
            if (s == 1) s = m;
        }
        buf[nd - d] = s;
    }
    *out = (MsInts){nd, buf};
    return MS_OK;
}

/* mint.normal: the shape is that of mean and std, or `size` for numbers. */
MS_API(normal_mint, "mint.normal",
       "(mean: Tensor|number = 0.0, std: Tensor|number = 1.0, size: any = None, *, generator: any = None) -> "
       "Tensor")
{
    VAR("normal", 2, buf, shape);
    MsTensor *mean = ms__arg_data("normal", ARG(0), MS_FLOAT32),
             *std = ms__arg_data("normal", ARG(1), MS_FLOAT32);
    int64_t full[MS_MAX_DIM];
    if (!mean || !std) return ms_error()->code;
    MS_TRY(full_shape("normal", shape, mean, std, full, &shape));
    return R(ms_add(ms_mul(ms_rng_normal(ms__arg_state(NULL, ARG(3)), shape, MS_FLOAT32), std), mean));
}

static MsTensor *laplace(MsInts shape, const MsArg *seed)
{
    /* the inverse distribution at u in (-1/2, 1/2) */
    MsTensor *u = ms_sub(ms_rng_uniform(ms__arg_state(seed, NULL), shape, MS_FLOAT32),
                         scalar(0.5 - 0x1p-25, MS_FLOAT32));
    return ms_neg(ms_mul(ms_sign(u), ms_log1p(ms_mul(ms_abs(u), scalar(-2, MS_FLOAT32)))));
}
MS_API(standard_laplace, "ops.standard_laplace", "(shape: any, seed: int? = None) -> Tensor")
{
    VAR("standard_laplace", 0, buf, shape);
    return R(laplace(shape, ARG(1)));
}
MS_API(laplace, "ops.laplace",
       "(shape: any, mean: Tensor|number, lambda_param: Tensor|number, seed: int? = None) -> Tensor")
{
    VAR("laplace", 0, buf, shape);
    MsTensor *mean = ms__arg_data("laplace", ARG(1), MS_FLOAT32),
             *b = ms__arg_data("laplace", ARG(2), MS_FLOAT32);
    int64_t full[MS_MAX_DIM];
    if (!mean || !b) return ms_error()->code;
    MS_TRY(full_shape("laplace", shape, mean, b, full, &shape));
    return R(ms_add(ms_mul(laplace(shape, ARG(3)), b), mean));
}

static MsTensor *bernoulli(MsTensor *p, MsInts shape, MsDtype dtype, MsTensor *state)
{
    MsTensor *u = ms_rng_uniform(state, shape, MS_FLOAT32);
    return ms__cast_to(ms_lt(u, ms__cast_to(p, MS_FLOAT32)), dtype);
}

/* Every element in [0, 1]; not asked of values that are being traced. */
static MsStatus check_probability(const char *op, MsTensor *p)
{
    double lo = 0, hi = 1;
    if (!p) return ms_error()->code;
    if (p->numel == 0 || ms_tensor_is_traced(p)) return MS_OK;
    MS_TRY(ms_tensor_item(ms_reduce_min(p, MS_INTS_NONE, false), &lo));
    MS_TRY(ms_tensor_item(ms_reduce_max(p, MS_INTS_NONE, false), &hi));
    if (lo >= 0 && hi <= 1) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', p must be in [0, 1], but got %g.", op, lo < 0 ? lo : hi);
}

MS_API(bernoulli_name, "ops.bernoulli", "(input: Tensor, p: Tensor|number = 0.5, seed: int = None) -> Tensor")
{
    MsTensor *p = ms__arg_data("bernoulli", ARG(1), MS_FLOAT32);
    MS_TRY(check_probability("bernoulli", p));
    return R(bernoulli(p, shape_of(T(0)), ms_tensor_dtype(T(0)), ms__arg_state(ARG(2), NULL)));
}

MS_API(bernoulli_mint, "mint.bernoulli ops.bernoulli_ext Tensor.bernoulli",
       "(input: Tensor, *, generator: any = None) -> Tensor")
{
    MS_TRY(check_probability("bernoulli", ms__cast_to(T(0), MS_FLOAT32)));
    return R(bernoulli(T(0), shape_of(T(0)), ms_tensor_dtype(T(0)), ms__arg_state(NULL, ARG(1))));
}

/* Distinct draws are the k largest of log p + Gumbel noise. */
static MsStatus multinomial(MsApiCall *c, MsTensor *p, int64_t k, bool replacement, MsTensor *state,
                            MsDtype dtype)
{
    MsTensor *y[2];
    if (!p || !state) return ms_error()->code;
    if (p->ndim < 1 || p->ndim > 2 || p->shape[p->ndim - 1] == 0 || k <= 0 ||
        (!replacement && k > p->shape[p->ndim - 1]))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'multinomial', %lld samples cannot be drawn from an input of shape %s.",
                       (long long)k, ms__shape_text(p->ndim, p->shape));
    if (!replacement) {
        MsTensor *u = ms_rng_uniform(state, shape_of(p), MS_FLOAT32);
        MsTensor *noise = ms_neg(ms_log(ms_neg(ms_log(ms_add(u, scalar(0x1p-25, MS_FLOAT32))))));
        MS_TRY(ms_topk(ms_add(ms_log(p), noise), k, -1, true, true, y));
        return R(ms__cast_to(y[1], dtype));
    }
    int64_t shape[2];
    memcpy(shape, p->shape, sizeof shape);
    shape[p->ndim - 1] = k;
    MsTensor *sum = ms_cumsum(p, -1, false, false);
    MsTensor *all = ms__narrowed(sum, p->ndim - 1, p->shape[p->ndim - 1] - 1, 1);
    MsTensor *u = ms_mul(ms_rng_uniform(state, (MsInts){p->ndim, shape}, MS_FLOAT32), all);
    MsTensor *i = ms_searchsorted(sum, u, true);
    i = ms_minimum(i, ms_full_int((MsInts){0, NULL}, p->shape[p->ndim - 1] - 1, MS_INT64));
    return R(ms__cast_to(i, dtype));
}
MS_API(multinomial_ops, "ops.multinomial Tensor.multinomial",
       "(input: Tensor, num_samples: int, replacement: bool = True, seed: int? = None) -> Tensor")
{
    return multinomial(c, ms__cast_to(T(0), MS_FLOAT32), I(1), I(2), ms__arg_state(ARG(3), NULL), MS_INT32);
}
MS_API(multinomial_mint, "mint.multinomial",
       "(input: Tensor, num_samples: int, replacement: bool = False, *, generator: any = None) -> Tensor")
{
    return multinomial(c, ms__cast_to(T(0), MS_FLOAT32), I(1), I(2), ms__arg_state(NULL, ARG(3)), MS_INT64);
}
MS_API(random_categorical, "ops.random_categorical Tensor.random_categorical",
       "(logits: Tensor, num_sample: int, seed: int = 0, dtype: dtype = mstype.int64) -> Tensor")
{
    MsTensor *logits = T(0);
    if (logits->ndim != 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'random_categorical', the logits must be 2-d, but got %d dimensions.",
                       logits->ndim);
    MsTensor *p = ms_softmax(ms__cast_to(logits, MS_FLOAT32), -1);
    return multinomial(c, p, I(1), true, ms__arg_state(I(2) ? ARG(2) : NULL, NULL), (MsDtype)I(3));
}

/* ---- for primitives that own their state ---- */

MS_API(p_multinomial, "_p.multinomial", "(x: Tensor, n: int, state: Tensor?, dtype: dtype) -> Tensor")
{
    return multinomial(c, ms__cast_to(T(0), MS_FLOAT32), I(1), true, ms__arg_state(NULL, ARG(2)), DTYPE(3));
}
MS_API(p_bernoulli, "_p.bernoulli", "(x: Tensor, p: Tensor|number, state: Tensor?) -> Tensor")
{
    MsTensor *p = ms__arg_data("Bernoulli", ARG(1), MS_FLOAT32);
    MS_TRY(check_probability("Bernoulli", p));
    return R(bernoulli(p, shape_of(T(0)), ms_tensor_dtype(T(0)), ms__arg_state(NULL, ARG(2))));
}
MS_API(p_normal, "_p.normal",
       "(shape: any, mean: Tensor|number, std: Tensor|number, state: Tensor?) -> Tensor")
{
    VAR("Normal", 0, buf, shape);
    MsTensor *mean = ms__arg_data("Normal", ARG(1), MS_FLOAT32),
             *std = ms__arg_data("Normal", ARG(2), MS_FLOAT32);
    int64_t full[MS_MAX_DIM];
    if (!mean || !std) return ms_error()->code;
    MS_TRY(full_shape("Normal", shape, mean, std, full, &shape));
    return R(ms_add(ms_mul(ms_rng_normal(ms__arg_state(NULL, ARG(3)), shape, MS_FLOAT32), std), mean));
}
MS_API(p_randperm, "_p.randperm", "(n: int, state: Tensor?, dtype: dtype) -> Tensor")
{
    MsTensor *s = ms__arg_state(NULL, ARG(1));
    return R(s ? ms__cast_to(ms_rng_perm(s, I(0)), DTYPE(2)) : NULL);
}

/* ---- counts and waiting times ---- */

typedef MsTensor *(*Drawn)(MsTensor *state, MsTensor *parameter);

/* A draw for each element of `parameter`, `shape` times; computed in float64 unless the parameter is narrower. */
static MsStatus drawn_for(MsApiCall *c, const char *op, const MsArg *shape, MsTensor *parameter, Drawn draw,
                          MsTensor *state, MsDtype dtype)
{
    int64_t buf[MS_MAX_DIM];
    if (shape->kind == MS_ARG_TENSOR) {
        if (!ms_dtype_is_int(ms_tensor_dtype(shape->t)))
            return MS_FAIL(MS_ERROR_TYPE,
                           "For '%s', the 'shape' must be a Tensor of int32 or int64, but got %s.", op,
                           ms_dtype_name(ms_tensor_dtype(shape->t)));
        if (shape->t->ndim != 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'shape' must be a 1-D Tensor, but got shape %s.",
                           op, ms__shape_text(shape->t->ndim, shape->t->shape));
    }
    MsInts size = ms__arg_var(op, shape, buf);
    if (size.n == -2 || !parameter) return ms_error()->code;
    if (size.n + parameter->ndim > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the result has too many dimensions.", op);
    for (int d = 0; d < size.n; d++)
        if (size.v[d] < 0)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'shape' must not be negative, but got %s.", op,
                           ms__shape_text(size.n, size.v));
    int64_t full[MS_MAX_DIM];
    memcpy(full, size.v, (size_t)size.n * sizeof *full);
    memcpy(full + size.n, parameter->shape, (size_t)parameter->ndim * sizeof *full);
    if (!ms_dtype_is_float(ms_tensor_dtype(parameter))) parameter = ms_cast(parameter, MS_FLOAT64);
    parameter = ms_broadcast_to(parameter, (MsInts){size.n + (parameter ? parameter->ndim : 0), full});
    return R(state ? ms__cast_to(draw(state, parameter), dtype) : NULL);
}

/* A dtype for results, or for `parameter`: no bool, nothing complex. */
static MsStatus check_real(const char *op, const char *name, MsDtype dtype)
{
    if (ms_dtype_is_float(dtype) || ms_dtype_is_int(dtype)) return MS_OK;
    return MS_FAIL(MS_ERROR_TYPE, "For '%s', the '%s' must be of int or float, but got %s.", op, name,
                   ms_dtype_name(dtype));
}

static MsStatus poisson(MsApiCall *c, const char *op, MsTensor *state, MsDtype dtype)
{
    MS_TRY(check_real(op, "rate", ms_tensor_dtype(T(1))));
    MS_TRY(check_real(op, "dtype", dtype));
    return drawn_for(c, op, ARG(0), T(1), ms_rng_poisson, state, dtype);
}
MS_API(random_poisson, "ops.random_poisson",
       "(shape: Tensor, rate: Tensor, seed: int? = None, dtype: dtype = mstype.float32) -> Tensor")
{
    return poisson(c, "random_poisson", ms__arg_state(ARG(2), NULL), DTYPE(3));
}
MS_API(p_poisson, "_p.poisson", "(shape: any, rate: Tensor, state: Tensor?, dtype: dtype) -> Tensor")
{
    return poisson(c, "RandomPoisson", ms__arg_state(NULL, ARG(2)), DTYPE(3));
}

static MsStatus gamma_like(MsApiCall *c, const char *op, MsTensor *state)
{
    MsDtype dtype = ms_tensor_dtype(T(1));
    if (!ms_dtype_is_float(dtype))
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the 'alpha' must be of float, but got %s.", op,
                       ms_dtype_name(dtype));
    return drawn_for(c, op, ARG(0), T(1), ms_rng_gamma, state, dtype);
}
MS_API(random_gamma, "ops.random_gamma", "(shape: any, alpha: Tensor, seed: int? = None) -> Tensor")
{
    return gamma_like(c, "random_gamma", ms__arg_state(ARG(2), NULL));
}
MS_API(p_gamma, "_p.gamma", "(shape: any, alpha: Tensor, state: Tensor?) -> Tensor")
{
    return gamma_like(c, "RandomGamma", ms__arg_state(NULL, ARG(2)));
}

/* The older forms: the shape broadcasts with the parameters'. */
MS_API(gamma, "ops.gamma",
       "(shape: any, alpha: Tensor|number, beta: Tensor|number, seed: int? = None) -> Tensor")
{
    VAR("gamma", 0, buf, shape);
    MsTensor *alpha = ms__arg_data("gamma", ARG(1), MS_FLOAT32),
             *beta = ms__arg_data("gamma", ARG(2), MS_FLOAT32);
    int64_t full[MS_MAX_DIM];
    if (!alpha || !beta) return ms_error()->code;
    MS_TRY(full_shape("gamma", shape, alpha, beta, full, &shape));
    MsTensor *s = ms__arg_state(ARG(3), NULL);
    return R(s ? ms_div(ms_rng_gamma(s, ms_broadcast_to(alpha, shape)), beta) : NULL);
}
MS_API(poisson, "ops.poisson", "(shape: any, mean: Tensor|number, seed: int? = None) -> Tensor")
{
    VAR("poisson", 0, buf, shape);
    MsTensor *mean = ms__arg_data("poisson", ARG(1), MS_FLOAT32);
    int64_t full[MS_MAX_DIM];
    if (!mean) return ms_error()->code;
    MS_TRY(full_shape("poisson", shape, mean, mean, full, &shape));
    MsTensor *s = ms__arg_state(ARG(2), NULL);
    return R(s ? ms__cast_to(ms_rng_poisson(s, ms_broadcast_to(mean, shape)), MS_INT32) : NULL);
}

/* ---- in place ---- */

static MsStatus into_self(MsApiCall *c, MsTensor *y)
{
    if (!y) return ms_error()->code;
    MS_TRY(ms_tensor_write(T(0), y));
    return R(T(0));
}

/* The float dtype in which numbers for t are drawn. */
static MsDtype draw_dtype(MsTensor *t)
{
    MsDtype d = ms_tensor_dtype(t);
    return ms_dtype_is_float(d) ? d : MS_FLOAT32;
}

static MsTensor *uniform_like(MsApiCall *c, double lo, double hi, const MsArg *generator)
{
    MsDtype d = draw_dtype(T(0));
    MsTensor *u = ms_rng_uniform(ms__arg_state(NULL, generator), shape_of(T(0)), d);
    return ms_add(ms_mul(u, scalar(hi - lo, d)), scalar(lo, d));
}
MS_API(uniform_method, "Tensor.uniform",
       "(self: Tensor, from_: number = 0.0, to: number = 1.0, generator: any = None) -> Tensor")
{
    return R(uniform_like(c, F(1), F(2), ARG(3)));
}
MS_API(uniform_in, "Tensor.uniform_",
       "(self: Tensor, from_: number = 0, to: number = 1, *, generator: any = None) -> Tensor")
{
    return into_self(c, uniform_like(c, F(1), F(2), ARG(3)));
}
MS_API(normal_in, "Tensor.normal_ ops.normal_",
       "(input: Tensor, mean: number = 0, std: number = 1, *, generator: any = None) -> Tensor")
{
    MsDtype d = draw_dtype(T(0));
    MsTensor *z = ms_rng_normal(ms__arg_state(NULL, ARG(3)), shape_of(T(0)), d);
    return into_self(c, ms_add(ms_mul(z, scalar(F(2), d)), scalar(F(1), d)));
}
MS_API(log_normal, "Tensor.log_normal", "(self: Tensor, mean: number = 1.0, std: number = 2.0) -> Tensor")
{
    MsDtype d = draw_dtype(T(0));
    MsTensor *z = ms_rng_normal(ms__arg_state(NULL, NULL), shape_of(T(0)), d);
    return R(ms_exp(ms_add(ms_mul(z, scalar(F(2), d)), scalar(F(1), d))));
}
MS_API(exponential_in, "Tensor.exponential_",
       "(self: Tensor, lambd: number = 1, *, generator: any = None) -> Tensor")
{
    MsDtype d = draw_dtype(T(0));
    MsTensor *u = ms_rng_uniform(ms__arg_state(NULL, ARG(2)), shape_of(T(0)), d);
    return into_self(c, ms_div(ms_neg(ms_log1p(ms_neg(u))), scalar(F(1), d)));
}
MS_API(bernoulli_in, "Tensor.bernoulli_",
       "(self: Tensor, p: Tensor|number = 0.5, *, generator: any = None) -> Tensor")
{
    MsTensor *p = ms__arg_data("bernoulli_", ARG(1), MS_FLOAT32);
    MS_TRY(check_probability("bernoulli_", p));
    return into_self(c, bernoulli(p, shape_of(T(0)), ms_tensor_dtype(T(0)), ms__arg_state(NULL, ARG(2))));
}
/* Integers up to where the dtype counts without gaps, or in [from_, to). */
MS_API(random_in, "Tensor.random_ ops.random_",
       "(input: Tensor, from_: int = 0, to: int? = None, *, generator: any = None) -> Tensor")
{
    static const int8_t bits[] = {
        [MS_BOOL] = 1,     [MS_INT8] = 7,     [MS_INT16] = 15,   [MS_INT32] = 31,  [MS_INT64] = 63,
        [MS_UINT8] = 8,    [MS_UINT16] = 16,  [MS_UINT32] = 32,  [MS_UINT64] = 63, [MS_FLOAT16] = 11,
        [MS_BFLOAT16] = 8, [MS_FLOAT32] = 24, [MS_FLOAT64] = 53,
    };
    MsDtype d = ms_tensor_dtype(T(0));
    int64_t most = d < MS_COMPLEX64 && bits[d] < 63 ? (int64_t)1 << bits[d] : INT64_MAX;
    if (d == MS_FLOAT16 || d == MS_BFLOAT16 || d == MS_FLOAT32 || d == MS_FLOAT64) most += 1;
    return into_self(
        c, whole_range(ms__arg_state(NULL, ARG(3)), I(1), GIVEN(2) ? I(2) : most, shape_of(T(0)), d));
}

/* ---- dropout ---- */

/* Zero with probability p, else scaled by 1 / (1 - p); one decision per element of `shape`, which broadcasts.
 */
static MsTensor *dropout(const char *op, MsTensor *x, MsInts shape, double p, bool training,
                         const MsArg *seed)
{
    if (!(p >= 0 && p <= 1))
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the 'p' must be a number in range [0, 1], but got %g.",
                            op, p);
    if (!training || p == 0) return x;
    if (!ms_dtype_is_float(ms_tensor_dtype(x)))
        return MS_FAIL_NULL(MS_ERROR_TYPE, "For '%s', the input must be of a float type, but got %s.", op,
                            ms_dtype_name(ms_tensor_dtype(x)));
    MsTensor *s = ms__arg_state(seed, NULL);
    return s ? ms_mul(x, ms_rng_keep(s, p, shape, ms_tensor_dtype(x))) : NULL;
}

/* Whole channels: decided per example and channel of [N, C, ..] (or per channel of [C, ..], n dimensions of
 * space). */
static MsStatus channel_dropout(MsApiCall *c, const char *op, int space)
{
    MsTensor *x = T(0);
    if (x->ndim != space + 1 && x->ndim != space + 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have %d or %d dimensions, but got %d.", op,
                       space + 1, space + 2, x->ndim);
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++) shape[d] = d < x->ndim - space ? x->shape[d] : 1;
    return R(dropout(op, x, (MsInts){x->ndim, shape}, F(1), I(2), NULL));
}
MS_API(dropout1d, "ops.dropout1d", "(input: Tensor, p: number = 0.5, training: bool = True) -> Tensor")
{
    return channel_dropout(c, "dropout1d", 1);
}
MS_API(dropout2d, "ops.dropout2d mint.nn.functional.dropout2d",
       "(input: Tensor, p: number = 0.5, training: bool = True, inplace: bool = False) -> Tensor")
{
    MS_TRY(channel_dropout(c, "dropout2d", 2));
    return I(3) ? into_self(c, c->out.t) : MS_OK;
}
MS_API(dropout3d, "ops.dropout3d", "(input: Tensor, p: number = 0.5, training: bool = True) -> Tensor")
{
    return channel_dropout(c, "dropout3d", 3);
}
