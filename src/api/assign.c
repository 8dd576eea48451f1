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

MS_API(exp_in_place, "Tensor.exp_", "(self: Tensor) -> Tensor")
{
    return write_back(c, ms_exp(T(0)));
}

MS_API(neg_in_place, "Tensor.neg_", "(self: Tensor) -> Tensor")
{
    return write_back(c, ms_neg(T(0)));
}
