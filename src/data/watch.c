/* watch.c - a node that lets rows pass and tells a function of the host language what passes. The epochs that it
 * tells of are the iterator's: a repeat above begins it several times in one of them. The end of an epoch is told
 * when the whole pipeline is at its end, since no node knows how often those above begin it again. */
#include "data/watch.h"

#include "data/data.h"

typedef struct WatchSet {
    MsDataset base;
    MsHostWatch host;
} WatchSet;

typedef struct WatchNode {
    MsNode base;
    int64_t epoch; /* -1: none yet */
    _Atomic int64_t in_epoch, total;
} WatchNode;

static void watch_free(MsDataset *d)
{
    const MsHostWatch *h = &((WatchSet *)d)->host;
    if (h->release) h->release(h->ctx);
}

static MsStatus tell(WatchNode *n, MsWatchEvent event)
{
    const MsHostWatch *h = &((WatchSet *)n->base.set)->host;
    if (n->base.run->unwatched) return MS_OK;
    return h->tell(h->ctx, event, n->epoch, atomic_load(&n->in_epoch), atomic_load(&n->total));
}

static MsStatus watch_open(MsNode *node)
{
    ((WatchNode *)node)->epoch = -1;
    return MS_OK;
}

static MsStatus watch_begin(MsNode *node, int64_t epoch)
{
    WatchNode *n = (WatchNode *)node;
    MS_TRY(ms__node_begin(node->child[0], epoch));
    if (n->epoch == node->run->epoch) return MS_OK;
    n->epoch = node->run->epoch;
    atomic_store(&n->in_epoch, 0);
    return tell(n, MS_WATCH_EPOCH_BEGIN);
}

static MsStatus watch_next(MsNode *node, MsRow *row)
{
    WatchNode *n = (WatchNode *)node;
    MS_TRY(ms__node_next(node->child[0], row));
    atomic_fetch_add(&n->in_epoch, 1);
    atomic_fetch_add(&n->total, 1);
    MsStatus st = tell(n, MS_WATCH_ROW);
    if (st != MS_OK) ms__row_clear(row);
    return st;
}

static MsStatus watch_end(MsNode *node)
{
    return tell((WatchNode *)node, MS_WATCH_EPOCH_END);
}

static const MsDatasetKind watch_kind = {
    .name = "watch",
    .set_size = sizeof(WatchSet),
    .node_size = sizeof(WatchNode),
    .free = watch_free,
    .open = watch_open,
    .begin = watch_begin,
    .next = watch_next,
    .end = watch_end,
};

MsDataset *ms__dataset_watch(MsDataset *d, const MsHostWatch *watch)
{
    WatchSet *s = (WatchSet *)ms__dataset_new(&watch_kind, 1, &d);
    if (s)
        s->host = *watch;
    else if (watch->release)
        watch->release(watch->ctx);
    return (MsDataset *)s;
}
