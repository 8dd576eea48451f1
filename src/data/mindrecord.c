/* mindrecord.c - rows of MindRecord files. A row lies in two places: a raw record, u64 length and a msgpack map of the
 * scalar fields, and a blob record, u64 length and the bytes of the blob fields in the order of the schema, each after a
 * big-endian u64 length unless there is only one. Integer arrays are packed: u32 count, two bits of width per value, the
 * values. Where the records lie is told by the index (SQLite), which the skin reads; every offset is checked against the
 * file here. Refused: mapping the files; a file that shrinks would end the process. */
#include "core/mem.h"
#include "core/tensor.h"
#include "data/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Field {
    char *name;
    MsDtype dtype;
    bool blob, array; /* array: has a shape */
    int ndim;
    int64_t shape[MS_MAX_DIM];
} Field;

typedef struct Record {
    int n_file, n_field, n_blob, n_col;
    char **path;
    int *fd;
    int64_t *size;
    Field *field;
    int pick[MS_DATA_MAX_COLUMN]; /* column -> field */
    MsTensor *index, *padded[MS_DATA_MAX_COLUMN];
    int64_t n;
} Record;

static void record_free(void *ctx)
{
    Record *r = ctx;
    for (int k = 0; k < r->n_file; k++) {
        if (r->fd && r->fd[k] >= 0) close(r->fd[k]);
        if (r->path) free(r->path[k]);
    }
    for (int k = 0; r->field && k < r->n_field; k++) free(r->field[k].name);
    for (int k = 0; k < MS_DATA_MAX_COLUMN; k++) ms_tensor_unref(r->padded[k]);
    ms_tensor_unref(r->index);
    free(r->path), free(r->fd), free(r->size), free(r->field);
    free(r);
}

static MsStatus corrupt(const Record *r, int file, const char *what)
{
    return MS_FAIL(MS_ERROR_RUNTIME, "Invalid file, the MindRecord file '%s' is corrupt: %s.", r->path[file],
                   what);
}

/* The content of the record at [at, at + n): after its length. */
static MsStatus read_record(const Record *r, int file, int64_t at, int64_t n, uint8_t **p, uint64_t *len)
{
    if (at < 0 || n < 8 || at > r->size[file] - n) return corrupt(r, file, "a row lies outside the file");
    MsTensor *room = ms_tensor_empty(MS_UINT8, 1, &n);
    if (!room) return ms_error()->code;
    for (int64_t got = 0; got < n;) {
        ssize_t k = pread(r->fd[file], room->data + got, (size_t)(n - got), at + got);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return corrupt(r, file, k < 0 ? strerror(errno) : "it ends in the middle of a row");
        got += k;
    }
    memcpy(len, room->data, 8);
    *p = (uint8_t *)room->data + 8;
    return *len <= (uint64_t)n - 8 ? MS_OK : corrupt(r, file, "the length of a row and the index differ");
}

/* ---- msgpack ---- */

typedef struct Value {
    enum {
        NIL,
        INT,
        FLOAT,
        TEXT
    } kind;
    int64_t i;
    double f;
    const char *s;
    uint32_t n;
} Value;

typedef struct Cursor {
    const uint8_t *p, *end;
} Cursor;

static bool big(Cursor *c, int n, uint64_t *v)
{
    if (c->end - c->p < n) return false;
    for (*v = 0; n > 0; n--) *v = *v << 8 | *c->p++;
    return true;
}

static bool take_text(Cursor *c, uint64_t n, Value *v)
{
    if ((uint64_t)(c->end - c->p) < n) return false;
    *v = (Value){.kind = TEXT, .s = (const char *)c->p, .n = (uint32_t)n};
    c->p += n;
    return true;
}

static bool unpack(Cursor *c, Value *v)
{
    uint64_t x;
    if (c->p == c->end) return false;
    uint8_t t = *c->p++;
    *v = (Value){.kind = INT};
    if (t < 0x80 || t >= 0xe0) return v->i = (int8_t)t, true;
    if (t >= 0xa0 && t < 0xc0) return take_text(c, t & 31, v);
    switch (t) {
    case 0xc0: v->kind = NIL; return true;
    case 0xc2:
    case 0xc3: v->i = t & 1; return true;
    case 0xca:
    case 0xcb: {
        float f;
        v->kind = FLOAT;
        if (!big(c, t == 0xca ? 4 : 8, &x)) return false;
        uint32_t low = (uint32_t)x;
        memcpy(&f, &low, 4);
        memcpy(&v->f, &x, 8);
        if (t == 0xca) v->f = f;
        return true;
    }
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return big(c, 1 << (t - 0xcc), &x) && (v->i = (int64_t)x, true);
    case 0xd0: return big(c, 1, &x) && (v->i = (int8_t)x, true);
    case 0xd1: return big(c, 2, &x) && (v->i = (int16_t)x, true);
    case 0xd2: return big(c, 4, &x) && (v->i = (int32_t)x, true);
    case 0xd3: return big(c, 8, &x) && (v->i = (int64_t)x, true);
    case 0xd9:
    case 0xda:
    case 0xdb: return big(c, 1 << (t - 0xd9), &x) && take_text(c, x, v);
    default: return false; /* arrays and maps do not occur inside a row */
    }
}

static MsTensor *text_tensor(MsDtype dtype, int ndim, const void *s, int64_t n)
{
    int64_t shape[2] = {1, n ? n : 1};
    MsTensor *t = ms_tensor_empty(dtype, ndim, shape + 2 - ndim);
    if (!t) return NULL;
    *t->data = 0;
    if (n) memcpy(t->data, s, (size_t)n);
    return t;
}

static MsTensor *scalar(const Record *r, int file, const Field *f, const Value *v)
{
    if (f->dtype == MS_STRING) {
        if (v->kind == TEXT) return text_tensor(MS_STRING, 1, v->s, v->n);
        corrupt(r, file, "a field of text holds a number");
        return NULL;
    }
    MsTensor *t = v->kind == INT || v->kind == FLOAT ? ms_tensor_empty(f->dtype, 0, NULL) : NULL;
    if (!t) {
        corrupt(r, file, "a field of numbers holds something else");
        return NULL;
    }
    double x = v->kind == INT ? (double)v->i : v->f;
    int64_t i = v->kind == INT ? v->i : x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : 0;
    switch (f->dtype) {
    case MS_INT32: *(int32_t *)t->data = (int32_t)i; break;
    case MS_INT64: *(int64_t *)t->data = i; break;
    case MS_FLOAT32: *(float *)t->data = (float)x; break;
    default: *(double *)t->data = x; break;
    }
    return t;
}

static MsStatus read_raw(const Record *r, int file, int64_t at, int64_t n, MsTensor **column)
{
    uint8_t *p;
    uint64_t len, count;
    MS_TRY(read_record(r, file, at, n, &p, &len));
    Cursor c = {p, p + len};
    if (len == 0) return corrupt(r, file, "a row is empty");
    uint8_t t = *c.p++;
    if ((t & 0xf0) == 0x80)
        count = t & 15;
    else if (t != 0xde && t != 0xdf)
        return corrupt(r, file, "a row is no map");
    else if (!big(&c, t == 0xde ? 2 : 4, &count))
        return corrupt(r, file, "a row is cut");
    while (count--) {
        Value key, v;
        if (!unpack(&c, &key) || key.kind != TEXT || !unpack(&c, &v))
            return corrupt(r, file, "a row cannot be parsed");
        for (int k = 0; k < r->n_col; k++) {
            const Field *f = &r->field[r->pick[k]];
            if (f->blob || strlen(f->name) != key.n || memcmp(f->name, key.s, key.n) != 0) continue;
            if (!(column[k] = scalar(r, file, f, &v))) return ms_error()->code;
        }
    }
    return MS_OK;
}

/* ---- blobs ---- */

static MsTensor *shaped(const Record *r, int file, const Field *f, MsTensor *t)
{
    if (!t) return NULL;
    int64_t shape[MS_MAX_DIM], known = 1, n = t->numel;
    int open = -1;
    memcpy(shape, f->shape, sizeof shape);
    for (int d = 0; d < f->ndim; d++)
        if (shape[d] < 0)
            open = d;
        else if (__builtin_mul_overflow(known, shape[d], &known))
            known = -1;
    if (open >= 0) shape[open] = known > 0 ? n / known : 0;
    if (known < 0 || (open >= 0 ? (known ? n % known : n) : n != known)) {
        corrupt(r, file, "an array does not have the shape that the schema tells");
        return NULL;
    }
    int64_t strides[MS_MAX_DIM];
    ms__row_major(f->ndim, shape, strides);
    return ms__tensor_view(t, f->ndim, shape, strides, 0);
}

/* Values of one, two, four or eight bytes, two bits telling which. */
static MsTensor *unpack_ints(const Record *r, int file, const Field *f, const uint8_t *p, uint64_t len)
{
    const uint8_t *end = p + len, *width = p + 4;
    uint32_t n = 0;
    for (int k = 0; k < 4 && len >= 4; k++) n = n << 8 | p[k];
    if (len < 4 || (uint64_t)(end - width) < (n + 3ull) / 4 + n) {
        corrupt(r, file, "an array of integers is cut");
        return NULL;
    }
    int64_t count = n;
    MsTensor *t = ms_tensor_empty(f->dtype, 1, &count);
    p = width + (n + 3ull) / 4;
    for (uint32_t k = 0; t && k < n; k++) {
        int bits = width[k / 4] >> (6 - 2 * (k % 4)) & 3, bytes = 1 << bits;
        if (end - p < bytes) {
            corrupt(r, file, "an array of integers is cut");
            return NULL;
        }
        uint64_t raw = 0;
        memcpy(&raw, p, (size_t)bytes);
        p += bytes;
        int shift = 64 - 8 * bytes;
        int64_t v = (int64_t)(raw << shift) >> shift;
        if (f->dtype == MS_INT32)
            ((int32_t *)t->data)[k] = (int32_t)v;
        else
            ((int64_t *)t->data)[k] = v;
    }
    return t;
}

static MsTensor *blob(const Record *r, int file, const Field *f, const uint8_t *p, uint64_t len)
{
    if (f->dtype == MS_BYTES) return text_tensor(MS_BYTES, 2, p, (int64_t)len);
    MsTensor *t;
    if (f->dtype == MS_INT32 || f->dtype == MS_INT64) {
        t = unpack_ints(r, file, f, p, len);
    } else {
        size_t size = ms_dtype_size(f->dtype);
        int64_t n = (int64_t)(len / size);
        if (len % size) {
            corrupt(r, file, "an array ends inside a value");
            return NULL;
        }
        t = ms_tensor_empty(f->dtype, 1, &n);
        if (t && n) memcpy(t->data, p, (size_t)len);
    }
    return f->array ? shaped(r, file, f, t) : t;
}

static MsStatus read_blob(const Record *r, int file, int64_t at, int64_t n, MsTensor **column)
{
    uint8_t *p;
    uint64_t len;
    MS_TRY(read_record(r, file, at, n, &p, &len));
    Cursor c = {p, p + len};
    for (int f = 0; f < r->n_field; f++) {
        if (!r->field[f].blob) continue;
        uint64_t size = (uint64_t)(c.end - c.p);
        if (r->n_blob > 1 && (!big(&c, 8, &size) || size > (uint64_t)(c.end - c.p)))
            return corrupt(r, file, "a field is longer than its row");
        for (int k = 0; k < r->n_col; k++)
            if (r->pick[k] == f && !(column[k] = blob(r, file, &r->field[f], c.p, size)))
                return ms_error()->code;
        c.p += size;
    }
    return MS_OK;
}

/* ---- the source ---- */

static MsStatus record_get(void *state, int64_t i, int n, MsTensor **column)
{
    Record *r = state;
    if (i >= r->n) {
        for (int k = 0; k < n; k++) column[k] = r->padded[k];
        return MS_OK;
    }
    const int64_t *at = (const int64_t *)r->index->data + i * 5; /* file, raw, its size, blob, its size */
    int file = (int)at[0];
    bool raw = false, has_blob = false;
    for (int k = 0; k < n; k++) *(r->field[r->pick[k]].blob ? &has_blob : &raw) = true;
    if (raw) MS_TRY(read_raw(r, file, at[1], at[2], column));
    if (has_blob) MS_TRY(read_blob(r, file, at[3], at[4], column));
    for (int k = 0; k < n; k++)
        if (!column[k]) return corrupt(r, file, "a row lacks a field of the schema");
    return MS_OK;
}

static const char *record_describe(void *ctx, int64_t i)
{
    Record *r = ctx;
    return i >= 0 && i < r->n ? r->path[((const int64_t *)r->index->data)[i * 5]] : NULL;
}

static MsStatus record_label(void *ctx, int64_t i, int64_t *label)
{
    Record *r = ctx;
    int mark = ms_scope_begin();
    MsTensor *column[MS_DATA_MAX_COLUMN] = {0}, *wide = NULL;
    int k = 0;
    while (k < r->n_col && strcmp(r->field[r->pick[k]].name, "label") != 0) k++;
    MsStatus st = record_get(r, i, r->n_col, column);
    if (st == MS_OK && k < r->n_col && column[k]->ndim == 0) wide = ms__data_cast(column[k], MS_INT64);
    if (st == MS_OK && !wide)
        st = MS_FAIL(MS_ERROR_RUNTIME, "For 'PKSampler', the class column must hold one number per row.");
    if (wide) *label = *(int64_t *)wide->data;
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus open_files(Record *r, const MsRecordFiles *m)
{
    r->path = ms__calloc((size_t)m->n_file, sizeof *r->path);
    r->fd = ms__malloc((size_t)m->n_file * sizeof *r->fd);
    r->size = ms__calloc((size_t)m->n_file, sizeof *r->size);
    if (!r->path || !r->fd || !r->size) return MS_ERROR_MEMORY;
    for (; r->n_file < m->n_file; r->n_file++) {
        struct stat info;
        int k = r->n_file;
        r->fd[k] = open(m->path[k], O_RDONLY | O_CLOEXEC);
        r->path[k] = ms__strdup(m->path[k]);
        if (r->fd[k] < 0 || fstat(r->fd[k], &info) != 0)
            return MS_FAIL(MS_ERROR_RUNTIME, "Invalid file, failed to open the MindRecord file '%s': %s.",
                           m->path[k], strerror(errno));
        if (!r->path[k]) return r->n_file++, MS_ERROR_MEMORY;
        r->size[k] = info.st_size;
    }
    return MS_OK;
}

static MsStatus set_fields(Record *r, const MsRecordFiles *m)
{
    r->field = ms__calloc((size_t)m->n_field, sizeof *r->field);
    if (!r->field) return MS_ERROR_MEMORY;
    r->n_field = m->n_field;
    for (int k = 0; k < m->n_field; k++) {
        const MsRecordField *from = &m->field[k];
        Field *f = &r->field[k];
        *f = (Field){
            .dtype = from->dtype, .blob = from->blob, .array = from->shape.n >= 0, .ndim = from->shape.n};
        f->name = ms__strdup(from->name);
        if (!f->name) return MS_ERROR_MEMORY;
        if (from->shape.n > MS_MAX_DIM)
            return MS_FAIL(MS_ERROR_VALUE, "The field '%s' has too many axes.", f->name);
        for (int d = 0; d < from->shape.n; d++) f->shape[d] = from->shape.v[d];
        r->n_blob += f->blob;
    }
    return MS_OK;
}

MsDataset *ms_dataset_mindrecord(const MsRecordFiles *m, MsSampler *sampler, int workers)
{
    Record *r = ms__calloc(1, sizeof *r);
    MsStatus st = r ? open_files(r, m) : MS_ERROR_MEMORY;
    if (st == MS_OK) st = set_fields(r, m);
    const char *name[MS_DATA_MAX_COLUMN];
    if (st == MS_OK && m->n_col > MS_DATA_MAX_COLUMN)
        st = MS_FAIL(MS_ERROR_VALUE, "A row has at most %d columns.", MS_DATA_MAX_COLUMN);
    for (int k = 0; st == MS_OK && k < m->n_col; k++) {
        r->pick[k] = m->column[k];
        name[k] = r->field[m->column[k]].name;
        if (m->n_padded) r->padded[k] = ms_tensor_ref(m->padded[k]);
    }
    if (st == MS_OK) {
        r->n_col = m->n_col;
        r->index = ms_tensor_ref(m->index);
        r->n = m->index->shape[0];
        const int64_t *at = (const int64_t *)r->index->data;
        for (int64_t i = 0; st == MS_OK && i < r->n; i++)
            if (at[i * 5] < 0 || at[i * 5] >= r->n_file) st = MS_FAIL(MS_ERROR_INDEX, "A row names no file.");
    }
    if (st != MS_OK) {
        if (r) record_free(r);
        ms_sampler_unref(sampler);
        return NULL;
    }
    MsSource source = {.name = "MindDataset",
                       .size = r->n + m->n_padded,
                       .random_access = true,
                       .get = record_get,
                       .release = record_free,
                       .ctx = r,
                       .label = record_label,
                       .describe = record_describe};
    return ms_dataset_source(&source, r->n_col, name, sampler, workers);
}
