/* segments.c - rows of a tensor combined by the id of their segment. An id below zero drops its row, which then counts
 * as the neutral value of the combination in segment 0; an id past the last segment is the error of the scatter. */
#include "api/args.h"

#include <float.h>
#include <string.h>

/* The smallest or largest finite number of a dtype. */
static MsTensor *limit(MsDtype dtype, bool smallest)
{
    if (ms_dtype_is_int(dtype)) {
        int bits = 8 * (int)ms_dtype_size(dtype);
        if (!ms_dtype_is_signed_int(dtype))
            return ms_tensor_scalar_int(dtype, smallest ? 0 : bits == 64 ? -1 : ((int64_t)1 << bits) - 1);
        int64_t low = (int64_t)(-1) * ((int64_t)1 << (bits - 2)) * 2;
        return ms_tensor_scalar_int(dtype, smallest ? low : -(low + 1));
    }
    double top = dtype == MS_FLOAT16    ? 65504
                 : dtype == MS_BFLOAT16 ? 0x1.fep127
                 : dtype == MS_FLOAT32  ? FLT_MAX
                                        : DBL_MAX;
    return ms_tensor_scalar(dtype, smallest ? -top : top);
}

/* Segments without rows are 0 for add, 1 for mul, the lowest or highest number for max and min. */
static MsStatus segments(MsApiCall *c, const char *op, const char *mode)
{
    MsTensor *x = T(0), *id = ms__cast_to(T(1), MS_INT64);
    int64_t n = 0, out[MS_MAX_DIM];
    if (ARG(2)->kind == MS_ARG_TENSOR)
        MS_TRY(ms_tensor_item_int(T(2), &n));
    else
        n = I(2);
    if (!id) return ms_error()->code;
    if (nd(id) > nd(x) || memcmp(shape(id), shape(x), (size_t)nd(id) * sizeof *out) != 0 || n < 1)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', 'segment_ids' of shape %s must be the first axes of %s and 'num_segments' "
                       "positive, but it is %lld.",
                       op, ms__shape_text(nd(id), shape(id)), ms__shape_text(nd(x), shape(x)), (long long)n);
    int64_t rest = 1;
    out[0] = n;
    for (int d = nd(id); d < nd(x); d++) rest *= out[d - nd(id) + 1] = shape(x)[d];
    MsInts rows = MS_INTS(id->numel, rest);
    bool add = strcmp(mode, "add") == 0, mul = strcmp(mode, "mul") == 0;
    MsDtype dtype = dtype_of(x);
    MsTensor *neutral = add || mul ? ms_tensor_scalar(dtype, mul) : limit(dtype, strcmp(mode, "max") == 0);
    MsTensor *zero = ms_tensor_scalar_int(MS_INT64, 0);
    id = ms_reshape(id, MS_INTS(rows.v[0], 1));
    MsTensor *dropped = id && zero ? ms_lt(id, zero) : NULL;
    x = neutral ? ms_where(dropped, neutral, ms_reshape(x, rows)) : NULL;
    id = dropped ? ms_where(dropped, zero, id) : NULL;
    MsTensor *y = neutral ? ms_copy(ms_broadcast_to(neutral, MS_INTS(n, rest))) : NULL;
    if (add)
        y = id ? ms_scatter_add(y, ms_reshape(id, MS_INTS(rows.v[0])), x, 0) : NULL;
    else
        y = id ? ms_put_along(y, ms_broadcast_to(id, rows), x, 0, mode) : NULL;
    return R(ms_reshape(y, (MsInts){nd(T(0)) - nd(T(1)) + 1, out}));
}

MS_API(unsorted_segment_sum, "ops.unsorted_segment_sum",
       "(input_x: Tensor, segment_ids: Tensor, num_segments: int|Tensor) -> Tensor")
{
    return segments(c, "unsorted_segment_sum", "add");
}
MS_API(unsorted_segment_max, "ops.unsorted_segment_max Tensor.unsorted_segment_max",
       "(x: Tensor, segment_ids: Tensor, num_segments: int|Tensor) -> Tensor")
{
    return segments(c, "unsorted_segment_max", "max");
}
MS_API(unsorted_segment_min, "ops.unsorted_segment_min Tensor.unsorted_segment_min",
       "(x: Tensor, segment_ids: Tensor, num_segments: int|Tensor) -> Tensor")
{
    return segments(c, "unsorted_segment_min", "min");
}
MS_API(unsorted_segment_prod, "ops.unsorted_segment_prod Tensor.unsorted_segment_prod",
       "(x: Tensor, segment_ids: Tensor, num_segments: int|Tensor) -> Tensor")
{
    return segments(c, "unsorted_segment_prod", "mul");
}
MS_API(p_unsorted_segment, "_p.unsorted_segment",
       "(x: Tensor, segment_ids: Tensor, num_segments: int, mode: str) -> Tensor")
{
    return segments(c, "UnsortedSegment", ARG(3)->s);
}
