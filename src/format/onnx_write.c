/* onnx_write.c - a graph as an ONNX model (IR version 8, operators of version 18; https://onnx.ai/onnx/repo-docs/IR.html).
 *
 * Weights and constants are initializers. The version of the operators is the first in which every reduction takes its axes as
 * an input and LayerNormalization exists; the original writes version 11, whose Softmax means something else. */
#include "core/mem.h"
#include "format/export.h"
#include "format/mindir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPSET 18

/* The numbers of dtypes are those of MindIR. */
static void put_tensor(MsProtoBuffer *b, const char *name, MsDtype dtype, int ndim, const int64_t *shape,
                       const void *data)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) {
        ms__proto_int(b, 1, shape[d]);
        n *= shape[d];
    }
    ms__proto_int(b, 2, ms__mindir_dtype(dtype));
    ms__proto_text(b, 8, name);
    if (data) ms__proto_bytes(b, 9, data, (size_t)n * ms_dtype_size(dtype));
}

static int32_t initializer(MsExporter *x, MsDtype dtype, int ndim, const int64_t *shape, const void *data)
{
    char name[32];
    MsAval aval = {.dtype = dtype, .ndim = ndim};
    for (int d = 0; d < ndim; d++) aval.shape[d] = shape[d];
    snprintf(name, sizeof name, "constant_%d", ++x->count);
    MsProtoBuffer t = {0};
    put_tensor(&t, name, dtype, ndim, shape, data);
    ms__proto_message(&x->more, 5, &t);
    return ms__ex_value(x, name, &aval);
}

int32_t ms__onnx_constant(MsExporter *x, MsTensor *t)
{
    return initializer(x, ms_tensor_dtype(t), ms_tensor_ndim(t), ms_tensor_shape(t), ms_tensor_data(t));
}

static void put_attribute(MsProtoBuffer *node, const MsExArg *arg)
{
    MsProtoBuffer a = {0};
    ms__proto_text(&a, 1, arg->key);
    switch ((int)arg->kind) {
    case MS_EX_FLOAT: ms__proto_float(&a, 2, (float)arg->f), ms__proto_int(&a, 20, 1); break;
    case MS_EX_TEXT: ms__proto_text(&a, 4, arg->s), ms__proto_int(&a, 20, 3); break;
    case MS_EX_INTS:
        for (int k = 0; k < arg->n; k++) ms__proto_int(&a, 8, arg->v[k]);
        ms__proto_int(&a, 20, 7);
        break;
    default:
        ms__proto_int(&a, 3, arg->kind == MS_EX_DTYPE ? ms__mindir_dtype((MsDtype)arg->i) : arg->i);
        ms__proto_int(&a, 20, 2);
    }
    ms__proto_message(node, 5, &a);
}

static int32_t literal(MsExporter *x, const MsExArg *arg)
{
    if (arg->kind == MS_EX_INTS) return initializer(x, MS_INT64, 1, &(int64_t){arg->n}, arg->v);
    if (arg->kind == MS_EX_FLOAT) return initializer(x, MS_FLOAT32, 0, NULL, &(float){(float)arg->f});
    return initializer(x, MS_INT64, 0, NULL, &arg->i);
}

int32_t ms__onnx_emit(MsExporter *x, const char *op, int n_arg, const MsExArg *arg, int n_out,
                      const MsAval *out)
{
    MsProtoBuffer node = {0};
    char name[64];
    int32_t first = -1;
    int n = n_arg;
    while (n && arg[n - 1].kind == MS_EX_NONE && !arg[n - 1].key) n--;
    for (int k = 0; k < n; k++) {
        if (arg[k].key) continue;
        bool more = false; /* an input that is given follows */
        for (int j = k + 1; j < n; j++) more |= !arg[j].key && arg[j].kind != MS_EX_NONE;
        if (arg[k].kind == MS_EX_VALUES) {
            for (int j = 0; j < arg[k].n; j++) ms__proto_text(&node, 1, x->name[arg[k].values[j]]);
        } else if (arg[k].kind == MS_EX_NONE) {
            if (more) ms__proto_text(&node, 1, "");
        } else {
            int32_t v = arg[k].kind == MS_EX_VALUE ? (int32_t)arg[k].i : literal(x, &arg[k]);
            if (v < 0) goto done;
            ms__proto_text(&node, 1, x->name[v]);
        }
    }
    int number = ++x->count;
    for (int j = 0; j < n_out; j++) {
        snprintf(name, sizeof name, j ? "%s_%d_%d" : "%s_%d", op, number, j);
        ms__proto_text(&node, 2, name);
        int32_t v = ms__ex_value(x, name, &out[j]);
        if (v < 0) goto done;
        if (j == 0) first = v;
    }
    snprintf(name, sizeof name, "%d%s", number, op);
    ms__proto_text(&node, 3, name);
    ms__proto_text(&node, 4, op);
    for (int k = 0; k < n_arg; k++)
        if (arg[k].key) put_attribute(&node, &arg[k]);
    ms__proto_message(&x->nodes, 1, &node);
done:
    free(node.p);
    return first;
}

/* ---- the model ---- */

static void put_value_info(MsProtoBuffer *graph, int number, const char *name, const MsAval *a)
{
    MsProtoBuffer info = {0}, type = {0}, tensor = {0}, shape = {0};
    for (int d = 0; d < a->ndim; d++) {
        MsProtoBuffer dim = {0};
        char open[64];
        snprintf(open, sizeof open, "%.40s_%d", name, d);
        if (a->shape[d] >= 0)
            ms__proto_int(&dim, 1, a->shape[d]);
        else
            ms__proto_text(&dim, 2, open);
        ms__proto_message(&shape, 1, &dim);
    }
    ms__proto_int(&tensor, 1, ms__mindir_dtype(a->dtype));
    ms__proto_message(&tensor, 2, &shape);
    ms__proto_message(&type, 1, &tensor);
    ms__proto_text(&info, 1, name);
    ms__proto_message(&info, 2, &type);
    ms__proto_message(graph, number, &info);
}

static MsStatus put_weight(const MsModel *m, int k, MsTensor *t, MsProtoBuffer *graph)
{
    MsProtoBuffer b = {0};
    size_t bytes = (size_t)ms_tensor_numel(t) * ms_dtype_size(ms_tensor_dtype(t));
    bool outside = m->place && m->place[k];
    MsTensor *row_major = outside ? t : ms_contiguous(t);
    if (!row_major) return ms_error()->code;
    put_tensor(&b, m->captured[k], ms_tensor_dtype(t), ms_tensor_ndim(t), ms_tensor_shape(t),
               outside ? NULL : ms_tensor_data(row_major));
    if (outside) {
        char number[2][24];
        snprintf(number[0], sizeof number[0], "%lld", (long long)m->offset[k]);
        snprintf(number[1], sizeof number[1], "%zu", bytes);
        const char *entry[][2] = {{"location", m->place[k]}, {"offset", number[0]}, {"length", number[1]}};
        for (int j = 0; j < 3; j++) {
            MsProtoBuffer e = {0};
            ms__proto_text(&e, 1, entry[j][0]);
            ms__proto_text(&e, 2, entry[j][1]);
            ms__proto_message(&b, 13, &e);
        }
        ms__proto_int(&b, 14, 1);
    }
    ms__proto_message(graph, 5, &b);
    return MS_OK;
}

static MsStatus put_graph(MsExporter *x, const MsModel *m, const char *const *output, MsProtoBuffer *graph)
{
    const MsGraph *g = m->g;
    ms__proto_text(graph, 2, m->name);
    if (g->n_out > g->n_result)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "For 'export', the network writes Parameters, which ONNX cannot hold.");
    for (int i = 0; i < g->n_arg; i++) {
        put_value_info(graph, 11, m->input[i], &x->g->val[i]);
        if ((x->value[i] = ms__ex_value(x, m->input[i], &x->g->val[i])) < 0) return MS_ERROR_MEMORY;
    }
    for (int k = 0; k < g->n_in - g->n_arg; k++) {
        int32_t *v = &x->value[g->n_arg + k];
        if (m->captured[k]) MS_TRY(put_weight(m, k, g->captured[k], graph));
        *v = m->captured[k] ? ms__ex_value(x, m->captured[k], &x->g->val[g->n_arg + k])
                            : ms__ex_constant(x, g->captured[k]);
        if (*v < 0) return MS_ERROR_MEMORY;
    }
    MS_TRY(ms__ex_nodes(x));
    for (int j = 0; j < g->n_result; j++) {
        int32_t v = x->value[x->g->out[j]];
        bool again = x->g->out[j] < x->g->n_in || output; /* its name is another's, or to be another */
        for (int i = 0; i < j; i++) again |= x->g->out[i] == x->g->out[j];
        char name[128];
        if (output)
            snprintf(name, sizeof name, "%.120s", output[j]);
        else
            snprintf(name, sizeof name, "output_%d", j);
        if (again) {
            MsProtoBuffer node = {0};
            ms__proto_text(&node, 1, x->name[v]);
            ms__proto_text(&node, 2, name);
            ms__proto_text(&node, 4, "Identity");
            ms__proto_message(&x->nodes, 1, &node);
        }
        put_value_info(graph, 12, again ? name : x->name[v], &x->g->val[x->g->out[j]]);
    }
    return MS_OK;
}

MsStatus ms__onnx_write(const MsModel *m, const char *const *output, MsProtoBuffer *out)
{
    MsExporter x;
    MsProtoBuffer graph = {0}, opset = {0};
    int mark = ms_scope_begin();
    MsStatus st = ms__ex_begin(&x, MS_MODEL_ONNX, m);
    if (st == MS_OK) st = put_graph(&x, m, output, &graph);
    if (st == MS_OK) {
        ms__proto_int(out, 1, 8);
        ms__proto_text(out, 2, "MindSpore");
        ms__proto_text(out, 3, "1.0");
        ms__proto_append(&graph, &x.nodes);
        ms__proto_append(&graph, &x.more);
        ms__proto_message(out, 7, &graph);
        ms__proto_text(&opset, 1, "");
        ms__proto_int(&opset, 2, OPSET);
        ms__proto_message(out, 8, &opset);
        if (out->failed) st = MS_FAIL(MS_ERROR_MEMORY, "Out of memory.");
    }
    free(graph.p);
    ms__ex_end(&x);
    ms_scope_end(mark, NULL, 0);
    return st;
}
