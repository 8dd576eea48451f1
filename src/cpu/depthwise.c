/* depthwise.c - conv_weight_grad of depthwise convolutions of channels-last float32 activations. The library's kernels for
 * taps beyond 3x3 take ten times as long as the convolution itself. Images are summed on their own and then
 * in float64, so the result does not depend on the number of threads. */
#include "cpu/depthwise.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/conv.h"

static MsStatus run_weight_grad(MsCall *c)
{
    MsTensor *x = c->in[0], *dy = c->in[1], *dw = ms__out(c, 0);
    const MsAttr *at = c->attr + 1;
    if (!dw) return ms_error()->code;
    MsDepthwise p = {.x = (const float *)x->data,
                     .dy = (const float *)dy->data,
                     .n = x->shape[0],
                     .c = x->shape[1],
                     .h = x->shape[2],
                     .w = x->shape[3],
                     .kh = dw->shape[2],
                     .kw = dw->shape[3],
                     .oh = dy->shape[2],
                     .ow = dy->shape[3]};
    for (int d = 0; d < 2; d++) {
        p.stride[d] = at[STRIDE].v[d];
        p.low[d] = at[LOW].v[d];
        p.dilation[d] = at[DILATION].v[d];
    }
    int64_t taps = p.kh * p.kw, work = taps * p.oh * p.ow;
    size_t bytes = (size_t)(p.n * taps * p.c) * sizeof(float);
    if (!(p.sum = ms__alloc(bytes))) return MS_ERROR_MEMORY;
    ms__parallel_for(p.n * ((p.c + MS_DEPTHWISE_LANES - 1) / MS_DEPTHWISE_LANES), 1 + 16384 / work,
                     MS_ISA_PICK(ms__depthwise_), &p);
    for (int64_t t = 0; t < taps; t++)
        for (int64_t k = 0; k < p.c; k++) {
            double sum = 0;
            for (int64_t n = 0; n < p.n; n++) sum += (double)p.sum[(n * taps + t) * p.c + k];
            float *to = (float *)dw->data + k * dw->strides[0] + t / p.kw * dw->strides[2];
            to[t % p.kw * dw->strides[3]] = (float)sum;
        }
    ms__free(p.sum, bytes);
    return MS_OK;
}

static const char *ok(const MsCall *c)
{
    const MsTensor *x = c->in[0], *dy = c->in[1];
    const int64_t *w = c->aval[0].shape;
    if (x->dtype != MS_FLOAT32) return "dtype";
    if (x->ndim != 4) return "not two-dimensional";
    if (c->attr[1 + GROUPS].i != x->shape[1] || dy->shape[1] != x->shape[1]) return "not depthwise";
    if (x->shape[1] < MS_DEPTHWISE_LANES) return "channels";
    if (x->numel == 0 || dy->numel == 0 || w[2] * w[3] == 0) return "empty";
    if (w[3] > MS_DEPTHWISE_TAPS) return "taps";
    if (w[2] * w[3] <= 9) return "small kernel"; /* which the library does as fast */
    if (!ms__is_channels_last(x) || !ms__is_channels_last(dy)) return "layout";
    return NULL;
}

MS_KERNEL(conv_weight_grad, 56, depthwise, ok, run_weight_grad);
