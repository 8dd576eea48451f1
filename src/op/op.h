/* op.h - what an operator is: one constant MsOp per primitive, defined with MS_OP next to everything that
 * is known about it. Nothing here knows a device; kernels are attached by name at build time.
 *
 * Signature grammar      name(input: T, opt: T?, list: T[], *, attr: kind, opt_attr: kind?) -> T, T
 *   T of an input   any num real float int bool (a class of dtypes), a dtype name, or the name of an earlier
 *                   input ("the same dtype as"). `?` may be absent (NULL), `[]` is a variadic list (last input).
 *                   num = int float complex; real = int float; float = f16 bf16 f32 f64; floatc = float complex;
 *                   int = every integer, not bool; index = int32 int64; any = all of these and bool;
 *                   bits = int bool; ordered = real bool.
 *   T of an output  the name of an input ("its dtype"), a dtype name, or `_` (infer decides)
 *   kind            int float bool ints dtype str graph
 * The dtype constraints are checked by ms_bind before infer runs, so infer only sees to shapes.
 */
#ifndef MS_OP_OP_H
#define MS_OP_OP_H
#include "core/attr.h"
#include "core/tensor.h"

#define MS_MAX_OUT 8 /* fixed outputs of a primitive; control operators and lists may have more */

typedef struct MsOp MsOp;
typedef struct MsKernel MsKernel;

/* One application of an operator, as infer and kernels see it. */
typedef struct MsCall {
    const MsOp *op;
    const MsAttr *attr; /* in signature order */
    int n_in, n_out;
    MsTensor *const *in; /* concrete; NULL where an optional input is absent */
    MsTensor **out;      /* entry NULL = allocate with ms__out, else a tensor to write into */
    const MsAval *aval;  /* of the outputs, from infer */
} MsCall;

/* Shape rule: in -> out avals. `n_out` is preset to the signature's count; variadic outputs set it (at most
 * cap). Messages name the operator and the argument. */
typedef struct MsInfer {
    const MsOp *op;
    const MsAttr *attr;
    int n_in, n_out, cap;
    const MsAval *in; /* dtype MS_DTYPE_NONE where absent */
    MsAval *out;      /* dtype preset from the signature where it says so */
} MsInfer;

/* Reverse rule. Everything is a value of the level below; use public operators (ms_mul, ...). A cotangent is
 * NULL when nothing flows into that output. Set grad[i] for inputs with want[i]; leaving NULL means zero.
 * Broadcasting is undone by the caller: grad[i] may have the broadcast shape (it is summed to in[i]'s). */
typedef struct MsVjp {
    const MsOp *op;
    const MsAttr *attr;
    int n_in, n_out;
    MsTensor *const *in, *const *out, *const *ct;
    const bool *want;
    MsTensor **grad;
} MsVjp;

/* Batching rule: in[i] carries a batch axis at axis[i] (-1 = none) of `size`; produce out[j] and out_axis[j]. */
typedef struct MsBatch {
    const MsOp *op;
    const MsAttr *attr;
    int n_in, n_out;
    MsTensor *const *in;
    const int *axis;
    int64_t size;
    MsTensor **out;
    int *out_axis;
} MsBatch;

typedef enum MsOpFlag {
    MS_OP_VIEW = 1,        /* the eager result shares storage with in[0] */
    MS_OP_ELEMENTWISE = 2, /* broadcast elementwise: fusable, batch by alignment */
    MS_OP_NO_GRAD = 4,     /* no gradient flows (comparison, argmax, integer results) */
    MS_OP_EFFECT = 8,      /* never removed or reordered (print, assert) */
    MS_OP_CONTROL = 16,    /* cond, while, scan, call: expanded by interpreters when the bottom is concrete */
    MS_OP_NO_FOLD = 32,    /* result is not a function of the inputs alone */
    MS_OP_IN_PLACE = 64,   /* output j may be written over an input of identical layout */
    MS_OP_OVER_SECOND = 128 /* output 0 may be written over input 1 of identical layout */
} MsOpFlag;

typedef struct MsSig MsSig; /* parsed signature (op/sig.c) */

typedef struct MsOpCache {
    _Atomic(MsSig *) sig;
    _Atomic int64_t calls; /* for profiles */
} MsOpCache;

struct MsOp {
    const char *name;
    const MsKernel *const *kernels; /* ordered, best first, the reference last; ends with NULL */
    MsOpCache *cache;
    const char *sig;
    MsStatus (*infer)(MsInfer *c); /* NULL: out[0] has in[0]'s shape (ELEMENTWISE: the broadcast shape) */
    MsStatus (*vjp)(MsVjp *c);     /* NULL with NO_GRAD, or an error on use */
    MsStatus (*jvp)(const MsVjp *c, MsTensor *const *tangent,
                    MsTensor **out_tangent); /* NULL: by transposing vjp */
    MsStatus (*batch)(MsBatch *c); /* NULL: ELEMENTWISE by alignment, otherwise a loop over examples */
    MsStatus (*shard)(void *c);    /* layouts it accepts; rules come with the partitioner */
    MsStatus (*view_write)(const MsOp *op, const MsAttr *attr, MsTensor *base, MsTensor *v,
                           MsTensor **new_base); /* VIEW: the base after `v` was written through the view */
    const char *sample;                          /* inputs for the sweep, see test/c/sweep.c */
    uint32_t flags;
};

/* A way to compute an operator. ok: NULL = accepted, else the reason it refuses (static text). */
struct MsKernel {
    const char *name;
    const char *(*ok)(const MsCall *c); /* NULL: always */
    MsStatus (*run)(MsCall *c);
};

/* MS_OP(logsumexp, .sig = "...", .infer = ..., ...); */
#define MS_OP(id, ...)                                                                                       \
    extern const MsKernel *const ms_kernels_##id[];                                                          \
    extern const MsOp ms_op_##id;                                                                            \
    static MsOpCache ms_cache_##id;                                                                          \
    const MsOp ms_op_##id = {.name = #id, .kernels = ms_kernels_##id, .cache = &ms_cache_##id, __VA_ARGS__}

/* In a kernel file: MS_KERNEL(matmul, 50, onednn, ok, run); higher priority is tried first, 0 = reference. */
#define MS_KERNEL(op, priority, label, ok_fn, run_fn)                                                        \
    extern const MsKernel ms_kernel_##op##_##label;                                                          \
    const MsKernel ms_kernel_##op##_##label = {#label, ok_fn, run_fn}

/* The registry (generated): every operator, in alphabetical order. */
extern const MsOp *const ms__ops[];
extern const int ms__n_ops;
const MsOp *ms__op_find(const char *name);

/* Output j of a call: the preset tensor, or a new contiguous one. NULL and an error when refused. */
MsTensor *ms__out(MsCall *c, int j);
/* The same; a new one gets the strides of a dense layout (say channels-last). */
MsTensor *ms__out_strided(MsCall *c, int j, const int64_t *strides);

/* ---- signatures ---- */

typedef struct MsSigInput {
    char name[24];
    uint32_t dtypes; /* set of allowed dtypes, bit per MsDtype */
    int8_t same_as;  /* index of an earlier input with the same dtype, or -1 */
    bool optional, list;
} MsSigInput;

typedef struct MsSigAttr {
    char name[24];
    uint8_t kind; /* MsAttrKind */
    bool optional;
} MsSigAttr;

struct MsSig {
    int n_in, n_attr, n_out;
    bool list_out; /* "-> T[]": infer sets n_out */
    MsSigInput in[12];
    MsSigAttr attr[MS_MAX_ATTR];
    int8_t out_same[MS_MAX_OUT];  /* input whose dtype it has, or -1 */
    int8_t out_dtype[MS_MAX_OUT]; /* fixed dtype, or MS_DTYPE_NONE: infer decides */
};

/* Parsed once per operator and cached. NULL and an error when the text is malformed. */
const MsSig *ms__sig(const MsOp *op);
/* Checks dtypes and counts of inputs against the signature, then runs infer. out has room for cap. */
MsStatus ms__infer(const MsOp *op, const MsAttr *attr, int n_in, const MsAval *in, int cap, MsAval *out,
                   int *n_out);

/* ---- helpers for rules ---- */

/* numpy broadcasting of two shapes into out. Error names op. */
MsStatus ms__broadcast(const MsOp *op, const MsAval *a, const MsAval *b, MsAval *out);
/* Normalises an axis into [0, ndim); error (VALUE) names op and the range. */
MsStatus ms__axis(const MsOp *op, int64_t axis, int ndim, int *out);
/* Axis list -> bitmask; none or empty list = all axes. Error on duplicates and range. */
MsStatus ms__axes(const MsOp *op, const MsAttr *axes, int ndim, uint32_t *mask);

#endif
