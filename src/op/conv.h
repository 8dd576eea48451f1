/* conv.h - attributes of conv, for the operators and their kernels; those of the gradients come behind the shape. */
#ifndef MS_OP_CONV_H
#define MS_OP_CONV_H
#include "op/op.h"

enum {
    STRIDE,
    LOW,
    HIGH,
    DILATION,
    GROUPS
};

#endif
