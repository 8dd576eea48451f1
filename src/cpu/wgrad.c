/* wgrad.c - conv_weight_grad of channels-last float32 activations without groups. Every pair of an output
 * position and a kernel tap is a pair of rows, and each tap's gradient is the sum of their outer products; the
 * pairs along an output line are a run with fixed steps. What lies in the padding has no pair, so nothing is
 * multiplied by an invented zero. The parts that are summed on their own are fixed by the shapes, so the result
 * does not depend on the number of threads. */
#include "cpu/wgrad.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/dense.h"
#include "cpu/isa.h"
#include "op/conv.h"

#include <stdlib.h>

#define LINES_ROWS 112 /* rows of a block, roughly: 64 channels of them fit a first-level cache */
#define UNITS 8        /* parts times tiles to aim for */

typedef struct Shape {
    int64_t n, c, h, w, o, kh, kw, oh, ow;
    const MsAttr *at;
} Shape;

static Shape shape_of(const MsCall *c)
{
    const int64_t *x = c->in[0]->shape, *y = c->in[1]->shape, *k = c->aval[0].shape;
    return (Shape){x[0], x[1], x[2], x[3], y[1], k[2], k[3], y[2], y[3], c->attr + 1};
}

/* Output positions along an axis whose tap k lies inside of the input: [*lo, *hi). */
static void inside(const Shape *s, int d, int64_t k, int64_t in, int64_t out, int64_t *lo, int64_t *hi)
{
    int64_t step = s->at[STRIDE].v[d], at = k * s->at[DILATION].v[d] - s->at[LOW].v[d];
    *lo = at >= 0 ? 0 : (-at + step - 1) / step;
    *hi = in - at <= 0 ? 0 : (in - at + step - 1) / step;
    if (*hi > out) *hi = out;
    if (*lo > *hi) *lo = *hi;
}

typedef struct Runs {
    MsWgradRun *run;
    int64_t *first;
    int64_t n;
} Runs;

/* Output lines [begin, end), numbered through all images, at tap (kh, kw); runs that continue each other are
 * one. */
static void add_lines(const Shape *s, Runs *r, int64_t begin, int64_t end, int64_t kh, int64_t kw)
{
    int64_t h0, h1, w0, w1, from = r->n, sh = s->at[STRIDE].v[0], sw = s->at[STRIDE].v[1];
    inside(s, 0, kh, s->h, s->oh, &h0, &h1);
    inside(s, 1, kw, s->w, s->ow, &w0, &w1);
    if (w0 == w1) return;
    for (int64_t line = begin; line < end; line++) {
        int64_t n = line / s->oh, oh = line % s->oh;
        if (oh < h0 || oh >= h1) continue;
        int64_t ih = oh * sh + kh * s->at[DILATION].v[0] - s->at[LOW].v[0];
        int64_t iw = w0 * sw + kw * s->at[DILATION].v[1] - s->at[LOW].v[1];
        MsWgradRun run = {((n * s->h + ih) * s->w + iw) * s->c, (line * s->ow + w0) * s->o, w1 - w0};
        MsWgradRun *last = r->n > from ? &r->run[r->n - 1] : NULL;
        if (last && last->x + last->n * sw * s->c == run.x && last->dy + last->n * s->o == run.dy)
            last->n += run.n;
        else
            r->run[r->n++] = run;
    }
}

/* The lines cut into parts of `blocks` blocks. */
static MsStatus make_runs(const Shape *s, const MsWgrad *p, Runs *r)
{
    int64_t lines = s->n * s->oh, all = p->parts * p->blocks;
    r->run = ms__malloc((size_t)(lines * p->taps) * sizeof *r->run);
    r->first = ms__malloc((size_t)(all * p->taps + 1) * sizeof *r->first);
    if (!r->run || !r->first) return MS_ERROR_MEMORY;
    for (int64_t b = 0; b < all; b++)
        for (int64_t tap = 0; tap < p->taps; tap++) {
            r->first[b * p->taps + tap] = r->n;
            add_lines(s, r, lines * b / all, lines * (b + 1) / all, tap / s->kw, tap % s->kw);
        }
    r->first[all * p->taps] = r->n;
    return MS_OK;
}

/* ---- the sums of the parts into the gradient ---- */

typedef struct Gather {
    const MsWgrad *p;
    const Shape *s;
    MsTensor *dw;
} Gather;

static void gather(void *ctx, int64_t begin, int64_t end)
{
    const Gather *g = ctx;
    const MsWgrad *p = g->p;
    int64_t n_tile = (p->n_wide + MS_WGRAD_WIDE - 1) / MS_WGRAD_WIDE,
            size = p->taps * p->n_narrow * MS_WGRAD_WIDE;
    const int64_t *st = g->dw->strides;
    float *dw = (float *)g->dw->data;
    int64_t by_narrow = st[p->x_is_wide ? 0 : 1], by_wide = st[p->x_is_wide ? 1 : 0];
    for (int64_t u = begin; u < end; u++) { /* tile of wide, channel of narrow */
        int64_t t = u / p->n_narrow, n = u % p->n_narrow, wide = t * MS_WGRAD_WIDE;
        int64_t m = p->n_wide - wide < MS_WGRAD_WIDE ? p->n_wide - wide : MS_WGRAD_WIDE;
        for (int64_t tap = 0; tap < p->taps; tap++) {
            float sum[MS_WGRAD_WIDE] = {0};
            const float *from = p->sum + t * size + (tap * p->n_narrow + n) * MS_WGRAD_WIDE;
            for (int64_t part = 0; part < p->parts; part++, from += n_tile * size)
                for (int64_t i = 0; i < m; i++) sum[i] += from[i];
            float *to = dw + n * by_narrow + wide * by_wide + tap / g->s->kw * st[2] + tap % g->s->kw * st[3];
            for (int64_t i = 0; i < m; i++) to[i * by_wide] = sum[i];
        }
    }
}

/* Is x the wide side? Whole tiles are best, then whole vectors, which one side has; then the side that is one
 * tile, which needs no copying, or else the one with more channels. */
static bool prefer_x(int64_t c, int64_t o)
{
    static const int64_t multiple[] = {MS_WGRAD_WIDE, 16};
    for (int k = 0; k < 2; k++)
        if ((c % multiple[k] == 0) != (o % multiple[k] == 0)) return c % multiple[k] == 0;
    return c == MS_WGRAD_WIDE || (c >= o && o != MS_WGRAD_WIDE);
}

static MsStatus run_weight_grad(MsCall *c)
{
    MsTensor *dw = ms__out(c, 0);
    if (!dw) return ms_error()->code;
    Shape s = shape_of(c);
    int64_t sw = s.at[STRIDE].v[1];
    bool x_is_wide = prefer_x(s.c, s.o);
    MsWgrad p = {.n_wide = x_is_wide ? s.c : s.o, .n_narrow = x_is_wide ? s.o : s.c, .taps = s.kh * s.kw};
    p.x_is_wide = x_is_wide;
    p.wide = (const float *)c->in[x_is_wide ? 0 : 1]->data;
    p.narrow = (const float *)c->in[x_is_wide ? 1 : 0]->data;
    p.wide_step = x_is_wide ? sw * s.c : s.o;
    p.narrow_step = x_is_wide ? s.o : sw * s.c;
    int64_t tiles = (p.n_wide + MS_WGRAD_WIDE - 1) / MS_WGRAD_WIDE, rows = s.n * s.oh * s.ow;
    p.parts = (UNITS + tiles - 1) / tiles;
    if (p.parts > 1 + rows / 512) p.parts = 1 + rows / 512;
    p.blocks = (rows + p.parts * LINES_ROWS - 1) / (p.parts * LINES_ROWS);
    size_t bytes = (size_t)(p.parts * tiles * p.taps * p.n_narrow * MS_WGRAD_WIDE) * sizeof(float);
    Runs r = {NULL, NULL, 0};
    p.sum = ms__alloc(bytes);
    MsStatus st = p.sum ? make_runs(&s, &p, &r) : MS_ERROR_MEMORY;
    if (st == MS_OK) {
        p.run = r.run;
        p.first = r.first;
        ms__parallel_for(p.parts * tiles, 1, MS_ISA_PICK(ms__wgrad_), &p);
        Gather g = {&p, &s, dw};
        ms__parallel_for(tiles * p.n_narrow, 1 + 16384 / (p.taps * p.parts * MS_WGRAD_WIDE), gather, &g);
    }
    free(r.run);
    free(r.first);
    if (p.sum) ms__free(p.sum, bytes);
    return st;
}

static const char *ok(const MsCall *c)
{
    const MsTensor *x = c->in[0], *dy = c->in[1];
    if (!MS_ISA_PICK(ms__wgrad_)) return "instruction set";
    if (x->dtype != MS_FLOAT32) return "dtype";
    if (x->ndim != 4) return "not two-dimensional";
    if (x->numel == 0 || dy->numel == 0 || c->aval[0].shape[2] * c->aval[0].shape[3] == 0) return "empty";
    if (c->attr[1 + GROUPS].i != 1) return "groups";
    if (x->shape[1] % 16 && dy->shape[1] % 16) return "channels";
    if (x->shape[1] == 1 || dy->shape[1] == 1) return "one channel";
    if (!ms__is_channels_last(x) || !ms__is_channels_last(dy)) return "layout";
    return NULL;
}

MS_KERNEL(conv_weight_grad, 55, rows, ok, run_weight_grad);
