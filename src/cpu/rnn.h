/* rnn.h - steps of a recurrent layer (isa/rnn.c). Everything is dense float32. */
#ifndef MS_CPU_RNN_H
#define MS_CPU_RNN_H
#include "core/error.h"

#define MS_RNN_UNITS 16 /* hidden units that are worked on together */

typedef struct MsLstm {
    int64_t batch, n; /* hidden units */
    int64_t depth;    /* of the packed panels: n forward, 4 n backward */
    const float
        *packed; /* forward [n / UNITS][4][n][UNITS]; backward [n / UNITS][4 n][UNITS]; zeros behind n */
    /* One step: a, gates, da, dgates are [batch, 4 n], everything else [batch, n]. */
    const float *a, *h, *c_before;
    float *y, *c, *gates;
    const float *dy, *dc, *dgates,
        *da_after; /* after: of the step behind, NULL at the end; dc, dgates may be NULL */
    const float *gates_in, *c_in;
    float *da, *carry; /* carry [batch, n]: dc from step to step */
    float *dh;         /* backward after the first step: d of the initial h; else NULL */
} MsLstm;

typedef struct MsGru {
    int64_t batch, n;
    const float *packed; /* forward [n / UNITS][3][n][UNITS]; backward [n / UNITS][3 n][UNITS] */
    const float *b;      /* [n], or NULL */
    /* One step: a is [batch, 3 n]; gates, d, dgates are [batch, 4 n], everything else [batch, n]. */
    const float *a, *h;
    float *y, *gates;
    const float *dy, *dgates, *gates_in, *d_after; /* after: of the step behind, NULL at the end */
    float *d, *carry;                              /* carry [batch, n]: the part of dh that no weight takes */
    float *dh;                                     /* as in MsLstm */
} MsGru;

/* Range functions over blocks of UNITS hidden units. */
typedef struct MsRnnFns {
    void (*lstm)(void *ctx, int64_t begin, int64_t end);
    void (*lstm_grad)(void *ctx, int64_t begin, int64_t end);
    void (*gru)(void *ctx, int64_t begin, int64_t end);
    void (*gru_grad)(void *ctx, int64_t begin, int64_t end);
} MsRnnFns;

extern const MsRnnFns ms__rnn_base, ms__rnn_avx2, ms__rnn_avx512;

#endif
