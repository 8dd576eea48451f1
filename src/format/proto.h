/* proto.h - protobuf's wire format: messages read by a table of their fields, and written field by field.
 *
 * A decoded message is the list of its known fields in the order of the file; texts, bytes and packed numbers point into the
 * file's bytes, which must outlive it. Fields that the table does not name are skipped. */
#ifndef MS_FORMAT_PROTO_H
#define MS_FORMAT_PROTO_H
#include "core/error.h"

typedef enum MsProtoKind {
    MS_PROTO_INT, /* every varint: bool, enum, int32, int64, uint64 */
    MS_PROTO_FLOAT,
    MS_PROTO_DOUBLE,
    MS_PROTO_TEXT, /* checked to be UTF-8 */
    MS_PROTO_BYTES,
    MS_PROTO_MESSAGE
} MsProtoKind;

/* A table of fields ends with number 0. */
typedef struct MsProtoField {
    uint8_t number;
    uint8_t kind; /* MsProtoKind */
    bool many;    /* repeated */
    const char *name;
    const struct MsProtoField *of; /* MESSAGE: its table */
} MsProtoField;

typedef struct MsProtoItem {
    const MsProtoField *field;
    union {
        int64_t i;
        double f;
        struct {
            const uint8_t *p;
            size_t n;
        };
        struct MsProtoMessage *m;
    };
} MsProtoItem;

typedef struct MsProtoMessage {
    const MsProtoField *fields;
    MsProtoItem *item;
    int n, cap;
} MsProtoMessage;

/* The message in src[0..n); NULL and an error (VALUE) that names `what` and the byte. */
MS_API_EXPORT MsProtoMessage *ms__proto_decode(const char *what, const MsProtoField *fields,
                                               const uint8_t *src, size_t n);
MS_API_EXPORT void ms__proto_free(MsProtoMessage *m);

/* Bytes being written. A refused allocation is remembered: check `failed` once at the end. */
typedef struct MsProtoBuffer {
    uint8_t *p;
    size_t n, cap;
    bool failed;
} MsProtoBuffer;

void ms__proto_int(MsProtoBuffer *b, int number, int64_t v);
void ms__proto_float(MsProtoBuffer *b, int number, float v);
void ms__proto_double(MsProtoBuffer *b, int number, double v);
void ms__proto_text(MsProtoBuffer *b, int number, const char *s);
void ms__proto_bytes(MsProtoBuffer *b, int number, const void *p, size_t n);
/* A field whose content is another buffer's, which is emptied and freed. */
void ms__proto_message(MsProtoBuffer *b, int number, MsProtoBuffer *content);
/* Adds the bytes of `more`. */
void ms__proto_append(MsProtoBuffer *b, const MsProtoBuffer *more);

#endif
