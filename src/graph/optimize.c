/* optimize.c - the order of the passes. Each keeps every result to the bit, so that eager execution and any
 * level give the same numbers. */
#include "graph/match.h"

#define MAX_ROUNDS 4 /* one round nearly always suffices; more pay when folding exposes algebra */

MsStatus ms_graph_optimize(MsGraph *g, MsJitLevel level)
{
    static const MsPass *const simple[] = {&ms__pass_dce, &ms__pass_simplify, &ms__pass_fold, &ms__pass_cse};
    bool changed = true;
    for (int round = 0; round < MAX_ROUNDS && changed; round++) {
        changed = false;
        for (int k = 0; k < (int)(sizeof simple / sizeof *simple); k++)
            MS_TRY(ms__pass_run(simple[k], g, &changed));
    }
    if (level >= MS_JIT_O1) MS_TRY(ms__pass_run(&ms__pass_fuse, g, &changed));
    return ms__pass_run(&ms__pass_dce, g, &changed);
}
