/* reduce.c - sums, products and extrema over any axes of tensors of any strides.
 *
 * Dimensions are walked in the memory order of the input. Either the innermost one is reduced: a run goes
 * into MS_LANES accumulators; or it is kept: rows are added into a row of accumulators, at most CHUNK wide so
 * that it stays in cache. The work is cut into blocks by shape alone, and blocks are combined in order, so
 * that a result does not depend on the thread count. */
#include "cpu/reduce.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 1024    /* accumulators of a block */
#define GRAIN 32768   /* elements of a block at least */
#define MAX_BLOCKS 64 /* a reduction to few elements is split so that there are so many parts at most */

typedef struct Axis {
    int64_t n, in, out; /* size, strides in bytes */
    bool reduced;
} Axis;

typedef struct Reduction {
    MsTensor *x, *y;
    const MsTiles *made; /* not NULL: x has no memory, runs of it are made by a program */
    bool made_sums;      /* which adds them up, too */
    MsFoldKind kind;
    MsDtype acc_dtype;
    MsFold fold, combine; /* elements into accumulators; accumulators into accumulators */
    MsFoldEight eight;    /* or NULL */
    MsFold run_half;      /* of a half type's sum along the innermost dimension, or NULL */
    int half, size, acc_size;
    double divisor;       /* -1: none */
    const double *center; /* not NULL: squares of the distances from center, which is laid out as y */
    int n_kept, n_red;
    Axis kept[MS_MAX_DIM], red[MS_MAX_DIM]; /* outer ones; the innermost dimension is `inner` */
    Axis inner;
    int64_t n_chunk, units, blocks;
    int64_t n_lane;  /* accumulators of a run: the others of MS_LANES would keep their first value */
    int64_t block_n; /* length of a block along the split dimension: red[0], or inner without outer ones */
    char *partial;   /* blocks > 1: accumulators of every unit and block */
} Reduction;

typedef union Accumulators {
    double f64[CHUNK * 2];
    char bytes[CHUNK * 16];
} Accumulators;

/* ---- planning ---- */

static void add_axis(Axis *list, int *n, Axis a)
{
    int k = (*n)++;
    for (; k > 0 && llabs(list[k - 1].in) < llabs(a.in); k--) list[k] = list[k - 1];
    list[k] = a;
}

/* Sorts x's dimensions by memory order, merges neighbours and splits them into kept, reduced and inner ones.
 */
static void set_axes(Reduction *r, uint32_t mask)
{
    Axis all[MS_MAX_DIM];
    int n = 0, j = 0;
    bool keep = r->y->ndim == r->x->ndim;
    int64_t out_size = (int64_t)ms_dtype_size((MsDtype)r->y->dtype);
    for (int d = 0; d < r->x->ndim; d++) {
        bool reduced = mask >> d & 1;
        int at = keep ? d : j;
        if (!reduced) j++;
        if (r->x->shape[d] == 1) continue;
        add_axis(all, &n,
                 (Axis){r->x->shape[d], r->x->strides[d] * r->size,
                        reduced ? 0 : r->y->strides[at] * out_size, reduced});
    }
    int m = 0;
    for (int k = 1; k < n; k++) {
        Axis *a = &all[m], b = all[k];
        bool merge = a->reduced == b.reduced && a->in == b.in * b.n && (b.reduced || a->out == b.out * b.n);
        if (merge)
            *a = (Axis){a->n * b.n, b.in, b.out, b.reduced};
        else
            all[++m] = b;
    }
    if (n == 0) all[0] = (Axis){1, r->size, out_size, false};
    r->inner = all[m];
    for (int k = 0; k < m; k++) {
        if (all[k].reduced)
            r->red[r->n_red++] = all[k];
        else
            r->kept[r->n_kept++] = all[k];
    }
}

static void set_blocks(Reduction *r)
{
    int64_t width = r->inner.reduced ? 1 : r->inner.n;
    r->n_chunk = (width + CHUNK - 1) / CHUNK;
    r->units = r->n_chunk;
    for (int k = 0; k < r->n_kept; k++) r->units *= r->kept[k].n;
    int64_t split = r->n_red > 0 ? r->red[0].n : r->inner.reduced ? r->inner.n : 1;
    int64_t blocks = r->units < 32 ? r->x->numel / GRAIN / (r->units > 0 ? r->units : 1) : 1;
    if (r->units > 0 && blocks > MAX_BLOCKS / r->units) blocks = MAX_BLOCKS / r->units;
    if (blocks > split) blocks = split;
    if (blocks < 1) blocks = 1;
    r->block_n = (split + blocks - 1) / blocks;
    r->blocks = r->block_n > 0 ? (split + r->block_n - 1) / r->block_n : 1;
}

/* ---- accumulating ---- */

static void identity(const Reduction *r, int64_t n, void *acc)
{
    int64_t low = r->kind == MS_FOLD_MAX;
    union {
        double f64[2];
        float f32;
        int64_t i;
        char bytes[16];
    } v = {{0, 0}};
    if (r->kind <= MS_FOLD_PROD) {
        if (r->acc_dtype == MS_UINT64)
            v.i = r->kind == MS_FOLD_PROD;
        else
            v.f64[0] = r->kind == MS_FOLD_PROD;
    } else if (r->acc_dtype == MS_FLOAT64) {
        v.f64[0] = low ? -(double)__builtin_inf() : __builtin_inf();
    } else if (r->acc_dtype == MS_FLOAT32) {
        v.f32 = low ? -__builtin_inff() : __builtin_inff();
    } else if (r->acc_dtype == MS_BOOL) {
        v.bytes[0] = !low;
    } else if (ms_dtype_is_signed_int(r->acc_dtype)) {
        int bits = 8 * r->acc_size - 1;
        v.i = low ? (int64_t)(~(uint64_t)0 << bits) : (int64_t) ~(~(uint64_t)0 << bits);
    } else {
        v.i = low ? 0 : -1;
    }
    switch (r->acc_size) { /* constant sizes become single moves */
    case 1: memset(acc, v.bytes[0], (size_t)n); break;
    case 4:
        for (int64_t i = 0; i < n; i++) memcpy((char *)acc + i * 4, &v, 4);
        break;
    case 8:
        for (int64_t i = 0; i < n; i++) memcpy((char *)acc + i * 8, &v, 8);
        break;
    default:
        for (int64_t i = 0; i < n; i++) memcpy((char *)acc + i * r->acc_size, &v, (size_t)r->acc_size);
    }
}

/* buf[0..n), float32 or float64, becomes (x - center)^2 in float64; center advances by `step`. */
static void square_distances(const Reduction *r, int64_t n, char *buf, const double *center, int64_t step)
{
    double *d = (double *)(void *)buf;
    if (r->half || r->size == 4)
        for (int64_t i = n - 1; i >= 0; i--) { /* from the end: a double covers two floats */
            float f;
            memcpy(&f, buf + i * 4, sizeof f);
            d[i] = (double)f;
        }
    for (int64_t i = 0; i < n; i++) {
        double v = d[i] - center[i * step];
        d[i] = v * v;
    }
}

/* Folds n elements from x on, `step` bytes apart, into acc. */
static void fold_run(const Reduction *r, int64_t n, const char *x, int64_t step, void *acc, bool rows,
                     const double *center)
{
    if (step == r->size && !r->half && !center) {
        r->fold(n, acc, x);
        return;
    }
    int64_t at = 0;
    if (r->run_half && step == r->size && !center) {
        at = n / (8 * MS_LANES) * (8 * MS_LANES);
        if (at > 0) r->run_half(at, acc, x);
    }
    char buf[CHUNK * 16], raw[CHUNK * 2];
    for (int64_t m; at < n; at += m) {
        m = n - at < CHUNK ? n - at : CHUNK;
        const char *src = x + at * step;
        if (step != r->size || center) {
            char *to = r->half ? raw : buf;
            for (int64_t i = 0; i < m; i++) memcpy(to + i * r->size, src + i * step, (size_t)r->size);
            src = to;
        }
        if (r->half) {
            ms__loops()->from_half[r->half - 1](m, (float *)(void *)buf, (const uint16_t *)(const void *)src);
            src = buf;
        }
        if (center) {
            int64_t out = rows ? r->inner.out / (int64_t)ms_dtype_size((MsDtype)r->y->dtype) : 0;
            square_distances(r, m, buf, center + at * out, out);
        }
        r->fold(m, rows ? (char *)acc + at * r->acc_size : acc, src);
    }
}

/* Where a thread makes runs of values. */
typedef struct Maker {
    MsTileAt at;
    char *buf; /* CHUNK * 16 bytes */
} Maker;

/* The same for values that a program makes: pieces of whole lanes, so that they fall as those of memory do. */
static void fold_made(const Reduction *r, Maker *k, int64_t n, const char *x, void *acc, bool rows)
{
    ms__tiles_seek(r->made, &k->at, (x - r->x->data) / r->size);
    if (r->made_sums) {
        ms__tiles_sum(r->made, &k->at, n, acc);
        return;
    }
    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < CHUNK ? n - at : CHUNK;
        ms__tiles_make(r->made, &k->at, m, k->buf);
        fold_run(r, m, k->buf, r->size, rows ? (char *)acc + at * r->acc_size : acc, rows, NULL);
    }
}

static void eight_made(const Reduction *r, Maker *k, int64_t n, const char *x, void *acc)
{
    for (int j = 0; j < 8; j++) {
        ms__tiles_seek(r->made, &k->at, (x + j * r->red[0].in - r->x->data) / r->size);
        ms__tiles_make(r->made, &k->at, n, k->buf + j * n * r->size);
    }
    r->eight(n, acc, k->buf, n * r->size);
}

typedef struct Unit {
    const char *x;
    char *y;
    int64_t n; /* outputs */
} Unit;

/* Accumulates one block of a unit. */
static void fold_unit(const Reduction *r, const Unit *t, int64_t block, void *acc, Maker *maker)
{
    const char *x = t->x;
    int64_t m = t->n;
    const double *center =
        r->center ? r->center + (t->y - r->y->data) / (int64_t)ms_dtype_size((MsDtype)r->y->dtype) : NULL;
    bool rows = !r->inner.reduced;
    int64_t lo = block * r->block_n, hi, run = rows ? m : r->inner.n;
    int64_t at[MS_MAX_DIM] = {0};
    identity(r, rows ? m : r->n_lane, acc);
    if (r->n_red == 0) {
        if (!rows) {
            x += lo * r->inner.in;
            run = run - lo < r->block_n ? run - lo : r->block_n;
        }
        if (r->made)
            fold_made(r, maker, run, x, acc, rows);
        else
            fold_run(r, run, x, r->inner.in, acc, rows, center);
        return;
    }
    hi = lo + r->block_n < r->red[0].n ? lo + r->block_n : r->red[0].n;
    for (int k = 0; k < r->n_red; k++)
        if (r->red[k].n == 0) return;
    if (!rows && run == 0) return;
    x += lo * r->red[0].in;
    if (rows && r->eight && !center && r->n_red == 1 && r->inner.in == r->size && (!r->made || r->half))
        for (; lo + 8 <= hi; lo += 8, x += 8 * r->red[0].in) {
            if (r->made)
                eight_made(r, maker, run, x, acc);
            else
                r->eight(run, acc, x, r->red[0].in);
        }
    at[0] = lo;
    while (at[0] < hi) {
        if (r->made)
            fold_made(r, maker, run, x, acc, rows);
        else
            fold_run(r, run, x, r->inner.in, acc, rows, center);
        for (int k = r->n_red - 1; k >= 0; k--) {
            x += r->red[k].in;
            if (++at[k] < r->red[k].n || k == 0) break;
            x -= at[k] * r->red[k].in;
            at[k] = 0;
        }
    }
}

/* Writes n finished accumulators to y, `step` bytes apart. */
static void finish(const Reduction *r, int64_t n, void *acc, char *y, int64_t step)
{
    char buf[CHUNK * 16], raw[CHUNK * 2];
    const void *src[1] = {acc};
    if (r->divisor != -1) {
        double *v = acc;
        int64_t k = r->acc_dtype == MS_COMPLEX128 ? 2 * n : n;
        for (int64_t i = 0; i < k; i++) v[i] /= r->divisor;
    }
    MsDtype to = (MsDtype)r->y->dtype;
    int size = (int)ms_dtype_size(to);
    bool half = to == MS_FLOAT16 || to == MS_BFLOAT16;
    if (to == r->acc_dtype && step == size) {
        memcpy(y, acc, (size_t)(n * size));
        return;
    }
    char *out = step == size ? y : buf;
    if (half) {
        ms__loop_cast(r->acc_dtype, to)(n, buf, src, NULL);
        ms__loops()->to_half[to == MS_BFLOAT16](n, (uint16_t *)(void *)(step == size ? y : raw),
                                                (float *)(void *)buf);
        out = raw;
    } else {
        ms__loop_cast(r->acc_dtype, to)(n, out, src, NULL);
    }
    if (step != size)
        for (int64_t i = 0; i < n; i++) memcpy(y + i * step, out + i * size, (size_t)size);
}

static Unit unit_at(const Reduction *r, int64_t u)
{
    int64_t chunk = u % r->n_chunk, rest = u / r->n_chunk;
    Unit t = {r->x->data, r->y->data, 1};
    for (int k = r->n_kept - 1; k >= 0; k--) {
        int64_t i = rest % r->kept[k].n;
        rest /= r->kept[k].n;
        t.x += i * r->kept[k].in;
        t.y += i * r->kept[k].out;
    }
    if (!r->inner.reduced) {
        t.x += chunk * CHUNK * r->inner.in;
        t.y += chunk * CHUNK * r->inner.out;
        t.n = r->inner.n - chunk * CHUNK < CHUNK ? r->inner.n - chunk * CHUNK : CHUNK;
    }
    return t;
}

/* Joins the accumulators of a run in the first. */
static void join_lanes(const Reduction *r, void *acc)
{
    if (r->kind == MS_FOLD_SUM && r->acc_dtype == MS_FLOAT64 && r->n_lane == MS_LANES) {
        ms__loops()->sum_lanes(acc);
        return;
    }
    for (int64_t h = r->n_lane / 2; h > 0; h /= 2) r->combine(h, acc, (char *)acc + h * r->acc_size);
}

/* Results of runs wait here until they are finished together: those of neighbouring rows. */
typedef struct Finished {
    char *y;
    int64_t n;
    _Alignas(16) char acc[64 * 16];
} Finished;

static void flush(const Reduction *r, Finished *f)
{
    if (f->n > 0) finish(r, f->n, f->acc, f->y, (int64_t)ms_dtype_size((MsDtype)r->y->dtype));
    f->n = 0;
}

static void finish_unit(const Reduction *r, const Unit *t, void *acc, Finished *f)
{
    if (!r->inner.reduced) {
        finish(r, t->n, acc, t->y, r->inner.out);
        return;
    }
    join_lanes(r, acc);
    int64_t size = (int64_t)ms_dtype_size((MsDtype)r->y->dtype);
    if (f->n == 64 || (f->n > 0 && t->y != f->y + f->n * size)) flush(r, f);
    if (f->n == 0) f->y = t->y;
    memcpy(f->acc + f->n++ * r->acc_size, acc, (size_t)r->acc_size);
}

static int64_t acc_bytes(const Reduction *r)
{
    int64_t n = r->inner.reduced ? r->n_lane : r->inner.n < CHUNK ? r->inner.n : CHUNK;
    return n * r->acc_size;
}

static void run_items(void *ctx, int64_t begin, int64_t end)
{
    const Reduction *r = ctx;
    Accumulators acc;
    Finished f;
    f.n = 0;
    _Alignas(64) char work[r->made ? ms__tiles_room(r->made) : 1], buf[r->made ? CHUNK * 16 : 1];
    MsFilled filled[MS_MAX_TILE_OPERANDS];
    if (r->made) memset(filled, 0, sizeof filled);
    Maker maker = {{.work = work, .filled = filled}, buf};
    for (int64_t item = begin; item < end; item++) {
        Unit t = unit_at(r, item / r->blocks);
        void *to = r->partial ? (void *)(r->partial + item * acc_bytes(r)) : (void *)&acc;
        fold_unit(r, &t, item % r->blocks, to, &maker);
        if (!r->partial) finish_unit(r, &t, to, &f);
    }
    flush(r, &f);
}

/* Reduces the axes of mask; y has the remaining shape (with or without the axes as 1). */
static MsStatus reduce_from(MsTensor *x, const MsTiles *made, uint32_t mask, MsTensor *y, MsFoldKind kind,
                            double divisor, const double *center)
{
    Reduction r = {.x = x, .y = y, .made = made, .kind = kind, .divisor = divisor, .center = center};
    MsDtype dtype = (MsDtype)x->dtype;
    if (y->numel == 0) return MS_OK;
    r.half = dtype == MS_FLOAT16 ? 1 : dtype == MS_BFLOAT16 ? 2 : 0;
    r.size = (int)ms_dtype_size(dtype);
    MsDtype elem = r.half ? MS_FLOAT32 : dtype;
    if (dtype == MS_BOOL && kind <= MS_FOLD_PROD) r.kind = kind == MS_FOLD_SUM ? MS_FOLD_MAX : MS_FOLD_MIN;
    r.acc_dtype = r.kind >= MS_FOLD_MAX       ? elem
                  : ms_dtype_is_float(elem)   ? MS_FLOAT64
                  : ms_dtype_is_complex(elem) ? MS_COMPLEX128
                                              : MS_UINT64;
    r.acc_size = (int)ms_dtype_size(r.acc_dtype);
    set_axes(&r, mask);
    set_blocks(&r);
    for (r.n_lane = MS_LANES; r.n_lane / 2 >= r.inner.n && r.n_lane > 1;) r.n_lane /= 2;
    const MsFolds *f = ms__loops()->folds[center ? MS_FLOAT64 : elem];
    r.fold = r.inner.reduced ? f->lanes[r.kind] : f->rows[r.kind];
    r.eight = !r.half ? f->eight[r.kind] : r.kind == MS_FOLD_SUM ? ms__loops()->sum_half[r.half - 1] : NULL;
    r.combine = ms__loops()->folds[r.acc_dtype]->rows[r.kind];
    if (r.inner.reduced && r.half && r.kind == MS_FOLD_SUM) r.run_half = ms__loops()->run_half[r.half - 1];
    if (r.inner.reduced && r.kind >= MS_FOLD_MAX) { /* reads the half types as they are */
        r.fold = ms__loops()->extremes[dtype][r.kind - MS_FOLD_MAX];
        r.n_lane = 1;
        r.half = 0;
    }
    r.made_sums = made && r.inner.reduced && r.kind == MS_FOLD_SUM && r.acc_dtype == MS_FLOAT64 &&
                  elem == MS_FLOAT32 && r.n_lane == MS_LANES && ms__tiles_can_sum(made);
    int64_t items = r.units * r.blocks, bytes = r.blocks > 1 ? items * acc_bytes(&r) : 0;
    if (bytes && !(r.partial = ms__alloc((size_t)bytes))) return MS_ERROR_MEMORY;
    int64_t per_item = x->numel / items + 1;
    ms__parallel_pieces(items, per_item >= GRAIN ? 1 : GRAIN / per_item, run_items, &r);
    if (!r.partial) return MS_OK;
    Finished done;
    done.n = 0;
    for (int64_t u = 0; u < r.units; u++) {
        Unit t = unit_at(&r, u);
        char *acc = r.partial + u * r.blocks * acc_bytes(&r);
        int64_t n = r.inner.reduced ? r.n_lane : t.n;
        for (int64_t b = 1; b < r.blocks; b++) r.combine(n, acc, acc + b * acc_bytes(&r));
        finish_unit(&r, &t, acc, &done);
    }
    flush(&r, &done);
    ms__free(r.partial, (size_t)bytes);
    return MS_OK;
}

static MsStatus reduce(MsTensor *x, uint32_t mask, MsTensor *y, MsFoldKind kind, double divisor)
{
    return reduce_from(x, NULL, mask, y, kind, divisor, NULL);
}

/* ---- operators ---- */

static double count(const MsTensor *x, uint32_t mask)
{
    double n = 1;
    for (int d = 0; d < x->ndim; d++)
        if (mask >> d & 1) n *= (double)x->shape[d];
    return n;
}

static MsStatus run_reduce(MsCall *c, MsFoldKind kind, bool mean)
{
    uint32_t mask;
    MsTensor *x = c->in[0], *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    MS_TRY(ms__axes(c->op, &c->attr[0], x->ndim, &mask));
    return reduce(x, mask, y, kind, mean ? count(x, mask) : -1);
}

MsStatus ms__reduce_made(MsTensor *x, const MsTiles *made, const char *op, uint32_t mask, MsTensor *y)
{
    bool least = strcmp(op, "reduce_min") == 0 || strcmp(op, "reduce_all") == 0;
    bool most = strcmp(op, "reduce_max") == 0 || strcmp(op, "reduce_any") == 0;
    MsFoldKind kind = least                     ? MS_FOLD_MIN
                      : most                    ? MS_FOLD_MAX
                      : strcmp(op, "prod") == 0 ? MS_FOLD_PROD
                                                : MS_FOLD_SUM;
    return reduce_from(x, made, mask, y, kind, strcmp(op, "mean") == 0 ? count(x, mask) : -1, NULL);
}

static MsStatus run_sum(MsCall *c)
{
    return run_reduce(c, MS_FOLD_SUM, false);
}
static MsStatus run_prod(MsCall *c)
{
    return run_reduce(c, MS_FOLD_PROD, false);
}
static MsStatus run_mean(MsCall *c)
{
    return run_reduce(c, MS_FOLD_SUM, true);
}
static MsStatus run_max(MsCall *c)
{
    return run_reduce(c, MS_FOLD_MAX, false);
}
static MsStatus run_min(MsCall *c)
{
    return run_reduce(c, MS_FOLD_MIN, false);
}
MS_KERNEL(sum, 0, loop, NULL, run_sum);
MS_KERNEL(prod, 0, loop, NULL, run_prod);
MS_KERNEL(mean, 0, loop, NULL, run_mean);
MS_KERNEL(reduce_max, 0, loop, NULL, run_max);
MS_KERNEL(reduce_min, 0, loop, NULL, run_min);
MS_KERNEL(reduce_any, 0, loop, NULL, run_max);
MS_KERNEL(reduce_all, 0, loop, NULL, run_min);

static MsStatus run_sum_to(MsCall *c)
{
    MsTensor *x = c->in[0], *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    /* y seen with x's rank: leading dimensions of size 1 */
    MsTensor view = *y;
    uint32_t mask = 0;
    int lead = x->ndim - y->ndim;
    view.ndim = x->ndim;
    for (int d = 0; d < x->ndim; d++) {
        view.shape[d] = d < lead ? 1 : y->shape[d - lead];
        view.strides[d] = d < lead ? 0 : y->strides[d - lead];
        if (view.shape[d] != x->shape[d]) mask |= 1u << d;
    }
    if (mask == 0) return ms__copy(&view, x); /* no sum: -0 stays -0 */
    return reduce(x, mask, &view, MS_FOLD_SUM, -1);
}
MS_KERNEL(sum_to, 0, loop, NULL, run_sum_to);

/* In two passes: the mean in float64, then the squares of the distances from it. */
static MsStatus run_var(MsCall *c)
{
    uint32_t mask;
    MsTensor *x = c->in[0], *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    MS_TRY(ms__axes(c->op, &c->attr[0], x->ndim, &mask));
    double n = count(x, mask);
    size_t bytes = (size_t)y->numel * sizeof(double);
    double *center = ms__alloc(bytes);
    if (!center) return MS_ERROR_MEMORY;
    MsTensor mean = *y; /* y's layout over other memory */
    mean.data = (char *)center;
    mean.dtype = MS_FLOAT64;
    double rest = n - (double)c->attr[2].i;
    MsStatus st = reduce(x, mask, &mean, MS_FOLD_SUM, n);
    if (st == MS_OK) st = reduce_from(x, NULL, mask, y, MS_FOLD_SUM, rest > 0 ? rest : 0, center);
    ms__free(center, bytes);
    return st;
}
MS_KERNEL(var, 0, loop, NULL, run_var);
