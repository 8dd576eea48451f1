/* simd.h - what the expressions of elementwise rows are made of: one name per function, dispatched on the C
 * type, and our own float32 functions, branch-free so that the compiler vectorises them for each instruction
 * set. The scalar form is kept as the only form: a loop over it becomes the vector code, and its remainder
 * the same results. */
#ifndef MS_CPU_ISA_SIMD_H
#define MS_CPU_ISA_SIMD_H
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#undef I /* of complex.h */

#define LANE static inline __attribute__((always_inline, unused))

/* One function over the C types of a row: float, double, float _Complex, double _Complex. */
#define OVER(x, f32, f64, c64, c128)                                                                         \
    _Generic((x), float : f32, double : f64, float _Complex : c64, double _Complex : c128)(x)
#define OVER_REAL(x, f32, f64) _Generic((x), float : f32, double : f64)(x)

LANE float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
LANE uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}
#include "cpu/isa/math64.h"

#include "cpu/isa/math32.h"

#define SQRT(x) OVER(x, sqrtf, sqrt, csqrtf, csqrt)
#define EXP(x) OVER(x, f32_exp, exp, cexpf, cexp)
#define EXPM1(x) OVER(x, f32_expm1, expm1, c64_expm1, c128_expm1)
#define LOG(x) OVER(x, f32_log, log, clogf, clog)
#define LOG1P(x) OVER(x, f32_log1p, log1p, c64_log1p, c128_log1p)
#define SIN(x) OVER(x, f32_sin, sin, csinf, csin)
#define COS(x) OVER(x, f32_cos, cos, ccosf, ccos)
#define TAN(x) OVER(x, f32_tan, tan, ctanf, ctan)
#define ASIN(x) OVER(x, f32_asin, asin, casinf, casin)
#define ACOS(x) OVER(x, f32_acos, acos, cacosf, cacos)
#define ATAN(x) OVER(x, f32_atan, atan, catanf, catan)
#define SINH(x) OVER(x, f32_sinh, sinh, csinhf, csinh)
#define COSH(x) OVER(x, f32_cosh, cosh, ccoshf, ccosh)
#define TANH(x) OVER(x, f32_tanh, tanh, ctanhf, ctanh)
#define ASINH(x) OVER(x, f32_asinh, asinh, casinhf, casinh)
#define ACOSH(x) OVER(x, f32_acosh, acosh, cacoshf, cacosh)
#define ATANH(x) OVER(x, f32_atanh, atanh, catanhf, catanh)
#define SIGMOID(x) OVER(x, f32_sigmoid, f64_sigmoid, c64_sigmoid, c128_sigmoid)
#define ERF(x) OVER_REAL(x, f32_erf, erf)
#define ERFC(x) OVER_REAL(x, f32_erfc, erfc)
#define ERFINV(x) OVER_REAL(x, f32_erfinv, f64_erfinv)
#define LGAMMA(x) OVER_REAL(x, f32_lgamma, f64_lgamma)
#define DIGAMMA(x) OVER_REAL(x, f32_digamma, f64_digamma)
#define LOG_SIGMOID(x) OVER_REAL(x, f32_log_sigmoid, f64_log_sigmoid)
#define SOFTPLUS(x) OVER_REAL(x, f32_softplus, f64_softplus)
#define HSIGMOID(x) ((x) <= -3 ? 0 : (x) >= 3 ? 1 : ((x) + 3) / 6)
#define GELU(x) OVER_REAL(x, f32_gelu, f64_gelu)
#define GELU_SLOPE(x) OVER_REAL(x, f32_gelu_slope, f64_gelu_slope)
#define GELU_TANH(x) OVER_REAL(x, f32_gelu_tanh, f64_gelu_tanh)
#define GELU_TANH_SLOPE(x) OVER_REAL(x, f32_gelu_tanh_slope, f64_gelu_tanh_slope)
#define SILU_SLOPE(x) OVER_REAL(x, f32_silu_slope, f64_silu_slope)

/* ---- integers and the rest, by type ---- */

LANE int32_t i32_abs(int32_t x)
{
    return (int32_t)(x < 0 ? 0u - (uint32_t)x : (uint32_t)x);
}
LANE int64_t i64_abs(int64_t x)
{
    return (int64_t)(x < 0 ? 0u - (uint64_t)x : (uint64_t)x);
}
LANE uint32_t u32_same(uint32_t x)
{
    return x;
}
LANE uint64_t u64_same(uint64_t x)
{
    return x;
}
LANE int32_t i32_same(int32_t x)
{
    return x;
}
LANE int64_t i64_same(int64_t x)
{
    return x;
}
LANE float f32_same(float x)
{
    return x;
}
LANE double f64_same(double x)
{
    return x;
}

#define BY_TYPE(x, i32, i64, u32, u64, f32, f64, c64, c128)                                                  \
    _Generic((x), int32_t                                                                                    \
             : i32, int64_t                                                                                  \
             : i64, uint32_t                                                                                 \
             : u32, uint64_t                                                                                 \
             : u64, float                                                                                    \
             : f32, double                                                                                   \
             : f64, float _Complex                                                                           \
             : c64, double _Complex                                                                          \
             : c128)
#define BY_REAL(x, i32, i64, u32, u64, f32, f64)                                                             \
    _Generic((x), int32_t : i32, int64_t : i64, uint32_t : u32, uint64_t : u64, float : f32, double : f64)

LANE int32_t i32_sign(int32_t x)
{
    return (x > 0) - (x < 0);
}
LANE int64_t i64_sign(int64_t x)
{
    return (x > 0) - (x < 0);
}
LANE uint32_t u32_sign(uint32_t x)
{
    return x > 0;
}
LANE uint64_t u64_sign(uint64_t x)
{
    return x > 0;
}
LANE float f32_sign(float x)
{
    return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}
LANE double f64_sign(double x)
{
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
}
LANE float _Complex c64_sign(float _Complex x)
{
    return x == 0 ? 0 : x / cabsf(x);
}
LANE double _Complex c128_sign(double _Complex x)
{
    return x == 0 ? 0 : x / cabs(x);
}
#define SIGN(x) BY_TYPE(x, i32_sign, i64_sign, u32_sign, u64_sign, f32_sign, f64_sign, c64_sign, c128_sign)(x)
#define ABS(x) BY_TYPE(x, i32_abs, i64_abs, u32_same, u64_same, fabsf, fabs, cabsf, cabs)(x)
#define REAL(x) BY_TYPE(x, i32_same, i64_same, u32_same, u64_same, f32_same, f64_same, crealf, creal)(x)
LANE int32_t i32_zero(int32_t x)
{
    return x & 0;
}
LANE int64_t i64_zero(int64_t x)
{
    return x & 0;
}
LANE uint32_t u32_zero(uint32_t x)
{
    return x & 0;
}
LANE uint64_t u64_zero(uint64_t x)
{
    return x & 0;
}
LANE float f32_zero(float x)
{
    return (void)x, 0.0f;
}
LANE double f64_zero(double x)
{
    return (void)x, 0.0;
}
#define IMAG(x) BY_TYPE(x, i32_zero, i64_zero, u32_zero, u64_zero, f32_zero, f64_zero, cimagf, cimag)(x)
#define CONJ(x) BY_TYPE(x, i32_same, i64_same, u32_same, u64_same, f32_same, f64_same, conjf, conj)(x)

LANE bool f32_isinf(float x)
{
    return fabsf(x) == INFINITY;
}
LANE bool f64_isinf(double x)
{
    return fabs(x) == (double)INFINITY;
}
LANE bool c64_isinf(float _Complex x)
{
    return f32_isinf(crealf(x)) || f32_isinf(cimagf(x));
}
LANE bool c128_isinf(double _Complex x)
{
    return f64_isinf(creal(x)) || f64_isinf(cimag(x));
}
LANE bool f32_isfinite(float x)
{
    return fabsf(x) < INFINITY;
}
LANE bool f64_isfinite(double x)
{
    return fabs(x) < (double)INFINITY;
}
LANE bool c64_isfinite(float _Complex x)
{
    return f32_isfinite(crealf(x)) && f32_isfinite(cimagf(x));
}
LANE bool c128_isfinite(double _Complex x)
{
    return f64_isfinite(creal(x)) && f64_isfinite(cimag(x));
}
LANE bool i32_no(int32_t x)
{
    return (void)x, false;
}
LANE bool i64_no(int64_t x)
{
    return (void)x, false;
}
LANE bool u32_no(uint32_t x)
{
    return (void)x, false;
}
LANE bool u64_no(uint64_t x)
{
    return (void)x, false;
}
#define ISINF(x) BY_TYPE(x, i32_no, i64_no, u32_no, u64_no, f32_isinf, f64_isinf, c64_isinf, c128_isinf)(x)
LANE bool i32_yes(int32_t x)
{
    return (void)x, true;
}
LANE bool i64_yes(int64_t x)
{
    return (void)x, true;
}
LANE bool u32_yes(uint32_t x)
{
    return (void)x, true;
}
LANE bool u64_yes(uint64_t x)
{
    return (void)x, true;
}
#define ISFINITE(x)                                                                                          \
    BY_TYPE(x, i32_yes, i64_yes, u32_yes, u64_yes, f32_isfinite, f64_isfinite, c64_isfinite, c128_isfinite)(x)

#define FLOOR(x) BY_REAL(x, i32_same, i64_same, u32_same, u64_same, floorf, floor)(x)
#define CEIL(x) BY_REAL(x, i32_same, i64_same, u32_same, u64_same, ceilf, ceil)(x)
#define ROUND(x) BY_REAL(x, i32_same, i64_same, u32_same, u64_same, rintf, rint)(x)
#define TRUNC(x) BY_REAL(x, i32_same, i64_same, u32_same, u64_same, truncf, trunc)(x)

/* NaN wins; of two zeros the sign is not specified. */
#define MAX(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define MIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

/* Division towards minus infinity and its remainder; a zero divisor gives 0 (the loop reports it). */
LANE int32_t i32_floor_div(int32_t a, int32_t b)
{
    if (b == 0) return 0;
    if (b == -1) return (int32_t)(0u - (uint32_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
LANE int64_t i64_floor_div(int64_t a, int64_t b)
{
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0u - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
LANE uint32_t u32_div(uint32_t a, uint32_t b)
{
    return b ? a / b : 0;
}
LANE uint64_t u64_div(uint64_t a, uint64_t b)
{
    return b ? a / b : 0;
}
LANE int32_t i32_mod(int32_t a, int32_t b)
{
    if (b == 0 || b == -1) return 0;
    int32_t r = a % b;
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}
LANE int64_t i64_mod(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) return 0;
    int64_t r = a % b;
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}
LANE uint32_t u32_mod(uint32_t a, uint32_t b)
{
    return b ? a % b : 0;
}
LANE uint64_t u64_mod(uint64_t a, uint64_t b)
{
    return b ? a % b : 0;
}
LANE int32_t i32_fmod(int32_t a, int32_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}
LANE int64_t i64_fmod(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}
LANE double f64_mod(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 ? ((r < 0) != (b < 0) ? r + b : r) : copysign(r, b);
}
LANE float f32_mod(float a, float b)
{
    float r = fmodf(a, b);
    return r != 0 ? ((r < 0) != (b < 0) ? r + b : r) : copysignf(r, b);
}
/* The quotient that belongs to the exact remainder, as Python's float floor division. */
LANE double f64_floor_div(double a, double b)
{
    if (b == 0) return a / b;
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;
    if (q == 0) return copysign(0.0, a / b);
    double f = floor(q);
    return q - f > 0.5 ? f + 1 : f;
}
LANE float f32_floor_div(float a, float b)
{
    if (b == 0) return a / b;
    float r = fmodf(a, b), q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;
    if (q == 0) return copysignf(0.0f, a / b);
    float f = floorf(q);
    return q - f > 0.5f ? f + 1 : f;
}
#define FLOOR_DIV(a, b)                                                                                      \
    BY_REAL(a, i32_floor_div, i64_floor_div, u32_div, u64_div, f32_floor_div, f64_floor_div)(a, b)
#define MOD(a, b) BY_REAL(a, i32_mod, i64_mod, u32_mod, u64_mod, f32_mod, f64_mod)(a, b)
#define FMOD(a, b) BY_REAL(a, i32_fmod, i64_fmod, u32_mod, u64_mod, fmodf, fmod)(a, b)

/* Integer powers modulo 2^64; a negative exponent is only allowed for the bases 1 and -1. */
LANE uint64_t u64_pow(uint64_t a, uint64_t b)
{
    uint64_t y = 1;
    for (; b; b >>= 1, a *= a)
        if (b & 1) y *= a;
    return y;
}
LANE uint32_t u32_pow(uint32_t a, uint32_t b)
{
    return (uint32_t)u64_pow(a, b);
}
LANE int64_t i64_pow(int64_t a, int64_t b)
{
    return (int64_t)u64_pow((uint64_t)a, b < 0 ? 0u - (uint64_t)b : (uint64_t)b);
}
LANE int32_t i32_pow(int32_t a, int32_t b)
{
    return (int32_t)i64_pow(a, b);
}
LANE float _Complex c64_pow(float _Complex a, float _Complex b)
{
    return b == 0 ? 1 : a == 0 ? 0 : cpowf(a, b);
}
LANE double _Complex c128_pow(double _Complex a, double _Complex b)
{
    return b == 0 ? 1 : a == 0 ? 0 : cpow(a, b);
}
#define POW(a, b) BY_TYPE(a, i32_pow, i64_pow, u32_pow, u64_pow, f32_pow, pow, c64_pow, c128_pow)(a, b)
#define ATAN2(a, b) _Generic((a), float : f32_atan2, double : atan2)(a, b)

#define NOT(x) _Generic((y), bool * : !(x), default : ~(x))
/* A shift by the width or more, or by a negative amount, moves every bit out. */
LANE bool shifted_out(int64_t b, size_t size)
{
    return b < 0 || b >= (int64_t)(8 * size);
}
LANE uint64_t bits_left(uint64_t a, int64_t b, size_t size)
{
    return shifted_out(b, size) ? 0 : a << b;
}
LANE uint64_t bits_right(uint64_t a, int64_t b, size_t size)
{
    return shifted_out(b, size) ? 0 : a >> b;
}
LANE int64_t sign_right(int64_t a, int64_t b, size_t size)
{
    return a >> (shifted_out(b, size) ? 63 : b);
}
#define SHIFT_LEFT(a, b) bits_left((uint64_t)(a), (int64_t)(b), sizeof *y)
#define SHIFT_RIGHT(a, b)                                                                                    \
    _Generic((a), int32_t                                                                                    \
             : sign_right, int64_t                                                                           \
             : sign_right, default                                                                           \
             : bits_right)(a, (int64_t)(b), sizeof *y)

/* ---- casts ---- */

/* Out of range and NaN give the processor's "integer indefinite" (the smallest value), narrower integers
 * wrap. */
LANE uint64_t f64_to_u64(double x)
{
    return x >= 0x1p63 ? (uint64_t)(int64_t)(x - 0x1p63) + ((uint64_t)1 << 63) : (uint64_t)(int64_t)x;
}
#define TO_INT32(x)                                                                                          \
    _Generic((x), float                                                                                      \
             : (int32_t)REAL_OF(x), double                                                                   \
             : (int32_t)REAL_OF(x), float _Complex                                                           \
             : (int32_t)REAL_OF(x), double _Complex                                                          \
             : (int32_t)REAL_OF(x), default                                                                  \
             : (uint32_t)REAL_OF(x))
#define TO_INT64(x)                                                                                          \
    _Generic((x), float                                                                                      \
             : (int64_t)REAL_OF(x), double                                                                   \
             : (int64_t)REAL_OF(x), float _Complex                                                           \
             : (int64_t)REAL_OF(x), double _Complex                                                          \
             : (int64_t)REAL_OF(x), default                                                                  \
             : (uint64_t)REAL_OF(x))
#define TO_UINT64(x)                                                                                         \
    _Generic((x), float                                                                                      \
             : f64_to_u64((double)REAL_OF(x)), double                                                        \
             : f64_to_u64((double)REAL_OF(x)), float _Complex                                                \
             : f64_to_u64((double)REAL_OF(x)), double _Complex                                               \
             : f64_to_u64((double)REAL_OF(x)), default                                                       \
             : (uint64_t)REAL_OF(x))
#define REAL_OF(x) ((R)(x))

/* double to float rounded to odd, so that a second rounding to half precision is the right one. */
LANE float f64_to_odd(double x)
{
    float f = (float)x;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    bool inexact = (double)f != x && x == x && !(u & 1);
    u += inexact ? (fabs((double)f) > fabs(x) ? -1u : 1u) : 0u;
    memcpy(&f, &u, sizeof u);
    return f;
}
#define TO_ODD(x)                                                                                            \
    _Generic((x), double                                                                                     \
             : f64_to_odd((double)REAL_OF(x)), double _Complex                                               \
             : f64_to_odd((double)REAL_OF(x)), default                                                       \
             : (float)REAL_OF(x))

/* ---- half precision, round to nearest even; NaN stays NaN and keeps its sign ---- */

LANE float half_to_float(uint16_t h)
{
    uint32_t m = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t normal = (m << 13) + (m >= 0x7c00 ? 224u << 23 : 112u << 23);
    uint32_t tiny = bits_of((float)(int32_t)m * 0x1p-24f);
    return float_of(sign | (m < 0x400 ? tiny : normal));
}
LANE uint16_t float_to_half(float f)
{
    uint32_t u = bits_of(f), sign = u >> 16 & 0x8000u, m = u & 0x7fffffffu;
    uint32_t tiny = bits_of(float_of(m) + 0.5f) - 0x3f000000u; /* the adder rounds to a multiple of 2^-24 */
    uint32_t normal = (m + 0xfffu + (m >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t h = m < 0x38800000u ? tiny : normal;
    h = m >= 0x477ff000u ? 0x7c00u : h;
    h = m > 0x7f800000u ? 0x7e00u | (m >> 13 & 0x3ffu) : h;
    return (uint16_t)(sign | h);
}
LANE float bfloat_to_float(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}
LANE uint16_t float_to_bfloat(float f)
{
    uint32_t u = bits_of(f), r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : r);
}

#endif
