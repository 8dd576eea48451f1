/* cse.c - common subexpressions: a node with the operator, attributes and inputs of an earlier one is that
 * one. Random operators take part: they are functions of their state. Inputs are compared in order, since
 * swapping them may change which of two NaNs comes out. */
#include "core/mem.h"
#include "graph/match.h"

#include <stdlib.h>
#include <string.h>

typedef struct Table {
    int32_t *node; /* of the new graph, -1 = free; open addressing */
    uint32_t mask;
} Table;

static MsStatus begin(MsRebuild *r)
{
    uint32_t size = 64;
    while (size < 2 * (uint32_t)r->from->n_node) size *= 2;
    Table *t = ms__malloc(sizeof *t);
    if (!t) return MS_ERROR_MEMORY;
    t->mask = size - 1;
    t->node = ms__malloc(size * sizeof *t->node);
    r->ctx = t;
    if (!t->node) return MS_ERROR_MEMORY;
    memset(t->node, -1, size * sizeof *t->node);
    return MS_OK;
}

static void end(MsRebuild *r)
{
    Table *t = r->ctx;
    if (t) free(t->node);
    free(t);
}

static bool equal(const MsNode *a, const MsNode *b, const int32_t *b_in, int n_attr)
{
    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out) return false;
    if (a->n_in && memcmp(a->in, b_in, (size_t)a->n_in * sizeof *b_in) != 0) return false;
    for (int k = 0; k < n_attr; k++)
        if (!ms__attr_equal(&a->attr[k], &b->attr[k])) return false;
    return true;
}

static MsStatus node(MsRebuild *r, int k)
{
    Table *t = r->ctx;
    const MsNode *n = &r->from->node[k];
    const MsSig *s = ms__sig(n->op);
    if (!s) return ms_error()->code;
    if (n->n_out == 0 || n->op->flags & (MS_OP_NO_FOLD | MS_OP_CONTROL) || ms__has_effect(n))
        return ms__rebuild_keep(r, k);
    int32_t few[16], *in = few;
    if (n->n_in > 16 && !(in = ms__malloc((size_t)n->n_in * sizeof *in))) return MS_ERROR_MEMORY;
    ms__rebuild_inputs(r, k, in);
    uint64_t h = (uint64_t)(uintptr_t)n->op;
    for (int i = 0; i < n->n_in; i++) h = (h ^ (h >> 31) ^ (uint32_t)in[i]) * 0x9E3779B97F4A7C15u;
    for (int a = 0; a < s->n_attr; a++) h = ms__attr_hash(&n->attr[a], h);
    uint32_t at = (uint32_t)(h ^ (h >> 32)) & t->mask;
    MsStatus st = MS_OK;
    while (t->node[at] >= 0 && !equal(&r->to->node[t->node[at]], n, in, s->n_attr)) at = (at + 1) & t->mask;
    if (t->node[at] >= 0) {
        for (int j = 0; j < n->n_out; j++) r->map[n->out + j] = r->to->node[t->node[at]].out + j;
        r->changed = true;
    } else {
        t->node[at] = r->to->n_node;
        st = ms__rebuild_keep(r, k);
    }
    if (in != few) free(in);
    return st;
}

const MsPass ms__pass_cse = {"cse", begin, node, end};
