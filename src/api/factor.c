/* factor.c - public names of matrix factorisations, solvers, inverses and norms. numpy's batch rules are here:
 * leading axes broadcast, a right side of one axis less is a vector. */
#include "api/args.h"
#include "core/mem.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- small compositions ---- */

static MsTensor *floating(MsTensor *x)
{
    return x && (dtype_of(x) == MS_BOOL || ms_dtype_is_int(dtype_of(x))) ? ms_cast(x, MS_FLOAT32) : x;
}
static MsTensor *constant(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(dtype_of(like), v) : NULL;
}
static MsTensor *swapped(MsTensor *x)
{
    if (!x) return NULL;
    int64_t perm[MS_MAX_DIM];
    for (int d = 0; d < nd(x); d++) perm[d] = d;
    perm[nd(x) - 1] = nd(x) - 2, perm[nd(x) - 2] = nd(x) - 1;
    return ms_transpose(x, (MsInts){nd(x), perm});
}
static MsTensor *H(MsTensor *x)
{
    x = swapped(x);
    return x && is_complex(x) ? ms_conj(x) : x;
}
static MsTensor *mm(MsTensor *a, MsTensor *b)
{
    return ms_matmul(a, b, false, false);
}
static MsTensor *eye(int64_t n, MsDtype d)
{
    MsTensor *i = ms_arange_int(0, 1, n, MS_INT64);
    return ms_cast(ms_eq(ms__unsqueezed(i, 1), i), d);
}
static MsStatus pair_of(MsApiCall *c, MsTensor *a, MsTensor *b)
{
    MsTensor *both[2] = {a, b};
    return a && b ? ms__api_return_list(c, 2, both) : ms_error()->code;
}
static MsStatus check_matrix(const char *op, const MsTensor *x, bool square)
{
    if (!x) return ms_error()->code;
    if (nd(x) >= 2 && (!square || shape(x)[nd(x) - 1] == shape(x)[nd(x) - 2])) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must be a batch of %smatrices, but got shape %s.", op,
                   square ? "square " : "", ms__shape_text(nd(x), shape(x)));
}
/* The diagonal of the last two axes as the last axis. */
static MsTensor *diagonal(MsTensor *x)
{
    if (!x) return NULL;
    int64_t m = shape(x)[nd(x) - 2], n = shape(x)[nd(x) - 1], k = m < n ? m : n;
    MsTensor *y = ms__narrowed(ms__narrowed(x, nd(x) - 2, 0, k), nd(x) - 1, 0, k);
    return ms_sum(ms_mul(y, eye(k, dtype_of(x))), MS_INTS(-1), false);
}

/* Leading axes of both broadcast against each other. */
static MsStatus broadcast_batch(const char *op, MsTensor **a, MsTensor **b)
{
    int na = nd(*a), nb = nd(*b), n = na > nb ? na : nb;
    int64_t sa[MS_MAX_DIM], sb[MS_MAX_DIM];
    for (int d = 0; d < n; d++) {
        int64_t x = d < n - na ? 1 : shape(*a)[d - n + na], y = d < n - nb ? 1 : shape(*b)[d - n + nb];
        if (d < n - 2 && x != y && x != 1 && y != 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the shapes %s and %s do not broadcast.", op,
                           ms__shape_text(na, shape(*a)), ms__shape_text(nb, shape(*b)));
        sa[d] = d < n - 2 ? (x == 1 ? y : x) : x;
        sb[d] = d < n - 2 ? (x == 1 ? y : x) : y;
    }
    *a = ms_broadcast_to(*a, (MsInts){n, sa});
    *b = ms_broadcast_to(*b, (MsInts){n, sb});
    return *a && *b ? MS_OK : ms_error()->code;
}

static MsTensor *solve(const char *op, MsTensor *a, MsTensor *b)
{
    if (!b || check_matrix(op, a, true) != MS_OK) return NULL;
    bool vector = nd(b) == 1 || (nd(b) == nd(a) - 1 && shape(b)[nd(b) - 1] == shape(a)[nd(a) - 1] &&
                                 memcmp(shape(b), shape(a), (size_t)(nd(b) - 1) * sizeof *shape(b)) == 0);
    if (vector) b = ms__unsqueezed(b, nd(b));
    if (!b || broadcast_batch(op, &a, &b) != MS_OK) return NULL;
    MsTensor *x = ms_solve(a, b);
    return vector ? ms__dropped(x, x ? nd(x) - 1 : 0) : x;
}

static MsTensor *inverse(const char *op, MsTensor *x)
{
    x = floating(x);
    if (!x || check_matrix(op, x, true) != MS_OK) return NULL;
    return ms_solve(x, ms_broadcast_to(eye(shape(x)[nd(x) - 1], dtype_of(x)), (MsInts){nd(x), shape(x)}));
}

/* ---- inverses and solvers ---- */

MS_API(inverse, "ops.inverse Tensor.inverse mint.inverse", "(input: Tensor) -> Tensor")
{
    return R(inverse("inverse", T(0)));
}
MS_API(linalg_inv, "_linalg.inv", "(A: Tensor) -> Tensor")
{
    return R(inverse("inv", T(0)));
}
MS_API_ALSO(linalg_inv_mint, linalg_inv, "mint.linalg.inv", "(input: Tensor) -> Tensor")
MS_API(linalg_solve, "_linalg.solve", "(a: Tensor, b: Tensor) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    return R(solve("solve", floating(a), floating(b)));
}
MS_API(matrix_solve, "ops.matrix_solve", "(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor")
{
    return R(solve("matrix_solve", I(2) ? H(T(0)) : T(0), T(1)));
}

static MsTensor *triangular(const char *op, MsTensor *a, MsTensor *b, bool upper, bool unit)
{
    if (!b || check_matrix(op, a, true) != MS_OK) return NULL;
    bool vector = nd(b) == nd(a) - 1;
    if (vector) b = ms__unsqueezed(b, nd(b));
    if (!b || broadcast_batch(op, &a, &b) != MS_OK) return NULL;
    MsTensor *x = ms_triangular_solve(a, b, upper, unit);
    return vector ? ms__dropped(x, x ? nd(x) - 1 : 0) : x;
}

/* The first result solves; the second is the matrix, as in the original's form. */
MS_API(
    triangular_solve_mint, "mint.triangular_solve",
    "(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> any")
{
    MsTensor *a = I(3) ? swapped(T(1)) : T(1);
    return pair_of(c, a ? triangular("triangular_solve", a, T(0), I(2) != I(3), I(4)) : NULL, T(1));
}
MS_API(triangular_solve_method, "Tensor.triangular_solve",
       "(self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) "
       "-> any")
{
    MsTensor *a = I(3) ? swapped(T(1)) : T(1);
    return pair_of(c, a ? triangular("triangular_solve", a, T(0), I(2) != I(3), I(4)) : NULL, T(1));
}
MS_API(linalg_triangular, "_linalg.triangular",
       "(a: Tensor, b: Tensor, upper: bool, unit: bool, trans: int) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    a = floating(a);
    if (I(4)) a = I(4) == 2 ? H(a) : swapped(a);
    return R(a ? triangular("solve_triangular", a, floating(b), (bool)I(2) != (I(4) != 0), I(3)) : NULL);
}

/* ---- Cholesky ---- */

/* A matrix of which one triangle counts, with the value of that triangle mirrored and the gradient of a matrix
 * that is symmetric: the derivative by a symmetric argument is symmetric. */
static MsTensor *mirrored(MsTensor *x, bool upper)
{
    MsTensor *half = upper ? ms_triu(x, 1) : ms_tril(x, -1);
    MsTensor *full = ms_add(ms_add(half, H(half)), ms_mul(x, eye(shape(x)[nd(x) - 1], dtype_of(x))));
    return ms_add(x, ms_stop_gradient(ms_sub(full, x)));
}

static MsTensor *cholesky(MsTensor *x, bool upper)
{
    x = floating(x);
    if (!x || check_matrix("cholesky", x, true) != MS_OK) return NULL;
    MsTensor *l = ms_cholesky(mirrored(x, false));
    return upper ? H(l) : l;
}
MS_API(cholesky, "ops.cholesky", "(input_x: Tensor, upper: bool = False) -> Tensor")
{
    return R(cholesky(T(0), I(1)));
}
MS_API(cholesky_method, "Tensor.cholesky _linalg.cholesky", "(self: Tensor, upper: bool = False) -> Tensor")
{
    return R(cholesky(T(0), I(1)));
}

/* (l l^H)^-1 b by two triangular solutions. */
static MsTensor *cholesky_solve(MsTensor *l, MsTensor *b, bool upper)
{
    if (check_matrix("cholesky_solve", l, true) != MS_OK) return NULL;
    if (upper) l = H(l);
    MsTensor *y = triangular("cholesky_solve", l, b, false, false);
    return y ? triangular("cholesky_solve", H(l), y, true, false) : NULL;
}
MS_API(cholesky_solve, "ops.cholesky_solve Tensor.cholesky_solve _linalg.cholesky_solve",
       "(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor")
{
    return R(cholesky_solve(T(1), T(0), I(2)));
}
MS_API(cholesky_inverse, "ops.cholesky_inverse Tensor.cholesky_inverse",
       "(input_x: Tensor, upper: bool = False) -> Tensor")
{
    MS_TRY(check_matrix("cholesky_inverse", T(0), true));
    MsTensor *i =
        ms_broadcast_to(eye(shape(T(0))[nd(T(0)) - 1], dtype_of(T(0))), (MsInts){nd(T(0)), shape(T(0))});
    return R(i ? cholesky_solve(T(0), i, I(1)) : NULL);
}

/* ---- LU ---- */

static MsTensor *unit_lower(MsTensor *lu)
{
    int64_t m = shape(lu)[nd(lu) - 2], n = shape(lu)[nd(lu) - 1], k = m < n ? m : n;
    MsTensor *l = ms_tril(ms__narrowed(lu, nd(lu) - 1, 0, k), -1);
    MsTensor *i = ms_arange_int(0, 1, m, MS_INT64), *j = ms_arange_int(0, 1, k, MS_INT64);
    return ms_add(l, ms_cast(ms_eq(ms__unsqueezed(i, 1), j), dtype_of(lu)));
}
static MsTensor *upper_of(MsTensor *lu)
{
    int64_t m = shape(lu)[nd(lu) - 2], n = shape(lu)[nd(lu) - 1];
    return ms_triu(ms__narrowed(lu, nd(lu) - 2, 0, m < n ? m : n), 0);
}

/* The rows' permutation of pivots that count from `base`; read here, so the pivots must have a value. */
static MsTensor *permutation(const char *op, MsTensor *pivots, int64_t m, int64_t base)
{
    int64_t s[MS_MAX_DIM], k = nd(pivots) ? shape(pivots)[nd(pivots) - 1] : 0;
    if (k < 1 || k > m)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', the pivots must be 1 to %lld per matrix, but got shape %s.", op,
                            (long long)m, ms__shape_text(nd(pivots), shape(pivots)));
    memcpy(s, shape(pivots), sizeof s);
    s[nd(pivots) - 1] = m;
    MsTensor *perm = k ? ms_tensor_empty(MS_INT64, nd(pivots), s) : NULL;
    int64_t *at = perm ? ms__malloc((size_t)(pivots->numel + 1) * sizeof *at) : NULL;
    if (!at || ms__tensor_read(pivots, MS_INT64, at) != MS_OK) {
        free(at);
        return NULL;
    }
    for (int64_t b = 0; b < pivots->numel / k; b++) {
        int64_t *to = (int64_t *)ms_tensor_data(perm) + b * m;
        for (int64_t i = 0; i < m; i++) to[i] = i;
        for (int64_t i = 0; i < k; i++) {
            int64_t j = at[b * k + i] - base;
            if (j < 0 || j >= m) {
                MS_FAIL(MS_ERROR_VALUE, "For '%s', pivot %lld is out of range for %lld rows.", op,
                        (long long)(j + base), (long long)m);
                free(at);
                return NULL;
            }
            int64_t t = to[i];
            to[i] = to[j], to[j] = t;
        }
    }
    free(at);
    return perm;
}
/* The matrix p with p[perm[i], i] = 1: a = p (l u) for a[perm] = l u. */
static MsTensor *permutation_matrix(MsTensor *perm, MsDtype d)
{
    int64_t m = perm ? shape(perm)[nd(perm) - 1] : 0;
    MsTensor *i = ms__unsqueezed(ms_arange_int(0, 1, m, MS_INT64), 1);
    return perm ? ms_cast(ms_eq(i, ms__unsqueezed(perm, nd(perm) - 1)), d) : NULL;
}

MS_API(linalg_lu_factor, "_linalg.lu_factor", "(a: Tensor) -> any")
{
    MsTensor *out[3];
    MS_TRY(check_matrix("lu_factor", T(0), false));
    MS_TRY(ms_lu(floating(T(0)), out));
    return pair_of(c, out[0], out[1]);
}
/* p, l, u with a = p l u. */
MS_API(linalg_lu, "_linalg.lu", "(a: Tensor) -> any")
{
    MsTensor *out[3], *y[3];
    MS_TRY(check_matrix("lu", T(0), false));
    MS_TRY(ms_lu(floating(T(0)), out));
    y[0] = permutation_matrix(out[2], dtype_of(out[0]));
    y[1] = unit_lower(out[0]);
    y[2] = upper_of(out[0]);
    return y[0] && y[1] && y[2] ? ms__api_return_list(c, 3, y) : ms_error()->code;
}
MS_API(lu_unpack, "ops.lu_unpack",
       "(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> any")
{
    MsTensor *lu = T(0), *y[3];
    MS_TRY(check_matrix("lu_unpack", lu, false));
    MsTensor *none = ms_full(MS_INTS(0), 0, dtype_of(lu));
    y[0] = I(3) ? permutation_matrix(permutation("lu_unpack", T(1), shape(lu)[nd(lu) - 2], 1), dtype_of(lu))
                : none;
    y[1] = I(2) ? unit_lower(lu) : none;
    y[2] = I(2) ? upper_of(lu) : none;
    return y[0] && y[1] && y[2] ? ms__api_return_list(c, 3, y) : ms_error()->code;
}
MS_API(lu_solve, "ops.lu_solve", "(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor")
{
    MsTensor *b = T(0), *lu = T(1);
    MS_TRY(check_matrix("lu_solve", lu, true));
    MsTensor *perm = permutation("lu_solve", T(2), shape(lu)[nd(lu) - 1], 1);
    MsTensor *p = swapped(permutation_matrix(perm, dtype_of(lu)));
    bool vector = nd(b) == nd(lu) - 1;
    if (vector) b = ms__unsqueezed(b, nd(b));
    MS_TRY(check_matrix("lu_solve", b, false));
    MsTensor *y = p && b ? triangular("lu_solve", lu, mm(p, b), false, true) : NULL;
    y = y ? triangular("lu_solve", lu, y, true, false) : NULL;
    return R(vector ? ms__dropped(y, y ? nd(y) - 1 : 0) : y);
}
MS_API(lu_solve_method, "Tensor.lu_solve", "(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor")
{
    return api_lu_solve(c);
}

/* ---- determinants ---- */

MS_API(det, "ops.det Tensor.det ops.matrix_determinant Tensor.matrix_determinant",
       "(input: Tensor) -> Tensor")
{
    return R(ms_det(floating(T(0))));
}
MS_API(slogdet, "ops.slogdet Tensor.slogdet ops.log_matrix_determinant Tensor.log_matrix_determinant",
       "(input: Tensor) -> any")
{
    MsTensor *out[2];
    MS_TRY(ms_slogdet(floating(T(0)), out));
    return ms__api_return_list(c, 2, out);
}
/* NaN for a negative determinant. */
MS_API(logdet, "ops.logdet Tensor.logdet", "(input: Tensor) -> Tensor")
{
    MsTensor *out[2];
    MS_TRY(ms_slogdet(floating(T(0)), out));
    if (is_complex(out[0])) return R(ms_log(ms_det(T(0))));
    MsTensor *bad = ms_full((MsInts){0, NULL}, NAN, dtype_of(out[1]));
    return R(ms_where(ms_lt(out[0], constant(out[0], 0)), bad, out[1]));
}

/* ---- QR and least squares ---- */

static MsStatus qr(MsApiCall *c, const char *mode, bool complete)
{
    MsTensor *x = floating(T(0)), *out[2];
    MS_TRY(check_matrix("qr", x, false));
    MS_TRY(ms_qr(x, complete, out));
    if (strcmp(mode, "r") == 0) out[0] = ms_full(MS_INTS(0), 0, dtype_of(x));
    return pair_of(c, out[0], out[1]);
}
static MsStatus qr_mode(MsApiCall *c)
{
    const char *mode = ARG(1)->s;
    if (strcmp(mode, "reduced") != 0 && strcmp(mode, "complete") != 0 && strcmp(mode, "r") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'qr', 'mode' must be 'reduced', 'complete' or 'r', but got '%s'.",
                       mode);
    return qr(c, mode, strcmp(mode, "complete") == 0);
}
MS_API(qr, "ops.qr", "(input: Tensor, mode: str = 'reduced') -> any")
{
    if (strcmp(ARG(1)->s, "r") == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'qr', 'mode' must be 'reduced' or 'complete', but got 'r'.");
    return qr_mode(c);
}
MS_API(qr_mint, "mint.linalg.qr _linalg.qr", "(A: Tensor, mode: str = 'reduced') -> any")
{
    return qr_mode(c);
}
MS_API(qr_method, "Tensor.qr", "(self: Tensor, some: bool = True) -> any")
{
    return qr(c, "", !I(1));
}

MS_API(geqrf, "ops.geqrf Tensor.geqrf", "(input: Tensor) -> any")
{
    MsTensor *out[2];
    MS_TRY(ms_geqrf(floating(T(0)), out));
    return ms__api_return_list(c, 2, out);
}

/* (1 - tau v v^H) x for reflection k of a factored matrix; `adjoint`: with conj(tau). */
static MsTensor *reflected(MsTensor *a, MsTensor *tau, int64_t k, MsTensor *x, bool adjoint)
{
    int64_t m = shape(a)[nd(a) - 2];
    MsTensor *i = ms__unsqueezed(ms_arange_int(0, 1, m, MS_INT64), 1),
             *at = ms_full_int((MsInts){0, NULL}, k, MS_INT64);
    MsTensor *v = ms__narrowed(a, nd(a) - 1, k, 1);
    v = ms_where(ms_eq(i, at), constant(a, 1), ms_where(ms_gt(i, at), v, constant(a, 0)));
    MsTensor *t = ms__unsqueezed(ms__narrowed(tau, nd(tau) - 1, k, 1), nd(tau));
    if (t && adjoint && is_complex(t)) t = ms_conj(t);
    return ms_sub(x, ms_mul(t, mm(v, mm(H(v), x))));
}
static MsStatus check_reflections(const char *op, const MsTensor *a, const MsTensor *tau)
{
    MS_TRY(check_matrix(op, a, false));
    if (nd(tau) == nd(a) - 1 && shape(tau)[nd(tau) - 1] <= shape(a)[nd(a) - 1]) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE,
                   "For '%s', the factors of shape %s do not fit the reflections of shape %s.", op,
                   ms__shape_text(nd(tau), shape(tau)), ms__shape_text(nd(a), shape(a)));
}
MS_API(orgqr, "ops.orgqr Tensor.orgqr", "(input: Tensor, input2: Tensor) -> Tensor")
{
    MsTensor *a = T(0), *tau = T(1);
    MS_TRY(check_reflections("orgqr", a, tau));
    int64_t m = shape(a)[nd(a) - 2], n = shape(a)[nd(a) - 1];
    MsTensor *i = ms__unsqueezed(ms_arange_int(0, 1, m, MS_INT64), 1), *j = ms_arange_int(0, 1, n, MS_INT64);
    MsTensor *q = ms_broadcast_to(ms_cast(ms_eq(i, j), dtype_of(a)), (MsInts){nd(a), shape(a)});
    for (int64_t k = shape(tau)[nd(tau) - 1] - 1; k >= 0 && q; k--) q = reflected(a, tau, k, q, false);
    return R(q);
}
/* q x, x q, and with the adjoint of q, for q of the reflections. */
MS_API(ormqr, "ops.ormqr",
       "(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor")
{
    MsTensor *a = T(0), *tau = T(1), *x = T(2);
    MS_TRY(check_reflections("ormqr", a, tau));
    MS_TRY(check_matrix("ormqr", x, false));
    if (!I(3)) x = H(x);
    bool adjoint = (I(4) != 0) == (I(3) != 0);
    int64_t n = shape(tau)[nd(tau) - 1];
    for (int64_t k = 0; k < n && x; k++) x = reflected(a, tau, adjoint ? k : n - 1 - k, x, adjoint);
    return R(I(3) ? x : H(x));
}
MS_API_ALSO(
    ormqr_method, ormqr, "Tensor.ormqr",
    "(self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor")

/* The x of least |a x - b|; of an underdetermined system the shortest one. */
static MsTensor *least_squares(MsTensor *a, MsTensor *b)
{
    MsTensor *out[2];
    bool vector = nd(b) == nd(a) - 1;
    if (vector) b = ms__unsqueezed(b, nd(b));
    int64_t m = shape(a)[nd(a) - 2], n = shape(a)[nd(a) - 1];
    if (!b || shape(b)[nd(b) - 2] != m)
        return b ? MS_FAIL_NULL(MS_ERROR_VALUE,
                                "For 'lstsq', the matrices %s and %s must have equally many rows.",
                                ms__shape_text(nd(a), shape(a)), ms__shape_text(nd(b), shape(b)))
                 : NULL;
    if (ms_qr(m >= n ? a : H(a), false, out) != MS_OK) return NULL;
    MsTensor *x = m >= n ? triangular("lstsq", out[1], mm(H(out[0]), b), true, false)
                         : mm(out[0], triangular("lstsq", H(out[1]), b, false, false));
    return vector ? ms__dropped(x, x ? nd(x) - 1 : 0) : x;
}
MS_API(lstsq, "ops.lstsq Tensor.lstsq", "(input: Tensor, A: Tensor) -> Tensor")
{
    MsTensor *a = floating(T(0)), *b = floating(T(1));
    MS_TRY(check_matrix("lstsq", a, false));
    bool vector = nd(b) == 1;
    MsTensor *x = least_squares(a, b);
    return R(vector ? ms__unsqueezed(x, x ? nd(x) : 0) : x);
}

/* ---- eigenvalues ---- */

MS_API(eigvals, "ops.eigvals", "(A: Tensor) -> Tensor")
{
    MsTensor *out[2];
    MS_TRY(check_matrix("eigvals", T(0), true));
    MS_TRY(ms_eig(floating(T(0)), out));
    return R(out[0]);
}
MS_API(eigvals_method, "Tensor.eigvals", "(self: Tensor) -> Tensor")
{
    return api_eigvals(c);
}
MS_API(linalg_eig, "_linalg.eig", "(a: Tensor) -> any")
{
    MsTensor *out[2];
    MS_TRY(check_matrix("eig", T(0), true));
    MS_TRY(ms_eig(floating(T(0)), out));
    return ms__api_return_list(c, 2, out);
}
MS_API_ALSO(ops_eig, linalg_eig, "ops.eig", "(A: Tensor) -> any")
MS_API(linalg_eigh, "_linalg.eigh", "(a: Tensor, lower: bool = True) -> any")
{
    MsTensor *out[2], *x = floating(T(0));
    MS_TRY(check_matrix("eigh", x, true));
    MS_TRY(ms_eigh(mirrored(x, !I(1)), out));
    return ms__api_return_list(c, 2, out);
}

/* ---- singular values ---- */

/* s, u, v with x = u diag(s) v^H; s alone without the vectors. */
MS_API(svd, "ops.svd Tensor.svd",
       "(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> any")
{
    MsTensor *out[3];
    MS_TRY(check_matrix("svd", T(0), false));
    MS_TRY(ms_svd(floating(T(0)), I(1), out));
    MsTensor *y[3] = {out[1], out[0], H(out[2])};
    return I(2) ? ms__api_return_list(c, 3, y) : R(out[1]);
}

/* The largest (smallest) singular value of each matrix needs no vectors; neither does their sum. */
static MsTensor *singular_values(MsTensor *x)
{
    MsTensor *out[3];
    return ms_svd(x, false, out) == MS_OK ? out[1] : NULL;
}

/* Values below rtol times the largest, or atol, count as zero. */
static MsTensor *cutoff(MsApiCall *c, MsTensor *x, MsTensor *top, int atol, int rtol)
{
    if (!top) return NULL;
    static const double eps[] = {0x1p-10, 0x1p-7, 0x1p-23, 0x1p-52};
    int64_t m = shape(x)[nd(x) - 2], n = shape(x)[nd(x) - 1];
    MsDtype d = dtype_of(top);
    MsTensor *a = GIVEN(atol) ? ms__cast_to(ms__arg_tensor(ARG(atol), top), d) : constant(top, 0);
    MsTensor *r = GIVEN(rtol)
                      ? ms__cast_to(ms__arg_tensor(ARG(rtol), top), d)
                      : constant(top, GIVEN(atol) ? 0 : eps[d - MS_FLOAT16] * (double)(m > n ? m : n));
    return ms_maximum(a, ms_mul(r, top));
}
MS_API(pinv, "ops.pinv",
       "(x: Tensor, *, atol: Tensor|number = None, rtol: Tensor|number = None, hermitian: bool = False) -> "
       "Tensor")
{
    MsTensor *x = floating(T(0)), *out[3];
    MS_TRY(check_matrix("pinv", x, false));
    if (I(3)) { /* eigenvalues of either sign */
        MsTensor *e[2];
        MS_TRY(ms_eigh(mirrored(x, false), e));
        MsTensor *size = ms_abs(e[0]), *top = ms_reduce_max(size, MS_INTS(-1), true);
        MsTensor *keep = ms_gt(size, cutoff(c, x, top, 1, 2)), *one = constant(e[0], 1);
        MsTensor *inv = ms_where(keep, ms_reciprocal(ms_where(keep, e[0], one)), constant(e[0], 0));
        return R(inv ? mm(ms_mul(e[1], ms_cast(ms__unsqueezed(inv, nd(inv) - 1), dtype_of(x))), H(e[1]))
                     : NULL);
    }
    MS_TRY(ms_svd(x, false, out));
    MsTensor *top = ms_reduce_max(out[1], MS_INTS(-1), true), *one = constant(out[1], 1);
    MsTensor *keep = ms_gt(out[1], cutoff(c, x, top, 1, 2));
    MsTensor *inv = ms_where(keep, ms_reciprocal(ms_where(keep, out[1], one)), constant(out[1], 0));
    inv = inv ? ms_cast(ms__unsqueezed(inv, nd(inv) - 1), dtype_of(x)) : NULL;
    return R(mm(ms_mul(H(out[2]), inv), H(out[0])));
}

MS_API(matrix_exp, "ops.matrix_exp", "(input: Tensor) -> Tensor")
{
    return R(ms_matrix_exp(floating(T(0))));
}

/* ---- norms ---- */

/* |x| to a power, summed, and back; the orders 0, 1, 2 and infinity have their own forms. */
MsTensor *ms__vector_norm(MsTensor *x, double p, MsInts axes, bool keep)
{
    MsTensor *a = ms_abs(x);
    if (!a) return NULL;
    if (p == 0) return ms_sum(ms_cast(ms_ne(a, constant(a, 0)), dtype_of(a)), axes, keep);
    if (p == INFINITY) return ms_reduce_max(a, axes, keep);
    if (p == -INFINITY) return ms_reduce_min(a, axes, keep);
    if (p == 1) return ms_sum(a, axes, keep);
    if (p != 2) return ms_pow(ms_sum(ms_pow(a, constant(a, p)), axes, keep), constant(a, 1 / p));
    /* the root has no slope at zero: there the gradient is zero by choice, as everywhere else in the field */
    MsTensor *sum = ms_sum(ms_square(a), axes, keep), *zero = sum ? ms_eq(sum, constant(sum, 0)) : NULL;
    return ms_where(zero, constant(a, 0), ms_sqrt(ms_where(zero, constant(a, 1), sum)));
}

/* x with the two axes last. */
static MsTensor *matrix_last(MsTensor *x, int row, int column)
{
    int64_t perm[MS_MAX_DIM];
    int n = 0;
    for (int d = 0; d < nd(x); d++)
        if (d != row && d != column) perm[n++] = d;
    perm[n++] = row, perm[n++] = column;
    return ms_transpose(x, (MsInts){n, perm});
}

static MsTensor *matrix_norm(const char *op, MsTensor *x, const MsArg *ord, MsInts axes, bool keep)
{
    int row, column;
    if (axes.n != 2 || nd(x) < 2)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', a matrix norm needs two axes, but got %d of a %d-d tensor.", op,
                            axes.n, nd(x));
    if (ms__api_axis(op, axes.v[0], nd(x), &row) != MS_OK ||
        ms__api_axis(op, axes.v[1], nd(x), &column) != MS_OK)
        return NULL;
    if (row == column)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the two axes of a matrix must differ.", op);
    MsTensor *y = NULL, *m = matrix_last(x, row, column);
    bool text = ord->kind == MS_ARG_STR;
    double p = text || ord->kind == MS_ARG_NONE ? 0 : ms__arg_float(ord);
    if (ord->kind == MS_ARG_NONE || (text && strcmp(ord->s, "fro") == 0)) {
        y = ms__vector_norm(m, 2, MS_INTS(-2, -1), false);
    } else if (text && strcmp(ord->s, "nuc") == 0) {
        y = ms_sum(singular_values(m), MS_INTS(-1), false);
    } else if (!text && fabs(p) == 2) {
        MsTensor *s = singular_values(m);
        y = p > 0 ? ms_reduce_max(s, MS_INTS(-1), false) : ms_reduce_min(s, MS_INTS(-1), false);
    } else if (!text && (fabs(p) == 1 || isinf(p))) {
        MsTensor *sum = ms_sum(ms_abs(m), isinf(p) ? MS_INTS(-1) : MS_INTS(-2), false);
        y = p > 0 ? ms_reduce_max(sum, MS_INTS(-1), false) : ms_reduce_min(sum, MS_INTS(-1), false);
    } else {
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', 'ord' must be 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2 for matrices.",
                            op);
    }
    if (keep && y)
        for (int d = 0; d < nd(x); d++)
            if (d == row || d == column) y = ms__unsqueezed(y, d);
    return y;
}

/* ord None, number or text; axes none: all of them, a matrix norm only of a matrix. */
static MsTensor *norm(const char *op, MsTensor *x, const MsArg *ord, MsInts axes, bool keep, MsDtype dtype)
{
    x = ms__cast_to(floating(x), dtype);
    if (!x) return NULL;
    if (ord->kind == MS_ARG_NONE) return ms__vector_norm(x, 2, axes.n > 0 ? axes : MS_INTS_NONE, keep);
    if (axes.n == 2 || (axes.n < 0 && nd(x) == 2))
        return matrix_norm(op, x, ord, axes.n == 2 ? axes : MS_INTS(-2, -1), keep);
    if (ord->kind == MS_ARG_STR || axes.n > 2 || (axes.n < 0 && nd(x) > 2))
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', 'ord' does not fit a vector, or the axes are more than two.", op);
    return ms__vector_norm(x, ms__arg_float(ord), axes.n > 0 ? axes : MS_INTS_NONE, keep);
}

#define AXES(op, k, buf, name)                                                                               \
    int64_t buf[MS_MAX_DIM];                                                                                 \
    MsInts name = INTS(k, buf);                                                                              \
    if (name.n == -2) return ms_error()->code

MS_API(norm, "ops.norm mint.linalg.norm",
       "(A: Tensor, ord: number|str = None, dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) "
       "-> Tensor")
{
    AXES("norm", 2, buf, axes);
    return R(norm("norm", T(0), ARG(1), axes, I(3), DTYPE(4)));
}
MS_API(
    norm_method, "Tensor.norm",
    "(self: Tensor, ord: number|str = None, dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) "
    "-> Tensor")
{
    AXES("norm", 2, buf, axes);
    return R(norm("norm", T(0), ARG(1), axes, I(3), DTYPE(4)));
}
/* The p-norm of all given axes together, whatever their number. */
MS_API(
    norm_mint, "mint.norm",
    "(input: Tensor, p: number|str = 'fro', dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) "
    "-> Tensor")
{
    AXES("norm", 2, buf, axes);
    MsTensor *x = ms__cast_to(floating(T(0)), DTYPE(4));
    if (ARG(1)->kind == MS_ARG_STR && strcmp(ARG(1)->s, "fro") != 0)
        return R(x ? matrix_norm("norm", x, ARG(1), axes.n < 0 ? MS_INTS(-2, -1) : axes, I(3)) : NULL);
    return R(
        x ? ms__vector_norm(x, ARG(1)->kind == MS_ARG_STR ? 2 : F(1), axes.n > 0 ? axes : MS_INTS_NONE, I(3))
          : NULL);
}
MS_API(vector_norm_ops, "ops.vector_norm",
       "(x: Tensor, ord: number = 2, axis: ints = None, keepdims: bool = False, *, dtype: dtype = None) -> "
       "Tensor")
{
    AXES("vector_norm", 2, buf, axes);
    MsTensor *x = ms__cast_to(floating(T(0)), DTYPE(4));
    return R(x ? ms__vector_norm(x, F(1), axes.n > 0 ? axes : MS_INTS_NONE, I(3)) : NULL);
}
MS_API(
    vector_norm_mint, "mint.linalg.vector_norm",
    "(x: Tensor, ord: number = 2, dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) -> Tensor")
{
    return api_vector_norm_ops(c);
}
MS_API(matrix_norm_ops, "ops.matrix_norm",
       "(A: Tensor, ord: number|str = 'fro', axis: ints = (-2, -1), keepdims: bool = False, *, dtype: dtype "
       "= None) "
       "-> Tensor")
{
    AXES("matrix_norm", 2, buf, axes);
    MsTensor *x = ms__cast_to(floating(T(0)), DTYPE(4));
    return R(x ? matrix_norm("matrix_norm", x, ARG(1), axes, I(3)) : NULL);
}
MS_API(matrix_norm_mint, "mint.linalg.matrix_norm",
       "(A: Tensor, ord: number|str = 'fro', dim: ints = (-2, -1), keepdim: bool = False, *, dtype: dtype = "
       "None) "
       "-> Tensor")
{
    return api_matrix_norm_ops(c);
}

/* The norm times the norm of the inverse; of order 2 the ratio of the singular values. */
MS_API(cond, "ops.cond", "(A: Tensor, p: number|str = None) -> Tensor")
{
    MsTensor *x = floating(T(0));
    MS_TRY(check_matrix("cond", x, false));
    bool number = ARG(1)->kind == MS_ARG_INT || ARG(1)->kind == MS_ARG_FLOAT;
    if (!GIVEN(1) || (number && fabs(F(1)) == 2)) {
        MsTensor *s = singular_values(x);
        MsTensor *high = ms_reduce_max(s, MS_INTS(-1), false), *low = ms_reduce_min(s, MS_INTS(-1), false);
        return R(number && F(1) < 0 ? ms_div(low, high) : ms_div(high, low));
    }
    MsTensor *inv = inverse("cond", x);
    return R(inv ? ms_mul(matrix_norm("cond", x, ARG(1), MS_INTS(-2, -1), false),
                          matrix_norm("cond", inv, ARG(1), MS_INTS(-2, -1), false))
                 : NULL);
}

/* ---- shapes of matrices ---- */

static MsTensor *transposed(const char *op, MsTensor *x)
{
    if (nd(x) > 2)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the input must have at most 2 dimensions, but got %d.",
                            op, nd(x));
    return nd(x) < 2 ? x : swapped(x);
}
MS_API(t_name, "ops.t mint.t Tensor.t", "(input: Tensor) -> Tensor")
{
    return R(transposed("t", T(0)));
}
MS_API(adjoint, "ops.adjoint Tensor.adjoint", "(x: Tensor) -> Tensor")
{
    MS_TRY(check_matrix("adjoint", T(0), false));
    return R(H(T(0)));
}
MS_API(trace_diagonal, "_linalg.diagonal", "(x: Tensor) -> Tensor")
{
    return R(diagonal(T(0)));
}
