/* thread.h - the one OpenMP pool. Own loops use it through ms__parallel_for; oneDNN shares it. */
#ifndef MS_CORE_THREAD_H
#define MS_CORE_THREAD_H
#include "core/error.h"

typedef void (*MsRangeFn)(void *ctx, int64_t begin, int64_t end);

/* Splits [0, n) into one contiguous range per thread, none smaller than `grain`, and runs them. The split
 * depends on n, grain and the thread count only; results must not depend on it. */
void ms__parallel_for(int64_t n, int64_t grain, MsRangeFn fn, void *ctx);

/* The same with each thread's range in pieces that get smaller; who is done takes from the others. For loops whose range
 * costs nothing to begin: where something else runs on a core, the others do its work instead of waiting for it. */
void ms__parallel_pieces(int64_t n, int64_t grain, MsRangeFn fn, void *ctx);

#endif
