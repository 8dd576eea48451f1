/* trace.c - interpreters in nestings that the sweep does not reach: orders of gradient, weights, writes and
 * views inside traces, graphs that capture and write, control flow, and values that escape. */
#include "trace/trace.h"
#include "graph/ir.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int n_passed, n_failed;

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        if (cond)                                                                                            \
            n_passed++;                                                                                      \
        else {                                                                                               \
            n_failed++;                                                                                      \
            printf("FAILED %s:%d: %s (%s)\n", __func__, __LINE__, #cond,                                     \
                   ms_error()->code ? ms_error()->message : "");                                             \
            ms_error_clear();                                                                                \
        }                                                                                                    \
    } while (0)

static MsTensor *vec(int n, const float *v)
{
    int64_t shape[1] = {n};
    return ms_tensor_from(MS_FLOAT32, 1, shape, v);
}

static float at(MsTensor *t, int k)
{
    float *p = t ? ms_tensor_data(t) : NULL;
    return p ? p[k] : NAN;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fmax(1, fabs(b));
}

typedef MsTensor *(*Fn)(MsTensor *);

static MsTensor *grad(Fn f, MsTensor *x)
{
    MsTensor *t, *g = NULL;
    MsTrace *tr = ms_vjp_begin(1, &x, &t, 0, NULL);
    MsTensor *y = f(t);
    if (!y || ms_vjp_grad(tr, 1, &y, NULL, &g) != MS_OK) g = NULL;
    ms_vjp_end(tr);
    return g;
}

static MsTensor *sin1(MsTensor *x)
{
    return ms_sin(x);
}
static MsTensor *sin2(MsTensor *x)
{
    return grad(sin1, x);
}
static MsTensor *sin3(MsTensor *x)
{
    return grad(sin2, x);
}

static void orders(void)
{
    MsTensor *x = vec(2, (float[]){0.3f, 1.2f});
    CHECK(near(at(sin2(x), 0), cos(0.3)));
    CHECK(near(at(sin3(x), 1), -sin(1.2)));
    CHECK(near(at(grad(sin3, x), 0), -cos(0.3)));
}

static MsTensor *tangent_of(Fn f, MsTensor *x, MsTensor *v)
{
    MsTensor *t, *value = NULL, *tangent = NULL;
    MsTrace *tr = ms_jvp_begin(1, &x, &v, &t);
    MsTensor *y = f(t);
    if (!y || ms_jvp_value(tr, y, &value, &tangent) != MS_OK) tangent = NULL;
    ms_jvp_end(tr);
    return tangent;
}

static MsTensor *cube_grad(MsTensor *x)
{
    MsTensor *(*cube)(MsTensor *) = sin1;
    return grad(cube, x);
}

static void forward_over_reverse(void)
{
    MsTensor *x = vec(2, (float[]){0.3f, 1.2f}), *v = vec(2, (float[]){1, 2});
    CHECK(near(at(tangent_of(sin1, x, v), 1), 2 * cos(1.2)));
    CHECK(near(at(tangent_of(cube_grad, x, v), 1), -2 * sin(1.2)));
}

static MsTensor *weight;
static MsTensor *with_weight(MsTensor *x)
{
    return ms_mul(ms_mul(x, weight), weight);
}

static void weights(void)
{
    MsTensor *x = vec(2, (float[]){2, 3}), *t, *g[2];
    weight = vec(2, (float[]){5, 7});
    MsTrace *tr = ms_vjp_begin(1, &x, &t, 1, &weight);
    MsTensor *y = with_weight(t);
    CHECK(ms_vjp_grad(tr, 1, &y, NULL, g) == MS_OK);
    CHECK(near(at(y, 0), 50)); /* the value is there while the trace is open */
    CHECK(ms_vjp_end(tr) == MS_OK);
    CHECK(near(at(g[0], 0), 25) && near(at(g[1], 1), 2 * 3 * 7));
}

/* y = 0; y[1] = x * x; result y * 3: the write is differentiated and seen outside. */
static MsTensor *buffer;
static MsTensor *write_inside(MsTensor *x)
{
    MsTensor *view = ms_slice(buffer, MS_INTS(1), MS_INTS(1), MS_INTS(1));
    if (ms_tensor_write(view, ms_mul(x, x)) != MS_OK) return NULL;
    return ms_mul(buffer, ms_tensor_scalar(MS_FLOAT32, 3));
}

static void writes(void)
{
    buffer = vec(2, (float[]){1, 1});
    MsTensor *x = vec(1, (float[]){4});
    MsTensor *g = grad(write_inside, x);
    CHECK(near(at(g, 0), 24));
    CHECK(near(at(buffer, 1), 16) && near(at(buffer, 0), 1));
}

/* A write through one alias is seen by another, inside a trace. */
static MsTensor *aliases(MsTensor *x)
{
    MsTensor *y = ms_mul(x, ms_tensor_scalar(MS_FLOAT32, 1));
    MsTensor *r = ms_reshape(y, MS_INTS(2, 2));
    MsTensor *row = ms_slice(r, MS_INTS(1, 0), MS_INTS(1, 2), MS_INTS(1, 1));
    if (ms_tensor_write(row, ms_tensor_scalar(MS_FLOAT32, 9)) != MS_OK) return NULL;
    return ms_mul(y, y);
}

static void alias_in_trace(void)
{
    MsTensor *x = vec(4, (float[]){1, 2, 3, 4});
    MsTensor *g = grad(aliases, x);
    CHECK(near(at(g, 0), 2) && near(at(g, 1), 4) && near(at(g, 2), 0) && near(at(g, 3), 0));
    MsTensor *t;
    MsTrace *tr = ms_stage_begin(1, &x, &t);
    MsTensor *y = aliases(t);
    MsGraph *graph = ms_stage_end(tr, 1, &y);
    CHECK(graph && ms_graph_call(graph, 1, &x, &y) == MS_OK);
    CHECK(near(at(y, 1), 4) && near(at(y, 3), 81));
    ms_graph_unref(graph);
}

static MsTensor *state;
static MsTensor *counting(MsTensor *x)
{
    if (ms_tensor_write(state, ms_add(state, x)) != MS_OK) return NULL;
    return ms_mul(ms_sin(x), state);
}

static MsGraph *stage(Fn f, MsTensor *x)
{
    MsTensor *t;
    MsTrace *tr = ms_stage_begin(1, &x, &t);
    MsTensor *y = f(t);
    return ms_stage_end(tr, 1, &y);
}

static MsGraph *the_graph;
static MsTensor *call_graph(MsTensor *x)
{
    MsTensor *y;
    return ms_graph_call(the_graph, 1, &x, &y) == MS_OK ? y : NULL;
}

static void staged_state(void)
{
    MsTensor *x = vec(1, (float[]){2});
    state = vec(1, (float[]){10});
    the_graph = stage(counting, x);
    CHECK(the_graph && near(at(state, 0), 10)); /* staging runs nothing */
    CHECK(near(at(call_graph(x), 0), sin(2) * 12) && near(at(state, 0), 12));
    CHECK(near(at(call_graph(x), 0), sin(2) * 14) && near(at(state, 0), 14));
    /* gradient of the graph; state = 14 + x inside */
    CHECK(near(at(grad(call_graph, x), 0), cos(2) * 16 + sin(2)) && near(at(state, 0), 16));
    ms_graph_unref(the_graph);
}

static void nested_jit(void)
{
    MsTensor *x = vec(1, (float[]){0.7f});
    the_graph = stage(sin3, x); /* jit of grad of grad */
    CHECK(the_graph && near(at(call_graph(x), 0), -sin(0.7)));
    CHECK(near(at(grad(call_graph, x), 0), -cos(0.7)));
    MsGraph *outer = stage(call_graph, x); /* jit of jit */
    MsTensor *y;
    CHECK(outer && ms_graph_call(outer, 1, &x, &y) == MS_OK && near(at(y, 0), -sin(0.7)));
    ms_graph_unref(outer);
    ms_graph_unref(the_graph);
}

/* while x < 100: x = x * x */
static MsTensor *square_up(MsTensor *x)
{
    MsAval a = {MS_FLOAT32, 0, {0}};
    MsTensor *t, *y;
    MsTrace *tr = ms__stage_begin(1, &a, &t);
    y = ms_lt(t, ms_tensor_scalar(MS_FLOAT32, 100));
    MsGraph *test = ms_stage_end(tr, 1, &y);
    tr = ms__stage_begin(1, &a, &t);
    y = ms_mul(t, t);
    MsGraph *body = ms_stage_end(tr, 1, &y);
    int n;
    MsStatus st = test && body ? ms_while(1, &x, test, body, 1, 1, &y, &n) : MS_ERROR_RUNTIME;
    ms_graph_unref(test);
    ms_graph_unref(body);
    return st == MS_OK ? y : NULL;
}

static void loops(void)
{
    MsTensor *x = ms_tensor_scalar(MS_FLOAT32, 3);
    CHECK(near(at(square_up(x), 0), 6561)); /* 3 -> 9 -> 81 -> 6561 = x^8 */
    CHECK(near(at(grad(square_up, x), 0), 8 * 2187));
    x = ms_copy(x);
    the_graph = stage(square_up, x);
    CHECK(the_graph && near(at(call_graph(x), 0), 6561));
    CHECK(near(at(grad(call_graph, x), 0), 8 * 2187));
    ms_graph_unref(the_graph);
}

static MsTensor *grad_square_up(MsTensor *x)
{
    return grad(square_up, x);
}

static void loop_grad_staged(void)
{
    MsTensor *x = ms_copy(ms_tensor_scalar(MS_FLOAT32, 3));
    the_graph = stage(grad_square_up, x);
    CHECK(the_graph && near(at(call_graph(x), 0), 8 * 2187));
    CHECK(near(at(grad(call_graph, x), 0), 56 * 729)); /* second derivative, forward recomputed */
    ms_graph_unref(the_graph);
}

static void batched(void)
{
    int64_t shape[2] = {3, 2};
    MsTensor *x = ms_tensor_from(MS_FLOAT32, 2, shape, (float[]){1, 2, 3, 4, 5, 6}), *t, *y;
    int axis = 0;
    MsTrace *tr = ms_vmap_begin(1, &x, &axis, &t);
    y = ms_vmap_value(tr, grad(sin1, t), 1);
    CHECK(ms_vmap_end(tr) == MS_OK);
    CHECK(y && y->shape[0] == 2 && y->shape[1] == 3);
    y = ms_contiguous(y);
    CHECK(near(at(y, 1), cos(3)) && near(at(y, 3), cos(2)));
}

static void escapes(void)
{
    MsTensor *x = vec(1, (float[]){2}), *t, *g;
    MsTrace *tr = ms_vjp_begin(1, &x, &t, 0, NULL);
    MsTensor *y = ms_mul(t, t);
    CHECK(ms_vjp_grad(tr, 1, &y, NULL, &g) == MS_OK && ms_vjp_end(tr) == MS_OK);
    CHECK(near(at(ms_add(y, x), 0), 6)); /* a value of an ended gradient is a plain value */
    tr = ms_stage_begin(1, &x, &t);
    y = ms_mul(t, t);
    ms_stage_cancel(tr);
    CHECK(ms_add(y, x) == NULL && ms_error()->code == MS_ERROR_RUNTIME);
    ms_error_clear();
}

int main(void)
{
    void (*tests[])(void) = {orders,       forward_over_reverse, weights, writes,           alias_in_trace,
                             staged_state, nested_jit,           loops,   loop_grad_staged, batched,
                             escapes};
    for (size_t k = 0; k < sizeof tests / sizeof *tests; k++) {
        int64_t live = ms_memory_stats().n_live;
        int mark = ms_scope_begin();
        tests[k]();
        ms_scope_end(mark, NULL, 0);
        if (ms_memory_stats().n_live != live) {
            n_failed++;
            printf("FAILED test %zu leaves %lld tensors\n", k, (long long)(ms_memory_stats().n_live - live));
        }
    }
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed > 0;
}
