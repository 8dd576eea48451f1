/* idx.c - the idx format of the MNIST family (LeCun, Cortes, Burges: "The MNIST database", file formats): 2
 * zero bytes, element type, rank, sizes as big-endian 32-bit numbers, elements. Files may be gzipped: zlib's
 * gz functions read both. Nothing in a file is trusted: sizes are held against the length of the file before
 * memory is asked for. Refused: mapping the file, which cannot be done for the gzipped ones that are
 * published. */
#include "data/data.h"

#include "core/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define GZIP_RATIO 1032 /* deflate cannot compress better */

static gzFile open_file(const char *path)
{
    gzFile f = gzopen(path, "rb");
    if (!f) {
        MS_FAIL(MS_ERROR_IO, "Cannot open the file '%s': %s.", path, strerror(errno ? errno : ENOMEM));
        return NULL;
    }
    gzbuffer(f, 1 << 17);
    return f;
}

static MsStatus read_exact(gzFile f, const char *path, void *to, int64_t n)
{
    char *at = to;
    while (n > 0) {
        int got = gzread(f, at, n > (1 << 30) ? 1u << 30 : (unsigned)n);
        if (got < 0) {
            int code;
            const char *text = gzerror(f, &code);
            return MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' is corrupted: %s.", path,
                           code == Z_ERRNO ? strerror(errno) : text);
        }
        if (got == 0)
            return MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' is truncated: %lld bytes are missing.", path,
                           (long long)n);
        at += got;
        n -= got;
    }
    return MS_OK;
}

static MsStatus read_header(gzFile f, int ndim, MsIdx *idx)
{
    uint8_t head[4], size[4];
    MS_TRY(read_exact(f, idx->path, head, 4));
    if (head[0] != 0 || head[1] != 0 || head[2] != 8 || head[3] != ndim)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "The file '%s' is not an idx file of %d-dimensional uint8: its magic number is "
                       "0x%02x%02x%02x%02x, "
                       "expected 0x0000080%d.",
                       idx->path, ndim, head[0], head[1], head[2], head[3], ndim);
    idx->ndim = ndim;
    int64_t bytes = 4 + 4 * ndim, n = 1;
    for (int d = 0; d < ndim; d++) {
        MS_TRY(read_exact(f, idx->path, size, 4));
        idx->shape[d] = (int64_t)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3];
        if (d > 0 && idx->shape[d] > 65535)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "The file '%s' is corrupted: its header says images of size %lld.", idx->path,
                           (long long)idx->shape[d]);
        n *= idx->shape[d];
    }
    struct stat info;
    if (stat(idx->path, &info) != 0)
        return MS_FAIL(MS_ERROR_IO, "Cannot read the file '%s': %s.", idx->path, strerror(errno));
    int64_t room = gzdirect(f) ? (int64_t)info.st_size - bytes : (int64_t)info.st_size * GZIP_RATIO;
    if (n < 0 || n > room)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "The file '%s' is truncated or corrupted: its header says %s, which is more than it can hold.",
            idx->path, ms__shape_text(ndim, idx->shape));
    return MS_OK;
}

MsStatus ms__idx_open(const char *dir, const char *name, int ndim, MsIdx *idx, bool *found)
{
    static const char *const suffix[] = {"", ".gz"};
    *found = false;
    *idx = (MsIdx){0};
    size_t room = strlen(dir) + strlen(name) + 8;
    idx->path = ms__malloc(room);
    if (!idx->path) return ms_error()->code;
    struct stat info;
    for (int k = 0; k < 2 && !*found; k++) {
        snprintf(idx->path, room, "%s/%s%s", dir, name, suffix[k]);
        *found = stat(idx->path, &info) == 0;
    }
    if (!*found) return MS_OK;
    if (!S_ISREG(info.st_mode)) return MS_FAIL(MS_ERROR_RUNTIME, "'%s' is not a regular file.", idx->path);
    gzFile f = open_file(idx->path);
    if (!f) return ms_error()->code;
    MsStatus st = read_header(f, ndim, idx);
    gzclose(f);
    return st;
}

MsStatus ms__idx_read(const MsIdx *idx, uint8_t *data)
{
    int64_t n = 1;
    for (int d = 0; d < idx->ndim; d++) n *= idx->shape[d];
    gzFile f = open_file(idx->path);
    if (!f) return ms_error()->code;
    uint8_t head[32], extra;
    MsStatus st = read_exact(f, idx->path, head, 4 + 4 * idx->ndim);
    for (int d = 0; st == MS_OK && d < idx->ndim; d++) {
        const uint8_t *p = head + 4 + 4 * d;
        if (((int64_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]) != idx->shape[d])
            st = MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' changed while it was being read.", idx->path);
    }
    if (st == MS_OK) st = read_exact(f, idx->path, data, n);
    if (st == MS_OK) { /* reading past the end also checks the CRC of a gzip file */
        int got = gzread(f, &extra, 1);
        if (got > 0)
            st = MS_FAIL(MS_ERROR_RUNTIME,
                         "The file '%s' is corrupted: it goes on after the %s elements of its header.",
                         idx->path, ms__shape_text(idx->ndim, idx->shape));
        if (got < 0) {
            int code;
            st = MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' is corrupted: %s.", idx->path, gzerror(f, &code));
        }
    }
    if (gzclose(f) != Z_OK && st == MS_OK)
        st = MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' is truncated: the gzip stream has no end.", idx->path);
    return st;
}

void ms__idx_close(MsIdx *idx)
{
    free(idx->path);
    idx->path = NULL;
}
