/* factor.c - matrix factorisations and what is made of them, over the last two axes, batched over the others.
 * Gradients follow M. Giles, "Collected matrix derivative results" (2008), and for complex matrices the convention
 * of mul: a cotangent is the conjugate of the derivative. They are written with the same operators, so they
 * differentiate again. Where a factorisation has no derivative (equal eigenvalues, a rank below full) the result
 * is infinite or NaN, as it is by the formulas. */
#include "op/batch.h"
#include "op/rules.h"
#include "op/view.h"
#include "trace/trace.h"

#include <string.h>

/* ---- small compositions; all pass NULL on ---- */

/* The last two axes swapped; H: conjugated too. */
static MsTensor *swapped(MsTensor *x)
{
    if (!x) return NULL;
    int64_t perm[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++) perm[d] = d;
    perm[x->ndim - 1] = x->ndim - 2, perm[x->ndim - 2] = x->ndim - 1;
    return ms_transpose(x, (MsInts){x->ndim, perm});
}
static MsTensor *H(MsTensor *x)
{
    return ms__conj(swapped(x));
}
static MsTensor *mm(MsTensor *a, MsTensor *b)
{
    return ms_matmul(a, b, false, false);
}
static int64_t rows(const MsTensor *x)
{
    return x->shape[x->ndim - 2];
}
static int64_t columns(const MsTensor *x)
{
    return x->shape[x->ndim - 1];
}
/* Columns (rows) [begin, begin + n). */
static MsTensor *cols_of(MsTensor *x, int64_t begin, int64_t n)
{
    return x ? ms__narrow(x, x->ndim - 1, begin, n) : NULL;
}
static MsTensor *rows_of(MsTensor *x, int64_t begin, int64_t n)
{
    return x ? ms__narrow(x, x->ndim - 2, begin, n) : NULL;
}
/* A vector as columns' scale (last axis) or rows' scale, for broadcasting with a matrix. */
static MsTensor *as_row(MsTensor *v)
{
    if (!v) return NULL;
    int64_t s[MS_MAX_DIM];
    memcpy(s, v->shape, sizeof s);
    s[v->ndim - 1] = 1, s[v->ndim] = v->shape[v->ndim - 1];
    return ms_reshape(v, (MsInts){v->ndim + 1, s});
}
static MsTensor *as_column(MsTensor *v)
{
    if (!v) return NULL;
    int64_t s[MS_MAX_DIM];
    memcpy(s, v->shape, sizeof s);
    s[v->ndim] = 1;
    return ms_reshape(v, (MsInts){v->ndim + 1, s});
}
/* A scalar per matrix, for broadcasting with it. */
static MsTensor *as_matrix(MsTensor *v)
{
    return as_column(as_column(v));
}
static MsTensor *cast(MsTensor *x, MsDtype d)
{
    return x && ms_tensor_dtype(x) != d ? ms_cast(x, d) : x;
}
static MsTensor *eye(int64_t n, MsDtype d)
{
    MsTensor *i = ms_arange_int(0, 1, n, MS_INT64);
    return ms_cast(ms_eq(as_column(i), i), d);
}
/* The diagonal kept, the rest zero. */
static MsTensor *diagonal(MsTensor *x)
{
    return x ? ms_mul(x, eye(columns(x), ms_tensor_dtype(x))) : NULL;
}
static MsTensor *scaled(MsTensor *x, double c)
{
    return ms__scale(x, c);
}
/* The real part in the complex dtype. */
static MsTensor *real_part(MsTensor *x)
{
    return x && ms_dtype_is_complex(ms_tensor_dtype(x)) ? ms_cast(ms_real(x), ms_tensor_dtype(x)) : x;
}
static MsTensor *hermitian(MsTensor *x)
{
    return scaled(ms_add(x, H(x)), 0.5);
}
/* 1 / (b_j - a_i), 0 on the diagonal. */
static MsTensor *gaps(MsTensor *w)
{
    MsTensor *gap = ms_sub(as_row(w), as_column(w)), *i = w ? eye(columns(w), ms_tensor_dtype(w)) : NULL;
    return ms_sub(ms_reciprocal(ms_add(gap, i)), i);
}

/* ---- shapes ---- */

static MsStatus matrices(MsInfer *c, bool square)
{
    const MsAval *a = &c->in[0];
    if (a->ndim < 2 || (square && a->shape[a->ndim - 1] != a->shape[a->ndim - 2]))
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must be a batch of %smatrices, but got shape %s.",
                       c->op->name, square ? "square " : "", ms__shape_text(a->ndim, a->shape));
    return MS_OK;
}
static MsDtype real_of(MsDtype d)
{
    return d == MS_COMPLEX64 ? MS_FLOAT32 : d == MS_COMPLEX128 ? MS_FLOAT64 : d;
}
/* Output j: the input's batch axes and these last ones (-1: absent), of dtype d. */
static void put(MsInfer *c, int j, MsDtype d, int64_t m, int64_t n)
{
    c->out[j] = c->in[0];
    c->out[j].dtype = d;
    c->out[j].ndim -= 2;
    if (m >= 0) c->out[j].shape[c->out[j].ndim++] = m;
    if (n >= 0) c->out[j].shape[c->out[j].ndim++] = n;
}

static MsStatus infer_square(MsInfer *c)
{
    MS_TRY(matrices(c, true));
    c->out[0] = c->in[0];
    return MS_OK;
}
static MsStatus infer_solve(MsInfer *c)
{
    MS_TRY(matrices(c, true));
    const MsAval *a = &c->in[0], *b = &c->in[1];
    if (b->ndim != a->ndim || memcmp(a->shape, b->shape, (size_t)(a->ndim - 1) * sizeof *a->shape) != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the shapes %s and %s must agree in all axes but the last.",
                       c->op->name, ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
    c->out[0] = *b;
    return MS_OK;
}
static MsStatus infer_det(MsInfer *c)
{
    MS_TRY(matrices(c, true));
    put(c, 0, c->in[0].dtype, -1, -1);
    if (c->n_out == 2) put(c, 1, real_of(c->in[0].dtype), -1, -1);
    return MS_OK;
}
static MsStatus infer_lu(MsInfer *c)
{
    MS_TRY(matrices(c, false));
    int64_t m = c->in[0].shape[c->in[0].ndim - 2], n = c->in[0].shape[c->in[0].ndim - 1];
    c->out[0] = c->in[0];
    put(c, 1, MS_INT32, m < n ? m : n, -1);
    put(c, 2, MS_INT64, m, -1);
    return MS_OK;
}
static MsStatus infer_qr(MsInfer *c)
{
    MS_TRY(matrices(c, false));
    int64_t m = c->in[0].shape[c->in[0].ndim - 2], n = c->in[0].shape[c->in[0].ndim - 1];
    int64_t k = c->attr[0].i || m < n ? m : n;
    put(c, 0, c->in[0].dtype, m, k);
    put(c, 1, c->in[0].dtype, k, n);
    return MS_OK;
}
static MsStatus infer_geqrf(MsInfer *c)
{
    MS_TRY(matrices(c, false));
    int64_t m = c->in[0].shape[c->in[0].ndim - 2], n = c->in[0].shape[c->in[0].ndim - 1];
    c->out[0] = c->in[0];
    put(c, 1, c->in[0].dtype, m < n ? m : n, -1);
    return MS_OK;
}
static MsStatus infer_eigh(MsInfer *c)
{
    MS_TRY(matrices(c, true));
    put(c, 0, real_of(c->in[0].dtype), c->in[0].shape[c->in[0].ndim - 1], -1);
    c->out[1] = c->in[0];
    return MS_OK;
}
static MsStatus infer_eig(MsInfer *c)
{
    MS_TRY(matrices(c, true));
    MsDtype d = real_of(c->in[0].dtype) == MS_FLOAT64 ? MS_COMPLEX128 : MS_COMPLEX64;
    put(c, 0, d, c->in[0].shape[c->in[0].ndim - 1], -1);
    c->out[1] = c->in[0];
    c->out[1].dtype = d;
    return MS_OK;
}
static MsStatus infer_svd(MsInfer *c)
{
    MS_TRY(matrices(c, false));
    int64_t m = c->in[0].shape[c->in[0].ndim - 2], n = c->in[0].shape[c->in[0].ndim - 1], k = m < n ? m : n;
    put(c, 0, c->in[0].dtype, m, c->attr[0].i ? m : k);
    put(c, 1, real_of(c->in[0].dtype), k, -1);
    put(c, 2, c->in[0].dtype, c->attr[0].i ? n : k, n);
    return MS_OK;
}

/* ---- solving ---- */

static MsStatus vjp_solve(MsVjp *c)
{
    MsTensor *g = ms_solve(H(c->in[0]), c->ct[0]);
    if (c->want[0]) c->grad[0] = ms_neg(mm(g, H(c->out[0])));
    c->grad[1] = g;
    return MS_OK;
}
/* The x of a x = b; a singular a is an error. */
MS_OP(solve, .sig = "solve(a: floatc, b: a) -> b", .infer = infer_solve, .vjp = vjp_solve,
      .batch = ms__batch_lead,
      .sample = "f64[2,2]{0.5,2} f64[2,3]; f32[3,1,1]{0.5,2} f32[3,1,2]; c128[2,2]{0.5,2} c128[2,1]");

static MsStatus vjp_triangular(MsVjp *c)
{
    bool upper = c->attr[0].i, unit = c->attr[1].i;
    MsTensor *g = ms_triangular_solve(H(c->in[0]), c->ct[0], !upper, unit);
    if (c->want[0]) {
        MsTensor *ga = ms_neg(mm(g, H(c->out[0])));
        c->grad[0] = upper ? ms_triu(ga, unit) : ms_tril(ga, unit ? -1 : 0);
    }
    c->grad[1] = g;
    return MS_OK;
}
/* The same for the upper or lower triangle of a, whose diagonal is one if `unit`; the rest of a is not read. */
MS_OP(triangular_solve, .sig = "triangular_solve(a: floatc, b: a, *, upper: bool, unit: bool) -> a",
      .infer = infer_solve, .vjp = vjp_triangular, .batch = ms__batch_lead,
      .sample =
          "f64[3,3]{0.5,2} f64[3,2] upper; f32[2,2,2]{0.5,2} f32[2,2,1]; f64[3,3]{0.5,2} f64[3,2] unit; "
          "c128[2,2]{0.5,2} c128[2,1]");

/* ---- Cholesky ---- */

static MsStatus vjp_cholesky(MsVjp *c)
{
    MsTensor *l = c->out[0], *m = mm(H(l), c->ct[0]);
    m = ms_sub(ms_tril(m, 0), scaled(diagonal(m), 0.5));
    MsTensor *s = ms_triangular_solve(H(l), m, true, false);
    s = H(ms_triangular_solve(H(l), H(s), true, false));
    c->grad[0] = hermitian(s);
    return MS_OK;
}
/* The lower l with l l^H = the Hermitian part of x. */
MS_OP(cholesky, .sig = "cholesky(x: floatc) -> x", .infer = infer_square, .vjp = vjp_cholesky,
      .batch = ms__batch_lead, .sample = "f32[3,1,1]{0.5,2}; f64[1,1]{0.5,2}; c128[1,1]{0.5,2}");

/* ---- LU, determinants ---- */

static MsStatus vjp_det(MsVjp *c)
{
    MsTensor *a = c->in[0],
             *inverse = ms_solve(H(a), ms_broadcast_to(eye(columns(a), (MsDtype)a->dtype), ms__shape_of(a)));
    c->grad[0] = ms_mul(as_matrix(ms_mul(c->ct[0], ms__conj(c->out[0]))), inverse);
    return MS_OK;
}
MS_OP(det, .sig = "det(x: floatc) -> x", .infer = infer_det, .vjp = vjp_det, .batch = ms__batch_lead,
      .sample = "f64[2,2]{0.5,2}; f32[3,1,1]{0.5,2}; f64[3,3]; c128[2,2]");

static MsStatus vjp_slogdet(MsVjp *c)
{
    MsTensor *a = c->in[0], *i = eye(columns(a), (MsDtype)a->dtype);
    if (c->ct[0] && ms_dtype_is_complex((MsDtype)a->dtype))
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "For 'slogdet', the derivative of the sign of a complex determinant is not there.");
    if (c->ct[1])
        c->grad[0] = ms_mul(as_matrix(cast(c->ct[1], (MsDtype)a->dtype)),
                            ms_solve(H(a), ms_broadcast_to(i, ms__shape_of(a))));
    return MS_OK;
}
/* Sign and logarithm of the absolute value of the determinant; 0 and -inf for a singular matrix. */
MS_OP(slogdet, .sig = "slogdet(x: floatc) -> x, _", .infer = infer_det, .vjp = vjp_slogdet,
      .batch = ms__batch_lead, .sample = "f64[2,2]{0.5,2}; f32[3,1,1]{0.5,2}");

static MsStatus vjp_lu(MsVjp *c)
{
    MsTensor *lu = c->out[0], *g = c->ct[0];
    if (!g) return MS_OK;
    int64_t n = columns(lu);
    if (rows(lu) != n)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "For 'lu', only square matrices have a derivative, but got shape %s.",
                       ms__shape_text(lu->ndim, lu->shape));
    MsTensor *u = ms_triu(lu, 0), *l = ms_add(ms_tril(lu, -1), eye(n, (MsDtype)lu->dtype));
    MsTensor *m = ms_add(ms_tril(mm(H(l), ms_tril(g, -1)), -1), ms_triu(mm(ms_triu(g, 0), H(u)), 0));
    m = ms_triangular_solve(H(l), m, true, true);     /* l^-H m */
    m = H(ms_triangular_solve(u, H(m), true, false)); /* (...) u^-H */
    MsTensor *perm = ms_broadcast_to(as_column(c->out[2]), ms__shape_of(lu));
    c->grad[0] = m && perm ? ms_put_along(ms__zeros_like(m), perm, m, lu->ndim - 2, "set") : NULL;
    return MS_OK;
}
/* The factors packed in one matrix, the row that each was swapped with, the permutation p: x[p] = l u. */
MS_OP(lu, .sig = "lu(x: floatc) -> x, int32, int64", .infer = infer_lu, .vjp = vjp_lu,
      .batch = ms__batch_lead, .sample = "f64[3,3]; f32[2,2,2]; f64[1,1]; c128[2,2]");

/* ---- QR ---- */

/* The cotangent of the first k columns of a square unitary q with that of the others, whose basis is any of the space that
 * is left: dq = q w with w skew, and zero where it would turn the others among themselves, so what moves them moves
 * the first the other way. Right for every function of the others that is one of the space they span. */
static MsTensor *first_columns(MsTensor *q, MsTensor *g, int64_t k)
{
    int64_t n = q ? columns(q) : 0;
    if (!q || !g || n == k) return g;
    MsTensor *first = cols_of(q, 0, k), *rest = cols_of(q, k, n - k);
    return ms_sub(cols_of(g, 0, k), mm(rest, mm(H(cols_of(g, k, n - k)), first)));
}

/* C of Walter and Lehmann: the cotangent of q and r as the one of the factored matrix, a tall one. */
static MsTensor *qr_cotangent(MsTensor *q, MsTensor *r, MsTensor *gq, MsTensor *gr)
{
    MsTensor *m = gr ? mm(r, H(gr)) : NULL, *mq = gq ? mm(H(gq), q) : NULL;
    m = m && mq ? ms_sub(m, mq) : m ? m : ms_neg(mq);
    MsTensor *low = ms_tril(m, -1);
    MsTensor *sym = ms_add(ms_add(low, H(low)), real_part(diagonal(m)));
    MsTensor *x = mm(q, sym);
    if (gq) x = ms_add(gq, x);
    return H(ms_triangular_solve(r, H(x), true, false));
}

static MsStatus vjp_qr(MsVjp *c)
{
    MsTensor *x = c->in[0], *q = c->out[0], *r = c->out[1], *gq = c->ct[0], *gr = c->ct[1];
    int64_t m = rows(x), n = columns(x);
    if (m >= n) {
        c->grad[0] =
            qr_cotangent(cols_of(q, 0, n), rows_of(r, 0, n), first_columns(q, gq, n), rows_of(gr, 0, n));
        return MS_OK;
    }
    MsTensor *y = cols_of(x, m, n - m), *gv = gr ? cols_of(gr, m, n - m) : NULL;
    MsTensor *extra = gv ? mm(y, H(gv)) : NULL;
    MsTensor *part[2];
    part[0] = qr_cotangent(q, cols_of(r, 0, m),
                           gq && extra ? ms_add(gq, extra)
                           : gq        ? gq
                                       : extra,
                           gr ? cols_of(gr, 0, m) : NULL);
    part[1] = gv ? mm(q, gv) : ms__zeros_like(y);
    c->grad[0] = part[0] && part[1] ? ms_concat(2, part, x->ndim - 1) : NULL;
    return MS_OK;
}
MS_OP(qr, .sig = "qr(x: floatc, *, full: bool) -> x, x", .infer = infer_qr, .vjp = vjp_qr,
      .batch = ms__batch_lead,
      .sample = "f64[3,3]; f64[4,2]; f64[4,3] full; f64[2,3] full; f32[2,2,2]; c128[2,2]");

/* The reflections of the factorisation below the diagonal, and their factors. */
MS_OP(geqrf, .sig = "geqrf(x: floatc) -> x, x", .infer = infer_geqrf, .batch = ms__batch_lead,
      .sample = "f64[3,3]; f32[2,4,2]; f64[2,3]; c128[3,2]");

/* ---- eigenvalues ---- */

static MsStatus vjp_eigh(MsVjp *c)
{
    MsTensor *v = c->out[1], *gw = c->ct[0], *gv = c->ct[1], *m = NULL;
    MsDtype d = (MsDtype)v->dtype;
    if (gv) m = ms_mul(cast(gaps(c->out[0]), d), mm(H(v), gv));
    if (gw) {
        MsTensor *on = ms_mul(eye(columns(v), d), cast(as_row(gw), d));
        m = m ? ms_add(m, on) : on;
    }
    c->grad[0] = hermitian(mm(mm(v, m), H(v)));
    return MS_OK;
}
/* Eigenvalues ascending and eigenvectors (columns) of the Hermitian part of x. */
MS_OP(eigh, .sig = "eigh(x: floatc) -> _, x", .infer = infer_eigh, .vjp = vjp_eigh, .batch = ms__batch_lead,
      .sample = "f64[3,3]; f64[2,2]; f32[2,1,1]");

static MsStatus vjp_eig(MsVjp *c)
{
    MsTensor *w = c->out[0], *v = c->out[1], *gw = c->ct[0], *gv = c->ct[1], *m = NULL;
    MsDtype d = (MsDtype)v->dtype;
    if (gv) {
        m = mm(H(v), gv);
        MsTensor *along = mm(mm(H(v), v), real_part(diagonal(m)));
        m = ms_mul(ms_sub(m, along), ms__conj(gaps(w)));
    }
    if (gw) {
        MsTensor *on = ms_mul(eye(columns(v), d), as_row(gw));
        m = m ? ms_add(m, on) : on;
    }
    MsTensor *g = ms_solve(H(v), mm(m, H(v)));
    c->grad[0] = ms_dtype_is_complex((MsDtype)c->in[0]->dtype) ? g : ms_real(g);
    return MS_OK;
}
/* Eigenvalues and eigenvectors (columns of length one, the largest entry real) of a general matrix. */
MS_OP(eig, .sig = "eig(x: floatc) -> _, _", .infer = infer_eig, .vjp = vjp_eig, .batch = ms__batch_lead,
      .sample = "f64[3,3]; f32[2,2,2]; c128[2,2]");

/* ---- singular values ---- */

static MsStatus vjp_svd(MsVjp *c)
{
    MsTensor *s = c->out[1], *gs = c->ct[1];
    MsDtype d = (MsDtype)c->in[0]->dtype;
    int64_t k = columns(s), m = rows(c->in[0]), n = columns(c->in[0]);
    MsTensor *u = cols_of(c->out[0], 0, k), *v = H(rows_of(c->out[2], 0, k)), *inner = NULL;
    MsTensor *gu = first_columns(c->out[0], c->ct[0], k), *gv = first_columns(H(c->out[2]), H(c->ct[2]), k);
    MsTensor *f = cast(gaps(ms_square(s)), d), *sr = cast(as_row(s), d), *sc = cast(as_column(s), d);
    if (gs) inner = ms_mul(eye(k, d), cast(as_row(gs), d));
    if (gu) {
        MsTensor *x = mm(H(u), gu);
        MsTensor *skew = ms_sub(x, H(x));
        x = ms_mul(ms_mul(skew, f), sr);
        if (ms_dtype_is_complex(d))
            x = ms_add(x, ms_div(scaled(diagonal(skew), 0.5), sr)); /* the phases of u */
        inner = inner ? ms_add(inner, x) : x;
    }
    if (gv) {
        MsTensor *x = mm(H(v), gv);
        x = ms_mul(sc, ms_mul(ms_sub(x, H(x)), f));
        inner = inner ? ms_add(inner, x) : x;
    }
    MsTensor *g = mm(mm(u, inner), H(v));
    if (gu && m > k) {
        MsTensor *rest = ms_div(ms_sub(gu, mm(u, mm(H(u), gu))), sr);
        g = ms_add(g, mm(rest, H(v)));
    }
    if (gv && n > k) {
        MsTensor *rest = ms_div(ms_sub(gv, mm(v, mm(H(v), gv))), sr);
        g = ms_add(g, mm(u, H(rest)));
    }
    c->grad[0] = g;
    return MS_OK;
}
/* x = u diag(s) vh with s descending; `full`: square u and vh. */
MS_OP(
    svd, .sig = "svd(x: floatc, *, full: bool) -> x, _, x", .infer = infer_svd, .vjp = vjp_svd,
    .batch = ms__batch_lead,
    .sample = "f64[3,3]; f64[4,2]; f64[2,3]; f64[4,3] full; f64[3,4] full; f32[2,1,1] full; c128[2,3] full");

/* ---- exponential ---- */

/* exp of [[a^H, g], [0, a^H]] has the wanted derivative in its upper right block. */
static MsStatus vjp_matrix_exp(MsVjp *c)
{
    MsTensor *a = H(c->in[0]), *zero = ms__zeros_like(c->in[0]);
    if (!a || !zero) return ms_error()->code;
    MsTensor *top[2] = {a, c->ct[0]}, *low[2] = {zero, a}, *both[2];
    both[0] = ms_concat(2, top, a->ndim - 1), both[1] = ms_concat(2, low, a->ndim - 1);
    if (!both[0] || !both[1]) return ms_error()->code;
    int64_t n = columns(c->in[0]);
    c->grad[0] = rows_of(cols_of(ms_matrix_exp(ms_concat(2, both, a->ndim - 2)), n, n), 0, n);
    return MS_OK;
}
MS_OP(matrix_exp, .sig = "matrix_exp(x: floatc) -> x", .infer = infer_square, .vjp = vjp_matrix_exp,
      .batch = ms__batch_lead, .sample = "f64[3,3]; f32[2,2,2]; c128[2,2]");
