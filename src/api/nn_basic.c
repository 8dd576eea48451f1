/* nn_basic.c - dropout, writing parameters and layers that are one operator, rows under `_nn`; see nn.c. */
#include "api/api.h"
#include "op/random.h"

/* ---- dropout ---- */

/* Zeroes with probability p and scales the rest; the first `kept` axes are drawn, the others share their
 * draw. */
MS_API(nn_dropout, "_nn.dropout", "(x: Tensor, p: float, drawn_axes: int = -1) -> Tensor")
{
    MsTensor *x = T(0);
    double p = F(1);
    int ndim = ms_tensor_ndim(x);
    MsDtype dt = ms_tensor_dtype(x);
    if (!ms_dtype_is_float(dt))
        return MS_FAIL(MS_ERROR_TYPE, "For 'Dropout', the input must be a Tensor of floats, but got %s.",
                       ms_dtype_name(dt));
    if (!(p >= 0 && p <= 1))
        return MS_FAIL(MS_ERROR_VALUE, "For 'Dropout', the 'p' must be a number in range [0, 1], but got %g.",
                       p);
    if (p == 1) return R(ms_mul(x, ms_tensor_scalar(dt, 0)));
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < ndim; d++) shape[d] = I(2) < 0 || d < I(2) ? ms_tensor_shape(x)[d] : 1;
    MsTensor *u = ms_rng_uniform(ms__rng_next(ms_random_state()), (MsInts){ndim, shape}, MS_FLOAT32);
    MsTensor *keep = ms_cast(ms_ge(u, ms_tensor_scalar(MS_FLOAT32, p)), dt);
    return R(ms_mul(x, ms_mul(keep, ms_tensor_scalar(dt, 1 / (1 - p)))));
}

/* ---- parameters ---- */

/* t[...] = value, broadcast and cast; inside a transformation the write is recorded. */
MS_API(nn_assign, "_nn.assign", "(t: Tensor, value: Tensor|number) -> None")
{
    MsTensor *v = ms__arg_tensor(ARG(1), T(0));
    return v ? ms_tensor_write(T(0), v) : ms_error()->code;
}

/* ---- layers that are one operator ---- */

MS_API(nn_linear, "_nn.linear", "(x: Tensor, weight: Tensor, bias: Tensor?) -> Tensor")
{
    return R(ms_linear(T(0), T(1), T(2)));
}

MS_API(nn_take, "_nn.take", "(x: Tensor, index: Tensor, axis: int = 0) -> Tensor")
{
    return R(ms_gather(T(0), T(1), I(2)));
}

MS_API(nn_pad, "_nn.pad", "(x: Tensor, low: ints, high: ints) -> Tensor")
{
    int64_t low[MS_MAX_DIM], high[MS_MAX_DIM];
    return R(ms_pad(T(0), INTS(1, low), INTS(2, high), 0.0));
}
