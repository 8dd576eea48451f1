/* warp.c - rotation, shear, scale, translation and perspective of images <H, W> or <H, W, C>: for each pixel of the result
 * the place in the source is computed, and read by nearest neighbour, bilinear or bicubic sampling; outside lies the
 * fill value. Angles are degrees, counterclockwise. uint8 rounds to the nearest; other dtypes go through float32. */
#include "data/image.h"

#include "core/tensor.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#pragma GCC optimize("O3")

/* Result pixel (x, y, 1) to source pixel, homogeneous. */
typedef struct Map {
    double m[9];
    int64_t h, w; /* of the result */
    bool projective;
} Map;

static const float *texel(const float *in, int64_t h, int64_t w, int64_t n, int64_t y, int64_t x,
                          const float *fill)
{
    return y >= 0 && y < h && x >= 0 && x < w ? in + (y * w + x) * n : fill;
}

static float keys(float x)
{
    x = fabsf(x);
    if (x < 1) return (1.25f * x - 2.25f) * x * x + 1;
    return x < 2 ? ((-0.75f * x + 3.75f) * x - 6) * x + 3 : 0;
}

static void sample(const float *in, int64_t h, int64_t w, int64_t n, double y, double x, int inter,
                   const float *fill, float *out)
{
    if (inter == MS_INTER_NEAREST) {
        memcpy(out, texel(in, h, w, n, (int64_t)floor(y + 0.5), (int64_t)floor(x + 0.5), fill),
               (size_t)n * sizeof *out);
        return;
    }
    int64_t iy = (int64_t)floor(y), ix = (int64_t)floor(x);
    float ty = (float)(y - (double)iy), tx = (float)(x - (double)ix);
    int reach = inter == MS_INTER_CUBIC || inter == MS_INTER_PILCUBIC ? 2 : 1;
    for (int64_t c = 0; c < n; c++) out[c] = 0;
    for (int64_t i = 1 - reach; i <= reach; i++)
        for (int64_t j = 1 - reach; j <= reach; j++) {
            const float *p = texel(in, h, w, n, iy + i, ix + j, fill);
            float wy = reach == 2 ? keys(ty - (float)i) : i ? ty : 1 - ty;
            float wx = reach == 2 ? keys(tx - (float)j) : j ? tx : 1 - tx;
            for (int64_t c = 0; c < n; c++) out[c] += wy * wx * p[c];
        }
}

/* Places between pixels are counted in 32nds, as OpenCV counts them and with it the original. An affine place is the sum
 * of its row's share and its column's, each rounded to 1024ths by itself. */
static double projective_step(double v, int inter)
{
    return inter == MS_INTER_NEAREST ? v : rint(v * 32) / 32;
}

static double affine_step(double row, double column, int inter)
{
    double sum = rint(row * 1024) + rint(column * 1024);
    return inter == MS_INTER_NEAREST ? floor((sum + 512) / 1024) : floor((sum + 16) / 32) / 32;
}

static MsTensor *warp(MsTransformCall *c, MsTensor *x, const Map *t, int inter, const double *rgb)
{
    if (x->ndim != 2 && x->ndim != 3)
        return MS_FAIL_NULL(
            MS_ERROR_RUNTIME, "%s: input tensor is not in shape of <H,W> or <H,W,C>, but got rank: %d%s",
            c->op->kind->name, x->ndim, x->ndim == 1 ? ". You may need to perform Decode first." : "");
    int64_t n = x->ndim == 3 ? x->shape[2] : 1, h = x->shape[0], w = x->shape[1];
    if (n > 16 || t->h < 1 || t->w < 1 || t->h > 1 << 20 || t->w > 1 << 20)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME, "%s: an image of shape %s is not supported.", c->op->kind->name,
                            ms__shape_text(x->ndim, x->shape));
    if (inter == MS_INTER_PILCUBIC)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME, "%s: Invalid InterpolationMode, check input value of enum.",
                            c->op->kind->name);
    if (inter == MS_INTER_CUBIC && n > 4)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "%s: interpolation can not be CUBIC when image channel is greater than 4.",
                            c->op->kind->name);
    float fill[16];
    for (int64_t k = 0; k < n; k++) fill[k] = (float)rgb[k < 3 ? k : 2];
    int64_t shape[3] = {t->h, t->w, n};
    MsTensor *f = ms__data_cast(x, MS_FLOAT32), *y = f ? ms_tensor_empty(MS_FLOAT32, x->ndim, shape) : NULL;
    if (!y) return NULL;
    const double *m = t->m;
    float *out = (float *)y->data;
    for (int64_t i = 0; i < t->h; i++)
        for (int64_t j = 0; j < t->w; j++, out += n) {
            double u, v, d = m[6] * (double)j + m[7] * (double)i + m[8];
            if (!t->projective) {
                u = affine_step(m[1] * (double)i + m[2], m[0] * (double)j, inter);
                v = affine_step(m[4] * (double)i + m[5], m[3] * (double)j, inter);
            } else {
                u = projective_step((m[0] * (double)j + m[1] * (double)i + m[2]) / d, inter);
                v = projective_step((m[3] * (double)j + m[4] * (double)i + m[5]) / d, inter);
            }
            if (!(u > -1e6 && u < 1e7 && v > -1e6 && v < 1e7)) u = v = -1e6;
            sample((const float *)f->data, h, w, n, v, u, inter, fill, out);
        }
    if (!ms_dtype_is_float((MsDtype)x->dtype))
        for (int64_t i = 0; i < y->numel; i++) {
            float r = floorf(((float *)y->data)[i] + 0.5f);
            ((float *)y->data)[i] = x->dtype == MS_UINT8 ? fminf(fmaxf(r, 0), 255) : r;
        }
    return ms__data_cast(y, (MsDtype)x->dtype);
}

/* ---- rotation: angle min, max, interpolation, expand, has centre, x, y, r, g, b ---- */

static MsStatus run_rotation(MsTransformCall *c)
{
    const double *arg = c->op->arg;
    double degrees = arg[0] + (arg[1] - arg[0]) * ms__data_unit(c->rng), a = (float)degrees * M_PI / 180;
    double cs = cos(a), sn = sin(a);
    for (int k = 0; k < c->n_in; k++) {
        MsTensor *x = c->in[k];
        Map t = {.h = x->ndim > 1 ? x->shape[0] : 0, .w = x->ndim > 1 ? x->shape[1] : 0};
        double cx = ((double)t.w - 1) / 2, cy = ((double)t.h - 1) / 2, ox, oy;
        if (arg[4] != 0) cx = arg[5], cy = arg[6];
        ox = cx, oy = cy;
        if (arg[3] != 0) {
            double w = fabs(cs) * (double)t.w + fabs(sn) * (double)t.h,
                   h = fabs(sn) * (double)t.w + fabs(cs) * (double)t.h;
            ox += (w - (double)t.w) / 2, oy += (h - (double)t.h) / 2;
            t.w = (int64_t)rint(w), t.h = (int64_t)rint(h);
        }
        double m[9] = {cs, -sn, cx - cs * ox + sn * oy, sn, cs, cy - sn * ox - cs * oy, 0, 0, 1};
        memcpy(t.m, m, sizeof m);
        if (!(c->out[k] = warp(c, x, &t, (int)arg[2], arg + 7))) return ms_error()->code;
    }
    return MS_OK;
}

/* ---- affine ---- */

static double radians(double degrees)
{
    return (float)((float)degrees * M_PI / 180);
}

/* The inverse of: translate to the centre, rotate, shear, scale, back, translate. The parameters are float32, as the
 * original's are: a place near the middle of two steps depends on it. */
static MsTensor *affine(MsTransformCall *c, MsTensor *x, double degrees, double tx, double ty, double scale,
                        double shear_x, double shear_y, int inter, const double *rgb)
{
    Map t = {.h = x->ndim > 1 ? x->shape[0] : 0, .w = x->ndim > 1 ? x->shape[1] : 0};
    double r = radians(degrees), sx = radians(shear_x), sy = radians(shear_y);
    tx = (float)tx, ty = (float)ty, scale = (float)scale;
    double cx = ((double)t.w - 1) / 2, cy = ((double)t.h - 1) / 2;
    double a = cos(r - sy) / cos(sy), b = -cos(r - sy) * tan(sx) / cos(sy) - sin(r);
    double d = sin(r - sy) / cos(sy), e = -sin(r - sy) * tan(sx) / cos(sy) + cos(r);
    double m[9] = {e / scale, -b / scale, 0, -d / scale, a / scale, 0, 0, 0, 1};
    m[2] = m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx;
    m[5] = m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy;
    memcpy(t.m, m, sizeof m);
    return warp(c, x, &t, inter, rgb);
}

static MsStatus run_affine(MsTransformCall *c)
{
    const double *p =
        c->op->arg; /* degrees, translation x, y (pixels), scale, shear x, y, interpolation, r, g, b */
    c->out[0] = affine(c, c->in[0], p[0], p[1], p[2], p[3], p[4], p[5], (int)p[6], p + 7);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static double between(MsTransformCall *c, const double *range)
{
    return range[0] + (range[1] - range[0]) * ms__data_unit(c->rng);
}

/* degrees, translation x and y (shares of the size), scale, shear x, shear y: (min, max) each; interpolation, r, g, b */
static MsStatus run_random_affine(MsTransformCall *c)
{
    const double *p = c->op->arg;
    MsTensor *x = c->in[0];
    double h = x->ndim > 1 ? (double)x->shape[0] : 0, w = x->ndim > 1 ? (double)x->shape[1] : 0;
    double degrees = between(c, p);
    double tx = (float)between(c, p + 2) * w, ty = (float)between(c, p + 4) * h;
    double scale = between(c, p + 6), sx = between(c, p + 8), sy = between(c, p + 10);
    c->out[0] = affine(c, x, degrees, tx, ty, scale, sx, sy, (int)p[12], p + 13);
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* ---- perspective ---- */

/* The homography that takes `from` to `to`, by Gaussian elimination with pivots. */
static bool homography(const double *from, const double *to, double *m)
{
    double a[8][9];
    for (int k = 0; k < 4; k++) {
        double x = from[2 * k], y = from[2 * k + 1], u = to[2 * k], v = to[2 * k + 1];
        memcpy(a[2 * k], (double[9]){x, y, 1, 0, 0, 0, -u * x, -u * y, u}, sizeof a[0]);
        memcpy(a[2 * k + 1], (double[9]){0, 0, 0, x, y, 1, -v * x, -v * y, v}, sizeof a[0]);
    }
    for (int c = 0; c < 8; c++) {
        int best = c;
        for (int r = c + 1; r < 8; r++)
            if (fabs(a[r][c]) > fabs(a[best][c])) best = r;
        if (fabs(a[best][c]) < 1e-12) return false;
        for (int k = 0; k < 9; k++) {
            double keep = a[c][k];
            a[c][k] = a[best][k], a[best][k] = keep;
        }
        for (int r = 0; r < 8; r++)
            for (int k = 8; r != c && k >= c; k--) a[r][k] -= a[r][c] / a[c][c] * a[c][k];
    }
    for (int k = 0; k < 8; k++) m[k] = a[k][8] / a[k][k];
    m[8] = 1;
    return true;
}

static MsStatus perspective(MsTransformCall *c, const double *start, const double *end, int inter)
{
    static const double black[3];
    MsTensor *x = c->in[0];
    Map t = {.h = x->ndim > 1 ? x->shape[0] : 0, .w = x->ndim > 1 ? x->shape[1] : 0, .projective = true};
    if (!homography(end, start, t.m))
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: the points lie on a line.", c->op->kind->name);
    c->out[0] = warp(c, x, &t, inter, black);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static MsStatus run_perspective(MsTransformCall *c)
{
    return perspective(c, c->op->arg, c->op->arg + 8, (int)c->op->arg[16]);
}

/* Each corner moves inward by up to distortion / 2 of the size. */
static MsStatus run_random_perspective(MsTransformCall *c)
{
    const double *p = c->op->arg; /* distortion, prob, interpolation */
    MsTensor *x = c->in[0];
    c->out[0] = x;
    if (x->ndim > 1 && !(ms__data_unit(c->rng) < p[1])) return MS_OK;
    double h = x->ndim > 1 ? (double)x->shape[0] : 1, w = x->ndim > 1 ? (double)x->shape[1] : 1;
    double start[8] = {0, 0, w - 1, 0, w - 1, h - 1, 0, h - 1}, end[8];
    for (int k = 0; k < 8; k++) {
        double reach = floor(p[0] * (k % 2 ? h : w) / 2);
        double move = (double)ms__data_below(c->rng, (uint64_t)reach + 1);
        end[k] = start[k] > 0 ? start[k] - move : move;
    }
    return perspective(c, start, end, (int)p[2]);
}

const MsTransformKind ms__transforms_warp[] = {
    {"RandomRotation", "degrees min, max, interpolation, expand, has centre, x, y, r, g, b", 10, 10, true,
     NULL, run_rotation, NULL},
    {"Rotate", "degrees, degrees, interpolation, expand, has centre, x, y, r, g, b", 10, 10,
     MS_TAKES_MANY | MS_TAKES_FRAMES | MS_IMAGE_TYPES, NULL, run_rotation, NULL},
    {"Affine", "degrees, translate x, y, scale, shear x, y, interpolation, r, g, b", 10, 10, false, NULL,
     run_affine, NULL},
    {"RandomAffine",
     "degrees, translate x, translate y, scale, shear x, shear y (min, max each), interpolation, r, g, b", 16,
     16, false, NULL, run_random_affine, NULL},
    {"Perspective", "start x, y of 4 points, end x, y of 4 points, interpolation", 17, 17,
     MS_IMAGE_TYPES | MS_IMAGE_FLAT, NULL, run_perspective, NULL},
    {"RandomPerspective", "distortion, prob, interpolation", 3, 3, false, NULL, run_random_perspective, NULL},
    {.name = NULL},
};
