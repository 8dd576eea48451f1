/* chain.c - the cells of cpu/chain.h: functions that hand eight vectors on in registers, the last thing each does being
 * a jump to the next cell. Their formulas give what the rows of op/unary.def and op/binary.def give. */
#include "cpu/chain.h"
#include "cpu/isa/width.h"
#include "cpu/loops.h"

#include <string.h>

#define WIDE (WIDTH / 4) /* values of a vector */
#define PASS (8 * WIDE)  /* of a pass */
#define FIT __attribute__((aligned(4), may_alias))

typedef float V __attribute__((vector_size(WIDTH)));
typedef int32_t M __attribute__((vector_size(WIDTH)));
typedef float AT __attribute__((vector_size(WIDTH))) FIT;

typedef void (*Cell)(const MsCell *c, const MsSpan *span, int64_t i, V a, V b, V d, V e, V f, V g, V h, V j);

#define CELL(id)                                                                                             \
    static void cell_##id(const MsCell *c, const MsSpan *span, int64_t i, V a, V b, V d, V e, V f, V g, V h, \
                          V j)
#define OPERAND (AT *)(void *)(span[c->operand].at + i * span[c->operand].step)
#define NEXT ((Cell)c[1].run)(c + 1, span, i, a, b, d, e, f, g, h, j)
/* In the order of addresses: a processor that reads ahead by itself loses its way otherwise. */
#define IN_ORDER __asm__ volatile("" ::: "memory");
#define EACH(do, ...)                                                                                        \
    do                                                                                                       \
    (a, 0, __VA_ARGS__) IN_ORDER do(b, 1, __VA_ARGS__) IN_ORDER do(d, 2, __VA_ARGS__)                        \
        IN_ORDER do(e, 3, __VA_ARGS__) IN_ORDER do(f, 4, __VA_ARGS__) IN_ORDER do(g, 5, __VA_ARGS__)         \
            IN_ORDER do(h, 6, __VA_ARGS__) IN_ORDER do(j, 7, __VA_ARGS__)
#define LOAD(v, k, at) v = at[k];
#define STORE(v, k, at) at[k] = v;
#define ADD(v, k, at) at[k % (MS_LANES / WIDE)] += __builtin_convertvector(v, D);
#define ONE_OF(v, k, of) v = of(v);
#define TWO_OF(v, k, of, at) v = of(v, at[k]);
#define BACK_OF(v, k, of, at) v = of(at[k], v);

CELL(load)
{
    const AT *at = OPERAND;
    EACH(LOAD, at)
    NEXT;
}
CELL(store)
{
    AT *at = OPERAND;
    EACH(STORE, at)
    NEXT;
}
CELL(end)
{
    (void)c, (void)span, (void)i, (void)a, (void)b, (void)d, (void)e, (void)f, (void)g, (void)h, (void)j;
}

/* In the lanes' order, whatever the length of a vector. */
CELL(sum)
{
    typedef double D __attribute__((vector_size(2 * WIDTH), aligned(8), may_alias));
    D *at = (D *)(void *)span[c->operand].at + (PASS < MS_LANES ? i / WIDE % (MS_LANES / WIDE) : 0);
    EACH(ADD, at)
    NEXT;
}

static inline V pick(M mask, V x, V y)
{
    return (V)((mask & (M)x) | (~mask & (M)y));
}
static inline V root(V x)
{
#if defined(__AVX512F__)
    return (V)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX__)
    return (V)_mm256_sqrt_ps((__m256)x);
#else
    for (int k = 0; k < WIDE; k++) x[k] = __builtin_sqrtf(x[k]);
    return x;
#endif
}
static const V zero = {0};

#define UNARY(id, formula)                                                                                   \
    static inline V of_##id(V x)                                                                             \
    {                                                                                                        \
        return formula;                                                                                      \
    }                                                                                                        \
    CELL(id)                                                                                                 \
    {                                                                                                        \
        EACH(ONE_OF, of_##id)                                                                                \
        NEXT;                                                                                                \
    }
#define BINARY(id, formula)                                                                                  \
    static inline V of_##id(V x, V y)                                                                        \
    {                                                                                                        \
        return formula;                                                                                      \
    }                                                                                                        \
    CELL(id)                                                                                                 \
    {                                                                                                        \
        const AT *at = OPERAND;                                                                              \
        EACH(TWO_OF, of_##id, at)                                                                            \
        NEXT;                                                                                                \
    }                                                                                                        \
    CELL(id##_back)                                                                                          \
    {                                                                                                        \
        const AT *at = OPERAND;                                                                              \
        EACH(BACK_OF, of_##id, at)                                                                           \
        NEXT;                                                                                                \
    }

UNARY(neg, -x)
UNARY(square, x *x)
UNARY(abs, (V)((M)x & 0x7fffffff))
UNARY(sqrt, root(x))
UNARY(rsqrt, 1.0f / root(x))
UNARY(reciprocal, 1.0f / x)
UNARY(relu, (V)(~(x < zero) & (M)x))
UNARY(relu6, pick(x > 6.0f, 6.0f + zero, of_relu(x)))
BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(mul, x *y)
BINARY(div, x / y)
BINARY(maximum, pick((x > y) | (x != x), x, y))
BINARY(minimum, pick((x < y) | (x != x), x, y))
BINARY(clamp_min, of_maximum(x, y))
BINARY(clamp_max, of_minimum(x, y))
BINARY(relu_grad, (V)(~(y <= zero) & (M)x))
BINARY(relu6_grad, (V)(~((y <= zero) | (y >= 6.0f)) & (M)x))

#define RUN(id) (MsCellRun) cell_##id
#define ONE(id) [MS_ROW_##id] = {RUN(id), RUN(id)}
#define TWO(id) [MS_ROW_##id] = {RUN(id), RUN(id##_back)}
static const MsCellRun rows[MS_N_ROWS][2] = {
    ONE(neg),     ONE(square),  ONE(abs),       ONE(sqrt),      ONE(rsqrt),     ONE(reciprocal),
    ONE(relu),    ONE(relu6),   TWO(add),       TWO(sub),       TWO(mul),       TWO(div),
    TWO(maximum), TWO(minimum), TWO(clamp_min), TWO(clamp_max), TWO(relu_grad), TWO(relu6_grad)};

static void run(int64_t n, const MsCell *first, const MsSpan *span)
{
    V z = zero;
    for (int64_t i = 0; i < n; i += PASS) ((Cell)first->run)(first, span, i, z, z, z, z, z, z, z, z);
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern const MsChainSet JOIN(ms__chain_set_, MS_ISA);
const MsChainSet JOIN(ms__chain_set_, MS_ISA) = {.block = PASS,
                                                 .load = RUN(load),
                                                 .store = RUN(store),
                                                 .sum = RUN(sum),
                                                 .end = RUN(end),
                                                 .row = rows,
                                                 .run = run};
