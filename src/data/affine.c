/* affine.c - Rescale, Normalize, HWC2CHW, ToTensor and casts to float32 in any sequence, as one pass: values
 * are loaded in tiles that stay in the first-level cache, each stage runs over the tile, and the tile is
 * stored where the layout of the result wants it; images of bytes go through a table. Each stage rounds as it
 * does alone, so that a fused map gives the same bits as the transforms one by one. Refused: folding the stages into one a * x + b, which is
 * shorter and rounds differently. */
#include "data/data.h"

#include "core/tensor.h"

#include <string.h>

#pragma GCC optimize("O3")

#define TILE 256

typedef struct Plan {
    int64_t channels, pixels;
    int64_t in_pixel, in_channel, out_pixel, out_channel; /* strides */
    bool permute;
    bool expand; /* [h, w] -> [1, h, w] */
} Plan;

/* Where the channels are; false when the stages do not agree about it or x has no such axis. */
static bool make_plan(int n, const MsStage *stage, const MsTensor *x, Plan *p)
{
    int hwc = -1;
    *p = (Plan){.channels = 1, .pixels = x->numel};
    for (int k = 0; k < n; k++) {
        if (stage[k].kind == MS_STAGE_CHW) {
            if (x->ndim < 2 || x->ndim > 3 || p->permute) return false;
            p->expand |= x->ndim == 2 && stage[k].a == 1;
            p->permute = true;
        } else if (stage[k].kind == MS_STAGE_NORM) {
            if (x->ndim < 2 || x->ndim > 3 || (p->permute && x->ndim == 3 && stage[k].hwc)) return false;
            int here = p->permute ? 1 : stage[k].hwc;
            if (hwc >= 0 && hwc != here) return false;
            hwc = here;
        }
    }
    if (x->ndim == 3 && (p->permute || hwc >= 0)) {
        if (p->permute && hwc == 0) return false;
        bool last = p->permute || hwc == 1;
        p->channels = x->shape[last ? 2 : 0];
        p->pixels = p->channels ? x->numel / p->channels : 0;
        p->in_pixel = p->out_pixel = last ? p->channels : 1;
        p->in_channel = p->out_channel = last ? 1 : p->pixels;
    } else {
        p->in_pixel = p->out_pixel = 1;
    }
    if (p->permute) p->out_pixel = 1, p->out_channel = p->pixels;
    for (int k = 0; k < n; k++)
        if (stage[k].kind == MS_STAGE_NORM && stage[k].n != 1 && stage[k].n != p->channels) return false;
    return true;
}

#define LOAD(type)                                                                                           \
    {                                                                                                        \
        const type *v = (const type *)from;                                                                  \
        if (step == 1)                                                                                       \
            for (int i = 0; i < n; i++) tile[i] = (float)v[i];                                               \
        else                                                                                                 \
            for (int i = 0; i < n; i++) tile[i] = (float)v[i * step];                                        \
        return;                                                                                              \
    }

static void load(float *tile, const void *from, int64_t step, int n, MsDtype dtype)
{
    switch (dtype) {
    case MS_BOOL:
    case MS_UINT8: LOAD(uint8_t)
    case MS_INT8: LOAD(int8_t)
    case MS_UINT16: LOAD(uint16_t)
    case MS_INT16: LOAD(int16_t)
    case MS_UINT32: LOAD(uint32_t)
    case MS_INT32: LOAD(int32_t)
    case MS_UINT64: LOAD(uint64_t)
    case MS_INT64: LOAD(int64_t)
    case MS_FLOAT16: LOAD(_Float16)
    case MS_FLOAT64: LOAD(double)
    default: LOAD(float)
    }
}

static void apply(float *tile, int n, const MsStage *s, int64_t channel)
{
    switch (s->kind) {
    case MS_STAGE_SCALE:
        for (int i = 0; i < n; i++) tile[i] = (float)((double)tile[i] * s->a + s->b); /* rounded once */
        break;
    case MS_STAGE_NORM: {
        float mean = (float)s->mean[s->n == 1 ? 0 : channel], std = (float)s->std[s->n == 1 ? 0 : channel];
        for (int i = 0; i < n; i++) tile[i] = (tile[i] - mean) / std;
        break;
    }
    case MS_STAGE_CHW:
    case MS_STAGE_FLOAT: break;
    }
}

/* Of bytes a result depends on the byte and the channel alone: the stages run over the 256 of them. */
static void look_up(const Plan *p, int n_stage, const MsStage *stage, const MsTensor *x, float *out)
{
    float table[256];
    for (int64_t c = 0; c < p->channels; c++) {
        const uint8_t *from = (const uint8_t *)x->data + c * p->in_channel;
        float *to = out + c * p->out_channel;
        for (int k = 0; k < 256; k++) table[k] = (float)k;
        for (int k = 0; k < n_stage; k++) apply(table, 256, &stage[k], c);
        for (int64_t i = 0; i < p->pixels; i++) to[i * p->out_pixel] = table[from[i * p->in_pixel]];
    }
}

static void run(const Plan *p, int n_stage, const MsStage *stage, const MsTensor *x, float *out)
{
    float tile[TILE];
    size_t size = ms_dtype_size((MsDtype)x->dtype);
    for (int64_t c = 0; c < p->channels; c++)
        for (int64_t at = 0; at < p->pixels; at += TILE) {
            int n = p->pixels - at < TILE ? (int)(p->pixels - at) : TILE;
            int64_t from = c * p->in_channel + at * p->in_pixel;
            load(tile, x->data + (size_t)from * size, p->in_pixel, n, (MsDtype)x->dtype);
            for (int k = 0; k < n_stage; k++) apply(tile, n, &stage[k], c);
            float *to = out + c * p->out_channel + at * p->out_pixel;
            if (p->out_pixel == 1)
                memcpy(to, tile, (size_t)n * sizeof *tile);
            else
                for (int i = 0; i < n; i++) to[i * p->out_pixel] = tile[i];
        }
}

MsStatus ms__affine_run(int n, const MsStage *stage, MsTensor *x, MsTensor **y)
{
    Plan p;
    *y = NULL;
    bool arithmetic = false;
    for (int k = 0; k < n; k++) arithmetic |= stage[k].kind != MS_STAGE_CHW;
    if (!arithmetic || x->dtype == MS_BFLOAT16 || x->dtype >= MS_COMPLEX64 || !make_plan(n, stage, x, &p))
        return MS_OK;
    x = ms__data_contiguous(x);
    if (!x) return ms_error()->code;
    int64_t shape[MS_MAX_DIM];
    int ndim = x->ndim;
    memcpy(shape, x->shape, sizeof shape);
    if (p.permute && ndim == 3) shape[0] = x->shape[2], shape[1] = x->shape[0], shape[2] = x->shape[1];
    if (p.expand) shape[2] = shape[1], shape[1] = shape[0], shape[0] = 1, ndim = 3;
    *y = ms_tensor_empty(MS_FLOAT32, ndim, shape);
    if (!*y) return ms_error()->code;
    bool bytes = x->dtype == MS_UINT8 && p.pixels > 256;
    (bytes ? look_up : run)(&p, n, stage, x, (float *)(*y)->data);
    return MS_OK;
}
