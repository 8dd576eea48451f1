/* norm.c - batch and layer normalisation. Each gives the statistics beside the result, which its gradient
 * operator takes as inputs of their own; the gradients of those are compositions of elementwise operators
 * and sums, so that any order can be differentiated. The gradient of group normalisation is that of layer
 * normalisation of a reshaped tensor; inference with running statistics is an affine map (see
 * src/api/nn_ops.c). */
#include "mindspore_ops.h"
#include "op/batch.h"
#include "op/view.h"

#include <string.h>

static MsStatus vector_of(const MsInfer *c, int i, const char *name, int64_t n)
{
    const MsAval *v = &c->in[i];
    if (v->dtype == MS_DTYPE_NONE || (v->ndim == 1 && v->shape[0] == n)) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' must have shape (%lld,), but got %s.", c->op->name, name,
                   (long long)n, ms__shape_text(v->ndim, v->shape));
}

static MsStatus same_shape(const MsInfer *c, int a, const char *an, int b, const char *bn)
{
    const MsAval *x = &c->in[a], *y = &c->in[b];
    if (x->ndim == y->ndim && memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape) == 0)
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' and '%s' must have the same shape, but got %s and %s.",
                   c->op->name, an, bn, ms__shape_text(x->ndim, x->shape), ms__shape_text(y->ndim, y->shape));
}

static void set(MsAval *out, int ndim, const int64_t *shape)
{
    out->ndim = ndim;
    memcpy(out->shape, shape, (size_t)ndim * sizeof *shape);
}

static MsTensor *plus(MsTensor *a, MsTensor *b)
{
    return a && b ? ms_add(a, b) : a ? a : b;
}

/* ---- batch normalisation ---- */

static MsStatus infer_batch_norm(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    if (x->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'x' must have at least 2 dimensions, but got shape %s.",
                       c->op->name, ms__shape_text(x->ndim, x->shape));
    MS_TRY(vector_of(c, 1, "gamma", x->shape[1]));
    MS_TRY(vector_of(c, 2, "beta", x->shape[1]));
    set(&c->out[0], x->ndim, x->shape);
    set(&c->out[1], 1, &x->shape[1]);
    set(&c->out[2], 1, &x->shape[1]);
    return MS_OK;
}

static MsStatus infer_batch_norm_grad(MsInfer *c)
{
    const MsAval *x = &c->in[1];
    MS_TRY(same_shape(c, 0, "dy", 1, "x"));
    if (x->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'x' must have at least 2 dimensions, but got shape %s.",
                       c->op->name, ms__shape_text(x->ndim, x->shape));
    static const char *const names[] = {"gamma", "mean", "var"};
    for (int k = 0; k < 3; k++) MS_TRY(vector_of(c, 2 + k, names[k], x->shape[1]));
    set(&c->out[0], x->ndim, x->shape);
    set(&c->out[1], 1, &x->shape[1]);
    set(&c->out[2], 1, &x->shape[1]);
    return MS_OK;
}

/* What a rule about x [N, C, ...] needs: broadcasting of channel vectors and sums over everything else. */
typedef struct Channels {
    int64_t column[MS_MAX_DIM], axes[MS_MAX_DIM];
    int ndim;
    double count;
    MsDtype dtype; /* that is computed in: the vectors' */
} Channels;

static Channels channels_of(const MsTensor *x, const MsTensor *gamma)
{
    Channels k = {.ndim = ms_tensor_ndim(x), .count = 1, .dtype = ms_tensor_dtype(gamma)};
    const int64_t *s = ms_tensor_shape(x);
    for (int d = 0, n = 0; d < k.ndim; d++) {
        k.column[d] = d == 1 ? s[d] : 1;
        if (d == 1) continue;
        k.axes[n++] = d;
        k.count *= (double)s[d];
    }
    return k;
}

static MsTensor *wide(const Channels *k, MsTensor *v)
{
    return ms_reshape(v, (MsInts){k->ndim, k->column});
}
static MsTensor *total(const Channels *k, MsTensor *x)
{
    return ms_sum(x, (MsInts){k->ndim - 1, k->axes}, false);
}
static MsTensor *in_dtype(MsTensor *x, MsDtype dtype)
{
    return x && ms_tensor_dtype(x) != dtype ? ms_cast(x, dtype) : x;
}

static MsTensor *scaled(MsTensor *x, double by)
{
    return x ? ms_mul(x, ms_full((MsInts){0, NULL}, by, ms_tensor_dtype(x))) : NULL;
}

static MsTensor *root(MsTensor *var, double eps)
{
    return var ? ms_rsqrt(ms_add(var, ms_full((MsInts){0, NULL}, eps, ms_tensor_dtype(var)))) : NULL;
}

static MsStatus vjp_batch_norm(MsVjp *c)
{
    MsTensor *x = c->in[0], *gamma = c->in[1], *mean = c->out[1], *var = c->out[2], *dx = NULL;
    if (c->ct[0]) {
        MsTensor *g[3];
        MS_TRY(ms_batch_norm_grad(c->ct[0], x, gamma, mean, var, c->attr[0].f, g));
        dx = g[0];
        c->grad[1] = g[1];
        c->grad[2] = g[2];
    }
    if (c->want[0] && (c->ct[1] || c->ct[2])) {
        Channels k = channels_of(x, gamma);
        if (c->ct[1]) dx = plus(in_dtype(dx, k.dtype), wide(&k, scaled(c->ct[1], 1 / k.count)));
        if (c->ct[2]) {
            MsTensor *centred = ms_sub(in_dtype(x, k.dtype), wide(&k, mean));
            dx = plus(in_dtype(dx, k.dtype), ms_mul(centred, wide(&k, scaled(c->ct[2], 2 / k.count))));
        }
    }
    c->grad[0] = dx;
    return MS_OK;
}

/* With h = (x - mean) r, r = 1 / sqrt(var + eps), k = gamma r, s = sum over all but channels, M elements each:
 *   dx = k (dy - s(dy) / M - h s(dy h) / M),  dgamma = s(dy h),  dbeta = s(dy)
 * and cotangents u, v, w of the three; a = k u. q is the cotangent of h, kbar that of k. */
static MsStatus vjp_batch_norm_grad(MsVjp *c)
{
    Channels k = channels_of(c->in[1], c->in[2]);
    MsTensor *dy = in_dtype(c->in[0], k.dtype), *x = in_dtype(c->in[1], k.dtype), *gamma = c->in[2];
    MsTensor *u = in_dtype(c->ct[0], k.dtype), *v = c->ct[1], *w = c->ct[2];
    MsTensor *r = root(c->in[4], c->attr[0].f), *centred = ms_sub(x, wide(&k, c->in[3]));
    MsTensor *h = ms_mul(centred, wide(&k, r)), *gdy = NULL, *q = NULL, *kbar = NULL;
    if (u) {
        MsTensor *a = ms_mul(u, wide(&k, ms_mul(gamma, r)));
        MsTensor *s1 = wide(&k, scaled(total(&k, dy), 1 / k.count));
        MsTensor *s2 = wide(&k, scaled(total(&k, ms_mul(dy, h)), 1 / k.count));
        MsTensor *ah = wide(&k, scaled(total(&k, ms_mul(a, h)), 1 / k.count));
        gdy = ms_sub(ms_sub(a, wide(&k, scaled(total(&k, a), 1 / k.count))), ms_mul(h, ah));
        q = ms_neg(ms_add(ms_mul(a, s2), ms_mul(dy, ah)));
        kbar = total(&k, ms_mul(u, ms_sub(ms_sub(dy, s1), ms_mul(h, s2))));
    }
    if (v) {
        gdy = plus(gdy, ms_mul(wide(&k, v), h));
        q = plus(q, ms_mul(wide(&k, v), dy));
    }
    if (w) gdy = plus(gdy, ms_broadcast_to(wide(&k, w), (MsInts){k.ndim, ms_tensor_shape(x)}));
    c->grad[0] = gdy;
    if (!q) return MS_OK;
    MsTensor *qr = ms_mul(q, wide(&k, r)), *rbar = total(&k, ms_mul(q, centred));
    c->grad[1] = qr;
    c->grad[3] = ms_neg(total(&k, qr));
    if (kbar) {
        c->grad[2] = ms_mul(kbar, r);
        rbar = ms_add(rbar, ms_mul(kbar, gamma));
    }
    c->grad[4] = scaled(ms_mul(rbar, ms_mul(r, ms_square(r))), -0.5);
    return MS_OK;
}

MS_OP(batch_norm, .sig = "batch_norm(x: float, gamma: float, beta: gamma, *, eps: float) -> x, gamma, gamma",
      .infer = infer_batch_norm, .batch = ms__batch_channels, .vjp = vjp_batch_norm,
      .sample = "f32[4,3,2,5] f32[3] f32[3] eps=1e-5; f32[6,3] f32[3] f32[3] eps=1e-3; bf16[4,3,5] f32[3] "
                "f32[3] eps=1e-5"
                "; f64[2,2,2,2,3] f64[2] f64[2] eps=1e-5");

MS_OP(batch_norm_grad,
      .sig = "batch_norm_grad(dy: float, x: dy, gamma: float, mean: gamma, var: gamma, *, eps: float) -> x, "
             "gamma, gamma",
      .infer = infer_batch_norm_grad, .batch = ms__batch_channels, .vjp = vjp_batch_norm_grad,
      .sample = "f32[4,3,2,5] f32[4,3,2,5] f32[3] f32[3] f32[3]>0 eps=1e-5; f64[6,3] f64[6,3] f64[3] f64[3] "
                "f64[3]>0 eps=1e-3");

/* ---- layer normalisation ---- */

static MsDtype stat_dtype(MsDtype dtype)
{
    return dtype == MS_FLOAT64 ? MS_FLOAT64 : MS_FLOAT32;
}

static MsStatus check_ndim(const MsInfer *c, const MsAval *x, int64_t ndim)
{
    if (ndim >= 1 && ndim <= x->ndim) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE,
                   "For '%s', the number of normalised dimensions must be in [1, %d], but got %lld.",
                   c->op->name, x->ndim, (long long)ndim);
}

/* Input i, where it is given, has the last ndim sizes of x. */
static MsStatus check_affine(const MsInfer *c, int i, const char *name, const MsAval *x, int ndim)
{
    const MsAval *v = &c->in[i];
    if (v->dtype == MS_DTYPE_NONE) return MS_OK;
    if (v->ndim == ndim && memcmp(v->shape, x->shape + x->ndim - ndim, (size_t)ndim * sizeof *v->shape) == 0)
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' must have shape %s, but got %s.", c->op->name, name,
                   ms__shape_text(ndim, x->shape + x->ndim - ndim), ms__shape_text(v->ndim, v->shape));
}

static MsStatus infer_layer_norm(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    MS_TRY(check_ndim(c, x, c->attr[0].i));
    int ndim = (int)c->attr[0].i;
    MS_TRY(check_affine(c, 1, "gamma", x, ndim));
    MS_TRY(check_affine(c, 2, "beta", x, ndim));
    set(&c->out[0], x->ndim, x->shape);
    for (int j = 1; j < 3; j++) {
        set(&c->out[j], x->ndim, x->shape);
        for (int d = x->ndim - ndim; d < x->ndim; d++) c->out[j].shape[d] = 1;
        c->out[j].dtype = stat_dtype(x->dtype);
    }
    return MS_OK;
}

static MsStatus infer_layer_norm_grad(MsInfer *c)
{
    const MsAval *x = &c->in[1];
    MS_TRY(check_ndim(c, x, c->attr[0].i));
    int ndim = (int)c->attr[0].i;
    MS_TRY(same_shape(c, 0, "dy", 1, "x"));
    MS_TRY(check_affine(c, 4, "gamma", x, ndim));
    for (int i = 2; i < 4; i++) {
        const MsAval *s = &c->in[i];
        bool good = s->ndim == x->ndim && s->dtype == stat_dtype(x->dtype);
        for (int d = 0; good && d < x->ndim; d++)
            good = s->shape[d] == (d < x->ndim - ndim ? x->shape[d] : 1);
        if (!good)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', '%s' must be as layer_norm gives it, but got %s of shape %s.",
                           c->op->name, i == 2 ? "mean" : "rstd", ms_dtype_name(s->dtype),
                           ms__shape_text(s->ndim, s->shape));
    }
    set(&c->out[0], x->ndim, x->shape);
    for (int j = 1; j < 3; j++) {
        set(&c->out[j], ndim, x->shape + x->ndim - ndim);
        c->out[j].dtype = c->in[4].dtype != MS_DTYPE_NONE ? c->in[4].dtype : x->dtype;
    }
    return MS_OK;
}

/* Sums over the normalised axes (kept) and over the others. */
typedef struct Rows {
    int64_t inner[MS_MAX_DIM], outer[MS_MAX_DIM];
    int n_inner, n_outer;
    double count;
} Rows;

static Rows rows_of(const MsTensor *x, int ndim)
{
    Rows r = {.n_inner = ndim, .n_outer = ms_tensor_ndim(x) - ndim, .count = 1};
    for (int d = 0; d < r.n_outer; d++) r.outer[d] = d;
    for (int d = 0; d < ndim; d++) {
        r.inner[d] = r.n_outer + d;
        r.count *= (double)ms_tensor_shape(x)[r.n_outer + d];
    }
    return r;
}

static MsTensor *row_sum(const Rows *r, MsTensor *x)
{
    return ms_sum(x, (MsInts){r->n_inner, r->inner}, true);
}
static MsTensor *row_mean(const Rows *r, MsTensor *x)
{
    return scaled(row_sum(r, x), 1 / r->count);
}
static MsTensor *column_sum(const Rows *r, MsTensor *x)
{
    return r->n_outer ? ms_sum(x, (MsInts){r->n_outer, r->outer}, false) : x;
}

static MsStatus vjp_layer_norm(MsVjp *c)
{
    MsTensor *x = c->in[0], *gamma = c->in[1], *beta = c->in[2], *mean = c->out[1], *rstd = c->out[2],
             *dx = NULL;
    int ndim = (int)c->attr[0].i;
    if (c->ct[0]) {
        MsTensor *g[3];
        MS_TRY(ms_layer_norm_grad(c->ct[0], x, mean, rstd, gamma, ndim, g));
        dx = g[0];
        if (gamma) c->grad[1] = g[1];
        if (beta) c->grad[2] = g[2];
    }
    if (c->want[0] && (c->ct[1] || c->ct[2])) {
        Rows r = rows_of(x, ndim);
        MsDtype dtype = ms_tensor_dtype(mean);
        MsTensor *wx = in_dtype(x, dtype);
        dx = in_dtype(dx, dtype);
        if (c->ct[1])
            dx = plus(dx, ms_broadcast_to(scaled(c->ct[1], 1 / r.count),
                                          (MsInts){ms_tensor_ndim(x), ms_tensor_shape(x)}));
        if (c->ct[2]) {
            MsTensor *cube = ms_mul(rstd, ms_square(rstd));
            dx = plus(dx, ms_mul(ms_sub(wx, mean), scaled(ms_mul(c->ct[2], cube), -1 / r.count)));
        }
    }
    c->grad[0] = dx;
    return MS_OK;
}

/* With g = dy gamma, h = (x - mean) r, m = mean over the normalised axes:
 *   dx = r (g - m(g) - h m(g h)),  dgamma = sum over rows of dy h,  dbeta = sum over rows of dy
 * and cotangents u, v, w of the three; a = r u. gbar and q are the cotangents of g and h. */
static MsStatus vjp_layer_norm_grad(MsVjp *c)
{
    Rows r = rows_of(c->in[1], (int)c->attr[0].i);
    MsTensor *mean = c->in[2], *rstd = c->in[3];
    MsDtype dtype = ms_tensor_dtype(mean);
    MsTensor *dy = in_dtype(c->in[0], dtype), *x = in_dtype(c->in[1], dtype),
             *gamma = in_dtype(c->in[4], dtype);
    MsTensor *u = in_dtype(c->ct[0], dtype), *v = in_dtype(c->ct[1], dtype), *w = in_dtype(c->ct[2], dtype);
    MsTensor *centred = ms_sub(x, mean), *h = ms_mul(centred, rstd), *gdy = NULL, *q = NULL, *rbar = NULL;
    if (u) {
        MsTensor *g = gamma ? ms_mul(dy, gamma) : dy, *a = ms_mul(u, rstd);
        MsTensor *m2 = row_mean(&r, ms_mul(g, h)), *ah = row_mean(&r, ms_mul(a, h));
        MsTensor *gbar = ms_sub(ms_sub(a, row_mean(&r, a)), ms_mul(h, ah));
        q = ms_neg(ms_add(ms_mul(a, m2), ms_mul(g, ah)));
        rbar = row_sum(&r, ms_mul(u, ms_sub(ms_sub(g, row_mean(&r, g)), ms_mul(h, m2))));
        gdy = gamma ? ms_mul(gbar, gamma) : gbar;
        if (gamma) c->grad[4] = column_sum(&r, ms_mul(gbar, dy));
    }
    if (v) {
        gdy = plus(gdy, ms_mul(v, h));
        q = plus(q, ms_mul(v, dy));
    }
    if (w) gdy = plus(gdy, ms_broadcast_to(w, (MsInts){ms_tensor_ndim(x), ms_tensor_shape(x)}));
    c->grad[0] = gdy;
    if (!q) return MS_OK;
    MsTensor *qr = ms_mul(q, rstd);
    c->grad[1] = qr;
    c->grad[2] = ms_neg(row_sum(&r, qr));
    c->grad[3] = plus(rbar, row_sum(&r, ms_mul(q, centred)));
    return MS_OK;
}

/* ---- batching of layer normalisation ---- */

/* Input i, [B, sizes of the normalised axes], seen against x with the batch in front. */
static MsTensor *against(MsBatch *c, int i, const MsTensor *x, int ndim)
{
    MsTensor *v = ms__batch_front(c, i);
    if (!v) return NULL;
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < ms_tensor_ndim(x); d++)
        shape[d] = d == 0 || d >= ms_tensor_ndim(x) - ndim ? ms_tensor_shape(x)[d] : 1;
    return ms_reshape(v, (MsInts){ms_tensor_ndim(x), shape});
}

/* Rows are independent; a scale or shift of each example's own is applied outside. */
static MsStatus batch_layer_norm(MsBatch *c)
{
    bool own = (c->in[1] && c->axis[1] >= 0) || (c->in[2] && c->axis[2] >= 0);
    MsTensor *x = ms__batch_front(c, 0);
    int ndim = (int)c->attr[0].i;
    for (int j = 0; j < 3; j++) c->out_axis[j] = 0;
    if (!x) return ms_error()->code;
    if (!own) return ms_layer_norm(x, c->in[1], c->in[2], ndim, c->attr[1].f, c->out);
    MsDtype dtype = ms_tensor_dtype(x);
    MS_TRY(ms_layer_norm(in_dtype(x, stat_dtype(dtype)), NULL, NULL, ndim, c->attr[1].f, c->out));
    MsTensor *y = c->out[0];
    if (c->in[1]) y = ms_mul(y, in_dtype(against(c, 1, x, ndim), stat_dtype(dtype)));
    if (c->in[2]) y = ms_add(y, in_dtype(against(c, 2, x, ndim), stat_dtype(dtype)));
    c->out[0] = in_dtype(y, dtype);
    return ms__status_of(c->out[0]);
}

/* The sums over rows stay within an example, so that the two gradients of vectors are made here. */
static MsStatus batch_layer_norm_grad(MsBatch *c)
{
    MsTensor *in[4], *g[3];
    for (int i = 0; i < 4; i++)
        if (!(in[i] = ms__batch_front(c, i))) return ms_error()->code;
    MsTensor *x = in[1], *gamma = c->in[4];
    int ndim = (int)c->attr[0].i;
    MsDtype dtype = ms_tensor_dtype(in[2]), out = gamma ? ms_tensor_dtype(gamma) : ms_tensor_dtype(x);
    MsTensor *dy = in_dtype(in[0], dtype), *wx = in_dtype(x, dtype), *gdy = dy;
    int64_t axes[MS_MAX_DIM];
    int n = 0;
    for (int d = 1; d < ms_tensor_ndim(x) - ndim; d++) axes[n++] = d;
    if (gamma) gdy = ms_mul(dy, in_dtype(against(c, 4, x, ndim), dtype));
    MS_TRY(ms_layer_norm_grad(gdy, wx, in[2], in[3], NULL, ndim, g));
    MsTensor *dgamma = ms_mul(dy, ms_mul(ms_sub(wx, in[2]), in[3])), *dbeta = dy;
    if (n) dgamma = ms_sum(dgamma, (MsInts){n, axes}, false), dbeta = ms_sum(dbeta, (MsInts){n, axes}, false);
    c->out[0] = in_dtype(g[0], ms_tensor_dtype(x));
    c->out[1] = in_dtype(dgamma, out);
    c->out[2] = in_dtype(dbeta, out);
    for (int j = 0; j < 3; j++) c->out_axis[j] = 0;
    return c->out[0] && c->out[1] ? ms__status_of(c->out[2]) : ms_error()->code;
}

MS_OP(layer_norm,
      .sig = "layer_norm(x: float, gamma: float?, beta: float?, *, ndim: int, eps: float) -> x, _, _",
      .infer = infer_layer_norm, .batch = batch_layer_norm, .vjp = vjp_layer_norm,
      .sample = "f32[4,3,5] f32[5] f32[5] ndim=1 eps=1e-5; f32[4,3,5] f32[3,5] f32[3,5] ndim=2 eps=1e-5"
                "; f32[2,6] none none ndim=1 eps=1e-5; bf16[4,6] f32[6] f32[6] ndim=1 eps=1e-5; f32[0,6] "
                "f32[6] f32[6] ndim=1 "
                "eps=1e-5");

MS_OP(
    layer_norm_grad,
    .sig =
        "layer_norm_grad(dy: float, x: dy, mean: float, rstd: mean, gamma: float?, *, ndim: int) -> x, _, _",
    .infer = infer_layer_norm_grad, .batch = batch_layer_norm_grad, .vjp = vjp_layer_norm_grad,
    .sample = "f32[4,3,5] f32[4,3,5] f32[4,3,1] f32[4,3,1]>0 f32[5] ndim=1"
              "; f32[4,3,5] f32[4,3,5] f32[4,1,1] f32[4,1,1]>0 none ndim=2");

/* ---- group normalisation ---- */

static MsStatus infer_group_norm(MsInfer *c)
{
    const MsAval *x = &c->in[0];
    int64_t groups = c->attr[0].i;
    if (x->ndim < 2 || groups < 1 || x->shape[1] % groups)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the channels must be a multiple of 'groups', but got shape %s and %lld.",
                       c->op->name, ms__shape_text(x->ndim, x->shape), (long long)groups);
    MS_TRY(vector_of(c, 1, "gamma", x->shape[1]));
    MS_TRY(vector_of(c, 2, "beta", x->shape[1]));
    set(&c->out[0], x->ndim, x->shape);
    return MS_OK;
}

/* y = h gamma + beta, where h is the layer normalisation of every group. */
static MsStatus vjp_group_norm(MsVjp *c)
{
    MsTensor *x = c->in[0], *gamma = c->in[1], *beta = c->in[2], *g = c->ct[0], *h[3], *dx[3];
    int64_t groups = c->attr[0].i, column[MS_MAX_DIM], axes[MS_MAX_DIM], rest = 1;
    int ndim = ms_tensor_ndim(x), n_axes = 0;
    const int64_t *s = ms_tensor_shape(x);
    for (int d = 0; d < ndim; d++) {
        column[d] = d == 1 ? s[1] : 1;
        if (d != 1) axes[n_axes++] = d;
        if (d > 0) rest *= s[d];
    }
    MsDtype wide = gamma ? ms_dtype_promote(stat_dtype(ms_tensor_dtype(x)), ms_tensor_dtype(gamma))
                         : stat_dtype(ms_tensor_dtype(x));
    MsInts as_x = {ndim, s}, sums = {n_axes, axes}, by_group = MS_INTS(s[0], groups, rest / groups);
    MsTensor *wg = in_dtype(g, wide), *flat = ms_reshape(in_dtype(x, wide), by_group);
    if (!flat) return ms_error()->code;
    MS_TRY(ms_layer_norm(flat, NULL, NULL, 1, c->attr[1].f, h));
    if (gamma && c->want[1]) c->grad[1] = ms_sum(ms_mul(wg, ms_reshape(h[0], as_x)), sums, false);
    if (beta && c->want[2]) c->grad[2] = ms_sum(wg, sums, false);
    if (!c->want[0]) return MS_OK;
    if (gamma) wg = ms_mul(wg, ms_reshape(in_dtype(gamma, wide), (MsInts){ndim, column}));
    MS_TRY(ms_layer_norm_grad(ms_reshape(wg, by_group), flat, h[1], h[2], NULL, 1, dx));
    c->grad[0] = ms_reshape(dx[0], as_x);
    return MS_OK;
}

/* More examples; with a scale or shift of each example's own, more groups of channels. */
static MsStatus batch_group_norm(MsBatch *c)
{
    MsAttr attr[MS_MAX_ATTR];
    ms__batch_attrs(c, attr);
    if ((c->in[1] && c->axis[1] >= 0) || (c->in[2] && c->axis[2] >= 0)) {
        attr[0].i *= c->size;
        return ms__batch_along(c, attr, 1);
    }
    MsTensor *x = ms__batch_join(c, 0, 0);
    c->out[0] = x ? ms_group_norm(x, c->in[1], c->in[2], attr[0].i, attr[1].f) : NULL;
    return ms__batch_split(c, 0, 0);
}

MS_OP(group_norm, .sig = "group_norm(x: float, gamma: float?, beta: float?, *, groups: int, eps: float) -> x",
      .infer = infer_group_norm, .batch = batch_group_norm, .vjp = vjp_group_norm,
      .sample = "f32[2,4,3,5] f32[4] f32[4] groups=2 eps=1e-5; f32[2,6] none none groups=3 eps=1e-5"
                "; bf16[2,4,3] f32[4] f32[4] groups=4 eps=1e-5; f32[0,4,3] f32[4] none groups=2 eps=1e-5");
