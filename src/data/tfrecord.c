/* tfrecord.c - records of TFRecord files as rows. A record is a protobuf `Example`: a map from names to lists of bytes,
 * float or int64. The parser knows just these messages; unknown fields are skipped, every length is checked against what
 * is left, and the checksum of the data is verified. A list is written straight into the tensor of its column. */
#include "data/spans.h"

#include "core/mem.h"
#include "core/tensor.h"
#include "format/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bytes {
    const uint8_t *p, *end;
} Bytes;

typedef struct Feature {
    char *name;
    MsDtype dtype;
    int ndim; /* -1: flat */
    int64_t shape[MS_MAX_DIM];
} Feature;

typedef struct Example {
    MsSpans *s;
    int n;
    Feature feature[MS_DATA_MAX_COLUMN];
} Example;

/* ---- protobuf ---- */

static bool varint(Bytes *b, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 70 && b->p < b->end; shift += 7) {
        uint8_t c = *b->p++;
        if (shift < 64) *v |= (uint64_t)(c & 127) << shift;
        if (c < 128) return true;
    }
    return false;
}

/* The next field: its number, its wire type, and its content where that is a stretch (types 1, 2, 5) or *value. */
static bool field(Bytes *b, uint32_t *number, int *type, Bytes *content, uint64_t *value)
{
    uint64_t tag, n;
    if (!varint(b, &tag)) return false;
    *number = (uint32_t)(tag >> 3), *type = (int)(tag & 7);
    switch (*type) {
    case 0: return varint(b, value);
    case 1: n = 8; break;
    case 2:
        if (!varint(b, &n)) return false;
        break;
    case 5: n = 4; break;
    default: return false;
    }
    if (n > (uint64_t)(b->end - b->p)) return false;
    *content = (Bytes){b->p, b->p + n};
    b->p += n;
    return true;
}

/* One entry of the map: its name and its list, of kind 1 bytes, 2 float, 3 int64, 0 none. */
static bool entry(Bytes b, Bytes *name, int *kind, Bytes *list)
{
    uint32_t number;
    int type;
    Bytes c, f = {0};
    uint64_t v;
    *name = *list = (Bytes){0};
    *kind = 0;
    while (b.p < b.end) {
        if (!field(&b, &number, &type, &c, &v)) return false;
        if (number == 1 && type == 2) *name = c;
        if (number == 2 && type == 2) f = c;
    }
    while (f.p < f.end) {
        if (!field(&f, &number, &type, &c, &v)) return false;
        if (type == 2 && number >= 1 && number <= 3) *kind = (int)number, *list = c;
    }
    return true;
}

/* Calls `take` for each entry of a record. */
static bool entries(Bytes b, MsStatus (*take)(void *ctx, Bytes name, int kind, Bytes list), void *ctx,
                    MsStatus *st)
{
    uint32_t number;
    int type, kind;
    Bytes features, c, name, list;
    uint64_t v;
    *st = MS_OK;
    while (b.p < b.end) {
        if (!field(&b, &number, &type, &features, &v)) return false;
        while (number == 1 && type == 2 && features.p < features.end) {
            uint32_t inner;
            int inner_type;
            if (!field(&features, &inner, &inner_type, &c, &v)) return false;
            if (inner != 1 || inner_type != 2) continue;
            if (!entry(c, &name, &kind, &list)) return false;
            if ((*st = take(ctx, name, kind, list)) != MS_OK) return true;
        }
    }
    return true;
}

/* ---- lists to tensors ---- */

/* Values of a list of numbers; to NULL: only counts them. -1: malformed. */
static int64_t numbers(Bytes b, int kind, void *to)
{
    int64_t n = 0;
    uint32_t number;
    int type;
    Bytes c;
    uint64_t v = 0;
    while (b.p < b.end) {
        if (!field(&b, &number, &type, &c, &v)) return -1;
        if (number != 1) continue;
        if (kind == 3 && type == 0) {
            if (to) ((int64_t *)to)[n] = (int64_t)v;
            n++;
        } else if (kind == 2 && (type == 5 || type == 2)) {
            if ((c.end - c.p) % 4) return -1;
            if (to) memcpy((float *)to + n, c.p, (size_t)(c.end - c.p));
            n += (c.end - c.p) / 4;
        } else if (kind == 3 && type == 2) {
            while (c.p < c.end) {
                if (!varint(&c, &v)) return -1;
                if (to) ((int64_t *)to)[n] = (int64_t)v;
                n++;
            }
        }
    }
    return n;
}

/* Count of the texts of a list and the longest; each is copied to `to` at a distance of `width` when that is given. */
static int64_t texts(Bytes b, char *to, int64_t width, int64_t *longest)
{
    int64_t n = 0;
    uint32_t number;
    int type;
    Bytes c;
    uint64_t v;
    *longest = 0;
    while (b.p < b.end) {
        if (!field(&b, &number, &type, &c, &v)) return -1;
        if (number != 1 || type != 2) continue;
        if (to) memcpy(to + n * width, c.p, (size_t)(c.end - c.p));
        if (c.end - c.p > *longest) *longest = c.end - c.p;
        n++;
    }
    return n;
}

static MsStatus malformed(void)
{
    return MS_FAIL(MS_ERROR_RUNTIME, "failed to parse the tfrecord file: a record is no Example of protobuf");
}

/* Texts as [n, longest]. A column of numbers gets them one after the other: several are padded with blanks to one length. */
static MsTensor *take_texts(Bytes list, const Feature *f)
{
    int64_t longest, n = texts(list, NULL, 0, &longest);
    if (n < 0) return malformed(), NULL;
    bool text = f->dtype == MS_STRING || f->dtype == MS_BYTES;
    if (!text && f->dtype != MS_DTYPE_NONE && f->dtype != MS_UINT8 && f->dtype != MS_INT8)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "Column type of %s defined in schema is %s, but the file has bytes.", f->name,
                            ms_dtype_name(f->dtype));
    int64_t shape[2] = {n, text && longest == 0 ? 1 : longest}, flat = n * longest;
    MsTensor *t = text ? ms_tensor_empty(f->dtype, 2, shape) : ms_tensor_empty(MS_UINT8, 1, &flat);
    if (!t) return NULL;
    memset(t->data, text ? 0 : ' ', (size_t)t->numel);
    texts(list, t->data, shape[1], &longest);
    return t;
}

static MsTensor *take_numbers(Bytes list, int kind, const Feature *f)
{
    int64_t n = numbers(list, kind, NULL);
    if (n < 0) return malformed(), NULL;
    if (f->dtype == MS_STRING || f->dtype == MS_BYTES)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "Column type of %s defined in schema is string, but the file has numbers.",
                            f->name);
    MsTensor *t = ms_tensor_empty(kind == 2 ? MS_FLOAT32 : MS_INT64, 1, &n);
    if (!t) return NULL;
    numbers(list, kind, t->data);
    return f->dtype == MS_DTYPE_NONE ? t : ms__data_cast(t, f->dtype);
}

/* The flat t in the shape that the schema tells. */
static MsTensor *reshape(MsTensor *t, const Feature *f)
{
    if (!t || f->ndim < 0) return t;
    bool text = ms__data_is_text(t);
    int64_t shape[MS_MAX_DIM], known = 1, n = text ? t->shape[0] : t->numel;
    int open = -1, ndim = f->ndim;
    bool fits = ndim + text <= MS_MAX_DIM;
    for (int d = 0; d < ndim && fits; d++) {
        shape[d] = f->shape[d];
        if (shape[d] < 0)
            fits = open < 0, open = d;
        else
            fits = !__builtin_mul_overflow(known, shape[d], &known);
    }
    if (fits && open >= 0) shape[open] = known ? n / known : 0;
    if (!fits || (open >= 0 ? (known ? n % known : n) != 0 : n != known))
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "Column shape of %s defined in schema does not match the shape actually load.",
                            f->name);
    if (text) shape[ndim++] = t->shape[1];
    int64_t strides[MS_MAX_DIM];
    ms__row_major(ndim, shape, strides);
    return ms__tensor_view(t, ndim, shape, strides, 0);
}

typedef struct Take {
    const Example *e;
    MsTensor **column;
} Take;

static MsStatus take_entry(void *ctx, Bytes name, int kind, Bytes list)
{
    Take *t = ctx;
    for (int k = 0; k < t->e->n; k++) {
        const Feature *f = &t->e->feature[k];
        size_t len = (size_t)(name.end - name.p);
        if (strlen(f->name) != len || memcmp(f->name, name.p, len) != 0) continue;
        if (kind == 0)
            return MS_FAIL(MS_ERROR_RUNTIME, "Column list type of %s should be uint8, int64 or float32.",
                           f->name);
        t->column[k] = reshape(kind == 1 ? take_texts(list, f) : take_numbers(list, kind, f), f);
        return t->column[k] ? MS_OK : ms_error()->code;
    }
    return MS_OK;
}

static MsStatus record_bytes(const MsSpans *s, int64_t i, Bytes *b)
{
    int64_t n = s->span[i].len, room = n + 4;
    MsTensor *t = ms_tensor_empty(MS_UINT8, 1, &room);
    if (!t) return ms_error()->code;
    MS_TRY(ms__spans_read(s, i, 4, t->data));
    uint32_t sum;
    memcpy(&sum, t->data + n, 4);
    if (ms__crc32c_masked(t->data, (size_t)n) != sum)
        return MS_FAIL(MS_ERROR_RUNTIME, "the checksum of the record at byte %lld is wrong",
                       (long long)s->span[i].at);
    *b = (Bytes){(uint8_t *)t->data, (uint8_t *)t->data + n};
    return MS_OK;
}

static MsStatus parse(const Example *e, int64_t i, MsTensor **column)
{
    Bytes b;
    MsStatus st;
    MS_TRY(record_bytes(e->s, i, &b));
    if (!entries(b, take_entry, &(Take){e, column}, &st)) return malformed();
    for (int k = 0; st == MS_OK && k < e->n; k++)
        if (!column[k])
            st = MS_FAIL(MS_ERROR_RUNTIME,
                         "Feature name: %s is required in schema but could not be found in tfrecord file.",
                         e->feature[k].name);
    return st;
}

static MsStatus example_get(void *state, int64_t i, int n, MsTensor **column)
{
    (void)n;
    const Example *e = state;
    MsStatus st = parse(e, i, column);
    if (st == MS_OK || st == MS_ERROR_MEMORY) return st;
    char why[640];
    snprintf(why, sizeof why, "%.600s", ms_error()->message);
    ms_error_clear();
    return MS_FAIL(st, "map operation: [ParseExample] failed. The corresponding data file is: %s. %s",
                   ms__spans_describe(e->s, i), why);
}

static void example_release(void *ctx)
{
    Example *e = ctx;
    ms_spans_unref(e->s);
    for (int k = 0; k < e->n; k++) free(e->feature[k].name);
    free(e);
}

static const char *example_describe(void *ctx, int64_t i)
{
    return ms__spans_describe(((Example *)ctx)->s, i);
}

MsDataset *ms_dataset_tfrecord(MsSpans *s, int n, const MsFeature *feature, MsSampler *sampler, int workers)
{
    Example *e = ms__calloc(1, sizeof *e);
    const char *name[MS_DATA_MAX_COLUMN];
    MsStatus st = e ? MS_OK : MS_ERROR_MEMORY;
    if (st == MS_OK && n > MS_DATA_MAX_COLUMN)
        st = MS_FAIL(MS_ERROR_VALUE, "A row has at most %d columns.", MS_DATA_MAX_COLUMN);
    if (e) e->s = s;
    for (int k = 0; st == MS_OK && k < n; k++) {
        Feature *f = &e->feature[k];
        if (feature[k].shape.n > MS_MAX_DIM) {
            st = MS_FAIL(MS_ERROR_VALUE, "The column '%s' has too many axes.", feature[k].name);
            break;
        }
        f->dtype = feature[k].dtype, f->ndim = feature[k].shape.n;
        for (int d = 0; d < f->ndim; d++) f->shape[d] = feature[k].shape.v[d];
        f->name = ms__strdup(feature[k].name);
        name[k] = f->name;
        e->n = k + 1;
        if (!f->name) st = MS_ERROR_MEMORY;
    }
    if (st != MS_OK) {
        if (e)
            example_release(e);
        else
            ms_spans_unref(s);
        ms_sampler_unref(sampler);
        return NULL;
    }
    MsSource source = {.name = "TFRecordDataset",
                       .size = s->n,
                       .random_access = true,
                       .get = example_get,
                       .release = example_release,
                       .ctx = e,
                       .describe = example_describe};
    return ms_dataset_source(&source, n, name, sampler, workers);
}

/* ---- names ---- */

typedef struct Names {
    char *name[MS_DATA_MAX_COLUMN];
    int n;
    size_t total;
} Names;

static MsStatus take_name(void *ctx, Bytes name, int kind, Bytes list)
{
    (void)kind, (void)list;
    Names *s = ctx;
    size_t len = (size_t)(name.end - name.p);
    if (s->n == MS_DATA_MAX_COLUMN)
        return MS_FAIL(MS_ERROR_VALUE, "A row has at most %d columns; name those you need in columns_list.",
                       MS_DATA_MAX_COLUMN);
    char *copy = ms__malloc(len + 1);
    if (!copy) return ms_error()->code;
    memcpy(copy, name.p, len);
    copy[len] = 0;
    s->total += len + 1;
    s->name[s->n++] = copy;
    return MS_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *ms_spans_features(MsSpans *s)
{
    Names names = {.n = 0};
    Bytes b;
    if (s->n == 0)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "Invalid file, there are no rows in '%s'; only a schema could tell the columns.",
                            s->n_file ? s->path[0] : "");
    int mark = ms_scope_begin();
    MsStatus st = record_bytes(s, 0, &b), taken = MS_OK;
    if (st == MS_OK && !entries(b, take_name, &names, &taken)) st = malformed();
    if (st == MS_OK) st = taken;
    ms_scope_end(mark, NULL, 0);
    char *text = st == MS_OK ? ms__malloc(names.total + 1) : NULL;
    if (text) {
        qsort(names.name, (size_t)names.n, sizeof *names.name, by_name);
        char *at = text;
        *at = 0;
        for (int k = 0; k < names.n; k++) at += sprintf(at, "%s%s", k ? "\n" : "", names.name[k]);
    }
    for (int k = 0; k < names.n; k++) free(names.name[k]);
    return text;
}
