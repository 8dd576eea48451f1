/* depthwise.h - the weight gradient of a depthwise 2-d convolution of channels-last float32 (isa/depthwise.c). */
#ifndef MS_CPU_DEPTHWISE_H
#define MS_CPU_DEPTHWISE_H
#include "core/error.h"

#define MS_DEPTHWISE_LANES 16 /* channels that are worked on together; fewer than that are not taken */
#define MS_DEPTHWISE_TAPS 8   /* most taps of a kernel's row */

typedef struct MsDepthwise {
    const float *x, *dy;
    int64_t n, c, h, w, kh, kw, oh, ow, stride[2], low[2], dilation[2];
    float *sum; /* [n][kh * kw][c]: of each image */
} MsDepthwise;

/* Over images * blocks of lanes. */
typedef void (*MsDepthwiseFn)(void *ctx, int64_t begin, int64_t end);
extern const MsDepthwiseFn ms__depthwise_base, ms__depthwise_avx2, ms__depthwise_avx512;

#endif
