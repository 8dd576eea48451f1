/* ckpt.c - checkpoints in MindSpore's .ckpt format, read entry by entry (written by ckpt_write.c).
 *
 * The file is one protobuf message: field 1 repeated, each an entry {1: name, 2: tensor {1: dims, 2: type
 * name, 3: content}}; content beyond 512 MiB goes on in further entries of the same name. A tail "crc_num" +
 * ten bytes (big-endian crc32 of everything before) may follow. We always write it, and in the first entry
 * the number of entries as field 15, which protobuf readers skip: together they reveal flipped bits and a
 * file cut between entries. Files without either still load.
 *
 * Invariant of the reader: no byte is interpreted before its position is checked against the file, and no
 * memory is asked for that the file could not fill. A 1-d tensor without elements and a scalar share dims [0]
 * in this format; the content decides (none = no elements), which older readers take for a scalar 0.
 *
 * Refused: mmap (a file that shrinks would raise SIGBUS) and protobuf-c (a whole-file buffer, 2 GiB limit).
 */
#include "format/ckpt.h"

#include "core/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "checkpoint contents are little-endian");

const char *const ms__ckpt_type[MS_DTYPE_COUNT] = {
    [MS_BOOL] = "Bool",       [MS_INT8] = "Int8",           [MS_INT16] = "Int16",
    [MS_INT32] = "Int32",     [MS_INT64] = "Int64",         [MS_UINT8] = "UInt8",
    [MS_UINT16] = "UInt16",   [MS_UINT32] = "UInt32",       [MS_UINT64] = "UInt64",
    [MS_FLOAT16] = "Float16", [MS_BFLOAT16] = "BFloat16",   [MS_FLOAT32] = "Float32",
    [MS_FLOAT64] = "Float64", [MS_COMPLEX64] = "Complex64", [MS_COMPLEX128] = "Complex128"};

/* ---- reading ---- */

typedef struct Reader {
    const char *path;
    int fd;
    int64_t size; /* where the entries end */
    int64_t at;   /* buf holds [at, at + n) */
    int64_t n;
    uint8_t buf[65536];
} Reader;

typedef struct Field {
    int64_t num;
    int wire;
    uint64_t value;  /* varint */
    int64_t at, len; /* length-delimited */
} Field;

static MsStatus corrupt(const Reader *r, int64_t pos, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return MS_FAIL(
        MS_ERROR_VALUE,
        "Failed to read the checkpoint file %s. The file may be corrupted, and the content cannot be "
        "parsed: byte %lld: %s.",
        r->path, (long long)pos, what);
}

MsStatus ms__ckpt_io_error(const char *verb, const char *path)
{
    return MS_FAIL(MS_ERROR_IO, "Failed to %s the checkpoint file %s: %s.", verb, path, strerror(errno));
}

static MsStatus read_at(const Reader *r, int64_t pos, void *dst, int64_t n)
{
    while (n > 0) {
        ssize_t k = pread(r->fd, dst, (size_t)(n < MS_CKPT_SLICE ? n : MS_CKPT_SLICE), pos);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return ms__ckpt_io_error("read", r->path);
        if (k == 0) return corrupt(r, pos, "the file ends here, %lld bytes early", (long long)n);
        dst = (char *)dst + k;
        pos += k;
        n -= k;
    }
    return MS_OK;
}

static MsStatus byte_at(Reader *r, int64_t pos, uint8_t *byte)
{
    if (pos < r->at || pos >= r->at + r->n) {
        int64_t n = r->size - pos < (int64_t)sizeof r->buf ? r->size - pos : (int64_t)sizeof r->buf;
        r->n = 0;
        MS_TRY(read_at(r, pos, r->buf, n));
        r->at = pos;
        r->n = n;
    }
    *byte = r->buf[pos - r->at];
    return MS_OK;
}

static MsStatus varint(Reader *r, int64_t *pos, int64_t end, uint64_t *v)
{
    *v = 0;
    int64_t start = *pos;
    for (int shift = 0; shift < 70; shift += 7) {
        if (*pos >= end) return corrupt(r, start, "a number is cut off");
        uint8_t b;
        MS_TRY(byte_at(r, *pos, &b));
        ++*pos;
        if (shift == 63 && b > 1) break;
        *v |= (uint64_t)(b & 127) << shift;
        if (!(b & 128)) return MS_OK;
    }
    return corrupt(r, start, "a number has more than 64 bits");
}

/* The field at *pos of a message that ends at `end`; moves past it. */
static MsStatus field(Reader *r, int64_t *pos, int64_t end, Field *f)
{
    int64_t start = *pos;
    uint64_t key;
    MS_TRY(varint(r, pos, end, &key));
    f->num = (int64_t)(key >> 3);
    f->wire = (int)(key & 7);
    f->len = f->wire == 1 ? 8 : f->wire == 5 ? 4 : 0;
    if (f->num == 0) return corrupt(r, start, "a field has number 0");
    switch (f->wire) {
    case 0: return varint(r, pos, end, &f->value);
    case 2:
        MS_TRY(varint(r, pos, end, &f->value));
        if (f->value > (uint64_t)(end - *pos))
            return corrupt(r, start, "field %lld has %llu bytes, but only %lld follow", (long long)f->num,
                           (unsigned long long)f->value, (long long)(end - *pos));
        f->len = (int64_t)f->value; /* fall through */
    case 1:
    case 5:
        if (f->len > end - *pos) return corrupt(r, start, "a field is cut off");
        f->at = *pos;
        *pos += f->len;
        return MS_OK;
    }
    return corrupt(r, start, "wire type %d is not used in checkpoints", f->wire);
}

typedef struct Entry {
    int64_t at;   /* where it starts, for messages */
    char *name;   /* allocated */
    Field tensor; /* len -1: absent */
    Field map;
    int64_t count; /* entries of the file, -1 unless stated */
    int ndim;
    int64_t dims[MS_MAX_DIM];
    char type[32];
    Field content;
} Entry;

static MsStatus text_of(Reader *r, const Field *f, const char *what, int64_t most, char *dst)
{
    if (f->wire != 2 || f->len >= most)
        return corrupt(r, f->at, "the %s is not a text of less than %lld bytes", what, (long long)most);
    MS_TRY(read_at(r, f->at, dst, f->len));
    dst[f->len] = 0;
    if (strlen(dst) != (size_t)f->len) return corrupt(r, f->at, "the %s holds a zero byte", what);
    return MS_OK;
}

int64_t ms__ckpt_not_utf8(const char *s)
{
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        int more = *p < 0x80                 ? 0
                   : *p >= 0xC2 && *p < 0xE0 ? 1
                   : *p >= 0xE0 && *p < 0xF0 ? 2
                   : *p >= 0xF0 && *p < 0xF5 ? 3
                                             : -1;
        if (more < 0) return (const char *)p - s;
        if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90) ||
            (*p == 0xF4 && p[1] > 0x8F))
            return (const char *)p - s;
        for (int k = 1; k <= more; k++)
            if ((p[k] & 0xC0) != 0x80) return (const char *)p - s;
        p += more + 1;
    }
    return -1;
}

static MsStatus add_dim(Reader *r, Entry *e, int64_t pos, uint64_t v)
{
    if (e->ndim == MS_MAX_DIM)
        return corrupt(r, pos, "'%s' has more than %d dimensions", e->name, MS_MAX_DIM);
    if (v > INT64_MAX) return corrupt(r, pos, "'%s' has the negative size %lld", e->name, (long long)v);
    e->dims[e->ndim++] = (int64_t)v;
    return MS_OK;
}

static MsStatus parse_tensor(Reader *r, Entry *e)
{
    int64_t pos = e->tensor.at, end = pos + e->tensor.len;
    bool typed = false;
    e->content.len = -1;
    while (pos < end) {
        Field f;
        int64_t start = pos;
        MS_TRY(field(r, &pos, end, &f));
        if (f.num == 1 && f.wire == 0) {
            MS_TRY(add_dim(r, e, start, f.value));
        } else if (f.num == 1 && f.wire == 2) { /* packed */
            for (int64_t p = f.at; p < f.at + f.len;) {
                uint64_t v;
                MS_TRY(varint(r, &p, f.at + f.len, &v));
                MS_TRY(add_dim(r, e, start, v));
            }
        } else if (f.num == 2) {
            MS_TRY(text_of(r, &f, "type", (int64_t)sizeof e->type, e->type));
            typed = true;
        } else if (f.num == 3 && f.wire == 2) {
            e->content = f;
        } else if (f.num <= 3) {
            return corrupt(r, start, "field %lld of '%s' has wire type %d", (long long)f.num, e->name,
                           f.wire);
        }
    }
    if (!typed || e->content.len < 0)
        return corrupt(r, e->at, "'%s' has no %s", e->name, typed ? "content" : "type");
    return MS_OK;
}

static MsStatus parse_entry(Reader *r, const Field *whole, Entry *e)
{
    int64_t pos = whole->at, end = pos + whole->len;
    bool named = false;
    while (pos < end) {
        Field f;
        int64_t start = pos;
        MS_TRY(field(r, &pos, end, &f));
        if (f.num == 1) {
            if (f.wire != 2 || f.len > MS_CKPT_NAME_MAX)
                return corrupt(r, start, "an entry's name is too long");
            free(e->name);
            e->name = ms__malloc((size_t)f.len + 1);
            if (!e->name) return MS_ERROR_MEMORY;
            MS_TRY(text_of(r, &f, "name", f.len + 1, e->name));
            int64_t bad = ms__ckpt_not_utf8(e->name);
            if (bad >= 0) return corrupt(r, f.at + bad, "an entry's name is not UTF-8");
            named = true;
        } else if (f.num == 2 && f.wire == 2) {
            e->tensor = f;
        } else if (f.num == 3 && f.wire == 2) {
            e->map = f;
        } else if (f.num == MS_CKPT_COUNT_FIELD && f.wire == 0) {
            e->count = f.value > INT_MAX ? INT_MAX : (int64_t)f.value;
        } else if (f.num <= 3) {
            return corrupt(r, start, "field %lld of an entry has wire type %d", (long long)f.num, f.wire);
        }
    }
    if (!named) return corrupt(r, e->at, "an entry has no name");
    if (e->map.len >= 0)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "Failed to read the checkpoint file %s: '%s' is a hash table (maptensor), "
                       "which is not supported.",
                       r->path, e->name);
    if (e->tensor.len < 0) return corrupt(r, e->at, "'%s' has no tensor", e->name);
    return parse_tensor(r, e);
}

static MsDtype dtype_of(const char *type)
{
    for (int k = 0; k < MS_DTYPE_COUNT; k++)
        if (ms__ckpt_type[k] && strcmp(ms__ckpt_type[k], type) == 0) return (MsDtype)k;
    return MS_DTYPE_NONE;
}

/* UTF-32 content -> UTF-8 text. */
static MsStatus load_text(Reader *r, const Entry *e, MsCheckpointItem *item)
{
    if (e->content.len % 4 || e->content.len > MS_CKPT_SLICE)
        return corrupt(r, e->at, "the text '%s' has %lld bytes, not four a character", e->name,
                       (long long)e->content.len);
    int64_t n = e->content.len / 4, len = 0;
    item->text = ms__malloc((size_t)e->content.len + 1);
    uint32_t *code = ms__malloc((size_t)e->content.len + 1);
    MsStatus st = item->text && code ? read_at(r, e->content.at, code, e->content.len) : MS_ERROR_MEMORY;
    while (st == MS_OK && n > 0 && code[n - 1] == 0) n--; /* numpy pads with zeros */
    for (int64_t k = 0; st == MS_OK && k < n; k++) {
        uint32_t u = code[k];
        if (u == 0 || u > 0x10FFFF || (u >= 0xD800 && u < 0xE000)) {
            st = corrupt(r, e->content.at + 4 * k, "the text '%s' holds %#x, which is no character", e->name,
                         u);
            break;
        }
        int more = u < 0x80 ? 0 : u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;
        item->text[len++] = (char)(more ? ((0xF00 >> (more + 1)) & 0xFF) | (u >> (6 * more)) : u);
        for (int m = more - 1; m >= 0; m--) item->text[len++] = (char)(0x80 | ((u >> (6 * m)) & 63));
    }
    if (item->text) item->text[len] = 0;
    free(code);
    item->got = 0;
    return st;
}

/* Makes the tensor of a new entry after checking that the file can fill it. */
static MsStatus new_tensor(Reader *r, Entry *e, MsCheckpointItem *item)
{
    MsDtype dtype = dtype_of(e->type);
    if (dtype == MS_DTYPE_NONE) return corrupt(r, e->at, "'%s' has the unknown type '%s'", e->name, e->type);
    if (e->ndim == 1 && e->dims[0] == 0 && e->content.len > 0) e->ndim = 0;
    int64_t n = ms__numel(e->ndim, e->dims);
    if (n < 0 || n > r->size / (int64_t)ms_dtype_size(dtype)) {
        ms_error_clear();
        return corrupt(r, e->at, "'%s' claims the shape %s, more than the file holds", e->name,
                       ms__shape_text(e->ndim, e->dims));
    }
    MsTensor *t = ms_tensor_empty(dtype, e->ndim, e->dims);
    if (!t) return ms_error()->code;
    item->tensor = ms_tensor_ref(t);
    return MS_OK;
}

static MsStatus load_content(Reader *r, const Entry *e, MsCheckpointItem *item)
{
    MsTensor *t = item->tensor;
    int64_t want = t->numel * (int64_t)ms_dtype_size((MsDtype)t->dtype);
    if (e->content.len > want - item->got)
        return corrupt(r, e->at, "'%s' of shape %s and type %s has more than %lld bytes of content", e->name,
                       ms__shape_text(t->ndim, t->shape), e->type, (long long)want);
    char *dst = t->data + item->got;
    MS_TRY(read_at(r, e->content.at, dst, e->content.len));
    if (t->dtype == MS_BOOL)
        for (int64_t k = 0; k < e->content.len; k++) dst[k] = dst[k] != 0;
    item->got += e->content.len;
    return MS_OK;
}

static int64_t missing_bytes(const MsCheckpointItem *item)
{
    if (!item->tensor) return 0;
    return item->tensor->numel * (int64_t)ms_dtype_size((MsDtype)item->tensor->dtype) - item->got;
}

static MsStatus complete(const Reader *r, const MsCheckpoint *c, int64_t pos)
{
    const MsCheckpointItem *last = c->n ? &c->item[c->n - 1] : NULL;
    if (!last || missing_bytes(last) == 0) return MS_OK;
    return corrupt(r, pos, "'%s' of shape %s lacks %lld bytes of content", last->name,
                   ms__shape_text(last->tensor->ndim, last->tensor->shape), (long long)missing_bytes(last));
}

MsCheckpointItem *ms__ckpt_add(MsCheckpoint *c, char *name)
{
    if (c->n == c->cap) {
        int cap = c->cap ? c->cap * 2 : 32;
        MsCheckpointItem *item = ms__realloc(c->item, (size_t)cap * sizeof *item);
        if (!item) return NULL;
        c->item = item;
        c->cap = cap;
    }
    c->item[c->n] = (MsCheckpointItem){.name = name};
    return &c->item[c->n++];
}

static MsStatus take_entry(Reader *r, MsCheckpoint *c, Entry *e)
{
    MsCheckpointItem *last = c->n ? &c->item[c->n - 1] : NULL;
    if (last && missing_bytes(last) > 0 && strcmp(last->name, e->name) == 0) return load_content(r, e, last);
    MS_TRY(complete(r, c, e->at));
    MsCheckpointItem *item = ms__ckpt_add(c, e->name);
    if (!item) return MS_ERROR_MEMORY;
    e->name = NULL;
    Entry named = *e;
    named.name = item->name;
    if (strcmp(e->type, "str") == 0) return load_text(r, &named, item);
    MS_TRY(new_tensor(r, &named, item));
    return load_content(r, &named, item);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

MsStatus ms__ckpt_names(const char *verb, const char *path, int n, const char *const *name)
{
    if (n < 2) return MS_OK;
    const char **sorted = ms__malloc((size_t)n * sizeof *sorted);
    if (!sorted) return MS_ERROR_MEMORY;
    memcpy(sorted, name, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    MsStatus st = MS_OK;
    for (int k = 1; k < n && st == MS_OK; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0)
            st = MS_FAIL(MS_ERROR_VALUE, "Failed to %s the checkpoint file %s: the name '%s' occurs twice.",
                         verb, path, sorted[k]);
    free(sorted);
    return st;
}

static MsStatus parse_file(Reader *r, MsCheckpoint *c)
{
    int64_t pos = 0, count = -1, seen = 0;
    while (pos < r->size) {
        Field f;
        Entry e = {.at = pos, .count = -1, .tensor.len = -1, .map.len = -1};
        MS_TRY(field(r, &pos, r->size, &f));
        if (f.num != 1 || f.wire != 2) return corrupt(r, e.at, "an entry was expected");
        MsStatus st = parse_entry(r, &f, &e);
        if (st == MS_OK) st = take_entry(r, c, &e);
        free(e.name);
        MS_TRY(st);
        if (e.count >= 0) count = e.count;
        seen++;
    }
    MS_TRY(complete(r, c, r->size));
    if (count >= 0 && seen != count)
        return corrupt(r, r->size, "the file has %lld entries, but was written with %lld", (long long)seen,
                       (long long)count);
    return MS_OK;
}

/* Strips the tail, if there is one, and compares its number. */
static MsStatus check_crc(Reader *r)
{
    uint8_t tail[MS_CKPT_TAIL];
    if (r->size < MS_CKPT_TAIL) return MS_OK;
    MS_TRY(read_at(r, r->size - MS_CKPT_TAIL, tail, MS_CKPT_TAIL));
    if (memcmp(tail, "crc_num", 7) != 0) return MS_OK;
    r->size -= MS_CKPT_TAIL;
    uint64_t want = 0;
    for (int k = 7; k < MS_CKPT_TAIL; k++) want = (want << 8) | tail[k];
    uLong crc = crc32(0, NULL, 0);
    for (int64_t pos = 0; pos < r->size;) {
        int64_t n = r->size - pos < (int64_t)sizeof r->buf ? r->size - pos : (int64_t)sizeof r->buf;
        MS_TRY(read_at(r, pos, r->buf, n));
        crc = crc32(crc, r->buf, (uInt)n);
        pos += n;
    }
    if (tail[7] || tail[8] || want != crc)
        return MS_FAIL(MS_ERROR_VALUE,
                       "Failed to read the checkpoint file %s. The file has been damaged: its crc32 is "
                       "%08lx, but %08llx was written with it.",
                       r->path, crc, (unsigned long long)want);
    return MS_OK;
}

void ms_checkpoint_free(MsCheckpoint *c)
{
    if (!c) return;
    for (int k = 0; k < c->n; k++) {
        free(c->item[k].name);
        free(c->item[k].text);
        ms_tensor_unref(c->item[k].tensor);
    }
    free(c->item);
    free(c);
}

/* r goes on with the decrypted content, a file in memory. */
static MsStatus decrypt(Reader *r, const MsCipher *cipher)
{
    char what[512];
    MsBytes plain = {NULL, 0};
    uint8_t *sealed = ms__malloc((size_t)r->size + 1);
    MsStatus st = sealed ? read_at(r, 0, sealed, r->size) : MS_ERROR_MEMORY;
    snprintf(what, sizeof what, "the checkpoint file %.480s", r->path);
    if (st == MS_OK) st = ms__unseal(cipher, what, sealed, (size_t)r->size, &plain);
    free(sealed);
    int fd = st == MS_OK ? ms__ckpt_memory_file() : -1;
    if (st == MS_OK && fd < 0) st = ms_error()->code;
    for (size_t at = 0; st == MS_OK && at < plain.n;) {
        ssize_t k = write(fd, plain.p + at, plain.n - at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) st = ms__ckpt_io_error("decrypt", r->path);
        at += k > 0 ? (size_t)k : 0;
    }
    free(plain.p);
    if (fd < 0) return st;
    close(r->fd);
    r->fd = fd;
    r->size = (int64_t)plain.n;
    return st;
}

static MsStatus load_file(Reader *r, MsCheckpoint *c, const MsCipher *cipher)
{
    struct stat info;
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) return ms__ckpt_io_error("open", r->path);
    if (fstat(r->fd, &info) != 0) return ms__ckpt_io_error("read", r->path);
    if (!S_ISREG(info.st_mode))
        return MS_FAIL(MS_ERROR_VALUE, "Failed to read the checkpoint file %s: it is not a regular file.",
                       r->path);
    r->size = info.st_size;
    if (cipher) MS_TRY(decrypt(r, cipher));
    MS_TRY(check_crc(r));
    MS_TRY(parse_file(r, c));
    const char **name = ms__malloc((size_t)(c->n + 1) * sizeof *name);
    if (!name) return MS_ERROR_MEMORY;
    for (int k = 0; k < c->n; k++) name[k] = c->item[k].name;
    MsStatus st = ms__ckpt_names("read", r->path, c->n, name);
    free(name);
    return st;
}

MsCheckpoint *ms__checkpoint_load(const char *path, const MsCipher *cipher)
{
    MsCheckpoint *c = ms__calloc(1, sizeof *c);
    Reader *r = c ? ms__calloc(1, sizeof *r) : NULL;
    MsStatus st = MS_ERROR_MEMORY;
    if (r) {
        *r = (Reader){.path = path, .fd = -1};
        int mark = ms_scope_begin();
        st = load_file(r, c, cipher);
        ms_scope_end(mark, NULL, 0);
        if (r->fd >= 0) close(r->fd);
        free(r);
    }
    if (st == MS_OK) return c;
    ms_checkpoint_free(c);
    return NULL;
}

MsCheckpoint *ms_checkpoint_load(const char *path)
{
    return ms__checkpoint_load(path, NULL);
}

int ms_checkpoint_count(const MsCheckpoint *c)
{
    return c->n;
}
const char *ms_checkpoint_name(const MsCheckpoint *c, int k)
{
    return c->item[k].name;
}
const char *ms_checkpoint_text(const MsCheckpoint *c, int k)
{
    return c->item[k].text;
}

MsTensor *ms_checkpoint_tensor(MsCheckpoint *c, int k)
{
    return c->item[k].tensor ? ms__scope_own(ms_tensor_ref(c->item[k].tensor)) : NULL;
}

/* Levenshtein distance, given up (INT_MAX) beyond 255 characters. */
static int distance(const char *a, const char *b)
{
    int row[256], na = (int)strnlen(a, 256), nb = (int)strnlen(b, 256);
    if (na > 255 || nb > 255) return INT_MAX;
    for (int j = 0; j <= nb; j++) row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[nb];
}

MsTensor *ms_checkpoint_find(MsCheckpoint *c, const char *name)
{
    int best = -1, least = INT_MAX;
    for (int k = 0; k < c->n; k++) {
        if (!c->item[k].tensor) continue;
        if (strcmp(c->item[k].name, name) == 0) return ms_checkpoint_tensor(c, k);
        int d = distance(c->item[k].name, name);
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return MS_FAIL_NULL(MS_ERROR_KEY, "The checkpoint has no tensor '%s'%s%s%s.", name,
                        best < 0 ? "" : "; the nearest is '", best < 0 ? "" : c->item[best].name,
                        best < 0 ? "" : "'");
}
