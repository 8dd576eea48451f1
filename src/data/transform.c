/* transform.c - transforms as values, their registry, groups, and the chain that a map runs: a flat list in
 * which neighbours that are affine in each element are fused into one pass (affine.c). A new transform is a
 * row of a table in vision.c or basic.c and nothing else; the skins pass numbers and know no transform. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"
#include "data/audio.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups and host functions are transforms too ---- */

enum {
    IN_ORDER,
    CHOICE,
    ANY_ORDER
};

static MsStatus run_one(MsTransform *t, MsDataRng *rng, int n_in, MsTensor *const *in, int *n_out,
                        MsTensor **out);

static MsStatus run_group(MsTransformCall *c)
{
    MsTransform *t = c->op;
    int n = t->n_child, mode = (int)t->arg[0], order[64];
    memcpy(c->out, c->in, (size_t)c->n_in * sizeof *c->out);
    c->n_out = c->n_in;
    if (t->arg[1] < 1 && !(ms__data_unit(c->rng) < t->arg[1])) return MS_OK;
    for (int k = 0; k < n; k++) order[k] = k;
    if (mode == CHOICE) order[0] = (int)ms__data_below(c->rng, (uint64_t)n), n = 1;
    for (int k = n - 1; mode == ANY_ORDER && k > 0; k--) {
        int j = (int)ms__data_below(c->rng, (uint64_t)k + 1), keep = order[k];
        order[k] = order[j];
        order[j] = keep;
    }
    for (int k = 0; k < n; k++) {
        MsTensor *in[MS_DATA_MAX_COLUMN];
        memcpy(in, c->out, (size_t)c->n_out * sizeof *in);
        MS_TRY(run_one(t->child[order[k]], c->rng, c->n_out, in, &c->n_out, c->out));
    }
    return MS_OK;
}

/* The generator of the row that a host function of this thread is given: transforms that it applies draw from it. */
static _Thread_local MsDataRng *row_rng;

/* A host function may write into what it gets, so memory that others see is copied first. */
static MsStatus run_host(MsTransformCall *c)
{
    MsTensor *in[MS_DATA_MAX_COLUMN];
    for (int k = 0; k < c->n_in; k++) {
        in[k] = c->in[k];
        if (atomic_load(&in[k]->storage->ref) == 1) continue;
        in[k] = ms_tensor_from((MsDtype)in[k]->dtype, in[k]->ndim, in[k]->shape, in[k]->data);
        if (!in[k]) return ms_error()->code;
    }
    const MsHostTransform *h = &c->op->host;
    MsDataRng *outer = row_rng;
    uint64_t seed = ms__data_u64(c->rng);
    row_rng = c->rng;
    MsStatus st = h->run(h->ctx, seed, c->n_in, in, &c->n_out, c->out);
    row_rng = outer;
    return st;
}

static const MsTransformKind group_kind = {
    .name = "Compose", .sig = "", .takes = MS_TAKES_MANY | MS_TAKES_TEXT, .run = run_group};
static const MsTransformKind host_kind = {
    .name = "PyFunc", .sig = "", .takes = MS_TAKES_MANY | MS_TAKES_TEXT, .run = run_host};

/* ---- construction ---- */

static const MsTransformKind *find(const char *name)
{
    static const MsTransformKind *const tables[] = {
        ms__transforms_vision, ms__transforms_basic, ms__transforms_decode,   ms__transforms_colour,
        ms__transforms_warp,   ms__transforms_audio, ms__transforms_spectrum, ms__transforms_vad};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const MsTransformKind *k = tables[t]; k->name; k++)
            if (strcmp(k->name, name) == 0) return k;
    MS_FAIL(MS_ERROR_KEY, "There is no transform '%s'.", name);
    return NULL;
}

static MsTransform *transform_new(const MsTransformKind *kind, int n, const double *arg)
{
    MsTransform *t = ms__calloc(1, sizeof *t);
    if (!t) return NULL;
    t->ref = 1;
    t->kind = kind;
    t->n_arg = n;
    t->arg = ms__malloc((size_t)n * sizeof *arg);
    if (!t->arg) {
        free(t);
        return NULL;
    }
    if (n) memcpy(t->arg, arg, (size_t)n * sizeof *arg);
    return t;
}

MsTransform *ms_transform_new(const char *name, int n, const double *arg)
{
    const MsTransformKind *kind = find(name);
    if (!kind) return NULL;
    if (n < kind->min_arg || n > kind->max_arg)
        return MS_FAIL_NULL(MS_ERROR_TYPE, "For '%s', the arguments are (%s), but got %d numbers.", name,
                            kind->sig, n);
    MsTransform *t = transform_new(kind, n, arg);
    if (!t || !kind->check || kind->check(t) == MS_OK) return t;
    ms_transform_unref(t);
    return NULL;
}

const char *ms_transform_signature(const char *name)
{
    const MsTransformKind *kind = find(name);
    return kind ? kind->sig : NULL;
}

MsTransform *ms_transform_group(int n, MsTransform *const *op, int mode, double prob)
{
    bool whole = true;
    for (int k = 0; k < n; k++) whole &= op[k] != NULL;
    MsTransform *t = NULL;
    if (whole && (n < 1 || n > 64))
        MS_FAIL(MS_ERROR_VALUE, "A group has 1 to 64 transforms, but got %d.", n);
    else if (whole)
        t = transform_new(&group_kind, 2, (double[]){mode, prob});
    if (t) t->child = ms__malloc((size_t)n * sizeof *t->child);
    if (!t || !t->child) {
        for (int k = 0; k < n; k++) ms_transform_unref(op[k]);
        ms_transform_unref(t);
        return NULL;
    }
    memcpy(t->child, op, (size_t)n * sizeof *op);
    t->n_child = n;
    return t;
}

MsTransform *ms_transform_host(const MsHostTransform *host)
{
    MsTransform *t = transform_new(&host_kind, 0, NULL);
    if (t)
        t->host = *host;
    else if (host->release)
        host->release(host->ctx);
    return t;
}

MsTransform *ms_transform_ref(MsTransform *t)
{
    if (t) atomic_fetch_add(&t->ref, 1);
    return t;
}

void ms_transform_unref(MsTransform *t)
{
    if (!t || atomic_fetch_sub(&t->ref, 1) != 1) return;
    for (int k = 0; k < t->n_child; k++) ms_transform_unref(t->child[k]);
    if (t->host.release) t->host.release(t->host.ctx);
    free(t->child);
    free(t->arg);
    free(t);
}

/* ---- running ---- */

/* Runs c on every image of x, <..., H, W, C>, from the same state of the generator. */
static MsTensor *each_frame(MsTransformCall *c, MsTensor *x)
{
    int lead = x->ndim - 3;
    int64_t n = 1, shape[MS_MAX_DIM];
    for (int d = 0; d < lead; d++) n *= x->shape[d];
    const MsDataRng start = *c->rng;
    MsTensor *all = NULL;
    size_t size = 0;
    for (int64_t i = 0; i < n; i++) {
        MsTensor *y,
            *frame = ms__tensor_view(x, 3, x->shape + lead, x->strides + lead, i * x->strides[lead - 1]);
        MsTransformCall one = {.op = c->op, .rng = c->rng, .n_in = 1, .n_out = 1, .in = &frame, .out = &y};
        *c->rng = start;
        if (!frame || c->op->kind->run(&one) != MS_OK) return NULL;
        if (!all) {
            memcpy(shape, x->shape, (size_t)lead * sizeof *shape);
            memcpy(shape + lead, y->shape, (size_t)y->ndim * sizeof *shape);
            all = ms_tensor_empty((MsDtype)y->dtype, lead + y->ndim, shape);
            if (!all) return NULL;
            size = (size_t)y->numel * ms_dtype_size((MsDtype)y->dtype);
        }
        memcpy(all->data + (size_t)i * size, y->data, size);
    }
    return all ? all : MS_FAIL_NULL(MS_ERROR_RUNTIME, "%s: there are no images.", c->op->kind->name);
}

static MsStatus run_one(MsTransform *t, MsDataRng *rng, int n_in, MsTensor *const *in, int *n_out,
                        MsTensor **out)
{
    if (n_in != 1 && !(t->kind->takes & MS_TAKES_MANY))
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "The op is OneToOne, can only accept one tensor as input. %s got %d.", t->kind->name,
                       n_in);
    MsTensor *dense[MS_DATA_MAX_COLUMN];
    for (int k = 0; k < n_in; k++) {
        MS_TRY(ms__image_check(t->kind, in[k]));
        if (!(t->kind->takes & MS_TAKES_TEXT) && ms__data_is_text(in[k]))
            return MS_FAIL(
                MS_ERROR_RUNTIME,
                "%s: the data type of input tensor does not match the requirement of operator: the "
                "input is text (%s), but must be numbers.",
                t->kind->name, ms_dtype_name((MsDtype)in[k]->dtype));
        if (!(dense[k] = ms__data_contiguous(in[k]))) return ms_error()->code;
    }
    MsTransformCall c = {.op = t, .rng = rng, .n_in = n_in, .n_out = n_in, .in = dense, .out = out};
    if ((t->kind->takes & MS_TAKES_FRAMES) && dense[0]->ndim > 3) {
        *n_out = n_in;
        for (int k = 0; k < n_in; k++)
            if (!(out[k] = each_frame(&c, dense[k]))) return ms_error()->code;
        return MS_OK;
    }
    MS_TRY(t->kind->run(&c));
    *n_out = c.n_out;
    return MS_OK;
}

MsStatus ms_transform_apply(MsTransform *t, int n_in, MsTensor *const *in, int *n_out, MsTensor **out)
{
    static _Atomic int64_t calls;
    if (!t) return MS_FAIL(MS_ERROR_VALUE, "There is no transform to apply.");
    if (n_in < 1) return MS_FAIL(MS_ERROR_RUNTIME, "%s: Input Tensor is not valid.", t->kind->name);
    MsDataRng rng;
    if (!row_rng) rng = ms__data_rng(ms_data_run_seed(), -1, atomic_fetch_add(&calls, 1));
    int mark = ms_scope_begin();
    MsStatus st = run_one(t, row_rng ? row_rng : &rng, n_in, in, n_out, out);
    ms_scope_end(mark, out, st == MS_OK ? *n_out : 0);
    return st;
}

/* ---- chains ---- */

#define MAX_STAGE 16

typedef struct Step {
    int first, count; /* operations */
    bool decode;      /* run them as ms__decode_run does */
    int n_stage;      /* 0: run them one by one */
    MsStage stage[MAX_STAGE];
} Step;

struct MsChain {
    int n_op, n_step;
    MsTransform **op;
    Step *step;
};

static int flat_count(int n, MsTransform *const *op)
{
    int all = 0;
    for (int k = 0; k < n; k++) {
        bool flat = op[k]->kind == &group_kind && op[k]->arg[0] == IN_ORDER && op[k]->arg[1] >= 1;
        all += flat ? flat_count(op[k]->n_child, op[k]->child) : 1;
    }
    return all;
}

static void flatten(MsChain *c, int n, MsTransform *const *op)
{
    for (int k = 0; k < n; k++) {
        if (op[k]->kind == &group_kind && op[k]->arg[0] == IN_ORDER && op[k]->arg[1] >= 1)
            flatten(c, op[k]->n_child, op[k]->child);
        else
            c->op[c->n_op++] = ms_transform_ref(op[k]);
    }
}

/* Adds operation k to step s when it can be fused with what is there. */
static bool fuse(MsChain *c, Step *s, int k)
{
    MsStage more[2];
    const MsTransform *t = c->op[k];
    int n = t->kind->stage ? t->kind->stage(t, more) : 0;
    if (n == 0 || s->decode || s->n_stage + n > MAX_STAGE || (s->count > 0 && s->n_stage == 0)) return false;
    for (int i = 0; i < n; i++) s->stage[s->n_stage++] = more[i];
    return true;
}

MsChain *ms__chain_new(int n, MsTransform *const *op)
{
    bool whole = true;
    for (int k = 0; k < n; k++) whole &= op[k] != NULL;
    MsChain *c = NULL;
    if (whole && n < 1)
        MS_FAIL(MS_ERROR_VALUE, "For 'map', there must be an operation.");
    else if (whole)
        c = ms__calloc(1, sizeof *c);
    int all = c ? flat_count(n, op) : 0;
    if (c) c->op = ms__malloc((size_t)all * sizeof *c->op);
    if (c) c->step = ms__calloc((size_t)all, sizeof *c->step);
    if (c && c->op && c->step) {
        flatten(c, n, op);
        for (int k = 0; k < c->n_op; k++) {
            int fused = ms__decode_fuses(c->n_op - k, c->op + k);
            if (fused) {
                c->step[c->n_step++] = (Step){.first = k, .count = fused, .decode = true};
                k += fused - 1;
                continue;
            }
            Step *s = c->n_step > 0 ? &c->step[c->n_step - 1] : NULL;
            if (!s || !fuse(c, s, k)) {
                s = &c->step[c->n_step++];
                s->first = k;
                fuse(c, s, k);
            }
            s->count++;
        }
    } else {
        ms__chain_free(c);
        c = NULL;
    }
    for (int k = 0; k < n; k++) ms_transform_unref(op[k]);
    return c;
}

MsStatus ms__chain_run(const MsChain *c, MsDataRng *rng, int n_in, MsTensor *const *in, int *n_out,
                       MsTensor **out, const MsTransform **failed)
{
    memcpy(out, in, (size_t)n_in * sizeof *out);
    *n_out = n_in;
    for (int i = 0; i < c->n_step; i++) {
        const Step *s = &c->step[i];
        if (s->n_stage > 0 && s->count > 1 && *n_out == 1) {
            MsTensor *y;
            *failed = c->op[s->first];
            MS_TRY(ms__affine_run(s->n_stage, s->stage, out[0], &y));
            if (y) {
                out[0] = y;
                continue;
            }
        }
        int done = 0;
        if (s->decode && *n_out == 1 && out[0]->ndim == 1) {
            *failed = c->op[s->first];
            MsTensor *x = ms__data_contiguous(out[0]);
            if (!x) return ms_error()->code;
            MS_TRY(ms__decode_run(s->count, c->op + s->first, rng, x, &out[0], &done));
        }
        for (int k = s->first + done; k < s->first + s->count; k++) {
            MsTensor *now[MS_DATA_MAX_COLUMN];
            memcpy(now, out, (size_t)*n_out * sizeof *now);
            *failed = c->op[k];
            MS_TRY(run_one(c->op[k], rng, *n_out, now, n_out, out));
        }
    }
    return MS_OK;
}

static bool any_host(int n, MsTransform *const *op, bool ordered)
{
    for (int k = 0; k < n; k++)
        if ((op[k]->kind == &host_kind && (op[k]->host.ordered || !ordered)) ||
            any_host(op[k]->n_child, op[k]->child, ordered))
            return true;
    return false;
}

bool ms__chain_is_host(const MsChain *c)
{
    return any_host(c->n_op, c->op, false);
}
bool ms__chain_is_ordered(const MsChain *c)
{
    return any_host(c->n_op, c->op, true);
}

void ms__chain_free(MsChain *c)
{
    if (!c) return;
    for (int k = 0; k < c->n_op; k++) ms_transform_unref(c->op[k]);
    free(c->op);
    free(c->step);
    free(c);
}
