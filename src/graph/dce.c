/* dce.c - removes nodes whose outputs nobody needs: not the graph's outputs, not an effect, not each other. A
 * dead node that would have raised an error at run time no longer does, as in any compiler. */
#include "core/mem.h"
#include "graph/match.h"

#include <stdlib.h>

static MsStatus begin(MsRebuild *r)
{
    const MsGraph *g = r->from;
    bool *live = ms__calloc((size_t)g->n_val, sizeof *live);
    if (!live) return MS_ERROR_MEMORY;
    r->ctx = live;
    for (int j = 0; j < g->n_out; j++) live[g->out[j]] = true;
    for (int k = g->n_node - 1; k >= 0; k--) {
        const MsNode *n = &g->node[k];
        if (!n->op) continue;
        bool needed = ms__has_effect(n);
        for (int j = 0; j < n->n_out; j++) needed |= live[n->out + j];
        if (!needed) continue;
        for (int j = 0; j < n->n_out; j++) live[n->out + j] = true;
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] >= 0) live[n->in[i]] = true;
    }
    return MS_OK;
}

static MsStatus node(MsRebuild *r, int k)
{
    const bool *live = r->ctx;
    const MsNode *n = &r->from->node[k];
    if (n->n_out == 0 ? ms__has_effect(n) : live[n->out]) return ms__rebuild_keep(r, k);
    r->changed = true;
    return MS_OK;
}

static void end(MsRebuild *r)
{
    free(r->ctx);
}

const MsPass ms__pass_dce = {"dce", begin, node, end};
