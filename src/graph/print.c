/* print.c - the readable form of a graph.
 *
 *     graph @step(%0: float32[2,3]) captured(%1: float32[3]) {
 *         %2: float32[2,3] = add(%0, %1)
 *         %3: float32[2,1], %4: int64[2,1] = topk(%2, k=1, axis=-1, largest=true, sorted=true)
 *         %5: float32[3] = sum_to(%2, shape=[3])
 *         return %3
 *         write %1 = %5
 *     }
 *
 * Inputs are the arguments, then the captured tensors; `_` is an absent input; absent attributes are left
 * out; a graph attribute is a nested graph. Values are numbered in order of definition, whatever their ids,
 * so that two graphs with the same nodes have the same text. parse.c reads exactly this. */
#include "core/mem.h"
#include "graph/ir.h"
#include "graph/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void vadd(MsText *t, const char *fmt, va_list ap)
{
    for (;;) {
        va_list copy;
        va_copy(copy, ap);
        size_t room = t->cap - t->n;
        int n = vsnprintf(t->s ? t->s + t->n : NULL, room, fmt, copy);
        va_end(copy);
        if (n < 0) return;
        if ((size_t)n < room) {
            t->n += (size_t)n;
            return;
        }
        size_t cap = t->cap * 2 + (size_t)n + 256;
        char *s = ms__realloc(t->s, cap);
        if (!s) {
            t->failed = true;
            return;
        }
        t->s = s;
        t->cap = cap;
    }
}

void ms__text_add(MsText *t, const char *fmt, ...)
{
    if (t->failed) return;
    va_list ap;
    va_start(ap, fmt);
    vadd(t, fmt, ap);
    va_end(ap);
}

void ms__text_float(MsText *t, double v)
{
    char buf[64];
    if (isnan(v)) {
        union {
            double f;
            uint64_t u;
        } bits = {v};
        ms__text_add(t, "nan(0x%llx)", (unsigned long long)bits.u);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (strtod(buf, NULL) == v) break;
    }
    ms__text_add(t, isinf(v) || strpbrk(buf, ".e") ? "%s" : "%s.0", buf);
}

void ms__text_quote(MsText *t, const char *s)
{
    ms__text_add(t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            ms__text_add(t, "\\%c", *s);
        else if (*s == '\n')
            ms__text_add(t, "\\n");
        else
            ms__text_add(t, "%c", *s);
    }
    ms__text_add(t, "\"");
}

char *ms__text_take(MsText *t)
{
    if (!t->failed && t->s) return t->s;
    free(t->s);
    return NULL;
}

static void print_graph(MsText *t, const MsGraph *g, int depth);

static void print_attr(MsText *t, const MsAttr *a, int depth)
{
    switch (a->kind) {
    case MS_ATTR_INT: ms__text_add(t, "%lld", (long long)a->i); break;
    case MS_ATTR_FLOAT: ms__text_float(t, a->f); break;
    case MS_ATTR_BOOL: ms__text_add(t, a->i ? "true" : "false"); break;
    case MS_ATTR_DTYPE: ms__text_add(t, "%s", ms_dtype_name((MsDtype)a->i)); break;
    case MS_ATTR_STR: ms__text_quote(t, a->s); break;
    case MS_ATTR_HOST: ms__text_add(t, "<host>"); break;
    case MS_ATTR_GRAPH: print_graph(t, a->g, depth); break;
    case MS_ATTR_INTS:
        ms__text_add(t, "[");
        for (int k = 0; k < a->n; k++) ms__text_add(t, k ? ",%lld" : "%lld", (long long)a->v[k]);
        ms__text_add(t, "]");
        break;
    default: break;
    }
}

static void print_type(MsText *t, const MsAval *a)
{
    ms__text_add(t, "%s[", ms_dtype_name(a->dtype));
    for (int d = 0; d < a->ndim; d++) ms__text_add(t, d ? ",%lld" : "%lld", (long long)a->shape[d]);
    ms__text_add(t, "]");
}

static void print_node(MsText *t, const MsGraph *g, const MsNode *n, const int32_t *number, int depth)
{
    const MsSig *s = ms__sig(n->op);
    if (!s) {
        t->failed = true;
        return;
    }
    ms__text_add(t, "%*s", 4 * (depth + 1), "");
    for (int j = 0; j < n->n_out; j++) {
        ms__text_add(t, "%s%%%d: ", j ? ", " : "", number[n->out + j]);
        print_type(t, &g->val[n->out + j]);
    }
    ms__text_add(t, n->n_out ? " = %s(" : "%s(", n->op->name);
    const char *sep = "";
    for (int i = 0; i < n->n_in; i++, sep = ", ") {
        ms__text_add(t, "%s", sep);
        if (n->in[i] < 0)
            ms__text_add(t, "_");
        else
            ms__text_add(t, "%%%d", number[n->in[i]]);
    }
    for (int a = 0; a < s->n_attr; a++) {
        if (n->attr[a].kind == MS_ATTR_NONE) continue;
        ms__text_add(t, "%s%s=", sep, s->attr[a].name);
        print_attr(t, &n->attr[a], depth + 1);
        sep = ", ";
    }
    ms__text_add(t, ")\n");
}

static void print_inputs(MsText *t, const MsGraph *g, int from, int to)
{
    ms__text_add(t, "(");
    for (int i = from; i < to; i++) {
        ms__text_add(t, i > from ? ", %%%d: " : "%%%d: ", i);
        print_type(t, &g->val[i]);
    }
    ms__text_add(t, ")");
}

static void print_name(MsText *t, const char *name)
{
    if (!name) return;
    bool plain = *name != 0;
    for (const char *p = name; *p; p++) plain &= isalnum((unsigned char)*p) || *p == '_';
    ms__text_add(t, " @");
    if (plain)
        ms__text_add(t, "%s", name);
    else
        ms__text_quote(t, name);
}

static void print_graph(MsText *t, const MsGraph *g, int depth)
{
    int32_t *number = ms__malloc((size_t)g->n_val * sizeof *number);
    if (!number) {
        t->failed = true;
        return;
    }
    int next = 0;
    for (int i = 0; i < g->n_in; i++) number[i] = next++;
    ms__text_add(t, "graph");
    print_name(t, g->name);
    print_inputs(t, g, 0, g->n_arg);
    if (g->n_in > g->n_arg) {
        ms__text_add(t, " captured");
        print_inputs(t, g, g->n_arg, g->n_in);
    }
    ms__text_add(t, " {\n");
    for (int k = 0; k < g->n_node; k++) {
        const MsNode *n = &g->node[k];
        if (!n->op) continue;
        for (int j = 0; j < n->n_out; j++) number[n->out + j] = next++;
        print_node(t, g, n, number, depth);
    }
    ms__text_add(t, "%*sreturn", 4 * (depth + 1), "");
    for (int j = 0; j < g->n_result; j++) ms__text_add(t, j ? ", %%%d" : " %%%d", number[g->out[j]]);
    ms__text_add(t, "\n");
    for (int k = 0; k < g->n_out - g->n_result; k++)
        ms__text_add(t, "%*swrite %%%d = %%%d\n", 4 * (depth + 1), "", g->n_arg + g->written[k],
                     number[g->out[g->n_result + k]]);
    ms__text_add(t, "%*s}", 4 * depth, "");
    free(number);
}

char *ms_graph_print(const MsGraph *g)
{
    MsText t = {0};
    print_graph(&t, g, 0);
    ms__text_add(&t, "\n");
    return ms__text_take(&t);
}
