/* batch.c - rows into batches. The plain batch copies each row into its place as soon as it comes, so that
 * the memory of a row is used again for the next one while it is still in the cache; a batch with padding or
 * a function of the host language must see all its rows first. */
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
} BatchSet;

typedef struct BatchNode {
    MsNode base;
    MsBatchInfo info;
    int64_t left; /* rows that the child may still have, -1 = unknown */
    MsRow *row;   /* the rows of a batch that needs them all */
    int64_t n, cap;
} BatchNode;

static BatchSet *batch_set(MsNode *n)
{
    return (BatchSet *)n->set;
}

static void batch_free(MsDataset *d)
{
    BatchSet *s = (BatchSet *)d;
    if (s->o.release) s->o.release(s->o.ctx);
}

static int64_t batch_size_of(MsDataset *d, bool once)
{
    BatchSet *s = (BatchSet *)d;
    int64_t n = ms__dataset_size(d->child[0], once);
    if (s->o.next_size) return -1;
    if (n < 0 || n == INT64_MAX) return n;
    return s->o.drop_remainder ? n / s->o.size : n / s->o.size + (n % s->o.size != 0);
}

static MsStatus batch_begin(MsNode *node, int64_t epoch)
{
    BatchNode *n = (BatchNode *)node;
    n->info = (MsBatchInfo){epoch, 0};
    n->left = ms__dataset_size(node->set->child[0], false);
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

/* Copies row (row-major) into the corner of the box `to` of the given shape. */
static void put_corner(char *to, const int64_t *shape, const char *from, const MsTensor *row, size_t size)
{
    if (row->ndim == 0) {
        memcpy(to, from, size);
        return;
    }
    int last = row->ndim - 1;
    int64_t at[MS_MAX_DIM] = {0}, lines = row->shape[last] ? row->numel / row->shape[last] : 0;
    for (int64_t i = 0; i < lines; i++) {
        int64_t offset = 0;
        for (int d = 0; d <= last; d++) offset = offset * shape[d] + (d < last ? at[d] : 0);
        memcpy(to + (size_t)offset * size, from, (size_t)row->shape[last] * size);
        from += (size_t)row->shape[last] * size;
        for (int d = last - 1; d >= 0 && ++at[d] == row->shape[d]; d--) at[d] = 0;
    }
}

static MsTensor *pad_column(BatchNode *n, int c)
{
    BatchSet *s = batch_set(&n->base);
    const MsInts *want = c < s->n_pad ? &s->pad_shape[c] : NULL;
    const MsTensor *first = n->row[0].col[c];
    int64_t shape[MS_MAX_DIM] = {n->n};
    bool pad = !want || want->n >= 0;
    if (first->ndim == MS_MAX_DIM) return batch_room(first, n->n);
    int inner = first->ndim - ms__data_is_text(first); /* the width of texts is no size to pad to */
    if (pad && want && want->n != inner)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "For 'padded_batch', the pad shape of column '%s' has %d sizes, but a row has "
                            "%d dimensions.",
                            s->base.child[0]->col[c], want->n, inner);
    for (int d = 0; d < first->ndim; d++) {
        shape[d + 1] = first->shape[d];
        for (int64_t r = 0; pad && r < n->n; r++) {
            const MsTensor *t = n->row[r].col[c];
            if (t->ndim == first->ndim && t->shape[d] > shape[d + 1]) shape[d + 1] = t->shape[d];
        }
        if (pad && want && d < want->n && want->v[d] >= 0) {
            if (want->v[d] < shape[d + 1])
                return MS_FAIL_NULL(
                    MS_ERROR_RUNTIME,
                    "For 'padded_batch', column '%s' has a row of size %lld, more than the pad "
                    "size %lld.",
                    s->base.child[0]->col[c], (long long)shape[d + 1], (long long)want->v[d]);
            shape[d + 1] = want->v[d];
        }
    }
    double value = c < s->n_pad && !ms__data_is_text(first) ? s->pad_value[c] : 0;
    MsTensor *out = ms__data_filled((MsDtype)first->dtype, first->ndim + 1, shape, value);
    if (!out) return NULL;
    size_t size = ms_dtype_size((MsDtype)out->dtype);
    int64_t step = n->n ? out->numel / n->n : 0;
    for (int64_t r = 0; r < n->n; r++) {
        MsTensor *t = n->row[r].col[c];
        if (!pad) {
            if (put_row(s, c, &out, r, t) != MS_OK) return NULL;
            continue;
        }
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

static void drop_rows(BatchNode *n)
{
    for (int64_t r = 0; r < n->n; r++) ms__row_clear(&n->row[r]);
    n->n = 0;
}

static MsStatus whole(BatchNode *n, int64_t size, MsRow *row)
{
    BatchSet *s = batch_set(&n->base);
    MsTensor *out[MS_DATA_MAX_COLUMN] = {0};
    MsStatus st = gather(n, size);
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
    int64_t size = s->o.size;
    int mark = ms_scope_begin();
    MsStatus st = s->o.next_size ? s->o.next_size(s->o.ctx, n->info, &size) : MS_OK;
    if (st == MS_OK && size < 1)
        st = MS_FAIL(MS_ERROR_RUNTIME, "For 'batch', the batch size must be at least 1, but got %lld.",
                     (long long)size);
    if (st == MS_OK) st = s->o.map || s->o.padded ? whole(n, size, row) : plain(n, size, row);
    ms_scope_end(mark, NULL, 0);
    n->info.batch++;
    return st;
}

static void batch_close(MsNode *node)
{
    free(((BatchNode *)node)->row);
}

static const MsDatasetKind batch_kind = {
    .name = "batch",
    .set_size = sizeof(BatchSet),
    .node_size = sizeof(BatchNode),
    .free = batch_free,
    .size = batch_size_of,
    .begin = batch_begin,
    .next = batch_next,
    .close = batch_close,
};

MsDataset *ms_dataset_batch_with(MsDataset *d, const MsBatchOptions *o)
{
    BatchSet *s = (BatchSet *)ms__dataset_new(&batch_kind, 1, &d);
    if (!s) {
        if (o->release) o->release(o->ctx);
        return NULL;
    }
    s->o = *o;
    MsStatus st = MS_OK;
    if (o->size < 1 && !o->next_size)
        st = MS_FAIL(MS_ERROR_VALUE,
                     "Input batch_size is not within the required interval of [1, 2147483647], but got %lld.",
                     (long long)o->size);
    for (int c = 0; c < d->n_col; c++) s->from[c] = c;
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
        if (d->kind == &batch_kind) return ((BatchSet *)d)->o.next_size ? -1 : ((BatchSet *)d)->o.size;
    return 1;
}
