/* batch.c - batching rules that families of operators share. An operator batches by one of these where the batch can
 * become part of an axis that its kernels already treat independently: an axis in front, the examples of axis 0, or
 * the channels of axis 1, where per-channel vectors grow along with it. Refused: a rule per operator. */
#include "op/batch.h"

#include "mindspore_ops.h"
#include "op/view.h"
#include "trace/trace.h"

#include <string.h>

void ms__batch_attrs(const MsBatch *c, MsAttr *attr)
{
    memcpy(attr, c->attr, (size_t)ms__sig(c->op)->n_attr * sizeof *attr);
}

/* Runs c->op on `in`; the outputs carry the batch in front. */
static MsStatus run_front(MsBatch *c, const MsAttr *attr, MsTensor *const *in)
{
    int n;
    MS_TRY(ms_bind(c->op, attr, c->n_in, in, c->n_out, c->out, &n));
    for (int j = 0; j < c->n_out; j++) c->out_axis[j] = 0;
    return MS_OK;
}

MsStatus ms__batch_lead(MsBatch *c)
{
    MsTensor *in[c->n_in];
    for (int i = 0; i < c->n_in; i++) {
        in[i] = c->in[i] ? ms__batch_front(c, i) : NULL;
        if (c->in[i] && !in[i]) return ms_error()->code;
    }
    return run_front(c, c->attr, in);
}

/* A 0-d example becomes a vector of one element. */
MsStatus ms__batch_axes(MsBatch *c)
{
    MsTensor *x = ms__batch_front(c, 0);
    if (!x) return ms_error()->code;
    bool lone = x->ndim == 1;
    MsAttr attr[MS_MAX_ATTR], *a = &attr[0];
    ms__batch_attrs(c, attr);
    if (lone && !(x = ms_reshape(x, MS_INTS(c->size, 1)))) return ms_error()->code;
    if (a->kind == MS_ATTR_INT) {
        a->i = lone ? 1 : a->i < 0 ? a->i : a->i + 1;
    } else if (lone || a->kind == MS_ATTR_NONE || a->n == 0) {
        *a = (MsAttr){.kind = MS_ATTR_INTS, .n = (uint8_t)(x->ndim - 1)};
        for (int d = 1; d < x->ndim; d++) a->v[d - 1] = d;
    } else {
        for (int k = 0; k < a->n; k++) a->v[k] += a->v[k] >= 0;
    }
    MS_TRY(run_front(c, attr, &x));
    if (lone) c->out[0] = ms_reshape(c->out[0], MS_INTS(c->size));
    return ms__status_of(c->out[0]);
}

MsTensor *ms__batch_join(MsBatch *c, int i, int axis)
{
    MsTensor *t = ms__batch_front(c, i);
    if (!t) return NULL;
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < t->ndim - 1; d++) shape[d] = t->shape[d + 1];
    shape[axis] *= c->size;
    int n = t->ndim - 1;
    t = ms__move_axis(t, 0, axis);
    return t ? ms_reshape(t, (MsInts){n, shape}) : NULL;
}

MsStatus ms__batch_split(MsBatch *c, int j, int axis)
{
    MsTensor *t = c->out[j];
    if (!t) return ms_error()->code;
    int64_t shape[MS_MAX_DIM];
    if (t->ndim + 1 > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', batching needs more than %d dimensions.", c->op->name,
                       MS_MAX_DIM);
    memcpy(shape, t->shape, (size_t)axis * sizeof *shape);
    shape[axis] = c->size;
    shape[axis + 1] = c->size ? t->shape[axis] / c->size : 0;
    memcpy(shape + axis + 2, t->shape + axis + 1, (size_t)(t->ndim - axis - 1) * sizeof *shape);
    c->out[j] = ms_reshape(t, (MsInts){t->ndim + 1, shape});
    c->out_axis[j] = axis;
    return ms__status_of(c->out[j]);
}

static int axis_in(const MsTensor *t, int axis)
{
    return t->ndim == 1 ? 0 : axis;
}

MsStatus ms__batch_along(MsBatch *c, const MsAttr *attr, int axis)
{
    MsTensor *in[c->n_in];
    int n;
    for (int i = 0; i < c->n_in; i++) {
        int rank = c->in[i] ? c->in[i]->ndim - (c->axis[i] >= 0) : 0;
        in[i] = c->in[i] ? ms__batch_join(c, i, rank == 1 ? 0 : axis) : NULL;
        if (c->in[i] && !in[i]) return ms_error()->code;
    }
    MS_TRY(ms_bind(c->op, attr, c->n_in, in, c->n_out, c->out, &n));
    for (int j = 0; j < c->n_out; j++) MS_TRY(ms__batch_split(c, j, axis_in(c->out[j], axis)));
    return MS_OK;
}

MsStatus ms__batch_examples(MsBatch *c)
{
    MsAttr attr[MS_MAX_ATTR];
    const MsSig *sig = ms__sig(c->op);
    ms__batch_attrs(c, attr);
    for (int k = 0; k < sig->n_attr; k++)
        if (strcmp(sig->attr[k].name, "shape") == 0) attr[k].v[0] *= c->size;
    return ms__batch_along(c, attr, 0);
}

MsStatus ms__batch_channels(MsBatch *c)
{
    return ms__batch_along(c, c->attr, 1);
}

MsStatus ms__batch_by(MsBatch *c, const int8_t *in_axis, const int8_t *out_axis)
{
    MsTensor *in[c->n_in];
    int n;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i] && in_axis[i] < 0 && c->axis[i] >= 0) return ms__batch_loop(c);
    for (int i = 0; i < c->n_in; i++) {
        in[i] = c->in[i] && in_axis[i] >= 0 ? ms__batch_join(c, i, in_axis[i]) : c->in[i];
        if (c->in[i] && !in[i]) return ms_error()->code;
    }
    MS_TRY(ms_bind(c->op, c->attr, c->n_in, in, c->n_out, c->out, &n));
    for (int j = 0; j < c->n_out; j++) MS_TRY(ms__batch_split(c, j, out_axis[j]));
    return MS_OK;
}
