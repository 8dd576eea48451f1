/* fold_of.h - a template: the accumulating loops of one dtype, to be included with T (element), A
 * (accumulator of sums and products: wide), SUF and KIND (see loops_of.h). `rows` adds x[i] into acc[i], `eight` eight
 * rows in turn, with one access to acc; `lanes` adds a run into MS_LANES accumulators in a fixed order, whatever the
 * vector length, so that every instruction set and thread count gives the same result; a run shorter than that touches
 * its first n only. Refused: `lanes` by `eight`, whose steps within a page keep the processor from reading ahead. */
#define ROWS_LOOP(id, ACC, e)                                                                                \
    static void FN(rows_##id)(int64_t n, void *accv, const void *xv)                                         \
    {                                                                                                        \
        ACC *acc = accv;                                                                                     \
        const T *in = xv;                                                                                    \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                                 \
        {                                                                                                    \
            ACC a = acc[i], b = (ACC)in[i];                                                                  \
            acc[i] = (ACC)(e);                                                                               \
        }                                                                                                    \
    }                                                                                                        \
    static void FN(lanes_##id)(int64_t n, void *accv, const void *xv)                                        \
    {                                                                                                        \
        ACC *acc = accv;                                                                                     \
        const T *in = xv;                                                                                    \
        for (; n >= MS_LANES; n -= MS_LANES, in += MS_LANES) {                                               \
            _Pragma("GCC ivdep") for (int i = 0; i < MS_LANES; i++)                                          \
            {                                                                                                \
                ACC a = acc[i], b = (ACC)in[i];                                                              \
                acc[i] = (ACC)(e);                                                                           \
            }                                                                                                \
        }                                                                                                    \
        FN(rows_##id)(n, acc, in);                                                                           \
    }
#define ROW_STEP(k, e)                                                                                       \
    {                                                                                                        \
        A b = (A)((const T *)(const void *)(x + (k)*pitch))[i];                                              \
        a = (e);                                                                                             \
    }
#define EIGHT_LOOP(id, e)                                                                                    \
    static void FN(eight_##id)(int64_t n, void *accv, const void *xv, int64_t pitch)                         \
    {                                                                                                        \
        A *acc = accv;                                                                                       \
        const char *x = xv;                                                                                  \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                                 \
        {                                                                                                    \
            A a = acc[i];                                                                                    \
            ROW_STEP(0, e)                                                                                   \
            ROW_STEP(1, e)                                                                                   \
            ROW_STEP(2, e)                                                                                   \
            ROW_STEP(3, e)                                                                                   \
            ROW_STEP(4, e)                                                                                   \
            ROW_STEP(5, e)                                                                                   \
            ROW_STEP(6, e)                                                                                   \
            ROW_STEP(7, e)                                                                                   \
            acc[i] = a;                                                                                      \
        }                                                                                                    \
    }
EIGHT_LOOP(sum, a + b)
EIGHT_LOOP(prod, a *b)
ROWS_LOOP(sum, A, a + b)
ROWS_LOOP(prod, A, a *b)
#if ORDERED
ROWS_LOOP(max, T, MAX(a, b))
ROWS_LOOP(min, T, MIN(a, b))
#endif

extern const MsFolds TABLE;
const MsFolds TABLE = {
#if ORDERED
    .rows = {FN(rows_sum), FN(rows_prod), FN(rows_max), FN(rows_min)},
    .lanes = {FN(lanes_sum), FN(lanes_prod), FN(lanes_max), FN(lanes_min)},
#else
    .rows = {FN(rows_sum), FN(rows_prod)},
    .lanes = {FN(lanes_sum), FN(lanes_prod)},
#endif
    .eight = {FN(eight_sum), FN(eight_prod)},
};
#undef ROWS_LOOP
#undef ROW_STEP
#undef EIGHT_LOOP
#undef T
#undef A
#undef SUF
#undef ORDERED
#undef TABLE
