/* conv.c - convolution over 1 to 3 spatial axes: logical layout N C [D] [H] W, weights O I/groups [D] [H] W.
 * Three bilinear primitives describe one trilinear form <dy, conv(x, w)>: each is the gradient of the others,
 * so derivatives of every order are these three again. conv_input_grad is also the transposed convolution.
 * Refused: named padding modes and output padding; the caller turns them into explicit low/high padding and
 * an explicit input shape, so that no kernel repeats that arithmetic. */
#include "op/conv.h"
#include "mindspore_ops.h"
#include "op/batch.h"
#include "trace/trace.h"

#include <string.h>

static MsStatus check_geometry(const MsInfer *c, const MsAttr *at, int ns)
{
    static const char *const names[] = {"stride", "low", "high", "dilation"};
    for (int k = STRIDE; k <= DILATION; k++) {
        if (at[k].n != ns)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', '%s' must have %d entries, one per spatial axis, but got %d.",
                           c->op->name, names[k], ns, at[k].n);
        for (int d = 0; d < ns; d++)
            if (at[k].v[d] < (k == STRIDE || k == DILATION))
                return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' must be %s, but got %s.", c->op->name,
                               names[k], k == STRIDE || k == DILATION ? "positive" : "non-negative",
                               ms__shape_text(ns, at[k].v));
    }
    if (at[GROUPS].i < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'groups' must be positive, but got %lld.", c->op->name,
                       (long long)at[GROUPS].i);
    return MS_OK;
}

/* Output shape of a convolution of x with w. */
static MsStatus conv_shape(const MsInfer *c, const MsAttr *at, const MsAval *x, const MsAval *w, MsAval *y)
{
    const char *op = c->op->name;
    int ns = x->ndim - 2;
    if (ns < 1 || ns > 3 || w->ndim != x->ndim)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the input and the weight must have the same number of dimensions, 3 to 5, but got "
            "shapes %s and %s.",
            op, ms__shape_text(x->ndim, x->shape), ms__shape_text(w->ndim, w->shape));
    MS_TRY(check_geometry(c, at, ns));
    int64_t groups = at[GROUPS].i;
    if (x->shape[1] % groups || x->shape[1] / groups != w->shape[1])
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', a weight of shape %s takes %lld input channels (axis 1) for each of %lld groups, but "
            "got an input of shape %s.",
            op, ms__shape_text(w->ndim, w->shape), (long long)w->shape[1], (long long)groups,
            ms__shape_text(x->ndim, x->shape));
    if (w->shape[0] % groups)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the output channels must be a multiple of the %lld groups, but got a weight of shape "
            "%s.",
            op, (long long)groups, ms__shape_text(w->ndim, w->shape));
    y->ndim = x->ndim;
    y->shape[0] = x->shape[0];
    y->shape[1] = w->shape[0];
    for (int d = 0; d < ns; d++) {
        int64_t span = x->shape[d + 2] + at[LOW].v[d] + at[HIGH].v[d];
        int64_t window = at[DILATION].v[d] * (w->shape[d + 2] - 1) + 1;
        if (w->shape[d + 2] < 1 || span < window)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For '%s', the kernel must not be larger than the padded input, but on spatial axis %d the "
                "kernel spans %lld and the padded input %lld.",
                op, d, (long long)window, (long long)span);
        y->shape[d + 2] = (span - window) / at[STRIDE].v[d] + 1;
    }
    return MS_OK;
}

static MsStatus check_bias(const MsInfer *c, int64_t channels)
{
    const MsAval *b = &c->in[2];
    if (b->dtype == MS_DTYPE_NONE || (b->ndim == 1 && b->shape[0] == channels)) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'bias' must have shape (%lld,), but got %s.", c->op->name,
                   (long long)channels, ms__shape_text(b->ndim, b->shape));
}

static MsStatus infer_conv(MsInfer *c)
{
    MS_TRY(conv_shape(c, c->attr, &c->in[0], &c->in[1], &c->out[0]));
    return check_bias(c, c->out[0].shape[1]);
}

/* The shape attribute as an aval, checked against the shape that dy must then have. */
static MsStatus full_shape(const MsInfer *c, MsAval *full)
{
    const MsAttr *s = &c->attr[0];
    full->ndim = s->n;
    memcpy(full->shape, s->v, sizeof full->shape);
    for (int d = 0; d < s->n; d++)
        if (s->v[d] < 0)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'shape' must not have negative sizes, but got %s.",
                           c->op->name, ms__shape_text(s->n, s->v));
    return MS_OK;
}

static MsStatus check_dy(const MsInfer *c, const MsAval *want, const MsAval *dy)
{
    if (want->ndim == dy->ndim && memcmp(want->shape, dy->shape, (size_t)dy->ndim * sizeof *dy->shape) == 0)
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'dy' must have shape %s for these attributes, but got %s.",
                   c->op->name, ms__shape_text(want->ndim, want->shape), ms__shape_text(dy->ndim, dy->shape));
}

static MsStatus infer_conv_input_grad(MsInfer *c)
{
    MsAval want;
    MS_TRY(full_shape(c, &c->out[0]));
    MS_TRY(conv_shape(c, c->attr + 1, &c->out[0], &c->in[1], &want));
    MS_TRY(check_dy(c, &want, &c->in[0]));
    return check_bias(c, c->out[0].shape[1]);
}

static MsStatus infer_conv_weight_grad(MsInfer *c)
{
    MsAval want;
    MS_TRY(full_shape(c, &c->out[0]));
    MS_TRY(conv_shape(c, c->attr + 1, &c->in[0], &c->out[0], &want));
    return check_dy(c, &want, &c->in[1]);
}

/* ---- gradients ---- */

#define INTS(a) ((MsInts){(a).n, (a).v})
#define GEOMETRY(at)                                                                                         \
    INTS((at)[STRIDE]), INTS((at)[LOW]), INTS((at)[HIGH]), INTS((at)[DILATION]), (at)[GROUPS].i

static MsInts shape_of(const MsTensor *t)
{
    return (MsInts){ms_tensor_ndim(t), ms_tensor_shape(t)};
}

/* Sum over everything but the channels. */
static MsTensor *bias_grad(MsTensor *g)
{
    int64_t axes[] = {0, 2, 3, 4};
    return ms_sum(g, (MsInts){ms_tensor_ndim(g) - 1, axes}, false);
}

static MsStatus vjp_conv(MsVjp *c)
{
    const MsAttr *at = c->attr;
    MsTensor *x = c->in[0], *w = c->in[1], *g = c->ct[0];
    if (c->want[0]) c->grad[0] = ms_conv_input_grad(g, w, NULL, shape_of(x), GEOMETRY(at));
    if (c->want[1]) c->grad[1] = ms_conv_weight_grad(x, g, shape_of(w), GEOMETRY(at));
    if (c->in[2] && c->want[2]) c->grad[2] = bias_grad(g);
    return MS_OK;
}

static MsStatus vjp_conv_input_grad(MsVjp *c)
{
    const MsAttr *at = c->attr + 1;
    MsTensor *dy = c->in[0], *w = c->in[1], *g = c->ct[0];
    if (c->want[0]) c->grad[0] = ms_conv(g, w, NULL, GEOMETRY(at));
    if (c->want[1]) c->grad[1] = ms_conv_weight_grad(g, dy, shape_of(w), GEOMETRY(at));
    if (c->in[2] && c->want[2]) c->grad[2] = bias_grad(g);
    return MS_OK;
}

static MsStatus vjp_conv_weight_grad(MsVjp *c)
{
    const MsAttr *at = c->attr + 1;
    MsTensor *x = c->in[0], *dy = c->in[1], *g = c->ct[0];
    if (c->want[0]) c->grad[0] = ms_conv_input_grad(dy, g, NULL, shape_of(x), GEOMETRY(at));
    if (c->want[1]) c->grad[1] = ms_conv(x, g, NULL, GEOMETRY(at));
    return MS_OK;
}

/* ---- batching: more examples for one weight, otherwise more groups ---- */

static MsStatus batch_groups(MsBatch *c, int scaled)
{
    MsAttr attr[MS_MAX_ATTR];
    MsTensor *in[3] = {NULL};
    int n, at = strcmp(c->op->name, "conv") == 0 ? 0 : 1;
    ms__batch_attrs(c, attr);
    if (at) attr[0].v[scaled] *= c->size;
    attr[at + GROUPS].i *= c->size;
    for (int i = 0; i < c->n_in; i++) {
        int axis = i == 0 || (i == 1 && scaled == 0) ? 1 : 0;
        in[i] = c->in[i] ? ms__batch_join(c, i, axis) : NULL;
        if (c->in[i] && !in[i]) return ms_error()->code;
    }
    MS_TRY(ms_bind(c->op, attr, c->n_in, in, 1, c->out, &n));
    return ms__batch_split(c, 0, scaled);
}

static MsStatus batch_conv(MsBatch *c)
{
    if (c->axis[1] >= 0 || (c->in[2] && c->axis[2] >= 0)) return batch_groups(c, 1);
    MsAttr attr[MS_MAX_ATTR];
    int n;
    ms__batch_attrs(c, attr);
    if (strcmp(c->op->name, "conv") != 0) attr[0].v[0] *= c->size;
    MsTensor *in[3] = {ms__batch_join(c, 0, 0), c->in[1], c->in[2]};
    if (!in[0]) return ms_error()->code;
    MS_TRY(ms_bind(c->op, attr, c->n_in, in, 1, c->out, &n));
    return ms__batch_split(c, 0, 0);
}

/* The shape to give is that of the weight, whose outputs are axis 0. */
static MsStatus batch_weights(MsBatch *c)
{
    return batch_groups(c, 0);
}

#define G2 " stride=1,1 low=0,0 high=0,0 dilation=1,1 groups=1"
#define G4 " stride=1,1 low=1,1 high=1,1 dilation=1,1 groups=4"
#define G4B " stride=2,2 low=1,1 high=1,1 dilation=1,1 groups=4"
#define G2B " stride=2,1 low=1,0 high=0,2 dilation=1,2 groups=2"
#define G5 " stride=1,1 low=1,1 high=1,1 dilation=1,1 groups=32"
#define G3 " stride=1,1 low=1,1 high=1,1 dilation=1,1 groups=1"

MS_OP(conv,
      .sig = "conv(x: float, w: x, bias: x?, *, stride: ints, low: ints, high: ints, dilation: ints, groups: "
             "int) -> x",
      .infer = infer_conv, .batch = batch_conv, .vjp = vjp_conv,
      .sample =
          "f32[2,3,5,6] f32[4,3,3,2] f32[4]" G2 "; f32[2,4,6,5] f32[6,2,2,3] none" G2B
          "; f32[2,2,7] f32[3,2,3] f32[3] stride=2 low=1 high=1 dilation=1 groups=1"
          "; f32[1,2,3,4,5] f32[2,2,2,2,2] none stride=1,1,1 low=0,0,0 high=0,0,1 dilation=1,1,1 groups=1"
          "; f32[2,4,6,18] f32[4,1,3,3] f32[4]" G4
          "; f32[2,4,6] f32[4,2,3] f32[4] stride=1 low=1 high=1 dilation=1 groups=2"
          "; f32[2,4,7,35] f32[4,1,3,3] f32[4]" G4B "; f32[0,3,5,6] f32[4,3,3,2] f32[4]" G2
          "; bf16[1,2,4,4] bf16[2,2,3,3] bf16[2]" G2 "; f32[4,32,9,13] f32[48,32,3,3] f32[48]" G3
          "; f32[2,9,5,7] f32[40,9,1,1] f32[40]" G2 "; f32[1,32,3,9] f32[32,1,3,3] f32[32]" G5
          "; f32[2,3,9,23] f32[32,3,5,3] f32[32] stride=2,2 low=2,1 high=1,2 dilation=1,1 groups=1");

MS_OP(conv_input_grad,
      .sig =
          "conv_input_grad(dy: float, w: dy, bias: dy?, *, shape: ints, stride: ints, low: ints, high: ints, "
          "dilation: ints, groups: int) -> dy",
      .infer = infer_conv_input_grad, .batch = batch_conv, .vjp = vjp_conv_input_grad,
      .sample = "f32[2,4,3,5] f32[4,3,3,2] f32[3] shape=2,3,5,6" G2
                "; f32[2,6,3,3] f32[6,2,2,3] none shape=2,4,6,5" G2B
                "; f32[2,4,6,18] f32[4,1,3,3] none shape=2,4,6,18" G4
                "; f32[4,48,9,13] f32[48,32,3,3] f32[32] shape=4,32,9,13" G3);

MS_OP(conv_weight_grad,
      .sig = "conv_weight_grad(x: float, dy: x, *, shape: ints, stride: ints, low: ints, high: ints, "
             "dilation: ints, "
             "groups: int) -> x",
      .infer = infer_conv_weight_grad, .batch = batch_weights, .vjp = vjp_conv_weight_grad,
      .sample = "f32[2,3,5,6] f32[2,4,3,5] shape=4,3,3,2" G2 "; f32[2,4,6,5] f32[2,6,3,3] shape=6,2,2,3" G2B
                "; f32[2,4,6,18] f32[2,4,6,18] shape=4,1,3,3" G4
                "; f32[2,4,7,35] f32[2,4,4,18] shape=4,1,3,3" G4B
                "; f32[4,32,9,13] f32[4,48,9,13] shape=48,32,3,3" G3);
