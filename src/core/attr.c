/* attr.c - comparing, hashing and interning attributes. */
#include "core/attr.h"

#include "core/mem.h"

#include <pthread.h>
#include <string.h>

bool ms__attr_equal(const MsAttr *a, const MsAttr *b)
{
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case MS_ATTR_NONE: return true;
    case MS_ATTR_INTS: return a->n == b->n && memcmp(a->v, b->v, a->n * sizeof a->v[0]) == 0;
    default: return memcmp(&a->i, &b->i, sizeof a->i) == 0; /* floats by bits: -0 and NaN differ */
    }
}

uint64_t ms__attr_hash(const MsAttr *a, uint64_t seed)
{
    uint64_t h = (seed ^ a->kind) * 0x9E3779B97F4A7C15u;
    int n = a->kind == MS_ATTR_INTS ? a->n : a->kind != MS_ATTR_NONE;
    for (int k = 0; k < n; k++) h = (h ^ (h >> 29) ^ (uint64_t)a->v[k]) * 0xBF58476D1CE4E5B9u;
    return h ^ (h >> 32) ^ (uint64_t)n;
}

MsHost *ms_host_ref(MsHost *h)
{
    h->ref++;
    return h;
}

void ms_host_unref(MsHost *h)
{
    if (h && --h->ref == 0) h->drop(h);
}

const char *ms__intern(const char *s)
{
    static struct Entry {
        struct Entry *next;
        char text[];
    } * list[256];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint32_t h = 2166136261u;
    for (const char *p = s; *p; p++) h = (h ^ (uint8_t)*p) * 16777619u;
    pthread_mutex_lock(&lock);
    struct Entry *e = list[h % 256];
    while (e && strcmp(e->text, s) != 0) e = e->next;
    if (!e) {
        size_t n = strlen(s) + 1;
        e = ms__malloc(sizeof *e + n);
        if (e) {
            memcpy(e->text, s, n);
            e->next = list[h % 256];
            list[h % 256] = e;
        }
    }
    pthread_mutex_unlock(&lock);
    return e ? e->text : NULL;
}
