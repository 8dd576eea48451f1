/* profile.h - a record of every kernel run, while one is asked for (ms_profile_start in mindspore.h). */
#ifndef MS_OP_PROFILE_H
#define MS_OP_PROFILE_H
#include "op/op.h"

/* Runs a kernel; every call of one goes through here. Without a profile it costs one predictable branch. */
MsStatus ms__run(MsStatus (*run)(MsCall *c), MsCall *c);

int64_t ms__now(void); /* nanoseconds of the monotonic clock */

#endif
