"""Functions over functions: mapping over nested sequences, dispatch by type, gradients as operators.

Existing code takes every other function of mindspore.ops from here too, and these names also from `composite.base`.
"""
import sys as _sys

from mindspore import autodiff
from mindspore._c import Tensor, dtype as _Dtype

__all__ = ['GradOperation', 'HyperMap', 'Map', 'MultitypeFuncGraph', 'partial', 'depend']


def partial(func, *args, **named):
    """func with its first arguments, or those of a name, given."""
    if not callable(func):
        raise TypeError(f"For 'partial', the 'func' must be callable, but got {type(func).__name__}.")
    return lambda *rest, **kwargs: func(*args, *rest, **{**named, **kwargs})


def depend(value, expr):
    """value, computed after expr: statements run in order, so that nothing remains to be done."""
    return value


def _matches(value, name):
    if name in ('Tensor', 'mstype.tensor'):
        return isinstance(value, Tensor)
    if name in ('Number', 'number'):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == 'Bool':
        return isinstance(value, bool)
    if name in ('Int', 'Int32', 'Int64'):
        return isinstance(value, int) and not isinstance(value, bool)
    if name in ('Float', 'Float32', 'Float64'):
        return isinstance(value, float)
    if name in ('Tuple', 'List', 'Dict', 'String', 'None', 'Function'):
        return {'Tuple': isinstance(value, tuple), 'List': isinstance(value, list), 'Dict': isinstance(value, dict),
                'String': isinstance(value, str), 'None': value is None, 'Function': callable(value)}[name]
    if name in ('Any', 'RowTensor', 'IndexedSlices', 'RowTensorInner', 'CSRTensor', 'COOTensor', 'MapTensor'):
        return name == 'Any'
    return type(value).__name__ == name


class MultitypeFuncGraph:
    """A function with one implementation per combination of argument types.

    >>> double = MultitypeFuncGraph('double')
    >>> @double.register('Number')
    ... def _double_number(x):
    ...     return 2 * x
    """

    def __init__(self, name, read_value=False, doc_url=''):
        self.name = name
        self.entries = []

    def register(self, *type_names):
        """A decorator: the function is called when the arguments have these types ('Tensor', 'Number', ...)."""
        names = tuple(repr(t) if isinstance(t, _Dtype) else getattr(t, '__name__', t) for t in type_names)

        def deco(fn):
            self.entries.append((names, fn))
            return fn
        return deco

    def __call__(self, *args):
        for names, fn in self.entries:
            if len(names) == len(args) and all(_matches(a, n) for a, n in zip(args, names)):
                return fn(*args)
        got = ', '.join(type(a).__name__ for a in args)
        known = '; '.join(', '.join(names) for names, _ in self.entries)
        raise TypeError(f"For 'MultitypeFuncGraph', no function of '{self.name}' takes ({got}); registered: {known}.")


class HyperMap:
    """Applies a function to the corresponding leaves of nested sequences."""

    def __init__(self, ops=None, reverse=False):
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args):
        fn, args = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        return self._map(fn, args)

    def _map(self, fn, args):
        if not isinstance(args[0], (tuple, list)):
            return fn(*args)
        n = len(args[0])
        for a in args[1:]:
            if not isinstance(a, (tuple, list)) or len(a) != n:
                raise ValueError(f"For '{type(self).__name__}', all sequences must have the same length {n}.")
        order = range(n - 1, -1, -1) if self.reverse else range(n)
        done = {k: self._leaf(fn, [a[k] for a in args]) for k in order}
        items = [done[k] for k in range(n)]
        return items if isinstance(args[0], list) else tuple(items)

    def _leaf(self, fn, args):
        return self._map(fn, args)


class Map(HyperMap):
    """Applies a function to the corresponding items of sequences, one level deep."""

    def _leaf(self, fn, args):
        return fn(*args)


class GradOperation:
    """Makes gradient functions: of the first input, of all inputs (get_all), of weights (get_by_list)."""

    def __init__(self, get_all=False, get_by_list=False, sens_param=False):
        for name, value in (('get_all', get_all), ('get_by_list', get_by_list), ('sens_param', sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'GradOperation', the '{name}' should be bool, but got {type(value).__name__}")
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn=None, weights=None):
        if fn is None:
            raise ValueError("'GradOperation' requires a forward network or function as an input, while the input is empty.")
        if not callable(fn):
            raise TypeError("For 'GradOperation', the first argument must be a 'Function' or 'Cell', but got "
                            f"{type(fn).__name__}.")
        if self.get_by_list and weights is None:
            weights = fn.trainable_params()
        weights = weights if self.get_by_list else None

        def call(*args, **kwargs):
            sens = ()
            if self.sens_param:
                args, sens = (args, (kwargs.pop('sens'),)) if 'sens' in kwargs else (args[:-1], args[-1:])
            if kwargs and (self.get_all or not args):  # tensors given by name are inputs too
                names, n, named = list(kwargs), len(args), fn
                return gradients(lambda *xs: named(*xs[:n], **dict(zip(names, xs[n:]))), (*args, *kwargs.values(), *sens), {})
            return gradients(fn, (*args, *sens), kwargs)

        def gradients(fn, args, kwargs):
            inputs = args[:-1] if self.sens_param else args
            if self.get_all:
                position = tuple(range(len(inputs)))
            elif self.get_by_list or not inputs:
                position = None if self.get_by_list else ()
            else:
                position = 0
            grads = autodiff.grad(fn, position, weights, sens_param=self.sens_param)(*args, **kwargs)
            if self.get_all and len(position) == 1:  # all inputs: a tuple even of one
                return ((grads[0],), grads[1]) if self.get_by_list else (grads,)
            return grads
        return call


def add_flags(fn=None, **flags):
    """fn, or a decorator of fn; flags of the original's compiler say nothing here."""
    return (lambda f: f) if fn is None else fn


core = add_flags


def hyper_add(x, y):
    """The sums of the leaves of two nested sequences."""
    from mindspore import ops
    return HyperMap(ops.add)(x, y)


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    from mindspore import ops
    return getattr(ops, name)


__path__ = []
base = _sys.modules[__name__]
for _part in ('base', 'math_ops', 'array_ops', 'random_ops', 'clip_ops'):
    _sys.modules[f'{__name__}.{_part}'] = base
