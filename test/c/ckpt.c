/* ckpt.c - checkpoints: round trips, every kind of damage, refused allocations, and a fuzzer: whatever the
 * bytes are, the reader gives tensors or an error, and nothing else. */
#include "core/tensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int passed, failed;
static bool safetensors; /* which of the two formats is read */
static char folder[] = "/tmp/ms_ckpt_XXXXXX", path[64], other[64];

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        if (cond)                                                                                            \
            passed++;                                                                                        \
        else {                                                                                               \
            failed++;                                                                                        \
            printf("%s:%d: %s  (%s)\n", __FILE__, __LINE__, #cond, ms_error()->message);                     \
        }                                                                                                    \
        ms_error_clear();                                                                                    \
    } while (0)

static MsStatus save_all(void)
{
    int64_t shape[] = {2, 3}, empty[] = {0}, empty2[] = {0, 3};
    const char *name[MS_DTYPE_COUNT + 5];
    const char *text[MS_DTYPE_COUNT + 5] = {0};
    MsTensor *t[MS_DTYPE_COUNT + 5] = {0};
    unsigned char bytes[6 * 16];
    int n = 0;
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)(k % 2);
    for (int d = 0; d < MS_INT4; d++, n++) {
        name[n] = ms_dtype_name(d);
        t[n] = ms_tensor_from(d, 2, shape, bytes);
    }
    name[n] = "scalar";
    t[n++] = ms_tensor_from(MS_FLOAT32, 0, NULL, &(float){3.5f});
    name[n] = "empty";
    t[n++] = ms_tensor_empty(MS_FLOAT32, 1, empty);
    name[n] = "empty.matrix";
    t[n++] = ms_tensor_empty(MS_INT64, 2, empty2);
    name[n] = "note";
    text[n++] = "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80";
    for (int k = 0; k < n; k++)
        if (!t[k] && !text[k]) return ms_error()->code;
    return ms_checkpoint_save(path, n, name, t, text);
}

static void round_trip(void)
{
    CHECK(save_all() == MS_OK);
    struct stat info;
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0400);
    MsCheckpoint *c = ms_checkpoint_load(path);
    CHECK(c && ms_checkpoint_count(c) == MS_INT4 + 4);
    if (!c) return;
    for (int d = 0; d < MS_INT4; d++) {
        MsTensor *t = ms_checkpoint_find(c, ms_dtype_name(d));
        CHECK(t && ms_tensor_dtype(t) == (MsDtype)d && ms_tensor_ndim(t) == 2 && ms_tensor_numel(t) == 6);
    }
    MsTensor *s = ms_checkpoint_find(c, "scalar");
    CHECK(s && ms_tensor_ndim(s) == 0 && *(float *)ms_tensor_data(s) == 3.5f);
    MsTensor *e = ms_checkpoint_find(c, "empty"), *m = ms_checkpoint_find(c, "empty.matrix");
    CHECK(e && ms_tensor_ndim(e) == 1 && ms_tensor_shape(e)[0] == 0);
    CHECK(m && ms_tensor_ndim(m) == 2 && ms_tensor_shape(m)[0] == 0 && ms_tensor_shape(m)[1] == 3);
    CHECK(strcmp(ms_checkpoint_text(c, MS_INT4 + 3), "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80") == 0);
    CHECK(!ms_checkpoint_find(c, "scalr") && strstr(ms_error()->message, "'scalar'"));
    ms_checkpoint_free(c);
}

static void strided(void)
{
    int64_t shape[] = {2, 3}, turned[] = {3, 2}, strides[] = {1, 3}, reversed[] = {-3, -1};
    float v[] = {1, 2, 3, 4, 5, 6};
    MsTensor *t = ms_tensor_from(MS_FLOAT32, 2, shape, v);
    MsTensor *view[] = {ms__tensor_view(t, 2, turned, strides, 0), ms__tensor_view(t, 2, shape, reversed, 5)};
    const char *name[] = {"turned", "reversed"};
    CHECK(ms_checkpoint_save(path, 2, name, view, NULL) == MS_OK);
    MsCheckpoint *c = ms_checkpoint_load(path);
    CHECK(c);
    if (!c) return;
    float want[] = {1, 4, 2, 5, 3, 6}, back[] = {6, 5, 4, 3, 2, 1};
    CHECK(memcmp(ms_tensor_data(ms_checkpoint_find(c, "turned")), want, sizeof want) == 0);
    CHECK(memcmp(ms_tensor_data(ms_checkpoint_find(c, "reversed")), back, sizeof back) == 0);
    ms_checkpoint_free(c);
}

static long slurp(unsigned char **data)
{
    FILE *f = fopen(path, "rb");
    if (!f) return -1;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    *data = malloc((size_t)n + 1);
    if (fread(*data, 1, (size_t)n, f) != (size_t)n) n = -1;
    fclose(f);
    return n;
}

/* 1 = loads, 0 = refused with a proper error, -1 = anything else. */
static int try_bytes(const unsigned char *data, long n)
{
    FILE *f = fopen(other, "wb");
    if (!f || fwrite(data, 1, (size_t)n, f) != (size_t)n) return -1;
    fclose(f);
    int mark = ms_scope_begin();
    MsCheckpoint *c = safetensors ? ms_safetensors_load(other) : ms_checkpoint_load(other);
    int r = c                                                                                    ? 1
            : ms_error()->code == MS_ERROR_VALUE || ms_error()->code == MS_ERROR_NOT_IMPLEMENTED ? 0
                                                                                                 : -1;
    if (r < 0) printf("code %d: %s\n", ms_error()->code, ms_error()->message);
    ms_checkpoint_free(c);
    ms_scope_end(mark, NULL, 0);
    ms_error_clear();
    return r;
}

static void damage(void)
{
    unsigned char *data = NULL;
    CHECK(save_all() == MS_OK);
    long n = slurp(&data);
    CHECK(n > 0 && try_bytes(data, n) == 1);
    if (n <= 0) return;
    int bad = 0;
    for (long k = 0; k < 8 * n; k++) {
        data[k / 8] ^= (unsigned char)(1 << k % 8);
        bad += try_bytes(data, n) != 0;
        data[k / 8] ^= (unsigned char)(1 << k % 8);
    }
    CHECK(bad == 0); /* every flipped bit is found */
    for (long k = 1; k < n; k++) bad += k != n - 17 && try_bytes(data, k) != 0;
    CHECK(bad == 0);
    CHECK(try_bytes(data, n - 17) == 1); /* whole, without its checksum */
    free(data);
}

static void fuzz(void)
{
    unsigned char *data = NULL, work[4096];
    long n =
        slurp(&data) - (safetensors ? 0 : 17); /* without the checksum, so that damage reaches the parser */
    uint64_t state = 88172645463325252u;
    int odd = 0, loads = 0;
    if (n <= 0 || n > (long)sizeof work) return;
    for (int round = 0; round < 4000; round++) {
        memcpy(work, data, (size_t)n);
        long size = n;
        for (int k = 0; k < 1 + round % 8; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            long at = (long)(state % (uint64_t)size);
            unsigned char b = (unsigned char)(state >> 40);
            if (k % 4 == 3)
                size = 1 + at;
            else
                work[at] = state >> 60 & 1 ? b : state >> 61 & 1 ? 255 : (unsigned char)(work[at] + 1);
        }
        int r = try_bytes(work, size);
        odd += r < 0;
        loads += r > 0;
    }
    CHECK(odd == 0);
    CHECK(loads < 4000);
    free(data);
}

static void other_format(void)
{
    int64_t shape[] = {2, 3}, empty[] = {0};
    float v[] = {1, 2, 3, 4, 5, 6};
    const char *name[] = {"z\"\\\n\xc3\xa9", "a", "empty"};
    MsTensor *t[] = {ms_tensor_from(MS_FLOAT32, 2, shape, v),
                     ms_tensor_from(MS_INT32, 0, NULL, &(int32_t){7}),
                     ms_tensor_from(MS_INT64, 1, empty, NULL)};
    CHECK(ms_safetensors_save(path, 3, name, t) == MS_OK);
    MsCheckpoint *c = ms_safetensors_load(path);
    CHECK(c && ms_checkpoint_count(c) == 3 && strcmp(ms_checkpoint_name(c, 2), name[0]) == 0);
    MsTensor *back = c ? ms_checkpoint_find(c, name[0]) : NULL;
    CHECK(back && memcmp(ms_tensor_data(back), v, sizeof v) == 0);
    back = c ? ms_checkpoint_find(c, "empty") : NULL;
    CHECK(back && ms_tensor_ndim(back) == 1 && ms_tensor_numel(back) == 0);
    ms_checkpoint_free(c);
    safetensors = true;
    unsigned char *data = NULL;
    long n = slurp(&data);
    int bad = 0;
    for (long k = n - 28; k < n; k++) { /* the data: every flipped bit is found */
        data[k] ^= 4;
        bad += try_bytes(data, n) != 0;
        data[k] ^= 4;
    }
    for (long k = 0; k < n; k++) bad += try_bytes(data, k) != 0;
    CHECK(bad == 0);
    free(data);
    fuzz();
    safetensors = false;
}

static void refused(void)
{
    int64_t shape[] = {1};
    float one = 1;
    MsTensor *t[] = {ms_tensor_from(MS_FLOAT32, 1, shape, &one), ms_tensor_from(MS_FLOAT32, 1, shape, &one)};
    const char *twice[] = {"a", "a"}, *wrong[] = {"\xff", "b"};
    CHECK(ms_checkpoint_save(path, 2, twice, t, NULL) == MS_ERROR_VALUE);
    CHECK(ms_checkpoint_save(path, 2, wrong, t, NULL) == MS_ERROR_VALUE);
    CHECK(ms_checkpoint_save("/nonexistent/x.ckpt", 1, twice, t, NULL) == MS_ERROR_IO);
    CHECK(!ms_checkpoint_load("/nonexistent/x.ckpt") && ms_error()->code == MS_ERROR_IO);
    CHECK(!ms_checkpoint_load("/dev/null") && ms_error()->code == MS_ERROR_VALUE);
    for (int k = 1; k < 200; k++) { /* a refused allocation leaves the old file and no leak */
        int64_t live = ms_memory_stats().n_live;
        int mark = ms_scope_begin();
        ms_memory_fail_after(k, false);
        MsStatus st = ms_checkpoint_save(path, 1, twice, t, NULL);
        MsCheckpoint *c = st == MS_OK ? ms_checkpoint_load(path) : NULL;
        ms_memory_fail_after(0, false);
        if (!c && ms_error()->code != MS_ERROR_MEMORY) failed++;
        bool done = c != NULL;
        ms_checkpoint_free(c);
        ms_scope_end(mark, NULL, 0);
        ms_error_clear();
        if (ms_memory_stats().n_live != live) failed++;
        if (done && k > 1) {
            passed++;
            break;
        }
    }
    char command[128];
    snprintf(command, sizeof command, "test -z \"$(ls %s | grep tmp)\"", folder);
    CHECK(system(command) == 0); /* no temporary file stays behind */
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/a.ckpt", folder);
    snprintf(other, sizeof other, "%s/b.ckpt", folder);
    int mark = ms_scope_begin();
    round_trip();
    strided();
    damage();
    fuzz();
    other_format();
    refused();
    ms_scope_end(mark, NULL, 0);
    (void)unlink(path);
    (void)unlink(other);
    (void)rmdir(folder);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
