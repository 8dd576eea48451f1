/* bilinear.c - resizing of bytes by two taps each way. Across: the six bytes of two neighbouring pixels are loaded at
 * once, put in pairs and multiplied with their two weights by one instruction. Down: plain loops, which the compiler
 * turns into 16-bit vectors. Both are exact in integers, so every copy gives the same bits. */
#include "cpu/bilinear.h"

#include <string.h>
#ifdef __SSSE3__
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

static void across3(const uint8_t *in, int64_t n, const int32_t *at, const int16_t *w, int16_t *out)
{
    int64_t j = 0;
#ifdef __SSSE3__
    const __m128i pairs = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    const __m128i close = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1);
    for (; j + 2 <= n; j += 2) {
        __m128i x = _mm_loadl_epi64((const void *)(in + (int64_t)at[2 * j] * 3));
        __m128i y = _mm_loadl_epi64((const void *)(in + (int64_t)at[2 * j + 2] * 3));
        __m128i both = _mm_loadl_epi64((const void *)(w + 2 * j));
        x = _mm_madd_epi16(_mm_shuffle_epi8(x, pairs), _mm_shuffle_epi32(both, 0x00));
        y = _mm_madd_epi16(_mm_shuffle_epi8(y, pairs), _mm_shuffle_epi32(both, 0x55));
        x = _mm_packs_epi32(_mm_srai_epi32(x, 4), _mm_srai_epi32(y, 4));
        _mm_storeu_si128((void *)(out + 3 * j), _mm_shuffle_epi8(x, close));
    }
#endif
    for (; j < n; j++) {
        const uint8_t *a = in + (int64_t)at[2 * j] * 3;
        int p = w[2 * j], q = w[2 * j + 1];
        for (int c = 0; c < 3; c++) out[3 * j + c] = (int16_t)((a[c] * p + a[c + 3] * q) >> 4);
    }
}

static void down(const int16_t *restrict a, const int16_t *restrict b, int16_t p, int16_t q, int64_t n,
                 uint8_t *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        int16_t x = (int16_t)(a[i] * p >> 16), y = (int16_t)(b[i] * q >> 16);
        out[i] = (uint8_t)((int16_t)(x + y + 2) >> 2);
    }
}

const MsBilinearFns PASTE(ms__bilinear_, MS_ISA) = {across3, down};
