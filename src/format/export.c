/* export.c - walks a graph and writes every node by its row of the table.
 *
 * First operators without a line in the format are written with others (by staging the graph again), until none is left;
 * then each node becomes one node of the file, or what its function says. */
#include "format/export.h"

#include "core/mem.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 6

extern const MsOp ms_op_full, ms_op_full_int, ms_op_arange, ms_op_arange_int;

MsExArg ms__ex_ints(int n, const int64_t *v)
{
    MsExArg a = {.kind = MS_EX_INTS, .n = n};
    for (int k = 0; k < n; k++) a.v[k] = v[k];
    return a;
}

MsExArg ms__ex_key(const char *key, MsExArg arg)
{
    arg.key = key;
    return arg;
}

int32_t ms__ex_value(MsExporter *x, const char *name, const MsAval *aval)
{
    if (x->n == x->cap) {
        int cap = x->cap ? x->cap * 2 : 64;
        char **names = ms__realloc(x->name, (size_t)cap * sizeof *names);
        if (names) x->name = names;
        MsAval *avals = names ? ms__realloc(x->aval, (size_t)cap * sizeof *avals) : NULL;
        if (!avals) return -1;
        x->aval = avals;
        x->cap = cap;
    }
    char *copy = ms__strdup(name);
    if (!copy) return -1;
    x->name[x->n] = copy;
    x->aval[x->n] = *aval;
    return x->n++;
}

int32_t ms__ex_emit(MsExporter *x, const char *op, int n_arg, const MsExArg *arg, int n_out,
                    const MsAval *out)
{
    return (x->format == MS_MODEL_MINDIR ? ms__mindir_emit : ms__onnx_emit)(x, op, n_arg, arg, n_out, out);
}

int32_t ms__ex_constant(MsExporter *x, MsTensor *t)
{
    t = ms_contiguous(t);
    return !t ? -1 : x->format == MS_MODEL_MINDIR ? ms__mindir_constant(x, t) : ms__onnx_constant(x, t);
}

/* ---- operators that others stand for ---- */

static bool has_line(const MsExporter *x, const MsExRow *row)
{
    return row && (row->line[x->format] || row->emit[x->format]);
}

static MsStatus unsupported(const MsExporter *x, const MsNode *n)
{
    return ms__error_in(n->loc, MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                                        "For 'export', the operator '%s' cannot be written to the format %s.",
                                        n->op->name, x->format == MS_MODEL_MINDIR ? "MINDIR" : "ONNX"));
}

static bool is_constant(const MsNode *n)
{
    return n->op == &ms_op_full || n->op == &ms_op_full_int || n->op == &ms_op_arange ||
           n->op == &ms_op_arange_int;
}

static MsStatus replay(const MsExporter *x, const MsGraph *g, MsTensor **v, bool *did)
{
    for (int k = 0; k < g->n_node; k++) {
        const MsNode *n = &g->node[k];
        if (!n->op) continue;
        const MsExRow *row = ms__ex_row(n->op);
        MsTensor **in = ms__malloc(((size_t)n->n_in + 1) * sizeof *in);
        if (!in) return MS_ERROR_MEMORY;
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? NULL : v[n->in[i]];
        int n_out;
        MsExLower by = ms__ex_lower(n->op);
        bool known = has_line(x, row), lower = by && (!known || ms__ex_wants_lower(x, n, in));
        MsStatus st = !known && !lower && !is_constant(n) && strcmp(n->op->name, "call") != 0
                          ? unsupported(x, n)
                      : lower ? by(n, in, v + n->out)
                              : ms_bind(n->op, n->attr, n->n_in, in, n->n_out, v + n->out, &n_out);
        free(in);
        *did |= lower;
        MS_TRY(st);
    }
    return MS_OK;
}

/* g with operators lowered once. Its first n_arg inputs become arguments, the others are constants. */
static MsGraph *lowered(const MsExporter *x, const MsGraph *g, int n_arg, bool *did)
{
    int mark = ms_scope_begin();
    MsTensor **v = ms__calloc((size_t)g->n_val + 1, sizeof *v),
             **out = ms__calloc((size_t)g->n_out + 1, sizeof *out);
    MsTrace *t = v && out ? ms__stage_begin(n_arg, g->val, v) : NULL;
    MsGraph *r = NULL;
    for (int k = n_arg; t && k < g->n_in; k++) v[k] = g->captured[k - n_arg];
    if (t && replay(x, g, v, did) == MS_OK) {
        for (int j = 0; j < g->n_out; j++) out[j] = v[g->out[j]];
        r = ms_stage_end(t, g->n_out, out);
    } else if (t) {
        ms_stage_cancel(t);
    }
    free(v);
    free(out);
    ms_scope_end(mark, NULL, 0);
    if (r && ms_graph_optimize(r, MS_JIT_O0) != MS_OK) {
        ms_graph_unref(r);
        r = NULL;
    }
    return r;
}

static MsStatus lower(MsExporter *x, const MsGraph *from, const MsGraph **to)
{
    bool did = true;
    const MsGraph *g = from;
    for (int round = 0; did; round++) {
        did = false;
        if (round == MAX_ROUNDS)
            return MS_FAIL(MS_ERROR_RUNTIME, "For 'export', operators are lowered in a circle.");
        MsGraph *next = lowered(x, g, from->n_in, &did);
        if (g != from) ms_graph_unref((MsGraph *)g);
        if (!next) return ms_error()->code;
        g = next;
    }
    *to = g;
    return MS_OK;
}

/* ---- sizes that are open ---- */

static MsStatus open_attr(const MsNode *n, MsAttr *a, const MsAttr *b)
{
    bool ints = a->kind == MS_ATTR_INTS && b->kind == MS_ATTR_INTS && a->n == b->n;
    bool takes = strcmp(n->op->name, "reshape") == 0 || strcmp(n->op->name, "broadcast_to") == 0 ||
                 strcmp(n->op->name, "slice") == 0;
    int n_open = 0;
    for (int k = 0; ints && takes && k < a->n; k++)
        if (a->v[k] != b->v[k]) a->v[k] = -1, n_open++;
    if (!ints || !takes || (n_open > 1 && strcmp(n->op->name, "reshape") == 0))
        return MS_FAIL(
            MS_ERROR_NOT_IMPLEMENTED,
            "For 'export', the operator '%s' depends on a size that is open (None), which cannot be written.",
            n->op->name);
    return MS_OK;
}

/* Where g differs from the graph for other sizes, sizes become -1. */
static MsStatus open_sizes(MsExporter *x)
{
    MsGraph *g = (MsGraph *)x->g;
    const MsGraph *o = x->other;
    bool same = g->n_node == o->n_node && g->n_val == o->n_val && g->n_out == o->n_out;
    for (int v = 0; same && v < g->n_val; v++) {
        same = g->val[v].ndim == o->val[v].ndim && g->val[v].dtype == o->val[v].dtype;
        for (int d = 0; same && d < g->val[v].ndim; d++)
            if (g->val[v].shape[d] != o->val[v].shape[d]) g->val[v].shape[d] = -1;
    }
    for (int k = 0; same && k < g->n_node; k++) {
        MsNode *n = &g->node[k], *p = &o->node[k];
        same = n->op == p->op && (!n->op || (n->n_in == p->n_in && n->out == p->out &&
                                             memcmp(n->in, p->in, (size_t)n->n_in * sizeof *n->in) == 0));
        const MsSig *sig = n->op ? ms__sig(n->op) : NULL;
        for (int j = 0; same && sig && j < sig->n_attr; j++)
            if (!ms__attr_equal(&n->attr[j], &p->attr[j]))
                MS_TRY(ms__error_in(n->loc, open_attr(n, &n->attr[j], &p->attr[j])));
    }
    return same ? MS_OK
                : MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                          "For 'export', the network computes something else for other sizes of "
                          "the inputs, so that they cannot be open (None).");
}

/* ---- lines of the table ---- */

/* Attribute `name` (with brackets: as a list) of n as an argument. */
static MsStatus attribute(const MsNode *n, const char *name, size_t len, MsExArg *arg)
{
    bool list = name[0] == '(';
    if (list) name++, len -= 2;
    const MsSig *sig = ms__sig(n->op);
    int k = 0;
    while (sig && k < sig->n_attr &&
           (strlen(sig->attr[k].name) != len || memcmp(sig->attr[k].name, name, len) != 0))
        k++;
    if (!sig || k == sig->n_attr)
        return MS_FAIL(MS_ERROR_RUNTIME, "'%s' has no attribute '%.*s'.", n->op->name, (int)len, name);
    const MsAttr *a = &n->attr[k];
    switch (a->kind) {
    case MS_ATTR_INT: *arg = list ? ms__ex_ints(1, &a->i) : EX_INT(a->i); break;
    case MS_ATTR_BOOL: *arg = EX_BOOL(a->i); break;
    case MS_ATTR_FLOAT: *arg = EX_FLOAT(a->f); break;
    case MS_ATTR_INTS: *arg = ms__ex_ints(a->n, a->v); break;
    case MS_ATTR_DTYPE: *arg = (MsExArg){.kind = MS_EX_DTYPE, .i = a->i}; break;
    case MS_ATTR_STR: *arg = EX_TEXT(a->s); break;
    default: *arg = EX_NONE;
    }
    return MS_OK;
}

static MsStatus token(const MsExporter *x, const MsNode *n, const char *s, size_t len, int32_t *list,
                      MsExArg *arg)
{
    if (s[0] == '$' && s[1] == '*') {
        for (int i = 0; i < n->n_in; i++) list[i] = x->value[n->in[i]];
        *arg = (MsExArg){.kind = MS_EX_VALUES, .n = n->n_in, .values = list};
        return MS_OK;
    }
    if (s[0] == '$') {
        int i = s[1] - '0';
        *arg = i < n->n_in && n->in[i] >= 0 ? EX_VALUE(x->value[n->in[i]]) : EX_NONE;
        return MS_OK;
    }
    if (s[0] != '#') return attribute(n, s, len, arg);
    switch (s[1]) {
    case 'T':
    case 'F': *arg = EX_BOOL(s[1] == 'T'); break;
    case 'N': *arg = EX_NONE; break;
    case 'i': *arg = EX_INT(strtoll(s + 2, NULL, 10)); break;
    default: *arg = EX_FLOAT(strtod(s + 2, NULL));
    }
    return MS_OK;
}

/* "Op key=token token ..." */
static int32_t line(MsExporter *x, const MsNode *n, const char *text)
{
    char op[40], keys[8][24];
    MsExArg arg[12];
    int n_arg = 0, n_key = 0;
    size_t len = strcspn(text, " ");
    memcpy(op, text, len);
    op[len] = 0;
    int32_t *list = ms__malloc(((size_t)n->n_in + 1) * sizeof *list);
    if (!list) return -1;
    MsStatus st = MS_OK;
    for (const char *s = text + len; *s && st == MS_OK; s += len) {
        s += *s == ' ';
        len = strcspn(s, " ");
        size_t key = strcspn(s, "=");
        if (key >= len) {
            st = token(x, n, s, len, list, &arg[n_arg]);
        } else {
            memcpy(keys[n_key], s, key);
            keys[n_key][key] = 0;
            st = token(x, n, s + key + 1, len - key - 1, list, &arg[n_arg]);
            arg[n_arg].key = keys[n_key++];
        }
        n_arg++;
    }
    int32_t r = st == MS_OK ? ms__ex_emit(x, op, n_arg, arg, 1, &x->g->val[n->out]) : -1;
    free(list);
    return r;
}

static MsStatus constant(MsExporter *x, const MsNode *n)
{
    MsTensor *t;
    int n_out;
    MS_TRY(ms__eval(n->op, n->attr, 0, NULL, 1, (t = NULL, &t), &n_out));
    x->value[n->out] = ms__ex_constant(x, t);
    return x->value[n->out] < 0 ? ms_error()->code : MS_OK;
}

MsStatus ms__ex_nodes(MsExporter *x)
{
    for (int k = x->g->n_arg; k < x->g->n_in; k++) /* constants that lowering has brought */
        if ((x->value[k] = ms__ex_constant(x, x->g->captured[k - x->g->n_arg])) < 0) return ms_error()->code;
    for (int k = 0; k < x->g->n_node; k++) {
        const MsNode *n = &x->g->node[k];
        if (!n->op) continue;
        x->node = k;
        if (is_constant(n)) {
            MS_TRY(constant(x, n));
            continue;
        }
        const MsExRow *row = ms__ex_row(n->op);
        bool two = strcmp(n->op->name, "topk") == 0 || strcmp(n->op->name, "sort") == 0;
        int n_out = two                            ? 2
                    : n->op->flags & MS_OP_CONTROL ? n->n_out
                                                   : 1; /* further results are for gradients */
        for (int j = n_out; j < n->n_out; j++)
            if (x->uses[n->out + j]) return unsupported(x, n);
        int32_t first = row->emit[x->format] ? row->emit[x->format](x, n) : line(x, n, row->line[x->format]);
        if (first < 0) {
            if (!ms__failed()) return unsupported(x, n);
            return ms__error_in(n->loc, ms_error()->code);
        }
        for (int j = 0; j < n_out; j++)
            if (x->value[n->out + j] < 0) x->value[n->out + j] = first + j;
    }
    return x->nodes.failed || x->primitives.failed || x->more.failed ? MS_ERROR_MEMORY : MS_OK;
}

MsStatus ms__ex_enter(MsExporter *x, const MsGraph *g)
{
    x->g = NULL;
    x->value = NULL;
    x->uses = NULL;
    MS_TRY(lower(x, g, &x->g));
    x->value = ms__malloc(((size_t)x->g->n_val + 1) * sizeof *x->value);
    x->uses = ms__calloc((size_t)x->g->n_val + 1, sizeof *x->uses);
    if (!x->value || !x->uses) return MS_ERROR_MEMORY;
    for (int k = 0; k < x->g->n_val; k++) x->value[k] = -1;
    for (int k = 0; k < x->g->n_node; k++)
        for (int i = 0; x->g->node[k].op && i < x->g->node[k].n_in; i++)
            if (x->g->node[k].in[i] >= 0) x->uses[x->g->node[k].in[i]]++;
    for (int j = 0; j < x->g->n_out; j++) x->uses[x->g->out[j]]++;
    return MS_OK;
}

void ms__ex_leave(MsExporter *x)
{
    ms_graph_unref((MsGraph *)x->g);
    free(x->value), free(x->uses);
    x->g = NULL;
    x->value = NULL;
    x->uses = NULL;
}

MsStatus ms__ex_begin(MsExporter *x, MsModelFormat format, const MsModel *m)
{
    *x = (MsExporter){.format = format, .graph_name = m->name};
    MS_TRY(ms__ex_enter(x, m->g));
    if (!m->other) return MS_OK;
    MS_TRY(lower(x, m->other, &x->other));
    return open_sizes(x);
}

void ms__ex_end(MsExporter *x)
{
    ms__ex_leave(x);
    ms_graph_unref((MsGraph *)x->other);
    for (int k = 0; k < x->n; k++) free(x->name[k]);
    for (int k = 0; k < x->n_primitive; k++) free(x->primitive[k]);
    free(x->name), free(x->aval), free(x->primitive);
    free(x->nodes.p), free(x->primitives.p), free(x->more.p);
}
