/* index.c - kernels of index, index_put, gather_nd, scatter_nd and nonzero: several indices become one linear
 * index over the indexed axes, and the row loops of gather.c do the rest. Indexed axes that are not adjacent
 * are first brought together by a permuted view. */
#include "cpu/index.h"

#include "core/mem.h"
#include "cpu/copy.h"

#include <string.h>

/* ---- index, index_put ---- */

typedef struct Setup {
    int64_t perm[MS_MAX_DIM]; /* of x, so that the indexed axes are [from, to) */
    int from, to;
    int64_t *v; /* linear index */
    int64_t n;
} Setup;

static MsStatus prepare(const MsCall *c, int first, Setup *s)
{
    MsTensor *x = c->in[0];
    const MsAttr *axes = &c->attr[0];
    int n = c->n_in - first;
    uint32_t used = 0;
    bool adjacent = true;
    int64_t sizes[MS_MAX_DIM];
    MsAval b = {0};
    for (int k = 0; k < n; k++) {
        MsAval a = ms__aval(c->in[first + k]);
        MS_TRY(ms__broadcast(c->op, &b, &a, &b));
        sizes[k] = x->shape[axes->v[k]];
        used |= 1u << axes->v[k];
        if (k > 0 && axes->v[k] != axes->v[k - 1] + 1) adjacent = false;
    }
    s->from = adjacent ? (int)axes->v[0] : 0;
    s->to = s->from + n;
    int at = 0;
    for (int d = 0; d < s->from; d++) s->perm[at++] = d;
    for (int k = 0; k < n; k++) s->perm[at++] = axes->v[k];
    for (int d = s->from; d < x->ndim; d++)
        if (!(used >> d & 1)) s->perm[at++] = d;
    s->n = ms__numel(b.ndim, b.shape);
    s->v = ms__index_linear(c->op->name, n, c->in + first, b.ndim, b.shape, sizes, MS_ERROR_INDEX);
    return s->v ? MS_OK : ms_error()->code;
}

static MsTensor *permuted(MsTensor *t, const int64_t *perm)
{
    int64_t shape[MS_MAX_DIM], strides[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++) shape[d] = t->shape[perm[d]], strides[d] = t->strides[perm[d]];
    return ms__tensor_view(t, t->ndim, shape, strides, 0);
}

static MsStatus run_index(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    Setup s;
    if (!y) return MS_ERROR_MEMORY;
    MS_TRY(prepare(c, 1, &s));
    int mark = ms_scope_begin();
    MsTensor *x = permuted(c->in[0], s.perm);
    MsStatus st = x ? ms__gather_rows(y, x, s.from, s.to, s.v, s.n) : MS_ERROR_MEMORY;
    ms_scope_end(mark, NULL, 0);
    ms__index_free(s.v, s.n);
    return st;
}
MS_KERNEL(index, 0, loop, NULL, run_index);

static MsStatus run_index_put(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    Setup s;
    if (!y) return MS_ERROR_MEMORY;
    MS_TRY(prepare(c, 2, &s));
    int mark = ms_scope_begin();
    MsTensor *x = permuted(c->in[0], s.perm), *to = permuted(y, s.perm);
    MsStatus st = MS_ERROR_MEMORY;
    if (x && to) st = ms__scatter_rows(to, x, c->in[1], s.from, s.to, s.v, s.n, c->attr[1].i);
    ms_scope_end(mark, NULL, 0);
    ms__index_free(s.v, s.n);
    return st;
}
MS_KERNEL(index_put, 0, loop, NULL, run_index_put);

/* ---- gather_nd, scatter_nd ---- */

/* Views of the coordinates index[.., k], as separate indices. */
static int64_t *coordinates(const MsCall *c, int *k, int64_t *n)
{
    MsTensor *x = c->in[0], *index = c->in[1], *idx[MS_MAX_DIM];
    int nd = index->ndim - 1, count = (int)index->shape[nd];
    int64_t *v = NULL;
    *k = count;
    *n = ms__numel(nd, index->shape);
    if (count == 0) {
        v = ms__alloc((size_t)(*n > 0 ? *n : 1) * sizeof *v);
        if (v) memset(v, 0, (size_t)*n * sizeof *v);
        return v;
    }
    int mark = ms_scope_begin();
    bool ok = true;
    for (int j = 0; j < count; j++)
        ok =
            (idx[j] = ms__tensor_view(index, nd, index->shape, index->strides, j * index->strides[nd])) && ok;
    if (ok) v = ms__index_linear(c->op->name, count, idx, nd, index->shape, x->shape, MS_ERROR_RUNTIME);
    ms_scope_end(mark, NULL, 0);
    return v;
}

static MsStatus run_gather_nd(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    int k;
    int64_t n;
    if (!y) return MS_ERROR_MEMORY;
    int64_t *v = coordinates(c, &k, &n);
    if (!v) return ms_error()->code;
    MsStatus st = ms__gather_rows(y, c->in[0], 0, k, v, n);
    ms__index_free(v, n);
    return st;
}
MS_KERNEL(gather_nd, 0, loop, NULL, run_gather_nd);

static MsStatus run_scatter_nd(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    int k;
    int64_t n;
    if (!y) return MS_ERROR_MEMORY;
    int64_t *v = coordinates(c, &k, &n);
    if (!v) return ms_error()->code;
    MsStatus st = ms__scatter_rows(y, c->in[0], c->in[2], 0, k, v, n, strcmp(c->attr[0].s, "add") == 0);
    ms__index_free(v, n);
    return st;
}
MS_KERNEL(scatter_nd, 0, loop, NULL, run_scatter_nd);

/* ---- nonzero ---- */

static MsStatus nonzero(MsCall *c, const uint8_t *flag, const MsTensor *x)
{
    int64_t n = 0;
    for (int64_t k = 0; k < x->numel; k++) n += flag[k];
    int64_t shape[2] = {n, x->ndim};
    if (!c->out[0]) c->out[0] = ms_tensor_empty(MS_INT64, 2, shape);
    MsTensor *y = c->out[0];
    if (!y) return MS_ERROR_MEMORY;
    if (y->shape[0] != n || !y->contiguous)
        return MS_FAIL(MS_ERROR_RUNTIME, "For 'nonzero', the number of elements is not known in advance.");
    int64_t *to = (int64_t *)y->data, at[MS_MAX_DIM] = {0};
    for (int64_t k = 0; k < x->numel; k++) {
        if (flag[k]) {
            memcpy(to, at, (size_t)x->ndim * sizeof *at);
            to += x->ndim;
        }
        for (int d = x->ndim - 1; d >= 0 && ++at[d] == x->shape[d]; d--) at[d] = 0;
    }
    return MS_OK;
}

static MsStatus run_nonzero(MsCall *c)
{
    MsTensor *x = c->in[0];
    size_t bytes = (size_t)(x->numel > 0 ? x->numel : 1);
    uint8_t *flag = ms__alloc(bytes);
    if (!flag) return MS_ERROR_MEMORY;
    int64_t strides[MS_MAX_DIM];
    ms__row_major(x->ndim, x->shape, strides);
    ms__copy_raw(x->ndim, x->shape, flag, MS_BOOL, strides, x->data, (MsDtype)x->dtype, x->strides);
    if (x->dtype == MS_BOOL)
        for (int64_t k = 0; k < x->numel; k++) flag[k] = flag[k] != 0;
    MsStatus st = nonzero(c, flag, x);
    ms__free(flag, bytes);
    return st;
}
MS_KERNEL(nonzero, 0, loop, NULL, run_nonzero);
