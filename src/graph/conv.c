/* conv.c - puts conv_norm in the place of a convolution and the normalisation by given statistics behind
 * it, with a residual addition that follows without a ReLU: in inference they then are one pass over
 * memory. Only where kernels do so; the values stay the same to the bit. The chain is emitted where its
 * last node stood. */
#include "op/conv.h"
#include "core/mem.h"
#include "graph/match.h"

#include <stdlib.h>

typedef struct Chains {
    const MsOp *conv, *apply, *add, *both;
    int32_t *n_use;   /* by value: uses by nodes and results */
    int32_t *norm_of; /* by node, the last of a chain: its normalisation, else -1 */
    bool *gone;       /* by node: computed by the last of its chain */
} Chains;

/* The only use of the result of `op`, or NULL. */
static const MsNode *only(const MsGraph *g, const Chains *c, const MsOp *op, int32_t v)
{
    const MsNode *n = ms__def(g, v);
    return n && n->op == op && c->n_use[v] == 1 && !c->gone[n - g->node] ? n : NULL;
}

/* The convolution in front of a normalisation that goes with it, or NULL. */
static const MsNode *conv_of(const MsGraph *g, const Chains *c, const MsNode *norm)
{
    const MsNode *n = only(g, c, c->conv, norm->in[0]);
    bool takes = n && ms__conv_takes_norm(n->attr, &g->val[n->in[0]], &g->val[n->in[1]], &g->val[n->out]);
    return takes ? n : NULL;
}

static void take(const MsGraph *g, Chains *c, int last, const MsNode *norm)
{
    c->norm_of[last] = (int32_t)(norm - g->node);
    c->gone[norm - g->node] = true;
    c->gone[g->def[norm->in[0]]] = true;
}

/* norm + skip, without a ReLU in it. */
static void find_sum(const MsGraph *g, Chains *c, int k)
{
    const MsNode *add = &g->node[k];
    for (int i = 0; i < 2; i++) {
        const MsNode *norm = only(g, c, c->apply, add->in[i]);
        if (!norm || norm->in[5] >= 0 || norm->attr[1].i || !conv_of(g, c, norm)) continue;
        if (add->in[0] == add->in[1] || !ms__aval_equal(&g->val[add->in[0]], &g->val[add->in[1]])) continue;
        take(g, c, k, norm);
        return;
    }
}

static void end(MsRebuild *r)
{
    Chains *c = r->ctx;
    if (!c) return;
    free(c->n_use);
    free(c->norm_of);
    free(c->gone);
    free(c);
}

static MsStatus begin(MsRebuild *r)
{
    const MsGraph *g = r->from;
    Chains *c = r->ctx = ms__calloc(1, sizeof *c);
    if (!c) return MS_ERROR_MEMORY;
    c->conv = ms__op_find("conv");
    c->apply = ms__op_find("batch_norm_apply");
    c->add = ms__op_find("add");
    c->both = ms__op_find("conv_norm");
    c->n_use = ms__use_counts(g);
    c->norm_of = ms__malloc((size_t)g->n_node * sizeof *c->norm_of);
    c->gone = ms__calloc((size_t)g->n_node, sizeof *c->gone);
    if (!c->n_use || !c->norm_of || !c->gone) return MS_ERROR_MEMORY;
    for (int k = 0; k < g->n_node; k++) c->norm_of[k] = -1;
    for (int k = 0; k < g->n_node; k++)
        if (g->node[k].op == c->add) find_sum(g, c, k);
    for (int k = 0; k < g->n_node; k++)
        if (g->node[k].op == c->apply && !c->gone[k] && conv_of(g, c, &g->node[k])) {
            take(g, c, k, &g->node[k]);
            c->gone[k] = false;
        }
    return MS_OK;
}

static MsStatus node(MsRebuild *r, int k)
{
    const Chains *c = r->ctx;
    const MsGraph *g = r->from;
    if (c->gone[k]) return MS_OK;
    if (c->norm_of[k] < 0) return ms__rebuild_keep(r, k);
    const MsNode *last = &g->node[k], *norm = &g->node[c->norm_of[k]], *conv = ms__def(g, norm->in[0]);
    int32_t skip = last == norm ? norm->in[5] : last->in[last->in[0] == norm->out], in[8];
    for (int i = 0; i < 3; i++) in[i] = conv->in[i] < 0 ? -1 : r->map[conv->in[i]];
    for (int i = 3; i < 7; i++) in[i] = r->map[norm->in[i - 2]];
    in[7] = skip < 0 ? -1 : r->map[skip];
    MsAttr attr[MS_MAX_ATTR] = {{0}};
    for (int i = 0; i < NORM_EPS; i++) attr[i] = conv->attr[i];
    for (int i = NORM_EPS; i <= NORM_TOP; i++) attr[i] = norm->attr[i - NORM_EPS];
    int32_t v = ms__graph_add(r->to, c->both, attr, 8, in, 1, &g->val[last->out]);
    if (v < 0) return ms_error()->code;
    r->to->node[r->to->n_node - 1].loc = last->loc;
    r->map[last->out] = v;
    r->changed = true;
    return MS_OK;
}

const MsPass ms__pass_conv = {"conv", begin, node, end};
