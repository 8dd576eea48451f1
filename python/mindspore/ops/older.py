"""Functions whose work a primitive class or a layer does already, and those of older scripts."""
from mindspore._c import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._rows import Rows, nn

_p = Rows("_p")
_o = Rows("ops")
_m = Rows("mint")


def _primitive(name, *attributes, **named):
    from mindspore.ops import operations
    return getattr(operations, name)(*attributes, **named)


# ---- pooling ----

def lp_pool1d(x, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of the last axis."""
    return nn.lp_pool(x, 1, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(x, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of the last two axes."""
    return nn.lp_pool(x, 2, norm_type, kernel_size, stride, ceil_mode)


def _fractional(name, input, n, kernel_size, output_size, output_ratio, return_indices, samples):
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"For '{name}', exactly one of 'output_size' and 'output_ratio' must be given.")
    if output_size is None:
        ratio = (output_ratio,) * n if isinstance(output_ratio, float) else tuple(output_ratio)
        if len(ratio) != n or not all(0 < r < 1 for r in ratio):
            raise ValueError(f"For '{name}', the 'output_ratio' must be {n} numbers in (0, 1), but got {output_ratio}.")
        output_size = tuple(int(s * r) for s, r in zip(input.shape[-n:], ratio))
    if samples is None:
        samples = _o.rand((*((1,) * (n + 2 - input.ndim)), *input.shape[:-n], n))
    y = nn.fractional_max_pool(input, n, kernel_size, output_size, samples)
    return tuple(y) if return_indices else y[0]


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """Maxima of windows at places that a draw per plane decides (Graham 2015)."""
    return _fractional("fractional_max_pool2d", input, 2, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """The same of the last three axes."""
    return _fractional("fractional_max_pool3d", input, 3, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def conv3d_transpose(inputs, weight, pad_mode="valid", padding=0, stride=1, dilation=1, group=1, output_padding=0):
    """A transposed convolution of the last three axes."""
    kernel = tuple(weight.shape[2:])
    return _primitive("Conv3DTranspose", weight.shape[0], weight.shape[1] * group, kernel, 1, pad_mode, padding, stride, dilation, group,
                      output_padding)(inputs, weight)


# ---- boxes ----

def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0):
    """Boxes of images, resized."""
    return _primitive("CropAndResize", method, extrapolation_value)(image, boxes, box_indices, crop_size)


def bounding_box_encode(anchor_box, groundtruth_box, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)):
    """The offsets that lead from anchors to boxes."""
    return _p.box_encode(anchor_box, groundtruth_box, means, stds)


def bounding_box_decode(anchor_box, deltas, max_shape, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0), wh_ratio_clip=0.016):
    """The boxes that offsets from anchors lead to."""
    return _p.box_decode(anchor_box, deltas, max_shape, means, stds, wh_ratio_clip)


def check_valid(bboxes, img_metas):
    """Whether boxes lie in their image."""
    return _p.check_valid(bboxes, img_metas)


# ---- random ----

def _state(seed):
    return Tensor([seed, 0], mstype.int64) if seed else None


def choice_with_mask(input_x, count=256, seed=None):
    """`count` places of true elements, drawn, and which of them are there."""
    return tuple(_p.random_choice(input_x, count, _state(seed)))


def multinomial_with_replacement(x, seed, offset, numsamples, replacement=False):
    """Draws of categories."""
    return _primitive("MultinomialWithReplacement", numsamples, replacement)(x, seed, offset)


def _candidates(true_classes, num_true, num_sampled, unique, range_max, state, remove_accidental_hits):
    name = "UniformCandidateSampler"
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(f"For '{name}', the 'true_classes' must have shape (N, {num_true}), but got {true_classes.shape}.")
    if num_sampled < 1 or range_max < 1 or (unique and num_sampled > range_max):
        raise ValueError(f"For '{name}', {num_sampled} classes cannot be drawn out of {range_max}{', each once' if unique else ''}.")
    if remove_accidental_hits:
        hit = set(true_classes.asnumpy().ravel().tolist())
        free = Tensor([v for v in range(range_max) if v not in hit], mstype.int64)
        if free.size < (num_sampled if unique else 1):
            raise ValueError(f"For '{name}', there are {free.size} classes that are not true, but 'num_sampled' is {num_sampled}.")
    else:
        free = _o.arange(range_max)
    n = free.size
    at = _p.randperm(n, state, mstype.int64)[:num_sampled] if unique else _p.draw_int((num_sampled,), 0, n, state, mstype.int64)
    share = num_sampled / range_max
    return (_o.gather(free, at, 0).astype(true_classes.dtype), _o.full(true_classes.shape, share, dtype=mstype.float32),
            _o.full((num_sampled,), share, dtype=mstype.float32))


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False):
    """Classes drawn uniformly, and how often the true and the drawn ones are expected among them."""
    return _candidates(true_classes, num_true, num_sampled, unique, range_max, _state(seed), remove_accidental_hits)


def log_uniform_candidate_sampler(true_classes, num_true=1, num_sampled=5, unique=True, range_max=5, seed=0):
    """Classes drawn with a probability that falls with their number, and how often true and drawn ones are expected."""
    return _primitive("LogUniformCandidateSampler", num_true, num_sampled, unique, range_max, seed)(true_classes)


# ---- shapes and sequences ----

def mirror_pad(input_x, paddings, mode):
    """Padding by mirror images."""
    return _primitive("MirrorPad", mode)(input_x, paddings)


def padding(x, pad_dim_size=8):
    """The last axis, of size 1, padded with zeros."""
    return _primitive("Padding", pad_dim_size)(x)


def move_to(input, to="CPU", blocking=True):
    """A copy on a device; the CPU is the only one."""
    return _primitive("MoveTo")(input, to, blocking)


def print_(*input_x):
    """Prints its inputs when it is reached."""
    return _primitive("Print")(*input_x)


def make_tuple(*items):
    """A tuple of the arguments."""
    return items


def tuple_len(x):
    """The length of a tuple."""
    return len(x)


def tail(x):
    """A sequence without its first element."""
    return x[1:]


def tuple_div(x, y):
    """Quotients of the numbers of two tuples, which must divide without a remainder."""
    if len(x) != len(y) or any(b == 0 or a % b for a, b in zip(x, y)):
        raise ValueError(f"For 'tuple_div', {x} cannot be divided by {y}.")
    return tuple(a // b for a, b in zip(x, y))


def switch(condition, true_branch, false_branch):
    """One of two values."""
    return true_branch if condition else false_branch


def switch_layer(index, layers):
    """One of several functions."""
    return layers[int(index)]


def add_flags(fn=None, **flags):
    """Keeps flags on a function or Cell, which is returned; without one, a decorator that does."""
    if fn is None:
        return lambda fn: add_flags(fn, **flags)
    if hasattr(fn, "add_flags"):
        fn.add_flags(**flags)
    else:
        fn._func_graph_flags = {**getattr(fn, "_func_graph_flags", {}), **flags}
    return fn


def is_dynamic_sequence_element_unknown(x):
    """Whether the elements of a sequence are not known: they are whenever Python runs."""
    return False


def type_as(input, other):
    """input in other's dtype."""
    return input.astype(other.dtype)


# ---- products ----

def tensor_dot(x1, x2, axes):
    """Sums of products over pairs of axes."""
    from mindspore import numpy
    return numpy.tensordot(x1, x2, axes)


def batch_dot(x1, x2, axes=None):
    """Sums of products over one axis of each, example by example."""
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[0] != x2.shape[0]:
        raise ValueError(f"For 'batch_dot', the inputs must have a common batch and 2 axes or more, but got {x1.shape} and {x2.shape}.")
    if axes is None:
        axes = (x1.ndim - 1, 1 if x2.ndim == 2 else x2.ndim - 2)
    a, b = (axes, axes) if isinstance(axes, int) else axes
    a, b = a % x1.ndim, b % x2.ndim
    if a == 0 or b == 0 or x1.shape[a] != x2.shape[b]:
        raise ValueError(f"For 'batch_dot', the axes {axes} of shapes {x1.shape} and {x2.shape} cannot be summed.")
    x1 = _o.transpose(x1, (*[d for d in range(x1.ndim) if d != a], a))
    x2 = _o.transpose(x2, (0, b, *[d for d in range(1, x2.ndim) if d != b]))
    n, k = x1.shape[0], x1.shape[-1]
    left, right = x1.shape[1:-1], x2.shape[2:]
    y = _o.matmul(x1.reshape((n, -1, k)), x2.reshape((n, k, -1)))
    return y.reshape((n, *left, *right)) if left or right else y.reshape((n, 1))


# ---- derivatives ----

def linearize(fn, inputs):
    """The outputs, and the function that multiplies the Jacobian at the inputs with a vector."""
    from mindspore import autodiff
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(f"For 'linearize', the 'inputs' must be Tensors, but got {type(x).__name__}.")

    def push(*vectors):
        return autodiff.jvp(fn, inputs, vectors if len(vectors) > 1 else vectors[0])[1]
    return fn(*inputs), push


# ---- names of mint, and sums of two ----

def diff_ext(input, n=1, dim=-1, prepend=None, append=None):
    """Differences of neighbours."""
    return _m.diff(input, n, dim, prepend, append)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False):
    """Rows of a table."""
    from mindspore.mint.nn import functional
    return functional.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def swiglu(input, dim=-1):
    """The second half along an axis, gated by the SiLU of the first."""
    n = input.shape[dim]
    if n % 2:
        raise ValueError(f"For 'swiglu', the size of axis {dim} must be even, but got {n}.")
    a, b = _o.split(input, n // 2, dim)
    return _o.silu(a) * b


def add_rms_norm(x1, x2, gamma, epsilon=1e-6):
    """(y, rstd, x): the normalised sum, the reciprocal of its root mean square, the sum."""
    x = x1 + x2
    return (*_o.rms_norm(x, gamma, epsilon), x)


def rotary_position_embedding(x, cos, sin, mode=0):
    """x cos + x' sin, where x' are the pairs of the last axis turned by a right angle: pairs of the two halves (mode 0) or of
    neighbours (mode 1)."""
    n = x.shape[-1]
    if mode not in (0, 1) or n % 2:
        raise ValueError(f"For 'rotary_position_embedding', the 'mode' must be 0 or 1 and the last size even, but got {mode} and {n}.")
    if mode == 0:
        turned = _o.cat((-x[..., n // 2:], x[..., :n // 2]), -1)
    else:
        turned = _o.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape)
    return x * cos + turned * sin


def multilabel_margin_loss(input, target, reduction="mean"):
    """The margins between the targets and the other classes of each example."""
    return _primitive("MultilabelMarginLoss", reduction)(input, target)[0]


def sparse_segment_mean(x, indices, segment_ids):
    """The means of rows of x, segment by segment."""
    return _primitive("SegmentMean")(_o.gather(x, indices, 0), segment_ids)


def deformable_conv2d(x, weight, offsets, kernel_size, strides, padding, bias=None, dilations=(1, 1, 1, 1), groups=1, deformable_groups=1,
                      modulated=True):
    """A convolution whose samples lie beside the grid by ``offsets``, (x, y) and with ``modulated`` a factor for each (Dai 2017, Zhu
    2019): (N, 3 deformable_groups kh kw, Ho, Wo). ``padding``: top, bottom, left, right."""
    sampled = _primitive("DeformableOffsets", strides, padding, kernel_size, dilations, "NCHW", deformable_groups, modulated)(x, offsets)
    return _o.conv2d(sampled, weight, bias, tuple(kernel_size), "valid", 0, 1, groups)
