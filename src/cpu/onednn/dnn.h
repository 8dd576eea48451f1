/* dnn.h - primitives of oneDNN as cached plans.
 *
 * A plan is a created primitive together with what one call needs: argument descriptors, reorders between the
 * layout that a tensor has and the one that the primitive chose, and the size of its workspace. Plans are
 * found by a key that holds everything they were made from; a call that finds one only sets data pointers.
 * Plans are shared between threads; the memory objects that carry the pointers are lent to one call at a
 * time. */
#ifndef MS_CPU_ONEDNN_DNN_H
#define MS_CPU_ONEDNN_DNN_H
#include "op/op.h"

#include <oneapi/dnnl/dnnl.h>

#define MS_DNN_KEY 96 /* words of a key; longer ones are refused */
#define MS_DNN_ARGS 5

typedef struct MsDnnKey {
    int n;
    int64_t v[MS_DNN_KEY];
} MsDnnKey;

/* kind: distinguishes the users of the cache. The thread count is part of every key. */
void ms__dnn_key(MsDnnKey *key, int64_t kind);
void ms__dnn_key_int(MsDnnKey *key, int64_t v);
void ms__dnn_key_ints(MsDnnKey *key, int n, const int64_t *v);
void ms__dnn_key_tensor(MsDnnKey *key, const MsTensor *t); /* dtype, shape, strides; NULL is allowed */

enum {
    MS_DNN_MATMUL = 1,
    MS_DNN_CONV,
    MS_DNN_CONV_INPUT_GRAD,
    MS_DNN_CONV_WEIGHT_GRAD
};

/* What a builder fills: the primitive descriptor and, per argument of the call, its DNNL_ARG_ number, the
 * layout in which the caller has it (the plan destroys it) and which descriptor of the primitive it is
 * (dnnl_query_src_md ...). */
typedef struct MsDnnBuild {
    dnnl_primitive_desc_t pd;
    bool pads; /* the implementation multiplies argument 1 with zeros that are not there: it must be finite */
    int n_arg;
    struct {
        int arg;
        dnnl_memory_desc_t md;
        dnnl_query_t query;
        bool output;
    } arg[MS_DNN_ARGS];
} MsDnnBuild;

typedef dnnl_status_t (*MsDnnBuilder)(const void *ctx, dnnl_engine_t engine, const_dnnl_primitive_attr_t attr,
                                      MsDnnBuild *b);

/* Runs the primitive of `key` on data[0..n_arg), building it on first use. `weights` (may be NULL) is the
 * tensor of argument 1: when the primitive wants it in another layout and it comes again unchanged, that
 * copy is kept with its storage and used until it is written. *unsupported is set, and MS_OK returned,
 * when oneDNN has no implementation (remembered too) or its implementation does not suit these values.
 * Errors: MEMORY, RUNTIME. */
MsStatus ms__dnn_run(const MsDnnKey *key, MsDnnBuilder build, const void *ctx, void *const *data,
                     const MsTensor *weights, bool *unsupported);

/* Computes output 0 of a call, which is `y`, in `dtype`, within a scope. It may refuse like ms__dnn_run,
 * and does when the result is not finite in bfloat16: the processor's products read its subnormal numbers
 * as zero, which makes NaN of an infinity times one. */
typedef MsStatus (*MsDnnCompute)(MsCall *c, int which, MsTensor *y, MsDtype dtype, bool *unsupported);

/* Tries the dtype of y when the library computes in it with instructions of this processor, then float32,
 * then the reference. */
MsStatus ms__dnn_call(MsCall *c, int which, MsTensor *y, MsDnnCompute compute, const MsKernel *reference);
/* Whether y, whose elements do not overlap, is to be computed again in float32. */
bool ms__dnn_doubtful(const MsTensor *y);
dnnl_data_type_t ms__dnn_dtype(MsDtype dtype);

/* A descriptor of up to MS_MAX_DIM + 1 dimensions with the given strides; those of size-one axes are made
 * regular. */
dnnl_status_t ms__dnn_md(dnnl_memory_desc_t *md, MsDtype dtype, int ndim, const int64_t *dims,
                         const int64_t *strides);

#endif
