/* mem.c - caching allocator with size classes.
 *
 * A request is rounded up to a class (eight per power of two, so at most 12.5 % is wasted) and served from
 * the class's free list. Blocks of 2 MiB and more are aligned to huge pages. Small classes have a per-thread
 * list that needs no lock. Refused: a general best-fit arena with splitting; training repeats its sizes, so
 * exact reuse wins and nothing fragments. When the system refuses, the cache is emptied and asked once more.
 */
#include "core/mem.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE ((size_t)2 << 20)
#define SMALL_MAX 65536 /* largest request with a per-thread list */
#define N_CLASS 400
#define N_SMALL 128
#define LOCAL_MAX 32 /* blocks a thread keeps per class */

typedef struct Block {
    struct Block *next;
} Block;

static Block *shared_list[N_CLASS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t allocated, peak, reserved, peak_reserved, n_alloc, n_live;
static _Atomic int64_t fail_countdown;
static _Atomic bool fail_forever;

typedef struct Local {
    Block *list[N_SMALL];
    uint16_t count[N_SMALL];
} Local;
static _Thread_local Local *local;
static pthread_key_t local_key;
static pthread_once_t local_once = PTHREAD_ONCE_INIT;

/* Class k holds blocks of class_size(k) bytes: 64 * (8 + k%8) / 8 * 2^(k/8), rounded up to 64. */
static size_t class_size(int k)
{
    size_t base = (size_t)512 << (k / 8);
    size_t n = base + base / 8 * (size_t)(k % 8);
    return (n + MS_ALIGN - 1) & ~(size_t)(MS_ALIGN - 1);
}

static int class_of(size_t n)
{
    if (n <= 512) return 0;
    int log = 63 - __builtin_clzll(n - 1); /* n in (2^log, 2^(log+1)] */
    size_t base = (size_t)1 << log;
    int eighth = (int)((n - base + base / 8 - 1) / (base / 8));
    return (log - 9) * 8 + eighth;
}

static bool injected(void)
{
    if (__builtin_expect(atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0, 1)) return false;
    if (atomic_fetch_sub(&fail_countdown, 1) != 1) return false;
    if (atomic_load(&fail_forever)) atomic_store(&fail_countdown, 1);
    return true;
}

static void raise_peak(_Atomic int64_t *to, int64_t v)
{
    int64_t seen = atomic_load_explicit(to, memory_order_relaxed);
    while (v > seen && !atomic_compare_exchange_weak(to, &seen, v)) {
    }
}

static void local_free(void *p)
{
    Local *l = p;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < N_SMALL; k++)
        while (l->list[k]) {
            Block *b = l->list[k];
            l->list[k] = b->next;
            b->next = shared_list[k];
            shared_list[k] = b;
        }
    pthread_mutex_unlock(&lock);
    free(l);
}

static void local_init(void)
{
    pthread_key_create(&local_key, local_free);
}

static Local *get_local(void)
{
    if (local) return local;
    pthread_once(&local_once, local_init);
    local = calloc(1, sizeof *local);
    if (local && pthread_setspecific(local_key, local) != 0) {
        free(local);
        local = NULL;
    }
    return local;
}

static void *from_system(size_t size)
{
    void *p = NULL;
    if (posix_memalign(&p, size >= HUGE ? HUGE : MS_ALIGN, size) != 0) return NULL;
    if (size >= HUGE) madvise(p, size, MADV_HUGEPAGE);
    raise_peak(&peak_reserved, atomic_fetch_add(&reserved, (int64_t)size) + (int64_t)size);
    return p;
}

void *ms__alloc(size_t n)
{
    if (injected() || n > ((size_t)1 << 56))
        return MS_FAIL_NULL(MS_ERROR_MEMORY, "Out of memory: an allocation of %zu bytes was refused.", n);
    int k = class_of(n);
    size_t size = class_size(k);
    Block *b = NULL;
    Local *l = k < N_SMALL && size <= SMALL_MAX ? get_local() : NULL;
    if (l && l->list[k]) {
        b = l->list[k];
        l->list[k] = b->next;
        l->count[k]--;
    } else {
        pthread_mutex_lock(&lock);
        b = shared_list[k];
        if (b) shared_list[k] = b->next;
        pthread_mutex_unlock(&lock);
    }
    if (!b) b = from_system(size);
    if (!b) {
        ms_memory_empty_cache();
        b = from_system(size);
    }
    if (!b)
        return MS_FAIL_NULL(MS_ERROR_MEMORY,
                            "Out of memory: an allocation of %zu bytes was refused (%lld bytes are in use).",
                            n, (long long)atomic_load(&allocated));
    atomic_fetch_add_explicit(&n_alloc, 1, memory_order_relaxed);
    raise_peak(&peak, atomic_fetch_add(&allocated, (int64_t)size) + (int64_t)size);
    return b;
}

void ms__free(void *p, size_t n)
{
    if (!p) return;
    int k = class_of(n);
    size_t size = class_size(k);
    Block *b = p;
    atomic_fetch_sub(&allocated, (int64_t)size);
    Local *l = k < N_SMALL && size <= SMALL_MAX ? get_local() : NULL;
    if (l && l->count[k] < LOCAL_MAX) {
        b->next = l->list[k];
        l->list[k] = b;
        l->count[k]++;
        return;
    }
    pthread_mutex_lock(&lock);
    b->next = shared_list[k];
    shared_list[k] = b;
    pthread_mutex_unlock(&lock);
}

void ms_memory_empty_cache(void)
{
    Local *l = get_local();
    pthread_mutex_lock(&lock);
    for (int k = 0; k < N_CLASS; k++) {
        Block *lists[2] = {shared_list[k], l && k < N_SMALL ? l->list[k] : NULL};
        shared_list[k] = NULL;
        if (l && k < N_SMALL) l->list[k] = NULL, l->count[k] = 0;
        for (int i = 0; i < 2; i++)
            while (lists[i]) {
                Block *b = lists[i];
                lists[i] = b->next;
                free(b);
                atomic_fetch_sub(&reserved, (int64_t)class_size(k));
            }
    }
    pthread_mutex_unlock(&lock);
#ifdef __GLIBC__
    malloc_trim(0); /* blocks below 32 MiB lie on its heap, which it keeps when something above is alive */
#endif
}

MsMemoryStats ms_memory_stats(void)
{
    return (MsMemoryStats){allocated, peak, reserved, peak_reserved, n_alloc, n_live};
}

void ms_memory_reset_peak(void)
{
    atomic_store(&peak, atomic_load(&allocated));
    atomic_store(&peak_reserved, atomic_load(&reserved));
}

void ms_memory_fail_after(int64_t n, bool forever)
{
    atomic_store(&fail_forever, forever);
    atomic_store(&fail_countdown, n);
}

void ms__count_handle(int delta)
{
    atomic_fetch_add_explicit(&n_live, delta, memory_order_relaxed);
}

static void *checked(void *p, size_t n)
{
    return p ? p : MS_FAIL_NULL(MS_ERROR_MEMORY, "Out of memory: an allocation of %zu bytes was refused.", n);
}

void *ms__malloc(size_t n)
{
    return checked(injected() ? NULL : malloc(n ? n : 1), n);
}
void *ms__calloc(size_t n, size_t size)
{
    return checked(injected() ? NULL : calloc(n ? n : 1, size ? size : 1), n * size);
}
void *ms__realloc(void *p, size_t n)
{
    return checked(injected() ? NULL : realloc(p, n ? n : 1), n);
}

char *ms__strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = ms__malloc(n);
    return p ? memcpy(p, s, n) : NULL;
}
