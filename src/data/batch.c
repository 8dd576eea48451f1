/* batch.c - rows into batches. The plain batch copies each row into its place as soon as it comes, so that
 * the memory of a row is used again for the next one while it is still in the cache; a batch with padding or
 * a function of the host language must see all its rows first. With buckets, rows wait in the bucket of their
 * length until it is full. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>

typedef struct BatchSet {
    MsDataset base;
    MsBatchOptions o;
    int n_in, n_out, in[MS_DATA_MAX_COLUMN], from[MS_DATA_MAX_COLUMN];
    int n_pad;
    MsInts pad_shape[MS_DATA_MAX_COLUMN];
    int64_t pad_size[MS_DATA_MAX_COLUMN][MS_MAX_DIM];
    double pad_value[MS_DATA_MAX_COLUMN];
    int64_t *bucket; /* ends, then sizes */
} BatchSet;

typedef struct BatchNode {
    MsNode base;
    MsBatchInfo info;
    int64_t left; /* rows that the child may still have, -1 = unknown */
    MsRow *row;   /* the rows of a batch that needs them all */
    int64_t n, cap;
    struct Bucket {
        MsRow *row;
        int64_t n;
    } * bucket;
    bool drained;      /* the child has ended; what waits in buckets comes out */
    int64_t open_size; /* for open pad sizes; 0 = the largest of the batch */
} BatchNode;

static BatchSet *batch_set(MsNode *n)
{
    return (BatchSet *)n->set;
}

static void batch_free(MsDataset *d)
{
    BatchSet *s = (BatchSet *)d;
    if (s->o.release) s->o.release(s->o.ctx);
    ms_transform_unref(s->o.length);
    free(s->bucket);
}

static int64_t batch_size_of(MsDataset *d, bool once)
{
    BatchSet *s = (BatchSet *)d;
    int64_t n = ms__dataset_size(d->child[0], once);
    if (s->o.next_size || s->o.n_bucket) return -1;
    if (n < 0 || n == INT64_MAX) return n;
    return s->o.drop_remainder ? n / s->o.size : n / s->o.size + (n % s->o.size != 0);
}

static void drop_rows(BatchNode *n)
{
    for (int64_t r = 0; r < n->n; r++) ms__row_clear(&n->row[r]);
    n->n = 0;
}

static void drop_buckets(BatchNode *n)
{
    for (int b = 0; n->bucket && b < batch_set(&n->base)->o.n_bucket; b++)
        while (n->bucket[b].n > 0) ms__row_clear(&n->bucket[b].row[--n->bucket[b].n]);
    n->drained = false;
}

static MsStatus batch_begin(MsNode *node, int64_t epoch)
{
    BatchNode *n = (BatchNode *)node;
    n->info = (MsBatchInfo){epoch, 0};
    n->left = ms__dataset_size(node->set->child[0], false);
    drop_buckets(n);
    return ms__node_begin(node->child[0], epoch);
}

/* ---- the plain batch ---- */

static MsTensor *batch_room(const MsTensor *first, int64_t rows)
{
    if (first->ndim == MS_MAX_DIM)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'batch', a row has %d dimensions already, the most a tensor can have.",
                            MS_MAX_DIM);
    int64_t shape[MS_MAX_DIM] = {rows};
    memcpy(shape + 1, first->shape, (size_t)first->ndim * sizeof *shape);
    return ms_tensor_empty((MsDtype)first->dtype, first->ndim + 1, shape);
}

static bool same_form(const MsTensor *batch, const MsTensor *row)
{
    return row->dtype == batch->dtype && row->ndim == batch->ndim - 1 &&
           memcmp(row->shape, batch->shape + 1, (size_t)row->ndim * sizeof *row->shape) == 0;
}

static MsStatus put_row(const BatchSet *s, int c, MsTensor **into, int64_t k, MsTensor *row)
{
    if (ms__data_is_text(row) && ms__data_is_text(*into)) { /* as wide as the widest */
        int64_t have = (*into)->shape[(*into)->ndim - 1], more = row->shape[row->ndim - 1];
        if (have < more) *into = ms__data_widen(*into, more);
        if (have > more) row = ms__data_widen(row, have);
        if (!*into || !row) return ms_error()->code;
    }
    MsTensor *batch = *into;
    if (!same_form(batch, row)) {
        if (row->dtype != batch->dtype)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "Cannot batch tensors with different types in column '%s'. First element had type "
                           "%s and this "
                           "element had type %s.",
                           s->base.child[0]->col[c], ms_dtype_name((MsDtype)batch->dtype),
                           ms_dtype_name((MsDtype)row->dtype));
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "Cannot batch tensors with different shapes in column '%s'. First element had shape %s and this "
            "element had shape %s.",
            s->base.child[0]->col[c], ms__shape_text(batch->ndim - 1, batch->shape + 1),
            ms__shape_text(row->ndim, row->shape));
    }
    size_t bytes = (size_t)row->numel * ms_dtype_size((MsDtype)row->dtype);
    int mark = ms_scope_begin();
    MsTensor *dense = ms__data_contiguous(row);
    if (dense && bytes) memcpy(batch->data + (size_t)k * bytes, dense->data, bytes);
    ms_scope_end(mark, NULL, 0);
    return dense ? MS_OK : ms_error()->code;
}

/* The first `rows` rows of t, in memory of `room` rows. */
static MsTensor *resize(MsTensor *t, int64_t rows, int64_t room)
{
    int64_t shape[MS_MAX_DIM];
    memcpy(shape, t->shape, sizeof shape);
    if (room <= t->shape[0]) {
        shape[0] = rows;
        return ms__tensor_view(t, t->ndim, shape, t->strides, 0);
    }
    shape[0] = room;
    MsTensor *y = ms_tensor_empty((MsDtype)t->dtype, t->ndim, shape);
    if (y && t->numel) memcpy(y->data, t->data, (size_t)t->numel * ms_dtype_size((MsDtype)t->dtype));
    return y;
}

static MsStatus plain(BatchNode *n, int64_t size, MsRow *row)
{
    BatchSet *s = batch_set(&n->base);
    int64_t room = n->left >= 0 && n->left < size ? n->left : size, k = 0;
    if (n->left < 0 && room > 256) room = 256;
    MsTensor *out[MS_DATA_MAX_COLUMN] = {0};
    int n_col = s->base.child[0]->n_col;
    MsStatus st = MS_OK;
    for (; k < size; k++) {
        MsRow in;
        st = ms__node_next(n->base.child[0], &in);
        if (st != MS_OK) break;
        if (room < 1) room = 1;
        int64_t want = k == room ? room * 2 : room;
        for (int c = 0; c < n_col && st == MS_OK; c++) {
            if (k == 0)
                out[c] = batch_room(in.col[c], room);
            else if (want > room)
                out[c] = resize(out[c], k, want);
            st = out[c] ? put_row(s, c, &out[c], k, in.col[c]) : ms_error()->code;
        }
        room = want;
        ms__row_clear(&in);
        if (st != MS_OK) return st;
    }
    if (st == MS_ERROR_STOP) {
        n->left = 0;
        if (k == 0 || s->o.drop_remainder) return MS_ERROR_STOP;
    } else if (st != MS_OK) {
        return st;
    }
    if (n->left > 0) n->left -= k;
    row->n = 0;
    for (int c = 0; c < n_col; c++) {
        MsTensor *t = k < out[c]->shape[0] ? resize(out[c], k, k) : out[c];
        if (!t) {
            ms__row_clear(row);
            return ms_error()->code;
        }
        row->col[row->n++] = ms_tensor_ref(t);
    }
    return MS_OK;
}

/* ---- padding ---- */

/* Copies row (row-major) into the corner of the box `to` of the given shape, as far as it fits. */
static void put_corner(char *to, const int64_t *shape, const char *from, const MsTensor *row, size_t size)
{
    if (row->ndim == 0) {
        memcpy(to, from, size);
        return;
    }
    int last = row->ndim - 1;
    int64_t at[MS_MAX_DIM] = {0}, lines = row->shape[last] ? row->numel / row->shape[last] : 0;
    int64_t line = row->shape[last] < shape[last] ? row->shape[last] : shape[last];
    for (int64_t i = 0; i < lines; i++) {
        int64_t offset = 0;
        bool inside = true;
        for (int d = 0; d <= last; d++) {
            offset = offset * shape[d] + (d < last ? at[d] : 0);
            inside = inside && at[d] < shape[d];
        }
        if (inside) memcpy(to + (size_t)offset * size, from, (size_t)line * size);
        from += (size_t)row->shape[last] * size;
        for (int d = last - 1; d >= 0 && ++at[d] == row->shape[d]; d--) at[d] = 0;
    }
}

/* The size of dimension d in the batch: what was asked for, or the largest. */
static int64_t pad_size(const BatchNode *n, int c, int d, int inner)
{
    const BatchSet *s = (const BatchSet *)n->base.set;
    if (d < inner && c < s->n_pad && s->pad_shape[c].n >= 0 && s->pad_shape[c].v[d] >= 0)
        return s->pad_shape[c].v[d];
    if (d < inner && n->open_size) return n->open_size;
    int64_t size = 0;
    for (int64_t r = 0; r < n->n; r++) {
        const MsTensor *t = n->row[r].col[c];
        if (d < t->ndim && t->shape[d] > size) size = t->shape[d];
    }
    return size;
}

static MsTensor *pad_column(BatchNode *n, int c)
{
    BatchSet *s = batch_set(&n->base);
    const MsTensor *first = n->row[0].col[c];
    int64_t shape[MS_MAX_DIM] = {n->n};
    if (first->ndim == MS_MAX_DIM) return batch_room(first, n->n);
    int inner = first->ndim - ms__data_is_text(first); /* the width of texts is no size to pad to */
    if (c < s->n_pad && s->pad_shape[c].n >= 0 && s->pad_shape[c].n != inner)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "For 'padded_batch', the pad shape of column '%s' has %d sizes, but a row has "
                            "%d dimensions.",
                            s->base.child[0]->col[c], s->pad_shape[c].n, inner);
    for (int d = 0; d < first->ndim; d++) shape[d + 1] = pad_size(n, c, d, inner);
    double value = c < s->n_pad && !ms__data_is_text(first) ? s->pad_value[c] : 0;
    MsTensor *out = ms__data_filled((MsDtype)first->dtype, first->ndim + 1, shape, value);
    if (!out) return NULL;
    size_t size = ms_dtype_size((MsDtype)out->dtype);
    int64_t step = n->n ? out->numel / n->n : 0;
    for (int64_t r = 0; r < n->n; r++) {
        MsTensor *t = n->row[r].col[c];
        if (t->dtype != out->dtype || t->ndim != first->ndim)
            return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                                "Cannot batch tensors of different type or rank in column '%s'.",
                                s->base.child[0]->col[c]);
        t = ms__data_contiguous(t);
        if (!t) return NULL;
        put_corner(out->data + (size_t)(r * step) * size, shape + 1, t->data, t, size);
    }
    return out;
}

static MsTensor *stack_column(BatchNode *n, int c)
{
    MsTensor *out = batch_room(n->row[0].col[c], n->n);
    for (int64_t r = 0; out && r < n->n; r++)
        if (put_row(batch_set(&n->base), c, &out, r, n->row[r].col[c]) != MS_OK) return NULL;
    return out;
}

/* ---- a batch that needs all its rows ---- */

static MsStatus call_map(BatchNode *n, MsTensor **out)
{
    BatchSet *s = batch_set(&n->base);
    MsTensor **list = ms__malloc((size_t)(n->n * s->n_in) * sizeof *list);
    if (!list) return ms_error()->code;
    MsTensor *const *column[MS_DATA_MAX_COLUMN];
    for (int c = 0; c < s->n_in; c++) {
        column[c] = list + c * n->n;
        for (int64_t r = 0; r < n->n; r++) list[c * n->n + r] = n->row[r].col[s->in[c]];
    }
    MsStatus st = s->o.map(s->o.ctx, n->info, n->n, s->n_in, column, s->n_out, out);
    free(list);
    return st;
}

static MsStatus gather(BatchNode *n, int64_t size)
{
    for (n->n = 0; n->n < size; n->n++) {
        if (n->n == n->cap) {
            int64_t cap = n->cap ? n->cap * 2 : 64;
            MsRow *more = ms__realloc(n->row, (size_t)cap * sizeof *more);
            if (!more) return ms_error()->code;
            n->row = more;
            n->cap = cap;
        }
        MS_TRY(ms__node_next(n->base.child[0], &n->row[n->n]));
    }
    return MS_OK;
}

/* ---- buckets ---- */

static MsStatus length_of(BatchNode *n, const MsRow *row, int64_t *length)
{
    BatchSet *s = batch_set(&n->base);
    MsTensor *in[MS_DATA_MAX_COLUMN], *out[MS_DATA_MAX_COLUMN];
    int n_out = 0;
    for (int k = 0; k < s->n_in; k++) in[k] = row->col[s->in[k]];
    if (!s->o.length) {
        *length = in[0]->ndim ? in[0]->shape[0] : 1;
        return MS_OK;
    }
    int mark = ms_scope_begin();
    MsStatus st = ms_transform_apply(s->o.length, s->n_in, in, &n_out, out);
    MsTensor *wide = st == MS_OK && n_out == 1 && out[0]->numel == 1 ? ms__data_cast(out[0], MS_INT64) : NULL;
    *length = wide ? *(int64_t *)wide->data : -1;
    ms_scope_end(mark, NULL, 0);
    if (st == MS_OK && *length < 0)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "For 'bucket_batch_by_length', element_length_function must give one int, at least 0.");
    if (st == MS_OK) return st;
    MsError e;
    ms__error_take(&e);
    return ms__raise(e.code, e.file, e.line,
                     "bucket_batch_by_length operation: [element_length_function] failed. %s", e.message);
}

/* The rows of bucket b become the rows of the batch. */
static MsStatus empty_bucket(BatchNode *n, int b)
{
    BatchSet *s = batch_set(&n->base);
    for (int64_t r = 0; r < n->bucket[b].n; r++) n->row[r] = n->bucket[b].row[r];
    n->n = n->bucket[b].n;
    n->bucket[b].n = 0;
    n->open_size = 0;
    if (!s->o.pad_to_bucket) return MS_OK;
    if (b + 1 == s->o.n_bucket)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "For 'bucket_batch_by_length', pad_to_bucket_boundary needs every length below the last "
            "boundary, %lld.",
            (long long)s->bucket[b - 1]);
    n->open_size = s->bucket[b] - 1;
    return MS_OK;
}

static MsStatus fill_bucket(BatchNode *n)
{
    BatchSet *s = batch_set(&n->base);
    int last = s->o.n_bucket - 1;
    while (!n->drained) {
        MsRow row;
        int64_t length = 0;
        int b = 0;
        MsStatus st = ms__node_next(n->base.child[0], &row);
        if (st == MS_ERROR_STOP) break;
        if (st == MS_OK && (st = length_of(n, &row, &length)) != MS_OK) ms__row_clear(&row);
        MS_TRY(st);
        while (b < last && length >= s->bucket[b]) b++;
        n->bucket[b].row[n->bucket[b].n++] = row;
        if (n->bucket[b].n == s->bucket[last + b]) return empty_bucket(n, b);
    }
    n->drained = true;
    for (int b = 0; b <= last; b++)
        if (n->bucket[b].n > 0 && !s->o.drop_remainder) return empty_bucket(n, b);
    return MS_ERROR_STOP;
}

static MsStatus batch_open(MsNode *node)
{
    BatchNode *n = (BatchNode *)node;
    BatchSet *s = batch_set(node);
    int k = s->o.n_bucket;
    if (k == 0) return MS_OK;
    n->bucket = ms__calloc((size_t)k, sizeof *n->bucket);
    if (!n->bucket) return ms_error()->code;
    for (int b = 0; b < k; b++) {
        int64_t size = s->bucket[k - 1 + b];
        n->bucket[b].row = ms__malloc((size_t)size * sizeof(MsRow));
        if (!n->bucket[b].row) return ms_error()->code;
        if (size > n->cap) n->cap = size;
    }
    n->row = ms__malloc((size_t)n->cap * sizeof(MsRow));
    return n->row ? MS_OK : ms_error()->code;
}

/* Copies and checks the buckets of the options. */
static MsStatus set_buckets(BatchSet *s, const MsBatchOptions *o)
{
    int k = o->n_bucket;
    s->bucket = ms__malloc((size_t)(2 * k) * sizeof *s->bucket);
    if (!s->bucket) return ms_error()->code;
    memcpy(s->bucket, o->bucket_end, (size_t)(k - 1) * sizeof *s->bucket);
    memcpy(s->bucket + k - 1, o->bucket_size, (size_t)k * sizeof *s->bucket);
    for (int b = 0; b < k; b++)
        if (o->bucket_size[b] < 1 || (b + 1 < k && o->bucket_end[b] <= (b ? o->bucket_end[b - 1] : 0)))
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For 'bucket_batch_by_length', boundaries must be above 0 and rise, sizes at least 1.");
    return ms__dataset_columns(s->base.child[0], "bucket_batch_by_length", o->in, &s->n_in, s->in);
}

static MsStatus whole(BatchNode *n, int64_t size, MsRow *row)
{
    BatchSet *s = batch_set(&n->base);
    MsTensor *out[MS_DATA_MAX_COLUMN] = {0};
    MsStatus st = s->o.n_bucket ? fill_bucket(n) : gather(n, size);
    if (st == MS_ERROR_STOP) st = n->n == 0 || s->o.drop_remainder ? MS_ERROR_STOP : MS_OK;
    if (st == MS_OK && s->o.map) st = call_map(n, out);
    row->n = 0;
    for (int c = 0; st == MS_OK && c < s->base.n_col; c++) {
        int from = s->from[c];
        MsTensor *t = from < 0 ? out[-1 - from] : s->o.padded ? pad_column(n, from) : stack_column(n, from);
        if (!t) {
            st = MS_FAIL(MS_ERROR_RUNTIME, "For 'batch', per_batch_map gave no value for the column '%s'.",
                         s->base.col[c]);
            ms__row_clear(row);
        } else {
            row->col[row->n++] = ms_tensor_ref(t);
        }
    }
    drop_rows(n);
    return st;
}

static MsStatus batch_next(MsNode *node, MsRow *row)
{
    BatchNode *n = (BatchNode *)node;
    BatchSet *s = batch_set(node);
    int64_t size = s->o.n_bucket ? 1 : s->o.size;
    int mark = ms_scope_begin();
    MsStatus st = s->o.next_size ? s->o.next_size(s->o.ctx, n->info, &size) : MS_OK;
    if (st == MS_OK && size < 1)
        st = MS_FAIL(MS_ERROR_RUNTIME, "For 'batch', the batch size must be at least 1, but got %lld.",
                     (long long)size);
    if (st == MS_OK)
        st = s->o.map || s->o.padded || s->o.n_bucket ? whole(n, size, row) : plain(n, size, row);
    ms_scope_end(mark, NULL, 0);
    n->info.batch++;
    return st;
}

static void batch_close(MsNode *node)
{
    BatchNode *n = (BatchNode *)node;
    drop_buckets(n);
    for (int b = 0; n->bucket && b < batch_set(node)->o.n_bucket; b++) free(n->bucket[b].row);
    free(n->bucket);
    free(n->row);
}

static const MsDatasetKind batch_kind = {
    .name = "batch",
    .set_size = sizeof(BatchSet),
    .node_size = sizeof(BatchNode),
    .free = batch_free,
    .size = batch_size_of,
    .open = batch_open,
    .begin = batch_begin,
    .next = batch_next,
    .close = batch_close,
};

MsDataset *ms_dataset_batch_with(MsDataset *d, const MsBatchOptions *o)
{
    BatchSet *s = (BatchSet *)ms__dataset_new(&batch_kind, 1, &d);
    if (!s) {
        if (o->release) o->release(o->ctx);
        ms_transform_unref(o->length);
        return NULL;
    }
    s->o = *o;
    MsStatus st = MS_OK;
    if (o->size < 1 && !o->next_size && !o->n_bucket)
        st = MS_FAIL(MS_ERROR_VALUE,
                     "Input batch_size is not within the required interval of [1, 2147483647], but got %lld.",
                     (long long)o->size);
    for (int c = 0; c < d->n_col; c++) s->from[c] = c;
    if (st == MS_OK && o->n_bucket) st = set_buckets(s, o);
    if (st == MS_OK && o->map) st = ms__dataset_columns(d, "batch", o->in, &s->n_in, s->in);
    if (st == MS_OK && o->map)
        st = ms__dataset_replace(&s->base, "batch", s->n_in, s->in, o->out, &s->n_out, s->from);
    if (st == MS_OK && o->padded && o->pad_shape) {
        s->n_pad = d->n_col;
        for (int c = 0; c < d->n_col; c++) {
            s->pad_shape[c] = (MsInts){o->pad_shape[c].n, s->pad_size[c]};
            for (int k = 0; k < o->pad_shape[c].n && k < MS_MAX_DIM; k++)
                s->pad_size[c][k] = o->pad_shape[c].v[k];
            s->pad_value[c] = o->pad_value ? o->pad_value[c] : 0;
        }
    }
    if (st == MS_OK) return &s->base;
    ms_dataset_unref(&s->base);
    return NULL;
}

MsDataset *ms_dataset_batch(MsDataset *d, int64_t size, bool drop_remainder)
{
    return ms_dataset_batch_with(d, &(MsBatchOptions){.size = size, .drop_remainder = drop_remainder});
}

int64_t ms_dataset_batch_size(MsDataset *d)
{
    for (; d; d = d->n_child > 0 ? d->child[0] : NULL)
        if (d->kind == &batch_kind)
            return ((BatchSet *)d)->o.next_size || ((BatchSet *)d)->o.n_bucket ? -1 : ((BatchSet *)d)->o.size;
    return 1;
}
