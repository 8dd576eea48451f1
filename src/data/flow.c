/* flow.c - nodes that choose, order and join rows without touching their values: shuffle, repeat, take, skip,
 * shard, zip, concat, project, rename. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>

typedef struct CountSet {
    MsDataset base;
    int64_t count;
} CountSet;

typedef struct CountNode {
    MsNode base;
    int64_t done, epoch;
    bool ended;
} CountNode;

static int64_t count_of(MsDataset *d)
{
    return ((CountSet *)d)->count;
}

static MsDataset *count_new(const MsDatasetKind *kind, MsDataset *d, int64_t count, int64_t least,
                            int64_t except)
{
    if (d && count < least && count != except) {
        MS_FAIL(MS_ERROR_VALUE, "For '%s', the count must be at least %lld, but got %lld.", kind->name,
                (long long)least, (long long)count);
        ms_dataset_unref(d);
        return NULL;
    }
    CountSet *s = (CountSet *)ms__dataset_new(kind, 1, &d);
    if (s) s->count = count;
    return (MsDataset *)s;
}

static MsStatus count_begin(MsNode *node, int64_t epoch)
{
    CountNode *n = (CountNode *)node;
    n->done = 0;
    n->epoch = epoch;
    n->ended = false;
    return ms__node_begin(node->child[0], epoch);
}

/* ---- shuffle: a reservoir of `count` rows; each row taken at random is replaced by the next of the input
 * ---- */

typedef struct ShuffleNode {
    MsNode base;
    MsRow *row;
    int64_t n, cap;
    bool filled; /* the input has ended */
    MsDataRng rng;
} ShuffleNode;

static void shuffle_drop(ShuffleNode *n)
{
    for (int64_t i = 0; i < n->n; i++) ms__row_clear(&n->row[i]);
    n->n = 0;
    n->filled = false;
}

static MsStatus shuffle_begin(MsNode *node, int64_t epoch)
{
    ShuffleNode *n = (ShuffleNode *)node;
    shuffle_drop(n);
    n->rng = ms__data_rng(node->seed, epoch, 0);
    return ms__node_begin(node->child[0], epoch);
}

static MsStatus shuffle_next(MsNode *node, MsRow *row)
{
    ShuffleNode *n = (ShuffleNode *)node;
    while (!n->filled && n->n < count_of(node->set)) {
        if (n->n == n->cap) {
            int64_t cap = n->cap ? n->cap * 2 : 64;
            MsRow *more = ms__realloc(n->row, (size_t)cap * sizeof *more);
            if (!more) return ms_error()->code;
            n->row = more;
            n->cap = cap;
        }
        MsStatus st = ms__node_next(node->child[0], &n->row[n->n]);
        if (st == MS_ERROR_STOP)
            n->filled = true;
        else if (st != MS_OK)
            return st;
        else
            n->n++;
    }
    if (n->n == 0) return MS_ERROR_STOP;
    int64_t k = (int64_t)ms__data_below(&n->rng, (uint64_t)n->n);
    *row = n->row[k];
    n->row[k] = n->row[--n->n]; /* refilled by the next call */
    return MS_OK;
}

static void shuffle_close(MsNode *node)
{
    ShuffleNode *n = (ShuffleNode *)node;
    shuffle_drop(n);
    free(n->row);
}

static const MsDatasetKind shuffle_kind = {
    .name = "shuffle",
    .set_size = sizeof(CountSet),
    .node_size = sizeof(ShuffleNode),
    .begin = shuffle_begin,
    .next = shuffle_next,
    .close = shuffle_close,
};

MsDataset *ms_dataset_shuffle(MsDataset *d, int64_t buffer)
{
    return count_new(&shuffle_kind, d, buffer, 2, 2);
}

/* ---- repeat: the child's epochs are numbered through, so that every pass is shuffled anew ---- */

static int64_t repeat_size(MsDataset *d, bool once)
{
    int64_t n = ms__dataset_size(d->child[0], once), count = count_of(d), all;
    if (n <= 0 || (count < 0 && once)) return n;
    if (count < 0 || n == INT64_MAX || __builtin_mul_overflow(n, count, &all)) return INT64_MAX;
    return all;
}

static MsStatus repeat_begin(MsNode *node, int64_t epoch)
{
    CountNode *n = (CountNode *)node;
    int64_t count = count_of(node->set);
    n->done = 0;
    n->epoch = count < 0 ? epoch : epoch * count;
    n->ended = true; /* no row since the child began */
    return ms__node_begin(node->child[0], n->epoch);
}

static MsStatus repeat_next(MsNode *node, MsRow *row)
{
    CountNode *n = (CountNode *)node;
    int64_t count = count_of(node->set);
    for (;;) {
        MsStatus st = ms__node_next(node->child[0], row);
        if (st != MS_ERROR_STOP) {
            n->ended = false;
            return st;
        }
        if (n->ended || (count >= 0 && n->done + 1 >= count))
            return MS_ERROR_STOP; /* an empty pass ends it */
        n->done++;
        n->ended = true;
        MS_TRY(ms__node_begin(node->child[0], n->epoch + n->done));
    }
}

static const MsDatasetKind repeat_kind = {
    .name = "repeat",
    .set_size = sizeof(CountSet),
    .node_size = sizeof(CountNode),
    .size = repeat_size,
    .begin = repeat_begin,
    .next = repeat_next,
};

MsDataset *ms_dataset_repeat(MsDataset *d, int64_t count)
{
    return count_new(&repeat_kind, d, count, 1, -1);
}

int64_t ms_dataset_repeat_count(MsDataset *d)
{
    int64_t n = 1;
    for (; d->n_child > 0; d = d->child[0])
        if (d->kind == &repeat_kind) n = count_of(d) < 0 ? -1 : n < 0 ? n : n * count_of(d);
    return n;
}

/* ---- take, skip ---- */

static int64_t take_size(MsDataset *d, bool once)
{
    int64_t n = ms__dataset_size(d->child[0], false), count = count_of(d);
    if (n == INT64_MAX && count < 0) return ms__dataset_size(d->child[0], once);
    return n >= 0 && count >= 0 && count < n ? count : n;
}

static MsStatus take_next(MsNode *node, MsRow *row)
{
    CountNode *n = (CountNode *)node;
    int64_t count = count_of(node->set);
    if (count >= 0 && n->done >= count) return MS_ERROR_STOP;
    n->done++;
    return ms__node_next(node->child[0], row);
}

static const MsDatasetKind take_kind = {
    .name = "take",
    .set_size = sizeof(CountSet),
    .node_size = sizeof(CountNode),
    .size = take_size,
    .begin = count_begin,
    .next = take_next,
};

MsDataset *ms_dataset_take(MsDataset *d, int64_t count)
{
    return count_new(&take_kind, d, count, 1, -1);
}

static int64_t skip_size(MsDataset *d, bool once)
{
    int64_t n = ms__dataset_size(d->child[0], once);
    return n < 0 || n == INT64_MAX ? n : n > count_of(d) ? n - count_of(d) : 0;
}

static MsStatus skip_next(MsNode *node, MsRow *row)
{
    CountNode *n = (CountNode *)node;
    for (; n->done < count_of(node->set); n->done++) {
        MS_TRY(ms__node_next(node->child[0], row));
        ms__row_clear(row);
    }
    return ms__node_next(node->child[0], row);
}

static const MsDatasetKind skip_kind = {
    .name = "skip",
    .set_size = sizeof(CountSet),
    .node_size = sizeof(CountNode),
    .size = skip_size,
    .begin = count_begin,
    .next = skip_next,
};

MsDataset *ms_dataset_skip(MsDataset *d, int64_t count)
{
    return count_new(&skip_kind, d, count, 0, 0);
}

/* ---- shard ---- */

typedef struct ShardSet {
    CountSet base; /* count: of shards */
    int64_t shard;
} ShardSet;

static int64_t shard_size(MsDataset *d, bool once)
{
    int64_t n = ms__dataset_size(d->child[0], once), first = ((ShardSet *)d)->shard, step = count_of(d);
    if (n < 0 || n == INT64_MAX) return n;
    return n > first ? (n - first - 1) / step + 1 : 0;
}

static MsStatus shard_next(MsNode *node, MsRow *row)
{
    CountNode *n = (CountNode *)node;
    ShardSet *s = (ShardSet *)node->set;
    for (;;) {
        MS_TRY(ms__node_next(node->child[0], row));
        if (n->done++ % s->base.count == s->shard) return MS_OK;
        ms__row_clear(row);
    }
}

static const MsDatasetKind shard_kind = {
    .name = "shard",
    .set_size = sizeof(ShardSet),
    .node_size = sizeof(CountNode),
    .size = shard_size,
    .begin = count_begin,
    .next = shard_next,
};

MsDataset *ms_dataset_shard(MsDataset *d, int64_t shards, int64_t shard)
{
    if (d && shards > 0 && (shard < 0 || shard >= shards)) {
        MS_FAIL(MS_ERROR_VALUE, "The shard must be in [0, %lld), but got %lld.", (long long)shards,
                (long long)shard);
        ms_dataset_unref(d);
        return NULL;
    }
    MsDataset *s = count_new(&shard_kind, d, shards, 1, 1);
    if (s) ((ShardSet *)s)->shard = shard;
    return s;
}

/* ---- zip, concat ---- */

static int64_t zip_size(MsDataset *d, bool once)
{
    int64_t least = INT64_MAX;
    for (int k = 0; k < d->n_child; k++) {
        int64_t n = ms__dataset_size(d->child[k], false);
        if (n < 0) return -1;
        if (n < least) least = n;
    }
    return least == INT64_MAX && once ? ms__dataset_size(d->child[0], true) : least;
}

static MsStatus zip_next(MsNode *node, MsRow *row)
{
    row->n = 0;
    for (int k = 0; k < node->set->n_child; k++) {
        MsRow part;
        MsStatus st = ms__node_next(node->child[k], &part);
        if (st != MS_OK) {
            ms__row_clear(row);
            return st;
        }
        for (int c = 0; c < part.n; c++) row->col[row->n++] = part.col[c];
    }
    return MS_OK;
}

static const MsDatasetKind zip_kind = {
    .name = "zip",
    .set_size = sizeof(MsDataset),
    .node_size = sizeof(MsNode),
    .size = zip_size,
    .next = zip_next,
};

static MsDataset *join(const MsDatasetKind *kind, int n, MsDataset *const *part)
{
    if (n < 1) return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', there must be a dataset.", kind->name);
    return ms__dataset_new(kind, n, part);
}

MsDataset *ms_dataset_zip(int n, MsDataset *const *part)
{
    MsDataset *d = join(&zip_kind, n, part);
    for (int k = 1; d && k < n; k++)
        for (int c = 0; d && c < part[k]->n_col; c++) {
            const char *name = part[k]->col[c];
            MsStatus st = MS_OK;
            if (ms__dataset_find(d, name, strlen(name)) >= 0)
                st = MS_FAIL(MS_ERROR_RUNTIME,
                             "Invalid data, duplicate column %s already exists when zipping datasets.", name);
            if (st == MS_OK) st = ms__dataset_set_column(d, d->n_col, name, strlen(name));
            if (st == MS_OK) continue;
            ms_dataset_unref(d);
            d = NULL;
        }
    return d;
}

static int64_t concat_size(MsDataset *d, bool once)
{
    int64_t all = 0;
    for (int k = 0; k < d->n_child; k++) {
        int64_t n = ms__dataset_size(d->child[k], once);
        if (n < 0) return -1;
        if (__builtin_add_overflow(all, n, &all)) return INT64_MAX;
    }
    return all;
}

/* Columns that do not fit are told when rows are asked for, as their types are known only then. */
typedef struct ConcatNode {
    MsNode base;
    int64_t done, epoch;
    bool first;                   /* the next row is the first of its child */
    int ndim[MS_DATA_MAX_COLUMN]; /* of the first row of all, -1 = not yet known */
    MsDtype dtype[MS_DATA_MAX_COLUMN];
} ConcatNode;

static MsStatus concat_begin(MsNode *node, int64_t epoch)
{
    ConcatNode *n = (ConcatNode *)node;
    MsDataset *d = node->set;
    for (int k = 1; k < d->n_child; k++) {
        bool same = d->child[k]->n_col == d->n_col;
        for (int c = 0; same && c < d->n_col; c++) same = strcmp(d->child[k]->col[c], d->col[c]) == 0;
        if (!same)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "For 'concat', the datasets must have the same columns, but dataset %d differs.",
                           k);
    }
    n->done = 0;
    n->epoch = epoch;
    n->first = true;
    n->ndim[0] = -1;
    return ms__node_begin(node->child[0], epoch);
}

static MsStatus check_part(ConcatNode *n, const MsRow *row)
{
    bool known = n->ndim[0] >= 0;
    for (int c = 0; c < row->n; c++) {
        MsTensor *t = row->col[c];
        if (known && n->ndim[c] == t->ndim && (n->dtype[c] == (MsDtype)t->dtype || ms__data_is_text(t)))
            continue;
        if (known)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "For 'concat', the column '%s' of dataset %lld is %s of %d dimensions, but before "
                           "it was %s of %d.",
                           n->base.set->col[c], (long long)n->done, ms_dtype_name((MsDtype)t->dtype), t->ndim,
                           ms_dtype_name(n->dtype[c]), n->ndim[c]);
        n->ndim[c] = t->ndim;
        n->dtype[c] = (MsDtype)t->dtype;
    }
    n->first = false;
    return MS_OK;
}

static MsStatus concat_next(MsNode *node, MsRow *row)
{
    ConcatNode *n = (ConcatNode *)node;
    for (;;) {
        MsStatus st = ms__node_next(node->child[n->done], row);
        if (st == MS_OK && n->first && (st = check_part(n, row)) != MS_OK) ms__row_clear(row);
        if (st != MS_ERROR_STOP || n->done + 1 >= node->set->n_child) return st;
        n->done++;
        n->first = true;
        MS_TRY(ms__node_begin(node->child[n->done], n->epoch));
    }
}

static const MsDatasetKind concat_kind = {
    .name = "concat",
    .set_size = sizeof(MsDataset),
    .node_size = sizeof(ConcatNode),
    .size = concat_size,
    .begin = concat_begin,
    .next = concat_next,
};

MsDataset *ms_dataset_concat(int n, MsDataset *const *part)
{
    return join(&concat_kind, n, part);
}

/* ---- project, rename: column c of the result is column from[c] of the child ---- */

typedef struct ProjectSet {
    MsDataset base;
    int from[MS_DATA_MAX_COLUMN];
} ProjectSet;

static MsStatus project_next(MsNode *node, MsRow *row)
{
    ProjectSet *s = (ProjectSet *)node->set;
    MsRow in;
    MS_TRY(ms__node_next(node->child[0], &in));
    bool used[MS_DATA_MAX_COLUMN] = {false};
    row->n = s->base.n_col;
    for (int c = 0; c < row->n; c++) {
        row->col[c] = in.col[s->from[c]];
        used[s->from[c]] = true;
    }
    for (int c = 0; c < in.n; c++)
        if (!used[c]) ms_tensor_unref(in.col[c]);
    return MS_OK;
}

static const MsDatasetKind project_kind = {
    .name = "project",
    .set_size = sizeof(ProjectSet),
    .node_size = sizeof(MsNode),
    .next = project_next,
};

MsDataset *ms_dataset_project(MsDataset *d, const char *columns)
{
    ProjectSet *s = (ProjectSet *)ms__dataset_new(&project_kind, 1, &d);
    if (!s) return NULL;
    int n;
    MsStatus st = ms__dataset_columns(d, "project", columns, &n, s->from);
    for (int c = 0; c < s->base.n_col; c++) {
        free(s->base.col[c]);
        s->base.col[c] = NULL;
    }
    s->base.n_col = 0;
    for (int c = 0; st == MS_OK && c < n; c++)
        st = ms__dataset_set_column(&s->base, c, d->col[s->from[c]], strlen(d->col[s->from[c]]));
    if (st == MS_OK) return &s->base;
    ms_dataset_unref(&s->base);
    return NULL;
}

MsDataset *ms_dataset_rename(MsDataset *d, const char *in, const char *out)
{
    ProjectSet *s = (ProjectSet *)ms__dataset_new(&project_kind, 1, &d);
    if (!s) return NULL;
    int n, n_out, at[MS_DATA_MAX_COLUMN];
    MsStatus st = ms__dataset_columns(d, "rename", in, &n, at);
    if (st == MS_OK) st = ms__dataset_replace(&s->base, "rename", n, at, out, &n_out, s->from);
    if (st == MS_OK && n != n_out)
        st = MS_FAIL(MS_ERROR_VALUE,
                     "For 'rename', input_columns and output_columns must be equally long, but got %d and "
                     "%d.",
                     n, n_out);
    if (st != MS_OK) {
        ms_dataset_unref(&s->base);
        return NULL;
    }
    for (int c = 0; c < s->base.n_col; c++)
        if (s->from[c] < 0) s->from[c] = at[-1 - s->from[c]];
    return &s->base;
}
