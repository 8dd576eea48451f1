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
#define UNITS MS_RNN_UNITS
_Static_assert(UNITS == MS_GEMM_PANEL && UNITS % LANES == 0, "units are packed in panels");

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

/* to [rows, panels * UNITS] (+)= rows of x, `pitch` apart, times panels of `deep` rows; the depth in blocks that fit in the
 * first-level cache. */
static void product(int64_t rows, int64_t depth, const float *x, int64_t pitch, int panels,
                    const float *panel, int64_t deep, float *to, bool add)
{
    for (int64_t k = 0; k < depth; k += MS_GEMM_DEPTH) {
        MsGemmTile t = {.m = rows,
                        .n = panels * UNITS,
                        .k = depth - k < MS_GEMM_DEPTH ? depth - k : MS_GEMM_DEPTH,
                        .a = x + k,
                        .am = pitch,
                        .ak = 1,
                        .b = panel + k * UNITS,
                        .panel = deep * UNITS,
                        .c = to,
                        .cm = panels * UNITS,
                        .cn = 1,
                        .add = add || k > 0};
        GEMM_TILE(&t);
    }
}

/* The hidden units [at, at + w) of a row, which stand at `sum`, a vector after the other: of unit `i`, n lanes. */
#define EACH_VECTOR(at, w)                                                                                   \
    for (int64_t l = 0, i = (at), n; l < (w) && (n = lanes_of((w)-l)); l += LANES, i += LANES)

VEC int64_t lanes_of(int64_t left)
{
    return left < LANES ? left : LANES;
}

static void lstm_row(const MsLstm *p, int64_t b, int64_t at, int64_t w, const float *sum)
{
    const float *a = p->a + b * 4 * p->n;
    float *gates = p->gates + b * 4 * p->n;
    EACH_VECTOR(at, w)
    {
        V g[4];
        for (int q = 0; q < 4; q++) {
            g[q] = load(a + q * p->n + i, n) + *(const V *)(sum + q * UNITS + l);
            g[q] = q == 2 ? tanh_v(g[q]) : sigmoid_v(g[q]);
            store(gates + q * p->n + i, n, g[q]);
        }
        V c = g[1] * load(p->c_before + b * p->n + i, n) + g[0] * g[2];
        store(p->c + b * p->n + i, n, c);
        store(p->y + b * p->n + i, n, g[3] * tanh_v(c));
    }
}

static void lstm(void *ctx, int64_t begin, int64_t end)
{
    const MsLstm *p = ctx;
    _Alignas(64) float sum[ROWS * 4 * UNITS];
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * UNITS, w = p->n - at < UNITS ? p->n - at : UNITS;
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            product(rows, p->n, p->h + b0 * p->n, p->n, 4, p->packed + u * 4 * p->n * UNITS, p->n, sum,
                    false);
            for (int64_t r = 0; r < rows; r++) lstm_row(p, b0 + r, at, w, sum + r * 4 * UNITS);
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
    _Alignas(64) float sum[ROWS * UNITS];
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * UNITS, w = p->n - at < UNITS ? p->n - at : UNITS;
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            if (p->da_after)
                product(rows, 4 * p->n, p->da_after + b0 * 4 * p->n, 4 * p->n, 1,
                        p->packed + u * 4 * p->n * UNITS, 4 * p->n, sum, false);
            else
                memset(sum, 0, sizeof sum);
            for (int64_t r = 0; r < rows; r++) EACH_VECTOR((b0 + r) * p->n + at, w)
                {
                    V dh = *(const V *)(sum + r * UNITS + l);
                    if (p->dh)
                        store(p->dh + i, n, dh);
                    else
                        grad_row(p, b0 + r, at + l, n, dh + load(p->dy + i, n));
                }
        }
    }
}

static void gru_row(const MsGru *p, int64_t b, int64_t at, int64_t w, const float *sum)
{
    const float *a = p->a + b * 3 * p->n;
    float *gates = p->gates + b * 4 * p->n;
    EACH_VECTOR(at, w)
    {
        V reset = sigmoid_v(load(a + i, n) + *(const V *)(sum + l));
        V keep = sigmoid_v(load(a + p->n + i, n) + *(const V *)(sum + UNITS + l));
        V old = *(const V *)(sum + 2 * UNITS + l) + (p->b ? load(p->b + i, n) : all_lanes(0));
        V new = tanh_v(load(a + 2 * p->n + i, n) + reset * old);
        store(gates + i, n, reset);
        store(gates + p->n + i, n, keep);
        store(gates + 2 * p->n + i, n, new);
        store(gates + 3 * p->n + i, n, old);
        store(p->y + b * p->n + i, n, new + keep *(load(p->h + b * p->n + i, n) - new));
    }
}

static void gru(void *ctx, int64_t begin, int64_t end)
{
    const MsGru *p = ctx;
    _Alignas(64) float sum[ROWS * 3 * UNITS];
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * UNITS, w = p->n - at < UNITS ? p->n - at : UNITS;
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            product(rows, p->n, p->h + b0 * p->n, p->n, 3, p->packed + u * 3 * p->n * UNITS, p->n, sum,
                    false);
            for (int64_t r = 0; r < rows; r++) gru_row(p, b0 + r, at, w, sum + r * 3 * UNITS);
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
    _Alignas(64) float sum[ROWS * UNITS];
    int64_t h = p->n;
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * UNITS, w = h - at < UNITS ? h - at : UNITS;
        const float *panel = p->packed + u * 3 * h * UNITS;
        for (int64_t b0 = 0; b0 < p->batch; b0 += ROWS) {
            int64_t rows = p->batch - b0 < ROWS ? p->batch - b0 : ROWS;
            memset(sum, 0, sizeof sum);
            if (p->d_after) { /* of the reset and keep gates, then of the product inside the tanh */
                product(rows, 2 * h, p->d_after + b0 * 4 * h, 4 * h, 1, panel, 3 * h, sum, true);
                product(rows, h, p->d_after + b0 * 4 * h + 3 * h, 4 * h, 1, panel + 2 * h * UNITS, 3 * h, sum,
                        true);
            }
            for (int64_t r = 0; r < rows; r++) EACH_VECTOR((b0 + r) * h + at, w)
                {
                    V dh = *(const V *)(sum + r * UNITS + l) + load(p->carry + i, n);
                    if (p->dh)
                        store(p->dh + i, n, dh);
                    else
                        gru_grad_row(p, b0 + r, at + l, n, dh + load(p->dy + i, n));
                }
        }
    }
}

const MsRnnFns PASTE(ms__rnn_, MS_ISA) = {lstm, lstm_grad, gru, gru_grad};
