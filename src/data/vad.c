/* vad.c - Vad, which cuts what comes before speech, as SoX's effect of this name does. At a steady pace the spectrum of the
 * last samples is taken, smoothed over time, and an estimate of the noise in it, which follows upward slowly and downward
 * fast, is taken away; the power of the cepstrum of the rest, between two quefrencies, is the measure of voice. Once its
 * average over time passes the trigger level the start is searched backwards in the measures that are kept: the last
 * stretch above the level, gaps allowed. Without a voice the part that would have been searched is kept. All channels are
 * cut at one place. */
#include "data/audio.h"

#include "core/tensor.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double complex Z;

enum { /* the arguments */
    RATE,
    TRIGGER_LEVEL,
    TRIGGER_TIME,
    SEARCH_TIME,
    ALLOWED_GAP,
    PRE_TRIGGER_TIME,
    BOOT_TIME,
    NOISE_UP_TIME,
    NOISE_DOWN_TIME,
    NOISE_REDUCTION,
    MEASURE_FREQ,
    MEASURE_DURATION, /* < 0: two periods */
    SMOOTH_TIME,
    HP_FILTER,
    LP_FILTER,
    HP_LIFTER,
    LP_LIFTER
};

typedef struct Range {
    int64_t from, to;
} Range;

typedef struct Vad {
    const double *arg;
    int64_t n, channels; /* samples; the channels */
    int64_t window, dft, period,
        kept;                  /* samples of a measure; of its transform; between two; measures kept */
    Range bins, lifter;        /* of the spectrum and of the cepstrum */
    double *taper, *bin_taper; /* [window], [bins] */
    double *spectrum, *noise, *level, *of; /* [channels][bins] twice, [channels], [channels][kept] */
} Vad;

static double *room(int64_t n)
{
    MsTensor *t = ms_tensor_empty(MS_FLOAT64, 1, &n);
    return t ? memset(t->data, 0, (size_t)n * sizeof(double)) : NULL;
}

/* A Hann window of n, times 2 / sqrt(n). */
static double *taper_new(int64_t n)
{
    double *w = room(n);
    for (int64_t i = 0; w && i < n; i++) w[i] = (1 - cos(2 * M_PI * (double)i / (double)n)) / sqrt((double)n);
    return w;
}

/* How much of a running average stays after one measure. */
static double stays(const Vad *v, int time)
{
    return exp(-1 / (v->arg[time] * v->arg[MEASURE_FREQ]));
}

static MsStatus vad_open(Vad *v, const MsTensor *x)
{
    const double *arg = v->arg, rate = arg[RATE], freq = arg[MEASURE_FREQ];
    v->n = x->shape[x->ndim - 1], v->channels = v->n ? x->numel / v->n : 0;
    v->window = (int64_t)(rate * (arg[MEASURE_DURATION] < 0 ? 2 / freq : arg[MEASURE_DURATION]) + 0.5);
    for (v->dft = 16; v->dft < v->window;) v->dft *= 2;
    v->period = (int64_t)(rate / freq + 0.5);
    v->kept = (int64_t)ceil(arg[SEARCH_TIME] * freq);
    v->bins.from = (int64_t)fmax(arg[HP_FILTER] / rate * (double)v->dft + 0.5, 1);
    v->bins.to = (int64_t)fmin(arg[LP_FILTER] / rate * (double)v->dft + 0.5, (double)(v->dft / 2));
    v->lifter.from = (int64_t)ceil(rate * 0.5 / arg[LP_LIFTER]);
    v->lifter.to = (int64_t)fmin(floor(rate * 0.5 / arg[HP_LIFTER]), (double)(v->dft / 4));
    if (v->window < 1 || v->bins.to <= v->bins.from || v->lifter.to <= v->lifter.from)
        return MS_FAIL(MS_ERROR_RUNTIME,
                       "Vad: at a sample_rate of %g there is nothing to measure: %lld samples, bins %lld to "
                       "%lld of the spectrum and %lld to %lld of the cepstrum.",
                       rate, (long long)v->window, (long long)v->bins.from, (long long)v->bins.to,
                       (long long)v->lifter.from, (long long)v->lifter.to);
    int64_t bins = v->bins.to - v->bins.from;
    v->taper = taper_new(v->window), v->bin_taper = taper_new(bins);
    v->spectrum = room(v->channels * bins), v->noise = room(v->channels * bins);
    v->level = room(v->channels), v->of = room(v->channels * (v->kept + 1));
    return v->taper && v->bin_taper && v->spectrum && v->noise && v->level && v->of ? MS_OK
                                                                                    : ms_error()->code;
}

/* The voice in the samples x[end - window, end) of a channel, zeros before the first; boot counts the first measures, over
 * which averages are plain. Leaves NAN after an error. */
static double measure(Vad *v, int64_t channel, const double *x, int64_t end, int64_t boot)
{
    int64_t bins = v->bins.to - v->bins.from, half = v->dft / 2;
    double *spectrum = v->spectrum + channel * bins, *noise = v->noise + channel * bins, sum = 0;
    double keep = boot >= 0 ? (double)boot / (1 + (double)boot) : stays(v, SMOOTH_TIME);
    double up = stays(v, NOISE_UP_TIME), down = stays(v, NOISE_DOWN_TIME);
    MsTensor *z = ms_tensor_empty(MS_COMPLEX128, 1, &v->dft), *c = ms_tensor_empty(MS_COMPLEX128, 1, &half);
    if (!z || !c) return NAN;
    memset(z->data, 0, (size_t)v->dft * sizeof(Z));
    memset(c->data, 0, (size_t)half * sizeof(Z));
    for (int64_t i = 0; i < v->window; i++)
        if (end - v->window + i >= 0) ((Z *)z->data)[i] = x[end - v->window + i] * v->taper[i];
    if (!(z = ms_fft(z, 0, false)) || !(z = ms__data_contiguous(z))) return NAN;
    for (int64_t i = 0; i < bins; i++) {
        spectrum[i] = spectrum[i] * keep + cabs(((Z *)z->data)[v->bins.from + i]) * (1 - keep);
        double power = spectrum[i] * spectrum[i], share = boot >= 0 ? 0 : power > noise[i] ? up : down;
        noise[i] = noise[i] * share + power * (1 - share);
        double rest = fmax(0, power - v->arg[NOISE_REDUCTION] * noise[i]);
        ((Z *)c->data)[i] = sqrt(rest) * v->bin_taper[i];
    }
    if (!(c = ms_fft(c, 0, false)) || !(c = ms__data_contiguous(c))) return NAN;
    for (int64_t i = v->lifter.from; i < v->lifter.to; i++) {
        Z at = ((Z *)c->data)[i];
        sum += creal(at) * creal(at) + cimag(at) * cimag(at);
    }
    return sum > 0 ? fmax(0, 21 + log(sum / (double)(v->lifter.to - v->lifter.from))) : 0;
}

/* How many measures back from number `last` of a channel the sound that triggered began. */
static int64_t look_back(const Vad *v, const double *of, int64_t last)
{
    int64_t gap = (int64_t)(v->arg[ALLOWED_GAP] * v->arg[MEASURE_FREQ] + 0.5);
    int64_t above = v->kept, silent = v->kept;
    for (int64_t j = 0; j < v->kept; j++) {
        double m = of[(last - j + v->kept) % v->kept];
        if (m >= v->arg[TRIGGER_LEVEL] && j <= above + gap)
            silent = above = j;
        else if (m == 0 && above >= silent)
            silent = j;
    }
    return silent < v->kept - 1 ? silent : v->kept - 1;
}

/* The first sample to keep, counted from the end when negative. */
static MsStatus search(Vad *v, const double *x, int64_t *start)
{
    const double *arg = v->arg, slow = stays(v, TRIGGER_TIME);
    int64_t boot = 0, boots = (int64_t)(arg[BOOT_TIME] * arg[MEASURE_FREQ] - 0.5), at = 0, timer = v->window;
    int64_t flush = 0, pos = 0;
    bool triggered = false;
    for (; pos < v->n && !triggered; pos++) {
        if (--timer != 0) continue;
        for (int64_t c = 0; c < v->channels; c++) {
            int mark = ms_scope_begin();
            double m = measure(v, c, x + c * v->n, pos, boot), *of = v->of + c * v->kept;
            ms_scope_end(mark, NULL, 0);
            if (isnan(m) && ms_error()->code != MS_OK) return ms_error()->code;
            of[at] = m;
            v->level[c] = v->level[c] * slow + m * (1 - slow);
            triggered |= v->level[c] >= arg[TRIGGER_LEVEL];
            int64_t back = triggered ? look_back(v, of, at) : 0;
            if (back > flush) flush = back;
        }
        timer = v->period;
        if (v->kept) at = (at + 1) % v->kept;
        if (boot >= 0) boot = boot == boots ? -1 : boot + 1;
    }
    int64_t lead = (int64_t)(arg[PRE_TRIGGER_TIME] * arg[RATE] + 0.5) + v->kept * v->period +
                   v->window; /* that a ring would hold */
    *start = pos - lead + (triggered ? (v->kept - flush) * v->period : 0);
    return MS_OK;
}

static MsStatus run_vad(MsTransformCall *c)
{
    Vad v = {.arg = c->op->arg};
    MsTensor *x = ms__audio_input(c, 1);
    if (!x) return ms_error()->code;
    int64_t start = 0, shape[MS_MAX_DIM];
    MS_TRY(vad_open(&v, x));
    MS_TRY(search(&v, (double *)x->data, &start));
    if (start < 0) start = start + v.n > 0 ? start + v.n : 0;
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim - 1] = v.n - start;
    MsTensor *y = ms_tensor_empty(MS_FLOAT64, x->ndim, shape);
    for (int64_t k = 0; y && k < v.channels; k++)
        memcpy((double *)y->data + k * (v.n - start), (double *)x->data + k * v.n + start,
               (size_t)(v.n - start) * sizeof(double));
    return ms__audio_output(c, 0, y);
}

const MsTransformKind ms__transforms_vad[] = {
    {"Vad",
     "sample_rate, trigger_level, trigger_time, search_time, allowed_gap, pre_trigger_time, boot_time, "
     "noise_up_time, noise_down_time, noise_reduction_amount, measure_freq, measure_duration, "
     "measure_smooth_time, hp_filter_freq, lp_filter_freq, hp_lifter_freq, lp_lifter_freq",
     17, 17, false, NULL, run_vad, NULL},
    {.name = NULL},
};
