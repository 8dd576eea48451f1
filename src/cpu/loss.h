/* loss.h - cross-entropy of rows of logits (isa/loss.c). */
#ifndef MS_CPU_LOSS_H
#define MS_CPU_LOSS_H
#include "core/error.h"

/* Rows of float32 or of a half type; pitch: elements from row to row. */
typedef struct MsLoss {
    const char *x;
    char *out; /* loss: a float32 per row; gradient: rows */
    const float *dloss;
    const int64_t *label;
    int64_t classes, ignore, pitch, out_pitch;
    int size;                                                  /* bytes of an element */
    void (*from_half)(int64_t n, float *y, const uint16_t *x); /* NULL: float32 */
    void (*to_half)(int64_t n, uint16_t *y, const float *x);
} MsLoss;

/* Range functions over rows. */
typedef struct MsLossFns {
    void (*loss)(void *ctx, int64_t begin, int64_t end);
    void (*grad)(void *ctx, int64_t begin, int64_t end); /* out may be x */
} MsLossFns;

extern const MsLossFns ms__loss_base, ms__loss_avx2, ms__loss_avx512;

#endif
