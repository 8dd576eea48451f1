/* join.c - rows that stack tensors side by side (hstack and its kin) and cut them into pieces. Lists of mixed
 * dtypes are brought to the common one; pieces are views. */
#include "api/args.h"

#include "core/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- join ---- */

/* The tensors of a list argument in `out` (room for n), brought to one dtype. */
static MsTensor **tensors(const char *op, const MsArg *a, int *n)
{
    const MsArg *item = ms__arg_items(a, n);
    MsTensor **t = ms__malloc((size_t)(*n ? *n : 1) * sizeof *t);
    if (!t) return NULL;
    bool ok = *n > 0;
    if (!ok) MS_FAIL(MS_ERROR_VALUE, "For '%s', at least one tensor must be given.", op);
    for (int k = 0; k < *n && ok; k++) {
        ok = item[k].kind == MS_ARG_TENSOR;
        if (!ok) MS_FAIL(MS_ERROR_TYPE, "For '%s', all elements of the list must be Tensors.", op);
        if (ok) t[k] = item[k].t;
    }
    if (ok && ms__common_dtype(op, *n, t, t) == MS_OK) return t;
    free(t);
    return NULL;
}

static MsTensor *concatenated(int n, MsTensor **t, int64_t axis)
{
    int m = 0, rank = 0; /* as numpy's and PyTorch's, 1-d empty tensors join with anything */
    for (int k = 0; k < n; k++)
        if (t[k]->ndim > rank) rank = t[k]->ndim;
    for (int k = 0; k < n; k++)
        if (t[k]->ndim == rank || t[k]->ndim != 1 || t[k]->numel) t[m++] = t[k];
    return ms_concat(m, t, axis);
}

static MsTensor *at_least(MsTensor *t, int rank)
{
    int64_t s[3] = {1, 1, 1};
    if (t->ndim >= rank) return t;
    if (rank == 1) return ms_reshape(t, MS_INTS(1));
    if (rank == 2) {
        s[1] = t->numel;
        return ms_reshape(t, (MsInts){2, s});
    }
    if (t->ndim == 1) s[1] = t->shape[0];
    if (t->ndim == 2) s[0] = t->shape[0], s[1] = t->shape[1];
    return ms_reshape(t, (MsInts){3, s});
}

/* Joins after raising every tensor to `rank`; axis_1d: the axis for tensors that were at most 1-d. */
static MsStatus join(MsApiCall *c, const char *op, int rank, int axis, bool columns)
{
    int n;
    MsTensor **t = tensors(op, ARG(0), &n), *y = NULL;
    if (!t) return ms_error()->code;
    bool ok = true, flat = true;
    for (int k = 0; k < n && ok; k++) {
        flat = flat && t[k]->ndim <= 1;
        if (columns && t[k]->ndim <= 1) t[k] = ms_reshape(t[k], MS_INTS(t[k]->numel, 1));
        ok = t[k] && (t[k] = at_least(t[k], rank));
    }
    if (ok) y = concatenated(n, t, rank == 1 && flat ? 0 : axis);
    free(t);
    return R(y);
}

MS_API(hstack, "ops.hstack mint.hstack", "(tensors: any) -> Tensor")
{
    return join(c, "hstack", 1, 1, false);
}
MS_API(vstack, "ops.vstack", "(inputs: any) -> Tensor")
{
    return join(c, "vstack", 2, 0, false);
}
MS_API(row_stack, "ops.row_stack", "(tensors: any) -> Tensor")
{
    return join(c, "row_stack", 2, 0, false);
}
MS_API(dstack, "ops.dstack mint.dstack", "(tensors: any) -> Tensor")
{
    return join(c, "dstack", 3, 2, false);
}
MS_API(column_stack, "ops.column_stack", "(tensors: any) -> Tensor")
{
    return join(c, "column_stack", 2, 1, true);
}

static MsStatus at_least_all(MsApiCall *c, const char *op, int rank)
{
    int n;
    const MsArg *item = ms__arg_items(ARG(0), &n);
    if (ARG(0)->kind == MS_ARG_TENSOR) return R(at_least(T(0), rank));
    MsTensor **t = tensors(op, ARG(0), &n);
    if (!t) return ms_error()->code;
    MsStatus st = MS_OK;
    for (int k = 0; k < n && st == MS_OK; k++)
        if (!(t[k] = at_least(item[k].t, rank))) st = ms_error()->code;
    if (st == MS_OK) st = ms__api_return_list(c, n, t);
    free(t);
    return st;
}
MS_API(atleast_1d, "ops.atleast_1d", "(inputs: any) -> any")
{
    return at_least_all(c, "atleast_1d", 1);
}
MS_API(atleast_2d, "ops.atleast_2d", "(inputs: any) -> any")
{
    return at_least_all(c, "atleast_2d", 2);
}
MS_API(atleast_3d, "ops.atleast_3d", "(inputs: any) -> any")
{
    return at_least_all(c, "atleast_3d", 3);
}

/* ---- cut ---- */

/* n nearly equal pieces, the first ones longer, or cuts at the listed positions. */
static MsStatus tensor_split(MsApiCall *c, const char *op, MsTensor *t, int64_t dim)
{
    int axis, n;
    if (!t) return ms_error()->code;
    MS_TRY(ms__api_axis(op, dim, t->ndim, &axis));
    if (t->ndim == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have at least one dimension.", op);
    int64_t size = t->shape[axis];
    const MsArg *item = ms__arg_items(ARG(1), &n);
    int64_t sections = ARG(1)->kind == MS_ARG_INT ? I(1) : n + 1;
    if (sections <= 0 || sections > INT_MAX)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', an axis of size %lld cannot be cut into %lld pieces.", op,
                       (long long)size, (long long)sections);
    int64_t *end = ms__malloc((size_t)sections * sizeof *end);
    if (!end) return MS_ERROR_MEMORY;
    MsStatus st = MS_OK;
    for (int64_t k = 0, at = 0; k < sections; k++) {
        if (ARG(1)->kind == MS_ARG_INT) {
            end[k] = at += size / sections + (k < size % sections);
        } else if (k == n) {
            end[k] = size;
        } else if (item[k].kind != MS_ARG_INT) {
            st = MS_FAIL(MS_ERROR_TYPE, "For '%s', the indices must be integers.", op);
            break;
        } else {
            int64_t i = item[k].i < 0 ? item[k].i + size : item[k].i;
            end[k] = i < 0 ? 0 : i;
        }
    }
    /* a cut before the previous one gives an empty piece and moves back */
    MsTensor **y = ms__malloc((size_t)sections * sizeof *y);
    if (!y) st = MS_ERROR_MEMORY;
    int64_t from = 0;
    for (int64_t k = 0; k < sections && st == MS_OK; k++) {
        int64_t a = from > size ? size : from, b = end[k] > size ? size : end[k];
        y[k] = ms__narrowed(t, axis, b > a ? a : 0, b > a ? b - a : 0);
        if (!y[k]) st = ms_error()->code;
        from = end[k];
    }
    if (st == MS_OK) st = ms__api_return_list(c, (int)sections, y);
    free(y);
    free(end);
    return st;
}

MS_API(tensor_split, "ops.tensor_split Tensor.tensor_split",
       "(input: Tensor, indices_or_sections: any, axis: int = 0) -> any")
{
    return tensor_split(c, "tensor_split", T(0), I(2));
}
MS_API(hsplit, "ops.hsplit Tensor.hsplit", "(input: Tensor, indices_or_sections: any) -> any")
{
    return tensor_split(c, "hsplit", T(0), T(0)->ndim > 1);
}
MS_API(vsplit, "ops.vsplit Tensor.vsplit", "(input: Tensor, indices_or_sections: any) -> any")
{
    return tensor_split(c, "vsplit", T(0), 0);
}
MS_API(dsplit, "ops.dsplit Tensor.dsplit", "(input: Tensor, indices_or_sections: any) -> any")
{
    return tensor_split(c, "dsplit", T(0), 2);
}

MS_API(slice_ops, "ops.slice", "(input_x: Tensor, begin: any, size: any) -> Tensor")
{
    MsTensor *t = T(0);
    VAR("slice", 1, buf0, begin);
    VAR("slice", 2, buf1, size);
    if (begin.n != t->ndim || size.n != t->ndim)
        return MS_FAIL(MS_ERROR_VALUE, "For 'slice', begin and size must have %d entries, but got %d and %d.",
                       t->ndim, begin.n, size.n);
    int64_t step[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++) {
        step[d] = 1;
        if (buf1[d] == -1) buf1[d] = t->shape[d] - buf0[d];
        if (buf1[d] == 0) buf0[d] = 0;
    }
    return R(ms_slice(t, begin, size, (MsInts){t->ndim, step}));
}
