/* control.c - operators with sub-graphs. Their inputs after the predicate are the arguments and captured
 * values of every sub-graph, in the order of the sub-graph's inputs.
 *
 *   call      the outputs of one graph
 *   cond      those of true_graph or false_graph; both take all xs
 *   while     xs = n_carry carried values, then constants; cond_graph -> bool, body_graph -> new carried values
 *   scan      xs = n_carry carried values, n_scanned stacked inputs (axis 0), constants; body_graph takes carried
 *             values, one slice of each stacked input, constants and gives new carried values, then slices of outputs
 *   vjp_call  xs = the inputs of graph, then a cotangent for each of its outputs; gives the inputs' cotangents
 *
 * Gradient: when the value that decides is concrete, interpreters run the sub-graphs themselves
 * (trace/control.c); otherwise the gradient of any of these is vjp_call of a graph that holds it, which
 * recomputes forward. */
#include "graph/ir.h"
#include "mindspore_ops.h"
#include "op/op.h"
#include "trace/trace.h"

static MsStatus copy_outputs(MsInfer *c, const MsGraph *g, int from)
{
    int n = g->n_out - from;
    if (n > c->cap)
        return MS_FAIL(MS_ERROR_RUNTIME, "For '%s', there are %d outputs, but room for %d.", c->op->name, n,
                       c->cap);
    for (int j = 0; j < n; j++) c->out[j] = g->val[g->out[from + j]];
    c->n_out = n;
    return MS_OK;
}

static bool same(const MsAval *a, const MsAval *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

static MsStatus check_args(const MsInfer *c, const MsGraph *g, const MsAval *in, int n)
{
    if (g->n_in != n)
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the graph takes %d inputs, but got %d.", c->op->name,
                       g->n_in, n);
    for (int i = 0; i < n; i++)
        if (!same(&g->val[i], &in[i]))
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', input %d must be %s%s, but got %s%s.", c->op->name, i,
                           ms_dtype_name(g->val[i].dtype), ms__shape_text(g->val[i].ndim, g->val[i].shape),
                           ms_dtype_name(in[i].dtype), ms__shape_text(in[i].ndim, in[i].shape));
    return MS_OK;
}

static MsStatus infer_call(MsInfer *c)
{
    MS_TRY(check_args(c, c->attr[0].g, c->in, c->n_in));
    return copy_outputs(c, c->attr[0].g, 0);
}

static MsStatus infer_cond(MsInfer *c)
{
    const MsGraph *a = c->attr[0].g, *b = c->attr[1].g;
    if (c->in[0].ndim != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'cond', the condition must have one element, but got shape %s.",
                       ms__shape_text(c->in[0].ndim, c->in[0].shape));
    MS_TRY(check_args(c, a, c->in + 1, c->n_in - 1));
    MS_TRY(check_args(c, b, c->in + 1, c->n_in - 1));
    if (a->n_out != b->n_out)
        return MS_FAIL(MS_ERROR_TYPE, "For 'cond', the branches give %d and %d outputs.", a->n_out, b->n_out);
    for (int j = 0; j < a->n_out; j++) {
        const MsAval *x = &a->val[a->out[j]], *y = &b->val[b->out[j]];
        if (!same(x, y))
            return MS_FAIL(MS_ERROR_TYPE,
                           "For 'cond', output %d is %s%s in one branch and %s%s in the other.", j,
                           ms_dtype_name(x->dtype), ms__shape_text(x->ndim, x->shape),
                           ms_dtype_name(y->dtype), ms__shape_text(y->ndim, y->shape));
    }
    return copy_outputs(c, a, 0);
}

static MsStatus check_carry(const MsInfer *c, const MsGraph *body, int n)
{
    for (int j = 0; j < n; j++) {
        const MsAval *x = &body->val[body->out[j]];
        if (!same(x, &c->in[j]))
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', carried value %d is %s%s and becomes %s%s.", c->op->name,
                           j, ms_dtype_name(c->in[j].dtype), ms__shape_text(c->in[j].ndim, c->in[j].shape),
                           ms_dtype_name(x->dtype), ms__shape_text(x->ndim, x->shape));
    }
    return MS_OK;
}

static MsStatus infer_while(MsInfer *c)
{
    const MsGraph *test = c->attr[0].g, *body = c->attr[1].g;
    int n = (int)c->attr[2].i;
    MS_TRY(check_args(c, test, c->in, c->n_in));
    MS_TRY(check_args(c, body, c->in, c->n_in));
    if (test->n_out != 1 || test->val[test->out[0]].dtype != MS_BOOL || test->val[test->out[0]].ndim != 0)
        return MS_FAIL(MS_ERROR_TYPE, "For 'while', the condition must give one bool of one element.");
    if (n < 0 || n > c->n_in || body->n_out != n)
        return MS_FAIL(MS_ERROR_TYPE, "For 'while', the body must give %d values, but gives %d.", n,
                       body->n_out);
    MS_TRY(check_carry(c, body, n));
    return copy_outputs(c, body, 0);
}

static MsStatus infer_scan(MsInfer *c)
{
    const MsGraph *body = c->attr[0].g;
    int n = (int)c->attr[1].i, n_xs = (int)c->attr[2].i;
    int64_t length = c->attr[3].i;
    if (n < 0 || n_xs < 0 || n + n_xs > c->n_in || body->n_in != c->n_in || body->n_out < n || length < 0)
        return MS_FAIL(MS_ERROR_TYPE, "For 'scan', the body does not fit its %d inputs.", c->n_in);
    for (int i = n; i < n + n_xs; i++)
        if (c->in[i].ndim < 1 || c->in[i].shape[0] != length)
            return MS_FAIL(MS_ERROR_VALUE, "For 'scan', input %d must have length %lld, but got shape %s.", i,
                           (long long)length, ms__shape_text(c->in[i].ndim, c->in[i].shape));
    MS_TRY(check_carry(c, body, n));
    MS_TRY(copy_outputs(c, body, 0));
    for (int j = n; j < c->n_out; j++) {
        MsAval *a = &c->out[j];
        if (a->ndim == MS_MAX_DIM)
            return MS_FAIL(MS_ERROR_VALUE, "For 'scan', an output has too many dimensions.");
        for (int d = a->ndim; d > 0; d--) a->shape[d] = a->shape[d - 1];
        a->shape[0] = length;
        a->ndim++;
    }
    return MS_OK;
}

static MsStatus infer_vjp_call(MsInfer *c)
{
    const MsGraph *g = c->attr[0].g;
    if (c->n_in != g->n_in + g->n_out || g->n_in > c->cap)
        return MS_FAIL(MS_ERROR_TYPE, "For 'vjp_call', %d inputs are needed, but got %d.", g->n_in + g->n_out,
                       c->n_in);
    for (int i = 0; i < g->n_in; i++) c->out[i] = c->in[i];
    c->n_out = g->n_in;
    return MS_OK;
}

static MsStatus run(MsCall *c)
{
    bool done = true;
    MsTensor *preset[c->n_out + 1];
    for (int j = 0; j < c->n_out; j++) preset[j] = c->out[j];
    int n_out, mark = ms_scope_begin();
    MsStatus st = ms__control_expand(c->op, c->attr, c->n_in, c->in, c->out, &n_out, &done);
    if (st == MS_OK && !done)
        st = MS_FAIL(MS_ERROR_RUNTIME, "For '%s', the condition has no value.", c->op->name);
    for (int j = 0; j < c->n_out && st == MS_OK; j++)
        if (preset[j]) {
            st = ms_tensor_write(preset[j], c->out[j]);
            c->out[j] = preset[j];
        }
    ms_scope_end(mark, c->out, st == MS_OK ? c->n_out : 0);
    return st;
}

MS_OP(call, .sig = "call(xs: any[], *, graph: graph) -> _[]", .infer = infer_call, .vjp = ms__call_vjp,
      .flags = MS_OP_CONTROL);
MS_OP(cond, .sig = "cond(pred: bool, xs: any[], *, true_graph: graph, false_graph: graph) -> _[]",
      .infer = infer_cond, .vjp = ms__control_vjp, .flags = MS_OP_CONTROL);
MS_OP(while, .sig = "while(xs: any[], *, cond_graph: graph, body_graph: graph, n_carry: int) -> _[]",
      .infer = infer_while, .vjp = ms__control_vjp, .flags = MS_OP_CONTROL);
MS_OP(scan,
      .sig = "scan(xs: any[], *, body_graph: graph, n_carry: int, n_scanned: int, length: int, reverse: "
             "bool) -> _[]",
      .infer = infer_scan, .vjp = ms__control_vjp, .flags = MS_OP_CONTROL);
MS_OP(vjp_call, .sig = "vjp_call(xs: any[], *, graph: graph) -> _[]", .infer = infer_vjp_call,
      .vjp = ms__control_vjp, .flags = MS_OP_CONTROL);
MS_KERNEL(call, 0, run, NULL, run);
MS_KERNEL(cond, 0, run, NULL, run);
MS_KERNEL(while, 0, run, NULL, run);
MS_KERNEL(scan, 0, run, NULL, run);
MS_KERNEL(vjp_call, 0, run, NULL, run);
