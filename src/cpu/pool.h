/* pool.h - one pooling, spatial axes padded to three: what its loops (isa/pool.c) need to know. */
#ifndef MS_CPU_POOL_H
#define MS_CPU_POOL_H
#include "core/error.h"

/* Strides in elements: batch, channel, depth, height, width. */
typedef struct MsPool {
    int64_t n, c, x[3], y[3], kernel[3], stride[3], low[3], high[3], dilation[3];
    int64_t sx[5], sy[5], si[5];
    bool count_pad;
    bool adaptive; /* window o of an axis is [floor(o x / y), ceil((o + 1) x / y)); no other geometry then */
    int64_t divisor;
    void *px, *py; /* the large and the small side, whichever is computed */
    int64_t *index;
    int64_t bad; /* max_pool_grad, max_pool_take: an index outside of the plane */
} MsPool;

/* Range functions for ms__parallel_for: `lines` over n * y[0] * y[1] (all channels of a line of outputs),
 * `planes` over n * c. [0] float32, [1] float64. */
typedef struct MsPoolFns {
    void (*max_lines[2])(void *ctx, int64_t begin, int64_t end);
    void (*max_planes[2])(void *ctx, int64_t begin, int64_t end);
    void (*avg_lines[2])(void *ctx, int64_t begin, int64_t end);
    void (*avg_planes[2])(void *ctx, int64_t begin, int64_t end);
    void (*avg_grad[2])(void *ctx, int64_t begin, int64_t end); /* over n * blocks of 64 channels */
    void (*max_grad[2])(void *ctx, int64_t begin, int64_t end); /* the same; px is zeroed before */
    void (*max_take[2])(void *ctx, int64_t begin, int64_t end);
} MsPoolFns;

#define MS_POOL_BLOCK 64 /* channels that are worked on together */

extern const MsPoolFns ms__pool_base, ms__pool_avx2, ms__pool_avx512;

#endif
