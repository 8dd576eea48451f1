/* reduce.h - reductions of values that a program makes run by run, so that they are never stored. */
#ifndef MS_CPU_REDUCE_H
#define MS_CPU_REDUCE_H
#include "cpu/elementwise.h"

/* Reduces the axes of mask of x into y by `op` (sum, prod, mean, reduce_max, reduce_min, reduce_any, reduce_all). x has
 * shape, dense strides and dtype of what `made` makes; its data may be any address, and is not read. The result is that
 * of the stored values, to the bit. */
MsStatus ms__reduce_made(MsTensor *x, const MsTiles *made, const char *op, uint32_t mask, MsTensor *y);

#endif
