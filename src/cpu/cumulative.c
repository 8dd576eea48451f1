/* cumulative.c - kernels of cumsum, cumprod, cummax and cummin. Columns are independent and walked in strips,
 * so that memory is read along the rows; the carry of floats is double (complex: double complex), of integers
 * 64 bits. */
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/copy.h"
#include "cpu/index.h"
#include "cpu/order.h"

#include <string.h>

#define STRIP 64
#define PIECE 256

typedef struct Cum {
    const char *x; /* row-major [outer, n, inner] */
    char *y;
    int64_t *index;
    int64_t n, inner, strips; /* strips per outer */
    int64_t size;
    MsDtype dtype;
    MsCastRow load, store;
    bool prod, reverse, exclusive, min;
} Cum;

#define CARRY(name, T)                                                                                       \
    static void name(const Cum *c, int64_t o, int64_t j0, int64_t m)                                         \
    {                                                                                                        \
        T acc[STRIP], line[STRIP];                                                                           \
        for (int64_t j = 0; j < m; j++) acc[j] = c->prod ? 1 : 0;                                            \
        for (int64_t k = 0; k < c->n; k++) {                                                                 \
            int64_t at = ((o * c->n + (c->reverse ? c->n - 1 - k : k)) * c->inner + j0) * c->size;           \
            c->load(m, line, c->x + at);                                                                     \
            if (c->exclusive) c->store(m, c->y + at, acc);                                                   \
            if (c->prod)                                                                                     \
                for (int64_t j = 0; j < m; j++) acc[j] *= line[j];                                           \
            else                                                                                             \
                for (int64_t j = 0; j < m; j++) acc[j] += line[j];                                           \
            if (!c->exclusive) c->store(m, c->y + at, acc);                                                  \
        }                                                                                                    \
    }                                                                                                        \
    /* Along the last axis: pieces are converted together. */                                                \
    static void name##_row(const Cum *c, int64_t o)                                                          \
    {                                                                                                        \
        T acc = c->prod ? 1 : 0, line[PIECE];                                                                \
        for (int64_t k = 0; k < c->n; k += PIECE) {                                                          \
            int64_t m = c->n - k < PIECE ? c->n - k : PIECE, from = c->reverse ? c->n - k - m : k;           \
            int64_t at = (o * c->n + from) * c->size, step = c->reverse ? -1 : 1;                            \
            c->load(m, line, c->x + at);                                                                     \
            T *v = c->reverse ? line + m - 1 : line;                                                         \
            for (int64_t j = 0; j < m; j++, v += step) {                                                     \
                T next = c->prod ? acc * *v : acc + *v;                                                      \
                *v = c->exclusive ? acc : next;                                                              \
                acc = next;                                                                                  \
            }                                                                                                \
            c->store(m, c->y + at, line);                                                                    \
        }                                                                                                    \
    }
CARRY(carry_int, uint64_t)
CARRY(carry_float, double)
CARRY(carry_complex, double _Complex)

static void cum_part(void *ctx, int64_t begin, int64_t end)
{
    const Cum *c = ctx;
    for (int64_t u = begin; u < end; u++) {
        int64_t o = u / c->strips, j0 = u % c->strips * STRIP,
                m = c->inner - j0 < STRIP ? c->inner - j0 : STRIP;
        if (c->inner == 1 && ms_dtype_is_float(c->dtype))
            carry_float_row(c, o);
        else if (c->inner == 1 && ms_dtype_is_complex(c->dtype))
            carry_complex_row(c, o);
        else if (c->inner == 1)
            carry_int_row(c, o);
        else if (ms_dtype_is_complex(c->dtype))
            carry_complex(c, o, j0, m);
        else if (ms_dtype_is_float(c->dtype))
            carry_float(c, o, j0, m);
        else
            carry_int(c, o, j0, m);
    }
}

static void best_part(void *ctx, int64_t begin, int64_t end)
{
    const Cum *c = ctx;
    for (int64_t u = begin; u < end; u++) {
        int64_t o = u / c->strips, j0 = u % c->strips * STRIP,
                m = c->inner - j0 < STRIP ? c->inner - j0 : STRIP;
        uint64_t best[STRIP], key[STRIP];
        int64_t where[STRIP];
        for (int64_t k = 0; k < c->n; k++) {
            int64_t at = (o * c->n + k) * c->inner + j0;
            ms__order_keys(c->dtype, m, c->x + at * c->size, 1, c->min, c->min,
                           key); /* flipped: NaN on top again */
            for (int64_t j = 0; j < m; j++) {
                if (k == 0 || key[j] >= best[j]) best[j] = key[j], where[j] = k;
                c->index[at + j] = where[j];
                memcpy(c->y + (at + j) * c->size,
                       c->x + ((o * c->n + where[j]) * c->inner + j0 + j) * c->size, (size_t)c->size);
            }
        }
    }
}

static MsStatus run(Cum *c, MsTensor *x, MsTensor *y, MsTensor *index, int axis, MsRangeFn part)
{
    MsTensor *in = ms__dense(x), *out = ms__work(y), *wi = index ? ms__work(index) : NULL;
    if (!in || !out || (index && !wi)) return MS_ERROR_MEMORY;
    if (x->numel == 0) return MS_OK;
    c->x = in->data, c->y = out->data, c->index = wi ? (int64_t *)wi->data : NULL;
    c->n = x->ndim ? x->shape[axis] : 1;
    c->inner = 1;
    for (int d = axis + 1; d < x->ndim; d++) c->inner *= x->shape[d];
    c->strips = (c->inner + STRIP - 1) / STRIP;
    int64_t units = x->numel / c->n / c->inner * c->strips;
    ms__parallel_pieces(units, 1 + 16384 / (x->numel / units), part, c);
    if (wi) MS_TRY(ms__work_done(index, wi));
    return ms__work_done(y, out);
}

static MsStatus start(MsCall *call, bool prod, bool best, bool min)
{
    MsTensor *x = call->in[0], *y = ms__out(call, 0), *index = best ? ms__out(call, 1) : NULL;
    int axis;
    if (!y || (best && !index)) return MS_ERROR_MEMORY;
    MS_TRY(ms__axis(call->op, call->attr[0].i, x->ndim, &axis));
    MsDtype dtype = (MsDtype)x->dtype;
    MsDtype carry = ms_dtype_is_complex(dtype) ? MS_COMPLEX128
                    : ms_dtype_is_float(dtype) ? MS_FLOAT64
                                               : MS_UINT64;
    Cum c = {.size = (int64_t)ms_dtype_size(dtype), .dtype = dtype, .prod = prod, .min = min};
    c.load = ms__cast_row(dtype, carry), c.store = ms__cast_row(carry, dtype);
    if (!best) c.reverse = call->attr[1].i, c.exclusive = call->attr[2].i;
    int mark = ms_scope_begin();
    MsStatus st = run(&c, x, y, index, axis, best ? best_part : cum_part);
    ms_scope_end(mark, NULL, 0);
    return st;
}

static MsStatus run_cumsum(MsCall *c)
{
    return start(c, false, false, false);
}
static MsStatus run_cumprod(MsCall *c)
{
    return start(c, true, false, false);
}
static MsStatus run_cummax(MsCall *c)
{
    return start(c, false, true, false);
}
static MsStatus run_cummin(MsCall *c)
{
    return start(c, false, true, true);
}
MS_KERNEL(cumsum, 0, loop, NULL, run_cumsum);
MS_KERNEL(cumprod, 0, loop, NULL, run_cumprod);
MS_KERNEL(cummax, 0, loop, NULL, run_cummax);
MS_KERNEL(cummin, 0, loop, NULL, run_cummin);
