/* source.c - where rows come from: the MNIST family, slices of tensors, and the host language. One kind of
 * node serves all with random access: it walks the sampler's order and asks for rows by index. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A source fills row i; columns belong to the open scope. */
typedef struct SourceSet {
    MsDataset base;
    MsSampler *sampler;
    int workers;
    int64_t n; /* rows, -1 = unknown (stream) */
    /* kept by the kind */
    MsTensor *column[MS_DATA_MAX_COLUMN]; /* slices, mnist */
    MsSource host;
    pthread_mutex_t lock; /* mnist: files are read by the first iterator */
    MsIdx image[2], label[2];
    int n_files;
    char *origin; /* for messages: the files that the rows come from */
} SourceSet;

typedef struct SourceNode {
    MsNode base;
    int64_t *index, count, at, epoch;
    MsPool *pool; /* rows of a host source, when it has several workers */
    void *state;  /* of a host source */
    bool opened;
} SourceNode;

static SourceSet *source_set(MsNode *n)
{
    return (SourceSet *)n->set;
}

static void source_free(MsDataset *d)
{
    SourceSet *s = (SourceSet *)d;
    ms_sampler_unref(s->sampler);
    for (int c = 0; c < MS_DATA_MAX_COLUMN; c++) ms_tensor_unref(s->column[c]);
    for (int k = 0; k < 2; k++) {
        ms__idx_close(&s->image[k]);
        ms__idx_close(&s->label[k]);
    }
    free(s->origin);
    if (s->host.release) s->host.release(s->host.ctx);
    pthread_mutex_destroy(&s->lock);
}

static int64_t source_size(MsDataset *d, bool once)
{
    (void)once;
    SourceSet *s = (SourceSet *)d;
    if (s->n < 0) return s->host.size;
    return ms__sampler_size(s->sampler, s->n);
}

/* ---- slices ---- */

static MsTensor *slice_of(MsTensor *t, int64_t i)
{
    return ms__tensor_view(t, t->ndim - 1, t->shape + 1, t->strides + 1, i * t->strides[0]);
}

static MsStatus slices_get(SourceSet *s, int64_t i, MsRow *row)
{
    for (; row->n < s->base.n_col; row->n++) {
        MsTensor *v = slice_of(s->column[row->n], i);
        if (!v) return ms_error()->code;
        row->col[row->n] = ms_tensor_ref(v);
    }
    return MS_OK;
}

/* Labels for PKSampler: the column "label", or the last one, where it holds one integer per row. */
static MsStatus slices_label(void *ctx, int64_t i, int64_t *label)
{
    SourceSet *s = ctx;
    int c = ms__dataset_find(&s->base, "label", 5);
    MsTensor *t = s->column[c >= 0 ? c : s->base.n_col - 1];
    if (t->ndim != 1)
        return MS_FAIL(MS_ERROR_RUNTIME, "For 'PKSampler', the class column must hold one number per row.");
    int mark = ms_scope_begin();
    MsTensor *one = slice_of(t, i), *wide = one ? ms__data_cast(one, MS_INT64) : NULL;
    if (wide) *label = *(int64_t *)wide->data;
    ms_scope_end(mark, NULL, 0);
    return wide ? MS_OK : ms_error()->code;
}

/* ---- the host language ---- */

static MsStatus host_get(SourceSet *s, void *state, int64_t i, MsRow *row)
{
    MsTensor *out[MS_DATA_MAX_COLUMN] = {0};
    MsStatus st = s->host.get(state, i, s->base.n_col, out);
    if (st != MS_OK) return st;
    for (; row->n < s->base.n_col; row->n++) {
        if (!out[row->n])
            return MS_FAIL(MS_ERROR_RUNTIME, "The source '%s' gave no value for the column '%s'.",
                           s->host.name, s->base.col[row->n]);
        row->col[row->n] = ms_tensor_ref(out[row->n]);
    }
    return MS_OK;
}

static MsStatus get_row(SourceNode *n, int64_t k, MsRow *row)
{
    SourceSet *s = source_set(&n->base);
    int64_t i = n->index ? n->index[k] : k;
    int mark = ms_scope_begin();
    row->n = 0;
    row->origin = i;
    MsStatus st = s->host.get ? host_get(s, n->state, i, row) : slices_get(s, i, row);
    if (st != MS_OK) ms__row_clear(row);
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* ---- the node ---- */

static MsStatus load_mnist(SourceSet *s);

static MsStatus pool_work(void *ctx, int64_t epoch, int64_t k, MsRow *row)
{
    (void)epoch;
    SourceNode *n = ctx;
    if (k >= n->count) return MS_ERROR_STOP;
    return get_row(n, k, row);
}

static MsStatus source_open(MsNode *node)
{
    SourceNode *n = (SourceNode *)node;
    SourceSet *s = source_set(node);
    if (s->n_files) MS_TRY(load_mnist(s));
    n->state = s->host.ctx;
    if (s->host.open) MS_TRY(s->host.open(s->host.ctx, &n->state));
    n->opened = true;
    if (s->host.get && s->host.random_access && s->workers > 1 && !node->run->inline_only) {
        n->pool = ms__pool_new(NULL, node->run, s->workers, 1, pool_work, n);
        if (!n->pool) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus source_begin(MsNode *node, int64_t epoch)
{
    SourceNode *n = (SourceNode *)node;
    SourceSet *s = source_set(node);
    MsLabels labels = {s->host.get ? s->host.label : slices_label, s->host.get ? s->host.ctx : (void *)s};
    if (n->pool) MS_TRY(ms__pool_begin(n->pool, -1)); /* nobody reads the old order any more */
    free(n->index);
    n->index = NULL;
    n->at = 0;
    n->epoch = epoch;
    if (s->host.begin) MS_TRY(s->host.begin(n->state, epoch));
    if (s->n < 0) return MS_OK;
    MS_TRY(ms__sampler_fill(s->sampler, &labels, s->n, node->seed, epoch, &n->index, &n->count));
    return n->pool ? ms__pool_begin(n->pool, epoch) : MS_OK;
}

static MsStatus source_next(MsNode *node, MsRow *row)
{
    SourceNode *n = (SourceNode *)node;
    SourceSet *s = source_set(node);
    if (n->pool) {
        if (n->at >= n->count) return MS_ERROR_STOP;
        n->at++;
        return ms__pool_next(n->pool, row);
    }
    if (s->n >= 0 && n->at >= n->count) return MS_ERROR_STOP;
    int64_t k = n->at++;
    MsStatus st = get_row(n, k, row);
    if (st == MS_ERROR_STOP && s->n >= 0 && s->host.random_access)
        return MS_FAIL(MS_ERROR_RUNTIME, "The source '%s' ended at row %lld.", s->host.name, (long long)k);
    return st;
}

static void source_wake(MsNode *node)
{
    SourceNode *n = (SourceNode *)node;
    if (n->pool) ms__pool_wake(n->pool);
}

static void source_close(MsNode *node)
{
    SourceNode *n = (SourceNode *)node;
    SourceSet *s = source_set(node);
    ms__pool_free(n->pool);
    if (n->opened && s->host.close) s->host.close(n->state);
    free(n->index);
}

static const MsDatasetKind source_kind = {
    .name = "source",
    .set_size = sizeof(SourceSet),
    .node_size = sizeof(SourceNode),
    .free = source_free,
    .size = source_size,
    .open = source_open,
    .begin = source_begin,
    .next = source_next,
    .wake = source_wake,
    .close = source_close,
};

const char *ms__dataset_describe(MsDataset *d, int64_t origin)
{
    while (d && d->n_child == 1) d = d->child[0];
    if (!d || d->kind != &source_kind) return NULL;
    SourceSet *s = (SourceSet *)d;
    return s->host.describe ? s->host.describe(s->host.ctx, origin) : s->origin;
}

MsStatus ms_dataset_origin(MsDataset *d, const char *text)
{
    if (d->kind != &source_kind)
        return MS_FAIL(MS_ERROR_TYPE, "Only a source has an origin, '%s' has none.", d->kind->name);
    char *copy = ms__strdup(text);
    if (!copy) return ms_error()->code;
    free(((SourceSet *)d)->origin);
    ((SourceSet *)d)->origin = copy;
    return MS_OK;
}

static SourceSet *source_new(MsSampler *sampler)
{
    SourceSet *s = (SourceSet *)ms__dataset_new(&source_kind, 0, NULL);
    if (!s) {
        ms_sampler_unref(sampler);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->sampler = sampler;
    return s;
}

MsDataset *ms_dataset_slices(int n, MsTensor *const *column, const char *const *name, MsSampler *sampler)
{
    SourceSet *s = source_new(sampler);
    if (!s) return NULL;
    if (n < 1) MS_FAIL(MS_ERROR_VALUE, "A dataset needs a column.");
    for (int c = 0; c < n && !ms__failed(); c++) {
        MsTensor *t = column[c];
        if (!t || t->trace || t->ndim < 1)
            MS_FAIL(MS_ERROR_VALUE,
                    "The column '%s' must be a tensor with values and at least one dimension.", name[c]);
        else if (t->shape[0] != column[0]->shape[0])
            MS_FAIL(MS_ERROR_VALUE,
                    "The columns must be equally long, but '%s' has %lld rows and '%s' has %lld.", name[0],
                    (long long)column[0]->shape[0], name[c], (long long)t->shape[0]);
        else if (ms__dataset_set_column(&s->base, c, name[c], strlen(name[c])) == MS_OK)
            s->column[c] = ms_tensor_ref(t);
    }
    if (ms__failed() || n < 1) {
        ms_dataset_unref(&s->base);
        return NULL;
    }
    s->n = column[0]->shape[0];
    return &s->base;
}

MsDataset *ms_dataset_source(const MsSource *source, int n, const char *const *name, MsSampler *sampler,
                             int workers)
{
    SourceSet *s = source_new(sampler);
    if (!s) {
        if (source->release) source->release(source->ctx);
        return NULL;
    }
    s->host = *source;
    s->workers = workers;
    s->n = source->random_access ? source->size : -1;
    if (n < 1) MS_FAIL(MS_ERROR_VALUE, "A dataset needs a column.");
    if (sampler && !source->random_access)
        MS_FAIL(MS_ERROR_VALUE, "A sampler needs a source with random access; '%s' has none.", source->name);
    for (int c = 0; c < n && !ms__failed(); c++)
        ms__dataset_set_column(&s->base, c, name[c], strlen(name[c]));
    if (!ms__failed()) return &s->base;
    ms_dataset_unref(&s->base);
    return NULL;
}

/* ---- the MNIST family ---- */

#define SIDE 28

static const char *const image_file[] = {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"};
static const char *const label_file[] = {"train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"};

static MsStatus find_files(SourceSet *s, const char *api, const char *dir, bool train, bool test)
{
    struct stat info;
    if (!dir || stat(dir, &info) != 0 || !S_ISDIR(info.st_mode))
        return MS_FAIL(MS_ERROR_VALUE,
                       "The folder %s does not exist or is not a directory or permission denied!",
                       dir ? dir : "");
    for (int part = 0; part < 2; part++) {
        if (!(part == 0 ? train : test)) continue;
        bool images, labels;
        MsIdx *x = &s->image[s->n_files], *y = &s->label[s->n_files];
        MS_TRY(ms__idx_open(dir, image_file[part], 3, x, &images));
        MS_TRY(ms__idx_open(dir, label_file[part], 1, y, &labels));
        if (!images && !labels && train && test) { /* "all" takes what is there */
            ms__idx_close(x);
            ms__idx_close(y);
            continue;
        }
        if (!images || !labels)
            return MS_FAIL(MS_ERROR_RUNTIME, "For '%s', the file '%s' (or .gz) is not in the folder '%s'.",
                           api, images ? label_file[part] : image_file[part], dir);
        if (x->shape[0] != y->shape[0])
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "The files '%s' and '%s' do not belong together: %lld images, %lld labels.",
                           x->path, y->path, (long long)x->shape[0], (long long)y->shape[0]);
        if (x->shape[1] != SIDE || x->shape[2] != SIDE)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "The file '%s' must hold images of 28 x 28, but its header says %s.", x->path,
                           ms__shape_text(3, x->shape));
        s->n += x->shape[0];
        s->n_files++;
    }
    if (s->n_files == 0)
        return MS_FAIL(MS_ERROR_RUNTIME, "For '%s', the folder '%s' has none of the files '%s', '%s'.", api,
                       dir, image_file[0], image_file[1]);
    return MS_OK;
}

static MsStatus read_mnist(SourceSet *s, MsTensor *image, MsTensor *label)
{
    uint8_t *raw = ms__malloc((size_t)s->n);
    MsStatus st = raw ? MS_OK : ms_error()->code;
    int64_t at = 0;
    for (int k = 0; st == MS_OK && k < s->n_files; k++) {
        st = ms__idx_read(&s->image[k], (uint8_t *)image->data + at * SIDE * SIDE);
        if (st == MS_OK) st = ms__idx_read(&s->label[k], raw + at);
        at += s->image[k].shape[0];
    }
    for (int64_t i = 0; st == MS_OK && i < s->n; i++) ((uint32_t *)label->data)[i] = raw[i];
    free(raw);
    return st;
}

/* The first iterator reads the files; they stay in memory as long as the dataset. */
static MsStatus load_mnist(SourceSet *s)
{
    pthread_mutex_lock(&s->lock);
    MsStatus st = MS_OK;
    if (!s->column[0]) {
        int mark = ms_scope_begin();
        int64_t shape[] = {s->n, SIDE, SIDE, 1};
        MsTensor *image = ms_tensor_empty(MS_UINT8, 4, shape), *label = ms_tensor_empty(MS_UINT32, 1, shape);
        st = image && label ? read_mnist(s, image, label) : ms_error()->code;
        if (st == MS_OK) s->column[0] = ms_tensor_ref(image), s->column[1] = ms_tensor_ref(label);
        ms_scope_end(mark, NULL, 0);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static MsDataset *mnist(const char *api, const char *dir, const char *usage, MsSampler *sampler)
{
    SourceSet *s = source_new(sampler);
    if (!s) return NULL;
    bool all = !usage || strcmp(usage, "all") == 0;
    bool train = all || strcmp(usage, "train") == 0, test = all || strcmp(usage, "test") == 0;
    if (!train && !test)
        MS_FAIL(MS_ERROR_VALUE,
                "Input usage is not within the valid set of ['train', 'test', 'all'], but got '%s'.", usage);
    if ((train || test) && find_files(s, api, dir, train, test) == MS_OK &&
        ms__dataset_set_column(&s->base, 0, "image", 5) == MS_OK &&
        ms__dataset_set_column(&s->base, 1, "label", 5) == MS_OK)
        return &s->base;
    ms_dataset_unref(&s->base);
    return NULL;
}

MsDataset *ms_dataset_mnist(const char *dir, const char *usage, MsSampler *sampler)
{
    return mnist("MnistDataset", dir, usage, sampler);
}

MsDataset *ms_dataset_fashion_mnist(const char *dir, const char *usage, MsSampler *sampler)
{
    return mnist("FashionMnistDataset", dir, usage, sampler);
}
