/* ckpt_write.c - writes checkpoints, see ckpt.c for the format. Invariant: the file under its final name is
 * always whole: everything goes to a temporary file beside it, which is synced and then renamed. */
#define _GNU_SOURCE /* memfd_create */
#include "format/ckpt.h"

#include "core/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static MsStatus write_all(MsCkptWriter *w, const void *src, int64_t n)
{
    while (n > 0) {
        ssize_t k = write(w->fd, src, (size_t)(n < MS_CKPT_SLICE ? n : MS_CKPT_SLICE));
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return ms__ckpt_io_error("write", w->path);
        src = (const char *)src + k;
        n -= k;
    }
    return MS_OK;
}

MsStatus ms__ckpt_flush(MsCkptWriter *w)
{
    w->crc = crc32(w->crc, w->buf, (uInt)w->n);
    size_t n = w->n;
    w->n = 0;
    return w->fd < 0 ? MS_OK : write_all(w, w->buf, (int64_t)n);
}

MsStatus ms__ckpt_put(MsCkptWriter *w, const void *src, int64_t n)
{
    const char *p = src;
    while (n > 0) {
        int64_t room = (int64_t)(sizeof w->buf - w->n), k = n < room ? n : room;
        memcpy(w->buf + w->n, p, (size_t)k);
        w->n += (size_t)k;
        p += k;
        n -= k;
        if (w->n == sizeof w->buf) MS_TRY(ms__ckpt_flush(w));
    }
    return MS_OK;
}

static int put_varint(uint8_t *dst, uint64_t v)
{
    int n = 0;
    while (v > 127) {
        dst[n++] = (uint8_t)(v | 128);
        v >>= 7;
    }
    dst[n++] = (uint8_t)v;
    return n;
}

static int varint_size(uint64_t v)
{
    int n = 1;
    while (v >>= 7) n++;
    return n;
}

/* Everything of an entry but its content: `head` belongs to the tensor message. */
static MsStatus put_entry_head(MsCkptWriter *w, const char *name, int64_t count, const uint8_t *head,
                               int n_head, int64_t n_content)
{
    int64_t n_name = (int64_t)strlen(name);
    int64_t n_tensor = n_head + 1 + varint_size((uint64_t)n_content) + n_content;
    int64_t n = 1 + varint_size((uint64_t)n_name) + n_name + 1 + varint_size((uint64_t)n_tensor) + n_tensor;
    if (count >= 0) n += 1 + varint_size((uint64_t)count);
    uint8_t key[16];
    key[0] = 1 << 3 | 2;
    MS_TRY(ms__ckpt_put(w, key, 1 + put_varint(key + 1, (uint64_t)n)));
    MS_TRY(ms__ckpt_put(w, key, 1 + put_varint(key + 1, (uint64_t)n_name)));
    MS_TRY(ms__ckpt_put(w, name, n_name));
    if (count >= 0) {
        key[0] = MS_CKPT_COUNT_FIELD << 3;
        MS_TRY(ms__ckpt_put(w, key, 1 + put_varint(key + 1, (uint64_t)count)));
    }
    key[0] = 2 << 3 | 2;
    MS_TRY(ms__ckpt_put(w, key, 1 + put_varint(key + 1, (uint64_t)n_tensor)));
    MS_TRY(ms__ckpt_put(w, head, n_head));
    key[0] = 3 << 3 | 2;
    return ms__ckpt_put(w, key, 1 + put_varint(key + 1, (uint64_t)n_content));
}

static int tensor_head(uint8_t *head, int ndim, const int64_t *dims, const char *type)
{
    int n = 0, len = (int)strlen(type);
    for (int d = 0; d < ndim; d++) {
        head[n++] = 1 << 3;
        n += put_varint(head + n, (uint64_t)dims[d]);
    }
    head[n++] = 2 << 3 | 2;
    head[n++] = (uint8_t)len;
    memcpy(head + n, type, (size_t)len);
    return n + len;
}

/* Elements [from, from + n) in row-major order. */
MsStatus ms__ckpt_put_elements(MsCkptWriter *w, MsTensor *t, int64_t from, int64_t n)
{
    int64_t size = (int64_t)ms_dtype_size((MsDtype)t->dtype);
    MS_TRY(ms__ready(t));
    if (t->contiguous) return ms__ckpt_put(w, t->data + from * size, n * size);
    int64_t at[MS_MAX_DIM], rest = from;
    for (int d = t->ndim - 1; d >= 0; d--) {
        at[d] = rest % t->shape[d];
        rest /= t->shape[d];
    }
    for (; n > 0; n--) {
        const char *p = t->data;
        for (int d = 0; d < t->ndim; d++) p += at[d] * t->strides[d] * size;
        MS_TRY(ms__ckpt_put(w, p, size));
        for (int d = t->ndim - 1; d >= 0 && ++at[d] == t->shape[d]; d--) at[d] = 0;
    }
    return MS_OK;
}

static int64_t n_slices(const MsTensor *t)
{
    int64_t bytes = t->numel * (int64_t)ms_dtype_size((MsDtype)t->dtype);
    return bytes ? (bytes + MS_CKPT_SLICE - 1) / MS_CKPT_SLICE : 1;
}

static MsStatus save_tensor(MsCkptWriter *w, const char *name, MsTensor *t, int64_t count)
{
    uint8_t head[128];
    int64_t size = (int64_t)ms_dtype_size((MsDtype)t->dtype);
    int n_head = tensor_head(head, t->ndim, t->shape, ms__ckpt_type[t->dtype]);
    int64_t at = 0, left = t->numel;
    do {
        int64_t n = left < MS_CKPT_SLICE / size ? left : MS_CKPT_SLICE / size;
        MS_TRY(put_entry_head(w, name, count, head, n_head, n * size));
        MS_TRY(ms__ckpt_put_elements(w, t, at, n));
        count = -1;
        at += n;
        left -= n;
    } while (left > 0);
    return MS_OK;
}

static MsStatus save_text(MsCkptWriter *w, const char *name, const char *text, int64_t count)
{
    uint8_t head[32];
    int64_t zero[1] = {0}, n = 0;
    if (ms__ckpt_not_utf8(text) >= 0)
        return MS_FAIL(MS_ERROR_VALUE, "The text '%s' of a checkpoint must be UTF-8.", name);
    for (const char *p = text; *p; p++) n += (*p & 0xC0) != 0x80;
    MS_TRY(put_entry_head(w, name, count, head, tensor_head(head, 1, zero, "str"), 4 * n));
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int more = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
        uint32_t u = more ? *p & (0x3Fu >> more) : *p;
        for (p++; more > 0; more--) u = u << 6 | (*p++ & 63);
        MS_TRY(ms__ckpt_put(w, &u, 4));
    }
    return MS_OK;
}

MsStatus ms__ckpt_check(const char *name, const MsTensor *t, const char *const *type)
{
    if (!name || strlen(name) > MS_CKPT_NAME_MAX || ms__ckpt_not_utf8(name) >= 0)
        return MS_FAIL(MS_ERROR_VALUE, "A name in a checkpoint must be UTF-8 of at most %d bytes.",
                       MS_CKPT_NAME_MAX);
    if (!t) return MS_FAIL(MS_ERROR_TYPE, "The entry '%s' of a checkpoint has no tensor.", name);
    if (t->trace)
        return MS_FAIL(MS_ERROR_RUNTIME, "'%s' cannot be saved inside a transformation: it has no value yet.",
                       name);
    if (!type[t->dtype])
        return MS_FAIL(MS_ERROR_NOT_IMPLEMENTED, "'%s' cannot be saved: files of %s are not supported.", name,
                       ms_dtype_name((MsDtype)t->dtype));
    return MS_OK;
}

typedef struct Entries {
    int n;
    const char *const *name;
    MsTensor *const *tensor;
    const char *const *text;
} Entries;

static const char *text_of(const Entries *e, int k)
{
    return e->text ? e->text[k] : NULL;
}

static MsStatus save_entries(MsCkptWriter *w, void *ctx)
{
    const Entries *e = ctx;
    int64_t count = 0;
    for (int k = 0; k < e->n; k++) count += text_of(e, k) ? 1 : n_slices(e->tensor[k]);
    for (int k = 0; k < e->n; k++) {
        const char *text = text_of(e, k);
        MS_TRY(text ? save_text(w, e->name[k], text, count)
                    : save_tensor(w, e->name[k], e->tensor[k], count));
        count = -1;
    }
    MS_TRY(ms__ckpt_flush(w));
    uint8_t tail[MS_CKPT_TAIL] = "crc_num";
    for (int k = 0; k < 4; k++) tail[MS_CKPT_TAIL - 1 - k] = (uint8_t)(w->crc >> (8 * k));
    return ms__ckpt_put(w, tail, MS_CKPT_TAIL);
}

/* Makes a rename durable; a file system that cannot sync folders does not lose the file. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = 0;
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

int ms__ckpt_memory_file(void)
{
    int fd = memfd_create("checkpoint", MFD_CLOEXEC);
    if (fd < 0) MS_FAIL(MS_ERROR_MEMORY, "The system gives no memory for a file: %s.", strerror(errno));
    return fd;
}

/* What `body` writes, encrypted as a whole, so that no file ever holds it as it is. */
static MsStatus write_sealed(MsCkptWriter *w, MsStatus (*body)(MsCkptWriter *w, void *ctx), void *ctx,
                             const MsCipher *cipher)
{
    int fd = w->fd;
    MsBytes sealed = {NULL, 0};
    if ((w->fd = ms__ckpt_memory_file()) < 0) {
        w->fd = fd;
        return ms_error()->code;
    }
    MsStatus st = body(w, ctx);
    if (st == MS_OK) st = ms__ckpt_flush(w);
    size_t n = (size_t)lseek(w->fd, 0, SEEK_CUR); /* an entry or the checksum is always there */
    void *plain = st == MS_OK ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, w->fd, 0) : MAP_FAILED;
    if (st == MS_OK)
        st =
            plain == MAP_FAILED ? ms__ckpt_io_error("encrypt", w->path) : ms__seal(cipher, plain, n, &sealed);
    if (plain != MAP_FAILED) munmap(plain, n);
    close(w->fd);
    w->fd = fd;
    if (st == MS_OK) st = write_all(w, sealed.p, (int64_t)sealed.n);
    free(sealed.p);
    return st;
}

MsStatus ms__ckpt_write_file(const char *path, MsStatus (*body)(MsCkptWriter *w, void *ctx), void *ctx,
                             const MsCipher *cipher)
{
    size_t len = strlen(path);
    char *temp = ms__malloc(len + 16);
    MsCkptWriter *w = temp ? ms__malloc(sizeof *w) : NULL;
    if (!w) {
        free(temp);
        return MS_ERROR_MEMORY;
    }
    snprintf(temp, len + 16, "%s.XXXXXX.tmp", path);
    w->path = path;
    w->crc = crc32(0, NULL, 0);
    w->n = 0;
    w->fd = mkstemps(temp, 4);
    MsStatus st = w->fd < 0 ? ms__ckpt_io_error("create", path)
                  : cipher  ? write_sealed(w, body, ctx, cipher)
                            : body(w, ctx);
    if (st == MS_OK) st = ms__ckpt_flush(w);
    if (w->fd >= 0) {
        if (st == MS_OK && (fchmod(w->fd, 0400) != 0 || fsync(w->fd) != 0))
            st = ms__ckpt_io_error("write", path);
        if (close(w->fd) != 0 && st == MS_OK) st = ms__ckpt_io_error("write", path);
        if (st == MS_OK && rename(temp, path) != 0) st = ms__ckpt_io_error("rename", path);
        if (st != MS_OK) (void)unlink(temp);
    }
    if (st == MS_OK) sync_folder(temp);
    free(w);
    free(temp);
    return st;
}

MsStatus ms__checkpoint_save(const char *path, int n, const char *const *name, MsTensor *const *tensor,
                             const char *const *text, const MsCipher *cipher)
{
    Entries e = {n, name, tensor, text};
    static MsTensor none; /* stands for the tensor of a text entry in the check of its name */
    for (int k = 0; k < n; k++)
        MS_TRY(ms__ckpt_check(name[k], text_of(&e, k) ? &none : tensor[k], ms__ckpt_type));
    MS_TRY(ms__ckpt_names("write", path, n, name));
    return ms__ckpt_write_file(path, save_entries, &e, cipher);
}

MsStatus ms_checkpoint_save(const char *path, int n, const char *const *name, MsTensor *const *tensor,
                            const char *const *text)
{
    return ms__checkpoint_save(path, n, name, tensor, text, NULL);
}
