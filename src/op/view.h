/* view.h - helpers for rules that move elements: attributes as lists, batch axes, index arithmetic. */
#ifndef MS_OP_VIEW_H
#define MS_OP_VIEW_H
#include "op/op.h"

static inline MsInts ms__attr_ints(const MsAttr *a)
{
    return (MsInts){a->n, a->v};
}
static inline MsInts ms__shape_of(const MsTensor *t)
{
    return (MsInts){t->ndim, t->shape};
}

/* in[i] of a batching rule with its batch axis first; broadcast along a new one where it has none. */
MsTensor *ms__batch_front(MsBatch *c, int i);
/* Axis `axis` of t moved to position `to`. */
MsTensor *ms__move_axis(MsTensor *t, int axis, int to);
/* Zeros of t's dtype and shape. */
MsTensor *ms__zeros_like(MsTensor *t);
/* t[.., begin:begin+n, ..] along one axis. */
MsTensor *ms__narrow(MsTensor *t, int axis, int64_t begin, int64_t n);
/* The status of a rule that made one tensor. */
static inline MsStatus ms__status_of(const MsTensor *t)
{
    return t ? MS_OK : ms_error()->code;
}

#endif
