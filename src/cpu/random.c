/* random.c - kernels of the random operators. Element k reads a fixed part of block k * words / 4 of the
 * cipher, so any split over threads gives the same numbers. 32 random bits make a float32 or narrower, 64 a
 * double or an integer. */
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/dense.h"
#include "cpu/index.h"

#include <math.h>

static void philox(const int64_t *state, uint64_t block, uint32_t *out)
{
    uint32_t key0 = (uint32_t)state[0], key1 = (uint32_t)((uint64_t)state[0] >> 32);
    uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32);
    uint32_t c2 = (uint32_t)state[1], c3 = (uint32_t)((uint64_t)state[1] >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * c0, b = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ key0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ key1;
        c3 = (uint32_t)a;
        key0 += 0x9E3779B9, key1 += 0xBB67AE85;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

static uint64_t wide(const uint32_t *w)
{
    return (uint64_t)w[1] << 32 | w[0];
}

/* a * b >> 64: maps 64 random bits onto [0, b) with a bias below b / 2^64. */
static uint64_t scaled(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

typedef struct Draw {
    int64_t state[2];
    MsTensor *y; /* row-major */
    MsCastRow cast;
    int bits; /* of the uniform's mantissa */
    int64_t low;
    double p, scale; /* keep: 32 bits below p * 2^32 drop */
    uint64_t range;  /* 0: all 2^64 */
} Draw;

#define PER 4096 /* elements of a unit; a multiple of 4 */

static void uniform_unit(const Draw *r, int64_t from, int64_t n, float *f, double *d)
{
    uint32_t w[4];
    if (d) {
        for (int64_t k = 0; k < n; k++) {
            if (k % 2 == 0) philox(r->state, (uint64_t)(from + k) / 2, w);
            d[k] = (double)(wide(w + k % 2 * 2) >> 11) * 0x1p-53;
        }
        return;
    }
    float scale = ldexpf(1, -r->bits);
    for (int64_t k = 0; k < n; k++) {
        if (k % 4 == 0) philox(r->state, (uint64_t)(from + k) / 4, w);
        f[k] = (float)(w[k % 4] >> (32 - r->bits)) * scale;
    }
}

static void normal_unit(const Draw *r, int64_t from, int64_t n, float *f, double *d)
{
    uint32_t w[4];
    if (d) {
        for (int64_t k = 0; k < n; k += 2) {
            philox(r->state, (uint64_t)(from + k) / 2, w);
            double radius = sqrt(-2 * log(((double)(wide(w) >> 11) + 1) * 0x1p-53));
            double angle = 6.283185307179586477 * ((double)(wide(w + 2) >> 11) * 0x1p-53);
            d[k] = radius * cos(angle);
            if (k + 1 < n) d[k + 1] = radius * sin(angle);
        }
        return;
    }
    for (int64_t k = 0; k < n; k += 2) {
        if (k % 4 == 0) philox(r->state, (uint64_t)(from + k) / 4, w);
        float radius = sqrtf(-2 * logf(((float)w[k % 4] + 0.5f) * 0x1p-32f));
        float angle = 6.2831853f * ((float)(w[k % 4 + 1] >> 8) * 0x1p-24f);
        f[k] = radius * cosf(angle);
        if (k + 1 < n) f[k + 1] = radius * sinf(angle);
    }
}

static void keep_unit(const Draw *r, int64_t from, int64_t n, float *f, double *d)
{
    uint32_t w[4];
    uint64_t drop = (uint64_t)(r->p * 0x1p32);
    for (int64_t k = 0; k < n; k++) {
        if (k % 4 == 0) philox(r->state, (uint64_t)(from + k) / 4, w);
        double v = w[k % 4] < drop ? 0 : r->scale;
        if (d)
            d[k] = v;
        else
            f[k] = (float)v;
    }
}

static void float_part(const Draw *r, int64_t begin, int64_t end,
                       void (*unit)(const Draw *, int64_t, int64_t, float *, double *))
{
    int64_t size = (int64_t)ms_dtype_size((MsDtype)r->y->dtype);
    float line[PER];
    for (int64_t u = begin; u < end; u++) {
        int64_t from = u * PER, n = r->y->numel - from < PER ? r->y->numel - from : PER;
        char *to = r->y->data + from * size;
        if (r->y->dtype == MS_FLOAT64) {
            unit(r, from, n, NULL, (double *)to);
        } else {
            unit(r, from, n, r->cast ? line : (float *)to, NULL);
            if (r->cast) r->cast(n, to, line);
        }
    }
}

static void uniform_part(void *ctx, int64_t begin, int64_t end)
{
    float_part(ctx, begin, end, uniform_unit);
}
static void keep_part(void *ctx, int64_t begin, int64_t end)
{
    float_part(ctx, begin, end, keep_unit);
}
static void normal_part(void *ctx, int64_t begin, int64_t end)
{
    float_part(ctx, begin, end, normal_unit);
}

static void int_part(void *ctx, int64_t begin, int64_t end)
{
    const Draw *r = ctx;
    int64_t size = (int64_t)ms_dtype_size((MsDtype)r->y->dtype), line[PER];
    for (int64_t u = begin; u < end; u++) {
        int64_t from = u * PER, n = r->y->numel - from < PER ? r->y->numel - from : PER;
        uint32_t w[4];
        for (int64_t k = 0; k < n; k++) {
            if (k % 2 == 0) philox(r->state, (uint64_t)(from + k) / 2, w);
            uint64_t v = wide(w + k % 2 * 2);
            line[k] = (int64_t)((uint64_t)r->low + (r->range ? scaled(v, r->range) : v));
        }
        r->cast(n, r->y->data + from * size, line);
    }
}

static void read_state(const MsTensor *s, int64_t *out)
{
    out[0] = ((const int64_t *)s->data)[0];
    out[1] = ((const int64_t *)s->data)[s->strides[0]];
}

static MsStatus draw(MsCall *c, Draw *r, MsRangeFn part)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    read_state(c->in[0], r->state);
    int mark = ms_scope_begin();
    MsStatus st = MS_ERROR_MEMORY;
    r->y = ms__work(y);
    if (r->y) {
        ms__parallel_pieces((y->numel + PER - 1) / PER, 1, part, r);
        st = ms__work_done(y, r->y);
    }
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_rng_uniform(MsCall *c)
{
    MsDtype dtype = c->aval[0].dtype;
    Draw r = {.bits = dtype == MS_BFLOAT16  ? 8
                      : dtype == MS_FLOAT16 ? 11
                                            : 24,
              .cast = dtype == MS_FLOAT32 ? NULL : ms__cast_row(MS_FLOAT32, dtype)};
    return draw(c, &r, uniform_part);
}
MS_KERNEL(rng_uniform, 0, philox, NULL, run_rng_uniform);

static MsStatus run_rng_normal(MsCall *c)
{
    MsDtype dtype = c->aval[0].dtype;
    Draw r = {.cast = dtype == MS_FLOAT32 ? NULL : ms__cast_row(MS_FLOAT32, dtype)};
    return draw(c, &r, normal_part);
}
MS_KERNEL(rng_normal, 0, philox, NULL, run_rng_normal);

static MsStatus run_rng_keep(MsCall *c)
{
    MsDtype dtype = c->aval[0].dtype;
    double p = c->attr[0].f;
    Draw r = {.p = p,
              .scale = p < 1 ? 1 / (1 - p) : 0,
              .cast = dtype == MS_FLOAT32 ? NULL : ms__cast_row(MS_FLOAT32, dtype)};
    return draw(c, &r, keep_part);
}
MS_KERNEL(rng_keep, 0, philox, NULL, run_rng_keep);

static MsStatus run_rng_int(MsCall *c)
{
    Draw r = {.cast = ms__cast_row(MS_INT64, c->aval[0].dtype), .low = c->attr[0].i};
    r.range = (uint64_t)c->attr[1].i - (uint64_t)c->attr[0].i;
    return draw(c, &r, int_part);
}
MS_KERNEL(rng_int, 0, philox, NULL, run_rng_int);

static MsStatus run_rng_perm(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    int64_t state[2], n = y->numel, *v = (int64_t *)y->data, step = y->ndim && n > 1 ? y->strides[0] : 1;
    uint32_t w[4];
    read_state(c->in[0], state);
    for (int64_t k = 0; k < n; k++) v[k * step] = k;
    for (int64_t k = n - 1; k > 0; k--) {
        philox(state, (uint64_t)k, w);
        int64_t j = (int64_t)scaled(wide(w), (uint64_t)k + 1), t = v[k * step];
        v[k * step] = v[j * step], v[j * step] = t;
    }
    return MS_OK;
}
MS_KERNEL(rng_perm, 0, philox, NULL, run_rng_perm);

static MsStatus run_rng_advance(MsCall *c)
{
    MsTensor *y = ms__out(c, 0);
    if (!y) return MS_ERROR_MEMORY;
    int64_t state[2];
    read_state(c->in[0], state);
    ((int64_t *)y->data)[0] = state[0];
    ((int64_t *)y->data)[y->strides[0]] = (int64_t)((uint64_t)state[1] + 1);
    return MS_OK;
}
MS_KERNEL(rng_advance, 0, loop, NULL, run_rng_advance);

/* ---- by rejection: element k draws as often as it needs from blocks of its own ---- */

typedef struct Stream {
    const int64_t *state;
    uint64_t element, block;
    uint32_t w[4];
    bool half; /* the second half of w is not used yet */
} Stream;

/* In (0, 1). */
static double next(Stream *s)
{
    s->half = !s->half;
    if (s->half) philox(s->state, s->block++ << 40 ^ s->element, s->w);
    return ((double)(wide(s->w + (s->half ? 0 : 2)) >> 11) + 0.5) * 0x1p-53;
}

/* Counting factors below 10, above transformed rejection (W. Hoermann, The transformed rejection method for
 * generating Poisson random variables, 1993). */
static double poisson(Stream *s, double rate)
{
    if (!(rate >= 0)) return NAN;
    if (isinf(rate)) return rate;
    if (rate < 10) {
        double least = exp(-rate), product = next(s), n = 0;
        for (; product > least; n++) product *= next(s);
        return n;
    }
    double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = log(rate);
    double inverse = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = next(s) - 0.5, v = next(s), edge = 0.5 - fabs(u);
        double k = floor((2 * a / edge + b) * u + rate + 0.43);
        int sign;
        if (edge >= 0.07 && v <= quick) return k;
        if (k < 0 || (edge < 0.013 && v > edge)) continue;
        if (log(v * inverse / (a / (edge * edge) + b)) <= k * log_rate - rate - lgamma_r(k + 1, &sign))
            return k;
    }
}

/* G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, 2000. */
static double gamma_of(Stream *s, double alpha)
{
    if (!(alpha >= 0)) return NAN;
    if (alpha == 0 || isinf(alpha)) return alpha;
    double scale = alpha < 1 ? pow(next(s), 1 / alpha) : 1, d = alpha + (alpha < 1) - 1.0 / 3;
    for (;;) {
        double x = sqrt(-2 * log(next(s))) * cos(6.283185307179586477 * next(s));
        double v = 1 + x / sqrt(9 * d);
        v = v * v * v;
        if (v > 0 && log(next(s)) < 0.5 * x * x + d * (1 - v + log(v))) return scale * d * v;
    }
}

typedef struct Reject {
    int64_t state[2];
    const double *parameter;
    double *y;
    double (*draw)(Stream *, double);
} Reject;

static void reject_part(void *ctx, int64_t begin, int64_t end)
{
    const Reject *r = ctx;
    for (int64_t k = begin; k < end; k++) {
        Stream s = {.state = r->state, .element = (uint64_t)k};
        r->y[k] = r->draw(&s, r->parameter[k]);
    }
}

static MsStatus reject(MsCall *c, double (*one)(Stream *, double))
{
    int mark = ms_scope_begin();
    MsTensor *y = ms__out(c, 0), *work = y ? ms__dense_out(y, MS_FLOAT64) : NULL;
    MsTensor *parameter = work ? ms__dense_as(c->in[1], MS_FLOAT64) : NULL;
    MsStatus st = parameter ? MS_OK : ms_error()->code;
    if (parameter) {
        Reject r = {.parameter = (double *)parameter->data, .y = (double *)work->data, .draw = one};
        read_state(c->in[0], r.state);
        ms__parallel_pieces(y->numel, 256, reject_part, &r);
        st = ms__dense_done(y, work);
    }
    ms_scope_end(mark, c->out, st == MS_OK);
    return st;
}

static MsStatus run_rng_poisson(MsCall *c)
{
    return reject(c, poisson);
}
MS_KERNEL(rng_poisson, 0, philox, NULL, run_rng_poisson);

static MsStatus run_rng_gamma(MsCall *c)
{
    return reject(c, gamma_of);
}
MS_KERNEL(rng_gamma, 0, philox, NULL, run_rng_gamma);
