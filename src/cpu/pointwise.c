/* pointwise.c - 1x1 and depthwise 3x3 convolutions of channels-last float32 activations and first layers
 * of stride 2, alone and together with the normalisation behind them (conv_norm), see pointwise.h. What
 * the primitive library leaves to be gained here is what comes between: a pass over memory and a hand-over
 * to the threads for each normalisation. Which kernel runs depends on shapes alone, so that a value does
 * not change with the mode. */
#include "cpu/pointwise.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "cpu/packed.h"
#include "cpu/winograd.h"
#include "op/conv.h"

#include <string.h>

#define WORK 65536  /* multiply-adds that are worth a thread */
#define CHUNK 65536 /* floats of a chunk of pixels and its outputs: they stay in the second-level cache */
#define MOST_PIXELS 16384 /* beyond, the primitive library is as fast */

static const MsPointFns *fns(void)
{
    return MS_ISA_PICK(&ms__point_);
}

/* What both refuse. */
static const char *refuse(MsDtype dtype, int ndim, const MsAttr *at)
{
    if (!fns()->point) return "instruction set";
    if (dtype != MS_FLOAT32) return "dtype";
    if (ndim != 4) return "not two-dimensional";
    for (int d = 0; d < 2; d++)
        if (at[DILATION].v[d] != 1) return "dilation";
    return NULL;
}

static const char *point_refuses(MsDtype dtype, int ndim, const int64_t *x, const int64_t *w,
                                 const MsAttr *at)
{
    const char *why = refuse(dtype, ndim, at);
    if (why) return why;
    if (w[2] != 1 || w[3] != 1 || at[GROUPS].i != 1) return "not 1x1";
    for (int d = 0; d < 2; d++)
        if (at[STRIDE].v[d] != 1 || at[LOW].v[d] || at[HIGH].v[d]) return "stride or padding";
    if (w[0] % 8 || w[0] < 16 || w[1] < 8) return "channels";
    int64_t pixels = x[0] * x[2] * x[3];
    return pixels < 16 || pixels > MOST_PIXELS ? "pixels" : NULL;
}

static const char *depth_refuses(MsDtype dtype, int ndim, const int64_t *x, const int64_t *w,
                                 const int64_t *y, const MsAttr *at)
{
    const char *why = refuse(dtype, ndim, at);
    if (why) return why;
    if (w[2] != 3 || w[3] != 3) return "not 3x3";
    if (at[GROUPS].i != x[1] || w[0] != x[1] || x[1] % 16)
        return "not a kernel for each of whole vectors of channels";
    for (int d = 0; d < 2; d++)
        if (at[LOW].v[d] > 1 || at[HIGH].v[d] > 1 || at[STRIDE].v[d] > 2) return "stride or padding";
    if (at[STRIDE].v[0] != at[STRIDE].v[1]) return "two strides";
    if (x[2] < 3 || x[3] < 3 || y[2] < 1 || y[3] < 1 || x[0] < 1) return "size";
    return x[0] * x[2] * x[3] > MOST_PIXELS ? "pixels" : NULL;
}

static const char *first_refuses(MsDtype dtype, int ndim, const int64_t *x, const int64_t *w,
                                 const int64_t *y, const MsAttr *at)
{
    const char *why = refuse(dtype, ndim, at);
    if (why) return why;
    if (at[GROUPS].i != 1 || x[1] < 1 || x[1] > 4 || w[0] % 16 || w[0] > 128) return "channels";
    for (int d = 0; d < 2; d++)
        if (at[STRIDE].v[d] != 2 || w[2 + d] > 7 || w[2 + d] < 2 || at[LOW].v[d] >= w[2 + d] ||
            at[HIGH].v[d] >= w[2 + d] || x[2 + d] < w[2 + d])
            return "stride, kernel or padding";
    if (x[0] < 1) return "empty";
    return x[0] * y[2] * y[3] > MOST_PIXELS ? "pixels" : NULL;
}

bool ms__conv_takes_norm(const MsAttr *at, const MsAval *x, const MsAval *w, const MsAval *y)
{
    return !point_refuses(x->dtype, x->ndim, x->shape, w->shape, at) ||
           !depth_refuses(x->dtype, x->ndim, x->shape, w->shape, y->shape, at) ||
           !first_refuses(x->dtype, x->ndim, x->shape, w->shape, y->shape, at) ||
           !ms__wino_refuses(x->dtype, x->ndim, x->shape, w->shape, y->shape, at);
}

/* ---- 1x1 ---- */

int64_t ms__point_unit(const MsPoint *p, int64_t panel)
{
    return (p->o + MS_POINT_UNIT - 1) / MS_POINT_UNIT * panel / p->panels;
}

static void pack_point(const MsPoint *p, const MsTensor *w, float *to, size_t nbytes)
{
    if (p->o % MS_POINT_UNIT) memset(to, 0, nbytes);
    for (int64_t q = 0; q < p->panels; q++) {
        int64_t o = ms__point_unit(p, q) * MS_POINT_UNIT,
                width = ms__point_unit(p, q + 1) * MS_POINT_UNIT - o;
        int64_t shape[2] = {p->c, width < p->o - o ? width : p->o - o}, out[2] = {width, 1};
        int64_t in[2] = {w->strides[1], w->strides[0]};
        ms__copy_raw(2, shape, to + o * p->c, MS_FLOAT32, out, (const float *)w->data + o * w->strides[0],
                     MS_FLOAT32, in);
    }
}

static void set_units(MsPoint *p)
{
    int64_t threads = ms_thread_count(), units = (p->o + MS_POINT_UNIT - 1) / MS_POINT_UNIT;
    p->panels = (units + 3) / 4;
    p->by_panel = p->o > p->pixels;
    p->chunks = p->by_panel ? 1 : (p->pixels * (p->c + p->o) + CHUNK - 1) / CHUNK;
    if (!p->by_panel || p->panels % threads) p->chunks = (p->chunks + threads - 1) / threads * threads;
    if (p->chunks > p->pixels / 12) p->chunks = p->pixels / 12;
    if (p->chunks < 1) p->chunks = 1;
}

static MsStatus run_point(const MsTensor *x, const MsTensor *w, MsTensor *y, const MsFinish *finish,
                          const MsAttr *at)
{
    (void)at;
    MsPoint p = {.pixels = x->shape[0] * x->shape[2] * x->shape[3],
                 .c = x->shape[1],
                 .o = y->shape[1],
                 .x = (const float *)x->data,
                 .y = (float *)y->data,
                 .finish = *finish};
    set_units(&p);
    MsPackedUse k;
    size_t nbytes = (size_t)((p.o + MS_POINT_UNIT - 1) / MS_POINT_UNIT * MS_POINT_UNIT * p.c) * sizeof(float);
    p.w = ms__packed_open(&k, w, MS_PACKED_POINT, nbytes);
    if (p.w && k.made) pack_point(&p, w, k.made, nbytes);
    int64_t units = p.panels * p.chunks;
    if (p.w) ms__parallel_for(units, 1 + WORK * units / (p.pixels * p.c * p.o), fns()->point, &p);
    ms__packed_close(&k);
    return p.w ? MS_OK : MS_ERROR_MEMORY;
}

/* ---- depthwise ---- */

static MsStatus run_depth(const MsTensor *x, const MsTensor *w, MsTensor *y, const MsFinish *finish,
                          const MsAttr *at)
{
    MsDepth p = {.n = x->shape[0],
                 .h = x->shape[2],
                 .w = x->shape[3],
                 .c = x->shape[1],
                 .oh = y->shape[2],
                 .ow = y->shape[3],
                 .low = {at[LOW].v[0], at[LOW].v[1]},
                 .stride = at[STRIDE].v[0],
                 .x = (const float *)x->data,
                 .y = (float *)y->data,
                 .finish = *finish};
    MsPackedUse k;
    p.k = ms__packed_open(&k, w, MS_PACKED_DEPTH, (size_t)(9 * p.c) * sizeof(float));
    if (p.k && k.made) {
        int64_t shape[3] = {3, 3, p.c}, out[3] = {3 * p.c, p.c, 1};
        int64_t in[3] = {w->strides[2], w->strides[3], w->strides[0]};
        ms__copy_raw(3, shape, k.made, MS_FLOAT32, out, w->data, MS_FLOAT32, in);
    }
    if (p.k) ms__parallel_for(p.n * p.oh, 1 + WORK / (9 * p.ow * p.c), fns()->depth, &p);
    ms__packed_close(&k);
    return p.k ? MS_OK : MS_ERROR_MEMORY;
}

/* ---- a first layer ---- */

static MsStatus run_first(const MsTensor *x, const MsTensor *w, MsTensor *y, const MsFinish *finish,
                          const MsAttr *at)
{
    MsFirst p = {.n = x->shape[0],
                 .c = x->shape[1],
                 .h = x->shape[2],
                 .w = x->shape[3],
                 .o = y->shape[1],
                 .oh = y->shape[2],
                 .ow = y->shape[3],
                 .kh = w->shape[2],
                 .kw = w->shape[3],
                 .low = {at[LOW].v[0], at[LOW].v[1]},
                 .steps = {x->strides[0], x->strides[1], x->strides[2], x->strides[3]},
                 .x = (const float *)x->data,
                 .y = (float *)y->data,
                 .finish = *finish};
    MsPackedUse k;
    int64_t n = p.kh * p.kw * p.c * p.o;
    p.k = ms__packed_open(&k, w, MS_PACKED_FIRST, (size_t)n * sizeof(float));
    if (p.k && k.made) {
        int64_t shape[4] = {p.kh, p.c, p.kw, p.o}, out[4];
        int64_t in[4] = {w->strides[2], w->strides[1], w->strides[3], w->strides[0]};
        ms__row_major(4, shape, out);
        ms__copy_raw(4, shape, k.made, MS_FLOAT32, out, w->data, MS_FLOAT32, in);
    }
    if (p.k) ms__parallel_for(p.n * p.oh, 1 + WORK / (p.ow * n), fns()->first, &p);
    ms__packed_close(&k);
    return p.k ? MS_OK : MS_ERROR_MEMORY;
}

/* ---- calls ---- */

typedef MsStatus (*Compute)(const MsTensor *x, const MsTensor *w, MsTensor *y, const MsFinish *finish,
                            const MsAttr *at);

static MsStatus run(MsCall *c, Compute compute, bool any_layout)
{
    int64_t last[MS_MAX_DIM];
    ms__channels_last(4, c->aval[0].shape, last);
    MsTensor *out = ms__out_strided(c, 0, last);
    if (!out) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *x = any_layout ? c->in[0] : ms__dense_last(c->in[0]), *y = out;
    if (!ms__is_channels_last(out)) y = ms__tensor_dense(MS_FLOAT32, 4, out->shape, last);
    MsStatus st = x && y ? MS_OK : ms_error()->code;
    if (st == MS_OK) {
        MsFinish finish;
        st = ms__finish_open(&finish, c, out->shape[1]);
        if (st == MS_OK) st = compute(x, c->in[1], y, &finish, c->attr);
        ms__finish_close(&finish);
    }
    if (st == MS_OK) st = ms__dense_done(out, y);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static const char *ok_point(const MsCall *c)
{
    return point_refuses((MsDtype)c->in[0]->dtype, c->in[0]->ndim, c->in[0]->shape, c->in[1]->shape, c->attr);
}
static const char *ok_depth(const MsCall *c)
{
    return depth_refuses((MsDtype)c->in[0]->dtype, c->in[0]->ndim, c->in[0]->shape, c->in[1]->shape,
                         c->aval[0].shape, c->attr);
}
static MsStatus run_points(MsCall *c)
{
    return run(c, run_point, false);
}
static MsStatus run_depths(MsCall *c)
{
    return run(c, run_depth, false);
}
static const char *ok_first(const MsCall *c)
{
    return first_refuses((MsDtype)c->in[0]->dtype, c->in[0]->ndim, c->in[0]->shape, c->in[1]->shape,
                         c->aval[0].shape, c->attr);
}
static MsStatus run_firsts(MsCall *c)
{
    return run(c, run_first, true);
}

MS_KERNEL(conv, 58, point, ok_point, run_points);
MS_KERNEL(conv, 57, depth, ok_depth, run_depths);
MS_KERNEL(conv_norm, 58, point, ok_point, run_points);
MS_KERNEL(conv_norm, 57, depth, ok_depth, run_depths);
MS_KERNEL(conv, 56, first, ok_first, run_firsts);
MS_KERNEL(conv_norm, 56, first, ok_first, run_firsts);
