/* gemm.c - the inner loop of the portable matrix product, compiled per instruction set. B comes packed in
 * panels of 16 columns, [n / 16][k][16] with zeros behind the last column; a tile of ROWS x 16 sums stays in
 * registers over the whole depth, which the caller keeps at a few hundred. Products are fused where the
 * instruction set can. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/gemm.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#if defined(MS_ISA_avx512)
#define ROWS 8
#elif defined(MS_ISA_avx2)
#define ROWS 4
#else
#define ROWS 2
#endif

typedef float V __attribute__((vector_size(64), aligned(4), may_alias));

static inline void store_row(float *c, int64_t cn, int64_t n, V v, bool add)
{
    if (n == MS_GEMM_PANEL && cn == 1) {
        if (add) v += *(V *)c;
        *(V *)c = v;
        return;
    }
    for (int64_t l = 0; l < n; l++) c[l * cn] = add ? c[l * cn] + v[l] : v[l];
}

static inline __attribute__((always_inline)) void tile(int rows, const MsGemmTile *t, const float *a,
                                                       const float *b, float *c, int64_t n)
{
    V acc[ROWS];
    for (int r = 0; r < rows; r++) acc[r] = (V){0};
    for (int64_t p = 0; p < t->k; p++) {
        V bv = *(const V *)(b + p * MS_GEMM_PANEL);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) acc[r] += a[r * t->am + p * t->ak] * bv;
    }
    for (int r = 0; r < rows; r++) store_row(c + r * t->cm, t->cn, n, acc[r], t->add);
}

void PASTE(ms__gemm_tile_, MS_ISA)(const MsGemmTile *t)
{
    for (int64_t j = 0; j < t->n; j += MS_GEMM_PANEL) {
        int64_t n = t->n - j < MS_GEMM_PANEL ? t->n - j : MS_GEMM_PANEL;
        const float *b = t->b + j * t->k;
        float *c = t->c + j * t->cn;
        int64_t i = 0;
        for (; i + ROWS <= t->m; i += ROWS) tile(ROWS, t, t->a + i * t->am, b, c + i * t->cm, n);
        for (; i < t->m; i++) tile(1, t, t->a + i * t->am, b, c + i * t->cm, n);
    }
}

/* Rows of w times x. The order of a sum depends on k alone. */
static inline __attribute__((always_inline)) void row_products(const MsMatVec *p, int rows, int64_t j)
{
    V sum[4][2] = {{{0}}};
    int64_t i = 0;
    const float *w = p->w + j * p->pitch;
    for (; i + 32 <= p->k; i += 32)
        for (int r = 0; r < rows; r++)
            for (int h = 0; h < 2; h++)
                sum[r][h] += *(const V *)(w + r * p->pitch + i + 16 * h) * *(const V *)(p->x + i + 16 * h);
    for (int r = 0; r < rows; r++) {
        V all = sum[r][0] + sum[r][1];
        float s = 0;
        for (int l = 0; l < 16; l++) s += all[l];
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
