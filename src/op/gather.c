/* gather.c - reading and adding whole slices (gather, scatter_add) and single elements (take_along,
 * put_along) by an index along one axis. Negative indices count from the end; the range is checked by the
 * kernels, which see values. Gathers and scatters are each other's gradients. Repeated indices accumulate in
 * the order of the index. */
#include "op/rules.h"
#include "op/view.h"

#include "mindspore_ops.h"

#include <string.h>

/* ---- gather, scatter_add ---- */

static MsStatus infer_gather(MsInfer *c)
{
    const MsAval *x = &c->in[0], *index = &c->in[1];
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &axis));
    if (x->ndim == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'gather', the input must have at least one dimension.");
    int nd = x->ndim - 1 + index->ndim;
    if (nd > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'gather', the result would have %d dimensions; at most %d are possible.", nd,
                       MS_MAX_DIM);
    MsAval *y = &c->out[0];
    y->ndim = nd;
    memcpy(y->shape, x->shape, (size_t)axis * sizeof *y->shape);
    memcpy(y->shape + axis, index->shape, (size_t)index->ndim * sizeof *y->shape);
    memcpy(y->shape + axis + index->ndim, x->shape + axis + 1,
           (size_t)(x->ndim - 1 - axis) * sizeof *y->shape);
    return MS_OK;
}

static MsStatus vjp_gather(MsVjp *c)
{
    if (c->want[0]) c->grad[0] = ms_scatter_add(ms__zeros_like(c->in[0]), c->in[1], c->ct[0], c->attr[0].i);
    return MS_OK;
}

/* [arange(B)] shaped to broadcast against a batched index of rank nd (batch first). */
static MsTensor *batch_line(int64_t size, int nd)
{
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < nd; d++) shape[d] = d ? 1 : size;
    return ms_reshape(ms_arange_int(0, 1, size, MS_INT64), (MsInts){nd, shape});
}

/* Moves dims [from, from + n) of t to position `to`, keeping their order. */
static MsTensor *move_block(MsTensor *t, int from, int n, int to)
{
    if (!t || from == to || n == 0) return t;
    int64_t perm[MS_MAX_DIM];
    int m = 0;
    for (int d = 0; d < t->ndim; d++)
        if (d < from || d >= from + n) perm[m++] = d;
    memmove(perm + to + n, perm + to, (size_t)(m - to) * sizeof *perm);
    for (int k = 0; k < n; k++) perm[to + k] = from + k;
    return ms_transpose(t, (MsInts){t->ndim, perm});
}

static MsStatus batch_gather(MsBatch *c)
{
    int nd = c->in[0]->ndim - (c->axis[0] >= 0), axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, nd, &axis));
    if (c->axis[1] < 0) { /* one index for all examples */
        c->out[0] = ms_gather(ms__batch_front(c, 0), c->in[1], axis + 1);
        c->out_axis[0] = 0;
    } else if (c->axis[0] < 0) {
        c->out[0] = ms_gather(c->in[0], c->in[1], axis);
        c->out_axis[0] = axis + c->axis[1];
    } else { /* x[b, index[b], pre, post] with the index's own dims moved back behind pre */
        MsTensor *x = ms__move_axis(ms__batch_front(c, 0), axis + 1, 1), *index = ms__batch_front(c, 1);
        if (!x || !index) return ms_error()->code;
        MsTensor *idx[2] = {batch_line(c->size, index->ndim), index};
        MsTensor *y = ms_index(x, 2, idx, MS_INTS(0, 1));
        c->out[0] = move_block(y, 1, index->ndim - 1, 1 + axis);
        c->out_axis[0] = 0;
    }
    return ms__status_of(c->out[0]);
}

/* Whole slices: y = x.shape[:axis] + index.shape + x.shape[axis+1:] */
MS_OP(gather, .sig = "gather(x: any, index: index, *, axis: int) -> x", .infer = infer_gather,
      .vjp = vjp_gather, .batch = batch_gather,
      .sample = "f32[3,4] i64[2] axis=1; f32[3,4] i32[2,2] axis=0; f32[3] i64[] axis=0; "
                "f32[3,2] i64[0] axis=0");

static MsStatus infer_scatter_add(MsInfer *c)
{
    MsAval want = {0};
    MsInfer inner = *c;
    inner.out = &want;
    MS_TRY(infer_gather(&inner));
    const MsAval *src = &c->in[2];
    bool same = src->ndim == want.ndim;
    for (int d = 0; same && d < want.ndim; d++) same = src->shape[d] == want.shape[d];
    if (!same)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the updates must have shape %s, but got %s.", c->op->name,
                       ms__shape_text(want.ndim, want.shape), ms__shape_text(src->ndim, src->shape));
    c->out[0] = c->in[0];
    return MS_OK;
}

static MsStatus vjp_scatter_add(MsVjp *c)
{
    c->grad[0] = c->ct[0];
    if (c->want[2]) c->grad[2] = ms_gather(c->ct[0], c->in[1], c->attr[0].i);
    return MS_OK;
}

static MsStatus batch_scatter_add(MsBatch *c)
{
    int nd = c->in[0]->ndim - (c->axis[0] >= 0), axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, nd, &axis));
    MsTensor *x = ms__batch_front(c, 0), *src = ms__batch_front(c, 2);
    c->out_axis[0] = 0;
    if (c->axis[1] < 0) {
        c->out[0] = ms_scatter_add(x, c->in[1], src, axis + 1);
        return ms__status_of(c->out[0]);
    }
    MsTensor *index = ms__batch_front(c, 1);
    if (!x || !src || !index) return ms_error()->code;
    MsTensor *idx[2] = {batch_line(c->size, index->ndim), index};
    MsTensor *y = ms_index_put(ms__move_axis(x, axis + 1, 1), move_block(src, 1 + axis, index->ndim - 1, 1),
                               2, idx, MS_INTS(0, 1), true);
    c->out[0] = ms__move_axis(y, 1, axis + 1);
    return ms__status_of(c->out[0]);
}

/* x with src added to the slices that gather would read */
MS_OP(scatter_add, .sig = "scatter_add(x: any, index: index, src: x, *, axis: int) -> x",
      .infer = infer_scatter_add, .vjp = vjp_scatter_add, .batch = batch_scatter_add, .flags = MS_OP_IN_PLACE,
      .sample =
          "f32[3,4] i64[2] f32[3,2] axis=1; f32[3] i64[] f32[] axis=0; bf16[3,2] i32[4] bf16[4,2] axis=0");

/* ---- take_along, put_along ---- */

static MsStatus check_along(const MsInfer *c, const MsAval *x, const MsAval *index)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &axis));
    bool fits = index->ndim == x->ndim;
    for (int d = 0; fits && d < x->ndim; d++) fits = d == axis || index->shape[d] <= x->shape[d];
    if (!fits)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the index must have the input's rank and not exceed it except on axis %d, but got "
            "index %s and input %s.",
            c->op->name, axis, ms__shape_text(index->ndim, index->shape), ms__shape_text(x->ndim, x->shape));
    return MS_OK;
}

static MsStatus infer_take_along(MsInfer *c)
{
    MS_TRY(check_along(c, &c->in[0], &c->in[1]));
    MsDtype dtype = c->out[0].dtype;
    c->out[0] = c->in[1];
    c->out[0].dtype = dtype;
    return MS_OK;
}

static MsStatus vjp_take_along(MsVjp *c)
{
    if (c->want[0])
        c->grad[0] = ms_put_along(ms__zeros_like(c->in[0]), c->in[1], c->ct[0], c->attr[0].i, "add");
    return MS_OK;
}

static MsStatus batch_take_along(MsBatch *c)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0]->ndim - (c->axis[0] >= 0), &axis));
    if (c->in[0]->ndim - (c->axis[0] >= 0) == 0) { /* a lone element: every index must be 0 or -1 */
        MsTensor *x = ms__batch_front(c, 0), *i = ms__batch_front(c, 1);
        MsInts pair = MS_INTS(c->size, 1);
        c->out[0] = ms_reshape(ms_take_along(ms_reshape(x, pair), ms_reshape(i, pair), 1), MS_INTS(c->size));
    } else {
        c->out[0] = ms_take_along(ms__batch_front(c, 0), ms__batch_front(c, 1), axis + 1);
    }
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* y[i, j] = x[index[i, j], j] for axis 0, and so on */
MS_OP(take_along, .sig = "take_along(x: any, index: index, *, axis: int) -> x", .infer = infer_take_along,
      .vjp = vjp_take_along, .batch = batch_take_along,
      .sample = "f32[3,4] i64[3,2] axis=1; f32[3,4] i32[5,2] axis=0; f32[3] i64[0] axis=0");

static const char *const put_modes[] = {"set", "add", "mul", "max", "min"};

static MsStatus infer_put_along(MsInfer *c)
{
    MS_TRY(check_along(c, &c->in[0], &c->in[1]));
    const MsAval *index = &c->in[1], *src = &c->in[2];
    bool same = src->ndim == index->ndim;
    for (int d = 0; same && d < src->ndim; d++) same = src->shape[d] == index->shape[d];
    if (!same)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'put_along', index and updates must have one shape, but got %s and %s.",
                       ms__shape_text(index->ndim, index->shape), ms__shape_text(src->ndim, src->shape));
    bool known = false;
    for (size_t k = 0; k < sizeof put_modes / sizeof *put_modes; k++)
        known |= c->attr[1].kind == MS_ATTR_STR && strcmp(c->attr[1].s, put_modes[k]) == 0;
    if (!known)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'put_along', the mode must be set, add, mul, max or min, but got %s.",
                       c->attr[1].kind == MS_ATTR_STR ? c->attr[1].s : "none");
    if (c->in[0].dtype == MS_COMPLEX64 || c->in[0].dtype == MS_COMPLEX128)
        if (c->attr[1].s[0] == 'm' && c->attr[1].s[1] != 'u')
            return MS_FAIL(MS_ERROR_TYPE, "For 'put_along', complex numbers have no order.");
    c->out[0] = c->in[0];
    return MS_OK;
}

static MsTensor *ones_like(MsTensor *t)
{
    return ms_full((MsInts){t->ndim, t->shape}, 1, (MsDtype)t->dtype);
}

/* y = max or min of x and all that is put there: those equal to y share its cotangent. */
static MsStatus vjp_put_extreme(MsVjp *c)
{
    MsTensor *x = c->in[0], *index = c->in[1], *src = c->in[2], *y = c->out[0];
    int64_t axis = c->attr[0].i;
    MsDtype dtype = (MsDtype)x->dtype;
    MsTensor *stays = ms_cast(ms_eq(x, y), dtype);
    MsTensor *hits = ms_cast(ms_eq(src, ms_take_along(y, index, axis)), dtype);
    MsTensor *tied = ms_maximum(ms_put_along(stays, index, hits, axis, "add"), ms_tensor_scalar(dtype, 1));
    MsTensor *share = ms_div(c->ct[0], tied);
    if (c->want[0]) c->grad[0] = ms_mul(share, stays);
    if (c->want[2]) c->grad[2] = ms_mul(ms_take_along(share, index, axis), hits);
    return MS_OK;
}

/* y = x times the product of all that is put there. A factor's gradient is the product of the others: that of
 * the factors that are not zero over its own, where no other one is zero. */
static MsStatus vjp_put_product(MsVjp *c)
{
    MsTensor *x = c->in[0], *index = c->in[1], *src = c->in[2], *g = c->ct[0];
    int64_t axis = c->attr[0].i;
    if (c->want[0]) c->grad[0] = ms_mul(g, ms__conj(ms_put_along(ones_like(x), index, src, axis, "mul")));
    if (!c->want[2]) return MS_OK;
    MsTensor *zero = ms_eq(src, ms_tensor_scalar((MsDtype)src->dtype, 0)), *one = ones_like(src);
    MsTensor *factor = ms_where(zero, one, src), *n = ms_cast(zero, (MsDtype)src->dtype);
    MsTensor *product = ms_take_along(ms_put_along(x, index, factor, axis, "mul"), index, axis);
    MsTensor *zeros = ms_take_along(ms_put_along(ms__zeros_like(x), index, n, axis, "add"), index, axis);
    MsTensor *others = ms_div(product, factor), *none = ms__zeros_like(src);
    others = ms_where(ms_eq(ms_sub(zeros, n), none), others, none);
    c->grad[2] = ms_mul(ms_take_along(g, index, axis), ms__conj(others));
    return MS_OK;
}

static MsStatus vjp_put_along(MsVjp *c)
{
    MsTensor *g = c->ct[0], *index = c->in[1];
    int64_t axis = c->attr[0].i;
    const char *mode = c->attr[1].s;
    if (strcmp(mode, "set") == 0) {
        if (c->want[0]) c->grad[0] = ms_put_along(g, index, ms__zeros_like(c->in[2]), axis, "set");
        if (c->want[2]) c->grad[2] = ms_take_along(g, index, axis);
        return MS_OK;
    }
    if (strcmp(mode, "add") == 0) {
        c->grad[0] = g;
        if (c->want[2]) c->grad[2] = ms_take_along(g, index, axis);
        return MS_OK;
    }
    return strcmp(mode, "mul") == 0 ? vjp_put_product(c) : vjp_put_extreme(c);
}

static MsStatus batch_put_along(MsBatch *c)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0]->ndim - (c->axis[0] >= 0), &axis));
    MsTensor *x = ms__batch_front(c, 0), *i = ms__batch_front(c, 1), *s = ms__batch_front(c, 2);
    if (c->in[0]->ndim - (c->axis[0] >= 0) == 0) {
        MsInts pair = MS_INTS(c->size, 1);
        MsTensor *y =
            ms_put_along(ms_reshape(x, pair), ms_reshape(i, pair), ms_reshape(s, pair), 1, c->attr[1].s);
        c->out[0] = ms_reshape(y, MS_INTS(c->size));
    } else {
        c->out[0] = ms_put_along(x, i, s, axis + 1, c->attr[1].s);
    }
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* x with src set, added, ... at the places that take_along would read; of repeated places "set" keeps the
 * last */
MS_OP(put_along, .sig = "put_along(x: any, index: index, src: x, *, axis: int, mode: str) -> x",
      .infer = infer_put_along, .vjp = vjp_put_along, .batch = batch_put_along,
      .sample =
          "f32[3,4] i64[3,2] f32[3,2] axis=1 mode=add; f32[3,4] i32[2,2] f32[2,2] axis=0 mode=set; "
          "f32[3] i64[0] "
          "f32[0] axis=0 mode=add; f32[3,4] i64[3,6]{0,4} f32[3,6] axis=1 mode=mul; "
          "f32[3,4] i64[3,6]{0,4} f32[3,6] axis=1 mode=max; f32[3,4] i64[3,6]{0,4} f32[3,6] axis=1 mode=min; "
          "c64[3,4] i64[3,2]{0,4} c64[3,2] axis=1 mode=mul");
