/* audio.h - what the transforms of sound share. */
#ifndef MS_DATA_AUDIO_H
#define MS_DATA_AUDIO_H
#include "data/data.h"

/* The input as a float64 copy of at least `rank` dimensions, in the open scope. */
MsTensor *ms__audio_input(MsTransformCall *c, int rank);
/* y (float64, or NULL after a failure) as result k: float64 if the input was, else float32. */
MsStatus ms__audio_output(MsTransformCall *c, int k, MsTensor *y);

extern const MsTransformKind ms__transforms_audio[], ms__transforms_spectrum[], ms__transforms_vad[];

#endif
