/* parse.c - reads the text of print.c. Types of a node's outputs may be left out (infer gives them); captured
 * tensors start as zeros. Any text is safe: an error says the line and what was expected, and the finished
 * graph is verified. Recursive descent without a token list; nesting is bounded. */
#include "core/mem.h"
#include "graph/ir.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NEST 64
#define MAX_NUMBER (1 << 24) /* largest %number */
#define MAX_LIST 4096        /* inputs or outputs of one node */

typedef struct Parser {
    const char *text, *at;
    int depth;
} Parser;

typedef struct Names {
    int32_t *id; /* by %number, -1 = unknown */
    int cap;
} Names;

static MsStatus expected(const Parser *p, const char *what)
{
    int line = 1;
    for (const char *c = p->text; c < p->at; c++) line += *c == '\n';
    int n = 0;
    while (p->at[n] && p->at[n] != '\n' && n < 24) n++;
    return MS_FAIL(MS_ERROR_VALUE, "Graph text, line %d: expected %s, but got '%.*s'.", line, what, n, p->at);
}

static void skip(Parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool take(Parser *p, const char *s)
{
    skip(p);
    size_t n = strlen(s);
    if (strncmp(p->at, s, n) != 0) return false;
    bool word = isalnum((unsigned char)s[n - 1]);
    if (word && (isalnum((unsigned char)p->at[n]) || p->at[n] == '_')) return false;
    p->at += n;
    return true;
}

static MsStatus need(Parser *p, const char *s)
{
    char what[32] = "'";
    if (take(p, s)) return MS_OK;
    strcat(strncat(what, s, 24), "'");
    return expected(p, what);
}

static bool word(Parser *p, char *buf, size_t cap)
{
    skip(p);
    size_t n = 0;
    while ((isalnum((unsigned char)p->at[n]) || p->at[n] == '_') && n + 1 < cap) n++;
    memcpy(buf, p->at, n);
    buf[n] = 0;
    p->at += n;
    return n > 0;
}

static MsStatus parse_int(Parser *p, int64_t *v)
{
    skip(p);
    char *end;
    errno = 0;
    *v = strtoll(p->at, &end, 10);
    if (end == p->at || errno) return expected(p, "an integer");
    p->at = end;
    return MS_OK;
}

static MsStatus parse_float(Parser *p, double *v)
{
    skip(p);
    char *end;
    if (strncmp(p->at, "nan(", 4) == 0) {
        union {
            uint64_t u;
            double f;
        } bits = {strtoull(p->at + 4, &end, 16)};
        if (*end != ')' || bits.f == bits.f) return expected(p, "the bits of a NaN");
        *v = bits.f;
        p->at = end + 1;
        return MS_OK;
    }
    *v = strtod(p->at, &end);
    if (end == p->at) return expected(p, "a number");
    p->at = end;
    return MS_OK;
}

static MsStatus parse_ints(Parser *p, int64_t *v, int *n)
{
    *n = 0;
    MS_TRY(need(p, "["));
    if (take(p, "]")) return MS_OK;
    do {
        if (*n == MS_MAX_DIM) return expected(p, "at most 8 integers");
        MS_TRY(parse_int(p, &v[(*n)++]));
    } while (take(p, ","));
    return need(p, "]");
}

static MsStatus parse_dtype(Parser *p, MsDtype *dtype)
{
    char name[24];
    const char *start = (skip(p), p->at);
    if (word(p, name, sizeof name) && (*dtype = ms_dtype_named(name)) != MS_DTYPE_NONE) return MS_OK;
    p->at = start;
    return expected(p, "a dtype");
}

static MsStatus parse_type(Parser *p, MsAval *a)
{
    *a = (MsAval){0};
    MS_TRY(parse_dtype(p, &a->dtype));
    return parse_ints(p, a->shape, &a->ndim);
}

/* A quoted text; the caller frees it. */
static MsStatus parse_quoted(Parser *p, char **out)
{
    skip(p);
    if (*p->at != '"') return expected(p, "a text in quotes");
    size_t n = 0;
    const char *c = p->at + 1;
    for (; *c && *c != '"'; c++, n++)
        if (*c == '\\' && c[1]) c++;
    if (*c != '"') return expected(p, "a closed text");
    char *s = ms__malloc(n + 1), *to = s;
    if (!s) return MS_ERROR_MEMORY;
    for (c = p->at + 1; *c != '"'; c++) {
        if (*c == '\\') c++;
        *to++ = *c == 'n' && c[-1] == '\\' ? '\n' : *c;
    }
    *to = 0;
    p->at = c + 1;
    *out = s;
    return MS_OK;
}

static MsStatus parse_number(Parser *p, int *number)
{
    int64_t v;
    MS_TRY(need(p, "%"));
    if (!isdigit((unsigned char)*p->at)) return expected(p, "a value number");
    MS_TRY(parse_int(p, &v));
    if (v >= MAX_NUMBER) return expected(p, "a smaller value number");
    *number = (int)v;
    return MS_OK;
}

static MsStatus define(Parser *p, Names *names, int number, int32_t id)
{
    if (number >= names->cap) {
        int cap = number + 64 > names->cap * 2 ? number + 64 : names->cap * 2;
        int32_t *ids = ms__realloc(names->id, (size_t)cap * sizeof *ids);
        if (!ids) return MS_ERROR_MEMORY;
        for (int k = names->cap; k < cap; k++) ids[k] = -1;
        names->id = ids;
        names->cap = cap;
    }
    if (names->id[number] >= 0) return expected(p, "a value number not used before");
    names->id[number] = id;
    return MS_OK;
}

static MsStatus parse_use(Parser *p, const Names *names, int32_t *id)
{
    int number;
    MS_TRY(parse_number(p, &number));
    if (number >= names->cap || names->id[number] < 0) return expected(p, "a value defined before");
    *id = names->id[number];
    return MS_OK;
}

static MsStatus parse_graph(Parser *p, MsGraph **out);

static MsStatus parse_attr(Parser *p, uint8_t kind, MsAttr *a)
{
    int n = 0;
    char *s = NULL;
    MsDtype dtype = MS_DTYPE_NONE;
    switch (kind) {
    case MS_ATTR_INT: MS_TRY(parse_int(p, &a->i)); break;
    case MS_ATTR_FLOAT: MS_TRY(parse_float(p, &a->f)); break;
    case MS_ATTR_BOOL:
        a->i = take(p, "true");
        if (!a->i && !take(p, "false")) return expected(p, "true or false");
        break;
    case MS_ATTR_DTYPE:
        MS_TRY(parse_dtype(p, &dtype));
        a->i = dtype;
        break;
    case MS_ATTR_INTS:
        MS_TRY(parse_ints(p, a->v, &n));
        a->n = (uint8_t)n;
        break;
    case MS_ATTR_STR:
        MS_TRY(parse_quoted(p, &s));
        a->s = ms__intern(s);
        free(s);
        if (!a->s) return MS_ERROR_MEMORY;
        break;
    case MS_ATTR_GRAPH: MS_TRY(parse_graph(p, &a->g)); break;
    default: return expected(p, "no attribute");
    }
    a->kind = kind;
    return MS_OK;
}

typedef struct NodeText {
    int number[MAX_LIST];
    MsAval type[MAX_LIST];
    int32_t in[MAX_LIST];
    MsAttr attr[MS_MAX_ATTR];
    int n_in, n_out;
    bool typed;
} NodeText;

static MsStatus parse_operands(Parser *p, const MsSig *s, const Names *names, NodeText *n)
{
    MS_TRY(need(p, "("));
    if (take(p, ")")) return MS_OK;
    do {
        skip(p);
        bool absent = p->at[0] == '_' && (p->at[1] == ',' || p->at[1] == ')');
        if (*p->at == '%' || absent) {
            if (n->n_in == MAX_LIST) return expected(p, "fewer inputs");
            n->in[n->n_in] = -1;
            if (absent)
                p->at++;
            else
                MS_TRY(parse_use(p, names, &n->in[n->n_in]));
            n->n_in++;
            continue;
        }
        char name[24];
        const char *start = p->at;
        int a = s->n_attr;
        if (word(p, name, sizeof name))
            for (a = 0; a < s->n_attr && strcmp(s->attr[a].name, name) != 0;) a++;
        if (a == s->n_attr || n->attr[a].kind) {
            p->at = start;
            return expected(p, "a value or an attribute of the operator");
        }
        MS_TRY(need(p, "="));
        MS_TRY(parse_attr(p, s->attr[a].kind, &n->attr[a]));
    } while (take(p, ","));
    return need(p, ")");
}

static MsStatus infer_types(const MsGraph *g, const MsOp *op, NodeText *n)
{
    MsAval *in = ms__malloc((size_t)n->n_in * sizeof *in);
    if (!in) return MS_ERROR_MEMORY;
    for (int i = 0; i < n->n_in; i++) {
        in[i].dtype = MS_DTYPE_NONE;
        if (n->in[i] >= 0) in[i] = g->val[n->in[i]];
    }
    int n_out = 0;
    MsStatus st = ms__infer(op, n->attr, n->n_in, in, n->n_out, n->type, &n_out);
    free(in);
    if (st == MS_OK && n_out != n->n_out)
        st = MS_FAIL(MS_ERROR_VALUE, "Graph text: '%s' has %d outputs, but %d are named.", op->name, n_out,
                     n->n_out);
    return st;
}

static MsStatus parse_node(Parser *p, MsGraph *g, Names *names, NodeText *n)
{
    n->n_in = n->n_out = 0;
    n->typed = true;
    memset(n->attr, 0, sizeof n->attr);
    skip(p);
    while (*p->at == '%') {
        if (n->n_out == MAX_LIST) return expected(p, "fewer outputs");
        MS_TRY(parse_number(p, &n->number[n->n_out]));
        if (take(p, ":"))
            MS_TRY(parse_type(p, &n->type[n->n_out]));
        else
            n->typed = false;
        n->n_out++;
        if (!take(p, ",")) break;
        skip(p);
    }
    if (n->n_out) MS_TRY(need(p, "="));
    char name[64];
    const char *start = (skip(p), p->at);
    const MsOp *op = word(p, name, sizeof name) ? ms__op_find(name) : NULL;
    if (!op) {
        p->at = start;
        return expected(p, "the name of an operator");
    }
    const MsSig *s = ms__sig(op);
    if (!s) return ms_error()->code;
    MsStatus st = parse_operands(p, s, names, n);
    if (st == MS_OK && !n->typed) st = infer_types(g, op, n);
    int32_t id = -1;
    if (st == MS_OK && (id = ms__graph_add(g, op, n->attr, n->n_in, n->in, n->n_out, n->type)) < 0)
        st = ms_error()->code;
    for (int a = 0; a < s->n_attr; a++) /* the node holds its own reference */
        if (n->attr[a].kind == MS_ATTR_GRAPH) ms_graph_unref(n->attr[a].g);
    for (int j = 0; j < n->n_out && st == MS_OK; j++) st = define(p, names, n->number[j], id + j);
    return st;
}

static MsStatus parse_inputs(Parser *p, MsGraph *g, Names *names)
{
    MS_TRY(need(p, "("));
    if (take(p, ")")) return MS_OK;
    do {
        int number;
        MsAval a;
        MS_TRY(parse_number(p, &number));
        MS_TRY(need(p, ":"));
        MS_TRY(parse_type(p, &a));
        int32_t id = ms__graph_input(g, &a);
        if (id < 0) return ms_error()->code;
        MS_TRY(define(p, names, number, id));
    } while (take(p, ","));
    return need(p, ")");
}

static MsStatus make_captured(MsGraph *g)
{
    int n = g->n_in - g->n_arg;
    if (n == 0) return MS_OK;
    g->captured = ms__calloc((size_t)n, sizeof *g->captured);
    if (!g->captured) return MS_ERROR_MEMORY;
    for (int k = 0; k < n; k++) {
        const MsAval *a = &g->val[g->n_arg + k];
        int mark = ms_scope_begin();
        MsTensor *t = ms_tensor_empty(a->dtype, a->ndim, a->shape);
        if (t) memset(t->data, 0, (size_t)t->numel * ms_dtype_size(a->dtype));
        g->captured[k] = ms_tensor_ref(t);
        ms_scope_end(mark, NULL, 0);
        if (!t) return ms_error()->code;
    }
    return MS_OK;
}

/* `return` and `write` lines: the list of outputs. */
static MsStatus parse_results(Parser *p, MsGraph *g, const Names *names, NodeText *n)
{
    int n_out = 0, n_written = 0, n_captured = g->n_in - g->n_arg;
    skip(p);
    while (*p->at == '%') {
        if (n_out == MAX_LIST) return expected(p, "fewer results");
        MS_TRY(parse_use(p, names, &n->in[n_out++]));
        if (!take(p, ",")) break;
        skip(p);
    }
    if (n_captured && !(g->written = ms__calloc((size_t)n_captured, sizeof *g->written)))
        return MS_ERROR_MEMORY;
    int n_result = n_out;
    while (take(p, "write")) {
        int32_t target;
        MS_TRY(parse_use(p, names, &target));
        if (target < g->n_arg || target >= g->n_in || n_written == n_captured || n_out == MAX_LIST)
            return expected(p, "a write to a captured value");
        g->written[n_written++] = target - g->n_arg;
        MS_TRY(need(p, "="));
        MS_TRY(parse_use(p, names, &n->in[n_out++]));
    }
    MS_TRY(need(p, "}"));
    MS_TRY(ms__graph_set_out(g, n_out, n->in));
    g->n_result = n_result;
    return MS_OK;
}

static MsStatus parse_body(Parser *p, MsGraph *g, Names *names, NodeText *n)
{
    MS_TRY(need(p, "graph"));
    char name[256];
    if (take(p, "@")) {
        if (*p->at == '"')
            MS_TRY(parse_quoted(p, &g->name));
        else if (!word(p, name, sizeof name))
            return expected(p, "a name");
        else if (!(g->name = ms__strdup(name)))
            return MS_ERROR_MEMORY;
    }
    MS_TRY(parse_inputs(p, g, names));
    g->n_arg = g->n_in;
    if (take(p, "captured")) MS_TRY(parse_inputs(p, g, names));
    MS_TRY(make_captured(g));
    MS_TRY(need(p, "{"));
    while (!take(p, "return")) MS_TRY(parse_node(p, g, names, n));
    return parse_results(p, g, names, n);
}

static MsStatus parse_graph(Parser *p, MsGraph **out)
{
    *out = NULL;
    if (p->depth == MAX_NEST) return expected(p, "less nesting");
    MsGraph *g = ms__graph_new();
    NodeText *n = ms__malloc(sizeof *n);
    Names names = {0};
    p->depth++;
    MsStatus st = g && n ? parse_body(p, g, &names, n) : MS_ERROR_MEMORY;
    p->depth--;
    free(names.id);
    free(n);
    if (st == MS_OK)
        *out = g;
    else
        ms_graph_unref(g);
    return st;
}

MsGraph *ms_graph_parse(const char *text)
{
    Parser p = {text, text, 0};
    MsGraph *g;
    if (parse_graph(&p, &g) != MS_OK) return NULL;
    skip(&p);
    MsStatus st = *p.at ? expected(&p, "the end") : ms__graph_verify(g);
    if (st == MS_OK) return g;
    ms_graph_unref(g);
    return NULL;
}
