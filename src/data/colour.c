/* colour.c - transforms of values: brightness, contrast, saturation, hue, sharpness, histograms, blur, erasing. Images are
 * uint8 <H, W, 3> unless said otherwise, values round to the nearest and saturate. The formulas are those of ITU-R BT.601
 * luma (0.299, 0.587, 0.114) and hexagonal HSV. A random one draws its numbers, then runs the same code as the fixed one. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC optimize("O3")

static uint8_t clip(float v)
{
    return v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)lrintf(v);
}

static MsTensor *like(MsTensor *x)
{
    return ms_tensor_empty((MsDtype)x->dtype, x->ndim, x->shape);
}

/* channels 0: any image, 3: <H, W, 3> only; -1: any shape. bool counts as the numbers 0 and 1. */
static MsStatus need_u8(MsTransformCall *c, int channels)
{
    MsTensor *x = c->in[0];
    bool shape = channels < 0 || x->ndim == 3 || (x->ndim == 2 && channels == 0);
    if (!shape || (channels > 0 && x->shape[2] != channels))
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: image shape is not <H,W,C>%s, got rank: %d, and shape: %s",
                       c->op->kind->name, channels ? " or channel is not 3" : " or <H,W>", x->ndim,
                       ms__shape_text(x->ndim, x->shape));
    if (x->dtype != MS_UINT8 && x->dtype != MS_BOOL)
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: input image is not in type of uint8, but got: %s",
                       c->op->kind->name, ms_dtype_name((MsDtype)x->dtype));
    c->out[0] = ms_tensor_empty(MS_UINT8, x->ndim, x->shape);
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* a * x + b where low <= x <= high, of any type, rounded and saturated as integers are; the rest stays. */
static MsStatus linear(MsTransformCall *c, double a, double b, double low, double high)
{
    static const struct {
        MsDtype dtype;
        double low, high;
    } range[] = {{MS_UINT8, 0, 255},
                 {MS_INT8, -128, 127},
                 {MS_UINT16, 0, 65535},
                 {MS_INT16, -32768, 32767},
                 {MS_INT32, -0x1p31, 0x1p31 - 1},
                 {MS_BOOL, 0, 255}};
    MsTensor *x = c->in[0], *wide = ms__data_cast(x, MS_FLOAT64), *y = wide ? like(wide) : NULL;
    if (!y) return ms_error()->code;
    const double *p = (const double *)wide->data;
    double *q = (double *)y->data;
    for (int64_t i = 0; i < y->numel; i++) q[i] = p[i] >= low && p[i] <= high ? p[i] * a + b : p[i];
    for (size_t k = 0; k < sizeof range / sizeof *range; k++)
        for (int64_t i = 0; range[k].dtype == (MsDtype)x->dtype && i < y->numel; i++)
            q[i] = fmin(fmax(rint(q[i]), range[k].low), range[k].high);
    c->out[0] = ms__data_cast(y, (MsDtype)x->dtype);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static bool is_u8(const MsTransformCall *c)
{
    return c->in[0]->dtype == MS_UINT8;
}

static float luma(const uint8_t *p)
{
    return 0.299f * p[0] + 0.587f * p[1] + 0.114f * p[2];
}

static double between(MsTransformCall *c, double a, double b)
{
    return a + (b - a) * ms__data_unit(c->rng);
}

/* ---- by a table of 256 values ---- */

static MsStatus by_table(MsTransformCall *c, const uint8_t *table)
{
    const uint8_t *p = (const uint8_t *)c->in[0]->data;
    uint8_t *q = (uint8_t *)c->out[0]->data;
    for (int64_t i = 0; i < c->in[0]->numel; i++) q[i] = table[p[i]];
    return MS_OK;
}

static MsStatus brightness(MsTransformCall *c, double factor)
{
    uint8_t table[256];
    if (!is_u8(c)) return linear(c, factor, 0, -INFINITY, INFINITY);
    MS_TRY(need_u8(c, 0));
    for (int v = 0; v < 256; v++) table[v] = clip((float)(v * factor));
    return by_table(c, table);
}

static MsStatus solarize(MsTransformCall *c, double low, double high)
{
    uint8_t table[256];
    if (!is_u8(c)) return linear(c, -1, 255, low, low == high ? INFINITY : high);
    MS_TRY(need_u8(c, 0));
    for (int v = 0; v < 256; v++) {
        bool inside = low == high ? v >= low : v >= low && v <= high;
        table[v] = (uint8_t)(inside ? 255 - v : v);
    }
    return by_table(c, table);
}

static MsStatus posterize(MsTransformCall *c, int bits)
{
    uint8_t table[256];
    if (c->in[0]->dtype == MS_INT8) { /* the same bits */
        MsTensor *x = ms_tensor_from(MS_UINT8, c->in[0]->ndim, c->in[0]->shape, c->in[0]->data);
        MsTransformCall as_u8 = *c;
        as_u8.in = &x;
        return x ? posterize(&as_u8, bits) : ms_error()->code;
    }
    MS_TRY(need_u8(c, 0));
    for (int v = 0; v < 256; v++) table[v] = (uint8_t)(v & ~((1 << (8 - bits)) - 1));
    return by_table(c, table);
}

static MsStatus invert(MsTransformCall *c)
{
    uint8_t table[256];
    if (!is_u8(c)) return linear(c, -1, 255, -INFINITY, INFINITY);
    MS_TRY(need_u8(c, 0));
    for (int v = 0; v < 256; v++) table[v] = (uint8_t)(255 - v);
    return by_table(c, table);
}

/* Integers are of 0..255, floats of 0..1 and become float32. */
static MsStatus gamma_of(MsTransformCall *c, double gamma, double gain)
{
    MsTensor *x = c->in[0];
    int64_t channels = x->ndim < 3 ? 1 : x->shape[x->ndim - 1];
    bool is_float = ms_dtype_is_float((MsDtype)x->dtype);
    if (x->ndim < 2)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "AdjustGamma: input tensor is not in shape of <...,H,W,C> or <H,W>, got shape:%s",
                       ms__shape_text(x->ndim, x->shape));
    if (channels != 1 && channels != 3)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "AdjustGamma: channel of input image should be 1 or 3, but got: %lld",
                       (long long)channels);
    if (!is_u8(c)) {
        MsTensor *y = ms__data_cast(x, MS_FLOAT32);
        MsTensor *z = y ? like(y) : NULL;
        if (!z) return ms_error()->code;
        double unit = is_float ? 1 : 255, whole = is_float ? 1 : 256 - 1e-3;
        for (int64_t i = 0; i < y->numel; i++) {
            double v = whole * gain * pow(((float *)y->data)[i] / unit, gamma);
            ((float *)z->data)[i] = (float)fmin(fmax(is_float ? v : floor(v), 0), unit);
        }
        c->out[0] = ms__data_cast(z, is_float ? MS_FLOAT32 : (MsDtype)x->dtype);
        return c->out[0] ? MS_OK : ms_error()->code;
    }
    uint8_t table[256];
    MS_TRY(need_u8(c, -1));
    for (int v = 0; v < 256; v++) {
        double y =
            (256 - 1e-3) * gain * pow(v / 255.0, gamma); /* so that 255 fills its share of the scale too */
        table[v] = (uint8_t)(y <= 0 ? 0 : y >= 255 ? 255 : y);
    }
    return by_table(c, table);
}

/* ---- histograms: one table per channel ---- */

static void by_tables(MsTransformCall *c, int64_t channels, uint8_t (*table)[256])
{
    const uint8_t *p = (const uint8_t *)c->in[0]->data;
    uint8_t *q = (uint8_t *)c->out[0]->data;
    for (int64_t i = 0; i < c->in[0]->numel; i++) q[i] = table[i % channels][p[i]];
}

static MsStatus histogram(MsTransformCall *c, int64_t *channels, int64_t (*count)[256])
{
    MS_TRY(need_u8(c, 0));
    MsTensor *x = c->in[0];
    *channels = x->ndim == 3 ? x->shape[2] : 1;
    if (*channels != 1 && *channels != 3)
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: channel of input image should be 1 or 3, but got: %lld",
                       c->op->kind->name, (long long)*channels);
    memset(count, 0, 3 * sizeof *count);
    const uint8_t *p = (const uint8_t *)x->data;
    for (int64_t i = 0; i < x->numel; i++) count[i % *channels][p[i]]++;
    return MS_OK;
}

/* n_ignore: values that count as cut off, beside `cutoff` percent at each end. */
static MsStatus auto_contrast(MsTransformCall *c, double cutoff, int n_ignore, const double *ignore)
{
    int64_t channels, count[4][256];
    uint8_t table[4][256];
    MS_TRY(histogram(c, &channels, count));
    for (int64_t k = 0; k < channels; k++) {
        for (int i = 0; i < n_ignore; i++)
            if (ignore[i] >= 0 && ignore[i] < 256) count[k][(int)ignore[i]] = 0;
        int64_t n = 0;
        for (int v = 0; v < 256; v++) n += count[k][v];
        for (int side = 0; cutoff > 0 && side < 2; side++) {
            int64_t cut = (int64_t)((double)n * cutoff / 100);
            for (int v = side ? 255 : 0; cut > 0 && v >= 0 && v < 256; v += side ? -1 : 1) {
                int64_t take = cut < count[k][v] ? cut : count[k][v];
                count[k][v] -= take, cut -= take;
            }
        }
        int low = 0, high = 255;
        while (low < 255 && !count[k][low]) low++;
        while (high > 0 && !count[k][high]) high--;
        float scale = high > low ? 255.0f / (float)(high - low) : 1;
        float offset = high > low ? -(float)low * scale : 0;
        for (int v = 0; v < 256; v++) {
            float y = (float)v * scale + offset;
            table[k][v] = (uint8_t)(y <= 0 ? 0 : y >= 255 ? 255 : (int)y);
        }
    }
    by_tables(c, channels, table);
    return MS_OK;
}

static MsStatus equalize(MsTransformCall *c)
{
    int64_t channels, count[4][256];
    uint8_t table[4][256];
    MS_TRY(histogram(c, &channels, count));
    for (int64_t k = 0; k < channels; k++) {
        int64_t n = 0, first = -1, sum = 0;
        for (int v = 0; v < 256; v++) {
            if (first < 0 && count[k][v]) first = v;
            n += count[k][v];
        }
        int64_t rest = first < 0 ? 0 : n - count[k][first]; /* the darkest value becomes 0 */
        float scale = rest ? 255.0f / (float)rest : 0;
        for (int v = 0; v < 256; v++) {
            if (v > first) sum += count[k][v];
            table[k][v] = rest ? clip(rintf((float)sum * scale)) : (uint8_t)v;
        }
    }
    by_tables(c, channels, table);
    return MS_OK;
}

/* ---- blends with another image: factor 1 = the image, 0 = the other ---- */

static MsStatus contrast(MsTransformCall *c, double factor)
{
    if (!is_u8(c)) {
        MsTensor *f = ms__data_cast(c->in[0], MS_FLOAT32);
        if (!f) return ms_error()->code;
        const float *v = (const float *)f->data;
        bool is_float = c->in[0]->dtype == MS_FLOAT32;
        double sum = 0, count = (double)f->numel / 3;
        for (int64_t i = 0; i < f->numel; i += 3) {
            float y = 0.299f * v[i] + 0.587f * v[i + 1] + 0.114f * v[i + 2];
            sum += is_float ? y : rintf(y);
        }
        double mean = count > 0 ? sum / count : 0;
        return linear(c, factor, (is_float ? mean : floor(mean + 0.5)) * (1 - factor), -INFINITY, INFINITY);
    }
    MS_TRY(need_u8(c, 3));
    const uint8_t *p = (const uint8_t *)c->in[0]->data;
    uint8_t table[256];
    int64_t n = c->in[0]->numel / 3;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += lrintf(luma(p + 3 * i));
    float mean = n ? (float)(int)(sum / (double)n + 0.5) : 0;
    for (int v = 0; v < 256; v++) table[v] = clip((float)(mean * (1 - factor) + v * factor));
    return by_table(c, table);
}

/* The grey of a pixel and the pixel, in shares 1 - f and f, of uint16 and float32. */
static MsStatus wide_saturation(MsTransformCall *c, float f)
{
    bool is_float = c->in[0]->dtype == MS_FLOAT32;
    MsTensor *x = ms__data_cast(c->in[0], MS_FLOAT32), *y = x ? like(x) : NULL;
    if (!y) return ms_error()->code;
    const float *p = (const float *)x->data;
    float *q = (float *)y->data;
    for (int64_t i = 0; i < x->numel; i += 3) {
        float grey = 0.299f * p[i] + 0.587f * p[i + 1] + 0.114f * p[i + 2];
        for (int k = 0; k < 3; k++) {
            float v = (is_float ? grey : rintf(grey)) * (1 - f) + p[i + k] * f;
            q[i + k] = is_float ? v : fminf(fmaxf(rintf(v), 0), 65535);
        }
    }
    c->out[0] = ms__data_cast(y, (MsDtype)c->in[0]->dtype);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static MsStatus saturation(MsTransformCall *c, double factor)
{
    if (c->in[0]->dtype == MS_FLOAT32 || c->in[0]->dtype == MS_UINT16)
        return wide_saturation(c, (float)factor);
    MS_TRY(need_u8(c, 3));
    const uint8_t *p = (const uint8_t *)c->in[0]->data;
    uint8_t *q = (uint8_t *)c->out[0]->data;
    float f = (float)factor;
    for (int64_t i = 0; i < c->in[0]->numel; i += 3) {
        float grey = (float)lrintf(luma(p + i)) * (1 - f);
        for (int k = 0; k < 3; k++) q[i + k] = clip(grey + p[i + k] * f);
    }
    return MS_OK;
}

/* Hue in sixths of the circle and saturation of 0..1; `high` is the value. Of bytes both are of 8 bits, the hue in steps of
 * a 256th and shifted by `steps` of them; their quotients are fixed point numbers of 12 bits. */
static void hexagon(const float *p, bool bytes, int steps, float *h, float *s, float *high)
{
    float r = p[0], g = p[1], b = p[2], low = fminf(r, fminf(g, b));
    *high = fmaxf(r, fmaxf(g, b));
    float d = *high - low, turn = *high == r ? g - b : *high == g ? b - r + 2 * d : r - g + 4 * d;
    if (!bytes) {
        *s = *high > 0 ? d / *high : 0;
        *h = d > 0 ? turn / d : 0;
        return;
    }
    int per_hue = d > 0 ? (int)lrint(256 * 4096 / (6.0 * d)) : 0,
        per_s = *high > 0 ? (int)lrint(255 * 4096 / (double)*high) : 0;
    *s = (float)(((int)d * per_s + 2048) >> 12) / 255;
    *h = (float)(((((int)turn * per_hue + 2048) >> 12) + steps) & 255) * (6.0f / 255);
}

static MsStatus hue(MsTransformCall *c, double shift)
{
    bool bytes = is_u8(c);
    MsTensor *x = ms__data_cast(c->in[0], MS_FLOAT32), *y = x ? like(x) : NULL;
    if (bytes) MS_TRY(need_u8(c, 3));
    if (!y) return ms_error()->code;
    const float *p = (const float *)x->data;
    float *q = (float *)y->data;
    int steps = (int)(shift * 255);
    for (int64_t i = 0; i < x->numel; i += 3) {
        float h, s, high;
        hexagon(p + i, bytes, steps, &h, &s, &high);
        if (!bytes) h += (float)shift * 6;
        h -= 6 * floorf(h / 6);
        for (int k = 0; k < 3; k++) { /* 5, 3, 1 for r, g, b */
            float t = fmodf(h + (float)(5 - 2 * k), 6);
            float v = high - high * s * fmaxf(0, fminf(fminf(t, 4 - t), 1));
            q[i + k] = bytes ? clip(v) : v;
        }
    }
    c->out[0] = ms__data_cast(y, (MsDtype)c->in[0]->dtype);
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* The other image: a 3x3 mean with weight 5 at the centre; the border stays. */
static MsStatus wide_sharpness(MsTransformCall *c, double factor)
{
    MsTensor *x = ms__data_cast(c->in[0], MS_FLOAT64),
             *s = x ? ms_tensor_from(MS_FLOAT64, x->ndim, x->shape, x->data) : NULL;
    if (!s) return ms_error()->code;
    int64_t h = x->shape[0], w = x->shape[1], n = x->ndim == 3 ? x->shape[2] : 1, line = w * n;
    double low = c->in[0]->dtype == MS_UINT16 ? 0 : -32768,
           high = c->in[0]->dtype == MS_UINT16 ? 65535 : 32767;
    bool whole = !ms_dtype_is_float((MsDtype)c->in[0]->dtype);
    const double *p = (const double *)x->data;
    double *q = (double *)s->data;
    for (int64_t i = 1; i + 1 < h; i++)
        for (int64_t j = n; j < line - n; j++) {
            const double *m = p + i * line + j;
            double smooth = (m[-line - n] + m[-line] + m[-line + n] + m[-n] + 5 * m[0] + m[n] + m[line - n] +
                             m[line] + m[line + n]) /
                            13;
            double v = (whole ? rint(smooth) : smooth) * (1 - factor) + m[0] * factor;
            q[i * line + j] = whole ? fmin(fmax(rint(v), low), high) : v;
        }
    c->out[0] = ms__data_cast(s, (MsDtype)c->in[0]->dtype);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static MsStatus sharpness(MsTransformCall *c, double factor)
{
    MsTensor *x = c->in[0];
    if (x->ndim != 2 && x->ndim != 3)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "Sharpness: shape of input is not <H,W,C> or <H,W>, but got rank: %d", x->ndim);
    if (x->dtype == MS_UINT16 || x->dtype == MS_INT16 || x->dtype == MS_FLOAT32 || x->dtype == MS_FLOAT64)
        return wide_sharpness(c, factor);
    MS_TRY(need_u8(c, 0));
    int64_t h = x->shape[0], w = x->shape[1], n = x->ndim == 3 ? x->shape[2] : 1, line = w * n;
    const uint8_t *p = (const uint8_t *)x->data;
    uint8_t *q = (uint8_t *)c->out[0]->data;
    float f = (float)factor;
    memcpy(q, p, (size_t)x->numel);
    for (int64_t i = 1; i + 1 < h; i++)
        for (int64_t j = n; j < line - n; j++) {
            const uint8_t *m = p + i * line + j;
            int sum = m[-line - n] + m[-line] + m[-line + n] + m[-n] + 5 * m[0] + m[n] + m[line - n] +
                      m[line] + m[line + n];
            float smooth = (float)((sum + 6) / 13);
            q[i * line + j] = clip(smooth * (1 - f) + (float)m[0] * f);
        }
    return MS_OK;
}

/* ---- fixed: one factor ---- */

static MsStatus run_brightness(MsTransformCall *c)
{
    return brightness(c, c->op->arg[0]);
}
static MsStatus run_contrast(MsTransformCall *c)
{
    return contrast(c, c->op->arg[0]);
}
static MsStatus run_saturation(MsTransformCall *c)
{
    return saturation(c, c->op->arg[0]);
}
static MsStatus run_hue(MsTransformCall *c)
{
    return hue(c, c->op->arg[0]);
}
static MsStatus run_sharpness(MsTransformCall *c)
{
    return sharpness(c, c->op->arg[0]);
}
static MsStatus run_gamma(MsTransformCall *c)
{
    return gamma_of(c, c->op->arg[0], c->op->arg[1]);
}
static MsStatus run_invert(MsTransformCall *c)
{
    return invert(c);
}
static MsStatus run_equalize(MsTransformCall *c)
{
    return equalize(c);
}
static MsStatus run_solarize(MsTransformCall *c)
{
    return solarize(c, c->op->arg[0], c->op->arg[1]);
}
static MsStatus run_posterize(MsTransformCall *c)
{
    return posterize(c, (int)c->op->arg[0]);
}
static MsStatus run_auto_contrast(MsTransformCall *c)
{
    return auto_contrast(c, c->op->arg[0], c->op->n_arg - 1, c->op->arg + 1);
}

/* ---- random ---- */

static bool lucky(MsTransformCall *c, double prob)
{
    c->out[0] = c->in[0];
    return ms__data_unit(c->rng) < prob;
}

static MsStatus run_random_invert(MsTransformCall *c)
{
    return lucky(c, c->op->arg[0]) ? invert(c) : MS_OK;
}
static MsStatus run_random_equalize(MsTransformCall *c)
{
    return lucky(c, c->op->arg[0]) ? equalize(c) : MS_OK;
}
static MsStatus run_random_auto_contrast(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* prob, cutoff, ignored values */
    return lucky(c, arg[0]) ? auto_contrast(c, arg[1], c->op->n_arg - 2, arg + 2) : MS_OK;
}
static MsStatus run_random_sharpness(MsTransformCall *c)
{
    return sharpness(c, between(c, c->op->arg[0], c->op->arg[1]));
}
static MsStatus run_random_color(MsTransformCall *c)
{
    return saturation(c, between(c, c->op->arg[0], c->op->arg[1]));
}
static MsStatus run_random_adjust_sharpness(MsTransformCall *c)
{
    return lucky(c, c->op->arg[1]) ? sharpness(c, c->op->arg[0]) : MS_OK;
}
static MsStatus run_random_posterize(MsTransformCall *c)
{
    double low = c->op->arg[0], high = c->op->arg[1];
    return posterize(c, (int)(low + (double)ms__data_below(c->rng, (uint64_t)(high - low) + 1)));
}
static MsStatus run_random_solarize(MsTransformCall *c)
{
    double low = c->op->arg[0], high = c->op->arg[1];
    uint64_t n = (uint64_t)(high - low) + 1;
    double a = low + (double)ms__data_below(c->rng, n), b = low + (double)ms__data_below(c->rng, n);
    return low == high ? solarize(c, low, low) : solarize(c, fmin(a, b), fmax(a, b));
}

/* brightness, contrast, saturation (min, max each) and hue, in random order; a range of one value 1 (hue: 0) is idle. */
static MsStatus run_color_adjust(MsTransformCall *c)
{
    MsStatus (*const step[])(MsTransformCall *, double) = {brightness, contrast, saturation, hue};
    int order[4] = {0, 1, 2, 3};
    MsTensor *x = c->in[0];
    MsTransformCall inner = *c;
    for (int k = 3; k > 0; k--) {
        int j = (int)ms__data_below(c->rng, (uint64_t)k + 1), keep = order[k];
        order[k] = order[j], order[j] = keep;
    }
    for (int k = 0; k < 4; k++) {
        int which = order[k];
        double low = c->op->arg[2 * which], high = c->op->arg[2 * which + 1], idle = which == 3 ? 0 : 1;
        if (low == idle && high == idle) continue;
        MsTensor *in = x;
        inner.in = &in;
        MS_TRY(ms__image_check(&ms__transforms_colour[which], x)); /* the table begins with these four */
        MS_TRY(step[which](&inner, between(c, low, high)));
        x = inner.out[0];
    }
    c->out[0] = x;
    return MS_OK;
}

/* HWC of 3 channels to grey: one channel, or three equal ones. prob < 1: random. */
static MsStatus run_grayscale(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* channels (0: as the image), prob */
    c->out[0] = c->in[0];
    if (arg[1] < 1 && !(ms__data_unit(c->rng) < arg[1])) return MS_OK;
    MS_TRY(need_u8(c, 3));
    const uint8_t *p = (const uint8_t *)c->in[0]->data;
    int64_t n = c->in[0]->numel / 3, channels = arg[0] == 1 ? 1 : 3;
    int64_t shape[3] = {c->in[0]->shape[0], c->in[0]->shape[1], channels};
    c->out[0] = ms_tensor_empty(MS_UINT8, arg[0] == 1 ? 2 : 3, shape);
    if (!c->out[0]) return ms_error()->code;
    uint8_t *q = (uint8_t *)c->out[0]->data;
    for (int64_t i = 0; i < n; i++) memset(q + i * channels, clip(luma(p + 3 * i)), (size_t)channels);
    return MS_OK;
}

/* Random permutation of the channels, and another order of them: RandomLighting adds colour along principal axes. */
static MsStatus run_lighting(MsTransformCall *c)
{
    static const double value[3] = {55.46, 4.794, 1.148}; /* of ImageNet: Krizhevsky et al., 2012 */
    static const double axis[3][3] = {
        {-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};
    double add[3] = {0};
    MS_TRY(need_u8(c, 3));
    for (int k = 0; k < 3; k++) {
        double u = 1 - ms__data_unit(c->rng), v = ms__data_unit(c->rng);
        double normal = sqrt(-2 * log(u)) * cos(2 * M_PI * v) * c->op->arg[0];
        for (int i = 0; i < 3; i++) add[i] += axis[i][k] * value[k] * normal;
    }
    const uint8_t *p = (const uint8_t *)c->in[0]->data;
    uint8_t *q = (uint8_t *)c->out[0]->data;
    for (int64_t i = 0; i < c->in[0]->numel; i++) q[i] = clip((float)(p[i] + add[i % 3]));
    return MS_OK;
}

/* ---- Gaussian blur: kernel width, height, sigma x, y; the border mirrors without repeating ---- */

/* For bytes the weights are whole numbers of sum 256: what rounding takes from one the next one gets, the middle the rest. */
static void gauss(int n, double sigma, bool bytes, float *weight)
{
    double sum = 0, carry = 0, middle = 256;
    if (sigma <= 0) sigma = n * 0.15 + 0.35;
    for (int k = 0; k < n; k++) sum += exp(-pow(k - (n - 1) * 0.5, 2) / (2 * sigma * sigma));
    for (int k = 0; k <= n / 2; k++) {
        double v = exp(-pow(k - (n - 1) * 0.5, 2) / (2 * sigma * sigma)) / sum, whole = rint(v * 256 + carry);
        carry += v * 256 - whole;
        if (bytes) v = k < n / 2 ? whole : middle;
        middle -= 2 * whole;
        weight[k] = weight[n - 1 - k] = (float)v;
    }
}

static int64_t mirror(int64_t i, int64_t n)
{
    if (n == 1) return 0;
    int64_t period = 2 * n - 2;
    i = (i % period + period) % period;
    return i < n ? i : period - i;
}

static MsStatus check_blur(MsTransform *t)
{
    for (int k = 0; k < 2; k++)
        if (!(t->arg[k] >= 1 && t->arg[k] <= 1023 && fmod(t->arg[k], 2) == 1))
            return MS_FAIL(MS_ERROR_VALUE, "For 'GaussianBlur', kernel_size must be odd and positive.");
    return MS_OK;
}

static MsStatus run_blur(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    if (x->ndim != 2 && x->ndim != 3)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "GaussianBlur: input tensor is not in shape of <H,W> or <H,W,C>, but got rank: %d%s",
                       x->ndim, x->ndim == 1 ? ". You may need to perform Decode first." : "");
    int nx = (int)c->op->arg[0], ny = (int)c->op->arg[1];
    float wx[1024], wy[1024];
    bool bytes = x->dtype == MS_UINT8 || x->dtype == MS_BOOL;
    gauss(nx, c->op->arg[2], bytes, wx);
    gauss(ny, c->op->arg[3], bytes, wy);
    MsTensor *f = ms__data_cast(x, MS_FLOAT32), *g = f ? like(f) : NULL, *y = f ? like(f) : NULL;
    if (!g || !y) return ms_error()->code;
    int64_t h = x->shape[0], w = x->shape[1], n = x->ndim == 3 ? x->shape[2] : 1;
    const float *in = (const float *)f->data;
    float *mid = (float *)g->data, *out = (float *)y->data;
    memset(mid, 0, (size_t)g->numel * sizeof *mid);
    memset(out, 0, (size_t)y->numel * sizeof *out);
    for (int64_t i = 0; i < h; i++)
        for (int k = 0; k < nx; k++)
            for (int64_t j = 0; j < w; j++)
                for (int64_t ch = 0; ch < n; ch++)
                    mid[(i * w + j) * n + ch] += wx[k] * in[(i * w + mirror(j + k - nx / 2, w)) * n + ch];
    for (int64_t i = 0; i < h; i++)
        for (int k = 0; k < ny; k++) {
            const float *from = mid + mirror(i + k - ny / 2, h) * w * n;
            for (int64_t j = 0; j < w * n; j++) out[i * w * n + j] += wy[k] * from[j];
        }
    for (int64_t i = 0; bytes && i < y->numel; i++)
        out[i] = floorf((out[i] + 32768) / 65536); /* sums are exact */
    if (!bytes && !ms_dtype_is_float((MsDtype)x->dtype))
        for (int64_t i = 0; i < y->numel; i++) out[i] = rintf(out[i]);
    c->out[0] = ms__data_cast(y, (MsDtype)x->dtype);
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* ---- erasing and cutting out: of <C, H, W> (chw) or <H, W, C> of any dtype ---- */

typedef struct Box {
    int64_t top, left, h, w;
} Box;

/* value: NULL = noise of a standard normal distribution. */
static MsStatus erase(MsTransformCall *c, MsTensor *y, bool chw, Box b, int n_value, const double *value)
{
    int64_t n = y->ndim == 3 ? y->shape[chw ? 0 : 2] : 1, h = y->shape[chw && y->ndim == 3 ? 1 : 0],
            w = y->shape[chw && y->ndim == 3 ? 2 : 1];
    size_t size = ms_dtype_size((MsDtype)y->dtype);
    for (int64_t ch = 0; ch < n; ch++) {
        MsTensor *one =
            ms__data_filled((MsDtype)y->dtype, 0, NULL, value ? value[ch < n_value ? ch : n_value - 1] : 0);
        if (!one) return ms_error()->code;
        for (int64_t i = b.top < 0 ? 0 : b.top; i < b.top + b.h && i < h; i++)
            for (int64_t j = b.left < 0 ? 0 : b.left; j < b.left + b.w && j < w; j++) {
                char *to = y->data + (size_t)(chw ? (ch * h + i) * w + j : (i * w + j) * n + ch) * size;
                memcpy(to, one->data, size);
                if (value) continue;
                double u = 1 - ms__data_unit(c->rng), v = ms__data_unit(c->rng);
                double normal = sqrt(-2 * log(u)) * cos(2 * M_PI * v);
                if (y->dtype == MS_FLOAT32) *(float *)to = (float)normal;
                if (y->dtype == MS_FLOAT64) *(double *)to = normal;
                if (y->dtype == MS_UINT8) *(uint8_t *)to = (uint8_t)(int)normal;
            }
    }
    return MS_OK;
}

static MsStatus copy_image(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    if (x->ndim != 2 && x->ndim != 3)
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: the image must have 2 or 3 dimensions, but got %s.",
                       c->op->kind->name, ms__shape_text(x->ndim, x->shape));
    c->out[0] = ms_tensor_from((MsDtype)x->dtype, x->ndim, x->shape, x->data);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static MsStatus run_random_erasing(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* prob, scale, ratio, attempts, values (none: noise) */
    MsTensor *x = c->in[0];
    if (x->ndim != 3)
        return MS_FAIL(MS_ERROR_RUNTIME, "RandomErasing: the shape of the image must be <C,H,W>, but got %s.",
                       ms__shape_text(x->ndim, x->shape));
    c->out[0] = x;
    if (!(ms__data_unit(c->rng) < arg[0])) return MS_OK;
    int64_t h = x->shape[1], w = x->shape[2];
    for (int k = 0; k < (int)arg[5]; k++) {
        double area = (double)(h * w) * between(c, arg[1], arg[2]);
        double ratio = exp(between(c, log(arg[3]), log(arg[4])));
        Box b = {.h = llrint(sqrt(area * ratio)), .w = llrint(sqrt(area / ratio))};
        if (b.h >= h || b.w >= w) continue;
        b.top = (int64_t)ms__data_below(c->rng, (uint64_t)(h - b.h) + 1);
        b.left = (int64_t)ms__data_below(c->rng, (uint64_t)(w - b.w) + 1);
        MS_TRY(copy_image(c));
        return erase(c, c->out[0], true, b, c->op->n_arg - 6, c->op->n_arg > 6 ? arg + 6 : NULL);
    }
    return MS_OK;
}

static MsStatus run_cut_out(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* length, patches, is_hwc */
    MS_TRY(copy_image(c));
    MsTensor *y = c->out[0];
    if (y->ndim != 3)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "CutOut: shape is invalid. image shape is not <H,W,C> or <C,H,W>, but got %s",
                       ms__shape_text(y->ndim, y->shape));
    bool chw = arg[2] == 0;
    int64_t h = y->shape[chw ? 1 : 0], w = y->shape[chw ? 2 : 1], n = (int64_t)arg[0];
    double zero = 0;
    if (n > h || n > w)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "CutOut: box size is too large for image erase: %lld on an image of %lld x %lld",
                       (long long)n, (long long)h, (long long)w);
    for (int k = 0; k < (int)arg[1]; k++) {
        int64_t y0 = (int64_t)ms__data_below(c->rng, (uint64_t)h),
                x0 = (int64_t)ms__data_below(c->rng, (uint64_t)w);
        MS_TRY(erase(c, y, chw, (Box){y0 - n / 2, x0 - n / 2, n, n}, 1, &zero));
    }
    return MS_OK;
}

static MsStatus run_erase(MsTransformCall *c)
{
    const double *arg = c->op->arg; /* top, left, height, width, values */
    MsTensor *x = c->in[0];
    if (x->ndim != 3)
        return MS_FAIL(MS_ERROR_RUNTIME, "Erase: input tensor is not in shape of <H,W,C>, but got rank: %d",
                       x->ndim);
    if (x->shape[2] != 3)
        return MS_FAIL(MS_ERROR_RUNTIME, "Erase: channel of input image should be 3, but got: %lld",
                       (long long)x->shape[2]);
    if (arg[2] > (double)x->shape[0] || arg[3] > (double)x->shape[1] || arg[0] > (double)x->shape[0] ||
        arg[1] > (double)x->shape[1])
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "Erase: box size is too large for image erase: the window at (%g, %g) of size (%g, %g) "
            "on an image of %lld x %lld",
            arg[0], arg[1], arg[2], arg[3], (long long)x->shape[0], (long long)x->shape[1]);
    MS_TRY(copy_image(c));
    return erase(c, c->out[0], false,
                 (Box){(int64_t)arg[0], (int64_t)arg[1], (int64_t)arg[2], (int64_t)arg[3]}, c->op->n_arg - 4,
                 arg + 4);
}

/* ---- channels ---- */

static MsStatus run_swap(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    if (x->ndim != 3 || x->shape[2] != 3)
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: the shape of the image must be <H,W,3>, but got %s.",
                       c->op->kind->name, ms__shape_text(x->ndim, x->shape));
    c->out[0] = like(x);
    if (!c->out[0]) return ms_error()->code;
    size_t size = ms_dtype_size((MsDtype)x->dtype);
    for (int64_t i = 0; i < x->numel; i += 3)
        for (int k = 0; k < 3; k++)
            memcpy(c->out[0]->data + (size_t)(i + k) * size, x->data + (size_t)(i + 2 - k) * size, size);
    return MS_OK;
}

#define K(name, sig, low, high, check, run)                                                                  \
    {                                                                                                        \
        name, sig, low, high, false, check, run, NULL                                                        \
    }

const MsTransformKind ms__transforms_colour[] = {
    {"AdjustBrightness", "factor", 1, 1, MS_IMAGE_TYPES | MS_IMAGE_FLAT | MS_IMAGE_GREY_RGB, NULL,
     run_brightness, NULL},
    {"AdjustContrast", "factor", 1, 1, MS_IMAGE_BASIC | MS_IMAGE_HWC | MS_IMAGE_RGB, NULL, run_contrast,
     NULL},
    {"AdjustSaturation", "factor", 1, 1, MS_IMAGE_BASIC | MS_IMAGE_HWC | MS_IMAGE_RGB, NULL, run_saturation,
     NULL},
    {"AdjustHue", "factor", 1, 1, MS_IMAGE_U8_F32 | MS_IMAGE_HWC | MS_IMAGE_RGB, NULL, run_hue, NULL},
    K("AdjustSharpness", "factor", 1, 1, NULL, run_sharpness),
    K("AdjustGamma", "gamma, gain", 2, 2, NULL, run_gamma),
    {"Invert", "", 0, 0, MS_IMAGE_TYPES | MS_IMAGE_NO_HALF | MS_IMAGE_HWC | MS_IMAGE_RGB, NULL, run_invert,
     NULL},
    K("Equalize", "", 0, 0, NULL, run_equalize),
    K("AutoContrast", "cutoff, ignored values", 1, INT_MAX, NULL, run_auto_contrast),
    {"Solarize", "min, max", 2, 2, MS_IMAGE_TYPES | MS_IMAGE_NO_HALF | MS_IMAGE_FLAT | MS_IMAGE_GREY_RGB,
     NULL, run_solarize, NULL},
    K("Posterize", "bits", 1, 1, NULL, run_posterize),
    K("Grayscale", "channels, prob", 2, 2, NULL, run_grayscale),
    K("ConvertColorSwap", "", 0, 0, NULL, run_swap),
    {"RandomInvert", "prob", 1, 1, MS_IMAGE_TYPES | MS_IMAGE_NO_HALF | MS_IMAGE_HWC | MS_IMAGE_RGB, NULL,
     run_random_invert, NULL},
    K("RandomEqualize", "prob", 1, 1, NULL, run_random_equalize),
    K("RandomAutoContrast", "prob, cutoff, ignored values", 2, INT_MAX, NULL, run_random_auto_contrast),
    K("RandomSharpness", "min, max", 2, 2, NULL, run_random_sharpness),
    K("RandomColor", "min, max", 2, 2, NULL, run_random_color),
    K("RandomAdjustSharpness", "factor, prob", 2, 2, NULL, run_random_adjust_sharpness),
    K("RandomPosterize", "min, max", 2, 2, NULL, run_random_posterize),
    {"RandomSolarize", "min, max", 2, 2,
     MS_IMAGE_TYPES | MS_IMAGE_NO_HALF | MS_IMAGE_FLAT | MS_IMAGE_GREY_RGB, NULL, run_random_solarize, NULL},
    {"RandomColorAdjust", "brightness min, max, contrast min, max, saturation min, max, hue min, max", 8, 8,
     MS_IMAGE_HWC | MS_IMAGE_RGB, NULL, run_color_adjust, NULL},
    K("RandomLighting", "alpha", 1, 1, NULL, run_lighting),
    K("GaussianBlur", "kernel x, kernel y, sigma x, sigma y", 4, 4, check_blur, run_blur),
    K("RandomErasing", "prob, scale min, max, ratio min, max, attempts, values", 6, INT_MAX, NULL,
      run_random_erasing),
    K("CutOut", "length, patches, is_hwc", 3, 3, NULL, run_cut_out),
    K("Erase", "top, left, height, width, values", 5, INT_MAX, NULL, run_erase),
    {.name = NULL},
};
