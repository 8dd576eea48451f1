/* loss.c - softmax cross-entropy of one row after the other, compiled per instruction set: the maximum, then the sum
 * of exponentials, then, for the gradient, the row of results. A row of a vocabulary's size stays in the second-level
 * cache between the passes. Half types are widened piece by piece. Sums are taken in 16 lanes over a piece and in
 * float64 over the pieces. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/loss.h"

#include "cpu/isa/vec.h"

#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define PIECE 1024

/* Elements [k, k + n) of row r as float32. */
static const float *piece(const MsLoss *p, int64_t r, int64_t k, int64_t n, float *buf)
{
    const char *x = p->x + (r * p->pitch + k) * p->size;
    if (!p->from_half) return (const float *)(const void *)x;
    p->from_half(n, buf, (const uint16_t *)(const void *)x);
    return buf;
}

static float value(const MsLoss *p, int64_t r, int64_t k)
{
    float v;
    return *piece(p, r, k, 1, &v);
}

static float row_max(const MsLoss *p, int64_t r)
{
    _Alignas(64) float buf[PIECE];
    V m = all_lanes(-INFINITY);
    float rest = -INFINITY;
    for (int64_t k = 0; k < p->classes; k += PIECE) {
        int64_t n = p->classes - k < PIECE ? p->classes - k : PIECE, i = 0;
        const float *x = piece(p, r, k, n, buf);
        for (; i + LANES <= n; i += LANES) m = larger(*(const V *)(x + i), m);
        for (; i < n; i++) rest = x[i] > rest ? x[i] : rest;
    }
    float all = max_lanes(m);
    return all > rest ? all : rest;
}

static inline __attribute__((always_inline)) V last_lanes(const float *x, int64_t n)
{
    V v = all_lanes(-INFINITY);
    memcpy(&v, x, (size_t)n * sizeof *x);
    return v;
}

static double row_sum(const MsLoss *p, int64_t r, float max)
{
    _Alignas(64) float buf[PIECE];
    double sum = 0;
    for (int64_t k = 0; k < p->classes; k += PIECE) {
        int64_t n = p->classes - k < PIECE ? p->classes - k : PIECE, i = 0;
        const float *x = piece(p, r, k, n, buf);
        V s = {0};
        for (; i + LANES <= n; i += LANES) s += exp_v(*(const V *)(x + i) - max);
        double rest = 0;
        if (i < n) {
            V tail = exp_v(last_lanes(x + i, n - i) - max);
            for (int64_t l = 0; l < n - i; l++) rest += (double)tail[l];
        }
        sum += sum_lanes(s) + rest;
    }
    return sum;
}

static void loss(void *ctx, int64_t begin, int64_t end)
{
    const MsLoss *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        float *out = (float *)(void *)p->out + r;
        *out = 0;
        if (p->label[r] == p->ignore) continue;
        float max = row_max(p, r);
        *out = (float)(log(row_sum(p, r, max)) + ((double)max - (double)value(p, r, p->label[r])));
    }
}

static void grad(void *ctx, int64_t begin, int64_t end)
{
    const MsLoss *p = ctx;
    _Alignas(64) float buf[PIECE];
    for (int64_t r = begin; r < end; r++) {
        char *row = p->out + r * p->out_pitch * p->size;
        int64_t label = p->label[r];
        if (label == p->ignore) {
            memset(row, 0, (size_t)(p->classes * p->size));
            continue;
        }
        float max = row_max(p, r), g = p->dloss[r], at = value(p, r, label);
        double inverse = 1 / row_sum(p, r, max);
        float scale = (float)inverse;
        at = g * (float)(exp((double)at - (double)max) * inverse - 1);
        for (int64_t k = 0; k < p->classes; k += PIECE) {
            int64_t n = p->classes - k < PIECE ? p->classes - k : PIECE, i = 0;
            const float *x = piece(p, r, k, n, buf);
            float *y = p->from_half ? buf : (float *)(void *)row + k;
            for (; i + LANES <= n; i += LANES) *(V *)(y + i) = exp_v(*(const V *)(x + i) - max) * scale * g;
            if (i < n) {
                V tail = exp_v(last_lanes(x + i, n - i) - max) * scale * g;
                memcpy(y + i, &tail, (size_t)(n - i) * sizeof *y);
            }
            if (label >= k && label < k + n) y[label - k] = at;
            if (p->from_half) p->to_half(n, (uint16_t *)(void *)row + k, buf);
        }
    }
}

const MsLossFns PASTE(ms__loss_, MS_ISA) = {loss, grad};
