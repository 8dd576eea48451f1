/* fft.c - the discrete Fourier transform along one axis; all of the public family is made of this one and of
 * slices. The sum has no factor, so the transform is its own transpose and the gradient is the other direction. */
#include "op/view.h"

#include "mindspore_ops.h"

static MsStatus infer_fft(MsInfer *c)
{
    int axis;
    if (c->in[0].ndim == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'fft', the input must have at least one axis.");
    MS_TRY(ms__axis(c->op, c->attr[0].i, c->in[0].ndim, &axis));
    if (c->in[0].shape[axis] == 0)
        return MS_FAIL(MS_ERROR_VALUE, "For 'fft', the axis %d must not be empty.", axis);
    c->out[0] = c->in[0];
    return MS_OK;
}

static MsStatus vjp_fft(MsVjp *c)
{
    c->grad[0] = ms_fft(c->ct[0], c->attr[0].i, !c->attr[1].i);
    return MS_OK;
}

static MsStatus batch_fft(MsBatch *c)
{
    MsTensor *x = ms__batch_front(c, 0);
    c->out_axis[0] = 0;
    c->out[0] = x ? ms_fft(x, c->attr[0].i < 0 ? c->attr[0].i : c->attr[0].i + 1, c->attr[1].i) : NULL;
    return ms__status_of(c->out[0]);
}

/* y_k = sum_j x_j exp(-2 pi i j k / n); with +2 pi i when inverse. */
MS_OP(fft, .sig = "fft(x: complex, *, axis: int, inverse: bool) -> x", .infer = infer_fft, .vjp = vjp_fft,
      .batch = batch_fft,
      .sample =
          "c128[8] axis=0; c64[3,6] axis=1; c128[5,2] axis=0 inverse; c128[11] axis=0; c64[1,37] axis=-1");
