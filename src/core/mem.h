/* mem.h - the caching allocator. Every byte that a tensor, a workspace or a graph uses comes from here, so
 * that peaks are true and so that tests can refuse any allocation. */
#ifndef MS_CORE_MEM_H
#define MS_CORE_MEM_H
#include "core/error.h"

#define MS_ALIGN 64 /* every block starts on a cache line */

/* n bytes, uninitialised, 64-byte aligned; NULL and an error (MEMORY) when refused. n = 0 gives a valid
 * block. */
void *ms__alloc(size_t n);
void ms__free(void *p, size_t n); /* n as it was asked for */

/* Small bookkeeping objects (handles, nodes, lists): malloc family with the same fault injection. */
void *ms__malloc(size_t n);
void *ms__calloc(size_t n, size_t size);
void *ms__realloc(void *p, size_t n);
char *ms__strdup(const char *s);

void ms__count_handle(int delta); /* MsMemoryStats.n_live */

#endif
