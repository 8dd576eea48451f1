/* attention.c - attention for a block of queries at a time, compiled per instruction set. The scores of a block are
 * kept transposed, [keys][queries]: sums and maxima over the keys are then plain vector operations on 16 queries,
 * k and v are read where they lie, and only q and dy are turned around while they are packed. Keys that the mask
 * hides from the whole block are left out. The products are those of isa/gemm.c. */
#pragma GCC optimize("fp-contract=fast")
#include "cpu/attention.h"

#include "core/mem.h"
#include "cpu/gemm.h"
#include "cpu/isa/vec.h"

#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define GEMM_TILE PASTE(ms__gemm_tile_, MS_ISA)
_Static_assert(MS_ATTENTION_LANES % LANES == 0, "queries are worked on in vectors");

typedef uint8_t B __attribute__((vector_size(LANES), aligned(1), may_alias));

#define PANEL MS_GEMM_PANEL
_Static_assert(MS_ATTENTION_LANES == PANEL, "queries are packed in panels");

static int64_t padded(int64_t n)
{
    return (n + PANEL - 1) / PANEL * PANEL;
}

typedef struct Head {
    const MsAttention *a;
    int64_t at[MS_MAX_DIM];
} Head;

static char *matrix(const Head *h, const MsHeads *m, size_t size)
{
    int64_t at = 0;
    for (int d = 0; d < h->a->n_batch; d++) at += h->at[d] * m->batch[d];
    return m->data + at * (int64_t)size;
}

static Head head_of(const MsAttention *a, int64_t i)
{
    Head h = {.a = a};
    for (int d = a->n_batch - 1; d >= 0; d--) {
        h.at[d] = i % a->shape[d];
        i /= a->shape[d];
    }
    return h;
}

/* Rows [r0, r0 + n) of c columns as float32: where they lie (*stride in elements), or copied to buf. */
static const float *rows_of(const Head *h, const MsHeads *x, int64_t r0, int64_t n, int64_t c, float *buf,
                            int64_t *stride)
{
    const MsAttention *a = h->a;
    size_t size = a->half ? 2 : 4;
    const char *from = matrix(h, x, size) + r0 * x->row * (int64_t)size;
    *stride = x->row;
    if (!a->half && (x->col == 1 || c == 1)) return (const float *)(const void *)from;
    *stride = c;
    for (int64_t r = 0; r < n; r++) {
        const char *row = from + r * x->row * (int64_t)size;
        if (!a->half)
            for (int64_t j = 0; j < c; j++) buf[r * c + j] = ((const float *)(const void *)row)[j * x->col];
        else if (x->col == 1)
            a->from_half(c, buf + r * c, (const uint16_t *)(const void *)row);
        else
            for (int64_t j = 0; j < c; j++)
                a->from_half(1, buf + r * c + j, (const uint16_t *)(const void *)row + j * x->col);
    }
    return buf;
}

/* Contiguous rows to where the matrix lies. */
static void store_rows(const Head *h, const MsHeads *x, int64_t r0, int64_t n, int64_t c, const float *from)
{
    const MsAttention *a = h->a;
    size_t size = a->half ? 2 : 4;
    char *to = matrix(h, x, size) + r0 * x->row * (int64_t)size;
    for (int64_t r = 0; r < n; r++, from += c) {
        char *row = to + r * x->row * (int64_t)size;
        if (!a->half && x->col == 1)
            memcpy(row, from, (size_t)c * sizeof *from);
        else if (!a->half)
            for (int64_t j = 0; j < c; j++) ((float *)(void *)row)[j * x->col] = from[j];
        else if (x->col == 1)
            a->to_half(c, (uint16_t *)(void *)row, from);
        else
            for (int64_t j = 0; j < c; j++) a->to_half(1, (uint16_t *)(void *)row + j * x->col, from + j);
    }
}

/* x [n, c] into panels of 16 columns, [c / 16][n][16]. */
static void pack(const float *x, int64_t stride, int64_t n, int64_t c, float *out)
{
    for (int64_t j = 0; j < c; j += PANEL) {
        int64_t w = c - j < PANEL ? c - j : PANEL;
        for (int64_t r = 0; r < n; r++, out += PANEL) {
            if (w == PANEL) {
                memcpy(out, x + r * stride + j, PANEL * sizeof *out);
                continue;
            }
            for (int64_t l = 0; l < PANEL; l++) out[l] = l < w ? x[r * stride + j + l] : 0;
        }
    }
}

/* x [n, c] transposed into panels of 16 of its rows, [n / 16][c][16]. */
static void pack_turned(const float *x, int64_t stride, int64_t n, int64_t c, float *out)
{
    for (int64_t i = 0; i < n; i += PANEL, out += c * PANEL) {
        int64_t w = n - i < PANEL ? n - i : PANEL;
        for (int64_t l = 0; l < PANEL; l++)
            for (int64_t p = 0; p < c; p++) out[p * PANEL + l] = l < w ? x[(i + l) * stride + p] : 0;
    }
}

/* ---- scores of one block ---- */

typedef struct Block {
    int64_t i0, rows, lanes; /* queries; lanes: rows rounded up */
    int64_t j0, j1;          /* keys that any of them sees */
    int64_t ld;              /* row length of the scores */
    const char *mask;        /* of the head, or NULL */
    const float *keep;
} Block;

static bool hidden(const MsAttention *a, const Block *b, int64_t j)
{
    if (a->mask_is_bool) {
        const char *m = b->mask + j * a->mask.row + b->i0 * a->mask.col;
        for (int64_t i = 0; i < b->rows; i++)
            if (m[i * a->mask.col]) return false;
        return true;
    }
    const float *m = (const float *)(const void *)b->mask + j * a->mask.row + b->i0 * a->mask.col;
    for (int64_t i = 0; i < b->rows; i++)
        if (m[i * a->mask.col] != -INFINITY) return false;
    return true;
}

static Block block_of(const Head *h, int64_t i0)
{
    const MsAttention *a = h->a;
    Block b = {.i0 = i0, .rows = a->n - i0 < a->block ? a->n - i0 : a->block, .j1 = a->m, .ld = a->block};
    b.lanes = padded(b.rows);
    if (a->mask.data) b.mask = matrix(h, &a->mask, a->mask_is_bool ? 1 : sizeof(float));
    if (a->keep.data) b.keep = (const float *)(const void *)matrix(h, &a->keep, sizeof(float));
    if (a->causal && b.i0 + b.rows < b.j1) b.j1 = b.i0 + b.rows;
    if (!b.mask || (a->mask_is_bool && a->fill != -INFINITY)) return b;
    int64_t j1 = b.j1;
    while (b.j1 > 0 && hidden(a, &b, b.j1 - 1)) b.j1--;
    while (b.j0 < b.j1 && hidden(a, &b, b.j0)) b.j0++;
    if (b.j0 == b.j1) b.j0 = 0, b.j1 = j1; /* rows without any key are NaN, as softmax has it */
    return b;
}

static inline __attribute__((always_inline)) V load_mask(const MsAttention *a, const Block *b, int64_t i,
                                                         int64_t j)
{
    const float *m = (const float *)(const void *)b->mask + j * a->mask.row + (b->i0 + i) * a->mask.col;
    if (a->mask.col == 1) return *(const V *)m;
    return (V){0} + m[0];
}

static inline __attribute__((always_inline)) I load_bool(const MsAttention *a, const Block *b, int64_t i,
                                                         int64_t j)
{
    const char *m = b->mask + j * a->mask.row + (b->i0 + i) * a->mask.col;
    if (a->mask.col == 1) return __builtin_convertvector(*(const B *)(const void *)m, I) != 0;
    return (I){0} + (m[0] ? -1 : 0);
}

static inline __attribute__((always_inline)) V load_keep(const MsAttention *a, const Block *b, int64_t i,
                                                         int64_t j)
{
    const float *m = b->keep + j * a->keep.row + (b->i0 + i) * a->keep.col;
    if (a->keep.col == 1) return *(const V *)m;
    return (V){0} + m[0];
}

/* Products of the block to probabilities that are not yet divided by their sums; 1 / sum per query. */
static void soften(const MsAttention *a, const Block *b, float *s, float *inverse)
{
    for (int64_t i = 0; i < b->lanes; i += LANES) {
        V max = (V){0} - INFINITY, sum = {0};
        I row = lane_numbers() + (int32_t)(b->i0 + i);
        for (int64_t j = b->j0; j < b->j1; j++) {
            V *at = (V *)(s + j * b->ld + i), x = *at * a->scale;
            if (b->mask && a->mask_is_bool)
                x = pick(load_bool(a, b, i, j), x, (V){0} + a->fill);
            else if (b->mask)
                x += load_mask(a, b, i, j);
            if (a->causal && j > b->i0 + i) x = pick(row < (int32_t)j, (V){0} - INFINITY, x);
            *at = x;
            max = pick(x > max, x, max);
        }
        for (int64_t j = b->j0; j < b->j1; j++) {
            V *at = (V *)(s + j * b->ld + i), x = exp_v(*at - max);
            sum += x;
            *at = x;
        }
        *(V *)(inverse + i) = 1 / sum;
    }
}

/* c [rows, n] (+)= A B over `k`; A by strides, B in panels. */
static void product(int64_t m, int64_t n, int64_t k, const float *a, int64_t am, int64_t ak, const float *b,
                    float *c, int64_t cm, bool add)
{
    MsGemmTile t = {
        .m = m, .n = n, .k = k, .a = a, .am = am, .ak = ak, .b = b, .c = c, .cm = cm, .cn = 1, .add = add};
    GEMM_TILE(&t);
}

static void forward_block(const Head *h, int64_t i0, const float *k, int64_t ks, const float *v, float *work)
{
    const MsAttention *a = h->a;
    Block b = block_of(h, i0);
    int64_t qs, m = b.j1 - b.j0;
    float *inverse = work, *q = inverse + a->block, *turned = q + a->block * a->d,
          *o = turned + a->block * a->d;
    float *s = o + a->block * a->e;
    const float *rows = rows_of(h, &a->q, i0, b.rows, a->d, q, &qs);
    pack_turned(rows, qs, b.rows, a->d, turned);
    product(m, b.lanes, a->d, k + b.j0 * ks, ks, 1, turned, s + b.j0 * b.ld, b.ld, false);
    soften(a, &b, s, inverse);
    for (int64_t j = b.j0; b.keep && j < b.j1; j++)
        for (int64_t i = 0; i < b.lanes; i += LANES) *(V *)(s + j * b.ld + i) *= load_keep(a, &b, i, j);
    for (int64_t c = 0; c < a->e; c += PANEL)
        product(b.rows, a->e - c < PANEL ? a->e - c : PANEL, m, s + b.j0 * b.ld, 1, b.ld,
                v + (c / PANEL * a->m + b.j0) * PANEL, o + c, a->e, false);
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t c = 0; c < a->e; c++) o[i * a->e + c] *= inverse[i];
    store_rows(h, &a->o, i0, b.rows, a->e, o);
}

static void forward(void *ctx, int64_t begin, int64_t end)
{
    MsAttention *a = ctx;
    int64_t blocks = (a->n + a->block - 1) / a->block, last = -1, ks = 0;
    int64_t nk = a->m * a->d, nv = a->m * a->e, np = a->m * padded(a->e);
    size_t bytes = (size_t)(nk + nv + np + a->block * (1 + 2 * a->d + a->e + a->m)) * sizeof(float);
    float *buf = ms__alloc(bytes), *vbuf = buf + nk, *panels = vbuf + nv, *work = panels + np;
    const float *k = NULL;
    if (!buf) {
        a->no_memory = true;
        return;
    }
    for (int64_t t = begin; t < end; t++) {
        Head h = head_of(a, t / blocks);
        if (t / blocks != last) {
            int64_t vs;
            last = t / blocks;
            k = rows_of(&h, &a->k, 0, a->m, a->d, buf, &ks);
            const float *v = rows_of(&h, &a->v, 0, a->m, a->e, vbuf, &vs);
            pack(v, vs, a->m, a->e, panels);
        }
        forward_block(&h, t % blocks * a->block, k, ks, panels, work);
    }
    ms__free(buf, bytes);
}

/* ---- gradient ---- */

/* Buffers of a thread; k and v point into memory or to kbuf and vbuf. */
typedef struct Work {
    const float *k, *v;
    int64_t ks, vs;
    float *kbuf, *vbuf, *kp, *dk, *dv;
    float *inverse, *q, *dy, *qt, *dyt, *qp, *dyp, *dq, *s, *g;
} Work;

/* s: probabilities, g: their cotangents -> s: what multiplies dy for dv, g: cotangents of the scaled scores. */
static void soften_grad(const MsAttention *a, const Block *b, const Work *w)
{
    for (int64_t i = 0; i < b->lanes; i += LANES) {
        V inverse = *(const V *)(w->inverse + i), sum = {0};
        for (int64_t j = b->j0; j < b->j1; j++) {
            V *p = (V *)(w->s + j * b->ld + i), *g = (V *)(w->g + j * b->ld + i);
            *p *= inverse;
            if (b->keep) *g *= load_keep(a, b, i, j);
            sum += *p * *g;
        }
        for (int64_t j = b->j0; j < b->j1; j++) {
            V *p = (V *)(w->s + j * b->ld + i), *g = (V *)(w->g + j * b->ld + i);
            V x = *p * (*g - sum) * a->scale;
            if (b->mask && a->mask_is_bool) x = pick(load_bool(a, b, i, j), x, (V){0});
            *g = x;
            if (b->keep) *p *= load_keep(a, b, i, j);
        }
    }
}

static void backward_block(const Head *h, int64_t i0, const Work *w)
{
    const MsAttention *a = h->a;
    Block b = block_of(h, i0);
    int64_t qs, gs, m = b.j1 - b.j0, d = a->d, e = a->e, at = b.j0 * b.ld;
    const float *q = rows_of(h, &a->q, i0, b.rows, d, w->q, &qs);
    const float *dy = rows_of(h, &a->dy, i0, b.rows, e, w->dy, &gs);
    pack_turned(q, qs, b.rows, d, w->qt);
    pack_turned(dy, gs, b.rows, e, w->dyt);
    pack(q, qs, b.rows, d, w->qp);
    pack(dy, gs, b.rows, e, w->dyp);
    product(m, b.lanes, d, w->k + b.j0 * w->ks, w->ks, 1, w->qt, w->s + at, b.ld, false);
    soften(a, &b, w->s, w->inverse);
    product(m, b.lanes, e, w->v + b.j0 * w->vs, w->vs, 1, w->dyt, w->g + at, b.ld, false);
    soften_grad(a, &b, w);
    product(m, e, b.rows, w->s + at, b.ld, 1, w->dyp, w->dv + b.j0 * e, e, true);
    product(m, d, b.rows, w->g + at, b.ld, 1, w->qp, w->dk + b.j0 * d, d, true);
    for (int64_t c = 0; c < d; c += PANEL)
        product(b.rows, d - c < PANEL ? d - c : PANEL, m, w->g + at, 1, b.ld,
                w->kp + (c / PANEL * a->m + b.j0) * PANEL, w->dq + c, d, false);
    store_rows(h, &a->dq, i0, b.rows, d, w->dq);
}

/* Lays the buffers out from `at` (NULL: only counts); the number of floats. */
static int64_t lay_out(const MsAttention *a, Work *w, float *at)
{
    int64_t n = a->block, total = 0;
    struct {
        float **to;
        int64_t size;
    } part[] = {{&w->kbuf, a->m * a->d}, {&w->vbuf, a->m * a->e},    {&w->kp, a->m * padded(a->d)},
                {&w->dk, a->m * a->d},   {&w->dv, a->m * a->e},      {&w->inverse, n},
                {&w->q, n * a->d},       {&w->dy, n * a->e},         {&w->qt, n * a->d},
                {&w->dyt, n * a->e},     {&w->qp, n * padded(a->d)}, {&w->dyp, n * padded(a->e)},
                {&w->dq, n * a->d},      {&w->s, n * a->m},          {&w->g, n * a->m}};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        if (at) *part[k].to = at + total;
        total += padded(part[k].size);
    }
    return total;
}

static void backward(void *ctx, int64_t begin, int64_t end)
{
    MsAttention *a = ctx;
    Work w;
    size_t bytes = (size_t)lay_out(a, &w, NULL) * sizeof(float);
    float *buf = ms__alloc(bytes);
    if (!buf) {
        a->no_memory = true;
        return;
    }
    lay_out(a, &w, buf);
    for (int64_t i = begin; i < end; i++) {
        Head h = head_of(a, i);
        w.k = rows_of(&h, &a->k, 0, a->m, a->d, w.kbuf, &w.ks);
        w.v = rows_of(&h, &a->v, 0, a->m, a->e, w.vbuf, &w.vs);
        pack(w.k, w.ks, a->m, a->d, w.kp);
        memset(w.dk, 0, (size_t)(a->m * a->d) * sizeof *w.dk);
        memset(w.dv, 0, (size_t)(a->m * a->e) * sizeof *w.dv);
        for (int64_t i0 = 0; i0 < a->n; i0 += a->block) backward_block(&h, i0, &w);
        store_rows(&h, &a->dk, 0, a->m, a->d, w.dk);
        store_rows(&h, &a->dv, 0, a->m, a->e, w.dv);
    }
    ms__free(buf, bytes);
}

const MsAttentionFns PASTE(ms__attention_, MS_ISA) = {forward, backward};
