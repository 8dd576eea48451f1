/* packed.h - copies of weights in the layout that a kernel reads, kept with the storage until it is
 * written. */
#ifndef MS_CPU_PACKED_H
#define MS_CPU_PACKED_H
#include "core/tensor.h"

/* Layouts of our own kernels; those of the primitive library are numbered from 0. */
enum {
    MS_PACKED_WINO = -1,
    MS_PACKED_WINO_FLIPPED = -2,
    MS_PACKED_POINT = -3,
    MS_PACKED_DEPTH = -4,
    MS_PACKED_FIRST = -5
};

/* The entry of t for a layout, held until ms__packed_drop. NULL when t comes for the first time, which is
 * only noted (the weights of a training step change before they come again), or when its content may
 * change unseen. */
MsPacked *ms__packed_hold(const MsTensor *t, int64_t layout);
/* The copy, or NULL: to be filled. */
void *ms__packed_data(MsPacked *k);
/* Gives a held entry its copy, a block of ms__alloc, unless another thread was faster. */
void ms__packed_fill(MsPacked *k, void *data, size_t nbytes);
void ms__packed_drop(MsPacked *k);

/* Such a copy for the time of a call. */
typedef struct MsPackedUse {
    MsPacked *kept;
    float *made; /* set: a block that the caller fills */
    size_t nbytes;
} MsPackedUse;

/* The copy of t, filled or (then it is use->made) to be filled; NULL and an error without memory. */
const float *ms__packed_open(MsPackedUse *use, const MsTensor *t, int64_t layout, size_t nbytes);
void ms__packed_close(MsPackedUse *use);

#endif
