/* flow.c - brings the graphs of a conditional or a loop to common operands.
 *
 * Staged parts capture what they read of outside by identity. The operators cond and while pass one operand
 * list to all their graphs, so: the operands are the union of what the parts captured, each graph is copied
 * with its captured inputs at their places, and a tensor that any part writes becomes one more output of
 * every part (unchanged where a part does not write it) that is written back outside. In a loop such a tensor
 * is carried, so that each turn sees what the last one wrote. Invariant: a copied graph has inputs only, no
 * captures. */
#include "trace/flow.h"

#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

extern const MsOp ms_op_cond, ms_op_while;

/* A list of outside tensors without repetition. */
typedef struct Set {
    MsTensor **t;
    int n, cap;
} Set;

static bool same_value(const MsTensor *a, const MsTensor *b)
{
    if (a == b) return true;
    return a->storage && a->storage == b->storage && a->data == b->data && a->ndim == b->ndim &&
           a->dtype == b->dtype && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]) == 0 &&
           memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof a->strides[0]) == 0;
}

static int find(const Set *s, const MsTensor *t)
{
    for (int i = 0; i < s->n; i++)
        if (same_value(s->t[i], t)) return i;
    return -1;
}

static MsStatus add(Set *s, MsTensor *t)
{
    MS_TRY(ms__ready(t));
    if (find(s, t) >= 0) return MS_OK;
    if (s->n == s->cap) {
        int cap = s->cap ? 2 * s->cap : 16;
        MsTensor **more = ms__realloc(s->t, (size_t)cap * sizeof *more);
        if (!more) return MS_ERROR_MEMORY;
        s->t = more;
        s->cap = cap;
    }
    s->t[s->n++] = t;
    return MS_OK;
}

/* Adds what g writes to `written`; what it only reads, and picked tensors, to `read`. */
static MsStatus collect_written(const MsGraph *g, Set *written)
{
    for (int k = 0; k < g->n_out - g->n_result; k++) MS_TRY(add(written, g->captured[g->written[k]]));
    return MS_OK;
}

static MsStatus collect_read(const MsGraph *g, int n, const MsPick *pick, const Set *written, Set *read)
{
    for (int k = 0; k < g->n_in - g->n_arg; k++)
        if (find(written, g->captured[k]) < 0) MS_TRY(add(read, g->captured[k]));
    for (int j = 0; j < n; j++)
        if (pick && pick[j].index < 0 && find(written, pick[j].t) < 0) MS_TRY(add(read, pick[j].t));
    return MS_OK;
}

/* The operands: arguments, then written, then read. */
typedef struct Operands {
    int n_arg;
    Set written, read;
} Operands;

static int place(const Operands *p, const MsTensor *t)
{
    int k = find(&p->written, t);
    if (k >= 0) return p->n_arg + k;
    k = find(&p->read, t);
    return k < 0 ? -1 : p->n_arg + p->written.n + k;
}

static MsStatus copy_nodes(const MsGraph *from, MsGraph *to, int32_t *map)
{
    for (int k = 0; k < from->n_node; k++) {
        const MsNode *n = &from->node[k];
        if (!n->op) continue;
        int32_t *in = ms__malloc((size_t)(n->n_in + 1) * sizeof *in);
        if (!in) return MS_ERROR_MEMORY;
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? -1 : map[n->in[i]];
        int32_t first = ms__graph_add(to, n->op, n->attr, n->n_in, in, n->n_out, from->val + n->out);
        free(in);
        if (first < 0) return MS_ERROR_MEMORY;
        to->node[to->n_node - 1].loc = n->loc;
        for (int j = 0; j < n->n_out; j++) map[n->out + j] = first + j;
    }
    return MS_OK;
}

/* Copy of g over the operands p. Outputs: the picks (all results when NULL), then, if `writes`, a value for
 * every written tensor. */
static MsGraph *over(const MsGraph *g, const Operands *p, int n, const MsPick *pick, bool writes)
{
    MsGraph *to = ms__graph_new();
    int32_t *map = ms__calloc((size_t)g->n_val + 1, sizeof *map);
    int32_t *out = ms__calloc((size_t)(n + 2 * p->written.n) + 1, sizeof *out);
    int32_t *now = out ? out + n + p->written.n : NULL; /* written tensors after the part */
    MsStatus st = to && map && out ? MS_OK : MS_ERROR_MEMORY;
    for (int i = 0; i < p->n_arg && st == MS_OK; i++)
        if (ms__graph_input(to, &g->val[i]) < 0) st = MS_ERROR_MEMORY;
    for (int k = 0; k < p->written.n + p->read.n && st == MS_OK; k++) {
        MsAval a = ms__aval(k < p->written.n ? p->written.t[k] : p->read.t[k - p->written.n]);
        if (ms__graph_input(to, &a) < 0) st = MS_ERROR_MEMORY;
    }
    for (int i = 0; i < g->n_in && st == MS_OK; i++)
        map[i] = i < g->n_arg ? i : place(p, g->captured[i - g->n_arg]);
    if (st == MS_OK) st = copy_nodes(g, to, map);
    int total = n + (writes ? p->written.n : 0);
    for (int k = 0; k < p->written.n && st == MS_OK; k++) {
        now[k] = p->n_arg + k;
        for (int w = 0; w < g->n_out - g->n_result; w++)
            if (same_value(g->captured[g->written[w]], p->written.t[k]))
                now[k] = map[g->out[g->n_result + w]];
        if (writes) out[n + k] = now[k];
    }
    for (int j = 0; j < n && st == MS_OK; j++) {
        if (!pick || pick[j].index >= 0) {
            out[j] = map[g->out[pick ? pick[j].index : j]];
            continue;
        }
        int k = find(&p->written, pick[j].t);
        out[j] = k >= 0 ? now[k] : place(p, pick[j].t);
    }
    if (st == MS_OK) st = ms__graph_set_out(to, total, out);
    free(map);
    free(out);
    if (st == MS_OK) {
        to->n_arg = to->n_in;
        to->n_result = total;
        return to;
    }
    ms_graph_unref(to);
    return NULL;
}

static MsStatus check_picks(const MsGraph *g, int n, const MsPick *pick)
{
    for (int j = 0; j < n; j++)
        if (pick[j].index >= g->n_result || (pick[j].index < 0 && !pick[j].t))
            return MS_FAIL(MS_ERROR_INDEX, "Output %d of a staged part does not exist.", j);
    return MS_OK;
}

/* Binds op over head[0..n_head), then the operands; the first n results go to out, the others are written
 * back. */
static MsStatus apply(const MsOp *op, const MsAttr *attr, int n_head, MsTensor *const *head,
                      const Operands *p, int n, MsTensor **out)
{
    int n_in = n_head + p->written.n + p->read.n, cap = n + p->written.n, n_out = 0;
    MsTensor **in = ms__malloc((size_t)(n_in + cap + 1) * sizeof *in), **res = in ? in + n_in : NULL;
    if (!in) return MS_ERROR_MEMORY;
    for (int i = 0; i < n_head; i++) in[i] = head[i];
    for (int k = 0; k < p->written.n; k++) in[n_head + k] = p->written.t[k];
    for (int k = 0; k < p->read.n; k++) in[n_head + p->written.n + k] = p->read.t[k];
    int mark = ms_scope_begin();
    MsStatus st = ms_bind(op, attr, n_in, in, cap, res, &n_out);
    for (int k = 0; k < p->written.n && st == MS_OK; k++) st = ms_tensor_write(p->written.t[k], res[n + k]);
    for (int j = 0; j < n && st == MS_OK; j++) out[j] = res[j];
    ms_scope_end(mark, out, st == MS_OK ? n : 0);
    free(in);
    return st;
}

static void clear(Operands *p)
{
    free(p->written.t);
    free(p->read.t);
}

MsStatus ms__flow_cond(MsTensor *pred, MsGraph *yes, MsGraph *no, int n, const MsPick *yes_pick,
                       const MsPick *no_pick, MsTensor **out)
{
    if (!pred || !yes || !no)
        return ms__failed() ? ms_error()->code : MS_FAIL(MS_ERROR_TYPE, "For 'cond', a part is missing.");
    if (yes->n_arg || no->n_arg)
        return MS_FAIL(MS_ERROR_TYPE, "For 'cond', the branches must not take arguments.");
    MS_TRY(check_picks(yes, n, yes_pick));
    MS_TRY(check_picks(no, n, no_pick));
    Operands p = {0};
    MsAttr attr[2] = {{.kind = MS_ATTR_GRAPH}, {.kind = MS_ATTR_GRAPH}};
    attr[0].g = attr[1].g = NULL;
    MsStatus st = collect_written(yes, &p.written);
    if (st == MS_OK) st = collect_written(no, &p.written);
    if (st == MS_OK) st = collect_read(yes, n, yes_pick, &p.written, &p.read);
    if (st == MS_OK) st = collect_read(no, n, no_pick, &p.written, &p.read);
    if (st == MS_OK) {
        attr[0].g = over(yes, &p, n, yes_pick, true);
        attr[1].g = attr[0].g ? over(no, &p, n, no_pick, true) : NULL;
        st = attr[1].g ? apply(&ms_op_cond, attr, 1, &pred, &p, n, out) : ms_error()->code;
    }
    ms_graph_unref(attr[0].g);
    ms_graph_unref(attr[1].g);
    clear(&p);
    return st;
}

/* A tensor that the loop writes while it reads another view of the same memory: the view would not change. */
static MsStatus check_views(const Operands *p)
{
    for (int k = 0; k < p->written.n; k++)
        for (int i = 0; i < p->read.n; i++)
            if (p->read.t[i]->storage && p->read.t[i]->storage == p->written.t[k]->storage)
                return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                               "For 'while', the loop reads a view of a tensor that it writes as a whole.");
    return MS_OK;
}

MsStatus ms__flow_while(MsGraph *test, MsGraph *body, int n, MsTensor *const *x, const MsPick *pick,
                        MsTensor **out)
{
    if (!test || !body || test->n_arg != n || body->n_arg != n)
        return ms__failed() ? ms_error()->code
                            : MS_FAIL(MS_ERROR_TYPE, "For 'while', the parts must take %d arguments.", n);
    if (test->n_out != 1)
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED,
                       "For 'while', the test must give one value and write nothing.");
    MS_TRY(check_picks(body, n, pick));
    Operands p = {.n_arg = n};
    MsAttr attr[3] = {{.kind = MS_ATTR_GRAPH}, {.kind = MS_ATTR_GRAPH}, {.kind = MS_ATTR_INT}};
    attr[0].g = attr[1].g = NULL;
    MsStatus st = collect_written(body, &p.written);
    if (st == MS_OK) st = collect_read(test, 0, NULL, &p.written, &p.read);
    if (st == MS_OK) st = collect_read(body, n, pick, &p.written, &p.read);
    if (st == MS_OK) st = check_views(&p);
    if (st == MS_OK) {
        attr[0].g = over(test, &p, 1, NULL, false);
        attr[1].g = attr[0].g ? over(body, &p, n, pick, true) : NULL;
        attr[2].i = n + p.written.n;
        st = attr[1].g ? apply(&ms_op_while, attr, n, x, &p, n, out) : ms_error()->code;
    }
    ms_graph_unref(attr[0].g);
    ms_graph_unref(attr[1].g);
    clear(&p);
    return st;
}
