/* write.c - writes into tensors, views and environments. */
#include "trace/trace.h"

MsTensor *ms__lift(MsTrace *t, MsTensor *x)
{
    (void)t;
    return x;
}
