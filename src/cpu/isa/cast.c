/* cast.c - conversion of contiguous rows between every pair of dtypes; one table per instruction set.
 * Conversions to a narrow float round once, to nearest even, also from double; float to integer is defined
 * for every value (see cpu/copy.h). Refused: converting through double for all pairs, which halves the speed
 * and loses 64-bit integers. */
#include "cpu/copy.h"

#include <string.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

typedef struct Bf16 {
    uint16_t bits;
} Bf16;

static inline float from_bf16(Bf16 h)
{
    uint32_t u = (uint32_t)h.bits << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline Bf16 to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16, quiet = u >> 16 | 0x40;
    return (Bf16){(uint16_t)((u & 0x7fffffff) > 0x7f800000 ? quiet : rounded)};
}

/* To odd first, so that the second rounding sees that bits were lost. */
static inline Bf16 to_bf16_from_double(double d)
{
    float f = (float)d;
    if (f == f && (double)f != d) {
        uint32_t u;
        memcpy(&u, &f, 4);
        if (__builtin_fabs((double)f) > __builtin_fabs(d)) u--;
        u |= 1;
        memcpy(&f, &u, 4);
    }
    return to_bf16(f);
}

static inline int32_t to_i32(double v)
{
    return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN;
}
static inline int32_t to_i32f(float v)
{
    return v >= -2147483648.0f && v < 2147483648.0f ? (int32_t)v : INT32_MIN;
}
static inline int64_t to_i64(double v)
{
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN;
}
static inline uint64_t to_u64(double v)
{
    if (v >= 9223372036854775808.0 && v < 18446744073709551616.0) return (uint64_t)v;
    return (uint64_t)to_i64(v);
}

/* Reading: value of a computing type and its class: N integer, F float, D double, C complex. */
#define GET_b8(x) ((x) != 0)
#define GET_i8(x) (x)
#define GET_i16(x) (x)
#define GET_i32(x) (x)
#define GET_i64(x) (x)
#define GET_u8(x) (x)
#define GET_u16(x) (x)
#define GET_u32(x) (x)
#define GET_u64(x) (x)
#define GET_f16(x) ((float)(x))
#define GET_bf16(x) from_bf16(x)
#define GET_f32(x) (x)
#define GET_f64(x) (x)
#define GET_c64(x) (x)
#define GET_c128(x) (x)

/* Writing: PUT_<target>_<class of source>. */
#define PUT_b8_N(v) ((v) != 0)
#define PUT_b8_F(v) ((v) != 0)
#define PUT_b8_D(v) ((v) != 0)
#define PUT_b8_C(v) ((v) != 0)
#define PUT_i8_N(v) ((int8_t)(v))
#define PUT_i8_F(v) ((int8_t)to_i32f(v))
#define PUT_i8_D(v) ((int8_t)to_i32(v))
#define PUT_i16_N(v) ((int16_t)(v))
#define PUT_i16_F(v) ((int16_t)to_i32f(v))
#define PUT_i16_D(v) ((int16_t)to_i32(v))
#define PUT_i32_N(v) ((int32_t)(v))
#define PUT_i32_F(v) to_i32f(v)
#define PUT_i32_D(v) to_i32(v)
#define PUT_i64_N(v) ((int64_t)(v))
#define PUT_i64_F(v) to_i64((double)(v))
#define PUT_i64_D(v) to_i64(v)
#define PUT_u8_N(v) ((uint8_t)(v))
#define PUT_u8_F(v) ((uint8_t)to_i32f(v))
#define PUT_u8_D(v) ((uint8_t)to_i32(v))
#define PUT_u16_N(v) ((uint16_t)(v))
#define PUT_u16_F(v) ((uint16_t)to_i32f(v))
#define PUT_u16_D(v) ((uint16_t)to_i32(v))
#define PUT_u32_N(v) ((uint32_t)(v))
#define PUT_u32_F(v) ((uint32_t)to_i64((double)(v)))
#define PUT_u32_D(v) ((uint32_t)to_i64(v))
#define PUT_u64_N(v) ((uint64_t)(v))
#define PUT_u64_F(v) to_u64((double)(v))
#define PUT_u64_D(v) to_u64(v)
#define PUT_f16_N(v) ((_Float16)(float)(v)) /* what float cannot hold exactly is infinite in float16 */
#define PUT_f16_F(v) ((_Float16)(v))
#define PUT_f16_D(v) ((_Float16)(v))
#define PUT_bf16_N(v) to_bf16_from_double((double)(v))
#define PUT_bf16_F(v) to_bf16(v)
#define PUT_bf16_D(v) to_bf16_from_double(v)
#define PUT_f32_N(v) ((float)(v))
#define PUT_f32_F(v) (v)
#define PUT_f32_D(v) ((float)(v))
#define PUT_f64_N(v) ((double)(v))
#define PUT_f64_F(v) ((double)(v))
#define PUT_f64_D(v) (v)
#define PUT_c64_N(v) ((float _Complex)(float)(v))
#define PUT_c64_F(v) ((float _Complex)(v))
#define PUT_c64_D(v) ((float _Complex)(float)(v))
#define PUT_c128_N(v) ((double _Complex)(double)(v))
#define PUT_c128_F(v) ((double _Complex)(v))
#define PUT_c128_D(v) ((double _Complex)(v))

#define ROW(to, TO, from, FROM, value)                                                                       \
    static void cast_##from##_##to(int64_t n, void *dst, const void *src)                                    \
    {                                                                                                        \
        TO *restrict d = dst;                                                                                \
        const FROM *restrict s = src;                                                                        \
        for (int64_t k = 0; k < n; k++) d[k] = value;                                                        \
    }

/* One source to every target; CL is the source's class. */
#define ROWS(from, FROM, CL, REAL)                                                                           \
    ROW(b8, uint8_t, from, FROM, PUT_b8_N(GET_##from(s[k])))                                                 \
    ROW(i8, int8_t, from, FROM, PUT_i8_##CL(REAL(GET_##from(s[k]))))                                         \
    ROW(i16, int16_t, from, FROM, PUT_i16_##CL(REAL(GET_##from(s[k]))))                                      \
    ROW(i32, int32_t, from, FROM, PUT_i32_##CL(REAL(GET_##from(s[k]))))                                      \
    ROW(i64, int64_t, from, FROM, PUT_i64_##CL(REAL(GET_##from(s[k]))))                                      \
    ROW(u8, uint8_t, from, FROM, PUT_u8_##CL(REAL(GET_##from(s[k]))))                                        \
    ROW(u16, uint16_t, from, FROM, PUT_u16_##CL(REAL(GET_##from(s[k]))))                                     \
    ROW(u32, uint32_t, from, FROM, PUT_u32_##CL(REAL(GET_##from(s[k]))))                                     \
    ROW(u64, uint64_t, from, FROM, PUT_u64_##CL(REAL(GET_##from(s[k]))))                                     \
    ROW(f16, _Float16, from, FROM, PUT_f16_##CL(REAL(GET_##from(s[k]))))                                     \
    ROW(bf16, Bf16, from, FROM, PUT_bf16_##CL(REAL(GET_##from(s[k]))))                                       \
    ROW(f32, float, from, FROM, PUT_f32_##CL(REAL(GET_##from(s[k]))))                                        \
    ROW(f64, double, from, FROM, PUT_f64_##CL(REAL(GET_##from(s[k]))))

#define REALS(from, FROM, CL)                                                                                \
    ROWS(from, FROM, CL, )                                                                                   \
    ROW(c64, float _Complex, from, FROM, PUT_c64_##CL(GET_##from(s[k])))                                     \
    ROW(c128, double _Complex, from, FROM, PUT_c128_##CL(GET_##from(s[k])))

REALS(b8, uint8_t, N)
REALS(i8, int8_t, N)
REALS(i16, int16_t, N)
REALS(i32, int32_t, N)
REALS(i64, int64_t, N)
REALS(u8, uint8_t, N)
REALS(u16, uint16_t, N)
REALS(u32, uint32_t, N)
REALS(u64, uint64_t, N)
REALS(f16, _Float16, F)
REALS(bf16, Bf16, F)
REALS(f32, float, F)
REALS(f64, double, D)
ROWS(c64, float _Complex, F, __real__)
ROWS(c128, double _Complex, D, __real__)
ROW(c64, float _Complex, c64, float _Complex, s[k])
ROW(c128, double _Complex, c64, float _Complex, s[k])
ROW(c64, float _Complex, c128, double _Complex, (float _Complex)s[k])
ROW(c128, double _Complex, c128, double _Complex, s[k])

/* The half-float pairs that training uses; compilers do not vectorise them. */
static void half_to_float(int64_t n, void *dst, const void *src)
{
    int64_t k = 0;
#ifdef __F16C__
    for (; k + 8 <= n; k += 8)
        _mm256_storeu_ps((float *)dst + k,
                         _mm256_cvtph_ps(_mm_loadu_si128((const void *)((const char *)src + 2 * k))));
#endif
    cast_f16_f32(n - k, (float *)dst + k, (const _Float16 *)src + k);
}

static void float_to_half(int64_t n, void *dst, const void *src)
{
    int64_t k = 0;
#ifdef __F16C__
    for (; k + 8 <= n; k += 8)
        _mm_storeu_si128((void *)((char *)dst + 2 * k),
                         _mm256_cvtps_ph(_mm256_loadu_ps((const float *)src + k), _MM_FROUND_TO_NEAREST_INT));
#endif
    cast_f32_f16(n - k, (_Float16 *)dst + k, (const float *)src + k);
}

#define TARGETS(from)                                                                                        \
    {                                                                                                        \
        cast_##from##_b8, cast_##from##_i8, cast_##from##_i16, cast_##from##_i32, cast_##from##_i64,         \
            cast_##from##_u8, cast_##from##_u16, cast_##from##_u32, cast_##from##_u64, cast_##from##_f16,    \
            cast_##from##_bf16, cast_##from##_f32, cast_##from##_f64, cast_##from##_c64, cast_##from##_c128  \
    }

extern const MsCastRow PASTE(ms__cast_rows_, MS_ISA)[15][15];
const MsCastRow PASTE(ms__cast_rows_, MS_ISA)[15][15] = {
    [MS_BOOL] = TARGETS(b8),
    [MS_INT8] = TARGETS(i8),
    [MS_INT16] = TARGETS(i16),
    [MS_INT32] = TARGETS(i32),
    [MS_INT64] = TARGETS(i64),
    [MS_UINT8] = TARGETS(u8),
    [MS_UINT16] = TARGETS(u16),
    [MS_UINT32] = TARGETS(u32),
    [MS_UINT64] = TARGETS(u64),
    [MS_FLOAT16] = {cast_f16_b8, cast_f16_i8, cast_f16_i16, cast_f16_i32, cast_f16_i64, cast_f16_u8,
                    cast_f16_u16, cast_f16_u32, cast_f16_u64, cast_f16_f16, cast_f16_bf16, half_to_float,
                    cast_f16_f64, cast_f16_c64, cast_f16_c128},
    [MS_BFLOAT16] = TARGETS(bf16),
    [MS_FLOAT32] = {cast_f32_b8, cast_f32_i8, cast_f32_i16, cast_f32_i32, cast_f32_i64, cast_f32_u8,
                    cast_f32_u16, cast_f32_u32, cast_f32_u64, float_to_half, cast_f32_bf16, cast_f32_f32,
                    cast_f32_f64, cast_f32_c64, cast_f32_c128},
    [MS_FLOAT64] = TARGETS(f64),
    [MS_COMPLEX64] = TARGETS(c64),
    [MS_COMPLEX128] = TARGETS(c128),
};
