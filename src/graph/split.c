/* split.c - a graph in two: what some of its results need, and the rest. Compiled functions that look at a value in
 * the middle run the first part, compare the value, and go on with the second. */
#include "core/mem.h"
#include "graph/match.h"

#include <stdlib.h>

typedef struct Split {
    const MsGraph *g;
    bool *early; /* by node: in the first part */
    bool *pass;  /* by value: of the first part and needed in the second */
    int32_t *map;
    int32_t *out;
} Split;

static bool of_first(const Split *s, int32_t v)
{
    return v >= 0 && s->g->def[v] >= 0 && s->early[s->g->def[v]];
}

static void mark(Split *s, int n, bool rest)
{
    const MsGraph *g = s->g;
    for (int j = g->n_result - n; j < g->n_result; j++)
        if (g->def[g->out[j]] >= 0) s->early[g->def[g->out[j]]] = true;
    for (int k = g->n_node - 1; k >= 0; k--)
        for (int i = 0; s->early[k] && i < g->node[k].n_in; i++)
            if (g->node[k].in[i] >= 0 && g->def[g->node[k].in[i]] >= 0)
                s->early[g->def[g->node[k].in[i]]] = true;
    if (!rest) return;
    for (int k = 0; k < g->n_node; k++)
        for (int i = 0; g->node[k].op && !s->early[k] && i < g->node[k].n_in; i++)
            if (of_first(s, g->node[k].in[i])) s->pass[g->node[k].in[i]] = true;
    for (int j = 0; j < g->n_out; j++)
        if ((j < g->n_result - n || j >= g->n_result) && of_first(s, g->out[j])) s->pass[g->out[j]] = true;
}

/* The first part runs on trial: where its values are others than expected, another graph does all of it again. */
static MsStatus has_no_effect(const Split *s)
{
    for (int k = 0; k < s->g->n_node; k++)
        if (s->early[k] && ms__has_effect(&s->g->node[k]))
            return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                           "The value of a tensor is needed after a print or check that "
                           "happens where another tensor decides.");
    return MS_OK;
}

static MsStatus copy_nodes(Split *s, MsGraph *to, bool early)
{
    const MsGraph *g = s->g;
    for (int k = 0; k < g->n_node; k++) {
        const MsNode *n = &g->node[k];
        if (!n->op || s->early[k] != early) continue;
        int32_t few[16], *in = few;
        if (n->n_in > 16 && !(in = ms__malloc((size_t)n->n_in * sizeof *in))) return MS_ERROR_MEMORY;
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? -1 : s->map[n->in[i]];
        int32_t v = ms__graph_add(to, n->op, n->attr, n->n_in, in, n->n_out, g->val + n->out);
        if (in != few) free(in);
        if (v < 0) return MS_ERROR_MEMORY;
        to->node[to->n_node - 1].loc = n->loc;
        for (int j = 0; j < n->n_out; j++) s->map[n->out + j] = v + j;
    }
    return MS_OK;
}

/* g's inputs from `from` up to `to`. */
static MsStatus copy_inputs(Split *s, MsGraph *into, int from, int to)
{
    for (int i = from; i < to; i++)
        if ((s->map[i] = ms__graph_input(into, &s->g->val[i])) < 0) return MS_ERROR_MEMORY;
    return MS_OK;
}

static MsStatus copy_captured(const MsGraph *g, MsGraph *to)
{
    int n = g->n_in - g->n_arg;
    to->captured = ms__calloc((size_t)n + 1, sizeof *to->captured);
    if (!to->captured) return MS_ERROR_MEMORY;
    for (int k = 0; k < n; k++) to->captured[k] = ms_tensor_ref(g->captured[k]);
    return MS_OK;
}

static MsStatus make_first(Split *s, int n, MsGraph *to)
{
    const MsGraph *g = s->g;
    to->n_arg = g->n_arg;
    MS_TRY(copy_inputs(s, to, 0, g->n_in));
    MS_TRY(copy_captured(g, to));
    MS_TRY(copy_nodes(s, to, true));
    int n_out = 0;
    for (int j = g->n_result - n; j < g->n_result; j++) s->out[n_out++] = s->map[g->out[j]];
    for (int32_t v = 0; v < g->n_val; v++)
        if (s->pass[v]) s->out[n_out++] = s->map[v];
    MS_TRY(ms__graph_set_out(to, n_out, s->out));
    to->n_result = n_out;
    return MS_OK;
}

static MsStatus make_rest(Split *s, int n, MsGraph *to)
{
    const MsGraph *g = s->g;
    int n_written = g->n_out - g->n_result;
    MS_TRY(copy_inputs(s, to, 0, g->n_arg));
    for (int32_t v = 0; v < g->n_val; v++)
        if (s->pass[v] && (s->map[v] = ms__graph_input(to, &g->val[v])) < 0) return MS_ERROR_MEMORY;
    to->n_arg = to->n_in;
    MS_TRY(copy_inputs(s, to, g->n_arg, g->n_in));
    MS_TRY(copy_captured(g, to));
    MS_TRY(copy_nodes(s, to, false));
    int n_out = 0;
    for (int j = 0; j < g->n_out; j++)
        if (j < g->n_result - n || j >= g->n_result) s->out[n_out++] = s->map[g->out[j]];
    MS_TRY(ms__graph_set_out(to, n_out, s->out));
    to->n_result = g->n_result - n;
    to->written = ms__calloc((size_t)n_written + 1, sizeof *to->written);
    if (!to->written) return MS_ERROR_MEMORY;
    for (int k = 0; k < n_written; k++) to->written[k] = g->written[k];
    return MS_OK;
}

MsStatus ms__graph_split(const MsGraph *g, int n, MsGraph **first, MsGraph **rest)
{
    Split s = {.g = g};
    s.early = ms__calloc((size_t)g->n_node + 1, sizeof *s.early);
    s.pass = ms__calloc((size_t)g->n_val + 1, sizeof *s.pass);
    s.map = ms__calloc((size_t)g->n_val + 1, sizeof *s.map);
    s.out = ms__calloc((size_t)(g->n_val + g->n_out) + 1, sizeof *s.out);
    MsGraph *a = ms__graph_new(), *b = rest ? ms__graph_new() : NULL;
    MsStatus st = s.early && s.pass && s.map && s.out && a && (b || !rest) ? MS_OK : MS_ERROR_MEMORY;
    if (st == MS_OK) {
        mark(&s, n, rest != NULL);
        st = has_no_effect(&s);
    }
    if (st == MS_OK) st = make_first(&s, n, a);
    if (st == MS_OK && rest) st = make_rest(&s, n, b);
    free(s.early);
    free(s.pass);
    free(s.map);
    free(s.out);
    if (st == MS_OK) {
        *first = a;
        if (rest) *rest = b;
        return MS_OK;
    }
    ms_graph_unref(a);
    ms_graph_unref(b);
    return st;
}
