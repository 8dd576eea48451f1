/* direct.c - direct convolution, compiled per instruction set. The vector runs along the width, so few
 * channels waste nothing: forward keeps the sums of up to 8 output channels by 16 columns in registers and
 * walks input channels and kernel; the weight gradient keeps 4 channels by up to 7 kernel columns and walks
 * images and rows. Where rows are short and there are 16 output channels, the vector runs over these. The input
 * gradient is forward over flipped weights. Every sum is made by one thread in one order. */
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

/* fn for this width of the kernel, a constant in each. */
#define KW(fn, n, ...)                                                                                       \
    switch (d->kw) {                                                                                         \
    case 1: fn(d, n, 1, __VA_ARGS__); break;                                                                 \
    case 2: fn(d, n, 2, __VA_ARGS__); break;                                                                 \
    case 3: fn(d, n, 3, __VA_ARGS__); break;                                                                 \
    case 4: fn(d, n, 4, __VA_ARGS__); break;                                                                 \
    case 5: fn(d, n, 5, __VA_ARGS__); break;                                                                 \
    case 6: fn(d, n, 6, __VA_ARGS__); break;                                                                 \
    default: fn(d, n, 7, __VA_ARGS__);                                                                       \
    }

static void weight(void *ctx, int64_t begin, int64_t end)
{
    const MsDirect *d = ctx;
    for (int64_t r = begin; r < end; r++) {
        int64_t blocks =
            (d->o + 3) / 4; /* innermost, so that the narrow last one is spread over the threads */
        int64_t o0 = r % blocks * 4, c = r / blocks / d->kh, kh = r / blocks % d->kh;
        switch (d->o - o0) {
        case 1: KW(weight_rows, 1, o0, c, kh) break;
        case 2: KW(weight_rows, 2, o0, c, kh) break;
        case 3: KW(weight_rows, 3, o0, c, kh) break;
        default: KW(weight_rows, 4, o0, c, kh)
        }
    }
}

/* ---- vectors over output channels ---- */

static void spread(void *ctx, int64_t begin, int64_t end)
{
    MsPad *p = ctx;
    uint32_t odd = 0;
    int64_t c_n = p->planes_per_image, pixels = p->rows * p->columns;
    for (int64_t n = begin; n < end; n++)
        for (int64_t c = 0; c < c_n; c++) {
            const float *from = p->x + n * p->strides[0] + c * p->strides[1];
            float *to = p->to + n * pixels * c_n + c;
            for (int64_t i = 0; i < p->rows; i++)
                for (int64_t j = 0; j < p->columns; j++, to += c_n) {
                    uint32_t bits;
                    *to = from[i * p->strides[2] + j * p->strides[3]];
                    memcpy(&bits, to, sizeof bits);
                    odd |= (bits & 0x7f800000u) == 0x7f800000u;
                }
        }
    if (odd) atomic_store(&p->odd, true);
}

/* `columns` pixels of one row from ow on. */
static inline __attribute__((always_inline)) void pixels(const MsDirect *d, int n_columns, int64_t n,
                                                         int64_t o0, int64_t oh, int64_t ow)
{
    V acc[14], bias = {0};
    if (d->bias) bias = *(const V *)(d->bias + o0);
    for (int j = 0; j < n_columns; j++) acc[j] = bias;
    const float *w = d->w + o0 * d->c * d->kh * d->kw;
    for (int64_t c = 0; c < d->c; c++)
        for (int64_t kh = 0; kh < d->kh; kh++) {
            const float *row = d->x + ((n * d->c + c) * d->h + oh + kh) * d->pitch + ow;
            for (int64_t kw = 0; kw < d->kw; kw++, w += LANES) {
                V v = *(const V *)w;
#pragma GCC unroll 14
                for (int j = 0; j < n_columns; j++) acc[j] += row[kw + j] * v;
            }
        }
    float *y = d->y + ((n * d->o + o0) * d->oh + oh) * d->ypitch + ow;
    for (int o = 0; o < LANES; o++)
        for (int j = 0; j < n_columns; j++) y[o * d->oh * d->ypitch + j] = acc[j][o];
}

/* Blocks of 7, 10 or 14 columns, whichever leaves least; the last one overlaps. */
static void forward_lanes(void *ctx, int64_t begin, int64_t end)
{
    const MsDirect *d = ctx;
    int64_t blocks = d->o / LANES, m = d->ow < 10 ? 7 : d->ow == 10 || (d->ow > 14 && d->ow <= 20) ? 10 : 14;
    if (d->ow > 10 && d->ow < 14) m = 10;
    for (int64_t r = begin; r < end; r++)
        for (int64_t oh = 0; oh < d->oh; oh++)
            for (int64_t at = 0; at < d->ow; at += m) {
                int64_t ow = at + m <= d->ow ? at : d->ow - m;
                if (m == 7)
                    pixels(d, 7, r / blocks, r % blocks * LANES, oh, ow);
                else if (m == 10)
                    pixels(d, 10, r / blocks, r % blocks * LANES, oh, ow);
                else
                    pixels(d, 14, r / blocks, r % blocks * LANES, oh, ow);
            }
}

static inline __attribute__((always_inline)) void weight_pixels(const MsDirect *d, int n_c, int n_kw,
                                                                int64_t o0, int64_t c0, int64_t kh)
{
    V acc[3][7];
    for (int c = 0; c < n_c; c++)
        for (int k = 0; k < n_kw; k++) acc[c][k] = (V){0};
    for (int64_t n = 0; n < d->n; n++)
        for (int64_t oh = 0; oh < d->oh; oh++) {
            const float *x = d->x + ((n * d->c + c0) * d->h + oh + kh) * d->pitch;
            const float *dy = d->dy + (n * d->oh + oh) * d->ow * d->o + o0;
            for (int64_t ow = 0; ow < d->ow; ow++, dy += d->o, x++) {
                V g = *(const V *)dy;
#pragma GCC unroll 3
                for (int c = 0; c < n_c; c++)
#pragma GCC unroll 7
                    for (int k = 0; k < n_kw; k++) acc[c][k] += x[c * d->h * d->pitch + k] * g;
            }
        }
    for (int c = 0; c < n_c; c++)
        for (int k = 0; k < n_kw; k++)
            for (int o = 0; o < LANES; o++)
                d->dw[(((o0 + o) * d->c + c0 + c) * d->kh + kh) * d->kw + k] = acc[c][k][o];
}

static void weight_lanes(void *ctx, int64_t begin, int64_t end)
{
    const MsDirect *d = ctx;
    int64_t blocks = (d->c + 2) / 3;
    for (int64_t r = begin; r < end; r++) {
        int64_t c0 = r % blocks * 3, kh = r / blocks % d->kh, o0 = r / blocks / d->kh * LANES;
        switch (d->c - c0) {
        case 1: KW(weight_pixels, 1, o0, c0, kh) break;
        case 2: KW(weight_pixels, 2, o0, c0, kh) break;
        default: KW(weight_pixels, 3, o0, c0, kh)
        }
    }
}

const MsDirectFns PASTE(ms__direct_, MS_ISA) = {pad, forward, weight, spread, forward_lanes, weight_lanes};
