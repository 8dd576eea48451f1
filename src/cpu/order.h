/* order.h - elements as unsigned keys whose order is theirs: NaN on top (or at the bottom), -0 equal to +0.
 */
#ifndef MS_CPU_ORDER_H
#define MS_CPU_ORDER_H
#include "core/tensor.h"

/* key[k] for n elements of a real (or bool) dtype, stride in elements. flip: descending order. */
void ms__order_keys(MsDtype dtype, int64_t n, const void *x, int64_t stride, bool nan_low, bool flip,
                    uint64_t *key);
/* Stable: index (preset by the caller, in order) follows the keys. Both have scratch twins of n entries. */
void ms__order_sort(int64_t n, uint64_t *key, int64_t *index, uint64_t *key2, int64_t *index2);

#endif
