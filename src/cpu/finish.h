/* finish.h - what follows a convolution while its sums are in registers: bias, the affine map of a
 * normalisation, a residual addition and a ReLU, in the arithmetic of batch_norm_apply. */
#ifndef MS_CPU_FINISH_H
#define MS_CPU_FINISH_H
#include "op/op.h"

/* Vectors by output channel have room for a multiple of 16; NULL = left out. */
typedef struct MsFinish {
    const float *bias, *mean, *scale, *shift;
    const float *skip; /* channels-last, like the output */
    bool relu;
    float top; /* upper bound with relu */
    float *block;
    size_t nbytes;
} MsFinish;

/* For c, a conv, conv_input_grad or conv_norm with o output channels; tensors go into the open scope. */
MsStatus ms__finish_open(MsFinish *f, const MsCall *c, int64_t o);
void ms__finish_close(MsFinish *f);

#endif
