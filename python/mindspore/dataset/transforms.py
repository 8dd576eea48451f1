"""Transforms on any column, and the base of those on images. An object holds checked arguments; the pipeline runs the
transform of the same name in C. Called on an array it runs at once."""
import enum
import sys
import threading

import numpy as np

from mindspore import _c

from . import _check, config


def image_array(value):
    """What an eager call takes: arrays, and images of PIL."""
    if isinstance(value, np.ndarray):
        return value
    if type(value).__module__.startswith('PIL.'):
        return np.asarray(value)
    raise TypeError(f'Input should be NumPy or PIL image, got {type(value)}.')


def is_pil(value):
    return type(value).__module__.startswith('PIL.')


class TensorOperation(_check.Recorded):
    """A transform that the library has. Subclasses check their arguments and give them as numbers in _args."""

    _ends_pil = True  # an image of PIL becomes an array; False: it stays one

    def _args(self):
        return ()

    def _make(self):
        return _c.ds_transform(type(self).__name__, *self._args())

    @property
    def _op(self):
        op = self.__dict__.get('_made')
        if op is None:
            op = self.__dict__['_made'] = self._make()
        return op

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != '_made'}

    def __call__(self, *inputs):
        if len(inputs) == 1 and is_pil(inputs[0]):
            return self._pil(inputs[0])
        return _c.ds_apply(self._op, *map(self._input, inputs))

    def _pil(self, image):
        """What an image of PIL gives: an array, or again one where the original works on such images."""
        y = _c.ds_apply(self._op, self._input(image))
        modes = ('uint8', 'bool', 'uint16', 'float32') if image.mode in ('1', 'F', 'I;16') else ('uint8',)
        if self._ends_pil or not isinstance(y, np.ndarray) or y.dtype not in modes or y.ndim not in (2, 3):
            return y
        from PIL import Image
        return Image.fromarray(y[:, :, 0] if y.ndim == 3 and y.shape[2] == 1 else y)

    def _input(self, value):
        return image_array(value)


class PyTensorOperation(_check.Recorded):
    """Base class of transforms that are written in Python: override __call__."""

    def __call__(self, *inputs):
        raise NotImplementedError(f'{type(self).__name__} must have __call__.')


class _Anything(TensorOperation):
    """Transforms that also take numbers and lists when they are called."""

    def _input(self, value):
        return np.asarray(value)


def _name(op):
    return getattr(op, '__name__', None) or type(op).__name__


_drawing = threading.local()


def draw():
    """The generator of the library's transforms in Python: inside a pipeline that of the row, else numpy's."""
    return getattr(_drawing, 'rng', np.random)


class _Seeded:
    """Functions of which some draw; each row has a generator of its own."""

    def __init__(self, function):
        self.function = function

    def __call__(self, seed, *values):
        _drawing.rng = np.random.RandomState(seed & 0xffffffff)
        try:
            return self.function(*values)
        finally:
            del _drawing.rng


def _label(functions):
    """How messages call functions that run as one: a transform of the library by its name, what users wrote PyFunc."""
    one = type(functions[0]) if len(functions) == 1 else None
    return one.__name__ if one is not None and one.__module__.startswith('mindspore.') else 'PyFunc'


class _Sequence:
    """Python functions one after the other, so that what they pass on may be any object."""

    def __init__(self, functions):
        self.functions = functions
        self.__name__ = _name(functions[0]) if len(functions) == 1 else 'PyFunc'

    def __call__(self, *values):
        for f in self.functions:
            values = f(*values)
            if not isinstance(values, tuple):
                values = (values,)
        return values if len(values) != 1 else values[0]


def check_list(transforms, name='transforms'):
    if not isinstance(transforms, (list, tuple)):
        raise TypeError(f'Argument {name} list with value {transforms} is not of type [<class \'list\'>], '
                        f'but got {type(transforms)}.')
    if not transforms:
        raise ValueError(f'{name} list can not be empty.')
    of_map = name == 'operations'
    for i, op in enumerate(transforms):
        what = "Parameter operations's element of method map" if of_map else f'op_list[{i}]'
        if isinstance(op, type):
            raise ValueError(f'{what} should be a dataset processing operation instance, but got: {op}. It may be missing '
                             'parentheses for instantiation.')
        if not callable(op) and of_map:
            raise ValueError(f'{what} should be a python function or class method which should be callable, but got: {op}. It '
                             "doesn't need parentheses for python function or class method.")
        if not callable(op):
            raise TypeError(f'{name}[{i}] is neither a transforms op (TensorOperation) nor a callable pyfunc.')
    return list(transforms)


def with_hooks(operations):
    """In debug mode, hooks stand before each operation and behind the last."""
    if not config._hooks:
        return operations
    steps = []
    for op in operations:
        steps += [*config._hooks, op]
    return steps + config._hooks


def compile_list(operations, in_workers=None):
    """Operations as the pipeline takes them; neighbouring Python functions become one, which in_workers may wrap."""
    flat = []
    for op in operations:
        flat.extend(op._flat() if isinstance(op, Compose) else [op])
    flat = with_hooks(flat)
    made, functions = [], []

    def flush():
        if functions:
            sequence = _Sequence(list(functions))
            function = in_workers(sequence) if in_workers else sequence
            draws = in_workers is None and any(getattr(f, '_draws', False) for f in functions)
            made.append(_c.ds_callable(_label(functions), _Seeded(function) if draws else function, False,
                                       draws or in_workers is not None))
            functions.clear()

    pil = False  # images of PIL pass from function to function
    for op in flat:
        gives, ends = getattr(op, '_gives_pil', False), getattr(op, '_ends_pil', False)
        if isinstance(op, TensorOperation) and not pil and not gives:
            flush()
            made.append(op._op)
        else:
            functions.append(op)
        pil = gives or (pil and not ends)
    flush()
    return made


class Compose(TensorOperation):
    """Transforms one after the other."""

    def __init__(self, transforms):
        self.transforms = check_list(transforms)

    _ends_pil = False

    def _flat(self):
        for op in self.transforms:
            if isinstance(op, Compose):
                yield from op._flat()
            else:
                yield op

    def _make(self):
        return _c.ds_group(compile_list(self.transforms), 0, 1.0)

    def __call__(self, *inputs):
        """On images of PIL, or where a transform makes one, in Python and giving a tuple, as the original; else arrays
        pass from one to the next."""
        if not inputs:
            raise RuntimeError('Input Tensor is not valid.')
        ops = list(self._flat())
        if any(map(is_pil, inputs)) or any(getattr(op, '_gives_pil', False) for op in ops):
            y = _Sequence(ops)(*inputs)
            return y if isinstance(y, tuple) else (y,)
        for op in ops:
            y = op(*inputs)
            inputs = tuple(np.asarray(v) if is_pil(v) else v for v in (y if isinstance(y, tuple) else (y,)))
        return inputs if len(inputs) != 1 else inputs[0]


class _Group(TensorOperation):
    _mode, _ends_pil = 0, False

    def __init__(self, transforms, prob=1.0):
        self.transforms, self.prob = check_list(transforms), prob

    def _make(self):
        ops = [_c.ds_group(made, 0, 1.0) if len(made) > 1 else made[0]
               for made in (compile_list([t]) for t in self.transforms)]
        return _c.ds_group(ops, self._mode, self.prob)

    def _pil(self, image):
        ops = self.transforms
        if self._mode == 0 and draw().rand() >= self.prob:
            return image
        if self._mode:
            ops = [ops[k] for k in draw().permutation(len(ops))]
        return _Sequence(ops[:1] if self._mode == 1 else ops)(image)


class RandomApply(_Group):
    """All transforms in order, with a probability."""

    def __init__(self, transforms, prob=0.5):
        _check.kind('prob', prob, float, int)
        if not 0 <= prob <= 1:
            raise ValueError('Input prob is not within the required interval of [0, 1].')
        super().__init__(transforms, prob)


class RandomChoice(_Group):
    """One of the transforms, chosen at random."""

    _mode = 1

    def __init__(self, transforms):
        super().__init__(transforms)


class RandomOrder(_Group):
    """All transforms in random order."""

    _mode = 2

    def __init__(self, transforms):
        super().__init__(transforms)


class TypeCast(_Anything):
    def __init__(self, data_type):
        self.data_type = data_type
        self._dtype = dtype_number(data_type)

    def _args(self):
        return (self._dtype,)


def dtype_number(data_type, name='data_type'):
    """The number of a dtype that is one, or the name or the class of one of numpy's."""
    try:
        number = _c.ds_dtype(np.dtype(data_type) if isinstance(data_type, str) else data_type)
    except TypeError:
        number = -1
    if number < 0:
        raise TypeError(f'Argument {name} with value {data_type} is not of type [{_c.dtype}, <class \'numpy.dtype\'>], '
                        f'but got {type(data_type)}.')
    return number


class OneHot(_Anything):
    def __init__(self, num_classes, smoothing_rate=0.0):
        if _check.kind('num_classes', num_classes, int) <= 0:
            raise ValueError('Input must be greater than 0.')
        self.num_classes = _check.integer('num_classes', num_classes, 1)
        self.smoothing_rate = _check.unit('smoothing_rate', _check.kind('smoothing_rate', smoothing_rate, int, float))

    def _args(self):
        return self.num_classes, self.smoothing_rate


class Duplicate(_Anything):
    pass


class Fill(_Anything):
    def __init__(self, fill_value):
        self.fill_value = _check.kind('fill_value', fill_value, int, float, bool)

    def _args(self):
        return (self.fill_value,)


def not_random(func):
    """Marks a function as giving the same result every time."""
    func.random = False
    return func


class Relational(enum.IntEnum):
    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


class Mask(PyTensorOperation):
    """True where an element compares with a constant as asked, as `dtype`."""

    def __init__(self, operator, constant, dtype=None):
        self.operator = _check.kind('operator', operator, Relational)
        self.constant = _check.kind('constant', constant, str, float, bool, int, bytes)
        self._cast = None if dtype is None else TypeCast(dtype)

    def __call__(self, value):
        x = np.asarray(value)
        y = [np.equal, np.not_equal, np.greater, np.greater_equal, np.less, np.less_equal][self.operator](x, self.constant)
        return y if self._cast is None else self._cast(y)


class PadEnd(PyTensorOperation):
    """Values appended up to a shape; None keeps a size."""

    def __init__(self, pad_shape, pad_value=None):
        for n in _check.kind('pad_shape', pad_shape, list):
            if n is not None and not isinstance(n, int):
                raise TypeError('a value in the list is not an integer.')
        self.pad_shape = pad_shape
        self.pad_value = _check.kind('pad_value', 0 if pad_value is None else pad_value, str, float, bool, int, bytes)

    def __call__(self, value):
        x = np.asarray(value)
        if x.ndim == 0:
            return x
        if len(self.pad_shape) != x.ndim:
            raise RuntimeError(f'PadEnd: invalid pad shape, as rank of input is: {x.ndim}, and rank of pad value: '
                               f'{len(self.pad_shape)}')
        if (x.dtype.kind in 'US') != isinstance(self.pad_value, (str, bytes)) and self.pad_value != 0:
            kind = {str: 'string', bytes: 'bytes', float: 'float64'}.get(type(self.pad_value), 'int64')
            own = {'U': 'string', 'S': 'bytes'}.get(x.dtype.kind, x.dtype)
            raise RuntimeError(f'PadEnd: can not pad numeric and string tensors together, but got: {kind} and {own}.')
        shape = [old if new is None else new for new, old in zip(self.pad_shape, x.shape)]
        x = x[tuple(slice(0, n) for n in shape)]
        value = self.pad_value
        if x.dtype.kind in 'US':
            value = x.dtype.type() if value == 0 else value.decode() if isinstance(value, bytes) and x.dtype.kind == 'U' else value
            x = x.astype(np.result_type(x, np.asarray(value)))  # room for it
        return np.pad(x, [(0, n - m) for n, m in zip(shape, x.shape)], constant_values=value)


class Concatenate(PyTensorOperation):
    """Columns joined along an axis, with arrays before and after."""

    def __init__(self, axis=0, prepend=None, append=None):
        _check.kind('axis', axis, int)
        if axis not in (0, -1):
            raise ValueError('only 1D concatenation supported.')
        for name, value in (('prepend', prepend), ('append', append)):
            if value is not None and _check.kind(name, value, np.ndarray).ndim != 1:
                raise ValueError(f'can only {name} 1D arrays.')
        self.axis, self.prepend, self.append = axis, prepend, append

    def __call__(self, *values):
        parts = [np.asarray(v) for v in (self.prepend, *values, self.append) if v is not None]
        if any(p.ndim != 1 for p in parts):
            raise RuntimeError('Concatenate: only 1D input supported.')
        if len({(p.dtype.kind if p.dtype.kind in 'US' else p.dtype) for p in parts}) > 1:
            raise RuntimeError('Concatenate: input datatype does not match, got '
                               f'{", ".join(str(p.dtype) for p in parts)}.')
        return np.concatenate(parts, self.axis)


class Slice(PyTensorOperation):
    """Elements by int, list of int, slice, None, True (all) or Ellipsis for each dimension."""

    def __init__(self, *slices):
        for s in slices:
            if not isinstance(s, (int, list, tuple, slice, type(None), type(Ellipsis))):
                raise TypeError(f'Argument slices[0] with value {s} is not of a type that Slice takes, but got {type(s)}.')
        self.slices = slices

    def __call__(self, value):
        x = np.asarray(value)
        for d, s in enumerate(self.slices):
            if s is None or s is True:
                continue
            if s is Ellipsis:
                break
            if isinstance(s, bool) or (isinstance(s, int) and not -x.shape[d] <= s < x.shape[d]):
                raise RuntimeError(f'Slice: index {s} is out of range for a dimension of {x.shape[d]}.')
            x = x[(slice(None),) * d + ([s] if isinstance(s, int) else s if isinstance(s, slice) else list(s),)]
        return x


class Unique(PyTensorOperation):
    """Distinct values as they first occur, for each element its place among them, and how often each occurs."""

    def __call__(self, value):
        values, first, index, count = np.unique(np.asarray(value).ravel(), True, True, True)
        order = np.argsort(first)
        return values[order], np.argsort(order)[index].astype(np.int32), count[order].astype(np.int32)


class Plugin:
    def __init__(self, lib_path, func_name, user_args=None):
        raise NotImplementedError('Plugin is not supported: its binary interface is that of the original. Write a Python '
                                  'function, or use ms_transform_host of the C interface.')

transforms = sys.modules[f'{__name__}.transforms'] = sys.modules[__name__]  # older scripts import it as a module
