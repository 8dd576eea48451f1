/* conv.h - attributes of conv, for the operators and their kernels; those of the gradients come behind the
 * shape. */
#ifndef MS_OP_CONV_H
#define MS_OP_CONV_H
#include "op/op.h"

enum {
    STRIDE,
    LOW,
    HIGH,
    DILATION,
    GROUPS,
    NORM_EPS, /* those of conv_norm go on with the ones of batch_norm_apply */
    NORM_RELU,
    NORM_TOP
};

/* Whether kernels of conv_norm do both at once, so that the pass graph/conv.c is to make one of them
 * (cpu/pointwise.c). */
bool ms__conv_takes_norm(const MsAttr *at, const MsAval *x, const MsAval *w, const MsAval *y);

#endif
