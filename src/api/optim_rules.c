/* optim_rules.c - optimizers made of small operators, as one table of rules and the row `_optim.step` that
 * applies a rule to every parameter of a set. A rule sees one parameter, its effective gradient
 *   g = grad_scale * gradient + weight_decay * p      (decoupled rules take the decay themselves)
 * its states and what all parameters share, and gives the new parameter and the new states.
 *
 * Invariant: all parameters of a set are computed before anything is written. The refused alternative, one
 * fused operator per optimizer as for SGD, Momentum and Adam, pays only for those that networks are trained
 * with; in a graph the small operators are fused anyway. */
#include "api/api.h"
#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STATES 5

typedef struct Step {
    MsTensor *p, *g, *lr;    /* lr in p's dtype, 0-d */
    MsTensor *s[MAX_STATES]; /* states; a rule writes their new values over them */
    MsTensor *shared[4];     /* what the caller keeps beside the learning rate, as it is */
    double f[8], decay;      /* numbers of the optimizer, weight decay */
} Step;

typedef struct Rule {
    const char *name;
    int n_states, n_shared, n_numbers;
    bool decoupled;
    MsTensor *(*run)(Step *s); /* the new parameter */
} Rule;

/* ---- arithmetic; a NULL passes through ---- */

static MsTensor *by(MsTensor *x, double k)
{
    return x ? ms_mul(x, ms_tensor_scalar(ms_tensor_dtype(x), k)) : NULL;
}
static MsTensor *plus(MsTensor *x, double k)
{
    return x ? ms_add(x, ms_tensor_scalar(ms_tensor_dtype(x), k)) : NULL;
}
static MsTensor *like(MsTensor *x, MsTensor *p)
{
    return x && ms_tensor_dtype(x) != ms_tensor_dtype(p) ? ms_cast(x, ms_tensor_dtype(p)) : x;
}
/* k * old + (1 - k) * new */
static MsTensor *moved(MsTensor *old, MsTensor *new, double k)
{
    return ms_add(by(old, k), by(new, 1 - k));
}
static MsTensor *at_least(MsTensor *x, double k)
{
    return x ? ms_maximum(x, ms_tensor_scalar(ms_tensor_dtype(x), k)) : NULL;
}
static MsTensor *at_most(MsTensor *x, double k)
{
    return x ? ms_minimum(x, ms_tensor_scalar(ms_tensor_dtype(x), k)) : NULL;
}
/* base ^ t in float64, where 1 - base ^ t keeps its digits */
static MsTensor *power(double base, MsTensor *t)
{
    return ms_pow(ms_tensor_scalar(MS_FLOAT64, base), ms_cast(t, MS_FLOAT64));
}
/* 1 - base ^ t, still in float64 */
static MsTensor *correction(double base, MsTensor *t)
{
    return plus(ms_neg(power(base, t)), 1);
}
static MsTensor *norm(MsTensor *x)
{
    return ms_sqrt(ms_sum(ms_square(x), MS_INTS_NONE, false));
}

/* ---- rules of mindspore.nn ---- */

/* Kingma & Ba 2015, section 7.1. shared: beta1^t; numbers: beta1 beta2 eps */
static MsTensor *ada_max(Step *s)
{
    s->s[0] = moved(s->s[0], s->g, s->f[0]);
    s->s[1] = ms_maximum(by(s->s[1], s->f[1]), ms_abs(s->g));
    MsTensor *rate = ms_div(s->lr, like(plus(ms_neg(s->shared[0]), 1), s->p));
    return ms_sub(s->p, ms_mul(rate, ms_div(s->s[0], plus(s->s[1], s->f[2]))));
}

/* Zeiler 2012. numbers: rho eps */
static MsTensor *ada_delta(Step *s)
{
    double rho = s->f[0], eps = s->f[1];
    s->s[0] = moved(s->s[0], ms_square(s->g), rho);
    MsTensor *step = ms_div(ms_mul(ms_sqrt(plus(s->s[1], eps)), s->g), ms_sqrt(plus(s->s[0], eps)));
    s->s[1] = moved(s->s[1], ms_square(step), rho);
    return ms_sub(s->p, ms_mul(s->lr, step));
}

/* McMahan et al. 2013. numbers: lr_power l1 l2; states: accumulated squares, linear term */
static MsTensor *ftrl(Step *s)
{
    MsTensor *power_ = ms_tensor_scalar(ms_tensor_dtype(s->p), -s->f[0]);
    MsTensor *old = ms_pow(s->s[0], power_);
    s->s[0] = ms_add(s->s[0], ms_square(s->g));
    MsTensor *new = ms_pow(s->s[0], power_), *sigma = ms_div(ms_sub(new, old), s->lr);
    MsTensor *z = s->s[1] = ms_sub(ms_add(s->s[1], s->g), ms_mul(sigma, s->p));
    MsTensor *under = plus(ms_div(new, s->lr), 2 * s->f[2]);
    if (!z) return NULL;
    MsTensor *l1 = ms_tensor_scalar(ms_tensor_dtype(z), s->f[1]);
    return ms_where(ms_gt(ms_abs(z), l1), ms_div(ms_sub(ms_mul(l1, ms_sign(z)), z), under), by(z, 0));
}

/* Duchi & Singer 2009. numbers: l1 l2 */
static MsTensor *proximal_adagrad(Step *s)
{
    s->s[0] = ms_add(s->s[0], ms_square(s->g));
    MsTensor *rate = ms_div(s->lr, ms_sqrt(s->s[0]));
    MsTensor *q = ms_sub(s->p, ms_mul(rate, s->g));
    MsTensor *size = at_least(ms_sub(ms_abs(q), by(rate, s->f[0])), 0);
    return ms_div(ms_mul(ms_sign(q), size), plus(by(rate, s->f[1]), 1));
}

/* You et al. 2020. shared: step t from 1; numbers: beta1 beta2 eps */
static MsTensor *lamb(Step *s)
{
    s->s[0] = moved(s->s[0], s->g, s->f[0]);
    s->s[1] = moved(s->s[1], ms_square(s->g), s->f[1]);
    MsTensor *t = s->shared[0];
    MsTensor *m = ms_div(s->s[0], like(correction(s->f[0], t), s->p));
    MsTensor *v = ms_div(s->s[1], like(correction(s->f[1], t), s->p));
    MsTensor *step = ms_add(ms_div(m, plus(ms_sqrt(v), s->f[2])), by(s->p, s->decay));
    MsTensor *w = norm(s->p), *u = norm(step);
    if (!w || !u) return NULL;
    MsTensor *zero = ms_tensor_scalar(ms_tensor_dtype(w), 0), *one = ms_tensor_scalar(ms_tensor_dtype(w), 1);
    MsTensor *ratio = ms_where(ms_logical_and(ms_gt(w, zero), ms_gt(u, zero)), ms_div(w, u), one);
    return ms_sub(s->p, ms_mul(ms_mul(s->lr, ratio), step));
}

/* Shazeer & Stern 2018; states: first moment, row, column and whole second moment (the unused ones stay).
 * shared: step t from 1; numbers: eps of squares, eps of scale, clip, decay rate, beta1 (< 0: none),
 * scale_parameter, relative_step (1: warm-up excluded, 2: with warm-up) */
static MsTensor *ada_factor(Step *s)
{
    MsTensor *t = ms_cast(s->shared[0], MS_FLOAT64), *lr = s->lr, *g = s->g;
    if (!t) return NULL;
    if (s->f[6] != 0) {
        MsTensor *least = s->f[6] == 2 ? by(t, 1e-6) : ms_tensor_scalar(MS_FLOAT64, 1e-2);
        lr = like(ms_minimum(least, ms_rsqrt(t)), s->p);
    }
    if (s->f[5] != 0)
        lr = ms_mul(lr, at_least(ms_sqrt(ms_mean(ms_square(s->p), MS_INTS_NONE, false)), s->f[1]));
    MsTensor *keep = like(plus(ms_neg(ms_pow(t, ms_tensor_scalar(MS_FLOAT64, -s->f[3]))), 1), s->p);
    MsTensor *rest = plus(ms_neg(keep), 1), *square = plus(ms_square(g), s->f[0]);
    int n = ms_tensor_ndim(s->p);
    MsTensor *step;
    if (n >= 2) {
        MsInts rows = MS_INTS(n - 2), cols = MS_INTS(n - 1);
        s->s[1] = ms_add(ms_mul(s->s[1], keep), ms_mul(rest, ms_mean(square, cols, false)));
        s->s[2] = ms_add(ms_mul(s->s[2], keep), ms_mul(rest, ms_mean(square, rows, false)));
        MsTensor *row = ms_div(s->s[1], ms_mean(s->s[1], rows, true));
        if (!row || !s->s[2]) return NULL;
        int64_t shape[MS_MAX_DIM];
        memcpy(shape, ms_tensor_shape(s->p), (size_t)n * sizeof *shape);
        shape[n - 1] = 1;
        row = ms_reshape(ms_rsqrt(row), (MsInts){n, shape});
        shape[n - 1] = ms_tensor_shape(s->p)[n - 1];
        shape[n - 2] = 1;
        step = ms_mul(ms_mul(g, row), ms_reshape(ms_rsqrt(s->s[2]), (MsInts){n, shape}));
    } else {
        s->s[3] = ms_add(ms_mul(s->s[3], keep), ms_mul(rest, square));
        step = ms_mul(g, ms_rsqrt(s->s[3]));
    }
    MsTensor *rms = ms_sqrt(ms_mean(ms_square(step), MS_INTS_NONE, false));
    step = ms_mul(ms_div(step, at_least(by(rms, 1 / s->f[2]), 1)), lr);
    if (s->f[4] >= 0) step = s->s[0] = moved(like(s->s[0], step), step, s->f[4]);
    return ms_sub(ms_sub(s->p, by(ms_mul(lr, s->p), s->decay)), step);
}

/* ---- rules that follow PyTorch's definitions; shared: step t from 1 ---- */

/* states: m v [max v]; numbers: beta1 beta2 eps amsgrad decoupled */
static MsTensor *adam(Step *s)
{
    MsTensor *t = s->shared[0], *p = s->p, *g = s->g;
    bool decoupled = s->f[4] != 0;
    if (decoupled) p = ms_sub(p, ms_mul(by(s->lr, s->decay), p));
    if (!decoupled && s->decay != 0) g = ms_add(g, by(p, s->decay));
    s->s[0] = moved(s->s[0], g, s->f[0]);
    MsTensor *v = s->s[1] = moved(s->s[1], ms_square(g), s->f[1]);
    if (s->f[3] != 0) v = s->s[2] = ms_maximum(s->s[2], v);
    MsTensor *under = ms_div(ms_sqrt(v), like(ms_sqrt(correction(s->f[1], t)), s->p));
    MsTensor *rate = ms_div(s->lr, like(correction(s->f[0], t), s->p));
    return ms_sub(p, ms_div(ms_mul(rate, s->s[0]), plus(under, s->f[2])));
}

/* numbers: lr_decay eps */
static MsTensor *adagrad(Step *s)
{
    MsTensor *age = plus(ms_cast(s->shared[0], MS_FLOAT32), -1);
    MsTensor *rate = ms_div(s->lr, like(plus(by(age, s->f[0]), 1), s->p));
    s->s[0] = ms_add(s->s[0], ms_square(s->g));
    return ms_sub(s->p, ms_div(ms_mul(rate, s->g), plus(ms_sqrt(s->s[0]), s->f[1])));
}

/* numbers: beta1 beta2 eps */
static MsTensor *adamax(Step *s)
{
    s->s[0] = moved(s->s[0], s->g, s->f[0]);
    s->s[1] = ms_maximum(by(s->s[1], s->f[1]), plus(ms_abs(s->g), s->f[2]));
    MsTensor *rate = ms_div(s->lr, like(correction(s->f[0], s->shared[0]), s->p));
    return ms_sub(s->p, ms_div(ms_mul(rate, s->s[0]), s->s[1]));
}

/* Dozat 2016. states: m v, product of mu (0-d); numbers: beta1 beta2 eps momentum_decay */
static MsTensor *nadam(Step *s)
{
    MsTensor *t = ms_cast(s->shared[0], MS_FLOAT64);
    double b1 = s->f[0], d = s->f[3];
    MsTensor *mu = by(plus(by(power(0.96, by(t, d)), -0.5), 1), b1);
    MsTensor *next = by(plus(by(power(0.96, by(plus(t, 1), d)), -0.5), 1), b1);
    MsTensor *product = s->s[2] = ms_mul(s->s[2], ms_cast(mu, MS_FLOAT32));
    s->s[0] = moved(s->s[0], s->g, b1);
    s->s[1] = moved(s->s[1], ms_square(s->g), s->f[1]);
    MsTensor *under = plus(ms_sqrt(ms_div(s->s[1], like(correction(s->f[1], t), s->p))), s->f[2]);
    MsTensor *wide = product ? ms_cast(product, MS_FLOAT64) : NULL;
    MsTensor *of_g = like(ms_div(plus(ms_neg(mu), 1), plus(ms_neg(wide), 1)), s->p);
    MsTensor *of_m = like(ms_div(next, plus(ms_neg(ms_mul(wide, next)), 1)), s->p);
    MsTensor *step = ms_div(ms_add(ms_mul(of_g, s->g), ms_mul(of_m, s->s[0])), under);
    return ms_sub(s->p, ms_mul(s->lr, step));
}

/* Liu et al. 2020. numbers: beta1 beta2 eps */
static MsTensor *radam(Step *s)
{
    MsTensor *t = ms_cast(s->shared[0], MS_FLOAT64);
    double b2 = s->f[1], longest = 2 / (1 - b2) - 1;
    s->s[0] = moved(s->s[0], s->g, s->f[0]);
    s->s[1] = moved(s->s[1], ms_square(s->g), b2);
    MsTensor *left = correction(b2, t);
    MsTensor *rho = plus(ms_neg(ms_div(by(ms_mul(t, power(b2, t)), 2), left)), longest);
    if (!rho) return NULL;
    MsTensor *up = ms_mul(ms_mul(plus(rho, -4), plus(rho, -2)), ms_tensor_scalar(MS_FLOAT64, longest));
    MsTensor *rect = ms_sqrt(at_least(ms_div(up, by(rho, (longest - 4) * (longest - 2))), 0));
    MsTensor *m = ms_mul(ms_div(s->s[0], like(correction(s->f[0], t), s->p)), s->lr);
    MsTensor *adaptive = ms_div(like(ms_mul(ms_sqrt(left), rect), s->p), plus(ms_sqrt(s->s[1]), s->f[2]));
    MsTensor *on = ms_gt(rho, ms_tensor_scalar(MS_FLOAT64, 5));
    return ms_sub(s->p, ms_where(on, ms_mul(m, adaptive), m));
}

/* states: v, velocity, mean gradient; numbers: alpha eps momentum centered */
static MsTensor *rmsprop(Step *s)
{
    s->s[0] = moved(s->s[0], ms_square(s->g), s->f[0]);
    MsTensor *v = s->s[0];
    if (s->f[3] != 0) {
        s->s[2] = moved(s->s[2], s->g, s->f[0]);
        v = ms_sub(v, ms_square(s->s[2]));
    }
    MsTensor *step = ms_div(s->g, plus(ms_sqrt(v), s->f[1]));
    if (s->f[2] > 0) step = s->s[1] = ms_add(by(s->s[1], s->f[2]), step);
    return ms_sub(s->p, ms_mul(s->lr, step));
}

/* `later`, but `first` while t is 1 */
static MsTensor *begun(MsTensor *t, MsTensor *first, MsTensor *later)
{
    return t ? ms_where(ms_le(t, ms_tensor_scalar(ms_tensor_dtype(t), 1)), first, later) : NULL;
}

/* Riedmiller & Braun 1993. states: previous gradient, step size; numbers: shrink, grow, least, most */
static MsTensor *rprop(Step *s)
{
    MsTensor *same = ms_mul(s->g, s->s[0]);
    if (!same) return NULL;
    MsDtype dt = ms_tensor_dtype(same);
    MsTensor *zero = ms_tensor_scalar(dt, 0), *back = ms_lt(same, zero), *on = ms_gt(same, zero);
    MsTensor *factor = ms_where(on, ms_tensor_scalar(dt, s->f[1]),
                                ms_where(back, ms_tensor_scalar(dt, s->f[0]), ms_tensor_scalar(dt, 1)));
    MsTensor *size = ms_mul(begun(s->shared[0], s->lr, s->s[1]), factor);
    s->s[1] = size = at_most(at_least(size, s->f[2]), s->f[3]);
    MsTensor *g = s->s[0] = ms_where(back, zero, s->g);
    return ms_sub(s->p, ms_mul(ms_sign(g), size));
}

/* Polyak & Juditsky 1992. states: mean of the parameter, eta, mu (0-d); numbers: lambda alpha t0 */
static MsTensor *asgd(Step *s)
{
    MsTensor *t = s->shared[0], *eta = begun(t, s->lr, like(s->s[1], s->p)), *mu = s->s[2];
    MsTensor *p = ms_sub(ms_mul(s->p, plus(ms_neg(by(eta, s->f[0])), 1)), ms_mul(eta, s->g));
    if (!p || !mu) return NULL;
    MsTensor *far = ms_ne(mu, ms_tensor_scalar(ms_tensor_dtype(mu), 1));
    s->s[0] = ms_where(far, ms_add(s->s[0], ms_mul(ms_sub(p, s->s[0]), like(mu, p))), p);
    MsTensor *age = plus(by(ms_mul(ms_cast(t, MS_FLOAT64), ms_cast(s->lr, MS_FLOAT64)), s->f[0]), 1);
    MsTensor *rate = ms_div(ms_cast(s->lr, MS_FLOAT64), ms_pow(age, ms_tensor_scalar(MS_FLOAT64, s->f[1])));
    s->s[1] = rate ? like(rate, s->s[1]) : NULL;
    s->s[2] = like(ms_reciprocal(at_least(plus(ms_cast(t, MS_FLOAT64), -s->f[2]), 1)), mu);
    return p;
}

/* Layer-wise scaling of a gradient (You et al. 2017): gives the gradient. numbers: coefficient eps use_clip
 */
static MsTensor *lars(Step *s)
{
    MsTensor *w = norm(s->p), *u = norm(s->g);
    if (!w || !u) return NULL;
    MsTensor *zero = ms_tensor_scalar(ms_tensor_dtype(w), 0), *one = ms_tensor_scalar(ms_tensor_dtype(w), 1);
    MsTensor *ratio = ms_div(by(w, s->f[0]), plus(ms_add(u, by(w, s->decay)), s->f[1]));
    ratio = ms_where(ms_logical_and(ms_gt(w, zero), ms_gt(u, zero)), ratio, one);
    if (s->f[2] != 0) ratio = at_most(ms_div(ratio, s->lr), 1);
    return ms_mul(ms_add(s->g, by(s->p, s->decay)), ratio);
}

static const Rule rules[] = {
    {"AdaMax", 2, 1, 3, false, ada_max}, {"Adadelta", 2, 0, 2, false, ada_delta},
    {"FTRL", 2, 0, 3, false, ftrl},      {"ProximalAdagrad", 1, 0, 2, false, proximal_adagrad},
    {"Lamb", 2, 1, 3, true, lamb},       {"AdaFactor", 4, 1, 7, true, ada_factor},
    {"adam", 3, 1, 5, true, adam},       {"adagrad", 1, 1, 2, false, adagrad},
    {"adamax", 2, 1, 3, false, adamax},  {"nadam", 3, 1, 4, false, nadam},
    {"radam", 2, 1, 3, false, radam},    {"rmsprop", 3, 0, 4, false, rmsprop},
    {"rprop", 2, 1, 4, false, rprop},    {"asgd", 3, 1, 3, false, asgd},
};

/* ---- the row ---- */

static const Rule *find(const char *name)
{
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (strcmp(rules[k].name, name) == 0) return &rules[k];
    MS_FAIL(MS_ERROR_VALUE, "There is no optimizer rule '%s'.", name);
    return NULL;
}

static MsTensor *scalar(const MsArg *a)
{
    if (a->kind != MS_ARG_TENSOR || ms_tensor_numel(a->t) != 1) {
        MS_FAIL(MS_ERROR_TYPE, "What the parameters of an optimizer share must be Tensors of one element.");
        return NULL;
    }
    return ms_tensor_ndim(a->t) ? ms_reshape(a->t, (MsInts){0, NULL}) : a->t;
}

static MsStatus check_list(const Rule *r, const MsArg *a, int n, const char *what)
{
    if (a->kind != MS_ARG_LIST || a->n != n)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', there are %d parameters, but %d %s.", r->name, n,
                       a->kind == MS_ARG_LIST ? a->n : 0, what);
    for (int i = 0; i < n; i++)
        if (a->list[i].kind != MS_ARG_TENSOR)
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', the %s must be Tensors.", r->name, what);
    return MS_OK;
}

/* Arguments 0..7: rule params grads states shared numbers weight_decay grad_scale. */
static MsStatus check(MsApiCall *c, const Rule *r)
{
    int n = ARG(1)->n;
    if (n < 1) return MS_FAIL(MS_ERROR_VALUE, "For '%s', there must be at least one parameter.", r->name);
    if (ARG(3)->n > MAX_STATES || ARG(3)->n > r->n_states || ARG(4)->n != 1 + r->n_shared ||
        ARG(5)->n != r->n_numbers)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', %d states, %d shared values and %d numbers are needed.",
                       r->name, r->n_states, 1 + r->n_shared, r->n_numbers);
    MS_TRY(check_list(r, ARG(2), n, "gradients"));
    for (int k = 0; k < ARG(3)->n; k++) MS_TRY(check_list(r, &ARG(3)->list[k], n, "states"));
    for (int i = 0; i < n; i++) {
        MsTensor *p = ARG(1)->list[i].t, *g = ARG(2)->list[i].t;
        if (ms_tensor_ndim(p) != ms_tensor_ndim(g) ||
            memcmp(ms_tensor_shape(p), ms_tensor_shape(g), (size_t)ms_tensor_ndim(p) * sizeof(int64_t)) != 0)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the shape of gradient %d must be %s as its parameter's, but got %s.",
                           r->name, i, ms__shape_text(ms_tensor_ndim(p), ms_tensor_shape(p)),
                           ms__shape_text(ms_tensor_ndim(g), ms_tensor_shape(g)));
    }
    return MS_OK;
}

/* Applies the rule to parameter i; gives the new parameter, the new states in s->s. */
static MsTensor *apply(MsApiCall *c, const Rule *r, int i, Step *s)
{
    MsTensor *p = ARG(1)->list[i].t, *g = like(ARG(2)->list[i].t, p);
    double decay = F(6), scale = F(7);
    if (scale != 1) g = by(g, scale);
    if (decay != 0 && !r->decoupled) g = ms_add(g, by(p, decay));
    *s = (Step){.p = p, .g = g, .decay = decay};
    s->lr = like(scalar(&ARG(4)->list[0]), p);
    for (int k = 0; k < r->n_shared; k++)
        if (!(s->shared[k] = scalar(&ARG(4)->list[1 + k]))) return NULL;
    for (int k = 0; k < ARG(3)->n; k++) s->s[k] = ARG(3)->list[k].list[i].t;
    for (int k = 0; k < r->n_numbers; k++) s->f[k] = ms__arg_float(&ARG(5)->list[k]);
    return g && s->lr ? r->run(s) : NULL;
}

MS_API(optim_step, "_optim.step",
       "(rule: str, params: Tensor[], grads: Tensor[], states: any, shared: Tensor[], numbers: any, "
       "weight_decay: float, grad_scale: float) -> None")
{
    const Rule *r = find(ARG(0)->s);
    if (!r) return ms_error()->code;
    MS_TRY(check(c, r));
    int n = ARG(1)->n, n_states = ARG(3)->n, each = 1 + n_states;
    MsTensor **new = ms__malloc((size_t)(n * each) * sizeof *new);
    if (!new) return MS_ERROR_MEMORY;
    MsStatus st = MS_OK;
    for (int i = 0; st == MS_OK && i < n; i++) {
        Step s;
        new[i * each] = apply(c, r, i, &s);
        for (int k = 0; k < n_states; k++) new[i * each + 1 + k] = like(s.s[k], ARG(3)->list[k].list[i].t);
        for (int k = 0; k < each; k++)
            if (!new[i * each + k]) st = ms_error()->code;
    }
    for (int i = 0; st == MS_OK && i < n; i++) {
        st = ms_tensor_write(ARG(1)->list[i].t, new[i * each]);
        for (int k = 0; st == MS_OK && k < n_states; k++) {
            MsTensor *to = ARG(3)->list[k].list[i].t;
            if (to != new[i * each + 1 + k]) st = ms_tensor_write(to, new[i * each + 1 + k]);
        }
    }
    free(new);
    return st;
}

/* The gradients of LARS: params, grads -> scaled gradients. */
MS_API(optim_lars, "_optim.lars",
       "(params: Tensor[], grads: Tensor[], lr: Tensor, coefficient: float, eps: float, clip: bool, "
       "weight_decay: float) -> any")
{
    int n = ARG(0)->n;
    if (ARG(1)->n != n || n < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'LARS', there are %d parameters, but %d gradients.", n,
                       ARG(1)->n);
    MsTensor **out = ms__malloc((size_t)n * sizeof *out);
    if (!out) return MS_ERROR_MEMORY;
    MsStatus st = MS_OK;
    for (int i = 0; st == MS_OK && i < n; i++) {
        MsTensor *p = ARG(0)->list[i].t;
        Step s = {.p = p, .g = like(ARG(1)->list[i].t, p), .f = {F(3), F(4), I(5)}, .decay = F(6)};
        s.lr = like(scalar(ARG(2)), p);
        out[i] = s.g && s.lr ? lars(&s) : NULL;
        if (!out[i]) st = ms_error()->code;
    }
    if (st == MS_OK) st = ms__api_return_list(c, n, out);
    free(out);
    return st;
}
