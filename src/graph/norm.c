/* norm.c - puts the operators of op/norm_act.c in the place of the chains they stand for:
 *   relu(batch_norm(x)), relu(batch_norm(x) + skip)  batch_norm_stats where the normalisation stood, and
 *                                                    batch_norm_apply where the ReLU stood
 *                                                    (clamp(.., 0, top) is such a ReLU too)
 *   batch_norm_grad(relu_grad(dy, y), x)             batch_norm_act_grad; y the result of a chain without skip
 *   batch_norm_grad(relu_grad(dy + more, y), x)      batch_norm_sum_grad, which gives the skip's gradient too
 * A normalisation by given statistics is batch_norm_apply from the start, and joins in the same way. The
 * gradients are emitted where relu_grad stood. Refused: rewriting by rules, which see one root with one
 * output. */
#include "core/mem.h"
#include "graph/match.h"

#include <stdlib.h>
#include <string.h>

typedef struct Chains {
    const MsOp *norm, *norm_grad, *add, *relu, *relu6, *maximum, *minimum, *clamp_min, *clamp_max, *relu_grad,
        *stats, *apply, *act_grad, *sum_grad;
    int32_t *n_use;   /* by value: uses by nodes and results */
    int32_t *norm_of; /* by node: relu -> the batch_norm; relu_grad -> the batch_norm_grad, -1 */
    bool *split;      /* by node: a batch_norm in a chain */
    bool *gone;       /* by node: computed by another node of its chain */
} Chains;

static const MsNode *def_of(const MsGraph *g, const MsOp *op, int32_t v, int j)
{
    const MsNode *n = ms__def(g, v);
    return n && n->op == op && n->out + j == v ? n : NULL;
}

/* ---- forward ---- */

/* The batch_norm_apply that gives v and is nothing but the affine map, or NULL. */
static const MsNode *bare_apply(const MsGraph *g, const Chains *c, int32_t v)
{
    const MsNode *n = def_of(g, c->apply, v, 0);
    return n && n->in[5] < 0 && !n->attr[1].i && !c->gone[n - g->node] ? n : NULL;
}

/* The ReLU whose last node is k. */
typedef struct Act {
    int32_t in, inner; /* its operand; the value between the nodes of a clamp, or -1 */
    double top;        /* upper bound, 0 = none */
} Act;

static bool act_of(const MsGraph *g, const Chains *c, int k, Act *a)
{
    const MsNode *n = &g->node[k];
    *a = (Act){n->in[0], -1, n->op == c->relu6 ? 6 : 0};
    if (n->op == c->relu || n->op == c->relu6) return true;
    const MsNode *low = n->op == c->minimum     ? def_of(g, c->maximum, n->in[0], 0)
                        : n->op == c->clamp_max ? def_of(g, c->clamp_min, n->in[0], 0)
                                                : NULL;
    double zero;
    if (!low || c->n_use[low->out] != 1 || !ms__uniform(g, n->in[1], &a->top) || !(a->top > 0) ||
        !ms__uniform(g, low->in[1], &zero) || zero != 0)
        return false;
    *a = (Act){low->in[0], low->out, a->top};
    return ms__aval_equal(&g->val[a->in], &g->val[n->out]);
}

/* ReLU k over a batch_norm, directly or with a skip added to it. */
static void find_forward(const MsGraph *g, Chains *c, int k)
{
    Act act;
    if (!act_of(g, c, k, &act)) return;
    const MsNode *add = def_of(g, c->add, act.in, 0), *norm = NULL;
    if (add && (c->n_use[add->out] != 1 || !ms__aval_equal(&g->val[add->in[0]], &g->val[add->in[1]]))) return;
    for (int i = 0; i < (add ? 2 : 1) && !norm; i++) {
        norm = def_of(g, c->norm, add ? add->in[i] : act.in, 0);
        if (!norm) norm = bare_apply(g, c, add ? add->in[i] : act.in);
        if (norm && (c->n_use[norm->out] != 1 || c->split[norm - g->node])) norm = NULL;
    }
    if (!norm) return;
    *(norm->op == c->norm ? &c->split[norm - g->node] : &c->gone[norm - g->node]) = true;
    c->norm_of[k] = (int32_t)(norm - g->node);
    if (add) c->gone[add - g->node] = true;
    if (act.inner >= 0) c->gone[g->def[act.inner]] = true;
}

static MsStatus emit_stats(MsRebuild *r, const Chains *c, int k)
{
    const MsNode *norm = &r->from->node[k];
    const MsAval *out = &r->from->val[norm->out + 1];
    MsAttr attr[MS_MAX_ATTR] = {{.kind = MS_ATTR_DTYPE, .i = out->dtype}};
    int32_t v = ms__graph_add(r->to, c->stats, attr, 1, &r->map[norm->in[0]], 2, out);
    if (v < 0) return ms_error()->code;
    r->to->node[r->to->n_node - 1].loc = norm->loc;
    r->map[norm->out + 1] = v;
    r->map[norm->out + 2] = v + 1;
    r->changed = true;
    return MS_OK;
}

static MsStatus emit_apply(MsRebuild *r, const Chains *c, int k)
{
    const MsGraph *g = r->from;
    const MsNode *relu = &g->node[k], *norm = &g->node[c->norm_of[k]];
    Act act = {0};
    act_of(g, c, k, &act);
    const MsNode *add = def_of(g, c->add, act.in, 0);
    int32_t skip = add ? add->in[add->in[0] == norm->out] : -1, in[6];
    for (int i = 0; i < 3; i++) in[i] = r->map[norm->in[i]];
    for (int i = 3; i < 5; i++) in[i] = r->map[norm->op == c->norm ? norm->out + i - 2 : norm->in[i]];
    in[5] = skip < 0 ? -1 : r->map[skip];
    MsAttr attr[MS_MAX_ATTR] = {
        norm->attr[0], {.kind = MS_ATTR_BOOL, .i = 1}, {.kind = MS_ATTR_FLOAT, .f = act.top}};
    int32_t v = ms__graph_add(r->to, c->apply, attr, 6, in, 1, &g->val[relu->out]);
    if (v < 0) return ms_error()->code;
    r->to->node[r->to->n_node - 1].loc = relu->loc;
    r->map[relu->out] = v;
    r->changed = true;
    return MS_OK;
}

/* ---- backward ---- */

/* relu_grad k whose result goes to a batch_norm_grad of values that are there already. */
static void find_backward(const MsGraph *g, Chains *c, int k)
{
    int32_t d = g->node[k].out;
    for (int l = k + 1; l < g->n_node; l++) {
        const MsNode *n = &g->node[l];
        if (n->op != c->norm_grad || n->in[0] != d || n->in[1] == d) continue;
        bool ready = true;
        for (int i = 1; i < 5; i++) ready &= g->def[n->in[i]] < k;
        if (!ready) continue;
        c->norm_of[k] = l;
        c->gone[l] = true;
        return;
    }
}

/* The batch_norm whose ReLU, without skip, gave y, when its statistics are those of `grad`. */
static const MsNode *forward_of(const MsGraph *g, const Chains *c, int32_t y, const MsNode *grad)
{
    const MsNode *relu = def_of(g, c->relu, y, 0);
    const MsNode *norm = relu ? def_of(g, c->norm, relu->in[0], 0) : NULL;
    if (!norm || norm->in[0] != grad->in[1] || norm->in[1] != grad->in[2]) return NULL;
    if (grad->in[3] != norm->out + 1 || grad->in[4] != norm->out + 2) return NULL;
    MsDtype dtype = g->val[y].dtype;
    if (dtype != MS_FLOAT32 && dtype != MS_FLOAT64 && dtype != MS_BFLOAT16) return NULL;
    return ms__attr_equal(&norm->attr[0], &grad->attr[0]) ? norm : NULL;
}

static MsStatus emit_backward(MsRebuild *r, const Chains *c, int k)
{
    const MsGraph *g = r->from;
    const MsNode *mask = &g->node[k], *grad = &g->node[c->norm_of[k]];
    const MsNode *norm = c->n_use[mask->out] == 1 ? forward_of(g, c, mask->in[1], grad) : NULL;
    const MsNode *sum = norm ? NULL : def_of(g, c->add, mask->in[0], 0);
    bool simple = norm != NULL, added = sum && c->gone[sum - g->node];
    int32_t dy = added ? sum->in[0] : mask->in[0], more = added ? sum->in[1] : -1;
    int32_t few[6] = {dy, grad->in[1], grad->in[2], simple ? norm->in[2] : -1, grad->in[3], grad->in[4]};
    int32_t many[7] = {dy, grad->in[1], more, mask->in[1], grad->in[2], grad->in[3], grad->in[4]};
    int32_t *in = simple ? few : many, n = simple ? 6 : 7;
    for (int i = 0; i < n; i++) in[i] = in[i] < 0 ? -1 : r->map[in[i]];
    MsAval out[4];
    for (int j = 0; j < 3; j++) out[j + !simple] = g->val[grad->out + j];
    if (!simple) out[0] = g->val[mask->out];
    int32_t v =
        ms__graph_add(r->to, simple ? c->act_grad : c->sum_grad, grad->attr, n, in, simple ? 3 : 4, out);
    if (v < 0) return ms_error()->code;
    r->to->node[r->to->n_node - 1].loc = grad->loc;
    if (!simple) r->map[mask->out] = v;
    for (int j = 0; j < 3; j++) r->map[grad->out + j] = v + j + !simple;
    r->changed = true;
    return MS_OK;
}

/* The addition in front of relu_grad k is part of its chain when nothing else reads it. */
static void find_sum(const MsGraph *g, Chains *c, int k)
{
    const MsNode *mask = &g->node[k], *sum = def_of(g, c->add, mask->in[0], 0);
    if (!sum || c->n_use[sum->out] != 1 || c->gone[sum - g->node]) return;
    if (c->n_use[mask->out] == 1 && forward_of(g, c, mask->in[1], &g->node[c->norm_of[k]])) return;
    for (int i = 0; i < 2; i++)
        if (!ms__aval_equal(&g->val[sum->in[i]], &g->val[sum->out])) return;
    c->gone[sum - g->node] = true;
}

/* ---- the walk ---- */

static void end(MsRebuild *r)
{
    Chains *c = r->ctx;
    if (!c) return;
    free(c->n_use);
    free(c->norm_of);
    free(c->split);
    free(c);
}

static MsStatus begin(MsRebuild *r)
{
    const MsGraph *g = r->from;
    size_t n = (size_t)g->n_node;
    Chains *c = r->ctx = ms__calloc(1, sizeof *c);
    if (!c) return MS_ERROR_MEMORY;
    c->norm = ms__op_find("batch_norm");
    c->norm_grad = ms__op_find("batch_norm_grad");
    c->add = ms__op_find("add");
    c->relu = ms__op_find("relu");
    c->relu6 = ms__op_find("relu6");
    c->maximum = ms__op_find("maximum");
    c->minimum = ms__op_find("minimum");
    c->clamp_min = ms__op_find("clamp_min");
    c->clamp_max = ms__op_find("clamp_max");
    c->relu_grad = ms__op_find("relu_grad");
    c->stats = ms__op_find("batch_norm_stats");
    c->apply = ms__op_find("batch_norm_apply");
    c->act_grad = ms__op_find("batch_norm_act_grad");
    c->sum_grad = ms__op_find("batch_norm_sum_grad");
    c->n_use = ms__use_counts(g);
    c->norm_of = ms__malloc(n * sizeof *c->norm_of);
    c->split = ms__calloc(2 * n, sizeof *c->split);
    if (!c->n_use || !c->norm_of || !c->split) return MS_ERROR_MEMORY;
    c->gone = c->split + n;
    for (int k = 0; k < g->n_node; k++) c->norm_of[k] = -1;
    for (int k = 0; k < g->n_node; k++) {
        if (!g->node[k].op) continue;
        find_forward(g, c, k);
        if (g->node[k].op == c->relu_grad &&
            ms__aval_equal(&g->val[g->node[k].in[0]], &g->val[g->node[k].out]))
            find_backward(g, c, k);
        if (c->norm_of[k] >= 0 && g->node[k].op == c->relu_grad) find_sum(g, c, k);
    }
    return MS_OK;
}

static MsStatus node(MsRebuild *r, int k)
{
    const Chains *c = r->ctx;
    if (c->gone[k]) return MS_OK;
    if (c->split[k]) return emit_stats(r, c, k);
    if (c->norm_of[k] < 0) return ms__rebuild_keep(r, k);
    return r->from->node[k].op == c->relu_grad ? emit_backward(r, c, k) : emit_apply(r, c, k);
}

const MsPass ms__pass_norm = {"norm", begin, node, end};
