/* view.c - views are handle arithmetic: no element moves unless the caller preset an output, which then
 * receives a copy, or the layout of the input cannot express the result (some reshapes). */
#include "cpu/copy.h"
#include "op/op.h"

#include <string.h>

/* Gives `view` as output 0, or copies it into the preset one. */
static MsStatus give(MsCall *c, MsTensor *view)
{
    if (!view) return ms_error()->code;
    if (c->out[0]) return ms__copy(c->out[0], view);
    c->out[0] = view;
    return MS_OK;
}

/* The same for a view made for this call only. */
static MsStatus give_view(MsCall *c, MsTensor *base, int ndim, const int64_t *shape, const int64_t *strides,
                          int64_t offset)
{
    if (!c->out[0]) return give(c, ms__tensor_view(base, ndim, shape, strides, offset));
    int mark = ms_scope_begin();
    MsTensor *v = ms__tensor_view(base, ndim, shape, strides, offset);
    MsStatus st = give(c, v);
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* Strides with which t's elements read as `shape`; false when there are none. Runs of dimensions with equal
 * products on both sides are matched; within a run t must be walkable with one stride. */
static bool reshape_strides(const MsTensor *t, int ndim, const int64_t *shape, int64_t *strides)
{
    if (t->numel == 0 || t->contiguous) {
        ms__row_major(ndim, shape, strides);
        return true;
    }
    int i = 0, j = 0; /* next dims of t and of shape */
    while (i < t->ndim || j < ndim) {
        int i0 = i, j0 = j;
        int64_t a = 1, b = 1;
        if (i < t->ndim) a = t->shape[i++];
        if (j < ndim) b = shape[j++];
        while (a != b) {
            if (a < b)
                a *= t->shape[i++];
            else
                b *= shape[j++];
        }
        int64_t count, stride;
        if (!ms__collapse(t, i0, i, &count, &stride)) return false;
        for (int k = j - 1; k >= j0; k--) {
            strides[k] = stride;
            stride *= shape[k];
        }
    }
    return true;
}

static MsStatus run_reshape(MsCall *c)
{
    MsTensor *x = c->in[0];
    const MsAval *a = &c->aval[0];
    int64_t strides[MS_MAX_DIM];
    if (reshape_strides(x, a->ndim, a->shape, strides)) return give_view(c, x, a->ndim, a->shape, strides, 0);
    if (!c->out[0] || c->out[0]->contiguous) {
        MsTensor *y = ms__out(c, 0);
        if (!y) return MS_ERROR_MEMORY;
        ms__row_major(x->ndim, x->shape, strides);
        ms__copy_raw(x->ndim, x->shape, y->data, (MsDtype)y->dtype, strides, x->data, (MsDtype)x->dtype,
                     x->strides);
        return MS_OK;
    }
    int mark = ms_scope_begin();
    MsTensor *t = ms__dense(x);
    MsStatus st = MS_ERROR_MEMORY;
    if (t) {
        ms__row_major(a->ndim, a->shape, strides);
        st = give_view(c, t, a->ndim, a->shape, strides, 0);
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}
MS_KERNEL(reshape, 0, view, NULL, run_reshape);

static MsStatus run_transpose(MsCall *c)
{
    MsTensor *x = c->in[0];
    int64_t strides[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++) strides[d] = x->strides[c->attr[0].v[d]];
    return give_view(c, x, x->ndim, c->aval[0].shape, strides, 0);
}
MS_KERNEL(transpose, 0, view, NULL, run_transpose);

static MsStatus run_broadcast_to(MsCall *c)
{
    MsTensor *x = c->in[0];
    const MsAval *a = &c->aval[0];
    int64_t strides[MS_MAX_DIM];
    int lead = a->ndim - x->ndim;
    for (int d = 0; d < a->ndim; d++) {
        bool stretched = d < lead || (x->shape[d - lead] == 1 && a->shape[d] != 1);
        strides[d] = stretched ? 0 : x->strides[d - lead];
    }
    return give_view(c, x, a->ndim, a->shape, strides, 0);
}
MS_KERNEL(broadcast_to, 0, view, NULL, run_broadcast_to);

static MsStatus run_slice(MsCall *c)
{
    MsTensor *x = c->in[0];
    const int64_t *begin = c->attr[0].v, *step = c->attr[2].v;
    int64_t strides[MS_MAX_DIM], offset = 0;
    for (int d = 0; d < x->ndim; d++) {
        strides[d] = x->strides[d] * step[d];
        offset += begin[d] * x->strides[d];
    }
    return give_view(c, x, x->ndim, c->aval[0].shape, strides, c->aval[0].ndim && !x->numel ? 0 : offset);
}
MS_KERNEL(slice, 0, view, NULL, run_slice);

static MsStatus run_as_strided(MsCall *c)
{
    MsTensor *x = c->in[0];
    const MsAval *a = &c->aval[0];
    if (x->contiguous) return give_view(c, x, a->ndim, a->shape, c->attr[1].v, c->attr[2].i);
    int mark = ms_scope_begin();
    MsTensor *made = c->out[0], *t = ms__dense(x);
    MsStatus st = t ? give_view(c, t, a->ndim, a->shape, c->attr[1].v, c->attr[2].i) : MS_ERROR_MEMORY;
    ms_scope_end(mark, c->out, made ? 0 : 1);
    return st;
}
MS_KERNEL(as_strided, 0, view, NULL, run_as_strided);

static MsStatus run_contiguous(MsCall *c)
{
    MsTensor *x = c->in[0];
    if (x->contiguous) return give_view(c, x, x->ndim, x->shape, x->strides, 0);
    MsTensor *y = ms__out(c, 0);
    return y ? ms__copy(y, x) : MS_ERROR_MEMORY;
}
MS_KERNEL(contiguous, 0, view, NULL, run_contiguous);

static MsStatus run_copy(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    return y ? ms__copy(y, c->in[0]) : MS_ERROR_MEMORY;
}
MS_KERNEL(copy, 0, loop, NULL, run_copy);
