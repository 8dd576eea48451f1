/* loss.c - losses that are compositions of elementwise operators and a reduction. Invariants: NaN propagates;
 * a mean over nothing is NaN and a sum 0; formulas are the ones that neither overflow nor cancel at extreme
 * arguments. */
#include "api/api.h"

#include <math.h>
#include <string.h>

static MsTensor *number(double v, MsTensor *like)
{
    return like ? ms_tensor_scalar(ms_tensor_dtype(like), v) : NULL;
}

static MsTensor *times(MsTensor *x, double v)
{
    return ms_mul(x, number(v, x));
}
static MsTensor *plus(MsTensor *x, double v)
{
    return ms_add(x, number(v, x));
}
static MsTensor *at_least(MsTensor *x, double v)
{
    return ms_maximum(x, number(v, x));
}

static MsStatus check_reduction(const char *who, const char *reduction)
{
    if (strcmp(reduction, "mean") == 0 || strcmp(reduction, "sum") == 0 || strcmp(reduction, "none") == 0)
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE,
                   "For '%s', the 'reduction' must be in ['mean', 'sum', 'none'], but got %s.", who,
                   reduction);
}

/* Returns x, its mean or its sum. */
static MsStatus finish(MsApiCall *c, const char *who, MsTensor *x, const char *reduction)
{
    MS_TRY(check_reduction(who, reduction));
    if (!x) return ms_error()->code;
    if (strcmp(reduction, "mean") == 0) x = ms_mean(x, MS_INTS_NONE, false);
    if (strcmp(reduction, "sum") == 0) x = ms_sum(x, MS_INTS_NONE, false);
    return R(x);
}

/* Difference of arguments 0 and 1, brought to one floating dtype. */
static MsTensor *difference(MsApiCall *c, const char *who)
{
    MsTensor *a, *b;
    if (ms__arg_promote(c, 0, 1, &a, &b) != MS_OK) return NULL;
    if (!ms_dtype_is_float(ms_tensor_dtype(a)) && !ms_dtype_is_complex(ms_tensor_dtype(a)))
        return MS_FAIL_NULL(MS_ERROR_TYPE, "For '%s', the inputs must be Tensors of floats, but got %s.", who,
                            ms_dtype_name(ms_tensor_dtype(a)));
    return ms_sub(a, b);
}

MS_API(mse_loss, "ops.mse_loss ops.mse_loss_ext mint.nn.functional.mse_loss",
       "(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor")
{
    return finish(c, "mse_loss", ms_square(difference(c, "mse_loss")), ARG(2)->s);
}

MS_API(l1_loss, "ops.l1_loss mint.nn.functional.l1_loss",
       "(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor")
{
    return finish(c, "l1_loss", ms_abs(difference(c, "l1_loss")), ARG(2)->s);
}

/* |d| < limit: d^2 / 2 * low_scale, else (|d| - limit / 2) * high_scale */
static MsTensor *bent(MsTensor *d, double limit, double low_scale, double high_scale)
{
    MsTensor *a = ms_abs(d), *near = ms_lt(a, number(limit, a));
    return ms_where(near, times(ms_square(d), 0.5 * low_scale), times(plus(a, -0.5 * limit), high_scale));
}

MS_API(smooth_l1_loss, "ops.smooth_l1_loss",
       "(input: Tensor, target: Tensor, beta: number = 1.0, reduction: str = 'none') -> Tensor")
{
    double beta = F(2);
    MsTensor *d = difference(c, "smooth_l1_loss");
    if (beta < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'smooth_l1_loss', the 'beta' must be >= 0, but got %g.", beta);
    return finish(c, "smooth_l1_loss", beta == 0 ? ms_abs(d) : bent(d, beta, 1 / beta, 1), ARG(3)->s);
}

MS_API(huber_loss, "ops.huber_loss",
       "(input: Tensor, target: Tensor, reduction: str = 'mean', delta: number = 1.0) -> Tensor")
{
    double delta = F(3);
    MsTensor *d = difference(c, "huber_loss");
    if (!(delta > 0))
        return MS_FAIL(MS_ERROR_VALUE, "For 'huber_loss', the 'delta' must be > 0, but got %g.", delta);
    return finish(c, "huber_loss", bent(d, delta, 1, delta), ARG(2)->s);
}

/* x log y with 0 log 0 = 0 and no infinite slope there. */
static MsTensor *x_log_x(MsTensor *x)
{
    MsTensor *zero = ms_eq(x, number(0, x));
    return ms_mul(x, ms_log(ms_where(zero, number(1, x), x)));
}

MS_API(kl_div, "ops.kl_div", "(logits: Tensor, labels: Tensor, reduction: str = 'mean') -> Tensor")
{
    MsTensor *x, *y;
    const char *reduction = ARG(2)->s;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    MsTensor *loss = ms_sub(x_log_x(y), ms_mul(y, x));
    if (strcmp(reduction, "batchmean") != 0) return finish(c, "kl_div", loss, reduction);
    if (ms_tensor_ndim(x) < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'kl_div', 'batchmean' needs a batch axis.");
    return R(times(ms_sum(loss, MS_INTS_NONE, false), 1.0 / (double)ms_tensor_shape(x)[0]));
}

/* Probabilities outside [0, 1] are an error where they have a value. */
static MsStatus check_probability(MsTensor *x)
{
    if (ms_tensor_is_traced(x) || ms_tensor_numel(x) == 0) return MS_OK;
    double low, high;
    MS_TRY(ms_tensor_item(ms_reduce_min(x, MS_INTS_NONE, false), &low));
    MS_TRY(ms_tensor_item(ms_reduce_max(x, MS_INTS_NONE, false), &high));
    if (low < 0 || high > 1)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "For 'BinaryCrossEntropy', the value of 'input_x' must be between 0 and 1, but got "
                       "value: %g",
                       low < 0 ? low : high);
    return MS_OK;
}

/* log x, not below -100. */
static MsTensor *log_clamped(MsTensor *x)
{
    return at_least(ms_log(at_least(x, 0x1p-126)), -100);
}

MS_API(binary_cross_entropy, "ops.binary_cross_entropy",
       "(logits: Tensor, labels: Tensor, weight: Tensor = None, reduction: str = 'mean') -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    MS_TRY(check_probability(x));
    MsTensor *rest = plus(ms_neg(x), 1), *other = plus(ms_neg(y), 1);
    MsTensor *loss = ms_neg(ms_add(ms_mul(y, log_clamped(x)), ms_mul(other, log_clamped(rest))));
    if (GIVEN(2)) loss = ms_mul(loss, ms_cast(T(2), ms_tensor_dtype(x)));
    return finish(c, "binary_cross_entropy", loss, ARG(3)->s);
}
MS_API_ALSO(binary_cross_entropy_mint, binary_cross_entropy, "mint.nn.functional.binary_cross_entropy",
            "(input: Tensor, target: Tensor, weight: Tensor = None, reduction: str = 'mean') -> Tensor")

MS_API(cosine_embedding_loss, "ops.cosine_embedding_loss",
       "(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = 'mean') -> "
       "Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    int n = ms_tensor_ndim(a);
    if (n != 1 && n != 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'cosine_embedding_loss', the inputs must have 1 or 2 dimensions, but got %s.",
                       ms__shape_text(n, ms_tensor_shape(a)));
    if (F(3) < -1 || F(3) > 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'cosine_embedding_loss', the 'margin' must be in range of [-1.0, 1.0], but got "
                       "%g.",
                       F(3));
    MsInts axis = MS_INTS(n - 1);
    MsTensor *dot = ms_sum(ms_mul(a, b), axis, false);
    MsTensor *aa = plus(ms_sum(ms_square(a), axis, false), 1e-12),
             *bb = plus(ms_sum(ms_square(b), axis, false), 1e-12);
    MsTensor *cosine = ms_div(dot, ms_sqrt(ms_mul(aa, bb))), *zero = number(0, cosine);
    MsTensor *t = ms_cast(T(2), ms_tensor_dtype(a));
    MsTensor *same = ms_where(ms_eq(t, number(1, t)), plus(ms_neg(cosine), 1), zero);
    MsTensor *apart = ms_where(ms_eq(t, number(-1, t)), at_least(plus(cosine, -F(3)), 0), zero);
    return finish(c, "cosine_embedding_loss", ms_add(same, apart), ARG(4)->s);
}

MS_API(margin_ranking_loss, "ops.margin_ranking_loss",
       "(input1: Tensor, input2: Tensor, target: Tensor, margin: number = 0.0, reduction: str = 'mean') -> "
       "Tensor")
{
    MsTensor *d = difference(c, "margin_ranking_loss");
    if (!d) return ms_error()->code;
    MsTensor *t = ms_cast(T(2), ms_tensor_dtype(d));
    return finish(c, "margin_ranking_loss", at_least(plus(ms_neg(ms_mul(t, d)), F(3)), 0), ARG(4)->s);
}

MS_API(hinge_embedding_loss, "ops.hinge_embedding_loss",
       "(inputs: Tensor, targets: Tensor, margin: number = 1.0, reduction: str = 'mean') -> Tensor")
{
    MsTensor *x = T(0), *t = ms_cast(T(1), ms_tensor_dtype(x)), *zero = number(0, x);
    MsTensor *near = ms_where(ms_eq(t, number(1, t)), x, zero);
    MsTensor *far = ms_where(ms_eq(t, number(-1, t)), at_least(plus(ms_neg(x), F(2)), 0), zero);
    return finish(c, "hinge_embedding_loss", ms_add(near, far), ARG(3)->s);
}

MS_API(soft_margin_loss, "ops.soft_margin_loss",
       "(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor")
{
    MsTensor *x, *t;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &t));
    return finish(c, "soft_margin_loss", ms_softplus(ms_neg(ms_mul(t, x))), ARG(2)->s);
}

MS_API(multilabel_soft_margin_loss, "ops.multilabel_soft_margin_loss",
       "(input: Tensor, target: Tensor, weight: Tensor = None, reduction: str = 'mean') -> Tensor")
{
    MsTensor *x, *t;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &t));
    if (ms_tensor_ndim(x) < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'multilabel_soft_margin_loss', the input needs an axis.");
    MsTensor *yes = ms_mul(t, ms_log_sigmoid(x)), *no = ms_mul(plus(ms_neg(t), 1), ms_log_sigmoid(ms_neg(x)));
    MsTensor *loss = ms_neg(ms_add(yes, no));
    if (GIVEN(2)) loss = ms_mul(loss, ms_cast(T(2), ms_tensor_dtype(x)));
    return finish(c, "multilabel_soft_margin_loss", ms_mean(loss, MS_INTS(ms_tensor_ndim(x) - 1), false),
                  ARG(3)->s);
}

MS_API(gaussian_nll_loss, "ops.gaussian_nll_loss",
       "(x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "
       "'mean') -> Tensor")
{
    MsTensor *d = difference(c, "gaussian_nll_loss");
    if (!d) return ms_error()->code;
    if (!(F(4) > 0))
        return MS_FAIL(MS_ERROR_VALUE, "For 'gaussian_nll_loss', the 'eps' must be > 0, but got %g.", F(4));
    MsTensor *var = ms_cast(T(2), ms_tensor_dtype(d));
    /* the floor has no gradient of its own, but lets the one of the variance through */
    MsTensor *v = ms_add(var, ms_stop_gradient(ms_sub(at_least(var, F(4)), var)));
    MsTensor *loss = times(ms_add(ms_log(v), ms_div(ms_square(d), v)), 0.5);
    if (I(3)) loss = plus(loss, 0.5 * log(2 * M_PI));
    return finish(c, "gaussian_nll_loss", loss, ARG(5)->s);
}

MS_API(multi_margin_loss, "ops.multi_margin_loss",
       "(input: Tensor, target: Tensor, p: int = 1, margin: number = 1, weight: Tensor = None, reduction: "
       "str = 'mean') "
       "-> Tensor")
{
    MsTensor *x = T(0), *y = T(1);
    if (ms_tensor_ndim(x) != 2 || ms_tensor_ndim(y) != 1 || ms_tensor_shape(x)[0] != ms_tensor_shape(y)[0])
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'multi_margin_loss', the input must be (N, C) and the target (N,), but got %s and "
            "%s.",
            ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)),
            ms__shape_text(ms_tensor_ndim(y), ms_tensor_shape(y)));
    if (I(2) != 1 && I(2) != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'multi_margin_loss', the 'p' must be 1 or 2, but got %lld.",
                       (long long)I(2));
    int64_t n = ms_tensor_shape(x)[0], classes = ms_tensor_shape(x)[1];
    MsTensor *index = ms_reshape(y, MS_INTS(n, 1));
    MsTensor *short_by = at_least(plus(ms_sub(x, ms_take_along(x, index, 1)), F(3)), 0);
    if (I(2) == 2) short_by = ms_square(short_by);
    if (GIVEN(4))
        short_by =
            ms_mul(short_by, ms_reshape(ms_gather(ms_cast(T(4), ms_tensor_dtype(x)), y, 0), MS_INTS(n, 1)));
    MsTensor *own = ms_eq(ms_arange_int(0, 1, classes, ms_tensor_dtype(y)), index);
    short_by = ms_where(own, number(0, x), short_by);
    return finish(c, "multi_margin_loss", ms_mean(short_by, MS_INTS(1), false), ARG(5)->s);
}

/* |a - b + eps|_p over the last axis */
static MsTensor *apart(MsTensor *a, MsTensor *b, double p, double eps)
{
    MsTensor *d = ms_abs(plus(ms_sub(a, b), eps));
    MsInts last = MS_INTS(a ? ms_tensor_ndim(a) - 1 : 0);
    if (p == 1) return ms_sum(d, last, false);
    if (p == 2) return ms_sqrt(ms_sum(ms_square(d), last, false));
    return ms_pow(ms_sum(ms_pow(d, number(p, d)), last, false), number(1 / p, d));
}

MS_API(triplet_margin_loss, "ops.triplet_margin_loss",
       "(anchor: Tensor, positive: Tensor, negative: Tensor, margin: number = 1.0, p: number = 2, eps: float "
       "= 1e-6, "
       "swap: bool = False, reduction: str = 'mean') -> Tensor")
{
    MsTensor *a = T(0), *q = T(1), *n = T(2);
    if (ms_tensor_ndim(a) < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'triplet_margin_loss', the inputs need an axis.");
    MsTensor *near = apart(a, q, F(4), F(5)), *far = apart(a, n, F(4), F(5));
    if (I(6)) far = ms_minimum(far, apart(q, n, F(4), F(5)));
    return finish(c, "triplet_margin_loss", at_least(plus(ms_sub(near, far), F(3)), 0), ARG(7)->s);
}
