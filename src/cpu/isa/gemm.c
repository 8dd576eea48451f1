/* gemm.c - the inner loops of the portable matrix product, compiled per instruction set. B comes packed in
 * panels of 16 columns (8 of float64), [n / 16][k][16] with zeros behind the last column; a tile of ROWS x PANELS * 16 sums stays
 * in registers over the whole depth, which the caller keeps at a few hundred. Products are fused where the
 * instruction set can. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/gemm.h"

#include "cpu/isa/vec.h"

#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#if defined(MS_ISA_avx512)
#define ROWS 8
#define PANELS 3
#elif defined(MS_ISA_avx2) || defined(__aarch64__)
#define ROWS 4
#define PANELS 1
#else
#define ROWS 2
#define PANELS 1
#endif
#define PARTS (64 / WIDTH) /* vectors of a panel's row */
#define AT_ONCE 16         /* panels that are written side by side */
const int PASTE(ms__gemm_rows_, MS_ISA) = ROWS;

typedef int32_t I4 __attribute__((vector_size(16)));
typedef int64_t L2 __attribute__((vector_size(16)));

#define T float
#define QUAD_OF 4
#define TILE ms__gemm_tile_
#define PACK ms__gemm_pack_
#include "gemm_of.h"
#define T double
#define QUAD_OF 2
#define TILE ms__gemm_tile64_
#define PACK ms__gemm_pack64_
#include "gemm_of.h"

/* Rows of w times x. The order of a sum depends on k alone. */
static inline __attribute__((always_inline)) void row_products(const MsMatVec *p, int rows, int64_t j)
{
    V sum[4][2] = {{{0}}};
    int64_t i = 0;
    const float *w = p->w + j * p->pitch;
    for (; i + 2 * LANES <= p->k; i += 2 * LANES)
        for (int r = 0; r < rows; r++)
            for (int h = 0; h < 2; h++)
                sum[r][h] +=
                    *(const V *)(w + r * p->pitch + i + LANES * h) * *(const V *)(p->x + i + LANES * h);
    for (int r = 0; r < rows; r++) {
        V all = sum[r][0] + sum[r][1];
        float s = 0;
        for (int l = 0; l < LANES; l++) s += all[l];
        for (int64_t l = i; l < p->k; l++) s += w[r * p->pitch + l] * p->x[l];
        p->y[j + r] = p->bias ? s + p->bias[j + r] : s;
    }
}

void PASTE(ms__matvec_, MS_ISA)(void *ctx, int64_t begin, int64_t end)
{
    const MsMatVec *p = ctx;
    int64_t j = begin;
    for (; j + 4 <= end; j += 4) row_products(p, 4, j);
    for (; j < end; j++) row_products(p, 1, j);
}
