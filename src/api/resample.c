/* resample.c - rows that pad, resize and rearrange the spatial axes. Padding by copies and resizing are takes
 * along one axis after the other with an index made here, so they differentiate and batch by the rules of
 * gather. */
#include "api/api.h"
#include "api/window.h"
#include "op/random.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

/* ---- padding ---- */

/* Which element of an axis of n stands at position i beyond its ends; -1: the padding is too large for the
 * mode. */
static int64_t source(const char *mode, int64_t i, int64_t n)
{
    if (i >= 0 && i < n) return i;
    if (strcmp(mode, "replicate") == 0) return n < 1 ? -1 : i < 0 ? 0 : n - 1;
    if (strcmp(mode, "circular") == 0) return i < -n || i >= 2 * n ? -1 : (i + n) % n;
    int64_t j = i < 0 ? -i : 2 * (n - 1) - i;
    return j < 0 || j >= n ? -1 : j;
}

static MsTensor *pad_axis(MsTensor *x, int d, int64_t low, int64_t high, const char *mode)
{
    if (!x || (low == 0 && high == 0)) return x;
    int64_t n = ms_tensor_shape(x)[d], out = n + low + high;
    if (out < 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'pad', the padding (%lld, %lld) leaves less than nothing of axis %d "
                            "of size %lld.",
                            (long long)low, (long long)high, d, (long long)n);
    MsTensor *index = ms_tensor_empty(MS_INT64, 1, &out);
    if (!index) return NULL;
    int64_t *at = ms_tensor_data(index);
    for (int64_t i = 0; i < out; i++) {
        at[i] = source(mode, i - low, n);
        if (at[i] < 0)
            return MS_FAIL_NULL(
                MS_ERROR_VALUE,
                "For 'pad', the padding (%lld, %lld) is too large for mode '%s' on axis %d of "
                "size %lld.",
                (long long)low, (long long)high, mode, d, (long long)n);
    }
    return ms_gather(x, index, d);
}

/* As scripts of the first version write it: ((low, high), ...), one pair for every axis from the first on. */
static MsStatus pad_pairs(MsApiCall *c, const MsArg *paddings)
{
    MsTensor *x = T(0);
    int ndim = ms_tensor_ndim(x);
    int64_t low[MS_MAX_DIM], high[MS_MAX_DIM];
    bool ok = paddings->kind == MS_ARG_LIST && paddings->n == ndim;
    for (int d = 0; d < ndim && ok; d++) {
        const MsArg *pair = &paddings->list[d];
        ok = pair->kind == MS_ARG_LIST && pair->n == 2 && pair->list[0].kind == MS_ARG_INT &&
             pair->list[1].kind == MS_ARG_INT;
        if (!ok) break;
        low[d] = pair->list[0].i;
        high[d] = pair->list[1].i;
    }
    if (!ok)
        return MS_FAIL(MS_ERROR_TYPE,
                       "For 'pad', the 'padding' must hold integers, or 'paddings' a pair of them for each "
                       "of the %d axes.",
                       ndim);
    return R(ms_pad(x, (MsInts){ndim, low}, (MsInts){ndim, high}, 0));
}

static MsStatus pad(MsApiCall *c, const MsArg *padding, const char *mode, const MsArg *value)
{
    MsTensor *x = T(0);
    int ndim = ms_tensor_ndim(x), n = -1;
    int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0}, size[2 * MS_MAX_DIM];
    if (padding->kind == MS_ARG_LIST && padding->n && padding->list[0].kind == MS_ARG_LIST)
        return pad_pairs(c, padding);
    if (padding->kind == MS_ARG_TENSOR && ms_tensor_ndim(padding->t) == 1 &&
        ms_tensor_numel(padding->t) <= 2 * ndim && ms_dtype_is_int(ms_tensor_dtype(padding->t))) {
        n = (int)ms_tensor_numel(padding->t);
        MS_TRY(ms__tensor_read(padding->t, MS_INT64, size));
    } else if (padding->kind == MS_ARG_LIST && padding->n <= 2 * ndim) {
        n = padding->n;
        for (int k = 0; k < n; k++) {
            const MsArg *a = &padding->list[k];
            if (a->kind == MS_ARG_TENSOR)
                MS_TRY(ms_tensor_item_int(a->t, &size[k]));
            else if (a->kind == MS_ARG_INT)
                size[k] = a->i;
            else
                return MS_FAIL(MS_ERROR_TYPE, "For 'pad', the 'padding' must hold integers.");
        }
    }
    if (n < 0 || n % 2)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'pad', the 'padding' must hold a low and a high size for at most %d axes, from the "
            "last one on.",
            ndim);
    for (int k = 0; k < n / 2; k++) {
        low[ndim - 1 - k] = size[2 * k];
        high[ndim - 1 - k] = size[2 * k + 1];
    }
    MS_TRY(ms__int_check(value, ms_tensor_dtype(x)));
    if (strcmp(mode, "constant") == 0)
        return R(ms_pad(x, (MsInts){ndim, low}, (MsInts){ndim, high},
                        value->kind == MS_ARG_NONE ? 0 : ms__arg_float(value)));
    if (strcmp(mode, "reflect") != 0 && strcmp(mode, "replicate") != 0 && strcmp(mode, "circular") != 0)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'pad', the 'mode' must be in ['constant', 'reflect', 'replicate', 'circular'], but "
            "got %s.",
            mode);
    if (value->kind != MS_ARG_NONE)
        return MS_FAIL(MS_ERROR_VALUE, "For 'pad', the padding mode '%s' needs 'value' to be None.", mode);
    for (int d = 0; d < ndim && x; d++) x = pad_axis(x, d, low[d], high[d], mode);
    return R(x);
}

MS_API(ops_pad, "ops.pad",
       "(input_x: Tensor, padding: any, mode: str = 'constant', value: number = None) -> Tensor")
{
    return pad(c, ARG(1), ARG(2)->s, ARG(3));
}
MS_API(ops_pad_pairs, "ops.pad", "(input_x: Tensor, paddings: any) -> Tensor")
{
    return pad_pairs(c, ARG(1));
}
MS_API(mint_pad, "mint.nn.functional.pad",
       "(input: Tensor, pad: any, mode: str = 'constant', value: number = None) -> Tensor")
{
    return pad(c, ARG(1), ARG(2)->s, ARG(3));
}

/* ---- resizing ---- */

/* One tap of every output element: its index along an axis and its weight. */
typedef struct Taps {
    MsTensor *index[4], *weight[4];
    int n;
} Taps;

typedef enum Mode {
    NEAREST,
    NEAREST_EXACT,
    LINEAR,
    CUBIC,
    KEYS, /* cubic with a = -0.5, where samples outside have no weight: the original's for centres that fit */
    AREA  /* averages of the elements that an output element covers */
} Mode;

/* Keys' cubic convolution, the weight of a sample at distance t. */
static double cubic(double a, double t)
{
    t = fabs(t);
    if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* The weight of sample `at`, which is one of the four around pos, when those outside of [0, in) have none. */
static double keys(double pos, int64_t at, int64_t in)
{
    double sum = 0;
    for (int64_t k = (int64_t)floor(pos) - 1, last = k + 3; k <= last; k++)
        if (k >= 0 && k < in) sum += cubic(-0.5, pos - (double)k);
    return at < 0 || at >= in ? 0 : cubic(-0.5, pos - (double)at) / sum;
}

/* Where output elements lie in the input. */
typedef enum Grid {
    GRID_CENTRES, /* centres of elements fit; the nearest mode rounds down from corners */
    GRID_ENDS,    /* the first and last elements fit */
    GRID_STARTS   /* i * scale */
} Grid;

/* scale: input elements per output element. */
static MsStatus make_taps(Taps *taps, Mode mode, Grid grid, int64_t in, int64_t out, double scale, int d,
                          int ndim, MsDtype dtype)
{
    int64_t shape[MS_MAX_DIM];
    for (int k = 0; k < ndim; k++) shape[k] = k == d ? out : 1;
    bool wide = mode == CUBIC || mode == KEYS;
    taps->n = mode == LINEAR ? 2 : wide ? 4 : 1;
    for (int k = 0; k < taps->n; k++) {
        MsTensor *index = ms_tensor_empty(MS_INT64, 1, &out),
                 *weight = ms_tensor_empty(MS_FLOAT64, ndim, shape);
        if (!index || !weight) return MS_ERROR_MEMORY;
        int64_t *at = ms_tensor_data(index);
        double *w = ms_tensor_data(weight);
        for (int64_t i = 0; i < out; i++) {
            double pos = mode == NEAREST && grid == GRID_ENDS      ? round((double)i * scale)
                         : mode == NEAREST || grid != GRID_CENTRES ? (double)i * scale
                         : mode == NEAREST_EXACT                   ? ((double)i + 0.5) * scale
                                                                   : ((double)i + 0.5) * scale - 0.5;
            if (mode == LINEAR && pos < 0) pos = 0;
            int64_t base = (int64_t)floor(pos) + (wide ? k - 1 : k);
            w[i] = mode == CUBIC    ? cubic(-0.75, pos - (double)base)
                   : mode == KEYS   ? keys(pos, base, in)
                   : mode == LINEAR ? 1 - fabs(pos - (double)base)
                                    : 1;
            at[i] = base < 0 ? 0 : base >= in ? in - 1 : base;
        }
        taps->index[k] = index;
        taps->weight[k] = taps->n > 1 ? ms_cast(weight, dtype) : NULL;
        if (taps->n > 1 && !taps->weight[k]) return ms_error()->code;
    }
    return MS_OK;
}

static MsTensor *resize_axis(MsTensor *x, int d, const Taps *taps)
{
    MsTensor *y = NULL;
    for (int k = 0; k < taps->n; k++) {
        MsTensor *part = ms_gather(x, taps->index[k], d);
        if (taps->weight[k]) part = ms_mul(part, taps->weight[k]);
        if (!part) return NULL;
        y = y ? ms_add(y, part) : part;
    }
    return y;
}

static MsStatus mode_of(const char *name, int spatial, Mode *mode)
{
    static const struct {
        const char *name;
        Mode mode;
        int spatial; /* 0: any */
    } known[] = {{"nearest", NEAREST, 0},  {"nearest-exact", NEAREST_EXACT, 0},
                 {"linear", LINEAR, 1},    {"bilinear", LINEAR, 2},
                 {"trilinear", LINEAR, 3}, {"bicubic", CUBIC, 2},
                 {"area", AREA, 0}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].name, name) == 0) {
            *mode = known[k].mode;
            if (known[k].spatial && known[k].spatial != spatial)
                return MS_FAIL(
                    MS_ERROR_VALUE,
                    "For 'interpolate', the mode '%s' needs an input of %d dimensions, but got %d.", name,
                    known[k].spatial + 2, spatial + 2);
            return MS_OK;
        }
    return MS_FAIL(
        MS_ERROR_VALUE,
        "For 'interpolate', the 'mode' must be in ['nearest', 'nearest-exact', 'linear', 'bilinear', "
        "'trilinear', 'bicubic', 'area'], but got %s.",
        name);
}

/* Element k of a number or a list. */
static const MsArg *entry(const MsArg *a, int k, int spatial)
{
    if (a->kind != MS_ARG_LIST) return a;
    return a->n == spatial ? &a->list[k] : a->n == 1 ? &a->list[0] : NULL;
}

static MsStatus interpolate(MsApiCall *c, Mode cubic_mode)
{
    MsTensor *x = T(0);
    int ndim = ms_tensor_ndim(x), spatial = ndim - 2;
    Mode mode = NEAREST;
    if (spatial < 1 || spatial > 3)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'interpolate', the input must have 3 to 5 dimensions, but got %d.", ndim);
    if (GIVEN(1) == GIVEN(2))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'interpolate', one of 'size' and 'scale_factor' must be given, and not both.");
    MS_TRY(mode_of(ARG(3)->s, spatial, &mode));
    int64_t sizes[3];
    if (GIVEN(4) && (mode == NEAREST || mode == NEAREST_EXACT || mode == AREA))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'interpolate', 'align_corners' can only be set with the linear and cubic modes.");
    bool corners = GIVEN(4) && I(4), recompute = GIVEN(5) && I(5);
    if (mode == CUBIC && !corners) mode = cubic_mode;
    for (int k = 0; k < spatial; k++) {
        const MsArg *e = entry(ARG(GIVEN(1) ? 1 : 2), k, spatial);
        if (!e)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'interpolate', 'size' and 'scale_factor' must have %d elements.", spatial);
        int64_t in = ms_tensor_shape(x)[2 + k];
        double factor = ms__arg_float(e);
        double wanted = GIVEN(1) ? factor : floor((double)in * factor);
        if (in < 1 || !(wanted >= 1 && wanted < 0x1p56))
            return MS_FAIL(MS_ERROR_VALUE, "For 'interpolate', axis %d of size %lld cannot be resized to %g.",
                           2 + k, (long long)in, wanted);
        int64_t out = sizes[k] = (int64_t)wanted;
        if (mode == AREA) continue;
        double scale = GIVEN(1) || recompute ? (double)in / (double)out : 1 / factor;
        if (corners) scale = out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
        Taps taps;
        MS_TRY(make_taps(&taps, mode, corners ? GRID_ENDS : GRID_CENTRES, in, out, scale, 2 + k, ndim,
                         ms_tensor_dtype(x)));
        x = resize_axis(x, 2 + k, &taps);
        if (!x) return ms_error()->code;
    }
    return R(mode == AREA ? ms__adaptive_avg(x, spatial, sizes) : x);
}
MS_API(interpolate, "ops.interpolate ops.upsample",
       "(input: Tensor, size: ints = None, scale_factor: floats = None, mode: str = 'nearest', "
       "align_corners: bool = None, recompute_scale_factor: bool = None) -> Tensor")
{
    return interpolate(c, KEYS);
}
MS_API(mint_interpolate, "mint.nn.functional.interpolate mint.nn.functional.upsample",
       "(input: Tensor, size: ints = None, scale_factor: floats = None, mode: str = 'nearest', "
       "align_corners: bool = None, recompute_scale_factor: bool = None) -> Tensor")
{
    return interpolate(c, CUBIC);
}

/* Two spatial axes by the conventions of the Resize classes: by starts unless one of the others is asked for. */
MS_API(p_resize, "_p.resize",
       "(x: Tensor, size: ints, mode: str, align_corners: bool, half_pixel_centers: bool) -> Tensor")
{
    MsTensor *x = T(0);
    int64_t buf[MS_MAX_DIM];
    MsInts size = INTS(1, buf);
    Mode mode = NEAREST;
    if (ms_tensor_ndim(x) != 4 || size.n != 2)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'Resize', the input must be 4-D and the 'size' two numbers, but got shape %s and %d.",
            ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)), size.n);
    if (I(3) && I(4))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'Resize', 'align_corners' and 'half_pixel_centers' cannot both be True.");
    MS_TRY(mode_of(ARG(2)->s, 2, &mode));
    if (I(4) && mode == NEAREST) mode = NEAREST_EXACT;
    if (I(4) && mode == CUBIC) mode = KEYS;
    Grid grid = I(3) ? GRID_ENDS : I(4) ? GRID_CENTRES : GRID_STARTS;
    for (int k = 0; k < 2 && x; k++) {
        int64_t in = ms_tensor_shape(x)[2 + k], out = size.v[k];
        if (in < 1 || out < 1)
            return MS_FAIL(MS_ERROR_VALUE, "For 'Resize', axis %d of size %lld cannot be resized to %lld.",
                           2 + k, (long long)in, (long long)out);
        if (mode == AREA) continue;
        double scale = (double)in / (double)out;
        if (grid == GRID_ENDS) scale = out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
        Taps taps;
        MS_TRY(make_taps(&taps, mode, grid, in, out, scale, 2 + k, 4, ms_tensor_dtype(x)));
        x = resize_axis(x, 2 + k, &taps);
    }
    return R(x && mode == AREA ? ms__adaptive_avg(x, 2, size.v) : x);
}

/* ---- space and channels ---- */

/* [..., C, H, W] <-> [..., C r^2, H / r, W / r]: reshape, permute, reshape. */
static MsStatus shuffle(MsApiCall *c, bool to_space, const char *who)
{
    MsTensor *x = T(0);
    int ndim = ms_tensor_ndim(x), lead = ndim - 3;
    int64_t r = I(1), split[MS_MAX_DIM], perm[MS_MAX_DIM], last[MS_MAX_DIM];
    const int64_t *s = ms_tensor_shape(x);
    if (lead < 0 || ndim + 2 > MS_MAX_DIM || r < 1)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', an input of 3 to %d dimensions and a positive factor are needed, but got %s "
            "and %lld.",
            who, MS_MAX_DIM - 2, ms__shape_text(ndim, s), (long long)r);
    int64_t ch = s[lead], h = s[lead + 1], w = s[lead + 2];
    if (to_space ? ch % r != 0 || ch / r % r != 0 : h % r != 0 || w % r != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the factor %lld does not divide the shape %s.", who,
                       (long long)r, ms__shape_text(ndim, s));
    for (int d = 0; d < lead; d++) split[d] = last[d] = s[d], perm[d] = d;
    static const int into[5] = {0, 3, 1, 4, 2}, from[5] = {0, 2, 4, 1, 3};
    int64_t parts[2][5] = {{ch, h / r, r, w / r, r}, {ch / r / r, r, r, h, w}};
    int64_t shape[2][3] = {{ch * r * r, h / r, w / r}, {ch / r / r, h * r, w * r}};
    for (int d = 0; d < 5; d++) {
        split[lead + d] = parts[to_space][d];
        perm[lead + d] = lead + (to_space ? into[d] : from[d]);
    }
    for (int d = 0; d < 3; d++) last[lead + d] = shape[to_space][d];
    MsTensor *y = ms_transpose(ms_reshape(x, (MsInts){ndim + 2, split}), (MsInts){ndim + 2, perm});
    return R(ms_reshape(y, (MsInts){ndim, last}));
}

MS_API(pixel_shuffle, "ops.pixel_shuffle mint.nn.functional.pixel_shuffle",
       "(input: Tensor, upscale_factor: int) -> Tensor")
{
    return shuffle(c, true, "pixel_shuffle");
}
MS_API(pixel_unshuffle, "ops.pixel_unshuffle", "(input: Tensor, downscale_factor: int) -> Tensor")
{
    return shuffle(c, false, "pixel_unshuffle");
}

/* ---- leaky ReLU with slopes drawn from [lower, upper) ---- */

MS_API(rrelu, "ops.rrelu",
       "(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333) -> Tensor")
{
    MsTensor *x = T(0);
    MsDtype dt = ms_tensor_dtype(x);
    if (!ms_dtype_is_float(dt) || F(1) > F(2))
        return MS_FAIL(
            ms_dtype_is_float(dt) ? MS_ERROR_VALUE : MS_ERROR_TYPE,
            "For 'rrelu', a Tensor of floats and lower <= upper are needed, but got %s, %g and %g.",
            ms_dtype_name(dt), F(1), F(2));
    MsInts shape = {ms_tensor_ndim(x), ms_tensor_shape(x)};
    MsTensor *u = ms_cast(ms_rng_uniform(ms__rng_next(ms_random_state()), shape, MS_FLOAT32), dt);
    MsTensor *slope = ms_add(ms_mul(u, ms_tensor_scalar(dt, F(2) - F(1))), ms_tensor_scalar(dt, F(1)));
    return R(ms_where(ms_ge(x, ms_tensor_scalar(dt, 0)), x, ms_mul(x, slope)));
}
