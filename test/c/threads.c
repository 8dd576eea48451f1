/* threads.c - user threads that call in at once get the numbers a single thread gets: operators, gradients of
 * a shared weight, staging and compiling, one shared graph, random draws. `./dev check tsan` runs it under the
 * thread sanitizer. */
#include "core/thread.h"
#include "mindspore.h"
#include "mindspore_ops.h"
#include "op/random.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    THREADS = 4,
    ROUNDS = 12,
    VALUES = 5
};

typedef struct Result {
    float value[VALUES];
    bool ok;
} Result;

static MsTensor *image, *kernel, *weight; /* read by all */
static MsGraph *shared;

static MsTensor *ramp(int ndim, const int64_t *shape, float scale)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    MsTensor *t = ms_tensor_empty(MS_FLOAT32, ndim, shape);
    float *p = ms_tensor_data(t);
    for (int64_t k = 0; k < n; k++) p[k] = scale * (float)(k % 17 - 8);
    return t;
}

/* sum(relu(conv(image, kernel))) @ weight, reduced: touches the primitive caches, fusion and the pool. */
static MsTensor *network(MsTensor *w)
{
    MsInts one = MS_INTS(1, 1), zero = MS_INTS(0, 0);
    MsTensor *y = ms_relu(ms_conv(image, kernel, NULL, one, zero, zero, one, 1));
    y = ms_reshape(y, MS_INTS(8, 36));
    return ms_sum(ms_square(ms_matmul(y, w, false, false)), MS_INTS_NONE, false);
}

static MsTensor *gradient(void)
{
    MsTensor *w, *g = NULL;
    MsTrace *trace = ms_vjp_begin(1, &weight, &w, 0, NULL);
    MsTensor *y = network(w);
    if (!y || ms_vjp_grad(trace, 1, &y, NULL, &g) != MS_OK) g = NULL;
    ms_vjp_end(trace);
    return g;
}

static MsGraph *stage(void)
{
    MsTensor *w;
    MsTrace *trace = ms_stage_begin(1, &weight, &w);
    MsTensor *y = network(w);
    MsGraph *g = ms_stage_end(trace, 1, &y);
    if (g && ms_graph_optimize(g, MS_JIT_O1) == MS_OK) return g;
    ms_graph_unref(g);
    return NULL;
}

static MsTensor *call(MsGraph *g)
{
    MsTensor *y = NULL;
    return g && ms_graph_call(g, 1, &weight, &y) == MS_OK ? y : NULL;
}

static MsTensor *noise(void)
{
    MsTensor *state = ms_tensor_from(MS_INT64, 1, (int64_t[]){2}, (int64_t[]){7, 3});
    return ms_sum(ms_rng_normal(state, MS_INTS(1000), MS_FLOAT32), MS_INTS_NONE, false);
}

static void *work(void *arg)
{
    Result *r = arg;
    r->ok = true;
    for (int round = 0; round < ROUNDS && r->ok; round++) {
        int mark = ms_scope_begin();
        MsGraph *own = stage();
        MsTensor *y[VALUES] = {network(weight), ms_sum(gradient(), MS_INTS_NONE, false), call(shared),
                               call(own), noise()};
        r->ok &= ms__rng_next(ms_random_state()) != NULL;
        for (int k = 0; k < VALUES; k++) {
            double v = 0;
            r->ok &= ms_tensor_item(y[k], &v) == MS_OK && (round == 0 || r->value[k] == (float)v);
            r->value[k] = (float)v;
        }
        ms_graph_unref(own);
        ms_scope_end(mark, NULL, 0);
    }
    return NULL;
}

static void count(void *ctx, int64_t begin, int64_t end)
{
    _Atomic(int) *seen = ctx;
    for (int64_t k = begin; k < end; k++) seen[k]++;
}

#ifdef __SANITIZE_THREAD__
#define MOST_THREADS 1 /* it does not see OpenMP's fork and join */
#else
#define MOST_THREADS 5
#endif

/* Pieces cover every place once, whatever the sizes and the number of threads. */
static int pieces(void)
{
    static _Atomic(int) seen[5000];
    int before = ms_thread_count(), bad = 0;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        ms_thread_set_count(threads);
        for (int64_t n = 0; n <= 5000; n = n < 40 ? n + 1 : 2 * n + 3)
            for (int64_t grain = 1; grain <= 700; grain = 3 * grain + 1) {
                ms__parallel_pieces(n, grain, count, seen);
                for (int64_t k = 0; k < n; k++) bad += seen[k] != 1, seen[k] = 0;
            }
    }
    ms_thread_set_count(before);
    return bad;
}

int main(void)
{
    int mark = ms_scope_begin(), n_fail = 0;
    image = ramp(4, (int64_t[]){2, 3, 8, 8}, 0.1f);
    kernel = ramp(4, (int64_t[]){4, 3, 3, 3}, 0.2f);
    weight = ramp(2, (int64_t[]){36, 5}, 0.05f);
    shared = stage();
    ms_random_seed(1);
    pthread_t thread[THREADS];
    Result result[THREADS + 1] = {0};
    for (int k = 0; k < THREADS; k++) pthread_create(&thread[k], NULL, work, &result[k]);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    work(&result[THREADS]);
    for (int k = 0; k < THREADS; k++)
        n_fail +=
            !result[k].ok || memcmp(result[k].value, result[THREADS].value, sizeof result[k].value) != 0;
    const int64_t *state = ms_tensor_data(ms_random_state());
    n_fail += state[1] != (THREADS + 1) * ROUNDS; /* no draw was lost or taken twice */
    bool covered = pieces() == 0;
    n_fail += !covered;
    ms_graph_unref(shared);
    ms_scope_end(mark, NULL, 0);
    printf("%d passed, %d failed\n", THREADS + 2 - n_fail, n_fail);
    return n_fail != 0;
}
