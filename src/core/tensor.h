/* tensor.h - the tensor handle and its storage.
 *
 * A handle is either concrete (storage != NULL: a strided view) or traced (trace != NULL: a value of one
 * interpreter, whose meaning is in `tv`). Shape and dtype are valid for both. A traced handle keeps strides
 * row-major. A view made inside a trace remembers base and recipe, so that writes through aliases can be
 * functionalised (trace/env.c). */
#ifndef MS_CORE_TENSOR_H
#define MS_CORE_TENSOR_H
#include "core/error.h"
#include <stdatomic.h>

/* A copy of a storage's content in the layout that a kernel reads (cpu/packed.c). */
typedef struct MsPacked {
    struct MsPacked *next;
    int64_t key; /* which layout */
    ptrdiff_t offset;
    uint32_t version; /* of the storage when the copy was made */
    int busy;         /* calls that read it */
    void *data;       /* NULL: asked for once so far */
    size_t nbytes;
} MsPacked;

typedef struct MsLazy MsLazy; /* exec/lazy.c */

/* One input of a pending value, in the list of its storage. */
typedef struct MsLazyUse {
    MsLazy *by;
    struct MsLazyUse *next, *prev;
} MsLazyUse;

typedef struct MsStorage {
    _Atomic int ref;
    _Atomic uint32_t version; /* bumped by every write; a saved value that changed is detected by it */
    void *data;
    size_t nbytes;
    _Atomic int exposed;   /* who may write without a new version: an arena's plan, holders of its address */
    MsPacked *packed;      /* copies of `version` or older ones */
    _Atomic int32_t n_env; /* open traces whose environment holds it; 0 lets readers skip the search */
    void (*release)(void *ctx); /* NULL: the block is the allocator's */
    void *ctx;
    MsLazy *_Atomic lazy;     /* the content is pending: how to compute it; data is NULL till then */
    MsLazyUse *_Atomic users; /* pending values that read the content */
} MsStorage;

typedef struct MsAlias MsAlias; /* trace/env.c */

struct MsTensor {
    _Atomic int ref;
    int8_t dtype; /* MsDtype */
    int8_t ndim;
    bool contiguous; /* row-major without gaps (concrete), true for traced */
    bool literal;    /* a number of the program (ms_tensor_scalar): staging writes it into the graph */
    uint32_t version;
    int64_t numel;
    int64_t shape[MS_MAX_DIM];
    int64_t strides[MS_MAX_DIM]; /* in elements; may be 0 or negative */
    MsStorage *storage;
    char *data; /* first element; NULL until ms__ready when the content is pending */

    MsTrace *trace; /* the interpreter that this value belongs to, or NULL */
    struct {
        MsTensor *value; /* vjp, jvp: the primal; vmap: the batched tensor */
        MsTensor *other; /* jvp: the tangent, NULL = zero */
        int id;          /* vjp, stage: value id in the trace's graph, -1 = constant; vmap: axis */
    } tv;
    MsAlias *alias; /* traced view: how to reach the base */
};

/* Shape and dtype of a value without data. */
typedef struct MsAval {
    MsDtype dtype;
    int ndim;
    int64_t shape[MS_MAX_DIM];
} MsAval;

static inline MsAval ms__aval(const MsTensor *t)
{
    MsAval a = {(MsDtype)t->dtype, t->ndim, {0}};
    for (int d = 0; d < t->ndim; d++) a.shape[d] = t->shape[d];
    return a;
}

/* Element count, or -1 and an error when a size is negative or the product passes 2^62. */
int64_t ms__numel(int ndim, const int64_t *shape);
void ms__row_major(int ndim, const int64_t *shape, int64_t *strides);
bool ms__is_row_major(int ndim, const int64_t *shape, const int64_t *strides);

/* A new handle in the open scope. Strides NULL = row-major; otherwise strides of a dense layout (a
 * permutation of row-major, e.g. channels-last) that the new storage gets. */
MsTensor *ms__tensor_dense(MsDtype dtype, int ndim, const int64_t *shape, const int64_t *strides);
/* The same without content: the caller sets the storage's `lazy`. */
MsTensor *ms__tensor_pending(const MsAval *a, const int64_t *strides);
/* A view of t's storage: offset in elements relative to t's first. The caller guarantees it stays inside. */
MsTensor *ms__tensor_view(MsTensor *t, int ndim, const int64_t *shape, const int64_t *strides,
                          int64_t offset);
/* A view of t's bytes with another dtype of the same size. */
MsTensor *ms__tensor_bitcast(MsTensor *t, MsDtype dtype);
/* A handle of `trace` in the open scope; `value` and `other` are retained. */
MsTensor *ms__tensor_traced(MsTrace *trace, const MsAval *aval, MsTensor *value, MsTensor *other, int id);
/* A concrete tensor over `data` inside an arena that outlives it (executor). */
MsTensor *ms__tensor_borrow(MsStorage *storage, char *data, MsDtype dtype, int ndim, const int64_t *shape,
                            const int64_t *strides);

/* Makes `to` stand for what `from` stands for (in-place writes inside a trace); `to`'s shape must match. */
void ms__tensor_become(MsTensor *to, MsTensor *from);

MsStorage *ms__storage_new(size_t nbytes);
MsStorage *ms__storage_ref(MsStorage *s);
/* Adds a reference unless the last one has gone. */
bool ms__storage_hold(MsStorage *s);
MS_API_EXPORT void ms__storage_unref(MsStorage *s);
void ms__packed_free(MsPacked *list);

/* Adds a reference that the caller holds to the open scope, giving it away; NULL when that fails. */
MS_API_EXPORT MsTensor *ms__scope_own(MsTensor *t);

/* Pending values (exec/lazy.c). Before anything reads t->data: its content is there when this gives MS_OK. */
#define ms__ready(t) ((t)->data || !(t)->storage ? MS_OK : ms__lazy_ready(t))
MS_API_EXPORT MsStatus ms__lazy_ready(MsTensor *t);
/* Before the content of t's storage changes or its address is given away: it and what is pending on it are computed. */
#define ms__settle(t)                                                                                        \
    (!(t)->storage || (!(t)->storage->lazy && !(t)->storage->users) ? ms__ready(t) : ms__lazy_settle(t))
MS_API_EXPORT MsStatus ms__lazy_settle(MsTensor *t);
/* A storage that nobody refers to takes its pending value with it, and what remembers it forgets it. */
void ms__lazy_drop(MsStorage *s);

/* The trace layer ends what a handle holds: an alias record; one reference to the trace (delta +1 or -1). */
void ms__alias_free(MsAlias *a);
void ms__trace_count(MsTrace *trace, int delta);

#endif
