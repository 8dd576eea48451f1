/* special.c - public names of special functions: Bessel, incomplete gamma, zeta and what is made of gamma. */
#include "api/args.h"

#include <math.h>

static MsTensor *floating(MsTensor *x)
{
    MsDtype d = ms_tensor_dtype(x);
    return d == MS_BOOL || ms_dtype_is_int(d) ? ms_cast(x, MS_FLOAT32) : x;
}
static MsTensor *constant(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(ms_tensor_dtype(like), v) : NULL;
}

static MsStatus bessel(MsApiCall *c, const char *kind)
{
    return R(ms_bessel(floating(T(0)), kind));
}
MS_API(bessel_j0, "ops.bessel_j0", "(x: Tensor) -> Tensor")
{
    return bessel(c, "j0");
}
MS_API(bessel_j1, "ops.bessel_j1", "(x: Tensor) -> Tensor")
{
    return bessel(c, "j1");
}
MS_API(bessel_y0, "ops.bessel_y0", "(x: Tensor) -> Tensor")
{
    return bessel(c, "y0");
}
MS_API(bessel_y1, "ops.bessel_y1", "(x: Tensor) -> Tensor")
{
    return bessel(c, "y1");
}
MS_API(bessel_i0, "ops.bessel_i0", "(x: Tensor) -> Tensor")
{
    return bessel(c, "i0");
}
MS_API(bessel_i0_input, "ops.i0 Tensor.i0", "(input: Tensor) -> Tensor")
{
    return bessel(c, "i0");
}
MS_API(bessel_i1, "ops.bessel_i1", "(x: Tensor) -> Tensor")
{
    return bessel(c, "i1");
}
MS_API(bessel_i0e, "ops.bessel_i0e", "(x: Tensor) -> Tensor")
{
    return bessel(c, "i0e");
}
MS_API(bessel_i1e, "ops.bessel_i1e", "(x: Tensor) -> Tensor")
{
    return bessel(c, "i1e");
}
MS_API(bessel_k0, "ops.bessel_k0", "(x: Tensor) -> Tensor")
{
    return bessel(c, "k0");
}
MS_API(bessel_k1, "ops.bessel_k1", "(x: Tensor) -> Tensor")
{
    return bessel(c, "k1");
}
MS_API(bessel_k0e, "ops.bessel_k0e", "(x: Tensor) -> Tensor")
{
    return bessel(c, "k0e");
}
MS_API(bessel_k1e, "ops.bessel_k1e", "(x: Tensor) -> Tensor")
{
    return bessel(c, "k1e");
}

static MsStatus pair(MsApiCall *c, MsTensor *(*f)(MsTensor *, MsTensor *))
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(f(floating(x), floating(y)));
}
MS_API(igamma, "ops.igamma Tensor.igamma", "(input: Tensor, other: Tensor) -> Tensor")
{
    return pair(c, ms_igamma);
}
MS_API(igammac, "ops.igammac Tensor.igammac", "(input: Tensor, other: Tensor) -> Tensor")
{
    return pair(c, ms_igammac);
}
MS_API(p_betainc, "_p.betainc", "(a: Tensor, b: Tensor, x: Tensor) -> Tensor")
{
    return R(ms_betainc(T(0), T(1), T(2)));
}
MS_API(zeta, "ops.zeta", "(input: Tensor|number, other: Tensor|number) -> Tensor")
{
    return pair(c, ms_zeta);
}

/* log of the multivariate gamma function: p (p - 1) / 4 log pi + sum of lgamma(x - k / 2). */
MS_API(mvlgamma, "ops.mvlgamma Tensor.mvlgamma", "(input: Tensor, p: int) -> Tensor")
{
    MsTensor *x = floating(T(0));
    if (I(1) < 1 || I(1) > 1000)
        return MS_FAIL(MS_ERROR_VALUE, "For 'mvlgamma', 'p' must be in [1, 1000], but got %lld.",
                       (long long)I(1));
    MsTensor *y = constant(x, (double)I(1) * (double)(I(1) - 1) / 4 * log(M_PI));
    for (int64_t k = 0; k < I(1) && y; k++) y = ms_add(y, ms_lgamma(ms_sub(x, constant(x, (double)k / 2))));
    return R(y);
}

/* The distance from 1 to the next number of the dtype, in every element. */
MS_API(eps, "ops.eps", "(x: Tensor) -> Tensor")
{
    static const double step[] = {0x1p-10, 0x1p-7, 0x1p-23, 0x1p-52};
    MsTensor *x = T(0);
    if (!ms_dtype_is_float(ms_tensor_dtype(x)))
        return MS_FAIL(MS_ERROR_TYPE, "For 'eps', 'x' must be a float tensor, but got %s.",
                       ms_dtype_name(ms_tensor_dtype(x)));
    return R(ms_full((MsInts){x->ndim, x->shape}, step[ms_tensor_dtype(x) - MS_FLOAT16], ms_tensor_dtype(x)));
}
