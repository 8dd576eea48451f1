/* ckpt.h - what the reader and the writer of checkpoints share. */
#ifndef MS_FORMAT_CKPT_H
#define MS_FORMAT_CKPT_H
#include "core/tensor.h"

#define MS_CKPT_SLICE ((int64_t)512 << 20) /* largest content of one entry */
#define MS_CKPT_TAIL 17                    /* "crc_num" and ten bytes */
#define MS_CKPT_NAME_MAX 65536             /* bytes of a name */
#define MS_CKPT_COUNT_FIELD 15             /* in the first entry: how many there are */

extern const char
    *const ms__ckpt_type[MS_DTYPE_COUNT]; /* the format's name of a dtype, NULL where it has none */

/* Position of the first byte that is not well-formed UTF-8, or -1. */
int64_t ms__ckpt_not_utf8(const char *s);
/* An error (VALUE) when a name occurs twice; `verb` is what was being done to `path`. */
MsStatus ms__ckpt_names(const char *verb, const char *path, int n, const char *const *name);
MsStatus ms__ckpt_io_error(const char *verb, const char *path); /* raises errno */

#endif
