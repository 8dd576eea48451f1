/* direct.h - direct convolution for few channels per group: what its loops (isa/direct.c) need to know. */
#ifndef MS_CPU_DIRECT_H
#define MS_CPU_DIRECT_H
#include "core/error.h"

#define MS_DIRECT_LANES 16 /* columns that rows are padded to a multiple of */
#define MS_DIRECT_BLOCK 8  /* output channels whose sums stay in registers */

/* One operand as a kernel finds it: [n][groups * channels][rows][columns] by strides in elements. */
typedef struct MsDirectSource {
    const float *at;
    int64_t rows, columns, strides[4];
} MsDirectSource;

/* The images of a group are copied into padded planes [c][h][stride of columns][pitch]: zeros around, and behind
 * each row as many as the last vector of columns reads. A row lies in as many pieces as outputs are columns apart,
 * so that what they need under one kernel column is contiguous. A range function takes its own part of `scratch`. */
typedef struct MsDirect {
    int64_t n, groups, c, o, kh, kw; /* batch; input and output channels of a group; kernel */
    int64_t h, pitch, top, left;     /* padded planes; where an image begins in them */
    int64_t down, right, row;        /* strides; floats of a padded row, right * pitch */
    int64_t tap[7];                  /* where the first column under a kernel column lies in a row */
    int64_t oh, ow;
    MsDirectSource x;
    float *scratch;
    int64_t slot; /* floats of a part of scratch */
    _Atomic int n_slot;
    /* forward */
    const float *w, *bias; /* w: [groups][blocks of o][c][kh][kw][block], zeros behind the last channel */
    float *y;              /* row-major */
    /* weight gradient */
    MsDirectSource dy;
    int64_t ypitch;        /* of the copied dy, zeros behind ow */
    int64_t parts, images; /* sums of their own; images that are copied at a time */
    float *dw;             /* [parts][groups][o][c][kh][kw] */
    _Atomic bool odd;      /* set when a value is not finite */
} MsDirect;

/* Range functions for ms__parallel_for, over n * groups * blocks of output channels or over parts * groups. */
typedef struct MsDirectFns {
    void (*forward)(void *ctx, int64_t begin, int64_t end);
    void (*weight)(void *ctx, int64_t begin, int64_t end);
    /* The same with vectors over MS_DIRECT_LANES output channels instead of columns; with AVX-512 only. */
    void (*forward_lanes)(void *ctx, int64_t begin, int64_t end);
    void (*weight_lanes)(void *ctx, int64_t begin, int64_t end);
} MsDirectFns;

extern const MsDirectFns ms__direct_base, ms__direct_avx2, ms__direct_avx512;

#endif
