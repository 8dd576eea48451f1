/* linalg.c - public names of matrix products. numpy's rules for vectors are here (a vector on the left is a
 * row, on the right a column, and the axis it gained is dropped again), as are the checks that only one of
 * the names makes. Operands are never promoted: a product of two dtypes is an error, as the original has it.
 */
#include "api/args.h"
#include "trace/trace.h"

#include <string.h>

/* One dtype, or two that autocast makes one. */
static bool alike(const MsTensor *a, const MsTensor *b)
{
    return ms_tensor_dtype(a) == ms_tensor_dtype(b) || ms__autocast() != MS_DTYPE_NONE;
}

static MsStatus check_pair(const char *op, const MsTensor *a, const MsTensor *b)
{
    if (alike(a, b)) return MS_OK;
    return MS_FAIL(MS_ERROR_TYPE,
                   "For '%s', the dtypes of 'x1' and 'x2' must be the same, but got 'x1': %s and 'x2': %s.",
                   op, ms_dtype_name(ms_tensor_dtype(a)), ms_dtype_name(ms_tensor_dtype(b)));
}

static MsStatus check_rank(const char *op, const char *name, const MsTensor *t, int rank)
{
    if (nd(t) == rank) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', '%s' must be a %d-D tensor, but got shape %s.", op, name, rank,
                   ms__shape_text(nd(t), shape(t)));
}

/* x with `axis` of size one inserted. */
static MsTensor *unsqueeze(MsTensor *x, int axis)
{
    if (!x) return NULL;
    int64_t s[MS_MAX_DIM];
    int n = nd(x);
    memcpy(s, shape(x), (size_t)axis * sizeof *s);
    s[axis] = 1;
    memcpy(s + axis + 1, shape(x) + axis, (size_t)(n - axis) * sizeof *s);
    return ms_reshape(x, (MsInts){n + 1, s});
}

/* x without axis `axis` (counted from the end, 1 or 2), which has size one. */
static MsTensor *drop(MsTensor *x, int from_end)
{
    if (!x) return NULL;
    int64_t s[MS_MAX_DIM];
    int n = nd(x), k = 0;
    for (int d = 0; d < n; d++)
        if (d != n - from_end) s[k++] = shape(x)[d];
    return ms_reshape(x, (MsInts){k, s});
}

/* a with its leading axes folded times a matrix: one product, and a weight gradient without a batch of them.
 */
static MsTensor *tall(MsTensor *a, MsTensor *b)
{
    int64_t s[MS_MAX_DIM], rows = 1;
    int n = nd(a);
    memcpy(s, shape(a), sizeof s);
    for (int d = 0; d < n - 1; d++) rows *= s[d];
    MsTensor *y = ms_matmul(ms_reshape(a, MS_INTS(rows, s[n - 1])), b, false, false);
    s[n - 1] = shape(b)[1];
    return ms_reshape(y, (MsInts){n, s});
}

static MsTensor *product(const char *op, MsTensor *a, MsTensor *b)
{
    if (nd(a) == 0 || nd(b) == 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', both operands must have at least 1 dimension, but got %s and %s.", op,
                            ms__shape_text(nd(a), shape(a)), ms__shape_text(nd(b), shape(b)));
    if (check_pair(op, a, b) != MS_OK) return NULL;
    bool row = nd(a) == 1, column = nd(b) == 1;
    if (shape(a)[nd(a) - 1] != shape(b)[column ? 0 : nd(b) - 2])
        return MS_FAIL_NULL(
            strcmp(op, "matmul") == 0 ? MS_ERROR_RUNTIME : MS_ERROR_VALUE, /* as existing code expects */
            "For '%s' the input dimensions must be equal, but got 'x1_col': %lld and 'x2_row': %lld "
            "(shapes %s and %s).",
            op, (long long)shape(a)[nd(a) - 1], (long long)shape(b)[column ? 0 : nd(b) - 2],
            ms__shape_text(nd(a), shape(a)), ms__shape_text(nd(b), shape(b)));
    if (row) a = unsqueeze(a, 0);
    if (column) b = unsqueeze(b, 1);
    if (!a || !b) return NULL;
    MsTensor *y = nd(a) > 2 && nd(b) == 2 ? tall(a, b) : ms_matmul(a, b, false, false);
    if (column) y = drop(y, 1);
    return row ? drop(y, column ? 1 : 2) : y;
}

MS_API(matmul, "ops.matmul mint.matmul", "(input: Tensor, other: Tensor) -> Tensor")
{
    return R(product("matmul", T(0), T(1)));
}

MS_API(tensor_matmul, "Tensor.matmul", "(input: Tensor, tensor2: Tensor) -> Tensor")
{
    return R(product("matmul", T(0), T(1)));
}

MS_API(tensor_at, "Tensor.__matmul__", "(self: Tensor, other: Tensor) -> Tensor")
{
    return R(product("matmul", T(0), T(1)));
}

MS_API(tensor_rat, "Tensor.__rmatmul__", "(self: Tensor, other: Tensor) -> Tensor")
{
    return R(product("matmul", T(1), T(0)));
}

MS_API(mm, "ops.mm mint.mm Tensor.mm", "(input: Tensor, mat2: Tensor) -> Tensor")
{
    MS_TRY(check_rank("mm", "input", T(0), 2));
    MS_TRY(check_rank("mm", "mat2", T(1), 2));
    return R(product("mm", T(0), T(1)));
}

/* Matrices of `rank` dimensions, the first of them equal. */
static MsTensor *batched(const char *op, MsTensor *a, MsTensor *b, int rank)
{
    if (check_rank(op, "input", a, rank) != MS_OK || check_rank(op, "mat2", b, rank) != MS_OK ||
        check_pair(op, a, b) != MS_OK)
        return NULL;
    if (memcmp(shape(a), shape(b), (size_t)(rank - 2) * sizeof *shape(a)) != 0)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', the batch sizes must be equal, but got shapes %s and %s.", op,
                            ms__shape_text(rank, shape(a)), ms__shape_text(rank, shape(b)));
    return ms_matmul(a, b, false, false);
}

static int several(const MsTensor *a)
{
    return ms_tensor_ndim(a) > 3 ? ms_tensor_ndim(a) : 3;
}

MS_API(ops_bmm, "ops.bmm", "(input_x: Tensor, mat2: Tensor) -> Tensor")
{
    return R(batched("bmm", T(0), T(1), several(T(0))));
}
MS_API(tensor_bmm, "Tensor.bmm", "(input: Tensor, mat2: Tensor) -> Tensor")
{
    return R(batched("bmm", T(0), T(1), several(T(0))));
}
MS_API(mint_bmm, "mint.bmm", "(input: Tensor, mat2: Tensor) -> Tensor")
{
    return R(batched("bmm", T(0), T(1), 3));
}

MS_API(mv, "ops.mv", "(mat: Tensor, vec: Tensor) -> Tensor")
{
    MS_TRY(check_rank("mv", "mat", T(0), 2));
    MS_TRY(check_rank("mv", "vec", T(1), 1));
    return R(product("mv", T(0), T(1)));
}

MS_API(mint_mv, "mint.mv Tensor.mv", "(input: Tensor, vec: Tensor) -> Tensor")
{
    MS_TRY(check_rank("mv", "input", T(0), 2));
    MS_TRY(check_rank("mv", "vec", T(1), 1));
    return R(product("mv", T(0), T(1)));
}

/* ---- beta * input + alpha * product; a beta of zero ignores the input, NaN included ---- */

static MsTensor *times(MsTensor *t, const MsArg *by)
{
    if (!t || by->kind == MS_ARG_NONE || ms__arg_float(by) == 1) return t;
    if (by->kind == MS_ARG_FLOAT && !ms_dtype_is_float(ms_tensor_dtype(t)) &&
        !ms_dtype_is_complex(ms_tensor_dtype(t)))
        return MS_FAIL_NULL(MS_ERROR_TYPE,
                            "For integer operands, 'alpha' and 'beta' must be integers, but got %g.", by->f);
    return ms_mul(t, ms__arg_tensor(by, t));
}

static MsTensor *combined(const char *op, MsTensor *input, MsTensor *y, const MsArg *beta, const MsArg *alpha)
{
    if (!y) return NULL;
    if (check_pair(op, input, y) != MS_OK) return NULL;
    y = times(y, alpha);
    if (ms__arg_float(beta) == 0) {
        MsTensor *full =
            y ? ms_broadcast_to(input, shape_of(y)) : NULL; /* the shapes are checked all the same */
        return full ? y : NULL;
    }
    return ms_add(times(input, beta), y);
}

MS_API(addmm, "ops.addmm mint.addmm Tensor.addmm",
       "(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: number = 1, alpha: number = 1) -> Tensor")
{
    MS_TRY(check_rank("addmm", "mat1", T(1), 2));
    MS_TRY(check_rank("addmm", "mat2", T(2), 2));
    return R(combined("addmm", T(0), product("addmm", T(1), T(2)), ARG(3), ARG(4)));
}

MS_API(addmv, "ops.addmv mint.addmv Tensor.addmv",
       "(input: Tensor, mat: Tensor, vec: Tensor, *, beta: number = 1, alpha: number = 1) -> Tensor")
{
    MS_TRY(check_rank("addmv", "mat", T(1), 2));
    MS_TRY(check_rank("addmv", "vec", T(2), 1));
    return R(combined("addmv", T(0), product("addmv", T(1), T(2)), ARG(3), ARG(4)));
}

MS_API(ops_baddbmm, "ops.baddbmm",
       "(input: Tensor, batch1: Tensor, batch2: Tensor, beta: number = 1, alpha: number = 1) -> Tensor")
{
    return R(combined("baddbmm", T(0), batched("baddbmm", T(1), T(2), 3), ARG(3), ARG(4)));
}

MS_API(baddbmm, "mint.baddbmm Tensor.baddbmm ops.baddbmm_ext",
       "(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: number = 1, alpha: number = 1) -> Tensor")
{
    return R(combined("baddbmm", T(0), batched("baddbmm", T(1), T(2), 3), ARG(3), ARG(4)));
}

MS_API(addbmm, "ops.addbmm mint.addbmm Tensor.addbmm",
       "(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: number = 1, alpha: number = 1) -> Tensor")
{
    MsTensor *y = batched("addbmm", T(1), T(2), 3);
    return R(combined("addbmm", T(0), y ? ms_sum(y, MS_INTS(0), false) : NULL, ARG(3), ARG(4)));
}

/* ---- vectors ---- */

MS_API(ops_dot, "ops.dot", "(input: Tensor, other: Tensor) -> Tensor")
{
    MsTensor *a = T(0), *b = T(1);
    if (nd(a) <= 2 && nd(b) <= 2) return R(product("dot", a, b));
    /* numpy's rule: the last axis of the one with the last but one of the other, all other axes kept */
    if (nd(a) < 2 || nd(b) < 2) return R(product("dot", a, b));
    int64_t perm[MS_MAX_DIM], s[MS_MAX_DIM], k = shape(b)[nd(b) - 2];
    int n = 0;
    perm[n++] = nd(b) - 2;
    for (int d = 0; d < nd(b); d++)
        if (d != nd(b) - 2) perm[n++] = d;
    if (nd(a) + nd(b) - 2 > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For 'dot', the result would have more than %d dimensions.",
                       MS_MAX_DIM);
    int m = nd(a) - 1;
    memcpy(s, shape(a), (size_t)m * sizeof *s);
    for (int d = 1; d < n; d++) s[m++] = shape(b)[perm[d]];
    int64_t columns = 1;
    for (int d = 1; d < n; d++) columns *= shape(b)[perm[d]];
    MsTensor *flat = ms_reshape(ms_transpose(b, (MsInts){n, perm}), MS_INTS(k, columns));
    return R(ms_reshape(flat ? product("dot", a, flat) : NULL, (MsInts){m, s}));
}

MS_API(mint_dot, "mint.dot Tensor.dot", "(input: Tensor, other: Tensor) -> Tensor")
{
    MS_TRY(check_rank("dot", "input", T(0), 1));
    MS_TRY(check_rank("dot", "other", T(1), 1));
    return R(product("dot", T(0), T(1)));
}

MS_API(vdot, "mint.vdot", "(input: Tensor, other: Tensor) -> Tensor")
{
    MS_TRY(check_rank("vdot", "input", T(0), 1));
    MS_TRY(check_rank("vdot", "other", T(1), 1));
    MsTensor *a = ms_dtype_is_complex(ms_tensor_dtype(T(0))) ? ms_conj(T(0)) : T(0);
    return R(a ? product("vdot", a, T(1)) : NULL);
}

MS_API(inner, "ops.inner Tensor.inner", "(input: Tensor, other: Tensor) -> Tensor")
{
    MsTensor *a = T(0), *b = T(1);
    if (nd(a) == 0 || nd(b) == 0) return R(ms_mul(a, b));
    if (nd(b) == 1) return R(product("inner", a, b));
    if (nd(a) + nd(b) - 2 > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE, "For 'inner', the result would have more than %d dimensions.",
                       MS_MAX_DIM);
    int64_t s[MS_MAX_DIM], k = shape(b)[nd(b) - 1], rows = 1;
    int m = nd(a) - 1;
    memcpy(s, shape(a), (size_t)m * sizeof *s);
    for (int d = 0; d < nd(b) - 1; d++) {
        s[m++] = shape(b)[d];
        rows *= shape(b)[d];
    }
    MsTensor *flat = ms_transpose(ms_reshape(b, MS_INTS(rows, k)), MS_INTS(1, 0));
    return R(ms_reshape(flat ? product("inner", a, flat) : NULL, (MsInts){m, s}));
}

static MsTensor *outer(const char *op, MsTensor *a, MsTensor *b)
{
    if (check_rank(op, "input", a, 1) != MS_OK || check_rank(op, "vec2", b, 1) != MS_OK) return NULL;
    return ms_mul(unsqueeze(a, 1), unsqueeze(b, 0));
}

MS_API(outer, "ops.outer mint.outer Tensor.outer ops.ger Tensor.ger",
       "(input: Tensor, vec2: Tensor) -> Tensor")
{
    MsTensor *a, *b;
    MS_TRY(ms__arg_promote(c, 0, 1, &a, &b));
    return R(outer("outer", a, b));
}

/* ---- layers ---- */

MS_API(dense, "ops.dense mint.nn.functional.linear",
       "(input: Tensor, weight: Tensor, bias: Tensor = None) -> Tensor")
{
    MsTensor *x = T(0), *w = T(1), *b = T(2);
    MS_TRY(check_pair("dense", x, w));
    if (nd(w) == 2 && nd(x) >= 1 && (!b || nd(b) == 1) && ms_dtype_is_float(ms_tensor_dtype(x)) &&
        (!b || alike(b, x)))
        return R(ms_linear(x, w, b));
    /* a weight of one dimension, a bias that broadcasts, integers and complex numbers */
    if (nd(w) < 1 || nd(w) > 2)
        return MS_FAIL(MS_ERROR_VALUE, "For 'dense', 'weight' must have 1 or 2 dimensions, but got shape %s.",
                       ms__shape_text(nd(w), shape(w)));
    MsTensor *y = nd(w) == 1 ? product("dense", x, w) : product("dense", x, ms_transpose(w, MS_INTS(1, 0)));
    if (y && b) MS_TRY(check_pair("dense", y, b));
    return R(b ? ms_add(y, b) : y);
}

MS_API(matrix_power, "ops.matrix_power Tensor.matrix_power mint.linalg.matrix_power",
       "(input: Tensor, n: int) -> Tensor")
{
    MsTensor *x = T(0), *y = NULL;
    int64_t n = I(1);
    if (nd(x) < 2 || shape(x)[nd(x) - 1] != shape(x)[nd(x) - 2])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'matrix_power', 'input' must be square matrices, but got shape %s.",
                       ms__shape_text(nd(x), shape(x)));
    if (n < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'matrix_power', 'n' must not be negative, but got %lld.",
                       (long long)n);
    if (n == 0) {
        int64_t k = shape(x)[nd(x) - 1];
        MsTensor *i = ms_arange_int(0, 1, k, MS_INT64);
        MsTensor *eye = ms_cast(ms_eq(unsqueeze(i, 0), unsqueeze(i, 1)), ms_tensor_dtype(x));
        return R(ms_broadcast_to(eye, shape_of(x)));
    }
    for (; n; n >>= 1) {
        if (n & 1) y = y ? ms_matmul(y, x, false, false) : x;
        if (n > 1) x = ms_matmul(x, x, false, false);
        if (!x || !y) {
            if (ms_error()->code != MS_OK) return ms_error()->code;
        }
    }
    return R(y);
}

/* ---- primitives by their own names ---- */

MS_API(prim_matmul, "prim.matmul",
       "(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor")
{
    return R(ms_matmul(T(0), T(1), I(2), I(3)));
}

MS_API(prim_linear, "prim.linear", "(x: Tensor, w: Tensor, bias: Tensor = None) -> Tensor")
{
    return R(ms_linear(T(0), T(1), T(2)));
}
