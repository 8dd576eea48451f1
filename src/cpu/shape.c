/* shape.c - kernels of the rearranging operators: each is one or a few strided block copies. */
#include "cpu/copy.h"
#include "op/op.h"

#include <string.h>

static MsStatus run_slice_update(MsCall *c)
{
    MsTensor *y = ms__out(c, 0), *v = c->in[1];
    if (!y) return MS_ERROR_MEMORY;
    MS_TRY(ms__copy(y, c->in[0]));
    if (v->numel == 0) return MS_OK;
    const int64_t *begin = c->attr[0].v, *step = c->attr[1].v;
    int64_t strides[MS_MAX_DIM], offset = 0;
    for (int d = 0; d < y->ndim; d++) {
        strides[d] = y->strides[d] * step[d];
        offset += begin[d] * y->strides[d];
    }
    ms__copy_raw(v->ndim, v->shape, y->data + offset * (int64_t)ms_dtype_size((MsDtype)y->dtype),
                 (MsDtype)y->dtype, strides, v->data, (MsDtype)v->dtype, v->strides);
    return MS_OK;
}
MS_KERNEL(slice_update, 0, loop, NULL, run_slice_update);

static MsStatus run_flip(MsCall *c)
{
    MsTensor *x = c->in[0], *y = ms__out(c, 0);
    uint32_t mask;
    if (!y) return MS_ERROR_MEMORY;
    MS_TRY(ms__axes(c->op, &c->attr[0], x->ndim, &mask));
    int64_t strides[MS_MAX_DIM], offset = 0;
    for (int d = 0; d < x->ndim; d++) {
        bool turned = mask >> d & 1;
        strides[d] = turned ? -x->strides[d] : x->strides[d];
        if (turned && x->numel) offset += (x->shape[d] - 1) * x->strides[d];
    }
    ms__copy_raw(x->ndim, x->shape, y->data, (MsDtype)y->dtype, y->strides,
                 x->data + offset * (int64_t)ms_dtype_size((MsDtype)x->dtype), (MsDtype)x->dtype, strides);
    return MS_OK;
}
MS_KERNEL(flip, 0, loop, NULL, run_flip);

static MsStatus run_pad(MsCall *c)
{
    MsTensor *x = c->in[0], *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    const int64_t *low = c->attr[0].v, *high = c->attr[1].v;
    int64_t shape[MS_MAX_DIM], from = 0, to = 0, size = (int64_t)ms_dtype_size((MsDtype)x->dtype);
    bool grows = false, empty = x->numel == 0;
    for (int d = 0; d < x->ndim; d++) {
        int64_t cut = (low[d] < 0 ? -low[d] : 0) + (high[d] < 0 ? -high[d] : 0);
        shape[d] = x->shape[d] - cut;
        if (shape[d] <= 0) empty = true;
        grows |= low[d] > 0 || high[d] > 0;
        if (low[d] < 0)
            from -= low[d] * x->strides[d];
        else
            to += low[d] * y->strides[d];
    }
    if (grows || empty) {
        _Alignas(16) char value[16];
        ms__element((MsDtype)y->dtype, c->attr[2].f, value);
        ms__fill(y, value);
    }
    if (!empty)
        ms__copy_raw(x->ndim, shape, y->data + to * size, (MsDtype)y->dtype, y->strides,
                     x->data + from * size, (MsDtype)x->dtype, x->strides);
    return MS_OK;
}
MS_KERNEL(pad, 0, loop, NULL, run_pad);

static MsStatus run_concat(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    int axis;
    if (!y) return MS_ERROR_MEMORY;
    MS_TRY(ms__axis(c->op, c->attr[0].i, y->ndim, &axis));
    char *at = y->data;
    for (int i = 0; i < c->n_in; i++) {
        MsTensor *x = c->in[i];
        ms__copy_raw(x->ndim, x->shape, at, (MsDtype)y->dtype, y->strides, x->data, (MsDtype)x->dtype,
                     x->strides);
        at += x->shape[axis] * y->strides[axis] * (int64_t)ms_dtype_size((MsDtype)y->dtype);
    }
    return MS_OK;
}
MS_KERNEL(concat, 0, loop, NULL, run_concat);

/* Row by row: the kept part is copied, the rest is zero bytes, which is 0 in every dtype. */
static MsStatus triangle(MsCall *c, bool upper)
{
    MsTensor *x = c->in[0], *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    _Alignas(16) const char zero[16] = {0};
    ms__fill(y, zero);
    int nd = x->ndim;
    int64_t rows = x->shape[nd - 2], cols = x->shape[nd - 1], k = c->attr[0].i;
    int64_t size = (int64_t)ms_dtype_size((MsDtype)x->dtype);
    int64_t shape[MS_MAX_DIM];
    memcpy(shape, x->shape, sizeof shape);
    shape[nd - 2] = 1;
    if (k > cols) k = cols;
    if (k < -rows) k = -rows;
    for (int64_t r = 0; r < rows; r++) {
        int64_t from = upper ? r + k : 0, to = upper ? cols : r + k + 1;
        if (from < 0) from = 0;
        if (to > cols) to = cols;
        if (from >= to) continue;
        shape[nd - 1] = to - from;
        ms__copy_raw(nd, shape, y->data + (r * y->strides[nd - 2] + from * y->strides[nd - 1]) * size,
                     (MsDtype)y->dtype, y->strides,
                     x->data + (r * x->strides[nd - 2] + from * x->strides[nd - 1]) * size, (MsDtype)x->dtype,
                     x->strides);
    }
    return MS_OK;
}

static MsStatus run_tril(MsCall *c)
{
    return triangle(c, false);
}
static MsStatus run_triu(MsCall *c)
{
    return triangle(c, true);
}
MS_KERNEL(tril, 0, loop, NULL, run_tril);
MS_KERNEL(triu, 0, loop, NULL, run_triu);
