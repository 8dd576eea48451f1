/* attention.h - what the loops of attention (isa/attention.c) need to know. */
#ifndef MS_CPU_ATTENTION_H
#define MS_CPU_ATTENTION_H
#include "core/tensor.h"

#define MS_ATTENTION_LANES 16 /* queries that are worked on together */

/* A matrix per head: [rows, columns] with strides in elements; the batch strides belong to MsAttention.shape. */
typedef struct MsHeads {
    char *data;
    int64_t batch[MS_MAX_DIM], row, col;
} MsHeads;

typedef struct MsAttention {
    int64_t heads, n, m, d, e; /* q [n, d], k [m, d], v [m, e] */
    int n_batch;
    int64_t shape[MS_MAX_DIM];
    int64_t block; /* queries of a block, a multiple of LANES */
    int half;      /* 0: float32; 1, 2: entry of from_half and to_half, plus one */
    void (*from_half)(int64_t n, float *y, const uint16_t *x);
    void (*to_half)(int64_t n, uint16_t *y, const float *x);
    float scale, fill;
    bool causal;
    MsHeads q, k, v, dy;   /* read */
    MsHeads o, dq, dk, dv; /* written */
    MsHeads mask, keep;    /* data NULL = none; [m, n]: transposed, rows of n rounded up to LANES */
    bool mask_is_bool;
    _Atomic bool no_memory;
} MsAttention;

/* Range functions for ms__parallel_for. */
typedef struct MsAttentionFns {
    void (*forward)(void *ctx, int64_t begin, int64_t end);  /* over heads * blocks */
    void (*backward)(void *ctx, int64_t begin, int64_t end); /* over heads */
} MsAttentionFns;

extern const MsAttentionFns ms__attention_base, ms__attention_avx2, ms__attention_avx512;

#endif
