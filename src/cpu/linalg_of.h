/* linalg_of.h - dense factorisations of one row-major matrix, for the type T that the includer defines (double or
 * double _Complex) with CONJ, ABS, RE, IM and the name prefix F. Textbook algorithms with the stablest small forms: partial
 * pivoting, Householder reflections, Jacobi rotations (Golub and Van Loan, Matrix Computations, 4th ed.,
 * algorithms 3.4.1, 4.2.1, 5.2.1, 8.5.3 and section 8.6.3). They are bound by n^3 on one core, right for the sizes
 * that frameworks factor; a LAPACK may stand before them as another kernel.
 */

/* a[m,n] = P L U in place; pivot[k] is the row swapped with row k. Returns the parity of the swaps. */
static int F(lu)(int64_t m, int64_t n, T *a, int32_t *pivot)
{
    int odd = 0;
    for (int64_t k = 0; k < m && k < n; k++) {
        int64_t p = k;
        for (int64_t i = k + 1; i < m; i++)
            if (ABS(a[i * n + k]) > ABS(a[p * n + k])) p = i;
        pivot[k] = (int32_t)p;
        if (p != k) {
            odd ^= 1;
            for (int64_t j = 0; j < n; j++) {
                T t = a[k * n + j];
                a[k * n + j] = a[p * n + j];
                a[p * n + j] = t;
            }
        }
        if (a[k * n + k] == 0) continue;
        for (int64_t i = k + 1; i < m; i++) {
            T f = a[i * n + k] /= a[k * n + k];
            if (f == 0) continue;
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= f * a[k * n + j];
        }
    }
    return odd;
}

/* b[n,k] <- a^-1 b for a triangle of a. */
static void F(triangular)(int64_t n, int64_t k, const T *a, T *b, bool upper, bool unit)
{
    for (int64_t s = 0; s < n; s++) {
        int64_t i = upper ? n - 1 - s : s, from = upper ? i + 1 : 0, to = upper ? n : i;
        for (int64_t j = from; j < to; j++) {
            T f = a[i * n + j];
            if (f == 0) continue;
            for (int64_t c = 0; c < k; c++) b[i * k + c] -= f * b[j * k + c];
        }
        if (!unit)
            for (int64_t c = 0; c < k; c++) b[i * k + c] /= a[i * n + i];
    }
}

/* b <- a^-1 b; a is destroyed. False: singular. */
static bool F(solve)(int64_t n, int64_t k, T *a, T *b, int32_t *pivot)
{
    F(lu)(n, n, a, pivot);
    for (int64_t i = 0; i < n; i++)
        if (a[i * n + i] == 0) return false;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k && pivot[i] != i; c++) {
            T t = b[i * k + c];
            b[i * k + c] = b[pivot[i] * k + c];
            b[pivot[i] * k + c] = t;
        }
    F(triangular)(n, k, a, b, false, true);
    F(triangular)(n, k, a, b, true, false);
    return true;
}

/* The lower factor of the Hermitian part of a, in place. False: not positive definite. */
static bool F(cholesky)(int64_t n, T *a)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) a[i * n + j] = (a[i * n + j] + CONJ(a[j * n + i])) / 2;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = j; i < n; i++) {
            T sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= a[i * n + k] * CONJ(a[j * n + k]);
            if (i == j) {
                if (!(RE(sum) > 0) && !isnan(RE(sum))) return false;
                a[j * n + j] = sqrt(RE(sum));
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
        for (int64_t i = 0; i < j; i++) a[i * n + j] = 0;
    }
    return true;
}

/* a[m,n] becomes R above and the reflection vectors below the diagonal: H_k = 1 - tau v v^H, v_k = 1. */
static void F(geqrf)(int64_t m, int64_t n, T *a, T *tau)
{
    for (int64_t k = 0; k < m && k < n; k++) {
        double tail = 0;
        for (int64_t i = k + 1; i < m; i++) tail = hypot(tail, ABS(a[i * n + k]));
        T alpha = a[k * n + k];
        tau[k] = 0;
        if (tail == 0 && IM(alpha) == 0) continue;
        double beta = -copysign(hypot(ABS(alpha), tail), RE(alpha));
        tau[k] = (beta - alpha) / beta;
        for (int64_t i = k + 1; i < m; i++) a[i * n + k] /= alpha - beta;
        a[k * n + k] = beta;
        for (int64_t j = k + 1; j < n; j++) { /* H^H from the left */
            T sum = a[k * n + j];
            for (int64_t i = k + 1; i < m; i++) sum += CONJ(a[i * n + k]) * a[i * n + j];
            sum *= CONJ(tau[k]);
            a[k * n + j] -= sum;
            for (int64_t i = k + 1; i < m; i++) a[i * n + j] -= sum * a[i * n + k];
        }
    }
}

/* The first `cols` columns of H_0 H_1 ... from a[m,n] of geqrf. */
static void F(form_q)(int64_t m, int64_t n, int64_t cols, const T *a, const T *tau, T *q)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < cols; j++) q[i * cols + j] = i == j;
    for (int64_t k = (m < n ? m : n) - 1; k >= 0; k--)
        for (int64_t j = 0; j < cols; j++) {
            T sum = q[k * cols + j];
            for (int64_t i = k + 1; i < m; i++) sum += CONJ(a[i * n + k]) * q[i * cols + j];
            sum *= tau[k];
            q[k * cols + j] -= sum;
            for (int64_t i = k + 1; i < m; i++) q[i * cols + j] -= sum * a[i * n + k];
        }
}

/* The rotation of columns p and q that makes their product g vanish; x and y are the diagonal entries. */
static void F(rotation)(double x, double y, T g, double *c, T *s)
{
    double size = ABS(g), tau = (y - x) / (2 * size);
    double t = (tau < 0 ? -1 : 1) / (fabs(tau) + sqrt(1 + tau * tau));
    *c = 1 / sqrt(1 + t * t);
    *s = t * *c * (g / size);
}

/* p, q <- c p - conj(s) q, s p + c q for vectors of n elements with a stride. */
static void F(rotate)(int64_t n, T *p, T *q, int64_t stride, double c, T s)
{
    for (int64_t i = 0; i < n; i++) {
        T x = p[i * stride], y = q[i * stride];
        p[i * stride] = c * x - CONJ(s) * y;
        q[i * stride] = s * x + c * y;
    }
}

static bool F(finite)(int64_t n, const T *a)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(RE(a[i])) || !isfinite(IM(a[i]))) return false;
    return true;
}

/* Eigenvalues ascending and vectors (columns of v) of the Hermitian part of a, by cyclic Jacobi rotations. */
static void F(eigh)(int64_t n, T *a, double *w, T *v, T *tmp)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            a[i * n + j] = (a[i * n + j] + CONJ(a[j * n + i])) / 2;
            a[j * n + i] = CONJ(a[i * n + j]);
        }
    for (int64_t i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    bool finite = F(finite)(n * n, a);
    for (int sweep = 0; sweep < 60 && finite; sweep++) {
        double off = 0, all = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) *(i == j ? &all : &off) += RE(a[i * n + j] * CONJ(a[i * n + j]));
        if (off <= 1e-34 * (all + off)) break;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double c;
                T s;
                if (ABS(a[p * n + q]) <= 1e-18 * sqrt(all + off)) continue;
                F(rotation)(RE(a[p * n + p]), RE(a[q * n + q]), a[p * n + q], &c, &s);
                F(rotate)(n, a + p, a + q, n, c, s);
                F(rotate)(n, v + p, v + q, n, c, s);
                F(rotate)(n, a + p * n, a + q * n, 1, c, CONJ(s));
                a[p * n + q] = a[q * n + p] = 0;
            }
    }
    for (int64_t i = 0; i < n; i++) w[i] = finite ? RE(a[i * n + i]) : NAN;
    for (int64_t i = 0; i < n; i++) { /* by selection: n is small beside the n^3 above */
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (w[j] < w[least]) least = j;
        double t = w[i];
        w[i] = w[least], w[least] = t;
        for (int64_t r = 0; r < n && least != i; r++) {
            tmp[0] = v[r * n + i];
            v[r * n + i] = v[r * n + least];
            v[r * n + least] = tmp[0];
        }
    }
    for (int64_t i = 0; i < n * n && !finite; i++) v[i] = NAN;
}

/* Columns [from, to) of u (column-major, m rows) as an orthonormal continuation of the columns before. */
static void F(complete)(int64_t m, int64_t from, int64_t to, T *u)
{
    for (int64_t c = from; c < to; c++) {
        int64_t best = 0;
        double most = -1;
        for (int64_t i = 0; i < m; i++) { /* the unit vector that is farthest from their span */
            double rest = 1;
            for (int64_t k = 0; k < c; k++) rest -= RE(u[k * m + i] * CONJ(u[k * m + i]));
            if (rest > most) most = rest, best = i;
        }
        T *x = u + c * m;
        for (int64_t i = 0; i < m; i++) x[i] = i == best;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t k = 0; k < c; k++) {
                T dot = 0;
                for (int64_t i = 0; i < m; i++) dot += CONJ(u[k * m + i]) * x[i];
                for (int64_t i = 0; i < m; i++) x[i] -= dot * u[k * m + i];
            }
        double size = 0;
        for (int64_t i = 0; i < m; i++) size = hypot(size, ABS(x[i]));
        for (int64_t i = 0; i < m; i++) x[i] /= size;
    }
}

/* One-sided Jacobi: u holds the columns of a[m,n], m >= n, column-major with room for `cols`; it becomes the left
 * vectors, v (column-major) the right ones, s the values in descending order. */
static void F(svd)(int64_t m, int64_t n, int64_t cols, T *u, double *s, T *v)
{
    for (int64_t i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    bool finite = F(finite)(m * n, u), turned = finite;
    for (int sweep = 0; sweep < 60 && turned; sweep++) {
        turned = false;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double x = 0, y = 0, c;
                T g = 0, t;
                for (int64_t i = 0; i < m; i++) {
                    x += RE(u[p * m + i] * CONJ(u[p * m + i]));
                    y += RE(u[q * m + i] * CONJ(u[q * m + i]));
                    g += CONJ(u[p * m + i]) * u[q * m + i];
                }
                if (ABS(g) <= 1e-16 * sqrt(x) * sqrt(y) || ABS(g) < 1e-300) continue;
                turned = true;
                F(rotation)(x, y, g, &c, &t);
                F(rotate)(m, u + p * m, u + q * m, 1, c, t);
                F(rotate)(n, v + p * n, v + q * n, 1, c, t);
            }
    }
    for (int64_t j = 0; j < n; j++) {
        s[j] = 0;
        for (int64_t i = 0; i < m; i++) s[j] = hypot(s[j], ABS(u[j * m + i]));
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t most = i;
        for (int64_t j = i + 1; j < n; j++)
            if (s[j] > s[most]) most = j;
        double t = s[i];
        s[i] = s[most], s[most] = t;
        for (int64_t r = 0; r < m && most != i; r++) {
            T x = u[i * m + r];
            u[i * m + r] = u[most * m + r], u[most * m + r] = x;
        }
        for (int64_t r = 0; r < n && most != i; r++) {
            T x = v[i * n + r];
            v[i * n + r] = v[most * n + r], v[most * n + r] = x;
        }
    }
    int64_t rank = 0;
    for (; rank < n && s[rank] > 1e-290 && s[rank] > s[0] * 1e-15 * (double)m; rank++)
        for (int64_t i = 0; i < m; i++) u[rank * m + i] /= s[rank];
    if (finite) F(complete)(m, rank, cols, u);
    for (int64_t i = 0; i < m * cols && !finite; i++) u[i] = NAN;
    for (int64_t i = 0; i < n && !finite; i++) s[i] = NAN;
}

/* c <- a b, all n x n. */
static void F(multiply)(int64_t n, const T *a, const T *b, T *c)
{
    for (int64_t i = 0; i < n * n; i++) c[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            T f = a[i * n + k];
            for (int64_t j = 0; j < n; j++) c[i * n + j] += f * b[k * n + j];
        }
}

/* e <- exp(a): Taylor's series of a / 2^s, whose norm is at most 1/2, then s squarings. a is destroyed. */
static void F(expm)(int64_t n, T *a, T *e, T *term, T *tmp)
{
    double norm = 0;
    int s = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += ABS(a[i * n + j]);
        if (!(sum <= norm)) norm = sum;
    }
    if (isfinite(norm) && norm > 0.5) frexp(norm * 2, &s);
    for (int64_t i = 0; i < n * n; i++) {
        a[i] = a[i] * ldexp(1, -s);
        e[i] = term[i] = i % (n + 1) == 0;
    }
    for (int k = 1; k <= 18; k++) {
        F(multiply)(n, term, a, tmp);
        for (int64_t i = 0; i < n * n; i++) e[i] += term[i] = tmp[i] / k;
    }
    for (int k = 0; k < s; k++) {
        F(multiply)(n, e, e, tmp);
        for (int64_t i = 0; i < n * n; i++) e[i] = tmp[i];
    }
}
