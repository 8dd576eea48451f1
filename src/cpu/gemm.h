/* gemm.h - the portable matrix product of float32 and float64. */
#ifndef MS_CPU_GEMM_H
#define MS_CPU_GEMM_H
#include "core/error.h"

#define MS_GEMM_PANEL 16  /* columns of a packed panel of float32 B; half as many of float64 */
#define MS_GEMM_DEPTH 336 /* depth of a block: a panel of it fits in a first-level cache */

/* C[m, n] (+)= A[m, k] B[k, n] + bias[n] with strides in elements; b is packed. */
typedef struct MsGemmTile {
    int64_t m, n, k;
    const void *a;
    int64_t am, ak;
    const void *b;
    void *c;
    int64_t cm, cn;
    bool add;
    const void *bias; /* NULL: none */
    int64_t panel;    /* from a panel of b to the next; 0: one follows the other */
    int64_t block;    /* from ms__gemm_rows_* rows of a to the next as many; 0: as within them */
} MsGemmTile;

void ms__gemm_tile_base(const MsGemmTile *t);
void ms__gemm_tile_avx2(const MsGemmTile *t);
void ms__gemm_tile_avx512(const MsGemmTile *t);
void ms__gemm_tile64_base(const MsGemmTile *t);
void ms__gemm_tile64_avx2(const MsGemmTile *t);
void ms__gemm_tile64_avx512(const MsGemmTile *t);

/* The rows of a tile in registers. */
extern const int ms__gemm_rows_base, ms__gemm_rows_avx2, ms__gemm_rows_avx512;

/* Packs n rows of A (`rows`) or columns of B, whose elements are xk apart along the depth k and xl across it, into panels
 * [n / width][k][width] with zeros behind the last; width: the rows of a tile or the columns of a panel. */
void ms__gemm_pack_base(bool rows, int64_t n, int64_t k, const void *x, int64_t xk, int64_t xl, void *out);
void ms__gemm_pack_avx2(bool rows, int64_t n, int64_t k, const void *x, int64_t xk, int64_t xl, void *out);
void ms__gemm_pack_avx512(bool rows, int64_t n, int64_t k, const void *x, int64_t xk, int64_t xl, void *out);
void ms__gemm_pack64_base(bool rows, int64_t n, int64_t k, const void *x, int64_t xk, int64_t xl, void *out);
void ms__gemm_pack64_avx2(bool rows, int64_t n, int64_t k, const void *x, int64_t xk, int64_t xl, void *out);
void ms__gemm_pack64_avx512(bool rows, int64_t n, int64_t k, const void *x, int64_t xk, int64_t xl,
                            void *out);

/* y[j] = w[j] x + bias[j] over rows of w, each of k contiguous elements; a range function. */
typedef struct MsMatVec {
    int64_t k, pitch; /* pitch: from row to row of w */
    const float *w, *x, *bias;
    float *y;
} MsMatVec;

void ms__matvec_base(void *ctx, int64_t begin, int64_t end);
void ms__matvec_avx2(void *ctx, int64_t begin, int64_t end);
void ms__matvec_avx512(void *ctx, int64_t begin, int64_t end);

/* A product of matrices with arbitrary strides. */
typedef struct MsGemm {
    int64_t m, n, k;
    const void *a;
    int64_t am, ak;
    const void *b;
    int64_t bk, bn;
    void *c;
    int64_t cm, cn;
    bool f64;         /* float64, else float32 */
    const void *bias; /* n contiguous elements, or NULL */
} MsGemm;

/* C = A B + bias on the calling thread. Error: MEMORY. */
MsStatus ms__gemm_serial(const MsGemm *g);
/* The same over all threads. */
MsStatus ms__gemm_parallel(const MsGemm *g);

#endif
