/* ckpt.h - what the readers and the writers of checkpoints share. */
#ifndef MS_FORMAT_CKPT_H
#define MS_FORMAT_CKPT_H
#include "core/tensor.h"
#include "format/cipher.h"

#define MS_CKPT_SLICE ((int64_t)512 << 20) /* largest content of one entry */
#define MS_CKPT_TAIL 17                    /* "crc_num" and ten bytes */
#define MS_CKPT_NAME_MAX 65536             /* bytes of a name */
#define MS_CKPT_COUNT_FIELD 15             /* in the first entry: how many there are */

typedef struct MsCheckpointItem {
    char *name;
    MsTensor *tensor; /* or text; retained */
    char *text;
    int64_t got; /* bytes of content so far */
} MsCheckpointItem;

struct MsCheckpoint {
    MsCheckpointItem *item;
    int n, cap;
};

/* A new last item that takes `name`; NULL and an error (MEMORY) when refused, then `name` stays the caller's.
 */
MsCheckpointItem *ms__ckpt_add(MsCheckpoint *c, char *name);

/* ms_checkpoint_save and ms_checkpoint_load of files that are encrypted unless `cipher` is NULL. */
MsStatus ms__checkpoint_save(const char *path, int n, const char *const *name, MsTensor *const *tensor,
                             const char *const *text, const MsCipher *cipher);
MsCheckpoint *ms__checkpoint_load(const char *path, const MsCipher *cipher);

/* A file being written: a temporary one beside `path` that replaces it when `body` succeeded. */
typedef struct MsCkptWriter {
    const char *path;
    int fd;            /* -1: only the checksum is wanted */
    unsigned long crc; /* of everything put so far, once flushed */
    size_t n;
    uint8_t buf[65536];
} MsCkptWriter;

MsStatus ms__ckpt_put(MsCkptWriter *w, const void *src, int64_t n);
MsStatus ms__ckpt_flush(MsCkptWriter *w);
/* Elements [from, from + n) of t in row-major order, whatever its strides. */
MsStatus ms__ckpt_put_elements(MsCkptWriter *w, MsTensor *t, int64_t from, int64_t n);
MsStatus ms__ckpt_write_file(const char *path, MsStatus (*body)(MsCkptWriter *w, void *ctx), void *ctx,
                             const MsCipher *cipher);
/* A file of this process's memory; an error (MEMORY) and -1. */
int ms__ckpt_memory_file(void);
/* Name and value of an entry can be saved: UTF-8, concrete, of a dtype that `type` names. */
MsStatus ms__ckpt_check(const char *name, const MsTensor *t, const char *const *type);

/* The format's name of a dtype, NULL where it has none. */
extern const char *const ms__ckpt_type[MS_DTYPE_COUNT];

/* Position of the first byte that is not well-formed UTF-8, or -1. */
int64_t ms__ckpt_not_utf8(const char *s);
/* An error (VALUE) when a name occurs twice; `verb` is what was being done to `path`. */
MsStatus ms__ckpt_names(const char *verb, const char *path, int n, const char *const *name);
MsStatus ms__ckpt_io_error(const char *verb, const char *path); /* raises errno */

#endif
