/* pointwise.h - convolutions of channels-last float32 activations that read their input in place: 1x1,
 * which is a product of the pixels with the weights, 3x3 with a kernel for each channel, and a first layer
 * of stride 2 (isa/pointwise.c). */
#ifndef MS_CPU_POINTWISE_H
#define MS_CPU_POINTWISE_H
#include "cpu/finish.h"

#define MS_POINT_UNIT 16 /* output channels of a vector; a panel has up to four */

/* y[pixels][o] from x[pixels][c] and w[panel][c][its channels], zeros behind the last channel. o is a
 * multiple of 8. */
typedef struct MsPoint {
    int64_t pixels, c, o, panels, chunks; /* of output channels and of pixels */
    bool by_panel; /* order of the units: all pixels of a panel, or all panels of a chunk */
    const float *x, *w;
    float *y;
    MsFinish finish;
} MsPoint;

/* First unit of 16 channels of a panel. */
int64_t ms__point_unit(const MsPoint *p, int64_t panel);

/* y[n][oh][ow][c] from x[n][h][w][c] and w[9][c]; padding at most 1. c is a multiple of 16. */
typedef struct MsDepth {
    int64_t n, h, w, c, oh, ow, low[2], stride;
    const float *x, *k;
    float *y;
    MsFinish finish;
} MsDepth;

/* y[n][oh][ow][o] from the image x with any steps (n, c, h, w) and weights k[kh][c][kw][o], stride 2. o is
 * a multiple of 16. */
typedef struct MsFirst {
    int64_t n, c, h, w, o, oh, ow, kh, kw, low[2], steps[4];
    const float *x, *k;
    float *y;
    MsFinish finish;
} MsFirst;

/* Range functions over panels times chunks; over lines of outputs, the other two. NULL where the
 * instruction set has too few registers. */
typedef struct MsPointFns {
    void (*point)(void *ctx, int64_t begin, int64_t end);
    void (*depth)(void *ctx, int64_t begin, int64_t end);
    void (*first)(void *ctx, int64_t begin, int64_t end);
} MsPointFns;

extern const MsPointFns ms__point_base, ms__point_avx2, ms__point_avx512;

#endif
