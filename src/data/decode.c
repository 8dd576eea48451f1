/* decode.c - Decode, the random crop that is resized, and both at once. A map that decodes and then resizes or crops
 * runs as one step: only the pixels that the result needs are decoded and computed, with the bits that the transforms
 * give one by one. A random crop at least twice as large as its target is decoded at half size (a quarter, an eighth),
 * which also averages what bilinear sampling would skip; there the fused step differs from the single transforms. */
#include "data/image.h"

#include "core/tensor.h"

#include <math.h>
#include <string.h>

static MsStatus bytes_of(const char *op, MsTensor *x, const uint8_t **p, size_t *n)
{
    bool text = x->dtype == MS_BYTES && x->numel == x->shape[x->ndim - 1];
    if (x->ndim != 1 && !text)
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: invalid input shape, only support 1D input, got rank: %d", op,
                       x->ndim);
    if (x->dtype != MS_UINT8 && x->dtype != MS_INT8 && !text)
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: the bytes of an image must be uint8, but got %s.", op,
                       ms_dtype_name((MsDtype)x->dtype));
    *p = (const uint8_t *)x->data, *n = (size_t)x->numel;
    return *n ? MS_OK : MS_FAIL(MS_ERROR_RUNTIME, "%s: image decode failed, there are no bytes.", op);
}

static MsStatus run_decode(MsTransformCall *c)
{
    const uint8_t *p;
    size_t n;
    MsWindow got;
    MS_TRY(bytes_of("Decode", c->in[0], &p, &n));
    c->out[0] = ms__image_decode(p, n, NULL, 0, &got);
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* ---- random resized crop: h, w, scale low, high, ratio low, high, interpolation, attempts ---- */

static MsWindow draw_crop(const double *arg, MsDataRng *rng, int64_t h, int64_t w)
{
    double area = (double)h * (double)w, low = log(arg[4]), high = log(arg[5]);
    for (int k = 0; k < (int)arg[7]; k++) {
        double want = area * (arg[2] + (arg[3] - arg[2]) * ms__data_unit(rng));
        double ratio = exp(low + (high - low) * ms__data_unit(rng));
        int64_t cw = llrint(sqrt(want * ratio)), ch = llrint(sqrt(want / ratio));
        if (cw < 1 || ch < 1 || cw > w || ch > h) continue;
        MsWindow y = {.h = ch, .w = cw};
        y.left = (int64_t)ms__data_below(rng, (uint64_t)(w - cw) + 1);
        y.top = (int64_t)ms__data_below(rng, (uint64_t)(h - ch) + 1);
        return y;
    }
    double ratio = (double)w / (double)h; /* the largest centred window with a ratio in range */
    MsWindow y = {.h = h, .w = w};
    if (ratio < arg[4])
        y.h = llrint((double)w / arg[4]);
    else if (ratio > arg[5])
        y.w = llrint((double)h * arg[5]);
    y.h = y.h < 1 ? 1 : y.h > h ? h : y.h;
    y.w = y.w < 1 ? 1 : y.w > w ? w : y.w;
    y.top = (h - y.h) / 2, y.left = (w - y.w) / 2;
    return y;
}

static MsStatus check_crop(MsTransform *t)
{
    const double *arg = t->arg;
    if (!(arg[0] >= 1 && arg[0] <= 16777216 && arg[1] >= 1 && arg[1] <= 16777216))
        return MS_FAIL(MS_ERROR_VALUE, "Input size is not within the required interval of [1, 16777216].");
    if (!(arg[2] >= 0 && arg[3] > 0 && arg[2] <= arg[3]) || !(arg[4] > 0 && arg[4] <= arg[5]))
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', scale and ratio must be (min, max) ranges above 0.",
                       t->kind->name);
    if (!(arg[6] >= 0 && arg[6] <= MS_INTER_PILCUBIC))
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', there is no such interpolation.", t->kind->name);
    return arg[7] >= 1 ? MS_OK : MS_FAIL(MS_ERROR_VALUE, "Input max_attempts must be at least 1.");
}

/* All columns are cut at the same place. */
static MsStatus run_random_resized_crop(MsTransformCall *c)
{
    const double *arg = c->op->arg;
    MsWindow crop = {0};
    for (int k = 0; k < c->n_in; k++) {
        MsTensor *x = c->in[k];
        if (x->ndim != 2 && x->ndim != 3)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "RandomResizedCrop: the image must be of shape <H,W> or <H,W,C>, but got %s.",
                           ms__shape_text(x->ndim, x->shape));
        if (k > 0 && (x->shape[0] != c->in[0]->shape[0] || x->shape[1] != c->in[0]->shape[1]))
            return MS_FAIL(MS_ERROR_RUNTIME, "RandomResizedCrop: the images of one row must be of one size.");
        if (x->shape[0] < 1 || x->shape[1] < 1)
            return MS_FAIL(MS_ERROR_RUNTIME, "RandomResizedCrop: the image is empty.");
        if (k == 0) crop = draw_crop(arg, c->rng, x->shape[0], x->shape[1]);
        c->out[k] = ms__image_resize(x, NULL, &crop, (int64_t)arg[0], (int64_t)arg[1], (int)arg[6], NULL);
        if (!c->out[k]) return ms_error()->code;
    }
    return MS_OK;
}

/* ---- decoding only what is needed ---- */

static MsTensor *decode_resize(const uint8_t *p, size_t n, MsWindow part, int64_t h, int64_t w, int inter,
                               const MsWindow *keep, bool may_halve)
{
    MsWindow all = {0, 0, h, w}, got;
    int halve = 0;
    if (!keep) keep = &all;
    if (may_halve && inter != MS_INTER_NEAREST && ms__image_is_jpeg(p, n))
        while (halve < 3 && part.h >> (halve + 1) >= h && part.w >> (halve + 1) >= w) halve++;
    part = (MsWindow){part.top >> halve, part.left >> halve, part.h >> halve, part.w >> halve};
    MsWindow need = ms__resize_needs(&part, h, w, inter, keep);
    MsTensor *x = ms__image_decode(p, n, &need, halve, &got);
    return x ? ms__image_resize(x, &got, &part, h, w, inter, keep) : NULL;
}

static MsStatus run_crop_decode(MsTransformCall *c)
{
    const uint8_t *p;
    size_t n;
    int64_t h, w;
    const double *arg = c->op->arg;
    if (c->in[0]->ndim == 3) return run_random_resized_crop(c); /* already decoded */
    MS_TRY(bytes_of("RandomCropDecodeResize", c->in[0], &p, &n));
    MS_TRY(ms__image_size(p, n, &h, &w));
    c->out[0] = decode_resize(p, n, draw_crop(arg, c->rng, h, w), (int64_t)arg[0], (int64_t)arg[1],
                              (int)arg[6], NULL, true);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static bool is(const MsTransform *t, const char *name)
{
    return strcmp(t->kind->name, name) == 0;
}

int ms__decode_fuses(int n, MsTransform *const *op)
{
    if (n < 2 || !is(op[0], "Decode")) return 0;
    if (is(op[1], "RandomResizedCrop")) return 2;
    if (!is(op[1], "Resize")) return 0;
    return n > 2 && is(op[2], "CenterCrop") ? 3 : 2;
}

void ms__resize_target(const double *arg, int64_t in_h, int64_t in_w, int64_t *h, int64_t *w)
{
    *h = (int64_t)arg[0], *w = (int64_t)arg[1];
    if (*w != 0) return;
    int64_t edge = *h; /* the shorter edge becomes h */
    *w = in_w < in_h ? edge : edge * in_w / in_h;
    if (in_w < in_h) *h = edge * in_h / in_w;
}

MsStatus ms__decode_run(int n, MsTransform *const *op, MsDataRng *rng, MsTensor *x, MsTensor **y, int *done)
{
    const uint8_t *p;
    size_t size;
    int64_t in_h, in_w, h, w;
    MS_TRY(bytes_of("Decode", x, &p, &size));
    MS_TRY(ms__image_size(p, size, &in_h, &in_w));
    const double *arg = op[1]->arg;
    *done = 2;
    if (is(op[1], "RandomResizedCrop")) {
        *y = decode_resize(p, size, draw_crop(arg, rng, in_h, in_w), (int64_t)arg[0], (int64_t)arg[1],
                           (int)arg[6], NULL, true);
        return *y ? MS_OK : ms_error()->code;
    }
    ms__resize_target(arg, in_h, in_w, &h, &w);
    MsWindow keep = {0, 0, h, w};
    if (n > 2) {
        int64_t ch = (int64_t)op[2]->arg[0], cw = (int64_t)op[2]->arg[1];
        if (ch <= h && cw <= w) {
            keep = (MsWindow){(h - ch) / 2, (w - cw) / 2, ch, cw};
            *done = 3;
        }
    }
    if (h < 1 || w < 1) return MS_FAIL(MS_ERROR_RUNTIME, "Resize: the image would have no pixels.");
    *y = decode_resize(p, size, (MsWindow){0, 0, in_h, in_w}, h, w, (int)arg[2], &keep, false);
    return *y ? MS_OK : ms_error()->code;
}

#define CROP_SIG "height, width, scale min, scale max, ratio min, ratio max, interpolation, max_attempts"

const MsTransformKind ms__transforms_decode[] = {
    {"Decode", "", 0, 0, MS_TAKES_TEXT, NULL, run_decode, NULL},
    {"RandomResizedCrop", CROP_SIG, 8, 8, MS_TAKES_MANY | MS_TAKES_TEXT, check_crop, run_random_resized_crop,
     NULL},
    {"RandomCropDecodeResize", CROP_SIG, 8, 8, MS_TAKES_TEXT, check_crop, run_crop_decode, NULL},
    {.name = NULL},
};
