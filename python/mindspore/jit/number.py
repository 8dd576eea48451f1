"""Numbers of Python that a tensor decides: staged as tensors without dimensions, numbers again in what a function returns.

What is computed from such a number and from other numbers is one as well; beside a tensor it takes the tensor's dtype,
as a number does. Refused: telling by the graph what was a number; ``1`` and ``Tensor(1)`` look alike there.
"""
from mindspore import _c
from mindspore.common.dtype import bool_

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
_UNARY = ("neg", "pos", "abs", "invert")


class Number(_c.Tensor):
    """A staged tensor that stands for a number."""

    __slots__ = ()
    __hash__ = _c.Tensor.__hash__


def of(tensor):
    """The same staged value as a Number."""
    return _c.Tensor.assign_value(_c.Tensor.__new__(Number, 0), tensor)


def is_number(x):
    return type(x) in (bool, int, float, Number)


def sample(number):
    """Some number of the same type."""
    return False if number.dtype == bool_ else 0.0 if number.dtype.is_floating_point else 0


def _beside(number, tensor):
    """The number as an operand of an operator on tensor."""
    ours, other = number.dtype, tensor.dtype
    keeps = other == ours or other == bool_ or ours.is_floating_point and not other.is_floating_point
    return number if keeps else number.astype(other)


def _binary(name):
    base = getattr(_c.Tensor, name)

    def op(self, other):
        if is_number(other):
            result = base(self, other)
            return result if result is NotImplemented else of(result)
        return base(_beside(self, other) if isinstance(other, _c.Tensor) else self, other)
    return op


def _unary(name):
    base = getattr(_c.Tensor, name)
    return lambda self: of(base(self))


for _name in _BINARY:
    for _side in ("", "r"):
        setattr(Number, f"__{_side}{_name}__", _binary(f"__{_side}{_name}__"))
    setattr(Number, f"__i{_name}__", getattr(Number, f"__{_name}__"))  # a number is not changed in place
for _name in _COMPARE:
    setattr(Number, f"__{_name}__", _binary(f"__{_name}__"))
for _name in _UNARY:
    setattr(Number, f"__{_name}__", _unary(f"__{_name}__"))
