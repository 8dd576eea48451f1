/* assign.c - public names that write into a tensor. The result is the tensor itself, so that calls chain. */
#include "api/api.h"

#include <string.h>

/* Writes v into argument 0 and returns it. */
static MsStatus write_back(MsApiCall *c, MsTensor *v)
{
    if (!v) return ms_error()->code;
    MS_TRY(ms_tensor_write(T(0), v));
    return R(T(0));
}

/* The in-place form of a binary function: the result is cast to the tensor's dtype within its category. */
static MsStatus in_place(MsApiCall *c, MsTensor *(*f)(MsTensor *, MsTensor *))
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    return write_back(c, f(x, y));
}

MS_API(assign, "ops.assign Tensor.assign_value", "(variable: Tensor, value: Tensor|number) -> Tensor")
{
    return write_back(c, ms__arg_tensor(ARG(1), T(0)));
}

MS_API(assign_add, "ops.assign_add", "(variable: Tensor, value: Tensor|number) -> Tensor")
{
    return in_place(c, ms_add);
}

MS_API(assign_sub, "ops.assign_sub", "(variable: Tensor, value: Tensor|number) -> Tensor")
{
    return in_place(c, ms_sub);
}

MS_API(copy_in_place, "Tensor.copy_",
       "(self: Tensor, src: Tensor|number, non_blocking: bool = False) -> Tensor")
{
    return write_back(c, ms__arg_tensor(ARG(1), T(0)));
}

MS_API(fill_in_place, "Tensor.fill_", "(self: Tensor, value: Tensor|number) -> Tensor")
{
    if (ARG(1)->kind == MS_ARG_TENSOR && T(1)->ndim > 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'fill_', the value must have no dimensions, but got shape %s.",
                       ms__shape_text(T(1)->ndim, T(1)->shape));
    return write_back(c, ms__arg_tensor(ARG(1), T(0)));
}

MS_API(zero_in_place, "Tensor.zero_", "(self: Tensor) -> Tensor")
{
    return write_back(c, ms_tensor_scalar(ms_tensor_dtype(T(0)), 0));
}

MS_API(add_in_place, "Tensor.add_", "(self: Tensor, other: Tensor|number, *, alpha: number = 1) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    if (F(2) != 1) y = ms_mul(y, ms__arg_tensor(ARG(2), y));
    return write_back(c, ms_add(x, y));
}

MS_API(sub_in_place, "Tensor.sub_", "(self: Tensor, other: Tensor|number, *, alpha: number = 1) -> Tensor")
{
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    if (F(2) != 1) y = ms_mul(y, ms__arg_tensor(ARG(2), y));
    return write_back(c, ms_sub(x, y));
}

MS_API(mul_in_place, "Tensor.mul_", "(self: Tensor, other: Tensor|number) -> Tensor")
{
    return in_place(c, ms_mul);
}

MS_API(div_in_place, "Tensor.div_",
       "(self: Tensor, other: Tensor|number, *, rounding_mode: str = None) -> Tensor")
{
    const char *mode = GIVEN(2) ? ARG(2)->s : "";
    MsTensor *x, *y;
    MS_TRY(ms__arg_promote(c, 0, 1, &x, &y));
    if (strcmp(mode, "floor") == 0) return write_back(c, ms_floor_div(x, y));
    bool trunc = strcmp(mode, "trunc") == 0;
    if (*mode && !trunc)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'div_', the 'rounding_mode' must be None, 'floor' or 'trunc', but got '%s'.",
                       mode);
    if (ms_dtype_is_int(ms_tensor_dtype(x)) || ms_tensor_dtype(x) == MS_BOOL) {
        x = ms_cast(x, MS_FLOAT64);
        y = ms_cast(y, MS_FLOAT64);
    }
    MsTensor *q = x && y ? ms_div(x, y) : NULL;
    return write_back(c, q && trunc ? ms_trunc(q) : q);
}

/* ---- in-place forms of other rows ---- */

/* Row `id` is row `of` with the result written into the first argument; the parameters stand in the same order. */
#define MS_API_IN_PLACE(id, of, names_, sig_)                                                                \
    static MsStatus api_##id(MsApiCall *c)                                                                   \
    {                                                                                                        \
        extern const MsApi ms_api_##of;                                                                      \
        MS_TRY(ms_api_##of.run(c));                                                                          \
        return write_back(c, c->out.t);                                                                      \
    }                                                                                                        \
    extern const MsApi ms_api_##id;                                                                          \
    const MsApi ms_api_##id = {names_, sig_, api_##id};

MS_API_IN_PLACE(exp_in_place, math_exp, "Tensor.exp_", "(self: Tensor) -> Tensor")
MS_API_IN_PLACE(neg_in_place, math_neg, "Tensor.neg_", "(self: Tensor) -> Tensor")
MS_API_IN_PLACE(log_in_place, math_log, "Tensor.log_", "(self: Tensor) -> Tensor")
MS_API_IN_PLACE(sign_in_place, math_sign, "Tensor.sign_", "(self: Tensor) -> Tensor")
MS_API_IN_PLACE(tanh_in_place, math_tanh, "Tensor.tanh_", "(self: Tensor) -> Tensor")
MS_API_IN_PLACE(floor_in_place, math_floor, "Tensor.floor_", "(self: Tensor) -> Tensor")
MS_API_IN_PLACE(sigmoid_in_place, math_sigmoid, "Tensor.sigmoid_", "(self: Tensor) -> Tensor")
MS_API_IN_PLACE(erfinv_in_place, math_erfinv, "Tensor.erfinv_ ops.erfinv_", "(input: Tensor) -> Tensor")
MS_API_IN_PLACE(clamp_in_place, clamp, "Tensor.clamp_ ops.clamp_",
                "(input: Tensor, min: Tensor|number = None, max: Tensor|number = None) -> Tensor")
MS_API_IN_PLACE(floor_divide_in_place, floor_divide, "Tensor.floor_divide_",
                "(self: Tensor, other: Tensor|number) -> Tensor")
MS_API_IN_PLACE(remainder_in_place, remainder, "Tensor.remainder_",
                "(self: Tensor, other: Tensor|number) -> Tensor")
MS_API_IN_PLACE(
    addmm_in_place, addmm, "Tensor.addmm_",
    "(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: number = 1, alpha: number = 1) -> Tensor")
MS_API_IN_PLACE(
    addr_in_place, addr, "mint.addr_",
    "(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: number = 1, alpha: number = 1) -> Tensor")
MS_API_IN_PLACE(masked_scatter_in_place, masked_scatter, "Tensor.masked_scatter_",
                "(self: Tensor, mask: Tensor, source: Tensor) -> Tensor")
MS_API_IN_PLACE(itemset, tensor_with_item, "Tensor.itemset", "(self: Tensor, *args: any) -> Tensor")
MS_API_IN_PLACE(put_in_place, tensor_with_put, "Tensor.put_",
                "(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor")
