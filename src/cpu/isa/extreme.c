/* extreme.c - the maximum and minimum of a contiguous run, joined with *acc. The order of comparisons does not matter,
 * so the compiler keeps them in vectors.
 *
 * Floats are compared as integers: with the lower bits of negative values flipped, their bits are in order, and NaN is
 * what has larger bits than infinity without the sign. So one form serves all floats, half precision without being
 * converted (its accumulator is float32). Refused: comparisons of floats, which C does not let the compiler turn into
 * maxima because of NaN. */
#include "cpu/isa/simd.h"
#include "cpu/loops.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define INTEGER(id, T, than)                                                                                 \
    static void id(int64_t n, void *acc, const void *xv)                                                     \
    {                                                                                                        \
        const T *x = xv;                                                                                     \
        T m = *(T *)acc;                                                                                     \
        for (int64_t i = 0; i < n; i++) m = x[i] than m ? x[i] : m;                                          \
        *(T *)acc = m;                                                                                       \
    }
#define INTEGERS(suf, T) INTEGER(max_##suf, T, >) INTEGER(min_##suf, T, <)
INTEGERS(i8, int8_t)
INTEGERS(i16, int16_t)
INTEGERS(i32, int32_t)
INTEGERS(i64, int64_t)
INTEGERS(u8, uint8_t)
INTEGERS(u16, uint16_t)
INTEGERS(u32, uint32_t)
INTEGERS(u64, uint64_t)

LANE float value_f32(int32_t u)
{
    return float_of((uint32_t)u);
}
LANE double value_f64(int64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}
LANE float value_f16(int16_t u)
{
    return half_to_float((uint16_t)u);
}
LANE float value_bf16(int16_t u)
{
    return bfloat_to_float((uint16_t)u);
}

/* BIG: the largest integer T; FIRST: the key of the infinity that every value beats. */
#define FLOATING(id, suf, T, BIG, INF, FIRST, A, JOINED, than)                                               \
    static void id(int64_t n, void *accv, const void *xv)                                                    \
    {                                                                                                        \
        const T *x = xv;                                                                                     \
        A *acc = accv;                                                                                       \
        T m = FIRST, size = 0;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            T u = x[i], s = u & BIG, key = u ^ ((T)(u >> (8 * sizeof(T) - 1)) & BIG);                        \
            size = s > size ? s : size;                                                                      \
            m = key than m ? key : m;                                                                        \
        }                                                                                                    \
        A v = size > INF ? (A)NAN : value_##suf(m ^ ((T)(m >> (8 * sizeof(T) - 1)) & BIG));                  \
        *acc = JOINED(*acc, v);                                                                              \
    }
#define FLOATS(suf, T, BIG, INF, A)                                                                          \
    FLOATING(max_##suf, suf, T, BIG, INF, -INF - 1, A, MAX, >)                                               \
    FLOATING(min_##suf, suf, T, BIG, INF, INF, A, MIN, <)
FLOATS(f32, int32_t, INT32_MAX, 0x7f800000, float)
FLOATS(f64, int64_t, INT64_MAX, 0x7ff0000000000000, double)
FLOATS(f16, int16_t, INT16_MAX, 0x7c00, float)
FLOATS(bf16, int16_t, INT16_MAX, 0x7f80, float)

extern const MsFold JOIN(ms__extremes_, MS_ISA)[MS_N_PLAIN][2];
const MsFold JOIN(ms__extremes_, MS_ISA)[MS_N_PLAIN][2] = {
    [MS_BOOL] = {max_u8, min_u8},         [MS_INT8] = {max_i8, min_i8},
    [MS_INT16] = {max_i16, min_i16},      [MS_INT32] = {max_i32, min_i32},
    [MS_INT64] = {max_i64, min_i64},      [MS_UINT8] = {max_u8, min_u8},
    [MS_UINT16] = {max_u16, min_u16},     [MS_UINT32] = {max_u32, min_u32},
    [MS_UINT64] = {max_u64, min_u64},     [MS_FLOAT32] = {max_f32, min_f32},
    [MS_FLOAT64] = {max_f64, min_f64},    [MS_FLOAT16] = {max_f16, min_f16},
    [MS_BFLOAT16] = {max_bf16, min_bf16},
};
