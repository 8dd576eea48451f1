/* index.h - index values as kernels need them, and outputs that are written row-major. */
#ifndef MS_CPU_INDEX_H
#define MS_CPU_INDEX_H
#include "op/op.h"

/* Several indices as one: broadcast to the shape, combined row-major over sizes[0..n_idx). Negative values are wrapped,
 * each is checked against [-size, size). The block has max(n, 1) values and goes back with ms__index_free. NULL and an
 * error: `code` (out of range), MEMORY. */
int64_t *ms__index_linear(const char *op, int n_idx, MsTensor *const *idx, int ndim, const int64_t *shape,
                          const int64_t *sizes, MsStatus code);
void ms__index_free(int64_t *v, int64_t n);

/* A row-major tensor to compute y's values in: y itself, or a temporary that ms__work_done copies over. */
MsTensor *ms__work(MsTensor *y);
MsStatus ms__work_done(MsTensor *y, MsTensor *work);

/* y <- x with dims [from, to) read at the linear positions v[0..n): x.shape[:from] + [n] + x.shape[to:],
 * row-major. */
MsStatus ms__gather_rows(MsTensor *y, MsTensor *x, int from, int to, const int64_t *v, int64_t n);
/* y <- x with the rows of src (shaped like ms__gather_rows' result) added or, the last winning, put there. */
MsStatus ms__scatter_rows(MsTensor *y, MsTensor *x, MsTensor *src, int from, int to, const int64_t *v,
                          int64_t n, bool add);

/* Accumulation: adds n elements of dtype, s to d. */
typedef void (*MsAddRow)(int64_t n, void *d, const void *s);
MsAddRow ms__add_row(MsDtype dtype);
/* The dtype to accumulate in: float32 for the half floats. */
MsDtype ms__sum_dtype(MsDtype dtype);

#endif
