/* winograd.c - tiles of F(4x4, 3x3), see cpu/winograd.h. Interpolation points 0, +-1/sqrt 2, +-sqrt 2 and infinity: the
 * rounding error is about twice that of the plain sum, a quarter of what the usual 0, +-1, +-2 leave. Channels lie side
 * by side, so that every step works on vectors of them. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/winograd.h"

#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#if defined(__AVX512F__) || defined(__AVX2__)

#include "cpu/isa/product.h"

#define A 0.70710678f /* the points +-A and +-B */
#define B 1.41421356f

/* ---- the maps along one axis; in and out with steps in vectors ---- */

/* What the even and odd parts of a polynomial give at +-A (p, q) and +-B (r, s): rows 1 to 4 of `out`. */
INLINE void put_pairs(V p, V q, V r, V s, V *out, int to)
{
    out[to] = p + q;
    out[2 * to] = p - q;
    out[3 * to] = r + s;
    out[4 * to] = r - s;
}

/* B^T: six inputs. */
INLINE void map_input(const V *d, int step, V *t, int to)
{
    V d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
    V p = d4 - 2 * d2, q = A * d3 - B * d1, r = d4 - 0.5f * d2, s = B * d3 - A * d1;
    t[0] = d0 - 2.5f * d2 + d4;
    put_pairs(p, q, r, s, t, to);
    t[5 * to] = d1 - 2.5f * d3 + d5;
}

/* A^T: four outputs. */
INLINE void map_output(const V *m, int step, V *y, int to)
{
    V p = m[step] + m[2 * step], q = m[step] - m[2 * step];
    V r = m[3 * step] + m[4 * step], s = m[3 * step] - m[4 * step];
    y[0] = m[0] + p + r;
    y[to] = A * q + B * s;
    y[2 * to] = 0.5f * p + 2 * r;
    y[3 * to] = (A / 2) * q + (2 * B) * s + m[5 * step];
}

/* A: the adjoint of map_output. */
INLINE void map_output_grad(const V *y, int step, V *m, int to)
{
    V y0 = y[0], y1 = y[step], y2 = y[2 * step], y3 = y[3 * step];
    V p = y0 + 0.5f * y2, q = A * y1 + (A / 2) * y3, r = y0 + 2 * y2, s = B * y1 + (2 * B) * y3;
    m[0] = y0;
    put_pairs(p, q, r, s, m, to);
    m[5 * to] = y3;
}

/* G: three weights. */
INLINE void map_weight(const V *g, int step, V *u, int to)
{
    V g0 = g[0], g1 = g[step], g2 = g[2 * step];
    V p = (-2.0f / 3) * g0 - (1.0f / 3) * g2, q = (-2 * A / 3) * g1;
    V r = (1.0f / 6) * g0 + (1.0f / 3) * g2, s = (B / 6) * g1;
    u[0] = g0;
    put_pairs(p, q, r, s, u, to);
    u[5 * to] = g2;
}

/* G^T: the adjoint of map_weight. */
INLINE void map_weight_grad(const V *u, int step, V *g, int to)
{
    V p = u[step] + u[2 * step], q = u[step] - u[2 * step];
    V r = u[3 * step] + u[4 * step], s = u[3 * step] - u[4 * step];
    g[0] = u[0] - (2.0f / 3) * p + (1.0f / 6) * r;
    g[to] = (-2 * A / 3) * q + (B / 6) * s;
    g[2 * to] = (1.0f / 3) * (r - p) + u[5 * step];
}

/* ---- tiles ---- */

/* A square of activations: what lies outside of the image is zero. */
typedef struct Patch {
    const float *at;  /* its corner, which may lie outside */
    int64_t row, col; /* steps in elements */
    int lo[2], hi[2]; /* what is inside */
} Patch;

INLINE Patch patch_of(const float *x, int64_t h, int64_t w, int64_t c, int64_t n, int64_t y, int64_t x0,
                      int size)
{
    Patch p = {x + ((n * h + y) * w + x0) * c, w * c, c, {0, 0}, {size, size}};
    if (y < 0) p.lo[0] = (int)-y;
    if (x0 < 0) p.lo[1] = (int)-x0;
    if (h - y < size) p.hi[0] = h > y ? (int)(h - y) : 0;
    if (w - x0 < size) p.hi[1] = w > x0 ? (int)(w - x0) : 0;
    return p;
}

INLINE void load_patch(const Patch *p, int64_t channel, int size, V *d)
{
    const float *at = p->at + channel;
    if (p->lo[0] + p->lo[1] == 0 && p->hi[0] == size && p->hi[1] == size) {
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) d[i * size + j] = *(const V *)(at + i * p->row + j * p->col);
        return;
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            bool inside = i >= p->lo[0] && i < p->hi[0] && j >= p->lo[1] && j < p->hi[1];
            d[i * size + j] = inside ? *(const V *)(at + i * p->row + j * p->col) : (V){0};
        }
}

typedef struct Place {
    int64_t n, y, x; /* image and first output of a tile */
} Place;

INLINE Place place_of(const MsWino *p, int64_t tile)
{
    int64_t in = tile % (p->th * p->tw);
    return (Place){tile / (p->th * p->tw), in / p->tw * 4, in % p->tw * 4};
}

/* Tile `tile` of x into v[point * pitch + channel]. */
static void transform_input(const MsWino *p, int64_t tile, float *v, int64_t pitch)
{
    Place at = place_of(p, tile);
    Patch patch = patch_of(p->x, p->h, p->w, p->c, at.n, at.y - p->low[0], at.x - p->low[1], 6);
    for (int64_t c = 0; c < p->c; c += LANES) {
        V d[36], t[36], out[6];
        load_patch(&patch, c, 6, d);
        for (int j = 0; j < 6; j++) map_input(d + j, 6, t + j, 6);
        for (int i = 0; i < 6; i++) {
            map_input(t + 6 * i, 1, out, 1);
            for (int j = 0; j < 6; j++) *(V *)(v + (6 * i + j) * pitch + c) = out[j];
        }
    }
}

static void transform_output_grad(const MsWino *p, int64_t tile, float *v, int64_t pitch)
{
    Place at = place_of(p, tile);
    Patch patch = patch_of(p->y, p->oh, p->ow, p->o, at.n, at.y, at.x, 4);
    for (int64_t c = 0; c < p->o; c += LANES) {
        V d[16], t[24], out[6];
        load_patch(&patch, c, 4, d);
        for (int j = 0; j < 4; j++) map_output_grad(d + j, 4, t + j, 4);
        for (int i = 0; i < 6; i++) {
            map_output_grad(t + 4 * i, 1, out, 1);
            for (int j = 0; j < 6; j++) *(V *)(v + (6 * i + j) * pitch + c) = out[j];
        }
    }
}

/* The tile's outputs from m[point * pitch + channel]; true if all are finite. */
INLINE bool transform_output_of(const MsWino *p, int kind, int64_t tile, const float *m, int64_t pitch)
{
    const MsFinish f = p->finish;
    Place at = place_of(p, tile);
    int64_t first = ((at.n * p->oh + at.y) * p->ow + at.x) * p->o;
    float *y = p->y + first;
    const float *skip = kind == NORM_SKIP ? f.skip + first : NULL;
    int rows = p->oh - at.y < 4 ? (int)(p->oh - at.y) : 4, cols = p->ow - at.x < 4 ? (int)(p->ow - at.x) : 4;
    V check = {0};
    for (int64_t o = 0; o < p->o; o += LANES) {
        V in[6], t[24], out[4];
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) in[j] = *(const V *)(m + (6 * i + j) * pitch + o);
            map_output(in, 1, t + 4 * i, 1);
        }
        V tile_out[16];
        Ends e = ends_of(&f, kind, o);
        for (int j = 0; j < 4; j++) {
            map_output(t + j, 4, out, 1);
            for (int i = 0; i < 4; i++) tile_out[4 * i + j] = out[i];
        }
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) {
                V v = tile_out[4 * i + j];
                int64_t to = (i * p->ow + j) * p->o + o;
                check += 0 * v;
                *(V *)(y + to) = finished(kind, &e, v, skip + to);
            }
    }
    float sum = 0;
    for (int l = 0; l < LANES; l++) sum += check[l];
    return sum == 0;
}

static bool transform_output(const MsWino *p, int64_t tile, const float *m, int64_t pitch)
{
    switch (kind_of(&p->finish)) {
    case PLAIN: return transform_output_of(p, PLAIN, tile, m, pitch);
    case NORM: return transform_output_of(p, NORM, tile, m, pitch);
    default: return transform_output_of(p, NORM_SKIP, tile, m, pitch);
    }
}

/* ---- products ---- */

/* c[rows][vectors] (+)= a[rows][k] b[k][vectors]; a with steps between rows and along k, b and c with steps between
 * their rows. */
INLINE void product(int rows, int vectors, int64_t k, const float *a, int64_t a_row, int64_t a_k,
                    const float *b, int64_t b_row, float *c, int64_t c_row, bool add)
{
    V acc[ROWS][WIDE];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) acc[i][j] = add ? *(const V *)(c + i * c_row + j * LANES) : (V){0};
    multiply(rows, vectors, k, a, a_row, a_k, b, b_row, acc);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) *(V *)(c + i * c_row + j * LANES) = acc[i][j];
}

typedef void (*Product)(int64_t m, int64_t k, const float *a, int64_t a_row, int64_t a_k, const float *b,
                        int64_t b_row, float *c, int64_t c_row, bool add);

#define PRODUCT(vectors)                                                                                     \
    static void product_##vectors(int64_t m, int64_t k, const float *a, int64_t a_row, int64_t a_k,          \
                                  const float *b, int64_t b_row, float *c, int64_t c_row, bool add)          \
    {                                                                                                        \
        for (; m >= ROWS; m -= ROWS, a += ROWS * a_row, c += ROWS * c_row)                                   \
            product(ROWS, vectors, k, a, a_row, a_k, b, b_row, c, c_row, add);                               \
        switch (m) {                                                                                         \
        case 1: product(1, vectors, k, a, a_row, a_k, b, b_row, c, c_row, add); break;                       \
        case 2: product(2, vectors, k, a, a_row, a_k, b, b_row, c, c_row, add); break;                       \
        case 3: product(3, vectors, k, a, a_row, a_k, b, b_row, c, c_row, add); break;                       \
        case 4: product(4, vectors, k, a, a_row, a_k, b, b_row, c, c_row, add); break;                       \
        case 5: product(5, vectors, k, a, a_row, a_k, b, b_row, c, c_row, add); break;                       \
        default: break;                                                                                      \
        }                                                                                                    \
    }
PRODUCT(1)
PRODUCT(2)
#if WIDE == 4
PRODUCT(3)
PRODUCT(4)
static const Product product_of[] = {product_1, product_2, product_3, product_4};
#else
static const Product product_of[] = {product_1, product_2};
#endif

/* The same for `n` columns, at most MS_WINO_WIDE. */
static void products_wide(int64_t n, int64_t m, int64_t k, const float *a, int64_t a_row, int64_t a_k,
                          const float *b, int64_t b_row, float *c, int64_t c_row, bool add)
{
    for (int64_t j = 0; j < n; j += WIDE * LANES) {
        int64_t vectors = (n - j) / LANES < WIDE ? (n - j) / LANES : WIDE;
        product_of[vectors - 1](m, k, a, a_row, a_k, b + j, b_row, c + j, c_row, add);
    }
}

static int64_t columns(const MsWino *p, int64_t panel)
{
    int64_t left = p->o - panel * MS_WINO_WIDE;
    return left < MS_WINO_WIDE ? left : MS_WINO_WIDE;
}

/* ---- range functions ---- */

static void weights(void *ctx, int64_t begin, int64_t end)
{
    const MsWinoWeights *p = ctx;
    int64_t panels = ms__wino_panels(p->o);
    for (int64_t c = begin; c < end; c++)
        for (int64_t o = 0; o < p->o; o += LANES) {
            V g[9], t[18], out[6];
            for (int k = 0; k < 9; k++) {
                const float *at = p->w + c * p->strides[1] + k / 3 * p->strides[2] + k % 3 * p->strides[3];
                for (int l = 0; l < LANES; l++) g[k][l] = at[(o + l) * p->strides[0]];
            }
            for (int j = 0; j < 3; j++) map_weight(g + j, 3, t + j, 3);
            float *u = p->u + (o / MS_WINO_WIDE * p->c + c) * MS_WINO_WIDE + o % MS_WINO_WIDE;
            for (int i = 0; i < 6; i++) {
                map_weight(t + 3 * i, 1, out, 1);
                for (int j = 0; j < 6; j++) *(V *)(u + (6 * i + j) * panels * p->c * MS_WINO_WIDE) = out[j];
            }
        }
}

static void forward(void *ctx, int64_t begin, int64_t end)
{
    MsWino *p = ctx;
    /* A line more than the tiles need: points that lie a multiple of a page apart would share the cache's places. */
    int64_t v_pitch = p->chunk * p->c + 16, m_pitch = p->chunk * p->o + 16, panels = ms__wino_panels(p->o);
    float *v = p->work + p->n_slot++ * p->work_size, *m = v + MS_WINO_POINTS * v_pitch;
    bool finite = true;
    for (int64_t u = begin; u < end; u++) {
        int64_t first = u * p->chunk, n = p->tiles - first < p->chunk ? p->tiles - first : p->chunk;
        for (int64_t i = 0; i < n; i++) transform_input(p, first + i, v + i * p->c, v_pitch);
        for (int64_t k = 0; k < MS_WINO_POINTS; k++)
            for (int64_t q = 0; q < panels; q++)
                products_wide(columns(p, q), n, p->c, v + k * v_pitch, p->c, 1,
                              p->u + (k * panels + q) * p->c * MS_WINO_WIDE, MS_WINO_WIDE,
                              m + k * m_pitch + q * MS_WINO_WIDE, p->o, false);
        for (int64_t i = 0; i < n; i++) finite &= transform_output(p, first + i, m + i * p->o, m_pitch);
    }
    if (!finite) p->infinite = 1;
}

static void slice(void *ctx, int64_t begin, int64_t end)
{
    const MsWinoGrad *g = ctx;
    for (int64_t i = begin; i < end; i++) {
        transform_input(g->p, g->first + i, g->v + i * g->p->c, g->v_pitch);
        transform_output_grad(g->p, g->first + i, g->d + i * g->p->o, g->d_pitch);
    }
}

static void products(void *ctx, int64_t begin, int64_t end)
{
    const MsWinoGrad *g = ctx;
    const MsWino *p = g->p;
    int64_t panels = ms__wino_panels(p->o);
    for (int64_t u = begin; u < end; u++) {
        int64_t k = u / panels, q = u % panels;
        products_wide(columns(p, q), p->c, g->m, g->v + k * g->v_pitch, 1, p->c,
                      g->d + k * g->d_pitch + q * MS_WINO_WIDE, p->o, g->sum + u * p->c * MS_WINO_WIDE,
                      MS_WINO_WIDE, g->first > 0);
    }
}

static void gather(void *ctx, int64_t begin, int64_t end)
{
    const MsWinoGrad *g = ctx;
    MsWino *p = g->p;
    const int64_t *st = g->dw_strides;
    int64_t panels = ms__wino_panels(p->o);
    float check = 0;
    for (int64_t c = begin; c < end; c++)
        for (int64_t o = 0; o < p->o; o += LANES) {
            V in[6], t[18], out[9];
            const float *u = g->sum + (o / MS_WINO_WIDE * p->c + c) * MS_WINO_WIDE + o % MS_WINO_WIDE;
            for (int i = 0; i < 6; i++) {
                for (int j = 0; j < 6; j++)
                    in[j] = *(const V *)(u + (6 * i + j) * panels * p->c * MS_WINO_WIDE);
                map_weight_grad(in, 1, t + 3 * i, 1);
            }
            for (int j = 0; j < 3; j++) map_weight_grad(t + j, 3, out + j, 3);
            for (int k = 0; k < 9; k++) {
                float *to = g->dw + c * st[1] + k / 3 * st[2] + k % 3 * st[3];
                for (int l = 0; l < LANES; l++) {
                    to[(o + l) * st[0]] = out[k][l];
                    check += 0 * out[k][l];
                }
            }
        }
    if (check != 0) p->infinite = 1;
}

const MsWinoFns PASTE(ms__wino_, MS_ISA) = {weights, forward, slice, products, gather};
#else
const MsWinoFns PASTE(ms__wino_, MS_ISA) = {NULL, NULL, NULL, NULL, NULL};
#endif
