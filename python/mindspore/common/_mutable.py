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
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"For 'mutable', the second input should be bool, but got: {dynamic_len!r}")
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError(f"For 'mutable', when the variable_len is True, the first input should be list or tuple, but got: {input_data!r}")
    if not _allowed(input_data, ()):
        raise TypeError("For 'mutable', the 'input_data' should be one of (bool, int, float, Tensor, tuple, list, dict) or their nested "
                        f"structures with no self-reference, but got {input_data!r}.")
    if dynamic_len and len({type(v) for v in input_data}) > 1:
        raise ValueError("In graph mode, the element type of dynamic length array must be the same.")
    return _mark(input_data)


def _allowed(value, outer):
    if not isinstance(value, (tuple, list, dict)):
        return isinstance(value, (int, float, Tensor))
    items = value.values() if isinstance(value, dict) else value
    return all(value is not o for o in outer) and all(_allowed(v, (*outer, value)) for v in items)
