/* ctc.c - the forward and backward walks of connectionist temporal classification, an example a time, in
 * float64: sums of many small probabilities, and the logarithms cost more than the width of the numbers. */
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

typedef struct Walk {
    int64_t steps, n, classes, s, blank;
    bool merge;
    const double *lp, *dloss;              /* [steps, n, classes], [n] */
    const int64_t *targets, *in_len, *len; /* [n, s], [n], [n] */
    double *loss, *alpha, *beta, *grad;    /* [n], [n, steps, 2 s + 1], [n, 2, 2 s + 1], like lp */
} Walk;

static double log_sum(double a, double b)
{
    double top = a > b ? a : b;
    return top == -INFINITY ? top : top + log1p(exp(-fabs(a - b)));
}

/* The label at place k of example i's extended sequence. */
static int64_t label(const Walk *w, int64_t i, int64_t k)
{
    return k % 2 ? w->targets[i * w->s + k / 2] : w->blank;
}

/* May the blank before place k be left out; may place k stay. */
static bool skips(const Walk *w, int64_t i, int64_t k)
{
    return k % 2 && k > 1 && (!w->merge || label(w, i, k) != label(w, i, k - 2));
}
static bool stays(const Walk *w, int64_t k)
{
    return w->merge || k % 2 == 0;
}

static const double *emitted(const Walk *w, int64_t i, int64_t t)
{
    return w->lp + (t * w->n + i) * w->classes;
}

static void forward(const Walk *w, int64_t i)
{
    int64_t wide = 2 * w->s + 1, places = 2 * w->len[i] + 1, steps = w->in_len[i];
    double *a = w->alpha + i * w->steps * wide;
    for (int64_t k = 0; k < w->steps * wide; k++) a[k] = -INFINITY;
    for (int64_t t = 0; t < steps; t++, a += wide) {
        const double *p = emitted(w, i, t), *before = a - wide;
        for (int64_t k = 0; k < places; k++) {
            double sum = t == 0 ? (k < 2 ? 0 : -INFINITY) : stays(w, k) ? before[k] : -INFINITY;
            if (t > 0 && k > 0) sum = log_sum(sum, before[k - 1]);
            if (t > 0 && skips(w, i, k)) sum = log_sum(sum, before[k - 2]);
            a[k] = sum == -INFINITY ? sum : sum + p[label(w, i, k)];
        }
    }
    if (steps == 0)
        w->loss[i] = places == 1 ? 0 : INFINITY;
    else
        w->loss[i] = -log_sum(a[places - 1 - wide], places > 1 ? a[places - 2 - wide] : -INFINITY);
}

/* beta: the log probability of all that follows a place, without what it emits itself. */
static void backward(const Walk *w, int64_t i)
{
    int64_t wide = 2 * w->s + 1, places = 2 * w->len[i] + 1, steps = w->in_len[i];
    double *now = w->beta + 2 * i * wide, *after = now + wide;
    if (w->dloss[i] == 0) return;
    for (int64_t t = steps - 1; t >= 0; t--) {
        const double *p = t + 1 < steps ? emitted(w, i, t + 1) : NULL,
                     *a = w->alpha + (i * w->steps + t) * wide;
        double *g = w->grad + (t * w->n + i) * w->classes;
        for (int64_t k = 0; k < places; k++) {
            double sum = -INFINITY;
            if (!p) {
                sum = k >= places - 2 ? 0 : sum;
            } else {
                if (stays(w, k)) sum = after[k] + p[label(w, i, k)];
                if (k + 1 < places) sum = log_sum(sum, after[k + 1] + p[label(w, i, k + 1)]);
                if (k + 2 < places && skips(w, i, k + 2))
                    sum = log_sum(sum, after[k + 2] + p[label(w, i, k + 2)]);
            }
            now[k] = sum;
            g[label(w, i, k)] -= w->dloss[i] * exp(a[k] + sum + w->loss[i]);
        }
        double *swap = now;
        now = after, after = swap;
    }
}

static void range(void *ctx, int64_t begin, int64_t end)
{
    const Walk *w = ctx;
    for (int64_t i = begin; i < end; i++) {
        forward(w, i);
        if (w->grad) backward(w, i);
    }
}

static MsStatus check(const Walk *w, const char *op)
{
    for (int64_t i = 0; i < w->n; i++) {
        if (w->in_len[i] < 0 || w->in_len[i] > w->steps)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the lengths of inputs must be in [0, %lld], but got %lld.", op,
                           (long long)w->steps, (long long)w->in_len[i]);
        if (w->len[i] < 0 || w->len[i] > w->s)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the lengths of targets must be in [0, %lld], but got %lld.", op,
                           (long long)w->s, (long long)w->len[i]);
        for (int64_t k = 0; k < w->len[i]; k++) {
            int64_t v = w->targets[i * w->s + k];
            if (v < 0 || v >= w->classes)
                return MS_FAIL(MS_ERROR_VALUE, "For '%s', the targets must be in [0, %lld), but got %lld.",
                               op, (long long)w->classes, (long long)v);
        }
    }
    return MS_OK;
}

/* The inputs from `at` on as dense float64 and int64, and room for the walk. */
static MsStatus prepare(Walk *w, MsCall *c, int at, MsTensor *loss, MsTensor *alpha)
{
    MsTensor *lp = ms__dense_as(c->in[at], MS_FLOAT64), *x[3];
    for (int k = 0; k < 3; k++)
        if (!(x[k] = ms__dense_as(c->in[at + 1 + k], MS_INT64))) return ms_error()->code;
    if (!lp || !loss || !alpha) return ms_error()->code;
    *w = (Walk){.steps = lp->shape[0], .n = lp->shape[1], .classes = lp->shape[2], .s = x[0]->shape[1]};
    w->blank = c->attr[0].i, w->merge = c->attr[1].i;
    w->lp = (double *)lp->data, w->loss = (double *)loss->data, w->alpha = (double *)alpha->data;
    w->targets = (int64_t *)x[0]->data, w->in_len = (int64_t *)x[1]->data, w->len = (int64_t *)x[2]->data;
    return check(w, c->op->name);
}

static MsStatus run_ctc_loss(MsCall *c)
{
    int mark = ms_scope_begin();
    MsTensor *y = ms__out(c, 0), *z = ms__out(c, 1), *loss, *alpha;
    MsStatus st = MS_ERROR_MEMORY;
    if (y && z) {
        loss = ms__dense_out(y, MS_FLOAT64), alpha = ms__dense_out(z, MS_FLOAT64);
        Walk w;
        st = prepare(&w, c, 0, loss, alpha);
        if (st == MS_OK) ms__parallel_for(w.n, 1 + 4096 / (w.steps * (2 * w.s + 1) + 1), range, &w);
        if (st == MS_OK) st = ms__dense_done(y, loss);
        if (st == MS_OK) st = ms__dense_done(z, alpha);
    }
    ms_scope_end(mark, c->out, st == MS_OK ? 2 : 0);
    return st;
}

static MsStatus run_ctc_loss_grad(MsCall *c)
{
    int mark = ms_scope_begin();
    MsTensor *y = ms__out(c, 0);
    MsStatus st = MS_ERROR_MEMORY;
    if (y) {
        int64_t steps = y->shape[0], n = y->shape[1], wide = 2 * c->in[2]->shape[1] + 1;
        MsTensor *grad = ms__dense_out(y, MS_FLOAT64), *dloss = ms__dense_as(c->in[0], MS_FLOAT64);
        MsTensor *loss = ms_tensor_empty(MS_FLOAT64, 1, (int64_t[]){n});
        MsTensor *alpha = ms_tensor_empty(MS_FLOAT64, 3, (int64_t[]){n, steps, wide});
        MsTensor *beta = ms_tensor_empty(MS_FLOAT64, 3, (int64_t[]){n, 2, wide});
        Walk w;
        st = grad && dloss && beta ? prepare(&w, c, 1, loss, alpha) : ms_error()->code;
        if (st == MS_OK) {
            ms__zero(grad);
            w.beta = (double *)beta->data, w.grad = (double *)grad->data, w.dloss = (double *)dloss->data;
            ms__parallel_for(n, 1 + 4096 / (steps * wide + 1), range, &w);
            st = ms__dense_done(y, grad);
        }
    }
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}

MS_KERNEL(ctc_loss, 0, loop, NULL, run_ctc_loss);
MS_KERNEL(ctc_loss_grad, 0, loop, NULL, run_ctc_loss_grad);
