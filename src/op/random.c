/* random.c - random numbers as pure functions of a state: int64[2] = {seed, offset} keys a Philox 4x32-10
 * block cipher whose counter is the element's number, so results do not depend on threads, order or graph
 * mode. Drawing never changes the state; whoever draws takes ms__rng_next, which steps the offset through an
 * ordinary tensor write: that is how transformations thread it. Refused: a hidden generator object, which a
 * trace could not see. J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11. */
#include "op/random.h"

#include "mindspore_ops.h"
#include "op/view.h"
#include "trace/trace.h"

#include <pthread.h>
#include <string.h>

/* ---- the default generator ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MsTensor *state;

MsTensor *ms_random_state(void)
{
    pthread_mutex_lock(&lock);
    if (!state) {
        static const int64_t two = 2;
        int64_t first[2] = {0, 0};
        state = ms_tensor_ref(ms_tensor_from(MS_INT64, 1, &two, first));
    }
    MsTensor *s = state;
    pthread_mutex_unlock(&lock);
    return s;
}

MsStatus ms_random_seed(uint64_t seed)
{
    MsTensor *s = ms_random_state();
    if (!s) return ms_error()->code;
    static const int64_t two = 2;
    int64_t value[2] = {(int64_t)seed, 0};
    int mark = ms_scope_begin();
    MsTensor *v = ms_tensor_from(MS_INT64, 1, &two, value);
    MsStatus st = v ? ms_tensor_write(s, v) : MS_ERROR_MEMORY;
    ms_scope_end(mark, NULL, 0);
    return st;
}

MsTensor *ms__rng_next(MsTensor *s)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* two threads never take the same numbers */
    if (!s) return NULL;
    pthread_mutex_lock(&turn);
    MsTensor *now = ms_copy(s);
    if (now && ms_tensor_write(s, ms_rng_advance(now)) != MS_OK) now = NULL;
    pthread_mutex_unlock(&turn);
    return now;
}

/* ---- operators ---- */

static MsStatus infer_rng(MsInfer *c, const MsAttr *shape, const MsAttr *dtype)
{
    if (c->in[0].ndim != 1 || c->in[0].shape[0] != 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the state must have shape [2], but got %s.", c->op->name,
                       ms__shape_text(c->in[0].ndim, c->in[0].shape));
    if (!dtype || !shape) return MS_OK;
    if (dtype->kind != MS_ATTR_DTYPE)
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', the dtype must be given.", c->op->name);
    if (ms__numel(shape->n, shape->v) < 0) return ms_error()->code;
    c->out[0].dtype = (MsDtype)dtype->i;
    c->out[0].ndim = shape->n;
    memcpy(c->out[0].shape, shape->v, (size_t)shape->n * sizeof *shape->v);
    return MS_OK;
}

static MsStatus infer_rng_float(MsInfer *c)
{
    MS_TRY(infer_rng(c, &c->attr[0], &c->attr[1]));
    if (ms_dtype_is_float(c->out[0].dtype)) return MS_OK;
    return MS_FAIL(MS_ERROR_TYPE, "For '%s', the dtype must be a float, but got %s.", c->op->name,
                   ms_dtype_name(c->out[0].dtype));
}

static MsStatus infer_rng_keep(MsInfer *c)
{
    if (!(c->attr[0].f >= 0 && c->attr[0].f <= 1))
        return MS_FAIL(MS_ERROR_VALUE, "For 'rng_keep', p must be in [0, 1], but got %g.", c->attr[0].f);
    MsInfer rest = *c;
    rest.attr = c->attr + 1;
    return infer_rng_float(&rest);
}

static MsStatus infer_rng_int(MsInfer *c)
{
    if (c->attr[0].i >= c->attr[1].i)
        return MS_FAIL(MS_ERROR_VALUE, "For 'rng_int', low must be less than high, but got %lld and %lld.",
                       (long long)c->attr[0].i, (long long)c->attr[1].i);
    return infer_rng(c, &c->attr[2], &c->attr[3]);
}

static MsStatus infer_rng_perm(MsInfer *c)
{
    MS_TRY(infer_rng(c, NULL, NULL));
    if (c->attr[0].i < 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'rng_perm', n must not be negative, but got %lld.",
                       (long long)c->attr[0].i);
    c->out[0].ndim = 1;
    c->out[0].shape[0] = c->attr[0].i;
    return MS_OK;
}

/* The draws have the shape of their parameter. */
static MsStatus infer_rng_like(MsInfer *c)
{
    MS_TRY(infer_rng(c, NULL, NULL));
    c->out[0].ndim = c->in[1].ndim;
    memcpy(c->out[0].shape, c->in[1].shape, sizeof c->in[1].shape);
    return MS_OK;
}

static MsStatus infer_rng_advance(MsInfer *c)
{
    MS_TRY(infer_rng(c, NULL, NULL));
    c->out[0].ndim = 1;
    c->out[0].shape[0] = 2;
    return MS_OK;
}

/* [0, 1), every value a multiple of the dtype's spacing below 1 */
MS_OP(rng_uniform, .sig = "rng_uniform(state: int64, *, shape: ints, dtype: dtype) -> _",
      .infer = infer_rng_float, .flags = MS_OP_NO_GRAD,
      .sample = "i64[2] shape=3,4 dtype=float32; i64[2] shape=0 dtype=float64");
/* mean 0, standard deviation 1 (Box-Muller) */
MS_OP(rng_normal, .sig = "rng_normal(state: int64, *, shape: ints, dtype: dtype) -> _",
      .infer = infer_rng_float, .flags = MS_OP_NO_GRAD,
      .sample = "i64[2] shape=3,4 dtype=float32; i64[2] shape=0 dtype=float64");
/* 0 with probability p, else 1 / (1 - p): what dropout multiplies by */
MS_OP(rng_keep, .sig = "rng_keep(state: int64, *, p: float, shape: ints, dtype: dtype) -> _",
      .infer = infer_rng_keep, .flags = MS_OP_NO_GRAD,
      .sample = "i64[2] p=0.5 shape=3,4 dtype=float32; i64[2] p=1 shape=3 dtype=float16");
/* integers in [low, high) */
MS_OP(rng_int, .sig = "rng_int(state: int64, *, low: int, high: int, shape: ints, dtype: dtype) -> _",
      .infer = infer_rng_int, .flags = MS_OP_NO_GRAD, .sample = "i64[2] low=-3 high=4 shape=3,4 dtype=int64");
/* a permutation of 0..n-1 (Fisher-Yates) */
MS_OP(rng_perm, .sig = "rng_perm(state: int64, *, n: int) -> int64", .infer = infer_rng_perm,
      .flags = MS_OP_NO_GRAD, .sample = "i64[2] n=5; i64[2] n=0");
/* whole numbers of the Poisson distribution; NaN for a rate below 0 */
MS_OP(rng_poisson, .sig = "rng_poisson(state: int64, rate: float) -> rate", .infer = infer_rng_like,
      .flags = MS_OP_NO_GRAD, .sample = "i64[2] f32[3,4]{0.5,30}; i64[2] f16[3]{0,4}; i64[2] f64[0]");
/* the gamma distribution of scale 1; NaN for a shape parameter below 0 */
MS_OP(rng_gamma, .sig = "rng_gamma(state: int64, alpha: float) -> alpha", .infer = infer_rng_like,
      .flags = MS_OP_NO_GRAD, .sample = "i64[2] f32[3,4]{0.1,30}; i64[2] bf16[3]{0.5,4}; i64[2] f64[0]");
/* the state of the next draw */
MS_OP(rng_advance, .sig = "rng_advance(state: int64) -> int64", .infer = infer_rng_advance,
      .flags = MS_OP_NO_GRAD, .sample = "i64[2]");
