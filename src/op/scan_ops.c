/* scan_ops.c - running sums, products, maxima and minima along an axis. Sums of floats are carried in double.
 */
#include "op/rules.h"
#include "op/view.h"

#include "mindspore_ops.h"

static MsStatus infer_cum(MsInfer *c)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0].ndim, &axis));
    for (int j = 0; j < c->n_out; j++) {
        MsDtype dtype = c->out[j].dtype;
        c->out[j] = c->in[0];
        c->out[j].dtype = dtype;
    }
    return MS_OK;
}

/* The batch axis in front; a 0-d example becomes a column. */
static MsTensor *column(MsBatch *c, int *axis, bool *lone)
{
    MsTensor *x = ms__batch_front(c, 0);
    if (!x || ms__axis(c->op, c->attr[0].i, x->ndim - 1, axis) != MS_OK) return NULL;
    *lone = x->ndim == 1;
    *axis += 1;
    return *lone ? ms_reshape(x, MS_INTS(x->numel, 1)) : x;
}

static MsStatus batched(MsBatch *c, bool lone)
{
    for (int j = 0; j < c->n_out; j++) {
        if (lone) c->out[j] = ms_reshape(c->out[j], MS_INTS(c->size));
        c->out_axis[j] = 0;
    }
    return ms__status_of(c->out[0]);
}

/* ---- cumsum ---- */

static MsStatus vjp_cumsum(MsVjp *c)
{
    c->grad[0] = ms_cumsum(c->ct[0], c->attr[0].i, !c->attr[1].i, c->attr[2].i);
    return MS_OK;
}

static MsStatus batch_cumsum(MsBatch *c)
{
    int axis = 0;
    bool lone = false;
    MsTensor *x = column(c, &axis, &lone);
    c->out[0] = x ? ms_cumsum(x, axis, c->attr[1].i, c->attr[2].i) : NULL;
    return batched(c, lone);
}

MS_OP(
    cumsum, .sig = "cumsum(x: num, *, axis: int, reverse: bool, exclusive: bool) -> x", .infer = infer_cum,
    .vjp = vjp_cumsum, .batch = batch_cumsum,
    .sample =
        "f32[3,4] axis=1; f32[3,4] axis=0 reverse exclusive; f32[0,2] axis=0; bf16[5] axis=0; f32[] axis=0");

/* ---- cumprod ---- */

/* y_j = prod of x_k, k <= j. Where no zero precedes, grad_i = sum_{j >= i} ct_j y_j / x_i. At the first zero
 * the products are taken with a one in its place; behind it every product is zero. */
static MsStatus vjp_cumprod(MsVjp *c)
{
    MsTensor *x = c->in[0], *y = c->out[0], *g = ms__conj(c->ct[0]);
    int64_t axis = c->attr[0].i;
    bool rev = c->attr[1].i, excl = c->attr[2].i;
    MsTensor *zero = ms__zeros_like(x), *is_zero = ms_eq(x, zero);
    MsTensor *seen = ms_cumsum(ms_cast(is_zero, MS_INT64), axis, rev, false);
    MsTensor *none = ms_full_int((MsInts){0, NULL}, 0, MS_INT64),
             *one = ms_full_int((MsInts){0, NULL}, 1, MS_INT64);
    MsTensor *before = ms_eq(seen, none), *first = ms_logical_and(is_zero, ms_eq(seen, one));
    MsTensor *unit = ms_full(ms__shape_of(x), 1, (MsDtype)x->dtype);
    MsTensor *plain = ms_div(ms_cumsum(ms_mul(g, y), axis, !rev, excl), ms_where(is_zero, unit, x));
    MsTensor *others = ms_cumprod(ms_where(first, unit, x), axis, rev, excl);
    MsTensor *at_zero = ms_cumsum(ms_mul(g, others), axis, !rev, excl);
    c->grad[0] = ms__conj(ms_where(before, plain, ms_where(first, at_zero, zero)));
    return MS_OK;
}

static MsStatus batch_cumprod(MsBatch *c)
{
    int axis = 0;
    bool lone = false;
    MsTensor *x = column(c, &axis, &lone);
    c->out[0] = x ? ms_cumprod(x, axis, c->attr[1].i, c->attr[2].i) : NULL;
    return batched(c, lone);
}

MS_OP(cumprod, .sig = "cumprod(x: num, *, axis: int, reverse: bool, exclusive: bool) -> x",
      .infer = infer_cum, .vjp = vjp_cumprod, .batch = batch_cumprod,
      .sample =
          "f32[3,4] axis=1; f32[3,4] axis=0 reverse; f32[5] axis=0 exclusive; f32[0,2] axis=0; f32[] axis=0; "
          "c64[2,3] axis=1");

/* ---- cummax, cummin ---- */

static MsStatus vjp_cumbest(MsVjp *c)
{
    if (c->ct[0] && c->want[0])
        c->grad[0] = ms_put_along(ms__zeros_like(c->in[0]), c->out[1], c->ct[0], c->attr[0].i, "add");
    return MS_OK;
}

static MsStatus batch_cummax(MsBatch *c)
{
    int axis = 0;
    bool lone = false;
    MsTensor *x = column(c, &axis, &lone);
    MS_TRY(ms_cummax(x, axis, c->out));
    return batched(c, lone);
}

static MsStatus batch_cummin(MsBatch *c)
{
    int axis = 0;
    bool lone = false;
    MsTensor *x = column(c, &axis, &lone);
    MS_TRY(ms_cummin(x, axis, c->out));
    return batched(c, lone);
}

/* The best so far and where it is (the latest of equals); NaN stays. */
MS_OP(cummax, .sig = "cummax(x: real, *, axis: int) -> x, int64", .infer = infer_cum, .vjp = vjp_cumbest,
      .batch = batch_cummax, .sample = "f32[3,4] axis=1; f32[4,2] axis=0; i32[0] axis=0; f32[] axis=0");
MS_OP(cummin, .sig = "cummin(x: real, *, axis: int) -> x, int64", .infer = infer_cum, .vjp = vjp_cumbest,
      .batch = batch_cummin, .sample = "f32[3,4] axis=1; f32[4,2] axis=0; i32[0] axis=0; f32[] axis=0");
