/* map.c - transforms on the columns of rows, by several workers; and filter, which asks a transform whether a
 * row stays. A row's random numbers depend on its place in the epoch alone. */
#include "data/data.h"
#include "data/watch.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>

#define KEEP 100 /* rows that may stand for failed ones */
#define BLOCK 32 /* rows that a worker takes at a time; hides the cost of waking a thread */

typedef struct MapSet {
    MsDataset base;
    MsChain *chain;
    int workers;
    int n_in, n_out, in[MS_DATA_MAX_COLUMN], from[MS_DATA_MAX_COLUMN];
} MapSet;

typedef struct MapNode {
    MsNode base;
    MsPool *pool;
    int64_t epoch, index; /* filter */
    MsRow *kept;          /* of this epoch, to stand for the `missing` ones that failed, at its end */
    int64_t n_kept, missing, turn;
} MapNode;

static MapSet *map_set(MsNode *n)
{
    return (MapSet *)n->set;
}

static void map_free(MsDataset *d)
{
    ms__chain_free(((MapSet *)d)->chain);
}

/* Says which operation failed, with which file, column and row. */
static MsStatus explain(MapSet *s, const MsTransform *op, int64_t index, int64_t origin)
{
    MsError e;
    ms__error_take(&e);
    const char *file = ms__dataset_describe(&s->base, origin);
    const char *name = op && op->host.name ? op->host.name : op ? op->kind->name : "PyFunc";
    return ms__raise(e.code, e.file, e.line, "%s operation: [%s] failed.%s%s%s %s Column '%s' of row %lld.",
                     s->base.kind->name, name, file ? " The corresponding data file is: " : "",
                     file ? file : "", file ? "." : "", e.message, s->base.child[0]->col[s->in[0]],
                     (long long)index);
}

static MsStatus run_chain(MapSet *s, uint64_t seed, int64_t epoch, int64_t index, const MsRow *row,
                          int *n_out, MsTensor **out)
{
    MsTensor *in[MS_DATA_MAX_COLUMN];
    MsDataRng rng = ms__data_rng(seed, epoch, index);
    const MsTransform *failed = NULL;
    for (int k = 0; k < s->n_in; k++) in[k] = row->col[s->in[k]];
    MsStatus st = ms__chain_run(s->chain, &rng, s->n_in, in, n_out, out, &failed);
    return st == MS_OK || st == MS_ERROR_STOP ? st : explain(s, failed, index, row->origin);
}

static MsStatus map_row(void *ctx, int64_t epoch, int64_t index, MsRow *row)
{
    MapNode *n = ctx;
    MapSet *s = map_set(&n->base);
    MsTensor *out[MS_DATA_MAX_COLUMN];
    int n_out;
    MsStatus st = run_chain(s, n->base.seed, epoch, index, row, &n_out, out);
    if (st != MS_OK && st != MS_ERROR_STOP && st != MS_ERROR_INTERRUPT &&
        n->base.run->on_failure != MS_FAILURE_ENDS) {
        ms_error_clear();
        ms__row_clear(row); /* a row without columns: it failed */
        return MS_OK;
    }
    MS_TRY(st);
    if (n_out != s->n_out)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "Invalid columns, the number of columns returned in 'map' operations should match the number of "
            "'output_columns', but got the number of columns returned in 'map' operations: %d, the number of "
            "'output_columns': %d.",
            n_out, s->n_out);
    MsRow in = *row;
    row->n = s->base.n_col;
    for (int c = 0; c < row->n; c++) {
        int from = s->from[c];
        row->col[c] = ms_tensor_ref(from >= 0 ? in.col[from] : out[-1 - from]);
    }
    ms__row_clear(&in);
    return MS_OK;
}

static MsStatus map_open(MsNode *node)
{
    MapNode *n = (MapNode *)node;
    MapSet *s = map_set(node);
    int workers = s->workers ? s->workers : ms__chain_is_host(s->chain) ? 1 : node->run->workers;
    if (ms__chain_is_ordered(s->chain)) workers = 1;
    int block = ms__chain_is_host(s->chain) ? 1 : BLOCK;
    n->pool = ms__pool_new(node->child[0], node->run, workers, block, map_row, n);
    return n->pool ? MS_OK : ms_error()->code;
}

static void drop_kept(MapNode *n)
{
    while (n->n_kept > 0) ms__row_clear(&n->kept[--n->n_kept]);
    n->missing = n->turn = 0;
}

static MsStatus map_begin(MsNode *node, int64_t epoch)
{
    drop_kept((MapNode *)node);
    return ms__pool_begin(((MapNode *)node)->pool, epoch);
}

static void share_row(MsRow *to, const MsRow *from)
{
    *to = *from;
    for (int c = 0; c < to->n; c++) ms_tensor_ref(to->col[c]);
}

/* The end of an epoch: rows of it once more, in their order, for those that failed. */
static MsStatus replacement(MapNode *n, MsRow *row)
{
    if (n->n_kept == 0)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "All data is garbage and cannot be replaced: in 'map', every row failed.");
    n->missing--;
    share_row(row, &n->kept[n->turn++ % n->n_kept]);
    return MS_OK;
}

static MsStatus map_next(MsNode *node, MsRow *row)
{
    MapNode *n = (MapNode *)node;
    MsStatus st;
    while ((st = ms__pool_next(n->pool, row)) == MS_OK && row->n == 0) n->missing++;
    if (node->run->on_failure != MS_FAILURE_REPLACES) return st;
    if (st == MS_ERROR_STOP && n->missing > 0) return replacement(n, row);
    if (st == MS_OK && n->n_kept < KEEP) {
        if (!n->kept) n->kept = ms__malloc(KEEP * sizeof *n->kept);
        if (!n->kept) {
            ms__row_clear(row);
            return ms_error()->code;
        }
        share_row(&n->kept[n->n_kept++], row);
    }
    return st;
}

static int64_t map_size(MsDataset *d, bool once)
{
    return ms__data_on_failure() == MS_FAILURE_SKIPS ? -1 : ms__dataset_size(d->child[0], once);
}

static void map_wake(MsNode *node)
{
    if (((MapNode *)node)->pool) ms__pool_wake(((MapNode *)node)->pool);
}

static void map_close(MsNode *node)
{
    MapNode *n = (MapNode *)node;
    ms__pool_free(n->pool);
    drop_kept(n);
    free(n->kept);
}

static const MsDatasetKind map_kind = {
    .name = "map",
    .set_size = sizeof(MapSet),
    .node_size = sizeof(MapNode),
    .free = map_free,
    .size = map_size,
    .open = map_open,
    .begin = map_begin,
    .next = map_next,
    .wake = map_wake,
    .close = map_close,
};

static MapSet *map_new(const MsDatasetKind *kind, MsDataset *d, int n, MsTransform *const *op, const char *in)
{
    MapSet *s = (MapSet *)ms__dataset_new(kind, 1, &d);
    MsChain *chain = ms__chain_new(n, op);
    if (s) s->chain = chain;
    if (s && chain && ms__dataset_columns(d, kind->name, in, &s->n_in, s->in) == MS_OK) return s;
    if (!s) ms__chain_free(chain);
    ms_dataset_unref((MsDataset *)s);
    return NULL;
}

MsDataset *ms_dataset_map(MsDataset *d, int n, MsTransform *const *op, const char *in, const char *out,
                          int workers)
{
    MapSet *s = map_new(&map_kind, d, n, op, in);
    if (!s) return NULL;
    s->workers = workers;
    if (ms__dataset_replace(&s->base, "map", s->n_in, s->in, out, &s->n_out, s->from) == MS_OK)
        return &s->base;
    ms_dataset_unref(&s->base);
    return NULL;
}

/* ---- filter ---- */

static int64_t filter_size(MsDataset *d, bool once)
{
    (void)d;
    (void)once;
    return -1;
}

static MsStatus filter_begin(MsNode *node, int64_t epoch)
{
    MapNode *n = (MapNode *)node;
    n->epoch = epoch;
    n->index = 0;
    return ms__node_begin(node->child[0], epoch);
}

static MsStatus filter_next(MsNode *node, MsRow *row)
{
    MapNode *n = (MapNode *)node;
    for (;;) {
        MsTensor *out[MS_DATA_MAX_COLUMN];
        int n_out;
        double keep = 0;
        MS_TRY(ms__node_next(node->child[0], row));
        int mark = ms_scope_begin();
        MsStatus st = run_chain(map_set(node), node->seed, n->epoch, n->index++, row, &n_out, out);
        MsTensor *answer = st == MS_OK ? ms__data_cast(out[0], MS_FLOAT64) : NULL;
        if (answer && answer->numel == 1)
            keep = *(double *)answer->data;
        else if (st == MS_OK)
            st = MS_FAIL(MS_ERROR_RUNTIME, "For 'filter', the predicate must give one truth value.");
        ms_scope_end(mark, NULL, 0);
        if (st == MS_OK && keep != 0) return MS_OK;
        ms__row_clear(row);
        if (st != MS_OK) return st;
    }
}

static const MsDatasetKind filter_kind = {
    .name = "filter",
    .set_size = sizeof(MapSet),
    .node_size = sizeof(MapNode),
    .free = map_free,
    .size = filter_size,
    .begin = filter_begin,
    .next = filter_next,
};

MsDataset *ms_dataset_filter(MsDataset *d, MsTransform *predicate, const char *in)
{
    return (MsDataset *)map_new(&filter_kind, d, 1, &predicate, in);
}
