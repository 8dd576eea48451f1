/* vjp.c - reverse mode. The tape is a graph (graph/ir.h) with the primal of every value beside it; constants
 * are values that no node defines. Pulling cotangents back walks it in reverse and calls the operators' vjp
 * rules, which bind below the trace: when that is another trace, the derivative is differentiated, batched or
 * staged in turn. Refused: closures per node as in most eager frameworks; rules as data can be printed,
 * replayed and swept. */
#include "core/mem.h"
#include "op/view.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static MsStatus vjp_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                         int cap, MsTensor **out, int *n_out);
static const MsInterp vjp_interp = {"gradient", vjp_bind, false, true};

static MsTensor *ones_like(MsTensor *x)
{
    return ms_full((MsInts){x->ndim, x->shape}, 1.0, (MsDtype)x->dtype);
}

MsTensor *ms__fit(MsTensor *g, MsTensor *x)
{
    if (!g) return NULL;
    if (g->ndim != x->ndim || memcmp(g->shape, x->shape, (size_t)x->ndim * sizeof x->shape[0]) != 0)
        g = ms_sum_to(g, (MsInts){x->ndim, x->shape});
    if (!g || g->dtype == x->dtype) return g;
    if (ms_dtype_is_complex((MsDtype)g->dtype) && !ms_dtype_is_complex((MsDtype)x->dtype)) g = ms_real(g);
    return g && g->dtype != x->dtype ? ms_cast(g, (MsDtype)x->dtype) : g;
}

/* ---- the tape ---- */

static bool room(MsTrace *t)
{
    if (t->graph->cap_val <= t->cap_vals) return true;
    MsTensor **vals = ms__realloc(t->vals, (size_t)t->graph->cap_val * sizeof *vals);
    if (!vals) return false;
    t->vals = vals;
    t->cap_vals = t->graph->cap_val;
    return true;
}

/* A value that no node defines. */
static int32_t leaf(MsTrace *t, MsTensor *x)
{
    MsAval a = ms__aval(x);
    int32_t id = ms__graph_input(t->graph, &a);
    if (id < 0) return -1;
    if (!room(t)) {
        t->graph->n_val--;
        return -1;
    }
    t->vals[id] = ms_tensor_ref(x);
    return id;
}

static MsTensor *twin(MsTrace *t, MsTensor *x)
{
    int32_t id = leaf(t, x);
    MsAval a = ms__aval(x);
    return id < 0 ? NULL : ms__tensor_traced(t, &a, x, NULL, id);
}

/* Records a node whose primal inputs and outputs are given and makes its outputs traced. n_out values are on
 * the tape, the first n_result of them are handed out. */
static MsStatus record(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                       int n_out, int n_result, MsTensor **out)
{
    int32_t few_id[16], *id = few_id;
    MsAval few_aval[8], *aval = few_aval;
    MsStatus st = MS_ERROR_MEMORY;
    if (n_in > 16 && !(id = ms__malloc((size_t)n_in * sizeof *id))) return st;
    if (n_out > 8 && !(aval = ms__malloc((size_t)n_out * sizeof *aval))) goto done;
    for (int i = 0; i < n_in; i++) {
        id[i] = !in[i] ? -1 : in[i]->trace == t ? in[i]->tv.id : leaf(t, in[i]);
        if (in[i] && id[i] < 0) goto done;
    }
    for (int j = 0; j < n_out; j++) aval[j] = ms__aval(out[j]);
    int32_t first = ms__graph_add(t->graph, op, attr, n_in, id, n_out, aval);
    if (first < 0) goto done;
    if (!room(t)) { /* the node has no values: take it back */
        t->graph->n_node--;
        t->graph->n_val = first;
        goto done;
    }
    for (int j = 0; j < n_out; j++) t->vals[first + j] = ms_tensor_ref(out[j]);
    st = MS_OK;
    for (int j = 0; j < n_result && st == MS_OK; j++) {
        out[j] = ms__tensor_traced(t, &aval[j], out[j], NULL, first + j);
        if (!out[j]) st = MS_ERROR_MEMORY;
    }
done:
    if (id != few_id) free(id);
    if (aval != few_aval) free(aval);
    return st;
}

extern const MsOp ms_op_call;

/* A call of a graph: runs the forward half of its linearisation and keeps the residuals as further outputs.
 */
static MsStatus bind_call(MsTrace *t, const MsAttr *attr, int n_in, MsTensor *const *in,
                          MsTensor *const *primal, MsTensor **out, int *n_out)
{
    MsGraph *g = attr[0].g, *fwd, *bwd;
    *n_out = g->n_out;
    if (ms__graph_has_host(g)) { /* rules run with the values of each call: written out on the tape */
        MsTrace *saved = ms__trace_top();
        ms__trace_resume(t);
        MsStatus done = ms__graph_replay(g, in, out);
        ms__trace_resume(saved);
        return done;
    }
    MS_TRY(ms__graph_linearize(g, &fwd, &bwd));
    MsTensor **all = ms__calloc((size_t)(fwd->n_out + fwd->n_in), sizeof *all), **x = all + fwd->n_out;
    if (!all) return MS_ERROR_MEMORY;
    for (int i = 0; i < fwd->n_in; i++) x[i] = i < n_in ? primal[i] : fwd->captured[i - n_in];
    MsAttr a = {.kind = MS_ATTR_GRAPH};
    a.g = fwd;
    int n;
    MsStatus st = ms_bind(&ms_op_call, &a, fwd->n_in, x, fwd->n_out, all, &n);
    *n_out = g->n_out;
    if (st == MS_OK) st = record(t, &ms_op_call, attr, n_in, in, fwd->n_out, g->n_out, all);
    for (int j = 0; j < g->n_out && st == MS_OK; j++) out[j] = all[j];
    free(all);
    return st;
}

static MsStatus vjp_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                         int cap, MsTensor **out, int *n_out)
{
    MsTensor *few[16], **primal = few;
    if (n_in > 16 && !(primal = ms__malloc((size_t)n_in * sizeof *primal))) return MS_ERROR_MEMORY;
    bool own = false;
    for (int i = 0; i < n_in; i++) {
        bool mine = in[i] && in[i]->trace == t;
        own |= mine && !t->paused;
        primal[i] = mine ? in[i]->tv.value : in[i];
    }
    MsStatus st;
    bool done = false;
    if (own && (op->flags & MS_OP_CONTROL)) {
        if (op == &ms_op_call) {
            st = bind_call(t, attr, n_in, in, primal, out, n_out);
            done = true;
        } else {
            st = ms__control_expand(op, attr, n_in, in, out, n_out, &done);
        }
        if (done || st != MS_OK) goto end;
    }
    st = ms_bind(op, attr, n_in, primal, cap, out, n_out);
    if (st == MS_OK && own && !(op->flags & MS_OP_NO_GRAD))
        st = record(t, op, attr, n_in, in, *n_out, *n_out, out);
end:
    if (primal != few) free(primal);
    return st;
}

MsTrace *ms_vjp_begin(int n_in, MsTensor *const *in, MsTensor **x, int n_w, MsTensor *const *weights)
{
    for (int i = 0; i < n_in; i++)
        if (!in[i]) return NULL;
    MsTrace *t = ms__trace_new(&vjp_interp);
    if (!t) return NULL;
    t->n_x = n_in;
    t->n_w = n_w;
    t->graph = ms__graph_new();
    bool ok = t->graph != NULL;
    for (int i = 0; i < n_in && ok; i++) {
        MsTensor *v = ms__lift(t->below, in[i]);
        ok = v && (x[i] = twin(t, v));
    }
    for (int k = 0; k < n_w && ok; k++) {
        int mark = ms_scope_begin();
        MsTensor *v = twin(t, weights[k]);
        ok = v && ms__env_set(t, weights[k], v) == MS_OK;
        ms_scope_end(mark, NULL, 0);
    }
    if (ok) return t;
    ms__trace_close(t);
    return NULL;
}

/* ---- pulling back ---- */

static MsStatus accumulate(MsTensor **ct, MsTensor *g)
{
    if (*ct) {
        g = ms_add(*ct, g);
        if (!g) return ms_error()->code;
        ms_tensor_unref(*ct);
    }
    *ct = ms_tensor_ref(g);
    return MS_OK;
}

static MsStatus pull_node(MsTrace *t, const MsNode *n, const bool *live, MsTensor **ct)
{
    MsTensor *in[n->n_in + 1], *grad[n->n_in + 1];
    bool want[n->n_in + 1];
    bool any = false;
    for (int i = 0; i < n->n_in; i++) {
        in[i] = n->in[i] < 0 ? NULL : t->vals[n->in[i]];
        grad[i] = NULL;
        want[i] = n->in[i] >= 0 && live[n->in[i]];
        any |= want[i];
    }
    if (!any) return MS_OK;
    if (!n->op->vjp)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED, "For '%s', the gradient is not defined.", n->op->name);
    MsVjp c = {n->op, n->attr, n->n_in, n->n_out, in, t->vals + n->out, ct + n->out, want, grad};
    int mark = ms_scope_begin();
    MsStatus st = n->op->vjp(&c);
    if (st == MS_OK && ms__failed()) st = ms_error()->code; /* a nested call in the rule returned NULL */
    for (int i = 0; i < n->n_in && st == MS_OK; i++) {
        if (!want[i] || !grad[i]) continue;
        MsTensor *g = ms__fit(grad[i], in[i]);
        st = g ? accumulate(&ct[n->in[i]], g) : ms_error()->code;
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* live[v]: v depends on an input or a weight. */
static void mark_live(const MsTrace *t, bool *live)
{
    const MsGraph *g = t->graph;
    for (int v = 0; v < t->n_x + t->n_w; v++) live[v] = true;
    for (int k = 0; k < g->n_node; k++) {
        const MsNode *n = &g->node[k];
        bool any = false;
        for (int i = 0; i < n->n_in; i++) any |= n->in[i] >= 0 && live[n->in[i]];
        for (int j = 0; j < n->n_out; j++) live[n->out + j] = any;
    }
}

static MsStatus seed(MsTrace *t, int n_out, MsTensor *const *y, MsTensor *const *cts, MsTensor **ct)
{
    for (int j = 0; j < n_out; j++) {
        bool left = y[j] && t->closed && y[j]->trace == t;
        MsTensor *v = left ? y[j] : y[j] ? ms__lift(t, y[j]) : NULL;
        if (!v)
            return ms__failed() ? ms_error()->code
                                : MS_FAIL(MS_ERROR_TYPE, "For 'grad', output %d is missing.", j);
        if (v->trace != t) continue; /* does not depend on the inputs */
        MsTrace *saved = ms__trace_suspend(t);
        MsTensor *g = cts && cts[j] ? cts[j] : ones_like(v->tv.value);
        MsStatus st = MS_OK;
        if (g &&
            (g->ndim != v->ndim || memcmp(g->shape, v->shape, (size_t)v->ndim * sizeof v->shape[0]) != 0))
            st = MS_FAIL(MS_ERROR_VALUE,
                         "For 'vjp', the cotangent of output %d must have shape %s, but got %s.", j,
                         ms__shape_text(v->ndim, v->shape), ms__shape_text(g->ndim, g->shape));
        if (st == MS_OK) g = ms__fit(g, v);
        if (st == MS_OK) st = g ? accumulate(&ct[v->tv.id], g) : ms_error()->code;
        ms__trace_resume(saved);
        MS_TRY(st);
    }
    return MS_OK;
}

MsStatus ms_vjp_grad(MsTrace *t, int n_out, MsTensor *const *y, MsTensor *const *cts, MsTensor **grad)
{
    int outer = ms_scope_begin();
    int n_val = t->graph->n_val, n_grad = t->n_x + t->n_w;
    for (int i = 0; i < n_grad; i++) grad[i] = NULL;
    MsTensor **ct = ms__calloc((size_t)n_val + 1, sizeof *ct);
    bool *live = ms__calloc((size_t)n_val + 1, sizeof *live);
    MsStatus st = ct && live ? MS_OK : MS_ERROR_MEMORY;
    if (st == MS_OK) st = seed(t, n_out, y, cts, ct);
    if (st == MS_OK && t->graph->n_val > n_val)
        st = MS_FAIL(MS_ERROR_RUNTIME, "For 'grad', an output was changed while its gradient was taken.");
    MsTrace *saved = ms__trace_suspend(t);
    if (st == MS_OK) mark_live(t, live);
    for (int k = t->graph->n_node - 1; k >= 0 && st == MS_OK; k--) {
        const MsNode *n = &t->graph->node[k];
        bool any = false;
        for (int j = 0; j < n->n_out; j++) any |= ct[n->out + j] != NULL;
        if (any) st = pull_node(t, n, live, ct);
        for (int j = 0; j < n->n_out; j++) {
            ms_tensor_unref(ct[n->out + j]);
            ct[n->out + j] = NULL;
        }
    }
    for (int i = 0; i < n_grad && st == MS_OK; i++) {
        grad[i] = ct[i] ? ms__scope_own(ms_tensor_ref(ct[i])) : ms__zeros_like(t->vals[i]);
        if (!grad[i]) st = ms_error()->code;
    }
    for (int v = 0; ct && v < n_val; v++) ms_tensor_unref(ct[v]);
    ms__trace_resume(saved);
    free(ct);
    free(live);
    ms_scope_end(outer, grad, st == MS_OK ? n_grad : 0);
    return st;
}

static MsTensor *lower(MsTrace *t, MsTensor *y)
{
    return y->trace == t ? y->tv.value : y;
}

MsTensor *ms_vjp_value(MsTrace *t, MsTensor *y)
{
    MsTensor *v = y ? ms__lift(t, y) : NULL;
    return v ? ms__scope_own(ms_tensor_ref(lower(t, v))) : NULL;
}

MsStatus ms_vjp_leave(MsTrace *t)
{
    MsStatus st = ms__failed() ? MS_OK : ms__env_flush(t, lower);
    ms__trace_leave(t);
    return st;
}

MsStatus ms_vjp_end(MsTrace *t)
{
    MsStatus st = ms__failed() ? MS_OK : ms__env_flush(t, lower);
    ms__trace_close(t);
    return st;
}
