/* isa.h - which copy of src/cpu/isa/ this processor runs. */
#ifndef MS_CPU_ISA_H
#define MS_CPU_ISA_H

typedef enum MsIsa {
    MS_ISA_LEVEL_BASE,
    MS_ISA_LEVEL_AVX2,
    MS_ISA_LEVEL_AVX512
} MsIsa;

/* Asked once; MS_ISA_MAX=base or avx2 in the environment lowers it (tests compare the copies). */
MsIsa ms__isa(void);

/* The copy of a symbol that has one per instruction set: MS_ISA_PICK(ms__pool_) with ms__pool_base, ... */
#if defined(__x86_64__)
#define MS_ISA_PICK(prefix)                                                                                  \
    (ms__isa() == MS_ISA_LEVEL_AVX512 ? prefix##avx512                                                       \
     : ms__isa() == MS_ISA_LEVEL_AVX2 ? prefix##avx2                                                         \
                                      : prefix##base)
#else
#define MS_ISA_PICK(prefix) prefix##base
#endif

#endif
