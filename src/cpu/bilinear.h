/* bilinear.h - the two passes of bilinear resizing of bytes, one copy per instruction set (isa/bilinear.c). Weights are
 * 11-bit fixed point; a line between the passes has 4 bits less than that. */
#ifndef MS_CPU_BILINEAR_H
#define MS_CPU_BILINEAR_H
#include <stdint.h>

#define MS_BILINEAR_SLACK 8 /* elements behind a line that across() may write */

typedef struct MsBilinearFns {
    /* n pixels of 3 channels: out[j] = in[at[2 j]] w[2 j] + in[at[2 j] + 1] w[2 j + 1]; reads 8 bytes at each pixel. */
    void (*across3)(const uint8_t *in, int64_t n, const int32_t *at, const int16_t *w, int16_t *out);
    /* n elements: out = a p + b q, rounded. */
    void (*down)(const int16_t *a, const int16_t *b, int16_t p, int16_t q, int64_t n, uint8_t *out);
} MsBilinearFns;

extern const MsBilinearFns ms__bilinear_base, ms__bilinear_avx2, ms__bilinear_avx512;

#endif
