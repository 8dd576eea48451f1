/* conv.c - portable convolution, its input gradient and its weight gradient: direct loops over row-major
 * float32 or float64, spatial axes padded to three with ones. Every loop nest writes each output from one
 * thread, so that nothing depends on the thread count. Padding is never touched: the range of positions whose
 * source lies inside is computed instead, so that an infinite weight does not meet a padded zero. */
#include "op/conv.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"

#define WORK 65536 /* multiply-adds that are worth a thread */

typedef struct Conv {
    int64_t n, ci, co, groups, cg, og; /* batch, channels, per group */
    int64_t x[3], w[3], y[3];          /* spatial sizes of input, kernel, output */
    int64_t stride[3], low[3], dilation[3];
    int64_t nx, nw, ny; /* products of the above */
    const void *px, *pw, *py, *bias;
    void *out;
} Conv;

static Conv conv_of(const MsAttr *at, int ndim, const int64_t *x, const int64_t *w, const int64_t *y)
{
    Conv c = {.n = x[0], .ci = x[1], .co = y[1], .groups = at[GROUPS].i, .nx = 1, .nw = 1, .ny = 1};
    c.cg = c.ci / c.groups;
    c.og = c.co / c.groups;
    int first = 3 - (ndim - 2);
    for (int d = 0; d < 3; d++) {
        bool own = d >= first;
        c.x[d] = own ? x[2 + d - first] : 1;
        c.w[d] = own ? w[2 + d - first] : 1;
        c.y[d] = own ? y[2 + d - first] : 1;
        c.stride[d] = own ? at[STRIDE].v[d - first] : 1;
        c.low[d] = own ? at[LOW].v[d - first] : 0;
        c.dilation[d] = own ? at[DILATION].v[d - first] : 1;
        c.nx *= c.x[d];
        c.nw *= c.w[d];
        c.ny *= c.y[d];
    }
    return c;
}

/* Output positions [*lo, *hi) on axis d for which kernel position k meets the input; their first source in
 * *src. */
static void range(const Conv *c, int d, int64_t k, int64_t *lo, int64_t *hi, int64_t *src)
{
    int64_t offset = k * c->dilation[d] - c->low[d], s = c->stride[d];
    *lo = offset >= 0 ? 0 : (-offset + s - 1) / s;
    *hi = c->x[d] - offset <= 0 ? 0 : (c->x[d] - offset + s - 1) / s;
    if (*hi > c->y[d]) *hi = c->y[d];
    if (*lo > *hi) *lo = *hi;
    *src = *lo * s + offset;
}

/* Calls row(n positions, x offset, y offset, w offset) for every line of output positions and kernel
 * position. */
#define FOR_LINES(c, ...)                                                                                    \
    for (int64_t kd = 0; kd < (c)->w[0]; kd++)                                                               \
        for (int64_t kh = 0; kh < (c)->w[1]; kh++)                                                           \
            for (int64_t kw = 0; kw < (c)->w[2]; kw++) {                                                     \
                int64_t d0, d1, sd, h0, h1, sh, w0, w1, sw;                                                  \
                range(c, 0, kd, &d0, &d1, &sd);                                                              \
                range(c, 1, kh, &h0, &h1, &sh);                                                              \
                range(c, 2, kw, &w0, &w1, &sw);                                                              \
                int64_t wi = (kd * (c)->w[1] + kh) * (c)->w[2] + kw, len = w1 - w0;                          \
                for (int64_t od = d0; od < d1; od++)                                                         \
                    for (int64_t oh = h0; oh < h1; oh++) {                                                   \
                        int64_t xi = ((sd + (od - d0) * (c)->stride[0]) * (c)->x[1] + sh +                   \
                                      (oh - h0) * (c)->stride[1]) *                                          \
                                         (c)->x[2] +                                                         \
                                     sw;                                                                     \
                        int64_t yi = (od * (c)->y[1] + oh) * (c)->y[2] + w0;                                 \
                        __VA_ARGS__                                                                          \
                    }                                                                                        \
            }

#define LOOPS(T)                                                                                             \
    static void forward_##T(void *ctx, int64_t begin, int64_t end)                                           \
    {                                                                                                        \
        const Conv *c = ctx;                                                                                 \
        int64_t step = c->stride[2];                                                                         \
        for (int64_t r = begin; r < end; r++) {                                                              \
            int64_t n = r / c->co, o = r % c->co;                                                            \
            T *y = (T *)c->out + r * c->ny;                                                                  \
            T b = c->bias ? ((const T *)c->bias)[o] : 0;                                                     \
            for (int64_t i = 0; i < c->ny; i++) y[i] = b;                                                    \
            for (int64_t k = 0; k < c->cg; k++) {                                                            \
                const T *x = (const T *)c->px + (n * c->ci + o / c->og * c->cg + k) * c->nx;                 \
                const T *w = (const T *)c->pw + (o * c->cg + k) * c->nw;                                     \
                FOR_LINES(c, {                                                                               \
                    T f = w[wi];                                                                             \
                    for (int64_t i = 0; i < len; i++) y[yi + i] += f * x[xi + i * step];                     \
                })                                                                                           \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void input_##T(void *ctx, int64_t begin, int64_t end)                                             \
    {                                                                                                        \
        const Conv *c = ctx;                                                                                 \
        int64_t step = c->stride[2];                                                                         \
        for (int64_t r = begin; r < end; r++) {                                                              \
            int64_t n = r / c->ci, ch = r % c->ci, g = ch / c->cg;                                           \
            T *x = (T *)c->out + r * c->nx;                                                                  \
            T b = c->bias ? ((const T *)c->bias)[ch] : 0;                                                    \
            for (int64_t i = 0; i < c->nx; i++) x[i] = b;                                                    \
            for (int64_t o = g * c->og; o < (g + 1) * c->og; o++) {                                          \
                const T *y = (const T *)c->py + (n * c->co + o) * c->ny;                                     \
                const T *w = (const T *)c->pw + (o * c->cg + ch % c->cg) * c->nw;                            \
                FOR_LINES(c, {                                                                               \
                    T f = w[wi];                                                                             \
                    for (int64_t i = 0; i < len; i++) x[xi + i * step] += f * y[yi + i];                     \
                })                                                                                           \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void weight_##T(void *ctx, int64_t begin, int64_t end)                                            \
    {                                                                                                        \
        const Conv *c = ctx;                                                                                 \
        int64_t step = c->stride[2];                                                                         \
        for (int64_t r = begin; r < end; r++) {                                                              \
            int64_t o = r / c->cg, ch = o / c->og * c->cg + r % c->cg;                                       \
            T *w = (T *)c->out + r * c->nw;                                                                  \
            for (int64_t i = 0; i < c->nw; i++) w[i] = 0;                                                    \
            for (int64_t n = 0; n < c->n; n++) {                                                             \
                const T *x = (const T *)c->px + (n * c->ci + ch) * c->nx;                                    \
                const T *y = (const T *)c->py + (n * c->co + o) * c->ny;                                     \
                FOR_LINES(c, {                                                                               \
                    T sum = 0;                                                                               \
                    for (int64_t i = 0; i < len; i++) sum += x[xi + i * step] * y[yi + i];                   \
                    w[wi] += sum;                                                                            \
                })                                                                                           \
            }                                                                                                \
        }                                                                                                    \
    }
LOOPS(float)
LOOPS(double)

/* Runs one of the three over `rows` rows that cost `work` each; in[1] and in[2] are operands, in[2] may be
 * absent. */
static MsStatus run(MsCall *call, int which)
{
    MsTensor *out = ms__out(call, 0);
    if (!out) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)out->dtype);
    int mark = ms_scope_begin();
    MsTensor *a = ms__dense_as(call->in[0], dtype), *b = ms__dense_as(call->in[1], dtype);
    MsTensor *bias = which < 2 && call->in[2] ? ms__dense_as(call->in[2], dtype) : NULL;
    MsTensor *to = ms__dense_out(out, dtype);
    MsStatus st = MS_OK;
    if (!a || !b || !to || (which < 2 && call->in[2] && !bias)) {
        st = ms_error()->code;
    } else {
        const MsTensor *x = which == 1 ? to : a, *w = which == 2 ? to : b,
                       *y = which == 0   ? to
                            : which == 1 ? a
                                         : b;
        Conv c = conv_of(call->attr + (which > 0), x->ndim, x->shape, w->shape, y->shape);
        c.px = x->data, c.pw = w->data, c.py = y->data, c.out = to->data;
        c.bias = bias ? bias->data : NULL;
        static const MsRangeFn fn[2][3] = {{forward_float, input_float, weight_float},
                                           {forward_double, input_double, weight_double}};
        int64_t rows = which == 0 ? c.n * c.co : which == 1 ? c.n * c.ci : c.co * c.cg;
        int64_t work = (which == 0 ? c.cg : which == 1 ? c.og : c.n) * c.nw * c.ny;
        ms__parallel_for(rows, 1 + WORK / (work + 1), fn[dtype == MS_FLOAT64][which], &c);
        st = ms__dense_done(out, to);
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_conv(MsCall *c)
{
    return run(c, 0);
}
static MsStatus run_conv_input_grad(MsCall *c)
{
    return run(c, 1);
}
static MsStatus run_conv_weight_grad(MsCall *c)
{
    return run(c, 2);
}

MS_KERNEL(conv, 0, loop, NULL, run_conv);
MS_KERNEL(conv_input_grad, 0, loop, NULL, run_conv_input_grad);
MS_KERNEL(conv_weight_grad, 0, loop, NULL, run_conv_weight_grad);
