/* linalg.c - kernels of the factorisations: every matrix of a batch as float64 or complex128, factored by
 * linalg_of.h, rounded once to the dtype of the output. float32 inputs therefore give float32's last bit, at twice
 * the time; half precision works at all. */
#include "cpu/copy.h"
#include "op/op.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define T double
#define CONJ(x) (x)
#define ABS(x) fabs(x)
#define RE(x) (x)
#define IM(x) 0.0
#define F(name) real_##name
#include "cpu/linalg_of.h"
#undef T
#undef CONJ
#undef ABS
#undef RE
#undef IM
#undef F
#define T double _Complex
#define CONJ(x) conj(x)
#define ABS(x) cabs(x)
#define RE(x) creal(x)
#define IM(x) cimag(x)
#define F(name) complex_##name
#include "cpu/linalg_of.h"
#undef T
#undef CONJ
#undef ABS
#undef RE
#undef IM
#undef F

typedef double _Complex Z;

/* The tensors of a call in the computing type, and the shape of its matrices. */
typedef struct Work {
    bool is_complex;
    int64_t batch, m, n; /* of the first input */
    MsTensor *in[2], *out[3];
} Work;

/* Inputs dense and in the computing type, outputs as fresh dense tensors. `own` tells which inputs are written. */
static MsStatus begin(MsCall *c, Work *w, unsigned own)
{
    *w = (Work){.is_complex = ms_dtype_is_complex((MsDtype)c->in[0]->dtype), .batch = 1};
    MsDtype d = w->is_complex ? MS_COMPLEX128 : MS_FLOAT64;
    MsTensor *x = c->in[0];
    w->m = x->shape[x->ndim - 2], w->n = x->shape[x->ndim - 1];
    for (int k = 0; k < x->ndim - 2; k++) w->batch *= x->shape[k];
    for (int i = 0; i < c->n_in; i++) {
        if (own >> i & 1) {
            w->in[i] = ms_tensor_empty(d, c->in[i]->ndim, c->in[i]->shape);
            if (!w->in[i]) return ms_error()->code;
            MS_TRY(ms__copy(w->in[i], c->in[i]));
        } else if (!(w->in[i] = ms__dense_as(c->in[i], d))) {
            return ms_error()->code;
        }
    }
    for (int j = 0; j < c->n_out; j++) {
        const MsAval *a = &c->aval[j];
        MsDtype e = ms_dtype_is_int(a->dtype)       ? a->dtype
                    : ms_dtype_is_complex(a->dtype) ? MS_COMPLEX128
                                                    : MS_FLOAT64;
        if (!(w->out[j] = ms_tensor_empty(e, a->ndim, a->shape))) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus finish(MsCall *c, Work *w)
{
    for (int j = 0; j < c->n_out; j++) {
        MsTensor *y = ms__out(c, j);
        if (!y) return ms_error()->code;
        MS_TRY(ms__copy(y, w->out[j]));
    }
    return MS_OK;
}

/* Matrix b of a dense tensor. */
static void *part(const Work *w, MsTensor *t, int64_t b)
{
    return t->data + b * (t->numel / (w->batch ? w->batch : 1)) * (int64_t)ms_dtype_size((MsDtype)t->dtype);
}

/* Scratch of n elements of the computing type in the open scope. */
static void *scratch(const Work *w, int64_t n)
{
    MsTensor *t = ms_tensor_empty(w->is_complex ? MS_COMPLEX128 : MS_FLOAT64, 1, &n);
    return t ? t->data : NULL;
}

typedef MsStatus (*Body)(MsCall *c, Work *w);

static MsStatus run(MsCall *c, unsigned own, Body body)
{
    Work w;
    int mark = ms_scope_begin();
    MsStatus st = begin(c, &w, own);
    if (st == MS_OK && w.batch) st = body(c, &w);
    if (st == MS_OK) st = finish(c, &w);
    ms_scope_end(mark, c->out, st == MS_OK ? c->n_out : 0);
    return st;
}

/* Calls the function of the type; both branches have one signature up to the element type. */
#define CALL(w, name, ...) ((w)->is_complex ? complex_##name(__VA_ARGS__) : real_##name(__VA_ARGS__))

/* ---- solving ---- */

static MsStatus solve(MsCall *c, Work *w)
{
    int64_t n = w->n, k = c->in[1]->shape[c->in[1]->ndim - 1];
    int32_t *pivot = scratch(w, n);
    if (!pivot) return ms_error()->code;
    for (int64_t b = 0; b < w->batch; b++)
        if (!CALL(w, solve, n, k, part(w, w->in[0], b), part(w, w->in[1], b), pivot))
            return MS_FAIL(MS_ERROR_VALUE, "For 'solve', matrix %lld is singular.", (long long)b);
    w->out[0] = w->in[1];
    return MS_OK;
}
static MsStatus run_solve(MsCall *c)
{
    return run(c, 3, solve);
}
MS_KERNEL(solve, 0, lu, NULL, run_solve);

static MsStatus triangular(MsCall *c, Work *w)
{
    int64_t k = c->in[1]->shape[c->in[1]->ndim - 1];
    for (int64_t b = 0; b < w->batch; b++)
        CALL(w, triangular, w->n, k, part(w, w->in[0], b), part(w, w->in[1], b), c->attr[0].i, c->attr[1].i);
    w->out[0] = w->in[1];
    return MS_OK;
}
static MsStatus run_triangular(MsCall *c)
{
    return run(c, 2, triangular);
}
MS_KERNEL(triangular_solve, 0, rows, NULL, run_triangular);

static MsStatus cholesky(MsCall *c, Work *w)
{
    (void)c;
    for (int64_t b = 0; b < w->batch; b++)
        if (!CALL(w, cholesky, w->n, part(w, w->in[0], b)))
            return MS_FAIL(MS_ERROR_VALUE, "For 'cholesky', matrix %lld is not positive definite.",
                           (long long)b);
    w->out[0] = w->in[0];
    return MS_OK;
}
static MsStatus run_cholesky(MsCall *c)
{
    return run(c, 1, cholesky);
}
MS_KERNEL(cholesky, 0, rows, NULL, run_cholesky);

/* ---- LU and determinants ---- */

static MsStatus lu(MsCall *c, Work *w)
{
    (void)c;
    int64_t least = w->m < w->n ? w->m : w->n;
    for (int64_t b = 0; b < w->batch; b++) {
        int32_t *pivot = part(w, w->out[1], b);
        int64_t *perm = part(w, w->out[2], b);
        CALL(w, lu, w->m, w->n, part(w, w->in[0], b), pivot);
        for (int64_t i = 0; i < w->m; i++) perm[i] = i;
        for (int64_t i = 0; i < least; i++) {
            int64_t t = perm[i];
            perm[i] = perm[pivot[i]], perm[pivot[i]] = t;
        }
    }
    w->out[0] = w->in[0];
    return MS_OK;
}
static MsStatus run_lu(MsCall *c)
{
    return run(c, 1, lu);
}
MS_KERNEL(lu, 0, rows, NULL, run_lu);

/* det: one output; slogdet: the sign and the logarithm of the size. */
static MsStatus det(MsCall *c, Work *w)
{
    int64_t n = w->n;
    int32_t *pivot = scratch(w, n);
    if (!pivot) return ms_error()->code;
    for (int64_t b = 0; b < w->batch; b++) {
        void *a = part(w, w->in[0], b);
        Z sign = CALL(w, lu, n, n, a, pivot) ? -1 : 1, product = sign;
        double size = 0;
        for (int64_t i = 0; i < n; i++) {
            Z d = w->is_complex ? ((Z *)a)[i * (n + 1)] : ((double *)a)[i * (n + 1)];
            product = w->is_complex ? product * d : creal(product) * creal(d);
            sign = d == 0          ? 0
                   : w->is_complex ? sign * (d / cabs(d))
                                   : creal(sign) * (creal(d) / fabs(creal(d)));
            size += log(cabs(d));
        }
        if (c->n_out == 2) ((double *)w->out[1]->data)[b] = size;
        if (w->is_complex)
            ((Z *)w->out[0]->data)[b] = c->n_out == 2 ? sign : product;
        else
            ((double *)w->out[0]->data)[b] = creal(c->n_out == 2 ? sign : product);
    }
    return MS_OK;
}
static MsStatus run_det(MsCall *c)
{
    return run(c, 1, det);
}
MS_KERNEL(det, 0, lu, NULL, run_det);
MS_KERNEL(slogdet, 0, lu, NULL, run_det);

/* ---- QR ---- */

static MsStatus qr(MsCall *c, Work *w)
{
    int64_t m = w->m, n = w->n, k = c->aval[0].shape[c->aval[0].ndim - 1], size = w->is_complex ? 16 : 8;
    void *tau = scratch(w, m < n ? m : n);
    if (!tau) return ms_error()->code;
    for (int64_t b = 0; b < w->batch; b++) {
        char *a = part(w, w->in[0], b), *r = part(w, w->out[1], b);
        CALL(w, geqrf, m, n, (void *)a, tau);
        CALL(w, form_q, m, n, k, (void *)a, tau, part(w, w->out[0], b));
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < n; j++)
                if (i <= j)
                    memcpy(r + (i * n + j) * size, a + (i * n + j) * size, (size_t)size);
                else
                    memset(r + (i * n + j) * size, 0, (size_t)size);
    }
    return MS_OK;
}
static MsStatus run_qr(MsCall *c)
{
    return run(c, 1, qr);
}
MS_KERNEL(qr, 0, householder, NULL, run_qr);

static MsStatus geqrf(MsCall *c, Work *w)
{
    (void)c;
    for (int64_t b = 0; b < w->batch; b++)
        CALL(w, geqrf, w->m, w->n, part(w, w->in[0], b), part(w, w->out[1], b));
    w->out[0] = w->in[0];
    return MS_OK;
}
static MsStatus run_geqrf(MsCall *c)
{
    return run(c, 1, geqrf);
}
MS_KERNEL(geqrf, 0, householder, NULL, run_geqrf);

/* ---- eigenvalues and singular values ---- */

static MsStatus eigh(MsCall *c, Work *w)
{
    (void)c;
    void *tmp = scratch(w, 1);
    if (!tmp) return ms_error()->code;
    for (int64_t b = 0; b < w->batch; b++)
        CALL(w, eigh, w->n, part(w, w->in[0], b), part(w, w->out[0], b), part(w, w->out[1], b), tmp);
    return MS_OK;
}
static MsStatus run_eigh(MsCall *c)
{
    return run(c, 1, eigh);
}
MS_KERNEL(eigh, 0, jacobi, NULL, run_eigh);

static Z get(const Work *w, const void *a, int64_t i)
{
    return w->is_complex ? ((const Z *)a)[i] : ((const double *)a)[i];
}
static void set(const Work *w, void *a, int64_t i, Z v)
{
    if (w->is_complex)
        ((Z *)a)[i] = v;
    else
        ((double *)a)[i] = creal(v);
}

/* A wide matrix is factored as its adjoint: a^H = V s U^H. */
static MsStatus svd(MsCall *c, Work *w)
{
    int64_t m = w->m, n = w->n, cols = c->aval[0].shape[c->aval[0].ndim - 1], nu = cols;
    int64_t rows = c->aval[2].shape[c->aval[2].ndim - 2];
    bool wide = m < n;
    int64_t tall = wide ? n : m, few = wide ? m : n, room = wide ? rows : nu;
    void *u = scratch(w, tall * room), *v = scratch(w, few * few);
    if (!u || !v) return ms_error()->code;
    for (int64_t b = 0; b < w->batch; b++) {
        void *a = part(w, w->in[0], b), *x = part(w, w->out[0], b), *y = part(w, w->out[2], b);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                if (wide)
                    set(w, u, i * n + j, conj(get(w, a, i * n + j)));
                else
                    set(w, u, j * m + i, get(w, a, i * n + j));
        CALL(w, svd, tall, few, room, u, part(w, w->out[1], b), v);
        const void *left = wide ? v : u, *right = wide ? u : v; /* column-major */
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < nu; j++) set(w, x, i * nu + j, get(w, left, j * m + i));
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < n; j++) set(w, y, i * n + j, conj(get(w, right, i * n + j)));
    }
    return MS_OK;
}
static MsStatus run_svd(MsCall *c)
{
    return run(c, 0, svd);
}
MS_KERNEL(svd, 0, jacobi, NULL, run_svd);

/* ---- the general eigenproblem, in complex numbers ---- */

/* h <- Q^H h Q upper Hessenberg, z <- Q. */
static void hessenberg(int64_t n, Z *h, Z *z, Z *v)
{
    for (int64_t i = 0; i < n * n; i++) z[i] = i % (n + 1) == 0;
    for (int64_t k = 0; k + 2 < n; k++) {
        double size = 0, norm = 0;
        for (int64_t i = k + 1; i < n; i++) size = hypot(size, cabs(h[i * n + k]));
        if (size == 0) continue;
        for (int64_t i = 0; i < n; i++) v[i] = i > k ? h[i * n + k] : 0;
        Z first = v[k + 1];
        v[k + 1] += first == 0 ? size : size * first / cabs(first);
        for (int64_t i = k + 1; i < n; i++) norm += creal(v[i] * conj(v[i]));
        for (int64_t j = 0; j < n; j++) { /* from the left */
            Z dot = 0;
            for (int64_t i = k + 1; i < n; i++) dot += conj(v[i]) * h[i * n + j];
            for (int64_t i = k + 1; i < n; i++) h[i * n + j] -= 2 * dot / norm * v[i];
        }
        for (int64_t i = 0; i < n; i++) { /* from the right */
            Z dot = 0, too = 0;
            for (int64_t j = k + 1; j < n; j++) dot += h[i * n + j] * v[j], too += z[i * n + j] * v[j];
            for (int64_t j = k + 1; j < n; j++) {
                h[i * n + j] -= 2 * dot / norm * conj(v[j]);
                z[i * n + j] -= 2 * too / norm * conj(v[j]);
            }
        }
    }
}

/* One QR step with shift on rows and columns [l, hi] of the Schur form. */
static void qr_step(int64_t n, Z *h, Z *z, int64_t l, int64_t hi, Z shift, Z *cs)
{
    for (int64_t i = l; i <= hi; i++) h[i * n + i] -= shift;
    for (int64_t k = l; k < hi; k++) {
        Z x = h[k * n + k], y = h[(k + 1) * n + k];
        double r = hypot(cabs(x), cabs(y));
        Z c = r == 0 ? 1 : x / r, s = r == 0 ? 0 : y / r;
        cs[2 * k] = c, cs[2 * k + 1] = s;
        for (int64_t j = k; j < n; j++) {
            Z p = h[k * n + j], q = h[(k + 1) * n + j];
            h[k * n + j] = conj(c) * p + conj(s) * q;
            h[(k + 1) * n + j] = c * q - s * p;
        }
    }
    for (int64_t k = l; k < hi; k++) {
        Z c = cs[2 * k], s = cs[2 * k + 1];
        for (int64_t i = 0; i < n; i++) {
            Z p, q;
            if (i <= k + 1) {
                p = h[i * n + k], q = h[i * n + k + 1];
                h[i * n + k] = p * c + q * s;
                h[i * n + k + 1] = q * conj(c) - p * conj(s);
            }
            p = z[i * n + k], q = z[i * n + k + 1];
            z[i * n + k] = p * c + q * s;
            z[i * n + k + 1] = q * conj(c) - p * conj(s);
        }
    }
    for (int64_t i = l; i <= hi; i++) h[i * n + i] += shift;
}

/* The Schur form h <- Z^H h Z, upper triangular; false: no convergence. */
static bool schur(int64_t n, Z *h, Z *z, Z *tmp)
{
    hessenberg(n, h, z, tmp);
    int stuck = 0;
    for (int64_t hi = n - 1; hi > 0;) {
        int64_t l = hi;
        for (; l > 0; l--) {
            double scale = cabs(h[l * n + l]) + cabs(h[(l - 1) * n + l - 1]);
            if (cabs(h[l * n + l - 1]) <= 2e-16 * scale || cabs(h[l * n + l - 1]) < 1e-300) {
                h[l * n + l - 1] = 0;
                break;
            }
        }
        if (l == hi) {
            hi--, stuck = 0;
            continue;
        }
        if (++stuck > 300) return false;
        Z a = h[(hi - 1) * n + hi - 1], b = h[(hi - 1) * n + hi], e = h[hi * n + hi - 1], d = h[hi * n + hi];
        Z half = (a - d) / 2, root = csqrt(half * half + b * e);
        Z one = d - b * e / (half + root), two = d - b * e / (half - root);
        Z shift = half + root == 0 ? two : half - root == 0 ? one : cabs(one - d) < cabs(two - d) ? one : two;
        if (half + root == 0 && half - root == 0) shift = d;
        if (stuck % 10 == 0) shift = cabs(e) + cabs(h[hi * n + hi]);
        qr_step(n, h, z, l, hi, shift, tmp);
    }
    return true;
}

/* Eigenvectors (columns of v) of the triangle h, carried back by z; of length one, the largest entry real. */
static void eigenvectors(int64_t n, const Z *h, const Z *z, Z *v, Z *x)
{
    double norm = 0;
    for (int64_t i = 0; i < n * n; i++) norm = fmax(norm, cabs(h[i]));
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = k; i >= 0; i--) {
            Z sum = 0, gap = h[i * n + i] - h[k * n + k];
            for (int64_t j = i + 1; j <= k; j++) sum -= h[i * n + j] * x[j];
            if (cabs(gap) < 1e-16 * norm) gap = 1e-16 * norm + 1e-300;
            x[i] = i == k ? 1 : sum / gap;
        }
        double size = 0, most = 0;
        Z top = 1;
        for (int64_t i = 0; i < n; i++) {
            Z sum = 0;
            for (int64_t j = 0; j <= k; j++) sum += z[i * n + j] * x[j];
            v[i * n + k] = sum;
            size = hypot(size, cabs(sum));
            if (cabs(sum) > most * (1 + 1e-12)) most = cabs(sum), top = sum / cabs(sum);
        }
        for (int64_t i = 0; i < n; i++) v[i * n + k] = v[i * n + k] / (size * top);
    }
}

static MsStatus run_eig(MsCall *c)
{
    Work w;
    int mark = ms_scope_begin();
    MsStatus st = begin(c, &w, 0);
    int64_t n = st == MS_OK ? w.n : 0, room = 2 * n * n + 4 * n + 4;
    MsTensor *space = st == MS_OK ? ms_tensor_empty(MS_COMPLEX128, 1, &room) : NULL;
    if (!space) st = ms_error()->code;
    for (int64_t b = 0; st == MS_OK && b < w.batch; b++) {
        Z *h = (Z *)space->data, *z = h + n * n, *tmp = z + n * n;
        Z *value = part(&w, w.out[0], b), *vector = part(&w, w.out[1], b);
        const void *a = part(&w, w.in[0], b);
        double norm = 0;
        for (int64_t i = 0; i < n * n; i++) h[i] = get(&w, a, i), norm = fmax(norm, cabs(h[i]));
        bool ok = complex_finite(n * n, h) && schur(n, h, z, tmp);
        if (ok) eigenvectors(n, h, z, vector, tmp);
        for (int64_t i = 0; i < n; i++) {
            value[i] = ok ? h[i * n + i] : NAN;
            if (!w.is_complex && fabs(cimag(value[i])) < 4e-16 * norm * (double)n) value[i] = creal(value[i]);
        }
        for (int64_t i = 0; i < n * n && !ok; i++) vector[i] = NAN;
    }
    if (st == MS_OK) st = finish(c, &w);
    ms_scope_end(mark, c->out, st == MS_OK ? c->n_out : 0);
    return st;
}
MS_KERNEL(eig, 0, schur, NULL, run_eig);

/* ---- functions ---- */

static MsStatus matrix_exp(MsCall *c, Work *w)
{
    (void)c;
    void *term = scratch(w, w->n * w->n), *tmp = scratch(w, w->n * w->n);
    if (!term || !tmp) return ms_error()->code;
    for (int64_t b = 0; b < w->batch; b++)
        CALL(w, expm, w->n, part(w, w->in[0], b), part(w, w->out[0], b), term, tmp);
    return MS_OK;
}
static MsStatus run_matrix_exp(MsCall *c)
{
    return run(c, 1, matrix_exp);
}
MS_KERNEL(matrix_exp, 0, taylor, NULL, run_matrix_exp);
