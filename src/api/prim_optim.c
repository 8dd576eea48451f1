/* prim_optim.c - the optimizer steps of primitive classes as one table of rules: the row `_p.apply` computes new
 * states from the states, the gradient and numbers, and writes them in place.
 *
 * A sparse gradient (slices along axis 0 with indices) is summed into a dense one, and only the touched slices are
 * written. Invariant: everything is computed before anything is written. Refused: a kernel per class; in a graph the
 * small operators are fused anyway. */
#include "api/args.h"

#include <string.h>

#define MAX_STATES 4
#define MAX_NUMBERS 8

typedef struct Step {
    MsTensor *s[MAX_STATES], *new[MAX_STATES]; /* s[0] is the variable */
    MsTensor *g;
    MsTensor *f[MAX_NUMBERS]; /* 0-d, in the variable's dtype */
} Step;

/* Half precision is computed in float32 and rounded when it is written. */
static MsTensor *wide(MsTensor *x)
{
    if (!x) return NULL;
    MsDtype dt = ms_tensor_dtype(x);
    return dt == MS_FLOAT16 || dt == MS_BFLOAT16 ? ms_cast(x, MS_FLOAT32) : x;
}

typedef struct Rule {
    const char *name;
    int n_states, n_numbers;
    void (*run)(Step *s);
} Rule;

static MsTensor *num(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(ms_tensor_dtype(like), v) : NULL;
}
static MsTensor *rest(MsTensor *k)
{
    return ms_sub(num(k, 1), k);
}
/* k * old + (1 - k) * new */
static MsTensor *moved(MsTensor *old, MsTensor *new, MsTensor *k)
{
    return ms_add(ms_mul(old, k), ms_mul(new, rest(k)));
}
static MsTensor *at_least_0(MsTensor *x)
{
    return ms_maximum(x, num(x, 0));
}
/* sign(x) * max(|x| - cut, 0) */
static MsTensor *shrunk(MsTensor *x, MsTensor *cut)
{
    return ms_mul(ms_sign(x), at_least_0(ms_sub(ms_abs(x), cut)));
}

/* lr rho epsilon */
static void adadelta(Step *s)
{
    s->new[1] = moved(s->s[1], ms_square(s->g), s->f[1]);
    MsTensor *up = ms_sqrt(ms_add(s->s[2], s->f[2]));
    MsTensor *step = ms_mul(ms_mul(up, ms_rsqrt(ms_add(s->new[1], s->f[2]))), s->g);
    s->new[2] = moved(s->s[2], ms_square(step), s->f[1]);
    s->new[0] = ms_sub(s->s[0], ms_mul(s->f[0], step));
}

/* beta1_power lr beta1 beta2 epsilon */
static void ada_max(Step *s)
{
    s->new[1] = moved(s->s[1], s->g, s->f[2]);
    s->new[2] = ms_maximum(ms_mul(s->s[2], s->f[3]), ms_abs(s->g));
    MsTensor *rate = ms_div(s->f[1], rest(s->f[0]));
    s->new[0] = ms_sub(s->s[0], ms_mul(rate, ms_div(s->new[1], ms_add(s->new[2], s->f[4]))));
}

/* beta1_power beta2_power lr beta1 beta2 epsilon nesterov; states var m v [largest v] */
static void adam(Step *s)
{
    s->new[1] = moved(s->s[1], s->g, s->f[3]);
    MsTensor *v = s->new[2] = moved(s->s[2], ms_square(s->g), s->f[4]);
    if (s->s[3]) v = s->new[3] = ms_maximum(s->s[3], v);
    MsTensor *rate = ms_div(ms_mul(s->f[2], ms_sqrt(rest(s->f[1]))), rest(s->f[0]));
    MsTensor *ahead = ms_add(ms_mul(s->new[1], s->f[3]), ms_mul(s->g, rest(s->f[3])));
    MsTensor *m = ms_add(s->new[1], ms_mul(s->f[6], ms_sub(ahead, s->new[1])));
    s->new[0] = ms_sub(s->s[0], ms_div(ms_mul(rate, m), ms_add(ms_sqrt(v), s->f[5])));
}

/* lr beta1 beta2 epsilon decay */
static void adam_weight_decay(Step *s)
{
    s->new[1] = moved(s->s[1], s->g, s->f[1]);
    s->new[2] = moved(s->s[2], ms_square(s->g), s->f[2]);
    MsTensor *step = ms_div(s->new[1], ms_add(ms_sqrt(s->new[2]), s->f[3]));
    s->new[0] = ms_sub(s->s[0], ms_mul(s->f[0], ms_add(step, ms_mul(s->f[4], s->s[0]))));
}

/* lr decay momentum epsilon; states var, mean gradient, mean square, moment */
static void centered_rms_prop(Step *s)
{
    s->new[1] = moved(s->s[1], s->g, s->f[1]);
    s->new[2] = moved(s->s[2], ms_square(s->g), s->f[1]);
    MsTensor *under = ms_add(ms_sub(s->new[2], ms_square(s->new[1])), s->f[3]);
    MsTensor *step = ms_div(ms_mul(s->f[0], s->g), ms_sqrt(under));
    s->new[3] = ms_add(ms_mul(s->s[3], s->f[2]), step);
    s->new[0] = ms_sub(s->s[0], s->new[3]);
}

/* lr decay momentum epsilon; states var, mean square, moment */
static void rms_prop(Step *s)
{
    s->new[1] = moved(s->s[1], ms_square(s->g), s->f[1]);
    MsTensor *step = ms_div(ms_mul(s->f[0], s->g), ms_sqrt(ms_add(s->new[1], s->f[3])));
    s->new[2] = ms_add(ms_mul(s->s[2], s->f[2]), step);
    s->new[0] = ms_sub(s->s[0], s->new[2]);
}

/* lr l1 l2 lr_power l2_shrinkage; states var, accumulated squares, linear term */
static void ftrl(Step *s)
{
    MsTensor *power = ms_neg(s->f[3]), *two = num(s->g, 2);
    s->new[1] = ms_add(s->s[1], ms_square(s->g));
    MsTensor *old = ms_pow(s->s[1], power), *new = ms_pow(s->new[1], power);
    MsTensor *g = ms_add(s->g, ms_mul(ms_mul(two, s->f[4]), s->s[0]));
    MsTensor *z = ms_add(s->s[2], ms_sub(g, ms_mul(ms_div(ms_sub(new, old), s->f[0]), s->s[0])));
    MsTensor *under = ms_add(ms_div(new, s->f[0]), ms_mul(two, s->f[2]));
    s->new[2] = z;
    s->new[0] = ms_neg(ms_div(shrunk(z, s->f[1]), under));
}

/* lr epsilon update_slots */
static void adagrad(Step *s)
{
    s->new[1] = ms_add(s->s[1], ms_mul(s->f[2], ms_square(s->g)));
    MsTensor *step = ms_div(ms_mul(s->f[0], s->g), ms_add(ms_sqrt(s->new[1]), s->f[1]));
    s->new[0] = ms_sub(s->s[0], step);
}

/* lr l1 l2 global_step; states var, sum of gradients, sum of squares */
static void adagrad_da(Step *s)
{
    s->new[1] = ms_add(s->s[1], s->g);
    s->new[2] = ms_add(s->s[2], ms_square(s->g));
    MsTensor *sum = shrunk(s->new[1], ms_mul(s->f[1], s->f[3]));
    MsTensor *under = ms_add(ms_mul(ms_mul(s->f[2], s->f[3]), s->f[0]), ms_sqrt(s->new[2]));
    s->new[0] = ms_neg(ms_div(ms_mul(s->f[0], sum), under));
}

/* var after a proximal step of size `rate` to q */
static MsTensor *proximal(MsTensor *q, MsTensor *rate, MsTensor *l1, MsTensor *l2)
{
    return ms_div(shrunk(q, ms_mul(rate, l1)), ms_add(num(q, 1), ms_mul(rate, l2)));
}

/* lr l1 l2 */
static void proximal_adagrad(Step *s)
{
    s->new[1] = ms_add(s->s[1], ms_square(s->g));
    MsTensor *rate = ms_mul(s->f[0], ms_rsqrt(s->new[1]));
    s->new[0] = proximal(ms_sub(s->s[0], ms_mul(rate, s->g)), rate, s->f[1], s->f[2]);
}

/* alpha l1 l2 */
static void proximal_descent(Step *s)
{
    s->new[0] = proximal(ms_sub(s->s[0], ms_mul(s->f[0], s->g)), s->f[0], s->f[1], s->f[2]);
}

/* lr logbase sign_decay beta */
static void power_sign(Step *s)
{
    s->new[1] = moved(s->s[1], s->g, s->f[3]);
    MsTensor *agree = ms_mul(ms_sign(s->g), ms_sign(s->new[1]));
    MsTensor *by = ms_exp(ms_mul(ms_mul(s->f[1], s->f[2]), agree));
    s->new[0] = ms_sub(s->s[0], ms_mul(s->f[0], ms_mul(by, s->g)));
}

/* lr alpha sign_decay beta */
static void add_sign(Step *s)
{
    s->new[1] = moved(s->s[1], s->g, s->f[3]);
    MsTensor *agree = ms_mul(ms_sign(s->g), ms_sign(s->new[1]));
    MsTensor *by = ms_add(s->f[1], ms_mul(s->f[2], agree));
    s->new[0] = ms_sub(s->s[0], ms_mul(s->f[0], ms_mul(by, s->g)));
}

/* lr momentum nesterov */
static void keras_momentum(Step *s)
{
    MsTensor *step = ms_mul(s->f[0], s->g);
    s->new[1] = ms_sub(ms_mul(s->s[1], s->f[1]), step);
    MsTensor *ahead = ms_sub(ms_mul(s->new[1], s->f[1]), step);
    s->new[0] = ms_add(s->s[0], ms_add(s->new[1], ms_mul(s->f[2], ms_sub(ahead, s->new[1]))));
}

/* lr momentum dampening weight_decay nesterov; states var, velocity, 1 before the first step */
static void sgd(Step *s)
{
    MsTensor *g = ms_add(s->g, ms_mul(s->f[3], s->s[0]));
    MsTensor *later = ms_add(ms_mul(s->s[1], s->f[1]), ms_mul(rest(s->f[2]), g));
    MsTensor *zero = num(s->s[2], 0);
    s->new[1] = ms_where(zero ? ms_gt(s->s[2], zero) : NULL, g, later);
    s->new[2] = ms_mul(s->s[2], zero);
    MsTensor *ahead = ms_add(g, ms_mul(s->f[1], s->new[1]));
    MsTensor *step = ms_add(s->new[1], ms_mul(s->f[4], ms_sub(ahead, s->new[1])));
    s->new[0] = ms_sub(s->s[0], ms_mul(s->f[0], step));
}

static const Rule rules[] = {
    {"Adadelta", 3, 3, adadelta},
    {"AdaMax", 3, 5, ada_max},
    {"Adam", 4, 7, adam},
    {"AdamWeightDecay", 3, 5, adam_weight_decay},
    {"CenteredRMSProp", 4, 4, centered_rms_prop},
    {"RMSProp", 3, 4, rms_prop},
    {"Ftrl", 3, 5, ftrl},
    {"Adagrad", 2, 3, adagrad},
    {"AdagradDA", 3, 4, adagrad_da},
    {"ProximalAdagrad", 2, 3, proximal_adagrad},
    {"ProximalGradientDescent", 1, 3, proximal_descent},
    {"PowerSign", 2, 4, power_sign},
    {"AddSign", 2, 4, add_sign},
    {"KerasMomentum", 2, 3, keras_momentum},
    {"SGD", 3, 5, sgd},
};

static bool same_shape(const MsTensor *a, const MsTensor *b)
{
    return ms_tensor_ndim(a) == ms_tensor_ndim(b) &&
           memcmp(ms_tensor_shape(a), ms_tensor_shape(b), (size_t)ms_tensor_ndim(a) * sizeof(int64_t)) == 0;
}

/* The gradient as a tensor of the variable's shape; *touched: which slices it has, NULL for all. */
static MsTensor *dense(const char *op, MsTensor *var, MsTensor *g, MsTensor *index, MsTensor **touched)
{
    *touched = NULL;
    g = ms__cast_to(g, ms_tensor_dtype(var));
    if (!g) return NULL;
    if (!index) {
        if (same_shape(var, g)) return g;
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', the gradient must have the variable's shape %s, but got %s.", op,
                            ms__shape_text(ms_tensor_ndim(var), ms_tensor_shape(var)),
                            ms__shape_text(ms_tensor_ndim(g), ms_tensor_shape(g)));
    }
    int n = ms_tensor_ndim(var);
    if (n < 1 || ms_tensor_ndim(index) != 1 || ms_tensor_ndim(g) != n ||
        ms_tensor_shape(index)[0] != ms_tensor_shape(g)[0] ||
        memcmp(ms_tensor_shape(g) + 1, ms_tensor_shape(var) + 1, (size_t)(n - 1) * sizeof(int64_t)) != 0)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For '%s', indices of shape %s and a gradient of shape %s do not fit the variable of shape %s.",
            op, ms__shape_text(ms_tensor_ndim(index), ms_tensor_shape(index)),
            ms__shape_text(ms_tensor_ndim(g), ms_tensor_shape(g)), ms__shape_text(n, ms_tensor_shape(var)));
    MsInts whole = {n, ms_tensor_shape(var)};
    int64_t rows = ms_tensor_shape(var)[0], column[MS_MAX_DIM] = {rows};
    for (int d = 1; d < n; d++) column[d] = 1;
    MsTensor *ones = ms_full_int(MS_INTS(ms_tensor_shape(index)[0]), 1, MS_INT32);
    MsTensor *count = ms_scatter_add(ms_full_int(MS_INTS(rows), 0, MS_INT32), index, ones, 0);
    *touched = ms_reshape(ms__cast_to(count, MS_BOOL), (MsInts){n, column});
    return *touched ? ms_scatter_add(ms_full(whole, 0, ms_tensor_dtype(var)), index, g, 0) : NULL;
}

MS_API(p_apply, "_p.apply",
       "(rule: str, states: Tensor[], grad: Tensor, numbers: any, indices: Tensor = None) -> any")
{
    const char *name = ARG(0)->s;
    const Rule *r = NULL;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (strcmp(rules[k].name, name) == 0) r = &rules[k];
    int n = ARG(1)->n, most = r ? r->n_states : 0, m;
    const MsArg *number = ms__arg_items(ARG(3), &m);
    if (!r || n < 1 || n > most || n < most - 1 || m != r->n_numbers)
        return MS_FAIL(MS_ERROR_VALUE, "There is no optimizer rule '%s' of %d states and %d numbers.", name,
                       n, m);
    Step s = {.g = NULL};
    MsTensor *touched, *var = ARG(1)->list[0].t;
    if (!ms_dtype_is_float(ms_tensor_dtype(var)))
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the variable must be a Tensor of floats, but got %s.", name,
                       ms_dtype_name(ms_tensor_dtype(var)));
    for (int k = 0; k < n; k++) {
        s.s[k] = wide(ARG(1)->list[k].t);
        if (!s.s[k]) return ms_error()->code;
        if (!same_shape(var, s.s[k]))
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', a state of shape %s does not fit the variable of shape %s.", name,
                           ms__shape_text(ms_tensor_ndim(s.s[k]), ms_tensor_shape(s.s[k])),
                           ms__shape_text(ms_tensor_ndim(var), ms_tensor_shape(var)));
    }
    for (int k = 0; k < m; k++) {
        MsTensor *f = ms__cast_to(ms__arg_tensor(&number[k], s.s[0]), ms_tensor_dtype(s.s[0]));
        if (!f) return ms_error()->code;
        if (ms_tensor_numel(f) != 1)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', a rate or factor must have one element, but got shape %s.", name,
                           ms__shape_text(ms_tensor_ndim(f), ms_tensor_shape(f)));
        s.f[k] = ms_reshape(f, (MsInts){0, NULL});
    }
    s.g = dense(name, s.s[0], T(2), GIVEN(4) ? T(4) : NULL, &touched);
    if (!s.g) return ms_error()->code;
    r->run(&s);
    for (int k = 0; k < n; k++) {
        if (touched) s.new[k] = ms_where(touched, s.new[k], s.s[k]);
        if (!s.new[k]) return ms_error()->code;
    }
    for (int k = 0; k < n; k++) {
        s.s[k] = ARG(1)->list[k].t;
        MS_TRY(ms_tensor_write(s.s[k], s.new[k]));
    }
    return ms__api_return_list(c, n, s.s);
}
