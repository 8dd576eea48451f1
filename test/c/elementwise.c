/* elementwise.c - elementwise operators and reductions against plain loops, for every instruction set: edge
 * values, strides, broadcasting, dtypes, accuracy of the float32 functions. */
#include "core/tensor.h"
#include "cpu/loops.h"
#include "mindspore.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

#define CHECK(cond, ...)                                                                                     \
    do {                                                                                                     \
        if (cond) {                                                                                          \
            passed++;                                                                                        \
        } else {                                                                                             \
            failed++;                                                                                        \
            printf("%s:%d: ", __FILE__, __LINE__);                                                           \
            printf(__VA_ARGS__);                                                                             \
            printf(" (%s)\n", ms_error()->code ? ms_error()->message : "no error");                          \
            ms_error_clear();                                                                                \
        }                                                                                                    \
    } while (0)

static MsTensor *f32(int n, const float *v)
{
    return ms_tensor_from(MS_FLOAT32, 1, (int64_t[]){n}, v);
}
#define F32(...) f32(sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__})

/* Element k of a tensor in row-major order, as double. */
static double at(MsTensor *t, int64_t k)
{
    int64_t off = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        off += k % t->shape[d] * t->strides[d];
        k /= t->shape[d];
    }
    switch (t->dtype) {
    case MS_FLOAT32: return ((float *)(void *)t->data)[off];
    case MS_FLOAT64: return ((double *)(void *)t->data)[off];
    case MS_BOOL: return ((bool *)t->data)[off];
    case MS_INT8: return ((int8_t *)t->data)[off];
    case MS_INT32: return ((int32_t *)(void *)t->data)[off];
    case MS_INT64: return (double)((int64_t *)(void *)t->data)[off];
    case MS_UINT8: return ((uint8_t *)t->data)[off];
    default: return (double)NAN;
    }
}

static bool same(double a, double b)
{
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

static void expect(int line, MsTensor *t, int n, const double *v)
{
    CHECK(t && t->numel == n, "line %d: shape", line);
    for (int k = 0; t && k < n && k < t->numel; k++)
        CHECK(same(at(t, k), v[k]), "line %d: element %d is %.9g, not %.9g", line, k, at(t, k), v[k]);
}
#define EXPECT(t, ...)                                                                                       \
    expect(__LINE__, t, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

#define INF ((double)INFINITY)
#define QNAN ((double)NAN)

static void edges(void)
{
    MsTensor *x = F32(NAN, INFINITY, -INFINITY, -0.0f, 0.0f, -2.5f, 3.5f, 1e-40f);
    EXPECT(ms_neg(x), QNAN, -INF, INF, 0.0, -0.0, 2.5, -3.5, -(double)1e-40f);
    EXPECT(ms_relu(x), QNAN, INF, 0, -0.0, 0, 0, 3.5, (double)1e-40f);
    EXPECT(ms_abs(x), QNAN, INF, INF, 0, 0, 2.5, 3.5, (double)1e-40f);
    EXPECT(ms_sign(x), QNAN, 1, -1, -0.0, 0, -1, 1, 1);
    EXPECT(ms_round(x), QNAN, INF, -INF, -0.0, 0, -2, 4, 0);
    EXPECT(ms_floor(x), QNAN, INF, -INF, -0.0, 0, -3, 3, 0);
    EXPECT(ms_is_nan(x), 1, 0, 0, 0, 0, 0, 0, 0);
    EXPECT(ms_is_inf(x), 0, 1, 1, 0, 0, 0, 0, 0);
    EXPECT(ms_is_finite(x), 0, 0, 0, 1, 1, 1, 1, 1);
    EXPECT(ms_maximum(x, F32(1)), QNAN, INF, 1, 1, 1, 1, 3.5, 1);
    EXPECT(ms_maximum(F32(1), x), QNAN, INF, 1, 1, 1, 1, 3.5, 1);
    EXPECT(ms_minimum(x, F32(NAN)), QNAN, QNAN, QNAN, QNAN, QNAN, QNAN, QNAN, QNAN);
    EXPECT(ms_cast(x, MS_BOOL), 1, 1, 1, 0, 0, 1, 1, 1);
    EXPECT(ms_cast(F32(1.9f, -1.9f, 300, -1), MS_INT32), 1, -1, 300, -1);
    EXPECT(ms_cast(F32(1.9f, -1.9f, 300, -1), MS_UINT8), 1, 255, 44, 255);
    EXPECT(ms_mod(F32(5, -5, 5, -5, 0), F32(3, 3, -3, -3, -2)), 2, 1, -1, -2, -0.0);
    EXPECT(ms_floor_div(F32(5, -5, 5, -5, 1), F32(3, 3, -3, -3, 0)), 1, -2, -2, 1, INF);
    EXPECT(ms_fmod(F32(5, -5), F32(3, 3)), 2, -2);

    int32_t iv[] = {INT32_MIN, -7, 7, 0}, id[] = {-1, 2, -2, 5};
    MsTensor *a = ms_tensor_from(MS_INT32, 1, (int64_t[]){4}, iv),
             *b = ms_tensor_from(MS_INT32, 1, (int64_t[]){4}, id);
    EXPECT(ms_floor_div(a, b), INT32_MIN, -4, -4, 0);
    EXPECT(ms_mod(a, b), 0, 1, -1, 0);
    EXPECT(ms_neg(a), INT32_MIN, 7, -7, 0);
    EXPECT(ms_abs(a), INT32_MIN, 7, 7, 0);
    EXPECT(ms_sub(a, b), INT32_MIN + 1, -9, 9, -5);
    EXPECT(ms_lt(a, b), 1, 1, 0, 1);
    CHECK(!ms_mod(b, a) && ms_error()->code == MS_ERROR_ZERO_DIVISION, "modulo by zero");
    ms_error_clear();
    EXPECT(ms_pow(b, ms_tensor_from(MS_INT32, 1, (int64_t[]){4}, (int32_t[]){-3, 10, 3, 0})), -1, 1024, -8,
           1);

    uint8_t u[] = {200, 100, 0};
    MsTensor *w = ms_tensor_from(MS_UINT8, 1, (int64_t[]){3}, u);
    EXPECT(ms_add(w, w), 144, 200, 0);
    EXPECT(ms_neg(w), 56, 156, 0);
    EXPECT(ms_sum(w, MS_INTS_NONE, false), 44);
    bool bv[] = {true, false, true};
    MsTensor *t = ms_tensor_from(MS_BOOL, 1, (int64_t[]){3}, bv);
    EXPECT(ms_add(t, t), 1, 0, 1);
    EXPECT(ms_mul(t, ms_logical_not(t)), 0, 0, 0);
    EXPECT(ms_reduce_all(t, MS_INTS_NONE, false), 0);
    EXPECT(ms_reduce_any(t, MS_INTS_NONE, false), 1);
    EXPECT(ms_bitwise_not(t), 0, 1, 0);
    EXPECT(ms_where(t, F32(1, 2, 3), F32(-1)), 1, -1, 3);
}

static void reductions(void)
{
    float v[24];
    for (int k = 0; k < 24; k++) v[k] = (float)k;
    MsTensor *x = ms_tensor_from(MS_FLOAT32, 3, (int64_t[]){2, 3, 4}, v);
    EXPECT(ms_sum(x, MS_INTS_NONE, false), 276);
    EXPECT(ms_sum(x, MS_INTS(1), false), 12, 15, 18, 21, 48, 51, 54, 57);
    EXPECT(ms_sum(x, MS_INTS(0, 2), true), 60, 92, 124);
    EXPECT(ms_mean(x, MS_INTS(-1), false), 1.5, 5.5, 9.5, 13.5, 17.5, 21.5);
    EXPECT(ms_reduce_max(x, MS_INTS(2), false), 3, 7, 11, 15, 19, 23);
    EXPECT(ms_reduce_min(x, MS_INTS(0), false), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    EXPECT(ms_sum_to(x, MS_INTS(3, 1)), 60, 92, 124);
    EXPECT(ms_sum_to(x, MS_INTS(4)), 60, 66, 72, 78);
    MsTensor *p = ms_transpose(x, MS_INTS(2, 0, 1));
    EXPECT(ms_sum(p, MS_INTS(1), false), 12, 20, 28, 14, 22, 30, 16, 24, 32, 18, 26, 34);
    EXPECT(ms_add(p, ms_tensor_from(MS_FLOAT32, 1, (int64_t[]){3}, v)), 0, 5, 10, 12, 17, 22, 1, 6, 11, 13,
           18, 23, 2, 7, 12, 14, 19, 24, 3, 8, 13, 15, 20, 25);
    EXPECT(ms_sum(ms_slice(x, MS_INTS(0, 2, 3), MS_INTS(2, 2, 2), MS_INTS(1, -2, -2)), MS_INTS(0, 1), false),
           52, 44);
    MsTensor *e = ms_tensor_empty(MS_FLOAT32, 2, (int64_t[]){0, 3});
    EXPECT(ms_sum(e, MS_INTS(0), false), 0, 0, 0);
    EXPECT(ms_prod(e, MS_INTS(0), false), 1, 1, 1);
    EXPECT(ms_mean(e, MS_INTS_NONE, false), QNAN);
    CHECK(!ms_reduce_max(e, MS_INTS(0), false) && ms_error()->code == MS_ERROR_VALUE, "maximum of nothing");
    ms_error_clear();
    EXPECT(ms_reduce_max(F32(1, NAN, 3), MS_INTS_NONE, false), QNAN);
    EXPECT(ms_sum(F32(1e8f, 1, -1e8f, 1), MS_INTS_NONE, false), 2);

    int64_t n = 300000;
    MsTensor *big = ms_tensor_empty(MS_FLOAT32, 2, (int64_t[]){3, n / 3});
    for (int64_t k = 0; k < n; k++) ((float *)ms_tensor_data(big))[k] = (float)(k % 7) * 0.1f;
    double want[3] = {0}, all = 0;
    for (int64_t k = 0; k < n; k++) want[k / (n / 3)] += (double)((float)(k % 7) * 0.1f);
    all = want[0] + want[1] + want[2];
    MsTensor *s = ms_sum(big, MS_INTS(1), false),
             *s0 = ms_sum(ms_transpose(big, MS_INTS(1, 0)), MS_INTS(0), false);
    for (int k = 0; k < 3; k++) {
        CHECK(fabs(at(s, k) - want[k]) < 1e-7 * want[k] + 0.01, "long sum");
        CHECK(at(s, k) == at(s0, k), "long sum, transposed");
    }
    CHECK(fabs(at(ms_sum(big, MS_INTS_NONE, false), 0) - all) < 1e-7 * all + 0.01, "sum of all");
    MsTensor *c = ms_sum(big, MS_INTS(0), false);
    for (int64_t k = 0; k < n / 3; k += 999)
        CHECK(same(at(c, k), (double)(float)(at(big, k) + at(big, k + n / 3) + at(big, k + 2 * (n / 3)))),
              "column %ld", (long)k);
}

static void rows(void)
{
    MsTensor *x = F32(1, 2, 3, 4);
    EXPECT(ms_var(x, MS_INTS_NONE, false, 0), 1.25);
    EXPECT(ms_var(x, MS_INTS_NONE, true, 1), (double)(float)(5.0 / 3));
    EXPECT(ms_var(F32(5), MS_INTS_NONE, false, 1), QNAN);
    float v[24];
    for (int k = 0; k < 24; k++) v[k] = (float)(k * k);
    MsTensor *m = ms_tensor_from(MS_FLOAT32, 3, (int64_t[]){2, 3, 4}, v),
             *mean = ms_mean(m, MS_INTS(0, 2), true);
    MsTensor *want = ms_mean(ms_square(ms_sub(m, mean)), MS_INTS(0, 2), false),
             *got = ms_var(m, MS_INTS(0, 2), false, 0);
    MsTensor *last = ms_var(ms_transpose(m, MS_INTS(2, 0, 1)), MS_INTS(0, 1), false, 0);
    for (int k = 0; k < 3; k++) {
        CHECK(fabs(at(got, k) - at(want, k)) < 1e-6 * at(want, k), "variance %g %g", at(got, k), at(want, k));
        CHECK(fabs(at(last, k) - at(want, k)) < 1e-6 * at(want, k), "variance %g %g", at(last, k),
              at(want, k));
    }
    EXPECT(ms_argmax(F32(1, 3, NAN, 5, NAN), 0, false), 2);
    EXPECT(ms_argmin(F32(1, 0, 0, 5), -1, true), 1);
    EXPECT(ms_argmax(m, 1, false), 2, 2, 2, 2, 2, 2, 2, 2);
    EXPECT(ms_argmax(ms_cast(m, MS_FLOAT16), 2, true), 3, 3, 3, 3, 3, 3);
    EXPECT(ms_softmax(F32(1000, 1000, -1000), 0), 0.5, 0.5, 0);
    EXPECT(ms_log_softmax(F32(1000, -1000), 0), 0, -2000);
    EXPECT(ms_softmax(F32(1, NAN), 0), QNAN, QNAN);
    EXPECT(ms_logsumexp(F32(-INFINITY, -INFINITY), MS_INTS_NONE, false), -INF);
    EXPECT(ms_logsumexp(F32(INFINITY, 1), MS_INTS_NONE, false), INF);
    EXPECT(ms_logsumexp(F32(1000, 1000), MS_INTS(0), true), (double)(float)(1000 + log(2)));
    for (int axis = 0; axis < 3; axis++) {
        MsTensor *s = ms_softmax(ms_mul(m, F32(0.01f)), axis), *one = ms_sum(s, MS_INTS(axis), false);
        MsTensor *t = ms_softmax(ms_transpose(ms_mul(m, F32(0.01f)), MS_INTS(2, 0, 1)), (axis + 1) % 3);
        for (int k = 0; k < one->numel; k++)
            CHECK(fabs(at(one, k) - 1) < 1e-6, "axis %d sums to %g", axis, at(one, k));
        MsTensor *d = ms_sub(ms_transpose(t, MS_INTS(1, 2, 0)), s);
        CHECK(at(ms_reduce_max(ms_abs(d), MS_INTS_NONE, false), 0) == 0, "softmax of a transposed tensor");
    }
}

static void halves(void)
{
    for (int bf = 0; bf < 2; bf++) {
        MsDtype dt = bf ? MS_BFLOAT16 : MS_FLOAT16;
        int64_t n = 65536;
        MsTensor *h = ms_tensor_empty(dt, 1, &n);
        for (int64_t k = 0; k < n; k++) ((uint16_t *)ms_tensor_data(h))[k] = (uint16_t)k;
        MsTensor *back = ms_cast(ms_cast(h, MS_FLOAT32), dt), *twice = ms_cast(ms_cast(h, MS_FLOAT64), dt);
        int bad = 0;
        for (int64_t k = 0; k < n; k++) {
            uint16_t a = (uint16_t)k, b = ((uint16_t *)ms_tensor_data(back))[k],
                     c = ((uint16_t *)ms_tensor_data(twice))[k];
            bool nan = (a & 0x7fff) > (bf ? 0x7f80 : 0x7c00);
            bad += nan ? (b & 0x7fff) <= (bf ? 0x7f80 : 0x7c00) : a != b || a != c;
        }
        CHECK(bad == 0, "%d values of %s change by a round trip", bad, ms_dtype_name(dt));
    }
    /* halfway cases, and double rounding through float32 */
    EXPECT(ms_cast(ms_cast(F32(2049, 2051, 65519, 65520, 2.9e-8f, 3e-8f), MS_FLOAT16), MS_FLOAT32), 2048,
           2052, 65504, INF, 0, 0x1p-24);
    double d = 1 + 0x1p-11 + 0x1p-40;
    MsTensor *x = ms_tensor_from(MS_FLOAT64, 0, NULL, &d);
    EXPECT(ms_cast(ms_cast(x, MS_FLOAT16), MS_FLOAT64), 1 + 0x1p-10);
    MsTensor *y = ms_add(ms_cast(F32(1, 2, 3), MS_FLOAT16), ms_cast(F32(0.5f), MS_FLOAT16));
    CHECK(y && y->dtype == MS_FLOAT16, "dtype");
    EXPECT(ms_cast(y, MS_FLOAT32), 1.5, 2.5, 3.5);
}

/* Every combination of broadcast, transposed and sliced operands against element-wise reading. */
static void strides(void)
{
    float v[4096];
    for (int k = 0; k < 4096; k++) v[k] = (float)(k * 7919 % 1000) * 0.25f;
    const int64_t shapes[][4] = {{3, 4, 5, 2}, {2, 3, 1, 70}, {1, 1, 3, 5}, {4, 1, 1, 100}};
    for (int k = 0; k < 4; k++)
        for (int mask = 0; mask < 256; mask++) {
            int mark = ms_scope_begin();
            int64_t sa[4], sb[4];
            for (int d = 0; d < 4; d++) {
                sa[d] = mask >> d & 1 ? 1 : shapes[k][d];
                sb[d] = mask >> (4 + d) & 1 ? 1 : shapes[k][d];
            }
            MsTensor *a = ms_tensor_from(MS_FLOAT32, 4, sa, v), *b = ms_tensor_from(MS_FLOAT32, 4, sb, v);
            if (mask % 3 == 1)
                a = ms_transpose(ms_copy(ms_transpose(a, MS_INTS(3, 1, 2, 0))), MS_INTS(3, 1, 2, 0));
            if (mask % 5 == 1)
                b = ms_slice(b, MS_INTS(sb[0] - 1, 0, 0, 0), (MsInts){4, sb}, MS_INTS(-1, 1, 1, 1));
            MsTensor *y = ms_sub(a, b), *z = ms_le(a, b);
            int bad = !y || !z;
            for (int64_t i = 0; !bad && i < y->numel; i++) {
                int64_t r = i, ia = 0, ib = 0, ma = 1, mb = 1;
                for (int d = 3; d >= 0; d--) {
                    int64_t p = r % y->shape[d];
                    r /= y->shape[d];
                    ia += (sa[d] == 1 ? 0 : p) * ma, ib += (sb[d] == 1 ? 0 : p) * mb;
                    ma *= sa[d], mb *= sb[d];
                }
                bad += !same(at(y, i), at(a, ia) - at(b, ib)) || at(z, i) != (at(a, ia) <= at(b, ib));
            }
            CHECK(!bad, "shape %d, mask %d: %d differ", k, mask, bad);
            ms_scope_end(mark, NULL, 0);
        }
    int64_t big[2] = {300, 500};
    MsTensor *a = ms_tensor_empty(MS_FLOAT32, 2, big),
             *b = ms_tensor_from(MS_FLOAT32, 2, (int64_t[]){300, 1}, v);
    for (int64_t k = 0; k < a->numel; k++) ((float *)ms_tensor_data(a))[k] = (float)(k % 1013);
    MsTensor *y = ms_mul(ms_add(a, b), ms_tensor_from(MS_FLOAT32, 1, big + 1, v));
    int bad = 0;
    for (int64_t k = 0; k < y->numel; k++) bad += at(y, k) != (at(a, k) + v[k / 500]) * (double)v[k % 500];
    CHECK(bad < y->numel / 100, "large broadcast: %d differ", bad); /* rounding of the product */
}

int main(void)
{
    static const char *const sets[] = {"base", "avx2", "avx512"};
    for (int k = 0; k < 3; k++) {
        if (!ms__loops_select(sets[k])) continue;
        int mark = ms_scope_begin();
        edges();
        reductions();
        rows();
        halves();
        strides();
        ms_scope_end(mark, NULL, 0);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
