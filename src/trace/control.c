#define _GNU_SOURCE
/* control.c - control operators as interpreters meet them.
 *
 * With a concrete condition a control operator is just what it does: pick a branch, loop, and apply
 * sub-graphs with `call`, which is compiled code for concrete values and composes with every interpreter.
 * Only when the condition has no value (staging below) does the operator itself become a node; then its
 * gradient is vjp_call. Refused: separate derivative rules for cond, while and scan; recomputing forward
 * costs time in that one case and makes any order work. */
#include "core/mem.h"
#include "op/view.h"
#include "trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const MsOp ms_op_call, ms_op_cond, ms_op_while, ms_op_scan, ms_op_vjp_call;

/* Applies g to n values: straight to the executor when all are concrete and nothing is traced. */
static MsStatus apply(MsGraph *g, int n, MsTensor *const *in, MsTensor **out)
{
    bool traced = ms__trace_top() != NULL;
    for (int i = 0; i < n; i++) traced |= in[i]->trace != NULL;
    if (!traced) return ms__graph_run(g, in, out);
    MsAttr a = {.kind = MS_ATTR_GRAPH};
    a.g = g;
    int n_out;
    return ms_bind(&ms_op_call, &a, n, in, g->n_out, out, &n_out);
}

static MsStatus truth(MsTensor *x, bool *value, bool *known)
{
    MsTensor *c = ms__concrete(x);
    *known = c != NULL;
    if (!c) return ms__failed() ? ms_error()->code : MS_OK;
    int64_t v;
    MS_TRY(ms_tensor_item_int(c, &v));
    *value = v != 0;
    return MS_OK;
}

/* Makes x[0..n) hold y[0..n) in the caller's own references, so that a long loop keeps only its last values.
 */
static void carry(MsTensor **x, MsTensor *const *y, int n, bool first)
{
    for (int j = 0; j < n; j++) ms_tensor_ref(y[j]);
    for (int j = 0; j < n; j++) {
        if (!first) ms_tensor_unref(x[j]);
        x[j] = y[j];
    }
}

/* Ends a loop: the carried values become results in the open scope, or are dropped after an error. */
static MsStatus settle(MsTensor **x, MsTensor **out, int n, bool held, MsStatus st)
{
    for (int j = 0; j < n; j++) {
        if (st == MS_OK)
            out[j] = held ? ms__scope_own(x[j]) : x[j];
        else if (held)
            ms_tensor_unref(x[j]);
        if (st == MS_OK && !out[j]) st = MS_ERROR_MEMORY;
    }
    return st;
}

static MsStatus expand_while(const MsAttr *attr, int n_in, MsTensor *const *in, MsTensor **out, bool *done)
{
    MsGraph *test = attr[0].g, *body = attr[1].g;
    int n = (int)attr[2].i;
    MsTensor **x = ms__malloc((size_t)(n_in + n + 1) * sizeof *x), **y = x ? x + n_in : NULL;
    if (!x) return MS_ERROR_MEMORY;
    bool held = false;
    memcpy(x, in, (size_t)n_in * sizeof *x);
    MsStatus st = MS_OK;
    bool more = false, known = true;
    *done = true;
    while (st == MS_OK) {
        MsTensor *pred = NULL;
        int mark = ms_scope_begin();
        st = apply(test, n_in, x, &pred);
        if (st == MS_OK) st = truth(pred, &more, &known);
        ms_scope_end(mark, NULL, 0);
        if (st != MS_OK) break;
        if (!known) { /* the very first test decides whether we may loop here */
            *done = false;
            break;
        }
        if (!more) break;
        mark = ms_scope_begin();
        st = apply(body, n_in, x, y);
        if (st == MS_OK) {
            carry(x, y, n, !held);
            held = true;
        }
        ms_scope_end(mark, NULL, 0);
    }
    st = settle(x, out, n, held, st);
    free(x);
    return st;
}

static MsTensor *nth(MsTensor *x, int64_t k)
{
    int64_t begin[MS_MAX_DIM] = {k}, size[MS_MAX_DIM], step[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++) {
        size[d] = d ? x->shape[d] : 1;
        step[d] = 1;
    }
    x = ms_slice(x, (MsInts){x->ndim, begin}, (MsInts){x->ndim, size}, (MsInts){x->ndim, step});
    return x ? ms_reshape(x, (MsInts){x->ndim - 1, x->shape + 1}) : NULL;
}

static MsTensor *stacked(MsTensor **part, int64_t n, const MsAval *a)
{
    int64_t shape[MS_MAX_DIM] = {n};
    memcpy(shape + 1, a->shape, (size_t)a->ndim * sizeof shape[0]);
    if (n == 0) return ms_full((MsInts){a->ndim + 1, shape}, 0, a->dtype);
    shape[0] = 1;
    for (int64_t k = 0; k < n; k++)
        if (!(part[k] = ms_reshape(part[k], (MsInts){a->ndim + 1, shape}))) return NULL;
    return ms_concat((int)n, part, 0);
}

static MsStatus expand_scan(const MsAttr *attr, int n_in, MsTensor *const *in, MsTensor **out)
{
    MsGraph *body = attr[0].g;
    int n = (int)attr[1].i, n_xs = (int)attr[2].i, n_ys = body->n_out - n;
    int64_t length = attr[3].i;
    MsTensor **x = ms__malloc((size_t)(n_in + body->n_out + 1) * sizeof *x), **y = x ? x + n_in : NULL;
    MsTensor **part = ms__malloc((size_t)n_ys * (size_t)length * sizeof *part);
    MsStatus st = x && part ? MS_OK : MS_ERROR_MEMORY;
    bool held = false;
    if (st == MS_OK) memcpy(x, in, (size_t)n_in * sizeof *x);
    for (int64_t turn = 0; turn < length && st == MS_OK; turn++) {
        int64_t k = attr[4].i ? length - 1 - turn : turn;
        int mark = ms_scope_begin();
        for (int i = n; i < n + n_xs && st == MS_OK; i++)
            if (!(x[i] = nth(in[i], k))) st = ms_error()->code;
        if (st == MS_OK) st = apply(body, n_in, x, y);
        if (st == MS_OK) carry(x, y, n, turn == 0);
        held |= st == MS_OK;
        for (int j = 0; j < n_ys && st == MS_OK; j++) part[(int64_t)j * length + k] = y[n + j];
        ms_scope_end(mark, y + n, st == MS_OK ? n_ys : 0);
    }
    if (x) st = settle(x, out, n, held, st);
    for (int j = 0; j < n_ys && st == MS_OK; j++)
        if (!(out[n + j] = stacked(part + (int64_t)j * length, length, &body->val[body->out[n + j]])))
            st = ms_error()->code;
    free(x);
    free(part);
    return st;
}

static MsStatus expand_vjp_call(const MsAttr *attr, int n_in, MsTensor *const *in, MsTensor **out)
{
    MsGraph *g = attr[0].g;
    MsTensor **x = ms__malloc((size_t)(g->n_in + g->n_out + 1) * sizeof *x), **y = x ? x + g->n_in : NULL;
    if (!x) return MS_ERROR_MEMORY;
    (void)n_in;
    MsTrace *t = ms_vjp_begin(g->n_in, in, x, 0, NULL);
    MsStatus st = t ? ms__graph_replay(g, x, y) : ms_error()->code;
    if (st == MS_OK) st = ms_vjp_grad(t, g->n_out, y, in + g->n_in, out);
    if (t) {
        MsStatus end = ms_vjp_end(t);
        if (st == MS_OK) st = end;
    }
    free(x);
    return st;
}

MsStatus ms__control_expand(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, MsTensor **out,
                            int *n_out, bool *done)
{
    *done = true;
    if (op == &ms_op_call) {
        *n_out = attr[0].g->n_out;
        return apply(attr[0].g, n_in, in, out);
    }
    if (op == &ms_op_cond) {
        bool value;
        MS_TRY(truth(in[0], &value, done));
        if (!*done) return MS_OK;
        MsGraph *g = attr[value ? 0 : 1].g;
        *n_out = g->n_out;
        return apply(g, n_in - 1, in + 1, out);
    }
    if (op == &ms_op_while) {
        *n_out = (int)attr[2].i;
        return expand_while(attr, n_in, in, out, done);
    }
    /* scan and vjp_call need no value to decide, but unrolling them into a staged graph would be no gain */
    for (int i = 0; i < n_in; i++)
        if (in[i] && !ms__concrete_unseen(in[i])) {
            *done = false;
            return ms__failed() ? ms_error()->code : MS_OK;
        }
    if (op == &ms_op_scan) {
        *n_out = attr[0].g->n_out;
        return expand_scan(attr, n_in, in, out);
    }
    *n_out = attr[0].g->n_in;
    return expand_vjp_call(attr, n_in, in, out);
}

/* ---- gradients ---- */

static MsTensor *cotangent(MsTensor *ct, MsTensor *out)
{
    return ct ? ct : ms__zeros_like(out);
}

/* A graph that holds one application of op. */
static MsGraph *graph_of(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int n_out,
                         MsTensor *const *out)
{
    MsGraph *g = ms__graph_new();
    int32_t id[n_in + n_out + 1];
    MsAval *a = ms__malloc((size_t)(n_out + 1) * sizeof *a);
    bool ok = g && a;
    for (int i = 0; i < n_in && ok; i++) {
        MsAval x = ms__aval(in[i]);
        ok = (id[i] = ms__graph_input(g, &x)) >= 0;
    }
    for (int j = 0; j < n_out && ok; j++) a[j] = ms__aval(out[j]);
    int32_t first = ok ? ms__graph_add(g, op, attr, n_in, id, n_out, a) : -1;
    for (int j = 0; j < n_out; j++) id[j] = first + j;
    ok = first >= 0 && ms__graph_set_out(g, n_out, id) == MS_OK;
    free(a);
    if (ok) {
        g->n_arg = n_in;
        return g;
    }
    ms_graph_unref(g);
    return NULL;
}

MsStatus ms__control_vjp(MsVjp *c)
{
    MsGraph *g = graph_of(c->op, c->attr, c->n_in, c->in, c->n_out, c->out);
    MsTensor **x = ms__malloc((size_t)(c->n_in + c->n_out + 1) * sizeof *x);
    MsStatus st = g && x ? MS_OK : MS_ERROR_MEMORY;
    if (st == MS_OK) memcpy(x, c->in, (size_t)c->n_in * sizeof *x);
    for (int j = 0; j < c->n_out && st == MS_OK; j++)
        if (!(x[c->n_in + j] = cotangent(c->ct[j], c->out[j]))) st = ms_error()->code;
    MsAttr a = {.kind = MS_ATTR_GRAPH};
    a.g = g;
    int n;
    if (st == MS_OK) st = ms_bind(&ms_op_vjp_call, &a, c->n_in + c->n_out, x, c->n_in, c->grad, &n);
    free(x);
    ms_graph_unref(g);
    return st;
}

/* On a tape the outputs of call are followed by the residuals of its forward half (see vjp.c). */
MsStatus ms__call_vjp(MsVjp *c)
{
    MsGraph *fwd, *bwd;
    MS_TRY(ms__graph_linearize(c->attr[0].g, &fwd, &bwd));
    int n = c->attr[0].g->n_out, n_res = fwd->n_out - n;
    if (c->n_out != fwd->n_out) return ms__control_vjp(c); /* not recorded by the tape: as any other */
    MsTensor **x = ms__malloc((size_t)(n_res + n + 1) * sizeof *x);
    MsStatus st = x ? MS_OK : MS_ERROR_MEMORY;
    for (int k = 0; k < n_res && st == MS_OK; k++) x[k] = c->out[n + k];
    for (int j = 0; j < n && st == MS_OK; j++)
        if (!(x[n_res + j] = cotangent(c->ct[j], c->out[j]))) st = ms_error()->code;
    MsAttr a = {.kind = MS_ATTR_GRAPH};
    a.g = bwd;
    int n_out;
    if (st == MS_OK) st = ms_bind(&ms_op_call, &a, n_res + n, x, bwd->n_out, c->grad, &n_out);
    free(x);
    return st;
}

/* ---- linearisation ---- */

/* Joint graph: inputs and cotangents -> outputs and input cotangents. */
static MsGraph *joint(const MsGraph *g)
{
    int n = g->n_in, m = g->n_out;
    MsTensor **buf = ms__calloc((size_t)(3 * n + 3 * m + 1), sizeof *buf);
    MsAval *aval = ms__malloc((size_t)(n + m + 1) * sizeof *aval);
    if (!buf || !aval) {
        free(buf);
        free(aval);
        return NULL;
    }
    MsTensor **arg = buf, **x = arg + n + m, **y = x + n, **res = y + m;
    for (int i = 0; i < n + m; i++) aval[i] = g->val[i < n ? i : g->out[i - n]];
    int mark = ms_scope_begin();
    MsStatus st = MS_OK;
    MsTrace *saved = ms__trace_top();
    ms__trace_resume(NULL);
    MsGraph *out = NULL;
    MsTrace *s = ms__stage_begin(n + m, aval, arg);
    MsTrace *t = s ? ms_vjp_begin(n, arg, x, 0, NULL) : NULL;
    if (t) {
        st = ms__graph_replay(g, x, y);
        for (int j = 0; j < m && st == MS_OK; j++)
            if (!(res[j] = ms_vjp_value(t, y[j]))) st = ms_error()->code;
        if (st == MS_OK) st = ms_vjp_grad(t, m, y, arg + n, res + m);
        MsStatus end = ms_vjp_end(t);
        if (st == MS_OK) st = end;
        if (st == MS_OK)
            out = ms_stage_end(s, m + n, res);
        else
            ms_stage_cancel(s);
    } else if (s) {
        ms_stage_cancel(s);
    }
    ms__trace_resume(saved);
    ms_scope_end(mark, NULL, 0);
    free(buf);
    free(aval);
    return out;
}

/* Copies the nodes of j with keep[] set into `to`; map gives the new ids. */
static MsStatus copy_kept(const MsGraph *j, const bool *keep, MsGraph *to, int32_t *map)
{
    for (int k = 0; k < j->n_node; k++) {
        const MsNode *n = &j->node[k];
        if (!keep[k]) continue;
        int32_t in[n->n_in + 1];
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? -1 : map[n->in[i]];
        int32_t first = ms__graph_add(to, n->op, n->attr, n->n_in, in, n->n_out, j->val + n->out);
        if (first < 0) return MS_ERROR_MEMORY;
        to->node[to->n_node - 1].loc = n->loc;
        for (int o = 0; o < n->n_out; o++) map[n->out + o] = first + o;
    }
    return MS_OK;
}

static void need(const MsGraph *j, int32_t v, bool *keep)
{
    if (j->def[v] >= 0) keep[j->def[v]] = true;
}

/* The tensors that derivative rules made become captured ones of the forward half. */
static MsStatus capture(const MsGraph *j, MsGraph *fwd, int32_t *map)
{
    int n = j->n_in - j->n_arg;
    if (n && !(fwd->captured = ms__calloc((size_t)n, sizeof *fwd->captured))) return MS_ERROR_MEMORY;
    for (int k = 0; k < n; k++) {
        if (j->captured[k]->trace)
            return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                           "For 'call', a derivative rule made a tensor of an open transformation.");
        if ((map[j->n_arg + k] = ms__graph_input(fwd, &j->val[j->n_arg + k])) < 0) return MS_ERROR_MEMORY;
        fwd->captured[k] = ms_tensor_ref(j->captured[k]);
    }
    return MS_OK;
}

/* Splits the joint graph: forward = what the outputs need, backward = the rest that the gradients need;
 * residuals = forward values (or inputs) that backward reads. */
static MsStatus split(const MsGraph *j, int n, int m, MsGraph *fwd, MsGraph *bwd)
{
    bool *in_fwd = ms__calloc((size_t)j->n_node + 1, 1), *in_bwd = ms__calloc((size_t)j->n_node + 1, 1);
    bool *is_res = ms__calloc((size_t)j->n_val + 1, 1);
    int32_t *fmap = ms__calloc((size_t)j->n_val + 1, sizeof *fmap),
            *bmap = ms__calloc((size_t)j->n_val + 1, sizeof *bmap);
    int32_t *out = ms__calloc((size_t)(j->n_val + j->n_out) + 1, sizeof *out);
    MsStatus st = in_fwd && in_bwd && is_res && fmap && bmap && out ? MS_OK : MS_ERROR_MEMORY;
    if (st != MS_OK) goto done;
    for (int o = 0; o < m; o++) need(j, j->out[o], in_fwd);
    for (int k = j->n_node - 1; k >= 0; k--)
        for (int i = 0; in_fwd[k] && i < j->node[k].n_in; i++)
            if (j->node[k].in[i] >= 0) need(j, j->node[k].in[i], in_fwd);
    for (int o = m; o < m + n; o++) need(j, j->out[o], in_bwd);
    for (int k = j->n_node - 1; k >= 0; k--) {
        in_bwd[k] = in_bwd[k] && !in_fwd[k];
        for (int i = 0; in_bwd[k] && i < j->node[k].n_in; i++)
            if (j->node[k].in[i] >= 0) need(j, j->node[k].in[i], in_bwd);
    }
    for (int o = m; o < m + n; o++) is_res[j->out[o]] = j->def[j->out[o]] < 0 || in_fwd[j->def[j->out[o]]];
    for (int k = 0; k < j->n_node; k++)
        for (int i = 0; in_bwd[k] && i < j->node[k].n_in; i++) {
            int32_t v = j->node[k].in[i];
            if (v >= 0 && (j->def[v] < 0 || in_fwd[j->def[v]])) is_res[v] = true;
        }
    for (int v = n; v < n + m; v++) is_res[v] = false; /* cotangents are inputs of backward anyway */
    for (int i = 0; i < n; i++)
        if ((fmap[i] = ms__graph_input(fwd, &j->val[i])) < 0) st = MS_ERROR_MEMORY;
    fwd->n_arg = n;
    if (st == MS_OK) st = capture(j, fwd, fmap);
    if (st == MS_OK) st = copy_kept(j, in_fwd, fwd, fmap);
    if (st != MS_OK) goto done;
    int n_out = 0;
    for (int o = 0; o < m; o++) out[n_out++] = fmap[j->out[o]];
    for (int32_t v = 0; v < j->n_val; v++)
        if (is_res[v]) {
            out[n_out++] = fmap[v];
            if ((bmap[v] = ms__graph_input(bwd, &j->val[v])) < 0) st = MS_ERROR_MEMORY;
        }
    if (st == MS_OK) st = ms__graph_set_out(fwd, n_out, out);
    for (int v = n; v < n + m; v++)
        if ((bmap[v] = ms__graph_input(bwd, &j->val[v])) < 0) st = MS_ERROR_MEMORY;
    if (st == MS_OK) st = copy_kept(j, in_bwd, bwd, bmap);
    for (int o = 0; o < n; o++) out[o] = bmap[j->out[m + o]];
    if (st == MS_OK) st = ms__graph_set_out(bwd, n, out);
    bwd->n_arg = bwd->n_in;
done:
    free(in_fwd);
    free(in_bwd);
    free(is_res);
    free(fmap);
    free(bmap);
    free(out);
    return st;
}

/* Two threads may meet one graph; a graph may hold loops whose graphs are linearised in turn. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static MsStatus linearize(MsGraph *g, MsGraph **fwd, MsGraph **bwd)
{
    if (!g->vjp) {
        MsGraph *j = joint(g);
        if (!j) return ms_error()->code;
        MsStatus st = ms_graph_optimize(j, MS_JIT_O0);
        MsGraph *f = ms__graph_new(), *b = ms__graph_new();
        if (st == MS_OK) st = f && b ? split(j, g->n_in, g->n_out, f, b) : MS_ERROR_MEMORY;
        ms_graph_unref(j);
        if (st == MS_OK) st = ms_graph_optimize(b, MS_JIT_O0);
        if (st != MS_OK) {
            ms_graph_unref(f);
            ms_graph_unref(b);
            return st;
        }
        g->vjp = f;
        g->bwd = b;
    }
    *fwd = g->vjp;
    *bwd = g->bwd;
    return MS_OK;
}

MsStatus ms__graph_linearize(MsGraph *g, MsGraph **fwd, MsGraph **bwd)
{
    pthread_mutex_lock(&lock);
    MsStatus st = linearize(g, fwd, bwd);
    pthread_mutex_unlock(&lock);
    return st;
}

/* ---- calling a graph ---- */

MsStatus ms_graph_call(MsGraph *g, int n_in, MsTensor *const *in, MsTensor **out)
{
    if (n_in != g->n_arg)
        return MS_FAIL(MS_ERROR_TYPE, "The graph takes %d arguments, but got %d.", g->n_arg, n_in);
    bool traced = ms__trace_top() != NULL;
    for (int i = 0; i < n_in; i++) {
        if (!in[i])
            return ms__failed() ? ms_error()->code
                                : MS_FAIL(MS_ERROR_TYPE, "Argument %d of the graph is missing.", i);
        traced |= in[i]->trace != NULL;
    }
    int n_captured = g->n_in - g->n_arg;
    for (int k = 0; k < n_captured && !traced; k++) traced |= g->captured[k]->trace != NULL;
    if (!traced) return ms__graph_run_call(g, in, out);
    MsTensor **x = ms__malloc((size_t)(g->n_in + g->n_out + 1) * sizeof *x), **y = x ? x + g->n_in : NULL;
    if (!x) return MS_ERROR_MEMORY;
    for (int i = 0; i < g->n_in; i++) x[i] = i < n_in ? in[i] : g->captured[i - n_in];
    MsAttr a = {.kind = MS_ATTR_GRAPH};
    a.g = g;
    int n, mark = ms_scope_begin();
    MsStatus st = ms_bind(&ms_op_call, &a, g->n_in, x, g->n_out, y, &n);
    for (int k = 0; k < g->n_out - g->n_result && st == MS_OK; k++)
        st = ms_tensor_write(g->captured[g->written[k]], y[g->n_result + k]);
    for (int j = 0; j < g->n_result; j++) out[j] = y[j];
    ms_scope_end(mark, out, st == MS_OK ? g->n_result : 0);
    free(x);
    return st;
}
