/* mindspore_data.h - the data pipeline: read, shuffle, transform, batch and iterate, without Python.
 *
 *     MsDataset *d = ms_dataset_fashion_mnist("/usr/share/datasets/fashion-mnist", "train",
 * ms_sampler_random(false, 0)); d = ms_dataset_map(d, 2, (MsTransform *[]){MS_TRANSFORM("Rescale", 1 / 255.0,
 * 0), MS_TRANSFORM("HWC2CHW")}, "image", NULL, 0); d = ms_dataset_batch(d, 64, true); MsDataIter *it =
 * ms_data_iter_new(d, -1); while ((st = ms_data_iter_next(it, columns)) == MS_OK) ...     until
 * MS_ERROR_STOP: end of the epoch ms_data_iter_free(it), ms_dataset_unref(d);
 *
 * A dataset is an immutable description, shared freely; an iterator is one running pass over it, with its own
 * threads, which sleep when the consumer is slow.
 *
 * Rules    Constructors take over the references to datasets, samplers and transforms that they are given,
 * also when they fail; NULL among them passes an earlier failure on. Names are copied. An iterator belongs to
 *          one thread at a time. The same seed gives the same rows in the same order for any number of
 * workers.
 */
#ifndef MINDSPORE_DATA_H
#define MINDSPORE_DATA_H
#include "mindspore.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MS_DATA_MAX_COLUMN 32 /* columns of a row */

typedef struct MsDataset MsDataset;
typedef struct MsSampler MsSampler;
typedef struct MsTransform MsTransform;
typedef struct MsDataIter MsDataIter;

/* ---- configuration of iterators made from now on ------------------------------------------------ */

/* Seed of shuffles, samplers and random transforms. Until it is set every iterator draws its own. */
MS_API_EXPORT void ms_data_set_seed(uint32_t seed);
MS_API_EXPORT uint32_t ms_data_seed(void); /* 5489 until it is set */
/* The seed of a new iterator: the configured one, or drawn from the system. */
MS_API_EXPORT uint64_t ms_data_run_seed(void);
/* Rows that are made ready ahead of the consumer, at least 1 (16). Errors: VALUE. */
MS_API_EXPORT MsStatus ms_data_set_prefetch(int n);
MS_API_EXPORT int ms_data_prefetch(void);
/* Threads of a map that does not say otherwise, at least 1 (the number of processors, at most 8). */
MS_API_EXPORT MsStatus ms_data_set_workers(int n);
MS_API_EXPORT int ms_data_workers(void);
/* Everything runs in the thread that asks for the next row: for debuggers. */
MS_API_EXPORT void ms_data_set_debug(bool on);
MS_API_EXPORT bool ms_data_debug(void);

/* ---- samplers: in which order a source with random access is read ------------------------------- */

/* In every constructor num = 0 means "all". A child is sampled first; its result is what the parent sees. */
MS_API_EXPORT MsSampler *ms_sampler_sequential(int64_t start, int64_t num);
MS_API_EXPORT MsSampler *ms_sampler_random(bool replacement, int64_t num);
/* Shard `id` of `shards`: every shards-th row, the last ones padded from the beginning so that all shards are
 * equally long; with offset >= 0 the first row goes to shard `offset`. */
MS_API_EXPORT MsSampler *ms_sampler_distributed(int64_t shards, int64_t id, bool shuffle, int64_t num,
                                                int64_t offset);
MS_API_EXPORT MsSampler *ms_sampler_subset(int64_t n, const int64_t *index, bool shuffle, int64_t num);
/* Blocks of adjacent rows (the files of a dataset), size[k] rows each, all rows of the dataset together: in
 * random order, or in order with the rows of each mixed, or both. */
MS_API_EXPORT MsSampler *ms_sampler_blocks(int64_t n, const int64_t *size, bool shuffle_blocks,
                                           bool shuffle_rows);
MS_API_EXPORT MsSampler *ms_sampler_weighted(int64_t n, const double *weight, int64_t num, bool replacement);
/* num_val rows of each of the first num_class classes (0 = all), by the source's label column. */
MS_API_EXPORT MsSampler *ms_sampler_pk(int64_t num_val, int64_t num_class, bool shuffle, int64_t num);
/* Order from the host language: fill writes at most cap indices, sets *n, and is called once more with a
 * larger cap when *n > cap. `release` runs when the sampler goes. */
typedef struct MsHostSampler {
    MsStatus (*fill)(void *ctx, int64_t n_rows, int64_t epoch, int64_t cap, int64_t *index, int64_t *n);
    int64_t (*size)(void *ctx, int64_t n_rows); /* rows it will give, -1 = unknown */
    void (*release)(void *ctx);
    void *ctx;
} MsHostSampler;
MS_API_EXPORT MsSampler *ms_sampler_host(const MsHostSampler *host);
MS_API_EXPORT MsSampler *ms_sampler_chain(MsSampler *parent, MsSampler *child);
MS_API_EXPORT void ms_sampler_unref(MsSampler *s);

/* ---- transforms --------------------------------------------------------------------------------- */

/* A transform by its name in mindspore.dataset.vision or .transforms, with its arguments as numbers in the
 * order that ms_transform_signature shows. Errors: KEY (no such transform), VALUE, TYPE. */
MS_API_EXPORT MsTransform *ms_transform_new(const char *name, int n, const double *arg);
#define MS_TRANSFORM(name, ...)                                                                              \
    ms_transform_new(name, (int)(sizeof((double[]){0, ##__VA_ARGS__}) / sizeof(double)) - 1,                 \
                     (double[]){0, ##__VA_ARGS__} + 1)
MS_API_EXPORT const char *ms_transform_signature(const char *name); /* NULL and KEY when unknown */
/* Transforms one after the other; `prob` < 1 applies the whole with that probability. mode: 0 all in order, 1
 * one chosen at random, 2 all in random order. */
MS_API_EXPORT MsTransform *ms_transform_group(int n, MsTransform *const *op, int mode, double prob);
/* A function of the host language: reads in[0..n_in), sets *n_out and out[0..*n_out), which belong to the
 * open scope like every result. It may be called from several threads at a time. seed depends on the row's
 * place in the epoch alone. */
typedef struct MsHostTransform {
    const char *name;
    MsStatus (*run)(void *ctx, uint64_t seed, int n_in, MsTensor *const *in, int *n_out, MsTensor **out);
    void (*release)(void *ctx);
    void *ctx;
    bool ordered; /* rows must be presented one by one, in order */
} MsHostTransform;
MS_API_EXPORT MsTransform *ms_transform_host(const MsHostTransform *host);
MS_API_EXPORT MsTransform *ms_transform_ref(MsTransform *t);
MS_API_EXPORT void ms_transform_unref(MsTransform *t);
/* Applies a transform to tensors at once; out has room for MS_DATA_MAX_COLUMN. */
MS_API_EXPORT MsStatus ms_transform_apply(MsTransform *t, int n_in, MsTensor *const *in, int *n_out,
                                          MsTensor **out);

/* Writes an image, uint8 [h, w], [h, w, 1] or [h, w, 3]; format "jpeg" (quality 1..100) or "png" (level 0..9). On failure
 * no file is left. Errors: RUNTIME. */
MS_API_EXPORT MsStatus ms_image_write(const char *path, const char *format, MsTensor *image, int quality);

/* ---- sources ------------------------------------------------------------------------------------ */

/* usage: "train", "test", "all" (NULL = "all"). A folder with idx files, gzipped or not, named as published.
 * Columns image (uint8 [28, 28, 1]) and label (uint32 []). sampler NULL = in order of the file.
 * Errors: VALUE (folder, usage), IO and RUNTIME (files), each naming the file. */
MS_API_EXPORT MsDataset *ms_dataset_mnist(const char *dir, const char *usage, MsSampler *sampler);
MS_API_EXPORT MsDataset *ms_dataset_fashion_mnist(const char *dir, const char *usage, MsSampler *sampler);
/* Row i is [column[0][i], column[1][i], ...]; the columns are referenced, not copied. */
MS_API_EXPORT MsDataset *ms_dataset_slices(int n, MsTensor *const *column, const char *const *name,
                                           MsSampler *sampler);
/* Rows from the host language. Every iterator calls `open` (NULL: state = ctx) and `close`. Random access: `get` gives
 * one of `size` rows. Otherwise `begin` starts an epoch, and `get` is called with i = 0, 1, ... and gives MS_ERROR_STOP
 * at its end; size -1 = unknown. Results belong to the open scope. With several workers `get` is called from
 * several threads at a time. */
typedef struct MsSource {
    const char *name; /* for messages; not copied */
    int64_t size;
    bool random_access;
    MsStatus (*open)(void *ctx, void **state);
    MsStatus (*begin)(void *state, int64_t epoch); /* may be NULL */
    MsStatus (*get)(void *state, int64_t i, int n, MsTensor **column);
    void (*close)(void *state); /* may be NULL */
    void (*release)(void *ctx);
    void *ctx;
    MsStatus (*label)(void *ctx, int64_t i,
                      int64_t *label);             /* the class of row i, for ms_sampler_pk; may be NULL */
    const char *(*describe)(void *ctx, int64_t i); /* row i for messages, e.g. its file; may be NULL */
} MsSource;
MS_API_EXPORT MsDataset *ms_dataset_source(const MsSource *source, int n, const char *const *name,
                                           MsSampler *sampler, int workers);
/* What messages say of the rows of a source that does not describe them: the files that they come from. Before
 * the first iterator. */
MS_API_EXPORT MsStatus ms_dataset_origin(MsDataset *d, const char *text);

/* Row i holds the bytes of the file path[i] (uint8, the column name[0]) and row i of each of the `n_more` tensors (columns
 * name[1..]), of which the first is the class for ms_sampler_pk. Paths are copied, tensors referenced. */
MS_API_EXPORT MsDataset *ms_dataset_files(int64_t n, const char *const *path, int n_more,
                                          MsTensor *const *more, const char *const *name, MsSampler *sampler);

/* Rows of MindRecord files. The index, int64 [rows, 5], tells for each row its file, where in it the raw record begins and
 * how many bytes it has, and the same of the blob record. Fields are in the order of the schema; `column` picks among
 * them. After the rows come n_padded times the tensors `padded`. Everything is copied or referenced. */
typedef struct MsRecordField {
    const char *name;
    MsDtype dtype; /* INT32, INT64, FLOAT32, FLOAT64, STRING, BYTES */
    bool blob;     /* kept in the blob record: arrays and bytes */
    MsInts shape;  /* n = -1: none; one size may be -1 */
} MsRecordField;
typedef struct MsRecordFiles {
    int n_file, n_field, n_col;
    const char *const *path;
    const MsRecordField *field;
    const int *column;
    MsTensor *index;
    int64_t n_padded;
    MsTensor *const *padded;
} MsRecordFiles;
MS_API_EXPORT MsDataset *ms_dataset_mindrecord(const MsRecordFiles *files, MsSampler *sampler, int workers);

/* Rows that are stretches of files: the lines of text files (a column of text), or the records of TFRecord files, parsed as
 * `Example`. compression: NULL, "GZIP" or "ZLIB" (then a file is unpacked into a nameless temporary one). The files are
 * looked through by the constructor. kind "lines" or "records". Errors: RUNTIME, naming the file. */
typedef struct MsSpans MsSpans;
MS_API_EXPORT MsSpans *ms_spans_new(const char *kind, int n_file, const char *const *path,
                                    const char *compression);
MS_API_EXPORT int64_t ms_spans_count(const MsSpans *s, int file); /* rows of a file, -1: of all */
MS_API_EXPORT MsSpans *ms_spans_ref(MsSpans *s);
MS_API_EXPORT void ms_spans_unref(MsSpans *s);
MS_API_EXPORT MsDataset *ms_dataset_lines(MsSpans *s, const char *name, MsSampler *sampler, int workers);
/* A column of TFRecord: numbers are cast to dtype (NONE: int64, float32 or uint8, as the file has them); shape n = -1: as
 * the file has it, flat. */
typedef struct MsFeature {
    const char *name;
    MsDtype dtype;
    MsInts shape;
} MsFeature;
MS_API_EXPORT MsDataset *ms_dataset_tfrecord(MsSpans *s, int n, const MsFeature *feature, MsSampler *sampler,
                                             int workers);
/* The names of the features of the first record, sorted, separated by newlines; free() it. */
MS_API_EXPORT char *ms_spans_features(MsSpans *s);

/* ---- operations --------------------------------------------------------------------------------- */

/* Column lists are names separated by commas; NULL: `in` = the first column, `out` = the names of `in`.
 * Results take the place of the inputs. workers 0 = ms_data_workers(). Errors: VALUE (no such column), KEY.
 */
MS_API_EXPORT MsDataset *ms_dataset_map(MsDataset *d, int n, MsTransform *const *op, const char *in,
                                        const char *out, int workers);
/* Keeps the rows for which the host transform gives a true value. */
MS_API_EXPORT MsDataset *ms_dataset_filter(MsDataset *d, MsTransform *predicate, const char *in);
MS_API_EXPORT MsDataset *ms_dataset_batch(MsDataset *d, int64_t size, bool drop_remainder);
/* A batch with calls into the host language: `size` gives the next batch's size (NULL: the constant), `map`
 * turns the rows of a batch, row[r][c], in place (NULL: nothing) and may set *n_rows. `padded`: columns are
 * padded at the end to the largest size of the batch, or pad_shape[c] (n = -1: the column is not padded),
 * with pad_value[c]. */
typedef struct MsBatchInfo {
    int64_t epoch, batch;
} MsBatchInfo;
typedef struct MsBatchOptions {
    int64_t size;
    bool drop_remainder, padded;
    MsStatus (*next_size)(void *ctx, MsBatchInfo info, int64_t *size);
    /* column[c][r] in; out[c] must be set: the whole batched column */
    MsStatus (*map)(void *ctx, MsBatchInfo info, int64_t n_rows, int n_in, MsTensor *const *const *column,
                    int n_out, MsTensor **out);
    const char *in, *out;    /* columns of `map`, as in ms_dataset_map */
    const MsInts *pad_shape; /* per column; a size of -1 = the largest of the batch */
    const double *pad_value;
    /* Buckets: rows of similar length share a batch. Bucket k takes lengths below bucket_end[k], the last
     * one, n_bucket - 1, has no end; bucket_size[k] rows make a batch. length gives a row's length from the
     * columns `in`; NULL = the first size of that column. pad_to_bucket: open pad sizes become bucket_end - 1. */
    int n_bucket;
    const int64_t *bucket_end, *bucket_size;
    MsTransform *length; /* taken over */
    bool pad_to_bucket;
    void (*release)(void *ctx);
    void *ctx;
} MsBatchOptions;
MS_API_EXPORT MsDataset *ms_dataset_batch_with(MsDataset *d, const MsBatchOptions *options);
MS_API_EXPORT MsDataset *ms_dataset_shuffle(MsDataset *d, int64_t buffer); /* buffer >= 2 */
MS_API_EXPORT MsDataset *ms_dataset_repeat(MsDataset *d, int64_t count);   /* -1 = without end */
MS_API_EXPORT MsDataset *ms_dataset_take(MsDataset *d, int64_t count);     /* -1 = all */
MS_API_EXPORT MsDataset *ms_dataset_skip(MsDataset *d, int64_t count);
/* Rows shard, shard + shards, shard + 2 * shards, ... */
MS_API_EXPORT MsDataset *ms_dataset_shard(MsDataset *d, int64_t shards, int64_t shard);
MS_API_EXPORT MsDataset *ms_dataset_zip(int n, MsDataset *const *d);    /* as long as the shortest */
MS_API_EXPORT MsDataset *ms_dataset_concat(int n, MsDataset *const *d); /* one after the other */
MS_API_EXPORT MsDataset *ms_dataset_project(MsDataset *d, const char *columns);
MS_API_EXPORT MsDataset *ms_dataset_rename(MsDataset *d, const char *in, const char *out);

MS_API_EXPORT MsDataset *ms_dataset_ref(MsDataset *d);
MS_API_EXPORT void ms_dataset_unref(MsDataset *d);
MS_API_EXPORT int ms_dataset_n_columns(const MsDataset *d);
MS_API_EXPORT const char *ms_dataset_column(const MsDataset *d, int k);
/* Rows of an epoch, -1 = only known by running it. A repeat without end counts as one pass. */
MS_API_EXPORT int64_t ms_dataset_size(MsDataset *d);
MS_API_EXPORT int64_t ms_dataset_batch_size(MsDataset *d);   /* of the last batch operation; 1 without one */
MS_API_EXPORT int64_t ms_dataset_repeat_count(MsDataset *d); /* of the repeat operations together */

/* ---- iteration ---------------------------------------------------------------------------------- */

/* A pass of `epochs` epochs (-1 = no limit). The first row is asked for ahead of time by the first call of
 * next. */
MS_API_EXPORT MsDataIter *ms_data_iter_new(MsDataset *d, int64_t epochs);
/* Before the first row: the pass resumes at that epoch and row, as if it had given all before. The rows of the
 * epoch that were given are made again and dropped. */
MS_API_EXPORT MsStatus ms_data_iter_start_at(MsDataIter *it, int64_t epoch, int64_t row);
/* The next row into column[0..ms_dataset_n_columns). MS_ERROR_STOP, without an error record, at the end of
 * each epoch; the next call then begins the next one, or gives MS_ERROR_STOP again after the last. After any
 * other error the iterator only repeats it. */
MS_API_EXPORT MsStatus ms_data_iter_next(MsDataIter *it, MsTensor **column);
/* Stops the threads, also in the middle of their work, and frees the iterator. */
MS_API_EXPORT void ms_data_iter_free(MsDataIter *it);

#ifdef __cplusplus
}
#endif
#endif
