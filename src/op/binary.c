/* binary.c - makes the rows of binary.def operators. The cotangent of an input keeps the broadcast shape:
 * whoever applies the rule sums it. */
#include "op/rules.h"

#include "op/rows.h"

static MsTensor *const NONE = NULL;
#define conj_of ms__conj

/* b a^(b-1), and 0 where b = 0 whatever a is. */
static MsTensor *vjp_pow_base(MsTensor *g, MsTensor *a, MsTensor *b)
{
    MsTensor *zero = ms__constant(b, 0);
    MsTensor *d = ms_mul(b, ms_pow(a, ms__shift(b, -1)));
    return ms_mul(g, ms__conj(ms_where(ms_eq(b, zero), zero, d)));
}

/* y log a, and 0 at a = 0 with b >= 0, where y does not depend on b to the right. */
static MsTensor *vjp_pow_exponent(MsTensor *g, MsTensor *a, MsTensor *b, MsTensor *y)
{
    MsDtype dtype = ms_tensor_dtype(a);
    if (ms_dtype_is_int(dtype)) return NULL;
    MsTensor *zero = ms__constant(a, 0), *at_zero = ms_eq(a, zero);
    if (!ms_dtype_is_complex(dtype)) at_zero = ms_logical_and(at_zero, ms_ge(b, zero));
    return ms_mul(g, ms__conj(ms_where(at_zero, zero, ms_mul(y, ms_log(a)))));
}

/* g h f''(x) for the rows that are a * f'(b). */
static MsTensor *vjp_gelu_grad(MsTensor *h, MsTensor *g, MsTensor *x)
{
    /* f'' = phi(x) (2 - x^2) */
    MsTensor *xx = ms_square(x), *phi = ms__scale(ms_exp(ms__scale(xx, -0.5)), 0.39894228040143267794);
    return ms_mul(ms_mul(h, g), ms_mul(phi, ms__shift(ms_neg(xx), 2)));
}

static MsTensor *vjp_silu_grad(MsTensor *h, MsTensor *g, MsTensor *x)
{
    /* f'' = s' (2 + x (1 - 2 s)) with s' = s - s^2 */
    MsTensor *s = ms_sigmoid(x), *d = ms_sub(s, ms_square(s));
    return ms_mul(ms_mul(h, g), ms_mul(d, ms__shift(ms_mul(x, ms__shift(ms__scale(s, -2), 1)), 2)));
}

static MsTensor *vjp_gelu_tanh_grad(MsTensor *h, MsTensor *g, MsTensor *x)
{
    /* f = x s(u), u = c (x + k x^3): f'' = s' (2 u' + x u'') + x u'^2 s'', s'' = s' (1 - 2 s) */
    const double c = 1.5957691216057307117, k = 0.044715;
    MsTensor *xx = ms_square(x), *u = ms__scale(ms_mul(x, ms__shift(ms__scale(xx, k), 1)), c);
    MsTensor *du = ms__shift(ms__scale(xx, 3 * k * c), c), *ddu = ms__scale(x, 6 * k * c);
    MsTensor *s = ms_sigmoid(u), *d = ms_sub(s, ms_square(s));
    MsTensor *first = ms_add(ms_add(du, du), ms_mul(x, ddu));
    MsTensor *second = ms_mul(ms_mul(x, ms_square(du)), ms__shift(ms__scale(s, -2), 1));
    return ms_mul(ms_mul(h, g), ms_mul(d, ms_add(first, second)));
}

/* NO_GRAD when the gradient of a is the word NONE. */
#define SECOND(a, b, ...) b
#define IS_NONE(...) SECOND(__VA_ARGS__, 0, )
#define FOUND_NONE ~, MS_OP_NO_GRAD
#define ROW(id, signature, ga, gb, found, samples)                                                           \
    static MsStatus vjp_row_##id(MsVjp *c)                                                                   \
    {                                                                                                        \
        MsTensor *g = c->ct[0], *a = c->in[0], *b = c->in[1], *y = c->out[0];                                \
        const MsAttr *attr = c->attr;                                                                        \
        (void)g, (void)a, (void)b, (void)y, (void)attr;                                                      \
        if (c->want[0]) c->grad[0] = ga;                                                                     \
        if (c->want[1]) c->grad[1] = gb;                                                                     \
        return ms__failed() ? ms_error()->code : MS_OK;                                                      \
    }                                                                                                        \
    MS_OP(id, .sig = #id signature, .vjp = vjp_row_##id, .sample = samples,                                  \
          .flags = MS_OP_ELEMENTWISE | IS_NONE(found));
#define MS_BINARY(cls, id, signature, e, ga, gb, samples) ROW(id, signature, ga, gb, FOUND_##ga, samples)
#define MS_COMPARE(cls, id, signature, e, ga, gb, samples) ROW(id, signature, ga, gb, FOUND_##ga, samples)
#define MS_CHECKED(cls, id, signature, refusal, e, ga, gb, samples)                                          \
    ROW(id, signature, ga, gb, FOUND_##ga, samples)
#include "op/binary.def"
