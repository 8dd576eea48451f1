/* image.h - encoded images to pixels, whole or a window, for the transforms that decode. */
#ifndef MS_DATA_IMAGE_H
#define MS_DATA_IMAGE_H
#include "data/data.h"

typedef struct MsWindow {
    int64_t top, left, h, w;
} MsWindow;

/* The size of an encoded image, from its header. Errors: RUNTIME (unknown format, damaged). */
MsStatus ms__image_size(const uint8_t *p, size_t n, int64_t *h, int64_t *w);

/* Pixels of at least `want` (NULL = all) as uint8 [h, w, 3], RGB, in the open scope; *got tells which part it is.
 * halve: JPEG only, decodes at 1 / 2^halve of the size; want and got then count in such pixels. */
MsTensor *ms__image_decode(const uint8_t *p, size_t n, const MsWindow *want, int halve, MsWindow *got);
/* True when ms__image_decode honours halve and saves work by a window. */
bool ms__image_is_jpeg(const uint8_t *p, size_t n);

/* ---- formats of their own file (tiff_gif.c), where the build has their libraries ---- */

MsStatus ms__tiff_size(const uint8_t *p, size_t n, int64_t *h, int64_t *w);
MsTensor *ms__tiff_decode(const uint8_t *p, size_t n);
MsStatus ms__gif_size(const uint8_t *p, size_t n, int64_t *h, int64_t *w);
MsTensor *ms__gif_decode(const uint8_t *p, size_t n);

/* ---- resizing (resize.c) ---- */

enum { /* the numbers of the skins' enumeration */
    MS_INTER_NEAREST = 0,
    MS_INTER_ANTIALIAS = 1,
    MS_INTER_LINEAR = 2,
    MS_INTER_CUBIC = 3,
    MS_INTER_AREA = 4,
    MS_INTER_PILCUBIC = 5
};

/* Resizes the window `part` of x ([h, w] or [h, w, c]) as if x were a window at `at` of a whole image, of which `part`
 * (in the whole image's pixels) is taken, to h x w, and keeps rows and columns `keep` of that. NULL part = whole x. */
MsTensor *ms__image_resize(MsTensor *x, const MsWindow *at, const MsWindow *part, int64_t h, int64_t w,
                           int inter, const MsWindow *keep);
/* The source pixels which that needs: a window of the whole image. */
MsWindow ms__resize_needs(const MsWindow *part, int64_t h, int64_t w, int inter, const MsWindow *keep);

#endif
