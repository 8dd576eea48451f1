/* image_check.c - whether a tensor is an image that a transform takes: its type, its rank, its channels, in this order,
 * as the bits of MsTransformKind.takes say. One place, so that transforms compute and do not ask; the texts are the
 * original's, which scripts look into. */
#include "data/data.h"

#include "core/tensor.h"

#include <stdio.h>
#include <string.h>

/* In the order in which messages list them. */
static const MsDtype types[] = {MS_BOOL,  MS_INT8,    MS_UINT8,   MS_INT16,  MS_UINT16,
                                MS_INT32, MS_FLOAT16, MS_FLOAT32, MS_FLOAT64};

static bool allowed(int takes, MsDtype t)
{
    if (takes & MS_IMAGE_BASIC) return t == MS_UINT8 || t == MS_UINT16 || t == MS_FLOAT32;
    if (takes & MS_IMAGE_U8_F32) return t == MS_UINT8 || t == MS_FLOAT32;
    if (t == MS_FLOAT16 && (takes & MS_IMAGE_NO_HALF)) return false;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (types[k] == t) return true;
    return false;
}

static MsStatus wrong_type(const MsTransformKind *kind, MsDtype got)
{
    char list[160] = "";
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (allowed(kind->takes, types[k])) {
            if (*list) strcat(list, ", ");
            strcat(list, ms_dtype_name(types[k]));
        }
    return MS_FAIL(
        MS_ERROR_RUNTIME,
        "%s: the data type of image tensor does not match the requirement of operator. Expecting tensor in "
        "type of (%s). But got type %s.",
        kind->name, list, ms_dtype_name(got));
}

static MsStatus wrong_rank(const MsTransformKind *kind, int got)
{
    const char *advice = got == 1 ? " You may need to perform Decode first." : "";
    bool hwc = kind->takes & MS_IMAGE_HWC;
    if (hwc || (kind->takes & MS_IMAGE_FLAT))
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "%s: the dimension of image tensor does not match the requirement of operator. "
                       "Expecting tensor in "
                       "dimension of (%s), in shape of %s. But got dimension %d.%s",
                       kind->name, hwc ? "3" : "2, 3", hwc ? "<H, W, C>" : "<H, W> or <H, W, C>", got,
                       advice);
    if (kind->takes & MS_IMAGE_TYPES)
        return MS_FAIL(MS_ERROR_RUNTIME, "%s: the image tensor should have at least two dimensions.%s",
                       kind->name, " You may need to perform Decode first.");
    return MS_FAIL(MS_ERROR_RUNTIME, "%s: input tensor should have at least 2 dimensions, but got: %d",
                   kind->name, got);
}

MsStatus ms__image_check(const MsTransformKind *kind, const MsTensor *x)
{
    int takes = kind->takes;
    if ((takes & (MS_IMAGE_TYPES | MS_IMAGE_BASIC | MS_IMAGE_U8_F32)) && !allowed(takes, (MsDtype)x->dtype))
        return wrong_type(kind, (MsDtype)x->dtype);
    if (((takes & MS_IMAGE_HWC) && x->ndim != 3) ||
        ((takes & MS_IMAGE_FLAT) && x->ndim != 2 && x->ndim != 3) ||
        ((takes & MS_TAKES_FRAMES) && x->ndim < 2))
        return wrong_rank(kind, x->ndim);
    int64_t channels = x->ndim < 3 ? 1 : x->shape[x->ndim - 1];
    bool rgb = takes & MS_IMAGE_RGB;
    if ((rgb && channels != 3) || ((takes & MS_IMAGE_GREY_RGB) && channels != 1 && channels != 3))
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "%s: the channel of image tensor does not match the requirement of operator. Expecting tensor in "
            "channel of (%s). But got channel %lld.",
            kind->name, rgb ? "3" : "1, 3", (long long)channels);
    return MS_OK;
}
