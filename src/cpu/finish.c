/* finish.c - see finish.h; and conv_norm by the kernels of its parts, where none does both at once. */
#include "cpu/finish.h"

#include "core/mem.h"
#include "cpu/batch.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "op/conv.h"

#include <math.h>
#include <string.h>

extern const MsOp ms_op_conv, ms_op_conv_norm, ms_op_batch_norm_apply;

MsStatus ms__finish_open(MsFinish *f, const MsCall *c, int64_t o)
{
    bool norm = c->op == &ms_op_conv_norm;
    int64_t n = (o + 15) / 16 * 16;
    *f = (MsFinish){.top = INFINITY};
    if (!norm && !c->in[2]) return MS_OK;
    f->nbytes = (size_t)(4 * n) * sizeof(float);
    if (!(f->block = ms__alloc(f->nbytes))) return MS_ERROR_MEMORY;
    memset(f->block, 0, f->nbytes);
    if (c->in[2]) {
        MsTensor *bias = ms__dense_as(c->in[2], MS_FLOAT32);
        if (!bias) return ms_error()->code;
        f->bias = memcpy(f->block, bias->data, (size_t)o * sizeof(float));
    }
    if (!norm) return MS_OK;
    float *mean = f->block + n, *scale = mean + n, *shift = scale + n;
    MS_TRY(ms__norm_map(c->in + 3, c->attr[NORM_EPS].f, o, mean, scale, shift));
    f->mean = mean, f->scale = scale, f->shift = shift;
    f->relu = c->attr[NORM_RELU].i;
    if (c->attr[NORM_TOP].f > 0) f->top = (float)c->attr[NORM_TOP].f;
    MsTensor *skip = c->in[7] ? ms__dense_last(c->in[7]) : NULL;
    if (c->in[7] && !skip) return ms_error()->code;
    if (skip) f->skip = (const float *)skip->data;
    return MS_OK;
}

void ms__finish_close(MsFinish *f)
{
    if (f->block) ms__free(f->block, f->nbytes);
}

static MsStatus run_first(MsCall *c)
{
    const MsKernel *const *k = c->op->kernels;
    while ((*k)->ok && (*k)->ok(c)) k++;
    return (*k)->run(c);
}

static MsStatus run_parts(MsCall *c)
{
    MsCall conv = {&ms_op_conv, c->attr, 3, 1, c->in, c->out, c->aval};
    MS_TRY(run_first(&conv));
    MsTensor *in[] = {c->out[0], c->in[3], c->in[4], c->in[5], c->in[6], c->in[7]};
    MsCall apply = {&ms_op_batch_norm_apply, c->attr + NORM_EPS, 6, 1, in, c->out, c->aval};
    return run_first(&apply);
}

MS_KERNEL(conv_norm, 0, parts, NULL, run_parts);
