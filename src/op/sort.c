/* sort.c - ordering: sort, topk, searchsorted, unique. NaN counts as greater than everything and -0 equals
 * +0; equal elements keep their order, also when descending. Gradients send the cotangent back to where each
 * value came from. */
#include "op/view.h"

#include "mindspore_ops.h"

#include <string.h>

static MsStatus infer_sort(MsInfer *c)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0].ndim, &axis));
    c->out[0] = c->in[0];
    c->out[1] = c->in[0];
    c->out[1].dtype = MS_INT64;
    return MS_OK;
}

/* Shared by sort, topk, cummax, cummin: values were picked along an axis by out[1]. */
static MsStatus picked(MsVjp *c, int64_t axis)
{
    if (c->ct[0] && c->want[0])
        c->grad[0] = ms_put_along(ms__zeros_like(c->in[0]), c->out[1], c->ct[0], axis, "add");
    return MS_OK;
}

static MsStatus vjp_sort(MsVjp *c)
{
    return picked(c, c->attr[0].i);
}

/* A 0-d example becomes a column, so that there is an axis to order along. */
static MsTensor *batch_input(MsBatch *c, int64_t axis, int *at, bool *lone)
{
    MsTensor *x = ms__batch_front(c, 0);
    if (!x) return NULL;
    *lone = x->ndim == 1;
    if (ms__axis(c->op, axis, x->ndim - 1, at) != MS_OK) return NULL;
    *at += 1;
    return *lone ? ms_reshape(x, MS_INTS(x->numel, 1)) : x;
}

static MsStatus batch_outputs(MsBatch *c, bool lone)
{
    for (int j = 0; j < 2; j++) {
        if (lone) c->out[j] = ms_reshape(c->out[j], MS_INTS(c->size));
        c->out_axis[j] = 0;
    }
    return ms__status_of(c->out[1]);
}

static MsStatus batch_sort(MsBatch *c)
{
    int axis = 0;
    bool lone = false;
    MsTensor *x = batch_input(c, c->attr[0].i, &axis, &lone);
    MS_TRY(ms_sort(x, axis, c->attr[1].i, c->attr[2].i, c->out));
    return batch_outputs(c, lone);
}

/* Values in order, and where each was. */
MS_OP(sort, .sig = "sort(x: real, *, axis: int, descending: bool, stable: bool) -> x, int64",
      .infer = infer_sort, .vjp = vjp_sort, .batch = batch_sort,
      .sample = "f32[3,4] axis=1 stable; f32[4,2] axis=0 descending stable; f32[0] axis=0; i32[5] axis=0; "
                "f32[] axis=0");

static MsStatus infer_topk(MsInfer *c)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[1].i, c->in[0].ndim, &axis));
    int64_t n = c->in[0].ndim ? c->in[0].shape[axis] : 1, k = c->attr[0].i;
    if (k < 0 || k > n)
        return MS_FAIL(MS_ERROR_VALUE, "For 'topk', k must be in [0, %lld], but got %lld.", (long long)n,
                       (long long)k);
    if (c->in[0].ndim == 0 && k == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'topk', k must be 1 for a zero-dimensional input, but got 0.");
    c->out[0] = c->in[0];
    if (c->in[0].ndim) c->out[0].shape[axis] = k;
    c->out[1] = c->out[0];
    c->out[1].dtype = MS_INT64;
    return MS_OK;
}

static MsStatus vjp_topk(MsVjp *c)
{
    return picked(c, c->attr[1].i);
}

static MsStatus batch_topk(MsBatch *c)
{
    int axis = 0;
    bool lone = false;
    MsTensor *x = batch_input(c, c->attr[1].i, &axis, &lone);
    MS_TRY(ms_topk(x, c->attr[0].i, axis, c->attr[2].i, c->attr[3].i, c->out));
    return batch_outputs(c, lone);
}

/* The k largest (smallest) values in order, the earlier of equals first; `sorted` is always so. */
MS_OP(topk, .sig = "topk(x: real, *, k: int, axis: int, largest: bool, sorted: bool) -> x, int64",
      .infer = infer_topk, .vjp = vjp_topk, .batch = batch_topk,
      .sample = "f32[3,4] k=2 axis=1 largest sorted; f32[4,2] k=3 axis=0 sorted; i32[5] k=0 axis=0 largest");

static MsStatus infer_searchsorted(MsInfer *c)
{
    const MsAval *s = &c->in[0], *v = &c->in[1];
    bool fits = s->ndim == 1 || s->ndim == v->ndim;
    for (int d = 0; fits && s->ndim > 1 && d < s->ndim - 1; d++) fits = s->shape[d] == v->shape[d];
    if (s->ndim == 0 || !fits)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'searchsorted', the sorted sequence must be 1-d or agree with the values except on the "
            "last axis, but got %s and %s.",
            ms__shape_text(s->ndim, s->shape), ms__shape_text(v->ndim, v->shape));
    c->out[0] = *v;
    c->out[0].dtype = MS_INT64;
    return MS_OK;
}

/* A 1-d sequence for each example is repeated for the axes of the values in front of the last. */
static MsStatus batch_searchsorted(MsBatch *c)
{
    MsTensor *s = c->in[0], *v = ms__batch_front(c, 1);
    if (!v) return ms_error()->code;
    bool lone = v->ndim == 1;
    if (lone && !(v = ms_reshape(v, MS_INTS(c->size, 1)))) return ms_error()->code;
    if (c->axis[0] >= 0 || s->ndim > 1) {
        if (!(s = ms__batch_front(c, 0))) return ms_error()->code;
        int64_t n = s->shape[s->ndim - 1], wide[MS_MAX_DIM], full[MS_MAX_DIM];
        for (int d = 0; d < v->ndim - 1; d++) {
            full[d] = v->shape[d];
            wide[d] = d == 0 || s->ndim == v->ndim ? s->shape[d] : 1;
        }
        wide[v->ndim - 1] = full[v->ndim - 1] = n;
        s = ms_broadcast_to(ms_reshape(s, (MsInts){v->ndim, wide}), (MsInts){v->ndim, full});
    }
    MsTensor *y = ms_searchsorted(s, v, c->attr[0].i);
    c->out[0] = lone ? ms_reshape(y, MS_INTS(c->size)) : y;
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* Where each value would be inserted into the ascending sequence (last axis): before equals, or after
 * (right). */
MS_OP(searchsorted, .sig = "searchsorted(sorted: real, values: sorted, *, right: bool) -> int64",
      .infer = infer_searchsorted, .batch = batch_searchsorted, .flags = MS_OP_NO_GRAD,
      .sample = "f32[4] f32[2,3]; f32[2,3] f32[2,2] right; f64[3] f64[]; i32[2,2,3] i32[2,2,1]");

static MsStatus infer_unique(MsInfer *c)
{
    c->out[0].ndim = c->out[2].ndim = c->out[3].ndim = 1;
    c->out[0].shape[0] = c->out[2].shape[0] = c->out[3].shape[0] = -1; /* known when it ran */
    c->out[1] = c->in[0];
    c->out[1].dtype = MS_INT64;
    return MS_OK;
}

/* Distinct values ascending; for each element the number of its value; counts; index of the first occurrence.
 */
MS_OP(unique, .sig = "unique(x: any) -> x, int64, int64, int64", .infer = infer_unique,
      .flags = MS_OP_NO_GRAD | MS_OP_NO_FOLD, .sample = "f32[3,4]; i64[6]; bool[2,3]");
