/* matmul.c - matrix products. `matmul` is numpy's on the last two axes with batch broadcasting; transposition
 * is an attribute, so that gradients pass operands as they lie in memory. `linear` is the layer form x W^T +
 * b on any number of leading axes. Both are bilinear: their gradients are themselves. Refused: 1-d operands
 * in the primitive (numpy's special cases belong to the API row, where they are two reshapes). */
#include "mindspore_ops.h"
#include "op/op.h"

#include <string.h>

enum {
    TRANSPOSE_A,
    TRANSPOSE_B
};

static MsStatus infer_matmul(MsInfer *c)
{
    const MsAval *a = &c->in[0], *b = &c->in[1];
    if (a->ndim < 2 || b->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'matmul', 'a' and 'b' must have at least 2 dimensions, but got %s and %s.",
                       ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
    bool ta = c->attr[TRANSPOSE_A].i, tb = c->attr[TRANSPOSE_B].i;
    int64_t m = a->shape[a->ndim - 2 + ta], ka = a->shape[a->ndim - 1 - ta];
    int64_t kb = b->shape[b->ndim - 2 + tb], n = b->shape[b->ndim - 1 - tb];
    if (ka != kb)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'matmul' the input dimensions must be equal, but got 'a_col': %lld and 'b_row': %lld "
            "(shapes %s and %s).",
            (long long)ka, (long long)kb, ms__shape_text(a->ndim, a->shape),
            ms__shape_text(b->ndim, b->shape));
    MsAval ba = *a, bb = *b, *y = &c->out[0];
    ba.ndim -= 2;
    bb.ndim -= 2;
    MS_TRY(ms__broadcast(c->op, &ba, &bb, y));
    y->shape[y->ndim] = m;
    y->shape[y->ndim + 1] = n;
    y->ndim += 2;
    return MS_OK;
}

static MsTensor *conj_of(MsTensor *x)
{
    return x && ms_dtype_is_complex(ms_tensor_dtype(x)) ? ms_conj(x) : x;
}

static MsStatus vjp_matmul(MsVjp *c)
{
    bool ta = c->attr[TRANSPOSE_A].i, tb = c->attr[TRANSPOSE_B].i;
    MsTensor *g = c->ct[0], *a = conj_of(c->in[0]), *b = conj_of(c->in[1]);
    if (c->want[0]) c->grad[0] = ta ? ms_matmul(b, g, tb, true) : ms_matmul(g, b, false, !tb);
    if (c->want[1]) c->grad[1] = tb ? ms_matmul(g, a, true, ta) : ms_matmul(a, g, !ta, false);
    return MS_OK;
}

/* x with its batch axis in front and `rank` axes behind it, ones inserted between. */
static MsTensor *batch_front(MsTensor *x, int axis, int rank)
{
    int64_t v[MS_MAX_DIM];
    int n = 0;
    v[n++] = axis;
    for (int d = 0; d < ms_tensor_ndim(x); d++)
        if (d != axis) v[n++] = d;
    if (axis != 0) x = ms_transpose(x, (MsInts){n, v});
    if (!x || n == rank + 1) return x;
    if (rank + 1 > MS_MAX_DIM)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'matmul', a batched operand would have more than %d dimensions.",
                            MS_MAX_DIM);
    const int64_t *s = ms_tensor_shape(x);
    v[0] = s[0];
    for (int d = 1; d <= rank; d++) v[d] = d <= rank + 1 - n ? 1 : s[d - (rank + 1 - n)];
    return ms_reshape(x, (MsInts){rank + 1, v});
}

static MsStatus batch_matmul(MsBatch *c)
{
    int rank = 0;
    for (int i = 0; i < 2; i++) {
        int r = ms_tensor_ndim(c->in[i]) - (c->axis[i] >= 0);
        if (r > rank) rank = r;
    }
    MsTensor *x[2];
    for (int i = 0; i < 2; i++) x[i] = c->axis[i] >= 0 ? batch_front(c->in[i], c->axis[i], rank) : c->in[i];
    c->out[0] = ms_matmul(x[0], x[1], c->attr[TRANSPOSE_A].i, c->attr[TRANSPOSE_B].i);
    c->out_axis[0] = 0;
    return c->out[0] ? MS_OK : ms_error()->code;
}

MS_OP(
    matmul, .sig = "matmul(a: num, b: a, *, transpose_a: bool, transpose_b: bool) -> a",
    .infer = infer_matmul, .vjp = vjp_matmul, .batch = batch_matmul,
    .sample =
        "f32[3,4] f32[4,5] transpose_a=0 transpose_b=0; f32[2,4,3] f32[4,5] transpose_a=1 transpose_b=0;"
        "f32[3,4] f32[2,1,5,4] transpose_a=0 transpose_b=1; bf16[4,3] bf16[5,4] transpose_a=1 transpose_b=1;"
        "f32[0,4] f32[4,5] transpose_a=0 transpose_b=0; f32[3,0] f32[0,5] transpose_a=0 transpose_b=0;"
        "i64[3,4] i64[4,2] transpose_a=0 transpose_b=0; f64[40,50] f64[50,60] transpose_a=0 transpose_b=0; "
        "c64[2,3] c64[2,4] transpose_a=1 transpose_b=0");

/* ---- linear ---- */

static MsStatus infer_linear(MsInfer *c)
{
    const MsAval *x = &c->in[0], *w = &c->in[1], *b = &c->in[2];
    if (w->ndim != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'linear', 'w' must have 2 dimensions, but got shape %s.",
                       ms__shape_text(w->ndim, w->shape));
    if (x->ndim < 1 || x->shape[x->ndim - 1] != w->shape[1])
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'linear', the last axis of 'x' must be %lld as in 'w' of shape %s, but got 'x' of shape %s.",
            (long long)w->shape[1], ms__shape_text(w->ndim, w->shape), ms__shape_text(x->ndim, x->shape));
    if (b->dtype != MS_DTYPE_NONE && (b->ndim != 1 || b->shape[0] != w->shape[0]))
        return MS_FAIL(MS_ERROR_VALUE, "For 'linear', 'bias' must have shape (%lld,), but got %s.",
                       (long long)w->shape[0], ms__shape_text(b->ndim, b->shape));
    MsDtype dtype = c->out[0].dtype;
    c->out[0] = *x;
    c->out[0].dtype = dtype;
    c->out[0].shape[x->ndim - 1] = w->shape[0];
    return MS_OK;
}

/* x as a matrix: leading axes folded. */
static MsTensor *rows(MsTensor *x)
{
    int nd = x ? ms_tensor_ndim(x) : 2;
    if (nd == 2) return x;
    int64_t n = 1;
    for (int d = 0; d < nd - 1; d++) n *= ms_tensor_shape(x)[d];
    return ms_reshape(x, MS_INTS(n, ms_tensor_shape(x)[nd - 1]));
}

static MsStatus vjp_linear(MsVjp *c)
{
    MsTensor *x = c->in[0], *w = c->in[1], *g = rows(c->ct[0]);
    if (c->want[0]) {
        MsTensor *gx = ms_matmul(g, w, false, false);
        if (ms_tensor_ndim(x) != 2) gx = ms_reshape(gx, (MsInts){ms_tensor_ndim(x), ms_tensor_shape(x)});
        c->grad[0] = gx;
    }
    if (c->want[1]) c->grad[1] = ms_matmul(g, rows(x), true, false);
    if (c->in[2] && c->want[2]) c->grad[2] = ms_sum(g, MS_INTS(0), false);
    return MS_OK;
}

static MsStatus batch_linear(MsBatch *c)
{
    MsTensor *x =
        c->axis[0] >= 0 ? batch_front(c->in[0], c->axis[0], ms_tensor_ndim(c->in[0]) - 1) : c->in[0];
    c->out_axis[0] = 0;
    if (c->axis[1] < 0 && (!c->in[2] || c->axis[2] < 0)) {
        c->out[0] = ms_linear(x, c->in[1], c->in[2]);
        return c->out[0] ? MS_OK : ms_error()->code;
    }
    /* Weights of their own per example: a batched product, with x as [.., m, in] and the bias as [.., 1,
     * out]. */
    int nx = ms_tensor_ndim(c->in[0]) - (c->axis[0] >= 0), rank = nx > 2 ? nx : 2;
    int64_t v[MS_MAX_DIM];
    if (nx == 1) {
        const int64_t *s = ms_tensor_shape(x);
        if (c->axis[0] >= 0)
            x = ms_reshape(x, MS_INTS(s[0], 1, s[1]));
        else
            x = ms_reshape(x, MS_INTS(1, s[0]));
    }
    MsTensor *w = c->axis[1] >= 0 ? batch_front(c->in[1], c->axis[1], rank) : c->in[1];
    MsTensor *y = ms_matmul(x, w, false, true);
    if (c->in[2]) {
        MsTensor *b = c->axis[2] >= 0 ? batch_front(c->in[2], c->axis[2], rank) : c->in[2];
        y = ms_add(y, b);
    }
    if (y && c->axis[0] < 0 && c->axis[1] < 0) c->out_axis[0] = 0;
    if (y && nx == 1) {
        v[0] = ms_tensor_shape(y)[0];
        v[1] = ms_tensor_shape(y)[2];
        y = ms_reshape(y, (MsInts){2, v});
    }
    c->out[0] = y;
    return y ? MS_OK : ms_error()->code;
}

MS_OP(linear, .sig = "linear(x: float, w: x, bias: x?) -> x", .infer = infer_linear, .vjp = vjp_linear,
      .batch = batch_linear,
      .sample = "f32[3,4] f32[5,4] f32[5]; f32[2,3,4] f32[5,4] none; f32[4] f32[5,4] f32[5]; bf16[3,4] "
                "bf16[5,4] bf16[5];"
                "f32[1,70] f32[9,70] f32[9]; f32[0,4] f32[5,4] f32[5]; f32[3,0] f32[5,0] f32[5]");
