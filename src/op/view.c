/* view.c - operators whose eager result shares the storage of its input. Each has, beside its gradient,
 * `view_write`: the value of the base after the view was overwritten, which is how writes through aliases
 * become values inside a trace. as_strided counts in the row-major layout of its input; an input laid out
 * otherwise is copied first. */
#include "op/view.h"

#include "mindspore_ops.h"

#include <string.h>

/* ---- helpers ---- */

MsTensor *ms__move_axis(MsTensor *t, int axis, int to)
{
    if (!t || axis == to) return t;
    int64_t perm[MS_MAX_DIM];
    int n = 0;
    for (int d = 0; d < t->ndim; d++)
        if (d != axis) perm[n++] = d;
    memmove(perm + to + 1, perm + to, (size_t)(n - to) * sizeof *perm);
    perm[to] = axis;
    return ms_transpose(t, (MsInts){t->ndim, perm});
}

MsTensor *ms__batch_front(MsBatch *c, int i)
{
    MsTensor *t = c->in[i];
    if (c->axis[i] >= 0) return ms__move_axis(t, c->axis[i], 0);
    if (t->ndim == MS_MAX_DIM)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', batching needs a rank above %d.", c->op->name,
                            MS_MAX_DIM);
    int64_t shape[MS_MAX_DIM];
    shape[0] = 1;
    memcpy(shape + 1, t->shape, (size_t)t->ndim * sizeof *shape);
    MsTensor *one = ms_reshape(t, (MsInts){t->ndim + 1, shape});
    shape[0] = c->size;
    return ms_broadcast_to(one, (MsInts){t->ndim + 1, shape});
}

MsTensor *ms__zeros_like(MsTensor *t)
{
    return t ? ms_full(ms__shape_of(t), 0, (MsDtype)t->dtype) : NULL;
}

MsTensor *ms__narrow(MsTensor *t, int axis, int64_t begin, int64_t n)
{
    if (!t) return NULL;
    int64_t b[MS_MAX_DIM], s[MS_MAX_DIM], step[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++)
        b[d] = d == axis ? begin : 0, s[d] = d == axis ? n : t->shape[d], step[d] = 1;
    return ms_slice(t, (MsInts){t->ndim, b}, (MsInts){t->ndim, s}, (MsInts){t->ndim, step});
}

/* The attribute with `lead` put before its entries, for batched calls. */
static MsInts prefixed(const MsAttr *a, int64_t lead, int64_t *buf)
{
    buf[0] = lead;
    memcpy(buf + 1, a->v, (size_t)a->n * sizeof *buf);
    return (MsInts){a->n + 1, buf};
}

static MsStatus need_ints(const MsInfer *c, int k, int n, const char *name)
{
    if (c->attr[k].kind == MS_ATTR_INTS && (n < 0 || c->attr[k].n == n)) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '%s' must have %d entries, but got %d.", c->op->name, name,
                   n, c->attr[k].kind == MS_ATTR_INTS ? c->attr[k].n : 0);
}

static void set_shape(MsAval *out, const MsAttr *a)
{
    out->ndim = a->n;
    memcpy(out->shape, a->v, (size_t)a->n * sizeof *a->v);
}

/* ---- reshape ---- */

static MsStatus infer_reshape(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    MS_TRY(need_ints(c, 0, -1, "shape"));
    int64_t have = ms__numel(x->ndim, x->shape), want = ms__numel(c->attr[0].n, c->attr[0].v);
    if (have < 0 || want < 0) return ms_error()->code;
    if (have != want)
        return MS_FAIL(
            MS_ERROR_VALUE, "For 'reshape', the shape %s is invalid for input of size %lld (shape %s).",
            ms__shape_text(c->attr[0].n, c->attr[0].v), (long long)have, ms__shape_text(x->ndim, x->shape));
    set_shape(&c->out[0], &c->attr[0]);
    return MS_OK;
}

static MsStatus vjp_reshape(MsVjp *c)
{
    c->grad[0] = ms_reshape(c->ct[0], ms__shape_of(c->in[0]));
    return MS_OK;
}

static MsStatus batch_reshape(MsBatch *c)
{
    int64_t buf[MS_MAX_DIM + 1];
    c->out[0] = ms_reshape(ms__batch_front(c, 0), prefixed(&c->attr[0], c->size, buf));
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

static MsStatus write_reshape(const MsOp *op, const MsAttr *attr, MsTensor *base, MsTensor *v,
                              MsTensor **new_base)
{
    (void)op, (void)attr;
    *new_base = ms_reshape(v, ms__shape_of(base));
    return ms__status_of(*new_base);
}

MS_OP(reshape, .sig = "reshape(x: any, *, shape: ints) -> x", .infer = infer_reshape, .vjp = vjp_reshape,
      .batch = batch_reshape, .view_write = write_reshape, .flags = MS_OP_VIEW,
      .sample = "f32[3,4] shape=2,6; f32[0,3] shape=3,0; f32[1] shape=; bf16[2,3] shape=6");

/* ---- transpose ---- */

static MsStatus infer_transpose(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    MS_TRY(need_ints(c, 0, x->ndim, "perm"));
    uint32_t mask = 0;
    c->out[0].ndim = x->ndim;
    for (int d = 0; d < x->ndim; d++) {
        int64_t p = c->attr[0].v[d];
        if (p < 0 || p >= x->ndim || mask >> p & 1)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'transpose', the perm must be a permutation of %d axes, but got %s.", x->ndim,
                           ms__shape_text(x->ndim, c->attr[0].v));
        mask |= 1u << p;
        c->out[0].shape[d] = x->shape[p];
    }
    return MS_OK;
}

static MsTensor *transpose_back(MsTensor *t, const MsAttr *perm)
{
    int64_t inverse[MS_MAX_DIM];
    for (int d = 0; d < perm->n; d++) inverse[perm->v[d]] = d;
    return ms_transpose(t, (MsInts){perm->n, inverse});
}

static MsStatus vjp_transpose(MsVjp *c)
{
    c->grad[0] = transpose_back(c->ct[0], &c->attr[0]);
    return MS_OK;
}

static MsStatus batch_transpose(MsBatch *c)
{
    int64_t perm[MS_MAX_DIM + 1] = {0};
    for (int d = 0; d < c->attr[0].n; d++) perm[d + 1] = c->attr[0].v[d] + 1;
    c->out[0] = ms_transpose(ms__batch_front(c, 0), (MsInts){c->attr[0].n + 1, perm});
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

static MsStatus write_transpose(const MsOp *op, const MsAttr *attr, MsTensor *base, MsTensor *v,
                                MsTensor **new_base)
{
    (void)op, (void)base;
    *new_base = transpose_back(v, &attr[0]);
    return ms__status_of(*new_base);
}

MS_OP(transpose, .sig = "transpose(x: any, *, perm: ints) -> x", .infer = infer_transpose,
      .vjp = vjp_transpose, .batch = batch_transpose, .view_write = write_transpose, .flags = MS_OP_VIEW,
      .sample = "f32[3,4] perm=1,0; f32[2,0,3] perm=2,0,1; f32[] perm=; bf16[2,3,4,2] perm=0,2,3,1");

/* ---- broadcast_to ---- */

static MsStatus infer_broadcast_to(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    MS_TRY(need_ints(c, 0, -1, "shape"));
    int lead = c->attr[0].n - x->ndim;
    bool fits = lead >= 0;
    for (int d = 0; fits && d < x->ndim; d++)
        fits = x->shape[d] == c->attr[0].v[d + lead] || x->shape[d] == 1;
    if (!fits)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'broadcast_to', the input of shape %s cannot be broadcast to shape %s.",
                       ms__shape_text(x->ndim, x->shape), ms__shape_text(c->attr[0].n, c->attr[0].v));
    set_shape(&c->out[0], &c->attr[0]);
    return MS_OK;
}

static MsStatus vjp_broadcast_to(MsVjp *c)
{
    c->grad[0] = c->ct[0]; /* the caller sums it to the input's shape */
    return MS_OK;
}

static MsStatus batch_broadcast_to(MsBatch *c)
{
    MsTensor *x = ms__batch_front(c, 0);
    if (!x) return ms_error()->code;
    int64_t ones[MS_MAX_DIM + 1], buf[MS_MAX_DIM + 1];
    int n = c->attr[0].n, lead = n - (x->ndim - 1);
    ones[0] = c->size;
    for (int d = 0; d < n; d++) ones[d + 1] = d < lead ? 1 : x->shape[d - lead + 1];
    c->out[0] = ms_broadcast_to(ms_reshape(x, (MsInts){n + 1, ones}), prefixed(&c->attr[0], c->size, buf));
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* All copies of an element are one place: the base takes the first. */
static MsStatus write_broadcast_to(const MsOp *op, const MsAttr *attr, MsTensor *base, MsTensor *v,
                                   MsTensor **new_base)
{
    (void)op, (void)attr;
    int lead = v->ndim - base->ndim;
    for (int d = 0; v && d < v->ndim; d++) {
        int64_t n = d < lead ? 1 : base->shape[d - lead];
        if (v->shape[d] > n) v = ms__narrow(v, d, 0, n);
    }
    *new_base = ms_reshape(v, ms__shape_of(base));
    return ms__status_of(*new_base);
}

MS_OP(broadcast_to, .sig = "broadcast_to(x: any, *, shape: ints) -> x", .infer = infer_broadcast_to,
      .vjp = vjp_broadcast_to, .batch = batch_broadcast_to, .view_write = write_broadcast_to,
      .flags = MS_OP_VIEW,
      .sample = "f32[3,1] shape=3,4; f32[] shape=2,2; f32[1,3] shape=0,3; bf16[2] shape=3,2");

/* ---- slice, slice_update ---- */

static MsStatus check_slice(const MsInfer *c, const MsAval *x, const int64_t *size, const MsAttr *begin,
                            const MsAttr *step)
{
    for (int d = 0; d < x->ndim; d++) {
        int64_t first = begin->v[d], n = size[d], last = first + (n - 1) * step->v[d];
        if (n < 0 || step->v[d] == 0 ||
            (n > 0 && (first < 0 || first >= x->shape[d] || last < 0 || last >= x->shape[d])))
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', begin %lld, size %lld, step %lld does not fit axis %d of shape %s.",
                           c->op->name, (long long)first, (long long)n, (long long)step->v[d], d,
                           ms__shape_text(x->ndim, x->shape));
    }
    return MS_OK;
}

static MsStatus infer_slice(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    MS_TRY(need_ints(c, 0, x->ndim, "begin"));
    MS_TRY(need_ints(c, 1, x->ndim, "size"));
    MS_TRY(need_ints(c, 2, x->ndim, "step"));
    MS_TRY(check_slice(c, x, c->attr[1].v, &c->attr[0], &c->attr[2]));
    set_shape(&c->out[0], &c->attr[1]);
    return MS_OK;
}

static MsStatus vjp_slice(MsVjp *c)
{
    c->grad[0] = ms_slice_update(ms__zeros_like(c->in[0]), c->ct[0], ms__attr_ints(&c->attr[0]),
                                 ms__attr_ints(&c->attr[2]));
    return MS_OK;
}

static MsStatus batch_slice(MsBatch *c)
{
    int64_t b[MS_MAX_DIM + 1], s[MS_MAX_DIM + 1], t[MS_MAX_DIM + 1];
    c->out[0] = ms_slice(ms__batch_front(c, 0), prefixed(&c->attr[0], 0, b),
                         prefixed(&c->attr[1], c->size, s), prefixed(&c->attr[2], 1, t));
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

static MsStatus write_slice(const MsOp *op, const MsAttr *attr, MsTensor *base, MsTensor *v,
                            MsTensor **new_base)
{
    (void)op;
    *new_base = ms_slice_update(base, v, ms__attr_ints(&attr[0]), ms__attr_ints(&attr[2]));
    return ms__status_of(*new_base);
}

MS_OP(slice, .sig = "slice(x: any, *, begin: ints, size: ints, step: ints) -> x", .infer = infer_slice,
      .vjp = vjp_slice, .batch = batch_slice, .view_write = write_slice, .flags = MS_OP_VIEW,
      .sample =
          "f32[3,4] begin=0,3 size=2,2 step=2,-1; f32[5] begin=0 size=0 step=1; bf16[4,2] begin=1,0 size=2,2 "
          "step=1,1");

static MsStatus infer_slice_update(MsInfer *c)
{
    const MsAval *x = &c->in[0], *v = &c->in[1];
    MS_TRY(need_ints(c, 0, x->ndim, "begin"));
    MS_TRY(need_ints(c, 1, x->ndim, "step"));
    if (v->ndim != x->ndim)
        return MS_FAIL(MS_ERROR_VALUE, "For 'slice_update', the update must have rank %d, but got shape %s.",
                       x->ndim, ms__shape_text(v->ndim, v->shape));
    MS_TRY(check_slice(c, x, v->shape, &c->attr[0], &c->attr[1]));
    c->out[0] = *x;
    return MS_OK;
}

static MsStatus vjp_slice_update(MsVjp *c)
{
    MsInts begin = ms__attr_ints(&c->attr[0]), step = ms__attr_ints(&c->attr[1]);
    if (c->want[0]) c->grad[0] = ms_slice_update(c->ct[0], ms__zeros_like(c->in[1]), begin, step);
    if (c->want[1]) c->grad[1] = ms_slice(c->ct[0], begin, ms__shape_of(c->in[1]), step);
    return MS_OK;
}

static MsStatus batch_slice_update(MsBatch *c)
{
    int64_t b[MS_MAX_DIM + 1], t[MS_MAX_DIM + 1];
    c->out[0] = ms_slice_update(ms__batch_front(c, 0), ms__batch_front(c, 1), prefixed(&c->attr[0], 0, b),
                                prefixed(&c->attr[1], 1, t));
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

/* x with the region that slice(begin, v.shape, step) would read replaced by v. */
MS_OP(slice_update, .sig = "slice_update(x: any, v: x, *, begin: ints, step: ints) -> x",
      .infer = infer_slice_update, .vjp = vjp_slice_update, .batch = batch_slice_update,
      .sample = "f32[3,4] f32[2,2] begin=0,3 step=2,-1; f32[5] f32[0] begin=0 step=1");

/* ---- as_strided ---- */

static MsStatus infer_as_strided(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    MS_TRY(need_ints(c, 0, -1, "shape"));
    MS_TRY(need_ints(c, 1, c->attr[0].n, "strides"));
    int64_t have = ms__numel(x->ndim, x->shape), n = ms__numel(c->attr[0].n, c->attr[0].v);
    if (have < 0 || n < 0) return ms_error()->code;
    int64_t lo = c->attr[2].i, hi = lo;
    for (int d = 0; d < c->attr[0].n; d++) {
        int64_t span = 0;
        if (__builtin_mul_overflow(c->attr[0].v[d] - 1, c->attr[1].v[d], &span) ||
            __builtin_add_overflow(span < 0 ? lo : hi, span, span < 0 ? &lo : &hi)) {
            hi = INT64_MAX;
            break;
        }
    }
    if (n > 0 && (lo < 0 || hi >= have))
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'as_strided', shape %s, strides %s and offset %lld reach outside the input's %lld elements.",
            ms__shape_text(c->attr[0].n, c->attr[0].v), ms__shape_text(c->attr[1].n, c->attr[1].v),
            (long long)c->attr[2].i, (long long)have);
    set_shape(&c->out[0], &c->attr[0]);
    return MS_OK;
}

/* Position of each element of the view in the flattened base, as int64 of the view's shape flattened. */
static MsTensor *positions(const MsAttr *attr)
{
    MsInts shape = ms__attr_ints(&attr[0]);
    int64_t n = ms__numel(shape.n, shape.v);
    MsTensor *at = ms_reshape(ms_arange_int(attr[2].i, 1, 1, MS_INT64), (MsInts){0, NULL});
    for (int d = 0; at && d < shape.n; d++) {
        int64_t line[MS_MAX_DIM];
        for (int k = 0; k < shape.n; k++) line[k] = k == d ? shape.v[d] : 1;
        at = ms_add(
            at, ms_reshape(ms_arange_int(0, attr[1].v[d], shape.v[d], MS_INT64), (MsInts){shape.n, line}));
    }
    return ms_reshape(at, MS_INTS(n));
}

static MsStatus vjp_as_strided(MsVjp *c)
{
    int64_t n = c->in[0]->numel, m = c->out[0]->numel;
    MsTensor *zero = ms_full(MS_INTS(n), 0, (MsDtype)c->ct[0]->dtype);
    MsTensor *flat = ms_scatter_add(zero, positions(c->attr), ms_reshape(c->ct[0], MS_INTS(m)), 0);
    c->grad[0] = ms_reshape(flat, ms__shape_of(c->in[0]));
    return MS_OK;
}

static MsStatus batch_as_strided(MsBatch *c)
{
    int64_t s[MS_MAX_DIM + 1], t[MS_MAX_DIM + 1];
    MsTensor *x = ms__batch_front(c, 0);
    if (!x) return ms_error()->code;
    int64_t each = c->size > 0 ? x->numel / c->size : 0;
    c->out[0] =
        ms_as_strided(x, prefixed(&c->attr[0], c->size, s), prefixed(&c->attr[1], each, t), c->attr[2].i);
    c->out_axis[0] = 0;
    return ms__status_of(c->out[0]);
}

static MsStatus write_as_strided(const MsOp *op, const MsAttr *attr, MsTensor *base, MsTensor *v,
                                 MsTensor **new_base)
{
    (void)op;
    MsTensor *at = positions(attr);
    MsTensor *flat =
        ms_put_along(ms_reshape(base, MS_INTS(base->numel)), at, ms_reshape(v, MS_INTS(v->numel)), 0, "set");
    *new_base = ms_reshape(flat, ms__shape_of(base));
    return ms__status_of(*new_base);
}

MS_OP(as_strided, .sig = "as_strided(x: any, *, shape: ints, strides: ints, offset: int) -> x",
      .infer = infer_as_strided, .vjp = vjp_as_strided, .batch = batch_as_strided,
      .view_write = write_as_strided, .flags = MS_OP_VIEW,
      .sample = "f32[6] shape=2,3 strides=1,1 offset=1; f32[3,4] shape=3 strides=5 offset=0");

/* ---- contiguous ---- */

static MsStatus vjp_pass(MsVjp *c)
{
    c->grad[0] = c->ct[0];
    return MS_OK;
}

static MsStatus batch_contiguous(MsBatch *c)
{
    c->out[0] = ms_contiguous(c->in[0]);
    c->out_axis[0] = c->axis[0];
    return ms__status_of(c->out[0]);
}

static MsStatus write_contiguous(const MsOp *op, const MsAttr *attr, MsTensor *base, MsTensor *v,
                                 MsTensor **new_base)
{
    (void)op, (void)attr, (void)base;
    *new_base = v;
    return MS_OK;
}

/* The input itself when it is row-major without gaps, else a copy that is. */
MS_OP(contiguous, .sig = "contiguous(x: any) -> x", .vjp = vjp_pass, .batch = batch_contiguous,
      .view_write = write_contiguous, .flags = MS_OP_VIEW, .sample = "f32[3,4]; f32[0]; f32[]");

static MsStatus batch_copy(MsBatch *c)
{
    c->out[0] = ms_copy(c->in[0]);
    c->out_axis[0] = c->axis[0];
    return ms__status_of(c->out[0]);
}

/* A row-major tensor of its own. */
MS_OP(copy, .sig = "copy(x: any) -> x", .vjp = vjp_pass, .batch = batch_copy,
      .sample = "f32[3,4]; f32[0]; f32[]");
