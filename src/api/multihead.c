/* multihead.c - attention of several heads (Vaswani et al. 2017): projections in, attention, projection out.
 * Inputs are [length, batch, width], or [length, width] without a batch. Where the weights are not asked for,
 * the scores of all pairs never lie in memory: that is the operator `attention`. */
#include "api/api.h"
#include "api/args.h"
#include "op/random.h"

#include <math.h>
#include <string.h>

static const char *const who = "MultiheadAttention";

/* [length, batch, heads * size] -> [batch, heads, length, size] */
static MsTensor *split_heads(MsTensor *x, int64_t heads)
{
    if (!x) return NULL;
    const int64_t *s = ms_tensor_shape(x);
    x = ms_reshape(x, MS_INTS(s[0], s[1], heads, s[2] / heads));
    return ms_transpose(x, MS_INTS(1, 2, 0, 3));
}

/* x with one more row at the end of axis 0: `row` [1, 1, width], or zeros. */
static MsTensor *with_row(MsTensor *x, MsTensor *row)
{
    if (!x) return NULL;
    int64_t shape[] = {1, ms_tensor_shape(x)[1], ms_tensor_shape(x)[2]};
    MsInts size = {3, shape};
    row =
        row ? ms_broadcast_to(ms_cast(row, ms_tensor_dtype(x)), size) : ms_full(size, 0, ms_tensor_dtype(x));
    return row ? ms_concat(2, (MsTensor *[]){x, row}, 0) : NULL;
}

/* A mask as addends: true (or a number) hides; `more` columns at the end see everything. */
static MsTensor *addend(MsTensor *mask, MsDtype dt, int more)
{
    if (ms_tensor_dtype(mask) == MS_BOOL)
        mask = ms_where(mask, ms_tensor_scalar(dt, -INFINITY), ms_tensor_scalar(dt, 0));
    else
        mask = ms_cast(mask, dt);
    if (!mask || !more) return mask;
    int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0};
    int n = ms_tensor_ndim(mask);
    high[n - 1] = more;
    return ms_pad(mask, (MsInts){n, low}, (MsInts){n, high}, 0);
}

typedef struct Masks {
    MsTensor *padding, *pairs; /* [batch, keys]; [queries, keys] or [batch * heads, queries, keys] */
    int64_t batch, heads, queries, keys;
    int more;
} Masks;

static MsStatus join_masks(const Masks *m, MsDtype dt, MsTensor **out)
{
    *out = NULL;
    if (m->padding) {
        const int64_t *s = ms_tensor_shape(m->padding);
        if (ms_tensor_ndim(m->padding) != 2 || s[0] != m->batch || s[1] != m->keys)
            return MS_FAIL(
                MS_ERROR_VALUE, "For '%s', the shape of 'key_padding_mask' must be (%lld, %lld), but got %s.",
                who, (long long)m->batch, (long long)m->keys, ms__shape_text(ms_tensor_ndim(m->padding), s));
        MsTensor *t = addend(m->padding, dt, m->more);
        if (!t) return ms_error()->code;
        *out = ms_reshape(t, MS_INTS(m->batch, 1, 1, m->keys + m->more));
        if (!*out) return ms_error()->code;
    }
    if (!m->pairs) return MS_OK;
    int n = ms_tensor_ndim(m->pairs);
    const int64_t *s = ms_tensor_shape(m->pairs);
    if ((n != 2 && n != 3) || s[n - 2] != m->queries || s[n - 1] != m->keys ||
        (n == 3 && s[0] != m->batch * m->heads))
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the shape of 'attn_mask' must be (%lld, %lld) or (%lld, %lld, %lld), but got %s.", who,
            (long long)m->queries, (long long)m->keys, (long long)(m->batch * m->heads),
            (long long)m->queries, (long long)m->keys, ms__shape_text(n, s));
    MsTensor *t = addend(m->pairs, dt, m->more);
    if (t && n == 3) t = ms_reshape(t, MS_INTS(m->batch, m->heads, m->queries, m->keys + m->more));
    if (t && n == 2) t = ms_reshape(t, MS_INTS(1, 1, m->queries, m->keys + m->more));
    *out = *out ? ms_add(*out, t) : t;
    return *out ? MS_OK : ms_error()->code;
}

static MsTensor *dropout_factor(double p, const int64_t *shape, MsDtype dt)
{
    MsTensor *u = ms_rng_uniform(ms__rng_next(ms_random_state()), (MsInts){4, shape}, MS_FLOAT32);
    MsTensor *keep = ms_cast(ms_ge(u, ms_tensor_scalar(MS_FLOAT32, p)), dt);
    return ms_mul(keep, ms_tensor_scalar(dt, 1 / (1 - p)));
}

/* Arguments: weight of q, k, v (or one for all three in `w_q`). */
MS_API(
    multi_head_attention, "_nn.multi_head_attention",
    "(query: Tensor, key: Tensor, value: Tensor, w_q: Tensor, w_k: Tensor?, w_v: Tensor?, b_in: Tensor?, "
    "bias_k: "
    "Tensor?, bias_v: Tensor?, w_out: Tensor, b_out: Tensor?, heads: int, zero_attn: bool, dropout: float, "
    "key_padding_mask: Tensor?, attn_mask: Tensor?, need_weights: bool, average: bool) -> any")
{
    enum {
        Q,
        K,
        V,
        WQ,
        WK,
        WV,
        B_IN,
        BIAS_K,
        BIAS_V,
        W_OUT,
        B_OUT,
        HEADS,
        ZERO,
        DROPOUT,
        PADDING,
        PAIRS,
        NEED,
        AVERAGE
    };
    MsTensor *in[3] = {T(Q), T(K), T(V)}, *p[3];
    int nd = ms_tensor_ndim(in[0]);
    int64_t heads = I(HEADS), width = ms_tensor_shape(T(W_OUT))[0];
    MsTensor *padding = GIVEN(PADDING) ? T(PADDING) : NULL;
    for (int k = 0; k < 3; k++) {
        if ((nd != 2 && nd != 3) || ms_tensor_ndim(in[k]) != nd)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For '%s', 'query', 'key' and 'value' must all have 2 or 3 dimensions.", who);
        if (nd == 2) in[k] = ms__unsqueezed(in[k], 1);
        if (!in[k]) return ms_error()->code;
    }
    if (nd == 2 && padding && ms_tensor_ndim(padding) == 1) padding = ms__unsqueezed(padding, 0);
    for (int k = 0; k < 3; k++) {
        MsTensor *w = GIVEN(WK) ? T(WQ + k) : ms__narrowed(T(WQ), 0, k * width, width);
        MsTensor *b = GIVEN(B_IN) ? ms__narrowed(T(B_IN), 0, k * width, width) : NULL;
        p[k] = w ? ms_linear(in[k], w, b) : NULL;
    }
    int64_t keys = ms_tensor_shape(in[1])[0];
    if (GIVEN(BIAS_K)) p[1] = with_row(p[1], T(BIAS_K)), p[2] = with_row(p[2], T(BIAS_V));
    if (I(ZERO)) p[1] = with_row(p[1], NULL), p[2] = with_row(p[2], NULL);
    for (int k = 0; k < 3; k++)
        if (!(p[k] = split_heads(p[k], heads))) return ms_error()->code;
    MsDtype dt = ms_tensor_dtype(p[0]);
    Masks m = {padding,
               GIVEN(PAIRS) ? T(PAIRS) : NULL,
               ms_tensor_shape(p[0])[0],
               heads,
               ms_tensor_shape(p[0])[2],
               keys,
               (int)(GIVEN(BIAS_K) + (I(ZERO) != 0))};
    MsTensor *mask, *keep = NULL, *o, *weights = NULL;
    MS_TRY(join_masks(&m, dt, &mask));
    int64_t scores[] = {m.batch, heads, m.queries, keys + m.more};
    if (F(DROPOUT) > 0 && !(keep = dropout_factor(F(DROPOUT), scores, dt))) return ms_error()->code;
    double scale = 1 / sqrt((double)(width / heads));
    if (I(NEED)) {
        MsTensor *x = ms_matmul(ms_mul(p[0], ms_tensor_scalar(dt, scale)), p[1], false, true);
        weights = ms_softmax(mask ? ms_add(x, mask) : x, 3);
        if (keep) weights = ms_mul(weights, keep);
        o = ms_matmul(weights, p[2], false, false);
    } else
        o = ms_attention(p[0], p[1], p[2], mask, keep, scale, false, 0);
    o = ms_reshape(ms_transpose(o, MS_INTS(2, 0, 1, 3)), MS_INTS(m.queries, m.batch, width));
    o = ms_linear(o, T(W_OUT), GIVEN(B_OUT) ? T(B_OUT) : NULL);
    if (o && nd == 2) o = ms__dropped(o, 1);
    if (!I(NEED)) return R(o);
    if (weights && I(AVERAGE)) weights = ms_mean(weights, MS_INTS(1), false);
    if (weights && nd == 2) weights = ms__dropped(weights, 0);
    if (!o || !weights) return ms_error()->code;
    return ms__api_return_list(c, 2, (MsTensor *[]){o, weights});
}
