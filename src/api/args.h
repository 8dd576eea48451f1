/* args.h - helpers that rows about shapes and indices share. All pass a NULL tensor on. */
#ifndef MS_API_ARGS_H
#define MS_API_ARGS_H
#include "api/api.h"

/* What rows ask a tensor (not NULL) about. */
static inline int nd(const MsTensor *t)
{
    return ms_tensor_ndim(t);
}
static inline const int64_t *shape(const MsTensor *t)
{
    return ms_tensor_shape(t);
}
static inline MsInts shape_of(const MsTensor *t)
{
    return (MsInts){ms_tensor_ndim(t), ms_tensor_shape(t)};
}
static inline MsDtype dtype_of(const MsTensor *t)
{
    return ms_tensor_dtype(t);
}
static inline bool is_exact(const MsTensor *t)
{
    return dtype_of(t) == MS_BOOL || ms_dtype_is_int(dtype_of(t));
}
static inline bool is_complex(const MsTensor *t)
{
    return ms_dtype_is_complex(dtype_of(t));
}

/* `*size: any` as integers: f(2, 3), f((2, 3)) and f([2, 3]) alike; n = -2 and an error for anything else. */
MsInts ms__arg_var(const char *op, const MsArg *a, int64_t *buf);
/* The items of a list argument, or the one argument itself. */
const MsArg *ms__arg_items(const MsArg *a, int *n);
/* axis in [-ndim, ndim) to [0, ndim); VALUE otherwise. */
MsStatus ms__api_axis(const char *op, int64_t axis, int ndim, int *out);

/* Reshape with one -1 allowed. */
MsTensor *ms__reshaped(MsTensor *t, MsInts shape);
MsTensor *ms__unsqueezed(MsTensor *t, int axis);
/* t without `axis`, which has size 1. */
MsTensor *ms__dropped(MsTensor *t, int axis);
MsTensor *ms__cast_to(MsTensor *t, MsDtype dtype);
/* log(exp(x) + exp(y)) without overflow. */
MsTensor *ms__logaddexp(MsTensor *x, MsTensor *y);
/* t[begin : begin + n] and t[i] along an axis. */
MsTensor *ms__narrowed(MsTensor *t, int axis, int64_t begin, int64_t n);
MsTensor *ms__picked(MsTensor *t, int axis, int64_t i);
MsTensor *ms__stacked(int n, MsTensor *const *t, int axis);
/* A scalar of this dtype from a number; NULL and TYPE for anything else. */
MsTensor *ms__number(const char *op, const MsArg *a, MsDtype dtype);
/* Tensor, number or (nested) list as a tensor; dtype MS_DTYPE_NONE: int64, float32 or bool by the content. */
MsTensor *ms__arg_data(const char *op, const MsArg *a, MsDtype dtype);
/* n integers from `from` in steps of `by`; OVERFLOW when one does not fit. */
MsTensor *ms__arange(int64_t from, int64_t by, int64_t n, MsDtype dtype);
/* Brings n tensors to their common dtype. */
MsStatus ms__common_dtype(const char *op, int n, MsTensor *const *t, MsTensor **out);

/* OK for the argument `device` absent or "CPU", the only one there is. */
MsStatus ms__arg_device(const MsArg *a);
/* OK unless pinned memory is asked for, which copies to other devices are made from. */
MsStatus ms__arg_unpinned(const char *op, const MsArg *a);

/* The state for one draw: a seed's, the generator's, or the default generator's; both may be NULL or None. */
MsTensor *ms__arg_state(const MsArg *seed, const MsArg *generator);

/* sin(pi x) / (pi x), 1 at 0. In math.c. */
MsTensor *ms__sinc(MsTensor *x);

/* The p-norm over axes; at zero its gradient is zero. In factor.c. */
MsTensor *ms__vector_norm(MsTensor *x, double p, MsInts axes, bool keep);

/* Inside a row: argument k as `name`, integers; returns when it is none. */
#define VAR(op, k, buf, name)                                                                                \
    int64_t buf[MS_MAX_DIM];                                                                                 \
    MsInts name = ms__arg_var(op, ARG(k), buf);                                                              \
    if (name.n == -2) return ms_error()->code

#endif
