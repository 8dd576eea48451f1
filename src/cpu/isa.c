/* isa.c - see isa.h. */
#include "cpu/isa.h"

#include <stdlib.h>
#include <string.h>

static int detect(void)
{
    int level = MS_ISA_LEVEL_BASE;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
        level = MS_ISA_LEVEL_AVX2;
    if (level && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        level = MS_ISA_LEVEL_AVX512;
    const char *limit = getenv("MS_ISA_MAX");
    if (limit && strcmp(limit, "base") == 0) level = MS_ISA_LEVEL_BASE;
    if (limit && strcmp(limit, "avx2") == 0 && level > MS_ISA_LEVEL_AVX2) level = MS_ISA_LEVEL_AVX2;
#endif
    return level;
}

MsIsa ms__isa(void)
{
    static int known = -1;
    int level = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (level < 0) {
        level = detect();
        __atomic_store_n(&known, level, __ATOMIC_RELAXED);
    }
    return (MsIsa)level;
}
