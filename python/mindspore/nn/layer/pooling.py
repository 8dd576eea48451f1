"""Pooling layers."""
from mindspore import ops
from mindspore.common._rows import nn as _nn
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_int, check_positive_int, check_string, check_type

__all__ = ["MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "AdaptiveAvgPool1d",
           "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "LPPool1d",
           "LPPool2d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "FractionalMaxPool2d", "FractionalMaxPool3d"]


class _Pool(Cell):
    """Checks the window; the text form shows what was asked for."""

    _n = 2

    def __init__(self, kernel_size, stride, pad_mode, padding):
        super().__init__()
        who = self.cls_name
        self.pad_mode = check_string(str(pad_mode).upper(), ("VALID", "SAME", "PAD"), "pad_mode", who)
        self._kernel = self._window(kernel_size, "kernel_size")
        self._stride = self._window(stride, "stride")
        self.kernel_size = (1, *self._kernel) if self._n == 1 else kernel_size
        self.stride = (1, *self._stride) if self._n == 1 else stride
        self.padding = padding
        self._mode = self.pad_mode.lower()

    def _window(self, value, name):
        n, who = self._n, self.cls_name
        if isinstance(value, int) and not isinstance(value, bool):
            if value <= 0:
                raise ValueError(f"For '{who}', the '{name}' must be an positive int number or a tuple, but got {value}")
            return (value,) * n
        if not isinstance(value, tuple):
            raise TypeError(f"For '{who}', the '{name}' must be an positive int number or a tuple, but got {value}")
        if len(value) not in (1, n):
            raise ValueError(f"For '{who}', the length of '{name}' must be {n}, but got {value}.")
        for item in value:
            if isinstance(item, bool) or not isinstance(item, int) or item <= 0:
                raise ValueError(f"For '{who}', the '{name}' must be an positive int number or a tuple, but got {value}")
        return value * n if len(value) == 1 else value

    def _check_plain(self, names, *changed):
        if self._mode != "pad" and any(changed):
            raise ValueError(f"For {self.cls_name}, the parameter {names} can not be set to non-default value when pad_mode "
                             f"is not 'pad', but got pad_mode:{self._mode}.")

    def _check_rank(self, x):
        if x.ndim not in (self._n + 1, self._n + 2):
            raise ValueError(f"For '{self.cls_name}', the input must have {self._n + 1} or {self._n + 2} dimensions, but got "
                             f"{x.ndim}.")

    def extend_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1, return_indices=False,
                 ceil_mode=False):
        super().__init__(kernel_size, stride, pad_mode, padding)
        self.dilation = dilation
        self.return_indices = check_bool(return_indices, "return_indices", self.cls_name)
        self.ceil_mode = check_bool(ceil_mode, "ceil_mode", self.cls_name)
        self._check_plain("'padding', 'dilation', 'return_indices', 'ceil_mode'", padding != 0, dilation != 1, return_indices,
                          ceil_mode)

    def construct(self, x):
        self._check_rank(x)
        return _nn.max_pool(x, self._n, self._kernel, self._stride, self._mode, self.padding, self.dilation, self.ceil_mode,
                            self.return_indices)


class MaxPool1d(_MaxPool):
    """Largest value of each window of (N, C, L) or (C, L)."""
    _n = 1


class MaxPool2d(_MaxPool):
    """Largest value of each window of (N, C, H, W) or (C, H, W)."""

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1, return_indices=False,
                 ceil_mode=False, data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)
        self.format = _check_format(data_format, self.cls_name)


class MaxPool3d(_MaxPool):
    """Largest value of each window of (N, C, D, H, W) or (C, D, H, W)."""
    _n = 3


def _check_format(data_format, who):
    check_string(data_format, ("NCHW", "NHWC"), "format", who)
    if data_format == "NHWC":
        raise ValueError(f"For '{who}', the 'NHWC' format only support in GPU target.")
    return data_format


class _AvgPool(_Pool):
    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__(kernel_size, stride, pad_mode, padding)
        self.ceil_mode = check_bool(ceil_mode, "ceil_mode", self.cls_name)
        self.count_include_pad = check_bool(count_include_pad, "count_include_pad", self.cls_name)
        if divisor_override is not None and check_int(divisor_override, "divisor_override", self.cls_name) <= 0:
            raise ValueError(f"For '{self.cls_name}', the 'divisor_override' must be > 0, but got {divisor_override}.")
        self.divisor_override = divisor_override
        if self._mode != "pad" and (any(padding) if isinstance(padding, tuple) else padding):
            raise ValueError(f"For '{self.cls_name}', the 'padding' must be zero when 'pad_mode' is not 'pad', but got "
                             f"{padding}.")

    def construct(self, x):
        self._check_rank(x)
        return _nn.avg_pool(x, self._n, self._kernel, self._stride, self._mode, self.padding, self.ceil_mode,
                            self.count_include_pad, self.divisor_override or 0)


class AvgPool1d(_AvgPool):
    """Mean of each window of (N, C, L) or (C, L)."""
    _n = 1

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)


class AvgPool2d(_AvgPool):
    """Mean of each window of (N, C, H, W) or (C, H, W)."""

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None, data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)
        self.format = _check_format(data_format, self.cls_name)


class AvgPool3d(_AvgPool):
    """Mean of each window of (N, C, D, H, W) or (C, D, H, W)."""
    _n = 3


class _Adaptive(Cell):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_Adaptive):
    """Means of windows chosen so that the last axis has ``output_size``."""

    def construct(self, input):
        return ops.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    def construct(self, input):
        return ops.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    def construct(self, input):
        return ops.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(_Adaptive):
    """Maxima of windows chosen so that the last axis has ``output_size``."""

    def construct(self, input):
        return ops.adaptive_max_pool1d(input, self.output_size)


class AdaptiveMaxPool2d(_Adaptive):
    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def construct(self, input):
        return ops.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_Adaptive):
    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def construct(self, input):
        return ops.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _LPPool(Cell):
    _n = 2

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        check_type(norm_type, "norm_type", (int, float), self.cls_name)
        self.norm_type, self.kernel_size, self.stride = norm_type, kernel_size, stride
        self.ceil_mode = check_bool(ceil_mode, "ceil_mode", self.cls_name)

    def construct(self, x):
        return _nn.lp_pool(x, self._n, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """p-norm of each window of (N, C, L) or (C, L)."""
    _n = 1


class LPPool2d(_LPPool):
    """p-norm of each window of (N, C, H, W) or (C, H, W)."""


class _MaxUnpool(Cell):
    """Values at the places that a max pooling took them from, zeros elsewhere."""
    _n = 2

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None or stride == 0 else stride

    def construct(self, x, indices, output_size=None):
        return _nn.max_unpool(x, indices, self._n, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    _n = 1


class MaxUnpool2d(_MaxUnpool):
    pass


class MaxUnpool3d(_MaxUnpool):
    _n = 3


class _FractionalMaxPool(Cell):
    """Maxima of windows at pseudo-random places, so that the sizes of the output are free (Graham 2015)."""
    _n = 2

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        who = self.cls_name
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"For '{who}', exactly one of 'output_size' and 'output_ratio' must be given, but got {output_size} "
                             f"and {output_ratio}.")
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        if output_size is not None:
            for item in (output_size,) if isinstance(output_size, int) else output_size:
                check_positive_int(item, "output_size", who)
        else:
            ratios = (output_ratio,) * self._n if isinstance(output_ratio, float) else tuple(output_ratio)
            if len(ratios) != self._n or not all(0 < r < 1 for r in ratios):
                raise ValueError(f"For '{who}', the 'output_ratio' must be {self._n} floats in (0, 1), but got {output_ratio}.")
            self._ratios = ratios
        self.return_indices = check_bool(return_indices, "return_indices", who)
        self._random_samples = _random_samples

    def construct(self, input):
        n, size = self._n, self.output_size
        if size is None:
            size = tuple(int(length * ratio) for length, ratio in zip(input.shape[-n:], self._ratios))
        samples = self._random_samples
        if samples is None:
            planes = input.shape[:-n] if input.ndim == n + 2 else (1, input.shape[0])
            samples = ops.rand(*planes, n)
        y, places = _nn.fractional_max_pool(input, n, self.kernel_size, size, samples)
        return (y, places) if self.return_indices else y


class FractionalMaxPool2d(_FractionalMaxPool):
    pass


class FractionalMaxPool3d(_FractionalMaxPool):
    _n = 3
