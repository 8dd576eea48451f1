/* matmul.c - portable matrix products. float32 and float64 go through the packed tiles of gemm.c (half types
 * are widened first), every other dtype through a plain loop over rows. The float32 path also takes the small
 * products that cost less than the call into a library. Operands are never copied for their strides. */
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/gemm.h"
#include "cpu/isa.h"

#include <complex.h>
#include <string.h>

#define SMALL_WORK 16384   /* multiply-adds up to which the own kernel is taken first */
#define THREAD_WORK 131072 /* multiply-adds that are worth a thread */

/* One product per batch index: strides of matrices and of the batch axes (0 where broadcast). */
typedef struct Product {
    int64_t m, n, k, batch;
    int n_batch;
    int64_t shape[MS_MAX_DIM];
    int64_t sa[MS_MAX_DIM], sb[MS_MAX_DIM], sc[MS_MAX_DIM];
    int64_t am, ak, bk, bn, cm, cn;
    const char *a, *b;
    char *c;
    size_t size;
    const void *bias;
    _Atomic(int) status;
} Product;

static void batch_strides(const MsTensor *t, int n_batch, const int64_t *shape, int64_t *out)
{
    int own = t->ndim - 2;
    for (int d = 0; d < n_batch; d++) {
        int e = d - (n_batch - own);
        out[d] = e >= 0 && (t->shape[e] == shape[d]) ? t->strides[e] : 0;
    }
}

static Product product_of(const MsTensor *a, bool ta, const MsTensor *b, bool tb, const MsTensor *c)
{
    Product p = {.size = ms_dtype_size((MsDtype)c->dtype), .a = a->data, .b = b->data, .c = c->data};
    p.n_batch = c->ndim - 2;
    p.batch = 1;
    for (int d = 0; d < p.n_batch; d++) {
        p.shape[d] = c->shape[d];
        p.sc[d] = c->strides[d];
        p.batch *= c->shape[d];
    }
    batch_strides(a, p.n_batch, p.shape, p.sa);
    batch_strides(b, p.n_batch, p.shape, p.sb);
    p.m = c->shape[c->ndim - 2];
    p.n = c->shape[c->ndim - 1];
    p.k = a->shape[a->ndim - 1 - ta];
    p.am = a->strides[a->ndim - 2 + ta];
    p.ak = a->strides[a->ndim - 1 - ta];
    p.bk = b->strides[b->ndim - 2 + tb];
    p.bn = b->strides[b->ndim - 1 - tb];
    p.cm = c->strides[c->ndim - 2];
    p.cn = c->strides[c->ndim - 1];
    return p;
}

/* Byte addresses of the matrices of batch index i. */
static void at_batch(const Product *p, int64_t i, const char **a, const char **b, char **c)
{
    int64_t oa = 0, ob = 0, oc = 0;
    for (int d = p->n_batch - 1; d >= 0; d--) {
        int64_t k = i % p->shape[d];
        i /= p->shape[d];
        oa += k * p->sa[d];
        ob += k * p->sb[d];
        oc += k * p->sc[d];
    }
    int64_t size = (int64_t)p->size;
    *a = p->a + oa * size;
    *b = p->b + ob * size;
    *c = p->c + oc * size;
}

static MsStatus gemm_batch(const Product *p, int64_t i, bool parallel)
{
    const char *a, *b;
    char *c;
    at_batch(p, i, &a, &b, &c);
    MsGemm g = {
        p->m,   p->n, p->k, a, p->am, p->ak, b, p->bk, p->bn, c, p->cm, p->cn, p->size == sizeof(double),
        p->bias};
    return parallel ? ms__gemm_parallel(&g) : ms__gemm_serial(&g);
}

static void gemm_range(void *ctx, int64_t begin, int64_t end)
{
    Product *p = ctx;
    for (int64_t i = begin; i < end; i++)
        if (gemm_batch(p, i, false) != MS_OK) p->status = MS_ERROR_MEMORY;
}

/* Rows of one dtype, [begin, end) over batch * m: sums in a type that wraps for integers. */
#define PLAIN_ROWS(name, T, ACC)                                                                             \
    static void rows_##name(void *ctx, int64_t begin, int64_t end)                                           \
    {                                                                                                        \
        const Product *p = ctx;                                                                              \
        for (int64_t r = begin; r < end; r++) {                                                              \
            const char *a0, *b0;                                                                             \
            char *c0;                                                                                        \
            at_batch(p, r / p->m, &a0, &b0, &c0);                                                            \
            const T *a = (const T *)a0 + r % p->m * p->am;                                                   \
            T *c = (T *)c0 + r % p->m * p->cm;                                                               \
            for (int64_t j = 0; j < p->n; j += 64) {                                                         \
                ACC acc[64] = {0};                                                                           \
                int64_t n = p->n - j < 64 ? p->n - j : 64;                                                   \
                for (int64_t q = 0; q < p->k; q++) {                                                         \
                    const T *b = (const T *)b0 + q * p->bk + j * p->bn;                                      \
                    ACC x = a[q * p->ak];                                                                    \
                    for (int64_t l = 0; l < n; l++) acc[l] += x * (ACC)b[l * p->bn];                         \
                }                                                                                            \
                for (int64_t l = 0; l < n; l++) c[(j + l) * p->cn] = (T)acc[l];                              \
            }                                                                                                \
        }                                                                                                    \
    }
PLAIN_ROWS(u8, uint8_t, uint32_t)
PLAIN_ROWS(u16, uint16_t, uint32_t)
PLAIN_ROWS(u32, uint32_t, uint32_t)
PLAIN_ROWS(u64, uint64_t, uint64_t)
PLAIN_ROWS(c64, float complex, float complex)
PLAIN_ROWS(c128, double complex, double complex)

static MsRangeFn rows_fn(MsDtype dtype)
{
    switch (dtype) {
    case MS_INT8:
    case MS_UINT8: return rows_u8;
    case MS_INT16:
    case MS_UINT16: return rows_u16;
    case MS_INT32:
    case MS_UINT32: return rows_u32;
    case MS_INT64:
    case MS_UINT64: return rows_u64;
    case MS_COMPLEX64: return rows_c64;
    default: return rows_c128;
    }
}

static MsStatus multiply(MsTensor *a, bool ta, MsTensor *b, bool tb, const void *bias, MsTensor *c)
{
    if (c->numel == 0) return MS_OK;
    Product p = product_of(a, ta, b, tb, c);
    p.bias = bias;
    int64_t one = p.m * p.n * p.k + 1;
    if (!ms_dtype_is_float((MsDtype)c->dtype)) {
        ms__parallel_for(p.batch * p.m, 1 + THREAD_WORK / (p.n * p.k + 1), rows_fn((MsDtype)c->dtype), &p);
        return MS_OK;
    }
    if (p.batch > 1 && (p.batch >= ms_thread_count() || one < THREAD_WORK)) {
        ms__parallel_for(p.batch, 1 + THREAD_WORK / one, gemm_range, &p);
        return (MsStatus)p.status;
    }
    for (int64_t i = 0; i < p.batch; i++) MS_TRY(gemm_batch(&p, i, one > 2 * THREAD_WORK));
    return MS_OK;
}

/* The same tensor in the dtype that is computed in, strides kept where it is that already. */
static MsTensor *widened(MsTensor *t, MsDtype dtype)
{
    return t->dtype == dtype ? t : ms__dense_as(t, dtype);
}

static MsStatus run_matmul(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)y->dtype);
    int mark = ms_scope_begin();
    MsTensor *a = widened(c->in[0], dtype), *b = widened(c->in[1], dtype);
    MsTensor *to = y->dtype == dtype ? y : ms__dense_out(y, dtype);
    MsStatus st = a && b && to ? multiply(a, c->attr[0].i, b, c->attr[1].i, NULL, to) : ms_error()->code;
    if (st == MS_OK) st = ms__dense_done(y, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static const char *ok_small(const MsCall *c)
{
    if (c->aval[0].dtype != MS_FLOAT32) return "not float32";
    const MsTensor *a = c->in[0];
    int64_t k = a->shape[a->ndim - 1 - c->attr[0].i], work = k;
    for (int d = 0; d < c->aval[0].ndim; d++) work *= c->aval[0].shape[d];
    return work <= SMALL_WORK ? NULL : "larger than the small kernel is for";
}

MS_KERNEL(matmul, 0, loop, NULL, run_matmul);
MS_KERNEL(matmul, 90, small, ok_small, run_matmul);

/* ---- linear: rows of x times w transposed; the bias is added in place of a second pass over y ---- */

/* x as a matrix of rows, as a view where its leading axes allow it. */
static MsTensor *as_rows(MsTensor *x)
{
    int nd = x->ndim;
    int64_t n = 1, k = x->shape[nd - 1], step = nd > 1 ? x->strides[nd - 2] : k;
    bool regular = true;
    int64_t next = 0;
    for (int d = nd - 2; d >= 0; d--) {
        if (x->shape[d] == 1) continue;
        if (n == 1)
            step = x->strides[d];
        else if (x->strides[d] != next)
            regular = false;
        next = x->strides[d] * x->shape[d];
        n *= x->shape[d];
    }
    if (!regular) {
        x = ms__dense_as(x, (MsDtype)x->dtype);
        if (!x) return NULL;
        step = k;
    }
    return ms__tensor_view(x, 2, (int64_t[]){n, k}, (int64_t[]){step, x->strides[x->ndim - 1]}, 0);
}

static MsStatus run_linear(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)y->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = widened(c->in[0], dtype), *w = widened(c->in[1], dtype), *to = ms__dense_out(y, dtype);
    MsTensor *bias = c->in[2] ? ms__dense_as(c->in[2], dtype) : NULL;
    MsTensor *x2 = x ? as_rows(x) : NULL, *to2 = to ? as_rows(to) : NULL;
    MsStatus st = w && x2 && to2 && (bias || !c->in[2])
                      ? multiply(x2, false, w, true, bias ? bias->data : NULL, to2)
                      : ms_error()->code;
    if (st == MS_OK) st = ms__dense_done(y, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static const char *ok_small_linear(const MsCall *c)
{
    if (c->aval[0].dtype != MS_FLOAT32) return "not float32";
    const MsTensor *w = c->in[1];
    int64_t work = w->shape[1];
    for (int d = 0; d < c->aval[0].ndim; d++) work *= c->aval[0].shape[d];
    return work <= SMALL_WORK ? NULL : "larger than the small kernel is for";
}

/* One row: the weights are read once, which the loops over tiles would pack first. */
static const char *ok_vector(const MsCall *c)
{
    const MsTensor *x = c->in[0], *w = c->in[1];
    if (x->dtype != MS_FLOAT32) return "not float32";
    if (x->numel != w->shape[1] || x->numel == 0) return "more than one row";
    if (!x->contiguous || w->strides[1] != 1 || w->strides[0] < w->shape[1]) return "strides";
    return c->out[0] && !c->out[0]->contiguous ? "strides of the output" : NULL;
}

static MsStatus run_vector(MsCall *c)
{
    MsTensor *y = ms__out(c, 0), *w = c->in[1];
    if (!y) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *bias = c->in[2] ? ms__dense_as(c->in[2], MS_FLOAT32) : NULL;
    MsStatus st = bias || !c->in[2] ? MS_OK : ms_error()->code;
    if (st == MS_OK) {
        MsMatVec p = {.k = w->shape[1],
                      .pitch = w->strides[0],
                      .w = (const float *)w->data,
                      .x = (const float *)c->in[0]->data,
                      .bias = bias ? (const float *)bias->data : NULL,
                      .y = (float *)y->data};
        ms__parallel_for(w->shape[0], 1 + THREAD_WORK / p.k, MS_ISA_PICK(ms__matvec_), &p);
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

MS_KERNEL(linear, 0, loop, NULL, run_linear);
MS_KERNEL(linear, 95, vector, ok_vector, run_vector);
MS_KERNEL(linear, 90, small, ok_small_linear, run_linear);
