/* error.c - the per-thread error record. The first error of an operation wins: what fails while unwinding
 * is a consequence. The skins clear it when they have turned it into an exception. */
#include "core/error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define POLL_NS 50000000

static _Thread_local MsError record;
static _Thread_local bool placed;
static bool (*_Atomic interrupted)(void);

const MsError *ms_error(void)
{
    return &record;
}
void ms_error_clear(void)
{
    record.code = MS_OK;
}
bool ms__failed(void)
{
    return record.code != MS_OK;
}

void ms_set_interrupt(bool (*fn)(void))
{
    atomic_store(&interrupted, fn);
}

/* The coarse clock is a read of memory, good to some milliseconds. */
MsStatus ms__poll_interrupt(void)
{
    static _Thread_local int64_t next;
    bool (*fn)(void) = atomic_load_explicit(&interrupted, memory_order_relaxed);
    if (!fn) return MS_OK;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (__builtin_expect(now < next, 1)) return MS_OK;
    next = now + POLL_NS;
    return fn() ? MS_FAIL(MS_ERROR_INTERRUPT, "Interrupted.") : MS_OK;
}

const char *ms_version(void)
{
    return MS_VERSION;
}

MsStatus ms__raise(MsStatus code, const char *file, int line, const char *fmt, ...)
{
    if (record.code != MS_OK) return record.code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(record.message, sizeof record.message, fmt, ap);
    va_end(ap);
    record.code = code;
    placed = false;
    record.file = file;
    record.line = line;
    return code;
}

void ms__error_at(const char *place)
{
    if (record.code == MS_OK || placed || !*place) return;
    size_t n = strlen(record.message);
    snprintf(record.message + n, sizeof record.message - n, "\n%s", place);
    placed = true;
}

const char *ms__shape_text(int ndim, const int64_t *shape)
{
    static _Thread_local char ring[4][192];
    static _Thread_local unsigned turn;
    char *buf = ring[turn++ % 4];
    int at = snprintf(buf, 192, "[");
    for (int d = 0; d < ndim && at < 160; d++)
        at += snprintf(buf + at, 192 - (size_t)at, d ? ", %lld" : "%lld", (long long)shape[d]);
    snprintf(buf + at, 192 - (size_t)at, "]");
    return buf;
}
