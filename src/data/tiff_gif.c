/* tiff_gif.c - TIFF by libtiff and the first frame of a GIF by giflib, both from memory. libtiff's RGBA reader converts
 * palettes, CMYK, YCbCr and bits; it rounds 16-bit values, so these are read by lines and cut to their upper byte, as
 * PNG's are. The orientation tag is applied. Refused: the other pages and frames, which a row has no place for. */
#include "data/image.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>

#if defined MS_HAVE_TIFF || defined MS_HAVE_GIF
static MsTensor *new_pixels(const char *format, int64_t h, int64_t w)
{
    if (h < 1 || w < 1 || h > 65535 || w > 65535 || h * w > ((int64_t)1 << 28))
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "Decode: image decode failed, the %s image is of %lld x %lld pixels.", format,
                            (long long)h, (long long)w);
    return ms_tensor_empty(MS_UINT8, 3, (int64_t[]){h, w, 3});
}

static MsStatus damaged(const char *format, const char *why)
{
    return MS_FAIL(MS_ERROR_RUNTIME, "Decode: image decode failed, the %s image is damaged: %s.", format,
                   why);
}
#endif

#ifdef MS_HAVE_TIFF
#include <tiffio.h>

typedef struct Memory {
    const uint8_t *p;
    toff_t n, at;
} Memory;

static tsize_t memory_read(thandle_t h, tdata_t to, tsize_t n)
{
    Memory *m = h;
    toff_t left = m->at < m->n ? m->n - m->at : 0;
    if ((toff_t)n > left) n = (tsize_t)left;
    memcpy(to, m->p + m->at, (size_t)n);
    m->at += (toff_t)n;
    return n;
}

static tsize_t memory_write(thandle_t h, tdata_t from, tsize_t n)
{
    (void)h;
    (void)from;
    (void)n;
    return 0;
}

static toff_t memory_seek(thandle_t h, toff_t to, int whence)
{
    Memory *m = h;
    m->at = whence == SEEK_CUR ? m->at + to : whence == SEEK_END ? m->n + to : to;
    return m->at;
}

static int memory_close(thandle_t h)
{
    (void)h;
    return 0;
}

static toff_t memory_size(thandle_t h)
{
    return ((Memory *)h)->n;
}

static TIFF *tiff_open(Memory *m, uint32_t *h, uint32_t *w, uint16_t *orientation)
{
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFF *t = TIFFClientOpen("memory", "rm", m, memory_read, memory_write, memory_seek, memory_close,
                             memory_size, NULL, NULL);
    if (!t || !TIFFGetField(t, TIFFTAG_IMAGEWIDTH, w) || !TIFFGetField(t, TIFFTAG_IMAGELENGTH, h)) {
        damaged("TIFF", "its header is not readable");
        if (t) TIFFClose(t);
        return NULL;
    }
    TIFFGetFieldDefaulted(t, TIFFTAG_ORIENTATION, orientation);
    return t;
}

MsStatus ms__tiff_size(const uint8_t *p, size_t n, int64_t *h, int64_t *w)
{
    Memory m = {p, n, 0};
    uint32_t th = 0, tw = 0;
    uint16_t o = 1;
    TIFF *t = tiff_open(&m, &th, &tw, &o);
    if (!t) return ms_error()->code;
    TIFFClose(t);
    *h = o >= 5 ? tw : th, *w = o >= 5 ? th : tw;
    return MS_OK;
}

/* Whether the values are 16-bit grey or RGB in whole lines. */
static bool is_wide(TIFF *t, uint16_t *samples)
{
    uint16_t bits = 0, planar = 0, photometric = 0;
    TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &photometric);
    return bits == 16 && planar == PLANARCONFIG_CONTIG && !TIFFIsTiled(t) &&
           (photometric == PHOTOMETRIC_MINISBLACK || (photometric == PHOTOMETRIC_RGB && *samples >= 3));
}

static bool read_wide(TIFF *t, uint8_t *y, uint32_t h, uint32_t w, uint16_t samples)
{
    tsize_t size = TIFFScanlineSize(t);
    uint16_t *line = size >= (tsize_t)w * samples * 2 ? malloc((size_t)size) : NULL;
    bool good = line != NULL;
    for (uint32_t r = 0; good && r < h; r++) {
        good = TIFFReadScanline(t, line, r, 0) == 1;
        for (uint32_t c = 0; good && c < w; c++)
            for (int k = 0; k < 3; k++) *y++ = (uint8_t)(line[c * samples + (samples >= 3 ? k : 0)] >> 8);
    }
    free(line);
    return good;
}

static bool read_rgba(TIFF *t, uint8_t *y, uint32_t h, uint32_t w, uint16_t orientation)
{
    uint32_t *raster = malloc((size_t)h * w * sizeof *raster);
    int as_stored = orientation >= 5 ? orientation - 4 : orientation; /* asks libtiff not to flip */
    bool good = raster && TIFFReadRGBAImageOriented(t, w, h, raster, as_stored, 1) == 1;
    for (size_t k = 0; good && k < (size_t)h * w; k++) {
        *y++ = (uint8_t)TIFFGetR(raster[k]);
        *y++ = (uint8_t)TIFFGetG(raster[k]);
        *y++ = (uint8_t)TIFFGetB(raster[k]);
    }
    free(raster);
    return good;
}

/* x as the orientation tag shows it: its first row is the top, the right side ... */
static MsTensor *turned(MsTensor *x, uint16_t orientation)
{
    if (orientation < 2 || orientation > 8) return x;
    bool swap = orientation >= 5;
    bool flip_y = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    bool flip_x = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    int64_t h = x->shape[0], w = x->shape[1];
    int64_t oh = swap ? w : h, ow = swap ? h : w;
    MsTensor *y = ms_tensor_empty(MS_UINT8, 3, (int64_t[]){oh, ow, 3});
    uint8_t *to = y ? (uint8_t *)y->data : NULL;
    for (int64_t r = 0; to && r < oh; r++)
        for (int64_t c = 0; c < ow; c++, to += 3) {
            int64_t vr = flip_y ? oh - 1 - r : r, vc = flip_x ? ow - 1 - c : c;
            memcpy(to, x->data + ((swap ? vc : vr) * w + (swap ? vr : vc)) * 3, 3);
        }
    return y;
}

MsTensor *ms__tiff_decode(const uint8_t *p, size_t n)
{
    Memory m = {p, n, 0};
    uint32_t h = 0, w = 0;
    uint16_t orientation = 1, samples = 1;
    TIFF *t = tiff_open(&m, &h, &w, &orientation);
    if (!t) return NULL;
    MsTensor *y = new_pixels("TIFF", h, w);
    bool good = y && (is_wide(t, &samples) ? read_wide(t, (uint8_t *)y->data, h, w, samples)
                                           : read_rgba(t, (uint8_t *)y->data, h, w, orientation));
    TIFFClose(t);
    if (y && !good) damaged("TIFF", "its data cannot be decoded");
    return good ? turned(y, orientation) : NULL;
}
#endif

#ifdef MS_HAVE_GIF
#include <gif_lib.h>

typedef struct GifBytes {
    const uint8_t *p;
    size_t n;
} GifBytes;

static int gif_read(GifFileType *g, GifByteType *to, int n)
{
    GifBytes *b = g->UserData;
    if (n < 0 || (size_t)n > b->n) n = (int)b->n;
    memcpy(to, b->p, (size_t)n);
    b->p += n, b->n -= (size_t)n;
    return n;
}

MsStatus ms__gif_size(const uint8_t *p, size_t n, int64_t *h, int64_t *w)
{
    if (n < 10) return damaged("GIF", "its header is not readable");
    *w = p[6] | p[7] << 8, *h = p[8] | p[9] << 8;
    return MS_OK;
}

/* Moves to the first frame. */
static bool gif_frame(GifFileType *g)
{
    GifRecordType kind;
    while (DGifGetRecordType(g, &kind) == GIF_OK && kind != TERMINATE_RECORD_TYPE) {
        if (kind == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(g) == GIF_OK;
        int code;
        GifByteType *block;
        if (kind != EXTENSION_RECORD_TYPE || DGifGetExtension(g, &code, &block) != GIF_OK) return false;
        while (block)
            if (DGifGetExtensionNext(g, &block) != GIF_OK) return false;
    }
    return false;
}

static bool gif_pixels(GifFileType *g, MsTensor *y)
{
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    const GifImageDesc *d = &g->Image;
    const ColorMapObject *map = d->ColorMap ? d->ColorMap : g->SColorMap;
    int64_t h = y->shape[0], w = y->shape[1];
    if (!map || d->Left < 0 || d->Top < 0 || d->Left + d->Width > w || d->Top + d->Height > h || d->Width < 1)
        return false;
    memset(y->data, 0, (size_t)y->numel);
    GifPixelType *line = malloc((size_t)d->Width);
    bool good = line != NULL;
    for (int pass = 0; good && pass < (d->Interlace ? 4 : 1); pass++)
        for (int r = d->Interlace ? first[pass] : 0; good && r < d->Height;
             r += d->Interlace ? step[pass] : 1) {
            good = DGifGetLine(g, line, d->Width) == GIF_OK;
            uint8_t *to = (uint8_t *)y->data + ((d->Top + r) * w + d->Left) * 3;
            for (int c = 0; good && c < d->Width; c++) {
                GifColorType colour = line[c] < map->ColorCount ? map->Colors[line[c]] : (GifColorType){0};
                *to++ = colour.Red, *to++ = colour.Green, *to++ = colour.Blue;
            }
        }
    free(line);
    return good;
}

MsTensor *ms__gif_decode(const uint8_t *p, size_t n)
{
    GifBytes bytes = {p, n};
    int code = 0;
    GifFileType *g = DGifOpen(&bytes, gif_read, &code);
    if (!g) return damaged("GIF", "its header is not readable"), NULL;
    MsTensor *y = new_pixels("GIF", g->SHeight, g->SWidth);
    bool good = y && gif_frame(g) && gif_pixels(g, y);
    DGifCloseFile(g, &code);
    if (y && !good) damaged("GIF", "its data cannot be decoded");
    return good ? y : NULL;
}
#endif
