/* profile.c - events of kernels, and their two forms: a table by operator and kernel, and a Chrome trace. The
 * recorder is a list of blocks under one lock, filled after the kernel returned, so that recording one does
 * not lengthen it. Floating-point operations are counted where they are the point of an operator (products
 * and convolutions); bytes are those of inputs and outputs, each once. */
#include "op/profile.h"

#include "core/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PER_BLOCK = 1024,
    SHAPES = 72
};

typedef struct Event {
    const MsOp *op; /* NULL: a range of the caller, named `text` */
    const MsKernel *kernel;
    int64_t from, to, bytes, flops;
    int tid;
    char text[SHAPES];
} Event;

typedef struct Block {
    struct Block *next;
    int n;
    Event event[PER_BLOCK];
} Block;

static atomic_bool on, shapes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *first, *last;
static int64_t n_lost;

int64_t ms__now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t numel(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    return n;
}

/* Multiplications and additions; 0 where they are not worth counting. */
static int64_t flops_of(const MsCall *c)
{
    const char *name = c->op->name;
    if (c->n_in < 2 || !c->in[0] || !c->in[1] || c->n_out < 1) return 0;
    int64_t out = numel(c->aval[0].ndim, c->aval[0].shape);
    const MsTensor *a = c->in[0], *b = c->in[1];
    if (strcmp(name, "matmul") == 0) return 2 * out * a->shape[a->ndim - (c->attr[0].i ? 2 : 1)];
    if (strcmp(name, "linear") == 0) return 2 * out * a->shape[a->ndim - 1];
    if (strcmp(name, "conv") == 0 && b->shape[0]) return 2 * out * (numel(b->ndim, b->shape) / b->shape[0]);
    if (strcmp(name, "conv_input_grad") == 0 && b->shape[0])
        return 2 * numel(a->ndim, a->shape) * (numel(b->ndim, b->shape) / b->shape[0]);
    if (strcmp(name, "conv_weight_grad") == 0 && c->aval[0].shape[0])
        return 2 * numel(b->ndim, b->shape) * (out / c->aval[0].shape[0]);
    return 0;
}

static int64_t bytes_of(const MsCall *c)
{
    int64_t n = 0;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i]) n += numel(c->in[i]->ndim, c->in[i]->shape) * (int64_t)ms_dtype_size(c->in[i]->dtype);
    for (int j = 0; j < c->n_out; j++)
        n += numel(c->aval[j].ndim, c->aval[j].shape) * (int64_t)ms_dtype_size(c->aval[j].dtype);
    return n;
}

static void put(const Event *e)
{
    pthread_mutex_lock(&lock);
    if (!last || last->n == PER_BLOCK) {
        Block *b = ms__malloc(sizeof *b);
        if (b) {
            b->next = NULL;
            b->n = 0;
            if (last) last->next = b;
            if (!first) first = b;
            last = b;
        } else {
            ms_error_clear();
        }
    }
    if (last && last->n < PER_BLOCK)
        last->event[last->n++] = *e;
    else
        n_lost++;
    pthread_mutex_unlock(&lock);
}

static MsStatus run_recorded(MsStatus (*run)(MsCall *c), MsCall *c)
{
    Event e = {.op = c->op, .from = ms__now()};
    MsStatus st = run(c);
    e.to = ms__now();
    e.tid = (int)syscall(SYS_gettid);
    for (const MsKernel *const *k = c->op->kernels; *k; k++)
        if ((*k)->run == run) e.kernel = *k;
    e.bytes = bytes_of(c);
    e.flops = flops_of(c);
    if (shapes) {
        size_t n = 0;
        for (int i = 0; i < c->n_in && n + 1 < sizeof e.text; i++)
            if (c->in[i])
                n += (size_t)snprintf(e.text + n, sizeof e.text - n, "%s%s", n ? " " : "",
                                      ms__shape_text(c->in[i]->ndim, c->in[i]->shape));
    }
    put(&e);
    return st;
}

/* The message of a refused allocation, "Out of memory: ...", knows no operator. */
static MsStatus refused(const MsCall *c)
{
    static const char unnamed[] = "Out of memory: ";
    char why[900];
    if (strncmp(ms_error()->message, unnamed, sizeof unnamed - 1) != 0) return MS_ERROR_MEMORY;
    snprintf(why, sizeof why, "%s", ms_error()->message + sizeof unnamed - 1);
    ms_error_clear();
    return MS_FAIL(MS_ERROR_MEMORY, "For '%s', out of memory: %s", c->op->name, why);
}

MsStatus ms__run(MsStatus (*run)(MsCall *c), MsCall *c)
{
    bool recorded = __builtin_expect(atomic_load_explicit(&on, memory_order_relaxed), 0);
    MsStatus st = recorded ? run_recorded(run, c) : run(c);
    return __builtin_expect(st == MS_ERROR_MEMORY, 0) ? refused(c) : st;
}

void ms_profile_start(bool with_shapes)
{
    shapes = with_shapes;
    on = true;
}

void ms_profile_stop(void)
{
    on = false;
}

void ms_profile_clear(void)
{
    pthread_mutex_lock(&lock);
    while (first) {
        Block *next = first->next;
        free(first);
        first = next;
    }
    last = NULL;
    n_lost = 0;
    pthread_mutex_unlock(&lock);
}

void ms_profile_range(const char *name, int64_t from_ns, int64_t to_ns)
{
    Event e = {.from = from_ns, .to = to_ns, .tid = (int)syscall(SYS_gettid)};
    snprintf(e.text, sizeof e.text, "%s", name);
    if (on) put(&e);
}

int ms_profile_table(int cap, MsProfileRow *row)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    for (const Block *b = first; b; b = b->next) {
        for (int k = 0; k < b->n; k++) {
            const Event *e = &b->event[k];
            if (!e->op) continue;
            const char *kernel = e->kernel ? e->kernel->name : "";
            int at = 0;
            while (at < n && (row[at].op != e->op->name || row[at].kernel != kernel)) at++;
            if (at == n) {
                if (n == cap) continue;
                row[n++] = (MsProfileRow){.op = e->op->name, .kernel = kernel};
            }
            row[at].calls++;
            row[at].ns += e->to - e->from;
            row[at].bytes += e->bytes;
            row[at].flops += e->flops;
        }
    }
    pthread_mutex_unlock(&lock);
    return n;
}

static void put_text(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fputc('\\', f);
        fputc((unsigned char)*s < 32 ? ' ' : *s, f);
    }
}

static void put_event(FILE *f, const Event *e, const char *before)
{
    fprintf(f, "%s{\"name\":\"", before);
    put_text(f, e->op ? e->op->name : e->text);
    fprintf(f, "\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\"", (int)getpid(),
            e->tid, (double)e->from / 1e3, (double)(e->to - e->from) / 1e3, e->op ? "kernel" : "range");
    if (e->op) {
        fprintf(f, ",\"args\":{\"kernel\":\"%s\",\"bytes\":%lld,\"flops\":%lld,\"shapes\":\"",
                e->kernel ? e->kernel->name : "", (long long)e->bytes, (long long)e->flops);
        put_text(f, e->text);
        fprintf(f, "\"}");
    }
    fprintf(f, "}");
}

MsStatus ms_profile_save(const char *path)
{
    FILE *f = fopen(path, "we");
    if (!f) return MS_FAIL(MS_ERROR_IO, "Cannot write '%s': %s.", path, strerror(errno));
    fprintf(f, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    pthread_mutex_lock(&lock);
    const char *before = "\n";
    for (const Block *b = first; b; b = b->next)
        for (int k = 0; k < b->n; k++, before = ",\n") put_event(f, &b->event[k], before);
    fprintf(f, "\n],\"lost\":%lld}\n", (long long)n_lost);
    pthread_mutex_unlock(&lock);
    bool bad = ferror(f) != 0;
    bad |= fclose(f) != 0;
    return bad ? MS_FAIL(MS_ERROR_IO, "Cannot write '%s': %s.", path, strerror(errno)) : MS_OK;
}
