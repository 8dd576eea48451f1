/* elementwise.h - runs programs of elementwise steps over tensors of any strides. A single operator is a
 * program of one step; fusion makes longer ones. */
#ifndef MS_CPU_ELEMENTWISE_H
#define MS_CPU_ELEMENTWISE_H
#include "cpu/loops.h"
#include "op/op.h"

#define MS_MAX_TILE_OPERANDS 32 /* inputs and outputs of a program */
#define MS_MAX_STEPS 192

/* One operation on registers. Registers 0..n_in-1 of a program are its inputs, register n_in+k the result of
 * step k. A register of half precision holds float32 values that half precision can represent. */
typedef struct MsStep {
    MsLoop loop;
    int16_t in[3];
    int8_t n_in;
    int8_t dtype; /* of the result */
    int16_t slot; /* buffer of the result: steps whose results live at different times share one */
    double p[2];
} MsStep;

typedef struct MsProgram {
    int n_in, n_out, n_step, n_slot;
    MsStep *step;
    int16_t *out; /* registers of the outputs, results of different steps */
    const MsCell *chain,
        *sum; /* NULL, or the same as cells: operands are the registers, then the outputs; the one output summed */
} MsProgram;

/* The row of an operator, or -1 when it is not elementwise with a loop (cast and where have numbers, too). */
int ms__row_of(const MsOp *op);
#define MS_ROW_cast MS_N_ROWS

/* Fills loop, dtype and p of a step that applies a row to dtypes in[]; error TYPE when there is no loop. */
MsStatus ms__step_set(MsStep *s, const MsOp *op, int row, const MsAttr *attr, const MsDtype *in, MsDtype out);

/* Runs p. in[] broadcast to the shape that all out[] have; an output may be an input of identical layout. */
MsStatus ms__program_run(const MsOp *op, const MsProgram *p, MsTensor *const *in, MsTensor *const *out);

/* ---- values that are made where they are needed and not stored ---- */

typedef struct MsTiles MsTiles;

/* What a thread remembers of an input that repeats a value: what the buffer is filled with. */
typedef struct MsFilled {
    const char *from;
    int64_t n;
} MsFilled;

/* Where a thread is, with its buffers: ms__tiles_room bytes, aligned to 64, and one MsFilled per input, zero at first. */
typedef struct MsTileAt {
    int64_t linear, idx[MS_MAX_DIM];
    char *work;
    MsFilled *filled;
} MsTileAt;

/* The one output of p with the shape and dense strides of `out`, which has elements and needs no memory. p and in[] must
 * outlive it. NULL and an error when memory is refused. */
MsTiles *ms__tiles_open(const MsProgram *p, MsTensor *const *in, MsTensor *out);
void ms__tiles_close(MsTiles *t);
size_t ms__tiles_room(const MsTiles *t);
/* The next n elements in the memory order of the output, as it would hold them; from `begin` on. False: see MsLoop. */
void ms__tiles_seek(const MsTiles *t, MsTileAt *c, int64_t begin);
bool ms__tiles_make(const MsTiles *t, MsTileAt *c, int64_t n, char *to);
/* Whether they can be summed unmade: they are added to MS_LANES float64, as the fold `lanes` of float32 would do. */
bool ms__tiles_can_sum(const MsTiles *t);
void ms__tiles_sum(const MsTiles *t, MsTileAt *c, int64_t n, double *acc);

/* Strides that such an output gets, NULL for row-major. */
const int64_t *ms__layout_like(const MsCall *c, int j);
/* Output j with the layout of the first input that has its shape and is dense, so that channels-last stays
 * so. */
MsTensor *ms__out_like(MsCall *c, int j);

#endif
