/* row.c - functions of one contiguous row: the maximum, the exponentials and their sum of softmax. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/isa/vec.h"
#include "cpu/loops.h"

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* The last n < LANES values, the others -inf. */
VEC V rest_of(int64_t n, const float *x)
{
    V v = all_lanes(-INFINITY);
    memcpy(&v, x, (size_t)n * sizeof *x);
    return v;
}

static float max_f32(int64_t n, const float *x)
{
    V m = all_lanes(-INFINITY), m2 = m;
    for (; n >= 2 * LANES; n -= 2 * LANES, x += 2 * LANES) {
        m = larger(*(const V *)(const void *)x, m);
        m2 = larger(*(const V *)(const void *)(x + LANES), m2);
    }
    if (n >= LANES) {
        m = larger(*(const V *)(const void *)x, m);
        n -= LANES, x += LANES;
    }
    if (n > 0) m2 = larger(rest_of(n, x), m2);
    return max_lanes(larger(m, m2));
}

/* Lanes are summed in float32 over PIECE values at most. */
#define PIECE 1024
static double exp_sum_f32(int64_t n, float *y, const float *x, float shift)
{
    double total = 0;
    V c = all_lanes(shift);
    while (n > 0) {
        int64_t m = n < PIECE ? n : PIECE;
        V s = {0};
        n -= m;
        for (; m >= LANES; m -= LANES, x += LANES, y += LANES) {
            V e = exp_v(*(const V *)(const void *)x - c);
            *(V *)(void *)y = e;
            s += e;
        }
        if (m > 0) {
            V e = exp_v(rest_of(m, x) - c);
            memcpy(y, &e, (size_t)m * sizeof *y);
            s += e;
        }
        total += sum_lanes(s);
    }
    return total;
}

static void exp_f64(int64_t n, double *y, const double *x, double shift)
{
    for (int64_t i = 0; i < n; i++) y[i] = exp(x[i] - shift);
}

static void affine_f32(int64_t n, void *yv, const void *xv, double a, double b)
{
    float *y = yv;
    const float *x = xv;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) y[i] = (float)((double)x[i] * a + b);
}

static void affine_f64(int64_t n, void *yv, const void *xv, double a, double b)
{
    double *y = yv;
    const double *x = xv;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * a + b;
}

extern const MsRowSet JOIN(ms__row_set_, MS_ISA);
const MsRowSet JOIN(ms__row_set_, MS_ISA) = {max_f32, exp_sum_f32, exp_f64, {affine_f32, affine_f64}};
