/* width.h - bytes of a vector of the instruction set. Wider ones the compiler would keep in memory. */
#ifndef MS_CPU_ISA_WIDTH_H
#define MS_CPU_ISA_WIDTH_H

#if defined(__AVX512F__)
#include <immintrin.h>
#define WIDTH 64
#elif defined(__AVX__)
#include <immintrin.h>
#define WIDTH 32
#else
#define WIDTH 16
#endif

#endif
