/* gemm_of.h - the tile loop for elements of type T. Included by gemm.c once per type, with T and TILE (the function). */
#define V PASTE(V_, T)
#define COLUMNS (64 / (int)sizeof(T))

typedef T V __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));

static inline void PASTE(store_row_, T)(T *c, int64_t cn, int64_t n, V v, bool add)
{
    if (n == COLUMNS && cn == 1) {
        if (add) v += *(V *)c;
        *(V *)c = v;
        return;
    }
    for (int64_t l = 0; l < n; l++) c[l * cn] = add ? c[l * cn] + v[l] : v[l];
}

static inline __attribute__((always_inline)) void PASTE(tile_, T)(int rows, const MsGemmTile *t, const T *a,
                                                                  const T *b, T *c, int64_t n)
{
    V acc[ROWS];
    for (int r = 0; r < rows; r++) acc[r] = (V){0};
    for (int64_t p = 0; p < t->k; p++) {
        V bv = *(const V *)(b + p * COLUMNS);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) acc[r] += a[r * t->am + p * t->ak] * bv;
    }
    for (int r = 0; r < rows; r++) PASTE(store_row_, T)(c + r * t->cm, t->cn, n, acc[r], t->add);
}

void PASTE(TILE, MS_ISA)(const MsGemmTile *t)
{
    for (int64_t j = 0; j < t->n; j += COLUMNS) {
        int64_t n = t->n - j < COLUMNS ? t->n - j : COLUMNS;
        const T *a = t->a, *b = (const T *)t->b + j * t->k;
        T *c = (T *)t->c + j * t->cn;
        int64_t i = 0;
        for (; i + ROWS <= t->m; i += ROWS) PASTE(tile_, T)(ROWS, t, a + i * t->am, b, c + i * t->cm, n);
        for (; i < t->m; i++) PASTE(tile_, T)(1, t, a + i * t->am, b, c + i * t->cm, n);
    }
}

#undef V
#undef COLUMNS
#undef T
#undef TILE
