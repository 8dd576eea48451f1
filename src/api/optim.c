/* optim.c - optimizer steps as rows under the private prefix `_optim`: parameters and states are written in
 * place, all of a set by one operator where there is one. g' = g * grad_scale + weight_decay * p everywhere.
 *
 * Invariant: everything is checked before anything is written, so a refused step changes nothing. */
#include "api/api.h"
#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* The inputs of an update operator: lists of n tensors one after the other, then scalars. */
typedef struct Update {
    const char *who;
    int n, n_lists, n_in;
    MsTensor **in;
} Update;

static void update_free(Update *u)
{
    free(u->in);
}

/* Collects arguments arg[0..n_lists) (the last are the gradients) with room for `n_scalars` more. */
static MsStatus update_begin(Update *u, const char *who, MsApiCall *c, const int *arg, int n_lists,
                             int n_scalars)
{
    *u = (Update){.who = who, .n = ARG(arg[0])->n, .n_lists = n_lists};
    if (u->n < 1) return MS_FAIL(MS_ERROR_VALUE, "For '%s', there must be at least one parameter.", who);
    u->in = ms__malloc(((size_t)u->n * (size_t)n_lists + (size_t)n_scalars) * sizeof *u->in);
    if (!u->in) return MS_ERROR_MEMORY;
    for (int k = 0; k < n_lists; k++) {
        const MsArg *list = ARG(arg[k]);
        if (list->n != u->n)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', there are %d parameters, but %d %s.", who, u->n,
                           list->n, k == n_lists - 1 ? "gradients" : "states");
        for (int i = 0; i < u->n; i++) {
            MsTensor *p = u->in[i], *t = list->list[i].t;
            if (list->list[i].kind != MS_ARG_TENSOR)
                return MS_FAIL(MS_ERROR_TYPE, "For '%s', the gradients must be Tensors.", who);
            if (k && (ms_tensor_ndim(t) != ms_tensor_ndim(p) ||
                      memcmp(ms_tensor_shape(t), ms_tensor_shape(p),
                             (size_t)ms_tensor_ndim(p) * sizeof(int64_t)) != 0))
                return MS_FAIL(
                    MS_ERROR_VALUE,
                    "For '%s', the shape of gradient %d must be %s as its parameter's, but got %s.", who, i,
                    ms__shape_text(ms_tensor_ndim(p), ms_tensor_shape(p)),
                    ms__shape_text(ms_tensor_ndim(t), ms_tensor_shape(t)));
            if (k == n_lists - 1 && ms_tensor_dtype(t) != ms_tensor_dtype(p))
                t = ms_cast(t, ms_tensor_dtype(p));
            if (!t) return ms_error()->code;
            u->in[u->n_in++] = t;
        }
    }
    return MS_OK;
}

static void update_scalar(Update *u, MsTensor *t)
{
    u->in[u->n_in++] = t;
}

#define ATTR_INT(v) ((MsAttr){.kind = MS_ATTR_INT, .i = (v)})
#define ATTR_FLOAT(v) ((MsAttr){.kind = MS_ATTR_FLOAT, .f = (v)})
#define ATTR_BOOL(v) ((MsAttr){.kind = MS_ATTR_BOOL, .i = (v)})

/* Runs op; its results are all lists but the gradients, written where they came from. */
static MsStatus update_run(Update *u, const MsOp *op, const MsAttr *attr)
{
    return ms_bind_into(op, attr, u->n_in, u->in, u->n * (u->n_lists - 1), u->in);
}

extern const MsOp ms_op_momentum_update, ms_op_sgd_update, ms_op_adam_update, ms_op_adamw_update;

MS_API(optim_momentum, "_optim.momentum",
       "(params: Tensor[], moments: Tensor[], grads: Tensor[], lr: Tensor, momentum: float, weight_decay: "
       "float, "
       "grad_scale: float, nesterov: bool) -> None")
{
    Update u;
    MsStatus st = update_begin(&u, "Momentum", c, (int[]){0, 1, 2}, 3, 1);
    if (st == MS_OK) {
        update_scalar(&u, T(3));
        MsAttr attr[] = {ATTR_INT(u.n), ATTR_FLOAT(F(4)), ATTR_FLOAT(F(5)), ATTR_FLOAT(F(6)),
                         ATTR_BOOL(I(7))};
        st = update_run(&u, &ms_op_momentum_update, attr);
    }
    update_free(&u);
    return st;
}

MS_API(optim_sgd, "_optim.sgd",
       "(params: Tensor[], accum: Tensor[], stat: Tensor[], grads: Tensor[], lr: Tensor, momentum: float, "
       "dampening: float, weight_decay: float, grad_scale: float, nesterov: bool) -> None")
{
    Update u;
    MsStatus st = update_begin(&u, "SGD", c, (int[]){0, 1, 2, 3}, 4, 1);
    if (st == MS_OK) {
        update_scalar(&u, T(4));
        MsAttr attr[] = {ATTR_INT(u.n),    ATTR_FLOAT(F(5)), ATTR_FLOAT(F(6)),
                         ATTR_FLOAT(F(7)), ATTR_FLOAT(F(8)), ATTR_BOOL(I(9))};
        st = update_run(&u, &ms_op_sgd_update, attr);
    }
    update_free(&u);
    return st;
}

MS_API(
    optim_adam, "_optim.adam",
    "(params: Tensor[], moment1: Tensor[], moment2: Tensor[], vhat: any, grads: Tensor[], lr: Tensor, "
    "beta1_power: Tensor, beta2_power: Tensor, beta1: float, beta2: float, eps: float, weight_decay: float, "
    "grad_scale: float, nesterov: bool) -> None")
{
    Update u;
    bool amsgrad = GIVEN(3);
    MsStatus st = update_begin(&u, "Adam", c, amsgrad ? (int[]){0, 1, 2, 3, 4} : (int[]){0, 1, 2, 4, 0},
                               4 + amsgrad, 3);
    if (st == MS_OK) {
        for (int k = 5; k < 8; k++) update_scalar(&u, T(k));
        MsAttr attr[] = {ATTR_INT(u.n),     ATTR_FLOAT(F(8)),  ATTR_FLOAT(F(9)), ATTR_FLOAT(F(10)),
                         ATTR_FLOAT(F(11)), ATTR_FLOAT(F(12)), ATTR_BOOL(I(13)), ATTR_BOOL(amsgrad)};
        st = update_run(&u, &ms_op_adam_update, attr);
    }
    update_free(&u);
    return st;
}

MS_API(optim_adamw, "_optim.adamw",
       "(params: Tensor[], moment1: Tensor[], moment2: Tensor[], grads: Tensor[], lr: Tensor, beta1: float, "
       "beta2: float, "
       "eps: float, weight_decay: float, grad_scale: float) -> None")
{
    Update u;
    MsStatus st = update_begin(&u, "AdamWeightDecay", c, (int[]){0, 1, 2, 3}, 4, 1);
    if (st == MS_OK) {
        update_scalar(&u, T(4));
        MsAttr attr[] = {ATTR_INT(u.n),    ATTR_FLOAT(F(5)), ATTR_FLOAT(F(6)),
                         ATTR_FLOAT(F(7)), ATTR_FLOAT(F(8)), ATTR_FLOAT(F(9))};
        st = update_run(&u, &ms_op_adamw_update, attr);
    }
    update_free(&u);
    return st;
}

/* ---- optimizers made of small operators, one parameter after the other ---- */

static MsTensor *scaled(MsTensor *x, double by)
{
    return ms_mul(x, ms_tensor_scalar(ms_tensor_dtype(x), by));
}

/* g' as at the top of the file. */
static MsTensor *effective(MsTensor *g, MsTensor *p, double weight_decay, double grad_scale)
{
    if (grad_scale != 1) g = scaled(g, grad_scale);
    return g && weight_decay != 0 ? ms_add(g, scaled(p, weight_decay)) : g;
}

/* decay * old + (1 - decay) * new */
static MsTensor *moved(MsTensor *old, MsTensor *new, double decay)
{
    return new ? ms_add(scaled(old, decay), scaled(new, 1 - decay)) : NULL;
}

static MsStatus write_all(int n, MsTensor *const *to, MsTensor *const *value)
{
    for (int k = 0; k < n; k++)
        if (!value[k]) return ms_error()->code;
    for (int k = 0; k < n; k++) MS_TRY(ms_tensor_write(to[k], value[k]));
    return MS_OK;
}

MS_API(optim_rmsprop, "_optim.rmsprop",
       "(params: Tensor[], mean_square: Tensor[], moment: Tensor[], mean_grad: any, grads: Tensor[], lr: "
       "Tensor, "
       "decay: float, momentum: float, eps: float, weight_decay: float, grad_scale: float) -> None")
{
    Update u;
    bool centered = GIVEN(3);
    MsStatus st = update_begin(&u, "RMSProp", c, centered ? (int[]){0, 1, 2, 3, 4} : (int[]){0, 1, 2, 4, 0},
                               4 + centered, 0);
    for (int i = 0; st == MS_OK && i < u.n; i++) {
        MsTensor *p = u.in[i], *ms = u.in[u.n + i], *mom = u.in[2 * u.n + i], *mg = u.in[3 * u.n + i];
        MsTensor *g = effective(u.in[(3 + centered) * u.n + i], p, F(9), F(10));
        MsDtype dt = ms_tensor_dtype(p);
        MsTensor *square = moved(ms, g ? ms_mul(g, g) : NULL, F(6));
        MsTensor *mean = centered ? moved(mg, g, F(6)) : NULL;
        MsTensor *under = centered ? ms_sub(square, ms_mul(mean, mean)) : square;
        MsTensor *step =
            ms_div(ms_mul(ms_cast(T(5), dt), g), ms_sqrt(ms_add(under, ms_tensor_scalar(dt, F(8)))));
        MsTensor *velocity = ms_add(scaled(mom, F(7)), step);
        st = write_all(3 + centered, (MsTensor *[]){p, ms, mom, mg},
                       (MsTensor *[]){ms_sub(p, velocity), square, velocity, mean});
    }
    update_free(&u);
    return st;
}

MS_API(optim_adagrad, "_optim.adagrad",
       "(params: Tensor[], accum: Tensor[], grads: Tensor[], lr: Tensor, weight_decay: float, grad_scale: "
       "float, "
       "update_slots: bool) -> None")
{
    Update u;
    MsStatus st = update_begin(&u, "Adagrad", c, (int[]){0, 1, 2}, 3, 0);
    for (int i = 0; st == MS_OK && i < u.n; i++) {
        MsTensor *p = u.in[i], *accum = u.in[u.n + i];
        MsTensor *g = effective(u.in[2 * u.n + i], p, F(4), F(5));
        MsTensor *sum = I(6) ? ms_add(accum, g ? ms_mul(g, g) : NULL) : accum;
        MsTensor *step = ms_div(ms_mul(ms_cast(T(3), ms_tensor_dtype(p)), g), ms_sqrt(sum));
        st = write_all(2, (MsTensor *[]){p, accum}, (MsTensor *[]){ms_sub(p, step), sum});
    }
    update_free(&u);
    return st;
}

/* t += by and t *= by, in place. */
MS_API(optim_increment, "_optim.increment", "(t: Tensor, by: int) -> None")
{
    MsTensor *next = ms_add(T(0), ms_tensor_scalar_int(ms_tensor_dtype(T(0)), I(1)));
    return next ? ms_tensor_write(T(0), next) : ms_error()->code;
}

MS_API(optim_scale, "_optim.scale", "(t: Tensor, by: float) -> None")
{
    MsTensor *next = scaled(T(0), F(1));
    return next ? ms_tensor_write(T(0), next) : ms_error()->code;
}
