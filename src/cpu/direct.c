/* direct.c - direct 2-d convolution, its input gradient and its weight gradient in float32 for few channels
 * (a first layer, LeNet), where blocked formats would mostly multiply zeros. Operands are copied once into
 * padded rows, so that the loops have no borders. A value that is not finite must not meet padding: then the
 * reference takes over. */
#include "cpu/direct.h"
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/isa.h"
#include "op/op.h"

#include <stdlib.h>
#include <string.h>

#define WORK 65536 /* multiply-adds that are worth a thread */
#define SCRATCH ((int64_t)64 << 20)
#define FEW 32 /* most channels on the wider side */

extern const MsKernel ms_kernel_conv_loop, ms_kernel_conv_input_grad_loop, ms_kernel_conv_weight_grad_loop;

/* One of the three: `x` of the forward convolution and the roles follow from shapes alone. */
typedef struct Shape {
    int64_t n, c, h, w, o, kh, kw, oh, ow, low[2], high[2];
} Shape;

static int64_t round_up(int64_t n)
{
    return (n + MS_DIRECT_LANES - 1) / MS_DIRECT_LANES * MS_DIRECT_LANES;
}

/* Floats of a padded row: the last vector of columns under the last kernel column ends with it. */
static int64_t pitch_of(const Shape *s)
{
    return round_up(s->ow) + s->kw - 1;
}

/* Vectors over 16 output channels waste nothing where those over columns are mostly beyond the row; the sums need
 * the registers of AVX-512. */
static bool channel_lanes(const Shape *s)
{
    return ms__isa() == MS_ISA_LEVEL_AVX512 && s->o % MS_DIRECT_LANES == 0 && s->ow >= 7 &&
           5 * s->ow < 4 * round_up(s->ow);
}

/* The padded input that a forward pass over `s` reads, in floats. */
static int64_t padded_size(const Shape *s)
{
    return s->n * s->c * (s->h + s->low[0] + s->high[0]) * pitch_of(s);
}

static const char *fits(const MsCall *call, const MsAttr *a, const MsTensor *p)
{
    if (p->dtype != MS_FLOAT32 || p->ndim != 4) return "not a 2-d convolution in float32";
    if (a[0].v[0] != 1 || a[0].v[1] != 1 || a[3].v[0] != 1 || a[3].v[1] != 1 || a[4].i != 1)
        return "stride, dilation or groups";
    for (int k = 1; k <= 2; k++)
        if (a[k].v[0] < 0 || a[k].v[1] < 0) return "negative padding";
    if (call->out[0] && !call->out[0]->contiguous) return "the output is not row-major";
    return NULL;
}

static Shape shape_of(const int64_t *x, const int64_t *w, const MsAttr *a)
{
    Shape s = {.n = x[0], .c = x[1], .h = x[2], .w = x[3], .o = w[0], .kh = w[2], .kw = w[3]};
    for (int d = 0; d < 2; d++) s.low[d] = a[1].v[d], s.high[d] = a[2].v[d];
    s.oh = s.h + s.low[0] + s.high[0] - s.kh + 1;
    s.ow = s.w + s.low[1] + s.high[1] - s.kw + 1;
    return s;
}

/* The input gradient as a forward pass over dy with flipped weights. */
static Shape transposed(const Shape *s)
{
    Shape t = {.n = s->n,
               .c = s->o,
               .h = s->oh,
               .w = s->ow,
               .o = s->c,
               .kh = s->kh,
               .kw = s->kw,
               .oh = s->h,
               .ow = s->w};
    t.low[0] = s->kh - 1 - s->low[0], t.low[1] = s->kw - 1 - s->low[1];
    t.high[0] = s->kh - 1 - s->high[0], t.high[1] = s->kw - 1 - s->high[1];
    return t;
}

static const char *small(const Shape *s)
{
    if (s->c > FEW || s->o > FEW || s->c * s->o > 256) return "many channels";
    if (s->kh > 7 || s->kw > 7) return "a large kernel";
    if (s->oh < 1 || s->ow < 4 || s->n < 1 || s->low[0] < 0 || s->low[1] < 0 || s->high[0] < 0 ||
        s->high[1] < 0)
        return "the shape";
    if (s->n * s->o * s->oh * (round_up(s->ow) + s->w) + padded_size(s) > SCRATCH / 4) return "a large batch";
    return NULL;
}

static const char *ok_conv(const MsCall *c)
{
    const char *why = fits(c, c->attr, c->in[0]);
    if (why) return why;
    Shape s = shape_of(c->in[0]->shape, c->in[1]->shape, c->attr);
    return small(&s);
}

static const char *ok_input_grad(const MsCall *c)
{
    const char *why = fits(c, c->attr + 1, c->in[0]);
    if (why) return why;
    Shape s = shape_of(c->aval[0].shape, c->in[1]->shape, c->attr + 1), t = transposed(&s);
    return small(&t);
}

static const char *ok_weight_grad(const MsCall *c)
{
    const char *why = fits(c, c->attr + 1, c->in[0]);
    if (why) return why;
    Shape s = shape_of(c->in[0]->shape, c->aval[0].shape, c->attr + 1);
    return small(&s);
}

/* ---- copies ---- */

/* x in padded rows; false when a value is not finite. */
static bool pad(const MsTensor *x, float *to, int64_t h, int64_t pitch, int64_t top, int64_t left)
{
    MsPad p = {.x = (const float *)x->data,
               .planes_per_image = x->shape[1],
               .rows = x->shape[2],
               .columns = x->shape[3],
               .to = to,
               .h = h,
               .pitch = pitch,
               .top = top,
               .left = left};
    memcpy(p.strides, x->strides, sizeof p.strides);
    ms__parallel_for(x->shape[0] * x->shape[1], 1 + WORK / (h * pitch + 1), MS_ISA_PICK(&ms__direct_)->pad,
                     &p);
    return !atomic_load(&p.odd);
}

/* dy as pixels of all its channels, whose count is a multiple of the lanes; false when a value is not finite. */
static bool spread(const MsTensor *dy, float *to)
{
    MsPad p = {.x = (const float *)dy->data,
               .planes_per_image = dy->shape[1],
               .rows = dy->shape[2],
               .columns = dy->shape[3],
               .to = to};
    memcpy(p.strides, dy->strides, sizeof p.strides);
    ms__parallel_for(dy->shape[0], 1 + WORK / (p.planes_per_image * p.rows * p.columns + 1),
                     MS_ISA_PICK(&ms__direct_)->spread, &p);
    return !atomic_load(&p.odd);
}

/* Weights of outputs in blocks; `flip` swaps the channel roles and turns the kernel round. */
static bool pack(const MsTensor *w, float *to, bool flip, int64_t block)
{
    int64_t o_n = w->shape[flip ? 1 : 0], c_n = w->shape[flip ? 0 : 1], kh = w->shape[2], kw = w->shape[3];
    int64_t blocks = (o_n + block - 1) / block;
    float test = 0;
    memset(to, 0, (size_t)(blocks * block * c_n * kh * kw) * sizeof *to);
    for (int64_t o = 0; o < o_n; o++)
        for (int64_t c = 0; c < c_n; c++)
            for (int64_t i = 0; i < kh; i++)
                for (int64_t j = 0; j < kw; j++) {
                    const float *from = (const float *)w->data + (flip ? c : o) * w->strides[0] +
                                        (flip ? o : c) * w->strides[1] +
                                        (flip ? kh - 1 - i : i) * w->strides[2] +
                                        (flip ? kw - 1 - j : j) * w->strides[3];
                    int64_t at = (((o / block * c_n + c) * kh + i) * kw + j) * block;
                    to[at + o % block] = *from;
                    test += *from * 0;
                }
    return test == 0;
}

/* ---- the three ---- */

static MsStatus run_forward(MsCall *call, Shape s, bool flip, const MsKernel *reference)
{
    MsTensor *y = ms__out(call, 0);
    if (!y) return ms_error()->code;
    int64_t h = s.h + s.low[0] + s.high[0], pitch = pitch_of(&s);
    bool lanes = channel_lanes(&s);
    int64_t block = lanes ? MS_DIRECT_LANES : MS_DIRECT_BLOCK, blocks = (s.o + block - 1) / block;
    size_t xn = (size_t)(s.n * s.c * h * pitch), wn = (size_t)(blocks * block * s.c * s.kh * s.kw);
    size_t bytes = (xn + wn + MS_DIRECT_LANES) * sizeof(float);
    float *scratch = ms__alloc(bytes);
    if (!scratch) return ms_error()->code;
    bool finite = pad(call->in[0], scratch, h, pitch, s.low[0], s.low[1]);
    memset(scratch + xn, 0, MS_DIRECT_LANES * sizeof(float));
    finite &= pack(call->in[1], scratch + xn + MS_DIRECT_LANES, flip, block);
    int mark = ms_scope_begin();
    MsTensor *bias = call->in[2] ? ms__dense_as(call->in[2], MS_FLOAT32) : NULL;
    MsStatus st = call->in[2] && !bias ? ms_error()->code : MS_OK;
    if (st == MS_OK && finite) {
        MsDirect d = {.n = s.n,
                      .c = s.c,
                      .o = s.o,
                      .kh = s.kh,
                      .kw = s.kw,
                      .h = h,
                      .pitch = pitch,
                      .oh = s.oh,
                      .ow = s.ow,
                      .ypitch = s.ow,
                      .x = scratch,
                      .w = scratch + xn + MS_DIRECT_LANES,
                      .y = (float *)y->data};
        d.bias = bias ? (const float *)bias->data : NULL;
        const MsDirectFns *fns = MS_ISA_PICK(&ms__direct_);
        int64_t work = s.c * s.kh * s.kw * s.oh * s.ow * block;
        ms__parallel_for(s.n * blocks, 1 + WORK / (work + 1), lanes ? fns->forward_lanes : fns->forward, &d);
    }
    ms_scope_end(mark, NULL, 0);
    ms__free(scratch, bytes);
    return st == MS_OK && !finite ? reference->run(call) : st;
}

static MsStatus run_conv(MsCall *c)
{
    return run_forward(c, shape_of(c->in[0]->shape, c->in[1]->shape, c->attr), false, &ms_kernel_conv_loop);
}

static MsStatus run_input_grad(MsCall *c)
{
    Shape s = shape_of(c->aval[0].shape, c->in[1]->shape, c->attr + 1);
    return run_forward(c, transposed(&s), true, &ms_kernel_conv_input_grad_loop);
}

static MsStatus run_weight_grad(MsCall *call)
{
    MsTensor *dw = ms__out(call, 0);
    if (!dw) return ms_error()->code;
    Shape s = shape_of(call->in[0]->shape, dw->shape, call->attr + 1);
    bool lanes = channel_lanes(&s);
    int64_t h = s.h + s.low[0] + s.high[0], pitch = pitch_of(&s), ypitch = lanes ? s.ow : round_up(s.ow);
    size_t xn = (size_t)(s.n * s.c * h * pitch), yn = (size_t)(s.n * s.o * s.oh * ypitch);
    size_t bytes = (xn + yn) * sizeof(float);
    float *scratch = ms__alloc(bytes);
    if (!scratch) return ms_error()->code;
    bool finite = pad(call->in[0], scratch, h, pitch, s.low[0], s.low[1]);
    finite &= lanes ? spread(call->in[1], scratch + xn) : pad(call->in[1], scratch + xn, s.oh, ypitch, 0, 0);
    if (finite) {
        MsDirect d = {.n = s.n,
                      .c = s.c,
                      .o = s.o,
                      .kh = s.kh,
                      .kw = s.kw,
                      .h = h,
                      .pitch = pitch,
                      .oh = s.oh,
                      .ow = s.ow,
                      .ypitch = ypitch,
                      .x = scratch,
                      .dy = scratch + xn,
                      .dw = (float *)dw->data};
        const MsDirectFns *fns = MS_ISA_PICK(&ms__direct_);
        int64_t work = 4 * s.n * s.oh * s.ow * s.kw;
        if (lanes)
            ms__parallel_for(s.o / MS_DIRECT_LANES * s.kh * ((s.c + 2) / 3), 1 + WORK / (12 * work + 1),
                             fns->weight_lanes, &d);
        else
            ms__parallel_for((s.o + 3) / 4 * s.c * s.kh, 1 + WORK / (work + 1), fns->weight, &d);
    }
    ms__free(scratch, bytes);
    return finite ? MS_OK : ms_kernel_conv_weight_grad_loop.run(call);
}

MS_KERNEL(conv, 60, direct, ok_conv, run_conv);
MS_KERNEL(conv_input_grad, 60, direct, ok_input_grad, run_input_grad);
MS_KERNEL(conv_weight_grad, 60, direct, ok_weight_grad, run_weight_grad);
