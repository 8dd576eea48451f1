/* loops_of.h - a template: the loops of one dtype. The includer defines T (element), W (type in which RING
 * rows are computed: unsigned for integers), S (type in which the others are), R (real part's type), SUF
 * (suffix of names), KIND (BOOL, SINT, UINT, FLOAT or COMPLEX) and TABLE (name of the table), and may define
 * OVERRIDES (entries of the table in the place of loops from here); all are undefined at the end.
 * Invariant: an iteration reads and writes element i only, so that y may be an input.
 */
#include "cpu/isa/simd.h"
#include "cpu/loops.h"

#ifndef MS_LOOPS_OF
#define MS_LOOPS_OF
#pragma GCC diagnostic ignored "-Wtype-limits"         /* x < 0 of unsigned rows */
#pragma GCC diagnostic ignored "-Wint-in-bool-context" /* products of bools */

#pragma GCC diagnostic ignored "-Woverride-init" /* by OVERRIDES */

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define IF_0(...)
#define IF_1(...) __VA_ARGS__
#define ELSE_0(...) __VA_ARGS__
#define ELSE_1(...)

/* Which classes of rows a kind of dtype has. Signed integers take RING rows from the unsigned ones. */
#define HAS_BOOL_ANY 1
#define HAS_BOOL_RING 1
#define HAS_BOOL_NUM 0
#define HAS_BOOL_FLOATC 0
#define HAS_BOOL_FLOAT 0
#define HAS_BOOL_REAL 0
#define HAS_BOOL_BOOL 1
#define HAS_BOOL_BITS 1
#define HAS_BOOL_INT 0
#define HAS_BOOL_ORDERED 1
#define HAS_SINT_ANY 1
#define HAS_SINT_RING 0
#define HAS_SINT_NUM 1
#define HAS_SINT_FLOATC 0
#define HAS_SINT_FLOAT 0
#define HAS_SINT_REAL 1
#define HAS_SINT_BOOL 0
#define HAS_SINT_BITS 1
#define HAS_SINT_INT 1
#define HAS_SINT_ORDERED 1
#define HAS_UINT_ANY 1
#define HAS_UINT_RING 1
#define HAS_UINT_NUM 1
#define HAS_UINT_FLOATC 0
#define HAS_UINT_FLOAT 0
#define HAS_UINT_REAL 1
#define HAS_UINT_BOOL 0
#define HAS_UINT_BITS 1
#define HAS_UINT_INT 1
#define HAS_UINT_ORDERED 1
#define HAS_FLOAT_ANY 1
#define HAS_FLOAT_RING 1
#define HAS_FLOAT_NUM 1
#define HAS_FLOAT_FLOATC 1
#define HAS_FLOAT_FLOAT 1
#define HAS_FLOAT_REAL 1
#define HAS_FLOAT_BOOL 0
#define HAS_FLOAT_BITS 0
#define HAS_FLOAT_INT 0
#define HAS_FLOAT_ORDERED 1
#define HAS_COMPLEX_ANY 1
#define HAS_COMPLEX_RING 1
#define HAS_COMPLEX_NUM 1
#define HAS_COMPLEX_FLOATC 1
#define HAS_COMPLEX_FLOAT 0
#define HAS_COMPLEX_REAL 0
#define HAS_COMPLEX_BOOL 0
#define HAS_COMPLEX_BITS 0
#define HAS_COMPLEX_INT 0
#define HAS_COMPLEX_ORDERED 0
#define HAS(cls) CAT(HAS_, CAT(KIND, _##cls))

/* Integers have rows with a check; for the others the check is dropped. */
#define CHECKS_BOOL 1
#define CHECKS_SINT 1
#define CHECKS_UINT 1
#define CHECKS_FLOAT 0
#define CHECKS_COMPLEX 0

#define COMPUTE_RING W
#define COMPUTE_NUM S
#define COMPUTE_ANY S
#define COMPUTE_FLOATC S
#define COMPUTE_FLOAT S
#define COMPUTE_REAL S
#define COMPUTE_BOOL S
#define COMPUTE_BITS S
#define COMPUTE_INT S
#define COMPUTE_ORDERED S

#define FN(id) CAT(id##_, SUF)
#define K(c) ((S)(c))
#define P(k) ((S)p[k])
#define HALF ((S)0.5)

#define UNARY_LOOP(id, C, OUT, e)                                                                            \
    static bool FN(id)(int64_t n, void *yv, const void *const *in, const double *p)                          \
    {                                                                                                        \
        (void)p;                                                                                             \
        OUT *y = yv;                                                                                         \
        const T *xv = in[0];                                                                                 \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                                 \
        {                                                                                                    \
            C x = (C)xv[i];                                                                                  \
            y[i] = (OUT)(e);                                                                                 \
        }                                                                                                    \
        return true;                                                                                         \
    }
#define BINARY_LOOP(id, C, OUT, e)                                                                           \
    static bool FN(id)(int64_t n, void *yv, const void *const *in, const double *p)                          \
    {                                                                                                        \
        (void)p;                                                                                             \
        OUT *y = yv;                                                                                         \
        const T *av = in[0], *bv = in[1];                                                                    \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                                 \
        {                                                                                                    \
            C a = (C)av[i], b = (C)bv[i];                                                                    \
            y[i] = (OUT)(e);                                                                                 \
        }                                                                                                    \
        return true;                                                                                         \
    }
#define CHECKED_LOOP(id, C, OUT, bad, e)                                                                     \
    static bool FN(id)(int64_t n, void *yv, const void *const *in, const double *p)                          \
    {                                                                                                        \
        (void)p;                                                                                             \
        OUT *y = yv;                                                                                         \
        const T *av = in[0], *bv = in[1];                                                                    \
        bool refused = false;                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            C a = (C)av[i], b = (C)bv[i];                                                                    \
            refused |= (bad);                                                                                \
            y[i] = (OUT)(e);                                                                                 \
        }                                                                                                    \
        return !refused;                                                                                     \
    }
#define CAST_LOOP(id, OUT, e)                                                                                \
    static bool FN(id)(int64_t n, void *yv, const void *const *in, const double *p)                          \
    {                                                                                                        \
        (void)p;                                                                                             \
        OUT *y = yv;                                                                                         \
        const T *xv = in[0];                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            T x = xv[i];                                                                                     \
            y[i] = (OUT)(e);                                                                                 \
        }                                                                                                    \
        return true;                                                                                         \
    }
#endif

#define MS_UNARY(cls, id, sig, e, ...) CAT(IF_, HAS(cls))(UNARY_LOOP(id, COMPUTE_##cls, T, e))
#define MS_PART(cls, id, sig, e, ...) CAT(IF_, HAS(cls))(UNARY_LOOP(id, COMPUTE_##cls, R, e))
#define MS_TEST(cls, id, sig, e, ...) CAT(IF_, HAS(cls))(UNARY_LOOP(id, COMPUTE_##cls, bool, e))
#define MS_BINARY(cls, id, sig, e, ...) CAT(IF_, HAS(cls))(BINARY_LOOP(id, COMPUTE_##cls, T, e))
#define MS_COMPARE(cls, id, sig, e, ...) CAT(IF_, HAS(cls))(BINARY_LOOP(id, COMPUTE_##cls, bool, e))
#define MS_CHECKED(cls, id, sig, bad, e, ...)                                                                \
    CAT(IF_, HAS(cls))                                                                                       \
    (CAT(IF_, CAT(CHECKS_, KIND))(CHECKED_LOOP(id, COMPUTE_##cls, T, bad, e))                                \
         CAT(ELSE_, CAT(CHECKS_, KIND))(BINARY_LOOP(id, COMPUTE_##cls, T, e)))
#include "op/binary.def"
#include "op/unary.def"
#undef MS_UNARY
#undef MS_PART
#undef MS_TEST
#undef MS_BINARY
#undef MS_CHECKED
#undef MS_COMPARE

CAST_LOOP(to_bool, bool, x != 0)
CAST_LOOP(to_i8, int8_t, TO_INT32(x))
CAST_LOOP(to_i16, int16_t, TO_INT32(x))
CAST_LOOP(to_i32, int32_t, TO_INT32(x))
CAST_LOOP(to_i64, int64_t, TO_INT64(x))
CAST_LOOP(to_u8, uint8_t, TO_INT32(x))
CAST_LOOP(to_u16, uint16_t, TO_INT32(x))
CAST_LOOP(to_u32, uint32_t, TO_INT64(x))
CAST_LOOP(to_u64, uint64_t, TO_UINT64(x))
CAST_LOOP(to_half, float, TO_ODD(x)) /* on the way to half precision: see TO_ODD */
CAST_LOOP(to_f32, float, x)
CAST_LOOP(to_f64, double, x)
CAST_LOOP(to_c64, float _Complex, x)
CAST_LOOP(to_c128, double _Complex, x)

static bool FN(where)(int64_t n, void *yv, const void *const *in, const double *p)
{
    (void)p;
    T *y = yv;
    const bool *c = in[0];
    const T *a = in[1], *b = in[2];
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) y[i] = c[i] ? a[i] : b[i];
    return true;
}

#define MS_UNARY(cls, id, ...) CAT(IF_, HAS(cls))([MS_ROW_##id] = FN(id), )
#define MS_PART MS_UNARY
#define MS_TEST MS_UNARY
#define MS_BINARY MS_UNARY
#define MS_CHECKED MS_UNARY
#define MS_COMPARE MS_UNARY
#ifndef OVERRIDES
#define OVERRIDES
#endif
extern const MsLoops TABLE;
const MsLoops TABLE = {.row =
                           {
#include "op/binary.def"
#include "op/unary.def"
                               OVERRIDES[MS_ROW_where] = FN(where)},
                       .cast = {[MS_BOOL] = FN(to_bool),
                                [MS_INT8] = FN(to_i8),
                                [MS_INT16] = FN(to_i16),
                                [MS_INT32] = FN(to_i32),
                                [MS_INT64] = FN(to_i64),
                                [MS_UINT8] = FN(to_u8),
                                [MS_UINT16] = FN(to_u16),
                                [MS_UINT32] = FN(to_u32),
                                [MS_UINT64] = FN(to_u64),
                                [MS_FLOAT16] = FN(to_half),
                                [MS_BFLOAT16] = FN(to_half),
                                [MS_FLOAT32] = FN(to_f32),
                                [MS_FLOAT64] = FN(to_f64),
                                [MS_COMPLEX64] = FN(to_c64),
                                [MS_COMPLEX128] = FN(to_c128)}};

#undef MS_UNARY
#undef MS_PART
#undef MS_TEST
#undef MS_BINARY
#undef MS_CHECKED
#undef MS_COMPARE
#undef OVERRIDES
#undef T
#undef W
#undef S
#undef R
#undef SUF
#undef KIND
#undef TABLE
