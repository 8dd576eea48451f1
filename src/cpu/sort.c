/* sort.c - sort, topk, searchsorted and unique over unsigned keys: one radix sort serves every dtype, is
 * stable, and passes over bytes in which all keys agree. topk selects by the same bytes and sorts k entries
 * only. Refused: comparison sorts per dtype, which are slower for long rows and need care with NaN in each
 * comparison. */
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/index.h"
#include "cpu/loops.h"
#include "cpu/order.h"

#include <string.h>

/* ---- keys ---- */

#define KEYS_INT(T, BIAS)                                                                                    \
    for (int64_t k = 0; k < n; k++) key[k] = (uint64_t)((int64_t)((const T *)x)[k * stride]) ^ (BIAS);
/* Positive floats order as their bits; negative ones in reverse, below. */
#define KEYS_FLOAT(U, BITS, INF)                                                                             \
    for (int64_t k = 0; k < n; k++) {                                                                        \
        const uint64_t sign = (uint64_t)1 << (BITS - 1), all = sign | (sign - 1);                            \
        uint64_t u = ((const U *)x)[k * stride], size = u & ~sign;                                           \
        if (size > (INF))                                                                                    \
            key[k] = nan_low ? 0 : all;                                                                      \
        else                                                                                                 \
            key[k] = size == 0 ? sign : u & sign ? all - u : u | sign;                                       \
    }

void ms__order_keys(MsDtype dtype, int64_t n, const void *x, int64_t stride, bool nan_low, bool flip,
                    uint64_t *key)
{
    const uint64_t top = (uint64_t)1 << 63;
    if (dtype == MS_FLOAT32 && stride == 1) {
        ms__loops()->rows->keys(n, x, nan_low ? 0 : ~0u, flip ? ~(uint64_t)0 : 0, key);
        return;
    }
    switch (dtype) {
    case MS_BOOL:
        for (int64_t k = 0; k < n; k++) key[k] = ((const uint8_t *)x)[k * stride] != 0;
        break;
    case MS_INT8: KEYS_INT(int8_t, top) break;
    case MS_INT16: KEYS_INT(int16_t, top) break;
    case MS_INT32: KEYS_INT(int32_t, top) break;
    case MS_INT64: KEYS_INT(int64_t, top) break;
    case MS_UINT8: KEYS_INT(uint8_t, 0) break;
    case MS_UINT16: KEYS_INT(uint16_t, 0) break;
    case MS_UINT32: KEYS_INT(uint32_t, 0) break;
    case MS_UINT64: KEYS_INT(uint64_t, 0) break;
    case MS_FLOAT16: KEYS_FLOAT(uint16_t, 16, 0x7c00) break;
    case MS_BFLOAT16: KEYS_FLOAT(uint16_t, 16, 0x7f80) break;
    case MS_FLOAT32: KEYS_FLOAT(uint32_t, 32, 0x7f800000) break;
    case MS_FLOAT64: KEYS_FLOAT(uint64_t, 64, 0x7ff0000000000000) break;
    default: break;
    }
    if (flip)
        for (int64_t k = 0; k < n; k++) key[k] = ~key[k];
}

void ms__order_sort(int64_t n, uint64_t *key, int64_t *index, uint64_t *key2, int64_t *index2)
{
    if (n <= 48) {
        for (int64_t k = 1; k < n; k++) {
            uint64_t v = key[k];
            int64_t i = index[k], j = k;
            for (; j > 0 && key[j - 1] > v; j--) key[j] = key[j - 1], index[j] = index[j - 1];
            key[j] = v, index[j] = i;
        }
        return;
    }
    uint64_t low = key[0], differ = 0;
    for (int64_t k = 1; k < n; k++) differ |= key[k] ^ low;
    uint64_t *from = key, *to = key2;
    int64_t *from_i = index, *to_i = index2;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255)) continue;
        int64_t count[256] = {0}, sum = 0;
        for (int64_t k = 0; k < n; k++) count[from[k] >> shift & 255]++;
        for (int b = 0; b < 256; b++) {
            int64_t here = count[b];
            count[b] = sum;
            sum += here;
        }
        for (int64_t k = 0; k < n; k++) {
            int64_t at = count[from[k] >> shift & 255]++;
            to[at] = from[k], to_i[at] = from_i[k];
        }
        uint64_t *t = from;
        from = to, to = t;
        int64_t *t_i = from_i;
        from_i = to_i, to_i = t_i;
    }
    if (from != key) {
        memcpy(key, from, (size_t)n * sizeof *key);
        memcpy(index, from_i, (size_t)n * sizeof *index);
    }
}

/* ---- sort, topk ---- */

#define FEW 16     /* results per row that are inserted one by one */
#define RANKED 160 /* elements of a row that are placed by comparing all with all */

typedef struct Rows {
    MsTensor *x, *y, *index;
    int axis;
    int64_t n, k; /* row length, results per row */
    bool flip;
    _Atomic bool no_memory;
} Rows;

/* The k first in order among n keys: everything below the k-th key, then the earliest of those equal to it.
 */
static void select_first(int64_t n, int64_t k, const uint64_t *key, uint64_t *out_key, int64_t *out)
{
    uint64_t prefix = 0, mask = 0, differ = 0;
    int64_t left = k;
    for (int64_t i = 1; i < n; i++) differ |= key[i] ^ key[0];
    for (int shift = 56; shift >= 0; shift -= 8) {
        int64_t count[256] = {0};
        if (!(differ >> shift & 255)) {
            prefix |= key[0] & (uint64_t)255 << shift;
            mask |= (uint64_t)255 << shift;
            continue;
        }
        for (int64_t i = 0; i < n; i++)
            if ((key[i] & mask) == prefix) count[key[i] >> shift & 255]++;
        int b = 0;
        for (; left > count[b]; b++) left -= count[b];
        prefix |= (uint64_t)b << shift;
        mask |= (uint64_t)255 << shift;
    }
    int64_t m = 0;
    for (int64_t i = 0; i < n && m < k; i++) {
        if (key[i] > prefix || (key[i] == prefix && left == 0)) continue;
        if (key[i] == prefix) left--;
        out_key[m] = key[i], out[m++] = i;
    }
}

/* The same for few of them, in order: one walk that keeps the k best so far. */
static void select_few(int64_t n, int64_t k, const uint64_t *key, uint64_t *out_key, int64_t *out)
{
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        if (m == k && key[i] >= out_key[m - 1]) continue;
        int64_t at = m < k ? m++ : m - 1;
        for (; at > 0 && out_key[at - 1] > key[i]; at--) out_key[at] = out_key[at - 1], out[at] = out[at - 1];
        out_key[at] = key[i], out[at] = i;
    }
}

/* The order of n <= RANKED keys of elements of 4 bytes at most. */
static void rank_few(MsDtype dtype, int64_t n, const uint64_t *key, int64_t *index)
{
    uint32_t narrow[RANKED], rank[RANKED], top = ms_dtype_is_signed_int(dtype) ? 1u << 31 : 0;
    for (int64_t k = 0; k < n; k++)
        narrow[k] = (uint32_t)key[k] ^ top; /* signed keys have their bias in bit 63 */
    for (int64_t k = n; k % 16 != 0; k++) narrow[k] = 0;
    ms__loops()->rows->rank(n, narrow, rank);
    for (int64_t k = 0; k < n; k++) index[rank[k]] = k;
}

/* y and w: the first k elements of x in order, and where they were. */
#define EMIT(T)                                                                                              \
    for (int64_t k = 0; k < r->k; k++) ((T *)y)[k * ys] = ((const T *)x)[index[k] * xs];                     \
    break;
static void emit(const Rows *r, const int64_t *index, const void *x, int64_t xs, void *y, int64_t ys,
                 int64_t *w, int64_t ws)
{
    switch (ms_dtype_size((MsDtype)r->x->dtype)) {
    case 1: EMIT(uint8_t)
    case 2: EMIT(uint16_t)
    case 4: EMIT(uint32_t)
    default: EMIT(uint64_t)
    }
    for (int64_t k = 0; k < r->k; k++) w[k * ws] = index[k];
}

static void order_row(const Rows *r, int64_t row, uint64_t *key, uint64_t *key2, int64_t *index,
                      int64_t *index2)
{
    const MsTensor *x = r->x, *y = r->y, *w = r->index;
    int64_t size = (int64_t)ms_dtype_size((MsDtype)x->dtype), xo = 0, yo = 0, io = 0, rest = row;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (d == r->axis) continue;
        int64_t at = rest % x->shape[d];
        rest /= x->shape[d];
        xo += at * x->strides[d], yo += at * y->strides[d], io += at * w->strides[d];
    }
    int64_t xs = x->ndim ? x->strides[r->axis] : 0, ys = x->ndim ? y->strides[r->axis] : 0,
            is = x->ndim ? w->strides[r->axis] : 0;
    const char *from = x->data + xo * size;
    ms__order_keys((MsDtype)x->dtype, r->n, from, xs, false, r->flip, key);
    uint64_t *sorted = key;
    bool few = r->k < r->n && r->k <= FEW, ranked = r->k == r->n && r->n <= RANKED && size <= 4;
    if (few) {
        select_few(r->n, r->k, key, key2, index);
    } else if (r->k < r->n) {
        select_first(r->n, r->k, key, key2, index);
        sorted = key2, key2 = key;
    } else if (ranked) {
        rank_few((MsDtype)x->dtype, r->n, key, index);
    } else {
        for (int64_t k = 0; k < r->n; k++) index[k] = k;
    }
    if (!few && !ranked) ms__order_sort(r->k, sorted, index, key2, index2);
    emit(r, index, from, xs, y->data + yo * size, ys, (int64_t *)(void *)w->data + io, is);
}

static void order_rows(void *ctx, int64_t begin, int64_t end)
{
    Rows *r = ctx;
    size_t bytes = (size_t)r->n * 32;
    char *block = ms__alloc(bytes);
    if (!block) {
        r->no_memory = true;
        return;
    }
    uint64_t *key = (uint64_t *)block;
    int64_t *index = (int64_t *)(key + 2 * r->n);
    for (int64_t row = begin; row < end; row++) order_row(r, row, key, key + r->n, index, index + r->n);
    ms__free(block, bytes);
}

static MsStatus order(MsCall *c, int64_t axis, int64_t k, bool flip)
{
    MsTensor *x = c->in[0], *y = ms__out(c, 0), *index = ms__out(c, 1);
    if (!y || !index) return MS_ERROR_MEMORY;
    Rows r = {x, y, index, 0, 1, k, flip, false};
    MS_TRY(ms__axis(c->op, axis, x->ndim, &r.axis));
    if (x->ndim) r.n = x->shape[r.axis];
    if (y->numel == 0) return MS_OK;
    ms__parallel_pieces(x->numel / r.n, 1 + 4096 / r.n, order_rows, &r);
    if (!r.no_memory) return MS_OK;
    return MS_FAIL(MS_ERROR_MEMORY,
                   "For '%s', the workspace of a row of %lld elements could not be allocated.", c->op->name,
                   (long long)r.n);
}

static MsStatus run_sort(MsCall *c)
{
    MsTensor *x = c->in[0];
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &axis));
    return order(c, axis, x->ndim ? x->shape[axis] : 1, c->attr[1].i);
}
MS_KERNEL(sort, 0, radix, NULL, run_sort);

static MsStatus run_topk(MsCall *c)
{
    return order(c, c->attr[1].i, c->attr[0].i, c->attr[2].i);
}
MS_KERNEL(topk, 0, radix, NULL, run_topk);

/* ---- searchsorted ---- */

static MsStatus search(MsCall *c, MsTensor *y)
{
    MsTensor *s = ms__dense(c->in[0]), *v = ms__dense(c->in[1]), *w = ms__work(y);
    if (!s || !v || !w) return MS_ERROR_MEMORY;
    if (v->numel == 0) return MS_OK;
    bool right = c->attr[0].i;
    int64_t n = s->shape[s->ndim - 1], per = v->ndim ? v->shape[v->ndim - 1] : 1;
    size_t bytes = (size_t)(s->numel + v->numel) * sizeof(uint64_t);
    uint64_t *key = ms__alloc(bytes), *want = key + s->numel;
    if (!key) return MS_ERROR_MEMORY;
    ms__order_keys((MsDtype)s->dtype, s->numel, s->data, 1, false, false, key);
    ms__order_keys((MsDtype)v->dtype, v->numel, v->data, 1, false, false, want);
    for (int64_t k = 0; k < v->numel; k++) {
        const uint64_t *row = key + (s->ndim > 1 ? k / per * n : 0);
        int64_t lo = 0, hi = n;
        while (lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            if (row[mid] < want[k] || (right && row[mid] == want[k]))
                lo = mid + 1;
            else
                hi = mid;
        }
        ((int64_t *)w->data)[k] = lo;
    }
    ms__free(key, bytes);
    return ms__work_done(y, w);
}

static MsStatus run_searchsorted(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    int mark = ms_scope_begin();
    MsStatus st = search(c, y);
    ms_scope_end(mark, NULL, 0);
    return st;
}
MS_KERNEL(searchsorted, 0, loop, NULL, run_searchsorted);

/* ---- unique ---- */

/* An output whose size is known only now. */
static MsTensor *sized(MsCall *c, int j, int64_t n)
{
    if (!c->out[j]) c->out[j] = ms_tensor_empty(c->aval[j].dtype, 1, &n);
    if (c->out[j] && (c->out[j]->shape[0] != n || !c->out[j]->contiguous))
        return MS_FAIL_NULL(MS_ERROR_RUNTIME, "For 'unique', the number of values is not known in advance.");
    return c->out[j];
}

static MsStatus unique_sorted(MsCall *c, MsTensor *x, MsTensor *inverse, const uint64_t *key,
                              const int64_t *index)
{
    int64_t n = x->numel, m = 0, size = (int64_t)ms_dtype_size((MsDtype)x->dtype);
    for (int64_t k = 0; k < n; k++) m += k == 0 || key[k] != key[k - 1];
    MsTensor *y = sized(c, 0, m), *count = sized(c, 2, m), *first = sized(c, 3, m);
    if (!y || !count || !first) return ms_error()->code;
    int64_t *inv = (int64_t *)inverse->data, *cnt = (int64_t *)count->data, *fst = (int64_t *)first->data,
            at = -1;
    for (int64_t k = 0; k < n; k++) {
        if (k == 0 || key[k] != key[k - 1]) {
            at++;
            memcpy(y->data + at * size, x->data + index[k] * size, (size_t)size);
            cnt[at] = 0;
            fst[at] = index[k];
        }
        cnt[at]++;
        inv[index[k]] = at;
    }
    return MS_OK;
}

static MsStatus run_unique(MsCall *c)
{
    MsTensor *inverse = ms__out(c, 1);
    if (!inverse) return MS_ERROR_MEMORY;
    if (ms_dtype_is_complex((MsDtype)c->in[0]->dtype))
        return MS_FAIL(MS_ERROR_TYPE, "For 'unique', complex numbers have no order.");
    int64_t n = c->in[0]->numel;
    size_t bytes = (size_t)(n > 0 ? n : 1) * 32;
    uint64_t *key = ms__alloc(bytes);
    if (!key) return MS_ERROR_MEMORY;
    int64_t *index = (int64_t *)(key + 2 * n);
    MsTensor *x = c->in[0]->contiguous ? ms_tensor_ref(c->in[0]) : NULL, *w = NULL;
    MsStatus st = MS_ERROR_MEMORY;
    int mark = ms_scope_begin();
    MsTensor *dense = x ? x : ms__dense(c->in[0]);
    ms_tensor_ref(dense);
    w = ms_tensor_ref(ms__work(inverse));
    ms_scope_end(mark, NULL, 0);
    if (dense && w) {
        ms__order_keys((MsDtype)dense->dtype, n, dense->data, 1, false, false, key);
        for (int64_t k = 0; k < n; k++) index[k] = k;
        ms__order_sort(n, key, index, key + n, index + n);
        st = unique_sorted(c, dense, w, key, index);
        if (st == MS_OK) st = ms__work_done(inverse, w);
    }
    ms_tensor_unref(w);
    ms_tensor_unref(dense);
    ms_tensor_unref(x);
    ms__free(key, bytes);
    return st;
}
MS_KERNEL(unique, 0, radix, NULL, run_unique);
