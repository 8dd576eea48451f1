/* ctc.c - connectionist temporal classification: the loss with its reductions, the older primitive with sparse
 * labels and the blank at the end, and the decoder that takes the best label of each step. */
#include "api/args.h"

#include <math.h>
#include <string.h>

static MsTensor *whole(int64_t v)
{
    return ms_tensor_scalar_int(MS_INT64, v);
}

/* Adds zero, whose gradient is the probabilities of the steps in use: as in other frameworks the gradient takes
 * for granted that log_probs come from log_softmax, and is the difference of probabilities and posteriors. */
static MsTensor *normalised(MsTensor *loss, MsTensor *lp, MsTensor *in_len)
{
    int64_t n = ms_tensor_shape(lp)[1];
    MsTensor *step = ms_arange_int(0, 1, ms_tensor_shape(lp)[0], MS_INT64);
    step = step ? ms_reshape(step, MS_INTS(ms_tensor_numel(step), 1, 1)) : NULL;
    MsTensor *used = ms_lt(step, ms_reshape(in_len, MS_INTS(n, 1)));
    MsTensor *mass = ms_where(used, ms_exp(lp), ms_tensor_scalar(ms_tensor_dtype(lp), 0));
    mass = ms_sum(mass, MS_INTS(0, 2), false);
    return ms_add(loss, ms_sub(mass, ms_stop_gradient(mass)));
}

/* One vector of all targets, one example's after the other, as rows [n, size of the vector]. */
static MsTensor *by_rows(MsTensor *flat, MsTensor *len)
{
    int64_t size = ms_tensor_numel(flat), n = ms_tensor_numel(len);
    if (size == 0) return ms_reshape(ms_broadcast_to(flat, MS_INTS(n, 0)), MS_INTS(n, 0));
    MsTensor *begin = ms_reshape(ms_cumsum(len, 0, false, true), MS_INTS(n, 1));
    MsTensor *at = ms_minimum(ms_add(begin, ms_arange_int(0, 1, size, MS_INT64)), whole(size - 1));
    return ms_gather(flat, at, 0);
}

MS_API(ctc_loss, "ops.ctc_loss",
       "(log_probs: Tensor, targets: Tensor, input_lengths: any, target_lengths: any, blank: int = 0, "
       "reduction: str = 'mean', zero_infinity: bool = False) -> any")
{
    static const char *const op = "CTCLoss";
    MsTensor *lp = T(0), *targets = T(1), *out[2];
    bool single = ms_tensor_ndim(lp) == 2;
    if (single) lp = ms__unsqueezed(lp, 1);
    MsTensor *in_len = ms__arg_data(op, ARG(2), MS_INT64), *len = ms__arg_data(op, ARG(3), MS_INT64);
    if (!lp || !in_len || !len) return ms_error()->code;
    int64_t n = ms_tensor_numel(len);
    in_len = ms_reshape(ms_cast(in_len, MS_INT64), MS_INTS(ms_tensor_numel(in_len)));
    len = ms_reshape(ms_cast(len, MS_INT64), MS_INTS(n));
    if (ms_tensor_ndim(targets) == 1) targets = single ? ms__unsqueezed(targets, 0) : by_rows(targets, len);
    if (!targets || !in_len || !len) return ms_error()->code;
    MS_TRY(ms_ctc_loss(lp, targets, in_len, len, I(4), true, out));
    MsTensor *loss = out[0], *zero = ms_tensor_scalar(ms_tensor_dtype(lp), 0);
    if (I(6)) loss = ms_where(ms_eq(loss, ms_tensor_scalar(ms_tensor_dtype(lp), INFINITY)), zero, loss);
    loss = normalised(loss, lp, in_len);
    if (strcmp(ARG(5)->s, "mean") == 0) {
        MsTensor *one = ms_maximum(len, whole(1));
        loss = ms_mean(ms_div(loss, ms_cast(one, ms_tensor_dtype(lp))), MS_INTS_NONE, false);
    } else if (strcmp(ARG(5)->s, "sum") == 0) {
        loss = ms_sum(loss, MS_INTS_NONE, false);
    } else if (strcmp(ARG(5)->s, "none") != 0) {
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'reduction' must be in ['none', 'mean', 'sum'], but got %s.", op,
                       ARG(5)->s);
    } else if (single) {
        loss = ms__dropped(loss, 0), out[1] = ms__dropped(out[1], 0);
    }
    return loss && out[1] ? ms__api_return_list(c, 2, (MsTensor *[]){loss, out[1]}) : ms_error()->code;
}

/* Rows [n, m] without the labels that repeat the one before; *len is the number that stays. */
static MsTensor *collapsed(MsTensor *rows, MsTensor **len)
{
    int64_t n = ms_tensor_shape(rows)[0], m = ms_tensor_shape(rows)[1];
    if (m == 0) return rows;
    MsTensor *first = ms_full_int(MS_INTS(n, 1), -1, MS_INT64), *head = ms__narrowed(rows, 1, 0, m - 1);
    MsTensor *before = first && head ? ms_concat(2, (MsTensor *[]){first, head}, 1) : NULL;
    MsTensor *in = ms_lt(ms_arange_int(0, 1, m, MS_INT64), ms_reshape(*len, MS_INTS(n, 1)));
    MsTensor *keep = ms_logical_and(in, ms_ne(rows, before));
    MsTensor *count = ms_cumsum(ms_cast(keep, MS_INT64), 1, false, false);
    MsTensor *to = ms_where(keep, ms_sub(count, whole(1)), whole(m));
    MsTensor *room = ms_full_int(MS_INTS(n, m + 1), 0, MS_INT64);
    *len = count ? ms__picked(count, 1, m - 1) : NULL;
    return ms__narrowed(ms_put_along(room, to, rows, 1, "set"), 1, 0, m);
}

/* logits [T, N, C] with the blank C - 1, labels as positions (example, place) and values -> loss and gradient. */
MS_API(p_ctc_loss, "_p.ctc_loss",
       "(x: Tensor, indices: Tensor, values: Tensor, lengths: Tensor, collapse: bool, merge: bool, ignore: "
       "bool) "
       "-> any")
{
    MsTensor *x = T(0), *at = ms_cast(T(1), MS_INT64), *values = ms_cast(T(2), MS_INT64);
    MsTensor *in_len = ms_cast(T(3), MS_INT64), *out[2];
    if (!at || !values || !in_len) return ms_error()->code;
    int64_t m = ms_tensor_numel(values);
    if (ms_tensor_ndim(x) != 3 || ms_tensor_ndim(at) != 2 || ms_tensor_shape(at)[0] != m ||
        ms_tensor_shape(at)[1] != 2)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'CTCLoss', 'x' must be (T, N, C), 'labels_indices' (M, 2) and 'labels_values' (M,), but "
            "got %s, %s and %s.",
            ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)),
            ms__shape_text(ms_tensor_ndim(at), ms_tensor_shape(at)),
            ms__shape_text(ms_tensor_ndim(values), ms_tensor_shape(values)));
    int64_t n = ms_tensor_shape(x)[1], blank = ms_tensor_shape(x)[2] - 1;
    MsTensor *rows = ms_scatter_nd(ms_full_int(MS_INTS(n, m), 0, MS_INT64), at, values, "set");
    MsTensor *ones = ms_full_int(MS_INTS(m), 1, MS_INT64);
    MsTensor *len = ms_scatter_add(ms_full_int(MS_INTS(n), 0, MS_INT64), ms__picked(at, 1, 0), ones, 0);
    if (rows && len && I(4)) rows = collapsed(rows, &len);
    if (!rows || !len) return ms_error()->code;
    MsTensor *lp = ms_log_softmax(x, 2);
    MS_TRY(ms_ctc_loss(lp, rows, in_len, len, blank, I(5), out));
    MsDtype dtype = ms_tensor_dtype(x);
    MsTensor *loss = out[0], *one = ms_full(MS_INTS(n), 1, dtype), *zero = ms_tensor_scalar(dtype, 0);
    MsTensor *left_out = I(6) ? ms_gt(len, in_len) : NULL;
    if (I(6)) loss = ms_where(left_out, zero, loss), one = ms_where(left_out, zero, one);
    MsTensor *fixed = ms_stop_gradient(lp);
    MsTensor *grad = ms_ctc_loss_grad(one, fixed, rows, in_len, len, blank, I(5));
    MsTensor *step = ms_arange_int(0, 1, ms_tensor_shape(x)[0], MS_INT64);
    step = step ? ms_reshape(step, MS_INTS(ms_tensor_numel(step), 1)) : NULL;
    MsTensor *used = ms_cast(ms_lt(step, in_len), dtype);
    used = used ? ms_mul(used, one) : NULL;
    used = used ? ms_reshape(used, MS_INTS(ms_tensor_shape(x)[0], n, 1)) : NULL;
    grad = ms_add(grad, ms_mul(ms_exp(fixed), used));
    return loss && grad ? ms__api_return_list(c, 2, (MsTensor *[]){loss, grad}) : ms_error()->code;
}

/* inputs [T, N, C], blank C - 1 -> positions (example, place) and values of the labels, their dense shape, and
 * minus the sum of the largest inputs of each example. */
MS_API(ctc_greedy_decoder, "ops.ctc_greedy_decoder",
       "(inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True) -> any")
{
    MsTensor *x = T(0), *len = ms_cast(T(1), MS_INT64);
    if (ms_tensor_ndim(x) != 3 || ms_tensor_numel(T(1)) != ms_tensor_shape(x)[1] || ms_tensor_numel(x) == 0)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'CTCGreedyDecoder', 'inputs' must be (T, N, C), not empty, with a length for each of the "
            "N, but got %s and %s.",
            ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)),
            ms__shape_text(ms_tensor_ndim(T(1)), ms_tensor_shape(T(1))));
    int64_t steps = ms_tensor_shape(x)[0], n = ms_tensor_shape(x)[1], blank = ms_tensor_shape(x)[2] - 1;
    len = ms_reshape(len, MS_INTS(n, 1));
    MsTensor *most = ms_reduce_max(len, MS_INTS_NONE, false);
    int64_t longest;
    MS_TRY(ms_tensor_item_int(most, &longest));
    if (longest > steps)
        return MS_FAIL(MS_ERROR_VALUE, "For 'CTCGreedyDecoder', the 'sequence_length' must be at most %lld.",
                       (long long)steps);
    MsTensor *used = ms_lt(ms_arange_int(0, 1, steps, MS_INT64), len);
    MsTensor *best = ms_transpose(ms_argmax(x, 2, false), MS_INTS(1, 0));
    MsTensor *top = ms_transpose(ms_reduce_max(x, MS_INTS(2), false), MS_INTS(1, 0));
    top = ms_where(used, top, ms_tensor_scalar(ms_tensor_dtype(x), 0));
    MsTensor *keep = ms_logical_and(used, ms_ne(best, whole(blank)));
    if (I(2)) {
        MsTensor *none = ms_full_int(MS_INTS(n, 1), -1, MS_INT64),
                 *head = ms__narrowed(best, 1, 0, steps - 1);
        MsTensor *before = none && head ? ms_concat(2, (MsTensor *[]){none, head}, 1) : NULL;
        keep = ms_logical_and(keep, ms_ne(best, before));
    }
    MsTensor *at = ms_nonzero(keep), *count = ms_cumsum(ms_cast(keep, MS_INT64), 1, false, false);
    MsTensor *place = ms_sub(ms_gather_nd(count, at), whole(1));
    MsTensor *pair[2] = {ms__picked(at, 1, 0), place};
    MsTensor *size[2] = {whole(n), ms_reduce_max(count, MS_INTS_NONE, false)};
    if (!pair[0] || !pair[1] || !size[1]) return ms_error()->code;
    MsTensor *out[4] = {ms__stacked(2, pair, 1), ms_gather_nd(best, at), ms__stacked(2, size, 0),
                        ms_neg(ms_sum(top, MS_INTS(1), true))};
    for (int k = 0; k < 4; k++)
        if (!out[k]) return ms_error()->code;
    return ms__api_return_list(c, 4, out);
}
