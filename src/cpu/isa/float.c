/* float.c - the elementwise loops of float32 and float64, and the conversions between float32 and half
 * precision. */
#include "cpu/isa/simd.h"
#include "cpu/loops.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define T float
#define W float
#define S float
#define R float
#define SUF f32
#define KIND FLOAT
#define TABLE JOIN(ms__loops_f32_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T double
#define W double
#define S double
#define R double
#define SUF f64
#define KIND FLOAT
#define TABLE JOIN(ms__loops_f64_, MS_ISA)
#include "cpu/isa/loops_of.h"

static void from_f16(int64_t n, float *y, const uint16_t *x)
{
    int64_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
#endif
    for (; i < n; i++) y[i] = half_to_float(x[i]);
}

static void to_f16(int64_t n, uint16_t *y, const float *x)
{
    int64_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(
            (__m128i *)(void *)(y + i),
            _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#endif
    for (; i < n; i++) y[i] = float_to_half(x[i]);
}

static void from_bf16(int64_t n, float *restrict y, const uint16_t *restrict x)
{
    for (int64_t i = 0; i < n; i++) y[i] = bfloat_to_float(x[i]);
}

static void to_bf16(int64_t n, uint16_t *y, const float *x)
{
    for (int64_t i = 0; i < n; i++) y[i] = float_to_bfloat(x[i]);
}

static void add_f16(int64_t n, float *y, const uint16_t *x)
{
    int64_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8) {
        __m256 h = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i)));
        _mm256_storeu_ps(y + i, _mm256_add_ps(_mm256_loadu_ps(y + i), h));
    }
#endif
    for (; i < n; i++) y[i] += half_to_float(x[i]);
}

static void add_bf16(int64_t n, float *restrict y, const uint16_t *restrict x)
{
    for (int64_t i = 0; i < n; i++) y[i] += bfloat_to_float(x[i]);
}

#define TABLE_OF(suf) JOIN(JOIN(ms__loops_, suf), JOIN(_, MS_ISA))
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
extern const MsLoops TABLE_OF(b), TABLE_OF(i8), TABLE_OF(i16), TABLE_OF(i32), TABLE_OF(i64), TABLE_OF(u8),
    TABLE_OF(u16), TABLE_OF(u32), TABLE_OF(u64);

extern const MsRowSet JOIN(ms__row_set_, MS_ISA);
extern const MsFolds *const JOIN(ms__folds_, MS_ISA)[MS_N_PLAIN];

const MsLoopSet JOIN(ms__loop_set_, MS_ISA) = {
    .name = TEXT(MS_ISA),
    .loops = {[MS_BOOL] = &TABLE_OF(b),
              [MS_INT8] = &TABLE_OF(i8),
              [MS_INT16] = &TABLE_OF(i16),
              [MS_INT32] = &TABLE_OF(i32),
              [MS_INT64] = &TABLE_OF(i64),
              [MS_UINT8] = &TABLE_OF(u8),
              [MS_UINT16] = &TABLE_OF(u16),
              [MS_UINT32] = &TABLE_OF(u32),
              [MS_UINT64] = &TABLE_OF(u64),
              [MS_FLOAT32] = &TABLE_OF(f32),
              [MS_FLOAT64] = &TABLE_OF(f64)},
    .rows = &JOIN(ms__row_set_, MS_ISA),
    .folds = JOIN(ms__folds_, MS_ISA),
    .from_half = {from_f16, from_bf16},
    .add_half = {add_f16, add_bf16},
    .to_half = {to_f16, to_bf16},
};
