/* jvp.c - forward mode: a value carries its tangent. An operator's own jvp rule is used where it has one;
 * otherwise the tangent map is the transpose of the vjp rule, which is linear in the cotangent: pull the
 * tangents back through ct -> vjp(ct). So every differentiable operator has a forward mode from the day it
 * has a reverse one. */
#include "core/mem.h"
#include "op/view.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static MsStatus jvp_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                         int cap, MsTensor **out, int *n_out);
static const MsInterp jvp_interp = {"forward gradient", jvp_bind, false, true};

/* out_tangent[j] of op at primal inputs `in` with outputs `out`; NULL entries are zero. */
static MsStatus transpose_vjp(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                              MsTensor *const *tangent, int n_out, MsTensor *const *out,
                              MsTensor **out_tangent)
{
    if (!op->vjp)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED, "For '%s', the gradient is not defined.", op->name);
    MsTensor *zero[n_out + 1], *ct[n_out + 1], *grad[n_in + 1], *y[n_in + 1], *v[n_in + 1];
    bool want[n_in + 1];
    for (int j = 0; j < n_out; j++)
        if (!(zero[j] = ms__zeros_like(out[j]))) return ms_error()->code;
    for (int i = 0; i < n_in; i++) {
        grad[i] = NULL;
        want[i] = tangent[i] != NULL;
    }
    MsTrace *t = ms_vjp_begin(n_out, zero, ct, 0, NULL);
    if (!t) return ms_error()->code;
    MsVjp c = {op, attr, n_in, n_out, in, out, ct, want, grad};
    MsStatus st = op->vjp(&c);
    if (st == MS_OK && ms__failed()) st = ms_error()->code;
    int n = 0;
    for (int i = 0; i < n_in && st == MS_OK; i++) {
        if (!want[i] || !grad[i]) continue;
        y[n] = ms__fit(grad[i], in[i]);
        if (!y[n]) st = ms_error()->code;
        v[n++] = tangent[i];
    }
    if (st == MS_OK) st = ms_vjp_grad(t, n, y, v, out_tangent);
    MsStatus end = ms_vjp_end(t);
    return st != MS_OK ? st : end;
}

static MsStatus tangents(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                         MsTensor *const *primal, int n_out, MsTensor **out)
{
    MsTensor *tangent[n_in + 1], *out_tangent[n_out + 1];
    bool any = false, want[n_in + 1];
    for (int i = 0; i < n_in; i++) {
        tangent[i] = in[i] && in[i]->trace == t ? in[i]->tv.other : NULL;
        want[i] = tangent[i] != NULL;
        any |= want[i];
    }
    for (int j = 0; j < n_out; j++) out_tangent[j] = NULL;
    if (any && op->jvp) {
        MsVjp c = {op, attr, n_in, n_out, primal, out, NULL, want, NULL};
        MS_TRY(op->jvp(&c, tangent, out_tangent));
        if (ms__failed()) return ms_error()->code;
    } else if (any) {
        MS_TRY(transpose_vjp(op, attr, n_in, primal, tangent, n_out, out, out_tangent));
    }
    for (int j = 0; j < n_out; j++) {
        MsAval a = ms__aval(out[j]);
        out[j] = ms__tensor_traced(t, &a, out[j], out_tangent[j], 0);
        if (!out[j]) return ms_error()->code;
    }
    return MS_OK;
}

extern const MsOp ms_op_call;

static MsStatus jvp_bind(MsTrace *t, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in,
                         int cap, MsTensor **out, int *n_out)
{
    bool own = false;
    MsTensor **primal = ms__malloc((size_t)(n_in + 1) * sizeof *primal);
    if (!primal) return MS_ERROR_MEMORY;
    for (int i = 0; i < n_in; i++) {
        bool mine = in[i] && in[i]->trace == t;
        own |= mine && !t->paused;
        primal[i] = mine ? in[i]->tv.value : in[i];
    }
    MsStatus st = MS_OK;
    bool done = false;
    if (own && (op->flags & MS_OP_CONTROL)) {
        if (op == &ms_op_call) {
            st = ms__graph_replay(attr[0].g, in, out);
            *n_out = attr[0].g->n_out;
            done = true;
        } else {
            st = ms__control_expand(op, attr, n_in, in, out, n_out, &done);
        }
    }
    if (st == MS_OK && !done) {
        st = ms_bind(op, attr, n_in, primal, cap, out, n_out);
        if (st == MS_OK && own && !(op->flags & MS_OP_NO_GRAD))
            st = tangents(t, op, attr, n_in, in, primal, *n_out, out);
    }
    free(primal);
    return st;
}

MsTrace *ms_jvp_begin(int n_in, MsTensor *const *in, MsTensor *const *v, MsTensor **x)
{
    for (int i = 0; i < n_in; i++) {
        if (!in[i]) return NULL;
        if (v[i] && (v[i]->ndim != in[i]->ndim ||
                     memcmp(v[i]->shape, in[i]->shape, (size_t)in[i]->ndim * sizeof in[i]->shape[0]) != 0))
            return MS_FAIL_NULL(
                MS_ERROR_VALUE, "For 'jvp', tangent %d must have the shape of its input %s, but got %s.", i,
                ms__shape_text(in[i]->ndim, in[i]->shape), ms__shape_text(v[i]->ndim, v[i]->shape));
    }
    MsTrace *t = ms__trace_new(&jvp_interp);
    if (!t) return NULL;
    for (int i = 0; i < n_in; i++) {
        MsTensor *value = ms__lift(t->below, in[i]), *tangent = NULL;
        if (value && v[i]) {
            MsTrace *saved = ms__trace_suspend(t);
            tangent = v[i]->dtype == value->dtype ? v[i] : ms_cast(v[i], (MsDtype)value->dtype);
            ms__trace_resume(saved);
        }
        MsAval a = ms__aval(in[i]);
        x[i] = value && (tangent || !v[i]) ? ms__tensor_traced(t, &a, value, tangent, 0) : NULL;
        if (!x[i]) {
            ms__trace_close(t);
            return NULL;
        }
    }
    return t;
}

MsStatus ms_jvp_value(MsTrace *t, MsTensor *y, MsTensor **value, MsTensor **tangent)
{
    MsTensor *v = y ? ms__lift(t, y) : NULL;
    if (!v) return ms_error()->code;
    bool mine = v->trace == t;
    *value = ms__scope_own(ms_tensor_ref(mine ? v->tv.value : v));
    if (mine && v->tv.other) {
        *tangent = ms__scope_own(ms_tensor_ref(v->tv.other));
    } else {
        MsTrace *saved = ms__trace_suspend(t);
        *tangent = ms__zeros_like(*value);
        ms__trace_resume(saved);
    }
    return *value && *tangent ? MS_OK : ms_error()->code;
}

static MsTensor *lower(MsTrace *t, MsTensor *y)
{
    return y->trace == t ? y->tv.value : y;
}

MsStatus ms_jvp_end(MsTrace *t)
{
    MsStatus st = ms__failed() ? MS_OK : ms__env_flush(t, lower);
    ms__trace_close(t);
    return st;
}
