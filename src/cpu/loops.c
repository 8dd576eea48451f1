/* loops.c - keeps one flat table of the loops of this processor, filled when the library is loaded, so that
 * an operator finds its loop with one indexed read. */
#include "cpu/loops.h"

#include "cpu/isa.h"

#include <string.h>

static const MsLoopSet *chosen;
static MsLoop table[MS_N_ROWS][MS_N_PLAIN];

static const MsLoops *loops_of(MsDtype dtype)
{
    if (dtype == MS_COMPLEX64) return &ms__loops_complex64;
    if (dtype == MS_COMPLEX128) return &ms__loops_complex128;
    if (dtype == MS_FLOAT16 || dtype == MS_BFLOAT16) dtype = MS_FLOAT32;
    return chosen->loops[dtype];
}

static void use(const MsLoopSet *isa)
{
    chosen = isa;
    for (int d = 0; d < MS_N_PLAIN; d++)
        for (int row = 0; row < MS_N_ROWS; row++) {
            MsLoop loop = loops_of((MsDtype)d)->row[row];
            if (!loop && ms_dtype_is_signed_int((MsDtype)d)) /* modular: shared with the unsigned integer */
                loop = loops_of((MsDtype)(d - MS_INT8 + MS_UINT8))->row[row];
            table[row][d] = loop;
        }
}

static const MsLoopSet *const sets[] = {
    /* by level */
    &ms__loop_set_base,
#if defined(__x86_64__)
    &ms__loop_set_avx2,
    &ms__loop_set_avx512,
#endif
};

bool ms__loops_select(const char *name)
{
    for (int k = 0; k <= (int)ms__isa(); k++)
        if (strcmp(sets[k]->name, name) == 0) {
            use(sets[k]);
            return true;
        }
    return false;
}

static __attribute__((constructor)) void choose(void)
{
    use(sets[ms__isa()]);
}

const MsLoopSet *ms__loops(void)
{
    return chosen;
}
MsLoop ms__loop(int row, MsDtype dtype)
{
    return table[row][dtype];
}
MsLoop ms__loop_cast(MsDtype from, MsDtype to)
{
    return loops_of(from)->cast[to];
}
