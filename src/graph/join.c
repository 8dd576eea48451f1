/* join.c - sums of gradients that meet in one tensor. The gradients of slices that cut a tensor up are each put into
 * zeros and added: they are joined instead. A gradient that is scattered into zeros and then added to another is
 * scattered into that one. Both leave out additions of zero, so results agree but for the sign of a zero and the
 * order of a sum. */
#include "core/mem.h"
#include "graph/match.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 16

static bool is(const MsNode *n, const char *name)
{
    return n && strcmp(n->op->name, name) == 0;
}

static bool is_zeros(const MsGraph *g, int32_t v)
{
    double x;
    return ms__uniform(g, v, &x) && x == 0;
}

static MsStatus begin(MsRebuild *r)
{
    r->ctx = ms__use_counts(r->from);
    return r->ctx ? MS_OK : MS_ERROR_MEMORY;
}

static void end(MsRebuild *r)
{
    free(r->ctx);
}

/* v is zeros but for a block of unit steps that is smaller along one axis only: the axis, else -1. */
static int block_axis(const MsGraph *g, int32_t v)
{
    const MsNode *n = ms__def(g, v);
    if (!is(n, "slice_update") || !is_zeros(g, n->in[0])) return -1;
    const MsAval *all = &g->val[v], *part = &g->val[n->in[1]];
    int axis = -1;
    for (int d = 0; d < all->ndim; d++) {
        if (n->attr[1].v[d] != 1) return -1;
        if (part->shape[d] == all->shape[d]) continue;
        if (axis >= 0) return -1;
        axis = d;
    }
    return axis;
}

/* The leaves of a tree of additions that nothing else reads: parts that are put into zeros along one axis. */
static bool leaves(const MsRebuild *r, int32_t v, int *axis, int32_t *leaf, int *n)
{
    const MsGraph *g = r->from;
    const MsNode *def = ms__def(g, v);
    int at = block_axis(g, v);
    if (at >= 0) {
        if (*n == MAX_PARTS || (*n > 0 && at != *axis)) return false;
        *axis = at;
        leaf[(*n)++] = v;
        return true;
    }
    return is(def, "add") && ((const int32_t *)r->ctx)[v] == 1 && leaves(r, def->in[0], axis, leaf, n) &&
           leaves(r, def->in[1], axis, leaf, n);
}

/* The parts in order along the axis, when they tile it exactly. */
static bool tiles(const MsGraph *g, int axis, int64_t size, int32_t *leaf, int n)
{
    int64_t at = 0;
    for (int k = 0; k < n; k++) {
        int l = k;
        while (l < n && ms__def(g, leaf[l])->attr[0].v[axis] != at) l++;
        if (l == n) return false;
        int32_t v = leaf[l];
        leaf[l] = leaf[k];
        leaf[k] = v;
        at += g->val[ms__def(g, v)->in[1]].shape[axis];
    }
    return at == size;
}

static MsStatus joined(MsRebuild *r, const MsNode *n, int axis, const int32_t *leaf, int n_leaf)
{
    const MsGraph *g = r->from;
    int32_t in[MAX_PARTS];
    MsAttr attr = {.kind = MS_ATTR_INT};
    attr.i = axis;
    for (int k = 0; k < n_leaf; k++) in[k] = r->map[ms__def(g, leaf[k])->in[1]];
    int32_t v = ms__rebuild_add(r, ms__op_find("concat"), &attr, n_leaf, in);
    if (v < 0) return ms_error()->code;
    r->map[n->out] = v;
    r->changed = true;
    return MS_OK;
}

/* add(a, scatter_add(zeros, index, src)) */
static bool scattered(const MsRebuild *r, const MsNode *n, int *side)
{
    const MsGraph *g = r->from;
    for (*side = 0; *side < 2; ++*side) {
        int32_t v = n->in[*side];
        const MsNode *s = ms__def(g, v);
        if (is(s, "scatter_add") && is_zeros(g, s->in[0]) && ((const int32_t *)r->ctx)[v] == 1 &&
            ms__aval_equal(&g->val[n->in[!*side]], &g->val[v]))
            return true;
    }
    return false;
}

static MsStatus node(MsRebuild *r, int k)
{
    const MsGraph *g = r->from;
    const MsNode *n = &g->node[k];
    int32_t leaf[MAX_PARTS];
    int axis = -1, n_leaf = 0, side;
    if (!is(n, "add")) return ms__rebuild_keep(r, k);
    if (leaves(r, n->in[0], &axis, leaf, &n_leaf) && leaves(r, n->in[1], &axis, leaf, &n_leaf) &&
        tiles(g, axis, g->val[n->out].shape[axis], leaf, n_leaf))
        return joined(r, n, axis, leaf, n_leaf);
    if (!scattered(r, n, &side)) return ms__rebuild_keep(r, k);
    const MsNode *s = ms__def(g, n->in[side]);
    int32_t in[] = {r->map[n->in[!side]], r->map[s->in[1]], r->map[s->in[2]]};
    int32_t v = ms__rebuild_add(r, s->op, s->attr, 3, in);
    if (v < 0) return ms_error()->code;
    r->map[n->out] = v;
    r->changed = true;
    return MS_OK;
}

const MsPass ms__pass_join = {"join", begin, node, end};
