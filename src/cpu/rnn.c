/* rnn.c - recurrent layers over whole sequences: the weights are packed once, then every step is one parallel loop
 * over blocks of hidden units (isa/rnn.c), and the plain loop in float64. */
#include "cpu/rnn.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/op.h"
#include "op/rnn.h"

#include <math.h>
#include <string.h>

typedef struct Sizes {
    int64_t time, batch, n;
} Sizes;

static Sizes sizes_of(const MsTensor *gates, int k)
{
    return (Sizes){gates->shape[0], gates->shape[1], gates->shape[2] / k};
}

static int64_t blocks(int64_t n)
{
    return (n + MS_RNN_UNITS - 1) / MS_RNN_UNITS;
}

/* w [k n, n] by its rows: panel (u, q) has the rows q n + 16 u ... as columns. */
static void pack_forward(const float *w, int k_gates, int64_t n, float *to)
{
    for (int64_t u = 0; u < blocks(n); u++)
        for (int64_t q = 0; q < k_gates; q++, to += n * MS_RNN_UNITS)
            for (int64_t l = 0; l < MS_RNN_UNITS; l++) {
                int64_t unit = u * MS_RNN_UNITS + l;
                for (int64_t k = 0; k < n; k++)
                    to[k * MS_RNN_UNITS + l] = unit < n ? w[(q * n + unit) * n + k] : 0;
            }
}

/* w [k n, n] by its columns. */
static void pack_backward(const float *w, int k_gates, int64_t n, float *to)
{
    for (int64_t u = 0; u < blocks(n); u++)
        for (int64_t k = 0; k < k_gates * n; k++)
            for (int64_t l = 0; l < MS_RNN_UNITS; l++, to++) {
                int64_t unit = u * MS_RNN_UNITS + l;
                *to = unit < n ? w[k * n + unit] : 0;
            }
}

static size_t packed_bytes(int64_t n)
{
    return (size_t)(blocks(n) * MS_RNN_UNITS * 4 * n) * sizeof(float);
}

static int64_t grain(const Sizes *s)
{
    return 1 + 32768 / (s->batch * s->n * 4 * MS_RNN_UNITS + 1);
}

static const float *step(const MsTensor *t, int64_t i)
{
    int64_t each = t->shape[1] * t->shape[2];
    return (const float *)(const void *)t->data + i * each;
}

static MsStatus forward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    size_t bytes = packed_bytes(s->n);
    float *packed = ms__alloc(bytes);
    if (!packed) return MS_ERROR_MEMORY;
    pack_forward((const float *)(const void *)in[3]->data, 4, s->n, packed);
    MsLstm p = {.batch = s->batch, .n = s->n, .packed = packed};
    const MsRnnFns *fns = MS_ISA_PICK(&ms__rnn_);
    for (int64_t t = 0; t < s->time; t++) {
        p.a = step(in[0], t);
        p.h = t ? step(out[0], t - 1) : (const float *)(const void *)in[1]->data;
        p.c_before = t ? step(out[1], t - 1) : (const float *)(const void *)in[2]->data;
        p.y = (float *)step(out[0], t), p.c = (float *)step(out[1], t), p.gates = (float *)step(out[2], t);
        ms__parallel_for(blocks(s->n), grain(s), fns->lstm, &p);
    }
    ms__free(packed, bytes);
    return MS_OK;
}

static MsStatus backward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    size_t bytes = packed_bytes(s->n);
    float *packed = ms__alloc(bytes);
    if (!packed) return MS_ERROR_MEMORY;
    pack_backward((const float *)(const void *)in[LSTM_W]->data, 4, s->n, packed);
    MsLstm p = {.batch = s->batch, .n = s->n, .packed = packed, .carry = (float *)(void *)out[2]->data};
    const MsRnnFns *fns = MS_ISA_PICK(&ms__rnn_);
    ms__zero(out[2]);
    for (int64_t t = s->time - 1; t >= -1; t--) {
        p.da_after = t + 1 < s->time ? step(out[0], t + 1) : NULL;
        if (t < 0) {
            p.dh = (float *)(void *)out[1]->data;
        } else {
            p.dy = step(in[LSTM_DY], t);
            p.dc = in[LSTM_DC] ? step(in[LSTM_DC], t) : NULL;
            p.dgates = in[LSTM_DGATES] ? step(in[LSTM_DGATES], t) : NULL;
            p.gates_in = step(in[LSTM_GATES], t);
            p.c_in = step(in[LSTM_CS], t);
            p.c_before = t ? step(in[LSTM_CS], t - 1) : (const float *)(const void *)in[LSTM_C]->data;
            p.da = (float *)step(out[0], t);
        }
        ms__parallel_for(blocks(s->n), grain(s), fns->lstm_grad, &p);
    }
    ms__free(packed, bytes);
    return MS_OK;
}

static const float *floats(const MsTensor *t)
{
    return t ? (const float *)(const void *)t->data : NULL;
}

static MsStatus gru_forward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    size_t bytes = packed_bytes(s->n);
    float *packed = ms__alloc(bytes);
    if (!packed) return MS_ERROR_MEMORY;
    pack_forward(floats(in[2]), 3, s->n, packed);
    MsGru p = {.batch = s->batch, .n = s->n, .packed = packed, .b = floats(in[3])};
    const MsRnnFns *fns = MS_ISA_PICK(&ms__rnn_);
    for (int64_t t = 0; t < s->time; t++) {
        p.a = step(in[0], t);
        p.h = t ? step(out[0], t - 1) : floats(in[1]);
        p.y = (float *)step(out[0], t), p.gates = (float *)step(out[1], t);
        ms__parallel_for(blocks(s->n), grain(s), fns->gru, &p);
    }
    ms__free(packed, bytes);
    return MS_OK;
}

static MsStatus gru_backward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    size_t bytes = packed_bytes(s->n);
    float *packed = ms__alloc(bytes);
    if (!packed) return MS_ERROR_MEMORY;
    pack_backward(floats(in[GRU_W]), 3, s->n, packed);
    MsGru p = {.batch = s->batch, .n = s->n, .packed = packed, .carry = (float *)(void *)out[1]->data};
    const MsRnnFns *fns = MS_ISA_PICK(&ms__rnn_);
    ms__zero(out[1]);
    for (int64_t t = s->time - 1; t >= -1; t--) {
        p.d_after = t + 1 < s->time ? step(out[0], t + 1) : NULL;
        if (t < 0) {
            p.dh = p.carry;
        } else {
            p.dy = step(in[GRU_DY], t);
            p.dgates = in[GRU_DGATES] ? step(in[GRU_DGATES], t) : NULL;
            p.gates_in = step(in[GRU_GATES], t);
            p.h = t ? step(in[GRU_Y], t - 1) : floats(in[GRU_H]);
            p.d = (float *)step(out[0], t);
        }
        ms__parallel_for(blocks(s->n), grain(s), fns->gru_grad, &p);
    }
    ms__free(packed, bytes);
    return MS_OK;
}

/* ---- in float64 ---- */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double *at(MsTensor *t)
{
    return t ? (double *)(void *)t->data : NULL;
}

static MsStatus plain_forward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    int64_t n = s->n, each = s->batch * n;
    const double *w = at(in[3]);
    for (int64_t r = 0; r < s->time * s->batch; r++) {
        const double *h = r < s->batch ? at(in[1]) + r * n : at(out[0]) + r * n - each;
        const double *c = r < s->batch ? at(in[2]) + r * n : at(out[1]) + r * n - each;
        for (int64_t u = 0; u < n; u++) {
            double g[4];
            for (int q = 0; q < 4; q++) {
                double x = at(in[0])[(r * 4 + q) * n + u];
                for (int64_t k = 0; k < n; k++) x += h[k] * w[(q * n + u) * n + k];
                g[q] = at(out[2])[(r * 4 + q) * n + u] = q == 2 ? tanh(x) : sigmoid(x);
            }
            double v = at(out[1])[r * n + u] = g[1] * c[u] + g[0] * g[2];
            at(out[0])[r * n + u] = g[3] * tanh(v);
        }
    }
    return MS_OK;
}

static MsStatus plain_backward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    int64_t n = s->n, each = s->batch * n;
    const double *w = at(in[LSTM_W]), *gates = at(in[LSTM_GATES]);
    double *da = at(out[0]), *dh = at(out[1]), *carry = at(out[2]);
    memset(dh, 0, (size_t)each * sizeof *dh);
    memset(carry, 0, (size_t)each * sizeof *carry);
    for (int64_t t = s->time - 1; t >= 0; t--)
        for (int64_t b = 0; b < s->batch; b++) {
            int64_t r = t * s->batch + b;
            for (int64_t u = 0; u < n; u++) {
                double g[4], d[4], d_h = at(in[LSTM_DY])[r * n + u] + dh[b * n + u],
                                   tc = tanh(at(in[LSTM_CS])[r * n + u]);
                for (int q = 0; q < 4; q++) g[q] = gates[(r * 4 + q) * n + u];
                double dc = carry[b * n + u] + d_h * g[3] * (1 - tc * tc);
                if (in[LSTM_DC]) dc += at(in[LSTM_DC])[r * n + u];
                double before = t ? at(in[LSTM_CS])[r * n - each + u] : at(in[LSTM_C])[b * n + u];
                d[0] = dc * g[2], d[1] = dc * before, d[2] = dc * g[0], d[3] = d_h * tc;
                for (int q = 0; q < 4; q++) {
                    if (in[LSTM_DGATES]) d[q] += at(in[LSTM_DGATES])[(r * 4 + q) * n + u];
                    da[(r * 4 + q) * n + u] = d[q] * (q == 2 ? 1 - g[q] * g[q] : g[q] * (1 - g[q]));
                }
                carry[b * n + u] = dc * g[1];
            }
            for (int64_t u = 0; u < n; u++) {
                double x = 0;
                for (int64_t k = 0; k < 4 * n; k++) x += da[r * 4 * n + k] * w[k * n + u];
                dh[b * n + u] = x;
            }
        }
    return MS_OK;
}

static MsStatus gru_plain_forward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    int64_t n = s->n, each = s->batch * n;
    const double *w = at(in[2]), *b = at(in[3]);
    for (int64_t r = 0; r < s->time * s->batch; r++) {
        const double *h = r < s->batch ? at(in[1]) + r * n : at(out[0]) + r * n - each,
                     *a = at(in[0]) + r * 3 * n;
        for (int64_t u = 0; u < n; u++) {
            double sum[3] = {0, 0, b ? b[u] : 0}, *g = at(out[1]) + r * 4 * n + u;
            for (int q = 0; q < 3; q++)
                for (int64_t k = 0; k < n; k++) sum[q] += h[k] * w[(q * n + u) * n + k];
            g[0] = sigmoid(a[u] + sum[0]), g[n] = sigmoid(a[n + u] + sum[1]), g[3 * n] = sum[2];
            g[2 * n] = tanh(a[2 * n + u] + g[0] * sum[2]);
            at(out[0])[r * n + u] = g[2 * n] + g[n] * (h[u] - g[2 * n]);
        }
    }
    return MS_OK;
}

static MsStatus gru_plain_backward(const Sizes *s, MsTensor *const *in, MsTensor *const *out)
{
    int64_t n = s->n, each = s->batch * n;
    const double *w = at(in[GRU_W]);
    double *dh = at(out[1]);
    memset(dh, 0, (size_t)each * sizeof *dh);
    for (int64_t r = s->time * s->batch - 1; r >= 0; r--) {
        const double *h = r < s->batch ? at(in[GRU_H]) + r * n : at(in[GRU_Y]) + r * n - each;
        double *to = dh + r % s->batch * n, *row = at(out[0]) + r * 4 * n;
        for (int64_t u = 0; u < n; u++) {
            const double *g = at(in[GRU_GATES]) + r * 4 * n + u;
            double v = to[u] + at(in[GRU_DY])[r * n + u], e[4] = {0}, *d = row + u;
            for (int q = 0; q < 4 && in[GRU_DGATES]; q++) e[q] = at(in[GRU_DGATES])[r * 4 * n + q * n + u];
            d[2 * n] = (v * (1 - g[n]) + e[2]) * (1 - g[2 * n] * g[2 * n]);
            d[0] = (d[2 * n] * g[3 * n] + e[0]) * g[0] * (1 - g[0]);
            d[n] = (v * (h[u] - g[2 * n]) + e[1]) * g[n] * (1 - g[n]);
            d[3 * n] = d[2 * n] * g[0] + e[3];
            to[u] = v * g[n];
        }
        for (int64_t u = 0; u < n; u++)
            for (int64_t k = 0; k < 3 * n; k++) to[u] += row[k < 2 * n ? k : k + n] * w[k * n + u];
    }
    return MS_OK;
}

/* ---- calls ---- */

typedef MsStatus (*Walk)(const Sizes *s, MsTensor *const *in, MsTensor *const *out);

/* `gates`: the input that has the sizes, k gates wide. */
static MsStatus run(MsCall *c, MsDtype dtype, int gates, int k, Walk walk)
{
    MsTensor *out[3], *to[3], *in[7] = {NULL};
    for (int j = 0; j < c->n_out; j++)
        if (!(out[j] = ms__out(c, j))) return ms_error()->code;
    int mark = ms_scope_begin();
    bool good = true;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i]) good &= (in[i] = ms__dense_as(c->in[i], dtype)) != NULL;
    for (int j = 0; j < c->n_out; j++) good &= (to[j] = ms__dense_out(out[j], dtype)) != NULL;
    MsStatus st = good ? MS_OK : ms_error()->code;
    if (good) {
        Sizes s = sizes_of(in[gates], k);
        st = walk(&s, in, to);
    }
    for (int j = 0; j < c->n_out && st == MS_OK; j++) st = ms__dense_done(out[j], to[j]);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_lstm(MsCall *c)
{
    return run(c, MS_FLOAT32, 0, 4, forward);
}
static MsStatus run_lstm_grad(MsCall *c)
{
    return run(c, MS_FLOAT32, LSTM_GATES, 4, backward);
}
static MsStatus run_lstm_plain(MsCall *c)
{
    return run(c, MS_FLOAT64, 0, 4, plain_forward);
}
static MsStatus run_lstm_grad_plain(MsCall *c)
{
    return run(c, MS_FLOAT64, LSTM_GATES, 4, plain_backward);
}

static MsStatus run_gru(MsCall *c)
{
    return run(c, MS_FLOAT32, 0, 3, gru_forward);
}
static MsStatus run_gru_grad(MsCall *c)
{
    return run(c, MS_FLOAT32, GRU_GATES, 4, gru_backward);
}
static MsStatus run_gru_plain(MsCall *c)
{
    return run(c, MS_FLOAT64, 0, 3, gru_plain_forward);
}
static MsStatus run_gru_grad_plain(MsCall *c)
{
    return run(c, MS_FLOAT64, GRU_GATES, 4, gru_plain_backward);
}

static const char *ok(const MsCall *c)
{
    return c->aval[0].dtype == MS_FLOAT64 ? "float64" : NULL;
}

MS_KERNEL(lstm, 0, loop, NULL, run_lstm_plain);
MS_KERNEL(lstm_grad, 0, loop, NULL, run_lstm_grad_plain);
MS_KERNEL(gru, 0, loop, NULL, run_gru_plain);
MS_KERNEL(gru_grad, 0, loop, NULL, run_gru_grad_plain);
MS_KERNEL(gru, 50, steps, ok, run_gru);
MS_KERNEL(gru_grad, 50, steps, ok, run_gru_grad);
MS_KERNEL(lstm, 50, steps, ok, run_lstm);
MS_KERNEL(lstm_grad, 50, steps, ok, run_lstm_grad);
