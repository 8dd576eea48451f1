/* dense.h - operands of the heavy kernels in the form their loops want: row-major and of the dtype computed
 * in; see also ms__dense_as in copy.h. */
#ifndef MS_CPU_DENSE_H
#define MS_CPU_DENSE_H
#include "op/op.h"

/* What a dtype is computed in: float32 for the half types, itself otherwise. */
MsDtype ms__compute_dtype(MsDtype dtype);
/* Where a kernel computes output y: y itself where it is row-major of `dtype`, else a row-major tensor in the
 * open scope that ms__dense_done then copies to y. */
MsTensor *ms__dense_out(MsTensor *y, MsDtype dtype);
MsStatus ms__dense_done(MsTensor *y, MsTensor *computed);
/* Sets every element of a row-major tensor to zero. */
void ms__zero(MsTensor *t);

/* Strides of channels-last (N [D H W] C in memory) for a shape N C [D] [H] W. */
void ms__channels_last(int ndim, const int64_t *shape, int64_t *strides);
bool ms__is_channels_last(const MsTensor *t);
/* t itself when it is channels-last, else a copy that is. */
MsTensor *ms__dense_last(MsTensor *t);

#endif
