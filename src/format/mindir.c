/* mindir.c - the messages of the MindIR format (models as MindSpore exports them) and the tensors in them.
 *
 * A model is a root graph, further graphs (branches, loop bodies) and a list of primitives with attributes; nodes name what
 * they use. Weights are in the file, or in files of a folder beside it. Refused: structs per message; who reads a model
 * walks it once, and a table of fields says the same in a third of the text. */
#include "format/mindir.h"

#include "core/mem.h"
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define END                                                                                                  \
    {                                                                                                        \
        0, 0, false, NULL, NULL                                                                              \
    }
#define INT(k, name)                                                                                         \
    {                                                                                                        \
        k, MS_PROTO_INT, false, name, NULL                                                                   \
    }
#define INTS(k, name)                                                                                        \
    {                                                                                                        \
        k, MS_PROTO_INT, true, name, NULL                                                                    \
    }
#define TEXT(k, name)                                                                                        \
    {                                                                                                        \
        k, MS_PROTO_TEXT, false, name, NULL                                                                  \
    }
#define TEXTS(k, name)                                                                                       \
    {                                                                                                        \
        k, MS_PROTO_TEXT, true, name, NULL                                                                   \
    }
#define ONE(k, name, table)                                                                                  \
    {                                                                                                        \
        k, MS_PROTO_MESSAGE, false, name, table                                                              \
    }
#define MANY(k, name, table)                                                                                 \
    {                                                                                                        \
        k, MS_PROTO_MESSAGE, true, name, table                                                               \
    }

static const MsProtoField attribute_fields[];
static const MsProtoField external_fields[] = {TEXT(1, "location"), INT(2, "offset"), INT(3, "length"), END};
const MsProtoField ms__mindir_tensor[] = {INTS(1, "dims"),
                                          INT(2, "data_type"),
                                          {3, MS_PROTO_FLOAT, true, "float_data", NULL},
                                          INTS(4, "int32_data"),
                                          INTS(6, "int64_data"),
                                          TEXT(7, "name"),
                                          {9, MS_PROTO_BYTES, false, "raw_data", NULL},
                                          {10, MS_PROTO_DOUBLE, true, "double_data", NULL},
                                          INTS(11, "uint64_data"),
                                          ONE(12, "external_data", external_fields),
                                          TEXT(13, "ref_key"),
                                          INTS(14, "min_dims"),
                                          INTS(15, "max_dims"),
                                          INT(16, "compression_type"),
                                          END};
static const MsProtoField sequence_fields[] = {INT(1, "is_dyn_len"), ONE(2, "item", attribute_fields), END};
static const MsProtoField attribute_fields[] = {TEXT(1, "name"),
                                                {2, MS_PROTO_FLOAT, false, "f", NULL},
                                                INT(3, "i"),
                                                {4, MS_PROTO_DOUBLE, false, "d", NULL},
                                                TEXT(5, "s"),
                                                ONE(6, "t", ms__mindir_tensor),
                                                {8, MS_PROTO_FLOAT, true, "floats", NULL},
                                                {9, MS_PROTO_DOUBLE, true, "doubles", NULL},
                                                INTS(10, "ints"),
                                                TEXTS(11, "strings"),
                                                MANY(12, "tensors", ms__mindir_tensor),
                                                INT(16, "type"),
                                                MANY(17, "values", attribute_fields),
                                                ONE(18, "seq_info", sequence_fields),
                                                END};
static const MsProtoField value_fields[] = {TEXT(1, "name"), MANY(2, "tensor", ms__mindir_tensor),
                                            TEXT(4, "denotation"), ONE(5, "attr_info", attribute_fields),
                                            END};
static const MsProtoField node_fields[] = {TEXTS(1, "input"),
                                           TEXTS(2, "output"),
                                           TEXT(3, "name"),
                                           TEXT(4, "op_type"),
                                           MANY(5, "attribute", attribute_fields),
                                           TEXT(7, "domain"),
                                           END};
static const MsProtoField graph_fields[] = {MANY(1, "node", node_fields),
                                            TEXT(2, "name"),
                                            MANY(3, "parameter", ms__mindir_tensor),
                                            MANY(5, "input", value_fields),
                                            MANY(6, "output", value_fields),
                                            END};
static const MsProtoField primitive_fields[] = {
    TEXT(1, "name"),          TEXT(2, "op_type"),  MANY(3, "attribute", attribute_fields),
    TEXT(4, "instance_name"), INT(5, "prim_type"), END};
static const MsProtoField user_fields[] = {TEXT(1, "key"), TEXT(2, "value"), END};
const MsProtoField ms__mindir_model[] = {TEXT(1, "ir_version"),
                                         TEXT(2, "producer_name"),
                                         TEXT(5, "model_version"),
                                         ONE(7, "graph", graph_fields),
                                         MANY(8, "functions", graph_fields),
                                         INT(10, "little_endian"),
                                         MANY(12, "primitives", primitive_fields),
                                         INT(13, "mind_ir_version"),
                                         MANY(14, "user_info", user_fields),
                                         END};

static const int8_t number_of[MS_DTYPE_COUNT] = {
    [MS_BOOL] = 9,    [MS_INT8] = 3,     [MS_INT16] = 5,     [MS_INT32] = 6,      [MS_INT64] = 7,
    [MS_UINT8] = 2,   [MS_UINT16] = 4,   [MS_UINT32] = 12,   [MS_UINT64] = 13,    [MS_FLOAT16] = 10,
    [MS_FLOAT32] = 1, [MS_FLOAT64] = 11, [MS_BFLOAT16] = 16, [MS_COMPLEX64] = 14, [MS_COMPLEX128] = 15};

int ms__mindir_dtype(MsDtype dtype)
{
    return dtype >= 0 && dtype < MS_DTYPE_COUNT ? number_of[dtype] : 0;
}

MsDtype ms__mindir_dtype_of(int64_t number)
{
    if (number == 17) return MS_FLOAT64;
    for (int k = 0; k < MS_DTYPE_COUNT; k++)
        if (number_of[k] && number_of[k] == number) return (MsDtype)k;
    return MS_DTYPE_NONE;
}

/* ---- tensors ---- */

static MsStatus external(const MsProtoMessage *m, const char *folder, MsTensor *t, size_t bytes)
{
    char path[4096];
    const MsProtoItem *location = NULL;
    int64_t offset = 0, length = -1;
    for (int k = 0; k < m->n; k++) {
        const MsProtoItem *item = &m->item[k];
        if (item->field->number == 1) location = item;
        if (item->field->number == 2) offset = item->i;
        if (item->field->number == 3) length = item->i;
    }
    char name[1024];
    if (!location || location->n == 0 || location->n >= sizeof name)
        return MS_FAIL(MS_ERROR_VALUE, "A tensor of the model does not name the place of its content.");
    memcpy(name, location->p, location->n);
    name[location->n] = 0;
    if (name[0] == '/' || strstr(name, "..") || strlen(name) != location->n || offset < 0 ||
        length != (int64_t)bytes || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return MS_FAIL(MS_ERROR_VALUE, "A tensor of the model names no proper place for its content: %s.",
                       name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return MS_FAIL(MS_ERROR_IO, "Failed to read the file %s: %s.", path, strerror(errno));
    MsStatus st = MS_OK;
    for (size_t got = 0; st == MS_OK && got < bytes;) {
        ssize_t k = pread(fd, t->data + got, bytes - got, (off_t)(offset + (int64_t)got));
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) st = MS_FAIL(MS_ERROR_IO, "Failed to read %zu bytes of the file %s.", bytes, path);
        got += k > 0 ? (size_t)k : 0;
    }
    close(fd);
    return st;
}

static MsStatus fill(const MsProtoMessage *m, const char *folder, MsTensor *t)
{
    size_t size = ms_dtype_size((MsDtype)t->dtype), bytes = (size_t)t->numel * size;
    for (int k = 0; k < m->n; k++) {
        const MsProtoItem *item = &m->item[k];
        if (item->field->number == 12) return external(item->m, folder, t, bytes);
        if (item->field->number != 9) continue;
        if (item->n != bytes)
            return MS_FAIL(
                MS_ERROR_VALUE, "A tensor of shape %s and type %s has %zu bytes of content, not %zu.",
                ms__shape_text(t->ndim, t->shape), ms_dtype_name((MsDtype)t->dtype), item->n, bytes);
        memcpy(t->data, item->p, bytes);
        if (t->dtype == MS_BOOL)
            for (size_t b = 0; b < bytes; b++) t->data[b] = t->data[b] != 0;
        return MS_OK;
    }
    int64_t n = 0; /* content as numbers, of the kind of the first */
    bool is_float = false;
    MsTensor *v = NULL;
    for (int k = 0; k < m->n && n < t->numel; k++) {
        const MsProtoItem *item = &m->item[k];
        int number = item->field->number;
        if (number != 3 && number != 4 && number != 6 && number != 10 && number != 11) continue;
        if (!v) {
            is_float = number == 3 || number == 10;
            v = ms_tensor_empty(is_float ? MS_FLOAT64 : MS_INT64, t->ndim, t->shape);
            if (!v) return ms_error()->code;
        }
        if (is_float != (number == 3 || number == 10)) break;
        if (is_float)
            ((double *)v->data)[n++] = item->f;
        else
            ((int64_t *)v->data)[n++] = item->i;
    }
    return n == t->numel ? v ? ms_tensor_write(t, v) : MS_OK
                         : MS_FAIL(MS_ERROR_VALUE, "A tensor of shape %s has %lld elements of content.",
                                   ms__shape_text(t->ndim, t->shape), (long long)n);
}

/* How much of content the message can have at most: no memory is asked for that it does not fill. */
static size_t content_bytes(const MsProtoMessage *m)
{
    size_t n = 0;
    for (int k = 0; k < m->n; k++) {
        if (m->item[k].field->number == 9) return m->item[k].n;
        if (m->item[k].field->number == 12)
            for (int j = 0; j < m->item[k].m->n; j++)
                if (m->item[k].m->item[j].field->number == 3) return (size_t)m->item[k].m->item[j].i;
        n += 16;
    }
    return n;
}

MsTensor *ms__mindir_tensor_of(const MsProtoMessage *m, const char *folder)
{
    MsDtype dtype = MS_DTYPE_NONE;
    int64_t shape[MS_MAX_DIM], compression = 0;
    int ndim = 0;
    for (int k = 0; k < m->n; k++) {
        const MsProtoItem *item = &m->item[k];
        if (item->field->number == 2) dtype = ms__mindir_dtype_of(item->i);
        if (item->field->number == 16) compression = item->i;
        if (item->field->number != 1) continue;
        if (ndim == MS_MAX_DIM)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "A tensor of the model has more than %d dimensions.",
                                MS_MAX_DIM);
        shape[ndim++] = item->i;
    }
    if (dtype == MS_DTYPE_NONE)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "A tensor of the model has an unknown type.");
    if (compression)
        return MS_FAIL_NULL(MS_ERROR_NOT_IMPLEMENTED,
                            "A tensor of the model is compressed (type %lld), which is not supported.",
                            (long long)compression);
    int64_t n = ms__numel(ndim, shape);
    if (n < 0) return NULL;
    if ((uint64_t)n > content_bytes(m))
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "A tensor of the model claims the shape %s, more than its content.",
                            ms__shape_text(ndim, shape));
    MsTensor *t = ms_tensor_empty(dtype, ndim, shape);
    return t && fill(m, folder, t) == MS_OK ? t : NULL;
}
