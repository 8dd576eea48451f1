/* pool.c - pooling over 1 to 3 spatial axes of N C [D] [H] W. max_pool also gives the flat position of each
 * maximum in its input plane (-1 for a window that lies in the padding alone), which is all that its gradient
 * needs; max_pool_grad scatters by it and max_pool_take gathers by it: each is the other's gradient. avg_pool
 * and avg_pool_grad are each other's likewise. NaN wins a maximum. Refused: ceil_mode and named paddings;
 * callers give explicit low/high padding, and a divisor of 1 where a window's count is irregular. The windows of
 * adaptive_avg_pool cover an axis whatever its size. */
#include "mindspore_ops.h"
#include "op/batch.h"

#include <string.h>

#define INTS(a) ((MsInts){(a).n, (a).v})

static MsInts shape_of(const MsTensor *t)
{
    return (MsInts){ms_tensor_ndim(t), ms_tensor_shape(t)};
}

static MsStatus check_ints(const MsInfer *c, const MsAttr *a, const char *name, int ns, int64_t least)
{
    if (a->n != ns)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', '%s' must have %d entries, one per spatial axis, but got %d.", c->op->name,
                       name, ns, a->n);
    for (int d = 0; d < ns; d++)
        if (a->v[d] < least)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' must be at least %lld, but got %s.", c->op->name,
                           name, (long long)least, ms__shape_text(ns, a->v));
    return MS_OK;
}

/* at = kernel, stride, low, high[, dilation] -> the pooled shape of x. */
static MsStatus pool_shape(const MsInfer *c, const MsAttr *at, bool dilated, const MsAval *x, MsAval *y)
{
    static const char *const names[] = {"kernel", "stride", "low", "high", "dilation"};
    int ns = x->ndim - 2;
    if (ns < 1 || ns > 3)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have 3 to 5 dimensions, but got shape %s.",
                       c->op->name, ms__shape_text(x->ndim, x->shape));
    for (int k = 0; k < 4 + dilated; k++)
        MS_TRY(check_ints(c, &at[k], names[k], ns, k == 2 || k == 3 ? 0 : 1));
    y->ndim = x->ndim;
    y->shape[0] = x->shape[0];
    y->shape[1] = x->shape[1];
    for (int d = 0; d < ns; d++) {
        int64_t span = x->shape[d + 2] + at[2].v[d] + at[3].v[d];
        int64_t window = (dilated ? at[4].v[d] : 1) * (at[0].v[d] - 1) + 1;
        if (span < window || x->shape[d + 2] == 0)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For '%s', the window must not be larger than the padded input, but on spatial axis %d the "
                "window spans %lld and the padded input %lld.",
                c->op->name, d, (long long)window, (long long)span);
        y->shape[d + 2] = (span - window) / at[1].v[d] + 1;
    }
    return MS_OK;
}

static MsStatus infer_max_pool(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    MS_TRY(pool_shape(c, c->attr, true, x, &c->out[0]));
    int64_t span = 0; /* positions in the plane from the first to the last of a window */
    for (int d = 2; d < x->ndim; d++) {
        int64_t window = c->attr[4].v[d - 2] * (c->attr[0].v[d - 2] - 1);
        span = span * x->shape[d] + (window < x->shape[d] ? window : x->shape[d]);
    }
    if (span > INT32_MAX)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'max_pool', a window must span less than 2^31 positions, but got %lld.",
                       (long long)span);
    c->out[1].ndim = c->out[0].ndim;
    memcpy(c->out[1].shape, c->out[0].shape, sizeof c->out[0].shape);
    return MS_OK;
}

static MsStatus same_shape(const MsInfer *c, const char *a, const MsAval *x, const char *b, const MsAval *y)
{
    if (x->ndim == y->ndim && memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape) == 0)
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' and '%s' must have the same shape, but got %s and %s.",
                   c->op->name, a, b, ms__shape_text(x->ndim, x->shape), ms__shape_text(y->ndim, y->shape));
}

static MsStatus set_shape(const MsInfer *c, const MsAttr *s, const MsAval *dy, MsAval *y)
{
    if (s->n != dy->ndim || s->n < 3 || s->v[0] != dy->shape[0] || s->v[1] != dy->shape[1])
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', 'shape' must agree with the input on the first two of 3 to 5 axes, but got %s and %s.",
            c->op->name, ms__shape_text(s->n, s->v), ms__shape_text(dy->ndim, dy->shape));
    MS_TRY(check_ints(c, s, "shape", s->n, 0));
    y->ndim = s->n;
    memcpy(y->shape, s->v, sizeof y->shape);
    return MS_OK;
}

static MsStatus infer_max_pool_grad(MsInfer *c)
{
    MS_TRY(same_shape(c, "dy", &c->in[0], "index", &c->in[1]));
    return set_shape(c, &c->attr[0], &c->in[0], &c->out[0]);
}

static MsStatus infer_max_pool_take(MsInfer *c)
{
    const MsAval *x = &c->in[0], *index = &c->in[1];
    if (x->ndim != index->ndim || x->ndim < 3 || x->shape[0] != index->shape[0] ||
        x->shape[1] != index->shape[1])
        return MS_FAIL(
            MS_ERROR_VALUE, "For '%s', 'x' and 'index' must agree on the first two axes, but got %s and %s.",
            c->op->name, ms__shape_text(x->ndim, x->shape), ms__shape_text(index->ndim, index->shape));
    c->out[0].ndim = index->ndim;
    memcpy(c->out[0].shape, index->shape, sizeof index->shape);
    return MS_OK;
}

static MsStatus vjp_max_pool(MsVjp *c)
{
    if (c->ct[0]) c->grad[0] = ms_max_pool_grad(c->ct[0], c->out[1], shape_of(c->in[0]));
    return MS_OK;
}

static MsStatus vjp_max_pool_grad(MsVjp *c)
{
    if (c->want[0]) c->grad[0] = ms_max_pool_take(c->ct[0], c->in[1]);
    return MS_OK;
}

static MsStatus vjp_max_pool_take(MsVjp *c)
{
    if (c->want[0]) c->grad[0] = ms_max_pool_grad(c->ct[0], c->in[1], shape_of(c->in[0]));
    return MS_OK;
}

#define P2 " kernel=2,2 stride=2,2 low=0,0 high=0,0"
#define P3 " kernel=3,2 stride=2,1 low=1,0 high=0,1"

MS_OP(max_pool,
      .sig = "max_pool(x: float, *, kernel: ints, stride: ints, low: ints, high: ints, dilation: ints) -> x, "
             "int64",
      .infer = infer_max_pool, .batch = ms__batch_examples, .vjp = vjp_max_pool,
      .sample = "f32[2,3,4,6]" P2 " dilation=1,1; f32[1,2,6,5]" P3 " dilation=1,2; f16[2,3,4,6]" P2
                " dilation=1,1"
                "; f32[1,2,7] kernel=3 stride=2 low=1 high=1 dilation=1"
                "; f32[1,2,3,4,4] kernel=2,2,2 stride=1,2,2 low=0,0,0 high=0,0,0 dilation=1,1,1"
                "; f32[0,3,4,6]" P2 " dilation=1,1");

MS_OP(max_pool_grad, .sig = "max_pool_grad(dy: float, index: int64, *, shape: ints) -> dy",
      .infer = infer_max_pool_grad, .batch = ms__batch_examples, .vjp = vjp_max_pool_grad,
      .sample = "f32[2,3,2,3] i64[2,3,2,3]<24 shape=2,3,4,6");

MS_OP(max_pool_take, .sig = "max_pool_take(x: float, index: int64) -> x", .infer = infer_max_pool_take,
      .batch = ms__batch_examples, .vjp = vjp_max_pool_take, .sample = "f32[2,3,4,6] i64[2,3,2,3]<24");

/* ---- average ---- */

enum {
    KERNEL,
    STRIDE,
    LOW,
    HIGH,
    COUNT_PAD,
    DIVISOR
};

static MsStatus infer_avg_pool(MsInfer *c)
{
    if (c->attr[DIVISOR].i < 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'avg_pool', 'divisor' must be positive, or 0 for the size of the window, "
                       "but got %lld.",
                       (long long)c->attr[DIVISOR].i);
    return pool_shape(c, c->attr, false, &c->in[0], &c->out[0]);
}

static MsStatus infer_avg_pool_grad(MsInfer *c)
{
    MsAval want = {0};
    MS_TRY(set_shape(c, &c->attr[0], &c->in[0], &c->out[0]));
    MS_TRY(pool_shape(c, c->attr + 1, false, &c->out[0], &want));
    return same_shape(c, "dy", &c->in[0], "the pooled shape", &want);
}

#define WINDOW(at)                                                                                           \
    INTS((at)[KERNEL]), INTS((at)[STRIDE]), INTS((at)[LOW]), INTS((at)[HIGH]), (at)[COUNT_PAD].i,            \
        (at)[DIVISOR].i

static MsStatus vjp_avg_pool(MsVjp *c)
{
    c->grad[0] = ms_avg_pool_grad(c->ct[0], shape_of(c->in[0]), WINDOW(c->attr));
    return MS_OK;
}

static MsStatus vjp_avg_pool_grad(MsVjp *c)
{
    c->grad[0] = ms_avg_pool(c->ct[0], WINDOW(c->attr + 1));
    return MS_OK;
}

MS_OP(avg_pool,
      .sig = "avg_pool(x: float, *, kernel: ints, stride: ints, low: ints, high: ints, count_pad: bool, "
             "divisor: int) "
             "-> x",
      .infer = infer_avg_pool, .batch = ms__batch_examples, .vjp = vjp_avg_pool,
      .sample = "f32[2,3,4,6]" P2 " count_pad=1 divisor=0; f32[1,2,6,5]" P3 " count_pad=0 divisor=0"
                "; f32[1,2,6,5]" P3 " count_pad=1 divisor=0; f32[1,2,6,5]" P3 " count_pad=1 divisor=3"
                "; bf16[1,2,7] kernel=3 stride=2 low=1 high=1 count_pad=0 divisor=0"
                "; f32[1,2,3,4,4] kernel=2,2,2 stride=1,2,2 low=0,0,0 high=0,0,0 count_pad=1 divisor=0"
                "; f32[0,3,4,6]" P2 " count_pad=1 divisor=0");

MS_OP(avg_pool_grad,
      .sig = "avg_pool_grad(dy: float, *, shape: ints, kernel: ints, stride: ints, low: ints, high: ints, "
             "count_pad: bool, divisor: int) -> dy",
      .infer = infer_avg_pool_grad, .batch = ms__batch_examples, .vjp = vjp_avg_pool_grad,
      .sample = "f32[2,3,2,3] shape=2,3,4,6" P2 " count_pad=1 divisor=0"
                "; f32[1,2,3,5] shape=1,2,6,5" P3 " count_pad=0 divisor=0");

/* ---- adaptive: window o of an axis is [floor(o in / out), ceil((o + 1) in / out)) ---- */

static MsStatus infer_adaptive(MsInfer *c)
{
    MS_TRY(set_shape(c, &c->attr[0], &c->in[0], &c->out[0]));
    for (int d = 2; d < c->out[0].ndim; d++)
        if (c->out[0].shape[d] < 1 || c->in[0].shape[d] < 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the spatial axes must not be empty, but got %s and %s.",
                           c->op->name, ms__shape_text(c->in[0].ndim, c->in[0].shape),
                           ms__shape_text(c->out[0].ndim, c->out[0].shape));
    return MS_OK;
}

static MsStatus vjp_adaptive(MsVjp *c)
{
    c->grad[0] = ms_adaptive_avg_pool_grad(c->ct[0], shape_of(c->in[0]));
    return MS_OK;
}

static MsStatus vjp_adaptive_grad(MsVjp *c)
{
    c->grad[0] = ms_adaptive_avg_pool(c->ct[0], shape_of(c->in[0]));
    return MS_OK;
}

MS_OP(adaptive_avg_pool, .sig = "adaptive_avg_pool(x: float, *, shape: ints) -> x", .infer = infer_adaptive,
      .batch = ms__batch_examples, .vjp = vjp_adaptive,
      .sample = "f32[2,3,7,6] shape=2,3,3,4; f32[2,2,20] shape=2,2,3; f32[1,2,3,4,5] shape=1,2,2,3,2"
                "; bf16[1,2,7] shape=1,2,3; f32[0,2,7] shape=0,2,3");

MS_OP(adaptive_avg_pool_grad, .sig = "adaptive_avg_pool_grad(dy: float, *, shape: ints) -> dy",
      .infer = infer_adaptive, .batch = ms__batch_examples, .vjp = vjp_adaptive_grad,
      .sample = "f32[2,3,3,4] shape=2,3,7,6; f32[1,2,3] shape=1,2,7");
