/* pool.c - workers between a node and its child. A worker takes the next rows of the child under the input
 * lock, works on them without a lock, and puts them into the slot of their number; the consumer takes the
 * slots in order. So results come in the order of the input whatever the number of workers, and a slow row
 * delays but never overtakes. Invariant: the slots of numbers [taken, taken + N_SLOT) are the window; whoever
 * would go beyond sleeps. Refused: a queue per worker with round robin, which stalls on one slow row. */
#include "data/data.h"

#include "core/mem.h"
#include "core/thread.h"

#include <stdlib.h>
#include <string.h>

typedef struct Slot {
    int n, at; /* rows in it, of which at are taken */
    bool full;
    bool last;   /* the epoch ends behind it, with `st` */
    MsStatus st; /* STOP or an error */
    MsError error;
    MsRow *row; /* `block` of them */
} Slot;

struct MsPool {
    MsNode *child; /* NULL: rows are made by work alone */
    MsRun *run;
    MsWork work;
    void *ctx;
    int workers, block, n_slot;
    int64_t epoch, input; /* rows taken from the child */
    bool inline_only;

    pthread_mutex_t in_lock; /* the child, `input`, `given` */
    pthread_mutex_t lock;    /* everything below */
    pthread_cond_t room, ready, idle;
    bool running, input_end, quit;
    int busy;             /* workers inside an epoch */
    int64_t given, taken; /* slot numbers */
    Slot *slot;
    bool opened; /* the consumer has seen the slot `taken` */
    int n_thread;
    pthread_t *thread;
};

/* Takes up to `block` rows; sets slot->last when the input ended. Called with in_lock held. */
static void take_input(MsPool *p, Slot *s, int64_t *first)
{
    *first = p->input;
    while (s->n < p->block && !s->last) {
        MsRow *row = &s->row[s->n];
        row->n = 0;
        if (p->child) {
            int mark = ms_scope_begin();
            s->st = ms__node_next(p->child, row);
            ms_scope_end(mark, NULL, 0);
        }
        if (s->st != MS_OK) {
            s->last = true;
            ms__error_take(&s->error);
        } else {
            s->n++;
            p->input++;
        }
    }
}

/* The rows before a failure stay good: they were made, and in order. */
static void work_on(MsPool *p, Slot *s, int64_t first)
{
    for (int i = 0; i < s->n; i++) {
        int mark = ms_scope_begin();
        MsStatus st = p->work(p->ctx, p->epoch, first + i, &s->row[i]);
        ms_scope_end(mark, NULL, 0);
        if (st == MS_OK) continue;
        ms__error_take(&s->error);
        for (int k = i; k < s->n; k++) ms__row_clear(&s->row[k]);
        s->n = i;
        s->last = true;
        s->st = st;
    }
}

/* One turn of a worker: false when there is nothing more to do in this epoch. */
static bool turn(MsPool *p)
{
    pthread_mutex_lock(&p->in_lock);
    pthread_mutex_lock(&p->lock);
    while (p->running && !p->input_end && !atomic_load(&p->run->stop) && p->given >= p->taken + p->n_slot)
        pthread_cond_wait(&p->room, &p->lock);
    bool go = p->running && !p->input_end && !atomic_load(&p->run->stop);
    Slot *s = &p->slot[p->given % p->n_slot];
    if (go) p->given++;
    pthread_mutex_unlock(&p->lock);
    if (!go) {
        pthread_mutex_unlock(&p->in_lock);
        return false;
    }
    int64_t first;
    s->n = s->at = 0;
    s->last = false;
    s->st = MS_OK;
    s->error.code = MS_OK;
    take_input(p, s, &first);
    if (s->last) {
        pthread_mutex_lock(&p->lock);
        p->input_end = true;
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&p->in_lock);
    work_on(p, s, first);
    pthread_mutex_lock(&p->lock);
    s->full = true;
    if (s->last) {
        p->input_end = true;
        pthread_cond_broadcast(&p->room);
    }
    pthread_cond_broadcast(&p->ready);
    pthread_mutex_unlock(&p->lock);
    return true;
}

static void *worker(void *arg)
{
    MsPool *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        if (!p->running || p->input_end || atomic_load(&p->run->stop)) {
            pthread_cond_wait(&p->room, &p->lock);
            continue;
        }
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        while (turn(p)) {
        }
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0) pthread_cond_broadcast(&p->idle);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

MsPool *ms__pool_new(MsNode *child, MsRun *run, int workers, int block, MsWork work, void *ctx)
{
    MsPool *p = ms__calloc(1, sizeof *p);
    if (!p) return NULL;
    p->child = child, p->run = run, p->work = work, p->ctx = ctx;
    p->inline_only = run->inline_only || workers <= 1;
    p->workers = p->inline_only ? 0 : workers;
    p->block = p->inline_only ? 1 : block;
    p->n_slot = p->inline_only ? 1 : 2 * workers;
    pthread_mutex_init(&p->in_lock, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->room, NULL);
    pthread_cond_init(&p->ready, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->slot = ms__calloc((size_t)p->n_slot, sizeof *p->slot);
    p->thread = ms__calloc((size_t)p->workers, sizeof *p->thread);
    bool ok = p->slot && p->thread;
    for (int k = 0; ok && k < p->n_slot; k++)
        ok = (p->slot[k].row = ms__calloc((size_t)p->block, sizeof *p->slot[k].row)) != NULL;
    if (ok) return p;
    ms__pool_free(p);
    return NULL;
}

static MsStatus start_threads(MsPool *p)
{
    while (p->n_thread < p->workers) {
        if (pthread_create(&p->thread[p->n_thread], NULL, worker, p) != 0)
            return MS_FAIL(MS_ERROR_RUNTIME, "A worker thread could not be started (%d are running).",
                           p->n_thread);
        p->n_thread++;
    }
    return MS_OK;
}

/* Stops the epoch that is under way and drops its rows. */
static void quiesce(MsPool *p)
{
    pthread_mutex_lock(&p->lock);
    p->running = false;
    pthread_cond_broadcast(&p->room);
    while (p->busy > 0) pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
    for (int k = 0; k < p->n_slot; k++) {
        Slot *s = &p->slot[k];
        for (int i = s->at; s->row && i < s->n; i++) ms__row_clear(&s->row[i]);
        s->n = s->at = 0;
        s->full = s->last = false;
    }
    p->opened = false;
}

MsStatus ms__pool_begin(MsPool *p, int64_t epoch)
{
    quiesce(p);
    if (epoch < 0) return MS_OK;
    if (p->child) MS_TRY(ms__node_begin(p->child, epoch));
    p->epoch = epoch;
    p->input = p->given = p->taken = 0;
    if (p->inline_only) return MS_OK;
    pthread_mutex_lock(&p->lock);
    p->input_end = false;
    p->running = true;
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->lock);
    return start_threads(p);
}

static MsStatus next_inline(MsPool *p, MsRow *row)
{
    row->n = 0;
    if (p->child) MS_TRY(ms__node_next(p->child, row));
    int mark = ms_scope_begin();
    MsStatus st = p->work(p->ctx, p->epoch, p->input++, row);
    ms_scope_end(mark, NULL, 0);
    if (st != MS_OK) ms__row_clear(row);
    return st;
}

MsStatus ms__pool_next(MsPool *p, MsRow *row)
{
    if (p->inline_only) return next_inline(p, row);
    for (;;) {
        Slot *s = &p->slot[p->taken % p->n_slot];
        if (!p->opened) {
            pthread_mutex_lock(&p->lock);
            while (!(p->given > p->taken && s->full) && !atomic_load(&p->run->stop))
                pthread_cond_wait(&p->ready, &p->lock);
            pthread_mutex_unlock(&p->lock);
            if (atomic_load(&p->run->stop)) return MS_ERROR_STOP;
            p->opened = true;
        }
        if (s->at < s->n) {
            *row = s->row[s->at++];
            return MS_OK;
        }
        if (s->last) return s->st == MS_ERROR_STOP ? MS_ERROR_STOP : ms__error_put(&s->error);
        pthread_mutex_lock(&p->lock);
        s->full = false;
        s->n = s->at = 0;
        p->opened = false;
        p->taken++;
        pthread_cond_signal(&p->room);
        pthread_mutex_unlock(&p->lock);
    }
}

void ms__pool_wake(MsPool *p)
{
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->room);
    pthread_cond_broadcast(&p->ready);
    pthread_mutex_unlock(&p->lock);
}

void ms__pool_free(MsPool *p)
{
    if (!p) return;
    if (p->slot) quiesce(p);
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->lock);
    for (int k = 0; k < p->n_thread; k++) pthread_join(p->thread[k], NULL);
    for (int k = 0; p->slot && k < p->n_slot; k++) free(p->slot[k].row);
    free(p->slot);
    free(p->thread);
    pthread_cond_destroy(&p->room);
    pthread_cond_destroy(&p->ready);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->in_lock);
    free(p);
}
