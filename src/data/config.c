/* config.c - what iterators take over when they are made, and the random numbers of the pipeline.
 * Random numbers come from SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * 2014), keyed by (seed, epoch, index): any row can be made by any thread. Refused: one generator per thread,
 * whose results depend on who gets which row. */
#include "data/data.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_SEED 5489u

static _Atomic uint32_t seed = DEFAULT_SEED;
static atomic_bool seeded, debug;
static atomic_int on_failure; /* an MsFailure */
static atomic_int prefetch = 16, workers;

void ms_data_set_seed(uint32_t value)
{
    atomic_store(&seed, value);
    atomic_store(&seeded, true);
}

uint32_t ms_data_seed(void)
{
    return atomic_load(&seed);
}

MsStatus ms_data_set_prefetch(int n)
{
    if (n < 1) return MS_FAIL(MS_ERROR_VALUE, "The prefetch size must be at least 1, but got %d.", n);
    atomic_store(&prefetch, n);
    return MS_OK;
}

int ms_data_prefetch(void)
{
    return atomic_load(&prefetch);
}

MsStatus ms_data_set_workers(int n)
{
    if (n < 1) return MS_FAIL(MS_ERROR_VALUE, "The number of workers must be at least 1, but got %d.", n);
    atomic_store(&workers, n);
    return MS_OK;
}

int ms_data_workers(void)
{
    int n = atomic_load(&workers);
    if (n > 0) return n;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus < 1 ? 1 : cpus > 8 ? 8 : (int)cpus;
}

void ms_data_set_debug(bool on)
{
    atomic_store(&debug, on);
}
bool ms_data_debug(void)
{
    return atomic_load(&debug);
}

void ms__data_set_on_failure(MsFailure f)
{
    atomic_store(&on_failure, f);
}
MsFailure ms__data_on_failure(void)
{
    return (MsFailure)atomic_load(&on_failure);
}

/* ---- random numbers ---- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t ms__data_u64(MsDataRng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    return mix(r->state);
}

MsDataRng ms__data_rng(uint64_t key, int64_t epoch, int64_t index)
{
    uint64_t s = mix(key + 0x9e3779b97f4a7c15u);
    s = mix(s ^ (uint64_t)epoch) + 0x9e3779b97f4a7c15u;
    return (MsDataRng){mix(s ^ (uint64_t)index)};
}

uint64_t ms__data_below(MsDataRng *r, uint64_t n)
{
    /* Lemire: Fast random integer generation in an interval, 2019 */
    __uint128_t m = (__uint128_t)ms__data_u64(r) * n;
    if ((uint64_t)m < n)
        for (uint64_t floor = -n % n; (uint64_t)m < floor;) m = (__uint128_t)ms__data_u64(r) * n;
    return (uint64_t)(m >> 64);
}

double ms__data_unit(MsDataRng *r)
{
    return (double)(ms__data_u64(r) >> 11) * 0x1p-53;
}

uint64_t ms_data_run_seed(void)
{
    if (atomic_load(&seeded)) return atomic_load(&seed);
    uint64_t drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        drawn = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32;
    }
    return drawn | (uint64_t)1 << 32; /* never the stream of a configured seed */
}
