/* run.c - running a graph: by a planned instance when one fits, else node by node.
 *
 * The run node by node is always right: every value has its own storage until its last use, and nothing is
 * written before everything is computed. It also records layouts, aliases, kernels and constants, from which
 * plan.c makes an instance; so the layouts are those that eager execution chooses. An instance belongs to one
 * run at a time; a second thread, or inputs of another layout, make another instance. Refused: planning ahead
 * without running, which would need a layout rule and an alias rule per operator. */
#include "core/mem.h"
#include "cpu/copy.h"
#include "exec/plan.h"
#include "trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INSTANCES 8
#define MAX_PLANS 64 /* a graph whose input layouts change all the time is run node by node in the end */
#define TRIM ((int64_t)96 << 20) /* unused bytes in the allocator's cache */
#define MAX_CONSTANT (1 << 20)   /* bytes of a constant that an instance keeps */

struct MsPlan {
    MsInstance *list;
    int n, n_made;
    int64_t arena; /* bytes, of the last instance made */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of every graph's plan list; held for moments */

/* One run: a call from outside, or g as a function (see exec.h). */
typedef struct Run {
    MsGraph *g;
    bool call;
    int n_result;
    MsTensor *const *in;
    MsTensor **out; /* entry not NULL: a tensor to write into */
} Run;

static MsTensor *input_of(const Run *x, int i)
{
    return x->call && i >= x->g->n_arg ? x->g->captured[i - x->g->n_arg] : x->in[i];
}

static MsStatus check_input(const MsGraph *g, int i, const MsTensor *t)
{
    const MsAval *a = &g->val[i];
    const char *name = g->name ? g->name : "graph";
    if (!t)
        return ms__failed() ? ms_error()->code
                            : MS_FAIL(MS_ERROR_TYPE, "For '%s', input %d is missing.", name, i);
    if (!t->storage)
        return MS_FAIL(MS_ERROR_RUNTIME, "For '%s', input %d has no value yet (it is traced).", name, i);
    bool same = t->dtype == a->dtype && t->ndim == a->ndim;
    for (int d = 0; d < a->ndim && same; d++) same = t->shape[d] == a->shape[d];
    if (same) return MS_OK;
    return MS_FAIL(t->dtype == a->dtype ? MS_ERROR_VALUE : MS_ERROR_TYPE,
                   "For '%s', input %d must be %s%s, but got %s%s.", name, i, ms_dtype_name(a->dtype),
                   ms__shape_text(a->ndim, a->shape), ms_dtype_name((MsDtype)t->dtype),
                   ms__shape_text(t->ndim, t->shape));
}

/* A row-major copy of t in the open scope. */
static MsTensor *clone(MsTensor *t)
{
    MsTensor *c = ms_tensor_empty((MsDtype)t->dtype, t->ndim, t->shape);
    return c && ms__copy(c, t) == MS_OK ? c : NULL;
}

/* ---- node by node ---- */

typedef struct Walk {
    const Run *x;
    const MsGraph *g;
    MsTensor **val;   /* by value, retained while needed */
    int32_t *last;    /* by value: the node of its last use */
    MsTensor **given; /* results; owned by the scope */
    MsRecord rec;
} Walk;

/* A permutation of row-major that fills its storage. */
static bool is_dense(const MsTensor *t)
{
    if (t->contiguous) return t->data == t->storage->data;
    int64_t step = 1;
    uint32_t done = 0;
    for (int k = 0; k < t->ndim; k++) {
        int found = -1;
        for (int d = 0; d < t->ndim && found < 0; d++)
            if (!(done >> d & 1) && (t->shape[d] == 1 || t->strides[d] == step)) found = d;
        if (found < 0) return false;
        done |= 1u << found;
        step *= t->shape[found];
    }
    return t->data == t->storage->data;
}

static MsStatus see_node(Walk *w, int k, MsTensor *const *in, const MsKernel *kernel)
{
    const MsNode *n = &w->g->node[k];
    w->rec.kernel[k] = kernel;
    bool constant = n->n_out > 0 && !(n->op->flags & (MS_OP_NO_FOLD | MS_OP_EFFECT | MS_OP_CONTROL));
    for (int i = 0; i < n->n_in && constant; i++) constant = n->in[i] < 0 || w->rec.seen[n->in[i]].constant;
    int64_t bytes = 0;
    for (int j = 0; j < n->n_out; j++) bytes += (int64_t)w->val[n->out + j]->storage->nbytes;
    constant &= bytes <= MAX_CONSTANT;
    for (int j = 0; j < n->n_out; j++) {
        const MsTensor *t = w->val[n->out + j];
        MsSeen *s = &w->rec.seen[n->out + j];
        bool alias = n->n_in > 0 && in[0] && t->storage == in[0]->storage &&
                     !(n->op->flags & (MS_OP_CONTROL | MS_OP_EFFECT));
        s->root = n->out + j;
        memcpy(s->strides, t->strides, sizeof s->strides);
        if (alias) {
            const MsSeen *base = &w->rec.seen[n->in[0]];
            s->root = base->root;
            s->offset = base->offset + (t->data - in[0]->data);
        } else if (!is_dense(t)) {
            ms__row_major(t->ndim, t->shape, s->strides);
        }
        if (constant) s->constant = ms_tensor_ref(w->val[n->out + j]);
    }
    return MS_OK;
}

/* Operators that matter to interpreters only: the value is the input's. */
static bool gives_input(const MsOp *op)
{
    return strcmp(op->name, "stop_gradient") == 0 || strcmp(op->name, "identity") == 0;
}

static MsStatus run_node(Walk *w, int k)
{
    const MsGraph *g = w->g;
    const MsNode *n = &g->node[k];
    MsTensor *few[16], **slots = few;
    if (n->n_in + n->n_out > 16 && !(slots = ms__malloc((size_t)(n->n_in + n->n_out) * sizeof *slots)))
        return MS_ERROR_MEMORY;
    MsTensor **in = slots, **out = slots + n->n_in;
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? NULL : w->val[n->in[i]];
    for (int j = 0; j < n->n_out; j++) out[j] = NULL;
    MsCall c = {n->op, n->attr, n->n_in, n->n_out, in, out, &g->val[n->out]};
    int mark = ms_scope_begin();
    const MsKernel *kernel = NULL;
    MsStatus st = MS_OK;
    if (gives_input(n->op))
        out[0] = in[0];
    else
        st = (kernel = ms__select(&c)) ? ms__run(kernel->run, &c) : ms_error()->code;
    for (int j = 0; j < n->n_out && st == MS_OK; j++) w->val[n->out + j] = ms_tensor_ref(out[j]);
    ms_scope_end(mark, NULL, 0);
    if (st == MS_OK) st = see_node(w, k, in, kernel);
    for (int i = 0; i < n->n_in; i++) {
        int32_t v = n->in[i];
        if (v < 0 || w->last[v] != k || !w->val[v]) continue;
        ms_tensor_unref(w->val[v]);
        w->val[v] = NULL;
    }
    for (int j = 0; j < n->n_out; j++) {
        int32_t v = n->out + j;
        if (w->last[v] >= 0 || !w->val[v]) continue;
        ms_tensor_unref(w->val[v]); /* never used */
        w->val[v] = NULL;
    }
    if (slots != few) free(slots);
    return st;
}

/* The results: a value's own tensor, or a copy where its storage is an input's, a constant's, another
 * result's, or larger than it. */
static MsStatus give_results(Walk *w)
{
    const MsGraph *g = w->g;
    for (int j = 0; j < w->x->n_result; j++) {
        MsTensor *t = w->val[g->out[j]];
        int32_t root = w->rec.seen[g->out[j]].root;
        bool own = root >= g->n_in && !w->rec.seen[root].constant &&
                   t->storage->nbytes == (size_t)t->numel * ms_dtype_size((MsDtype)t->dtype);
        for (int l = 0; l < j && own; l++) own = w->rec.seen[g->out[l]].root != root;
        w->given[j] = own ? ms__scope_own(ms_tensor_ref(t)) : clone(t);
        if (!w->given[j]) return ms__failed() ? ms_error()->code : MS_ERROR_MEMORY;
    }
    return MS_OK;
}

static MsStatus write_captured(MsTensor *to, MsTensor *value)
{
    MS_TRY(ms__copy(to, value));
    to->storage->version++;
    return MS_OK;
}

static MsStatus give_writes(Walk *w)
{
    const MsGraph *g = w->g;
    int n = g->n_out - w->x->n_result;
    for (int k = 0; k < n; k++) {
        int32_t v = g->out[g->n_result + k];
        if (w->rec.seen[v].root >= g->n_in || v == g->n_arg + g->written[k]) continue;
        MsTensor *t = clone(w->val[v]);
        if (!t) return ms_error()->code;
        ms_tensor_ref(t);
        ms_tensor_unref(w->val[v]);
        w->val[v] = t;
    }
    for (int k = 0; k < n; k++) {
        int32_t v = g->out[g->n_result + k];
        if (v != g->n_arg + g->written[k]) MS_TRY(write_captured(g->captured[g->written[k]], w->val[v]));
    }
    return MS_OK;
}

/* Results that the caller gave tensors for are written last: these may overlap inputs. What stays in `given`
 * goes to the caller's scope. */
static MsStatus give_out(const Run *x, MsTensor **given)
{
    for (int j = 0; j < x->n_result; j++) {
        if (x->out[j] && x->out[j] != given[j]) MS_TRY(ms__copy(x->out[j], given[j]));
        if (x->out[j]) x->out[j]->storage->version++;
    }
    for (int j = 0; j < x->n_result; j++) {
        if (x->out[j])
            given[j] = NULL;
        else
            x->out[j] = given[j];
    }
    return MS_OK;
}

static void find_last_uses(Walk *w)
{
    const MsGraph *g = w->g;
    for (int v = 0; v < g->n_val; v++) w->last[v] = v < g->n_in ? g->n_node : -1;
    for (int k = 0; k < g->n_node; k++)
        for (int i = 0; g->node[k].op && i < g->node[k].n_in; i++)
            if (g->node[k].in[i] >= g->n_in) w->last[g->node[k].in[i]] = k;
    for (int j = 0; j < g->n_out; j++) w->last[g->out[j]] = g->n_node;
}

static void walk_free(Walk *w)
{
    for (int v = 0; v < w->g->n_val; v++) {
        if (w->val) ms_tensor_unref(w->val[v]);
        if (w->rec.seen) ms_tensor_unref(w->rec.seen[v].constant);
    }
    free(w->val);
    free(w->last);
    free(w->given);
    free(w->rec.seen);
    free(w->rec.kernel);
}

static bool walk_init(Walk *w, const Run *x)
{
    const MsGraph *g = x->g;
    size_t n = (size_t)g->n_val;
    *w = (Walk){.x = x, .g = g};
    w->val = ms__calloc(n, sizeof *w->val);
    w->last = ms__malloc(n * sizeof *w->last);
    w->given = ms__calloc((size_t)x->n_result, sizeof *w->given);
    w->rec.seen = ms__calloc(n, sizeof *w->rec.seen);
    w->rec.kernel = ms__calloc((size_t)g->n_node, sizeof *w->rec.kernel);
    if (!w->val || !w->last || !w->given || !w->rec.seen || !w->rec.kernel) return false;
    for (int i = 0; i < g->n_in; i++) {
        MsTensor *t = w->val[i] = ms_tensor_ref(input_of(x, i));
        w->rec.seen[i].root = i;
        memcpy(w->rec.seen[i].strides, t->strides, sizeof t->strides);
    }
    find_last_uses(w);
    return true;
}

/* Keeps an instance for later runs; memory refused for it is no failure of this run. */
static void keep_plan(Walk *w);

/* The sizes of a recording run do not come again, since the plan has an arena: what it frees would lie in the
 * allocator's cache beside blocks of other sizes, and the first step would need far more than the later ones. */
static void trim_cache(void)
{
    MsMemoryStats m = ms_memory_stats();
    if (m.reserved - m.allocated > TRIM + m.allocated / 16) ms_memory_empty_cache();
}

static MsStatus run_nodes(const Run *x, bool keep)
{
    Walk w;
    const MsGraph *g = x->g;
    int mark = ms_scope_begin();
    MsStatus st = walk_init(&w, x) ? MS_OK : MS_ERROR_MEMORY;
    for (int k = 0; k < g->n_node && st == MS_OK; k++) {
        st = ms__poll_interrupt();
        if (st == MS_OK && g->node[k].op) st = ms__error_in(g->node[k].loc, run_node(&w, k));
        if (keep && k % 8 == 0) trim_cache();
    }
    if (st == MS_OK) st = give_results(&w);
    if (st == MS_OK) st = give_writes(&w);
    if (st == MS_OK) st = give_out(x, w.given);
    if (st == MS_OK && keep) keep_plan(&w);
    ms_scope_end(mark, w.given, st == MS_OK ? x->n_result : 0);
    walk_free(&w);
    return st;
}

/* ---- planned ---- */

static void patch(const MsInstance *p, int first, int n, MsStorage *storage, char *data)
{
    for (int k = first; k < first + n; k++) {
        p->patch[k].t->storage = storage;
        p->patch[k].t->data = data + p->patch[k].offset;
    }
}

static bool fits(const Run *x, const MsInstance *p)
{
    if (p->busy || p->call != x->call) return false;
    for (int i = 0; i < x->g->n_in; i++) {
        const MsTensor *t = input_of(x, i);
        for (int d = 0; d < t->ndim; d++)
            if (t->strides[d] != p->input[i].strides[d] && t->shape[d] != 1) return false;
    }
    return true;
}

/* A captured tensor that is written while the run goes on must not be seen through any other input. */
static bool overlaps(const Run *x, const MsInstance *p, int n_in)
{
    const MsGraph *g = x->g;
    for (int k = 0; k < p->n_write; k++) {
        if (!p->write[k].direct) continue;
        const MsTensor *to = g->captured[p->write[k].captured];
        for (int i = 0; i < n_in; i++) {
            const MsTensor *t = input_of(x, i);
            if (t->storage == to->storage && i != g->n_arg + p->write[k].captured) return true;
        }
    }
    return false;
}

/* Points the handles at this run's inputs. False when they overlap in a way that the instance cannot serve.
 */
static bool bind_inputs(const Run *x, MsInstance *p)
{
    bool moved = false;
    for (int i = 0; i < x->g->n_in; i++) {
        MsTensor *t = input_of(x, i);
        MsInput *to = &p->input[i];
        if (to->storage == t->storage && to->data == t->data) continue;
        patch(p, to->first, to->n_patch, t->storage, t->data);
        to->storage = t->storage;
        to->data = t->data;
        moved |= i >= x->g->n_arg;
    }
    return !p->no_overlap || !overlaps(x, p, moved ? x->g->n_in : x->g->n_arg);
}

/* Storage for the direct results. A tensor of the caller is used as it is when it has the layout and shares
 * nothing with an input. */
static bool usable(const Run *x, const MsResult *r, const MsTensor *t)
{
    for (int d = 0; d < t->ndim; d++)
        if (t->strides[d] != r->strides[d] && t->shape[d] != 1) return false;
    for (int i = 0; i < x->g->n_in; i++)
        if (input_of(x, i)->storage == t->storage) return false;
    return true;
}

static MsStatus make_results(const Run *x, MsInstance *p)
{
    for (int j = 0; j < p->n_result; j++) {
        const MsResult *r = &p->result[j];
        p->fresh[j] = NULL;
        if (!r->direct) continue;
        if (x->out[j] && r->offset == 0 && usable(x, r, x->out[j])) {
            p->fresh[j] = x->out[j];
        } else {
            const MsAval *a = &x->g->val[r->value];
            MsStorage *s = ms__storage_new(r->nbytes);
            if (!s) return MS_ERROR_MEMORY;
            p->fresh[j] =
                ms__tensor_borrow(s, (char *)s->data + r->offset, a->dtype, a->ndim, a->shape, r->strides);
            ms__storage_unref(s);
            if (!p->fresh[j]) return ms__failed() ? ms_error()->code : MS_ERROR_MEMORY;
        }
        patch(p, r->first, r->n_patch, p->fresh[j]->storage, p->fresh[j]->data - r->offset);
    }
    return MS_OK;
}

/* A kernel made its own tensor for an output: its content goes where the plan wants it. */
static MsStatus fetch_outputs(MsPlanned *s)
{
    MsStatus st = MS_OK;
    for (int j = 0; j < s->call.n_out; j++) {
        if (s->call.out[j] == s->preset[j]) continue;
        if (st == MS_OK) st = ms__copy(s->preset[j], s->call.out[j]);
        s->call.out[j] = s->preset[j];
    }
    return st;
}

static MsStatus run_step(MsPlanned *s)
{
    MsStatus st = ms__run(s->run, &s->call);
    bool moved = false;
    for (int j = 0; j < s->call.n_out; j++) moved |= s->call.out[j] != s->preset[j];
    if (s->writes)
        for (int j = 0; j < s->call.n_out; j++) s->preset[j]->storage->version++;
    if (__builtin_expect(!moved, 1)) return st;
    if (st == MS_OK) return fetch_outputs(s);
    for (int j = 0; j < s->call.n_out; j++) s->call.out[j] = s->preset[j];
    return st;
}

static MsStatus run_located(MsPlanned *s)
{
    MsStatus st = run_step(s);
    return __builtin_expect(st == MS_OK, 1) ? MS_OK : ms__error_in(s->loc, st);
}

static MsStatus run_steps(MsInstance *p)
{
    MsPlanned *s = p->step, *end = s + p->n_step;
    if (!ms__profiling()) {
        for (; s < end; s++) {
            MS_TRY(ms__poll_interrupt());
            MS_TRY(run_located(s));
        }
        return MS_OK;
    }
    int64_t from = ms__now();
    for (; s < end; s++) {
        MS_TRY(ms__poll_interrupt());
        MS_TRY(run_located(s));
        int64_t now = ms__now();
        s->ns += now - from;
        from = now;
    }
    p->runs++;
    return MS_OK;
}

static MsStatus finish(const MsGraph *g, MsInstance *p)
{
    for (int j = 0; j < p->n_result; j++)
        if (!p->result[j].direct && !(p->fresh[j] = clone(p->handle[p->result[j].value])))
            return ms_error()->code;
    MsTensor *from[p->n_write > 0 ? p->n_write : 1];
    for (int k = 0; k < p->n_write; k++) {
        const MsWrite *w = &p->write[k];
        if (w->direct) continue;
        from[k] = w->from_input ? clone(p->handle[w->value]) : p->handle[w->value];
        if (!from[k]) return ms_error()->code;
    }
    for (int k = 0; k < p->n_write; k++) {
        MsTensor *to = g->captured[p->write[k].captured];
        if (p->write[k].direct)
            to->storage->version++;
        else
            MS_TRY(write_captured(to, from[k]));
    }
    return MS_OK;
}

static MsStatus run_planned(const Run *x, MsInstance *p)
{
    int mark = ms_scope_begin();
    MsStatus st = make_results(x, p);
    if (st == MS_OK) st = run_steps(p);
    if (st == MS_OK) st = finish(x->g, p);
    if (st == MS_OK) st = give_out(x, p->fresh);
    ms_scope_end(mark, p->fresh, st == MS_OK ? p->n_result : 0);
    return st;
}

/* ---- the pool of instances ---- */

static void plan_free(MsPlan *plan)
{
    while (plan->list) {
        MsInstance *p = plan->list;
        plan->list = p->next;
        ms__instance_free(p);
    }
    free(plan);
}

static MsInstance *take(const Run *x, bool *make)
{
    MsInstance *p = NULL;
    pthread_mutex_lock(&lock);
    const MsPlan *plan = x->g->plan;
    if (plan)
        for (p = plan->list; p && !fits(x, p);) p = p->next;
    if (p) p->busy = true;
    *make = !plan || plan->n_made < MAX_PLANS;
    pthread_mutex_unlock(&lock);
    return p;
}

/* Takes the oldest idle instance out of a full list. */
static MsInstance *evict(MsPlan *plan)
{
    MsInstance **at = NULL;
    for (MsInstance **q = &plan->list; *q; q = &(*q)->next)
        if (!(*q)->busy) at = q;
    if (plan->n < MAX_INSTANCES || !at) return NULL;
    MsInstance *p = *at;
    *at = p->next;
    plan->n--;
    return p;
}

static void keep_plan(Walk *w)
{
    MsGraph *g = w->x->g;
    bool failed = ms__failed();
    MsTensor **all = ms__malloc((size_t)g->n_in * sizeof *all);
    for (int i = 0; i < g->n_in && all; i++) all[i] = w->val[i];
    MsInstance *p = all ? ms__plan(g, w->x->call, &w->rec, all) : NULL, *old = NULL;
    free(all);
    if (p) {
        pthread_mutex_lock(&lock);
        if (!g->plan && (g->plan = ms__calloc(1, sizeof *g->plan))) g->plan_free = plan_free;
        if (g->plan) {
            old = evict(g->plan);
            p->next = g->plan->list;
            g->plan->list = p;
            g->plan->n++;
            g->plan->n_made++;
            g->plan->arena = (int64_t)p->arena->nbytes;
        } else {
            old = p;
        }
        pthread_mutex_unlock(&lock);
    }
    if (old) ms__instance_free(old);
    if (!failed) ms_error_clear();
}

static MsStatus run_ready(const Run *x)
{
    bool make;
    MsInstance *p = take(x, &make);
    if (!p) return run_nodes(x, make);
    MsStatus st = bind_inputs(x, p) ? run_planned(x, p) : run_nodes(x, false);
    p->busy = false;
    return st;
}

static MsStatus run(const Run *x)
{
    const MsGraph *g = x->g;
    for (int i = 0; i < g->n_in; i++) {
        MS_TRY(check_input(g, i, input_of(x, i)));
        MS_TRY(ms__ready(input_of(x, i)));
    }
    for (int j = 0; j < x->n_result; j++)
        if (x->out[j]) MS_TRY(ms__settle(x->out[j]));
    for (int k = 0; x->call && k < g->n_out - g->n_result; k++)
        MS_TRY(ms__settle(g->captured[g->written[k]]));
    int was = ms__lazy_state;
    ms__lazy_state = -1;
    MsStatus st = run_ready(x);
    ms__lazy_state = was;
    return st;
}

MsStatus ms__graph_run_into(MsGraph *g, MsTensor *const *in, MsTensor **out)
{
    return run(&(Run){g, false, g->n_out, in, out});
}

MsStatus ms__graph_run(MsGraph *g, MsTensor *const *in, MsTensor **out)
{
    for (int j = 0; j < g->n_out; j++) out[j] = NULL;
    return run(&(Run){g, false, g->n_out, in, out});
}

MsStatus ms__graph_run_call(MsGraph *g, MsTensor *const *arg, MsTensor **result)
{
    for (int j = 0; j < g->n_result; j++) result[j] = NULL;
    return run(&(Run){g, true, g->n_result, arg, result});
}

static int64_t arena_of(const MsGraph *g)
{
    int64_t bytes = g->plan ? g->plan->arena : 0;
    for (int k = 0; k < g->n_node; k++) {
        const MsNode *n = &g->node[k];
        const MsSig *s = n->op ? ms__sig(n->op) : NULL;
        for (int a = 0; s && a < s->n_attr; a++)
            if (n->attr[a].kind == MS_ATTR_GRAPH) bytes += arena_of(n->attr[a].g);
    }
    return bytes;
}

int64_t ms_graph_arena(const MsGraph *g)
{
    return arena_of(g);
}
