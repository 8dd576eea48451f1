/* rnn.c - the recurrent part of an LSTM layer over a whole sequence as one operator (Hochreiter & Schmidhuber 1997).
 * The products with the inputs are one matrix product outside, a [time, batch, 4 hidden] with all biases added; here
 *   p = a_t + h w^T,  i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of the quarters of p,
 *   c = f c + i g,  h = o tanh(c)
 * The results are h and c of every step and the gates after their functions, which the gradient needs. The gradient
 * operator walks back through time and gives the cotangent of p; what it means for w is one product over all steps.
 * The second derivative differentiates the same walk written with public operators. */
#include "core/mem.h"
#include "mindspore_ops.h"
#include "op/op.h"
#include "op/rules.h"

#include <stdlib.h>
#include <string.h>

static MsStatus misfit(const MsOp *op, const char *name, const MsAval *t, const MsAval *a)
{
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', the shape %s of '%s' does not fit gates of shape %s.", op->name,
                   ms__shape_text(t->ndim, t->shape), name, ms__shape_text(a->ndim, a->shape));
}

static bool has_shape(const MsAval *t, int ndim, const int64_t *shape)
{
    return t->dtype == MS_DTYPE_NONE ||
           (t->ndim == ndim && memcmp(t->shape, shape, (size_t)ndim * sizeof *shape) == 0);
}

static void set_shape(MsAval *out, int ndim, const int64_t *shape)
{
    out->ndim = ndim;
    memcpy(out->shape, shape, (size_t)ndim * sizeof *shape);
}

/* Sizes of `a` [time, batch, 4 hidden]: {time, batch, hidden, 4 hidden}. */
static MsStatus sizes_of(const MsInfer *c, const MsAval *a, int64_t *s)
{
    if (a->ndim != 3 || a->shape[0] < 1 || a->shape[2] % 4 != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the gates must have shape [time, batch, 4 * hidden] with at least one "
                       "step, but got %s.",
                       c->op->name, ms__shape_text(a->ndim, a->shape));
    s[0] = a->shape[0], s[1] = a->shape[1], s[2] = a->shape[2] / 4, s[3] = a->shape[2];
    return MS_OK;
}

static MsStatus infer_lstm(MsInfer *c)
{
    int64_t s[4];
    const MsAval *a = &c->in[0];
    MS_TRY(sizes_of(c, a, s));
    if (!has_shape(&c->in[1], 2, s + 1)) return misfit(c->op, "h", &c->in[1], a);
    if (!has_shape(&c->in[2], 2, s + 1)) return misfit(c->op, "c", &c->in[2], a);
    if (!has_shape(&c->in[3], 2, (int64_t[]){s[3], s[2]})) return misfit(c->op, "w", &c->in[3], a);
    set_shape(&c->out[0], 3, s);
    set_shape(&c->out[1], 3, s);
    set_shape(&c->out[2], 3, a->shape);
    return MS_OK;
}

enum {
    DY,
    DC,
    DGATES,
    GATES,
    CS,
    C,
    W,
    N_GRAD
};

static MsStatus infer_lstm_grad(MsInfer *c)
{
    int64_t s[4];
    const MsAval *g = &c->in[GATES];
    MS_TRY(sizes_of(c, g, s));
    if (!has_shape(&c->in[DY], 3, s)) return misfit(c->op, "dy", &c->in[DY], g);
    if (!has_shape(&c->in[DC], 3, s)) return misfit(c->op, "dc", &c->in[DC], g);
    if (!has_shape(&c->in[DGATES], 3, g->shape)) return misfit(c->op, "dgates", &c->in[DGATES], g);
    if (!has_shape(&c->in[CS], 3, s)) return misfit(c->op, "cs", &c->in[CS], g);
    if (!has_shape(&c->in[C], 2, s + 1)) return misfit(c->op, "c", &c->in[C], g);
    if (!has_shape(&c->in[W], 2, (int64_t[]){s[3], s[2]})) return misfit(c->op, "w", &c->in[W], g);
    set_shape(&c->out[0], 3, g->shape);
    set_shape(&c->out[1], 2, s + 1);
    set_shape(&c->out[2], 2, s + 1);
    return MS_OK;
}

/* x [n, ...] without its last step, `first` in front. */
static MsTensor *shifted(MsTensor *first, MsTensor *x)
{
    const int64_t *s = ms_tensor_shape(x);
    first = ms_reshape(first, MS_INTS(1, s[1], s[2]));
    if (s[0] == 1) return first;
    MsTensor *rest = ms_slice(x, MS_INTS(0, 0, 0), MS_INTS(s[0] - 1, s[1], s[2]), MS_INTS(1, 1, 1));
    return first && rest ? ms_concat(2, (MsTensor *[]){first, rest}, 0) : NULL;
}

static MsTensor *rows(MsTensor *x)
{
    const int64_t *s = x ? ms_tensor_shape(x) : NULL;
    return x ? ms_reshape(x, MS_INTS(s[0] * s[1], s[2])) : NULL;
}

static MsStatus vjp_lstm(MsVjp *c)
{
    MsTensor *y = c->out[0], *g[3], *dy = c->ct[0];
    if (!dy) dy = ms_full((MsInts){3, ms_tensor_shape(y)}, 0, ms_tensor_dtype(y));
    MS_TRY(ms_lstm_grad(dy, c->ct[1], c->ct[2], c->out[2], c->out[1], c->in[2], c->in[3], g));
    for (int i = 0; i < 3; i++) c->grad[i] = g[i];
    if (c->want[3]) c->grad[3] = ms_matmul(rows(g[0]), rows(shifted(c->in[1], y)), true, false);
    return MS_OK;
}

/* ---- the gradient as a composition ---- */

/* Step t of x [time, batch, n], of that the columns [from, from + n). */
static MsTensor *part(MsTensor *x, int64_t t, int64_t from, int64_t n)
{
    if (!x) return NULL;
    int64_t batch = ms_tensor_shape(x)[1];
    x = ms_slice(x, MS_INTS(t, 0, from), MS_INTS(1, batch, n), MS_INTS(1, 1, 1));
    return x ? ms_reshape(x, MS_INTS(batch, n)) : NULL;
}

static MsTensor *plus(MsTensor *a, MsTensor *b)
{
    return a && b ? ms_add(a, b) : a ? a : b;
}

static MsTensor *complement(MsTensor *x)
{
    return ms__shift(ms_neg(x), 1);
}

static MsStatus composed(MsTensor *const *x, MsTensor **out)
{
    const int64_t *s = ms_tensor_shape(x[CS]);
    int64_t time = s[0], batch = s[1], n = s[2];
    MsTensor **da = ms__calloc((size_t)time, sizeof *da), *dh = NULL, *dc = NULL;
    if (!da) return MS_ERROR_MEMORY;
    for (int64_t t = time - 1; t >= 0; t--) {
        MsTensor *k[4], *d[4];
        for (int q = 0; q < 4; q++) k[q] = part(x[GATES], t, q * n, n);
        MsTensor *before = t > 0 ? part(x[CS], t - 1, 0, n) : x[C], *tc = ms_tanh(part(x[CS], t, 0, n));
        dh = plus(part(x[DY], t, 0, n), dh);
        dc = plus(plus(part(x[DC], t, 0, n), dc), ms_mul(ms_mul(dh, k[3]), complement(ms_square(tc))));
        d[0] = ms_mul(dc, k[2]), d[1] = ms_mul(dc, before), d[2] = ms_mul(dc, k[0]), d[3] = ms_mul(dh, tc);
        for (int q = 0; q < 4; q++) {
            d[q] = plus(d[q], part(x[DGATES], t, q * n, n));
            MsTensor *slope = q == 2 ? complement(ms_square(k[q])) : ms_mul(k[q], complement(k[q]));
            d[q] = ms_mul(d[q], slope);
            if (!d[q]) break;
        }
        MsTensor *all = d[0] && d[1] && d[2] && d[3] ? ms_concat(4, d, 1) : NULL;
        dh = ms_matmul(all, x[W], false, false);
        dc = ms_mul(dc, k[1]);
        da[t] = all ? ms_reshape(all, MS_INTS(1, batch, 4 * n)) : NULL;
        if (!da[t] || !dh || !dc) {
            free(da);
            return ms_error()->code;
        }
    }
    out[0] = ms_concat((int)time, da, 0);
    out[1] = dh;
    out[2] = dc;
    free(da);
    return out[0] ? MS_OK : ms_error()->code;
}

static MsStatus vjp_lstm_grad(MsVjp *c)
{
    MsTensor *in[N_GRAD], *x[N_GRAD], *all[N_GRAD] = {NULL}, *y[3], *ct[3], *grad[N_GRAD];
    int n = 0, at[N_GRAD];
    for (int i = 0; i < N_GRAD; i++)
        if (c->in[i]) at[n] = i, in[n++] = c->in[i];
    for (int j = 0; j < 3; j++) {
        ct[j] = c->ct[j];
        if (!ct[j])
            ct[j] = ms_full((MsInts){ms_tensor_ndim(c->out[j]), ms_tensor_shape(c->out[j])}, 0,
                            ms_tensor_dtype(c->out[j]));
        if (!ct[j]) return ms_error()->code;
    }
    MsTrace *t = ms_vjp_begin(n, in, x, 0, NULL);
    if (!t) return ms_error()->code;
    for (int i = 0; i < n; i++) all[at[i]] = x[i];
    MsStatus st = composed(all, y);
    if (st == MS_OK) st = ms_vjp_grad(t, 3, y, ct, grad);
    MsStatus ended = ms_vjp_end(t);
    if (st == MS_OK) st = ended;
    for (int i = 0; i < n && st == MS_OK; i++) c->grad[at[i]] = grad[i];
    return st;
}

MS_OP(lstm, .sig = "lstm(a: float, h: a, c: a, w: a) -> a, a, a", .infer = infer_lstm, .vjp = vjp_lstm,
      .sample = "f32[3,2,8] f32[2,2] f32[2,2] f32[8,2]; f32[1,3,12] f32[3,3] f32[3,3] f32[12,3]; f32[2,9,80] "
                "f32[9,20] "
                "f32[9,20] f32[80,20]; bf16[2,2,8] bf16[2,2] bf16[2,2] bf16[8,2]; f32[2,0,8] f32[0,2] "
                "f32[0,2] f32[8,2]");

MS_OP(lstm_grad,
      .sig = "lstm_grad(dy: float, dc: dy?, dgates: dy?, gates: dy, cs: dy, c: dy, w: dy) -> dy, dy, dy",
      .infer = infer_lstm_grad, .vjp = vjp_lstm_grad,
      .sample =
          "f32[3,2,2] - - f32[3,2,8]{0,1} f32[3,2,2] f32[2,2] f32[8,2]; f32[2,3,2] f32[2,3,2] f32[2,3,8] "
          "f32[2,3,8]{0,1} f32[2,3,2] f32[3,2] f32[8,2]; f32[2,9,20] - - f32[2,9,80]{0,1} f32[2,9,20] "
          "f32[9,20] "
          "f32[80,20]");
