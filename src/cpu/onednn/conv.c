/* conv.c - convolutions by oneDNN. Activations are computed channels-last: a tensor that lies so passes as it
 * is, any other one is reordered on the way, and results get channels-last strides unless the caller preset
 * them; so a network pays for one reorder at its first layer. Weights keep the caller's layout outside and
 * the primitive's own inside. Refused: computing row-major activations directly, which this library does by
 * unfolding them. */
#include "op/conv.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/onednn/dnn.h"

#include "core/thread.h"

#include <string.h>

extern const MsKernel ms_kernel_conv_loop, ms_kernel_conv_input_grad_loop, ms_kernel_conv_weight_grad_loop;

enum {
    FORWARD,
    INPUT_GRAD,
    WEIGHT_GRAD
};

typedef struct Problem {
    int which;
    const MsAttr *at;
    MsTensor *x, *w, *y, *bias; /* any of x, w, y is the result */
} Problem;

/* Descriptor of activations as the primitive sees them: channels-last of t's shape, with exactly those
 * strides also for axes of size one, since implementations recognise the layout by them. */
static dnnl_status_t last_md(dnnl_memory_desc_t *md, const MsTensor *t)
{
    dnnl_dims_t dims = {0}, strides = {0};
    memcpy(dims, t->shape, (size_t)t->ndim * sizeof *dims);
    ms__channels_last(t->ndim, t->shape, strides);
    return dnnl_memory_desc_create_with_strides(md, t->ndim, dims, ms__dnn_dtype((MsDtype)t->dtype), strides);
}

/* Weights as oneDNN numbers them: a groups axis in front when there are several. */
static int weight_dims(const Problem *p, const MsTensor *w, int64_t *dims, int64_t *strides)
{
    int64_t g = p->at[GROUPS].i;
    int n = 0;
    if (g > 1) {
        dims[n] = g;
        strides[n++] = w->strides[0] * (w->shape[0] / g);
    }
    dims[n] = w->shape[0] / g;
    strides[n++] = w->strides[0];
    for (int d = 1; d < w->ndim; d++) {
        dims[n] = w->shape[d];
        strides[n++] = w->strides[d];
    }
    return n;
}

/* Layouts of the caller into b, in the order of data pointers; `any` for the weights inside. */
static dnnl_status_t add_arg(MsDnnBuild *b, int arg, dnnl_query_t query, bool output, dnnl_memory_desc_t md)
{
    b->arg[b->n_arg].arg = arg;
    b->arg[b->n_arg].query = query;
    b->arg[b->n_arg].output = output;
    b->arg[b->n_arg].md = md;
    b->n_arg++;
    return dnnl_success;
}

static dnnl_status_t tensor_arg(MsDnnBuild *b, int arg, dnnl_query_t query, bool output, const MsTensor *t)
{
    dnnl_memory_desc_t md;
    dnnl_status_t st = t->ndim > 2 && ms__is_channels_last(t)
                           ? last_md(&md, t)
                           : ms__dnn_md(&md, (MsDtype)t->dtype, t->ndim, t->shape, t->strides);
    return st == dnnl_success ? add_arg(b, arg, query, output, md) : st;
}

static dnnl_status_t weight_arg(MsDnnBuild *b, const Problem *p, int arg, dnnl_query_t query, bool output)
{
    int64_t dims[MS_MAX_DIM], strides[MS_MAX_DIM];
    int n = weight_dims(p, p->w, dims, strides);
    dnnl_memory_desc_t md;
    dnnl_status_t st = ms__dnn_md(&md, (MsDtype)p->w->dtype, n, dims, strides);
    return st == dnnl_success ? add_arg(b, arg, query, output, md) : st;
}

typedef struct Geometry {
    dnnl_dims_t stride, dilation, low, high;
} Geometry;

/* oneDNN counts dilation from zero, and wants the high padding that makes the sizes come out exactly. */
static Geometry geometry(const Problem *p)
{
    Geometry g = {0};
    for (int d = 0; d < p->x->ndim - 2; d++) {
        g.stride[d] = p->at[STRIDE].v[d];
        g.dilation[d] = p->at[DILATION].v[d] - 1;
        g.low[d] = p->at[LOW].v[d];
        int64_t window = p->at[DILATION].v[d] * (p->w->shape[d + 2] - 1) + 1;
        g.high[d] = (p->y->shape[d + 2] - 1) * g.stride[d] + window - p->x->shape[d + 2] - g.low[d];
    }
    return g;
}

static dnnl_status_t create(const Problem *p, dnnl_engine_t engine, const_dnnl_primitive_attr_t attr,
                            MsDnnBuild *b, const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t w,
                            const_dnnl_memory_desc_t bias, const_dnnl_memory_desc_t y)
{
    Geometry g = geometry(p);
    dnnl_primitive_desc_t forward;
    dnnl_status_t st = dnnl_convolution_forward_primitive_desc_create(
        &forward, engine, dnnl_forward_training, dnnl_convolution_direct, x, w, bias, y, g.stride, g.dilation,
        g.low, g.high, attr);
    if (st != dnnl_success || p->which == FORWARD) {
        b->pd = st == dnnl_success ? forward : NULL;
        return st;
    }
    if (p->which == INPUT_GRAD)
        st = dnnl_convolution_backward_data_primitive_desc_create(&b->pd, engine, dnnl_convolution_direct, x,
                                                                  w, y, g.stride, g.dilation, g.low, g.high,
                                                                  forward, attr);
    else
        st = dnnl_convolution_backward_weights_primitive_desc_create(&b->pd, engine, dnnl_convolution_direct,
                                                                     x, w, NULL, y, g.stride, g.dilation,
                                                                     g.low, g.high, forward, attr);
    dnnl_primitive_desc_destroy(forward);
    return st;
}

static dnnl_status_t args(const Problem *p, MsDnnBuild *b)
{
    dnnl_status_t st;
    if (p->which == FORWARD) {
        st = tensor_arg(b, DNNL_ARG_SRC, dnnl_query_src_md, false, p->x);
        if (st == dnnl_success) st = weight_arg(b, p, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, false);
        if (st == dnnl_success && p->bias)
            st = tensor_arg(b, DNNL_ARG_BIAS, dnnl_query_weights_md, false, p->bias);
        if (st == dnnl_success) st = tensor_arg(b, DNNL_ARG_DST, dnnl_query_dst_md, true, p->y);
    } else if (p->which == INPUT_GRAD) {
        st = tensor_arg(b, DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, false, p->y);
        if (st == dnnl_success) st = weight_arg(b, p, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, false);
        if (st == dnnl_success) st = tensor_arg(b, DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, true, p->x);
    } else {
        st = tensor_arg(b, DNNL_ARG_SRC, dnnl_query_src_md, false, p->x);
        if (st == dnnl_success) st = tensor_arg(b, DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, false, p->y);
        if (st == dnnl_success)
            st = weight_arg(b, p, DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, true);
    }
    return st;
}

/* Implementations by matrix products unfold x with zeros around it, which must not meet an infinity among
 * the weights (or in dy, for their gradient). */
static bool unfolds(const MsDnnBuild *b)
{
    const char *name = NULL;
    dnnl_primitive_desc_query(b->pd, dnnl_query_impl_info_str, 0, (void *)&name);
    return name && strstr(name, "gemm");
}

static dnnl_status_t build(const void *ctx, dnnl_engine_t engine, const_dnnl_primitive_attr_t attr,
                           MsDnnBuild *b)
{
    const Problem *p = ctx;
    int64_t dims[MS_MAX_DIM], strides[MS_MAX_DIM];
    dnnl_dims_t wd = {0};
    dnnl_memory_desc_t x = NULL, w = NULL, y = NULL, bias = NULL;
    int n = weight_dims(p, p->w, dims, strides);
    for (int d = 0; d < n; d++) wd[d] = dims[d];
    dnnl_status_t st = args(p, b);
    if (st == dnnl_success) st = last_md(&x, p->x);
    if (st == dnnl_success) st = last_md(&y, p->y);
    if (st == dnnl_success)
        st = dnnl_memory_desc_create_with_tag(&w, n, wd, ms__dnn_dtype((MsDtype)p->w->dtype),
                                              dnnl_format_tag_any);
    if (st == dnnl_success && p->bias)
        st = ms__dnn_md(&bias, (MsDtype)p->bias->dtype, 1, p->bias->shape, p->bias->strides);
    if (st == dnnl_success) st = create(p, engine, attr, b, x, w, bias, y);
    if (st == dnnl_success) b->pads = p->which != INPUT_GRAD && unfolds(b);
    if (x) dnnl_memory_desc_destroy(x);
    if (y) dnnl_memory_desc_destroy(y);
    if (w) dnnl_memory_desc_destroy(w);
    if (bias) dnnl_memory_desc_destroy(bias);
    return st;
}

/* ---- operands ---- */

/* Strides that a reorder reads well: no broadcast, none negative; in `dtype`. */
static MsTensor *usable(MsTensor *t, MsDtype dtype)
{
    if (!t) return NULL;
    bool good = t->dtype == dtype;
    for (int d = 0; d < t->ndim; d++) good &= t->shape[d] == 1 || t->strides[d] > 0;
    if (good) return t;
    int64_t strides[MS_MAX_DIM];
    bool last = t->ndim > 2 && t->shape[1] > 1 && t->strides[1] == 1;
    ms__channels_last(t->ndim, t->shape, strides);
    MsTensor *u = ms__tensor_dense(dtype, t->ndim, t->shape, last ? strides : NULL);
    return u && ms__copy(u, t) == MS_OK ? u : NULL;
}

static MsStatus execute(Problem *p, const MsTensor *weights, bool *unsupported)
{
    MsDnnKey key;
    ms__dnn_key(&key, MS_DNN_CONV + p->which);
    ms__dnn_key_tensor(&key, p->x);
    ms__dnn_key_tensor(&key, p->w);
    ms__dnn_key_tensor(&key, p->y);
    ms__dnn_key_int(&key, p->bias != NULL);
    for (int k = STRIDE; k <= DILATION; k++)
        if (k != HIGH) ms__dnn_key_ints(&key, p->x->ndim - 2, p->at[k].v);
    ms__dnn_key_int(&key, p->at[GROUPS].i);
    void *data[4];
    int n = 0;
    const MsTensor *order[3][4] = {
        {p->x, p->w, p->bias, p->y}, {p->y, p->w, NULL, p->x}, {p->x, p->y, NULL, p->w}};
    for (int k = 0; k < 4; k++)
        if (order[p->which][k]) data[n++] = order[p->which][k]->data;
    return ms__dnn_run(&key, build, p, data, weights, unsupported);
}

typedef struct BiasJob {
    MsTensor *y;
    const float *bias;
} BiasJob;

/* Adds a bias to batch entries; y is float32 and channels-last or row-major. */
static void bias_range(void *ctx, int64_t begin, int64_t end)
{
    const BiasJob *job = ctx;
    const MsTensor *y = job->y;
    int64_t c = y->shape[1], plane = 1;
    for (int d = 2; d < y->ndim; d++) plane *= y->shape[d];
    bool last = c > 1 && ms__is_channels_last(y);
    for (int64_t n = begin; n < end; n++) {
        float *at = (float *)y->data + n * c * plane;
        if (last)
            for (int64_t i = 0; i < plane; i++, at += c)
                for (int64_t k = 0; k < c; k++) at[k] += job->bias[k];
        else
            for (int64_t k = 0; k < c; k++, at += plane)
                for (int64_t i = 0; i < plane; i++) at[i] += job->bias[k];
    }
}

/* Strides of activations of output 0, NULL for row-major. */
static const int64_t *layout(const MsCall *c, int which, int64_t *last)
{
    ms__channels_last(c->aval[0].ndim, c->aval[0].shape, last);
    return which != WEIGHT_GRAD && c->aval[0].shape[1] > 1 ? last : NULL;
}

static MsStatus compute(MsCall *c, int which, MsTensor *out, MsDtype dtype, bool *unsupported)
{
    int64_t last[MS_MAX_DIM];
    bool late_bias = which == INPUT_GRAD && c->in[2];
    if (late_bias) dtype = MS_FLOAT32;
    MsTensor *a = usable(c->in[0], dtype), *b = usable(c->in[1], dtype), *to = out;
    MsTensor *bias = which != WEIGHT_GRAD && c->in[2] ? ms__dense_as(c->in[2], dtype) : NULL;
    if (out->dtype != dtype || (late_bias && !out->contiguous && !ms__is_channels_last(out)))
        to = ms__tensor_dense(dtype, out->ndim, out->shape, layout(c, which, last));
    if (!a || !b || !to || (!bias && which != WEIGHT_GRAD && c->in[2])) return ms_error()->code;
    Problem p = {which, c->attr + (which != FORWARD), a, b, to, which == FORWARD ? bias : NULL};
    if (which == INPUT_GRAD) p.x = to, p.y = a;
    if (which == WEIGHT_GRAD) p.w = to, p.y = b;
    MS_TRY(execute(&p, which != WEIGHT_GRAD && b == c->in[1] ? b : NULL, unsupported));
    *unsupported = *unsupported || ms__dnn_doubtful(to);
    if (*unsupported) return MS_OK;
    if (late_bias) {
        BiasJob job = {to, (const float *)bias->data};
        ms__parallel_for(to->shape[0], 1 + 32768 * to->shape[0] / to->numel, bias_range, &job);
    }
    return ms__dense_done(out, to);
}

static MsStatus run(MsCall *c, int which, const MsKernel *reference)
{
    int64_t last[MS_MAX_DIM];
    MsTensor *out = ms__out_strided(c, 0, layout(c, which, last));
    return out ? ms__dnn_call(c, which, out, compute, reference) : ms_error()->code;
}

static MsStatus run_conv(MsCall *c)
{
    return run(c, FORWARD, &ms_kernel_conv_loop);
}
static MsStatus run_input_grad(MsCall *c)
{
    return run(c, INPUT_GRAD, &ms_kernel_conv_input_grad_loop);
}
static MsStatus run_weight_grad(MsCall *c)
{
    return run(c, WEIGHT_GRAD, &ms_kernel_conv_weight_grad_loop);
}

static const char *ok(const MsCall *c)
{
    if (ms__dnn_dtype(c->aval[0].dtype) == dnnl_data_type_undef) return "dtype";
    for (int d = 0; d < c->aval[0].ndim; d++)
        if (c->aval[0].shape[d] == 0) return "empty";
    if (c->in[0]->numel == 0 || c->in[1]->numel == 0) return "empty";
    return NULL;
}

MS_KERNEL(conv, 50, onednn, ok, run_conv);
MS_KERNEL(conv_input_grad, 50, onednn, ok, run_input_grad);
MS_KERNEL(conv_weight_grad, 50, onednn, ok, run_weight_grad);
