/* match.c - the engine under the passes. A pass never edits a graph: it writes a new one in one walk, so that
 * order, numbering and removal need no care, and a failure leaves the old graph. Rules are matched against
 * the new graph, whose values are in final form already; what a rule builds is rewritten again, so one walk
 * suffices. */
#include "graph/match.h"

#include "core/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- small questions ---- */

bool ms__aval_equal(const MsAval *a, const MsAval *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

const MsNode *ms__def(const MsGraph *g, int32_t v)
{
    return v < 0 || g->def[v] < 0 ? NULL : &g->node[g->def[v]];
}

int32_t *ms__use_counts(const MsGraph *g)
{
    int32_t *n_use = ms__calloc((size_t)g->n_val + 1, sizeof *n_use);
    for (int j = 0; n_use && j < g->n_out; j++) n_use[g->out[j]]++;
    for (int k = 0; n_use && k < g->n_node; k++)
        for (int i = 0; g->node[k].op && i < g->node[k].n_in; i++)
            if (g->node[k].in[i] >= 0) n_use[g->node[k].in[i]]++;
    return n_use;
}

bool ms__has_effect(const MsNode *n)
{
    if (n->op->flags & MS_OP_EFFECT) return true;
    const MsSig *s = ms__sig(n->op);
    for (int a = 0; s && a < s->n_attr; a++) {
        if (n->attr[a].kind != MS_ATTR_GRAPH) continue;
        const MsGraph *g = n->attr[a].g;
        for (int k = 0; k < g->n_node; k++)
            if (g->node[k].op && ms__has_effect(&g->node[k])) return true;
    }
    return false;
}

bool ms__uniform(const MsGraph *g, int32_t v, double *value)
{
    const MsNode *n = ms__def(g, v);
    while (n && n->op->flags & MS_OP_VIEW && n->n_in == 1) n = ms__def(g, n->in[0]);
    if (!n || n->n_in) return false;
    if (strcmp(n->op->name, "full") == 0 && n->attr[1].kind == MS_ATTR_FLOAT) {
        *value = n->attr[1].f;
        return true;
    }
    if (strcmp(n->op->name, "full_int") == 0 && n->attr[1].kind == MS_ATTR_INT) {
        *value = (double)n->attr[1].i;
        return (int64_t)*value == n->attr[1].i;
    }
    return false;
}

/* ---- rebuilding ---- */

void ms__rebuild_inputs(const MsRebuild *r, int k, int32_t *in)
{
    const MsNode *n = &r->from->node[k];
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? -1 : r->map[n->in[i]];
}

MsStatus ms__rebuild_keep(MsRebuild *r, int k)
{
    const MsNode *n = &r->from->node[k];
    int32_t *in = ms__malloc((size_t)n->n_in * sizeof *in);
    if (!in) return MS_ERROR_MEMORY;
    ms__rebuild_inputs(r, k, in);
    int32_t v = ms__graph_add(r->to, n->op, n->attr, n->n_in, in, n->n_out, &r->from->val[n->out]);
    free(in);
    if (v < 0) return ms_error()->code;
    r->to->node[r->to->n_node - 1].loc = n->loc;
    for (int j = 0; j < n->n_out; j++) r->map[n->out + j] = v + j;
    return MS_OK;
}

int32_t ms__rebuild_add(MsRebuild *r, const MsOp *op, const MsAttr *attr, int n_in, const int32_t *in)
{
    MsAval *a = ms__malloc((size_t)(n_in + 1) * sizeof *a);
    if (!a) return -1;
    for (int i = 0; i < n_in; i++) {
        a[i].dtype = MS_DTYPE_NONE;
        if (in[i] >= 0) a[i] = r->to->val[in[i]];
    }
    int n_out = 0;
    int32_t v = -1;
    if (ms__infer(op, attr, n_in, a, 1, &a[n_in], &n_out) == MS_OK && n_out == 1)
        v = ms__graph_add(r->to, op, attr, n_in, in, 1, &a[n_in]);
    free(a);
    return v;
}

typedef struct Memo { /* graphs inside that were rebuilt already: two calls of one graph share its new form
                         too */
    const MsGraph *from;
    MsGraph *to;
} Memo;

typedef struct Walk {
    const MsPass *pass;
    Memo *memo;
    int n_memo, cap_memo;
    bool changed;
} Walk;

static MsGraph *rebuild(Walk *w, const MsGraph *g);

/* Replaces the graphs inside the node added last by rebuilt ones. */
static MsStatus rebuild_inner(Walk *w, MsNode *n)
{
    const MsSig *s = ms__sig(n->op);
    for (int a = 0; a < s->n_attr; a++) {
        if (n->attr[a].kind != MS_ATTR_GRAPH) continue;
        MsGraph *old = n->attr[a].g, *new = NULL;
        for (int i = 0; i < w->n_memo; i++)
            if (w->memo[i].from == old || w->memo[i].to == old) new = w->memo[i].to;
        if (!new) {
            new = rebuild(w, old);
            if (!new) return ms_error()->code;
            if (w->n_memo == w->cap_memo) { /* after rebuild, which takes room for the graphs inside */
                Memo *memo = ms__realloc(w->memo, (size_t)(2 * w->cap_memo + 4) * sizeof *memo);
                if (!memo) {
                    ms_graph_unref(new);
                    return MS_ERROR_MEMORY;
                }
                w->memo = memo;
                w->cap_memo = 2 * w->cap_memo + 4;
            }
            w->memo[w->n_memo++] = (Memo){ms_graph_ref(old), new};
        }
        n->attr[a].g = ms_graph_ref(new);
        ms_graph_unref(old);
    }
    return MS_OK;
}

static MsStatus rebuild_nodes(Walk *w, MsRebuild *r)
{
    const MsGraph *g = r->from;
    for (int i = 0; i < g->n_in; i++) {
        r->map[i] = ms__graph_input(r->to, &g->val[i]);
        if (r->map[i] < 0) return ms_error()->code;
    }
    for (int k = 0; k < g->n_node; k++) {
        if (!g->node[k].op) continue;
        int first = r->to->n_node;
        MS_TRY(w->pass->node(r, k));
        for (int i = first; i < r->to->n_node; i++) MS_TRY(rebuild_inner(w, &r->to->node[i]));
    }
    int32_t *out = ms__malloc((size_t)g->n_out * sizeof *out);
    if (!out) return MS_ERROR_MEMORY;
    for (int j = 0; j < g->n_out; j++) out[j] = r->map[g->out[j]];
    MsStatus st = ms__graph_set_out(r->to, g->n_out, out);
    r->to->n_arg = g->n_arg;
    r->to->n_result = g->n_result;
    free(out);
    return st;
}

static MsGraph *rebuild(Walk *w, const MsGraph *g)
{
    MsRebuild r = {.from = g, .to = ms__graph_new()};
    r.map = ms__malloc((size_t)g->n_val * sizeof *r.map);
    for (int v = 0; v < g->n_val && r.map; v++) r.map[v] = -1;
    MsStatus st = r.to && r.map ? MS_OK : MS_ERROR_MEMORY;
    if (st == MS_OK && g->name && !(r.to->name = ms__strdup(g->name))) st = MS_ERROR_MEMORY;
    if (st == MS_OK && w->pass->begin) st = w->pass->begin(&r);
    if (st == MS_OK) st = rebuild_nodes(w, &r);
    if (w->pass->end) w->pass->end(&r);
    w->changed |= r.changed;
    free(r.map);
    if (st == MS_OK) return r.to;
    ms_graph_unref(r.to);
    return NULL;
}

/* g gets what `from` has: nodes, values, outputs. Identity, captured tensors and derivatives stay. */
static void take_over(MsGraph *g, MsGraph *from)
{
    MsGraph old = *g;
    g->val = from->val, g->def = from->def, g->n_val = from->n_val, g->cap_val = from->cap_val;
    g->node = from->node, g->n_node = from->n_node, g->cap_node = from->cap_node;
    g->out = from->out;
    g->arena = from->arena;
    g->plan = NULL;
    from->val = old.val, from->def = old.def, from->n_val = old.n_val, from->cap_val = old.cap_val;
    from->node = old.node, from->n_node = old.n_node, from->cap_node = old.cap_node;
    from->out = old.out;
    from->arena = old.arena;
    from->plan = old.plan;
    from->plan_free = old.plan_free;
    ms_graph_unref(from);
}

MsStatus ms__pass_run(const MsPass *pass, MsGraph *g, bool *changed)
{
    Walk w = {.pass = pass};
    MsGraph *new = rebuild(&w, g);
    for (int i = 0; i < w.n_memo; i++) {
        ms_graph_unref((MsGraph *)w.memo[i].from);
        ms_graph_unref(w.memo[i].to);
    }
    free(w.memo);
    if (!new) return ms_error()->code;
    if (w.changed) {
        take_over(g, new);
        *changed = true;
    } else {
        ms_graph_unref(new);
    }
    return MS_OK;
}

/* ---- rules ---- */

typedef struct Cursor {
    const char *at;
    MsMatch *m;
    int n_node;
} Cursor;

static void skip(Cursor *c)
{
    while (*c->at == ' ' || *c->at == ',') c->at++;
}

static bool match_arg(Cursor *c, int32_t v);

/* The pattern at the cursor is an operator: does n fit? */
static bool match_node(Cursor *c, const MsNode *n)
{
    size_t len = strcspn(c->at, "(");
    if (!n || n->n_out != 1 || strlen(n->op->name) != len || strncmp(n->op->name, c->at, len) != 0)
        return false;
    c->m->node[c->n_node++] = n;
    c->at += len + 1;
    int i = 0;
    for (skip(c); *c->at != ')'; skip(c), i++)
        if (i >= n->n_in || !match_arg(c, n->in[i])) return false;
    c->at++;
    return i == n->n_in;
}

static bool match_arg(Cursor *c, int32_t v)
{
    if (v < 0) return false;
    if (isdigit((unsigned char)*c->at) || *c->at == '-') {
        char *end;
        double want = strtod(c->at, &end), got;
        c->at = end;
        return ms__uniform(c->m->g, v, &got) && got == want && signbit(got) == signbit(want);
    }
    if (isalpha((unsigned char)c->at[1]) || c->at[1] == '_' || c->at[1] == '(')
        return match_node(c, ms__def(c->m->g, v));
    int32_t *var = &c->m->var[*c->at++ - 'a'];
    if (*var >= 0) return *var == v;
    *var = v;
    return true;
}

/* Builds what a rule says; -1 without an error when the types differ. */
static int32_t build(MsRebuild *r, const MsRule *rules, int n_rules, const MsRule *rule, const MsMatch *m,
                     const MsAval *want)
{
    MsAttr attr[MS_MAX_ATTR] = {{0}};
    const MsNode *root = m->node[0];
    size_t len = strcspn(rule->build, "(");
    bool variable = rule->build[len] == 0;
    bool same_op =
        !variable && strlen(root->op->name) == len && strncmp(root->op->name, rule->build, len) == 0;
    if (same_op && root->attr) memcpy(attr, root->attr, (size_t)ms__sig(root->op)->n_attr * sizeof *attr);
    if (rule->guard && !rule->guard(m, attr)) return -1;
    if (variable) {
        int32_t v = m->var[rule->build[0] - 'a'];
        return ms__aval_equal(&r->to->val[v], want) ? v : -1;
    }
    char name[32] = "";
    memcpy(name, rule->build, len < sizeof name ? len : sizeof name - 1);
    const MsOp *op = ms__op_find(name);
    int32_t in[8];
    int n_in = 0;
    for (const char *c = rule->build + len + 1; *c && *c != ')'; c++)
        if (isalpha((unsigned char)*c)) in[n_in++] = m->var[*c - 'a'];
    MsAval types[9];
    int n_out = 0;
    for (int i = 0; i < n_in; i++) types[i] = r->to->val[in[i]];
    if (!op) return -1;
    if (ms__infer(op, attr, n_in, types, 1, &types[8], &n_out) != MS_OK) {
        ms_error_clear(); /* the rule does not fit these types */
        return -1;
    }
    if (!ms__aval_equal(&types[8], want)) return -1;
    return ms__rewrite(r, rules, n_rules, op, attr, n_in, in, want);
}

int32_t ms__rewrite(MsRebuild *r, const MsRule *rules, int n_rules, const MsOp *op, const MsAttr *attr,
                    int n_in, const int32_t *in, const MsAval *out)
{
    MsAval type = *out; /* `out` may be in an array that grows */
    MsNode n = {.op = op, .attr = (MsAttr *)attr, .in = (int32_t *)in, .n_in = n_in, .n_out = 1};
    for (int k = 0; k < n_rules; k++) {
        MsMatch m = {.g = r->to, .var = {-1, -1, -1, -1, -1, -1, -1, -1}};
        Cursor c = {rules[k].pattern, &m, 0};
        if (!match_node(&c, &n)) continue;
        int32_t v = build(r, rules, n_rules, &rules[k], &m, &type);
        if (v < 0 && ms__failed()) return -1;
        if (v < 0) continue;
        r->changed = true;
        return v;
    }
    return ms__graph_add(r->to, op, attr, n_in, in, 1, &type);
}
