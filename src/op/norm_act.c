/* norm_act.c - batch normalisation together with the residual addition and the ReLU after it, and the
 * gradients of both. The values are those of the single operators to the bit; what is gained is memory
 * traffic. Nobody writes these operators: the pass graph/norm.c puts them in the place of the chains it
 * finds. Refused: flags on batch_norm itself, whose gradient rule would have to know every combination. */
#include "mindspore_ops.h"
#include "op/batch.h"
#include "op/conv.h"

#include <string.h>

extern const MsOp ms_op_conv, ms_op_batch_norm_apply;

static MsStatus check_vector(const MsInfer *c, int i, int64_t n)
{
    const MsAval *v = &c->in[i];
    if (v->ndim == 1 && v->shape[0] == n) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', input %d must have shape (%lld,), but got %s.", c->op->name, i,
                   (long long)n, ms__shape_text(v->ndim, v->shape));
}

static MsStatus check_same(const MsInfer *c, int i, int x)
{
    const MsAval *a = &c->in[i], *b = &c->in[x];
    if (a->dtype == MS_DTYPE_NONE ||
        (a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)b->ndim * sizeof *b->shape) == 0))
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', inputs %d and %d must have the same shape, but got %s and %s.",
                   c->op->name, i, x, ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
}

/* Activations like input x in outputs [0, n_wide), vectors of channels in the two behind; inputs [first,
 * last] are such vectors. */
static MsStatus infer(MsInfer *c, int x, int first, int last, int n_wide)
{
    const MsAval *a = &c->in[x];
    if (a->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'x' must have at least 2 dimensions, but got shape %s.",
                       c->op->name, ms__shape_text(a->ndim, a->shape));
    for (int i = 0; i < c->n_in; i++)
        MS_TRY(i >= first && i <= last ? check_vector(c, i, a->shape[1]) : check_same(c, i, x));
    for (int j = 0; j < c->n_out; j++) {
        c->out[j].ndim = j < n_wide ? a->ndim : 1;
        memcpy(c->out[j].shape, j < n_wide ? a->shape : &a->shape[1],
               (size_t)c->out[j].ndim * sizeof *a->shape);
    }
    return MS_OK;
}

static MsStatus infer_stats(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    if (x->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'x' must have at least 2 dimensions, but got shape %s.",
                       c->op->name, ms__shape_text(x->ndim, x->shape));
    if (!ms_dtype_is_float((MsDtype)c->attr[0].i))
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', 'dtype' must be a floating-point type, but got %s.",
                       c->op->name, ms_dtype_name((MsDtype)c->attr[0].i));
    for (int j = 0; j < 2; j++) {
        c->out[j].dtype = (MsDtype)c->attr[0].i;
        c->out[j].ndim = 1;
        c->out[j].shape[0] = x->shape[1];
    }
    return MS_OK;
}

static MsStatus infer_apply(MsInfer *c)
{
    return infer(c, 0, 1, 4, 1);
}
static MsStatus infer_conv_norm(MsInfer *c)
{
    MsInfer conv = {c->op, c->attr, 3, 1, 1, c->in, c->out};
    MS_TRY(ms_op_conv.infer(&conv));
    MsAval *y = c->out;
    for (int i = 3; i < 7; i++) MS_TRY(check_vector(c, i, y->shape[1]));
    const MsAval *skip = &c->in[7];
    if (skip->dtype == MS_DTYPE_NONE ||
        (skip->ndim == y->ndim && memcmp(skip->shape, y->shape, (size_t)y->ndim * sizeof *y->shape) == 0))
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'skip' must have the shape of the result, %s, but got %s.",
                   c->op->name, ms__shape_text(y->ndim, y->shape), ms__shape_text(skip->ndim, skip->shape));
}
static MsStatus infer_relu_grad(MsInfer *c)
{
    return infer(c, 1, 2, 5, 1);
}
static MsStatus infer_sum_grad(MsInfer *c)
{
    return infer(c, 1, 4, 6, 2);
}

/* The rule of another operator with inputs of its own; gradients into grad. */
static MsStatus by_rule(const MsOp *op, const MsVjp *c, int n_in, MsTensor *const *in, MsTensor *const *out,
                        MsTensor *const *ct, MsTensor **grad)
{
    static const bool all[8] = {true, true, true, true, true, true, true, true};
    MsVjp sub = {op, c->attr, n_in, 3, in, out, ct, all, grad};
    return op->vjp(&sub);
}

extern const MsOp ms_op_batch_norm_grad;

/* Channel vectors beside activations x: in the dtype that is computed in, broadcast along axis 1. */
typedef struct Wide {
    int64_t column[MS_MAX_DIM], axes[MS_MAX_DIM];
    int ndim;
    double count; /* elements of a channel */
    MsDtype dtype;
} Wide;

static Wide wide_of(const MsTensor *x, MsDtype dtype)
{
    Wide w = {.ndim = ms_tensor_ndim(x), .count = 1, .dtype = dtype};
    const int64_t *s = ms_tensor_shape(x);
    for (int d = 0, n = 0; d < w.ndim; d++) {
        w.column[d] = d == 1 ? s[d] : 1;
        if (d == 1) continue;
        w.axes[n++] = d;
        w.count *= (double)s[d];
    }
    return w;
}

static MsTensor *widen(const Wide *w, MsTensor *v)
{
    return v ? ms_reshape(v, (MsInts){w->ndim, w->column}) : NULL;
}
static MsTensor *total(const Wide *w, MsTensor *x)
{
    return ms_sum(x, (MsInts){w->ndim - 1, w->axes}, false);
}
static MsTensor *number(double v, MsDtype dtype)
{
    return ms_full((MsInts){0, NULL}, v, dtype);
}

/* (x - mean) gamma / sqrt(var + eps) + beta, in the dtype of x. */
static MsTensor *normalised(MsTensor *x, MsTensor *gamma, MsTensor *beta, MsTensor *mean, MsTensor *var,
                            double eps)
{
    Wide w = wide_of(x, ms_tensor_dtype(gamma));
    MsTensor *scale = ms_mul(gamma, ms_rsqrt(ms_add(var, number(eps, w.dtype))));
    MsTensor *y = ms_mul(ms_sub(ms_cast(x, w.dtype), widen(&w, mean)), widen(&w, scale));
    return ms_cast(ms_add(y, widen(&w, beta)), ms_tensor_dtype(x));
}

static MsStatus vjp_stats(MsVjp *c)
{
    MsTensor *x = c->in[0], *dx = NULL;
    Wide w = wide_of(x, (MsDtype)c->attr[0].i);
    if (c->ct[0])
        dx = ms_broadcast_to(widen(&w, ms_mul(c->ct[0], number(1 / w.count, w.dtype))),
                             (MsInts){w.ndim, ms_tensor_shape(x)});
    if (c->ct[1]) {
        MsTensor *centred = ms_sub(ms_cast(x, w.dtype), widen(&w, c->out[0]));
        MsTensor *by_var = ms_mul(centred, widen(&w, ms_mul(c->ct[1], number(2 / w.count, w.dtype))));
        dx = dx ? ms_add(dx, by_var) : by_var;
    }
    c->grad[0] = dx;
    return MS_OK;
}

static MsStatus vjp_apply(MsVjp *c)
{
    MsTensor *x = c->in[0], *gamma = c->in[1], *g = c->ct[0];
    Wide w = wide_of(x, ms_tensor_dtype(gamma));
    if (c->attr[1].i) g = ms_relu_grad(g, c->out[0]);
    if (c->attr[1].i && c->attr[2].f > 0) {
        MsDtype dtype = ms_tensor_dtype(x);
        g = ms_where(ms_lt(c->out[0], number(c->attr[2].f, dtype)), g, number(0, dtype));
    }
    c->grad[5] = g;
    g = ms_cast(g, w.dtype);
    MsTensor *r = ms_rsqrt(ms_add(c->in[4], number(c->attr[0].f, w.dtype)));
    MsTensor *centred = ms_sub(ms_cast(x, w.dtype), widen(&w, c->in[3]));
    MsTensor *sum = total(&w, g), *products = total(&w, ms_mul(g, centred)), *scale = ms_mul(gamma, r);
    c->grad[0] = ms_mul(g, widen(&w, scale));
    c->grad[1] = ms_mul(products, r);
    c->grad[2] = sum;
    c->grad[3] = ms_neg(ms_mul(sum, scale));
    c->grad[4] = ms_mul(ms_mul(products, ms_mul(gamma, ms_mul(r, ms_square(r)))), number(-0.5, w.dtype));
    return MS_OK;
}

/* The rules of both parts, the result of the first computed again. */
static MsStatus vjp_conv_norm(MsVjp *c)
{
    static const bool all[6] = {true, true, true, true, true, true};
    const MsAttr *at = c->attr;
    MsInts geometry[4];
    for (int k = STRIDE; k <= DILATION; k++) geometry[k] = (MsInts){at[k].n, at[k].v};
    MsTensor *y = ms_conv(c->in[0], c->in[1], c->in[2], geometry[STRIDE], geometry[LOW], geometry[HIGH],
                          geometry[DILATION], at[GROUPS].i);
    MsTensor *in[6] = {y, c->in[3], c->in[4], c->in[5], c->in[6], c->in[7]}, *grad[6] = {NULL};
    if (!y) return ms_error()->code;
    MsVjp apply = {&ms_op_batch_norm_apply, at + NORM_EPS, 6, 1, in, c->out, c->ct, all, grad};
    MS_TRY(vjp_apply(&apply));
    memcpy(c->grad + 3, grad + 1, 5 * sizeof *grad);
    MsVjp conv = {&ms_op_conv, at, 3, 1, c->in, &y, grad, c->want, c->grad};
    return grad[0] ? ms_op_conv.vjp(&conv) : ms_error()->code;
}

static MsStatus vjp_relu_grad(MsVjp *c)
{
    MsTensor *y = normalised(c->in[1], c->in[2], c->in[3], c->in[4], c->in[5], c->attr[0].f);
    MsTensor *masked = ms_relu_grad(c->in[0], y), *grad[5] = {NULL};
    if (!masked) return ms_error()->code;
    MsTensor *in[5] = {masked, c->in[1], c->in[2], c->in[4], c->in[5]};
    MS_TRY(by_rule(&ms_op_batch_norm_grad, c, 5, in, c->out, c->ct, grad));
    c->grad[0] = grad[0] ? ms_relu_grad(ms_cast(grad[0], ms_tensor_dtype(y)), y) : NULL;
    c->grad[1] = grad[1];
    c->grad[2] = grad[2];
    c->grad[4] = grad[3];
    c->grad[5] = grad[4];
    return MS_OK;
}

static MsStatus vjp_sum_grad(MsVjp *c)
{
    MsTensor *y = c->in[3], *masked = c->out[0], *grad[5] = {NULL};
    MsTensor *in[5] = {masked, c->in[1], c->in[4], c->in[5], c->in[6]};
    MsTensor *out[3] = {c->out[1], c->out[2], c->out[3]}, *ct[3] = {c->ct[1], c->ct[2], c->ct[3]};
    if (ct[0] || ct[1] || ct[2]) MS_TRY(by_rule(&ms_op_batch_norm_grad, c, 5, in, out, ct, grad));
    MsTensor *g = grad[0] ? ms_cast(grad[0], ms_tensor_dtype(y)) : NULL;
    if (grad[0] && !g) return ms_error()->code;
    if (c->ct[0]) g = g ? ms_add(g, c->ct[0]) : c->ct[0];
    c->grad[0] = c->grad[2] = g ? ms_relu_grad(g, y) : NULL;
    c->grad[1] = grad[1];
    c->grad[4] = grad[2];
    c->grad[5] = grad[3];
    c->grad[6] = grad[4];
    return MS_OK;
}

#define X "f32[4,3,2,5]"
#define V " f32[3]"

/* Mean and biased variance of every channel, as batch_norm computes them. */
MS_OP(batch_norm_stats, .sig = "batch_norm_stats(x: float, *, dtype: dtype) -> _, _", .infer = infer_stats,
      .batch = ms__batch_channels, .vjp = vjp_stats,
      .sample = X " dtype=float32; bf16[4,3,5] dtype=float32; f64[6,3] dtype=float64");

/* The rest of batch_norm, then + skip, then relu, where asked for; with relu, a positive `top` bounds the
 * result. */
MS_OP(batch_norm_apply,
      .sig =
          "batch_norm_apply(x: float, gamma: float, beta: gamma, mean: gamma, var: gamma, skip: x?, *, eps: "
          "float, relu: bool, top: float) -> x",
      .infer = infer_apply, .batch = ms__batch_channels, .vjp = vjp_apply, .flags = MS_OP_IN_PLACE,
      .sample = X V V V V ">0 " X " eps=1e-5 relu=1; " X V V V V ">0 none eps=1e-5 relu=0"
                          "; " X V V V V ">0 " X " eps=1e-5 relu=1 top=0.7"
                          "; bf16[4,3,5] f32[3] f32[3] f32[3] f32[3]>0 bf16[4,3,5] eps=1e-5 relu=1"
                          "; f64[6,3] f64[3] f64[3] f64[3] f64[3]>0 none eps=1e-3 relu=1");

static MsStatus batch_conv_norm(MsBatch *c)
{
    return ms__batch_by(c, (int8_t[]){0, -1, -1, -1, -1, -1, -1, 0}, (int8_t[]){0});
}

/* batch_norm_apply(conv(x, w, bias), ...). The pass graph/conv.c makes it. */
#define G " dilation=1,1"
MS_OP(
    conv_norm,
    .sig = "conv_norm(x: float, w: x, bias: x?, gamma: float, beta: gamma, mean: gamma, var: gamma, skip: "
           "x?, *, "
           "stride: ints, low: ints, high: ints, dilation: ints, groups: int, eps: float, relu: bool, top: "
           "float) -> x",
    .infer = infer_conv_norm, .vjp = vjp_conv_norm, .batch = batch_conv_norm,
    .sample =
        "f32[1,8,5,7] f32[24,8,1,1] f32[24] f32[24] f32[24] f32[24] f32[24]>0 f32[1,24,5,7] stride=1,1 "
        "low=0,0 "
        "high=0,0 groups=1 eps=1e-5 relu=1 top=0.7" G "; f32[2,16,5,19] f32[16,1,3,3] none f32[16] f32[16] "
        "f32[16] f32[16]>0 none stride=1,1 low=1,1 high=1,1 "
        "groups=16 eps=1e-5 relu=1" G
        "; f32[1,16,6,18] f32[16,1,3,3] f32[16] f32[16] f32[16] f32[16] f32[16]>0 none stride=2,2 low=1,1 "
        "high=1,1 groups=16 eps=1e-5 relu=0" G "; f32[1,3,7,20] f32[16,3,3,7] none f32[16] f32[16] f32[16] "
        "f32[16]>0 f32[1,16,4,10] stride=2,2 low=1,3 "
        "high=1,3 groups=1 eps=1e-5 relu=1" G "; f32[1,3,4,5] f32[2,3,2,2] none f32[2] f32[2] f32[2] "
        "f32[2]>0 f32[1,2,3,4] stride=1,1 low=0,0 high=0,0 "
        "groups=1 eps=1e-5 relu=1" G
        "; f32[4,32,9,13] f32[32,32,3,3] f32[32] f32[32] f32[32] f32[32] f32[32]>0 f32[4,32,9,13] stride=1,1 "
        "low=1,1 high=1,1 groups=1 eps=1e-5 relu=1" G);

/* The gradient through both, with ReLU and without skip: batch_norm_grad(relu_grad(dy, y), x, ...) with y
 * computed again from x. */
MS_OP(batch_norm_act_grad,
      .sig =
          "batch_norm_act_grad(dy: float, x: dy, gamma: float, beta: gamma, mean: gamma, var: gamma, *, eps: "
          "float) -> x, gamma, gamma",
      .infer = infer_relu_grad, .batch = ms__batch_channels, .vjp = vjp_relu_grad, .flags = MS_OP_IN_PLACE,
      .sample = X " " X V V V V ">0 eps=1e-5; f64[6,3] f64[6,3] f64[3] f64[3] f64[3] f64[3]>0 eps=1e-3");

/* d = relu_grad(dy + more, y), then batch_norm_grad(d, x, ...). Gives d too: the skip's gradient. */
MS_OP(batch_norm_sum_grad,
      .sig =
          "batch_norm_sum_grad(dy: float, x: dy, more: dy?, y: dy, gamma: float, mean: gamma, var: gamma, *, "
          "eps: float) -> dy, x, gamma, gamma",
      .infer = infer_sum_grad, .batch = ms__batch_channels, .vjp = vjp_sum_grad, .flags = MS_OP_IN_PLACE,
      .sample = X " " X " " X " " X V V V ">0 eps=1e-5; " X " " X " none " X V V V ">0 eps=1e-5"
                  "; bf16[4,3,5] bf16[4,3,5] bf16[4,3,5] bf16[4,3,5] f32[3] f32[3] f32[3]>0 eps=1e-5");
