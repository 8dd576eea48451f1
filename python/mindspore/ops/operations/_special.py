"""What the table calls that is more than one call, and the classes that are no operators of numbers."""

import math

import numpy as np

from mindspore import _c
from mindspore._c import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._rows import Rows, nn, optim
from mindspore.ops.primitive import Primitive

__all__ = ["Assert", "Custom", "ForiLoop", "HistogramSummary", "HookBackward", "ImageSummary", "InsertGradientOf", "Morph", "Partial", "Print",
           "PyFunc", "ReduceOp", "ScalarSummary", "Scan", "TensorSummary", "WhileLoop"]

_p = Rows("_p")


def space():
    """The names that lines of the table use."""
    from mindspore import ops
    from mindspore.ops.operations import _compose, _sparse, _windows
    own = (ints, strided_slice, invert_permutation, conv, depthwise, conv_backprop_input, max_pool, max_pool_with_index, avg_pool, avg_pool_3d, softmax)
    return {"__name__": __name__, "o": ops, "p": _p, "rows": _p, "nn": nn, "optim": optim, "math": math, "Tensor": Tensor, "int32": mstype.int32,
            "int64": mstype.int64, "float32": mstype.float32, **{f.__name__: f for f in own},
            **{name: getattr(part, name) for part in (_compose, _sparse, _windows) for name in part.__all__}}


# ---- arguments ----

def ints(value):
    """Sizes or axes as the rows take them: constant Tensors become Python numbers."""
    if isinstance(value, Tensor):
        value = value.asnumpy().tolist()
    if isinstance(value, (list, tuple)):
        return tuple(int(v) if isinstance(v, Tensor) else v for v in value)
    return value


def _spatial(value, n, name, prim):
    """n numbers from one, n, or n + 2 (the first two for batch and channels are 1)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * n
    if isinstance(value, (tuple, list)) and len(value) in (n, n + 2):
        return tuple(value[-n:])
    raise ValueError(f"For '{prim.name}', the '{name}' should be an int or a tuple of {n} or {n + 2} ints, but got {value}.")


def _layout(prim, allowed):
    given = prim.attrs.get("data_format", allowed)
    if given != allowed:
        raise ValueError(f"For '{prim.name}', the 'data_format' must be '{allowed}' on the CPU, but got '{given}'.")


def strided_slice(x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    """x[begin:end:strides] with the masks' bits: use the whole axis, an Ellipsis, a new axis, an index."""
    if not len(begin) == len(end) == len(strides):
        raise ValueError(f"For 'StridedSlice', 'begin', 'end' and 'strides' must have the same length, but got {len(begin)}, {len(end)} "
                         f"and {len(strides)}.")
    index = []
    for k, (low, high, step) in enumerate(zip(begin, end, strides)):
        if ellipsis_mask >> k & 1:
            index.append(Ellipsis)
        elif new_axis_mask >> k & 1:
            index.append(None)
        elif shrink_axis_mask >> k & 1:
            index.append(low)
        else:
            if step == 0:
                raise ValueError("For 'StridedSlice', the 'strides' must not be 0.")
            index.append(slice(None if begin_mask >> k & 1 else low, None if end_mask >> k & 1 else high, step))
    return x[tuple(index)]


def invert_permutation(x):
    """The tuple y with y[x[k]] = k."""
    if sorted(x) != list(range(len(x))):
        raise ValueError(f"For 'InvertPermutation', the input must be a permutation of 0 to {len(x) - 1}, but got {x}.")
    out = [0] * len(x)
    for k, v in enumerate(x):
        out[v] = k
    return tuple(out)


def softmax(x, axis):
    from mindspore import ops
    if isinstance(axis, (tuple, list)):
        if len(axis) != 1:
            raise ValueError(f"For 'Softmax', the 'axis' must be one axis, but got {axis}.")
        axis = axis[0]
    return ops.softmax(x, axis)


# ---- windows ----

def _padding(prim, n):
    pad = prim.pad
    return (pad,) * (2 * n) if isinstance(pad, int) else tuple(pad) if len(pad) != n else tuple(v for v in pad for _ in (0, 1))


def conv(prim, x, weight, bias, n):
    _layout(prim, "NCHW" if n == 2 else "NCDHW")
    if prim.mode != 1:
        raise ValueError(f"For '{prim.name}', the 'mode' must be 1 (cross correlation), but got {prim.mode}.")
    if weight.shape[0] != prim.out_channel:
        raise ValueError(f"For '{prim.name}', the first size of 'weight' must be 'out_channel' {prim.out_channel}, but got shape "
                         f"{weight.shape}.")
    if tuple(weight.shape[2:]) != _spatial(prim.kernel_size, n, "kernel_size", prim):
        raise ValueError(f"For '{prim.name}', the 'weight' must have the kernel size {prim.kernel_size}, but got shape {weight.shape}.")
    return nn.conv(x, weight, bias, _spatial(prim.stride, n, "stride", prim), prim.pad_mode.lower(), _padding(prim, n),
                   _spatial(prim.dilation, n, "dilation", prim), prim.group)


def depthwise(prim, x, weight):
    """A weight [multiplier, channels, height, width] as a grouped convolution."""
    m, c, h, w = weight.shape
    weight = weight.transpose((1, 0, 2, 3)).reshape((c * m, 1, h, w))
    return nn.conv(x, weight, None, _spatial(prim.stride, 2, "stride", prim), prim.pad_mode.lower(), _padding(prim, 2),
                   _spatial(prim.dilation, 2, "dilation", prim), c)


def conv_backprop_input(prim, dout, weight, input_size, n):
    _layout(prim, "NCHW")
    pad = prim.pad_list if prim.pad_list is not None else prim.pad
    pad = (pad,) * (2 * n) if isinstance(pad, int) else tuple(pad)
    return _p.conv_backprop_input(dout, weight, ints(input_size), _spatial(prim.stride, n, "stride", prim), prim.pad_mode.lower(), pad,
                                  _spatial(prim.dilation, n, "dilation", prim), prim.group)


def _pool(prim, n):
    _layout(prim, "NCHW" if n == 2 else "NCDHW")
    mode = prim.pad_mode.lower()
    pad = prim.attrs.get("pad_list", prim.attrs.get("pad", 0)) if mode == "pad" else 0
    pad = tuple(pad) if isinstance(pad, (tuple, list)) else (pad,) * (2 * n)
    return _spatial(prim.kernel_size, n, "kernel_size", prim), _spatial(prim.strides, n, "strides", prim), mode, pad


def max_pool(prim, x, n):
    kernel, stride, mode, pad = _pool(prim, n)
    return nn.max_pool(x, n, kernel, stride, mode, pad, 1, bool(prim.attrs.get("ceil_mode")))


def max_pool_with_index(prim, x):
    kernel, stride, mode, pad = _pool(prim, 2)
    y, index = nn.max_pool(x, 2, kernel, stride, mode, pad, 1, False, True)
    plane = Tensor([[[[c * x.shape[2] * x.shape[3]]] for c in range(x.shape[1])]], mstype.int64)  # positions count from the first channel
    return y, (index + plane).astype(mstype.int32)


def avg_pool(prim, x, n):
    kernel, stride, mode, pad = _pool(prim, n)
    return nn.avg_pool(x, n, kernel, stride, mode, pad, prim.attrs.get("ceil_mode", False), prim.attrs.get("count_include_pad", False),
                       prim.attrs.get("divisor_override", 0))


def avg_pool_3d(prim, x):
    """The pooling whose padding stands in `pads`, one number for all sides or six."""
    pad = (prim.pads,) * 6 if isinstance(prim.pads, int) else tuple(prim.pads)
    return nn.avg_pool(x, 3, _spatial(prim.kernel_size, 3, "kernel_size", prim), _spatial(prim.strides, 3, "strides", prim),
                       prim.pad_mode.lower(), pad if prim.pad_mode.lower() == "pad" else (0,) * 6, prim.ceil_mode, prim.count_include_pad,
                       prim.divisor_override)


# ---- other classes ----

class ReduceOp:
    """Names of reductions of collective operators."""
    SUM, MAX, MIN, PROD = "sum", "max", "min", "prod"


class Print(Primitive):
    """Prints its inputs when it is reached."""

    def __init__(self):
        super().__init__("Print")

    def __call__(self, *args):
        from mindspore.jit.effects import Repr, show
        show(*[Repr(v) if isinstance(v, Tensor) else v for v in args], sep="\n", flush=True)
        return Tensor(0, mstype.int32)


class Assert(Primitive):
    """Raises when the condition is false, with the values of ``input_data``, at most ``summarize`` of each."""

    def __init__(self, summarize=3):
        if isinstance(summarize, bool) or not isinstance(summarize, int):
            raise TypeError(f"For 'Assert', the 'summarize' must be int, but got {type(summarize).__name__}.")
        super().__init__("Assert")
        self.add_prim_attr("summarize", summarize)

    def __call__(self, condition, input_data):
        from mindspore.jit.effects import check
        if isinstance(condition, Tensor):
            check(condition, self._fail, *input_data)
        elif not condition:
            self._fail(*input_data)

    def _fail(self, *input_data):
        shown = [x.asnumpy().ravel()[:self.summarize].tolist() if isinstance(x, Tensor) else x for x in input_data]
        raise RuntimeError(f"For 'Assert', assert failed: the condition is false; data: {shown}.")


class Partial(Primitive):
    """A function with its first arguments given."""

    def __init__(self):
        super().__init__("Partial")

    def __call__(self, func, *args, **kwargs):
        from mindspore.ops.composite import partial
        return partial(func, *args, **kwargs)


class _Summary(Primitive):
    """Gives its value to the SummaryRecord that is open when it runs; without one the value is checked only."""

    def __init__(self):
        super().__init__(type(self).__name__)

    def __call__(self, name, value):
        from mindspore.jit.effects import waits
        from mindspore.train.summary import summary_record
        if not isinstance(name, str):
            raise TypeError(f"For '{self.name}', the 'name' must be a str, but got {type(name).__name__}.")
        if not name:
            raise ValueError(f"For '{self.name}', the 'name' must not be empty.")
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{self.name}', the 'value' must be a Tensor, but got {type(value).__name__}.")
        plugin = self.name.removesuffix("Summary").lower()
        if plugin in ("tensor", "histogram") and not value.ndim:
            raise ValueError(f"For '{self.name}', the 'value' must have at least one axis, but got the shape ().")
        summary_record.check_shape(plugin, self.name, value.shape, value.size)
        if waits(value):
            _c.host(lambda now: summary_record.tell(plugin, name, now), (value,))
        else:
            summary_record.tell(plugin, name, value)


class ScalarSummary(_Summary):
    pass


class ImageSummary(_Summary):
    pass


class TensorSummary(_Summary):
    pass


class HistogramSummary(_Summary):
    pass


class InsertGradientOf(Primitive):
    """The identity; ``f(gradient)`` takes the place of the gradient."""

    def __init__(self, f):
        if not callable(f):
            raise TypeError(f"For 'InsertGradientOf', the 'f' must be a function, but got {type(f).__name__}.")
        super().__init__("InsertGradientOf")
        self.add_prim_attr("f", f)

    def __call__(self, input_x):
        from mindspore.common.hooks import identity

        def grad(cts):
            out = self.f(cts[0])
            return out if isinstance(out, (tuple, list)) else (out,)
        return identity(grad, (input_x,))[0]


class HookBackward(Primitive):
    """The identity; ``hook_fn((gradient, ...))`` sees the gradients and may replace them, or with ``cell_id``
    ``hook_fn(cell_id, gradients, gradients)``."""

    def __init__(self, hook_fn, cell_id=""):
        if not callable(hook_fn):
            raise TypeError(f"For 'HookBackward', the 'hook_fn' must be a function, but got {type(hook_fn).__name__}.")
        if not isinstance(cell_id, str):
            raise TypeError(f"For 'HookBackward', the 'cell_id' must be str, but got {type(cell_id).__name__}.")
        super().__init__("HookBackward")
        self.hook_fn, self.cell_id = hook_fn, cell_id

    def __call__(self, *inputs):
        from mindspore.common.hooks import identity

        def grad(cts):
            if self.cell_id:
                out = self.hook_fn(self.cell_id, tuple(cts), tuple(cts))
            else:
                out = self.hook_fn(tuple(cts))
            return out if out is None or isinstance(out, (tuple, list)) else (out,)
        out = identity(grad, inputs)
        return out[0] if len(out) == 1 else out


def _named(name):
    return getattr(mstype, "bool_" if name == "bool" else name)


class Custom(Primitive):
    """A Python function of arrays (``func_type`` 'pyfunc') or one of a library or C file ('aot', see op_info_register.Library) as
    an operator; ``bprop(*inputs, out, dout)`` is its gradient."""

    def __init__(self, func, out_shape=None, out_dtype=None, func_type="pyfunc", bprop=None, reg_info=None):
        super().__init__("Custom")
        if func_type == "aot":
            func = self._compiled(func, out_shape, out_dtype, reg_info)
        elif func_type != "pyfunc":
            if func_type in ("hybrid", "akg", "tbe", "aicpu", "julia"):
                raise NotImplementedError(f"For 'Custom', the 'func_type' must be 'pyfunc' or 'aot', but got '{func_type}'.")
            raise ValueError(f"For 'Custom', the 'func_type' must be in ['hybrid', 'akg', 'tbe', 'aicpu', 'aot', 'pyfunc', 'julia'], but got "
                             f"{func_type}.")
        if not callable(func):
            raise TypeError(f"For 'Custom', the 'func' must be callable for 'pyfunc', but got {type(func).__name__}.")
        if bprop is not None and not callable(bprop):
            raise TypeError(f"For 'Custom', the 'bprop' must be a function, but got {type(bprop).__name__}.")
        self.func, self.out_shape, self.out_dtype, self.func_type, self.bprop = func, out_shape, out_dtype, func_type, bprop

    def _compiled(self, func, out_shape, out_dtype, reg_info):
        """The function of a library as one of arrays."""
        from mindspore.ops.op_info_register import Library
        library = Library(func)
        for name, value in (("out_shape", out_shape), ("out_dtype", out_dtype)):
            if value is None:
                raise ValueError(f"For 'Custom', the '{name}' must be given for 'aot'.")
        if reg_info and reg_info.get("attr"):
            raise NotImplementedError("For 'Custom', attributes of an 'aot' function are not supported: give it further inputs.")

        def run(*inputs):
            inputs = [np.ascontiguousarray(x) for x in inputs]
            shapes = out_shape(*[x.shape for x in inputs]) if callable(out_shape) else out_shape
            several = bool(shapes) and isinstance(shapes[0], (tuple, list))
            shapes = list(shapes) if several else [shapes]
            dtypes = self._dtypes([_named(x.dtype.name) for x in inputs], len(shapes))
            outputs = [np.empty(s, mstype.dtype_to_nptype(d)) for s, d in zip(shapes, dtypes)]
            arrays = [*inputs, *outputs]
            library(arrays, [x.dtype.name for x in arrays])
            return tuple(outputs) if several else outputs[0]
        return run

    def _dtypes(self, inputs, n):
        """The dtypes that were announced, or None for each of n outputs."""
        given = self.out_dtype
        if callable(given) and not isinstance(given, type(mstype.float32)):
            given = given(*[x.dtype if isinstance(x, Tensor) else x for x in inputs])
        if isinstance(given, (tuple, list)):
            return list(given)
        return [given] * n

    def __call__(self, *inputs):
        out = self.func(*[x.asnumpy() if isinstance(x, Tensor) else x for x in inputs])
        several = isinstance(out, (tuple, list))
        flat = list(out) if several else [out]
        flat = [Tensor(x, dtype) for x, dtype in zip(flat, self._dtypes(inputs, len(flat)))]
        result = tuple(flat) if several else flat[0]
        if self.bprop is None:
            return result
        from mindspore.common.hooks import with_gradient

        def grad(xs, ys, cts):
            got = self.bprop(*xs, ys, cts)
            return got if isinstance(got, (tuple, list)) else (got,)
        return with_gradient(grad, inputs, result)


class Morph(Primitive):
    """A function as an operator; ``bprop_fn(*inputs, out, dout)`` is its gradient when it is given."""

    def __init__(self, fn, infer_shape, infer_dtype, bprop_fn=None):
        for name, value in (("fn", fn), ("infer_shape", infer_shape), ("infer_dtype", infer_dtype)):
            if not callable(value):
                raise TypeError(f"For 'Morph', the '{name}' must be a function, but got {type(value).__name__}.")
        super().__init__("Morph")
        self.fn, self.infer_shape, self.infer_dtype, self.bprop_fn = fn, infer_shape, infer_dtype, bprop_fn

    def __call__(self, *inputs):
        out = _user(self.fn)(*inputs)
        if self.bprop_fn is None:
            return out
        from mindspore.common.hooks import with_gradient

        def grad(xs, ys, cts):
            got = self.bprop_fn(*xs, ys, cts)
            return got if isinstance(got, (tuple, list)) else (got,)
        return with_gradient(grad, inputs, out)


# ---- loops over functions ----

def _user(fn):
    from mindspore import autodiff
    return autodiff._callee(fn)


class WhileLoop(Primitive):
    """``while cond_func(value): value = loop_func(value)``"""

    def __init__(self):
        super().__init__("WhileLoop")

    def __call__(self, cond_func, loop_func, init_val):
        cond, loop, value = _user(cond_func), _user(loop_func), init_val
        while cond(value):
            value = loop(value)
        return value


class ForiLoop(Primitive):
    """``for i in range(lower, upper): value = loop_func(i, value)``"""

    def __init__(self):
        super().__init__("ForiLoop")

    def __call__(self, lower, upper, loop_func, init_val, unroll=True):
        if not isinstance(unroll, bool):
            raise TypeError(f"For 'ForiLoop', the 'unroll' must be bool, but got {type(unroll).__name__}.")
        loop, value = _user(loop_func), init_val
        for i in range(int(lower), int(upper)):
            value = loop(i, value)
        return value


class Scan(Primitive):
    """``carry, y = loop_func(carry, x)`` over the elements of xs; the last carry and the ys, stacked where they are Tensors."""

    def __init__(self):
        super().__init__("Scan")

    def __call__(self, loop_func, init, xs, length=None, unroll=True):
        if not isinstance(unroll, bool):
            raise TypeError(f"For 'Scan', the 'unroll' must be bool, but got {type(unroll).__name__}.")
        if xs is None and length is None:
            raise ValueError("For 'Scan', 'xs' or 'length' must be given.")
        items = [None] * length if xs is None else xs
        if length is not None and len(items) != length:
            raise ValueError(f"For 'Scan', the 'length' must be that of 'xs', {len(items)}, but got {length}.")
        loop, carry, ys = _user(loop_func), init, []
        for x in items:
            carry, y = loop(carry, x)
            ys.append(y)
        if ys and all(isinstance(y, Tensor) for y in ys):
            from mindspore import ops
            return carry, ops.stack(ys)
        return carry, ys


class PyFunc(Primitive):
    """A Python function of arrays with announced types and shapes of its outputs."""

    def __init__(self, fn, in_types, in_shapes, out_types, out_shapes, stateful=True):
        super().__init__("PyFunc")
        if not callable(fn):
            raise TypeError(f"For 'PyFunc', the 'fn' must be callable, but got {type(fn).__name__}.")
        self.fn, self.in_types, self.in_shapes = fn, in_types, in_shapes
        self.out_types, self.out_shapes, self.stateful = out_types, out_shapes, stateful

    def __call__(self, *inputs):
        out = self.fn(*[x.asnumpy() if isinstance(x, Tensor) else x for x in inputs])
        out = out if isinstance(out, (tuple, list)) else (out,)
        if len(out) != len(self.out_types):
            raise ValueError(f"For 'PyFunc', the function must return {len(self.out_types)} values, but got {len(out)}.")
        return tuple(Tensor(x, dtype) for x, dtype in zip(out, self.out_types))
