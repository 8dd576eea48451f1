"""Policies of augmentation: which transforms a picture gets, and how strongly. Magnitudes follow the papers named at each
class. The choices come from numpy's random generator in eager use, and from the pipeline's where it runs them."""
import enum

import numpy as np

from mindspore import _c

from . import _check
from ._image import (AdjustBrightness, AdjustContrast, AdjustSaturation, AdjustSharpness, AutoContrast, Equalize, Invert,
                     Posterize, RandomAffine, Rotate, Solarize, _count)
from .transforms import PyTensorOperation, TensorOperation, check_list, compile_list, draw, is_pil
from .vision import Inter, _fill

__all__ = ['AutoAugment', 'AutoAugmentPolicy', 'CutMixBatch', 'MixUp', 'MixUpBatch', 'RandAugment',
           'RandomSelectSubpolicy', 'TrivialAugmentWide', 'UniformAugment']


class AutoAugmentPolicy(str, enum.Enum):
    IMAGENET = 'imagenet'
    CIFAR10 = 'cifar10'
    SVHN = 'svhn'


class _Identity(TensorOperation):
    """Nothing, as a transform: both flips of a coin are tails."""

    def _make(self):
        return _c.ds_transform('RandomHorizontalFlip', 0.0)


def _shear(x, y, inter, fill):
    return RandomAffine(0, shear=(x, x, y, y), resample=inter, fill_value=fill)


def _move(x, y, inter, fill):
    """Translation by shares of the size."""
    return RandomAffine(0, translate=(x, x, y, y), resample=inter, fill_value=fill)


def _operation(name, m, inter, fill):
    """The transform `name` with magnitude m, in the unit of the transform."""
    return {
        'Identity': lambda: _Identity(),
        'ShearX': lambda: _shear(-np.degrees(np.arctan(m)), 0, inter, fill),
        'ShearY': lambda: _shear(0, -np.degrees(np.arctan(m)), inter, fill),
        'TranslateX': lambda: _move(m, 0, inter, fill),
        'TranslateY': lambda: _move(0, m, inter, fill),
        'Rotate': lambda: Rotate(float(m), inter, fill_value=fill),
        'Brightness': lambda: AdjustBrightness(1.0 + m),
        'Color': lambda: AdjustSaturation(1.0 + m),
        'Contrast': lambda: AdjustContrast(1.0 + m),
        'Sharpness': lambda: AdjustSharpness(1.0 + m),
        'Posterize': lambda: Posterize(int(m)),
        'Solarize': lambda: Solarize((int(m), 255)),
        'AutoContrast': lambda: AutoContrast(),
        'Equalize': lambda: Equalize(),
        'Invert': lambda: Invert(),
    }[name]()


_SIGNED = {'ShearX', 'ShearY', 'TranslateX', 'TranslateY', 'Rotate', 'Brightness', 'Color', 'Contrast', 'Sharpness'}


def _spaces(bins, wide):
    """name -> magnitudes by bin; wide: the ranges of TrivialAugment."""
    line, n = np.linspace, bins
    shear, move, turn, tone = (0.99, 32 / 224, 135.0, 0.99) if wide else (0.3, 150 / 331, 30.0, 0.9)
    table = {k: line(0, v, n) for k, v in (
        ('ShearX', shear), ('ShearY', shear), ('TranslateX', move), ('TranslateY', move), ('Rotate', turn),
        ('Brightness', tone), ('Color', tone), ('Contrast', tone), ('Sharpness', tone))}
    table['Posterize'] = 8 - np.round(np.arange(n) / ((n - 1) / (6 if wide else 4)))
    table['Solarize'] = line(255, 0, n)
    table.update({k: None for k in ('AutoContrast', 'Equalize', 'Identity')})
    return table


class _Choice(TensorOperation):
    """A policy as a tree of groups: the pipeline runs and seeds it."""

    def __call__(self, *inputs):
        for x in inputs:
            x = np.asarray(x) if is_pil(x) else x
            if isinstance(x, np.ndarray) and x.dtype != np.uint8 and not isinstance(self, AutoAugment):
                raise RuntimeError(f'{type(self).__name__}: the data type of image tensor does not match the requirement of '
                                   f'operator. Expecting tensor in type of (uint8). But got type {x.dtype}.')
            if isinstance(x, np.ndarray) and x.ndim != 3:
                what = 'input tensor is not in shape of <H,W,C>, but got rank:' if isinstance(self, AutoAugment) else \
                    'the dimension of image tensor does not match the requirement of operator. Expecting tensor in dimension ' \
                    'of (3), in shape of <H, W, C>. But got dimension'
                raise RuntimeError(f'{type(self).__name__}: {what} {x.ndim}')
            if isinstance(x, np.ndarray) and x.shape[2] != 3:
                what = 'channel of input image should be 3, but got:' if isinstance(self, AutoAugment) else \
                    'the channel of image tensor does not match the requirement of operator. Expecting tensor in channel of ' \
                    '(3). But got channel'
                raise RuntimeError(f'{type(self).__name__}: {what} {x.shape[2]}')
        return super().__call__(*inputs)

    def _check_common(self, interpolation, fill_value):
        self.interpolation = _check.kind('interpolation', interpolation, Inter)
        self.fill_value = fill_value
        _fill(fill_value)

    def _both(self, name, m):
        """One transform, or the choice between both signs of it."""
        signs = (m,) if m is None or name not in _SIGNED or m == 0 else (m, -m)
        return [_operation(name, s, self.interpolation, self.fill_value) for s in signs]

    def _one_of(self, operations):
        made = [_c.ds_group(compile_list([op]), 0, 1.0) if not isinstance(op, list) else self._one_of(op)
                for op in operations]
        return made[0] if len(made) == 1 else _c.ds_group(made, 1, 1.0)


class RandAugment(_Choice):
    """num_ops transforms drawn from 14, all of one magnitude. Cubuk et al., RandAugment, 2019."""

    def __init__(self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=Inter.NEAREST, fill_value=0):
        self.num_ops = _check.integer('num_ops', num_ops, 0, _check.FLOAT_INTEGER)
        self.num_magnitude_bins = _check.integer('num_magnitude_bins', num_magnitude_bins, 2, _check.FLOAT_INTEGER)
        self.magnitude = _check.kind('magnitude', magnitude, int)
        if not 0 <= magnitude < num_magnitude_bins:
            raise ValueError(f'Input magnitude is not within the required interval of [0, {num_magnitude_bins}).')
        self._check_common(interpolation, fill_value)

    def _make(self):
        spaces = _spaces(self.num_magnitude_bins, False)
        each = [self._both(k, None if v is None else v[self.magnitude]) for k, v in spaces.items()]
        if self.num_ops == 0:
            return _Identity()._op
        return _c.ds_group([self._one_of(each) for _ in range(self.num_ops)], 0, 1.0)


class TrivialAugmentWide(_Choice):
    """One transform of random strength. Mueller and Hutter, TrivialAugment, 2021."""

    def __init__(self, num_magnitude_bins=31, interpolation=Inter.NEAREST, fill_value=0):
        self.num_magnitude_bins = _check.integer('num_magnitude_bins', num_magnitude_bins, 2, _check.FLOAT_INTEGER)
        self._check_common(interpolation, fill_value)

    def _make(self):
        spaces = _spaces(self.num_magnitude_bins, True)
        return self._one_of([self._both(k, None) if v is None else [self._both(k, m) for m in v[:64]]
                             for k, v in spaces.items()])


# (name, probability, bin of 10) twice per row. Cubuk et al., AutoAugment, 2018, tables of the appendix.
_IMAGENET = '''Posterize .4 8 Rotate .6 9;Solarize .6 5 AutoContrast .6 -;Equalize .8 - Equalize .6 -;Posterize .6 7 Posterize
.6 6;Equalize .4 - Solarize .2 4;Equalize .4 - Rotate .8 8;Solarize .6 3 Equalize .6 -;Posterize .8 5 Equalize 1 -;Rotate .2 3
Solarize .6 8;Equalize .6 - Posterize .4 6;Rotate .8 8 Color .4 0;Rotate .4 9 Equalize .6 -;Equalize 0 - Equalize .8 -;Invert
.6 - Equalize 1 -;Color .6 4 Contrast 1 8;Rotate .8 8 Color 1 2;Color .8 8 Solarize .8 7;Sharpness .4 7 Invert .6 -;ShearX .6 5
Equalize 1 -;Color .4 0 Equalize .6 -;Equalize .4 - Solarize .2 4;Solarize .6 5 AutoContrast .6 -;Invert .6 - Equalize 1 -;Color
.6 4 Contrast 1 8;Equalize .8 - Equalize .6 -'''
_CIFAR10 = '''Invert .1 - Contrast .2 6;Rotate .7 2 TranslateX .3 9;Sharpness .8 1 Sharpness .9 3;ShearY .5 8 TranslateY .7 9;
AutoContrast .5 - Equalize .9 -;ShearY .2 7 Posterize .3 7;Color .4 3 Brightness .6 7;Sharpness .3 9 Brightness .7 9;Equalize .6 -
Equalize .5 -;Contrast .6 7 Sharpness .6 5;Color .7 7 TranslateX .5 8;Equalize .3 - AutoContrast .4 -;TranslateY .4 3 Sharpness .2
6;Brightness .9 6 Color .2 8;Solarize .5 2 Invert 0 -;Equalize .2 - AutoContrast .6 -;Equalize .2 - Equalize .6 -;Color .9 9
Equalize .6 -;AutoContrast .8 - Solarize .2 8;Brightness .1 3 Color .7 0;Solarize .4 5 AutoContrast .9 -;TranslateY .9 9 TranslateY
.7 9;AutoContrast .9 - Solarize .8 3;Equalize .8 - Invert .1 -;TranslateY .7 9 AutoContrast .9 -'''
_SVHN = '''ShearX .9 4 Invert .2 -;ShearY .9 8 Invert .7 -;Equalize .6 - Solarize .6 6;Invert .9 - Equalize .6 -;Equalize .6 -
Rotate .9 3;ShearX .9 4 AutoContrast .8 -;ShearY .9 8 Invert .4 -;ShearY .9 5 Solarize .2 6;Invert .9 - AutoContrast .8 -;Equalize
.6 - Rotate .9 3;ShearX .9 4 Solarize .3 3;ShearY .8 8 Invert .7 -;Equalize .9 - TranslateY .6 6;Invert .9 - Equalize .6 -;Contrast
.3 3 Rotate .8 4;Invert .8 - TranslateY 0 2;ShearY .7 6 Solarize .4 8;Invert .6 - Rotate .8 4;ShearY .3 7 TranslateX .9 3;ShearX .1
6 Invert .6 -;Solarize .7 2 TranslateY .6 7;ShearY .8 4 Invert .8 -;ShearX .7 9 TranslateY .8 3;ShearY .8 5 AutoContrast .7 -;ShearX
.7 2 Invert .1 -'''


class AutoAugment(_Choice):
    """A learnt policy: one of 25 pairs of transforms."""

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=Inter.NEAREST, fill_value=0):
        self.policy = _check.kind('policy', policy, AutoAugmentPolicy)
        self._check_common(interpolation, fill_value)

    def _make(self):
        spaces = _spaces(10, False)
        rows = {'imagenet': _IMAGENET, 'cifar10': _CIFAR10, 'svhn': _SVHN}[self.policy.value].split(';')
        pairs = []
        for row in rows:
            words = row.split()
            steps = []
            for name, prob, level in (words[:3], words[3:]):
                m = None if level == '-' else spaces[name][int(level)]
                steps.append(_c.ds_group([self._one_of([self._both(name, m)])], 0, float(prob)))
            pairs.append(_c.ds_group(steps, 0, 1.0))
        return _c.ds_group(pairs, 1, 1.0)


class RandomSelectSubpolicy(TensorOperation):
    """One of several lists of (transform, probability), chosen at random."""

    def __init__(self, policy):
        _check.kind('policy', policy, list)
        if not policy:
            raise ValueError('policy can not be empty.')
        for i, sub in enumerate(policy):
            _check.kind(f'policy[{i}]', sub, list)
            if not sub:
                raise ValueError(f'policy[{i}] can not be empty.')
            for j, item in enumerate(sub):
                if not isinstance(item, tuple) or len(item) != 2:
                    raise TypeError(f'policy[{i}][{j}] needs to be a 2-tuple.')
                if not callable(item[0]):
                    raise TypeError(f'op of (op, prob) in policy[{i}][{j}] is neither a c_transform op (TensorOperation) '
                                    'nor a callable pyfunc.')
                name = f'prob of (op, prob) policy[{i}][{j}]'
                if not 0 <= _check.kind(name, item[1], int, float) <= 1:
                    raise ValueError(f'Input {name} is not within the required interval of [0, 1].')
        self.policy = policy

    def _make(self):
        subs = [_c.ds_group([_c.ds_group(compile_list([op]), 0, float(p)) for op, p in sub], 0, 1.0)
                for sub in self.policy]
        return _c.ds_group(subs, 1, 1.0)


class UniformAugment(TensorOperation):
    """num_ops transforms of a list, each drawn at random and applied or not by a fair coin."""

    _ends_pil = False

    def __init__(self, transforms, num_ops=2):
        self.transforms = check_list(transforms)
        if _check.kind('num_ops', num_ops, int) <= 0:
            raise ValueError('Input num_ops must be greater than 0.')
        self.num_ops = num_ops
        if num_ops > len(self.transforms):
            raise ValueError('num_ops is greater than transforms list size.')

    def _make(self):
        made = [_c.ds_group(compile_list([t]), 0, 1.0) for t in self.transforms]
        return _c.ds_group([_c.ds_group([_c.ds_group(made, 1, 1.0)], 0, 0.5) for _ in range(self.num_ops)], 0, 1.0)


# ---- mixing the rows of a batch ----

def _alpha(value, high=_check.FLOAT_INTEGER):
    if not _check.kind('alpha', value, int, float) > 0:
        raise ValueError('Input alpha must be greater than 0.')
    if value > high:
        raise ValueError(f'Input is not within the required interval of (0, {high}].')
    return value


def _check_batch(op, images, labels):
    for x in (images, labels):
        if not isinstance(x, np.ndarray):
            raise TypeError(f'Input should be NumPy or PIL image, got {type(x)}.')
    if images.ndim != 4:
        raise RuntimeError(f'{op}: input image is not in shape of <B,H,W,C> or <B,C,H,W>, but got dimension: {images.ndim}. You '
                           'may need to perform Batch first.')
    if labels.dtype.kind not in 'biuf':
        raise RuntimeError(f'{op}: invalid label type, label must be in a numeric type, but got: string. You may need to perform '
                           'OneHot first.')
    if labels.ndim not in (2, 3):
        raise RuntimeError(f'{op}: input label is not in shape of <Batch,Class> or <Batch,Row,Class>, but got dimension: '
                           f'{labels.ndim}. You may need to perform OneHot and Batch first.')
    if len(images) != len(labels):
        raise RuntimeError(f'{op}: batch sizes of image and label must be the same, but got image size: {len(images)} and label '
                           f'size: {len(labels)}')


class MixUpBatch(PyTensorOperation):
    """Images and one-hot labels of a batch mixed with a permutation of themselves. Zhang et al., mixup, 2018."""

    _draws = True

    def __init__(self, alpha=1.0):
        self.alpha = _alpha(alpha)

    def __call__(self, images, labels):
        _check_batch('MixUpBatch', images, labels)
        share, other = draw().beta(self.alpha, self.alpha), draw().permutation(len(images))
        mixed = [share * x.astype(np.float32) + (1 - share) * x[other].astype(np.float32) for x in (images, labels)]
        return mixed[0].astype(images.dtype), mixed[1].astype(np.float32)


class CutMixBatch(PyTensorOperation):
    """A window of each image from another one, labels mixed by area. Yun et al., CutMix, 2019."""

    _draws = True

    def __init__(self, image_batch_format, alpha=1.0, prob=1.0):
        from .vision import ImageBatchFormat
        self.image_batch_format = _check.kind('image_batch_format', image_batch_format, ImageBatchFormat)
        self.alpha, self.prob = _alpha(alpha), _check.kind('prob', prob, int, float)
        if not 0 <= prob <= 1:
            raise ValueError('Input prob is not within the required interval of [0, 1].')

    def __call__(self, images, labels):
        _check_batch('CutMixBatch', images, labels)
        chw = int(self.image_batch_format) == 1
        channels = images.shape[1 if chw else 3]
        if channels not in (1, 3):
            raise RuntimeError(f'CutMixBatch: input image is not in channel of 1 or 3, but got channel: {channels}')
        h, w = images.shape[2:] if chw else images.shape[1:3]
        images, labels = images.copy(), labels.astype(np.float32)
        other, clean = draw().permutation(len(images)), images.copy()
        for i, j in enumerate(other):
            if draw().rand() >= self.prob:
                continue
            side = np.sqrt(1 - draw().beta(self.alpha, self.alpha))
            ch, cw, y, x = int(h * side), int(w * side), draw().randint(h), draw().randint(w)
            rows = slice(max(0, y - ch // 2), min(h, y + ch // 2))
            cols = slice(max(0, x - cw // 2), min(w, x + cw // 2))
            at = (slice(None), rows, cols) if chw else (rows, cols)
            images[i][at] = clean[j][at]
            share = 1 - (rows.stop - rows.start) * (cols.stop - cols.start) / (h * w)
            labels[i] = share * labels[i] + (1 - share) * labels[j]
        return images, labels


class MixUp(PyTensorOperation):
    """Mixes a batch with itself (is_single) or with the batch before."""

    _draws = True

    def __init__(self, batch_size, alpha, is_single=True):
        self.batch_size = _count('batch_size', batch_size)
        self.alpha, self.is_single = _alpha(alpha, float('inf')), _check.kind('is_single', is_single, bool)
        self._last = None

    def __call__(self, image, label):
        share = draw().beta(self.alpha, self.alpha)
        if self.is_single:
            order = draw().permutation(self.batch_size)
            before = (image[order], label[order])
        else:
            before, self._last = self._last or (image, label), (image, label)
        return tuple(share * now + (1 - share) * then for now, then in zip((image, label), before))
