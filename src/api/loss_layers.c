/* loss_layers.c - losses of layers that are no function of their own: sequences without alignment, overlap of
 * regions, similarity of images. */
#include "api/api.h"
#include "api/args.h"
#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static MsTensor *by(MsTensor *x, double k)
{
    return x ? ms_mul(x, ms_tensor_scalar(ms_tensor_dtype(x), k)) : NULL;
}
static MsTensor *plus(MsTensor *x, double k)
{
    return x ? ms_add(x, ms_tensor_scalar(ms_tensor_dtype(x), k)) : NULL;
}
static MsTensor *total(MsTensor *x)
{
    return ms_sum(x, MS_INTS_NONE, false);
}

/* ---- connectionist temporal classification (Graves et al. 2006) ---- */

#define IMPOSSIBLE (-1e30) /* log 0 that can be subtracted */

/* log(e^a + e^b + e^c) */
static MsTensor *log_sum(MsTensor *a, MsTensor *b, MsTensor *c)
{
    MsTensor *m = ms_stop_gradient(ms_maximum(ms_maximum(a, b), c));
    MsTensor *sum = ms_add(ms_add(ms_exp(ms_sub(a, m)), ms_exp(ms_sub(b, m))), ms_exp(ms_sub(c, m)));
    return ms_add(m, ms_log(sum));
}

/* alpha [N, S] moved k places to the right */
static MsTensor *shifted(MsTensor *alpha, int64_t k)
{
    if (!alpha) return NULL;
    int64_t n = ms_tensor_shape(alpha)[0], s = ms_tensor_shape(alpha)[1];
    MsTensor *head = ms_full(MS_INTS(n, k < s ? k : s), IMPOSSIBLE, ms_tensor_dtype(alpha));
    if (k >= s) return head;
    MsTensor *rest = ms__narrowed(alpha, 1, 0, s - k);
    return head && rest ? ms_concat(2, (MsTensor *[]){head, rest}, 1) : NULL;
}

typedef struct Paths {
    MsTensor *label; /* int64 [N, S]: blanks between the labels */
    MsTensor *may;   /* bool [N, S]: the blank before may be left out */
    int64_t n, s;
} Paths;

static MsStatus make_paths(Paths *p, MsTensor *targets, int64_t blank)
{
    int64_t n = ms_tensor_shape(targets)[0], m = ms_tensor_shape(targets)[1];
    *p = (Paths){.n = n, .s = 2 * m + 1};
    MsTensor *blanks = ms_full_int(MS_INTS(n, m, 1), blank, MS_INT64),
             *one = ms_full_int(MS_INTS(n, 1), blank, MS_INT64);
    MsTensor *wide = ms_reshape(ms_cast(targets, MS_INT64), MS_INTS(n, m, 1));
    if (!blanks || !wide || !one) return ms_error()->code;
    MsTensor *pairs = ms_reshape(ms_concat(2, (MsTensor *[]){blanks, wide}, 2), MS_INTS(n, 2 * m));
    p->label = pairs ? ms_concat(2, (MsTensor *[]){pairs, one}, 1) : NULL;
    if (!p->label) return ms_error()->code;
    MsTensor *before = ms_full_int(MS_INTS(n, p->s < 2 ? p->s : 2), blank, MS_INT64);
    if (p->s > 2 && before)
        before = ms_concat(2, (MsTensor *[]){before, ms__narrowed(p->label, 1, 0, p->s - 2)}, 1);
    MsTensor *letter = ms_ne(p->label, ms_tensor_scalar_int(MS_INT64, blank));
    p->may = ms_logical_and(letter, ms_ne(p->label, before));
    return p->may ? MS_OK : ms_error()->code;
}

/* -log of the probability of the targets: [N] */
static MsTensor *ctc(MsTensor *lp, const Paths *p, MsTensor *in_len, MsTensor *out_len)
{
    int64_t steps = ms_tensor_shape(lp)[0];
    MsDtype dt = ms_tensor_dtype(lp);
    MsTensor *never = ms_tensor_scalar(dt, IMPOSSIBLE), *place = ms_arange_int(0, 1, p->s, MS_INT64);
    MsTensor *index = ms_broadcast_to(p->label, MS_INTS(steps, p->n, p->s));
    MsTensor *all = ms_take_along(lp, index, 2), *alpha = NULL;
    for (int64_t t = 0; t < steps && all; t++) {
        MsTensor *now = ms__picked(all, 0, t);
        if (t == 0) {
            alpha = ms_where(ms_lt(place, ms_tensor_scalar_int(MS_INT64, 2)), now, never);
        } else {
            MsTensor *skip = ms_where(p->may, shifted(alpha, 2), never);
            MsTensor *next = ms_add(log_sum(alpha, shifted(alpha, 1), skip), now);
            MsTensor *on = ms_gt(in_len, ms_tensor_scalar_int(MS_INT64, t));
            alpha = ms_where(ms_reshape(on, MS_INTS(p->n, 1)), ms_maximum(next, never), alpha);
        }
        if (!alpha) return NULL;
    }
    MsTensor *end = ms_reshape(ms_mul(out_len, ms_tensor_scalar_int(MS_INT64, 2)), MS_INTS(p->n, 1));
    MsTensor *zero = ms_tensor_scalar_int(MS_INT64, 0);
    MsTensor *last = ms_take_along(alpha, end, 1);
    MsTensor *letter = ms_take_along(alpha, ms_maximum(plus(end, -1), zero), 1);
    letter = ms_where(ms_gt(end, zero), letter, never);
    MsTensor *m = ms_reshape(ms_neg(log_sum(last, letter, ms_add(by(last, 0), never))), MS_INTS(p->n));
    return m;
}

MS_API(nn_ctc_loss, "_nn.ctc_loss",
       "(log_probs: Tensor, targets: Tensor, input_lengths: any, target_lengths: any, blank: int = 0, "
       "reduction: str = "
       "'mean', zero_infinity: bool = False) -> Tensor")
{
    static const char *const op = "CTCLoss";
    MsTensor *lp = T(0), *targets = T(1);
    bool single = ms_tensor_ndim(lp) == 2;
    if (single) {
        lp = ms__unsqueezed(lp, 1);
        if (ms_tensor_ndim(targets) == 1) targets = ms__unsqueezed(targets, 0);
    }
    if (!lp || !targets) return ms_error()->code;
    MsTensor *in_len = ms__arg_data(op, ARG(2), MS_INT64), *out_len = ms__arg_data(op, ARG(3), MS_INT64);
    if (!in_len || !out_len) return ms_error()->code;
    int64_t classes = ms_tensor_shape(lp)[2 - (ms_tensor_ndim(lp) < 3)], n = ms_tensor_shape(lp)[1];
    if (ms_tensor_ndim(lp) != 3 || ms_tensor_ndim(targets) != 2 || ms_tensor_shape(targets)[0] != n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', 'log_probs' must be (T, N, C) and 'targets' (N, S), but got %s and %s.", op,
                       ms__shape_text(ms_tensor_ndim(lp), ms_tensor_shape(lp)),
                       ms__shape_text(ms_tensor_ndim(targets), ms_tensor_shape(targets)));
    if (ms_tensor_numel(in_len) != n || ms_tensor_numel(out_len) != n)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', there must be %lld lengths of inputs and of targets.", op,
                       (long long)n);
    if (I(4) < 0 || I(4) >= classes)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'blank' must be in [0, %lld), but got %lld.", op,
                       (long long)classes, (long long)I(4));
    in_len = ms_cast(ms_reshape(in_len, MS_INTS(n)), MS_INT64);
    out_len = ms_cast(ms_reshape(out_len, MS_INTS(n)), MS_INT64);
    Paths p;
    MS_TRY(make_paths(&p, targets, I(4)));
    MsTensor *loss = ctc(lp, &p, in_len, out_len);
    if (!loss) return ms_error()->code;
    MsDtype dt = ms_tensor_dtype(loss);
    MsTensor *lost = ms_gt(loss, ms_tensor_scalar(dt, -IMPOSSIBLE / 2));
    loss = ms_where(lost, ms_tensor_scalar(dt, I(6) ? 0 : INFINITY), loss);
    if (strcmp(ARG(5)->s, "mean") == 0) {
        MsTensor *len = ms_maximum(ms_cast(out_len, dt), ms_tensor_scalar(dt, 1));
        return R(ms_mean(ms_div(loss, len), MS_INTS_NONE, false));
    }
    if (strcmp(ARG(5)->s, "sum") == 0) return R(total(loss));
    if (strcmp(ARG(5)->s, "none") == 0) return R(single ? ms__dropped(loss, 0) : loss);
    return MS_FAIL(MS_ERROR_VALUE,
                   "For '%s', the 'reduction' must be in ['none', 'mean', 'sum'], but got %s.", op,
                   ARG(5)->s);
}

/* ---- overlap ---- */

/* 1 - 2 |xy| / (|x|^2 + |y|^2) */
MS_API(nn_dice_loss, "_nn.dice_loss", "(logits: Tensor, label: Tensor, smooth: float) -> Tensor")
{
    MsTensor *x = T(0), *y = ms_cast(T(1), ms_tensor_dtype(x));
    MsTensor *both = plus(by(total(ms_mul(x, y)), 2), F(2));
    MsTensor *each = plus(ms_add(total(ms_square(x)), total(ms_square(y))), F(2));
    return R(plus(ms_neg(ms_div(both, each)), 1));
}

/* Lin et al. 2017: -(1 - p)^gamma log p of the class of the label, over axis 1; labels are indices (N, 1, ...) or ones
 * and zeros like the logits. */
MS_API(nn_focal_loss, "_nn.focal_loss",
       "(logits: Tensor, labels: Tensor, weight: Tensor?, gamma: float) -> Tensor")
{
    MsTensor *x = T(0), *y = T(1), *weight = GIVEN(2) ? T(2) : NULL;
    int n = ms_tensor_ndim(x);
    if (n < 2 || n > 4 || ms_tensor_ndim(y) != n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'FocalLoss', the logits and labels must have 2 to 4 dimensions, as many as each "
                       "other, but got %d and %d.",
                       n, ms_tensor_ndim(y));
    int64_t batch = ms_tensor_shape(x)[0], classes = ms_tensor_shape(x)[1], rest = 1;
    for (int d = 2; d < n; d++) rest *= ms_tensor_shape(x)[d];
    int64_t columns = ms_tensor_shape(y)[1];
    if (columns != 1 && columns != classes)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'FocalLoss', axis 1 of the labels must have 1 or %lld elements, but got %lld.",
                       (long long)classes, (long long)columns);
    x = ms_log_softmax(ms_reshape(x, MS_INTS(batch, classes, rest)), 1);
    y = ms_reshape(y, MS_INTS(batch, columns, rest));
    MsDtype dt = ms_tensor_dtype(T(0));
    if (columns == 1) {
        y = ms_cast(y, MS_INT64);
        if (weight) weight = ms_gather(ms_cast(weight, dt), y, 0);
        x = ms_take_along(x, y, 1);
    } else {
        x = ms_mul(x, ms_cast(y, dt));
        if (weight) weight = ms_reshape(ms_cast(weight, dt), MS_INTS(1, classes, 1));
    }
    MsTensor *other = plus(ms_neg(ms_exp(x)), 1);
    MsTensor *loss = ms_neg(ms_mul(ms_pow(other, ms_tensor_scalar(dt, F(3))), x));
    if (weight) loss = ms_mul(loss, weight);
    return R(ms_mean(columns == 1 ? ms_sum(loss, MS_INTS(1), false) : ms_mean(loss, MS_INTS(1), false),
                     MS_INTS(1), false));
}

/* ---- images [N, C, H, W] ---- */

/* 10 log10(max^2 / mean squared error) of each image. */
MS_API(nn_psnr, "_nn.psnr", "(a: Tensor, b: Tensor, max_val: float) -> Tensor")
{
    MsTensor *a = ms_cast(T(0), MS_FLOAT32), *b = ms_cast(T(1), MS_FLOAT32);
    MsTensor *error = ms_mean(ms_square(ms_sub(a, b)), MS_INTS(1, 2, 3), false);
    return R(by(ms_log(ms_div(ms_tensor_scalar(MS_FLOAT32, F(2) * F(2)), error)), 10 / log(10)));
}

/* Mean of each window under a Gaussian of n x n. */
static MsTensor *smooth(MsTensor *x, MsTensor *window)
{
    if (!x || !window) return NULL;
    int64_t channels = ms_tensor_shape(x)[1];
    return ms_conv(x, window, NULL, MS_INTS(1, 1), MS_INTS(0, 0), MS_INTS(0, 0), MS_INTS(1, 1), channels);
}

static MsTensor *gaussian(int64_t n, double sigma, int64_t channels)
{
    MsTensor *t = ms_tensor_empty(MS_FLOAT32, 4, (int64_t[]){1, 1, n, n});
    if (!t) return NULL;
    double sum = 0, *g = ms__malloc((size_t)(n * n) * sizeof *g);
    if (!g) return NULL;
    for (int64_t k = 0; k < n * n; k++) {
        double y = (double)(k / n) - (double)(n - 1) / 2, x = (double)(k % n) - (double)(n - 1) / 2;
        sum += g[k] = exp(-(x * x + y * y) / (2 * sigma * sigma));
    }
    for (int64_t k = 0; k < n * n; k++) ((float *)ms_tensor_data(t))[k] = (float)(g[k] / sum);
    free(g);
    return ms_contiguous(ms_broadcast_to(t, MS_INTS(channels, 1, n, n)));
}

/* Wang et al. 2004: the means over space of luminance times contrast and of contrast alone, per image and channel. */
static MsStatus similarity(MsTensor *a, MsTensor *b, MsTensor *window, double c1, double c2, MsTensor **both,
                           MsTensor **contrast)
{
    MsTensor *ma = smooth(a, window), *mb = smooth(b, window), *mab = ms_mul(ma, mb);
    MsTensor *light = ms_add(ms_square(ma), ms_square(mb));
    MsTensor *l = ms_div(plus(by(mab, 2), c1), plus(light, c1));
    MsTensor *cross = ms_sub(smooth(ms_mul(a, b), window), mab);
    MsTensor *spread = ms_sub(smooth(ms_add(ms_square(a), ms_square(b)), window), light);
    MsTensor *cs = ms_div(plus(by(cross, 2), c2), plus(spread, c2));
    *both = ms_mean(ms_mul(l, cs), MS_INTS(2, 3), false);
    *contrast = ms_mean(cs, MS_INTS(2, 3), false);
    return *both && *contrast ? MS_OK : ms_error()->code;
}

/* One factor: SSIM. Several: the product of the contrasts of images halved again and again, and of the last SSIM, each
 * to the power of its factor (Wang et al. 2003). */
MS_API(nn_ssim, "_nn.ssim",
       "(a: Tensor, b: Tensor, max_val: float, filter_size: int, filter_sigma: float, k1: float, k2: float, "
       "factors: any) -> "
       "Tensor")
{
    MsTensor *a = ms_cast(T(0), MS_FLOAT32), *b = ms_cast(T(1), MS_FLOAT32), *product = NULL;
    if (!a || !b) return ms_error()->code;
    MsTensor *window = gaussian(I(3), F(4), ms_tensor_shape(a)[1]);
    double c1 = F(5) * F(2), c2 = F(6) * F(2);
    int n = ARG(7)->n;
    for (int k = 0; k < n; k++) {
        for (int d = 2; d < 4; d++)
            if (ms_tensor_shape(a)[d] < I(3))
                return MS_FAIL(MS_ERROR_VALUE,
                               "For 'SSIM', the filter of size %lld is larger than an image of shape %s.",
                               (long long)I(3), ms__shape_text(4, ms_tensor_shape(a)));
        MsTensor *both, *contrast;
        MS_TRY(similarity(a, b, window, c1 * c1, c2 * c2, &both, &contrast));
        MsTensor *part = k == n - 1 ? both : contrast;
        if (n > 1)
            part = ms_pow(ms_relu(part), ms_tensor_scalar(MS_FLOAT32, ms__arg_float(&ARG(7)->list[k])));
        product = k ? ms_mul(product, part) : part;
        if (k == n - 1) break;
        const int64_t *s = ms_tensor_shape(a);
        MsInts two = MS_INTS(2, 2), none = MS_INTS(0, 0), odd = MS_INTS(s[2] % 2, s[3] % 2);
        a = ms_avg_pool(a, two, two, none, odd, false, 0);
        b = ms_avg_pool(b, two, two, none, odd, false, 0);
        if (!a || !b) return ms_error()->code;
    }
    return R(ms_mean(product, MS_INTS(1), false));
}

/* Mean and population variance. */
MS_API(nn_moments, "_nn.moments", "(x: Tensor, axis: ints = None, keepdims: bool = False) -> any")
{
    int64_t buf[MS_MAX_DIM];
    MsInts axis = GIVEN(1) ? INTS(1, buf) : MS_INTS_NONE;
    if (axis.n == -2) return ms_error()->code;
    MsTensor *y[2] = {ms_mean(T(0), axis, I(2)), ms_var(T(0), axis, I(2), 0)};
    if (!y[0] || !y[1]) return ms_error()->code;
    return ms__api_return_list(c, 2, y);
}
