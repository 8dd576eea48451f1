/* attention.c - finds softmax(mask(scale q k^T)) v and, where it was differentiated, its gradient, and puts the
 * operators `attention` and `attention_grad` in their place. The gradient is recognised in the form that the
 * derivatives of matmul, softmax and the steps between give it. Everything that reads the probabilities must be part
 * of the pattern: then nobody needs them, and they never lie in memory. Results agree to rounding, not to the bit,
 * since sums are taken in another order. Refused: a public operator alone, which would ask users to rewrite their
 * networks. */
#include "core/mem.h"
#include "graph/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHAIN 8 /* steps between the product and the softmax */

typedef struct Match {
    int32_t q, k, v; /* values of the old graph */
    bool turn_q, turn_k, turn_v;
    int32_t mask, keep, g;
    double scale, fill;
    bool mask_is_bool;
    int32_t o;          /* the result */
    int32_t dq, dk, dv; /* its gradients, -1 = not asked for */
    bool turn_dq, turn_dk, turn_dv;
    int32_t new_grad; /* first output of the new gradient node, once added */
} Match;

typedef struct Find {
    const MsGraph *g;
    int32_t *first, *user; /* users of value v: nodes user[first[v]..first[v + 1]) */
    bool *is_out;          /* by value */
    Match *match;
    int n_match;
    int32_t *role; /* by node: 2 * match + (1 = gradient), -1 = none */
} Find;

static bool is(const MsNode *n, const char *name)
{
    return n && strcmp(n->op->name, name) == 0;
}

static int n_users(const Find *f, int32_t v)
{
    return f->first[v + 1] - f->first[v] + f->is_out[v];
}

static const MsNode *user(const Find *f, int32_t v, int k)
{
    return &f->g->node[f->user[f->first[v] + k]];
}

static bool same_shape(const Find *f, int32_t u, int32_t v)
{
    const MsAval *a = &f->g->val[u], *b = &f->g->val[v];
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

static bool last_axis(int64_t axis, const MsAval *a)
{
    return axis == -1 || axis == a->ndim - 1;
}

/* The value behind a cast between float dtypes, else v. */
static int32_t before_cast(const Find *f, int32_t v)
{
    const MsNode *n = ms__def(f->g, v);
    return is(n, "cast") && ms_dtype_is_float(f->g->val[n->in[0]].dtype) ? n->in[0] : v;
}

/* mul or div by a uniform constant: the other operand, or -1; *factor is multiplied. */
static int32_t scaled(const Find *f, const MsNode *n, double *factor)
{
    double c;
    bool mul = is(n, "mul");
    if (!mul && !is(n, "div")) return -1;
    for (int i = mul ? 0 : 1; i < 2; i++)
        if (ms__uniform(f->g, n->in[i], &c) && same_shape(f, n->in[!i], n->out)) {
            *factor = mul ? *factor * c : *factor / c;
            return n->in[!i];
        }
    return -1;
}

/* Is v a product, perhaps scaled? Tells the scores from the mask that is added to them. */
static bool is_scores(const Find *f, int32_t v)
{
    for (int depth = 0; depth < MAX_CHAIN; depth++) {
        const MsNode *n = ms__def(f->g, v);
        double ignored = 1;
        if (is(n, "matmul")) return true;
        if (!n || (v = is(n, "cast") ? n->in[0] : scaled(f, n, &ignored)) < 0) return false;
    }
    return false;
}

/* One step up from value v of the forward chain; -1 when it is none. */
static int32_t step_up(const Find *f, int32_t v, Match *m)
{
    const MsNode *n = ms__def(f->g, v);
    if (!n || n_users(f, v) != 1) return -1;
    if (is(n, "cast")) return before_cast(f, v) == v ? -1 : n->in[0];
    int32_t u = scaled(f, n, &m->scale);
    if (u >= 0 || m->mask >= 0 || m->scale != 1) return u;
    if (is(n, "add")) {
        for (int i = 0; i < 2; i++)
            if (same_shape(f, n->in[i], v) && is_scores(f, n->in[i])) {
                m->mask = n->in[!i];
                return n->in[i];
            }
    }
    if (is(n, "where") && ms__uniform(f->g, n->in[2], &m->fill) && same_shape(f, n->in[1], v)) {
        m->mask = n->in[0];
        m->mask_is_bool = true;
        return n->in[1];
    }
    return -1;
}

/* From the softmax up to the product: sets q, k, scale and mask. */
static const MsNode *find_scores(const Find *f, const MsNode *softmax, Match *m)
{
    int32_t v = softmax->in[0];
    for (int depth = 0; depth < MAX_CHAIN && v >= 0; depth++) {
        const MsNode *n = ms__def(f->g, v);
        if (is(n, "matmul") && n_users(f, v) == 1) {
            m->q = n->in[0], m->turn_q = n->attr[0].i;
            m->k = n->in[1], m->turn_k = !n->attr[1].i;
            return n;
        }
        v = step_up(f, v, m);
    }
    return NULL;
}

/* What reads the probabilities. */
typedef struct Readers {
    const MsNode *pv, *dv, *mul, *weighted,
        *drop; /* weighted: p times the row sums of mul; drop: p times keep */
} Readers;

/* Sorts the users of p; `as` = p or its cast, which the products read. */
static bool sort_users(const Find *f, int32_t p, Readers *r, bool casts)
{
    for (int k = f->first[p]; k < f->first[p + 1]; k++) {
        const MsNode *n = &f->g->node[f->user[k]];
        if (is(n, "cast") && casts && ms_dtype_is_float(f->g->val[n->out].dtype)) {
            if (f->is_out[n->out] || !sort_users(f, n->out, r, false)) return false;
        } else if (is(n, "matmul") && n->in[0] == p && n->in[1] != p && !n->attr[0].i && !r->pv) {
            r->pv = n;
        } else if (is(n, "matmul") && n->attr[0].i && !n->attr[1].i && !r->dv) {
            r->dv = n;
        } else if (is(n, "mul")) {
            const MsNode *other = ms__def(f->g, n->in[n->in[0] == p]);
            const MsNode **to = is(other, "sum") ? &r->weighted : is(other, "rng_keep") ? &r->drop : &r->mul;
            if (*to) return false;
            *to = n;
            if (to == &r->drop && (f->is_out[n->out] || !sort_users(f, n->out, r, true))) return false;
        } else {
            return false;
        }
    }
    return true;
}

/* The product with the values and its gradient by them: sets v, o, dv, g. */
static bool find_values(const Find *f, const Readers *r, Match *m)
{
    if (!r->pv) return false;
    m->o = r->pv->out;
    if (r->drop) m->keep = r->drop->in[is(ms__def(f->g, r->drop->in[1]), "rng_keep")];
    if (r->drop && before_cast(f, r->pv->in[0]) != r->drop->out) return false;
    m->v = r->pv->in[1], m->turn_v = r->pv->attr[1].i;
    if (!r->dv) return true;
    int side = m->turn_v; /* matmul(p, g) turned at p, or matmul(g, p) turned at g */
    if (before_cast(f, r->dv->in[side]) != before_cast(f, r->pv->in[0])) return false;
    m->g = r->dv->in[!side];
    m->dv = r->dv->out;
    m->turn_dv = m->turn_v;
    return same_shape(f, m->g, m->o);
}

/* What dropout's derivative multiplies by keep, else v. */
static int32_t before_keep(const Find *f, int32_t v, const Match *m)
{
    const MsNode *n = m->keep < 0 ? NULL : ms__def(f->g, v);
    if (!is(n, "mul") || n_users(f, v) != 1) return v;
    for (int i = 0; i < 2; i++)
        if (n->in[i] == m->keep) return before_cast(f, n->in[!i]);
    return v;
}

/* The derivative of the softmax: dp = g v^T (times keep), mul = dp p, mul - p sum(mul). Sets g; the value of the difference, or -1.
 */
static int32_t find_softmax_grad(const Find *f, const Readers *r, int32_t p, Match *m)
{
    if (r->mul->in[0] != p && r->mul->in[1] != p) return -1;
    int32_t dp = r->mul->in[r->mul->in[0] == p], kept = before_cast(f, dp), product = before_keep(f, kept, m);
    if (m->keep >= 0 && product == kept) return -1;
    const MsNode *n = ms__def(f->g, product), *sum = ms__def(f->g, r->weighted->in[r->weighted->in[0] == p]);
    if (!is(n, "matmul") || n->attr[0].i || n->attr[1].i == m->turn_v || n->in[1] != m->v) return -1;
    if (n_users(f, product) != 1 || n_users(f, dp) != 1 || (m->g >= 0 && m->g != n->in[0])) return -1;
    m->g = n->in[0];
    if (sum->in[0] != r->mul->out || sum->attr[0].n != 1 || !sum->attr[1].i || n_users(f, sum->out) != 1 ||
        !last_axis(sum->attr[0].v[0], &f->g->val[p]))
        return -1;
    if (n_users(f, r->mul->out) != 2 || n_users(f, r->weighted->out) != 1) return -1;
    const MsNode *sub = user(f, r->weighted->out, 0);
    bool good = is(sub, "sub") && sub->in[0] == r->mul->out && sub->in[1] == r->weighted->out;
    return good && same_shape(f, m->g, m->o) ? sub->out : -1;
}

/* Down from the cotangent of the softmax's input to that of the product; -1 when the steps are not those up. */
static int32_t walk_down(const Find *f, int32_t v, const Match *m)
{
    double scale = 1, zero;
    bool masked = false;
    for (int depth = 0; depth < MAX_CHAIN; depth++) {
        const MsNode *n = n_users(f, v) == 1 && !f->is_out[v] ? user(f, v, 0) : NULL;
        if (!n || is(n, "matmul")) break;
        if (is(n, "cast") && ms_dtype_is_float(f->g->val[n->out].dtype)) {
            v = n->out;
        } else if (is(n, "where") && m->mask_is_bool && !masked && n->in[0] == m->mask && n->in[1] == v &&
                   ms__uniform(f->g, n->in[2], &zero) && zero == 0) {
            masked = true;
            v = n->out;
        } else {
            if (scaled(f, n, &scale) != v) return -1;
            v = n->out;
        }
    }
    bool good = fabs(scale - m->scale) <= 1e-6 * fabs(m->scale) && masked == m->mask_is_bool && !f->is_out[v];
    return good ? v : -1;
}

/* The gradients by q and k: the users of x, the cotangent of the product. */
static bool find_sides(const Find *f, int32_t x, const MsNode *scores, Match *m)
{
    bool ta = scores->attr[0].i, tb = scores->attr[1].i;
    int32_t a = scores->in[0], b = scores->in[1];
    if (n_users(f, x) < 1 || n_users(f, x) > 2) return false;
    for (int k = 0; k < n_users(f, x); k++) {
        const MsNode *n = user(f, x, k);
        if (!is(n, "matmul")) return false;
        bool t0 = n->attr[0].i, t1 = n->attr[1].i;
        bool by_a = ta ? n->in[0] == b && n->in[1] == x && t0 == tb && t1
                       : n->in[0] == x && n->in[1] == b && !t0 && t1 != tb;
        bool by_b = tb ? n->in[0] == x && n->in[1] == a && t0 && t1 == ta
                       : n->in[0] == a && n->in[1] == x && t0 != ta && !t1;
        if (by_a && m->dq < 0)
            m->dq = n->out, m->turn_dq = ta;
        else if (by_b && m->dk < 0)
            m->dk = n->out, m->turn_dk = !tb;
        else
            return false;
    }
    return true;
}

/* Sizes as `attention` wants them: equal leading axes, a mask that broadcasts to the scores. */
static bool fits(const Find *f, const MsNode *scores, const Match *m)
{
    const MsAval *q = &f->g->val[m->q], *k = &f->g->val[m->k], *v = &f->g->val[m->v],
                 *s = &f->g->val[scores->out];
    if (q->ndim != s->ndim || k->ndim != s->ndim || v->ndim != s->ndim) return false;
    if (q->dtype != k->dtype || q->dtype != v->dtype || !ms_dtype_is_float(q->dtype)) return false;
    if (f->g->val[m->o].dtype != q->dtype || (m->keep >= 0 && f->g->val[m->keep].dtype != q->dtype))
        return false;
    for (int d = 0; d < s->ndim - 2; d++)
        if (q->shape[d] != s->shape[d] || k->shape[d] != s->shape[d] || v->shape[d] != s->shape[d])
            return false;
    return m->mask < 0 || f->g->val[m->mask].ndim <= s->ndim;
}

static bool find_match(const Find *f, const MsNode *softmax, Match *m)
{
    *m = (Match){.mask = -1, .keep = -1, .g = -1, .scale = 1, .dq = -1, .dk = -1, .dv = -1, .new_grad = -1};
    int32_t p = softmax->out;
    Readers r = {0};
    if (f->is_out[p] || !last_axis(softmax->attr[0].i, &f->g->val[p])) return false;
    const MsNode *scores = find_scores(f, softmax, m);
    if (!scores || !sort_users(f, p, &r, true) || !find_values(f, &r, m) || !fits(f, scores, m)) return false;
    if (!r.mul != !r.weighted) return false;
    if (!r.mul) return !r.dv;
    int32_t x = find_softmax_grad(f, &r, p, m);
    if (x >= 0) x = walk_down(f, x, m);
    return x >= 0 && find_sides(f, x, scores, m);
}

/* ---- the pass ---- */

static void end(MsRebuild *r)
{
    Find *f = r->ctx;
    if (!f) return;
    free(f->first);
    free(f->user);
    free(f->is_out);
    free(f->match);
    free(f->role);
    free(f);
}

static bool list_users(Find *f)
{
    const MsGraph *g = f->g;
    size_t n = (size_t)g->n_val + 2;
    f->first = ms__calloc(n, sizeof *f->first);
    f->is_out = ms__calloc(n, sizeof *f->is_out);
    f->role = ms__malloc(((size_t)g->n_node + 1) * sizeof *f->role);
    if (!f->first || !f->is_out || !f->role) return false;
    for (int j = 0; j < g->n_out; j++) f->is_out[g->out[j]] = true;
    for (int k = 0; k < g->n_node; k++) {
        f->role[k] = -1;
        for (int i = 0; g->node[k].op && i < g->node[k].n_in; i++)
            if (g->node[k].in[i] >= 0) f->first[g->node[k].in[i] + 2]++;
    }
    for (int v = 0; v < g->n_val; v++) f->first[v + 2] += f->first[v + 1];
    f->user = ms__malloc(((size_t)f->first[g->n_val + 1] + 1) * sizeof *f->user);
    for (int k = 0; k < g->n_node && f->user; k++)
        for (int i = 0; g->node[k].op && i < g->node[k].n_in; i++)
            if (g->node[k].in[i] >= 0) f->user[f->first[g->node[k].in[i] + 1]++] = k;
    return f->user != NULL;
}

static MsStatus begin(MsRebuild *r)
{
    const MsGraph *g = r->from;
    int n = 0;
    for (int k = 0; k < g->n_node; k++) n += is(g->node[k].op ? &g->node[k] : NULL, "softmax");
    if (n == 0) return MS_OK;
    Find *f = r->ctx = ms__calloc(1, sizeof *f);
    if (!f) return MS_ERROR_MEMORY;
    f->g = g;
    f->match = ms__malloc((size_t)n * sizeof *f->match);
    if (!f->match || !list_users(f)) return MS_ERROR_MEMORY;
    for (int k = 0; k < g->n_node; k++) {
        Match *m = &f->match[f->n_match];
        if (!g->node[k].op || !is(&g->node[k], "softmax") || !find_match(f, &g->node[k], m)) continue;
        f->role[g->def[m->o]] = 2 * f->n_match;
        const int32_t grads[] = {m->dq, m->dk, m->dv};
        for (int j = 0; j < 3; j++)
            if (grads[j] >= 0) f->role[g->def[grads[j]]] = 2 * f->n_match + 1;
        f->n_match++;
    }
    return MS_OK;
}

/* The last two axes of v exchanged. */
static int32_t exchange(MsRebuild *r, int32_t v)
{
    MsAttr perm = {.kind = MS_ATTR_INTS, .n = (uint8_t)r->to->val[v].ndim};
    for (int d = 0; d < perm.n; d++) perm.v[d] = d < perm.n - 2 ? d : 2 * perm.n - 3 - d;
    return ms__rebuild_add(r, ms__op_find("transpose"), &perm, 1, &v);
}

static int32_t operand(MsRebuild *r, int32_t v, bool turn)
{
    return turn ? exchange(r, r->map[v]) : r->map[v];
}

/* Adds attention, or its gradient with g; the first output or -1. */
static int32_t add(MsRebuild *r, const Match *m, bool grad)
{
    const MsOp *op = ms__op_find(grad ? "attention_grad" : "attention");
    MsAttr attr[3] = {{.kind = MS_ATTR_FLOAT}, {.kind = MS_ATTR_BOOL}, {.kind = MS_ATTR_FLOAT}};
    attr[0].f = m->scale;
    attr[1].i = false;
    attr[2].f = m->fill;
    int32_t in[6], *at = in;
    MsAval types[6], out[3];
    if (grad) *at++ = r->map[m->g];
    *at++ = operand(r, m->q, m->turn_q);
    *at++ = operand(r, m->k, m->turn_k);
    *at++ = operand(r, m->v, m->turn_v);
    *at++ = m->mask < 0 ? -1 : r->map[m->mask];
    *at++ = m->keep < 0 ? -1 : r->map[m->keep];
    int n_in = (int)(at - in), n_out = 0;
    for (int i = 0; i < n_in; i++) {
        types[i].dtype = MS_DTYPE_NONE;
        if (in[i] >= 0)
            types[i] = r->to->val[in[i]];
        else if (i < n_in - 2)
            return -1;
    }
    if (ms__infer(op, attr, n_in, types, 3, out, &n_out) != MS_OK) return -1;
    r->changed = true;
    return ms__graph_add(r->to, op, attr, n_in, in, n_out, out);
}

static MsStatus add_grad(MsRebuild *r, Match *m, int32_t asked)
{
    if (m->new_grad < 0) m->new_grad = add(r, m, true);
    if (m->new_grad < 0) return ms_error()->code;
    int j = asked == m->dq ? 0 : asked == m->dk ? 1 : 2;
    bool turn = j == 0 ? m->turn_dq : j == 1 ? m->turn_dk : m->turn_dv;
    int32_t v = m->new_grad + j;
    if (turn) v = exchange(r, v);
    if (v < 0) return ms_error()->code;
    r->map[asked] = v;
    return MS_OK;
}

static MsStatus node(MsRebuild *r, int k)
{
    Find *f = r->ctx;
    if (!f || f->role[k] < 0) return ms__rebuild_keep(r, k);
    Match *m = &f->match[f->role[k] / 2];
    if (f->role[k] % 2) return add_grad(r, m, r->from->node[k].out);
    int32_t v = add(r, m, false);
    if (v < 0) return ms_error()->code;
    r->map[m->o] = v;
    return MS_OK;
}

const MsPass ms__pass_attention = {"attention", begin, node, end};
