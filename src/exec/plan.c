/* plan.c - from a record to an instance: where every value lives, and the list of kernel calls.
 *
 * Invariant: at every step, two live roots share memory only when the step computes one over the other in
 * place. A root ends at its last use by a step; results and late writes are uses at the end. A result whose
 * storage nothing else claims is computed in its own storage; the new value of a captured tensor is computed
 * in the tensor itself when nothing reads the old one afterwards. What is left shares one arena: pieces are
 * placed by size, largest first, each in the smallest gap that is free during its life. Refused: one
 * allocation per value from the caching allocator, which is as compact but costs a lock per node and leaves
 * no fixed pointers. */
#include "exec/plan.h"

#include "core/mem.h"

#include <stdlib.h>
#include <string.h>

/* An arena of this size takes the place of what the recording run left in the allocator's cache, which goes
 * back to the system first: otherwise the process holds both. */
#define LARGE_ARENA ((int64_t)16 << 20)

enum {
    HOME_ARENA,
    HOME_INPUT,
    HOME_CONSTANT,
    HOME_RESULT,
    HOME_CAPTURED
};

typedef struct Root {
    uint8_t home;
    int32_t index; /* RESULT, CAPTURED: which */
    int32_t slot;  /* ARENA */
    int32_t first, last;
    size_t size;
} Root;

typedef struct Slot {
    size_t size, offset;
    int32_t first, last;
} Slot;

typedef struct Planner {
    const MsGraph *g;
    MsSeen *seen;
    MsTensor *const *in; /* n_in tensors of the recording run */
    MsInstance *p;
    Root *root;      /* by value; valid where seen[v].root == v */
    int32_t *number; /* by node: its step, or -1 */
    Slot *slot;
    int n_slot, n_step;
    bool *needed; /* by value: gets a handle */
} Planner;

static size_t value_bytes(const MsGraph *g, int32_t v)
{
    const MsAval *a = &g->val[v];
    return (size_t)ms__numel(a->ndim, a->shape) * ms_dtype_size(a->dtype);
}

static bool same_strides(const MsAval *a, const int64_t *x, const int64_t *y)
{
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != 1 && x[d] != y[d]) return false;
    return true;
}

/* Do the elements of u and v lie at the same places relative to their roots? */
static bool same_layout(const Planner *pl, int32_t u, int32_t v)
{
    const MsAval *a = &pl->g->val[u], *b = &pl->g->val[v];
    return ms_dtype_size(a->dtype) == ms_dtype_size(b->dtype) && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0 &&
           pl->seen[u].offset == pl->seen[v].offset &&
           same_strides(a, pl->seen[u].strides, pl->seen[v].strides);
}

/* May output j of n be computed over its input i? */
static bool in_place(const MsNode *n, int i, int j)
{
    if (n->op->flags & MS_OP_IN_PLACE) return i == j;
    if (n->op->flags & MS_OP_OVER_SECOND) return i == 1 && j == 0;
    return n->op->flags & MS_OP_ELEMENTWISE && n->n_out == 1;
}

/* A step has a node that computes something: not a view, not a constant. */
static bool is_step(const Planner *pl, const MsNode *n)
{
    if (!n->op) return false;
    if (n->n_out == 0 || n->op->flags & MS_OP_EFFECT) return true;
    for (int j = 0; j < n->n_out; j++)
        if (pl->seen[n->out + j].root == n->out + j && !pl->seen[n->out + j].constant) return true;
    return false;
}

static void use(Planner *pl, int32_t v, int at)
{
    Root *r = &pl->root[pl->seen[v].root];
    if (at > r->last) r->last = at;
    pl->needed[v] = true;
}

static void find_lives(Planner *pl)
{
    const MsGraph *g = pl->g;
    for (int v = 0; v < g->n_val; v++) {
        pl->root[v] = (Root){.home = HOME_ARENA, .first = -1, .last = -1};
        if (v < g->n_in) pl->root[v].home = HOME_INPUT;
        if (pl->seen[v].constant) pl->root[v].home = HOME_CONSTANT;
    }
    for (int k = 0; k < g->n_node; k++) {
        const MsNode *n = &g->node[k];
        pl->number[k] = -1;
        if (!is_step(pl, n)) continue;
        int at = pl->number[k] = pl->n_step++;
        for (int j = 0; j < n->n_out; j++) {
            Root *r = &pl->root[n->out + j];
            r->first = r->last = at;
            r->size = value_bytes(g, n->out + j);
            pl->needed[n->out + j] = true;
        }
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] >= 0) use(pl, n->in[i], at);
    }
}

/* Results: direct when the value covers a root of the arena that no other result has taken. */
static void place_results(Planner *pl)
{
    const MsGraph *g = pl->g;
    for (int j = 0; j < pl->p->n_result; j++) {
        int32_t v = g->out[j];
        Root *r = &pl->root[pl->seen[v].root];
        MsResult *res = &pl->p->result[j];
        *res = (MsResult){.value = v, .offset = pl->seen[v].offset, .nbytes = r->size};
        memcpy(res->strides, pl->seen[v].strides, sizeof res->strides);
        res->direct = r->home == HOME_ARENA && value_bytes(g, v) == r->size;
        if (res->direct)
            r->home = HOME_RESULT, r->index = j;
        else
            use(pl, v, pl->n_step);
    }
}

/* Does captured tensor c share its storage with another captured one? */
static bool shared(const Planner *pl, int c)
{
    const MsGraph *g = pl->g;
    for (int i = g->n_arg; i < g->n_in; i++)
        if (i != g->n_arg + c && pl->in[i]->storage == pl->in[g->n_arg + c]->storage) return true;
    return false;
}

/* May the producer of v write into captured tensor c? Nothing reads the old value after it, and it reads it
 * only in place. */
static bool can_donate(const Planner *pl, int32_t v, int c)
{
    const MsGraph *g = pl->g;
    int32_t old = g->n_arg + c;
    const Root *r = &pl->root[v];
    if (pl->seen[v].root != v || r->home != HOME_ARENA || shared(pl, c)) return false;
    if (!same_strides(&g->val[v], pl->seen[v].strides, pl->seen[old].strides)) return false;
    if (pl->root[old].last > r->first) return false;
    const MsNode *n = &g->node[g->def[v]];
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && pl->seen[n->in[i]].root == old &&
            !(in_place(n, i, v - n->out) && same_layout(pl, n->in[i], v)))
            return false;
    return true;
}

static void place_writes(Planner *pl)
{
    const MsGraph *g = pl->g;
    int n = pl->p->n_write;
    for (int k = 0; k < n; k++) {
        int32_t v = g->out[g->n_result + k];
        MsWrite *w = &pl->p->write[k];
        *w = (MsWrite){.value = v, .captured = g->written[k]};
        if (v == g->n_arg + w->captured) {
            w->direct = true; /* written back unchanged */
            continue;
        }
        w->from_input = pl->seen[v].root < g->n_in;
        if (w->from_input) use(pl, v, pl->n_step);
    }
    for (int k = 0; k < n; k++) {
        MsWrite *w = &pl->p->write[k];
        if (w->direct || w->from_input) continue;
        w->direct = can_donate(pl, w->value, w->captured);
        if (w->direct) {
            pl->root[w->value].home = HOME_CAPTURED;
            pl->root[w->value].index = w->captured;
            pl->p->no_overlap = true;
        } else {
            use(pl, w->value, pl->n_step);
        }
    }
}

/* ---- rows of wide matrices ----
 * Rows of a few thousand elements whose length is no multiple of a cache line start at odd addresses, which costs
 * products up to a quarter of their speed. A value that only products and the cross-entropy see gets longer rows. */

#define WIDE 16384 /* bytes of a row */

static bool takes_pitch(const MsNode *n)
{
    static const char *const names[] = {"matmul", "linear", "cast", "softmax_cross_entropy",
                                        "softmax_cross_entropy_grad"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(n->op->name, names[k]) == 0) return true;
    return false;
}

static int64_t row_bytes(const MsGraph *g, int32_t v)
{
    const MsAval *a = &g->val[v];
    return a->ndim < 2 ? 0 : a->shape[a->ndim - 1] * (int64_t)ms_dtype_size(a->dtype);
}

/* The same rows as the root's, row-major. */
static bool is_rows(const Planner *pl, int32_t v)
{
    const MsAval *a = &pl->g->val[v];
    return pl->seen[v].offset == 0 && row_bytes(pl->g, v) == row_bytes(pl->g, pl->seen[v].root) &&
           ms__is_row_major(a->ndim, a->shape, pl->seen[v].strides);
}

static void set_pitch(Planner *pl, int32_t v)
{
    const MsAval *a = &pl->g->val[v];
    int64_t size = (int64_t)ms_dtype_size(a->dtype), *strides = pl->seen[v].strides;
    strides[a->ndim - 2] = (row_bytes(pl->g, v) + MS_ALIGN - 1) / MS_ALIGN * MS_ALIGN / size;
    for (int d = a->ndim - 3; d >= 0; d--) strides[d] = strides[d + 1] * a->shape[d + 1];
}

/* MS_ERROR_MEMORY when there is no room for the marks. */
static MsStatus pad_rows(Planner *pl)
{
    const MsGraph *g = pl->g;
    bool *pad = ms__calloc((size_t)g->n_val, sizeof *pad), any = false;
    if (!pad) return MS_ERROR_MEMORY;
    for (int32_t v = g->n_in; v < g->n_val; v++) {
        if (pl->seen[v].root != v || pl->root[v].home != HOME_ARENA || pl->root[v].first < 0) continue;
        int64_t bytes = row_bytes(g, v);
        pad[v] = bytes >= WIDE && bytes % MS_ALIGN && takes_pitch(&g->node[g->def[v]]);
        any |= pad[v];
    }
    for (int32_t v = 0; v < g->n_val && any; v++)
        if (pad[pl->seen[v].root] && !is_rows(pl, v)) pad[pl->seen[v].root] = false;
    for (int k = 0; k < g->n_node && any; k++)
        for (int i = 0; g->node[k].op && i < g->node[k].n_in; i++) {
            int32_t v = g->node[k].in[i], root = v < 0 ? -1 : pl->seen[v].root;
            if (root >= 0 && pad[root] && pl->number[k] >= 0 && !takes_pitch(&g->node[k])) pad[root] = false;
        }
    for (int j = 0; j < g->n_out && any; j++) pad[pl->seen[g->out[j]].root] = false;
    for (int32_t v = g->n_in; v < g->n_val && any; v++) {
        int32_t root = pl->seen[v].root;
        if (!pad[root]) continue;
        set_pitch(pl, v);
        if (v == root)
            pl->root[v].size =
                (size_t)(pl->seen[v].strides[0] * g->val[v].shape[0]) * ms_dtype_size(g->val[v].dtype);
    }
    free(pad);
    return MS_OK;
}

/* The slot of an input of step n that ends there and over which output j may be computed, or -1. */
static int32_t reusable(const Planner *pl, const MsNode *n, int j, int at)
{
    for (int i = 0; i < n->n_in; i++) {
        int32_t u = n->in[i];
        if (u < 0 || !in_place(n, i, j)) continue;
        const Root *r = &pl->root[pl->seen[u].root];
        if (r->home != HOME_ARENA || r->last != at || r->slot < 0 || pl->slot[r->slot].last != at) continue;
        bool good = same_layout(pl, u, n->out + j);
        for (int l = 0; l < n->n_in && good; l++)
            if (n->in[l] >= 0 && pl->seen[n->in[l]].root == pl->seen[u].root)
                good = same_layout(pl, n->in[l], u) && in_place(n, l, j);
        if (good) return r->slot;
    }
    return -1;
}

static void make_slots(Planner *pl)
{
    const MsGraph *g = pl->g;
    for (int k = 0; k < g->n_node; k++) {
        int at = pl->number[k];
        const MsNode *n = &g->node[k];
        for (int j = 0; at >= 0 && j < n->n_out; j++) {
            Root *r = &pl->root[n->out + j];
            r->slot = -1;
            if (r->home != HOME_ARENA || pl->seen[n->out + j].root != n->out + j) continue;
            r->slot = reusable(pl, n, j, at);
            if (r->slot < 0) {
                size_t size = (r->size + MS_ALIGN - 1) & ~(size_t)(MS_ALIGN - 1);
                r->slot = pl->n_slot++;
                pl->slot[r->slot] = (Slot){.size = size ? size : MS_ALIGN, .first = at, .last = at};
            }
            if (r->last > pl->slot[r->slot].last) pl->slot[r->slot].last = r->last;
        }
    }
}

static int larger_first(const void *a, const void *b)
{
    const Slot *x = *(const Slot *const *)a, *y = *(const Slot *const *)b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Offsets for all slots; the size of the arena, or -1. `placed` is kept in order of offset. */
static int64_t place_slots(Planner *pl)
{
    int n = pl->n_slot;
    Slot **order = ms__malloc((size_t)(2 * n) * sizeof *order);
    if (!order) return -1;
    Slot **placed = order + n;
    for (int i = 0; i < n; i++) order[i] = &pl->slot[i];
    qsort(order, (size_t)n, sizeof *order, larger_first);
    size_t total = 0;
    for (int i = 0; i < n; i++) {
        Slot *s = order[i];
        size_t end = 0, best = SIZE_MAX, best_gap = SIZE_MAX;
        for (int q = 0; q < i; q++) {
            const Slot *o = placed[q];
            if (o->last < s->first || o->first > s->last) continue;
            if (o->offset >= end + s->size && o->offset - end < best_gap) {
                best = end;
                best_gap = o->offset - end;
            }
            if (o->offset + o->size > end) end = o->offset + o->size;
        }
        s->offset = best == SIZE_MAX ? end : best;
        if (s->offset + s->size > total) total = s->offset + s->size;
        int q = i;
        for (; q > 0 && placed[q - 1]->offset > s->offset; q--) placed[q] = placed[q - 1];
        placed[q] = s;
    }
    free(order);
    return (int64_t)total;
}

/* Which run-time memory a value is patched to: input i, n_in + result j, or -1 for fixed memory. */
static int group_of(const Planner *pl, int32_t v)
{
    int32_t root = pl->seen[v].root;
    const Root *r = &pl->root[root];
    switch (r->home) {
    case HOME_INPUT: return root;
    case HOME_CAPTURED: return pl->g->n_arg + r->index;
    case HOME_RESULT: return pl->g->n_in + r->index;
    default: return -1;
    }
}

/* The handle of a value with a reference that the instance owns. Patched ones hold no storage between runs.
 */
static MsTensor *make_handle(Planner *pl, int32_t v)
{
    const MsSeen *s = &pl->seen[v];
    const MsAval *a = &pl->g->val[v];
    if (s->constant) return ms_tensor_ref(s->constant);
    const Root *r = &pl->root[s->root];
    MsStorage *storage = r->home == HOME_CONSTANT ? pl->seen[s->root].constant->storage : pl->p->arena;
    char *data = NULL;
    if (r->home == HOME_ARENA) data = (char *)storage->data + pl->slot[r->slot].offset + s->offset;
    if (r->home == HOME_CONSTANT) data = pl->seen[s->root].constant->data + s->offset;
    int mark = ms_scope_begin();
    MsTensor *t = ms_tensor_ref(ms__tensor_borrow(storage, data, a->dtype, a->ndim, a->shape, s->strides));
    ms_scope_end(mark, NULL, 0);
    if (t && group_of(pl, v) >= 0) {
        t->storage = NULL;
        ms__storage_unref(storage);
    }
    return t;
}

static MsStatus make_handles(Planner *pl)
{
    MsInstance *p = pl->p;
    const MsGraph *g = pl->g;
    int n_patch = 0, n_group = g->n_in + p->n_result, *count = ms__calloc((size_t)n_group + 1, sizeof *count);
    if (!count) return MS_ERROR_MEMORY;
    for (int v = 0; v < g->n_val; v++) {
        if (!pl->needed[v]) continue;
        p->handle[v] = make_handle(pl, v);
        if (!p->handle[v]) {
            free(count);
            return MS_ERROR_MEMORY;
        }
        int group = group_of(pl, v);
        if (group >= 0) count[group]++, n_patch++;
    }
    p->patch = ms__malloc((size_t)n_patch * sizeof *p->patch);
    for (int group = 0, at = 0; group < n_group && p->patch; group++) {
        int *first = group < g->n_in ? &p->input[group].first : &p->result[group - g->n_in].first;
        int *n = group < g->n_in ? &p->input[group].n_patch : &p->result[group - g->n_in].n_patch;
        *first = at;
        *n = count[group];
        at += count[group];
        count[group] = *first;
    }
    for (int v = 0; v < g->n_val && p->patch; v++) {
        int group = pl->needed[v] ? group_of(pl, v) : -1;
        if (group >= 0) p->patch[count[group]++] = (MsPatch){p->handle[v], pl->seen[v].offset};
    }
    free(count);
    p->n_patch = p->patch ? n_patch : 0;
    return p->patch ? MS_OK : MS_ERROR_MEMORY;
}

static bool writes_captured(const Planner *pl, const MsNode *n)
{
    for (int j = 0; j < n->n_out; j++)
        if (pl->root[pl->seen[n->out + j].root].home == HOME_CAPTURED) return true;
    return false;
}

static MsStatus make_steps(Planner *pl, const MsRecord *r)
{
    MsInstance *p = pl->p;
    const MsGraph *g = pl->g;
    size_t n_slots = 0;
    for (int k = 0; k < g->n_node; k++)
        if (pl->number[k] >= 0) n_slots += (size_t)(g->node[k].n_in + 2 * g->node[k].n_out);
    p->step = ms__malloc((size_t)pl->n_step * sizeof *p->step);
    p->slots = ms__malloc(n_slots * sizeof *p->slots);
    if (!p->step || !p->slots) return MS_ERROR_MEMORY;
    MsTensor **at = p->slots;
    for (int k = 0; k < g->n_node; k++) {
        if (pl->number[k] < 0) continue;
        const MsNode *n = &g->node[k];
        MsTensor **in = at, **out = in + n->n_in, **preset = out + n->n_out;
        at = preset + n->n_out;
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? NULL : p->handle[n->in[i]];
        for (int j = 0; j < n->n_out; j++) out[j] = preset[j] = p->handle[n->out + j];
        p->step[p->n_step++] = (MsPlanned){
            .run = r->kernel[k]->run,
            .call = {n->op, n->attr, n->n_in, n->n_out, in, out, &g->val[n->out]},
            .preset = preset,
            .loc = n->loc,
            .writes = writes_captured(pl, n),
        };
    }
    return MS_OK;
}

static MsStatus plan(Planner *pl, const MsRecord *r)
{
    MsInstance *p = pl->p;
    const MsGraph *g = pl->g;
    for (int i = 0; i < g->n_in; i++)
        memcpy(p->input[i].strides, pl->in[i]->strides, sizeof p->input[i].strides);
    p->n_val = g->n_val;
    find_lives(pl);
    place_results(pl);
    place_writes(pl);
    MS_TRY(pad_rows(pl));
    make_slots(pl);
    int64_t bytes = place_slots(pl);
    if (bytes >= LARGE_ARENA) ms_memory_empty_cache();
    p->arena = bytes < 0 ? NULL : ms__storage_new((size_t)bytes);
    if (!p->arena) return MS_ERROR_MEMORY;
    p->arena->exposed = 1;
    MS_TRY(make_handles(pl));
    return make_steps(pl, r);
}

MsInstance *ms__plan(const MsGraph *g, bool call, const MsRecord *r, MsTensor *const *in)
{
    size_t n_val = (size_t)g->n_val, n_node = (size_t)g->n_node;
    MsInstance *p = ms__calloc(1, sizeof *p);
    if (!p) return NULL;
    p->call = call;
    p->n_result = call ? g->n_result : g->n_out;
    p->n_write = g->n_out - p->n_result;
    p->handle = ms__calloc(n_val, sizeof *p->handle);
    p->input = ms__calloc((size_t)g->n_in, sizeof *p->input);
    p->result = ms__calloc((size_t)p->n_result, sizeof *p->result);
    p->write = ms__calloc((size_t)p->n_write, sizeof *p->write);
    p->fresh = ms__calloc((size_t)p->n_result, sizeof *p->fresh);
    Planner pl = {.g = g, .seen = r->seen, .in = in, .p = p};
    pl.root = ms__malloc(n_val * sizeof *pl.root);
    pl.number = ms__malloc(n_node * sizeof *pl.number);
    pl.slot = ms__malloc(n_val * sizeof *pl.slot);
    pl.needed = ms__calloc(n_val, sizeof *pl.needed);
    bool ready = p->handle && p->input && p->result && p->write && p->fresh && pl.root && pl.number &&
                 pl.slot && pl.needed;
    if (!ready || plan(&pl, r) != MS_OK) {
        ms__instance_free(p);
        p = NULL;
    }
    free(pl.root);
    free(pl.number);
    free(pl.slot);
    free(pl.needed);
    return p;
}

void ms__instance_free(MsInstance *p)
{
    if (ms__profiling()) ms__profile_print(p);
    for (int i = 0; i < p->n_patch; i++) p->patch[i].t->storage = NULL; /* borrowed from the last run */
    for (int v = 0; v < p->n_val && p->handle; v++) ms_tensor_unref(p->handle[v]);
    ms__storage_unref(p->arena);
    free(p->handle);
    free(p->input);
    free(p->result);
    free(p->write);
    free(p->fresh);
    free(p->step);
    free(p->slots);
    free(p->patch);
    free(p);
}
