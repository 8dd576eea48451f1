/* profile.c - rows of the profiler: `_profile.*`. */
#include "api/api.h"
#include "core/mem.h"

#include <stdlib.h>

MS_API(profile_start, "_profile.start", "(shapes: bool = False) -> None")
{
    (void)c;
    ms_profile_start(I(0));
    return MS_OK;
}
MS_API(profile_stop, "_profile.stop", "() -> None")
{
    (void)c;
    ms_profile_stop();
    return MS_OK;
}
MS_API(profile_clear, "_profile.clear", "() -> None")
{
    (void)c;
    ms_profile_clear();
    return MS_OK;
}
MS_API(profile_range, "_profile.range", "(name: str, start: int, stop: int) -> None")
{
    ms_profile_range(ARG(0)->s, I(1), I(2));
    return MS_OK;
}
MS_API(profile_save, "_profile.save", "(path: str) -> None")
{
    return ms_profile_save(ARG(0)->s);
}

static MsStatus put_row(MsArg *out, const MsProfileRow *r)
{
    MsArg *cell = ms__calloc(6, sizeof *cell);
    if (!cell) return MS_ERROR_MEMORY;
    *out = (MsArg){.kind = MS_ARG_LIST, .tuple = true, .n = 6, .list = cell};
    cell[0] = (MsArg){.kind = MS_ARG_STR, .s = r->op};
    cell[1] = (MsArg){.kind = MS_ARG_STR, .s = r->kernel};
    const int64_t number[4] = {r->calls, r->ns, r->bytes, r->flops};
    for (int k = 0; k < 4; k++) cell[2 + k] = (MsArg){.kind = MS_ARG_INT, .i = number[k]};
    return MS_OK;
}

/* [(operator, kernel, calls, nanoseconds, bytes, floating-point operations), ...] */
MS_API(profile_table, "_profile.table", "() -> any")
{
    enum {
        CAP = 1024
    };
    MsProfileRow *row = ms__malloc(CAP * sizeof *row);
    if (!row) return MS_ERROR_MEMORY;
    int n = ms_profile_table(CAP, row);
    MsArg *list = ms__calloc((size_t)n + 1, sizeof *list);
    MsStatus st = list ? MS_OK : MS_ERROR_MEMORY;
    if (list) c->out = (MsArg){.kind = MS_ARG_LIST, .n = n, .list = list};
    for (int k = 0; k < n && st == MS_OK; k++) st = put_row(&list[k], &row[k]);
    free(row);
    if (st != MS_OK) ms__api_release(&c->out);
    return st;
}
