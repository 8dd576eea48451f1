/* export_rows.c - the operators of both formats: one row per operator of ours, {name, line for MINDIR, line for ONNX, ...}.
 *
 * A line names the node and its arguments: $k an input, $* all inputs as a list, a name an attribute of ours (in brackets: as a
 * list), #T #F #N #i3 #1.5 constants; with key= an attribute of the node, else an input. In MINDIR `Op*` takes everything as
 * inputs (a primitive function) and `Op/n` gives a tuple of n. Where a line is missing a function writes the node, or
 * `lower` says the operator with others. */
#include "format/export.h"
#include "mindspore_ops.h"

#include <math.h>
#include <string.h>

#define HALF_SQRT 0.70710678118654752440

/* ---- operators written with others ---- */

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
LOWER(index) /* one index tensor: whole slices */
{
    if (n->n_in != 2)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "For 'export', indexing by several tensors cannot be written.");
    return give(out, ms_gather(in[0], in[1], n->attr[0].v[0]));
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

/* ---- nodes that a line does not say ---- */

static MsExArg input(const MsExporter *x, const MsNode *n, int k)
{
    return n->in[k] < 0 ? EX_NONE : EX_VALUE(x->value[n->in[k]]);
}
static const MsAval *aval(const MsExporter *x, int32_t v)
{
    return &x->g->val[v];
}
static int32_t emit(MsExporter *x, const MsNode *n, const char *op, int n_arg, const MsExArg *arg)
{
    return ms__ex_emit(x, op, n_arg, arg, 1, aval(x, n->out));
}
/* INTS of attribute k behind `more` ones. */
static MsExArg window(const MsAttr *a, int more)
{
    int64_t v[MS_MAX_DIM];
    for (int k = 0; k < more; k++) v[k] = 1;
    for (int k = 0; k < a->n; k++) v[more + k] = a->v[k];
    return ms__ex_ints(more + a->n, v);
}
/* pads: pairs for each axis (MINDIR), or all begins and then all ends (ONNX). */
static MsExArg pads(const MsExporter *x, const MsAttr *low, const MsAttr *high)
{
    int64_t v[2 * MS_MAX_DIM];
    for (int k = 0; k < low->n; k++) {
        bool pairs = x->format == MS_MODEL_MINDIR;
        v[pairs ? 2 * k : k] = low->v[k];
        v[pairs ? 2 * k + 1 : low->n + k] = high->v[k];
    }
    return ms__ex_ints(2 * low->n, v);
}

static int32_t mindir_conv(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]);
    int nd = n->attr[0].n;
    MsExArg pad = pads(x, &n->attr[1], &n->attr[2]);
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     ms__ex_key("kernel_size", ms__ex_ints(nd, w->shape + 2)),
                     ms__ex_key("mode", EX_INT(1)),
                     ms__ex_key("out_channel", EX_INT(w->shape[0])),
                     ms__ex_key("pad", pad),
                     ms__ex_key("pad_mode", EX_TEXT("pad")),
                     ms__ex_key("format", EX_TEXT(nd == 2 ? "NCHW" : "NCDHW")),
                     ms__ex_key("pad_list", pad),
                     ms__ex_key("groups", EX_INT(n->attr[4].i)),
                     ms__ex_key("group", EX_INT(n->attr[4].i)),
                     ms__ex_key("stride", window(&n->attr[0], nd == 2 ? 2 : 0)),
                     ms__ex_key("dilation", window(&n->attr[3], nd == 2 ? 2 : 0)),
                     ms__ex_key("strides", window(&n->attr[0], 2)),
                     ms__ex_key("dilations", window(&n->attr[3], 2)),
                     ms__ex_key("offset_x", EX_INT(0))};
    return emit(x, n, nd == 2 ? "Conv2D" : "Conv3D", nd == 2 ? 13 : 16, arg);
}

static int32_t onnx_conv(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]);
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     input(x, n, 2),
                     ms__ex_key("kernel_shape", ms__ex_ints(n->attr[0].n, w->shape + 2)),
                     ms__ex_key("strides", window(&n->attr[0], 0)),
                     ms__ex_key("pads", pads(x, &n->attr[1], &n->attr[2])),
                     ms__ex_key("dilations", window(&n->attr[3], 0)),
                     ms__ex_key("group", EX_INT(n->attr[4].i))};
    return emit(x, n, "Conv", 8, arg);
}

/* dy of [.., shape[k], ..] -> the transposed convolution, whose output has the attribute's shape. */
static int32_t mindir_transposed(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]), *y = aval(x, n->out);
    MsExArg pad = pads(x, &n->attr[2], &n->attr[3]);
    if (n->attr[0].n != 4) return -1;
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     ms__ex_ints(4, y->shape),
                     ms__ex_key("kernel_size", ms__ex_ints(2, w->shape + 2)),
                     ms__ex_key("mode", EX_INT(1)),
                     ms__ex_key("out_channel", EX_INT(w->shape[0])),
                     ms__ex_key("pad", pad),
                     ms__ex_key("pad_mode", EX_TEXT("PAD")),
                     ms__ex_key("format", EX_TEXT("NCHW")),
                     ms__ex_key("pad_list", pad),
                     ms__ex_key("groups", EX_INT(n->attr[5].i)),
                     ms__ex_key("group", EX_INT(n->attr[5].i)),
                     ms__ex_key("stride", window(&n->attr[1], 2)),
                     ms__ex_key("dilation", window(&n->attr[4], 2))};
    return emit(x, n, "Conv2DTranspose", 14, arg);
}

static int32_t onnx_transposed(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]), *dy = aval(x, n->in[0]), *y = aval(x, n->out);
    int64_t more[MS_MAX_DIM], nd = n->attr[1].n;
    for (int k = 0; k < nd; k++)
        more[k] = y->shape[k + 2] -
                  ((dy->shape[k + 2] - 1) * n->attr[1].v[k] + (w->shape[k + 2] - 1) * n->attr[4].v[k] + 1 -
                   n->attr[2].v[k] - n->attr[3].v[k]);
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     input(x, n, 2),
                     ms__ex_key("kernel_shape", ms__ex_ints((int)nd, w->shape + 2)),
                     ms__ex_key("strides", window(&n->attr[1], 0)),
                     ms__ex_key("pads", pads(x, &n->attr[2], &n->attr[3])),
                     ms__ex_key("dilations", window(&n->attr[4], 0)),
                     ms__ex_key("output_padding", ms__ex_ints((int)nd, more)),
                     ms__ex_key("group", EX_INT(n->attr[5].i))};
    return emit(x, n, "ConvTranspose", 9, arg);
}
LOWER(transposed_bias)
{
    MsTensor *y =
        ms_conv_input_grad(in[0], in[1], NULL, ATTR(0), ATTR(1), ATTR(2), ATTR(3), ATTR(4), n->attr[5].i);
    return give(out, ms_add(y, per_channel(in[2], y)));
}

static int32_t mindir_pool(MsExporter *x, const MsNode *n)
{
    int nd = n->attr[0].n;
    bool max = strcmp(n->op->name, "max_pool") == 0;
    if (!max && nd == 2) {
        MsExArg arg[] = {input(x, n, 0), window(&n->attr[0], 0), window(&n->attr[1], 0), EX_INT(2),
                         EX_INT(0)};
        return emit(x, n, "AvgPool*", 5, arg);
    }
    int64_t none[2 * MS_MAX_DIM] = {0};
    MsExArg arg[] = {input(x, n, 0),
                     ms__ex_key("kernel_size", window(&n->attr[0], 2)),
                     ms__ex_key("strides", window(&n->attr[1], 2)),
                     ms__ex_key("pad_mode", EX_TEXT("VALID")),
                     ms__ex_key("format", EX_TEXT(nd == 2 ? "NCHW" : "NCDHW")),
                     ms__ex_key(max ? "pad_list" : "pad", ms__ex_ints(2 * nd, none)),
                     ms__ex_key("ceil_mode", EX_INT(0)),
                     ms__ex_key("pad_list", ms__ex_ints(2 * nd, none)),
                     ms__ex_key("count_include_pad", EX_BOOL(1)),
                     ms__ex_key("divisor_override", EX_INT(0))};
    return emit(x, n, nd == 2 ? "MaxPool" : max ? "MaxPool3D" : "AvgPool3D", nd == 2 ? 5 : max ? 7 : 10, arg);
}

static int32_t onnx_pool(MsExporter *x, const MsNode *n)
{
    bool max = strcmp(n->op->name, "max_pool") == 0;
    if (!max && n->attr[5].i) return -1;
    MsExArg arg[] = {input(x, n, 0), ms__ex_key("kernel_shape", window(&n->attr[0], 0)),
                     ms__ex_key("strides", window(&n->attr[1], 0)),
                     ms__ex_key("pads", pads(x, &n->attr[2], &n->attr[3])),
                     max ? ms__ex_key("dilations", window(&n->attr[4], 0))
                         : ms__ex_key("count_include_pad", EX_INT(n->attr[4].i))};
    return ms__ex_emit(x, max ? "MaxPool" : "AveragePool", 5, arg, 1, aval(x, n->out));
}

/* begin, end and step of each axis; a bit of *first or *last: from the start, to the end of the axis, whatever its size. */
static void bounds(const MsExporter *x, const MsNode *n, int64_t *end, int64_t *first, int64_t *last)
{
    const MsAval *from = aval(x, n->in[0]);
    *first = *last = 0;
    for (int d = 0; d < from->ndim; d++) {
        int64_t begin = n->attr[0].v[d], size = n->attr[1].v[d], step = n->attr[2].v[d];
        bool whole = begin == 0 && step == 1 && (size == from->shape[d] || size == -1);
        end[d] = whole ? from->shape[d] : begin + (size - 1) * step + (step > 0 ? 1 : -1);
        if (whole) *first |= INT64_C(1) << d;
        if (whole || end[d] < 0) *last |= INT64_C(1) << d;
    }
}

static int32_t mindir_slice(MsExporter *x, const MsNode *n)
{
    int64_t end[MS_MAX_DIM], first, last;
    bounds(x, n, end, &first, &last);
    int nd = n->attr[0].n;
    MsExArg arg[] = {input(x, n, 0),
                     window(&n->attr[0], 0),
                     ms__ex_ints(nd, end),
                     window(&n->attr[2], 0),
                     EX_INT(first),
                     EX_INT(last),
                     EX_INT(0),
                     EX_INT(0),
                     EX_INT(0)};
    return emit(x, n, "StridedSlice*", 9, arg);
}

static int32_t onnx_slice(MsExporter *x, const MsNode *n)
{
    int64_t end[MS_MAX_DIM], axis[MS_MAX_DIM], first, last;
    bounds(x, n, end, &first, &last);
    int nd = n->attr[0].n;
    for (int d = 0; d < nd; d++) {
        axis[d] = d;
        if (last >> d & 1) end[d] = n->attr[2].v[d] > 0 ? INT64_MAX : INT64_MIN + 1;
    }
    MsExArg arg[] = {input(x, n, 0), window(&n->attr[0], 0), ms__ex_ints(nd, end), ms__ex_ints(nd, axis),
                     window(&n->attr[2], 0)};
    return emit(x, n, "Slice", 5, arg);
}

static int32_t scalar(MsExporter *x, MsDtype dtype, double v)
{
    int mark = ms_scope_begin();
    MsTensor *t = ms_tensor_scalar(dtype, v);
    int32_t r = t ? ms__ex_constant(x, t) : -1;
    ms_scope_end(mark, NULL, 0);
    return r;
}

static int32_t mindir_pad(MsExporter *x, const MsNode *n)
{
    int nd = n->attr[0].n;
    int64_t v[2 * MS_MAX_DIM];
    for (int d = 0; d < nd; d++) v[2 * d] = n->attr[0].v[nd - 1 - d], v[2 * d + 1] = n->attr[1].v[nd - 1 - d];
    int32_t value = scalar(x, aval(x, n->in[0])->dtype, n->attr[2].f);
    MsExArg arg[] = {input(x, n, 0), ms__ex_ints(2 * nd, v), EX_VALUE(value),
                     ms__ex_key("mode", EX_TEXT("constant")), ms__ex_key("paddings_contiguous", EX_BOOL(1))};
    return value < 0 ? -1 : emit(x, n, "PadV3", 5, arg);
}

static int32_t onnx_pad(MsExporter *x, const MsNode *n)
{
    int32_t value = scalar(x, aval(x, n->in[0])->dtype, n->attr[2].f);
    MsExArg arg[] = {input(x, n, 0), pads(x, &n->attr[0], &n->attr[1]), EX_VALUE(value)};
    return value < 0 ? -1 : emit(x, n, "Pad", 3, arg);
}

static int32_t mindir_matmul(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), EX_BOOL(n->attr[0].i), EX_BOOL(n->attr[1].i)};
    return emit(x, n, aval(x, n->in[0])->ndim == 2 ? "MatMul*" : "BatchMatMul*", 4, arg);
}

static int32_t onnx_matmul(MsExporter *x, const MsNode *n)
{
    const MsAval *a = aval(x, n->in[0]);
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), ms__ex_key("transA", EX_INT(n->attr[0].i)),
                     ms__ex_key("transB", EX_INT(n->attr[1].i))};
    if (a->ndim == 2 && ms_dtype_is_float(a->dtype)) return emit(x, n, "Gemm", 4, arg);
    for (int k = 0; k < 2; k++) {
        if (!n->attr[k].i) continue;
        MsAval t = *aval(x, n->in[k]);
        int64_t perm[MS_MAX_DIM];
        for (int d = 0; d < t.ndim; d++) perm[d] = d < t.ndim - 2 ? d : 2 * t.ndim - 3 - d;
        int64_t last = t.shape[t.ndim - 1];
        t.shape[t.ndim - 1] = t.shape[t.ndim - 2];
        t.shape[t.ndim - 2] = last;
        MsExArg turn[] = {arg[k], ms__ex_key("perm", ms__ex_ints(t.ndim, perm))};
        arg[k].i = ms__ex_emit(x, "Transpose", 2, turn, 1, &t);
        if (arg[k].i < 0) return -1;
    }
    return emit(x, n, "MatMul", 2, arg);
}

/* A reduction; no axes: all of them. */
static MsExArg axes(const MsExporter *x, const MsNode *n)
{
    int64_t all[MS_MAX_DIM];
    if (n->attr[0].kind == MS_ATTR_INTS && n->attr[0].n) return window(&n->attr[0], 0);
    for (int d = 0; d < MS_MAX_DIM; d++) all[d] = d;
    return ms__ex_ints(aval(x, n->in[0])->ndim, all);
}
static int32_t reduction(MsExporter *x, const MsNode *n)
{
    static const char *const name[][3] = {
        {"sum", "ReduceSum*", "ReduceSum"},        {"mean", "ReduceMean*", "ReduceMean"},
        {"prod", "ReduceProd*", "ReduceProd"},     {"reduce_max", "ReduceMax*", "ReduceMax"},
        {"reduce_min", "ReduceMin*", "ReduceMin"}, {"reduce_all", "ReduceAll*", NULL},
        {"reduce_any", "ReduceAny*", NULL}};
    int k = 0;
    while (strcmp(name[k][0], n->op->name) != 0) k++;
    bool mindir = x->format == MS_MODEL_MINDIR;
    MsExArg arg[] = {input(x, n, 0), axes(x, n), EX_BOOL(n->attr[1].i), EX_BOOL(0)};
    if (!mindir) arg[2] = ms__ex_key("keepdims", EX_INT(n->attr[1].i));
    if (!name[k][mindir ? 1 : 2]) return -1;
    return emit(x, n, name[k][mindir ? 1 : 2], mindir && k == 0 ? 4 : 3, arg);
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

/* The index of an extremum, then an axis of size 1 in its place when dimensions are kept. */
static int32_t mindir_arg(MsExporter *x, const MsNode *n)
{
    MsAval y = *aval(x, n->out);
    int64_t axis = n->attr[0].i < 0 ? n->attr[0].i + aval(x, n->in[0])->ndim : n->attr[0].i;
    if (n->attr[1].i) {
        for (int d = (int)axis; d + 1 < y.ndim; d++) y.shape[d] = y.shape[d + 1];
        y.ndim--;
    }
    MsExArg arg[] = {input(x, n, 0), EX_INT(axis), (MsExArg){.kind = MS_EX_DTYPE, .i = MS_INT64}};
    int32_t r = ms__ex_emit(x, strcmp(n->op->name, "argmax") == 0 ? "Argmax*" : "Argmin*", 3, arg, 1, &y);
    MsExArg expand[] = {EX_VALUE(r), EX_INT(axis)};
    return r < 0 || !n->attr[1].i ? r : emit(x, n, "ExpandDims*", 2, expand);
}

/* The norm over the last axes: y of three results. */
static int32_t mindir_layer_norm(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0),        input(x, n, 1),        input(x, n, 2),
                     EX_INT(-n->attr[0].i), EX_INT(-n->attr[0].i), EX_FLOAT(n->attr[1].f)};
    return emit(x, n, "LayerNorm*/3", 6, arg);
}
static int32_t onnx_layer_norm(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2),
                     ms__ex_key("axis", EX_INT(-n->attr[0].i)),
                     ms__ex_key("epsilon", EX_FLOAT(n->attr[1].f))};
    return emit(x, n, "LayerNormalization", 5, arg);
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

static int32_t topk(MsExporter *x, const MsNode *n)
{
    const MsAval *from = aval(x, n->in[0]);
    int64_t axis = n->attr[1].i < 0 ? n->attr[1].i + from->ndim : n->attr[1].i;
    if (x->format == MS_MODEL_ONNX) {
        MsExArg arg[] = {input(x, n, 0), ms__ex_ints(1, &n->attr[0].i), ms__ex_key("axis", EX_INT(axis)),
                         ms__ex_key("largest", EX_INT(n->attr[2].i)),
                         ms__ex_key("sorted", EX_INT(n->attr[3].i))};
        return ms__ex_emit(x, "TopK", 5, arg, 2, aval(x, n->out));
    }
    if (axis != from->ndim - 1 || !n->attr[2].i) return -1;
    MsAval out[2] = {*aval(x, n->out), *aval(x, n->out + 1)};
    out[1].dtype = MS_INT32;
    MsExArg arg[] = {input(x, n, 0), EX_INT(n->attr[0].i), ms__ex_key("sorted", EX_BOOL(n->attr[3].i))};
    int32_t r = ms__ex_emit(x, "TopK/2", 3, arg, 2, out);
    if (r < 0) return -1;
    MsExArg wide[] = {EX_VALUE(r + 1), (MsExArg){.kind = MS_EX_DTYPE, .i = MS_INT64}};
    x->value[n->out + 1] = ms__ex_emit(x, "Cast*", 2, wide, 1, aval(x, n->out + 1));
    return x->value[n->out + 1] < 0 ? -1 : r;
}

static int32_t mindir_sort(MsExporter *x, const MsNode *n)
{
    MsAval out[2] = {*aval(x, n->out), *aval(x, n->out + 1)};
    out[1].dtype = MS_INT32;
    MsExArg arg[] = {input(x, n, 0), ms__ex_key("descending", EX_BOOL(n->attr[1].i)),
                     ms__ex_key("axis", EX_INT(n->attr[0].i))};
    int32_t r = ms__ex_emit(x, "Sort/2", 3, arg, 2, out);
    MsExArg wide[] = {EX_VALUE(r + 1), (MsExArg){.kind = MS_EX_DTYPE, .i = MS_INT64}};
    if (r < 0) return -1;
    x->value[n->out + 1] = ms__ex_emit(x, "Cast*", 2, wide, 1, aval(x, n->out + 1));
    return x->value[n->out + 1] < 0 ? -1 : r;
}

/* Elements put at an index on one axis. */
static int32_t put_along(MsExporter *x, const MsNode *n)
{
    bool add = strcmp(n->attr[1].s, "add") == 0;
    if (!add && strcmp(n->attr[1].s, "set") != 0) return -1;
    MsExArg mindir[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2), EX_INT(n->attr[0].i), EX_INT(add)};
    MsExArg onnx[] = {mindir[0], mindir[1], mindir[2], ms__ex_key("axis", mindir[3]),
                      ms__ex_key("reduction", EX_TEXT(add ? "add" : "none"))};
    return x->format == MS_MODEL_MINDIR ? emit(x, n, "TensorScatterElements*", 5, mindir)
                                        : emit(x, n, "ScatterElements", 5, onnx);
}

static int32_t onnx_scatter(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2),
                     ms__ex_key("reduction", EX_TEXT(strcmp(n->attr[0].s, "add") == 0 ? "add" : "none"))};
    return emit(x, n, "ScatterND", 4, arg);
}
static int32_t mindir_scatter(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2)};
    return emit(x, n, strcmp(n->attr[0].s, "add") == 0 ? "TensorScatterAdd" : "TensorScatterUpdate", 3, arg);
}

#define BOTH(f) .emit = {f, f}
static const MsExRow rows[] = {
    {.op = "identity", .line = {NULL}, .lower = lower_pass},
    {.op = "stop_gradient", .line = {NULL}, .lower = lower_pass},
    {.op = "contiguous", .line = {NULL}, .lower = lower_pass},
    {.op = "copy", .line = {NULL}, .lower = lower_pass},
    {.op = "neg", .line = {"Neg* $0", "Neg $0"}},
    {.op = "square", .line = {"Square* $0", NULL}, .lower = lower_square},
    {.op = "sign", .line = {"Sign* $0", "Sign $0"}},
    {.op = "abs", .line = {"Abs* $0", "Abs $0"}},
    {.op = "sqrt", .line = {"Sqrt* $0", "Sqrt $0"}},
    {.op = "rsqrt", .line = {"Rsqrt* $0", NULL}, .lower = lower_rsqrt},
    {.op = "reciprocal", .line = {"Reciprocal* $0", "Reciprocal $0"}},
    {.op = "exp", .line = {"Exp* $0", "Exp $0"}},
    {.op = "expm1", .line = {"Expm1* $0", NULL}, .lower = lower_expm1},
    {.op = "log", .line = {"Log* $0", "Log $0"}},
    {.op = "log1p", .line = {"Log1p* $0", NULL}, .lower = lower_log1p},
    {.op = "sin", .line = {"Sin* $0", "Sin $0"}},
    {.op = "cos", .line = {"Cos* $0", "Cos $0"}},
    {.op = "tan", .line = {"Tan* $0", "Tan $0"}},
    {.op = "asin", .line = {"Asin* $0", "Asin $0"}},
    {.op = "acos", .line = {"ACos* $0", "Acos $0"}},
    {.op = "atan", .line = {"Atan* $0", "Atan $0"}},
    {.op = "sinh", .line = {"Sinh* $0", "Sinh $0"}},
    {.op = "cosh", .line = {"Cosh* $0", "Cosh $0"}},
    {.op = "tanh", .line = {"Tanh* $0", "Tanh $0"}},
    {.op = "asinh", .line = {"Asinh* $0", "Asinh $0"}},
    {.op = "acosh", .line = {"Acosh* $0", "Acosh $0"}},
    {.op = "atanh", .line = {"Atanh* $0", "Atanh $0"}},
    {.op = "sigmoid", .line = {"Sigmoid* $0", "Sigmoid $0"}},
    {.op = "erf", .line = {"Erf* $0", "Erf $0"}},
    {.op = "erfc", .line = {"Erfc* $0", NULL}, .lower = lower_erfc},
    {.op = "erfinv", .line = {"Erfinv* $0", NULL}},
    {.op = "log_sigmoid", .line = {NULL, NULL}, .lower = lower_log_sigmoid},
    {.op = "relu", .line = {"ReLU* $0", "Relu $0"}},
    {.op = "softplus", .line = {"Softplus $0", "Softplus $0"}},
    {.op = "gelu", .line = {NULL, NULL}, .lower = lower_gelu},
    {.op = "gelu_tanh", .line = {"GeLU* $0", NULL}, .lower = lower_gelu_tanh},
    {.op = "silu", .line = {"SiLU* $0", NULL}, .lower = lower_silu},
    {.op = "mish", .line = {"Mish $0", NULL}, .lower = lower_mish},
    {.op = "hswish", .line = {"HSwish* $0", "HardSwish $0"}},
    {.op = "hsigmoid", .line = {"HSigmoid* $0", "HardSigmoid $0 alpha=#0.16666666666666666 beta=#0.5"}},
    {.op = "elu", .line = {NULL, "Elu $0 alpha=alpha"}, .lower = lower_elu},
    {.op = "leaky_relu", .line = {NULL, "LeakyRelu $0 alpha=slope"}, .lower = lower_leaky_relu},
    {.op = "floor", .line = {"Floor* $0", "Floor $0"}},
    {.op = "ceil", .line = {"Ceil* $0", "Ceil $0"}},
    {.op = "round", .line = {"Round* $0 #i0", "Round $0"}},
    {.op = "trunc", .line = {"Trunc* $0", NULL}, .lower = lower_trunc},
    {.op = "is_nan", .line = {"IsNan $0", "IsNaN $0"}},
    {.op = "is_inf", .line = {"IsInf $0", "IsInf $0"}},
    {.op = "is_finite", .line = {"IsFinite* $0", NULL}, .lower = lower_is_finite},
    {.op = "logical_not", .line = {"LogicalNot* $0", "Not $0"}},
    {.op = "bitwise_not", .line = {"Invert $0", "BitwiseNot $0"}},
    {.op = "add", .line = {"Add* $0 $1", "Add $0 $1"}},
    {.op = "sub", .line = {"Sub* $0 $1", "Sub $0 $1"}},
    {.op = "mul", .line = {"Mul* $0 $1", "Mul $0 $1"}},
    {.op = "div", .line = {"Div* $0 $1", "Div $0 $1"}},
    {.op = "floor_div", .line = {"FloorDiv* $0 $1", NULL}, .lower = lower_floor_div},
    {.op = "mod", .line = {"FloorMod* $0 $1", NULL}, .lower = lower_mod},
    {.op = "fmod", .line = {"TruncateMod $0 $1", "Mod $0 $1 fmod=#i1"}, .lower = lower_fmod},
    {.op = "pow", .line = {"Pow* $0 $1", "Pow $0 $1"}},
    {.op = "maximum", .line = {"Maximum* $0 $1", "Max $0 $1"}},
    {.op = "minimum", .line = {"Minimum* $0 $1", "Min $0 $1"}},
    {.op = "atan2", .line = {"Atan2* $0 $1", NULL}, .lower = lower_atan2},
    {.op = "eq", .line = {"Equal* $0 $1", "Equal $0 $1"}},
    {.op = "ne", .line = {"NotEqual* $0 $1", NULL}, .lower = lower_ne},
    {.op = "lt", .line = {"Less* $0 $1", "Less $0 $1"}},
    {.op = "le", .line = {"LessEqual* $0 $1", "LessOrEqual $0 $1"}},
    {.op = "gt", .line = {"Greater* $0 $1", "Greater $0 $1"}},
    {.op = "ge", .line = {"GreaterEqual* $0 $1", "GreaterOrEqual $0 $1"}},
    {.op = "logical_and", .line = {"LogicalAnd* $0 $1", "And $0 $1"}},
    {.op = "logical_or", .line = {"LogicalOr* $0 $1", "Or $0 $1"}},
    {.op = "logical_xor", .line = {"LogicalXor* $0 $1", "Xor $0 $1"}},
    {.op = "bitwise_and", .line = {"BitwiseAnd $0 $1", "BitwiseAnd $0 $1"}},
    {.op = "bitwise_or", .line = {"BitwiseOr $0 $1", "BitwiseOr $0 $1"}},
    {.op = "bitwise_xor", .line = {"BitwiseXor $0 $1", "BitwiseXor $0 $1"}},
    {.op = "cast", .line = {"Cast* $0 dtype", "Cast $0 to=dtype"}},
    {.op = "where", .line = {"Select* $0 $1 $2", "Where $0 $1 $2"}},
    {.op = "sum", .line = {NULL}, BOTH(reduction)},
    {.op = "mean", .line = {NULL}, BOTH(reduction)},
    {.op = "prod", .line = {NULL}, BOTH(reduction)},
    {.op = "reduce_max", .line = {NULL}, BOTH(reduction)},
    {.op = "reduce_min", .line = {NULL}, BOTH(reduction)},
    {.op = "reduce_all", .line = {NULL}, .emit = {reduction, NULL}, .lower = lower_bool_reduction},
    {.op = "reduce_any", .line = {NULL}, .emit = {reduction, NULL}, .lower = lower_bool_reduction},
    {.op = "logsumexp", .line = {NULL}, .lower = lower_logsumexp},
    {.op = "var", .line = {NULL}, .lower = lower_var},
    {.op = "argmax", .line = {NULL, "ArgMax $0 axis=axis keepdims=keepdims"}, .emit = {mindir_arg, NULL}},
    {.op = "argmin", .line = {NULL, "ArgMin $0 axis=axis keepdims=keepdims"}, .emit = {mindir_arg, NULL}},
    {.op = "softmax", .line = {"Softmax* $0 (axis)", "Softmax $0 axis=axis"}},
    {.op = "log_softmax", .line = {"LogSoftmax* $0 axis", "LogSoftmax $0 axis=axis"}},
    {.op = "reshape", .line = {"Reshape* $0 shape", "Reshape $0 shape"}},
    {.op = "transpose", .line = {"Transpose* $0 perm", "Transpose $0 perm=perm"}},
    {.op = "broadcast_to", .line = {"BroadcastTo* $0 shape", "Expand $0 shape"}},
    {.op = "slice", .line = {NULL}, .emit = {mindir_slice, onnx_slice}},
    {.op = "flip", .line = {"ReverseV2* $0 axis", NULL}, .lower = lower_flip_one},
    {.op = "pad", .line = {NULL}, .emit = {mindir_pad, onnx_pad}},
    {.op = "concat", .line = {"Concat* $* axis", "Concat $* axis=axis"}},
    {.op = "tril", .line = {NULL}, .lower = lower_tri},
    {.op = "triu", .line = {NULL}, .lower = lower_tri},
    {.op = "gather", .line = {"Gather* $0 $1 axis #i0", "Gather $0 $1 axis=axis"}},
    {.op = "take_along", .line = {"GatherD* $0 axis $1", "GatherElements $0 $1 axis=axis"}},
    {.op = "gather_nd", .line = {"GatherNd* $0 $1", "GatherND $0 $1"}, .lower = lower_gather_nd},
    {.op = "scatter_nd", .line = {NULL}, .emit = {mindir_scatter, onnx_scatter}, .lower = lower_scatter_nd},
    {.op = "index", .line = {NULL}, .lower = lower_index},
    {.op = "cumsum",
     .line = {"CumSum* $0 axis exclusive reverse", "CumSum $0 axis exclusive=exclusive reverse=reverse"}},
    {.op = "topk", .line = {NULL}, BOTH(topk)},
    {.op = "linear", .line = {NULL}, .lower = lower_linear},
    {.op = "matmul", .line = {NULL}, .emit = {mindir_matmul, onnx_matmul}, .lower = lower_matmul},
    {.op = "conv", .line = {NULL}, .emit = {mindir_conv, onnx_conv}, .lower = lower_conv},
    {.op = "conv_input_grad",
     .line = {NULL},
     .emit = {mindir_transposed, onnx_transposed},
     .lower = lower_transposed_bias},
    {.op = "max_pool", .line = {NULL}, .emit = {mindir_pool, onnx_pool}, .lower = lower_max_pool},
    {.op = "avg_pool", .line = {NULL}, .emit = {mindir_pool, onnx_pool}, .lower = lower_avg_pool},
    {.op = "batch_norm_apply",
     .line = {"BatchNorm*/5 $0 $1 $2 $3 $4 #F eps #0.1 #i0", "BatchNormalization $0 $1 $2 $3 $4 epsilon=eps"},
     .lower = lower_batch_norm_apply},
    {.op = "layer_norm",
     .line = {NULL},
     .emit = {mindir_layer_norm, onnx_layer_norm},
     .lower = lower_layer_norm},
    {.op = "cond", .line = {NULL}, .emit = {ms__mindir_cond, NULL}},
    {.op = "while", .line = {NULL}, .emit = {ms__mindir_while, NULL}},
    {.op = "lstm", .line = {NULL}, .lower = lower_lstm},
    {.op = "gru", .line = {NULL}, .lower = lower_gru},
    {.op = "attention", .line = {NULL}, .lower = lower_attention},
    {.op = "sort", .line = {NULL}, .emit = {mindir_sort, NULL}, .lower = lower_sort},
    {.op = "put_along", .line = {NULL}, BOTH(put_along)},
};

const MsExRow *ms__ex_row(const MsOp *op)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].op, op->name) == 0) return &rows[k];
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
    if (strcmp(op, "gather_nd") == 0 || strcmp(op, "scatter_nd") == 0)
        return !mindir && ms_tensor_dtype(in[1]) != MS_INT64;
    return strcmp(op, "layer_norm") == 0 && (!in[1] || !in[2]);
}
