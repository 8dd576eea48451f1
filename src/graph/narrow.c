/* narrow.c - batch normalisation of widened bfloat16 takes and gives bfloat16 itself:
 *   cast(bfloat16)(batch_norm(cast(float32)(x)))                    batch_norm(x)
 *   cast(bfloat16)(batch_norm_grad(cast(float32)(dy), cast(x)))     batch_norm_grad(dy, x)
 * It computes in float32 anyway, so the values stay the same to the bit and half of the memory traffic goes.
 * Mixed precision writes such chains, since it keeps normalisation in float32. Refused: float16, whose kernels
 * add in another order. */
#include "core/mem.h"
#include "graph/match.h"

#include <stdlib.h>
#include <string.h>

typedef struct Narrow {
    const MsOp *norm, *grad, *cast;
    int32_t *n_use, *user; /* by value: uses by nodes and results; a node that uses it */
    int32_t *cast_of;      /* by node: a normalisation -> the cast of its result, -1 */
    bool *gone;            /* by node: such a cast */
} Narrow;

/* What v was before it was widened from bfloat16, or -1. */
static int32_t before_widening(const MsGraph *g, const Narrow *c, int32_t v)
{
    const MsNode *n = ms__def(g, v);
    if (!n || n->op != c->cast || g->val[v].dtype != MS_FLOAT32) return -1;
    return g->val[n->in[0]].dtype == MS_BFLOAT16 ? n->in[0] : -1;
}

static void find(const MsGraph *g, Narrow *c, int k)
{
    const MsNode *n = &g->node[k];
    if (n->op != c->norm && n->op != c->grad) return;
    for (int i = 0; i < (n->op == c->grad ? 2 : 1); i++)
        if (before_widening(g, c, n->in[i]) < 0) return;
    if (c->n_use[n->out] != 1 || c->user[n->out] < 0) return;
    const MsNode *cast = &g->node[c->user[n->out]];
    if (cast->op != c->cast || g->val[cast->out].dtype != MS_BFLOAT16) return;
    c->cast_of[k] = c->user[n->out];
    c->gone[c->cast_of[k]] = true;
}

static void end(MsRebuild *r)
{
    Narrow *c = r->ctx;
    if (!c) return;
    free(c->n_use);
    free(c->cast_of);
    free(c->gone);
    free(c);
}

static MsStatus begin(MsRebuild *r)
{
    const MsGraph *g = r->from;
    Narrow *c = r->ctx = ms__calloc(1, sizeof *c);
    if (!c) return MS_ERROR_MEMORY;
    c->norm = ms__op_find("batch_norm");
    c->grad = ms__op_find("batch_norm_grad");
    c->cast = ms__op_find("cast");
    c->n_use = ms__calloc(2 * (size_t)g->n_val, sizeof *c->n_use);
    c->cast_of = ms__malloc((size_t)g->n_node * sizeof *c->cast_of);
    c->gone = ms__calloc((size_t)g->n_node, sizeof *c->gone);
    if (!c->n_use || !c->cast_of || !c->gone) return MS_ERROR_MEMORY;
    c->user = c->n_use + g->n_val;
    for (int v = 0; v < g->n_val; v++) c->user[v] = -1;
    for (int j = 0; j < g->n_out; j++) c->n_use[g->out[j]]++;
    for (int k = 0; k < g->n_node; k++) {
        c->cast_of[k] = -1;
        for (int i = 0; g->node[k].op && i < g->node[k].n_in; i++) {
            int32_t v = g->node[k].in[i];
            if (v < 0) continue;
            c->n_use[v]++;
            c->user[v] = k;
        }
    }
    for (int k = 0; k < g->n_node; k++)
        if (g->node[k].op) find(g, c, k);
    return MS_OK;
}

static MsStatus node(MsRebuild *r, int k)
{
    const Narrow *c = r->ctx;
    const MsGraph *g = r->from;
    const MsNode *n = &g->node[k];
    if (c->gone[k]) return MS_OK;
    if (c->cast_of[k] < 0) return ms__rebuild_keep(r, k);
    int32_t in[5];
    ms__rebuild_inputs(r, k, in);
    for (int i = 0; i < (n->op == c->grad ? 2 : 1); i++) in[i] = r->map[before_widening(g, c, n->in[i])];
    MsAval out[3] = {g->val[n->out], g->val[n->out + 1], g->val[n->out + 2]};
    out[0].dtype = MS_BFLOAT16;
    int32_t v = ms__graph_add(r->to, n->op, n->attr, n->n_in, in, 3, out);
    if (v < 0) return ms_error()->code;
    r->to->node[r->to->n_node - 1].loc = n->loc;
    r->map[g->node[c->cast_of[k]].out] = v;
    r->map[n->out + 1] = v + 1;
    r->map[n->out + 2] = v + 2;
    r->changed = true;
    return MS_OK;
}

const MsPass ms__pass_narrow = {"narrow", begin, node, end};
