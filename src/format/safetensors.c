/* safetensors.c - checkpoints in the safetensors format: u64 length of a JSON header, the header (name ->
 * dtype, shape, data_offsets), the data. As MindSpore does, we write names in sorted order, pad the header to
 * 8 bytes and add "crc_num", the crc32 over every name and its data in that order; here always, so that
 * damage is found by default.
 *
 * Invariant of the reader: every offset is checked against the file and its tensor's size before it is used.
 * The JSON parser takes what such headers hold (objects, arrays, strings, numbers, true, false, null) to a
 * fixed depth. */
#include "format/ckpt.h"

#include "core/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEADER_MAX ((int64_t)100 << 20)

static const char *const type_name[MS_DTYPE_COUNT] = {
    [MS_BOOL] = "BOOL",   [MS_INT8] = "I8",      [MS_INT16] = "I16",     [MS_INT32] = "I32",
    [MS_INT64] = "I64",   [MS_UINT8] = "U8",     [MS_UINT16] = "U16",    [MS_UINT32] = "U32",
    [MS_UINT64] = "U64",  [MS_FLOAT16] = "F16",  [MS_BFLOAT16] = "BF16", [MS_FLOAT32] = "F32",
    [MS_FLOAT64] = "F64", [MS_COMPLEX64] = "C64"};

/* ---- writing ---- */

typedef struct Named {
    const char *name;
    MsTensor *tensor;
} Named;

typedef struct Entries {
    int n;
    Named *e; /* by name */
} Entries;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const Named *)a)->name, ((const Named *)b)->name);
}

/* A growing text; `failed` once memory was refused. */
typedef struct Text {
    char *s;
    size_t n, cap;
    bool failed;
} Text;

static void add(Text *t, const char *s, size_t n)
{
    if (t->failed) return;
    if (t->n + n > t->cap) {
        size_t cap = (t->n + n) * 2;
        char *grown = ms__realloc(t->s, cap);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->s = grown;
        t->cap = cap;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
}

static void addf(Text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void addf(Text *t, const char *fmt, ...)
{
    char buf[64];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    add(t, buf, (size_t)n);
}

static void add_string(Text *t, const char *s)
{
    add(t, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            add(t, "\\", 1);
            add(t, s, 1);
        } else if ((unsigned char)*s < 0x20)
            addf(t, "\\u%04x", *s);
        else
            add(t, s, 1);
    }
    add(t, "\"", 1);
}

static int64_t bytes_of(const MsTensor *t)
{
    return t->numel * (int64_t)ms_dtype_size((MsDtype)t->dtype);
}

/* crc32 over name and data of every entry: the data go through a writer's buffer that is thrown away. */
static MsStatus checksum(const Entries *e, uLong *crc)
{
    *crc = crc32(0, NULL, 0);
    for (int k = 0; k < e->n; k++) {
        const char *name = e->e[k].name;
        MsTensor *t = e->e[k].tensor;
        *crc = crc32(*crc, (const Bytef *)name, (uInt)strlen(name));
        MsCkptWriter *w = ms__malloc(sizeof *w);
        if (!w) return MS_ERROR_MEMORY;
        *w = (MsCkptWriter){.path = "", .fd = -1, .crc = *crc};
        MsStatus st = ms__ckpt_put_elements(w, t, 0, t->numel);
        if (st == MS_OK) st = ms__ckpt_flush(w);
        *crc = w->crc;
        free(w);
        MS_TRY(st);
    }
    return MS_OK;
}

static MsStatus save_entries(MsCkptWriter *w, void *ctx)
{
    const Entries *e = ctx;
    uLong crc;
    MS_TRY(checksum(e, &crc));
    Text h = {0};
    addf(&h, "{\"__metadata__\":{\"format\":\"ms\",\"crc_num\":\"%lu\"}", crc);
    int64_t at = 0;
    for (int k = 0; k < e->n; k++) {
        const MsTensor *t = e->e[k].tensor;
        addf(&h, ",");
        add_string(&h, e->e[k].name);
        addf(&h, ":{\"dtype\":\"%s\",\"shape\":[", type_name[t->dtype]);
        for (int d = 0; d < t->ndim; d++) addf(&h, d ? ",%lld" : "%lld", (long long)t->shape[d]);
        addf(&h, "],\"data_offsets\":[%lld,%lld]}", (long long)at, (long long)(at + bytes_of(t)));
        at += bytes_of(t);
    }
    addf(&h, "}");
    while (!h.failed && h.n % 8) add(&h, " ", 1);
    uint64_t n = h.n;
    MsStatus st = h.failed ? MS_ERROR_MEMORY : ms__ckpt_put(w, &n, 8);
    if (st == MS_OK) st = ms__ckpt_put(w, h.s, (int64_t)h.n);
    free(h.s);
    for (int k = 0; k < e->n && st == MS_OK; k++)
        st = ms__ckpt_put_elements(w, e->e[k].tensor, 0, e->e[k].tensor->numel);
    return st;
}

MsStatus ms_safetensors_save(const char *path, int n, const char *const *name, MsTensor *const *tensor)
{
    for (int k = 0; k < n; k++) {
        MS_TRY(ms__ckpt_check(name[k], tensor[k], type_name));
        if (strcmp(name[k], "__metadata__") == 0)
            return MS_FAIL(MS_ERROR_VALUE, "The name '__metadata__' is reserved in safetensors files.");
    }
    MS_TRY(ms__ckpt_names("write", path, n, name));
    Entries e = {n, ms__malloc((size_t)(n + 1) * sizeof(Named))};
    if (!e.e) return MS_ERROR_MEMORY;
    for (int k = 0; k < n; k++) e.e[k] = (Named){name[k], tensor[k]};
    qsort(e.e, (size_t)n, sizeof *e.e, by_name);
    MsStatus st = ms__ckpt_write_file(path, save_entries, &e, NULL);
    free(e.e);
    return st;
}

/* ---- reading ---- */

typedef struct Json {
    const char *path, *s;
    int64_t n, at;
} Json;

static MsStatus corrupt(const Json *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static MsStatus corrupt(const Json *j, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return MS_FAIL(MS_ERROR_VALUE,
                   "Failed to read the checkpoint file %s. The file may be corrupted, and the content cannot "
                   "be parsed: byte %lld: %s.",
                   j->path, (long long)j->at, what);
}

static char peek(Json *j)
{
    while (j->at < j->n && strchr(" \t\r\n", j->s[j->at]) && j->s[j->at]) j->at++;
    return j->at < j->n ? j->s[j->at] : 0;
}

static bool accept(Json *j, char c)
{
    if (peek(j) != c) return false;
    j->at++;
    return true;
}

static MsStatus expect(Json *j, char c)
{
    return accept(j, c) ? MS_OK : corrupt(j, "'%c' was expected", c);
}

static MsStatus hex4(Json *j, uint32_t *u)
{
    *u = 0;
    for (int k = 0; k < 4; k++, j->at++) {
        char c = j->at < j->n ? j->s[j->at] : 0;
        int v = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (v < 0) return corrupt(j, "a hexadecimal digit was expected");
        *u = *u << 4 | (uint32_t)v;
    }
    return MS_OK;
}

static MsStatus escaped(Json *j, Text *t)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = j->at < j->n ? j->s[j->at++] : 0;
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        add(t, &to[found - from], 1);
        return MS_OK;
    }
    if (c != 'u') return corrupt(j, "an unknown escape");
    uint32_t u, low;
    MS_TRY(hex4(j, &u));
    if (u >= 0xD800 && u < 0xDC00) {
        if (j->at + 1 >= j->n || j->s[j->at] != '\\' || j->s[j->at + 1] != 'u')
            return corrupt(j, "half a character");
        j->at += 2;
        MS_TRY(hex4(j, &low));
        if (low < 0xDC00 || low > 0xDFFF) return corrupt(j, "half a character");
        u = 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00);
    } else if (u == 0 || (u >= 0xDC00 && u < 0xE000))
        return corrupt(j, "an escape that is no character");
    int more = u < 0x80 ? 0 : u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;
    char lead = (char)(more ? ((0xF00 >> (more + 1)) & 0xFF) | (u >> (6 * more)) : u);
    add(t, &lead, 1);
    for (int m = more - 1; m >= 0; m--) add(t, &(char){(char)(0x80 | ((u >> (6 * m)) & 63))}, 1);
    return MS_OK;
}

/* A JSON string as a C string that the caller frees. */
static MsStatus string(Json *j, char **out)
{
    MS_TRY(expect(j, '"'));
    Text t = {0};
    MsStatus st = MS_OK;
    while (st == MS_OK) {
        char c = j->at < j->n ? j->s[j->at] : 0;
        if ((unsigned char)c < 0x20) st = corrupt(j, "a text is cut off or holds a control character");
        j->at++;
        if (c == '"') break;
        if (c == '\\')
            st = escaped(j, &t);
        else
            add(&t, &c, 1);
    }
    add(&t, "", 1);
    if (st == MS_OK && t.failed) st = MS_ERROR_MEMORY;
    if (st == MS_OK && ms__ckpt_not_utf8(t.s) >= 0) st = corrupt(j, "a text is not UTF-8");
    if (st != MS_OK)
        free(t.s);
    else
        *out = t.s;
    return st;
}

static MsStatus number(Json *j, int64_t *v)
{
    char c = peek(j);
    if (c < '0' || c > '9') return corrupt(j, "a number was expected");
    for (*v = 0; j->at < j->n && j->s[j->at] >= '0' && j->s[j->at] <= '9'; j->at++) {
        if (*v > (INT64_MAX - 9) / 10) return corrupt(j, "a number is too large");
        *v = *v * 10 + (j->s[j->at] - '0');
    }
    return MS_OK;
}

static MsStatus numbers(Json *j, int64_t *v, int cap, int *n)
{
    MS_TRY(expect(j, '['));
    for (*n = 0; !accept(j, ']'); (*n)++) {
        if (*n) MS_TRY(expect(j, ','));
        if (*n == cap) return corrupt(j, "a list has more than %d elements", cap);
        MS_TRY(number(j, &v[*n]));
    }
    return MS_OK;
}

typedef struct Found {
    MsDtype dtype;
    int ndim, n_offsets;
    int64_t shape[MS_MAX_DIM], offset[2];
} Found;

static MsStatus tensor_field(Json *j, const char *key, Found *f)
{
    if (strcmp(key, "shape") == 0) return numbers(j, f->shape, MS_MAX_DIM, &f->ndim);
    if (strcmp(key, "data_offsets") == 0) return numbers(j, f->offset, 2, &f->n_offsets);
    if (strcmp(key, "dtype") != 0) return corrupt(j, "the field '%.40s' is unknown", key);
    char *type = NULL;
    MS_TRY(string(j, &type));
    for (int k = 0; k < MS_DTYPE_COUNT; k++)
        if (type_name[k] && strcmp(type_name[k], type) == 0) f->dtype = (MsDtype)k;
    MsStatus st = f->dtype == MS_DTYPE_NONE ? corrupt(j, "the type '%.40s' is unknown", type) : MS_OK;
    free(type);
    return st;
}

/* {"key": value, ...} through `take`, which consumes the value. */
static MsStatus object(Json *j, MsStatus (*take)(Json *j, char *key, void *ctx), void *ctx)
{
    MS_TRY(expect(j, '{'));
    for (bool first = true; !accept(j, '}'); first = false) {
        if (!first) MS_TRY(expect(j, ','));
        char *key = NULL;
        MS_TRY(string(j, &key));
        MsStatus st = expect(j, ':');
        if (st == MS_OK) st = take(j, key, ctx);
        free(key);
        MS_TRY(st);
    }
    return MS_OK;
}

static MsStatus take_field(Json *j, char *key, void *ctx)
{
    return tensor_field(j, key, ctx);
}

typedef struct Reader {
    MsCheckpoint *c;
    int fd;
    int64_t begin, size; /* of the data within the file */
    bool has_crc;
    int64_t crc;
} Reader;

static MsStatus take_metadata(Json *j, char *key, void *ctx)
{
    Reader *r = ctx;
    char *value = NULL;
    MS_TRY(string(j, &value));
    if (strcmp(key, "crc_num") == 0) {
        char *end;
        r->has_crc = true;
        r->crc = strtoll(value, &end, 10);
        if (*end) r->crc = -1;
    }
    free(value);
    return MS_OK;
}

static MsStatus read_at(const Json *j, int fd, int64_t pos, void *dst, int64_t n)
{
    while (n > 0) {
        ssize_t k = pread(fd, dst, (size_t)(n < MS_CKPT_SLICE ? n : MS_CKPT_SLICE), pos);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return ms__ckpt_io_error("read", j->path);
        if (k == 0) return corrupt(j, "the file ends early");
        dst = (char *)dst + k;
        pos += k;
        n -= k;
    }
    return MS_OK;
}

static MsStatus take_tensor(Json *j, char *key, void *ctx)
{
    Reader *r = ctx;
    if (strcmp(key, "__metadata__") == 0) return object(j, take_metadata, r);
    Found f = {.dtype = MS_DTYPE_NONE, .ndim = -1};
    MS_TRY(object(j, take_field, &f));
    if (f.dtype == MS_DTYPE_NONE || f.ndim < 0 || f.n_offsets != 2)
        return corrupt(j, "'%.100s' lacks dtype, shape or data_offsets", key);
    if (f.offset[0] > f.offset[1] || f.offset[1] > r->size)
        return corrupt(j, "'%.100s' lies outside the file", key);
    int64_t n = ms__numel(f.ndim, f.shape), size = f.offset[1] - f.offset[0];
    if (n < 0) ms_error_clear();
    if (n < 0 || size / (int64_t)ms_dtype_size(f.dtype) != n || size % (int64_t)ms_dtype_size(f.dtype))
        return corrupt(j, "'%.100s' of shape %s has %lld bytes", key, ms__shape_text(f.ndim, f.shape),
                       (long long)size);
    MsTensor *t = ms_tensor_empty(f.dtype, f.ndim, f.shape);
    if (!t) return ms_error()->code;
    MS_TRY(read_at(j, r->fd, r->begin + f.offset[0], t->data, size));
    char *name = ms__strdup(key);
    MsCheckpointItem *item = name ? ms__ckpt_add(r->c, name) : NULL;
    if (!item) {
        free(name);
        return MS_ERROR_MEMORY;
    }
    item->tensor = ms_tensor_ref(t);
    return MS_OK;
}

static MsStatus check_loaded(const Json *j, const Reader *r)
{
    const MsCheckpoint *c = r->c;
    Entries e = {c->n, ms__malloc((size_t)(c->n + 1) * sizeof(Named))};
    if (!e.e) return MS_ERROR_MEMORY;
    for (int k = 0; k < c->n; k++) e.e[k] = (Named){c->item[k].name, c->item[k].tensor};
    qsort(e.e, (size_t)c->n, sizeof *e.e, by_name);
    MsStatus st = MS_OK;
    for (int k = 1; k < c->n && st == MS_OK; k++)
        if (strcmp(e.e[k - 1].name, e.e[k].name) == 0)
            st = corrupt(j, "the name '%.100s' occurs twice", e.e[k].name);
    uLong crc = 0;
    if (st == MS_OK && r->has_crc) st = checksum(&e, &crc);
    if (st == MS_OK && r->has_crc && (int64_t)crc != r->crc)
        st = MS_FAIL(MS_ERROR_VALUE,
                     "Failed to read the checkpoint file %s. The file has been damaged: its crc32 is %lu, "
                     "but %lld was "
                     "written with it.",
                     j->path, crc, (long long)r->crc);
    for (int k = 0; st == MS_OK && k < c->n; k++) { /* after the checksum, which is over the stored bytes */
        MsTensor *t = c->item[k].tensor;
        for (int64_t i = 0; t->dtype == MS_BOOL && i < t->numel; i++) t->data[i] = t->data[i] != 0;
    }
    free(e.e);
    return st;
}

static MsStatus load_file(Json *j, Reader *r, char **header)
{
    struct stat info;
    uint64_t n;
    r->fd = open(j->path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) return ms__ckpt_io_error("open", j->path);
    if (fstat(r->fd, &info) != 0) return ms__ckpt_io_error("read", j->path);
    if (!S_ISREG(info.st_mode))
        return MS_FAIL(MS_ERROR_VALUE, "Failed to read the checkpoint file %s: it is not a regular file.",
                       j->path);
    if (info.st_size < 10) return corrupt(j, "the file is too short for a safetensors header");
    MS_TRY(read_at(j, r->fd, 0, &n, 8));
    if (n > (uint64_t)(info.st_size - 8) || n > (uint64_t)HEADER_MAX)
        return corrupt(j, "the header claims %llu bytes", (unsigned long long)n);
    r->begin = 8 + (int64_t)n;
    r->size = info.st_size - r->begin;
    *header = ms__malloc((size_t)n + 1);
    if (!*header) return MS_ERROR_MEMORY;
    MS_TRY(read_at(j, r->fd, 8, *header, (int64_t)n));
    j->s = *header;
    j->n = (int64_t)n;
    MS_TRY(object(j, take_tensor, r));
    if (peek(j)) return corrupt(j, "something follows the header");
    return check_loaded(j, r);
}

MsCheckpoint *ms_safetensors_load(const char *path)
{
    MsCheckpoint *c = ms__calloc(1, sizeof *c);
    if (!c) return NULL;
    Json j = {.path = path};
    Reader r = {.c = c, .fd = -1};
    char *header = NULL;
    int mark = ms_scope_begin();
    MsStatus st = load_file(&j, &r, &header);
    ms_scope_end(mark, NULL, 0);
    if (r.fd >= 0) close(r.fd);
    free(header);
    if (st == MS_OK) return c;
    ms_checkpoint_free(c);
    return NULL;
}
