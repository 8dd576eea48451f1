/* chain.h - programs of cheap float32 steps with their values in vector registers. Tiles (cpu/elementwise.c) take one
 * pass over the first-level cache for each step, between which memory waits; a chain takes one pass in all: each step is a
 * cell, which works on the block of values in the registers and jumps to the next one. */
#ifndef MS_CPU_CHAIN_H
#define MS_CPU_CHAIN_H
#include <stdint.h>

/* What a cell does with the values, see cpu/isa/chain.c. */
typedef void (*MsCellRun)(void);

typedef struct MsCell {
    MsCellRun run;
    int64_t operand; /* which MsSpan it reads or writes, besides the registers */
} MsCell;

/* Where an operand is. step: bytes from one element to the next, 4, or 0 for a block that every pass finds at `at`. */
typedef struct MsSpan {
    char *at;
    int64_t step;
} MsSpan;

/* The cells of an instruction set. */
typedef struct MsChainSet {
    int64_t block; /* elements that `run` works on at a time: divides MS_LANES or is a multiple of it */
    MsCellRun load, store, sum, end;
    const MsCellRun (*row)[2]; /* by row: values op operand, operand op values; NULL: not a cell */
    /* n: a multiple of block. `sum` adds to the MS_LANES float64 at its operand, as the fold `lanes` of float32 does. */
    void (*run)(int64_t n, const MsCell *first, const MsSpan *span);
} MsChainSet;

#endif
