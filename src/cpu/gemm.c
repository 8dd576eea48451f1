/* gemm.c - blocks and packs a float32 product for the tile loop of src/cpu/isa/gemm.c. The depth is cut into
 * fixed blocks whose sums are added in order, so that a result does not depend on the number of threads. */
#include "cpu/gemm.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/isa.h"

#include <string.h>

static int64_t padded(int64_t n)
{
    return (n + MS_GEMM_PANEL - 1) / MS_GEMM_PANEL * MS_GEMM_PANEL;
}

/* Columns [j0, j1) (panel-aligned begin) of rows [p0, p0 + k) of B into panels. */
static void pack(const MsGemm *g, int64_t p0, int64_t k, int64_t j0, int64_t j1, float *out)
{
    for (int64_t j = j0; j < j1; j += MS_GEMM_PANEL) {
        int64_t n = g->n - j < MS_GEMM_PANEL ? g->n - j : MS_GEMM_PANEL;
        float *o = out + j * k;
        for (int64_t p = 0; p < k; p++, o += MS_GEMM_PANEL) {
            const float *b = g->b + (p0 + p) * g->bk + j * g->bn;
            if (g->bn == 1)
                memcpy(o, b, (size_t)n * sizeof *o);
            else
                for (int64_t l = 0; l < n; l++) o[l] = b[l * g->bn];
            for (int64_t l = n; l < MS_GEMM_PANEL; l++) o[l] = 0;
        }
    }
}

typedef struct Job {
    const MsGemm *g;
    float *packed;
    int64_t p0, k;
} Job;

static void pack_range(void *ctx, int64_t begin, int64_t end)
{
    const Job *job = ctx;
    pack(job->g, job->p0, job->k, begin * MS_GEMM_PANEL, end * MS_GEMM_PANEL, job->packed);
}

static void rows_range(void *ctx, int64_t begin, int64_t end)
{
    const Job *job = ctx;
    const MsGemm *g = job->g;
    MsGemmTile t = {end - begin, g->n,  job->k,      g->a + begin * g->am + job->p0 * g->ak,
                    g->am,       g->ak, job->packed, g->c + begin * g->cm,
                    g->cm,       g->cn, job->p0 > 0};
    MS_ISA_PICK(ms__gemm_tile_)(&t);
}

static MsStatus gemm(const MsGemm *g, bool parallel)
{
    if (g->m == 0 || g->n == 0) return MS_OK;
    if (g->k == 0) {
        for (int64_t i = 0; i < g->m; i++)
            for (int64_t j = 0; j < g->n; j++) g->c[i * g->cm + j * g->cn] = 0;
        return MS_OK;
    }
    int64_t depth = g->k < MS_GEMM_DEPTH ? g->k : MS_GEMM_DEPTH;
    size_t bytes = (size_t)(depth * padded(g->n)) * sizeof(float);
    float *packed = ms__alloc(bytes);
    if (!packed) return MS_ERROR_MEMORY;
    for (int64_t p0 = 0; p0 < g->k; p0 += depth) {
        Job job = {g, packed, p0, g->k - p0 < depth ? g->k - p0 : depth};
        int64_t panels = padded(g->n) / MS_GEMM_PANEL;
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
