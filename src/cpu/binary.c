#include "op/op.h"
#define MS_BINARY(id, signature, expr, ga, gb, samples) \
    static MsStatus run_##id(MsCall *c) \
    { \
        MsTensor *y = ms__out(c, 0); \
        if (!y) return MS_ERROR_MEMORY; \
        for (int64_t k = 0; k < y->numel; k++) { \
            float a = ((float *)c->in[0]->data)[k], b = ((float *)c->in[1]->data)[k]; \
            ((float *)y->data)[k] = expr; \
        } \
        return MS_OK; \
    } \
    MS_KERNEL(id, 0, loop, NULL, run_##id);
#include "op/binary.def"
