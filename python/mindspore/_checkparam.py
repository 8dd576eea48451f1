"""Checks of arguments: each returns the value or raises an error that names the argument."""
import functools
import inspect
import math

import numpy as np

__all__ = []

# Relations for check_number_range, check_int and the like.
EQ, NE, LT, LE, GT, GE = 'eq', 'ne', 'lt', 'le', 'gt', 'ge'
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = 'in neither', 'inc left', 'inc right', 'inc both'
IN, NOT_IN = 'in', 'not in'
_HOLDS = {EQ: lambda x, y: x == y, NE: lambda x, y: x != y, LT: lambda x, y: x < y, LE: lambda x, y: x <= y, GT: lambda x, y: x > y,
          GE: lambda x, y: x >= y}
_SIGN = {EQ: '==', NE: '!=', LT: '<', LE: '<=', GT: '>', GE: '>='}


def _where(arg_name, prim_name):
    return (f"For '{prim_name}', the " if prim_name else "The ") + (f"'{arg_name}'" if arg_name else 'value')


def _typed(value, types, arg_name, prim_name):
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise TypeError(f"{_where(arg_name, prim_name)} must be {' or '.join(t.__name__ for t in types)}, but got {value} with type "
                        f"{type(value).__name__}.")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{_where(arg_name, prim_name)} must be finite, but got {value}.")
    return value


def _related(value, bound, rel, arg_name, prim_name):
    if not _HOLDS[rel](value, bound):
        raise ValueError(f"{_where(arg_name, prim_name)} must be {_SIGN[rel]} {bound}, but got {value}.")
    return value


def _in_range(value, low, high, rel, arg_name, prim_name):
    left = value >= low if rel in (INC_LEFT, INC_BOTH) else value > low
    right = value <= high if rel in (INC_RIGHT, INC_BOTH) else value < high
    if not (left and right):
        text = f"{'[' if rel in (INC_LEFT, INC_BOTH) else '('}{low}, {high}{']' if rel in (INC_RIGHT, INC_BOTH) else ')'}"
        raise ValueError(f"{_where(arg_name, prim_name)} must be in range of {text}, but got {value}.")
    return value


_INT, _FLOAT = (int, np.integer), (float, int, np.floating, np.integer)


def check_int(arg_value, value, rel, arg_name=None, prim_name=None):
    return _related(_typed(arg_value, _INT, arg_name, prim_name), value, rel, arg_name, prim_name)


def check_is_int(arg_value, arg_name=None, prim_name=None):
    return _typed(arg_value, _INT, arg_name, prim_name)


def check_is_float(arg_value, arg_name=None, prim_name=None):
    return _typed(arg_value, (float,), arg_name, prim_name)


def check_is_number(arg_value, arg_type, arg_name=None, prim_name=None):
    return _typed(arg_value, (arg_type,), arg_name, prim_name)


def check_number(arg_value, value, rel, arg_type=int, arg_name=None, prim_name=None):
    return _related(_typed(arg_value, (arg_type,), arg_name, prim_name), value, rel, arg_name, prim_name)


def check_number_range(arg_value, lower_limit, upper_limit, rel, value_type, arg_name=None, prim_name=None):
    return _in_range(_typed(arg_value, (value_type,), arg_name, prim_name), lower_limit, upper_limit, rel, arg_name, prim_name)


def check_int_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    return _in_range(_typed(arg_value, _INT, arg_name, prim_name), lower_limit, upper_limit, rel, arg_name, prim_name)


def check_float_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    return _in_range(_typed(arg_value, _FLOAT, arg_name, prim_name), lower_limit, upper_limit, rel, arg_name, prim_name)


def _against_zero(types, rel):
    def check(arg_value, arg_name=None, prim_name=None):
        return _related(_typed(arg_value, types, arg_name, prim_name), 0, rel, arg_name, prim_name)
    return check


check_positive_int, check_positive_float = _against_zero(_INT, GT), _against_zero(_FLOAT, GT)
check_negative_int, check_negative_float = _against_zero(_INT, LT), _against_zero(_FLOAT, LT)
check_non_negative_int, check_non_negative_float = _against_zero(_INT, GE), _against_zero(_FLOAT, GE)
check_non_positive_int, check_non_positive_float = _against_zero(_INT, LE), _against_zero(_FLOAT, LE)


def check_positive_int_sequence(sequence, arg_name=None, prim_name=None):
    for k, value in enumerate(sequence):
        check_positive_int(value, f"{arg_name}[{k}]", prim_name)
    return sequence


def check_bool(arg_value, arg_name=None, prim_name=None):
    return _typed(arg_value, (bool,), arg_name, prim_name)


def check_string(arg_value, valid_values, arg_name=None, prim_name=None):
    if arg_value not in valid_values:
        raise ValueError(f"{_where(arg_name, prim_name)} must be one of {list(valid_values)}, but got {arg_value!r}.")
    return arg_value


def check_value_type(arg_name, arg_value, valid_types, prim_name=None):
    return _typed(arg_value, tuple(valid_types) if isinstance(valid_types, (tuple, list)) else (valid_types,), arg_name, prim_name)


def check_isinstance(arg_name, arg_value, classes):
    if not isinstance(arg_value, classes):
        raise ValueError(f"The '{arg_name}' must be an instance of {classes}, but got {type(arg_value).__name__}.")
    return arg_value


def check_input_format(input_param):
    return check_string(input_param, ("NCHW",), "input format")


def _expand_tuple(n_dimensions):
    """A function that repeats an int n_dimensions times; it takes a tuple of as many as it is."""
    def convert(m):
        if isinstance(m, tuple) and len(m) == n_dimensions and all(type(v) is int for v in m):
            return m
        return (_typed(m, (int,), None, None),) * n_dimensions
    return convert


def args_type_check(*types, **named):
    """A decorator: arguments of a function must have these types."""
    def wrap(fn):
        signature = inspect.signature(fn)
        wanted = signature.bind_partial(*types, **named).arguments

        @functools.wraps(fn)
        def call(*args, **kwargs):
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in wanted and not isinstance(value, wanted[name]):
                    raise TypeError(f"The parameter '{name}' must be {wanted[name]}, but got {type(value)}.")
            return fn(*args, **kwargs)
        return call
    return wrap
