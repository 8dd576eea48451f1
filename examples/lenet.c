/* lenet.c - LeNet-5 (LeCun et al., Gradient-based learning applied to document recognition, 1998) on
 * Fashion-MNIST with libmindspore alone: data pipeline, automatic differentiation and optimizer, eagerly and
 * then as one graph.
 *
 *     make && ./lenet [epochs] [folder with the idx files]
 *
 * Reading order: forward, train_step, train. A pointer that is NULL passes through every call, so a chain of
 * calls is checked once at its end. What a step makes lives in its scope. */
#include <mindspore.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 64
#define N_PARAM 10
#define LEARNING_RATE 0.05 /* at the start; falls to zero along a half cosine */
#define MOMENTUM 0.9

/* Weight, bias of two convolutions and three dense layers. */
static const struct {
    const char *name;
    int ndim;
    int64_t shape[4];
} layout[N_PARAM] = {
    {"conv1.weight", 4, {6, 1, 5, 5}},  {"conv1.bias", 1, {6}},
    {"conv2.weight", 4, {16, 6, 5, 5}}, {"conv2.bias", 1, {16}},
    {"fc1.weight", 2, {120, 400}},      {"fc1.bias", 1, {120}},
    {"fc2.weight", 2, {84, 120}},       {"fc2.bias", 1, {84}},
    {"fc3.weight", 2, {10, 84}},        {"fc3.bias", 1, {10}},
};

typedef struct Net {
    MsTensor *param[N_PARAM], *moment[N_PARAM];
} Net;

typedef struct Result {
    float last_loss;
    double accuracy;
} Result;

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, ms_error()->message);
    return 1;
}

/* ---- the network ---- */

/* Uniform within 1 / sqrt(fan_in), weights and biases alike. */
static int net_init(Net *net, uint64_t seed)
{
    int mark = ms_scope_begin();
    int bad = ms_random_seed(seed) != MS_OK;
    MsTensor *state = ms_random_state();
    double bound = 0;
    for (int k = 0; k < N_PARAM && !bad; k++) {
        MsInts shape = {layout[k].ndim, layout[k].shape};
        if (layout[k].ndim > 1) {
            double fan_in = 1;
            for (int d = 1; d < layout[k].ndim; d++) fan_in *= (double)layout[k].shape[d];
            bound = 1 / sqrt(fan_in);
        }
        MsTensor *unit = ms_rng_uniform(state, shape, MS_FLOAT32); /* [0, 1) */
        bad |= ms_tensor_write(state, ms_rng_advance(state)) != MS_OK;
        MsTensor *w =
            ms_mul(ms_sub(unit, ms_tensor_scalar(MS_FLOAT32, 0.5)), ms_tensor_scalar(MS_FLOAT32, 2 * bound));
        net->param[k] = ms_tensor_ref(w);
        net->moment[k] = ms_tensor_ref(ms_full(shape, 0, MS_FLOAT32));
        bad |= !net->param[k] || !net->moment[k];
    }
    ms_scope_end(mark, NULL, 0);
    return bad;
}

static void net_free(Net *net)
{
    for (int k = 0; k < N_PARAM; k++) {
        ms_tensor_unref(net->param[k]);
        ms_tensor_unref(net->moment[k]);
    }
}

static MsTensor *conv_relu_pool(MsTensor *x, MsTensor *w, MsTensor *b, int64_t pad)
{
    MsTensor *out[2]; /* the maxima and where they were */
    x = ms_relu(ms_conv(x, w, b, MS_INTS(1, 1), MS_INTS(pad, pad), MS_INTS(pad, pad), MS_INTS(1, 1), 1));
    if (!x || ms_max_pool(x, MS_INTS(2, 2), MS_INTS(2, 2), MS_INTS(0, 0), MS_INTS(0, 0), MS_INTS(1, 1),
                          out) != MS_OK)
        return NULL;
    return out[0];
}

/* Images [n, 1, 28, 28] to logits [n, 10]. */
static MsTensor *forward(const Net *net, MsTensor *x)
{
    MsTensor *const *p = net->param;
    int64_t n = ms_tensor_shape(x)[0];
    x = conv_relu_pool(x, p[0], p[1], 2); /* [n, 6, 14, 14] */
    x = conv_relu_pool(x, p[2], p[3], 0); /* [n, 16, 5, 5] */
    x = x ? ms_reshape(x, MS_INTS(n, 400)) : NULL;
    x = ms_relu(ms_linear(x, p[4], p[5]));
    x = ms_relu(ms_linear(x, p[6], p[7]));
    return ms_linear(x, p[8], p[9]);
}

/* ---- a training step ---- */

/* One step of gradient descent with momentum on a batch: changes the network, returns the loss. Run as it
 * stands it computes at once; between ms_stage_begin and ms_stage_end the same code becomes a graph. */
static MsTensor *train_step(Net *net, MsTensor *image, MsTensor *label, MsTensor *rate)
{
    MsTrace *trace = ms_vjp_begin(0, NULL, NULL, N_PARAM, net->param);
    if (!trace) return NULL;
    MsTensor *loss = ms_mean(ms_softmax_cross_entropy(forward(net, image), label, -100), MS_INTS_NONE, false);
    MsTensor *list[3 * N_PARAM + 1], *updated[2 * N_PARAM], *value = NULL;
    MsStatus st = loss ? ms_vjp_grad(trace, 1, &loss, NULL, list + 2 * N_PARAM) : ms_error()->code;
    if (st == MS_OK) value = ms_vjp_value(trace, loss);
    ms_vjp_end(trace);
    if (st != MS_OK || !value) return NULL;

    memcpy(list, net->param, sizeof net->param); /* parameters, moments, gradients, learning rate */
    memcpy(list + N_PARAM, net->moment, sizeof net->moment);
    list[3 * N_PARAM] = rate;
    int n_updated;
    if (ms_momentum_update(3 * N_PARAM + 1, list, N_PARAM, MOMENTUM, 0, 1, false, 2 * N_PARAM, updated,
                           &n_updated) != MS_OK)
        return NULL;
    for (int k = 0; k < 2 * N_PARAM; k++)
        if (ms_tensor_write(list[k], updated[k]) != MS_OK) return NULL;
    return value;
}

/* The step as a graph for batches like this one. */
static MsGraph *stage_step(Net *net, MsTensor *const *batch)
{
    int mark = ms_scope_begin();
    MsTensor *x[3];
    MsGraph *g = NULL;
    MsTrace *trace = ms_stage_begin(3, batch, x);
    MsTensor *loss = trace ? train_step(net, x[0], x[1], x[2]) : NULL;
    if (loss)
        g = ms_stage_end(trace, 1, &loss);
    else if (trace)
        ms_stage_cancel(trace);
    ms_scope_end(mark, NULL, 0);
    if (g && ms_graph_optimize(g, MS_JIT_O1) == MS_OK) return g;
    ms_graph_unref(g);
    return NULL;
}

/* ---- data ---- */

static MsDataset *open_data(const char *dir, const char *usage, bool shuffle)
{
    MsDataset *d = ms_dataset_fashion_mnist(dir, usage, shuffle ? ms_sampler_random(false, 0) : NULL);
    d = ms_dataset_map(d, 3,
                       (MsTransform *[]){MS_TRANSFORM("Rescale", 1 / 255.0, 0),
                                         MS_TRANSFORM("Normalize", 1, 0.2860, 0.3530),
                                         MS_TRANSFORM("HWC2CHW")},
                       "image", NULL, 1);
    d = ms_dataset_map(d, 1, (MsTransform *[]){MS_TRANSFORM("TypeCast", MS_INT32)}, "label", NULL, 1);
    return ms_dataset_batch(d, shuffle ? BATCH : 1000, shuffle);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The share of the test images that are classified right, or -1. */
static double evaluate(const Net *net, MsDataset *test)
{
    MsDataIter *it = ms_data_iter_new(test, 1);
    int64_t right = 0, all = 0;
    MsStatus st = it ? MS_OK : ms_error()->code;
    while (st == MS_OK) {
        int mark = ms_scope_begin();
        MsTensor *batch[2];
        st = ms_data_iter_next(it, batch);
        MsTensor *best = st == MS_OK ? ms_argmax(forward(net, batch[0]), 1, false) : NULL;
        if (st == MS_OK && !best) st = ms_error()->code;
        for (int64_t i = 0; best && i < ms_tensor_numel(best); i++, all++)
            right += ((int64_t *)ms_tensor_data(best))[i] == ((int32_t *)ms_tensor_data(batch[1]))[i];
        ms_scope_end(mark, NULL, 0);
    }
    ms_data_iter_free(it);
    return st == MS_ERROR_STOP && all > 0 ? (double)right / (double)all : -1;
}

/* ---- training ---- */

static void progress(int epoch, int64_t step, int64_t steps, double loss, double rate)
{
    char bar[31];
    int full = (int)(30 * step / steps);
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', 30 - (size_t)full);
    bar[30] = 0;
    printf("\r  epoch %d [%s] loss %.4f  %7.0f images/s ", epoch + 1, bar, loss, rate);
    fflush(stdout);
}

static int train(const char *dir, int epochs, bool graph_mode, Result *result)
{
    Net net = {0};
    MsGraph *graph = NULL;
    int bad = 1;
    ms_data_set_seed(1);
    MsDataset *data = open_data(dir, "train", true), *test = open_data(dir, "test", false);
    MsDataIter *it = ms_data_iter_new(data, epochs);
    if (!data || !test || !it || net_init(&net, 1)) goto done;
    int64_t steps = ms_dataset_size(data);
    for (int e = 0; e < epochs; e++) {
        double begin = now(), sum = 0;
        for (int64_t s = 0;; s++) {
            int mark = ms_scope_begin();
            MsTensor *batch[3], *loss = NULL; /* images, labels, learning rate */
            MsStatus st = ms_data_iter_next(it, batch);
            double done = (double)(e * steps + s) / (double)(epochs * steps);
            batch[2] = ms_tensor_scalar(MS_FLOAT32, LEARNING_RATE * (1 + cos(M_PI * done)) / 2);
            if (st == MS_OK && graph_mode && !graph) graph = stage_step(&net, batch);
            if (st == MS_OK && graph)
                ms_graph_call(graph, 3, batch, &loss);
            else if (st == MS_OK && !graph_mode)
                loss = train_step(&net, batch[0], batch[1], batch[2]);
            if (loss) sum += result->last_loss = *(float *)ms_tensor_data(loss);
            ms_scope_end(mark, NULL, 0);
            if (st == MS_ERROR_STOP) break;
            if (!loss) goto done;
            if (s % 50 == 49 || s + 1 == steps)
                progress(e, s + 1, steps, sum / (double)(s + 1), (double)(s + 1) * BATCH / (now() - begin));
        }
        result->accuracy = evaluate(&net, test);
        if (result->accuracy < 0) goto done;
        printf(" test accuracy %.4f\n", result->accuracy);
    }
    bad = 0;
done:
    if (bad) fail("\ntraining");
    ms_graph_unref(graph);
    ms_data_iter_free(it);
    ms_dataset_unref(data);
    ms_dataset_unref(test);
    net_free(&net);
    return bad;
}

int main(int argc, char **argv)
{
    int epochs = argc > 1 ? atoi(argv[1]) : 5;
    const char *dir = argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist";
    Result eager = {0}, graph = {0};
    printf("C, eager\n");
    if (train(dir, epochs, false, &eager)) return 1;
    printf("C, one graph per step\n");
    if (train(dir, epochs, true, &graph)) return 1;
    bool same = eager.last_loss == graph.last_loss, good = eager.accuracy >= 0.88 && graph.accuracy >= 0.88;
    printf("last loss %.7f and %.7f: %s; accuracy %.4f and %.4f\n", eager.last_loss, graph.last_loss,
           same ? "identical" : "DIFFERENT", eager.accuracy, graph.accuracy);
    return same && (good || epochs < 5) ? 0 : 1;
}
