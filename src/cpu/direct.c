/* direct.c - direct 1-d and 2-d convolution, its input gradient and its weight gradient in float32 for few channels
 * per group (a first layer, LeNet, row-major depthwise layers), where blocked formats would mostly multiply zeros
 * and reorders would cost more than the sums. Images are copied into padded rows as they are needed, so that the
 * loops have no borders. A weight that is not finite must not meet padding, and neither may such a value of a
 * weight gradient: then the reference takes over. */
#include "cpu/direct.h"
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/conv.h"

#include <stdlib.h>
#include <string.h>

#define WORK 65536                 /* multiply-adds that are worth a thread */
#define SCRATCH ((int64_t)1 << 20) /* most floats of a thread's copies */
#define IMAGES 65536               /* floats of copies that the weight gradient makes at a time */
#define PARTS 8                    /* units of the weight gradient to aim for */
#define FEW 32                     /* most channels on the wider side */

extern const MsKernel ms_kernel_conv_loop, ms_kernel_conv_input_grad_loop, ms_kernel_conv_weight_grad_loop;

/* The forward convolution that the operands belong to; c and o are channels of a group. */
typedef struct Shape {
    int64_t n, groups, c, h, w, o, kh, kw, oh, ow, low[2], high[2], stride[2];
} Shape;

static int64_t round_up(int64_t n)
{
    return (n + MS_DIRECT_LANES - 1) / MS_DIRECT_LANES * MS_DIRECT_LANES;
}

/* Floats of a piece of a padded row: the last vector of columns under the last kernel column ends with it, and all
 * of the image fits. */
static int64_t pitch_of(const Shape *s)
{
    return round_up(s->ow) + (s->kw - 1) / s->stride[1] + (s->stride[1] > 1);
}

static int64_t height_of(const Shape *s)
{
    return s->h + s->low[0] + s->high[0];
}

/* Vectors over 16 output channels waste nothing where those over columns are mostly beyond the row; the sums need
 * the registers of AVX-512. */
static bool channel_lanes(const Shape *s)
{
    return ms__isa() == MS_ISA_LEVEL_AVX512 && s->o % MS_DIRECT_LANES == 0 && s->ow >= 7 &&
           s->stride[0] == 1 && s->stride[1] == 1 && 5 * s->ow < 4 * round_up(s->ow);
}

/* `strides`: 2 is allowed where there are groups; without them the library is as fast. */
static const char *fits(const MsCall *call, const MsAttr *a, const MsTensor *x, bool strides)
{
    int64_t most = strides && a[GROUPS].i > 1 ? 2 : 1;
    if (x->dtype != MS_FLOAT32 || x->ndim > 4) return "not a 1-d or 2-d convolution in float32";
    for (int d = 0; d < x->ndim - 2; d++) {
        if (a[STRIDE].v[d] > most || a[DILATION].v[d] != 1) return "stride or dilation";
        if (a[LOW].v[d] < 0 || a[HIGH].v[d] < 0) return "negative padding";
    }
    if (a[GROUPS].i > 1 && !x->contiguous && ms__is_channels_last(x))
        return "groups of channels-last activations";
    if (call->out[0] && !call->out[0]->contiguous) return "the output is not row-major";
    return NULL;
}

static Shape shape_of(int ndim, const int64_t *x, const int64_t *w, const MsAttr *a)
{
    Shape s = {.n = x[0],
               .groups = a[GROUPS].i,
               .c = w[1],
               .o = w[0] / a[GROUPS].i,
               .h = 1,
               .kh = 1,
               .stride = {1, 1}};
    for (int d = 0, to = 4 - ndim; d < ndim - 2; d++, to++) {
        *(to ? &s.w : &s.h) = x[d + 2];
        *(to ? &s.kw : &s.kh) = w[d + 2];
        s.low[to] = a[LOW].v[d], s.high[to] = a[HIGH].v[d], s.stride[to] = a[STRIDE].v[d];
    }
    s.oh = (height_of(&s) - s.kh) / s.stride[0] + 1;
    s.ow = (s.w + s.low[1] + s.high[1] - s.kw) / s.stride[1] + 1;
    return s;
}

/* The input gradient as a forward pass over dy with flipped weights. */
static Shape transposed(const Shape *s)
{
    Shape t = *s;
    t.c = s->o, t.o = s->c;
    t.h = s->oh, t.w = s->ow;
    t.oh = s->h, t.ow = s->w;
    t.low[0] = s->kh - 1 - s->low[0], t.low[1] = s->kw - 1 - s->low[1];
    t.high[0] = s->kh - 1 - s->high[0], t.high[1] = s->kw - 1 - s->high[1];
    return t;
}

static const char *small(const Shape *s)
{
    if (s->c > FEW || s->o > FEW || s->c * s->o > 256) return "many channels";
    if (s->kh > 7 || s->kw > 7) return "a large kernel";
    if (s->c < 1 || s->o < 1 || s->oh < 1 || s->ow < 4 || s->n < 1 || s->low[0] < 0 || s->low[1] < 0 ||
        s->high[0] < 0 || s->high[1] < 0)
        return "the shape";
    if (s->c * height_of(s) * s->stride[1] * pitch_of(s) + s->o * s->oh * round_up(s->ow) > SCRATCH)
        return "a large image";
    return NULL;
}

static const char *ok_conv(const MsCall *c)
{
    const char *why = fits(c, c->attr, c->in[0], true);
    if (why) return why;
    Shape s = shape_of(c->in[0]->ndim, c->in[0]->shape, c->in[1]->shape, c->attr);
    return small(&s);
}

static const char *ok_input_grad(const MsCall *c)
{
    const char *why = fits(c, c->attr + 1, c->in[0], false);
    if (why) return why;
    Shape s = shape_of(c->aval[0].ndim, c->aval[0].shape, c->in[1]->shape, c->attr + 1), t = transposed(&s);
    return small(&t);
}

static const char *ok_weight_grad(const MsCall *c)
{
    const char *why = fits(c, c->attr + 1, c->in[0], true);
    if (why) return why;
    Shape s = shape_of(c->in[0]->ndim, c->in[0]->shape, c->aval[0].shape, c->attr + 1);
    return small(&s);
}

/* ---- operands ---- */

static MsDirectSource source_of(const MsTensor *t)
{
    MsDirectSource s = {(const float *)t->data, 1, t->shape[t->ndim - 1], {t->strides[0], t->strides[1]}};
    if (t->ndim == 4) s.rows = t->shape[2], s.strides[2] = t->strides[2];
    s.strides[3] = t->strides[t->ndim - 1];
    return s;
}

static MsDirect direct_of(const Shape *s, const MsTensor *x)
{
    MsDirect d = {.n = s->n,
                  .groups = s->groups,
                  .c = s->c,
                  .o = s->o,
                  .kh = s->kh,
                  .kw = s->kw,
                  .h = height_of(s),
                  .pitch = pitch_of(s),
                  .top = s->low[0],
                  .left = s->low[1],
                  .oh = s->oh,
                  .ow = s->ow,
                  .x = source_of(x)};
    d.down = s->stride[0], d.right = s->stride[1], d.row = d.right * d.pitch;
    for (int64_t k = 0; k < s->kw; k++) d.tap[k] = k % d.right * d.pitch + k / d.right;
    return d;
}

/* Weights of a group's outputs in blocks; `flip` swaps the channel roles and turns the kernel round. False when one
 * is not finite. */
static bool pack(const MsTensor *w, float *to, const Shape *s, bool flip, int64_t block)
{
    int64_t blocks = (s->o + block - 1) / block, taps = s->kh * s->kw, st[4] = {w->strides[0], w->strides[1]};
    if (w->ndim == 4) st[2] = w->strides[2];
    st[3] = w->strides[w->ndim - 1];
    float test = 0;
    memset(to, 0, (size_t)(s->groups * blocks * block * s->c * taps) * sizeof *to);
    for (int64_t g = 0; g < s->groups; g++)
        for (int64_t o = 0; o < s->o; o++)
            for (int64_t c = 0; c < s->c; c++) {
                const float *from = (const float *)w->data +
                                    (g * (flip ? s->c : s->o) + (flip ? c : o)) * st[0] +
                                    (flip ? o : c) * st[1];
                float *at = to + ((g * blocks + o / block) * s->c + c) * taps * block + o % block;
                for (int64_t k = 0; k < taps; k++) {
                    int64_t tap = flip ? taps - 1 - k : k;
                    at[k * block] = from[tap / s->kw * st[2] + tap % s->kw * st[3]];
                    test += at[k * block] * 0;
                }
            }
    return test == 0;
}

/* ---- the three ---- */

static MsStatus run_forward(MsCall *call, Shape s, bool flip, const MsKernel *reference)
{
    MsTensor *y = ms__out(call, 0);
    if (!y) return ms_error()->code;
    bool lanes = channel_lanes(&s), padded = s.low[0] || s.low[1] || s.high[0] || s.high[1];
    int64_t block = lanes ? MS_DIRECT_LANES : MS_DIRECT_BLOCK, blocks = (s.o + block - 1) / block;
    int64_t taps = s.c * s.kh * s.kw, wn = s.groups * blocks * block * taps;
    MsDirect d = direct_of(&s, call->in[0]);
    d.slot = round_up(s.c * d.h * d.row);
    size_t bytes = (size_t)(wn + ms_thread_count() * d.slot) * sizeof(float);
    float *block_of_all = ms__alloc(bytes);
    if (!block_of_all) return ms_error()->code;
    d.w = block_of_all;
    d.scratch = block_of_all + wn;
    d.y = (float *)y->data;
    bool finite = pack(call->in[1], block_of_all, &s, flip, block) || !padded;
    int mark = ms_scope_begin();
    MsTensor *bias = call->in[2] ? ms__dense_as(call->in[2], MS_FLOAT32) : NULL;
    MsStatus st = call->in[2] && !bias ? ms_error()->code : MS_OK;
    if (st == MS_OK && finite) {
        d.bias = bias ? (const float *)bias->data : NULL;
        const MsDirectFns *fns = MS_ISA_PICK(&ms__direct_);
        ms__parallel_for(s.n * s.groups * blocks,
                         1 + WORK / (taps * s.oh * s.ow * (s.o < block ? s.o : block) + 1),
                         lanes ? fns->forward_lanes : fns->forward, &d);
    }
    ms_scope_end(mark, NULL, 0);
    ms__free(block_of_all, bytes);
    return st == MS_OK && !finite ? reference->run(call) : st;
}

static MsStatus run_conv(MsCall *c)
{
    Shape s = shape_of(c->in[0]->ndim, c->in[0]->shape, c->in[1]->shape, c->attr);
    return run_forward(c, s, false, &ms_kernel_conv_loop);
}

static MsStatus run_input_grad(MsCall *c)
{
    Shape s = shape_of(c->aval[0].ndim, c->aval[0].shape, c->in[1]->shape, c->attr + 1);
    return run_forward(c, transposed(&s), true, &ms_kernel_conv_input_grad_loop);
}

static MsStatus run_weight_grad(MsCall *call)
{
    MsTensor *dw = ms__out(call, 0);
    if (!dw) return ms_error()->code;
    Shape s = shape_of(call->in[0]->ndim, call->in[0]->shape, dw->shape, call->attr + 1);
    bool lanes = channel_lanes(&s);
    MsDirect d = direct_of(&s, call->in[0]);
    d.dy = source_of(call->in[1]);
    d.ypitch = lanes ? s.ow : round_up(s.ow);
    d.parts = (PARTS + s.groups - 1) / s.groups;
    if (d.parts > s.n) d.parts = s.n;
    int64_t image = s.c * d.h * d.row + s.o * s.oh * d.ypitch, sums = s.o * s.c * s.kh * s.kw;
    d.images = image < IMAGES ? IMAGES / image : 1;
    if (d.images > (s.n + d.parts - 1) / d.parts) d.images = (s.n + d.parts - 1) / d.parts;
    d.slot = round_up(d.images * image + sums * (lanes ? 1 : MS_DIRECT_LANES));
    int64_t n_dw = s.groups * sums;
    size_t bytes = (size_t)(d.parts * n_dw + ms_thread_count() * d.slot) * sizeof(float);
    d.dw = ms__alloc(bytes);
    if (!d.dw) return ms_error()->code;
    d.scratch = d.dw + d.parts * n_dw;
    const MsDirectFns *fns = MS_ISA_PICK(&ms__direct_);
    ms__parallel_for(d.parts * s.groups, 1 + WORK / (sums * s.oh * s.ow * s.n / d.parts + 1),
                     lanes ? fns->weight_lanes : fns->weight, &d);
    float *to = (float *)dw->data;
    for (int64_t i = 0; i < n_dw; i++) {
        float total = d.dw[i];
        for (int64_t part = 1; part < d.parts; part++) total += d.dw[part * n_dw + i];
        to[i] = total;
    }
    bool finite = !atomic_load(&d.odd);
    ms__free(d.dw, bytes);
    return finite ? MS_OK : ms_kernel_conv_weight_grad_loop.run(call);
}

MS_KERNEL(conv, 60, direct, ok_conv, run_conv);
MS_KERNEL(conv_input_grad, 60, direct, ok_input_grad, run_input_grad);
MS_KERNEL(conv_weight_grad, 60, direct, ok_weight_grad, run_weight_grad);
