"""Layers on images (N, C, H, W)."""
from mindspore.common._rows import nn as _nn
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_float, check_positive_int, check_type

__all__ = ["ImageGradients", "SSIM", "MSSSIM", "PSNR", "CentralCrop"]


def _check_images(who, *images):
    for x in images:
        if x.ndim != 4:
            raise ValueError(f"For '{who}', the dimension of the images must be 4, but got {x.ndim}.")
    if len({x.dtype for x in images}) > 1:
        raise TypeError(f"For '{who}', the images must have one type, but got {[str(x.dtype) for x in images]}.")
    if len({tuple(x.shape) for x in images}) > 1:
        raise ValueError(f"For '{who}', the images must have one shape, but got {[x.shape for x in images]}.")


class ImageGradients(Cell):
    """(dy, dx): differences to the next pixel below and to the right; zero in the last row and column."""

    def construct(self, images):
        _check_images(self.cls_name, images)
        return _nn.pad(images[:, :, 1:] - images[:, :, :-1], [0] * 4, [0, 0, 1, 0]), \
            _nn.pad(images[..., 1:] - images[..., :-1], [0] * 4, [0, 0, 0, 1])


class SSIM(Cell):
    """Structural similarity of pairs of images (Wang et al. 2004)."""

    _factors = (1.0,)

    def __init__(self, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
        super().__init__()
        who = self.cls_name
        check_type(max_val, "max_val", (int, float), who)
        if max_val <= 0:
            raise ValueError(f"For '{who}', the 'max_val' must be > 0, but got {max_val}.")
        self.max_val = max_val
        self.filter_size = check_positive_int(filter_size, "filter_size", who)
        self.filter_sigma = check_float(filter_sigma, "filter_sigma", who, 0.0, True)
        self.k1, self.k2 = check_type(k1, "k1", float, who), check_type(k2, "k2", float, who)

    def construct(self, img1, img2):
        _check_images(self.cls_name, img1, img2)
        return _nn.ssim(img1, img2, float(self.max_val), self.filter_size, self.filter_sigma, self.k1, self.k2, self._factors)


class MSSSIM(SSIM):
    """Structural similarity over several scales (Wang et al. 2003)."""

    def __init__(self, max_val=1.0, power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size=11, filter_sigma=1.5,
                 k1=0.01, k2=0.03):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self._factors = tuple(float(f) for f in check_type(power_factors, "power_factors", (tuple, list), self.cls_name))


class PSNR(Cell):
    """Peak signal-to-noise ratio of pairs of images, in decibel."""

    def __init__(self, max_val=1.0):
        super().__init__()
        check_type(max_val, "max_val", (int, float), self.cls_name)
        if max_val <= 0:
            raise ValueError(f"For '{self.cls_name}', the 'max_val' must be > 0, but got {max_val}.")
        self.max_val = max_val

    def construct(self, img1, img2):
        _check_images(self.cls_name, img1, img2)
        return _nn.psnr(img1, img2, float(self.max_val))


class CentralCrop(Cell):
    """The middle of (H, W, C), (N, C, H, W) or (C, H, W): this fraction of height and width."""

    def __init__(self, central_fraction):
        super().__init__()
        check_type(central_fraction, "central_fraction", float, self.cls_name)
        if not 0 < central_fraction <= 1:
            raise ValueError(f"For '{self.cls_name}', the 'central_fraction' must be in range of (0.0, 1.0], but got "
                             f"{central_fraction} with type 'float'.")
        self.central_fraction = central_fraction

    def construct(self, image):
        if image.ndim not in (3, 4):
            raise ValueError(f"For '{self.cls_name}', the dimension of 'image' must be 3 or 4, but got {image.ndim}.")
        if self.central_fraction == 1.0:
            return image
        low = [int((n - n * self.central_fraction) / 2) for n in image.shape[-2:]]
        rows, cols = (slice(a, n - a) for a, n in zip(low, image.shape[-2:]))
        return image[..., rows, cols]


