/* stage.c - staging: operators become nodes of a graph and nothing is computed. Every call is taken, also one
 * on constants, so that the graph is the whole function. Tensors of outside are captured by reference: the
 * graph reads what they hold when it runs, and those written become further outputs. Numbers of the program
 * become `full` nodes, so that they fold and fuse. Captured values get ids as they are met; the end renumbers
 * them behind the arguments. */
#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static MsStatus stage_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                           int cap, MsTensor **out, int *n_out);
static const MsInterp stage_interp = {"staged function", stage_bind, true, false};

extern const MsOp ms_op_call, ms_op_full, ms_op_full_int;

static bool room(MsTrace *t)
{
    if (t->graph->cap_val <= t->cap_vals) return true;
    MsTensor **vals = ms__realloc(t->vals, (size_t)t->graph->cap_val * sizeof *vals);
    if (!vals) return false;
    memset(vals + t->cap_vals, 0, (size_t)(t->graph->cap_val - t->cap_vals) * sizeof *vals);
    t->vals = vals;
    t->cap_vals = t->graph->cap_val;
    return true;
}

static bool same_value(const MsTensor *a, const MsTensor *b)
{
    if (a == b) return true;
    return a->storage && a->storage == b->storage && a->data == b->data && a->ndim == b->ndim &&
           a->dtype == b->dtype && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]) == 0 &&
           memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof a->strides[0]) == 0;
}

static int32_t literal(MsTrace *t, MsTensor *x)
{
    MsAttr attr[3] = {{.kind = MS_ATTR_INTS}, {.kind = MS_ATTR_FLOAT}, {.kind = MS_ATTR_DTYPE}};
    attr[2].i = x->dtype;
    bool exact = !ms_dtype_is_float((MsDtype)x->dtype);
    if (exact) attr[1].kind = MS_ATTR_INT;
    MsStatus st = exact ? ms_tensor_item_int(x, &attr[1].i) : ms_tensor_item(x, &attr[1].f);
    MsAval a = ms__aval(x);
    return st == MS_OK ? ms__graph_add(t->graph, exact ? &ms_op_full_int : &ms_op_full, attr, 0, NULL, 1, &a)
                       : -1;
}

/* The value id of x: its own, or of the captured value that it is. */
static int32_t id_of(MsTrace *t, MsTensor *x)
{
    if (x->trace == t) return x->tv.id;
    if (ms__ready(x) != MS_OK) return -1;
    if (!x->trace && x->literal && x->ndim == 0 && !ms_dtype_is_complex((MsDtype)x->dtype)) {
        int32_t id = literal(t, x);
        return id >= 0 && room(t) ? id : -1;
    }
    for (int32_t v = 0; v < t->graph->n_val; v++)
        if (t->graph->def[v] < 0 && t->vals[v] && same_value(t->vals[v], x)) return v;
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

static MsStatus stage_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                           int cap, MsTensor **out, int *n_out)
{
    if (op == &ms_op_call) { /* nested graphs are inlined */
        *n_out = attr[0].g->n_out;
        MsTrace *saved = ms__trace_top();
        ms__trace_resume(t); /* also nodes without inputs belong here */
        MsStatus st = ms__graph_replay(attr[0].g, in, out);
        ms__trace_resume(saved);
        return st;
    }
    MsAval *aval = ms__malloc((size_t)(n_in + cap + 1) * sizeof *aval);
    int32_t *id = ms__malloc((size_t)(n_in + 1) * sizeof *id);
    MsStatus st = aval && id ? MS_OK : MS_ERROR_MEMORY;
    for (int i = 0; i < n_in && st == MS_OK; i++) {
        aval[i].dtype = MS_DTYPE_NONE;
        id[i] = -1;
        if (!in[i]) continue;
        aval[i] = ms__aval(in[i]);
        id[i] = id_of(t, in[i]);
        if (id[i] < 0) st = ms_error()->code;
    }
    MsAval *out_aval = aval ? aval + n_in : NULL;
    if (st == MS_OK) st = ms__infer(op, attr, n_in, aval, cap, out_aval, n_out);
    for (int j = 0; st == MS_OK && j < *n_out; j++)
        for (int d = 0; st == MS_OK && d < out_aval[j].ndim; d++)
            if (out_aval[j].shape[d] < 0)
                st = MS_FAIL(
                    MS_ERROR_RUNTIME,
                    "The shape that '%s' gives depends on a tensor's values, and inside a staged function it "
                    "has no value yet.",
                    op->name);
    int32_t first = -1;
    if (st == MS_OK) {
        first = ms__graph_add(t->graph, op, attr, n_in, id, *n_out, out_aval);
        if (first < 0 || !room(t)) st = MS_ERROR_MEMORY;
        if (first >= 0 && ms__where_hook) t->graph->node[t->graph->n_node - 1].loc = ms__where_hook();
    }
    for (int j = 0; st == MS_OK && j < *n_out; j++) {
        out[j] = ms__tensor_traced(t, &out_aval[j], NULL, NULL, first + j);
        if (!out[j]) st = MS_ERROR_MEMORY;
    }
    free(aval);
    free(id);
    return st;
}

MsTrace *ms__stage_begin(int n_in, const MsAval *in, MsTensor **x)
{
    MsTrace *t = ms__trace_new(&stage_interp);
    if (!t) return NULL;
    t->n_x = n_in;
    t->graph = ms__graph_new();
    for (int i = 0; i < n_in; i++) {
        int32_t id = t->graph ? ms__graph_input(t->graph, &in[i]) : -1;
        x[i] = id >= 0 && room(t) ? ms__tensor_traced(t, &in[i], NULL, NULL, id) : NULL;
        if (!x[i]) {
            ms__trace_close(t);
            return NULL;
        }
    }
    if (!t->graph) {
        ms__trace_close(t);
        return NULL;
    }
    return t;
}

MsTrace *ms_stage_begin(int n_in, MsTensor *const *in, MsTensor **x)
{
    MsAval *aval = ms__malloc((size_t)(n_in + 1) * sizeof *aval);
    if (!aval) return NULL;
    MsTrace *t = NULL;
    int n = 0;
    while (n < n_in && in[n]) {
        aval[n] = ms__aval(in[n]);
        n++;
    }
    if (n == n_in) t = ms__stage_begin(n_in, aval, x);
    free(aval);
    return t;
}

void ms_stage_cancel(MsTrace *t)
{
    ms__trace_close(t);
}

/* ---- the end: inputs first, then nodes ---- */

typedef struct Renumber {
    MsGraph *to;
    int32_t *map;
} Renumber;

static MsStatus copy_nodes(const MsGraph *from, Renumber *r)
{
    for (int k = 0; k < from->n_node; k++) {
        const MsNode *n = &from->node[k];
        int32_t in[n->n_in + 1];
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? -1 : r->map[n->in[i]];
        int32_t first = ms__graph_add(r->to, n->op, n->attr, n->n_in, in, n->n_out, from->val + n->out);
        if (first < 0) return MS_ERROR_MEMORY;
        r->to->node[r->to->n_node - 1].loc = n->loc;
        for (int j = 0; j < n->n_out; j++) r->map[n->out + j] = first + j;
    }
    return MS_OK;
}

/* writes: what was written inside becomes further outputs. */
static MsStatus finish(MsTrace *t, int n_out, MsTensor *const *y, bool writes, MsGraph *g, int32_t *out)
{
    int n = 0;
    for (int j = 0; j < n_out; j++) {
        MsTensor *v = y[j] ? ms__lift(t, y[j]) : NULL;
        if (!v)
            return ms__failed() ? ms_error()->code
                                : MS_FAIL(MS_ERROR_TYPE, "For 'jit', output %d is missing.", j);
        if ((out[n++] = id_of(t, v)) < 0) return MS_ERROR_MEMORY;
    }
    int32_t root[t->n_env + 1];
    int n_written = 0;
    for (int k = 0; k < t->n_env; k++) {
        MsEnvEntry *e = &t->env[k];
        if (!e->written || !writes) continue;
        bool alone = atomic_load(&e->root->ref) == 1 && (!e->storage || atomic_load(&e->storage->ref) == 1);
        if (alone) continue; /* made inside, seen by nobody outside */
        e->root->literal = false;
        root[n_written] = id_of(t, e->root);
        out[n] = id_of(t, e->value);
        if (root[n_written++] < 0 || out[n++] < 0) return MS_ERROR_MEMORY;
    }
    const MsGraph *old = t->graph;
    int32_t *map = ms__calloc((size_t)old->n_val + 1, sizeof *map);
    g->captured = ms__calloc((size_t)(old->n_in - t->n_x) + 1, sizeof *g->captured);
    g->written = ms__calloc((size_t)n_written + 1, sizeof *g->written);
    MsStatus st = map && g->captured && g->written ? MS_OK : MS_ERROR_MEMORY;
    g->n_arg = t->n_x;
    for (int32_t v = 0; v < old->n_val && st == MS_OK; v++) {
        if (old->def[v] >= 0) continue;
        int32_t id = ms__graph_input(g, &old->val[v]);
        if (id < 0) st = MS_ERROR_MEMORY;
        map[v] = id;
        if (v >= t->n_x && id >= 0) g->captured[id - t->n_x] = ms_tensor_ref(t->vals[v]);
    }
    Renumber r = {g, map};
    if (st == MS_OK) st = copy_nodes(old, &r);
    for (int j = 0; j < n && st == MS_OK; j++) out[j] = map[out[j]];
    if (st == MS_OK) st = ms__graph_set_out(g, n, out);
    g->n_result = n_out;
    for (int k = 0; k < n_written && st == MS_OK; k++) g->written[k] = map[root[k]] - t->n_x;
    free(map);
    return st;
}

MsGraph *ms_stage_end(MsTrace *t, int n_out, MsTensor *const *y)
{
    int mark = ms_scope_begin();
    MsGraph *g = ms__graph_new();
    int32_t *out = ms__malloc((size_t)(n_out + t->n_env + 1) * sizeof *out);
    MsStatus st = g && out ? finish(t, n_out, y, true, g, out) : MS_ERROR_MEMORY;
    free(out);
    ms__trace_close(t);
    ms_scope_end(mark, NULL, 0);
    if (st == MS_OK) return g;
    ms_graph_unref(g);
    return NULL;
}

/* ---- values in the middle ---- */

/* What x is in t, below the derivatives that were opened inside; NULL where anything else is between. */
static MsTensor *down(MsTrace *t, MsTensor *x)
{
    MsTrace *s = ms__trace_top();
    for (; s && s != t; s = s->below) {
        x = ms__lift(s, x);
        if (!x || (!s->interp->follows && (x->trace == s || s->interp->binds_all))) return NULL;
        if (x->trace == s) x = x->tv.value;
    }
    x = s ? ms__lift(t, x) : NULL;
    return x && x->trace == t ? x : NULL;
}

/* The first part of g, which computes x from concrete arguments, run outside of every trace. */
static MsStatus run_part(MsTrace *t, MsGraph *g, MsTensor *const *in, MsTensor **value)
{
    MsTrace *saved = ms__trace_top();
    MsTensor **arg = ms__malloc((size_t)(g->n_arg + 1) * sizeof *arg);
    MsStatus st = arg ? MS_OK : MS_ERROR_MEMORY;
    ms__trace_resume(t->below);
    for (int i = 0; i < g->n_in && st == MS_OK; i++) {
        MsTensor *x = ms__concrete(i < g->n_arg ? in[i] : g->captured[i - g->n_arg]);
        if (!x)
            st = ms__failed()
                     ? ms_error()->code
                     : MS_FAIL(MS_ERROR_NOT_IMPLEMENTED, "A tensor has no value in this transformation.");
        else if (i < g->n_arg)
            arg[i] = x;
        else if (x != g->captured[i - g->n_arg]) {
            ms_tensor_unref(g->captured[i - g->n_arg]);
            g->captured[i - g->n_arg] = ms_tensor_ref(x);
        }
    }
    ms__trace_resume(NULL);
    if (st == MS_OK) st = ms_graph_call(g, g->n_arg, arg, value);
    ms__trace_resume(saved);
    free(arg);
    return st;
}

MsStatus ms__stage_peek(MsTrace *t, MsTensor *x, MsTensor *const *in, MsTensor **value, MsTensor **handle)
{
    MsTensor *v = down(t, x);
    if (!v)
        return ms__failed() ? ms_error()->code
                            : MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                                      "The value of a tensor is needed inside another transformation.");
    MsAval a = ms__aval(v);
    *handle = ms__tensor_traced(t, &a, NULL, NULL, v->tv.id);
    MsGraph *whole = ms__graph_new(), *part = NULL;
    int32_t out[1];
    MsStatus st = *handle && whole ? finish(t, 1, &v, false, whole, out) : MS_ERROR_MEMORY;
    if (st == MS_OK) st = ms__graph_split(whole, 1, &part, NULL);
    if (st == MS_OK) st = run_part(t, part, in, value);
    ms_graph_unref(whole);
    ms_graph_unref(part);
    return st;
}
