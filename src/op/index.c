/* index.c - indexing by several index tensors at once: numpy's advanced indexing (index, index_put),
 * coordinates (gather_nd, scatter_nd) and nonzero, whose result's shape depends on values. Where numpy puts
 * the indexed axes: in place of the first when they are adjacent, in front otherwise. Slices, ints alone and
 * None never get here: they are views (api/index.c). */
#include "op/view.h"

#include "mindspore_ops.h"

#include <string.h>

/* ---- index, index_put ---- */

/* The broadcast shape of the indices, and the result's shape, for x and idx[0..n). */
static MsStatus index_shape(const MsInfer *c, const MsAval *x, int n, const MsAval *idx, const MsAttr *axes,
                            MsAval *out)
{
    if (n == 0 || axes->n != n)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'axes' must have one entry per index, but got %d for %d.",
                       c->op->name, axes->n, n);
    MsAval b = {0};
    bool adjacent = true;
    uint32_t used = 0;
    for (int k = 0; k < n; k++) {
        int64_t a = axes->v[k];
        if (a < 0 || a >= x->ndim || (k > 0 && a <= axes->v[k - 1]))
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'axes' must ascend within [0, %d), but got %s.",
                           c->op->name, x->ndim, ms__shape_text(n, axes->v));
        if (k > 0 && a != axes->v[k - 1] + 1) adjacent = false;
        used |= 1u << a;
        MS_TRY(ms__broadcast(c->op, &b, &idx[k], &b));
    }
    int nd = x->ndim - n + b.ndim, at = 0, first = adjacent ? (int)axes->v[0] : 0;
    if (nd > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the result would have %d dimensions; at most %d are possible.", c->op->name,
                       nd, MS_MAX_DIM);
    for (int d = 0; d < first; d++) out->shape[at++] = x->shape[d];
    memcpy(out->shape + at, b.shape, (size_t)b.ndim * sizeof *b.shape);
    at += b.ndim;
    for (int d = first; d < x->ndim; d++)
        if (!(used >> d & 1)) out->shape[at++] = x->shape[d];
    out->ndim = nd;
    return MS_OK;
}

static MsStatus infer_index(MsInfer *c)
{
    return index_shape(c, &c->in[0], c->n_in - 1, c->in + 1, &c->attr[0], &c->out[0]);
}

static MsStatus vjp_index(MsVjp *c)
{
    if (c->want[0])
        c->grad[0] = ms_index_put(ms__zeros_like(c->in[0]), c->ct[0], c->n_in - 1, c->in + 1,
                                  ms__attr_ints(&c->attr[0]), true);
    return MS_OK;
}

static MsStatus infer_index_put(MsInfer *c)
{
    MsAval want = {0};
    MS_TRY(index_shape(c, &c->in[0], c->n_in - 2, c->in + 2, &c->attr[0], &want));
    const MsAval *src = &c->in[1];
    bool same = src->ndim == want.ndim;
    for (int d = 0; same && d < want.ndim; d++) same = src->shape[d] == want.shape[d];
    if (!same)
        return MS_FAIL(MS_ERROR_VALUE, "For 'index_put', the value must have shape %s, but got %s.",
                       ms__shape_text(want.ndim, want.shape), ms__shape_text(src->ndim, src->shape));
    c->out[0] = c->in[0];
    return MS_OK;
}

static MsStatus vjp_index_put(MsVjp *c)
{
    MsInts axes = ms__attr_ints(&c->attr[0]);
    bool sum = c->attr[1].i;
    if (c->want[0])
        c->grad[0] =
            sum ? c->ct[0]
                : ms_index_put(c->ct[0], ms__zeros_like(c->in[1]), c->n_in - 2, c->in + 2, axes, false);
    if (c->want[1]) c->grad[1] = ms_index(c->ct[0], c->n_in - 2, c->in + 2, axes);
    return MS_OK;
}

/* Batching puts the example number as one more index: on the batch axis, which is adjacent to the others only
 * when they begin at axis 0; so x is first brought to [B, axes.., rest..]. */
static MsStatus batch_indices(MsBatch *c, int first, MsTensor **idx, int *rank)
{
    int n = c->n_in - first, nd = 0;
    for (int k = 0; k < n; k++) {
        int r = c->in[first + k]->ndim - (c->axis[first + k] >= 0);
        if (r > nd) nd = r;
    }
    int64_t shape[MS_MAX_DIM + 1] = {c->size};
    if (nd + 1 > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', batching needs a rank above %d.", c->op->name, MS_MAX_DIM);
    for (int d = 0; d < nd; d++) shape[d + 1] = 1;
    idx[0] = ms_reshape(ms_arange_int(0, 1, c->size, MS_INT64), (MsInts){nd + 1, shape});
    for (int k = 0; k < n; k++) {
        MsTensor *t = ms__batch_front(c, first + k);
        if (!t) return ms_error()->code;
        int lead = nd + 1 - t->ndim;
        for (int d = 1; d <= nd; d++) shape[d] = d <= lead ? 1 : t->shape[d - lead];
        idx[k + 1] = ms_reshape(t, (MsInts){nd + 1, shape});
    }
    *rank = nd;
    return MS_OK;
}

/* perm of [B, dims of x..] to [B, axes.., rest..] */
static void axes_first(const MsAttr *axes, int nd, int64_t *perm)
{
    int at = 0;
    uint32_t used = 0;
    perm[at++] = 0;
    for (int k = 0; k < axes->n; k++) perm[at++] = axes->v[k] + 1, used |= 1u << axes->v[k];
    for (int d = 0; d < nd; d++)
        if (!(used >> d & 1)) perm[at++] = d + 1;
}

/* perm of [B, broadcast dims.., rest..] to where numpy has them: before `first` of the rest. */
static void block_back(int nb, int nrest, int first, int64_t *perm)
{
    int at = 0;
    perm[at++] = 0;
    for (int d = 0; d < first; d++) perm[at++] = 1 + nb + d;
    for (int d = 0; d < nb; d++) perm[at++] = 1 + d;
    for (int d = first; d < nrest; d++) perm[at++] = 1 + nb + d;
}

static int placement(const MsAttr *axes)
{
    for (int k = 1; k < axes->n; k++)
        if (axes->v[k] != axes->v[k - 1] + 1) return 0;
    return (int)axes->v[0];
}

static MsTensor *untransposed(MsTensor *t, int n, const int64_t *perm)
{
    int64_t inverse[MS_MAX_DIM];
    for (int d = 0; d < n; d++) inverse[perm[d]] = d;
    return ms_transpose(t, (MsInts){n, inverse});
}

static MsStatus batch_index(MsBatch *c)
{
    const MsAttr *axes = &c->attr[0];
    MsTensor *x = ms__batch_front(c, 0), *idx[MS_MAX_DIM + 1];
    int nb;
    if (!x) return ms_error()->code;
    MS_TRY(batch_indices(c, 1, idx, &nb));
    int64_t perm[MS_MAX_DIM], all[MS_MAX_DIM];
    int nd = x->ndim - 1, n = axes->n;
    axes_first(axes, nd, perm);
    for (int k = 0; k <= n; k++) all[k] = k;
    MsTensor *y = ms_index(ms_transpose(x, (MsInts){nd + 1, perm}), n + 1, idx, (MsInts){n + 1, all});
    block_back(nb, nd - n, placement(axes), perm);
    c->out[0] = ms_transpose(y, (MsInts){1 + nb + nd - n, perm});
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

static MsStatus batch_index_put(MsBatch *c)
{
    const MsAttr *axes = &c->attr[0];
    MsTensor *x = ms__batch_front(c, 0), *src = ms__batch_front(c, 1), *idx[MS_MAX_DIM + 1];
    int nb;
    if (!x || !src) return ms_error()->code;
    MS_TRY(batch_indices(c, 2, idx, &nb));
    int64_t perm[MS_MAX_DIM], back[MS_MAX_DIM], all[MS_MAX_DIM];
    int nd = x->ndim - 1, n = axes->n;
    axes_first(axes, nd, perm);
    block_back(nb, nd - n, placement(axes), back);
    for (int k = 0; k <= n; k++) all[k] = k;
    MsTensor *y =
        ms_index_put(ms_transpose(x, (MsInts){nd + 1, perm}), untransposed(src, 1 + nb + nd - n, back), n + 1,
                     idx, (MsInts){n + 1, all}, c->attr[1].i);
    c->out[0] = untransposed(y, nd + 1, perm);
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* y = x[.., idx[0], idx[1], ..] with idx[k] on axis axes[k] */
MS_OP(
    index, .sig = "index(x: any, idx: index[], *, axes: ints) -> x", .infer = infer_index, .vjp = vjp_index,
    .batch = batch_index,
    .sample = "f32[3,4] i64[2] i64[2] axes=0,1; f32[3,4,2] i64[2,1] i32[3] axes=0,2; f32[3,4] i64[0] axes=1");

/* x with src put at (or, accumulate, added to) the places that index would read; of repeated places the last
 * wins */
MS_OP(index_put, .sig = "index_put(x: any, src: x, idx: index[], *, axes: ints, accumulate: bool) -> x",
      .infer = infer_index_put, .vjp = vjp_index_put, .batch = batch_index_put,
      .sample = "f32[3,4] f32[2] i64[2] i64[2] axes=0,1 accumulate; f32[3,4] f32[3,0] i64[0] axes=1");

/* ---- gather_nd, scatter_nd ---- */

static MsStatus nd_shape(const MsInfer *c, MsAval *out)
{
    const MsAval *x = &c->in[0], *index = &c->in[1];
    int64_t k = index->ndim ? index->shape[index->ndim - 1] : -1;
    if (k < 0 || k > x->ndim)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the last axis of the index (shape %s) must hold at most %d coordinates.",
                       c->op->name, ms__shape_text(index->ndim, index->shape), x->ndim);
    int nd = index->ndim - 1 + x->ndim - (int)k;
    if (nd > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the result would have %d dimensions; at most %d are possible.", c->op->name,
                       nd, MS_MAX_DIM);
    out->ndim = nd;
    memcpy(out->shape, index->shape, (size_t)(index->ndim - 1) * sizeof *out->shape);
    memcpy(out->shape + index->ndim - 1, x->shape + k, (size_t)(x->ndim - k) * sizeof *out->shape);
    return MS_OK;
}

static MsStatus infer_gather_nd(MsInfer *c)
{
    return nd_shape(c, &c->out[0]);
}

static MsStatus vjp_gather_nd(MsVjp *c)
{
    if (c->want[0]) c->grad[0] = ms_scatter_nd(ms__zeros_like(c->in[0]), c->in[1], c->ct[0], "add");
    return MS_OK;
}

/* The index with the example's number as its first coordinate. */
static MsTensor *numbered(MsBatch *c)
{
    MsTensor *t = ms__batch_front(c, 1);
    if (!t) return NULL;
    int64_t shape[MS_MAX_DIM] = {c->size};
    for (int d = 1; d < t->ndim; d++) shape[d] = 1;
    MsTensor *k = ms_reshape(ms_arange_int(0, 1, c->size, (MsDtype)t->dtype), (MsInts){t->ndim, shape});
    memcpy(shape, t->shape, (size_t)(t->ndim - 1) * sizeof *shape);
    MsTensor *both[2] = {ms_broadcast_to(k, (MsInts){t->ndim, shape}), t};
    return both[0] ? ms_concat(2, both, t->ndim - 1) : NULL;
}

static MsStatus batch_gather_nd(MsBatch *c)
{
    c->out_axis[0] = 0;
    if (c->axis[0] < 0)
        c->out[0] = ms_gather_nd(c->in[0], ms__batch_front(c, 1));
    else
        c->out[0] = ms_gather_nd(ms__batch_front(c, 0), numbered(c));
    return ms__status_of(c->out[0]);
}

/* y[i..] = x[index[i.., 0], index[i.., 1], ...] */
MS_OP(gather_nd, .sig = "gather_nd(x: any, index: index) -> x", .infer = infer_gather_nd,
      .batch = batch_gather_nd, .vjp = vjp_gather_nd,
      .sample = "f32[3,4] i64[2,2]; f32[3,4] i32[2,1]; f32[3,4] i64[0,2]");

static MsStatus infer_scatter_nd(MsInfer *c)
{
    MsAval want = {0};
    MS_TRY(nd_shape(c, &want));
    const MsAval *src = &c->in[2];
    bool same = src->ndim == want.ndim;
    for (int d = 0; same && d < want.ndim; d++) same = src->shape[d] == want.shape[d];
    if (!same)
        return MS_FAIL(MS_ERROR_VALUE, "For 'scatter_nd', the updates must have shape %s, but got %s.",
                       ms__shape_text(want.ndim, want.shape), ms__shape_text(src->ndim, src->shape));
    const char *mode = c->attr[0].kind == MS_ATTR_STR ? c->attr[0].s : "none";
    if (strcmp(mode, "set") != 0 && strcmp(mode, "add") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'scatter_nd', the mode must be set or add, but got %s.", mode);
    c->out[0] = c->in[0];
    return MS_OK;
}

static MsStatus vjp_scatter_nd(MsVjp *c)
{
    if (c->want[0])
        c->grad[0] = strcmp(c->attr[0].s, "add") == 0
                         ? c->ct[0]
                         : ms_scatter_nd(c->ct[0], c->in[1], ms__zeros_like(c->in[2]), "set");
    if (c->want[2]) c->grad[2] = ms_gather_nd(c->ct[0], c->in[1]);
    return MS_OK;
}

static MsStatus batch_scatter_nd(MsBatch *c)
{
    c->out_axis[0] = 0;
    c->out[0] = ms_scatter_nd(ms__batch_front(c, 0), numbered(c), ms__batch_front(c, 2), c->attr[0].s);
    return ms__status_of(c->out[0]);
}

/* x with src set at or added to the places that gather_nd would read */
MS_OP(scatter_nd, .sig = "scatter_nd(x: any, index: index, src: x, *, mode: str) -> x",
      .infer = infer_scatter_nd, .batch = batch_scatter_nd, .vjp = vjp_scatter_nd,
      .sample = "f32[3,4] i64[2,2] f32[2] mode=add; f32[3,4] i32[2,1] f32[2,4] mode=set; f32[3] i64[0,1] "
                "f32[0] mode=add");

/* ---- nonzero ---- */

static MsStatus infer_nonzero(MsInfer *c)
{
    c->out[0].ndim = 2;
    c->out[0].shape[0] = -1; /* known when it ran */
    c->out[0].shape[1] = c->in[0].ndim;
    return MS_OK;
}

/* Coordinates of the elements that are not zero, one row each, in row-major order. Eager only. */
MS_OP(nonzero, .sig = "nonzero(x: any) -> int64", .infer = infer_nonzero,
      .flags = MS_OP_NO_GRAD | MS_OP_NO_FOLD, .sample = "f32[3,4]; i64[6]; bool[2,3]");
