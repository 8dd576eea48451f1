/* heavy.c - matrix products, convolutions and pooling: every kernel of every operator against plain loops in
 * float64, over shapes, groups, dilation, asymmetric padding and operands in every memory layout. */
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "mindspore.h"
#include "op/op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static const char *context = "";

static void check(bool good, const char *what)
{
    if (good) {
        passed++;
        return;
    }
    failed++;
    printf("FAILED: %s: %s (%s)\n", context, what, ms_error()->message);
    ms_error_clear();
}

static uint64_t seed = 1;
static double rnd(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 40) / (1 << 24) * 2 - 1;
}

enum {
    ROW,
    LAST,
    SWAPPED,
    STEP,
    NEGATIVE,
    WIDE,
    N_LAYOUT
};

/* A tensor of random values in one of the layouts; `WIDE` broadcasts the first axis. */
static MsTensor *make(MsDtype dtype, int nd, const int64_t *shape, int layout)
{
    int64_t strides[MS_MAX_DIM], big[MS_MAX_DIM], n = 1, offset = 0;
    memcpy(big, shape, (size_t)nd * sizeof *big);
    if (layout == STEP)
        for (int d = 0; d < nd; d++) big[d] = shape[d] * 2 + 1;
    for (int d = 0; d < nd; d++) n *= big[d];
    MsTensor *base = ms_tensor_empty(MS_FLOAT64, 1, (int64_t[]){n + 1});
    for (int64_t i = 0; i < n + 1; i++) ((double *)base->data)[i] = rnd();
    MsTensor *t = ms_tensor_empty(dtype, 1, (int64_t[]){n + 1});
    ms__copy(t, base);
    ms__row_major(nd, big, strides);
    if (layout == LAST && nd > 2) ms__channels_last(nd, shape, strides);
    if (layout == SWAPPED && nd > 1) {
        strides[nd - 2] = 1;
        strides[nd - 1] = shape[nd - 2];
    }
    for (int d = 0; d < nd; d++) {
        if (layout == STEP) strides[d] *= 2;
        if (layout == NEGATIVE) {
            if (shape[d] > 0) offset += strides[d] * (shape[d] - 1);
            strides[d] = -strides[d];
        }
    }
    if (layout == WIDE) strides[0] = 0;
    return ms__tensor_view(t, nd, shape, strides, offset);
}

static MsTensor *exact(MsTensor *t)
{
    return t ? ms__dense_as(t, MS_FLOAT64) : NULL;
}

static void compare(MsTensor *got, MsTensor *want, double tol, const char *what)
{
    MsTensor *g = exact(got);
    if (!g || g->numel != want->numel) {
        check(false, what);
        return;
    }
    double scale = 1, worst = 0;
    for (int64_t i = 0; i < g->numel; i++) {
        double a = ((double *)g->data)[i], b = ((double *)want->data)[i];
        if (fabs(b) > scale) scale = fabs(b);
        double e = isnan(a) && isnan(b) ? 0 : fabs(a - b);
        if (!(e <= worst)) worst = e;
    }
    check(worst <= tol * scale, what);
    if (!(worst <= tol * scale)) printf("    off by %g at scale %g\n", worst, scale);
}

static double tolerance(MsDtype d)
{
    return d == MS_FLOAT64 ? 1e-12 : d == MS_FLOAT32 ? 2e-5 : d == MS_FLOAT16 ? 4e-3 : 3e-2;
}

/* Runs every kernel that accepts the call into a fresh output and into a preset one of odd layout. */
static void all_kernels(const MsOp *op, const MsAttr *attr, int n_in, MsTensor **in, MsTensor *const *want,
                        int n_want)
{
    MsAval ia[8], oa[4];
    for (int i = 0; i < n_in; i++) {
        if (in[i])
            ia[i] = ms__aval(in[i]);
        else
            ia[i].dtype = MS_DTYPE_NONE;
    }
    int n_out;
    if (ms__infer(op, attr, n_in, ia, 4, oa, &n_out) != MS_OK) {
        check(false, op->name);
        return;
    }
    for (const MsKernel *const *k = op->kernels; *k; k++)
        for (int preset = 0; preset < 2; preset++) {
            MsTensor *out[4] = {NULL};
            if (preset)
                for (int j = 0; j < n_out; j++) out[j] = make(oa[j].dtype, oa[j].ndim, oa[j].shape, SWAPPED);
            MsCall c = {op, attr, n_in, n_out, in, out, oa};
            if ((*k)->ok && (*k)->ok(&c)) continue;
            char what[128];
            snprintf(what, sizeof what, "%s/%s%s %s", op->name, (*k)->name, preset ? " preset" : "",
                     ms_dtype_name(oa[0].dtype));
            if ((*k)->run(&c) != MS_OK) {
                check(false, what);
                continue;
            }
            for (int j = 0; j < n_want; j++) compare(out[j], want[j], tolerance(oa[j].dtype), what);
        }
}

static MsAttr boolean(bool b)
{
    return (MsAttr){.kind = MS_ATTR_BOOL, .i = b};
}
static MsAttr integer(int64_t i)
{
    return (MsAttr){.kind = MS_ATTR_INT, .i = i};
}
static MsAttr ints(int n, const int64_t *v)
{
    MsAttr a = {.kind = MS_ATTR_INTS, .n = (uint8_t)n};
    memcpy(a.v, v, (size_t)n * sizeof *v);
    return a;
}

/* ---- matmul ---- */

static int64_t flat_index(const MsTensor *t, const int64_t *index, int nd)
{
    int64_t f = 0;
    for (int d = 0; d < t->ndim; d++) {
        int64_t i = index[nd - t->ndim + d];
        f = f * t->shape[d] + (t->shape[d] == 1 ? 0 : i);
    }
    return f;
}

static void matmul_case(MsDtype dtype, int na, const int64_t *sa, int nb, const int64_t *sb, bool ta, bool tb,
                        int la, int lb)
{
    MsTensor *in[] = {make(dtype, na, sa, la), make(dtype, nb, sb, lb)}, *a = exact(in[0]), *b = exact(in[1]);
    MsAttr attr[] = {boolean(ta), boolean(tb)};
    MsAval ia[] = {ms__aval(a), ms__aval(b)}, oa;
    int n;
    extern const MsOp ms_op_matmul;
    check(ms__infer(&ms_op_matmul, attr, 2, ia, 1, &oa, &n) == MS_OK, "infer");
    MsTensor *y = ms_tensor_empty(MS_FLOAT64, oa.ndim, oa.shape);
    int64_t k = sa[na - 1 - ta];
    for (int64_t f = 0; f < y->numel; f++) {
        int64_t index[MS_MAX_DIM], rest = f;
        for (int d = oa.ndim - 1; d >= 0; d--) index[d] = rest % oa.shape[d], rest /= oa.shape[d];
        int64_t i = index[oa.ndim - 2], j = index[oa.ndim - 1];
        double sum = 0;
        for (int64_t q = 0; q < k; q++) {
            index[oa.ndim - 2] = ta ? q : i;
            index[oa.ndim - 1] = ta ? i : q;
            double x = ((double *)a->data)[flat_index(a, index, oa.ndim)];
            index[oa.ndim - 2] = tb ? j : q;
            index[oa.ndim - 1] = tb ? q : j;
            sum += x * ((double *)b->data)[flat_index(b, index, oa.ndim)];
        }
        ((double *)y->data)[f] = sum;
    }
    all_kernels(&ms_op_matmul, attr, 2, in, &y, 1);
}

static void test_matmul(void)
{
    static const MsDtype dtypes[] = {MS_FLOAT32, MS_BFLOAT16, MS_FLOAT16, MS_FLOAT64};
    static const int64_t sizes[][3] = {{1, 1, 1},   {3, 4, 5}, {64, 120, 84}, {1, 300, 40}, {70, 1, 33},
                                       {5, 600, 1}, {0, 4, 5}, {4, 0, 5},     {33, 47, 65}};
    context = "matmul";
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int t = 0; t < 4; t++)
            for (int l = 0; l < N_LAYOUT; l++) {
                int mark = ms_scope_begin();
                int64_t m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
                int64_t a[] = {t & 1 ? k : m, t & 1 ? m : k}, b[] = {t & 2 ? n : k, t & 2 ? k : n};
                matmul_case(dtypes[(s + (size_t)l) % 4], 2, a, 2, b, t & 1, t & 2, l, (l + t) % N_LAYOUT);
                matmul_case(MS_FLOAT32, 2, a, 2, b, t & 1, t & 2, l, (l + t) % N_LAYOUT);
                ms_scope_end(mark, NULL, 0);
            }
    for (int l = 0; l < N_LAYOUT; l++) {
        int mark = ms_scope_begin();
        matmul_case(MS_FLOAT32, 3, (int64_t[]){6, 5, 30}, 2, (int64_t[]){30, 40}, false, false, l, ROW);
        matmul_case(MS_FLOAT32, 4, (int64_t[]){3, 2, 25, 30}, 3, (int64_t[]){1, 30, 40}, false, false, ROW,
                    l);
        matmul_case(MS_FLOAT32, 4, (int64_t[]){3, 1, 25, 30}, 3, (int64_t[]){2, 40, 30}, false, true, l,
                    SWAPPED);
        matmul_case(MS_BFLOAT16, 2, (int64_t[]){25, 30}, 4, (int64_t[]){2, 3, 25, 30}, true, false, l, l);
        matmul_case(MS_FLOAT32, 3, (int64_t[]){0, 5, 30}, 2, (int64_t[]){30, 40}, false, false, ROW, l);
        matmul_case(MS_FLOAT64, 3, (int64_t[]){2, 5, 30}, 3, (int64_t[]){2, 30, 4}, false, false, l, l);
        ms_scope_end(mark, NULL, 0);
    }
}

static void test_linear(void)
{
    extern const MsOp ms_op_linear;
    context = "linear";
    for (int l = 0; l < N_LAYOUT; l++)
        for (int nd = 1; nd <= 4; nd++)
            for (int bias = 0; bias < 2; bias++) {
                int mark = ms_scope_begin();
                MsDtype dtype = l % 2 ? MS_FLOAT32 : nd % 2 ? MS_BFLOAT16 : MS_FLOAT64;
                int64_t shape[] = {3, 2, 7, 60}, *s = shape + 4 - nd;
                MsTensor *in[] = {make(dtype, nd, s, l), make(dtype, 2, (int64_t[]){50, 60}, l),
                                  bias ? make(dtype, 1, (int64_t[]){50}, l == WIDE ? WIDE : STEP) : NULL};
                MsTensor *x = exact(in[0]), *w = exact(in[1]), *b = exact(in[2]);
                int64_t out[4];
                memcpy(out, s, sizeof(int64_t) * (size_t)nd);
                out[nd - 1] = 50;
                MsTensor *y = ms_tensor_empty(MS_FLOAT64, nd, out);
                for (int64_t f = 0; f < y->numel; f++) {
                    double sum = b ? ((double *)b->data)[f % 50] : 0;
                    for (int k = 0; k < 60; k++)
                        sum += ((double *)x->data)[f / 50 * 60 + k] * ((double *)w->data)[f % 50 * 60 + k];
                    ((double *)y->data)[f] = sum;
                }
                all_kernels(&ms_op_linear, NULL, 3, in, &y, 1);
                ms_scope_end(mark, NULL, 0);
            }
}

/* ---- convolution ---- */

typedef struct Conv {
    int ns;
    int64_t n, c, o, groups, x[3], w[3], stride[3], low[3], high[3], dilation[3];
} Conv;

/* Calls visit for every product of the trilinear form <y, conv(x, w)>, with flat indices. */
static void products(const Conv *p, const int64_t *y, void (*visit)(int64_t, int64_t, int64_t, double **),
                     double **data)
{
    int64_t cg = p->c / p->groups, og = p->o / p->groups, x[3] = {1, 1, 1}, w[3] = {1, 1, 1},
            o[3] = {1, 1, 1};
    for (int d = 0; d < p->ns; d++) x[d] = p->x[d], w[d] = p->w[d], o[d] = y[d];
    for (int64_t n = 0; n < p->n; n++)
        for (int64_t k = 0; k < p->o; k++)
            for (int64_t c = 0; c < cg; c++)
                for (int64_t i = 0; i < o[0] * o[1] * o[2]; i++)
                    for (int64_t j = 0; j < w[0] * w[1] * w[2]; j++) {
                        int64_t oi[3] = {i / (o[1] * o[2]), i / o[2] % o[1], i % o[2]};
                        int64_t wi[3] = {j / (w[1] * w[2]), j / w[2] % w[1], j % w[2]}, xi = 0;
                        bool inside = true;
                        for (int d = 0; d < 3; d++) {
                            int64_t at =
                                d < p->ns ? oi[d] * p->stride[d] - p->low[d] + wi[d] * p->dilation[d] : 0;
                            inside &= at >= 0 && at < x[d];
                            xi = xi * x[d] + at;
                        }
                        if (!inside) continue;
                        visit((n * p->c + k / og * cg + c) * x[0] * x[1] * x[2] + xi,
                              (k * cg + c) * w[0] * w[1] * w[2] + j, (n * p->o + k) * o[0] * o[1] * o[2] + i,
                              data);
                    }
}

static void to_y(int64_t x, int64_t w, int64_t y, double **d)
{
    d[2][y] += d[0][x] * d[1][w];
}
static void to_x(int64_t x, int64_t w, int64_t y, double **d)
{
    d[0][x] += d[2][y] * d[1][w];
}
static void to_w(int64_t x, int64_t w, int64_t y, double **d)
{
    d[1][w] += d[0][x] * d[2][y];
}

static MsTensor *zeros(int nd, const int64_t *shape, MsTensor *bias)
{
    MsTensor *t = ms_tensor_empty(MS_FLOAT64, nd, shape);
    ms__zero(t);
    int64_t plane = 1;
    for (int d = 2; d < nd; d++) plane *= shape[d];
    if (bias)
        for (int64_t i = 0; i < t->numel; i++)
            ((double *)t->data)[i] = ((double *)bias->data)[i / plane % shape[1]];
    return t;
}

static void conv_case(const Conv *p, MsDtype dtype, int layout, bool with_bias)
{
    extern const MsOp ms_op_conv, ms_op_conv_input_grad, ms_op_conv_weight_grad;
    int nd = p->ns + 2;
    int64_t xs[5] = {p->n, p->c}, ws[5] = {p->o, p->c / p->groups}, ys[5] = {p->n, p->o};
    for (int d = 0; d < p->ns; d++) {
        xs[d + 2] = p->x[d];
        ws[d + 2] = p->w[d];
        ys[d + 2] =
            (p->x[d] + p->low[d] + p->high[d] - p->dilation[d] * (p->w[d] - 1) - 1) / p->stride[d] + 1;
    }
    int mark = ms_scope_begin();
    MsTensor *x = make(dtype, nd, xs, layout), *w = make(dtype, nd, ws, layout == LAST ? ROW : layout);
    MsTensor *dy = make(dtype, nd, ys, layout), *b = with_bias ? make(dtype, 1, ys + 1, STEP) : NULL;
    MsTensor *bx = with_bias ? make(dtype, 1, xs + 1, ROW) : NULL;
    MsAttr at[] = {ints(nd, xs),         ints(p->ns, p->stride),   ints(p->ns, p->low),
                   ints(p->ns, p->high), ints(p->ns, p->dilation), integer(p->groups)};

    MsTensor *want = zeros(nd, ys, exact(b)), *ex = exact(x), *ew = exact(w), *edy = exact(dy);
    products(p, ys + 2, to_y, (double *[]){(double *)ex->data, (double *)ew->data, (double *)want->data});
    all_kernels(&ms_op_conv, at + 1, 3, (MsTensor *[]){x, w, b}, &want, 1);

    want = zeros(nd, xs, exact(bx));
    products(p, ys + 2, to_x, (double *[]){(double *)want->data, (double *)ew->data, (double *)edy->data});
    all_kernels(&ms_op_conv_input_grad, at, 3, (MsTensor *[]){dy, w, bx}, &want, 1);

    want = zeros(nd, ws, NULL);
    products(p, ys + 2, to_w, (double *[]){(double *)ex->data, (double *)want->data, (double *)edy->data});
    at[0] = ints(nd, ws);
    all_kernels(&ms_op_conv_weight_grad, at, 2, (MsTensor *[]){x, dy}, &want, 1);
    ms_scope_end(mark, NULL, 0);
}

static void test_conv(void)
{
    static const Conv cases[] = {
        {2, 2, 3, 4, 1, {7, 8}, {3, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
        {2, 2, 1, 6, 1, {12, 12}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
        {2, 3, 4, 6, 2, {9, 7}, {3, 3}, {2, 1}, {1, 0}, {0, 2}, {1, 2}},
        {2, 2, 8, 8, 8, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
        {2, 1, 16, 32, 1, {5, 5}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
        {2, 2, 3, 5, 1, {8, 8}, {2, 2}, {3, 3}, {0, 1}, {1, 0}, {1, 1}}, /* the window misses the end */
        {2, 0, 3, 4, 1, {7, 8}, {3, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}}, /* empty batch */
        {1, 2, 3, 4, 1, {11}, {3}, {2}, {1}, {2}, {2}},
        {1, 2, 4, 4, 4, {9}, {3}, {1}, {2}, {0}, {1}},
        {3, 1, 2, 3, 1, {4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {0, 1, 1}, {1, 1, 0}, {1, 1, 2}},
        {3, 2, 4, 4, 2, {3, 4, 4}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}},
        {2, 1, 1, 1, 1, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    };
    context = "conv";
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int l = 0; l < N_LAYOUT; l++) {
            conv_case(&cases[k], MS_FLOAT32, l, l % 2);
            if (l == (int)k % N_LAYOUT) {
                conv_case(&cases[k], MS_BFLOAT16, l, true);
                conv_case(&cases[k], MS_FLOAT16, l, false);
                conv_case(&cases[k], MS_FLOAT64, l, true);
            }
        }
}

/* ---- pooling ---- */

static void pool_case(const Conv *p, MsDtype dtype, int layout, bool count_pad, int64_t divisor)
{
    extern const MsOp ms_op_max_pool, ms_op_max_pool_grad, ms_op_max_pool_take, ms_op_avg_pool,
        ms_op_avg_pool_grad;
    int nd = p->ns + 2;
    int64_t xs[5] = {p->n, p->c}, ys[5] = {p->n, p->c}, ye[5] = {p->n, p->c}, x[3] = {1, 1, 1},
            w[3] = {1, 1, 1};
    for (int d = 0; d < p->ns; d++) {
        x[d] = xs[d + 2] = p->x[d];
        w[d] = p->w[d];
        int64_t span = p->x[d] + p->low[d] + p->high[d];
        ys[d + 2] = (span - p->dilation[d] * (p->w[d] - 1) - 1) / p->stride[d] + 1;
        ye[d + 2] = (span - p->w[d]) / p->stride[d] + 1;
    }
    int mark = ms_scope_begin();
    MsTensor *in = make(dtype, nd, xs, layout), *ex = exact(in);
    MsTensor *best = zeros(nd, ys, NULL), *where = zeros(nd, ys, NULL), *mean = zeros(nd, ye, NULL);
    MsTensor *dy = make(dtype, nd, ys, layout), *dm = make(dtype, nd, ye, layout), *edy = exact(dy),
             *edm = exact(dm);
    MsTensor *dx = zeros(nd, xs, NULL), *dxm = zeros(nd, xs, NULL), *taken = zeros(nd, ys, NULL);
    MsTensor *index = ms_tensor_empty(MS_INT64, nd, ys);
    int64_t plane = x[0] * x[1] * x[2];
    for (int avg = 0; avg < 2; avg++) {
        MsTensor *y = avg ? mean : best;
        int64_t o[3] = {1, 1, 1};
        for (int d = 0; d < p->ns; d++) o[d] = (avg ? ye : ys)[d + 2];
        for (int64_t f = 0; f < y->numel; f++) {
            int64_t i = f % (o[0] * o[1] * o[2]), base = f / (o[0] * o[1] * o[2]) * plane;
            int64_t oi[3] = {i / (o[1] * o[2]), i / o[2] % o[1], i % o[2]}, at = -1, count = 0, padded = 0;
            double sum = 0, max = -INFINITY;
            for (int pass = 0; pass < 2; pass++)
                for (int64_t j = 0; j < w[0] * w[1] * w[2]; j++) {
                    int64_t wi[3] = {j / (w[1] * w[2]), j / w[2] % w[1], j % w[2]}, xi = 0;
                    bool inside = true, in_pad = true;
                    for (int d = 0; d < 3; d++) {
                        int64_t dil = avg || d >= p->ns ? 1 : p->dilation[d];
                        int64_t z = d < p->ns ? oi[d] * p->stride[d] - p->low[d] + wi[d] * dil : 0;
                        inside &= z >= 0 && z < x[d];
                        in_pad &= z < x[d] + (d < p->ns ? p->high[d] : 0);
                        xi = xi * x[d] + z;
                    }
                    if (!pass) padded += in_pad;
                    if (!inside) continue;
                    double v = ((double *)ex->data)[base + xi];
                    if (!pass) {
                        count++;
                        sum += v;
                        if (at < 0 || v > max) max = v, at = xi;
                    } else if (avg) {
                        double by = divisor ? (double)divisor : count_pad ? (double)padded : (double)count;
                        ((double *)dxm->data)[base + xi] += ((double *)edm->data)[f] / by;
                    }
                }
            if (avg) {
                ((double *)y->data)[f] = sum / (divisor     ? (double)divisor
                                                : count_pad ? (double)padded
                                                            : (double)count);
            } else {
                ((double *)y->data)[f] = max;
                ((double *)where->data)[f] = (double)at;
                ((int64_t *)index->data)[f] = at;
                ((double *)dx->data)[base + at] += ((double *)edy->data)[f];
                ((double *)taken->data)[f] = max;
            }
        }
    }
    MsAttr at[] = {ints(nd, xs),        ints(p->ns, p->w),    ints(p->ns, p->stride),
                   ints(p->ns, p->low), ints(p->ns, p->high), ints(p->ns, p->dilation)};
    all_kernels(&ms_op_max_pool, at + 1, 1, &in, (MsTensor *[]){best, where}, 2);
    all_kernels(&ms_op_max_pool_grad, at, 2, (MsTensor *[]){dy, index}, &dx, 1);
    all_kernels(&ms_op_max_pool_take, NULL, 2, (MsTensor *[]){in, index}, &taken, 1);
    MsAttr av[] = {at[0], at[1], at[2], at[3], at[4], boolean(count_pad), integer(divisor)};
    all_kernels(&ms_op_avg_pool, av + 1, 1, &in, &mean, 1);
    all_kernels(&ms_op_avg_pool_grad, av, 1, &dm, &dxm, 1);
    ms_scope_end(mark, NULL, 0);
}

static void test_pool(void)
{
    static const Conv cases[] = {
        {2, 2, 3, 0, 0, {6, 8}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
        {2, 1, 70, 0, 0, {5, 6}, {3, 2}, {2, 1}, {1, 0}, {1, 1}, {1, 1}},
        {2, 2, 5, 0, 0, {7, 9}, {3, 2}, {1, 2}, {1, 1}, {0, 1}, {2, 3}},
        {1, 2, 4, 0, 0, {9}, {3}, {2}, {1}, {1}, {1}},
        {3, 1, 3, 0, 0, {4, 4, 5}, {2, 2, 3}, {2, 1, 1}, {1, 0, 1}, {0, 0, 1}, {1, 1, 1}},
        {2, 0, 3, 0, 0, {6, 8}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
        {2, 3, 2, 0, 0, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    };
    context = "pool";
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int l = 0; l < N_LAYOUT; l++) {
            pool_case(&cases[k], MS_FLOAT32, l, l % 2, 0);
            pool_case(&cases[k], l % 2 ? MS_FLOAT64 : MS_BFLOAT16, l, l % 3 == 0, l == 2 ? 3 : 0);
        }
    int mark = ms_scope_begin();
    float v[] = {1, NAN, 3, 4, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    MsTensor *x = ms_tensor_from(MS_FLOAT32, 3, (int64_t[]){1, 2, 4}, v), *out[2];
    check(ms_max_pool(x, MS_INTS(2), MS_INTS(2), MS_INTS(0), MS_INTS(0), MS_INTS(1), out) == MS_OK,
          "max_pool");
    float *y = (float *)out[0]->data;
    int64_t *i = (int64_t *)out[1]->data;
    check(isnan(y[0]) && y[1] == 4 && y[2] == -INFINITY, "max_pool: NaN wins, -inf is a value");
    check(i[0] == 1 && i[1] == 3 && i[2] == 0 && i[3] == 2, "max_pool: positions of NaN and -inf");
    int64_t far = 9;
    MsTensor *bad = ms_max_pool_take(ms_reshape(x, MS_INTS(1, 1, 8)),
                                     ms_tensor_from(MS_INT64, 3, (int64_t[]){1, 1, 1}, &far));
    check(!bad && ms_error()->code == MS_ERROR_INDEX && strstr(ms_error()->message, "9"),
          "an index outside is named");
    ms_error_clear();
    ms_scope_end(mark, NULL, 0);
}

int main(void)
{
    test_matmul();
    test_linear();
    test_conv();
    test_pool();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
