/* create.c - kernels of constants and ranges. */
#include "core/thread.h"
#include "cpu/copy.h"
#include "op/op.h"

static MsStatus run_full(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    _Alignas(16) char value[16];
    if (c->attr[1].kind == MS_ATTR_INT)
        ms__element_int((MsDtype)y->dtype, c->attr[1].i, value);
    else
        ms__element((MsDtype)y->dtype, c->attr[1].f, value);
    ms__fill(y, value);
    return MS_OK;
}
MS_KERNEL(full, 0, loop, NULL, run_full);
MS_KERNEL(full_int, 0, loop, NULL, run_full);

typedef struct Range {
    MsTensor *y;
    const MsAttr *attr;
    MsCastRow cast;
} Range;

#define BLOCK 256

static void range_part(void *ctx, int64_t begin, int64_t end)
{
    const Range *r = ctx;
    int64_t size = (int64_t)ms_dtype_size((MsDtype)r->y->dtype);
    bool whole = r->attr[0].kind == MS_ATTR_INT;
    int64_t line[BLOCK];
    double line_f[BLOCK];
    for (int64_t k = begin; k < end; k += BLOCK) {
        int64_t n = end - k < BLOCK ? end - k : BLOCK;
        for (int64_t i = 0; i < n; i++) {
            if (whole)
                line[i] = (int64_t)((uint64_t)r->attr[0].i + (uint64_t)(k + i) * (uint64_t)r->attr[1].i);
            else
                line_f[i] = r->attr[0].f + (double)(k + i) * r->attr[1].f;
        }
        r->cast(n, r->y->data + k * size, whole ? (void *)line : (void *)line_f);
    }
}

static MsStatus run_arange(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    Range r = {y, c->attr,
               ms__cast_row(c->attr[0].kind == MS_ATTR_INT ? MS_INT64 : MS_FLOAT64, (MsDtype)y->dtype)};
    ms__parallel_pieces(y->numel, 32768, range_part, &r);
    return MS_OK;
}
MS_KERNEL(arange, 0, loop, NULL, run_arange);
MS_KERNEL(arange_int, 0, loop, NULL, run_arange);
