/* direct.c - direct convolution, compiled per instruction set. The vector runs along the width, so few
 * channels waste nothing: forward keeps the sums of up to 8 output channels by 16 columns in registers and
 * walks input channels and kernel; the weight gradient keeps 4 channels by up to 7 kernel columns and walks
 * images and rows. The input gradient is forward over flipped weights. Every sum is made by one thread in one
 * order. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/direct.h"

#include <stdatomic.h>
#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define LANES MS_DIRECT_LANES
#define BLOCK MS_DIRECT_BLOCK

typedef float V __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* One row, and whether all of it is finite: an exponent of all ones is found in the bits, which vectorises.
 */
static inline __attribute__((always_inline)) uint32_t pad_row(float *to, const float *from, int64_t n,
                                                              int64_t step)
{
    uint32_t odd = 0;
    for (int64_t j = 0; j < n; j++) {
        uint32_t bits;
        to[j] = from[j * step];
        memcpy(&bits, &to[j], sizeof bits);
        odd |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return odd;
}

static void pad(void *ctx, int64_t begin, int64_t end)
{
    MsPad *p = ctx;
    uint32_t odd = 0;
    for (int64_t r = begin; r < end; r++) {
        const float *from =
            p->x + r / p->planes_per_image * p->strides[0] + r % p->planes_per_image * p->strides[1];
        float *to = p->to + r * p->h * p->pitch;
        int64_t behind = p->left + p->columns;
        memset(to, 0, (size_t)(p->top * p->pitch) * sizeof *to);
        for (int64_t i = 0; i < p->rows; i++) {
            float *row = to + (p->top + i) * p->pitch;
            for (int64_t j = 0; j < p->left; j++) row[j] = 0;
            odd |= p->strides[3] == 1
                       ? pad_row(row + p->left, from + i * p->strides[2], p->columns, 1)
                       : pad_row(row + p->left, from + i * p->strides[2], p->columns, p->strides[3]);
            for (int64_t j = behind; j < p->pitch; j++) row[j] = 0;
        }
        to += (p->top + p->rows) * p->pitch;
        memset(to, 0, (size_t)((p->h - p->top - p->rows) * p->pitch) * sizeof *to);
    }
    if (odd) atomic_store(&p->odd, true);
}

static inline __attribute__((always_inline)) void columns(const MsDirect *d, int block, const float *x,
                                                          const float *w, V *acc)
{
    for (int64_t c = 0; c < d->c; c++)
        for (int64_t kh = 0; kh < d->kh; kh++) {
            const float *row = x + (c * d->h + kh) * d->pitch;
            for (int64_t kw = 0; kw < d->kw; kw++, w += BLOCK) {
                V v = *(const V *)(row + kw);
#pragma GCC unroll 8
                for (int o = 0; o < block; o++) acc[o] += w[o] * v;
            }
        }
}

static inline __attribute__((always_inline)) void block_of(const MsDirect *d, int block, int64_t n,
                                                           int64_t o0)
{
    const float *w = d->w + o0 * d->c * d->kh * d->kw;
    for (int64_t oh = 0; oh < d->oh; oh++)
        for (int64_t ow = 0; ow < d->ow; ow += LANES) {
            V acc[BLOCK];
            for (int o = 0; o < block; o++) acc[o] = (V){0} + (d->bias ? d->bias[o0 + o] : 0);
            columns(d, block, d->x + (n * d->c * d->h + oh) * d->pitch + ow, w, acc);
            int64_t m = d->ow - ow < LANES ? d->ow - ow : LANES;
            for (int o = 0; o < block; o++) {
                float *y = d->y + ((n * d->o + o0 + o) * d->oh + oh) * d->ypitch + ow;
                if (m == LANES)
                    *(V *)y = acc[o];
                else
                    memcpy(y, &acc[o], (size_t)m * sizeof *y);
            }
        }
}

static void forward(void *ctx, int64_t begin, int64_t end)
{
    const MsDirect *d = ctx;
    int64_t blocks = (d->o + BLOCK - 1) / BLOCK;
    for (int64_t r = begin; r < end; r++) {
        int64_t n = r / blocks, o0 = r % blocks * BLOCK;
        switch (d->o - o0) {
        case 1: block_of(d, 1, n, o0); break;
        case 2: block_of(d, 2, n, o0); break;
        case 3: block_of(d, 3, n, o0); break;
        case 4: block_of(d, 4, n, o0); break;
        case 5: block_of(d, 5, n, o0); break;
        case 6: block_of(d, 6, n, o0); break;
        case 7: block_of(d, 7, n, o0); break;
        default: block_of(d, BLOCK, n, o0);
        }
    }
}

static inline __attribute__((always_inline)) void weight_rows(const MsDirect *d, int n_o, int n_kw,
                                                              int64_t o0, int64_t c, int64_t kh)
{
    V acc[4][7];
    for (int o = 0; o < n_o; o++)
        for (int k = 0; k < n_kw; k++) acc[o][k] = (V){0};
    for (int64_t n = 0; n < d->n; n++)
        for (int64_t oh = 0; oh < d->oh; oh++) {
            const float *x = d->x + ((n * d->c + c) * d->h + oh + kh) * d->pitch;
            const float *dy = d->dy + ((n * d->o + o0) * d->oh + oh) * d->ypitch;
            for (int64_t ow = 0; ow < d->ow; ow += LANES) {
                V g[4];
                for (int o = 0; o < n_o; o++) g[o] = *(const V *)(dy + o * d->oh * d->ypitch + ow);
#pragma GCC unroll 7
                for (int k = 0; k < n_kw; k++) {
                    V v = *(const V *)(x + ow + k);
#pragma GCC unroll 4
                    for (int o = 0; o < n_o; o++) acc[o][k] += g[o] * v;
                }
            }
        }
    for (int o = 0; o < n_o; o++)
        for (int k = 0; k < n_kw; k++) {
            float sum = 0;
            for (int l = 0; l < LANES; l++) sum += acc[o][k][l];
            d->dw[(((o0 + o) * d->c + c) * d->kh + kh) * d->kw + k] = sum;
        }
}

#define KW(n_o)                                                                                              \
    switch (d->kw) {                                                                                         \
    case 1: weight_rows(d, n_o, 1, o0, c, kh); break;                                                        \
    case 2: weight_rows(d, n_o, 2, o0, c, kh); break;                                                        \
    case 3: weight_rows(d, n_o, 3, o0, c, kh); break;                                                        \
    case 4: weight_rows(d, n_o, 4, o0, c, kh); break;                                                        \
    case 5: weight_rows(d, n_o, 5, o0, c, kh); break;                                                        \
    case 6: weight_rows(d, n_o, 6, o0, c, kh); break;                                                        \
    default: weight_rows(d, n_o, 7, o0, c, kh);                                                              \
    }

static void weight(void *ctx, int64_t begin, int64_t end)
{
    const MsDirect *d = ctx;
    for (int64_t r = begin; r < end; r++) {
        int64_t blocks =
            (d->o + 3) / 4; /* innermost, so that the narrow last one is spread over the threads */
        int64_t o0 = r % blocks * 4, c = r / blocks / d->kh, kh = r / blocks % d->kh;
        switch (d->o - o0) {
        case 1: KW(1) break;
        case 2: KW(2) break;
        case 3: KW(3) break;
        default: KW(4)
        }
    }
}

const MsDirectFns PASTE(ms__direct_, MS_ISA) = {pad, forward, weight};
