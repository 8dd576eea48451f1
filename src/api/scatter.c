/* gather.c - rows that read and write by index tensors. tensor_scatter_* return a new tensor, scatter_* and
 * the names that end in _ write into the first argument. Coordinates (the *_nd family) combine through one
 * flattened index, so that every reduction has one implementation. */
#include "api/args.h"

#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* An index of any integer dtype as the operators take it. */
static MsTensor *index_of(const char *op, MsTensor *t)
{
    if (!t) return NULL;
    MsDtype dtype = ms_tensor_dtype(t);
    if (dtype == MS_INT32 || dtype == MS_INT64) return t;
    if (ms_dtype_is_int(dtype)) return ms_cast(t, MS_INT64);
    return MS_FAIL_NULL(MS_ERROR_TYPE, "For '%s', the index must be of an integer type, but got %s.", op,
                        ms_dtype_name(dtype));
}

/* The cast of src, or a number spread over the index's shape. */
static MsTensor *source(const char *op, const MsArg *a, MsTensor *t, MsTensor *index)
{
    if (!index) return NULL;
    MsInts shape = {index->ndim, index->shape};
    if (a->kind != MS_ARG_TENSOR) return ms_broadcast_to(ms__number(op, a, ms_tensor_dtype(t)), shape);
    MsTensor *s = ms__cast_to(a->t, ms_tensor_dtype(t));
    if (!s || s->ndim != index->ndim) return s;
    bool larger = false; /* only the part that the index covers counts */
    int64_t zero[MS_MAX_DIM] = {0}, one[MS_MAX_DIM];
    for (int d = 0; d < s->ndim; d++) {
        one[d] = 1;
        larger |= s->shape[d] > index->shape[d];
        if (s->shape[d] < index->shape[d]) return s;
    }
    return larger ? ms_slice(s, (MsInts){s->ndim, zero}, shape, (MsInts){s->ndim, one}) : s;
}

/* Runs `expr` and stores it into the first argument. */
static MsStatus into_self(MsApiCall *c, MsTensor *y)
{
    if (!y) return ms_error()->code;
    MS_TRY(ms_tensor_write(T(0), y));
    return R(T(0));
}

/* ---- reading ---- */

MS_API(take_mint, "mint.take Tensor.take", "(input: Tensor, index: Tensor) -> Tensor")
{
    MsTensor *index = index_of("take", T(1));
    return index ? R(ms_gather(ms_reshape(T(0), MS_INTS(T(0)->numel)), index, 0)) : ms_error()->code;
}
MS_API(take_method, "Tensor.take",
       "(self: Tensor, indices: any, axis: int? = None, mode: str = 'clip') -> Tensor")
{
    MsTensor *x = T(0), *index = ms__arg_data("take", ARG(1), MS_INT64);
    const char *mode = ARG(3)->s;
    int axis = 0;
    if (!index) return ms_error()->code;
    if (GIVEN(2))
        MS_TRY(ms__api_axis("take", I(2), x->ndim, &axis));
    else
        x = ms_reshape(x, MS_INTS(x->numel));
    if (!x) return ms_error()->code;
    int64_t n = x->ndim ? x->shape[axis] : 1;
    MsInts none = {0, NULL};
    MsTensor *size = ms_full_int(none, n, MS_INT64);
    if (strcmp(mode, "wrap") == 0 && n > 0)
        index = ms_mod(index, size);
    else if (strcmp(mode, "clip") == 0)
        index =
            ms_maximum(ms_minimum(index, ms_full_int(none, n - 1, MS_INT64)), ms_full_int(none, 0, MS_INT64));
    else if (strcmp(mode, "raise") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'take', the mode must be 'raise', 'wrap' or 'clip', but got '%s'.", mode);
    return R(ms_gather(x, index, axis));
}

/* ---- masks ---- */

static MsTensor *mask_fill(MsApiCall *c)
{
    MsTensor *x = T(0), *mask = T(1);
    if (ms_tensor_dtype(mask) != MS_BOOL)
        return MS_FAIL_NULL(MS_ERROR_TYPE, "For 'masked_fill', the mask must be of type bool, but got %s.",
                            ms_dtype_name(ms_tensor_dtype(mask)));
    MsTensor *v = ARG(2)->kind == MS_ARG_TENSOR ? ms__cast_to(T(2), ms_tensor_dtype(x))
                                                : ms__number("masked_fill", ARG(2), ms_tensor_dtype(x));
    if (v && v->ndim > 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'masked_fill', the value must have no dimensions, but got shape %s.",
                            ms__shape_text(v->ndim, v->shape));
    return ms_where(mask, v, x);
}
MS_API(masked_fill_in, "Tensor.masked_fill_", "(self: Tensor, mask: Tensor, value: Tensor|number) -> Tensor")
{
    return into_self(c, mask_fill(c));
}

static MsStatus broadcast_both(const char *op, MsTensor **a, MsTensor **b)
{
    MsInts shape = {(*a)->ndim > (*b)->ndim ? (*a)->ndim : (*b)->ndim, NULL};
    int64_t s[MS_MAX_DIM];
    for (int d = 1; d <= shape.n; d++) {
        int64_t p = d <= (*a)->ndim ? (*a)->shape[(*a)->ndim - d] : 1,
                q = d <= (*b)->ndim ? (*b)->shape[(*b)->ndim - d] : 1;
        if (p != q && p != 1 && q != 1)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the shapes %s and %s need to broadcast.", op,
                           ms__shape_text((*a)->ndim, (*a)->shape), ms__shape_text((*b)->ndim, (*b)->shape));
        s[shape.n - d] = p == 1 ? q : p;
    }
    shape.v = s;
    *a = ms_broadcast_to(*a, shape);
    *b = ms_broadcast_to(*b, shape);
    return *a && *b ? MS_OK : ms_error()->code;
}

/* Positions of the true elements of a mask, in the flattened tensor. */
static MsTensor *true_positions(MsTensor *mask)
{
    MsTensor *at = ms_nonzero(ms_reshape(mask, MS_INTS(mask->numel)));
    return at ? ms_reshape(at, MS_INTS(at->numel)) : NULL;
}

MS_API(masked_scatter, "Tensor.masked_scatter", "(self: Tensor, mask: Tensor, source: Tensor) -> Tensor")
{
    MsTensor *x = T(0), *mask = ms__cast_to(T(1), MS_BOOL), *src = ms__cast_to(T(2), ms_tensor_dtype(x));
    if (!mask || !src) return ms_error()->code;
    MS_TRY(broadcast_both("masked_scatter", &x, &mask));
    MsTensor *at = true_positions(mask);
    if (!at) return ms_error()->code;
    if (src->numel < at->numel)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'masked_scatter', the source has %lld elements, but the mask selects %lld.",
                       (long long)src->numel, (long long)at->numel);
    MsTensor *part = ms__narrowed(ms_reshape(src, MS_INTS(src->numel)), 0, 0, at->numel);
    MsTensor *y = ms_put_along(ms_reshape(x, MS_INTS(x->numel)), at, part, 0, "set");
    return R(ms_reshape(y, (MsInts){x->ndim, x->shape}));
}

/* ---- scatter along an axis ---- */

static MsTensor *scattered(MsApiCall *c, const char *op, const char *mode)
{
    MsTensor *index = index_of(op, T(2));
    return index ? ms_put_along(T(0), index, source(op, ARG(3), T(0), index), I(1), mode) : NULL;
}

/* PyTorch's and the original's words for a reduction. */
static const char *reduce_mode(const char *op, const MsArg *a)
{
    const char *s = a->kind == MS_ARG_STR ? a->s : "none";
    if (strcmp(s, "none") == 0 || strcmp(s, "update") == 0) return "set";
    if (strcmp(s, "add") == 0) return "add";
    if (strcmp(s, "mul") == 0 || strcmp(s, "multiply") == 0) return "mul";
    if (strcmp(s, "max") == 0) return "max";
    if (strcmp(s, "min") == 0) return "min";
    return MS_FAIL_NULL(
        MS_ERROR_VALUE,
        "For '%s', the reduction must be 'none', 'add', 'multiply', 'max' or 'min', but got '%s'.", op, s);
}

MS_API(scatter_in, "Tensor.scatter_",
       "(self: Tensor, dim: int, index: Tensor, src: Tensor|number, *, reduce: str? = None) -> Tensor")
{
    const char *mode = reduce_mode("scatter_", ARG(4));
    return mode ? into_self(c, scattered(c, "scatter_", mode)) : ms_error()->code;
}
MS_API(scatter_in_value, "Tensor.scatter_",
       "(self: Tensor, dim: int, index: Tensor, value: Tensor|number, *, reduce: str? = None) -> Tensor")
{
    const char *mode = reduce_mode("scatter_", ARG(4));
    return mode ? into_self(c, scattered(c, "scatter_", mode)) : ms_error()->code;
}
MS_API(scatter_add_in, "Tensor.scatter_add_",
       "(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor")
{
    return into_self(c, scattered(c, "scatter_add_", "add"));
}
/* ---- whole slices along an axis ---- */

/* Locks and bounds are no choice: a row writes once, after every index was checked, whatever `use_lock`,
 * `use_locking` and `check_index_bound` say. */

static MsTensor *index_add(const char *op, MsTensor *x, int64_t axis, MsTensor *index, MsTensor *src,
                           const MsArg *alpha)
{
    index = index_of(op, index);
    src = ms__cast_to(src, ms_tensor_dtype(x));
    if (!index || !src) return NULL;
    if (index->ndim != 1)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the index must be 1-d, but got %d dimensions.", op,
                            index->ndim);
    bool scaled = alpha && !((alpha->kind == MS_ARG_INT || alpha->kind == MS_ARG_BOOL) && alpha->i == 1);
    if (scaled) src = ms_mul(src, ms__number(op, alpha, ms_tensor_dtype(x)));
    return ms_scatter_add(x, index, src, axis);
}
MS_API(index_add_mint, "mint.index_add Tensor.index_add",
       "(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: number = 1) -> Tensor")
{
    return R(index_add("index_add", T(0), I(1), T(2), T(3), ARG(4)));
}
MS_API(index_add_in, "Tensor.index_add_",
       "(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: number = 1) -> Tensor")
{
    return into_self(c, index_add("index_add_", T(0), I(1), T(2), T(3), ARG(4)));
}
MS_API(index_add_method, "Tensor.index_add",
       "(self: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool "
       "= True) -> Tensor")
{
    return R(index_add("index_add", T(0), I(3), T(1), T(2), NULL));
}
MS_API(index_add_ops, "ops.index_add",
       "(x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = "
       "True) -> Tensor")
{
    return into_self(c, index_add("index_add", T(0), I(3), T(1), T(2), NULL));
}
MS_API(inplace_index_add, "ops.inplace_index_add",
       "(var: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor")
{
    return into_self(c, index_add("inplace_index_add", T(0), I(3), T(1), T(2), NULL));
}

/* x with the slices at index set to v: a number, a 0-d tensor or the slices. */
static MsTensor *index_set(const char *op, MsTensor *x, int64_t dim, MsTensor *index, const MsArg *value)
{
    int axis;
    if (ms__api_axis(op, dim, x->ndim, &axis) != MS_OK || !(index = index_of(op, index))) return NULL;
    if (index->ndim > 1)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the index must be 1-d, but got %d dimensions.", op,
                            index->ndim);
    index = ms_reshape(index, MS_INTS(index->numel));
    MsTensor *v = value->kind == MS_ARG_TENSOR ? ms__cast_to(value->t, ms_tensor_dtype(x))
                                               : ms__number(op, value, ms_tensor_dtype(x));
    int64_t shape[MS_MAX_DIM];
    if (!index || x->ndim == 0)
        return index
                   ? MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the input must have at least one dimension.", op)
                   : NULL;
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = index->numel;
    v = ms_broadcast_to(v, (MsInts){x->ndim, shape});
    return ms_index_put(x, v, 1, &index, MS_INTS(axis), false);
}
MS_API(index_fill, "ops.index_fill Tensor.index_fill",
       "(x: Tensor, axis: int, index: Tensor, value: Tensor|number) -> Tensor")
{
    return R(index_set("index_fill", T(0), I(1), T(2), ARG(3)));
}
MS_API(index_fill_in, "Tensor.index_fill_",
       "(self: Tensor, dim: int, index: Tensor, value: Tensor|number) -> Tensor")
{
    return into_self(c, index_set("index_fill_", T(0), I(1), T(2), ARG(3)));
}
MS_API(index_copy_in, "Tensor.index_copy_",
       "(self: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor")
{
    return into_self(c, index_set("index_copy_", T(0), I(1), T(2), ARG(3)));
}

/* rows indices of x, combined with v */
static MsTensor *rows(const char *op, MsTensor *x, const MsArg *where, MsTensor *v, const char *mode)
{
    MsTensor *index = ms__arg_data(op, where, MS_INT64);
    v = ms__cast_to(v, ms_tensor_dtype(x));
    if (!index || !v) return NULL;
    if (index->ndim == 0) index = ms_reshape(index, MS_INTS(1));
    if (strcmp(mode, "sub") == 0) return ms_scatter_add(x, index, ms_neg(v), 0);
    if (strcmp(mode, "add") == 0) return ms_scatter_add(x, index, v, 0);
    return ms_index_put(x, v, 1, &index, MS_INTS(0), false);
}
MS_API(inplace_add, "ops.inplace_add", "(x: Tensor, v: Tensor, indices: any) -> Tensor")
{
    return R(rows("inplace_add", T(0), ARG(2), T(1), "add"));
}
MS_API(inplace_sub, "ops.inplace_sub", "(x: Tensor, v: Tensor, indices: any) -> Tensor")
{
    return R(rows("inplace_sub", T(0), ARG(2), T(1), "sub"));
}
MS_API(inplace_update, "ops.inplace_update Tensor.inplace_update",
       "(x: Tensor, v: Tensor, indices: any) -> Tensor")
{
    return R(rows("inplace_update", T(0), ARG(2), T(1), "set"));
}

static MsTensor *index_put(MsApiCall *c)
{
    MsTensor *x = T(0), *v = ms__cast_to(T(2), ms_tensor_dtype(T(0))), *idx[MS_MAX_DIM];
    int n, m = 0;
    const MsArg *item = ms__arg_items(ARG(1), &n);
    int64_t axes[MS_MAX_DIM], shape[MS_MAX_DIM];
    for (int k = 0; k < n; k++) {
        if (item[k].kind != MS_ARG_TENSOR)
            return MS_FAIL_NULL(MS_ERROR_TYPE, "For 'index_put', the indices must be Tensors.");
        MsTensor *t = item[k].t;
        int r = ms_tensor_dtype(t) == MS_BOOL ? ms_tensor_ndim(t) : 1;
        if (m + r > x->ndim)
            return MS_FAIL_NULL(MS_ERROR_INDEX, "too many indices for tensor of dimension %d", x->ndim);
        MsTensor *at = ms_tensor_dtype(t) == MS_BOOL ? ms_nonzero(t) : NULL;
        if (ms_tensor_dtype(t) == MS_BOOL && !at) return NULL;
        for (int j = 0; j < r; j++, m++) {
            axes[m] = m;
            if (!(idx[m] = at ? ms__picked(at, 1, j) : index_of("index_put", t))) return NULL;
        }
    }
    /* the index arrays broadcast together; the value to their shape and the rest */
    int nb = 0;
    int64_t b[MS_MAX_DIM];
    for (int d = 0; d < MS_MAX_DIM; d++) b[d] = 1;
    for (int k = 0; k < m; k++) {
        if (idx[k]->ndim > nb) nb = idx[k]->ndim;
        for (int d = 1; d <= idx[k]->ndim; d++)
            if (idx[k]->shape[idx[k]->ndim - d] != 1) b[d - 1] = idx[k]->shape[idx[k]->ndim - d];
    }
    if (nb + x->ndim - m > MS_MAX_DIM || m == 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'index_put', %d indices do not fit the shape %s.", m,
                            ms__shape_text(x->ndim, x->shape));
    for (int d = 0; d < nb; d++) shape[d] = b[nb - 1 - d];
    for (int d = m; d < x->ndim; d++) shape[nb + d - m] = x->shape[d];
    v = ms_broadcast_to(v, (MsInts){nb + x->ndim - m, shape});
    return ms_index_put(x, v, m, idx, (MsInts){m, axes}, I(3));
}
MS_API(index_put, "Tensor.index_put",
       "(self: Tensor, indices: any, values: Tensor, accumulate: bool = False) -> Tensor")
{
    return R(index_put(c));
}
MS_API(index_put_in, "Tensor.index_put_",
       "(self: Tensor, indices: any, values: Tensor, accumulate: bool = False) -> Tensor")
{
    return into_self(c, index_put(c));
}

/* ---- coordinates ---- */

/* x with the slices at the coordinates combined with the updates, through a flattened index per element. */
static MsTensor *scatter_nd(const char *op, MsTensor *x, MsTensor *index, MsTensor *v, const char *mode)
{
    if (!x) return NULL;
    index = index_of(op, index);
    v = ms__cast_to(v, ms_tensor_dtype(x));
    if (!index || !v) return NULL;
    if (strcmp(mode, "set") == 0 || strcmp(mode, "add") == 0) return ms_scatter_nd(x, index, v, mode);
    if (strcmp(mode, "sub") == 0) return ms_scatter_nd(x, index, ms_neg(v), "add");
    int k = index->ndim ? (int)index->shape[index->ndim - 1] : 0;
    int64_t inner = 1, step[MS_MAX_DIM];
    if (k < 1 || k > x->ndim)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', coordinates of shape %s do not fit the shape %s.", op,
                            ms__shape_text(index->ndim, index->shape), ms__shape_text(x->ndim, x->shape));
    for (int d = k; d < x->ndim; d++) inner *= x->shape[d];
    int64_t n = index->numel / k, size = inner;
    for (int d = k - 1; d >= 0; d--) step[d] = size, size *= x->shape[d];
    int64_t kk = k;
    MsTensor *steps = ms_tensor_from(MS_INT64, 1, &kk, step);
    MsTensor *at =
        ms_sum(ms_mul(ms_reshape(ms__cast_to(index, MS_INT64), MS_INTS(n, k)), steps), MS_INTS(1), true);
    at = ms_reshape(ms_add(at, ms_arange_int(0, 1, inner, MS_INT64)), MS_INTS(n * inner));
    if (v->numel != n * inner)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', the updates of shape %s do not fit the coordinates.",
                            op, ms__shape_text(v->ndim, v->shape));
    v = ms_reshape(v, MS_INTS(n * inner));
    if (strcmp(mode, "div") == 0) { /* by the product of the divisors of each place */
        MsTensor *by = ms_put_along(ms_full(MS_INTS(x->numel), 1, ms_tensor_dtype(x)), at, v, 0, "mul");
        by = ms_reshape(by, (MsInts){x->ndim, x->shape});
        return ms_dtype_is_int(ms_tensor_dtype(x)) ? ms_floor_div(x, by) : ms_div(x, by);
    }
    return ms_reshape(ms_put_along(ms_reshape(x, MS_INTS(x->numel)), at, v, 0, mode),
                      (MsInts){x->ndim, x->shape});
}

MS_API(tensor_scatter_sub, "ops.tensor_scatter_sub Tensor.scatter_sub",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return R(scatter_nd("tensor_scatter_sub", T(0), T(1), T(2), "sub"));
}
MS_API(tensor_scatter_mul, "ops.tensor_scatter_mul Tensor.scatter_mul",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return R(scatter_nd("tensor_scatter_mul", T(0), T(1), T(2), "mul"));
}
MS_API(tensor_scatter_div, "ops.tensor_scatter_div Tensor.scatter_div",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return R(scatter_nd("tensor_scatter_div", T(0), T(1), T(2), "div"));
}
MS_API(tensor_scatter_max, "ops.tensor_scatter_max Tensor.scatter_max",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return R(scatter_nd("tensor_scatter_max", T(0), T(1), T(2), "max"));
}
MS_API(tensor_scatter_min, "ops.tensor_scatter_min Tensor.scatter_min",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return R(scatter_nd("tensor_scatter_min", T(0), T(1), T(2), "min"));
}
MS_API(scatter_nd_add, "ops.scatter_nd_add",
       "(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor")
{
    return into_self(c, scatter_nd("scatter_nd_add", T(0), T(1), T(2), "add"));
}
MS_API(scatter_nd_sub, "ops.scatter_nd_sub",
       "(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor")
{
    return into_self(c, scatter_nd("scatter_nd_sub", T(0), T(1), T(2), "sub"));
}
MS_API(scatter_nd_mul, "ops.scatter_nd_mul",
       "(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor")
{
    return into_self(c, scatter_nd("scatter_nd_mul", T(0), T(1), T(2), "mul"));
}
MS_API(scatter_nd_div, "ops.scatter_nd_div",
       "(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor")
{
    return into_self(c, scatter_nd("scatter_nd_div", T(0), T(1), T(2), "div"));
}
MS_API(scatter_nd_max, "ops.scatter_nd_max",
       "(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor")
{
    return into_self(c, scatter_nd("scatter_nd_max", T(0), T(1), T(2), "max"));
}
MS_API(scatter_nd_min, "ops.scatter_nd_min",
       "(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor")
{
    return into_self(c, scatter_nd("scatter_nd_min", T(0), T(1), T(2), "min"));
}

/* The index of slices along axis 0 as coordinates of one entry. */
static MsTensor *slices(const char *op, MsApiCall *c, const char *mode)
{
    return scatter_nd(op, T(0), ms__unsqueezed(T(1), T(1)->ndim), T(2), mode);
}
MS_API(scatter_update_ops, "ops.scatter_update",
       "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return into_self(c, slices("scatter_update", c, "set"));
}
MS_API(scatter_add_ops, "ops.scatter_add", "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return into_self(c, slices("scatter_add", c, "add"));
}
MS_API(scatter_mul_ops, "ops.scatter_mul", "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return into_self(c, slices("scatter_mul", c, "mul"));
}
MS_API(scatter_div_ops, "ops.scatter_div", "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return into_self(c, slices("scatter_div", c, "div"));
}
MS_API(scatter_max_ops, "ops.scatter_max", "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return into_self(c, slices("scatter_max", c, "max"));
}
MS_API(scatter_min_ops, "ops.scatter_min", "(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor")
{
    return into_self(c, slices("scatter_min", c, "min"));
}
MS_API(scatter_nd_ops, "ops.scatter_nd", "(indices: Tensor, updates: Tensor, shape: any) -> Tensor")
{
    VAR("scatter_nd", 2, buf, shape);
    MsTensor *zero = ms_full_int(shape, 0, ms_tensor_dtype(T(1)));
    return R(zero ? scatter_nd("scatter_nd", zero, T(0), T(1), "add") : NULL);
}

/* ---- one_hot ---- */

/* `on` where the class is the position along a new axis, `off` elsewhere; classes out of range give only
 * `off`. */
static MsTensor *one_hot(MsTensor *index, int64_t depth, int axis, MsTensor *on, MsTensor *off)
{
    int64_t shape[MS_MAX_DIM];
    if (!index || !on || !off) return NULL;
    for (int d = 0; d <= index->ndim && d < MS_MAX_DIM; d++) shape[d] = d == axis ? depth : 1;
    MsTensor *classes = ms_arange_int(0, 1, depth, ms_tensor_dtype(index));
    MsTensor *x = ms__unsqueezed(index, axis);
    return x ? ms_where(ms_eq(x, ms_reshape(classes, (MsInts){index->ndim + 1, shape})), on, off) : NULL;
}

MS_API(one_hot_mint, "mint.nn.functional.one_hot", "(tensor: Tensor, num_classes: int = -1) -> Tensor")
{
    MsTensor *index = index_of("one_hot", T(0));
    int64_t n = I(1), most = -1, least = 0;
    MsInts none = {0, NULL};
    if (!index) return ms_error()->code;
    if (n < 0 || ms__concrete(index)) {
        int64_t *v = ms__malloc((size_t)(index->numel ? index->numel : 1) * sizeof *v);
        MsStatus st = v ? ms__tensor_read(index, MS_INT64, v) : ms_error()->code;
        for (int64_t k = 0; st == MS_OK && k < index->numel; k++) {
            if (v[k] > most) most = v[k];
            if (v[k] < least) least = v[k];
        }
        free(v);
        MS_TRY(st);
    }
    if (n < 0) n = most + 1;
    if (least < 0 || most >= n)
        return MS_FAIL(MS_ERROR_VALUE, "For 'one_hot', the classes must be in [0, %lld), but got %lld.",
                       (long long)n, (long long)(least < 0 ? least : most));
    return R(one_hot(index, n, index->ndim, ms_full_int(none, 1, MS_INT64), ms_full_int(none, 0, MS_INT64)));
}

/* ---- nonzero ---- */

MS_API(argwhere, "ops.argwhere Tensor.argwhere", "(input: Tensor) -> Tensor")
{
    return R(ms_nonzero(T(0)));
}
