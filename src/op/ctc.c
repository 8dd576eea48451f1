/* ctc.c - connectionist temporal classification (Graves et al. 2006): minus the log of the probability that a
 * network which emits a label or a blank at each step spells the targets. The walk over the extended sequence
 * (blanks between the labels) is in log space. log_probs [T, N, C] are taken as they are, not normalised; the
 * gradient is that of this function: minus the posterior of each label at each step. It is computed with its
 * own forward walk, so the operator needs no residuals. The second derivative differentiates the same walk
 * written with public operators. Without `merge` a label that stays is emitted anew. */
#include "mindspore_ops.h"
#include "op/batch.h"
#include "op/rules.h"

#include <string.h>

/* Inputs from `at` on: log_probs, targets, input_lengths, target_lengths. */
static MsStatus check(const MsInfer *c, int at)
{
    const MsAval *lp = &c->in[at], *targets = &c->in[at + 1];
    int64_t blank = c->attr[0].i;
    if (lp->ndim != 3 || targets->ndim != 2 || targets->shape[0] != lp->shape[1])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', 'log_probs' must be (T, N, C) and 'targets' (N, S), but got %s and %s.",
                       c->op->name, ms__shape_text(lp->ndim, lp->shape),
                       ms__shape_text(targets->ndim, targets->shape));
    for (int k = 2; k < 4; k++)
        if (c->in[at + k].ndim != 1 || c->in[at + k].shape[0] != lp->shape[1])
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', there must be %lld lengths of %s, but got shape %s.",
                           c->op->name, (long long)lp->shape[1], k == 2 ? "inputs" : "targets",
                           ms__shape_text(c->in[at + k].ndim, c->in[at + k].shape));
    if (blank < 0 || blank >= lp->shape[2])
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'blank' must be in [0, %lld), but got %lld.",
                       c->op->name, (long long)lp->shape[2], (long long)blank);
    return MS_OK;
}

static MsStatus infer_ctc_loss(MsInfer *c)
{
    MS_TRY(check(c, 0));
    const MsAval *lp = &c->in[0];
    c->out[0].ndim = 1;
    c->out[0].shape[0] = lp->shape[1];
    c->out[1].ndim = 3;
    c->out[1].shape[0] = lp->shape[1], c->out[1].shape[1] = lp->shape[0];
    c->out[1].shape[2] = 2 * c->in[1].shape[1] + 1;
    return ms__numel(3, c->out[1].shape) < 0 ? ms_error()->code : MS_OK;
}

static MsStatus infer_ctc_loss_grad(MsInfer *c)
{
    MS_TRY(check(c, 1));
    if (c->in[0].ndim != 1 || c->in[0].shape[0] != c->in[1].shape[1])
        return MS_FAIL(MS_ERROR_VALUE, "For 'ctc_loss_grad', 'dloss' must have shape (%lld,), but got %s.",
                       (long long)c->in[1].shape[1], ms__shape_text(c->in[0].ndim, c->in[0].shape));
    c->out[0].ndim = 3;
    memcpy(c->out[0].shape, c->in[1].shape, 3 * sizeof *c->in[1].shape);
    return MS_OK;
}

/* log_alpha is a result to look at: nothing flows back through it. */
static MsStatus vjp_ctc_loss(MsVjp *c)
{
    if (c->ct[0])
        c->grad[0] =
            ms_ctc_loss_grad(c->ct[0], c->in[0], c->in[1], c->in[2], c->in[3], c->attr[0].i, c->attr[1].i);
    return MS_OK;
}

/* ---- the loss as a composition ---- */

#define IMPOSSIBLE (-1e30) /* log 0 that can be subtracted */

/* log(e^a + e^b + e^c) */
static MsTensor *log_sum(MsTensor *a, MsTensor *b, MsTensor *c)
{
    MsTensor *m = ms_stop_gradient(ms_maximum(ms_maximum(a, b), c));
    MsTensor *sum = ms_add(ms_add(ms_exp(ms_sub(a, m)), ms_exp(ms_sub(b, m))), ms_exp(ms_sub(c, m)));
    return ms_add(m, ms_log(sum));
}

static MsTensor *joined(MsTensor *a, MsTensor *b)
{
    return a && b ? ms_concat(2, (MsTensor *[]){a, b}, 1) : NULL;
}

/* x [N, S] moved k places to the right, `fill` [N, >= k] in front */
static MsTensor *moved(MsTensor *x, int64_t k, MsTensor *fill)
{
    if (!x || !fill) return NULL;
    int64_t n = ms_tensor_shape(x)[0], s = ms_tensor_shape(x)[1];
    if (k > s) k = s;
    return joined(ms_slice(fill, MS_INTS(0, 0), MS_INTS(n, k), MS_INTS(1, 1)),
                  ms_slice(x, MS_INTS(0, 0), MS_INTS(n, s - k), MS_INTS(1, 1)));
}

/* Which labels [N, 2 S + 1] follow each other, and of those which may leave out the blank before and which may
 * stay. */
static MsStatus paths(MsTensor *targets, int64_t blank, bool merge, MsTensor **label, MsTensor **skip,
                      MsTensor **stay)
{
    int64_t n = ms_tensor_shape(targets)[0], m = ms_tensor_shape(targets)[1];
    MsTensor *pair[2] = {ms_full_int(MS_INTS(n, m, 1), blank, MS_INT64),
                         ms_reshape(ms_cast(targets, MS_INT64), MS_INTS(n, m, 1))};
    MsTensor *blanks = ms_full_int(MS_INTS(n, 2), blank, MS_INT64), *none = ms__constant(blanks, blank);
    if (!pair[0] || !pair[1] || !none) return ms_error()->code;
    *label = joined(ms_reshape(ms_concat(2, pair, 2), MS_INTS(n, 2 * m)),
                    ms_slice(blanks, MS_INTS(0, 0), MS_INTS(n, 1), MS_INTS(1, 1)));
    MsTensor *letter = ms_ne(*label, none);
    *skip = merge ? ms_logical_and(letter, ms_ne(*label, moved(*label, 2, blanks))) : letter;
    *stay = merge ? ms_eq(*label, *label) : ms_eq(*label, none);
    return *label && *skip && *stay ? MS_OK : ms_error()->code;
}

/* Row t of x [T, N, S] */
static MsTensor *row(MsTensor *x, int64_t t)
{
    if (!x) return NULL;
    const int64_t *s = ms_tensor_shape(x);
    return ms_reshape(ms_slice(x, MS_INTS(t, 0, 0), MS_INTS(1, s[1], s[2]), MS_INTS(1, 1, 1)),
                      MS_INTS(s[1], s[2]));
}

static MsTensor *composed(MsTensor *lp, MsTensor *targets, MsTensor *in_len, MsTensor *len, int64_t blank,
                          bool merge)
{
    int64_t steps = ms_tensor_shape(lp)[0], n = ms_tensor_shape(lp)[1];
    MsTensor *label = NULL, *skip = NULL, *stay = NULL;
    if (paths(targets, blank, merge, &label, &skip, &stay) != MS_OK) return NULL;
    int64_t s = ms_tensor_shape(label)[1];
    MsTensor *never = ms__constant(lp, IMPOSSIBLE), *nothing = ms_broadcast_to(never, MS_INTS(n, 2));
    MsTensor *all = ms_take_along(lp, ms_broadcast_to(label, MS_INTS(steps, n, s)), 2);
    MsTensor *place = ms_arange_int(0, 1, s, MS_INT64);
    /* before the first step only the first blank can have been there, which may also be left out */
    MsTensor *alpha =
        ms_where(ms_lt(place, ms__constant(place, 1)), ms__constant(lp, 0), nothing ? never : NULL);
    alpha = ms_broadcast_to(alpha, MS_INTS(n, s));
    in_len = ms_reshape(ms_cast(in_len, MS_INT64), MS_INTS(n, 1));
    for (int64_t t = 0; t < steps && alpha && all; t++) {
        MsTensor *far = t ? ms_where(skip, moved(alpha, 2, nothing), never) : never;
        MsTensor *here = t ? ms_where(stay, alpha, never) : alpha;
        MsTensor *next = ms_add(log_sum(here, moved(alpha, 1, nothing), far), row(all, t));
        alpha = ms_where(ms_gt(in_len, ms_tensor_scalar_int(MS_INT64, t)), ms_maximum(next, never), alpha);
    }
    MsTensor *end = ms__scale(ms_reshape(ms_cast(len, MS_INT64), MS_INTS(n, 1)), 2);
    MsTensor *zero = end ? ms__constant(end, 0) : NULL;
    MsTensor *last = ms_take_along(alpha, end, 1);
    MsTensor *letter = ms_take_along(alpha, ms_maximum(ms__shift(end, -1), zero), 1);
    letter = ms_where(ms_gt(end, zero), letter, never);
    return ms_reshape(ms_neg(log_sum(last, letter, ms_stop_gradient(never))), MS_INTS(n));
}

static MsStatus vjp_ctc_loss_grad(MsVjp *c)
{
    MsTensor *x[2], *lp, *y = NULL, *grad[2];
    MsTrace *outer = ms_vjp_begin(2, c->in, x, 0, NULL);
    if (!outer) return ms_error()->code;
    MsStatus st = MS_ERROR_RUNTIME;
    MsTrace *inner = ms_vjp_begin(1, &x[1], &lp, 0, NULL);
    if (inner) {
        MsTensor *loss = composed(lp, c->in[2], c->in[3], c->in[4], c->attr[0].i, c->attr[1].i);
        st = loss ? ms_vjp_grad(inner, 1, &loss, &x[0], &y) : ms_error()->code;
        MsStatus ended = ms_vjp_end(inner);
        if (st == MS_OK) st = ended;
    } else {
        st = ms_error()->code;
    }
    if (st == MS_OK) st = ms_vjp_grad(outer, 1, &y, c->ct, grad);
    MsStatus ended = ms_vjp_end(outer);
    if (st == MS_OK) st = ended;
    for (int i = 0; i < 2 && st == MS_OK; i++) c->grad[i] = grad[i];
    return st;
}

static MsStatus batch_ctc_loss(MsBatch *c)
{
    return ms__batch_by(c, (int8_t[]){1, 0, 0, 0}, (int8_t[]){0, 0});
}
static MsStatus batch_ctc_loss_grad(MsBatch *c)
{
    return ms__batch_by(c, (int8_t[]){0, 1, 0, 0, 0}, (int8_t[]){1});
}

/* -> loss [N], log_alpha [N, T, 2 S + 1] */
MS_OP(ctc_loss,
      .sig = "ctc_loss(log_probs: float, targets: index, input_lengths: index, target_lengths: index, *, "
             "blank: int, merge: bool) -> log_probs, log_probs",
      .infer = infer_ctc_loss, .vjp = vjp_ctc_loss, .batch = batch_ctc_loss,
      .sample = "f32[4,2,3]{-2,0} i64[2,2]{1,3} i64[2]{3,5} i64[2]{1,3} blank=0 merge; f64[5,1,4]{-2,0} "
                "i32[1,3]{0,3} i64[1]{4,6} i32[1]{0,4} blank=3; f16[3,2,3]{-2,0} i64[2,1]{1,3} i64[2]{1,4} "
                "i64[2]{0,2} blank=0 merge; f32[2,0,3] i64[0,2] i64[0] i64[0] blank=0 merge");
MS_OP(ctc_loss_grad,
      .sig = "ctc_loss_grad(dloss: float, log_probs: dloss, targets: index, input_lengths: index, "
             "target_lengths: index, *, blank: int, merge: bool) -> log_probs",
      .infer = infer_ctc_loss_grad, .vjp = vjp_ctc_loss_grad, .batch = batch_ctc_loss_grad,
      .sample = "f32[2] f32[4,2,3]{-2,0} i64[2,2]{1,3} i64[2]{3,5} i64[2]{1,3} blank=0 merge; f64[1] "
                "f64[4,1,4]{-2,0} i32[1,2]{0,3} i64[1]{4,5} i32[1]{1,3} blank=3");
