/* init.c - initial values of parameters, rows under `_init`. A draw is a function of its seed alone: a stream
 * of its own, apart from the default generator. */
#include "api/api.h"

#include <math.h>

/* Sub-stream k of a seed. */
static MsTensor *stream(MsApiCall *c, int64_t k)
{
    return ms_tensor_from(MS_INT64, 1, (int64_t[]){2}, (int64_t[]){I(0), k});
}

/* x * by + plus */
static MsTensor *affine(MsTensor *x, double by, double plus)
{
    if (!x) return NULL;
    MsDtype dt = ms_tensor_dtype(x);
    return ms_add(ms_mul(x, ms_tensor_scalar(dt, by)), ms_tensor_scalar(dt, plus));
}

MS_API(init_full, "_init.full", "(shape: ints, value: float, dtype: dtype) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(ms_full(INTS(0, buf), F(1), DTYPE(2)));
}

MS_API(init_normal, "_init.normal",
       "(seed: int, shape: ints, dtype: dtype, mean: float, sigma: float) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(affine(ms_rng_normal(stream(c, 0), INTS(1, buf), DTYPE(2)), F(4), F(3)));
}

/* [-scale, scale) */
MS_API(init_uniform, "_init.uniform", "(seed: int, shape: ints, dtype: dtype, scale: float) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    return R(affine(ms_rng_uniform(stream(c, 0), INTS(1, buf), DTYPE(2)), 2 * F(3), -F(3)));
}

/* Normal restricted to [low, high], by inversion of the distribution function (in float64). */
MS_API(init_truncated_normal, "_init.truncated_normal",
       "(seed: int, shape: ints, dtype: dtype, mean: float, sigma: float, low: float, high: float) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    double mean = F(3), sigma = F(4), low = F(5), high = F(6);
    if (!(sigma > 0 && low < high))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'TruncatedNormal', sigma must be > 0 and a < b, but got %g, %g and %g.", sigma,
                       low, high);
    double from = erf((low - mean) / sigma * M_SQRT1_2), to = erf((high - mean) / sigma * M_SQRT1_2);
    MsTensor *u = affine(ms_rng_uniform(stream(c, 0), INTS(1, buf), MS_FLOAT64), to - from, from);
    MsTensor *z = affine(ms_erfinv(u), sigma * M_SQRT2, mean);
    z = ms_maximum(ms_minimum(z, ms_tensor_scalar(MS_FLOAT64, high)), ms_tensor_scalar(MS_FLOAT64, low));
    return R(ms_cast(z, DTYPE(2)));
}

/* Normal values; in every column of a matrix n_zero of them, drawn without replacement, are zero. */
MS_API(init_sparse, "_init.sparse",
       "(seed: int, shape: ints, dtype: dtype, sigma: float, n_zero: int) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts shape = INTS(1, buf);
    if (shape.n == -2) return ms_error()->code;
    if (shape.n != 2 || I(4) > shape.v[0])
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'Sparse', the shape must be a matrix with at least %lld rows to be zero, but got %s.",
            (long long)I(4), ms__shape_text(shape.n, shape.v));
    MsTensor *value = affine(ms_rng_normal(stream(c, 0), shape, DTYPE(2)), F(3), 0), *sorted[2];
    if (!value || I(4) < 1) return R(value);
    MsTensor *draw = ms_rng_uniform(stream(c, 1), shape, MS_FLOAT64);
    MS_TRY(ms_sort(draw, 0, false, true, sorted));
    MsTensor *limit = ms_slice(sorted[0], MS_INTS(I(4) - 1, 0), MS_INTS(1, shape.v[1]), MS_INTS(1, 1));
    return R(ms_where(ms_gt(draw, limit), value, ms_full(shape, 0, DTYPE(2))));
}
