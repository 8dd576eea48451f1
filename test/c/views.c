/* views.c - views, the copy engine and indexing against plain loops. */
#include "core/tensor.h"
#include "cpu/copy.h"
#include "mindspore.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        if (cond) {                                                                                          \
            passed++;                                                                                        \
        } else {                                                                                             \
            failed++;                                                                                        \
            printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond, ms_error()->message);                      \
            ms_error_clear();                                                                                \
        }                                                                                                    \
    } while (0)

static MsTensor *iota(MsDtype dtype, MsInts shape)
{
    int64_t n = 1;
    for (int d = 0; d < shape.n; d++) n *= shape.v[d];
    return ms_reshape(ms_arange_int(0, 1, n, dtype), shape);
}

/* Element at an index, read through the strides, as double. */
static double at(MsTensor *t, const int64_t *index)
{
    char *p = t->data;
    for (int d = 0; d < t->ndim; d++)
        p += index[d] * t->strides[d] * (int64_t)ms_dtype_size((MsDtype)t->dtype);
    double v;
    ms__cast_row((MsDtype)t->dtype, MS_FLOAT64)(1, &v, p);
    return v;
}

static bool next(const MsTensor *t, int64_t *index)
{
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (++index[d] < t->shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

static bool equal(MsTensor *a, MsTensor *b)
{
    if (!a || !b || a->ndim != b->ndim || memcmp(a->shape, b->shape, (size_t)a->ndim * 8)) return false;
    if (a->numel == 0) return true;
    int64_t index[MS_MAX_DIM] = {0};
    do {
        double x = at(a, index), y = at(b, index);
        if (x != y && !(isnan(x) && isnan(y))) return false;
    } while (next(a, index));
    return true;
}

static bool holds(MsTensor *t, int n, const double *want)
{
    if (!t || t->numel != n) return false;
    int64_t index[MS_MAX_DIM] = {0};
    for (int k = 0; k < n; k++, next(t, index))
        if (at(t, index) != want[k]) return false;
    return true;
}
#define HOLDS(t, ...)                                                                                        \
    holds(t, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__})

static void views(void)
{
    MsTensor *x = iota(MS_FLOAT32, MS_INTS(3, 4));
    MsTensor *xt = ms_transpose(x, MS_INTS(1, 0));
    CHECK(xt && xt->storage == x->storage && xt->strides[0] == 1);
    CHECK(HOLDS(ms_slice(x, MS_INTS(0, 3), MS_INTS(2, 2), MS_INTS(2, -2)), 3, 1, 11, 9));
    CHECK(HOLDS(ms_reshape(xt, MS_INTS(12)), 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
    MsTensor *part = ms_slice(x, MS_INTS(0, 0), MS_INTS(3, 2), MS_INTS(1, 1));
    MsTensor *split = ms_reshape(part, MS_INTS(3, 1, 2, 1));
    CHECK(split && split->storage == x->storage && HOLDS(split, 0, 1, 4, 5, 8, 9));
    CHECK(ms_reshape(part, MS_INTS(6)) && ms_reshape(part, MS_INTS(6))->storage != x->storage);
    CHECK(HOLDS(ms_broadcast_to(ms_slice(x, MS_INTS(1, 2), MS_INTS(1, 1), MS_INTS(1, 1)), MS_INTS(2, 1, 2)),
                6, 6, 6, 6));
    CHECK(HOLDS(ms_as_strided(x, MS_INTS(3), MS_INTS(5), 0), 0, 5, 10));
    CHECK(HOLDS(ms_as_strided(xt, MS_INTS(2), MS_INTS(1), 0), 0, 4));
    CHECK(HOLDS(ms_flip(x, MS_INTS(0)), 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
    CHECK(HOLDS(ms_pad(x, MS_INTS(-2, 1), MS_INTS(1, -3), 7), 7, 8, 7, 7));
    MsTensor *both[] = {part, ms_slice(x, MS_INTS(0, 3), MS_INTS(3, 1), MS_INTS(1, 1))};
    CHECK(HOLDS(ms_concat(2, both, -1), 0, 1, 3, 4, 5, 7, 8, 9, 11));
    CHECK(HOLDS(ms_tril(x, -1), 0, 0, 0, 0, 4, 0, 0, 0, 8, 9, 0, 0));
    CHECK(HOLDS(ms_triu(xt, 1), 0, 4, 8, 0, 0, 9, 0, 0, 0, 0, 0, 0));
    CHECK(!ms_reshape(x, MS_INTS(5)) && ms_error()->code == MS_ERROR_VALUE);
    ms_error_clear();
    CHECK(!ms_as_strided(x, MS_INTS(2, 2), MS_INTS(INT64_MAX, 1), 0));
    ms_error_clear();
    /* a write through a view is seen by the base */
    CHECK(ms__copy(part, ms_full_int((MsInts){0, NULL}, -1, MS_INT32)) == MS_OK);
    CHECK(HOLDS(x, -1, -1, 2, 3, -1, -1, 6, 7, -1, -1, 10, 11));
    /* overlapping source and destination */
    MsTensor *line = iota(MS_INT16, MS_INTS(5));
    CHECK(ms__copy(ms_slice(line, MS_INTS(1), MS_INTS(4), MS_INTS(1)),
                   ms_slice(line, MS_INTS(0), MS_INTS(4), MS_INTS(1))) == MS_OK);
    CHECK(HOLDS(line, 0, 0, 1, 2, 3));
}

/* Every dtype pair, transposed and sliced, large enough for tiles and threads. */
static void copies(void)
{
    for (int from = 0; from < MS_INT4; from++)
        for (int to = 0; to < MS_INT4; to++) {
            int mark = ms_scope_begin();
            MsTensor *x = iota((MsDtype)from, MS_INTS(3, 4, 5));
            MsTensor *y = ms_tensor_empty((MsDtype)to, 3, (int64_t[]){5, 3, 4});
            MsTensor *xt = ms_transpose(x, MS_INTS(2, 0, 1));
            bool ok = x && y && xt && ms__copy(y, xt) == MS_OK;
            int64_t i[MS_MAX_DIM] = {0};
            if (ok) do {
                    double v = at(xt, i);
                    ok = at(y, i) == (to == MS_BOOL ? v != 0 : v);
                } while (ok && next(y, i));
            CHECK(ok);
            ms_scope_end(mark, NULL, 0);
        }
    MsTensor *x = iota(MS_INT32, MS_INTS(300, 7, 100));
    MsTensor *y = ms_contiguous(ms_transpose(x, MS_INTS(2, 1, 0)));
    CHECK(y && y->contiguous && equal(y, ms_transpose(x, MS_INTS(2, 1, 0))));
    MsTensor *z = ms_contiguous(ms_slice(x, MS_INTS(299, 0, 99), MS_INTS(150, 7, 50), MS_INTS(-2, 1, -2)));
    int64_t i[] = {3, 2, 4}, j[] = {293, 2, 91};
    CHECK(z && at(z, i) == at(x, j));
    double special[] = {NAN, INFINITY, -INFINITY, 3e9, -1.5, 300};
    MsTensor *f = ms_tensor_from(MS_FLOAT64, 1, (int64_t[]){6}, special),
             *k = ms_tensor_empty(MS_INT32, 1, (int64_t[]){6});
    CHECK(ms__copy(k, f) == MS_OK && HOLDS(k, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, -1, 300));
    MsTensor *b = ms_tensor_empty(MS_UINT8, 1, (int64_t[]){6});
    CHECK(ms__copy(b, f) == MS_OK && HOLDS(b, 0, 0, 0, 0, 255, 44));
    /* one rounding, to nearest even */
    double edge = 1.0 + 0x1p-8 + 0x1p-40;
    MsTensor *h = ms_tensor_empty(MS_BFLOAT16, 0, NULL);
    CHECK(ms__copy(h, ms_tensor_from(MS_FLOAT64, 0, NULL, &edge)) == MS_OK && HOLDS(h, 1.0 + 0x1p-7));
}

static MsTensor *ids(int n, const int64_t *v)
{
    return ms_tensor_from(MS_INT64, 1, (int64_t[]){n}, v);
}
#define IDS(...) ids((int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[]){__VA_ARGS__})

static void indexing(void)
{
    MsTensor *x = iota(MS_FLOAT32, MS_INTS(3, 4)), *xt = ms_transpose(x, MS_INTS(1, 0));
    CHECK(HOLDS(ms_gather(x, IDS(2, -3), 0), 8, 9, 10, 11, 0, 1, 2, 3));
    CHECK(HOLDS(ms_gather(x, IDS(-1), 1), 3, 7, 11));
    CHECK(HOLDS(ms_gather(xt, IDS(1, 1), 0), 1, 5, 9, 1, 5, 9));
    CHECK(!ms_gather(x, IDS(4), 1) && ms_error()->code == MS_ERROR_RUNTIME &&
          strstr(ms_error()->message, "4"));
    ms_error_clear();
    CHECK(HOLDS(ms_scatter_add(xt, IDS(0, 0, 3, 0), ms_full(MS_INTS(4, 3), 1, MS_FLOAT32), 0), 3, 7, 11, 1, 5,
                9, 2, 6, 10, 4, 8, 12));
    MsTensor *rows = ms_reshape(IDS(1, 0, 2, 2, 0, 0), MS_INTS(3, 2));
    CHECK(HOLDS(ms_take_along(x, rows, 1), 1, 0, 6, 6, 8, 8));
    MsTensor *src = iota(MS_FLOAT32, MS_INTS(3, 2));
    CHECK(HOLDS(ms_put_along(x, rows, src, 1, "add"), 1, 1, 2, 3, 4, 5, 11, 7, 17, 9, 10, 11));
    CHECK(HOLDS(ms_put_along(x, rows, src, 1, "set"), 1, 0, 2, 3, 4, 5, 3, 7, 5, 9, 10, 11));
    CHECK(HOLDS(ms_put_along(x, rows, src, 1, "max"), 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    MsTensor *two[] = {IDS(2, 0, 1), IDS(0, -1, 0)};
    CHECK(HOLDS(ms_index(x, 2, two, MS_INTS(0, 1)), 8, 3, 4));
    CHECK(HOLDS(ms_index_put(x, ms_full(MS_INTS(3), 5, MS_FLOAT32), 2, two, MS_INTS(0, 1), true), 0, 1, 2, 8,
                9, 5, 6, 7, 13, 9, 10, 11));
    CHECK(!ms_index(x, 1, (MsTensor *[]){IDS(3)}, MS_INTS(0)) && ms_error()->code == MS_ERROR_INDEX);
    ms_error_clear();
    /* adjacent axes stay in place, others come first */
    MsTensor *c = iota(MS_INT32, MS_INTS(2, 3, 4)), *p[] = {IDS(1, 0), IDS(2, 3)};
    CHECK(HOLDS(ms_index(c, 2, p, MS_INTS(1, 2)), 6, 3, 18, 15));
    MsTensor *q[] = {IDS(1, 0), IDS(2, 3)}, *y = ms_index(c, 2, q, MS_INTS(0, 2));
    CHECK(HOLDS(y, 14, 18, 22, 3, 7, 11) && y->shape[0] == 2);
    CHECK(HOLDS(ms_index_put(c, ms_full(MS_INTS(2, 3), -1, MS_INT32), 2, q, MS_INTS(0, 2), false), 0, 1, 2,
                -1, 4, 5, 6, -1, 8, 9, 10, -1, 12, 13, -1, 15, 16, 17, -1, 19, 20, 21, -1, 23));
    MsTensor *nd = ms_reshape(IDS(1, 2, 0, -1), MS_INTS(2, 2));
    CHECK(HOLDS(ms_gather_nd(x, nd), 6, 3));
    CHECK(HOLDS(ms_scatter_nd(x, nd, ms_full(MS_INTS(2), 50, MS_FLOAT32), "set"), 0, 1, 2, 50, 4, 5, 50, 7, 8,
                9, 10, 11));
    CHECK(
        HOLDS(ms_nonzero(ms_tril(ms_slice(x, MS_INTS(0, 0), MS_INTS(2, 2), MS_INTS(1, 1)), 0)), 1, 0, 1, 1));
    /* a large scatter gives the same sums for any thread count */
    MsTensor *many = ms_arange_int(0, 7919, 200000, MS_INT64);
    for (int64_t k = 0; k < many->numel; k++) ((int64_t *)many->data)[k] %= 1000;
    MsTensor *v = ms_arange(0, 0.1, 200000, MS_FLOAT32), *zero = ms_full(MS_INTS(1000), 0, MS_FLOAT32);
    int threads = ms_thread_count();
    (void)ms_thread_set_count(1);
    MsTensor *s1 = ms_scatter_add(zero, many, v, 0);
    (void)ms_thread_set_count(3);
    CHECK(equal(s1, ms_scatter_add(zero, many, v, 0)));
    (void)ms_thread_set_count(threads);
}

static MsTensor *floats(int n, const double *v)
{
    MsTensor *t = ms_tensor_from(MS_FLOAT64, 1, (int64_t[]){n}, v),
             *y = ms_tensor_empty(MS_FLOAT32, 1, (int64_t[]){n});
    return t && y && ms__copy(y, t) == MS_OK ? y : NULL;
}
#define FLOATS(...) floats((int)(sizeof((double[]){__VA_ARGS__}) / 8), (const double[]){__VA_ARGS__})

static bool same_values(MsTensor *t, MsTensor *want)
{
    return equal(t, want);
}

static void ordering(void)
{
    MsTensor *x = FLOATS(3, -0.0, NAN, -INFINITY, 0, 3, -1), *y[4];
    CHECK(ms_sort(x, 0, false, true, y) == MS_OK &&
          same_values(y[0], FLOATS(-INFINITY, -1, 0, 0, 3, 3, NAN)));
    CHECK(HOLDS(y[1], 3, 6, 1, 4, 0, 5, 2));
    CHECK(ms_sort(x, 0, true, true, y) == MS_OK && HOLDS(y[1], 2, 0, 5, 1, 4, 6, 3));
    CHECK(ms_topk(x, 3, -1, true, true, y) == MS_OK && HOLDS(y[1], 2, 0, 5));
    CHECK(ms_topk(x, 2, 0, false, true, y) == MS_OK && HOLDS(y[0], -INFINITY, -1) && HOLDS(y[1], 3, 6));
    CHECK(ms_topk(x, 8, 0, false, true, y) == MS_ERROR_VALUE);
    ms_error_clear();
    /* long rows, all integer keys, along a strided axis */
    MsTensor *n = ms_arange_int(0, 7919, 3000, MS_INT64);
    for (int64_t k = 0; k < 3000; k++) ((int64_t *)n->data)[k] = ((int64_t *)n->data)[k] % 1009 - 500;
    MsTensor *m = ms_transpose(ms_reshape(n, MS_INTS(1000, 3)), MS_INTS(1, 0));
    CHECK(ms_sort(m, 1, false, true, y) == MS_OK);
    bool ok = true;
    for (int64_t r = 0; r < 3; r++)
        for (int64_t k = 1; k < 1000; k++) {
            int64_t i[] = {r, k}, j[] = {r, k - 1};
            double a = at(y[0], j), b = at(y[0], i);
            int64_t from[] = {r, (int64_t)at(y[1], i)};
            ok = ok && (a < b || (a == b && at(y[1], j) < at(y[1], i))) && at(m, from) == b;
        }
    CHECK(ok);
    MsTensor *top[2];
    CHECK(ms_topk(m, 700, 1, false, true, top) == MS_OK);
    CHECK(equal(top[0], ms_slice(y[0], MS_INTS(0, 0), MS_INTS(3, 700), MS_INTS(1, 1))));
    CHECK(equal(top[1], ms_slice(y[1], MS_INTS(0, 0), MS_INTS(3, 700), MS_INTS(1, 1))));
    CHECK(HOLDS(ms_searchsorted(FLOATS(1, 3, 3, 5), FLOATS(3, 0, 9, NAN), false), 1, 0, 4, 4));
    CHECK(HOLDS(ms_searchsorted(FLOATS(1, 3, 3, 5), FLOATS(3, 0, 9, 5), true), 3, 0, 4, 4));
    CHECK(ms_unique(FLOATS(3, 1, 3, -2, 1), y) == MS_OK && HOLDS(y[0], -2, 1, 3) &&
          HOLDS(y[1], 2, 1, 2, 0, 1) && HOLDS(y[2], 1, 2, 2) && HOLDS(y[3], 3, 1, 0));
    MsTensor *g = ms_reshape(FLOATS(1, 2, 3, 4, 5, 6), MS_INTS(2, 3));
    CHECK(HOLDS(ms_cumsum(g, 1, false, false), 1, 3, 6, 4, 9, 15));
    CHECK(HOLDS(ms_cumsum(g, 0, true, false), 5, 7, 9, 4, 5, 6));
    CHECK(HOLDS(ms_cumsum(g, 1, false, true), 0, 1, 3, 0, 4, 9));
    CHECK(HOLDS(ms_cumprod(g, 1, true, false), 6, 6, 3, 120, 30, 6));
    CHECK(ms_cummax(FLOATS(1, 3, 3, NAN, 9), 0, y) == MS_OK && same_values(y[0], FLOATS(1, 3, 3, NAN, NAN)) &&
          HOLDS(y[1], 0, 1, 2, 3, 3));
    CHECK(ms_cummin(FLOATS(4, 3, 3, NAN, 1), 0, y) == MS_OK && same_values(y[0], FLOATS(4, 3, 3, NAN, NAN)) &&
          HOLDS(y[1], 0, 1, 2, 3, 3));
}

static void randoms(void)
{
    MsTensor *s = IDS(42, 7);
    int64_t n = 100001;
    for (int d = MS_FLOAT16; d <= MS_FLOAT64; d++) {
        MsTensor *u = ms_rng_uniform(s, MS_INTS(n), (MsDtype)d),
                 *z = ms_rng_normal(s, MS_INTS(n), (MsDtype)d);
        double sum = 0, sq = 0, zs = 0, zq = 0, lo = 1, hi = 0;
        for (int64_t k = 0; k < n; k++) {
            double a = at(u, &k), b = at(z, &k);
            sum += a, sq += a * a, zs += b, zq += b * b;
            lo = a < lo ? a : lo, hi = a > hi ? a : hi;
        }
        CHECK(lo >= 0 && hi < 1 && fabs(sum / (double)n - 0.5) < 0.005 &&
              fabs(sq / (double)n - 1.0 / 3) < 0.005);
        CHECK(fabs(zs / (double)n) < 0.02 && fabs(zq / (double)n - 1) < 0.02);
    }
    MsTensor *a = ms_rng_uniform(s, MS_INTS(n), MS_FLOAT32);
    int threads = ms_thread_count();
    (void)ms_thread_set_count(3);
    CHECK(equal(a, ms_rng_uniform(s, MS_INTS(n), MS_FLOAT32)));
    (void)ms_thread_set_count(threads);
    CHECK(!equal(a, ms_rng_uniform(ms_rng_advance(s), MS_INTS(n), MS_FLOAT32)));
    CHECK(HOLDS(ms_rng_advance(s), 42, 8));
    /* the cipher's published answer for a zero key and counter */
    CHECK(HOLDS(ms_rng_uniform(IDS(0, 0), MS_INTS(4), MS_FLOAT32), 0x6627e8 * 0x1p-24, 0xe169c5 * 0x1p-24,
                0xbc57ac * 0x1p-24, 0x9b00db * 0x1p-24));
    MsTensor *i = ms_rng_int(s, -3, 4, MS_INTS(n), MS_INT8), *p = ms_rng_perm(s, 1000), *y[2];
    int64_t count[7] = {0};
    for (int64_t k = 0; k < n; k++) {
        double v = at(i, &k);
        if (v >= -3 && v < 4) count[(int)v + 3]++;
    }
    bool ok = true;
    for (int k = 0; k < 7; k++) ok = ok && llabs(count[k] - n / 7) < 700;
    CHECK(ok);
    CHECK(ms_sort(p, 0, false, true, y) == MS_OK && equal(y[0], ms_arange_int(0, 1, 1000, MS_INT64)));
}

int main(void)
{
    int mark = ms_scope_begin();
    views();
    copies();
    indexing();
    ordering();
    randoms();
    ms_scope_end(mark, NULL, 0);
    CHECK(ms_memory_stats().n_live == 0);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
