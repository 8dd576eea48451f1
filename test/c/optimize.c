/* optimize.c - random graphs give the same bits at every level: applied node by node as they were staged, and
 * planned after the passes. The generator favours what passes look for: chains, constants, repeated and
 * useless nodes, values used inside and outside of groups, views, other shapes and dtypes. */
#include "core/mem.h"
#include "exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_IN 5
#define N_GRAPH 600
#define MAX_NODE 40

static int n_pass, n_fail;
static uint64_t state;

static int random_below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

/* Edge values among ordinary ones. */
static double random_value(void)
{
    static const double edge[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e-40, 65504.0, 3e38};
    if (random_below(8) == 0) return edge[random_below((int)(sizeof edge / sizeof *edge))];
    return (random_below(2001) - 1000) / 250.0;
}

static MsTensor *random_tensor(const MsAval *a)
{
    MsTensor *t = ms_tensor_empty(a->dtype, a->ndim, a->shape);
    for (int64_t k = 0; k < t->numel; k++) {
        double v = random_value();
        if (a->dtype == MS_FLOAT32) ((float *)(void *)t->data)[k] = (float)v;
        if (a->dtype == MS_FLOAT16) ((uint16_t *)(void *)t->data)[k] = (uint16_t)random_below(65536);
        if (a->dtype == MS_INT32) ((int32_t *)(void *)t->data)[k] = random_below(7) - 3;
        if (a->dtype == MS_BOOL) ((bool *)t->data)[k] = random_below(2);
    }
    return t;
}

static MsAttr ints(int n, const int64_t *v)
{
    MsAttr a = {.kind = MS_ATTR_INTS, .n = (uint8_t)n};
    memcpy(a.v, v, (size_t)n * sizeof *v);
    return a;
}

/* Adds op over random earlier values if their types fit; attributes are guessed. */
static void add_random(MsGraph *g)
{
    static const char *const names[] = {"add",           "sub",       "mul",          "div",   "maximum",
                                        "minimum",       "neg",       "neg",          "exp",   "abs",
                                        "relu",          "tanh",      "square",       "add",   "mul",
                                        "cast",          "cast",      "where",        "gt",    "eq",
                                        "elu",           "sigmoid",   "logical_not",  "where", "identity",
                                        "stop_gradient", "transpose", "reshape",      "flip",  "sum",
                                        "full",          "full_int",  "matmul",       "sub",   "floor_div",
                                        "logical_and",   "sum_to",    "broadcast_to", "slice"};
    const MsOp *op = ms__op_find(names[random_below((int)(sizeof names / sizeof *names))]);
    const MsSig *s = op ? ms__sig(op) : NULL;
    if (!s || s->n_out != 1) return;
    MsAttr attr[MS_MAX_ATTR] = {{0}};
    MsAval in[3], out;
    int32_t id[3];
    for (int i = 0; i < s->n_in; i++) {
        id[i] = random_below(3) ? g->n_val - 1 - random_below(g->n_val < 6 ? g->n_val : 6)
                                : random_below(g->n_val);
        in[i] = g->val[id[i]];
    }
    for (int a = 0; a < s->n_attr; a++) {
        static const MsDtype dtypes[] = {MS_FLOAT32, MS_FLOAT16, MS_INT32, MS_BOOL, MS_FLOAT32, MS_FLOAT64};
        static const int64_t zero[8] = {0}, one[8] = {1, 1, 1, 1, 1, 1, 1, 1}, swap[] = {1, 0};
        const char *name = s->attr[a].name;
        attr[a].kind = s->attr[a].kind;
        if (attr[a].kind == MS_ATTR_FLOAT)
            attr[a].f = random_below(3) ? random_below(3) - 1.0 : random_value();
        if (attr[a].kind == MS_ATTR_INT || attr[a].kind == MS_ATTR_BOOL) attr[a].i = random_below(2);
        if (attr[a].kind == MS_ATTR_DTYPE) attr[a].i = dtypes[random_below(6)];
        if (attr[a].kind != MS_ATTR_INTS) continue;
        const MsAval *like = s->n_in ? &in[0] : &g->val[random_below(g->n_val)];
        attr[a] = ints(like->ndim, strcmp(name, "step") == 0 ? one : zero);
        if (strcmp(name, "perm") == 0) attr[a] = ints(like->ndim, like->ndim == 2 ? swap : zero);
        if (strcmp(name, "axis") == 0) attr[a] = ints(like->ndim > 0, zero);
        if (strcmp(name, "size") == 0) attr[a] = ints(like->ndim, like->shape);
        if (strcmp(name, "shape") == 0) {
            const MsAval *to = random_below(2) ? like : &g->val[random_below(g->n_val)];
            attr[a] = ints(to->ndim, to->shape);
        }
    }
    int n_out = 0;
    if (ms__infer(op, attr, s->n_in, in, 1, &out, &n_out) == MS_OK && out.ndim <= 3 &&
        out.dtype <= MS_FLOAT64)
        ms__graph_add(g, op, attr, s->n_in, id, 1, &out);
    ms_error_clear();
}

static MsGraph *random_graph(void)
{
    static const MsAval types[] = {{MS_FLOAT32, 2, {3, 5}}, {MS_FLOAT32, 1, {5}},    {MS_FLOAT32, 0, {0}},
                                   {MS_INT32, 2, {3, 5}},   {MS_FLOAT16, 2, {3, 5}}, {MS_BOOL, 2, {3, 5}}};
    MsGraph *g = ms__graph_new();
    for (int i = 0; i < N_IN; i++) ms__graph_input(g, &types[random_below(6)]);
    g->n_arg = N_IN;
    int n = 3 + random_below(MAX_NODE);
    for (int k = 0; k < n; k++) add_random(g);
    int32_t out[4];
    for (int j = 0; j < 4; j++) out[j] = j ? random_below(g->n_val) : g->n_val - 1;
    ms__graph_set_out(g, 4, out);
    return g;
}

static bool same(MsTensor *a, MsTensor *b)
{
    a = ms_contiguous(a);
    b = ms_contiguous(b);
    if (!a || !b || a->dtype != b->dtype || a->numel != b->numel) return false;
    if (a->dtype == MS_FLOAT32 || a->dtype == MS_FLOAT64 || a->dtype == MS_FLOAT16) {
        MsTensor *x = ms_cast(a, MS_FLOAT64), *y = ms_cast(b, MS_FLOAT64); /* which NaN is no matter */
        for (int64_t k = 0; k < x->numel; k++) {
            double u = ((double *)(void *)x->data)[k], v = ((double *)(void *)y->data)[k];
            if (!(isnan(u) && isnan(v)) && (u != v || signbit(u) != signbit(v))) return false;
        }
        return true;
    }
    return memcmp(a->data, b->data, (size_t)a->numel * ms_dtype_size((MsDtype)a->dtype)) == 0;
}

static void check(int seed, int level)
{
    state = (uint64_t)seed * 7919 + 17;
    int mark = ms_scope_begin();
    MsGraph *g = random_graph();
    char *before = ms_graph_print(g), *after = NULL;
    MsTensor *in[N_IN], *want[4] = {NULL}, *got[4];
    for (int i = 0; i < N_IN; i++) in[i] = random_tensor(&g->val[i]);
    MsStatus expected = ms__graph_replay(g, in, want);
    ms_error_clear();
    MsStatus st = ms__graph_verify(g);
    if (st == MS_OK) st = ms_graph_optimize(g, level ? MS_JIT_O1 : MS_JIT_O0);
    if (st == MS_OK) st = ms__graph_verify(g);
    after = ms_graph_print(g);
    bool good = st == MS_OK;
    for (int run = 0; run < 3 && good; run++) {
        st = ms__graph_run(g, in, got);
        good = expected ? st == expected || st == MS_OK : st == MS_OK; /* an error of a dead node may go */
        if (expected) ms_error_clear();
        for (int j = 0; j < 4 && good && !expected; j++) good = same(want[j], got[j]);
    }
    n_pass += good;
    n_fail += !good;
    if (!good)
        printf("seed %d at O%d: %s\n%s-- after\n%s\n", seed, level,
               ms__failed() ? ms_error()->message : "values differ", before, after);
    ms_error_clear();
    free(before);
    free(after);
    ms_graph_unref(g);
    ms_scope_end(mark, NULL, 0);
}

int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 0, n = argc > 1 ? 1 : N_GRAPH;
    int64_t live = ms_memory_stats().n_live;
    for (int seed = first; seed < first + n && n_fail < 3; seed++)
        for (int level = 0; level < 2; level++) check(seed, level);
    n_fail += ms_memory_stats().n_live != live;
    printf("%d passed, %d failed\n", n_pass, n_fail);
    return n_fail > 0;
}
