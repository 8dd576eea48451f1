/* norm.h - loops of batch, layer and group normalisation (isa/norm.c). */
#ifndef MS_CPU_NORM_H
#define MS_CPU_NORM_H
#include "core/error.h"

#define MS_NORM_ROWS 64 /* rows of a block, whose sums are kept in the dtype computed in */

/* Batch norm: x, dy, y are dense, channels-last [rows, c] or planes [n, c, plane]. The three vectors hold
 * a value per channel in the dtype computed in. Layer norm: [rows, c] with c normalised. Group norm: the
 * same, where row r is group r % n of channels of `plane` elements each. */
typedef struct MsNorm {
    int64_t n, c, plane, rows;
    const void *x, *dy;
    void *y;
    const void *mean, *scale,
        *shift; /* apply: y = (x - mean) scale + shift;  grad: y = dy scale + (x - mean) shift + extra */
    const void *extra;
    double *partial; /* [blocks][2][c] channels-last, [2][c] planes */
    const void *gamma,
        *beta; /* layer and group norm; may be NULL. MASKED: the map of the forward pass, as scale and shift */
    void *mean_out, *rstd_out;
    double eps;
} MsNorm;

/* What is summed per channel: x; (x - mean)^2; g and g (x - mean), where g is dy, or 0 where the forward map gives at most 0. */
enum {
    MS_NORM_SUM,
    MS_NORM_SQUARES,
    MS_NORM_PRODUCTS,
    MS_NORM_MASKED /* planes of float32 */
};

typedef void (*MsNormFn)(void *ctx, int64_t begin, int64_t end);

/* [0] float32, [1] float64. `rows` functions take ranges of blocks of MS_NORM_ROWS rows, `planes` ranges
 * of channels (reductions) or of n * c (maps). */
typedef struct MsNormFns {
    MsNormFn reduce_rows[2][3], reduce_planes[2][4];
    MsNormFn apply_rows[2], apply_planes[2], grad_rows[2], grad_planes[2], grad_masked;
    MsNormFn layer[2], layer_grad[2], layer_columns[2]; /* ranges of rows; the last of blocks of rows */
    MsNormFn group[2];                                  /* ranges of rows */
} MsNormFns;

extern const MsNormFns ms__norm_base, ms__norm_avx2, ms__norm_avx512;

#endif
