"""Transforms on images: arrays of shape <H, W, C> or <H, W>."""
import enum
import numbers
import sys

import numpy as np

from . import _check
from .transforms import TensorOperation, TypeCast, dtype_number, is_pil


class Inter(enum.IntEnum):
    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5

    def _pil(self):
        """Pillow's number of it."""
        return {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 3}[int(self)]


class Border(str, enum.Enum):
    CONSTANT = 'constant'
    EDGE = 'edge'
    REFLECT = 'reflect'
    SYMMETRIC = 'symmetric'


class ImageBatchFormat(enum.IntEnum):
    NHWC = 0
    NCHW = 1


def _size(size):
    """An int (square) or (height, width)."""
    _check.kind('size', size, int, list, tuple)
    if isinstance(size, int):
        return (_check.within('size', size, 1, 16777216),) * 2
    if len(size) != 2:
        raise TypeError('Size should be a single integer or a list/tuple (h, w) of length 2.')
    for i, v in enumerate(size):
        _check.kind(f'size[{i}]', v, int)
    return tuple(_check.within(f'size at dim {i}', v, 1, 16777216) for i, v in enumerate(size))


def _resize_size(size):
    """The same as Resize checks it."""
    if not isinstance(size, (int, list, tuple)) or (not isinstance(size, int) and len(size) != 2):
        raise TypeError('Size should be a single integer or a list/tuple (h, w) of length 2.')
    if isinstance(size, int):
        return _size(int(size))
    for i, v in enumerate(size):
        if not 1 <= _check.kind(f'size at dim {i}', v, int) <= _check.INT32_MAX:
            raise ValueError(f'Input size at dim {i} is not within the required interval of [1, {_check.INT32_MAX}].')
    return _size(size)


def _padding(padding):
    """An int, (left and right, top and bottom) or (left, top, right, bottom)."""
    _check.kind('padding', padding, tuple, list, numbers.Number)
    if isinstance(padding, numbers.Number):
        padding = (_check.kind('padding', padding, int),) * 4
    elif len(padding) == 2:
        padding = (padding[0], padding[1]) * 2
    elif len(padding) != 4:
        raise ValueError('The size of the padding list or tuple should be 2 or 4.')
    for i, v in enumerate(padding):
        _check.kind(f'padding[{i}]', v, int)
    return tuple(_check.integer('padding', v) for v in padding)


def _fill(fill_value):
    if isinstance(fill_value, int):
        fill_value = (_check.kind('fill_value', fill_value, int),) * 3
    if not isinstance(fill_value, tuple) or len(fill_value) != 3:
        raise TypeError('fill_value should be a single integer or a 3-tuple.')
    for i, v in enumerate(fill_value):
        _check.kind(f'fill_value[{i}]', v, int)
    return tuple(_check.integer('fill_value', v, 0, 255) for v in fill_value)


def _border(padding_mode):
    return list(Border).index(_check.kind('padding_mode', padding_mode, Border))


class Rescale(TensorOperation):
    """image * rescale + shift, as float32."""

    def __init__(self, rescale, shift):
        self.rescale, self.shift = _check.number('rescale', rescale), _check.number('shift', shift)

    def _args(self):
        return self.rescale, self.shift


class Normalize(TensorOperation):
    """(image - mean) / std for each channel, as float32."""

    def __init__(self, mean, std, is_hwc=True):
        for name, values in (('mean', mean), ('std', std)):
            _check.kind(name, values, list, tuple)
        if len(mean) != len(std):
            raise ValueError('Length of mean and std must be equal.')
        for name, values in (('mean', mean), ('std', std)):
            for i, v in enumerate(values):
                _check.kind(f'{name}[{i}]', v, int, float)
        for i, v in enumerate(mean):
            if not 0 <= v <= 255:
                raise ValueError(f'Input mean[{i}] is not within the required interval of [0, 255].')
        for i, v in enumerate(std):
            if not 0 < v <= 255:
                raise ValueError(f'Input std[{i}] is not within the required interval of (0, 255].')
        self.mean, self.std, self.is_hwc = mean, std, _check.kind('is_hwc', is_hwc, bool)

    def _args(self):
        return (int(self.is_hwc), *self.mean, *self.std)


class HWC2CHW(TensorOperation):
    """<H, W, C> to <C, H, W>."""


class ToTensor(TensorOperation):
    """<H, W, C> of 0..255 to <C, H, W> of 0..1."""

    def __init__(self, output_type=np.float32):
        self.output_type, self._dtype = output_type, dtype_number(output_type, 'output_type')

    def _args(self):
        return (self._dtype,)

    def _pil(self, image):
        """An image of PIL is divided by 255; an array is multiplied with the reciprocal, a bit less exactly."""
        x = np.asarray(image, np.float32) / np.float32(255)
        return TypeCast(self.output_type)(np.ascontiguousarray(x[None] if x.ndim == 2 else x.transpose(2, 0, 1)))


class ToType(TensorOperation):
    def __init__(self, data_type):
        self.data_type, self._dtype = data_type, dtype_number(data_type)

    def _args(self):
        return (self._dtype,)


class Resize(TensorOperation):
    """To (height, width), or with an int the shorter edge to it, keeping the aspect."""

    _ends_pil = False

    def __init__(self, size, interpolation=Inter.LINEAR):
        self.size, self.interpolation = size, _check.kind('interpolation', interpolation, Inter)
        self._hw = (_resize_size(size)[0], 0) if isinstance(size, int) else _resize_size(size)

    def _args(self):
        return (*self._hw, int(self.interpolation))

    def _pil(self, image):
        if self.interpolation in (Inter.AREA, Inter.PILCUBIC):
            raise TypeError('Current Interpolation is not supported with PIL input.')
        h, w = self._hw
        if w == 0:
            w0, h0 = image.size
            w, h = (h, int(h * h0 / w0)) if w0 < h0 else (int(h * w0 / h0), h)
        return image.resize((w, h), self.interpolation._pil())


class CenterCrop(TensorOperation):
    _ends_pil = False

    def __init__(self, size):
        self.size, self._hw = size, _size(size)

    def _args(self):
        return self._hw


class Crop(TensorOperation):
    def __init__(self, coordinates, size):
        _check.kind('coordinates', coordinates, list, tuple)
        if len(coordinates) != 2:
            raise TypeError('Coordinates should be a list/tuple (y, x) of length 2.')
        self._at = tuple(_check.integer(f'coordinates[{i}]', v) for i, v in enumerate(coordinates))
        self.coordinates, self.size, self._hw = coordinates, size, _size(size)

    def _args(self):
        return (*self._at, *self._hw)


class Pad(TensorOperation):
    _ends_pil = False

    def __init__(self, padding, fill_value=0, padding_mode=Border.CONSTANT):
        self._numbers = (*_padding(padding), *_fill(fill_value), _border(padding_mode))
        self.padding, self.fill_value, self.padding_mode = padding, fill_value, padding_mode

    def _args(self):
        return self._numbers


class RandomCrop(TensorOperation):
    """A window at a random place, the same for every column of a row."""

    _ends_pil = False

    def __init__(self, size, padding=None, pad_if_needed=False, fill_value=0, padding_mode=Border.CONSTANT):
        _check.kind('pad_if_needed', pad_if_needed, bool)
        padding_mode = Border.CONSTANT if padding_mode is None else padding_mode
        self._numbers = (*_size(size), int(pad_if_needed), *_padding(0 if padding is None else padding),
                         *_fill(0 if fill_value is None else fill_value), _border(padding_mode))
        self.size, self.padding, self.pad_if_needed = size, padding, pad_if_needed
        self.fill_value, self.padding_mode = fill_value, padding_mode

    def _args(self):
        return self._numbers

    def __call__(self, *inputs):
        h, w, needed, left, top, right, bottom = self._numbers[:7]
        for x in inputs:
            if is_pil(x) and not needed and (x.height + top + bottom < h or x.width + left + right < w):
                raise ValueError(f'Crop size {[h, w]} is larger than input image size '
                                 f'{(x.height + top + bottom, x.width + left + right)}.')
        return super().__call__(*inputs)


class _RandomFlip(TensorOperation):
    _ends_pil = False

    def __init__(self, prob=0.5):
        self.prob = _check.unit('prob', prob)

    def _args(self):
        return (self.prob,)


class RandomHorizontalFlip(_RandomFlip):
    pass


class RandomVerticalFlip(_RandomFlip):
    pass


class HorizontalFlip(TensorOperation):
    pass


class VerticalFlip(TensorOperation):
    pass


class ImageReadMode(enum.IntEnum):
    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


from ._image import *  # noqa: E402,F401,F403 - they are made of the classes above
from ._policy import *  # noqa: E402,F401,F403
from ._boxes import *  # noqa: E402,F401,F403
from .transforms import not_random  # noqa: E402,F401

for _alias in ('utils', 'transforms'):  # older scripts import these names as modules
    globals()[_alias] = sys.modules[f'{__name__}.{_alias}'] = sys.modules[__name__]
