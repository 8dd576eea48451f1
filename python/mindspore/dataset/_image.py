"""Transforms of dataset.vision that decode, resize, warp and colour. Each class checks its arguments and names the C
transform; composite ones are made of the others."""
import numbers
import os

import numpy as np

from mindspore import _c

from . import _check
from .transforms import PyTensorOperation, TensorOperation, draw, image_array, is_pil
from .vision import Border, Inter, _fill, _size

__all__ = ['AdjustBrightness', 'AdjustContrast', 'AdjustGamma', 'AdjustHue', 'AdjustSaturation', 'AdjustSharpness',
           'Affine', 'AutoContrast', 'CutOut', 'Decode', 'Equalize', 'Erase', 'FiveCrop', 'GaussianBlur', 'Grayscale',
           'Invert', 'LinearTransformation', 'NormalizePad', 'PadToSize', 'Perspective', 'Posterize',
           'RandomAdjustSharpness', 'RandomAffine', 'RandomAutoContrast', 'RandomColor', 'RandomColorAdjust',
           'RandomCropDecodeResize', 'RandomEqualize', 'RandomErasing', 'RandomGrayscale', 'RandomInvert',
           'RandomLighting', 'RandomPerspective', 'RandomPosterize', 'RandomResize', 'RandomResizedCrop',
           'RandomRotation', 'RandomSharpness', 'RandomSolarize', 'ResizedCrop', 'Rotate', 'Solarize', 'TenCrop',
           'ToNumpy', 'ToPIL', 'get_image_num_channels', 'get_image_size', 'read_file', 'read_image', 'write_file',
           'write_jpeg', 'write_png']


def _pair(name, value, low=None, high=None, text='must be a sequence with length 2.', types=(list, tuple),
          elements=(int, float), above=None):
    """(min, max), increasing and inside [low, high], or (above, high]."""
    _check.kind(name, value, *types)
    if len(value) != 2:
        raise TypeError(f'{name} {text}')
    for i, v in enumerate(value):
        _check.kind(f'{name}[{i}]', v, *elements)
        if above is not None and not above < v <= _check.FLOAT_INTEGER:
            raise ValueError(f'Input {name}[{i}] is not within the required interval of ({above}, {_check.FLOAT_INTEGER}].')
        _check.within(f'{name}[{i}]', v, float('-inf') if low is None else low, _check.FLOAT_INTEGER if high is None else high)
    if value[0] > value[1]:
        raise ValueError(f'{name} should be in (min,max) format. Got (max,min).')
    return tuple(value)


def _scale_and_ratio(scale, ratio, text, types):
    _pair('scale', scale, 0, None, text, types, (float, int))
    if scale[1] <= 0:
        raise ValueError('Input scale[1] must be greater than 0.')
    _pair('ratio', ratio, 0, None, text, types, (float, int), above=0)


def _count(name, value):
    return _check.within(name, _check.kind(name, value, int), 1, _check.FLOAT_INTEGER)


def _inter(name, value):
    return int(_check.kind(name, value, Inter))


def _within(name, value, low, high):
    return _limited(name, _check.kind(name, value, int, float), low, high)


def _limited(name, value, low, high):
    if not low <= value <= high:
        raise ValueError(f'Input {name} is not within the required interval of [{low}, {high}].')
    return value


class _Numbers(TensorOperation):
    """Keeps the numbers that the C transform takes."""

    def _args(self):
        return self._numbers


class _PilNumbers(_Numbers):
    _ends_pil = False


# ---- decoding ----

class Decode(TensorOperation):
    """The bytes of a JPEG, PNG, BMP or WebP image as RGB <H, W, 3>; with to_pil as an image of PIL."""

    def __init__(self, to_pil=False):
        self.to_pil = _check.kind('to_pil', to_pil, bool)
        self._gives_pil = to_pil

    def __call__(self, *inputs):
        inputs = [np.frombuffer(x, np.uint8) if isinstance(x, (bytes, bytearray)) else x for x in inputs]
        for x in inputs:
            if not isinstance(x, np.ndarray):
                raise TypeError(f'The type of the encoded image should be {np.ndarray}, but got {type(x)}.')
            if x.dtype.kind not in 'uiS':
                raise TypeError(f'The data type of the encoded image can not be {x.dtype.type}.')
            if x.ndim != 1:
                raise TypeError(f'The number of array dimensions of the encoded image should be 1, but got {x.ndim}.')
        if self.to_pil:
            import io
            from PIL import Image
            try:
                images = tuple(Image.open(io.BytesIO(x.tobytes())).convert('RGB') for x in inputs)
            except (OSError, SyntaxError) as e:  # what PIL raises for damaged files
                raise ValueError(f'{e}: Failed to decode given image.') from e
            return images[0] if len(images) == 1 else images
        return super().__call__(*inputs)


class ToPIL(PyTensorOperation):
    """An array as an image of PIL."""

    _gives_pil = True

    def __call__(self, img):
        from PIL import Image
        if is_pil(img):
            return img
        if not isinstance(img, np.ndarray):
            raise TypeError(f'The input image should be of type numpy.ndarray or PIL.Image.Image. Got {type(img)}.')
        if img.ndim not in (2, 3):
            raise ValueError(f'The dimension of input image should be 2 or 3. Got {img.ndim}.')
        if img.ndim == 3 and img.shape[2] > 4:
            raise ValueError(f'The channel of input image should not exceed 4. Got {img.shape[2]}.')
        if img.ndim == 3 and img.shape[2] > 1 and img.dtype != np.uint8:
            raise TypeError(f'The input image type {img.dtype} is not supported when image shape is [H, W, 2], [H, W, 3] or '
                            '[H, W, 4].')
        return Image.fromarray(img[:, :, 0] if img.ndim == 3 and img.shape[2] == 1 else img)


class ToNumpy(PyTensorOperation):
    """An image of PIL as an array."""

    _ends_pil = True

    def __call__(self, img):
        return np.array(img)


# ---- sizes ----

class RandomResizedCrop(_Numbers):
    """A window of random area and aspect, resized."""

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3. / 4., 4. / 3.), interpolation=Inter.BILINEAR, max_attempts=10):
        hw = _size(size)
        if scale is None:
            scale = (0.08, 1.0)
        if ratio is None:
            ratio = (3. / 4., 4. / 3.)
        _scale_and_ratio(scale, ratio, 'should be a list/tuple of length 2.', (tuple, list))
        max_attempts = _check.integer('max_attempts', 10 if max_attempts is None else max_attempts, 1)
        interpolation = Inter.BILINEAR if interpolation is None else interpolation
        self.size, self.scale, self.ratio, self.interpolation = size, scale, ratio, interpolation
        self._numbers = (*hw, *scale, *ratio, _inter('interpolation', interpolation), max_attempts)


class RandomCropDecodeResize(RandomResizedCrop):
    """The same on the bytes of an image: only the window is decoded."""


class ResizedCrop(PyTensorOperation):
    """A given window, resized."""

    def __init__(self, top, left, height, width, size, interpolation=Inter.BILINEAR):
        from .vision import Crop, Resize
        self._crop = Crop((_check.integer('top', top), _check.integer('left', left)),
                          (_check.integer('height', height, 1), _check.integer('width', width, 1)))
        self._resize = Resize(_size(size), interpolation)

    def __call__(self, img):
        return self._resize(self._crop(img))


class RandomResize(PyTensorOperation):
    """Resize with an interpolation chosen at random; an image of PIL becomes an array, as PIL has not all of them."""

    _draws = _ends_pil = True

    def __init__(self, size):
        from .vision import Resize, _resize_size
        _resize_size(size)
        self.size = size
        self._resize = [Resize(size, Inter(k)) for k in (Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA)]

    def __call__(self, *images):
        """All columns of a row in the same way."""
        return self._resize[draw().randint(4)](*[np.asarray(i) if is_pil(i) else i for i in images])


class FiveCrop(PyTensorOperation):
    """The corners and the centre."""

    def __init__(self, size):
        self.size, self._hw = size, _size(size)

    def __call__(self, img):
        from .vision import Crop
        (h, w), size = self._hw, get_image_size(img)
        if h > size[0] or w > size[1]:
            raise ValueError(f'Crop size {[h, w]} is bigger than input size {size}.')
        low, right = size[0] - h, size[1] - w
        places = ((0, 0), (0, right), (low, 0), (low, right), (round(low / 2), round(right / 2)))
        if is_pil(img):
            return tuple(img.crop((x, y, x + w, y + h)) for y, x in places)
        return tuple(Crop(at, self._hw)(img) for at in places)


class TenCrop(PyTensorOperation):
    """FiveCrop of the image and of its mirror image."""

    def __init__(self, size, use_vertical_flip=False):
        self._five = FiveCrop(size)
        self.use_vertical_flip = _check.kind('use_vertical_flip', use_vertical_flip, bool)

    def __call__(self, img):
        from .vision import RandomHorizontalFlip, RandomVerticalFlip
        flip = RandomVerticalFlip(1.0) if self.use_vertical_flip else RandomHorizontalFlip(1.0)
        return self._five(img) + self._five(flip(img))


class PadToSize(PyTensorOperation):
    """Borders up to a size; offset = (top, left), None = the image in the middle."""

    def __init__(self, size, offset=None, fill_value=0, padding_mode=Border.CONSTANT):
        self.size, self._hw, self._colour = size, self._two('size', size, 1, 'a'), fill_value
        self.offset = None if offset is None else self._two('offset', offset, 0, 'empty or a') or None
        _fill(fill_value)
        self._mode = _check.kind('padding_mode', padding_mode, Border)

    @staticmethod
    def _two(name, value, low, what):
        _check.kind(name, value, int, list, tuple)
        if isinstance(value, int):
            return (_check.integer(name, value, low),) * 2
        if len(value) != 2 and (low or value):
            raise ValueError(f'The {name} must be {what} sequence of length 2.')
        for i, v in enumerate(value):
            _check.kind(f'{name}{i}', v, int)
        return tuple(_check.integer(f'{name}{i}', v, low) for i, v in enumerate(value))

    def __call__(self, img):
        from .vision import Pad
        img = image_array(img)
        wrong = 'type of (bool, int8, uint8, int16, uint16, int32, float16, float32, float64)' if img.dtype.kind in 'USOV' else \
            'dimension of (2, 3), in shape of <H, W> or <H, W, C>' if img.ndim not in (2, 3) else \
            'channel of (1, 3)' if img.ndim == 3 and img.shape[2] not in (1, 3) else None
        if wrong:
            raise RuntimeError('PadToSize: the image tensor does not match the requirement of operator. Expecting tensor in '
                               f'{wrong}. But got {img.dtype} of shape {img.shape}.')
        h, w = img.shape[:2]
        top, left = self.offset or ((self._hw[0] - h) // 2, (self._hw[1] - w) // 2)
        bottom, right = self._hw[0] - h - top, self._hw[1] - w - left
        if h > self._hw[0] or w > self._hw[1]:
            raise RuntimeError('PadToSize: the target size to pad should be no less than the original image size, but got '
                               f'target size {self._hw} and original size {(h, w)}.')
        if bottom < 0 or right < 0:
            raise RuntimeError('PadToSize: the sum of offset and original image size should be no more than the target size '
                               f'to pad, but got offset {(top, left)} plus original size {(h, w)} bigger than {self._hw}')
        return Pad((left, top, right, bottom), self._colour, self._mode)(img)


# ---- geometry ----

def _degrees(degrees):
    _check.kind('degrees', degrees, int, float, list, tuple)
    if isinstance(degrees, numbers.Number):
        _within('degrees', degrees, 0, _check.FLOAT_INTEGER)
        return -degrees, degrees
    if len(degrees) != 2:
        raise TypeError('If degrees is a sequence, the length must be 2.')
    return _pair('degrees', degrees)


class RandomRotation(_PilNumbers):
    """Rotation about the centre, or about `center` = (x, y), by a random angle."""

    def __init__(self, degrees, resample=Inter.NEAREST, expand=False, center=None, fill_value=0):
        self._numbers = (*_degrees(degrees), _inter('resample', resample), int(_check.kind('expand', expand, bool)),
                         *self._centre(center), *_fill(fill_value))
        self.degrees, self.resample, self.expand, self.center, self.fill_value = degrees, resample, expand, center, fill_value

    def _pil(self, image):
        if self.resample in (Inter.PILCUBIC, Inter.AREA):
            raise TypeError('Current Interpolation is not supported with PIL input.')
        if self.resample == Inter.ANTIALIAS and (self.center is not None or any(v % 90 for v in self._numbers[:2])):
            raise ValueError('When using Inter.ANTIALIAS, center needs to be None and angle needs to be an integer multiple of 90.')
        return super()._pil(image)

    @staticmethod
    def _centre(center):
        if center is None:
            return 0, 0, 0
        if not isinstance(center, tuple) or len(center) != 2:
            raise ValueError('Value center needs to be a 2-tuple.')
        return (1, *(_check.number('center', v) for v in center))


class Rotate(RandomRotation):
    """The same by a given angle."""

    _ends_pil = True

    def __init__(self, degrees, resample=Inter.NEAREST, expand=False, center=None, fill_value=0):
        _within('degrees', _check.kind('degrees', degrees, float, int), -_check.FLOAT_INTEGER, _check.FLOAT_INTEGER)
        super().__init__((degrees, degrees), resample, expand, center, fill_value)
        self.degrees = degrees


class Affine(TensorOperation):
    """Rotation, translation by shares of the size, scale and shear."""

    def __init__(self, degrees, translate, scale, shear, resample=Inter.NEAREST, fill_value=0):
        _within('degrees', degrees, -180, 180)
        _check.kind('translate', translate, list, tuple)
        if len(translate) != 2:
            raise TypeError('The length of translate should be 2.')
        for i, v in enumerate(translate):
            _within(f'translate[{i}]', v, -1.0, 1.0)
        _check.kind('scale', scale, int, float)
        if scale <= 0:
            raise ValueError('Input scale must be greater than 0.')
        _check.kind('shear', shear, numbers.Number, tuple, list)
        if isinstance(shear, numbers.Number):
            shear = (float(_limited('shear', shear, -180, 180)), 0)
        if len(shear) != 2:
            raise TypeError('The length of shear should be 2.')
        for i, v in enumerate(shear):
            _within(f'shear[{i}]', v, -180, 180)
        self.translate, self._degrees, self._scale, self._shear = translate, degrees, scale, shear
        self._tail = (_inter('resample', resample), *_fill(fill_value))

    def _make(self):
        tx, ty = self.translate
        return _c.ds_transform('RandomAffine', self._degrees, self._degrees, tx, tx, ty, ty, self._scale, self._scale,
                               self._shear[0], self._shear[0], self._shear[1], self._shear[1], *self._tail)


class RandomAffine(_PilNumbers):
    """The same, each at random within its range."""

    def __init__(self, degrees, translate=None, scale=None, shear=None, resample=Inter.NEAREST, fill_value=0):
        moves = (0, 0, 0, 0)
        if translate is not None:
            _check.kind('translate', translate, list, tuple)
            if len(translate) not in (2, 4):
                raise TypeError('translate should be a list or tuple of length 2 or 4.')
            for i, v in enumerate(translate):
                _within(f'translate[{i}]', v, -1.0, 1.0)
            moves = (*translate, 0, 0) if len(translate) == 2 else tuple(translate)
            moves = (*sorted(moves[:2]), *sorted(moves[2:]))
        if scale is not None:
            _pair('scale', scale, 0, None, 'should be a list or tuple of length 2.', (tuple, list))
            if scale[1] <= 0:
                raise ValueError('Input scale[1] must be greater than 0.')
        shears = (0, 0, 0, 0)
        if shear is not None:
            _check.kind('shear', shear, numbers.Number, tuple, list)
            if isinstance(shear, numbers.Number):
                if shear <= 0:
                    raise ValueError('Input shear must be greater than 0.')
                shears = (-shear, shear, 0, 0)
            elif len(shear) == 2:
                shears = (*_pair('shear', shear), 0, 0)
            elif len(shear) == 4:
                shears = (*_pair('shear', shear[:2]), *_pair('shear', shear[2:]))
            else:
                raise TypeError('shear must be of length 2 or 4.')
        self._numbers = (*_degrees(degrees), *moves, *(scale or (1, 1)), *shears, _inter('resample', resample),
                         *_fill(0 if fill_value is None else fill_value))


class Perspective(_PilNumbers):
    """Takes four points to four others."""

    def __init__(self, start_points, end_points, interpolation=Inter.BILINEAR):
        points = []
        for name, value in (('start_points', start_points), ('end_points', end_points)):
            _check.kind(name, value, list, tuple)
            pairs = [len(_check.kind(f'{name}[{i}]', p, list, tuple)) == 2 for i, p in enumerate(value)]
            if len(value) != 4:
                raise TypeError(f'{name} should be a list or tuple of length 4.')
            if not all(pairs):
                raise TypeError(f'{name} should be a list or tuple of four points (x, y).')
            points += [_check.integer(name, v, -_check.INT32_MAX - 1) for p in value for v in p]
        self._numbers = (*points, _inter('interpolation', interpolation))


class RandomPerspective(_PilNumbers):
    def __init__(self, distortion_scale=0.5, prob=0.5, interpolation=Inter.BICUBIC):
        for name, value in (('distortion_scale', distortion_scale), ('prob', prob)):
            _check.unit(name, _check.kind(name, value, float))
        self._numbers = (distortion_scale, prob, _inter('interpolation', interpolation))


# ---- colours ----

def _factor(name, value, within=None):
    _check.kind(name, value, float, int)
    return (within or _within)(name, value, 0, _check.FLOAT_INTEGER)


class _Enhanced(_PilNumbers):
    """An image of PIL is blended by the class of ImageEnhance named `_enhancer`, with the same formulas for all of its modes."""

    def _pil(self, image):
        from PIL import ImageEnhance
        return getattr(ImageEnhance, self._enhancer)(image).enhance(self._numbers[0])


class AdjustBrightness(_Enhanced):
    _enhancer = 'Brightness'

    def __init__(self, brightness_factor):
        self.brightness_factor = _factor('brightness_factor', brightness_factor)
        self._numbers = (brightness_factor,)


class AdjustContrast(_Enhanced):
    _enhancer = 'Contrast'

    def __init__(self, contrast_factor):
        self.contrast_factor = _factor('contrast_factor', contrast_factor)
        self._numbers = (contrast_factor,)


class AdjustSaturation(_Enhanced):
    _enhancer = 'Color'

    def __init__(self, saturation_factor):
        self.saturation_factor = _factor('saturation_factor', saturation_factor, _check.within)
        self._numbers = (saturation_factor,)


class AdjustSharpness(_Numbers):
    def __init__(self, sharpness_factor):
        self.sharpness_factor = _factor('sharpness_factor', sharpness_factor, _check.within)
        self._numbers = (sharpness_factor,)


class AdjustHue(_PilNumbers):
    def __init__(self, hue_factor):
        self.hue_factor = _within('hue_factor', _check.kind('hue_factor', hue_factor, float, int), -0.5, 0.5)
        self._numbers = (hue_factor,)


class AdjustGamma(_PilNumbers):
    def __init__(self, gamma, gain=1):
        self.gamma, self.gain = _factor('gamma', gamma, _check.within), 1 if gain is None else _check.number('gain', gain)
        self._numbers = (gamma, self.gain)


class Invert(TensorOperation):
    _ends_pil = False

    def _pil(self, image):
        from PIL import ImageOps
        return ImageOps.invert(image)


class Equalize(TensorOperation):
    """Spreads the values of each channel evenly over 0..255; an image of PIL as PIL does."""

    _ends_pil = False

    def _pil(self, image):
        from PIL import ImageOps
        return ImageOps.equalize(image)


def _cutoff(cutoff, ignore):
    _check.kind('cutoff', cutoff, int, float)
    if not 0 <= cutoff < 50:
        raise ValueError('Input cutoff is not within the required interval of [0, 50).')
    ignore = [] if ignore is None else _check.kind('ignore', ignore, list, tuple, int)
    ignore = [ignore] if isinstance(ignore, int) else ignore
    return (cutoff, *(_limited('ignore', _check.kind('item', v, int), 0, 255) for v in ignore))


class AutoContrast(_PilNumbers):
    def __init__(self, cutoff=0.0, ignore=None):
        self._numbers = _cutoff(cutoff, ignore)


class RandomAutoContrast(_Numbers):
    def __init__(self, cutoff=0.0, ignore=None, prob=0.5):
        self._numbers = (_check.unit('prob', prob), *_cutoff(cutoff, ignore))


class Solarize(_Numbers):
    def __init__(self, threshold):
        _check.kind('threshold', threshold, float, int, list, tuple)
        pair = (threshold, threshold) if isinstance(threshold, numbers.Number) else tuple(threshold)
        if len(pair) != 2:
            raise TypeError('threshold must be a single number or sequence of two numbers.')
        for i, v in enumerate(pair):
            _limited(f'threshold[{i}]', _check.kind(f'threshold[{i}]', v, float, int), 0, 255)
        if pair[1] < pair[0]:
            raise ValueError('threshold must be in order of (min, max).')
        self._numbers = pair


class RandomSolarize(_Numbers):
    def __init__(self, threshold=(0, 255)):
        if len(_check.kind('threshold', threshold, tuple)) != 2:
            raise ValueError('threshold must be a sequence of two numbers.')
        for i, v in enumerate(threshold):
            _check.within(f'threshold[{i}]', _check.kind(f'threshold[{i}]', v, int), 0, 255)
        if threshold[1] < threshold[0]:
            raise ValueError('threshold must be in min max format numbers.')
        self._numbers = threshold


class Posterize(_Numbers):
    def __init__(self, bits):
        self._numbers = (_check.integer('bits', bits, 0, 8),)


class RandomPosterize(_Numbers):
    def __init__(self, bits=(8, 8)):
        bits = _check.kind('bits', (8, 8) if bits is None else bits, list, tuple, int)
        if not isinstance(bits, int) and len(bits) != 2:
            raise TypeError('Size of bits should be a single integer or a list/tuple (min, max) of length 2.')
        if not isinstance(bits, int) and bits[0] > bits[1]:
            raise ValueError('Input is not within the required interval of [1, 8].')
        self._numbers = _pair('bits', (bits, bits) if isinstance(bits, int) else bits, 1, 8, elements=(int,))


class RandomInvert(_Numbers):
    def __init__(self, prob=0.5):
        self._numbers = (_check.unit('prob', prob),)


class RandomEqualize(RandomInvert):
    pass


class RandomColor(_PilNumbers):
    def __init__(self, degrees=(0.1, 1.9)):
        degrees = (0.1, 1.9) if degrees is None else degrees
        if not isinstance(degrees, (list, tuple)):
            raise TypeError('degrees must be either a tuple or a list.')
        if len(degrees) != 2:
            raise ValueError('degrees must be a sequence with length 2.')
        self._numbers = _pair('degrees', degrees, 0)


class RandomSharpness(RandomColor):
    pass


class RandomAdjustSharpness(_Numbers):
    def __init__(self, degree, prob=0.5):
        self._numbers = (_factor('degree', degree), _check.unit('prob', prob))


class RandomLighting(_PilNumbers):
    def __init__(self, alpha=0.05):
        self._numbers = (_factor('alpha', alpha),)


class RandomColorAdjust(_PilNumbers):
    """Brightness, contrast, saturation and hue at random, in random order. A number v stands for (max(0, 1 - v), 1 + v),
    for the hue (-v, v)."""

    def __init__(self, brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0)):
        numbers_ = ()
        for name, value in (('brightness', brightness), ('contrast', contrast), ('saturation', saturation)):
            value = self._spread(name, value, _check.FLOAT_INTEGER)
            if isinstance(value, numbers.Number):
                value = (max(0, 1 - float(value)), 1 + float(value))
            numbers_ += self._two(name, value, 0)
        hue = self._spread('hue', hue, 0.5)
        if isinstance(hue, numbers.Number):
            hue = (-hue, hue)
        self._numbers = (*numbers_, *self._two('hue', hue, -0.5, 0.5))
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    def _pil(self, image):
        return super()._pil(image) if image.mode == 'RGB' else super()._pil(image.convert('RGB')).convert(image.mode)

    @staticmethod
    def _spread(name, value, high):
        _check.kind(name, value, numbers.Number, list, tuple)
        if isinstance(value, numbers.Number):
            if value < 0:
                raise ValueError(f'The input value of {name} cannot be negative.')
            _check.within(name, value, 0 if high > 1 else -high, high)
        return value

    @staticmethod
    def _two(name, value, low, high=None):
        if len(value) != 2:
            raise TypeError(f'If {name} is a sequence, the length must be 2.')
        return _pair(name, value, low, high)


class Grayscale(TensorOperation):
    _ends_pil = False

    def __init__(self, num_output_channels=1):
        if _check.kind('num_output_channels', num_output_channels, int) not in (1, 3):
            raise ValueError('Number of channels of the output grayscale imageshould be either 1 or 3. Got '
                             f'{num_output_channels}.')
        self.num_output_channels = num_output_channels

    def _args(self):
        return self.num_output_channels, 1.0

    def _pil(self, image):
        grey = image.convert('L')
        return grey if self.num_output_channels == 1 else grey.convert('RGB')


class RandomGrayscale(TensorOperation):
    _ends_pil = False

    def __init__(self, prob=0.1):
        self.prob = _check.unit('prob', prob)

    def _make(self):
        return _c.ds_transform('Grayscale', 0, self.prob)

    def __call__(self, *inputs):
        if len(inputs) == 1 and is_pil(inputs[0]) and inputs[0].mode == 'L':
            return inputs[0]
        return super().__call__(*inputs)


class GaussianBlur(_Numbers):
    def __init__(self, kernel_size, sigma=None):
        size = self._two('kernel_size', kernel_size, (int, list, tuple), (int,), 'Kernel size should be a single integer or a '
                         'list/tuple (kernel_width, kernel_height) of length 2.')
        for v in size:
            _within('kernel_size', v, 1, _check.FLOAT_INTEGER)
            if v % 2 == 0:
                raise ValueError('Input kernel_size is not an odd value.')
        width = (0, 0) if sigma is None else self._two('sigma', sigma, (numbers.Number, list, tuple), (numbers.Number,), 'Sigma '
                                                       'should be a single number or a list/tuple of length 2 for width and height.')
        for v in width:
            _limited('sigma', v, 0, _check.FLOAT_INTEGER)
        self._numbers = (*size, *width)

    @staticmethod
    def _two(name, value, types, elements, text):
        _check.kind(name, value, *types)
        if isinstance(value, numbers.Number):
            return value, value
        if len(value) != 2:
            raise TypeError(text)
        return tuple(_check.kind(f'{name}[{i}]', v, *elements) for i, v in enumerate(value))


class RandomErasing(_Numbers):
    """A random window of <C, H, W> becomes `value`: a number, one per channel, or 'random' noise."""

    def __init__(self, prob=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False, max_attempts=10):
        _scale_and_ratio(scale, ratio, 'should be a list or tuple of length 2.', (list, tuple))
        _check.kind('inplace', inplace, bool)
        _check.kind('value', value, int, str, list, tuple)
        if isinstance(value, str):
            if value != 'random':
                raise ValueError("The value for erasing should be either a single value, or a string 'random', or a "
                                 'sequence of 3 elements for RGB respectively.')
            values = ()
        else:
            values = tuple(_check.within('value', v, 0, 255) for v in ((value,) if isinstance(value, int) else value))
            if not isinstance(value, int) and len(values) != 3:
                raise ValueError('The value for erasing should be either a single value, or a string \'random\', or a '
                                 'sequence of 3 elements for RGB respectively.')
        self._numbers = (_check.unit('prob', prob), *scale, *ratio, _count('max_attempts', max_attempts), *values)


class CutOut(_Numbers):
    def __init__(self, length, num_patches=1, is_hwc=True):
        self._numbers = (_count('length', length), _count('num_patches', num_patches),
                         int(_check.kind('is_hwc', is_hwc, bool)))


class Erase(_Numbers):
    def __init__(self, top, left, height, width, value=0, inplace=False):
        _check.kind('inplace', inplace, bool)
        _check.kind('value', value, float, int, tuple)
        values = (value,) * 3 if isinstance(value, numbers.Number) else value
        if len(values) != 3:
            raise TypeError('value should be a single integer/float or a 3-tuple.')
        for i, v in enumerate(values):
            _within(f'value[{i}]', v, 0, 255)
        self._numbers = (_check.integer('top', top), _check.integer('left', left), _check.integer('height', height, 1),
                         _check.integer('width', width, 1), *values)


class NormalizePad(PyTensorOperation):
    """Normalize, with a fourth channel of zeros."""

    def __init__(self, mean, std, dtype='float32', is_hwc=True):
        from .vision import Normalize
        self._normalize, self.dtype, self.is_hwc = Normalize(mean, std, is_hwc), dtype, is_hwc
        if not isinstance(dtype, str):
            raise TypeError('dtype should be string.')
        if dtype not in ('float32', 'float16'):
            raise ValueError('dtype only supports float32 or float16.')

    def __call__(self, img):
        y = self._normalize(img).astype(self.dtype)
        return np.concatenate([y, np.zeros_like(y[..., :1] if self.is_hwc else y[:1])], -1 if self.is_hwc else 0)


class LinearTransformation(PyTensorOperation):
    """The image as a vector, minus a mean, times a square matrix."""

    def __init__(self, transformation_matrix, mean_vector):
        for name, value in (('transformation_matrix', transformation_matrix), ('mean_vector', mean_vector)):
            _check.kind(name, value, np.ndarray)
        n = len(transformation_matrix)
        if transformation_matrix.shape != (n, n):
            raise ValueError('transformation_matrix should be a square matrix.')
        if mean_vector.shape != (n,):
            raise ValueError('mean_vector length should match either one dimension of the square transformation_matrix.')
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def __call__(self, img):
        if not isinstance(img, np.ndarray):
            raise TypeError(f'img should be NumPy array. Got {type(img)}')
        if img.size != len(self.mean_vector):
            raise ValueError(f'The image has {img.size} values, the matrix is for {len(self.mean_vector)}.')
        return ((img.reshape(1, -1) - self.mean_vector) @ self.transformation_matrix).reshape(img.shape)


# ---- files ----

def get_image_size(image):
    """[height, width] of an array or an image of PIL."""
    if is_pil(image):
        return [image.size[1], image.size[0]]
    _check_array('GetImageSize', image)
    return list(image.shape[-3:-1] if image.ndim > 2 else image.shape)


def _check_array(op, image):
    if not isinstance(image, np.ndarray):
        raise TypeError("Input image is not of type <class 'numpy.ndarray'> or <class 'PIL.Image.Image'>, but got: "
                        f'{type(image)}.')
    if image.ndim < 2:
        raise RuntimeError(f'{op}: invalid parameter, image should have at least two dimensions, but got: {image.ndim}')


def get_image_num_channels(image):
    if is_pil(image):
        return len(image.getbands())
    _check_array('GetImageNumChannels', image)
    return 1 if image.ndim == 2 else image.shape[-1]


def _file_name(filename, **more):
    for name, value, types in (('filename', filename, (str,)), *((k, *v) for k, v in more.items())):
        if not isinstance(value, types):
            raise TypeError(f'{"The input" if name == "image" and "compression_level" in more else "Input"} {name} is not of type {" or ".join(map(str, types))}, but got: {type(value)}.')


def read_file(filename):
    """The bytes of a file as a uint8 array."""
    _file_name(filename)
    try:
        return np.fromfile(filename, np.uint8)
    except OSError as e:
        why = 'does not exist.' if not os.path.exists(filename) else 'is not a regular file.' if os.path.isdir(filename) else \
            'cannot be read.'
        raise RuntimeError(f'Invalid file path, {filename} {why}') from e


def read_image(filename, mode=0):
    """An image file as <H, W, C>; mode: ImageReadMode."""
    from .vision import ImageReadMode
    _file_name(filename, mode=(ImageReadMode(mode) if type(mode) is int and mode in (0, 1, 2) else mode, (ImageReadMode,)))
    data = read_file(filename)
    try:
        rgb = Decode()(data)
    except RuntimeError as e:
        raise RuntimeError(f'Failed to read file {filename}: {e}') from e
    if mode == ImageReadMode.GRAYSCALE or (mode == ImageReadMode.UNCHANGED and _is_grey(data)):
        return Grayscale(1)(rgb)[:, :, None]
    return rgb


def _is_grey(data):
    """Whether the bytes are those of a PNG or JPEG image of one channel, by their headers."""
    data = data.tobytes()
    if data[:4] == b'\x89PNG':
        return data[25] == 0
    at = 2
    while data[:2] == b'\xff\xd8' and at + 9 < len(data):  # a JPEG is a list of marked segments
        marker, size = data[at + 1], int.from_bytes(data[at + 2:at + 4], 'big')
        if 0xc0 <= marker <= 0xcf and marker not in (0xc4, 0xc8, 0xcc):
            return data[at + 9] == 1
        at += 2 + size
    return False


def write_file(filename, data):
    _file_name(filename, data=(data, (np.ndarray, _c.Tensor)))
    data = np.asarray(data.asnumpy() if hasattr(data, 'asnumpy') else data)
    if data.dtype != np.uint8:
        raise RuntimeError(f'WriteFile: The type of the elements of data should be UINT8, but got {data.dtype}.')
    if data.ndim != 1:
        raise RuntimeError('WriteFile: The data has invalid dimensions. It should have only one dimension, but got '
                           f'{data.ndim} dimensions.')
    _check_target('WriteFile', filename)
    try:
        data.tofile(filename)
    except OSError as e:
        if os.path.isfile(filename):
            os.unlink(filename)  # a part must not pass for the whole
        raise RuntimeError(f'WriteFile: The file {filename} cannot be written: {e.strerror or e}.') from e


def _check_target(op, filename):
    """A file of this name can be made, or is there already."""
    if os.path.exists(filename) and not os.path.isfile(filename):
        raise RuntimeError(f'{op}: Invalid file path, {filename} is not a regular file.')
    if not filename or not os.path.isdir(os.path.dirname(filename) or '.'):
        raise RuntimeError(f'{op}: No such file or directory: {filename}')


def _to_encode(verb, name, image, quality, filename=''):
    """The image to write or to encode as an array, checked with the quality."""
    value = 'quality' if name == 'jpeg' else 'compression_level'
    low, high, op = (1, 100, f'{verb}Jpeg') if name == 'jpeg' else (0, 9, f'{verb}Png')
    _file_name(filename, image=(image, (np.ndarray, _c.Tensor)), **{value: (quality, (int,))})
    image = np.asarray(image.asnumpy() if hasattr(image, 'asnumpy') else image)
    if image.dtype != np.uint8:
        what = 'elements of image' if verb == 'Write' else 'image data'
        raise RuntimeError(f'{op}: The type of the {what} should be UINT8, but got {image.dtype}.')
    if image.ndim not in (2, 3):
        raise RuntimeError(f'{op}: The image has invalid dimensions. It should have two or three dimensions, but got '
                           f'{image.ndim} dimensions.')
    if image.ndim == 3 and image.shape[2] not in (1, 3):
        raise RuntimeError(f'{op}: The image has invalid channels. It should have 1 or 3 channels, but got {image.shape[2]} '
                           'channels.')
    if not low <= quality <= high:
        raise RuntimeError(f'{op}: Invalid {value} {quality}, should be in range of [{low}, {high}].')
    return image


def _write(name, filename, image, quality):
    image = _to_encode('Write', name, image, quality, filename)
    _check_target(f'Write{name.capitalize()}', filename)
    _c.ds_write_image(os.fsencode(filename), name, image, quality)


def write_jpeg(filename, image, quality=75):
    _write('jpeg', filename, image, quality)


def write_png(filename, image, compression_level=6):
    _write('png', filename, image, compression_level)
