/* rnn.c - one step of an LSTM or GRU for a range of hidden units, compiled per instruction set: the products of these units
 * with the packed weights, and at once what follows from them while they are in the first-level cache. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/rnn.h"

#include "cpu/gemm.h"
#include "cpu/isa/vec.h"

#include <stdbool.h>
#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define GEMM_TILE PASTE(ms__gemm_tile_, MS_ISA)
#define ROWS 32 /* of the batch that are worked on together */

VEC V clamp_v(V x)
{
    x = pick(x > 80.0f, all_lanes(80), x);
    return pick(x < -80.0f, all_lanes(-80), x);
}
VEC V sigmoid_v(V x)
{
    return 1 / (1 + exp_v(clamp_v(-x)));
}
/* By the exponential; near 0, where that cancels, by the series. */
VEC V tanh_v(V x)
{
    V e = exp_v(clamp_v(2 * x)), s = x * x;
    V p = s * (s * (s * (s * (s * -8.86323e-3f + 2.18695e-2f) - 5.39683e-2f) + 1.33333e-1f) - 3.33333e-1f);
    return pick((x < 0.35f) & (x > -0.35f), x + x * p, 1 - 2 / (e + 1));
}

VEC V load(const float *p, int64_t n)
{
    if (n == LANES) return *(const V *)p;
    V v = {0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}
VEC void store(float *p, int64_t n, V v)
{
    if (n == LANES)
        *(V *)p = v;
    else
        memcpy(p, &v, (size_t)n * sizeof *p);
}

/* to [rows, LANES] (+)= rows of x, `pitch` apart, times a panel; the depth in blocks that fit in the first-level cache. */
static void product(int64_t rows, int64_t depth, const float *x, int64_t pitch, const float *panel, float *to,
                    bool add)
{
    for (int64_t k = 0; k < depth; k += MS_GEMM_DEPTH) {
        int64_t d = depth - k < MS_GEMM_DEPTH ? depth - k : MS_GEMM_DEPTH;
        MsGemmTile t = {rows, LANES, d, x + k, pitch, 1, panel + k * LANES, to, LANES, 1, add || k > 0};
        GEMM_TILE(&t);
    }
}

static void lstm(void *ctx, int64_t begin, int64_t end)
{
    const MsLstm *p = ctx;
    _Alignas(64) float sum[4][ROWS * LANES];
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * LANES, w = p->n - at < LANES ? p->n - at : LANES;
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            for (int q = 0; q < 4; q++)
                product(rows, p->n, p->h + b0 * p->n, p->n, p->packed + (u * 4 + q) * p->n * LANES, sum[q],
                        false);
            for (int64_t r = 0; r < rows; r++) {
                const float *a = p->a + (b0 + r) * 4 * p->n + at;
                float *gates = p->gates + (b0 + r) * 4 * p->n + at;
                V g[4];
                for (int q = 0; q < 4; q++) {
                    g[q] = load(a + q * p->n, w) + *(const V *)(sum[q] + r * LANES);
                    g[q] = q == 2 ? tanh_v(g[q]) : sigmoid_v(g[q]);
                    store(gates + q * p->n, w, g[q]);
                }
                int64_t i = (b0 + r) * p->n + at;
                V c = g[1] * load(p->c_before + i, w) + g[0] * g[2];
                store(p->c + i, w, c);
                store(p->y + i, w, g[3] * tanh_v(c));
            }
        }
    }
}

static void grad_row(const MsLstm *p, int64_t b, int64_t at, int64_t w, V dh)
{
    int64_t i = b * p->n + at, k = b * 4 * p->n + at;
    V g[4], d[4];
    for (int q = 0; q < 4; q++) g[q] = load(p->gates_in + k + q * p->n, w);
    V tc = tanh_v(load(p->c_in + i, w)), dc = load(p->carry + i, w) + dh * g[3] * (1 - tc * tc);
    if (p->dc) dc += load(p->dc + i, w);
    d[0] = dc * g[2], d[1] = dc * load(p->c_before + i, w), d[2] = dc * g[0], d[3] = dh * tc;
    for (int q = 0; q < 4; q++) {
        if (p->dgates) d[q] += load(p->dgates + k + q * p->n, w);
        store(p->da + k + q * p->n, w, d[q] * (q == 2 ? 1 - g[q] * g[q] : g[q] * (1 - g[q])));
    }
    store(p->carry + i, w, dc * g[1]);
}

static void lstm_grad(void *ctx, int64_t begin, int64_t end)
{
    const MsLstm *p = ctx;
    _Alignas(64) float sum[ROWS * LANES];
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * LANES, w = p->n - at < LANES ? p->n - at : LANES;
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            if (p->da_after)
                product(rows, 4 * p->n, p->da_after + b0 * 4 * p->n, 4 * p->n,
                        p->packed + u * 4 * p->n * LANES, sum, false);
            else
                memset(sum, 0, sizeof sum);
            for (int64_t r = 0; r < rows; r++) {
                V dh = *(const V *)(sum + r * LANES);
                if (p->dh)
                    store(p->dh + (b0 + r) * p->n + at, w, dh);
                else
                    grad_row(p, b0 + r, at, w, dh + load(p->dy + (b0 + r) * p->n + at, w));
            }
        }
    }
}

static void gru(void *ctx, int64_t begin, int64_t end)
{
    const MsGru *p = ctx;
    _Alignas(64) float sum[3][ROWS * LANES];
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * LANES, w = p->n - at < LANES ? p->n - at : LANES;
        V bias = p->b ? load(p->b + at, w) : all_lanes(0);
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            for (int q = 0; q < 3; q++)
                product(rows, p->n, p->h + b0 * p->n, p->n, p->packed + (u * 3 + q) * p->n * LANES, sum[q],
                        false);
            for (int64_t r = 0; r < rows; r++) {
                const float *a = p->a + (b0 + r) * 3 * p->n + at;
                float *gates = p->gates + (b0 + r) * 4 * p->n + at;
                V reset = sigmoid_v(load(a, w) + *(const V *)(sum[0] + r * LANES));
                V keep = sigmoid_v(load(a + p->n, w) + *(const V *)(sum[1] + r * LANES));
                V old = *(const V *)(sum[2] + r * LANES) + bias;
                V new = tanh_v(load(a + 2 * p->n, w) + reset * old);
                store(gates, w, reset);
                store(gates + p->n, w, keep);
                store(gates + 2 * p->n, w, new);
                store(gates + 3 * p->n, w, old);
                int64_t i = (b0 + r) * p->n + at;
                store(p->y + i, w, new + keep *(load(p->h + i, w) - new));
            }
        }
    }
}

static void gru_grad_row(const MsGru *p, int64_t b, int64_t at, int64_t w, V dh)
{
    int64_t i = b * p->n + at, k = b * 4 * p->n + at, n = p->n;
    V g[4], d[4];
    for (int q = 0; q < 4; q++) g[q] = load(p->gates_in + k + q * n, w);
    V dr = all_lanes(0), dz = dh * (load(p->h + i, w) - g[2]), dn = dh * (1 - g[1]), dq = all_lanes(0);
    if (p->dgates) {
        const float *more = p->dgates + k;
        dr += load(more, w), dz += load(more + n, w), dn += load(more + 2 * n, w),
            dq += load(more + 3 * n, w);
    }
    d[2] = dn * (1 - g[2] * g[2]);
    d[0] = (dr + d[2] * g[3]) * g[0] * (1 - g[0]);
    d[1] = dz * g[1] * (1 - g[1]);
    d[3] = dq + d[2] * g[0];
    for (int q = 0; q < 4; q++) store(p->d + k + q * n, w, d[q]);
    store(p->carry + i, w, dh * g[1]);
}

static void gru_grad(void *ctx, int64_t begin, int64_t end)
{
    const MsGru *p = ctx;
    _Alignas(64) float sum[ROWS * LANES];
    int64_t n = p->n;
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * LANES, w = n - at < LANES ? n - at : LANES;
        const float *panel = p->packed + u * 3 * n * LANES;
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            memset(sum, 0, sizeof sum);
            if (p->d_after) { /* of the reset and keep gates, then of the product inside the tanh */
                product(rows, 2 * n, p->d_after + b0 * 4 * n, 4 * n, panel, sum, true);
                product(rows, n, p->d_after + b0 * 4 * n + 3 * n, 4 * n, panel + 2 * n * LANES, sum, true);
            }
            for (int64_t r = 0; r < rows; r++) {
                int64_t i = (b0 + r) * n + at;
                V dh = *(const V *)(sum + r * LANES) + load(p->carry + i, w);
                if (p->dh)
                    store(p->dh + i, w, dh);
                else
                    gru_grad_row(p, b0 + r, at, w, dh + load(p->dy + i, w));
            }
        }
    }
}

const MsRnnFns PASTE(ms__rnn_, MS_ISA) = {lstm, lstm_grad, gru, gru_grad};
