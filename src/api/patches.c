/* patches.c - windows as values: patches of images and their sum, power-average and fractional pooling, unpooling.
 *
 * The index of a window is computed from sizes alone, so everything is gathers, sums and reductions of primitives. */
#include "api/api.h"
#include "api/args.h"
#include "api/window.h"
#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- patches ---- */

/* Windows of kernel, stride and dilation that fit into in[2] with the padding; out[2] counts them. */
static MsStatus count_windows(MsWindow *w, const int64_t *in, const char *op, int64_t *out)
{
    for (int d = 0; d < 2; d++) {
        int64_t span = (w->kernel[d] - 1) * w->dilation[d] + 1, free = in[d] + w->low[d] + w->high[d] - span;
        if (free < 0)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the window is larger than the input of spatial shape (%lld, %lld).", op,
                           (long long)in[0], (long long)in[1]);
        out[d] = free / w->stride[d] + 1;
    }
    return MS_OK;
}

/* x [N, C, H, W] -> [N, C kh kw, oh, ow]: the channels of a patch lie together, like PyTorch's unfold. */
static MsTensor *patches(MsTensor *x, MsWindow *w, const int64_t *out)
{
    int64_t low[4] = {0, 0, w->low[0], w->low[1]}, high[4] = {0, 0, w->high[0], w->high[1]};
    if (low[2] || low[3] || high[2] || high[3]) x = ms_pad(x, (MsInts){4, low}, (MsInts){4, high}, 0);
    if (!x) return NULL;
    int64_t kk = w->kernel[0] * w->kernel[1], n = ms_tensor_shape(x)[0], channels = ms_tensor_shape(x)[1];
    MsTensor **piece = ms__malloc((size_t)kk * sizeof *piece);
    if (!piece) return NULL;
    MsTensor *y = NULL;
    for (int64_t k = 0; k < kk; k++) {
        int64_t i = k / w->kernel[1], j = k % w->kernel[1];
        piece[k] = ms_slice(x, MS_INTS(0, 0, i * w->dilation[0], j * w->dilation[1]),
                            MS_INTS(n, channels, out[0], out[1]), MS_INTS(1, 1, w->stride[0], w->stride[1]));
        if (!piece[k]) goto done;
    }
    y = ms__stacked((int)kk, piece, 2);
    if (y) y = ms_reshape(y, MS_INTS(n, channels * kk, out[0], out[1]));
done:
    free(piece);
    return y;
}

static const int64_t ones[3] = {1, 1, 1}, zeros[3] = {0, 0, 0};

MS_API(extract_patches, "_nn.extract_patches",
       "(x: Tensor, kernel: ints, stride: ints, rate: ints, pad_mode: str) -> Tensor")
{
    static const char *const op = "Unfold";
    MsWindow w = {.n = 2};
    int64_t out[2];
    MsTensor *x = T(0);
    if (ms_tensor_ndim(x) != 4)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have 4 dimensions, but got %d.", op,
                       ms_tensor_ndim(x));
    MS_TRY(ms__per_axis(ARG(1), 2, 1, op, "ksizes", ones, w.kernel));
    MS_TRY(ms__per_axis(ARG(2), 2, 1, op, "strides", ones, w.stride));
    MS_TRY(ms__per_axis(ARG(3), 2, 1, op, "rates", ones, w.dilation));
    if (strcasecmp(ARG(4)->s, "same") == 0) ms__window_same(&w, ms_tensor_shape(x) + 2);
    MS_TRY(count_windows(&w, ms_tensor_shape(x) + 2, op, out));
    return R(patches(x, &w, out));
}

static MsStatus patch_window(MsApiCall *c, int at, const char *op, MsWindow *w)
{
    *w = (MsWindow){.n = 2};
    MS_TRY(ms__per_axis(ARG(at), 2, 1, op, "kernel_size", ones, w->kernel));
    MS_TRY(ms__per_axis(ARG(at + 1), 2, 1, op, "dilation", ones, w->dilation));
    MS_TRY(ms__per_axis(ARG(at + 2), 2, 0, op, "padding", zeros, w->low));
    memcpy(w->high, w->low, sizeof w->high);
    return ms__per_axis(ARG(at + 3), 2, 1, op, "stride", ones, w->stride);
}

/* [N, C, H, W] -> [N, C kh kw, L] */
MS_API(
    nn_unfold, "_nn.unfold",
    "(input: Tensor, kernel_size: ints, dilation: ints = 1, padding: ints = 0, stride: ints = 1) -> Tensor")
{
    MsWindow w;
    int64_t out[2];
    bool added;
    MS_TRY(patch_window(c, 1, "unfold", &w));
    MsTensor *x = ms__with_batch(T(0), 2, "unfold", &added);
    if (!x) return ms_error()->code;
    MS_TRY(count_windows(&w, ms_tensor_shape(x) + 2, "unfold", out));
    MsTensor *y = patches(x, &w, out);
    if (y) y = ms_reshape(y, MS_INTS(ms_tensor_shape(y)[0], ms_tensor_shape(y)[1], out[0] * out[1]));
    return R(ms__without_batch(y, added));
}

/* The adjoint: every value of a patch is added to its place; what lies in the padding goes to a spare place. */
MS_API(nn_fold, "_nn.fold",
       "(input: Tensor, output_size: ints, kernel_size: ints, dilation: ints = 1, padding: ints = 0, stride: "
       "ints = 1) -> "
       "Tensor")
{
    static const char *const op = "fold";
    MsWindow w;
    int64_t size[3], out[2];
    MS_TRY(ms__per_axis(ARG(1), 2, 1, op, "output_size", ones, size));
    MS_TRY(patch_window(c, 2, op, &w));
    MS_TRY(count_windows(&w, size, op, out));
    MsTensor *x = T(0);
    bool single = ms_tensor_ndim(x) == 2;
    if (single) x = ms__unsqueezed(x, 0);
    if (!x) return ms_error()->code;
    int64_t kk = w.kernel[0] * w.kernel[1], l = out[0] * out[1], places;
    const int64_t *s = ms_tensor_shape(x);
    if (__builtin_mul_overflow(kk, l, &places) || ms_tensor_ndim(x) != 3 || s[1] % kk || s[2] != l)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have shape (N, C * %lld, %lld), but got %s.",
                       op, (long long)kk, (long long)l, ms__shape_text(ms_tensor_ndim(x), s));
    MsTensor *index = ms_tensor_empty(MS_INT64, 1, &places);
    if (!index) return ms_error()->code;
    int64_t *at = ms_tensor_data(index), n = s[0], channels = s[1] / kk, spare = size[0] * size[1];
    for (int64_t k = 0; k < kk; k++)
        for (int64_t p = 0; p < l; p++) {
            int64_t y = p / out[1] * w.stride[0] + k / w.kernel[1] * w.dilation[0] - w.low[0];
            int64_t z = p % out[1] * w.stride[1] + k % w.kernel[1] * w.dilation[1] - w.low[1];
            at[k * l + p] = y < 0 || z < 0 || y >= size[0] || z >= size[1] ? spare : y * size[1] + z;
        }
    MsTensor *sum = ms_full(MS_INTS(n, channels, spare + 1), 0, ms_tensor_dtype(x));
    sum = ms_scatter_add(sum, index, ms_reshape(x, MS_INTS(n, channels, kk * l)), 2);
    sum = sum ? ms_reshape(ms__narrowed(sum, 2, 0, spare), MS_INTS(n, channels, size[0], size[1])) : NULL;
    return R(sum && single ? ms__dropped(sum, 0) : sum);
}

/* ---- pooling ---- */

/* The p-norm of each window: (sum x^p)^(1/p). A window that reaches beyond the input counts as a full one. */
MS_API(nn_lp_pool, "_nn.lp_pool",
       "(x: Tensor, n: int, norm_type: number, kernel: ints, stride: ints = None, ceil_mode: bool = False) "
       "-> Tensor")
{
    static const char *const op = "LPPool";
    MsWindow w = {.n = (int)I(1), .dilation = {1, 1, 1}};
    bool added;
    double p = F(2), elements = 1;
    MsTensor *x = ms__with_batch(T(0), w.n, op, &added);
    if (!x) return ms_error()->code;
    MS_TRY(ms__per_axis(ARG(3), w.n, 1, op, "kernel_size", ones, w.kernel));
    MS_TRY(ms__per_axis(ARG(4), w.n, 1, op, "stride", w.kernel, w.stride));
    if (!(p != 0)) return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'norm_type' must not be 0.", op);
    if (I(5)) ms__window_ceil(&w, ms_tensor_shape(x) + 2);
    for (int d = 0; d < w.n; d++) elements *= (double)w.kernel[d];
    MsDtype dt = ms_tensor_dtype(x);
    MsTensor *power = ms_pow(x, ms_tensor_scalar(dt, p));
    MsTensor *mean = ms_avg_pool(power, MS_SPAN(&w, kernel), MS_SPAN(&w, stride), MS_SPAN(&w, low),
                                 MS_SPAN(&w, high), false, 0);
    MsTensor *sum = ms_mul(mean, ms_tensor_scalar(dt, elements));
    return R(ms__without_batch(ms_pow(sum, ms_tensor_scalar(dt, 1 / p)), added));
}

/* Every value at its flat place in a plane of zeros; the default size undoes a pooling without remainder. */
MS_API(nn_max_unpool, "_nn.max_unpool",
       "(x: Tensor, indices: Tensor, n: int, kernel: ints, stride: ints = None, padding: ints = 0, "
       "output_size: any = None) "
       "-> Tensor")
{
    static const char *const op = "MaxUnpool";
    MsWindow w = {.n = (int)I(2)};
    bool added, also;
    MsTensor *x = ms__with_batch(T(0), w.n, op, &added), *index = ms__with_batch(T(1), w.n, op, &also);
    if (!x || !index) return ms_error()->code;
    MS_TRY(ms__per_axis(ARG(3), w.n, 1, op, "kernel_size", ones, w.kernel));
    MS_TRY(ms__per_axis(ARG(4), w.n, 1, op, "stride", w.kernel, w.stride));
    MS_TRY(ms__per_axis(ARG(5), w.n, 0, op, "padding", zeros, w.low));
    int nd = ms_tensor_ndim(x);
    if (nd != ms_tensor_ndim(index) ||
        memcmp(ms_tensor_shape(x), ms_tensor_shape(index), (size_t)nd * sizeof(int64_t)))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the shapes of 'x' and 'indices' must be equal, but got %s and %s.", op,
                       ms__shape_text(nd, ms_tensor_shape(x)),
                       ms__shape_text(ms_tensor_ndim(index), ms_tensor_shape(index)));
    int64_t shape[MS_MAX_DIM], buf[MS_MAX_DIM], plane = 1, in = 1;
    memcpy(shape, ms_tensor_shape(x), (size_t)nd * sizeof *shape);
    MsInts given = GIVEN(6) ? ms__arg_var(op, ARG(6), buf) : MS_INTS_NONE;
    if (given.n == -2) return ms_error()->code;
    if (given.n > 0 && given.n < w.n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'output_size' must have at least %d elements, but got %d.", op, w.n,
                       given.n);
    for (int d = 0; d < w.n; d++) {
        in *= shape[2 + d];
        int64_t plain = (shape[2 + d] - 1) * w.stride[d] - 2 * w.low[d] + w.kernel[d];
        shape[2 + d] = given.n > 0 ? given.v[given.n - w.n + d] : plain;
        if (given.n > 0 && llabs(shape[2 + d] - plain) >= w.stride[d])
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the 'output_size' must be within the stride of %lld, but got %lld.", op,
                           (long long)plain, (long long)shape[2 + d]);
        plane *= shape[2 + d];
    }
    MsTensor *base = ms_full(MS_INTS(shape[0], shape[1], plane), 0, ms_tensor_dtype(x));
    MsInts flat = MS_INTS(shape[0], shape[1], in);
    MsTensor *y = ms_put_along(base, ms_reshape(index, flat), ms_reshape(x, flat), 2, "set");
    return R(ms__without_batch(ms_reshape(y, (MsInts){nd, shape}), added));
}

/* Places of the windows of an axis: [planes, out, kernel], from a draw u in [0, 1) per plane (Graham 2015). */
static MsTensor *fractional_index(MsTensor *u, int64_t in, int64_t out, int64_t kernel)
{
    int64_t planes = ms_tensor_shape(u)[0];
    double alpha = out > 1 ? (double)(in - kernel) / (double)(out - 1) : 0;
    MsTensor *wide = ms_reshape(ms_cast(u, MS_FLOAT32), MS_INTS(planes, 1)),
             *a = ms_tensor_scalar(MS_FLOAT32, alpha);
    MsTensor *i = ms_arange_int(0, 1, out, MS_INT64);
    MsTensor *begin =
        ms_sub(ms_floor(ms_mul(ms_add(ms_cast(i, MS_FLOAT32), wide), a)), ms_floor(ms_mul(wide, a)));
    MsTensor *last = ms_eq(i, ms_tensor_scalar_int(MS_INT64, out - 1));
    begin = ms_where(last, ms_tensor_scalar_int(MS_INT64, in - kernel), ms_cast(begin, MS_INT64));
    begin = ms_reshape(begin, MS_INTS(planes, out, 1));
    return ms_add(begin, ms_arange_int(0, 1, kernel, MS_INT64));
}

/* samples [N, C, n]: a draw per plane and axis; of two axes the last comes first, as in PyTorch. Gives the maxima and their flat places. */
MS_API(nn_fractional_max_pool, "_nn.fractional_max_pool",
       "(x: Tensor, n: int, kernel: ints, output_size: ints, samples: Tensor) -> any")
{
    static const char *const op = "FractionalMaxPool";
    int n = (int)I(1);
    int64_t kernel[3], out[3], windows = 1, each = 1, plane = 1;
    bool added;
    MsTensor *x = ms__with_batch(T(0), n, op, &added);
    if (!x) return ms_error()->code;
    MS_TRY(ms__per_axis(ARG(2), n, 1, op, "kernel_size", ones, kernel));
    MS_TRY(ms__per_axis(ARG(3), n, 1, op, "output_size", ones, out));
    const int64_t *s = ms_tensor_shape(x);
    int64_t planes = s[0] * s[1];
    if (ms_tensor_numel(T(4)) != planes * n)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '_random_samples' must have shape (%lld, %lld, %d).",
                       op, (long long)s[0], (long long)s[1], n);
    MsTensor *u = ms_reshape(T(4), MS_INTS(planes, n)), *at = NULL;
    for (int d = 0; d < n; d++) {
        if (out[d] + kernel[d] - 1 > s[2 + d])
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', %lld windows of %lld do not fit into an axis of %lld.",
                           op, (long long)out[d], (long long)kernel[d], (long long)s[2 + d]);
        MsTensor *axis =
            u ? fractional_index(ms__picked(u, 1, n == 2 ? 1 - d : d), s[2 + d], out[d], kernel[d]) : NULL;
        /* at [planes, windows so far, elements so far]: places in the axes so far */
        axis = ms_reshape(axis, MS_INTS(planes, 1, out[d], 1, kernel[d]));
        if (at) {
            at = ms_mul(ms_reshape(at, MS_INTS(planes, windows, 1, each, 1)),
                        ms_tensor_scalar_int(MS_INT64, s[2 + d]));
            axis = ms_add(at, axis);
        }
        windows *= out[d];
        each *= kernel[d];
        plane *= s[2 + d];
        at = ms_reshape(axis, MS_INTS(planes, windows, each));
    }
    MsTensor *flat = ms_reshape(x, MS_INTS(planes, plane));
    MsTensor *value = ms_take_along(flat, ms_reshape(at, MS_INTS(planes, windows * each)), 1);
    value = ms_reshape(value, MS_INTS(planes, windows, each));
    MsTensor *best = ms_argmax(value, 2, true), *y[2];
    int64_t shape[MS_MAX_DIM] = {s[0], s[1]};
    memcpy(shape + 2, out, (size_t)n * sizeof *out);
    MsInts result = {n + 2, shape};
    y[0] = ms__without_batch(ms_reshape(ms_take_along(value, best, 2), result), added);
    y[1] = ms__without_batch(ms_reshape(ms_take_along(at, best, 2), result), added);
    if (!y[0] || !y[1]) return ms_error()->code;
    return ms__api_return_list(c, 2, y);
}
