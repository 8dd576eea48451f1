"""Activations as Cells, and ``get_activation``."""
from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_positive_int

__all__ = ["Softmin", "Softmax", "Softmax2d", "LogSoftmax", "ReLU", "ReLU6", "RReLU", "SeLU", "SiLU", "Tanh", "Tanhshrink",
           "Hardtanh", "GELU", "FastGelu", "Sigmoid", "Softsign", "PReLU", "get_activation", "LeakyReLU", "HSigmoid",
           "HSwish", "ELU", "CELU", "LogSigmoid", "SoftShrink", "HShrink", "Threshold", "Mish", "GLU", "Softplus", "LRN"]


def _check_axis(axis, who):
    if isinstance(axis, bool) or not isinstance(axis, (int, tuple)):
        raise TypeError(f"For '{who}', the type of 'axis' should be one of '[int, tuple of int]', but got {type(axis)}.")
    return axis


class Softmax(Cell):
    def __init__(self, axis=-1):
        super().__init__()
        self.axis = _check_axis(axis, self.cls_name)

    def construct(self, input):
        return ops.softmax(input, self.axis)


class LogSoftmax(Cell):
    def __init__(self, axis=-1):
        super().__init__()
        self.axis = _check_axis(axis, self.cls_name)

    def construct(self, x):
        return ops.log_softmax(x, self.axis)


class Softmin(Cell):
    def __init__(self, axis=-1):
        super().__init__()
        self.axis = _check_axis(axis, self.cls_name)

    def construct(self, x):
        return ops.softmax(-x, self.axis)


class Softmax2d(Cell):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def construct(self, x):
        if x.ndim not in (3, 4):
            raise ValueError(f"For '{self.cls_name}', the in_shape must have 3 or 4 dims, but got {x.ndim}.")
        return ops.softmax(x, -3)


class ReLU(Cell):
    def construct(self, input):
        return ops.relu(input)


class ReLU6(Cell):
    def construct(self, x):
        return ops.relu6(x)


class RReLU(Cell):
    """Leaky ReLU whose slopes are drawn from [lower, upper) at every call."""

    def __init__(self, lower=1. / 8, upper=1. / 3):
        super().__init__()
        if isinstance(lower, bool) or not isinstance(lower, (int, float)):
            raise TypeError(f"For '{self.cls_name}', the type of 'lower' must be 'int' or 'float', but got {type(lower)}.")
        if isinstance(upper, bool) or not isinstance(upper, (int, float)):
            raise TypeError(f"For '{self.cls_name}', the type of 'upper' must be 'int' or 'float', but got {type(upper)}.")
        if lower > upper:
            raise ValueError(f"For '{self.cls_name}', the value of 'upper' must be greater than or equal to 'lower', but got "
                             f"upper: {upper}, lower: {lower}.")
        self.lower, self.upper = lower, upper

    def construct(self, x):
        return ops.rrelu(x, float(self.lower), float(self.upper))


class SeLU(Cell):
    def construct(self, input_x):
        return ops.selu(input_x)


class SiLU(Cell):
    def construct(self, x):
        return ops.silu(x)


class Tanh(Cell):
    def construct(self, x):
        return ops.tanh(x)


class Tanhshrink(Cell):
    def construct(self, x):
        return x - ops.tanh(x)


class Hardtanh(Cell):
    def __init__(self, min_val=-1.0, max_val=1.0):
        super().__init__()
        if min_val >= max_val:
            raise ValueError(f"For Hardtanh, min_val should be less than max_val,but got {min_val} and {max_val}")
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x):
        return ops.hardtanh(x, self.min_val, self.max_val)


class GELU(Cell):
    """Gaussian error linear unit: the tanh form if ``approximate``, else the exact one."""

    def __init__(self, approximate=True):
        super().__init__()
        if not isinstance(approximate, bool):
            raise TypeError(f"For '{self.cls_name}', the 'approximate' must be a bool, but got {type(approximate).__name__}.")
        self.approximate = approximate

    def construct(self, x):
        return ops.gelu(x, approximate="tanh" if self.approximate else "none")


class FastGelu(Cell):
    def construct(self, x):
        return ops.fast_gelu(x)


class Sigmoid(Cell):
    def construct(self, x):
        return ops.sigmoid(x)


class Softsign(Cell):
    def construct(self, x):
        return ops.softsign(x)


class Softplus(Cell):
    def construct(self, x):
        return ops.softplus(x)


class PReLU(Cell):
    """Leaky ReLU with a slope that is learnt, per channel if ``channel`` > 1."""

    def __init__(self, channel=1, w=0.25):
        super().__init__()
        check_positive_int(channel, "channel", self.cls_name)
        if isinstance(w, (float, int)) and not isinstance(w, bool):
            values = Tensor([float(w)] * channel, mstype.float32)
        elif isinstance(w, list):
            if len(w) != channel or not all(isinstance(v, float) for v in w):
                raise ValueError(f"For '{self.cls_name}', the length of 'w' must be equal to the 'channel' and its elements "
                                 f"float when the 'w' is a list, but got {w} for 'channel' {channel}.")
            values = Tensor(w, mstype.float32)
        elif isinstance(w, Tensor):
            if w.ndim != 1 or w.shape[0] != channel:
                raise ValueError(f"For '{self.cls_name}', the dimension of 'w' must be 1, and the elements number should be "
                                 f"equal to the 'channel' when the 'w' is a tensor, but got 'w' shape {w.shape}, the "
                                 f"'channel' {channel}.")
            if w.dtype not in (mstype.float16, mstype.float32):
                raise ValueError(f"For '{self.cls_name}', the 'w' must be float16 or float32 when the 'w' is a tensor, but got "
                                 f"{w.dtype}.")
            values = w
        else:
            raise TypeError(f"For '{self.cls_name}', the 'w' only supported float, list and tensor, but got "
                            f"{type(w).__name__}.")
        self.w = Parameter(initializer(values, [channel]), name="a")

    def construct(self, x):
        return ops.prelu(x, self.w)


class LeakyReLU(Cell):
    def __init__(self, alpha=0.2):
        super().__init__()
        self.alpha = alpha

    def construct(self, x):
        if isinstance(x, Tensor) and not x.is_floating_point():  # the slope in the type of the values
            return ops.maximum(x, x * int(self.alpha)) if self.alpha <= 1 else ops.minimum(x, x * int(self.alpha))
        return ops.leaky_relu(x, float(self.alpha))


class HSigmoid(Cell):
    def construct(self, input_x):
        return ops.hardsigmoid(input_x)


class HSwish(Cell):
    def construct(self, x):
        return ops.hardswish(x)


class ELU(Cell):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def construct(self, x):
        return ops.elu(x, float(self.alpha))


class CELU(Cell):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def construct(self, x):
        return ops.celu(x, float(self.alpha))


class LogSigmoid(Cell):
    def construct(self, input_x):
        return ops.logsigmoid(input_x)


class SoftShrink(Cell):
    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def construct(self, input_x):
        return ops.softshrink(input_x, float(self.lambd))


class HShrink(Cell):
    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def construct(self, input_x):
        return ops.hardshrink(input_x, float(self.lambd))


class Threshold(Cell):
    """x where it exceeds ``threshold``, ``value`` elsewhere."""

    def __init__(self, threshold, value):
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x):
        return ops.threshold(input_x, self.threshold, self.value)


class Mish(Cell):
    def construct(self, x):
        return ops.mish(x)


class GLU(Cell):
    """Half of the axis gated by the sigmoid of the other half."""

    def __init__(self, axis=-1):
        super().__init__()
        self.axis = axis

    def construct(self, x):
        return ops.glu(x, self.axis)


class LRN(Cell):
    """x over a power of the sum of squares of neighbouring channels (Krizhevsky et al. 2012)."""

    def __init__(self, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"):
        super().__init__()
        check_positive_int(depth_radius, "depth_radius", self.cls_name)
        if norm_region != "ACROSS_CHANNELS":
            raise ValueError(f"For '{self.cls_name}', the 'norm_region' must be 'ACROSS_CHANNELS', but got {norm_region}.")
        self._args = (depth_radius, bias, alpha, beta, norm_region)

    def construct(self, input_x):
        return ops.lrn(input_x, *self._args)


_BY_NAME = {
    "softmin": Softmin, "softmax": Softmax, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax, "relu": ReLU, "relu6": ReLU6,
    "rrelu": RReLU, "silu": SiLU, "tanh": Tanh, "tanhshrink": Tanhshrink, "hardtanh": Hardtanh, "gelu": GELU,
    "fast_gelu": FastGelu, "elu": ELU, "sigmoid": Sigmoid, "softsign": Softsign, "prelu": PReLU, "leakyrelu": LeakyReLU,
    "hswish": HSwish, "hsigmoid": HSigmoid, "logsigmoid": LogSigmoid, "softshrink": SoftShrink, "hshrink": HShrink,
    "threshold": Threshold, "mish": Mish,
}


def get_activation(name, prim_name=None):
    """The activation Cell called ``name``; None for None."""
    if name is None:
        return None
    if name not in _BY_NAME:
        who = f"For '{prim_name}', the" if prim_name else "The"
        raise KeyError(f"{who} 'name' must be in {list(_BY_NAME)}, but got {name}.")
    return _BY_NAME[name]()
