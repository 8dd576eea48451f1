/* moments.c - truncated moments of the gamma and beta distributions: what the derivatives of the incomplete gamma and
 * beta functions by their parameters are made of, to any order (op/special.c).
 *
 *   gamma_moment(a, x; n)       = integral over t in (0, x) of t^(a-1) exp(-t) / Gamma(a) (ln t - psi(a))^n
 *   beta_moment(a, b, x; n, m)  = the same of t^(a-1) (1-t)^(b-1) / B(a, b) (ln t - p)^n (ln(1-t) - q)^m,
 *                                 p = psi(a) - psi(a + b), q = psi(b) - psi(a + b)
 *
 * With t = x exp(-u) the density is unimodal in u, so the integral is cut where it falls below exp(-50) of its peak and
 * the rest summed by the tanh-sinh rule, which bears the singular ends. Differences of the functions themselves would
 * lose digits with every order.
 */
#include "cpu/copy.h"
#include "mindspore_ops.h"
#include "op/op.h"

#include <math.h>

typedef struct Density {
    double a, b, x; /* b < 0: gamma */
    double log_scale, p, q;
    int64_t n, m;
} Density;

/* Logarithms of t and 1 - t at u. */
static void place(const Density *d, double u, double *log_t, double *log_rest)
{
    *log_t = log(d->x) - u;
    *log_rest = d->b < 0 ? 0 : log((1 - d->x) - d->x * expm1(-u));
}

static double log_density(const Density *d, double u)
{
    double l, r;
    place(d, u, &l, &r);
    return d->a * l + (d->b < 0 ? -exp(l) : (d->b - 1) * r) - d->log_scale;
}

static double value(const Density *d, double u)
{
    double l, r;
    place(d, u, &l, &r);
    double e = log_density(d, u), w = exp(e);
    return w == 0 ? 0 : w * pow(l - d->p, (double)d->n) * (d->m ? pow(r - d->q, (double)d->m) : 1);
}

/* Where the density, monotone between `in` and `out`, falls below `floor`. */
static double cut(const Density *d, double in, double out, double floor)
{
    for (int k = 0; k < 60 && fabs(out - in) > 1e-3 * fabs(out); k++) {
        double mid = (in + out) / 2;
        if (log_density(d, mid) < floor)
            out = mid;
        else
            in = mid;
    }
    return out;
}

/* The tanh-sinh rule on (low, low + width), its step halved until the sum stays. */
static double quadrature(const Density *d, double low, double width)
{
    double sum = value(d, low + width / 2) * M_PI / 4, before = INFINITY, h = 1;
    for (int level = 0; level < 12; level++) {
        double step = level ? 2 * h : h; /* later levels add the odd nodes */
        for (double v = h; v < 4; v += step) {
            double s = M_PI / 2 * sinh(v), near = 1 / (1 + exp(2 * s)),
                   w = M_PI / 4 * cosh(v) / pow(cosh(s), 2);
            double below = low + width * near, above = low + width * (1 - near);
            double left = value(d, below), right = value(d, above);
            sum += w * ((isfinite(left) ? left : 0) + (isfinite(right) ? right : 0));
        }
        double now = sum * h * width;
        if (level > 3 && fabs(now - before) <= 1e-14 * fabs(now)) return now;
        before = now;
        h /= 2;
    }
    return before;
}

static double moment(Density *d, double peak_t)
{
    double peak = peak_t < d->x ? log(d->x / peak_t) : 0, floor = log_density(d, peak);
    if (!(d->b < 0) && d->b < 1) floor = log_density(d, 1e-3); /* unbounded at t = 1 */
    floor -= 50;
    double far = peak + 1;
    while (log_density(d, far) > floor && far < 1e300) far = peak + 2 * (far - peak);
    double high = cut(d, peak, far, floor), low = 0;
    if (peak > 0 && log_density(d, 0) < floor) low = cut(d, peak, 0, floor);
    return quadrature(d, low, high - low);
}

/* Derivative of lgamma: recurrence up to 10, then the asymptotic series. */
static double psi(double x)
{
    double sum = 0;
    for (; x < 10; x += 1) sum -= 1 / x;
    double q = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           q * (1.0 / 12 -
                q * (1.0 / 120 - q * (1.0 / 252 - q * (1.0 / 240 - q * (1.0 / 132 - q * 691.0 / 32760)))));
}

static double gamma_moment(double a, double x, int64_t n)
{
    if (isnan(a) || isnan(x) || !(a > 0) || x < 0) return NAN;
    if (x == 0 || isinf(a)) return 0;
    if (isinf(x)) x = 2 * a + 1000;
    Density d = {a, -1, x, lgamma(a), psi(a), 0, n, 0};
    return moment(&d, a);
}

static double beta_moment(double a, double b, double x, int64_t n, int64_t m)
{
    if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1) || isinf(a) || isinf(b)) return NAN;
    if (x == 0) return 0;
    double both = psi(a + b);
    Density d = {a, b, x, lgamma(a) + lgamma(b) - lgamma(a + b), psi(a) - both, psi(b) - both, n, m};
    return moment(&d, b > 1 ? a / (a + b - 1) : 1);
}

/* The inputs, broadcast to float64, and the result; one loop for both operators. */
static MsStatus run(MsCall *c)
{
    int mark = ms_scope_begin();
    MsTensor *y = ms__out(c, 0), *w = y ? ms_tensor_empty(MS_FLOAT64, y->ndim, y->shape) : NULL, *in[3];
    MsStatus st = w ? MS_OK : ms_error()->code;
    for (int k = 0; k < c->n_in && st == MS_OK; k++) {
        in[k] = ms_tensor_empty(MS_FLOAT64, y->ndim, y->shape);
        st = in[k] ? ms__copy(in[k], c->in[k]) : ms_error()->code;
    }
    for (int64_t k = 0; st == MS_OK && k < w->numel; k++) {
        double a = ((double *)in[0]->data)[k], b = ((double *)in[1]->data)[k];
        ((double *)w->data)[k] =
            c->n_in == 2 ? gamma_moment(a, b, c->attr[0].i)
                         : beta_moment(a, b, ((double *)in[2]->data)[k], c->attr[0].i, c->attr[1].i);
    }
    if (st == MS_OK) st = ms__copy(y, w);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}
MS_KERNEL(gamma_moment, 0, loop, NULL, run);
MS_KERNEL(beta_moment, 0, loop, NULL, run);
