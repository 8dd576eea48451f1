"""A convolution or a product, then normalisation, then an activation."""
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool
from mindspore.nn.layer.activation import LeakyReLU, get_activation
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv import Conv2d
from mindspore.nn.layer.normalization import BatchNorm1d, BatchNorm2d

__all__ = ["Conv2dBnAct", "DenseBnAct"]


class _BnAct(Cell):
    def _finish(self, norm, channels, has_bn, momentum, eps, activation, alpha, after_fake):
        self.has_bn = check_bool(has_bn, "has_bn", self.cls_name)
        self.after_fake = check_bool(after_fake, "after_fake", self.cls_name)
        if has_bn:
            self.batchnorm = norm(channels, eps, momentum)
        self.has_act = activation is not None
        if activation == "leakyrelu":
            self.activation = LeakyReLU(alpha)
        else:
            self.activation = get_activation(activation, self.cls_name) if isinstance(activation, (str, type(None))) else activation

    def _rest(self, x):
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_BnAct):
    """activation(batchnorm(conv(x)))"""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init="normal", bias_init="zeros", has_bn=False, momentum=0.997, eps=1e-5, activation=None,
                 alpha=0.2, after_fake=True):
        super().__init__()
        self.conv = Conv2d(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                           weight_init, bias_init)
        self._finish(BatchNorm2d, out_channels, has_bn, momentum, eps, activation, alpha, after_fake)

    def construct(self, x):
        return self._rest(self.conv(x))


class DenseBnAct(_BnAct):
    """activation(batchnorm(dense(x)))"""

    def __init__(self, in_channels, out_channels, weight_init="normal", bias_init="zeros", has_bias=True, has_bn=False,
                 momentum=0.9, eps=1e-5, activation=None, alpha=0.2, after_fake=True):
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._finish(BatchNorm1d, out_channels, has_bn, momentum, eps, activation, alpha, after_fake)

    def construct(self, x):
        return self._rest(self.dense(x))
