/* rnn.c - recurrent layers over whole sequences: the weights are packed once, then every step is one parallel loop
 * over blocks of hidden units (isa/rnn.c), and the plain loop in float64. */
#include "cpu/rnn.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

enum {
    DY,
    DC,
    DGATES,
    GATES,
    CS,
    C,
    W
};

typedef struct Sizes {
    int64_t time, batch, n;
} Sizes;

static Sizes sizes_of(const MsTensor *gates)
{
    return (Sizes){gates->shape[0], gates->shape[1], gates->shape[2] / 4};
}

static int64_t blocks(int64_t n)
{
    return (n + MS_RNN_UNITS - 1) / MS_RNN_UNITS;
}

/* w [4 n, n] by its rows: panel (u, q) has the rows q n + 16 u ... as columns. */
static void pack_forward(const float *w, int64_t n, float *to)
{
    for (int64_t u = 0; u < blocks(n); u++)
        for (int64_t q = 0; q < 4; q++, to += n * MS_RNN_UNITS)
            for (int64_t l = 0; l < MS_RNN_UNITS; l++) {
                int64_t unit = u * MS_RNN_UNITS + l;
                for (int64_t k = 0; k < n; k++)
                    to[k * MS_RNN_UNITS + l] = unit < n ? w[(q * n + unit) * n + k] : 0;
            }
}

/* w [4 n, n] by its columns. */
static void pack_backward(const float *w, int64_t n, float *to)
{
    for (int64_t u = 0; u < blocks(n); u++)
        for (int64_t k = 0; k < 4 * n; k++)
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
    pack_forward((const float *)(const void *)in[3]->data, s->n, packed);
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
    pack_backward((const float *)(const void *)in[W]->data, s->n, packed);
    MsLstm p = {.batch = s->batch, .n = s->n, .packed = packed, .carry = (float *)(void *)out[2]->data};
    const MsRnnFns *fns = MS_ISA_PICK(&ms__rnn_);
    ms__zero(out[2]);
    for (int64_t t = s->time - 1; t >= -1; t--) {
        p.da_after = t + 1 < s->time ? step(out[0], t + 1) : NULL;
        if (t < 0) {
            p.dh = (float *)(void *)out[1]->data;
        } else {
            p.dy = step(in[DY], t);
            p.dc = in[DC] ? step(in[DC], t) : NULL;
            p.dgates = in[DGATES] ? step(in[DGATES], t) : NULL;
            p.gates_in = step(in[GATES], t);
            p.c_in = step(in[CS], t);
            p.c_before = t ? step(in[CS], t - 1) : (const float *)(const void *)in[C]->data;
            p.da = (float *)step(out[0], t);
        }
        ms__parallel_for(blocks(s->n), grain(s), fns->lstm_grad, &p);
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
    const double *w = at(in[W]), *gates = at(in[GATES]);
    double *da = at(out[0]), *dh = at(out[1]), *carry = at(out[2]);
    memset(dh, 0, (size_t)each * sizeof *dh);
    memset(carry, 0, (size_t)each * sizeof *carry);
    for (int64_t t = s->time - 1; t >= 0; t--)
        for (int64_t b = 0; b < s->batch; b++) {
            int64_t r = t * s->batch + b;
            for (int64_t u = 0; u < n; u++) {
                double g[4], d[4], d_h = at(in[DY])[r * n + u] + dh[b * n + u],
                                   tc = tanh(at(in[CS])[r * n + u]);
                for (int q = 0; q < 4; q++) g[q] = gates[(r * 4 + q) * n + u];
                double dc = carry[b * n + u] + d_h * g[3] * (1 - tc * tc);
                if (in[DC]) dc += at(in[DC])[r * n + u];
                double before = t ? at(in[CS])[r * n - each + u] : at(in[C])[b * n + u];
                d[0] = dc * g[2], d[1] = dc * before, d[2] = dc * g[0], d[3] = d_h * tc;
                for (int q = 0; q < 4; q++) {
                    if (in[DGATES]) d[q] += at(in[DGATES])[(r * 4 + q) * n + u];
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

/* ---- calls ---- */

typedef MsStatus (*Walk)(const Sizes *s, MsTensor *const *in, MsTensor *const *out);

static MsStatus run(MsCall *c, MsDtype dtype, int gates, Walk walk)
{
    MsTensor *out[3], *to[3], *in[7] = {NULL};
    for (int j = 0; j < 3; j++)
        if (!(out[j] = ms__out(c, j))) return ms_error()->code;
    int mark = ms_scope_begin();
    bool good = true;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i]) good &= (in[i] = ms__dense_as(c->in[i], dtype)) != NULL;
    for (int j = 0; j < 3; j++) good &= (to[j] = ms__dense_out(out[j], dtype)) != NULL;
    MsStatus st = good ? MS_OK : ms_error()->code;
    if (good) {
        Sizes s = sizes_of(in[gates]);
        st = walk(&s, in, to);
    }
    for (int j = 0; j < 3 && st == MS_OK; j++) st = ms__dense_done(out[j], to[j]);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_lstm(MsCall *c)
{
    return run(c, MS_FLOAT32, 0, forward);
}
static MsStatus run_lstm_grad(MsCall *c)
{
    return run(c, MS_FLOAT32, GATES, backward);
}
static MsStatus run_lstm_plain(MsCall *c)
{
    return run(c, MS_FLOAT64, 0, plain_forward);
}
static MsStatus run_lstm_grad_plain(MsCall *c)
{
    return run(c, MS_FLOAT64, GATES, plain_backward);
}

static const char *ok(const MsCall *c)
{
    return c->aval[0].dtype == MS_FLOAT64 ? "float64" : NULL;
}

MS_KERNEL(lstm, 0, loop, NULL, run_lstm_plain);
MS_KERNEL(lstm_grad, 0, loop, NULL, run_lstm_grad_plain);
MS_KERNEL(lstm, 50, steps, ok, run_lstm);
MS_KERNEL(lstm_grad, 50, steps, ok, run_lstm_grad);
