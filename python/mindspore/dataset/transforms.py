"""Transforms on any column, and the base of those on images. An object holds checked arguments; the pipeline runs the
transform of the same name in C. Called on an array it runs at once."""
import numpy as np

from mindspore import _c

from . import _check


def _array(value):
    """What an eager call takes: arrays, and images of PIL."""
    if isinstance(value, np.ndarray):
        return value
    if type(value).__module__.startswith('PIL.'):
        return np.asarray(value)
    raise TypeError(f'Input should be NumPy or PIL image, got {type(value)}.')


class TensorOperation:
    """A transform that the library has. Subclasses check their arguments and give them as numbers in _args."""

    _numbers_only = False

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
        return _c.ds_apply(self._op, *map(self._input, inputs))

    def _input(self, value):
        return _array(value)


class PyTensorOperation:
    """Base class of transforms that are written in Python: override __call__."""

    def __call__(self, *inputs):
        raise NotImplementedError(f'{type(self).__name__} must have __call__.')


class _Anything(TensorOperation):
    """Transforms that also take numbers and lists when they are called."""

    def _input(self, value):
        return np.asarray(value)


def _name(op):
    return getattr(op, '__name__', None) or type(op).__name__


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
        raise TypeError(f'Argument {name} with value {transforms} is not of type [<class \'list\'>], '
                        f'but got {type(transforms)}.')
    if not transforms:
        raise ValueError(f'{name} list can not be empty.')
    for i, op in enumerate(transforms):
        if not callable(op):
            raise TypeError(f'{name}[{i}] is neither a transforms op (TensorOperation) nor a callable pyfunc.')
    return list(transforms)


def compile_list(operations):
    """Operations as the pipeline takes them; neighbouring Python functions become one."""
    flat = []
    for op in operations:
        flat.extend(op._flat() if isinstance(op, Compose) else [op])
    made, functions = [], []

    def flush():
        if functions:
            sequence = _Sequence(list(functions))
            made.append(_c.ds_callable(sequence.__name__, sequence, False))
            functions.clear()

    for op in flat:
        if isinstance(op, TensorOperation):
            flush()
            made.append(op._op)
        else:
            functions.append(op)
    flush()
    return made


class Compose(TensorOperation):
    """Transforms one after the other."""

    def __init__(self, transforms):
        self.transforms = check_list(transforms)

    def _flat(self):
        for op in self.transforms:
            if isinstance(op, Compose):
                yield from op._flat()
            else:
                yield op

    def _make(self):
        return _c.ds_group(compile_list(self.transforms), 0, 1.0)

    def __call__(self, *inputs):
        return _Sequence(self.transforms)(*inputs)


class _Group(TensorOperation):
    _mode = 0

    def __init__(self, transforms, prob=1.0):
        self.transforms, self.prob = check_list(transforms), prob

    def _make(self):
        ops = [_c.ds_group(made, 0, 1.0) if len(made) > 1 else made[0]
               for made in (compile_list([t]) for t in self.transforms)]
        return _c.ds_group(ops, self._mode, self.prob)


class RandomApply(_Group):
    """All transforms in order, with a probability."""

    def __init__(self, transforms, prob=0.5):
        super().__init__(transforms, _check.unit('prob', prob))


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


def dtype_number(data_type):
    number = -1 if isinstance(data_type, str) else _c.ds_dtype(data_type)
    if number < 0:
        raise TypeError(f'Argument data_type with value {data_type} is not of type [mindspore dtype, numpy dtype], '
                        f'but got {type(data_type)}.')
    return number


class OneHot(_Anything):
    def __init__(self, num_classes, smoothing_rate=0.0):
        self.num_classes = _check.integer('num_classes', num_classes, 1)
        self.smoothing_rate = _check.unit('smoothing_rate', smoothing_rate)

    def _args(self):
        return self.num_classes, self.smoothing_rate


class Duplicate(_Anything):
    pass


class Fill(_Anything):
    def __init__(self, fill_value):
        self.fill_value = _check.kind('fill_value', fill_value, int, float, bool)

    def _args(self):
        return (self.fill_value,)
