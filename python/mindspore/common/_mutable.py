"""mutable marks a constant of a compiled function as one of its inputs."""
from mindspore._c import Tensor

__all__ = ['mutable']


def mutable(input_data, dynamic_len=False):
    """The data itself: compiled functions take tensors inside containers as inputs already."""
    if not isinstance(input_data, (int, float, tuple, list, dict, Tensor)):
        raise TypeError("For 'mutable', the 'input_data' must be one of (bool, int, float, Tensor, tuple, list, dict), "
                        f'but got {input_data!r}.')
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError("For 'mutable', when 'dynamic_len' is True, the 'input_data' must be a tuple or a list.")
    return input_data
