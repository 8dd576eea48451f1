/* norm.c - loops of batch, layer and group normalisation, compiled per instruction set. Sums run in the dtype computed in
 * over short fixed runs, which are then added in float64; the runs do not depend on the number of threads. */
#include "cpu/norm.h"

#include "cpu/isa/width.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#define LANES 64 /* channels, or elements of a run, that are summed side by side */

/* The two terms of a kind of sum, from a = x, d = dy, m = mean. */
#define FIRST(kind, a, d, m)                                                                                 \
    ((kind) == MS_NORM_SUM ? (a) : (kind) == MS_NORM_SQUARES ? ((a) - (m)) * ((a) - (m)) : (d))
#define SECOND(a, d, m) ((d) * ((a) - (m)))
#define HIDDEN(d, a, m, s, b) (((a) - (m)) * (s) + (b) <= 0 ? 0 : (d))

#define REDUCE(T, KIND)                                                                                      \
    static void reduce_rows_##T##_##KIND(void *ctx, int64_t begin, int64_t end)                              \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        for (int64_t b = begin; b < end; b++) {                                                              \
            int64_t r0 = b * MS_NORM_ROWS, r1 = r0 + MS_NORM_ROWS < p->rows ? r0 + MS_NORM_ROWS : p->rows;   \
            double *out = p->partial + b * 2 * p->c;                                                         \
            for (int64_t c0 = 0; c0 < p->c; c0 += LANES) {                                                   \
                int64_t m = p->c - c0 < LANES ? p->c - c0 : LANES;                                           \
                T s[LANES] = {0}, q[LANES] = {0};                                                            \
                const T *mean = (const T *)p->mean + c0;                                                     \
                for (int64_t r = r0; r < r1; r++) {                                                          \
                    const T *x = (const T *)p->x + r * p->c + c0;                                            \
                    const T *d = KIND == MS_NORM_PRODUCTS ? (const T *)p->dy + r * p->c + c0 : x;            \
                    for (int64_t c = 0; c < m; c++) {                                                        \
                        T mu = KIND == MS_NORM_SUM ? 0 : mean[c];                                            \
                        s[c] += FIRST(KIND, x[c], d[c], mu);                                                 \
                        if (KIND == MS_NORM_PRODUCTS) q[c] += SECOND(x[c], d[c], mu);                        \
                    }                                                                                        \
                }                                                                                            \
                for (int64_t c = 0; c < m; c++)                                                              \
                    out[c0 + c] = (double)s[c], out[p->c + c0 + c] = (double)q[c];                           \
            }                                                                                                \
        }                                                                                                    \
    }
/* Without vector types the compiler shuffles the lanes of the two sums. */
typedef float float_v __attribute__((vector_size(WIDTH)));
typedef float float_at __attribute__((vector_size(WIDTH), aligned(4), may_alias)); /* in memory */
typedef int32_t float_m __attribute__((vector_size(WIDTH)));
typedef double double_v __attribute__((vector_size(WIDTH)));
typedef double double_at __attribute__((vector_size(WIDTH), aligned(8), may_alias));
typedef int64_t double_m __attribute__((vector_size(WIDTH)));
#define SPAN(T) (WIDTH / (int)sizeof(T))
#define HIDDEN_V(T, d, a, m, s, b) (T##_v)(~(((a) - (m)) * (s) + (b) <= 0) & (T##_m)(d))

#define REDUCE_PLANES(T, KIND)                                                                               \
    static void reduce_planes_##T##_##KIND(void *ctx, int64_t begin, int64_t end)                            \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        const bool two = KIND >= MS_NORM_PRODUCTS, masked = KIND == MS_NORM_MASKED;                          \
        const int sum = masked ? MS_NORM_PRODUCTS : KIND;                                                    \
        for (int64_t ch = begin; ch < end; ch++) {                                                           \
            double first = 0, second = 0;                                                                    \
            T mu = KIND == MS_NORM_SUM ? 0 : ((const T *)p->mean)[ch];                                       \
            T by = masked ? ((const T *)p->gamma)[ch] : 0, to = masked ? ((const T *)p->beta)[ch] : 0;       \
            for (int64_t n = 0; n < p->n; n++) {                                                             \
                const T *x = (const T *)p->x + (n * p->c + ch) * p->plane;                                   \
                const T *d = two ? (const T *)p->dy + (n * p->c + ch) * p->plane : x;                        \
                for (int64_t i0 = 0; i0 < p->plane; i0 += LANES * 16) {                                      \
                    int64_t i1 = i0 + LANES * 16 < p->plane ? i0 + LANES * 16 : p->plane, i = i0;            \
                    T##_v s = {0}, q = {0};                                                                  \
                    for (; i + SPAN(T) <= i1; i += SPAN(T)) {                                                \
                        T##_v a = *(const T##_at *)(x + i), g = *(const T##_at *)(d + i);                    \
                        if (masked) g = HIDDEN_V(T, g, a, mu, by, to);                                       \
                        s += FIRST(sum, a, g, mu);                                                           \
                        if (two) q += SECOND(a, g, mu);                                                      \
                    }                                                                                        \
                    for (; i < i1; i++) {                                                                    \
                        T a = x[i], g = masked ? HIDDEN(d[i], a, mu, by, to) : d[i];                         \
                        s[0] += FIRST(sum, a, g, mu);                                                        \
                        if (two) q[0] += SECOND(a, g, mu);                                                   \
                    }                                                                                        \
                    for (int l = 0; l < SPAN(T); l++) first += (double)s[l], second += (double)q[l];         \
                }                                                                                            \
            }                                                                                                \
            p->partial[ch] = first;                                                                          \
            p->partial[p->c + ch] = second;                                                                  \
        }                                                                                                    \
    }
REDUCE(float, MS_NORM_SUM)
REDUCE(float, MS_NORM_SQUARES)
REDUCE(float, MS_NORM_PRODUCTS)
REDUCE(double, MS_NORM_SUM)
REDUCE(double, MS_NORM_SQUARES)
REDUCE(double, MS_NORM_PRODUCTS)
REDUCE_PLANES(float, MS_NORM_SUM)
REDUCE_PLANES(float, MS_NORM_SQUARES)
REDUCE_PLANES(float, MS_NORM_PRODUCTS)
REDUCE_PLANES(float, MS_NORM_MASKED)
REDUCE_PLANES(double, MS_NORM_SUM)
REDUCE_PLANES(double, MS_NORM_SQUARES)
REDUCE_PLANES(double, MS_NORM_PRODUCTS)

#define MAPS(T)                                                                                              \
    static void apply_rows_##T(void *ctx, int64_t begin, int64_t end)                                        \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        const T *mean = p->mean, *scale = p->scale, *shift = p->shift;                                       \
        int64_t r1 = end * MS_NORM_ROWS < p->rows ? end * MS_NORM_ROWS : p->rows;                            \
        for (int64_t r = begin * MS_NORM_ROWS; r < r1; r++) {                                                \
            const T *x = (const T *)p->x + r * p->c;                                                         \
            T *y = (T *)p->y + r * p->c;                                                                     \
            for (int64_t c = 0; c < p->c; c++) y[c] = (x[c] - mean[c]) * scale[c] + shift[c];                \
        }                                                                                                    \
    }                                                                                                        \
    static void apply_planes_##T(void *ctx, int64_t begin, int64_t end)                                      \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        for (int64_t r = begin; r < end; r++) {                                                              \
            const T *x = (const T *)p->x + r * p->plane;                                                     \
            T *y = (T *)p->y + r * p->plane;                                                                 \
            int64_t c = r % p->c;                                                                            \
            T mean = ((const T *)p->mean)[c], scale = ((const T *)p->scale)[c],                              \
              shift = ((const T *)p->shift)[c];                                                              \
            for (int64_t i = 0; i < p->plane; i++) y[i] = (x[i] - mean) * scale + shift;                     \
        }                                                                                                    \
    }                                                                                                        \
    static void grad_rows_##T(void *ctx, int64_t begin, int64_t end)                                         \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        const T *mean = p->mean, *scale = p->scale, *shift = p->shift, *extra = p->extra;                    \
        int64_t r1 = end * MS_NORM_ROWS < p->rows ? end * MS_NORM_ROWS : p->rows;                            \
        for (int64_t r = begin * MS_NORM_ROWS; r < r1; r++) {                                                \
            const T *x = (const T *)p->x + r * p->c, *d = (const T *)p->dy + r * p->c;                       \
            T *y = (T *)p->y + r * p->c;                                                                     \
            for (int64_t c = 0; c < p->c; c++)                                                               \
                y[c] = d[c] * scale[c] + (x[c] - mean[c]) * shift[c] + extra[c];                             \
        }                                                                                                    \
    }                                                                                                        \
    static void grad_planes_##T(void *ctx, int64_t begin, int64_t end)                                       \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        for (int64_t r = begin; r < end; r++) {                                                              \
            const T *x = (const T *)p->x + r * p->plane, *d = (const T *)p->dy + r * p->plane;               \
            T *y = (T *)p->y + r * p->plane;                                                                 \
            int64_t c = r % p->c;                                                                            \
            T mean = ((const T *)p->mean)[c], scale = ((const T *)p->scale)[c],                              \
              shift = ((const T *)p->shift)[c];                                                              \
            T extra = ((const T *)p->extra)[c];                                                              \
            for (int64_t i = 0; i < p->plane; i++) y[i] = d[i] * scale + (x[i] - mean) * shift + extra;      \
        }                                                                                                    \
    }
MAPS(float)
MAPS(double)

static void grad_masked(void *ctx, int64_t begin, int64_t end)
{
    const MsNorm *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        const float *x = (const float *)p->x + r * p->plane, *d = (const float *)p->dy + r * p->plane;
        float *y = (float *)p->y + r * p->plane;
        int64_t c = r % p->c;
        float mean = ((const float *)p->mean)[c], scale = ((const float *)p->scale)[c];
        float shift = ((const float *)p->shift)[c], extra = ((const float *)p->extra)[c];
        float by = ((const float *)p->gamma)[c], to = ((const float *)p->beta)[c];
        int64_t i = 0;
        for (; i + SPAN(float) <= p->plane; i += SPAN(float)) {
            float_v a = *(const float_at *)(x + i), g = *(const float_at *)(d + i);
            g = HIDDEN_V(float, g, a, mean, by, to);
            *(float_at *)(y + i) = g * scale + (a - mean) * shift + extra;
        }
        for (; i < p->plane; i++)
            y[i] = HIDDEN(d[i], x[i], mean, by, to) * scale + (x[i] - mean) * shift + extra;
    }
}

/* ---- layer norm ---- */

/* Sum of f(i) for i in [0, n): runs of LANES * 16 in the dtype computed in, then float64. */
#define RUN_SUM(T, n, result, term)                                                                          \
    do {                                                                                                     \
        double total_ = 0;                                                                                   \
        for (int64_t i0 = 0; i0 < (n); i0 += LANES * 16) {                                                   \
            int64_t i1 = i0 + LANES * 16 < (n) ? i0 + LANES * 16 : (n), j = i0;                              \
            T s[16] = {0};                                                                                   \
            for (; j + 16 <= i1; j += 16)                                                                    \
                for (int l = 0; l < 16; l++) {                                                               \
                    int64_t i = j + l;                                                                       \
                    s[l] += (term);                                                                          \
                }                                                                                            \
            for (int64_t i = j; i < i1; i++) s[0] += (term);                                                 \
            for (int l = 0; l < 16; l++) total_ += (double)s[l];                                             \
        }                                                                                                    \
        result = total_;                                                                                     \
    } while (0)

/* Mean and 1 / deviation of n elements. */
#define MOMENTS(T)                                                                                           \
    static inline void moments_##T(int64_t n, const T *x, double eps, T *mean_out, T *rstd_out)              \
    {                                                                                                        \
        double sum, squares;                                                                                 \
        RUN_SUM(T, n, sum, x[i]);                                                                            \
        T mean = (T)(sum / (double)n);                                                                       \
        RUN_SUM(T, n, squares, (x[i] - mean) * (x[i] - mean));                                               \
        *mean_out = mean;                                                                                    \
        *rstd_out = (T)(1 / sqrt(squares / (double)n + eps));                                                \
    }
MOMENTS(float)
MOMENTS(double)

#define LAYER(T)                                                                                             \
    static void layer_##T(void *ctx, int64_t begin, int64_t end)                                             \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        const T *gamma = p->gamma, *beta = p->beta;                                                          \
        int64_t n = p->c;                                                                                    \
        for (int64_t r = begin; r < end; r++) {                                                              \
            const T *x = (const T *)p->x + r * n;                                                            \
            T *y = (T *)p->y + r * n;                                                                        \
            T mean, rstd;                                                                                    \
            moments_##T(n, x, p->eps, &mean, &rstd);                                                         \
            ((T *)p->mean_out)[r] = mean;                                                                    \
            ((T *)p->rstd_out)[r] = rstd;                                                                    \
            if (gamma && beta)                                                                               \
                for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];            \
            else                                                                                             \
                for (int64_t i = 0; i < n; i++)                                                              \
                    y[i] = (x[i] - mean) * rstd * (gamma ? gamma[i] : 1) + (beta ? beta[i] : 0);             \
        }                                                                                                    \
    }                                                                                                        \
    static void group_##T(void *ctx, int64_t begin, int64_t end)                                             \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        int64_t channels = p->c / p->plane;                                                                  \
        for (int64_t r = begin; r < end; r++) {                                                              \
            T mean, rstd;                                                                                    \
            moments_##T(p->c, (const T *)p->x + r * p->c, p->eps, &mean, &rstd);                             \
            for (int64_t k = 0; k < channels; k++) {                                                         \
                int64_t at = r * p->c + k * p->plane, c = r % p->n * channels + k;                           \
                const T *x = (const T *)p->x + at;                                                           \
                T *y = (T *)p->y + at, scale = p->gamma ? ((const T *)p->gamma)[c] : 1;                      \
                T shift = p->beta ? ((const T *)p->beta)[c] : 0;                                             \
                for (int64_t i = 0; i < p->plane; i++) y[i] = (x[i] - mean) * rstd * scale + shift;          \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void layer_grad_##T(void *ctx, int64_t begin, int64_t end)                                        \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        const T *gamma = p->gamma;                                                                           \
        int64_t n = p->c;                                                                                    \
        for (int64_t r = begin; r < end; r++) {                                                              \
            const T *x = (const T *)p->x + r * n, *d = (const T *)p->dy + r * n;                             \
            T *y = (T *)p->y + r * n, mean = ((const T *)p->mean)[r], rstd = ((const T *)p->scale)[r];       \
            double g = 0, gh = 0;                                                                            \
            if (gamma) {                                                                                     \
                RUN_SUM(T, n, g, d[i] * gamma[i]);                                                           \
                RUN_SUM(T, n, gh, d[i] * gamma[i] * (x[i] - mean));                                          \
            } else {                                                                                         \
                RUN_SUM(T, n, g, d[i]);                                                                      \
                RUN_SUM(T, n, gh, d[i] * (x[i] - mean));                                                     \
            }                                                                                                \
            T m1 = (T)(g / (double)n), m2 = (T)(gh / (double)n * (double)rstd * (double)rstd);               \
            for (int64_t i = 0; i < n; i++)                                                                  \
                y[i] = rstd * (d[i] * (gamma ? gamma[i] : 1) - m1 - (x[i] - mean) * m2);                     \
        }                                                                                                    \
    }                                                                                                        \
    static void layer_columns_##T(void *ctx, int64_t begin, int64_t end)                                     \
    {                                                                                                        \
        const MsNorm *p = ctx;                                                                               \
        for (int64_t b = begin; b < end; b++) {                                                              \
            int64_t r0 = b * MS_NORM_ROWS, r1 = r0 + MS_NORM_ROWS < p->rows ? r0 + MS_NORM_ROWS : p->rows;   \
            double *out = p->partial + b * 2 * p->c;                                                         \
            for (int64_t c0 = 0; c0 < p->c; c0 += LANES) {                                                   \
                int64_t m = p->c - c0 < LANES ? p->c - c0 : LANES;                                           \
                T s[LANES] = {0}, q[LANES] = {0};                                                            \
                for (int64_t r = r0; r < r1; r++) {                                                          \
                    const T *x = (const T *)p->x + r * p->c + c0, *d = (const T *)p->dy + r * p->c + c0;     \
                    T mean = ((const T *)p->mean)[r], rstd = ((const T *)p->scale)[r];                       \
                    for (int64_t c = 0; c < m; c++) {                                                        \
                        s[c] += d[c];                                                                        \
                        q[c] += d[c] * ((x[c] - mean) * rstd);                                               \
                    }                                                                                        \
                }                                                                                            \
                for (int64_t c = 0; c < m; c++)                                                              \
                    out[c0 + c] = (double)s[c], out[p->c + c0 + c] = (double)q[c];                           \
            }                                                                                                \
        }                                                                                                    \
    }
LAYER(float)
LAYER(double)

#define KINDS(name, T) name##_##T##_MS_NORM_SUM, name##_##T##_MS_NORM_SQUARES, name##_##T##_MS_NORM_PRODUCTS

const MsNormFns PASTE(ms__norm_, MS_ISA) = {
    {{KINDS(reduce_rows, float)}, {KINDS(reduce_rows, double)}},
    {{KINDS(reduce_planes, float), reduce_planes_float_MS_NORM_MASKED}, {KINDS(reduce_planes, double), NULL}},
    {apply_rows_float, apply_rows_double},
    {apply_planes_float, apply_planes_double},
    {grad_rows_float, grad_rows_double},
    {grad_planes_float, grad_planes_double},
    grad_masked,
    {layer_float, layer_double},
    {layer_grad_float, layer_grad_double},
    {layer_columns_float, layer_columns_double},
    {group_float, group_double},
};
