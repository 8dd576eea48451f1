/* dnn.c - the plan cache, see dnn.h. A hash table of at most MAX_PLANS entries under one mutex that is held
 * for a look-up and never while something is computed or built; the least recently used plan that is idle
 * goes first. Refused: oneDNN's own primitive cache alone. It spares the compilation of a kernel, but its key
 * is the descriptor, whose creation costs more than a small product. */
#include "cpu/onednn/dnn.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/packed.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024
#define WEIGHTS 1 /* the argument that may be kept */
#define MAX_PLANS 1024

/* The memory objects of one call at a time. */
typedef struct Lease {
    struct Lease *next;
    dnnl_stream_t stream;
    dnnl_memory_t user[MS_DNN_ARGS], own[MS_DNN_ARGS],
        scratch; /* own: in the primitive's layout, else NULL */
    dnnl_exec_arg_t exec[MS_DNN_ARGS + 1];
} Lease;

typedef struct Plan {
    struct Plan *next, *newer, *older; /* bucket, use order */
    uint64_t hash;
    int64_t serial; /* no other plan ever has it */
    int64_t *key;
    int n_key;
    int busy; /* calls in flight */
    bool unsupported, pads;
    dnnl_primitive_t primitive, reorder[MS_DNN_ARGS];
    dnnl_memory_desc_t user_md[MS_DNN_ARGS], own_md[MS_DNN_ARGS], scratch_md;
    size_t own_size[MS_DNN_ARGS], own_at[MS_DNN_ARGS], scratch_size,
        total; /* one workspace: scratch, then reordered */
    int arg[MS_DNN_ARGS], n_arg;
    bool output[MS_DNN_ARGS];
    Lease *idle;
} Plan;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Plan *bucket[BUCKETS], *newest, *oldest;
static int n_plan;
static int64_t n_made;
static dnnl_engine_t engine;
static dnnl_primitive_attr_t user_scratch;

/* ---- keys ---- */

void ms__dnn_key_int(MsDnnKey *key, int64_t v)
{
    if (key->n < MS_DNN_KEY) key->v[key->n] = v;
    key->n++;
}

void ms__dnn_key(MsDnnKey *key, int64_t kind)
{
    key->n = 0;
    ms__dnn_key_int(key, kind | (int64_t)(omp_in_parallel() ? 1 : ms_thread_count()) << 8);
}

void ms__dnn_key_ints(MsDnnKey *key, int n, const int64_t *v)
{
    for (int k = 0; k < n; k++) ms__dnn_key_int(key, v[k]);
}

void ms__dnn_key_tensor(MsDnnKey *key, const MsTensor *t)
{
    ms__dnn_key_int(key, t ? t->dtype | t->ndim << 8 : -1);
    if (!t) return;
    ms__dnn_key_ints(key, t->ndim, t->shape);
    ms__dnn_key_ints(key, t->ndim, t->strides);
}

static uint64_t hash_key(const MsDnnKey *key)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < key->n; k++) {
        h = (h ^ (uint64_t)key->v[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* ---- descriptors ---- */

dnnl_data_type_t ms__dnn_dtype(MsDtype dtype)
{
    switch (dtype) {
    case MS_FLOAT32: return dnnl_f32;
    case MS_BFLOAT16: return dnnl_bf16;
    case MS_FLOAT16: return dnnl_f16;
    default: return dnnl_data_type_undef;
    }
}

static bool native(MsDtype dtype)
{
    int isa = (int)dnnl_get_effective_cpu_isa();
    switch (dtype) {
    case MS_FLOAT32: return true;
    case MS_BFLOAT16: return (isa & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
    case MS_FLOAT16: return (isa & dnnl_cpu_isa_avx512_core_fp16) == dnnl_cpu_isa_avx512_core_fp16;
    default: return false;
    }
}

dnnl_status_t ms__dnn_md(dnnl_memory_desc_t *md, MsDtype dtype, int ndim, const int64_t *dims,
                         const int64_t *strides)
{
    dnnl_dims_t d = {0}, s = {0};
    for (int k = 0; k < ndim; k++) d[k] = dims[k], s[k] = strides[k];
    for (int k = 0; k < ndim; k++) {
        if (dims[k] != 1) continue;
        s[k] = 1; /* the extent of the axes inside of it; any multiple would do */
        for (int j = 0; j < ndim; j++)
            if (dims[j] > 1 && j > k && strides[j] * dims[j] > s[k]) s[k] = strides[j] * dims[j];
    }
    return dnnl_memory_desc_create_with_strides(md, ndim, d, ms__dnn_dtype(dtype), s);
}

/* ---- making and freeing ---- */

static void lease_free(Lease *l)
{
    for (int k = 0; k < MS_DNN_ARGS; k++) {
        if (l->user[k]) dnnl_memory_destroy(l->user[k]);
        if (l->own[k]) dnnl_memory_destroy(l->own[k]);
    }
    if (l->scratch) dnnl_memory_destroy(l->scratch);
    if (l->stream) dnnl_stream_destroy(l->stream);
    free(l);
}

static Lease *lease_new(const Plan *p)
{
    Lease *l = ms__calloc(1, sizeof *l);
    if (!l) return NULL;
    dnnl_status_t st = dnnl_stream_create(&l->stream, engine, dnnl_stream_default_flags);
    for (int k = 0; k < p->n_arg && st == dnnl_success; k++) {
        st = dnnl_memory_create(&l->user[k], p->user_md[k], engine, DNNL_MEMORY_NONE);
        if (st == dnnl_success && p->reorder[k])
            st = dnnl_memory_create(&l->own[k], p->own_md[k], engine, DNNL_MEMORY_NONE);
        l->exec[k] = (dnnl_exec_arg_t){p->arg[k], p->reorder[k] ? l->own[k] : l->user[k]};
    }
    if (st == dnnl_success) st = dnnl_memory_create(&l->scratch, p->scratch_md, engine, DNNL_MEMORY_NONE);
    l->exec[p->n_arg] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, l->scratch};
    if (st == dnnl_success) return l;
    lease_free(l);
    return MS_FAIL_NULL(MS_ERROR_MEMORY, "Out of memory: oneDNN could not create memory objects (status %d).",
                        (int)st);
}

static void plan_free(Plan *p)
{
    while (p->idle) {
        Lease *l = p->idle;
        p->idle = l->next;
        lease_free(l);
    }
    for (int k = 0; k < MS_DNN_ARGS; k++) {
        if (p->reorder[k]) dnnl_primitive_destroy(p->reorder[k]);
        if (p->user_md[k]) dnnl_memory_desc_destroy(p->user_md[k]);
        if (p->own_md[k]) dnnl_memory_desc_destroy(p->own_md[k]);
    }
    if (p->scratch_md) dnnl_memory_desc_destroy(p->scratch_md);
    if (p->primitive) dnnl_primitive_destroy(p->primitive);
    free(p->key);
    free(p);
}

static size_t aligned(size_t n)
{
    return (n + MS_ALIGN - 1) / MS_ALIGN * MS_ALIGN;
}

static dnnl_status_t make_reorder(Plan *p, int k)
{
    const_dnnl_memory_desc_t from = p->output[k] ? p->own_md[k] : p->user_md[k];
    const_dnnl_memory_desc_t to = p->output[k] ? p->user_md[k] : p->own_md[k];
    dnnl_primitive_desc_t pd;
    dnnl_status_t st = dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL);
    if (st != dnnl_success) return st;
    st = dnnl_primitive_create(&p->reorder[k], pd);
    dnnl_primitive_desc_destroy(pd);
    p->own_size[k] = dnnl_memory_desc_get_size(p->own_md[k]);
    return st;
}

/* Takes what the builder made over into p. */
static dnnl_status_t adopt(Plan *p, MsDnnBuild *b)
{
    p->n_arg = b->n_arg;
    p->pads = b->pads;
    for (int k = 0; k < b->n_arg; k++) {
        p->arg[k] = b->arg[k].arg;
        p->output[k] = b->arg[k].output;
        p->user_md[k] = b->arg[k].md;
    }
    dnnl_status_t st = dnnl_primitive_create(&p->primitive, b->pd);
    const_dnnl_memory_desc_t scratch = dnnl_primitive_desc_query_md(b->pd, dnnl_query_scratchpad_md, 0);
    if (st == dnnl_success) st = dnnl_memory_desc_clone(&p->scratch_md, scratch);
    if (st == dnnl_success) p->scratch_size = dnnl_memory_desc_get_size(p->scratch_md);
    p->total = aligned(p->scratch_size);
    for (int k = 0; k < p->n_arg && st == dnnl_success; k++) {
        int index = b->arg[k].arg == DNNL_ARG_BIAS || b->arg[k].arg == DNNL_ARG_DIFF_BIAS;
        const_dnnl_memory_desc_t own = dnnl_primitive_desc_query_md(b->pd, b->arg[k].query, index);
        if (dnnl_memory_desc_equal(own, p->user_md[k])) continue;
        st = dnnl_memory_desc_clone(&p->own_md[k], own);
        if (st == dnnl_success) st = make_reorder(p, k);
        p->own_at[k] = p->total;
        p->total += aligned(p->own_size[k]);
    }
    return st;
}

static MsStatus start(void)
{
    if (__atomic_load_n(&user_scratch, __ATOMIC_ACQUIRE)) return MS_OK;
    pthread_mutex_lock(&mutex);
    dnnl_status_t st = dnnl_success;
    if (!user_scratch) {
        dnnl_primitive_attr_t attr = NULL;
        if (!engine) st = dnnl_engine_create(&engine, dnnl_cpu, 0);
        if (st == dnnl_success) st = dnnl_primitive_attr_create(&attr);
        if (st == dnnl_success) st = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
        if (st == dnnl_success) __atomic_store_n(&user_scratch, attr, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    if (st == dnnl_success) return MS_OK;
    return MS_FAIL(MS_ERROR_RUNTIME, "oneDNN could not be started (status %d).", (int)st);
}

static Plan *plan_new(const MsDnnKey *key, uint64_t hash, MsDnnBuilder build, const void *ctx)
{
    Plan *p = ms__calloc(1, sizeof *p);
    if (!p) return NULL;
    p->key = ms__malloc((size_t)key->n * sizeof *p->key);
    if (!p->key) {
        free(p);
        return NULL;
    }
    memcpy(p->key, key->v, (size_t)key->n * sizeof *p->key);
    p->n_key = key->n;
    p->hash = hash;
    MsDnnBuild b = {0};
    dnnl_status_t st = build(ctx, engine, user_scratch, &b);
    if (st == dnnl_success) {
        st = adopt(p, &b);
    } else {
        for (int k = 0; k < MS_DNN_ARGS; k++)
            if (b.arg[k].md) dnnl_memory_desc_destroy(b.arg[k].md);
    }
    if (b.pd) dnnl_primitive_desc_destroy(b.pd);
    if (st == dnnl_success) return p;
    if (st == dnnl_out_of_memory) {
        plan_free(p);
        return MS_FAIL_NULL(MS_ERROR_MEMORY, "Out of memory: oneDNN could not create a primitive.");
    }
    p->unsupported = true;
    return p;
}

/* ---- the table; the mutex is held ---- */

static void unlink_use(Plan *p)
{
    if (p->newer)
        p->newer->older = p->older;
    else
        newest = p->older;
    if (p->older)
        p->older->newer = p->newer;
    else
        oldest = p->newer;
}

static void link_use(Plan *p)
{
    p->newer = NULL;
    p->older = newest;
    if (newest) newest->newer = p;
    newest = p;
    if (!oldest) oldest = p;
}

static Plan *find(const MsDnnKey *key, uint64_t hash)
{
    for (Plan *p = bucket[hash % BUCKETS]; p; p = p->next)
        if (p->hash == hash && p->n_key == key->n &&
            memcmp(p->key, key->v, (size_t)key->n * sizeof *key->v) == 0) {
            if (p != newest) {
                unlink_use(p);
                link_use(p);
            }
            return p;
        }
    return NULL;
}

/* Drops the oldest idle plans beyond the bound into a list that the caller frees. */
static Plan *evict(void)
{
    Plan *dropped = NULL;
    for (Plan *p = oldest, *newer; p && n_plan > MAX_PLANS; p = newer) {
        newer = p->newer;
        if (p->busy) continue;
        Plan **at = &bucket[p->hash % BUCKETS];
        while (*at != p) at = &(*at)->next;
        *at = p->next;
        unlink_use(p);
        n_plan--;
        p->next = dropped;
        dropped = p;
    }
    return dropped;
}

/* A plan with `busy` raised, and an idle lease if there is one. */
static Plan *acquire(const MsDnnKey *key, MsDnnBuilder build, const void *ctx, Lease **lease)
{
    uint64_t hash = hash_key(key);
    *lease = NULL;
    pthread_mutex_lock(&mutex);
    Plan *p = find(key, hash);
    if (!p) {
        pthread_mutex_unlock(&mutex);
        Plan *made = plan_new(key, hash, build, ctx);
        if (!made) return NULL;
        pthread_mutex_lock(&mutex);
        p = find(key, hash); /* another thread may have been faster */
        if (!p) {
            p = made;
            made = NULL;
            p->serial = n_made++;
            p->next = bucket[hash % BUCKETS];
            bucket[hash % BUCKETS] = p;
            link_use(p);
            n_plan++;
        }
        p->busy++;
        Plan *dropped = evict();
        pthread_mutex_unlock(&mutex);
        if (made) plan_free(made);
        while (dropped) {
            Plan *next = dropped->next;
            plan_free(dropped);
            dropped = next;
        }
        return p;
    }
    p->busy++;
    if ((*lease = p->idle)) p->idle = p->idle->next;
    pthread_mutex_unlock(&mutex);
    return p;
}

static void release(Plan *p, Lease *lease)
{
    pthread_mutex_lock(&mutex);
    if (lease) {
        lease->next = p->idle;
        p->idle = lease;
    }
    p->busy--;
    pthread_mutex_unlock(&mutex);
}

/* ---- running ---- */

static dnnl_status_t reorder(const Plan *p, Lease *l, int k)
{
    dnnl_exec_arg_t args[2] = {{DNNL_ARG_FROM, p->output[k] ? l->own[k] : l->user[k]},
                               {DNNL_ARG_TO, p->output[k] ? l->user[k] : l->own[k]}};
    return dnnl_primitive_execute(p->reorder[k], l->stream, 2, args);
}

/* Argument k in the layout of the primitive; from the copy of `packed` if that is given and there. */
static dnnl_status_t bring(const Plan *p, Lease *l, int k, MsPacked *packed, char *work)
{
    void *kept = packed ? ms__packed_data(packed) : NULL, *fresh = NULL;
    if (packed && !kept && !(fresh = ms__alloc(p->own_size[k]))) ms_error_clear();
    void *own = kept ? kept : fresh ? fresh : work + p->own_at[k];
    dnnl_status_t st = dnnl_memory_set_data_handle(l->own[k], own);
    if (st == dnnl_success && !p->output[k] && !kept) st = reorder(p, l, k);
    if (!fresh) return st;
    if (st != dnnl_success) {
        ms__free(fresh, p->own_size[k]);
        return st;
    }
    ms__packed_fill(packed, fresh, p->own_size[k]);
    return dnnl_memory_set_data_handle(l->own[k], ms__packed_data(packed));
}

static dnnl_status_t execute(const Plan *p, Lease *l, void *const *data, MsPacked *packed, char *work)
{
    dnnl_status_t st = dnnl_memory_set_data_handle(l->scratch, work);
    for (int k = 0; k < p->n_arg && st == dnnl_success; k++) {
        st = dnnl_memory_set_data_handle(l->user[k], data[k]);
        if (st == dnnl_success && p->reorder[k]) st = bring(p, l, k, k == WEIGHTS ? packed : NULL, work);
    }
    if (st == dnnl_success) st = dnnl_primitive_execute(p->primitive, l->stream, p->n_arg + 1, l->exec);
    for (int k = 0; k < p->n_arg && st == dnnl_success; k++)
        if (p->reorder[k] && p->output[k]) st = reorder(p, l, k);
    return st;
}

/* Are the values of argument k finite? What lies between them counts too. */
static bool all_finite(const Plan *p, int k, const void *data)
{
    dnnl_data_type_t type = dnnl_data_type_undef;
    dnnl_memory_desc_query(p->user_md[k], dnnl_query_data_type, &type);
    size_t bytes = dnnl_memory_desc_get_size(p->user_md[k]);
    bool odd = false;
    if (type == dnnl_f32) {
        const uint32_t *v = data, mask = 0x7f800000;
        for (size_t i = 0; i < bytes / sizeof *v; i++) odd |= (v[i] & mask) == mask;
    } else {
        const uint16_t *v = data, mask = type == dnnl_bf16 ? 0x7f80 : 0x7c00;
        for (size_t i = 0; i < bytes / sizeof *v; i++) odd |= (v[i] & mask) == mask;
    }
    return !odd;
}

MsStatus ms__dnn_run(const MsDnnKey *key, MsDnnBuilder build, const void *ctx, void *const *data,
                     const MsTensor *weights, bool *unsupported)
{
    *unsupported = key->n > MS_DNN_KEY;
    if (*unsupported) return MS_OK;
    MS_TRY(start());
    if (omp_get_max_threads() != ms_thread_count() && !omp_in_parallel())
        omp_set_num_threads(ms_thread_count());
    Lease *lease;
    Plan *p = acquire(key, build, ctx, &lease);
    if (!p) return ms_error()->code;
    MsStatus st = MS_OK;
    if (p->unsupported || (p->pads && !all_finite(p, 1, data[1]))) {
        *unsupported = true;
    } else if (!lease && !(lease = lease_new(p))) {
        st = MS_ERROR_MEMORY;
    } else {
        char *work = ms__alloc(p->total);
        if (!work) {
            st = MS_ERROR_MEMORY;
        } else {
            MsPacked *packed = weights && p->reorder[WEIGHTS] ? ms__packed_hold(weights, p->serial) : NULL;
            dnnl_status_t ds = execute(p, lease, data, packed, work);
            if (packed) ms__packed_drop(packed);
            ms__free(work, p->total);
            if (ds != dnnl_success)
                st = MS_FAIL(ds == dnnl_out_of_memory ? MS_ERROR_MEMORY : MS_ERROR_RUNTIME,
                             "A oneDNN primitive failed with status %d.", (int)ds);
        }
    }
    release(p, lease);
    return st;
}

typedef struct Scan {
    const MsTensor *t;
    int inner;        /* the axis that lies densest */
    bool _Atomic odd; /* something is not finite */
} Scan;

typedef uint16_t V __attribute__((vector_size(16), aligned(2), may_alias));

static bool any_odd(const uint16_t *v, int64_t n, int64_t step)
{
    const uint16_t mask = 0x7f80;
    V odd[4] = {{0}};
    int64_t i = 0;
    for (; step == 1 && i + 32 <= n; i += 32)
        for (int k = 0; k < 4; k++) odd[k] |= (V)((*(const V *)(v + i + 8 * k) & mask) == mask);
    for (; i < n; i++) odd[0][0] |= (v[i * step] & mask) == mask;
    uint16_t any = 0;
    for (int k = 0; k < 32; k++) any |= odd[k / 8][k % 8];
    return any;
}

static void scan_dense(void *ctx, int64_t begin, int64_t end)
{
    Scan *s = ctx;
    if (any_odd((const uint16_t *)(const void *)s->t->data + begin, end - begin, 1)) s->odd = true;
}

static void scan_rows(void *ctx, int64_t begin, int64_t end)
{
    Scan *s = ctx;
    const MsTensor *t = s->t;
    for (int64_t r = begin; r < end; r++) {
        const uint16_t *row = (const uint16_t *)(const void *)t->data;
        int64_t rest = r;
        for (int d = t->ndim - 1; d >= 0; d--) {
            if (d == s->inner) continue;
            row += rest % t->shape[d] * t->strides[d];
            rest /= t->shape[d];
        }
        if (any_odd(row, t->shape[s->inner], t->strides[s->inner])) s->odd = true;
    }
}

bool ms__dnn_doubtful(const MsTensor *y)
{
    if (y->dtype != MS_BFLOAT16) return false;
    Scan s = {y, 0, false};
    int64_t span = 1;
    for (int d = 0; d < y->ndim; d++) {
        span += (y->shape[d] - 1) * y->strides[d];
        if (y->shape[d] > 1 && (y->strides[d] < y->strides[s.inner] || y->shape[s.inner] == 1)) s.inner = d;
    }
    int64_t n = y->shape[s.inner];
    if (span == y->numel)
        ms__parallel_for(y->numel, 65536, scan_dense, &s);
    else
        ms__parallel_for(y->numel / n, 1 + 65536 / n, scan_rows, &s);
    return s.odd;
}

MsStatus ms__dnn_call(MsCall *c, int which, MsTensor *y, MsDnnCompute compute, const MsKernel *reference)
{
    MsDtype dtype = native((MsDtype)y->dtype) ? (MsDtype)y->dtype : MS_FLOAT32;
    for (;; dtype = MS_FLOAT32) {
        bool unsupported = false;
        int mark = ms_scope_begin();
        MsStatus st = compute(c, which, y, dtype, &unsupported);
        ms_scope_end(mark, NULL, 0);
        if (st != MS_OK || !unsupported) return st;
        if (dtype == MS_FLOAT32) return reference->run(c);
    }
}
