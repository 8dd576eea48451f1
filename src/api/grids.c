/* grids.c - rows that move spatial positions: sliding blocks and their sum, sampling on a grid, unpooling, blocks
 * between space and batch, boxes. Each makes an index here and takes or adds with it, so gradients are the rules of
 * gather and scatter. */
#include "api/args.h"

#include <math.h>
#include <string.h>
static MsTensor *constant(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(dtype_of(like), v) : NULL;
}
static MsTensor *plus(MsTensor *x, double v)
{
    return ms_add(x, constant(x, v));
}
static MsTensor *times(MsTensor *x, double v)
{
    return ms_mul(x, constant(x, v));
}

/* ---- sliding blocks ---- */

typedef struct Blocks {
    int64_t kernel[2], dilation[2], padding[2], stride[2], size[2], count[2];
} Blocks;

static MsStatus two(const char *op, const char *name, const MsArg *a, int64_t least, int64_t v[2])
{
    int64_t buf[MS_MAX_DIM];
    MsInts s = ms__arg_var(op, a, buf);
    if (s.n == -2) return ms_error()->code;
    if (s.n < 1 || s.n > 2 || s.v[0] < least || s.v[s.n - 1] < least || s.v[0] > INT32_MAX ||
        s.v[s.n - 1] > INT32_MAX)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', '%s' must be one or two integers of at least %lld and below 2^31.", op,
                       name, (long long)least);
    v[0] = s.v[0], v[1] = s.v[s.n - 1];
    return MS_OK;
}
static MsStatus blocks(const char *op, MsApiCall *c, int kernel, int dilation, int padding, int stride,
                       Blocks *b)
{
    MS_TRY(two(op, "kernel_size", ARG(kernel), 1, b->kernel));
    MS_TRY(two(op, "dilation", ARG(dilation), 1, b->dilation));
    MS_TRY(two(op, "padding", ARG(padding), 0, b->padding));
    MS_TRY(two(op, "stride", ARG(stride), 1, b->stride));
    for (int d = 0; d < 2; d++) {
        b->count[d] = b->size[d] + 2 * b->padding[d] - b->dilation[d] * (b->kernel[d] - 1) - 1;
        if (b->count[d] < 0)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', the blocks are larger than the padded size %lld of axis %d.", op,
                           (long long)(b->size[d] + 2 * b->padding[d]), d);
        b->count[d] = b->count[d] / b->stride[d] + 1;
    }
    return MS_OK;
}
/* The place in the padded plane of every element of every block: [kernel, count], row-major. */
static MsTensor *places(const Blocks *b)
{
    int64_t k = b->kernel[0] * b->kernel[1], l = b->count[0] * b->count[1], n;
    if (__builtin_mul_overflow(k, l, &n))
        return MS_FAIL_NULL(MS_ERROR_MEMORY, "Out of memory: %lld blocks of %lld elements.", (long long)l,
                            (long long)k);
    int64_t width = b->size[1] + 2 * b->padding[1];
    MsTensor *index = ms_tensor_empty(MS_INT64, 1, &n);
    int64_t *to = index ? ms_tensor_data(index) : NULL;
    for (int64_t i = 0; i < k && to; i++)
        for (int64_t j = 0; j < l; j++) {
            int64_t y = i / b->kernel[1] * b->dilation[0] + j / b->count[1] * b->stride[0];
            int64_t x = i % b->kernel[1] * b->dilation[1] + j % b->count[1] * b->stride[1];
            to[i * l + j] = y * width + x;
        }
    return index;
}

/* x [n, c, h, w] -> [n, c, blocks' elements, blocks]. */
static MsTensor *unfold(MsTensor *x, const Blocks *b)
{
    int64_t n = x->shape[0], ch = x->shape[1], k = b->kernel[0] * b->kernel[1], l = b->count[0] * b->count[1];
    MsInts pad = MS_INTS(0, 0, b->padding[0], b->padding[1]);
    if (b->padding[0] || b->padding[1]) x = ms_pad(x, pad, pad, 0);
    x = x ? ms_reshape(x, MS_INTS(n, ch, x->shape[2] * x->shape[3])) : NULL;
    return ms_reshape(ms_gather(x, places(b), 2), MS_INTS(n, ch, k, l));
}
/* The sum of overlapping blocks [n, c, elements, blocks] -> [n, c, h, w]. */
static MsTensor *fold(MsTensor *x, int64_t n, int64_t ch, const Blocks *b)
{
    int64_t h = b->size[0] + 2 * b->padding[0], w = b->size[1] + 2 * b->padding[1];
    int64_t m = b->kernel[0] * b->kernel[1] * b->count[0] * b->count[1];
    MsTensor *y = ms_scatter_add(ms_full(MS_INTS(n, ch, h * w), 0, dtype_of(x)), places(b),
                                 ms_reshape(x, MS_INTS(n, ch, m)), 2);
    y = ms_reshape(y, MS_INTS(n, ch, h, w));
    y = b->padding[0] ? ms__narrowed(y, 2, b->padding[0], b->size[0]) : y;
    return b->padding[1] ? ms__narrowed(y, 3, b->padding[1], b->size[1]) : y;
}

static MsStatus unfold_row(MsApiCall *c)
{
    Blocks b;
    MsTensor *x = T(0);
    if (x->ndim != 4)
        return MS_FAIL(MS_ERROR_VALUE, "For 'unfold', 'input' must be 4-d, but got %d dimensions.", x->ndim);
    b.size[0] = x->shape[2], b.size[1] = x->shape[3];
    MS_TRY(blocks("unfold", c, 1, 2, 3, 4, &b));
    int64_t n = x->shape[0], rows = x->shape[1] * b.kernel[0] * b.kernel[1];
    return R(ms_reshape(unfold(x, &b), MS_INTS(n, rows, b.count[0] * b.count[1])));
}
MS_API(unfold, "ops.unfold mint.nn.functional.unfold",
       "(input: Tensor, kernel_size: any, dilation: any = 1, padding: any = 0, stride: any = 1) -> Tensor")
{
    return unfold_row(c);
}
MS_API(unfold_method, "Tensor.unfold",
       "(self: Tensor, kernel_size: any, dilation: any = 1, padding: any = 0, stride: any = 1) -> Tensor")
{
    return unfold_row(c);
}

static MsStatus fold_row(MsApiCall *c)
{
    Blocks b;
    MsTensor *x = T(0);
    MS_TRY(two("fold", "output_size", ARG(1), 1, b.size));
    MS_TRY(blocks("fold", c, 2, 3, 4, 5, &b));
    int64_t k = b.kernel[0] * b.kernel[1], l = b.count[0] * b.count[1];
    bool single = x->ndim == 2;
    if (single) x = ms__unsqueezed(x, 0);
    if (!x || x->ndim != 3 || x->shape[1] % k || x->shape[2] != l)
        return x ? MS_FAIL(MS_ERROR_VALUE,
                           "For 'fold', 'input' must be [N, C * %lld, %lld] or without N, but got shape %s.",
                           (long long)k, (long long)l, ms__shape_text(T(0)->ndim, T(0)->shape))
                 : ms_error()->code;
    MsTensor *y = fold(x, x->shape[0], x->shape[1] / k, &b);
    return R(single ? ms__dropped(y, 0) : y);
}
MS_API(fold, "ops.fold mint.nn.functional.fold",
       "(input: Tensor, output_size: any, kernel_size: any, dilation: any = 1, padding: any = 0, stride: any "
       "= 1) -> Tensor")
{
    return fold_row(c);
}
MS_API(fold_method, "Tensor.fold",
       "(self: Tensor, output_size: any, kernel_size: any, dilation: any = 1, padding: any = 0, stride: any "
       "= 1) -> Tensor")
{
    return fold_row(c);
}
/* The fold of [n, c, elements, blocks]. */
MS_API(col2im, "ops.col2im Tensor.col2im",
       "(input_x: Tensor, output_size: any, kernel_size: any, dilation: any, padding_value: any, stride: "
       "any) -> Tensor")
{
    Blocks b;
    MsTensor *x = T(0);
    MS_TRY(two("col2im", "output_size", ARG(1), 1, b.size));
    MS_TRY(blocks("col2im", c, 2, 3, 4, 5, &b));
    int64_t k = b.kernel[0] * b.kernel[1], l = b.count[0] * b.count[1];
    if (x->ndim != 4 || x->shape[2] != k || x->shape[3] != l)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'col2im', 'input_x' must be [N, C, %lld, %lld], but got shape %s.", (long long)k,
                       (long long)l, ms__shape_text(x->ndim, x->shape));
    return R(fold(x, x->shape[0], x->shape[1], &b));
}

/* ---- grids ---- */

/* theta [n, 2, 3] or [n, 3, 4] applied to the positions of an output in [-1, 1]: [n, (d,) h, w, 2 or 3]. */
MS_API(affine_grid, "ops.affine_grid mint.nn.functional.affine_grid",
       "(theta: Tensor, size: any, align_corners: bool = False) -> Tensor")
{
    MsTensor *theta = T(0), *axis[4];
    VAR("affine_grid", 1, buf, size);
    int r = size.n - 2;
    if ((r != 2 && r != 3) || theta->ndim != 3 || theta->shape[1] != r || theta->shape[2] != r + 1 ||
        theta->shape[0] != buf[0])
        return MS_FAIL(MS_ERROR_VALUE, "For 'affine_grid', 'theta' of shape %s does not fit 'size' %s.",
                       ms__shape_text(theta->ndim, theta->shape), ms__shape_text(size.n, size.v));
    int64_t total = 1;
    for (int d = 0; d < r; d++) total *= buf[2 + d];
    for (int k = 0; k < r; k++) { /* coordinate k is the position along axis r - 1 - k */
        int64_t n = buf[2 + r - 1 - k], s[4] = {1, 1, 1, 1};
        double step = n < 1 ? 0 : I(2) ? (n > 1 ? 2.0 / (double)(n - 1) : 0) : 2.0 / (double)n;
        double first = I(2) ? (n > 1 ? -1 : 0) : -1 + step / 2;
        s[r - 1 - k] = n;
        MsTensor *line = ms_cast(ms_arange(first, step == 0 ? 1 : step, n, MS_FLOAT64), dtype_of(theta));
        axis[k] = ms_reshape(ms_broadcast_to(ms_reshape(line, (MsInts){r, s}), (MsInts){r, buf + 2}),
                             MS_INTS(total));
        if (!axis[k]) return ms_error()->code;
    }
    axis[r] = ms_full(MS_INTS(total), 1, dtype_of(theta));
    MsTensor *base = axis[r] ? ms__stacked(r + 1, axis, 1) : NULL;
    MsTensor *y = ms_matmul(base, ms_transpose(theta, MS_INTS(0, 2, 1)), false, false);
    int64_t s[MS_MAX_DIM] = {buf[0]};
    for (int d = 0; d < r; d++) s[1 + d] = buf[2 + d];
    s[1 + r] = r;
    return R(ms_reshape(y, (MsInts){r + 2, s}));
}

/* One axis of a sample: up to four neighbours, each with an index and a weight per position. */
typedef struct Taps {
    int n;
    MsTensor *index[4], *weight[4];
} Taps;

/* x reflected into [low, high]. */
static MsTensor *reflected(MsTensor *x, double low, double high)
{
    double span = high - low;
    if (span <= 0) return times(x, 0);
    MsTensor *t = ms_abs(plus(x, -low));
    MsTensor *flips = ms_floor(times(t, 1 / span)), *rest = ms_sub(t, times(flips, span));
    MsTensor *odd = ms_ne(ms_mod(flips, constant(flips, 2)), constant(flips, 0));
    return plus(ms_where(odd, plus(ms_neg(rest), span), rest), low);
}
static MsTensor *clamped(MsTensor *x, double high)
{
    return ms_minimum(ms_maximum(x, constant(x, 0)), constant(x, high));
}
static MsTensor *bounded(MsTensor *x, int64_t n, const char *padding, bool corners)
{
    if (*padding == 'r') x = corners ? reflected(x, 0, (double)(n - 1)) : reflected(x, -0.5, (double)n - 0.5);
    return *padding == 'z' ? x : clamped(x, (double)(n - 1));
}
/* Keys' cubic with a = -0.75 at distance t from the tap: inside [0, 1] or [1, 2]. */
static MsTensor *cubic(MsTensor *t, bool near)
{
    const double a = -0.75;
    MsTensor *t2 = ms_square(t), *t3 = ms_mul(t2, t);
    if (near) return plus(ms_sub(times(t3, a + 2), times(t2, a + 3)), 1);
    return plus(ms_add(ms_sub(times(t3, a), times(t2, 5 * a)), times(t, 8 * a)), -4 * a);
}
static MsStatus taps(MsTensor *g, int64_t n, const char *mode, const char *padding, bool corners, Taps *t)
{
    MsTensor *x =
        corners ? times(plus(g, 1), (double)(n - 1) / 2) : plus(times(plus(g, 1), (double)n / 2), -0.5);
    bool wide = strcmp(mode, "bicubic") == 0, nearest = strcmp(mode, "nearest") == 0;
    if (!wide) x = bounded(x, n, padding, corners);
    MsTensor *low = nearest ? ms_round(x) : ms_floor(x), *w = ms_sub(x, low);
    t->n = nearest ? 1 : wide ? 4 : 2;
    for (int k = 0; k < t->n; k++) {
        MsTensor *at = plus(low, wide ? k - 1 : k), *inside = NULL;
        if (nearest)
            t->weight[k] = plus(times(w, 0), 1);
        else if (wide)
            t->weight[k] = cubic(k == 0   ? plus(w, 1)
                                 : k == 1 ? w
                                 : k == 2 ? plus(ms_neg(w), 1)
                                          : plus(ms_neg(w), 2),
                                 k == 1 || k == 2);
        else
            t->weight[k] = k ? w : plus(ms_neg(w), 1);
        if (wide) at = bounded(at, n, padding, corners);
        if (*padding == 'z') {
            inside = at ? ms_logical_and(ms_ge(at, constant(at, 0)), ms_le(at, constant(at, (double)(n - 1))))
                        : NULL;
            t->weight[k] = ms_mul(t->weight[k], inside ? ms_cast(inside, dtype_of(g)) : NULL);
        }
        at = clamped(at, (double)(n - 1));
        at = at ? ms_where(ms_is_nan(at), constant(at, 0), at) : NULL;
        t->index[k] = at ? ms_cast(ms_stop_gradient(at), MS_INT64) : NULL;
        if (!t->index[k] || !t->weight[k]) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus grid_sample(MsApiCall *c)
{
    MsTensor *x = T(0), *g = T(1), *sum = NULL;
    const char *mode = ARG(2)->s, *padding = ARG(3)->s;
    bool corners = GIVEN(4) && I(4);
    int r = x->ndim - 2;
    if ((r != 2 && r != 3) || g->ndim != x->ndim || g->shape[0] != x->shape[0] || g->shape[g->ndim - 1] != r)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'grid_sample', 'grid' of shape %s does not fit 'input' of shape %s.",
                       ms__shape_text(g->ndim, g->shape), ms__shape_text(x->ndim, x->shape));
    if (strcmp(mode, "bilinear") != 0 && strcmp(mode, "nearest") != 0 &&
        (strcmp(mode, "bicubic") != 0 || r != 2))
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'grid_sample', 'mode' must be 'bilinear', 'nearest' or, in 2-d, 'bicubic', but got '%s'.",
            mode);
    if (strcmp(padding, "zeros") != 0 && strcmp(padding, "border") != 0 && strcmp(padding, "reflection") != 0)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'grid_sample', 'padding_mode' must be 'zeros', 'border' or 'reflection', but got '%s'.",
            padding);
    int64_t plane = 1, spots = 1, n = x->shape[0], ch = x->shape[1], s[MS_MAX_DIM] = {n, ch};
    for (int d = 0; d < r; d++) plane *= x->shape[2 + d], spots *= s[2 + d] = g->shape[1 + d];
    Taps t[3];
    for (int d = 0; d < r; d++) {
        MsTensor *line = ms_reshape(ms__picked(g, g->ndim - 1, r - 1 - d), MS_INTS(n, 1, spots));
        MS_TRY(taps(line, x->shape[2 + d], mode, padding, corners, &t[d]));
    }
    MsTensor *flat = ms_reshape(x, MS_INTS(n, ch, plane));
    int total = t[0].n * t[1].n * (r == 3 ? t[2].n : 1);
    for (int k = 0; k < total; k++) {
        MsTensor *at = NULL, *w = NULL;
        for (int d = 0, rest = k; d < r; rest /= t[d].n, d++) {
            MsTensor *i = t[d].index[rest % t[d].n], *v = t[d].weight[rest % t[d].n];
            at = at ? ms_add(ms_mul(at, ms_full_int((MsInts){0, NULL}, x->shape[2 + d], MS_INT64)), i) : i;
            w = w ? ms_mul(w, v) : v;
        }
        at = ms_broadcast_to(at, MS_INTS(n, ch, spots));
        MsTensor *part = at ? ms_mul(ms_take_along(flat, at, 2), ms__cast_to(w, dtype_of(x))) : NULL;
        sum = sum ? ms_add(sum, part) : part;
        if (!sum) return ms_error()->code;
    }
    return R(ms_reshape(sum, (MsInts){r + 2, s}));
}
MS_API(grid_sample, "ops.grid_sample mint.nn.functional.grid_sample",
       "(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: "
       "bool = None) -> Tensor")
{
    return grid_sample(c);
}

/* ---- between space and batch ---- */

static MsStatus table(const char *op, const MsArg *a, int rows, int64_t low[], int64_t high[])
{
    if (a->kind != MS_ARG_LIST || a->n != rows)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', a list of %d pairs is needed.", op, rows);
    for (int k = 0; k < rows; k++) {
        int64_t buf[MS_MAX_DIM];
        MsInts p = ms__arg_var(op, &a->list[k], buf);
        if (p.n == -2) return ms_error()->code;
        if (p.n != 2 || p.v[0] < 0 || p.v[1] < 0)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', pair %d must be two sizes of at least 0.", op, k);
        low[k] = p.v[0], high[k] = p.v[1];
    }
    return MS_OK;
}
MS_API(space_to_batch_nd, "ops.space_to_batch_nd",
       "(input_x: Tensor, block_size: any, paddings: any) -> Tensor")
{
    MsTensor *x = T(0);
    VAR("space_to_batch_nd", 1, b, block);
    int m = block.n, nd = x->ndim;
    if (m == 1 && nd == 4 && ARG(1)->kind == MS_ARG_INT) b[1] = b[0], m = 2; /* square blocks of the plane */
    int head = nd - m;
    int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0}, s[MS_MAX_DIM], perm[MS_MAX_DIM], out[MS_MAX_DIM],
            k = 1;
    if (head < 1 || m < 1 || nd + m > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For 'space_to_batch_nd', %d blocks do not fit the shape %s.", m,
                       ms__shape_text(nd, x->shape));
    MS_TRY(table("space_to_batch_nd", ARG(2), m, low + head, high + head));
    x = ms_pad(x, (MsInts){nd, low}, (MsInts){nd, high}, 0);
    if (!x) return ms_error()->code;
    for (int d = 0; d < head; d++) s[d] = x->shape[d], perm[d + m] = d, out[d] = x->shape[d];
    for (int d = 0; d < m; d++) {
        if (b[d] < 1 || x->shape[head + d] % b[d])
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'space_to_batch_nd', block %lld does not divide the padded size %lld.",
                           (long long)b[d], (long long)x->shape[head + d]);
        s[head + 2 * d] = x->shape[head + d] / b[d], s[head + 2 * d + 1] = b[d], k *= b[d];
        perm[d] = head + 2 * d + 1, perm[m + head + d] = head + 2 * d, out[head + d] = s[head + 2 * d];
    }
    out[0] *= k;
    return R(ms_reshape(ms_transpose(ms_reshape(x, (MsInts){nd + m, s}), (MsInts){nd + m, perm}),
                        (MsInts){nd, out}));
}
MS_API(batch_to_space_nd, "ops.batch_to_space_nd",
       "(input_x: Tensor, block_shape: any, crops: any) -> Tensor")
{
    MsTensor *x = T(0);
    VAR("batch_to_space_nd", 1, b, block);
    int nd = x->ndim, m = block.n;
    if (m == 1 && nd == 4) b[1] = b[0], m = 2; /* one number: square blocks of the plane */
    int head = nd - m;
    int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0}, s[MS_MAX_DIM], perm[MS_MAX_DIM], out[MS_MAX_DIM],
            k = 1;
    if (head < 1 || m < 1 || nd + m > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For 'batch_to_space_nd', %d blocks do not fit the shape %s.", m,
                       ms__shape_text(nd, x->shape));
    MS_TRY(table("batch_to_space_nd", ARG(2), m, low + head, high + head));
    for (int d = 0; d < m; d++) k *= b[d];
    if (k < 1 || x->shape[0] % k)
        return MS_FAIL(MS_ERROR_VALUE, "For 'batch_to_space_nd', the blocks do not divide the batch %lld.",
                       (long long)x->shape[0]);
    for (int d = 0; d < m; d++) s[d] = b[d];
    for (int d = 0; d < nd; d++) s[m + d] = out[d] = x->shape[d];
    s[m] = out[0] = x->shape[0] / k;
    for (int d = 0; d < head; d++) perm[d] = m + d;
    for (int d = 0; d < m; d++) {
        perm[head + 2 * d] = m + head + d, perm[head + 2 * d + 1] = d;
        out[head + d] *= b[d];
        if (low[head + d] + high[head + d] > out[head + d])
            return MS_FAIL(MS_ERROR_VALUE, "For 'batch_to_space_nd', the crops take more than axis %d has.",
                           head + d);
    }
    MsTensor *y = ms_reshape(ms_transpose(ms_reshape(x, (MsInts){nd + m, s}), (MsInts){nd + m, perm}),
                             (MsInts){nd, out});
    for (int d = head; d < nd; d++) y = ms__narrowed(y, d, low[d], out[d] - low[d] - high[d]);
    return R(y);
}

/* ---- unpooling ---- */

/* Values put where the index of the plane says; zeros elsewhere. */
static MsStatus unpool(MsApiCall *c, int r)
{
    MsTensor *x = T(0), *at = ms__cast_to(T(1), MS_INT64);
    int64_t k[3], st[3], pad[3], out[MS_MAX_DIM], buf[MS_MAX_DIM], plane = 1, spots = 1, outer = 1;
    int nd = x->ndim, head = nd - r;
    if (!at || head < 1 || head > 2 || at->ndim != nd ||
        memcmp(at->shape, x->shape, (size_t)nd * sizeof *out) != 0)
        return at ? MS_FAIL(MS_ERROR_VALUE,
                            "For 'max_unpool%dd', 'indices' of shape %s must have the shape %s of the input, "
                            "which is %d-d or %d-d.",
                            r, ms__shape_text(at->ndim, at->shape), ms__shape_text(nd, x->shape), r + 1,
                            r + 2)
                  : ms_error()->code;
    for (int which = 0; which < 3; which++) {
        int64_t *to = which == 0 ? k : which == 1 ? st : pad;
        const MsArg *a = which == 1 && !GIVEN(3) ? ARG(2) : ARG(2 + which);
        MsInts v = ms__arg_var("max_unpool", a, buf);
        if (v.n == -2) return ms_error()->code;
        if (v.n != 1 && v.n != r)
            return MS_FAIL(MS_ERROR_VALUE, "For 'max_unpool%dd', 1 or %d numbers are needed per argument.", r,
                           r);
        for (int d = 0; d < r; d++) to[d] = v.v[v.n == 1 ? 0 : d];
    }
    memcpy(out, x->shape, sizeof out);
    for (int d = 0; d < r; d++) out[head + d] = (x->shape[head + d] - 1) * st[d] - 2 * pad[d] + k[d];
    if (GIVEN(5)) {
        MsInts v = ms__arg_var("max_unpool", ARG(5), buf);
        if (v.n == -2) return ms_error()->code;
        if (v.n < r)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'max_unpool%dd', 'output_size' must have at least %d entries.", r, r);
        for (int d = 0; d < r; d++) out[head + d] = v.v[v.n - r + d];
    }
    for (int d = 0; d < r; d++) plane *= out[head + d], spots *= x->shape[head + d];
    for (int d = 0; d < head; d++) outer *= x->shape[d];
    MsTensor *y =
        ms_put_along(ms_full(MS_INTS(outer, plane), 0, dtype_of(x)), ms_reshape(at, MS_INTS(outer, spots)),
                     ms_reshape(x, MS_INTS(outer, spots)), 1, "set");
    return R(ms_reshape(y, (MsInts){nd, out}));
}
MS_API(max_unpool1d, "ops.max_unpool1d",
       "(x: Tensor, indices: Tensor, kernel_size: any, stride: any = None, padding: any = 0, output_size: "
       "any = None) -> Tensor")
{
    return unpool(c, 1);
}
MS_API(max_unpool2d, "ops.max_unpool2d",
       "(x: Tensor, indices: Tensor, kernel_size: any, stride: any = None, padding: any = 0, output_size: "
       "any = None) -> Tensor")
{
    return unpool(c, 2);
}
MS_API(max_unpool2d_mint, "mint.nn.functional.max_unpool2d",
       "(input: Tensor, indices: Tensor, kernel_size: any, stride: any = None, padding: any = 0, "
       "output_size: any = None) -> Tensor")
{
    return unpool(c, 2);
}
MS_API(max_unpool3d, "ops.max_unpool3d",
       "(x: Tensor, indices: Tensor, kernel_size: any, stride: any = None, padding: any = 0, output_size: "
       "any = None) -> Tensor")
{
    return unpool(c, 3);
}

/* ---- boxes ---- */

/* Column k of [n, 4] boxes. */
static MsTensor *side(MsTensor *box, int k)
{
    return box ? ms__picked(box, 1, k) : NULL;
}
/* Overlap of every ground truth (rows) with every anchor; a box of corners includes its last pixel. */
MS_API(iou, "ops.iou", "(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = 'iou') -> Tensor")
{
    MsTensor *a = T(0), *g = T(1);
    bool foreground = strcmp(ARG(2)->s, "iof") == 0;
    if (!foreground && strcmp(ARG(2)->s, "iou") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'iou', 'mode' must be 'iou' or 'iof', but got '%s'.", ARG(2)->s);
    if (a->ndim != 2 || g->ndim != 2 || a->shape[1] != 4 || g->shape[1] != 4)
        return MS_FAIL(MS_ERROR_VALUE, "For 'iou', the boxes must be [n, 4], but got shapes %s and %s.",
                       ms__shape_text(a->ndim, a->shape), ms__shape_text(g->ndim, g->shape));
    MsTensor *inter = NULL, *area_a = NULL, *area_g = NULL;
    for (int d = 0; d < 2; d++) {
        MsTensor *low = ms_maximum(side(a, d), ms__unsqueezed(side(g, d), 1));
        MsTensor *high = ms_minimum(side(a, d + 2), ms__unsqueezed(side(g, d + 2), 1));
        MsTensor *w = plus(ms_sub(high, low), 1), *wa = plus(ms_sub(side(a, d + 2), side(a, d)), 1),
                 *wg = plus(ms_sub(side(g, d + 2), side(g, d)), 1);
        w = ms_maximum(w, constant(w, 0));
        inter = inter ? ms_mul(inter, w) : w;
        area_a = area_a ? ms_mul(area_a, wa) : wa;
        area_g = area_g ? ms_mul(area_g, wg) : wg;
    }
    area_g = ms__unsqueezed(area_g, 1);
    MsTensor *all = foreground ? ms_broadcast_to(area_g, MS_INTS(g->shape[0], a->shape[0]))
                               : ms_sub(ms_add(area_a, area_g), inter);
    return R(ms_div(inter, all));
}

/* ---- bias ---- */

/* A bias per channel (axis 1). */
MS_API(bias_add, "ops.bias_add", "(input_x: Tensor, bias: Tensor) -> Tensor")
{
    MsTensor *x = T(0), *b = T(1);
    int64_t s[MS_MAX_DIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (x->ndim < 2 || b->ndim != 1 || b->numel != x->shape[1])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'bias_add', 'bias' must have one entry per channel, but got shape %s for %s.",
                       ms__shape_text(b->ndim, b->shape), ms__shape_text(x->ndim, x->shape));
    s[1] = b->numel;
    return R(ms_add(x, ms_reshape(b, (MsInts){x->ndim, s})));
}
