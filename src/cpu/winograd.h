/* winograd.h - 3x3 convolution of channels-last float32 activations by the minimal algorithm F(4x4, 3x3)
 * of Winograd and Lavin: tiles of 6x6 inputs make 4x4 outputs with 36 products a channel pair instead of
 * 144 (isa/winograd.c). */
#ifndef MS_CPU_WINOGRAD_H
#define MS_CPU_WINOGRAD_H
#include "cpu/finish.h"

#define MS_WINO_POINTS 36
#define MS_WINO_WIDE 64 /* output channels of a panel */

/* Why a convolution of x [n, c, h, w] with weights w [o, c, kh, kw] is not for this algorithm; NULL: it
 * is. */
const char *ms__wino_refuses(MsDtype dtype, int ndim, const int64_t *x, const int64_t *w, const int64_t *y,
                             const MsAttr *at);

int64_t ms__wino_panels(int64_t o); /* of o channels */

/* y = conv(x, w), where x is also dy and w flipped for the input gradient. The weights come transformed:
 * u[point][panel][c][MS_WINO_WIDE]. */
typedef struct MsWino {
    int64_t n, h, w, c, oh, ow, o, low[2]; /* channels c -> o, padding before */
    int64_t th, tw, tiles;                 /* tiles per image and axis; of all images */
    int64_t chunk;                         /* tiles that are computed together */
    const float *x, *u;
    float *y;
    MsFinish finish;
    float *work; /* work_size floats for each thread */
    int64_t work_size;
    _Atomic int n_slot;   /* threads that took theirs */
    _Atomic int infinite; /* a result is not finite: padding or a tile's other inputs may be the reason */
} MsWino;

/* dw = sum over tiles of the products of x and dy (here in y): a slice of `chunk` tiles at a time. */
typedef struct MsWinoGrad {
    MsWino *p;
    int64_t first, m;         /* the slice */
    float *v, *d;             /* transformed x and dy: [point][tile][channel] */
    int64_t v_pitch, d_pitch; /* from point to point */
    float *sum;               /* [point][panel][c][MS_WINO_WIDE] */
    float *dw;
    const int64_t *dw_strides;
} MsWinoGrad;

/* The weights w[o][c][kh][kw] with strides in elements into u. */
typedef struct MsWinoWeights {
    const float *w;
    int64_t c, o, strides[4];
    float *u;
} MsWinoWeights;

/* Range functions. */
typedef struct MsWinoFns {
    void (*weights)(void *ctx, int64_t begin, int64_t end);  /* MsWinoWeights over input channels */
    void (*forward)(void *ctx, int64_t begin, int64_t end);  /* MsWino over chunks */
    void (*slice)(void *ctx, int64_t begin, int64_t end);    /* MsWinoGrad over tiles of the slice */
    void (*products)(void *ctx, int64_t begin, int64_t end); /* over points times panels */
    void (*gather)(void *ctx, int64_t begin, int64_t end);   /* over input channels */
} MsWinoFns;

/* All NULL where the instruction set has too few registers. */
extern const MsWinoFns ms__wino_base, ms__wino_avx2, ms__wino_avx512;

#endif
