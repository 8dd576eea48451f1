/* loss_layers.c - losses of layers that are no function of their own: overlap of regions, similarity
 * of images. */
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

/* ---- overlap ---- */

/* 1 - 2 |xy| / (|x|^2 + |y|^2 + smooth) */
MS_API(nn_dice_loss, "_nn.dice_loss", "(logits: Tensor, label: Tensor, smooth: float) -> Tensor")
{
    MsTensor *x = T(0), *y = ms_cast(T(1), ms_tensor_dtype(x));
    MsTensor *both = by(total(ms_mul(x, y)), 2);
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
