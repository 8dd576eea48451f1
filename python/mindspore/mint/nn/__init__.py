"""Layers after PyTorch's definitions. A layer holds arguments and parameters; functions of mint.nn.functional compute."""
import math

from mindspore import nn as _base
from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.mint.nn import functional
from mindspore.mint.nn import functional as _F
from mindspore.nn import Cell, Identity, Linear
from mindspore.nn.layer._check import check_bool, check_positive_int, check_type

__all__ = ["functional", "Identity", "Linear"]


def _public(cls):
    __all__.append(cls.__name__)
    return cls


def _layer(name, function, parameters="", doc=None):
    """A layer without parameters: its arguments go to a function of mint.nn.functional after the input.

    ``parameters``: "p=0.5, inplace=False" and so on, names as the function's; an in-place layer writes its input.
    """
    names = [part.split("=")[0].strip() for part in parameters.split(",") if part.strip()]
    scope = {}
    lines = [f"def __init__(self{', ' if parameters else ''}{parameters}):", "    Cell.__init__(self)"]
    lines += [f"    self.{n} = {n}" for n in names]
    lines += ["def construct(self, input):"]
    passed = "".join(f", {n}=self.{n}" for n in names if n != "inplace")
    lines += [f"    y = getattr(_F, {function!r})(input{passed})"]
    lines += ["    if self.inplace:", "        return input.copy_(y)"] if "inplace" in names else []
    lines += ["    return y"]
    exec("\n".join(lines), {"Cell": Cell, "_F": _F}, scope)
    cls = type(name, (Cell,), {**scope, "__doc__": doc or f"mint.nn.functional.{function} as a layer.", "__module__": __name__})
    globals()[name] = cls
    __all__.append(name)


for _name, _function, _parameters in (
        ("AdaptiveAvgPool1d", "adaptive_avg_pool1d", "output_size"), ("AdaptiveAvgPool2d", "adaptive_avg_pool2d", "output_size"),
        ("AdaptiveAvgPool3d", "adaptive_avg_pool3d", "output_size"),
        ("AdaptiveMaxPool1d", "adaptive_max_pool1d", "output_size, return_indices=False"),
        ("AdaptiveMaxPool2d", "adaptive_max_pool2d", "output_size, return_indices=False"),
        ("AvgPool1d", "avg_pool1d", "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True"),
        ("AvgPool2d", "avg_pool2d",
         "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None"),
        ("AvgPool3d", "avg_pool3d",
         "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None"),
        ("MaxPool2d", "max_pool2d", "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False"),
        ("ELU", "elu", "alpha=1.0, inplace=False"), ("Flatten", "flatten", "start_dim=1, end_dim=-1"),
        ("Fold", "fold", "output_size, kernel_size, dilation=1, padding=0, stride=1"),
        ("Unfold", "unfold", "kernel_size, dilation=1, padding=0, stride=1"), ("GELU", "gelu", "approximate='none'"),
        ("GLU", "glu", "dim=-1"), ("Hardshrink", "hardshrink", "lambd=0.5"), ("Hardsigmoid", "hardsigmoid", ""),
        ("Hardswish", "hardswish", ""), ("Hardtanh", "hardtanh", "min_val=-1.0, max_val=1.0, inplace=False"),
        ("LogSigmoid", "logsigmoid", ""), ("LogSoftmax", "log_softmax", "dim=None"), ("Softmax", "softmax", "dim=None"),
        ("Mish", "mish", ""), ("SELU", "selu", ""), ("ReLU", "relu", ""), ("ReLU6", "relu6", "inplace=False"),
        ("Sigmoid", "sigmoid", ""), ("SiLU", "silu", "inplace=False"), ("Softshrink", "softshrink", "lambd=0.5"),
        ("Tanh", "tanh", ""), ("Threshold", "threshold", "threshold, value, inplace=False"),
        ("PixelShuffle", "pixel_shuffle", "upscale_factor"),
        ("Upsample", "interpolate", "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None")):
    _layer(_name, _function, _parameters)


def _loss(name, function, parameters, attributes):
    """A loss: (input, target) and the options given at construction."""
    names = [part.split("=")[0].strip() for part in parameters.split(",")]

    def construct(self, input, target):
        return getattr(_F, function)(input, target, **{n: getattr(self, n) for n in names})
    scope = {}
    lines = [f"def __init__(self, {parameters}):", "    Cell.__init__(self)"]
    lines += ["    if reduction not in " + repr(attributes) + ":",
              f"        raise ValueError(f\"For '{name}', the 'reduction' must be in {list(attributes)}, but got {{reduction}}.\")"]
    lines += [f"    self.{n} = {n}" for n in names]
    exec("\n".join(lines), {"Cell": Cell}, scope)
    globals()[name] = type(name, (Cell,), {**scope, "construct": construct, "__module__": __name__,
                                           "__doc__": f"mint.nn.functional.{function} as a layer."})
    __all__.append(name)


_PLAIN = ("mean", "sum", "none")
for _name, _function, _parameters, _kinds in (
        ("BCELoss", "binary_cross_entropy", "weight=None, reduction='mean'", _PLAIN),
        ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "weight=None, reduction='mean', pos_weight=None", _PLAIN),
        ("CrossEntropyLoss", "cross_entropy", "weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0", _PLAIN),
        ("KLDivLoss", "kl_div", "reduction='mean', log_target=False", (*_PLAIN, "batchmean")),
        ("L1Loss", "l1_loss", "reduction='mean'", _PLAIN), ("MSELoss", "mse_loss", "reduction='mean'", _PLAIN),
        ("NLLLoss", "nll_loss", "weight=None, ignore_index=-100, reduction='mean'", _PLAIN),
        ("SmoothL1Loss", "smooth_l1_loss", "reduction='mean', beta=1.0", _PLAIN),
        ("SoftMarginLoss", "soft_margin_loss", "reduction='mean'", _PLAIN)):
    _loss(_name, _function, _parameters, _kinds)


@_public
class CosineEmbeddingLoss(Cell):
    """1 - cos for pairs labelled 1, max(0, cos - margin) for pairs labelled -1."""

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def construct(self, input1, input2, target):
        return _F.cosine_embedding_loss(input1, input2, target, float(self.margin), self.reduction)


# ---- padding ----

def _padding(name, n, mode, valued=False):
    def init(self, padding, value=0.0):
        Cell.__init__(self)
        if isinstance(padding, int) and not isinstance(padding, bool):
            padding = (padding,) * (2 * n)
        check_type(padding, "padding", (tuple, list), self.cls_name)
        if len(padding) != 2 * n:
            raise ValueError(f"For '{self.cls_name}', the 'padding' must be an int or have {2 * n} elements, but got {padding}.")
        self.padding, self.value = tuple(padding), value

    def construct(self, input):
        return _F.pad(input, self.padding, mode, self.value) if mode == "constant" else _F.pad(input, self.padding, mode)
    one = (lambda self, padding: init(self, padding))
    two = (lambda self, padding, value: init(self, padding, value))
    globals()[name] = type(name, (Cell,), {"__init__": two if valued else one, "construct": construct, "__module__": __name__,
                                           "__doc__": f"Pads the last {n} axes ({mode})."})
    __all__.append(name)


for _n in (1, 2, 3):
    _padding(f"ConstantPad{_n}d", _n, "constant", True)
    _padding(f"ZeroPad{_n}d", _n, "constant")
    _padding(f"ReflectionPad{_n}d", _n, "reflect")
    _padding(f"ReplicationPad{_n}d", _n, "replicate")


# ---- resizing and unpooling ----

@_public
class UpsamplingNearest2d(Cell):
    """Nearest neighbours of (N, C, H, W)."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input):
        return _F.interpolate(input, self.size, self.scale_factor, "nearest")


@_public
class UpsamplingBilinear2d(UpsamplingNearest2d):
    """Bilinear, corners aligned."""

    def construct(self, input):
        return _F.interpolate(input, self.size, self.scale_factor, "bilinear", True)


@_public
class MaxUnpool2d(_base.MaxUnpool2d):
    """Values at the places that a max pooling took them from, zeros elsewhere."""

    def construct(self, input, indices, output_size=None):
        return super().construct(input, indices, output_size)


# ---- dropout ----

@_public
class Dropout(Cell):
    """Zeroes elements with probability p in training and scales the others."""

    _function = "dropout"

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        check_type(p, "p", (int, float), self.cls_name)
        if not 0 <= p <= 1:
            raise ValueError(f"For '{self.cls_name}', the 'p' must be in [0, 1], but got {p}.")
        self.p, self.inplace = float(p), check_bool(inplace, "inplace", self.cls_name)

    def construct(self, input):
        if not self.training or self.p == 0:
            return input
        y = getattr(_F, self._function)(input, self.p, True)
        return input.copy_(y) if self.inplace else y


@_public
class Dropout2d(Dropout):
    """Zeroes whole channels."""

    _function = "dropout2d"


# ---- convolution ----

class _Conv(Cell):
    _n = 2
    _transposed = False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", dtype=None):
        super().__init__()
        who, n = self.cls_name, self._n
        self.in_channels = check_positive_int(in_channels, "in_channels", who)
        self.out_channels = check_positive_int(out_channels, "out_channels", who)
        self.groups = check_positive_int(groups, "groups", who)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"For '{who}', 'in_channels' and 'out_channels' must be divisible by 'groups', but got {in_channels}, "
                             f"{out_channels} and {groups}.")
        kinds = ("zeros",) if self._transposed else ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in kinds:
            raise ValueError(f"For '{who}', the 'padding_mode' must be in {list(kinds)}, but got {padding_mode}.")
        spread = (lambda v: tuple(v) if isinstance(v, (tuple, list)) else (v,) * n)
        self.kernel_size, self.stride, self.dilation = spread(kernel_size), spread(stride), spread(dilation)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"For '{who}', the 'padding' must be 'same', 'valid', an int or a tuple, but got {padding}.")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError(f"For '{who}', the 'padding' 'same' needs strides of 1, but got {stride}.")
            self.padding = padding
        else:
            self.padding = spread(padding)
        self.padding_mode = padding_mode
        dtype = mstype.float32 if dtype is None else dtype
        outer = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(initializer(HeUniform(math.sqrt(5)), (*outer, *self.kernel_size), dtype), name="weight")
        bound = 1 / math.sqrt(outer[1] * math.prod(self.kernel_size))
        self.bias = Parameter(initializer(Uniform(bound), (out_channels,), dtype), name="bias") if bias else None

    def _pads(self):
        """(low, high) from the last axis on, as pad takes them."""
        if self.padding == "valid":
            return (0,) * (2 * self._n)
        if self.padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return tuple(v for t in reversed(total) for v in (t // 2, t - t // 2))
        return tuple(v for p in reversed(self.padding) for v in (p, p))

    def construct(self, input):
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = _F.pad(input, self._pads(), self.padding_mode), (0,) * self._n
        return getattr(_F, f"conv{self._n}d")(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extend_repr(self):
        s = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if isinstance(self.padding, str) or any(self.padding):
            s += f", padding={self.padding}"
        if any(d != 1 for d in self.dilation):
            s += f", dilation={self.dilation}"
        if self.groups != 1:
            s += f", groups={self.groups}"
        return s if self.bias is not None else s + ", bias=False"


@_public
class Conv1d(_Conv):
    """Convolution of (N, C, L)."""
    _n = 1


@_public
class Conv2d(_Conv):
    """Convolution of (N, C, H, W)."""


@_public
class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W)."""
    _n = 3


@_public
class ConvTranspose2d(_Conv):
    """The gradient of a convolution with respect to its input."""

    _transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", dtype=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype)
        self.output_padding = output_padding if isinstance(output_padding, tuple) else (output_padding,) * 2

    def construct(self, input, output_size=None):
        extra = self.output_padding
        if output_size is not None:
            base = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in
                    zip(input.shape[-2:], self.stride, self.padding, self.dilation, self.kernel_size)]
            extra = tuple(want - b for want, b in zip(tuple(output_size)[-2:], base))
            if any(not 0 <= e < max(s, d) for e, s, d in zip(extra, self.stride, self.dilation)):
                raise ValueError(f"For '{self.cls_name}', the 'output_size' {output_size} is not between {base} and that plus the "
                                 "stride.")
        return _F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


# ---- normalisation ----

class _BatchNorm(Cell):
    _ranks = ()

    def __init__(self, num_features: int, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, dtype=None):
        super().__init__()
        who, dtype = self.cls_name, mstype.float32 if dtype is None else dtype
        self.num_features = check_positive_int(num_features, "num_features", who)
        self.eps, self.momentum = eps, momentum
        self.affine = check_bool(affine, "affine", who)
        self.track_running_stats = check_bool(track_running_stats, "track_running_stats", who)
        shape = (num_features,)
        self.weight = Parameter(initializer("ones", shape, dtype), name="weight") if affine else None
        self.bias = Parameter(initializer("zeros", shape, dtype), name="bias") if affine else None
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = Parameter(initializer("zeros", shape, dtype), name="running_mean", requires_grad=False)
            self.running_var = Parameter(initializer("ones", shape, dtype), name="running_var", requires_grad=False)
            self.num_batches_tracked = Parameter(Tensor(0, mstype.int64), name="num_batches_tracked", requires_grad=False)

    def construct(self, input):
        if input.ndim not in self._ranks:
            raise ValueError(f"For '{self.cls_name}', the input must have {' or '.join(map(str, self._ranks))} dimensions, but got "
                             f"{input.ndim}.")
        batch = self.training or not self.track_running_stats
        momentum = self.momentum
        mean, var = self.running_mean, self.running_var
        if self.training and self.track_running_stats:
            count = self._params["num_batches_tracked"]
            count.assign_value(count + 1)
            if momentum is None:
                momentum = 1.0 / float(count)
        return _F.batch_norm(input, mean, var, self.weight, self.bias, batch, 0.0 if momentum is None else momentum, self.eps)

    def extend_repr(self):
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")


@_public
class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""
    _ranks = (2, 3)


@_public
class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""
    _ranks = (4,)


@_public
class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""
    _ranks = (5,)


@_public
class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the devices of a group, which is this one."""
    _ranks = (2, 3, 4, 5)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
                 track_running_stats: bool = True, process_group=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group


@_public
class LayerNorm(Cell):
    """Normalises the last axes."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, dtype=None):
        super().__init__()
        dtype = mstype.float32 if dtype is None else dtype
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.weight = Parameter(initializer("ones", shape, dtype), name="weight") if elementwise_affine else None
        self.bias = Parameter(initializer("zeros", shape, dtype), name="bias") if elementwise_affine and bias else None

    def construct(self, input):
        return _F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self):
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


@_public
class GroupNorm(Cell):
    """Normalises groups of channels."""

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, dtype=None):
        super().__init__()
        dtype = mstype.float32 if dtype is None else dtype
        self.num_groups = check_positive_int(num_groups, "num_groups", self.cls_name)
        self.num_channels = check_positive_int(num_channels, "num_channels", self.cls_name)
        if num_channels % num_groups:
            raise ValueError(f"For '{self.cls_name}', the 'num_channels' must be divisible by 'num_groups', but got {num_channels} and "
                             f"{num_groups}.")
        self.eps, self.affine = eps, affine
        self.weight = Parameter(initializer("ones", (num_channels,), dtype), name="weight", requires_grad=affine)
        self.bias = Parameter(initializer("zeros", (num_channels,), dtype), name="bias", requires_grad=affine)

    def construct(self, input):
        return _F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self):
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"


# ---- others ----

@_public
class PReLU(Cell):
    """Leaky ReLU with slopes that are learnt."""

    def __init__(self, num_parameters=1, init=0.25, dtype=None):
        super().__init__()
        check_positive_int(num_parameters, "num_parameters", self.cls_name)
        self.weight = Parameter(initializer(init, (num_parameters,), mstype.float32 if dtype is None else dtype), name="weight")

    def construct(self, input):
        return _F.prelu(input, self.weight)


@_public
class Embedding(Cell):
    """Rows of a table by index; the row padding_idx stays zero and has no gradient."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, _weight=None, _freeze=False, dtype=None):
        super().__init__()
        who, dtype = self.cls_name, mstype.float32 if dtype is None else dtype
        if sparse or scale_grad_by_freq:
            raise ValueError(f"For '{who}', 'sparse' and 'scale_grad_by_freq' are not supported: gradients are dense sums.")
        self.num_embeddings = check_positive_int(num_embeddings, "num_embeddings", who)
        self.embedding_dim = check_positive_int(embedding_dim, "embedding_dim", who)
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(f"For '{who}', the 'padding_idx' must be in [{-num_embeddings}, {num_embeddings}), but got "
                                 f"{padding_idx}.")
            padding_idx %= num_embeddings
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        shape = (num_embeddings, embedding_dim)
        if _weight is not None:
            if tuple(_weight.shape) != shape:
                raise ValueError(f"For '{who}', the shape of '_weight' must be {shape}, but got {_weight.shape}.")
            values = Tensor(_weight)
        else:
            from mindspore.common.initializer import Normal
            values = initializer(Normal(1.0), shape, dtype).init_data()
            if padding_idx is not None:
                values[padding_idx] = 0
        self.weight = Parameter(values, name="weight", requires_grad=not _freeze)

    def construct(self, input):
        weight = self.weight
        if self.max_norm is not None:
            norm = (weight.abs() ** self.norm_type).sum(-1, keepdims=True) ** (1.0 / self.norm_type)
            over = norm > self.max_norm
            self._params["weight"].assign_value(weight * over.logical_not().astype(weight.dtype) +
                                                weight * (self.max_norm / (norm + 1e-7)) * over.astype(weight.dtype))
            weight = self.weight
        rows = _nn.take(weight, input)
        if self.padding_idx is None:
            return rows
        from mindspore import ops
        return ops.where((input == self.padding_idx).expand_dims(-1), ops.stop_gradient(rows), rows)

    def extend_repr(self):
        return f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, padding_idx={self.padding_idx}"
