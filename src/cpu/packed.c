/* packed.c - see packed.h. */
#include "cpu/packed.h"

#include "core/mem.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

MsPacked *ms__packed_hold(const MsTensor *t, int64_t layout)
{
    MsStorage *s = t->storage;
    ptrdiff_t offset = t->data - (char *)s->data;
    MsPacked *found = NULL, *stale = NULL;
    pthread_mutex_lock(&mutex);
    bool open = s->exposed;
    for (MsPacked **at = &s->packed, *k; (k = *at);) {
        if (!k->busy && (open || k->version != s->version)) {
            *at = k->next;
            k->next = stale;
            stale = k;
            continue;
        }
        if (k->key == layout && k->offset == offset && k->version == s->version && !open) found = k;
        at = &k->next;
    }
    if (found) {
        found->busy++;
    } else if (!open) {
        MsPacked *k = ms__calloc(1, sizeof *k);
        if (k) {
            *k = (MsPacked){.next = s->packed, .key = layout, .offset = offset, .version = s->version};
            s->packed = k;
        } else {
            ms_error_clear();
        }
    }
    pthread_mutex_unlock(&mutex);
    ms__packed_free(stale);
    return found;
}

void *ms__packed_data(MsPacked *k)
{
    return __atomic_load_n(&k->data, __ATOMIC_ACQUIRE);
}

void ms__packed_fill(MsPacked *k, void *data, size_t nbytes)
{
    pthread_mutex_lock(&mutex);
    bool first = !k->data;
    if (first) {
        k->nbytes = nbytes;
        __atomic_store_n(&k->data, data, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    if (!first) ms__free(data, nbytes);
}

void ms__packed_drop(MsPacked *k)
{
    pthread_mutex_lock(&mutex);
    k->busy--;
    pthread_mutex_unlock(&mutex);
}

const float *ms__packed_open(MsPackedUse *use, const MsTensor *t, int64_t layout, size_t nbytes)
{
    *use = (MsPackedUse){ms__packed_hold(t, layout), NULL, nbytes};
    const float *data = use->kept ? ms__packed_data(use->kept) : NULL;
    return data ? data : (use->made = ms__alloc(nbytes));
}

void ms__packed_close(MsPackedUse *use)
{
    if (use->made && use->kept)
        ms__packed_fill(use->kept, use->made, use->nbytes);
    else if (use->made)
        ms__free(use->made, use->nbytes);
    if (use->kept) ms__packed_drop(use->kept);
}
