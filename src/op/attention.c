/* attention.c - scaled dot-product attention as one operator, so that the scores of all pairs never lie in memory:
 *   x = scale q k^T, masked;  o = (keep * softmax(x)) v
 * on q [..., n, d], k [..., m, d], v [..., m, e] of equal leading axes. A mask of a float dtype is added to x; of a
 * boolean one, false puts `fill` in place of x. `causal` lets row i see columns 0..i only. `keep` multiplies the
 * probabilities (dropout: 0 or 1 / (1 - p)). Mask and keep broadcast to [..., n, m].
 *
 * The gradient recomputes the scores from q and k instead of taking the sums of the forward run: one exponential per
 * score either way, nothing to store, and the operator stays a function of its inputs, which can be differentiated
 * again. Its own gradient is a composition. */
#include "mindspore_ops.h"
#include "op/batch.h"
#include "op/rules.h"
#include "op/view.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

enum {
    SCALE,
    CAUSAL,
    FILL
};

/* Checks q, k, v at in[0..2] and mask, keep at in[3..4]. */
static MsStatus check(const MsInfer *c, const MsAval *in)
{
    const char *op = c->op->name;
    const MsAval *q = &in[0], *k = &in[1], *v = &in[2];
    int nd = q->ndim;
    bool good = nd >= 2 && k->ndim == nd && v->ndim == nd && q->shape[nd - 1] == k->shape[nd - 1] &&
                k->shape[nd - 2] == v->shape[nd - 2];
    for (int d = 0; good && d < nd - 2; d++) good = q->shape[d] == k->shape[d] && q->shape[d] == v->shape[d];
    if (!good)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', 'q' [..., n, d], 'k' [..., m, d] and 'v' [..., m, e] must fit together, but got "
            "%s, %s and %s.",
            op, ms__shape_text(q->ndim, q->shape), ms__shape_text(k->ndim, k->shape),
            ms__shape_text(v->ndim, v->shape));
    for (int i = 3; i < 5; i++) {
        const MsAval *m = &in[i];
        if (m->dtype == MS_DTYPE_NONE) continue;
        bool fits = m->ndim <= nd;
        for (int d = 0; fits && d < m->ndim; d++) {
            int e = nd - m->ndim + d;
            fits = m->shape[d] == 1 || m->shape[d] == (e == nd - 1 ? k->shape[nd - 2] : q->shape[e]);
        }
        if (!fits)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', '%s' must broadcast to the scores, but got %s for q %s and k %s.", op,
                           i == 3 ? "mask" : "keep", ms__shape_text(m->ndim, m->shape),
                           ms__shape_text(q->ndim, q->shape), ms__shape_text(k->ndim, k->shape));
        if (i == 3 && m->dtype != MS_BOOL && !ms_dtype_is_float(m->dtype))
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', 'mask' must be bool or a float dtype, but got %s.", op,
                           ms_dtype_name(m->dtype));
    }
    return MS_OK;
}

static void set_shape(MsAval *out, const MsAval *a)
{
    out->ndim = a->ndim;
    memcpy(out->shape, a->shape, sizeof out->shape);
}

static MsStatus infer_attention(MsInfer *c)
{
    MS_TRY(check(c, c->in));
    set_shape(&c->out[0], &c->in[0]);
    c->out[0].shape[c->in[0].ndim - 1] = c->in[2].shape[c->in[2].ndim - 1];
    return MS_OK;
}

static MsStatus infer_attention_grad(MsInfer *c)
{
    MS_TRY(check(c, c->in + 1));
    const MsAval *g = &c->in[0], *q = &c->in[1], *v = &c->in[3];
    bool good = g->ndim == q->ndim && g->shape[g->ndim - 1] == v->shape[v->ndim - 1];
    for (int d = 0; good && d < g->ndim - 1; d++) good = g->shape[d] == q->shape[d];
    if (!good)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', 'dy' must have the shape of the result, but got %s for q %s.", c->op->name,
                       ms__shape_text(g->ndim, g->shape), ms__shape_text(q->ndim, q->shape));
    for (int j = 0; j < 3; j++) set_shape(&c->out[j], &c->in[1 + j]);
    return MS_OK;
}

/* ---- the same as compositions, for gradients that the kernels do not give ---- */

/* Column <= row for the last two axes of the scores. */
static MsTensor *triangle(MsTensor *q, MsTensor *k)
{
    int nd = ms_tensor_ndim(q);
    int64_t n = ms_tensor_shape(q)[nd - 2], m = ms_tensor_shape(k)[nd - 2];
    MsTensor *row = ms_reshape(ms_arange_int(0, 1, n, MS_INT64), MS_INTS(n, 1));
    return ms_ge(row, ms_reshape(ms_arange_int(0, 1, m, MS_INT64), MS_INTS(1, m)));
}

static MsTensor *probabilities(const MsAttr *attr, MsTensor *const *in)
{
    MsTensor *q = in[0], *x = ms__scale(ms_matmul(q, in[1], false, true), attr[SCALE].f);
    MsDtype dtype = ms_tensor_dtype(q);
    if (in[3] && ms_tensor_dtype(in[3]) == MS_BOOL)
        x = ms_where(in[3], x, ms_full((MsInts){0, NULL}, attr[FILL].f, dtype));
    else if (in[3])
        x = ms_add(x, ms_tensor_dtype(in[3]) == dtype ? in[3] : ms_cast(in[3], dtype));
    if (attr[CAUSAL].i)
        x = ms_where(triangle(q, in[1]), x, ms_full((MsInts){0, NULL}, -(double)INFINITY, dtype));
    return x ? ms_softmax(x, -1) : NULL;
}

static MsTensor *row_sum(MsTensor *x)
{
    return ms_sum(x, MS_INTS(-1), true);
}
static MsTensor *times(MsTensor *x, MsTensor *keep)
{
    return keep ? ms_mul(x, keep) : x;
}
static MsTensor *plus(MsTensor *a, MsTensor *b)
{
    return a && b ? ms_add(a, b) : a ? a : b;
}

/* x where the scores count, 0 where the mask replaced them. */
static MsTensor *passed(const MsAttr *attr, MsTensor *const *in, MsTensor *x)
{
    MsTensor *zero = ms_full((MsInts){0, NULL}, 0, ms_tensor_dtype(in[0]));
    if (in[3] && ms_tensor_dtype(in[3]) == MS_BOOL) x = ms_where(in[3], x, zero);
    return attr[CAUSAL].i ? ms_where(triangle(in[0], in[1]), x, zero) : x;
}

static MsStatus vjp_attention(MsVjp *c)
{
    if (c->want[0] || c->want[1] || c->want[2]) {
        MsTensor *g[3];
        MS_TRY(ms_attention_grad(c->ct[0], c->in[0], c->in[1], c->in[2], c->in[3], c->in[4], c->attr[SCALE].f,
                                 c->attr[CAUSAL].i, c->attr[FILL].f, g));
        for (int i = 0; i < 3; i++) c->grad[i] = g[i];
    }
    bool mask = c->in[3] && c->want[3] && ms_tensor_dtype(c->in[3]) != MS_BOOL, keep = c->in[4] && c->want[4];
    if (!mask && !keep) return MS_OK;
    MsTensor *p = probabilities(c->attr, c->in), *dp = ms_matmul(c->ct[0], c->in[2], false, true);
    if (keep) c->grad[4] = ms_mul(p, dp);
    if (mask) {
        dp = times(dp, c->in[4]);
        c->grad[3] = ms_mul(p, ms_sub(dp, row_sum(ms_mul(p, dp))));
    }
    return MS_OK;
}

/* With p the probabilities, r keep, s scale, g the cotangent of o:
 *   f = r (g v^T), D = sum_row(p f), x' = p (f - D);  dq = s x' k, dk = s x'^T q, dv = (r p)^T g
 * and cotangents a, b, c of the three, the cotangents of x', f, p and the scores x follow in this order. */
static MsStatus vjp_attention_grad(MsVjp *c)
{
    MsTensor *g = c->in[0], *q = c->in[1], *k = c->in[2], *v = c->in[3], *r = c->in[5];
    MsTensor *a = c->ct[0], *b = c->ct[1], *e = c->ct[2], *const *in = c->in + 1;
    double s = c->attr[SCALE].f;
    MsTensor *p = probabilities(c->attr, in), *f = times(ms_matmul(g, v, false, true), r);
    MsTensor *fd = ms_sub(f, row_sum(ms_mul(p, f))), *x = passed(c->attr, in, ms_mul(p, fd));
    MsTensor *gg = NULL, *gq = NULL, *gk = NULL, *gv = NULL, *gp = NULL, *fb = NULL;
    if (a || b) {
        MsTensor *xb = plus(a ? ms_matmul(a, k, false, true) : NULL, b ? ms_matmul(q, b, false, true) : NULL);
        xb = passed(c->attr, in, ms__scale(xb, s));
        MsTensor *h = row_sum(ms_mul(p, xb)), *rfb;
        fb = ms_mul(p, ms_sub(xb, h));
        rfb = times(fb, r);
        gp = ms_sub(ms_mul(xb, fd), ms_mul(h, f));
        gg = ms_matmul(rfb, v, false, false);
        gv = ms_matmul(rfb, g, true, false);
        if (a) gk = ms__scale(ms_matmul(x, a, true, false), s);
        if (b) gq = ms__scale(ms_matmul(x, b, false, false), s);
    }
    if (e) {
        gg = plus(gg, ms_matmul(times(p, r), e, false, false));
        gp = plus(gp, times(ms_matmul(g, e, false, true), r));
    }
    if (gp) {
        MsTensor *xs = ms_mul(p, ms_sub(gp, row_sum(ms_mul(p, gp)))),
                 *xp = ms__scale(passed(c->attr, in, xs), s);
        gq = plus(gq, ms_matmul(xp, k, false, false));
        gk = plus(gk, ms_matmul(xp, q, true, false));
        if (c->in[4] && c->want[4] && ms_tensor_dtype(c->in[4]) != MS_BOOL) c->grad[4] = xs;
    }
    if (r && c->want[5]) {
        if (fb) c->grad[5] = ms_mul(fb, ms_matmul(g, v, false, true));
        if (e) c->grad[5] = plus(c->grad[5], ms_mul(p, ms_matmul(g, e, false, true)));
    }
    c->grad[0] = gg, c->grad[1] = gq, c->grad[2] = gk, c->grad[3] = gv;
    return MS_OK;
}

/* The batch in front of everything; q is input `q`, mask and keep of lower rank than it get axes of size 1. */
static MsStatus batch_from(MsBatch *c, int q)
{
    MsTensor *in[6];
    int nd = c->in[q]->ndim - (c->axis[q] >= 0), n;
    for (int i = 0; i < c->n_in; i++) {
        in[i] = c->in[i];
        if (!in[i] || (i >= q + 3 && c->axis[i] < 0)) continue;
        if (!(in[i] = ms__batch_front(c, i))) return ms_error()->code;
        int64_t shape[MS_MAX_DIM] = {c->size};
        int missing = i < q + 3 ? 0 : nd + 1 - in[i]->ndim;
        for (int d = 1; d <= nd && missing > 0; d++) shape[d] = d <= missing ? 1 : in[i]->shape[d - missing];
        if (missing > 0 && !(in[i] = ms_reshape(in[i], (MsInts){nd + 1, shape}))) return ms_error()->code;
    }
    for (int j = 0; j < c->n_out; j++) c->out_axis[j] = 0;
    return ms_bind(c->op, c->attr, c->n_in, in, c->n_out, c->out, &n);
}

static MsStatus batch_attention(MsBatch *c)
{
    return batch_from(c, 0);
}
static MsStatus batch_attention_grad(MsBatch *c)
{
    return batch_from(c, 1);
}

MS_OP(attention,
      .sig = "attention(q: float, k: q, v: q, mask: any?, keep: q?, *, scale: float, causal: bool, fill: "
             "float) -> q",
      .infer = infer_attention, .batch = batch_attention, .vjp = vjp_attention,
      .sample = "f32[2,5,4] f32[2,7,4] f32[2,7,3] - - scale=0.5; f32[2,3,5,4] f32[2,3,5,4] f32[2,3,5,4] - - "
                "scale=0.5 "
                "causal; f32[2,3,4] f32[2,3,4] f32[2,3,4] f32[3,3] f32[2,3,3]{0.5,1.5} scale=0.5; f32[20,24] "
                "f32[33,24] "
                "f32[33,18] bool[20,33] - scale=0.2 fill=-3; bf16[2,3,4] bf16[2,3,4] bf16[2,3,4] f32[2,1,3] "
                "- scale=0.5"
                "; f32[0,3,4] f32[0,3,4] f32[0,3,4] - - scale=0.5");

MS_OP(
    attention_grad,
    .sig = "attention_grad(dy: float, q: dy, k: dy, v: dy, mask: any?, keep: dy?, *, scale: float, causal: "
           "bool, "
           "fill: float) -> q, k, v",
    .infer = infer_attention_grad, .batch = batch_attention_grad, .vjp = vjp_attention_grad,
    .sample =
        "f32[2,5,3] f32[2,5,4] f32[2,7,4] f32[2,7,3] - - scale=0.5; f32[5,4] f32[5,4] f32[5,4] f32[5,4] - - "
        "scale=0.5 causal; f32[20,18] f32[20,24] f32[33,24] f32[33,18] bool[20,33] - scale=0.2 fill=-3");
