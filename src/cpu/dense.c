/* dense.c - see dense.h. */
#include "cpu/dense.h"

#include "core/thread.h"
#include "cpu/copy.h"

#include <string.h>

MsDtype ms__compute_dtype(MsDtype dtype)
{
    return dtype == MS_FLOAT16 || dtype == MS_BFLOAT16 ? MS_FLOAT32 : dtype;
}

MsTensor *ms__dense_out(MsTensor *y, MsDtype dtype)
{
    return !y || (y->contiguous && y->dtype == dtype) ? y : ms_tensor_empty(dtype, y->ndim, y->shape);
}

MsStatus ms__dense_done(MsTensor *y, MsTensor *computed)
{
    return y == computed ? MS_OK : ms__copy(y, computed);
}

static void zero_bytes(void *ctx, int64_t begin, int64_t end)
{
    memset((char *)ctx + begin, 0, (size_t)(end - begin));
}

void ms__zero(MsTensor *t)
{
    ms__parallel_pieces(t->numel * (int64_t)ms_dtype_size((MsDtype)t->dtype), 131072, zero_bytes, t->data);
}

void ms__channels_last(int ndim, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (int k = 0; k < ndim; k++) {
        int d = k == 0 ? 1 : k == ndim - 1 ? 0 : ndim - k; /* C, W, H, D, N */
        strides[d] = step;
        step *= shape[d] > 0 ? shape[d] : 1;
    }
}

bool ms__is_channels_last(const MsTensor *t)
{
    int64_t strides[MS_MAX_DIM];
    if (t->ndim < 3) return false;
    ms__channels_last(t->ndim, t->shape, strides);
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] != 1 && t->strides[d] != strides[d]) return false;
    return true;
}

MsTensor *ms__dense_last(MsTensor *t)
{
    int64_t strides[MS_MAX_DIM];
    if (ms__is_channels_last(t)) return t;
    ms__channels_last(t->ndim, t->shape, strides);
    MsTensor *u = ms__tensor_dense((MsDtype)t->dtype, t->ndim, t->shape, strides);
    return u && ms__copy(u, t) == MS_OK ? u : NULL;
}
