/* verify.c - every invariant of ir.h, checked. Passes are tested by verifying after each of them; a
 * graph from text is verified before anyone sees it, so that the executor may trust what it is given. */
#include "core/mem.h"
#include "graph/ir.h"

#include <stdlib.h>
#include <string.h>

#define BAD(...) return MS_FAIL(MS_ERROR_VALUE, "Invalid graph: " __VA_ARGS__)

static bool aval_equal(const MsAval *a, const MsAval *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

static MsStatus check_value(const MsGraph *g, int32_t v, int before_node, const char *what)
{
    if (v < 0 || v >= g->n_val) BAD("%s names value %d, but there are %d values.", what, (int)v, g->n_val);
    int32_t d = g->def[v];
    if (d < 0) {
        if (v >= g->n_in) BAD("%s names value %d, which is never defined.", what, (int)v);
        return MS_OK;
    }
    if (d >= g->n_node || !g->node[d].op) BAD("%s names value %d of a removed node.", what, (int)v);
    if (d >= before_node) BAD("%s names value %d before its definition.", what, (int)v);
    return MS_OK;
}

static MsStatus check_attrs(const MsNode *n, const MsSig *s)
{
    for (int a = 0; a < s->n_attr; a++) {
        int kind = n->attr[a].kind;
        if (kind == MS_ATTR_NONE ? !s->attr[a].optional && s->attr[a].kind != MS_ATTR_INTS &&
                                       s->attr[a].kind != MS_ATTR_DTYPE && s->attr[a].kind != MS_ATTR_STR
                                 : kind != s->attr[a].kind)
            BAD("the attribute '%s' of '%s' is missing or of another kind.", s->attr[a].name, n->op->name);
        if (kind == MS_ATTR_GRAPH) MS_TRY(ms__graph_verify(n->attr[a].g));
        if (kind == MS_ATTR_INTS && n->attr[a].n > MS_MAX_DIM)
            BAD("the attribute '%s' of '%s' has %d entries.", s->attr[a].name, n->op->name, n->attr[a].n);
    }
    return MS_OK;
}

static MsStatus check_types(const MsGraph *g, const MsNode *n, MsAval *in, MsAval *out)
{
    int n_out = 0;
    for (int i = 0; i < n->n_in; i++) {
        in[i].dtype = MS_DTYPE_NONE;
        if (n->in[i] >= 0) in[i] = g->val[n->in[i]];
    }
    MS_TRY(ms__infer(n->op, n->attr, n->n_in, in, n->n_out, out, &n_out));
    if (n_out != n->n_out)
        BAD("'%s' has %d outputs, but the graph records %d.", n->op->name, n_out, n->n_out);
    for (int j = 0; j < n_out; j++) {
        const MsAval *a = &out[j], *b = &g->val[n->out + j];
        if (!aval_equal(a, b))
            BAD("output %d of '%s' is %s%s, but the graph records %s%s.", j, n->op->name,
                ms_dtype_name(a->dtype), ms__shape_text(a->ndim, a->shape), ms_dtype_name(b->dtype),
                ms__shape_text(b->ndim, b->shape));
    }
    return MS_OK;
}

static MsStatus check_node(const MsGraph *g, int k)
{
    const MsNode *n = &g->node[k];
    const MsSig *s = ms__sig(n->op);
    if (!s) return ms_error()->code;
    if (n->n_in < 0 || n->n_out < 0 || n->out < g->n_in || n->out > g->n_val - n->n_out)
        BAD("'%s' has outputs outside the graph's values.", n->op->name);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] != -1) MS_TRY(check_value(g, n->in[i], k, n->op->name));
    for (int j = 0; j < n->n_out; j++)
        if (g->def[n->out + j] != k) BAD("output %d of '%s' is recorded as another node's.", j, n->op->name);
    MS_TRY(check_attrs(n, s));
    MsAval *a = ms__malloc((size_t)(n->n_in + n->n_out) * sizeof *a);
    if (!a) return MS_ERROR_MEMORY;
    MsStatus st = check_types(g, n, a, a + n->n_in);
    free(a);
    return st;
}

MsStatus ms__graph_verify(const MsGraph *g)
{
    if (g->n_arg < 0 || g->n_arg > g->n_in || g->n_in > g->n_val) BAD("its input counts disagree.");
    for (int i = 0; i < g->n_in; i++) {
        const MsAval *a = &g->val[i];
        if (g->def[i] != -1) BAD("input %d is also defined by a node.", i);
        if (a->dtype < 0 || a->dtype >= MS_DTYPE_COUNT || a->ndim < 0 || a->ndim > MS_MAX_DIM)
            BAD("input %d has no valid type.", i);
        if (ms__numel(a->ndim, a->shape) < 0) return ms_error()->code;
    }
    for (int k = 0; k < g->n_in - g->n_arg && g->captured; k++) {
        MsAval a = ms__aval(g->captured[k]);
        if (!aval_equal(&a, &g->val[g->n_arg + k]))
            BAD("captured tensor %d has another type than its input.", k);
    }
    for (int k = 0; k < g->n_node; k++)
        if (g->node[k].op) MS_TRY(check_node(g, k));
    if (g->n_result < 0 || g->n_result > g->n_out) BAD("its output counts disagree.");
    for (int j = 0; j < g->n_out; j++) MS_TRY(check_value(g, g->out[j], g->n_node, "an output"));
    for (int k = 0; k < g->n_out - g->n_result; k++) {
        int w = g->written ? g->written[k] : -1;
        if (w < 0 || w >= g->n_in - g->n_arg) BAD("output %d writes no captured tensor.", g->n_result + k);
        for (int l = 0; l < k; l++)
            if (g->written[l] == w) BAD("captured tensor %d is written twice.", w);
        if (!aval_equal(&g->val[g->out[g->n_result + k]], &g->val[g->n_arg + w]))
            BAD("captured tensor %d is written with a value of another type.", w);
    }
    return MS_OK;
}
