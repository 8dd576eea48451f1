/* rnn.c - the recurrent part of an LSTM (Hochreiter & Schmidhuber 1997) or GRU layer (Cho et al. 2014) over a whole
 * sequence as one operator.
 * The products with the inputs are one matrix product outside, a [time, batch, 4 hidden] with all biases added; here
 *   p = a_t + h w^T,  i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of the quarters of p,
 *   c = f c + i g,  h = o tanh(c)
 * The results are h and c of every step and the gates after their functions, which the gradient needs. The gradient
 * operator walks back through time and gives the cotangent of p; what it means for w is one product over all steps.
 * The second derivative differentiates the same walk written with public operators. The GRU likewise, with a
 * [time, batch, 3 hidden] and the reset gate after the product:
 *   r, z = sigmoid(a_t + h w^T),  q = h w_n^T + b,  new = tanh(a_n + r q),  h = new + z (h - new)
 * Its gates are r, z, new, q. */
#include "op/rnn.h"
#include "core/mem.h"
#include "mindspore_ops.h"
#include "op/batch.h"
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

/* Sizes of `a` [time, batch, k hidden]: {time, batch, hidden, k hidden}. */
static MsStatus sizes_of(const MsInfer *c, const MsAval *a, int k, int64_t *s)
{
    if (a->ndim != 3 || a->shape[0] < 1 || a->shape[2] % k != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the gates must have shape [time, batch, %d * hidden] with at least one "
                       "step, but got %s.",
                       c->op->name, k, ms__shape_text(a->ndim, a->shape));
    s[0] = a->shape[0], s[1] = a->shape[1], s[2] = a->shape[2] / k, s[3] = a->shape[2];
    return MS_OK;
}

static MsStatus infer_lstm(MsInfer *c)
{
    int64_t s[4];
    const MsAval *a = &c->in[0];
    MS_TRY(sizes_of(c, a, 4, s));
    if (!has_shape(&c->in[1], 2, s + 1)) return misfit(c->op, "h", &c->in[1], a);
    if (!has_shape(&c->in[2], 2, s + 1)) return misfit(c->op, "c", &c->in[2], a);
    if (!has_shape(&c->in[3], 2, (int64_t[]){s[3], s[2]})) return misfit(c->op, "w", &c->in[3], a);
    set_shape(&c->out[0], 3, s);
    set_shape(&c->out[1], 3, s);
    set_shape(&c->out[2], 3, a->shape);
    return MS_OK;
}

static MsStatus infer_lstm_grad(MsInfer *c)
{
    int64_t s[4];
    const MsAval *g = &c->in[LSTM_GATES];
    MS_TRY(sizes_of(c, g, 4, s));
    if (!has_shape(&c->in[LSTM_DY], 3, s)) return misfit(c->op, "dy", &c->in[LSTM_DY], g);
    if (!has_shape(&c->in[LSTM_DC], 3, s)) return misfit(c->op, "dc", &c->in[LSTM_DC], g);
    if (!has_shape(&c->in[LSTM_DGATES], 3, g->shape)) return misfit(c->op, "dgates", &c->in[LSTM_DGATES], g);
    if (!has_shape(&c->in[LSTM_CS], 3, s)) return misfit(c->op, "cs", &c->in[LSTM_CS], g);
    if (!has_shape(&c->in[LSTM_C], 2, s + 1)) return misfit(c->op, "c", &c->in[LSTM_C], g);
    if (!has_shape(&c->in[LSTM_W], 2, (int64_t[]){s[3], s[2]})) return misfit(c->op, "w", &c->in[LSTM_W], g);
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

static MsStatus lstm_composed(MsTensor *const *x, MsTensor **out)
{
    const int64_t *s = ms_tensor_shape(x[LSTM_CS]);
    int64_t time = s[0], batch = s[1], n = s[2];
    MsTensor **da = ms__calloc((size_t)time, sizeof *da), *dh = NULL, *dc = NULL;
    if (!da) return MS_ERROR_MEMORY;
    for (int64_t t = time - 1; t >= 0; t--) {
        MsTensor *k[4], *d[4];
        for (int q = 0; q < 4; q++) k[q] = part(x[LSTM_GATES], t, q * n, n);
        MsTensor *before = t > 0 ? part(x[LSTM_CS], t - 1, 0, n) : x[LSTM_C],
                 *tc = ms_tanh(part(x[LSTM_CS], t, 0, n));
        dh = plus(part(x[LSTM_DY], t, 0, n), dh);
        dc = plus(plus(part(x[LSTM_DC], t, 0, n), dc), ms_mul(ms_mul(dh, k[3]), complement(ms_square(tc))));
        d[0] = ms_mul(dc, k[2]), d[1] = ms_mul(dc, before), d[2] = ms_mul(dc, k[0]), d[3] = ms_mul(dh, tc);
        for (int q = 0; q < 4; q++) {
            d[q] = plus(d[q], part(x[LSTM_DGATES], t, q * n, n));
            MsTensor *slope = q == 2 ? complement(ms_square(k[q])) : ms_mul(k[q], complement(k[q]));
            d[q] = ms_mul(d[q], slope);
            if (!d[q]) break;
        }
        MsTensor *all = d[0] && d[1] && d[2] && d[3] ? ms_concat(4, d, 1) : NULL;
        dh = ms_matmul(all, x[LSTM_W], false, false);
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

typedef MsStatus (*Composed)(MsTensor *const *x, MsTensor **out);

/* The gradient of an operator through the composition of what it computes. */
static MsStatus vjp_composed(MsVjp *c, int n_in, int n_out, Composed composed)
{
    MsTensor *in[N_LSTM_GRAD], *x[N_LSTM_GRAD], *all[N_LSTM_GRAD] = {NULL}, *y[3], *ct[3], *grad[N_LSTM_GRAD];
    int n = 0, at[N_LSTM_GRAD];
    for (int i = 0; i < n_in; i++)
        if (c->in[i]) at[n] = i, in[n++] = c->in[i];
    for (int j = 0; j < n_out; j++) {
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
    if (st == MS_OK) st = ms_vjp_grad(t, n_out, y, ct, grad);
    MsStatus ended = ms_vjp_end(t);
    if (st == MS_OK) st = ended;
    for (int i = 0; i < n && st == MS_OK; i++) c->grad[at[i]] = grad[i];
    return st;
}

static MsStatus vjp_lstm_grad(MsVjp *c)
{
    return vjp_composed(c, N_LSTM_GRAD, 3, lstm_composed);
}

/* Sequences batch along their axis 1, states along axis 0; the weights are shared. */
static MsStatus batch_lstm(MsBatch *c)
{
    return ms__batch_by(c, (int8_t[]){1, 0, 0, -1}, (int8_t[]){1, 1, 1});
}
static MsStatus batch_lstm_grad(MsBatch *c)
{
    return ms__batch_by(c, (int8_t[]){1, 1, 1, 1, 1, 0, -1}, (int8_t[]){1, 0, 0});
}

MS_OP(lstm, .sig = "lstm(a: float, h: a, c: a, w: a) -> a, a, a", .infer = infer_lstm, .vjp = vjp_lstm,
      .batch = batch_lstm,
      .sample = "f32[3,2,8] f32[2,2] f32[2,2] f32[8,2]; f32[1,3,12] f32[3,3] f32[3,3] f32[12,3]; f32[2,9,80] "
                "f32[9,20] "
                "f32[9,20] f32[80,20]; bf16[2,2,8] bf16[2,2] bf16[2,2] bf16[8,2]; f32[2,0,8] f32[0,2] "
                "f32[0,2] f32[8,2]");

MS_OP(lstm_grad,
      .sig = "lstm_grad(dy: float, dc: dy?, dgates: dy?, gates: dy, cs: dy, c: dy, w: dy) -> dy, dy, dy",
      .infer = infer_lstm_grad, .vjp = vjp_lstm_grad, .batch = batch_lstm_grad,
      .sample =
          "f32[3,2,2] - - f32[3,2,8]{0,1} f32[3,2,2] f32[2,2] f32[8,2]; f32[2,3,2] f32[2,3,2] f32[2,3,8] "
          "f32[2,3,8]{0,1} f32[2,3,2] f32[3,2] f32[8,2]; f32[2,9,20] - - f32[2,9,80]{0,1} f32[2,9,20] "
          "f32[9,20] "
          "f32[80,20]");

/* ---- GRU ---- */

static MsStatus infer_gru(MsInfer *c)
{
    int64_t s[4];
    const MsAval *a = &c->in[0];
    MS_TRY(sizes_of(c, a, 3, s));
    if (!has_shape(&c->in[1], 2, s + 1)) return misfit(c->op, "h", &c->in[1], a);
    if (!has_shape(&c->in[2], 2, (int64_t[]){s[3], s[2]})) return misfit(c->op, "w", &c->in[2], a);
    if (!has_shape(&c->in[3], 1, s + 2)) return misfit(c->op, "b", &c->in[3], a);
    set_shape(&c->out[0], 3, s);
    set_shape(&c->out[1], 3, (int64_t[]){s[0], s[1], 4 * s[2]});
    return MS_OK;
}

static MsStatus infer_gru_grad(MsInfer *c)
{
    int64_t s[4];
    const MsAval *g = &c->in[GRU_GATES];
    MS_TRY(sizes_of(c, g, 4, s));
    if (!has_shape(&c->in[GRU_DY], 3, s)) return misfit(c->op, "dy", &c->in[GRU_DY], g);
    if (!has_shape(&c->in[GRU_DGATES], 3, g->shape)) return misfit(c->op, "dgates", &c->in[GRU_DGATES], g);
    if (!has_shape(&c->in[GRU_Y], 3, s)) return misfit(c->op, "y", &c->in[GRU_Y], g);
    if (!has_shape(&c->in[GRU_H], 2, s + 1)) return misfit(c->op, "h", &c->in[GRU_H], g);
    if (!has_shape(&c->in[GRU_W], 2, (int64_t[]){3 * s[2], s[2]}))
        return misfit(c->op, "w", &c->in[GRU_W], g);
    set_shape(&c->out[0], 3, g->shape);
    set_shape(&c->out[1], 2, s + 1);
    return MS_OK;
}

/* Columns [from, from + n) of x [time, batch, m]. */
static MsTensor *columns(MsTensor *x, int64_t from, int64_t n)
{
    if (!x) return NULL;
    const int64_t *s = ms_tensor_shape(x);
    return ms_slice(x, MS_INTS(0, 0, from), MS_INTS(s[0], s[1], n), MS_INTS(1, 1, 1));
}

/* Of d = {reset, keep, new, product inside the tanh}, what the product with the state takes. */
static MsTensor *of_product(MsTensor *d, int64_t n)
{
    MsTensor *part[2] = {columns(d, 0, 2 * n), columns(d, 3 * n, n)};
    return part[0] && part[1] ? ms_concat(2, part, 2) : NULL;
}

static MsStatus vjp_gru(MsVjp *c)
{
    MsTensor *y = c->out[0], *g[2], *dy = c->ct[0];
    int64_t n = ms_tensor_shape(y)[2];
    if (!dy) dy = ms_full((MsInts){3, ms_tensor_shape(y)}, 0, ms_tensor_dtype(y));
    MS_TRY(ms_gru_grad(dy, c->ct[1], c->out[1], y, c->in[1], c->in[2], g));
    c->grad[0] = columns(g[0], 0, 3 * n);
    c->grad[1] = g[1];
    if (c->want[2])
        c->grad[2] = ms_matmul(rows(of_product(g[0], n)), rows(shifted(c->in[1], y)), true, false);
    if (c->want[3]) c->grad[3] = ms_sum(rows(columns(g[0], 3 * n, n)), MS_INTS(0), false);
    return c->grad[0] ? MS_OK : ms_error()->code;
}

static MsStatus gru_composed(MsTensor *const *x, MsTensor **out)
{
    const int64_t *s = ms_tensor_shape(x[GRU_Y]);
    int64_t time = s[0], batch = s[1], n = s[2];
    MsTensor **all = ms__calloc((size_t)time, sizeof *all), *dh = NULL;
    if (!all) return MS_ERROR_MEMORY;
    for (int64_t t = time - 1; t >= 0; t--) {
        MsTensor *k[4], *d[4], *h = t > 0 ? part(x[GRU_Y], t - 1, 0, n) : x[GRU_H];
        for (int q = 0; q < 4; q++) k[q] = part(x[GRU_GATES], t, q * n, n);
        dh = plus(part(x[GRU_DY], t, 0, n), dh);
        d[2] = plus(ms_mul(dh, complement(k[1])), part(x[GRU_DGATES], t, 2 * n, n));
        d[2] = ms_mul(d[2], complement(ms_square(k[2])));
        d[0] = plus(ms_mul(d[2], k[3]), part(x[GRU_DGATES], t, 0, n));
        d[1] = plus(ms_mul(dh, ms_sub(h, k[2])), part(x[GRU_DGATES], t, n, n));
        d[3] = plus(ms_mul(d[2], k[0]), part(x[GRU_DGATES], t, 3 * n, n));
        for (int q = 0; q < 2; q++) d[q] = ms_mul(d[q], ms_mul(k[q], complement(k[q])));
        MsTensor *row = d[0] && d[1] && d[2] && d[3] ? ms_concat(4, d, 1) : NULL;
        all[t] = row ? ms_reshape(row, MS_INTS(1, batch, 4 * n)) : NULL;
        MsTensor *p = all[t] ? of_product(all[t], n) : NULL;
        dh = p ? ms_add(ms_mul(dh, k[1]), ms_matmul(rows(p), x[GRU_W], false, false)) : NULL;
        if (!dh) {
            free(all);
            return ms_error()->code;
        }
    }
    out[0] = ms_concat((int)time, all, 0);
    out[1] = dh;
    free(all);
    return out[0] ? MS_OK : ms_error()->code;
}

static MsStatus vjp_gru_grad(MsVjp *c)
{
    return vjp_composed(c, N_GRU_GRAD, 2, gru_composed);
}

static MsStatus batch_gru(MsBatch *c)
{
    return ms__batch_by(c, (int8_t[]){1, 0, -1, -1}, (int8_t[]){1, 1});
}
static MsStatus batch_gru_grad(MsBatch *c)
{
    return ms__batch_by(c, (int8_t[]){1, 1, 1, 1, 0, -1}, (int8_t[]){1, 0});
}

MS_OP(gru, .sig = "gru(a: float, h: a, w: a, b: a?) -> a, a", .infer = infer_gru, .vjp = vjp_gru,
      .batch = batch_gru,
      .sample =
          "f32[3,2,6] f32[2,2] f32[6,2] f32[2]; f32[1,3,9] f32[3,3] f32[9,3] -; f32[2,9,60] f32[9,20] "
          "f32[60,20] f32[20]; bf16[2,2,6] bf16[2,2] bf16[6,2] bf16[2]; f32[2,0,6] f32[0,2] f32[6,2] -");

MS_OP(gru_grad, .sig = "gru_grad(dy: float, dgates: dy?, gates: dy, y: dy, h: dy, w: dy) -> dy, dy",
      .infer = infer_gru_grad, .vjp = vjp_gru_grad, .batch = batch_gru_grad,
      .sample = "f32[3,2,2] - f32[3,2,8]{0,1} f32[3,2,2] f32[2,2] f32[6,2]; f32[2,3,2] f32[2,3,8] "
                "f32[2,3,8]{0,1} f32[2,3,2] f32[3,2] f32[6,2]; f32[2,9,20] - f32[2,9,80]{0,1} f32[2,9,20] "
                "f32[9,20] f32[60,20]");
