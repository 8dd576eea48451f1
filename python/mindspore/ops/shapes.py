"""Questions about values that are answered without computing."""
from mindspore import _c
from mindspore._c import Tensor
from mindspore.common._rows import Rows

__all__ = ["shape", "rank", "size", "dyn_shape", "is_tensor", "typeof", "dtype", "isconstant", "tuple_to_array",
           "is_sequence_value_unknown", "is_sequence_shape_unknown", "make_range"]

_p = Rows("_p")


def _check(name, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{name}', the input must be Tensor, but got {type(x).__name__}.")
    return x


def shape(input_x):
    """The shape of a Tensor as a tuple."""
    return _check("shape", input_x).shape


def dyn_shape(input_x):
    """The shape of a Tensor as a Tensor (int64)."""
    return Tensor(_check("dyn_shape", input_x).shape, _c.dtype_of(int))


def rank(input_x):
    """The number of axes of a Tensor."""
    return _check("rank", input_x).ndim


def size(input_x):
    """The number of elements of a Tensor."""
    return _check("size", input_x).size


def dtype(x):
    """The dtype of a Tensor, dense or sparse."""
    return x.dtype if hasattr(type(x), "ms_parts") else _check("dtype", x).dtype


typeof = dtype


def is_tensor(obj):
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def isconstant(x):
    """Whether x is known while a graph is made: everything but Tensors."""
    return not isinstance(x, Tensor)


def tuple_to_array(input_x):
    """A tuple of numbers, all int or all float, as a Tensor (int64 or float32)."""
    return _p.tuple_to_array(input_x)


def is_sequence_value_unknown(x):
    """Whether the values of a sequence are not known: they are whenever Python runs."""
    return False


def is_sequence_shape_unknown(x):
    """Whether the length of a sequence is not known: it is whenever Python runs."""
    return False


def make_range(*bounds):
    """The numbers of range(*bounds) as a tuple."""
    return tuple(range(*[int(b) for b in bounds]))
