/* nn.c - what the layers of mindspore.nn compute, as rows under the private prefix `_nn`. A layer holds its
 * parameters and checked arguments; padding modes, statistics and masks are worked out here, so that any skin
 * has the same layers.
 *
 * Padding modes: "valid" none; "same" so that out = ceil(in / stride), the odd element at the high side;
 * "pad" explicit, one number, one per spatial axis, or low and high per axis. */
#include "api/api.h"

#include <string.h>

#define MAX_SPATIAL 3

typedef struct Window {
    int n; /* spatial axes */
    int64_t kernel[MS_MAX_DIM], stride[MS_MAX_DIM], dilation[MS_MAX_DIM], low[MS_MAX_DIM], high[MS_MAX_DIM];
} Window;

#define SPAN(w, field) ((MsInts){(w)->n, (w)->field})

/* One number for all axes or one per axis; `what` is the argument's name. */
static MsStatus per_axis(const MsArg *a, int n, int64_t least, const char *who, const char *what,
                         int64_t *out)
{
    int64_t buf[MS_MAX_DIM];
    MsInts v = ms__arg_ints(a, buf);
    if (v.n == -2) return ms_error()->code;
    if (v.n != 1 && v.n != n)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '%s' must have 1 or %d elements, but got %d.", who,
                       what, n, v.n);
    for (int d = 0; d < n; d++) {
        out[d] = v.v[v.n == 1 ? 0 : d];
        if (out[d] < least)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '%s' must be at least %lld, but got %lld.", who,
                           what, (long long)least, (long long)out[d]);
    }
    return MS_OK;
}

static MsStatus explicit_padding(const MsArg *a, const char *who, Window *w)
{
    int64_t buf[MS_MAX_DIM];
    MsInts v = ms__arg_ints(a, buf);
    if (v.n == -2) return ms_error()->code;
    if (v.n != 1 && v.n != w->n && v.n != 2 * w->n)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'padding' must have 1, %d or %d elements, but got %d.",
                       who, w->n, 2 * w->n, v.n);
    for (int d = 0; d < w->n; d++) {
        w->low[d] = v.v[v.n == 1 ? 0 : v.n == w->n ? d : 2 * d];
        w->high[d] = v.v[v.n == 1 ? 0 : v.n == w->n ? d : 2 * d + 1];
        if (w->low[d] < 0 || w->high[d] < 0)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'padding' must not be negative, but got %lld.", who,
                           (long long)(w->low[d] < 0 ? w->low[d] : w->high[d]));
    }
    return MS_OK;
}

/* Fills low and high for an input whose spatial sizes are in[]. */
static MsStatus set_padding(Window *w, const char *mode, const MsArg *padding, const int64_t *in,
                            const char *who)
{
    memset(w->low, 0, sizeof w->low);
    memset(w->high, 0, sizeof w->high);
    if (strcasecmp(mode, "valid") == 0) return MS_OK;
    if (strcasecmp(mode, "pad") == 0) return explicit_padding(padding, who, w);
    if (strcasecmp(mode, "same") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'pad_mode' must be 'same', 'valid' or 'pad', but got '%s'.", who, mode);
    for (int d = 0; d < w->n; d++) {
        int64_t out = (in[d] + w->stride[d] - 1) / w->stride[d];
        int64_t total = (out - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - in[d];
        if (total < 0) total = 0;
        w->low[d] = total / 2;
        w->high[d] = total - total / 2;
    }
    return MS_OK;
}

static MsStatus check_rank(MsTensor *x, int n, const char *who)
{
    if (ms_tensor_ndim(x) == n + 2) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have %d dimensions, but got shape %s.", who,
                   n + 2, ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)));
}

/* ---- convolution ---- */

/* Arguments 3..7: stride pad_mode padding dilation group. */
static MsStatus conv_window(MsApiCall *c, MsTensor *x, MsTensor *w, const char *who, Window *win)
{
    win->n = ms_tensor_ndim(w) - 2;
    if (win->n < 1 || win->n > MAX_SPATIAL)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the weight must have 3 to 5 dimensions, but got shape %s.",
                       who, ms__shape_text(ms_tensor_ndim(w), ms_tensor_shape(w)));
    MS_TRY(check_rank(x, win->n, who));
    for (int d = 0; d < win->n; d++) win->kernel[d] = ms_tensor_shape(w)[2 + d];
    MS_TRY(per_axis(ARG(3), win->n, 1, who, "stride", win->stride));
    return per_axis(ARG(6), win->n, 1, who, "dilation", win->dilation);
}

MS_API(nn_conv, "_nn.conv",
       "(x: Tensor, weight: Tensor, bias: Tensor?, stride: ints, pad_mode: str, padding: ints, dilation: "
       "ints, group: int)"
       " -> Tensor")
{
    Window w;
    MS_TRY(conv_window(c, T(0), T(1), "Conv", &w));
    MS_TRY(set_padding(&w, ARG(4)->s, ARG(5), ms_tensor_shape(T(0)) + 2, "Conv"));
    return R(
        ms_conv(T(0), T(1), T(2), SPAN(&w, stride), SPAN(&w, low), SPAN(&w, high), SPAN(&w, dilation), I(7)));
}

/* The gradient of a convolution as an operator of its own: an input element spreads the kernel over the
 * output. */
MS_API(nn_conv_transpose, "_nn.conv_transpose",
       "(x: Tensor, weight: Tensor, bias: Tensor?, stride: ints, pad_mode: str, padding: ints, dilation: "
       "ints, group: int, "
       "output_padding: ints) -> Tensor")
{
    static const char *const who = "ConvTranspose";
    Window w;
    MsTensor *x = T(0);
    int64_t shape[MS_MAX_DIM], extra[MS_MAX_DIM];
    MS_TRY(conv_window(c, x, T(1), who, &w));
    MS_TRY(per_axis(ARG(8), w.n, 0, who, "output_padding", extra));
    shape[0] = ms_tensor_shape(x)[0];
    shape[1] = ms_tensor_shape(T(1))[1] * I(7);
    const char *mode = ARG(4)->s;
    bool pad = strcasecmp(mode, "pad") == 0, valid = strcasecmp(mode, "valid") == 0;
    for (int d = 0; d < w.n; d++) {
        int64_t window = (w.kernel[d] - 1) * w.dilation[d] + 1, rest = window - w.stride[d];
        shape[2 + d] = ms_tensor_shape(x)[2 + d] * w.stride[d] + (valid && rest > 0 ? rest : 0);
    }
    MS_TRY(set_padding(&w, mode, ARG(5), shape + 2, who));
    for (int d = 0; pad && d < w.n; d++) {
        int64_t window = (w.kernel[d] - 1) * w.dilation[d] + 1;
        shape[2 + d] =
            (ms_tensor_shape(x)[2 + d] - 1) * w.stride[d] - w.low[d] - w.high[d] + window + extra[d];
        if (shape[2 + d] < 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the padding leaves nothing of spatial axis %d.", who,
                           d);
    }
    return R(ms_conv_input_grad(x, T(1), T(2), (MsInts){w.n + 2, shape}, SPAN(&w, stride), SPAN(&w, low),
                                SPAN(&w, high), SPAN(&w, dilation), I(7)));
}

/* ---- pooling ---- */

/* Lets the last window of every axis reach beyond the padding when it starts inside it. */
static void round_up(Window *w, const int64_t *in)
{
    for (int d = 0; d < w->n; d++) {
        int64_t window = (w->kernel[d] - 1) * w->dilation[d] + 1, span = in[d] + w->low[d] + w->high[d];
        if (span < window) continue;
        int64_t out = (span - window + w->stride[d] - 1) / w->stride[d] + 1;
        if ((out - 1) * w->stride[d] >= in[d] + w->low[d]) out--;
        int64_t need = (out - 1) * w->stride[d] + window - in[d] - w->low[d];
        if (need > w->high[d]) w->high[d] = need;
    }
}

/* Gives a batch axis to an input without one. */
static MsTensor *batched(MsTensor *x, int n, bool *added)
{
    *added = x && ms_tensor_ndim(x) == n + 1;
    if (!*added) return x;
    int64_t shape[MS_MAX_DIM] = {1};
    memcpy(shape + 1, ms_tensor_shape(x), (size_t)(n + 1) * sizeof *shape);
    return ms_reshape(x, (MsInts){n + 2, shape});
}

static MsTensor *unbatched(MsTensor *y, bool added)
{
    if (!y || !added) return y;
    return ms_reshape(y, (MsInts){ms_tensor_ndim(y) - 1, ms_tensor_shape(y) + 1});
}

/* Arguments 1..5: n kernel stride pad_mode padding. */
static MsStatus pool_window(MsApiCall *c, MsTensor *x, const char *who, Window *w)
{
    w->n = (int)I(1);
    if (w->n < 1 || w->n > MAX_SPATIAL)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 1 to 3 spatial axes can be pooled.", who);
    MS_TRY(check_rank(x, w->n, who));
    MS_TRY(per_axis(ARG(2), w->n, 1, who, "kernel_size", w->kernel));
    MS_TRY(per_axis(ARG(3), w->n, 1, who, "stride", w->stride));
    for (int d = 0; d < w->n; d++) w->dilation[d] = 1;
    MS_TRY(set_padding(w, ARG(4)->s, ARG(5), ms_tensor_shape(x) + 2, who));
    for (int d = 0; d < w->n; d++)
        if (w->low[d] + w->high[d] > w->kernel[d])
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For '%s', the 'padding' of both sides must be at most the 'kernel_size' %lld, but got "
                "%lld and %lld.",
                who, (long long)w->kernel[d], (long long)w->low[d], (long long)w->high[d]);
    return MS_OK;
}

MS_API(nn_max_pool, "_nn.max_pool",
       "(x: Tensor, n: int, kernel: ints, stride: ints, pad_mode: str, padding: ints, dilation: ints = 1, "
       "ceil_mode: bool = False, return_indices: bool = False) -> any")
{
    Window w;
    bool added;
    MsTensor *x = batched(T(0), (int)I(1), &added), *y[2] = {NULL, NULL};
    if (!x) return ms_error()->code;
    MS_TRY(pool_window(c, x, "MaxPool", &w));
    MS_TRY(per_axis(ARG(6), w.n, 1, "MaxPool", "dilation", w.dilation));
    if (I(7)) round_up(&w, ms_tensor_shape(x) + 2);
    MS_TRY(ms_max_pool(x, SPAN(&w, kernel), SPAN(&w, stride), SPAN(&w, low), SPAN(&w, high),
                       SPAN(&w, dilation), y));
    for (int k = 0; k < 2; k++) y[k] = unbatched(y[k], added);
    if (I(8)) return ms__api_return_list(c, 2, y);
    return R(y[0]);
}

MS_API(
    nn_avg_pool, "_nn.avg_pool",
    "(x: Tensor, n: int, kernel: ints, stride: ints, pad_mode: str, padding: ints, ceil_mode: bool = False, "
    "count_include_pad: bool = True, divisor: int = 0) -> Tensor")
{
    Window w;
    bool added,
        count = I(7) && (I(1) == 3 || strcasecmp(ARG(4)->s, "same") != 0); /* as the original's kernels */
    MsTensor *x = batched(T(0), (int)I(1), &added);
    if (!x) return ms_error()->code;
    MS_TRY(pool_window(c, x, "AvgPool", &w));
    if (I(6)) {
        if (count) { /* the given padding counts, what rounding up adds does not */
            int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0};
            memcpy(low + 2, w.low, (size_t)w.n * sizeof *low);
            memcpy(high + 2, w.high, (size_t)w.n * sizeof *high);
            Window given = w;
            round_up(&w, ms_tensor_shape(x) + 2);
            x = ms_pad(x, (MsInts){w.n + 2, low}, (MsInts){w.n + 2, high}, 0.0);
            for (int d = 0; d < w.n; d++) {
                w.high[d] -= given.high[d];
                w.low[d] = 0;
            }
            count = false;
        } else
            round_up(&w, ms_tensor_shape(x) + 2);
    }
    MsTensor *y =
        ms_avg_pool(x, SPAN(&w, kernel), SPAN(&w, stride), SPAN(&w, low), SPAN(&w, high), count, I(8));
    return R(unbatched(y, added));
}
