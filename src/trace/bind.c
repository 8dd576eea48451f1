/* bind.c - the intercept point and the interpreter stack. Invariant: an interpreter runs with the stack
 * lowered to the level under it, so that whatever it binds is interpreted by the others. */
#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>

static _Thread_local MsTrace *top;
static _Thread_local MsDtype half = MS_DTYPE_NONE; /* not NONE: autocast is on */

MsTrace *ms__trace_enter(MsTrace *t)
{
    MsTrace *was = top;
    top = t;
    return was;
}

MsTrace *ms__trace_top(void)
{
    return top;
}

void ms__trace_count(MsTrace *t, int delta)
{
    if (atomic_fetch_add_explicit(&t->ref, delta, memory_order_acq_rel) + delta == 0) free(t);
}

MsTrace *ms__trace_new(const MsInterp *interp)
{
    if (top && top->level >= 256)
        return MS_FAIL_NULL(MS_ERROR_RUNTIME, "Transformations are nested more than 256 deep.");
    MsTrace *t = ms__calloc(1, sizeof *t);
    if (!t) return NULL;
    t->ref = 1;
    t->interp = interp;
    t->below = top;
    t->level = top ? top->level + 1 : 1;
    top = t;
    return t;
}

void ms__trace_leave(MsTrace *t)
{
    for (MsTrace *s = top; s; s = s->below)
        if (s == t) {
            top = t->below;
            break;
        }
    for (int e = 0; e < t->n_env; e++) {
        if (t->env[e].storage) t->env[e].storage->n_env--;
        ms_tensor_unref(t->env[e].root);
        ms_tensor_unref(t->env[e].value);
    }
    free(t->env);
    t->env = NULL;
    t->n_env = t->cap_env = 0;
    t->closed = true;
}

void ms__trace_pause(int delta)
{
    for (MsTrace *s = top; s; s = s->below)
        if (s->interp->follows) s->paused += delta;
}

bool ms__trace_follows(void)
{
    for (MsTrace *s = top; s; s = s->below)
        if (s->interp->follows ? !s->paused : s->interp->binds_all) return true;
    return false;
}

void ms__trace_close(MsTrace *t)
{
    ms__trace_leave(t);
    for (int k = 0; t->graph && k < t->graph->n_val; k++)
        if (t->vals && k < t->cap_vals) ms_tensor_unref(t->vals[k]);
    free(t->vals);
    ms_graph_unref(t->graph);
    t->vals = NULL;
    t->graph = NULL;
    ms__trace_count(t, -1);
}

MsTrace *ms__trace_suspend(MsTrace *t)
{
    MsTrace *saved = top;
    if (!t->closed) top = t->below;
    return saved;
}

void ms__trace_resume(MsTrace *saved)
{
    top = saved;
}

/* The interpreter that takes a call: highest level among the inputs' traces, stagings (which take everything)
 * and traces whose environment holds an input. */
static MsTrace *taker(int n_in, MsTensor *const *in)
{
    MsTrace *best = NULL;
    for (int i = 0; i < n_in; i++)
        if (in[i] && in[i]->trace && !in[i]->trace->closed && (!best || in[i]->trace->level > best->level))
            best = in[i]->trace;
    for (MsTrace *s = top; s && (!best || s->level > best->level); s = s->below) {
        if (s->interp->binds_all) return s;
        for (int i = 0; s->n_env && i < n_in; i++)
            if (in[i] && ms__env_find(s, in[i])) return s;
    }
    return best;
}

/* An absent input is an error of an earlier call unless the signature allows it. */
static bool missing(const MsOp *op, int n_in, MsTensor *const *in)
{
    for (int i = 0; i < n_in; i++)
        if (!in[i]) {
            const MsSig *s = ms__sig(op);
            if (ms__failed() || !s) return true;
            const MsSigInput *si = &s->in[i < s->n_in ? i : s->n_in - 1];
            if (!si->optional) {
                MS_FAIL(MS_ERROR_TYPE, "For '%s', the input '%s' is missing.", op->name, si->name);
                return true;
            }
        }
    return false;
}

static bool any_traced(int n_in, MsTensor *const *in)
{
    for (int i = 0; i < n_in; i++)
        if (in[i] && in[i]->trace) return true;
    return false;
}

MsDtype ms__autocast(void)
{
    return half;
}

void ms__set_autocast(MsDtype dtype)
{
    half = dtype;
}

MsStatus ms_bind(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap, MsTensor **out,
                 int *n_out)
{
    if (__builtin_expect(missing(op, n_in, in), 0)) return ms_error()->code;
    MsTensor *cast[12];
    if (__builtin_expect(half != MS_DTYPE_NONE, 0) && n_in <= 12) {
        MS_TRY(ms__autocast_inputs(op, half, n_in, in, cast));
        in = cast;
    }
    if (__builtin_expect(!top, 1) && !any_traced(n_in, in))
        return ms__eval(op, attr, n_in, in, cap, out, n_out);
    MsTrace *t = taker(n_in, in);
    MsTensor *few[12], **lifted = few;
    if (n_in > 12) {
        lifted = ms__malloc((size_t)n_in * sizeof *lifted);
        if (!lifted) return MS_ERROR_MEMORY;
    }
    MsStatus st = MS_OK;
    for (int i = 0; i < n_in && st == MS_OK; i++) {
        lifted[i] = in[i] ? ms__lift(t, in[i]) : NULL;
        if (in[i] && !lifted[i]) st = ms_error()->code;
    }
    if (st == MS_OK && !t) {
        MsTrace *saved = top;
        if (op->flags & MS_OP_CONTROL) top = NULL; /* what no interpreter takes, none sees the inside of */
        st = ms__eval(op, attr, n_in, lifted, cap, out, n_out);
        top = saved;
    } else if (st == MS_OK) {
        MsTrace *saved = top;
        top = t->below;
        st = t->interp->bind(t, op, attr, n_in, lifted, cap, out, n_out);
        top = saved;
    }
    if (lifted != few) free(lifted);
    if (st == MS_OK && (op->flags & MS_OP_VIEW) && out[0]->trace) st = ms__alias(out[0], op, attr, in[0]);
    return st;
}

MsTensor *ms_bind1(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in)
{
    MsTensor *out[1] = {NULL};
    int n;
    return ms_bind(op, attr, n_in, in, 1, out, &n) == MS_OK ? out[0] : NULL;
}
