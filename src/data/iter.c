/* iter.c - an iterator: one thread runs the tree of nodes ahead of the consumer into a bounded queue. The
 * thread sleeps when the queue is full, the consumer when it is empty. The end of an epoch and a failure are
 * items of the queue, so they arrive in order; error records are moved between the threads with them. In
 * debug mode there is no thread. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"
#include "data/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 100000000 /* how often a waiting consumer asks for Ctrl-C */

typedef struct Item {
    MsStatus st;
    MsRow row;
} Item;

struct MsDataIter {
    MsRun run;
    MsNode *root;
    pid_t owner;           /* a forked process has the iterator but not its threads */
    int64_t epochs, epoch; /* epoch: begun by the producer */
    int64_t seen;          /* epochs whose end the consumer has seen */
    int64_t skip;          /* rows of the first epoch that nobody gets */
    bool in_epoch;         /* inline mode */
    MsStatus failed;       /* an error is final */
    MsError error;

    pthread_mutex_t lock;
    pthread_cond_t room, ready;
    int cap, head, n;
    Item *item;
    bool started;
    pthread_t thread;
};

/* A row that shares memory with the dataset is copied: the consumer may write into what it gets. */
static MsStatus make_own(MsRow *row)
{
    for (int c = 0; c < row->n; c++) {
        MsTensor *t = row->col[c];
        if (t->contiguous && atomic_load(&t->storage->ref) == 1 && atomic_load(&t->ref) == 1) continue;
        MsTensor *dense = ms__data_contiguous(t);
        if (dense == t) dense = ms_tensor_from((MsDtype)t->dtype, t->ndim, t->shape, t->data);
        if (!dense) return ms_error()->code;
        row->col[c] = ms_tensor_ref(dense);
        ms_tensor_unref(t);
    }
    return MS_OK;
}

static MsStatus produce(MsDataIter *it, MsRow *row)
{
    int mark = ms_scope_begin();
    row->n = 0;
    MsStatus st = ms__node_next(it->root, row);
    if (st == MS_OK) st = make_own(row);
    if (st == MS_ERROR_STOP && !atomic_load(&it->run.stop)) {
        MsStatus end = ms__node_end(it->root);
        if (end != MS_OK) st = end;
    }
    if (st != MS_OK) ms__row_clear(row);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus skip(MsDataIter *it)
{
    MsStatus st = MS_OK;
    MsRow row = {0};
    for (; st == MS_OK && it->skip > 0 && !atomic_load(&it->run.stop); it->skip--) {
        st = produce(it, &row);
        if (st == MS_OK) ms__row_clear(&row);
    }
    it->skip = 0;
    return st;
}

/* False when the iterator is being freed. */
static bool push(MsDataIter *it, Item *item)
{
    pthread_mutex_lock(&it->lock);
    while (it->n == it->cap && !atomic_load(&it->run.stop)) pthread_cond_wait(&it->room, &it->lock);
    bool go = !atomic_load(&it->run.stop);
    if (go) {
        it->item[(it->head + it->n++) % it->cap] = *item;
        pthread_cond_signal(&it->ready);
    }
    pthread_mutex_unlock(&it->lock);
    if (!go) ms__row_clear(&item->row);
    return go;
}

static void *producer(void *arg)
{
    MsDataIter *it = arg;
    Item item = {.st = MS_OK};
    bool go = true;
    for (; go && (it->epochs < 0 || it->epoch < it->epochs); it->epoch++) {
        int mark = ms_scope_begin();
        item.row.n = 0;
        it->run.epoch = it->epoch;
        item.st = ms__node_begin(it->root, it->epoch);
        ms_scope_end(mark, NULL, 0);
        if (item.st == MS_OK) item.st = skip(it);
        while (go && item.st == MS_OK) {
            item.st = produce(it, &item.row);
            if (item.st == MS_OK) go = push(it, &item);
        }
        if (!go) break;
        item.row.n = 0;
        if (item.st != MS_ERROR_STOP) ms__error_take(&it->error); /* read by the consumer after the item */
        go = push(it, &item) && item.st == MS_ERROR_STOP;
    }
    return NULL;
}

MsDataIter *ms_data_iter_new(MsDataset *d, int64_t epochs)
{
    if (!d) return NULL;
    if (epochs < 1 && epochs != -1)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "num_epochs should be either -1 or positive integer, but got %lld.",
                            (long long)epochs);
    MsDataIter *it = ms__calloc(1, sizeof *it);
    if (!it) return NULL;
    it->epochs = epochs;
    it->owner = getpid();
    it->run.seed = ms_data_run_seed();
    it->run.workers = ms_data_workers();
    it->run.inline_only = ms_data_debug();
    it->run.on_failure = ms__data_on_failure();
    it->cap = ms_data_prefetch();
    pthread_mutex_init(&it->lock, NULL);
    pthread_cond_init(&it->room, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&it->ready, &attr);
    pthread_condattr_destroy(&attr);
    it->item = ms__malloc((size_t)it->cap * sizeof *it->item);
    int mark = ms_scope_begin();
    if (it->item) it->root = ms__node_open(d, &it->run);
    ms_scope_end(mark, NULL, 0);
    if (it->root) return it;
    ms_data_iter_free(it);
    return NULL;
}

MsStatus ms_data_iter_start_at(MsDataIter *it, int64_t epoch, int64_t row)
{
    if (it->started || it->in_epoch || it->epoch || epoch < 0 || row < 0 ||
        (it->epochs >= 0 && epoch >= it->epochs))
        return MS_FAIL(MS_ERROR_VALUE,
                       "A pass starts in one of its %lld epochs before its first row is taken, but got epoch "
                       "%lld, row %lld.",
                       (long long)it->epochs, (long long)epoch, (long long)row);
    it->epoch = it->seen = epoch;
    it->skip = row;
    return MS_OK;
}

void ms__data_iter_unwatch(MsDataIter *it)
{
    it->run.unwatched = true;
}

MsStatus ms__data_iter_start(MsDataIter *it)
{
    if (it->started || it->run.inline_only) return MS_OK;
    if (pthread_create(&it->thread, NULL, producer, it) != 0)
        return MS_FAIL(MS_ERROR_RUNTIME, "The thread of a data iterator could not be started.");
    it->started = true;
    return MS_OK;
}

static MsStatus pop(MsDataIter *it, Item *item)
{
    MS_TRY(ms__data_iter_start(it));
    pthread_mutex_lock(&it->lock);
    while (it->n == 0) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLL_NS;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        if (pthread_cond_timedwait(&it->ready, &it->lock, &until) != ETIMEDOUT) continue;
        pthread_mutex_unlock(&it->lock);
        MS_TRY(ms__poll_interrupt());
        pthread_mutex_lock(&it->lock);
    }
    *item = it->item[it->head];
    it->head = (it->head + 1) % it->cap;
    it->n--;
    pthread_cond_signal(&it->room);
    pthread_mutex_unlock(&it->lock);
    return MS_OK;
}

/* Debug mode: the same items, made in the caller's thread. */
static MsStatus make(MsDataIter *it, Item *item)
{
    item->st = MS_OK;
    item->row.n = 0;
    if (!it->in_epoch) {
        int mark = ms_scope_begin();
        it->run.epoch = it->epoch;
        item->st = ms__node_begin(it->root, it->epoch++);
        ms_scope_end(mark, NULL, 0);
        it->in_epoch = true;
    }
    if (item->st == MS_OK) item->st = skip(it);
    if (item->st == MS_OK) item->st = produce(it, &item->row);
    if (item->st == MS_ERROR_STOP) it->in_epoch = false;
    if (item->st != MS_OK && item->st != MS_ERROR_STOP) ms__error_take(&it->error);
    return MS_OK;
}

MsStatus ms_data_iter_next(MsDataIter *it, MsTensor **column)
{
    if (it->owner != getpid())
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "A data iterator stays with the process that made it (%lld), a forked "
                       "process needs one of its own.",
                       (long long)it->owner);
    if (it->failed) return ms__error_put(&it->error);
    if (it->epochs >= 0 && it->seen >= it->epochs) return MS_ERROR_STOP;
    Item item;
    MS_TRY(it->run.inline_only ? make(it, &item) : pop(it, &item));
    if (item.st == MS_ERROR_STOP) {
        it->seen++;
        return MS_ERROR_STOP;
    }
    if (item.st != MS_OK) {
        it->failed = item.st;
        return ms__error_put(&it->error);
    }
    for (int c = 0; c < item.row.n; c++) {
        column[c] = ms__scope_own(item.row.col[c]);
        if (column[c]) continue;
        for (int k = c + 1; k < item.row.n; k++) ms_tensor_unref(item.row.col[k]);
        return ms_error()->code;
    }
    return MS_OK;
}

void ms_data_iter_free(MsDataIter *it)
{
    if (!it || it->owner != getpid()) return;
    pthread_mutex_lock(&it->lock);
    atomic_store(&it->run.stop, true);
    pthread_cond_broadcast(&it->room);
    pthread_mutex_unlock(&it->lock);
    if (it->root) ms__node_wake(it->root);
    if (it->started) pthread_join(it->thread, NULL);
    for (int k = 0; k < it->n; k++) ms__row_clear(&it->item[(it->head + k) % it->cap].row);
    ms__node_close(it->root);
    free(it->item);
    pthread_mutex_destroy(&it->lock);
    pthread_cond_destroy(&it->room);
    pthread_cond_destroy(&it->ready);
    free(it);
}
