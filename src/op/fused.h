/* fused.h - programs of elementwise operators, as the operator `fused` carries them in text form. */
#ifndef MS_OP_FUSED_H
#define MS_OP_FUSED_H
#include "op/op.h"

#define MS_FUSED_OPERANDS 32 /* inputs and outputs of a program */
#define MS_FUSED_STEPS 192

typedef struct MsFusedStep {
    const MsOp *op;
    MsAttr attr; /* rows have one attribute at most */
    int16_t in[3];
    int8_t n_in;
} MsFusedStep;

/* Registers 0..n_in-1 are the inputs, n_in+k the result of step k. */
typedef struct MsFused {
    struct MsFused *next;
    const char *text; /* interned */
    int n_in, n_step, n_out;
    MsFusedStep step[MS_FUSED_STEPS];
    int16_t out[MS_FUSED_OPERANDS];
    _Atomic(struct MsFusedCode *) code; /* cpu/fused.c: compiled forms by dtypes of the inputs */
} MsFused;

/* The parsed program, kept for the life of the process; NULL and an error when it is malformed. `text` must
 * be interned or static. */
MsFused *ms__fused(const char *text);
/* Whether a step of a program can be `op`: only what has loops there (cpu/elementwise.c). */
bool ms__fused_has(const MsOp *op);
/* Integer operators that refuse some values. */
bool ms__fused_may_raise(const MsOp *op, MsDtype dtype);
/* Whether a reduction of such values by `op` can be joined to their program as `fused_reduce`, and gains by it: it
 * reads them in long runs. */
bool ms__fused_reduces(const MsOp *op, const MsAttr *axis, const MsAval *x);
/* Dtypes of all registers for inputs of dtypes reg[0..n_in). */
MsStatus ms__fused_dtypes(const MsFused *f, MsDtype *reg);

#endif
