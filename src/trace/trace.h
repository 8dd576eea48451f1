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
    /* Applies op to values of which at least one belongs to the trace (or the trace stages everything). in[]
     * are lifted: of this trace, or of a level below (constants). Fills out with references in the scope. */
    MsStatus (*bind)(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap,
                     MsTensor **out, int *n_out);
    bool binds_all; /* staging: takes every call, also without own inputs */
    bool follows;   /* vjp and jvp: derivatives, which can be paused */
} MsInterp;

typedef struct MsEnvEntry {
    MsStorage *storage; /* of root; NULL: the entry is for the traced handle `root` of a level below */
    MsTensor *root;     /* retained; `value` has its shape. Views of the storage are read relative to it */
    MsTensor *value;    /* retained; value of the trace or below */
    bool written;
} MsEnvEntry;

struct MsTrace {
    const MsInterp *interp;
    _Atomic int ref; /* the opener's, and one per handle of the trace */
    bool closed;     /* a handle outlived its transformation */
    int paused;      /* > 0: vjp and jvp pass values through without following them */
    int level;       /* 1 = lowest */
    MsTrace *below;
    MsEnvEntry *env;
    int n_env, cap_env;
    MsGraph *graph;  /* vjp: the tape; stage: the graph so far. Values that no node defines are constants */
    MsTensor **vals; /* vjp: primal by value id, retained. stage: captured value by id, else NULL */
    int cap_vals;
    int n_x, n_w;              /* inputs, weights; their value ids come first */
    int64_t size;              /* vmap: batch size */
    struct MsBatched *batched; /* vmap: its batched inputs, n_x of them */
};

/* Applies an operator; the one intercept point. out has room for the outputs (n_out_cap); *n_out is set. */
MsStatus ms_bind(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap, MsTensor **out,
                 int *n_out);
/* The common case of one output. */
MsTensor *ms_bind1(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in);

/* While the calling thread's autocast is a half type, products compute in it, and what would lose too much in float32. */
MS_API_EXPORT MsDtype ms__autocast(void); /* MS_DTYPE_NONE: off */
MS_API_EXPORT void ms__set_autocast(MsDtype dtype);
/* autocast.c: the inputs as op takes them then. */
MsStatus ms__autocast_inputs(const MsOp *op, MsDtype half, int n_in, MsTensor *const *in, MsTensor **out);

/* Concrete evaluation: picks a kernel and runs it. */
MsStatus ms__eval(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap, MsTensor **out,
                  int *n_out);
/* The kernel list walk alone (executor): returns the first that accepts, or NULL and an error. */
const MsKernel *ms__select(const MsCall *c);
/* Runs it; what it calls runs at once too, nothing stays pending. */
MsStatus ms__run_now(const MsKernel *k, MsCall *c);

/* ---- exec/lazy.c: pending values, see docs/design/008-lazy-fusion.md ---- */

/* > 0: results may stay pending; < 0: inside a kernel or a graph, whatever runs here runs at once. */
extern _Thread_local int ms__lazy_state;
/* Allows pending results until ms__lazy_leave gets what this returned. */
MS_API_EXPORT int ms__lazy_enter(void);
MS_API_EXPORT void ms__lazy_leave(int was);
/* Smallest number of elements that stay pending; 0 = none do. */
MS_API_EXPORT void ms__lazy_set(int64_t min_numel);
MS_API_EXPORT int64_t ms__lazy_get(void);
/* Gives c's outputs pending values, or computes c together with pending inputs; false = compute c as ever. */
MsStatus ms__lazy_take(MsCall *c, bool *taken);

/* In place: like ms_bind, but the results go into targets[0..n_out), which may be inputs. */
MsStatus ms_bind_into(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int n_out,
                      MsTensor *const *targets);

MsTrace *ms__trace_new(const MsInterp *interp); /* pushed; NULL and an error */
/* Popped, environment dropped; the tape stays. */
void ms__trace_leave(MsTrace *t);
void ms__trace_close(MsTrace *t); /* popped, environment dropped, opener's reference given back */
MS_API_EXPORT MsTrace *ms__trace_top(void);
/* Makes t (NULL: eager execution) the innermost trace until the one that is returned is entered again. */
MS_API_EXPORT MsTrace *ms__trace_enter(MsTrace *t);
/* Adds to the pause of every open vjp and jvp: while it is > 0 they follow nothing. */
MS_API_EXPORT void ms__trace_pause(int delta);
/* Whether derivatives may be taken of what runs now: a vjp or jvp is open that is not paused, or a staging. */
MS_API_EXPORT bool ms__trace_follows(void);
/* Runs code below t: until ms__trace_resume, binds go to the levels under t. */
MsTrace *ms__trace_suspend(MsTrace *t);
void ms__trace_resume(MsTrace *saved);

/* ---- env.c: writes, aliases, environments ---- */

/* The value of x as trace t sees it now: views are refreshed after writes, environments looked up. */
MsTensor *ms__lift(MsTrace *t, MsTensor *x);
/* Remembers that `view` = op(base): writes through either are seen by the other. */
MsStatus ms__alias(MsTensor *view, const MsOp *op, const MsAttr *attr, MsTensor *base);
/* v as it is written to x: of x's dtype, broadcast to its shape. NULL and an error when it does not fit. */
MsTensor *ms__fit_value(MsTensor *x, MsTensor *v);
/* A number that changes when the content of x does, in a trace or outside. */
MS_API_EXPORT uint32_t ms__content_version(const MsTensor *x);
/* The environment's entry for x, or NULL. */
MS_API_EXPORT MsEnvEntry *ms__env_find(MsTrace *t, const MsTensor *x);
/* Makes `value` what t reads for the concrete tensor `root` (and every view of its storage). */
MsStatus ms__env_set(MsTrace *t, MsTensor *root, MsTensor *value);
/* Writes the written entries to the level below; `lower` gives the value below. */
MsStatus ms__env_flush(MsTrace *t, MsTensor *(*lower)(MsTrace *, MsTensor *));
/* Follows primals down to the concrete tensor; NULL without an error when a staging or batching is in the way. */
MS_API_EXPORT MsTensor *ms__concrete(MsTensor *x);
/* The same without telling ms__read_hook, which is called with every tensor whose content is looked at while a
 * function is staged: the staged graph depends on it. */
MS_API_EXPORT MsTensor *ms__concrete_unseen(MsTensor *x);
MS_API_EXPORT extern void (*ms__read_hook)(MsTensor *x);
/* Copies the elements of t, row-major and cast to dtype, to `to`; no operator runs. RUNTIME when t has no value. */
MS_API_EXPORT MsStatus ms__tensor_read(MsTensor *t, MsDtype dtype, void *to);

/* ---- helpers of interpreters ---- */

/* Brings a cotangent to the shape and dtype of x (sum over broadcast axes, cast). */
MsTensor *ms__fit(MsTensor *g, MsTensor *x);
/* ms_stage_begin for inputs of which only shape and dtype exist. */
MS_API_EXPORT MsTrace *ms__stage_begin(int n_in, const MsAval *in, MsTensor **x);
/* The value of x, which depends on what t stages, for the concrete arguments in[]: the part of the graph so far that
 * computes it is run. handle: x in t as it is now. NOT_IMPLEMENTED where another staging or a batch is between. */
MS_API_EXPORT MsStatus ms__stage_peek(MsTrace *t, MsTensor *x, MsTensor *const *in, MsTensor **value,
                                      MsTensor **handle);
/* control.c: applies a control operator by running its sub-graphs through ms_bind; *done = false when a value
 * that decides is not concrete. */
MsStatus ms__control_expand(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, MsTensor **out,
                            int *n_out, bool *done);
/* control.c: vjp rules of call and of the other control operators. */
MsStatus ms__call_vjp(MsVjp *c);
MsStatus ms__control_vjp(MsVjp *c);
/* exec/run.c, see exec/exec.h. */
MsStatus ms__graph_run(MsGraph *g, MsTensor *const *in, MsTensor **out);
MsStatus ms__graph_run_call(MsGraph *g, MsTensor *const *arg, MsTensor **result);
/* control.c: the pair of graphs that computes g and its vjp; cached on g. fwd: inputs -> outputs, residuals;
 * bwd: residuals, cotangents of the outputs -> cotangents of the inputs. */
MsStatus ms__graph_linearize(MsGraph *g, MsGraph **fwd, MsGraph **bwd);

#endif
