/* rules.h - small compositions that gradient rules share. They nest like operators: NULL passes through. */
#ifndef MS_OP_RULES_H
#define MS_OP_RULES_H
#include "mindspore_ops.h"
#include "op/op.h"

/* x + c, x * c and c alone as a 0-d tensor, in x's dtype. */
MsTensor *ms__shift(MsTensor *x, double c);
MsTensor *ms__scale(MsTensor *x, double c);
MsTensor *ms__constant(MsTensor *x, double c);
/* Conjugate of a complex tensor, x itself otherwise. */
MsTensor *ms__conj(MsTensor *x);

#endif
