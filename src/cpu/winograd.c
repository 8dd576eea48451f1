/* winograd.c - 3x3 convolutions of many channels with stride 1 in a quarter of the multiplications, see
 * winograd.h; also the input gradient, which is a convolution with flipped weights, and the weight
 * gradient, the adjoint of the same maps. A tile's values meet in sums that cancel again, so one that is
 * not finite would spoil its neighbours: results are checked on the way, and the next kernel takes over if
 * one is not finite. Sums are taken in an order that the shapes fix. Refused: larger tiles, whose rounding
 * errors are a further ten times as large. */
#include "cpu/winograd.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "cpu/packed.h"
#include "op/conv.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_CHANNELS 32
#define FEWEST_TILES 16       /* fewer do not pay for weights four times as large */
#define CHUNK_BYTES (3 << 19) /* of transformed values that a thread works on */
#define SLICE_BYTES (8 << 20) /* of those that a weight gradient sums at once */
#define ROWS 6                /* tiles that a product takes together */

extern const MsKernel ms_kernel_conv_winograd, ms_kernel_conv_norm_winograd,
    ms_kernel_conv_input_grad_winograd, ms_kernel_conv_weight_grad_winograd;

static const MsWinoFns *fns(void)
{
    return MS_ISA_PICK(&ms__wino_);
}

const char *ms__wino_refuses(MsDtype dtype, int ndim, const int64_t *x, const int64_t *w, const int64_t *y,
                             const MsAttr *at)
{
    if (!fns()->forward) return "instruction set";
    if (dtype != MS_FLOAT32) return "dtype";
    if (ndim != 4 || w[2] != 3 || w[3] != 3) return "not 3x3";
    if (at[GROUPS].i != 1) return "groups";
    for (int d = 0; d < 2; d++)
        if (at[STRIDE].v[d] != 1 || at[DILATION].v[d] != 1) return "stride or dilation";
    for (int d = 0; d < 2; d++)
        if (at[LOW].v[d] > 2 || at[HIGH].v[d] > 2) return "padding";
    if (w[0] % 16 || w[1] % 16 || w[0] < FEWEST_CHANNELS || w[1] < FEWEST_CHANNELS) return "channels";
    int64_t tiles = (y[2] + 3) / 4 * ((y[3] + 3) / 4);
    if (x[0] * tiles < FEWEST_TILES) return "few tiles";
    if (9 * y[2] * y[3] < 60 * tiles) return "tiles that are mostly outside";
    return NULL;
}

static const char *refuse(const MsCall *c, const int64_t *x, const int64_t *w, const int64_t *y,
                          const MsAttr *at)
{
    return ms__wino_refuses((MsDtype)c->in[0]->dtype, c->in[0]->ndim, x, w, y, at);
}

static const char *ok_conv(const MsCall *c)
{
    return refuse(c, c->in[0]->shape, c->in[1]->shape, c->aval[0].shape, c->attr);
}
static const char *ok_input_grad(const MsCall *c)
{
    return refuse(c, c->aval[0].shape, c->in[1]->shape, c->in[0]->shape, c->attr + 1);
}
static const char *ok_weight_grad(const MsCall *c)
{
    return refuse(c, c->in[0]->shape, c->aval[0].shape, c->in[1]->shape, c->attr + 1);
}

/* The kernel after `self` that accepts the call. */
static MsStatus run_next(MsCall *c, const MsKernel *self)
{
    const MsKernel *const *k = c->op->kernels;
    while (*k++ != self) {
    }
    while ((*k)->ok && (*k)->ok(c)) k++;
    return (*k)->run(c);
}

static MsWino problem(const MsTensor *x, const MsTensor *y, const int64_t *low)
{
    MsWino p = {.n = x->shape[0],
                .h = x->shape[2],
                .w = x->shape[3],
                .c = x->shape[1],
                .oh = y->shape[2],
                .ow = y->shape[3],
                .o = y->shape[1],
                .low = {low[0], low[1]},
                .x = (const float *)x->data,
                .y = (float *)y->data};
    p.th = (p.oh + 3) / 4;
    p.tw = (p.ow + 3) / 4;
    p.tiles = p.n * p.th * p.tw;
    return p;
}

int64_t ms__wino_panels(int64_t o)
{
    return (o + MS_WINO_WIDE - 1) / MS_WINO_WIDE;
}

/* The most tiles of at most `bytes`, but enough to make use of a panel that comes from memory. */
static int64_t tiles_of(const MsWino *p, int64_t bytes, int64_t fewest)
{
    int64_t n = bytes / (MS_WINO_POINTS * 4 * (p->c + p->o)) / ROWS * ROWS;
    if (n < fewest) n = fewest;
    return n < p->tiles ? n : p->tiles;
}

/* ---- convolution and its input gradient ---- */

/* w [o, c, 3, 3] transformed; with `flip` as the gradient needs it: turned round and between exchanged
 * channels. */
static void transform_weights(const MsTensor *w, bool flip, float *u)
{
    const int64_t *s = w->strides;
    MsWinoWeights job = {(const float *)w->data, w->shape[1], w->shape[0], {s[0], s[1], s[2], s[3]}, u};
    if (flip)
        job = (MsWinoWeights){
            job.w + 2 * (s[2] + s[3]), w->shape[0], w->shape[1], {s[1], s[0], -s[2], -s[3]}, u};
    ms__parallel_for(job.c, 1 + 4096 / job.o, fns()->weights, &job);
}

static MsStatus compute(MsWino *p, const MsTensor *w, bool flip)
{
    size_t u_bytes = (size_t)(MS_WINO_POINTS * ms__wino_panels(p->o) * p->c * MS_WINO_WIDE) * sizeof(float);
    int threads = ms_thread_count();
    p->chunk = tiles_of(p, CHUNK_BYTES, 4 * ROWS);
    if (p->chunk > (p->tiles + threads - 1) / threads) p->chunk = (p->tiles + threads - 1) / threads;
    p->work_size = MS_WINO_POINTS * (p->chunk * (p->c + p->o) + 32);
    size_t bytes = (size_t)(threads * p->work_size) * sizeof(float);
    MsPackedUse use;
    p->u = ms__packed_open(&use, w, flip ? MS_PACKED_WINO_FLIPPED : MS_PACKED_WINO, u_bytes);
    if (p->u && use.made) transform_weights(w, flip, use.made);
    p->work = p->u ? ms__alloc(bytes) : NULL;
    MsStatus st = p->work ? MS_OK : MS_ERROR_MEMORY;
    if (p->work) {
        ms__parallel_for((p->tiles + p->chunk - 1) / p->chunk, 1, fns()->forward, p);
        ms__free(p->work, bytes);
    }
    ms__packed_close(&use);
    return st;
}

static MsStatus run_as_conv(MsCall *c, bool flip, const MsKernel *self)
{
    int64_t last[MS_MAX_DIM], low[2];
    const int64_t *padding = c->attr[LOW + flip].v;
    for (int d = 0; d < 2; d++) low[d] = flip ? 2 - padding[d] : padding[d];
    ms__channels_last(4, c->aval[0].shape, last);
    MsTensor *out = ms__out_strided(c, 0, last);
    if (!out) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *x = ms__dense_last(c->in[0]), *y = out;
    if (!ms__is_channels_last(out)) y = ms__tensor_dense(MS_FLOAT32, 4, out->shape, last);
    MsStatus st = x && y ? MS_OK : ms_error()->code;
    bool infinite = false;
    if (st == MS_OK) {
        MsWino p = problem(x, y, low);
        st = ms__finish_open(&p.finish, c, p.o);
        if (st == MS_OK) st = compute(&p, c->in[1], flip);
        ms__finish_close(&p.finish);
        infinite = p.infinite;
    }
    if (st == MS_OK && !infinite) st = ms__dense_done(out, y);
    ms_scope_end(mark, NULL, 0);
    return st == MS_OK && infinite ? run_next(c, self) : st;
}

static MsStatus run_conv(MsCall *c)
{
    return run_as_conv(c, false, &ms_kernel_conv_winograd);
}
static MsStatus run_conv_norm(MsCall *c)
{
    return run_as_conv(c, false, &ms_kernel_conv_norm_winograd);
}
static MsStatus run_input_grad(MsCall *c)
{
    return run_as_conv(c, true, &ms_kernel_conv_input_grad_winograd);
}

/* ---- weight gradient ---- */

static MsStatus sum_slices(MsWinoGrad *g)
{
    MsWino *p = g->p;
    int64_t panels = ms__wino_panels(p->o), sums = MS_WINO_POINTS * panels * p->c * MS_WINO_WIDE;
    p->chunk = tiles_of(p, SLICE_BYTES, 16 * ROWS);
    g->v_pitch = p->chunk * p->c + 16;
    g->d_pitch = p->chunk * p->o + 16;
    size_t bytes = (size_t)(MS_WINO_POINTS * (g->v_pitch + g->d_pitch) + sums) * sizeof(float);
    if (!(g->v = ms__alloc(bytes))) return MS_ERROR_MEMORY;
    g->d = g->v + MS_WINO_POINTS * g->v_pitch;
    g->sum = g->d + MS_WINO_POINTS * g->d_pitch;
    for (g->first = 0; g->first < p->tiles; g->first += p->chunk) {
        g->m = p->tiles - g->first < p->chunk ? p->tiles - g->first : p->chunk;
        ms__parallel_for(g->m, 1 + 512 / (p->c + p->o), fns()->slice, g);
        ms__parallel_for(MS_WINO_POINTS * panels, 1, fns()->products, g);
    }
    ms__parallel_for(p->c, 1 + 4096 / p->o, fns()->gather, g);
    ms__free(g->v, bytes);
    return MS_OK;
}

static MsStatus run_weight_grad(MsCall *c)
{
    MsTensor *dw = ms__out(c, 0);
    if (!dw) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *x = ms__dense_last(c->in[0]), *dy = ms__dense_last(c->in[1]);
    MsStatus st = x && dy ? MS_OK : ms_error()->code;
    bool infinite = false;
    if (st == MS_OK) {
        MsWino p = problem(x, dy, c->attr[LOW + 1].v);
        MsWinoGrad g = {.p = &p, .dw = (float *)dw->data, .dw_strides = dw->strides};
        st = sum_slices(&g);
        infinite = p.infinite;
    }
    ms_scope_end(mark, NULL, 0);
    return st == MS_OK && infinite ? run_next(c, &ms_kernel_conv_weight_grad_winograd) : st;
}

MS_KERNEL(conv, 60, winograd, ok_conv, run_conv);
MS_KERNEL(conv_norm, 60, winograd, ok_conv, run_conv_norm);
MS_KERNEL(conv_input_grad, 60, winograd, ok_input_grad, run_input_grad);
MS_KERNEL(conv_weight_grad, 60, winograd, ok_weight_grad, run_weight_grad);
