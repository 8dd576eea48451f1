/* cipher.h - encrypted files: checkpoints and models that only who has the key can read. */
#ifndef MS_FORMAT_CIPHER_H
#define MS_FORMAT_CIPHER_H
#include "core/error.h"

#define MS_CIPHER_BLOCK 16

typedef struct MsCipher {
    enum {
        MS_AES_GCM,
        MS_AES_CBC,
        MS_SM4_CBC
    } mode;
    int rounds;
    uint32_t key[60], back[60]; /* of the rounds, for encryption and decryption */
} MsCipher;

/* mode: "AES-GCM", "AES-CBC" (keys of 16, 24 or 32 bytes) or "SM4-CBC" (16 bytes). Error: VALUE. */
MsStatus ms__cipher_begin(MsCipher *c, const char *mode, const uint8_t *key, size_t n);
/* One block of 16 bytes; in and out may be the same. */
void ms__cipher_block(const MsCipher *c, const uint8_t in[16], uint8_t out[16]);
/* CBC with PKCS #7 padding: `out` has room for n + 16 bytes; gives how many there are. */
size_t ms__cipher_cbc(const MsCipher *c, const uint8_t iv[16], const uint8_t *in, size_t n, uint8_t *out);
/* And back; n is a multiple of 16. Gives how many there are, or (size_t)-1: the padding is wrong. */
size_t ms__cipher_cbc_back(const MsCipher *c, const uint8_t iv[16], const uint8_t *in, size_t n,
                           uint8_t *out);
/* GCM with an IV of 12 bytes, in both directions; `tag` authenticates the encrypted side, which `in` is when `back`. */
void ms__cipher_gcm(const MsCipher *c, const uint8_t iv[12], const uint8_t *in, size_t n, uint8_t *out,
                    bool back, uint8_t tag[16]);

/* Bytes, freed with free(). */
typedef struct MsBytes {
    uint8_t *p;
    size_t n;
} MsBytes;

/* The content of an encrypted file, and back; `what` names it in errors: VALUE (another mode or key, damage), MEMORY. */
MsStatus ms__seal(const MsCipher *c, const uint8_t *p, size_t n, MsBytes *out);
MsStatus ms__unseal(const MsCipher *c, const char *what, const uint8_t *p, size_t n, MsBytes *out);

#endif
