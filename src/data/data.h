/* data.h - the inside of the data pipeline.
 *
 * A dataset is a description (MsDataset); ms__node_open makes a tree of running nodes (MsNode) of it. Nodes
 * pull: the parent calls next on its child. A tree runs in one thread, except that a worker pool (pool.c) may
 * stand between a node and its child. Every function of a node runs inside an open scope; the columns of an
 * MsRow are references of their own. Randomness is a function of (seed of the node, epoch, row), never of a
 * thread. */
#ifndef MS_DATA_DATA_H
#define MS_DATA_DATA_H
#include "core/error.h"
#include "data/watch.h"
#include "mindspore_data.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- random numbers (config.c) ---- */

typedef struct MsDataRng {
    uint64_t state;
} MsDataRng;

/* The generator of item `index` of stream (seed, epoch). */
MsDataRng ms__data_rng(uint64_t seed, int64_t epoch, int64_t index);
uint64_t ms__data_u64(MsDataRng *r);
uint64_t ms__data_below(MsDataRng *r, uint64_t n); /* unbiased in [0, n) */
double ms__data_unit(MsDataRng *r);                /* [0, 1) */

/* ---- rows ---- */

typedef struct MsRow {
    int n;
    MsTensor *col[MS_DATA_MAX_COLUMN];
    int64_t origin; /* which row of its source it was, for messages */
} MsRow;

void ms__row_clear(MsRow *row);
/* Texts lie in the last axis, padded with NUL, so that an array of them is one tensor (dataset.c). */
bool ms__data_is_text(const MsTensor *t);
/* t with texts of `width` bytes, at least as many as it has, in the open scope. */
MsTensor *ms__data_widen(MsTensor *t, int64_t width);
/* t, or a row-major copy in the open scope. */
MsTensor *ms__data_contiguous(MsTensor *t);

/* Moves the error record of this thread into a value, and back (possibly on another thread). */
void ms__error_take(MsError *e);
MsStatus ms__error_put(const MsError *e);

/* ---- descriptions and nodes (dataset.c) ---- */

typedef struct MsNode MsNode;

typedef struct MsDatasetKind {
    const char *name;
    size_t set_size, node_size;
    void (*free)(MsDataset *d);               /* what the description owns beyond the common part */
    int64_t (*size)(MsDataset *d, bool once); /* NULL: the first child's; see ms__dataset_size */
    MsStatus (*open)(MsNode *n);              /* after the children are open */
    MsStatus (*begin)(MsNode *n,
                      int64_t epoch);        /* NULL: begins the children; also in the middle of an epoch */
    MsStatus (*next)(MsNode *n, MsRow *row); /* MS_ERROR_STOP at the end, again and again */
    MsStatus (*end)(MsNode *n);              /* NULL, or: the iterator's epoch has ended */
    void (*wake)(MsNode *n);                 /* run->stop was set: wake whoever sleeps inside */
    void (*close)(MsNode *n);                /* also after a failed open */
} MsDatasetKind;

struct MsDataset {
    _Atomic int ref;
    const MsDatasetKind *kind;
    int n_child, n_col;
    MsDataset **child;
    char *col[MS_DATA_MAX_COLUMN];
};

/* What the nodes of one iterator share. */
typedef struct MsRun {
    uint64_t seed;
    int n_nodes; /* numbers the nodes, so that each has its own random stream */
    int workers;
    int64_t epoch;    /* of the iterator */
    bool inline_only; /* debug mode: no threads */
    bool unwatched;   /* see ms__data_iter_unwatch */
    MsFailure on_failure;
    atomic_bool stop;
} MsRun;

struct MsNode {
    MsDataset *set;
    MsRun *run;
    uint64_t seed;
    MsNode **child;
};

/* A description with the children taken over (also on failure, then NULL) and the first child's columns. */
MsDataset *ms__dataset_new(const MsDatasetKind *kind, int n_child, MsDataset *const *child);
MsStatus ms__dataset_set_column(MsDataset *d, int k, const char *name, size_t len);
int ms__dataset_find(const MsDataset *d, const char *name, size_t len); /* -1: no such column */
/* Resolves "a,b" into positions; *n of them. NULL = the first column. op is named in messages. */
MsStatus ms__dataset_columns(const MsDataset *d, const char *op, const char *list, int *n, int *at);
/* Columns of d after `n_in` columns at `in` gave way to those named in `out` (NULL: the same names). Sets
 * from[k]:
 * >= 0 the child's column, < 0 result -1 - from[k]. */
MsStatus ms__dataset_replace(MsDataset *d, const char *op, int n_in, const int *in, const char *out,
                             int *n_out, int *from);
/* What a source says about its row `origin` (source.c); NULL = nothing, or d joins several sources. */
const char *ms__dataset_describe(MsDataset *d, int64_t origin);
/* Rows of an epoch: -1 unknown, INT64_MAX without end; `once` counts an endless repeat as one. */
int64_t ms__dataset_size(MsDataset *d, bool once);

MsNode *ms__node_open(MsDataset *d, MsRun *run);
MsStatus ms__node_begin(MsNode *n, int64_t epoch);
static inline MsStatus ms__node_next(MsNode *n, MsRow *row)
{
    return n->set->kind->next(n, row);
}
MsStatus ms__node_end(MsNode *n); /* the iterator's epoch has ended; children first */
void ms__node_wake(MsNode *n);    /* and everything below */
void ms__node_close(MsNode *n);

/* ---- the worker pool (pool.c) ---- */

/* Applies work to the rows of `child`, in several threads, and gives the results in order. */
typedef struct MsPool MsPool;
typedef MsStatus (*MsWork)(void *ctx, int64_t epoch, int64_t index,
                           MsRow *row); /* MS_ERROR_STOP: ends the epoch */

/* ctx outlives the pool. block: rows a worker takes at a time. With one worker the caller's thread works. */
MsPool *ms__pool_new(MsNode *child, MsRun *run, int workers, int block, MsWork work, void *ctx);
MsStatus ms__pool_begin(MsPool *p, int64_t epoch);
MsStatus ms__pool_next(MsPool *p, MsRow *row);
void ms__pool_wake(MsPool *p);
void ms__pool_free(MsPool *p);

/* ---- samplers (sampler.c) ---- */

MsSampler *ms__sampler_ref(MsSampler *s);
/* How many rows of n it takes; -1 = unknown. NULL = all. */
int64_t ms__sampler_size(MsSampler *s, int64_t n);
/* The order of one epoch into *index (malloc, *count of them); *index NULL and *count = n for "in order". */
typedef struct MsLabels {
    MsStatus (*label)(void *ctx, int64_t i, int64_t *label); /* NULL: the source has no labels */
    void *ctx;
} MsLabels;
MsStatus ms__sampler_fill(MsSampler *s, const MsLabels *labels, int64_t n, uint64_t seed, int64_t epoch,
                          int64_t **index, int64_t *count);

/* ---- idx files (idx.c) ---- */

typedef struct MsIdx {
    int ndim;
    int64_t shape[4];
    char *path;
} MsIdx;

/* Reads and checks the header of dir/name or dir/name.gz. *found false: there is no such file. */
MsStatus ms__idx_open(const char *dir, const char *name, int ndim, MsIdx *idx, bool *found);
/* Reads the contents (uint8) into data, ms__numel bytes, and checks that the file ends there. */
MsStatus ms__idx_read(const MsIdx *idx, uint8_t *data);
void ms__idx_close(MsIdx *idx);

/* ---- transforms (transform.c and one table per family) ---- */

typedef struct MsTransformCall {
    MsTransform *op;
    MsDataRng *rng;
    int n_in, n_out;
    MsTensor *const *in; /* contiguous */
    MsTensor **out;      /* in the open scope; may be an input */
} MsTransformCall;

/* A step that affine.c can run in one pass with its neighbours. */
typedef enum MsStageKind {
    MS_STAGE_SCALE, /* x * a + b, rounded once */
    MS_STAGE_NORM,  /* (x - mean[c]) / std[c] */
    MS_STAGE_CHW,   /* [h, w, c] -> [c, h, w]; a = 1: also [h, w] -> [1, h, w] */
    MS_STAGE_FLOAT  /* to float32 */
} MsStageKind;

typedef struct MsStage {
    MsStageKind kind;
    float a, b;
    int n;    /* NORM: channels */
    bool hwc; /* NORM: the channel axis is the last one, not the first */
    const double *mean, *std;
} MsStage;

enum {
    MS_TAKES_MANY = true, /* any number of columns, which are treated alike */
    MS_TAKES_TEXT = 2,    /* texts too; the others refuse them */
    MS_TAKES_FRAMES = 4,  /* <..., H, W, C>: every image alike, with the same draws */
    /* What images must be, checked before the run (image_check.c). */
    MS_IMAGE_TYPES = 8,      /* bool, integers up to 32 bits without uint32, floats */
    MS_IMAGE_NO_HALF = 16,   /* and not float16 */
    MS_IMAGE_BASIC = 32,     /* uint8, uint16, float32 */
    MS_IMAGE_U8_F32 = 64,    /* uint8, float32 */
    MS_IMAGE_FLAT = 128,     /* <H, W> or <H, W, C> */
    MS_IMAGE_HWC = 256,      /* <H, W, C> */
    MS_IMAGE_GREY_RGB = 512, /* 1 or 3 channels */
    MS_IMAGE_RGB = 1024      /* 3 channels */
};

typedef struct MsTransformKind {
    const char *name, *sig; /* sig: the arguments in order, for messages and for the skins */
    int min_arg, max_arg;
    int takes; /* false: one column of numbers; or of these */
    MsStatus (*check)(MsTransform *t);
    MsStatus (*run)(MsTransformCall *c);
    int (*stage)(const MsTransform *t,
                 MsStage s[2]); /* as steps of affine.c: how many, 0 = cannot be fused */
} MsTransformKind;

struct MsTransform {
    _Atomic int ref;
    const MsTransformKind *kind;
    int n_arg;
    double *arg;
    int n_child;
    MsTransform **child;
    MsHostTransform host;
};

/* OK when x is an image as kind->takes says. Errors: RUNTIME. */
MsStatus ms__image_check(const MsTransformKind *kind, const MsTensor *x);

/* Each ends with name NULL. */
extern const MsTransformKind ms__transforms_vision[], ms__transforms_basic[], ms__transforms_decode[],
    ms__transforms_colour[], ms__transforms_warp[];

/* How many of the n transforms at op run as one because they decode and then reduce; 0 = none (decode.c). */
int ms__decode_fuses(int n, MsTransform *const *op);
/* Runs them on encoded bytes; *done tells how many of the n were done, at least 2. */
MsStatus ms__decode_run(int n, MsTransform *const *op, MsDataRng *rng, MsTensor *x, MsTensor **y, int *done);
/* The size that Resize gives: arg = (height, width or 0 to keep the aspect). */
void ms__resize_target(const double *arg, int64_t in_h, int64_t in_w, int64_t *h, int64_t *w);

/* A list of transforms, adjacent ones fused, as a map runs it. Takes over op. */
typedef struct MsChain MsChain;
MsChain *ms__chain_new(int n, MsTransform *const *op);
MsStatus ms__chain_run(const MsChain *c, MsDataRng *rng, int n_in, MsTensor *const *in, int *n_out,
                       MsTensor **out, const MsTransform **failed);
bool ms__chain_is_host(const MsChain *c); /* some step calls into the host language */
bool ms__chain_is_ordered(const MsChain *c);
void ms__chain_free(MsChain *c);

/* ---- fused affine steps (affine.c) ---- */

/* Runs the stages in one pass over x, into float32. *y NULL: shapes or dtype do not fit one pass. */
MsStatus ms__affine_run(int n, const MsStage *stage, MsTensor *x, MsTensor **y);
/* t with another dtype, in the open scope. Values as C converts them. */
MsTensor *ms__data_cast(MsTensor *t, MsDtype dtype);
/* A new tensor full of one value, in the open scope. */
MsTensor *ms__data_filled(MsDtype dtype, int ndim, const int64_t *shape, double value);

#endif
