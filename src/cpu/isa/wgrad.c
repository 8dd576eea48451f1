/* wgrad.c - sums of outer products of channels-last rows: up to 6 channels of one side, each broadcast, by 64
 * of the other stay in 24 registers while a block of rows goes by. Both sides are read in place, because a row
 * holds its channels side by side. Refused: the unfolding that a matrix product would need. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/wgrad.h"

#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#ifdef __AVX512F__

#define NARROW 6 /* channels that are broadcast */
#define WIDE 4   /* vectors of the other side */
#define LANES 16

typedef float V __attribute__((vector_size(64), aligned(4), may_alias));

/* The wide side of a block: a tile of it copied together, or where that is too much the rows in place. Rows
 * whose distance is a power of two would share few places of the cache. */
typedef struct Wide {
    const float *at; /* of run k, row 0: at + (packed ? rows before : offset) */
    int64_t step;
    bool packed;
} Wide;

#define PACKED_ROWS 120

static inline __attribute__((always_inline)) void tile(const MsWgrad *p, const MsWgradRun *run, int64_t n_run,
                                                       int64_t narrow, const Wide *wide, float *sum, int rows,
                                                       int vectors)
{
    const float *next = wide->at;
    V acc[NARROW][WIDE];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) acc[i][j] = *(const V *)(sum + i * MS_WGRAD_WIDE + j * LANES);
    for (int64_t k = 0; k < n_run; k++) {
        const float *a = p->narrow + (p->x_is_wide ? run[k].dy : run[k].x) + narrow;
        const float *b = wide->packed ? next : wide->at + (p->x_is_wide ? run[k].x : run[k].dy);
        for (int64_t r = 0; r < run[k].n; r++, a += p->narrow_step, b += wide->step) {
            V v[WIDE];
            for (int j = 0; j < vectors; j++) v[j] = *(const V *)(b + j * LANES);
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < vectors; j++) acc[i][j] += a[i] * v[j];
        }
        next = b;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) *(V *)(sum + i * MS_WGRAD_WIDE + j * LANES) = acc[i][j];
}

#define TILES(vectors)                                                                                       \
    static void tiles_##vectors(const MsWgrad *p, const MsWgradRun *run, int64_t n_run, const Wide *wide,    \
                                float *sum)                                                                  \
    {                                                                                                        \
        int64_t n = 0;                                                                                       \
        for (; n + NARROW <= p->n_narrow; n += NARROW)                                                       \
            tile(p, run, n_run, n, wide, sum + n * MS_WGRAD_WIDE, NARROW, vectors);                          \
        float *last = sum + n * MS_WGRAD_WIDE;                                                               \
        switch (p->n_narrow - n) {                                                                           \
        case 1: tile(p, run, n_run, n, wide, last, 1, vectors); break;                                       \
        case 2: tile(p, run, n_run, n, wide, last, 2, vectors); break;                                       \
        case 3: tile(p, run, n_run, n, wide, last, 3, vectors); break;                                       \
        case 4: tile(p, run, n_run, n, wide, last, 4, vectors); break;                                       \
        case 5: tile(p, run, n_run, n, wide, last, 5, vectors); break;                                       \
        default: break;                                                                                      \
        }                                                                                                    \
    }
TILES(1)
TILES(2)
TILES(3)
TILES(4)

/* Copies the rows of the runs, `vectors` vectors each. */
static Wide pack(const MsWgrad *p, const MsWgradRun *run, int64_t n_run, int64_t wide, int64_t vectors,
                 float *to)
{
    int64_t rows = 0;
    for (int64_t k = 0; k < n_run; k++) rows += run[k].n;
    if (rows > PACKED_ROWS || p->n_wide <= MS_WGRAD_WIDE) return (Wide){p->wide + wide, p->wide_step, false};
    Wide w = {to, vectors * LANES, true};
    for (int64_t k = 0; k < n_run; k++) {
        const float *b = p->wide + (p->x_is_wide ? run[k].x : run[k].dy) + wide;
        for (int64_t r = 0; r < run[k].n; r++, b += p->wide_step, to += vectors * LANES)
            for (int64_t j = 0; j < vectors; j++) *(V *)(to + j * LANES) = *(const V *)(b + j * LANES);
    }
    return w;
}

static void units(void *ctx, int64_t begin, int64_t end)
{
    static void (*const of[])(const MsWgrad *, const MsWgradRun *, int64_t, const Wide *,
                              float *) = {tiles_1, tiles_2, tiles_3, tiles_4};
    const MsWgrad *p = ctx;
    _Alignas(64) float packed[PACKED_ROWS * MS_WGRAD_WIDE];
    int64_t n_tile = (p->n_wide + MS_WGRAD_WIDE - 1) / MS_WGRAD_WIDE,
            size = p->taps * p->n_narrow * MS_WGRAD_WIDE;
    for (int64_t u = begin; u < end; u++) {
        int64_t part = u / n_tile, wide = u % n_tile * MS_WGRAD_WIDE, vectors = (p->n_wide - wide) / LANES;
        float *sum = p->sum + u * size;
        memset(sum, 0, (size_t)size * sizeof *sum);
        if (vectors > WIDE) vectors = WIDE;
        for (int64_t b = part * p->blocks; b < (part + 1) * p->blocks; b++)
            for (int64_t tap = 0; tap < p->taps; tap++) {
                const int64_t *first = &p->first[b * p->taps + tap];
                Wide w = pack(p, p->run + first[0], first[1] - first[0], wide, vectors, packed);
                of[vectors - 1](p, p->run + first[0], first[1] - first[0], &w,
                                sum + tap * p->n_narrow * MS_WGRAD_WIDE);
            }
    }
}

const MsWgradFn PASTE(ms__wgrad_, MS_ISA) = units;
#else
const MsWgradFn PASTE(ms__wgrad_, MS_ISA) = NULL;
#endif
