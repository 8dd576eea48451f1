/* special.c - loops of special functions: Bessel functions, incomplete gamma, Hurwitz zeta, and pairs that
 * need exact integers or the bits of a float. All reals are computed in float64 and rounded once; the inputs
 * are broadcast into dense temporaries, for these functions cost far more than the copy.
 */
#include "cpu/copy.h"
#include "mindspore_ops.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

/* Both inputs (or one) as dense `dtype` of the output's shape; *work receives the result. */
static MsStatus prepare(MsCall *c, MsDtype dtype, MsTensor **y, MsTensor **work, MsTensor **in)
{
    *y = ms__out(c, 0);
    *work = *y ? ms_tensor_empty(dtype, (*y)->ndim, (*y)->shape) : NULL;
    if (!*work) return ms_error()->code;
    for (int k = 0; k < c->n_in; k++) {
        in[k] = ms_tensor_empty(dtype, (*y)->ndim, (*y)->shape);
        if (!in[k]) return ms_error()->code;
        MS_TRY(ms__copy(in[k], c->in[k]));
    }
    return MS_OK;
}

typedef double (*Real2)(double, double);

static MsStatus run_real2(MsCall *c, Real2 f)
{
    int mark = ms_scope_begin();
    MsTensor *y, *w, *in[2];
    MsStatus st = prepare(c, MS_FLOAT64, &y, &w, in);
    for (int64_t k = 0; st == MS_OK && k < w->numel; k++)
        ((double *)w->data)[k] = f(((double *)in[0]->data)[k], ((double *)in[1]->data)[k]);
    if (st == MS_OK) st = ms__copy(y, w);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}

/* ---- Bessel functions ---- */

/* 1 + (m - 1) / 8x + (m - 1) (m - 9) / 2! (8x)^2 + ..., m = 4 n^2: of K_n at x, of I_n at -x, for large |x| (Abramowitz
 * and Stegun 9.7.1, 9.7.2). */
static double expansion(int n, double x)
{
    double m = 4.0 * n * n, term = 1, sum = 1;
    for (int k = 1; k < 40; k++) {
        double next = term * (m - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
        if (fabs(next) >= fabs(term) || fabs(next) < 1e-18) break;
        sum += term = next;
    }
    return sum;
}

/* exp(-|x|) I_n(x): the power series, or the expansion for large x (Abramowitz and Stegun 9.6.10). */
static double bessel_ie(int n, double x)
{
    double a = fabs(x), sign = n % 2 && x < 0 ? -1 : 1;
    if (isnan(x)) return x;
    if (isinf(x)) return 0;
    if (a < 25) {
        double q = a * a / 4, term = n ? a / 2 : 1, sum = term;
        for (int k = 1; k < 200 && term > sum * 1e-17; k++) {
            term *= q / ((double)k * (k + n));
            sum += term;
        }
        return sign * sum * exp(-a);
    }
    return sign * expansion(n, -a) / sqrt(2 * M_PI * a);
}

/* exp(x) K_n(x) = integral over t > 0 of exp(-x (cosh t - 1)) cosh(n t): the trapezoidal rule converges
 * exponentially, for the integrand and all its derivatives vanish at the ends of the even continuation. */
static double bessel_ke(int n, double x)
{
    if (isnan(x) || x < 0) return NAN;
    if (x == 0) return INFINITY;
    if (isinf(x)) return 0;
    if (x > 25) return expansion(n, x) * sqrt(M_PI / 2 / x);
    double end = acosh(1 + 750 / x), h = fmin(end / 60, 0.1), sum = 0.5;
    if (end > 745) return n ? 1 / x : -log(x);
    for (int k = 1; k * h < end; k++) {
        double t = k * h, s = sinh(t / 2), e = -2 * x * s * s;
        if (e < -745) break;
        sum += exp(e) * (n ? cosh(t) : 1);
    }
    return sum * h;
}

static double signed_j1(double x)
{
    return isinf(x) ? 0 : j1(x);
}
static double finite_j0(double x)
{
    return isinf(x) ? 0 : j0(x);
}
static double real_y0(double x)
{
    return x < 0 ? NAN : y0(x);
}
static double real_y1(double x)
{
    return x < 0 ? NAN : y1(x);
}
static double i0e(double x)
{
    return bessel_ie(0, x);
}
static double i1e(double x)
{
    return bessel_ie(1, x);
}
static double i0(double x)
{
    return isinf(x) ? INFINITY : bessel_ie(0, x) * exp(fabs(x));
}
static double i1(double x)
{
    return isinf(x) ? x : bessel_ie(1, x) * exp(fabs(x));
}
static double k0e(double x)
{
    return bessel_ke(0, x);
}
static double k1e(double x)
{
    return bessel_ke(1, x);
}
static double k0(double x)
{
    return x == 0 ? INFINITY : bessel_ke(0, x) * exp(-x);
}
static double k1(double x)
{
    return x == 0 ? INFINITY : bessel_ke(1, x) * exp(-x);
}

static const struct {
    const char *kind;
    double (*f)(double);
} bessel[] = {{"j0", finite_j0}, {"j1", signed_j1}, {"y0", real_y0}, {"y1", real_y1},
              {"i0", i0},        {"i1", i1},        {"i0e", i0e},    {"i1e", i1e},
              {"k0", k0},        {"k1", k1},        {"k0e", k0e},    {"k1e", k1e}};

static MsStatus run_bessel(MsCall *c)
{
    double (*f)(double) = NULL;
    for (size_t k = 0; k < sizeof bessel / sizeof *bessel; k++)
        if (strcmp(bessel[k].kind, c->attr[0].s) == 0) f = bessel[k].f;
    if (!f) return MS_FAIL(MS_ERROR_VALUE, "For 'bessel', there is no kind '%s'.", c->attr[0].s);
    int mark = ms_scope_begin();
    MsTensor *y, *w, *in[1];
    MsStatus st = prepare(c, MS_FLOAT64, &y, &w, in);
    for (int64_t k = 0; st == MS_OK && k < w->numel; k++)
        ((double *)w->data)[k] = f(((double *)in[0]->data)[k]);
    if (st == MS_OK) st = ms__copy(y, w);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}
MS_KERNEL(bessel, 0, loop, NULL, run_bessel);

/* ---- incomplete gamma ---- */

/* x^a exp(-x) / gamma(a + 1) without overflow. */
static double gamma_weight(double a, double x)
{
    return exp(a * log(x) - x - lgamma(a + 1));
}
/* The lower function by its series, right for x < a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < 100000 && term > sum * 1e-17; k++) sum += term *= x / (a + k);
    return sum * gamma_weight(a, x);
}
/* The upper function by its continued fraction (modified Lentz), right for x >= a + 1. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, cc = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < 100000; k++) {
        double an = -k * (k - a);
        b += 2;
        d = an * d + b;
        cc = b + an / cc;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        if (fabs(cc) < 1e-300) cc = 1e-300;
        h *= d * cc;
        if (fabs(d * cc - 1) < 1e-16) break;
    }
    return h * a * gamma_weight(a, x);
}
static double lower_gamma(double a, double x)
{
    if (isnan(a) || isnan(x) || a < 0 || x < 0 || (a == 0 && x == 0)) return NAN;
    if (a == 0) return 1;
    if (x == 0) return 0;
    if (isinf(a)) return isinf(x) ? NAN : 0;
    if (isinf(x)) return 1;
    return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}
static double upper_gamma(double a, double x)
{
    if (isnan(a) || isnan(x) || a < 0 || x < 0 || (a == 0 && x == 0)) return NAN;
    if (a == 0) return 0;
    if (x == 0) return 1;
    if (isinf(a)) return isinf(x) ? NAN : 1;
    if (isinf(x)) return 0;
    return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}
static MsStatus run_igamma(MsCall *c)
{
    return run_real2(c, lower_gamma);
}
static MsStatus run_igammac(MsCall *c)
{
    return run_real2(c, upper_gamma);
}
MS_KERNEL(igamma, 0, loop, NULL, run_igamma);
MS_KERNEL(igammac, 0, loop, NULL, run_igammac);

/* ---- incomplete beta ---- */

/* The continued fraction of the incomplete beta function (modified Lentz; Abramowitz and Stegun 26.5.8), right for x < (a + 1) /
 * (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double cc = 1, d = 1 - (a + b) * x / (a + 1), h;
    h = d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
    for (int k = 1; k < 10000; k++) {
        double before = h;
        for (int odd = 0; odd < 2; odd++) {
            double m = odd ? -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
                           : k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
            d = 1 + m * d, cc = 1 + m / cc;
            if (fabs(cc) < 1e-300) cc = 1e-300;
            d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
            h *= d * cc;
        }
        if (fabs(h - before) <= 1e-16 * fabs(h)) break;
    }
    return h * exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a;
}
static double incomplete_beta(double a, double b, double x)
{
    if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1) || isinf(a) || isinf(b)) return NAN;
    if (x == 0 || x == 1) return x;
    return x < (a + 1) / (a + b + 2) ? beta_fraction(a, b, x) : 1 - beta_fraction(b, a, 1 - x);
}
static MsStatus run_real3(MsCall *c, double (*f)(double, double, double))
{
    int mark = ms_scope_begin();
    MsTensor *y, *w, *in[3];
    MsStatus st = prepare(c, MS_FLOAT64, &y, &w, in);
    for (int64_t k = 0; st == MS_OK && k < w->numel; k++)
        ((double *)w->data)[k] =
            f(((double *)in[0]->data)[k], ((double *)in[1]->data)[k], ((double *)in[2]->data)[k]);
    if (st == MS_OK) st = ms__copy(y, w);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}
static MsStatus run_betainc(MsCall *c)
{
    return run_real3(c, incomplete_beta);
}
MS_KERNEL(betainc, 0, loop, NULL, run_betainc);

/* ---- Hurwitz zeta ---- */

enum {
    MAX_SLOPE = 32
};

/* The n-th derivative by s of the sum over k of (q + k)^-s: the first terms, then Euler and Maclaurin. What multiplies
 * q^-(s + h) behind them is kept as a series p in h, and q^-h is the series of exp(-h log q). */
static double zeta_slope(double s, double q, int n)
{
    static const double b[] = {1.0 / 12,           -1.0 / 720,     1.0 / 30240,
                               -1.0 / 1209600,     1.0 / 47900160, -691.0 / 1307674368000.0,
                               1.0 / 74724249600.0};
    if (isnan(s) || isnan(q)) return NAN;
    if (s == 1) return n % 2 ? -INFINITY : INFINITY;
    if (s < 1) return NAN;
    if (q <= 0 && q == floor(q)) return INFINITY;
    if (q <= 0 && (s != floor(s) || n)) return NAN;
    if (isinf(s)) return q > 1 || (q == 1 && n) ? 0 : q == 1 ? 1 : INFINITY;
    if (isinf(q)) return 0;
    double sum = 0, p[MAX_SLOPE + 1] = {0}, rising[MAX_SLOPE + 1] = {s, 1};
    for (; q < 12; q += 1) sum += pow(q, -s) * (n ? pow(-log(q), n) : 1);
    double down = -log(q), pole = q / (s - 1), power = q;
    for (int j = 0; j <= n; j++, pole /= 1 - s) p[j] = pole;
    p[0] += 0.5;
    for (int k = 0; k < 7; k++, power *= q * q) {
        for (int j = 0; j <= n; j++) p[j] += b[k] * rising[j] / power;
        for (int i = 2 * k + 1; i <= 2 * k + 2; i++) /* times s + h + i */
            for (int j = n; j >= 0; j--) rising[j] = rising[j] * (s + i) + (j ? rising[j - 1] : 0);
    }
    double tail = 0, choose = 1; /* n! / (n - j)! */
    for (int j = 0; j <= n; choose *= n - j, j++) tail += choose * p[j] * (n - j ? pow(down, n - j) : 1);
    return sum + tail * pow(q, -s);
}
static double zeta(double s, double q)
{
    return zeta_slope(s, q, 0);
}
static MsStatus run_zeta(MsCall *c)
{
    return run_real2(c, zeta);
}
MS_KERNEL(zeta, 0, loop, NULL, run_zeta);

static MsStatus run_zeta_slope(MsCall *c)
{
    int64_t n = c->attr[0].i;
    if (n < 0 || n > MAX_SLOPE)
        return MS_FAIL(MS_ERROR_VALUE, "For 'zeta', a derivative must be of order 0 to %d, but got %lld.",
                       MAX_SLOPE, (long long)n);
    int mark = ms_scope_begin();
    MsTensor *y, *w, *in[2];
    MsStatus st = prepare(c, MS_FLOAT64, &y, &w, in);
    for (int64_t k = 0; st == MS_OK && k < w->numel; k++)
        ((double *)w->data)[k] = zeta_slope(((double *)in[0]->data)[k], ((double *)in[1]->data)[k], (int)n);
    if (st == MS_OK) st = ms__copy(y, w);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}
MS_KERNEL(zeta_slope, 0, loop, NULL, run_zeta_slope);

/* ---- integers and bits ---- */

static MsStatus run_gcd(MsCall *c)
{
    int mark = ms_scope_begin();
    MsTensor *y, *w, *in[2];
    MsStatus st = prepare(c, MS_INT64, &y, &w, in);
    for (int64_t k = 0; st == MS_OK && k < w->numel; k++) {
        int64_t p = ((int64_t *)in[0]->data)[k], q = ((int64_t *)in[1]->data)[k];
        bool wide = c->in[0]->dtype == MS_UINT64;
        uint64_t a = p < 0 && !wide ? -(uint64_t)p : (uint64_t)p,
                 b = q < 0 && !wide ? -(uint64_t)q : (uint64_t)q;
        while (b) {
            uint64_t r = a % b;
            a = b;
            b = r;
        }
        ((uint64_t *)w->data)[k] = a;
    }
    if (st == MS_OK) st = ms__copy(y, w);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}
MS_KERNEL(gcd, 0, loop, NULL, run_gcd);

/* The neighbour of a 16-bit float towards b, by its bits. */
static uint16_t half_next(uint16_t a, double from, double to)
{
    if (from == to) return a;
    if (from == 0) return to > 0 ? 1 : 0x8001;
    return (uint16_t)((to > from) == (from > 0) ? a + 1 : a - 1);
}

static MsStatus run_nextafter(MsCall *c)
{
    MsDtype d = (MsDtype)c->in[0]->dtype;
    int mark = ms_scope_begin();
    MsTensor *y, *w, *in[2];
    MsStatus st = prepare(c, MS_FLOAT64, &y, &w, in);
    MsTensor *exact = st == MS_OK ? ms_tensor_empty(d, y->ndim, y->shape) : NULL;
    if (!exact) st = ms_error()->code;
    if (st == MS_OK) st = ms__copy(exact, c->in[0]);
    for (int64_t k = 0; st == MS_OK && k < w->numel; k++) {
        double a = ((double *)in[0]->data)[k], b = ((double *)in[1]->data)[k];
        char *at = exact->data + (size_t)k * ms_dtype_size(d);
        if (d == MS_FLOAT64) *(double *)at = nextafter(a, b);
        if (d == MS_FLOAT32) *(float *)at = nextafterf((float)a, (float)b);
        if (ms_dtype_size(d) == 2 && !isnan(a))
            *(uint16_t *)at = isnan(b) ? 0x7fff : half_next(*(uint16_t *)at, a, b);
    }
    if (st == MS_OK) st = ms__copy(y, exact);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}
MS_KERNEL(nextafter, 0, loop, NULL, run_nextafter);
