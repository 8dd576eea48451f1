/* norm.c - batch, layer and group normalisation on float32 and float64 (half types are widened first).
 * Statistics take two passes, so that a large mean does not cost the variance its digits. Batch norm works
 * on channels-last or row-major memory and keeps the layout of its input. */
#include "cpu/norm.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

#define GRAIN 16384 /* elements that are worth a thread */

/* ---- batch norm ---- */

typedef struct Batch {
    MsNorm p;
    MsDtype dtype;
    bool last;
    int64_t blocks, c;
    double count;
    double *sum;  /* [2][c], the totals of the last reduction */
    void *vec[6]; /* per channel, in dtype */
    char *block;  /* one allocation behind all of these */
    size_t nbytes;
} Batch;

/* t in dtype and in one of the two layouts. */
static MsTensor *in_layout(MsTensor *t, MsDtype dtype, bool last)
{
    if (t->dtype == dtype && (last ? ms__is_channels_last(t) : t->contiguous)) return t;
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(t->ndim, t->shape, strides);
    MsTensor *u = ms__tensor_dense(dtype, t->ndim, t->shape, last ? strides : NULL);
    return u && ms__copy(u, t) == MS_OK ? u : NULL;
}

static bool prefers_last(const MsTensor *t)
{
    return t->ndim > 2 && t->shape[1] > 1 && ms__is_channels_last(t);
}

static MsTensor *out_in_layout(MsTensor *y, MsDtype dtype, bool last)
{
    if (y->dtype == dtype && (last ? ms__is_channels_last(y) : y->contiguous)) return y;
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(y->ndim, y->shape, strides);
    return ms__tensor_dense(dtype, y->ndim, y->shape, last ? strides : NULL);
}

static MsStatus batch_begin(Batch *b, const MsTensor *x, MsDtype dtype, bool last)
{
    *b = (Batch){.dtype = dtype, .last = last || x->ndim == 2, .c = x->shape[1]};
    b->p.n = x->shape[0];
    b->p.c = b->c;
    b->p.plane = 1;
    for (int d = 2; d < x->ndim; d++) b->p.plane *= x->shape[d];
    b->p.rows = b->p.n * b->p.plane;
    b->count = (double)b->p.rows;
    b->blocks = b->last ? (b->p.rows + MS_NORM_ROWS - 1) / MS_NORM_ROWS : 1;
    size_t c = (size_t)b->c, partial = (size_t)b->blocks * 2 * c * sizeof(double), vec = c * sizeof(double);
    b->nbytes = partial + 2 * c * sizeof(double) + 6 * vec;
    b->block = ms__alloc(b->nbytes);
    if (!b->block) return MS_ERROR_MEMORY;
    b->p.partial = (double *)b->block;
    b->sum = (double *)(b->block + partial);
    for (int k = 0; k < 6; k++) b->vec[k] = b->block + partial + 2 * c * sizeof(double) + (size_t)k * vec;
    return MS_OK;
}

static void batch_end(Batch *b)
{
    if (b->block) ms__free(b->block, b->nbytes);
}

/* Stores value for channel c of vector k, rounded to the dtype computed in. */
static void put(Batch *b, int k, int64_t c, double value)
{
    if (b->dtype == MS_FLOAT32)
        ((float *)b->vec[k])[c] = (float)value;
    else
        ((double *)b->vec[k])[c] = value;
}

static double rounded(const Batch *b, int k, int64_t c)
{
    return b->dtype == MS_FLOAT32 ? (double)((const float *)b->vec[k])[c] : ((const double *)b->vec[k])[c];
}

static void reduce(Batch *b, int kind)
{
    const MsNormFns *fns = MS_ISA_PICK(&ms__norm_);
    int wide = b->dtype == MS_FLOAT64;
    int64_t c2 = 2 * b->c;
    if (b->last) {
        ms__parallel_pieces(b->blocks, 1 + GRAIN / (MS_NORM_ROWS * b->c + 1), fns->reduce_rows[wide][kind],
                            &b->p);
        memset(b->sum, 0, (size_t)c2 * sizeof *b->sum);
        for (int64_t k = 0; k < b->blocks; k++)
            for (int64_t c = 0; c < c2; c++) b->sum[c] += b->p.partial[k * c2 + c];
    } else {
        ms__parallel_pieces(b->c, 1 + GRAIN / (b->p.n * b->p.plane + 1), fns->reduce_planes[wide][kind],
                            &b->p);
        memcpy(b->sum, b->p.partial, (size_t)c2 * sizeof *b->sum);
    }
}

static void map(Batch *b, const MsNormFn *rows, const MsNormFn *planes)
{
    int wide = b->dtype == MS_FLOAT64;
    if (b->last)
        ms__parallel_pieces(b->blocks, 1 + GRAIN / (MS_NORM_ROWS * b->c + 1), rows[wide], &b->p);
    else
        ms__parallel_pieces(b->p.n * b->c, 1 + GRAIN / (b->p.plane + 1), planes[wide], &b->p);
}

/* The statistics of p.x: the mean in vec[0] and in `mean`, the biased variance in `var`. */
static void statistics(Batch *b, double *mean, double *var)
{
    reduce(b, MS_NORM_SUM);
    for (int64_t c = 0; c < b->c; c++) {
        mean[c] = b->sum[c] / b->count;
        put(b, 0, c, mean[c]);
    }
    b->p.mean = b->vec[0];
    reduce(b, MS_NORM_SQUARES);
    for (int64_t c = 0; c < b->c; c++) {
        double d = mean[c] - rounded(b, 0, c); /* the squares were taken about the rounded mean */
        var[c] = fmax(b->sum[c] / b->count - d * d, 0);
        if (isnan(b->sum[c])) var[c] = b->sum[c];
    }
}

/* The affine map of statistics as the outputs hold them, so that batch_norm_apply gives the same: the mean in vec[0], scale
 * and shift in vec[k] and vec[k + 1]. v: gamma, beta, mean, var. */
static void affine(Batch *b, int k, const double *const v[4], double eps)
{
    for (int64_t c = 0; c < b->c; c++) {
        double scale = v[0][c] / sqrt(v[3][c] + eps);
        put(b, 0, c, v[2][c]);
        put(b, k, c, scale);
        put(b, k + 1, c, v[1][c] - (v[2][c] - rounded(b, 0, c)) * scale);
    }
}

static void forward(Batch *b, const double *const v[4], double eps)
{
    affine(b, 1, v, eps);
    b->p.mean = b->vec[0];
    b->p.scale = b->vec[1];
    b->p.shift = b->vec[2];
    const MsNormFns *fns = MS_ISA_PICK(&ms__norm_);
    map(b, fns->apply_rows, fns->apply_planes);
}

static MsStatus run_batch_norm(MsCall *c)
{
    bool last = prefers_last(c->in[0]);
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(c->aval[0].ndim, c->aval[0].shape, strides);
    MsTensor *y = ms__out_strided(c, 0, last ? strides : NULL), *mean = ms__out(c, 1), *var = ms__out(c, 2);
    if (!y || !mean || !var) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)y->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = in_layout(c->in[0], dtype, last), *to = out_in_layout(y, dtype, last);
    MsTensor *gamma = ms__dense_as(c->in[1], MS_FLOAT64), *beta = ms__dense_as(c->in[2], MS_FLOAT64);
    MsTensor *dm = ms__dense_out(mean, MS_FLOAT64), *dv = ms__dense_out(var, MS_FLOAT64);
    Batch b = {0};
    MsStatus st = x && to && gamma && beta && dm && dv ? batch_begin(&b, x, dtype, last) : ms_error()->code;
    if (st == MS_OK) {
        b.p.x = x->data;
        b.p.y = to->data;
        statistics(&b, (double *)dm->data, (double *)dv->data);
        st = ms__dense_done(mean, dm);
    }
    if (st == MS_OK) st = ms__dense_done(var, dv);
    if (st == MS_OK && (!(dm = ms__dense_as(mean, MS_FLOAT64)) || !(dv = ms__dense_as(var, MS_FLOAT64))))
        st = ms_error()->code;
    if (st == MS_OK) {
        forward(&b,
                (const double *[]){(double *)gamma->data, (double *)beta->data, (double *)dm->data,
                                   (double *)dv->data},
                c->attr[0].f);
        st = ms__dense_done(y, to);
    }
    batch_end(&b);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_batch_norm_stats(MsCall *c)
{
    bool last = prefers_last(c->in[0]);
    MsTensor *mean = ms__out(c, 0), *var = ms__out(c, 1);
    if (!mean || !var) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)c->in[0]->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = in_layout(c->in[0], dtype, last);
    MsTensor *dm = ms__dense_out(mean, MS_FLOAT64), *dv = ms__dense_out(var, MS_FLOAT64);
    Batch b = {0};
    MsStatus st = x && dm && dv ? batch_begin(&b, x, dtype, last) : ms_error()->code;
    if (st == MS_OK) {
        b.p.x = x->data;
        statistics(&b, (double *)dm->data, (double *)dv->data);
        st = ms__dense_done(mean, dm);
    }
    if (st == MS_OK) st = ms__dense_done(var, dv);
    batch_end(&b);
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* v: gamma, mean, var, dgamma, dbeta, beta or NULL, all float64. With beta dy counts where the forward map is above 0. */
static void backward(Batch *b, double *const v[6], double eps)
{
    for (int64_t c = 0; c < b->c; c++) put(b, 0, c, v[1][c]);
    if (v[5]) affine(b, 4, (const double *[]){v[0], v[5], v[1], v[2]}, eps);
    b->p.mean = b->vec[0];
    b->p.gamma = b->vec[4];
    b->p.beta = b->vec[5];
    reduce(b, v[5] ? MS_NORM_MASKED : MS_NORM_PRODUCTS);
    for (int64_t c = 0; c < b->c; c++) {
        double r = 1 / sqrt(v[2][c] + eps), dbeta = b->sum[c], dgamma = b->sum[b->c + c] * r, k = v[0][c] * r;
        v[3][c] = dgamma;
        v[4][c] = dbeta;
        put(b, 1, c, k);
        put(b, 2, c, -k * r * dgamma / b->count);
        put(b, 3, c, -k * dbeta / b->count);
    }
    b->p.scale = b->vec[1];
    b->p.shift = b->vec[2];
    b->p.extra = b->vec[3];
    const MsNormFns *fns = MS_ISA_PICK(&ms__norm_);
    map(b, fns->grad_rows, v[5] ? &fns->grad_masked : fns->grad_planes);
}

/* in: dy, x, gamma, [beta,] mean, var. */
static MsStatus norm_grad(MsCall *c, bool masked)
{
    bool last = !masked && prefers_last(c->in[1]);
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(c->aval[0].ndim, c->aval[0].shape, strides);
    MsTensor *dx = ms__out_strided(c, 0, last ? strides : NULL), *dgamma = ms__out(c, 1),
             *dbeta = ms__out(c, 2);
    if (!dx || !dgamma || !dbeta) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)dx->dtype);
    int mark = ms_scope_begin();
    MsTensor *dy = in_layout(c->in[0], dtype, last), *x = in_layout(c->in[1], dtype, last);
    MsTensor *to = out_in_layout(dx, dtype, last), *t[6];
    for (int k = 0; k < 3; k++) t[k] = ms__dense_as(c->in[2 + k + (k > 0 && masked)], MS_FLOAT64);
    t[5] = masked ? ms__dense_as(c->in[3], MS_FLOAT64) : NULL;
    t[3] = ms__dense_out(dgamma, MS_FLOAT64);
    t[4] = ms__dense_out(dbeta, MS_FLOAT64);
    Batch b = {0};
    bool good = dy && x && to && (t[5] || !masked);
    for (int k = 0; k < 5; k++) good &= t[k] != NULL;
    MsStatus st = good ? batch_begin(&b, x, dtype, last) : ms_error()->code;
    if (st == MS_OK) {
        double *v[6];
        for (int k = 0; k < 6; k++) v[k] = t[k] ? (double *)t[k]->data : NULL;
        b.p.x = x->data;
        b.p.dy = dy->data;
        b.p.y = to->data;
        backward(&b, v, c->attr[0].f);
        st = ms__dense_done(dx, to);
    }
    if (st == MS_OK) st = ms__dense_done(dgamma, t[3]);
    if (st == MS_OK) st = ms__dense_done(dbeta, t[4]);
    batch_end(&b);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_batch_norm_grad(MsCall *c)
{
    return norm_grad(c, false);
}

/* Row-major planes of float32. */
static const char *ok_masked(const MsCall *c)
{
    const MsTensor *x = c->in[1];
    return x->dtype != MS_FLOAT32 ? "dtype" : x->contiguous && x->ndim > 2 ? NULL : "layout";
}
static MsStatus run_batch_norm_act_grad(MsCall *c)
{
    return norm_grad(c, true);
}

/* ---- layer norm ---- */

static int64_t inner_size(const MsTensor *x, int64_t ndim)
{
    int64_t n = 1;
    for (int d = x->ndim - (int)ndim; d < x->ndim; d++) n *= x->shape[d];
    return n;
}

static MsStatus run_layer_norm(MsCall *c)
{
    MsTensor *out[3];
    for (int j = 0; j < 3; j++)
        if (!(out[j] = ms__out(c, j))) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)out[0]->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = ms__dense_as(c->in[0], dtype), *to[3];
    MsTensor *gamma = c->in[1] ? ms__dense_as(c->in[1], dtype) : NULL;
    MsTensor *beta = c->in[2] ? ms__dense_as(c->in[2], dtype) : NULL;
    bool good = x && (gamma || !c->in[1]) && (beta || !c->in[2]);
    for (int j = 0; j < 3; j++) good &= (to[j] = ms__dense_out(out[j], dtype)) != NULL;
    MsStatus st = good ? MS_OK : ms_error()->code;
    if (good) {
        int64_t n = inner_size(x, c->attr[0].i);
        MsNorm p = {.c = n,
                    .x = x->data,
                    .y = to[0]->data,
                    .gamma = gamma ? gamma->data : NULL,
                    .beta = beta ? beta->data : NULL,
                    .mean_out = to[1]->data,
                    .rstd_out = to[2]->data,
                    .eps = c->attr[1].f};
        ms__parallel_pieces(to[1]->numel, 1 + GRAIN / (n + 1),
                            (MS_ISA_PICK(&ms__norm_))->layer[dtype == MS_FLOAT64], &p);
    }
    for (int j = 0; j < 3 && st == MS_OK; j++) st = ms__dense_done(out[j], to[j]);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_group_norm(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)y->dtype);
    int mark = ms_scope_begin();
    MsTensor *x = ms__dense_as(c->in[0], dtype), *to = ms__dense_out(y, dtype);
    MsTensor *gamma = c->in[1] ? ms__dense_as(c->in[1], dtype) : NULL;
    MsTensor *beta = c->in[2] ? ms__dense_as(c->in[2], dtype) : NULL;
    bool good = x && to && (gamma || !c->in[1]) && (beta || !c->in[2]);
    MsStatus st = good ? MS_OK : ms_error()->code;
    if (good && x->numel) {
        int64_t rows = x->shape[0] * c->attr[0].i, n = x->numel / rows;
        MsNorm p = {.c = n,
                    .n = c->attr[0].i,
                    .plane = x->numel / (x->shape[0] * x->shape[1]),
                    .x = x->data,
                    .y = to->data,
                    .gamma = gamma ? gamma->data : NULL,
                    .beta = beta ? beta->data : NULL,
                    .eps = c->attr[1].f};
        ms__parallel_pieces(rows, 1 + GRAIN / (n + 1), (MS_ISA_PICK(&ms__norm_))->group[dtype == MS_FLOAT64],
                            &p);
    }
    if (st == MS_OK) st = ms__dense_done(y, to);
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* dgamma and dbeta: sums down the columns in blocks of rows. */
static MsStatus columns(MsNorm *p, bool wide, double *dgamma, double *dbeta)
{
    int64_t blocks = (p->rows + MS_NORM_ROWS - 1) / MS_NORM_ROWS;
    size_t bytes = (size_t)(blocks * 2 * p->c) * sizeof(double);
    p->partial = ms__alloc(bytes);
    if (!p->partial) return MS_ERROR_MEMORY;
    ms__parallel_pieces(blocks, 1 + GRAIN / (MS_NORM_ROWS * p->c + 1),
                        (MS_ISA_PICK(&ms__norm_))->layer_columns[wide], p);
    for (int64_t i = 0; i < p->c; i++) dgamma[i] = dbeta[i] = 0;
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = 0; i < p->c; i++) {
            dbeta[i] += p->partial[b * 2 * p->c + i];
            dgamma[i] += p->partial[(b * 2 + 1) * p->c + i];
        }
    ms__free(p->partial, bytes);
    return MS_OK;
}

static MsStatus run_layer_norm_grad(MsCall *c)
{
    MsTensor *out[3];
    for (int j = 0; j < 3; j++)
        if (!(out[j] = ms__out(c, j))) return ms_error()->code;
    MsDtype dtype = ms__compute_dtype((MsDtype)out[0]->dtype);
    int mark = ms_scope_begin();
    MsTensor *dy = ms__dense_as(c->in[0], dtype), *x = ms__dense_as(c->in[1], dtype);
    MsTensor *mean = ms__dense_as(c->in[2], dtype), *rstd = ms__dense_as(c->in[3], dtype);
    MsTensor *gamma = c->in[4] ? ms__dense_as(c->in[4], dtype) : NULL, *dx = ms__dense_out(out[0], dtype);
    MsTensor *dgamma = ms__dense_out(out[1], MS_FLOAT64), *dbeta = ms__dense_out(out[2], MS_FLOAT64);
    bool good = dy && x && mean && rstd && (gamma || !c->in[4]) && dx && dgamma && dbeta;
    MsStatus st = good ? MS_OK : ms_error()->code;
    if (good) {
        int64_t n = inner_size(x, c->attr[0].i);
        bool wide = dtype == MS_FLOAT64;
        MsNorm p = {.c = n,
                    .rows = mean->numel,
                    .x = x->data,
                    .dy = dy->data,
                    .y = dx->data,
                    .mean = mean->data,
                    .scale = rstd->data,
                    .gamma = gamma ? gamma->data : NULL};
        ms__parallel_pieces(p.rows, 1 + GRAIN / (n + 1), (MS_ISA_PICK(&ms__norm_))->layer_grad[wide], &p);
        st = columns(&p, wide, (double *)dgamma->data, (double *)dbeta->data);
    }
    if (st == MS_OK) st = ms__dense_done(out[0], dx);
    if (st == MS_OK) st = ms__dense_done(out[1], dgamma);
    if (st == MS_OK) st = ms__dense_done(out[2], dbeta);
    ms_scope_end(mark, NULL, 0);
    return st;
}

MS_KERNEL(batch_norm, 0, loop, NULL, run_batch_norm);
MS_KERNEL(batch_norm_stats, 0, loop, NULL, run_batch_norm_stats);
MS_KERNEL(batch_norm_grad, 0, loop, NULL, run_batch_norm_grad);
MS_KERNEL(batch_norm_act_grad, 9, planes, ok_masked, run_batch_norm_act_grad);
MS_KERNEL(layer_norm, 0, loop, NULL, run_layer_norm);
MS_KERNEL(layer_norm_grad, 0, loop, NULL, run_layer_norm_grad);
MS_KERNEL(group_norm, 0, loop, NULL, run_group_norm);
