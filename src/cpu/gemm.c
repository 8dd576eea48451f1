/* gemm.c - blocks and packs a product for the tile loop of src/cpu/isa/gemm.c. The depth is cut into
 * fixed blocks whose sums are added in order, so that a result does not depend on the number of threads. As many columns of
 * B as fit in SHARE bytes are packed by all threads; then each takes blocks of rows, packs them for its second-level cache
 * and multiplies them with all of that. */
#include "cpu/gemm.h"

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/isa.h"

#include <string.h>

#define SHARE (8 << 20)
#define BLOCK 128    /* rows that a thread packs at a time, about */
#define GROUP 3      /* panels that the widest tile takes */
#define PACK_ROWS 96 /* columns from which packing rows pays */

typedef struct Job {
    const MsGemm *g;
    int64_t size, panel;   /* bytes of an element, columns of a panel */
    int64_t j0, n, p0, k;  /* the columns and the depth that are packed */
    int64_t wide;          /* columns of a task, a multiple of a panel */
    int64_t high;          /* rows of a task */
    int64_t across, tasks; /* tasks side by side, in all */
    char *b, *room; /* packed B; a place for packed rows per thread, NULL: rows are read where they are */
    size_t room_bytes;
    _Atomic(int64_t) next;
} Job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ceil(a / b) * b */
static int64_t whole(int64_t a, int64_t b)
{
    return (a + b - 1) / b * b;
}

static void pack(const Job *job, bool rows, int64_t n, int64_t k, const char *x, int64_t xk, int64_t xl,
                 void *out)
{
    if (job->g->f64)
        MS_ISA_PICK(ms__gemm_pack64_)(rows, n, k, x, xk, xl, out);
    else
        MS_ISA_PICK(ms__gemm_pack_)(rows, n, k, x, xk, xl, out);
}

/* Panels [begin, end) of B, block of depth after block. */
static void pack_range(void *ctx, int64_t begin, int64_t end)
{
    const Job *job = ctx;
    const MsGemm *g = job->g;
    int64_t j = begin * job->panel, n = least(end * job->panel, job->n) - j,
            columns = whole(job->n, job->panel);
    for (int64_t p = 0; p < job->k; p += MS_GEMM_DEPTH) {
        int64_t k = least(job->k - p, MS_GEMM_DEPTH);
        pack(job, false, n, k,
             (const char *)g->b + ((job->p0 + p) * g->bk + (job->j0 + j) * g->bn) * job->size, g->bk, g->bn,
             job->b + (p * columns + j * k) * job->size);
    }
}

static void run_task(const Job *job, int64_t task, char *room)
{
    const MsGemm *g = job->g;
    int64_t i = task / job->across * job->high, j = task % job->across * job->wide;
    int64_t columns = whole(job->n, job->panel);
    MsGemmTile t = {.m = least(g->m - i, job->high),
                    .n = least(job->n - j, job->wide),
                    .c = (char *)g->c + (i * g->cm + (job->j0 + j) * g->cn) * job->size,
                    .cm = g->cm,
                    .cn = g->cn};
    for (int64_t p = 0; p == 0 || p < job->k; p += MS_GEMM_DEPTH) {
        const char *a = (const char *)g->a + (i * g->am + (job->p0 + p) * g->ak) * job->size;
        t.k = least(job->k - p, MS_GEMM_DEPTH);
        t.a = a, t.am = g->am, t.ak = g->ak;
        if (room) {
            pack(job, true, t.m, t.k, a, g->ak, g->am, room);
            t.a = room, t.am = 1, t.ak = MS_ISA_PICK(ms__gemm_rows_), t.block = t.ak * t.k;
        }
        t.b = job->b + (p * columns + j * t.k) * job->size;
        t.add = job->p0 + p > 0;
        if (g->bias && job->p0 + p + t.k == g->k) t.bias = (const char *)g->bias + (job->j0 + j) * job->size;
        if (g->f64)
            MS_ISA_PICK(ms__gemm_tile64_)(&t);
        else
            MS_ISA_PICK(ms__gemm_tile_)(&t);
    }
}

static void run_tasks(void *ctx, int64_t begin, int64_t end)
{
    Job *job = ctx;
    (void)end;
    char *room = job->room ? job->room + (size_t)begin * job->room_bytes : NULL;
    for (int64_t t; (t = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->tasks;)
        run_task(job, t, room);
}

/* Cuts C into tasks: blocks of rows, the same number for each thread; columns, too, where rows are few. */
static void cut(Job *job, int threads)
{
    int64_t m = job->g->m, rows = MS_ISA_PICK(ms__gemm_rows_), group = GROUP * job->panel;
    int64_t each = (m + threads * BLOCK - 1) / (threads * BLOCK);
    job->high = whole((m + each * threads - 1) / (each * threads), rows);
    job->wide = whole(job->n, job->panel);
    if (threads > 1 && job->high < 4 * rows) {
        job->high = whole(least(m, BLOCK), rows);
        job->wide = whole((job->n + threads - 1) / threads, group);
    }
    job->across = (job->n + job->wide - 1) / job->wide;
    job->tasks = job->across * ((m + job->high - 1) / job->high);
}

/* The columns that are packed at a time, all of their depth where SHARE allows for it, and how much of that. */
static void share(const MsGemm *g, const Job *job, int threads, int64_t *columns, int64_t *depth)
{
    int64_t all = whole(g->n, job->panel), group = GROUP * job->panel, room = SHARE / job->size;
    *columns = room / (g->k + 1) / group * group;
    if (*columns < threads * group) *columns = threads * group;
    *columns = least(*columns, all);
    *depth = least(g->k, whole(room / *columns, MS_GEMM_DEPTH));
}

static MsStatus gemm(const MsGemm *g, int threads)
{
    MsGemm turned;
    if (g->cn != 1 && g->cm == 1 && !g->bias) {
        turned =
            (MsGemm){g->n, g->m, g->k, g->b, g->bn, g->bk, g->a, g->ak, g->am, g->c, g->cn, 1, g->f64, NULL};
        g = &turned;
    }
    if (g->m == 0 || g->n == 0) return MS_OK;
    Job job = {.g = g, .size = g->f64 ? sizeof(double) : sizeof(float)};
    job.panel = g->f64 ? MS_GEMM_PANEL / 2 : MS_GEMM_PANEL;
    int64_t columns, depth;
    share(g, &job, threads, &columns, &depth);
    size_t packed = (size_t)(columns * depth * job.size), rooms = 0;
    if (g->n >= PACK_ROWS && g->m >= MS_ISA_PICK(ms__gemm_rows_)) {
        job.room_bytes = (size_t)(least(depth, MS_GEMM_DEPTH) * whole(least(g->m, 2 * BLOCK), 8) * job.size);
        rooms = job.room_bytes * (size_t)threads;
    }
    if (!(job.b = ms__alloc(packed + rooms))) return MS_ERROR_MEMORY;
    if (rooms) job.room = job.b + packed;
    for (job.j0 = 0; job.j0 < g->n; job.j0 += columns) {
        job.n = least(g->n - job.j0, columns);
        cut(&job, threads);
        for (job.p0 = 0; job.p0 == 0 || job.p0 < g->k; job.p0 += depth) {
            job.k = least(g->k - job.p0, depth);
            int64_t panels = whole(job.n, job.panel) / job.panel;
            job.next = 0;
            ms__parallel_for(panels, threads > 1 ? 1 + 16384 / (job.k * job.panel + 1) : panels, pack_range,
                             &job);
            ms__parallel_for(least(threads, job.tasks), 1, run_tasks, &job);
            if (depth == 0) break;
        }
    }
    ms__free(job.b, packed + rooms);
    return MS_OK;
}

MsStatus ms__gemm_serial(const MsGemm *g)
{
    return gemm(g, 1);
}
MsStatus ms__gemm_parallel(const MsGemm *g)
{
    return gemm(g, ms_thread_count());
}
