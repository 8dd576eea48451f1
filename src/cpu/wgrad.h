/* wgrad.h - the weight gradient of a 2-d convolution as products of channels-last rows (isa/wgrad.c). */
#ifndef MS_CPU_WGRAD_H
#define MS_CPU_WGRAD_H
#include "core/error.h"

#define MS_WGRAD_WIDE 64 /* channels of a tile on the wide side, 4 vectors */

/* A run of rows that are paired one by one: offsets of the first in x and dy, in elements. */
typedef struct MsWgradRun {
    int64_t x, dy, n;
} MsWgradRun;

/* dw[tap][n][w] = sum over rows of narrow[row][n] wide[row][w], where the wide side is x or dy and the narrow
 * one the other. The rows are cut into parts with sums of their own, and a part into blocks that fit a cache;
 * block b has the runs [first[b * taps + tap], first[b * taps + tap + 1]). */
typedef struct MsWgrad {
    const float *wide, *narrow;
    int64_t n_wide, n_narrow;       /* channels: the pitch of a row */
    int64_t wide_step, narrow_step; /* elements between rows of a run */
    bool x_is_wide;
    int64_t taps, parts, blocks; /* blocks per part */
    const MsWgradRun *run;
    const int64_t *first;
    float *sum; /* [part][tile of wide][tap][narrow][MS_WGRAD_WIDE] */
} MsWgrad;

/* Over parts * tiles. NULL where the instruction set has too few registers. */
typedef void (*MsWgradFn)(void *ctx, int64_t begin, int64_t end);
extern const MsWgradFn ms__wgrad_base, ms__wgrad_avx2, ms__wgrad_avx512;

#endif
