/* record.c - the frame of a record is: 8 bytes length, 4 bytes masked CRC-32C of them, data, 4 bytes masked
 * CRC-32C of the data, all little endian. A record is appended by one write, so that a reader which follows
 * the file sees whole records or an end. */
#include "format/record.h"

#include "core/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* crc[k][b]: what byte b contributes when k further bytes follow it in a group of eight. */
static uint32_t crc[8][256];

__attribute__((constructor)) static void fill(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t v = b;
        for (int k = 0; k < 8; k++) v = (v >> 1) ^ (v & 1 ? 0x82f63b78u : 0);
        crc[0][b] = v;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++) crc[k][b] = (crc[k - 1][b] >> 8) ^ crc[0][crc[k - 1][b] & 255];
}

#ifdef __x86_64__
/* The instruction of SSE 4.2: eight bytes in three cycles. */
__attribute__((target("sse4.2"))) static const uint8_t *fold_sse(const uint8_t *p, size_t n, uint32_t *sum)
{
    uint64_t v = *sum, word;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        v = __builtin_ia32_crc32di(v, word);
    }
    *sum = (uint32_t)v;
    return p;
}
#endif

/* The whole groups of eight at p; where they end. */
static const uint8_t *fold(const uint8_t *p, size_t n, uint32_t *sum)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2")) return fold_sse(p, n, sum);
#endif
    uint32_t v = *sum;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t a, b;
        memcpy(&a, p, 4);
        memcpy(&b, p + 4, 4);
        a ^= v;
        v = crc[7][a & 255] ^ crc[6][a >> 8 & 255] ^ crc[5][a >> 16 & 255] ^ crc[4][a >> 24] ^
            crc[3][b & 255] ^ crc[2][b >> 8 & 255] ^ crc[1][b >> 16 & 255] ^ crc[0][b >> 24];
    }
    *sum = v;
    return p;
}

uint32_t ms__crc32c(uint32_t start, const void *src, size_t n)
{
    uint32_t v = ~start;
    const uint8_t *p = fold(src, n, &v);
    for (n %= 8; n; n--) v = (v >> 8) ^ crc[0][(v ^ *p++) & 255];
    return ~v;
}

uint32_t ms__crc32c_masked(const void *src, size_t n)
{
    uint32_t v = ms__crc32c(0, src, n);
    return (v >> 15 | v << 17) + 0xa282ead8u;
}

MsStatus ms__record_append(const char *path, const void *src, size_t n)
{
    uint8_t *frame = ms__alloc(n + 16);
    if (!frame) return MS_ERROR_MEMORY;
    uint64_t length = n;
    memcpy(frame, &length, 8);
    uint32_t sum = ms__crc32c_masked(frame, 8);
    memcpy(frame + 8, &sum, 4);
    if (n) memcpy(frame + 12, src, n);
    sum = ms__crc32c_masked(src, n);
    memcpy(frame + 12 + n, &sum, 4);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    ssize_t done = fd < 0 ? -1 : write(fd, frame, n + 16);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && done >= 0) {
        why = errno;
        done = -1;
    }
    ms__free(frame, n + 16);
    if (done < 0) return MS_FAIL(MS_ERROR_IO, "Cannot append to '%s': %s.", path, strerror(why));
    if ((size_t)done != n + 16)
        return MS_FAIL(MS_ERROR_IO, "Cannot append to '%s': only %zd of %zu bytes were written.", path, done,
                       n + 16);
    return MS_OK;
}
