/* vision.c - transforms on images: [height, width] or [height, width, channels] of any real dtype. Geometry
 * moves whole pixels and does not look at the dtype; only resizing computes with values. */
#include "data/image.h"

#include "core/tensor.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- images ---- */

typedef struct Image {
    int64_t h, w, c;
    size_t pixel; /* bytes */
    char *data;
} Image;

static MsStatus image_of(const MsTransformCall *c, MsTensor *x, Image *im)
{
    if (x->ndim != 2 && x->ndim != 3)
        return MS_FAIL(
            MS_ERROR_RUNTIME, "%s: input tensor is not in shape of <H,W> or <H,W,C>, but got rank: %d%s",
            c->op->kind->name, x->ndim, x->ndim == 1 ? ". You may need to perform Decode first." : "");
    im->h = x->shape[0], im->w = x->shape[1], im->c = x->ndim == 3 ? x->shape[2] : 1;
    im->pixel = (size_t)im->c * ms_dtype_size((MsDtype)x->dtype);
    im->data = x->data;
    return MS_OK;
}

static MsTensor *image_like(MsTensor *x, int64_t h, int64_t w, Image *im)
{
    int64_t shape[3] = {h, w, x->ndim == 3 ? x->shape[2] : 1};
    MsTensor *y = ms_tensor_empty((MsDtype)x->dtype, x->ndim, shape);
    if (!y) return NULL;
    im->h = h, im->w = w, im->c = shape[2];
    im->pixel = (size_t)im->c * ms_dtype_size((MsDtype)x->dtype);
    im->data = y->data;
    return y;
}

/* ---- affine: see affine.c ---- */

static MsStatus run_affine(MsTransformCall *c)
{
    MsStage s[2];
    int n = c->op->kind->stage(c->op, s);
    MS_TRY(ms__affine_run(n, s, c->in[0], &c->out[0]));
    if (c->out[0]) return MS_OK;
    const MsTensor *x = c->in[0];
    int n_mean = c->op->n_arg > 2 ? c->op->n_arg / 2 : 0; /* Normalize */
    if (n_mean && (x->ndim == 2 || x->ndim == 3))
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "%s: number of channels does not match the size of mean and std vectors, got channels: %lld, "
            "size of mean: %d",
            c->op->kind->name, (long long)(x->ndim == 2 ? 1 : x->shape[c->op->arg[0] != 0 ? 2 : 0]), n_mean);
    return MS_FAIL(MS_ERROR_RUNTIME,
                   "%s: input tensor is not in shape of <H,W> or <H,W,C>, but got rank: %d, of type %s",
                   c->op->kind->name, x->ndim, ms_dtype_name((MsDtype)x->dtype));
}

static int stage_rescale(const MsTransform *t, MsStage s[2])
{
    s[0] = (MsStage){.kind = MS_STAGE_SCALE, .a = (float)t->arg[0], .b = (float)t->arg[1]};
    return 1;
}

static MsStatus check_normalize(MsTransform *t)
{
    if (t->n_arg % 2 == 0) return MS_FAIL(MS_ERROR_VALUE, "Length of mean and std must be equal.");
    int n = t->n_arg / 2;
    for (int k = 0; k < n; k++) {
        double mean = t->arg[1 + k], std = t->arg[1 + n + k];
        if (!(mean >= 0 && mean <= 255))
            return MS_FAIL(MS_ERROR_VALUE, "Input mean[%d] is not within the required interval of [0, 255].",
                           k);
        if (!(std > 0 && std <= 255))
            return MS_FAIL(MS_ERROR_VALUE, "Input std[%d] is not within the required interval of (0, 255].",
                           k);
    }
    return MS_OK;
}

static int stage_normalize(const MsTransform *t, MsStage s[2])
{
    int n = t->n_arg / 2;
    s[0] = (MsStage){
        .kind = MS_STAGE_NORM, .hwc = t->arg[0] != 0, .n = n, .mean = t->arg + 1, .std = t->arg + 1 + n};
    return 1;
}

static int stage_chw(const MsTransform *t, MsStage s[2])
{
    (void)t;
    s[0] = (MsStage){.kind = MS_STAGE_CHW};
    return 1;
}

static MsStatus run_chw(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    Image im;
    MS_TRY(image_of(c, x, &im));
    c->out[0] = x;
    if (x->ndim == 2) return MS_OK;
    int64_t shape[3] = {im.c, im.h, im.w}, strides[3] = {1, im.w * im.c, im.c};
    MsTensor *view = ms__tensor_view(x, 3, shape, strides, 0);
    c->out[0] = view ? ms__data_contiguous(view) : NULL;
    return c->out[0] ? MS_OK : ms_error()->code;
}

static int stage_to_tensor(const MsTransform *t, MsStage s[2])
{
    if (t->n_arg > 0 && t->arg[0] != MS_FLOAT32) return 0;
    s[0] = (MsStage){.kind = MS_STAGE_SCALE, .a = 1.0f / 255};
    s[1] = (MsStage){.kind = MS_STAGE_CHW, .a = 1};
    return 2;
}

static MsStatus run_to_tensor(MsTransformCall *c)
{
    Image im;
    MsStage s[2] = {{.kind = MS_STAGE_SCALE, .a = 1.0f / 255}, {.kind = MS_STAGE_CHW, .a = 1}};
    MsDtype dtype = (MsDtype)c->in[0]->dtype;
    if (dtype == MS_UINT32 || dtype == MS_INT64 || dtype == MS_UINT64 || ms__data_is_text(c->in[0]))
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "ToTensor: Input includes unsupported data type in [uint32, int64, uint64, string, bytes].");
    if (c->in[0]->ndim > 3)
        return MS_FAIL(MS_ERROR_RUNTIME, "ToTensor: image shape should be <H,W,C>, but got rank: %d",
                       c->in[0]->ndim);
    MS_TRY(image_of(c, c->in[0], &im));
    MS_TRY(ms__affine_run(2, s, c->in[0], &c->out[0]));
    if (!c->out[0])
        return MS_FAIL(MS_ERROR_RUNTIME, "ToTensor: an image of type %s is not supported.",
                       ms_dtype_name(dtype));
    if (c->op->n_arg > 0) c->out[0] = ms__data_cast(c->out[0], (MsDtype)c->op->arg[0]);
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* ---- geometry ---- */

static void turn(char *to, const char *from, int64_t w, size_t pixel)
{
    from += (size_t)(w - 1) * pixel;
    if (pixel == 3)
        for (int64_t x = 0; x < w; x++, to += 3, from -= 3) memcpy(to, from, 3);
    else
        for (int64_t x = 0; x < w; x++, to += pixel, from -= pixel) memcpy(to, from, pixel);
}

static MsStatus flip(MsTransformCall *c, bool horizontal)
{
    c->n_out = c->n_in;
    for (int k = 0; k < c->n_in; k++) {
        Image a, b;
        MS_TRY(image_of(c, c->in[k], &a));
        MsTensor *y = image_like(c->in[k], a.h, a.w, &b);
        if (!y) return ms_error()->code;
        size_t line = (size_t)a.w * a.pixel;
        for (int64_t r = 0; r < a.h; r++) {
            const char *from = a.data + (size_t)(horizontal ? r : a.h - 1 - r) * line;
            char *to = b.data + (size_t)r * line;
            if (!horizontal)
                memcpy(to, from, line);
            else if (a.w > 0)
                turn(to, from, a.w, a.pixel);
        }
        c->out[k] = y;
    }
    return MS_OK;
}

static MsStatus keep(MsTransformCall *c)
{
    memcpy(c->out, c->in, (size_t)c->n_in * sizeof *c->out);
    return MS_OK;
}

static MsStatus run_hflip(MsTransformCall *c)
{
    return flip(c, true);
}
static MsStatus run_vflip(MsTransformCall *c)
{
    return flip(c, false);
}

static bool lucky(MsTransformCall *c)
{
    return ms__data_unit(c->rng) < (c->op->n_arg > 0 ? c->op->arg[0] : 0.5);
}

static MsStatus run_random_hflip(MsTransformCall *c)
{
    return lucky(c) ? flip(c, true) : keep(c);
}
static MsStatus run_random_vflip(MsTransformCall *c)
{
    return lucky(c) ? flip(c, false) : keep(c);
}

static MsStatus check_prob(MsTransform *t)
{
    if (t->n_arg > 0 && !(t->arg[0] >= 0 && t->arg[0] <= 1))
        return MS_FAIL(MS_ERROR_VALUE, "Input prob is not within the required interval of [0.0, 1.0].");
    return MS_OK;
}

/* Borders, in the order of the enumeration of the skins. */
enum {
    CONSTANT,
    EDGE,
    REFLECT,
    SYMMETRIC
};

/* The source line of line i of a border, or -1 for the constant. */
static int64_t border(int64_t i, int64_t n, int mode)
{
    if (i >= 0 && i < n) return i;
    if (mode == CONSTANT || n == 0) return -1;
    if (mode == EDGE || n == 1) return i < 0 ? 0 : n - 1;
    int64_t period = mode == REFLECT ? 2 * n - 2 : 2 * n;
    i = (i % period + period) % period;
    if (i < n) return i;
    return mode == REFLECT ? period - i : period - 1 - i;
}

/* Fill values as one pixel of x's dtype in buf, which has room for 64 bytes a channel. */
static MsStatus fill_pixel(const MsTensor *x, int64_t channels, const double *rgb, char *pixel)
{
    MsTensor *wide = ms_tensor_empty(MS_FLOAT64, 1, &channels);
    if (!wide) return ms_error()->code;
    for (int64_t k = 0; k < channels; k++) ((double *)wide->data)[k] = rgb[k < 3 ? k : 2];
    MsTensor *narrow = ms__data_cast(wide, (MsDtype)x->dtype);
    if (!narrow) return ms_error()->code;
    memcpy(pixel, narrow->data, (size_t)channels * ms_dtype_size((MsDtype)x->dtype));
    return MS_OK;
}

/* The window [top, top + h) x [left, left + w) of x, which may reach over its edges. */
static MsTensor *window(MsTransformCall *c, MsTensor *x, int64_t top, int64_t left, int64_t h, int64_t w,
                        int mode, const double *rgb)
{
    Image a, b;
    char pixel[1024] = {0};
    if (image_of(c, x, &a) != MS_OK) return NULL;
    if (a.pixel > sizeof pixel)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME, "%s: an image of %lld channels is not supported.",
                            c->op->kind->name, (long long)a.c);
    if (rgb && fill_pixel(x, a.c, rgb, pixel) != MS_OK) return NULL;
    MsTensor *y = image_like(x, h, w, &b);
    if (!y) return NULL;
    int64_t in_from = left < 0 ? -left : 0,
            in_to = a.w - left < w ? a.w - left : w; /* columns that lie inside */
    if (in_from > w) in_from = w;
    if (in_to < in_from) in_to = in_from;
    for (int64_t r = 0; r < h; r++) {
        int64_t row = border(top + r, a.h, mode);
        char *to = b.data + (size_t)(r * w) * a.pixel;
        const char *from = row >= 0 ? a.data + (size_t)(row * a.w) * a.pixel : NULL;
        if (from && in_to > in_from)
            memcpy(to + (size_t)in_from * a.pixel, from + (size_t)(left + in_from) * a.pixel,
                   (size_t)(in_to - in_from) * a.pixel);
        for (int64_t k = 0; k < w; k++) {
            if (from && k == in_from && in_to > in_from) k = in_to;
            if (k >= w) break;
            int64_t col = from ? border(left + k, a.w, mode) : -1;
            memcpy(to + (size_t)k * a.pixel, col >= 0 ? from + (size_t)col * a.pixel : pixel, a.pixel);
        }
    }
    return y;
}

static MsStatus check_size(MsTransform *t)
{
    for (int k = 0; k < 2; k++)
        if (!(t->arg[k] >= 1 && t->arg[k] <= 16777216 && t->arg[k] == floor(t->arg[k])))
            return MS_FAIL(MS_ERROR_VALUE,
                           "Input size at dim %d is not within the required interval of [1, 16777216].", k);
    return MS_OK;
}

static MsStatus run_center_crop(MsTransformCall *c)
{
    int64_t h = (int64_t)c->op->arg[0], w = (int64_t)c->op->arg[1];
    for (int k = 0; k < c->n_in; k++) {
        Image a;
        MS_TRY(image_of(c, c->in[k], &a));
        int64_t top = a.h >= h ? (a.h - h) / 2 : -((h - a.h + 1) / 2),
                left = a.w >= w ? (a.w - w) / 2 : -((w - a.w + 1) / 2);
        if (-top > 3 * a.h || -left > 3 * a.w)
            return MS_FAIL(
                MS_ERROR_RUNTIME,
                "CenterCrop: Padding size cannot be more than 3 times of the original image size, got top "
                "padding: %lld, left padding: %lld, while the original image size: %lld, %lld",
                (long long)(top < 0 ? -top : 0), (long long)(left < 0 ? -left : 0), (long long)a.h,
                (long long)a.w);
        if (!(c->out[k] = window(c, c->in[k], top, left, h, w, CONSTANT, NULL))) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus run_crop(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* top, left, height, width */
    for (int k = 0; k < c->n_in; k++) {
        Image a;
        MS_TRY(image_of(c, c->in[k], &a));
        if (arg[0] < 0 || arg[1] < 0 || arg[2] < 1 || arg[3] < 1 || arg[0] + arg[2] > (double)a.h ||
            arg[1] + arg[3] > (double)a.w)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "Crop: the window at (%g, %g) of size (%g, %g) is not inside the image %s.",
                           arg[0], arg[1], arg[2], arg[3], ms__shape_text(c->in[k]->ndim, c->in[k]->shape));
        c->out[k] = window(c, c->in[k], (int64_t)arg[0], (int64_t)arg[1], (int64_t)arg[2], (int64_t)arg[3],
                           CONSTANT, NULL);
        if (!c->out[k]) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus run_pad(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* left, top, right, bottom, r, g, b, mode */
    for (int k = 0; k < c->n_in; k++) {
        Image a;
        MS_TRY(image_of(c, c->in[k], &a));
        c->out[k] = window(c, c->in[k], -(int64_t)arg[1], -(int64_t)arg[0], a.h + (int64_t)(arg[1] + arg[3]),
                           a.w + (int64_t)(arg[0] + arg[2]), (int)arg[7], arg + 4);
        if (!c->out[k]) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus check_pad(MsTransform *t)
{
    const double *arg = t->arg + (t->n_arg - 8);
    for (int k = 0; k < 4; k++)
        if (!(arg[k] >= 0 && arg[k] <= 16777216))
            return MS_FAIL(MS_ERROR_VALUE,
                           "Input padding is not within the required interval of [0, 16777216].");
    if (!(arg[7] >= CONSTANT && arg[7] <= SYMMETRIC))
        return MS_FAIL(MS_ERROR_VALUE, "There is no such padding mode.");
    return MS_OK;
}

static MsStatus check_random_crop(MsTransform *t)
{
    MS_TRY(check_size(t));
    return check_pad(t);
}

/* All columns are cut at the same place. */
static MsStatus run_random_crop(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* h, w, pad_if_needed, left, top, right, bottom, r, g, b, mode */
    int64_t h = (int64_t)arg[0], w = (int64_t)arg[1], left = (int64_t)arg[3], top = (int64_t)arg[4];
    Image a;
    MS_TRY(image_of(c, c->in[0], &a));
    if (fmax(arg[4], arg[6]) >= 3 * (double)a.h || fmax(arg[3], arg[5]) >= 3 * (double)a.w)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "RandomCrop: padding size is three times bigger than the image size, padding top: %.0f, padding "
            "bottom: %.0f, padding left: %.0f, padding right: %.0f, image shape: %lld, %lld",
            arg[4], arg[6], arg[3], arg[5], (long long)a.h, (long long)a.w);
    int64_t all_h = a.h + top + (int64_t)arg[6], all_w = a.w + left + (int64_t)arg[5];
    if (arg[2] != 0 && all_w < w) left += w - all_w, all_w += 2 * (w - all_w);
    if (arg[2] != 0 && all_h < h) top += h - all_h, all_h += 2 * (h - all_h);
    if (all_h < h || all_w < w)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "RandomCrop: invalid crop size, crop size is bigger than the image dimensions, got crop height: "
            "%lld, crop width: %lld for an image (with padding) of %lld x %lld",
            (long long)h, (long long)w, (long long)all_h, (long long)all_w);
    int64_t y = (int64_t)ms__data_below(c->rng, (uint64_t)(all_h - h) + 1) - top;
    int64_t x = (int64_t)ms__data_below(c->rng, (uint64_t)(all_w - w) + 1) - left;
    for (int k = 0; k < c->n_in; k++) {
        Image b;
        MS_TRY(image_of(c, c->in[k], &b));
        if (b.h != a.h || b.w != a.w)
            return MS_FAIL(MS_ERROR_RUNTIME, "RandomCrop: the images of one row must be of one size.");
        if (!(c->out[k] = window(c, c->in[k], y, x, h, w, (int)arg[10], arg + 7))) return ms_error()->code;
    }
    return MS_OK;
}

/* ---- resizing ---- */

static MsStatus check_resize(MsTransform *t)
{
    if (!(t->arg[0] >= 1 && t->arg[0] <= 16777216 && t->arg[1] >= 0 && t->arg[1] <= 16777216))
        return MS_FAIL(MS_ERROR_VALUE, "Input size is not within the required interval of [1, 16777216].");
    if (!(t->arg[2] >= MS_INTER_NEAREST && t->arg[2] <= MS_INTER_PILCUBIC))
        return MS_FAIL(MS_ERROR_VALUE, "For 'Resize', there is no such interpolation.");
    return MS_OK;
}

static MsStatus run_resize(MsTransformCall *c)
{
    for (int k = 0; k < c->n_in; k++) {
        Image a;
        int64_t h, w;
        MS_TRY(image_of(c, c->in[k], &a));
        if (a.h == 0 || a.w == 0) return MS_FAIL(MS_ERROR_RUNTIME, "Resize: the image is empty.");
        ms__resize_target(c->op->arg, a.h, a.w, &h, &w);
        if (h < 1 || w < 1) return MS_FAIL(MS_ERROR_RUNTIME, "Resize: the image would have no pixels.");
        c->out[k] = ms__image_resize(c->in[k], NULL, NULL, h, w, (int)c->op->arg[2], NULL);
        if (!c->out[k]) return ms_error()->code;
    }
    return MS_OK;
}

#define MOVES (MS_TAKES_MANY | MS_TAKES_FRAMES | MS_IMAGE_TYPES)
#define PAD_SIG "left, top, right, bottom, r, g, b, mode"

const MsTransformKind ms__transforms_vision[] = {
    {"Rescale", "rescale, shift", 2, 2, false, NULL, run_affine, stage_rescale},
    {"Normalize", "is_hwc, mean of each channel, std of each channel", 3, INT_MAX, MS_TAKES_FRAMES,
     check_normalize, run_affine, stage_normalize},
    {"HWC2CHW", "", 0, 0, false, NULL, run_chw, stage_chw},
    {"ToTensor", "output_type=float32", 0, 1, MS_TAKES_TEXT, NULL, run_to_tensor, stage_to_tensor},
    {"Resize", "height, width (0 = keep the aspect), interpolation", 3, 3, MOVES, check_resize, run_resize,
     NULL},
    {"CenterCrop", "height, width", 2, 2, MS_TAKES_MANY | MS_TAKES_FRAMES, check_size, run_center_crop, NULL},
    {"Crop", "top, left, height, width", 4, 4, true, NULL, run_crop, NULL},
    {"Pad", PAD_SIG, 8, 8, MS_TAKES_MANY | MS_IMAGE_TYPES | MS_IMAGE_FLAT | MS_IMAGE_GREY_RGB, check_pad,
     run_pad, NULL},
    {"RandomCrop", "height, width, pad_if_needed, " PAD_SIG, 11, 11, MOVES | MS_IMAGE_GREY_RGB,
     check_random_crop, run_random_crop, NULL},
    {"HorizontalFlip", "", 0, 0, MOVES, NULL, run_hflip, NULL},
    {"VerticalFlip", "", 0, 0, MOVES, NULL, run_vflip, NULL},
    {"RandomHorizontalFlip", "prob=0.5", 0, 1, MOVES, check_prob, run_random_hflip, NULL},
    {"RandomVerticalFlip", "prob=0.5", 0, 1, true, check_prob, run_random_vflip, NULL},
    {.name = NULL},
};
