/* sig.c - signatures and the checks that come from them. A signature is parsed on first use and kept for the
 * life of the process, so that operators are plain constants. */
#include "core/mem.h"
#include "op/op.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BIT(d) (1u << (d))
#define SIGNED (BIT(MS_INT8) | BIT(MS_INT16) | BIT(MS_INT32) | BIT(MS_INT64))
#define UNSIGNED (BIT(MS_UINT8) | BIT(MS_UINT16) | BIT(MS_UINT32) | BIT(MS_UINT64))
#define FLOATS (BIT(MS_FLOAT16) | BIT(MS_BFLOAT16) | BIT(MS_FLOAT32) | BIT(MS_FLOAT64))
#define COMPLEXES (BIT(MS_COMPLEX64) | BIT(MS_COMPLEX128))

static const struct {
    const char *name;
    uint32_t set;
} classes[] = {
    {"any", BIT(MS_BOOL) | SIGNED | UNSIGNED | FLOATS | COMPLEXES},
    {"num", SIGNED | UNSIGNED | FLOATS | COMPLEXES},
    {"real", SIGNED | UNSIGNED | FLOATS},
    {"float", FLOATS},
    {"floatc", FLOATS | COMPLEXES},
    {"complex", COMPLEXES},
    {"int", SIGNED | UNSIGNED},
    {"index", BIT(MS_INT32) | BIT(MS_INT64)},
    {"bits", BIT(MS_BOOL) | SIGNED | UNSIGNED},
    {"ordered", BIT(MS_BOOL) | SIGNED | UNSIGNED | FLOATS},
};

typedef struct Parser {
    const char *at;
} Parser;

static void skip(Parser *p)
{
    while (*p->at == ' ' || *p->at == '\n') p->at++;
}

static bool take(Parser *p, const char *text)
{
    skip(p);
    size_t n = strlen(text);
    if (strncmp(p->at, text, n) != 0) return false;
    p->at += n;
    return true;
}

static bool word(Parser *p, char *buf, size_t cap)
{
    skip(p);
    size_t n = 0;
    while ((isalnum((unsigned char)p->at[n]) || p->at[n] == '_') && n + 1 < cap) n++;
    memcpy(buf, p->at, n);
    buf[n] = 0;
    p->at += n;
    return n > 0;
}

static int find_dtype(const char *name)
{
    for (int d = 0; d < MS_DTYPE_COUNT; d++)
        if (strcmp(ms_dtype_name((MsDtype)d), name) == 0) return d;
    return MS_DTYPE_NONE;
}

static int find_input(const MsSig *s, const char *name)
{
    for (int i = 0; i < s->n_in; i++)
        if (strcmp(s->in[i].name, name) == 0) return i;
    return -1;
}

static bool input_type(Parser *p, MsSig *s, MsSigInput *in)
{
    char t[24];
    if (!word(p, t, sizeof t)) return false;
    in->same_as = (int8_t)find_input(s, t);
    if (in->same_as >= 0) {
        in->dtypes = s->in[in->same_as].dtypes;
    } else {
        for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
            if (strcmp(classes[k].name, t) == 0) in->dtypes = classes[k].set;
        int d = find_dtype(t);
        if (!in->dtypes && d >= 0) in->dtypes = BIT(d);
        if (!in->dtypes) return false;
    }
    in->list = take(p, "[]");
    in->optional = take(p, "?");
    return true;
}

static bool attr_type(Parser *p, MsSigAttr *a)
{
    static const char *const kinds[] = {
        [MS_ATTR_INT] = "int",     [MS_ATTR_FLOAT] = "float", [MS_ATTR_BOOL] = "bool",
        [MS_ATTR_INTS] = "ints",   [MS_ATTR_DTYPE] = "dtype", [MS_ATTR_STR] = "str",
        [MS_ATTR_GRAPH] = "graph", [MS_ATTR_HOST] = "host",
    };
    char t[24];
    if (!word(p, t, sizeof t)) return false;
    for (int k = 1; k < (int)(sizeof kinds / sizeof *kinds); k++)
        if (strcmp(kinds[k], t) == 0) a->kind = (uint8_t)k;
    a->optional = take(p, "?");
    return a->kind != 0;
}

static bool outputs(Parser *p, MsSig *s)
{
    do {
        char t[24];
        if (s->n_out == MS_MAX_OUT || !word(p, t, sizeof t)) return false;
        int j = s->n_out++;
        s->out_same[j] = (int8_t)find_input(s, t);
        s->out_dtype[j] = (int8_t)find_dtype(t);
        if (s->out_same[j] < 0 && s->out_dtype[j] < 0 && strcmp(t, "_") != 0) return false;
        if (take(p, "[]")) s->list_out = true;
    } while (take(p, ","));
    return true;
}

static bool parse(const char *text, MsSig *s)
{
    Parser p = {text};
    char name[64];
    if (!word(&p, name, sizeof name) || !take(&p, "(")) return false;
    bool attrs = false;
    while (!take(&p, ")")) {
        if (take(&p, "*")) {
            attrs = true;
        } else {
            char id[24];
            if (!word(&p, id, sizeof id) || !take(&p, ":")) return false;
            if (attrs) {
                if (s->n_attr == MS_MAX_ATTR) return false;
                MsSigAttr *a = &s->attr[s->n_attr];
                strcpy(a->name, id);
                if (!attr_type(&p, a)) return false;
                s->n_attr++;
            } else {
                if (s->n_in == (int)(sizeof s->in / sizeof *s->in)) return false;
                MsSigInput *in = &s->in[s->n_in];
                strcpy(in->name, id);
                if (!input_type(&p, s, in)) return false;
                s->n_in++;
            }
        }
        if (!take(&p, ",") && *p.at != ')') return false;
    }
    if (!take(&p, "->") || !outputs(&p, s)) return false;
    skip(&p);
    return *p.at == 0;
}

const MsSig *ms__sig(const MsOp *op)
{
    MsSig *s = atomic_load_explicit(&op->cache->sig, memory_order_acquire);
    if (__builtin_expect(s != NULL, 1)) return s;
    s = ms__calloc(1, sizeof *s);
    if (!s) return NULL;
    if (!parse(op->sig, s)) {
        free(s);
        return MS_FAIL_NULL(MS_ERROR_RUNTIME, "For '%s', the signature is malformed: %s", op->name, op->sig);
    }
    MsSig *other = NULL;
    if (!atomic_compare_exchange_strong(&op->cache->sig, &other, s)) {
        free(s);
        s = other;
    }
    return s;
}

static MsStatus bad_dtype(const MsOp *op, const MsSigInput *in, MsDtype got)
{
    char list[256] = "";
    for (int d = 0; d < MS_DTYPE_COUNT; d++)
        if (in->dtypes & BIT(d)) {
            if (*list) strcat(list, ", ");
            strcat(list, ms_dtype_name((MsDtype)d));
        }
    return MS_FAIL(MS_ERROR_TYPE,
                   "For primitive[%s], the input argument[%s] must be a type of {%s}, but got %s.", op->name,
                   in->name, list, ms_dtype_name(got));
}

static MsStatus check_inputs(const MsOp *op, const MsSig *s, int n_in, const MsAval *in)
{
    bool list = s->n_in > 0 && s->in[s->n_in - 1].list;
    if (list ? n_in < s->n_in - 1 : n_in != s->n_in)
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the number of inputs must be %d, but got %d.", op->name,
                       s->n_in, n_in);
    for (int i = 0; i < n_in; i++) {
        const MsSigInput *si = &s->in[i < s->n_in ? i : s->n_in - 1];
        if (in[i].dtype == MS_DTYPE_NONE) {
            if (si->optional) continue;
            return MS_FAIL(MS_ERROR_TYPE, "For '%s', the input '%s' is missing.", op->name, si->name);
        }
        if (!(si->dtypes & BIT(in[i].dtype))) return bad_dtype(op, si, in[i].dtype);
        if (si->same_as >= 0 && in[si->same_as].dtype != in[i].dtype &&
            in[si->same_as].dtype != MS_DTYPE_NONE)
            return MS_FAIL(MS_ERROR_TYPE,
                           "For '%s', the dtypes of '%s' and '%s' must be the same, but got %s and %s.",
                           op->name, s->in[si->same_as].name, si->name, ms_dtype_name(in[si->same_as].dtype),
                           ms_dtype_name(in[i].dtype));
    }
    return MS_OK;
}

static MsStatus infer_default(MsInfer *c)
{
    MsDtype dtype = c->out[0].dtype;
    if (c->op->flags & MS_OP_ELEMENTWISE) {
        MsAval acc = c->in[0];
        for (int i = 1; i < c->n_in; i++)
            if (c->in[i].dtype != MS_DTYPE_NONE) MS_TRY(ms__broadcast(c->op, &acc, &c->in[i], &acc));
        c->out[0] = acc;
    } else {
        c->out[0] = c->in[0];
    }
    c->out[0].dtype = dtype;
    for (int j = 1; j < c->n_out; j++) {
        MsDtype dj = c->out[j].dtype;
        c->out[j] = c->out[0];
        c->out[j].dtype = dj;
    }
    return MS_OK;
}

MsStatus ms__infer(const MsOp *op, const MsAttr *attr, int n_in, const MsAval *in, int cap, MsAval *out,
                   int *n_out)
{
    const MsSig *s = ms__sig(op);
    if (!s) return ms_error()->code;
    MS_TRY(check_inputs(op, s, n_in, in));
    for (int k = 0; k < s->n_attr; k++) {
        if (s->attr[k].kind != MS_ATTR_STR || s->attr[k].optional || (attr && attr[k].s)) continue;
        if (ms__failed()) return ms_error()->code; /* text that could not be interned */
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', '%s' is missing.", op->name, s->attr[k].name);
    }
    if (!s->list_out && cap < s->n_out) /* of a list, infer itself says how many there are */
        return MS_FAIL(MS_ERROR_VALUE, "'%s' has %d outputs, but there is room for %d.", op->name, s->n_out,
                       cap);
    MsInfer c = {op, attr, n_in, s->n_out, cap, in, out};
    for (int j = 0; j < s->n_out && j < cap; j++)
        out[j].dtype = s->out_same[j] >= 0 ? in[s->out_same[j]].dtype : (MsDtype)s->out_dtype[j];
    MS_TRY(op->infer ? op->infer(&c) : infer_default(&c));
    *n_out = c.n_out;
    return MS_OK;
}

MsStatus ms__broadcast(const MsOp *op, const MsAval *a, const MsAval *b, MsAval *out)
{
    int nd = a->ndim > b->ndim ? a->ndim : b->ndim;
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < nd; d++) {
        int da = d - (nd - a->ndim), db = d - (nd - b->ndim);
        int64_t x = da >= 0 ? a->shape[da] : 1, y = db >= 0 ? b->shape[db] : 1;
        if (x != y && x != 1 && y != 1)
            return MS_FAIL(
                MS_ERROR_VALUE,
                "For '%s', input.shape and other.shape need to broadcast. The value of input.shape[%d] or "
                "other.shape[%d] must be 1 or -1 when they are not the same, but got input.shape = %s and "
                "other.shape = %s.",
                op->name, d, d, ms__shape_text(a->ndim, a->shape), ms__shape_text(b->ndim, b->shape));
        shape[d] = x == 1 ? y : x;
    }
    out->ndim = nd;
    memcpy(out->shape, shape, (size_t)nd * sizeof *shape);
    return MS_OK;
}

MsStatus ms__axis(const MsOp *op, int64_t axis, int ndim, int *out)
{
    int nd = ndim > 0 ? ndim : 1; /* a 0-d tensor takes axis 0 and -1 */
    if (axis < -nd || axis >= nd)
        return MS_FAIL(MS_ERROR_VALUE, "For primitive[%s], the axis must be in [%d,%d), but got %lld.",
                       op->name, -nd, nd, (long long)axis);
    *out = (int)(axis < 0 ? axis + nd : axis);
    return MS_OK;
}

MsStatus ms__axes(const MsOp *op, const MsAttr *axes, int ndim, uint32_t *mask)
{
    if (axes->kind == MS_ATTR_NONE || axes->n == 0) {
        *mask = (1u << ndim) - 1;
        return MS_OK;
    }
    *mask = 0;
    for (int k = 0; k < axes->n; k++) {
        int d = 0;
        MS_TRY(ms__axis(op, axes->v[k], ndim, &d));
        if (*mask >> d & 1)
            return MS_FAIL(MS_ERROR_VALUE, "For primitive[%s], the axis %d appears more than once.", op->name,
                           d);
        *mask |= 1u << d;
    }
    if (ndim == 0) *mask = 0;
    return MS_OK;
}

const MsOp *ms__op_find(const char *name)
{
    int lo = 0, hi = ms__n_ops - 1;
    while (lo <= hi) {
        int mid = (lo + hi) / 2, c = strcmp(name, ms__ops[mid]->name);
        if (c == 0) return ms__ops[mid];
        if (c < 0)
            hi = mid - 1;
        else
            lo = mid + 1;
    }
    return NULL;
}
