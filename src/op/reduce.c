/* reduce.c - reductions: shape rules and gradients. Axes none or empty mean all of them. Sums keep the dtype
 * here and wrap for integers; the public functions widen first. */
#include "op/batch.h"
#include "op/rules.h"
#include "op/view.h"

#include <string.h>

static bool flag(const MsAttr *a)
{
    return a->kind == MS_ATTR_BOOL && a->i;
}

/* Shape of x without the axes of mask (or with size 1 in their place). */
static void reduced(const MsAval *x, uint32_t mask, bool keep, MsAval *out)
{
    int nd = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!(mask >> d & 1))
            out->shape[nd++] = x->shape[d];
        else if (keep)
            out->shape[nd++] = 1;
    }
    out->ndim = nd;
}

static MsStatus infer_reduce(MsInfer *c)
{
    uint32_t mask;
    MS_TRY(ms__axes(c->op, &c->attr[0], c->in[0].ndim, &mask));
    reduced(&c->in[0], mask, flag(&c->attr[1]), &c->out[0]);
    return MS_OK;
}

/* A maximum of nothing does not exist. */
static MsStatus infer_extremum(MsInfer *c)
{
    uint32_t mask;
    const MsAval *x = &c->in[0];
    MS_TRY(infer_reduce(c));
    MS_TRY(ms__axes(c->op, &c->attr[0], x->ndim, &mask));
    for (int d = 0; d < x->ndim; d++)
        if ((mask >> d & 1) && x->shape[d] == 0)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the axis %d of size 0 has no extremum.", c->op->name,
                           d);
    return MS_OK;
}

/* ---- gradients ---- */

/* t as it would be with keepdims, so that it broadcasts against x. */
static MsTensor *with_axes(MsVjp *c, MsTensor *t)
{
    MsTensor *x = c->in[0];
    uint32_t mask;
    if (!t || ms__axes(c->op, &c->attr[0], ms_tensor_ndim(x), &mask) != MS_OK) return NULL;
    if (ms_tensor_ndim(t) == ms_tensor_ndim(x)) return t;
    MsAval a = ms__aval(x), k;
    reduced(&a, mask, true, &k);
    return ms_reshape(t, (MsInts){k.ndim, k.shape});
}

static MsTensor *like(MsTensor *t, MsTensor *x)
{
    return ms_broadcast_to(t, (MsInts){ms_tensor_ndim(x), ms_tensor_shape(x)});
}

static int64_t count(MsVjp *c)
{
    uint32_t mask;
    int64_t n = 1;
    if (ms__axes(c->op, &c->attr[0], ms_tensor_ndim(c->in[0]), &mask) != MS_OK) return 0;
    for (int d = 0; d < ms_tensor_ndim(c->in[0]); d++)
        if (mask >> d & 1) n *= ms_tensor_shape(c->in[0])[d];
    return n;
}

static MsStatus done(MsVjp *c)
{
    return c->grad[0] ? MS_OK : ms_error()->code;
}

static MsStatus vjp_sum(MsVjp *c)
{
    c->grad[0] = like(with_axes(c, c->ct[0]), c->in[0]);
    return done(c);
}

static MsStatus vjp_mean(MsVjp *c)
{
    MsTensor *g = with_axes(c, c->ct[0]);
    c->grad[0] = like(ms_div(g, ms__constant(g, (double)count(c))), c->in[0]);
    return done(c);
}

/* Ties share evenly, as in PyTorch's amax; a cotangent of integers in whole numbers. */
static MsStatus vjp_extremum(MsVjp *c)
{
    MsTensor *x = c->in[0], *y = with_axes(c, c->out[0]), *g = with_axes(c, c->ct[0]);
    MsTensor *hit = ms_cast(ms_logical_or(ms_eq(x, y), ms_is_nan(x)), ms_tensor_dtype(g));
    MsTensor *n = ms_sum(hit, c->attr[0].kind ? (MsInts){c->attr[0].n, c->attr[0].v} : MS_INTS_NONE, true);
    bool whole = g && !ms_dtype_is_float(ms_tensor_dtype(g));
    c->grad[0] = ms_mul(hit, whole ? ms_floor_div(g, n) : ms_div(g, n));
    return done(c);
}

/* The product of the others: y / x where x is not 0, and by cases for one zero; exact and differentiable
 * again. */
static MsStatus vjp_prod(MsVjp *c)
{
    MsTensor *x = c->in[0], *y = with_axes(c, c->out[0]), *g = with_axes(c, c->ct[0]);
    MsInts axes = c->attr[0].kind ? (MsInts){c->attr[0].n, c->attr[0].v} : MS_INTS_NONE;
    MsTensor *zero = ms__constant(x, 0), *is_zero = ms_eq(x, zero);
    MsTensor *safe = ms_where(is_zero, ms__constant(x, 1), x);
    MsTensor *rest = ms_prod(safe, axes, true);
    MsTensor *zeros = ms_sum(ms_cast(is_zero, MS_INT64), axes, true);
    MsTensor *one = ms_eq(zeros, ms__constant(zeros, 1));
    MsTensor *d = ms_where(ms_logical_and(one, is_zero), rest, ms_where(is_zero, zero, ms_div(y, safe)));
    c->grad[0] = ms_mul(g, ms__conj(d));
    return done(c);
}

MS_OP(sum, .sig = "sum(x: any, *, axis: ints, keepdims: bool) -> x", .infer = infer_reduce,
      .batch = ms__batch_axes, .vjp = vjp_sum,
      .sample = "f32[3,4]; f32[3,4] axis=1; f32[2,3,4] axis=0,2 keepdims; f16[2,3,4] axis=1; f64[]; i8[5]; "
                "bool[3,2] axis=0; "
                "c64[3] axis=-1 keepdims; f32[0,3] axis=0; f32[3,0] axis=0");
MS_OP(
    prod, .sig = "prod(x: any, *, axis: ints, keepdims: bool) -> x", .infer = infer_reduce,
    .batch = ms__batch_axes, .vjp = vjp_prod,
    .sample =
        "f32[3,4]; f32[3,4] axis=1; f64[2,3,2] axis=0,2 keepdims; i32[5]; bool[3,2] axis=0; f32[0,3] axis=0; "
        "c64[2,3] axis=1");
MS_OP(mean, .sig = "mean(x: floatc, *, axis: ints, keepdims: bool) -> x", .infer = infer_reduce,
      .batch = ms__batch_axes, .vjp = vjp_mean,
      .sample = "f32[3,4]; f32[3,4] axis=1; f64[2,3,4] axis=0,2 keepdims; bf16[2,3] axis=1; c64[3]");
MS_OP(
    reduce_max, .sig = "reduce_max(x: ordered, *, axis: ints, keepdims: bool) -> x", .infer = infer_extremum,
    .batch = ms__batch_axes, .vjp = vjp_extremum,
    .sample =
        "f32[3,4]; f32[3,4] axis=1; f64[2,3,4] axis=0,2 keepdims; i8[5]; bool[3,2] axis=0; f16[3,2] axis=0");
MS_OP(reduce_min, .sig = "reduce_min(x: ordered, *, axis: ints, keepdims: bool) -> x",
      .infer = infer_extremum, .batch = ms__batch_axes, .vjp = vjp_extremum,
      .sample = "f32[3,4]; f32[3,4] axis=1; f64[2,3,4] axis=0,2 keepdims; u16[5]; bool[3,2] axis=0");
MS_OP(reduce_all, .sig = "reduce_all(x: bool, *, axis: ints, keepdims: bool) -> x", .infer = infer_reduce,
      .batch = ms__batch_axes, .flags = MS_OP_NO_GRAD,
      .sample = "bool[3,4]; bool[3,4] axis=1; bool[2,3,4] axis=0,2 keepdims; bool[0,3] axis=0");
MS_OP(reduce_any, .sig = "reduce_any(x: bool, *, axis: ints, keepdims: bool) -> x", .infer = infer_reduce,
      .batch = ms__batch_axes, .flags = MS_OP_NO_GRAD,
      .sample = "bool[3,4]; bool[3,4] axis=1; bool[2,3,4] axis=0,2 keepdims; bool[0,3] axis=0");

/* ---- sum_to: undoes broadcasting ---- */

static MsStatus infer_sum_to(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    const MsAttr *s = &c->attr[0];
    int lead = x->ndim - s->n;
    bool fits = lead >= 0;
    for (int d = 0; d < s->n && fits; d++) fits = s->v[d] == 1 || s->v[d] == x->shape[d + lead];
    if (!fits)
        return MS_FAIL(MS_ERROR_VALUE, "For 'sum_to', the shape %s does not broadcast to %s.",
                       ms__shape_text(s->n, s->v), ms__shape_text(x->ndim, x->shape));
    c->out[0].ndim = s->n;
    for (int d = 0; d < s->n; d++) c->out[0].shape[d] = s->v[d];
    return MS_OK;
}

static MsStatus vjp_sum_to(MsVjp *c)
{
    c->grad[0] = like(c->ct[0], c->in[0]);
    return done(c);
}

/* The axes that the sum drops stand between the batch and the rest. */
static MsStatus batch_sum_to(MsBatch *c)
{
    MsTensor *x = ms__batch_front(c, 0);
    if (!x) return ms_error()->code;
    int n = c->attr[0].n, lead = x->ndim - 1 - n;
    int64_t shape[MS_MAX_DIM] = {c->size}, out[MS_MAX_DIM] = {c->size};
    for (int d = 0; d < lead; d++) shape[d + 1] = 1;
    memcpy(shape + 1 + lead, c->attr[0].v, (size_t)n * sizeof *shape);
    memcpy(out + 1, c->attr[0].v, (size_t)n * sizeof *out);
    c->out_axis[0] = 0;
    c->out[0] = ms_reshape(ms_sum_to(x, (MsInts){x->ndim, shape}), (MsInts){n + 1, out});
    return ms__status_of(c->out[0]);
}

MS_OP(sum_to, .sig = "sum_to(x: any, *, shape: ints) -> x", .infer = infer_sum_to, .vjp = vjp_sum_to,
      .batch = batch_sum_to,
      .sample = "f32[2,3,4] shape=3,1; f32[3,4] shape=3,4; f16[3,4] shape=4; f64[3] shape=; i32[2,3] "
                "shape=1,3; f32[0,3] shape=3");

/* ---- variance ---- */

static MsStatus vjp_var(MsVjp *c)
{
    MsTensor *x = c->in[0], *g = with_axes(c, c->ct[0]);
    MsInts axes = c->attr[0].kind ? (MsInts){c->attr[0].n, c->attr[0].v} : MS_INTS_NONE;
    double n = (double)(count(c) - c->attr[2].i);
    c->grad[0] = ms_mul(ms__scale(g, 2 / (n > 0 ? n : 0)), ms_sub(x, ms_mean(x, axes, true)));
    return done(c);
}

MS_OP(var, .sig = "var(x: float, *, axis: ints, keepdims: bool, correction: int) -> x", .infer = infer_reduce,
      .batch = ms__batch_axes, .vjp = vjp_var,
      .sample = "f32[3,4]; f32[3,4] axis=1 correction=1; f64[2,3,4] axis=0,2 keepdims; f16[2,3,4] axis=1; "
                "f32[5,1] axis=1");

/* ---- along one axis ---- */

static MsStatus infer_axis(MsInfer *c)
{
    int d;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0].ndim, &d));
    c->out[0].ndim = c->in[0].ndim;
    for (int k = 0; k < c->in[0].ndim; k++) c->out[0].shape[k] = c->in[0].shape[k];
    return MS_OK;
}

static MsStatus infer_arg(MsInfer *c)
{
    int d;
    const MsAval *x = &c->in[0];
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &d));
    if (x->ndim > 0 && x->shape[d] == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the axis %d of size 0 has no extremum.", c->op->name, d);
    reduced(x, x->ndim > 0 ? 1u << d : 0, flag(&c->attr[1]), &c->out[0]);
    return MS_OK;
}

MS_OP(
    argmax, .sig = "argmax(x: ordered, *, axis: int, keepdims: bool) -> int64", .infer = infer_arg,
    .batch = ms__batch_axes, .flags = MS_OP_NO_GRAD,
    .sample = "f32[3,4] axis=1; i32[2,3,4] axis=0 keepdims; f16[5] axis=-1; bool[2,2] axis=0; f64[] axis=0");
MS_OP(argmin, .sig = "argmin(x: ordered, *, axis: int, keepdims: bool) -> int64", .infer = infer_arg,
      .batch = ms__batch_axes, .flags = MS_OP_NO_GRAD,
      .sample = "f32[3,4] axis=1; u8[2,3,4] axis=0 keepdims; bf16[5] axis=-1; f64[] axis=0");

static MsInts axis_of(MsVjp *c)
{
    return (MsInts){1, &c->attr[0].i};
}

static MsStatus vjp_softmax(MsVjp *c)
{
    MsTensor *y = c->out[0], *gy = ms_mul(c->ct[0], y);
    c->grad[0] = ms_sub(gy, ms_mul(y, ms_sum(gy, axis_of(c), true)));
    return done(c);
}

static MsStatus vjp_log_softmax(MsVjp *c)
{
    MsTensor *g = c->ct[0];
    c->grad[0] = ms_sub(g, ms_mul(ms_exp(c->out[0]), ms_sum(g, axis_of(c), true)));
    return done(c);
}

MS_OP(softmax, .sig = "softmax(x: float, *, axis: int) -> x", .infer = infer_axis, .batch = ms__batch_axes,
      .vjp = vjp_softmax,
      .sample = "f32[3,4] axis=1; f64[2,3,4] axis=1; f16[5] axis=-1; bf16[3,4] axis=0; f32[] axis=0");
MS_OP(log_softmax, .sig = "log_softmax(x: float, *, axis: int) -> x", .infer = infer_axis,
      .batch = ms__batch_axes, .vjp = vjp_log_softmax,
      .sample = "f32[3,4] axis=1; f64[2,3,4] axis=1; f16[5] axis=-1; bf16[3,4] axis=0");

static MsStatus vjp_logsumexp(MsVjp *c)
{
    MsTensor *g = with_axes(c, c->ct[0]), *y = with_axes(c, c->out[0]);
    c->grad[0] = ms_mul(g, ms_exp(ms_sub(c->in[0], y)));
    return done(c);
}

MS_OP(logsumexp, .sig = "logsumexp(x: float, *, axis: ints, keepdims: bool) -> x", .infer = infer_reduce,
      .batch = ms__batch_axes, .vjp = vjp_logsumexp,
      .sample = "f32[3,4]; f32[3,4] axis=1; f64[2,3,4] axis=0,2 keepdims; f16[5] axis=-1");
