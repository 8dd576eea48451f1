/* watch.h - what the skin for Python needs of the pipeline beyond mindspore_data.h. */
#ifndef MS_DATA_WATCH_H
#define MS_DATA_WATCH_H
#include "mindspore_data.h"

typedef enum MsWatchEvent {
    MS_WATCH_EPOCH_BEGIN,
    MS_WATCH_ROW,
    MS_WATCH_EPOCH_END
} MsWatchEvent;

/* A function of the host language that learns what passes: an epoch of the iterator (from 0) begins or has
 * ended, a row has come. `in_epoch` and `total` count the rows up to here. It may sleep, which holds the rows
 * back, and its failure is the pipeline's. */
typedef struct MsHostWatch {
    MsStatus (*tell)(void *ctx, MsWatchEvent event, int64_t epoch, int64_t in_epoch, int64_t total);
    void (*release)(void *ctx);
    void *ctx;
} MsHostWatch;

MS_API_EXPORT MsDataset *ms__dataset_watch(MsDataset *d, const MsHostWatch *watch);

/* What a row does that fails in a map: for iterators made from now on. */
typedef enum MsFailure {
    MS_FAILURE_ENDS,     /* ends the pass with an error */
    MS_FAILURE_REPLACES, /* gives way to another row of the epoch, at its end */
    MS_FAILURE_SKIPS     /* is left out */
} MsFailure;

MS_API_EXPORT void ms__data_set_on_failure(MsFailure f);
MS_API_EXPORT MsFailure ms__data_on_failure(void);

/* Before the first row: watching functions are not called in this pass. */
MS_API_EXPORT void ms__data_iter_unwatch(MsDataIter *it);
/* Rows are made ready from now on, not only from the first call of ms_data_iter_next on. */
MS_API_EXPORT MsStatus ms__data_iter_start(MsDataIter *it);

#endif
