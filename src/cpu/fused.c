/* fused.c - runs fused programs, also those whose result is reduced as it comes: the steps' loops over tiles (cpu/elementwise.c). A program is compiled once
 * per combination of input dtypes: rows are looked up, and results that live at different times share a
 * buffer, which keeps tiles long. */
#include "op/fused.h"

#include "core/mem.h"
#include "cpu/reduce.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct MsFusedCode {
    struct MsFusedCode *next;
    MsDtype in[MS_FUSED_OPERANDS];
    const MsLoopSet *set; /* whose loops these are */
    MsProgram program;
    MsStep step[MS_FUSED_STEPS];
    MsCell cell[]; /* of the chain, then the same with a sum at the end */
} MsFusedCode;

/* Buffers: a result keeps its own until its last use; outputs to the end. */
static int assign_slots(const MsFused *f, MsStep *step)
{
    int last[MS_FUSED_STEPS], n_slot = 0;
    bool busy[MS_FUSED_STEPS] = {false};
    for (int k = 0; k < f->n_step; k++) {
        last[k] = k;
        for (int i = 0; i < f->step[k].n_in; i++)
            if (f->step[k].in[i] >= f->n_in) last[f->step[k].in[i] - f->n_in] = k;
    }
    for (int j = 0; j < f->n_out; j++) last[f->out[j] - f->n_in] = f->n_step;
    for (int k = 0; k < f->n_step; k++) {
        int slot = 0;
        while (busy[slot]) slot++;
        busy[slot] = true;
        step[k].slot = (int16_t)slot;
        if (slot == n_slot) n_slot++;
        for (int l = 0; l <= k; l++)
            if (last[l] == k) busy[step[l].slot] = false;
    }
    return n_slot;
}

/* Whether step k reads register r from memory: the registers of the processor hold the result of the step before. */
static bool reads(const MsFused *f, int k, int r)
{
    const MsFusedStep *s = &f->step[k];
    int n = 0;
    for (int i = 0; i < s->n_in; i++) n += s->in[i] == r;
    return n > (r == f->n_in + k - 1);
}

/* A load, a row and a store a step. */
static int most_cells(const MsFused *f)
{
    return 3 * f->n_step + 2 * f->n_out + 1;
}

/* Writes the cells of f, whose outputs `last` takes; false: f has steps that are no cells. Outputs are stored at the end:
 * an output may be an input. */
static bool chain_of(const MsFused *f, const MsDtype *reg, MsCellRun last, MsCell *to)
{
    const MsChainSet *set = ms__loops()->chain;
    int held = -1;
    for (int k = 0; k < f->n_step; k++) {
        const MsFusedStep *s = &f->step[k];
        int row = ms__row_of(s->op), y = f->n_in + k, first = s->in[0], second = s->in[s->n_in - 1];
        bool back = s->n_in == 2 && second == held && first != held, stored = false;
        if (row >= MS_N_ROWS || !set->row[row][0] || reg[y] != MS_FLOAT32 || reg[first] != MS_FLOAT32)
            return false;
        if (held != first && !back) *to++ = (MsCell){set->load, first};
        *to++ = (MsCell){set->row[row][back], back ? first : second};
        held = y;
        for (int l = k + 1; l < f->n_step; l++) stored |= reads(f, l, y);
        for (int j = 0; j < f->n_out; j++) stored |= f->out[j] == y && (j > 0 || k < f->n_step - 1);
        if (stored) *to++ = (MsCell){set->store, y};
    }
    for (int j = 0; j < f->n_out; j++) {
        if (held != f->out[j]) *to++ = (MsCell){set->load, f->out[j]};
        held = f->out[j];
        *to++ = (MsCell){last, f->n_in + f->n_step + j};
    }
    *to = (MsCell){set->end, 0};
    return true;
}

static MsStatus compile(const MsFused *f, MsFusedCode *code)
{
    MsDtype reg[MS_FUSED_OPERANDS + MS_FUSED_STEPS];
    memcpy(reg, code->in, sizeof code->in);
    MS_TRY(ms__fused_dtypes(f, reg));
    for (int k = 0; k < f->n_step; k++) {
        const MsFusedStep *s = &f->step[k];
        MsStep *to = &code->step[k];
        MsDtype in[3];
        int row = ms__row_of(s->op);
        if (row < 0)
            return MS_FAIL(MS_ERROR_VALUE, "For 'fused', '%s' cannot be part of a program.", s->op->name);
        for (int i = 0; i < s->n_in; i++) in[i] = reg[s->in[i]];
        MS_TRY(ms__step_set(to, s->op, row, &s->attr, in, reg[f->n_in + k]));
        memcpy(to->in, s->in, sizeof to->in);
        to->n_in = s->n_in;
    }
    int n_slot = assign_slots(f, code->step);
    code->program = (MsProgram){.n_in = f->n_in,
                                .n_out = f->n_out,
                                .n_step = f->n_step,
                                .n_slot = n_slot,
                                .step = code->step,
                                .out = (int16_t *)f->out};
    MsCell *sum = code->cell + most_cells(f);
    if (chain_of(f, reg, ms__loops()->chain->store, code->cell)) code->program.chain = code->cell;
    if (f->n_out == 1 && chain_of(f, reg, ms__loops()->chain->sum, sum)) code->program.sum = sum;
    return MS_OK;
}

static MsFusedCode *code_for(MsFused *f, MsTensor *const *in)
{
    MsFusedCode *first = atomic_load_explicit(&f->code, memory_order_acquire);
    for (MsFusedCode *c = first; c; c = c->next) {
        bool same = c->set == ms__loops();
        for (int i = 0; i < f->n_in && same; i++) same = c->in[i] == in[i]->dtype;
        if (same) return c;
    }
    MsFusedCode *c = ms__calloc(1, sizeof *c + 2 * (size_t)most_cells(f) * sizeof *c->cell);
    if (!c) return NULL;
    c->set = ms__loops();
    for (int i = 0; i < f->n_in; i++) c->in[i] = (MsDtype)in[i]->dtype;
    if (compile(f, c) != MS_OK) {
        free(c);
        return NULL;
    }
    c->next = first; /* two threads may compile the same; the list has it twice then */
    while (!atomic_compare_exchange_weak(&f->code, &c->next, c)) {
    }
    return c;
}

static MsStatus run_fused(MsCall *c)
{
    MsFused *f = ms__fused(c->attr[0].s);
    MsFusedCode *code = f ? code_for(f, c->in) : NULL;
    if (!code) return ms_error()->code;
    for (int j = 0; j < c->n_out; j++)
        if (!ms__out_like(c, j)) return ms_error()->code;
    return ms__program_run(c->op, &code->program, c->in, c->out);
}
MS_KERNEL(fused, 0, tiles, NULL, run_fused);

/* The shape, dtype and layout that the program's result would have. */
static MsStatus result_of(const MsCall *c, MsFused *f, MsAval *a, MsTensor *x)
{
    MsDtype reg[MS_FUSED_OPERANDS + MS_FUSED_STEPS];
    MsCall made = *c;
    *a = ms__aval(c->in[0]);
    for (int i = 0; i < c->n_in; i++) {
        MsAval in = ms__aval(c->in[i]);
        reg[i] = in.dtype;
        MS_TRY(ms__broadcast(c->op, a, &in, a));
    }
    MS_TRY(ms__fused_dtypes(f, reg));
    a->dtype = reg[f->out[0]];
    made.aval = a;
    const int64_t *strides = ms__layout_like(&made, 0);
    *x = (MsTensor){.dtype = (int8_t)a->dtype, .ndim = (int8_t)a->ndim, .numel = 1};
    memcpy(x->shape, a->shape, (size_t)a->ndim * sizeof *a->shape);
    if (strides)
        memcpy(x->strides, strides, (size_t)a->ndim * sizeof *strides);
    else
        ms__row_major(a->ndim, a->shape, x->strides);
    for (int d = 0; d < a->ndim; d++) x->numel *= a->shape[d];
    return MS_OK;
}

static MsStatus run_fused_reduce(MsCall *c)
{
    MsFused *f = ms__fused(c->attr[0].s);
    MsFusedCode *code = f ? code_for(f, c->in) : NULL;
    MsTensor x, *y = code ? ms__out(c, 0) : NULL;
    MsTiles *made = NULL;
    MsAval a;
    uint32_t mask;
    if (!y) return ms_error()->code;
    MS_TRY(result_of(c, f, &a, &x));
    MS_TRY(ms__axes(c->op, &c->attr[2], x.ndim, &mask));
    x.data = y->data;
    if (x.numel > 0 && !(made = ms__tiles_open(&code->program, c->in, &x))) return ms_error()->code;
    MsStatus st = ms__reduce_made(&x, made, c->attr[1].s, mask, y);
    ms__tiles_close(made);
    return st;
}
MS_KERNEL(fused_reduce, 0, tiles, NULL, run_fused_reduce);
