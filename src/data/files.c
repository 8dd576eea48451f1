/* files.c - a source whose rows are files: the first column holds a file's bytes, further columns are rows of tensors
 * (labels, attributes). All datasets of images in folders are this source with a list made by the skin. A message about
 * a row names its file. Refused: reading ahead here; the map above decodes in threads and files are in the page cache. */
#include "core/mem.h"
#include "core/tensor.h"
#include "data/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE ((int64_t)1 << 31)

typedef struct Files {
    int64_t n;
    char **path;
    int n_more;
    MsTensor *more[MS_DATA_MAX_COLUMN];
} Files;

static void files_free(void *ctx)
{
    Files *f = ctx;
    for (int64_t i = 0; f->path && i < f->n; i++) free(f->path[i]);
    for (int c = 0; c < f->n_more; c++) ms_tensor_unref(f->more[c]);
    free(f->path);
    free(f);
}

static MsTensor *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat info;
    if (!f || fstat(fileno(f), &info) != 0 || !S_ISREG(info.st_mode)) {
        MS_FAIL(MS_ERROR_RUNTIME, "Invalid file path, the file '%s' does not exist or cannot be read: %s.",
                path, f ? "not a file" : strerror(errno));
        if (f) fclose(f);
        return NULL;
    }
    int64_t n = info.st_size;
    MsTensor *t = NULL;
    if (n > MAX_FILE)
        MS_FAIL(MS_ERROR_RUNTIME, "Invalid file, the file '%s' is too large.", path);
    else
        t = ms_tensor_empty(MS_UINT8, 1, &n);
    if (t && fread(t->data, 1, (size_t)n, f) != (size_t)n) {
        MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' could not be read to its end.", path);
        t = NULL;
    }
    fclose(f);
    return t;
}

static MsStatus files_get(void *state, int64_t i, int n, MsTensor **column)
{
    Files *f = state;
    column[0] = read_file(f->path[i]);
    if (!column[0]) return ms_error()->code;
    for (int c = 1; c < n; c++) {
        MsTensor *t = f->more[c - 1];
        column[c] = ms__tensor_view(t, t->ndim - 1, t->shape + 1, t->strides + 1, i * t->strides[0]);
        if (!column[c]) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus files_label(void *ctx, int64_t i, int64_t *label)
{
    Files *f = ctx;
    if (f->n_more < 1 || f->more[0]->ndim != 1)
        return MS_FAIL(MS_ERROR_RUNTIME, "For 'PKSampler', the dataset must have one label per row.");
    int mark = ms_scope_begin();
    MsTensor *t = f->more[0], *one = ms__tensor_view(t, 0, NULL, NULL, i * t->strides[0]);
    MsTensor *wide = one ? ms__data_cast(one, MS_INT64) : NULL;
    if (wide) *label = *(int64_t *)wide->data;
    ms_scope_end(mark, NULL, 0);
    return wide ? MS_OK : ms_error()->code;
}

static const char *files_describe(void *ctx, int64_t i)
{
    Files *f = ctx;
    return i >= 0 && i < f->n ? f->path[i] : NULL;
}

MsDataset *ms_dataset_files(int64_t n, const char *const *path, int n_more, MsTensor *const *more,
                            const char *const *name, MsSampler *sampler)
{
    Files *f = n_more < MS_DATA_MAX_COLUMN ? ms__calloc(1, sizeof *f) : NULL;
    if (f) f->path = ms__calloc((size_t)n, sizeof *f->path);
    MsStatus st = f && f->path ? MS_OK : MS_FAIL(MS_ERROR_MEMORY, "The list of files could not be kept.");
    if (st == MS_OK) f->n = n;
    for (int64_t i = 0; st == MS_OK && i < n; i++)
        if (!(f->path[i] = strdup(path[i]))) st = MS_FAIL(MS_ERROR_MEMORY, "Out of memory.");
    for (int c = 0; st == MS_OK && c < n_more; c++) {
        if (!more[c] || more[c]->trace || more[c]->ndim < 1 || more[c]->shape[0] != n)
            st = MS_FAIL(MS_ERROR_VALUE, "The column '%s' must have one row for each of the %lld files.",
                         name[c + 1], (long long)n);
        else
            f->more[f->n_more++] = ms_tensor_ref(more[c]);
    }
    if (st != MS_OK) {
        if (f) files_free(f);
        ms_sampler_unref(sampler);
        return NULL;
    }
    MsSource source = {.name = "files",
                       .size = n,
                       .random_access = true,
                       .get = files_get,
                       .release = files_free,
                       .ctx = f,
                       .label = files_label,
                       .describe = files_describe};
    return ms_dataset_source(&source, n_more + 1, name, sampler, 1);
}
