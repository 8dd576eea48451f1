/* nn_ops.c - public names of convolution, pooling and normalisation. The rows turn the named padding modes,
 * output padding and ceil_mode into the explicit sizes that the primitives take, and build what is no
 * primitive: adaptive pooling, inference batch norm, group and instance norm. */
#include "api/args.h"
#include "api/window.h"

#include <string.h>

/* ---- convolution ---- */

static const int64_t ones[3] = {1, 1, 1};

/* Stride and dilation of a convolution with weight w over n spatial axes. */
static MsStatus conv_window(MsWindow *win, MsTensor *w, int n, const MsArg *stride, const MsArg *dilation,
                            const char *op)
{
    *win = (MsWindow){.n = n};
    if (nd(w) != n + 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'weight' must have %d dimensions, but got shape %s.",
                       op, n + 2, ms__shape_text(nd(w), shape(w)));
    memcpy(win->kernel, shape(w) + 2, (size_t)n * sizeof(int64_t));
    MS_TRY(ms__per_axis(stride, n, 1, op, "stride", ones, win->stride));
    return ms__per_axis(dilation, n, 1, op, "dilation", ones, win->dilation);
}

static MsStatus run_conv(MsApiCall *c, MsTensor *x, const MsWindow *w, int64_t groups, bool added)
{
    MsTensor *y = ms_conv(x, T(1), T(2), MS_SPAN(w, stride), MS_SPAN(w, low), MS_SPAN(w, high),
                          MS_SPAN(w, dilation), groups);
    return R(ms__without_batch(y, added));
}

/* (input, weight, bias, stride, pad_mode, padding, dilation, groups) */
static MsStatus ops_conv(MsApiCall *c, int n, const char *op)
{
    MsWindow w;
    bool added;
    MsTensor *x = ms__with_batch(T(0), n, op, &added);
    if (!x) return ms_error()->code;
    MS_TRY(conv_window(&w, T(1), n, ARG(3), ARG(6), op));
    MS_TRY(ms__window_mode(&w, ARG(4)->s, ARG(5), shape(x) + 2, op));
    return run_conv(c, x, &w, I(7), added);
}

#define OPS_CONV                                                                                             \
    "(input: Tensor, weight: Tensor, bias: Tensor = None, stride: ints = 1, pad_mode: str = 'valid', "       \
    "padding: ints = 0, "                                                                                    \
    "dilation: ints = 1, groups: int = 1) -> Tensor"
MS_API(ops_conv1d, "ops.conv1d", OPS_CONV)
{
    return ops_conv(c, 1, "conv1d");
}
MS_API(ops_conv2d, "ops.conv2d", OPS_CONV)
{
    return ops_conv(c, 2, "conv2d");
}
MS_API(ops_conv3d, "ops.conv3d", OPS_CONV)
{
    return ops_conv(c, 3, "conv3d");
}

/* (input, weight, bias, stride, padding, dilation, groups); padding may be 'valid' or 'same' */
static MsStatus mint_conv(MsApiCall *c, int n, const char *op)
{
    MsWindow w;
    bool added;
    MsTensor *x = ms__with_batch(T(0), n, op, &added);
    if (!x) return ms_error()->code;
    MS_TRY(conv_window(&w, T(1), n, ARG(3), ARG(5), op));
    static const MsArg zero = {.kind = MS_ARG_INT, .n = 0};
    bool named = ARG(4)->kind == MS_ARG_STR;
    if (named && strcmp(ARG(4)->s, "same") == 0)
        for (int d = 0; d < n; d++)
            if (w.stride[d] != 1)
                return MS_FAIL(MS_ERROR_VALUE,
                               "For '%s', padding='same' needs a 'stride' of 1, but got %lld.", op,
                               (long long)w.stride[d]);
    MS_TRY(ms__window_mode(&w, named ? ARG(4)->s : "pad", named ? &zero : ARG(4), shape(x) + 2, op));
    return run_conv(c, x, &w, I(6), added);
}

#define MINT_CONV                                                                                            \
    "(input: Tensor, weight: Tensor, bias: Tensor = None, stride: ints = 1, padding: ints|str = 0, "         \
    "dilation: ints = 1, "                                                                                   \
    "groups: int = 1) -> Tensor"
MS_API(mint_conv1d, "mint.nn.functional.conv1d", MINT_CONV)
{
    return mint_conv(c, 1, "conv1d");
}
MS_API(mint_conv2d, "mint.nn.functional.conv2d mint.conv2d", MINT_CONV)
{
    return mint_conv(c, 2, "conv2d");
}
MS_API(mint_conv3d, "mint.nn.functional.conv3d", MINT_CONV)
{
    return mint_conv(c, 3, "conv3d");
}

/* (input, weight, bias, stride, padding, output_padding, groups, dilation) */
static MsStatus conv_transpose(MsApiCall *c, int n, const char *op)
{
    static const int64_t none[3] = {0};
    MsWindow w;
    bool added;
    int64_t extra[3], full[MS_MAX_DIM];
    MsTensor *x = ms__with_batch(T(0), n, op, &added);
    if (!x) return ms_error()->code;
    MS_TRY(conv_window(&w, T(1), n, ARG(3), ARG(7), op));
    MS_TRY(ms__window_pad(&w, ARG(4), op));
    MS_TRY(ms__per_axis(ARG(5), n, 0, op, "output_padding", none, extra));
    full[0] = shape(x)[0];
    full[1] = shape(T(1))[1] * I(6);
    for (int d = 0; d < n; d++) {
        if (extra[d] >= w.stride[d] && extra[d] > 0)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For '%s', the 'output_padding' must be smaller than 'stride', but got %lld and %lld.", op,
                (long long)extra[d], (long long)w.stride[d]);
        full[2 + d] = (shape(x)[2 + d] - 1) * w.stride[d] - w.low[d] - w.high[d] +
                      (w.kernel[d] - 1) * w.dilation[d] + 1 + extra[d];
        if (full[2 + d] < 1)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the padding leaves nothing of spatial axis %d of shape %s.", op, d,
                           ms__shape_text(nd(x), shape(x)));
    }
    MsTensor *y = ms_conv_input_grad(x, T(1), T(2), (MsInts){n + 2, full}, MS_SPAN(&w, stride),
                                     MS_SPAN(&w, low), MS_SPAN(&w, high), MS_SPAN(&w, dilation), I(6));
    return R(ms__without_batch(y, added));
}

#define CONV_TRANSPOSE                                                                                       \
    "(input: Tensor, weight: Tensor, bias: Tensor = None, stride: ints = 1, padding: ints = 0, "             \
    "output_padding: ints = 0, "                                                                             \
    "groups: int = 1, dilation: ints = 1) -> Tensor"
MS_API(conv_transpose1d, "mint.nn.functional.conv_transpose1d", CONV_TRANSPOSE)
{
    return conv_transpose(c, 1, "conv_transpose1d");
}
MS_API(conv_transpose2d, "ops.conv_transpose2d mint.nn.functional.conv_transpose2d", CONV_TRANSPOSE)
{
    return conv_transpose(c, 2, "conv_transpose2d");
}
MS_API(conv_transpose3d, "mint.nn.functional.conv_transpose3d", CONV_TRANSPOSE)
{
    return conv_transpose(c, 3, "conv_transpose3d");
}

/* ---- pooling ---- */

static MsStatus pool_window(MsWindow *w, int n, const MsArg *kernel, const MsArg *stride,
                            const MsArg *padding, const MsArg *dilation, const char *op)
{
    *w = (MsWindow){.n = n, .dilation = {1, 1, 1}};
    MS_TRY(ms__per_axis(kernel, n, 1, op, "kernel_size", NULL, w->kernel));
    MS_TRY(ms__per_axis(stride, n, 1, op, "stride", w->kernel, w->stride));
    if (dilation) MS_TRY(ms__per_axis(dilation, n, 1, op, "dilation", ones, w->dilation));
    MS_TRY(ms__window_pad(w, padding, op));
    for (int d = 0; d < n; d++)
        if (w->low[d] > w->kernel[d] / 2 || w->high[d] > w->kernel[d] / 2)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For '%s', the 'padding' must be at most half of 'kernel_size', but got %lld and %lld.", op,
                (long long)(w->low[d] > w->high[d] ? w->low[d] : w->high[d]), (long long)w->kernel[d]);
    return MS_OK;
}

/* The largest value of each window and its position. Integers are pooled as float64, exact below 2^53. */
static MsStatus largest(MsTensor *x, const MsWindow *w, MsTensor **y)
{
    MsDtype d = ms_tensor_dtype(x);
    if (ms_dtype_is_int(d)) x = ms_cast(x, MS_FLOAT64);
    MS_TRY(ms_max_pool(x, MS_SPAN(w, kernel), MS_SPAN(w, stride), MS_SPAN(w, low), MS_SPAN(w, high),
                       MS_SPAN(w, dilation), y));
    y[0] = ms__cast_to(y[0], d);
    return y[0] ? MS_OK : ms_error()->code;
}

static MsStatus max_pool(MsApiCall *c, int n, const MsArg *dilation, bool ceil, bool indices, const char *op)
{
    MsWindow w;
    bool added;
    MsTensor *x = ms__with_batch(T(0), n, op, &added), *y[2];
    if (!x) return ms_error()->code;
    MS_TRY(pool_window(&w, n, ARG(1), ARG(2), ARG(3), dilation, op));
    if (ceil) ms__window_ceil(&w, shape(x) + 2);
    MS_TRY(largest(x, &w, y));
    y[0] = ms__without_batch(y[0], added);
    if (!indices) return R(y[0]);
    y[1] = ms__without_batch(y[1], added);
    return ms__api_return_list(c, 2, y);
}

MS_API(ops_max_pool2d, "ops.max_pool2d",
       "(x: Tensor, kernel_size: ints, stride: ints = None, padding: ints = 0, dilation: ints = 1, "
       "return_indices: bool = False, ceil_mode: bool = False) -> any")
{
    return max_pool(c, 2, ARG(4), I(6), I(5), "max_pool2d");
}

#define MAX_POOL                                                                                             \
    "kernel_size: ints, stride: ints = None, padding: ints = 0, dilation: ints = 1, ceil_mode: bool = "      \
    "False, "                                                                                                \
    "return_indices: bool = False) -> any"
MS_API(ops_max_pool3d, "ops.max_pool3d", "(x: Tensor, " MAX_POOL)
{
    return max_pool(c, 3, ARG(4), I(5), I(6), "max_pool3d");
}
MS_API(mint_max_pool1d, "mint.nn.functional.max_pool1d", "(input: Tensor, " MAX_POOL)
{
    return max_pool(c, 1, ARG(4), I(5), I(6), "max_pool1d");
}
MS_API(mint_max_pool2d, "mint.nn.functional.max_pool2d", "(input: Tensor, " MAX_POOL)
{
    return max_pool(c, 2, ARG(4), I(5), I(6), "max_pool2d");
}
MS_API(mint_max_pool3d, "mint.nn.functional.max_pool3d", "(input: Tensor, " MAX_POOL)
{
    return max_pool(c, 3, ARG(4), I(5), I(6), "max_pool3d");
}

/* The given padding counts in a mean when count_pad; what ceil_mode adds beyond it never does. */
static MsStatus avg_pool(MsApiCall *c, int n, bool ceil, bool count_pad, int64_t divisor, const char *op)
{
    MsWindow w;
    bool added;
    MsTensor *x = ms__with_batch(T(0), n, op, &added);
    if (!x) return ms_error()->code;
    if (divisor < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'divisor_override' must not be negative, but got %lld.",
                       op, (long long)divisor);
    MS_TRY(pool_window(&w, n, ARG(1), ARG(2), ARG(3), NULL, op));
    if (ceil) {
        MsWindow given = w;
        ms__window_ceil(&w, shape(x) + 2);
        bool beyond = false;
        for (int d = 0; d < n; d++) beyond |= w.high[d] > given.high[d];
        if (beyond && count_pad && !divisor) {
            int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0};
            memcpy(low + 2, given.low, (size_t)n * sizeof *low);
            memcpy(high + 2, given.high, (size_t)n * sizeof *high);
            x = ms_pad(x, (MsInts){n + 2, low}, (MsInts){n + 2, high}, 0);
            for (int d = 0; d < n; d++) {
                w.low[d] = 0;
                w.high[d] = w.high[d] > given.high[d] ? w.high[d] - given.high[d] : 0;
            }
            count_pad = false;
        } else if (count_pad) {
            for (int d = 0; d < n; d++)
                if (w.high[d] < given.high[d])
                    w.high[d] = given.high[d]; /* floors to the same count of windows */
        }
    }
    MsTensor *y = ms_avg_pool(x, MS_SPAN(&w, kernel), MS_SPAN(&w, stride), MS_SPAN(&w, low),
                              MS_SPAN(&w, high), count_pad, divisor);
    return R(ms__without_batch(y, added));
}

#define OPS_AVG                                                                                              \
    "(input_x: Tensor, kernel_size: ints = 1, stride: ints = 1, padding: ints = 0, ceil_mode: bool = "       \
    "False, "                                                                                                \
    "count_include_pad: bool = True"
#define MINT_AVG                                                                                             \
    "(input: Tensor, kernel_size: ints, stride: ints = None, padding: ints = 0, ceil_mode: bool = False, "   \
    "count_include_pad: bool = True"
#define DIVISOR(k) (GIVEN(k) ? I(k) : 0)
MS_API(ops_avg_pool1d, "ops.avg_pool1d", OPS_AVG ") -> Tensor")
{
    return avg_pool(c, 1, I(4), I(5), 0, "avg_pool1d");
}
MS_API(ops_avg_pool2d, "ops.avg_pool2d", OPS_AVG ", divisor_override: int = 0) -> Tensor")
{
    return avg_pool(c, 2, I(4), I(5), I(6), "avg_pool2d");
}
MS_API(ops_avg_pool3d, "ops.avg_pool3d", OPS_AVG ", divisor_override: int = 0) -> Tensor")
{
    return avg_pool(c, 3, I(4), I(5), I(6), "avg_pool3d");
}
MS_API(mint_avg_pool1d, "mint.nn.functional.avg_pool1d", MINT_AVG ") -> Tensor")
{
    return avg_pool(c, 1, I(4), I(5), 0, "avg_pool1d");
}
MS_API(mint_avg_pool2d, "mint.nn.functional.avg_pool2d", MINT_AVG ", divisor_override: int = None) -> Tensor")
{
    return avg_pool(c, 2, I(4), I(5), DIVISOR(6), "avg_pool2d");
}
MS_API(mint_avg_pool3d, "mint.nn.functional.avg_pool3d", MINT_AVG ", divisor_override: int = None) -> Tensor")
{
    return avg_pool(c, 3, I(4), I(5), DIVISOR(6), "avg_pool3d");
}

/* ---- adaptive pooling: window o of an axis is [floor(o in / out), ceil((o + 1) in / out)) ---- */

static MsStatus adaptive_size(const MsArg *a, const MsTensor *x, int n, const char *op, int64_t *out)
{
    const MsArg *item = a->kind == MS_ARG_LIST ? a->list : a;
    int count = a->kind == MS_ARG_LIST ? a->n : 1;
    if (count != 1 && count != n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'output_size' must be an int or have %d elements, but got %d.", op, n,
                       count);
    for (int d = 0; d < n; d++) {
        const MsArg *k = &item[count == 1 ? 0 : d];
        if (k->kind != MS_ARG_NONE && k->kind != MS_ARG_INT)
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', the elements of 'output_size' must be int or None.", op);
        out[d] = k->kind == MS_ARG_NONE ? shape(x)[nd(x) - n + d] : k->i;
        if (out[d] < 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'output_size' must be positive, but got %lld.", op,
                           (long long)out[d]);
        if (shape(x)[nd(x) - n + d] < 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the pooled axes must not be empty, but got shape %s.",
                           op, ms__shape_text(nd(x), shape(x)));
    }
    return MS_OK;
}

/* When every axis divides evenly the windows are regular: one ordinary pooling. */
static bool regular(MsWindow *w, const MsTensor *x, const int64_t *out)
{
    *w = (MsWindow){.n = nd(x) - 2, .dilation = {1, 1, 1}};
    for (int d = 0; d < w->n; d++) {
        if (shape(x)[2 + d] % out[d]) return false;
        w->kernel[d] = w->stride[d] = shape(x)[2 + d] / out[d];
    }
    return true;
}

/* Irregular windows of one axis as an index for gather: every window at the largest length, its last element
 * repeated. */
static MsTensor *window_index(int64_t size, int64_t out, int64_t *longest)
{
    *longest = 1;
    if (!ms_tensor_empty(MS_INT64, 1, &out))
        return NULL; /* too large a size fails before it is counted out */
    for (int64_t o = 0; o < out; o++) {
        int64_t len = ((o + 1) * size + out - 1) / out - o * size / out;
        if (len > *longest) *longest = len;
    }
    MsTensor *t = ms_tensor_empty(MS_INT64, 1, (int64_t[]){out * *longest});
    if (!t) return NULL;
    int64_t *v = ms_tensor_data(t);
    for (int64_t o = 0; o < out; o++) {
        int64_t begin = o * size / out, end = ((o + 1) * size + out - 1) / out;
        for (int64_t k = 0; k < *longest; k++) v[o * *longest + k] = begin + k < end ? begin + k : end - 1;
    }
    return t;
}

MsTensor *ms__adaptive_avg(MsTensor *x, int n, const int64_t *out)
{
    MsWindow w;
    int64_t all[MS_MAX_DIM] = {shape(x)[0], shape(x)[1]};
    if (regular(&w, x, out))
        return ms_avg_pool(x, MS_SPAN(&w, kernel), MS_SPAN(&w, stride), MS_SPAN(&w, low), MS_SPAN(&w, high),
                           true, 0);
    memcpy(all + 2, out, (size_t)n * sizeof *out);
    return ms_adaptive_avg_pool(x, (MsInts){n + 2, all});
}

static MsStatus adaptive_avg(MsApiCall *c, int n, const char *op)
{
    bool added;
    int64_t out[3];
    MsTensor *x = ms__with_batch(T(0), n, op, &added);
    if (!x) return ms_error()->code;
    MS_TRY(adaptive_size(ARG(1), x, n, op, out));
    return R(ms__without_batch(ms__adaptive_avg(x, n, out), added));
}

/* The maxima of x and their flat positions in the plane. */
static MsStatus adaptive_max_both(MsTensor *x, int n, const int64_t *out, MsTensor **y)
{
    MsWindow w;
    if (regular(&w, x, out)) return largest(x, &w, y);
    int64_t plane = 1, grid[MS_MAX_DIM] = {1, 1};
    for (int d = 0; d < n; d++) {
        plane *= shape(x)[2 + d];
        grid[2 + d] = shape(x)[2 + d];
    }
    MsTensor *position = ms_reshape(ms_arange_int(0, 1, plane, MS_INT64), (MsInts){n + 2, grid}), *picked[2];
    w = (MsWindow){.n = n, .dilation = {1, 1, 1}};
    for (int d = 0; d < n && x && position; d++) {
        MsTensor *index = window_index(shape(x)[2 + d], out[d], &w.kernel[d]);
        w.stride[d] = w.kernel[d];
        x = index ? ms_gather(x, index, 2 + d) : NULL;
        position = index ? ms_gather(position, index, 2 + d) : NULL;
    }
    if (!x || !position) return ms_error()->code;
    MS_TRY(largest(x, &w, picked));
    y[0] = picked[0];
    int64_t expanded = 1;
    for (int d = 0; d < n; d++) expanded *= shape(x)[2 + d];
    y[1] = ms_gather(ms_reshape(position, MS_INTS(expanded)), picked[1], 0);
    return y[1] ? MS_OK : ms_error()->code;
}

static MsStatus adaptive_max(MsApiCall *c, int n, bool indices, const char *op)
{
    bool added;
    int64_t out[3];
    MsTensor *x = ms__with_batch(T(0), n, op, &added), *y[2];
    if (!x) return ms_error()->code;
    MS_TRY(adaptive_size(ARG(1), x, n, op, out));
    MS_TRY(adaptive_max_both(x, n, out, y));
    y[0] = ms__without_batch(y[0], added);
    if (!indices) return R(y[0]);
    y[1] = ms__without_batch(n == 3 ? ms_cast(y[1], MS_INT32) : y[1], added);
    return ms__api_return_list(c, 2, y);
}

#define ADAPTIVE "(input: Tensor, output_size: any) -> Tensor"
MS_API(adaptive_avg_pool1d, "ops.adaptive_avg_pool1d mint.nn.functional.adaptive_avg_pool1d", ADAPTIVE)
{
    return adaptive_avg(c, 1, "adaptive_avg_pool1d");
}
MS_API(adaptive_avg_pool2d,
       "ops.adaptive_avg_pool2d ops.adaptive_avg_pool2d_ext mint.nn.functional.adaptive_avg_pool2d", ADAPTIVE)
{
    return adaptive_avg(c, 2, "adaptive_avg_pool2d");
}
MS_API(adaptive_avg_pool3d, "ops.adaptive_avg_pool3d mint.nn.functional.adaptive_avg_pool3d", ADAPTIVE)
{
    return adaptive_avg(c, 3, "adaptive_avg_pool3d");
}

#define ADAPTIVE_MAX "(input: Tensor, output_size: any, return_indices: bool = False) -> any"
MS_API(ops_adaptive_max_pool1d, "ops.adaptive_max_pool1d", ADAPTIVE)
{
    return adaptive_max(c, 1, false, "adaptive_max_pool1d");
}
MS_API(mint_adaptive_max_pool1d, "mint.nn.functional.adaptive_max_pool1d", ADAPTIVE_MAX)
{
    return adaptive_max(c, 1, I(2), "adaptive_max_pool1d");
}
MS_API(adaptive_max_pool2d, "ops.adaptive_max_pool2d mint.nn.functional.adaptive_max_pool2d", ADAPTIVE_MAX)
{
    return adaptive_max(c, 2, I(2), "adaptive_max_pool2d");
}
MS_API(adaptive_max_pool3d, "ops.adaptive_max_pool3d", ADAPTIVE_MAX)
{
    return adaptive_max(c, 3, I(2), "adaptive_max_pool3d");
}

/* ---- primitives by their own names ---- */

MS_API(prim_conv, "prim.conv",
       "(x: Tensor, w: Tensor, bias: Tensor?, stride: ints, low: ints, high: ints, dilation: ints, groups: "
       "int = 1) -> Tensor")
{
    int64_t b[4][MS_MAX_DIM];
    return R(ms_conv(T(0), T(1), T(2), INTS(3, b[0]), INTS(4, b[1]), INTS(5, b[2]), INTS(6, b[3]), I(7)));
}

MS_API(prim_conv_input_grad, "prim.conv_input_grad",
       "(dy: Tensor, w: Tensor, bias: Tensor?, shape: ints, stride: ints, low: ints, high: ints, dilation: "
       "ints, "
       "groups: int = 1) -> Tensor")
{
    int64_t b[5][MS_MAX_DIM];
    return R(ms_conv_input_grad(T(0), T(1), T(2), INTS(3, b[0]), INTS(4, b[1]), INTS(5, b[2]), INTS(6, b[3]),
                                INTS(7, b[4]), I(8)));
}

MS_API(prim_max_pool, "prim.max_pool",
       "(x: Tensor, kernel: ints, stride: ints, low: ints, high: ints, dilation: ints) -> any")
{
    int64_t b[5][MS_MAX_DIM];
    MsTensor *y[2];
    MS_TRY(ms_max_pool(T(0), INTS(1, b[0]), INTS(2, b[1]), INTS(3, b[2]), INTS(4, b[3]), INTS(5, b[4]), y));
    return ms__api_return_list(c, 2, y);
}

MS_API(prim_avg_pool, "prim.avg_pool",
       "(x: Tensor, kernel: ints, stride: ints, low: ints, high: ints, count_pad: bool = True, divisor: int "
       "= 0) -> Tensor")
{
    int64_t b[4][MS_MAX_DIM];
    return R(ms_avg_pool(T(0), INTS(1, b[0]), INTS(2, b[1]), INTS(3, b[2]), INTS(4, b[3]), I(5), I(6)));
}
