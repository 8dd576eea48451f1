/* create.c - operators without inputs: constants and ranges. full_int and arange_int keep all 64 bits; their
 * float twins take what a double holds. Element i of a range is start + i * step, never a running sum. */
#include "op/view.h"

#include "mindspore_ops.h"

#include <string.h>

static MsStatus set_out(MsInfer *c, int ndim, const int64_t *shape, const MsAttr *dtype)
{
    if (dtype->kind != MS_ATTR_DTYPE)
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the dtype must be given.", c->op->name);
    if (ms__numel(ndim, shape) < 0) return ms_error()->code;
    c->out[0].dtype = (MsDtype)dtype->i;
    c->out[0].ndim = ndim;
    memcpy(c->out[0].shape, shape, (size_t)ndim * sizeof *shape);
    return MS_OK;
}

static MsStatus infer_full(MsInfer *c)
{
    return set_out(c, c->attr[0].n, c->attr[0].v, &c->attr[2]);
}
static MsStatus infer_arange(MsInfer *c)
{
    return set_out(c, 1, &c->attr[2].i, &c->attr[3]);
}

MS_OP(full, .sig = "full(*, shape: ints, value: float, dtype: dtype) -> _", .infer = infer_full,
      .flags = MS_OP_NO_GRAD, .sample = "shape=2,3 value=1.5 dtype=float32; shape= value=0 dtype=int8");
MS_OP(full_int, .sig = "full_int(*, shape: ints, value: int, dtype: dtype) -> _", .infer = infer_full,
      .flags = MS_OP_NO_GRAD, .sample = "shape=2,3 value=7 dtype=int64; shape=0 value=1 dtype=bool");
/* n values start + i * step */
MS_OP(arange, .sig = "arange(*, start: float, step: float, n: int, dtype: dtype) -> _", .infer = infer_arange,
      .flags = MS_OP_NO_GRAD,
      .sample = "start=0 step=0.5 n=5 dtype=float32; start=3 step=-1 n=0 dtype=float16");
MS_OP(arange_int, .sig = "arange_int(*, start: int, step: int, n: int, dtype: dtype) -> _",
      .infer = infer_arange, .flags = MS_OP_NO_GRAD,
      .sample = "start=2 step=3 n=5 dtype=int64; start=0 step=1 n=3 dtype=float32");
