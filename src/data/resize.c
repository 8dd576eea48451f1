/* resize.c - resizing of images, or of the part of one that is wanted. Every interpolation is two passes with a table
 * of taps: which source lines make one line of the result, and with which weights. Bilinear on uint8, the common case,
 * computes in the 11-bit fixed point that OpenCV's does, so results agree to the bit; the rest computes in float32.
 * ANTIALIAS and PILCUBIC widen their kernel when shrinking and round between the passes, as Pillow does. */
#include "data/image.h"

#include "core/mem.h"
#include "core/tensor.h"
#include "cpu/bilinear.h"
#include "cpu/isa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC optimize("O3")

/* Lines [first, first + count) of the source, already clamped, make a line of the result. */
typedef struct Taps {
    int64_t n;
    int width;      /* weights kept per line */
    int32_t *index; /* [n][width] */
    float *weight;  /* [n][width] */
    int *count;     /* [n] */
} Taps;

static void taps_free(Taps *t)
{
    free(t->index);
    free(t->weight);
    free(t->count);
}

static double cubic(double x, double a)
{
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double sinc(double x)
{
    return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x);
}

static double lanczos(double x)
{
    return fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

/* Area where the image grows in one direction or both: a step of one pixel's width between neighbours. */
#define AREA_GROW 100

static int width_of(int inter, double scale)
{
    switch (inter) {
    case MS_INTER_NEAREST: return 1;
    case AREA_GROW:
    case MS_INTER_LINEAR: return 2;
    case MS_INTER_CUBIC: return 4;
    case MS_INTER_AREA: return scale > 1 ? (int)ceil(scale) + 2 : 2;
    case MS_INTER_ANTIALIAS: return (int)ceil(3 * (scale > 1 ? scale : 1)) * 2 + 2;
    default: return (int)ceil(2 * (scale > 1 ? scale : 1)) * 2 + 2;
    }
}

/* Source lines of result line i of `out`, from `in` lines; returns how many. */
static int fill_taps(int inter, int64_t i, int64_t in, int64_t out, int32_t *index, float *weight)
{
    double scale = (double)in / (double)out, centre = ((double)i + 0.5) * scale;
    int n = 0;
    switch (inter) {
    case MS_INTER_NEAREST:
        index[0] = (int32_t)((double)i * scale), weight[0] = 1;
        n = 1;
        break;
    case MS_INTER_LINEAR: {
        float at = (float)(centre - 0.5);
        int64_t first = (int64_t)floorf(at);
        float t = at - (float)first;
        if (first < 0) first = 0, t = 0;
        if (first >= in - 1) first = in - 1, t = 0;
        index[0] = (int32_t)first, index[1] = (int32_t)first + 1;
        weight[0] = 1 - t, weight[1] = t;
        n = 2;
        break;
    }
    case MS_INTER_CUBIC: {
        double at = centre - 0.5, first = floor(at);
        for (; n < 4; n++) {
            index[n] = (int32_t)first - 1 + n;
            weight[n] = (float)cubic(at - (first - 1 + n), -0.75);
        }
        break;
    }
    case AREA_GROW: {
        int64_t first = (int64_t)floor((double)i * scale);
        double t = (double)(i + 1) - (double)(first + 1) / scale;
        t = t <= 0 ? 0 : t - floor(t);
        index[0] = (int32_t)first, index[1] = (int32_t)first + 1;
        weight[0] = (float)(1 - t), weight[1] = (float)t;
        n = 2;
        break;
    }
    case MS_INTER_AREA: {
        double from = (double)i * scale, to = from + scale;
        for (int64_t k = (int64_t)floor(from); (double)k < to - 1e-6 && k < in; k++) {
            double a = fmax(from, (double)k), b = fmin(to, (double)k + 1);
            index[n] = (int32_t)k, weight[n++] = (float)((b - a) / scale);
        }
        break;
    }
    default: {
        double wide = scale > 1 ? scale : 1, reach = (inter == MS_INTER_ANTIALIAS ? 3 : 2) * wide, sum = 0;
        int64_t first = (int64_t)(centre - reach + 0.5), last = (int64_t)(centre + reach + 0.5);
        if (first < 0) first = 0;
        if (last > in) last = in;
        for (int64_t k = first; k < last; k++) {
            double x = ((double)k - centre + 0.5) / wide;
            double v = inter == MS_INTER_ANTIALIAS ? lanczos(x) : cubic(x, -0.5);
            index[n] = (int32_t)k, weight[n++] = (float)v;
            sum += v;
        }
        for (int k = 0; k < n; k++) weight[k] = (float)(weight[k] / sum);
    }
    }
    for (int k = 0; k < n; k++) index[k] = index[k] < 0 ? 0 : index[k] >= in ? (int32_t)in - 1 : index[k];
    return n;
}

/* Lines [keep, keep + n) of `out`; indices count from `origin`. */
static MsStatus taps_new(Taps *t, int inter, int64_t in, int64_t out, int64_t keep, int64_t n, int64_t origin)
{
    *t = (Taps){.n = n, .width = width_of(inter, (double)in / (double)out)};
    t->index = ms__malloc((size_t)(n * t->width) * sizeof *t->index);
    t->weight = ms__malloc((size_t)(n * t->width) * sizeof *t->weight);
    t->count = ms__malloc((size_t)n * sizeof *t->count);
    if (!t->index || !t->weight || !t->count) return ms_error()->code;
    for (int64_t i = 0; i < n; i++) {
        int32_t *index = t->index + i * t->width;
        t->count[i] = fill_taps(inter, keep + i, in, out, index, t->weight + i * t->width);
        for (int k = 0; k < t->count[i]; k++) index[k] -= (int32_t)origin;
    }
    return MS_OK;
}

static void needs(int inter, int64_t in, int64_t out, int64_t keep, int64_t n, int64_t *from, int64_t *count)
{
    double scale = (double)in / (double)out;
    int64_t reach = width_of(inter, scale) / 2 + 2;
    int64_t a = (int64_t)floor((double)keep * scale) - reach,
            b = (int64_t)ceil((double)(keep + n) * scale) + reach;
    if (a < 0) a = 0;
    if (b > in) b = in;
    *from = a, *count = b - a;
}

MsWindow ms__resize_needs(const MsWindow *part, int64_t h, int64_t w, int inter, const MsWindow *keep)
{
    MsWindow y;
    needs(inter, part->h, h, keep->top, keep->h, &y.top, &y.h);
    needs(inter, part->w, w, keep->left, keep->w, &y.left, &y.w);
    y.top += part->top, y.left += part->left;
    return y;
}

/* ---- uint8, bilinear ---- */

typedef struct Frame {
    int64_t line, c; /* elements of a source line; channels */
    int64_t h, w;    /* of the result */
} Frame;

static void line_u8(const uint8_t *in, const Frame *f, int64_t from, const Taps *t, const int16_t *w,
                    int16_t *out)
{
    for (int64_t j = from; j < f->w; j++)
        for (int64_t k = 0; k < f->c; k++)
            out[f->c * j + k] = (int16_t)((in[t->index[2 * j] * f->c + k] * w[2 * j] +
                                           in[t->index[2 * j + 1] * f->c + k] * w[2 * j + 1]) >>
                                          4);
}

/* How many columns the fast pass may compute: their two pixels are neighbours, and 8 bytes can be read. */
static int64_t plain_columns(const Frame *f, const Taps *t)
{
    int64_t n = f->c == 3 ? f->w : 0;
    while (n > 0 && (t->index[2 * n - 1] != t->index[2 * n - 2] + 1 || t->index[2 * n - 2] * 3 + 8 > f->line))
        n--;
    return n;
}

static int16_t fixed(float w)
{
    return (int16_t)lrintf(w * 2048);
}

static MsStatus bilinear_u8(const uint8_t *in, const Frame *f, const Taps *v, const Taps *u, uint8_t *out)
{
    const MsBilinearFns fns = MS_ISA_PICK(ms__bilinear_);
    int64_t n = f->w * f->c, pitch = n + MS_BILINEAR_SLACK, held[2] = {-1, -1}, fast = plain_columns(f, u);
    int16_t *room = ms__malloc((size_t)(2 * pitch + 2 * f->w) * sizeof *room),
            *w = room ? room + 2 * pitch : NULL;
    if (!room) return ms_error()->code;
    for (int64_t j = 0; j < 2 * f->w; j++) w[j] = fixed(u->weight[j]);
    for (int64_t i = 0; i < f->h; i++) {
        int16_t *line[2];
        for (int k = 0; k < 2; k++) { /* the lines of the row before are often still there */
            int64_t at = v->index[2 * i + k];
            int slot = (int)(at & 1);
            line[k] = room + slot * pitch;
            if (held[slot] != at) {
                fns.across3(in + at * f->line, fast, u->index, w, line[k]);
                line_u8(in + at * f->line, f, fast, u, w, line[k]);
            }
            held[slot] = at;
        }
        fns.down(line[0], line[1], fixed(v->weight[2 * i]), fixed(v->weight[2 * i + 1]), n, out + i * n);
    }
    free(room);
    return MS_OK;
}

/* ---- any dtype as float32 ---- */

static void line_f32(const float *in, const Frame *f, const Taps *t, bool whole, float *out)
{
    for (int64_t j = 0; j < f->w; j++)
        for (int64_t c = 0; c < f->c; c++) {
            float sum = 0;
            for (int k = 0; k < t->count[j]; k++)
                sum += t->weight[j * t->width + k] * in[t->index[j * t->width + k] * f->c + c];
            out[j * f->c + c] = whole ? fminf(fmaxf(floorf(sum + 0.5f), 0), 255) : sum;
        }
}

/* Source lines are turned once, in order, into a ring that holds as many as one result line needs. */
static MsStatus general_f32(const float *in, int64_t in_h, const Frame *f, const Taps *v, const Taps *u,
                            bool whole, float *out)
{
    int64_t n = f->w * f->c, ring = v->width + 1;
    float *room = ms__malloc((size_t)(ring * n) * sizeof *room);
    int64_t *held = ms__malloc((size_t)ring * sizeof *held);
    MsStatus st = room && held ? MS_OK : ms_error()->code;
    for (int64_t k = 0; st == MS_OK && k < ring; k++) held[k] = -1;
    for (int64_t i = 0; st == MS_OK && i < f->h; i++) {
        float *to = out + i * n;
        memset(to, 0, (size_t)n * sizeof *to);
        for (int k = 0; k < v->count[i]; k++) {
            int64_t at = v->index[i * v->width + k], slot = at % ring;
            float *line = room + slot * n, weight = v->weight[i * v->width + k];
            if (at < 0 || at >= in_h) continue;
            if (held[slot] != at) line_f32(in + at * f->line, f, u, whole, line);
            held[slot] = at;
            for (int64_t j = 0; j < n; j++) to[j] += weight * line[j];
        }
    }
    free(room);
    free(held);
    return st;
}

static MsTensor *narrow(MsTensor *y, MsDtype dtype)
{
    if (ms_dtype_is_float(dtype)) return ms__data_cast(y, dtype);
    double low = -INFINITY, high = INFINITY;
    if (dtype == MS_UINT8) low = 0, high = 255;
    if (dtype == MS_INT8) low = -128, high = 127;
    if (dtype == MS_UINT16) low = 0, high = 65535;
    if (dtype == MS_INT16) low = -32768, high = 32767;
    if (dtype == MS_BOOL) low = 0, high = 1;
    float *v = (float *)y->data;
    for (int64_t i = 0; i < y->numel; i++) v[i] = (float)fmin(fmax(rint(v[i]), low), high);
    return ms__data_cast(y, dtype);
}

static MsTensor *result(MsTensor *x, MsDtype dtype, const MsWindow *keep)
{
    int64_t shape[3] = {keep->h, keep->w, x->ndim == 3 ? x->shape[2] : 1};
    return ms_tensor_empty(dtype, x->ndim, shape);
}

MsTensor *ms__image_resize(MsTensor *x, const MsWindow *at, const MsWindow *part, int64_t h, int64_t w,
                           int inter, const MsWindow *keep)
{
    MsWindow whole = {0, 0, x->shape[0], x->shape[1]}, all = {0, 0, h, w};
    if (!at) at = &whole;
    if (!part) part = at;
    if (!keep) keep = &all;
    if (part->h < 1 || part->w < 1) return MS_FAIL_NULL(MS_ERROR_RUNTIME, "Resize: the image is empty.");
    Frame f = {.c = x->ndim == 3 ? x->shape[2] : 1, .h = keep->h, .w = keep->w};
    f.line = x->shape[1] * f.c;
    if (inter == MS_INTER_AREA && (part->h < h || part->w < w)) inter = AREA_GROW;
    Taps v = {0}, u = {0};
    MsTensor *y = NULL, *wide = NULL;
    MsStatus st = taps_new(&v, inter, part->h, h, keep->top, keep->h, at->top - part->top);
    if (st == MS_OK) st = taps_new(&u, inter, part->w, w, keep->left, keep->w, at->left - part->left);
    if (st == MS_OK && inter == MS_INTER_NEAREST) {
        y = result(x, (MsDtype)x->dtype, keep);
        size_t pixel = (size_t)f.c * ms_dtype_size((MsDtype)x->dtype);
        for (int64_t i = 0; y && i < f.h; i++)
            for (int64_t j = 0; j < f.w; j++)
                memcpy(y->data + (size_t)(i * f.w + j) * pixel,
                       x->data + (size_t)(v.index[i] * x->shape[1] + u.index[j]) * pixel, pixel);
    } else if (st == MS_OK && inter == MS_INTER_LINEAR && x->dtype == MS_UINT8) {
        y = result(x, MS_UINT8, keep);
        if (y && bilinear_u8((const uint8_t *)x->data, &f, &v, &u, (uint8_t *)y->data) != MS_OK) y = NULL;
    } else if (st == MS_OK) {
        bool pil = inter == MS_INTER_ANTIALIAS || inter == MS_INTER_PILCUBIC;
        wide = ms__data_cast(x, MS_FLOAT32);
        y = wide ? result(x, MS_FLOAT32, keep) : NULL;
        if (y && general_f32((const float *)wide->data, x->shape[0], &f, &v, &u, pil && x->dtype == MS_UINT8,
                             (float *)y->data) != MS_OK)
            y = NULL;
        if (y) y = narrow(y, (MsDtype)x->dtype);
    }
    taps_free(&v);
    taps_free(&u);
    return y;
}
