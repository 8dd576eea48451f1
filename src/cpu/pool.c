/* pool.c - pooling on float32 and float64 (half types are widened first). Forward takes any strides; the
 * results keep channels-last strides when the input has them. The gradients work on row-major or
 * channels-last operands and bring others into one of the two. */
#include "cpu/pool.h"

#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/op.h"

#include <string.h>

#define WORK 16384 /* window positions that are worth a thread */

static void spatial(int64_t out[3], const int64_t *v, int ns, int64_t fill)
{
    for (int d = 0; d < 3; d++) out[d] = d >= 3 - ns ? v[d - (3 - ns)] : fill;
}

static void steps(int64_t out[5], const MsTensor *t)
{
    out[0] = t->strides[0];
    out[1] = t->strides[1];
    spatial(out + 2, t->strides + 2, t->ndim - 2, 0);
}

/* Sizes and strides of the large side x and the small side y; index has y's shape. */
static MsPool pool_of(const MsTensor *x, const MsTensor *y, const MsTensor *index)
{
    MsPool p = {
        .n = x->shape[0], .c = x->shape[1], .px = x->data, .py = y->data, .dilation = {1, 1, 1}, .bad = -1};
    int ns = x->ndim - 2;
    spatial(p.x, x->shape + 2, ns, 1);
    spatial(p.y, y->shape + 2, ns, 1);
    steps(p.sx, x);
    steps(p.sy, y);
    if (index) {
        p.index = (int64_t *)index->data;
        steps(p.si, index);
    }
    return p;
}

static void set_window(MsPool *p, const MsAttr *at, int ns, bool dilated)
{
    spatial(p->kernel, at[0].v, ns, 1);
    spatial(p->stride, at[1].v, ns, 1);
    spatial(p->low, at[2].v, ns, 0);
    spatial(p->high, at[3].v, ns, 0);
    if (dilated) spatial(p->dilation, at[4].v, ns, 1);
}

static void set_adaptive(MsPool *p)
{
    p->adaptive = true;
    for (int d = 0; d < 3; d++) {
        p->kernel[d] = p->x[d] / p->y[d] + 1;
        p->stride[d] = 1;
    }
}

static int64_t window_size(const MsPool *p)
{
    return p->kernel[0] * p->kernel[1] * p->kernel[2];
}

/* t in `dtype`, strides kept where nothing has to be converted, the layout's otherwise. */
static MsTensor *with_layout(MsTensor *t, MsDtype dtype, bool last, bool exact)
{
    if (t->dtype == dtype && (!exact || (last ? ms__is_channels_last(t) : t->contiguous))) return t;
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(t->ndim, t->shape, strides);
    MsTensor *u = ms__tensor_dense(dtype, t->ndim, t->shape, last ? strides : NULL);
    return u && ms__copy(u, t) == MS_OK ? u : NULL;
}

/* Where output y is computed: itself, or a tensor of the layout that ms__dense_done copies from. */
static MsTensor *out_with_layout(MsTensor *y, MsDtype dtype, bool last, bool exact)
{
    if (y->dtype == dtype && (!exact || (last ? ms__is_channels_last(y) : y->contiguous))) return y;
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(y->ndim, y->shape, strides);
    return ms__tensor_dense(dtype, y->ndim, y->shape, last ? strides : NULL);
}

static MsTensor *out_like(MsCall *c, int j, bool last)
{
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(c->aval[j].ndim, c->aval[j].shape, strides);
    return ms__out_strided(c, j, last ? strides : NULL);
}

static MsStatus forward(MsCall *c, bool max, bool adaptive)
{
    bool last = ms__is_channels_last(c->in[0]) && c->in[0]->shape[1] > 1;
    MsTensor *y = out_like(c, 0, last), *index = max && y ? out_like(c, 1, last) : NULL;
    if (!y || (max && !index)) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)y->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = with_layout(c->in[0], dtype, last, false), *to = out_with_layout(y, dtype, last, false);
    MsStatus st = x && to ? MS_OK : ms_error()->code;
    if (st == MS_OK && to->numel) {
        const MsPoolFns *fns = MS_ISA_PICK(&ms__pool_);
        MsPool p = pool_of(x, to, index);
        if (adaptive)
            set_adaptive(&p);
        else
            set_window(&p, c->attr, x->ndim - 2, max);
        if (!max && !adaptive) p.count_pad = c->attr[4].i, p.divisor = c->attr[5].i;
        int wide = dtype == MS_FLOAT64;
        int64_t w = window_size(&p), line = p.y[2] * p.c * w + 1, plane = p.y[0] * p.y[1] * p.y[2] * w + 1;
        if (p.sx[1] == 1 && p.sy[1] == 1 && (!max || p.si[1] == 1))
            ms__parallel_pieces(p.n * p.y[0] * p.y[1], 1 + WORK / line,
                                max ? fns->max_lines[wide] : fns->avg_lines[wide], &p);
        else
            ms__parallel_pieces(p.n * p.c, 1 + WORK / plane,
                                max ? fns->max_planes[wide] : fns->avg_planes[wide], &p);
    }
    if (st == MS_OK) st = ms__dense_done(y, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_max_pool(MsCall *c)
{
    return forward(c, true, false);
}
static MsStatus run_avg_pool(MsCall *c)
{
    return forward(c, false, false);
}
static MsStatus run_adaptive_avg_pool(MsCall *c)
{
    return forward(c, false, true);
}

/* ---- gradients ---- */

static int64_t units(const MsPool *p)
{
    return p->n * ((p->c + MS_POOL_BLOCK - 1) / MS_POOL_BLOCK);
}

static MsStatus check_index(const MsCall *c, const MsPool *p)
{
    if (p->bad == -1) return MS_OK;
    return MS_FAIL(MS_ERROR_INDEX, "For '%s', the positions in 'index' must be in [0, %lld), but got %lld.",
                   c->op->name, (long long)(p->x[0] * p->x[1] * p->x[2]), (long long)p->bad);
}

/* The steps of dense layouts, also where an axis has size one and its stride says nothing. */
static void regular_steps(MsPool *p, bool last)
{
    p->sx[4] = last ? p->c : 1;
    p->sx[3] = p->sx[4] * p->x[2];
    p->sx[2] = p->sx[3] * p->x[1];
    p->sx[1] = last ? 1 : p->sx[2] * p->x[0];
    p->sx[0] = p->c * p->x[0] * p->x[1] * p->x[2];
}

static MsStatus run_max_pool_grad(MsCall *c)
{
    bool last = ms__is_channels_last(c->in[0]) && c->in[0]->shape[1] > 1;
    MsTensor *x = out_like(c, 0, last);
    if (!x) return ms_error()->code;
    last = ms__is_channels_last(x);
    MsDtype dtype = ms__compute_dtype((MsDtype)x->dtype);
    int mark = ms_scope_begin();
    MsTensor *dy = with_layout(c->in[0], dtype, last, false), *to = out_with_layout(x, dtype, last, true);
    MsStatus st = dy && to ? MS_OK : ms_error()->code;
    if (st == MS_OK && to->numel) {
        MsPool p = pool_of(to, dy, c->in[1]);
        regular_steps(&p, last);
        ms__zero(to);
        int64_t work = dy->numel / units(&p) + 1;
        ms__parallel_pieces(units(&p), 1 + WORK / work,
                            (MS_ISA_PICK(&ms__pool_))->max_grad[dtype == MS_FLOAT64], &p);
        st = check_index(c, &p);
    }
    if (st == MS_OK) st = ms__dense_done(x, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_max_pool_take(MsCall *c)
{
    bool last = ms__is_channels_last(c->in[0]) && c->in[0]->shape[1] > 1;
    MsTensor *y = out_like(c, 0, last);
    if (!y) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)y->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = with_layout(c->in[0], dtype, last, true), *to = out_with_layout(y, dtype, last, false);
    MsStatus st = x && to ? MS_OK : ms_error()->code;
    if (st == MS_OK && to->numel) {
        MsPool p = pool_of(x, to, c->in[1]);
        regular_steps(&p, last);
        int64_t work = to->numel / units(&p) + 1;
        ms__parallel_pieces(units(&p), 1 + WORK / work,
                            (MS_ISA_PICK(&ms__pool_))->max_take[dtype == MS_FLOAT64], &p);
        st = check_index(c, &p);
    }
    if (st == MS_OK) st = ms__dense_done(y, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus avg_grad(MsCall *c, bool adaptive)
{
    bool last = ms__is_channels_last(c->in[0]) && c->in[0]->shape[1] > 1;
    MsTensor *x = out_like(c, 0, last);
    if (!x) return ms_error()->code;
    last = ms__is_channels_last(x);
    MsDtype dtype = ms__compute_dtype((MsDtype)x->dtype);
    int mark = ms_scope_begin();
    MsTensor *dy = with_layout(c->in[0], dtype, last, false), *to = out_with_layout(x, dtype, last, true);
    MsStatus st = dy && to ? MS_OK : ms_error()->code;
    if (st == MS_OK && to->numel) {
        MsPool p = pool_of(to, dy, NULL);
        if (adaptive) {
            set_adaptive(&p);
        } else {
            set_window(&p, c->attr + 1, x->ndim - 2, false);
            p.count_pad = c->attr[5].i, p.divisor = c->attr[6].i;
        }
        ms__zero(to);
        int64_t work = dy->numel / units(&p) * window_size(&p) + 1;
        ms__parallel_pieces(units(&p), 1 + WORK / work,
                            (MS_ISA_PICK(&ms__pool_))->avg_grad[dtype == MS_FLOAT64], &p);
    }
    if (st == MS_OK) st = ms__dense_done(x, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_avg_pool_grad(MsCall *c)
{
    return avg_grad(c, false);
}
static MsStatus run_adaptive_avg_pool_grad(MsCall *c)
{
    return avg_grad(c, true);
}

MS_KERNEL(max_pool, 0, loop, NULL, run_max_pool);
MS_KERNEL(max_pool_grad, 0, loop, NULL, run_max_pool_grad);
MS_KERNEL(max_pool_take, 0, loop, NULL, run_max_pool_take);
MS_KERNEL(avg_pool, 0, loop, NULL, run_avg_pool);
MS_KERNEL(avg_pool_grad, 0, loop, NULL, run_avg_pool_grad);
MS_KERNEL(adaptive_avg_pool, 0, loop, NULL, run_adaptive_avg_pool);
MS_KERNEL(adaptive_avg_pool_grad, 0, loop, NULL, run_adaptive_avg_pool_grad);
