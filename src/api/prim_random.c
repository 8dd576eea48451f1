/* prim_random.c - draws of primitive classes that own their seeds: a state tensor {seed, offset} that every draw
 * advances, in graphs as well; without one the default generator is used. */
#include "api/args.h"

#include "op/random.h"

#include <math.h>

static MsTensor *drawn(const MsArg *state)
{
    return ms__arg_state(NULL, state);
}

/* normal: mean 0, deviation 1; uniform: [0, 1); laplace: location 0, scale 1. */
MS_API(p_draw, "_p.draw", "(kind: str, shape: any, state: Tensor?) -> Tensor")
{
    VAR("draw", 1, buf, shape);
    MsTensor *s = drawn(ARG(2));
    if (!s) return ms_error()->code;
    if (ARG(0)->s[0] == 'n') return R(ms_rng_normal(s, shape, MS_FLOAT32));
    MsTensor *u = ms_rng_uniform(s, shape, MS_FLOAT32);
    if (ARG(0)->s[0] == 'u') return R(u);
    u = ms_sub(u, ms_tensor_scalar(MS_FLOAT32, 0.5)); /* by the inverse distribution, away from its ends */
    MsTensor *tail = ms_mul(ms_abs(u), ms_tensor_scalar(MS_FLOAT32, -2));
    MsTensor *least = ms_tensor_scalar(MS_FLOAT32, -1 + 0x1p-24);
    return R(ms_neg(ms_mul(ms_sign(u), ms_log1p(ms_maximum(tail, least)))));
}

MS_API(p_draw_int, "_p.draw_int", "(shape: any, low: int, high: int, state: Tensor?, dtype: dtype) -> Tensor")
{
    VAR("UniformInt", 0, buf, shape);
    if (I(1) >= I(2))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'UniformInt', 'minval' must be smaller than 'maxval', but got %lld and %lld.",
                       (long long)I(1), (long long)I(2));
    MsTensor *s = drawn(ARG(3));
    return R(s ? ms_rng_int(s, I(1), I(2), shape, DTYPE(4)) : NULL);
}

/* The slices along axis 0 in random order. */
MS_API(p_shuffle, "_p.shuffle", "(x: Tensor, state: Tensor?) -> Tensor")
{
    MsTensor *s = drawn(ARG(1));
    if (!s) return ms_error()->code;
    if (T(0)->ndim == 0) return R(ms_identity(T(0)));
    return R(ms_gather(T(0), ms_rng_perm(s, T(0)->shape[0]), 0));
}
