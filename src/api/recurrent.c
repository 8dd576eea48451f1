/* recurrent.c - recurrent layers: the products with all inputs of a layer are one matrix product, then all steps of
 * an LSTM or GRU are one operator. Gates of a weight [k hidden, ...] are ordered as in PyTorch and cuDNN: LSTM i f g o
 * (Hochreiter & Schmidhuber 1997), GRU r z n with the reset gate after the product (Cho et al. 2014).
 *
 * A sequence shorter than the batch's keeps its state beyond its length and gives zeros there; backwards it begins at
 * its own end. */
#include "api/api.h"
#include "api/args.h"
#include "core/mem.h"
#include "op/random.h"

#include <stdlib.h>
#include <string.h>

typedef struct Kind {
    const char *name;
    int gates;
} Kind;

static const Kind kinds[] = {{"LSTM", 4}, {"GRU", 3}, {"RNN_TANH", 1}, {"RNN_RELU", 1}};

static const Kind *find(const char *name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k].name, name) == 0) return &kinds[k];
    MS_FAIL(MS_ERROR_VALUE, "There is no recurrent layer of kind '%s'.", name);
    return NULL;
}

/* Gate k of n hidden units along the last axis. */
static MsTensor *gate(MsTensor *x, int k, int64_t n)
{
    return x ? ms__narrowed(x, ms_tensor_ndim(x) - 1, k * n, n) : NULL;
}

/* One step: of the products with the input (`a`, bias included) and the state h, c to the new h, c. */
static MsTensor *step(const Kind *kind, MsTensor *a, MsTensor *h, MsTensor **c, MsTensor *w, MsTensor *b)
{
    MsTensor *r = ms_linear(h, w, b);
    if (!a || !r) return NULL;
    int64_t n = ms_tensor_shape(r)[ms_tensor_ndim(r) - 1] / kind->gates;
    if (kind->gates == 4) {
        MsTensor *g = ms_add(a, r);
        MsTensor *in = ms_sigmoid(gate(g, 0, n)), *forget = ms_sigmoid(gate(g, 1, n));
        MsTensor *cell = ms_tanh(gate(g, 2, n)), *out = ms_sigmoid(gate(g, 3, n));
        *c = ms_add(ms_mul(forget, *c), ms_mul(in, cell));
        return ms_mul(out, ms_tanh(*c));
    }
    if (kind->gates == 3) {
        MsTensor *reset = ms_sigmoid(ms_add(gate(a, 0, n), gate(r, 0, n)));
        MsTensor *keep = ms_sigmoid(ms_add(gate(a, 1, n), gate(r, 1, n)));
        MsTensor *new = ms_tanh(ms_add(gate(a, 2, n), ms_mul(reset, gate(r, 2, n))));
        return ms_add(new, ms_mul(keep, ms_sub(h, new)));
    }
    MsTensor *sum = ms_add(a, r);
    return strcmp(kind->name, "RNN_RELU") == 0 ? ms_relu(sum) : ms_tanh(sum);
}

static MsStatus check_shape(const char *who, const char *what, MsTensor *t, int ndim, const int64_t *want)
{
    if (ms_tensor_ndim(t) == ndim && memcmp(ms_tensor_shape(t), want, (size_t)ndim * sizeof *want) == 0)
        return MS_OK;
    return MS_FAIL(MS_ERROR_VALUE, "For '%s', the shape of '%s' must be %s, but got %s.", who, what,
                   ms__shape_text(ndim, want), ms__shape_text(ms_tensor_ndim(t), ms_tensor_shape(t)));
}

/* The argument at k that is a Tensor, or None for NULL. */
#define OPTIONAL(k) (GIVEN(k) ? T(k) : NULL)

MS_API(rnn_cell, "_nn.rnn_cell",
       "(kind: str, x: Tensor, h: Tensor, c: Tensor?, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor?, b_hh: "
       "Tensor?) -> any")
{
    const Kind *kind = find(ARG(0)->s);
    if (!kind) return ms_error()->code;
    MsTensor *c1 = OPTIONAL(3), *a = ms_linear(T(1), T(4), OPTIONAL(6));
    if (kind->gates == 4 && !c1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'LSTMCell', the 'hx' must be a tuple (h, c).");
    MsTensor *h = step(kind, a, T(2), &c1, T(5), OPTIONAL(7));
    if (kind->gates != 4) return R(h);
    if (!h || !c1) return ms_error()->code;
    return ms__api_return_list(c, 2, (MsTensor *[]){h, c1});
}

typedef struct Layer {
    const Kind *kind;
    MsTensor *w_ih, *w_hh, *b_ih, *b_hh;
    MsTensor *length; /* int64 [1, batch, 1], at most the time, or NULL */
    bool reverse;
} Layer;

/* All states [time, batch, hidden] of an LSTM as one operator, and its cells. */
static MsTensor *run_lstm(const Layer *l, MsTensor *x, MsTensor *h, MsTensor *c, MsTensor **cells)
{
    MsTensor *out[3], *a = ms_linear(x, l->w_ih, l->b_ih ? ms_add(l->b_ih, l->b_hh) : NULL);
    if (!a || ms_lstm(a, h, c, l->w_hh, out) != MS_OK) return NULL;
    *cells = out[1];
    return out[0];
}

static MsTensor *run_gru(const Layer *l, MsTensor *x, MsTensor *h)
{
    MsTensor *bias = NULL, *inner = NULL, *out[2];
    if (l->b_ih) { /* of the product with the state, the gates' part can go to the product with the input */
        int64_t n = nd(h) ? shape(h)[1] : 0;
        bias = ms_add(l->b_ih, ms_pad(ms__narrowed(l->b_hh, 0, 0, 2 * n), MS_INTS(0), MS_INTS(n), 0));
        inner = ms__narrowed(l->b_hh, 0, 2 * n, n);
        if (!bias || !inner) return NULL;
    }
    MsTensor *a = ms_linear(x, l->w_ih, bias);
    return a && ms_gru(a, h, l->w_hh, inner, out) == MS_OK ? out[0] : NULL;
}

static MsTensor *run_rnn(const Layer *l, MsTensor *x, MsTensor *h)
{
    MsTensor *a = ms_linear(x, l->w_ih, l->b_ih), *unused = NULL;
    if (!a) return NULL;
    int64_t n = shape(a)[0];
    MsTensor **y = ms__malloc((size_t)n * sizeof *y), *result = NULL;
    if (!y) return NULL;
    for (int64_t t = 0; t < n && h; t++)
        y[t] = h = step(l->kind, ms__picked(a, 0, t), h, &unused, l->w_hh, l->b_hh);
    if (h) result = ms__stacked((int)n, y, 0);
    free(y);
    return result;
}

/* x [time, batch, n] by one index [time, batch, 1] per row. */
static MsTensor *rows_at(MsTensor *x, MsTensor *index)
{
    if (!x || !index) return NULL;
    index = ms_broadcast_to(index, MS_INTS(shape(index)[0], shape(x)[1], shape(x)[2]));
    return ms_take_along(x, index, 0);
}

/* Each sequence backwards within its length, or x where there are no lengths. */
static MsTensor *reversed(const Layer *l, MsTensor *x, MsTensor *time)
{
    if (!x || !l->reverse) return x;
    if (!l->length) return ms_flip(x, MS_INTS(0));
    MsTensor *back = ms_sub(ms_sub(l->length, time), ms_tensor_scalar_int(MS_INT64, 1));
    return rows_at(x, ms_where(ms_lt(time, l->length), back, time));
}

/* The state after the last step of each sequence; `first` for one of length 0. */
static MsTensor *last_of(const Layer *l, MsTensor *states, MsTensor *first)
{
    if (!states) return NULL;
    if (!l->length) return ms__picked(states, 0, shape(states)[0] - 1);
    MsTensor *zero = ms_tensor_scalar_int(MS_INT64, 0);
    MsTensor *at = ms_maximum(ms_sub(l->length, ms_tensor_scalar_int(MS_INT64, 1)), zero);
    MsTensor *last = rows_at(states, at),
             *any = ms_reshape(ms_gt(l->length, zero), MS_INTS(shape(states)[1], 1));
    return last && any ? ms_where(any, ms__dropped(last, 0), first) : NULL;
}

/* One direction over x [time, batch, in]; y [time, batch, hidden], and *h, *c move to the last state. */
static MsTensor *run(const Layer *l, MsTensor *x, MsTensor **h, MsTensor **c)
{
    MsTensor *cells = NULL, *time = NULL; /* the number of each step, where sequences end at different ones */
    if (l->length) time = ms_reshape(ms_arange_int(0, 1, shape(x)[0], MS_INT64), MS_INTS(shape(x)[0], 1, 1));
    x = reversed(l, x, time);
    MsTensor *y = !x                    ? NULL
                  : l->kind->gates == 4 ? run_lstm(l, x, *h, *c, &cells)
                  : l->kind->gates == 3 ? run_gru(l, x, *h)
                                        : run_rnn(l, x, *h);
    if (!y) return NULL;
    *h = last_of(l, y, *h);
    if (cells) *c = last_of(l, cells, *c);
    if (!*h || (cells && !*c)) return NULL;
    if (l->length) y = ms_where(ms_lt(time, l->length), y, ms_tensor_scalar(dtype_of(y), 0));
    return reversed(l, y, time);
}

static MsTensor *dropped(MsTensor *x, double p)
{
    if (!x || p == 0) return x;
    MsDtype dt = ms_tensor_dtype(x);
    MsTensor *u = ms_rng_uniform(ms__rng_next(ms_random_state()),
                                 (MsInts){ms_tensor_ndim(x), ms_tensor_shape(x)}, MS_FLOAT32);
    MsTensor *keep = ms_cast(ms_ge(u, ms_tensor_scalar(MS_FLOAT32, p)), dt);
    return ms_mul(x, ms_mul(keep, ms_tensor_scalar(dt, 1 / (1 - p))));
}

/* Weights by layer, then direction: w_ih, w_hh and, with has_bias, b_ih, b_hh. */
MS_API(recurrent, "_nn.recurrent",
       "(kind: str, x: Tensor, h: Tensor?, c: Tensor?, weights: Tensor[], has_bias: bool, num_layers: int, "
       "bidirectional: bool, batch_first: bool, seq_length: Tensor?, dropout: float) -> any")
{
    enum {
        KIND,
        X,
        H,
        C,
        WEIGHTS,
        BIAS,
        LAYERS,
        BOTH,
        BATCH_FIRST,
        LENGTH,
        DROPOUT
    };
    const Kind *kind = find(ARG(KIND)->s);
    if (!kind) return ms_error()->code;
    MsTensor *x = T(X), *h0 = OPTIONAL(H), *c0 = OPTIONAL(C), *length = OPTIONAL(LENGTH);
    const char *who = kind->gates == 1 ? "RNN" : kind->name;
    if (ms_tensor_ndim(x) != 3)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the input must have 3 dimensions, but got %d.", who,
                       ms_tensor_ndim(x));
    if (I(BATCH_FIRST)) x = ms_transpose(x, MS_INTS(1, 0, 2));
    if (!x) return ms_error()->code;
    int dirs = I(BOTH) ? 2 : 1, layers = (int)I(LAYERS), each = I(BIAS) ? 4 : 2;
    if (ARG(WEIGHTS)->n != dirs * layers * each)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', there must be %d weights, but got %d.", who,
                       dirs * layers * each, ARG(WEIGHTS)->n);
    MsTensor *const first = ARG(WEIGHTS)->list[1].t;
    int64_t batch = ms_tensor_shape(x)[1], hidden = ms_tensor_shape(first)[1], in = ms_tensor_shape(x)[2];
    int64_t wanted = ms_tensor_shape(ARG(WEIGHTS)->list[0].t)[1];
    if (in != wanted)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the last dimension of the input must be %lld, but got %lld.", who,
                       (long long)wanted, (long long)in);
    if (ms_tensor_shape(x)[0] < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the sequences must not be empty.", who);
    int64_t state[] = {(int64_t)dirs * layers, batch, hidden};
    if (h0) MS_TRY(check_shape(who, "hx", h0, 3, state));
    if (c0) MS_TRY(check_shape(who, "hx", c0, 3, state));
    if (length) {
        MS_TRY(check_shape(who, "seq_length", length, 1, &batch));
        length = ms_reshape(ms_cast(length, MS_INT64), MS_INTS(1, batch, 1));
        length = ms_minimum(length, ms_tensor_scalar_int(MS_INT64, shape(x)[0]));
        if (!length) return ms_error()->code;
    }
    if (!h0) h0 = ms_full((MsInts){3, state}, 0, ms_tensor_dtype(x));
    if (!c0 && kind->gates == 4) c0 = ms_full((MsInts){3, state}, 0, ms_tensor_dtype(x));
    if (!h0 || (!c0 && kind->gates == 4)) return ms_error()->code;
    MsTensor **last = ms__malloc((size_t)(2 * dirs * layers) * sizeof *last), **last_c = last + dirs * layers;
    if (!last) return MS_ERROR_MEMORY;
    for (int l = 0; l < layers && x; l++) {
        MsTensor *y[2] = {NULL, NULL};
        for (int d = 0; d < dirs && x; d++) {
            const MsArg *w = ARG(WEIGHTS)->list + (l * dirs + d) * each;
            int at = l * dirs + d;
            Layer layer = {kind,   w[0].t, w[1].t, I(BIAS) ? w[2].t : NULL, I(BIAS) ? w[3].t : NULL,
                           length, d == 1};
            last[at] = ms__picked(h0, 0, at);
            last_c[at] = c0 ? ms__picked(c0, 0, at) : NULL;
            y[d] = last[at] ? run(&layer, x, &last[at], &last_c[at]) : NULL;
            if (!y[d]) x = NULL;
        }
        if (x) x = dirs == 2 ? ms_concat(2, y, 2) : y[0];
        if (l + 1 < layers) x = dropped(x, F(DROPOUT));
    }
    MsTensor *out[3] = {x, x ? ms__stacked(dirs * layers, last, 0) : NULL, NULL};
    if (x && c0) out[2] = ms__stacked(dirs * layers, last_c, 0);
    free(last);
    if (out[0] && I(BATCH_FIRST)) out[0] = ms_transpose(out[0], MS_INTS(1, 0, 2));
    if (!out[0] || !out[1] || (c0 && !out[2])) return ms_error()->code;
    return ms__api_return_list(c, c0 ? 3 : 2, out);
}
