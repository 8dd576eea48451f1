/* profile.c - where the time of planned graphs goes. With MS_PROFILE in the environment every instance counts
 * the time of its steps and prints a table to standard error when it is freed: the operators by share, then
 * the ten slowest nodes. Without it the executor pays one predictable branch per run. */
#include "exec/plan.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ms__profiling(void)
{
    static _Atomic int known = -1;
    int on = atomic_load_explicit(&known, memory_order_relaxed);
    if (on < 0) known = on = getenv("MS_PROFILE") != NULL;
    return on;
}

static int slower_first(const void *a, const void *b)
{
    const MsPlanned *x = *(const MsPlanned *const *)a, *y = *(const MsPlanned *const *)b;
    return x->ns < y->ns ? 1 : -(x->ns > y->ns);
}

static int by_operator(const void *a, const void *b)
{
    return strcmp((*(const MsPlanned *const *)a)->call.op->name,
                  (*(const MsPlanned *const *)b)->call.op->name);
}

static void print_step(const MsPlanned *s, int64_t runs)
{
    fprintf(stderr, "  %9.2f us  %s", (double)s->ns / 1e3 / (double)runs, s->call.op->name);
    for (int i = 0; i < s->call.n_in && i < 4; i++)
        if (s->call.in[i]) fprintf(stderr, " %s", ms__shape_text(s->call.in[i]->ndim, s->call.in[i]->shape));
    fprintf(stderr, "\n");
}

void ms__profile_print(const MsInstance *p)
{
    const MsPlanned **s = p->runs ? malloc((size_t)p->n_step * sizeof *s) : NULL;
    if (!s) return;
    int64_t all = 0;
    for (int k = 0; k < p->n_step; k++) {
        s[k] = &p->step[k];
        all += s[k]->ns;
    }
    fprintf(stderr, "ms: %d steps, %lld runs, %.2f us in kernels per run, arena %zu bytes\n", p->n_step,
            (long long)p->runs, (double)all / 1e3 / (double)p->runs, p->arena->nbytes);
    qsort(s, (size_t)p->n_step, sizeof *s, by_operator);
    for (int k = 0, end; k < p->n_step; k = end) {
        int64_t sum = 0;
        for (end = k; end < p->n_step && s[end]->call.op == s[k]->call.op; end++) sum += s[end]->ns;
        fprintf(stderr, "  %5.1f %%  %4d x %s\n", all ? 100.0 * (double)sum / (double)all : 0.0, end - k,
                s[k]->call.op->name);
    }
    qsort(s, (size_t)p->n_step, sizeof *s, slower_first);
    for (int k = 0; k < p->n_step && k < 10; k++) print_step(s[k], p->runs);
    free(s);
}
