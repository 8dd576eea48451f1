"""mutable marks a constant of a compiled function as one of its inputs."""
from mindspore._c import Tensor

__all__ = ['mutable']


class _Int(int):
    def plain(self):
        return int(self)


class _Float(float):
    def plain(self):
        return float(self)


NUMBERS = {_Int, _Float}  # a function is not compiled again for each of their values


def _mark(value):
    kind = type(value)
    if kind is int:
        return _Int(value)
    if kind is float:
        return _Float(value)
    if kind is tuple or kind is list:
        return kind([_mark(v) for v in value])
    return {k: _mark(v) for k, v in value.items()} if kind is dict else value


def mutable(input_data, dynamic_len=False):
    """The data, whose numbers are inputs of a compiled function as the tensors in it are anyway: other numbers are like
    other sizes of a tensor. Each length of a tuple or list is compiled once, with dynamic_len or without."""
    if not isinstance(input_data, (int, float, tuple, list, dict, Tensor)):
        raise TypeError("For 'mutable', the 'input_data' must be one of (bool, int, float, Tensor, tuple, list, dict), "
                        f'but got {input_data!r}.')
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError("For 'mutable', when 'dynamic_len' is True, the 'input_data' must be a tuple or a list.")
    return _mark(input_data)
