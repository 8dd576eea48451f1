/* methods.c - methods of Tensor that no module has as functions: resize, choose, sum_to_size, view of the bytes as
 * another dtype, strides. Each is a composition of primitives, so that gradients and graphs come with them. */
#include "api/api.h"
#include "api/args.h"
#include "core/tensor.h"
#include "trace/trace.h"

#include <string.h>

/* ---- shapes ---- */

/* The elements in their order, cut or filled with zeros. */
MS_API(tensor_resize, "Tensor.resize", "(self: Tensor, *new_shape: any) -> Tensor")
{
    VAR("resize", 1, buf, size);
    MsTensor *flat = ms_reshape(T(0), MS_INTS(T(0)->numel));
    int64_t n = ms__numel(size.n, size.v);
    if (!flat || n < 0) return ms_error()->code;
    if (n != flat->numel) flat = ms_pad(flat, MS_INTS(0), MS_INTS(n - flat->numel), 0);
    return R(ms_reshape(flat, size));
}

MS_API(tensor_sum_to_size, "Tensor.sum_to_size", "(self: Tensor, *size: any) -> Tensor")
{
    VAR("sum_to_size", 1, buf, size);
    MsTensor *x = T(0);
    bool fits = size.n <= x->ndim;
    for (int d = 0; fits && d < size.n; d++)
        fits = size.v[d] == 1 || size.v[d] == x->shape[x->ndim - size.n + d];
    if (!fits)
        return MS_FAIL(MS_ERROR_VALUE, "For 'sum_to_size', the size %s is not expandable to the shape %s.",
                       ms__shape_text(size.n, size.v), ms__shape_text(x->ndim, x->shape));
    return R(ms_sum_to(x, size));
}

/* The same bytes under another dtype; the last axis grows or shrinks with the size of an element. */
MS_API(tensor_view_dtype, "Tensor.view", "(self: Tensor, dtype: dtype) -> Tensor")
{
    if (dtype_of(T(0)) == (MsDtype)I(1)) return R(ms_reshape(T(0), shape_of(T(0))));
    MsTensor *x = ms__concrete(T(0));
    if (!x)
        return ms__failed()
                   ? ms_error()->code
                   : MS_FAIL(MS_ERROR_RUNTIME,
                             "For 'view', the value of the tensor must be known to see its bytes as %s.",
                             ms_dtype_name((MsDtype)I(1)));
    int64_t shape[MS_MAX_DIM], strides[MS_MAX_DIM];
    int64_t from = (int64_t)ms_dtype_size(dtype_of(x)), to = (int64_t)ms_dtype_size((MsDtype)I(1));
    int n = x->ndim;
    memcpy(shape, x->shape, sizeof shape);
    memcpy(strides, x->strides, sizeof strides);
    if (from != to) {
        bool fits = n > 0 && (strides[n - 1] == 1 || shape[n - 1] <= 1) && shape[n - 1] * from % to == 0 &&
                    (uintptr_t)x->data % (uintptr_t)to == 0;
        for (int d = 0; fits && d < n - 1; d++) {
            fits = strides[d] * from % to == 0;
            strides[d] = strides[d] * from / to;
        }
        if (!fits)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For 'view', a tensor of shape %s and dtype %s cannot be seen as %s: the last axis must "
                "be dense and hold a whole number of elements.",
                ms__shape_text(n, x->shape), ms_dtype_name(dtype_of(x)), ms_dtype_name((MsDtype)I(1)));
        shape[n - 1] = shape[n - 1] * from / to;
    }
    MsTensor *bytes = ms__tensor_bitcast(x, (MsDtype)I(1));
    return R(bytes ? ms__tensor_view(bytes, n, shape, strides, 0) : NULL);
}

MS_API(tensor_as_strided, "ops.as_strided Tensor.as_strided",
       "(x: Tensor, size: any, stride: any, storage_offset: int = 0) -> Tensor")
{
    VAR("as_strided", 1, size, shape_arg);
    VAR("as_strided", 2, step, strides);
    return R(ms_as_strided(T(0), shape_arg, strides, I(3)));
}

MS_API(tensor_storage_offset, "Tensor.storage_offset", "(self: Tensor) -> int")
{
    MsTensor *x = ms__concrete(T(0));
    int64_t offset = x ? x->data - (char *)x->storage->data : 0;
    c->out = (MsArg){.kind = MS_ARG_INT, .i = offset / (int64_t)ms_dtype_size(dtype_of(T(0)))};
    return MS_OK;
}

/* ---- values ---- */

MS_API(tensor_fills, "Tensor.fills", "(self: Tensor, value: Tensor|number) -> Tensor")
{
    return R(ms_broadcast_to(ms__arg_tensor(ARG(1), T(0)), shape_of(T(0))));
}

/* choices[self[i]][i]; an index outside is clipped or taken modulo the number of choices. */
MS_API(tensor_choose, "Tensor.choose", "(self: Tensor, choices: any, mode: str = 'clip') -> Tensor")
{
    int n;
    bool wrap = strcmp(ARG(2)->s, "wrap") == 0;
    if (!wrap && strcmp(ARG(2)->s, "clip") != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'choose', the 'mode' must be 'clip' or 'wrap', but got '%s'.",
                       ARG(2)->s);
    if (!is_exact(T(0)))
        return MS_FAIL(MS_ERROR_VALUE, "For 'choose', the tensor must hold integers, but got %s.",
                       ms_dtype_name(dtype_of(T(0))));
    const MsArg *items = ms__arg_items(ARG(1), &n);
    if (ARG(1)->kind == MS_ARG_TENSOR) n = (int)(nd(T(1)) ? shape(T(1))[0] : 0);
    if (n < 1) return MS_FAIL(MS_ERROR_VALUE, "For 'choose', there must be at least one choice.");
    MsTensor *count = ms_tensor_scalar_int(MS_INT64, n), *at = ms__cast_to(T(0), MS_INT64);
    at = wrap ? ms_mod(at, count)
              : ms_maximum(ms_minimum(at, ms_tensor_scalar_int(MS_INT64, n - 1)),
                           ms_tensor_scalar_int(MS_INT64, 0));
    MsTensor *y = NULL;
    for (int k = 0; k < n; k++) {
        MsTensor *x = ARG(1)->kind == MS_ARG_TENSOR ? ms__picked(T(1), 0, k)
                                                    : ms__arg_data("choose", &items[k], MS_DTYPE_NONE);
        MsTensor *pair[2] = {y, x};
        if (!x || (y && ms__common_dtype("choose", 2, pair, pair) != MS_OK)) return ms_error()->code;
        y = ms_where(ms_eq(at, ms_tensor_scalar_int(MS_INT64, k)), pair[1], y ? pair[0] : pair[1]);
    }
    return R(y);
}

MS_API(tensor_cauchy, "Tensor.cauchy", "(self: Tensor, median: number = 0.0, sigma: number = 1.0) -> Tensor")
{
    MsDtype d = ms_dtype_is_float(dtype_of(T(0))) ? dtype_of(T(0)) : MS_FLOAT32;
    MsTensor *u = ms_rng_uniform(ms__arg_state(NULL, NULL), shape_of(T(0)), d);
    u = ms_mul(ms_sub(u, ms_tensor_scalar(d, 0.5)), ms_tensor_scalar(d, 3.14159265358979323846));
    return R(ms_add(ms_mul(ms_tan(u), ms_tensor_scalar(d, F(2))), ms_tensor_scalar(d, F(1))));
}

/* self with `value` at a flat index or a tuple of indices; without an index self has one element. */
MS_API(tensor_with_item, "_tensor.with_item", "(self: Tensor, *args: any) -> Tensor")
{
    int n = ARG(1)->n - 1, m;
    const MsArg *list = ARG(1)->list;
    MsTensor *x = T(0);
    if (n < 0 || n > 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'itemset', an index and a value must be given, but got %d arguments.", n + 1);
    int64_t at = 0, flat = 0;
    const MsArg *index = n ? ms__arg_items(&list[0], &m) : NULL;
    if (!n && x->numel != 1)
        return MS_FAIL(MS_ERROR_INDEX,
                       "For 'itemset', the index may be left out for one element, but got %lld.",
                       (long long)x->numel);
    bool tuple = n && list[0].kind == MS_ARG_LIST;
    if (tuple && m != x->ndim)
        return MS_FAIL(MS_ERROR_INDEX, "For 'itemset', there must be %d indices, but got %d.", x->ndim, m);
    for (int k = 0; n && k < m; k++) {
        int64_t size = tuple ? x->shape[k] : x->numel;
        if (index[k].kind != MS_ARG_INT)
            return MS_FAIL(MS_ERROR_TYPE, "For 'itemset', the index must be an int or a tuple of int.");
        at = index[k].i < 0 ? index[k].i + size : index[k].i;
        if (at < 0 || at >= size)
            return MS_FAIL(MS_ERROR_INDEX, "For 'itemset', the index %lld is out of range for size %lld.",
                           (long long)index[k].i, (long long)size);
        flat = flat * size + at;
    }
    MsTensor *v = ms__number("itemset", &list[n], dtype_of(x));
    MsTensor *where = ms_eq(ms_arange_int(0, 1, x->numel, MS_INT64), ms_tensor_scalar_int(MS_INT64, flat));
    return R(v ? ms_where(ms_reshape(where, shape_of(x)), ms_broadcast_to(v, shape_of(x)), x) : NULL);
}

/* self with the elements of `source` at flat indices. */
MS_API(tensor_with_put, "_tensor.with_put",
       "(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor")
{
    MsTensor *x = T(0), *index = ms__cast_to(T(1), MS_INT64), *v = ms__cast_to(T(2), dtype_of(T(0)));
    if (!index || !v) return ms_error()->code;
    if (index->numel != v->numel)
        return MS_FAIL(MS_ERROR_VALUE, "For 'put_', there are %lld indices, but %lld elements of the source.",
                       (long long)index->numel, (long long)v->numel);
    MsTensor *y = ms_put_along(ms_reshape(x, MS_INTS(x->numel)), ms_reshape(index, MS_INTS(index->numel)),
                               ms_reshape(v, MS_INTS(v->numel)), 0, I(3) ? "add" : "set");
    return R(y ? ms_reshape(y, shape_of(x)) : NULL);
}

/* x[indices]: one tensor per axis from the first on. */
MS_API(tensor_index, "Tensor.index", "(self: Tensor, indices: Tensor[]) -> Tensor")
{
    MsTensor *at[MS_MAX_DIM];
    int64_t axes[MS_MAX_DIM];
    int n = ARG(1)->n;
    if (n < 1 || n > nd(T(0)))
        return MS_FAIL(MS_ERROR_INDEX, "For 'index', there must be 1 to %d indices, but got %d.", nd(T(0)),
                       n);
    for (int k = 0; k < n; k++) {
        axes[k] = k;
        at[k] = ARG(1)->list[k].t;
        if (dtype_of(at[k]) == MS_BOOL)
            return MS_FAIL(MS_ERROR_TYPE,
                           "For 'index', the indices must be integers; a mask is used as x[mask].");
    }
    return R(ms_index(T(0), n, at, (MsInts){n, axes}));
}
