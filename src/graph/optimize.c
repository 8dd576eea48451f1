/* optimize.c - the order of the passes. Each keeps every result to the bit, so that eager execution and any
 * level give the same numbers; only those that put one kernel in the place of several (attention, join) agree to rounding.
 */
#include "graph/match.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ROUNDS 4 /* one round nearly always suffices; more pay when folding exposes algebra */

/* With MS_DUMP_IR = a directory, the text of every graph before and after each pass that changed it is
 * written there. A file that cannot be written is no error of the program. */
static void dump(const MsGraph *g, int number, int step, const char *pass)
{
    const char *dir = getenv("MS_DUMP_IR");
    if (!dir) return;
    char path[512];
    snprintf(path, sizeof path, "%s/graph_%03d_%02d_%s.txt", dir, number, step, pass);
    char *text = ms_graph_print(g);
    FILE *f = text ? fopen(path, "w") : NULL;
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    free(text);
}

static MsStatus apply(const MsPass *pass, MsGraph *g, int number, int *step, bool *changed)
{
    bool did = false;
    MS_TRY(ms__pass_run(pass, g, &did));
    *changed |= did;
    if (did) dump(g, number, ++*step, pass->name);
    return MS_OK;
}

MsStatus ms_graph_optimize(MsGraph *g, MsJitLevel level)
{
    static const MsPass *const simple[] = {&ms__pass_dce, &ms__pass_simplify, &ms__pass_fold, &ms__pass_cse};
    static atomic_int count;
    int number = atomic_fetch_add(&count, 1), step = 0;
    bool changed = true;
    dump(g, number, step, "staged");
    for (int round = 0; round < MAX_ROUNDS && changed; round++) {
        changed = false;
        for (int k = 0; k < (int)(sizeof simple / sizeof *simple); k++)
            MS_TRY(apply(simple[k], g, number, &step, &changed));
    }
    if (level >= MS_JIT_O1) {
        changed = false;
        MS_TRY(apply(&ms__pass_attention, g, number, &step, &changed));
        MS_TRY(apply(&ms__pass_join, g, number, &step, &changed));
        if (changed) MS_TRY(apply(&ms__pass_dce, g, number, &step, &changed));
        changed = false;
        MS_TRY(apply(&ms__pass_narrow, g, number, &step, &changed));
        if (changed) MS_TRY(apply(&ms__pass_dce, g, number, &step, &changed));
        MS_TRY(apply(&ms__pass_norm, g, number, &step, &changed));
        MS_TRY(apply(&ms__pass_conv, g, number, &step, &changed));
        MS_TRY(apply(&ms__pass_fuse, g, number, &step, &changed));
    }
    return apply(&ms__pass_dce, g, number, &step, &changed);
}
