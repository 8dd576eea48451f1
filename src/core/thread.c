/* thread.c - see thread.h. A call from inside a parallel region runs alone on its thread, and so does all in a forked child,
 * which inherits the pool's bookkeeping without its threads and would wait for them forever. */
#include "core/thread.h"

#include <omp.h>
#include <pthread.h>

static _Atomic int n_threads; /* 0: the pool's own count */
static bool forked;

static void in_child(void)
{
    forked = true;
    n_threads = 1;
    omp_set_num_threads(1);
}

__attribute__((constructor)) static void watch_fork(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

int ms_thread_count(void)
{
    int n = n_threads;
    return n ? n : omp_get_max_threads();
}

MsStatus ms_thread_set_count(int n)
{
    if (n < 1 || n > 1024)
        return MS_FAIL(MS_ERROR_VALUE, "The thread count must be in [1, 1024], but got %d.", n);
    if (forked) return MS_OK;
    n_threads = n;
    omp_set_num_threads(n);
    return MS_OK;
}

void ms__parallel_for(int64_t n, int64_t grain, MsRangeFn fn, void *ctx)
{
    if (n <= 0) return;
    int64_t parts = grain > 0 ? n / grain : n;
    int threads = ms_thread_count();
    if (parts > threads) parts = threads;
    if (parts <= 1 || omp_in_parallel()) {
        fn(ctx, 0, n);
        return;
    }
#pragma omp parallel num_threads((int)parts)
    {
        int64_t k = omp_get_thread_num(), all = omp_get_num_threads();
        int64_t begin = n / all * k + (k < n % all ? k : n % all);
        int64_t end = begin + n / all + (k < n % all);
        if (begin < end) fn(ctx, begin, end);
    }
}
