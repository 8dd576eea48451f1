/* plan.h - the compiled form of a graph: what a recording run learnt, and an instance made from it. Every
 * value lives in a root: the storage of an input, an output, a captured tensor that is written, a constant,
 * or a piece of the instance's arena. Views share the root of their base at an offset. */
#ifndef MS_EXEC_PLAN_H
#define MS_EXEC_PLAN_H
#include "exec/exec.h"
#include "op/profile.h"

/* What a run node by node found out about a value. */
typedef struct MsSeen {
    int32_t root;   /* the value whose storage it lives in; itself for new storage */
    int64_t offset; /* bytes from the root's first element to this one's */
    int64_t strides[MS_MAX_DIM];
    MsTensor *constant; /* retained; a value that is the same in every run */
} MsSeen;

typedef struct MsRecord {
    MsSeen *seen;            /* by value */
    const MsKernel **kernel; /* by node */
} MsRecord;

typedef struct MsPlanned {
    MsStatus (*run)(MsCall *c);
    MsCall call; /* call.out starts as `preset` and is put back when a kernel returns its own tensor */
    MsTensor **preset;
    int32_t loc; /* of the node */
    bool writes; /* some output is a captured tensor */
    int64_t ns;  /* profile: time of all runs */
} MsPlanned;

/* A handle whose memory is given anew for every run. */
typedef struct MsPatch {
    MsTensor *t;
    int64_t offset; /* bytes from the tensor that is patched in */
} MsPatch;

typedef struct MsResult {
    int32_t value;
    bool direct;    /* the root of `value` is this output's own storage; else copied at the end */
    size_t nbytes;  /* direct: of the root */
    int64_t offset; /* direct: of the value in it */
    int64_t strides[MS_MAX_DIM];
    int first, n_patch; /* direct: patches of the values that live in it */
} MsResult;

typedef struct MsWrite {
    int32_t value;
    int captured;
    bool direct;     /* computed in the captured storage by its producer; nothing is left to do */
    bool from_input; /* the value is an input's: it is cloned before anything is written */
} MsWrite;

typedef struct MsInput {
    int first, n_patch;
    MsStorage *storage; /* captured: as it was in the last run */
    char *data;
    int64_t strides[MS_MAX_DIM]; /* layout that the instance is made for */
} MsInput;

typedef struct MsInstance {
    struct MsInstance *next;
    bool call; /* made for calls: captured tensors are inputs and written; else a function of all inputs */
    _Atomic bool busy;
    MsStorage *arena;
    MsTensor **handle; /* by value, NULL where no step needs one; owned */
    MsPlanned *step;
    int n_step;
    int64_t runs; /* profile */
    MsPatch *patch;
    int n_patch;
    MsInput *input; /* n_in */
    MsResult *result;
    MsWrite *write;
    int n_val, n_result, n_write;
    MsTensor **fresh; /* results of the run in progress */
    MsTensor **slots; /* memory of the steps' in, out and preset lists */
    bool no_overlap; /* some write is direct: captured tensors and arguments must not share storage with it */
} MsInstance;

/* Makes an instance from a record with the inputs of its run. NULL and an error when memory is refused. */
MsInstance *ms__plan(const MsGraph *g, bool call, const MsRecord *r, MsTensor *const *in);
void ms__instance_free(MsInstance *p);

/* profile.c */
bool ms__profiling(void);
void ms__profile_print(const MsInstance *p);

#endif
