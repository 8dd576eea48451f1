/* sampler.c - the order in which a source with random access is read: at the start of each epoch a sampler
 * writes the whole list of indices. Refused: index by index through a callback; a list of 8 bytes per row is
 * small beside the rows, and shuffling and weighting need it anyway. */
#include "data/data.h"

#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind {
    SEQUENTIAL,
    RANDOM,
    DISTRIBUTED,
    SUBSET,
    WEIGHTED,
    PK,
    BLOCKS,
    HOST
} Kind;

struct MsSampler {
    _Atomic int ref;
    Kind kind;
    bool shuffle, replacement;
    int64_t start, num, shards, id, offset, n;
    int64_t *index;
    double *weight; /* running sums */
    MsHostSampler host;
    MsSampler *child;
};

static MsSampler *sampler_new(Kind kind, int64_t num)
{
    if (num < 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "A sampler's num_samples must be 0 (all) or more, but got %lld.",
                            (long long)num);
    MsSampler *s = ms__calloc(1, sizeof *s);
    if (s) *s = (MsSampler){.ref = 1, .kind = kind, .num = num};
    return s;
}

MsSampler *ms__sampler_ref(MsSampler *s)
{
    if (s) atomic_fetch_add(&s->ref, 1);
    return s;
}

void ms_sampler_unref(MsSampler *s)
{
    if (!s || atomic_fetch_sub(&s->ref, 1) != 1) return;
    if (s->kind == HOST && s->host.release) s->host.release(s->host.ctx);
    ms_sampler_unref(s->child);
    free(s->index);
    free(s->weight);
    free(s);
}

MsSampler *ms_sampler_sequential(int64_t start, int64_t num)
{
    if (start < 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'SequentialSampler', start_index must be 0 or more, but got %lld.",
                            (long long)start);
    MsSampler *s = sampler_new(SEQUENTIAL, num);
    if (s) s->start = start;
    return s;
}

MsSampler *ms_sampler_random(bool replacement, int64_t num)
{
    MsSampler *s = sampler_new(RANDOM, num);
    if (s) s->replacement = replacement;
    return s;
}

MsSampler *ms_sampler_distributed(int64_t shards, int64_t id, bool shuffle, int64_t num, int64_t offset)
{
    if (shards < 1 || id < 0 || id >= shards)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For 'DistributedSampler', shard_id must be in [0, num_shards), but got %lld of %lld.",
            (long long)id, (long long)shards);
    if (offset >= shards)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For 'DistributedSampler', offset must be less than num_shards %lld, but got %lld.",
            (long long)shards, (long long)offset);
    MsSampler *s = sampler_new(DISTRIBUTED, num);
    if (!s) return NULL;
    s->shards = shards, s->id = id, s->shuffle = shuffle, s->offset = offset;
    return s;
}

MsSampler *ms_sampler_subset(int64_t n, const int64_t *index, bool shuffle, int64_t num)
{
    MsSampler *s = sampler_new(SUBSET, num);
    if (!s) return NULL;
    s->index = ms__malloc((size_t)n * sizeof *index);
    if (!s->index) {
        ms_sampler_unref(s);
        return NULL;
    }
    if (n > 0) memcpy(s->index, index, (size_t)n * sizeof *index);
    s->n = n, s->shuffle = shuffle;
    return s;
}

MsSampler *ms_sampler_weighted(int64_t n, const double *weight, int64_t num, bool replacement)
{
    int64_t positive = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(weight[i] >= 0) || isinf(weight[i]))
            return MS_FAIL_NULL(MS_ERROR_VALUE,
                                "For 'WeightedRandomSampler', weights must be finite and not negative, but "
                                "weights[%lld] is %g.",
                                (long long)i, weight[i]);
        positive += weight[i] > 0;
    }
    if (positive == 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'WeightedRandomSampler', some weight must be greater than zero.");
    if (!replacement && num > positive)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For 'WeightedRandomSampler', %lld samples without replacement need as many positive "
            "weights, but there are %lld.",
            (long long)num, (long long)positive);
    MsSampler *s = sampler_new(WEIGHTED, num);
    if (!s) return NULL;
    s->weight = ms__malloc((size_t)n * sizeof *weight);
    if (!s->weight) {
        ms_sampler_unref(s);
        return NULL;
    }
    memcpy(s->weight, weight, (size_t)n * sizeof *weight);
    s->n = n, s->replacement = replacement;
    return s;
}

MsSampler *ms_sampler_pk(int64_t num_val, int64_t num_class, bool shuffle, int64_t num)
{
    if (num_val < 1 || num_class < 0)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For 'PKSampler', num_val must be at least 1 and num_class 0 (all) or more, but got %lld "
            "and %lld.",
            (long long)num_val, (long long)num_class);
    MsSampler *s = sampler_new(PK, num);
    if (s) s->n = num_val, s->start = num_class, s->shuffle = shuffle;
    return s;
}

MsSampler *ms_sampler_blocks(int64_t n, const int64_t *size, bool shuffle_blocks, bool shuffle_rows)
{
    MsSampler *s = ms_sampler_subset(n, size, shuffle_blocks, 0);
    if (s) s->kind = BLOCKS, s->replacement = shuffle_rows;
    return s;
}

MsSampler *ms_sampler_host(const MsHostSampler *host)
{
    MsSampler *s = sampler_new(HOST, 0);
    if (s)
        s->host = *host;
    else if (host->release)
        host->release(host->ctx);
    return s;
}

MsSampler *ms_sampler_chain(MsSampler *parent, MsSampler *child)
{
    if (!parent || !child || parent->child) {
        if (parent && child) MS_FAIL(MS_ERROR_RUNTIME, "A sampler has one child at most.");
        ms_sampler_unref(parent);
        ms_sampler_unref(child);
        return NULL;
    }
    parent->child = child;
    return parent;
}

/* ---- sizes ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows that s itself takes of n, its child aside. */
static int64_t own_size(MsSampler *s, int64_t n)
{
    int64_t all = n;
    switch (s->kind) {
    case SEQUENTIAL: all = n > s->start ? n - s->start : 0; break;
    case RANDOM: return s->num ? (s->replacement ? s->num : least(s->num, n)) : n;
    case DISTRIBUTED: {
        int64_t shift = s->offset > 0 ? s->offset : 0;
        all = (n + shift + s->shards - 1) / s->shards;
        break;
    }
    case SUBSET: all = s->n; break;
    case BLOCKS: return n;
    case WEIGHTED: return s->num ? s->num : s->n;
    case PK: return -1;
    case HOST: return s->host.size ? s->host.size(s->host.ctx, n) : -1;
    }
    return s->num ? least(s->num, all) : all;
}

int64_t ms__sampler_size(MsSampler *s, int64_t n)
{
    if (!s) return n;
    if (s->child) n = ms__sampler_size(s->child, n);
    return n < 0 ? -1 : own_size(s, n);
}

/* ---- orders ---- */

static void shuffle_list(int64_t *v, int64_t n, MsDataRng *rng)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)ms__data_below(rng, (uint64_t)i + 1), keep = v[i];
        v[i] = v[j];
        v[j] = keep;
    }
}

static int64_t *identity(int64_t n)
{
    int64_t *v = ms__malloc((size_t)n * sizeof *v);
    for (int64_t i = 0; v && i < n; i++) v[i] = i;
    return v;
}

/* Every process must mix the rows alike, so the order follows from the configured seed and the epoch alone, not
 * from a seed that was drawn for this pass or from the node's place in its pipeline. */
static MsStatus fill_distributed(MsSampler *s, int64_t n, int64_t epoch, int64_t **out, int64_t *count)
{
    MsDataRng rng = ms__data_rng(ms_data_seed(), epoch, 0);
    int64_t m = own_size(s, n), shift = s->offset > 0 ? s->offset : 0;
    int64_t *order = identity(n), *v = ms__malloc((size_t)m * sizeof *v);
    if (!order || !v) {
        free(order);
        free(v);
        return ms_error()->code;
    }
    if (s->shuffle) shuffle_list(order, n, &rng);
    int64_t k = 0;
    for (int64_t i = 0; n > 0 && k < m; i++) {
        int64_t at = i * s->shards + s->id - shift;
        if (at < 0) at += n * ((-at + n - 1) / n); /* rows before the first come from the end */
        v[k++] = order[at % n];
    }
    free(order);
    *out = v;
    *count = k;
    return MS_OK;
}

/* Without replacement: order by u^(1/w) (Efraimidis and Spirakis, Weighted random sampling with a reservoir,
 * 2006); log(u) / w keeps the order and does not underflow. */
typedef struct Keyed {
    double key;
    int64_t i;
} Keyed;

static int by_key(const void *a, const void *b)
{
    double x = ((const Keyed *)a)->key, y = ((const Keyed *)b)->key;
    return x < y ? 1 : x > y ? -1 : 0;
}

static MsStatus fill_weighted(MsSampler *s, MsDataRng *rng, int64_t **out, int64_t *count)
{
    int64_t m = s->num ? s->num : s->n;
    int64_t *v = ms__malloc((size_t)m * sizeof *v);
    Keyed *keyed = ms__malloc((size_t)s->n * sizeof *keyed);
    if (!v || !keyed) {
        free(v);
        free(keyed);
        return ms_error()->code;
    }
    if (s->replacement) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) keyed[i].key = sum += s->weight[i];
        for (int64_t k = 0; k < m; k++) {
            double u = ms__data_unit(rng) * sum;
            int64_t lo = 0, hi = s->n - 1;
            while (lo < hi) { /* the first running sum above u */
                int64_t mid = (lo + hi) / 2;
                if (keyed[mid].key > u)
                    hi = mid;
                else
                    lo = mid + 1;
            }
            while (lo > 0 && s->weight[lo] == 0) lo--;
            v[k] = lo;
        }
    } else {
        for (int64_t i = 0; i < s->n; i++)
            keyed[i] = (Keyed){s->weight[i] > 0 ? log(1 - ms__data_unit(rng)) / s->weight[i] : -INFINITY, i};
        qsort(keyed, (size_t)s->n, sizeof *keyed, by_key);
        if (m > s->n) m = s->n;
        for (int64_t k = 0; k < m; k++) v[k] = keyed[k].i;
    }
    free(keyed);
    *out = v;
    *count = m;
    return MS_OK;
}

typedef struct Labelled {
    int64_t label, i;
} Labelled;

static int by_label(const void *a, const void *b)
{
    const Labelled *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* Each class is shuffled and gives its first num_val rows; classes with fewer give what they have. */
static MsStatus fill_pk(MsSampler *s, const MsLabels *labels, const int64_t *rows, int64_t n, MsDataRng *rng,
                        int64_t **out, int64_t *count)
{
    if (!labels || !labels->label)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "For 'PKSampler', the dataset must have classes; this one has none.");
    Labelled *all = ms__malloc((size_t)n * sizeof *all);
    int64_t *v = ms__malloc((size_t)n * sizeof *v), k = 0, classes = 0;
    MsStatus st = all && v ? MS_OK : ms_error()->code;
    for (int64_t i = 0; st == MS_OK && i < n; i++) {
        all[i].i = i;
        st = labels->label(labels->ctx, rows ? rows[i] : i, &all[i].label);
    }
    if (st == MS_OK) {
        qsort(all, (size_t)n, sizeof *all, by_label);
        for (int64_t a = 0, b; a < n && (s->start == 0 || classes < s->start); a = b, classes++) {
            for (b = a; b < n && all[b].label == all[a].label; b++) {
            }
            int64_t m = least(s->n, b - a);
            for (int64_t i = 0; i < m; i++) { /* a partial shuffle of [a, b) */
                int64_t j = a + i + (int64_t)ms__data_below(rng, (uint64_t)(b - a - i));
                Labelled keep = all[a + i];
                all[a + i] = all[j];
                all[j] = keep;
                v[k++] = all[a + i].i;
            }
        }
        if (s->shuffle) shuffle_list(v, k, rng);
        if (s->num && s->num < k) k = s->num;
    }
    free(all);
    if (st != MS_OK) {
        free(v);
        return st;
    }
    *out = v;
    *count = k;
    return MS_OK;
}

/* Blocks of adjacent rows in random order, or the rows of each in random order, or both. */
static MsStatus fill_blocks(MsSampler *s, int64_t n, MsDataRng *rng, int64_t **out)
{
    int64_t *order = identity(s->n), *begin = ms__malloc((size_t)s->n * sizeof *begin), at = 0;
    int64_t *v = ms__malloc((size_t)n * sizeof *v);
    MsStatus st = order && begin && v ? MS_OK : ms_error()->code;
    for (int64_t b = 0; st == MS_OK && b < s->n; b++) begin[b] = at, at += s->index[b];
    if (st == MS_OK && at != n)
        st = MS_FAIL(MS_ERROR_RUNTIME, "Blocks of %lld rows in all do not make up a dataset of %lld rows.",
                     (long long)at, (long long)n);
    if (st == MS_OK && s->shuffle) shuffle_list(order, s->n, rng);
    for (int64_t b = 0, k = 0; st == MS_OK && b < s->n; b++) {
        int64_t size = s->index[order[b]];
        for (int64_t i = 0; i < size; i++) v[k + i] = begin[order[b]] + i;
        if (s->replacement) shuffle_list(v + k, size, rng);
        k += size;
    }
    free(order);
    free(begin);
    if (st != MS_OK)
        free(v);
    else
        *out = v;
    return st;
}

static MsStatus fill_host(MsSampler *s, int64_t n, int64_t epoch, int64_t **out, int64_t *count)
{
    int64_t cap = n > 0 ? n : 1, m = 0;
    int64_t *v = NULL;
    for (int turn = 0; turn < 2; turn++) {
        int64_t *more = ms__realloc(v, (size_t)cap * sizeof *v);
        MsStatus st = more ? MS_OK : ms_error()->code;
        if (more) v = more;
        if (st == MS_OK) st = s->host.fill(s->host.ctx, n, epoch, cap, v, &m);
        if (st != MS_OK) {
            free(v);
            return st;
        }
        if (m <= cap) break;
        cap = m;
    }
    *out = v;
    *count = m;
    return MS_OK;
}

/* The order of s over n rows, the child aside; `rows` maps them to rows of the source. */
static MsStatus fill_own(MsSampler *s, const MsLabels *labels, const int64_t *rows, int64_t n, MsDataRng *rng,
                         int64_t epoch, int64_t **out, int64_t *count)
{
    int64_t m = s->kind == HOST ? 0 : own_size(s, n);
    switch (s->kind) {
    case SEQUENTIAL: {
        *out = identity(m);
        for (int64_t i = 0; *out && i < m; i++) (*out)[i] += s->start;
        break;
    }
    case RANDOM:
        *out = identity(s->replacement ? m : n);
        if (*out && s->replacement)
            for (int64_t i = 0; i < m; i++) (*out)[i] = n > 0 ? (int64_t)ms__data_below(rng, (uint64_t)n) : 0;
        else if (*out)
            shuffle_list(*out, n, rng);
        if (n == 0) m = 0;
        break;
    case DISTRIBUTED: return fill_distributed(s, n, epoch, out, count);
    case SUBSET:
        *out = ms__malloc((size_t)s->n * sizeof **out);
        if (*out) {
            memcpy(*out, s->index, (size_t)s->n * sizeof **out);
            if (s->shuffle) shuffle_list(*out, s->n, rng);
        }
        break;
    case WEIGHTED: return fill_weighted(s, rng, out, count);
    case PK: return fill_pk(s, labels, rows, n, rng, out, count);
    case BLOCKS: MS_TRY(fill_blocks(s, n, rng, out)); break;
    case HOST: return fill_host(s, n, epoch, out, count);
    }
    *count = m;
    return *out ? MS_OK : ms_error()->code;
}

MsStatus ms__sampler_fill(MsSampler *s, const MsLabels *labels, int64_t n, uint64_t seed, int64_t epoch,
                          int64_t **index, int64_t *count)
{
    *index = NULL;
    *count = n;
    if (!s) return MS_OK;
    int64_t *below = NULL, m = n;
    if (s->child) MS_TRY(ms__sampler_fill(s->child, labels, n, seed + 1, epoch, &below, &m));
    MsDataRng rng = ms__data_rng(seed, epoch, -1);
    MsStatus st = fill_own(s, labels, below, m, &rng, epoch, index, count);
    for (int64_t i = 0; st == MS_OK && i < *count; i++) {
        int64_t k = (*index)[i];
        if (k < 0 || k >= m)
            st = MS_FAIL(MS_ERROR_RUNTIME,
                         "The sampler gave an index that is not there: Sample ID (%lld) is out of bound, "
                         "expected range [0, %lld].",
                         (long long)k, (long long)m - 1);
        else if (below)
            (*index)[i] = below[k];
    }
    free(below);
    if (st != MS_OK) {
        free(*index);
        *index = NULL;
    }
    return st;
}
