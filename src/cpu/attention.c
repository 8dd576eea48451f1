/* attention.c - attention on float32 and the half types by blocks of queries (isa/attention.c), and the plain loop for
 * every float dtype. Results lie in memory as q, k and v do: heads that were cut out of one projection give a result
 * whose heads can be joined again without a copy. */
#include "cpu/attention.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "cpu/loops.h"
#include "op/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCORES 65536 /* scores of a block; it and a second one stay in the second-level cache */

enum {
    SCALE,
    CAUSAL,
    FILL
};

/* Dense strides for `shape` whose axes lie in memory in the order of t's. */
static void strides_like(const MsTensor *t, const int64_t *shape, int64_t *strides)
{
    int order[MS_MAX_DIM], nd = t->ndim;
    for (int d = 0; d < nd; d++) {
        int k = d;
        for (; k > 0 && llabs(t->strides[order[k - 1]]) < llabs(t->strides[d]); k--) order[k] = order[k - 1];
        order[k] = d;
    }
    int64_t step = 1;
    for (int k = nd - 1; k >= 0; k--) {
        strides[order[k]] = step;
        step *= shape[order[k]];
    }
}

static MsTensor *out_like(MsCall *c, int j, const MsTensor *t)
{
    int64_t strides[MS_MAX_DIM];
    strides_like(t, c->aval[j].shape, strides);
    return ms__out_strided(c, j, strides);
}

static MsHeads heads_of(MsTensor *t, int n_batch, const int64_t *shape)
{
    MsHeads h = {.data = t->data, .row = t->strides[t->ndim - 2], .col = t->strides[t->ndim - 1]};
    for (int d = 0; d < n_batch; d++) h.batch[d] = t->shape[d] == shape[d] ? t->strides[d] : 0;
    return h;
}

/* x, broadcast to the scores, with its last two axes turned around and rows rounded up, as the loops read it. Axes
 * that are broadcast are not repeated. */
static bool turned(MsAttention *a, MsTensor *x, MsDtype dtype, MsHeads *out)
{
    int nd = a->n_batch + 2, lead = nd - x->ndim;
    int64_t shape[MS_MAX_DIM], padded[MS_MAX_DIM], from[MS_MAX_DIM], to[MS_MAX_DIM];
    for (int d = 0; d < nd; d++) {
        int e = d < nd - 2 ? d - lead : 2 * nd - 3 - d - lead;
        shape[d] = padded[d] = e < 0 ? 1 : x->shape[e];
        from[d] = e < 0 ? 0 : x->strides[e];
    }
    bool one = shape[nd - 1] == 1 && a->n != 1;
    if (!one)
        padded[nd - 1] = (padded[nd - 1] + MS_ATTENTION_LANES - 1) / MS_ATTENTION_LANES * MS_ATTENTION_LANES;
    MsTensor *t = ms_tensor_empty(dtype, nd, padded);
    MsTensor *src = t ? ms__tensor_view(x, nd, shape, from, 0) : NULL;
    if (!src) return false;
    memcpy(to, t->strides, sizeof to);
    MsTensor *dst = ms__tensor_view(t, nd, shape, to, 0);
    if (!dst || ms__copy(dst, src) != MS_OK) return false;
    *out = (MsHeads){
        .data = t->data, .row = shape[nd - 2] == 1 && a->m != 1 ? 0 : to[nd - 2], .col = one ? 0 : 1};
    for (int d = 0; d < a->n_batch; d++) out->batch[d] = shape[d] == 1 ? 0 : to[d];
    return true;
}

/* Everything but the results; in: q, k, v, mask, keep. */
static bool set_up(MsAttention *a, const MsAttr *attr, MsTensor *const *in)
{
    const MsTensor *q = in[0], *k = in[1], *v = in[2];
    int nd = q->ndim;
    *a = (MsAttention){
        .n = q->shape[nd - 2], .m = k->shape[nd - 2], .d = q->shape[nd - 1], .e = v->shape[nd - 1]};
    a->n_batch = nd - 2;
    a->heads = 1;
    for (int d = 0; d < nd - 2; d++) a->heads *= a->shape[d] = q->shape[d];
    a->half = q->dtype == MS_FLOAT16 ? 1 : q->dtype == MS_BFLOAT16 ? 2 : 0;
    if (a->half)
        a->from_half = ms__loops()->from_half[a->half - 1], a->to_half = ms__loops()->to_half[a->half - 1];
    a->scale = (float)attr[SCALE].f;
    a->causal = attr[CAUSAL].i;
    a->fill = (float)attr[FILL].f;
    int64_t rows = SCORES / (a->m + 1) / MS_ATTENTION_LANES * MS_ATTENTION_LANES;
    a->block = rows < MS_ATTENTION_LANES ? MS_ATTENTION_LANES : rows > 64 ? 64 : rows;
    a->q = heads_of(in[0], nd - 2, a->shape);
    a->k = heads_of(in[1], nd - 2, a->shape);
    a->v = heads_of(in[2], nd - 2, a->shape);
    a->mask_is_bool = in[3] && in[3]->dtype == MS_BOOL;
    if (in[3] && !turned(a, in[3], a->mask_is_bool ? MS_BOOL : MS_FLOAT32, &a->mask)) return false;
    return !in[4] || turned(a, in[4], MS_FLOAT32, &a->keep);
}

static MsStatus done(const MsAttention *a)
{
    return a->no_memory ? MS_FAIL(MS_ERROR_MEMORY, "For 'attention', out of memory for a block of scores.")
                        : MS_OK;
}

static MsStatus run_forward(MsCall *c)
{
    MsTensor *y = out_like(c, 0, c->in[0]);
    if (!y) return ms_error()->code;
    int mark = ms_scope_begin();
    MsAttention a;
    MsStatus st = set_up(&a, c->attr, c->in) ? MS_OK : ms_error()->code;
    if (st == MS_OK) {
        a.o = heads_of(y, a.n_batch, a.shape);
        ms__parallel_for(a.heads * ((a.n + a.block - 1) / a.block), 1,
                         (MS_ISA_PICK(&ms__attention_))->forward, &a);
        st = done(&a);
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_backward(MsCall *c)
{
    MsTensor *out[3];
    for (int j = 0; j < 3; j++)
        if (!(out[j] = out_like(c, j, c->in[1 + j]))) return ms_error()->code;
    int mark = ms_scope_begin();
    MsAttention a;
    MsStatus st = set_up(&a, c->attr, c->in + 1) ? MS_OK : ms_error()->code;
    if (st == MS_OK) {
        a.dy = heads_of(c->in[0], a.n_batch, a.shape);
        a.dq = heads_of(out[0], a.n_batch, a.shape);
        a.dk = heads_of(out[1], a.n_batch, a.shape);
        a.dv = heads_of(out[2], a.n_batch, a.shape);
        ms__parallel_for(a.heads, 1, (MS_ISA_PICK(&ms__attention_))->backward, &a);
        st = done(&a);
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

static const char *ok(const MsCall *c)
{
    for (int j = 0; j < c->n_out; j++) {
        if (c->aval[j].dtype == MS_FLOAT64) return "float64";
        for (int d = 0; d < c->aval[j].ndim; d++)
            if (c->aval[j].shape[d] == 0) return "empty";
    }
    int grad = c->n_out == 3;
    const MsTensor *q = c->in[grad], *k = c->in[grad + 1];
    if (q->numel == 0 || k->numel == 0) return "empty";
    return q->shape[q->ndim - 2] < INT32_MAX && k->shape[k->ndim - 2] < INT32_MAX ? NULL
                                                                                  : "more than 2^31 rows";
}

MS_KERNEL(attention, 50, blocks, ok, run_forward);
MS_KERNEL(attention_grad, 50, blocks, ok, run_backward);

/* ---- every dtype, in float64, a query at a time ---- */

typedef struct Plain {
    MsTensor *q, *k, *v, *dy, *mask, *keep; /* dense, float64 (mask: bool or float64, broadcast strides) */
    MsTensor *o, *dq, *dk, *dv;
    int64_t n, m, d, e, heads;
    double scale, fill;
    bool causal;
    double *p, *g; /* of one query */
} Plain;

/* The element of a tensor that broadcasts to the scores. */
static int64_t element(const MsTensor *t, const MsTensor *q, int64_t head, int64_t i, int64_t j)
{
    int lead = q->ndim - t->ndim;
    int64_t at = 0;
    for (int d = q->ndim - 1; d >= 0; d--) {
        int64_t x = d == q->ndim - 1 ? j : d == q->ndim - 2 ? i : head % q->shape[d];
        if (d < q->ndim - 2) head /= q->shape[d];
        if (d >= lead && t->shape[d - lead] != 1) at += x * t->strides[d - lead];
    }
    return at;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

static double keep_of(const Plain *x, int64_t h, int64_t i, int64_t j)
{
    return x->keep ? ((const double *)(const void *)x->keep->data)[element(x->keep, x->q, h, i, j)] : 1;
}

static bool replaced(const Plain *x, int64_t h, int64_t i, int64_t j)
{
    if (x->causal && j > i) return true;
    return x->mask && x->mask->dtype == MS_BOOL && !x->mask->data[element(x->mask, x->q, h, i, j)];
}

#define AT(t) ((double *)(void *)x->t->data)

/* Probabilities of query i of head h. */
static void plain_row(const Plain *x, int64_t h, int64_t i)
{
    double max = -(double)INFINITY, sum = 0;
    for (int64_t j = 0; j < x->m; j++) {
        double s = x->scale * dot(x->d, AT(q) + (h * x->n + i) * x->d, AT(k) + (h * x->m + j) * x->d);
        if (x->mask && x->mask->dtype == MS_BOOL)
            s = x->mask->data[element(x->mask, x->q, h, i, j)] ? s : x->fill;
        else if (x->mask)
            s += AT(mask)[element(x->mask, x->q, h, i, j)];
        if (x->causal && j > i) s = -(double)INFINITY;
        x->p[j] = s;
        if (s > max) max = s;
    }
    for (int64_t j = 0; j < x->m; j++) sum += x->p[j] = exp(x->p[j] - max);
    for (int64_t j = 0; j < x->m; j++) x->p[j] /= sum;
}

static void plain_forward(const Plain *x, int64_t h, int64_t i)
{
    double *o = AT(o) + (h * x->n + i) * x->e;
    plain_row(x, h, i);
    for (int64_t c = 0; c < x->e; c++) o[c] = 0;
    for (int64_t j = 0; j < x->m; j++) {
        double p = x->p[j] * keep_of(x, h, i, j);
        for (int64_t c = 0; c < x->e; c++) o[c] += p * AT(v)[(h * x->m + j) * x->e + c];
    }
}

static void plain_backward(const Plain *x, int64_t h, int64_t i)
{
    const double *dy = AT(dy) + (h * x->n + i) * x->e, *q = AT(q) + (h * x->n + i) * x->d;
    double *dq = AT(dq) + (h * x->n + i) * x->d, sum = 0;
    plain_row(x, h, i);
    for (int64_t j = 0; j < x->m; j++) {
        x->g[j] = dot(x->e, dy, AT(v) + (h * x->m + j) * x->e) * keep_of(x, h, i, j);
        sum += x->p[j] * x->g[j];
    }
    for (int64_t c = 0; c < x->d; c++) dq[c] = 0;
    for (int64_t j = 0; j < x->m; j++) {
        double p = x->p[j] * keep_of(x, h, i, j), s = x->p[j] * (x->g[j] - sum) * x->scale;
        if (replaced(x, h, i, j)) s = 0;
        double *dk = AT(dk) + (h * x->m + j) * x->d, *dv = AT(dv) + (h * x->m + j) * x->e;
        for (int64_t c = 0; c < x->e; c++) dv[c] += p * dy[c];
        for (int64_t c = 0; c < x->d; c++) {
            dk[c] += s * q[c];
            dq[c] += s * AT(k)[(h * x->m + j) * x->d + c];
        }
    }
}

static MsStatus plain(Plain *x, bool grad)
{
    x->p = ms__alloc((size_t)(2 * x->m + 2) * sizeof *x->p);
    if (!x->p) return MS_ERROR_MEMORY;
    x->g = x->p + x->m + 1;
    if (grad) {
        ms__zero(x->dk);
        ms__zero(x->dv);
    }
    for (int64_t h = 0; h < x->heads; h++)
        for (int64_t i = 0; i < x->n; i++) (grad ? plain_backward : plain_forward)(x, h, i);
    ms__free(x->p, (size_t)(2 * x->m + 2) * sizeof *x->p);
    return MS_OK;
}

static MsStatus run_plain(MsCall *c)
{
    bool grad = c->n_out == 3;
    MsTensor *out[3], *to[3] = {NULL};
    for (int j = 0; j < c->n_out; j++)
        if (!(out[j] = ms__out(c, j))) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *const *in = c->in + grad, *t[5] = {NULL}, *dy = NULL;
    bool good = !grad || (dy = ms__dense_as(c->in[0], MS_FLOAT64));
    for (int k = 0; k < 5; k++) {
        if (!in[k]) continue;
        t[k] = in[k]->dtype == MS_BOOL ? in[k] : ms__dense_as(in[k], MS_FLOAT64);
        good &= t[k] != NULL;
    }
    for (int j = 0; j < c->n_out; j++) good &= (to[j] = ms__dense_out(out[j], MS_FLOAT64)) != NULL;
    MsStatus st = good ? MS_OK : ms_error()->code;
    if (good) {
        int nd = in[0]->ndim;
        Plain x = {t[0],
                   t[1],
                   t[2],
                   dy,
                   t[3],
                   t[4],
                   .n = in[0]->shape[nd - 2],
                   .m = in[1]->shape[nd - 2],
                   .d = in[0]->shape[nd - 1],
                   .e = in[2]->shape[nd - 1],
                   .heads = 1,
                   .scale = c->attr[SCALE].f,
                   .causal = c->attr[CAUSAL].i,
                   .fill = c->attr[FILL].f};
        for (int d = 0; d < nd - 2; d++) x.heads *= in[0]->shape[d];
        if (grad)
            x.dq = to[0], x.dk = to[1], x.dv = to[2];
        else
            x.o = to[0];
        st = plain(&x, grad);
    }
    for (int j = 0; j < c->n_out && st == MS_OK; j++) st = ms__dense_done(out[j], to[j]);
    ms_scope_end(mark, NULL, 0);
    return st;
}

MS_KERNEL(attention, 0, loop, NULL, run_plain);
MS_KERNEL(attention_grad, 0, loop, NULL, run_plain);
