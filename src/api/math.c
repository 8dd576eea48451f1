/* math.c - public names of elementwise functions of one tensor: mathematics, activations, classification and
 * casts. A row is a primitive or a composition of primitives, so that it has a gradient, batches and stages.
 */
#include "api/args.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static MsTensor *constant(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(dtype_of(like), v) : NULL;
}
static MsTensor *plus(MsTensor *x, double v)
{
    return ms_add(x, constant(x, v));
}
static MsTensor *times(MsTensor *x, double v)
{
    return ms_mul(x, constant(x, v));
}
/* Integers and bool as float32. */
static MsTensor *as_float(MsTensor *x)
{
    return is_exact(x) ? ms_cast(x, MS_FLOAT32) : x;
}
/* A function that integers and bool pass unchanged. */
static MsTensor *unless_bool(MsTensor *x, MsTensor *(*f)(MsTensor *))
{
    return dtype_of(x) == MS_BOOL ? x : f(x);
}

static MsStatus return_bool(MsApiCall *c, bool v)
{
    c->out = (MsArg){.kind = MS_ARG_BOOL, .i = v};
    return MS_OK;
}

/* x where lo <= x <= hi, the bound beyond it; NaN stays. A NULL bound is none. */
static MsTensor *clamp(MsTensor *x, MsTensor *lo, MsTensor *hi)
{
    if (lo) x = ms_maximum(x, lo);
    return hi ? ms_minimum(x, hi) : x;
}

/* ---- mathematics ---- */

MS_API(math_abs, "ops.abs ops.absolute mint.abs Tensor.abs Tensor.absolute Tensor.__abs__",
       "(input: Tensor) -> Tensor")
{
    return R(unless_bool(T(0), ms_abs));
}

MS_API(math_neg, "ops.neg ops.negative mint.neg mint.negative Tensor.neg Tensor.negative Tensor.__neg__",
       "(input: Tensor) -> Tensor")
{
    return R(ms_neg(T(0)));
}

MS_API(math_sign, "ops.sign ops.sgn mint.sign Tensor.sign Tensor.sgn", "(input: Tensor) -> Tensor")
{
    return R(ms_sign(T(0)));
}

MS_API(math_square, "ops.square mint.square Tensor.square", "(input: Tensor) -> Tensor")
{
    return R(ms_square(T(0)));
}

MS_API(math_sqrt_x, "ops.sqrt", "(x: Tensor) -> Tensor")
{
    return R(ms_sqrt(as_float(T(0))));
}

MS_API(math_sqrt, "mint.sqrt Tensor.sqrt", "(input: Tensor) -> Tensor")
{
    return R(ms_sqrt(as_float(T(0))));
}

MS_API(math_rsqrt, "ops.rsqrt mint.rsqrt Tensor.rsqrt", "(input: Tensor) -> Tensor")
{
    return R(ms_rsqrt(as_float(T(0))));
}

MS_API(math_reciprocal, "ops.reciprocal mint.reciprocal Tensor.reciprocal", "(input: Tensor) -> Tensor")
{
    return R(ms_reciprocal(as_float(T(0))));
}

MS_API(math_inv, "ops.inv Tensor.inv", "(x: Tensor) -> Tensor")
{
    return R(ms_reciprocal(as_float(T(0))));
}

MS_API(math_exp, "ops.exp mint.exp Tensor.exp", "(input: Tensor) -> Tensor")
{
    return R(ms_exp(T(0)));
}

MS_API(math_exp2, "ops.exp2 mint.exp2 mint.special.exp2", "(input: Tensor) -> Tensor")
{
    MsTensor *x = as_float(T(0));
    return x ? R(ms_pow(ms_tensor_scalar(ms_tensor_dtype(x), 2), x)) : ms_error()->code;
}

MS_API(math_expm1, "ops.expm1 mint.expm1 Tensor.expm1 mint.special.expm1", "(input: Tensor) -> Tensor")
{
    return R(ms_expm1(T(0)));
}

MS_API(math_log, "ops.log mint.log Tensor.log", "(input: Tensor) -> Tensor")
{
    return R(ms_log(T(0)));
}

MS_API(math_log1p, "ops.log1p mint.log1p Tensor.log1p mint.special.log1p", "(input: Tensor) -> Tensor")
{
    return R(ms_log1p(T(0)));
}

MS_API(math_log2, "ops.log2 mint.log2 Tensor.log2", "(input: Tensor) -> Tensor")
{
    return R(times(ms_log(as_float(T(0))), M_LOG2E));
}

MS_API(math_log10, "ops.log10 mint.log10 Tensor.log10", "(input: Tensor) -> Tensor")
{
    return R(times(ms_log(as_float(T(0))), M_LOG10E));
}

MS_API(math_sin, "ops.sin mint.sin Tensor.sin", "(input: Tensor) -> Tensor")
{
    return R(ms_sin(T(0)));
}

MS_API(math_cos, "ops.cos mint.cos Tensor.cos", "(input: Tensor) -> Tensor")
{
    return R(ms_cos(T(0)));
}

MS_API(math_tan, "ops.tan mint.tan Tensor.tan", "(input: Tensor) -> Tensor")
{
    return R(ms_tan(T(0)));
}

MS_API(math_sinh, "ops.sinh mint.sinh Tensor.sinh", "(input: Tensor) -> Tensor")
{
    return R(ms_sinh(T(0)));
}

MS_API(math_cosh, "ops.cosh mint.cosh Tensor.cosh", "(input: Tensor) -> Tensor")
{
    return R(ms_cosh(T(0)));
}

MS_API(math_tanh, "ops.tanh mint.tanh Tensor.tanh mint.nn.functional.tanh", "(input: Tensor) -> Tensor")
{
    return R(ms_tanh(T(0)));
}

MS_API(math_acos, "ops.acos ops.arccos mint.acos mint.arccos Tensor.acos Tensor.arccos",
       "(input: Tensor) -> Tensor")
{
    return R(ms_acos(T(0)));
}

MS_API(math_atan, "ops.atan ops.arctan mint.atan mint.arctan Tensor.atan Tensor.arctan",
       "(input: Tensor) -> Tensor")
{
    return R(ms_atan(T(0)));
}

MS_API(math_asinh, "ops.asinh ops.arcsinh mint.asinh mint.arcsinh Tensor.asinh Tensor.arcsinh",
       "(input: Tensor) -> Tensor")
{
    return R(ms_asinh(T(0)));
}

MS_API(math_acosh, "ops.acosh ops.arccosh mint.acosh mint.arccosh Tensor.acosh Tensor.arccosh",
       "(input: Tensor) -> Tensor")
{
    return R(ms_acosh(T(0)));
}

MS_API(math_atanh, "ops.atanh ops.arctanh mint.atanh mint.arctanh Tensor.atanh Tensor.arctanh",
       "(input: Tensor) -> Tensor")
{
    return R(ms_atanh(T(0)));
}

MS_API(math_asin, "ops.asin mint.asin Tensor.asin Tensor.arcsin", "(input: Tensor) -> Tensor")
{
    return R(ms_asin(T(0)));
}

MS_API(math_arcsin, "ops.arcsin mint.arcsin", "(x: Tensor) -> Tensor")
{
    return R(ms_asin(T(0)));
}

MS_API(math_erf, "ops.erf mint.erf Tensor.erf", "(input: Tensor) -> Tensor")
{
    return R(ms_erf(T(0)));
}

MS_API(math_erfc, "ops.erfc mint.erfc Tensor.erfc mint.special.erfc", "(input: Tensor) -> Tensor")
{
    return R(ms_erfc(T(0)));
}

MS_API(math_erfinv, "ops.erfinv mint.erfinv Tensor.erfinv", "(input: Tensor) -> Tensor")
{
    return R(ms_erfinv(T(0)));
}

MS_API(math_lgamma, "ops.lgamma Tensor.lgamma", "(input: Tensor) -> Tensor")
{
    return R(ms_lgamma(T(0)));
}

MS_API(math_digamma, "ops.digamma Tensor.digamma", "(input: Tensor) -> Tensor")
{
    return R(ms_digamma(T(0)));
}

MS_API(math_polygamma, "ops.polygamma", "(n: Tensor|int, input: Tensor) -> Tensor")
{
    int64_t n = ARG(0)->kind == MS_ARG_INT ? I(0) : -1;
    if (ARG(0)->kind == MS_ARG_TENSOR) MS_TRY(ms_tensor_item_int(T(0), &n));
    if (n == 0) return R(ms_digamma(T(1)));
    return R(ms_polygamma(T(1), n));
}

MsTensor *ms__sinc(MsTensor *x)
{
    x = times(as_float(x), M_PI);
    MsTensor *zero = ms_eq(x, constant(x, 0)), *one = constant(x, 1);
    MsTensor *safe = ms_where(zero, one, x);
    return ms_where(zero, one, ms_div(ms_sin(safe), safe));
}

MS_API(math_sinc, "ops.sinc mint.sinc mint.special.sinc Tensor.sinc", "(input: Tensor) -> Tensor")
{
    return R(ms__sinc(T(0)));
}

/* Degrees are fractions of a radian: an integer would be 0. */
static MsStatus scaled_angle(MsApiCall *c, const char *name, double by)
{
    if (!ms_dtype_is_float(dtype_of(T(0))))
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the 'x' must be a tensor of floats, but got %s.", name,
                       ms_dtype_name(dtype_of(T(0))));
    return R(times(T(0), by));
}

MS_API(math_deg2rad, "ops.deg2rad Tensor.deg2rad", "(x: Tensor) -> Tensor")
{
    return scaled_angle(c, "deg2rad", M_PI / 180);
}

MS_API(math_rad2deg, "ops.rad2deg Tensor.rad2deg", "(x: Tensor) -> Tensor")
{
    return scaled_angle(c, "rad2deg", 180 / M_PI);
}

MS_API(math_logit, "ops.logit Tensor.logit mint.logit", "(input: Tensor, eps: float=None) -> Tensor")
{
    MsTensor *x = T(0);
    if (GIVEN(1)) x = clamp(x, constant(x, F(1)), constant(x, 1 - F(1)));
    return R(ms_sub(ms_log(x), ms_log1p(ms_neg(x))));
}

MS_API(math_floor, "ops.floor mint.floor Tensor.floor", "(input: Tensor) -> Tensor")
{
    return R(ms_floor(T(0)));
}

MS_API(math_ceil, "ops.ceil mint.ceil Tensor.ceil", "(input: Tensor) -> Tensor")
{
    return R(ms_ceil(T(0)));
}

MS_API(math_trunc, "ops.trunc mint.trunc Tensor.trunc mint.fix", "(input: Tensor) -> Tensor")
{
    return R(ms_trunc(T(0)));
}

/* Half to even at the given decimal place. */
static MsTensor *round_to(MsTensor *x, int64_t decimals)
{
    if (decimals == 0 || is_exact(x)) return ms_round(x);
    double p = pow(10, fabs((double)decimals));
    MsTensor *s = constant(x, p);
    return decimals > 0 ? ms_div(ms_round(ms_mul(x, s)), s) : ms_mul(ms_round(ms_div(x, s)), s);
}

MS_API(math_round, "ops.round mint.round", "(input: Tensor, *, decimals: int=0) -> Tensor")
{
    return R(round_to(T(0), I(1)));
}

MS_API(math_round_method, "Tensor.round", "(self: Tensor, decimals: int=0) -> Tensor")
{
    return R(round_to(T(0), I(1)));
}

MS_API(math_round_special, "mint.special.round", "(input: Tensor, *, decimals: int=0) -> Tensor")
{
    return R(round_to(T(0), I(1)));
}

MS_API(math_frac_x, "ops.frac", "(x: Tensor) -> Tensor")
{
    return R(ms_sub(T(0), ms_trunc(T(0))));
}

MS_API(math_frac, "mint.frac Tensor.frac", "(input: Tensor) -> Tensor")
{
    return R(ms_sub(T(0), ms_trunc(T(0))));
}

MS_API(math_real, "ops.real mint.real Tensor.real", "(input: Tensor) -> Tensor")
{
    return R(ms_real(T(0)));
}

MS_API(math_imag, "ops.imag mint.imag Tensor.imag", "(input: Tensor) -> Tensor")
{
    return R(ms_imag(T(0)));
}

MS_API(math_conj, "ops.conj Tensor.conj", "(input: Tensor) -> Tensor")
{
    return R(ms_conj(T(0)));
}

static MsTensor *angle(MsTensor *x)
{
    x = as_float(x);
    return ms_dtype_is_complex(dtype_of(x)) ? ms_atan2(ms_imag(x), ms_real(x)) : ms_atan2(constant(x, 0), x);
}

MS_API(math_angle, "ops.angle Tensor.angle", "(input: Tensor) -> Tensor")
{
    return R(angle(T(0)));
}

MS_API(math_nan_to_num, "ops.nan_to_num mint.nan_to_num Tensor.nan_to_num",
       "(input: Tensor, nan: number=None, posinf: number=None, neginf: number=None) -> Tensor")
{
    static const double largest[] = {65504, 0x1.FEp127, 0x1.FFFFFEp127, 0x1.FFFFFFFFFFFFFp1023};
    MsTensor *x = T(0);
    if (!ms_dtype_is_float(dtype_of(x))) return R(x);
    double top = largest[dtype_of(x) - MS_FLOAT16];
    MsTensor *zero = constant(x, 0), *inf = ms_is_inf(x);
    MsTensor *high = constant(x, GIVEN(2) ? F(2) : top), *low = constant(x, GIVEN(3) ? F(3) : -top);
    MsTensor *y = ms_where(ms_is_nan(x), constant(x, GIVEN(1) ? F(1) : 0), x);
    y = ms_where(ms_logical_and(inf, ms_gt(x, zero)), high, y);
    return R(ms_where(ms_logical_and(inf, ms_lt(x, zero)), low, y));
}

/* ---- classification ---- */

MS_API(math_is_nan, "ops.isnan Tensor.isnan", "(input: Tensor) -> Tensor")
{
    return R(ms_is_nan(T(0)));
}

MS_API(math_isnan_tensor, "mint.isnan ops.isnan_ext", "(tensor: Tensor) -> Tensor")
{
    return R(ms_is_nan(T(0)));
}

MS_API(math_is_inf, "ops.isinf mint.isinf Tensor.isinf", "(input: Tensor) -> Tensor")
{
    return R(ms_is_inf(T(0)));
}

MS_API(math_is_finite, "ops.isfinite mint.isfinite Tensor.isfinite", "(input: Tensor) -> Tensor")
{
    return R(ms_is_finite(T(0)));
}

MS_API(math_isposinf, "ops.isposinf Tensor.isposinf", "(input: Tensor) -> Tensor")
{
    return R(ms_logical_and(ms_is_inf(T(0)), ms_gt(T(0), constant(T(0), 0))));
}

MS_API(math_isneginf, "ops.isneginf mint.isneginf Tensor.isneginf", "(input: Tensor) -> Tensor")
{
    return R(ms_logical_and(ms_is_inf(T(0)), ms_lt(T(0), constant(T(0), 0))));
}

MS_API(math_isreal, "ops.isreal Tensor.isreal", "(input: Tensor) -> Tensor")
{
    return R(ms_eq(ms_imag(T(0)), constant(ms_imag(T(0)), 0)));
}

MS_API(math_is_floating_point, "ops.is_floating_point mint.is_floating_point Tensor.is_floating_point",
       "(input: Tensor) -> bool")
{
    return return_bool(c, ms_dtype_is_float(dtype_of(T(0))));
}

MS_API(math_is_complex, "ops.is_complex mint.is_complex Tensor.is_complex", "(input: Tensor) -> bool")
{
    return return_bool(c, ms_dtype_is_complex(dtype_of(T(0))));
}

MS_API(math_is_signed, "Tensor.is_signed", "(self: Tensor) -> bool")
{
    MsDtype d = dtype_of(T(0));
    return return_bool(c, ms_dtype_is_signed_int(d) || ms_dtype_is_float(d) || ms_dtype_is_complex(d));
}

MS_API(math_logical_not, "ops.logical_not mint.logical_not Tensor.logical_not Tensor.__invert__",
       "(input: Tensor) -> Tensor")
{
    return R(ms_logical_not(ms_cast(T(0), MS_BOOL)));
}

MS_API(math_invert, "ops.invert", "(x: Tensor) -> Tensor")
{
    return R(ms_bitwise_not(T(0)));
}

MS_API(math_bitwise_not, "mint.bitwise_not Tensor.bitwise_not Tensor.invert", "(input: Tensor) -> Tensor")
{
    return R(ms_bitwise_not(T(0)));
}

/* ---- activations ---- */

/* The result, written into the input when `inplace`. */
static MsStatus activate(MsApiCall *c, MsTensor *y, bool inplace)
{
    if (!inplace || !y) return R(y);
    MS_TRY(ms_tensor_write(T(0), y));
    return R(T(0));
}

MS_API(math_relu, "ops.relu mint.nn.functional.relu", "(input: Tensor, inplace: bool=False) -> Tensor")
{
    return activate(c, unless_bool(T(0), ms_relu), I(1));
}

MS_API(math_relu_method, "mint.relu Tensor.relu", "(input: Tensor) -> Tensor")
{
    return R(unless_bool(T(0), ms_relu));
}

MS_API(math_relu6, "ops.relu6", "(x: Tensor) -> Tensor")
{
    return R(unless_bool(T(0), ms_relu6));
}

MS_API(math_relu6_mint, "mint.nn.functional.relu6", "(input: Tensor, inplace: bool=False) -> Tensor")
{
    return activate(c, unless_bool(T(0), ms_relu6), I(1));
}

MS_API(math_sigmoid, "ops.sigmoid mint.sigmoid mint.nn.functional.sigmoid Tensor.sigmoid",
       "(input: Tensor) -> Tensor")
{
    return R(ms_sigmoid(T(0)));
}

MS_API(math_logsigmoid, "ops.logsigmoid", "(x: Tensor) -> Tensor")
{
    return R(ms_log_sigmoid(T(0)));
}

MS_API(math_logsigmoid_mint, "mint.nn.functional.logsigmoid", "(input: Tensor) -> Tensor")
{
    return R(ms_log_sigmoid(T(0)));
}

MS_API(math_softplus, "ops.softplus mint.nn.functional.softplus",
       "(input: Tensor, beta: number=1, threshold: number=20) -> Tensor")
{
    MsTensor *x = T(0);
    double beta = F(1);
    MsTensor *bx = beta == 1 ? x : times(x, beta), *y = ms_softplus(bx);
    if (beta != 1) y = times(y, 1 / beta);
    return R(ms_where(ms_gt(bx, constant(x, F(2))), x, y));
}

static MsTensor *gelu(MsTensor *x, const char *approximate)
{
    if (strcmp(approximate, "none") == 0) return ms_gelu(x);
    if (strcmp(approximate, "tanh") == 0) return ms_gelu_tanh(x);
    return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'gelu', 'approximate' must be 'none' or 'tanh', but got '%s'.",
                        approximate);
}

MS_API(math_gelu, "ops.gelu", "(input: Tensor, approximate: str='none') -> Tensor")
{
    return R(gelu(T(0), ARG(1)->s));
}

MS_API(math_gelu_mint, "mint.nn.functional.gelu", "(input: Tensor, *, approximate: str='none') -> Tensor")
{
    return R(gelu(T(0), ARG(1)->s));
}

MS_API(math_fast_gelu, "ops.fast_gelu", "(x: Tensor) -> Tensor")
{
    /* x sigmoid(1.702 x) */
    return R(ms_mul(T(0), ms_sigmoid(times(T(0), 1.702))));
}

MS_API(math_silu, "ops.silu", "(input: Tensor) -> Tensor")
{
    return R(ms_silu(T(0)));
}

MS_API(math_silu_mint, "mint.nn.functional.silu", "(input: Tensor, inplace: bool=False) -> Tensor")
{
    return activate(c, ms_silu(T(0)), I(1));
}

MS_API(math_mish, "ops.mish", "(x: Tensor) -> Tensor")
{
    return R(ms_mish(T(0)));
}

MS_API(math_mish_mint, "mint.nn.functional.mish", "(input: Tensor) -> Tensor")
{
    return R(ms_mish(T(0)));
}

MS_API(math_hardswish, "ops.hardswish mint.nn.functional.hardswish", "(input: Tensor) -> Tensor")
{
    return R(ms_hswish(T(0)));
}

MS_API(math_hardsigmoid, "ops.hardsigmoid mint.nn.functional.hardsigmoid", "(input: Tensor) -> Tensor")
{
    return R(ms_hsigmoid(T(0)));
}

MS_API(math_elu, "ops.elu", "(input_x: Tensor, alpha: float=1.0) -> Tensor")
{
    return R(ms_elu(T(0), F(1)));
}

MS_API(math_elu_mint, "mint.nn.functional.elu",
       "(input: Tensor, alpha: float=1.0, inplace: bool=False) -> Tensor")
{
    return activate(c, ms_elu(T(0), F(1)), I(2));
}

MS_API(math_celu, "ops.celu", "(x: Tensor, alpha: float=1.0) -> Tensor")
{
    if (F(1) == 0) return MS_FAIL(MS_ERROR_VALUE, "For 'celu', 'alpha' must not be 0.");
    MsTensor *x = T(0), *zero = constant(x, 0);
    return R(ms_add(ms_maximum(x, zero), times(ms_expm1(times(ms_minimum(x, zero), 1 / F(1))), F(1))));
}

static MsTensor *selu(MsTensor *x)
{
    return times(ms_elu(x, 1.6732632423543772848), 1.0507009873554804934);
}

MS_API(math_selu, "ops.selu", "(input_x: Tensor) -> Tensor")
{
    return R(selu(T(0)));
}

MS_API(math_selu_mint, "mint.nn.functional.selu", "(input: Tensor) -> Tensor")
{
    return R(selu(T(0)));
}

MS_API(math_leaky_relu, "ops.leaky_relu", "(input: Tensor, alpha: number=0.2) -> Tensor")
{
    return R(ms_leaky_relu(T(0), F(1)));
}

MS_API(math_leaky_relu_mint, "mint.nn.functional.leaky_relu",
       "(input: Tensor, negative_slope: number=0.01) -> Tensor")
{
    return R(ms_leaky_relu(T(0), F(1)));
}

MS_API(math_prelu, "ops.prelu mint.nn.functional.prelu", "(input: Tensor, weight: Tensor) -> Tensor")
{
    /* one weight, or one per channel (axis 1) */
    MsTensor *x = T(0), *w = T(1);
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < ms_tensor_ndim(x); d++) shape[d] = 1;
    if (ms_tensor_numel(w) != 1) {
        if (ms_tensor_ndim(x) < 2 || ms_tensor_shape(x)[1] != ms_tensor_numel(w))
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For 'prelu', 'weight' must have 1 element or one per channel, but got %lld for input %s.",
                (long long)ms_tensor_numel(w), ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)));
        shape[1] = ms_tensor_numel(w);
    }
    w = ms_reshape(w, (MsInts){ms_tensor_ndim(x), shape});
    return R(ms_where(ms_gt(x, constant(x, 0)), x, ms_mul(x, w)));
}

MS_API(math_hardtanh, "ops.hardtanh", "(input: Tensor, min_val: number=-1.0, max_val: number=1.0) -> Tensor")
{
    return R(clamp(T(0), constant(T(0), F(1)), constant(T(0), F(2))));
}

MS_API(math_hardtanh_mint, "mint.nn.functional.hardtanh",
       "(input: Tensor, min_val: number=-1.0, max_val: number=1.0, inplace: bool=False) -> Tensor")
{
    return activate(c, clamp(T(0), constant(T(0), F(1)), constant(T(0), F(2))), I(3));
}

MS_API(math_hardshrink, "ops.hardshrink mint.nn.functional.hardshrink Tensor.hardshrink",
       "(input: Tensor, lambd: number|bool=0.5) -> Tensor")
{
    MsTensor *x = T(0);
    return R(ms_where(ms_le(ms_abs(x), constant(x, F(1))), constant(x, 0), x));
}

MS_API(math_softshrink, "ops.softshrink mint.nn.functional.softshrink Tensor.soft_shrink",
       "(input: Tensor, lambd: number|bool=0.5) -> Tensor")
{
    MsTensor *x = T(0), *zero = constant(x, 0);
    if (F(1) < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'softshrink', 'lambd' must not be negative, but got %g.", F(1));
    MsTensor *y = ms_where(ms_lt(x, constant(x, -F(1))), plus(x, F(1)), ms_mul(x, zero));
    return R(ms_where(ms_gt(x, constant(x, F(1))), plus(x, -F(1)), y));
}

MS_API(math_softsign, "ops.softsign", "(x: Tensor) -> Tensor")
{
    return R(ms_div(T(0), plus(ms_abs(T(0)), 1)));
}

MS_API(math_tanhshrink, "ops.tanhshrink mint.nn.functional.tanhshrink", "(input: Tensor) -> Tensor")
{
    return R(ms_sub(T(0), ms_tanh(T(0))));
}

MS_API(math_threshold, "ops.threshold", "(input: Tensor, thr: number, value: number) -> Tensor")
{
    return R(ms_where(ms_le(T(0), constant(T(0), F(1))), constant(T(0), F(2)), T(0)));
}

MS_API(math_threshold_mint, "mint.nn.functional.threshold",
       "(input: Tensor, threshold: number, value: number, inplace: bool=False) -> Tensor")
{
    return activate(c, ms_where(ms_le(T(0), constant(T(0), F(1))), constant(T(0), F(2)), T(0)), I(3));
}

/* The first half of an axis times the sigmoid of the second. */
static MsTensor *glu(MsTensor *x, int64_t axis)
{
    int nd = ms_tensor_ndim(x);
    if (axis < -nd || axis >= nd)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'glu', the axis must be in [%d,%d), but got %lld.", -nd, nd,
                            (long long)axis);
    if (axis < 0) axis += nd;
    int64_t begin[MS_MAX_DIM] = {0}, size[MS_MAX_DIM], step[MS_MAX_DIM];
    for (int d = 0; d < nd; d++) size[d] = ms_tensor_shape(x)[d], step[d] = 1;
    if (size[axis] % 2)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'glu', the axis must have an even size, but got %lld.",
                            (long long)size[axis]);
    size[axis] /= 2;
    MsTensor *a = ms_slice(x, (MsInts){nd, begin}, (MsInts){nd, size}, (MsInts){nd, step});
    begin[axis] = size[axis];
    MsTensor *b = ms_slice(x, (MsInts){nd, begin}, (MsInts){nd, size}, (MsInts){nd, step});
    return ms_mul(a, ms_sigmoid(b));
}

MS_API(math_glu, "ops.glu", "(x: Tensor, axis: int=-1) -> Tensor")
{
    return R(glu(T(0), I(1)));
}

MS_API(math_glu_mint, "mint.nn.functional.glu", "(input: Tensor, dim: int=-1) -> Tensor")
{
    return R(glu(T(0), I(1)));
}

/* ---- casts and identities ---- */

MS_API(math_cast, "ops.cast", "(input: Tensor|number, dtype: dtype) -> Tensor")
{
    return R(ms_cast(ms__arg_tensor(ARG(0), NULL), DTYPE(1)));
}

/* A dtype by its name: "float32", "bool", ... */
static MsDtype dtype_named(const char *name)
{
    for (int d = 0; d < MS_DTYPE_COUNT; d++)
        if (strcasecmp(ms_dtype_name((MsDtype)d), name) == 0) return (MsDtype)d;
    return MS_DTYPE_NONE;
}

MS_API(math_astype, "Tensor.astype", "(self: Tensor, dtype: dtype|str, copy: bool=True) -> Tensor")
{
    MsDtype to = ARG(1)->kind == MS_ARG_STR ? dtype_named(ARG(1)->s) : DTYPE(1);
    if (to == MS_DTYPE_NONE)
        return MS_FAIL(MS_ERROR_TYPE, "For 'astype', there is no dtype '%s'.", ARG(1)->s);
    return R(!I(2) && dtype_of(T(0)) == to ? T(0) : ms_cast(T(0), to));
}

/* `non_blocking` asks for nothing here: a copy within one memory is complete on return. */
MS_API(math_to, "Tensor.to",
       "(self: Tensor, dtype: dtype=None, non_blocking: bool=False, copy: bool=False) -> Tensor")
{
    MsDtype d = GIVEN(1) ? DTYPE(1) : dtype_of(T(0));
    return R(!I(3) && d == dtype_of(T(0)) ? T(0) : ms_cast(T(0), d));
}

MS_API(math_to_other, "Tensor.to",
       "(self: Tensor, other: Tensor, non_blocking: bool=False, copy: bool=False) -> Tensor")
{
    return R(!I(3) && dtype_of(T(1)) == dtype_of(T(0)) ? T(0) : ms_cast(T(0), dtype_of(T(1))));
}

MS_API(math_to_device, "Tensor.to",
       "(self: Tensor, device: str=None, dtype: dtype=None, non_blocking: bool=False, copy: bool=False) -> "
       "Tensor")
{
    MS_TRY(ms__arg_device(ARG(1)));
    MsDtype d = GIVEN(2) ? DTYPE(2) : dtype_of(T(0));
    return R(!I(4) && d == dtype_of(T(0)) ? T(0) : ms_cast(T(0), d));
}

MS_API(math_type, "Tensor.type", "(self: Tensor, dtype: dtype) -> Tensor")
{
    return R(ms_cast(T(0), DTYPE(1)));
}

MS_API(math_type_name, "Tensor.type", "(self: Tensor) -> str")
{
    static const char *const names[MS_DTYPE_COUNT] = {
        [MS_BOOL] = "Bool",       [MS_INT8] = "Int8",           [MS_INT16] = "Int16",
        [MS_INT32] = "Int32",     [MS_INT64] = "Int64",         [MS_UINT8] = "UInt8",
        [MS_UINT16] = "UInt16",   [MS_UINT32] = "UInt32",       [MS_UINT64] = "UInt64",
        [MS_FLOAT16] = "Float16", [MS_BFLOAT16] = "BFloat16",   [MS_FLOAT32] = "Float32",
        [MS_FLOAT64] = "Float64", [MS_COMPLEX64] = "Complex64", [MS_COMPLEX128] = "Complex128"};
    c->out = (MsArg){.kind = MS_ARG_STR, .s = names[dtype_of(T(0))]};
    return MS_OK;
}

MS_API(math_type_as, "Tensor.type_as", "(self: Tensor, other: Tensor) -> Tensor")
{
    return R(dtype_of(T(1)) == dtype_of(T(0)) ? T(0) : ms_cast(T(0), dtype_of(T(1))));
}

MS_API(math_to_bool, "Tensor.bool", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_BOOL));
}

MS_API(math_to_char, "Tensor.char", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_INT8));
}

MS_API(math_to_short, "Tensor.short", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_INT16));
}

MS_API(math_to_int, "Tensor.int", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_INT32));
}

MS_API(math_to_long, "Tensor.long", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_INT64));
}

MS_API(math_to_byte, "Tensor.byte", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_UINT8));
}

MS_API(math_to_half, "Tensor.half", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_FLOAT16));
}

MS_API(math_to_bfloat16, "Tensor.bfloat16", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_BFLOAT16));
}

MS_API(math_to_float, "Tensor.float", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_FLOAT32));
}

MS_API(math_to_double, "Tensor.double", "(self: Tensor) -> Tensor")
{
    return R(ms_cast(T(0), MS_FLOAT64));
}

MS_API(math_stop_gradient, "ops.stop_gradient", "(value: Tensor) -> Tensor")
{
    return R(ms_stop_gradient(T(0)));
}

MS_API(math_deepcopy, "ops.deepcopy", "(input_x: Tensor) -> Tensor")
{
    return R(ms_copy(T(0)));
}

MS_API(math_scalar_to_tensor, "ops.scalar_to_tensor", "(input_x: number, dtype: dtype=float32) -> Tensor")
{
    return R(ms_cast(ms__arg_tensor(ARG(0), NULL), DTYPE(1)));
}

MS_API(math_numel, "ops.numel Tensor.numel", "(input: Tensor) -> int")
{
    c->out = (MsArg){.kind = MS_ARG_INT, .i = ms_tensor_numel(T(0))};
    return MS_OK;
}
