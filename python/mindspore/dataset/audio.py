"""Transforms of sound: waveforms <..., time> and spectrograms <..., frequency, time>, run by the library. A class gives its
parameters as a lambda; each parameter is checked by the rule of its name."""
import enum
import math
import sys

import numpy as np

from mindspore import _c

from . import _check
from .transforms import TensorOperation

_FLOAT = _check.FLOAT_INTEGER


class BorderType(str, enum.Enum):
    CONSTANT = 'constant'
    EDGE = 'edge'
    REFLECT = 'reflect'
    SYMMETRIC = 'symmetric'


class DensityFunction(str, enum.Enum):
    TPDF = 'TPDF'
    RPDF = 'RPDF'
    GPDF = 'GPDF'


class FadeShape(str, enum.Enum):
    QUARTER_SINE = 'quarter_sine'
    HALF_SINE = 'half_sine'
    LINEAR = 'linear'
    LOGARITHMIC = 'logarithmic'
    EXPONENTIAL = 'exponential'


class GainType(str, enum.Enum):
    AMPLITUDE = 'amplitude'
    POWER = 'power'
    DB = 'db'


class Interpolation(str, enum.Enum):
    LINEAR = 'linear'
    QUADRATIC = 'quadratic'


class MelType(str, enum.Enum):
    HTK = 'htk'
    SLANEY = 'slaney'


class Modulation(str, enum.Enum):
    SINUSOIDAL = 'sinusoidal'
    TRIANGULAR = 'triangular'


class NormMode(str, enum.Enum):
    ORTHO = 'ortho'
    NONE = 'none'


class NormType(str, enum.Enum):
    SLANEY = 'slaney'
    NONE = 'none'


class ResampleMethod(str, enum.Enum):
    SINC_INTERPOLATION = 'sinc_interpolation'
    KAISER_WINDOW = 'kaiser_window'


class ScaleType(str, enum.Enum):
    POWER = 'power'
    MAGNITUDE = 'magnitude'


class WindowType(str, enum.Enum):
    BARTLETT = 'bartlett'
    BLACKMAN = 'blackman'
    HAMMING = 'hamming'
    HANN = 'hann'
    KAISER = 'kaiser'


# ---- rules of parameters ----

def _interval(name, value, low, high, open_low=False):
    if not (low < value if open_low else low <= value) or not value <= high:
        raise ValueError(f'Input {name} is not within the required interval of {"(" if open_low else "["}{low}, {high}].')


def _real(low=-_FLOAT, high=_FLOAT, open_low=False, optional=False, types=(float, int)):
    def rule(name, value):
        if not (optional and value is None):
            _interval(name, _check.kind(name, value, *types), low, high, open_low)
    return rule


def _real2(*args, **options):
    """The same; texts name the types in the other order."""
    return _real(*args, types=(int, float), **options)


def _whole(low, optional=False, high=_check.INT32_MAX):
    def rule(name, value):
        if not (optional and value is None):
            _interval(name, _check.kind(name, value, int), low, high)
    return rule


def _kind(*kinds):
    def rule(name, value):
        _check.kind(name, value, *kinds)
    return rule


def _rate(name, value):
    _check.kind(name, value, int)
    if value == 0 or not -_check.INT32_MAX - 1 <= value <= _check.INT32_MAX:
        raise ValueError(f'Input {name} is not within the required interval of [-2147483648, 0) and (0, 2147483647].')


def _nonzero(name, value):
    if _check.kind(name, value, float, int) == 0 or not -_FLOAT <= value <= _FLOAT:
        raise ValueError(f'Input {name} is not within the required interval of [-16777216, 0) and (0, 16777216].')


def _record_rate(*rates):
    def rule(name, value):
        _check.kind(name, value, int)
        if value not in rates:
            raise ValueError(f'{name} should be one of {list(rates)}, but got {value}.' if len(rates) > 2 else
                             f'Argument {name} should be {rates[0]} or {rates[1]}, but got {value}.')
    return rule


def _coefficients(name, value):
    for i, v in enumerate(_check.kind(name, value, list, tuple)):
        _interval(f'{name}[{i}]', _check.kind(f'{name}[{i}]', v, float, int), -_FLOAT, _FLOAT)


_POSITIVE, _NATURAL, _FACTOR = _whole(1), _whole(0), _real(0)
_RULES = {
    **dict.fromkeys(('central_freq', 'center_freq', 'cutoff_freq', 'b0', 'b1', 'b2', 'a1', 'a2', 'ref', 'gain', 'gain_db'),
                    _real()),
    **dict.fromkeys(('noise', 'const_skirt_gain', 'clamp', 'noise_shaping', 'sinusoidal', 'iid_masks', 'normalized', 'center',
                     'onesided', 'norm_vars', 'rand_init', 'log_lf', 'log_mels'), _kind(bool)),
    **dict.fromkeys(('fade_in_len', 'fade_out_len', 'pad', 'cmn_window', 'min_cmn_window'), _NATURAL),
    **dict.fromkeys(('n_fft', 'n_iter', 'quantization_channels', 'n_mels', 'n_stft', 'n_mfcc', 'n_lfcc', 'n_filter', 'max_iter',
                     'n_freq', 'lowpass_filter_width'), _whole(1)),
    **dict.fromkeys(('win_length', 'hop_length'), _whole(1, optional=True)),
    'a0': _nonzero, 'Q': _real(0, 1, open_low=True), 'sample_rate': _rate, 'power': _real2(0), 'mask_value': _real2(),
    'a_coeffs': _coefficients, 'b_coeffs': _coefficients, 'enhancement_amount': _real(0, 100),
    'shift': _real(-2.0, 2.0), 'limiter_gain': _real(optional=True), 'color': _real(0, 100), 'length': _whole(0, optional=True),
    'window': _kind(WindowType), 'window_type': _kind(WindowType), 'pad_mode': _kind(BorderType),
    'density_function': _kind(DensityFunction), 'fade_shape': _kind(FadeShape), 'gain_type': _kind(GainType),
    'modulation': _kind(Modulation), 'interpolation': _kind(Interpolation), 'stype': _kind(ScaleType),
    'mel_type': _kind(MelType), 'mel_scale': _kind(MelType), 'resample_method': _kind(ResampleMethod),
    'f_min': _real2(0), 'f_max': _real2(0, open_low=True, optional=True), 'momentum': _real2(0),
    'rolloff': _real(0, 1.0, open_low=True, types=(float,)),
    'mask_start': _whole(0, high=_FLOAT), 'freq_mask_param': None, 'time_mask_param': None, 'dct_type': _NATURAL,
    'ref_value': _real2(0, open_low=True), 'amin': _real2(0, open_low=True), 'top_db': _real2(0, open_low=True),
    'n_steps': _whole(-_check.INT32_MAX - 1), 'beta': _real(0, open_low=True, optional=True), 'norm': _kind(NormType), 'orig_freq': _real(0, open_low=True),
    'new_freq': _real(0, open_low=True), 'phase_advance': _kind(np.ndarray), 'fixed_rate': _real2(0, open_low=True, optional=True),
    'rate': _real2(0, open_low=True), 'tolerance_loss': _real2(0, open_low=True), 'tolerance_change': _real2(0, open_low=True),
    'frame_time': _real(0, open_low=True), 'freq_low': _real2(0, open_low=True), 'freq_high': _real2(0, open_low=True),
}


def _number(value):
    """A parameter as the library takes it; choices by their place."""
    if isinstance(value, enum.Enum):
        return list(type(value)).index(value)
    return -1 if value is None else value


class _Audio(_check.Described, TensorOperation):
    _rules = {}

    def __init__(self, *args, **kwargs):
        given = self._bind(args, kwargs)
        for name, value in given.items():
            rule = self._rules.get(name) or _RULES.get(name)
            if rule:
                rule(name, value)
        self.__dict__.update(given)
        self._given = tuple(given)
        self._ready()

    def _ready(self):
        """Further checks, of several parameters together."""

    def _args(self):
        return tuple(_number(self.__dict__[name]) for name in self._given)


# ---- filters ----

class AllpassBiquad(_Audio):
    _arguments = lambda sample_rate, central_freq, Q=0.707: None  # noqa: E731


class BandBiquad(_Audio):
    _arguments = lambda sample_rate, central_freq, Q=0.707, noise=False: None  # noqa: E731


class BandpassBiquad(_Audio):
    _arguments = lambda sample_rate, central_freq, Q=0.707, const_skirt_gain=False: None  # noqa: E731


class BandrejectBiquad(_Audio):
    _arguments = lambda sample_rate, central_freq, Q=0.707: None  # noqa: E731


class BassBiquad(_Audio):
    _arguments = lambda sample_rate, gain, central_freq=100.0, Q=0.707: None  # noqa: E731


class Biquad(_Audio):
    _arguments = lambda b0, b1, b2, a0, a1, a2: None  # noqa: E731


class DeemphBiquad(_Audio):
    _arguments = lambda sample_rate: None  # noqa: E731
    _rules = {'sample_rate': _record_rate(44100, 48000)}


class EqualizerBiquad(_Audio):
    _arguments = lambda sample_rate, center_freq, gain, Q=0.707: None  # noqa: E731


class HighpassBiquad(_Audio):
    _arguments = lambda sample_rate, cutoff_freq, Q=0.707: None  # noqa: E731


class LowpassBiquad(_Audio):
    _arguments = lambda sample_rate, cutoff_freq, Q=0.707: None  # noqa: E731


class RiaaBiquad(_Audio):
    _arguments = lambda sample_rate: None  # noqa: E731
    _rules = {'sample_rate': _record_rate(44100, 48000, 88200, 96000)}


class TrebleBiquad(_Audio):
    _arguments = lambda sample_rate, gain, central_freq=3000, Q=0.707: None  # noqa: E731


class LFilter(_Audio):
    """The difference equation of a and b along time."""

    _arguments = lambda a_coeffs, b_coeffs, clamp=True: None  # noqa: E731

    def _ready(self):
        if len(self.a_coeffs) != len(self.b_coeffs):
            raise ValueError('The size of a_coeffs should be the same as that of b_coeffs.')

    def _args(self):
        return (int(self.clamp), *self.a_coeffs, *self.b_coeffs)


class Filtfilt(LFilter):
    """The same forward and backward, so that phases stay."""

    _arguments = LFilter._arguments


# ---- gains, distortions, delays ----

class Contrast(_Audio):
    _arguments = lambda enhancement_amount=75.0: None  # noqa: E731


class DCShift(_Audio):
    _arguments = lambda shift, limiter_gain=None: None  # noqa: E731

    def _args(self):
        return self.shift, abs(self.shift) if self.limiter_gain is None else self.limiter_gain


class Dither(_Audio):
    _arguments = lambda density_function=DensityFunction.TPDF, noise_shaping=False: None  # noqa: E731


class Fade(_Audio):
    _arguments = lambda fade_in_len=0, fade_out_len=0, fade_shape=FadeShape.LINEAR: None  # noqa: E731


class Flanger(_Audio):
    _arguments = lambda sample_rate, delay=0.0, depth=2.0, regen=0.0, width=71.0, speed=0.5, phase=25.0, \
        modulation=Modulation.SINUSOIDAL, interpolation=Interpolation.LINEAR: None  # noqa: E731
    _rules = {'delay': _real(0, 30), 'depth': _real(0, 10), 'regen': _real(-95, 95), 'width': _real(0, 100),
              'speed': _real(0.1, 10), 'phase': _real(0, 100)}


class Gain(_Audio):
    _arguments = lambda gain_db=1.0: None  # noqa: E731


class MuLawDecoding(_Audio):
    _arguments = lambda quantization_channels=256: None  # noqa: E731


class MuLawEncoding(_Audio):
    _arguments = lambda quantization_channels=256: None  # noqa: E731


class Overdrive(_Audio):
    _arguments = lambda gain=20.0, color=20.0: None  # noqa: E731
    _rules = {'gain': _real(0, 100)}


class Phaser(_Audio):
    _arguments = lambda sample_rate, gain_in=0.4, gain_out=0.74, delay_ms=3.0, decay=0.4, mod_speed=0.5, \
        sinusoidal=True: None  # noqa: E731
    _rules = {'gain_in': _real(0, 1), 'gain_out': _real(0, 1e9), 'delay_ms': _real(0, 5.0), 'decay': _real(0, 0.99),
              'mod_speed': _real(0.1, 2)}


class Vad(_Audio):
    """Cuts what comes before speech."""

    _arguments = lambda sample_rate, trigger_level=7.0, trigger_time=0.25, search_time=1.0, allowed_gap=0.25, \
        pre_trigger_time=0.0, boot_time=0.35, noise_up_time=0.1, noise_down_time=0.01, noise_reduction_amount=1.35, \
        measure_freq=20.0, measure_duration=None, measure_smooth_time=0.4, hp_filter_freq=50.0, lp_filter_freq=6000.0, \
        hp_lifter_freq=150.0, lp_lifter_freq=2000.0: None  # noqa: E731
    _rules = {'sample_rate': _POSITIVE, 'trigger_level': _real(), 'measure_duration': _real(0, optional=True),
              **dict.fromkeys(('trigger_time', 'search_time', 'allowed_gap', 'pre_trigger_time', 'boot_time', 'noise_up_time',
                               'noise_down_time', 'noise_reduction_amount', 'measure_smooth_time'), _FACTOR),
              **dict.fromkeys(('measure_freq', 'hp_filter_freq', 'lp_filter_freq', 'hp_lifter_freq', 'lp_lifter_freq'),
                              _real(0, open_low=True))}

    def _ready(self):
        if self.noise_up_time < self.noise_down_time:
            raise ValueError('Input noise_up_time should be greater than noise_down_time, but got noise_up_time: '
                             f'{self.noise_up_time} and noise_down_time: {self.noise_down_time}.')


class Vol(_Audio):
    _arguments = lambda gain, gain_type=GainType.AMPLITUDE: None  # noqa: E731
    _rules = {'gain': _real2()}

    def _ready(self):
        if self.gain_type is GainType.AMPLITUDE and self.gain < 0:
            raise ValueError('Input gain is not within the required interval of [0, 16777216].')
        if self.gain_type is GainType.POWER and self.gain <= 0:
            raise ValueError('Input gain is not within the required interval of (0, 16777216].')


# ---- masks ----

class _Masking(_Audio):
    def _make(self):
        width = self.__dict__[self._width]
        if self.iid_masks:
            return _c.ds_transform('MaskAlongAxisIID', width, self.mask_value, self._axis)
        return _c.ds_transform('MaskAlongAxis', self.mask_start, width, self.mask_value, self._axis)

    def _ready(self):
        _interval('mask_param', _check.kind('mask_param', self.__dict__[self._width], int), 0, _FLOAT)


class FrequencyMasking(_Masking):
    _arguments = lambda iid_masks=False, freq_mask_param=0, mask_start=0, mask_value=0.0: None  # noqa: E731
    _axis, _width, _rules = 1, 'freq_mask_param', {'mask_value': _real2(0)}


class TimeMasking(_Masking):
    _arguments = lambda iid_masks=False, time_mask_param=0, mask_start=0, mask_value=0.0: None  # noqa: E731
    _axis, _width, _rules = 2, 'time_mask_param', {'mask_value': _real2(0)}


def _axis(name, value):
    _check.kind(name, value, int)
    if value not in (1, 2):
        raise ValueError(f'Input {name} is not within the required interval of [1, 2].')


class MaskAlongAxis(_Audio):
    _arguments = lambda mask_start, mask_width, mask_value, axis: None  # noqa: E731
    _rules = {'mask_start': _NATURAL, 'mask_width': _POSITIVE, 'axis': _axis}


class MaskAlongAxisIID(_Audio):
    _arguments = lambda mask_param, mask_value, axis: None  # noqa: E731
    _rules = {'mask_param': _NATURAL, 'axis': _axis}


# ---- values of spectra ----

class AmplitudeToDB(_Audio):
    _arguments = lambda stype=ScaleType.POWER, ref_value=1.0, amin=1e-10, top_db=80.0: None  # noqa: E731

    def _args(self):
        return 10 if self.stype is ScaleType.POWER else 20, self.ref_value, self.amin, self.top_db


class Angle(_Audio):
    _arguments = lambda: None  # noqa: E731


class ComplexNorm(_Audio):
    _arguments = lambda power=1.0: None  # noqa: E731


class ComputeDeltas(_Audio):
    _arguments = lambda win_length=5, pad_mode=BorderType.EDGE: None  # noqa: E731
    _rules = {'win_length': _whole(3)}


class DBToAmplitude(_Audio):
    _arguments = lambda ref, power: None  # noqa: E731
    _rules = {'power': _real()}


class Magphase(_Audio):
    """(magnitude to a power, phase) of <..., complex=2>."""

    _arguments = lambda power=1.0: None  # noqa: E731


class SlidingWindowCmn(_Audio):
    _arguments = lambda cmn_window=600, min_cmn_window=100, center=False, norm_vars=False: None  # noqa: E731


# ---- filter banks ----

def linear_fbanks(n_freqs, f_min, f_max, n_filter, sample_rate):
    """Triangles at equal distances: float32 [n_freqs, n_filter]."""
    return _triangles(np.linspace(0, sample_rate // 2, n_freqs), np.linspace(f_min, f_max, n_filter + 2))


def melscale_fbanks(n_freqs, f_min, f_max, n_mels, sample_rate, norm=NormType.NONE, mel_type=MelType.HTK):
    """Triangles at equal distances on the mel scale: float32 [n_freqs, n_mels]."""
    for name, value in (('n_freqs', n_freqs), ('n_mels', n_mels), ('sample_rate', sample_rate)):
        _POSITIVE(name, value)
    _FACTOR('f_min', f_min)
    _real(0, open_low=True)('f_max', f_max)
    _check.kind('norm', norm, NormType)
    _check.kind('mel_type', mel_type, MelType)
    if f_max <= f_min:
        raise ValueError(f'Input f_min should be no more than f_max, but got f_min: {f_min} and f_max: {f_max}.')
    return _mel_bank(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type)


def _mel_bank(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type):
    mels = np.linspace(_mel(f_min, mel_type), _mel(f_max, mel_type), n_mels + 2)
    points = 700 * (10 ** (mels / 2595) - 1)
    if mel_type is MelType.SLANEY:
        step = math.log(6.4) / 27
        points = np.where(mels >= 15, 1000 * np.exp(step * (mels - 15)), mels * 200 / 3)
    bank = _triangles(np.linspace(0, sample_rate // 2, n_freqs), points)
    return bank * (2 / (points[2:] - points[:-2])).astype(np.float32) if norm is NormType.SLANEY else bank


def _mel(frequency, mel_type):
    if mel_type is MelType.HTK:
        return 2595 * math.log10(1 + frequency / 700)
    return 15 + math.log(frequency / 1000) * 27 / math.log(6.4) if frequency >= 1000 else frequency * 3 / 200


def _triangles(frequencies, points):
    slopes = points[None] - frequencies[:, None]
    width = np.diff(points)
    return np.maximum(0, np.minimum(-slopes[:, :-2] / width[:-1], slopes[:, 2:] / width[1:])).astype(np.float32)


def create_dct(n_mfcc, n_mels, norm=NormMode.NONE):
    """The discrete cosine transform of type 2 as a matrix: float32 [n_mels, n_mfcc]."""
    _POSITIVE('n_mfcc', n_mfcc)
    _POSITIVE('n_mels', n_mels)
    _check.kind('norm', norm, NormMode)
    dct = np.cos(math.pi / n_mels * (np.arange(n_mels)[:, None] + 0.5) * np.arange(n_mfcc)[None])
    if norm is NormMode.NONE:
        return (dct * 2).astype(np.float32)
    dct[:, 0] /= math.sqrt(2)
    return (dct * math.sqrt(2 / n_mels)).astype(np.float32)


def _bands(matrix):
    return _c.ds_transform('Bands', *matrix.shape, *matrix.ravel().tolist())


# ---- spectra ----

_ONE_RATE = {'sample_rate': _POSITIVE}


class _Framed(_Audio):
    """What has frames: n_fft, win_length (n_fft), hop_length (half the window)."""

    def _ready(self):
        self._win = self.win_length or self.n_fft
        self._hop = self.hop_length or self._win // 2 or 1
        if self._win > self.n_fft:
            raise ValueError(f'Input win_length should be no more than n_fft, but got win_length: {self._win} and n_fft: '
                             f'{self.n_fft}.')

    def _frames(self):
        window = self.__dict__.get('window') or self.__dict__.get('window_type')
        return (self.n_fft, self._win, self._hop, _number(window), int(self.__dict__.get('normalized', False)),
                int(self.__dict__.get('center', True)), _number(self.__dict__.get('pad_mode', BorderType.REFLECT)),
                int(self.__dict__.get('onesided', True)))


class Spectrogram(_Framed):
    _arguments = lambda n_fft=400, win_length=None, hop_length=None, pad=0, window=WindowType.HANN, power=2.0, \
        normalized=False, center=True, pad_mode=BorderType.REFLECT, onesided=True: None  # noqa: E731

    def _args(self):
        return (*self._frames(), self.pad, self.power)


class InverseSpectrogram(_Framed):
    _arguments = lambda length=None, n_fft=400, win_length=None, hop_length=None, pad=0, window=WindowType.HANN, \
        normalized=False, center=True, pad_mode=BorderType.REFLECT, onesided=True: None  # noqa: E731

    def _args(self):
        return (*self._frames(), self.pad, self.length or 0)


class GriffinLim(_Framed):
    _arguments = lambda n_fft=400, n_iter=32, win_length=None, hop_length=None, window_type=WindowType.HANN, power=2.0, \
        momentum=0.99, length=None, rand_init=True: None  # noqa: E731
    _rules = {'power': _real2(0, open_low=True), 'win_length': _whole(0, optional=True), 'hop_length': _whole(0, optional=True)}

    def _args(self):
        return (*self._frames(), self.n_iter, self.power, self.momentum, self.length or 0, int(self.rand_init))


class SpectralCentroid(_Framed):
    _arguments = lambda sample_rate, n_fft=400, win_length=None, hop_length=None, pad=0, window=WindowType.HANN: None  # noqa: E731
    _rules = {'sample_rate': _NATURAL}

    def _args(self):
        return (*self._frames(), self.pad, self.sample_rate)


class PitchShift(_Framed):
    _arguments = lambda sample_rate, n_steps, bins_per_octave=12, n_fft=512, win_length=None, hop_length=None, \
        window=WindowType.HANN: None  # noqa: E731
    _rules = {'sample_rate': _NATURAL, 'bins_per_octave': lambda name, value: _check.kind(name + ' ', value, int)}

    def _ready(self):
        if self.bins_per_octave == 0 or abs(self.bins_per_octave + 0.5) > _check.INT32_MAX + 1:
            raise ValueError('Input bins_per_octave is not within the required interval of [-2147483648, 0) and (0, 2147483647].')
        super()._ready()
        if not self.hop_length:
            self._hop = self._win // 4 or 1

    def _args(self):
        return (*self._frames(), self.sample_rate, self.n_steps, self.bins_per_octave)


def _check_range(op, f_min, f_max, sample_rate):
    high = float(sample_rate // 2) if f_max is None else f_max
    if high <= f_min:
        raise ValueError(f'{op}: f_max should be greater than f_min.')
    return high


class MelScale(_Audio):
    _arguments = lambda n_mels=128, sample_rate=16000, f_min=0.0, f_max=None, n_stft=201, norm=NormType.NONE, \
        mel_type=MelType.HTK: None  # noqa: E731
    _rules = {**_ONE_RATE, 'f_min': _real()}

    def _ready(self):
        self._high = _check_range('MelScale', self.f_min, self.f_max, self.sample_rate)

    def _make(self):
        return _bands(_mel_bank(self.n_stft, self.f_min, self._high, self.n_mels, self.sample_rate, self.norm,
                                self.mel_type))


class MelSpectrogram(_Framed):
    _arguments = lambda sample_rate=16000, n_fft=400, win_length=None, hop_length=None, f_min=0.0, f_max=None, pad=0, \
        n_mels=128, window=WindowType.HANN, power=2.0, normalized=False, center=True, pad_mode=BorderType.REFLECT, \
        onesided=True, norm=NormType.NONE, mel_scale=MelType.HTK: None  # noqa: E731
    _rules = {**_ONE_RATE, 'power': _real(0, open_low=True), 'f_min': _real(0, types=(float,)),
              'f_max': _real(0, optional=True)}

    def _ready(self):
        super()._ready()
        self._high = _check_range('MelSpectrogram', self.f_min, self.f_max, self.sample_rate)

    def _make(self):
        bins = self.n_fft // 2 + 1 if self.onesided else self.n_fft
        bank = melscale_fbanks(bins, self.f_min, self._high, self.n_mels, self.sample_rate, self.norm, self.mel_scale)
        return _c.ds_group([_c.ds_transform('Spectrogram', *self._frames(), self.pad, self.power), _bands(bank)], 0, 1.0)


class _Cepstrum(_Audio):
    """The cosine transform of the logarithm of bands."""

    def _ready(self):
        if self.dct_type != 2:
            raise ValueError(f'Input dct_type must be 2, but got : {self.dct_type}.')

    def _coefficients(self, bands, log, n, n_bands):
        log = _c.ds_callable('log', lambda x: np.log(x + 1e-6), False, False) if log else AmplitudeToDB()._op
        return _c.ds_group([*bands, log, _bands(create_dct(n, n_bands, self.norm))], 0, 1.0)


class MFCC(_Cepstrum):
    _arguments = lambda sample_rate=16000, n_mfcc=40, dct_type=2, norm=NormMode.ORTHO, log_mels=False, melkwargs=None: None  # noqa: E731
    _rules = {**_ONE_RATE, 'norm': _kind(NormMode)}

    def _ready(self):
        super()._ready()
        options = {} if self.melkwargs is None else _check.kind('melkwargs', self.melkwargs, dict)
        options = {k if k != 'mel_type' else 'mel_scale': v for k, v in options.items()}
        self._mel = MelSpectrogram(self.sample_rate, **options)

    def _make(self):
        return self._coefficients([self._mel._op], self.log_mels, self.n_mfcc, self._mel.n_mels)


class LFCC(_Cepstrum):
    _arguments = lambda sample_rate=16000, n_filter=128, n_lfcc=40, f_min=0.0, f_max=None, dct_type=2, \
        norm=NormMode.ORTHO, log_lf=False, speckwargs=None: None  # noqa: E731
    _rules = {'sample_rate': _NATURAL, 'norm': _kind(NormMode)}

    def _ready(self):
        super()._ready()
        self._high = _check_range('LFCC', self.f_min, self.f_max, self.sample_rate)
        self._spectrogram = Spectrogram(**({} if self.speckwargs is None else _check.kind('speckwargs', self.speckwargs, dict)))

    def _make(self):
        bank = linear_fbanks(self._spectrogram.n_fft // 2 + 1, self.f_min, self._high, self.n_filter, self.sample_rate)
        return self._coefficients([self._spectrogram._op, _bands(bank)], self.log_lf, self.n_lfcc, self.n_filter)


class DetectPitchFrequency(_Audio):
    _arguments = lambda sample_rate, frame_time=0.01, win_length=30, freq_low=85, freq_high=3400: None  # noqa: E731


class PhaseVocoder(_Audio):
    _arguments = lambda rate, phase_advance: None  # noqa: E731

    def _args(self):
        return (self.rate, *self.phase_advance.ravel().tolist())


class TimeStretch(_Audio):
    _arguments = lambda hop_length=None, n_freq=201, fixed_rate=None: None  # noqa: E731

    def _make(self):
        hop = self.hop_length or self.n_freq - 1
        advance = np.linspace(0, math.pi * hop, self.n_freq).tolist()
        return _c.ds_transform('PhaseVocoder', self.fixed_rate or 1.0, *advance)


class Resample(_Audio):
    _arguments = lambda orig_freq=16000, new_freq=16000, resample_method=ResampleMethod.SINC_INTERPOLATION, \
        lowpass_filter_width=6, rolloff=0.99, beta=None: None  # noqa: E731

    def _args(self):
        kaiser = -1 if self.resample_method is ResampleMethod.SINC_INTERPOLATION else \
            14.769656459379492 if self.beta is None else self.beta
        return int(self.orig_freq), int(self.new_freq), self.lowpass_filter_width, self.rolloff, kaiser


class InverseMelScale(_Audio):
    """A spectrogram whose mel spectrogram is the input, by gradient descent from random values."""

    _arguments = lambda n_stft, n_mels=128, sample_rate=16000, f_min=0.0, f_max=None, max_iter=100000, tolerance_loss=1e-05, \
        tolerance_change=1e-08, sgdargs=None, norm=NormType.NONE, mel_type=MelType.HTK: None  # noqa: E731
    _rules = _ONE_RATE

    def _ready(self):
        high = _check_range('InverseMelScale', self.f_min, self.f_max, self.sample_rate)
        options = {} if self.sgdargs is None else _check.kind('sgdargs', self.sgdargs, dict)
        self._step, self._momentum = options.get('sgd_lr', 0.1), options.get('sgd_momentum', 0.9)
        self._bank = melscale_fbanks(self.n_stft, self.f_min, high, self.n_mels, self.sample_rate, self.norm,
                                     self.mel_type).astype(np.float64)

    def _make(self):
        return _c.ds_callable('InverseMelScale', self._solve, False, False)

    def _solve(self, mel):
        target = np.swapaxes(np.asarray(mel, np.float64), -1, -2)
        spectrum = np.random.RandomState(_c.ds_config('seed')).rand(*target.shape[:-1], self.n_stft)
        speed, before, scale = np.zeros_like(spectrum), np.inf, 2 / (target.size / target.shape[-1])
        for _ in range(self.max_iter):
            gap = target - spectrum @ self._bank
            loss = (gap * gap).sum(-1).mean()
            speed = self._momentum * speed - scale * (gap @ self._bank.T)
            spectrum = np.maximum(spectrum - self._step * speed, 0)
            if loss < self.tolerance_loss or abs(before - loss) < self.tolerance_change:
                break
            before = loss
        return np.swapaxes(spectrum, -1, -2).astype(mel.dtype if mel.dtype == np.float64 else np.float32)


for _alias in ('utils', 'transforms'):  # older scripts import these names as modules
    globals()[_alias] = sys.modules[f'{__name__}.{_alias}'] = sys.modules[__name__]
