/* fused.c - the operators that the fusion pass makes: a straight-line program of elementwise operators,
 *
 *     %2=mul %0 %1; %3=elu(1.0) %2; %4=cast(float16) %3; out %3 %4
 *
 * over its inputs %0, %1, ..., which broadcast to one shape that all outputs have. Its rules come from those
 * of the steps: types by their shape rules, gradients by applying them one by one and differentiating that.
 * So a fused graph can be differentiated and batched like any other. Programs are parsed once and found again
 * by the address of their text. `fused_reduce` reduces the one output of its program, which is not stored. */
#include "op/fused.h"

#include "core/mem.h"
#include "mindspore_ops.h"
#include "trace/trace.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define N_BUCKET 1024

static _Atomic(MsFused *) bucket[N_BUCKET]; /* lists only grow, at the front */

bool ms__fused_may_raise(const MsOp *op, MsDtype dtype)
{
    static const char *const names[] = {"floor_div", "mod", "fmod", "pow", "left_shift", "right_shift"};
    if (!ms_dtype_is_int(dtype) && dtype != MS_BOOL) return false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], op->name) == 0) return true;
    return false;
}

/* ---- parsing ---- */

static void skip(const char **at)
{
    while (**at == ' ') (*at)++;
}

static bool parse_register(const char **at, int below, int *reg)
{
    char *end;
    skip(at);
    if (**at != '%' || !isdigit((unsigned char)(*at)[1])) return false;
    long v = strtol(*at + 1, &end, 10);
    if (v >= below) return false;
    *reg = (int)v;
    *at = end;
    return true;
}

static bool parse_attr(const char **at, const MsSig *s, MsAttr *a)
{
    if (**at != '(') return true;
    if (s->n_attr != 1) return false;
    (*at)++;
    a->kind = s->attr[0].kind;
    const char *end = strchr(*at, ')');
    if (a->kind == MS_ATTR_DTYPE && end) {
        size_t n = (size_t)(end - *at);
        a->i = MS_DTYPE_NONE;
        for (int d = 0; d < MS_DTYPE_COUNT; d++)
            if (strlen(ms_dtype_name((MsDtype)d)) == n && strncmp(ms_dtype_name((MsDtype)d), *at, n) == 0)
                a->i = d;
        if (a->i == MS_DTYPE_NONE) return false;
    } else if (a->kind == MS_ATTR_FLOAT && strncmp(*at, "nan(", 4) == 0) { /* nan(0x...): its bits */
        char *after;
        uint64_t bits = strtoull(*at + 4, &after, 16);
        memcpy(&a->f, &bits, sizeof bits);
        end = *after == ')' ? after + 1 : after;
    } else if (a->kind == MS_ATTR_FLOAT) {
        char *after;
        a->f = strtod(*at, &after);
        end = after;
    } else {
        return false;
    }
    if (*end != ')') return false;
    *at = end + 1;
    return true;
}

static bool parse_step(const char **at, MsFused *f)
{
    char name[32];
    int reg;
    if (f->n_step == MS_FUSED_STEPS) return false;
    MsFusedStep *step = &f->step[f->n_step];
    if (!parse_register(at, MS_FUSED_OPERANDS + MS_FUSED_STEPS, &reg)) return false;
    if (f->n_step == 0) f->n_in = reg;
    if (reg != f->n_in + f->n_step || f->n_in > MS_FUSED_OPERANDS || **at != '=') return false;
    size_t n = strspn(++*at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (n >= sizeof name) return false;
    memcpy(name, *at, n);
    name[n] = 0;
    *at += n;
    step->op = ms__op_find(name);
    const MsSig *s = step->op ? ms__sig(step->op) : NULL;
    if (!s || !ms__fused_has(step->op) || s->n_out != 1 || s->n_in > 3) return false;
    if (!parse_attr(at, s, &step->attr)) return false;
    while (parse_register(at, reg, &reg)) {
        if (step->n_in == 3) return false;
        step->in[step->n_in++] = (int16_t)reg;
        reg = f->n_in + f->n_step;
    }
    if (step->n_in != s->n_in) return false;
    f->n_step++;
    skip(at);
    return *(*at)++ == ';';
}

static bool parse(MsFused *f)
{
    const char *at = f->text;
    int reg;
    for (skip(&at); *at == '%'; skip(&at))
        if (!parse_step(&at, f)) return false;
    if (f->n_step == 0 || strncmp(at, "out", 3) != 0) return false;
    at += 3;
    while (parse_register(&at, f->n_in + f->n_step, &reg)) {
        if (f->n_out + f->n_in == MS_FUSED_OPERANDS || reg < f->n_in) return false;
        f->out[f->n_out++] = (int16_t)reg;
    }
    skip(&at);
    return *at == 0 && f->n_out > 0;
}

static MsFused *find(MsFused *f, const char *text)
{
    while (f && f->text != text) f = f->next;
    return f;
}

MsFused *ms__fused(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    _Atomic(MsFused *) *list = &bucket[((uintptr_t)text >> 4) % N_BUCKET];
    MsFused *f = find(atomic_load_explicit(list, memory_order_acquire), text);
    if (f) return f;
    pthread_mutex_lock(&lock);
    f = find(atomic_load(list), text);
    if (!f && (f = ms__calloc(1, sizeof *f))) {
        f->text = text;
        if (parse(f)) {
            f->next = atomic_load(list);
            atomic_store_explicit(list, f, memory_order_release);
        } else {
            free(f);
            f = NULL;
            MS_FAIL(MS_ERROR_VALUE, "For 'fused', the program is malformed: %s", text);
        }
    }
    pthread_mutex_unlock(&lock);
    return f;
}

/* ---- rules ---- */

MsStatus ms__fused_dtypes(const MsFused *f, MsDtype *reg)
{
    for (int k = 0; k < f->n_step; k++) {
        const MsFusedStep *s = &f->step[k];
        MsAval in[3] = {{0}}, out;
        int n_out;
        for (int i = 0; i < s->n_in; i++) in[i].dtype = reg[s->in[i]];
        MS_TRY(ms__infer(s->op, &s->attr, s->n_in, in, 1, &out, &n_out));
        reg[f->n_in + k] = out.dtype;
    }
    return MS_OK;
}

static MsStatus program_of(const MsOp *op, const MsAttr *attr, int n_in, MsFused **f)
{
    *f = attr[0].kind == MS_ATTR_STR ? ms__fused(attr[0].s) : NULL;
    if (!*f)
        return ms__failed() ? ms_error()->code
                            : MS_FAIL(MS_ERROR_VALUE, "For 'fused', the program is missing.");
    if ((*f)->n_in == n_in) return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', the program takes %d inputs, but got %d.", op->name, (*f)->n_in,
                   n_in);
}

static MsStatus infer_fused(MsInfer *c)
{
    MsFused *f;
    MsDtype reg[MS_FUSED_OPERANDS + MS_FUSED_STEPS];
    MS_TRY(program_of(c->op, c->attr, c->n_in, &f));
    if (f->n_out > c->cap)
        return MS_FAIL(MS_ERROR_RUNTIME, "For 'fused', there are %d outputs, but room for %d.", f->n_out,
                       c->cap);
    MsAval shape = c->in[0];
    for (int i = 0; i < c->n_in; i++) {
        reg[i] = c->in[i].dtype;
        MS_TRY(ms__broadcast(c->op, &shape, &c->in[i], &shape));
    }
    MS_TRY(ms__fused_dtypes(f, reg));
    for (int j = 0; j < f->n_out; j++) {
        c->out[j] = shape;
        c->out[j].dtype = reg[f->out[j]];
    }
    c->n_out = f->n_out;
    return MS_OK;
}

/* Applies the steps one by one. */
static MsStatus replay(const MsFused *f, MsTensor *const *in, MsTensor **out)
{
    MsTensor *reg[MS_FUSED_OPERANDS + MS_FUSED_STEPS];
    memcpy(reg, in, (size_t)f->n_in * sizeof *reg);
    for (int k = 0; k < f->n_step; k++) {
        const MsFusedStep *s = &f->step[k];
        MsTensor *x[3] = {NULL};
        for (int i = 0; i < s->n_in; i++) x[i] = reg[s->in[i]];
        reg[f->n_in + k] = ms_bind1(s->op, &s->attr, s->n_in, x);
        if (!reg[f->n_in + k]) return ms_error()->code;
    }
    for (int j = 0; j < f->n_out; j++) out[j] = reg[f->out[j]];
    return MS_OK;
}

static MsStatus vjp_fused(MsVjp *c)
{
    MsFused *f;
    MsTensor *x[MS_FUSED_OPERANDS], *y[MS_FUSED_OPERANDS], *ct[MS_FUSED_OPERANDS];
    MS_TRY(program_of(c->op, c->attr, c->n_in, &f));
    MsTrace *t = ms_vjp_begin(c->n_in, c->in, x, 0, NULL);
    if (!t) return ms_error()->code;
    MsStatus st = replay(f, x, y);
    int n = 0;
    for (int j = 0; j < f->n_out && st == MS_OK; j++) {
        if (!c->ct[j]) continue; /* nothing flows */
        ct[n] = c->ct[j];
        y[n] = ms_broadcast_to(y[j], (MsInts){c->out[j]->ndim, c->out[j]->shape});
        if (!y[n++]) st = ms_error()->code;
    }
    if (st == MS_OK) st = ms_vjp_grad(t, n, y, ct, c->grad);
    MsStatus end = ms_vjp_end(t);
    return st == MS_OK ? end : st;
}

MS_OP(fused, .sig = "fused(xs: any[], *, program: str) -> _[]", .infer = infer_fused, .vjp = vjp_fused,
      .flags = MS_OP_ELEMENTWISE,
      .sample =
          "f32[3,4] f32[4] program=%2=mul~%0~%1|~%3=sigmoid~%2|~out~%3; f32[2,3] f32[3] f32[] "
          "program=%3=add~%0~%1|~%4=mul~%3~%2|~%5=tanh~%4|~out~%4~%5; bf16[5] program=%1=exp~%0|~out~%1");

/* ---- a program whose result is reduced ---- */

#define SHORT_RUN 128 /* values of a run at least */
#define SMALL 4096    /* values at least */

static const MsOp *reduction(const char *name)
{
    static const char *const names[] = {"sum",        "prod",       "mean",      "reduce_max",
                                        "reduce_min", "reduce_any", "reduce_all"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], name) == 0) return ms__op_find(name);
    return NULL;
}

bool ms__fused_reduces(const MsOp *op, const MsAttr *axis, const MsAval *x)
{
    uint32_t mask;
    int64_t run = 1, n = 1;
    if (!reduction(op->name) || ms_dtype_is_complex(x->dtype)) return false;
    if (ms__axes(op, axis, x->ndim, &mask) != MS_OK) return false;
    for (int d = 0; d < x->ndim; d++) n *= x->shape[d];
    for (int d = x->ndim - 1, inner = -1; d >= 0; d--) {
        if (x->shape[d] == 1) continue;
        int reduced = mask >> d & 1;
        if (inner >= 0 && reduced != inner) break;
        inner = reduced;
        run *= x->shape[d];
    }
    return run >= SHORT_RUN && n >= SMALL;
}

static MsStatus infer_fused_reduce(MsInfer *c)
{
    const MsOp *op = c->attr[1].kind == MS_ATTR_STR ? reduction(c->attr[1].s) : NULL;
    MsAval x[MS_MAX_OUT];
    MsInfer values = *c;
    int n_out;
    if (!op) return MS_FAIL(MS_ERROR_VALUE, "For 'fused_reduce', the reduction is missing or unknown.");
    values.out = x;
    values.cap = 1;
    MS_TRY(infer_fused(&values));
    return ms__infer(op, c->attr + 2, 1, x, 1, c->out, &n_out);
}

/* The program's steps one by one, then the reduction, differentiated. */
static MsStatus vjp_fused_reduce(MsVjp *c)
{
    MsFused *f;
    MsTensor *x[MS_FUSED_OPERANDS], *y, *ct = c->ct[0];
    MsAval shape = ms__aval(c->in[0]), next;
    MS_TRY(program_of(c->op, c->attr, c->n_in, &f));
    for (int i = 1; i < c->n_in; i++) {
        next = ms__aval(c->in[i]);
        MS_TRY(ms__broadcast(c->op, &shape, &next, &shape));
    }
    MsTrace *t = ms_vjp_begin(c->n_in, c->in, x, 0, NULL);
    if (!t) return ms_error()->code;
    MsStatus st = replay(f, x, &y);
    if (st == MS_OK) y = ms_broadcast_to(y, (MsInts){shape.ndim, shape.shape});
    if (st == MS_OK) y = ms_bind1(reduction(c->attr[1].s), c->attr + 2, 1, &y);
    if (st == MS_OK) st = y ? ms_vjp_grad(t, 1, &y, &ct, c->grad) : ms_error()->code;
    MsStatus end = ms_vjp_end(t);
    return st == MS_OK ? end : st;
}

MS_OP(fused_reduce,
      .sig = "fused_reduce(xs: any[], *, program: str, reduce: str, axis: ints, keepdims: bool) -> _",
      .infer = infer_fused_reduce, .vjp = vjp_fused_reduce,
      .sample = "f32[3,4] f32[4] program=%2=mul~%0~%1|~%3=sigmoid~%2|~out~%3 reduce=sum axis=1; "
                "f32[2,3] f32[3] program=%2=add~%0~%1|~%3=tanh~%2|~out~%3 reduce=mean; "
                "f64[4,150] f64[4,1] program=%2=sub~%0~%1|~%3=square~%2|~out~%3 reduce=sum axis=0 keepdims; "
                "bf16[9,40] program=%1=exp~%0|~out~%1 reduce=reduce_max axis=0");
