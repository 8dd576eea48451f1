/* prim_vision.c - primitive classes of detection and images (rows under `_p`): regions, boxes, suppression, random
 * choice.
 *
 * Sampling a region at a grid is separable: out = Wy f Wx^T with small matrices of interpolation weights per region,
 * so that two matrix products replace a gather of four corners, and gradients need no rule. Refused: a kernel. */
#include "api/args.h"

#include "op/random.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static MsTensor *num(MsTensor *like, double v)
{
    return like ? ms_tensor_scalar(ms_tensor_dtype(like), v) : NULL;
}
static MsTensor *by(MsTensor *x, double k)
{
    return ms_mul(x, num(x, k));
}
static MsTensor *plus(MsTensor *x, double k)
{
    return ms_add(x, num(x, k));
}
static MsTensor *clamp(MsTensor *x, double low, double high)
{
    return ms_minimum(ms_maximum(x, num(x, low)), num(x, high));
}
static MsTensor *shaped(MsTensor *x, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return x ? ms_reshape(x, MS_INTS(a, b, c, d)) : NULL;
}
/* Column k of a matrix. */
static MsTensor *column(MsTensor *x, int64_t k)
{
    return ms__picked(x, 1, k);
}

static MsStatus check_boxes(const char *op, const char *name, const MsTensor *t, int64_t columns)
{
    if (ms_tensor_ndim(t) == 2 && ms_tensor_shape(t)[1] == columns && ms_dtype_is_float(ms_tensor_dtype(t)))
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE,
                   "For '%s', the '%s' must be floats of shape [N, %lld], but got %s of shape %s.", op, name,
                   (long long)columns, ms_dtype_name(ms_tensor_dtype(t)),
                   ms__shape_text(ms_tensor_ndim(t), ms_tensor_shape(t)));
}

/* ---- regions ---- */

/* Linear weights [K, out, size] of positions at [K, out, samples], averaged over the samples; a position outside of
 * [low, high] has none. */
static MsTensor *weights(MsTensor *at, int64_t size, double low, double high)
{
    MsTensor *in = at ? ms_logical_and(ms_ge(at, num(at, low)), ms_le(at, num(at, high))) : NULL;
    const int64_t *s = at ? ms_tensor_shape(at) : NULL;
    if (!in) return NULL;
    MsTensor *grid = ms__cast_to(ms_arange_int(0, 1, size, MS_INT64), ms_tensor_dtype(at));
    MsTensor *p = shaped(clamp(at, 0, (double)size - 1), s[0], s[1], s[2], 1);
    MsTensor *w = ms_maximum(plus(ms_neg(ms_abs(ms_sub(p, grid))), 1), num(at, 0));
    w = ms_mul(w, shaped(ms__cast_to(in, ms_tensor_dtype(at)), s[0], s[1], s[2], 1));
    return ms_mean(w, MS_INTS(2), false);
}

/* The images [K, C, H, W] that regions belong to, seen through weights [K, PH, H] and [K, PW, W]. */
static MsTensor *seen(MsTensor *x, MsTensor *wy, MsTensor *wx)
{
    if (!x || !wy || !wx) return NULL;
    MsTensor *rows = ms_matmul(ms__unsqueezed(wy, 1), x, false, false);
    return ms_matmul(rows, ms__unsqueezed(wx, 1), false, true);
}

/* Sample positions [K, pooled, samples] along one axis from region bounds [K]. */
static MsTensor *positions(MsTensor *first, MsTensor *last, double scale, int64_t mode, int64_t pooled,
                           int64_t samples)
{
    MsTensor *start = by(first, scale), *end = by(mode ? plus(last, 1) : last, scale);
    MsTensor *length = ms_sub(end, start);
    length = mode ? ms_maximum(length, num(length, 0)) : ms_maximum(length, num(length, 1));
    if (!length) return NULL;
    MsDtype dt = ms_tensor_dtype(length);
    MsTensor *cell = ms__cast_to(ms_arange_int(0, 1, pooled, MS_INT64), dt);
    MsTensor *inner =
        by(plus(ms__cast_to(ms_arange_int(0, 1, samples, MS_INT64), dt), 0.5), 1 / (double)samples);
    if (!cell || !inner) return NULL;
    MsTensor *unit =
        ms_add(ms_reshape(cell, MS_INTS(1, pooled, 1)), ms_reshape(inner, MS_INTS(1, 1, samples)));
    int64_t k = ms_tensor_shape(length)[0];
    MsTensor *bin = by(length, 1 / (double)pooled);
    return bin ? ms_add(ms_reshape(start, MS_INTS(k, 1, 1)), ms_mul(ms_reshape(bin, MS_INTS(k, 1, 1)), unit))
               : NULL;
}

MS_API(p_roi_align, "_p.roi_align",
       "(features: Tensor, rois: Tensor, pooled_height: int, pooled_width: int, spatial_scale: float, "
       "sample_num: int, "
       "roi_end_mode: int) -> Tensor")
{
    MsTensor *x = T(0), *rois = T(1);
    MS_TRY(check_boxes("ROIAlign", "rois", rois, 5));
    if (ms_tensor_ndim(x) != 4)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'ROIAlign', the 'features' must have 4 dimensions, but got shape %s.",
                       ms__shape_text(ms_tensor_ndim(x), ms_tensor_shape(x)));
    if (I(2) < 1 || I(3) < 1 || I(5) < 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'ROIAlign', the pooled sizes and 'sample_num' must be positive, but got "
                       "%lld, %lld and %lld.",
                       (long long)I(2), (long long)I(3), (long long)I(5));
    double h = (double)ms_tensor_shape(x)[2], w = (double)ms_tensor_shape(x)[3];
    MsTensor *of = ms__cast_to(column(rois, 0), MS_INT64);
    MsTensor *py = positions(column(rois, 2), column(rois, 4), F(4), I(6), I(2), I(5));
    MsTensor *px = positions(column(rois, 1), column(rois, 3), F(4), I(6), I(3), I(5));
    MsTensor *wy = weights(py, ms_tensor_shape(x)[2], -1, h), *wx = weights(px, ms_tensor_shape(x)[3], -1, w);
    MsDtype dt = ms_tensor_dtype(x);
    return R(of ? seen(ms_gather(x, of, 0), ms__cast_to(wy, dt), ms__cast_to(wx, dt)) : NULL);
}

/* Positions [K, n, 1] of a crop along an axis of `size` from normalised bounds. */
static MsTensor *crop_positions(MsTensor *first, MsTensor *last, int64_t n, int64_t size)
{
    double top = (double)size - 1;
    int64_t k = first ? ms_tensor_shape(first)[0] : 0;
    if (n == 1) {
        MsTensor *middle = by(ms_add(first, last), 0.5 * top);
        return middle ? ms_reshape(middle, MS_INTS(k, 1, 1)) : NULL;
    }
    MsTensor *step = by(ms_sub(last, first), top / (double)(n - 1));
    MsTensor *i = step ? ms__cast_to(ms_arange_int(0, 1, n, MS_INT64), ms_tensor_dtype(step)) : NULL;
    if (!i) return NULL;
    return ms_add(ms_reshape(by(first, top), MS_INTS(k, 1, 1)),
                  ms_mul(ms_reshape(step, MS_INTS(k, 1, 1)), ms_reshape(i, MS_INTS(1, n, 1))));
}

MS_API(p_crop_and_resize, "_p.crop_and_resize",
       "(x: Tensor, boxes: Tensor, box_index: Tensor, crop_size: ints, method: str, extrapolation_value: "
       "number) -> "
       "Tensor")
{
    static const char *const op = "CropAndResize";
    bool nearest = strcmp(ARG(4)->s, "nearest") == 0;
    if (!nearest && strcmp(ARG(4)->s, "bilinear") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'method' must be 'bilinear' or 'nearest', but got '%s'.", op,
                       ARG(4)->s);
    MS_TRY(check_boxes(op, "boxes", T(1), 4));
    int64_t buf[MS_MAX_DIM];
    MsInts size = INTS(3, buf);
    if (ms_tensor_ndim(T(0)) != 4 || size.n != 2 || size.v[0] < 1 || size.v[1] < 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', 'x' must have 4 dimensions and 'crop_size' two positive sizes.", op);
    MsTensor *x = ms_transpose(ms__cast_to(T(0), MS_FLOAT32), MS_INTS(0, 3, 1, 2));
    MsTensor *box = ms__cast_to(T(1), MS_FLOAT32);
    if (!x || !box) return ms_error()->code;
    int64_t k = ms_tensor_shape(box)[0];
    MsTensor *w[2], *in[2];
    for (int d = 0; d < 2; d++) {
        int64_t n = ms_tensor_shape(x)[2 + d];
        MsTensor *p = crop_positions(column(box, d), column(box, 2 + d), size.v[d], n);
        w[d] = weights(nearest ? ms_floor(plus(p, 0.5)) : p, n, -1e30, 1e30);
        if (!p || !w[d]) return ms_error()->code;
        MsTensor *ok = ms_logical_and(ms_ge(p, num(p, 0)), ms_le(p, num(p, (double)n - 1)));
        in[d] = d ? shaped(ok, k, 1, 1, size.v[1]) : shaped(ok, k, 1, size.v[0], 1);
    }
    MsTensor *y = seen(ms_gather(x, T(2), 0), w[0], w[1]);
    y = ms_where(ms_logical_and(in[0], in[1]), y, num(y, F(5)));
    return R(ms_transpose(y, MS_INTS(0, 2, 3, 1)));
}

/* ---- boxes: x1 y1 x2 y2, the last row and column inside ---- */

typedef struct Box {
    MsTensor *x, *y, *w, *h; /* centre and size */
} Box;

static Box centred(MsTensor *t)
{
    MsTensor *a = column(t, 0), *b = column(t, 1), *p = column(t, 2), *q = column(t, 3);
    return (Box){by(ms_add(a, p), 0.5), by(ms_add(b, q), 0.5), plus(ms_sub(p, a), 1), plus(ms_sub(q, b), 1)};
}

static MsTensor *joined(MsTensor *const *four)
{
    for (int k = 0; k < 4; k++)
        if (!four[k]) return NULL;
    return ms__stacked(4, four, 1);
}

/* means and stds, four numbers each */
static MsStatus four_numbers(const char *op, const char *name, const MsArg *a, double *v)
{
    int n;
    const MsArg *item = ms__arg_items(a, &n);
    if (n != 4)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '%s' must have 4 numbers, but got %d.", op, name, n);
    for (int k = 0; k < 4; k++) v[k] = ms__arg_float(&item[k]);
    return MS_OK;
}

MS_API(p_box_encode, "_p.box_encode",
       "(anchor: Tensor, truth: Tensor, means: floats, stds: floats) -> Tensor")
{
    double mean[4], std[4];
    MS_TRY(check_boxes("BoundingBoxEncode", "anchor_box", T(0), 4));
    MS_TRY(check_boxes("BoundingBoxEncode", "groundtruth_box", T(1), 4));
    MS_TRY(four_numbers("BoundingBoxEncode", "means", ARG(2), mean));
    MS_TRY(four_numbers("BoundingBoxEncode", "stds", ARG(3), std));
    Box a = centred(T(0)), g = centred(T(1));
    MsTensor *d[4] = {ms_div(ms_sub(g.x, a.x), a.w), ms_div(ms_sub(g.y, a.y), a.h), ms_log(ms_div(g.w, a.w)),
                      ms_log(ms_div(g.h, a.h))};
    for (int k = 0; k < 4; k++) d[k] = by(plus(d[k], -mean[k]), 1 / std[k]);
    return R(joined(d));
}

MS_API(p_box_decode, "_p.box_decode",
       "(anchor: Tensor, deltas: Tensor, max_shape: ints, means: floats, stds: floats, wh_ratio_clip: float) "
       "-> Tensor")
{
    double mean[4], std[4], most = fabs(log(F(5)));
    int64_t buf[MS_MAX_DIM];
    MsInts limit = INTS(2, buf);
    MS_TRY(check_boxes("BoundingBoxDecode", "anchor_box", T(0), 4));
    MS_TRY(check_boxes("BoundingBoxDecode", "deltas", T(1), 4));
    MS_TRY(four_numbers("BoundingBoxDecode", "means", ARG(3), mean));
    MS_TRY(four_numbers("BoundingBoxDecode", "stds", ARG(4), std));
    if (limit.n != 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'BoundingBoxDecode', the 'max_shape' must have 2 sizes, but got %d.", limit.n);
    MsTensor *d[4];
    for (int k = 0; k < 4; k++) {
        d[k] = plus(by(column(T(1), k), std[k]), mean[k]);
        if (k > 1) d[k] = clamp(d[k], -most, most);
    }
    Box a = centred(T(0));
    MsTensor *x = ms_add(a.x, ms_mul(a.w, d[0])), *y = ms_add(a.y, ms_mul(a.h, d[1]));
    MsTensor *w = plus(by(ms_mul(a.w, ms_exp(d[2])), 0.5), -0.5),
             *h = plus(by(ms_mul(a.h, ms_exp(d[3])), 0.5), -0.5);
    double right = (double)limit.v[1] - 1, bottom = (double)limit.v[0] - 1;
    MsTensor *out[4] = {clamp(ms_sub(x, w), 0, right), clamp(ms_sub(y, h), 0, bottom),
                        clamp(ms_add(x, w), 0, right), clamp(ms_add(y, h), 0, bottom)};
    return R(joined(out));
}

/* [M, N]: each truth box against each anchor; the overlap over the union, or over the truth box. */
MS_API(p_iou, "_p.iou", "(anchors: Tensor, truth: Tensor, mode: str) -> Tensor")
{
    MS_TRY(check_boxes("IOU", "anchor_boxes", T(0), 4));
    MS_TRY(check_boxes("IOU", "gt_boxes", T(1), 4));
    bool whole = strcmp(ARG(2)->s, "iou") == 0;
    if (!whole && strcmp(ARG(2)->s, "iof") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'IOU', the 'mode' must be 'iou' or 'iof', but got '%s'.",
                       ARG(2)->s);
    MsTensor *edge[2][4];
    for (int k = 0; k < 4; k++) {
        edge[0][k] = ms__unsqueezed(column(T(0), k), 0);
        edge[1][k] = ms__unsqueezed(column(T(1), k), 1);
        if (!edge[0][k] || !edge[1][k]) return ms_error()->code;
    }
    MsTensor *overlap = NULL, *area[2] = {NULL, NULL};
    for (int d = 0; d < 2; d++) {
        MsTensor *low = ms_maximum(edge[0][d], edge[1][d]),
                 *high = ms_minimum(edge[0][2 + d], edge[1][2 + d]);
        MsTensor *length = ms_maximum(plus(ms_sub(high, low), 1), num(low, 0));
        overlap = d ? ms_mul(overlap, length) : length;
        for (int k = 0; k < 2; k++) {
            MsTensor *own = plus(ms_sub(edge[k][2 + d], edge[k][d]), 1);
            area[k] = d ? ms_mul(area[k], own) : own;
        }
    }
    return R(ms_div(overlap, whole ? ms_sub(ms_add(area[0], area[1]), overlap) : area[1]));
}

/* Whether each box lies in the image: metas are height, width and ratio. */
MS_API(p_check_valid, "_p.check_valid", "(bboxes: Tensor, img_metas: Tensor) -> Tensor")
{
    MS_TRY(check_boxes("CheckValid", "bboxes", T(0), 4));
    if (ms_tensor_numel(T(1)) != 3)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'CheckValid', the 'img_metas' must have 3 elements, but got shape %s.",
                       ms__shape_text(ms_tensor_ndim(T(1)), ms_tensor_shape(T(1))));
    MsTensor *meta = ms__cast_to(T(1), ms_tensor_dtype(T(0)));
    if (!meta) return ms_error()->code;
    meta = ms_reshape(meta, MS_INTS(3));
    MsTensor *limit[2] = {ms_mul(ms__picked(meta, 0, 1), ms__picked(meta, 0, 2)),
                          ms_mul(ms__picked(meta, 0, 0), ms__picked(meta, 0, 2))};
    MsTensor *ok = NULL;
    for (int k = 0; k < 4; k++) {
        MsTensor *v = column(T(0), k);
        MsTensor *one = v ? (k < 2 ? ms_ge(v, num(v, 0)) : ms_le(v, plus(limit[k - 2], -1))) : NULL;
        ok = k ? ms_logical_and(ok, one) : one;
    }
    return R(ok);
}

/* Boxes of a later row that overlap one that is kept by more than the threshold are dropped; rows: x1 y1 x2 y2 score,
 * best first. The loop over rows is a sequence of small matrix steps on the mask. */
MS_API(p_nms_with_mask, "_p.nms_with_mask", "(bboxes: Tensor, iou_threshold: float) -> any")
{
    MsTensor *x = T(0), *sorted[2];
    MS_TRY(check_boxes("NMSWithMask", "bboxes", x, 5));
    MS_TRY(ms_sort(column(x, 4), 0, true, true, sorted));
    int64_t n = ms_tensor_shape(x)[0];
    x = ms_gather(x, sorted[1], 0);
    MsTensor *overlap = NULL, *area = NULL;
    for (int d = 0; d < 2; d++) {
        MsTensor *a = column(x, d), *b = column(x, 2 + d);
        MsTensor *low = ms_minimum(a, b), *high = ms_maximum(a, b);
        if (!low || !high) return ms_error()->code;
        MsTensor *inner = ms_sub(ms_minimum(ms__unsqueezed(high, 0), ms__unsqueezed(high, 1)),
                                 ms_maximum(ms__unsqueezed(low, 0), ms__unsqueezed(low, 1)));
        inner = ms_maximum(inner, num(inner, 0));
        overlap = d ? ms_mul(overlap, inner) : inner;
        area = d ? ms_mul(area, ms_sub(high, low)) : ms_sub(high, low);
    }
    if (!overlap || !area) return ms_error()->code;
    MsTensor *all = ms_sub(ms_add(ms__unsqueezed(area, 0), ms__unsqueezed(area, 1)), overlap);
    MsTensor *hit = ms_gt(overlap, by(all, F(1)));
    hit = ms_triu(hit, 1); /* row i drops j > i */
    MsTensor *keep = ms_full_int(MS_INTS(n), 1, MS_BOOL);
    for (int64_t i = 0; i + 1 < n && keep && hit; i++) {
        MsTensor *drop = ms_logical_and(ms__picked(hit, 0, i), ms__picked(keep, 0, i));
        keep = ms_logical_and(keep, ms_logical_not(drop));
    }
    return ms__api_return_list(c, 3, (MsTensor *[]){x, ms__cast_to(sorted[1], MS_INT32), keep});
}

/* Boxes by falling score, each unless it overlaps one that was taken before: their numbers, at most `max` of them. */
MS_API(p_nms_overlaps, "_p.nms_overlaps",
       "(overlaps: Tensor, scores: Tensor, max: int, overlap_threshold: float, score_threshold: float) -> "
       "Tensor")
{
    MsTensor *o = T(0), *sorted[2];
    if (T(1)->ndim != 1 || o->ndim != 2 || o->shape[0] != T(1)->shape[0] || o->shape[1] != o->shape[0] ||
        I(2) < 0)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For 'NonMaxSuppressionWithOverlaps', the overlaps of n scores must have shape (n, n) and "
            "'max_output_size' must not be negative, but got %s, %s and %lld.",
            ms__shape_text(o->ndim, o->shape), ms__shape_text(T(1)->ndim, T(1)->shape), (long long)I(2));
    int64_t n = o->shape[0], taken = 0;
    MS_TRY(ms_sort(T(1), 0, true, true, sorted));
    MsTensor *overlap = ms_tensor_empty(MS_FLOAT64, 2, o->shape), *score = ms_tensor_empty(MS_FLOAT64, 1, &n),
             *order = ms_tensor_empty(MS_INT64, 1, &n), *out = ms_tensor_empty(MS_INT32, 1, &n);
    if (!overlap || !score || !order || !out) return ms_error()->code;
    MS_TRY(ms__tensor_read(o, MS_FLOAT64, overlap->data));
    MS_TRY(ms__tensor_read(sorted[0], MS_FLOAT64, score->data));
    MS_TRY(ms__tensor_read(sorted[1], MS_INT64, order->data));
    for (int64_t k = 0; k < n && taken < I(2) && ((double *)score->data)[k] > F(4); k++) {
        int64_t at = ((int64_t *)order->data)[k], j = 0;
        while (j < taken && ((double *)overlap->data)[at * n + ((int32_t *)out->data)[j]] <= F(3)) j++;
        if (j == taken) ((int32_t *)out->data)[taken++] = (int32_t)at;
    }
    return R(ms__narrowed(out, 0, 0, taken));
}

/* ---- random choice ---- */

/* Coordinates of `count` true elements drawn without replacement, and which of the rows are such. */
MS_API(p_random_choice, "_p.random_choice", "(x: Tensor, count: int, state: Tensor?) -> any")
{
    MsTensor *x = T(0);
    int ndim = ms_tensor_ndim(x);
    int64_t n = ms_tensor_numel(x), count = I(1), k = count < n ? count : n;
    if (ms_tensor_dtype(x) != MS_BOOL || ndim < 1)
        return MS_FAIL(MS_ERROR_TYPE,
                       "For 'RandomChoiceWithMask', the input must be bools of 1 to %d dimensions, but got "
                       "%s of shape %s.",
                       MS_MAX_DIM, ms_dtype_name(ms_tensor_dtype(x)),
                       ms__shape_text(ndim, ms_tensor_shape(x)));
    if (count < 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'RandomChoiceWithMask', the 'count' must be positive, but got %lld.",
                       (long long)count);
    MsTensor *state = ms__arg_state(NULL, ARG(2)), *best[2];
    MsTensor *u = state ? ms_rng_uniform(state, MS_INTS(n), MS_FLOAT32) : NULL;
    u = ms_where(ms_reshape(x, MS_INTS(n)), u, num(u, -1));
    MS_TRY(ms_topk(u, k, 0, true, true, best));
    MsTensor *ok = ms_ge(best[0], num(best[0], 0)), *flat = ms__cast_to(best[1], MS_INT64);
    if (!ok || !flat) return ms_error()->code;
    flat = ms_where(ok, flat, ms_tensor_scalar_int(MS_INT64, 0));
    MsTensor *at[MS_MAX_DIM];
    for (int d = ndim - 1; d >= 0; d--) {
        MsTensor *size = ms_tensor_scalar_int(MS_INT64, ms_tensor_shape(x)[d]);
        at[d] = ms__cast_to(ms_mod(flat, size), MS_INT32);
        flat = ms_floor_div(flat, size);
        if (!at[d]) return ms_error()->code;
    }
    MsTensor *index = ms__stacked(ndim, at, 1);
    if (k < count) {
        index = ms_pad(index, MS_INTS(0, 0), MS_INTS(count - k, 0), 0);
        ok = ms_pad(ok, MS_INTS(0), MS_INTS(count - k), 0);
    }
    return ms__api_return_list(c, 2, (MsTensor *[]){index, ok});
}

/* ---- dropout in two steps: a mask of bits, 128 to a block ---- */

MS_API(p_dropout_mask, "_p.dropout_mask",
       "(shape: ints, keep_prob: Tensor|number, state: Tensor? = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM], n = 1;
    MsInts shape = INTS(0, buf);
    for (int d = 0; d < shape.n; d++)
        if (__builtin_mul_overflow(n, shape.v[d], &n) || n < 0 || n > INT64_MAX - 128)
            return MS_FAIL(MS_ERROR_VALUE, "For 'DropoutGenMask', the shape %s is invalid.",
                           ms__shape_text(shape.n, shape.v));
    int64_t bytes = (n + 127) / 128 * 16;
    MsTensor *state = ms__arg_state(NULL, ARG(2));
    MsTensor *u = state ? ms_rng_uniform(state, MS_INTS(bytes, 8), MS_FLOAT32) : NULL;
    MsTensor *p = ms__cast_to(ms__arg_tensor(ARG(1), u), MS_FLOAT32);
    if (!p || !u) return ms_error()->code;
    MsTensor *bit = ms__cast_to(ms_lt(u, ms_reshape(p, (MsInts){0, NULL})), MS_UINT8);
    MsTensor *place = ms__cast_to(ms_arange_int(0, 1, 8, MS_INT64), MS_UINT8);
    return R(ms_sum(ms_left_shift(bit, place), MS_INTS(1), false));
}

MS_API(p_dropout_apply, "_p.dropout_apply", "(x: Tensor, mask: Tensor, keep_prob: Tensor|number) -> Tensor")
{
    MsTensor *x = T(0);
    int64_t n = ms_tensor_numel(x), bytes = ms_tensor_numel(T(1));
    if (ms_tensor_dtype(T(1)) != MS_UINT8 || bytes < (n + 7) / 8)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'DropoutDoMask', a mask of uint8 with %lld elements is needed, but got %s of "
                       "shape %s.",
                       (long long)((n + 127) / 128 * 16), ms_dtype_name(ms_tensor_dtype(T(1))),
                       ms__shape_text(ms_tensor_ndim(T(1)), ms_tensor_shape(T(1))));
    MsTensor *place = ms__cast_to(ms_arange_int(0, 1, 8, MS_INT64), MS_UINT8);
    MsTensor *bit = ms_right_shift(ms_reshape(T(1), MS_INTS(bytes, 1)), place);
    bit = ms_bitwise_and(bit, ms_tensor_scalar_int(MS_UINT8, 1));
    bit = ms__narrowed(ms_reshape(bit, MS_INTS(bytes * 8)), 0, 0, n);
    MsTensor *keep =
        ms__cast_to(ms_reshape(bit, (MsInts){ms_tensor_ndim(x), ms_tensor_shape(x)}), ms_tensor_dtype(x));
    MsTensor *p = ms__cast_to(ms__arg_tensor(ARG(2), x), ms_tensor_dtype(x));
    return R(p ? ms_mul(x, ms_div(keep, ms_reshape(p, (MsInts){0, NULL}))) : NULL);
}
