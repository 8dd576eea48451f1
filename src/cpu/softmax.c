/* softmax.c - softmax, log-softmax, log-sum-exp and argmax along one axis (logsumexp: several). Every row is
 * brought into a contiguous buffer of float32 or float64 where it is not one; the maximum is taken out first,
 * so that nothing overflows. NaN propagates; a row of -inf only has softmax NaN and log-sum-exp -inf. */
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/elementwise.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define GRAIN 16384 /* elements a thread gets at least */

typedef enum RowKind {
    SOFTMAX,
    LOG_SOFTMAX,
    LOGSUMEXP
} RowKind;

/* Rows: the kept dimensions give the position of a row, the reduced ones its elements. */
typedef struct Rows {
    RowKind kind;
    MsTensor *x, *y;
    int half, size, wide; /* wide: computed in float64 */
    int n_kept, n_red;
    int64_t kept_n[MS_MAX_DIM], kept_x[MS_MAX_DIM], kept_y[MS_MAX_DIM];
    int64_t red_n[MS_MAX_DIM], red_x[MS_MAX_DIM], red_y[MS_MAX_DIM];
    int64_t n, count;
    atomic_bool no_memory;
} Rows;

static void set_rows(Rows *r, uint32_t mask, bool y_has_axes)
{
    int j = 0;
    r->n = r->count = 1;
    for (int d = 0; d < r->x->ndim; d++) {
        int64_t n = r->x->shape[d], sx = r->x->strides[d] * r->size;
        int64_t sy = 0;
        if (y_has_axes || !(mask >> d & 1)) sy = r->y->strides[j++] * r->size;
        if (mask >> d & 1) {
            r->n *= n;
            if (r->n_red > 0 && r->red_x[r->n_red - 1] == sx * n && r->red_y[r->n_red - 1] == sy * n) {
                r->red_n[r->n_red - 1] *= n;
                r->red_x[r->n_red - 1] = sx, r->red_y[r->n_red - 1] = sy;
            } else if (n != 1) {
                r->red_n[r->n_red] = n, r->red_x[r->n_red] = sx, r->red_y[r->n_red] = sy;
                r->n_red++;
            }
        } else {
            r->count *= n;
            r->kept_n[r->n_kept] = n, r->kept_x[r->n_kept] = sx, r->kept_y[r->n_kept] = sy;
            r->n_kept++;
        }
    }
    if (r->n_red == 0) r->red_n[0] = 1, r->red_x[0] = r->red_y[0] = r->size, r->n_red = 1;
}

/* Copies a row between the tensor and a contiguous buffer. */
static void copy_row(const Rows *r, char *at, const int64_t *step, char *buf, bool out)
{
    int64_t idx[MS_MAX_DIM] = {0};
    int last = r->n_red - 1;
    for (int64_t done = 0; done < r->n; done += r->red_n[last]) {
        for (int64_t i = 0; i < r->red_n[last]; i++, buf += r->size) {
            if (out)
                memcpy(at + i * step[last], buf, (size_t)r->size);
            else
                memcpy(buf, at + i * step[last], (size_t)r->size);
        }
        for (int k = last - 1; k >= 0; k--) {
            at += step[k];
            if (++idx[k] < r->red_n[k]) break;
            at -= idx[k] * step[k];
            idx[k] = 0;
        }
    }
}

static double fold_wide(int64_t n, MsFoldKind kind, const double *v)
{
    const MsFolds *f = ms__loops()->folds[MS_FLOAT64];
    double acc[MS_LANES];
    for (int i = 0; i < MS_LANES; i++) acc[i] = kind == MS_FOLD_MAX ? -(double)INFINITY : 0;
    f->lanes[kind](n, acc, v);
    for (int h = MS_LANES / 2; h > 0; h /= 2) f->rows[kind](h, acc, acc + h);
    return acc[0];
}

static bool any_nan(const Rows *r, const void *src)
{
    for (int64_t i = 0; i < r->n; i++)
        if (r->wide ? isnan(((const double *)src)[i]) : isnan(((const float *)src)[i])) return true;
    return false;
}

/* One row: src of n values, dst of as many (logsumexp: scratch); returns the log-sum-exp where it is needed. */
static double row(const Rows *r, const void *src, void *dst)
{
    const MsRowSet *f = ms__loops()->rows;
    double s, m = r->wide ? fold_wide(r->n, MS_FOLD_MAX, src) : (double)f->max(r->n, src);
    if (r->kind == LOGSUMEXP && isinf(m)) return any_nan(r, src) ? (double)NAN : m;
    if (r->wide) {
        f->exp(r->n, dst, src, m);
        s = fold_wide(r->n, MS_FOLD_SUM, dst);
    } else {
        s = f->exp_sum(r->n, dst, src, (float)m);
    }
    if (r->kind == SOFTMAX) {
        f->affine[r->wide](r->n, dst, dst, 1 / s, 0);
        return 0;
    }
    if (r->kind == LOG_SOFTMAX) f->affine[r->wide](r->n, dst, src, 1, -(m + log(s)));
    return m + log(s);
}

static void store_one(const Rows *r, char *y, double v)
{
    float f = (float)v;
    if (r->half)
        ms__loops()->to_half[r->half - 1](1, (uint16_t *)(void *)y, &f);
    else if (r->wide)
        memcpy(y, &v, sizeof v);
    else
        memcpy(y, &f, sizeof f);
}

static void run_rows(void *ctx, int64_t begin, int64_t end)
{
    Rows *r = ctx;
    const MsLoopSet *isa = ms__loops();
    bool direct_x = !r->half && r->n_red == 1 && r->red_x[0] == r->size;
    bool direct_y = !r->half && r->n_red == 1 && r->red_y[0] == r->size && r->kind != LOGSUMEXP;
    int64_t unit = r->wide ? 8 : 4;
    size_t bytes = (size_t)(r->n * (2 * unit + r->size) + 64);
    char *work = ms__alloc(bytes);
    if (!work) {
        atomic_store_explicit(&r->no_memory, true, memory_order_relaxed);
        return;
    }
    char *src_buf = work, *dst_buf = work + r->n * unit, *raw = work + 2 * r->n * unit;
    for (int64_t i = begin; i < end; i++) {
        char *x = r->x->data, *y = r->y->data;
        int64_t rest = i;
        for (int k = r->n_kept - 1; k >= 0; k--) {
            x += rest % r->kept_n[k] * r->kept_x[k];
            y += rest % r->kept_n[k] * r->kept_y[k];
            rest /= r->kept_n[k];
        }
        const void *src = x;
        if (!direct_x) {
            copy_row(r, x, r->red_x, r->half ? raw : src_buf, false);
            if (r->half)
                isa->from_half[r->half - 1](r->n, (float *)(void *)src_buf,
                                            (const uint16_t *)(const void *)raw);
            src = src_buf;
        }
        char *dst = direct_y ? y : dst_buf;
        double total = row(r, src, dst);
        if (r->kind == LOGSUMEXP) {
            store_one(r, y, total);
        } else if (!direct_y) {
            if (r->half)
                isa->to_half[r->half - 1](r->n, (uint16_t *)(void *)raw, (const float *)(const void *)dst);
            copy_row(r, y, r->red_y, r->half ? raw : dst, true);
        }
    }
    ms__free(work, bytes);
}

static MsStatus run(MsCall *c, RowKind kind, uint32_t mask, bool y_has_axes)
{
    MsTensor *x = c->in[0], *y = ms__out_like(c, 0);
    if (!y) return ms_error()->code;
    if (y->numel == 0) return MS_OK;
    Rows r = {.kind = kind, .x = x, .y = y};
    r.half = x->dtype == MS_FLOAT16 ? 1 : x->dtype == MS_BFLOAT16 ? 2 : 0;
    r.size = (int)ms_dtype_size((MsDtype)x->dtype);
    r.wide = x->dtype == MS_FLOAT64;
    atomic_init(&r.no_memory, false);
    set_rows(&r, mask, y_has_axes);
    ms__parallel_pieces(r.count, r.n > 0 ? GRAIN / r.n + 1 : GRAIN, run_rows, &r);
    return atomic_load_explicit(&r.no_memory, memory_order_relaxed)
               ? MS_FAIL(MS_ERROR_MEMORY, "For '%s', out of memory for a row.", c->op->name)
               : MS_OK;
}

static MsStatus run_axis(MsCall *c, RowKind kind)
{
    int d;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0]->ndim, &d));
    return run(c, kind, 1u << d, true);
}

static MsStatus run_softmax(MsCall *c)
{
    return run_axis(c, SOFTMAX);
}
static MsStatus run_log_softmax(MsCall *c)
{
    return run_axis(c, LOG_SOFTMAX);
}
static MsStatus run_logsumexp(MsCall *c)
{
    uint32_t mask;
    MS_TRY(ms__axes(c->op, &c->attr[0], c->in[0]->ndim, &mask));
    return run(c, LOGSUMEXP, mask, c->aval[0].ndim == c->in[0]->ndim);
}
MS_KERNEL(softmax, 0, loop, NULL, run_softmax);
MS_KERNEL(log_softmax, 0, loop, NULL, run_log_softmax);
MS_KERNEL(logsumexp, 0, loop, NULL, run_logsumexp);

/* ---- argmax ---- */

typedef struct Arg {
    MsTensor *x, *y;
    int axis, half;
    bool max;
} Arg;

/* The first of the largest (or smallest) of n values `step` bytes apart; the first NaN wins. */
#define BEST_OF(suf, T)                                                                                      \
    static int64_t best_##suf(const char *x, int64_t n, int64_t step, bool max)                              \
    {                                                                                                        \
        int64_t at = 0;                                                                                      \
        T best = *(const T *)(const void *)x;                                                                \
        for (int64_t i = 1; i < n && best == best; i++) {                                                    \
            T v = *(const T *)(const void *)(x + i * step);                                                  \
            if ((max ? v > best : v < best) || v != v) best = v, at = i;                                     \
        }                                                                                                    \
        return at;                                                                                           \
    }
BEST_OF(u8, uint8_t)
BEST_OF(u16, uint16_t)
BEST_OF(u32, uint32_t)
BEST_OF(u64, uint64_t)
BEST_OF(i8, int8_t)
BEST_OF(i16, int16_t)
BEST_OF(i32, int32_t)
BEST_OF(i64, int64_t)
BEST_OF(f32, float)
BEST_OF(f64, double)

#define CHUNK 1024

/* Equal, with 0 and -0 the same and NaN like NaN. */
static bool same_value(MsDtype dtype, const char *a, const char *b, size_t size)
{
    if (dtype == MS_FLOAT64) {
        double x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return x == y || (x != x && y != y);
    }
    return memcmp(a, b, size) == 0;
}

/* The first chunk with the largest (or smallest) of n contiguous values, or with the first NaN, found in vectors.
 * False: the dtype has no folds, or there are too few values. */
static bool best_chunk(MsDtype dtype, const char *x, int64_t n, int size, bool max, int64_t *from)
{
    const MsFolds *f = ms__loops()->folds[dtype];
    MsFold lanes = f ? f->lanes[max ? MS_FOLD_MAX : MS_FOLD_MIN] : NULL;
    MsFold rows = f ? f->rows[max ? MS_FOLD_MAX : MS_FOLD_MIN] : NULL;
    if (!lanes || !rows || n < CHUNK) return false;
    _Alignas(64) char acc[MS_LANES * 8], best[8];
    *from = 0;
    for (int64_t k = 0; k < n; k += CHUNK) {
        int64_t m = n - k < CHUNK ? n - k : CHUNK;
        for (int l = 0; l < MS_LANES; l++) memcpy(acc + l * size, x + k * size, (size_t)size);
        lanes(m, acc, x + k * size);
        for (int h = MS_LANES / 2; h > 0; h /= 2) rows(h, acc, acc + h * size);
        if (k == 0) {
            memcpy(best, acc, (size_t)size);
            continue;
        }
        char both[8];
        memcpy(both, best, (size_t)size);
        rows(1, both, acc);
        if (same_value(dtype, both, best, (size_t)size)) continue;
        memcpy(best, both, (size_t)size);
        *from = k;
    }
    return true;
}

static int64_t best_half(const char *x, int64_t n, int64_t step, bool max, int half)
{
    int64_t at = 0;
    float best = 0;
    for (int64_t i = 0; i < n; i++) {
        float v;
        ms__loops()->from_half[half - 1](1, &v, (const uint16_t *)(const void *)(x + i * step));
        if (i == 0 || (max ? v > best : v < best) || v != v) best = v, at = i;
        if (v != v) break;
    }
    return at;
}

static void run_arg_range(void *ctx, int64_t begin, int64_t end)
{
    static int64_t (*const best[MS_DTYPE_COUNT])(const char *, int64_t, int64_t, bool) = {
        [MS_BOOL] = best_u8,    [MS_INT8] = best_i8,     [MS_INT16] = best_i16,  [MS_INT32] = best_i32,
        [MS_INT64] = best_i64,  [MS_UINT8] = best_u8,    [MS_UINT16] = best_u16, [MS_UINT32] = best_u32,
        [MS_UINT64] = best_u64, [MS_FLOAT32] = best_f32, [MS_FLOAT64] = best_f64};
    const Arg *a = ctx;
    MsTensor *x = a->x, *y = a->y;
    int64_t size = (int64_t)ms_dtype_size((MsDtype)x->dtype);
    int64_t n = x->ndim ? x->shape[a->axis] : 1, step = x->ndim ? x->strides[a->axis] * size : 0;
    for (int64_t i = begin; i < end; i++) {
        int64_t rest = i, ox = 0, oy = 0;
        for (int d = x->ndim - 1; d >= 0; d--) {
            if (d == a->axis) continue;
            int64_t p = rest % x->shape[d];
            rest /= x->shape[d];
            ox += p * x->strides[d];
            oy += p * y->strides[y->ndim == x->ndim ? d : d - (d > a->axis)];
        }
        const char *row_x = x->data + ox * size;
        int64_t from = 0, m = n;
        if (x->dtype == MS_FLOAT32 && step == size) {
            ((int64_t *)(void *)y->data)[oy] =
                ms__loops()->rows->arg(n, (const float *)(const void *)row_x, !a->max);
            continue;
        }
        if (step == size && best_chunk((MsDtype)x->dtype, row_x, n, (int)size, a->max, &from))
            m = n - from < CHUNK ? n - from : CHUNK;
        row_x += from * size;
        ((int64_t *)(void *)y->data)[oy] = from + (a->half ? best_half(row_x, m, step, a->max, a->half)
                                                           : best[x->dtype](row_x, m, step, a->max));
    }
}

static MsStatus run_arg(MsCall *c, bool max)
{
    MsTensor *x = c->in[0], *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    Arg a = {x, y, 0, x->dtype == MS_FLOAT16 ? 1 : x->dtype == MS_BFLOAT16 ? 2 : 0, max};
    MS_TRY(ms__axis(c->op, c->attr[0].i, x->ndim, &a.axis));
    int64_t n = x->ndim ? x->shape[a.axis] : 1;
    ms__parallel_pieces(y->numel, n > 0 ? GRAIN / n + 1 : GRAIN, run_arg_range, &a);
    return MS_OK;
}

static MsStatus run_argmax(MsCall *c)
{
    return run_arg(c, true);
}
static MsStatus run_argmin(MsCall *c)
{
    return run_arg(c, false);
}
MS_KERNEL(argmax, 0, loop, NULL, run_argmax);
MS_KERNEL(argmin, 0, loop, NULL, run_argmin);
