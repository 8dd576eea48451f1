/* optim.c - runs an optimizer update over all parameters of a call as one parallel loop: the elements of all
 * tensors are cut into pieces of fixed size, so that a hundred small biases cost one parallel region and not
 * a hundred. Pieces whose dtype is not the one computed in pass through buffers on the stack. */
#include "cpu/optim.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/op.h"

#include <math.h>
#include <stdlib.h>

#define PIECE 2048

typedef struct Item {
    MsTensor *in[MS_UPDATE_BUFFERS], *out[MS_UPDATE_BUFFERS];
    MsTensor *to[MS_UPDATE_BUFFERS]; /* where it is computed: out, or a row-major tensor to copy from */
    int64_t first_piece, n;
    bool wide; /* computed in float64 */
} Item;

typedef struct Job {
    MsUpdate u;
    Item *item;
    int64_t n_item, n_piece;
} Job;

static void run_piece(const Job *job, const Item *it, int64_t begin, int64_t n)
{
    _Alignas(64) char buf[MS_UPDATE_BUFFERS][PIECE * sizeof(float)];
    void *in[MS_UPDATE_BUFFERS], *out[MS_UPDATE_BUFFERS];
    MsDtype dtype = it->wide ? MS_FLOAT64 : MS_FLOAT32;
    int n_in = job->u.n_state + 2, n_out = job->u.n_state + 1;
    for (int k = 0; k < n_in; k++) {
        MsTensor *t = it->in[k];
        char *at = t->data + begin * (int64_t)ms_dtype_size((MsDtype)t->dtype);
        in[k] = at;
        if (t->dtype != dtype) {
            ms__cast_row((MsDtype)t->dtype, dtype)(n, buf[k], at);
            in[k] = buf[k];
        }
    }
    for (int k = 0; k < n_out; k++) {
        MsTensor *t = it->to[k];
        out[k] = t->dtype == dtype ? t->data + begin * (int64_t)ms_dtype_size((MsDtype)t->dtype) : buf[k];
    }
    const MsUpdateFns *fns = MS_ISA_PICK(&ms__update_);
    (it->wide ? fns->f64 : fns->f32)[job->u.kind](&job->u, n, in, out);
    for (int k = 0; k < n_out; k++) {
        MsTensor *t = it->to[k];
        if (t->dtype != dtype)
            ms__cast_row(dtype, (MsDtype)t->dtype)(
                n, t->data + begin * (int64_t)ms_dtype_size((MsDtype)t->dtype), buf[k]);
    }
}

static void pieces(void *ctx, int64_t begin, int64_t end)
{
    const Job *job = ctx;
    int64_t lo = 0, hi = job->n_item - 1; /* the item that holds piece `begin` */
    while (lo < hi) {
        int64_t mid = (lo + hi + 1) / 2;
        if (job->item[mid].first_piece <= begin)
            lo = mid;
        else
            hi = mid - 1;
    }
    for (int64_t r = begin; r < end; r++) {
        while (lo + 1 < job->n_item && job->item[lo + 1].first_piece <= r) lo++;
        const Item *it = &job->item[lo];
        int64_t at = (r - it->first_piece) * PIECE;
        if (at < it->n) run_piece(job, it, at, it->n - at < PIECE ? it->n - at : PIECE);
    }
}

/* A tensor whose elements lie in row-major order; float64 work needs all of it in float64. */
static MsTensor *flat(MsTensor *t, bool wide)
{
    return ms__dense_as(t, wide ? MS_FLOAT64 : (MsDtype)t->dtype);
}

static MsStatus prepare(MsCall *c, Job *job)
{
    int64_t n = job->n_item;
    int n_in = job->u.n_state + 2, n_out = job->u.n_state + 1;
    for (int64_t i = 0; i < n; i++) {
        Item *it = &job->item[i];
        it->n = c->in[i]->numel;
        it->first_piece = job->n_piece;
        job->n_piece += (it->n + PIECE - 1) / PIECE;
        for (int k = 0; k < n_in; k++) it->wide |= c->in[k * n + i]->dtype == MS_FLOAT64;
        for (int k = 0; k < n_in; k++)
            if (!(it->in[k] = flat(c->in[k * n + i], it->wide))) return ms_error()->code;
        for (int k = 0; k < n_out; k++) {
            it->out[k] = c->out[k * n + i];
            it->to[k] = ms__dense_out(it->out[k], it->wide ? MS_FLOAT64 : (MsDtype)it->out[k]->dtype);
            if (!it->to[k]) return ms_error()->code;
        }
    }
    return MS_OK;
}

static MsStatus run(MsCall *c, const MsUpdate *u)
{
    for (int j = 0; j < c->n_out; j++)
        if (!ms__out(c, j)) return ms_error()->code;
    Job job = {.u = *u, .n_item = c->attr[0].i};
    job.item = ms__calloc((size_t)job.n_item, sizeof *job.item);
    if (!job.item) return MS_ERROR_MEMORY;
    int mark = ms_scope_begin();
    MsStatus st = prepare(c, &job);
    if (st == MS_OK) ms__parallel_pieces(job.n_piece, 8, pieces, &job);
    for (int64_t i = 0; i < job.n_item && st == MS_OK; i++)
        for (int k = 0; k <= u->n_state && st == MS_OK; k++)
            st = ms__dense_done(job.item[i].out[k], job.item[i].to[k]);
    ms_scope_end(mark, NULL, 0);
    free(job.item);
    return st;
}

/* The k-th of the trailing scalars. */
static double scalar(const MsCall *c, int n_state, int k)
{
    const MsTensor *t = c->in[c->attr[0].i * (n_state + 2) + k];
    double v;
    ms__cast_row((MsDtype)t->dtype, MS_FLOAT64)(1, &v, t->data);
    return v;
}

static MsStatus run_momentum(MsCall *c)
{
    MsUpdate u = {MS_UPDATE_MOMENTUM,         1,
                  .momentum = c->attr[1].f,   .weight_decay = c->attr[2].f,
                  .grad_scale = c->attr[3].f, .nesterov = c->attr[4].i};
    u.lr = scalar(c, 1, 0);
    return run(c, &u);
}

static MsStatus run_sgd(MsCall *c)
{
    MsUpdate u = {MS_UPDATE_SGD,
                  2,
                  .momentum = c->attr[1].f,
                  .keep = 1 - c->attr[2].f,
                  .weight_decay = c->attr[3].f,
                  .grad_scale = c->attr[4].f,
                  .nesterov = c->attr[5].i};
    u.lr = scalar(c, 2, 0);
    return run(c, &u);
}

static MsStatus run_adam(MsCall *c)
{
    MsUpdate u = {MS_UPDATE_ADAM,
                  c->attr[7].i ? 3 : 2,
                  .beta1 = c->attr[1].f,
                  .beta2 = c->attr[2].f,
                  .eps = c->attr[3].f,
                  .weight_decay = c->attr[4].f,
                  .grad_scale = c->attr[5].f,
                  .nesterov = c->attr[6].i,
                  .amsgrad = c->attr[7].i};
    u.lr = scalar(c, u.n_state, 0);
    double power1 = scalar(c, u.n_state, 1), power2 = scalar(c, u.n_state, 2);
    u.lr *= sqrt(1 - power2) / (1 - power1);
    return run(c, &u);
}

static MsStatus run_adamw(MsCall *c)
{
    MsUpdate u = {MS_UPDATE_ADAMW,           2,
                  .beta1 = c->attr[1].f,     .beta2 = c->attr[2].f,
                  .eps = c->attr[3].f,       .weight_decay = c->attr[4].f,
                  .grad_scale = c->attr[5].f};
    u.lr = scalar(c, 2, 0);
    return run(c, &u);
}

MS_KERNEL(momentum_update, 0, loop, NULL, run_momentum);
MS_KERNEL(sgd_update, 0, loop, NULL, run_sgd);
MS_KERNEL(adam_update, 0, loop, NULL, run_adam);
MS_KERNEL(adamw_update, 0, loop, NULL, run_adamw);
