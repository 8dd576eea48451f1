/* select.c - cast and where, the elementwise operators whose inputs differ in dtype. */
#include "op/rules.h"

static MsStatus infer_cast(MsInfer *c)
{
    MsDtype dtype = (MsDtype)c->attr[0].i;
    if (c->attr[0].kind != MS_ATTR_DTYPE || dtype < 0 || dtype >= MS_INT4)
        return MS_FAIL(MS_ERROR_TYPE,
                       "For 'cast', the argument 'dtype' must be a dtype of computation, but got %s.",
                       c->attr[0].kind == MS_ATTR_DTYPE ? ms_dtype_name(dtype) : "none");
    c->out[0] = c->in[0];
    c->out[0].dtype = dtype;
    return MS_OK;
}

static bool differentiable(MsDtype dtype)
{
    return ms_dtype_is_float(dtype) || ms_dtype_is_complex(dtype);
}

static MsStatus vjp_cast(MsVjp *c)
{
    MsDtype from = ms_tensor_dtype(c->in[0]), to = ms_tensor_dtype(c->out[0]);
    if (from == MS_BOOL || !differentiable(to) || !c->want[0]) return MS_OK;
    c->grad[0] = ms_cast(c->ct[0], from);
    return c->grad[0] ? MS_OK : ms_error()->code;
}

MS_OP(cast, .sig = "cast(x: any, *, dtype: dtype) -> _", .infer = infer_cast, .vjp = vjp_cast,
      .flags = MS_OP_ELEMENTWISE,
      .sample =
          "f32[3,4] dtype=float16; f16[2,3] dtype=float32; f64[3] dtype=bfloat16; i32[3] dtype=float32; "
          "f32[3] dtype=int64; u8[4] dtype=bool; bool[3] dtype=int8; f32[2] dtype=complex64; c64[2] "
          "dtype=float32");

static MsStatus vjp_where(MsVjp *c)
{
    MsTensor *g = c->ct[0], *zero = ms__constant(g, 0);
    if (c->want[1]) c->grad[1] = ms_where(c->in[0], g, zero);
    if (c->want[2]) c->grad[2] = ms_where(c->in[0], zero, g);
    return ms__failed() ? ms_error()->code : MS_OK;
}

MS_OP(where, .sig = "where(cond: bool, x: any, y: x) -> x", .vjp = vjp_where, .flags = MS_OP_ELEMENTWISE,
      .sample =
          "bool[3,4] f32[3,4] f32[4]; bool[] f16[3] f16[3]; bool[2,1] i32[3] i32[]; bool[3] c64[3] c64[3]");
