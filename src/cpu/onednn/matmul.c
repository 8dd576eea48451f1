/* matmul.c - matrix products by oneDNN. Operands pass with their strides when each matrix has one axis of
 * step one and the other of at least its length; anything else is made dense first. Batch axes that only one
 * operand has are folded into the rows where memory allows it, so that activations times a weight are one
 * large product. */
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/onednn/dnn.h"

#include <string.h>

extern const MsKernel ms_kernel_matmul_loop, ms_kernel_linear_loop;

/* A matrix batch as oneDNN gets it. */
typedef struct Operand {
    int64_t dims[MS_MAX_DIM], strides[MS_MAX_DIM];
} Operand;

typedef struct Problem {
    int ndim;
    MsDtype dtype;
    Operand a, b, y;
    bool bias;
} Problem;

/* Whether a matrix of rows x cols with these strides is one that the fast implementations take. */
static bool plain(int64_t rows, int64_t cols, int64_t rs, int64_t cs)
{
    if (rows == 1 || cols == 1) return rows * cols == 1 || (rows == 1 ? cs : rs) == 1;
    return (cs == 1 && rs >= cols) || (rs == 1 && cs >= rows);
}

static bool plain_tensor(const MsTensor *t)
{
    int nd = t->ndim;
    for (int d = 0; d < nd - 2; d++)
        if (t->strides[d] < 0) return false;
    return plain(t->shape[nd - 2], t->shape[nd - 1], t->strides[nd - 2], t->strides[nd - 1]);
}

/* t in `dtype`, its strides kept when the library likes them. */
static MsTensor *usable(MsTensor *t, MsDtype dtype)
{
    if (t->dtype == dtype && plain_tensor(t)) return t;
    int nd = t->ndim;
    int64_t strides[MS_MAX_DIM];
    ms__row_major(nd, t->shape, strides);
    if (t->strides[nd - 2] == 1 && t->strides[nd - 1] != 1) { /* a transposed matrix stays one */
        strides[nd - 2] = 1;
        strides[nd - 1] = t->shape[nd - 2];
    }
    MsTensor *u = ms__tensor_dense(dtype, nd, t->shape, strides);
    return u && ms__copy(u, t) == MS_OK ? u : NULL;
}

/* Dimensions and strides of t, transposed if asked, batch axes aligned to ndim; broadcast ones get size one.
 */
static Operand operand(const MsTensor *t, bool transpose, int ndim)
{
    Operand o;
    int lead = ndim - t->ndim;
    for (int d = 0; d < ndim; d++) {
        int e = d < ndim - 2 || !transpose ? d - lead : ndim - 2 + ndim - 1 - d - lead;
        o.dims[d] = e < 0 ? 1 : t->shape[e];
        o.strides[d] = e < 0 ? 0 : t->strides[e];
        if (d < ndim - 2 && o.strides[d] == 0) o.dims[d] = 1;
    }
    return o;
}

/* Joins neighbouring batch axes that all operands step through evenly, and drops those of size one. */
static void simplify(Problem *p)
{
    Operand *all[] = {&p->a, &p->b, &p->y};
    for (int d = 0; d < p->ndim - 2; d++) {
        if (p->y.dims[d] == 1) {
            for (int k = 0; k < 3; k++) {
                memmove(all[k]->dims + d, all[k]->dims + d + 1, (size_t)(p->ndim - d - 1) * sizeof(int64_t));
                memmove(all[k]->strides + d, all[k]->strides + d + 1,
                        (size_t)(p->ndim - d - 1) * sizeof(int64_t));
            }
            p->ndim--;
            d--;
        }
    }
    for (int d = 0; d + 1 < p->ndim - 2; d++) {
        bool even = true;
        for (int k = 0; k < 3; k++) {
            const Operand *o = all[k];
            bool both_one = o->dims[d] == 1 && o->dims[d + 1] == 1;
            even &= both_one || (o->dims[d] == p->y.dims[d] && o->dims[d + 1] == p->y.dims[d + 1] &&
                                 o->strides[d] == o->strides[d + 1] * o->dims[d + 1]);
        }
        if (!even) continue;
        for (int k = 0; k < 3; k++) {
            Operand *o = all[k];
            o->dims[d + 1] *= o->dims[d];
            memmove(o->dims + d, o->dims + d + 1, (size_t)(p->ndim - d - 1) * sizeof(int64_t));
            memmove(o->strides + d, o->strides + d + 1, (size_t)(p->ndim - d - 1) * sizeof(int64_t));
        }
        p->ndim--;
        d--;
    }
    int m = p->ndim - 2; /* one batch axis in front of the rows, b without it: one tall product */
    if (p->ndim == 3 && p->b.dims[0] == 1 && p->a.dims[0] == p->y.dims[0] &&
        p->a.strides[0] == p->a.strides[m] * p->a.dims[m] &&
        p->y.strides[0] == p->y.strides[m] * p->y.dims[m]) {
        for (int k = 0; k < 3; k++) {
            Operand *o = all[k];
            if (k != 1) o->dims[1] *= o->dims[0];
            memmove(o->dims, o->dims + 1, 2 * sizeof(int64_t));
            memmove(o->strides, o->strides + 1, 2 * sizeof(int64_t));
        }
        p->ndim = 2;
    }
}

static dnnl_status_t build(const void *ctx, dnnl_engine_t engine, const_dnnl_primitive_attr_t attr,
                           MsDnnBuild *b)
{
    const Problem *p = ctx;
    const Operand *o[] = {&p->a, &p->b, NULL, &p->y};
    static const int args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    static const dnnl_query_t queries[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_weights_md,
                                           dnnl_query_dst_md};
    dnnl_memory_desc_t md[4] = {NULL};
    for (int k = 0; k < 4; k++) {
        dnnl_status_t st;
        if (k == 2 && !p->bias) continue;
        if (k == 2) {
            int64_t dims[MS_MAX_DIM], strides[MS_MAX_DIM];
            for (int d = 0; d < p->ndim; d++) dims[d] = 1, strides[d] = p->y.dims[p->ndim - 1];
            dims[p->ndim - 1] = p->y.dims[p->ndim - 1];
            strides[p->ndim - 1] = 1;
            st = ms__dnn_md(&md[k], p->dtype, p->ndim, dims, strides);
        } else {
            st = ms__dnn_md(&md[k], p->dtype, p->ndim, o[k]->dims, o[k]->strides);
        }
        if (st != dnnl_success) return st;
        b->arg[b->n_arg].arg = args[k];
        b->arg[b->n_arg].md = md[k];
        b->arg[b->n_arg].query = queries[k];
        b->arg[b->n_arg].output = k == 3;
        b->n_arg++;
    }
    return dnnl_matmul_primitive_desc_create(&b->pd, engine, md[0], md[1], md[2], md[3], attr);
}

static void key_operand(MsDnnKey *key, const Problem *p, const Operand *o)
{
    ms__dnn_key_ints(key, p->ndim, o->dims);
    ms__dnn_key_ints(key, p->ndim, o->strides);
}

static MsStatus multiply(MsTensor *a, bool ta, MsTensor *b, bool tb, MsTensor *bias, MsTensor *y,
                         bool *unsupported)
{
    int nd = y->ndim;
    /* A result whose columns are contiguous is the product of the transposed operands. */
    bool turn = !bias && y->strides[nd - 1] != 1 && y->strides[nd - 2] == 1 && y->shape[nd - 1] > 1;
    Problem p = {.ndim = nd, .dtype = (MsDtype)y->dtype, .bias = bias != NULL};
    p.a = turn ? operand(b, !tb, nd) : operand(a, ta, nd);
    p.b = turn ? operand(a, !ta, nd) : operand(b, tb, nd);
    p.y = operand(y, turn, nd);
    for (int d = 0; d < nd - 2; d++) p.y.dims[d] = y->shape[d];
    simplify(&p);
    MsDnnKey key;
    ms__dnn_key(&key, MS_DNN_MATMUL);
    ms__dnn_key_int(&key, p.ndim | p.dtype << 8 | p.bias << 16);
    key_operand(&key, &p, &p.a);
    key_operand(&key, &p, &p.b);
    key_operand(&key, &p, &p.y);
    void *data[4];
    int n = 0;
    data[n++] = turn ? b->data : a->data;
    data[n++] = turn ? a->data : b->data;
    if (bias) data[n++] = bias->data;
    data[n++] = y->data;
    return ms__dnn_run(&key, build, &p, data, NULL, unsupported);
}

enum {
    MATMUL,
    LINEAR
};

static MsStatus product(MsCall *c, MsTensor *y, MsDtype dtype, bool *unsupported)
{
    MsTensor *a = usable(c->in[0], dtype), *b = usable(c->in[1], dtype);
    MsTensor *to = y->dtype == dtype && plain_tensor(y) ? y : ms_tensor_empty(dtype, y->ndim, y->shape);
    if (!a || !b || !to) return ms_error()->code;
    MS_TRY(multiply(a, c->attr[0].i, b, c->attr[1].i, NULL, to, unsupported));
    *unsupported = *unsupported || ms__dnn_doubtful(to);
    return *unsupported ? MS_OK : ms__dense_done(y, to);
}

static const char *ok(const MsCall *c)
{
    MsDtype dtype = c->aval[0].dtype;
    if (ms__dnn_dtype(dtype) == dnnl_data_type_undef) return "dtype";
    for (int d = 0; d < c->aval[0].ndim; d++)
        if (c->aval[0].shape[d] == 0) return "empty";
    for (int i = 0; i < 2; i++)
        if (c->in[i]->numel == 0) return "empty";
    return NULL;
}

/* The leading axes as rows, or NULL where they do not follow each other evenly. */
static MsTensor *as_rows(MsTensor *t)
{
    int64_t count, pitch, k = t->shape[t->ndim - 1];
    if (t->strides[t->ndim - 1] != 1 || !ms__collapse(t, 0, t->ndim - 1, &count, &pitch) || pitch < k)
        return NULL;
    return ms__tensor_view(t, 2, (int64_t[]){count, k}, (int64_t[]){pitch, 1}, 0);
}

/* t in `dtype` as rows, copied where need be. */
static MsTensor *rows(MsTensor *t, MsDtype dtype)
{
    if (t->ndim == 2) return usable(t, dtype);
    MsTensor *r = t->dtype == dtype ? as_rows(t) : NULL;
    if (r || ms__failed()) return r;
    t = ms__dense_as(t, dtype);
    int64_t k = t ? t->shape[t->ndim - 1] : 0;
    return t ? ms__tensor_view(t, 2, (int64_t[]){t->numel / k, k}, (int64_t[]){k, 1}, 0) : NULL;
}

static MsStatus rows_product(MsCall *c, MsTensor *y, MsDtype dtype, bool *unsupported)
{
    MsTensor *x = rows(c->in[0], dtype);
    MsTensor *w = usable(c->in[1], dtype), *bias = c->in[2] ? ms__dense_as(c->in[2], dtype) : NULL;
    MsTensor *to2 = y->dtype == dtype ? as_rows(y) : NULL, *to = to2 ? y : ms__dense_out(y, dtype);
    if (to && !to2) to2 = rows(to, dtype);
    if (!x || !w || !to2 || (!bias && c->in[2])) return ms_error()->code;
    MS_TRY(multiply(x, false, w, true, bias, to2, unsupported));
    *unsupported = *unsupported || ms__dnn_doubtful(to2);
    return *unsupported ? MS_OK : ms__dense_done(y, to);
}

static MsStatus compute(MsCall *c, int which, MsTensor *y, MsDtype dtype, bool *unsupported)
{
    return which == LINEAR ? rows_product(c, y, dtype, unsupported) : product(c, y, dtype, unsupported);
}

static MsStatus run(MsCall *c, int which, const MsKernel *reference)
{
    MsTensor *y = ms__out(c, 0);
    return y ? ms__dnn_call(c, which, y, compute, reference) : ms_error()->code;
}
static MsStatus run_matmul(MsCall *c)
{
    return run(c, MATMUL, &ms_kernel_matmul_loop);
}
static MsStatus run_linear(MsCall *c)
{
    return run(c, LINEAR, &ms_kernel_linear_loop);
}

MS_KERNEL(matmul, 50, onednn, ok, run_matmul);
MS_KERNEL(linear, 50, onednn, ok, run_linear);
