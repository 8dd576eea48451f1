/* mindir_write.c - a graph as a model in the MindIR format (version 3).
 *
 * Parameters are read through Load nodes and written by Assign; UpdateState and Depend put these in order, as readers of
 * the format expect. Constants are nodes of their own. */
#include "core/mem.h"
#include "format/export.h"
#include "format/mindir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOAT = 1,
    INT64 = 7,
    STRING = 8,
    BOOL = 9,
    TENSORS = 19,
    TUPLE = 20,
    UMONAD = 23,
    NONE = 25
}; /* AttributeType */

static const uint8_t type_id[MS_DTYPE_COUNT] = {
    [MS_BOOL] = 30,    [MS_INT8] = 32,    [MS_INT16] = 33,    [MS_INT32] = 34,     [MS_INT64] = 35,
    [MS_UINT8] = 37,   [MS_UINT16] = 38,  [MS_UINT32] = 39,   [MS_UINT64] = 40,    [MS_FLOAT16] = 42,
    [MS_FLOAT32] = 43, [MS_FLOAT64] = 44, [MS_BFLOAT16] = 45, [MS_COMPLEX64] = 48, [MS_COMPLEX128] = 49};

static void put_type(MsProtoBuffer *tensor, const MsAval *a)
{
    for (int d = 0; d < a->ndim; d++) ms__proto_int(tensor, 1, a->shape[d]);
    ms__proto_int(tensor, 2, ms__mindir_dtype(a->dtype));
}

static void put_content(MsProtoBuffer *tensor, MsTensor *t)
{
    ms__proto_bytes(tensor, 9, ms_tensor_data(t),
                    (size_t)ms_tensor_numel(t) * ms_dtype_size(ms_tensor_dtype(t)));
}

/* Fields of an AttributeProto for one number or text; in a list they are the repeated ones. */
static void put_value(MsProtoBuffer *a, const MsExArg *arg, bool in_list)
{
    switch ((int)arg->kind) {
    case MS_EX_INT: ms__proto_int(a, in_list ? 10 : 3, arg->i), ms__proto_int(a, 16, INT64); break;
    case MS_EX_DTYPE: ms__proto_int(a, in_list ? 10 : 3, type_id[arg->i]), ms__proto_int(a, 16, INT64); break;
    case MS_EX_BOOL: ms__proto_int(a, in_list ? 10 : 3, arg->i), ms__proto_int(a, 16, BOOL); break;
    case MS_EX_FLOAT: ms__proto_float(a, in_list ? 8 : 2, (float)arg->f), ms__proto_int(a, 16, FLOAT); break;
    case MS_EX_TEXT: ms__proto_text(a, in_list ? 11 : 5, arg->s), ms__proto_int(a, 16, STRING); break;
    case MS_EX_STATE: ms__proto_int(a, 16, UMONAD); break;
    case MS_EX_INTS:
        ms__proto_int(a, 16, TUPLE);
        for (int k = 0; k < arg->n; k++) {
            MsProtoBuffer one = {0};
            MsExArg v = EX_INT(arg->v[k]);
            put_value(&one, &v, true);
            ms__proto_message(a, 17, &one);
        }
        break;
    default: ms__proto_int(a, 16, NONE);
    }
}

static void put_abstract(MsProtoBuffer *node, const MsAval *out)
{
    MsProtoBuffer a = {0}, t = {0};
    ms__proto_text(&a, 1, "shape");
    put_type(&t, out);
    ms__proto_message(&a, 12, &t);
    ms__proto_int(&a, 16, TENSORS);
    ms__proto_message(node, 5, &a);
}

static int32_t constant_node(MsExporter *x, MsProtoBuffer *value, const MsAval *aval)
{
    char name[32];
    snprintf(name, sizeof name, "ValueNode_%d", ++x->count);
    MsProtoBuffer node = {0};
    ms__proto_text(&node, 2, name);
    ms__proto_text(&node, 3, name);
    ms__proto_text(&node, 4, "Constant");
    ms__proto_message(&node, 5, value);
    ms__proto_message(&x->nodes, 1, &node);
    return ms__ex_value(x, name, aval);
}

int32_t ms__mindir_constant(MsExporter *x, MsTensor *t)
{
    MsProtoBuffer a = {0}, p = {0};
    MsAval aval = ms__aval(t);
    ms__proto_text(&a, 1, "value");
    put_type(&p, &aval);
    ms__proto_text(&p, 7, "value0");
    put_content(&p, t);
    ms__proto_message(&a, 12, &p);
    ms__proto_int(&a, 16, TENSORS);
    return constant_node(x, &a, &aval);
}

static int32_t literal(MsExporter *x, const MsExArg *arg)
{
    MsProtoBuffer a = {0};
    ms__proto_text(&a, 1, "value");
    put_value(&a, arg, false);
    return constant_node(x, &a, &(MsAval){.dtype = MS_DTYPE_NONE});
}

/* The unique name of a primitive; one without attributes is written once. */
static MsStatus primitive(MsExporter *x, const char *op, size_t len, bool is_function, int n_arg,
                          const MsExArg *arg, char name[64])
{
    MsProtoBuffer p = {0};
    bool plain = true;
    for (int k = 0; k < n_arg; k++) plain &= !arg[k].key;
    for (int k = 0; plain && k < x->n_primitive; k++)
        if (strncmp(x->primitive[k], op, len) == 0 && x->primitive[k][len] == ':') {
            snprintf(name, 64, "%s", x->primitive[k]);
            return MS_OK;
        }
    snprintf(name, 64, "%.*s:%d", (int)len, op, ++x->count);
    ms__proto_text(&p, 1, name);
    ms__proto_bytes(&p, 2, op, len);
    for (int k = 0; k < n_arg; k++) {
        if (!arg[k].key) continue;
        MsProtoBuffer a = {0};
        ms__proto_text(&a, 1, arg[k].key);
        put_value(&a, &arg[k], false);
        ms__proto_message(&p, 3, &a);
    }
    ms__proto_text(&p, 4, "");
    ms__proto_int(&p, 5, is_function ? 2 : 1);
    ms__proto_message(&x->primitives, 12, &p);
    if (!plain) return MS_OK;
    char **more = ms__realloc(x->primitive, ((size_t)x->n_primitive + 1) * sizeof *more);
    if (!more) return MS_ERROR_MEMORY;
    x->primitive = more;
    x->primitive[x->n_primitive] = ms__strdup(name);
    return x->primitive[x->n_primitive++] ? MS_OK : MS_ERROR_MEMORY;
}

/* Ends node number x->count, which has its inputs, with a reference to what it calls; its result. */
static int32_t put_node(MsExporter *x, MsProtoBuffer *b, const char *target, const char *scope,
                        const MsAval *out)
{
    char ref[300], name[256];
    snprintf(name, sizeof name, "%s:CNode_%d:%d", x->graph_name, x->count, x->count);
    snprintf(ref, sizeof ref, "REF::%s", target);
    ms__proto_text(b, 2, name);
    ms__proto_text(b, 3, name);
    ms__proto_text(b, 4, ref);
    if (out) put_abstract(b, out);
    ms__proto_text(b, 7, scope);
    ms__proto_message(&x->nodes, 1, b);
    return ms__ex_value(x, name, out ? out : &(MsAval){.dtype = MS_DTYPE_NONE});
}

static int32_t tuple_of(MsExporter *x, int n, const int32_t *v);

/* A node; `out` NULL: of no known type. */
static int32_t node(MsExporter *x, const char *op, size_t len, bool is_function, int n_arg,
                    const MsExArg *arg, const MsAval *out)
{
    char prim[64], scope[80];
    MsProtoBuffer b = {0};
    int32_t result = -1;
    if (primitive(x, op, len, is_function, n_arg, arg, prim) != MS_OK) return -1;
    for (int k = 0; k < n_arg; k++) {
        if (arg[k].key) continue;
        int32_t v = arg[k].kind == MS_EX_VALUE ? (int32_t)arg[k].i : -1;
        if (arg[k].kind == MS_EX_VALUES) {
            if ((v = tuple_of(x, arg[k].n, arg[k].values)) < 0) goto done;
        } else if (arg[k].kind != MS_EX_VALUE && (v = literal(x, &arg[k])) < 0) {
            goto done;
        }
        ms__proto_text(&b, 1, x->name[v]);
    }
    snprintf(scope, sizeof scope, "Default/%.*s-op%d", (int)len, op, ++x->count);
    result = put_node(x, &b, prim, scope, out);
done:
    free(b.p);
    return result;
}

static int32_t plain(MsExporter *x, const char *op, int n_arg, const MsExArg *arg, const MsAval *out)
{
    return node(x, op, strlen(op), false, n_arg, arg, out);
}

static int32_t tuple_of(MsExporter *x, int n, const int32_t *v)
{
    MsExArg *arg = ms__malloc(((size_t)n + 1) * sizeof *arg);
    for (int k = 0; arg && k < n; k++) arg[k] = EX_VALUE(v[k]);
    int32_t r = arg ? plain(x, "MakeTuple", n, arg, NULL) : -1;
    free(arg);
    return r;
}

int32_t ms__mindir_emit(MsExporter *x, const char *op, int n_arg, const MsExArg *arg, int n_out,
                        const MsAval *out)
{
    size_t len = strcspn(op, "*/");
    bool is_function = op[len] == '*', tuple = strchr(op, '/') != NULL;
    int32_t r = node(x, op, len, is_function, n_arg, arg, tuple ? NULL : out), first = r;
    if (!tuple || r < 0) return r;
    int32_t index[2];
    for (int j = 0; j < n_out; j++) { /* constants first: numbers of results are consecutive */
        MsExArg k = EX_INT(j);
        if ((index[j] = literal(x, &k)) < 0) return -1;
    }
    for (int j = 0; j < n_out; j++) {
        MsExArg item[] = {EX_VALUE(r), EX_VALUE(index[j])};
        int32_t v = plain(x, "TupleGetItem", 2, item, &out[j]);
        if (v < 0) return -1;
        if (j == 0) first = v;
    }
    return first;
}

/* ---- branches and loops: graphs of their own ---- */

/* A call of what `target` names. */
static int32_t call(MsExporter *x, const char *target, int n, const int32_t *arg)
{
    char scope[16];
    MsProtoBuffer b = {0};
    for (int k = 0; k < n; k++) ms__proto_text(&b, 1, x->name[arg[k]]);
    snprintf(scope, sizeof scope, "%d", ++x->count);
    return put_node(x, &b, target, scope, NULL);
}

/* A graph with some of its arguments: the value that a Switch chooses from. */
static int32_t partial(MsExporter *x, const char *graph, int n, const int32_t *in)
{
    MsExArg *arg = ms__malloc(((size_t)n + 2) * sizeof *arg);
    int32_t fn = arg ? ms__ex_value(x, graph, &(MsAval){.dtype = MS_DTYPE_NONE}) : -1, r = -1;
    for (int k = 0; fn >= 0 && k < n; k++) arg[k + 1] = EX_VALUE(in[k]);
    if (fn >= 0) {
        arg[0] = EX_VALUE(fn);
        arg[n + 1] = ms__ex_key("side_effect_propagate", EX_INT(1));
        r = plain(x, "Partial", n + 2, arg, NULL);
    }
    free(arg);
    return r;
}

/* The result of the graph that pred chooses, of the same arguments. */
static int32_t branch(MsExporter *x, int32_t pred, const char *yes, const char *no, int n, const int32_t *in)
{
    int32_t a = partial(x, yes, n, in), b = a < 0 ? -1 : partial(x, no, n, in);
    MsExArg arg[] = {EX_VALUE(pred), EX_VALUE(a), EX_VALUE(b)};
    int32_t r = b < 0 ? -1 : plain(x, "Switch", 3, arg, NULL);
    return r < 0 ? -1 : call(x, x->name[r], 0, NULL);
}

typedef struct Function {
    char name[200];
    const MsGraph *g; /* what it computes of its inputs first; NULL: nothing */
    int n_in, n_out;  /* of the operator: arguments, results */
    const MsAval *in, *out;
    const struct Function *other[2];
    int32_t (*finish)(MsExporter *x, const struct Function *f, const int32_t *in, const int32_t *out);
} Function;

static int32_t finish_results(MsExporter *x, const Function *f, const int32_t *in, const int32_t *out)
{
    return tuple_of(x, f->n_out, f->g ? out : in);
}
static int32_t finish_turn(MsExporter *x, const Function *f, const int32_t *in, const int32_t *out)
{
    int32_t *next = ms__malloc(((size_t)f->n_in + 1) * sizeof *next), r = -1;
    if (next) {
        memcpy(next, in, (size_t)f->n_in * sizeof *next);
        memcpy(next, out, (size_t)f->n_out * sizeof *next);
        r = call(x, f->other[0]->name, f->n_in, next);
    }
    free(next);
    return r;
}
static int32_t finish_test(MsExporter *x, const Function *f, const int32_t *in, const int32_t *out)
{
    return branch(x, out[0], f->other[0]->name, f->other[1]->name, f->n_in, in);
}

static MsStatus function_body(MsExporter *x, const Function *f, MsProtoBuffer *graph, int32_t *in)
{
    ms__proto_text(graph, 2, f->name);
    for (int i = 0; i < f->n_in; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s:x_%d", f->name, i);
        MsProtoBuffer info = {0}, t = {0};
        ms__proto_text(&info, 1, name);
        put_type(&t, &f->in[i]);
        ms__proto_message(&info, 2, &t);
        ms__proto_message(graph, 5, &info);
        if ((in[i] = ms__ex_value(x, name, &f->in[i])) < 0) return MS_ERROR_MEMORY;
        if (f->g) x->value[i] = in[i];
    }
    if (f->g) MS_TRY(ms__ex_nodes(x));
    int32_t out[256];
    int n = f->g ? x->g->n_out : 0;
    if (n > 256)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED, "For 'export', a branch with %d results cannot be written.",
                       n);
    for (int j = 0; j < n; j++) out[j] = x->value[x->g->out[j]];
    int32_t r = f->finish(x, f, in, out);
    if (r < 0) return ms_error()->code;
    MsProtoBuffer info = {0}, type = {0};
    ms__proto_text(&info, 1, x->name[r]);
    ms__proto_text(&info, 4, "Tuple");
    ms__proto_int(&type, 16, TUPLE);
    for (int j = 0; j < f->n_out; j++) {
        MsProtoBuffer one = {0}, t = {0};
        put_type(&t, &f->out[j]);
        ms__proto_message(&one, 12, &t);
        ms__proto_int(&one, 16, TENSORS);
        ms__proto_message(&type, 17, &one);
    }
    ms__proto_message(&info, 5, &type);
    ms__proto_message(graph, 6, &info);
    return MS_OK;
}

/* Writes a graph of the model. */
static MsStatus function(MsExporter *x, const Function *f)
{
    MsExporter outer = *x;
    MsProtoBuffer graph = {0};
    int32_t *in = ms__malloc(((size_t)f->n_in + 1) * sizeof *in);
    x->nodes = (MsProtoBuffer){0};
    x->graph_name = f->name;
    x->g = NULL, x->value = NULL, x->uses = NULL;
    MsStatus st = !in ? MS_ERROR_MEMORY : f->g ? ms__ex_enter(x, f->g) : MS_OK;
    if (st == MS_OK) st = function_body(x, f, &graph, in);
    ms__ex_leave(x);
    ms__proto_append(&graph, &x->nodes);
    if (st == MS_OK) ms__proto_message(&x->more, 8, &graph);
    free(graph.p), free(x->nodes.p), free(in);
    x->g = outer.g, x->value = outer.value, x->uses = outer.uses, x->nodes = outer.nodes;
    x->graph_name = outer.graph_name;
    x->node = outer.node;
    return st;
}

/* The call's results become the values of n's outputs. */
static int32_t results(MsExporter *x, const MsNode *n, int32_t tuple)
{
    for (int j = 0; tuple >= 0 && j < n->n_out; j++) {
        MsExArg item[] = {EX_VALUE(tuple), EX_INT(j)};
        int32_t v = plain(x, "TupleGetItem", 2, item, &x->g->val[n->out + j]);
        if (v < 0) return -1;
        x->value[n->out + j] = v;
    }
    return tuple < 0 ? -1 : x->value[n->out];
}

/* Arguments of n from `first` on: types and numbers. */
static bool arguments(const MsExporter *x, const MsNode *n, int first, MsAval **aval, int32_t **in)
{
    int count = n->n_in - first;
    *aval = ms__malloc(((size_t)count + 1) * sizeof **aval);
    *in = ms__malloc(((size_t)count + 1) * sizeof **in);
    for (int i = 0; *aval && *in && i < count; i++) {
        (*aval)[i] = x->g->val[n->in[first + i]];
        (*in)[i] = x->value[n->in[first + i]];
    }
    return *aval && *in;
}

static Function
new_function(MsExporter *x, const char *kind, const MsGraph *g, const MsNode *n, int first, const MsAval *in,
             int32_t (*finish)(MsExporter *, const Function *, const int32_t *, const int32_t *))
{
    Function f = {.g = g,
                  .n_in = n->n_in - first,
                  .n_out = n->n_out,
                  .in = in,
                  .out = &x->g->val[n->out],
                  .finish = finish};
    snprintf(f.name, sizeof f.name, "%d_%s_%.100s", ++x->count, kind, x->graph_name);
    return f;
}

static int32_t cond(MsExporter *x, const MsNode *n, const MsAval *aval, const int32_t *in)
{
    Function yes = new_function(x, "then", n->attr[0].g, n, 1, aval, finish_results);
    Function no = new_function(x, "else", n->attr[1].g, n, 1, aval, finish_results);
    if (function(x, &yes) != MS_OK || function(x, &no) != MS_OK) return -1;
    return branch(x, x->value[n->in[0]], yes.name, no.name, yes.n_in, in);
}

/* The test is a graph that goes on with a turn, which ends in a call of the test, or with the results. */
static int32_t loop(MsExporter *x, const MsNode *n, const MsAval *aval, const int32_t *in)
{
    Function test = new_function(x, "test", n->attr[0].g, n, 0, aval, finish_test);
    Function turn = new_function(x, "turn", n->attr[1].g, n, 0, aval, finish_turn);
    Function after = new_function(x, "after", NULL, n, 0, aval, finish_results);
    turn.other[0] = &test;
    test.other[0] = &turn;
    test.other[1] = &after;
    if (function(x, &test) != MS_OK || function(x, &turn) != MS_OK || function(x, &after) != MS_OK) return -1;
    return call(x, test.name, n->n_in, in);
}

int32_t ms__mindir_control(MsExporter *x, const MsNode *n)
{
    bool is_loop = strcmp(n->op->name, "while") == 0;
    MsAval *aval;
    int32_t *in, r = -1;
    if (arguments(x, n, !is_loop, &aval, &in)) r = results(x, n, (is_loop ? loop : cond)(x, n, aval, in));
    free(aval), free(in);
    return r;
}

/* ---- the model ---- */

/* Results by the text that says how they are put together; moves past what it reads. */
static int32_t put_result(MsExporter *x, const char **s)
{
    MsExArg item[64];
    int n = 0;
    if (**s == 'N') {
        ++*s;
        return literal(x, &EX_NONE);
    }
    if (**s != '(') {
        char kind = **s, *end;
        *s += kind == 'i' || kind == 'b' || kind == 'f';
        if (kind == 'f') {
            MsExArg v = EX_FLOAT(strtod(*s, &end));
            *s = end;
            return literal(x, &v);
        }
        long long k = strtoll(*s, &end, 10);
        *s = end;
        MsExArg v = kind == 'b' ? EX_BOOL(k) : EX_INT(k);
        return kind == 'i' || kind == 'b' ? literal(x, &v) : x->value[x->g->out[k]];
    }
    for (++*s; **s && **s != ')';) {
        *s += **s == ',';
        if (n == 64) {
            ms__raise(MS_ERROR_NOT_IMPLEMENTED, __FILE__, __LINE__,
                      "For 'export', a tuple of more than 64 results cannot be written.");
            return -1;
        }
        int32_t v = put_result(x, s);
        if (v < 0) return -1;
        item[n++] = EX_VALUE(v);
    }
    ++*s;
    return plain(x, "MakeTuple", n, item, NULL);
}

static void put_result_type(MsExporter *x, MsProtoBuffer *a, const char **s)
{
    if (**s == '(') {
        MsProtoBuffer info = {0};
        ms__proto_int(a, 16, TUPLE);
        for (++*s; **s && **s != ')';) {
            *s += **s == ',';
            MsProtoBuffer one = {0};
            put_result_type(x, &one, s);
            ms__proto_message(a, 17, &one);
        }
        ++*s;
        ms__proto_int(&info, 1, 0);
        ms__proto_message(a, 18, &info);
        return;
    }
    char kind = **s, *end;
    *s += kind == 'N' || kind == 'i' || kind == 'b' || kind == 'f';
    double k = kind == 'N' ? 0 : strtod(*s, &end);
    if (kind != 'N') *s = end;
    if (kind >= '0' && kind <= '9') {
        MsProtoBuffer t = {0};
        put_type(&t, &x->g->val[x->g->out[(int)k]]);
        ms__proto_message(a, 12, &t);
        ms__proto_int(a, 16, TENSORS);
    } else {
        ms__proto_int(a, 16, kind == 'N' ? NONE : kind == 'b' ? BOOL : kind == 'f' ? FLOAT : INT64);
    }
}

static MsStatus put_parameter(const MsModel *m, int k, MsTensor *t, const char *full, MsProtoBuffer *graph)
{
    MsProtoBuffer p = {0};
    MsAval a = ms__aval(t);
    put_type(&p, &a);
    ms__proto_text(&p, 7, full);
    size_t bytes = (size_t)ms_tensor_numel(t) * ms_dtype_size(ms_tensor_dtype(t));
    if (m->place && m->place[k]) {
        MsProtoBuffer e = {0};
        ms__proto_text(&e, 1, m->place[k]);
        ms__proto_int(&e, 2, m->offset[k]);
        ms__proto_int(&e, 3, (int64_t)bytes);
        ms__proto_message(&p, 12, &e);
    } else {
        MsTensor *row_major = ms_contiguous(t);
        if (!row_major || !ms_tensor_data(row_major)) return ms_error()->code;
        put_content(&p, row_major);
    }
    ms__proto_text(&p, 13, m->captured[k]);
    ms__proto_int(&p, 16, 0);
    ms__proto_message(graph, 3, &p);
    return MS_OK;
}

/* Inputs and parameters; `load` gets the parameters' names, then the number of what Load gives. */
static MsStatus put_inputs(MsExporter *x, const MsModel *m, MsProtoBuffer *graph, int32_t *param,
                           int32_t *state)
{
    char full[1024];
    const MsGraph *g = m->g;
    for (int i = 0; i < g->n_arg; i++) {
        MsProtoBuffer info = {0}, t = {0};
        snprintf(full, sizeof full, "%s:%s", x->graph_name, m->input[i]);
        ms__proto_text(&info, 1, full);
        put_type(&t, &x->g->val[i]);
        ms__proto_message(&info, 2, &t);
        ms__proto_message(graph, 5, &info);
        if ((x->value[i] = ms__ex_value(x, full, &x->g->val[i])) < 0) return MS_ERROR_MEMORY;
    }
    if ((*state = literal(x, &(MsExArg){.kind = MS_EX_STATE})) < 0) return MS_ERROR_MEMORY;
    for (int k = 0; k < g->n_in - g->n_arg; k++) {
        int v = g->n_arg + k;
        param[k] = -1;
        if (!m->captured[k]) {
            if ((x->value[v] = ms__ex_constant(x, g->captured[k])) < 0) return ms_error()->code;
            continue;
        }
        snprintf(full, sizeof full, "%s:%s", x->graph_name, m->captured[k]);
        MS_TRY(put_parameter(m, k, g->captured[k], full, graph));
        if ((param[k] = ms__ex_value(x, full, &x->g->val[v])) < 0) return MS_ERROR_MEMORY;
        MsExArg arg[] = {EX_VALUE(param[k]), EX_VALUE(*state)};
        if ((x->value[v] = plain(x, "Load", 2, arg, &x->g->val[v])) < 0) return MS_ERROR_MEMORY;
    }
    return MS_OK;
}

/* Parameters that the graph writes: after everything was read. */
static MsStatus put_writes(MsExporter *x, const MsModel *m, const int32_t *param, int32_t *state)
{
    const MsGraph *g = m->g;
    int n = g->n_in - g->n_arg, n_load = 0;
    int32_t *load = ms__malloc(((size_t)n + 1) * sizeof *load);
    if (!load) return MS_ERROR_MEMORY;
    for (int k = 0; k < n; k++)
        if (param[k] >= 0) load[n_load++] = x->value[g->n_arg + k];
    MsExArg loads[] = {EX_VALUE(*state), {.kind = MS_EX_VALUES, .n = n_load, .values = load}};
    if (n_load) *state = plain(x, "UpdateState", 2, loads, NULL);
    free(load);
    for (int k = 0; *state >= 0 && k < g->n_out - g->n_result; k++) {
        int c = g->written[k];
        if (param[c] < 0)
            return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                           "For 'export', the network writes a tensor that is no Parameter.");
        MsExArg assign[] = {EX_VALUE(param[c]), EX_VALUE(x->value[x->g->out[g->n_result + k]]),
                            EX_VALUE(*state), ms__ex_key("side_effect_mem", EX_BOOL(1))};
        int32_t v = ms__ex_emit(x, "Assign*", 4, assign, 1, &x->g->val[g->n_arg + c]);
        MsExArg after[] = {EX_VALUE(*state), EX_VALUE(v)};
        *state = v < 0 ? -1 : plain(x, "UpdateState", 2, after, NULL);
    }
    return *state < 0 ? ms_error()->code : MS_OK;
}

static MsStatus put_graph(MsExporter *x, const MsModel *m, MsProtoBuffer *graph)
{
    int32_t *param = ms__malloc(((size_t)(m->g->n_in - m->g->n_arg) + 1) * sizeof *param), state = -1, r = -1;
    const char *s = m->result;
    MsStatus st = param ? MS_OK : MS_ERROR_MEMORY;
    ms__proto_text(graph, 2, x->graph_name);
    if (st == MS_OK) st = put_inputs(x, m, graph, param, &state);
    if (st == MS_OK) st = ms__ex_nodes(x);
    if (st == MS_OK) st = put_writes(x, m, param, &state);
    free(param);
    MS_TRY(st);
    if ((r = put_result(x, &s)) < 0) return ms_error()->code;
    const MsAval *type = x->aval[r].dtype == MS_DTYPE_NONE ? NULL : &x->aval[r];
    MsExArg depend[] = {EX_VALUE(r), EX_VALUE(state), ms__ex_key("side_effect_propagate", EX_INT(1))};
    if ((r = plain(x, "Depend", 3, depend, type)) < 0) return ms_error()->code;
    MsProtoBuffer info = {0}, inner = {0};
    ms__proto_text(&info, 1, x->name[r]);
    s = m->result;
    if (*s >= '0' && *s <= '9') {
        put_type(&inner, &x->g->val[x->g->out[atoi(s)]]);
        ms__proto_message(&info, 2, &inner);
    } else {
        if (*s == '(') ms__proto_text(&info, 4, "Tuple");
        put_result_type(x, &inner, &s);
        ms__proto_message(&info, 5, &inner);
    }
    ms__proto_message(graph, 6, &info);
    return MS_OK;
}

MsStatus ms__mindir_write(const MsModel *m, MsProtoBuffer *out)
{
    MsExporter x;
    MsProtoBuffer graph = {0};
    int mark = ms_scope_begin();
    MsStatus st = ms__ex_begin(&x, MS_MODEL_MINDIR, m);
    if (st == MS_OK) st = put_graph(&x, m, &graph);
    if (st == MS_OK) {
        ms__proto_text(out, 1, "1.1");
        ms__proto_text(out, 2, "MindSpore");
        ms__proto_text(out, 5, "2.10.0");
        ms__proto_append(&graph, &x.nodes);
        ms__proto_message(out, 7, &graph);
        ms__proto_append(out, &x.more);
        ms__proto_int(out, 10, 1);
        ms__proto_append(out, &x.primitives);
        ms__proto_int(out, 13, 3);
        if (out->failed) st = MS_FAIL(MS_ERROR_MEMORY, "Out of memory.");
    }
    free(graph.p);
    ms__ex_end(&x);
    ms_scope_end(mark, NULL, 0);
    return st;
}
