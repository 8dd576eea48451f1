/* batch.c - loops of batch normalisation on channels-last rows, compiled per instruction set. Whole rows are
 * walked, so that memory is read in order; the sums of a block of rows lie in the first-level cache. The
 * statistics take one pass: deviations from the block's first row are summed, which loses no digits to a large
 * mean, and blocks are merged in float64. Refused: blocks of a few channels, whose short runs memory does not
 * like. */
#include "cpu/batch.h"

#include "cpu/isa/simd.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#define CHUNK 1024 /* channels whose sums are kept at a time */
#define RUN 64     /* channels of a loop of known length */

#define INLINE static inline __attribute__((always_inline))

INLINE float get(const void *p, int64_t i, bool half)
{
    return half ? bfloat_to_float(((const uint16_t *)p)[i]) : ((const float *)p)[i];
}

INLINE void put(void *p, int64_t i, float v, bool half)
{
    if (half)
        ((uint16_t *)p)[i] = float_to_bfloat(v);
    else
        ((float *)p)[i] = v;
}

/* v as the dtype of the activations holds it. */
INLINE float rounded(float v, bool half)
{
    return half ? bfloat_to_float(float_to_bfloat(v)) : v;
}

INLINE const void *row_at(const void *p, int64_t i, bool half)
{
    return p ? (const char *)p + i * (half ? 2 : 4) : NULL;
}

typedef struct Rows {
    int64_t begin, end;
} Rows;

INLINE Rows rows_of(const MsBatchNorm *p, int64_t block)
{
    Rows r = {block * MS_BATCH_ROWS, (block + 1) * MS_BATCH_ROWS};
    if (r.end > p->rows) r.end = p->rows;
    return r;
}

/* n bytes past the caches; `to` is aligned to 64 bytes and n a multiple of 64. */
static void stream_out(char *to, const char *from, int64_t n)
{
#if defined(__AVX512F__)
    for (int64_t i = 0; i < n; i += 64) _mm512_stream_si512((void *)(to + i), _mm512_load_si512(from + i));
#elif defined(__AVX__)
    for (int64_t i = 0; i < n; i += 32)
        _mm256_stream_si256((void *)(to + i), _mm256_load_si256((const void *)(from + i)));
#elif defined(__SSE2__)
    for (int64_t i = 0; i < n; i += 16)
        _mm_stream_si128((void *)(to + i), _mm_load_si128((const void *)(from + i)));
#else
    memcpy(to, from, (size_t)n);
#endif
}

static void stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* Calls span(first, count, ...) for runs of channels of [0, m): a count that the compiler knows, then the rest.
 * The empty statement keeps it from walking down the columns instead. */
#define SPANS(m, span, ...)                                                                                  \
    do {                                                                                                     \
        int64_t at_ = 0;                                                                                     \
        __asm__ volatile("");                                                                                \
        for (; at_ + RUN <= (m); at_ += RUN) span(at_, RUN, __VA_ARGS__);                                    \
        if (at_ < (m)) span(at_, (m)-at_, __VA_ARGS__);                                                      \
    } while (0)

/* ---- statistics ---- */

/* Sums of deviations and of their squares over a block of rows. */
typedef struct Sums {
    float first[CHUNK], s[CHUNK], q[CHUNK];
} Sums;

INLINE void deviations(int64_t at, int64_t n, Sums *a, const void *x, int64_t step, int rows, bool half)
{
    for (int64_t c = at; c < at + n; c++) {
        float s = 0, q = 0;
        for (int k = 0; k < rows; k++) {
            float d = get(x, c + k * step, half) - a->first[c];
            s += d;
            q += d * d;
        }
        a->s[c] += s;
        a->q[c] += q;
    }
}

INLINE void stats(const MsBatchNorm *p, int64_t begin, int64_t end, bool half)
{
    for (int64_t b = begin; b < end; b++) {
        Rows rows = rows_of(p, b);
        double n = (double)(rows.end - rows.begin), *out = p->partial + b * 2 * p->c;
        for (int64_t c0 = 0; c0 < p->c; c0 += CHUNK) {
            int64_t m = p->c - c0 < CHUNK ? p->c - c0 : CHUNK, r = rows.begin;
            Sums a;
            const void *x = row_at(p->x, r * p->c + c0, half);
            for (int64_t c = 0; c < m; c++) {
                float first = get(x, c, half);
                a.first[c] = fabsf(first) < INFINITY ? first : 0;
                a.s[c] = a.q[c] = 0;
            }
            for (; r + 4 <= rows.end; r += 4)
                SPANS(m, deviations, &a, row_at(p->x, r * p->c + c0, half), p->c, 4, half);
            for (; r < rows.end; r++)
                SPANS(m, deviations, &a, row_at(p->x, r * p->c + c0, half), p->c, 1, half);
            for (int64_t c = 0; c < m; c++) {
                double sum = (double)a.s[c];
                out[c0 + c] = (double)a.first[c] + sum / n;
                out[p->c + c0 + c] = (double)a.q[c] - sum * (sum / n);
            }
        }
    }
}

/* ---- forward ---- */

/* Channel vectors from channel c0 on. */
typedef struct Vectors {
    const float *mean, *scale, *shift, *by, *times, *plus;
} Vectors;

INLINE Vectors vectors_of(const MsBatchNorm *p, int64_t c0)
{
    return (Vectors){p->mean + c0, p->scale + c0, p->shift + c0, p->by + c0, p->times + c0, p->plus + c0};
}

INLINE float affine(Vectors v, float x, int64_t c)
{
    return (x - v.mean[c]) * v.scale[c] + v.shift[c];
}

/* NaN stays. */
INLINE float bounded(float v, float low, float high)
{
    v = v < low ? low : v;
    return v > high ? high : v;
}

INLINE void apply_span(int64_t at, int64_t n, Vectors v, void *y, const void *x, const void *skip, bool half,
                       bool relu, float top)
{
#pragma GCC ivdep
    for (int64_t c = at; c < at + n; c++) {
        float a = affine(v, get(x, c, half), c);
        if (skip) a = rounded(rounded(a, half) + get(skip, c, half), half);
        put(y, c, relu ? bounded(a, 0, top) : a, half);
    }
}

INLINE void apply(const MsBatchNorm *p, int64_t begin, int64_t end, bool half, bool relu, bool skip)
{
    _Alignas(64) float buffer[CHUNK];
    int64_t size = half ? 2 : 4;
    for (int64_t r = begin; r < end; r++)
        for (int64_t c0 = 0; c0 < p->c; c0 += CHUNK) {
            int64_t m = p->c - c0 < CHUNK ? p->c - c0 : CHUNK, at = r * p->c + c0;
            const void *x = row_at(p->x, at, half), *z = skip ? row_at(p->skip, at, half) : NULL;
            char *y = (char *)p->y + at * size;
            SPANS(m, apply_span, vectors_of(p, c0), p->stream ? (void *)buffer : (void *)y, x, z, half, relu,
                  p->top);
            if (p->stream) stream_out(y, (const char *)buffer, m * size);
        }
    if (p->stream) stream_end();
}

/* Row-major planes: `begin` and `end` number planes, c is their count per image. */
INLINE void planes(const MsBatchNorm *p, int64_t begin, int64_t end, bool half)
{
    for (int64_t k = begin; k < end; k++) {
        const void *x = row_at(p->x, k * p->plane, half), *z = row_at(p->skip, k * p->plane, half);
        void *y = (char *)p->y + k * p->plane * (half ? 2 : 4);
        float mean = p->mean[k % p->c], scale = p->scale[k % p->c], shift = p->shift[k % p->c];
        float low = p->relu ? 0 : -INFINITY, high = p->relu ? p->top : INFINITY;
#pragma GCC ivdep
        for (int64_t i = 0; i < p->plane; i++) {
            float a = (get(x, i, half) - mean) * scale + shift;
            if (z) a = rounded(rounded(a, half) + get(z, i, half), half);
            put(y, i, bounded(a, low, high), half);
        }
    }
}

/* ---- backward ---- */

enum {
    PLAIN,
    BY_APPLY,
    BY_MASK,
    BY_MASK_MORE
};

/* Rows of the operands. */
typedef struct Row {
    const void *x, *dy, *more, *mask;
    void *d;
} Row;

INLINE Row row_of(const MsBatchNorm *p, int64_t at, bool half)
{
    return (Row){row_at(p->x, at, half), row_at(p->dy, at, half), row_at(p->more, at, half),
                 row_at(p->mask, at, half), (char *)p->d + at * (half ? 2 : 4)};
}

INLINE float incoming(Vectors v, Row o, float x, int64_t c, bool half, int kind)
{
    float g = get(o.dy, c, half);
    if (kind == BY_MASK_MORE) g = rounded(g + get(o.more, c, half), half);
    if (kind == BY_APPLY) return affine(v, x, c) <= 0 ? 0 : g;
    if (kind != PLAIN) return get(o.mask, c, half) <= 0 ? 0 : g;
    return g;
}

INLINE void reduce_span(int64_t at, int64_t n, Vectors v, Sums *a, Row o, bool half, int kind)
{
#pragma GCC ivdep
    for (int64_t c = at; c < at + n; c++) {
        float x = get(o.x, c, half), g = incoming(v, o, x, c, half, kind);
        if (kind >= BY_MASK) put(o.d, c, g, half);
        a->s[c] += g;
        a->q[c] += g * (x - v.mean[c]);
    }
}

INLINE void reduce(const MsBatchNorm *p, int64_t begin, int64_t end, bool half, int kind)
{
    for (int64_t b = begin; b < end; b++) {
        Rows rows = rows_of(p, b);
        double *out = p->partial + b * 2 * p->c;
        for (int64_t c0 = 0; c0 < p->c; c0 += CHUNK) {
            int64_t m = p->c - c0 < CHUNK ? p->c - c0 : CHUNK;
            Sums a;
            for (int64_t c = 0; c < m; c++) a.s[c] = a.q[c] = 0;
            for (int64_t r = rows.begin; r < rows.end; r++)
                SPANS(m, reduce_span, vectors_of(p, c0), &a, row_of(p, r * p->c + c0, half), half, kind);
            for (int64_t c = 0; c < m; c++) {
                out[c0 + c] = (double)a.s[c];
                out[p->c + c0 + c] = (double)a.q[c];
            }
        }
    }
}

INLINE void grad_span(int64_t at, int64_t n, Vectors v, void *y, Row o, bool half, int kind)
{
#pragma GCC ivdep
    for (int64_t c = at; c < at + n; c++) {
        float x = get(o.x, c, half), g = incoming(v, o, x, c, half, kind);
        put(y, c, g * v.by[c] + (x - v.mean[c]) * v.times[c] + v.plus[c], half);
    }
}

INLINE void grad(const MsBatchNorm *p, int64_t begin, int64_t end, bool half, int kind)
{
    _Alignas(64) float buffer[CHUNK];
    int64_t size = half ? 2 : 4;
    for (int64_t r = begin * MS_BATCH_ROWS; r < rows_of(p, end - 1).end; r++)
        for (int64_t c0 = 0; c0 < p->c; c0 += CHUNK) {
            int64_t m = p->c - c0 < CHUNK ? p->c - c0 : CHUNK, at = r * p->c + c0;
            char *y = (char *)p->dx + at * size;
            SPANS(m, grad_span, vectors_of(p, c0), p->stream ? (void *)buffer : (void *)y,
                  row_of(p, at, half), half, kind);
            if (p->stream) stream_out(y, (const char *)buffer, m * size);
        }
    if (p->stream) stream_end();
}

#define AFFINE(T)                                                                                            \
    static void affine_##T(int64_t n, const void *const v[4], double eps, float *restrict mean,              \
                           float *restrict scale, float *restrict shift)                                     \
    {                                                                                                        \
        const T *gamma = v[0], *beta = v[1], *mu = v[2], *var = v[3];                                        \
        for (int64_t c = 0; c < n; c++) {                                                                    \
            double m = (double)mu[c], k = (double)gamma[c] / sqrt((double)var[c] + eps);                     \
            mean[c] = (float)m;                                                                              \
            scale[c] = (float)k;                                                                             \
            shift[c] = (float)((double)beta[c] - (m - (double)(float)m) * k);                                \
        }                                                                                                    \
    }
AFFINE(float)
AFFINE(double)

/* ---- the variants ---- */

#define VARIANT(name, ...)                                                                                   \
    static void name(void *ctx, int64_t begin, int64_t end)                                                  \
    {                                                                                                        \
        const MsBatchNorm *p = ctx;                                                                          \
        __VA_ARGS__;                                                                                         \
    }
#define VARIANTS(suffix, half)                                                                               \
    VARIANT(stats_##suffix, stats(p, begin, end, half))                                                      \
    VARIANT(apply_##suffix, apply(p, begin, end, half, false, false))                                        \
    VARIANT(apply_skip_##suffix, apply(p, begin, end, half, false, true))                                    \
    VARIANT(apply_relu_##suffix, apply(p, begin, end, half, true, false))                                    \
    VARIANT(apply_skip_relu_##suffix, apply(p, begin, end, half, true, true))                                \
    VARIANT(planes_##suffix, planes(p, begin, end, half))                                                    \
    VARIANT(reduce_##suffix, reduce(p, begin, end, half, PLAIN))                                             \
    VARIANT(reduce_by_apply_##suffix, reduce(p, begin, end, half, BY_APPLY))                                 \
    VARIANT(reduce_by_mask_##suffix, reduce(p, begin, end, half, BY_MASK))                                   \
    VARIANT(reduce_more_##suffix, reduce(p, begin, end, half, BY_MASK_MORE))                                 \
    VARIANT(grad_##suffix, grad(p, begin, end, half, PLAIN))                                                 \
    VARIANT(grad_by_apply_##suffix, grad(p, begin, end, half, BY_APPLY))
VARIANTS(f32, false)
VARIANTS(bf16, true)

#define BOTH(name)                                                                                           \
    {                                                                                                        \
        name##_f32, name##_bf16                                                                              \
    }

const MsBatchNormFns PASTE(ms__batch_, MS_ISA) = {
    BOTH(stats),
    {{{apply_f32, apply_skip_f32}, {apply_relu_f32, apply_skip_relu_f32}},
     {{apply_bf16, apply_skip_bf16}, {apply_relu_bf16, apply_skip_relu_bf16}}},
    BOTH(planes),
    {{reduce_f32, reduce_by_apply_f32, reduce_by_mask_f32, reduce_more_f32},
     {reduce_bf16, reduce_by_apply_bf16, reduce_by_mask_bf16, reduce_more_bf16}},
    {{grad_f32, grad_by_apply_f32}, {grad_bf16, grad_by_apply_bf16}},
    {affine_float, affine_double},
};
