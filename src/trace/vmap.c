/* vmap.c - batching: a value hides one axis of the tensor it stands for. Elementwise operators are batched by
 * aligning that axis to the front, others by their batch rule, and what has no rule by a loop over the
 * examples, so that every operator can be batched and rules are only a matter of speed. */
#include "core/mem.h"
#include "op/batch.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static MsStatus vmap_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                          int cap, MsTensor **out, int *n_out);
static const MsInterp vmap_interp = {"batched function", vmap_bind, false, false};

/* Moves axis `from` to the front. */
static MsTensor *to_front(MsTensor *x, int from)
{
    if (from == 0) return x;
    int64_t perm[MS_MAX_DIM];
    perm[0] = from;
    for (int d = 0, k = 1; d < x->ndim; d++)
        if (d != from) perm[k++] = d;
    return ms_transpose(x, (MsInts){x->ndim, perm});
}

static MsTensor *example(MsTensor *x, int axis, int64_t k)
{
    int64_t begin[MS_MAX_DIM] = {0}, size[MS_MAX_DIM], step[MS_MAX_DIM], shape[MS_MAX_DIM];
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        size[d] = d == axis ? 1 : x->shape[d];
        step[d] = 1;
        if (d != axis) shape[n++] = x->shape[d];
    }
    begin[axis] = k;
    x = ms_slice(x, (MsInts){x->ndim, begin}, (MsInts){x->ndim, size}, (MsInts){x->ndim, step});
    return ms_reshape(x, (MsInts){n, shape});
}

static MsStatus batch_elementwise(MsBatch *c)
{
    int rank = 0;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i]) {
            int nd = c->in[i]->ndim - (c->axis[i] >= 0);
            if (nd > rank) rank = nd;
        }
    if (rank + 1 > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', batching needs more than %d dimensions.", c->op->name,
                       MS_MAX_DIM);
    MsTensor *x[c->n_in + 1];
    for (int i = 0; i < c->n_in; i++) {
        x[i] = c->in[i];
        if (!x[i] || c->axis[i] < 0) continue;
        x[i] = to_front(x[i], c->axis[i]);
        if (!x[i]) return ms_error()->code;
        int missing = rank + 1 - x[i]->ndim;
        if (missing == 0) continue;
        int64_t shape[MS_MAX_DIM] = {x[i]->shape[0]};
        for (int d = 0; d < rank; d++) shape[1 + d] = d < missing ? 1 : x[i]->shape[1 + d - missing];
        x[i] = ms_reshape(x[i], (MsInts){rank + 1, shape});
        if (!x[i]) return ms_error()->code;
    }
    for (int j = 0; j < c->n_out; j++) c->out_axis[j] = 0;
    return ms_bind(c->op, c->attr, c->n_in, x, c->n_out, c->out, &c->n_out);
}

MsStatus ms__batch_loop(MsBatch *c)
{
    if (c->size == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', an empty batch cannot be run one example at a time.",
                       c->op->name);
    size_t n = (size_t)c->size;
    MsTensor **part = ms__malloc(n * (size_t)c->n_out * sizeof *part),
             **one = ms__malloc((size_t)c->n_out * sizeof *one);
    MsTensor *x[c->n_in + 1];
    MsStatus st = part && one ? MS_OK : MS_ERROR_MEMORY;
    for (int64_t k = 0; k < c->size && st == MS_OK; k++) {
        for (int i = 0; i < c->n_in; i++) {
            x[i] = c->in[i] && c->axis[i] >= 0 ? example(c->in[i], c->axis[i], k) : c->in[i];
            if (c->in[i] && !x[i]) st = ms_error()->code;
        }
        if (st == MS_OK) st = ms_bind(c->op, c->attr, c->n_in, x, c->n_out, one, &c->n_out);
        for (int j = 0; j < c->n_out && st == MS_OK; j++) {
            int64_t shape[MS_MAX_DIM] = {1};
            const MsTensor *first = k ? part[(size_t)j * n] : NULL;
            if (first && (first->ndim != one[j]->ndim + 1 ||
                          memcmp(first->shape + 1, one[j]->shape, (size_t)one[j]->ndim * sizeof *shape))) {
                st = MS_FAIL(
                    MS_ERROR_VALUE,
                    "For '%s', the results of the examples of a batch must have one shape, but output %d "
                    "of example %lld has %s and that of example 0 %s.",
                    c->op->name, j, (long long)k, ms__shape_text(one[j]->ndim, one[j]->shape),
                    ms__shape_text(first->ndim - 1, first->shape + 1));
                break;
            }
            if (one[j]->ndim + 1 > MS_MAX_DIM) {
                st = MS_FAIL(MS_ERROR_VALUE, "For '%s', batching needs more than %d dimensions.", c->op->name,
                             MS_MAX_DIM);
                break;
            }
            memcpy(shape + 1, one[j]->shape, (size_t)one[j]->ndim * sizeof shape[0]);
            part[(size_t)j * n + (size_t)k] = ms_reshape(one[j], (MsInts){one[j]->ndim + 1, shape});
            if (!part[(size_t)j * n + (size_t)k]) st = ms_error()->code;
        }
    }
    for (int j = 0; j < c->n_out && st == MS_OK; j++) {
        c->out[j] = ms_concat((int)n, part + (size_t)j * n, 0);
        c->out_axis[j] = 0;
        if (!c->out[j]) st = ms_error()->code;
    }
    free(part);
    free(one);
    return st;
}

/* How many outputs: the shape rule over one example's shapes. */
static MsStatus count_outputs(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap,
                              int *n_out)
{
    MsAval *a = ms__malloc((size_t)(n_in + cap + 1) * sizeof *a);
    if (!a) return MS_ERROR_MEMORY;
    for (int i = 0; i < n_in; i++) {
        if (in[i])
            a[i] = ms__aval(in[i]);
        else
            a[i].dtype = MS_DTYPE_NONE;
    }
    MsStatus st = ms__infer(op, attr, n_in, a, cap, a + n_in, n_out);
    free(a);
    return st;
}

extern const MsOp ms_op_call;

static MsStatus vmap_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                          int cap, MsTensor **out, int *n_out)
{
    MsTensor *x[n_in + 1];
    int axis[n_in + 1];
    bool own = false;
    for (int i = 0; i < n_in; i++) {
        bool mine = in[i] && in[i]->trace == t;
        own |= mine;
        x[i] = mine ? in[i]->tv.value : in[i];
        axis[i] = mine ? in[i]->tv.id : -1;
    }
    if (!own) return ms_bind(op, attr, n_in, x, cap, out, n_out);
    if (op == &ms_op_call) {
        *n_out = attr[0].g->n_out;
        return ms__graph_replay(attr[0].g, in, out);
    }
    if (op->flags & MS_OP_CONTROL) {
        bool done;
        MS_TRY(ms__control_expand(op, attr, n_in, in, out, n_out, &done));
        if (done) return MS_OK;
    }
    MS_TRY(count_outputs(op, attr, n_in, in, cap, n_out));
    int out_axis[*n_out + 1];
    MsBatch c = {op, attr, n_in, *n_out, x, axis, t->size, out, out_axis};
    if (op->batch)
        MS_TRY(op->batch(&c));
    else if (op->flags & MS_OP_ELEMENTWISE)
        MS_TRY(batch_elementwise(&c));
    else
        MS_TRY(ms__batch_loop(&c));
    if (ms__failed()) return ms_error()->code;
    for (int j = 0; j < *n_out; j++) {
        if (out_axis[j] < 0) continue;
        MsAval a = {(MsDtype)out[j]->dtype, 0, {0}};
        for (int d = 0; d < out[j]->ndim; d++)
            if (d != out_axis[j]) a.shape[a.ndim++] = out[j]->shape[d];
        out[j] = ms__tensor_traced(t, &a, out[j], NULL, out_axis[j]);
        if (!out[j]) return ms_error()->code;
    }
    return MS_OK;
}

/* A batched input, retained: what was written into `x` is written into `in` at the end. */
struct MsBatched {
    MsTensor *in, *x, *value; /* `value` is what x stood for at first */
    int axis;
};

static MsStatus remember(MsTrace *t, MsTensor *in, MsTensor *x, int axis)
{
    struct MsBatched *b = ms__realloc(t->batched, (size_t)(t->n_x + 1) * sizeof *b);
    if (!b) return MS_ERROR_MEMORY;
    t->batched = b;
    b[t->n_x++] = (struct MsBatched){ms_tensor_ref(in), ms_tensor_ref(x), ms_tensor_ref(x->tv.value), axis};
    return MS_OK;
}

static MsStatus forget(MsTrace *t, MsStatus st)
{
    for (int k = 0; k < t->n_x; k++) {
        struct MsBatched *b = &t->batched[k];
        if (st == MS_OK && (b->x->trace != t || b->x->tv.value != b->value)) {
            MsTensor *v = ms_vmap_value(t, b->x, b->axis);
            MsTrace *saved = ms__trace_suspend(t);
            st = v ? ms_tensor_write(b->in, v) : ms_error()->code;
            ms__trace_resume(saved);
        }
        ms_tensor_unref(b->in);
        ms_tensor_unref(b->x);
        ms_tensor_unref(b->value);
    }
    free(t->batched);
    t->batched = NULL;
    t->n_x = 0;
    return st;
}

MsTrace *ms_vmap_begin(int n_in, MsTensor *const *in, const int *axis, MsTensor **x)
{
    int64_t size = -1;
    for (int i = 0; i < n_in; i++) {
        if (!in[i]) return NULL;
        if (axis[i] == -1) continue;
        if (axis[i] < 0 || axis[i] >= in[i]->ndim)
            return MS_FAIL_NULL(MS_ERROR_VALUE,
                                "For 'vmap', the axis of input %d must be in [0, %d), but got %d.", i,
                                in[i]->ndim, axis[i]);
        if (size >= 0 && in[i]->shape[axis[i]] != size)
            return MS_FAIL_NULL(MS_ERROR_VALUE,
                                "For 'vmap', the batch sizes must be equal, but got %lld and %lld.",
                                (long long)size, (long long)in[i]->shape[axis[i]]);
        size = in[i]->shape[axis[i]];
    }
    if (size < 0) return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'vmap', at least one input must be batched.");
    MsTrace *t = ms__trace_new(&vmap_interp);
    if (!t) return NULL;
    t->size = size;
    for (int i = 0; i < n_in; i++) {
        MsTensor *v = ms__lift(t->below, in[i]);
        MsAval a = {(MsDtype)in[i]->dtype, 0, {0}};
        for (int d = 0; d < in[i]->ndim; d++)
            if (d != axis[i]) a.shape[a.ndim++] = in[i]->shape[d];
        x[i] = v && axis[i] >= 0 ? ms__tensor_traced(t, &a, v, NULL, axis[i]) : v;
        if (x[i] && axis[i] >= 0 && remember(t, in[i], x[i], axis[i]) != MS_OK) x[i] = NULL;
        if (!x[i]) {
            forget(t, MS_ERROR_MEMORY);
            ms__trace_close(t);
            return NULL;
        }
    }
    return t;
}

/* The full tensor with the batch axis at `axis`; a value that was not batched is repeated. */
MsTensor *ms_vmap_value(MsTrace *t, MsTensor *y, int axis)
{
    MsTensor *v = y ? ms__lift(t, y) : NULL;
    if (!v) return NULL;
    MsTrace *saved = ms__trace_suspend(t);
    int from = 0;
    if (v->trace == t) {
        from = v->tv.id;
        v = v->tv.value;
    } else if (v->ndim < MS_MAX_DIM) {
        int64_t shape[MS_MAX_DIM] = {t->size};
        memcpy(shape + 1, v->shape, (size_t)v->ndim * sizeof shape[0]);
        v = ms_broadcast_to(v, (MsInts){v->ndim + 1, shape});
    } else {
        MS_FAIL(MS_ERROR_VALUE, "For 'vmap', an output has too many dimensions.");
        v = NULL;
    }
    if (v && (axis < -v->ndim || axis >= v->ndim)) {
        MS_FAIL(MS_ERROR_VALUE, "For 'vmap', the output axis must be in [%d, %d), but got %d.", -v->ndim,
                v->ndim, axis);
        v = NULL;
    }
    if (v) {
        if (axis < 0) axis += v->ndim;
        int64_t perm[MS_MAX_DIM];
        for (int d = 0, k = 0; d < v->ndim; d++) {
            if (d == axis) {
                perm[d] = from;
                continue;
            }
            if (k == from) k++;
            perm[d] = k++;
        }
        v = ms_transpose(v, (MsInts){v->ndim, perm});
    }
    ms__trace_resume(saved);
    return v;
}

static MsTensor *lower(MsTrace *t, MsTensor *y)
{
    if (y->trace == t)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "A batched value was written into a tensor from outside of 'vmap'.");
    return y;
}

MsStatus ms_vmap_end(MsTrace *t)
{
    bool failed = ms__failed();
    MsStatus st = forget(t, failed ? ms_error()->code : MS_OK);
    if (st == MS_OK) st = ms__env_flush(t, lower);
    ms__trace_close(t);
    return failed ? MS_OK : st;
}
