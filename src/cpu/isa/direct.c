/* direct.c - direct convolution, compiled per instruction set. The vector runs along the width, so few channels
 * waste nothing: forward keeps the sums of up to 8 output channels by a vector of columns of a few rows in registers and
 * walks input channels and kernel; the weight gradient keeps 4 channels by up to 7 kernel columns and walks
 * images and rows. Where rows are short and there are 16 output channels, the vector runs over these. The input
 * gradient is forward over flipped weights. Every sum is made in an order that the shapes give. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/direct.h"

#include "cpu/isa/width.h"

#include <stdatomic.h>
#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define LANES (WIDTH / 4)
_Static_assert(MS_DIRECT_LANES % LANES == 0, "rows are padded to whole vectors");
#define BLOCK MS_DIRECT_BLOCK
#ifdef __AVX512F__
#define ROWS 2 /* rows of a tile: a weight is read for all of them */
#else
#define ROWS 1
#endif
#define DEPTH_ROWS 4 /* the same where a channel has a kernel of its own */

#define INLINE static inline __attribute__((always_inline))

typedef float V __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float V8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t U __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t U8 __attribute__((vector_size(32), aligned(4), may_alias));

/* ---- copies ---- */

/* An exponent of all ones, as the bits of a comparison. */
#define ODD(bits) (((bits)&0x7f800000u) == 0x7f800000u)

typedef struct Odd {
    U many;
    U8 few;
    uint32_t one;
} Odd;

/* One row; `odd` collects values that are not finite. */
INLINE void copy_row(float *to, const float *from, int64_t n, int64_t step, Odd *odd)
{
    if (step == 1 && n >= LANES) {
        for (int64_t j = 0; j < n; j += LANES) {
            int64_t k = j + LANES <= n ? j : n - LANES;
            V v = *(const V *)(from + k);
            *(V *)(to + k) = v;
            if (odd) odd->many |= (U)ODD((U)v);
        }
    } else if (step == 1 && n >= 8) {
        for (int64_t j = 0; j < n; j += 8) {
            int64_t k = j + 8 <= n ? j : n - 8;
            V8 v = *(const V8 *)(from + k);
            *(V8 *)(to + k) = v;
            if (odd) odd->few |= (U8)ODD((U8)v);
        }
    } else {
        for (int64_t j = 0; j < n; j++) {
            uint32_t bits;
            to[j] = from[j * step];
            memcpy(&bits, &to[j], sizeof bits);
            if (odd) odd->one |= ODD(bits);
        }
    }
}

/* m planes of image n from channel c on into planes whose first pixel is at `to`. */
INLINE void copy_planes(const MsDirectSource *s, int64_t n, int64_t c, int64_t m, float *to, int64_t plane,
                        int64_t pitch, Odd *odd)
{
    for (int64_t k = 0; k < m; k++, to += plane)
        for (int64_t i = 0; i < s->rows; i++)
            copy_row(to + i * pitch, s->at + n * s->strides[0] + (c + k) * s->strides[1] + i * s->strides[2],
                     s->columns, s->strides[3], odd);
}

#ifdef __AVX512F__
/* 16 x 16 numbers: blocks of 1, 2, 4 and 8 across the diagonal change places. */
#define SWAP(s)                                                                                              \
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++) if (!(i & (s)))                                 \
    {                                                                                                        \
        V a = v[i], b = v[i + (s)];                                                                          \
        v[i] = __builtin_shuffle(a, b, lane + (lane & (s)) * (LANES / (s)-1));                               \
        v[i + (s)] = __builtin_shuffle(a, b, lane + (s) + (lane & (s)) * (LANES / (s)-1));                   \
    }
INLINE void transpose(V *v)
{
    const U lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    SWAP(1)
    SWAP(2)
    SWAP(4)
    SWAP(8)
}

/* `count` pixels of LANES planes, `step` apart in `from` and m in `to`. */
INLINE void spread(const float *from, int64_t plane, int64_t step, int64_t count, float *to, int64_t m,
                   Odd *odd)
{
    V v[LANES];
    for (int l = 0; l < LANES; l++, from += plane) {
        v[l] = (V){0};
        if (count == LANES && step == 1)
            v[l] = *(const V *)from;
        else
            for (int64_t q = 0; q < count; q++) v[l][q] = from[q * step];
        odd->many |= (U)ODD((U)v[l]);
    }
    transpose(v);
    for (int64_t q = 0; q < count; q++) *(V *)(to + q * m) = v[q];
}

/* m planes, a multiple of LANES, of image n from channel c on into pixels of all of them. */
INLINE void spread_planes(const MsDirectSource *s, int64_t n, int64_t c, int64_t m, float *to, Odd *odd)
{
    bool whole = s->strides[2] == s->columns * s->strides[3];
    int64_t rows = whole ? 1 : s->rows, columns = whole ? s->rows * s->columns : s->columns,
            step = s->strides[3];
    for (int64_t k = 0; k < m; k += LANES)
        for (int64_t i = 0; i < rows; i++) {
            const float *from = s->at + n * s->strides[0] + (c + k) * s->strides[1] + i * s->strides[2];
            float *row = to + i * columns * m + k;
            for (int64_t j = 0; j < columns; j += LANES) {
                int64_t at = j + LANES <= columns || columns < LANES ? j : columns - LANES;
                if (columns < LANES)
                    spread(from, s->strides[1], step, columns, row, m, odd);
                else if (step == 1)
                    spread(from + at, s->strides[1], 1, LANES, row + at * m, m, odd);
                else
                    spread(from + at * step, s->strides[1], step, LANES, row + at * m, m, odd);
            }
        }
}

#endif

static bool is_odd(const Odd *odd)
{
    uint32_t any = odd->one;
    for (int l = 0; l < LANES; l++) any |= odd->many[l];
    for (int l = 0; l < 8; l++) any |= odd->few[l];
    return any;
}

/* A part of the scratch, zero; what lies around the images stays so. */
static float *take_slot(MsDirect *d)
{
    float *scratch = d->scratch + atomic_fetch_add(&d->n_slot, 1) * d->slot;
    memset(scratch, 0, (size_t)d->slot * sizeof *scratch);
    return scratch;
}

/* Every second value of n to `even`, those between to `odd_ones`. */
INLINE void split_row(float *even, float *odd_ones, const float *from, int64_t n, int64_t step, Odd *odd)
{
    U first;
    for (int l = 0; l < LANES; l++) first[l] = (uint32_t)(2 * l);
    const U8 first8 = {0, 2, 4, 6, 8, 10, 12, 14};
    int64_t j = 0;
    for (; step == 1 && j + 2 * LANES <= n; j += 2 * LANES) {
        V v = *(const V *)(from + j), z = *(const V *)(from + j + LANES);
        *(V *)(even + j / 2) = __builtin_shuffle(v, z, first);
        *(V *)(odd_ones + j / 2) = __builtin_shuffle(v, z, first + 1);
        if (odd) odd->many |= (U)ODD((U)v) | (U)ODD((U)z);
    }
    for (; step == 1 && j + 16 <= n; j += 16) {
        V8 v = *(const V8 *)(from + j), z = *(const V8 *)(from + j + 8);
        *(V8 *)(even + j / 2) = __builtin_shuffle(v, z, first8);
        *(V8 *)(odd_ones + j / 2) = __builtin_shuffle(v, z, first8 + 1);
        if (odd) odd->few |= (U8)ODD((U8)v) | (U8)ODD((U8)z);
    }
    if (j < n) copy_row(even + j / 2, from + j * step, (n - j + 1) / 2, 2 * step, odd);
    if (j + 1 < n) copy_row(odd_ones + j / 2, from + (j + 1) * step, (n - j) / 2, 2 * step, odd);
}

INLINE void copy_x(const MsDirect *d, int64_t n, int64_t g, float *to, Odd *odd)
{
    const MsDirectSource *s = &d->x;
    if (d->right == 1) {
        copy_planes(s, n, g * d->c, d->c, to + d->top * d->pitch + d->left, d->h * d->pitch, d->pitch, odd);
        return;
    }
    for (int64_t r = 0; r < d->c * s->rows; r++) {
        int64_t c = r / s->rows, i = r % s->rows;
        const float *from = s->at + n * s->strides[0] + (g * d->c + c) * s->strides[1] + i * s->strides[2];
        float *row = to + (c * d->h + d->top + i) * d->row, *piece[2];
        for (int f = 0; f < 2; f++) piece[f] = row + (d->left + f) % 2 * d->pitch + (d->left + f) / 2;
        split_row(piece[0], piece[1], from, s->columns, s->strides[3], odd);
    }
}

/* ---- forward ---- */

INLINE void store(float *y, V v, int64_t m)
{
    float part[LANES];
    if (m == LANES) {
        *(V *)y = v;
        return;
    }
    memcpy(part, &v, sizeof part);
    if (LANES > 8 && m >= 8) {
        memcpy(y, part, 8 * sizeof *y);
        memcpy(y + m - 8, part + m - 8, 8 * sizeof *y);
    } else
        for (int64_t j = 0; j < m; j++) y[j] = part[j];
}

/* Kernel rows that meet the image somewhere in rows [oh, oh + rows). */
INLINE void kernel_rows(const MsDirect *d, int64_t oh, int64_t rows, int64_t *first, int64_t *end)
{
    int64_t lo = d->top - (oh + rows - 1) * d->down, hi = d->top + d->x.rows - oh * d->down;
    *first = lo < 0 ? 0 : lo < d->kh ? lo : d->kh;
    *end = hi > d->kh ? d->kh : hi > *first ? hi : *first;
}

/* `rows` rows from oh on of LANES columns of `block` channels; x is the padded pixel of the first kernel position. */
INLINE void tile(const MsDirect *d, int block, int rows, int64_t oh, const float *x, const float *w,
                 const float *bias, float *y, int64_t m)
{
    V acc[BLOCK][ROWS];
    int64_t first, end;
    kernel_rows(d, oh, rows, &first, &end);
    for (int o = 0; o < block; o++)
        for (int r = 0; r < rows; r++) acc[o][r] = (V){0} + (bias ? bias[o] : 0);
    for (int64_t c = 0; c < d->c; c++)
        for (int64_t kh = first; kh < end; kh++) {
            const float *row = x + (c * d->h + oh * d->down + kh) * d->row,
                        *f = w + (c * d->kh + kh) * d->kw * BLOCK;
            for (int64_t kw = 0; kw < d->kw; kw++, f += BLOCK) {
                V v[ROWS];
                for (int r = 0; r < rows; r++) v[r] = *(const V *)(row + r * d->down * d->row + d->tap[kw]);
#pragma GCC unroll 8
                for (int o = 0; o < block; o++)
                    for (int r = 0; r < rows; r++) acc[o][r] += f[o] * v[r];
            }
        }
    for (int o = 0; o < block; o++)
        for (int r = 0; r < rows; r++) store(y + (o * d->oh + oh + r) * d->ow, acc[o][r], m);
}

/* The same for one channel with a kernel of its own: a row of x is read once for all rows of y. The sums run in
 * the order of `tile`. */
INLINE void depth_tile(const MsDirect *d, int rows, int down, int n_kh, int n_kw, const float *x,
                       const float *w, float bias, float *y, int64_t m)
{
    V acc[DEPTH_ROWS];
    for (int r = 0; r < rows; r++) acc[r] = (V){0} + bias;
#pragma GCC unroll 12
    for (int i = 0; i < (rows - 1) * down + n_kh; i++)
#pragma GCC unroll 5
        for (int k = 0; k < n_kw; k++) {
            V v = *(const V *)(x + i * d->row + (down == 1 ? k : d->tap[k]));
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                if (i >= r * down && i - r * down < n_kh)
                    acc[r] += w[((i - r * down) * n_kw + k) * BLOCK] * v;
        }
    for (int r = 0; r < rows; r++) store(y + r * d->ow, acc[r], m);
}

/* Calls body for the first column of every vector and how many of it count; the last one overlaps where it can. */
#define FOR_COLUMNS(d, body)                                                                                 \
    for (int64_t at_ = 0; at_ < (d)->ow; at_ += LANES) {                                                     \
        int64_t ow = at_ + LANES <= (d)->ow || (d)->ow < LANES ? at_ : (d)->ow - LANES;                      \
        int64_t m = (d)->ow < LANES ? (d)->ow : LANES;                                                       \
        body;                                                                                                \
    }

INLINE void block_of(const MsDirect *d, int block, const float *x, const float *w, const float *bias,
                     float *y)
{
    int64_t oh = 0;
    for (; oh + ROWS <= d->oh; oh += ROWS)
        FOR_COLUMNS(d, tile(d, block, ROWS, oh, x + ow, w, bias, y + ow, m))
    for (; oh < d->oh; oh++) FOR_COLUMNS(d, tile(d, block, 1, oh, x + ow, w, bias, y + ow, m))
}

INLINE void depth_of(const MsDirect *d, int kernel, int down, const float *x, const float *w,
                     const float *bias, float *y)
{
    int64_t oh = 0;
    float b = bias ? *bias : 0;
    for (; oh + DEPTH_ROWS <= d->oh; oh += DEPTH_ROWS)
        FOR_COLUMNS(d, depth_tile(d, DEPTH_ROWS, down, kernel, kernel, x + oh * down * d->row + ow, w, b,
                                  y + oh * d->ow + ow, m))
    for (; oh < d->oh; oh++)
        FOR_COLUMNS(d, depth_tile(d, 1, down, kernel, kernel, x + oh * down * d->row + ow, w, b,
                                  y + oh * d->ow + ow, m))
}

static void forward_block(const MsDirect *d, int64_t block, const float *x, const float *w, const float *bias,
                          float *y)
{
    if (d->o == 1 && d->c == 1 && d->kh == d->kw && (d->kh == 3 || d->kh == 5) && d->down == d->right) {
        if (d->kh == 3)
            d->down == 1 ? depth_of(d, 3, 1, x, w, bias, y) : depth_of(d, 3, 2, x, w, bias, y);
        else
            d->down == 1 ? depth_of(d, 5, 1, x, w, bias, y) : depth_of(d, 5, 2, x, w, bias, y);
        return;
    }
    switch (block) {
    case 1: block_of(d, 1, x, w, bias, y); break;
    case 2: block_of(d, 2, x, w, bias, y); break;
    case 3: block_of(d, 3, x, w, bias, y); break;
    case 4: block_of(d, 4, x, w, bias, y); break;
    case 5: block_of(d, 5, x, w, bias, y); break;
    case 6: block_of(d, 6, x, w, bias, y); break;
    case 7: block_of(d, 7, x, w, bias, y); break;
    default: block_of(d, BLOCK, x, w, bias, y);
    }
}

static void forward(void *ctx, int64_t begin, int64_t end)
{
    MsDirect *d = ctx;
    int64_t blocks = (d->o + BLOCK - 1) / BLOCK, copied = -1;
    float *x = take_slot(d);
    for (int64_t r = begin; r < end; r++) {
        int64_t unit = r / blocks, g = unit % d->groups, o = r % blocks * BLOCK, first = g * d->o + o;
        if (unit != copied) copy_x(d, unit / d->groups, g, x, NULL);
        copied = unit;
        forward_block(d, d->o - o, x, d->w + (g * blocks * BLOCK + o) * d->c * d->kh * d->kw,
                      d->bias ? d->bias + first : NULL, d->y + (unit * d->o + o) * d->oh * d->ow);
    }
}

#ifdef __AVX512F__
/* `n_columns` pixels of a row, vectors over output channels. */
INLINE void pixels(const MsDirect *d, int n_columns, const float *x, const float *w, const float *bias,
                   float *y)
{
    V acc[LANES] = {{0}}, start = {0};
    if (bias) start = *(const V *)bias;
    for (int j = 0; j < n_columns; j++) acc[j] = start;
    for (int64_t c = 0; c < d->c; c++)
        for (int64_t kh = 0; kh < d->kh; kh++) {
            const float *row = x + (c * d->h + kh) * d->pitch;
            for (int64_t kw = 0; kw < d->kw; kw++, w += LANES) {
                V v = *(const V *)w;
#pragma GCC unroll 14
                for (int j = 0; j < n_columns; j++) acc[j] += row[kw + j] * v;
            }
        }
    transpose(acc);
    for (int o = 0; o < LANES; o++) store(y + o * d->oh * d->ow, acc[o], n_columns);
}

/* Blocks of 7, 10 or 14 columns, whichever leaves least; the last one overlaps. */
static void forward_lanes(void *ctx, int64_t begin, int64_t end)
{
    MsDirect *d = ctx;
    int64_t blocks = d->o / LANES, m = d->ow < 10 ? 7 : d->ow < 14 || (d->ow > 14 && d->ow <= 20) ? 10 : 14;
    int64_t copied = -1;
    float *x = take_slot(d);
    for (int64_t r = begin; r < end; r++) {
        int64_t unit = r / blocks, g = unit % d->groups, o = g * d->o + r % blocks * LANES;
        const float *w = d->w + o * d->c * d->kh * d->kw, *bias = d->bias ? d->bias + o : NULL;
        if (unit != copied) copy_x(d, unit / d->groups, g, x, NULL);
        copied = unit;
        for (int64_t oh = 0; oh < d->oh; oh++)
            for (int64_t at = 0; at < d->ow; at += m) {
                int64_t ow = at + m <= d->ow ? at : d->ow - m;
                const float *from = x + oh * d->pitch + ow;
                float *y = d->y + ((unit * d->o + r % blocks * LANES) * d->oh + oh) * d->ow + ow;
                if (m == 7)
                    pixels(d, 7, from, w, bias, y);
                else if (m == 10)
                    pixels(d, 10, from, w, bias, y);
                else
                    pixels(d, 14, from, w, bias, y);
            }
    }
}

#endif

/* ---- weight gradient ---- */

/* The copies of a few images, and the sums: [o][c][kh][kw] of vectors, or by lanes [o / LANES][c][kh][kw]. */
typedef struct Images {
    float *x, *dy;
    V *sum;
    int64_t n, x_size, dy_size;
} Images;

static Images images_of(const MsDirect *d, float *scratch)
{
    Images im = {.x_size = d->c * d->h * d->row, .dy_size = d->o * d->oh * d->ypitch};
    im.x = scratch;
    im.dy = im.x + d->images * im.x_size;
    im.sum = (V *)(im.dy + d->images * im.dy_size);
    return im;
}

INLINE void weight_rows(const MsDirect *d, const Images *im, int n_o, int n_kw, int64_t o0, int64_t c,
                        int64_t kh)
{
    V acc[4][7], *sum = im->sum + ((o0 * d->c + c) * d->kh + kh) * d->kw;
    for (int o = 0; o < n_o; o++)
        for (int k = 0; k < n_kw; k++) acc[o][k] = sum[o * d->c * d->kh * d->kw + k];
    for (int64_t n = 0; n < im->n; n++)
        for (int64_t oh = 0; oh < d->oh; oh++) {
            const float *x = im->x + n * im->x_size + (c * d->h + oh * d->down + kh) * d->row;
            const float *dy = im->dy + n * im->dy_size + (o0 * d->oh + oh) * d->ypitch;
            for (int64_t ow = 0; ow < d->ow; ow += LANES) {
                V g[4];
                for (int o = 0; o < n_o; o++) g[o] = *(const V *)(dy + o * d->oh * d->ypitch + ow);
#pragma GCC unroll 7
                for (int k = 0; k < n_kw; k++) {
                    V v = *(const V *)(x + ow + d->tap[k]);
#pragma GCC unroll 4
                    for (int o = 0; o < n_o; o++) acc[o][k] += g[o] * v;
                }
            }
        }
    for (int o = 0; o < n_o; o++)
        for (int k = 0; k < n_kw; k++) sum[o * d->c * d->kh * d->kw + k] = acc[o][k];
}

/* fn for this width of the kernel, a constant in each. */
#define KW(fn, n, ...)                                                                                       \
    switch (d->kw) {                                                                                         \
    case 1: fn(d, im, n, 1, __VA_ARGS__); break;                                                             \
    case 2: fn(d, im, n, 2, __VA_ARGS__); break;                                                             \
    case 3: fn(d, im, n, 3, __VA_ARGS__); break;                                                             \
    case 4: fn(d, im, n, 4, __VA_ARGS__); break;                                                             \
    case 5: fn(d, im, n, 5, __VA_ARGS__); break;                                                             \
    case 6: fn(d, im, n, 6, __VA_ARGS__); break;                                                             \
    default: fn(d, im, n, 7, __VA_ARGS__);                                                                   \
    }

static void weight_images(const MsDirect *d, const Images *im)
{
    for (int64_t o0 = 0; o0 < d->o; o0 += 4)
        for (int64_t r = 0; r < d->c * d->kh; r++) {
            int64_t c = r / d->kh, kh = r % d->kh;
            switch (d->o - o0) {
            case 1: KW(weight_rows, 1, o0, c, kh) break;
            case 2: KW(weight_rows, 2, o0, c, kh) break;
            case 3: KW(weight_rows, 3, o0, c, kh) break;
            default: KW(weight_rows, 4, o0, c, kh)
            }
        }
}

#ifdef __AVX512F__
INLINE void weight_pixels(const MsDirect *d, const Images *im, int n_c, int n_kw, int64_t o0, int64_t c0,
                          int64_t kh)
{
    V acc[3][7], *sum = im->sum + ((o0 / LANES * d->c + c0) * d->kh + kh) * d->kw;
    for (int c = 0; c < n_c; c++)
        for (int k = 0; k < n_kw; k++) acc[c][k] = sum[c * d->kh * d->kw + k];
    for (int64_t n = 0; n < im->n; n++)
        for (int64_t oh = 0; oh < d->oh; oh++) {
            const float *x = im->x + n * im->x_size + (c0 * d->h + oh + kh) * d->pitch;
            const float *dy = im->dy + n * im->dy_size + oh * d->ow * d->o + o0;
            for (int64_t ow = 0; ow < d->ow; ow++, dy += d->o, x++) {
                V g = *(const V *)dy;
#pragma GCC unroll 3
                for (int c = 0; c < n_c; c++)
#pragma GCC unroll 7
                    for (int k = 0; k < n_kw; k++) acc[c][k] += x[c * d->h * d->pitch + k] * g;
            }
        }
    for (int c = 0; c < n_c; c++)
        for (int k = 0; k < n_kw; k++) sum[c * d->kh * d->kw + k] = acc[c][k];
}

static void weight_images_lanes(const MsDirect *d, const Images *im)
{
    for (int64_t o0 = 0; o0 < d->o; o0 += LANES)
        for (int64_t c0 = 0; c0 < d->c; c0 += 3)
            for (int64_t kh = 0; kh < d->kh; kh++) switch (d->c - c0) {
                case 1: KW(weight_pixels, 1, o0, c0, kh) break;
                case 2: KW(weight_pixels, 2, o0, c0, kh) break;
                default: KW(weight_pixels, 3, o0, c0, kh)
                }
}

#endif

/* Sums into row-major weights of a group. */
static void put_sums(const MsDirect *d, const V *sum, float *dw, bool lanes)
{
    int64_t size = d->c * d->kh * d->kw;
    for (int64_t o = 0; o < d->o; o++)
        for (int64_t k = 0; k < size; k++) {
            float total = 0;
            if (lanes)
                total = sum[o / LANES * size + k][o % LANES];
            else
                for (int l = 0; l < LANES; l++) total += sum[o * size + k][l];
            dw[o * size + k] = total;
        }
}

INLINE void weights(MsDirect *d, int64_t begin, int64_t end, bool lanes)
{
    float *scratch = take_slot(d);
    Images im = images_of(d, scratch);
    Odd odd = {0};
    int64_t size = d->o * d->c * d->kh * d->kw;
    for (int64_t r = begin; r < end; r++) {
        int64_t part = r / d->groups, g = r % d->groups;
        memset(im.sum, 0, (size_t)(lanes ? size / LANES : size) * sizeof *im.sum);
        for (int64_t n = d->n * part / d->parts, last = d->n * (part + 1) / d->parts; n < last; n += im.n) {
            im.n = last - n < d->images ? last - n : d->images;
            for (int64_t k = 0; k < im.n; k++) {
                float *dy = im.dy + k * im.dy_size;
                copy_x(d, n + k, g, im.x + k * im.x_size, &odd);
#ifdef __AVX512F__
                if (lanes) {
                    spread_planes(&d->dy, n + k, g * d->o, d->o, dy, &odd);
                    continue;
                }
#endif
                copy_planes(&d->dy, n + k, g * d->o, d->o, dy, d->oh * d->ypitch, d->ypitch, &odd);
            }
#ifdef __AVX512F__
            if (lanes) {
                weight_images_lanes(d, &im);
                continue;
            }
#endif
            weight_images(d, &im);
        }
        put_sums(d, im.sum, d->dw + r * size, lanes);
    }
    if (is_odd(&odd)) atomic_store(&d->odd, true);
}

static void weight(void *ctx, int64_t begin, int64_t end)
{
    weights(ctx, begin, end, false);
}
#ifdef __AVX512F__
static void weight_lanes(void *ctx, int64_t begin, int64_t end)
{
    weights(ctx, begin, end, true);
}
const MsDirectFns PASTE(ms__direct_, MS_ISA) = {forward, weight, forward_lanes, weight_lanes};
#else
const MsDirectFns PASTE(ms__direct_, MS_ISA) = {forward, weight, NULL, NULL};
#endif
