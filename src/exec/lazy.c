/* lazy.c - pending values: elementwise results of eager calls that are computed when somebody looks, a whole
 * expression as one fused program (docs/design/008-lazy-fusion.md).
 *
 * A pending value is a storage without a block and the call that gives its content; inputs may be pending,
 * too. Who needs the content of one computes it: the calls that it stands on become a graph, the passes `norm`
 * and `fuse` of graph mode rewrite it, and its nodes run. Values in the middle stay pending (most are never
 * asked for), but a costly one is kept, and a cheap call is computed along with others twice at most.
 * Invariant: the inputs of a pending value have the content they had at the call, because whoever changes a
 * storage first computes what is pending on it (ms__settle). One lock guards everything here and is held while
 * computing.
 * Refused: a queue of calls that is flushed as a whole, which writes every value that a tape still holds. */
#define _GNU_SOURCE /* a recursive mutex that needs no initialisation */
#include "core/mem.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/elementwise.h"
#include "graph/match.h"
#include "op/fused.h"
#include "trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_STEPS 150    /* calls of an expression */
#define MAX_OPERANDS 14  /* tensors that it reads */
#define MAX_OUTPUTS 16   /* values that are kept of it */
#define MAX_PASSED 2     /* times that a cheap call is computed without its value being kept */
#define HELD (256 << 20) /* bytes of operands beyond which those that nobody else needs are looked for */
#define N_CACHE 512

struct MsLazy {
    MsStorage *storage; /* not retained: it holds this */
    const MsOp *op;
    MsAttr attr[3];
    int n_in;
    MsTensor *in[6]; /* retained */
    MsLazyUse use[6];
    MsAval aval;
    int64_t strides[MS_MAX_DIM];
    int steps, operands; /* of the expression, upper bounds: what is used twice counts twice */
    int passed;
    int64_t held;          /* bytes of operands */
    MsLazy *older, *newer; /* of all */
    uint32_t mark;         /* search that found it, */
    int32_t index;         /* and its number there */
    MsStorage *relu;       /* not retained: its content is the ReLU of this value, or NULL */
    MsLazyUse relu_use;    /* the place in its list */
    bool keep;             /* the computation that goes on gives its value */
};

_Thread_local int ms__lazy_state;

static _Atomic int64_t min_numel;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static MsLazy *oldest, *newest;
static int64_t held, held_limit = HELD;
static uint32_t search;

extern const MsOp ms_op_batch_norm, ms_op_batch_norm_stats, ms_op_batch_norm_apply, ms_op_batch_norm_grad,
    ms_op_batch_norm_act_grad, ms_op_relu, ms_op_relu_grad;

/* ---- switch and lock ---- */

static void enter(void)
{
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

static void leave_child(void) /* who held it is not here */
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

int ms__lazy_enter(void)
{
    int was = ms__lazy_state;
    if (was == 0 && atomic_load_explicit(&min_numel, memory_order_relaxed)) ms__lazy_state = 1;
    return was;
}

void ms__lazy_leave(int was)
{
    ms__lazy_state = was;
}

static void watch_forks(void)
{
    pthread_atfork(enter, leave, leave_child);
}

void ms__lazy_set(int64_t n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    atomic_store(&min_numel, n);
}

int64_t ms__lazy_get(void)
{
    return atomic_load(&min_numel);
}

/* ---- the list ---- */

static void link_use(MsLazyUse *u, MsLazy *by, MsStorage *s)
{
    *u = (MsLazyUse){by, s->users, NULL};
    if (u->next) u->next->prev = u;
    s->users = u;
}

static void unlink_use(MsLazyUse *u, MsStorage *s)
{
    if (u->next) u->next->prev = u->prev;
    if (u->prev)
        u->prev->next = u->next;
    else
        s->users = u->next;
}

static void forget_relu(MsLazy *p)
{
    if (p->relu) unlink_use(&p->relu_use, p->relu);
    p->relu = NULL;
}

static void detach(MsLazy *p)
{
    forget_relu(p);
    *(p->older ? &p->older->newer : &oldest) = p->newer;
    *(p->newer ? &p->newer->older : &newest) = p->older;
    held -= p->held;
    p->storage->lazy = NULL;
    for (int i = 0; i < p->n_in; i++)
        if (p->in[i]) unlink_use(&p->use[i], p->in[i]->storage);
    for (int i = 0; i < p->n_in; i++) ms_tensor_unref(p->in[i]);
    free(p);
}

void ms__lazy_drop(MsStorage *s)
{
    enter();
    if (s->lazy) detach(s->lazy);
    while (s->users) forget_relu(s->users->by); /* others keep the storage */
    leave();
}

/* ---- an expression ---- */

/* The calls that are computed together, in order: those of node[], then `last` where there is one. */
typedef struct Job {
    MsLazy *node[MAX_STEPS];
    MsTensor *operand[MAX_OPERANDS + 6];
    int n, n_operand;
    const MsCall *last;
    bool large; /* it has no room for all */
} Job;

static MsLazy *pending(const MsTensor *t)
{
    return t && t->storage ? t->storage->lazy : NULL;
}

static bool same_value(const MsTensor *a, const MsTensor *b)
{
    if (a == b) return true;
    if (a->ndim != b->ndim || a->dtype != b->dtype) return false;
    if (a->literal && b->literal && a->ndim == 0) /* the same number of the program */
        return memcmp(a->data, b->data, ms_dtype_size((MsDtype)a->dtype)) == 0;
    return a->storage == b->storage && a->data == b->data &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]) == 0 &&
           memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof a->strides[0]) == 0;
}

static void collect(Job *j, MsLazy *p);

static void collect_input(Job *j, MsTensor *t)
{
    if (!t) return;
    if (pending(t)) {
        collect(j, pending(t));
        return;
    }
    if (!t->data) t->data = t->storage->data;
    for (int i = 0; i < j->n_operand; i++)
        if (same_value(j->operand[i], t)) return;
    if (j->n_operand == MAX_OPERANDS + 6)
        j->large = true;
    else
        j->operand[j->n_operand++] = t;
}

static void collect(Job *j, MsLazy *p)
{
    if (p->mark == search || j->large) return;
    p->mark = search;
    p->keep = false;
    for (int i = 0; i < p->n_in; i++) collect_input(j, p->in[i]);
    if (j->n == MAX_STEPS) j->large = true;
    if (j->large) return;
    p->index = j->n;
    j->node[j->n++] = p;
}

/* The value id of t in the graph of the job. */
static int32_t id_of(const Job *j, const MsTensor *t)
{
    if (!t) return -1;
    if (pending(t)) return j->n_operand + pending(t)->index;
    for (int i = 0; i < j->n_operand; i++)
        if (same_value(j->operand[i], t)) return i;
    return -1;
}

/* ---- graphs, one per form of expression ---- */

enum {
    MAX_KEY = MAX_STEPS * 32 + 1024
};

typedef struct Form {
    uint64_t hash;
    size_t n;
    uint64_t *key;
    MsGraph *graph;
} Form;

static Form cache[N_CACHE];

typedef struct Key {
    uint64_t word[MAX_KEY];
    size_t n;
} Key;

static void put(Key *k, uint64_t w)
{
    if (k->n < MAX_KEY) k->word[k->n] = w;
    k->n++;
}

static void put_aval(Key *k, const MsAval *a)
{
    put(k, (uint64_t)a->dtype << 8 | (uint64_t)a->ndim);
    for (int d = 0; d < a->ndim; d++) put(k, (uint64_t)a->shape[d]);
}

static int n_attr(const MsOp *op)
{
    const MsSig *s = ms__sig(op);
    return s ? s->n_attr : 0;
}

static void put_call(Key *k, const Job *j, const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in)
{
    put(k, (uint64_t)(uintptr_t)op);
    for (int i = 0; i < n_attr(op); i++) {
        put(k, attr[i].kind);
        put(k, (uint64_t)attr[i].i);
    }
    for (int i = 0; i < n_in; i++) put(k, (uint64_t)(int64_t)id_of(j, in[i]));
}

static void put_job(Key *k, const Job *j)
{
    k->n = 0;
    put(k, (uint64_t)j->n << 32 | (uint64_t)j->n_operand << 1 | (j->last != NULL));
    for (int i = 0; i < j->n_operand; i++) {
        MsAval a = ms__aval(j->operand[i]);
        put_aval(k, &a);
    }
    for (int i = 0; i < j->n; i++) {
        const MsLazy *p = j->node[i];
        put_call(k, j, p->op, p->attr, p->n_in, p->in);
        put_aval(k, &p->aval);
        put(k, p->keep);
    }
    if (j->last) put_call(k, j, j->last->op, j->last->attr, j->last->n_in, j->last->in);
}

static MsStatus add_call(MsGraph *g, const Job *j, const MsOp *op, const MsAttr *attr, int n_in,
                         MsTensor *const *in, int n_out, const MsAval *aval)
{
    int32_t id[6];
    for (int i = 0; i < n_in; i++) id[i] = id_of(j, in[i]);
    return ms__graph_add(g, op, attr, n_in, id, n_out, aval) < 0 ? ms_error()->code : MS_OK;
}

/* Outputs: the values that are kept, then those of the last call. */
static MsStatus build(MsGraph *g, const Job *j)
{
    int32_t out[MAX_OUTPUTS + MS_MAX_OUT];
    int n_out = 0;
    for (int i = 0; i < j->n_operand; i++) {
        MsAval a = ms__aval(j->operand[i]);
        if (ms__graph_input(g, &a) < 0) return ms_error()->code;
    }
    for (int i = 0; i < j->n; i++) {
        const MsLazy *p = j->node[i];
        MS_TRY(add_call(g, j, p->op, p->attr, p->n_in, p->in, 1, &p->aval));
        if (p->keep) out[n_out++] = j->n_operand + i;
    }
    const MsCall *c = j->last;
    if (c) MS_TRY(add_call(g, j, c->op, c->attr, c->n_in, c->in, c->n_out, c->aval));
    for (int i = 0; c && i < c->n_out; i++) out[n_out++] = j->n_operand + j->n + i;
    MS_TRY(ms__graph_set_out(g, n_out, out));
    bool changed;
    MS_TRY(ms__pass_run(&ms__pass_norm, g, &changed));
    return ms__pass_run(&ms__pass_fuse, g, &changed);
}

/* The graph of the job, which the cache keeps. */
static MsGraph *graph_of(const Job *j)
{
    static Key key; /* under the lock */
    put_job(&key, j);
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < key.n && i < MAX_KEY; i++)
        hash = (hash ^ key.word[i]) * 1099511628211u, hash ^= hash >> 29;
    Form *f = &cache[hash % N_CACHE];
    if (f->graph && f->hash == hash && f->n == key.n && memcmp(f->key, key.word, key.n * sizeof *f->key) == 0)
        return ms_graph_ref(f->graph);
    MsGraph *g = ms__graph_new();
    if (!g || build(g, j) != MS_OK) {
        ms_graph_unref(g);
        return NULL;
    }
    uint64_t *copy = key.n <= MAX_KEY ? malloc(key.n * sizeof *copy) : NULL;
    if (!copy) return g;
    memcpy(copy, key.word, key.n * sizeof *copy);
    ms_graph_unref(f->graph);
    free(f->key);
    *f = (Form){hash, key.n, copy, ms_graph_ref(g)};
    return g;
}

/* ---- computing ---- */

static MsStatus call(MsCall *c)
{
    MsTensor *want[MAX_OUTPUTS + MS_MAX_OUT];
    memcpy(want, c->out, (size_t)c->n_out * sizeof *want);
    const MsKernel *k = ms__select(c);
    if (!k) return ms_error()->code;
    MsStatus st = ms__run_now(k, c);
    for (int i = 0; i < c->n_out && st == MS_OK; i++) {
        if (!want[i] || want[i] == c->out[i]) continue;
        st = ms__copy(want[i], c->out[i]); /* the kernel made its own tensor */
        c->out[i] = want[i];
    }
    return st;
}

/* Runs the nodes of g. out[]: tensors to write into, or NULL: then set, in the open scope. */
static MsStatus run_graph(const MsGraph *g, MsTensor *const *operand, MsTensor **out)
{
    MsTensor **val = ms__calloc((size_t)g->n_val, sizeof *val);
    if (!val) return MS_ERROR_MEMORY;
    MsStatus st = MS_OK;
    for (int i = 0; i < g->n_in; i++) val[i] = operand[i];
    for (int i = 0; i < g->n_out; i++) val[g->out[i]] = out[i];
    for (int k = 0; k < g->n_node && st == MS_OK; k++) {
        const MsNode *n = &g->node[k];
        MsTensor *in[MS_MAX_TILE_OPERANDS];
        if (!n->op) continue;
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? NULL : val[n->in[i]];
        st = call(&(MsCall){n->op, n->attr, n->n_in, n->n_out, in, &val[n->out], &g->val[n->out]});
    }
    for (int i = 0; i < g->n_out; i++) out[i] = val[g->out[i]];
    free(val);
    return st;
}

/* A handle to write the content of p through. */
static MsTensor *begin_value(MsLazy *p)
{
    MsStorage *s = p->storage;
    if (!s->data && !(s->data = ms__alloc(s->nbytes))) return NULL;
    return ms__tensor_borrow(s, s->data, p->aval.dtype, p->aval.ndim, p->aval.shape, p->strides);
}

/* The affine map of a normalisation that stays pending knows its ReLU: the gradient asks (take_norm_grad). */
static void remember_relu(MsLazy *p)
{
    MsLazy *from = p->op == &ms_op_relu ? pending(p->in[0]) : NULL;
    if (!from || from->op != &ms_op_batch_norm_apply) return;
    forget_relu(from);
    from->relu = p->storage;
    link_use(&from->relu_use, from, p->storage);
}

/* Computes the values that are kept, and the last call. */
static MsStatus run_job(Job *j)
{
    MsTensor *out[MAX_OUTPUTS + MS_MAX_OUT] = {NULL};
    MsLazy *kept[MAX_OUTPUTS];
    int n = 0;
    MsStatus st = MS_OK;
    int mark = ms_scope_begin();
    for (int i = 0; i < j->n; i++)
        if (j->node[i]->keep) kept[n++] = j->node[i];
    for (int i = 0; i < n && st == MS_OK; i++)
        if (!(out[i] = begin_value(kept[i]))) st = ms_error()->code;
    if (st == MS_OK && j->n == 1 && !j->last) {
        MsLazy *p = kept[0];
        st = call(&(MsCall){p->op, p->attr, p->n_in, 1, p->in, out, &p->aval});
    } else if (st == MS_OK) {
        MsGraph *g = graph_of(j);
        st = g ? run_graph(g, j->operand, out) : ms_error()->code;
        ms_graph_unref(g);
    }
    for (int i = 0; i < n; i++) {
        MsStorage *s = kept[i]->storage;
        if (st == MS_OK) {
            remember_relu(kept[i]);
            detach(kept[i]);
        } else if (s->data) {
            ms__free(s->data, s->nbytes);
            s->data = NULL;
        }
    }
    int n_last = j->last && st == MS_OK ? j->last->n_out : 0;
    for (int i = 0; i < n_last; i++) j->last->out[i] = out[n + i];
    ms_scope_end(mark, out + n, n_last);
    return st;
}

/* Does anybody but pending values refer to p? */
static bool is_wanted(const MsLazy *p)
{
    const MsTensor *t = NULL;
    int uses = 0;
    for (const MsLazyUse *u = p->storage->users; u; u = u->next)
        for (int i = 0; i < u->by->n_in; i++)
            if (&u->by->use[i] == u) t = u->by->in[i], uses++;
    return atomic_load(&p->storage->ref) > 1 || (t && atomic_load(&t->ref) > uses);
}

/* Operators that cost less to compute again than a value costs to be written. */
static bool is_cheap(const MsLazy *p)
{
    static const char *const names[] = {
        "add",   "sub",        "mul",       "div",      "neg",   "abs",  "square",
        "relu",  "relu_grad",  "maximum",   "minimum",  "where", "cast", "batch_norm_apply",
        "relu6", "relu6_grad", "clamp_min", "clamp_max"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], p->op->name) == 0) return true;
    return p->aval.dtype == MS_BOOL;
}

/* Marks what the job gives beside its end: what is wanted and costly, or was computed often enough. */
static void choose_kept(Job *j)
{
    int n = 1; /* the end */
    for (int i = 0; i < j->n; i++) {
        MsLazy *p = j->node[i];
        if (p->keep) continue;
        p->keep = (p->passed >= MAX_PASSED || !is_cheap(p)) && n < MAX_OUTPUTS && is_wanted(p);
        n += p->keep;
        p->passed++;
    }
}

/* Gives p's storage, which somebody holds, its content. */
static MsStatus compute(MsLazy *p)
{
    Job j = {.n = 0};
    search++;
    collect(&j, p);
    for (int i = 0; j.large && i < p->n_in; i++) /* one after the other: then p alone is left */
        if (pending(p->in[i])) MS_TRY(compute(pending(p->in[i])));
    if (j.large) {
        j = (Job){.n = 0};
        search++;
        collect(&j, p);
    }
    p->keep = true;
    choose_kept(&j);
    return run_job(&j);
}

MsStatus ms__lazy_ready(MsTensor *t)
{
    enter();
    MsStatus st = t->storage->lazy ? compute(t->storage->lazy) : MS_OK;
    if (st == MS_OK) t->data = t->storage->data;
    leave();
    return st;
}

MsStatus ms__lazy_settle(MsTensor *t)
{
    enter();
    MsStorage *s = t->storage;
    MsStatus st = ms__ready(t);
    for (MsLazyUse *u = s->users; u && st == MS_OK;) {
        if (u->by->relu == s) {
            forget_relu(u->by);
            u = s->users;
            continue;
        }
        MsStorage *y = u->by->storage;
        if (!ms__storage_hold(y)) { /* it is being dropped by a thread that waits for the lock */
            u = u->next;
            continue;
        }
        st = compute(u->by);
        ms__storage_unref(y);
        u = s->users;
    }
    leave();
    return st;
}

/* ---- postponing ---- */

/* t->storage's bytes when nothing but pending values refers to it, else 0. */
static int64_t only_here(const MsTensor *t)
{
    int uses = 0;
    if (atomic_load(&t->storage->ref) != 1) return 0;
    for (const MsLazyUse *u = t->storage->users; u; u = u->next)
        for (int i = 0; i < u->by->n_in; i++) uses += &u->by->use[i] == u && u->by->in[i] == t;
    return uses == atomic_load(&t->ref) ? (int64_t)t->storage->nbytes : 0;
}

/* Computes the values that keep more memory than they would take. */
static MsStatus release_held(void)
{
    MsStatus st = MS_OK;
    for (MsLazy *p = oldest; p && st == MS_OK;) {
        MsLazy *newer = p->newer; /* computing p ends p and older ones */
        Job j = {.n = 0};
        int64_t bytes = 0;
        search++;
        collect(&j, p);
        for (int i = 0; i < j.n_operand; i++) bytes += only_here(j.operand[i]);
        MsStorage *s = p->storage;
        if ((j.large || bytes > (int64_t)s->nbytes) && ms__storage_hold(s)) {
            st = compute(p);
            ms__storage_unref(s);
        }
        p = newer;
    }
    held_limit = held > HELD / 2 ? 2 * held : HELD;
    return st;
}

static void attach(MsLazy *p, MsStorage *s)
{
    p->storage = s;
    for (int i = 0; i < p->n_in; i++)
        if (p->in[i]) link_use(&p->use[i], p, p->in[i]->storage);
    p->older = newest;
    *(newest ? &newest->newer : &oldest) = p;
    newest = p;
    held += p->held;
    s->lazy = p;
}

/* Sets what p's expression consists of; true when that is too much. */
static bool measure(MsLazy *p)
{
    p->steps = 1;
    p->operands = 0;
    p->held = 0;
    for (int i = 0; i < p->n_in; i++) {
        const MsLazy *from = pending(p->in[i]);
        p->steps += from ? from->steps : 0;
        p->operands += from ? from->operands : p->in[i] != NULL;
        if (p->in[i] && !from) p->held += (int64_t)p->in[i]->storage->nbytes;
    }
    if (p->steps < MAX_STEPS && p->operands <= MAX_OPERANDS) return false;
    Job j = {.n = 0};
    search++;
    collect(&j, p);
    p->steps = j.n;
    p->operands = j.n_operand;
    return j.large || j.n >= MAX_STEPS || j.n_operand > MAX_OPERANDS;
}

/* The pending result of a call. Small expressions grow further, large ones are computed. */
static MsStatus postpone(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, const MsAval *a,
                         const int64_t *strides, MsTensor **out)
{
    MsTensor *y = ms__tensor_pending(a, strides);
    MsLazy *p = y ? ms__calloc(1, sizeof *p) : NULL;
    if (!p) return MS_ERROR_MEMORY;
    p->op = op;
    for (int i = 0; i < n_attr(op); i++) p->attr[i] = attr[i];
    p->n_in = n_in;
    for (int i = 0; i < n_in; i++) p->in[i] = ms_tensor_ref(in[i]);
    p->aval = *a;
    memcpy(p->strides, y->strides, sizeof p->strides);
    enter();
    bool large = measure(p);
    attach(p, y->storage);
    MsStatus st = large ? ms__lazy_ready(y) : MS_OK;
    if (st == MS_OK && held > held_limit) st = release_held();
    leave();
    *out = y;
    return st;
}

/* May the content of the inputs be read later? */
static bool may_wait(int n_in, MsTensor *const *in)
{
    for (int i = 0; i < n_in; i++)
        if (in[i] && (in[i]->trace || in[i]->alias || in[i]->storage->exposed)) return false;
    return true;
}

static MsStatus take_elementwise(MsCall *c, bool *taken)
{
    if (c->n_out != 1 || c->n_in < 1 || c->n_in > 3 || c->op->flags & MS_OP_NO_FOLD) return MS_OK;
    MsDtype in[3];
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i] || ms_dtype_is_complex((MsDtype)c->in[i]->dtype)) return MS_OK;
        in[i] = (MsDtype)c->in[i]->dtype;
    }
    int row = ms__row_of(c->op);
    MsStep step;
    if (row < 0 || ms_dtype_is_complex(c->aval[0].dtype) || ms__fused_may_raise(c->op, in[0]) ||
        !may_wait(c->n_in, c->in))
        return MS_OK;
    MS_TRY(ms__step_set(&step, c->op, row, c->attr, in, c->aval[0].dtype));
    int64_t row_major[MS_MAX_DIM];
    const int64_t *strides = ms__layout_like(c, 0);
    if (!strides) ms__row_major(c->aval[0].ndim, c->aval[0].shape, row_major);
    *taken = true;
    return postpone(c->op, c->attr, c->n_in, c->in, &c->aval[0], strides ? strides : row_major, &c->out[0]);
}

/* The affine map waits for the ReLU behind it; the statistics do not. */
static MsStatus take_norm(MsCall *c, bool *taken)
{
    const MsTensor *x = c->in[0];
    bool stats = c->op == &ms_op_batch_norm;
    if ((x->dtype != MS_FLOAT32 && x->dtype != MS_BFLOAT16) || c->in[1]->dtype != MS_FLOAT32) return MS_OK;
    if (x->ndim < 3 || x->shape[1] == 1 || !ms__is_channels_last(x) || !may_wait(c->n_in, c->in))
        return MS_OK;
    if (!stats && (c->in[5] || c->attr[1].i)) return MS_OK;
    MsTensor *in[6] = {c->in[0], c->in[1], c->in[2], stats ? NULL : c->in[3], stats ? NULL : c->in[4], NULL};
    MsAttr attr[3] = {c->attr[0], {.kind = MS_ATTR_BOOL}, {.kind = MS_ATTR_FLOAT}};
    if (stats) {
        MsAttr dtype = {.kind = MS_ATTR_DTYPE, .i = c->aval[1].dtype};
        MS_TRY(ms__ready(c->in[0]));
        MS_TRY(call(&(MsCall){&ms_op_batch_norm_stats, &dtype, 1, 2, c->in, c->out + 1, c->aval + 1}));
        in[3] = c->out[1];
        in[4] = c->out[2];
    }
    int64_t strides[MS_MAX_DIM];
    ms__channels_last(x->ndim, x->shape, strides);
    *taken = true;
    return postpone(&ms_op_batch_norm_apply, attr, 6, in, &c->aval[0], strides, &c->out[0]);
}

/* Does p, an affine map, have the ReLU y and belong to the normalisation whose gradient c is? */
static bool is_masked_map(const MsLazy *p, const MsCall *c, const MsTensor *y)
{
    static const int8_t map[4] = {0, 1, 3, 4}; /* x, gamma, mean, var */
    if (p->relu != y->storage || y->data != y->storage->data || y->dtype != (int8_t)p->aval.dtype)
        return false;
    if (y->ndim != p->aval.ndim || memcmp(y->shape, p->aval.shape, (size_t)y->ndim * sizeof *y->shape) != 0 ||
        memcmp(y->strides, p->strides, (size_t)y->ndim * sizeof *y->strides) != 0)
        return false;
    for (int i = 0; i < 4; i++)
        if (!same_value(p->in[map[i]], c->in[1 + i])) return false;
    return memcmp(&p->attr[0].f, &c->attr[0].f, sizeof p->attr[0].f) == 0;
}

static MsLazy *masked_map(const MsCall *c, const MsTensor *y)
{
    for (MsLazyUse *u = c->in[1]->storage->users; u; u = u->next)
        if (is_masked_map(u->by, c, y)) return u->by;
    return NULL;
}

/* Computes c together with what is pending in its first input. */
static MsStatus compute_last(MsCall *c, MsLazy *kept, bool *taken)
{
    Job j = {.last = c};
    search++;
    for (int i = 0; i < c->n_in; i++) collect_input(&j, c->in[i]);
    if (j.large) return MS_OK;
    choose_kept(&j);
    if (kept) kept->keep = true;
    *taken = true;
    return run_job(&j);
}

/* The gradient takes a pending mask in front of it along: computed again from x where the mask is the ReLU of
 * this normalisation and nobody else needs the masked gradient. */
static MsStatus take_norm_grad(MsCall *c, bool *taken)
{
    enter();
    MsStatus st = MS_OK;
    for (int i = 1; i < c->n_in && st == MS_OK; i++) st = ms__ready(c->in[i]);
    MsLazy *p = pending(c->in[0]);
    if (st == MS_OK && p && p->op == &ms_op_relu_grad) {
        bool shared = atomic_load(&c->in[0]->ref) > 1 || atomic_load(&p->storage->ref) > 1;
        MsLazy *map = shared ? NULL : masked_map(c, p->in[1]);
        MsTensor *in[6] = {p->in[0], c->in[1], c->in[2], map ? map->in[2] : NULL, c->in[3], c->in[4]};
        if (map) {
            st = ms__ready(in[3]);
            MsCall joined = {&ms_op_batch_norm_act_grad, c->attr, 6, c->n_out, in, c->out, c->aval};
            if (st == MS_OK) st = compute_last(&joined, NULL, taken);
        } else {
            st = compute_last(c, shared ? p : NULL, taken);
        }
    }
    leave();
    return st;
}

/* Such a value is refused, and the refusal belongs to the call. */
static bool exceeds_memory(int64_t n, MsDtype dtype)
{
    static _Atomic int64_t memory;
    if (!memory) memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return n > memory / (int64_t)ms_dtype_size(dtype);
}

MsStatus ms__lazy_take(MsCall *c, bool *taken)
{
    int64_t n = 1, least = atomic_load_explicit(&min_numel, memory_order_relaxed);
    bool row = (c->op->flags & MS_OP_ELEMENTWISE) != 0;
    if (!row && c->op != &ms_op_batch_norm && c->op != &ms_op_batch_norm_apply &&
        c->op != &ms_op_batch_norm_grad)
        return MS_OK;
    for (int d = 0; d < c->aval[0].ndim; d++) n *= c->aval[0].shape[d];
    if (least == 0 || n < least || exceeds_memory(n, c->aval[0].dtype)) return MS_OK;
    if (row) return take_elementwise(c, taken);
    return c->op == &ms_op_batch_norm_grad ? take_norm_grad(c, taken) : take_norm(c, taken);
}
