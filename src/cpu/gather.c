/* gather.c - kernels of gather, scatter_add, take_along and put_along. Scatters are deterministic for any
 * number of threads: a thread owns a range of target rows (or whole columns) and meets the updates in index
 * order. Refused: atomic adds and sorting the index first. */
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/index.h"
#include "cpu/loops.h"

#include <string.h>

/* ---- shared helpers ---- */

typedef struct Check {
    int64_t *v, size;
    _Atomic bool bad;
} Check;

/* Wraps negative values; bad: one is out of range. */
static void check_range(void *ctx, int64_t begin, int64_t end)
{
    Check *c = ctx;
    bool bad = false;
    for (int64_t k = begin; k < end; k++) {
        int64_t i = c->v[k];
        bad |= i < -c->size || i >= c->size;
        c->v[k] = i < 0 ? i + c->size : i;
    }
    if (bad) c->bad = true;
}

/* Adds idx (broadcast to the shape) to v * size, checking the range. */
static MsStatus index_step(const char *op, MsTensor *idx, int ndim, const int64_t *shape, int64_t size,
                           MsStatus code, int64_t n, int64_t *v, int64_t *line)
{
    int64_t from[MS_MAX_DIM], to[MS_MAX_DIM];
    int lead = ndim - idx->ndim;
    for (int d = 0; d < ndim; d++)
        from[d] = d < lead || idx->shape[d - lead] == 1 ? 0 : idx->strides[d - lead];
    ms__row_major(ndim, shape, to);
    ms__copy_raw(ndim, shape, line, MS_INT64, to, idx->data, (MsDtype)idx->dtype, from);
    if (v == line) {
        Check c = {.v = v, .size = size};
        ms__parallel_pieces(n, 32768, check_range, &c);
        if (!c.bad) return MS_OK;
        ms__copy_raw(ndim, shape, line, MS_INT64, to, idx->data, (MsDtype)idx->dtype, from);
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t i = line[k];
        if (__builtin_expect(i < -size || i >= size, 0)) {
            if (code == MS_ERROR_INDEX)
                return MS_FAIL(code, "index %lld is out of bounds for dimension with size %lld", (long long)i,
                               (long long)size);
            return MS_FAIL(code,
                           "For '%s', the 'input_indices' should be in the range [%lld, %lld), but got %lld.",
                           op, (long long)-size, (long long)size, (long long)i);
        }
        if (i < 0) i += size;
        v[k] = v == line ? i : v[k] * size + i;
    }
    return MS_OK;
}

int64_t *ms__index_linear(const char *op, int n_idx, MsTensor *const *idx, int ndim, const int64_t *shape,
                          const int64_t *sizes, MsStatus code)
{
    int64_t n = ms__numel(ndim, shape);
    size_t bytes = (size_t)(n > 0 ? n : 1) * sizeof(int64_t);
    int64_t *v = ms__alloc(bytes), *line = n_idx > 1 ? ms__alloc(bytes) : v;
    MsStatus st = v && line ? MS_OK : MS_ERROR_MEMORY;
    if (st == MS_OK && n_idx > 1) memset(v, 0, bytes);
    for (int k = 0; k < n_idx && st == MS_OK; k++)
        st = index_step(op, idx[k], ndim, shape, sizes[k], code, n, v, line);
    if (line && line != v) ms__free(line, bytes);
    if (st != MS_OK && v) {
        ms__free(v, bytes);
        v = NULL;
    }
    return v;
}

/* Are all values in [0, size) as they are? */
static void check_plain(void *ctx, int64_t begin, int64_t end)
{
    Check *c = ctx;
    bool bad = false;
    for (int64_t k = begin; k < end; k++) bad |= (uint64_t)c->v[k] >= (uint64_t)c->size;
    if (bad) c->bad = true;
}

/* The values of one index: its own memory where that will do, else a block. */
static const int64_t *values(const char *op, MsTensor *index, int64_t size)
{
    if (index->dtype == MS_INT64 && index->contiguous) {
        Check c = {.v = (int64_t *)(void *)index->data, .size = size};
        ms__parallel_pieces(index->numel, 32768, check_plain, &c);
        if (!c.bad) return c.v;
    }
    return ms__index_linear(op, 1, &index, index->ndim, index->shape, &size, MS_ERROR_RUNTIME);
}

static void release(const int64_t *v, MsTensor *index)
{
    if ((const char *)v != index->data) ms__index_free((int64_t *)(uintptr_t)v, index->numel);
}

void ms__index_free(int64_t *v, int64_t n)
{
    ms__free(v, (size_t)(n > 0 ? n : 1) * sizeof *v);
}

MsTensor *ms__work(MsTensor *y)
{
    return y->contiguous ? y : ms_tensor_empty((MsDtype)y->dtype, y->ndim, y->shape);
}

MsStatus ms__work_done(MsTensor *y, MsTensor *work)
{
    return y == work ? MS_OK : ms__copy(y, work);
}

MsDtype ms__sum_dtype(MsDtype dtype)
{
    return dtype == MS_FLOAT16 || dtype == MS_BFLOAT16 ? MS_FLOAT32 : dtype;
}

#define ADD_ROW(id, dtype, T)                                                                                \
    static void add_##id(int64_t n, void *d, const void *s)                                                  \
    {                                                                                                        \
        if (n >= 16) {                                                                                       \
            ms__loop(MS_ROW_add, dtype)(n, d, (const void *[]){d, s}, NULL);                                 \
            return;                                                                                          \
        }                                                                                                    \
        T *a = d;                                                                                            \
        const T *b = s;                                                                                      \
        for (int64_t k = 0; k < n; k++) a[k] = (T)(a[k] + b[k]);                                             \
    }
ADD_ROW(u8, MS_UINT8, uint8_t) /* wrapping, as integers of both signs add */
ADD_ROW(u16, MS_UINT16, uint16_t)
ADD_ROW(u32, MS_UINT32, uint32_t)
ADD_ROW(u64, MS_UINT64, uint64_t)
ADD_ROW(f32, MS_FLOAT32, float)
ADD_ROW(f64, MS_FLOAT64, double)
ADD_ROW(c64, MS_COMPLEX64, float _Complex)
ADD_ROW(c128, MS_COMPLEX128, double _Complex)

static void add_b8(int64_t n, void *d, const void *s)
{
    for (int64_t k = 0; k < n; k++) ((uint8_t *)d)[k] |= ((const uint8_t *)s)[k];
}

MsAddRow ms__add_row(MsDtype dtype)
{
    static const MsAddRow rows[] = {
        [MS_BOOL] = add_b8,         [MS_INT8] = add_u8,     [MS_INT16] = add_u16,   [MS_INT32] = add_u32,
        [MS_INT64] = add_u64,       [MS_UINT8] = add_u8,    [MS_UINT16] = add_u16,  [MS_UINT32] = add_u32,
        [MS_UINT64] = add_u64,      [MS_FLOAT32] = add_f32, [MS_FLOAT64] = add_f64, [MS_COMPLEX64] = add_c64,
        [MS_COMPLEX128] = add_c128,
    };
    return rows[dtype];
}

/* ---- gather ---- */

typedef struct Gather {
    const char *x;
    char *y;
    const int64_t *v;
    int64_t n, inner;       /* index count, bytes of a slice */
    int64_t x_outer, x_row; /* strides in bytes */
} Gather;

static void gather_part(void *ctx, int64_t begin, int64_t end)
{
    const Gather *g = ctx;
    int64_t o = begin / g->n, i = begin % g->n, inner = g->inner;
    for (int64_t k = begin; k < end; k++) {
        const char *from = g->x + o * g->x_outer + g->v[i] * g->x_row;
        char *to = g->y + k * inner;
        switch (inner) { /* constant sizes become single moves */
        case 1: *to = *from; break;
        case 2: memcpy(to, from, 2); break;
        case 4: memcpy(to, from, 4); break;
        case 8: memcpy(to, from, 8); break;
        case 16: memcpy(to, from, 16); break;
        default: memcpy(to, from, (size_t)inner);
        }
        if (++i == g->n) i = 0, o++;
    }
}

MsStatus ms__gather_rows(MsTensor *y, MsTensor *x, int from, int to, const int64_t *v, int64_t n)
{
    if (y->numel == 0) return MS_OK;
    int mark = ms_scope_begin();
    MsStatus st = MS_ERROR_MEMORY;
    int64_t outer, rows, inner, so, sr, si, size = (int64_t)ms_dtype_size((MsDtype)x->dtype);
    MsTensor *w = ms__work(y);
    if (!ms__collapse(x, 0, from, &outer, &so) || !ms__collapse(x, from, to, &rows, &sr) ||
        !ms__collapse(x, to, x->ndim, &inner, &si) || (inner > 1 && si != 1)) {
        x = ms__dense(x);
        if (!x) goto done;
        ms__collapse(x, 0, from, &outer, &so);
        ms__collapse(x, from, to, &rows, &sr);
        ms__collapse(x, to, x->ndim, &inner, &si);
    }
    if (!w) goto done;
    Gather g = {x->data, w->data, v, n, inner * size, so * size, sr * size};
    ms__parallel_pieces(outer * n, 1 + 65536 / g.inner, gather_part, &g);
    st = ms__work_done(y, w);
done:
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_gather(MsCall *c)
{
    MsTensor *y = ms__out(c, 0), *x = c->in[0], *index = c->in[1];
    int axis;
    if (!y) return MS_ERROR_MEMORY;
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &axis));
    const int64_t *v = values("Gather", index, x->shape[axis]);
    if (!v) return ms_error()->code;
    MsStatus st = ms__gather_rows(y, x, axis, axis + 1, v, index->numel);
    release(v, index);
    return st;
}
MS_KERNEL(gather, 0, loop, NULL, run_gather);

/* ---- scatter_add ---- */

typedef struct Scatter {
    char *y;
    const char *src;
    const int64_t *v;
    int64_t n, rows, inner, size;
    MsAddRow add; /* NULL: the last update replaces */
} Scatter;

/* Target rows [begin, end) of outer * rows: all updates are looked at, those of other rows passed over. */
static void scatter_part(void *ctx, int64_t begin, int64_t end)
{
    const Scatter *s = ctx;
    int64_t bytes = s->inner * s->size;
    for (int64_t o = begin / s->rows; o * s->rows < end; o++) {
        int64_t lo = begin - o * s->rows, hi = end - o * s->rows;
        for (int64_t i = 0; i < s->n; i++) {
            if (s->v[i] < lo || s->v[i] >= hi) continue;
            char *to = s->y + (o * s->rows + s->v[i]) * bytes;
            const char *from = s->src + (o * s->n + i) * bytes;
            if (s->add)
                s->add(s->inner, to, from);
            else
                memcpy(to, from, (size_t)bytes);
        }
    }
}

MsStatus ms__scatter_rows(MsTensor *y, MsTensor *x, MsTensor *src, int from, int to, const int64_t *v,
                          int64_t n, bool add)
{
    MsDtype dtype = add ? ms__sum_dtype((MsDtype)x->dtype) : (MsDtype)x->dtype;
    int mark = ms_scope_begin();
    MsStatus st = MS_ERROR_MEMORY;
    MsTensor *w = y->contiguous && dtype == (MsDtype)y->dtype ? y : ms_tensor_empty(dtype, y->ndim, y->shape);
    MsTensor *dense = ms__dense_as(src, dtype);
    if (!w || !dense) goto done;
    st =
        w->data == x->data && x->contiguous ? MS_OK : ms__copy(w, x); /* in place when the executor says so */
    if (st != MS_OK) goto done;
    if (src->numel > 0) {
        Scatter s = {
            w->data, dense->data, v, n, 1, 1, (int64_t)ms_dtype_size(dtype), add ? ms__add_row(dtype) : NULL};
        int64_t outer = 1;
        for (int d = 0; d < from; d++) outer *= x->shape[d];
        for (int d = from; d < to; d++) s.rows *= x->shape[d];
        for (int d = to; d < x->ndim; d++) s.inner *= x->shape[d];
        ms__parallel_for(outer * s.rows, src->numel < 65536 ? INT64_MAX : 1, scatter_part, &s);
    }
    st = ms__work_done(y, w);
done:
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_scatter_add(MsCall *c)
{
    MsTensor *y = ms__out(c, 0), *x = c->in[0], *index = c->in[1];
    int axis;
    if (!y) return MS_ERROR_MEMORY;
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &axis));
    const int64_t *v = values("ScatterAdd", index, x->shape[axis]);
    if (!v) return ms_error()->code;
    MsStatus st = ms__scatter_rows(y, x, c->in[2], axis, axis + 1, v, index->numel, true);
    release(v, index);
    return st;
}
MS_KERNEL(scatter_add, 0, loop, NULL, run_scatter_add);

/* ---- take_along, put_along ---- */

typedef void (*Combine)(void *d, const void *s);

#define ORDER(T, id)                                                                                         \
    static void max_##id(void *d, const void *s)                                                             \
    {                                                                                                        \
        T a = *(T *)d, b = *(const T *)s;                                                                    \
        *(T *)d = a != a || a >= b ? a : b;                                                                  \
    }                                                                                                        \
    static void min_##id(void *d, const void *s)                                                             \
    {                                                                                                        \
        T a = *(T *)d, b = *(const T *)s;                                                                    \
        *(T *)d = a != a || a <= b ? a : b;                                                                  \
    }
#define MUL(T, id)                                                                                           \
    static void mul_##id(void *d, const void *s)                                                             \
    {                                                                                                        \
        *(T *)d = (T)(1u * *(T *)d * *(const T *)s);                                                         \
    }
ORDER(int8_t, i8)
ORDER(int16_t, i16)
ORDER(int32_t, i32)
ORDER(int64_t, i64)
ORDER(uint8_t, u8)
ORDER(uint16_t, u16)
ORDER(uint32_t, u32)
ORDER(uint64_t, u64)
ORDER(float, f32)
ORDER(double, f64)
MUL(uint8_t, u8)
MUL(uint16_t, u16)
MUL(uint32_t, u32)
MUL(uint64_t, u64)
MUL(float, f32)
MUL(double, f64)
static void mul_c64(void *d, const void *s)
{
    *(float _Complex *)d *= *(const float _Complex *)s;
}
static void mul_c128(void *d, const void *s)
{
    *(double _Complex *)d *= *(const double _Complex *)s;
}

/* Wrapping products of signed integers are those of the unsigned bits. */
static Combine combine_of(const char *mode, MsDtype dtype)
{
    static const Combine mul[] = {
        [MS_BOOL] = min_u8,         [MS_INT8] = mul_u8,     [MS_INT16] = mul_u16,   [MS_INT32] = mul_u32,
        [MS_INT64] = mul_u64,       [MS_UINT8] = mul_u8,    [MS_UINT16] = mul_u16,  [MS_UINT32] = mul_u32,
        [MS_UINT64] = mul_u64,      [MS_FLOAT32] = mul_f32, [MS_FLOAT64] = mul_f64, [MS_COMPLEX64] = mul_c64,
        [MS_COMPLEX128] = mul_c128,
    };
    static const Combine max[] = {
        [MS_BOOL] = max_u8,    [MS_INT8] = max_i8,     [MS_INT16] = max_i16,   [MS_INT32] = max_i32,
        [MS_INT64] = max_i64,  [MS_UINT8] = max_u8,    [MS_UINT16] = max_u16,  [MS_UINT32] = max_u32,
        [MS_UINT64] = max_u64, [MS_FLOAT32] = max_f32, [MS_FLOAT64] = max_f64,
    };
    static const Combine min[] = {
        [MS_BOOL] = min_u8,    [MS_INT8] = min_i8,     [MS_INT16] = min_i16,   [MS_INT32] = min_i32,
        [MS_INT64] = min_i64,  [MS_UINT8] = min_u8,    [MS_UINT16] = min_u16,  [MS_UINT32] = min_u32,
        [MS_UINT64] = min_u64, [MS_FLOAT32] = min_f32, [MS_FLOAT64] = min_f64,
    };
    return strcmp(mode, "mul") == 0 ? mul[dtype] : strcmp(mode, "max") == 0 ? max[dtype] : min[dtype];
}

/* One column per position outside `axis`: x[.., v, ..] against elements of the index's shape. */
typedef struct Along {
    int ndim, axis;
    const int64_t *shape;                   /* of the index */
    int64_t xs[MS_MAX_DIM], is[MS_MAX_DIM]; /* strides of x and of the index (row-major), elements */
    char *x;                                /* read by take, updated by put */
    char *e;                                /* row-major elements: written by take, read by put */
    const int64_t *v;
    int64_t size;
    Combine combine; /* put: NULL = by mode */
    MsAddRow add;
    bool put;
    int64_t check; /* take: what the index is checked against by the way; 0: it has been */
    _Atomic bool bad;
} Along;

/* A column of n elements of the common sizes; the steps are in elements. */
#define COLUMN(T)                                                                                            \
    static void take_##T(int64_t n, void *e, int64_t es, const void *x, int64_t xs, const int64_t *v)        \
    {                                                                                                        \
        for (int64_t i = 0; i < n; i++) ((T *)e)[i * es] = ((const T *)x)[v[i * es] * xs];                   \
    }                                                                                                        \
    /* The same in a row, checking [0, size) by the way; false: some are outside. */                         \
    static bool take_checked_##T(int64_t n, void *e, const void *x, const int64_t *v, int64_t size)          \
    {                                                                                                        \
        bool bad = false;                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            bool outside = (uint64_t)v[i] >= (uint64_t)size;                                                 \
            bad |= outside;                                                                                  \
            ((T *)e)[i] = ((const T *)x)[outside ? 0 : v[i]];                                                \
        }                                                                                                    \
        return !bad;                                                                                         \
    }                                                                                                        \
    static void put_##T(int64_t n, const void *e, int64_t es, void *x, int64_t xs, const int64_t *v)         \
    {                                                                                                        \
        for (int64_t i = 0; i < n; i++) ((T *)x)[v[i * es] * xs] = ((const T *)e)[i * es];                   \
    }
COLUMN(uint8_t)
COLUMN(uint16_t)
COLUMN(uint32_t)
COLUMN(uint64_t)

static void add_floats(int64_t n, const float *e, int64_t es, float *x, int64_t xs, const int64_t *v)
{
    for (int64_t i = 0; i < n; i++) x[v[i * es] * xs] += e[i * es];
}

static bool add_floats_checked(int64_t n, const float *e, float *x, const int64_t *v, int64_t size)
{
    for (int64_t i = 0; i < n; i++) {
        if ((uint64_t)v[i] >= (uint64_t)size) return false;
        x[v[i]] += e[i];
    }
    return true;
}

/* True when the column was one of the common cases. */
static bool column(Along *a, int64_t n, char *e, int64_t es, char *x, int64_t xs, const int64_t *v)
{
    if (a->put && a->add == ms__add_row(MS_FLOAT32)) {
        const float *from = (const float *)(const void *)e;
        if (!a->check)
            add_floats(n, from, es, (float *)(void *)x, xs, v);
        else if (!add_floats_checked(n, from, (float *)(void *)x, v, a->check))
            a->bad = true;
        return true;
    }
    if (a->put && (a->add || a->combine)) return false;
    switch (a->size) {
#define SIZE(bytes, T)                                                                                       \
    case bytes:                                                                                              \
        if (a->check) {                                                                                      \
            if (!take_checked_##T(n, e, x, v, a->check)) a->bad = true;                                      \
        } else if (a->put)                                                                                   \
            put_##T(n, e, es, x, xs, v);                                                                     \
        else                                                                                                 \
            take_##T(n, e, es, x, xs, v);                                                                    \
        return true;
        SIZE(1, uint8_t)
        SIZE(2, uint16_t)
        SIZE(4, uint32_t)
        SIZE(8, uint64_t)
    default: return false;
    }
}

static void along_part(void *ctx, int64_t begin, int64_t end)
{
    Along *a = ctx;
    int64_t n = a->ndim ? a->shape[a->axis] : 1, xa = a->ndim ? a->xs[a->axis] : 0,
            ia = a->ndim ? a->is[a->axis] : 0;
    for (int64_t k = begin; k < end; k++) {
        int64_t rest = k, x0 = 0, i0 = 0;
        for (int d = a->ndim - 1; d >= 0; d--) {
            if (d == a->axis) continue;
            int64_t at = rest % a->shape[d];
            rest /= a->shape[d];
            x0 += at * a->xs[d], i0 += at * a->is[d];
        }
        if (column(a, n, a->e + i0 * a->size, ia, a->x + x0 * a->size, xa, a->v + i0)) continue;
        for (int64_t i = 0; i < n; i++) {
            char *e = a->e + (i0 + i * ia) * a->size, *x = a->x + (x0 + a->v[i0 + i * ia] * xa) * a->size;
            if (!a->put)
                memcpy(e, x, (size_t)a->size);
            else if (a->add)
                a->add(1, x, e);
            else if (a->combine)
                a->combine(x, e);
            else
                memcpy(x, e, (size_t)a->size);
        }
    }
}

static void along(Along *a, MsTensor *x, MsTensor *index, int axis)
{
    a->ndim = index->ndim, a->axis = axis, a->shape = index->shape, a->x = x->data;
    a->size = (int64_t)ms_dtype_size((MsDtype)x->dtype);
    memcpy(a->xs, x->strides, sizeof a->xs);
    ms__row_major(index->ndim, index->shape, a->is);
    if (index->numel == 0) return;
    int64_t n = index->ndim ? index->shape[axis] : 1;
    ms__parallel_pieces(index->numel / n, 1 + 16384 / n, along_part, a);
}

/* In both, v is NULL when the index itself is read and checked by the way; *bad: that does not do. */
static MsStatus take_into(MsCall *c, MsTensor *y, int axis, const int64_t *v, bool *bad)
{
    MsTensor *w = ms__work(y);
    if (!w) return MS_ERROR_MEMORY;
    Along a = {.e = w->data, .v = v};
    if (!v) a.v = (const int64_t *)(const void *)c->in[1]->data, a.check = c->in[0]->shape[axis];
    along(&a, c->in[0], c->in[1], axis);
    *bad = a.bad;
    return a.bad ? MS_OK : ms__work_done(y, w);
}

static MsStatus put_into(MsCall *c, MsTensor *y, int axis, const int64_t *v, bool *bad)
{
    const char *mode = c->attr[1].s;
    bool set = strcmp(mode, "set") == 0, sum = strcmp(mode, "add") == 0;
    MsDtype dtype = set ? (MsDtype)y->dtype : ms__sum_dtype((MsDtype)y->dtype);
    MsTensor *w = dtype == (MsDtype)y->dtype ? y : ms_tensor_empty(dtype, y->ndim, y->shape);
    MsTensor *src = ms__dense_as(c->in[2], dtype);
    if (!w || !src) return MS_ERROR_MEMORY;
    MS_TRY(ms__copy(w, c->in[0]));
    Along a = {.e = src->data, .v = v, .put = true};
    if (!v) a.v = (const int64_t *)(const void *)c->in[1]->data, a.check = c->in[0]->shape[axis];
    if (sum)
        a.add = ms__add_row(dtype);
    else if (!set)
        a.combine = combine_of(mode, dtype);
    along(&a, w, c->in[1], axis);
    *bad = a.bad;
    return a.bad ? MS_OK : ms__work_done(y, w);
}

/* Rows of common elements by an index as it lies; a put must be an addition of float32 that can be repeated. */
static bool checks_by_the_way(const MsCall *c, const MsTensor *y, int axis, bool put)
{
    const MsTensor *x = c->in[0], *index = c->in[1];
    if (index->dtype != MS_INT64 || !index->contiguous || x->ndim == 0 || axis != x->ndim - 1) return false;
    if (x->shape[axis] == 0) return false;
    if (!put) return x->strides[axis] == 1 && ms_dtype_size((MsDtype)x->dtype) <= 8;
    return x->dtype == MS_FLOAT32 && strcmp(c->attr[1].s, "add") == 0 && y->strides[axis] == 1 &&
           y->storage != x->storage;
}

static MsStatus run_along(MsCall *c, bool put)
{
    MsTensor *y = ms__out(c, 0);
    int axis;
    if (!y) return MS_ERROR_MEMORY;
    MsTensor *x = c->in[0], *index = c->in[1];
    MsStatus (*into)(MsCall *, MsTensor *, int, const int64_t *, bool *) = put ? put_into : take_into;
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &axis));
    bool bad = true;
    MsStatus st = MS_OK;
    int mark = ms_scope_begin();
    if (checks_by_the_way(c, y, axis, put)) st = into(c, y, axis, NULL, &bad);
    if (bad && st == MS_OK) {
        const int64_t *v = values(put ? "Scatter" : "GatherD", index, x->ndim ? x->shape[axis] : 1);
        st = v ? into(c, y, axis, v, &bad) : ms_error()->code;
        if (v) release(v, index);
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_take_along(MsCall *c)
{
    return run_along(c, false);
}
static MsStatus run_put_along(MsCall *c)
{
    return run_along(c, true);
}
MS_KERNEL(take_along, 0, loop, NULL, run_take_along);
MS_KERNEL(put_along, 0, loop, NULL, run_put_along);
