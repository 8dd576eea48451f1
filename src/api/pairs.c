/* pairs.c - elementwise functions of two tensors beyond Python's operators: signs and steps, number theory,
 * powers, complex numbers from their parts. Compositions; integers are computed as float32 where the function
 * is one of the reals.
 */
#include "api/args.h"

#include <math.h>
#include <string.h>

typedef MsTensor *(*Binary)(MsTensor *, MsTensor *);

static MsTensor *floating(MsTensor *x)
{
    return x && is_exact(x) ? ms_cast(x, MS_FLOAT32) : x;
}
static MsTensor *constant(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(dtype_of(like), v) : NULL;
}
static MsStatus pair(MsApiCall *c, Binary f)
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(f(x, y));
}

/* The other one where one is NaN. */
static MsTensor *fmax_of(MsTensor *x, MsTensor *y)
{
    if (is_exact(x)) return ms_maximum(x, y);
    return ms_where(ms_is_nan(x), y, ms_where(ms_is_nan(y), x, ms_maximum(x, y)));
}
static MsTensor *fmin_of(MsTensor *x, MsTensor *y)
{
    if (is_exact(x)) return ms_minimum(x, y);
    return ms_where(ms_is_nan(x), y, ms_where(ms_is_nan(y), x, ms_minimum(x, y)));
}

MS_API(fmax_name, "ops.fmax Tensor.fmax", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, fmax_of);
}
MS_API(fmin_name, "ops.fmin Tensor.fmin", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, fmin_of);
}

/* ---- signs ---- */

/* True for negative numbers, -0 and NaN with the sign bit: the one operation that tells the zeros apart is
 * division, the one that tells the NaN is atan2's second argument's sign, of which the hardware keeps the
 * bit. */
static MsTensor *sign_bit(MsTensor *x)
{
    MsTensor *zero = constant(x, 0);
    if (!x || is_exact(x)) return x && dtype_of(x) == MS_BOOL ? ms_ne(x, x) : ms_lt(x, zero);
    MsTensor *minus_zero = ms_logical_and(ms_eq(x, zero), ms_lt(ms_reciprocal(x), zero));
    return ms_logical_or(ms_lt(x, zero), minus_zero);
}

static MsTensor *copysign_of(MsTensor *x, MsTensor *y)
{
    x = ms_abs(floating(x));
    return ms_where(sign_bit(floating(y)), ms_neg(x), x);
}

MS_API(signbit, "ops.signbit Tensor.signbit", "(input: Tensor) -> Tensor")
{
    return R(sign_bit(T(0)));
}
MS_API(copysign_name, "ops.copysign Tensor.copysign", "(x: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, copysign_of);
}
MS_API(positive, "ops.positive Tensor.positive Tensor.__pos__", "(input: Tensor) -> Tensor")
{
    if (dtype_of(T(0)) == MS_BOOL) return MS_FAIL(MS_ERROR_TYPE, "For 'positive', 'input' must not be bool.");
    return R(T(0));
}

static MsTensor *step_at(MsTensor *x, MsTensor *at_zero)
{
    MsTensor *zero = constant(x, 0);
    MsTensor *y = ms_where(ms_gt(x, zero), constant(x, 1), ms_where(ms_eq(x, zero), at_zero, zero));
    return is_exact(x) ? y : ms_where(ms_is_nan(x), x, y);
}
MS_API(heaviside, "ops.heaviside Tensor.heaviside", "(input: Tensor, values: Tensor) -> Tensor")
{
    return pair(c, step_at);
}

/* ---- powers and logarithms ---- */

static MsTensor *wide_pow(MsTensor *x, MsTensor *y)
{
    MsDtype d = ms_dtype_is_complex(dtype_of(x)) ? MS_COMPLEX128 : MS_FLOAT64;
    return ms_pow(ms__cast_to(x, d), ms__cast_to(y, d));
}
MS_API(float_power_other, "Tensor.float_power", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return pair(c, wide_pow);
}
MS_API(float_power, "ops.float_power mint.float_power ops.float_power_ext",
       "(input: Tensor|number, exponent: Tensor|number) -> Tensor")
{
    return pair(c, wide_pow);
}

static MsTensor *log2_sum(MsTensor *x, MsTensor *y)
{
    x = floating(x);
    y = floating(y);
    MsTensor *m = ms_maximum(x, y), *ln2 = constant(x, M_LN2);
    MsTensor *d = ms_mul(ms_neg(ms_abs(ms_sub(x, y))), ln2);
    MsTensor *rest = ms_div(ms_log1p(ms_exp(d)), ln2);
    return m ? ms_where(ms_eq(x, y), ms_add(m, constant(m, 1)), ms_add(m, rest)) : NULL;
}
MS_API(logaddexp2, "ops.logaddexp2 mint.logaddexp2 Tensor.logaddexp2",
       "(input: Tensor, other: Tensor) -> Tensor")
{
    return pair(c, log2_sum);
}

static MsTensor *scale_by_two(MsTensor *x, MsTensor *y)
{
    x = floating(x);
    return ms_mul(x, ms_exp(ms_mul(floating(y), constant(x, M_LN2))));
}
MS_API(ldexp_name, "ops.ldexp Tensor.ldexp", "(x: Tensor, other: Tensor) -> Tensor")
{
    return pair(c, scale_by_two);
}

/* 0 where x is 0, unless y is NaN. */
static MsTensor *xdivy(MsTensor *x, MsTensor *y)
{
    x = floating(x);
    y = floating(y);
    MsTensor *zero = constant(x, 0), *one = constant(x, 1);
    MsTensor *skip = ms_eq(x, zero);
    return ms_where(skip, ms_mul(x, ms_where(ms_is_nan(y), y, one)), ms_div(x, ms_where(skip, one, y)));
}
MS_API(xdivy_name, "ops.xdivy Tensor.xdivy", "(x: Tensor|number, y: Tensor|number) -> Tensor")
{
    return pair(c, xdivy);
}

MS_API(approximate_equal, "ops.approximate_equal",
       "(x: Tensor, y: Tensor, tolerance: float = 1e-05) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(ms_lt(ms_abs(ms_sub(x, y)), constant(x, F(2))));
}
MS_API_ALSO(approximate_equal_method, approximate_equal, "Tensor.approximate_equal",
            "(self: Tensor, other: Tensor, tolerance: float = 1e-05) -> Tensor")

/* ---- number theory ---- */

static MsTensor *lcm_of(MsTensor *x, MsTensor *y)
{
    MsTensor *g = ms_gcd(x, y);
    MsTensor *by = g ? ms_where(ms_eq(g, constant(g, 0)), constant(g, 1), g) : NULL;
    return ms_abs(ms_mul(x ? ms_floor_div(x, by) : NULL, y));
}
MS_API(gcd, "ops.gcd mint.gcd Tensor.gcd", "(input: Tensor|int, other: Tensor|int) -> Tensor")
{
    return pair(c, ms_gcd);
}
MS_API(lcm, "ops.lcm Tensor.lcm", "(input: Tensor|int, other: Tensor|int) -> Tensor")
{
    return pair(c, lcm_of);
}
MS_API(nextafter_name, "ops.nextafter Tensor.nextafter", "(input: Tensor, other: Tensor) -> Tensor")
{
    return pair(c, ms_nextafter);
}

/* Bits that are one; the low 8, 16, 32 or 64 of each element. */
MS_API(population_count, "ops.population_count", "(input_x: Tensor) -> Tensor")
{
    MsTensor *x = T(0);
    if (!ms_dtype_is_int(dtype_of(x)))
        return MS_FAIL(MS_ERROR_TYPE, "For 'population_count', 'input_x' must be integers, but got %s.",
                       ms_dtype_name(dtype_of(x)));
    MsTensor *sum = ms_full_int((MsInts){x->ndim, x->shape}, 0, MS_UINT8),
             *one = ms_tensor_scalar(dtype_of(x), 1);
    for (size_t k = 0; k < 8 * ms_dtype_size(dtype_of(x)) && sum; k++) {
        MsTensor *bit = ms_bitwise_and(ms_right_shift(x, ms_tensor_scalar(dtype_of(x), (double)k)), one);
        sum = ms_add(sum, ms_cast(bit, MS_UINT8));
    }
    return R(sum);
}

/* ---- complex numbers ---- */

static MsTensor *join_parts(MsTensor *re, MsTensor *im)
{
    if (!re || !im) return NULL;
    MsDtype d = dtype_of(re) == MS_FLOAT64 ? MS_COMPLEX128 : MS_COMPLEX64;
    double i[2] = {0, 1};
    MsTensor *unit = ms_cast(ms_tensor_from(MS_COMPLEX128, 0, NULL, i), d);
    return ms_add(ms_cast(re, d), ms_mul(ms_cast(im, d), unit));
}
static MsStatus check_real(const char *op, const MsTensor *a, const MsTensor *b)
{
    if (dtype_of(a) == dtype_of(b) && (dtype_of(a) == MS_FLOAT32 || dtype_of(a) == MS_FLOAT64)) return MS_OK;
    return MS_FAIL(MS_ERROR_TYPE, "For '%s', both parts must be float32 or both float64, but got %s and %s.",
                   op, ms_dtype_name(dtype_of(a)), ms_dtype_name(dtype_of(b)));
}
MS_API(polar, "ops.polar mint.polar", "(abs: Tensor, angle: Tensor) -> Tensor")
{
    MS_TRY(check_real("polar", T(0), T(1)));
    return R(join_parts(ms_mul(T(0), ms_cos(T(1))), ms_mul(T(0), ms_sin(T(1)))));
}
MS_API(complex_name, "ops.complex", "(real: Tensor, imag: Tensor) -> Tensor")
{
    MS_TRY(check_real("complex", T(0), T(1)));
    return R(join_parts(T(0), T(1)));
}
MS_API(view_as_real, "ops.view_as_real", "(input: Tensor) -> Tensor")
{
    MsTensor *part[2] = {ms_real(T(0)), ms_imag(T(0))};
    if (!ms_dtype_is_complex(dtype_of(T(0))))
        return MS_FAIL(MS_ERROR_TYPE, "For 'view_as_real', 'input' must be complex, but got %s.",
                       ms_dtype_name(dtype_of(T(0))));
    return part[0] && part[1] ? R(ms__stacked(2, part, T(0)->ndim)) : ms_error()->code;
}
