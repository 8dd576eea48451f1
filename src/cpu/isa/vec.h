/* vec.h - float32 as vectors of 16 lanes, for kernels that keep sums and maxima in lanes: what the compiler cannot
 * do by itself without reordering sums. Where the instruction set is narrower, the compiler splits them. */
#ifndef MS_CPU_ISA_VEC_H
#define MS_CPU_ISA_VEC_H
#include <math.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

#define LANES 16
#define VEC static inline __attribute__((always_inline, unused))

typedef float V __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t I __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t U __attribute__((vector_size(64), aligned(4), may_alias));

VEC V pick(I mask, V a, V b)
{
    return (V)((mask & (I)a) | (~mask & (I)b));
}
VEC V all_lanes(float x)
{
    return (V){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}
VEC double sum_lanes(V v)
{
    double s = 0;
    for (int l = 0; l < LANES; l++) s += (double)v[l];
    return s;
}
VEC float max_lanes(V v)
{
    float m = v[0];
    for (int l = 1; l < LANES; l++) m = v[l] > m ? v[l] : m;
    return m;
}

/* e^x to about 1.5 units in the last place, for x up to 88; below the smallest normal number 0. NaN stays. */
VEC V exp_v(V x)
{
    V t = x * 1.44269504f + 0x1.8p23f, n = t - 0x1.8p23f;
    V r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    V p = 1.98756e-4f * r + 1.39820e-3f;
    p = p * r + 8.33345e-3f;
    p = p * r + 4.16658e-2f;
    p = p * r + 1.66666657e-1f;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
    V y = (V)((U)p + ((U)t << 23)); /* wraps where x is out of range, which is picked away */
    y = pick(x < -87.3f, (V){0}, y);
    return pick(x != x, x, y);
}

#endif
