/* loss.c - the losses that need a kernel of their own: cross-entropy of class indices over the last axis,
 * fused so that no probability is ever rounded to zero before its logarithm is taken, and its gradient. All
 * other losses are compositions (src/api/nn_ops.c). */
#include "mindspore_ops.h"
#include "op/batch.h"

#include <string.h>

static MsStatus check_labels(const MsInfer *c, const MsAval *x, const MsAval *labels, const char *name)
{
    if (x->ndim < 1 || labels->ndim != x->ndim - 1 ||
        memcmp(x->shape, labels->shape, (size_t)labels->ndim * sizeof *labels->shape) != 0)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', '%s' must have the shape of 'logits' without the last axis, but got %s for logits of "
            "shape %s.",
            c->op->name, name, ms__shape_text(labels->ndim, labels->shape),
            ms__shape_text(x->ndim, x->shape));
    return MS_OK;
}

static MsStatus infer_softmax_cross_entropy(MsInfer *c)
{
    MS_TRY(check_labels(c, &c->in[0], &c->in[1], "labels"));
    c->out[0].ndim = c->in[1].ndim;
    memcpy(c->out[0].shape, c->in[1].shape, sizeof c->in[1].shape);
    return MS_OK;
}

static MsStatus infer_softmax_cross_entropy_grad(MsInfer *c)
{
    MS_TRY(check_labels(c, &c->in[1], &c->in[2], "labels"));
    MS_TRY(check_labels(c, &c->in[1], &c->in[0], "dloss"));
    MsDtype dtype = c->out[0].dtype;
    c->out[0] = c->in[1];
    c->out[0].dtype = dtype;
    return MS_OK;
}

static MsStatus vjp_softmax_cross_entropy(MsVjp *c)
{
    c->grad[0] = ms_softmax_cross_entropy_grad(c->ct[0], c->in[0], c->in[1], c->attr[0].i);
    return MS_OK;
}

/* d logits = dloss * (p - onehot), with p = softmax(logits). For a cotangent u:
 *   d dloss  = sum(u * (p - onehot))         which is this operator's own result for dloss = 1, times u
 *   d logits = dloss * p * (u - sum(u * p))  where the label counts, else 0 */
static MsStatus vjp_softmax_cross_entropy_grad(MsVjp *c)
{
    MsTensor *u = c->ct[0], *g = c->in[0], *x = c->in[1], *labels = c->in[2];
    int64_t last = ms_tensor_ndim(x) - 1;
    MsDtype dtype = ms_tensor_dtype(x);
    if (c->want[0]) {
        MsTensor *ones = ms_full((MsInts){ms_tensor_ndim(g), ms_tensor_shape(g)}, 1, dtype);
        MsTensor *d = ms_softmax_cross_entropy_grad(ones, x, labels, c->attr[0].i);
        c->grad[0] = ms_sum(ms_mul(u, d), MS_INTS(last), false);
    }
    if (c->want[1]) {
        int64_t shape[MS_MAX_DIM];
        memcpy(shape, ms_tensor_shape(x), sizeof shape);
        shape[last] = 1;
        MsInts column = {ms_tensor_ndim(x), shape};
        MsTensor *p = ms_softmax(x, last);
        MsTensor *inner = ms_sub(u, ms_sum(ms_mul(u, p), MS_INTS(last), true));
        MsTensor *counts = ms_cast(
            ms_ne(labels, ms_full_int((MsInts){0, NULL}, c->attr[0].i, ms_tensor_dtype(labels))), dtype);
        c->grad[1] = ms_mul(ms_mul(p, inner), ms_reshape(ms_mul(g, counts), column));
    }
    return MS_OK;
}

MS_OP(softmax_cross_entropy,
      .sig = "softmax_cross_entropy(logits: float, labels: index, *, ignore: int) -> logits",
      .infer = infer_softmax_cross_entropy, .batch = ms__batch_lead, .vjp = vjp_softmax_cross_entropy,
      .sample = "f32[3,5] i64[3]<5 ignore=-100; f32[3,5] i32[3]<5 ignore=2; f32[2,3,4] i32[2,3]<4 ignore=-1"
                "; f16[3,5] i64[3]<5 ignore=-100; f32[5] i64[]<5 ignore=-100; f32[0,5] i64[0]<5 ignore=-100");

MS_OP(
    softmax_cross_entropy_grad,
    .sig = "softmax_cross_entropy_grad(dloss: float, logits: dloss, labels: index, *, ignore: int) -> logits",
    .infer = infer_softmax_cross_entropy_grad, .batch = ms__batch_lead, .vjp = vjp_softmax_cross_entropy_grad,
    .flags = MS_OP_OVER_SECOND,
    .sample = "f32[3] f32[3,5] i64[3]<5 ignore=-100; f32[2,3] f32[2,3,4] i32[2,3]<4 ignore=2");
