/* direct.h - direct 2-d convolution for few channels: what its loops (isa/direct.c) need to know. */
#ifndef MS_CPU_DIRECT_H
#define MS_CPU_DIRECT_H
#include "core/error.h"

#define MS_DIRECT_LANES 16 /* columns that are worked on together */
#define MS_DIRECT_BLOCK 8  /* output channels whose sums stay in registers */

/* x: padded images [n][c][h][pitch], zeros around and MS_DIRECT_LANES behind each row. */
typedef struct MsDirect {
    int64_t n, c, o, kh, kw;   /* batch, input and output channels, kernel */
    int64_t h, pitch;          /* padded input */
    int64_t oh, ow, ypitch;    /* output; the row length of y in memory */
    const float *x, *w, *bias; /* w: [o / BLOCK][c][kh][kw][BLOCK], zeros behind the last channel */
    float *y;                  /* forward: row-major output */
    const float *dy;           /* weight: [n][o][oh][ypitch], zeros behind ow */
    float *dw;                 /* weight: row-major [o][c][kh][kw] */
} MsDirect;

/* Copying a tensor [n][c][h][w] into padded rows. */
typedef struct MsPad {
    const float *x;
    int64_t planes_per_image, rows, columns, strides[4]; /* of x */
    float *to;
    int64_t h, pitch, top, left; /* of the padded planes */
    _Atomic bool odd;            /* set when a value is not finite */
} MsPad;

/* Range functions for ms__parallel_for. */
typedef struct MsDirectFns {
    void (*pad)(void *ctx, int64_t begin, int64_t end);     /* over planes */
    void (*forward)(void *ctx, int64_t begin, int64_t end); /* over n * blocks of channels */
    void (*weight)(void *ctx, int64_t begin, int64_t end);  /* over (o / 4) * c * kh */
    /* The same with vectors over MS_DIRECT_LANES output channels: w in such blocks, dy as [n][oh][ow][o]. */
    void (*spread)(void *ctx, int64_t begin, int64_t end);        /* MsPad to that layout, over images */
    void (*forward_lanes)(void *ctx, int64_t begin, int64_t end); /* over n * (o / LANES) */
    void (*weight_lanes)(void *ctx, int64_t begin, int64_t end);  /* over (o / LANES) * kh * (c / 3) */
} MsDirectFns;

extern const MsDirectFns ms__direct_base, ms__direct_avx2, ms__direct_avx512;

#endif
