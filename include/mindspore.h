/* mindspore.h - the public C interface of libmindspore.
 *
 * One library holds the framework: tensors, operators, composable automatic differentiation, a graph
 * compiler, an executor and the data pipeline. The operators themselves (ms_add, ms_matmul, ...) are
 * declared in mindspore_ops.h, which is produced from the operator registry.
 *
 * Rules that hold for every function here
 *   Ownership   A function that returns MsTensor * gives a reference owned by the innermost open scope
 *               of the calling thread (ms_scope_begin), or by the caller when no scope is open.
 *               Arguments are borrowed. ms_tensor_ref keeps a tensor beyond its scope.
 *   Errors      NULL or a status other than MS_OK means failure; ms_error() has the record. A NULL
 *               tensor argument passes an earlier failure on, so that calls can be nested and checked once.
 *               The library never aborts, exits or prints.
 *   Threads     Any thread may call in. A tensor may be read by many threads at a time; whoever writes
 *               it must be alone. Scopes, traces and the error record belong to one thread.
 */
#ifndef MINDSPORE_H
#define MINDSPORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MS_API_EXPORT __attribute__((visibility("default")))
#define MS_MAX_DIM 8 /* largest rank of a tensor */

/* ---- errors ------------------------------------------------------------------------------------ */

/* What went wrong; maps one to one to a Python exception. */
typedef enum MsStatus {
    MS_OK = 0,
    MS_ERROR_VALUE,
    MS_ERROR_TYPE,
    MS_ERROR_INDEX,
    MS_ERROR_KEY,
    MS_ERROR_ATTRIBUTE,
    MS_ERROR_RUNTIME,
    MS_ERROR_MEMORY,
    MS_ERROR_ZERO_DIVISION,
    MS_ERROR_OVERFLOW,
    MS_ERROR_NOT_IMPLEMENTED,
    MS_ERROR_IO,
    MS_ERROR_STOP,      /* end of a data pipeline; not a failure */
    MS_ERROR_INTERRUPT, /* the user asked to stop (Ctrl-C) */
    MS_ERROR_FOREIGN    /* a callback of the host language failed and keeps its own record */
} MsStatus;

typedef struct MsError {
    MsStatus code;
    char message[1024]; /* names operator, argument, what was expected and what was got */
    const char *file;   /* where in the library it was raised */
    int line;
} MsError;

MS_API_EXPORT const MsError *ms_error(void); /* this thread's record; code MS_OK when there is none */
MS_API_EXPORT void ms_error_clear(void);
/* Called at most twenty times a second, by any thread, while a graph runs or a consumer waits for data; true = stop
 * with MS_ERROR_INTERRUPT. NULL = never. */
MS_API_EXPORT void ms_set_interrupt(bool (*interrupted)(void));
MS_API_EXPORT const char *ms_version(void);

/* ---- dtypes ------------------------------------------------------------------------------------ */

typedef enum MsDtype {
    MS_BOOL,
    MS_INT8,
    MS_INT16,
    MS_INT32,
    MS_INT64,
    MS_UINT8,
    MS_UINT16,
    MS_UINT32,
    MS_UINT64,
    MS_FLOAT16,
    MS_BFLOAT16,
    MS_FLOAT32,
    MS_FLOAT64,
    MS_COMPLEX64,
    MS_COMPLEX128,
    MS_INT4,   /* two values a byte, weights of quantised networks only */
    MS_STRING, /* a byte of UTF-8 text; data pipeline only. The last axis holds a text, padded with NUL */
    MS_BYTES,  /* the same for bytes that are no text */
    MS_DTYPE_COUNT,
    MS_DTYPE_NONE = -1 /* "not given" */
} MsDtype;

MS_API_EXPORT const char *ms_dtype_name(MsDtype dtype); /* "float32"; "none" for MS_DTYPE_NONE */
MS_API_EXPORT MsDtype ms_dtype_named(const char *name); /* MS_DTYPE_NONE where there is none of this name */
MS_API_EXPORT size_t ms_dtype_size(MsDtype dtype);      /* bytes of an element; 1 for int4 */
MS_API_EXPORT bool ms_dtype_is_float(MsDtype dtype);    /* float16, bfloat16, float32, float64 */
MS_API_EXPORT bool ms_dtype_is_complex(MsDtype dtype);
MS_API_EXPORT bool ms_dtype_is_int(MsDtype dtype); /* signed and unsigned, not bool */
MS_API_EXPORT bool ms_dtype_is_signed_int(MsDtype dtype);
/* The smallest dtype that holds both, or MS_DTYPE_NONE where the type rule refuses the pair. */
MS_API_EXPORT MsDtype ms_dtype_promote(MsDtype a, MsDtype b);

typedef struct MsTensor MsTensor;

/* A short list of integers (axes, sizes, strides) as operators take it; n = -1 stands for "not given". */
typedef struct MsInts {
    int n;
    const int64_t *v;
} MsInts;
#define MS_INTS_NONE ((MsInts){-1, NULL})
#define MS_INTS(...)                                                                                         \
    ((MsInts){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}})

/* ---- scopes ------------------------------------------------------------------------------------ */

/* Opens a scope: references returned from now on live until ms_scope_end. Gives a mark for it. */
MS_API_EXPORT int ms_scope_begin(void);
/* Closes the scope of `mark`, and those left open inside it. The tensors keep[0..n) move to the enclosing
 * scope (or to the caller); NULL entries are skipped. */
MS_API_EXPORT void ms_scope_end(int mark, MsTensor *const *keep, int n);

/* ---- tensors ----------------------------------------------------------------------------------- */

/* An n-dimensional array: a strided view on reference-counted storage. While a transformation is
 * active it may instead stand for a value being traced; every function works on both. */

MS_API_EXPORT MsTensor *ms_tensor_ref(MsTensor *t); /* adds a reference owned by the caller */
MS_API_EXPORT void ms_tensor_unref(MsTensor *t);    /* gives one back; NULL is allowed */

/* A new tensor with contiguous uninitialised storage. Errors: VALUE (negative size), MEMORY. */
MS_API_EXPORT MsTensor *ms_tensor_empty(MsDtype dtype, int ndim, const int64_t *shape);
/* A new tensor with a copy of `data` (row-major, ms_tensor_numel elements of dtype). */
MS_API_EXPORT MsTensor *ms_tensor_from(MsDtype dtype, int ndim, const int64_t *shape, const void *data);
/* A tensor over memory of the caller: `release(ctx)` runs when the last view is gone. strides in
 * elements, NULL for row-major. On failure `release` is not called. */
MS_API_EXPORT MsTensor *ms_tensor_wrap(MsDtype dtype, int ndim, const int64_t *shape, const int64_t *strides,
                                       void *data, void (*release)(void *), void *ctx);
MS_API_EXPORT MsTensor *ms_tensor_scalar(MsDtype dtype, double value); /* 0-d */
MS_API_EXPORT MsTensor *ms_tensor_scalar_int(MsDtype dtype, int64_t value);

MS_API_EXPORT MsDtype ms_tensor_dtype(const MsTensor *t);
MS_API_EXPORT int ms_tensor_ndim(const MsTensor *t);
MS_API_EXPORT const int64_t *ms_tensor_shape(const MsTensor *t);
MS_API_EXPORT const int64_t *ms_tensor_strides(const MsTensor *t); /* in elements */
MS_API_EXPORT int64_t ms_tensor_numel(const MsTensor *t);
MS_API_EXPORT bool ms_tensor_is_contiguous(const MsTensor *t); /* row-major without gaps */
MS_API_EXPORT bool ms_tensor_is_traced(const MsTensor *t);     /* has no value yet */
/* First element; NULL and an error (RUNTIME) for a traced tensor. */
MS_API_EXPORT void *ms_tensor_data(MsTensor *t);
/* The value of a tensor with one element. Errors: VALUE (more elements), RUNTIME (traced). */
MS_API_EXPORT MsStatus ms_tensor_item(MsTensor *t, double *value);
MS_API_EXPORT MsStatus ms_tensor_item_int(MsTensor *t, int64_t *value);
/* Writes `value` (broadcast, cast) into the elements of `t`; seen through every view of its storage.
 * Inside a transformation the write is recorded instead (see docs/design). */
MS_API_EXPORT MsStatus ms_tensor_write(MsTensor *t, MsTensor *value);

/* ---- memory and threads ------------------------------------------------------------------------ */

typedef struct MsMemoryStats {
    int64_t allocated;     /* bytes in use by tensors and workspaces now */
    int64_t peak;          /* largest `allocated` since ms_memory_reset_peak */
    int64_t reserved;      /* bytes held from the system, in use or cached */
    int64_t peak_reserved; /* largest `reserved` */
    int64_t n_alloc;       /* allocations served so far */
    int64_t n_live;        /* tensor handles alive */
} MsMemoryStats;

MS_API_EXPORT MsMemoryStats ms_memory_stats(void);
MS_API_EXPORT void ms_memory_reset_peak(void);
MS_API_EXPORT void ms_memory_empty_cache(void); /* returns cached blocks to the system */
/* Testing: the n-th allocation from now on (1 = the next) and, if `forever`, all later ones fail; 0 = off. */
MS_API_EXPORT void ms_memory_fail_after(int64_t n, bool forever);

MS_API_EXPORT int ms_thread_count(void);
MS_API_EXPORT MsStatus ms_thread_set_count(int n); /* a forked child keeps 1 */

/* ---- profile ----------------------------------------------------------------------------------- */

/* Between start and stop every run of a kernel, in eager mode and in graphs, by any thread, is recorded:
 * operator, kernel, time, bytes of inputs and outputs, floating-point operations of products and
 * convolutions; with `shapes` also the shapes of the inputs. Nanoseconds are those of CLOCK_MONOTONIC. */
typedef struct MsProfileRow {
    const char *op, *kernel;
    int64_t calls, ns, bytes, flops;
} MsProfileRow;

MS_API_EXPORT void ms_profile_start(bool shapes);
MS_API_EXPORT void ms_profile_stop(void);
MS_API_EXPORT void ms_profile_clear(void); /* forgets what was recorded */
/* Adds a range of the caller's, shown beside the kernels of its thread; nothing when no profile is taken. */
MS_API_EXPORT void ms_profile_range(const char *name, int64_t from_ns, int64_t to_ns);
/* Sums by operator and kernel into row[0..cap); returns how many rows were filled. */
MS_API_EXPORT int ms_profile_table(int cap, MsProfileRow *row);
/* Writes the events as a Chrome trace (JSON; chrome://tracing, Perfetto). Error: IO. */
MS_API_EXPORT MsStatus ms_profile_save(const char *path);

/* ---- random numbers ---------------------------------------------------------------------------- */

MS_API_EXPORT MsStatus ms_random_seed(uint64_t seed); /* the default generator */
/* The default generator's state, int64[2] = {seed, offset}: random operators read and advance it. */
MS_API_EXPORT MsTensor *ms_random_state(void);

/* ---- transformations --------------------------------------------------------------------------- */

typedef struct MsTrace MsTrace;
typedef struct MsGraph MsGraph;

/* A function from tensors to tensors as the host language sees it: fills out[0..n_out) with references
 * in the open scope. `ctx` is the caller's. */
typedef MsStatus (*MsFunction)(void *ctx, int n_in, MsTensor *const *in, int n_out, MsTensor **out);

/* Reverse mode. ms_vjp_begin makes traced twins x[0..n_in) of inputs and from then on records every
 * operator of this thread; `weights` are differentiated where they are read. ms_vjp_grad then pulls the
 * cotangents ct[i] of outputs y[i] (NULL = ones; sum over all outputs) back: grad[0..n_in+n_w), zero where
 * nothing flows. ms_vjp_value gives the untraced value of a tensor. ms_vjp_end closes the trace, also after
 * an error. */
MS_API_EXPORT MsTrace *ms_vjp_begin(int n_in, MsTensor *const *in, MsTensor **x, int n_w,
                                    MsTensor *const *weights);
MS_API_EXPORT MsStatus ms_vjp_grad(MsTrace *trace, int n_out, MsTensor *const *y, MsTensor *const *ct,
                                   MsTensor **grad);
MS_API_EXPORT MsTensor *ms_vjp_value(MsTrace *trace, MsTensor *y);
MS_API_EXPORT MsStatus ms_vjp_end(MsTrace *trace);
/* Ends the recording but keeps the tape: ms_vjp_grad works, with cotangents of the level around the call,
 * until ms_vjp_end. */
MS_API_EXPORT MsStatus ms_vjp_leave(MsTrace *trace);

/* A gradient that the caller writes, for ms_custom: its inputs xs are n_in tensors, then outputs that were computed from them in
 * any way; it gives the outputs, and backwards `grad` turns their cotangents (ct[j] may be NULL: zero) into those of the
 * inputs (grad[i] = NULL: zero), references of the open scope. Counted: tapes and graphs that call it hold it; make it with
 * ref 1 and give that reference back when no more calls are to come. */
typedef struct MsHost {
#ifdef __cplusplus
    int ref;
#else
    _Atomic int ref;
#endif
    MsStatus (*grad)(struct MsHost *h, int n_in, MsTensor *const *in, int n_out, MsTensor *const *out,
                     MsTensor *const *ct, MsTensor **grad);
    void (*drop)(struct MsHost *h); /* the last reference is gone: frees it */
    MsStatus (*run)(struct MsHost *h, int n,
                    MsTensor *const *in); /* of the operator `host`, for its effect */
} MsHost;
MS_API_EXPORT MsHost *ms_host_ref(MsHost *h);
MS_API_EXPORT void ms_host_unref(MsHost *h);

/* Forward mode: x[i] carries tangent v[i]. ms_jvp_value splits an output into value and tangent. */
MS_API_EXPORT MsTrace *ms_jvp_begin(int n_in, MsTensor *const *in, MsTensor *const *v, MsTensor **x);
MS_API_EXPORT MsStatus ms_jvp_value(MsTrace *trace, MsTensor *y, MsTensor **value, MsTensor **tangent);
MS_API_EXPORT MsStatus ms_jvp_end(MsTrace *trace);

/* Batching: x[i] hides axis axis[i] of in[i] (-1 = not batched). ms_vmap_value brings it back at `axis`. */
MS_API_EXPORT MsTrace *ms_vmap_begin(int n_in, MsTensor *const *in, const int *axis, MsTensor **x);
MS_API_EXPORT MsTensor *ms_vmap_value(MsTrace *trace, MsTensor *y, int axis);
MS_API_EXPORT MsStatus ms_vmap_end(MsTrace *trace);

/* Staging: from ms_stage_begin to ms_stage_end nothing is computed; operators become a graph. Tensors
 * of outside that are read are captured by reference, those written become outputs that are written back
 * after every run. x[i] stands for an input like in[i]. */
MS_API_EXPORT MsTrace *ms_stage_begin(int n_in, MsTensor *const *in, MsTensor **x);
MS_API_EXPORT MsGraph *ms_stage_end(MsTrace *trace, int n_out, MsTensor *const *y);
MS_API_EXPORT void ms_stage_cancel(MsTrace *trace); /* closes it after an error */

typedef enum MsJitLevel {
    MS_JIT_O0,
    MS_JIT_O1
} MsJitLevel;

MS_API_EXPORT MsGraph *ms_graph_ref(MsGraph *g);
MS_API_EXPORT void ms_graph_unref(MsGraph *g);
MS_API_EXPORT MsStatus ms_graph_optimize(MsGraph *g, MsJitLevel level);
/* Runs (or, inside a transformation, applies) g: out[0..ms_graph_n_out). */
MS_API_EXPORT MsStatus ms_graph_call(MsGraph *g, int n_in, MsTensor *const *in, MsTensor **out);
MS_API_EXPORT int ms_graph_n_in(const MsGraph *g);
MS_API_EXPORT int ms_graph_n_out(const MsGraph *g);
/* Text of the graph; the caller frees it with free(). NULL on failure. */
MS_API_EXPORT char *ms_graph_print(const MsGraph *g);
MS_API_EXPORT MsGraph *ms_graph_parse(const char *text);
/* Bytes of the arena that the memory plan needs for one run (0 before the first). */
MS_API_EXPORT int64_t ms_graph_arena(const MsGraph *g);

/* ---- checkpoints ------------------------------------------------------------------------------- */

/* Files in MindSpore's .ckpt format: a list of names with a tensor or a text each; or in the safetensors
 * format, which has no texts and sorts the names. */
typedef struct MsCheckpoint MsCheckpoint;

/* Writes entries name[k] with text[k], or tensor[k] where `text` or text[k] is NULL. The file appears whole
 * under `path` or not at all (temporary file, fsync, rename; mode 0400) and ends with a checksum. Errors:
 * VALUE (a name twice or not UTF-8), TYPE (neither tensor nor text), RUNTIME (traced), IO. */
MS_API_EXPORT MsStatus ms_checkpoint_save(const char *path, int n, const char *const *name,
                                          MsTensor *const *tensor, const char *const *text);
/* Reads a file; the checksum is compared when there is one. Freed with ms_checkpoint_free. Errors: VALUE
 * (damaged, truncated, foreign; the text says at which byte), IO, MEMORY. */
MS_API_EXPORT MsCheckpoint *ms_checkpoint_load(const char *path);
MS_API_EXPORT MsStatus ms_safetensors_save(const char *path, int n, const char *const *name,
                                           MsTensor *const *tensor);
MS_API_EXPORT MsCheckpoint *ms_safetensors_load(const char *path);
MS_API_EXPORT void ms_checkpoint_free(MsCheckpoint *c);
MS_API_EXPORT int ms_checkpoint_count(const MsCheckpoint *c);
MS_API_EXPORT const char *ms_checkpoint_name(const MsCheckpoint *c, int k);
MS_API_EXPORT const char *ms_checkpoint_text(const MsCheckpoint *c, int k); /* NULL for a tensor */
MS_API_EXPORT MsTensor *ms_checkpoint_tensor(MsCheckpoint *c, int k);       /* NULL for a text */
/* The tensor called `name`. Error: KEY, which names the nearest one. */
MS_API_EXPORT MsTensor *ms_checkpoint_find(MsCheckpoint *c, const char *name);

#ifdef __cplusplus
}
#endif
#include "mindspore_data.h"
#include "mindspore_ops.h"
#endif
