/* loops.h - the inner loops of elementwise operators: one function per row of op/unary.def and op/binary.def
 * and dtype, over contiguous runs. Everything about strides, broadcasting, half precision and threads is done
 * around them (cpu/elementwise.c), so that a loop is one line of C which the compiler vectorises for each
 * instruction set.
 *
 * float16 and bfloat16 have no loops: they are computed as float32 in tiles. A signed integer shares the loop
 * of the unsigned one where the operation is modular. */
#ifndef MS_CPU_LOOPS_H
#define MS_CPU_LOOPS_H
#include "core/tensor.h"
#include "cpu/chain.h"
#include "op/rows.h"

/* y[0..n) from in[k][0..n); y may be one of the inputs if the element sizes agree. p: the row's attribute.
 * False: an element has no result (integer division by zero and the like). */
typedef bool (*MsLoop)(int64_t n, void *y, const void *const *in, const double *p);

/* The number of a row. */
enum {
#define MS_UNARY(cls, id, ...) MS_ROW_##id,
#define MS_PART(cls, id, ...) MS_ROW_##id,
#define MS_TEST(cls, id, ...) MS_ROW_##id,
#define MS_BINARY(cls, id, ...) MS_ROW_##id,
#define MS_CHECKED(cls, id, ...) MS_ROW_##id,
#define MS_COMPARE(cls, id, ...) MS_ROW_##id,
#include "op/binary.def"
#include "op/unary.def"
#undef MS_UNARY
#undef MS_PART
#undef MS_TEST
#undef MS_BINARY
#undef MS_CHECKED
#undef MS_COMPARE
    MS_ROW_where, /* in: bool, T, T */
    MS_N_ROWS
};

#define MS_N_PLAIN (MS_COMPLEX128 + 1) /* dtypes with loops: up to complex128 */

/* The loops of one dtype in one instruction set; a missing row is NULL. */
typedef struct MsLoops {
    MsLoop row[MS_N_ROWS];
    MsLoop cast[MS_N_PLAIN]; /* from this dtype to another */
} MsLoops;

/* Accumulating loops, see cpu/isa/fold_of.h. */
typedef enum MsFoldKind {
    MS_FOLD_SUM,
    MS_FOLD_PROD,
    MS_FOLD_MAX,
    MS_FOLD_MIN,
    MS_N_FOLDS
} MsFoldKind;
#define MS_LANES 64
typedef void (*MsFold)(int64_t n, void *acc, const void *x);
typedef void (*MsFoldEight)(int64_t n, void *acc, const void *x,
                            int64_t pitch); /* pitch: bytes between rows */
typedef struct MsFolds {
    MsFold rows[MS_N_FOLDS], lanes[MS_N_FOLDS];
    MsFoldEight eight[MS_N_FOLDS]; /* sums and products only */
} MsFolds;

/* Functions of one row of float32 [0] or float64 [1]; y may be x. */
typedef struct MsRowSet {
    float (*max)(int64_t n, const float *x); /* of those that are not NaN; -inf of none */
    int64_t (*arg)(int64_t n, const float *x,
                   bool min); /* the first of the largest (smallest), or NaN; n > 0 */
    double (*exp_sum)(int64_t n, float *y, const float *x,
                      float shift); /* y = exp(x - shift) <= 1; their sum */
    void (*exp)(int64_t n, double *y, const double *x, double shift);
    void (*affine[2])(int64_t n, void *y, const void *x, double a, double b);               /* a x + b */
    void (*keys)(int64_t n, const uint32_t *x, uint32_t nan, uint64_t flip, uint64_t *key); /* of float32 */
    /* The place of each in order, stable; both have room for a multiple of 16. */
    void (*rank)(int64_t n, const uint32_t *key, uint32_t *rank);
} MsRowSet;

/* What the instruction sets export (cpu/isa/): by dtype, NULL for half precision and complex. */
typedef struct MsLoopSet {
    const char *name;
    const MsLoops *loops[MS_N_PLAIN];
    const MsRowSet *rows;
    const MsChainSet *chain;     /* cpu/chain.h */
    const MsFolds *const *folds; /* by dtype; bool as uint8, whose sum is not used */
    void (*from_half[2])(int64_t n, float *y, const uint16_t *x); /* float16, bfloat16 */
    const MsFold (*extremes)[2];    /* by dtype: maxima and minima of runs, see cpu/isa/extreme.c */
    MsFoldEight sum_half[2];        /* eight rows, added as float32, into float64 */
    MsFold run_half[2];             /* the same of a run: n is a multiple of 8 MS_LANES */
    void (*sum_lanes)(double *acc); /* MS_LANES accumulators into the first, by halving */
    void (*to_half[2])(int64_t n, uint16_t *y, const float *x);
} MsLoopSet;

extern const MsLoopSet ms__loop_set_base, ms__loop_set_avx2, ms__loop_set_avx512;
extern const MsLoops ms__loops_complex64, ms__loops_complex128;

/* The set in use: that of ms__isa() (cpu/isa.h). */
const MsLoopSet *ms__loops(void);
/* Switches (tests). False: unknown, or the processor lacks it. */
bool ms__loops_select(const char *name);
/* The loop of a row for a dtype, half precision given as float32; NULL when there is none. */
MsLoop ms__loop(int row, MsDtype dtype);
MsLoop ms__loop_cast(MsDtype from, MsDtype to);

#endif
