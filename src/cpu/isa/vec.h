/* vec.h - float32 as the vectors of the instruction set, for kernels that keep sums and maxima in lanes: what the compiler
 * cannot do by itself without reordering sums. */
#ifndef MS_CPU_ISA_VEC_H
#define MS_CPU_ISA_VEC_H
#include "cpu/isa/width.h"

#include <math.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

#define LANES (WIDTH / 4)
#define VEC static inline __attribute__((always_inline, unused))

typedef float V __attribute__((vector_size(WIDTH), aligned(4), may_alias));
typedef int32_t I __attribute__((vector_size(WIDTH), aligned(4), may_alias));
typedef uint32_t U __attribute__((vector_size(WIDTH), aligned(4), may_alias));

VEC V pick(I mask, V a, V b)
{
    return (V)((mask & (I)a) | (~mask & (I)b));
}
VEC V all_lanes(float x)
{
    return x - (V){0};
}
/* 0, 1, 2, ... */
VEC I lane_numbers(void)
{
    I n;
    for (int l = 0; l < LANES; l++) n[l] = l;
    return n;
}
/* By lane a > b ? a : b: b where one is NaN. */
VEC V larger(V a, V b)
{
#ifdef __AVX512F__
    return (V)_mm512_max_ps((__m512)a, (__m512)b);
#else
    return pick(a > b, a, b);
#endif
}
/* Across the lanes, pairwise. */
VEC double sum_lanes(V v)
{
#ifdef __AVX512F__
    typedef double D __attribute__((vector_size(128)));
    typedef double H __attribute__((vector_size(64)));
    union {
        D all;
        H half[2];
    } u = {__builtin_convertvector(v, D)};
    H s = u.half[0] + u.half[1];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
#else
    double s[LANES];
    for (int l = 0; l < LANES; l++) s[l] = (double)v[l];
    for (int h = LANES / 2; h; h /= 2)
        for (int l = 0; l < h; l++) s[l] += s[l + h];
    return s[0];
#endif
}
VEC float max_lanes(V v)
{
    for (int h = LANES / 2; h > 2; h /= 2) v = larger(__builtin_shuffle(v, lane_numbers() ^ h), v);
    float a = v[0] > v[2] ? v[0] : v[2], b = v[1] > v[3] ? v[1] : v[3];
    return a > b ? a : b;
}

/* e^x to about 1.5 units in the last place for x up to 88, subnormal results included. NaN stays. */
VEC V exp_v(V x)
{
    x = larger(all_lanes(-104.0f), x); /* there e^x rounds to 0 */
    V t = x * 1.44269504f + 0x1.8p23f, n = t - 0x1.8p23f;
    V r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    V p = 1.98756e-4f * r + 1.39820e-3f;
    p = p * r + 8.33345e-3f;
    p = p * r + 4.16658e-2f;
    p = p * r + 1.66666657e-1f;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
#ifdef __AVX512F__
    return (V)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
    I k = (I)t - 0x4b400000, half = k >> 1; /* 2^n as two factors: the first product is exact */
    V y = p * (V)((half + 127) << 23) * (V)((k - half + 127) << 23);
    return pick(x != x, x, y);
#endif
}

#endif
