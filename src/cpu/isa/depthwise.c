/* depthwise.c - the weight gradient of a depthwise convolution, a vector of channels at a time: the sums of a row of taps stay in
 * registers while an output line goes by. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/depthwise.h"

#include "cpu/isa/vec.h"

#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define BLOCK MS_DEPTHWISE_LANES
_Static_assert(BLOCK % LANES == 0, "channels are worked on in vectors");

/* sum[k] += dy[o] x[o * stride + k * dilation - low] over the outputs o of a line, for the taps that lie inside. */
VEC void line(const MsDepthwise *p, const float *x, const float *dy, float *sum, int taps)
{
    int64_t c = p->c, step = p->dilation[1], far = (taps - 1) * step, at = -p->low[1], o = 0;
    V acc[MS_DEPTHWISE_TAPS];
    for (int k = 0; k < taps; k++) acc[k] = *(const V *)(sum + k * BLOCK);
    for (; o < p->ow; o++, at += p->stride[1]) {
        V g = *(const V *)(dy + o * c);
        if (at >= 0 && at + far < p->w) {
            const float *from = x + at * c;
            for (int k = 0; k < taps; k++) acc[k] += g * *(const V *)(from + k * step * c);
        } else {
            for (int k = 0; k < taps; k++) {
                int64_t in = at + k * step;
                if (in >= 0 && in < p->w) acc[k] += g * *(const V *)(x + in * c);
            }
        }
    }
    for (int k = 0; k < taps; k++) *(V *)(sum + k * BLOCK) = acc[k];
}

#define TAPS(n)                                                                                              \
    static void line_##n(const MsDepthwise *p, const float *x, const float *dy, float *sum)                  \
    {                                                                                                        \
        for (int l = 0; l < BLOCK; l += LANES) line(p, x + l, dy + l, sum + l, n);                           \
    }
TAPS(1)
TAPS(2)
TAPS(3)
TAPS(4)
TAPS(5)
TAPS(6)
TAPS(7)
TAPS(8)

static void run(void *ctx, int64_t begin, int64_t end)
{
    static void (*const lines[])(const MsDepthwise *, const float *, const float *,
                                 float *) = {line_1, line_2, line_3, line_4, line_5, line_6, line_7, line_8};
    const MsDepthwise *p = ctx;
    int64_t blocks = (p->c + BLOCK - 1) / BLOCK, c = p->c;
    for (int64_t u = begin; u < end; u++) {
        /* The last block reaches back over channels of the one before, and keeps its own only. */
        int64_t n = u / blocks, c0 = u % blocks * BLOCK, at = c0 + BLOCK > c ? c - BLOCK : c0;
        const float *x = p->x + n * p->h * p->w * c + at, *dy = p->dy + n * p->oh * p->ow * c + at;
        for (int64_t kh = 0; kh < p->kh; kh++) {
            float *out = p->sum + (n * p->kh + kh) * p->kw * c;
            float sum[MS_DEPTHWISE_TAPS * BLOCK] = {0};
            for (int64_t oh = 0; oh < p->oh; oh++) {
                int64_t ih = oh * p->stride[0] + kh * p->dilation[0] - p->low[0];
                if (ih >= 0 && ih < p->h) lines[p->kw - 1](p, x + ih * p->w * c, dy + oh * p->ow * c, sum);
            }
            for (int64_t k = 0; k < p->kw; k++)
                memcpy(out + k * c + c0, sum + k * BLOCK + (c0 - at),
                       (size_t)(at + BLOCK - c0) * sizeof *out);
        }
    }
}

const MsDepthwiseFn PASTE(ms__depthwise_, MS_ISA) = run;
