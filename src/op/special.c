/* special.c - special functions with a parameter. */
#include "cpu/copy.h"
#include "mindspore_ops.h"
#include "op/op.h"

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
