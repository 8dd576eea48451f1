/* pointwise.c - see cpu/pointwise.h. Tiles of 6 pixels by up to 64 channels, or of some pixels of a line
 * by one vector of channels, stay in registers until they are finished. Every sum runs over the input
 * channels or the kernel in order; the first layer reads its few channels in any layout. Kernel positions
 * in the padding are left out, so that no zero meets an infinite weight. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/pointwise.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#if defined(__AVX512F__) || defined(__AVX2__)

#include "cpu/isa/product.h"

typedef float V8 __attribute__((vector_size(32), aligned(4), may_alias));

/* ---- 1x1 ---- */

/* Finishes rows of outputs, which lie `row` apart in y from `at` on; of the last vector's channels the
 * first 8 exist where `half`. */
INLINE void put(const MsFinish *finish, float *y, int64_t row, int kind, int rows, int vectors,
                V acc[ROWS][WIDE], int64_t o, int64_t at, bool half)
{
    const MsFinish f = *finish;
    const float *skip = kind == NORM_SKIP ? f.skip + at : NULL;
    y += at;
    for (int j = 0; j < vectors; j++) {
        Ends e = ends_of(&f, kind, o + j * LANES);
        for (int i = 0; i < rows; i++) {
            int64_t to = i * row + j * LANES;
            if (half && j == vectors - 1) {
                V z = {0};
                if (kind == NORM_SKIP) *(V8 *)&z = *(const V8 *)(skip + to);
                z = finished(kind, &e, acc[i][j], (const float *)&z);
                *(V8 *)(y + to) = *(V8 *)&z;
            } else {
                *(V *)(y + to) = finished(kind, &e, acc[i][j], skip + to);
            }
        }
    }
}

INLINE void put_kind(const MsFinish *f, float *y, int64_t row, int rows, int vectors, V acc[ROWS][WIDE],
                     int64_t o, int64_t at, bool half)
{
    int kind = kind_of(f);
    if (half)
        put(f, y, row, kind, rows, vectors, acc, o, at, true);
    else if (kind == PLAIN)
        put(f, y, row, PLAIN, rows, vectors, acc, o, at, false);
    else if (kind == NORM)
        put(f, y, row, NORM, rows, vectors, acc, o, at, false);
    else
        put(f, y, row, NORM_SKIP, rows, vectors, acc, o, at, false);
}

INLINE void clear(int rows, int vectors, V acc[ROWS][WIDE])
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) acc[i][j] = (V){0};
}

INLINE void tile(const MsPoint *p, int rows, int vectors, int64_t r, const float *w, int64_t width, int64_t o)
{
    V acc[ROWS][WIDE];
    clear(rows, vectors, acc);
    multiply(rows, vectors, p->c, p->x + r * p->c, p->c, 1, w, width, acc);
    put_kind(&p->finish, p->y, p->o, rows, vectors, acc, o, r * p->o + o, o + vectors * LANES > p->o);
}

#define PIXELS(vectors)                                                                                      \
    static void pixels_##vectors(const MsPoint *p, int64_t r, int64_t end, const float *w, int64_t width,    \
                                 int64_t o)                                                                  \
    {                                                                                                        \
        for (; r + ROWS <= end; r += ROWS) tile(p, ROWS, vectors, r, w, width, o);                           \
        switch (end - r) {                                                                                   \
        case 1: tile(p, 1, vectors, r, w, width, o); break;                                                  \
        case 2: tile(p, 2, vectors, r, w, width, o); break;                                                  \
        case 3: tile(p, 3, vectors, r, w, width, o); break;                                                  \
        case 4: tile(p, 4, vectors, r, w, width, o); break;                                                  \
        case 5: tile(p, 5, vectors, r, w, width, o); break;                                                  \
        default: break;                                                                                      \
        }                                                                                                    \
    }
PIXELS(1)
PIXELS(2)
#if WIDE == 4
PIXELS(3)
PIXELS(4)
#endif

/* First pixel of a chunk: whole tiles, except for the last chunk. */
static int64_t pixel_of(const MsPoint *p, int64_t chunk)
{
    return chunk == p->chunks ? p->pixels : p->pixels * chunk / p->chunks / ROWS * ROWS;
}

static void point(void *ctx, int64_t begin, int64_t end)
{
    static void (*const pixels[])(const MsPoint *, int64_t, int64_t, const float *, int64_t, int64_t) = {
        pixels_1,
        pixels_2,
#if WIDE == 4
        pixels_3,
        pixels_4
#endif
    };
    const MsPoint *p = ctx;
    for (int64_t u = begin; u < end; u++) {
        int64_t panel = p->by_panel ? u / p->chunks : u % p->panels;
        int64_t chunk = p->by_panel ? u % p->chunks : u / p->panels;
        int64_t o = ms__point_unit(p, panel) * MS_POINT_UNIT;
        int64_t width = ms__point_unit(p, panel + 1) * MS_POINT_UNIT - o, left = p->o - o;
        for (int64_t j = 0; j < width && j < left; j += WIDE * LANES) {
            int64_t vectors = ((width < left ? width : left) - j + LANES - 1) / LANES;
            pixels[(vectors < WIDE ? vectors : WIDE) - 1](p, pixel_of(p, chunk), pixel_of(p, chunk + 1),
                                                          p->w + o * p->c + j, width, o + j);
        }
    }
}

/* ---- 3x3, a kernel for each channel ---- */

/* A line of outputs, and the kernel rows [first, end) that meet the image. */
typedef struct Line {
    const float *x; /* where kernel position (0, 0) of output 0 lies, possibly outside */
    int64_t y, first, end;
} Line;

/* Outputs [ow, ow + count) of all channels under kernel columns [k0, k1). */
INLINE void cells(const MsDepth *depth_job, const Line *line, int kind, int count, int stride, int k0, int k1,
                  int64_t ow)
{
    const MsDepth here = *depth_job, *p = &here;
    const float *from = line->x + ow * stride * p->c;
    int64_t to = line->y + ow * p->c, row = p->w * p->c;
    for (int64_t c = 0; c < p->c; c += LANES) {
        V acc[8];
        for (int j = 0; j < count; j++) acc[j] = (V){0};
        for (int64_t i = line->first; i < line->end; i++) {
            const float *x = from + i * row + c, *w = p->k + 3 * i * p->c + c;
            V in[17], k[3];
            for (int j = k0; j < (count - 1) * stride + k1; j++) in[j] = *(const V *)(x + j * p->c);
            for (int j = k0; j < k1; j++) k[j] = *(const V *)(w + j * p->c);
            for (int q = k0; q < k1; q++)
                for (int j = 0; j < count; j++) acc[j] += in[j * stride + q] * k[q];
        }
        Ends e = ends_of(&p->finish, kind, c);
        for (int j = 0; j < count; j++) {
            int64_t at = to + j * p->c + c;
            *(V *)(p->y + at) = finished(kind, &e, acc[j], kind == NORM_SKIP ? p->finish.skip + at : NULL);
        }
    }
}

INLINE void line_of(const MsDepth *p, const Line *line, int kind, int stride)
{
    bool left = p->low[1] > 0, right = (p->ow - 1) * stride - p->low[1] + 3 > p->w;
    int64_t ow = left, end = p->ow - right;
    if (left && right && p->ow == 1) {
        cells(p, line, kind, 1, stride, 1, 2, 0);
        return;
    }
    if (left) cells(p, line, kind, 1, stride, 1, 3, 0);
    for (; ow + 7 <= end; ow += 7) cells(p, line, kind, 7, stride, 0, 3, ow);
    switch (end - ow) {
    case 6:
    case 5: cells(p, line, kind, 5, stride, 0, 3, ow), ow += 5; break;
    case 4: cells(p, line, kind, 4, stride, 0, 3, ow), ow += 4; break;
    case 3:
    case 2: cells(p, line, kind, 2, stride, 0, 3, ow), ow += 2; break;
    default: break;
    }
    for (; ow < end; ow++) cells(p, line, kind, 1, stride, 0, 3, ow);
    if (right) cells(p, line, kind, 1, stride, 0, 2, end);
}

INLINE void lines(const MsDepth *p, int kind, int stride, int64_t begin, int64_t end)
{
    for (int64_t u = begin; u < end; u++) {
        int64_t n = u / p->oh, top = u % p->oh * stride - p->low[0];
        Line line = {p->x + ((n * p->h + top) * p->w - p->low[1]) * p->c, u * p->ow * p->c,
                     top < 0 ? -top : 0, p->h - top < 3 ? p->h - top : 3};
        line_of(p, &line, kind, stride);
    }
}

static void depth(void *ctx, int64_t begin, int64_t end)
{
    const MsDepth *p = ctx;
    switch (3 * (p->stride - 1) + kind_of(&p->finish)) {
    case PLAIN: lines(p, PLAIN, 1, begin, end); break;
    case NORM: lines(p, NORM, 1, begin, end); break;
    case NORM_SKIP: lines(p, NORM_SKIP, 1, begin, end); break;
    case 3 + PLAIN: lines(p, PLAIN, 2, begin, end); break;
    case 3 + NORM: lines(p, NORM, 2, begin, end); break;
    default: lines(p, NORM_SKIP, 2, begin, end);
    }
}

/* ---- few input channels, stride 2 ---- */

/* Outputs [ow, ow + count) of line oh of an image at x, channels from o on, under kernel columns [k0, k1). */
INLINE void window(const MsFirst *p, const float *x, int64_t line, int count, int vectors, int64_t ow,
                   int64_t o, int64_t k0, int64_t k1)
{
    V acc[ROWS][WIDE];
    int64_t top = line % p->oh * 2 - p->low[0], left = ow * 2 - p->low[1] + k0;
    int64_t first = top < 0 ? -top : 0, end = p->h - top < p->kh ? p->h - top : p->kh;
    clear(count, vectors, acc);
    for (int64_t i = first; i < end; i++)
        for (int64_t c = 0; c < p->c; c++)
            multiply(count, vectors, k1 - k0,
                     x + c * p->steps[1] + (top + i) * p->steps[2] + left * p->steps[3], 2 * p->steps[3],
                     p->steps[3], p->k + ((i * p->c + c) * p->kw + k0) * p->o + o, p->o, acc);
    put_kind(&p->finish, p->y, p->o, count, vectors, acc, o, (line * p->ow + ow) * p->o + o, false);
}

INLINE void windows(const MsFirst *p, int64_t line, int vectors, int64_t o)
{
    const float *x = p->x + line / p->oh * p->steps[0];
    int64_t ow = 0, inside = (p->w - p->kw + p->low[1]) / 2 + 1, end = inside < p->ow ? inside : p->ow;
    for (; ow * 2 < p->low[1] && ow < p->ow; ow++) {
        int64_t left = ow * 2 - p->low[1], last = p->w - left < p->kw ? p->w - left : p->kw;
        window(p, x, line, 1, vectors, ow, o, -left, last);
    }
    for (; ow + ROWS <= end; ow += ROWS) window(p, x, line, ROWS, vectors, ow, o, 0, p->kw);
    for (; ow < p->ow; ow++) {
        int64_t left = ow * 2 - p->low[1];
        window(p, x, line, 1, vectors, ow, o, 0, p->w - left < p->kw ? p->w - left : p->kw);
    }
}

static void first(void *ctx, int64_t begin, int64_t end)
{
    const MsFirst *p = ctx;
    for (int64_t u = begin; u < end; u++)
        for (int64_t o = 0, left; (left = (p->o - o) / LANES) > 0; o += WIDE * LANES) {
            if (left == 1) windows(p, u, 1, o);
            if (left == 2 || (WIDE == 2 && left > 2)) windows(p, u, 2, o);
#if WIDE == 4
            if (left == 3) windows(p, u, 3, o);
            if (left > 3) windows(p, u, 4, o);
#endif
        }
}

const MsPointFns PASTE(ms__point_, MS_ISA) = {point, depth, first};
#else
const MsPointFns PASTE(ms__point_, MS_ISA) = {NULL, NULL, NULL};
#endif
