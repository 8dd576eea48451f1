/* unary.c - makes the rows of unary.def operators: signature, shape rule and gradient. The loops are in cpu/.
 */
#include "op/rules.h"

#include "op/rows.h"

#include <math.h>

#define SQRT_PI 1.77245385090551602730

static MsTensor *const NONE = NULL;

/* A number of the program, so that staging writes it into the graph instead of capturing a tensor. */
MsTensor *ms__constant(MsTensor *x, double c)
{
    return x ? ms_tensor_scalar(ms_tensor_dtype(x), c) : NULL;
}
MsTensor *ms__shift(MsTensor *x, double c)
{
    return ms_add(x, ms__constant(x, c));
}
MsTensor *ms__scale(MsTensor *x, double c)
{
    return ms_mul(x, ms__constant(x, c));
}
MsTensor *ms__conj(MsTensor *x)
{
    return x && ms_dtype_is_complex(ms_tensor_dtype(x)) ? ms_conj(x) : x;
}
#define shift ms__shift
#define scale ms__scale

/* ---- gradients that do not fit into a cell ---- */

static MsTensor *vjp_abs(MsTensor *g, MsTensor *x, MsTensor *y)
{
    if (ms_tensor_dtype(x) == ms_tensor_dtype(y)) return ms_mul(g, ms_sign(x));
    return ms_mul(ms_cast(g, ms_tensor_dtype(x)), ms_sign(x));
}

/* A complex sign x / |x| turns with x and does not move along it. */
static MsTensor *vjp_sign(MsTensor *g, MsTensor *x, MsTensor *y)
{
    MsDtype dtype = ms_tensor_dtype(x);
    if (!ms_dtype_is_complex(dtype)) return NULL;
    MsTensor *size = ms_abs(x), *zero = ms__constant(size, 0), *at_zero = ms_eq(size, zero);
    MsTensor *inverse =
        ms_where(at_zero, zero, ms_reciprocal(ms_where(at_zero, ms__constant(size, 1), size)));
    MsTensor *along = ms_cast(ms_real(ms_mul(ms_conj(y), g)), dtype);
    return ms_mul(ms_sub(g, ms_mul(y, along)), ms_cast(inverse, dtype));
}

static MsTensor *vjp_real(MsTensor *g, MsTensor *x)
{
    return ms_cast(g, ms_tensor_dtype(x));
}

static MsTensor *vjp_imag(MsTensor *g, MsTensor *x)
{
    MsDtype dtype = ms_tensor_dtype(x);
    if (!ms_dtype_is_complex(dtype)) return NULL;
    double i[2] = {0, 1}; /* the imaginary unit */
    return ms_mul(ms_cast(g, dtype), ms_cast(ms_tensor_from(MS_COMPLEX128, 0, NULL, i), dtype));
}

/* g * c * exp(-x^2) */
static MsTensor *gauss(MsTensor *g, MsTensor *x, double c)
{
    return ms_mul(g, scale(ms_exp(ms_neg(ms_square(x))), c));
}
static MsTensor *vjp_mish(MsTensor *g, MsTensor *x)
{
    MsTensor *t = ms_tanh(ms_softplus(x));
    return ms_mul(g, ms_add(t, ms_mul(ms_mul(x, ms_sigmoid(x)), shift(ms_neg(ms_square(t)), 1))));
}

/* 1 where lo < x < hi (NaN: 0), in x's dtype. */
static MsTensor *inside(MsTensor *x, double lo, double hi)
{
    return ms_cast(ms_logical_and(ms_gt(x, ms__constant(x, lo)), ms_lt(x, ms__constant(x, hi))),
                   ms_tensor_dtype(x));
}

static MsTensor *vjp_hsigmoid(MsTensor *g, MsTensor *x)
{
    return ms_mul(g, scale(inside(x, -3, 3), 1.0 / 6));
}

static MsTensor *vjp_hswish(MsTensor *g, MsTensor *x)
{
    return ms_mul(g, ms_add(ms_hsigmoid(x), ms_mul(x, scale(inside(x, -3, 3), 1.0 / 6))));
}

static MsTensor *vjp_elu(MsTensor *g, MsTensor *x, MsTensor *y, double alpha)
{
    return ms_where(ms_gt(x, ms__constant(x, 0)), g, ms_mul(g, shift(y, alpha)));
}

static MsTensor *vjp_leaky(MsTensor *g, MsTensor *x, double slope)
{
    return ms_where(ms_gt(x, ms__constant(x, 0)), g, scale(g, slope));
}

/* ---- the rows ---- */

static MsStatus infer_part(MsInfer *c)
{
    c->out[0] = c->in[0];
    if (c->in[0].dtype == MS_COMPLEX64) c->out[0].dtype = MS_FLOAT32;
    if (c->in[0].dtype == MS_COMPLEX128) c->out[0].dtype = MS_FLOAT64;
    return MS_OK;
}

/* NO_GRAD when the gradient cell is the word NONE. */
#define SECOND(a, b, ...) b
#define IS_NONE(...) SECOND(__VA_ARGS__, 0, )
#define FOUND_NONE ~, MS_OP_NO_GRAD
/* The gradient cell is that of real numbers; of a complex derivative d the cotangent is g conj(d). */
#define HOLOMORPHIC_RING true
#define HOLOMORPHIC_FLOATC true
#define HOLOMORPHIC_NUM false
#define HOLOMORPHIC_ANY false
#define HOLOMORPHIC_FLOAT false
#define HOLOMORPHIC_REAL false
#define HOLOMORPHIC_BOOL false
#define HOLOMORPHIC_BITS false
#define ROW(id, signature, shape, holomorphic, grad_of_x, found, samples)                                    \
    static MsStatus vjp_row_##id(MsVjp *c)                                                                   \
    {                                                                                                        \
        MsTensor *g = holomorphic ? ms__conj(c->ct[0]) : c->ct[0], *x = c->in[0], *y = c->out[0];            \
        const MsAttr *attr = c->attr;                                                                        \
        (void)g, (void)x, (void)y, (void)attr;                                                               \
        c->grad[0] = grad_of_x;                                                                              \
        if (holomorphic) c->grad[0] = ms__conj(c->grad[0]);                                                  \
        return c->grad[0] || !ms__failed() ? MS_OK : ms_error()->code;                                       \
    }                                                                                                        \
    MS_OP(id, .sig = #id signature, .infer = shape, .vjp = vjp_row_##id, .sample = samples,                  \
          .flags = MS_OP_ELEMENTWISE | IS_NONE(found));
#define MS_UNARY(cls, id, signature, e, grad_of_x, samples)                                                  \
    ROW(id, signature, NULL, HOLOMORPHIC_##cls, grad_of_x, FOUND_##grad_of_x, samples)
#define MS_TEST(cls, id, signature, e, grad_of_x, samples)                                                   \
    ROW(id, signature, NULL, false, grad_of_x, FOUND_##grad_of_x, samples)
#define MS_PART(cls, id, signature, e, grad_of_x, samples)                                                   \
    ROW(id, signature, infer_part, false, grad_of_x, FOUND_##grad_of_x, samples)
#include "op/unary.def"
