/* classify.c - public names of classification losses and of the softmax family. Class targets give the
 * negative log-likelihood of one class a row, checked against the number of classes; float targets of the
 * input's shape are probabilities. Input is (N, C), (C) or (N, C, d1, ...); the class axis is 1, or 0 without
 * a batch. */
#include "api/args.h"
#include "op/view.h"

#include <string.h>

static MsTensor *number(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(dtype_of(like), v) : NULL;
}

static MsStatus reduced(MsApiCall *c, const char *op, const char *how, MsTensor *loss, MsTensor *weight)
{
    if (strcmp(how, "none") == 0) return R(loss);
    if (strcmp(how, "sum") == 0) return R(loss ? ms_sum(loss, MS_INTS_NONE, false) : NULL);
    if (strcmp(how, "mean") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'reduction' must be in ['none', 'mean', 'sum'], but got '%s'.", op,
                       how);
    if (!loss || !weight) return R(loss ? ms_mean(loss, MS_INTS_NONE, false) : NULL);
    return R(ms_div(ms_sum(loss, MS_INTS_NONE, false), ms_sum(weight, MS_INTS_NONE, false)));
}

static MsTensor *class_last(MsTensor *x)
{
    int nd = ms_tensor_ndim(x);
    return nd > 2 ? ms__move_axis(x, 1, nd - 1) : x;
}

/* Labels as indices that a gather may use: the ignored ones point at class 0. */
static MsTensor *safe(MsTensor *labels, int64_t ignore, MsTensor **kept)
{
    MsTensor *skip = ms_eq(labels, ms_tensor_scalar_int(dtype_of(labels), ignore));
    *kept = skip ? ms_logical_not(skip) : NULL;
    return skip ? ms_where(skip, ms_tensor_scalar_int(dtype_of(labels), 0), labels) : NULL;
}

/* The loss by rows (last axis: classes) of log-probabilities, and the weight of every row. */
static MsTensor *likelihood(MsTensor *logp, MsTensor *labels, MsTensor *weight, int64_t ignore,
                            double smoothing, MsTensor **row_weight)
{
    MsTensor *kept, *at = safe(labels, ignore, &kept);
    if (!at || !logp) return NULL;
    int64_t classes = ms_tensor_shape(logp)[ms_tensor_ndim(logp) - 1];
    int nd = ms_tensor_ndim(at);
    int64_t shape[MS_MAX_DIM];
    memcpy(shape, ms_tensor_shape(at), (size_t)nd * sizeof *shape);
    shape[nd] = 1;
    MsTensor *picked = ms_take_along(logp, ms_reshape(at, (MsInts){nd + 1, shape}), nd);
    MsTensor *loss = ms_neg(ms_reshape(picked, (MsInts){nd, shape}));
    MsTensor *w = weight ? ms_gather(weight, at, 0) : ms_full((MsInts){nd, shape}, 1, dtype_of(logp));
    if (weight) loss = ms_mul(loss, w);
    if (smoothing > 0 && loss) {
        int64_t last = nd;
        MsTensor *all = weight ? ms_mul(logp, weight) : logp;
        MsTensor *flat = ms_neg(ms_sum(all, (MsInts){1, &last}, false));
        loss = ms_add(ms_mul(loss, number(loss, 1 - smoothing)),
                      ms_mul(flat, number(loss, smoothing / (double)classes)));
    }
    MsTensor *zero = number(loss, 0);
    *row_weight = zero && w ? ms_where(kept, w, zero) : NULL;
    return zero ? ms_where(kept, loss, zero) : NULL;
}

static MsStatus check_labels(const char *op, MsTensor *x, MsTensor *labels)
{
    int nd = ms_tensor_ndim(x), n = 0;
    MsDtype d = dtype_of(labels);
    if (d != MS_INT32 && d != MS_INT64)
        return MS_FAIL(MS_ERROR_TYPE,
                       "For '%s', the 'target' must be int32 or int64 class indices, but got %s.", op,
                       ms_dtype_name(d));
    if (nd == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'input' must have a class axis, but is 0-d.", op);
    int64_t shape[MS_MAX_DIM];
    for (int k = 0; k < nd; k++)
        if (k != (nd > 1)) shape[n++] = ms_tensor_shape(x)[k];
    if (ms_tensor_ndim(labels) != n || memcmp(shape, ms_tensor_shape(labels), (size_t)n * sizeof *shape) != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'target' must have shape %s for an input of shape %s, but got %s.", op,
                       ms__shape_text(n, shape), ms__shape_text(nd, ms_tensor_shape(x)),
                       ms__shape_text(ms_tensor_ndim(labels), ms_tensor_shape(labels)));
    return MS_OK;
}

static MsStatus cross_entropy(MsApiCall *c)
{
    MsTensor *x = T(0), *y = T(1), *weight = T(2), *row_weight = NULL;
    double smoothing = F(5);
    if (!(smoothing >= 0 && smoothing <= 1))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'cross_entropy', 'label_smoothing' must be in [0, 1], but got %g.", smoothing);
    if (ms_dtype_is_float(dtype_of(y))) { /* probabilities */
        if (ms_tensor_ndim(x) != ms_tensor_ndim(y) ||
            memcmp(ms_tensor_shape(x), ms_tensor_shape(y), (size_t)ms_tensor_ndim(x) * sizeof(int64_t)) != 0)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For 'cross_entropy', probabilities must have the shape of the input %s, but got %s.",
                ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)),
                ms__shape_text(ms_tensor_ndim(y), ms_tensor_shape(y)));
        MsTensor *logp = class_last(x), *p = class_last(y);
        if (!logp || !p) return ms_error()->code;
        int64_t last = ms_tensor_ndim(logp) - 1, classes = ms_tensor_shape(logp)[last];
        logp = ms_log_softmax(logp, last);
        if (smoothing > 0)
            p = ms_add(ms_mul(p, number(p, 1 - smoothing)), number(p, smoothing / (double)classes));
        MsTensor *each = ms_mul(logp, p);
        if (weight) each = ms_mul(each, weight);
        return reduced(c, "cross_entropy", ARG(4)->s, ms_neg(ms_sum(each, (MsInts){1, &last}, false)), NULL);
    }
    MS_TRY(check_labels("cross_entropy", x, y));
    MsTensor *rows = class_last(x);
    if (!rows) return ms_error()->code;
    MsTensor *loss;
    if (!weight && smoothing == 0) {
        loss = ms_softmax_cross_entropy(rows, y, I(3));
        MsTensor *kept = ms_ne(y, ms_tensor_scalar_int(dtype_of(y), I(3)));
        row_weight = kept ? ms_cast(kept, dtype_of(x)) : NULL;
    } else {
        loss = likelihood(ms_log_softmax(rows, -1), y, weight, I(3), smoothing, &row_weight);
    }
    return reduced(c, "cross_entropy", ARG(4)->s, loss, row_weight);
}

MS_API(cross_entropy, "ops.cross_entropy mint.nn.functional.cross_entropy",
       "(input: Tensor, target: Tensor, weight: Tensor = None, ignore_index: int = -100, reduction: str = "
       "'mean', "
       "label_smoothing: number = 0.0) -> Tensor")
{
    return cross_entropy(c);
}

static MsStatus nll_loss(MsApiCall *c, double smoothing)
{
    MS_TRY(check_labels("nll_loss", T(0), T(1)));
    MsTensor *row_weight = NULL, *rows = class_last(T(0));
    MsTensor *loss = rows ? likelihood(rows, T(1), T(2), I(3), smoothing, &row_weight) : NULL;
    return reduced(c, "nll_loss", ARG(4)->s, loss, row_weight);
}

MS_API(nll_loss, "ops.nll_loss",
       "(inputs: Tensor, target: Tensor, weight: Tensor = None, ignore_index: int = -100, reduction: str = "
       "'mean', "
       "label_smoothing: number = 0.0) -> Tensor")
{
    return nll_loss(c, F(5));
}

MS_API(nll_loss_mint, "mint.nn.functional.nll_loss",
       "(input: Tensor, target: Tensor, weight: Tensor = None, ignore_index: int = -100, reduction: str = "
       "'mean') -> Tensor")
{
    return nll_loss(c, 0);
}

/* max(x, 0) - x * y + log(1 + exp(-|x|)): right at any argument; pos_weight scales the log-sigmoid of the
 * positives. */
static MsStatus bce(MsApiCall *c, int weight, int pos, int how)
{
    MsTensor *x = T(0), *y = T(1), *loss;
    if (T(pos)) {
        MsTensor *one = number(y, 1);
        MsTensor *scale = one ? ms_add(ms_mul(ms_sub(T(pos), one), y), one) : NULL;
        loss = ms_sub(ms_mul(ms_sub(one, y), x), ms_mul(scale, ms_log_sigmoid(x)));
    } else {
        loss = ms_sub(ms_relu(x), ms_mul(x, y));
        loss = ms_add(loss, ms_log1p(ms_exp(ms_neg(ms_abs(x)))));
    }
    if (T(weight)) loss = ms_mul(loss, T(weight));
    return reduced(c, "binary_cross_entropy_with_logits", ARG(how)->s, loss, NULL);
}

MS_API(bce_with_logits, "ops.binary_cross_entropy_with_logits",
       "(input: Tensor, target: Tensor, weight: Tensor = None, pos_weight: Tensor = None, reduction: str = "
       "'mean') -> Tensor")
{
    return bce(c, 2, 3, 4);
}

MS_API(bce_with_logits_mint, "mint.nn.functional.binary_cross_entropy_with_logits",
       "(input: Tensor, target: Tensor, weight: Tensor = None, reduction: str = 'mean', pos_weight: Tensor = "
       "None) -> Tensor")
{
    return bce(c, 2, 4, 3);
}

static MsStatus soft(MsApiCall *c, MsTensor *(*f)(MsTensor *, int64_t), int axis, int dtype, double sign)
{
    MsTensor *x = T(0);
    if (dtype >= 0 && GIVEN(dtype)) x = ms_cast(x, DTYPE(dtype));
    if (x && sign < 0) x = ms_neg(x);
    if (!x) return ms_error()->code;
    int nd = ms_tensor_ndim(x); /* without an axis PyTorch's old rule */
    return R(f(x, GIVEN(axis) ? I(axis) : nd == 0 || nd == 1 || nd == 3 ? 0 : 1));
}

MS_API(softmax, "ops.softmax", "(input: Tensor, axis: int = -1, *, dtype: dtype = None) -> Tensor")
{
    return soft(c, ms_softmax, 1, 2, 1);
}

MS_API(softmax_dim, "mint.softmax", "(input: Tensor, dim: int, *, dtype: dtype = None) -> Tensor")
{
    return soft(c, ms_softmax, 1, 2, 1);
}

MS_API(softmax_functional, "mint.nn.functional.softmax",
       "(input: Tensor, dim: int = None, *, dtype: dtype = None) -> Tensor")
{
    return soft(c, ms_softmax, 1, 2, 1);
}

MS_API(softmax_method, "Tensor.softmax", "(self: Tensor, axis: int = -1, dtype: dtype = None) -> Tensor")
{
    return soft(c, ms_softmax, 1, 2, 1);
}

MS_API(log_softmax, "ops.log_softmax", "(logits: Tensor, axis: int = -1) -> Tensor")
{
    return soft(c, ms_log_softmax, 1, -1, 1);
}

MS_API(log_softmax_dim, "mint.nn.functional.log_softmax mint.special.log_softmax",
       "(input: Tensor, dim: int = None, *, dtype: dtype = None) -> Tensor")
{
    return soft(c, ms_log_softmax, 1, 2, 1);
}

MS_API(softmin, "ops.softmin", "(x: Tensor, axis: int = -1, *, dtype: dtype = None) -> Tensor")
{
    return soft(c, ms_softmax, 1, 2, -1);
}
