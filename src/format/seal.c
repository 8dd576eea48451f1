/* seal.c - the layout of MindSpore's encrypted files: blocks of up to 64 MiB of content, each with its own random IV. A block is a
 * number that tells the mode, in GCM the tag (16 bytes), then little-endian numbers of 4 bytes before what they count: the bytes of
 * the rest, of the IV, and of the encrypted content. The IV has 16 bytes, of which GCM uses 12. */
#include "format/cipher.h"

#include "core/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PIECE ((size_t)64 << 20)
#define MAGIC(c) (0x7F3A5ED8u + (uint32_t)(c)->mode)
#define HEAD(c) ((c)->mode == MS_AES_GCM ? 20u : 4u) /* bytes before the first number */

static void put(uint8_t *p, size_t v)
{
    for (int k = 0; k < 4; k++) p[k] = (uint8_t)(v >> (8 * k));
}

static size_t get(const uint8_t *p)
{
    return p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

MsStatus ms__seal(const MsCipher *c, const uint8_t *p, size_t n, MsBytes *out)
{
    size_t head = HEAD(c), pieces = n / PIECE + 1;
    uint8_t *to = out->p = ms__malloc(n + pieces * (head + 24 + MS_CIPHER_BLOCK));
    if (!to) return MS_ERROR_MEMORY;
    for (size_t at = 0; at < n || at == 0; at += PIECE) {
        size_t size = n - at < PIECE ? n - at : PIECE;
        uint8_t *iv = to + head + 8, *content = iv + 20;
        if (getrandom(iv, 16, 0) != 16) {
            free(out->p);
            return MS_FAIL(MS_ERROR_RUNTIME, "The system gives no random numbers.");
        }
        put(to, MAGIC(c));
        if (c->mode == MS_AES_GCM)
            ms__cipher_gcm(c, iv, p + at, size, content, false, to + 4);
        else
            size = ms__cipher_cbc(c, iv, p + at, size, content);
        put(to + head, 24 + size);
        put(to + head + 4, 16);
        put(iv + 16, size);
        to = content + size;
    }
    out->n = (size_t)(to - out->p);
    return MS_OK;
}

/* One block, whose content goes to `out`; gives the bytes that it has in the file, 0 when it is none. */
static size_t unseal_block(const MsCipher *c, const uint8_t *p, size_t n, MsBytes *out)
{
    size_t head = HEAD(c);
    if (n < head + 28 || get(p) != MAGIC(c)) return 0;
    const uint8_t *iv = p + head + 8, *content = iv + 20;
    size_t size = get(iv + 16), whole = head + 28 + size;
    if (get(p + head + 4) != 16 || get(p + head) != 24 + size || whole > n) return 0;
    if (c->mode == MS_AES_GCM) {
        uint8_t tag[16];
        ms__cipher_gcm(c, iv, content, size, out->p + out->n, true, tag);
        if (memcmp(tag, p + 4, 16) != 0) return 0;
    } else {
        if (size % MS_CIPHER_BLOCK) return 0;
        size = ms__cipher_cbc_back(c, iv, content, size, out->p + out->n);
        if (size == (size_t)-1) return 0;
    }
    out->n += size;
    return whole;
}

MsStatus ms__unseal(const MsCipher *c, const char *what, const uint8_t *p, size_t n, MsBytes *out)
{
    *out = (MsBytes){ms__malloc(n + 1), 0}; /* blocks are longer than their content */
    if (!out->p) return MS_ERROR_MEMORY;
    size_t at = 0, k = 1;
    while (k && (at < n || at == 0)) at += k = unseal_block(c, p + at, n - at, out);
    if (k) return MS_OK;
    free(out->p);
    *out = (MsBytes){NULL, 0};
    return MS_FAIL(
        MS_ERROR_VALUE,
        "Failed to read %s: byte %zu: no block encrypted in this mode with this key. The file may be "
        "damaged or not be encrypted; check 'dec_key' and 'dec_mode'.",
        what, at);
}
