/* ir.c - building, checking and replaying graphs. Node attributes and input lists live in the graph's arena
 * (a chain of blocks), so that recording a node on the tape costs two bumps and no malloc. */
#include "graph/ir.h"

#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

typedef struct MsArena {
    struct MsArena *next;
    size_t used, cap;
    _Alignas(16) char data[];
} MsArena;

static void *bump(MsGraph *g, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    MsArena *a = g->arena;
    if (!a || a->used + n > a->cap) {
        size_t cap = a ? a->cap * 2 : 4096;
        if (cap > ((size_t)1 << 20)) cap = (size_t)1 << 20;
        if (cap < n) cap = n;
        a = ms__malloc(sizeof *a + cap);
        if (!a) return NULL;
        *a = (MsArena){g->arena, 0, cap};
        g->arena = a;
    }
    void *p = a->data + a->used;
    a->used += n;
    return p;
}

/* Room for n more entries in a growing array. */
static bool grow(void *array, int n, int more, int *cap, size_t size)
{
    if (n + more <= *cap) return true;
    int want = *cap ? *cap * 2 : 64;
    if (want < n + more) want = n + more;
    void *p = ms__realloc(*(void **)array, (size_t)want * size);
    if (!p) return false;
    *(void **)array = p;
    *cap = want;
    return true;
}

static bool grow_vals(MsGraph *g, int more)
{
    int cap = g->cap_val;
    if (!grow(&g->val, g->n_val, more, &cap, sizeof *g->val)) return false;
    cap = g->cap_val;
    if (!grow(&g->def, g->n_val, more, &cap, sizeof *g->def)) return false;
    g->cap_val = cap;
    return true;
}

int32_t (*ms__where_hook)(void);
void (*ms__where_text)(int32_t loc, char *text, size_t n);

MsStatus ms__error_in(int32_t loc, MsStatus st)
{
    char text[512] = "";
    if (st == MS_OK || loc == 0 || !ms__where_text) return st;
    ms__where_text(loc, text, sizeof text);
    ms__error_at(text);
    return st;
}

MsGraph *ms__graph_new(void)
{
    MsGraph *g = ms__calloc(1, sizeof *g);
    if (g) g->ref = 1;
    return g;
}

MsGraph *ms_graph_ref(MsGraph *g)
{
    if (g) atomic_fetch_add(&g->ref, 1);
    return g;
}

void ms_graph_unref(MsGraph *g)
{
    if (!g || atomic_fetch_sub(&g->ref, 1) != 1) return;
    for (int k = 0; k < g->n_node; k++) {
        const MsNode *n = &g->node[k];
        if (!n->op) continue;
        const MsSig *s = ms__sig(n->op);
        for (int a = 0; a < s->n_attr; a++) {
            if (n->attr[a].kind == MS_ATTR_GRAPH) ms_graph_unref(n->attr[a].g);
            if (n->attr[a].kind == MS_ATTR_HOST) ms_host_unref(n->attr[a].h);
        }
    }
    for (int k = 0; k < g->n_in - g->n_arg && g->captured; k++) ms_tensor_unref(g->captured[k]);
    if (g->plan) g->plan_free(g->plan);
    ms_graph_unref(g->vjp);
    ms_graph_unref(g->bwd);
    while (g->arena) {
        MsArena *a = g->arena;
        g->arena = a->next;
        free(a);
    }
    free(g->val);
    free(g->def);
    free(g->node);
    free(g->out);
    free(g->captured);
    free(g->written);
    free(g->name);
    free(g);
}

bool ms__graph_has_host(MsGraph *g)
{
    if (g->has_host) return g->has_host == 2;
    bool found = false;
    for (int k = 0; k < g->n_node && !found; k++) {
        const MsNode *n = &g->node[k];
        if (!n->op) continue;
        const MsSig *s = ms__sig(n->op);
        for (int a = 0; a < s->n_attr && !found; a++)
            found = n->attr[a].kind == MS_ATTR_HOST ||
                    (n->attr[a].kind == MS_ATTR_GRAPH && ms__graph_has_host(n->attr[a].g));
    }
    g->has_host = found ? 2 : 1;
    return found;
}

int ms_graph_n_in(const MsGraph *g)
{
    return g->n_arg;
}
int ms_graph_n_out(const MsGraph *g)
{
    return g->n_result;
}

int32_t ms__graph_input(MsGraph *g, const MsAval *a)
{
    if (!grow_vals(g, 1)) return -1;
    g->val[g->n_val] = *a;
    g->def[g->n_val] = -1;
    g->n_in++;
    return g->n_val++;
}

int32_t ms__graph_add(MsGraph *g, const MsOp *op, const MsAttr *attr, int n_in, const int32_t *in, int n_out,
                      const MsAval *out)
{
    const MsSig *s = ms__sig(op);
    if (!s || !grow_vals(g, n_out) || !grow(&g->node, g->n_node, 1, &g->cap_node, sizeof *g->node)) return -1;
    MsNode n = {.op = op, .n_in = n_in, .n_out = n_out, .out = g->n_val};
    n.attr = s->n_attr ? bump(g, (size_t)s->n_attr * sizeof *n.attr) : NULL;
    n.in = bump(g, (size_t)n_in * sizeof *n.in);
    if ((s->n_attr && !n.attr) || !n.in) return -1;
    if (s->n_attr) memcpy(n.attr, attr, (size_t)s->n_attr * sizeof *attr);
    if (n_in) memcpy(n.in, in, (size_t)n_in * sizeof *in);
    for (int a = 0; a < s->n_attr; a++) {
        if (n.attr[a].kind == MS_ATTR_GRAPH) ms_graph_ref(n.attr[a].g);
        if (n.attr[a].kind == MS_ATTR_HOST) ms_host_ref(n.attr[a].h);
    }
    for (int j = 0; j < n_out; j++) {
        g->val[g->n_val] = out[j];
        g->def[g->n_val++] = g->n_node;
    }
    g->node[g->n_node++] = n;
    return n.out;
}

MsStatus ms__graph_set_out(MsGraph *g, int n_out, const int32_t *out)
{
    int32_t *p = ms__malloc((size_t)n_out * sizeof *p);
    if (!p) return MS_ERROR_MEMORY;
    if (n_out) memcpy(p, out, (size_t)n_out * sizeof *p);
    free(g->out);
    g->out = p;
    g->n_out = g->n_result = n_out;
    return MS_OK;
}

MsStatus ms__graph_replay(const MsGraph *g, MsTensor *const *in, MsTensor **out)
{
    MsTensor **v = ms__calloc((size_t)g->n_val, sizeof *v);
    if (!v) return MS_ERROR_MEMORY;
    MsStatus st = MS_OK;
    for (int i = 0; i < g->n_in; i++) v[i] = in[i];
    for (int k = 0; k < g->n_node && st == MS_OK; k++) {
        const MsNode *n = &g->node[k];
        if (!n->op) continue;
        MsTensor *few[16], **x = few;
        if (n->n_in > 16 && !(x = ms__malloc((size_t)n->n_in * sizeof *x))) {
            st = MS_ERROR_MEMORY;
            break;
        }
        for (int i = 0; i < n->n_in; i++) x[i] = n->in[i] < 0 ? NULL : v[n->in[i]];
        int n_out;
        st = ms_bind(n->op, n->attr, n->n_in, x, n->n_out, v + n->out, &n_out);
        if (x != few) free(x);
    }
    for (int j = 0; j < g->n_out && st == MS_OK; j++) out[j] = v[g->out[j]];
    free(v);
    return st;
}
