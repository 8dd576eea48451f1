/* binary.c - expands binary.def into operators. */
#include "mindspore_ops.h"
#include "op/op.h"

#define MS_BINARY(id, signature, expr, ga, gb, samples) \
    static MsStatus vjp_##id(MsVjp *c) \
    { \
        MsTensor *g = c->ct[0]; \
        c->grad[0] = ga; \
        c->grad[1] = gb; \
        return MS_OK; \
    } \
    MS_OP(id, .sig = #id signature, .vjp = vjp_##id, .sample = samples, .flags = MS_OP_ELEMENTWISE);
#include "op/binary.def"
