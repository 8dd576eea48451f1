/* optim.c - optimizer updates, one call for all parameters. The list holds the n parameters, then n of each
 * state, then n gradients, then 0-d tensors for what changes from step to step; the results are the new
 * parameters and states in the same order. They are functions: ms_bind_into computes them straight into the
 * old tensors. g' = g * grad_scale + weight_decay * p everywhere (adamw decouples the decay).
 *
 *   momentum   m = momentum m + g';  p -= lr m          (nesterov: p -= lr (g' + momentum m))
 *   sgd        the same with m = momentum m + (1 - dampening) g', and m = g' where stat > 0, which then
 * becomes 0 adam       m = b1 m + (1-b1) g';  v = b2 v + (1-b2) g'^2;  p -= lr sqrt(1 - b2^t) / (1 - b1^t) m
 * / (sqrt(v) + eps) (Kingma & Ba 2015, section 2's efficient form; nesterov: b1 m + (1-b1) g' in place of m;
 *              amsgrad: the running maximum of v in place of v)
 *   adamw      m, v as adam;  p -= lr (m / (sqrt(v) + eps) + weight_decay p), without bias correction
 *
 * Refused: attributes per parameter. A parameter group is a call. */
#include "mindspore_ops.h"
#include "op/op.h"

#include <string.h>

/* n lists of parameters, states and gradients, followed by n_scalars 0-d tensors; all of one index have one
 * shape. */
static MsStatus infer_update(MsInfer *c, int n_state, int n_scalars)
{
    const char *op = c->op->name;
    int64_t n = c->attr[0].i;
    if (n < 1 || n > 1 << 20 || c->n_in != n * (n_state + 2) + n_scalars)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', %lld parameters need %lld inputs, but got %d.", op,
                       (long long)n, (long long)(n * (n_state + 2) + n_scalars), c->n_in);
    if (n * (n_state + 1) > c->cap)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', there is room for %d results, but %lld are needed.", op,
                       c->cap, (long long)(n * (n_state + 1)));
    for (int k = 0; k < n_scalars; k++) {
        const MsAval *s = &c->in[n * (n_state + 2) + k];
        if (s->ndim > 1 || (s->ndim == 1 && s->shape[0] != 1))
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the trailing scalar %d must have one element, but got shape %s.", op, k,
                           ms__shape_text(s->ndim, s->shape));
    }
    c->n_out = (int)n * (n_state + 1);
    for (int64_t i = 0; i < n; i++) {
        const MsAval *p = &c->in[i];
        for (int k = 1; k < n_state + 2; k++) {
            const MsAval *s = &c->in[k * n + i];
            if (s->ndim != p->ndim || memcmp(s->shape, p->shape, (size_t)p->ndim * sizeof *p->shape) != 0)
                return MS_FAIL(MS_ERROR_VALUE, "For '%s', parameter %lld has shape %s, but its %s has %s.",
                               op, (long long)i, ms__shape_text(p->ndim, p->shape),
                               k == n_state + 1 ? "gradient" : "state", ms__shape_text(s->ndim, s->shape));
        }
        for (int k = 0; k <= n_state; k++) c->out[k * n + i] = c->in[k * n + i];
    }
    return MS_OK;
}

static MsStatus infer_momentum_update(MsInfer *c)
{
    return infer_update(c, 1, 1);
}
static MsStatus infer_sgd_update(MsInfer *c)
{
    return infer_update(c, 2, 1);
}
static MsStatus infer_adamw_update(MsInfer *c)
{
    return infer_update(c, 2, 1);
}
static MsStatus infer_adam_update(MsInfer *c)
{
    return infer_update(c, c->attr[7].i ? 3 : 2, 3);
}

MS_OP(momentum_update,
      .sig =
          "momentum_update(xs: float[], *, n: int, momentum: float, weight_decay: float, grad_scale: float, "
          "nesterov: bool) -> _[]",
      .infer = infer_momentum_update, .flags = MS_OP_IN_PLACE,
      .sample =
          "f32[3,4] f32[3,4] f32[3,4] f32[] n=1 momentum=0.9 weight_decay=0.01 grad_scale=1 nesterov=0"
          "; f32[3] f16[2] f32[3] f16[2] f32[3] f16[2] f32[] n=2 momentum=0.9 weight_decay=0 grad_scale=0.5 "
          "nesterov=1");

MS_OP(sgd_update,
      .sig = "sgd_update(xs: float[], *, n: int, momentum: float, dampening: float, weight_decay: float, "
             "grad_scale: float, nesterov: bool) -> _[]",
      .infer = infer_sgd_update, .flags = MS_OP_IN_PLACE,
      .sample = "f32[3,4] f32[3,4] f32[3,4] f32[3,4] f32[] n=1 momentum=0.9 dampening=0.1 weight_decay=0.01 "
                "grad_scale=1 "
                "nesterov=0");

MS_OP(
    adam_update,
    .sig = "adam_update(xs: float[], *, n: int, beta1: float, beta2: float, eps: float, weight_decay: float, "
           "grad_scale: float, nesterov: bool, amsgrad: bool) -> _[]",
    .infer = infer_adam_update, .flags = MS_OP_IN_PLACE,
    .sample =
        "f32[3,4] f32[3,4] f32[3,4]>0 f32[3,4] f32[] f32[]<0.9 f32[]<0.9 n=1 beta1=0.9 beta2=0.999 eps=1e-8 "
        "weight_decay=0.01 grad_scale=1 nesterov=0 amsgrad=0");

MS_OP(adamw_update,
      .sig =
          "adamw_update(xs: float[], *, n: int, beta1: float, beta2: float, eps: float, weight_decay: float, "
          "grad_scale: float) -> _[]",
      .infer = infer_adamw_update, .flags = MS_OP_IN_PLACE,
      .sample =
          "f32[3,4] f32[3,4] f32[3,4]>0 f32[3,4] f32[] n=1 beta1=0.9 beta2=0.999 eps=1e-6 weight_decay=0.01 "
          "grad_scale=1");
