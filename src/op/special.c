/* special.c - special functions with a parameter or of several arguments. */
#include "cpu/copy.h"
#include "mindspore_ops.h"
#include "op/rules.h"

#include <math.h>

static MsStatus infer_polygamma(MsInfer *c)
{
    if (c->attr[0].i < 1 || c->attr[0].i > 100)
        return MS_FAIL(MS_ERROR_VALUE, "For 'polygamma', 'n' must be in [1, 100], but got %lld.",
                       (long long)c->attr[0].i);
    MsDtype d = c->out[0].dtype;
    c->out[0] = c->in[0];
    c->out[0].dtype = d;
    return MS_OK;
}

static MsStatus vjp_polygamma(MsVjp *c)
{
    c->grad[0] = ms_mul(c->ct[0], ms_polygamma(c->in[0], c->attr[0].i + 1));
    return MS_OK;
}

/* The n-th derivative of digamma, n >= 1: recurrence up to x >= 20 + n, then the asymptotic series
 * (Abramowitz and Stegun 6.4.6, 6.4.11). Poles at 0, -1, ... are infinite for odd n and NaN, having no sign,
 * for even n. */
static double polygamma(int n, double x)
{
    static const double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                       5.0 / 66, -691.0 / 2730, 7.0 / 6};
    if (isnan(x) || x == -INFINITY || x < -1e6) return NAN;
    if (x == INFINITY) return 0;
    if (x <= 0 && x == floor(x)) return n % 2 ? INFINITY : NAN;
    double factorial = tgamma(n + 1), sum = 0;
    for (; x < 20 + n; x += 1) sum += factorial / pow(x, n + 1);
    double term = factorial / n / pow(x, n), series = term + factorial / (2 * pow(x, n + 1)),
           ratio = factorial / n;
    for (int j = 1; j <= 7; j++) { /* (2j + n - 1)! / (2j)! by recurrence */
        ratio *= (double)(2 * j + n - 2) * (2 * j + n - 1) / ((2.0 * j - 1) * (2.0 * j));
        series += bernoulli[j - 1] * ratio / pow(x, n + 2 * j);
    }
    return n % 2 ? sum + series : -(sum + series);
}

static MsStatus run_polygamma(MsCall *c)
{
    int n = (int)c->attr[0].i, mark = ms_scope_begin();
    MsTensor *y = ms__out(c, 0);
    MsTensor *wide = y ? ms_tensor_empty(MS_FLOAT64, y->ndim, y->shape) : NULL;
    MsStatus st = wide ? ms__copy(wide, c->in[0]) : ms_error()->code;
    for (int64_t k = 0; st == MS_OK && k < wide->numel; k++)
        ((double *)wide->data)[k] = polygamma(n, ((double *)wide->data)[k]);
    if (st == MS_OK) st = ms__copy(y, wide);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}

MS_OP(polygamma, .sig = "polygamma(x: float, *, n: int) -> x", .infer = infer_polygamma, .vjp = vjp_polygamma,
      .flags = MS_OP_ELEMENTWISE,
      .sample = "f32[3,4]{0.5,4} n=1; f64[5]{0.5,4} n=2; f64[4]{-2.9,-2.1} n=1; f16[3]{0.5,4} n=1");
MS_KERNEL(polygamma, 0, loop, NULL, run_polygamma);

/* ---- Bessel functions ---- */

/* Abramowitz and Stegun 9.1.28 and 9.6.27; the scaled forms by the product rule. */
static MsStatus vjp_bessel(MsVjp *c)
{
    const char *k = c->attr[0].s;
    MsTensor *x = c->in[0], *y = c->out[0], *d;
    bool one = k[1] == '1', scaled = k[2] == 'e';
    char other[4] = {k[0], one ? '0' : '1', scaled ? 'e' : 0, 0};
    MsTensor *z = ms_bessel(x, ms__intern(other));
    if (one) { /* first order: of order 0 minus itself over x, half at the origin of J and I */
        MsTensor *zero = ms_eq(x, ms__constant(x, 0));
        MsTensor *ratio = ms_where(zero, ms__constant(x, k[0] == 'j' || k[0] == 'i' ? 0.5 : 0),
                                   ms_div(y, ms_where(zero, ms__constant(x, 1), x)));
        d = ms_sub(k[0] == 'k' ? ms_neg(z) : z, ratio);
    } else {
        d = k[0] == 'i' ? z : ms_neg(z);
    }
    if (scaled) d = k[0] == 'i' ? ms_sub(d, ms_mul(ms_sign(x), y)) : ms_add(d, y);
    c->grad[0] = ms_mul(c->ct[0], d);
    return MS_OK;
}

/* kind: j0 j1 y0 y1 i0 i1 i0e i1e k0 k1 k0e k1e */
MS_OP(bessel, .sig = "bessel(x: float, *, kind: str) -> x", .vjp = vjp_bessel, .flags = MS_OP_ELEMENTWISE,
      .sample =
          "f32[3,4] kind=j0; f64[5] kind=j1; f64[5]{0.5,4} kind=y0; f64[3]{0.5,4} kind=y1; f64[5] kind=i0; "
          "f64[4] kind=i1; f64[4]{0.5,2} kind=i0e; f64[4]{0.5,2} kind=i1e; f64[4]{0.5,4} kind=k0; "
          "f32[4]{0.5,4} kind=k1; f64[4]{0.5,4} kind=k0e; f64[4]{0.5,4} kind=k1e");

/* ---- incomplete gamma, zeta ---- */

/* x^(a-1) exp(-x) / gamma(a) */
static MsTensor *gamma_density(MsTensor *a, MsTensor *x)
{
    MsTensor *e = ms_sub(ms_mul(ms__shift(a, -1), ms_log(x)), ms_add(x, ms_lgamma(a)));
    return ms_exp(e);
}

static MsStatus vjp_gamma(MsVjp *c, bool upper)
{
    MsTensor *g = upper ? ms_neg(c->ct[0]) : c->ct[0];
    if (c->want[0]) c->grad[0] = ms_mul(g, ms_gamma_moment(c->in[0], c->in[1], 1));
    if (c->want[1]) c->grad[1] = ms_mul(g, gamma_density(c->in[0], c->in[1]));
    return MS_OK;
}
static MsStatus vjp_igamma(MsVjp *c)
{
    return vjp_gamma(c, false);
}
static MsStatus vjp_igammac(MsVjp *c)
{
    return vjp_gamma(c, true);
}

/* Regularised lower and upper incomplete gamma functions. */
MS_OP(igamma, .sig = "igamma(a: float, x: a) -> a", .vjp = vjp_igamma, .flags = MS_OP_ELEMENTWISE,
      .sample = "f32[3,4]{0.5,4} f32[4]{0.5,4}; f64[3]{0.5,4} f64[3]{0.5,4}");
MS_OP(igammac, .sig = "igammac(a: float, x: a) -> a", .vjp = vjp_igammac, .flags = MS_OP_ELEMENTWISE,
      .sample = "f32[3,4]{0.5,4} f32[4]{0.5,4}; f64[3]{0.5,4} f64[3]{0.5,4}");

/* y^n for n >= 0. */
static MsTensor *power(MsTensor *y, int64_t n)
{
    return ms_pow(y, ms__constant(y, (double)n));
}
/* d/da of the density multiplies it by ln t - psi(a), and of the factor to the n-th subtracts n psi'(a) of it. */
static MsStatus vjp_gamma_moment(MsVjp *c)
{
    MsTensor *a = c->in[0], *x = c->in[1], *g = c->ct[0];
    int64_t n = c->attr[0].i;
    if (c->want[0]) {
        MsTensor *d = ms_gamma_moment(a, x, n + 1);
        if (n) d = ms_sub(d, ms_mul(ms__scale(ms_polygamma(a, 1), (double)n), ms_gamma_moment(a, x, n - 1)));
        c->grad[0] = ms_mul(g, d);
    }
    if (c->want[1])
        c->grad[1] = ms_mul(g, ms_mul(gamma_density(a, x), power(ms_sub(ms_log(x), ms_digamma(a)), n)));
    return MS_OK;
}
MS_OP(gamma_moment, .sig = "gamma_moment(a: float, x: a, *, n: int) -> a", .vjp = vjp_gamma_moment,
      .flags = MS_OP_ELEMENTWISE,
      .sample = "f64[3]{0.5,4} f64[3]{0.5,4} n=1; f32[2,2]{0.5,4} f32[2]{0.5,4} n=2");

static MsTensor *beta_density(MsTensor *a, MsTensor *b, MsTensor *x)
{
    MsTensor *beta = ms_sub(ms_add(ms_lgamma(a), ms_lgamma(b)), ms_lgamma(ms_add(a, b)));
    MsTensor *e = ms_add(ms_mul(ms__shift(a, -1), ms_log(x)), ms_mul(ms__shift(b, -1), ms_log1p(ms_neg(x))));
    return ms_exp(ms_sub(e, beta));
}
static MsStatus vjp_betainc(MsVjp *c)
{
    MsTensor *a = c->in[0], *b = c->in[1], *x = c->in[2], *g = c->ct[0];
    if (c->want[0]) c->grad[0] = ms_mul(g, ms_beta_moment(a, b, x, 1, 0));
    if (c->want[1]) c->grad[1] = ms_mul(g, ms_beta_moment(a, b, x, 0, 1));
    if (c->want[2]) c->grad[2] = ms_mul(g, beta_density(a, b, x));
    return MS_OK;
}
/* The regularised incomplete beta function I_x(a, b). */
MS_OP(
    betainc, .sig = "betainc(a: float, b: a, x: a) -> a", .vjp = vjp_betainc, .flags = MS_OP_ELEMENTWISE,
    .sample = "f32[3,4]{0.5,4} f32[4]{0.5,4} f32[3,1]{0.1,0.9}; f64[3]{0.5,4} f64[3]{0.5,4} f64[3]{0.1,0.9}");

/* The derivative of M[n, m] by a parameter: the next moment, less what its centres p and q move. */
static MsTensor *beta_slope(MsVjp *c, int64_t n_up, int64_t m_up, MsTensor *p_slope, MsTensor *q_slope)
{
    MsTensor *a = c->in[0], *b = c->in[1], *x = c->in[2];
    int64_t n = c->attr[0].i, m = c->attr[1].i;
    MsTensor *d = ms_beta_moment(a, b, x, n + n_up, m + m_up);
    if (n) d = ms_sub(d, ms_mul(ms__scale(p_slope, (double)n), ms_beta_moment(a, b, x, n - 1, m)));
    if (m) d = ms_sub(d, ms_mul(ms__scale(q_slope, (double)m), ms_beta_moment(a, b, x, n, m - 1)));
    return ms_mul(c->ct[0], d);
}
static MsStatus vjp_beta_moment(MsVjp *c)
{
    MsTensor *a = c->in[0], *b = c->in[1], *x = c->in[2], *both = ms_add(a, b);
    MsTensor *shared = ms_neg(ms_polygamma(both, 1)), *centre = ms_digamma(both);
    if (c->want[0]) c->grad[0] = beta_slope(c, 1, 0, ms_add(ms_polygamma(a, 1), shared), shared);
    if (c->want[1]) c->grad[1] = beta_slope(c, 0, 1, shared, ms_add(ms_polygamma(b, 1), shared));
    if (c->want[2]) {
        MsTensor *p = ms_sub(ms_log(x), ms_sub(ms_digamma(a), centre));
        MsTensor *q = ms_sub(ms_log1p(ms_neg(x)), ms_sub(ms_digamma(b), centre));
        MsTensor *factor = ms_mul(power(p, c->attr[0].i), power(q, c->attr[1].i));
        c->grad[2] = ms_mul(c->ct[0], ms_mul(beta_density(a, b, x), factor));
    }
    return MS_OK;
}
MS_OP(beta_moment, .sig = "beta_moment(a: float, b: a, x: a, *, n: int, m: int) -> a", .vjp = vjp_beta_moment,
      .flags = MS_OP_ELEMENTWISE,
      .sample = "f64[3]{0.5,4} f64[3]{0.5,4} f64[3]{0.1,0.9} n=1; f32[2,2]{0.5,4} f32[2]{0.5,4} "
                "f32[2]{0.1,0.9} n=1 m=1");

static MsStatus vjp_zeta(MsVjp *c)
{
    MsTensor *x = c->in[0], *q = c->in[1];
    if (c->want[0]) c->grad[0] = ms_mul(c->ct[0], ms_zeta_slope(x, q, 1));
    if (c->want[1]) c->grad[1] = ms_neg(ms_mul(ms_mul(c->ct[0], x), ms_zeta(ms__shift(x, 1), q)));
    return MS_OK;
}
/* The Hurwitz function: sum over k >= 0 of (q + k)^-x. */
MS_OP(zeta, .sig = "zeta(x: float, q: x) -> x", .vjp = vjp_zeta, .flags = MS_OP_ELEMENTWISE,
      .sample = "f64[3]{1.5,4} f64[3]{0.5,4}; f32[3,4]{1.5,4} f32[4]{0.5,20}; f64[4] f64[4]");

/* By q the derivative of zeta is -x zeta(x + 1, q): so is that of what x derives, by the product rule. */
static MsStatus vjp_zeta_slope(MsVjp *c)
{
    MsTensor *x = c->in[0], *q = c->in[1];
    int64_t n = c->attr[0].i;
    if (c->want[0]) c->grad[0] = ms_mul(c->ct[0], ms_zeta_slope(x, q, n + 1));
    if (c->want[1]) {
        MsTensor *up = ms__shift(x, 1), *d = ms_mul(x, ms_zeta_slope(up, q, n));
        if (n) d = ms_add(d, ms__scale(ms_zeta_slope(up, q, n - 1), (double)n));
        c->grad[1] = ms_neg(ms_mul(c->ct[0], d));
    }
    return MS_OK;
}
/* The n-th derivative of zeta by x. */
MS_OP(zeta_slope, .sig = "zeta_slope(x: float, q: x, *, n: int) -> x", .vjp = vjp_zeta_slope,
      .flags = MS_OP_ELEMENTWISE,
      .sample = "f64[3]{1.5,4} f64[3]{0.5,4} n=1; f32[2,2]{1.5,4} f32[2]{0.5,20} n=2; f64[3]{1.5,4} "
                "f64[3]{0.5,4} n=0");

MS_OP(gcd, .sig = "gcd(x: int, y: x) -> x", .flags = MS_OP_ELEMENTWISE | MS_OP_NO_GRAD,
      .sample = "i32[3,4]{-20,20} i32[4]{-20,20}; u8[3] u8[3]; i64[2] i64[]");
static MsStatus vjp_nextafter(MsVjp *c)
{
    c->grad[0] = c->ct[0];
    return MS_OK;
}
MS_OP(nextafter, .sig = "nextafter(x: float, y: x) -> x", .vjp = vjp_nextafter, .flags = MS_OP_ELEMENTWISE,
      .sample = "f32[3,4] f32[4]; f64[3] f64[3]; f16[3] f16[3]; bf16[2] bf16[2]");
