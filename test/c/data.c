/* data.c - the data pipeline from C: order, determinism, shapes, errors and clean shutdown. */
#include "data/data.h"
#include "mindspore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int passed, failed;

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        if (cond)                                                                                            \
            passed++;                                                                                        \
        else                                                                                                 \
            failed++, printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond, ms_error()->message);            \
    } while (0)

/* A dataset of n rows: x = int64 i, y = float32 [2] of i. */
static MsDataset *numbers(int64_t n, MsSampler *sampler)
{
    int mark = ms_scope_begin();
    int64_t shape[] = {n, 2};
    MsTensor *x = ms_tensor_empty(MS_INT64, 1, shape), *y = ms_tensor_empty(MS_FLOAT32, 2, shape);
    for (int64_t i = 0; x && y && i < n; i++) {
        ((int64_t *)ms_tensor_data(x))[i] = i;
        ((float *)ms_tensor_data(y))[2 * i] = ((float *)ms_tensor_data(y))[2 * i + 1] = (float)i;
    }
    MsDataset *d = ms_dataset_slices(2, (MsTensor *[]){x, y}, (const char *[]){"x", "y"}, sampler);
    ms_scope_end(mark, NULL, 0);
    return d;
}

static int64_t value_of(MsTensor *t)
{
    MsTensor *wide = ms__data_cast(t, MS_INT64);
    return wide ? *(int64_t *)ms_tensor_data(wide) : -1;
}

/* Runs one epoch and writes the values of column 0; -1 on an error. Takes over d. */
static int run(MsDataset *d, int64_t *value, int cap)
{
    MsDataIter *it = ms_data_iter_new(d, 1);
    int n = it ? 0 : -1;
    while (n >= 0 && n < cap) {
        MsTensor *column[MS_DATA_MAX_COLUMN];
        int mark = ms_scope_begin();
        MsStatus st = ms_data_iter_next(it, column);
        if (st == MS_OK) value[n] = value_of(column[0]);
        ms_scope_end(mark, NULL, 0);
        if (st == MS_ERROR_STOP) break;
        n = st == MS_OK ? n + 1 : -1;
    }
    ms_data_iter_free(it);
    ms_dataset_unref(d);
    return n;
}

static bool is_permutation(const int64_t *v, int n)
{
    char seen[1024] = {0};
    for (int i = 0; i < n; i++)
        if (v[i] < 0 || v[i] >= n || seen[v[i]]++) return false;
    return true;
}

static void test_order(void)
{
    int64_t v[64], w[64];
    CHECK(run(numbers(5, NULL), v, 64) == 5 && v[0] == 0 && v[4] == 4);
    CHECK(run(ms_dataset_skip(numbers(5, NULL), 2), v, 64) == 3 && v[0] == 2);
    CHECK(run(ms_dataset_take(numbers(5, NULL), 2), v, 64) == 2 && v[1] == 1);
    CHECK(run(ms_dataset_repeat(numbers(3, NULL), 3), v, 64) == 9 && v[8] == 2 && v[3] == 0);
    CHECK(run(ms_dataset_take(ms_dataset_repeat(numbers(3, NULL), -1), 10), v, 64) == 10 && v[9] == 0);
    CHECK(run(ms_dataset_concat(2, (MsDataset *[]){numbers(3, NULL), numbers(2, NULL)}), v, 64) == 5 &&
          v[4] == 1);
    ms_data_set_seed(7);
    CHECK(run(ms_dataset_shuffle(numbers(32, NULL), 32), v, 64) == 32 && is_permutation(v, 32));
    CHECK(run(ms_dataset_shuffle(numbers(32, NULL), 32), w, 64) == 32 && memcmp(v, w, 32 * sizeof *v) == 0);
    CHECK(run(ms_dataset_repeat(ms_dataset_shuffle(numbers(16, NULL), 4), 2), v, 64) == 32);
    CHECK(is_permutation(v, 16) && is_permutation(v + 16, 16) && memcmp(v, v + 16, 16 * sizeof *v) != 0);
    CHECK(run(numbers(6, ms_sampler_random(false, 0)), v, 64) == 6 && is_permutation(v, 6));
    CHECK(run(numbers(6, ms_sampler_random(true, 9)), v, 64) == 9);
    CHECK(run(numbers(7, ms_sampler_distributed(2, 1, false, 0, -1)), v, 64) == 4 && v[0] == 1 && v[3] == 0);
    CHECK(run(numbers(7, ms_sampler_subset(3, (int64_t[]){6, 0, 6}, false, 0)), v, 64) == 3 && v[0] == 6 &&
          v[2] == 6);
    CHECK(run(numbers(3, ms_sampler_weighted(3, (double[]){0, 1, 0}, 5, true)), v, 64) == 5 && v[0] == 1 &&
          v[4] == 1);
    CHECK(run(numbers(9, ms_sampler_chain(ms_sampler_sequential(1, 2),
                                          ms_sampler_subset(3, (int64_t[]){8, 7, 6}, false, 0))),
              v, 64) == 2 &&
          v[0] == 7 && v[1] == 6);
    CHECK(run(numbers(3, ms_sampler_subset(1, (int64_t[]){3}, false, 0)), v, 64) == -1);
    CHECK(strstr(ms_error()->message, "out of bound"));
    ms_error_clear();
}

static void test_sizes(void)
{
    MsDataset *d = ms_dataset_batch(ms_dataset_repeat(numbers(10, NULL), 2), 3, false);
    CHECK(ms_dataset_size(d) == 7 && ms_dataset_batch_size(d) == 3 && ms_dataset_repeat_count(d) == 2);
    ms_dataset_unref(d);
    d = ms_dataset_repeat(numbers(10, NULL), -1);
    CHECK(ms_dataset_size(d) == 10);
    d = ms_dataset_take(d, 25);
    CHECK(ms_dataset_size(d) == 25);
    ms_dataset_unref(d);
    d = ms_dataset_rename(numbers(2, NULL), "x", "z");
    CHECK(ms_dataset_n_columns(d) == 2 && strcmp(ms_dataset_column(d, 0), "z") == 0);
    d = ms_dataset_project(d, "y,z");
    CHECK(strcmp(ms_dataset_column(d, 1), "z") == 0);
    CHECK(!ms_dataset_project(d, "nope") && strstr(ms_error()->message, "'nope'"));
    ms_error_clear();
    CHECK(!ms_dataset_zip(2, (MsDataset *[]){numbers(2, NULL), numbers(2, NULL)}));
    ms_error_clear();
}

/* Columns of all epochs of a map with random transforms, as a checksum. */
static uint64_t checksum(int workers)
{
    MsDataset *d = ms_dataset_map(
        ms_dataset_fashion_mnist("/usr/share/datasets/fashion-mnist", "test", ms_sampler_random(false, 500)),
        4,
        (MsTransform *[]){MS_TRANSFORM("RandomHorizontalFlip", 0.5),
                          MS_TRANSFORM("RandomCrop", 24, 24, 0, 2, 2, 2, 2, 9, 9, 9, 0),
                          MS_TRANSFORM("Rescale", 1 / 255.0, 0), MS_TRANSFORM("HWC2CHW")},
        "image", NULL, workers);
    d = ms_dataset_batch(d, 64, false);
    MsDataIter *it = ms_data_iter_new(d, 2);
    uint64_t sum = 0;
    for (int ends = 0; it && ends < 2;) {
        MsTensor *column[2];
        int mark = ms_scope_begin();
        MsStatus st = ms_data_iter_next(it, column);
        if (st == MS_OK)
            for (int64_t i = 0; i < ms_tensor_numel(column[0]); i++)
                sum = sum * 31 + (uint64_t)(((float *)ms_tensor_data(column[0]))[i] * 255 + 0.5f);
        ms_scope_end(mark, NULL, 0);
        if (st == MS_ERROR_STOP)
            ends++;
        else if (st != MS_OK)
            break;
    }
    ms_data_iter_free(it);
    ms_dataset_unref(d);
    return sum;
}

static void test_fashion(void)
{
    MsDataset *d = ms_dataset_fashion_mnist("/usr/share/datasets/fashion-mnist", "train", NULL);
    CHECK(d && ms_dataset_size(d) == 60000 && strcmp(ms_dataset_column(d, 1), "label") == 0);
    d = ms_dataset_map(d, 3,
                       (MsTransform *[]){MS_TRANSFORM("Rescale", 1 / 255.0, 0),
                                         MS_TRANSFORM("Normalize", 1, 0.1307, 0.3081),
                                         MS_TRANSFORM("HWC2CHW")},
                       "image", NULL, 0);
    d = ms_dataset_map(d, 1, (MsTransform *[]){MS_TRANSFORM("TypeCast", MS_INT32)}, "label", NULL, 0);
    d = ms_dataset_batch(d, 64, false);
    CHECK(d && ms_dataset_size(d) == 938);
    MsDataIter *it = ms_data_iter_new(d, 1);
    MsTensor *column[2] = {0};
    int mark = ms_scope_begin();
    CHECK(it && ms_data_iter_next(it, column) == MS_OK);
    CHECK(column[0] && ms_tensor_dtype(column[0]) == MS_FLOAT32 && ms_tensor_ndim(column[0]) == 4);
    CHECK(column[0] && ms_tensor_shape(column[0])[0] == 64 && ms_tensor_shape(column[0])[1] == 1);
    CHECK(column[1] && ms_tensor_dtype(column[1]) == MS_INT32 &&
          ((int32_t *)ms_tensor_data(column[1]))[0] == 9);
    ms_scope_end(mark, NULL, 0);
    ms_data_iter_free(it); /* in the middle */
    ms_dataset_unref(d);
    ms_data_set_seed(3);
    uint64_t one = checksum(1);
    CHECK(one != 0 && checksum(2) == one && checksum(5) == one);
    ms_data_set_debug(true);
    CHECK(checksum(4) == one);
    ms_data_set_debug(false);
}

static void write_file(const char *dir, const char *name, const void *data, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (f) fwrite(data, 1, n, f), fclose(f);
}

/* Opens dir and reads a row; true when that fails with a message that names `text`. */
static bool refuses(const char *dir, const char *text)
{
    ms_error_clear();
    MsDataset *d = ms_dataset_mnist(dir, "train", NULL);
    MsDataIter *it = ms_data_iter_new(d, 1);
    bool bad = !it && strstr(ms_error()->message, text) && strstr(ms_error()->message, "train-");
    if (!bad) printf("  expected '%s', got '%s'\n", text, ms_error()->message);
    ms_data_iter_free(it);
    ms_dataset_unref(d);
    ms_error_clear();
    return bad;
}

static void test_bad_files(void)
{
    char dir[] = "/tmp/ms_data_XXXXXX";
    CHECK(mkdtemp(dir));
    uint8_t images[16 + 2 * 784] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28};
    uint8_t labels[8 + 2] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
    CHECK(refuses(dir, "is not in the folder"));
    write_file(dir, "train-images-idx3-ubyte", images, sizeof images);
    write_file(dir, "train-labels-idx1-ubyte", labels, sizeof labels);
    int64_t v[4];
    ms_error_clear();
    CHECK(run(ms_dataset_map(ms_dataset_project(ms_dataset_mnist(dir, "train", NULL), "label"), 1,
                             (MsTransform *[]){MS_TRANSFORM("TypeCast", MS_INT64)}, NULL, NULL, 0),
              v, 4) == 2 &&
          v[0] == 5 && v[1] == 6);
    write_file(dir, "train-images-idx3-ubyte", images, sizeof images - 1);
    CHECK(refuses(dir, "truncated"));
    write_file(dir, "train-images-idx3-ubyte", images, 10);
    CHECK(refuses(dir, "truncated"));
    write_file(dir, "train-images-idx3-ubyte", "", 0);
    CHECK(refuses(dir, "truncated"));
    uint8_t longer[sizeof images + 1] = {0};
    memcpy(longer, images, sizeof images);
    write_file(dir, "train-images-idx3-ubyte", longer, sizeof longer);
    CHECK(refuses(dir, "goes on after"));
    images[2] = 9;
    write_file(dir, "train-images-idx3-ubyte", images, sizeof images);
    CHECK(refuses(dir, "magic"));
    images[2] = 8, images[7] = 3;
    write_file(dir, "train-images-idx3-ubyte", images, sizeof images);
    CHECK(refuses(dir, "truncated or corrupted"));
    images[4] = 255;
    write_file(dir, "train-images-idx3-ubyte", images, sizeof images);
    CHECK(refuses(dir, "truncated or corrupted"));
    images[4] = 0, images[7] = 1;
    write_file(dir, "train-images-idx3-ubyte", images, 16 + 784);
    CHECK(refuses(dir, "do not belong together"));
    unlink(strcat(strcpy((char[256]){0}, dir), "/train-images-idx3-ubyte"));
    write_file(dir, "train-images-idx3-ubyte.gz", "\x1f\x8b\x08\x00garbage that is no deflate stream", 37);
    CHECK(refuses(dir, "corrupted"));
    write_file(dir, "train-images-idx3-ubyte.gz", "hello", 5);
    CHECK(refuses(dir, "magic"));
    CHECK(!ms_dataset_mnist("/nope", NULL, NULL) && ms_error()->code == MS_ERROR_VALUE);
    ms_error_clear();
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK(system(command) == 0);
}

static MsStatus fail_at(void *ctx, uint64_t seed, int n_in, MsTensor *const *in, int *n_out, MsTensor **out)
{
    (void)seed;
    int64_t v = value_of(in[0]);
    if (v == *(int64_t *)ctx) return MS_FAIL(MS_ERROR_RUNTIME, "I do not like %lld.", (long long)v);
    *n_out = n_in;
    out[0] = in[0];
    return MS_OK;
}

static void test_errors(void)
{
    int64_t bad = 7, v[64];
    for (int workers = 1; workers <= 3; workers++) {
        MsHostTransform host = {.name = "picky", .run = fail_at, .ctx = &bad};
        MsDataset *d = ms_dataset_map(numbers(20, NULL), 1, (MsTransform *[]){ms_transform_host(&host)}, "x",
                                      NULL, workers);
        MsDataIter *it = ms_data_iter_new(d, 1);
        int n = 0;
        MsTensor *column[2];
        int mark = ms_scope_begin();
        MsStatus st;
        while ((st = ms_data_iter_next(it, column)) == MS_OK) n++;
        CHECK(n == 7 && st == MS_ERROR_RUNTIME && strstr(ms_error()->message, "[picky] failed.") &&
              strstr(ms_error()->message, "Column 'x' of row 7"));
        ms_error_clear();
        CHECK(ms_data_iter_next(it, column) == MS_ERROR_RUNTIME);
        ms_error_clear();
        ms_scope_end(mark, NULL, 0);
        ms_data_iter_free(it);
        ms_dataset_unref(d);
    }
    CHECK(!ms_transform_new("Nope", 0, NULL) && ms_error()->code == MS_ERROR_KEY);
    ms_error_clear();
    CHECK(!MS_TRANSFORM("Rescale", 1) && ms_error()->code == MS_ERROR_TYPE);
    ms_error_clear();
    CHECK(!ms_dataset_batch(numbers(3, NULL), 0, false) && ms_error()->code == MS_ERROR_VALUE);
    ms_error_clear();
    CHECK(!ms_dataset_map(numbers(3, NULL), 1, (MsTransform *[]){MS_TRANSFORM("Duplicate")}, "q", NULL, 0));
    ms_error_clear();
    CHECK(run(ms_dataset_map(numbers(3, NULL), 1, (MsTransform *[]){MS_TRANSFORM("Duplicate")}, "x", "x", 0),
              v, 64) == -1);
    ms_error_clear();
    CHECK(
        run(ms_dataset_map(numbers(3, NULL), 1, (MsTransform *[]){MS_TRANSFORM("Duplicate")}, "x", "x,x2", 0),
            v, 64) == 3);
}

/* Every allocation of a small pipeline fails once: an error, no crash, nothing left. */
static void test_refused(void)
{
    int64_t before = ms_memory_stats().n_live, v[64];
    int bad = 0, done = 0;
    for (int k = 1; k < 400 && !done; k++) {
        ms_error_clear();
        ms_memory_fail_after(k, false);
        MsDataset *d = ms_dataset_map(
            numbers(6, NULL), 2,
            (MsTransform *[]){MS_TRANSFORM("TypeCast", MS_INT32), MS_TRANSFORM("Fill", 4)}, "x", NULL, 2);
        d = ms_dataset_batch(ms_dataset_shuffle(ms_dataset_project(d, "y,x"), 3), 2, false);
        d = ms_dataset_map(d, 1, (MsTransform *[]){MS_TRANSFORM("Rescale", 2, 1)}, "y", NULL, 1);
        int n = run(ms_dataset_project(ms_dataset_take(d, 2), "x"), v, 64);
        ms_memory_fail_after(0, false);
        if (ms_memory_stats().n_live != before) bad++;
        if (n == -1 && ms_error()->code != MS_ERROR_MEMORY && ms_error()->code != MS_ERROR_VALUE) bad++;
        done = n >= 0 && k > 60;
    }
    ms_error_clear();
    CHECK(bad == 0);
}

int main(void)
{
    test_order();
    test_sizes();
    test_fashion();
    test_bad_files();
    test_errors();
    test_refused();
    CHECK(ms_memory_stats().n_live == 0);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
