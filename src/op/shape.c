/* shape.c - operators that rearrange elements into new storage: flip, pad, concat, tril, triu. Their
 * gradients are operators of the same kind. pad with negative amounts crops, so that it is its own inverse.
 */
#include "op/view.h"

#include "core/mem.h"
#include "mindspore_ops.h"

#include <stdlib.h>
#include <string.h>

/* ---- flip ---- */

static MsStatus infer_flip(MsInfer *c)
{
    uint32_t mask;
    MS_TRY(ms__axes(c->op, &c->attr[0], c->in[0].ndim, &mask));
    c->out[0] = c->in[0];
    return MS_OK;
}

static MsStatus vjp_flip(MsVjp *c)
{
    c->grad[0] =
        ms_flip(c->ct[0], c->attr[0].kind == MS_ATTR_NONE ? MS_INTS_NONE : ms__attr_ints(&c->attr[0]));
    return MS_OK;
}

static MsStatus batch_flip(MsBatch *c)
{
    MsTensor *x = ms__batch_front(c, 0);
    uint32_t mask;
    if (!x) return ms_error()->code;
    MS_TRY(ms__axes(c->op, &c->attr[0], x->ndim - 1, &mask));
    int64_t axis[MS_MAX_DIM];
    int n = 0;
    for (int d = 0; d + 1 < x->ndim; d++)
        if (mask >> d & 1) axis[n++] = d + 1;
    c->out[0] = n ? ms_flip(x, (MsInts){n, axis}) : x;
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* Reverses the order along the axes (none given: all). */
MS_OP(flip, .sig = "flip(x: any, *, axis: ints) -> x", .infer = infer_flip, .vjp = vjp_flip,
      .batch = batch_flip,
      .sample = "f32[3,4] axis=1; f32[2,3,2] axis=0,-1; f32[0,3] axis=0; bf16[5] axis=0");

/* ---- pad ---- */

static MsStatus infer_pad(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    if (c->attr[0].n != x->ndim || c->attr[1].n != x->ndim)
        return MS_FAIL(MS_ERROR_VALUE, "For 'pad', 'low' and 'high' must have %d entries, but got %d and %d.",
                       x->ndim, c->attr[0].n, c->attr[1].n);
    c->out[0].ndim = x->ndim;
    for (int d = 0; d < x->ndim; d++) {
        c->out[0].shape[d] = x->shape[d] + c->attr[0].v[d] + c->attr[1].v[d];
        if (c->out[0].shape[d] < 0)
            return MS_FAIL(
                MS_ERROR_VALUE, "For 'pad', low %lld and high %lld remove more than axis %d of shape %s.",
                (long long)c->attr[0].v[d], (long long)c->attr[1].v[d], d, ms__shape_text(x->ndim, x->shape));
    }
    return MS_OK;
}

static MsStatus vjp_pad(MsVjp *c)
{
    int64_t low[MS_MAX_DIM], high[MS_MAX_DIM];
    int nd = c->attr[0].n;
    for (int d = 0; d < nd; d++) low[d] = -c->attr[0].v[d], high[d] = -c->attr[1].v[d];
    c->grad[0] = ms_pad(c->ct[0], (MsInts){nd, low}, (MsInts){nd, high}, 0);
    return MS_OK;
}

static MsStatus batch_pad(MsBatch *c)
{
    int64_t low[MS_MAX_DIM + 1] = {0}, high[MS_MAX_DIM + 1] = {0};
    int nd = c->attr[0].n;
    memcpy(low + 1, c->attr[0].v, (size_t)nd * sizeof *low);
    memcpy(high + 1, c->attr[1].v, (size_t)nd * sizeof *high);
    c->out[0] = ms_pad(ms__batch_front(c, 0), (MsInts){nd + 1, low}, (MsInts){nd + 1, high}, c->attr[2].f);
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* `low` and `high` elements of `value` before and after each axis; a negative amount crops. */
MS_OP(pad, .sig = "pad(x: any, *, low: ints, high: ints, value: float) -> x", .infer = infer_pad,
      .vjp = vjp_pad, .batch = batch_pad,
      .sample = "f32[3,4] low=1,0 high=0,2 value=0.5; f32[4] low=-1 high=2 value=0; f32[0] low=1 "
                "high=1 value=0");

/* ---- concat ---- */

static MsStatus infer_concat(MsInfer *c)
{
    if (c->n_in == 0) return MS_FAIL(MS_ERROR_VALUE, "For 'concat', the list of tensors must not be empty.");
    const MsAval *a = &c->in[0];
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, a->ndim, &axis));
    if (a->ndim == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'concat', zero-dimensional tensors cannot be joined.");
    c->out[0] = *a;
    for (int i = 1; i < c->n_in; i++) {
        const MsAval *b = &c->in[i];
        bool fits = b->ndim == a->ndim;
        for (int d = 0; fits && d < a->ndim; d++) fits = d == axis || a->shape[d] == b->shape[d];
        if (!fits)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'concat', the shapes must be equal except on axis %d, but got %s and %s.",
                           axis, ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
        if (b->dtype != a->dtype)
            return MS_FAIL(MS_ERROR_TYPE, "For 'concat', the dtypes must be the same, but got %s and %s.",
                           ms_dtype_name(a->dtype), ms_dtype_name(b->dtype));
        c->out[0].shape[axis] += b->shape[axis];
    }
    c->out[0].dtype = a->dtype;
    return MS_OK;
}

static MsStatus vjp_concat(MsVjp *c)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0]->ndim, &axis));
    int64_t at = 0;
    for (int i = 0; i < c->n_in; i++) {
        int64_t n = c->in[i]->shape[axis];
        if (c->want[i]) c->grad[i] = ms__narrow(c->ct[0], axis, at, n);
        at += n;
    }
    return MS_OK;
}

static MsStatus batch_concat(MsBatch *c)
{
    int axis = -1;
    for (int i = 0; i < c->n_in; i++) {
        MsTensor *x = c->in[i];
        int nd = x->ndim - (c->axis[i] >= 0);
        MS_TRY(ms__axis(c->op, c->attr[0].i, nd, &axis));
    }
    MsTensor **xs = ms__malloc((size_t)c->n_in * sizeof *xs);
    if (!xs) return MS_ERROR_MEMORY;
    bool ok = true;
    for (int i = 0; i < c->n_in; i++) ok = (xs[i] = ms__batch_front(c, i)) && ok;
    c->out[0] = ok ? ms_concat(c->n_in, xs, axis + 1) : NULL;
    free(xs);
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

MS_OP(concat, .sig = "concat(xs: any[], *, axis: int) -> _", .infer = infer_concat, .vjp = vjp_concat,
      .batch = batch_concat,
      .sample = "f32[3,4] f32[3,2] axis=1; f32[2] f32[0] f32[1] axis=0; bf16[2,3] axis=-1");

/* ---- tril, triu ---- */

static MsStatus infer_matrix(MsInfer *c)
{
    if (c->in[0].ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have at least 2 dimensions, but got %d.",
                       c->op->name, c->in[0].ndim);
    c->out[0] = c->in[0];
    return MS_OK;
}

#define TRIANGLE(id)                                                                                         \
    static MsStatus vjp_##id(MsVjp *c)                                                                       \
    {                                                                                                        \
        c->grad[0] = ms_##id(c->ct[0], c->attr[0].i);                                                        \
        return MS_OK;                                                                                        \
    }                                                                                                        \
    static MsStatus batch_##id(MsBatch *c)                                                                   \
    {                                                                                                        \
        c->out[0] = ms_##id(ms__batch_front(c, 0), c->attr[0].i);                                            \
        c->out_axis[0] = 0;                                                                                  \
        return ms__status_of(c->out[0]);                                                                     \
    }
TRIANGLE(tril)
TRIANGLE(triu)

/* The part on and below (above) the diagonal of the last two axes, zero elsewhere. */
MS_OP(tril, .sig = "tril(x: any, *, diagonal: int) -> x", .infer = infer_matrix, .vjp = vjp_tril,
      .batch = batch_tril, .sample = "f32[3,4] diagonal=0; f32[2,3,3] diagonal=-1; f32[0,3] diagonal=1");
MS_OP(triu, .sig = "triu(x: any, *, diagonal: int) -> x", .infer = infer_matrix, .vjp = vjp_triu,
      .batch = batch_triu, .sample = "f32[3,4] diagonal=0; f32[2,3,3] diagonal=1; f32[0,3] diagonal=-1");
