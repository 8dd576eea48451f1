/* copy.h - the strided copy and cast engine, and small helpers that the data-moving kernels share. */
#ifndef MS_CPU_COPY_H
#define MS_CPU_COPY_H
#include "core/tensor.h"

/* dst <- src: broadcast to dst's shape, cast to its dtype, any strides (0 and negative too), in parallel.
 * Overlap of the two is allowed: the result is as if src had been read completely first. Errors: VALUE (src
 * does not broadcast), MEMORY. Casts: float to integer truncates; NaN and what does not fit give the smallest
 * int32 (int64 for 64-bit targets) cut to the width, as x86 hardware does; complex to real keeps the real
 * part. */
MS_API_EXPORT MsStatus ms__copy(MsTensor *dst, MsTensor *src);

/* The same on bare memory of equal shape; strides in elements. The regions must not overlap unless they are
 * equal. */
void ms__copy_raw(int ndim, const int64_t *shape, void *dst, MsDtype dst_dtype, const int64_t *dst_strides,
                  const void *src, MsDtype src_dtype, const int64_t *src_strides);

/* Every element of t becomes *value (of t's dtype). */
void ms__fill(MsTensor *t, const void *value);
/* The value as an element of dtype, cast as ms__copy does; buf holds 16 bytes. */
void ms__element(MsDtype dtype, double value, void *buf);
void ms__element_int(MsDtype dtype, int64_t value, void *buf);

/* n contiguous elements of one dtype to another. */
typedef void (*MsCastRow)(int64_t n, void *dst, const void *src);
MsCastRow ms__cast_row(MsDtype from, MsDtype to);

/* n elements of `size` bytes, unchanged, with strides in bytes. */
typedef void (*MsMoveRow)(int64_t n, char *d, int64_t ds, const char *s, int64_t ss);
MsMoveRow ms__move_row(size_t size);

/* t itself when it is row-major without gaps, else a copy that is (in the open scope). */
MsTensor *ms__dense(MsTensor *t);
/* t as row-major elements of dtype: itself when it is that already. */
MsTensor *ms__dense_as(MsTensor *t, MsDtype dtype);

/* True when dims [from, to) can be walked with one stride (in elements), which is returned with their count.
 */
bool ms__collapse(const MsTensor *t, int from, int to, int64_t *count, int64_t *stride);

#endif
