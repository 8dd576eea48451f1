/* export_lower.c - operators that a format lacks, said with others: pure compositions of public operators, applied while the graph
 * is staged again (export.c). Some are needed for a part of the cases only, which ms__ex_wants_lower tells. */
#include "format/export.h"
#include "mindspore_ops.h"

#include <math.h>
#include <string.h>

#define HALF_SQRT 0.70710678118654752440

static MsTensor *num(MsTensor *like, double v)
{
    return ms_tensor_scalar(ms_tensor_dtype(like), v);
}
static MsInts shape_of(const MsTensor *t)
{
    return (MsInts){ms_tensor_ndim(t), ms_tensor_shape(t)};
}
static MsStatus give(MsTensor **out, MsTensor *t)
{
    out[0] = t;
    return t ? MS_OK : ms_error()->code;
}
#define LOWER(name) static MsStatus lower_##name(const MsNode *n, MsTensor *const *in, MsTensor **out)
#define UNUSED (void)n, (void)in

LOWER(pass)
{
    UNUSED;
    return give(out, in[0]);
}
LOWER(square)
{
    UNUSED;
    return give(out, ms_mul(in[0], in[0]));
}
LOWER(rsqrt)
{
    UNUSED;
    return give(out, ms_reciprocal(ms_sqrt(in[0])));
}
LOWER(expm1)
{
    UNUSED;
    return give(out, ms_sub(ms_exp(in[0]), num(in[0], 1)));
}
LOWER(log1p)
{
    UNUSED;
    return give(out, ms_log(ms_add(in[0], num(in[0], 1))));
}
LOWER(erfc)
{
    UNUSED;
    return give(out, ms_sub(num(in[0], 1), ms_erf(in[0])));
}
LOWER(gelu)
{
    UNUSED;
    MsTensor *x = in[0];
    return give(out, ms_mul(ms_mul(x, num(x, 0.5)), ms_add(ms_erf(ms_mul(x, num(x, HALF_SQRT))), num(x, 1))));
}
LOWER(gelu_tanh)
{
    UNUSED;
    MsTensor *x = in[0], *cube = ms_mul(x, ms_mul(x, x));
    MsTensor *inner = ms_mul(ms_add(x, ms_mul(cube, num(x, 0.044715))), num(x, 0.79788456080286535588));
    return give(out, ms_mul(ms_mul(x, num(x, 0.5)), ms_add(ms_tanh(inner), num(x, 1))));
}
LOWER(silu)
{
    UNUSED;
    return give(out, ms_mul(in[0], ms_sigmoid(in[0])));
}
LOWER(mish)
{
    UNUSED;
    return give(out, ms_mul(in[0], ms_tanh(ms_softplus(in[0]))));
}
LOWER(log_sigmoid)
{
    UNUSED;
    return give(out, ms_neg(ms_softplus(ms_neg(in[0]))));
}
LOWER(elu)
{
    MsTensor *x = in[0], *low = ms_sub(ms_exp(ms_minimum(x, num(x, 0))), num(x, 1));
    return give(out, ms_where(ms_gt(x, num(x, 0)), x, ms_mul(low, num(x, n->attr[0].f))));
}
LOWER(leaky_relu)
{
    MsTensor *x = in[0];
    return give(out, ms_where(ms_gt(x, num(x, 0)), x, ms_mul(x, num(x, n->attr[0].f))));
}
LOWER(relu6)
{
    UNUSED;
    return give(out, ms_minimum(ms_relu(in[0]), num(in[0], 6)));
}
LOWER(trunc)
{
    UNUSED;
    return give(out, ms_mul(ms_sign(in[0]), ms_floor(ms_abs(in[0]))));
}
LOWER(is_finite)
{
    UNUSED;
    return give(out, ms_logical_not(ms_logical_or(ms_is_nan(in[0]), ms_is_inf(in[0]))));
}
LOWER(ne)
{
    UNUSED;
    return give(out, ms_logical_not(ms_eq(in[0], in[1])));
}
LOWER(floor_div)
{
    UNUSED;
    if (!ms_dtype_is_float(ms_tensor_dtype(in[0])))
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "For 'export', 'floor_div' of integers cannot be written to the format ONNX.");
    return give(out, ms_floor(ms_div(in[0], in[1])));
}
LOWER(mod)
{
    UNUSED;
    return give(out, ms_sub(in[0], ms_mul(ms_floor_div(in[0], in[1]), in[1])));
}
LOWER(fmod)
{
    UNUSED;
    return give(out, ms_sub(in[0], ms_mul(ms_trunc(ms_div(in[0], in[1])), in[1])));
}
LOWER(atan2)
{
    UNUSED;
    MsTensor *y = in[0], *x = in[1], *zero = num(x, 0), *pi = num(x, 3.14159265358979323846),
             *half = num(x, 1.57079632679489661923);
    MsTensor *base = ms_atan(ms_div(y, x)), *turn = ms_where(ms_lt(y, zero), ms_neg(pi), pi);
    MsTensor *axis = ms_where(ms_gt(y, zero), half, ms_where(ms_lt(y, zero), ms_neg(half), zero));
    return give(out, ms_where(ms_gt(x, zero), base, ms_where(ms_lt(x, zero), ms_add(base, turn), axis)));
}
LOWER(logsumexp)
{
    MsTensor *x = in[0];
    MsInts axis = n->attr[0].kind == MS_ATTR_INTS ? (MsInts){n->attr[0].n, n->attr[0].v} : MS_INTS_NONE;
    MsTensor *top = ms_reduce_max(x, axis, true), *sum = ms_sum(ms_exp(ms_sub(x, top)), axis, true);
    MsTensor *y = ms_add(ms_log(sum), top);
    if (!n->attr[1].i && y) y = ms_sum(y, axis, false); /* of one element: drops the axes */
    return give(out, y);
}
LOWER(var)
{
    MsTensor *x = in[0];
    MsInts axis = n->attr[0].kind == MS_ATTR_INTS ? (MsInts){n->attr[0].n, n->attr[0].v} : MS_INTS_NONE;
    MsTensor *d = ms_sub(x, ms_mean(x, axis, true)), *m = ms_mean(ms_mul(d, d), axis, n->attr[1].i);
    if (!m) return ms_error()->code;
    double count = (double)ms_tensor_numel(x) / (double)ms_tensor_numel(m);
    return give(out, n->attr[2].i ? ms_mul(m, num(x, count / (count - (double)n->attr[2].i))) : m);
}
/* [..., k] as [n, k] */
static MsTensor *rows_of(MsTensor *x)
{
    int nd = ms_tensor_ndim(x);
    int64_t k = ms_tensor_shape(x)[nd - 1], m = 1;
    for (int d = 0; d < nd - 1; d++) m *= ms_tensor_shape(x)[d];
    return nd == 2 ? x : ms_reshape(x, MS_INTS(m, k));
}
LOWER(linear)
{
    UNUSED;
    MsTensor *x = in[0], *y = ms_matmul(rows_of(x), in[1], false, true);
    if (in[2]) y = ms_add(y, in[2]);
    int64_t shape[MS_MAX_DIM];
    int nd = ms_tensor_ndim(x);
    for (int d = 0; d < nd - 1; d++) shape[d] = ms_tensor_shape(x)[d];
    shape[nd - 1] = ms_tensor_shape(in[1])[0];
    return give(out, nd == 2 ? y : ms_reshape(y, (MsInts){nd, shape}));
}
/* Products of any ranks as products of two matrices, or of batches of equal sizes. */
LOWER(matmul)
{
    MsTensor *a = in[0], *b = in[1];
    bool ta = n->attr[0].i, tb = n->attr[1].i;
    int na = ms_tensor_ndim(a), nb = ms_tensor_ndim(b), nd = na > nb ? na : nb;
    if (nb == 2 && na > 2 && !ta) {
        MsTensor *y = ms_matmul(rows_of(a), b, false, tb);
        int64_t shape[MS_MAX_DIM];
        for (int d = 0; d < na - 1; d++) shape[d] = ms_tensor_shape(a)[d];
        shape[na - 1] = y ? ms_tensor_shape(y)[1] : 0;
        return give(out, y ? ms_reshape(y, (MsInts){na, shape}) : NULL);
    }
    int64_t sa[MS_MAX_DIM], sb[MS_MAX_DIM];
    for (int d = 0; d < nd - 2; d++) {
        int64_t x = d - nd + na >= 0 ? ms_tensor_shape(a)[d - nd + na] : 1;
        int64_t y = d - nd + nb >= 0 ? ms_tensor_shape(b)[d - nd + nb] : 1;
        sa[d] = sb[d] = x == 1 ? y : x;
    }
    for (int d = 0; d < 2; d++) {
        sa[nd - 2 + d] = ms_tensor_shape(a)[na - 2 + d];
        sb[nd - 2 + d] = ms_tensor_shape(b)[nb - 2 + d];
    }
    return give(
        out, ms_matmul(ms_broadcast_to(a, (MsInts){nd, sa}), ms_broadcast_to(b, (MsInts){nd, sb}), ta, tb));
}
/* Channels on axis 1: [C] seen as [C, 1, ...]. */
static MsTensor *per_channel(MsTensor *v, MsTensor *x)
{
    int64_t shape[MS_MAX_DIM] = {ms_tensor_numel(v)};
    int nd = ms_tensor_ndim(x) - 1;
    for (int d = 1; d < nd; d++) shape[d] = 1;
    return nd <= 1 ? v : ms_reshape(v, (MsInts){nd, shape});
}
/* What surrounds the normalisation: a second summand, relu, an upper bound. */
LOWER(batch_norm_apply)
{
    double eps = n->attr[0].f, top = n->attr[2].f;
    MsTensor *x = in[0];
    bool plain = !in[5] && !n->attr[1].i;
    if (plain) {
        MsTensor *scale = ms_mul(in[1], ms_rsqrt(ms_add(in[4], num(in[4], eps))));
        MsTensor *y = ms_mul(ms_sub(x, per_channel(ms_cast(in[3], ms_tensor_dtype(x)), x)),
                             per_channel(ms_cast(scale, ms_tensor_dtype(x)), x));
        return give(out, ms_add(y, per_channel(ms_cast(in[2], ms_tensor_dtype(x)), x)));
    }
    MsTensor *y = ms_batch_norm_apply(x, in[1], in[2], in[3], in[4], NULL, eps, false, 0);
    if (in[5]) y = ms_add(y, in[5]);
    if (n->attr[1].i) y = ms_relu(y);
    if (n->attr[1].i && top > 0 && y) y = ms_minimum(y, num(y, top));
    return give(out, y);
}
LOWER(flip_one) /* a step of -1 on each axis */
{
    int64_t begin[MS_MAX_DIM], size[MS_MAX_DIM], step[MS_MAX_DIM];
    int nd = ms_tensor_ndim(in[0]);
    for (int d = 0; d < nd; d++) begin[d] = 0, size[d] = ms_tensor_shape(in[0])[d], step[d] = 1;
    for (int k = 0; k < n->attr[0].n; k++) {
        int d = (int)(n->attr[0].v[k] < 0 ? n->attr[0].v[k] + nd : n->attr[0].v[k]);
        begin[d] = size[d] - 1;
        step[d] = -1;
    }
    return give(out, ms_slice(in[0], (MsInts){nd, begin}, (MsInts){nd, size}, (MsInts){nd, step}));
}
LOWER(tri) /* a constant mask */
{
    MsTensor *x = in[0], *row, *col;
    int nd = ms_tensor_ndim(x);
    int64_t h = ms_tensor_shape(x)[nd - 2], w = ms_tensor_shape(x)[nd - 1];
    row = ms_reshape(ms_arange_int(n->attr[0].i, 1, h, MS_INT64), MS_INTS(h, 1));
    col = ms_arange_int(0, 1, w, MS_INT64);
    bool lower = strcmp(n->op->name, "tril") == 0;
    return give(out, ms_where(lower ? ms_le(col, row) : ms_ge(col, row), x, num(x, 0)));
}
static bool all_of(const MsAttr *a, int64_t v)
{
    for (int k = 0; k < a->n; k++)
        if (a->v[k] != v) return false;
    return true;
}
/* Windows over an axis of size 1 in front, for formats that have them over two axes only. */
static MsTensor *two_axes(MsTensor *x)
{
    const int64_t *s = ms_tensor_shape(x);
    return ms_reshape(x, MS_INTS(s[0], s[1], 1, s[2]));
}
static MsTensor *one_axis(MsTensor *y)
{
    return y ? ms_reshape(y, MS_INTS(ms_tensor_shape(y)[0], ms_tensor_shape(y)[1], ms_tensor_shape(y)[3]))
             : NULL;
}
#define TWO(k, first) MS_INTS(first, n->attr[k].v[0])
LOWER(conv_line)
{
    MsTensor *y = ms_conv(two_axes(in[0]), two_axes(in[1]), in[2], TWO(0, 1), TWO(1, 0), TWO(2, 0), TWO(3, 1),
                          n->attr[4].i);
    return give(out, one_axis(y));
}
LOWER(conv)
{
    if (ms_tensor_ndim(in[0]) == 3) return lower_conv_line(n, in, out);
    MsTensor *y = ms_conv(in[0], in[1], NULL, (MsInts){n->attr[0].n, n->attr[0].v},
                          (MsInts){n->attr[1].n, n->attr[1].v}, (MsInts){n->attr[2].n, n->attr[2].v},
                          (MsInts){n->attr[3].n, n->attr[3].v}, n->attr[4].i);
    return give(out, ms_add(y, per_channel(in[2], in[0])));
}
/* Padding before the window, where it is more than the format's windows have. */
static MsTensor *padded(const MsNode *n, MsTensor *x, double value)
{
    int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0};
    int nd = ms_tensor_ndim(x), skip = nd - n->attr[2].n;
    for (int d = skip; d < nd; d++) low[d] = n->attr[2].v[d - skip], high[d] = n->attr[3].v[d - skip];
    return ms_pad(x, (MsInts){nd, low}, (MsInts){nd, high}, value);
}
#define ATTR(k) ((MsInts){n->attr[k].n, n->attr[k].v})
static const int64_t zeros[MS_MAX_DIM];
LOWER(max_pool)
{
    if (ms_tensor_ndim(in[0]) == 3 && all_of(&n->attr[2], 0) && all_of(&n->attr[3], 0)) {
        MsTensor *two[2];
        MS_TRY(
            ms_max_pool(two_axes(in[0]), TWO(0, 1), TWO(1, 1), MS_INTS(0, 0), MS_INTS(0, 0), TWO(4, 1), two));
        out[1] = one_axis(two[1]);
        return give(out, one_axis(two[0]));
    }
    MsInts none = {n->attr[2].n, zeros};
    return ms_max_pool(padded(n, in[0], -INFINITY), ATTR(0), ATTR(1), none, none, ATTR(4), out);
}
static MsTensor *plain_avg(const MsNode *n, MsTensor *x)
{
    MsInts none = {n->attr[2].n, zeros};
    return ms_avg_pool(x, ATTR(0), ATTR(1), none, none, true, 0);
}
LOWER(avg_pool)
{
    MsTensor *x = in[0];
    double area = 1;
    for (int k = 0; k < n->attr[0].n; k++) area *= (double)n->attr[0].v[k];
    if (all_of(&n->attr[2], 0) && all_of(&n->attr[3], 0)) {
        if (ms_tensor_ndim(x) == 3 && n->attr[5].i == 0)
            return give(out, one_axis(ms_avg_pool(two_axes(x), TWO(0, 1), TWO(1, 1), MS_INTS(0, 0),
                                                  MS_INTS(0, 0), true, 0)));
        return give(out, ms_mul(plain_avg(n, x), num(x, area / (double)n->attr[5].i)));
    }
    MsTensor *y = plain_avg(n, padded(n, x, 0));
    if (n->attr[5].i) return give(out, ms_mul(y, num(x, area / (double)n->attr[5].i)));
    if (n->attr[4].i) return give(out, y);
    MsTensor *share = plain_avg(n, padded(n, ms_full(shape_of(x), 1, ms_tensor_dtype(x)), 0));
    return give(out, ms_div(y, share));
}
LOWER(adaptive_avg_pool)
{
    int64_t kernel[MS_MAX_DIM];
    int k = n->attr[0].n - 2;
    for (int d = 0; d < k; d++) {
        int64_t from = ms_tensor_shape(in[0])[2 + d], to = n->attr[0].v[2 + d];
        kernel[d] = to ? from / to : 0;
        if (kernel[d] * to != from || !from)
            return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                           "For 'export', an adaptive pool of sizes that do not divide cannot be written.");
    }
    MsInts window = {k, kernel}, none = {k, zeros};
    return give(out, ms_avg_pool(in[0], window, window, none, none, true, 0));
}
/* Index tensors on the first axes, side by side on a last axis. */
static MsTensor *coordinates(const MsNode *n, int k, MsTensor *const *idx)
{
    MsTensor *one[MS_MAX_DIM];
    for (int i = 0; i < k; i++) {
        if (n->attr[0].v[i] != i || k > MS_MAX_DIM)
            return MS_FAIL_NULL(
                MS_ERROR_NOT_IMPLEMENTED,
                "For 'export', indexing by tensors on other axes than the first ones cannot be written.");
        int64_t shape[MS_MAX_DIM] = {0};
        MsTensor *sum = ms_cast(idx[0], MS_INT64); /* of the common shape */
        for (int j = 1; j < k; j++) sum = ms_add(sum, ms_cast(idx[j], MS_INT64));
        if (!sum || ms_tensor_ndim(sum) == MS_MAX_DIM) return NULL;
        MsTensor *x = ms_broadcast_to(ms_cast(idx[i], MS_INT64), shape_of(sum));
        for (int d = 0; d < ms_tensor_ndim(sum); d++) shape[d] = ms_tensor_shape(sum)[d];
        shape[ms_tensor_ndim(sum)] = 1;
        one[i] = x ? ms_reshape(x, (MsInts){ms_tensor_ndim(sum) + 1, shape}) : NULL;
        if (!one[i]) return NULL;
    }
    return k == 1 ? one[0] : ms_concat(k, one, ms_tensor_ndim(one[0]) - 1);
}
LOWER(index)
{
    if (n->n_in == 2) return give(out, ms_gather(in[0], in[1], n->attr[0].v[0]));
    return give(out, ms_gather_nd(in[0], coordinates(n, n->n_in - 1, in + 1)));
}
LOWER(index_put)
{
    MsTensor *x = in[0], *at = coordinates(n, n->n_in - 2, in + 2);
    if (!at) return ms_error()->code;
    int64_t shape[MS_MAX_DIM];
    int nd = 0, k = n->n_in - 2;
    for (int d = 0; d < ms_tensor_ndim(at) - 1; d++) shape[nd++] = ms_tensor_shape(at)[d];
    for (int d = k; d < ms_tensor_ndim(x) && nd < MS_MAX_DIM; d++) shape[nd++] = ms_tensor_shape(x)[d];
    return give(
        out, ms_scatter_nd(x, at, ms_broadcast_to(in[1], (MsInts){nd, shape}), n->attr[1].i ? "add" : "set"));
}
LOWER(scatter_add)
{
    MsTensor *x = in[0];
    if (n->attr[0].i != 0)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "For 'export', slices added on another axis than the first cannot be written.");
    int64_t shape[MS_MAX_DIM];
    int nd = ms_tensor_ndim(in[1]);
    for (int d = 0; d < nd; d++) shape[d] = ms_tensor_shape(in[1])[d];
    if (nd == MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED, "For 'export', an index has too many dimensions.");
    shape[nd] = 1;
    return give(out, ms_scatter_nd(x, ms_reshape(in[1], (MsInts){nd + 1, shape}), in[2], "add"));
}
/* The slice, padded to the whole, where a padded mask says so. */
LOWER(slice_update)
{
    MsTensor *x = in[0], *v = in[1];
    int64_t low[MS_MAX_DIM], high[MS_MAX_DIM];
    int nd = ms_tensor_ndim(x);
    for (int d = 0; d < nd; d++) {
        if (n->attr[1].v[d] != 1 && ms_tensor_shape(v)[d] > 1)
            return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                           "For 'export', an assignment to a slice with steps cannot be written.");
        low[d] = n->attr[0].v[d];
        high[d] = ms_tensor_shape(x)[d] - low[d] - ms_tensor_shape(v)[d];
    }
    MsInts l = {nd, low}, h = {nd, high};
    MsTensor *mask = ms_pad(ms_full(shape_of(v), 1, MS_FLOAT32), l, h, 0);
    return give(out, mask ? ms_where(ms_gt(mask, num(mask, 0)), ms_pad(v, l, h, 0), x) : NULL);
}
LOWER(group_norm)
{
    MsTensor *x = in[0];
    int nd = ms_tensor_ndim(x);
    const int64_t *s = ms_tensor_shape(x);
    int64_t groups = n->attr[0].i, rest = s[1] / groups;
    for (int d = 2; d < nd; d++) rest *= s[d];
    MsTensor *y = ms_reshape(x, MS_INTS(s[0], groups, rest)), *m = ms_mean(y, MS_INTS(2), true);
    MsTensor *d = ms_sub(y, m), *v = ms_mean(ms_mul(d, d), MS_INTS(2), true);
    y = v ? ms_reshape(ms_mul(d, ms_rsqrt(ms_add(v, num(v, n->attr[1].f)))), shape_of(x)) : NULL;
    if (in[1]) y = ms_mul(y, per_channel(in[1], x));
    if (in[2]) y = ms_add(y, per_channel(in[2], x));
    return give(out, y);
}
/* The mean and the variance of each channel: [C]. */
static MsStatus channel_stats(MsTensor *x, MsTensor **mean, MsTensor **var)
{
    int64_t axes[MS_MAX_DIM];
    int k = 0, nd = ms_tensor_ndim(x);
    for (int d = 0; d < nd; d++)
        if (d != 1) axes[k++] = d;
    MsTensor *d = ms_sub(x, ms_mean(x, (MsInts){k, axes}, true));
    *mean = ms_mean(x, (MsInts){k, axes}, false);
    *var = ms_mean(ms_mul(d, d), (MsInts){k, axes}, false);
    return *mean && *var ? MS_OK : ms_error()->code;
}
LOWER(batch_norm)
{
    MS_TRY(channel_stats(in[0], &out[1], &out[2]));
    return give(out, ms_batch_norm_apply(in[0], in[1], in[2], out[1], out[2], NULL, n->attr[0].f, false, 0));
}
LOWER(batch_norm_stats)
{
    return channel_stats(ms_cast(in[0], (MsDtype)n->attr[0].i), &out[0], &out[1]);
}
LOWER(softmax_cross_entropy)
{
    MsTensor *x = in[0], *label = ms_cast(in[1], MS_INT64), *y;
    int nd = ms_tensor_ndim(x);
    int64_t shape[MS_MAX_DIM];
    MsTensor *ignore = ms_eq(label, ms_tensor_scalar_int(MS_INT64, n->attr[0].i));
    label = ms_where(ignore, ms_tensor_scalar_int(MS_INT64, 0), label);
    for (int d = 0; d < nd - 1; d++) shape[d] = ms_tensor_shape(x)[d];
    shape[nd - 1] = 1;
    y = ms_take_along(ms_log_softmax(x, -1), ms_reshape(label, (MsInts){nd, shape}), nd - 1);
    y = ms_neg(ms_reshape(y, (MsInts){nd - 1, shape}));
    return give(out, y ? ms_where(ignore, num(y, 0), y) : NULL);
}
#define MAX_STEPS 512
static MsStatus check_steps(int64_t steps)
{
    return steps <= MAX_STEPS
               ? MS_OK
               : MS_FAIL(MS_ERROR_NOT_IMPLEMENTED, "For 'export', a recurrence of %lld steps is too long.",
                         (long long)steps);
}
LOWER(lstm) /* step by step */
{
    UNUSED;
    MsTensor *h = in[1], *c = in[2], *w = in[3];
    int64_t steps = ms_tensor_shape(in[0])[0], batch = ms_tensor_shape(in[0])[1],
            width = ms_tensor_shape(in[0])[2], k = width / 4;
    MsTensor *ys[MAX_STEPS], *cs[MAX_STEPS];
    MS_TRY(check_steps(steps));
    for (int64_t t = 0; t < steps; t++) {
        MsTensor *a = ms_slice(in[0], MS_INTS(t, 0, 0), MS_INTS(1, batch, width), MS_INTS(1, 1, 1));
        a = ms_add(ms_reshape(a, MS_INTS(batch, width)), ms_matmul(h, w, false, true));
        MsTensor *gate[4];
        for (int g = 0; g < 4; g++) {
            gate[g] = ms_slice(a, MS_INTS(0, g * k), MS_INTS(batch, k), MS_INTS(1, 1));
            gate[g] = g == 2 ? ms_tanh(gate[g]) : ms_sigmoid(gate[g]);
        }
        c = ms_add(ms_mul(gate[1], c), ms_mul(gate[0], gate[2]));
        h = ms_mul(gate[3], ms_tanh(c));
        ys[t] = ms_reshape(h, MS_INTS(1, batch, k));
        cs[t] = ms_reshape(c, MS_INTS(1, batch, k));
        if (!cs[t]) return ms_error()->code;
    }
    out[0] = ms_concat((int)steps, ys, 0);
    out[1] = ms_concat((int)steps, cs, 0);
    out[2] = in[0]; /* for gradients, of which there are none here */
    return out[0] && out[1] ? MS_OK : ms_error()->code;
}

LOWER(gru)
{
    UNUSED;
    MsTensor *h = in[1], *w = in[2];
    int64_t steps = ms_tensor_shape(in[0])[0], batch = ms_tensor_shape(in[0])[1],
            width = ms_tensor_shape(in[0])[2], k = width / 3;
    MsTensor *ys[MAX_STEPS];
    MS_TRY(check_steps(steps));
    for (int64_t t = 0; t < steps; t++) {
        MsTensor *x =
            ms_reshape(ms_slice(in[0], MS_INTS(t, 0, 0), MS_INTS(1, batch, width), MS_INTS(1, 1, 1)),
                       MS_INTS(batch, width));
        MsTensor *g = ms_matmul(h, w, false, true), *a[3], *b[3];
        for (int j = 0; j < 3; j++) {
            a[j] = ms_slice(x, MS_INTS(0, j * k), MS_INTS(batch, k), MS_INTS(1, 1));
            b[j] = ms_slice(g, MS_INTS(0, j * k), MS_INTS(batch, k), MS_INTS(1, 1));
        }
        MsTensor *reset = ms_sigmoid(ms_add(a[0], b[0])), *update = ms_sigmoid(ms_add(a[1], b[1]));
        MsTensor *fresh = ms_tanh(ms_add(a[2], ms_mul(reset, in[3] ? ms_add(b[2], in[3]) : b[2])));
        h = ms_add(fresh, ms_mul(update, ms_sub(h, fresh)));
        ys[t] = ms_reshape(h, MS_INTS(1, batch, k));
        if (!ys[t]) return ms_error()->code;
    }
    out[1] = in[0];
    return give(out, ms_concat((int)steps, ys, 0));
}
LOWER(attention)
{
    MsTensor *q = in[0], *k = in[1], *x = ms_matmul(q, k, false, true);
    if (!x) return ms_error()->code;
    x = ms_mul(x, num(x, n->attr[0].f));
    if (in[3] && ms_tensor_dtype(in[3]) == MS_BOOL)
        x = ms_where(in[3], x, num(q, n->attr[2].f));
    else if (in[3])
        x = ms_add(x, ms_cast(in[3], ms_tensor_dtype(q)));
    if (n->attr[1].i) {
        int nd = ms_tensor_ndim(q);
        int64_t rows = ms_tensor_shape(q)[nd - 2], columns = ms_tensor_shape(k)[nd - 2];
        MsTensor *row = ms_reshape(ms_arange_int(0, 1, rows, MS_INT64), MS_INTS(rows, 1));
        x = ms_where(ms_ge(row, ms_arange_int(0, 1, columns, MS_INT64)), x, num(q, -INFINITY));
    }
    x = ms_softmax(x, -1);
    return give(out, ms_matmul(in[4] ? ms_mul(x, in[4]) : x, in[2], false, false));
}
LOWER(gather_nd) /* ONNX has int64 indices only */
{
    UNUSED;
    return give(out, ms_gather_nd(in[0], ms_cast(in[1], MS_INT64)));
}
LOWER(scatter_nd)
{
    return give(out, ms_scatter_nd(in[0], ms_cast(in[1], MS_INT64), in[2], n->attr[0].s));
}
LOWER(sort)
{
    int64_t size =
        ms_tensor_shape(in[0])[n->attr[0].i < 0 ? n->attr[0].i + ms_tensor_ndim(in[0]) : n->attr[0].i];
    return ms_topk(in[0], size, n->attr[0].i, n->attr[1].i, true, out);
}

LOWER(transposed_bias)
{
    MsTensor *y =
        ms_conv_input_grad(in[0], in[1], NULL, ATTR(0), ATTR(1), ATTR(2), ATTR(3), ATTR(4), n->attr[5].i);
    return give(out, ms_add(y, per_channel(in[2], y)));
}
LOWER(bool_reduction) /* all = min, any = max of bytes */
{
    bool all = strcmp(n->op->name, "reduce_all") == 0;
    MsInts axis = n->attr[0].kind == MS_ATTR_INTS ? ATTR(0) : MS_INTS_NONE;
    MsTensor *x = ms_cast(in[0], MS_INT32);
    return give(
        out,
        ms_cast(all ? ms_reduce_min(x, axis, n->attr[1].i) : ms_reduce_max(x, axis, n->attr[1].i), MS_BOOL));
}
LOWER(layer_norm) /* with weights, of one and zero where there are none */
{
    MsTensor *x = in[0];
    int64_t last[MS_MAX_DIM], nd = n->attr[0].i, skip = ms_tensor_ndim(x) - nd;
    for (int d = 0; d < nd; d++) last[d] = ms_tensor_shape(x)[skip + d];
    MsInts shape = {(int)nd, last};
    MsTensor *gamma = in[1] ? in[1] : ms_full(shape, 1, ms_tensor_dtype(x)),
             *beta = in[2] ? in[2] : ms_full(shape, 0, ms_tensor_dtype(x));
    return ms_layer_norm(x, gamma, beta, nd, n->attr[1].f, out);
}
static const struct {
    const char *op;
    MsExLower fn;
} lowers[] = {
    {"identity", lower_pass},
    {"stop_gradient", lower_pass},
    {"contiguous", lower_pass},
    {"copy", lower_pass},
    {"square", lower_square},
    {"rsqrt", lower_rsqrt},
    {"expm1", lower_expm1},
    {"log1p", lower_log1p},
    {"erfc", lower_erfc},
    {"log_sigmoid", lower_log_sigmoid},
    {"gelu", lower_gelu},
    {"gelu_tanh", lower_gelu_tanh},
    {"silu", lower_silu},
    {"mish", lower_mish},
    {"elu", lower_elu},
    {"leaky_relu", lower_leaky_relu},
    {"relu6", lower_relu6},
    {"trunc", lower_trunc},
    {"is_finite", lower_is_finite},
    {"floor_div", lower_floor_div},
    {"mod", lower_mod},
    {"fmod", lower_fmod},
    {"atan2", lower_atan2},
    {"ne", lower_ne},
    {"reduce_all", lower_bool_reduction},
    {"reduce_any", lower_bool_reduction},
    {"logsumexp", lower_logsumexp},
    {"var", lower_var},
    {"flip", lower_flip_one},
    {"tril", lower_tri},
    {"triu", lower_tri},
    {"gather_nd", lower_gather_nd},
    {"scatter_nd", lower_scatter_nd},
    {"index", lower_index},
    {"linear", lower_linear},
    {"matmul", lower_matmul},
    {"conv", lower_conv},
    {"conv_input_grad", lower_transposed_bias},
    {"max_pool", lower_max_pool},
    {"avg_pool", lower_avg_pool},
    {"batch_norm_apply", lower_batch_norm_apply},
    {"layer_norm", lower_layer_norm},
    {"index_put", lower_index_put},
    {"scatter_add", lower_scatter_add},
    {"slice_update", lower_slice_update},
    {"adaptive_avg_pool", lower_adaptive_avg_pool},
    {"group_norm", lower_group_norm},
    {"batch_norm", lower_batch_norm},
    {"batch_norm_stats", lower_batch_norm_stats},
    {"softmax_cross_entropy", lower_softmax_cross_entropy},
    {"lstm", lower_lstm},
    {"gru", lower_gru},
    {"attention", lower_attention},
    {"sort", lower_sort},
};

MsExLower ms__ex_lower(const MsOp *op)
{
    for (size_t k = 0; k < sizeof lowers / sizeof *lowers; k++)
        if (strcmp(lowers[k].op, op->name) == 0) return lowers[k].fn;
    return NULL;
}

/* Whether a node of an operator that could be written needs to be lowered all the same. */
bool ms__ex_wants_lower(const MsExporter *x, const MsNode *n, MsTensor *const *in)
{
    const char *op = n->op->name;
    bool mindir = x->format == MS_MODEL_MINDIR;
    if (strcmp(op, "matmul") == 0) {
        int na = ms_tensor_ndim(in[0]), nb = ms_tensor_ndim(in[1]);
        if (na != nb) return true;
        for (int d = 0; d < na - 2; d++)
            if (ms_tensor_shape(in[0])[d] != ms_tensor_shape(in[1])[d]) return true;
        return false;
    }
    if (strcmp(op, "conv") == 0) return mindir && (in[2] || ms_tensor_ndim(in[0]) == 3);
    if (strcmp(op, "conv_input_grad") == 0) return mindir && in[2];
    if (strcmp(op, "max_pool") == 0)
        return mindir && (!all_of(&n->attr[2], 0) || !all_of(&n->attr[3], 0) || ms_tensor_ndim(in[0]) == 3);
    if (strcmp(op, "avg_pool") == 0) {
        bool pad = !all_of(&n->attr[2], 0) || !all_of(&n->attr[3], 0);
        return n->attr[5].i != 0 || (mindir && (pad || ms_tensor_ndim(in[0]) == 3));
    }
    if (strcmp(op, "batch_norm_apply") == 0)
        return in[5] || n->attr[1].i || ms_tensor_ndim(in[0]) < 2 || (mindir && ms_tensor_ndim(in[0]) == 3) ||
               (mindir && ms_tensor_ndim(in[0]) > 4) || ms_tensor_dtype(in[0]) != ms_tensor_dtype(in[1]);
    if (strcmp(op, "adaptive_avg_pool") == 0) return n->attr[0].n != 4;
    if (strcmp(op, "gather_nd") == 0 || strcmp(op, "scatter_nd") == 0)
        return !mindir && ms_tensor_dtype(in[1]) != MS_INT64;
    return strcmp(op, "layer_norm") == 0 && (!in[1] || !in[2]);
}
