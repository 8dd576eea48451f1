/* spans.c - rows that are stretches of files: the lines of texts, the records of TFRecord files. The files are looked
 * through once, by blocks; each row is then its place and its length, 16 bytes, and is read when it is asked for, so that
 * samplers and workers treat these files like any source with random access. A compressed file is unpacked into a nameless
 * temporary file first: memory stays bounded, and an error in it is found before the first row. Refused: streaming with a
 * shuffle buffer, which would shuffle only nearby rows. */
#include "data/spans.h"

#include "core/mem.h"
#include "core/tensor.h"
#include "format/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK 65536

/* ---- reading by blocks ---- */

typedef struct Window {
    int fd;
    int64_t size, at, n; /* buf holds [at, at + n) */
    uint8_t buf[BLOCK];
} Window;

/* The bytes at `at`, at least `want` of them (at most BLOCK); NULL: the file ends before, or cannot be read. */
static const uint8_t *look(Window *w, int64_t at, int64_t want, int64_t ahead)
{
    if (want < 0 || at < 0 || at > w->size - want) return NULL;
    if (at >= w->at && at + want <= w->at + w->n) return w->buf + (at - w->at);
    if (ahead < want) ahead = want;
    for (w->at = at, w->n = 0; w->n < want;) {
        ssize_t k = pread(w->fd, w->buf + w->n, (size_t)(ahead - w->n), at + w->n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return NULL;
        w->n += k;
    }
    return w->buf;
}

static MsStatus add(MsSpans *s, int64_t *cap, int64_t at, int64_t len)
{
    if (s->n == *cap) {
        int64_t more = *cap ? *cap * 2 : 256;
        MsSpan *v = ms__realloc(s->span, (size_t)more * sizeof *v);
        if (!v) return ms_error()->code;
        s->span = v, *cap = more;
    }
    s->span[s->n++] = (MsSpan){at, len};
    return MS_OK;
}

static MsStatus find_lines(MsSpans *s, int file, Window *w, int64_t *cap)
{
    int64_t begin = 0;
    for (int64_t at = 0; at < w->size;) {
        const uint8_t *p = look(w, at, 1, BLOCK);
        if (!p)
            return MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' could not be read: %s.", s->path[file],
                           strerror(errno));
        int64_t n = w->at + w->n - at;
        const uint8_t *end = memchr(p, '\n', (size_t)n);
        if (!end) {
            at += n;
            continue;
        }
        at += end - p;
        if (at > begin) MS_TRY(add(s, cap, begin, at - begin));
        begin = ++at;
    }
    return begin < w->size ? add(s, cap, begin, w->size - begin) : MS_OK;
}

static MsStatus bad_record(const MsSpans *s, int file, int64_t at, const char *what)
{
    return MS_FAIL(
        MS_ERROR_RUNTIME,
        "Invalid file. The following files either cannot be opened, or are not valid TFRecordDataset files: "
        "'%s', the record at byte %lld: %s.",
        s->path[file], (long long)at, what);
}

static MsStatus find_records(MsSpans *s, int file, Window *w, int64_t *cap)
{
    int64_t last = 0;
    for (int64_t at = 0; at < w->size;) {
        const uint8_t *p = look(w, at, 12, last < BLOCK / 4 ? BLOCK : 512);
        if (!p) return bad_record(s, file, at, "it is cut");
        uint64_t len;
        uint32_t sum;
        memcpy(&len, p, 8);
        memcpy(&sum, p + 8, 4);
        if (ms__crc32c_masked(p, 8) != sum)
            return bad_record(s, file, at, "the checksum of its length is wrong");
        if (w->size - at < 16 || len > (uint64_t)(w->size - at - 16))
            return bad_record(s, file, at, "it is cut");
        last = (int64_t)len;
        MS_TRY(add(s, cap, at + 12, last));
        at += last + 16;
    }
    return MS_OK;
}

/* ---- compression ---- */

static MsStatus unpack(const MsSpans *s, int file, int from, int to, bool gzip)
{
    z_stream z = {0};
    uint8_t *buf = ms__malloc(2 * BLOCK), *out = buf + BLOCK;
    if (!buf) return ms_error()->code;
    bool is_gzip = false;
    MsStatus st =
        inflateInit2(&z, gzip ? 15 + 16 : 15) == Z_OK ? MS_OK : MS_FAIL(MS_ERROR_MEMORY, "Out of memory.");
    int rc = Z_OK;
    for (int64_t at = 0; st == MS_OK;) {
        ssize_t k = pread(from, buf, BLOCK, at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        if (at == 0 && gzip && !(is_gzip = k > 1 && buf[0] == 0x1f && buf[1] == 0x8b)) break;
        at += k;
        z.next_in = buf, z.avail_in = (unsigned)k;
        while (st == MS_OK && z.avail_in) {
            if (rc == Z_STREAM_END) inflateReset(&z); /* members one after the other are one file */
            z.next_out = out, z.avail_out = BLOCK;
            rc = inflate(&z, Z_NO_FLUSH);
            if (rc != Z_OK && rc != Z_STREAM_END) break;
            for (uint8_t *p = out; p < z.next_out;) {
                ssize_t n = write(to, p, (size_t)(z.next_out - p));
                if (n < 0 && errno != EINTR) {
                    st = MS_FAIL(MS_ERROR_RUNTIME,
                                 "The file '%s' could not be unpacked into a temporary file: %s.",
                                 s->path[file], strerror(errno));
                    break;
                }
                if (n > 0) p += n;
            }
        }
        if (rc != Z_OK && rc != Z_STREAM_END) break;
    }
    inflateEnd(&z);
    free(buf);
    if (st != MS_OK || rc == Z_STREAM_END) return st;
    return MS_FAIL(
        MS_ERROR_RUNTIME,
        "Invalid file. The following files either cannot be opened, or are not valid TFRecordDataset files: "
        "'%s' is not of the compression %s, or is cut.",
        s->path[file], gzip ? "GZIP" : "ZLIB");
}

static MsStatus open_file(MsSpans *s, int file, const char *compression)
{
    int fd = open(s->path[file], O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        int error = fd < 0 ? errno : EISDIR;
        if (fd >= 0) close(fd);
        return MS_FAIL(MS_ERROR_RUNTIME, "Invalid file, the file '%s' cannot be opened: %s.", s->path[file],
                       strerror(error));
    }
    s->fd[file] = fd;
    if (!compression || info.st_size == 0) return MS_OK;
    FILE *t = tmpfile();
    int copy = t ? fcntl(fileno(t), F_DUPFD_CLOEXEC, 3) : -1;
    if (t) fclose(t);
    if (copy < 0)
        return MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' could not be unpacked into a temporary file: %s.",
                       s->path[file], strerror(errno));
    s->fd[file] = copy;
    MsStatus st = unpack(s, file, fd, copy, strcmp(compression, "GZIP") == 0);
    close(fd);
    return st;
}

/* ---- spans ---- */

MsSpans *ms_spans_new(const char *kind, int n_file, const char *const *path, const char *compression)
{
    bool lines = strcmp(kind, "lines") == 0;
    MsSpans *s = ms__calloc(1, sizeof *s);
    Window *w = ms__malloc(sizeof *w);
    MsStatus st = s && w ? MS_OK : MS_ERROR_MEMORY;
    int64_t cap = 0;
    if (st == MS_OK) {
        s->ref = 1;
        s->path = ms__calloc((size_t)n_file, sizeof *s->path);
        s->fd = ms__malloc((size_t)n_file * sizeof *s->fd);
        s->first = ms__calloc((size_t)n_file + 1, sizeof *s->first);
        if (!s->path || !s->fd || !s->first) st = MS_ERROR_MEMORY;
    }
    for (int k = 0; st == MS_OK && k < n_file; k++) {
        struct stat info;
        s->fd[k] = -1;
        s->path[k] = ms__strdup(path[k]);
        s->n_file = k + 1;
        st = s->path[k] ? open_file(s, k, compression) : MS_ERROR_MEMORY;
        if (st != MS_OK) break;
        if (fstat(s->fd[k], &info) != 0)
            st = MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' cannot be read.", path[k]);
        w->fd = s->fd[k], w->size = info.st_size, w->at = w->n = 0;
        if (st == MS_OK) st = (lines ? find_lines : find_records)(s, k, w, &cap);
        s->first[k + 1] = s->n;
    }
    free(w);
    if (st == MS_OK) return s;
    ms_spans_unref(s);
    return NULL;
}

MsSpans *ms_spans_ref(MsSpans *s)
{
    atomic_fetch_add(&s->ref, 1);
    return s;
}

void ms_spans_unref(MsSpans *s)
{
    if (!s || atomic_fetch_sub(&s->ref, 1) != 1) return;
    for (int k = 0; k < s->n_file; k++) {
        if (s->fd[k] >= 0) close(s->fd[k]);
        free(s->path[k]);
    }
    free(s->path), free(s->fd), free(s->first), free(s->span);
    free(s);
}

int64_t ms_spans_count(const MsSpans *s, int file)
{
    return file < 0 ? s->n : s->first[file + 1] - s->first[file];
}

int ms__spans_file(const MsSpans *s, int64_t i)
{
    int lo = 0, hi = s->n_file - 1;
    while (lo < hi) { /* the last file that begins at or before row i */
        int mid = (lo + hi + 1) / 2;
        if (s->first[mid] <= i)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

MsStatus ms__spans_read(const MsSpans *s, int64_t i, int64_t extra, char *to)
{
    int file = ms__spans_file(s, i);
    int64_t n = s->span[i].len + extra;
    for (int64_t got = 0; got < n;) {
        ssize_t k = pread(s->fd[file], to + got, (size_t)(n - got), s->span[i].at + got);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0)
            return MS_FAIL(MS_ERROR_RUNTIME, "The file '%s' could not be read: %s.", s->path[file],
                           k < 0 ? strerror(errno) : "it became shorter");
        got += k;
    }
    return MS_OK;
}

/* ---- lines of text ---- */

static MsStatus line_get(void *state, int64_t i, int n, MsTensor **column)
{
    (void)n;
    MsSpans *s = state;
    int64_t width = s->span[i].len;
    column[0] = ms_tensor_empty(MS_STRING, 1, &width);
    if (!column[0]) return ms_error()->code;
    MS_TRY(ms__spans_read(s, i, 0, column[0]->data));
    if (width > 1 && column[0]->data[width - 1] == '\r') column[0]->data[width - 1] = 0;
    return MS_OK;
}

static void lines_release(void *ctx)
{
    ms_spans_unref(ctx);
}

const char *ms__spans_describe(void *ctx, int64_t i)
{
    const MsSpans *s = ctx;
    return i >= 0 && i < s->n ? s->path[ms__spans_file(s, i)] : NULL;
}

MsDataset *ms_dataset_lines(MsSpans *s, const char *name, MsSampler *sampler, int workers)
{
    MsSource source = {.name = "TextFileDataset",
                       .size = s->n,
                       .random_access = true,
                       .get = line_get,
                       .release = lines_release,
                       .ctx = s,
                       .describe = ms__spans_describe};
    return ms_dataset_source(&source, 1, &name, sampler, workers);
}
