/* trace.h - the interpreter stack. ms_bind gives a call to the interpreter of the highest level among its
 * inputs and the open stagings; each interpreter re-binds below itself until only concrete values remain.
 *
 * env    Tensors from outside a trace that the trace differentiates (weights) or has written: a map from
 *        storage to the traced value that stands for the storage's content now. Readers go through it, so
 *        every alias sees a write. At the end of the trace, written entries are written below. */
#ifndef MS_TRACE_TRACE_H
#define MS_TRACE_TRACE_H
#include "graph/ir.h"
#include "op/op.h"

typedef struct MsInterp {
    const char *name;
    /* Applies op to values of which at least one belongs to the trace (or the trace stages everything). in[] are
     * lifted: of this trace, or of a level below (constants). Fills out with references in the scope. */
    MsStatus (*bind)(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                     int cap, MsTensor **out, int *n_out);
    bool binds_all; /* staging: takes every call, also without own inputs */
} MsInterp;

typedef struct MsEnvEntry {
    MsStorage *storage; /* retained */
    MsTensor *root;     /* retained concrete tensor that spans the entry (whose shape `value` has) */
    MsTensor *value;    /* retained; value of the trace or below */
    bool written;
} MsEnvEntry;

struct MsTrace {
    const MsInterp *interp;
    int level; /* 1 = lowest */
    MsTrace *below;
    MsGraph *graph;      /* vjp tape, staging */
    MsTensor **vals;     /* vjp: primal of each value id; retained */
    int cap_vals;
    MsEnvEntry *env;
    int n_env, cap_env;
    int64_t size;        /* vmap: batch size */
    /* staging: captured values by identity */
    MsTensor **captured; /* retained, lower-level values in input order after the arguments */
    int n_captured, cap_captured;
    int n_args;
};

/* Applies an operator; the one intercept point. out has room for the outputs (n_out_cap); *n_out is set. */
MsStatus ms_bind(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap, MsTensor **out,
                 int *n_out);
/* The common case of one output. */
MsTensor *ms_bind1(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in);

/* Concrete evaluation: picks a kernel and runs it. */
MsStatus ms__eval(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap,
                  MsTensor **out, int *n_out);
/* The kernel list walk alone (executor): returns the first that accepts, or NULL and an error. */
const MsKernel *ms__select(const MsCall *c);

MS_API_EXPORT MsTrace *ms__trace_top(void);
MsStatus ms__trace_push(MsTrace *t, const MsInterp *interp);
/* Closes t and everything above it. */
void ms__trace_pop(MsTrace *t);
/* Runs code below t: until ms__trace_resume, binds go to the levels under t. */
MsTrace *ms__trace_suspend(MsTrace *t);
void ms__trace_resume(MsTrace *saved);

/* The value of x as this trace sees it now: refreshes views after writes, looks into env. */
MsTensor *ms__lift(MsTrace *t, MsTensor *x);
/* Follows primals down to the concrete tensor, or NULL (no error) when a staging is below. */
MS_API_EXPORT MsTensor *ms__concrete(MsTensor *x);

#endif
