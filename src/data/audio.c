/* audio.c - transforms of waveforms <..., time>: recursive filters and the biquads that designs give, gains, distortions,
 * delays and masks. Everything is computed in float64 and comes out as float32, or as float64 where that went in. Designs
 * are those of R. Bristow-Johnson, Cookbook formulae for audio EQ biquad filter coefficients; effects follow SoX. */
#include "data/data.h"

#include "core/mem.h"
#include "core/tensor.h"
#include "data/audio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

MsTensor *ms__audio_input(MsTransformCall *c, int rank)
{
    MsTensor *x = c->in[0];
    MsDtype t = (MsDtype)x->dtype;
    if (t == MS_BOOL || ms_dtype_is_complex(t) || x->ndim < rank)
        return MS_FAIL_NULL(
            MS_ERROR_RUNTIME,
            "%s: the data type of input tensor does not match the requirement of operator. Expecting "
            "numbers of at least %d dimensions, but got %s, shape %s.",
            c->op->kind->name, rank, ms_dtype_name(t), ms__shape_text(x->ndim, x->shape));
    if (t != MS_FLOAT64) return ms__data_cast(x, MS_FLOAT64);
    return ms_tensor_from(t, x->ndim, x->shape, x->data);
}

MsStatus ms__audio_output(MsTransformCall *c, int k, MsTensor *y)
{
    c->out[k] = !y || c->in[0]->dtype == MS_FLOAT64 ? y : ms__data_cast(y, MS_FLOAT32);
    return c->out[k] ? MS_OK : ms_error()->code;
}

/* ---- recursive filters ---- */

static double unit(double v)
{
    return v < -1 ? -1 : v > 1 ? 1 : v;
}

/* y[i] = (sum b[k] x[i-k] - sum a[k] y[i-k]) / a[0] over n samples; the recursion sees y before it is clamped. */
static void recur(int64_t n, const double *x, double *y, int m, const double *a, const double *b, bool clamp)
{
    double scale = 1 / a[0]; /* a division would be in the chain from sample to sample */
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        for (int k = 0; k < m && k <= i; k++) s += b[k] * x[i - k];
        for (int k = 1; k < m && k <= i; k++) s -= a[k] * y[i - k];
        y[i] = s * scale;
    }
    for (int64_t i = 0; clamp && i < n; i++) y[i] = unit(y[i]);
}

static MsStatus filter(MsTransformCall *c, int m, const double *a, const double *b, bool clamp,
                       bool both_ways)
{
    MsTensor *x = ms__audio_input(c, 1), *y = x ? ms_tensor_empty(MS_FLOAT64, x->ndim, x->shape) : NULL;
    if (!y) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 1];
    for (int64_t at = 0; n > 0 && at < x->numel; at += n) {
        double *p = (double *)x->data + at, *q = (double *)y->data + at;
        recur(n, p, q, m, a, b, clamp && !both_ways);
        if (!both_ways) continue;
        for (int64_t i = 0; i < n; i++) p[i] = q[n - 1 - i];
        recur(n, p, q, m, a, b, clamp);
        for (int64_t i = 0; i < n / 2; i++) {
            double keep = q[i];
            q[i] = q[n - 1 - i];
            q[n - 1 - i] = keep;
        }
    }
    return ms__audio_output(c, 0, y);
}

/* Arguments: clamp, then the coefficients a and as many b. */
static MsStatus check_coefficients(MsTransform *t)
{
    if (t->n_arg % 2 == 0)
        return MS_FAIL(MS_ERROR_VALUE, "%s: a_coeffs and b_coeffs must be equally long.", t->kind->name);
    if (t->arg[1] == 0) return MS_FAIL(MS_ERROR_VALUE, "%s: a_coeffs[0] must not be zero.", t->kind->name);
    return MS_OK;
}

static MsStatus run_lfilter(MsTransformCall *c)
{
    int m = (c->op->n_arg - 1) / 2;
    return filter(c, m, c->op->arg + 1, c->op->arg + 1 + m, c->op->arg[0] != 0, false);
}

static MsStatus run_filtfilt(MsTransformCall *c)
{
    int m = (c->op->n_arg - 1) / 2;
    return filter(c, m, c->op->arg + 1, c->op->arg + 1 + m, c->op->arg[0] != 0, true);
}

typedef struct Biquad {
    double b[3], a[3];
} Biquad;

/* The parts that most designs share, of (sample_rate, frequency, Q). */
typedef struct Angle {
    double w, cosine, alpha;
} Angle;

static Angle angle(double rate, double frequency, double q)
{
    double w = 2 * M_PI * frequency / rate;
    return (Angle){w, cos(w), sin(w) / 2 / q};
}

static double amplitude(double gain)
{
    return exp(gain / 40 * log(10));
}

static Biquad allpass(const double *v)
{
    Angle g = angle(v[0], v[1], v[2]);
    return (Biquad){{1 - g.alpha, -2 * g.cosine, 1 + g.alpha}, {1 + g.alpha, -2 * g.cosine, 1 - g.alpha}};
}

static Biquad band(const double *v) /* ..., noise */
{
    double w = 2 * M_PI * v[1] / v[0], a2 = exp(-2 * M_PI * v[1] / v[2] / v[0]),
           a1 = -4 * a2 / (1 + a2) * cos(w);
    double b0 = sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2);
    if (v[3] != 0) b0 *= sqrt(((1 + a2) * (1 + a2) - a1 * a1) * (1 - a2) / (1 + a2)) / b0;
    return (Biquad){{b0, 0, 0}, {1, a1, a2}};
}

static Biquad bandpass(const double *v) /* ..., const_skirt_gain */
{
    Angle g = angle(v[0], v[1], v[2]);
    double b = v[3] != 0 ? sin(g.w) / 2 : g.alpha;
    return (Biquad){{b, 0, -b}, {1 + g.alpha, -2 * g.cosine, 1 - g.alpha}};
}

static Biquad bandreject(const double *v)
{
    Angle g = angle(v[0], v[1], v[2]);
    return (Biquad){{1, -2 * g.cosine, 1}, {1 + g.alpha, -2 * g.cosine, 1 - g.alpha}};
}

/* A shelf: side 1 lifts what is below the frequency, -1 what is above. */
static Biquad shelf(double a, Angle g, double side)
{
    double t1 = 2 * sqrt(a) * g.alpha, t2 = side * (a - 1) * g.cosine, t3 = side * (a + 1) * g.cosine;
    return (Biquad){{a * ((a + 1) - t2 + t1), side * 2 * a * ((a - 1) - t3), a * ((a + 1) - t2 - t1)},
                    {(a + 1) + t2 + t1, side * -2 * ((a - 1) + t3), (a + 1) + t2 - t1}};
}

static Biquad bass(const double *v) /* sample_rate, gain, frequency, Q */
{
    return shelf(amplitude(v[1]), angle(v[0], v[2], v[3]), 1);
}

static Biquad treble(const double *v)
{
    return shelf(amplitude(v[1]), angle(v[0], v[2], v[3]), -1);
}

static Biquad deemph(const double *v) /* the de-emphasis of compact discs, ISO 908 */
{
    bool low = v[0] == 44100;
    double slope = low ? 0.4845 : 0.479, a = amplitude(low ? -9.477 : -9.62);
    Angle g = angle(v[0], low ? 5283 : 5356, 1);
    g.alpha = sin(g.w) / 2 * sqrt((a + 1 / a) * (1 / slope - 1) + 2);
    return shelf(a, g, -1);
}

static Biquad equalizer(const double *v) /* sample_rate, frequency, gain, Q */
{
    Angle g = angle(v[0], v[1], v[3]);
    double a = amplitude(v[2]);
    return (Biquad){{1 + g.alpha * a, -2 * g.cosine, 1 - g.alpha * a},
                    {1 + g.alpha / a, -2 * g.cosine, 1 - g.alpha / a}};
}

static Biquad highpass(const double *v)
{
    Angle g = angle(v[0], v[1], v[2]);
    return (Biquad){{(1 + g.cosine) / 2, -1 - g.cosine, (1 + g.cosine) / 2},
                    {1 + g.alpha, -2 * g.cosine, 1 - g.alpha}};
}

static Biquad lowpass(const double *v)
{
    Angle g = angle(v[0], v[1], v[2]);
    return (Biquad){{(1 - g.cosine) / 2, 1 - g.cosine, (1 - g.cosine) / 2},
                    {1 + g.alpha, -2 * g.cosine, 1 - g.alpha}};
}

static Biquad riaa(const double *v) /* the equalization of records: zeros and poles by sample rate */
{
    static const double table[][5] = {{44100, -0.2014898, 0.9233820, 0.7083149, 0.9924091},
                                      {48000, -0.1766069, 0.9321590, 0.7396325, 0.9931330},
                                      {88200, -0.1168735, 0.9648312, 0.8590646, 0.9964002},
                                      {96000, -0.1141486, 0.9676817, 0.8699137, 0.9966946}};
    const double *z = table[0];
    for (int k = 1; k < 4; k++)
        if (table[k][0] == v[0]) z = table[k];
    Biquad f = {{1, -(z[1] + z[2]), z[1] * z[2]}, {1, -(z[3] + z[4]), z[3] * z[4]}};
    double y = 2 * M_PI * 1000 / v[0]; /* 0 dB at 1 kHz */
    double b_re = f.b[0] + f.b[1] * cos(-y) + f.b[2] * cos(-2 * y),
           b_im = f.b[1] * sin(-y) + f.b[2] * sin(-2 * y);
    double a_re = f.a[0] + f.a[1] * cos(-y) + f.a[2] * cos(-2 * y),
           a_im = f.a[1] * sin(-y) + f.a[2] * sin(-2 * y);
    double gain = 1 / sqrt((b_re * b_re + b_im * b_im) / (a_re * a_re + a_im * a_im));
    for (int k = 0; k < 3; k++) f.b[k] *= gain;
    return f;
}

static Biquad plain(const double *v)
{
    return (Biquad){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

#define DESIGN(name)                                                                                         \
    static MsStatus run_##name(MsTransformCall *c)                                                           \
    {                                                                                                        \
        Biquad f = name(c->op->arg);                                                                         \
        return filter(c, 3, f.a, f.b, true, false);                                                          \
    }
DESIGN(allpass)
DESIGN(band)
DESIGN(bandpass)
DESIGN(bandreject)
DESIGN(bass)
DESIGN(treble)
DESIGN(deemph)
DESIGN(equalizer)
DESIGN(highpass)
DESIGN(lowpass)
DESIGN(riaa)
DESIGN(plain)
#undef DESIGN

/* ---- sample by sample ---- */

/* f sees sample i of n of the last axis. */
static MsStatus each(MsTransformCall *c, double (*f)(const double *arg, double x, int64_t i, int64_t n))
{
    MsTensor *x = ms__audio_input(c, 0);
    if (!x) return ms_error()->code;
    int64_t n = x->ndim > 0 ? x->shape[x->ndim - 1] : 1;
    double *v = (double *)x->data;
    for (int64_t at = 0; n > 0 && at < x->numel; at++) v[at] = f(c->op->arg, v[at], at % n, n);
    return ms__audio_output(c, 0, x);
}

static double contrast(const double *arg, double x, int64_t i, int64_t n)
{
    (void)i, (void)n;
    double t = x * M_PI / 2;
    return sin(t + arg[0] / 750 * sin(t * 4));
}

static double dc_shift(const double *arg, double x, int64_t i, int64_t n) /* shift, limiter_gain */
{
    (void)i, (void)n;
    double shift = arg[0], gain = arg[1], edge = 1 - (fabs(shift) - gain);
    if (shift > 0 && x > edge) {
        double y = (x - edge) * gain / (1 - edge) + edge + shift;
        return y > edge ? edge : y;
    }
    if (shift < 0 && x < -edge) {
        double y = (x + edge) * gain / (1 - edge) - edge + shift;
        return y < -edge ? -edge : y;
    }
    return unit(x + shift);
}

static double fade_curve(int shape, double f, bool in)
{
    double y = 0;
    if (shape == 3)
        return in ? log10(0.1 + f) + 1 : log10(1.1 - f) + 1; /* a little above 1 at the loud end */
    switch (shape) {
    case 0: y = in ? sin(f * M_PI / 2) : sin(f * M_PI / 2 + M_PI / 2); break;
    case 1: y = in ? sin(f * M_PI - M_PI / 2) / 2 + 0.5 : sin(f * M_PI + M_PI / 2) / 2 + 0.5; break;
    case 2: y = in ? f : 1 - f; break;
    default: y = in ? exp2(f - 1) * f : exp2(-f) * (1 - f);
    }
    return y < 0 ? 0 : y > 1 ? 1 : y;
}

static double fade(const double *arg, double x, int64_t i, int64_t n) /* fade_in_len, fade_out_len, shape */
{
    int64_t in = (int64_t)arg[0], out = (int64_t)arg[1];
    if (i < in) x *= fade_curve((int)arg[2], in > 1 ? (double)i / (double)(in - 1) : 0, true);
    if (i >= n - out)
        x *= fade_curve((int)arg[2], out > 1 ? (double)(i - (n - out)) / (double)(out - 1) : 0, false);
    return x;
}

static double gain(const double *arg, double x, int64_t i, int64_t n)
{
    (void)i, (void)n;
    return arg[0] == 0 ? x : x * pow(10, arg[0] / 20);
}

static double volume(const double *arg, double x, int64_t i, int64_t n) /* gain, type: amplitude, power, db */
{
    (void)i, (void)n;
    return unit(x * (arg[1] == 0 ? arg[0] : arg[1] == 1 ? sqrt(arg[0]) : pow(10, arg[0] / 20)));
}

static double db_to_amplitude(const double *arg, double x, int64_t i, int64_t n)
{
    (void)i, (void)n;
    return arg[0] * pow(pow(10, 0.1 * x), arg[1]);
}

#define EACH(name)                                                                                           \
    static MsStatus run_##name(MsTransformCall *c)                                                           \
    {                                                                                                        \
        return each(c, name);                                                                                \
    }
EACH(contrast)
EACH(dc_shift)
EACH(fade)
EACH(gain)
EACH(volume)
EACH(db_to_amplitude)
#undef EACH

static MsStatus check_fade(MsTransform *t)
{
    return t->arg[0] < 0 || t->arg[1] < 0
               ? MS_FAIL(MS_ERROR_VALUE, "Fade: fade_in_len and fade_out_len must not be negative.")
               : MS_OK;
}

static MsStatus run_fade_checked(MsTransformCall *c)
{
    MsTensor *x = c->in[0];
    int64_t n = x->ndim > 0 ? x->shape[x->ndim - 1] : 1;
    for (int k = 0; k < 2; k++)
        if (c->op->arg[k] > (double)n)
            return MS_FAIL(MS_ERROR_RUNTIME,
                           "Fade: %s should be less than waveform length, but got %lld > %lld.",
                           k ? "fade_out_len" : "fade_in_len", (long long)c->op->arg[k], (long long)n);
    return run_fade(c);
}

/* In float32 step by step, where that is the result, so that codes give the published values to the bit. */
static MsStatus run_mu_law_decode(MsTransformCall *c)
{
    MsTensor *x = ms__audio_input(c, 0);
    if (!x) return ms_error()->code;
    double *v = (double *)x->data, mu = c->op->arg[0] - 1;
    float m = (float)mu, scale = log1pf(m);
    for (int64_t i = 0; i < x->numel; i++) {
        if (c->in[0]->dtype == MS_FLOAT64) {
            double y = v[i] / mu * 2 - 1;
            v[i] = copysign(expm1(fabs(y) * log1p(mu)) / mu, y);
        } else {
            float y = (float)v[i] / m * 2 - 1;
            v[i] = copysignf((expf(fabsf(y) * scale) - 1) / m, y);
        }
    }
    return ms__audio_output(c, 0, x);
}

static MsStatus run_mu_law_encode(MsTransformCall *c)
{
    MsTensor *x = ms__audio_input(c, 0);
    if (!x) return ms_error()->code;
    double *v = (double *)x->data, mu = c->op->arg[0] - 1;
    for (int64_t i = 0; i < x->numel; i++)
        v[i] = trunc((copysign(log1p(mu * fabs(v[i])) / log1p(mu), v[i]) + 1) / 2 * mu + 0.5);
    c->out[0] = ms__data_cast(x, MS_INT32);
    return c->out[0] ? MS_OK : ms_error()->code;
}

static MsStatus run_overdrive(MsTransformCall *c) /* gain, color */
{
    MsTensor *x = ms__audio_input(c, 1);
    if (!x) return ms_error()->code;
    double *v = (double *)x->data, drive = exp(c->op->arg[0] * log(10) / 20), colour = c->op->arg[1] / 200;
    int64_t n = x->shape[x->ndim - 1];
    for (int64_t at = 0; n > 0 && at < x->numel; at += n) {
        double last_in = 0, last_out = 0;
        for (int64_t i = at; i < at + n; i++) {
            double t = v[i] * drive + colour;
            t = t < -1 ? -2. / 3 : t > 1 ? 2. / 3 : t - t * t * t / 3;
            last_out = t - last_in + 0.995 * last_out;
            last_in = t;
            v[i] = unit(v[i] * 0.5 + last_out * 0.75);
        }
    }
    return ms__audio_output(c, 0, x);
}

/* ---- delays that a slow wave moves ---- */

/* Sample i of n of a sine (or triangle) between low and high. */
static double wave(bool sine, int64_t i, int64_t n, double low, double high, double phase)
{
    int64_t point = (i + (int64_t)(phase / M_PI / 2 * (double)n + 0.5)) % n;
    double d;
    if (sine) {
        d = (sin((double)point / (double)n * 2 * M_PI) + 1) / 2;
    } else {
        d = (double)point * 2 / (double)n;
        int64_t quarter = 4 * point / n;
        d = quarter == 0 ? d + 0.5 : quarter == 3 ? d - 1.5 : 1.5 - d;
    }
    return d * (high - low) + low;
}

/* sample_rate, gain_in, gain_out, delay_ms, decay, mod_speed, sinusoidal */
static MsStatus run_phaser(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 1);
    if (!x) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 1], len = (int64_t)(v[3] * 0.001 * v[0] + 0.5),
            period = (int64_t)(v[0] / v[5] + 0.5);
    if (len < 1) len = 1;
    double *held = ms__malloc((size_t)len * sizeof *held), *p = (double *)x->data;
    if (!held) return ms_error()->code;
    for (int64_t at = 0; n > 0 && at < x->numel; at += n) {
        memset(held, 0, (size_t)len * sizeof *held);
        int64_t pos = 0;
        for (int64_t i = 0; i < n; i++) {
            double d = wave(v[6] != 0, i % period, period, 1, (double)len, M_PI / 2);
            int64_t from = (pos + (int64_t)(d + 0.5)) % len;
            pos = (pos + 1) % len;
            double t = p[at + i] * v[1] + held[from];
            held[pos] = t * v[4];
            p[at + i] = unit(t * v[2]);
        }
    }
    free(held);
    return ms__audio_output(c, 0, x);
}

/* sample_rate, delay, depth, regen, width, speed, phase, triangular, quadratic */
static MsStatus run_flanger(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 2);
    if (!x) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 1], channels = x->shape[x->ndim - 2];
    double feedback = v[3] / 100, wet = v[4] / 100, dry = 1 / (1 + wet);
    wet = wet / (1 + wet) * (1 - fabs(feedback));
    int64_t len = (int64_t)((v[1] + v[2]) / 1000 * v[0] + 0.5) + 2, period = (int64_t)(v[0] / v[5]);
    double low = floor(v[1] / 1000 * v[0] + 0.5), high = (double)len - 2;
    double *held = ms__malloc((size_t)len * sizeof *held), *p = (double *)x->data;
    if (!held) return ms_error()->code;
    for (int64_t at = 0, line = 0; n > 0 && at < x->numel; at += n, line++) {
        memset(held, 0, (size_t)len * sizeof *held);
        int64_t pos = 0, shift = (int64_t)((double)(line % channels) * (double)period * v[6] / 100 + 0.5);
        double last = 0;
        for (int64_t i = 0; i < n; i++) {
            pos = (pos + len - 1) % len;
            double d = wave(v[7] == 0, (i + shift) % period, period, low, high, 3 * M_PI / 2),
                   whole = floor(d);
            double in = p[at + i], part = d - whole;
            int64_t from = pos + (int64_t)whole;
            held[pos] = in + last * feedback;
            double d0 = held[from % len], d1 = held[(from + 1) % len];
            if (v[8] == 0) {
                last = d0 + (d1 - d0) * part;
            } else {
                double d2 = held[(from + 2) % len] - d0;
                d1 -= d0;
                last = d0 + ((d2 * 0.5 - d1) * part + (d1 * 2 - d2 * 0.5)) * part;
            }
            p[at + i] = unit(in * dry + last * wet);
        }
    }
    free(held);
    MsDtype t = (MsDtype)c->in[0]->dtype;
    if (ms_dtype_is_float(t)) return ms__audio_output(c, 0, x);
    c->out[0] = ms__data_cast(x, t); /* integers stay what they are, as in the original */
    return c->out[0] ? MS_OK : ms_error()->code;
}

/* ---- dither ---- */

/* density (triangular, rectangular, Gaussian), noise_shaping: to 16 bits. */
static MsStatus run_dither(MsTransformCall *c)
{
    MsTensor *x = ms__audio_input(c, 1);
    if (!x) return ms_error()->code;
    int64_t n = x->shape[x->ndim - 1];
    double *v = (double *)x->data, up = 32766, down = 32768, same = 0;
    if (n > 0 && x->numel > 0 && c->op->arg[0] != 0) {
        if (c->op->arg[0] == 1)
            same = v[ms__data_below(c->rng, (uint64_t)x->numel)] - 0.5;
        else
            for (int k = 0; k < 6; k++) same += v[ms__data_below(c->rng, (uint64_t)x->numel)];
    }
    for (int64_t at = 0; n > 0 && at < x->numel; at += n) {
        double error = 0;
        for (int64_t i = 0; i < n; i++) {
            double noise = c->op->arg[0] == 0 ? 1 - fabs(2.0 * (double)i / (double)n - 1) : same;
            double in = v[at + i], y = nearbyint(in * up + noise) / down;
            v[at + i] = c->op->arg[1] != 0 ? y + error : y;
            error = y - in;
        }
    }
    return ms__audio_output(c, 0, x);
}

/* ---- masks of a spectrogram <..., frequency, time> ---- */

static void mask(double *v, int64_t rows, int64_t cols, bool by_row, int64_t begin, int64_t width,
                 double value)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < cols; k++) {
            int64_t i = by_row ? r : k;
            if (i >= begin && i < begin + width) v[r * cols + k] = value;
        }
}

/* mask_start, mask_width, mask_value, axis: 1 = frequency, 2 = time */
static MsStatus run_mask(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 2);
    if (!x) return ms_error()->code;
    int64_t rows = x->shape[x->ndim - 2], cols = x->shape[x->ndim - 1], n = v[3] == 1 ? rows : cols;
    const char *what = v[3] == 1 ? "frequency" : "time";
    if (v[0] >= (double)n)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "%s: invalid parameter, 'mask_start' should be less than the length of the masked dimension, but "
            "got: %lld and length %lld.",
            c->op->kind->name, (long long)v[0], (long long)n);
    if (v[1] > (double)n)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "%s: invalid parameter, '%s_mask_param' should be less than or equal to the length of %s "
            "dimension, but got: %lld and length %lld.",
            c->op->kind->name, what, what, (long long)v[1], (long long)n);
    if (v[0] + v[1] > (double)n)
        return MS_FAIL(
            MS_ERROR_RUNTIME,
            "%s: the sum of 'mask_start' and 'mask_width' should be no more than the length of the masked "
            "dimension, but got: %lld + %lld and length %lld.",
            c->op->kind->name, (long long)v[0], (long long)v[1], (long long)n);
    for (int64_t at = 0; rows * cols > 0 && at < x->numel; at += rows * cols)
        mask((double *)x->data + at, rows, cols, v[3] == 1, (int64_t)v[0], (int64_t)v[1], v[2]);
    return ms__audio_output(c, 0, x);
}

/* mask_param, mask_value, axis: each spectrogram has a mask of its own, of random width below mask_param */
static MsStatus run_mask_iid(MsTransformCall *c)
{
    const double *v = c->op->arg;
    MsTensor *x = ms__audio_input(c, 2);
    if (!x) return ms_error()->code;
    int64_t rows = x->shape[x->ndim - 2], cols = x->shape[x->ndim - 1], n = v[2] == 1 ? rows : cols;
    if (v[0] > (double)n)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "%s: mask_param should be less than or equal to the length of the masked dimension, "
                       "but got: %lld "
                       "and length %lld.",
                       c->op->kind->name, (long long)v[0], (long long)n);
    for (int64_t at = 0; rows * cols > 0 && at < x->numel; at += rows * cols) {
        int64_t width = (int64_t)(ms__data_unit(c->rng) * v[0]);
        int64_t begin = (int64_t)(ms__data_unit(c->rng) * (double)(n - width));
        mask((double *)x->data + at, rows, cols, v[2] == 1, begin, width, v[1]);
    }
    return ms__audio_output(c, 0, x);
}

const MsTransformKind ms__transforms_audio[] = {
    {"AllpassBiquad", "sample_rate, central_freq, Q", 3, 3, false, NULL, run_allpass, NULL},
    {"BandBiquad", "sample_rate, central_freq, Q, noise", 4, 4, false, NULL, run_band, NULL},
    {"BandpassBiquad", "sample_rate, central_freq, Q, const_skirt_gain", 4, 4, false, NULL, run_bandpass,
     NULL},
    {"BandrejectBiquad", "sample_rate, central_freq, Q", 3, 3, false, NULL, run_bandreject, NULL},
    {"BassBiquad", "sample_rate, gain, central_freq, Q", 4, 4, false, NULL, run_bass, NULL},
    {"Biquad", "b0, b1, b2, a0, a1, a2", 6, 6, false, NULL, run_plain, NULL},
    {"Contrast", "enhancement_amount", 1, 1, false, NULL, run_contrast, NULL},
    {"DBToAmplitude", "ref, power", 2, 2, false, NULL, run_db_to_amplitude, NULL},
    {"DCShift", "shift, limiter_gain", 2, 2, false, NULL, run_dc_shift, NULL},
    {"DeemphBiquad", "sample_rate", 1, 1, false, NULL, run_deemph, NULL},
    {"Dither", "density_function, noise_shaping", 2, 2, false, NULL, run_dither, NULL},
    {"EqualizerBiquad", "sample_rate, center_freq, gain, Q", 4, 4, false, NULL, run_equalizer, NULL},
    {"Fade", "fade_in_len, fade_out_len, fade_shape", 3, 3, false, check_fade, run_fade_checked, NULL},
    {"Filtfilt", "clamp, a_coeffs..., b_coeffs...", 3, 4097, false, check_coefficients, run_filtfilt, NULL},
    {"Flanger", "sample_rate, delay, depth, regen, width, speed, phase, triangular, quadratic", 9, 9, false,
     NULL, run_flanger, NULL},
    {"Gain", "gain_db", 1, 1, false, NULL, run_gain, NULL},
    {"HighpassBiquad", "sample_rate, cutoff_freq, Q", 3, 3, false, NULL, run_highpass, NULL},
    {"LFilter", "clamp, a_coeffs..., b_coeffs...", 3, 4097, false, check_coefficients, run_lfilter, NULL},
    {"LowpassBiquad", "sample_rate, cutoff_freq, Q", 3, 3, false, NULL, run_lowpass, NULL},
    {"MaskAlongAxis", "mask_start, mask_width, mask_value, axis", 4, 4, false, NULL, run_mask, NULL},
    {"MaskAlongAxisIID", "mask_param, mask_value, axis", 3, 3, false, NULL, run_mask_iid, NULL},
    {"MuLawDecoding", "quantization_channels", 1, 1, false, NULL, run_mu_law_decode, NULL},
    {"MuLawEncoding", "quantization_channels", 1, 1, false, NULL, run_mu_law_encode, NULL},
    {"Overdrive", "gain, color", 2, 2, false, NULL, run_overdrive, NULL},
    {"Phaser", "sample_rate, gain_in, gain_out, delay_ms, decay, mod_speed, sinusoidal", 7, 7, false, NULL,
     run_phaser, NULL},
    {"RiaaBiquad", "sample_rate", 1, 1, false, NULL, run_riaa, NULL},
    {"TrebleBiquad", "sample_rate, gain, central_freq, Q", 4, 4, false, NULL, run_treble, NULL},
    {"Vol", "gain, gain_type", 2, 2, false, NULL, run_volume, NULL},
    {.name = NULL},
};
