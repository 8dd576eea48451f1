/* exec.c - a graph run by its plan gives the same bits as its nodes applied one by one, whatever the layout
 * of the inputs, how often it runs, from how many threads, and whichever allocation is refused. */
#include "exec/exec.h"

#include "core/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX 16
static int n_pass, n_fail;

#define CHECK(cond, ...)                                                                                     \
    do {                                                                                                     \
        if (cond) {                                                                                          \
            n_pass++;                                                                                        \
        } else {                                                                                             \
            n_fail++;                                                                                        \
            printf("%s:%d: ", __FILE__, __LINE__);                                                           \
            printf(__VA_ARGS__);                                                                             \
            printf(" [%s]\n", ms__failed() ? ms_error()->message : "no error");                              \
        }                                                                                                    \
        ms_error_clear();                                                                                    \
    } while (0)

/* Small whole numbers, so that sums are exact and any order of evaluation shows only real mistakes. */
static void fill(MsTensor *t, unsigned seed)
{
    for (int64_t k = 0; k < t->numel; k++) {
        seed = seed * 1664525u + 1013904223u;
        int v = (int)(seed >> 24) - 128;
        if (t->dtype == MS_FLOAT32) ((float *)t->storage->data)[k] = (float)v;
        if (t->dtype == MS_INT64) ((int64_t *)t->storage->data)[k] = v;
    }
}

/* An input of the given type; layout 1 has its dimensions in reverse order in memory. */
static MsTensor *make(const MsAval *a, int layout, unsigned seed)
{
    int64_t strides[MS_MAX_DIM], step = 1;
    for (int d = 0; d < a->ndim; d++) strides[d] = step, step *= a->shape[d];
    MsTensor *t = ms__tensor_dense(a->dtype, a->ndim, a->shape, layout ? strides : NULL);
    fill(t, seed);
    return t;
}

static bool same(MsTensor *a, MsTensor *b)
{
    a = ms_tensor_is_contiguous(a) ? a : ms_copy(a);
    b = ms_tensor_is_contiguous(b) ? b : ms_copy(b);
    return a && b && a->dtype == b->dtype && a->numel == b->numel &&
           memcmp(a->data, b->data, (size_t)a->numel * ms_dtype_size((MsDtype)a->dtype)) == 0;
}

/* One run compared with ms__graph_replay: results and captured tensors. */
static bool run_matches(MsGraph *g, int layout, unsigned seed)
{
    MsTensor *all[MAX], *want[MAX], *out[MAX] = {NULL};
    int mark = ms_scope_begin();
    bool good = true;
    for (int i = 0; i < g->n_in; i++) {
        all[i] = make(&g->val[i], layout, seed + (unsigned)i);
        if (i < g->n_arg) continue;
        fill(g->captured[i - g->n_arg], seed + (unsigned)i);
        all[i] = ms_copy(g->captured[i - g->n_arg]);
    }
    good = ms__graph_replay(g, all, want) == MS_OK && ms__graph_run(g, all, out) == MS_OK;
    for (int j = 0; j < g->n_out && good; j++) good = same(out[j], want[j]);
    good &= ms__graph_run_call(g, all, out) == MS_OK;
    for (int j = 0; j < g->n_result && good; j++) good = same(out[j], want[j]);
    for (int k = 0; k < g->n_in - g->n_arg && good; k++) {
        MsTensor *value = all[g->n_arg + k];
        for (int w = 0; w < g->n_out - g->n_result; w++)
            if (g->written[w] == k) value = want[g->n_result + w];
        good = same(g->captured[k], value);
    }
    ms_scope_end(mark, NULL, 0);
    return good;
}

static MsGraph *parse(const char *text)
{
    MsGraph *g = ms_graph_parse(text);
    CHECK(g, "parse: %s", text);
    return g;
}

static const char *const graphs[] = {
    /* a chain that fits in place, and one value used late */
    "graph(%0: float32[4,5]) { %1 = add(%0, %0) %2 = add(%1, %1) %3 = add(%2, %1) %4 = add(%3, %3) return %4 "
    "}",
    /* results: an input, twice the same value, a view, a value that is read on */
    "graph(%0: float32[4,5]) { %1 = add(%0, %0) %2 = transpose(%1, perm=[1,0]) %3 = add(%1, %1)"
    " return %0, %1, %1, %2, %3 }",
    /* views of inputs and of values, one that must copy */
    "graph(%0: float32[4,6]) { %1 = slice(%0, begin=[3,1], size=[2,3], step=[-2,2]) %2 = add(%1, %1)"
    " %3 = transpose(%2, perm=[1,0]) %4 = reshape(%3, shape=[6]) %5 = add(%4, %4) %6 = broadcast_to(%5, "
    "shape=[2,6])"
    " %7 = add(%6, %6) return %7, %6 }",
    /* constants and views of them */
    "graph(%0: float32[3]) { %1 = full(shape=[], value=2.5, dtype=float32) %2 = broadcast_to(%1, shape=[3])"
    " %3 = add(%0, %2) %4 = arange(start=1.0, step=1.0, n=3, dtype=float32) %5 = add(%4, %4) %6 = add(%3, %5)"
    " return %6, %5, %2 }",
    /* captured tensors: written in place, read afterwards, swapped, written with one value, unchanged */
    "graph(%0: float32[4]) captured(%1: float32[4]) { %2 = add(%1, %0) %3 = add(%2, %2) return %3 write %1 = "
    "%2 }",
    "graph(%0: float32[4]) captured(%1: float32[4]) { %2 = add(%1, %0) %3 = add(%2, %1) return %3 write %1 = "
    "%2 }",
    "graph(%0: float32[4]) captured(%1: float32[4]) { %2 = add(%1, %0) return %1, %2 write %1 = %2 }",
    "graph() captured(%1: float32[4], %2: float32[4]) { return write %1 = %2 write %2 = %1 }",
    "graph(%0: float32[4]) captured(%1: float32[4], %2: float32[4]) { %3 = add(%0, %0) %4 = add(%3, %1) "
    "return"
    " write %1 = %3 write %2 = %3 }",
    "graph() captured(%1: float32[4], %2: float32[2,2]) { %3 = reshape(%1, shape=[2,2]) %4 = add(%2, %3) "
    "return %4"
    " write %1 = %1 write %2 = %3 }",
    "graph(%0: float32[2,3]) captured(%1: float32[3,2]) { %2 = transpose(%0, perm=[1,0]) %3 = add(%1, %2)"
    " %4 = transpose(%1, perm=[1,0]) %5 = add(%4, %0) %6 = transpose(%5, perm=[1,0]) %7 = add(%6, %3) return "
    "%7"
    " write %1 = %7 }",
    /* nothing at all, 0-d and empty */
    "graph() { return }",
    "graph(%0: float32[], %1: float32[0,3]) { %2 = add(%0, %1) %3 = add(%0, %0) return %2, %3 }",
    "graph(%0: int64[3]) { %1 = add(%0, %0) %2 = flip(%1, axis=[0]) %3 = concat(%1, %2, axis=0) return %3 }",
};

static void against_replay(void)
{
    for (size_t k = 0; k < sizeof graphs / sizeof *graphs; k++) {
        MsGraph *g = parse(graphs[k]);
        if (!g) continue;
        for (int n = 0; n < 6; n++) {
            int layout = n >> 1 & 1;
            CHECK(run_matches(g, layout, (unsigned)(7 * n + 1)), "graph %d, run %d: %s", (int)k, n,
                  graphs[k]);
        }
        ms_graph_unref(g);
    }
}

/* An argument that is the written tensor itself, or a view of it. */
static void overlapping_argument(void)
{
    MsGraph *g =
        parse("graph(%0: float32[4]) captured(%1: float32[4]) { %2 = add(%1, %1) %3 = add(%2, %0) return %3"
              " write %1 = %2 }");
    for (int n = 0; n < 3; n++) {
        int mark = ms_scope_begin();
        MsTensor *w = g->captured[0], *out = NULL;
        fill(w, 3);
        MsTensor *before = ms_copy(w), *want = ms_add(before, ms_add(before, before));
        MsTensor *other = make(&g->val[0], 0, 9),
                 *arg = n < 2 ? (n ? w : other) : ms__tensor_view(w, 1, w->shape, w->strides, 0);
        if (n == 0) want = ms_add(ms_add(before, before), other);
        CHECK(ms__graph_run_call(g, &arg, &out) == MS_OK && same(out, want), "run %d", n);
        CHECK(same(w, ms_add(before, before)), "run %d: captured", n);
        ms_scope_end(mark, NULL, 0);
    }
    ms_graph_unref(g);
}

/* Results into given tensors, which may be the inputs. */
static void given_results(void)
{
    MsGraph *g = parse(
        "graph(%0: float32[4], %1: float32[4]) { %2 = add(%0, %1) %3 = add(%2, %0) return %1, %2, %3 }");
    for (int n = 0; n < 3; n++) {
        int mark = ms_scope_begin();
        MsTensor *in[2] = {make(&g->val[0], 0, 1), make(&g->val[1], 0, 2)}, *spare = make(&g->val[0], 0, 3);
        MsTensor *want[3] = {ms_copy(in[1]), ms_add(in[0], in[1]), NULL}, *out[3] = {in[0], in[1], spare};
        want[2] = ms_add(want[1], in[0]);
        int64_t live = ms_memory_stats().n_live;
        CHECK(ms__graph_run_into(g, in, out) == MS_OK, "run");
        CHECK(out[0] == in[0] && out[1] == in[1] && out[2] == spare, "the given tensors stay");
        for (int j = 0; j < 3; j++) CHECK(same(out[j], want[j]), "run %d, result %d", n, j);
        if (n) CHECK(ms_memory_stats().n_live == live, "a given tensor was kept");
        ms_scope_end(mark, NULL, 0);
    }
    ms_graph_unref(g);
}

static void wrong_inputs(void)
{
    MsGraph *g = parse("graph @f(%0: float32[4]) { %1 = add(%0, %0) return %1 }");
    int mark = ms_scope_begin();
    MsAval wrong = {MS_FLOAT32, 1, {5}}, other = {MS_INT64, 1, {4}};
    MsTensor *out = NULL, *in = make(&wrong, 0, 1);
    CHECK(ms__graph_run(g, &in, &out) == MS_ERROR_VALUE, "shape");
    in = make(&other, 0, 1);
    CHECK(ms__graph_run(g, &in, &out) == MS_ERROR_TYPE, "dtype");
    in = NULL;
    CHECK(ms__graph_run(g, &in, &out) == MS_ERROR_TYPE && !out, "missing");
    ms_scope_end(mark, NULL, 0);
    CHECK(run_matches(g, 0, 1), "still usable");
    ms_graph_unref(g);
}

static void refused_memory(void)
{
    for (size_t k = 0; k < sizeof graphs / sizeof *graphs; k++) {
        int64_t live = ms_memory_stats().n_live, bytes = ms_memory_stats().allocated;
        for (int first = 0; first < 2; first++) { /* the recording run, and a planned one */
            MsGraph *g = parse(graphs[k]);
            if (!g) continue;
            if (first) run_matches(g, 0, 1);
            bool done = false, good = true;
            for (int64_t n = 1; n < 400 && !done && good; n++) {
                MsTensor *in[MAX], *out[MAX] = {NULL};
                int mark = ms_scope_begin();
                for (int i = 0; i < g->n_arg; i++) in[i] = make(&g->val[i], 0, 1);
                ms_memory_fail_after(n, false);
                MsStatus st = ms__graph_run_call(g, in, out);
                ms_memory_fail_after(0, false);
                good = st == MS_OK ? !ms__failed() : ms_error()->code == MS_ERROR_MEMORY;
                ms_error_clear();
                ms_scope_end(mark, NULL, 0);
                done = st == MS_OK && n > 300;
                good &= run_matches(g, 0, (unsigned)n);
            }
            CHECK(good, "graph %d, %s run", (int)k, first ? "planned" : "first");
            ms_graph_unref(g);
        }
        CHECK(ms_memory_stats().n_live == live && ms_memory_stats().allocated == bytes, "graph %d leaks",
              (int)k);
    }
}

static void *thread_main(void *g)
{
    bool good = true;
    for (unsigned n = 0; n < 200 && good; n++) good = run_matches(g, (int)(n & 1), n);
    return good ? g : NULL;
}

static void threads(void)
{
    MsGraph *g = parse(graphs[2]);
    pthread_t t[3];
    for (int k = 0; k < 3; k++) pthread_create(&t[k], NULL, thread_main, g);
    for (int k = 0; k < 3; k++) {
        void *good;
        pthread_join(t[k], &good);
        CHECK(good, "thread %d", k);
    }
    ms_graph_unref(g);
}

/* Values of equal size in a chain share two pieces of the arena at most; in place, one. */
static void arena(void)
{
    MsGraph *g = parse("graph(%0: float32[1000]) { %1 = add(%0, %0) %2 = add(%1, %1) %3 = add(%2, %2)"
                       " %4 = flip(%3, axis=[0]) %5 = flip(%4, axis=[0]) %6 = flip(%5, axis=[0]) %7 = "
                       "add(%6, %6) return %7 }");
    CHECK(ms_graph_arena(g) == 0, "before the first run");
    CHECK(run_matches(g, 0, 1), "run");
    CHECK(ms_graph_arena(g) == 2 * 4032, "%lld bytes", (long long)ms_graph_arena(g));
    ms_graph_unref(g);
}

/* For the reader of the log only; no timed figure is a test. */
static void overhead(void)
{
    enum {
        N = 1000
    };
    char *text = malloc(64 * N);
    size_t at = (size_t)sprintf(text, "graph(%%0: float32[4]) {\n");
    for (int k = 0; k < N; k++) at += (size_t)sprintf(text + at, "%%%d = add(%%%d, %%0)\n", k + 1, k);
    sprintf(text + at, "return %%%d }", N);
    MsGraph *g = parse(text);
    free(text);
    int mark = ms_scope_begin();
    MsTensor *in = make(&g->val[0], 0, 1), *out = NULL;
    ms__graph_run(g, &in, &out);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int n = 0; n < 100; n++) {
        int inner = ms_scope_begin();
        out = NULL;
        ms__graph_run(g, &in, &out);
        ms_scope_end(inner, NULL, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.0f ns per node of a chain of %d adds of 4 elements\n",
           ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (100.0 * N), N);
    ms_scope_end(mark, NULL, 0);
    ms_graph_unref(g);
}

int main(void)
{
    against_replay();
    overlapping_argument();
    given_results();
    wrong_inputs();
    arena();
    refused_memory();
    threads();
    overhead();
    printf("%d passed, %d failed\n", n_pass, n_fail);
    return n_fail > 0;
}
