/* copy.c - one engine moves every element that changes place or dtype: contiguous(), casts, concat, writes
 * through views. It orders the dimensions by the destination's strides, merges those that can be walked as
 * one, and hands rows to loops by element size; a transposition goes in square blocks, through a buffer in the
 * first-level cache, since the lines of a power-of-two stride evict each other. Refused: a loop per operator,
 * and iterating in index order, which for a transposed source touches a cache line per element. */
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
#define CHUNK 1024  /* elements that a strided cast stages at a time */

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

typedef void (*MoveTile)(int64_t na, int64_t nb, char *d, int64_t da, int64_t db, const char *s, int64_t sa,
                         int64_t sb);

typedef uint8_t V1 __attribute__((vector_size(16)));
typedef uint16_t V2 __attribute__((vector_size(16)));
typedef uint32_t V4 __attribute__((vector_size(16)));
typedef uint64_t V8 __attribute__((vector_size(16)));

/* d[k] = s[2 k] for all but the last few; returns their number. */
#define EVEN(U, V, N, ...)                                                                                   \
    static int64_t even_##U(int64_t n, U *d, const U *s)                                                     \
    {                                                                                                        \
        int64_t k = 0;                                                                                       \
        for (; k + N < n; k += N) {                                                                          \
            V a, b;                                                                                          \
            memcpy(&a, s + 2 * k, 16);                                                                       \
            memcpy(&b, s + 2 * k + N, 16);                                                                   \
            a = __builtin_shuffle(a, b, (V){__VA_ARGS__});                                                   \
            memcpy(d + k, &a, 16);                                                                           \
        }                                                                                                    \
        return k;                                                                                            \
    }
EVEN(U1, V1, 16, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
EVEN(U2, V2, 8, 0, 2, 4, 6, 8, 10, 12, 14)
EVEN(U4, V4, 4, 0, 2, 4, 6)
EVEN(U8, V8, 2, 0, 2)
static int64_t even_U16(int64_t n, U16 *d, const U16 *s)
{
    (void)n, (void)d, (void)s;
    return 0;
}

/* Of a row: a value repeated by doubling, every other element by vectors, else one by one. */
#define MOVE(U)                                                                                              \
    static void move_##U(int64_t n, char *d, int64_t ds, const char *s, int64_t ss)                          \
    {                                                                                                        \
        int64_t k = 0;                                                                                       \
        if (ss == 0 && ds == (int64_t)sizeof(U)) {                                                           \
            U v = *(const U *)s;                                                                             \
            for (; k < n && k < 8; k++) ((U *)d)[k] = v;                                                     \
            for (int64_t m; k < n; k += m) {                                                                 \
                m = n - k < k ? n - k : k;                                                                   \
                memcpy((U *)d + k, d, (size_t)m * sizeof(U));                                                \
            }                                                                                                \
            return;                                                                                          \
        }                                                                                                    \
        if (ss == 2 * (int64_t)sizeof(U) && ds == (int64_t)sizeof(U)) k = even_##U(n, (U *)d, (const U *)s); \
        for (; k < n; k++) *(U *)(d + k * ds) = *(const U *)(s + k * ss);                                    \
    }                                                                                                        \
    static void tile_##U(int64_t na, int64_t nb, char *d, int64_t da, int64_t db, const char *s, int64_t sa, \
                         int64_t sb)                                                                         \
    {                                                                                                        \
        for (int64_t a = 0; a < na; a++)                                                                     \
            for (int64_t b = 0; b < nb; b++)                                                                 \
                *(U *)(d + a * da + b * db) = *(const U *)(s + a * sa + b * sb);                             \
    }
MOVE(U1)
MOVE(U2)
MOVE(U4)
MOVE(U8)
MOVE(U16)

/* Elements along a side of a transposed block: 64 bytes of a row at least. */
static int64_t side_of(size_t size)
{
    return size <= 2 ? 64 : 128 / (int64_t)size;
}

/* d[b][a] = s[a][b] for N x N elements of 16-byte rows: log2 N rounds of interleaving the halves of the rows. The
 * block loop copies whole lines in, transposes between two buffers, and copies whole lines out. */
#define TRANSPOSE(k, N, LOW, HIGH)                                                                           \
    static void square_U##k(char *d, int64_t ds, const char *s, int64_t ss)                                  \
    {                                                                                                        \
        V##k v[N], w[N];                                                                                     \
        _Pragma("GCC unroll 16") for (int i = 0; i < N; i++) memcpy(&v[i], s + i * ss, 16);                  \
        _Pragma("GCC unroll 4") for (int round = 1; round < N; round *= 2)                                   \
        {                                                                                                    \
            _Pragma("GCC unroll 8") for (int i = 0; i < N / 2; i++)                                          \
            {                                                                                                \
                w[2 * i] = __builtin_shuffle(v[i], v[i + N / 2], LOW);                                       \
                w[2 * i + 1] = __builtin_shuffle(v[i], v[i + N / 2], HIGH);                                  \
            }                                                                                                \
            _Pragma("GCC unroll 16") for (int i = 0; i < N; i++) v[i] = w[i];                                \
        }                                                                                                    \
        _Pragma("GCC unroll 16") for (int i = 0; i < N; i++) memcpy(d + i * ds, &v[i], 16);                  \
    }                                                                                                        \
    static void block_U##k(int64_t na, int64_t nb, char *d, int64_t da, int64_t db, const char *s,           \
                           int64_t sa, int64_t sb)                                                           \
    {                                                                                                        \
        enum {                                                                                               \
            SIDE = k <= 2 ? 64 : 128 / k,                                                                    \
            LINE = SIDE * k                                                                                  \
        };                                                                                                   \
        _Alignas(64) char in[SIDE * LINE], out[SIDE * LINE];                                                 \
        int64_t b0 = 0;                                                                                      \
        if (na == SIDE && sa == k && db == k)                                                                \
            for (; b0 + SIDE <= nb; b0 += SIDE) {                                                            \
                for (int b = 0; b < SIDE; b++) memcpy(in + b * LINE, s + (b0 + b) * sb, LINE);               \
                for (int b = 0; b < SIDE; b += N)                                                            \
                    for (int a = 0; a < SIDE; a += N)                                                        \
                        square_U##k(out + a * LINE + b * k, LINE, in + b * LINE + a * k, LINE);              \
                for (int a = 0; a < SIDE; a++) memcpy(d + a * da + b0 * k, out + a * LINE, LINE);            \
            }                                                                                                \
        for (; b0 < nb; b0 += 16)                                                                            \
            tile_U##k(na, nb - b0 < 16 ? nb - b0 : 16, d + b0 * db, da, db, s + b0 * sb, sa, sb);            \
    }
TRANSPOSE(1, 16, ((V1){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23}),
          ((V1){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31}))
TRANSPOSE(2, 8, ((V2){0, 8, 1, 9, 2, 10, 3, 11}), ((V2){4, 12, 5, 13, 6, 14, 7, 15}))
TRANSPOSE(4, 4, ((V4){0, 4, 1, 5}), ((V4){2, 6, 3, 7}))
TRANSPOSE(8, 2, ((V8){0, 2}), ((V8){1, 3}))

MsMoveRow ms__move_row(size_t size)
{
    return size == 1 ? move_U1 : size == 2 ? move_U2 : size == 4 ? move_U4 : size == 8 ? move_U8 : move_U16;
}

static MoveTile tile_of(size_t size)
{
    return size == 1   ? block_U1
           : size == 2 ? block_U2
           : size == 4 ? block_U4
           : size == 8 ? block_U8
                       : tile_U16;
}

typedef struct Plan {
    int nd;                                                          /* the last dimension is the row */
    int64_t n[MS_MAX_DIM + 1], d[MS_MAX_DIM + 1], s[MS_MAX_DIM + 1]; /* sizes, strides in bytes */
    char *dst;
    const char *src;
    size_t dst_size, src_size;
    MsCastRow cast; /* NULL: same dtype */
    MsMoveRow move_in, move_out;
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
    p.move_in = ms__move_row(p.src_size), p.move_out = ms__move_row(p.dst_size);
    p.tile = NULL;
    normalise(&p);
    find_tile(&p);
    p.cut = p.tile ? p.nd - 2 : p.nd - 1;
    p.per_unit = p.tile ? side_of(p.dst_size) : GRAIN;
    if (p.per_unit > p.n[p.cut]) p.per_unit = p.n[p.cut];
    int64_t units = (p.n[p.cut] + p.per_unit - 1) / p.per_unit;
    for (int k = 0; k < p.cut; k++) units *= p.n[k];
    int64_t grain = GRAIN / (total / units > 0 ? total / units : 1);
    if (serial || total < 2 * GRAIN)
        walk(&p, 0, units);
    else
        ms__parallel_pieces(units, grain > 0 ? grain : 1, walk, &p);
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
