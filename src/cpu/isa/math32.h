/* math32.h - float32 functions, computed in float64 and rounded once: below 1 ulp without tables, compensated sums or
 * special paths, and the same to the last bit with every instruction set but for rare double roundings. Eight lanes
 * instead of sixteen are enough where memory is the limit. The activations of networks are the exception: they stay in
 * float32. All are free of branches, so that loops over them become vector code. Polynomials interpolate at Chebyshev
 * nodes with relative errors near 1e-12 (1e-8 where float32 computes them; made for this file).
 * Refused: float32 arithmetic throughout; twice the lanes, but every function needs its own compensation. */
#ifndef MS_CPU_ISA_MATH32_H
#define MS_CPU_ISA_MATH32_H

#ifdef __FMA__
#define MULADD(a, b, c) __builtin_fma(a, b, c)
#else
#define MULADD(a, b, c) ((a) * (b) + (c))
#endif

LANE double double_of(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}
LANE uint64_t bits64_of(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}
LANE double wide_sign(double magnitude, double sign)
{
    return double_of((bits64_of(magnitude) & ~((uint64_t)1 << 63)) | (bits64_of(sign) & (uint64_t)1 << 63));
}
LANE float signed_like(float magnitude, float sign)
{
    return copysignf(magnitude, sign);
}

/* ---- exponential: x = n ln 2 + r ---- */

#define ROUNDER 0x1.8p52 /* x + ROUNDER holds the rounded x in its low bits */

/* exp(x) - 1 (and exp(x) through `scale` and p): results beyond float32 are only right after rounding to it. */
LANE double wide_expm1(double x)
{
    x = x > 130 ? 130 : x;
    x = x < -150 ? -150 : x;
    double t = MULADD(x, 1.4426950408889634, ROUNDER), n = t - ROUNDER;
    double r = MULADD(n, -0x1.62e42fefa39efp-1, x), scale = double_of((bits64_of(t) + 1023) << 52);
    double q = MULADD(2.7617576848354131e-06, r, 2.4867883453521802e-05);
    q = MULADD(q, r, 0.00019841224581544105);
    q = MULADD(q, r, 0.001388883909064138);
    q = MULADD(q, r, 0.0083333333442095064);
    q = MULADD(q, r, 0.041666666786337556);
    q = MULADD(q, r, 0.16666666666662583);
    q = MULADD(q, r, 0.49999999999955069);
    return MULADD(scale, MULADD(r * r, q, r), scale - 1);
}
LANE double wide_exp(double x)
{
    x = x > 130 ? 130 : x;
    x = x < -150 ? -150 : x;
    double t = MULADD(x, 1.4426950408889634, ROUNDER), n = t - ROUNDER;
    double r = MULADD(n, -0x1.62e42fefa39efp-1, x), scale = double_of((bits64_of(t) + 1023) << 52);
    double q = MULADD(2.7617576848354131e-06, r, 2.4867883453521802e-05);
    q = MULADD(q, r, 0.00019841224581544105);
    q = MULADD(q, r, 0.001388883909064138);
    q = MULADD(q, r, 0.0083333333442095064);
    q = MULADD(q, r, 0.041666666786337556);
    q = MULADD(q, r, 0.16666666666662583);
    q = MULADD(q, r, 0.49999999999955069);
    return scale * (1 + MULADD(r * r, q, r));
}
LANE float f32_exp(float x)
{
    return (float)wide_exp((double)x);
}
LANE float f32_expm1(float x)
{
    return x == 0 ? x : (float)wide_expm1((double)x);
}
LANE float f32_sinh(float x)
{
    double e = wide_expm1(fabs((double)x));
    return signed_like((float)(0.5 * (e + e / (e + 1))), x);
}
LANE float f32_cosh(float x)
{
    double e = wide_exp(fabs((double)x));
    return (float)(0.5 * (e + 1 / e));
}
LANE float f32_tanh(float x)
{
    double e = wide_expm1(2 * fabs((double)x));
    return signed_like((float)(e / (e + 2)), x);
}
/* ---- the sigmoid and GELU families: float32 lanes ----
 * The activations of networks, which compute more than they read. sigmoid within 3 ulp, GELU within 6; the rounding of
 * the argument adds |x| ulp to the tails of the tanh form. */

#ifdef __FMA__
#define MULADDF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define MULADDF(a, b, c) ((a) * (b) + (c))
#endif
#define NEAR_ROUNDER 0x1.8p23f

/* exp(x) within about 1 unit, subnormal results too */
LANE float near_exp(float x)
{
    x = x > 89 ? 89 : x;
    x = x < -105 ? -105 : x;
    float t = MULADDF(x, 1.44269504f, NEAR_ROUNDER), n = t - NEAR_ROUNDER;
    float r = MULADDF(n, -0x1.7f7d1cp-20f, MULADDF(n, -0x1.62e4p-1f, x));
    float q = MULADDF(0.00139261759f, r, 0.00836317334f);
    q = MULADDF(q, r, 0.0416665561f);
    q = MULADDF(q, r, 0.166665778f);
    q = MULADDF(q, r, 0.5f);
    uint32_t k = bits_of(t) - bits_of(NEAR_ROUNDER),
             half = (uint32_t)((int32_t)k >> 1); /* 2^n in two factors */
    float y = 1 + MULADDF(r * r, q, r);
    return y * float_of((half + 127) << 23) * float_of((k - half + 127) << 23);
}
LANE float f32_sigmoid(float x)
{
    float e = near_exp(-fabsf(x));
    return (x < 0 ? e : 1) / (1 + e);
}
LANE float f32_silu_slope(float x)
{
    float s = f32_sigmoid(x);
    return MULADDF(x * s, f32_sigmoid(-x), s);
}
LANE float f32_gelu_tanh(float x)
{
    return x * f32_sigmoid(1.59576912f * MULADDF(0.044715f * x * x, x, x));
}
LANE float f32_gelu_tanh_slope(float x)
{
    float z = 1.59576912f * MULADDF(0.044715f * x * x, x, x), s = f32_sigmoid(z);
    float dz = MULADDF(3 * 0.044715f * 1.59576912f * x, x, 1.59576912f);
    s = MULADDF(x * dz * s, f32_sigmoid(-z), s);
    return x < -30 ? 0 : x > 30 ? 1 : s; /* beyond, 0 times infinity */
}
/* exp(-x^2 / 2): the rounding error of the square is put back. */
LANE float near_bell(float x)
{
    float xx = x * x, e = near_exp(-0.5f * xx);
    return xx < 200 ? MULADDF(e, -0.5f * MULADDF(x, x, -xx), e) : e;
}
/* The distribution function of the normal distribution, from e = near_bell(x): 1/2 + x P(x^2) below 1,
 * e Q((a - 3) / (a + 3)) of a = |x| above. */
LANE float near_normal(float x, float e)
{
    float a = fabsf(x), z = x * x;
    float p = MULADDF(-7.66053836e-06f, z, 0.000113502298f);
    p = MULADDF(p, z, -0.00118634396f);
    p = MULADDF(p, z, 0.00997332856f);
    p = MULADDF(p, z, -0.0664903596f);
    p = MULADDF(p, z, 0.398942292f);
    a = a > 15 ? 15 : a;
    float t = (a - 3) / (a + 3);
    float q = MULADDF(0.000158107519f, t, -0.000312569871f);
    q = MULADDF(q, t, -0.00100721861f);
    q = MULADDF(q, t, 0.0029003683f);
    q = MULADDF(q, t, 0.00613619667f);
    q = MULADDF(q, t, -0.0462131053f);
    q = MULADDF(q, t, 0.123224795f);
    q = MULADDF(q, t, -0.206402615f);
    q = MULADDF(q, t, 0.121513948f);
    float tail = e * q, above = x < 0 ? tail : 1 - tail;
    return a < 1 ? MULADDF(x, p, 0.5f) : above;
}
LANE float f32_gelu(float x)
{
    return x * near_normal(x, near_bell(x));
}
LANE float f32_gelu_slope(float x)
{
    float e = near_bell(x), bell = 0.398942280f * e;
    return MULADDF(x > 15 || x < -15 ? 0 : x, bell, near_normal(x, e));
}

/* ---- logarithm: x = 2^k m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1) / (m + 1)) ---- */

LANE double wide_log(double x)
{
    const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    uint64_t u = bits64_of(x), k = (u - half + ((uint64_t)1023 << 52)) >> 52;
    double n = double_of(k | 0x4330000000000000) - (0x1p52 + 1023); /* k as a double, without a conversion */
    double f = double_of(u - ((k - 1023) << 52)) - 1, s = f / (f + 2), z = s * s;
    double q = MULADD(0.096815934661015263, z, 0.11095686690470949);
    q = MULADD(q, z, 0.14285877484175205);
    q = MULADD(q, z, 0.19999999397609577);
    q = MULADD(q, z, 0.33333333333688325);
    double y = MULADD(n, 0x1.62e42fefa39efp-1, 2 * MULADD(s * z, q, s));
    double special = x == 0 ? -(double)INFINITY : x < 0 ? (double)NAN : x;
    return x > 0 && x < (double)INFINITY ? y : special;
}
/* log(1 + x); what the sum loses is added for small x. */
LANE double wide_log1p(double x)
{
    double u = 1 + x, lost = fabs(x) < 1 ? x - (u - 1) : 0;
    return wide_log(u) + lost;
}
LANE float f32_log(float x)
{
    return (float)wide_log((double)x);
}
LANE float f32_log1p(float x)
{
    return x == 0 ? x : (float)wide_log1p((double)x);
}
LANE float f32_softplus(float x)
{
    return (float)((x > 0 ? (double)x : x < 0 ? 0 : (double)x) + wide_log1p(wide_exp(-fabs((double)x))));
}
LANE float f32_log_sigmoid(float x)
{
    return (float)((x < 0 ? (double)x : x > 0 ? 0 : (double)x) - wide_log1p(wide_exp(-fabs((double)x))));
}
LANE float f32_asinh(float x)
{
    double a = fabs((double)x), aa = a * a;
    double y = wide_log1p(a + aa / (1 + sqrt(1 + aa)));
    return signed_like((float)(a < (double)INFINITY ? y : a), x);
}
LANE float f32_acosh(float x)
{
    double t = (double)x - 1;
    double y = wide_log1p(t + sqrt(t * (t + 2)));
    return x < 1 ? NAN : (float)y;
}
LANE float f32_atanh(float x)
{
    double a = fabs((double)x);
    return signed_like((float)(0.5 * wide_log1p(2 * a / (1 - a))), x);
}

/* IEEE 754 pow, from |a|^b = exp(b log |a|). The special values are selected before the exponential or by single
 * conditions: a result that needs none of it makes a branch, and no vector code. */
LANE float f32_pow(float af, float bf)
{
    double a = (double)af, b = (double)bf, l = wide_log(fabs(a)), bl = b * l;
    bl = l == 0 ? ((a > 0) | (b == b) ? 0 : bl) : bl;
    bl = b == 0 ? 0 : bl;
    double y = wide_exp(bl), limited = fabs(b) < 0x1p31 ? b : 0,
           t = limited * 0.5; /* beyond 2^24 every float is even */
    double part = (limited + ROUNDER) - ROUNDER - limited, half = (t + ROUNDER) - ROUNDER - t;
    uint64_t odd =
        (part == 0 ? bits64_of(a) : 0) & (half != 0 ? (uint64_t)1 << 63 : 0); /* sign of a, if b is odd */
    y = double_of(bits64_of(y) ^ odd);
    double fraction = part != 0 ? (double)NAN : y;
    fraction = a < 0 ? fraction : y;
    return (float)(a > -(double)INFINITY ? fraction : y);
}

/* ---- trigonometry: x = n pi/2 + r ---- */

#ifdef __FMA__
#define MS_TRIG_LIMIT 0x1p45f /* where the reduction by two products still holds: see float.c */
LANE double quarter(double x, uint64_t *n)
{
    double t = __builtin_fma(x, 0.63661977236758134308, ROUNDER), k = t - ROUNDER;
    *n = bits64_of(t);
    double r = __builtin_fma(k, -0x1.921fb54442d18p+0, x);
    return __builtin_fma(k, -0x1.1a62633145c07p-54, r);
}
LANE double sin_of(double r)
{
    double z = r * r, q = MULADD(-2.4728942880005201e-08, z, 2.7555033365143582e-06);
    q = MULADD(q, z, -0.00019841263234535853);
    q = MULADD(q, z, 0.0083333333266467288);
    q = MULADD(q, z, -0.16666666666655836);
    return MULADD(r * z, q, r);
}
LANE double cos_of(double r)
{
    double z = r * r, q = MULADD(2.0599774730288689e-09, z, -2.7554800391543415e-07);
    q = MULADD(q, z, 2.4801576732650219e-05);
    q = MULADD(q, z, -0.0013888888868834506);
    q = MULADD(q, z, 0.041666666666527463);
    q = MULADD(q, z, -0.49999999999999845);
    return MULADD(z, q, 1);
}
LANE float f32_sin(float x)
{
    uint64_t n;
    double r = quarter((double)x, &n), y = n & 1 ? cos_of(r) : sin_of(r);
    return x == 0 ? x : (float)double_of(bits64_of(y) ^ (n & 2) << 62);
}
LANE float f32_cos(float x)
{
    uint64_t n;
    double r = quarter((double)x, &n), y = n & 1 ? sin_of(r) : cos_of(r);
    return (float)double_of(bits64_of(y) ^ ((n + 1) & 2) << 62);
}
LANE float f32_tan(float x)
{
    uint64_t n;
    double r = quarter((double)x, &n), s = sin_of(r), c = cos_of(r);
    double y = n & 1 ? -c / s : s / c;
    return x == 0 ? x : (float)y;
}
#else /* without a fused product the reduction needs more parts than libm's calls cost */
LANE float f32_sin(float x)
{
    return sinf(x);
}
LANE float f32_cos(float x)
{
    return cosf(x);
}
LANE float f32_tan(float x)
{
    return tanf(x);
}
#endif

/* atan(num / den) for num, den >= 0, not both 0 or infinite: by the angle pi/4 where the quotient is near 1, by the
 * complement where it is large. */
LANE double wide_atan(double num, double den)
{
    bool large = num > den * 2.414213562373095, middle = num > den * 0.41421356237309503;
    double a = large ? -den : middle ? num - den : num, b = large ? num : middle ? num + den : den;
    double base = large ? M_PI / 2 : middle ? M_PI / 4 : 0, t = a / b, z = t * t;
    double q = MULADD(0.032956046159592342, z, -0.060272655653728142);
    q = MULADD(q, z, 0.076047908930459138);
    q = MULADD(q, z, -0.090841009100614101);
    q = MULADD(q, z, 0.11110819662708145);
    q = MULADD(q, z, -0.14285708108961764);
    q = MULADD(q, z, 0.19999999949841366);
    q = MULADD(q, z, -0.3333333333326618);
    return base + MULADD(t * z, q, t);
}
LANE float f32_atan(float x)
{
    return signed_like((float)wide_atan(fabs((double)x), 1), x);
}
LANE float f32_asin(float x)
{
    double a = fabs((double)x);
    return signed_like((float)wide_atan(a, sqrt((1 - a) * (1 + a))), x);
}
LANE float f32_acos(float x)
{
    double a = (double)x;
    return (float)(2 * wide_atan(sqrt(1 - a), sqrt(1 + a)));
}
LANE float f32_atan2(float y, float x)
{
    double a = fabs((double)y), b = fabs((double)x);
    bool same = a == b; /* both 0, both infinite: the quotient is 1, or the angle 0 */
    double t = wide_atan(same ? (a == 0 ? 0 : 1) : a, same ? 1 : b);
    t = bits_of(x) >> 31 ? M_PI - t : t;
    return signed_like((float)t, y);
}

/* ---- error function: a polynomial below 1, exp(-a^2) times one in (a - 5/2) / (a + 5/2) above ---- */

LANE double erf_small(double x, double xx)
{
    double q = MULADD(1.05893806410702e-06, xx, -1.3909340021872547e-05);
    q = MULADD(q, xx, 0.0001195656256820697);
    q = MULADD(q, xx, -0.00085426379970871967);
    q = MULADD(q, xx, 0.0052237834771892465);
    q = MULADD(q, xx, -0.026866133235095593);
    q = MULADD(q, xx, 0.11283791308604582);
    q = MULADD(q, xx, -0.37612638889635308);
    q = MULADD(q, xx, 1.1283791670946768);
    return x * q;
}
/* erfc(a) for a >= 1, given e = exp(-a^2) */
LANE double erfc_large(double a, double e)
{
    a = a > 11 ? 11 : a;
    double t = (a - 2.5) / (a + 2.5);
    double q = MULADD(-0.00013507825689455243, t, 0.00021615357270288253);
    q = MULADD(q, t, 0.00088062385157579336);
    q = MULADD(q, t, -0.0026409777865265666);
    q = MULADD(q, t, -0.0039944561281304285);
    q = MULADD(q, t, 0.039922496952270091);
    q = MULADD(q, t, -0.12503301041166415);
    q = MULADD(q, t, 0.2517131925991114);
    q = MULADD(q, t, -0.37173673457446144);
    q = MULADD(q, t, 0.21080636407221739);
    return e * q;
}
/* erfc(x) of a double and e = exp(-x^2) */
LANE double wide_erfc(double x, double e)
{
    double a = fabs(x), large = erfc_large(a, e);
    return a < 1 ? 1 - erf_small(x, x * x) : x < 0 ? 2 - large : large;
}
LANE float f32_erf(float xf)
{
    double x = (double)xf, a = fabs(x), xx = x * x, large = 1 - erfc_large(a, wide_exp(-xx));
    return a < 1 ? (float)erf_small(x, xx) : signed_like((float)large, xf);
}
LANE float f32_erfc(float xf)
{
    double x = (double)xf;
    return (float)wide_erfc(x, wide_exp(-x * x));
}
/* ---- rarely used: by libm ---- */

LANE float f32_erfinv(float x)
{
    return (float)f64_erfinv((double)x);
}
LANE float f32_lgamma(float x)
{
    return (float)f64_lgamma((double)x);
}
LANE float f32_digamma(float x)
{
    return (float)f64_digamma((double)x);
}

#endif
