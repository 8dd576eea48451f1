/* gemm_of.h - the tile loop for elements of type T. Included by gemm.c once per type, with T, TILE and PACK (the functions). */
#define V PASTE(V_, T)
#define Q PASTE(Q_, T)
#define COLUMNS (64 / (int)sizeof(T))
#define QUAD QUAD_OF /* elements of 16 bytes */
#define SPAN (WIDTH / (int)sizeof(T))

typedef T V __attribute__((vector_size(WIDTH), aligned(sizeof(T)), may_alias));
typedef T Q __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));

static inline __attribute__((always_inline)) void PASTE(tile_, T)(int rows, int panels, int64_t am,
                                                                  const MsGemmTile *t, const T *a, const T *b,
                                                                  const T *bias, T *c, int64_t n)
{
    V acc[ROWS][PANELS * PARTS];
    for (int r = 0; r < rows; r++)
        for (int h = 0; h < panels * PARTS; h++) {
            acc[r][h] = (V){0};
            if (h % PARTS == 0) __builtin_prefetch(c + r * t->cm + h * SPAN * t->cn, 1);
        }
    for (int64_t p = 0; p < t->k; p++, a += t->ak, b += COLUMNS) {
        V bv[PANELS * PARTS];
        for (int h = 0; h < panels * PARTS; h++)
            bv[h] = *(const V *)(b + h / PARTS * t->panel + h % PARTS * SPAN);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            for (int h = 0; h < panels * PARTS; h++) acc[r][h] += a[r * am] * bv[h];
    }
    for (int h = 0; h < panels * PARTS; h++) {
        int64_t width = n - h * SPAN < SPAN ? n - h * SPAN : SPAN;
        for (int r = 0; r < rows; r++) {
            T *to = c + r * t->cm + h * SPAN * t->cn;
            V v = acc[r][h];
            if (width == SPAN && t->cn == 1) {
                if (t->add) v += *(V *)to;
                if (bias) v += *(const V *)(bias + h * SPAN);
                *(V *)to = v;
                continue;
            }
            for (int64_t l = 0; l < width; l++) {
                T s = t->add ? to[l * t->cn] + v[l] : v[l];
                to[l * t->cn] = bias ? s + bias[h * SPAN + l] : s;
            }
        }
    }
}

/* All rows of `panels` panels. */
static inline __attribute__((always_inline)) void PASTE(rows_, T)(int panels, int64_t am, const MsGemmTile *t,
                                                                  const T *b, const T *bias, T *c, int64_t n)
{
    const T *a = t->a;
    int64_t i = 0;
    for (; i + ROWS <= t->m; i += ROWS, a += t->block)
        PASTE(tile_, T)(ROWS, panels, am, t, a, b, bias, c + i * t->cm, n);
    for (; i < t->m; i++, a += am) PASTE(tile_, T)(1, panels, am, t, a, b, bias, c + i * t->cm, n);
}

void PASTE(TILE, MS_ISA)(const MsGemmTile *given)
{
    MsGemmTile t = *given;
    if (!t.panel) t.panel = t.k * COLUMNS;
    if (!t.block) t.block = ROWS * t.am;
    for (int64_t j = 0, w; j < t.n; j += w * COLUMNS) {
        int64_t left = (t.n - j + COLUMNS - 1) / COLUMNS, n = t.n - j;
        w = left < PANELS ? left : PANELS;
        const T *b = (const T *)t.b + j / COLUMNS * t.panel, *bias = t.bias ? (const T *)t.bias + j : NULL;
        T *c = (T *)t.c + j * t.cn;
#define ROWS_OF(panels)                                                                                      \
    if (w == panels && panels <= PANELS) {                                                                   \
        if (t.am == 1)                                                                                       \
            PASTE(rows_, T)(panels, 1, &t, b, bias, c, n);                                                   \
        else                                                                                                 \
            PASTE(rows_, T)(panels, t.am, &t, b, bias, c, n);                                                \
    }
        ROWS_OF(1)
#if PANELS > 1
        ROWS_OF(2)
        ROWS_OF(3)
#endif
#undef ROWS_OF
    }
}

/* QUAD columns of QUAD rows that are `from` apart, as rows that are `to` apart. */
static inline __attribute__((always_inline)) void PASTE(turn_, T)(const T *x, int64_t from, T *y, int64_t to)
{
    Q q[QUAD];
    for (int r = 0; r < QUAD; r++) q[r] = *(const Q *)(x + r * from);
#if QUAD_OF == 4
    Q low = __builtin_shuffle(q[0], q[1], (I4){0, 4, 1, 5}),
      high = __builtin_shuffle(q[0], q[1], (I4){2, 6, 3, 7});
    Q low2 = __builtin_shuffle(q[2], q[3], (I4){0, 4, 1, 5}),
      high2 = __builtin_shuffle(q[2], q[3], (I4){2, 6, 3, 7});
    *(Q *)y = __builtin_shuffle(low, low2, (I4){0, 1, 4, 5});
    *(Q *)(y + to) = __builtin_shuffle(low, low2, (I4){2, 3, 6, 7});
    *(Q *)(y + 2 * to) = __builtin_shuffle(high, high2, (I4){0, 1, 4, 5});
    *(Q *)(y + 3 * to) = __builtin_shuffle(high, high2, (I4){2, 3, 6, 7});
#else
    *(Q *)y = __builtin_shuffle(q[0], q[1], (L2){0, 2});
    *(Q *)(y + to) = __builtin_shuffle(q[0], q[1], (L2){1, 3});
#endif
}

static inline __attribute__((always_inline)) void PASTE(panel_, T)(int width, int64_t k, const T *x,
                                                                   int64_t xk, int64_t xl, int64_t n, T *to)
{
    int64_t p = 0;
    if (n == width && xl == 1) {
        for (; p < k; p++) memcpy(to + p * width, x + p * xk, (size_t)width * sizeof *to);
    } else if (n == width && xk == 1 && width % QUAD == 0) {
        for (; p + COLUMNS <= k; p += COLUMNS) /* a cache line of each row */
            for (int l = 0; l < width; l += QUAD)
                for (int64_t q = p; q < p + COLUMNS; q += QUAD)
                    PASTE(turn_, T)(x + q + l * xl, xl, to + q * width + l, width);
    }
    for (; p < k; p++)
        for (int64_t l = 0; l < width; l++) to[p * width + l] = l < n ? x[p * xk + l * xl] : 0;
}

void PASTE(PACK, MS_ISA)(bool rows, int64_t n, int64_t k, const void *from, int64_t xk, int64_t xl, void *out)
{
    const T *x = from;
    T *to = out;
    int64_t l = 0;
    if (!rows && xl == 1) /* along the rows of B: as memory goes */
        for (int64_t many; (many = (n - l) / COLUMNS) > 0; l += many * COLUMNS) {
            if (many > AT_ONCE) many = AT_ONCE;
            for (int64_t p = 0; p < k; p++)
                for (int64_t h = 0; h < many; h++)
                    memcpy(to + l * k + (h * k + p) * COLUMNS, x + p * xk + l + h * COLUMNS, 64);
        }
    for (int64_t width = rows ? ROWS : COLUMNS; l < n; l += width) {
        int64_t m = n - l < width ? n - l : width;
        if (rows)
            PASTE(panel_, T)(ROWS, k, x + l * xl, xk, xl, m, to + l * k);
        else
            PASTE(panel_, T)(COLUMNS, k, x + l * xl, xk, xl, m, to + l * k);
    }
}

#undef V
#undef Q
#undef COLUMNS
#undef QUAD
#undef SPAN
#undef T
#undef TILE
#undef PACK
#undef QUAD_OF
