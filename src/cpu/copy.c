/* copy.c - one engine moves every element that changes place or dtype: contiguous(), casts, concat, writes
 * through views. It orders the dimensions by the destination's strides, merges those that can be walked as
 * one, and hands rows to loops by element size; a transposition goes in square tiles. Refused: a loop per
 * operator, and iterating in index order, which for a transposed source touches a cache line per element. */
#include "cpu/copy.h"

#include "core/thread.h"

#include <stdlib.h>
#include <string.h>

extern const MsCastRow ms__cast_rows_base[15][15];
#if defined(__x86_64__)
extern const MsCastRow ms__cast_rows_avx2[15][15];
extern const MsCastRow ms__cast_rows_avx512[15][15];
#endif

#define GRAIN 32768 /* elements per thread below which splitting costs more than it gives */
#define TILE 16
#define CHUNK 1024 /* elements that a strided cast stages at a time */

MsCastRow ms__cast_row(MsDtype from, MsDtype to)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return ms__cast_rows_avx512[from][to];
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
        return ms__cast_rows_avx2[from][to];
#endif
    return ms__cast_rows_base[from][to];
}

/* Elements by size; foreign memory may be unaligned. */
typedef uint8_t U1;
typedef uint16_t U2 __attribute__((aligned(1), may_alias));
typedef uint32_t U4 __attribute__((aligned(1), may_alias));
typedef uint64_t U8 __attribute__((aligned(1), may_alias));
typedef struct U16 {
    uint64_t a, b;
} __attribute__((packed, may_alias)) U16;

typedef void (*MoveRow)(int64_t n, char *d, int64_t ds, const char *s, int64_t ss);
typedef void (*MoveTile)(int64_t na, int64_t nb, char *d, int64_t da, int64_t db, const char *s, int64_t sa,
                         int64_t sb);

#define MOVE(U)                                                                                              \
    static void move_##U(int64_t n, char *d, int64_t ds, const char *s, int64_t ss)                          \
    {                                                                                                        \
        if (ss == 0) {                                                                                       \
            U v = *(const U *)s;                                                                             \
            if (ds == (int64_t)sizeof(U))                                                                    \
                for (int64_t k = 0; k < n; k++) ((U *)d)[k] = v;                                             \
            else                                                                                             \
                for (int64_t k = 0; k < n; k++) *(U *)(d + k * ds) = v;                                      \
        } else {                                                                                             \
            for (int64_t k = 0; k < n; k++) *(U *)(d + k * ds) = *(const U *)(s + k * ss);                   \
        }                                                                                                    \
    }                                                                                                        \
    static void tile_##U(int64_t na, int64_t nb, char *d, int64_t da, int64_t db, const char *s, int64_t sa, \
                         int64_t sb)                                                                         \
    {                                                                                                        \
        for (int64_t b0 = 0; b0 < nb; b0 += TILE) {                                                          \
            int64_t b1 = b0 + TILE < nb ? b0 + TILE : nb;                                                    \
            for (int64_t a = 0; a < na; a++)                                                                 \
                for (int64_t b = b0; b < b1; b++)                                                            \
                    *(U *)(d + a * da + b * db) = *(const U *)(s + a * sa + b * sb);                         \
        }                                                                                                    \
    }
MOVE(U1)
MOVE(U2)
MOVE(U4)
MOVE(U8)
MOVE(U16)

static MoveRow move_of(size_t size)
{
    return size == 1 ? move_U1 : size == 2 ? move_U2 : size == 4 ? move_U4 : size == 8 ? move_U8 : move_U16;
}

static MoveTile tile_of(size_t size)
{
    return size == 1 ? tile_U1 : size == 2 ? tile_U2 : size == 4 ? tile_U4 : size == 8 ? tile_U8 : tile_U16;
}

typedef struct Plan {
    int nd;                                                          /* the last dimension is the row */
    int64_t n[MS_MAX_DIM + 1], d[MS_MAX_DIM + 1], s[MS_MAX_DIM + 1]; /* sizes, strides in bytes */
    char *dst;
    const char *src;
    size_t dst_size, src_size;
    MsCastRow cast; /* NULL: same dtype */
    MoveRow move_in, move_out;
    MoveTile tile;    /* not NULL: dims nd-2 and nd-1 are a transposition */
    int64_t per_unit; /* length of a piece of dim `cut`, which is walked in pieces */
    int cut;
} Plan;

/* Sizes 1 vanish, the destination's strides become positive and descending, adjacent dimensions merge. */
static void normalise(Plan *p)
{
    int nd = 0;
    for (int k = 0; k < p->nd; k++) {
        if (p->n[k] == 1) continue;
        int64_t n = p->n[k], d = p->d[k], s = p->s[k];
        if (d < 0) {
            p->dst += (n - 1) * d;
            p->src += (n - 1) * s;
            d = -d, s = -s;
        }
        int at = nd++;
        for (; at > 0 && (p->d[at - 1] < d || (p->d[at - 1] == d && llabs(p->s[at - 1]) < llabs(s))); at--)
            p->n[at] = p->n[at - 1], p->d[at] = p->d[at - 1], p->s[at] = p->s[at - 1];
        p->n[at] = n, p->d[at] = d, p->s[at] = s;
    }
    int m = 0;
    for (int k = 0; k < nd; k++) {
        if (m > 0 && p->d[m - 1] == p->d[k] * p->n[k] && p->s[m - 1] == p->s[k] * p->n[k]) {
            p->n[m - 1] *= p->n[k];
            p->d[m - 1] = p->d[k], p->s[m - 1] = p->s[k];
        } else {
            p->n[m] = p->n[k], p->d[m] = p->d[k], p->s[m] = p->s[k];
            m++;
        }
    }
    if (m == 0) {
        p->n[0] = 1, p->d[0] = (int64_t)p->dst_size, p->s[0] = (int64_t)p->src_size;
        m = 1;
    }
    p->nd = m;
}

static void row(const Plan *p, int64_t n, char *d, const char *s)
{
    int64_t ds = p->d[p->nd - 1], ss = p->s[p->nd - 1];
    bool dd = ds == (int64_t)p->dst_size, sd = ss == (int64_t)p->src_size;
    if (!p->cast) {
        if (dd && sd)
            memcpy(d, s, (size_t)n * p->dst_size);
        else
            p->move_out(n, d, ds, s, ss);
        return;
    }
    if (dd && sd) {
        p->cast(n, d, s);
        return;
    }
    if (ss == 0) {
        _Alignas(16) char value[16];
        p->cast(1, value, s);
        p->move_out(n, d, ds, value, 0);
        return;
    }
    _Alignas(64) char a[CHUNK * 16], b[CHUNK * 16];
    for (int64_t k = 0; k < n; k += CHUNK) {
        int64_t m = n - k < CHUNK ? n - k : CHUNK;
        const char *from = s + k * ss;
        if (!sd) {
            p->move_in(m, a, (int64_t)p->src_size, from, ss);
            from = a;
        }
        if (dd) {
            p->cast(m, d + k * ds, from);
        } else {
            p->cast(m, b, from);
            p->move_out(m, d + k * ds, ds, b, (int64_t)p->dst_size);
        }
    }
}

/* Units are numbered over the dimensions before the row (or tile), with dim `cut` counted in pieces. */
static void walk(void *ctx, int64_t begin, int64_t end)
{
    const Plan *p = ctx;
    int inner = p->tile ? p->nd - 2 : p->nd - 1, last = p->cut; /* last: the innermost counted dimension */
    int64_t index[MS_MAX_DIM + 1], count[MS_MAX_DIM + 1];
    for (int k = 0; k <= last; k++)
        count[k] = k == p->cut ? (p->n[k] + p->per_unit - 1) / p->per_unit : p->n[k];
    int64_t rest = begin;
    for (int k = last; k >= 0; k--) index[k] = rest % count[k], rest /= count[k];
    for (int64_t u = begin; u < end; u++) {
        char *d = p->dst;
        const char *s = p->src;
        for (int k = 0; k < last; k++) d += index[k] * p->d[k], s += index[k] * p->s[k];
        int64_t from = index[last] * p->per_unit, n = p->n[last] - from;
        if (n > p->per_unit) n = p->per_unit;
        d += from * p->d[last], s += from * p->s[last];
        if (p->tile)
            p->tile(n, p->n[p->nd - 1], d, p->d[inner], p->d[p->nd - 1], s, p->s[inner], p->s[p->nd - 1]);
        else
            row(p, n, d, s);
        for (int k = last; k >= 0 && ++index[k] == count[k]; k--) index[k] = 0;
    }
}

/* A row that is strided in the source while another dimension is dense there: put that one beside the row. */
static void find_tile(Plan *p)
{
    int r = p->nd - 1;
    if (p->cast || p->nd < 2 || llabs(p->s[r]) <= (int64_t)p->src_size || p->n[r] < 4) return;
    for (int k = r - 1; k >= 0; k--) {
        if (llabs(p->s[k]) != (int64_t)p->src_size || p->n[k] < 4) continue;
        int64_t n = p->n[k], d = p->d[k], s = p->s[k];
        for (int j = k; j < r - 1; j++) p->n[j] = p->n[j + 1], p->d[j] = p->d[j + 1], p->s[j] = p->s[j + 1];
        p->n[r - 1] = n, p->d[r - 1] = d, p->s[r - 1] = s;
        p->tile = tile_of(p->dst_size);
        return;
    }
}

void ms__copy_raw(int ndim, const int64_t *shape, void *dst, MsDtype dst_dtype, const int64_t *dst_strides,
                  const void *src, MsDtype src_dtype, const int64_t *src_strides)
{
    Plan p;
    p.nd = ndim, p.dst = dst, p.src = src;
    p.dst_size = ms_dtype_size(dst_dtype), p.src_size = ms_dtype_size(src_dtype);
    int64_t total = 1;
    bool serial = false;
    for (int k = 0; k < ndim; k++) {
        total *= shape[k];
        p.n[k] = shape[k];
        p.d[k] = dst_strides[k] * (int64_t)p.dst_size;
        p.s[k] = src_strides[k] * (int64_t)p.src_size;
        if (shape[k] > 1 && dst_strides[k] == 0) serial = true; /* the last write must win */
    }
    if (total == 0) return;
    p.cast = dst_dtype == src_dtype ? NULL : ms__cast_row(src_dtype, dst_dtype);
    p.move_in = move_of(p.src_size), p.move_out = move_of(p.dst_size);
    p.tile = NULL;
    normalise(&p);
    find_tile(&p);
    p.cut = p.tile ? p.nd - 2 : p.nd - 1;
    p.per_unit = p.tile ? TILE : GRAIN;
    if (p.per_unit > p.n[p.cut]) p.per_unit = p.n[p.cut];
    int64_t units = (p.n[p.cut] + p.per_unit - 1) / p.per_unit;
    for (int k = 0; k < p.cut; k++) units *= p.n[k];
    int64_t grain = GRAIN / (total / units > 0 ? total / units : 1);
    if (serial || total < 2 * GRAIN)
        walk(&p, 0, units);
    else
        ms__parallel_for(units, grain > 0 ? grain : 1, walk, &p);
}

/* First and last byte that a tensor's elements touch. */
static void extent(const MsTensor *t, const char **lo, const char **hi)
{
    int64_t size = (int64_t)ms_dtype_size((MsDtype)t->dtype);
    *lo = t->data, *hi = t->data + size;
    for (int d = 0; d < t->ndim; d++) {
        int64_t span = (t->shape[d] - 1) * t->strides[d] * size;
        if (span < 0)
            *lo += span;
        else
            *hi += span;
    }
}

static bool overlaps(const MsTensor *a, const MsTensor *b)
{
    const char *a0, *a1, *b0, *b1;
    extent(a, &a0, &a1);
    extent(b, &b0, &b1);
    return a0 < b1 && b0 < a1;
}

MsStatus ms__copy(MsTensor *dst, MsTensor *src)
{
    int64_t strides[MS_MAX_DIM];
    int lead = src->ndim - dst->ndim; /* leading ones of src vanish */
    for (int k = 0; k < lead; k++)
        if (src->shape[k] != 1) goto mismatch;
    for (int d = 0; d < dst->ndim; d++) {
        int k = d + lead;
        if (k >= 0 && src->shape[k] != dst->shape[d] && src->shape[k] != 1) goto mismatch;
        strides[d] = k < 0 || (src->shape[k] == 1 && dst->shape[d] != 1) ? 0 : src->strides[k];
    }
    if (dst->numel == 0) return MS_OK;
    bool same = dst->data == src->data && dst->dtype == src->dtype &&
                memcmp(dst->strides, strides, (size_t)dst->ndim * sizeof *strides) == 0;
    if (same) return MS_OK;
    if (dst->dtype >= MS_INT4 || src->dtype >= MS_INT4)
        return MS_FAIL(MS_ERROR_TYPE, "int4 elements cannot be copied one by one.");
    if (overlaps(dst, src)) {
        MsTensor *t = NULL;
        int mark = ms_scope_begin();
        t = ms_tensor_empty((MsDtype)src->dtype, src->ndim, src->shape);
        if (t) {
            ms__copy_raw(src->ndim, src->shape, t->data, (MsDtype)t->dtype, t->strides, src->data,
                         (MsDtype)src->dtype, src->strides);
            (void)ms__copy(dst, t);
        }
        ms_scope_end(mark, NULL, 0);
        return t ? MS_OK : MS_ERROR_MEMORY;
    }
    ms__copy_raw(dst->ndim, dst->shape, dst->data, (MsDtype)dst->dtype, dst->strides, src->data,
                 (MsDtype)src->dtype, strides);
    return MS_OK;
mismatch:
    return MS_FAIL(MS_ERROR_VALUE, "A value of shape %s cannot be broadcast to shape %s.",
                   ms__shape_text(src->ndim, src->shape), ms__shape_text(dst->ndim, dst->shape));
}

void ms__fill(MsTensor *t, const void *value)
{
    static const int64_t zero[MS_MAX_DIM];
    ms__copy_raw(t->ndim, t->shape, t->data, (MsDtype)t->dtype, t->strides, value, (MsDtype)t->dtype, zero);
}

void ms__element(MsDtype dtype, double value, void *buf)
{
    ms__cast_row(MS_FLOAT64, dtype)(1, buf, &value);
}

void ms__element_int(MsDtype dtype, int64_t value, void *buf)
{
    ms__cast_row(MS_INT64, dtype)(1, buf, &value);
}

MsTensor *ms__dense(MsTensor *t)
{
    return ms__dense_as(t, (MsDtype)t->dtype);
}

MsTensor *ms__dense_as(MsTensor *t, MsDtype dtype)
{
    if (t->contiguous && t->dtype == (int8_t)dtype) return t;
    MsTensor *y = ms_tensor_empty(dtype, t->ndim, t->shape);
    if (y)
        ms__copy_raw(t->ndim, t->shape, y->data, dtype, y->strides, t->data, (MsDtype)t->dtype, t->strides);
    return y;
}

bool ms__collapse(const MsTensor *t, int from, int to, int64_t *count, int64_t *stride)
{
    int64_t n = 1, step = 1;
    bool first = true;
    for (int d = to - 1; d >= from; d--) {
        if (t->shape[d] != 1) {
            if (!first && t->strides[d] != step * n) return false;
            if (first) step = t->strides[d];
            first = false;
        }
        n *= t->shape[d];
    }
    *count = n;
    *stride = step;
    return true;
}
