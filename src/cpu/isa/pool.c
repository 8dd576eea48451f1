/* pool.c - pooling loops, compiled per instruction set. The walk is the same for both layouts: for every
 * output position and window position, a run of channels; channels-last makes that run contiguous, and
 * row-major planes use it with blocks of one channel. Windows are clipped to the input before they are
 * walked. A NaN is taken wherever it is met, and then nothing compares greater. */
#include "cpu/pool.h"

#include "cpu/isa/width.h"

#include <math.h>
#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

/* Kernel positions [*lo, *hi) on axis d of output position o that lie inside of the input. */
static inline void clip(const MsPool *p, int d, int64_t o, int64_t *lo, int64_t *hi)
{
    int64_t start = o * p->stride[d] - p->low[d], dil = p->dilation[d];
    if (p->adaptive) {
        *lo = 0;
        *hi = ((o + 1) * p->x[d] + p->y[d] - 1) / p->y[d] - o * p->x[d] / p->y[d];
        return;
    }
    *lo = start >= 0 ? 0 : (-start + dil - 1) / dil;
    *hi = p->x[d] - start <= 0 ? 0 : (p->x[d] - start + dil - 1) / dil;
    if (*hi > p->kernel[d]) *hi = p->kernel[d];
    if (*lo > *hi) *lo = *hi;
}

/* How many positions an average divides by. */
static inline double window_count(const MsPool *p, int64_t od, int64_t oh, int64_t ow, int64_t inside)
{
    if (p->divisor) return (double)p->divisor;
    if (!p->count_pad) return (double)inside;
    int64_t o[3] = {od, oh, ow}, count = 1;
    for (int d = 0; d < 3; d++) {
        int64_t start = o[d] * p->stride[d] - p->low[d], end = start + p->kernel[d];
        if (end > p->x[d] + p->high[d]) end = p->x[d] + p->high[d];
        count *= end - start;
    }
    return (double)count;
}

typedef struct Window {
    int64_t d0, d1, h0, h1, w0, w1; /* kernel positions inside of the input */
    int64_t d, h, w;                /* source of kernel position 0 */
} Window;

static inline int64_t start_of(const MsPool *p, int d, int64_t o)
{
    return p->adaptive ? o * p->x[d] / p->y[d] : o * p->stride[d] - p->low[d];
}

/* The window of a line of outputs without its columns, which columns_at adds. */
static inline Window line_at(const MsPool *p, int64_t od, int64_t oh)
{
    Window k = {.d = start_of(p, 0, od), .h = start_of(p, 1, oh)};
    clip(p, 0, od, &k.d0, &k.d1);
    clip(p, 1, oh, &k.h0, &k.h1);
    return k;
}

static inline Window columns_at(const MsPool *p, const Window *line, int64_t ow)
{
    Window k = *line;
    clip(p, 2, ow, &k.w0, &k.w1);
    k.w = start_of(p, 2, ow);
    return k;
}

/* Walks the window: `at` is the offset in x, `flat` the position in the plane. */
#define FOR_WINDOW(p, k, ...)                                                                                \
    for (int64_t kd = k.d0; kd < k.d1; kd++)                                                                 \
        for (int64_t kh = k.h0; kh < k.h1; kh++)                                                             \
            for (int64_t kw = k.w0; kw < k.w1; kw++) {                                                       \
                int64_t zd = k.d + kd * (p)->dilation[0], zh = k.h + kh * (p)->dilation[1],                  \
                        zw = k.w + kw * (p)->dilation[2];                                                    \
                int64_t at = zd * (p)->sx[2] + zh * (p)->sx[3] + zw * (p)->sx[4];                            \
                int64_t flat = (zd * (p)->x[1] + zh) * (p)->x[2] + zw;                                       \
                (void)flat;                                                                                  \
                __VA_ARGS__                                                                                  \
            }

/* One output position, n channels from x with steps cx, cy, ci. Positions are kept relative to the first of
 * the window (infer sees to it that they fit), which is taken whatever it holds: a window of -inf alone has a
 * position too. */
#define MAX_AT(T, U)                                                                                         \
    static inline __attribute__((always_inline)) void max_at_##T(const MsPool *p, const Window *win,         \
                                                                 int64_t n, const T *x, int64_t cx, T *y,    \
                                                                 int64_t cy, int64_t *index, int64_t ci)     \
    {                                                                                                        \
        Window k = *win;                                                                                     \
        T best[MS_POOL_BLOCK];                                                                               \
        U where[MS_POOL_BLOCK];                                                                              \
        int64_t base = -1;                                                                                   \
        for (int64_t c = 0; c < n; c++) best[c] = -(T)INFINITY, where[c] = 0;                                \
        FOR_WINDOW(p, k, {                                                                                   \
            const T *v = x + at;                                                                             \
            if (base < 0) {                                                                                  \
                base = flat;                                                                                 \
                for (int64_t c = 0; c < n; c++) best[c] = v[c * cx];                                         \
                continue;                                                                                    \
            }                                                                                                \
            U f = (U)(flat - base);                                                                          \
            for (int64_t c = 0; c < n; c++) {                                                                \
                T z = v[c * cx];                                                                             \
                bool take = (z > best[c]) | (z != z);                                                        \
                best[c] = take ? z : best[c];                                                                \
                where[c] = take ? f : where[c];                                                              \
            }                                                                                                \
        })                                                                                                   \
        for (int64_t c = 0; c < n; c++) y[c * cy] = best[c], index[c * ci] = base + where[c];                \
    }
MAX_AT(float, int32_t)
MAX_AT(double, int64_t)

#define AVG_AT(T)                                                                                            \
    static inline                                                                                            \
        __attribute__((always_inline)) void avg_at_##T(const MsPool *p, const Window *win, double count,     \
                                                       int64_t n, const T *x, int64_t cx, T *y, int64_t cy)  \
    {                                                                                                        \
        Window k = *win;                                                                                     \
        T sum[MS_POOL_BLOCK];                                                                                \
        T d = (T)count;                                                                                      \
        for (int64_t c = 0; c < n; c++) sum[c] = 0;                                                          \
        FOR_WINDOW(p, k, {                                                                                   \
            const T *v = x + at;                                                                             \
            for (int64_t c = 0; c < n; c++) sum[c] += v[c * cx];                                             \
        })                                                                                                   \
        for (int64_t c = 0; c < n; c++) y[c * cy] = sum[c] / d;                                              \
    }
AVG_AT(float)
AVG_AT(double)

/* The sum of a window whose lines are contiguous. */
#define WINDOW_SUM(T)                                                                                        \
    typedef T V_##T __attribute__((vector_size(WIDTH), aligned(sizeof(T)), may_alias));                      \
    typedef T V4_##T __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));             \
    static inline T window_sum_##T(const MsPool *p, const Window *k, const T *x)                             \
    {                                                                                                        \
        enum {                                                                                               \
            SPAN = WIDTH / sizeof(T),                                                                        \
            N = 32 / SPAN                                                                                    \
        };                                                                                                   \
        V_##T sum[N] = {{0}};                                                                                \
        V4_##T few = {0};                                                                                    \
        T total = 0, lane[32];                                                                               \
        int64_t n = k->w1 - k->w0, lines = k->h1 - k->h0;                                                    \
        if (n == p->sx[3]) n *= lines, lines = 1;                                                            \
        for (int64_t d = k->d0; d < k->d1; d++)                                                              \
            for (int64_t h = 0; h < lines; h++) {                                                            \
                const T *v = x + (k->d + d) * p->sx[2] + (k->h + k->h0 + h) * p->sx[3] + k->w + k->w0;       \
                int64_t i = 0;                                                                               \
                for (; i + 32 <= n; i += 32)                                                                 \
                    _Pragma("GCC unroll 16") for (int j = 0; j < N; j++) sum[j] +=                           \
                        *(const V_##T *)(v + i + j * SPAN);                                                  \
                for (; i + 4 <= n; i += 4) few += *(const V4_##T *)(v + i);                                  \
                for (; i < n; i++) total += v[i];                                                            \
            }                                                                                                \
        for (int l = 0; n >= 4 && l < 4; l++) total += few[l];                                               \
        memcpy(lane, sum, sizeof lane);                                                                      \
        for (int l = 0; n >= 32 && l < 16; l++) total += lane[l] + lane[l + 16];                             \
        return total;                                                                                        \
    }
WINDOW_SUM(float)
WINDOW_SUM(double)

static inline int64_t inside(const Window *k)
{
    return (k->d1 - k->d0) * (k->h1 - k->h0) * (k->w1 - k->w0);
}

/* Windows of 2x2 or 1x2 side by side, the common case: no clipping, a read and a choice a position; `tall` for two rows. `step`
 * is the distance between neighbouring outputs' windows, 1 apart in y and index. */
static inline bool is_quad(const MsPool *p)
{
    return p->kernel[0] == 1 && p->kernel[2] == 2 && p->stride[2] == 2 && p->stride[1] == p->kernel[1] &&
           (p->kernel[1] == 2 || p->kernel[1] == 1) && p->stride[0] == 1 &&
           p->low[0] + p->low[1] + p->low[2] == 0 && p->dilation[1] == 1 && p->dilation[2] == 1 &&
           p->kernel[1] * p->y[1] <= p->x[1] && 2 * p->y[2] <= p->x[2] && p->y[0] <= p->x[0];
}

#define QUAD(T, U)                                                                                           \
    static inline __attribute__((always_inline)) void quad_##T(                                              \
        bool tall, int64_t n, int64_t step, const T *x, int64_t down, int64_t right, int64_t flat,           \
        int64_t flat_step, int64_t width, T *y, int64_t *index)                                              \
    {                                                                                                        \
        for (int64_t k = 0; k < n; k++) {                                                                    \
            T best = x[k * step], z = x[k * step + right];                                                   \
            U at = 0;                                                                                        \
            bool take = (z > best) | (z != z);                                                               \
            best = take ? z : best, at = take ? 1 : at;                                                      \
            y[k] = best, index[k] = flat + k * flat_step + at;                                               \
            if (!tall) continue;                                                                             \
            z = x[k * step + down], take = (z > best) | (z != z);                                            \
            best = take ? z : best, at = take ? (U)width : at;                                               \
            z = x[k * step + down + right], take = (z > best) | (z != z);                                    \
            best = take ? z : best, at = take ? (U)(width + 1) : at;                                         \
            y[k] = best, index[k] = flat + k * flat_step + at;                                               \
        }                                                                                                    \
    }
QUAD(float, int32_t)
QUAD(double, int64_t)

/* Eight float windows of a row-major plane: even and odd columns of two rows, compared lane by lane. */
typedef float V8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t I8 __attribute__((vector_size(32), aligned(4), may_alias));

#define PICK(value, to)                                                                                      \
    do {                                                                                                     \
        V8 z = (value);                                                                                      \
        I8 take = (I8)((z > best) | (z != z));                                                               \
        best = (V8)(((I8)z & take) | ((I8)best & ~take));                                                    \
        at = (take & (int32_t)(to)) | (at & ~take);                                                          \
    } while (0)

static inline void eight(bool tall, const float *x, int64_t down, int64_t flat, int64_t width, float *y,
                         int64_t *index)
{
    const I8 even = {0, 2, 4, 6, 8, 10, 12, 14}, odd = {1, 3, 5, 7, 9, 11, 13, 15};
    V8 a = *(const V8 *)x, b = *(const V8 *)(x + 8);
    I8 at = {0};
    V8 best = __builtin_shuffle(a, b, even);
    PICK(__builtin_shuffle(a, b, odd), 1);
    if (tall) {
        V8 c = *(const V8 *)(x + down), d = *(const V8 *)(x + down + 8);
        PICK(__builtin_shuffle(c, d, even), width);
        PICK(__builtin_shuffle(c, d, odd), width + 1);
    }
    *(V8 *)y = best;
    for (int k = 0; k < 8; k++) index[k] = flat + 2 * k + at[k];
}

/* A line of windows: by eights, the last of them flush with the end. */
static inline void quads_float(bool tall, int64_t n, const float *x, int64_t down, int64_t flat,
                               int64_t width, float *y, int64_t *index)
{
    for (int64_t k = 0; n >= 8 && k < n; k += 8) {
        if (k > n - 8) k = n - 8;
        eight(tall, x + 2 * k, down, flat + 2 * k, width, y + k, index + k);
    }
    if (n < 8) quad_float(tall, n, 2, x, down, 1, flat, 2, width, y, index);
}
static inline void quads_double(bool tall, int64_t n, const double *x, int64_t down, int64_t flat,
                                int64_t width, double *y, int64_t *index)
{
    quad_double(tall, n, 2, x, down, 1, flat, 2, width, y, index);
}

/* Outputs of a line whose windows lie inside of the input along the width: [*lo, *hi). */
static inline void whole_columns(const MsPool *p, int64_t *lo, int64_t *hi)
{
    int64_t step = p->stride[2], last = p->x[2] - 1 - p->dilation[2] * (p->kernel[2] - 1) + p->low[2];
    *lo = *hi = 0;
    if (p->adaptive) return;
    *lo = (p->low[2] + step - 1) / step;
    *hi = last < 0 ? 0 : last / step + 1;
    if (*hi > p->y[2]) *hi = p->y[2];
}

/* n neighbouring outputs of a line, whose windows are equal but for their place: a run like one of channels. */
#define RUNS(T)                                                                                              \
    static void max_run_##T(const MsPool *p, const Window *k, int64_t n, const T *x, T *y, int64_t cy,       \
                            int64_t *index, int64_t ci)                                                      \
    {                                                                                                        \
        int64_t cx = p->stride[2] * p->sx[4];                                                                \
        if (cx == 1 && cy == 1 && ci == 1)                                                                   \
            max_at_##T(p, k, n, x, 1, y, 1, index, 1);                                                       \
        else if (cx == 2 && cy == 1 && ci == 1)                                                              \
            max_at_##T(p, k, n, x, 2, y, 1, index, 1);                                                       \
        else                                                                                                 \
            max_at_##T(p, k, n, x, cx, y, cy, index, ci);                                                    \
        for (int64_t i = 0; i < n; i++) index[i * ci] += i * p->stride[2];                                   \
    }                                                                                                        \
    static void avg_run_##T(const MsPool *p, const Window *k, double count, int64_t n, const T *x, T *y,     \
                            int64_t cy)                                                                      \
    {                                                                                                        \
        int64_t cx = p->stride[2] * p->sx[4];                                                                \
        if (n == 1 && p->sx[4] == 1)                                                                         \
            y[0] = window_sum_##T(p, k, x) / (T)count;                                                       \
        else if (cx == 1 && cy == 1)                                                                         \
            avg_at_##T(p, k, count, n, x, 1, y, 1);                                                          \
        else if (cx == 2 && cy == 1)                                                                         \
            for (int64_t i = 0; i < n; i += 8) {                                                             \
                if (n - i >= 8)                                                                              \
                    avg_at_##T(p, k, count, 8, x + 2 * i, 2, y + i, 1);                                      \
                else                                                                                         \
                    avg_at_##T(p, k, count, n - i, x + 2 * i, 2, y + i, 1);                                  \
            }                                                                                                \
        else                                                                                                 \
            avg_at_##T(p, k, count, n, x, cx, y, cy);                                                        \
    }
RUNS(float)
RUNS(double)

/* How many outputs from ow on make a run. */
static inline int64_t run_length(int64_t ow, int64_t lo, int64_t hi)
{
    if (ow < lo || ow >= hi) return 1;
    return hi - ow < MS_POOL_BLOCK ? hi - ow : MS_POOL_BLOCK;
}

/* The two walks over outputs: lines (channels innermost, contiguous) and planes (one channel at a time). */
#define WALKS(T)                                                                                             \
    static void max_lines_##T(void *ctx, int64_t begin, int64_t end)                                         \
    {                                                                                                        \
        const MsPool *p = ctx;                                                                               \
        bool quad = is_quad(p);                                                                              \
        for (int64_t r = begin; r < end; r++) {                                                              \
            int64_t n = r / (p->y[0] * p->y[1]), od = r / p->y[1] % p->y[0], oh = r % p->y[1];               \
            Window line = line_at(p, od, oh);                                                                \
            for (int64_t ow = 0; ow < p->y[2]; ow++) {                                                       \
                if (quad) {                                                                                  \
                    quad_##T(p->kernel[1] == 2, p->c, 1,                                                     \
                             (const T *)p->px + n * p->sx[0] + od * p->sx[2] +                               \
                                 p->kernel[1] * oh * p->sx[3] + 2 * ow * p->sx[4],                           \
                             p->sx[3], p->sx[4], (od * p->x[1] + p->kernel[1] * oh) * p->x[2] + 2 * ow, 0,   \
                             p->x[2],                                                                        \
                             (T *)p->py + n * p->sy[0] + od * p->sy[2] + oh * p->sy[3] + ow * p->sy[4],      \
                             p->index + n * p->si[0] + od * p->si[2] + oh * p->si[3] + ow * p->si[4]);       \
                    continue;                                                                                \
                }                                                                                            \
                Window k = columns_at(p, &line, ow);                                                         \
                T *y = (T *)p->py + n * p->sy[0] + od * p->sy[2] + oh * p->sy[3] + ow * p->sy[4];            \
                int64_t *index = p->index + n * p->si[0] + od * p->si[2] + oh * p->si[3] + ow * p->si[4];    \
                for (int64_t c = 0; c < p->c; c += MS_POOL_BLOCK) {                                          \
                    int64_t m = p->c - c < MS_POOL_BLOCK ? p->c - c : MS_POOL_BLOCK;                         \
                    max_at_##T(p, &k, m, (const T *)p->px + n * p->sx[0] + c, 1, y + c, 1, index + c, 1);    \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void max_planes_##T(void *ctx, int64_t begin, int64_t end)                                        \
    {                                                                                                        \
        const MsPool *p = ctx;                                                                               \
        bool quad = is_quad(p) && p->sx[4] == 1 && p->sy[4] == 1 && p->si[4] == 1;                           \
        int64_t lo, hi;                                                                                      \
        whole_columns(p, &lo, &hi);                                                                          \
        for (int64_t r = begin; r < end; r++) {                                                              \
            int64_t n = r / p->c, c = r % p->c;                                                              \
            const T *x = (const T *)p->px + n * p->sx[0] + c * p->sx[1];                                     \
            for (int64_t od = 0; od < p->y[0]; od++)                                                         \
                for (int64_t oh = 0; oh < p->y[1]; oh++) {                                                   \
                    if (quad)                                                                                \
                        quads_##T(p->kernel[1] == 2, p->y[2],                                                \
                                  x + od * p->sx[2] + p->kernel[1] * oh * p->sx[3], p->sx[3],                \
                                  (od * p->x[1] + p->kernel[1] * oh) * p->x[2], p->x[2],                     \
                                  (T *)p->py + n * p->sy[0] + c * p->sy[1] + od * p->sy[2] + oh * p->sy[3],  \
                                  p->index + n * p->si[0] + c * p->si[1] + od * p->si[2] + oh * p->si[3]);   \
                    Window line = line_at(p, od, oh);                                                        \
                    for (int64_t ow = quad ? p->y[2] : 0, run; ow < p->y[2]; ow += run) {                    \
                        Window k = columns_at(p, &line, ow);                                                 \
                        int64_t y =                                                                          \
                            n * p->sy[0] + c * p->sy[1] + od * p->sy[2] + oh * p->sy[3] + ow * p->sy[4];     \
                        int64_t i =                                                                          \
                            n * p->si[0] + c * p->si[1] + od * p->si[2] + oh * p->si[3] + ow * p->si[4];     \
                        run = run_length(ow, lo, hi);                                                        \
                        max_run_##T(p, &k, run, x, (T *)p->py + y, p->sy[4], p->index + i, p->si[4]);        \
                    }                                                                                        \
                }                                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    static void avg_lines_##T(void *ctx, int64_t begin, int64_t end)                                         \
    {                                                                                                        \
        const MsPool *p = ctx;                                                                               \
        for (int64_t r = begin; r < end; r++) {                                                              \
            int64_t n = r / (p->y[0] * p->y[1]), od = r / p->y[1] % p->y[0], oh = r % p->y[1];               \
            Window line = line_at(p, od, oh);                                                                \
            for (int64_t ow = 0; ow < p->y[2]; ow++) {                                                       \
                Window k = columns_at(p, &line, ow);                                                         \
                double count = window_count(p, od, oh, ow, inside(&k));                                      \
                T *y = (T *)p->py + n * p->sy[0] + od * p->sy[2] + oh * p->sy[3] + ow * p->sy[4];            \
                for (int64_t c = 0; c < p->c; c += MS_POOL_BLOCK) {                                          \
                    int64_t m = p->c - c < MS_POOL_BLOCK ? p->c - c : MS_POOL_BLOCK;                         \
                    avg_at_##T(p, &k, count, m, (const T *)p->px + n * p->sx[0] + c, 1, y + c, 1);           \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void avg_planes_##T(void *ctx, int64_t begin, int64_t end)                                        \
    {                                                                                                        \
        const MsPool *p = ctx;                                                                               \
        int64_t lo, hi;                                                                                      \
        whole_columns(p, &lo, &hi);                                                                          \
        for (int64_t r = begin; r < end; r++) {                                                              \
            int64_t n = r / p->c, c = r % p->c;                                                              \
            const T *x = (const T *)p->px + n * p->sx[0] + c * p->sx[1];                                     \
            for (int64_t od = 0; od < p->y[0]; od++)                                                         \
                for (int64_t oh = 0; oh < p->y[1]; oh++) {                                                   \
                    Window line = line_at(p, od, oh);                                                        \
                    for (int64_t ow = 0, run; ow < p->y[2]; ow += run) {                                     \
                        Window k = columns_at(p, &line, ow);                                                 \
                        int64_t y =                                                                          \
                            n * p->sy[0] + c * p->sy[1] + od * p->sy[2] + oh * p->sy[3] + ow * p->sy[4];     \
                        run = run_length(ow, lo, hi);                                                        \
                        avg_run_##T(p, &k, window_count(p, od, oh, ow, inside(&k)), run, x, (T *)p->py + y,  \
                                    p->sy[4]);                                                               \
                    }                                                                                        \
                }                                                                                            \
        }                                                                                                    \
    }
WALKS(float)
WALKS(double)

/* Gradients: a unit is a batch index and a block of channels, whose part of px belongs to one thread. */
#define FOR_OUTPUTS(p, ...)                                                                                  \
    for (int64_t od = 0; od < (p)->y[0]; od++)                                                               \
        for (int64_t oh = 0; oh < (p)->y[1]; oh++) {                                                         \
            Window line = line_at(p, od, oh);                                                                \
            (void)line;                                                                                      \
            for (int64_t ow = 0; ow < (p)->y[2]; ow++) {                                                     \
                int64_t yo = od * (p)->sy[2] + oh * (p)->sy[3] + ow * (p)->sy[4];                            \
                __VA_ARGS__                                                                                  \
            }                                                                                                \
        }

#define UNIT(p, r)                                                                                           \
    int64_t blocks = ((p)->c + MS_POOL_BLOCK - 1) / MS_POOL_BLOCK, n = (r) / blocks,                         \
            c0 = (r) % blocks * MS_POOL_BLOCK;                                                               \
    int64_t m = (p)->c - c0 < MS_POOL_BLOCK ? (p)->c - c0 : MS_POOL_BLOCK

#define GRADS(T)                                                                                             \
    static inline __attribute__((always_inline)) void avg_grad_unit_##T(const MsPool *p, int64_t m, T *x,    \
                                                                        int64_t cx, const T *y, int64_t cy)  \
    {                                                                                                        \
        FOR_OUTPUTS(p, {                                                                                     \
            Window k = columns_at(p, &line, ow);                                                             \
            T d = (T)window_count(p, od, oh, ow, inside(&k)), g[MS_POOL_BLOCK];                              \
            for (int64_t c = 0; c < m; c++) g[c] = y[yo + c * cy] / d;                                       \
            FOR_WINDOW(p, k, {                                                                               \
                T *v = x + at;                                                                               \
                for (int64_t c = 0; c < m; c++) v[c * cx] += g[c];                                           \
            })                                                                                               \
        })                                                                                                   \
    }                                                                                                        \
    static void avg_grad_##T(void *ctx, int64_t begin, int64_t end)                                          \
    {                                                                                                        \
        const MsPool *p = ctx;                                                                               \
        for (int64_t r = begin; r < end; r++) {                                                              \
            UNIT(p, r);                                                                                      \
            T *x = (T *)p->px + n * p->sx[0] + c0 * p->sx[1];                                                \
            const T *y = (const T *)p->py + n * p->sy[0] + c0 * p->sy[1];                                    \
            if (p->sx[1] == 1 && p->sy[1] == 1)                                                              \
                avg_grad_unit_##T(p, m, x, 1, y, 1);                                                         \
            else                                                                                             \
                for (int64_t c = 0; c < m; c++)                                                              \
                    avg_grad_unit_##T(p, 1, x + c * p->sx[1], 0, y + c * p->sy[1], 0);                       \
        }                                                                                                    \
    }                                                                                                        \
    static inline __attribute__((always_inline)) void max_grad_unit_##T(                                     \
        MsPool *p, int64_t m, T *x, int64_t cx, const T *y, int64_t cy, const int64_t *index, int64_t ci)    \
    {                                                                                                        \
        int64_t plane = p->x[0] * p->x[1] * p->x[2], step = p->sx[4];                                        \
        FOR_OUTPUTS(p, {                                                                                     \
            int64_t io = od * p->si[2] + oh * p->si[3] + ow * p->si[4];                                      \
            for (int64_t c = 0; c < m; c++) {                                                                \
                int64_t i = index[io + c * ci];                                                              \
                if ((uint64_t)i < (uint64_t)plane)                                                           \
                    x[i * step + c * cx] += y[yo + c * cy];                                                  \
                else if (i != -1)                                                                            \
                    p->bad = i;                                                                              \
            }                                                                                                \
        })                                                                                                   \
    }                                                                                                        \
    static void max_grad_##T(void *ctx, int64_t begin, int64_t end)                                          \
    {                                                                                                        \
        MsPool *p = ctx;                                                                                     \
        for (int64_t r = begin; r < end; r++) {                                                              \
            UNIT(p, r);                                                                                      \
            T *x = (T *)p->px + n * p->sx[0] + c0 * p->sx[1];                                                \
            const T *y = (const T *)p->py + n * p->sy[0] + c0 * p->sy[1];                                    \
            const int64_t *index = p->index + n * p->si[0] + c0 * p->si[1];                                  \
            if (p->sx[1] == 1)                                                                               \
                max_grad_unit_##T(p, m, x, 1, y, p->sy[1], index, p->si[1]);                                 \
            else                                                                                             \
                for (int64_t c = 0; c < m; c++)                                                              \
                    max_grad_unit_##T(p, 1, x + c * p->sx[1], 0, y + c * p->sy[1], 0, index + c * p->si[1],  \
                                      0);                                                                    \
        }                                                                                                    \
    }                                                                                                        \
    static void max_take_##T(void *ctx, int64_t begin, int64_t end)                                          \
    {                                                                                                        \
        MsPool *p = ctx;                                                                                     \
        int64_t plane = p->x[0] * p->x[1] * p->x[2], step = p->sx[4];                                        \
        for (int64_t r = begin; r < end; r++) {                                                              \
            UNIT(p, r);                                                                                      \
            const T *x = (const T *)p->px + n * p->sx[0] + c0 * p->sx[1];                                    \
            T *y = (T *)p->py + n * p->sy[0] + c0 * p->sy[1];                                                \
            const int64_t *index = p->index + n * p->si[0] + c0 * p->si[1];                                  \
            FOR_OUTPUTS(p, {                                                                                 \
                int64_t io = od * p->si[2] + oh * p->si[3] + ow * p->si[4];                                  \
                for (int64_t c = 0; c < m; c++) {                                                            \
                    int64_t i = index[io + c * p->si[1]];                                                    \
                    bool in = (uint64_t)i < (uint64_t)plane;                                                 \
                    y[yo + c * p->sy[1]] = in ? x[i * step + c * p->sx[1]] : 0;                              \
                    if (!in && i != -1) p->bad = i;                                                          \
                }                                                                                            \
            })                                                                                               \
        }                                                                                                    \
    }
GRADS(float)
GRADS(double)

const MsPoolFns PASTE(ms__pool_, MS_ISA) = {
    {max_lines_float, max_lines_double}, {max_planes_float, max_planes_double},
    {avg_lines_float, avg_lines_double}, {avg_planes_float, avg_planes_double},
    {avg_grad_float, avg_grad_double},   {max_grad_float, max_grad_double},
    {max_take_float, max_take_double},
};
