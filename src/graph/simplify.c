/* simplify.c - algebra that is exact to the bit, for every value: NaN, infinities, -0 and wrapping integers.
 * So x + 0 stays for floats (-0 + 0 is +0), x * 0 stays, nothing is reassociated. Views cost nothing when
 * run, so only those that say nothing are removed; merging reshapes could change the layout, and with it the
 * order of a later sum. */
#include "graph/match.h"

static MsDtype dtype_of(const MsMatch *m, int var)
{
    return m->g->val[m->var[var]].dtype;
}

static bool is_float(const MsMatch *m, MsAttr *attr)
{
    (void)attr;
    return ms_dtype_is_float(dtype_of(m, 0));
}

static bool is_integer(const MsMatch *m, MsAttr *attr)
{
    (void)attr;
    return ms_dtype_is_int(dtype_of(m, 0));
}

static bool is_bool(const MsMatch *m, MsAttr *attr)
{
    (void)attr;
    return dtype_of(m, 0) == MS_BOOL;
}

/* perm of transpose(transpose(a)) */
static bool compose(const MsMatch *m, MsAttr *attr)
{
    const MsAttr *outer = &m->node[0]->attr[0], *inner = &m->node[1]->attr[0];
    if (outer->n != inner->n) return false;
    for (int d = 0; d < outer->n; d++) attr[0].v[d] = inner->v[outer->v[d]];
    return true;
}

static bool in_order(const MsMatch *m, MsAttr *attr)
{
    (void)attr;
    const MsAttr *perm = &m->node[0]->attr[0];
    for (int d = 0; d < perm->n; d++)
        if (perm->v[d] != d) return false;
    return true;
}

/* A slice of everything; the type check compares the sizes. */
static bool whole(const MsMatch *m, MsAttr *attr)
{
    (void)attr;
    const MsAttr *begin = &m->node[0]->attr[0], *step = &m->node[0]->attr[2];
    for (int d = 0; d < begin->n; d++)
        if (begin->v[d] != 0 || step->v[d] != 1) return false;
    return true;
}

/* Does every value of `from` exist in `to`? */
static bool widens(MsDtype from, MsDtype to)
{
    if (from == to || from == MS_BOOL) return true;
    if (ms_dtype_is_int(from) && ms_dtype_is_int(to)) {
        bool s = ms_dtype_is_signed_int(from), t = ms_dtype_is_signed_int(to);
        return ms_dtype_size(from) < ms_dtype_size(to) ? (t || !s)
                                                       : s == t && ms_dtype_size(from) == ms_dtype_size(to);
    }
    if (ms_dtype_is_int(from) && to == MS_FLOAT64) return ms_dtype_size(from) <= 4;
    if (ms_dtype_is_int(from) && to == MS_FLOAT32) return ms_dtype_size(from) <= 2;
    if (ms_dtype_is_float(from) && ms_dtype_is_float(to))
        return to == MS_FLOAT64 || (to == MS_FLOAT32 && from != MS_FLOAT64);
    return false;
}

/* cast(cast(a)): the one in the middle loses nothing. A float becomes an integer only from its own type,
 * since what does not fit depends on it. */
static bool lossless(const MsMatch *m, MsAttr *attr)
{
    MsDtype from = dtype_of(m, 0), middle = (MsDtype)m->node[1]->attr[0].i, to = (MsDtype)attr[0].i;
    if (ms_dtype_is_float(from) && !ms_dtype_is_float(to)) return false;
    return widens(from, middle) && !ms_dtype_is_complex(to);
}

static const MsRule rules[] = {
    {"identity(a)", "a", NULL},
    {"neg(neg(a))", "a", NULL},
    {"conj(conj(a))", "a", NULL},
    {"logical_not(logical_not(a))", "a", NULL},
    {"bitwise_not(bitwise_not(a))", "a", NULL},

    {"mul(a, 1)", "a", is_float},
    {"mul(1, a)", "a", is_float},
    {"mul(a, 1)", "a", is_integer},
    {"mul(1, a)", "a", is_integer},
    {"mul(a, 1)", "a", is_bool},
    {"mul(1, a)", "a", is_bool},
    {"div(a, 1)", "a", is_float},
    {"floor_div(a, 1)", "a", is_integer},
    {"add(a, -0)", "a", is_float},
    {"add(-0, a)", "a", is_float},
    {"sub(a, 0)", "a", is_float},
    {"add(a, 0)", "a", is_integer},
    {"add(0, a)", "a", is_integer},
    {"sub(a, 0)", "a", is_integer},
    {"add(a, 0)", "a", is_bool},
    {"add(0, a)", "a", is_bool},
    {"bitwise_or(a, 0)", "a", NULL},
    {"bitwise_or(0, a)", "a", NULL},
    {"bitwise_xor(a, 0)", "a", NULL},
    {"bitwise_xor(0, a)", "a", NULL},
    {"left_shift(a, 0)", "a", NULL},
    {"right_shift(a, 0)", "a", NULL},
    {"logical_and(a, 1)", "a", NULL},
    {"logical_and(1, a)", "a", NULL},
    {"logical_or(a, 0)", "a", NULL},
    {"logical_or(0, a)", "a", NULL},

    {"maximum(a, a)", "a", NULL},
    {"minimum(a, a)", "a", NULL},
    {"logical_and(a, a)", "a", NULL},
    {"logical_or(a, a)", "a", NULL},
    {"bitwise_and(a, a)", "a", NULL},
    {"bitwise_or(a, a)", "a", NULL},
    {"where(a, b, b)", "b", NULL},
    {"where(1, a, b)", "a", NULL},
    {"where(0, a, b)", "b", NULL},

    {"abs(abs(a))", "abs(a)", NULL},
    {"abs(neg(a))", "abs(a)", is_float},
    {"square(neg(a))", "square(a)", is_float},
    {"relu(relu(a))", "relu(a)", NULL},
    {"floor(floor(a))", "floor(a)", NULL},
    {"ceil(ceil(a))", "ceil(a)", NULL},
    {"round(round(a))", "round(a)", NULL},
    {"trunc(trunc(a))", "trunc(a)", NULL},

    {"cast(a)", "a", NULL}, /* to its own dtype */
    {"cast(cast(a))", "cast(a)", lossless},
    {"reshape(a)", "a", NULL}, /* to its own shape, as the next ones */
    {"broadcast_to(a)", "a", NULL},
    {"sum_to(a)", "a", NULL},
    {"transpose(a)", "a", in_order},
    {"transpose(transpose(a))", "transpose(a)", compose},
    {"slice(a)", "a", whole},
    {"broadcast_to(broadcast_to(a))", "broadcast_to(a)", NULL},
};

static MsStatus simplify(MsRebuild *r, int k)
{
    const MsNode *n = &r->from->node[k];
    if (n->n_out != 1 || n->n_in == 0 || n->n_in > 4) return ms__rebuild_keep(r, k);
    int32_t in[4];
    ms__rebuild_inputs(r, k, in);
    int before = r->to->n_node;
    int32_t v = ms__rewrite(r, rules, (int)(sizeof rules / sizeof *rules), n->op, n->attr, n->n_in, in,
                            &r->from->val[n->out]);
    if (v < 0) return ms_error()->code;
    if (r->to->n_node > before) r->to->node[r->to->n_node - 1].loc = n->loc;
    r->map[n->out] = v;
    return MS_OK;
}

const MsPass ms__pass_simplify = {"simplify", NULL, simplify, NULL};
