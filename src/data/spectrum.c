/* spectrum.c - transforms between waveforms <..., time> and spectra <..., frequency, frames>, complex ones with a last axis
 * of 2. A short-time transform is a tensor of frames, one call of the library's fft and a loop; the inverse adds the frames
 * up again and divides by the sum of the squared windows (Griffin and Lim, Signal estimation from modified short-time
 * Fourier transform, 1984). Everything is computed in float64, as in audio.c. */
#include "data/audio.h"

#include "core/mem.h"
#include "core/tensor.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex Z;

static double square(Z z) /* of the magnitude */
{
    return creal(z) * creal(z) + cimag(z) * cimag(z);
}

typedef struct Frames {
    int64_t n_fft, win, hop;
    int window; /* Bartlett, Blackman, Hamming, Hann, Kaiser */
    bool normalized, center, onesided;
    int border; /* constant, edge, reflect, symmetric */
} Frames;

static double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; k < 200 && term > 1e-17 * sum; k++) term *= (x / 2 / k) * (x / 2 / k), sum += term;
    return sum;
}

static double window_at(int kind, double i, double n)
{
    double a = 2 * M_PI * i / n, r = 2 * i / n - 1;
    switch (kind) {
    case 0: return 1 - fabs(r);
    case 1: return 0.42 - 0.5 * cos(a) + 0.08 * cos(2 * a);
    case 2: return 0.54 - 0.46 * cos(a);
    case 3: return 0.5 - 0.5 * cos(a);
    default: return bessel_i0(12 * sqrt(1 - r * r > 0 ? 1 - r * r : 0)) / bessel_i0(12);
    }
}

/* The window in the middle of n_fft values; *energy = the sum of its squares. */
static double *make_window(const Frames *f, double *energy)
{
    double *w = ms__calloc((size_t)f->n_fft, sizeof *w);
    int64_t left = (f->n_fft - f->win) / 2;
    *energy = 0;
    for (int64_t i = 0; w && i < f->win; i++) {
        w[left + i] = f->win == 1 ? 1 : window_at(f->window, (double)i, (double)f->win);
        *energy += w[left + i] * w[left + i];
    }
    return w;
}

/* Where position i outside [0, n) takes its value from; -1 = zero. */
static int64_t border_index(int border, int64_t i, int64_t n)
{
    if (i >= 0 && i < n) return i;
    switch (border) {
    case 0: return -1;
    case 1: return i < 0 ? 0 : n - 1;
    case 2: return i < 0 ? -i : 2 * (n - 1) - i;
    default: return i < 0 ? -i - 1 : 2 * n - 1 - i;
    }
}

/* [lines, n] float64 -> [lines, frames, n_fft] complex128 */
static MsTensor *stft(const char *op, const Frames *f, int64_t lines, int64_t n, const double *x)
{
    int64_t side = f->center ? f->n_fft / 2 : 0;
    if (f->n_fft > n + 2 * side || (f->center && f->border == 2 && side >= n))
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "%s: n_fft should be more than 0 and less than %lld, but got n_fft: %lld.", op,
                            (long long)(f->center ? 2 * n : n), (long long)f->n_fft);
    int64_t frames = 1 + (n + 2 * side - f->n_fft) / f->hop, shape[] = {lines, frames, f->n_fft};
    double energy, *w = make_window(f, &energy);
    MsTensor *z = w ? ms_tensor_empty(MS_COMPLEX128, 3, shape) : NULL;
    for (int64_t l = 0; z && l < lines; l++)
        for (int64_t t = 0; t < frames; t++) {
            Z *to = (Z *)z->data + (l * frames + t) * f->n_fft;
            for (int64_t i = 0; i < f->n_fft; i++) {
                int64_t at = border_index(f->border, t * f->hop + i - side, n);
                to[i] = at < 0 ? 0 : x[l * n + at] * w[i];
            }
        }
    free(w);
    z = z ? ms_fft(z, 2, false) : NULL;
    z = z ? ms__data_contiguous(z) : NULL;
    if (!z || !f->normalized) return z;
    for (int64_t i = 0; i < z->numel; i++) ((Z *)z->data)[i] /= sqrt(energy);
    return z;
}

/* The way back, to [lines, *length] (< 0: what the frames cover). */
static MsTensor *istft(const Frames *f, MsTensor *z, int64_t *length)
{
    int64_t lines = z->shape[0], frames = z->shape[1], n = f->n_fft, full = n + f->hop * (frames - 1);
    int64_t side = f->center ? n / 2 : 0, keep = *length >= 0 ? *length : full - 2 * side;
    double energy, *w = make_window(f, &energy);
    double *sum = ms__calloc((size_t)full, sizeof *sum), *weight = ms__calloc((size_t)full, sizeof *weight);
    int64_t shape[] = {lines, keep > 0 ? keep : 0};
    MsTensor *y = w && sum && weight ? ms_tensor_empty(MS_FLOAT64, 2, shape) : NULL;
    z = y ? ms_fft(z, 2, true) : NULL;
    z = z ? ms__data_contiguous(z) : NULL;
    for (int64_t t = 0; z && t < frames; t++)
        for (int64_t i = 0; i < n; i++) weight[t * f->hop + i] += w[i] * w[i];
    double scale = (f->normalized ? sqrt(energy) : 1) / (double)n;
    for (int64_t l = 0; z && l < lines; l++) {
        memset(sum, 0, (size_t)full * sizeof *sum);
        for (int64_t t = 0; t < frames; t++) {
            const Z *frame = (Z *)z->data + (l * frames + t) * n;
            for (int64_t i = 0; i < n; i++) sum[t * f->hop + i] += creal(frame[i]) * w[i];
        }
        for (int64_t i = 0; i < shape[1]; i++) {
            int64_t at = i + side;
            ((double *)y->data)[l * shape[1] + i] =
                at < full ? sum[at] * scale / (weight[at] > 1e-11 ? weight[at] : 1) : 0;
        }
    }
    free(w);
    free(sum);
    free(weight);
    *length = shape[1];
    return z ? y : NULL;
}

/* x with its last `drop` axes replaced by those of `tail`. */
static MsTensor *shaped_like(MsTensor *x, int drop, int n_tail, const int64_t *tail)
{
    int64_t shape[MS_MAX_DIM];
    int lead = x->ndim - drop;
    memcpy(shape, x->shape, (size_t)lead * sizeof *shape);
    memcpy(shape + lead, tail, (size_t)n_tail * sizeof *shape);
    return ms_tensor_empty(MS_FLOAT64, lead + n_tail, shape);
}

static Frames
frames_of(const double *v) /* n_fft, win_length, hop_length, window, normalized, center, border, onesided */
{
    return (Frames){(int64_t)v[0], (int64_t)v[1], (int64_t)v[2], (int)v[3],
                    v[4] != 0,     v[5] != 0,     v[7] != 0,     (int)v[6]};
}

#define FRAMES "n_fft, win_length, hop_length, window, normalized, center, pad_mode, onesided"

static MsStatus check_frames(MsTransform *t)
{
    const double *v = t->arg;
    if (!(v[0] >= 1 && v[1] >= 1 && v[2] >= 1))
        return MS_FAIL(MS_ERROR_VALUE, "%s: n_fft, win_length and hop_length must be positive.",
                       t->kind->name);
    if (v[1] > v[0])
        return MS_FAIL(MS_ERROR_VALUE, "%s: win_length must be no more than n_fft.", t->kind->name);
    return MS_OK;
}

/* x with `pad` zeros on both sides of the last axis. */
static MsTensor *padded(MsTensor *x, int64_t pad)
{
    if (pad == 0) return x;
    int64_t n = x->shape[x->ndim - 1], wide = n + 2 * pad;
    MsTensor *y = shaped_like(x, 1, 1, &wide);
    for (int64_t l = 0; y && l * wide < y->numel; l++) {
        memset((double *)y->data + l * wide, 0, (size_t)wide * sizeof(double));
        memcpy((double *)y->data + l * wide + pad, (double *)x->data + l * n, (size_t)n * sizeof(double));
    }
    return y;
}

/* |z|^power, or z itself for power 0, of [lines, frames, n_fft] as <..., frequency, frames>. */
static MsTensor *spectrum(MsTensor *x, MsTensor *z, bool onesided, double power)
{
    int64_t n = z->shape[2], frames = z->shape[1], bins = onesided ? n / 2 + 1 : n,
            tail[] = {bins, frames, 2};
    MsTensor *y = shaped_like(x, 1, power == 0 ? 3 : 2, tail);
    double *q = y ? (double *)y->data : NULL;
    for (int64_t l = 0; y && l < z->shape[0]; l++)
        for (int64_t k = 0; k < bins; k++)
            for (int64_t t = 0; t < frames; t++) {
                Z v = ((Z *)z->data)[(l * frames + t) * n + k];
                if (power == 0)
                    *q++ = creal(v), *q++ = cimag(v);
                else
                    *q++ = power == 1 ? cabs(v) : power == 2 ? square(v) : pow(cabs(v), power);
            }
    return y;
}

static int64_t lines_of(MsTensor *x, int tail)
{
    int64_t n = 1;
    for (int d = 0; d < x->ndim - tail; d++) n *= x->shape[d];
    return n;
}

/* FRAMES, pad, power */
static MsTensor *spectrogram(MsTransformCall *c, MsTensor *x, double power)
{
    Frames f = frames_of(c->op->arg);
    x = padded(x, (int64_t)c->op->arg[8]);
    int64_t n = x ? x->shape[x->ndim - 1] : 0;
    MsTensor *z = x ? stft(c->op->kind->name, &f, lines_of(x, 1), n, (double *)x->data) : NULL;
    return z ? spectrum(x, z, f.onesided, power) : NULL;
}

static MsStatus run_spectrogram(MsTransformCall *c)
{
    MsTensor *x = ms__audio_input(c, 1);
    return ms__audio_output(c, 0, x ? spectrogram(c, x, c->op->arg[9]) : NULL);
}

/* FRAMES, pad, sample_rate: the mean frequency of each frame. */
static MsStatus run_centroid(MsTransformCall *c)
{
    MsTensor *x = ms__audio_input(c, 1), *s = x ? spectrogram(c, x, 1) : NULL;
    if (!s) return ms_error()->code;
    int64_t bins = s->shape[s->ndim - 2], frames = s->shape[s->ndim - 1], top = (int64_t)c->op->arg[9] / 2;
    MsTensor *y = shaped_like(s, 2, 2, (int64_t[]){1, frames});
    for (int64_t l = 0; y && l < lines_of(s, 2); l++)
        for (int64_t t = 0; t < frames; t++) {
            double sum = 0, moment = 0;
            for (int64_t k = 0; k < bins; k++) {
                double v = ((double *)s->data)[(l * bins + k) * frames + t];
                sum += v, moment += v * (double)(top * k) / (double)(bins - 1);
            }
            ((double *)y->data)[l * frames + t] = moment / sum;
        }
    return ms__audio_output(c, 0, y);
}

/* <..., frequency, frames, 2> -> [lines, frames, n_fft] complex128 */
static MsTensor *from_bins(const char *op, MsTensor *x, int64_t n_fft, bool onesided)
{
    int64_t bins = x->shape[x->ndim - 3], frames = x->shape[x->ndim - 2], lines = lines_of(x, 3);
    if (bins != (onesided ? n_fft / 2 + 1 : n_fft))
        return MS_FAIL_NULL(MS_ERROR_RUNTIME,
                            "%s: the frequency of the input should equal to n_fft / 2 + 1, but got %lld for "
                            "n_fft %lld.",
                            op, (long long)bins, (long long)n_fft);
    MsTensor *z = ms_tensor_empty(MS_COMPLEX128, 3, (int64_t[]){lines, frames, n_fft});
    for (int64_t l = 0; z && l < lines; l++)
        for (int64_t k = 0; k < bins; k++)
            for (int64_t t = 0; t < frames; t++) {
                Z v = ((Z *)x->data)[(l * bins + k) * frames + t],
                  *to = (Z *)z->data + (l * frames + t) * n_fft;
                to[k] = v;
                if (onesided && k > 0 && 2 * k < n_fft) to[n_fft - k] = conj(v);
            }
    return z;
}

static MsStatus need_complex(MsTransformCall *c, MsTensor *x)
{
    if (!x) return ms_error()->code;
    return x->shape[x->ndim - 1] == 2
               ? MS_OK
               : MS_FAIL(MS_ERROR_RUNTIME,
                         "%s: the shape of input tensor does not match the requirement of operator. "
                         "Expecting tensor in "
                         "shape of <..., freq, time, complex=2>. But got tensor with shape %s.",
                         c->op->kind->name, ms__shape_text(x->ndim, x->shape));
}

/* FRAMES, pad, length (0 = all) */
static MsStatus run_inverse(MsTransformCall *c)
{
    Frames f = frames_of(c->op->arg);
    MsTensor *x = ms__audio_input(c, 3);
    MS_TRY(need_complex(c, x));
    int64_t pad = (int64_t)c->op->arg[8], length = (int64_t)c->op->arg[9],
            n = length > 0 ? length + 2 * pad : -1;
    MsTensor *z = from_bins(c->op->kind->name, x, f.n_fft, f.onesided), *w = z ? istft(&f, z, &n) : NULL;
    if (!w) return ms_error()->code;
    int64_t cut = length > 0 ? pad : 0, keep = n - 2 * cut;
    MsTensor *y = shaped_like(x, 3, 1, &keep);
    for (int64_t l = 0; y && l < w->shape[0]; l++)
        memcpy((double *)y->data + l * keep, (double *)w->data + l * n + cut, (size_t)keep * sizeof(double));
    return ms__audio_output(c, 0, y);
}

static MsStatus check_griffin_lim(MsTransform *t)
{
    if (t->arg[10] >= 1)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "GriffinLim: momentum equal to or greater than 1 can be unstable, but got: %f",
                       t->arg[10]);
    return check_frames(t);
}

/* FRAMES, n_iter, power, momentum, length, rand_init: fast Griffin-Lim (Perraudin and others, 2013). Of what the step
 * before gave, m / (1 + 2 m) is subtracted, as in the original: it divides by 1 + m twice. */
static MsStatus run_griffin_lim(MsTransformCall *c)
{
    const double *v = c->op->arg;
    Frames f = frames_of(v);
    if (v[11] > 0 && v[11] <= (double)f.n_fft)
        return MS_FAIL(MS_ERROR_RUNTIME, "GriffinLim: n_fft must be less than length.");
    MsTensor *x = ms__audio_input(c, 2);
    if (!x) return ms_error()->code;
    int64_t bins = x->shape[x->ndim - 2], frames = x->shape[x->ndim - 1], lines = lines_of(x, 2),
            n = bins * frames;
    MsTensor *both = ms_tensor_empty(MS_FLOAT64, 4, (int64_t[]){lines, bins, frames, 2});
    Z *phase = ms__malloc((size_t)(lines * n) * sizeof *phase),
      *before = ms__calloc((size_t)(lines * n), sizeof *before);
    MsStatus st = both && phase && before ? MS_OK : ms_error()->code;
    double *mag = (double *)x->data, momentum = v[10] / (1 + 2 * v[10]);
    for (int64_t i = 0; st == MS_OK && i < lines * n; i++) {
        mag[i] = pow(mag[i], 1 / v[9]);
        double re = ms__data_unit(c->rng), im = ms__data_unit(c->rng);
        phase[i] = v[12] != 0 ? CMPLX(re, im) : 1;
    }
    MsTensor *w = NULL;
    int64_t length = 0;
    for (int64_t turn = 0; st == MS_OK && turn <= (int64_t)v[8]; turn++) {
        for (int64_t i = 0; i < lines * n; i++) ((Z *)both->data)[i] = mag[i] * phase[i];
        length = v[11] > 0 ? (int64_t)v[11] : -1;
        MsTensor *z = from_bins(c->op->kind->name, both, f.n_fft, f.onesided);
        w = z ? istft(&f, z, &length) : NULL;
        if (w && turn == (int64_t)v[8]) break;
        z = w ? stft(c->op->kind->name, &f, lines, length, (double *)w->data) : NULL;
        if (!z) st = ms_error()->code;
        for (int64_t l = 0; z && l < lines; l++)
            for (int64_t k = 0; k < bins; k++)
                for (int64_t t = 0; t < frames; t++) {
                    int64_t i = (l * bins + k) * frames + t;
                    Z now = t < z->shape[1] ? ((Z *)z->data)[(l * z->shape[1] + t) * f.n_fft + k] : 0;
                    Z a = now - momentum * before[i];
                    before[i] = now;
                    phase[i] = a / (cabs(a) + 1e-16);
                }
    }
    free(phase);
    free(before);
    if (st != MS_OK || !w) return st != MS_OK ? st : ms_error()->code;
    MsTensor *y = shaped_like(x, 2, 1, &length);
    if (y) memcpy(y->data, w->data, (size_t)y->numel * sizeof(double));
    return ms__audio_output(c, 0, y);
}

/* ---- values of spectra ---- */

/* rows_in, rows_out, matrix [rows_in, rows_out]: y[..., o, t] = sum_i m[i, o] x[..., i, t] */
static MsStatus run_bands(MsTransformCall *c)
{
    int64_t in = (int64_t)c->op->arg[0], out = (int64_t)c->op->arg[1];
    MsTensor *x = ms__audio_input(c, 2);
    if (!x) return ms_error()->code;
    int64_t rows = x->shape[x->ndim - 2], n = x->shape[x->ndim - 1];
    if (rows != in)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "%s: the frequency dimension of the input must be %lld, but got %lld.",
                       c->op->kind->name, (long long)in, (long long)rows);
    MsTensor *y = shaped_like(x, 2, 2, (int64_t[]){out, n});
    if (!y) return ms_error()->code;
    memset(y->data, 0, (size_t)y->numel * sizeof(double));
    for (int64_t l = 0; l < lines_of(x, 2); l++)
        for (int64_t o = 0; o < out; o++)
            for (int64_t i = 0; i < in; i++) {
                double m = c->op->arg[2 + i * out + o], *q = (double *)y->data + (l * out + o) * n;
                const double *p = (double *)x->data + (l * in + i) * n;
                for (int64_t t = 0; m != 0 && t < n; t++) q[t] += m * p[t];
            }
    return ms__audio_output(c, 0, y);
}

static MsStatus check_bands(MsTransform *t)
{
    return (double)t->n_arg == 2 + t->arg[0] * t->arg[1]
               ? MS_OK
               : MS_FAIL(MS_ERROR_VALUE, "%s: the matrix must be of rows_in x rows_out values.",
                         t->kind->name);
}

/* multiplier, ref_value, amin, top_db (< 0: none); the peak is that of a spectrogram <channel, frequency, time> */
static MsStatus run_to_db(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 1);
    if (!x) return ms_error()->code;
    double *p = (double *)x->data, ref = v[0] * log10(v[1] > v[2] ? v[1] : v[2]);
    int64_t block = x->ndim > 3 ? x->numel / (lines_of(x, 3) ? lines_of(x, 3) : 1) : x->numel;
    for (int64_t i = 0; i < x->numel; i++) p[i] = v[0] * log10(p[i] > v[2] ? p[i] : v[2]) - ref;
    for (int64_t at = 0; v[3] >= 0 && at < x->numel; at += block) {
        double peak = p[at];
        for (int64_t i = at; i < at + block; i++) peak = p[i] > peak ? p[i] : peak;
        for (int64_t i = at; i < at + block; i++) p[i] = p[i] > peak - v[3] ? p[i] : peak - v[3];
    }
    return ms__audio_output(c, 0, x);
}

/* Values (offset 0: one, 1 and 2: magnitude and phase) of complex numbers <..., 2>. */
static MsStatus complex_parts(MsTransformCall *c, bool mag, bool phase, double power)
{
    MsTensor *x = ms__audio_input(c, 1);
    MS_TRY(need_complex(c, x));
    MsTensor *m = shaped_like(x, 1, 0, NULL), *a = phase ? shaped_like(x, 1, 0, NULL) : NULL;
    if (!m || (phase && !a)) return ms_error()->code;
    for (int64_t i = 0; i < m->numel; i++) {
        Z z = ((Z *)x->data)[i];
        ((double *)m->data)[i] = power == 1 ? cabs(z) : pow(square(z), power / 2);
        if (phase) ((double *)a->data)[i] = carg(z);
    }
    if (mag) MS_TRY(ms__audio_output(c, 0, m));
    c->n_out = mag + phase;
    return phase ? ms__audio_output(c, mag, a) : MS_OK;
}

static MsStatus run_angle(MsTransformCall *c)
{
    return complex_parts(c, false, true, 1);
}

static MsStatus run_norm(MsTransformCall *c)
{
    return complex_parts(c, true, false, c->op->arg[0]);
}

static MsStatus run_magphase(MsTransformCall *c)
{
    return complex_parts(c, true, true, c->op->arg[0]);
}

/* win_length, border: the slope of the least-squares line through win_length values. */
static MsStatus run_deltas(MsTransformCall *c)
{
    MsTensor *x = ms__audio_input(c, 2), *y = x ? ms_tensor_empty(MS_FLOAT64, x->ndim, x->shape) : NULL;
    if (!y) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 1], m = ((int64_t)c->op->arg[0] - 1) / 2;
    double norm = (double)(m * (m + 1) * (2 * m + 1)) / 3;
    for (int64_t l = 0; l < lines_of(x, 1); l++)
        for (int64_t i = 0; i < n; i++) {
            double s = 0;
            for (int64_t k = -m; k <= m; k++) {
                int64_t at = border_index((int)c->op->arg[1], i + k, n);
                if (at >= 0 && at < n) s += (double)k * ((double *)x->data)[l * n + at];
            }
            ((double *)y->data)[l * n + i] = s / norm;
        }
    return ms__audio_output(c, 0, y);
}

/* cmn_window, min_cmn_window, center, norm_vars on <..., time, frequency> */
static MsStatus run_cmn(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 2), *y = x ? ms_tensor_empty(MS_FLOAT64, x->ndim, x->shape) : NULL;
    if (!y) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 2], m = x->shape[x->ndim - 1], window = (int64_t)v[0],
            least = (int64_t)v[1];
    for (int64_t l = 0; l < lines_of(x, 2); l++)
        for (int64_t t = 0; t < n; t++) {
            int64_t a = v[2] != 0 ? t - window / 2 : t - window, b = v[2] != 0 ? a + window : t + 1;
            if (a < 0) b -= a, a = 0;
            if (v[2] == 0 && b > t) b = t + 1 > least ? t + 1 : least;
            if (b > n) {
                a -= b - n;
                b = n;
                if (a < 0) a = 0;
            }
            const double *p = (double *)x->data + l * n * m;
            for (int64_t k = 0; k < m; k++) {
                double sum = 0, squares = 0, count = (double)(b - a);
                for (int64_t i = a; i < b; i++) sum += p[i * m + k], squares += p[i * m + k] * p[i * m + k];
                double r = p[t * m + k] - sum / count;
                if (v[3] != 0) r = b - a == 1 ? 0 : r / sqrt(squares / count - sum * sum / (count * count));
                ((double *)y->data)[(l * n + t) * m + k] = r;
            }
        }
    return ms__audio_output(c, 0, y);
}

/* ---- time and pitch ---- */

/* Resamples [lines, frames, n_fft or bins] in time, keeping phases coherent; step = the phase advance per bin. */
static MsTensor *vocode(MsTensor *z, double rate, const double *step)
{
    int64_t frames = z->shape[1], bins = z->shape[2], lines = z->shape[0],
            out = (int64_t)ceil((double)frames / rate);
    MsTensor *y = ms_tensor_empty(MS_COMPLEX128, 3, (int64_t[]){lines, out, bins});
    for (int64_t l = 0; y && l < lines; l++)
        for (int64_t k = 0; k < bins; k++) {
            const Z *p = (Z *)z->data + l * frames * bins + k;
            double phase = carg(p[0]);
            for (int64_t t = 0; t < out; t++) {
                double at = (double)t * rate, part = at - floor(at);
                int64_t i = (int64_t)at;
                Z a = i < frames ? p[i * bins] : 0, b = i + 1 < frames ? p[(i + 1) * bins] : 0;
                ((Z *)y->data)[(l * out + t) * bins + k] =
                    cexp(I * phase) * (part * cabs(b) + (1 - part) * cabs(a));
                double d = carg(b) - carg(a) - step[k];
                phase += d - 2 * M_PI * nearbyint(d / (2 * M_PI)) + step[k];
            }
        }
    return y;
}

/* rate, phase advance of each bin, on <..., frequency, frames, 2> */
static MsStatus run_vocoder(MsTransformCall *c)
{
    MsTensor *x = ms__audio_input(c, 3);
    MS_TRY(need_complex(c, x));
    int64_t bins = x->shape[x->ndim - 3], frames = x->shape[x->ndim - 2], lines = lines_of(x, 3);
    if (bins != c->op->n_arg - 1)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "%s: the phase advance is for %d frequencies, but the input has %lld.",
                       c->op->kind->name, c->op->n_arg - 1, (long long)bins);
    MsTensor *z = ms_tensor_empty(MS_COMPLEX128, 3, (int64_t[]){lines, frames, bins});
    for (int64_t l = 0; z && l < lines; l++)
        for (int64_t k = 0; k < bins; k++)
            for (int64_t t = 0; t < frames; t++)
                ((Z *)z->data)[(l * frames + t) * bins + k] = ((Z *)x->data)[(l * bins + k) * frames + t];
    z = z ? vocode(z, c->op->arg[0], c->op->arg + 1) : NULL;
    if (!z) return ms_error()->code;
    int64_t out = z->shape[1];
    MsTensor *y = shaped_like(x, 3, 3, (int64_t[]){bins, out, 2});
    for (int64_t l = 0; y && l < lines; l++)
        for (int64_t k = 0; k < bins; k++)
            for (int64_t t = 0; t < out; t++)
                ((Z *)y->data)[(l * bins + k) * out + t] = ((Z *)z->data)[(l * out + t) * bins + k];
    return ms__audio_output(c, 0, y);
}

/* A band-limited resampling from rate `from` to rate `to` (coprime) with a windowed sinc; kaiser < 0: a Hann window. */
static MsTensor *resampled(MsTensor *x, int64_t from, int64_t to, int64_t zeros, double rolloff,
                           double kaiser)
{
    double base = (double)(from < to ? from : to) * rolloff;
    int64_t width = (int64_t)ceil((double)(zeros * from) / base), taps = 2 * width + from;
    int64_t n = x->shape[x->ndim - 1], out = (n * to + from - 1) / from, lines = lines_of(x, 1);
    double *kernel = ms__malloc((size_t)(to * taps) * sizeof *kernel);
    MsTensor *y = kernel ? shaped_like(x, 1, 1, &out) : NULL;
    for (int64_t j = 0; y && j < to; j++)
        for (int64_t i = 0; i < taps; i++) {
            double t = (-(double)j / (double)to + (double)(i - width) / (double)from) * base,
                   z = (double)zeros;
            t = t < -z ? -z : t > z ? z : t;
            double shape = t / z, w = cos(shape * M_PI / 2);
            w = kaiser < 0 ? w * w : bessel_i0(kaiser * sqrt(1 - shape * shape)) / bessel_i0(kaiser);
            kernel[j * taps + i] = (t == 0 ? 1 : sin(t * M_PI) / (t * M_PI)) * w * base / (double)from;
        }
    for (int64_t l = 0; y && l < lines; l++)
        for (int64_t o = 0; o < out; o++) {
            const double *k = kernel + o % to * taps, *p = (double *)x->data + l * n;
            int64_t at = o / to * from - width;
            double s = 0;
            for (int64_t i = at < 0 ? -at : 0; i < taps && at + i < n; i++) s += k[i] * p[at + i];
            ((double *)y->data)[l * out + o] = s;
        }
    free(kernel);
    return y;
}

static MsTensor *resample(MsTensor *x, int64_t from, int64_t to, int64_t zeros, double rolloff, double kaiser)
{
    int64_t a = from, b = to;
    while (b) {
        int64_t r = a % b;
        a = b, b = r;
    }
    return from == to ? x : resampled(x, from / a, to / a, zeros, rolloff, kaiser);
}

/* orig_freq, new_freq, lowpass_filter_width, rolloff, beta (< 0: Hann) */
static MsStatus run_resample(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 1);
    return ms__audio_output(c, 0,
                            x ? resample(x, (int64_t)v[0], (int64_t)v[1], (int64_t)v[2], v[3], v[4]) : NULL);
}

/* FRAMES, sample_rate, n_steps, bins_per_octave: stretched in time, then resampled to the length it had. */
static MsStatus run_pitch_shift(MsTransformCall *c)
{
    const double *v = c->op->arg;
    Frames f = frames_of(v);
    MsTensor *x = ms__audio_input(c, 1);
    if (!x) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 1], lines = lines_of(x, 1), bins = f.n_fft / 2 + 1;
    double rate = exp2(-v[9] / v[10]);
    double *step = ms__malloc((size_t)f.n_fft * sizeof *step);
    MsTensor *z = step ? stft(c->op->kind->name, &f, lines, n, (double *)x->data) : NULL;
    for (int64_t k = 0; z && k < f.n_fft; k++)
        step[k] = M_PI * (double)f.hop * (double)(k < bins ? k : f.n_fft - k) / (double)(bins - 1);
    z = z ? vocode(z, rate, step) : NULL;
    for (int64_t r = 0; z && r < z->shape[0] * z->shape[1]; r++) /* the upper half mirrors the lower */
        for (int64_t k = 1; 2 * k < f.n_fft; k++)
            ((Z *)z->data)[r * f.n_fft + f.n_fft - k] = conj(((Z *)z->data)[r * f.n_fft + k]);
    free(step);
    int64_t length = (int64_t)nearbyint((double)n / rate);
    MsTensor *w = z ? istft(&f, z, &length) : NULL;
    w = w ? resample(w, (int64_t)(v[8] / rate), (int64_t)v[8], 6, 0.99, -1) : NULL;
    MsTensor *y = w ? ms_tensor_empty(MS_FLOAT64, x->ndim, x->shape) : NULL;
    if (!y) return ms_error()->code;
    int64_t m = w->shape[1], keep = m < n ? m : n;
    memset(y->data, 0, (size_t)y->numel * sizeof(double));
    for (int64_t l = 0; l < lines; l++)
        memcpy((double *)y->data + l * n, (double *)w->data + l * m, (size_t)keep * sizeof(double));
    return ms__audio_output(c, 0, y);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The lag at which a frame is most like what follows it; one half as long wins when it is nearly as good. */
static int64_t best_lag(const double *x, int64_t n, int64_t begin, int64_t frame, int64_t low, int64_t lags)
{
    double best = -INFINITY, half = -INFINITY;
    int64_t at = low, at_half = low;
    for (int64_t lag = low; lag < lags; lag++) {
        double dot = 0, a = 0, b = 0;
        for (int64_t i = begin; i < begin + frame; i++) {
            double p = i < n ? x[i] : 0, q = i + lag + 1 < n ? x[i + lag + 1] : 0;
            dot += p * q, a += p * p, b += q * q;
        }
        a = 1e-9 + sqrt(a), b = 1e-9 + sqrt(b);
        double v = dot / (a * a) / (b * b);
        if (v > best) best = v, at = lag;
        if (lag < lags / 2 && v > half) half = v, at_half = lag;
    }
    return (half > 0.99 * best ? at_half : at) + 1;
}

/* sample_rate, frame_time, win_length, freq_low, freq_high: one pitch for each frame, smoothed by a median. */
static MsStatus run_pitch(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 1);
    if (!x) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 1], frame = (int64_t)ceil(v[0] * v[1]), lags = (int64_t)ceil(v[0] / v[3]);
    int64_t frames = (n + frame - 1) / frame, low = (int64_t)ceil(v[0] / v[4]), win = (int64_t)v[2],
            left = (win - 1) / 2;
    int64_t out = frames + left - win + 1 > 0 ? frames + left - win + 1 : 0;
    double *found = ms__malloc((size_t)(frames + left) * sizeof *found),
           *part = ms__malloc((size_t)win * sizeof *part);
    MsTensor *y = found && part ? shaped_like(x, 1, 1, &out) : NULL;
    for (int64_t l = 0; y && l < lines_of(x, 1); l++) {
        for (int64_t t = 0; t < frames; t++)
            found[left + t] = (double)best_lag((double *)x->data + l * n, n, t * frame, frame, low, lags);
        for (int64_t t = 0; t < left; t++) found[t] = frames > 0 ? found[left] : 0;
        for (int64_t t = 0; t < out; t++) {
            memcpy(part, found + t, (size_t)win * sizeof *part);
            qsort(part, (size_t)win, sizeof *part, by_value);
            ((double *)y->data)[l * out + t] = v[0] / (1e-9 + part[(win - 1) / 2]);
        }
    }
    free(found);
    free(part);
    return ms__audio_output(c, 0, y);
}

enum {
    MANY = 1 << 24 /* a matrix as arguments */
};

const MsTransformKind ms__transforms_spectrum[] = {
    {"AmplitudeToDB", "multiplier, ref_value, amin, top_db", 4, 4, false, NULL, run_to_db, NULL},
    {"Angle", "", 0, 0, false, NULL, run_angle, NULL},
    {"Bands", "rows_in, rows_out, matrix...", 3, MANY, false, check_bands, run_bands, NULL},
    {"ComplexNorm", "power", 1, 1, false, NULL, run_norm, NULL},
    {"ComputeDeltas", "win_length, pad_mode", 2, 2, false, NULL, run_deltas, NULL},
    {"DetectPitchFrequency", "sample_rate, frame_time, win_length, freq_low, freq_high", 5, 5, false, NULL,
     run_pitch, NULL},
    {"GriffinLim", FRAMES ", n_iter, power, momentum, length, rand_init", 13, 13, false, check_griffin_lim,
     run_griffin_lim, NULL},
    {"InverseSpectrogram", FRAMES ", pad, length", 10, 10, false, check_frames, run_inverse, NULL},
    {"Magphase", "power", 1, 1, false, NULL, run_magphase, NULL},
    {"PhaseVocoder", "rate, phase_advance...", 2, MANY, false, NULL, run_vocoder, NULL},
    {"PitchShift", FRAMES ", sample_rate, n_steps, bins_per_octave", 11, 11, false, check_frames,
     run_pitch_shift, NULL},
    {"Resample", "orig_freq, new_freq, lowpass_filter_width, rolloff, beta", 5, 5, false, NULL, run_resample,
     NULL},
    {"SlidingWindowCmn", "cmn_window, min_cmn_window, center, norm_vars", 4, 4, false, NULL, run_cmn, NULL},
    {"SpectralCentroid", FRAMES ", pad, sample_rate", 10, 10, false, check_frames, run_centroid, NULL},
    {"Spectrogram", FRAMES ", pad, power", 10, 10, false, check_frames, run_spectrogram, NULL},
    {.name = NULL},
};
