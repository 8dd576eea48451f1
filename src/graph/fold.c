/* fold.c - computes what depends on constants only, with the same kernels that would run. A result with one
 * value in all elements becomes `full` or `full_int` when that reproduces its bits; other results stay nodes,
 * which the executor computes once and keeps, so there is no constant node that carries data. An error in
 * constant code (say a division by zero) is left for the run, where it belongs. */
#include "core/mem.h"
#include "graph/match.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NUMEL 65536

static bool pure(const MsNode *n)
{
    return !(n->op->flags & (MS_OP_NO_FOLD | MS_OP_EFFECT | MS_OP_CONTROL)) && n->n_out == 1;
}

static int64_t numel(const MsAval *a)
{
    return ms__numel(a->ndim, a->shape);
}

/* All inputs are nodes without inputs, and nothing is large. A view of a constant costs nothing: left alone
 * unless it is no larger than what it shows. */
static bool foldable(const MsRebuild *r, const MsNode *n)
{
    if (!pure(n) || n->n_in == 0 || n->n_in > 8) return false;
    int64_t most = 0, out = numel(&r->from->val[n->out]);
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        const MsNode *def = ms__def(r->to, r->map[n->in[i]]);
        if (!def || def->n_in || !pure(def)) return false;
        int64_t m = numel(&r->to->val[def->out]);
        if (m > most) most = m;
    }
    return most <= MAX_NUMEL && out <= MAX_NUMEL && !(n->op->flags & MS_OP_VIEW && out > most);
}

/* The value of a node of `to` that has no inputs. */
static MsTensor *evaluate(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in)
{
    MsTensor *out = NULL;
    int n_out = 0;
    bool done = ms__eval(op, attr, n_in, in, 1, &out, &n_out) == MS_OK && ms__ready(out) == MS_OK;
    return done ? out : NULL;
}

/* The first element as attribute of full (floats) or full_int; false for types that neither can say. */
static bool first_element(const MsTensor *t, MsAttr *value)
{
    value->kind = MS_ATTR_INT;
    switch (t->dtype) {
    case MS_BOOL: value->i = *(const bool *)t->data; return true;
    case MS_INT8: value->i = *(const int8_t *)t->data; return true;
    case MS_INT16: value->i = *(const int16_t *)t->data; return true;
    case MS_INT32: value->i = *(const int32_t *)t->data; return true;
    case MS_INT64:
    case MS_UINT64: value->i = *(const int64_t *)t->data; return true;
    case MS_UINT8: value->i = *(const uint8_t *)t->data; return true;
    case MS_UINT16: value->i = *(const uint16_t *)t->data; return true;
    case MS_UINT32: value->i = *(const uint32_t *)t->data; return true;
    case MS_FLOAT32: value->kind = MS_ATTR_FLOAT, value->f = (double)*(const float *)t->data; return true;
    case MS_FLOAT64: value->kind = MS_ATTR_FLOAT, value->f = *(const double *)t->data; return true;
    default: return false;
    }
}

static bool same_bits(const MsTensor *a, const MsTensor *b)
{
    size_t size = ms_dtype_size((MsDtype)a->dtype);
    for (int64_t k = 0; k < a->numel; k++) {
        int64_t rest = k, x = 0, y = 0;
        for (int d = a->ndim - 1; d >= 0; d--) {
            x += rest % a->shape[d] * a->strides[d];
            y += rest % a->shape[d] * b->strides[d];
            rest /= a->shape[d];
        }
        if (memcmp(a->data + x * (int64_t)size, b->data + y * (int64_t)size, size) != 0) return false;
    }
    return true;
}

/* The full or full_int that gives t to the bit: fills attr. */
static const MsOp *as_full(const MsTensor *t, MsAttr *attr)
{
    if (t->numel == 0 || !first_element(t, &attr[1])) return NULL;
    const MsOp *op = ms__op_find(attr[1].kind == MS_ATTR_FLOAT ? "full" : "full_int");
    if (!op) return NULL;
    attr[0].kind = MS_ATTR_INTS;
    attr[0].n = (uint8_t)t->ndim;
    memcpy(attr[0].v, t->shape, sizeof t->shape);
    attr[2].kind = MS_ATTR_DTYPE;
    attr[2].i = t->dtype;
    const MsTensor *full = evaluate(op, attr, 0, NULL);
    return full && same_bits(t, full) ? op : NULL;
}

static MsStatus node(MsRebuild *r, int k)
{
    const MsNode *n = &r->from->node[k];
    if (!foldable(r, n)) return ms__rebuild_keep(r, k);
    MsTensor *in[8] = {NULL}, *y = NULL;
    MsAttr attr[3] = {{0}};
    const MsOp *op = NULL;
    int mark = ms_scope_begin();
    bool good = true;
    for (int i = 0; i < n->n_in && good; i++) {
        const MsNode *def = n->in[i] < 0 ? NULL : ms__def(r->to, r->map[n->in[i]]);
        if (def) in[i] = evaluate(def->op, def->attr, 0, NULL);
        good = !def || in[i];
    }
    if (good) y = evaluate(n->op, n->attr, n->n_in, in);
    if (y) op = as_full(y, attr);
    ms_scope_end(mark, NULL, 0);
    if (ms__failed()) {
        if (ms_error()->code == MS_ERROR_MEMORY) return MS_ERROR_MEMORY;
        ms_error_clear();
        op = NULL;
    }
    if (!op) return ms__rebuild_keep(r, k);
    int32_t v = ms__graph_add(r->to, op, attr, 0, NULL, 1, &r->from->val[n->out]);
    if (v < 0) return ms_error()->code;
    r->map[n->out] = v;
    r->changed = true;
    return MS_OK;
}

const MsPass ms__pass_fold = {"fold", NULL, node, NULL};
