/* loss.c - fused softmax cross-entropy: one pass for the maximum, one for the sum of exponentials, and the
 * logarithm of that sum is used directly, so that logits of any size give exact losses. float32 and the half types
 * go through isa/loss.c, with rows of any pitch; the plain loop computes in float64 throughout. */
#include "cpu/loss.h"

#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "cpu/loops.h"
#include "op/op.h"

#include <math.h>

typedef struct Rows {
    const void *x, *dloss;
    const int64_t *label;
    void *out;
    int64_t classes, ignore;
} Rows;

#define ROWS(T, EXP)                                                                                         \
    static double scan_##T(const T *x, int64_t n, T *max)                                                    \
    {                                                                                                        \
        T m = x[0];                                                                                          \
        for (int64_t k = 1; k < n; k++) m = x[k] > m ? x[k] : m;                                             \
        double sum = 0;                                                                                      \
        for (int64_t k = 0; k < n; k++) sum += EXP(x[k] - m);                                                \
        *max = m;                                                                                            \
        return sum;                                                                                          \
    }                                                                                                        \
    static void loss_##T(void *ctx, int64_t begin, int64_t end)                                              \
    {                                                                                                        \
        const Rows *r = ctx;                                                                                 \
        for (int64_t i = begin; i < end; i++) {                                                              \
            T *out = (T *)r->out + i, max;                                                                   \
            const T *x = (const T *)r->x + i * r->classes;                                                   \
            if (r->label[i] == r->ignore) {                                                                  \
                *out = 0;                                                                                    \
                continue;                                                                                    \
            }                                                                                                \
            double sum = scan_##T(x, r->classes, &max);                                                      \
            *out = (T)(log(sum) + ((double)max - (double)x[r->label[i]]));                                   \
        }                                                                                                    \
    }                                                                                                        \
    static void grad_##T(void *ctx, int64_t begin, int64_t end)                                              \
    {                                                                                                        \
        const Rows *r = ctx;                                                                                 \
        for (int64_t i = begin; i < end; i++) {                                                              \
            T *out = (T *)r->out + i * r->classes, g = ((const T *)r->dloss)[i], max;                        \
            const T *x = (const T *)r->x + i * r->classes;                                                   \
            if (r->label[i] == r->ignore) {                                                                  \
                for (int64_t k = 0; k < r->classes; k++) out[k] = 0;                                         \
                continue;                                                                                    \
            }                                                                                                \
            T scale = (T)(1 / scan_##T(x, r->classes, &max));                                                \
            T at = EXP(x[r->label[i]] - max) * scale;                                                        \
            for (int64_t k = 0; k < r->classes; k++) out[k] = g * (EXP(x[k] - max) * scale);                 \
            out[r->label[i]] = g * (at - 1);                                                                 \
        }                                                                                                    \
    }
ROWS(double, exp)

static MsStatus check_range(const MsCall *c, const int64_t *label, int64_t n, int64_t classes)
{
    for (int64_t i = 0; i < n; i++)
        if (label[i] != c->attr[0].i && (label[i] < 0 || label[i] >= classes))
            return MS_FAIL(
                MS_ERROR_RUNTIME,
                "For '%s', the labels must be in the range [0, %lld), but got %lld at position %lld.",
                c->op->name, (long long)classes, (long long)label[i], (long long)i);
    return MS_OK;
}

static MsStatus run(MsCall *c, MsTensor *logits, MsTensor *labels, MsTensor *dloss)
{
    MsTensor *out = ms__out(c, 0);
    if (!out) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *x = ms__dense_as(logits, MS_FLOAT64), *l = ms__dense_as(labels, MS_INT64),
             *to = ms__dense_out(out, MS_FLOAT64);
    MsTensor *g = dloss ? ms__dense_as(dloss, MS_FLOAT64) : NULL;
    MsStatus st = x && l && to && (g || !dloss) ? MS_OK : ms_error()->code;
    if (st == MS_OK) {
        Rows r = {x->data,  g ? g->data : NULL,    (const int64_t *)l->data,
                  to->data, x->shape[x->ndim - 1], c->attr[0].i};
        st = check_range(c, r.label, l->numel, r.classes);
        if (st == MS_OK && to->numel)
            ms__parallel_pieces(l->numel, 1 + 4096 / (r.classes + 1), dloss ? grad_double : loss_double, &r);
    }
    if (st == MS_OK) st = ms__dense_done(out, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_loss(MsCall *c)
{
    return run(c, c->in[0], c->in[1], NULL);
}
static MsStatus run_grad(MsCall *c)
{
    return run(c, c->in[1], c->in[2], c->in[0]);
}

MS_KERNEL(softmax_cross_entropy, 0, loop, NULL, run_loss);
MS_KERNEL(softmax_cross_entropy_grad, 0, loop, NULL, run_grad);

/* ---- float32 and half types ---- */

/* Rows that follow each other evenly, elements next to each other: their distance in *pitch. */
static bool even_rows(const MsTensor *t, int64_t *pitch)
{
    int64_t count;
    return t->strides[t->ndim - 1] == 1 && ms__collapse(t, 0, t->ndim - 1, &count, pitch) && *pitch >= 0;
}

static MsStatus run_rows(MsCall *c, MsTensor *logits, MsTensor *labels, MsTensor *dloss)
{
    MsTensor *out = ms__out(c, 0);
    if (!out) return ms_error()->code;
    int half = out->dtype == MS_FLOAT16 ? 1 : out->dtype == MS_BFLOAT16 ? 2 : 0;
    MsDtype dtype = (MsDtype)logits->dtype;
    MsLoss p = {.classes = logits->shape[logits->ndim - 1], .ignore = c->attr[0].i, .size = half ? 2 : 4};
    if (half) p.from_half = ms__loops()->from_half[half - 1], p.to_half = ms__loops()->to_half[half - 1];
    int mark = ms_scope_begin();
    MsTensor *x = even_rows(logits, &p.pitch) ? logits : ms__dense_as(logits, dtype), *g = NULL, *to;
    if (x && x != logits) p.pitch = p.classes;
    MsTensor *l = ms__dense_as(labels, MS_INT64);
    if (dloss) {
        g = ms__dense_as(dloss, MS_FLOAT32);
        to = even_rows(out, &p.out_pitch) ? out : ms__dense_out(out, dtype);
        if (to && to != out) p.out_pitch = p.classes;
    } else {
        to = ms__dense_out(out, MS_FLOAT32);
    }
    MsStatus st = x && l && to && (g || !dloss) ? MS_OK : ms_error()->code;
    if (st == MS_OK) {
        p.x = x->data, p.out = to->data, p.label = (const int64_t *)l->data;
        if (g) p.dloss = (const float *)g->data;
        st = check_range(c, p.label, l->numel, p.classes);
        const MsLossFns *fns = MS_ISA_PICK(&ms__loss_);
        if (st == MS_OK && to->numel)
            ms__parallel_pieces(l->numel, 1 + 4096 / (p.classes + 1), dloss ? fns->grad : fns->loss, &p);
    }
    if (st == MS_OK) st = ms__dense_done(out, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_loss_rows(MsCall *c)
{
    return run_rows(c, c->in[0], c->in[1], NULL);
}
static MsStatus run_grad_rows(MsCall *c)
{
    return run_rows(c, c->in[1], c->in[2], c->in[0]);
}

static const char *ok(const MsCall *c)
{
    if (c->aval[0].dtype == MS_FLOAT64) return "float64";
    const MsTensor *x = c->in[c->n_in - 2];
    return x->shape[x->ndim - 1] == 0 ? "no classes" : NULL;
}

MS_KERNEL(softmax_cross_entropy, 50, rows, ok, run_loss_rows);
MS_KERNEL(softmax_cross_entropy_grad, 50, rows, ok, run_grad_rows);
