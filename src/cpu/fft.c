/* fft.c - the Fourier transform: decimation in time by the smallest factor first for lengths with factors up to
 * 31, Bluestein's chirp for the others, in complex128 with exact tables of roots. n log n for every length.
 * Cooley and Tukey (1965); Bluestein (1970). */
#include "core/thread.h"
#include "cpu/copy.h"
#include "op/op.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double _Complex Z;

#define LARGEST 31 /* factor with a direct butterfly */

typedef struct Plan {
    int64_t n;
    const Z *root;  /* exp(-2 pi i k / n), conjugated for the inverse */
    int64_t m;      /* Bluestein: the power of two, else 0 */
    const Z *root2; /* its roots */
    const Z *chirp; /* exp(-pi i k^2 / n) */
    const Z *wave;  /* transform of the conjugated chirp, divided by m */
} Plan;

static void roots(int64_t n, bool inverse, Z *w)
{
    for (int64_t k = 0; k < n; k++) { /* by the octant, so that symmetric roots are equal up to sign */
        int64_t e = 8 * k / n, r = 8 * k - e * n;
        double t = M_PI / 4 * (double)(e % 2 ? n - r : r) / (double)n, c = cos(t), s = sin(t);
        double re = (e + 1) / 2 % 2 ? s : c, im = (e + 1) / 2 % 2 ? c : s;
        if (e >= 2 && e < 6) re = -re;
        if (e >= 4) im = -im;
        w[k] = re - I * (inverse ? -im : im);
    }
}

static int64_t factor_of(int64_t n)
{
    if (n % 4 == 0) return 4;
    for (int64_t p = 2; p <= LARGEST && p <= n; p++)
        if (n % p == 0) return p;
    return 0;
}
static bool smooth(int64_t n)
{
    while (n > 1) {
        int64_t p = factor_of(n);
        if (p == 0) return false;
        n /= p;
    }
    return true;
}

/* y[0..n) <- transform of x[0], x[stride], ...; root has `full` entries, a multiple of n. */
static void transform(int64_t n, const Z *x, int64_t stride, Z *y, const Z *root, int64_t full)
{
    if (n == 1) {
        y[0] = x[0];
        return;
    }
    int64_t p = factor_of(n), m = n / p, step = full / n;
    for (int64_t r = 0; r < p; r++) transform(m, x + r * stride, stride * p, y + r * m, root, full);
    for (int64_t k = 0; k < m; k++) {
        Z t[LARGEST];
        for (int64_t r = 0; r < p; r++) t[r] = r ? y[r * m + k] * root[r * k * step] : y[k];
        if (p == 2) {
            y[k] = t[0] + t[1], y[k + m] = t[0] - t[1];
        } else if (p == 4) {
            Z quarter = root[full / 4];
            Z a = t[0] + t[2], b = t[0] - t[2], c = t[1] + t[3], d = quarter * (t[1] - t[3]);
            y[k] = a + c, y[k + m] = b + d, y[k + 2 * m] = a - c, y[k + 3 * m] = b - d;
        } else {
            for (int64_t q = 0; q < p; q++) {
                Z sum = t[0];
                for (int64_t r = 1; r < p; r++) sum += t[r] * root[q * r % p * (full / p)];
                y[q * m + k] = sum;
            }
        }
    }
}

/* A convolution with the chirp, by transforms of a power of two; work has 2 m elements. */
static void bluestein(const Plan *p, const Z *x, Z *y, Z *work)
{
    Z *a = work, *b = work + p->m;
    for (int64_t k = 0; k < p->m; k++) a[k] = k < p->n ? x[k] * p->chirp[k] : 0;
    transform(p->m, a, 1, b, p->root2, p->m);
    for (int64_t k = 0; k < p->m; k++) b[k] = conj(b[k] * p->wave[k]);
    transform(p->m, b, 1, a, p->root2, p->m);
    for (int64_t k = 0; k < p->n; k++) y[k] = conj(a[k]) * p->chirp[k];
}

/* Fills the tables of a plan into `space`. */
static void plan_fill(Plan *p, bool inverse, Z *space)
{
    roots(p->n, inverse, space);
    p->root = space;
    if (!p->m) return;
    Z *root2 = space + p->n, *chirp = root2 + p->m, *wave = chirp + p->n, *b = wave + p->m;
    roots(p->m, false, root2);
    for (int64_t k = 0, q = 0; k < p->n; q = (q + 2 * k + 1) % (2 * p->n), k++) { /* q = k^2 mod 2n */
        double t = M_PI * (double)q / (double)p->n;
        chirp[k] = cos(t) + (inverse ? 1 : -1) * I * sin(t);
    }
    for (int64_t k = 0; k < p->m; k++) b[k] = 0;
    for (int64_t k = 0; k < p->n; k++) b[k] = b[k ? p->m - k : 0] = conj(chirp[k]);
    transform(p->m, b, 1, wave, root2, p->m);
    for (int64_t k = 0; k < p->m; k++) wave[k] /= (double)p->m;
    p->root2 = root2, p->chirp = chirp, p->wave = wave;
}

typedef struct Job {
    const Plan *plan;
    const Z *x;
    Z *y, *work;
    int64_t inner, count;
} Job;

/* Chunks [begin, end) of eight lines each, with work of their own; line l starts at (l / inner) n inner + l % inner
 * and has stride inner. */
#define LINES 8
static void chunks(void *ctx, int64_t begin, int64_t end)
{
    const Job *j = ctx;
    int64_t n = j->plan->n, room = 2 * n + 2 * j->plan->m;
    for (int64_t chunk = begin; chunk < end; chunk++)
        for (int64_t l = chunk * LINES; l < (chunk + 1) * LINES && l < j->count; l++) {
            const Z *x = j->x + l / j->inner * n * j->inner + l % j->inner;
            Z *to = j->y + (x - j->x), *out = j->work + chunk * room, *in = out + n;
            if (j->plan->m) {
                for (int64_t k = 0; k < n; k++) in[k] = x[k * j->inner];
                bluestein(j->plan, in, out, in + n);
            } else {
                transform(n, x, j->inner, out, j->plan->root, n);
            }
            for (int64_t k = 0; k < n; k++) to[k * j->inner] = out[k];
        }
}

static MsStatus run_fft(MsCall *c)
{
    int axis;
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0]->ndim, &axis));
    int mark = ms_scope_begin();
    MsTensor *x = ms__dense_as(c->in[0], MS_COMPLEX128), *y = x ? ms__out(c, 0) : NULL;
    MsTensor *out = y ? ms_tensor_empty(MS_COMPLEX128, x->ndim, x->shape) : NULL;
    MsStatus st = out ? MS_OK : ms_error()->code;
    if (st == MS_OK && x->numel > 0) {
        Plan p = {.n = x->shape[axis]};
        if (!smooth(p.n))
            for (p.m = 1; p.m < 2 * p.n - 1; p.m *= 2) {
            }
        Job j = {
            .plan = &p, .x = (const Z *)x->data, .y = (Z *)out->data, .inner = 1, .count = x->numel / p.n};
        for (int d = axis + 1; d < x->ndim; d++) j.inner *= x->shape[d];
        int64_t n_chunk = (j.count + LINES - 1) / LINES, tables = 2 * p.n + 3 * p.m;
        int64_t size = n_chunk * (2 * p.n + 2 * p.m);
        MsTensor *space = ms_tensor_empty(MS_COMPLEX128, 1, &tables);
        MsTensor *work = space ? ms_tensor_empty(MS_COMPLEX128, 1, &size) : NULL;
        if (work) {
            plan_fill(&p, c->attr[1].i, (Z *)space->data);
            j.work = (Z *)work->data;
            ms__parallel_for(n_chunk, 1 + 4096 / (LINES * p.n), chunks, &j);
        }
        st = work ? MS_OK : ms_error()->code;
    }
    if (st == MS_OK) st = ms__copy(y, out);
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}
MS_KERNEL(fft, 0, mixed, NULL, run_fft);
