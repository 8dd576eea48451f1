/* float.c - the elementwise loops of float32 and float64, and the conversions between float32 and half
 * precision. */
#include "cpu/isa/simd.h"
#include "cpu/isa/vec.h"
#include "cpu/loops.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef __FMA__
/* A loop whose f32_##id holds below MS_TRIG_LIMIT only: beyond, elements go to libm. */
#define NEAR(id, libm)                                                                                       \
    static bool id##_f32(int64_t, void *, const void *const *, const double *);                              \
    static bool id##_anywhere(int64_t n, void *yv, const void *const *in, const double *p)                   \
    {                                                                                                        \
        const float *x = in[0];                                                                              \
        float *y = yv;                                                                                       \
        for (int64_t i = 0, m; i < n; i += m) {                                                              \
            m = n - i < 256 ? n - i : 256;                                                                   \
            uint32_t far = 0;                                                                                \
            for (int64_t k = i; k < i + m; k++) far |= fabsf(x[k]) >= MS_TRIG_LIMIT;                         \
            if (!far) id##_f32(m, y + i, (const void *const[]){x + i}, p);                                   \
            for (int64_t k = i; far && k < i + m; k++)                                                       \
                y[k] = fabsf(x[k]) >= MS_TRIG_LIMIT ? libm(x[k]) : f32_##id(x[k]);                           \
        }                                                                                                    \
        return true;                                                                                         \
    }
NEAR(sin, sinf)
NEAR(cos, cosf)
NEAR(tan, tanf)
#define OVERRIDES [MS_ROW_sin] = sin_anywhere, [MS_ROW_cos] = cos_anywhere, [MS_ROW_tan] = tan_anywhere,
#endif

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

VEC V load_f16(const uint16_t *x)
{
#if defined(__AVX512F__)
    return (V)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
#else
    V v;
    from_f16(LANES, (float *)&v, x);
    return v;
#endif
}

VEC V load_bf16(const uint16_t *x)
{
    typedef uint16_t H __attribute__((vector_size(WIDTH / 2), aligned(2), may_alias));
    return (V)(__builtin_convertvector(*(const H *)(const void *)x, U) << 16);
}

#define SUM_HALF(id, one)                                                                                    \
    static void sum_##id(int64_t n, void *accv, const void *xv, int64_t pitch)                               \
    {                                                                                                        \
        typedef double D __attribute__((vector_size(2 * WIDTH), aligned(8), may_alias));                     \
        double *acc = accv;                                                                                  \
        const char *x = xv;                                                                                  \
        int64_t i = 0;                                                                                       \
        for (; i + LANES <= n; i += LANES) {                                                                 \
            V s = load_##id((const uint16_t *)(const void *)x + i);                                          \
            for (int k = 1; k < 8; k++) s += load_##id((const uint16_t *)(const void *)(x + k * pitch) + i); \
            *(D *)(void *)(acc + i) += __builtin_convertvector(s, D);                                        \
        }                                                                                                    \
        for (; i < n; i++) {                                                                                 \
            float s = one(((const uint16_t *)xv)[i]);                                                        \
            for (int k = 1; k < 8; k++) s += one(((const uint16_t *)(const void *)(x + k * pitch))[i]);      \
            acc[i] += (double)s;                                                                             \
        }                                                                                                    \
    }
SUM_HALF(f16, half_to_float)
SUM_HALF(bf16, bfloat_to_float)

/* A lane adds up eight values in float32; in one pass over memory, unlike eight rows of MS_LANES. */
#define RUN_HALF(id)                                                                                         \
    static void run_##id(int64_t n, void *accv, const void *xv)                                              \
    {                                                                                                        \
        enum {                                                                                               \
            N = MS_LANES / LANES                                                                             \
        };                                                                                                   \
        typedef double D __attribute__((vector_size(2 * WIDTH), aligned(8), may_alias));                     \
        const uint16_t *x = xv;                                                                              \
        D acc[N];                                                                                            \
        memcpy(acc, accv, sizeof acc);                                                                       \
        for (; n > 0; n -= 8 * MS_LANES, x += 8 * MS_LANES) {                                                \
            V s[N];                                                                                          \
            _Pragma("GCC unroll 4") for (int j = 0; j < N; j++) s[j] = load_##id(x + j * LANES);             \
            _Pragma("GCC unroll 8") for (int k = 1; k < 8; k++)                                              \
                _Pragma("GCC unroll 4") for (int j = 0; j < N; j++) s[j] +=                                  \
                load_##id(x + k * MS_LANES + j * LANES);                                                     \
            _Pragma("GCC unroll 4") for (int j = 0; j < N; j++) acc[j] += __builtin_convertvector(s[j], D);  \
        }                                                                                                    \
        memcpy(accv, acc, sizeof acc);                                                                       \
    }
RUN_HALF(f16)
RUN_HALF(bf16)

#define TABLE_OF(suf) JOIN(JOIN(ms__loops_, suf), JOIN(_, MS_ISA))
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
extern const MsLoops TABLE_OF(b), TABLE_OF(i8), TABLE_OF(i16), TABLE_OF(i32), TABLE_OF(i64), TABLE_OF(u8),
    TABLE_OF(u16), TABLE_OF(u32), TABLE_OF(u64);

extern const MsRowSet JOIN(ms__row_set_, MS_ISA);
extern const MsChainSet JOIN(ms__chain_set_, MS_ISA);
extern const MsFolds *const JOIN(ms__folds_, MS_ISA)[MS_N_PLAIN];
extern const MsFold JOIN(ms__extremes_, MS_ISA)[MS_N_PLAIN][2];
extern void JOIN(ms__sum_lanes_, MS_ISA)(double *acc);

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
    .chain = &JOIN(ms__chain_set_, MS_ISA),
    .folds = JOIN(ms__folds_, MS_ISA),
    .from_half = {from_f16, from_bf16},
    .extremes = JOIN(ms__extremes_, MS_ISA),
    .sum_half = {sum_f16, sum_bf16},
    .run_half = {run_f16, run_bf16},
    .sum_lanes = JOIN(ms__sum_lanes_, MS_ISA),
    .to_half = {to_f16, to_bf16},
};
