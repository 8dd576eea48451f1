/* text.h - a growing text, for everything that prints. A refused allocation is remembered and reported once,
 * by ms__text_take, so that printers are straight lines of appends. */
#ifndef MS_GRAPH_TEXT_H
#define MS_GRAPH_TEXT_H
#include "core/error.h"

typedef struct MsText {
    char *s;
    size_t n, cap;
    bool failed;
} MsText;

void ms__text_add(MsText *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ms__text_float(MsText *t, double v);      /* shortest decimal that reads back to the same bits */
void ms__text_quote(MsText *t, const char *s); /* "..." with escapes */
/* The text, owned by the caller (free()); NULL and an error when memory was refused. */
char *ms__text_take(MsText *t);

#endif
