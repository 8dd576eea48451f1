/* norm.c - public names of normalisation. Batch norm with running statistics is an affine map of the input. Half inputs with
 * float32 parameters keep their dtype; the arithmetic is float32. */
#include "api/args.h"

#include <string.h>

static MsTensor *as(MsTensor *x, MsDtype dtype)
{
    return x && ms_tensor_dtype(x) != dtype ? ms_cast(x, dtype) : x;
}

/* A number as a 0-d tensor of t's dtype. */
static MsTensor *number(double v, const MsTensor *t)
{
    return t ? ms_full((MsInts){0, NULL}, v, ms_tensor_dtype(t)) : NULL;
}

static MsStatus check_channels(const char *op, const char *name, const MsTensor *v, const MsTensor *x)
{
    if (!v || (nd(v) == 1 && shape(v)[0] == shape(x)[1])) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' must have shape (%lld,), but got %s.", op, name,
                   (long long)shape(x)[1], ms__shape_text(nd(v), shape(v)));
}

static MsDtype wider(const MsTensor *x, const MsTensor *v)
{
    MsDtype d = v ? ms_tensor_dtype(v) : ms_tensor_dtype(x);
    MsDtype p = ms_dtype_promote(ms_tensor_dtype(x), d);
    return p == MS_FLOAT16 || p == MS_BFLOAT16 ? MS_FLOAT32 : p;
}

static MsTensor *affine(MsTensor *x, MsTensor *mean, MsTensor *var, MsTensor *gamma, MsTensor *beta,
                        double eps)
{
    MsDtype wide = wider(x, mean);
    MsInts c = {1, shape(x) + 1};
    MsTensor *g = gamma ? as(gamma, wide) : ms_full(c, 1, wide),
             *b = beta ? as(beta, wide) : ms_full(c, 0, wide);
    return ms_batch_norm_apply(x, g, b, as(mean, wide), as(var, wide), NULL, eps, false, 0);
}

/* running = running (1 - momentum) + batch momentum, written in place. */
static MsStatus blend(MsTensor *running, MsTensor *batch, double momentum)
{
    MsTensor *b = as(batch, ms_tensor_dtype(running));
    MsTensor *v =
        ms_add(ms_mul(running, number(1 - momentum, running)), ms_mul(b, number(momentum, running)));
    return v ? ms_tensor_write(running, ms_stop_gradient(v)) : ms_error()->code;
}

/* Statistics of the batch normalise; the running ones move, the variance unbiased. */
static MsTensor *train(MsTensor *x, MsTensor *mean, MsTensor *var, MsTensor *gamma, MsTensor *beta,
                       double momentum, double eps)
{
    MsDtype wide = wider(x, gamma ? gamma : mean);
    MsInts c = {1, shape(x) + 1};
    int64_t count = 1;
    for (int d = 0; d < nd(x); d++)
        if (d != 1) count *= shape(x)[d];
    if (count <= 1)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For 'batch_norm', more than one value per channel is expected when training, but got shape %s.",
            ms__shape_text(nd(x), shape(x)));
    MsTensor *y[3];
    MsTensor *g = gamma ? as(gamma, wide) : ms_full(c, 1, wide),
             *b = beta ? as(beta, wide) : ms_full(c, 0, wide);
    if (ms_batch_norm(x, g, b, eps, y) != MS_OK) return NULL;
    if (mean && blend(mean, y[1], momentum) != MS_OK) return NULL;
    if (var) {
        MsTensor *unbiased = ms_mul(y[2], number((double)count / (double)(count - 1), y[2]));
        if (!unbiased || blend(var, unbiased, momentum) != MS_OK) return NULL;
    }
    return y[0];
}

/* (input, running_mean, running_var, weight, bias, training, momentum, eps) */
static MsStatus batch_norm(MsApiCall *c)
{
    MsTensor *x = T(0), *mean = T(1), *var = T(2), *gamma = T(3), *beta = T(4);
    static const char *const names[] = {"running_mean", "running_var", "weight", "bias"};
    if (nd(x) < 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'batch_norm', the input must have at least 2 dimensions, but got shape %s.",
                       ms__shape_text(nd(x), shape(x)));
    for (int k = 0; k < 4; k++) MS_TRY(check_channels("batch_norm", names[k], T(1 + k), x));
    if (I(5)) return R(train(x, mean, var, gamma, beta, F(6), F(7)));
    if (!mean || !var)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'batch_norm', 'running_mean' and 'running_var' must be given unless training.");
    return R(affine(x, mean, var, gamma, beta, F(7)));
}

MS_API(ops_batch_norm, "ops.batch_norm",
       "(input_x: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor, bias: Tensor, training: "
       "bool = False, "
       "momentum: number = 0.1, eps: number = 1e-05) -> Tensor")
{
    return batch_norm(c);
}

MS_API(mint_batch_norm, "mint.nn.functional.batch_norm",
       "(input: Tensor, running_mean: Tensor?, running_var: Tensor?, weight: Tensor = None, bias: Tensor = "
       "None, "
       "training: bool = False, momentum: number = 0.1, eps: number = 1e-05) -> Tensor")
{
    return batch_norm(c);
}

/* The layers' form: `momentum` is the share of the old running value. */
MS_API(
    nn_batch_norm, "_nn.batch_norm",
    "(x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor, eps: number, momentum: number, "
    "training: bool) -> Tensor")
{
    static const char *const names[] = {"gamma", "beta", "moving_mean", "moving_variance"};
    for (int k = 0; k < 4; k++) MS_TRY(check_channels("BatchNorm", names[k], T(1 + k), T(0)));
    if (I(7)) return R(train(T(0), T(3), T(4), T(1), T(2), 1 - F(6), F(5)));
    return R(affine(T(0), T(3), T(4), T(1), T(2), F(5)));
}

MS_API(nn_layer_norm, "_nn.layer_norm",
       "(x: Tensor, gamma: Tensor?, beta: Tensor?, ndim: int, eps: number) -> Tensor")
{
    MsTensor *y[3];
    MS_TRY(ms_layer_norm(T(0), T(1), T(2), I(3), F(4), y));
    return R(y[0]);
}

MS_API(layer_norm_row, "ops.layer_norm mint.nn.functional.layer_norm",
       "(input: Tensor, normalized_shape: ints, weight: Tensor = None, bias: Tensor = None, eps: number = "
       "1e-05) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts s = INTS(1, buf);
    MsTensor *x = T(0), *y[3];
    if (s.n == -2) return ms_error()->code;
    if (s.n < 1 || s.n > nd(x) || memcmp(s.v, shape(x) + nd(x) - s.n, (size_t)s.n * sizeof *s.v) != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'layer_norm', 'normalized_shape' must be the last sizes of the input, but got %s "
                       "for an input of shape %s.",
                       ms__shape_text(s.n, s.v), ms__shape_text(nd(x), shape(x)));
    MS_TRY(ms_layer_norm(x, T(2), T(3), s.n, F(4), y));
    return R(y[0]);
}

MS_API(group_norm_row, "ops.group_norm mint.nn.functional.group_norm _nn.group_norm",
       "(input: Tensor, num_groups: int, weight: Tensor = None, bias: Tensor = None, eps: number = 1e-05) -> "
       "Tensor")
{
    MsTensor *x = T(0);
    int64_t g = I(1);
    if (nd(x) < 2 || g < 1 || shape(x)[1] % g)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'group_norm', the channels must be a multiple of 'num_groups', but got shape %s and "
            "%lld.",
            ms__shape_text(nd(x), shape(x)), (long long)g);
    MS_TRY(check_channels("group_norm", "weight", T(2), x));
    MS_TRY(check_channels("group_norm", "bias", T(3), x));
    return R(ms_group_norm(x, T(2), T(3), g, F(4)));
}

MS_API(rms_norm, "ops.rms_norm", "(x: Tensor, gamma: Tensor, epsilon: number = 1e-6) -> any")
{
    MsTensor *x = T(0), *gamma = T(1), *y[2];
    int n = nd(gamma);
    int64_t axes[MS_MAX_DIM];
    if (n < 1 || n > nd(x) || memcmp(shape(gamma), shape(x) + nd(x) - n, (size_t)n * sizeof(int64_t)) != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'rms_norm', 'gamma' must have the last sizes of 'x', but got %s for shape %s.",
                       ms__shape_text(n, shape(gamma)), ms__shape_text(nd(x), shape(x)));
    for (int d = 0; d < n; d++) axes[d] = nd(x) - n + d;
    MsDtype dtype = ms_tensor_dtype(x), wide = wider(x, gamma);
    MsTensor *w = as(x, wide);
    y[1] = ms_rsqrt(ms_add(ms_mean(ms_square(w), (MsInts){n, axes}, true), number(F(2), w)));
    y[0] = as(ms_mul(ms_mul(w, y[1]), as(gamma, wide)), dtype);
    return ms__api_return_list(c, 2, y);
}

/* Krizhevsky et al. 2012: x / (bias + alpha * sum of squares over 2 depth_radius + 1 channels) ^ beta. */
MS_API(lrn, "ops.lrn",
       "(x: Tensor, depth_radius: int = 5, bias: number = 1.0, alpha: number = 1.0, beta: number = 0.5, "
       "norm_region: str = 'ACROSS_CHANNELS') -> Tensor")
{
    MsTensor *x = T(0);
    int64_t r = I(1);
    if (nd(x) != 4)
        return MS_FAIL(MS_ERROR_VALUE, "For 'lrn', 'x' must have 4 dimensions, but got shape %s.",
                       ms__shape_text(nd(x), shape(x)));
    if (r < 0 || strcmp(ARG(5)->s, "ACROSS_CHANNELS") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'lrn', 'depth_radius' must not be negative and 'norm_region' must be "
                       "'ACROSS_CHANNELS', but got %lld and '%s'.",
                       (long long)r, ARG(5)->s);
    int64_t n = shape(x)[0], ch = shape(x)[1], plane = shape(x)[2] * shape(x)[3];
    MsTensor *squares = ms_reshape(ms_square(x), MS_INTS(n, 1, ch, plane));
    MsTensor *sums =
        ms_avg_pool(squares, MS_INTS(2 * r + 1, 1), MS_INTS(1, 1), MS_INTS(r, 0), MS_INTS(r, 0), true, 1);
    MsTensor *base = ms_add(ms_mul(ms_reshape(sums, shape_of(x)), number(F(3), x)), number(F(2), x));
    return R(ms_div(x, ms_pow(base, number(F(4), x))));
}

/* ---- primitives by their own names ---- */

MS_API(prim_batch_norm, "prim.batch_norm", "(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> any")
{
    MsTensor *y[3];
    MS_TRY(ms_batch_norm(T(0), T(1), T(2), F(3), y));
    return ms__api_return_list(c, 3, y);
}

MS_API(prim_layer_norm, "prim.layer_norm",
       "(x: Tensor, gamma: Tensor?, beta: Tensor?, ndim: int, eps: float) -> any")
{
    MsTensor *y[3];
    MS_TRY(ms_layer_norm(T(0), T(1), T(2), I(3), F(4), y));
    return ms__api_return_list(c, 3, y);
}
