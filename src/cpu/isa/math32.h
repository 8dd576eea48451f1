/* math32.h - float32 functions. */
#ifndef MS_CPU_ISA_MATH32_H
#define MS_CPU_ISA_MATH32_H
LANE float f32_exp(float x)
{
    return expf(x);
}
LANE float f32_expm1(float x)
{
    return expm1f(x);
}
LANE float f32_log(float x)
{
    return logf(x);
}
LANE float f32_log1p(float x)
{
    return log1pf(x);
}
LANE float f32_sin(float x)
{
    return sinf(x);
}
LANE float f32_cos(float x)
{
    return cosf(x);
}
LANE float f32_tan(float x)
{
    return tanf(x);
}
LANE float f32_asin(float x)
{
    return asinf(x);
}
LANE float f32_acos(float x)
{
    return acosf(x);
}
LANE float f32_atan(float x)
{
    return atanf(x);
}
LANE float f32_sinh(float x)
{
    return sinhf(x);
}
LANE float f32_cosh(float x)
{
    return coshf(x);
}
LANE float f32_tanh(float x)
{
    return tanhf(x);
}
LANE float f32_asinh(float x)
{
    return asinhf(x);
}
LANE float f32_acosh(float x)
{
    return acoshf(x);
}
LANE float f32_atanh(float x)
{
    return atanhf(x);
}
LANE float f32_erf(float x)
{
    return erff(x);
}
LANE float f32_erfc(float x)
{
    return erfcf(x);
}
LANE float f32_pow(float a, float b)
{
    return powf(a, b);
}
LANE float f32_atan2(float a, float b)
{
    return atan2f(a, b);
}
LANE float f32_sigmoid(float x)
{
    return (float)f64_sigmoid((double)x);
}
LANE float f32_erfinv(float x)
{
    return (float)f64_erfinv((double)x);
}
LANE float f32_lgamma(float x)
{
    return (float)f64_lgamma((double)x);
}
LANE float f32_digamma(float x)
{
    return (float)f64_digamma((double)x);
}
LANE float f32_log_sigmoid(float x)
{
    return (float)f64_log_sigmoid((double)x);
}
LANE float f32_softplus(float x)
{
    return (float)f64_softplus((double)x);
}
LANE float f32_gelu(float x)
{
    return (float)f64_gelu((double)x);
}
LANE float f32_gelu_slope(float x)
{
    return (float)f64_gelu_slope((double)x);
}
LANE float f32_gelu_tanh(float x)
{
    return (float)f64_gelu_tanh((double)x);
}
LANE float f32_gelu_tanh_slope(float x)
{
    return (float)f64_gelu_tanh_slope((double)x);
}
LANE float f32_silu_slope(float x)
{
    return (float)f64_silu_slope((double)x);
}
#endif
