"""Transforms of images together with their boxes, rows of (x, y, width, height, ...), of colour spaces and into patches."""
import enum
import os

import numpy as np

from mindspore import _c

from . import _check
from ._image import RandomResizedCrop, _to_encode
from .transforms import PyTensorOperation, TensorOperation, draw, image_array
from .vision import Border, HorizontalFlip, Inter, Pad, Resize, VerticalFlip, _fill, _padding, _size


class ConvertMode(enum.IntEnum):
    COLOR_BGR2BGRA = COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


class SliceMode(enum.IntEnum):
    PAD = 0
    DROP = 1


def _image(name, image):
    image = image_array(image)
    if image.ndim not in (2, 3):
        raise RuntimeError(f'{name}: the image must be an array of 2 or 3 dimensions, but got {image.shape}.')
    return image


class ConvertColor(PyTensorOperation):
    """Changes the order of the channels, adds or drops the alpha channel, or makes a grey image <H, W>."""

    #                   result channels, swaps red and blue
    _forms = {0: (4, False), 1: (3, False), 2: (4, True), 3: (3, True), 4: (3, True), 5: (4, True), 8: (3, False),
              9: (4, False)}

    def __init__(self, convert_mode):
        self.convert_mode = _check.kind('convert_mode', convert_mode, ConvertMode)

    def __call__(self, image):
        image = _image('ConvertColor', image)
        channels = 1 if image.ndim == 2 else image.shape[2]
        if self.convert_mode not in self._forms:
            if channels not in (3, 4):
                raise RuntimeError(f'ConvertColor: the image must have 3 or 4 channels, but got {channels}.')
            r, g, b = np.moveaxis(image[..., :3].astype(np.int64), -1, 0)
            if self.convert_mode in (ConvertMode.COLOR_BGR2GRAY, ConvertMode.COLOR_BGRA2GRAY):
                r, b = b, r
            return ((9798 * r + 19235 * g + 3735 * b + 16384) >> 15).astype(image.dtype)
        count, swap = self._forms[self.convert_mode]
        if channels not in (1, 3, 4) or (channels != 1 and self.convert_mode in (8, 9)):
            raise RuntimeError(f'ConvertColor: {self.convert_mode.name} does not take an image of {channels} channels.')
        if channels == 1:
            image = np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)
        colours = image[..., 2::-1] if swap else image[..., :3]
        if count == 3:
            return np.ascontiguousarray(colours)
        alpha = image[..., 3:] if channels == 4 else np.full((*image.shape[:2], 1), 255, image.dtype)
        return np.concatenate([colours, alpha], axis=2)


class _Hsv(PyTensorOperation):
    """Hue and saturation of 0..1; the value keeps the scale of the image. Axes before the image's are a batch."""

    def __init__(self, is_hwc=False):
        self.is_hwc = _check.kind('is_hwc', is_hwc, bool)

    def __call__(self, image):
        if not isinstance(image, np.ndarray):
            raise TypeError(f'img should be NumPy image. Got {type(image)}.')
        if image.ndim not in (3, 4):
            raise TypeError(f'img shape should be (H, W, C)/(N, H, W, C)/(C, H, W)/(N, C, H, W). Got {image.shape}.')
        dtype = image.dtype if image.dtype.kind == 'f' else np.float64
        image = image.astype(np.float64)
        axis = -1 if self.is_hwc else -3
        if image.shape[axis] != 3:
            raise TypeError(f'{type(self).__name__}: the image must have 3 channels, but got {image.shape[axis]}.')
        return np.stack(self._convert(*np.moveaxis(image, axis, 0)), axis).astype(dtype)


class RgbToHsv(_Hsv):
    def _convert(self, r, g, b):
        high, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
        span = high - low
        safe = np.where(span == 0, 1, span)
        hue = np.where(r == high, (g - b) / safe, np.where(g == high, 2 + (b - r) / safe, 4 + (r - g) / safe))
        return hue / 6 % 1 * (span != 0), span / np.where(high == 0, 1, high), high


class HsvToRgb(_Hsv):
    def _convert(self, h, s, v):
        part = np.floor(h * 6)
        f = h * 6 - part
        p, q, t = v * (1 - s), v * (1 - s * f), v * (1 - s * (1 - f))
        k = part.astype(int) % 6
        return np.choose(k, [v, q, p, p, t, v]), np.choose(k, [t, v, v, q, p, p]), np.choose(k, [p, p, t, v, v, q])


class SlicePatches(PyTensorOperation):
    """Cuts an image into num_height x num_width patches, one column each."""

    def __init__(self, num_height=1, num_width=1, slice_mode=SliceMode.PAD, fill_value=0):
        self.num_height = _check.integer('num_height', 1 if num_height is None else num_height, 1)
        self.num_width = _check.integer('num_width', 1 if num_width is None else num_width, 1)
        self.slice_mode = _check.kind('slice_mode', SliceMode.PAD if slice_mode is None else slice_mode, SliceMode)
        self.fill_value = _check.integer('fill_value', 0 if fill_value is None else fill_value, 0, 255)

    def __call__(self, image):
        image = _image('SlicePatches', image)
        sizes, counts = image.shape[:2], (self.num_height, self.num_width)
        if sizes[0] < counts[0] or sizes[1] < counts[1]:
            raise RuntimeError(f'SlicePatches: an image of {sizes[0]} x {sizes[1]} has no {counts[0]} x {counts[1]} patches.')
        if self.slice_mode == SliceMode.DROP:
            h, w = (n // k for n, k in zip(sizes, counts))
        else:
            h, w = (-(-n // k) for n, k in zip(sizes, counts))
            more = [(0, h * counts[0] - sizes[0]), (0, w * counts[1] - sizes[1])] + [(0, 0)] * (image.ndim - 2)
            image = np.pad(image, more, constant_values=self.fill_value)
        patches = tuple(np.ascontiguousarray(image[r * h:(r + 1) * h, c * w:(c + 1) * w])
                        for r in range(counts[0]) for c in range(counts[1]))
        return patches if len(patches) > 1 else patches[0]


def _encode(name, image, quality):
    """The bytes that write_jpeg and write_png would put into a file."""
    image = _to_encode('Encode', name, image, quality)
    file = os.memfd_create('image')
    try:
        _c.ds_write_image(f'/proc/self/fd/{file}'.encode(), name, image, quality)
        return np.frombuffer(os.pread(file, os.fstat(file).st_size, 0), np.uint8).copy()
    finally:
        os.close(file)


def encode_jpeg(image, quality=75):
    return _encode('jpeg', image, quality)


def encode_png(image, compression_level=6):
    return _encode('png', image, compression_level)


# ---- boxes ----

class _Boxes(PyTensorOperation):
    _draws = True

    def __call__(self, *columns):
        if len(columns) != 2:
            raise RuntimeError('BoundingBox: invalid input, size of input data should be 2 (including image and bounding box), '
                               f'but got: {len(columns)}')
        image, boxes = _image(type(self).__name__, columns[0]), np.array(columns[1])
        if boxes.ndim != 2:
            raise RuntimeError('BoundingBox: bounding boxes should have to be two-dimensional matrix at least, but got '
                               f'{boxes.ndim} dimension.')
        if boxes.shape[1] < 4:
            raise RuntimeError(f'BoundingBox: bounding boxes should be have at least 4 features, but got: {boxes.shape[1]}')
        h, w = image.shape[:2]
        for x, y, bw, bh in boxes[:, :4].astype(np.float64):
            if x + bw > w or y + bh > h:
                raise RuntimeError(f'BoundingBox: bounding boxes is out of bounds of the image, as image width: {w}, bbox width '
                                   f'coordinate: {x + bw:f}, and image height: {h}, bbox height coordinate: {y + bh:f}')
            if x < 0 or y < 0:
                raise RuntimeError(f'BoundingBox: the coordinates of the bounding boxes has negative value, got: ({x:f},{y:f}).')
        return self._run(image, boxes)


class _FlipBoxes(_Boxes):
    def __init__(self, prob=0.5):
        self.prob = _check.unit('prob', prob)

    def _run(self, image, boxes):
        if draw().rand() >= self.prob:
            return image, boxes
        boxes[:, self._axis] = image.shape[1 - self._axis] - boxes[:, self._axis] - boxes[:, 2 + self._axis]
        return self._flip(image), boxes


class RandomHorizontalFlipWithBBox(_FlipBoxes):
    _axis, _flip = 0, HorizontalFlip()


class RandomVerticalFlipWithBBox(_FlipBoxes):
    _axis, _flip = 1, VerticalFlip()


def _resized(image, boxes, resize):
    new = resize(image)
    scale = np.array([new.shape[1] / image.shape[1], new.shape[0] / image.shape[0]] * 2, np.float32)
    boxes[:, :4] = boxes[:, :4] * scale
    return new, boxes


class ResizeWithBBox(_Boxes):
    def __init__(self, size, interpolation=Inter.BILINEAR):
        if interpolation is None:
            raise KeyError('Interpolation should not be None')
        self._resize = Resize(size, interpolation)

    def _run(self, image, boxes):
        return _resized(image, boxes, self._resize)


class RandomResizeWithBBox(_Boxes):
    """Resize with an interpolation chosen at random."""

    def __init__(self, size):
        self._resize = [Resize(size, k) for k in (Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA)]

    def _run(self, image, boxes):
        return _resized(image, boxes, self._resize[draw().randint(4)])


def _cropped(boxes, top, left, h, w):
    """The boxes' parts inside a window; a box outside of it is gone, without any box one of zeros remains."""
    low = np.maximum(boxes[:, :2], [left, top])
    high = np.minimum(boxes[:, :2] + boxes[:, 2:4], [left + w, top + h])
    stays = (high > low).all(axis=1)
    if not stays.any():
        return np.zeros((1, boxes.shape[1]), boxes.dtype)
    boxes = boxes[stays]
    boxes[:, :2], boxes[:, 2:4] = low[stays] - [left, top], (high - low)[stays]
    return boxes


class RandomCropWithBBox(_Boxes):
    def __init__(self, size, padding=None, pad_if_needed=False, fill_value=0, padding_mode=Border.CONSTANT):
        fill_value, padding_mode = 0 if fill_value is None else fill_value, padding_mode or Border.CONSTANT
        self._hw, self._fill = _size(size), fill_value
        _fill(fill_value)
        self._pad = (0, 0, 0, 0) if padding is None else _padding(padding)
        self._needed = _check.kind('pad_if_needed', pad_if_needed, bool)
        self._mode = _check.kind('padding_mode', padding_mode, Border)

    def _run(self, image, boxes):
        (h, w), (left, top, right, bottom) = self._hw, self._pad
        if max(top, bottom) >= 3 * image.shape[0] or max(left, right) >= 3 * image.shape[1]:
            raise RuntimeError(f'RandomCropWithBBox: padding size is three times bigger than the image size, padding top: {top}, '
                               f'padding bottom: {bottom}, padding left: {left}, padding right: {right}, image shape: '
                               f'{image.shape[0]}, {image.shape[1]}')
        if self._needed:
            more_h = max(0, h - image.shape[0] - top - bottom)
            more_w = max(0, w - image.shape[1] - left - right)
            left, top, right, bottom = left + more_w, top + more_h, right + more_w, bottom + more_h
        if left or top or right or bottom:
            image = Pad((left, top, right, bottom), self._fill, self._mode)(image)
            boxes[:, :2] += np.array([left, top], boxes.dtype)
        free = [image.shape[0] - h, image.shape[1] - w]
        if min(free) < 0:
            raise RuntimeError(f'RandomCropWithBBox: the crop of {h} x {w} is larger than the image of '
                               f'{image.shape[0]} x {image.shape[1]}.')
        y, x = draw().randint(free[0] + 1), draw().randint(free[1] + 1)
        return np.ascontiguousarray(image[y:y + h, x:x + w]), _cropped(boxes, y, x, h, w)


class RandomResizedCropWithBBox(_Boxes):
    def __init__(self, size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), interpolation=Inter.BILINEAR, max_attempts=10):
        RandomResizedCrop(size, scale, ratio, interpolation, max_attempts)  # checks them
        self._scale, self._ratio, self._attempts = scale or (0.08, 1.0), ratio or (3 / 4, 4 / 3), max_attempts or 10
        self._resize = Resize(_size(size), Inter.BILINEAR if interpolation is None else interpolation)

    def _window(self, h, w):
        for _ in range(self._attempts):
            area, ratio = h * w * draw().uniform(*self._scale), np.exp(draw().uniform(*np.log(self._ratio)))
            cw, ch = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
            if 0 < cw <= w and 0 < ch <= h:
                return draw().randint(h - ch + 1), draw().randint(w - cw + 1), ch, cw
        ch, cw = min(h, round(w / self._ratio[0])), min(w, round(h * self._ratio[1]))
        return (h - ch) // 2, (w - cw) // 2, ch, cw

    def _run(self, image, boxes):
        y, x, h, w = self._window(*image.shape[:2])
        return _resized(np.ascontiguousarray(image[y:y + h, x:x + w]), _cropped(boxes, y, x, h, w), self._resize)


class BoundingBoxAugment(_Boxes):
    """Applies a transform of images to what lies inside some of the boxes."""

    def __init__(self, transform, ratio=0.3):
        self.transform = _check.kind('transform', transform, TensorOperation, PyTensorOperation)
        self.ratio = _check.unit('ratio', ratio)

    def _run(self, image, boxes):
        image = image.copy()
        for k in draw().permutation(len(boxes))[:int(len(boxes) * self.ratio)]:
            x, y, w, h = boxes[k, :4].astype(int)
            part = self.transform(np.ascontiguousarray(image[y:y + h, x:x + w]))
            if part.shape[:2] != (h, w):
                part = Resize((int(h), int(w)))(part)
            image[y:y + h, x:x + w] = part
        return image, boxes


# ---- video ----

def _no_video(*args, **kwargs):
    raise NotImplementedError('Videos are not supported; read frames with another package and give them to GeneratorDataset.')


read_video = read_video_timestamps = DecodeVideo = VideoDecoder = _no_video

__all__ = ['BoundingBoxAugment', 'ConvertColor', 'ConvertMode', 'DecodeVideo', 'HsvToRgb', 'RandomCropWithBBox',
           'RandomHorizontalFlipWithBBox', 'RandomResizeWithBBox', 'RandomResizedCropWithBBox',
           'RandomVerticalFlipWithBBox', 'ResizeWithBBox', 'RgbToHsv', 'SliceMode', 'SlicePatches', 'VideoDecoder',
           'encode_jpeg', 'encode_png', 'read_video', 'read_video_timestamps']
