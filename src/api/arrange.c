/* arrange.c - rows that rearrange elements: flips and rolls, triangles and diagonals, padding, grids, pixel
 * shuffles. A diagonal is every (columns + 1)-th element of a flattened matrix, so all of that family is
 * slicing with a step. */
#include "api/args.h"

#include "core/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- flips and rolls ---- */

static MsTensor *flipped(const char *op, MsTensor *t, MsInts dims)
{
    int64_t axis[MS_MAX_DIM];
    uint32_t mask = 0;
    for (int k = 0; k < dims.n; k++) {
        int a;
        if (ms__api_axis(op, dims.v[k], t->ndim, &a) != MS_OK) return NULL;
        if (mask >> a & 1)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the axis %d appears more than once.", op, a);
        mask |= 1u << a;
        axis[k] = a;
    }
    return dims.n && t->ndim ? ms_flip(t, (MsInts){dims.n, axis}) : t;
}

MS_API(reverse, "ops.reverse Tensor.reverse", "(x: Tensor, axis: any) -> Tensor")
{
    VAR("reverse", 1, buf, dims);
    return R(flipped("reverse", T(0), dims));
}
MS_API(fliplr, "ops.fliplr Tensor.fliplr", "(input: Tensor) -> Tensor")
{
    return R(flipped("fliplr", T(0), MS_INTS(1)));
}
MS_API(flipud, "ops.flipud Tensor.flipud", "(input: Tensor) -> Tensor")
{
    return R(flipped("flipud", T(0), MS_INTS(0)));
}

MS_API(rot90, "ops.rot90 Tensor.rot90", "(input: Tensor, k: int, dims: any) -> Tensor")
{
    MsTensor *t = T(0);
    VAR("rot90", 2, buf, dims);
    int a, b, turns = (int)((I(1) % 4 + 4) % 4);
    if (dims.n != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'rot90', dims must name two axes, but got %d.", dims.n);
    MS_TRY(ms__api_axis("rot90", dims.v[0], t->ndim, &a));
    MS_TRY(ms__api_axis("rot90", dims.v[1], t->ndim, &b));
    if (a == b || t->ndim < 2) return MS_FAIL(MS_ERROR_VALUE, "For 'rot90', the two axes must differ.");
    if (turns == 0) return R(t);
    if (turns == 2) return R(ms_flip(t, MS_INTS(a, b)));
    int64_t perm[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++) perm[d] = d == a ? b : d == b ? a : d;
    MsInts p = {t->ndim, perm};
    return R(turns == 1 ? ms_transpose(ms_flip(t, MS_INTS(b)), p) : ms_flip(ms_transpose(t, p), MS_INTS(b)));
}

/* ---- triangles and diagonals ---- */

/* Rows, then columns, of the elements with col - row >= offset (upper) or <= offset. */
static MsStatus triangle_indices(MsApiCall *c, bool upper)
{
    int64_t rows = I(0), cols = I(1), offset = I(2), n = 0;
    if (rows < 0 || cols < 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'tri_indices', row and col must not be negative, but got %lld and %lld.",
                       (long long)rows, (long long)cols);
    if (ms__numel(2, (int64_t[]){rows, cols}) < 0) return ms_error()->code;
    if (cols == 0) rows = 0;
    int64_t *at = ms__malloc((size_t)(rows > 0 ? rows * cols : 1) * 2 * sizeof *at);
    if (!at) return ms_error()->code;
    for (int fill = 0; fill < 2; fill++) {
        int64_t total = n;
        n = 0;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) {
                if (upper ? j - i < offset : j - i > offset) continue;
                if (fill) {
                    at[n] = i;
                    at[total + n] = j;
                }
                n++;
            }
    }
    MsTensor *t = ms_tensor_from(MS_INT64, 2, (int64_t[]){2, n}, at);
    free(at);
    return R(ms__cast_to(t, GIVEN(3) ? DTYPE(3) : MS_INT64));
}
MS_API(tril_indices, "ops.tril_indices",
       "(row: int, col: int, offset: int = 0, *, dtype: dtype? = None) -> Tensor")
{
    return triangle_indices(c, false);
}
MS_API(triu_indices, "ops.triu_indices",
       "(row: int, col: int, offset: int = 0, *, dtype: dtype? = None) -> Tensor")
{
    return triangle_indices(c, true);
}

/* Where the diagonal of an r x c matrix lies in its flattened form. */
typedef struct Line {
    int64_t begin, n, step;
} Line;

static Line line(int64_t r, int64_t c, int64_t offset)
{
    int64_t down = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
    int64_t n = r - down < c - right ? r - down : c - right;
    if (n <= 0) return (Line){0, 0, 1};
    return (Line){down * c + right, n, n > 1 ? c + 1 : 1};
}

/* [.., n] of the last axis read (v = NULL) or written along a line. */
static MsTensor *along(MsTensor *t, Line l, MsTensor *v)
{
    if (!t) return NULL;
    int64_t b[MS_MAX_DIM], s[MS_MAX_DIM], step[MS_MAX_DIM];
    int last = t->ndim - 1;
    for (int d = 0; d <= last; d++)
        b[d] = d == last ? l.begin : 0, s[d] = d == last ? l.n : t->shape[d], step[d] = 1;
    step[last] = l.step;
    if (v) return ms_slice_update(t, v, (MsInts){t->ndim, b}, (MsInts){t->ndim, step});
    return ms_slice(t, (MsInts){t->ndim, b}, (MsInts){t->ndim, s}, (MsInts){t->ndim, step});
}

/* perm that brings axes a and b to the end, in this order. */
static MsInts to_end(int ndim, int a, int b, int64_t *perm)
{
    int n = 0;
    for (int d = 0; d < ndim; d++)
        if (d != a && d != b) perm[n++] = d;
    perm[n++] = a, perm[n++] = b;
    return (MsInts){n, perm};
}

static MsTensor *back_from_end(MsTensor *t, MsInts perm)
{
    int64_t inverse[MS_MAX_DIM];
    for (int d = 0; d < perm.n; d++) inverse[perm.v[d]] = d;
    return ms_transpose(t, (MsInts){perm.n, inverse});
}

/* t as [.., rows * columns] over the two axes. */
static MsTensor *flat_matrices(MsTensor *t, MsInts perm)
{
    MsTensor *m = ms_transpose(t, perm);
    if (!m) return NULL;
    int64_t shape[MS_MAX_DIM];
    memcpy(shape, m->shape, sizeof shape);
    shape[m->ndim - 2] *= shape[m->ndim - 1];
    return ms_reshape(m, (MsInts){m->ndim - 1, shape});
}

static MsStatus two_axes(const char *op, MsTensor *t, int64_t d1, int64_t d2, int ndim, int *a, int *b)
{
    MS_TRY(ms__api_axis(op, d1, ndim, a));
    MS_TRY(ms__api_axis(op, d2, ndim, b));
    if (*a == *b || ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', two different axes are needed, but got %lld and %lld for shape %s.", op,
                       (long long)d1, (long long)d2, ms__shape_text(t->ndim, t->shape));
    return MS_OK;
}

static MsTensor *diagonal_of(const char *op, MsTensor *t, int64_t offset, int64_t d1, int64_t d2)
{
    int a, b;
    int64_t perm[MS_MAX_DIM];
    if (two_axes(op, t, d1, d2, t->ndim, &a, &b) != MS_OK) return NULL;
    return along(flat_matrices(t, to_end(t->ndim, a, b, perm)), line(t->shape[a], t->shape[b], offset), NULL);
}

static MsTensor *embedded(MsTensor *t, int64_t offset)
{
    int64_t n = t->shape[t->ndim - 1] + llabs(offset), shape[MS_MAX_DIM + 1];
    memcpy(shape, t->shape, (size_t)t->ndim * sizeof *shape);
    shape[t->ndim - 1] = n * n;
    MsTensor *y = along(ms_full((MsInts){t->ndim, shape}, 0, ms_tensor_dtype(t)), line(n, n, offset), t);
    shape[t->ndim - 1] = shape[t->ndim] = n;
    return ms_reshape(y, (MsInts){t->ndim + 1, shape});
}

static MsTensor *diag(MsTensor *t, int64_t offset)
{
    if (t->ndim == 1) return embedded(t, offset);
    if (t->ndim == 2) return diagonal_of("diag", t, offset, 0, 1);
    return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'diag', the input must have 1 or 2 dimensions, but got %d.",
                        t->ndim);
}

MS_API(diag, "ops.diag Tensor.diag", "(input: Tensor) -> Tensor")
{
    return R(diag(T(0), 0));
}
MS_API(diag_mint, "mint.diag Tensor.diag", "(input: Tensor, diagonal: int = 0) -> Tensor")
{
    return R(diag(T(0), I(1)));
}
MS_API(diagflat, "ops.diagflat Tensor.diagflat", "(input: Tensor, offset: int = 0) -> Tensor")
{
    MsTensor *flat = ms_reshape(T(0), MS_INTS(T(0)->numel));
    return R(flat ? embedded(flat, I(1)) : NULL);
}
MS_API(diagonal, "ops.diagonal", "(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor")
{
    return R(diagonal_of("diagonal", T(0), I(1), I(2), I(3)));
}
MS_API(diagonal_method, "Tensor.diagonal",
       "(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor")
{
    return R(diagonal_of("diagonal", T(0), I(1), I(2), I(3)));
}

MS_API(diag_embed, "ops.diag_embed",
       "(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor")
{
    MsTensor *t = T(0);
    int a, b;
    int64_t perm[MS_MAX_DIM];
    if (t->ndim == 0 || t->ndim == MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'diag_embed', the input must have 1 to %d dimensions, but got %d.",
                       MS_MAX_DIM - 1, t->ndim);
    MS_TRY(two_axes("diag_embed", t, I(2), I(3), t->ndim + 1, &a, &b));
    MsTensor *y = embedded(t, I(1));
    return R(back_from_end(y, to_end(t->ndim + 1, a, b, perm)));
}

MS_API(diagonal_scatter, "ops.diagonal_scatter Tensor.diagonal_scatter",
       "(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor")
{
    MsTensor *t = T(0);
    int a, b;
    int64_t perm[MS_MAX_DIM], shape[MS_MAX_DIM];
    MS_TRY(two_axes("diagonal_scatter", t, I(3), I(4), t->ndim, &a, &b));
    MsInts p = to_end(t->ndim, a, b, perm);
    MsTensor *src = ms__cast_to(T(1), ms_tensor_dtype(t));
    MsTensor *y = along(flat_matrices(t, p), line(t->shape[a], t->shape[b], I(2)), src);
    for (int d = 0; d < t->ndim; d++) shape[d] = t->shape[perm[d]];
    return R(back_from_end(ms_reshape(y, (MsInts){t->ndim, shape}), p));
}

static MsStatus trace(MsApiCall *c, int offset, int axis1, int axis2, MsDtype d)
{
    MsTensor *x = ms__cast_to(diagonal_of("trace", T(0), offset, axis1, axis2), d);
    return R(ms_sum(x, MS_INTS(-1), false));
}
/* Integers and bool add up as int64. */
static MsDtype sum_dtype(const MsTensor *x)
{
    return is_exact(x) ? MS_INT64 : ms_tensor_dtype(x);
}
static MsStatus trace_of_matrix(MsApiCall *c, MsDtype d)
{
    if (T(0)->ndim != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'trace', the input must have 2 dimensions, but got %d.",
                       T(0)->ndim);
    return trace(c, 0, 0, 1, d);
}
MS_API(trace, "ops.trace", "(input: Tensor) -> Tensor")
{
    return trace_of_matrix(c, ms_tensor_dtype(T(0)));
}
MS_API(trace_mint, "mint.trace", "(input: Tensor) -> Tensor")
{
    return trace_of_matrix(c, sum_dtype(T(0)));
}
MS_API(trace_method, "Tensor.trace",
       "(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: dtype? = None) -> Tensor")
{
    return trace(c, I(1), I(2), I(3), GIVEN(4) ? DTYPE(4) : sum_dtype(T(0)));
}

/* The main diagonal of a matrix (or of a cube) filled; wrap goes on below a tall matrix after a row between.
 */
static MsTensor *filled_diagonal(MsTensor *t, const MsArg *value, bool wrap)
{
    int64_t step = 0, n = t->ndim ? t->shape[0] : 0;
    if (t->ndim < 2)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'fill_diagonal', the tensor needs 2 dimensions or more, but got %d.",
                            t->ndim);
    for (int d = 0; d < t->ndim; d++) {
        step = step * t->shape[d] + 1;
        if (t->ndim > 2 && t->shape[d] != n)
            return MS_FAIL_NULL(MS_ERROR_VALUE,
                                "For 'fill_diagonal', all axes must be equal, but got shape %s.",
                                ms__shape_text(t->ndim, t->shape));
        if (t->shape[d] < n) n = t->shape[d];
    }
    if (t->ndim == 2 && wrap) n = (t->numel + step - 1) / step;
    MsTensor *v = ms_broadcast_to(ms__number("fill_diagonal", value, ms_tensor_dtype(t)), MS_INTS(n));
    MsTensor *y = along(ms_reshape(t, MS_INTS(t->numel)), (Line){0, n, n > 1 ? step : 1}, v);
    return ms_reshape(y, (MsInts){t->ndim, t->shape});
}

MS_API(fill_diagonal, "Tensor.fill_diagonal",
       "(self: Tensor, fill_value: number, wrap: bool = False) -> Tensor")
{
    return R(filled_diagonal(T(0), ARG(1), I(2)));
}
MS_API(fill_diagonal_in, "Tensor.fill_diagonal_",
       "(self: Tensor, fill_value: number, wrap: bool = False) -> Tensor")
{
    MsTensor *y = filled_diagonal(T(0), ARG(1), I(2));
    if (!y) return ms_error()->code;
    MS_TRY(ms_tensor_write(T(0), y));
    return R(T(0));
}

/* ---- writing a region ---- */

MS_API(select_scatter, "ops.select_scatter Tensor.select_scatter",
       "(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor")
{
    MsTensor *t = T(0), *src = ms__cast_to(T(1), ms_tensor_dtype(T(0)));
    int a;
    MS_TRY(ms__api_axis("select_scatter", I(2), t->ndim, &a));
    int64_t n = t->ndim ? t->shape[a] : 0, i = I(3) < 0 ? I(3) + n : I(3);
    if (i < 0 || i >= n)
        return MS_FAIL(MS_ERROR_INDEX, "index %lld is out of bounds for dimension with size %lld",
                       (long long)I(3), (long long)n);
    int64_t begin[MS_MAX_DIM] = {0}, step[MS_MAX_DIM], shape[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++) step[d] = 1, shape[d] = d == a ? 1 : t->shape[d];
    begin[a] = i;
    src = ms_broadcast_to(ms__unsqueezed(src, a), (MsInts){t->ndim, shape});
    return R(ms_slice_update(t, src, (MsInts){t->ndim, begin}, (MsInts){t->ndim, step}));
}

MS_API(slice_scatter, "ops.slice_scatter Tensor.slice_scatter",
       "(input: Tensor, src: Tensor, axis: int = 0, start: int? = None, end: int? = None, step: int = 1) -> "
       "Tensor")
{
    MsTensor *t = T(0), *src = ms__cast_to(T(1), ms_tensor_dtype(T(0)));
    int a;
    MS_TRY(ms__api_axis("slice_scatter", I(2), t->ndim, &a));
    int64_t n = t->ndim ? t->shape[a] : 0, from = GIVEN(3) ? I(3) : 0, to = GIVEN(4) ? I(4) : n;
    if (I(5) <= 0 || t->ndim == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'slice_scatter', the step must be positive, but got %lld.",
                       (long long)I(5));
    from = from < 0 ? from + n : from, to = to < 0 ? to + n : to;
    from = from < 0 ? 0 : from > n ? n : from, to = to < from ? from : to > n ? n : to;
    int64_t begin[MS_MAX_DIM] = {0}, step[MS_MAX_DIM], shape[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++) step[d] = 1, shape[d] = t->shape[d];
    shape[a] = (to - from + I(5) - 1) / I(5);
    begin[a] = shape[a] ? from : 0, step[a] = shape[a] > 1 ? I(5) : 1;
    if (src && (src->ndim != t->ndim || memcmp(src->shape, shape, (size_t)t->ndim * sizeof *shape) != 0))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'slice_scatter', 'src' must have the shape of the slice %s, but got %s.",
                       ms__shape_text(t->ndim, shape), ms__shape_text(src->ndim, src->shape));
    return R(ms_slice_update(t, src, (MsInts){t->ndim, begin}, (MsInts){t->ndim, step}));
}

/* ---- padding ---- */

/* ---- grids ---- */

static MsStatus meshgrid(MsApiCall *c, const char *indexing)
{
    int n;
    const MsArg *item = ms__arg_items(ARG(0), &n);
    if (strcmp(indexing, "xy") != 0 && strcmp(indexing, "ij") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'meshgrid', the indexing must be 'xy' or 'ij', but got '%s'.",
                       indexing);
    if (n > MS_MAX_DIM || n == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'meshgrid', 1 to %d tensors are possible, but got %d.",
                       MS_MAX_DIM, n);
    bool swap = *indexing == 'x' && n > 1;
    int64_t shape[MS_MAX_DIM];
    MsTensor *y[MS_MAX_DIM];
    for (int k = 0; k < n; k++) {
        if (item[k].kind != MS_ARG_TENSOR || ms_tensor_ndim(item[k].t) > 1)
            return MS_FAIL(MS_ERROR_VALUE, "For 'meshgrid', the inputs must be 1-d tensors.");
        shape[swap && k < 2 ? 1 - k : k] = ms_tensor_numel(item[k].t);
    }
    for (int k = 0; k < n; k++) {
        int axis = swap && k < 2 ? 1 - k : k;
        int64_t own[MS_MAX_DIM];
        for (int d = 0; d < n; d++) own[d] = d == axis ? shape[d] : 1;
        y[k] = ms_broadcast_to(ms_reshape(item[k].t, (MsInts){n, own}), (MsInts){n, shape});
        if (!y[k]) return ms_error()->code;
    }
    return ms__api_return_list(c, n, y);
}
MS_API(meshgrid, "ops.meshgrid", "(*inputs: any, indexing: str = 'xy') -> any")
{
    return meshgrid(c, ARG(1)->s);
}
MS_API(meshgrid_mint, "mint.meshgrid", "(*tensors: any, indexing: str? = None) -> any")
{
    return meshgrid(c, GIVEN(1) ? ARG(1)->s : "ij");
}

/* ---- pixel shuffles ---- */

/* [.., C, H, W] with C = c * r * r to [.., c, H * r, W * r], and back. */
MS_API(pixel_unshuffle_more, "mint.nn.functional.pixel_unshuffle",
       "(input: Tensor, downscale_factor: int) -> Tensor")
{
    MsTensor *t = T(0);
    int64_t r = I(1);
    if (t->ndim < 3 || r <= 0 || t->shape[t->ndim - 2] % r || t->shape[t->ndim - 1] % r)
        return MS_FAIL(MS_ERROR_VALUE, "For 'pixel_unshuffle', factor %lld does not fit the shape %s.",
                       (long long)r, ms__shape_text(t->ndim, t->shape));
    const int64_t *s = t->shape + t->ndim - 3;
    int64_t lead = s[1] * s[2] > 0 ? t->numel / (s[1] * s[2]) : 0, h = s[1] / r, w = s[2] / r,
            shape[MS_MAX_DIM];
    MsTensor *y = ms_transpose(ms_reshape(t, MS_INTS(lead, h, r, w, r)), MS_INTS(0, 2, 4, 1, 3));
    memcpy(shape, t->shape, sizeof shape);
    shape[t->ndim - 3] = s[0] * r * r, shape[t->ndim - 2] = h, shape[t->ndim - 1] = w;
    return R(ms_reshape(y, (MsInts){t->ndim, shape}));
}

MS_API(channel_shuffle, "ops.channel_shuffle", "(x: Tensor, groups: int) -> Tensor")
{
    MsTensor *t = T(0);
    int64_t g = I(1);
    if (t->ndim < 3 || g <= 0 || t->shape[1] % g)
        return MS_FAIL(MS_ERROR_VALUE, "For 'channel_shuffle', %lld groups do not fit the shape %s.",
                       (long long)g, ms__shape_text(t->ndim, t->shape));
    int64_t inner = t->shape[1] ? t->shape[1] / g : 0, rest = 1;
    for (int d = 2; d < t->ndim; d++) rest *= t->shape[d];
    MsTensor *y = ms_transpose(ms_reshape(t, MS_INTS(t->shape[0], g, inner, rest)), MS_INTS(0, 2, 1, 3));
    return R(ms_reshape(y, (MsInts){t->ndim, t->shape}));
}
