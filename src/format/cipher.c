/* cipher.c - AES (FIPS 197) and SM4 (GB/T 32907-2016) in the modes CBC and GCM (NIST SP 800-38A, 800-38D).
 *
 * The tables are computed at first use from the fields that the standards define. Their look-ups depend on the data, so whoever
 * can time this process closely learns of the key; files are encrypted by and for one user. Refused: a library for it, which
 * every installation would need for files that few write, and the processor's instructions, which are not everywhere. */
#include "format/cipher.h"

#include <pthread.h>
#include <string.h>

static uint8_t aes_box[256], aes_back[256], sm4_box[256];
static uint32_t aes_mix[256],
    aes_unmix[256]; /* a column of the mixing matrix times the box, and of its inverse */

static uint8_t times(uint8_t a, uint8_t b, int polynomial)
{
    int r = 0, x = a;
    for (; b; b >>= 1) {
        if (b & 1) r ^= x;
        x = x << 1 ^ (x & 128 ? polynomial : 0);
    }
    return (uint8_t)r;
}

static uint8_t inverse(uint8_t a, int polynomial) /* a^254 */
{
    uint8_t r = 1;
    for (int k = 0; k < 254; k++) r = times(r, a, polynomial);
    return r;
}

/* Bit i of the result is the parity of x under `row` turned by i. */
static uint8_t affine(uint8_t x, unsigned row, uint8_t constant)
{
    unsigned r = 0;
    for (int i = 0; i < 8; i++) {
        unsigned turned = (row << i | row >> (8 - i)) & 255;
        r |= (unsigned)__builtin_parity(turned & x) << i;
    }
    return (uint8_t)(r ^ constant);
}

static uint32_t word(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return (uint32_t)a << 24 | (uint32_t)b << 16 | (uint32_t)c << 8 | d;
}

static void make_tables(void)
{
    const int aes = 0x11B, sm4 = 0x1F5;
    for (int x = 0; x < 256; x++) {
        uint8_t s = affine(inverse((uint8_t)x, aes), 0xF1, 0x63);
        aes_box[x] = s;
        aes_back[s] = (uint8_t)x;
        aes_mix[x] = word(times(s, 2, aes), s, s, times(s, 3, aes));
        sm4_box[x] = affine(inverse(affine((uint8_t)x, 0xA7, 0xD3), sm4), 0xA7, 0xD3);
    }
    for (int x = 0; x < 256; x++) {
        uint8_t s = aes_back[x];
        aes_unmix[x] = word(times(s, 14, aes), times(s, 9, aes), times(s, 13, aes), times(s, 11, aes));
    }
}

static uint32_t left(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

static uint32_t read_word(const uint8_t *p)
{
    return word(p[0], p[1], p[2], p[3]);
}

static void write_word(uint8_t *p, uint32_t x)
{
    for (int k = 0; k < 4; k++) p[k] = (uint8_t)(x >> (24 - 8 * k));
}

/* The box applied to the bytes of a, b, c, d at their places. */
static uint32_t boxed(const uint8_t *box, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return word(box[a >> 24], box[b >> 16 & 255], box[c >> 8 & 255], box[d & 255]);
}

static uint32_t mixed(const uint32_t *mix, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return mix[a >> 24] ^ left(mix[b >> 16 & 255], 24) ^ left(mix[c >> 8 & 255], 16) ^ left(mix[d & 255], 8);
}

/* ---- AES ---- */

static void aes_keys(MsCipher *c, const uint8_t *key, int n)
{
    uint32_t *w = c->key, power = 1;
    c->rounds = n + 6;
    int total = 4 * (c->rounds + 1);
    for (int k = 0; k < total; k++) {
        uint32_t t = k < n ? 0 : w[k - 1];
        if (k < n) {
            w[k] = read_word(key + 4 * k);
            continue;
        }
        if (k % n == 0) {
            t = left(t, 8);
            t = boxed(aes_box, t, t, t, t) ^ power << 24;
            power = times((uint8_t)power, 2, 0x11B);
        } else if (n > 6 && k % n == 4) {
            t = boxed(aes_box, t, t, t, t);
        }
        w[k] = w[k - n] ^ t;
    }
    for (int k = 0; k < total; k++) { /* the rounds in reverse, the inner ones unmixed */
        uint32_t t = w[total - 4 - k / 4 * 4 + k % 4], s = boxed(aes_box, t, t, t, t);
        c->back[k] = k < 4 || k >= total - 4 ? t : mixed(aes_unmix, s, s, s, s);
    }
}

static void aes(const uint32_t *key, int rounds, const uint32_t *mix, const uint8_t *box, int step,
                const uint8_t *in, uint8_t *out)
{
    uint32_t s[4], t[4];
    for (int k = 0; k < 4; k++) s[k] = read_word(in + 4 * k) ^ key[k];
    for (int round = 1; round < rounds; round++) {
        for (int k = 0; k < 4; k++)
            t[k] =
                mixed(mix, s[k], s[(k + step) & 3], s[(k + 2) & 3], s[(k - step) & 3]) ^ key[4 * round + k];
        memcpy(s, t, sizeof s);
    }
    for (int k = 0; k < 4; k++)
        write_word(out + 4 * k, boxed(box, s[k], s[(k + step) & 3], s[(k + 2) & 3], s[(k - step) & 3]) ^
                                    key[4 * rounds + k]);
}

/* ---- SM4 ---- */

static void sm4_keys(MsCipher *c, const uint8_t *key)
{
    static const uint32_t system[4] = {0xA3B1BAC6, 0x56AA3350, 0x677D9197, 0xB27022DC};
    uint32_t x[36];
    for (int k = 0; k < 4; k++) x[k] = read_word(key + 4 * k) ^ system[k];
    for (int k = 0; k < 32; k++) {
        uint32_t number = 0;
        for (int j = 0; j < 4; j++) number = number << 8 | (uint8_t)((4 * k + j) * 7);
        uint32_t t = x[k + 1] ^ x[k + 2] ^ x[k + 3] ^ number;
        t = boxed(sm4_box, t, t, t, t);
        c->key[k] = c->back[31 - k] = x[k + 4] = x[k] ^ t ^ left(t, 13) ^ left(t, 23);
    }
}

static void sm4(const uint32_t *key, const uint8_t *in, uint8_t *out)
{
    uint32_t x[36];
    for (int k = 0; k < 4; k++) x[k] = read_word(in + 4 * k);
    for (int k = 0; k < 32; k++) {
        uint32_t t = x[k + 1] ^ x[k + 2] ^ x[k + 3] ^ key[k];
        t = boxed(sm4_box, t, t, t, t);
        x[k + 4] = x[k] ^ t ^ left(t, 2) ^ left(t, 10) ^ left(t, 18) ^ left(t, 24);
    }
    for (int k = 0; k < 4; k++) write_word(out + 4 * k, x[35 - k]);
}

/* ---- modes ---- */

MsStatus ms__cipher_begin(MsCipher *c, const char *mode, const uint8_t *key, size_t n)
{
    static const char *const modes[] = {
        [MS_AES_GCM] = "AES-GCM", [MS_AES_CBC] = "AES-CBC", [MS_SM4_CBC] = "SM4-CBC"};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int k = 0;
    while (k < 3 && strcmp(mode, modes[k]) != 0) k++;
    if (k == 3)
        return MS_FAIL(MS_ERROR_VALUE,
                       "The mode of encryption must be 'AES-GCM', 'AES-CBC' or 'SM4-CBC', but got '%s'.",
                       mode);
    if (n != 16 && (k == MS_SM4_CBC || (n != 24 && n != 32)))
        return MS_FAIL(MS_ERROR_VALUE, "The key of '%s' must have %s bytes, but has %zu.", mode,
                       k == MS_SM4_CBC ? "16" : "16, 24 or 32", n);
    pthread_once(&once, make_tables);
    *c = (MsCipher){.mode = k};
    if (k == MS_SM4_CBC)
        sm4_keys(c, key);
    else
        aes_keys(c, key, (int)n / 4);
    return MS_OK;
}

void ms__cipher_block(const MsCipher *c, const uint8_t in[16], uint8_t out[16])
{
    if (c->mode == MS_SM4_CBC)
        sm4(c->key, in, out);
    else
        aes(c->key, c->rounds, aes_mix, aes_box, 1, in, out);
}

static void block_back(const MsCipher *c, const uint8_t in[16], uint8_t out[16])
{
    if (c->mode == MS_SM4_CBC)
        sm4(c->back, in, out);
    else
        aes(c->back, c->rounds, aes_unmix, aes_back, -1, in, out);
}

static void add(uint8_t x[16], const uint8_t *y, size_t n)
{
    for (size_t k = 0; k < n; k++) x[k] ^= y[k];
}

size_t ms__cipher_cbc(const MsCipher *c, const uint8_t iv[16], const uint8_t *in, size_t n, uint8_t *out)
{
    size_t whole = n / 16 * 16, pad = 16 - n % 16;
    uint8_t x[16], last[16];
    memcpy(x, iv, 16);
    memset(last, (int)pad, 16);
    memcpy(last, in + whole, n - whole);
    for (size_t at = 0; at <= whole; at += 16) {
        add(x, at < whole ? in + at : last, 16);
        ms__cipher_block(c, x, x);
        memcpy(out + at, x, 16);
    }
    return n + pad;
}

size_t ms__cipher_cbc_back(const MsCipher *c, const uint8_t iv[16], const uint8_t *in, size_t n, uint8_t *out)
{
    for (size_t at = 0; at < n; at += 16) {
        block_back(c, in + at, out + at);
        add(out + at, at ? in + at - 16 : iv, 16);
    }
    size_t pad = n ? out[n - 1] : 0;
    if (pad < 1 || pad > 16) return (size_t)-1;
    for (size_t k = 1; k <= pad; k++)
        if (out[n - k] != pad) return (size_t)-1;
    return n - pad;
}

/* Products with the hash key in GF(2^128), whose first bit is the one of x^0: table[v] = v times the key for the four bits v. */
typedef struct Hash {
    uint64_t high[16], low[16];
    uint64_t y[2];
} Hash;

static void hash_begin(Hash *h, const uint8_t key[16])
{
    uint64_t a = (uint64_t)read_word(key) << 32 | read_word(key + 4),
             b = (uint64_t)read_word(key + 8) << 32 | read_word(key + 12);
    *h = (Hash){0};
    for (int v = 8; v > 0; v >>= 1) {
        h->high[v] = a, h->low[v] = b;
        uint64_t carry = b & 1 ? 0xE100000000000000u : 0;
        b = a << 63 | b >> 1;
        a = a >> 1 ^ carry;
    }
    for (int v = 1; v < 16; v++) {
        int first = v & -v;
        h->high[v] = h->high[first] ^ h->high[v ^ first];
        h->low[v] = h->low[first] ^ h->low[v ^ first];
    }
}

static void hash_block(Hash *h, const uint8_t *p, size_t n)
{
    static const uint64_t reduced[16] = {0x0000, 0x1C20, 0x3840, 0x2460, 0x7080, 0x6CA0, 0x48C0, 0x54E0,
                                         0xE100, 0xFD20, 0xD940, 0xC560, 0x9180, 0x8DA0, 0xA9C0, 0xB5E0};
    uint8_t x[16] = {0};
    uint64_t a = 0, b = 0;
    memcpy(x, p, n);
    for (int k = 0; k < 16; k++) x[k] ^= (uint8_t)(h->y[k / 8] >> (56 - 8 * (k % 8)));
    for (int k = 31; k >= 0; k--) {
        int v = k & 1 ? x[k / 2] & 15 : x[k / 2] >> 4, out = (int)(b & 15);
        b = a << 60 | b >> 4;
        a = a >> 4 ^ reduced[out] << 48;
        a ^= h->high[v], b ^= h->low[v];
    }
    h->y[0] = a, h->y[1] = b;
}

static void hash_end(const Hash *h, uint8_t out[16])
{
    for (int k = 0; k < 16; k++) out[k] = (uint8_t)(h->y[k / 8] >> (56 - 8 * (k % 8)));
}

static void hash_length(Hash *h, uint64_t bytes)
{
    uint8_t x[16] = {0};
    write_word(x + 8, (uint32_t)(bytes >> 29)), write_word(x + 12, (uint32_t)(bytes << 3));
    hash_block(h, x, 16);
}

void ms__cipher_gcm(const MsCipher *c, const uint8_t iv[12], const uint8_t *in, size_t n, uint8_t *out,
                    bool back, uint8_t tag[16])
{
    Hash h;
    uint8_t zero[16] = {0}, counter[16], x[16];
    ms__cipher_block(c, zero, x);
    hash_begin(&h, x);
    memcpy(counter, iv, 12);
    write_word(counter + 12, 1);
    ms__cipher_block(c, counter, tag);
    for (size_t at = 0; at < n; at += 16) {
        size_t k = n - at < 16 ? n - at : 16;
        write_word(counter + 12, read_word(counter + 12) + 1);
        ms__cipher_block(c, counter, x);
        add(x, in + at, k);
        hash_block(&h, back ? in + at : x, k);
        memcpy(out + at, x, k);
    }
    hash_length(&h, n);
    hash_end(&h, x);
    add(tag, x, 16);
}
