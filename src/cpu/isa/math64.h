/* math64.h - functions of double and of complex numbers that libm does not have. */
#ifndef MS_CPU_ISA_MATH64_H
#define MS_CPU_ISA_MATH64_H

LANE double f64_sigmoid(double x)
{
    double e = exp(-fabs(x)), s = 1 / (1 + e);
    return x < 0 ? e * s : s;
}
LANE double f64_softplus(double x)
{
    return (x > 0 ? x : x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
}
LANE double f64_log_sigmoid(double x)
{
    return (x < 0 ? x : x > 0 ? 0 : x) - log1p(exp(-fabs(x)));
}

/* Abramowitz and Stegun 7.1.1: erf; the density of the normal distribution for the slopes. */
LANE double f64_gelu(double x)
{
    return 0.5 * x * erfc(-x * 0.70710678118654752440);
}
LANE double f64_gelu_slope(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440) + x * 0.39894228040143267794 * exp(-0.5 * x * x);
}
LANE double f64_gelu_tanh(double x)
{
    return x * f64_sigmoid(1.5957691216057307117 * (x + 0.044715 * x * x * x));
}
LANE double f64_gelu_tanh_slope(double x)
{
    double s = f64_sigmoid(1.5957691216057307117 * (x + 0.044715 * x * x * x));
    return s + x * s * (1 - s) * 1.5957691216057307117 * (1 + 3 * 0.044715 * x * x);
}
LANE double f64_silu_slope(double x)
{
    double s = f64_sigmoid(x);
    return s + x * s * (1 - s);
}

/* Winitzki's closed form, then three Halley steps on erfc, where 1 - |x| is exact. */
LANE double f64_erfinv(double x)
{
    double a = fabs(x);
    if (!(a < 1)) return a == 1 ? copysign((double)INFINITY, x) : (double)NAN;
    double l = log1p(-a * a) / 2, t = 4.3307467508 + l;
    double z = sqrt(sqrt(t * t - l * 13.6054421769) - t);
    if (a < 1e-3) z = a * 0.88622692545275801365;
    for (int k = 0; k < 3; k++) {
        double r = a < 0.5 ? erf(z) - a : (1 - a) - erfc(z);
        double u = r / (1.12837916709551257390 * exp(-z * z));
        z -= u / (1 + z * u);
    }
    return copysign(z, x);
}

LANE double f64_lgamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* Recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.18, 6.4.12); reflection below 0.
 */
static inline double f64_digamma(double x)
{
    if (x == 0) return copysign((double)INFINITY, -x);
    if (x == (double)-INFINITY) return (double)NAN;
    double y = 0;
    if (x < 0) {
        double r = x - nearbyint(x); /* from the nearest pole: exact */
        if (r == 0) return (double)NAN;
        y = -M_PI / tan(M_PI * r);
        x = 1 - x;
    }
    for (; x < 10; x += 1) y -= 1 / x;
    double z = 1 / (x * x);
    double s = z * (1.0 / 12 -
                    z * (1.0 / 120 -
                         z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
    return y + log(x) - 0.5 / x - s;
}
/* expm1(a + bi) = expm1(a) cos b - 2 sin^2(b/2) + i exp(a) sin b */
LANE double _Complex c128_expm1(double _Complex x)
{
    double a = creal(x), b = cimag(x), h = sin(b / 2);
    return CMPLX(expm1(a) * cos(b) - 2 * h * h, exp(a) * sin(b));
}
LANE float _Complex c64_expm1(float _Complex x)
{
    return (float _Complex)c128_expm1(x);
}
LANE double _Complex c128_log1p(double _Complex x)
{
    double a = creal(x), b = cimag(x);
    return CMPLX(0.5 * log1p(a * (2 + a) + b * b), atan2(b, 1 + a));
}
LANE float _Complex c64_log1p(float _Complex x)
{
    return (float _Complex)c128_log1p(x);
}
LANE double _Complex c128_sigmoid(double _Complex x)
{
    return 1 / (1 + cexp(-x));
}
LANE float _Complex c64_sigmoid(float _Complex x)
{
    return 1 / (1 + cexpf(-x));
}

#endif
