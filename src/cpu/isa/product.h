/* product.h - what the convolutions of float32 rows share: vectors, a tile of a matrix product in
 * registers, and the last steps of an output (cpu/finish.h). For files that are compiled per instruction
 * set, with contraction on. */
#ifndef MS_CPU_ISA_PRODUCT_H
#define MS_CPU_ISA_PRODUCT_H
#include "cpu/finish.h"

#include <immintrin.h>

#ifdef __AVX512F__
#define LANES 16
#define WIDE 4 /* vectors of the widest tile */
#else
#define LANES 8
#define WIDE 2
#endif
#define ROWS 6
#define INLINE static inline __attribute__((always_inline))

typedef float V __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

/* acc[rows][vectors] += a[rows][k] b[k][vectors]; a with steps between rows and along k, b with one along
 * k. */
INLINE void multiply(int rows, int vectors, int64_t k, const float *a, int64_t a_row, int64_t a_k,
                     const float *b, int64_t b_row, V acc[ROWS][WIDE])
{
    for (int64_t l = 0; l < k; l++, a += a_k, b += b_row) {
        V v[WIDE];
        for (int j = 0; j < vectors; j++) v[j] = *(const V *)(b + j * LANES);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < vectors; j++) acc[i][j] += a[i * a_row] * v[j];
    }
}

/* v, which takes no part in a contraction. */
INLINE V rounded(V v)
{
#ifdef __AVX512F__
    __asm__("" : "+v"(v));
#else
    __asm__("" : "+x"(v));
#endif
    return v;
}

enum {
    PLAIN, /* a bias at most */
    NORM,
    NORM_SKIP
};

INLINE int kind_of(const MsFinish *f)
{
    return !f->scale ? PLAIN : f->skip ? NORM_SKIP : NORM;
}

/* What an output of channels [o, o + LANES) is finished with, in registers: stores might change what lies
 * in memory. */
typedef struct Ends {
    V bias, mean, scale, shift, low, top;
} Ends;

INLINE Ends ends_of(const MsFinish *f, int kind, int64_t o)
{
    const V none = {0}; /* its negative changes nothing that it is added to */
    Ends e = {.bias = f->bias ? *(const V *)(f->bias + o) : -none};
    if (kind == PLAIN) return e;
    e.mean = *(const V *)(f->mean + o);
    e.scale = *(const V *)(f->scale + o);
    e.shift = *(const V *)(f->shift + o);
    e.low = none + (f->relu ? 0 : -__builtin_inff());
    e.top = none + f->top;
    return e;
}

/* The output v, to which the skip's values at `skip` belong. As in batch.c, NaN stays. */
INLINE V finished(int kind, const Ends *e, V v, const float *skip)
{
    v += e->bias;
    if (kind == PLAIN) return v;
    v = rounded((v - e->mean) * e->scale) + e->shift;
    if (kind == NORM_SKIP) v += *(const V *)skip;
#ifdef __AVX512F__
    return (V)_mm512_min_ps((__m512)e->top, _mm512_max_ps((__m512)e->low, (__m512)v));
#else
    return (V)_mm256_min_ps((__m256)e->top, _mm256_max_ps((__m256)e->low, (__m256)v));
#endif
}

#endif
