/* loss.c - fused softmax cross-entropy: one pass for the maximum, one for the sum of exponentials, and the
 * logarithm of that sum is used directly, so that logits of any size give exact losses. Sums are taken in
 * float64. */
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
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
ROWS(float, expf)
ROWS(double, exp)

static MsStatus check_range(const MsCall *c, const Rows *r, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (r->label[i] != r->ignore && (r->label[i] < 0 || r->label[i] >= r->classes))
            return MS_FAIL(
                MS_ERROR_RUNTIME,
                "For '%s', the labels must be in the range [0, %lld), but got %lld at position %lld.",
                c->op->name, (long long)r->classes, (long long)r->label[i], (long long)i);
    return MS_OK;
}

static MsStatus run(MsCall *c, MsTensor *logits, MsTensor *labels, MsTensor *dloss)
{
    MsTensor *out = ms__out(c, 0);
    if (!out) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)out->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = ms__dense_as(logits, dtype), *l = ms__dense_as(labels, MS_INT64),
             *to = ms__dense_out(out, dtype);
    MsTensor *g = dloss ? ms__dense_as(dloss, dtype) : NULL;
    MsStatus st = x && l && to && (g || !dloss) ? MS_OK : ms_error()->code;
    if (st == MS_OK) {
        Rows r = {x->data,  g ? g->data : NULL,    (const int64_t *)l->data,
                  to->data, x->shape[x->ndim - 1], c->attr[0].i};
        st = check_range(c, &r, l->numel);
        static const MsRangeFn fn[2][2] = {{loss_float, loss_double}, {grad_float, grad_double}};
        if (st == MS_OK && to->numel)
            ms__parallel_for(l->numel, 1 + 4096 / (r.classes + 1), fn[dloss != NULL][dtype == MS_FLOAT64],
                             &r);
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
