/* lazy.c - pending values when allocations are refused, and from several threads at once. */
#include "core/mem.h"
#include "mindspore_ops.h"
#include "trace/trace.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    N = 300,
    THREADS = 6,
    ROUNDS = 40
};

static MsTensor *ramp(int64_t n, float by)
{
    float v[N];
    for (int i = 0; i < N; i++) v[i] = (float)(i - N / 2) * by;
    return ms_tensor_from(MS_FLOAT32, 1, &n, v);
}

static MsTensor *chain(MsTensor *x, MsTensor *y)
{
    for (int k = 0; k < 4; k++) x = ms_add(ms_mul(ms_tanh(x), y), ms_relu(ms_sub(x, y)));
    return x;
}

/* Values of a chain, of its middle, and of an operand that was written in between; false when refused. */
static bool compute(int64_t n, float *to)
{
    int mark = ms_scope_begin();
    MsTensor *x = ramp(n, 0.01f), *y = ramp(n, 0.02f);
    MsTensor *a = chain(x, y), *b = ms_mul(a, y), *c = chain(b, a);
    bool ok = c && ms_tensor_write(y, x) == MS_OK;
    MsTensor *all[4] = {c, a, ms_add(b, y), y};
    for (int k = 0; k < 4; k++) ok = ok && all[k] && ms__tensor_read(all[k], MS_FLOAT32, to + k * N) == MS_OK;
    ms_scope_end(mark, NULL, 0);
    return ok;
}

static float want[4 * N];
static MsTensor *shared[ROUNDS];

static void *work(void *ctx)
{
    int *wrong = ctx;
    static _Thread_local float got[4 * N];
    ms__lazy_enter();
    for (int k = 0; k < ROUNDS; k++) {
        *wrong += !compute(N, got) || memcmp(got, want, sizeof want) != 0;
        *wrong +=
            ms__tensor_read(shared[k], MS_FLOAT32, got) != MS_OK || memcmp(got, want, N * sizeof *want) != 0;
    }
    ms__lazy_leave(0);
    return NULL;
}

int main(void)
{
    static float got[4 * N];
    int failed = !compute(N, want), n_refused = 0;
    ms__lazy_set(1);
    int was = ms__lazy_enter();
    failed += !compute(N, got) || memcmp(got, want, sizeof want) != 0;
    int64_t live = ms_memory_stats().n_live, bytes = ms_memory_stats().allocated;
    for (int64_t n = 1; n < 100000; n++) {
        ms_memory_fail_after(n, false);
        bool ok = compute(N - n % 100, got); /* its form is not known yet, or it is */
        ms_memory_fail_after(0, false);
        failed += ok ? memcmp(got, want, (N - 100) * sizeof *want) != 0 : ms_error()->code != MS_ERROR_MEMORY;
        failed += ms_memory_stats().n_live != live || ms_memory_stats().allocated != bytes;
        if (ok) break;
        n_refused++;
        ms_error_clear();
    }
    int mark = ms_scope_begin();
    for (int k = 0; k < ROUNDS; k++) { /* pending when the threads come to it */
        MsTensor *x = ramp(N, 0.01f), *y = ramp(N, 0.02f), *a = chain(x, y);
        shared[k] = chain(ms_mul(a, y), a);
    }
    pthread_t thread[THREADS];
    int wrong[THREADS] = {0};
    for (int k = 0; k < THREADS; k++) pthread_create(&thread[k], NULL, work, &wrong[k]);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], NULL);
        failed += wrong[k];
    }
    ms_scope_end(mark, NULL, 0);
    failed += ms_memory_stats().n_live != live;
    ms__lazy_leave(was);
    printf("%d passed, %d failed\n", n_refused + THREADS + 1 - failed, failed);
    return failed != 0;
}
