/* proto.c - reading and writing protobuf's wire format (https://protobuf.dev/programming-guides/encoding).
 *
 * Invariant of the reader: no byte is looked at before its position is compared with the end of the innermost message, and
 * nesting is limited, so that no input can exhaust the stack. Refused: generated code and a library for it; the three
 * formats that need this are three tables of fields. */
#include "format/proto.h"

#include "core/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 48

typedef struct Reader {
    const char *what;
    const uint8_t *start;
} Reader;

static MsStatus corrupt(const Reader *r, const uint8_t *p, const char *why)
{
    return MS_FAIL(MS_ERROR_VALUE, "%s is damaged or of another kind: byte %lld: %s.", r->what,
                   (long long)(p - r->start), why);
}

static MsStatus varint(const Reader *r, const uint8_t **p, const uint8_t *end, uint64_t *v)
{
    const uint8_t *start = *p;
    *v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (*p == end) return corrupt(r, start, "a number is cut off");
        uint8_t b = *(*p)++;
        if (shift == 63 && b > 1) break;
        *v |= (uint64_t)(b & 127) << shift;
        if (!(b & 128)) return MS_OK;
    }
    return corrupt(r, start, "a number has more than 64 bits");
}

static bool is_utf8(const uint8_t *p, size_t n)
{
    for (const uint8_t *end = p + n; p < end;) {
        int more = *p < 0x80                 ? 0
                   : *p >= 0xC2 && *p < 0xE0 ? 1
                   : *p >= 0xE0 && *p < 0xF0 ? 2
                   : *p >= 0xF0 && *p < 0xF5 ? 3
                                             : -1;
        if (more < 0 || more >= end - p) return false;
        for (int k = 1; k <= more; k++)
            if ((p[k] & 0xC0) != 0x80) return false;
        if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90) ||
            (*p == 0xF4 && p[1] > 0x8F))
            return false;
        p += more + 1;
    }
    return true;
}

static MsProtoItem *add(MsProtoMessage *m, const MsProtoField *field)
{
    if (m->n == m->cap) {
        int cap = m->cap ? m->cap * 2 : 4;
        MsProtoItem *item = ms__realloc(m->item, (size_t)cap * sizeof *item);
        if (!item) return NULL;
        m->item = item;
        m->cap = cap;
    }
    m->item[m->n] = (MsProtoItem){.field = field};
    return &m->item[m->n++];
}

static MsStatus message(const Reader *r, const MsProtoField *fields, const uint8_t *p, const uint8_t *end,
                        int depth, MsProtoMessage **out);

static MsStatus number(const Reader *r, MsProtoMessage *m, const MsProtoField *field, const uint8_t **p,
                       const uint8_t *end)
{
    MsProtoItem *item = add(m, field);
    if (!item) return MS_ERROR_MEMORY;
    if (field->kind == MS_PROTO_INT) {
        uint64_t v;
        MS_TRY(varint(r, p, end, &v));
        item->i = (int64_t)v;
        return MS_OK;
    }
    size_t n = field->kind == MS_PROTO_FLOAT ? 4 : 8;
    if ((size_t)(end - *p) < n) return corrupt(r, *p, "a number is cut off");
    float f;
    if (n == 4) {
        memcpy(&f, *p, 4);
        item->f = f;
    } else {
        memcpy(&item->f, *p, 8);
    }
    *p += n;
    return MS_OK;
}

/* The content of a field of length n at p. */
static MsStatus content(const Reader *r, MsProtoMessage *m, const MsProtoField *field, const uint8_t *p,
                        size_t n, int depth)
{
    if (field->kind < MS_PROTO_TEXT) { /* numbers, packed */
        for (const uint8_t *end = p + n; p < end;) MS_TRY(number(r, m, field, &p, end));
        return MS_OK;
    }
    MsProtoItem *item = add(m, field);
    if (!item) return MS_ERROR_MEMORY;
    if (field->kind == MS_PROTO_MESSAGE) {
        MsProtoMessage *inner = NULL;
        MsStatus st = message(r, field->of, p, p + n, depth + 1, &inner);
        item->m = inner;
        return st;
    }
    if (field->kind == MS_PROTO_TEXT && !is_utf8(p, n)) return corrupt(r, p, "a text is not UTF-8");
    item->p = p;
    item->n = n;
    return MS_OK;
}

static MsStatus body(const Reader *r, MsProtoMessage *m, const uint8_t *p, const uint8_t *end, int depth)
{
    static const uint8_t wire_of[] = {0, 5, 1, 2, 2, 2};
    while (p < end) {
        const uint8_t *start = p;
        uint64_t key, n = 0;
        MS_TRY(varint(r, &p, end, &key));
        const MsProtoField *field = m->fields;
        while (field->number && field->number != key >> 3) field++;
        int wire = (int)(key & 7);
        if (key >> 3 == 0) return corrupt(r, start, "a field has number 0");
        if (wire == 3 || wire == 4 || wire > 5) return corrupt(r, start, "a field has an unknown wire type");
        if (field->number && wire != wire_of[field->kind] && !(wire == 2 && field->kind < MS_PROTO_TEXT))
            return corrupt(r, start, "a field has another wire type than its kind");
        if (field->number && wire != 2) {
            MS_TRY(number(r, m, field, &p, end));
            continue;
        }
        if (wire == 0 || wire == 2) MS_TRY(varint(r, &p, end, &n));
        if (wire == 0) continue;
        if (wire != 2) n = wire == 1 ? 8 : 4;
        if (n > (uint64_t)(end - p)) return corrupt(r, start, "a field is longer than what follows");
        if (field->number) MS_TRY(content(r, m, field, p, (size_t)n, depth));
        p += n;
    }
    return MS_OK;
}

static MsStatus message(const Reader *r, const MsProtoField *fields, const uint8_t *p, const uint8_t *end,
                        int depth, MsProtoMessage **out)
{
    if (depth > MAX_DEPTH) return corrupt(r, p, "messages are nested too deeply");
    *out = ms__calloc(1, sizeof **out);
    if (!*out) return MS_ERROR_MEMORY;
    (*out)->fields = fields;
    return body(r, *out, p, end, depth);
}

MsProtoMessage *ms__proto_decode(const char *what, const MsProtoField *fields, const uint8_t *src, size_t n)
{
    Reader r = {what, src};
    MsProtoMessage *m = NULL;
    if (message(&r, fields, src, src + n, 0, &m) == MS_OK) return m;
    ms__proto_free(m);
    return NULL;
}

void ms__proto_free(MsProtoMessage *m)
{
    for (int k = 0; m && k < m->n; k++)
        if (m->item[k].field->kind == MS_PROTO_MESSAGE) ms__proto_free(m->item[k].m);
    if (m) free(m->item);
    free(m);
}

/* ---- writing ---- */

static uint8_t *room(MsProtoBuffer *b, size_t n)
{
    if (b->failed) return NULL;
    if (n > b->cap - b->n) {
        size_t cap = b->cap ? b->cap * 2 : 256;
        if (cap < b->n + n) cap = b->n + n;
        uint8_t *p = ms__realloc(b->p, cap);
        b->failed = !p;
        if (!p) return NULL;
        b->p = p;
        b->cap = cap;
    }
    uint8_t *at = b->p + b->n;
    b->n += n;
    return at;
}

static void put_varint(MsProtoBuffer *b, uint64_t v)
{
    uint8_t text[10];
    size_t n = 0;
    do text[n++] = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
    while (v >>= 7);
    uint8_t *at = room(b, n);
    if (at) memcpy(at, text, n);
}

static void put_fixed(MsProtoBuffer *b, int number, int wire, const void *v, size_t n)
{
    put_varint(b, (uint64_t)number << 3 | (uint64_t)wire);
    uint8_t *at = room(b, n);
    if (at) memcpy(at, v, n);
}

void ms__proto_int(MsProtoBuffer *b, int number, int64_t v)
{
    put_varint(b, (uint64_t)number << 3);
    put_varint(b, (uint64_t)v);
}

void ms__proto_float(MsProtoBuffer *b, int number, float v)
{
    put_fixed(b, number, 5, &v, sizeof v);
}

void ms__proto_double(MsProtoBuffer *b, int number, double v)
{
    put_fixed(b, number, 1, &v, sizeof v);
}

void ms__proto_bytes(MsProtoBuffer *b, int number, const void *p, size_t n)
{
    put_varint(b, (uint64_t)number << 3 | 2);
    put_varint(b, n);
    uint8_t *at = n ? room(b, n) : NULL;
    if (at) memcpy(at, p, n);
}

void ms__proto_text(MsProtoBuffer *b, int number, const char *s)
{
    ms__proto_bytes(b, number, s, strlen(s));
}

void ms__proto_message(MsProtoBuffer *b, int number, MsProtoBuffer *inner)
{
    if (inner->failed)
        b->failed = true;
    else
        ms__proto_bytes(b, number, inner->p, inner->n);
    free(inner->p);
    *inner = (MsProtoBuffer){0};
}

void ms__proto_append(MsProtoBuffer *b, const MsProtoBuffer *more)
{
    uint8_t *at = more->n ? room(b, more->n) : NULL;
    if (at) memcpy(at, more->p, more->n);
    b->failed |= more->failed;
}
