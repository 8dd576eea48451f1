/* tensor.c - handles, storage and scopes. Invariant: a handle returned to anyone is in the scope stack of the
 * thread that made it, or that thread had no open scope. Refused: per-call ownership transfer rules as in
 * most C libraries; they make compositions three times as long and every error path a leak. */
#include "core/tensor.h"

#include "core/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- scopes ---- */

static _Thread_local struct {
    MsTensor **item;
    int n, cap, depth;
} scope;

/* Freed handles are kept per thread: making one costs a pop. */
static _Thread_local MsTensor *spare[64];
static _Thread_local int n_spare;

/* What a thread keeps goes with it. */
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static _Thread_local bool exit_known;

static void thread_exit(void *unused)
{
    (void)unused;
    while (n_spare > 0) free(spare[--n_spare]);
    if (scope.depth == 0) {
        free(scope.item);
        scope.item = NULL;
        scope.cap = scope.n = 0;
    }
    exit_known = false;
}

static void exit_init(void)
{
    pthread_key_create(&exit_key, thread_exit);
}

static void thread_enter(void)
{
    pthread_once(&exit_once, exit_init);
    exit_known = pthread_setspecific(exit_key, &exit_key) == 0;
}

int ms_scope_begin(void)
{
    scope.depth++;
    return scope.n;
}

void ms_scope_end(int mark, MsTensor *const *keep, int n)
{
    for (int i = 0; i < n; i++)
        if (keep[i]) ms_tensor_ref(keep[i]);
    while (scope.n > mark) ms_tensor_unref(scope.item[--scope.n]);
    scope.depth--;
    if (scope.depth > 0)
        for (int i = 0; i < n; i++)
            if (keep[i]) ms__scope_own(keep[i]); /* room is there: the stack was longer or has capacity */
    if (scope.depth == 0 && scope.cap > 4096) {
        free(scope.item);
        scope.item = NULL;
        scope.cap = scope.n = 0;
    }
}

MsTensor *ms__scope_own(MsTensor *t)
{
    if (!t || scope.depth == 0) return t;
    if (scope.n == scope.cap) {
        int cap = scope.cap ? scope.cap * 2 : 256;
        MsTensor **item = ms__realloc(scope.item, (size_t)cap * sizeof *item);
        if (!item) {
            ms_tensor_unref(t);
            return NULL;
        }
        scope.item = item;
        scope.cap = cap;
        if (!exit_known) thread_enter();
    }
    scope.item[scope.n++] = t;
    return t;
}

/* ---- storage ---- */

MsStorage *ms__storage_new(size_t nbytes)
{
    MsStorage *s = ms__malloc(sizeof *s);
    if (!s) return NULL;
    *s = (MsStorage){.ref = 1, .nbytes = nbytes};
    s->data = ms__alloc(nbytes);
    if (!s->data) {
        free(s);
        return NULL;
    }
    return s;
}

MsStorage *ms__storage_ref(MsStorage *s)
{
    atomic_fetch_add_explicit(&s->ref, 1, memory_order_relaxed);
    return s;
}

bool ms__storage_hold(MsStorage *s)
{
    int n = atomic_load_explicit(&s->ref, memory_order_relaxed);
    while (n > 0)
        if (atomic_compare_exchange_weak_explicit(&s->ref, &n, n + 1, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return true;
    return false;
}

void ms__packed_free(MsPacked *list)
{
    while (list) {
        MsPacked *next = list->next;
        if (list->data) ms__free(list->data, list->nbytes);
        free(list);
        list = next;
    }
}

void ms__storage_unref(MsStorage *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->ref, 1, memory_order_acq_rel) != 1) return;
    if (s->lazy || s->users) ms__lazy_drop(s);
    ms__packed_free(s->packed);
    if (s->release)
        s->release(s->ctx);
    else
        ms__free(s->data, s->nbytes);
    free(s);
}

/* ---- shapes ---- */

int64_t ms__numel(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    bool empty = false;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] < 0) {
            MS_FAIL(MS_ERROR_VALUE, "The shape must not have negative sizes, but got %s.",
                    ms__shape_text(ndim, shape));
            return -1;
        }
        if (shape[d] == 0)
            empty = true;
        else if (n > ((int64_t)1 << 56) / shape[d]) {
            MS_FAIL(MS_ERROR_MEMORY, "Out of memory: a tensor of shape %s is larger than any memory.",
                    ms__shape_text(ndim, shape));
            return -1;
        } else
            n *= shape[d];
    }
    return empty ? 0 : n;
}

void ms__row_major(int ndim, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = step;
        step *= shape[d] > 0 ? shape[d] : 1;
    }
}

bool ms__is_row_major(int ndim, const int64_t *shape, const int64_t *strides)
{
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        if (shape[d] == 0) return true;
        if (shape[d] != 1 && strides[d] != step) return false;
        step *= shape[d];
    }
    return true;
}

/* ---- handles ---- */

static MsTensor *handle_new(MsDtype dtype, int ndim, const int64_t *shape, int64_t numel)
{
    MsTensor *t;
    if (n_spare > 0) {
        t = spare[--n_spare];
    } else {
        t = ms__malloc(sizeof *t);
        if (!t) return NULL;
    }
    memset(t, 0, offsetof(MsTensor, shape));
    t->ref = 1;
    t->dtype = (int8_t)dtype;
    t->ndim = (int8_t)ndim;
    t->numel = numel;
    for (int d = 0; d < ndim; d++) t->shape[d] = shape[d];
    t->storage = NULL;
    t->data = NULL;
    t->trace = NULL;
    t->tv.value = t->tv.other = NULL;
    t->tv.id = -1;
    t->alias = NULL;
    ms__count_handle(1);
    return t;
}

static void drop_payload(MsTensor *t)
{
    ms__storage_unref(t->storage);
    ms_tensor_unref(t->tv.value);
    ms_tensor_unref(t->tv.other);
    if (t->alias) ms__alias_free(t->alias);
    if (t->trace) ms__trace_count(t->trace, -1);
    t->trace = NULL;
    t->storage = NULL;
    t->tv.value = t->tv.other = NULL;
    t->alias = NULL;
}

MsTensor *ms_tensor_ref(MsTensor *t)
{
    if (t) atomic_fetch_add_explicit(&t->ref, 1, memory_order_relaxed);
    return t;
}

void ms_tensor_unref(MsTensor *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->ref, 1, memory_order_acq_rel) != 1) return;
    drop_payload(t);
    ms__count_handle(-1);
    if (!exit_known) thread_enter();
    if (n_spare < 64 && exit_known)
        spare[n_spare++] = t;
    else
        free(t);
}

static bool check_new(MsDtype dtype, int ndim)
{
    if (dtype < 0 || dtype >= MS_DTYPE_COUNT) {
        MS_FAIL(MS_ERROR_TYPE, "A tensor needs a dtype, but got %d.", (int)dtype);
        return false;
    }
    if (ndim < 0 || ndim > MS_MAX_DIM) {
        MS_FAIL(MS_ERROR_VALUE, "A tensor has at most %d dimensions, but got %d.", MS_MAX_DIM, ndim);
        return false;
    }
    return true;
}

MsTensor *ms__tensor_dense(MsDtype dtype, int ndim, const int64_t *shape, const int64_t *strides)
{
    if (!check_new(dtype, ndim)) return NULL;
    int64_t n = ms__numel(ndim, shape);
    if (n < 0) return NULL;
    MsTensor *t = handle_new(dtype, ndim, shape, n);
    if (!t) return NULL;
    if (strides) {
        memcpy(t->strides, strides, (size_t)ndim * sizeof *strides);
        t->contiguous = ms__is_row_major(ndim, shape, strides);
    } else {
        ms__row_major(ndim, shape, t->strides);
        t->contiguous = true;
    }
    t->storage = ms__storage_new((size_t)n * ms_dtype_size(dtype));
    if (!t->storage) {
        ms_tensor_unref(t);
        return NULL;
    }
    t->data = t->storage->data;
    return ms__scope_own(t);
}

MsTensor *ms__tensor_pending(const MsAval *a, const int64_t *strides)
{
    int64_t n = ms__numel(a->ndim, a->shape);
    if (n < 0) return NULL;
    MsStorage *s = ms__malloc(sizeof *s);
    if (!s) return NULL;
    *s = (MsStorage){.ref = 1, .nbytes = (size_t)n * ms_dtype_size(a->dtype)};
    MsTensor *t = handle_new(a->dtype, a->ndim, a->shape, n);
    if (!t) {
        free(s);
        return NULL;
    }
    memcpy(t->strides, strides, (size_t)a->ndim * sizeof *strides);
    t->contiguous = ms__is_row_major(a->ndim, a->shape, strides);
    t->storage = s;
    return ms__scope_own(t);
}

MsTensor *ms_tensor_empty(MsDtype dtype, int ndim, const int64_t *shape)
{
    return ms__tensor_dense(dtype, ndim, shape, NULL);
}

MsTensor *ms_tensor_from(MsDtype dtype, int ndim, const int64_t *shape, const void *data)
{
    MsTensor *t = ms_tensor_empty(dtype, ndim, shape);
    if (t && t->numel) memcpy(t->data, data, (size_t)t->numel * ms_dtype_size(dtype));
    return t;
}

MsTensor *ms_tensor_wrap(MsDtype dtype, int ndim, const int64_t *shape, const int64_t *strides, void *data,
                         void (*release)(void *), void *ctx)
{
    if (!check_new(dtype, ndim)) return NULL;
    int64_t n = ms__numel(ndim, shape);
    if (n < 0) return NULL;
    MsStorage *s = ms__malloc(sizeof *s);
    if (!s) return NULL;
    MsTensor *t = handle_new(dtype, ndim, shape, n);
    if (!t) {
        free(s);
        return NULL;
    }
    *s = (MsStorage){.ref = 1,
                     .data = data,
                     .nbytes = (size_t)n * ms_dtype_size(dtype),
                     .exposed = 1,
                     .release = release,
                     .ctx = ctx};
    if (strides)
        memcpy(t->strides, strides, (size_t)ndim * sizeof *strides);
    else
        ms__row_major(ndim, shape, t->strides);
    t->contiguous = ms__is_row_major(ndim, shape, t->strides);
    t->storage = s;
    t->data = data;
    void (*keep)(void *) = s->release;
    s->release = NULL; /* nothing is released when the scope refuses the handle */
    s->data = NULL;
    t = ms__scope_own(t);
    if (t) {
        s->release = keep;
        s->data = data;
    }
    return t;
}

MsTensor *ms__tensor_view(MsTensor *t, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset)
{
    int64_t n = ms__numel(ndim, shape);
    if (n < 0) return NULL;
    MsTensor *v = handle_new((MsDtype)t->dtype, ndim, shape, n);
    if (!v) return NULL;
    memcpy(v->strides, strides, (size_t)ndim * sizeof *strides);
    v->contiguous = ms__is_row_major(ndim, shape, strides);
    v->storage = ms__storage_ref(t->storage);
    v->data = t->data + offset * (int64_t)ms_dtype_size((MsDtype)t->dtype);
    return ms__scope_own(v);
}

MsTensor *ms__tensor_bitcast(MsTensor *t, MsDtype dtype)
{
    MsTensor *v = ms__tensor_view(t, t->ndim, t->shape, t->strides, 0);
    if (v) v->dtype = (int8_t)dtype;
    return v;
}

MsTensor *ms__tensor_traced(MsTrace *trace, const MsAval *a, MsTensor *value, MsTensor *other, int id)
{
    int64_t n = ms__numel(a->ndim, a->shape);
    if (n < 0) return NULL;
    MsTensor *t = handle_new(a->dtype, a->ndim, a->shape, n);
    if (!t) return NULL;
    ms__row_major(a->ndim, a->shape, t->strides);
    t->contiguous = true;
    t->trace = trace;
    ms__trace_count(trace, 1);
    t->tv.value = ms_tensor_ref(value);
    t->tv.other = ms_tensor_ref(other);
    t->tv.id = id;
    return ms__scope_own(t);
}

MsTensor *ms__tensor_borrow(MsStorage *storage, char *data, MsDtype dtype, int ndim, const int64_t *shape,
                            const int64_t *strides)
{
    MsTensor *t = handle_new(dtype, ndim, shape, ms__numel(ndim, shape));
    if (!t) return NULL;
    if (strides)
        memcpy(t->strides, strides, (size_t)ndim * sizeof *strides);
    else
        ms__row_major(ndim, shape, t->strides);
    t->contiguous = ms__is_row_major(ndim, shape, t->strides);
    t->storage = ms__storage_ref(storage);
    t->data = data;
    return ms__scope_own(t);
}

void ms__tensor_become(MsTensor *to, MsTensor *from)
{
    if (to == from) return;
    MsStorage *storage = from->storage ? ms__storage_ref(from->storage) : NULL;
    MsTensor *value = ms_tensor_ref(from->tv.value), *other = ms_tensor_ref(from->tv.other);
    if (from->trace) ms__trace_count(from->trace, 1);
    if (to->trace) ms__trace_count(to->trace, -1);
    ms__storage_unref(to->storage);
    ms_tensor_unref(to->tv.value);
    ms_tensor_unref(to->tv.other);
    memcpy(to->strides, from->strides, sizeof to->strides);
    to->contiguous = from->contiguous;
    to->storage = storage;
    to->data = from->data;
    to->trace = from->trace;
    to->tv.value = value;
    to->tv.other = other;
    to->tv.id = from->tv.id;
    to->literal = false;
    to->version++;
}

/* ---- public accessors: an error passes through them, so that of NULL they tell of nothing ---- */

MsDtype ms_tensor_dtype(const MsTensor *t)
{
    return t ? (MsDtype)t->dtype : MS_BOOL;
}
int ms_tensor_ndim(const MsTensor *t)
{
    return t ? t->ndim : 0;
}
const int64_t *ms_tensor_shape(const MsTensor *t)
{
    return t ? t->shape : NULL;
}
const int64_t *ms_tensor_strides(const MsTensor *t)
{
    return t ? t->strides : NULL;
}
int64_t ms_tensor_numel(const MsTensor *t)
{
    return t ? t->numel : 0;
}
bool ms_tensor_is_contiguous(const MsTensor *t)
{
    return t->contiguous;
}
bool ms_tensor_is_traced(const MsTensor *t)
{
    return t->trace != NULL;
}
