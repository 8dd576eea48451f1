/* random.h - drawing from a generator's state. */
#ifndef MS_OP_RANDOM_H
#define MS_OP_RANDOM_H
#include "core/tensor.h"

/* The state for one draw; `state` (int64[2]) steps to the next one. */
MsTensor *ms__rng_next(MsTensor *state);

#endif
