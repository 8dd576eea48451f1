/* env.c - writes into tensors, functionalised.
 *
 * Without a trace a write goes to the storage and every view sees it. Inside a trace nothing may be
 * overwritten that a tape or a graph still refers to, so a write makes a new value:
 *   concrete tensor    the innermost trace's environment maps its storage to the new value; readers look there
 *                      (ms__lift), and the end of the trace writes the entry to the level below.
 *   traced tensor      its handle becomes the new value.
 *   traced view        the new base is computed by the view operator's view_write rule and written to the base,
 *                      and every other view notices by the base's version that it must be read again.
 * Refused: forbidding writes in traces (scripts use them), and overwriting storage under version checks only
 * (errors where the original works).
 */
#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

extern const MsOp ms_op_as_strided;
MsStatus ms__copy(MsTensor *dst, MsTensor *src); /* cpu/copy.c */

struct MsAlias {
    MsTensor *base; /* retained */
    const MsOp *op;
    uint32_t seen; /* version of base that the view's value comes from */
    int n_attr;
    MsAttr attr[];
};

void ms__alias_free(MsAlias *a)
{
    ms_tensor_unref(a->base);
    free(a);
}

uint32_t ms__content_version(const MsTensor *x)
{
    if (x->alias) return ms__content_version(x->alias->base) * 31 + x->version;
    return x->storage ? x->storage->version * 31 + x->version : x->version;
}

MsStatus ms__alias(MsTensor *view, const MsOp *op, const MsAttr *attr, MsTensor *base)
{
    const MsSig *s = ms__sig(op);
    MsAlias *a = ms__malloc(sizeof *a + (size_t)s->n_attr * sizeof *attr);
    if (!a) return MS_ERROR_MEMORY;
    *a = (MsAlias){ms_tensor_ref(base), op, ms__content_version(base), s->n_attr};
    if (s->n_attr) memcpy(a->attr, attr, (size_t)s->n_attr * sizeof *attr);
    if (view->alias) ms__alias_free(view->alias);
    view->alias = a;
    return MS_OK;
}

static MsStatus refresh(MsTensor *x)
{
    MsAlias *a = x->alias;
    if (!a) return MS_OK;
    MS_TRY(refresh(a->base));
    if (a->seen == ms__content_version(a->base)) return MS_OK;
    int mark = ms_scope_begin();
    MsTensor *v = ms_bind1(a->op, a->attr, 1, &a->base);
    if (v) {
        ms__tensor_become(x, v);
        a->seen = ms__content_version(a->base);
    }
    ms_scope_end(mark, NULL, 0);
    return v ? MS_OK : ms_error()->code;
}

/* ---- environments ---- */

MsEnvEntry *ms__env_find(MsTrace *t, const MsTensor *x)
{
    if (x->storage ? x->storage->n_env == 0 : !x->trace || x->trace == t) return NULL;
    for (int e = 0; e < t->n_env; e++)
        if (x->storage ? t->env[e].storage == x->storage : t->env[e].root == x) return &t->env[e];
    return NULL;
}

static bool same_geometry(const MsTensor *a, const MsTensor *b)
{
    return a->data == b->data && a->ndim == b->ndim && a->dtype == b->dtype &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]) == 0 &&
           memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof a->strides[0]) == 0;
}

MsStatus ms__env_set(MsTrace *t, MsTensor *root, MsTensor *value)
{
    MsEnvEntry *e = ms__env_find(t, root);
    MS_TRY(ms__ready(root)); /* views of the storage are told apart by their addresses */
    if (!e) {
        if (t->n_env == t->cap_env) {
            int cap = t->cap_env ? t->cap_env * 2 : 32;
            MsEnvEntry *env = ms__realloc(t->env, (size_t)cap * sizeof *env);
            if (!env) return MS_ERROR_MEMORY;
            t->env = env;
            t->cap_env = cap;
        }
        e = &t->env[t->n_env++];
        *e = (MsEnvEntry){.storage = root->storage, .root = ms_tensor_ref(root)};
        if (root->storage) root->storage->n_env++;
    }
    ms_tensor_ref(value);
    ms_tensor_unref(e->value);
    e->value = value;
    return MS_OK;
}

/* The attributes of as_strided that read x from the row-major value of root. */
static void relative(const MsTensor *root, const MsTensor *x, MsAttr attr[3])
{
    attr[0].kind = attr[1].kind = MS_ATTR_INTS;
    attr[0].n = attr[1].n = (uint8_t)x->ndim;
    for (int d = 0; d < x->ndim; d++) {
        attr[0].v[d] = x->shape[d];
        attr[1].v[d] = x->strides[d];
    }
    attr[2].kind = MS_ATTR_INT;
    attr[2].n = 0;
    attr[2].i = (x->data - root->data) / (int64_t)ms_dtype_size((MsDtype)x->dtype);
}

static MsTensor *env_read(const MsEnvEntry *e, MsTensor *x)
{
    if (ms__ready(x) != MS_OK) return NULL;
    if (!e->storage || same_geometry(e->root, x)) return e->value;
    MsAttr attr[3];
    relative(e->root, x, attr);
    MsTensor *value = e->value;
    return ms_bind1(&ms_op_as_strided, attr, 1, &value);
}

/* A tensor that spans the whole storage of x: x itself when it does, else flat. */
static MsTensor *root_of(MsTensor *x)
{
    if (x->trace) return x;
    size_t size = ms_dtype_size((MsDtype)x->dtype);
    if (x->contiguous && x->data == (char *)x->storage->data && (size_t)x->numel * size == x->storage->nbytes)
        return x;
    int64_t n = (int64_t)(x->storage->nbytes / size), one = 1;
    MsTensor *flat = ms__tensor_view(x, 1, &n, &one, 0);
    if (flat) flat->data = x->storage->data;
    return flat;
}

static MsStatus env_write(MsTrace *t, MsTensor *x, MsTensor *v)
{
    MS_TRY(ms__ready(x));
    MsEnvEntry *e = ms__env_find(t, x);
    MsTensor *root = e ? e->root : root_of(x);
    if (!root) return ms_error()->code;
    if (!x->trace && !same_geometry(root, x)) {
        MsAttr attr[3];
        relative(root, x, attr);
        MS_TRY(ms_op_as_strided.view_write(&ms_op_as_strided, attr, e ? e->value : root, v, &v));
    }
    MS_TRY(ms__env_set(t, root, v));
    ms__env_find(t, root)->written = true;
    if (x->storage)
        x->storage->version++;
    else
        x->version++;
    return MS_OK;
}

MsStatus ms__env_flush(MsTrace *t, MsTensor *(*lower)(MsTrace *, MsTensor *))
{
    for (int k = 0; k < t->n_env; k++) {
        MsEnvEntry *e = &t->env[k];
        if (!e->written) continue;
        bool alone = atomic_load(&e->root->ref) == 1 && (!e->storage || atomic_load(&e->storage->ref) == 1);
        if (alone) continue; /* made inside, seen by nobody outside */
        MsTensor *v = lower(t, e->value);
        if (!v) return ms_error()->code;
        MsTrace *saved = ms__trace_suspend(t);
        MsStatus st = ms_tensor_write(e->root, v);
        ms__trace_resume(saved);
        MS_TRY(st);
    }
    return MS_OK;
}

/* ---- reading ---- */

/* A handle whose transformation has ended: reverse and forward mode leave their plain value. */
static MsTensor *escaped(MsTensor *x)
{
    while (x->trace && x->trace->closed) {
        if (!x->tv.value || x->trace->interp->binds_all || x->tv.value->ndim != x->ndim)
            return MS_FAIL_NULL(
                MS_ERROR_RUNTIME,
                "A tensor of a %s was used after its end. Return it from the function instead.",
                x->trace->interp->name);
        x = x->tv.value;
    }
    return x;
}

MsTensor *ms__lift(MsTrace *t, MsTensor *x)
{
    if (x->trace && x->trace->closed) return escaped(x);
    if (x->alias && refresh(x) != MS_OK) return NULL;
    if (!t || !t->n_env) return x;
    MsEnvEntry *e = ms__env_find(t, x);
    return e ? env_read(e, x) : x;
}

MsTensor *ms__concrete_unseen(MsTensor *x)
{
    for (int guard = 0; guard < 1024; guard++) {
        if (x->trace && x->trace->closed) {
            x = escaped(x);
        } else if (x->alias && refresh(x) != MS_OK) {
            return NULL;
        } else {
            MsTensor *y = x;
            for (MsTrace *s = ms__trace_top(); s && y == x; s = s->below)
                if (s->n_env) {
                    MsEnvEntry *e = ms__env_find(s, x);
                    if (e) y = e->written || x->trace ? env_read(e, x) : x;
                    if (e && y == x) break; /* a weight that was not written: its own value */
                }
            if (y == x && !x->trace) return ms__ready(x) == MS_OK ? x : NULL;
            if (y == x) {
                if (x->trace->interp->binds_all || !x->tv.value || x->tv.value->ndim != x->ndim) return NULL;
                y = x->tv.value;
            }
            x = y;
        }
        if (!x) return NULL;
    }
    return NULL;
}

void (*ms__read_hook)(MsTensor *x);

MsTensor *ms__concrete(MsTensor *x)
{
    MsTensor *c = ms__concrete_unseen(x);
    if (!c || c->literal || !ms__read_hook) return c;
    for (MsTrace *s = ms__trace_top(); s; s = s->below)
        if (s->interp->binds_all) {
            ms__read_hook(c);
            break;
        }
    return c;
}

static MsTensor *need_concrete(MsTensor *t, const char *what)
{
    if (!t) return NULL;
    MsTensor *x = ms__concrete(t);
    if (!x && !ms__failed())
        MS_FAIL(MS_ERROR_RUNTIME,
                "The %s of a tensor of shape %s was asked for inside a staged or batched function, where it "
                "has no value yet.",
                what, ms__shape_text(t->ndim, t->shape));
    return x;
}

/* The address, which may be used to write, too. */
static void *expose(MsTensor *x)
{
    if (!x || ms__settle(x) != MS_OK) return NULL;
    x->storage->exposed++;
    return x->data;
}

void *ms_tensor_data(MsTensor *t)
{
    if (t && !ms__failed() && (!t->trace || t->trace->closed) && !t->alias) {
        MsTensor *own = ms__concrete_unseen(t); /* whoever made it fills it: no content is looked at */
        if (own) return expose(own);
    }
    return expose(need_concrete(t, "data"));
}

static void keep(void *ctx)
{
    (void)ctx;
} /* the memory is the caller's */

static MsTensor *one_element(MsTensor *t, MsDtype dtype, void *to)
{
    MsTensor *x = need_concrete(t, "value");
    if (!x) return NULL;
    if (x->numel != 1)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "The truth value or item of a tensor is defined for one element only, but got shape %s.",
            ms__shape_text(x->ndim, x->shape));
    int64_t zero[MS_MAX_DIM] = {0}, one[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++) one[d] = 1;
    MsTensor *y = ms_tensor_wrap(dtype, x->ndim, one, zero, to, keep, NULL);
    return y && ms__copy(y, x) == MS_OK ? y : NULL;
}

MsStatus ms_tensor_item(MsTensor *t, double *value)
{
    int mark = ms_scope_begin();
    MsTensor *y = one_element(t, MS_FLOAT64, value);
    ms_scope_end(mark, NULL, 0);
    return y ? MS_OK : ms_error()->code;
}

MsStatus ms_tensor_item_int(MsTensor *t, int64_t *value)
{
    int mark = ms_scope_begin();
    MsTensor *y = one_element(t, MS_INT64, value);
    ms_scope_end(mark, NULL, 0);
    return y ? MS_OK : ms_error()->code;
}

MsStatus ms__tensor_read(MsTensor *t, MsDtype dtype, void *to)
{
    MsTensor *x = need_concrete(t, "values");
    if (!x) return ms_error()->code;
    int mark = ms_scope_begin();
    MsTensor *y = ms_tensor_wrap(dtype, x->ndim, x->shape, NULL, to, keep, NULL);
    MsStatus st = y ? ms__copy(y, x) : ms_error()->code;
    ms_scope_end(mark, NULL, 0);
    return st;
}

/* ---- writing ---- */

MsTensor *ms__fit_value(MsTensor *x, MsTensor *v)
{
    MsTensor *given = v;
    if (v->dtype != x->dtype) v = ms_cast(v, (MsDtype)x->dtype);
    if (!v) return NULL;
    bool same = v->ndim == x->ndim && memcmp(v->shape, x->shape, (size_t)x->ndim * sizeof x->shape[0]) == 0;
    while (!same && v->ndim > x->ndim && v->shape[0] == 1)
        if (!(v = ms_reshape(v, (MsInts){v->ndim - 1, v->shape + 1}))) return NULL;
    if (same) return v;
    bool fits = v->ndim <= x->ndim;
    for (int d = 1; fits && d <= v->ndim; d++)
        fits = v->shape[v->ndim - d] == 1 || v->shape[v->ndim - d] == x->shape[x->ndim - d];
    if (fits) return ms_broadcast_to(v, (MsInts){x->ndim, x->shape});
    return MS_FAIL_NULL(MS_ERROR_VALUE, "A value of shape %s cannot be written to a place of shape %s.",
                        ms__shape_text(given->ndim, given->shape), ms__shape_text(x->ndim, x->shape));
}

static MsStatus write_concrete(MsTensor *x, MsTensor *v)
{
    x->literal = false;
    MS_TRY(ms__ready(v));
    MS_TRY(ms__settle(x));
    if (x->storage == v->storage && !same_geometry(x, v)) { /* overlap: read everything first */
        v = ms_copy(v);
        if (!v) return ms_error()->code;
    }
    MS_TRY(ms__copy(x, v));
    x->storage->version++;
    return MS_OK;
}

static MsStatus write_in_trace(MsTensor *x, MsTensor *v)
{
    if (x->trace && x->trace->closed)
        return MS_FAIL(MS_ERROR_RUNTIME, "A tensor was written after its transformation ended.");
    MS_TRY(refresh(x));
    v = ms__fit_value(x, v);
    if (!v) return ms_error()->code;
    MsTrace *top = ms__trace_top();
    if (!x->trace || (top && x->trace->level < top->level && !x->alias)) {
        if (!top) return write_concrete(x, v); /* v is a leftover of an ended trace */
        return env_write(top, x, v);
    }
    if (x->alias) {
        MsAlias *a = x->alias;
        if (!a->op->view_write)
            return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                           "For '%s', a write through its view is not possible here.", a->op->name);
        MsTensor *base = NULL;
        MS_TRY(a->op->view_write(a->op, a->attr, a->base, v, &base));
        MS_TRY(ms_tensor_write(a->base, base));
        if (v->trace == x->trace) {
            ms__tensor_become(x, v);
            a->seen = ms__content_version(a->base);
        }
        return MS_OK;
    }
    if (!v->trace && !(v = ms_copy(v))) return ms_error()->code; /* x must not share v's storage */
    ms__tensor_become(x, v);
    return MS_OK;
}

MsStatus ms_tensor_write(MsTensor *t, MsTensor *value)
{
    if (!t || !value)
        return ms__failed() ? ms_error()->code
                            : MS_FAIL(MS_ERROR_TYPE, "A write needs a tensor and a value.");
    int mark = ms_scope_begin();
    MsStatus st;
    if (ms__trace_top() || t->trace || value->trace) {
        st = write_in_trace(t, value);
    } else if (t->dtype == value->dtype && t->ndim == value->ndim &&
               memcmp(t->shape, value->shape, (size_t)t->ndim * sizeof t->shape[0]) == 0) {
        st = write_concrete(t, value);
    } else {
        MsTensor *v = ms__fit_value(t, value);
        st = v ? write_concrete(t, v) : ms_error()->code;
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

static bool plain(int n, MsTensor *const *t)
{
    for (int i = 0; i < n; i++)
        if (t[i] && t[i]->trace) return false;
    return true;
}

/* Eager: straight into the targets where the operator allows its output over its input. */
static MsStatus into_eager(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int n_out,
                           MsTensor *const *targets, MsAval *aval, MsTensor **out)
{
    MsAval *in_aval = aval + n_out;
    for (int i = 0; i < n_in; i++) {
        if (!in[i])
            return ms__failed() ? ms_error()->code
                                : MS_FAIL(MS_ERROR_TYPE, "For '%s', an input is missing.", op->name);
        in_aval[i] = ms__aval(in[i]);
    }
    int n;
    MS_TRY(ms__infer(op, attr, n_in, in_aval, n_out, aval, &n));
    for (int i = 0; i < n_in; i++) MS_TRY(ms__ready(in[i]));
    for (int j = 0; j < n; j++) MS_TRY(ms__settle(targets[j]));
    bool direct = (op->flags & (MS_OP_ELEMENTWISE | MS_OP_IN_PLACE)) != 0;
    for (int j = 0; j < n; j++) {
        MsTensor *t = targets[j];
        out[j] = t;
        direct = direct && t->dtype == (int8_t)aval[j].dtype && t->ndim == aval[j].ndim &&
                 memcmp(t->shape, aval[j].shape, (size_t)t->ndim * sizeof t->shape[0]) == 0;
        for (int i = 0; i < n_in && direct; i++)
            if (in[i]->storage == t->storage && !same_geometry(in[i], t)) direct = false;
    }
    if (!direct) {
        int mark = ms_scope_begin();
        MsStatus st = ms__eval(op, attr, n_in, in, n_out, out, &n);
        for (int j = 0; j < n && st == MS_OK; j++) st = ms_tensor_write(targets[j], out[j]);
        ms_scope_end(mark, NULL, 0);
        return st;
    }
    MsCall c = {op, attr, n_in, n, in, out, aval};
    const MsKernel *k = ms__select(&c);
    if (!k) return ms_error()->code;
    MS_TRY(ms__run_now(k, &c));
    for (int j = 0; j < n; j++) {
        targets[j]->storage->version++;
        targets[j]->literal = false;
    }
    return MS_OK;
}

MsStatus ms_bind_into(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int n_out,
                      MsTensor *const *targets)
{
    size_t n_aval = (size_t)(n_in + n_out);
    MsAval few[12], *aval = n_aval <= 12 ? few : ms__malloc(n_aval * sizeof *aval);
    MsTensor *small[12], **out = n_out <= 12 ? small : ms__malloc((size_t)n_out * sizeof *out);
    MsStatus st = MS_ERROR_MEMORY;
    int mark = ms_scope_begin();
    if (!aval || !out)
        st = MS_ERROR_MEMORY;
    else if (!ms__trace_top() && plain(n_in, in) && plain(n_out, targets)) {
        st = into_eager(op, attr, n_in, in, n_out, targets, aval, out);
    } else {
        int n;
        st = ms_bind(op, attr, n_in, in, n_out, out, &n);
        for (int j = 0; j < n_out && st == MS_OK; j++) st = ms_tensor_write(targets[j], out[j]);
    }
    ms_scope_end(mark, NULL, 0);
    if (aval != few) free(aval);
    if (out != small) free(out);
    return st;
}

/* ---- numbers ---- */

static MsTensor *number(MsDtype dtype, MsDtype from, void *value)
{
    MsTensor *t = ms_tensor_empty(dtype, 0, NULL);
    if (!t) return NULL;
    int mark = ms_scope_begin();
    MsTensor *v = ms_tensor_wrap(from, 0, NULL, NULL, value, keep, NULL);
    bool ok = v && ms__copy(t, v) == MS_OK;
    ms_scope_end(mark, NULL, 0);
    t->literal = true;
    if (ok) return t;
    return NULL;
}

MsTensor *ms_tensor_scalar(MsDtype dtype, double value)
{
    return number(dtype, MS_FLOAT64, &value);
}
MsTensor *ms_tensor_scalar_int(MsDtype dtype, int64_t value)
{
    return number(dtype, MS_INT64, &value);
}
