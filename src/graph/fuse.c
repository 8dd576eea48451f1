/* fuse.c - groups elementwise nodes into `fused` nodes, whose program runs tile by tile in the first-level
 * cache.
 *
 * A node joins the groups of its producers when all have its shape (smaller operands are broadcast inputs of
 * the group: computing them once is cheaper) and when the whole stays acyclic: no path leaves the group and
 * comes back. The loops are those of the single operators, so results are the same to the bit. Inputs are
 * ordered as a walk over the expression meets them, which gives the result the layout that the single nodes
 * would have given it. A reduction that alone uses the only result of a group ends it (`fused_reduce`). Operators
 * that can raise (integer division) stay alone, so that the error names them.
 */
#include "core/mem.h"
#include "graph/match.h"
#include "graph/text.h"
#include "op/fused.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 160
#define MAX_OPERANDS 32 /* inputs and outputs of a group */
#define MAX_SEARCH 4096 /* nodes looked at to see whether a group stays acyclic */

typedef struct Fuse {
    int32_t *group; /* by node: the first node of its group, -1 = not fusable */
    int32_t *next;  /* by node: next member in order, -1 = last */
    int32_t *last;  /* by first node: last member */
    int32_t *size;  /* by first node: members */
    int32_t *mark;  /* by node: search number in which it was seen */
    int32_t *stack; /* of a search */
    int32_t *end;   /* by first node: the reduction that takes its result, -1 = none */
    int32_t *n_use; /* by value: uses by nodes and outputs */
    bool *done;     /* by node: emitted */
    int search;
} Fuse;

static const MsOp *fused_op(void)
{
    return ms__op_find("fused");
}

static const MsOp *fused_reduce_op(void)
{
    return ms__op_find("fused_reduce");
}

static bool fusable(const MsGraph *g, const MsNode *n)
{
    if (!n->op || !(n->op->flags & MS_OP_ELEMENTWISE) || n->op->flags & MS_OP_NO_FOLD) return false;
    if (!ms__fused_has(n->op)) return false;
    if (n->n_out != 1 || n->n_in < 1 || n->n_in > 3 || n->op == fused_op() || ms__has_effect(n)) return false;
    if (ms_dtype_is_complex(g->val[n->out].dtype)) return false;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0 || ms_dtype_is_complex(g->val[n->in[i]].dtype)) return false;
        const MsNode *def = ms__def(g, n->in[i]);
        if (def && ms__has_effect(def)) return false; /* effects keep their order */
    }
    return !ms__fused_may_raise(n->op, g->val[n->in[0]].dtype);
}

static bool same_shape(const MsAval *a, const MsAval *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

/* ---- grouping ---- */

/* Pushes the producers of node k's inputs that were not seen in this search; false when one is in a or b. */
static bool push_inputs(const MsGraph *g, Fuse *f, int k, int a, int b, bool member, int *n)
{
    for (int i = 0; i < g->node[k].n_in; i++) {
        int32_t v = g->node[k].in[i], d = v < 0 ? -1 : g->def[v];
        if (d < 0) continue;
        bool inside = f->group[d] >= 0 && (f->group[d] == a || f->group[d] == b);
        if (inside && !member) return false;
        if (inside || f->mark[d] == f->search) continue;
        f->mark[d] = f->search;
        f->stack[(*n)++] = d;
    }
    return true;
}

/* Does the union of groups a and b stay acyclic? Walks back from its inputs, through whole groups, no further
 * than its first node. */
static bool acyclic(const MsGraph *g, Fuse *f, int a, int b)
{
    int n = 0, looked = 0, first = a < b ? a : b;
    f->search++;
    for (int side = 0; side < 2; side++)
        for (int k = side ? b : a; k >= 0; k = f->next[k]) push_inputs(g, f, k, a, b, true, &n);
    while (n > 0) {
        int d = f->stack[--n];
        if (f->group[d] >= 0) {
            if (f->last[f->group[d]] < first) continue;
            for (int k = f->group[d]; k >= 0; k = f->next[k]) {
                f->mark[k] = f->search;
                if (!push_inputs(g, f, k, a, b, false, &n)) return false;
            }
        } else {
            if (d < first) continue;
            if (!push_inputs(g, f, d, a, b, false, &n)) return false;
        }
        if (++looked > MAX_SEARCH) return false;
    }
    return true;
}

static void merge(Fuse *f, int a, int b)
{
    if (b < a) {
        int t = a;
        a = b;
        b = t;
    }
    int x = f->next[a], y = b, at = a; /* a comes first; merge the two ordered lists */
    while (x >= 0 || y >= 0) {
        int take = x < 0 || (y >= 0 && y < x) ? y : x;
        if (take == x)
            x = f->next[x];
        else
            y = f->next[y];
        f->next[at] = take;
        at = take;
    }
    f->next[at] = -1;
    f->last[a] = at;
    f->size[a] += f->size[b];
    for (int k = a; k >= 0; k = f->next[k]) f->group[k] = a;
}

/* Inputs and outputs of the union, counted generously: a value used inside and outside is an output. */
static int operands(const MsGraph *g, const Fuse *f, int a, int b)
{
    int32_t seen[MAX_OPERANDS];
    int n = 0, n_out = 0;
    for (int side = 0; side < 2; side++)
        for (int k = side ? b : a; k >= 0; k = f->next[k]) {
            const MsNode *node = &g->node[k];
            int inside = 0;
            for (int i = 0; i < node->n_in; i++) {
                int32_t v = node->in[i], d = g->def[v];
                if (d >= 0 && (f->group[d] == a || f->group[d] == b)) continue;
                int l = 0;
                while (l < n && seen[l] != v) l++;
                if (l < n) continue;
                if (n == MAX_OPERANDS) return MAX_OPERANDS + 1;
                seen[n++] = v;
            }
            for (int s = 0; s < 2; s++)
                for (int m = s ? b : a; m >= 0; m = f->next[m])
                    for (int i = 0; i < g->node[m].n_in; i++) inside += g->node[m].in[i] == node->out;
            n_out += inside < f->n_use[node->out];
        }
    return n + n_out;
}

static void join_producers(const MsGraph *g, Fuse *f, int k)
{
    const MsNode *n = &g->node[k];
    for (int i = 0; i < n->n_in; i++) {
        int32_t d = g->def[n->in[i]];
        if (d < 0 || f->group[d] < 0 || f->group[d] == f->group[k]) continue;
        if (!same_shape(&g->val[n->in[i]], &g->val[n->out])) continue;
        int a = f->group[d], b = f->group[k];
        if (f->size[a] + f->size[b] > MAX_STEPS || operands(g, f, a, b) > MAX_OPERANDS) continue;
        if (acyclic(g, f, a, b)) merge(f, a, b);
    }
}

/* The group that node k, a reduction, ends: nothing else uses a value of it. -1 = none. */
static int ends(const MsGraph *g, const Fuse *f, int k)
{
    const MsNode *n = &g->node[k];
    if (!n->op || n->n_in != 1 || n->n_out != 1 || n->in[0] < 0 || !fused_reduce_op()) return -1;
    int32_t d = g->def[n->in[0]], a = d < 0 ? -1 : f->group[d];
    if (a < 0 || f->n_use[n->in[0]] != 1 || f->last[a] != d) return -1;
    if (!ms__fused_reduces(n->op, &n->attr[0], &g->val[n->in[0]])) return -1;
    for (int m = a; m >= 0; m = f->next[m]) {
        int inside = m == d;
        for (int o = a; o >= 0; o = f->next[o])
            for (int i = 0; i < g->node[o].n_in; i++) inside += g->node[o].in[i] == g->node[m].out;
        if (inside < f->n_use[g->node[m].out]) return -1;
    }
    return a;
}

static void end(MsRebuild *r)
{
    Fuse *f = r->ctx;
    if (!f) return;
    free(f->group);
    free(f->n_use);
    free(f->done);
    free(f);
}

static MsStatus begin(MsRebuild *r)
{
    const MsGraph *g = r->from;
    size_t n = (size_t)g->n_node;
    Fuse *f = r->ctx = ms__calloc(1, sizeof *f);
    if (!f) return MS_ERROR_MEMORY;
    f->group = ms__malloc(7 * n * sizeof *f->group);
    f->n_use = ms__use_counts(g);
    f->done = ms__calloc(n, sizeof *f->done);
    if (!f->group || !f->n_use || !f->done) return MS_ERROR_MEMORY;
    f->next = f->group + n;
    f->last = f->next + n;
    f->size = f->last + n;
    f->mark = f->size + n;
    f->stack = f->mark + n;
    f->end = f->stack + n;
    for (int k = 0; k < g->n_node; k++) {
        f->next[k] = -1;
        f->mark[k] = 0;
        f->size[k] = 1;
        f->last[k] = k;
        f->end[k] = -1;
        f->group[k] = fused_op() && fusable(g, &g->node[k]) ? k : -1;
    }
    for (int k = 0; k < g->n_node; k++)
        if (f->group[k] >= 0) join_producers(g, f, k);
    for (int k = 0; k < g->n_node; k++) {
        int a = ends(g, f, k);
        if (a >= 0) f->end[a] = k;
    }
    return MS_OK;
}

/* ---- emitting ---- */

typedef struct Group {
    int32_t in[MAX_OPERANDS], out[MAX_OPERANDS]; /* old values */
    int n_in, n_out;
    int32_t *reg; /* by old value: register of the program, -1 = none */
} Group;

/* Inputs in the order in which a walk down from node k meets them. */
static void find_inputs(const MsGraph *g, const Fuse *f, int a, int k, Group *x)
{
    const MsNode *n = &g->node[k];
    for (int i = 0; i < n->n_in; i++) {
        int32_t v = n->in[i], d = g->def[v];
        if (x->reg[v] >= 0) continue;
        if (d >= 0 && f->group[d] == a) {
            x->reg[v] = 0; /* visited; numbered later */
            find_inputs(g, f, a, d, x);
        } else {
            x->reg[v] = x->n_in;
            x->in[x->n_in++] = v;
        }
    }
}

static void find_operands(const MsGraph *g, const Fuse *f, int a, Group *x)
{
    x->n_in = x->n_out = 0;
    find_inputs(g, f, a, f->last[a], x);
    for (int k = a; k >= 0; k = f->next[k]) {
        if (x->reg[g->node[k].out] < 0) find_inputs(g, f, a, k, x);
        int inside = 0;
        for (int m = a; m >= 0; m = f->next[m])
            for (int i = 0; i < g->node[m].n_in; i++) inside += g->node[m].in[i] == g->node[k].out;
        if (inside < f->n_use[g->node[k].out]) x->out[x->n_out++] = g->node[k].out;
    }
    int step = x->n_in;
    for (int k = a; k >= 0; k = f->next[k]) x->reg[g->node[k].out] = step++;
}

/* "%2=mul %0 %1; %3=elu(1.0) %2; out %3" */
static const char *program(const MsGraph *g, const Fuse *f, int a, const Group *x)
{
    MsText t = {0};
    for (int k = a; k >= 0; k = f->next[k]) {
        const MsNode *n = &g->node[k];
        const MsSig *s = ms__sig(n->op);
        ms__text_add(&t, "%%%d=%s", x->reg[n->out], n->op->name);
        for (int i = 0; s && i < s->n_attr; i++) {
            const MsAttr *at = &n->attr[i];
            if (at->kind == MS_ATTR_NONE) continue;
            ms__text_add(&t, "(");
            if (at->kind == MS_ATTR_DTYPE)
                ms__text_add(&t, "%s", ms_dtype_name((MsDtype)at->i));
            else
                ms__text_float(&t, at->kind == MS_ATTR_FLOAT ? at->f : (double)at->i);
            ms__text_add(&t, ")");
        }
        for (int i = 0; i < n->n_in; i++) ms__text_add(&t, " %%%d", x->reg[n->in[i]]);
        ms__text_add(&t, "; ");
    }
    ms__text_add(&t, "out");
    for (int j = 0; j < x->n_out; j++) ms__text_add(&t, " %%%d", x->reg[x->out[j]]);
    char *text = ms__text_take(&t);
    const char *kept = text ? ms__intern(text) : NULL;
    free(text);
    return kept;
}

static MsStatus emit(MsRebuild *r, int k);

static MsStatus emit_producers(MsRebuild *r, int n_in, const int32_t *in)
{
    for (int i = 0; i < n_in; i++) {
        int32_t d = in[i] < 0 ? -1 : r->from->def[in[i]];
        if (d >= 0) MS_TRY(emit(r, d));
    }
    return MS_OK;
}

static MsStatus emit_group(MsRebuild *r, int a)
{
    const MsGraph *g = r->from;
    Fuse *f = r->ctx;
    Group x = {.reg = ms__malloc((size_t)g->n_val * sizeof *x.reg)};
    if (!x.reg) return MS_ERROR_MEMORY;
    memset(x.reg, -1, (size_t)g->n_val * sizeof *x.reg);
    find_operands(g, f, a, &x);
    MsAttr attr[4] = {{.kind = MS_ATTR_STR}};
    attr[0].s = program(g, f, a, &x);
    free(x.reg);
    if (!attr[0].s) return MS_ERROR_MEMORY;
    const MsNode *reduce = f->end[a] >= 0 ? &g->node[f->end[a]] : NULL;
    if (reduce) {
        attr[1] = (MsAttr){.kind = MS_ATTR_STR, .s = reduce->op->name};
        attr[2] = reduce->attr[0];
        attr[3] = reduce->attr[1];
        x.out[0] = reduce->out;
        f->done[f->end[a]] = true;
    }
    for (int k = a; k >= 0; k = f->next[k]) f->done[k] = true;
    if (x.n_out == 0) return MS_OK; /* nobody uses it */
    MS_TRY(emit_producers(r, x.n_in, x.in));
    int32_t in[MAX_OPERANDS];
    MsAval out[MAX_OPERANDS];
    for (int i = 0; i < x.n_in; i++) in[i] = r->map[x.in[i]];
    for (int j = 0; j < x.n_out; j++) out[j] = g->val[x.out[j]];
    int32_t v = ms__graph_add(r->to, reduce ? fused_reduce_op() : fused_op(), attr, x.n_in, in, x.n_out, out);
    if (v < 0) return ms_error()->code;
    r->to->node[r->to->n_node - 1].loc = g->node[a].loc;
    for (int j = 0; j < x.n_out; j++) r->map[x.out[j]] = v + j;
    r->changed = true;
    return MS_OK;
}

static MsStatus emit(MsRebuild *r, int k)
{
    Fuse *f = r->ctx;
    const MsNode *n = &r->from->node[k];
    if (f->done[k]) return MS_OK;
    int32_t from = n->n_in == 1 && n->in[0] >= 0 ? r->from->def[n->in[0]] : -1;
    if (from >= 0 && f->group[from] >= 0 && f->end[f->group[from]] == k) return emit_group(r, f->group[from]);
    if (f->group[k] >= 0 && f->size[f->group[k]] > 1) return emit_group(r, f->group[k]);
    f->done[k] = true;
    MS_TRY(emit_producers(r, n->n_in, n->in));
    return ms__rebuild_keep(r, k);
}

/* A group comes out at its last member, or earlier when something needs it, or at the reduction that ends it. */
static MsStatus node(MsRebuild *r, int k)
{
    const Fuse *f = r->ctx;
    if (f->group[k] >= 0 && (f->last[f->group[k]] != k || f->end[f->group[k]] >= 0)) return MS_OK;
    return emit(r, k);
}

const MsPass ms__pass_fuse = {"fuse", begin, node, end};
