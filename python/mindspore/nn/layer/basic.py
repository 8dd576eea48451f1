"""Layers without a family of their own: Dense, Dropout, Embedding, Flatten ..."""
import math

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_float, check_init_shape, check_int, check_positive_int, check_type
from mindspore.nn.layer.activation import get_activation

__all__ = ["Dense", "Linear", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Embedding", "EmbeddingLookup", "Flatten",
           "Unflatten", "Identity", "OneHot", "Pad", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad2d",
           "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d", "PixelShuffle", "PixelUnshuffle", "ChannelShuffle", "Upsample", "BiDense", "ClipByNorm", "Norm",
           "Tril", "Triu", "Roll", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag", "Unfold", "L1Regularizer"]


class Dense(Cell):
    """y = activation(x W^T + b); weight (out, in), bias (out,)."""

    def __init__(self, in_channels, out_channels, weight_init=None, bias_init=None, has_bias=True, activation=None,
                 dtype=mstype.float32):
        super().__init__()
        self.in_channels = check_positive_int(in_channels, "in_channels", self.cls_name)
        self.out_channels = check_positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = check_bool(has_bias, "has_bias", self.cls_name)
        check_init_shape(weight_init, (out_channels, in_channels), self.cls_name, "weight",
                         f"For '{self.cls_name}', weight init shape error. The ndim of 'weight_init' must be equal to 2, and "
                         "the first dim must be equal to 'out_channels', and the second dim must be equal to 'in_channels'. "
                         f"But got 'weight_init': {weight_init}, 'out_channels': {out_channels}, 'in_channels': "
                         f"{in_channels}.")
        if weight_init is None:
            weight_init = HeUniform(math.sqrt(5))
        self.weight = Parameter(initializer(weight_init, [out_channels, in_channels], dtype), name="weight")
        self.bias = None
        if has_bias:
            check_init_shape(bias_init, (out_channels,), self.cls_name, "bias",
                             f"For '{self.cls_name}', bias init shape error. The ndim of 'bias_init' must be equal to 1, and "
                             f"the first dim must be equal to 'out_channels'. But got 'bias_init': {bias_init}, "
                             f"'out_channels': {out_channels}.")
            if bias_init is None:
                bias_init = Uniform(1 / math.sqrt(in_channels))
            self.bias = Parameter(initializer(bias_init, [out_channels], dtype), name="bias")
        if activation is not None and not isinstance(activation, str) and not callable(activation):
            raise TypeError(f"For '{self.cls_name}', the 'activation' must be str or Cell or Primitive, but got "
                            f"{type(activation).__name__}.")
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        self.activation_flag = self.activation is not None

    def construct(self, x):
        x = _nn.linear(x, self.weight, self.bias)
        return self.activation(x) if self.activation_flag else x

    def extend_repr(self):
        s = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            s += f", has_bias={self.has_bias}"
        if self.activation_flag:
            s += f", activation={self.activation}"
        return s


class Linear(Dense):
    """Dense with the argument names of other frameworks."""

    def __init__(self, in_features, out_features, bias=True, weight_init=None, bias_init=None, dtype=None):
        super().__init__(in_features, out_features, weight_init, bias_init, bias,
                         dtype=mstype.float32 if dtype is None else dtype)
        self.in_features, self.out_features = in_features, out_features

    def construct(self, input):
        return _nn.linear(input, self.weight, self.bias)

    def extend_repr(self):
        s = f"input_features={self.in_features}, output_features={self.out_features}"
        return s + f", has_bias={self.has_bias}" if self.has_bias else s


class BiDense(Cell):
    """y_k = x1 A_k x2^T + b_k."""

    def __init__(self, in1_channels, in2_channels, out_channels, weight_init=None, bias_init=None, has_bias=True,
                 dtype=mstype.float32):
        super().__init__()
        self.in1_channels = check_positive_int(in1_channels, "in1_channels", self.cls_name)
        self.in2_channels = check_positive_int(in2_channels, "in2_channels", self.cls_name)
        self.out_channels = check_positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = check_bool(has_bias, "has_bias", self.cls_name)
        bound = Uniform(1 / math.sqrt(in1_channels))
        self.weight = Parameter(initializer(bound if weight_init is None else weight_init,
                                            (out_channels, in1_channels, in2_channels), dtype), name="weight")
        self.bias = None
        if has_bias:
            self.bias = Parameter(initializer(bound if bias_init is None else bias_init, (out_channels,), dtype),
                                  name="bias")

    def construct(self, input1, input2):
        b = ops.matmul(input1, ops.transpose(self.weight, (1, 0, 2)).reshape((self.in1_channels, -1)))
        b = b.reshape((*input1.shape[:-1], self.out_channels, self.in2_channels))
        y = (b * input2.expand_dims(-2)).sum(-1)
        return y if self.bias is None else y + self.bias

    def extend_repr(self):
        s = (f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, output_channels={self.out_channels}")
        return s + f", has_bias={self.has_bias}" if self.has_bias else s


class Dropout(Cell):
    """Zeroes elements with probability p (or 1 - keep_prob) in training and scales the others."""

    def __init__(self, keep_prob=0.5, p=None, dtype=mstype.float32):
        super().__init__()
        if p is None:
            check_type(keep_prob, "keep_prob", float, self.cls_name)
            if not 0 < keep_prob <= 1:
                raise ValueError(f"For '{self.cls_name}', the 'keep_prob' must be a number in range (0, 1], but got "
                                 f"{keep_prob}.")
        else:
            check_type(p, "p", (float, int), self.cls_name)
            if not 0 <= p < 1:
                raise ValueError(f"For '{self.cls_name}', the 'p' must be a number in range [0, 1), but got {p}.")
        self.p = p
        self.keep_prob = keep_prob
        self._rate = float(1 - keep_prob if p is None else p)

    def construct(self, x):
        if not self.training or self._rate == 0:
            return x
        return _nn.dropout(x, self._rate)

    def extend_repr(self):
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _ChannelDropout(Cell):
    _ranks = ()

    def __init__(self, p=0.5):
        super().__init__()
        check_type(p, "p", float, self.cls_name)
        if not 0 <= p <= 1:
            raise ValueError(f"For '{self.cls_name}', the 'p' must be a number in range [0, 1], but got {p}.")
        self.prob = p

    def construct(self, x):
        if not self.training or self.prob == 0:
            return x
        if x.ndim not in self._ranks:
            raise ValueError(f"For '{self.cls_name}', the rank of the input must be {' or '.join(map(str, self._ranks))}, but "
                             f"got {x.ndim}.")
        return _nn.dropout(x, self.prob, 2 if x.ndim == max(self._ranks) else 1)


class Dropout1d(_ChannelDropout):
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    _ranks = (2, 3)


class Dropout2d(_ChannelDropout):
    """Zeroes whole channels of (N, C, H, W)."""
    _ranks = (4,)

    def extend_repr(self):
        return f"p={self.prob}"


class Dropout3d(_ChannelDropout):
    """Zeroes whole channels of (N, C, D, H, W)."""
    _ranks = (5,)

    def extend_repr(self):
        return f"p={self.prob}"


class Embedding(Cell):
    """Rows of a table by index."""

    def __init__(self, vocab_size, embedding_size, use_one_hot=False, embedding_table="normal", dtype=mstype.float32,
                 padding_idx=None):
        super().__init__()
        self.vocab_size = check_int(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = check_int(embedding_size, "embedding_size", self.cls_name)
        self.use_one_hot = check_bool(use_one_hot, "use_one_hot", self.cls_name)
        self.dtype = dtype
        self.padding_idx = padding_idx
        values = initializer(embedding_table, [vocab_size, embedding_size], dtype)
        if padding_idx is not None:
            check_int(padding_idx, "padding_idx", self.cls_name)
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(f"For '{self.cls_name}', the 'padding_idx' must be in range of [0, {vocab_size}), but got "
                                 f"{padding_idx} with type 'int'.")
            values = values.init_data()
            values[padding_idx] = 0
        self.embedding_table = Parameter(values, name="embedding_table")

    def construct(self, ids):
        return _nn.take(self.embedding_table, ids)

    def extend_repr(self):
        return (f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
                f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}")


class EmbeddingLookup(Cell):
    """Rows of a table by index."""

    def __init__(self, vocab_size, embedding_size, param_init="normal", target="CPU", slice_mode="batch_slice",
                 manual_shapes=None, max_norm=None, sparse=True, dtype=mstype.float32):
        super().__init__()
        self.vocab_size = check_positive_int(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = check_positive_int(embedding_size, "embedding_size", self.cls_name)
        if target not in ("CPU", "DEVICE"):
            raise ValueError(f"For '{self.cls_name}', the 'target' must be one of values in ('CPU', 'DEVICE'), but got "
                             f"{target}.")
        self.target, self.sparse, self.max_norm = target, sparse, max_norm
        self.embedding_table = Parameter(initializer(param_init, [vocab_size, embedding_size], dtype),
                                         name="embedding_table")

    def construct(self, indices):
        rows = _nn.take(self.embedding_table, indices)
        if self.max_norm is not None:
            norm = (rows * rows).sum(-1, keepdims=True).sqrt()
            rows = ops.where(norm > self.max_norm, rows * (self.max_norm / norm), rows)
        return rows


class Flatten(Cell):
    """Merges the axes from start_dim to end_dim."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x):
        start, end = self.start_dim, self.end_dim
        if start == 1 and end == -1 and x.ndim > 1:
            return x.reshape((x.shape[0], -1) if 0 not in x.shape else (x.shape[0], math.prod(x.shape[1:])))
        return ops.flatten(x, start_dim=start, end_dim=end)


class Unflatten(Cell):
    """Splits an axis."""

    def __init__(self, axis, unflattened_size):
        super().__init__()
        check_type(axis, "axis", int, self.cls_name)
        check_type(unflattened_size, "unflattened_size", (tuple, list), self.cls_name)
        self.axis, self.unflattened_size = axis, tuple(unflattened_size)

    def construct(self, input):
        axis = self.axis % input.ndim
        return input.reshape((*input.shape[:axis], *self.unflattened_size, *input.shape[axis + 1:]))


class Identity(Cell):
    """Gives its input back."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def construct(self, input):
        return input


class OneHot(Cell):
    """on_value where the class of an axis equals the index, off_value elsewhere."""

    def __init__(self, axis=-1, depth=1, on_value=1.0, off_value=0.0, dtype=mstype.float32):
        super().__init__()
        self.axis, self.depth, self.dtype = axis, depth, dtype
        self.on_value, self.off_value = Tensor(on_value, dtype), Tensor(off_value, dtype)

    def construct(self, indices):
        return ops.one_hot(indices, self.depth, self.on_value, self.off_value, self.axis)


class _Pad(Cell):
    """Pads the last axes; ``padding`` holds (low, high) pairs from the last axis on."""
    _n = 0
    _mode = "constant"

    def __init__(self, padding, value=None):
        super().__init__()
        if isinstance(padding, bool) or not isinstance(padding, (int, tuple)):
            raise TypeError(f"For '{self.cls_name}', the type of parameter 'padding' must be in [int, float, tuple], but got "
                            f"{type(padding)}")
        if isinstance(padding, tuple) and (len(padding) > 2 * self._n or len(padding) % 2):
            raise ValueError(f"For '{self.cls_name}', the length of parameter 'padding' with tuple type must be even and at "
                             f"most {2 * self._n}, but got {len(padding)}.")
        self.padding = (padding,) * (2 * self._n) if isinstance(padding, int) else padding
        if not all(isinstance(n, int) and not isinstance(n, bool) for n in self.padding):
            raise TypeError(f"For '{self.cls_name}', all elements of 'padding' must be int, but got {padding}.")
        if self._mode == "reflect" and min(self.padding) < 0:
            raise ValueError(f"For '{self.cls_name}', the elements of 'padding' must not be negative, but got {padding}.")
        self.value = value

    def construct(self, x):
        if self._mode == "constant":
            return ops.pad(x, self.padding, "constant", self.value)
        return ops.pad(x, self.padding, self._mode)


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding, value)


class ConstantPad1d(_ConstantPad):
    _n = 1


class ConstantPad2d(_ConstantPad):
    _n = 2


class ConstantPad3d(_ConstantPad):
    _n = 3


class ZeroPad2d(_Pad):
    _n = 2

    def __init__(self, padding):
        super().__init__(padding, 0)


class _FreePad(_Pad):
    def __init__(self, padding):
        super().__init__(padding)


class ReflectionPad1d(_FreePad):
    _n, _mode = 1, "reflect"


class ReflectionPad2d(_FreePad):
    _n, _mode = 2, "reflect"


class ReflectionPad3d(_FreePad):
    _n, _mode = 3, "reflect"


class ReplicationPad1d(_FreePad):
    _n, _mode = 1, "replicate"


class ReplicationPad2d(_FreePad):
    _n, _mode = 2, "replicate"


class ReplicationPad3d(_FreePad):
    _n, _mode = 3, "replicate"


class Pad(Cell):
    """Pads every axis by (low, high): mode CONSTANT (zeros), REFLECT or SYMMETRIC."""

    def __init__(self, paddings, mode="CONSTANT"):
        super().__init__()
        if not isinstance(paddings, tuple):
            raise TypeError(f"For '{self.cls_name}', the type of 'paddings' must be tuple, but got "
                            f"{type(paddings).__name__}.")
        if any(len(item) != 2 for item in paddings):
            raise ValueError(f"For '{self.cls_name}', the dimension of 'paddings' must be (n, 2), but got {paddings}.")
        if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            raise ValueError(f"For '{self.cls_name}', the 'mode' must be one of values in ('CONSTANT', 'REFLECT', "
                             f"'SYMMETRIC'), but got {mode}.")
        self.paddings, self.mode = paddings, mode

    def construct(self, x):
        if len(self.paddings) != x.ndim:
            raise ValueError(f"For '{self.cls_name}', the 'paddings' must have one pair per axis, but got "
                             f"{len(self.paddings)} for an input of shape {x.shape}.")
        low, high = [p[0] for p in self.paddings], [p[1] for p in self.paddings]
        if self.mode == "CONSTANT":
            return _nn.pad(x, low, high)
        for axis, (before, after) in enumerate(self.paddings):
            x = self._mirror(x, axis, before, after)
        return x

    def _mirror(self, x, axis, before, after):
        n, skip = x.shape[axis], int(self.mode == "REFLECT")
        if before > n - skip or after > n - skip:
            raise ValueError(f"For '{self.cls_name}', the padding {(before, after)} is too large for axis {axis} of shape "
                             f"{x.shape}.")
        picks = [*range(before - 1 + skip, skip - 1, -1), *range(n), *range(n - 1 - skip, n - 1 - skip - after, -1)]
        return _nn.take(x, Tensor(picks, mstype.int64), axis)


class PixelShuffle(Cell):
    """Moves channels into space: (N, C r^2, H, W) -> (N, C, H r, W r)."""

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = check_positive_int(upscale_factor, "upscale_factor", self.cls_name)

    def construct(self, input):
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Moves space into channels."""

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = check_positive_int(downscale_factor, "downscale_factor", self.cls_name)

    def construct(self, input):
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """Interleaves groups of channels."""

    def __init__(self, groups):
        super().__init__()
        self.groups = check_positive_int(groups, "groups", self.cls_name)

    def construct(self, x):
        n, c, *rest = x.shape
        return x.reshape((n, self.groups, c // self.groups, *rest)).swapaxes(1, 2).reshape(x.shape)


class Upsample(Cell):
    """Resizes the spatial axes."""

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x):
        return ops.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners,
                               self.recompute_scale_factor)


class ClipByNorm(Cell):
    """x times clip_norm over its norm along ``axis``, where that is larger."""

    def __init__(self, axis=None):
        super().__init__()
        self.axis = None if axis is None else check_type(axis, "axis", (int, tuple, list), self.cls_name)

    def construct(self, x, clip_norm):
        return _nn.clip_by_norm(x, clip_norm, self.axis)


class Norm(Cell):
    """Euclidean norm along ``axis`` (all of them for ())."""

    def __init__(self, axis=(), keep_dims=False):
        super().__init__()
        self.axis = check_type(axis, "axis", (int, tuple), self.cls_name)
        self.keep_dims = check_type(keep_dims, "keep_dims", bool, self.cls_name)

    def construct(self, x):
        return (x * x).sum(None if self.axis == () else self.axis, keepdims=self.keep_dims).sqrt()

    def extend_repr(self):
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class Tril(Cell):
    """Lower triangle up to diagonal k; zeros elsewhere."""

    def construct(self, x, k=0):
        return ops.tril(x, k)


class Triu(Cell):
    """Upper triangle from diagonal k on; zeros elsewhere."""

    def construct(self, x, k=0):
        return ops.triu(x, k)


class Roll(Cell):
    """Moves elements around the axes."""

    def __init__(self, shift, axis):
        super().__init__()
        check_type(shift, "shift", (int, tuple, list), self.cls_name)
        check_type(axis, "axis", (int, tuple, list), self.cls_name)
        self.shift, self.axis = shift, axis
        shifts, axes = ((v,) if isinstance(v, int) else tuple(v) for v in (shift, axis))
        if len(shifts) != len(axes):
            raise ValueError(f"For '{self.cls_name}', the 'shift' and 'axis' must have the same length, but got {shift} and {axis}.")
        self._shifts, self._axes = shifts, axes

    def construct(self, input_x):
        return ops.roll(input_x, self._shifts, self._axes)


class MatrixDiag(Cell):
    """Matrices with the last axis on their diagonals."""

    def construct(self, input_x):
        return ops.diag_embed(input_x)


class MatrixDiagPart(Cell):
    """Diagonals of the last two axes."""

    def construct(self, input_x):
        return ops.diagonal(input_x, 0, -2, -1)


class MatrixSetDiag(Cell):
    """Matrices with new diagonals."""

    def construct(self, input_x, diagonal):
        return ops.diagonal_scatter(input_x, diagonal, 0, -2, -1)


class Unfold(Cell):
    """Patches of (N, C, H, W): (N, C kh kw, oh, ow), the channels of the input outermost. Arguments are (1, h, w, 1)."""

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        for name, value in (("ksize", ksizes), ("stride", strides), ("rate", rates)):
            if not isinstance(value, (tuple, list)) or len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"For '{self.cls_name}', the format of '{name}s' must be [1, {name}_row, {name}_col, 1], but got "
                                 f"{value}.")
            for item in value[1:3]:
                check_positive_int(item, name, self.cls_name)
        if str(padding).lower() not in ("same", "valid"):
            raise ValueError(f"For '{self.cls_name}', the 'padding' must be 'same' or 'valid', but got {padding}.")
        self._args = (tuple(ksizes[1:3]), tuple(strides[1:3]), tuple(rates[1:3]), padding)

    def construct(self, input_x):
        return _nn.extract_patches(input_x, *self._args)


class L1Regularizer(Cell):
    """scale times the sum of absolute weights."""

    def __init__(self, scale):
        super().__init__()
        check_type(scale, "scale", (int, float), self.cls_name)
        if not 0 < scale < math.inf:
            raise ValueError(f"For '{self.cls_name}', the 'scale' must be a number > 0 and finite, but got {scale}.")
        self.scale = scale

    def construct(self, weights):
        return weights.abs().sum() * self.scale
