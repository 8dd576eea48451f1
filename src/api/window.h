/* window.h - the arguments of convolutions and pooling: kernel, stride, padding and dilation per spatial axis. */
#ifndef MS_API_WINDOW_H
#define MS_API_WINDOW_H
#include "api/api.h"

typedef struct MsWindow {
    int n; /* spatial axes */
    int64_t kernel[3], stride[3], low[3], high[3], dilation[3];
} MsWindow;

#define MS_SPAN(w, field) ((MsInts){(w)->n, (w)->field})

/* One number for all axes or one per axis into out; NONE leaves `otherwise`. */
MsStatus ms__per_axis(const MsArg *a, int n, int64_t least, const char *op, const char *name,
                      const int64_t *otherwise, int64_t *out);
/* Padding as a number, one per axis, or low and high per axis. */
MsStatus ms__window_pad(MsWindow *w, const MsArg *padding, const char *op);
/* "same": as many outputs as ceil(input / stride), the odd element at the high side. in: spatial sizes. */
void ms__window_same(MsWindow *w, const int64_t *in);
/* The original's modes: valid, same, pad; `padding` counts for pad and must be zero otherwise. */
MsStatus ms__window_mode(MsWindow *w, const char *mode, const MsArg *padding, const int64_t *in,
                         const char *op);
/* ceil_mode: raises `high` so that a last window that starts inside of the input or its low padding counts. */
void ms__window_ceil(MsWindow *w, const int64_t *in);

/* x [C, ...] with a batch axis in front where it lacks one (n spatial axes); *added tells. NULL on a wrong rank. */
MsTensor *ms__with_batch(MsTensor *x, int n, const char *op, bool *added);
MsTensor *ms__without_batch(MsTensor *y, bool added);
/* Averages over windows [floor(o in / out), ceil((o + 1) in / out)) of the n axes behind the first two. */
MsTensor *ms__adaptive_avg(MsTensor *x, int n, const int64_t *out);

#endif
