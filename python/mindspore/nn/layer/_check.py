"""Argument checks of layers, with the texts users know."""
import numbers

from mindspore.common.initializer import Initializer
from mindspore.common.tensor import Tensor


def check_int(value, name, who, low=None, strict=False, text=None):
    """An int, at least ``low`` (above it if ``strict``)."""
    prefix = f"For '{who}', the" if who else "The"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{prefix} '{name}' must be int, but got '{type(value).__name__}'")
    if low is not None and (value <= low if strict else value < low):
        raise ValueError(f"{prefix} '{name}' must be int and must {'>' if strict else '>='} {low}, but got '{value}' with "
                         f"type 'int'.")
    return int(value)


def check_positive_int(value, name, who):
    return check_int(value, name, who, 0, True)


def check_bool(value, name, who):
    if not isinstance(value, bool):
        raise TypeError(f"For '{who}', the '{name}' must be a bool, but got {type(value).__name__}.")
    return value


def check_type(value, name, types, who):
    """One of the Python types; a bool is no int."""
    types = types if isinstance(types, tuple) else (types,)
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        names = [t.__name__ for t in types]
        prefix = f"For '{who}', the type" if who else "The type"
        wanted = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
        raise TypeError(f"{prefix} of '{name}' should be {wanted}, but got type '{type(value).__name__}'.")
    return value


def check_float(value, name, who, low=None, strict=False):
    prefix = f"For '{who}', the" if who else "The"
    if isinstance(value, bool) or not isinstance(value, float):
        raise TypeError(f"{prefix} '{name}' must be float, but got '{type(value).__name__}'")
    if low is not None and not (value > low if strict else value >= low):
        raise ValueError(f"{prefix} '{name}' must be float and must {'>' if strict else '>='} {low:g}, but got '{value}' "
                         f"with type 'float'.")
    return value


def check_string(value, choices, name, who):
    if value not in choices:
        raise ValueError(f"For '{who}', the '{name}' must be str and must be in '{list(choices)}', but got '{value}'.")
    return value


def check_tuple(value, name, who, n, low=1):
    """An int for every axis, or a tuple of n ints, each at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, (int, tuple, list)):
        raise TypeError(f"When expanding an int number to tuple, input type must be integer or tuple[int], but got "
                        f"{type(value)}")
    if isinstance(value, int):
        value = (value,) * n
    if len(value) != n:
        raise TypeError(f"When expanding an int number to tuple, input tuple dimension must be {n}, but got {value}")
    for item in value:
        check_int(item, name, who, low - 1, True)
    return tuple(value)


def check_init_shape(init, shape, who, name, text):
    """A Tensor given as the initial value has the parameter's shape."""
    if isinstance(init, Tensor) and not isinstance(init, Initializer) and tuple(init.shape) != tuple(shape):
        raise ValueError(text)
