/* reduce.c - public names of reductions. Sums and products of integers and bool are int64; a mean of integers
 * keeps the dtype in the original's forms and is an error in the PyTorch-shaped ones. An axis of None or ()
 * is all axes. */
#include "api/args.h"

#include <math.h>
#include <string.h>

static MsTensor *floating(MsTensor *x)
{
    return is_exact(x) ? ms_cast(x, MS_FLOAT32) : x;
}

/* Axes of argument k; *ok = false after an error. */
static MsInts axes(MsApiCall *c, int k, int64_t *buf, bool *ok)
{
    MsInts a = INTS(k, buf);
    *ok = a.n != -2;
    return a.n == 0 ? MS_INTS_NONE : a;
}

typedef MsTensor *(*Reduction)(MsTensor *, MsInts, bool);

/* f over axis argument `a`, keepdims argument `kd` (-1: none), after a cast to dtype. */
static MsStatus reduce(MsApiCall *c, Reduction f, MsTensor *x, int a, int kd, MsDtype dtype)
{
    int64_t buf[MS_MAX_DIM];
    bool ok = true;
    MsInts axis = a < 0 ? MS_INTS_NONE : axes(c, a, buf, &ok);
    if (!ok) return ms_error()->code;
    if (dtype != MS_DTYPE_NONE && dtype_of(x) != dtype) x = ms_cast(x, dtype);
    return R(x ? f(x, axis, kd >= 0 && I(kd)) : NULL);
}

/* The dtype that a sum or product computes in. */
static MsDtype sum_dtype(const MsTensor *x, MsDtype given)
{
    if (given != MS_DTYPE_NONE) return given;
    return is_exact(x) && dtype_of(x) != MS_UINT16 && dtype_of(x) != MS_UINT32 && dtype_of(x) != MS_UINT64
               ? MS_INT64
               : MS_DTYPE_NONE;
}

MS_API(sum, "ops.sum mint.sum Tensor.sum",
       "(input: Tensor, dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) -> Tensor")
{
    return reduce(c, ms_sum, T(0), 1, 2, sum_dtype(T(0), DTYPE(3)));
}

MS_API(sum_numpy, "Tensor.sum",
       "(input: Tensor, axis: ints = None, dtype: dtype = None, keepdims: bool = False, initial: number = "
       "None) -> Tensor")
{
    MS_TRY(reduce(c, ms_sum, T(0), 1, 3, sum_dtype(T(0), DTYPE(2))));
    return GIVEN(4) ? R(ms_add(c->out.t, ms__arg_tensor(ARG(4), c->out.t))) : MS_OK;
}

MS_API(prod, "mint.prod Tensor.prod",
       "(input: Tensor, dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) -> Tensor")
{
    return reduce(c, ms_prod, T(0), 1, 2, sum_dtype(T(0), DTYPE(3)));
}

MS_API(prod_axis, "ops.prod Tensor.prod",
       "(input: Tensor, axis: ints = None, keep_dims: bool = False, dtype: dtype = None) -> Tensor")
{
    return reduce(c, ms_prod, T(0), 1, 2, sum_dtype(T(0), DTYPE(3)));
}

/* A mean of integers: the original truncates it to their dtype. */
static MsStatus mean(MsApiCall *c, int a, int kd, MsDtype dtype)
{
    MsDtype own = dtype_of(T(0));
    MsDtype work = dtype != MS_DTYPE_NONE ? dtype : is_exact(T(0)) ? MS_FLOAT64 : MS_DTYPE_NONE;
    MS_TRY(reduce(c, ms_mean, T(0), a, kd, work));
    return dtype == MS_DTYPE_NONE && dtype_of(c->out.t) != own ? R(ms_cast(c->out.t, own)) : MS_OK;
}

MS_API(mean, "ops.mean", "(x: Tensor, axis: ints = None, keep_dims: bool = False) -> Tensor")
{
    return mean(c, 1, 2, MS_DTYPE_NONE);
}

MS_API(mean_method, "Tensor.mean", "(self: Tensor, axis: ints = None, keep_dims: bool = False) -> Tensor")
{
    return mean(c, 1, 2, MS_DTYPE_NONE);
}

MS_API(mean_dim, "mint.mean Tensor.mean",
       "(input: Tensor, dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) -> Tensor")
{
    return mean(c, 1, 2, DTYPE(3));
}

static MsStatus truth(MsApiCall *c, Reduction f)
{
    return reduce(c, f, T(0), 1, 2, MS_BOOL);
}

MS_API(all_axis, "ops.all Tensor.all",
       "(input: Tensor, axis: ints = None, keep_dims: bool = False) -> Tensor")
{
    return truth(c, ms_reduce_all);
}

MS_API(all_dim, "mint.all Tensor.all", "(input: Tensor, dim: ints = None, keepdim: bool = False) -> Tensor")
{
    return truth(c, ms_reduce_all);
}

MS_API(any_axis, "ops.any Tensor.any",
       "(input: Tensor, axis: ints = None, keep_dims: bool = False) -> Tensor")
{
    return truth(c, ms_reduce_any);
}

MS_API(any_dim, "mint.any Tensor.any", "(input: Tensor, dim: ints = None, keepdim: bool = False) -> Tensor")
{
    return truth(c, ms_reduce_any);
}

/* ---- extremes ---- */

/* Argument 0 with `initial` where `where` is false; *first = `initial` as a tensor, NULL when not given. */
static MsTensor *chosen(MsApiCall *c, int initial, int where, MsTensor **first)
{
    MsTensor *x = T(0);
    *first = GIVEN(initial) ? ms__arg_tensor(ARG(initial), x) : NULL;
    if (GIVEN(initial) && !*first) return NULL;
    if (ARG(where)->kind == MS_ARG_TENSOR) {
        if (!*first)
            return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', 'initial' must be given together with 'where'.",
                                strrchr(c->row->names, '.') + 1);
        return ms_where(T(where), x, *first);
    }
    if (ARG(where)->kind == MS_ARG_BOOL && !I(where) && *first)
        return ms_where(ms_tensor_scalar_int(MS_BOOL, 0), x, *first);
    return x;
}

/* amax with `initial` and `where`. */
static MsStatus extreme(MsApiCall *c, bool largest, int a, int kd, int initial, int where)
{
    MsTensor *first, *x = chosen(c, initial, where, &first);
    if (!x) return ms_error()->code;
    MS_TRY(reduce(c, largest ? ms_reduce_max : ms_reduce_min, x, a, kd, MS_DTYPE_NONE));
    if (!first) return MS_OK;
    return R(largest ? ms_maximum(c->out.t, first) : ms_minimum(c->out.t, first));
}

MS_API(amax, "ops.amax Tensor.amax",
       "(input: Tensor, axis: ints = None, keepdims: bool = False, *, initial: number = None, "
       "where: Tensor|bool = None) -> Tensor")
{
    return extreme(c, true, 1, 2, 3, 4);
}

MS_API(amin, "ops.amin Tensor.amin",
       "(input: Tensor, axis: ints = None, keepdims: bool = False, *, initial: number = None, "
       "where: Tensor|bool = None) -> Tensor")
{
    return extreme(c, false, 1, 2, 3, 4);
}

MS_API(amax_dim, "mint.amax", "(input: Tensor, dim: ints = (), keepdim: bool = False) -> Tensor")
{
    return reduce(c, ms_reduce_max, T(0), 1, 2, MS_DTYPE_NONE);
}

MS_API(amin_dim, "mint.amin", "(input: Tensor, dim: ints = (), keepdim: bool = False) -> Tensor")
{
    return reduce(c, ms_reduce_min, T(0), 1, 2, MS_DTYPE_NONE);
}

/* (values, indices) along one axis; the gradient goes to the element found. */
static MsStatus found(MsApiCall *c, MsTensor *x, bool largest, int64_t axis, bool keep)
{
    MsTensor *at = largest ? ms_argmax(x, axis, true) : ms_argmin(x, axis, true);
    MsTensor *v = at ? ms_take_along(x, at, axis) : NULL;
    if (!v) return ms_error()->code;
    if (!keep && ms_tensor_ndim(v) > 0) {
        int64_t shape[MS_MAX_DIM];
        int nd = ms_tensor_ndim(v), n = 0, drop = (int)(axis < 0 ? axis + nd : axis);
        for (int d = 0; d < nd; d++)
            if (d != drop) shape[n++] = ms_tensor_shape(v)[d];
        v = ms_reshape(v, (MsInts){n, shape});
        at = ms_reshape(at, (MsInts){n, shape});
    }
    MsTensor *both[2] = {v, at};
    return ms__api_return_list(c, 2, both);
}

/* found() with `initial` and `where`. */
static MsStatus found_among(MsApiCall *c, bool largest, int initial, int where)
{
    MsTensor *first, *x = chosen(c, initial, where, &first);
    if (x && first) x = largest ? ms_maximum(x, first) : ms_minimum(x, first);
    return x ? found(c, x, largest, I(1), I(2)) : ms_error()->code;
}

/* ops.max: always a pair; without an axis the index is 0. */
static MsStatus pair(MsApiCall *c, bool largest)
{
    if (GIVEN(1)) return found_among(c, largest, 3, 4);
    MS_TRY(extreme(c, largest, 1, 2, 3, 4));
    MsTensor *both[2] = {c->out.t, ms_tensor_scalar_int(MS_INT64, 0)};
    return ms__api_return_list(c, 2, both);
}

MS_API(ops_max, "ops.max",
       "(input: Tensor, axis: int = None, keepdims: bool = False, *, initial: number = None, where: "
       "Tensor|bool = None) "
       "-> Tensor")
{
    return pair(c, true);
}

MS_API(ops_min, "ops.min",
       "(input: Tensor, axis: int = None, keepdims: bool = False, *, initial: number = None, where: "
       "Tensor|bool = None) "
       "-> Tensor")
{
    return pair(c, false);
}

MS_API(max_all, "mint.max Tensor.max", "(input: Tensor) -> Tensor")
{
    return R(ms_reduce_max(T(0), MS_INTS_NONE, false));
}

/* Before the row with an axis: a tensor of one integer would do for one. */
MS_API(max_pair, "mint.max", "(input: Tensor, other: Tensor) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(ms_maximum(x, y));
}

MS_API(max_dim, "mint.max Tensor.max", "(input: Tensor, dim: int, keepdim: bool = False) -> Tensor")
{
    return found(c, T(0), true, I(1), I(2));
}

MS_API(max_axis, "Tensor.max",
       "(input: Tensor, axis: ints = None, keepdims: bool = False, *, initial: number = None, "
       "where: Tensor|bool = True, return_indices: bool = False) -> Tensor")
{
    if (!I(5)) return extreme(c, true, 1, 2, 3, 4);
    if (ARG(1)->kind != MS_ARG_INT)
        return MS_FAIL(MS_ERROR_TYPE, "For 'max', 'axis' must be an int when 'return_indices' is True.");
    return found_among(c, true, 3, 4);
}

MS_API(min_all, "mint.min Tensor.min", "(input: Tensor) -> Tensor")
{
    return R(ms_reduce_min(T(0), MS_INTS_NONE, false));
}

MS_API(min_pair, "mint.min", "(input: Tensor, other: Tensor) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return R(ms_minimum(x, y));
}

MS_API(min_dim, "mint.min Tensor.min", "(input: Tensor, dim: int, keepdim: bool = False) -> Tensor")
{
    return found(c, T(0), false, I(1), I(2));
}

MS_API(min_axis, "Tensor.min",
       "(input: Tensor, axis: ints = None, keepdims: bool = False, *, initial: number = None, "
       "where: Tensor|bool = True, return_indices: bool = False) -> Tensor")
{
    if (!I(5)) return extreme(c, false, 1, 2, 3, 4);
    if (ARG(1)->kind != MS_ARG_INT)
        return MS_FAIL(MS_ERROR_TYPE, "For 'min', 'axis' must be an int when 'return_indices' is True.");
    return found_among(c, false, 3, 4);
}

/* The original gives int64 for the largest and, but for mint, int32 for the smallest. */
static MsStatus where_is(MsApiCall *c, MsTensor *(*f)(MsTensor *, int64_t, bool), MsDtype dtype)
{
    if (GIVEN(1)) return R(ms_cast(f(T(0), I(1), I(2)), dtype));
    int64_t n = ms_tensor_numel(T(0));
    MsTensor *at = ms_cast(f(ms_reshape(T(0), (MsInts){1, &n}), 0, false), dtype);
    if (!I(2) || !at) return R(at);
    int64_t ones[MS_MAX_DIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    return R(ms_reshape(at, (MsInts){ms_tensor_ndim(T(0)), ones}));
}

MS_API(argmax, "ops.argmax mint.argmax Tensor.argmax",
       "(input: Tensor, dim: int = None, keepdim: bool = False) -> Tensor")
{
    return where_is(c, ms_argmax, MS_INT64);
}

MS_API(argmax_axis, "Tensor.argmax", "(input: Tensor, axis: int = None, keepdims: bool = False) -> Tensor")
{
    return where_is(c, ms_argmax, MS_INT64);
}

MS_API(argmin, "ops.argmin Tensor.argmin",
       "(input: Tensor, axis: int = None, keepdims: bool = False) -> Tensor")
{
    return where_is(c, ms_argmin, MS_INT32);
}

MS_API(argmin_mint, "mint.argmin", "(input: Tensor, dim: int = None, keepdim: bool = False) -> Tensor")
{
    return where_is(c, ms_argmin, MS_INT64);
}

MS_API(argmin_method, "Tensor.argmin", "(input: Tensor, dim: int = None, keepdim: bool = False) -> Tensor")
{
    return where_is(c, ms_argmin, MS_INT32);
}

/* ---- spread ---- */

static MsTensor *spread(MsApiCall *c, int a, int64_t ddof, bool keep, bool root)
{
    int64_t buf[MS_MAX_DIM];
    bool ok;
    MsInts axis = axes(c, a, buf, &ok);
    MsTensor *v = ok ? ms_var(floating(T(0)), axis, keep, ddof) : NULL;
    if (!v || !root) return v;
    MsTensor *zero = ms_tensor_scalar(ms_tensor_dtype(v), 0), *none = ms_eq(v, zero);
    /* The root has no slope at 0: equal elements get none. */
    return ms_where(none, zero, ms_sqrt(ms_where(none, ms_tensor_scalar(ms_tensor_dtype(v), 1), v)));
}

/* ddof as the original takes it: an int or a bool (unbiased). */
MS_API(var, "ops.var Tensor.var",
       "(input: Tensor, axis: ints = None, ddof: int|bool = 0, keepdims: bool = False) -> Tensor")
{
    return R(spread(c, 1, I(2), I(3), false));
}

MS_API(std, "ops.std Tensor.std",
       "(input: Tensor, axis: ints = None, ddof: int|bool = 0, keepdims: bool = False) -> Tensor")
{
    return R(spread(c, 1, I(2), I(3), true));
}

MS_API(var_dim, "mint.var",
       "(input: Tensor, dim: ints = None, *, correction: int = 1, keepdim: bool = False) -> Tensor")
{
    return R(spread(c, 1, I(2), I(3), false));
}
MS_API_ALSO(var_method, var_dim, "Tensor.var",
            "(input: Tensor, dim: ints = None, *, correction: int = 1, keepdim: bool = False) -> Tensor")

MS_API(std_dim, "mint.std",
       "(input: Tensor, dim: ints = None, *, correction: int = 1, keepdim: bool = False) -> Tensor")
{
    return R(spread(c, 1, I(2), I(3), true));
}
MS_API_ALSO(std_method, std_dim, "Tensor.std",
            "(input: Tensor, dim: ints = None, *, correction: int = 1, keepdim: bool = False) -> Tensor")

static MsStatus with_mean(MsApiCall *c, bool root)
{
    int64_t buf[MS_MAX_DIM];
    bool ok;
    MsInts axis = axes(c, 1, buf, &ok);
    if (!ok) return ms_error()->code;
    MsTensor *both[2] = {spread(c, 1, I(2), I(3), root), ms_mean(floating(T(0)), axis, I(3))};
    return ms__api_return_list(c, 2, both);
}

MS_API(var_mean, "ops.var_mean",
       "(input: Tensor, axis: ints = None, ddof: int|bool = 0, keepdims: bool = False) -> Tensor")
{
    return with_mean(c, false);
}

MS_API(std_mean, "ops.std_mean",
       "(input: Tensor, axis: ints = None, ddof: int|bool = 0, keepdims: bool = False) -> Tensor")
{
    return with_mean(c, true);
}

MS_API(var_mean_dim, "mint.var_mean",
       "(input: Tensor, dim: ints = None, *, correction: int = 1, keepdim: bool = False) -> Tensor")
{
    return with_mean(c, false);
}

MS_API(std_mean_dim, "mint.std_mean",
       "(input: Tensor, dim: ints = None, *, correction: int = 1, keepdim: bool = False) -> Tensor")
{
    return with_mean(c, true);
}

MS_API(logsumexp, "ops.logsumexp mint.logsumexp Tensor.logsumexp",
       "(input: Tensor, dim: ints, keepdim: bool = False) -> Tensor")
{
    return reduce(c, ms_logsumexp, floating(T(0)), 1, 2, MS_DTYPE_NONE);
}

static MsStatus count(MsApiCall *c, int kd, MsDtype dtype)
{
    MsTensor *x = T(0), *hit = ms_ne(x, ms_tensor_scalar(dtype_of(x), 0));
    return hit ? reduce(c, ms_sum, hit, 1, kd, dtype) : ms_error()->code;
}

MS_API(count_nonzero, "ops.count_nonzero Tensor.count_nonzero",
       "(x: Tensor, axis: ints = (), keep_dims: bool = False, dtype: dtype = int32) -> Tensor")
{
    return count(c, 2, GIVEN(3) ? DTYPE(3) : MS_INT32);
}

MS_API(count_nonzero_dim, "mint.count_nonzero Tensor.count_nonzero",
       "(input: Tensor, dim: ints = None) -> Tensor")
{
    return count(c, -1, MS_INT64);
}

static MsTensor *no_nan(MsTensor *x)
{
    return is_exact(x) ? x : ms_where(ms_is_nan(x), ms_tensor_scalar(dtype_of(x), 0), x);
}

MS_API(nansum, "ops.nansum Tensor.nansum",
       "(input: Tensor, axis: ints = None, keepdims: bool = False, *, dtype: dtype = None) -> Tensor")
{
    return reduce(c, ms_sum, no_nan(T(0)), 1, 2, sum_dtype(T(0), DTYPE(3)));
}

MS_API(nansum_dim, "mint.nansum Tensor.nansum",
       "(input: Tensor, dim: ints = None, keepdim: bool = False, *, dtype: dtype = None) -> Tensor")
{
    return reduce(c, ms_sum, no_nan(T(0)), 1, 2, sum_dtype(T(0), DTYPE(3)));
}
