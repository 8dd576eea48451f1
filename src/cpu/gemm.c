/* gemm.c - blocks and packs a product for the tile loop of src/cpu/isa/gemm.c. The depth is cut into
 * fixed blocks whose sums are added in order, so that a result does not depend on the number of threads. */
#include "cpu/gemm.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/isa.h"

#include <string.h>

static int64_t panel_of(const MsGemm *g)
{
    return g->f64 ? MS_GEMM_PANEL / 2 : MS_GEMM_PANEL;
}

static int64_t size_of(const MsGemm *g)
{
    return g->f64 ? sizeof(double) : sizeof(float);
}

static int64_t padded(const MsGemm *g)
{
    int64_t panel = panel_of(g);
    return (g->n + panel - 1) / panel * panel;
}

/* Columns [j0, j1) (panel-aligned begin) of rows [p0, p0 + k) of B into panels of P. */
#define PACK(name, T, P)                                                                                     \
    static void name(const MsGemm *g, int64_t p0, int64_t k, int64_t j0, int64_t j1, T *out)                 \
    {                                                                                                        \
        for (int64_t j = j0; j < j1; j += P) {                                                               \
            int64_t n = g->n - j < P ? g->n - j : P;                                                         \
            T *o = out + j * k;                                                                              \
            for (int64_t p = 0; p < k; p++, o += P) {                                                        \
                const T *b = (const T *)g->b + (p0 + p) * g->bk + j * g->bn;                                 \
                if (g->bn == 1)                                                                              \
                    memcpy(o, b, (size_t)n * sizeof *o);                                                     \
                else                                                                                         \
                    for (int64_t l = 0; l < n; l++) o[l] = b[l * g->bn];                                     \
                for (int64_t l = n; l < P; l++) o[l] = 0;                                                    \
            }                                                                                                \
        }                                                                                                    \
    }
PACK(pack32, float, MS_GEMM_PANEL)
PACK(pack64, double, MS_GEMM_PANEL / 2)

typedef struct Job {
    const MsGemm *g;
    void *packed;
    int64_t p0, k;
} Job;

static void pack_range(void *ctx, int64_t begin, int64_t end)
{
    const Job *job = ctx;
    int64_t panel = panel_of(job->g);
    if (job->g->f64)
        pack64(job->g, job->p0, job->k, begin * panel, end * panel, job->packed);
    else
        pack32(job->g, job->p0, job->k, begin * panel, end * panel, job->packed);
}

static void rows_range(void *ctx, int64_t begin, int64_t end)
{
    const Job *job = ctx;
    const MsGemm *g = job->g;
    int64_t size = size_of(g);
    MsGemmTile t = {.m = end - begin,
                    .n = g->n,
                    .k = job->k,
                    .a = (const char *)g->a + (begin * g->am + job->p0 * g->ak) * size,
                    .am = g->am,
                    .ak = g->ak,
                    .b = job->packed,
                    .c = (char *)g->c + begin * g->cm * size,
                    .cm = g->cm,
                    .cn = g->cn,
                    .add = job->p0 > 0};
    if (g->f64)
        MS_ISA_PICK(ms__gemm_tile64_)(&t);
    else
        MS_ISA_PICK(ms__gemm_tile_)(&t);
}

static MsStatus gemm(const MsGemm *g, bool parallel)
{
    if (g->m == 0 || g->n == 0) return MS_OK;
    if (g->k == 0) {
        for (int64_t i = 0; i < g->m; i++)
            for (int64_t j = 0; j < g->n; j++)
                memset((char *)g->c + (i * g->cm + j * g->cn) * size_of(g), 0, (size_t)size_of(g));
        return MS_OK;
    }
    int64_t depth = g->k < MS_GEMM_DEPTH ? g->k : MS_GEMM_DEPTH;
    size_t bytes = (size_t)(depth * padded(g) * size_of(g));
    void *packed = ms__alloc(bytes);
    if (!packed) return MS_ERROR_MEMORY;
    for (int64_t p0 = 0; p0 < g->k; p0 += depth) {
        Job job = {g, packed, p0, g->k - p0 < depth ? g->k - p0 : depth};
        int64_t panels = padded(g) / panel_of(g);
        if (parallel) {
            ms__parallel_for(panels, 1 + 16384 / (job.k * MS_GEMM_PANEL), pack_range, &job);
            ms__parallel_for(g->m, 1 + 65536 / (job.k * g->n), rows_range, &job);
        } else {
            pack_range(&job, 0, panels);
            rows_range(&job, 0, g->m);
        }
    }
    ms__free(packed, bytes);
    return MS_OK;
}

MsStatus ms__gemm_serial(const MsGemm *g)
{
    return gemm(g, false);
}
MsStatus ms__gemm_parallel(const MsGemm *g)
{
    return gemm(g, true);
}
