/* batch.c - batch normalisation of channels-last float32 and bfloat16 activations, alone and with the operators
 * around it (see op/norm_act.c). The statistics take one pass over memory, the gradient two. Other layouts and
 * dtypes go to the loops of norm.c; the combined operators fall back to the single ones one after the other. */
#include "cpu/batch.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

#define STREAM ((int64_t)24 << 20) /* bytes of a result that no cache holds until it is read again */
#define N_VEC 6

typedef struct Work {
    MsBatchNorm p;
    int half;
    int64_t blocks, grain;
    float *vec[N_VEC];
    double *sum; /* [2][c] */
    char *block; /* one allocation behind all of these */
    size_t nbytes;
} Work;

enum {
    MEAN,
    SCALE,
    SHIFT,
    BY,
    TIMES,
    PLUS
};

static MsStatus begin(Work *w, const MsTensor *x)
{
    int64_t c = x->shape[1], rows = c ? x->numel / c : 0;
    *w = (Work){.p = {.rows = rows, .c = c}, .half = x->dtype == MS_BFLOAT16};
    w->blocks = (rows + MS_BATCH_ROWS - 1) / MS_BATCH_ROWS;
    w->grain = 1 + 16384 / (MS_BATCH_ROWS * c + 1);
    w->p.stream = x->numel * (w->half ? 2 : 4) >= STREAM && c * (w->half ? 2 : 4) % 64 == 0;
    size_t partial = (size_t)(w->blocks + 1) * 2 * (size_t)c * sizeof(double);
    w->nbytes = partial + N_VEC * (size_t)c * sizeof(float);
    w->block = ms__alloc(w->nbytes);
    if (!w->block) return MS_ERROR_MEMORY;
    w->p.partial = (double *)w->block;
    w->sum = w->p.partial + w->blocks * 2 * c;
    for (int k = 0; k < N_VEC; k++) w->vec[k] = (float *)(w->sum + 2 * c) + k * c;
    w->p.mean = w->vec[MEAN];
    w->p.scale = w->vec[SCALE];
    w->p.shift = w->vec[SHIFT];
    w->p.by = w->vec[BY];
    w->p.times = w->vec[TIMES];
    w->p.plus = w->vec[PLUS];
    return MS_OK;
}

static void end(Work *w)
{
    if (w->block) ms__free(w->block, w->nbytes);
}

static void each(Work *w, MsBatchNormFn fn)
{
    ms__parallel_pieces(w->blocks, w->grain, fn, &w->p);
}

/* Mean and biased variance from those of the blocks. */
static void merge(Work *w, double *mean, double *var)
{
    int64_t n = w->p.c;
    const double *part = w->p.partial;
    for (int64_t c = 0; c < n; c++) mean[c] = var[c] = 0;
    for (int64_t b = 0; b < w->blocks; b++) {
        int64_t last = (b + 1) * MS_BATCH_ROWS > w->p.rows ? w->p.rows - b * MS_BATCH_ROWS : MS_BATCH_ROWS;
        for (int64_t c = 0; c < n; c++) mean[c] += (double)last * part[b * 2 * n + c];
    }
    for (int64_t c = 0; c < n; c++) mean[c] /= (double)w->p.rows;
    for (int64_t b = 0; b < w->blocks; b++) {
        int64_t last = (b + 1) * MS_BATCH_ROWS > w->p.rows ? w->p.rows - b * MS_BATCH_ROWS : MS_BATCH_ROWS;
        for (int64_t c = 0; c < n; c++) {
            double d = part[b * 2 * n + c] - mean[c];
            var[c] += part[(b * 2 + 1) * n + c] + (double)last * d * d;
        }
    }
    for (int64_t c = 0; c < n; c++) {
        var[c] /= (double)w->p.rows;
        if (var[c] < 0) var[c] = 0;
    }
}

/* Gamma, beta, mean and variance as they lie in memory: float32, or all float64. */
typedef struct Four {
    const void *v[4];
    bool wide;
} Four;

static void set_affine(Work *w, const Four *f, double eps)
{
    (MS_ISA_PICK(&ms__batch_))
        ->affine[f->wide](w->p.c, f->v, eps, w->vec[MEAN], w->vec[SCALE], w->vec[SHIFT]);
}

static bool rows_layout(const MsTensor *t)
{
    return t->ndim == 2 ? t->contiguous : ms__is_channels_last(t);
}

/* t as channels-last rows. */
static MsTensor *as_rows(MsTensor *t)
{
    return !t ? NULL : t->ndim == 2 ? ms__dense(t) : ms__dense_last(t);
}

/* Output j: channels-last when x is, a vector row-major. */
static MsTensor *out_like(MsCall *c, int j, const MsTensor *x)
{
    int64_t strides[MS_MAX_DIM];
    if (c->aval[j].ndim < 3 || !ms__is_channels_last(x)) return ms__out(c, j);
    ms__channels_last(c->aval[j].ndim, c->aval[j].shape, strides);
    return ms__out_strided(c, j, strides);
}

/* Where output y is computed: itself, or rows that ms__dense_done copies from. */
static MsTensor *computed(MsTensor *y)
{
    if (rows_layout(y)) return y;
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(y->ndim, y->shape, strides);
    return ms__tensor_dense((MsDtype)y->dtype, y->ndim, y->shape, strides);
}

/* Vectors of channels as float64: inputs [first, first + n) of c. */
static bool vectors(const MsCall *c, int first, int n, const double **v)
{
    for (int k = 0; k < n; k++) {
        MsTensor *t = ms__dense_as(c->in[first + k], MS_FLOAT64);
        if (!t) return false;
        v[k] = (const double *)t->data;
    }
    return true;
}

/* Gamma, beta, mean and variance, in float32 where all lie so. */
static bool four(MsTensor *const *in, Four *f)
{
    f->wide = false;
    for (int k = 0; k < 4; k++) f->wide |= in[k]->dtype != MS_FLOAT32;
    for (int k = 0; k < 4; k++) {
        MsTensor *t = ms__dense_as(in[k], f->wide ? MS_FLOAT64 : MS_FLOAT32);
        if (!t) return false;
        f->v[k] = t->data;
    }
    return true;
}

MsStatus ms__norm_map(MsTensor *const v[4], double eps, int64_t c, float *mean, float *scale, float *shift)
{
    Four f;
    if (!four(v, &f)) return ms_error()->code;
    (MS_ISA_PICK(&ms__batch_))->affine[f.wide](c, f.v, eps, mean, scale, shift);
    return MS_OK;
}

/* ---- forward ---- */

static MsStatus statistics(const MsTensor *x, MsTensor *mean, MsTensor *var)
{
    MsTensor *dm = ms_tensor_empty(MS_FLOAT64, 1, mean->shape),
             *dv = ms_tensor_empty(MS_FLOAT64, 1, mean->shape);
    Work w;
    if (!dm || !dv) return ms_error()->code;
    MS_TRY(begin(&w, x));
    w.p.x = x->data;
    each(&w, (MS_ISA_PICK(&ms__batch_))->stats[w.half]);
    merge(&w, (double *)dm->data, (double *)dv->data);
    end(&w);
    MS_TRY(ms__copy(mean, dm));
    return ms__copy(var, dv);
}

/* Attributes of batch_norm_apply. */
enum {
    EPS,
    RELU,
    TOP
};

static float top_of(const MsAttr *at)
{
    return at[TOP].f > 0 ? (float)at[TOP].f : INFINITY;
}

static MsStatus apply(const MsTensor *x, const Four *f, double eps, MsTensor *skip, bool relu, float top,
                      MsTensor *y)
{
    MsTensor *dest = computed(y), *z = as_rows(skip);
    Work w;
    if (!dest || (skip && !z)) return ms_error()->code;
    MS_TRY(begin(&w, x));
    w.p.x = x->data;
    w.p.skip = z ? z->data : NULL;
    w.p.y = dest->data;
    w.p.stream &= w.p.y != w.p.x && w.p.y != w.p.skip;
    w.p.top = top;
    set_affine(&w, f, eps);
    ms__parallel_pieces(w.p.rows, 1 + 16384 / w.p.c,
                        (MS_ISA_PICK(&ms__batch_))->apply[w.half][relu][z != NULL], &w.p);
    end(&w);
    return ms__dense_done(y, dest);
}

static MsStatus run_batch_norm(MsCall *c)
{
    MsTensor *y = out_like(c, 0, c->in[0]), *mean = ms__out(c, 1), *var = ms__out(c, 2);
    if (!y || !mean || !var) return ms_error()->code;
    int mark = ms_scope_begin();
    MsStatus st = statistics(c->in[0], mean, var);
    Four f;
    if (st == MS_OK && !four((MsTensor *[]){c->in[1], c->in[2], mean, var}, &f)) st = ms_error()->code;
    if (st == MS_OK) st = apply(c->in[0], &f, c->attr[0].f, NULL, false, INFINITY, y);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_stats(MsCall *c)
{
    MsTensor *mean = ms__out(c, 0), *var = ms__out(c, 1);
    if (!mean || !var) return ms_error()->code;
    int mark = ms_scope_begin();
    MsStatus st = statistics(c->in[0], mean, var);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_apply(MsCall *c)
{
    MsTensor *y = out_like(c, 0, c->in[0]);
    if (!y) return ms_error()->code;
    int mark = ms_scope_begin();
    Four f;
    MsStatus st = four(c->in + 1, &f)
                      ? apply(c->in[0], &f, c->attr[EPS].f, c->in[5], c->attr[RELU].i, top_of(c->attr), y)
                      : ms_error()->code;
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_apply_planes(MsCall *c)
{
    MsTensor *y = ms__out(c, 0), *x = c->in[0];
    if (!y) return ms_error()->code;
    int mark = ms_scope_begin();
    Four f;
    MsDtype dtype = (MsDtype)x->dtype;
    MsTensor *to = ms__dense_out(y, dtype), *skip = c->in[5] ? ms__dense_as(c->in[5], dtype) : NULL;
    Work w = {.block = NULL};
    bool good = to && (skip || !c->in[5]) && four(c->in + 1, &f);
    MsStatus st = good ? begin(&w, x) : ms_error()->code;
    if (st == MS_OK) {
        w.p.x = x->data;
        w.p.skip = skip ? skip->data : NULL;
        w.p.y = to->data;
        w.p.relu = c->attr[RELU].i;
        w.p.top = top_of(c->attr);
        w.p.plane = x->numel / (x->shape[0] * w.p.c);
        set_affine(&w, &f, c->attr[0].f);
        ms__parallel_pieces(x->shape[0] * w.p.c, 1 + 16384 / (w.p.plane + 1),
                            (MS_ISA_PICK(&ms__batch_))->planes[w.half], &w.p);
        st = ms__dense_done(y, to);
    }
    end(&w);
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* ---- backward ---- */

typedef struct Grad {
    int first;             /* input: gamma, [beta,] mean, var */
    int beta;              /* 1: beta is there, and masks through the forward map */
    int dx;                /* output: dx, dgamma, dbeta */
    MsTensor *more, *mask; /* masked by a tensor: then output 0 is d */
} Grad;

/* v = gamma, [beta,] mean, var. */
static void backward(Work *w, const Grad *g, const double *const *v, double eps, double *dgamma,
                     double *dbeta)
{
    const MsBatchNormFns *fns = MS_ISA_PICK(&ms__batch_);
    const double *gamma = v[0], *mean = v[1 + g->beta], *var = v[2 + g->beta];
    int64_t n = w->p.c, n2 = 2 * n;
    if (g->beta) set_affine(w, &(Four){{gamma, v[1], mean, var}, true}, eps);
    for (int64_t c = 0; c < n; c++) w->vec[MEAN][c] = (float)mean[c];
    each(w, fns->reduce[w->half][g->beta ? 1 : !g->mask ? 0 : g->more ? 3 : 2]);
    memset(w->sum, 0, (size_t)n2 * sizeof *w->sum);
    for (int64_t b = 0; b < w->blocks; b++)
        for (int64_t c = 0; c < n2; c++) w->sum[c] += w->p.partial[b * n2 + c];
    for (int64_t c = 0; c < n; c++) {
        double r = 1 / sqrt(var[c] + eps), k = gamma[c] * r, sum = w->sum[c], products = w->sum[n + c] * r;
        w->vec[BY][c] = (float)k;
        w->vec[TIMES][c] = (float)(-k * r * products / (double)w->p.rows);
        w->vec[PLUS][c] = (float)(-k * sum / (double)w->p.rows);
        dgamma[c] = products;
        dbeta[c] = sum;
    }
    if (g->mask) w->p.dy = w->p.d;
    each(w, fns->grad[w->half][g->beta]);
}

static MsStatus compute_grad(MsCall *c, const Grad *g, MsTensor *const *out, MsTensor *const *to)
{
    MsTensor *dy = as_rows(c->in[0]), *more = as_rows(g->more), *mask = as_rows(g->mask);
    const double *v[4] = {NULL};
    if (!dy || (g->more && !more) || (g->mask && !mask) || !vectors(c, g->first, 3 + g->beta, v))
        return ms_error()->code;
    Work w;
    MS_TRY(begin(&w, c->in[1]));
    w.p.x = c->in[1]->data;
    w.p.dy = dy->data;
    w.p.more = more ? more->data : NULL;
    w.p.mask = mask ? mask->data : NULL;
    w.p.d = g->mask ? to[0]->data : NULL;
    w.p.dx = to[g->dx]->data;
    w.p.stream &= w.p.dx != w.p.x && w.p.dx != w.p.dy;
    backward(&w, g, v, c->attr[0].f, (double *)to[g->dx + 1]->data, (double *)to[g->dx + 2]->data);
    end(&w);
    for (int j = 0; j < c->n_out; j++) MS_TRY(ms__dense_done(out[j], to[j]));
    return MS_OK;
}

static MsStatus run_grad(MsCall *c, Grad g)
{
    MsTensor *out[4], *to[4];
    for (int j = 0; j < c->n_out; j++)
        if (!(out[j] = out_like(c, j, c->in[1]))) return ms_error()->code;
    int mark = ms_scope_begin();
    MsStatus st = MS_OK;
    for (int j = 0; j < c->n_out && st == MS_OK; j++) {
        to[j] = j <= g.dx ? computed(out[j]) : ms_tensor_empty(MS_FLOAT64, 1, out[j]->shape);
        if (!to[j]) st = ms_error()->code;
    }
    if (st == MS_OK) st = compute_grad(c, &g, out, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_batch_norm_grad(MsCall *c)
{
    return run_grad(c, (Grad){.first = 2});
}
static MsStatus run_act_grad(MsCall *c)
{
    return run_grad(c, (Grad){.first = 2, .beta = 1});
}
static MsStatus run_sum_grad(MsCall *c)
{
    return run_grad(c, (Grad){.first = 4, .dx = 1, .more = c->in[2], .mask = c->in[3]});
}

/* ---- the list ---- */

static const char *ok(const MsCall *c, int x, int gamma)
{
    const MsTensor *t = c->in[x];
    if (t->dtype != MS_FLOAT32 && t->dtype != MS_BFLOAT16) return "dtype";
    if (gamma >= 0 && c->in[gamma]->dtype != MS_FLOAT32) return "dtype of gamma";
    if (t->numel == 0) return "empty";
    if (!rows_layout(t)) return "layout";
    if (t->ndim > 2 && t->shape[1] == 1) return "one channel";
    return NULL;
}

/* Row-major planes of float32 or bfloat16. */
static const char *ok_planes(const MsCall *c)
{
    const MsTensor *t = c->in[0];
    if (t->dtype != MS_FLOAT32 && t->dtype != MS_BFLOAT16) return "dtype";
    if (c->in[1]->dtype != MS_FLOAT32) return "dtype of gamma";
    return t->numel == 0 ? "empty" : t->contiguous ? NULL : "layout";
}
static const char *ok_forward(const MsCall *c)
{
    return ok(c, 0, 1);
}
static const char *ok_stats(const MsCall *c)
{
    return c->attr[0].i == MS_FLOAT32 ? ok(c, 0, -1) : "dtype of the statistics";
}
static const char *ok_grad(const MsCall *c)
{
    return ok(c, 1, 2);
}
static const char *ok_sum_grad(const MsCall *c)
{
    return ok(c, 1, 4);
}

MS_KERNEL(batch_norm, 10, rows, ok_forward, run_batch_norm);
MS_KERNEL(batch_norm_grad, 10, rows, ok_grad, run_batch_norm_grad);
MS_KERNEL(batch_norm_stats, 10, rows, ok_stats, run_stats);
MS_KERNEL(batch_norm_apply, 10, rows, ok_forward, run_apply);
MS_KERNEL(batch_norm_apply, 9, planes, ok_planes, run_apply_planes);
MS_KERNEL(batch_norm_act_grad, 10, rows, ok_grad, run_act_grad);
MS_KERNEL(batch_norm_sum_grad, 10, rows, ok_sum_grad, run_sum_grad);

/* ---- the single operators one after the other ---- */

extern const MsKernel ms_kernel_batch_norm_grad_loop, ms_kernel_add_loop, ms_kernel_relu_loop,
    ms_kernel_relu_grad_loop, ms_kernel_minimum_loop;
extern const MsOp ms_op_batch_norm_apply, ms_op_batch_norm_grad, ms_op_add, ms_op_relu, ms_op_relu_grad,
    ms_op_minimum;

/* An elementwise operator on tensors of one type, into `out` or a new tensor. */
static MsTensor *single(const MsOp *op, const MsKernel *kernel, MsTensor *a, MsTensor *b, MsTensor *out)
{
    MsTensor *in[2] = {a, b};
    if (!a) return NULL;
    MsAval aval = ms__aval(a);
    MsCall c = {op, NULL, b ? 2 : 1, 1, in, &out, &aval};
    return kernel->run(&c) == MS_OK ? out : NULL;
}

/* The forward map of given statistics, element by element as the loops do it. `x` is an input, `first` that of
 * gamma, beta, mean, var. */
static MsTensor *forward_map(const MsCall *c, MsTensor *x, int first)
{
    MsTensor *y = ms_tensor_empty((MsDtype)x->dtype, x->ndim, x->shape);
    MsTensor *wide = ms__dense_as(x, MS_FLOAT64), *to = y ? ms__dense_out(y, MS_FLOAT64) : NULL;
    const double *v[4] = {NULL};
    if (!wide || !to || !vectors(c, first, 4, v)) return NULL;
    bool single_precision = ms__compute_dtype((MsDtype)x->dtype) == MS_FLOAT32;
    int64_t n = x->shape[1], plane = 1;
    for (int d = 2; d < x->ndim; d++) plane *= x->shape[d];
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t ch = i / plane % n;
        double scale = v[0][ch] / sqrt(v[3][ch] + c->attr[0].f), mean = v[2][ch], shift = v[1][ch];
        double value = ((const double *)wide->data)[i];
        if (single_precision) {
            float m = (float)mean, s = (float)scale, b = (float)(shift - (mean - (double)m) * scale);
            ((double *)to->data)[i] = (double)(((float)value - m) * s + b);
        } else {
            ((double *)to->data)[i] = (value - mean) * scale + shift;
        }
    }
    return ms__dense_done(y, to) == MS_OK ? y : NULL;
}

static MsStatus loop_apply(MsCall *c)
{
    MsTensor *out = out_like(c, 0, c->in[0]);
    if (!out) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *y = forward_map(c, c->in[0], 1);
    if (y && c->in[5]) y = single(&ms_op_add, &ms_kernel_add_loop, y, c->in[5], NULL);
    if (y && c->attr[RELU].i) y = single(&ms_op_relu, &ms_kernel_relu_loop, y, NULL, NULL);
    if (y && c->attr[RELU].i && c->attr[TOP].f > 0) {
        MsTensor *top = ms_tensor_from(MS_FLOAT64, 0, NULL, &c->attr[TOP].f);
        top = top ? ms__dense_as(top, (MsDtype)y->dtype) : NULL;
        y = top ? single(&ms_op_minimum, &ms_kernel_minimum_loop, y, top, NULL) : NULL;
    }
    MsStatus st = y ? ms__copy(out, y) : ms_error()->code;
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* batch_norm_grad of d into out[first ...]. */
static MsStatus loop_grad(MsCall *c, MsTensor *d, int first, int gamma, int mean)
{
    MsTensor *in[5] = {d, c->in[1], c->in[gamma], c->in[mean], c->in[mean + 1]};
    MsCall norm = {&ms_op_batch_norm_grad, c->attr, 5, 3, in, c->out + first, c->aval + first};
    return ms_kernel_batch_norm_grad_loop.run(&norm);
}

/* The forward map of x for the gradient, by planes where they can do it. */
static MsTensor *forward_again(const MsCall *c)
{
    MsTensor *in[6] = {c->in[1], c->in[2], c->in[3], c->in[4], c->in[5]}, *y = NULL;
    MsAval aval = ms__aval(c->in[1]);
    MsAttr attr[3] = {c->attr[0], {.kind = MS_ATTR_BOOL}, {.kind = MS_ATTR_FLOAT}};
    MsCall again = {&ms_op_batch_norm_apply, attr, 6, 1, in, &y, &aval};
    if (ok_planes(&again)) return forward_map(c, c->in[1], 2);
    return run_apply_planes(&again) == MS_OK ? y : NULL;
}

static MsStatus loop_act_grad(MsCall *c)
{
    for (int j = 0; j < 3; j++)
        if (!out_like(c, j, c->in[1])) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *y = forward_again(c);
    MsTensor *d = y ? single(&ms_op_relu_grad, &ms_kernel_relu_grad_loop, c->in[0], y, NULL) : NULL;
    MsStatus st = d ? loop_grad(c, d, 0, 2, 4) : ms_error()->code;
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus loop_sum_grad(MsCall *c)
{
    for (int j = 0; j < 4; j++)
        if (!out_like(c, j, c->in[1])) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *g = c->in[0];
    if (c->in[2]) g = single(&ms_op_add, &ms_kernel_add_loop, g, c->in[2], NULL);
    MsTensor *d = g ? single(&ms_op_relu_grad, &ms_kernel_relu_grad_loop, g, c->in[3], c->out[0]) : NULL;
    MsStatus st = d ? loop_grad(c, d, 1, 4, 5) : ms_error()->code;
    ms_scope_end(mark, NULL, 0);
    return st;
}

MS_KERNEL(batch_norm_apply, 0, loop, NULL, loop_apply);
MS_KERNEL(batch_norm_act_grad, 0, loop, NULL, loop_act_grad);
MS_KERNEL(batch_norm_sum_grad, 0, loop, NULL, loop_sum_grad);
