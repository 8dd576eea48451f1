/* prim_resize.c - primitive classes that resample images [N, H, W, C] (rows under `_p`): by areas, by a scale and
 * a translation with a choice of kernels, and glimpses cut out around points.
 *
 * Resampling is separable: out = Wy f Wx^T with a matrix of weights [out, in] per axis, so that gradients and batching
 * need no rule; the matrices of ScaleAndTranslate are made of tensors, hence it differentiates by scale and translation
 * as well. Refused: loops over spans of each pixel, which would be an operator with rules of its own. */
#include "api/args.h"

#include "op/random.h"
#include "op/rules.h"

#include <math.h>
#include <string.h>

static MsStatus check_images(const char *op, const MsTensor *x, const MsInts *size)
{
    if (ms_tensor_ndim(x) != 4 || size->n != 2 || size->v[0] < 1 || size->v[1] < 1)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the images must have 4 dimensions and the 'size' two positive numbers, but got "
            "shape %s and %d numbers.",
            op, ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)), size->n);
    for (int d = 1; d < 4; d++)
        if (shape(x)[d] < 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the images must not be empty, but got shape %s.", op,
                           ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)));
    return MS_OK;
}

/* Images through weights [size[0], H] and [size[1], W], as float32. */
static MsTensor *seen(MsTensor *x, MsTensor *wy, MsTensor *wx)
{
    x = ms__cast_to(x, MS_FLOAT32);
    if (!x || !wy || !wx) return NULL;
    x = ms_matmul(ms_matmul(wy, ms_transpose(x, MS_INTS(0, 3, 1, 2)), false, false), wx, false, true);
    return ms_transpose(x, MS_INTS(0, 2, 3, 1));
}

/* ---- areas ---- */

/* Each output is the mean of the input over its share of the axis; beyond the end the last pixel goes on. */
static MsTensor *area_weights(int64_t in, int64_t out, bool align_corners)
{
    double share = align_corners && out > 1 ? (double)(in - 1) / (double)(out - 1) : (double)in / (double)out;
    MsTensor *w = ms_tensor_empty(MS_FLOAT32, 2, (int64_t[]){out, in});
    if (!w) return NULL;
    float *v = ms_tensor_data(w);
    for (int64_t o = 0; o < out; o++) {
        double low = (double)o * share, high = low + share;
        for (int64_t i = 0; i < in; i++) {
            double from = fmax(low, (double)i), to = i == in - 1 ? high : fmin(high, (double)i + 1);
            /* one pixel alone: a share of 0 */
            v[o * in + i] = share > 0 ? (float)(fmax(to - from, 0) / share) : i == 0;
        }
    }
    return w;
}

MS_API(p_resize_area, "_p.resize_area", "(images: Tensor, size: ints, align_corners: bool) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsInts size = INTS(1, buf);
    MS_TRY(check_images("ResizeArea", T(0), &size));
    return R(seen(T(0), area_weights(shape(T(0))[1], size.v[0], I(2)),
                  area_weights(shape(T(0))[2], size.v[1], I(2))));
}

/* ---- scale and translation ---- */

typedef struct Kernel {
    const char *name;
    double radius;
    MsTensor *(*value)(MsTensor *x,
                       double radius); /* of distances x >= 0; outside of the radius it is cut off */
} Kernel;

static MsTensor *lanczos(MsTensor *x, double radius)
{
    return ms_mul(ms__sinc(x), ms__sinc(ms__scale(x, 1 / radius)));
}
static MsTensor *gaussian(MsTensor *x, double radius)
{
    return ms_exp(ms__scale(ms_square(x), -4.5 / (radius * radius))); /* the radius is three deviations */
}
static MsTensor *box(MsTensor *x, double radius)
{
    MsTensor *on_edge = ms_eq(x, ms__constant(x, radius));
    return x ? ms_where(on_edge, ms__constant(x, 0.5), ms__constant(x, 1)) : NULL;
}
static MsTensor *triangle(MsTensor *x, double radius)
{
    return ms__shift(ms__scale(x, -1 / radius), 1);
}
/* ((a x + b) x + c) x + d */
static MsTensor *cubic(MsTensor *x, double a, double b, double c, double d)
{
    MsTensor *y = ms__shift(ms_mul(ms__shift(ms__scale(x, a), b), x), c);
    return ms__shift(ms_mul(y, x), d);
}
static MsTensor *inner_outer(MsTensor *x, MsTensor *inner, MsTensor *outer)
{
    return x ? ms_where(ms_lt(x, ms__constant(x, 1)), inner, outer) : NULL;
}
static MsTensor *keys_cubic(MsTensor *x, double radius)
{
    (void)radius;
    return inner_outer(x, cubic(x, 1.5, -2.5, 0, 1), cubic(x, -0.5, 2.5, -4, 2));
}
static MsTensor *mitchell_cubic(MsTensor *x, double radius)
{
    (void)radius;
    return inner_outer(x, cubic(x, 7. / 6, -2, 0, 8. / 9), cubic(x, -7. / 18, 2, -10. / 3, 16. / 9));
}

static const Kernel kernels[] = {{"lanczos1", 1, lanczos},
                                 {"lanczos3", 3, lanczos},
                                 {"lanczos5", 5, lanczos},
                                 {"gaussian", 1.5, gaussian},
                                 {"box", 0.5, box},
                                 {"triangle", 1, triangle},
                                 {"keyscubic", 2, keys_cubic},
                                 {"mitchellcubic", 2, mitchell_cubic}};

/* Weights [out, in] of pixel centres under the kernel around the point that each output centre comes from; rows
 * add up to 1, and those of points outside of the image are 0. `scale` and `shift` are scalars. */
static MsTensor *kernel_weights(const Kernel *k, bool antialias, int64_t in, int64_t out, MsTensor *scale,
                                MsTensor *shift)
{
    MsTensor *o = ms__cast_to(ms_arange_int(0, 1, out, MS_INT64), MS_FLOAT32);
    MsTensor *i = ms__cast_to(ms_arange_int(0, 1, in, MS_INT64), MS_FLOAT32);
    MsTensor *step = ms_reciprocal(scale);
    if (!o || !i || !step) return NULL;
    MsTensor *wide = antialias ? ms_maximum(step, ms__constant(step, 1)) : ms__constant(step, 1);
    MsTensor *at = ms_mul(ms_sub(ms__shift(ms_reshape(o, MS_INTS(out, 1)), 0.5), shift), step);
    MsTensor *d = ms_div(ms_abs(ms_sub(ms__shift(ms_reshape(i, MS_INTS(1, in)), 0.5), at)), wide);
    if (!d) return NULL;
    MsTensor *w = ms_where(ms_le(d, ms__constant(d, k->radius)), k->value(d, k->radius), ms__constant(d, 0));
    MsTensor *total = ms_sum(w, MS_INTS(1), true);
    if (!total) return NULL;
    MsTensor *inside =
        ms_logical_and(ms_ge(at, ms__constant(at, 0)), ms_le(at, ms__constant(at, (double)in)));
    inside = ms_logical_and(inside, ms_ne(total, ms__constant(total, 0)));
    return ms_where(inside, ms_div(w, ms_where(inside, total, ms__constant(total, 1))), ms__constant(w, 0));
}

MS_API(p_scale_and_translate, "_p.scale_and_translate",
       "(images: Tensor, size: ints, scale: Tensor, translation: Tensor, kernel_type: str, antialias: bool) "
       "-> Tensor")
{
    static const char *const op = "ScaleAndTranslate";
    int64_t buf[MS_MAX_DIM];
    MsInts size = INTS(1, buf);
    MS_TRY(check_images(op, T(0), &size));
    for (int k = 2; k < 4; k++)
        if (ms_tensor_ndim(T(k)) != 1 || shape(T(k))[0] != 2)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '%s' must have shape [2], but got %s.", op,
                           k == 2 ? "scale" : "translation", ms__shape_text(nd(T(k)), shape(T(k))));
    const Kernel *kernel = NULL;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (strcmp(kernels[k].name, ARG(4)->s) == 0) kernel = &kernels[k];
    if (!kernel)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the 'kernel_type' must be in ['lanczos1', 'lanczos3', 'lanczos5', 'gaussian', 'box', "
            "'triangle', 'keyscubic', 'mitchellcubic'], but got '%s'.",
            op, ARG(4)->s);
    MsTensor *scale = ms__cast_to(T(2), MS_FLOAT32), *shift = ms__cast_to(T(3), MS_FLOAT32), *w[2];
    for (int d = 0; d < 2; d++)
        w[d] = kernel_weights(kernel, I(5), shape(T(0))[1 + d], size.v[d], ms__picked(scale, 0, d),
                              ms__picked(shift, 0, d));
    return R(seen(T(0), w[0], w[1]));
}

/* ---- glimpses ---- */

/* The first row or column [N, 1] of each window. */
static MsTensor *window_start(MsTensor *offsets, int axis, int64_t in, int64_t out, bool centred,
                              bool normalised)
{
    MsTensor *p = ms__picked(offsets, 1, axis);
    if (normalised) p = ms__scale(p, (double)in);
    if (centred) p = ms__shift(ms__scale(p, 0.5), (double)in / 2);
    p = ms__cast_to(ms_trunc(ms__shift(p, -(double)out / 2)), MS_INT64);
    return p ? ms_reshape(p, MS_INTS(shape(p)[0], 1)) : NULL;
}

MS_API(p_extract_glimpse, "_p.extract_glimpse",
       "(x: Tensor, size: ints, offsets: Tensor, centered: bool, normalized: bool, noise: str) -> Tensor")
{
    static const char *const op = "ExtractGlimpse";
    MsTensor *x = T(0), *offsets = T(2), *inside[2], *at[2];
    int64_t buf[MS_MAX_DIM];
    MsInts size = INTS(1, buf);
    MS_TRY(check_images(op, x, &size));
    int64_t n = shape(x)[0], h = shape(x)[1], w = shape(x)[2], channels = shape(x)[3];
    if (nd(offsets) != 2 || shape(offsets)[0] != n || shape(offsets)[1] != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'offsets' must have shape [%lld, 2], but got %s.", op,
                       (long long)n, ms__shape_text(nd(offsets), shape(offsets)));
    offsets = ms__cast_to(offsets, MS_FLOAT32);
    for (int d = 0; d < 2; d++) {
        int64_t in = shape(x)[1 + d];
        MsTensor *i = ms_arange_int(0, 1, size.v[d], MS_INT64);
        MsTensor *p = ms_add(window_start(offsets, d, in, size.v[d], I(3), I(4)), i);
        if (!p) return ms_error()->code;
        inside[d] = ms_logical_and(ms_ge(p, ms__constant(p, 0)), ms_lt(p, ms__constant(p, (double)in)));
        at[d] = ms_minimum(ms_maximum(p, ms__constant(p, 0)), ms__constant(p, (double)in - 1));
        inside[d] = d ? ms__unsqueezed(inside[d], 1) : ms__unsqueezed(inside[d], 2);
        at[d] = d ? ms__unsqueezed(at[d], 1) : ms__unsqueezed(at[d], 2);
    }
    MsTensor *image = ms_reshape(ms_arange_int(0, 1, n, MS_INT64), MS_INTS(n, 1, 1));
    MsTensor *pixel = ms_add(ms__scale(at[0], (double)w), at[1]);
    if (!image || !pixel) return ms_error()->code;
    pixel = ms_add(pixel, ms__scale(image, (double)(h * w)));
    MsTensor *y = ms_gather(ms_reshape(x, MS_INTS(n * h * w, channels)), pixel, 0);
    MsInts full = {4, (int64_t[]){n, size.v[0], size.v[1], channels}};
    MsTensor *noise = NULL;
    if (strcmp(ARG(5)->s, "zero") == 0)
        noise = ms__constant(y, 0);
    else if (strcmp(ARG(5)->s, "uniform") == 0) /* in [-1, 1) */
        noise = ms__shift(ms__scale(ms_rng_uniform(ms__arg_state(NULL, NULL), full, MS_FLOAT32), 2), -1);
    else if (strcmp(ARG(5)->s, "gaussian") == 0)
        noise = ms_rng_normal(ms__arg_state(NULL, NULL), full, MS_FLOAT32);
    else
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'noise' must be in ['uniform', 'gaussian', 'zero'], but got '%s'.", op,
                       ARG(5)->s);
    MsTensor *kept = ms__unsqueezed(ms_logical_and(inside[0], inside[1]), 3);
    return R(y && noise ? ms_where(kept, y, ms__cast_to(noise, dtype_of(y))) : NULL);
}
