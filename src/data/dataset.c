/* dataset.c - descriptions, their columns, and the tree of nodes that an iterator makes of one. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>

void ms__row_clear(MsRow *row)
{
    for (int c = 0; c < row->n; c++) ms_tensor_unref(row->col[c]);
    row->n = 0;
}

MsTensor *ms__data_contiguous(MsTensor *t)
{
    if (!t || t->contiguous) return t;
    MsTensor *y = ms_tensor_empty((MsDtype)t->dtype, t->ndim, t->shape);
    if (!y) return NULL;
    size_t size = ms_dtype_size((MsDtype)t->dtype);
    int64_t at[MS_MAX_DIM] = {0}, offset = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        memcpy(y->data + (size_t)i * size, t->data + offset * (int64_t)size, size);
        for (int d = t->ndim - 1; d >= 0; d--) { /* the odometer */
            offset += t->strides[d];
            if (++at[d] < t->shape[d]) break;
            offset -= at[d] * t->strides[d];
            at[d] = 0;
        }
    }
    return y;
}

bool ms__data_is_text(const MsTensor *t)
{
    return t->dtype == MS_STRING || t->dtype == MS_BYTES;
}

MsTensor *ms__data_widen(MsTensor *t, int64_t width)
{
    int64_t shape[MS_MAX_DIM], old = t->shape[t->ndim - 1];
    memcpy(shape, t->shape, sizeof shape);
    shape[t->ndim - 1] = width;
    t = ms__data_contiguous(t);
    MsTensor *y = t ? ms_tensor_empty((MsDtype)t->dtype, t->ndim, shape) : NULL;
    if (!y) return NULL;
    memset(y->data, 0, (size_t)y->numel);
    for (int64_t i = 0; old > 0 && i < t->numel / old; i++)
        memcpy(y->data + i * width, t->data + i * old, (size_t)old);
    return y;
}

void ms__error_take(MsError *e)
{
    *e = *ms_error();
    ms_error_clear();
}

MsStatus ms__error_put(const MsError *e)
{
    return e->code == MS_OK ? MS_OK : ms__raise(e->code, e->file, e->line, "%s", e->message);
}

/* ---- descriptions ---- */

MsDataset *ms_dataset_ref(MsDataset *d)
{
    if (d) atomic_fetch_add(&d->ref, 1);
    return d;
}

void ms_dataset_unref(MsDataset *d)
{
    if (!d || atomic_fetch_sub(&d->ref, 1) != 1) return;
    if (d->kind->free) d->kind->free(d);
    for (int k = 0; k < d->n_child; k++) ms_dataset_unref(d->child[k]);
    for (int k = 0; k < d->n_col; k++) free(d->col[k]);
    free(d->child);
    free(d);
}

MsDataset *ms__dataset_new(const MsDatasetKind *kind, int n_child, MsDataset *const *child)
{
    bool whole = true;
    for (int k = 0; k < n_child; k++) whole &= child[k] != NULL;
    MsDataset *d = whole ? ms__calloc(1, kind->set_size) : NULL;
    MsDataset **list = d ? ms__malloc((size_t)n_child * sizeof *list) : NULL;
    if (!list) {
        for (int k = 0; k < n_child; k++) ms_dataset_unref(child[k]);
        free(d);
        return NULL;
    }
    if (n_child) memcpy(list, child, (size_t)n_child * sizeof *list);
    d->ref = 1;
    d->kind = kind;
    d->child = list;
    d->n_child = n_child;
    for (int k = 0; n_child > 0 && k < child[0]->n_col; k++)
        if (ms__dataset_set_column(d, k, child[0]->col[k], strlen(child[0]->col[k])) != MS_OK) {
            d->kind = kind;
            for (int c = 0; c < n_child; c++) ms_dataset_unref(list[c]);
            for (int c = 0; c < d->n_col; c++) free(d->col[c]);
            free(list);
            free(d);
            return NULL;
        }
    return d;
}

MsStatus ms__dataset_set_column(MsDataset *d, int k, const char *name, size_t len)
{
    if (k >= MS_DATA_MAX_COLUMN)
        return MS_FAIL(MS_ERROR_VALUE, "A row has at most %d columns.", MS_DATA_MAX_COLUMN);
    if (len == 0) return MS_FAIL(MS_ERROR_VALUE, "A column name must not be empty.");
    int other = ms__dataset_find(d, name, len);
    if (other >= 0 && other != k)
        return MS_FAIL(MS_ERROR_VALUE, "The column name '%.*s' is given twice.", (int)len, name);
    char *copy = ms__malloc(len + 1);
    if (!copy) return ms_error()->code;
    memcpy(copy, name, len);
    copy[len] = 0;
    if (k < d->n_col)
        free(d->col[k]);
    else
        d->n_col = k + 1;
    d->col[k] = copy;
    return MS_OK;
}

int ms__dataset_find(const MsDataset *d, const char *name, size_t len)
{
    for (int k = 0; k < d->n_col; k++)
        if (d->col[k] && strlen(d->col[k]) == len && memcmp(d->col[k], name, len) == 0) return k;
    return -1;
}

static MsStatus no_column(const MsDataset *d, const char *op, const char *name, size_t len)
{
    char have[512] = "";
    size_t at = 0;
    for (int k = 0; k < d->n_col && at + strlen(d->col[k]) + 3 < sizeof have; k++) {
        if (k) at = strlen(strcat(have, ", "));
        at = strlen(strcat(have, d->col[k]));
    }
    return MS_FAIL(MS_ERROR_RUNTIME,
                   "For '%s', the column '%.*s' does not exist; the dataset has the columns [%s].", op,
                   (int)len, name, have);
}

MsStatus ms__dataset_columns(const MsDataset *d, const char *op, const char *list, int *n, int *at)
{
    *n = 0;
    if (!list) {
        if (d->n_col == 0) return MS_FAIL(MS_ERROR_RUNTIME, "For '%s', the dataset has no column.", op);
        at[(*n)++] = 0;
        return MS_OK;
    }
    for (const char *p = list;; p++) {
        size_t len = strcspn(p, ",");
        int k = ms__dataset_find(d, p, len);
        if (k < 0) return no_column(d, op, p, len);
        for (int i = 0; i < *n; i++)
            if (at[i] == k)
                return MS_FAIL(MS_ERROR_VALUE, "For '%s', the column '%s' is given twice.", op, d->col[k]);
        at[(*n)++] = k;
        p += len;
        if (!*p) return MS_OK;
    }
}

MsStatus ms__dataset_replace(MsDataset *d, const char *op, int n_in, const int *in, const char *out,
                             int *n_out, int *from)
{
    const MsDataset *below = d->child[0];
    const char *name[MS_DATA_MAX_COLUMN];
    size_t len[MS_DATA_MAX_COLUMN];
    int n = 0;
    if (!out)
        for (; n < n_in; n++) name[n] = below->col[in[n]], len[n] = strlen(name[n]);
    for (const char *p = out; p; p++) {
        if (n == MS_DATA_MAX_COLUMN)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', there are too many columns.", op);
        name[n] = p;
        len[n] = strcspn(p, ",");
        p += len[n++];
        if (!*p) break;
    }
    *n_out = n;
    for (int k = 0; k < d->n_col; k++) {
        free(d->col[k]);
        d->col[k] = NULL;
    }
    d->n_col = 0;
    /* As many results as inputs: each takes its input's place. Otherwise they stand where the first input
     * stood. */
    int at = 0;
    for (int k = 0; k < below->n_col; k++) {
        int which = -1;
        for (int i = 0; i < n_in; i++)
            if (in[i] == k) which = i;
        if (which < 0) {
            MS_TRY(ms__dataset_set_column(d, at, below->col[k], strlen(below->col[k])));
            from[at++] = k;
        } else if (n == n_in) {
            MS_TRY(ms__dataset_set_column(d, at, name[which], len[which]));
            from[at++] = -1 - which;
        } else if (which == 0) {
            for (int j = 0; j < n; j++) {
                MS_TRY(ms__dataset_set_column(d, at, name[j], len[j]));
                from[at++] = -1 - j;
            }
        }
    }
    return MS_OK;
}

int ms_dataset_n_columns(const MsDataset *d)
{
    return d->n_col;
}
const char *ms_dataset_column(const MsDataset *d, int k)
{
    return k >= 0 && k < d->n_col ? d->col[k] : NULL;
}

int64_t ms__dataset_size(MsDataset *d, bool once)
{
    return d->kind->size ? d->kind->size(d, once) : ms__dataset_size(d->child[0], once);
}

int64_t ms_dataset_size(MsDataset *d)
{
    int64_t n = ms__dataset_size(d, false);
    return n == INT64_MAX ? ms__dataset_size(d, true) : n;
}

/* ---- nodes ---- */

MsNode *ms__node_open(MsDataset *d, MsRun *run)
{
    MsNode *n = ms__calloc(1, d->kind->node_size);
    if (!n) return NULL;
    n->set = ms_dataset_ref(d);
    n->run = run;
    MsDataRng rng = ms__data_rng(run->seed, 0, run->n_nodes++);
    n->seed = ms__data_u64(&rng);
    n->child = ms__calloc((size_t)d->n_child, sizeof *n->child);
    bool ok = n->child != NULL;
    for (int k = 0; ok && k < d->n_child; k++) ok = (n->child[k] = ms__node_open(d->child[k], run)) != NULL;
    if (ok && d->kind->open) ok = d->kind->open(n) == MS_OK;
    if (ok) return n;
    ms__node_close(n);
    return NULL;
}

MsStatus ms__node_begin(MsNode *n, int64_t epoch)
{
    if (n->set->kind->begin) return n->set->kind->begin(n, epoch);
    for (int k = 0; k < n->set->n_child; k++) MS_TRY(ms__node_begin(n->child[k], epoch));
    return MS_OK;
}

MsStatus ms__node_end(MsNode *n)
{
    for (int k = 0; k < n->set->n_child; k++) MS_TRY(ms__node_end(n->child[k]));
    return n->set->kind->end ? n->set->kind->end(n) : MS_OK;
}

void ms__node_wake(MsNode *n)
{
    if (n->set->kind->wake) n->set->kind->wake(n);
    for (int k = 0; k < n->set->n_child; k++) ms__node_wake(n->child[k]);
}

void ms__node_close(MsNode *n)
{
    if (!n) return;
    if (n->set->kind->close) n->set->kind->close(n);
    for (int k = 0; n->child && k < n->set->n_child; k++) ms__node_close(n->child[k]);
    free(n->child);
    ms_dataset_unref(n->set);
    free(n);
}
