/* thread.c - see thread.h. A call from inside a parallel region runs alone on its thread, and so does all in a forked child,
 * which inherits the pool's bookkeeping without its threads and would wait for them forever. */
#include "core/thread.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

#define SHARES 64 /* most threads whose shares are cut into pieces */

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

typedef struct Share {
    _Atomic(int64_t) at;
    int64_t end;
    char apart[64 - 2 * sizeof(int64_t)]; /* in a cache line of its own */
} Share;

/* The next piece of a share: a quarter of what is left of it, `grain` at least. */
static bool take(Share *s, int64_t grain, int64_t *begin, int64_t *end)
{
    int64_t at = s->at;
    do {
        if (at >= s->end) return false;
        int64_t n = (s->end - at) / 4 / grain * grain;
        *begin = at;
        *end = at + (n > grain ? n : grain);
        if (*end > s->end) *end = s->end;
    } while (!atomic_compare_exchange_weak(&s->at, &at, *end));
    return true;
}

void ms__parallel_pieces(int64_t n, int64_t grain, MsRangeFn fn, void *ctx)
{
    Share share[SHARES];
    int64_t parts = grain > 0 ? n / grain : n;
    int threads = ms_thread_count();
    if (parts > threads) parts = threads;
    if (parts <= 1 || parts > SHARES || omp_in_parallel()) {
        ms__parallel_for(n, grain, fn, ctx);
        return;
    }
    for (int64_t k = 0; k < parts; k++) {
        atomic_init(&share[k].at, n / parts * k + (k < n % parts ? k : n % parts));
        share[k].end = n / parts * (k + 1) + (k + 1 < n % parts ? k + 1 : n % parts);
    }
#pragma omp parallel num_threads((int)parts)
    {
        int64_t own = omp_get_thread_num(), begin, end;
        for (int64_t k = 0; k < parts; k++)
            while (take(&share[(own + k) % parts], grain > 0 ? grain : 1, &begin, &end)) fn(ctx, begin, end);
    }
}
