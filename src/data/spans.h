/* spans.h - files as lists of rows, each a stretch of bytes (spans.c). */
#ifndef MS_DATA_SPANS_H
#define MS_DATA_SPANS_H
#include "data/data.h"

typedef struct MsSpan {
    int64_t at, len;
} MsSpan;

struct MsSpans {
    _Atomic int ref;
    int n_file;
    char **path;
    int *fd;
    int64_t *first; /* file -> its first row; n_file + 1 of them */
    int64_t n;
    MsSpan *span;
};

int ms__spans_file(const MsSpans *s, int64_t i);
/* The bytes of row i and `extra` that follow it. */
MsStatus ms__spans_read(const MsSpans *s, int64_t i, int64_t extra, char *to);
const char *ms__spans_describe(void *spans, int64_t i); /* as MsSource.describe */

#endif
