/* batch.h - batching rules for families of operators, and their parts. Each rule may stand as `.batch`. */
#ifndef MS_OP_BATCH_H
#define MS_OP_BATCH_H
#include "op/op.h"

/* Every input takes any leading axes. */
MsStatus ms__batch_lead(MsBatch *c);
/* One input, one output; attribute 0 is an axis or a list of axes, none of them meaning all. */
MsStatus ms__batch_axes(MsBatch *c);
/* Axis 0 of every input and output counts independent examples; so does entry 0 of an attribute `shape`. */
MsStatus ms__batch_examples(MsBatch *c);
/* Axis 1 of every input and output counts independent channels, vectors have one entry for each. */
MsStatus ms__batch_channels(MsBatch *c);
/* The batch joins axis in_axis[i] of input i and comes out of axis out_axis[j] of output j. Inputs with -1 are shared by
 * all examples: where one of them is batched, one example runs at a time. */
MsStatus ms__batch_by(MsBatch *c, const int8_t *in_axis, const int8_t *out_axis);
/* One example at a time (trace/vmap.c): what operators without a rule do. */
MsStatus ms__batch_loop(MsBatch *c);

/* Parts: a copy of the attributes to change; input i with its batch joined into `axis` of the example; output j with
 * that undone; the call with every input joined along `axis`, vectors along their only one. */
void ms__batch_attrs(const MsBatch *c, MsAttr *attr);
MsTensor *ms__batch_join(MsBatch *c, int i, int axis);
MsStatus ms__batch_split(MsBatch *c, int j, int axis);
MsStatus ms__batch_along(MsBatch *c, const MsAttr *attr, int axis);

#endif
