/* batch.h - loops of batch normalisation on channels-last rows (isa/batch.c), alone and together with the
 * ReLU and the residual addition that usually follow. */
#ifndef MS_CPU_BATCH_H
#define MS_CPU_BATCH_H
#include "core/tensor.h"

#define MS_BATCH_ROWS 256 /* rows of a block, whose sums are kept in float32 */

/* Activations are [rows, c], all float32 or all bfloat16. Vectors hold a value per channel.
 *   apply:  y = (x - mean) scale + shift, then + skip, then relu and at most `top`, where asked for
 *   reduce: g = dy, or where masked: (dy + more) where `mask` (or, without it, the result of apply) is above 0;
 *           written to d where given; sums of g and g (x - mean)
 *   grad:   dx = g by + (x - mean) times + plus */
typedef struct MsBatchNorm {
    int64_t rows, c;
    const void *x, *skip, *dy, *more, *mask;
    void *y, *d, *dx;
    const float *mean, *scale, *shift, *by, *times, *plus;
    double *partial; /* [blocks][2][c]: means and squared deviations of a block, or its two sums */
    int64_t plane;   /* of `planes`: elements */
    bool relu;       /* of `planes` */
    float top;       /* with relu: the upper bound, infinity = none */
    bool stream;     /* what is written is too large to stay in a cache */
} MsBatchNorm;

typedef void (*MsBatchNormFn)(void *ctx, int64_t begin, int64_t end);

/* The affine map of c channels, y = (x - mean) scale + shift, from gamma, beta, mean and variance in float32 or
 * float64. It is worked out in float64; the rounding of the mean goes into the shift. */
typedef void (*MsAffineFn)(int64_t c, const void *const v[4], double eps, float *mean, float *scale,
                           float *shift);

/* Ranges of blocks, for apply of rows. First index: 0 float32, 1 bfloat16. */
typedef struct MsBatchNormFns {
    MsBatchNormFn stats[2];
    MsBatchNormFn apply[2][2][2]; /* [relu][skip] */
    MsBatchNormFn planes[2];      /* apply on row-major planes [rows / c][c][plane], over rows of planes */
    MsBatchNormFn reduce[2][4];   /* plain; masked by apply; by mask; by mask, with more */
    MsBatchNormFn grad[2][2];     /* plain; masked by apply */
    MsAffineFn affine[2];         /* float32, float64 */
} MsBatchNormFns;

/* The same from vectors of any float type. */
MsStatus ms__norm_map(MsTensor *const v[4], double eps, int64_t c, float *mean, float *scale, float *shift);

extern const MsBatchNormFns ms__batch_base, ms__batch_avx2, ms__batch_avx512;

#endif
