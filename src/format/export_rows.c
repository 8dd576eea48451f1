/* export_rows.c - the operators of both formats: one row per operator of ours, {name, line for MINDIR, line for ONNX}.
 *
 * A line names the node and its arguments: $k an input, $* all inputs as a list, a name an attribute of ours (in
 * brackets: as a list), #T #F #N #i3 #1.5 constants; with key= an attribute of the node, else an input. In MINDIR
 * `Op*` takes everything as inputs (a primitive function) and `Op/n` gives a tuple of n. Where a line does not do a
 * function writes the node; operators with neither are said with others (export_lower.c). */
#include "format/export.h"
#include "mindspore_ops.h"

#include <math.h>
#include <string.h>

/* ---- nodes that a line does not say ---- */

static MsExArg input(const MsExporter *x, const MsNode *n, int k)
{
    return n->in[k] < 0 ? EX_NONE : EX_VALUE(x->value[n->in[k]]);
}
static const MsAval *aval(const MsExporter *x, int32_t v)
{
    return &x->g->val[v];
}
static int32_t emit(MsExporter *x, const MsNode *n, const char *op, int n_arg, const MsExArg *arg)
{
    return ms__ex_emit(x, op, n_arg, arg, 1, aval(x, n->out));
}
/* INTS of attribute k behind `more` ones. */
static MsExArg window(const MsAttr *a, int more)
{
    int64_t v[MS_MAX_DIM];
    for (int k = 0; k < more; k++) v[k] = 1;
    for (int k = 0; k < a->n; k++) v[more + k] = a->v[k];
    return ms__ex_ints(more + a->n, v);
}
/* pads: pairs for each axis (MINDIR), or all begins and then all ends (ONNX). */
static MsExArg pads(const MsExporter *x, const MsAttr *low, const MsAttr *high)
{
    int64_t v[2 * MS_MAX_DIM];
    for (int k = 0; k < low->n; k++) {
        bool pairs = x->format == MS_MODEL_MINDIR;
        v[pairs ? 2 * k : k] = low->v[k];
        v[pairs ? 2 * k + 1 : low->n + k] = high->v[k];
    }
    return ms__ex_ints(2 * low->n, v);
}

static int32_t mindir_adaptive(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), ms__ex_key("output_size", ms__ex_ints(2, n->attr[0].v + 2))};
    return emit(x, n, "AdaptiveAvgPool2D", 2, arg);
}

static int32_t mindir_conv(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]);
    int nd = n->attr[0].n;
    MsExArg pad = pads(x, &n->attr[1], &n->attr[2]);
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     ms__ex_key("kernel_size", ms__ex_ints(nd, w->shape + 2)),
                     ms__ex_key("mode", EX_INT(1)),
                     ms__ex_key("out_channel", EX_INT(w->shape[0])),
                     ms__ex_key("pad", pad),
                     ms__ex_key("pad_mode", EX_TEXT("pad")),
                     ms__ex_key("format", EX_TEXT(nd == 2 ? "NCHW" : "NCDHW")),
                     ms__ex_key("pad_list", pad),
                     ms__ex_key("groups", EX_INT(n->attr[4].i)),
                     ms__ex_key("group", EX_INT(n->attr[4].i)),
                     ms__ex_key("stride", window(&n->attr[0], nd == 2 ? 2 : 0)),
                     ms__ex_key("dilation", window(&n->attr[3], nd == 2 ? 2 : 0)),
                     ms__ex_key("strides", window(&n->attr[0], 2)),
                     ms__ex_key("dilations", window(&n->attr[3], 2)),
                     ms__ex_key("offset_x", EX_INT(0))};
    return emit(x, n, nd == 2 ? "Conv2D" : "Conv3D", nd == 2 ? 13 : 16, arg);
}

static int32_t onnx_conv(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]);
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     input(x, n, 2),
                     ms__ex_key("kernel_shape", ms__ex_ints(n->attr[0].n, w->shape + 2)),
                     ms__ex_key("strides", window(&n->attr[0], 0)),
                     ms__ex_key("pads", pads(x, &n->attr[1], &n->attr[2])),
                     ms__ex_key("dilations", window(&n->attr[3], 0)),
                     ms__ex_key("group", EX_INT(n->attr[4].i))};
    return emit(x, n, "Conv", 8, arg);
}

/* dy of [.., shape[k], ..] -> the transposed convolution, whose output has the attribute's shape. */
static int32_t mindir_transposed(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]), *y = aval(x, n->out);
    MsExArg pad = pads(x, &n->attr[2], &n->attr[3]);
    if (n->attr[0].n != 4) return -1;
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     ms__ex_ints(4, y->shape),
                     ms__ex_key("kernel_size", ms__ex_ints(2, w->shape + 2)),
                     ms__ex_key("mode", EX_INT(1)),
                     ms__ex_key("out_channel", EX_INT(w->shape[0])),
                     ms__ex_key("pad", pad),
                     ms__ex_key("pad_mode", EX_TEXT("PAD")),
                     ms__ex_key("format", EX_TEXT("NCHW")),
                     ms__ex_key("pad_list", pad),
                     ms__ex_key("groups", EX_INT(n->attr[5].i)),
                     ms__ex_key("group", EX_INT(n->attr[5].i)),
                     ms__ex_key("stride", window(&n->attr[1], 2)),
                     ms__ex_key("dilation", window(&n->attr[4], 2))};
    return emit(x, n, "Conv2DTranspose", 14, arg);
}

static int32_t onnx_transposed(MsExporter *x, const MsNode *n)
{
    const MsAval *w = aval(x, n->in[1]), *dy = aval(x, n->in[0]), *y = aval(x, n->out);
    int64_t more[MS_MAX_DIM], nd = n->attr[1].n;
    for (int k = 0; k < nd; k++)
        more[k] = y->shape[k + 2] -
                  ((dy->shape[k + 2] - 1) * n->attr[1].v[k] + (w->shape[k + 2] - 1) * n->attr[4].v[k] + 1 -
                   n->attr[2].v[k] - n->attr[3].v[k]);
    MsExArg arg[] = {input(x, n, 0),
                     input(x, n, 1),
                     input(x, n, 2),
                     ms__ex_key("kernel_shape", ms__ex_ints((int)nd, w->shape + 2)),
                     ms__ex_key("strides", window(&n->attr[1], 0)),
                     ms__ex_key("pads", pads(x, &n->attr[2], &n->attr[3])),
                     ms__ex_key("dilations", window(&n->attr[4], 0)),
                     ms__ex_key("output_padding", ms__ex_ints((int)nd, more)),
                     ms__ex_key("group", EX_INT(n->attr[5].i))};
    return emit(x, n, "ConvTranspose", 9, arg);
}

static int32_t mindir_pool(MsExporter *x, const MsNode *n)
{
    int nd = n->attr[0].n;
    bool max = strcmp(n->op->name, "max_pool") == 0;
    if (!max && nd == 2) {
        MsExArg arg[] = {input(x, n, 0), window(&n->attr[0], 0), window(&n->attr[1], 0), EX_INT(2),
                         EX_INT(0)};
        return emit(x, n, "AvgPool*", 5, arg);
    }
    int64_t none[2 * MS_MAX_DIM] = {0};
    MsExArg arg[] = {input(x, n, 0),
                     ms__ex_key("kernel_size", window(&n->attr[0], 2)),
                     ms__ex_key("strides", window(&n->attr[1], 2)),
                     ms__ex_key("pad_mode", EX_TEXT("VALID")),
                     ms__ex_key("format", EX_TEXT(nd == 2 ? "NCHW" : "NCDHW")),
                     ms__ex_key(max ? "pad_list" : "pad", ms__ex_ints(2 * nd, none)),
                     ms__ex_key("ceil_mode", EX_INT(0)),
                     ms__ex_key("pad_list", ms__ex_ints(2 * nd, none)),
                     ms__ex_key("count_include_pad", EX_BOOL(1)),
                     ms__ex_key("divisor_override", EX_INT(0))};
    return emit(x, n, nd == 2 ? "MaxPool" : max ? "MaxPool3D" : "AvgPool3D", nd == 2 ? 5 : max ? 7 : 10, arg);
}

static int32_t onnx_pool(MsExporter *x, const MsNode *n)
{
    bool max = strcmp(n->op->name, "max_pool") == 0;
    if (!max && n->attr[5].i) return -1;
    MsExArg arg[] = {input(x, n, 0), ms__ex_key("kernel_shape", window(&n->attr[0], 0)),
                     ms__ex_key("strides", window(&n->attr[1], 0)),
                     ms__ex_key("pads", pads(x, &n->attr[2], &n->attr[3])),
                     max ? ms__ex_key("dilations", window(&n->attr[4], 0))
                         : ms__ex_key("count_include_pad", EX_INT(n->attr[4].i))};
    return ms__ex_emit(x, max ? "MaxPool" : "AveragePool", 5, arg, 1, aval(x, n->out));
}

/* begin, end and step of each axis; a bit of *first or *last: from the start, to the end of the axis, whatever its size. */
static void bounds(const MsExporter *x, const MsNode *n, int64_t *end, int64_t *first, int64_t *last)
{
    const MsAval *from = aval(x, n->in[0]);
    *first = *last = 0;
    for (int d = 0; d < from->ndim; d++) {
        int64_t begin = n->attr[0].v[d], size = n->attr[1].v[d], step = n->attr[2].v[d];
        bool whole = begin == 0 && step == 1 && (size == from->shape[d] || size == -1);
        end[d] = whole ? from->shape[d] : begin + (size - 1) * step + (step > 0 ? 1 : -1);
        if (whole) *first |= INT64_C(1) << d;
        if (whole || end[d] < 0) *last |= INT64_C(1) << d;
    }
}

static int32_t mindir_slice(MsExporter *x, const MsNode *n)
{
    int64_t end[MS_MAX_DIM], first, last;
    bounds(x, n, end, &first, &last);
    int nd = n->attr[0].n;
    MsExArg arg[] = {input(x, n, 0),
                     window(&n->attr[0], 0),
                     ms__ex_ints(nd, end),
                     window(&n->attr[2], 0),
                     EX_INT(first),
                     EX_INT(last),
                     EX_INT(0),
                     EX_INT(0),
                     EX_INT(0)};
    return emit(x, n, "StridedSlice*", 9, arg);
}

static int32_t onnx_slice(MsExporter *x, const MsNode *n)
{
    int64_t end[MS_MAX_DIM], axis[MS_MAX_DIM], first, last;
    bounds(x, n, end, &first, &last);
    int nd = n->attr[0].n;
    for (int d = 0; d < nd; d++) {
        axis[d] = d;
        if (last >> d & 1) end[d] = n->attr[2].v[d] > 0 ? INT64_MAX : INT64_MIN + 1;
    }
    MsExArg arg[] = {input(x, n, 0), window(&n->attr[0], 0), ms__ex_ints(nd, end), ms__ex_ints(nd, axis),
                     window(&n->attr[2], 0)};
    return emit(x, n, "Slice", 5, arg);
}

static int32_t scalar(MsExporter *x, MsDtype dtype, double v)
{
    int mark = ms_scope_begin();
    MsTensor *t = ms_tensor_scalar(dtype, v);
    int32_t r = t ? ms__ex_constant(x, t) : -1;
    ms_scope_end(mark, NULL, 0);
    return r;
}

static int32_t mindir_pad(MsExporter *x, const MsNode *n)
{
    int nd = n->attr[0].n;
    int64_t v[2 * MS_MAX_DIM];
    for (int d = 0; d < nd; d++) v[2 * d] = n->attr[0].v[nd - 1 - d], v[2 * d + 1] = n->attr[1].v[nd - 1 - d];
    int32_t value = scalar(x, aval(x, n->in[0])->dtype, n->attr[2].f);
    MsExArg arg[] = {input(x, n, 0), ms__ex_ints(2 * nd, v), EX_VALUE(value),
                     ms__ex_key("mode", EX_TEXT("constant")), ms__ex_key("paddings_contiguous", EX_BOOL(1))};
    return value < 0 ? -1 : emit(x, n, "PadV3", 5, arg);
}

static int32_t onnx_pad(MsExporter *x, const MsNode *n)
{
    int32_t value = scalar(x, aval(x, n->in[0])->dtype, n->attr[2].f);
    MsExArg arg[] = {input(x, n, 0), pads(x, &n->attr[0], &n->attr[1]), EX_VALUE(value)};
    return value < 0 ? -1 : emit(x, n, "Pad", 3, arg);
}

static int32_t mindir_matmul(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), EX_BOOL(n->attr[0].i), EX_BOOL(n->attr[1].i)};
    return emit(x, n, aval(x, n->in[0])->ndim == 2 ? "MatMul*" : "BatchMatMul*", 4, arg);
}

static int32_t onnx_matmul(MsExporter *x, const MsNode *n)
{
    const MsAval *a = aval(x, n->in[0]);
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), ms__ex_key("transA", EX_INT(n->attr[0].i)),
                     ms__ex_key("transB", EX_INT(n->attr[1].i))};
    if (a->ndim == 2 && ms_dtype_is_float(a->dtype)) return emit(x, n, "Gemm", 4, arg);
    for (int k = 0; k < 2; k++) {
        if (!n->attr[k].i) continue;
        MsAval t = *aval(x, n->in[k]);
        int64_t perm[MS_MAX_DIM];
        for (int d = 0; d < t.ndim; d++) perm[d] = d < t.ndim - 2 ? d : 2 * t.ndim - 3 - d;
        int64_t last = t.shape[t.ndim - 1];
        t.shape[t.ndim - 1] = t.shape[t.ndim - 2];
        t.shape[t.ndim - 2] = last;
        MsExArg turn[] = {arg[k], ms__ex_key("perm", ms__ex_ints(t.ndim, perm))};
        arg[k].i = ms__ex_emit(x, "Transpose", 2, turn, 1, &t);
        if (arg[k].i < 0) return -1;
    }
    return emit(x, n, "MatMul", 2, arg);
}

/* A reduction; no axes: all of them. */
static MsExArg axes(const MsExporter *x, const MsNode *n)
{
    int64_t all[MS_MAX_DIM];
    if (n->attr[0].kind == MS_ATTR_INTS && n->attr[0].n) return window(&n->attr[0], 0);
    for (int d = 0; d < MS_MAX_DIM; d++) all[d] = d;
    return ms__ex_ints(aval(x, n->in[0])->ndim, all);
}
static int32_t reduction(MsExporter *x, const MsNode *n)
{
    static const char *const name[][3] = {
        {"sum", "ReduceSum*", "ReduceSum"},        {"mean", "ReduceMean*", "ReduceMean"},
        {"prod", "ReduceProd*", "ReduceProd"},     {"reduce_max", "ReduceMax*", "ReduceMax"},
        {"reduce_min", "ReduceMin*", "ReduceMin"}, {"reduce_all", "ReduceAll*", NULL},
        {"reduce_any", "ReduceAny*", NULL}};
    int k = 0;
    while (strcmp(name[k][0], n->op->name) != 0) k++;
    bool mindir = x->format == MS_MODEL_MINDIR;
    MsExArg arg[] = {input(x, n, 0), axes(x, n), EX_BOOL(n->attr[1].i), EX_BOOL(0)};
    if (!mindir) arg[2] = ms__ex_key("keepdims", EX_INT(n->attr[1].i));
    if (!name[k][mindir ? 1 : 2]) return -1;
    return emit(x, n, name[k][mindir ? 1 : 2], mindir && k == 0 ? 4 : 3, arg);
}

/* The index of an extremum, then an axis of size 1 in its place when dimensions are kept. */
static int32_t mindir_arg(MsExporter *x, const MsNode *n)
{
    MsAval y = *aval(x, n->out);
    int64_t axis = n->attr[0].i < 0 ? n->attr[0].i + aval(x, n->in[0])->ndim : n->attr[0].i;
    if (n->attr[1].i) {
        for (int d = (int)axis; d + 1 < y.ndim; d++) y.shape[d] = y.shape[d + 1];
        y.ndim--;
    }
    MsExArg arg[] = {input(x, n, 0), EX_INT(axis), (MsExArg){.kind = MS_EX_DTYPE, .i = MS_INT64}};
    int32_t r = ms__ex_emit(x, strcmp(n->op->name, "argmax") == 0 ? "Argmax*" : "Argmin*", 3, arg, 1, &y);
    MsExArg expand[] = {EX_VALUE(r), EX_INT(axis)};
    return r < 0 || !n->attr[1].i ? r : emit(x, n, "ExpandDims*", 2, expand);
}

/* The norm over the last axes: y of three results. */
static int32_t mindir_layer_norm(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0),        input(x, n, 1),        input(x, n, 2),
                     EX_INT(-n->attr[0].i), EX_INT(-n->attr[0].i), EX_FLOAT(n->attr[1].f)};
    return emit(x, n, "LayerNorm*/3", 6, arg);
}
static int32_t onnx_layer_norm(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2),
                     ms__ex_key("axis", EX_INT(-n->attr[0].i)),
                     ms__ex_key("epsilon", EX_FLOAT(n->attr[1].f))};
    return emit(x, n, "LayerNormalization", 5, arg);
}

static int32_t topk(MsExporter *x, const MsNode *n)
{
    const MsAval *from = aval(x, n->in[0]);
    int64_t axis = n->attr[1].i < 0 ? n->attr[1].i + from->ndim : n->attr[1].i;
    if (x->format == MS_MODEL_ONNX) {
        MsExArg arg[] = {input(x, n, 0), ms__ex_ints(1, &n->attr[0].i), ms__ex_key("axis", EX_INT(axis)),
                         ms__ex_key("largest", EX_INT(n->attr[2].i)),
                         ms__ex_key("sorted", EX_INT(n->attr[3].i))};
        return ms__ex_emit(x, "TopK", 5, arg, 2, aval(x, n->out));
    }
    if (axis != from->ndim - 1 || !n->attr[2].i) return -1;
    MsAval out[2] = {*aval(x, n->out), *aval(x, n->out + 1)};
    out[1].dtype = MS_INT32;
    MsExArg arg[] = {input(x, n, 0), EX_INT(n->attr[0].i), ms__ex_key("sorted", EX_BOOL(n->attr[3].i))};
    int32_t r = ms__ex_emit(x, "TopK/2", 3, arg, 2, out);
    if (r < 0) return -1;
    MsExArg wide[] = {EX_VALUE(r + 1), (MsExArg){.kind = MS_EX_DTYPE, .i = MS_INT64}};
    x->value[n->out + 1] = ms__ex_emit(x, "Cast*", 2, wide, 1, aval(x, n->out + 1));
    return x->value[n->out + 1] < 0 ? -1 : r;
}

static int32_t mindir_sort(MsExporter *x, const MsNode *n)
{
    MsAval out[2] = {*aval(x, n->out), *aval(x, n->out + 1)};
    out[1].dtype = MS_INT32;
    MsExArg arg[] = {input(x, n, 0), ms__ex_key("descending", EX_BOOL(n->attr[1].i)),
                     ms__ex_key("axis", EX_INT(n->attr[0].i))};
    int32_t r = ms__ex_emit(x, "Sort/2", 3, arg, 2, out);
    MsExArg wide[] = {EX_VALUE(r + 1), (MsExArg){.kind = MS_EX_DTYPE, .i = MS_INT64}};
    if (r < 0) return -1;
    x->value[n->out + 1] = ms__ex_emit(x, "Cast*", 2, wide, 1, aval(x, n->out + 1));
    return x->value[n->out + 1] < 0 ? -1 : r;
}

/* Elements put at an index on one axis. */
static int32_t put_along(MsExporter *x, const MsNode *n)
{
    bool add = strcmp(n->attr[1].s, "add") == 0;
    if (!add && strcmp(n->attr[1].s, "set") != 0) return -1;
    MsExArg mindir[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2), EX_INT(n->attr[0].i), EX_INT(add)};
    MsExArg onnx[] = {mindir[0], mindir[1], mindir[2], ms__ex_key("axis", mindir[3]),
                      ms__ex_key("reduction", EX_TEXT(add ? "add" : "none"))};
    return x->format == MS_MODEL_MINDIR ? emit(x, n, "TensorScatterElements*", 5, mindir)
                                        : emit(x, n, "ScatterElements", 5, onnx);
}

static int32_t onnx_scatter(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2),
                     ms__ex_key("reduction", EX_TEXT(strcmp(n->attr[0].s, "add") == 0 ? "add" : "none"))};
    return emit(x, n, "ScatterND", 4, arg);
}
static int32_t mindir_scatter(MsExporter *x, const MsNode *n)
{
    MsExArg arg[] = {input(x, n, 0), input(x, n, 1), input(x, n, 2)};
    return emit(x, n, strcmp(n->attr[0].s, "add") == 0 ? "TensorScatterAdd" : "TensorScatterUpdate", 3, arg);
}

#define BOTH(f) .emit = {f, f}
static const MsExRow rows[] = {
    {.op = "neg", .line = {"Neg* $0", "Neg $0"}},
    {.op = "square", .line = {"Square* $0", NULL}},
    {.op = "sign", .line = {"Sign* $0", "Sign $0"}},
    {.op = "abs", .line = {"Abs* $0", "Abs $0"}},
    {.op = "sqrt", .line = {"Sqrt* $0", "Sqrt $0"}},
    {.op = "rsqrt", .line = {"Rsqrt* $0", NULL}},
    {.op = "reciprocal", .line = {"Reciprocal* $0", "Reciprocal $0"}},
    {.op = "exp", .line = {"Exp* $0", "Exp $0"}},
    {.op = "expm1", .line = {"Expm1* $0", NULL}},
    {.op = "log", .line = {"Log* $0", "Log $0"}},
    {.op = "log1p", .line = {"Log1p* $0", NULL}},
    {.op = "sin", .line = {"Sin* $0", "Sin $0"}},
    {.op = "cos", .line = {"Cos* $0", "Cos $0"}},
    {.op = "tan", .line = {"Tan* $0", "Tan $0"}},
    {.op = "asin", .line = {"Asin* $0", "Asin $0"}},
    {.op = "acos", .line = {"ACos* $0", "Acos $0"}},
    {.op = "atan", .line = {"Atan* $0", "Atan $0"}},
    {.op = "sinh", .line = {"Sinh* $0", "Sinh $0"}},
    {.op = "cosh", .line = {"Cosh* $0", "Cosh $0"}},
    {.op = "tanh", .line = {"Tanh* $0", "Tanh $0"}},
    {.op = "asinh", .line = {"Asinh* $0", "Asinh $0"}},
    {.op = "acosh", .line = {"Acosh* $0", "Acosh $0"}},
    {.op = "atanh", .line = {"Atanh* $0", "Atanh $0"}},
    {.op = "sigmoid", .line = {"Sigmoid* $0", "Sigmoid $0"}},
    {.op = "erf", .line = {"Erf* $0", "Erf $0"}},
    {.op = "erfc", .line = {"Erfc* $0", NULL}},
    {.op = "erfinv", .line = {"Erfinv* $0", NULL}},
    {.op = "relu6", .line = {"ReLU6* $0", NULL}},
    {.op = "relu", .line = {"ReLU* $0", "Relu $0"}},
    {.op = "softplus", .line = {"Softplus $0", "Softplus $0"}},
    {.op = "gelu_tanh", .line = {"GeLU* $0", NULL}},
    {.op = "silu", .line = {"SiLU* $0", NULL}},
    {.op = "mish", .line = {"Mish $0", NULL}},
    {.op = "hswish", .line = {"HSwish* $0", "HardSwish $0"}},
    {.op = "hsigmoid", .line = {"HSigmoid* $0", "HardSigmoid $0 alpha=#0.16666666666666666 beta=#0.5"}},
    {.op = "elu", .line = {NULL, "Elu $0 alpha=alpha"}},
    {.op = "leaky_relu", .line = {NULL, "LeakyRelu $0 alpha=slope"}},
    {.op = "floor", .line = {"Floor* $0", "Floor $0"}},
    {.op = "ceil", .line = {"Ceil* $0", "Ceil $0"}},
    {.op = "round", .line = {"Round* $0 #i0", "Round $0"}},
    {.op = "trunc", .line = {"Trunc* $0", NULL}},
    {.op = "is_nan", .line = {"IsNan $0", "IsNaN $0"}},
    {.op = "is_inf", .line = {"IsInf $0", "IsInf $0"}},
    {.op = "is_finite", .line = {"IsFinite* $0", NULL}},
    {.op = "logical_not", .line = {"LogicalNot* $0", "Not $0"}},
    {.op = "bitwise_not", .line = {"Invert $0", "BitwiseNot $0"}},
    {.op = "add", .line = {"Add* $0 $1", "Add $0 $1"}},
    {.op = "sub", .line = {"Sub* $0 $1", "Sub $0 $1"}},
    {.op = "mul", .line = {"Mul* $0 $1", "Mul $0 $1"}},
    {.op = "div", .line = {"Div* $0 $1", "Div $0 $1"}},
    {.op = "floor_div", .line = {"FloorDiv* $0 $1", NULL}},
    {.op = "mod", .line = {"FloorMod* $0 $1", NULL}},
    {.op = "fmod", .line = {"TruncateMod $0 $1", "Mod $0 $1 fmod=#i1"}},
    {.op = "pow", .line = {"Pow* $0 $1", "Pow $0 $1"}},
    {.op = "maximum", .line = {"Maximum* $0 $1", "Max $0 $1"}},
    {.op = "minimum", .line = {"Minimum* $0 $1", "Min $0 $1"}},
    {.op = "clamp_min", .line = {"Maximum* $0 $1", "Max $0 $1"}},
    {.op = "clamp_max", .line = {"Minimum* $0 $1", "Min $0 $1"}},
    {.op = "atan2", .line = {"Atan2* $0 $1", NULL}},
    {.op = "eq", .line = {"Equal* $0 $1", "Equal $0 $1"}},
    {.op = "ne", .line = {"NotEqual* $0 $1", NULL}},
    {.op = "lt", .line = {"Less* $0 $1", "Less $0 $1"}},
    {.op = "le", .line = {"LessEqual* $0 $1", "LessOrEqual $0 $1"}},
    {.op = "gt", .line = {"Greater* $0 $1", "Greater $0 $1"}},
    {.op = "ge", .line = {"GreaterEqual* $0 $1", "GreaterOrEqual $0 $1"}},
    {.op = "logical_and", .line = {"LogicalAnd* $0 $1", "And $0 $1"}},
    {.op = "logical_or", .line = {"LogicalOr* $0 $1", "Or $0 $1"}},
    {.op = "logical_xor", .line = {"LogicalXor* $0 $1", "Xor $0 $1"}},
    {.op = "bitwise_and", .line = {"BitwiseAnd $0 $1", "BitwiseAnd $0 $1"}},
    {.op = "bitwise_or", .line = {"BitwiseOr $0 $1", "BitwiseOr $0 $1"}},
    {.op = "bitwise_xor", .line = {"BitwiseXor $0 $1", "BitwiseXor $0 $1"}},
    {.op = "cast", .line = {"Cast* $0 dtype", "Cast $0 to=dtype"}},
    {.op = "where", .line = {"Select* $0 $1 $2", "Where $0 $1 $2"}},
    {.op = "sum", .line = {NULL}, BOTH(reduction)},
    {.op = "mean", .line = {NULL}, BOTH(reduction)},
    {.op = "prod", .line = {NULL}, BOTH(reduction)},
    {.op = "reduce_max", .line = {NULL}, BOTH(reduction)},
    {.op = "reduce_min", .line = {NULL}, BOTH(reduction)},
    {.op = "reduce_all", .line = {NULL}, .emit = {reduction, NULL}},
    {.op = "reduce_any", .line = {NULL}, .emit = {reduction, NULL}},
    {.op = "argmax", .line = {NULL, "ArgMax $0 axis=axis keepdims=keepdims"}, .emit = {mindir_arg, NULL}},
    {.op = "argmin", .line = {NULL, "ArgMin $0 axis=axis keepdims=keepdims"}, .emit = {mindir_arg, NULL}},
    {.op = "softmax", .line = {"Softmax* $0 (axis)", "Softmax $0 axis=axis"}},
    {.op = "log_softmax", .line = {"LogSoftmax* $0 axis", "LogSoftmax $0 axis=axis"}},
    {.op = "reshape", .line = {"Reshape* $0 shape", "Reshape $0 shape"}},
    {.op = "transpose", .line = {"Transpose* $0 perm", "Transpose $0 perm=perm"}},
    {.op = "broadcast_to", .line = {"BroadcastTo* $0 shape", "Expand $0 shape"}},
    {.op = "slice", .line = {NULL}, .emit = {mindir_slice, onnx_slice}},
    {.op = "flip", .line = {"ReverseV2* $0 axis", NULL}},
    {.op = "pad", .line = {NULL}, .emit = {mindir_pad, onnx_pad}},
    {.op = "concat", .line = {"Concat* $* axis", "Concat $* axis=axis"}},
    {.op = "gather", .line = {"Gather* $0 $1 axis #i0", "Gather $0 $1 axis=axis"}},
    {.op = "take_along", .line = {"GatherD* $0 axis $1", "GatherElements $0 $1 axis=axis"}},
    {.op = "gather_nd", .line = {"GatherNd* $0 $1", "GatherND $0 $1"}},
    {.op = "scatter_nd", .line = {NULL}, .emit = {mindir_scatter, onnx_scatter}},
    {.op = "cumsum",
     .line = {"CumSum* $0 axis exclusive reverse", "CumSum $0 axis exclusive=exclusive reverse=reverse"}},
    {.op = "topk", .line = {NULL}, BOTH(topk)},
    {.op = "matmul", .line = {NULL}, .emit = {mindir_matmul, onnx_matmul}},
    {.op = "conv", .line = {NULL}, .emit = {mindir_conv, onnx_conv}},
    {.op = "conv_input_grad", .line = {NULL}, .emit = {mindir_transposed, onnx_transposed}},
    {.op = "max_pool", .line = {NULL}, .emit = {mindir_pool, onnx_pool}},
    {.op = "avg_pool", .line = {NULL}, .emit = {mindir_pool, onnx_pool}},
    {.op = "batch_norm_apply",
     .line = {"BatchNorm*/5 $0 $1 $2 $3 $4 #F eps #0.1 #i0",
              "BatchNormalization $0 $1 $2 $3 $4 epsilon=eps"}},
    {.op = "layer_norm", .line = {NULL}, .emit = {mindir_layer_norm, onnx_layer_norm}},
    {.op = "adaptive_avg_pool", .line = {NULL}, .emit = {mindir_adaptive, NULL}},
    {.op = "left_shift", .line = {"LeftShift $0 $1", NULL}},
    {.op = "right_shift", .line = {"RightShift $0 $1", NULL}},
    {.op = "lgamma", .line = {"Lgamma $0", NULL}},
    {.op = "digamma", .line = {"Digamma $0", NULL}},
    {.op = "real", .line = {"Real* $0", NULL}},
    {.op = "imag", .line = {"Imag* $0", NULL}},
    {.op = "conj", .line = {"Conj* $0", NULL}},
    {.op = "cumprod", .line = {"CumProd* $0 axis exclusive reverse", NULL}},
    {.op = "cond", .line = {NULL}, .emit = {ms__mindir_control, NULL}},
    {.op = "while", .line = {NULL}, .emit = {ms__mindir_control, NULL}},
    {.op = "sort", .line = {NULL}, .emit = {mindir_sort, NULL}},
    {.op = "put_along", .line = {NULL}, BOTH(put_along)},
};

const MsExRow *ms__ex_row(const MsOp *op)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].op, op->name) == 0) return &rows[k];
    return NULL;
}
