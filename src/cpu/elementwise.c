/* elementwise.c - strides, broadcasting, half precision and threads around the loops of cpu/isa/.
 *
 * The elements are walked in the memory order of the output, in tiles that fit the first-level cache. Of
 * every operand a tile is seen as a contiguous run: directly where it is one, else packed into a buffer
 * (repeated values are filled in once). A transposed input is brought into the output's order beforehand.
 * Hence one loop per operation and dtype is enough, without variants for scalars and strides. Refused: a
 * loop per combination of broadcast operands, three times the code for a few percent. */
#include "cpu/elementwise.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "op/fused.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TILE_BYTES 24576 /* of all buffers of a program */
#define GRAIN 32768      /* elements a thread gets at least */
#define SHORT_ROW 64     /* shorter inner rows are packed together */
#define TILE_MAX 8192    /* bytes of a tile of one operand */
#define TILE_FILLED 2048 /* the same where every row fills tiles with another value */

/* ---- the walk over elements ---- */

typedef struct Operand {
    char *data;
    int64_t step[MS_MAX_DIM]; /* in bytes */
    int8_t size, half;        /* bytes of an element; 1 = float16, 2 = bfloat16 */
    bool direct;              /* a tile is a contiguous run */
    bool fixed;               /* a tile is one value */
} Operand;

typedef struct MsTiles {
    const MsProgram *p;
    int n_dim, n_op, n_held;
    int64_t dim[MS_MAX_DIM];
    bool by_row;  /* a tile stays within a row of the last dimension */
    bool half;    /* some step or operand is of half precision */
    bool chain;   /* p->chain runs it, a row or the range at a time; buffers are blocks */
    int64_t tile; /* elements */
    int width;    /* bytes of a buffer's element */
    Operand op[MS_MAX_TILE_OPERANDS];
    size_t bytes[MS_MAX_TILE_OPERANDS]; /* of the first n_held: their blocks of ms__alloc, 0 = none */
    atomic_bool refused;
} Walk;

static int half_of(int dtype)
{
    return dtype == MS_FLOAT16 ? 1 : dtype == MS_BFLOAT16 ? 2 : 0;
}

static void set_operand(Operand *o, MsTensor *t, int n_dim, const int *order, int nd)
{
    o->data = t->data;
    o->size = (int8_t)ms_dtype_size((MsDtype)t->dtype);
    o->half = (int8_t)half_of(t->dtype);
    for (int k = 0; k < n_dim; k++) {
        int d = order[k] - (nd - t->ndim);
        o->step[k] = d < 0 || t->shape[d] == 1 ? 0 : t->strides[d] * o->size;
    }
}

/* Merges dimension k+1 into k where every operand walks through both in one stride. */
static void collapse(Walk *w)
{
    int at = 0;
    for (int k = 1; k < w->n_dim; k++) {
        bool merge = true;
        for (int i = 0; i < w->n_op && merge; i++) merge = w->op[i].step[at] == w->op[i].step[k] * w->dim[k];
        if (merge) {
            w->dim[at] *= w->dim[k];
        } else {
            at++;
            w->dim[at] = w->dim[k];
        }
        for (int i = 0; i < w->n_op; i++) w->op[i].step[at] = w->op[i].step[k];
    }
    w->n_dim = at + 1;
}

/* Walking along the output, does the operand jump, while along another dimension it is dense? */
static bool transposed(const Walk *w, const Operand *o)
{
    int last = w->n_dim - 1;
    bool dense = false;
    for (int k = 0; k <= last; k++) {
        if (o->step[k] == 0) return false;
        dense |= k < last && w->dim[k] >= 4 && o->step[k] == o->size;
    }
    return dense && w->dim[last] >= 4 && o->step[last] != o->size;
}

/* Puts such an operand into a block in the order of the output; *bytes: its size, 0 when nothing was done. */
static MsStatus straighten(const Walk *w, Operand *o, MsDtype dtype, int64_t numel, size_t *bytes)
{
    int64_t from[MS_MAX_DIM], to[MS_MAX_DIM];
    *bytes = 0;
    if (numel < GRAIN || !transposed(w, o)) return MS_OK;
    char *block = ms__alloc((size_t)(numel * o->size));
    if (!block) return MS_ERROR_MEMORY;
    *bytes = (size_t)(numel * o->size);
    ms__row_major(w->n_dim, w->dim, to);
    for (int k = 0; k < w->n_dim; k++) from[k] = o->step[k] / o->size;
    ms__copy_raw(w->n_dim, w->dim, block, dtype, to, o->data, dtype, from);
    for (int k = 0; k < w->n_dim; k++) o->step[k] = to[k] * o->size;
    o->data = block;
    return MS_OK;
}

/* Dimensions of y longer than 1, the largest stride first. */
static int order_dims(const MsTensor *y, int *order)
{
    int n = 0;
    for (int d = 0; d < y->ndim; d++) {
        if (y->shape[d] == 1) continue;
        int k = n++;
        for (; k > 0 && y->strides[order[k - 1]] < y->strides[d]; k--) order[k] = order[k - 1];
        order[k] = d;
    }
    return n;
}

static void classify(Walk *w)
{
    int last = w->n_dim - 1;
    w->by_row = w->n_dim == 1 || w->dim[last] >= SHORT_ROW;
    for (int i = 0; i < w->n_op; i++) {
        Operand *o = &w->op[i];
        o->direct = o->step[last] == o->size;
        o->fixed = w->by_row && o->step[last] == 0;
        if (!w->by_row)
            for (int k = last - 1; k >= 0; k--) o->direct &= o->step[k] == o->step[k + 1] * w->dim[k + 1];
    }
}

/* ---- tiles ---- */

/* Between m elements of o from position idx on and a contiguous buffer. */
static void pack(const Walk *w, const Operand *o, const int64_t *idx, int64_t m, char *buf, bool scatter)
{
    int last = w->n_dim - 1;
    int64_t at[MS_MAX_DIM];
    MsMoveRow move = ms__move_row((size_t)o->size);
    char *row = o->data;
    for (int k = 0; k <= last; k++) {
        at[k] = idx[k];
        row += at[k] * o->step[k];
    }
    for (;;) {
        int64_t run = w->dim[last] - at[last];
        if (run > m) run = m;
        if (scatter)
            move(run, row, o->step[last], buf, o->size);
        else
            move(run, buf, o->size, row, o->step[last]);
        m -= run;
        if (m == 0) return;
        buf += run * o->size;
        row -= at[last] * o->step[last];
        at[last] = 0;
        int k = last;
        do {
            k--;
            row += o->step[k];
            if (++at[k] < w->dim[k]) break;
            row -= at[k] * o->step[k];
            at[k] = 0;
        } while (k > 0);
    }
}

/* Does some input repeat one value along a row, and another along the next? */
static bool fills_by_row(const Walk *w)
{
    for (int i = 0; i < w->p->n_in; i++)
        for (int k = 0; k < w->n_dim - 1 && w->op[i].fixed; k++)
            if (w->op[i].step[k] != 0) return true;
    return false;
}

static const char *position(const Walk *w, const Operand *o, const int64_t *idx, int64_t linear)
{
    if (!w->by_row) return o->data + linear * o->size;
    const char *at = o->data;
    for (int k = 0; k < w->n_dim; k++) at += idx[k] * o->step[k];
    return at;
}

static const void *fetch(const Walk *w, const Operand *o, const int64_t *idx, int64_t linear, int64_t m,
                         char *buf, char *tmp, MsFilled *f)
{
    const MsLoopSet *isa = ms__loops();
    if (o->direct) {
        const char *at = position(w, o, idx, linear);
        if (!o->half) return at;
        isa->from_half[o->half - 1](m, (float *)(void *)buf, (const uint16_t *)(const void *)at);
        return buf;
    }
    if (o->fixed) {
        const char *at = position(w, o, idx, linear);
        if (f->from == at && f->n >= m) return buf;
        *f = (MsFilled){at, m};
    }
    pack(w, o, idx, m, o->half ? tmp : buf, false);
    if (o->half) isa->from_half[o->half - 1](m, (float *)(void *)buf, (const uint16_t *)(const void *)tmp);
    return buf;
}

static void store(const Walk *w, const Operand *o, const int64_t *idx, int64_t linear, int64_t m,
                  const void *src, char *tmp)
{
    char *at = o->direct ? (char *)(uintptr_t)position(w, o, idx, linear) : tmp;
    if (o->half)
        ms__loops()->to_half[o->half - 1](m, (uint16_t *)(void *)at, src);
    else if (o->direct && src != at)
        memcpy(at, src, (size_t)(m * o->size));
    if (!o->direct) pack(w, o, idx, m, o->half ? tmp : (char *)(uintptr_t)src, true);
}

/* Rounds a step's float32 values to the half precision of its dtype. */
static void round_half(int half, int64_t m, void *values, char *tmp)
{
    ms__loops()->to_half[half - 1](m, (uint16_t *)(void *)tmp, values);
    ms__loops()->from_half[half - 1](m, values, (const uint16_t *)(const void *)tmp);
}

/* to: where the one output goes instead, or NULL. */
static bool run_tile(const Walk *w, const MsTileAt *c, int64_t m, char *to)
{
    const int64_t *idx = c->idx, linear = c->linear;
    char *work = c->work;
    const MsProgram *p = w->p;
    const void *reg[MS_MAX_TILE_OPERANDS + MS_MAX_STEPS];
    int64_t pitch = w->tile * w->width;
    char *tmp = work + (p->n_in + p->n_slot) * pitch;
    bool ok = true;
    for (int i = 0; i < p->n_in; i++)
        reg[i] = fetch(w, &w->op[i], idx, linear, m, work + i * pitch, tmp, &c->filled[i]);
    for (int k = 0; k < p->n_step; k++) {
        const MsStep *s = &p->step[k];
        char *y = work + (p->n_in + s->slot) * pitch;
        if (p->n_step == 1) { /* the one output is written in place where it can be */
            const Operand *o = &w->op[p->n_in];
            if (!to && o->direct && !o->half) y = (char *)(uintptr_t)position(w, o, idx, linear);
        }
        if (to && k + p->n_in == p->out[0] && !half_of(s->dtype)) y = to;
        const void *in[3] = {reg[s->in[0]], s->n_in > 1 ? reg[s->in[1]] : NULL,
                             s->n_in > 2 ? reg[s->in[2]] : NULL};
        ok &= s->loop(m, y, in, s->p);
        if (p->n_step > 1 && half_of(s->dtype)) round_half(half_of(s->dtype), m, y, tmp);
        reg[p->n_in + k] = y;
    }
    if (to) {
        if (w->op[p->n_in].half)
            ms__loops()->to_half[w->op[p->n_in].half - 1](m, (uint16_t *)(void *)to, reg[p->out[0]]);
        return ok;
    }
    for (int j = 0; j < p->n_out; j++) store(w, &w->op[p->n_in + j], idx, linear, m, reg[p->out[j]], tmp);
    return ok;
}

/* The same by the chain. Of outputs that are not a whole number of blocks the rest is a block that is padded. */
static void run_chain(const Walk *w, const MsTileAt *c, int64_t m, char *to, double *sum)
{
    const MsProgram *p = w->p;
    const MsChainSet *set = ms__loops()->chain;
    MsSpan span[MS_MAX_TILE_OPERANDS + MS_MAX_STEPS], *made = span + p->n_in, *out = made + p->n_step;
    int64_t whole = m / set->block * set->block, rest = m - whole, pitch = w->tile * w->width;
    for (int i = 0; i < p->n_in; i++) {
        const Operand *o = &w->op[i];
        const void *at = fetch(w, o, c->idx, c->linear, m < set->block ? m : set->block, c->work + i * pitch,
                               NULL, &c->filled[i]);
        span[i] = (MsSpan){(char *)(uintptr_t)at, o->direct ? o->size : 0};
    }
    for (int k = 0; k < p->n_step; k++) made[k] = (MsSpan){c->work + (p->n_in + p->step[k].slot) * pitch, 0};
    for (int j = 0; j < p->n_out; j++) {
        const Operand *o = &w->op[p->n_in + j];
        out[j] = (MsSpan){to ? to : (char *)(uintptr_t)position(w, o, c->idx, c->linear), o->size};
    }
    if (sum) *out = (MsSpan){(char *)sum, 0};
    set->run(whole, sum ? p->sum : p->chain, span);
    if (rest == 0) return;
    for (int i = 0; i < p->n_in; i++)
        if (span[i].step != 0) {
            char *pad = c->work + i * pitch;
            memset(pad, 0, (size_t)pitch);
            memcpy(pad, span[i].at + whole * span[i].step, (size_t)(rest * span[i].step));
            span[i] = (MsSpan){pad, 0};
        }
    char *y[MS_MAX_TILE_OPERANDS];
    for (int j = 0; j < p->n_out; j++) {
        y[j] = out[j].at + whole * out[j].step;
        out[j] = made[p->out[j] - p->n_in];
    }
    set->run(set->block, p->chain, span);
    if (sum)
        ms__loops()->folds[MS_FLOAT32]->lanes[MS_FOLD_SUM](rest, sum + whole % MS_LANES, out->at);
    else
        for (int j = 0; j < p->n_out; j++) memcpy(y[j], out[j].at, (size_t)rest * sizeof(float));
}

size_t ms__tiles_room(const Walk *w)
{
    return (size_t)((w->p->n_in + w->p->n_slot + 1) * w->tile * w->width);
}

void ms__tiles_seek(const Walk *w, MsTileAt *c, int64_t begin)
{
    c->linear = begin;
    for (int k = w->n_dim - 1; k > 0; k--) {
        c->idx[k] = begin % w->dim[k];
        begin /= w->dim[k];
    }
    c->idx[0] = begin;
}

bool ms__tiles_make(const Walk *w, MsTileAt *c, int64_t n, char *to)
{
    int last = w->n_dim - 1;
    int64_t *idx = c->idx, size = w->op[w->p->n_in].size;
    bool ok = true;
    for (int64_t m; n > 0; n -= m, c->linear += m) {
        m = n < w->tile || w->chain ? n : w->tile;
        if (w->by_row && m > w->dim[last] - idx[last]) m = w->dim[last] - idx[last];
        if (w->chain)
            run_chain(w, c, m, to, NULL);
        else
            ok &= run_tile(w, c, m, to);
        if (to) to += m * size;
        idx[last] += m;
        for (int k = last; k > 0 && idx[k] >= w->dim[k]; k--) {
            idx[k - 1] += idx[k] / w->dim[k];
            idx[k] %= w->dim[k];
        }
    }
    return ok;
}

bool ms__tiles_can_sum(const Walk *w)
{
    return w->chain && w->n_dim == 1;
}

void ms__tiles_sum(const Walk *w, MsTileAt *c, int64_t n, double *acc)
{
    run_chain(w, c, n, NULL, acc);
}

static void run_range(void *ctx, int64_t begin, int64_t end)
{
    Walk *w = ctx;
    _Alignas(64) char work[ms__tiles_room(w)];
    MsFilled filled[MS_MAX_TILE_OPERANDS] = {{NULL, 0}};
    MsTileAt c = {.work = work, .filled = filled};
    ms__tiles_seek(w, &c, begin);
    if (!ms__tiles_make(w, &c, end - begin, NULL))
        atomic_store_explicit(&w->refused, true, memory_order_relaxed);
}

static MsStatus refuse(const MsOp *op)
{
    if (strcmp(op->name, "pow") == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'pow', integers to negative integer powers are not allowed.");
    return MS_FAIL(MS_ERROR_ZERO_DIVISION, "For '%s', the divisor must not be 0 for integers.", op->name);
}

/* Widest element that a buffer of the program holds; half precision is held as float32. */
static int width_of(const Walk *w)
{
    int width = 1;
    for (int i = 0; i < w->n_op; i++) {
        int size = w->op[i].half ? 4 : w->op[i].size;
        if (size > width) width = size;
    }
    for (int k = 0; k < w->p->n_step; k++) {
        int size = half_of(w->p->step[k].dtype) ? 4 : (int)ms_dtype_size((MsDtype)w->p->step[k].dtype);
        if (size > width) width = size;
    }
    return width;
}

static void release(Walk *w)
{
    for (int i = 0; i < w->n_held; i++)
        if (w->bytes[i]) ms__free(w->op[i].data, w->bytes[i]);
}

/* Not for empty outputs. The caller releases w, also after an error. */
static MsStatus prepare(Walk *w, const MsProgram *p, MsTensor *const *in, MsTensor *const *out)
{
    MsTensor *y = out[0];
    int order[MS_MAX_DIM];
    w->p = p;
    w->n_op = p->n_in + p->n_out;
    w->n_held = 0;
    w->n_dim = order_dims(y, order);
    atomic_init(&w->refused, false);
    for (int k = 0; k < w->n_dim; k++) w->dim[k] = y->shape[order[k]];
    for (int i = 0; i < w->n_op; i++)
        set_operand(&w->op[i], i < p->n_in ? in[i] : out[i - p->n_in], w->n_dim, order, y->ndim);
    if (w->n_dim == 0) {
        w->n_dim = 1;
        w->dim[0] = 1;
        for (int i = 0; i < w->n_op; i++) w->op[i].step[0] = w->op[i].size;
    } else {
        for (int i = 0; i < p->n_in; i++) {
            MS_TRY(straighten(w, &w->op[i], (MsDtype)in[i]->dtype, y->numel, &w->bytes[i]));
            w->n_held++;
        }
        collapse(w);
    }
    classify(w);
    w->width = width_of(w);
    w->tile = TILE_BYTES / ((p->n_in + p->n_slot + 1) * w->width) / 64 * 64;
    if (w->tile < 64) w->tile = 64;
    int64_t most = (fills_by_row(w) ? TILE_FILLED : TILE_MAX) / w->width;
    if (w->tile > most) w->tile = most;
    int64_t block = ms__loops()->chain->block;
    w->chain = p->chain && w->by_row && w->dim[w->n_dim - 1] >= 4 * block;
    for (int i = 0; i < w->n_op; i++) w->chain &= w->op[i].direct || (w->op[i].fixed && i < p->n_in);
    if (w->chain) w->tile = block;
    return MS_OK;
}

MsStatus ms__program_run(const MsOp *op, const MsProgram *p, MsTensor *const *in, MsTensor *const *out)
{
    Walk w;
    if (out[0]->numel == 0) return MS_OK;
    MsStatus st = prepare(&w, p, in, out);
    if (st == MS_OK) ms__parallel_pieces(out[0]->numel, GRAIN, run_range, &w);
    release(&w);
    if (st != MS_OK) return st;
    return atomic_load_explicit(&w.refused, memory_order_relaxed) ? refuse(op) : MS_OK;
}

MsTiles *ms__tiles_open(const MsProgram *p, MsTensor *const *in, MsTensor *out)
{
    Walk *w = ms__malloc(sizeof *w);
    if (!w || prepare(w, p, in, &out) == MS_OK) return w;
    ms__tiles_close(w);
    return NULL;
}

void ms__tiles_close(Walk *w)
{
    if (w) release(w);
    free(w);
}

/* ---- output layout ---- */

/* Does t cover its memory exactly, in some order of dimensions? */
static bool dense(const MsTensor *t)
{
    int order[MS_MAX_DIM];
    int n = order_dims(t, order);
    int64_t step = 1;
    for (int k = n - 1; k >= 0; k--) {
        if (t->strides[order[k]] != step) return false;
        step *= t->shape[order[k]];
    }
    return true;
}

const int64_t *ms__layout_like(const MsCall *c, int j)
{
    const MsAval *a = &c->aval[j];
    for (int i = 0; i < c->n_in; i++) {
        const MsTensor *t = c->in[i];
        if (!t || t->ndim != a->ndim || memcmp(t->shape, a->shape, (size_t)a->ndim * sizeof *a->shape) != 0)
            continue;
        if (t->contiguous) break;
        if (t->numel > 0 && dense(t)) return t->strides;
    }
    return NULL;
}

MsTensor *ms__out_like(MsCall *c, int j)
{
    return c->out[j] ? c->out[j] : ms__out_strided(c, j, ms__layout_like(c, j));
}

/* ---- operators as programs of one step ---- */

static const struct {
    const char *name;
    int row;
} rows[] = {
#define ROW_ENTRY(id) {#id, MS_ROW_##id},
#define MS_UNARY(cls, id, ...) ROW_ENTRY(id)
#define MS_PART(cls, id, ...) ROW_ENTRY(id)
#define MS_TEST(cls, id, ...) ROW_ENTRY(id)
#define MS_BINARY(cls, id, ...) ROW_ENTRY(id)
#define MS_CHECKED(cls, id, ...) ROW_ENTRY(id)
#define MS_COMPARE(cls, id, ...) ROW_ENTRY(id)
#include "op/binary.def"
#include "op/unary.def"
    ROW_ENTRY(where) ROW_ENTRY(cast)};

int ms__row_of(const MsOp *op)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].name, op->name) == 0) return rows[k].row;
    return -1;
}

bool ms__fused_has(const MsOp *op)
{
    return ms__row_of(op) >= 0;
}

MsStatus ms__step_set(MsStep *s, const MsOp *op, int row, const MsAttr *attr, const MsDtype *in, MsDtype out)
{
    MsDtype from = in[row == MS_ROW_where ? 1 : 0];
    if (row == MS_ROW_cast) {
        s->loop = ms__loop_cast(from, out);
    } else {
        s->loop = ms__loop(row, from);
        s->p[0] = attr && attr[0].kind == MS_ATTR_FLOAT ? attr[0].f : 0;
    }
    s->dtype = (int8_t)out;
    if (s->loop) return MS_OK;
    return MS_FAIL(MS_ERROR_TYPE, "For '%s', the dtype %s is not supported.", op->name, ms_dtype_name(from));
}

static MsStatus run_general(MsCall *c, int row)
{
    MsStep s = {.n_in = (int8_t)c->n_in, .in = {0, 1, 2}};
    int16_t out = (int16_t)c->n_in;
    MsProgram p = {.n_in = c->n_in, .n_out = 1, .n_step = 1, .n_slot = 1, .step = &s, .out = &out};
    MsDtype dtype[3];
    for (int i = 0; i < c->n_in; i++) dtype[i] = (MsDtype)c->in[i]->dtype;
    MS_TRY(ms__step_set(&s, c->op, row, c->attr, dtype, c->aval[0].dtype));
    MsTensor *y = ms__out_like(c, 0);
    if (!y) return ms_error()->code;
    return ms__program_run(c->op, &p, c->in, &y);
}

/* Short contiguous operands: straight to the loop. */
static MsStatus run_row(MsCall *c, int row)
{
    MsTensor *a = c->in[0], *b = c->in[c->n_in - 1];
    int64_t n = a->numel > b->numel ? a->numel : b->numel;
    uint64_t scalar[2][64];
    MsLoop loop = ms__loop(row, (MsDtype)a->dtype);
    if (n > GRAIN || !a->contiguous || !b->contiguous || half_of(a->dtype) || !loop ||
        (c->out[0] && !c->out[0]->contiguous))
        return run_general(c, row);
    const void *in[3] = {a->data, b->data};
    for (int i = 0; i < c->n_in; i++) {
        MsTensor *t = c->in[i];
        if (t->numel == n) continue;
        int64_t size = (int64_t)ms_dtype_size((MsDtype)t->dtype);
        if (t->numel != 1 || n * size > (int64_t)sizeof scalar[0]) return run_general(c, row);
        ms__move_row((size_t)size)(n, (char *)scalar[i], size, t->data, 0);
        in[i] = scalar[i];
    }
    MsTensor *y = ms__out(c, 0);
    if (!y) return ms_error()->code;
    if (y->numel != n) return run_general(c, row);
    double p = c->attr ? c->attr[0].f : 0;
    return loop(n, y->data, in, &p) ? MS_OK : refuse(c->op);
}

#define ROW_KERNEL(id)                                                                                       \
    static MsStatus run_##id(MsCall *c)                                                                      \
    {                                                                                                        \
        return run_row(c, MS_ROW_##id);                                                                      \
    }                                                                                                        \
    MS_KERNEL(id, 0, loop, NULL, run_##id);
#undef MS_UNARY
#undef MS_PART
#undef MS_TEST
#undef MS_BINARY
#undef MS_CHECKED
#undef MS_COMPARE
#define MS_UNARY(cls, id, ...) ROW_KERNEL(id)
#define MS_PART(cls, id, ...) ROW_KERNEL(id)
#define MS_TEST(cls, id, ...) ROW_KERNEL(id)
#define MS_BINARY(cls, id, ...) ROW_KERNEL(id)
#define MS_CHECKED(cls, id, ...) ROW_KERNEL(id)
#define MS_COMPARE(cls, id, ...) ROW_KERNEL(id)
#include "op/binary.def"
#include "op/unary.def"

static MsStatus run_where(MsCall *c)
{
    return run_general(c, MS_ROW_where);
}
MS_KERNEL(where, 0, loop, NULL, run_where);

static MsStatus run_cast(MsCall *c)
{
    return run_general(c, MS_ROW_cast);
}
MS_KERNEL(cast, 0, loop, NULL, run_cast);
