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

static int64_t arg_f32(int64_t n, const float *x, bool min)
{
    V flip = all_lanes(min ? -1.0f : 1.0f), best = all_lanes(-INFINITY);
    I at = {0}, nan = {0}, step = {0};
    int64_t whole = n / LANES * LANES, from = 0;
    if (whole > 0) best = *(const V *)(const void *)x * flip;
    for (int64_t k = 0; k < whole; k += LANES, step += 1) {
        V v = *(const V *)(const void *)(x + k) * flip;
        I better = v > best;
        nan |= v != v;
        best = pick(better, v, best);
        at = (better & step) | (~better & at);
    }
    float top = whole > 0 ? best[0] : x[0] * flip[0];
    from = whole > 0 ? (int64_t)at[0] * LANES : 0;
    bool found_nan = false;
    for (int l = 0; l < LANES && whole > 0; l++) { /* of equal lanes the one with the first index */
        int64_t i = (int64_t)at[l] * LANES + l;
        found_nan |= nan[l] != 0;
        if (best[l] > top || (best[l] == top && i < from)) top = best[l], from = i;
    }
    for (int64_t i = whole; i < n; i++) {
        float v = x[i] * flip[0];
        found_nan |= v != v;
        if (v > top) top = v, from = i;
    }
    for (int64_t i = 0; i < n && found_nan; i++)
        if (x[i] != x[i]) return i;
    return from;
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

/* See ms__order_keys: positive values order as their bits, negative ones in reverse. */
static void keys_f32(int64_t n, const uint32_t *x, uint32_t nan, uint64_t flip, uint64_t *key)
{
    const uint32_t sign = 1u << 31;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; k++) {
        uint32_t u = x[k], size = u & ~sign, ordered = u ^ ((uint32_t) - (u >> 31) | sign);
        ordered = size == 0 ? sign : ordered;
        key[k] = (size > 0x7f800000u ? nan : ordered) ^ flip;
    }
}

/* A vector of places at a time: of equal keys an earlier one counts. */
static void rank_u32(int64_t n, const uint32_t *key, uint32_t *rank)
{
    const I lane = lane_numbers();
    for (int64_t b = 0; b < n; b += LANES) {
        U k = *(const U *)(const void *)(key + b), r = {0};
        int64_t i = 0;
        for (; i < b; i++) r -= (U)(key[i] <= k);
        for (; i < b + LANES && i < n; i++)
            r -= (U)((key[i] < k) | ((key[i] == k) & (lane > (int32_t)(i - b))));
        for (; i < n; i++) r -= (U)(key[i] < k);
        *(U *)(void *)(rank + b) = r;
    }
}

extern const MsRowSet JOIN(ms__row_set_, MS_ISA);
const MsRowSet JOIN(ms__row_set_, MS_ISA) = {
    max_f32, arg_f32, exp_sum_f32, exp_f64, {affine_f32, affine_f64}, keys_f32, rank_u32};
