"""Convolution layers. Weights are (out, in / group, kernel...), transposed ones (in, out / group, kernel...)."""
import math

from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_int, check_positive_int, check_string, check_tuple

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose"]


class _Conv(Cell):
    """Checks the arguments and makes the parameters."""

    _n = 2            # spatial axes
    _transposed = False
    _prim = "Conv2D"  # the operator's name in messages
    _hidden = 0       # axes of size 1 that the stored weight has before its spatial ones

    def __init__(self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                 weight_init, bias_init, data_format, dtype, output_padding=0):
        super().__init__()
        who, n = self.cls_name, self._n
        self.in_channels = check_positive_int(in_channels, "in_channels", who)
        self.out_channels = check_positive_int(out_channels, "out_channels", who)
        self._kernel = check_tuple(kernel_size, "kernel_size item", who, n)
        self._stride = check_tuple(stride, "stride item", who, n)
        self._dilation = check_tuple(dilation, "dilation item", who, n)
        self.group = check_positive_int(group, "group", who)
        self.has_bias = check_bool(has_bias, "has_bias", who)
        self.pad_mode = check_string(pad_mode, ("valid", "same", "pad"), "pad_mode", self._prim)
        self._check_padding(padding)
        self._output_padding = check_tuple(output_padding, "output_padding item", who, n, low=0)
        if any(self._output_padding) and pad_mode != "pad":
            raise ValueError(f"For '{who}', the 'output_padding' must be zero when 'pad_mode' is not 'pad', but got "
                             f"'output_padding': {output_padding} and 'pad_mode': {pad_mode}.")
        self._check_format(data_format)
        if in_channels % group or out_channels % group:
            raise ValueError("The argument 'group' should be divisible by 'in_channels' and 'out_channels', but got "
                             f"group:{group}, in_channels:{in_channels}, out_channels:{out_channels}.")
        one = (1,) * self._hidden
        self.kernel_size, self.stride = one + self._kernel, one + self._stride
        self.dilation, self.padding = one + self._dilation, padding
        if self._hidden and isinstance(padding, int):
            self.padding = (0, 0, padding, padding)
        self.data_format = self.format = data_format
        outer = (in_channels, out_channels // group) if self._transposed else (out_channels, in_channels // group)
        if weight_init is None:
            weight_init = HeUniform(math.sqrt(5))
        self.weight_init = weight_init
        self.weight = Parameter(initializer(weight_init, [*outer, *self.kernel_size], dtype), name="weight")
        self.bias = None
        if has_bias and bias_init is None:
            bias_init = Uniform(1 / math.sqrt(outer[1] * math.prod(self._kernel)))
        self.bias_init = bias_init
        if has_bias:
            self.bias = Parameter(initializer(bias_init, [out_channels], dtype), name="bias")

    def _check_padding(self, padding):
        n = self._n
        if isinstance(padding, tuple):
            for item in padding:
                check_int(item, "padding item", self.cls_name, 0)
            if self.pad_mode == "pad" and len(padding) != 2 * n and not (self._hidden and len(padding) == 1):
                raise ValueError(f"For '{self._prim}', the 'pad size' must be int and must = {2 * n}, but got "
                                 f"'{len(padding)}' with type 'int'.")
        else:
            check_int(padding, "padding", self.cls_name, 0)
        if self.pad_mode != "pad" and (any(padding) if isinstance(padding, tuple) else padding):
            raise ValueError(f"For '{self._prim}', the 'pad' must be zero when 'pad_mode' is not 'pad', but got 'pad': "
                             f"{padding} and 'pad_mode': {self.pad_mode}.")
        self._padding = padding

    def _check_format(self, data_format):
        who, first = self.cls_name, "NCDHW" if self._n == 3 else "NCHW"
        check_string(data_format, ("NCHW", "NHWC", "NCDHW"), "format", who)
        if data_format != first:
            raise ValueError(f'For \'{who}\', the "{data_format}" format only support in GPU target, but got the \'format\' '
                             f"is {data_format} and the platform is CPU.")

    def _flat_weight(self):
        w = self.weight
        return w.reshape((*w.shape[:2], *w.shape[2 + self._hidden:])) if self._hidden else w

    def construct(self, x):
        return _nn.conv(x, self._flat_weight(), self.bias, self._stride, self.pad_mode, self._padding, self._dilation,
                        self.group)

    def extend_repr(self):
        return (f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
                f"group={self.group}, has_bias={self.has_bias}, weight_init={self.weight_init}, bias_init={self.bias_init}, "
                f"format={self.format}")


class _ConvTranspose(_Conv):
    """The gradient of a convolution with respect to its input."""

    _transposed = True

    def construct(self, x):
        return _nn.conv_transpose(x, self._flat_weight(), self.bias, self._stride, self.pad_mode, self._padding,
                                  self._dilation, self.group, self._output_padding)


class Conv1d(_Conv):
    """Convolution of (N, C, L)."""

    _n, _hidden, _prim = 1, 1, "Conv2D"

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, dtype=mstype.float32):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, "NCHW", dtype)


def _conv2d_primitive(cell):
    from mindspore.ops import operations as P
    return P.Conv2D(cell.out_channels, cell._kernel, 1, cell.pad_mode, cell._padding, cell._stride, cell._dilation, cell.group)


def _bias_add_primitive(cell):
    from mindspore.ops import operations as P
    return P.BiasAdd()


class Conv2d(_Conv):
    """Convolution of (N, C, H, W)."""

    _ms_derived = {"conv2d": _conv2d_primitive, "bias_add": _bias_add_primitive}

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, data_format="NCHW", dtype=mstype.float32):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, data_format, dtype)

    def construct(self, x):
        return _nn.conv(x, self.weight, self.bias, self._stride, self.pad_mode, self._padding, self._dilation, self.group)


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W)."""

    _n, _prim = 3, "Conv3D"

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, data_format="NCDHW", dtype=mstype.float32):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, data_format, dtype)


class Conv1dTranspose(_ConvTranspose):
    """Transposed convolution of (N, C, L)."""

    _n, _hidden, _prim = 1, 1, "Conv2DTranspose"

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, dtype=mstype.float32):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, "NCHW", dtype)


class Conv2dTranspose(_ConvTranspose):
    """Transposed convolution of (N, C, H, W)."""

    _prim = "Conv2DTranspose"

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, output_padding=0,
                 dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None, dtype=mstype.float32):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, "NCHW", dtype, output_padding)


class Conv3dTranspose(_ConvTranspose):
    """Transposed convolution of (N, C, D, H, W)."""

    _n, _prim = 3, "Conv3DTranspose"

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 output_padding=0, has_bias=False, weight_init=None, bias_init=None, data_format="NCDHW",
                 dtype=mstype.float32):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, data_format, dtype, output_padding)
