/* image.c - encoded images to pixels and back: JPEG by libjpeg-turbo, PNG by libpng, WebP by libwebp, BMP here, TIFF
 * and GIF in tiff_gif.c. The libraries are optional: what was not there at build time is refused with a message that
 * says so. A JPEG is decoded only where the caller looks: rows above are skipped, columns beside are not transformed,
 * rows below are not read. The window is widened by a block on each side, so that its pixels equal those of the whole
 * image. Invariant: sizes are bounded before memory is asked for. Refused: OpenCV, which has all of this and brings
 * 40 MB. */
#include "data/image.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef MS_HAVE_JPEG
#include <jpeglib.h>
#endif
#ifdef MS_HAVE_PNG
#include <png.h>
#endif
#ifdef MS_HAVE_WEBP
#include <webp/decode.h>
#endif

#define MAX_SIDE 65500
#define MAX_PIXELS ((int64_t)1 << 29)

typedef enum Format {
    UNKNOWN,
    JPEG,
    PNG,
    BMP,
    WEBP,
    GIF,
    TIFF
} Format;

static const char *const format_name[] = {"unknown", "JPEG", "PNG", "BMP", "WebP", "GIF", "TIFF"};

static Format format_of(const uint8_t *p, size_t n)
{
    if (n >= 3 && memcmp(p, "\xff\xd8\xff", 3) == 0) return JPEG;
    if (n >= 8 && memcmp(p, "\x89PNG\r\n\x1a\n", 8) == 0) return PNG;
    if (n >= 2 && memcmp(p, "BM", 2) == 0) return BMP;
    if (n >= 12 && memcmp(p, "RIFF", 4) == 0 && memcmp(p + 8, "WEBP", 4) == 0) return WEBP;
    if (n >= 4 && memcmp(p, "GIF8", 4) == 0) return GIF;
    if (n >= 4 && (memcmp(p, "II*\0", 4) == 0 || memcmp(p, "MM\0*", 4) == 0)) return TIFF;
    return UNKNOWN;
}

bool ms__image_is_jpeg(const uint8_t *p, size_t n)
{
    return format_of(p, n) == JPEG;
}

static MsStatus no_format(const uint8_t *p, size_t n)
{
    Format f = format_of(p, n);
    if (f == UNKNOWN)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "Decode: image decode failed, the %zu bytes are not an image (JPEG, PNG, BMP, WebP, "
                       "TIFF and GIF are known).",
                       n);
    return MS_FAIL(MS_ERROR_RUNTIME, "Decode: image decode failed, this build cannot read %s images.",
                   format_name[f]);
}

static MsStatus damaged(Format f, const char *why)
{
    return MS_FAIL(MS_ERROR_RUNTIME, "Decode: image decode failed, the %s image is damaged: %s.",
                   format_name[f], why);
}

static MsStatus check_sides(Format f, int64_t h, int64_t w)
{
    if (h < 1 || w < 1) return damaged(f, "it has no pixels");
    if (h > MAX_SIDE || w > MAX_SIDE || h * w > MAX_PIXELS)
        return MS_FAIL(MS_ERROR_RUNTIME, "Decode: the %s image of %lld x %lld pixels is too large.",
                       format_name[f], (long long)h, (long long)w);
    return MS_OK;
}

static MsTensor *pixels(int64_t h, int64_t w)
{
    int64_t shape[] = {h, w, 3};
    return ms_tensor_empty(MS_UINT8, 3, shape);
}

/* ---- JPEG ---- */

#ifdef MS_HAVE_JPEG
typedef struct Jpeg {
    struct jpeg_decompress_struct d;
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    jmp_buf out;
    char why[JMSG_LENGTH_MAX];
    bool short_of_data;
} Jpeg;

static void jpeg_fail(j_common_ptr c)
{
    Jpeg *j = c->client_data;
    c->err->format_message(c, j->why);
    longjmp(j->out, 1);
}

/* Warnings pass, but for the one that the data ended too early. */
static void jpeg_warn(j_common_ptr c, int level)
{
    Jpeg *j = c->client_data;
    if (level >= 0) return;
    char text[JMSG_LENGTH_MAX];
    c->err->format_message(c, text);
    if (strstr(text, "Premature end")) j->short_of_data = true;
}

static Jpeg *jpeg_new(void)
{
    Jpeg *j = ms__calloc(1, sizeof *j);
    if (!j) return NULL;
    j->d.err = j->c.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = jpeg_fail;
    j->errors.emit_message = jpeg_warn;
    j->d.client_data = j->c.client_data = j;
    return j;
}

static void jpeg_free(Jpeg *j)
{
    if (j) {
        jpeg_destroy_decompress(&j->d);
        jpeg_destroy_compress(&j->c);
    }
    free(j);
}

static MsStatus jpeg_size(const uint8_t *p, size_t n, int64_t *h, int64_t *w)
{
    Jpeg *j = jpeg_new();
    if (!j) return ms_error()->code;
    MsStatus st = MS_OK;
    if (setjmp(j->out) == 0) {
        jpeg_create_decompress(&j->d);
        jpeg_mem_src(&j->d, (unsigned char *)p, n);
        jpeg_read_header(&j->d, TRUE);
        *h = j->d.image_height, *w = j->d.image_width;
    } else {
        st = damaged(JPEG, j->why);
    }
    jpeg_free(j);
    return st == MS_OK ? check_sides(JPEG, *h, *w) : st;
}

/* Rows of the window into `line`, then as RGB into the tensor. */
static void jpeg_rows(Jpeg *j, MsTensor *y, uint8_t *line, int64_t w, bool cmyk)
{
    for (int64_t r = 0; r < y->shape[0]; r++) {
        uint8_t *to = (uint8_t *)y->data + r * w * 3;
        JSAMPROW row = cmyk ? line : to;
        jpeg_read_scanlines(&j->d, &row, 1);
        for (int64_t x = 0; cmyk && x < w; x++)
            for (int c = 0; c < 3; c++) /* Adobe stores the inverse: full ink is 0 */
                to[x * 3 + c] = (uint8_t)((line[x * 4 + c] * line[x * 4 + 3] + 127) / 255);
    }
}

static MsStatus jpeg_run(Jpeg *j, const uint8_t *p, size_t n, const MsWindow *want, int halve, MsWindow *got,
                         MsTensor *volatile *y, uint8_t *volatile *line)
{
    if (setjmp(j->out) != 0) return damaged(JPEG, j->why);
    jpeg_create_decompress(&j->d);
    jpeg_mem_src(&j->d, (unsigned char *)p, n);
    jpeg_read_header(&j->d, TRUE);
    MS_TRY(check_sides(JPEG, j->d.image_height, j->d.image_width));
    bool cmyk = j->d.jpeg_color_space == JCS_CMYK || j->d.jpeg_color_space == JCS_YCCK;
    j->d.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    j->d.scale_num = 1;
    j->d.scale_denom = 1u << halve;
    jpeg_start_decompress(&j->d);
    int64_t all_h = j->d.output_height, all_w = j->d.output_width;
    *got = (MsWindow){0, 0, all_h, all_w};
    if (want) {
        int64_t left = want->left - 32 > 0 ? want->left - 32 : 0, right = want->left + want->w + 32;
        if (right > all_w) right = all_w;
        *got = (MsWindow){want->top, left, want->h, right - left};
        if (want->h < 1 || want->top < 0 || want->top + want->h > all_h || got->w < 1)
            return MS_FAIL(MS_ERROR_RUNTIME, "Decode: the window is not inside the image.");
    }
    if (got->w < all_w) {
        JDIMENSION at = (JDIMENSION)got->left, width = (JDIMENSION)got->w;
        jpeg_crop_scanline(&j->d, &at, &width);
        got->left = at, got->w = width;
    }
    *y = pixels(got->h, got->w);
    if (cmyk) *line = ms__malloc((size_t)got->w * 4);
    if (!*y || (cmyk && !*line)) return ms_error()->code;
    if (got->top > 0) jpeg_skip_scanlines(&j->d, (JDIMENSION)got->top);
    jpeg_rows(j, *y, *line, got->w, cmyk);
    if (j->d.output_scanline >= j->d.output_height) jpeg_finish_decompress(&j->d);
    return j->short_of_data ? damaged(JPEG, "it ends too early") : MS_OK;
}

static MsTensor *jpeg_decode(const uint8_t *p, size_t n, const MsWindow *want, int halve, MsWindow *got)
{
    Jpeg *j = jpeg_new();
    if (!j) return NULL;
    MsTensor *volatile y = NULL;
    uint8_t *volatile line = NULL;
    MsStatus st = jpeg_run(j, p, n, want, halve, got, &y, &line);
    jpeg_free(j);
    free(line);
    return st == MS_OK ? y : NULL;
}

static MsStatus jpeg_write(FILE *f, MsTensor *t, int64_t channels, int quality)
{
    Jpeg *j = jpeg_new();
    if (!j) return ms_error()->code;
    MsStatus st = MS_OK;
    if (setjmp(j->out) == 0) {
        jpeg_create_compress(&j->c);
        jpeg_stdio_dest(&j->c, f);
        j->c.image_height = (JDIMENSION)t->shape[0], j->c.image_width = (JDIMENSION)t->shape[1];
        j->c.input_components = (int)channels;
        j->c.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
        jpeg_set_defaults(&j->c);
        jpeg_set_quality(&j->c, quality, TRUE);
        jpeg_start_compress(&j->c, TRUE);
        while (j->c.next_scanline < j->c.image_height) {
            JSAMPROW row = (JSAMPROW)t->data + (int64_t)j->c.next_scanline * t->shape[1] * channels;
            jpeg_write_scanlines(&j->c, &row, 1);
        }
        jpeg_finish_compress(&j->c);
    } else {
        st = MS_FAIL(MS_ERROR_RUNTIME, "write_jpeg: %s.", j->why);
    }
    jpeg_free(j);
    return st;
}
#endif

/* ---- PNG ---- */

#ifdef MS_HAVE_PNG
static MsStatus png_open(png_image *image, const uint8_t *p, size_t n)
{
    *image = (png_image){.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(image, p, n)) return damaged(PNG, image->message);
    MsStatus st = check_sides(PNG, image->height, image->width);
    if (st != MS_OK) png_image_free(image);
    return st;
}

/* The samples as they are, alpha dropped, 16 bits by their upper 8: what a photograph's reader expects. */
typedef struct PngState {
    jmp_buf out;
    const uint8_t *p;
    size_t n, at;
    char why[160];
} PngState;

static void png_fail(png_structp png, png_const_charp why)
{
    PngState *s = png_get_error_ptr(png);
    snprintf(s->why, sizeof s->why, "%s", why);
    longjmp(s->out, 1);
}

static void png_quiet(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

static void png_take(png_structp png, png_bytep to, size_t n)
{
    PngState *s = png_get_io_ptr(png);
    if (n > s->n - s->at) png_error(png, "it ends too early");
    memcpy(to, s->p + s->at, n);
    s->at += n;
}

static MsTensor *png_decode(const uint8_t *p, size_t n)
{
    PngState *s = ms__calloc(1, sizeof *s);
    if (!s) return NULL;
    s->p = p, s->n = n;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, s, png_fail, png_quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    MsTensor *volatile y = NULL;
    png_bytep *volatile row = NULL;
    volatile MsStatus st = info ? MS_OK : MS_FAIL(MS_ERROR_MEMORY, "Out of memory.");
    if (st == MS_OK && setjmp(s->out) != 0) {
        st = damaged(PNG, s->why);
    } else if (st == MS_OK) {
        png_set_read_fn(png, s, png_take);
        png_read_info(png, info);
        int64_t h = png_get_image_height(png, info), w = png_get_image_width(png, info);
        png_set_expand(png);
        png_set_strip_16(png);
        png_set_strip_alpha(png);
        png_set_gray_to_rgb(png);
        png_set_interlace_handling(png);
        st = check_sides(PNG, h, w);
        if (st == MS_OK) png_read_update_info(png, info);
        if (st == MS_OK && png_get_rowbytes(png, info) != (size_t)w * 3)
            st = damaged(PNG, "its pixels have no RGB form");
        if (st == MS_OK) y = pixels(h, w);
        if (y) row = ms__malloc((size_t)h * sizeof *row);
        if (st == MS_OK && (!y || !row)) st = ms_error()->code;
        for (int64_t r = 0; st == MS_OK && r < h; r++) row[r] = (png_bytep)y->data + r * w * 3;
        if (st == MS_OK) {
            png_read_image(png, row);
            png_read_end(png, NULL);
        }
    }
    png_destroy_read_struct(&png, &info, NULL);
    free((void *)row);
    free(s);
    return st == MS_OK ? y : NULL;
}

static MsStatus png_write(FILE *f, MsTensor *t, int64_t channels, int level)
{
    PngState *s = ms__calloc(1, sizeof *s);
    if (!s) return ms_error()->code;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, s, png_fail, png_quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    MsStatus st = info ? MS_OK : MS_FAIL(MS_ERROR_MEMORY, "Out of memory.");
    if (info && setjmp(s->out) == 0) {
        png_init_io(png, f);
        png_set_IHDR(png, info, (png_uint_32)t->shape[1], (png_uint_32)t->shape[0], 8,
                     channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_set_compression_level(png, level);
        png_write_info(png, info);
        for (int64_t r = 0; r < t->shape[0]; r++)
            png_write_row(png, (png_const_bytep)t->data + r * t->shape[1] * channels);
        png_write_end(png, info);
    } else if (info) {
        st = MS_FAIL(MS_ERROR_RUNTIME, "write_png: %s.", s->why);
    }
    png_destroy_write_struct(&png, &info);
    free(s);
    return st;
}
#endif

/* ---- BMP: uncompressed, 1, 4, 8, 24 and 32 bits (Windows bitmap, BITMAPINFOHEADER and later) ---- */

typedef struct Bmp {
    int64_t h, w, bits, colours, line;
    const uint8_t *palette, *pixels;
    bool top_down;
} Bmp;

static uint32_t u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static MsStatus bmp_open(const uint8_t *p, size_t n, Bmp *b)
{
    if (n < 54) return damaged(BMP, "it ends in its header");
    uint32_t start = u32(p + 10), header = u32(p + 14), packing = u32(p + 30);
    int64_t h = (int32_t)u32(p + 22);
    *b = (Bmp){.h = h < 0 ? -h : h, .w = (int32_t)u32(p + 18), .bits = p[28] | p[29] << 8, .top_down = h < 0};
    if (header < 40 || header > n - 14) return damaged(BMP, "its header has an unknown size");
    if (packing != 0 && !(packing == 3 && b->bits == 32))
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "Decode: image decode failed, compressed BMP images are not supported.");
    MS_TRY(check_sides(BMP, b->h, b->w));
    if (b->bits != 1 && b->bits != 4 && b->bits != 8 && b->bits != 24 && b->bits != 32)
        return damaged(BMP, "its depth is unknown");
    b->line = (b->w * b->bits + 31) / 32 * 4;
    b->palette = p + 14 + header;
    b->colours = b->bits <= 8 ? (u32(p + 46) ? (int64_t)u32(p + 46) : 1 << b->bits) : 0;
    if (b->colours > 256 || 14 + header + (size_t)b->colours * 4 > n)
        return damaged(BMP, "it ends in its palette");
    if (start > n || (size_t)(b->line * b->h) > n - start) return damaged(BMP, "it ends too early");
    b->pixels = p + start;
    return MS_OK;
}

static MsTensor *bmp_decode(const uint8_t *p, size_t n)
{
    Bmp b;
    if (bmp_open(p, n, &b) != MS_OK) return NULL;
    MsTensor *y = pixels(b.h, b.w);
    for (int64_t r = 0; y && r < b.h; r++) {
        const uint8_t *line = b.pixels + (b.top_down ? r : b.h - 1 - r) * b.line;
        uint8_t *to = (uint8_t *)y->data + r * b.w * 3;
        for (int64_t x = 0; x < b.w; x++, to += 3) {
            const uint8_t *bgr;
            if (b.bits >= 24) {
                bgr = line + x * (b.bits / 8);
            } else {
                int64_t bit = x * b.bits, k = line[bit / 8] >> (8 - b.bits - bit % 8) & ((1 << b.bits) - 1);
                if (k >= b.colours) return damaged(BMP, "a pixel has no colour in the palette"), NULL;
                bgr = b.palette + k * 4;
            }
            to[0] = bgr[2], to[1] = bgr[1], to[2] = bgr[0];
        }
    }
    return y;
}

/* ---- by format ---- */

MsStatus ms__image_size(const uint8_t *p, size_t n, int64_t *h, int64_t *w)
{
    switch (format_of(p, n)) {
#ifdef MS_HAVE_JPEG
    case JPEG: return jpeg_size(p, n, h, w);
#endif
#ifdef MS_HAVE_PNG
    case PNG: {
        png_image image;
        MS_TRY(png_open(&image, p, n));
        *h = image.height, *w = image.width;
        png_image_free(&image);
        return MS_OK;
    }
#endif
#ifdef MS_HAVE_TIFF
    case TIFF: MS_TRY(ms__tiff_size(p, n, h, w)); return check_sides(TIFF, *h, *w);
#endif
#ifdef MS_HAVE_GIF
    case GIF: MS_TRY(ms__gif_size(p, n, h, w)); return check_sides(GIF, *h, *w);
#endif
#ifdef MS_HAVE_WEBP
    case WEBP: {
        int width, height;
        if (!WebPGetInfo(p, n, &width, &height)) return damaged(WEBP, "its header is not readable");
        *h = height, *w = width;
        return check_sides(WEBP, *h, *w);
    }
#endif
    case BMP: {
        Bmp b;
        MS_TRY(bmp_open(p, n, &b));
        *h = b.h, *w = b.w;
        return MS_OK;
    }
    default: return no_format(p, n);
    }
}

#ifdef MS_HAVE_WEBP
static MsTensor *webp_decode(const uint8_t *p, size_t n)
{
    int64_t h, w;
    if (ms__image_size(p, n, &h, &w) != MS_OK) return NULL;
    MsTensor *y = pixels(h, w);
    if (y && !WebPDecodeRGBInto(p, n, (uint8_t *)y->data, (size_t)y->numel, (int)w * 3))
        return damaged(WEBP, "its data cannot be decoded"), NULL;
    return y;
}
#endif

MsTensor *ms__image_decode(const uint8_t *p, size_t n, const MsWindow *want, int halve, MsWindow *got)
{
    MsTensor *y = NULL;
    (void)want;
    (void)halve;
    switch (format_of(p, n)) {
#ifdef MS_HAVE_JPEG
    case JPEG: return jpeg_decode(p, n, want, halve, got);
#endif
#ifdef MS_HAVE_PNG
    case PNG: y = png_decode(p, n); break;
#endif
#ifdef MS_HAVE_WEBP
    case WEBP: y = webp_decode(p, n); break;
#endif
#ifdef MS_HAVE_TIFF
    case TIFF: y = ms__tiff_decode(p, n); break;
#endif
#ifdef MS_HAVE_GIF
    case GIF: y = ms__gif_decode(p, n); break;
#endif
    case BMP: y = bmp_decode(p, n); break;
    default: no_format(p, n); break;
    }
    if (y) *got = (MsWindow){0, 0, y->shape[0], y->shape[1]};
    return y;
}

MsStatus ms_image_write(const char *path, const char *format, MsTensor *t, int quality)
{
    int64_t channels = t->ndim == 3 ? t->shape[2] : 1;
    if (t->dtype != MS_UINT8 || t->ndim < 2 || t->ndim > 3 || (channels != 1 && channels != 3) ||
        t->numel == 0)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "write_%s: the image must be uint8 of shape <H,W>, <H,W,1> or <H,W,3>, but got %s %s.",
                       format, ms_dtype_name((MsDtype)t->dtype), ms__shape_text(t->ndim, t->shape));
    MS_TRY(check_sides(UNKNOWN, t->shape[0], t->shape[1]));
    FILE *f = fopen(path, "wb");
    if (!f) return MS_FAIL(MS_ERROR_RUNTIME, "write_%s: the file '%s' cannot be written.", format, path);
    MsStatus st;
    (void)quality;
#ifdef MS_HAVE_JPEG
    if (strcmp(format, "jpeg") == 0)
        st = jpeg_write(f, t, channels, quality);
    else
#endif
#ifdef MS_HAVE_PNG
        if (strcmp(format, "png") == 0)
        st = png_write(f, t, channels, quality);
    else
#endif
        st = MS_FAIL(MS_ERROR_RUNTIME, "write_%s: this build cannot write %s images.", format, format);
    bool written = fflush(f) == 0 && !ferror(f); /* the library may have flushed before, in vain */
    struct stat info;
    bool regular = fstat(fileno(f), &info) == 0 && S_ISREG(info.st_mode);
    if (fclose(f) != 0) written = false;
    if (st == MS_OK && !written)
        st = MS_FAIL(MS_ERROR_RUNTIME, "write_%s: the file '%s' could not be written to its end.", format,
                     path);
    if (st != MS_OK && regular) remove(path);
    return st;
}
