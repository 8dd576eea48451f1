"""Single steps of recurrent layers."""
import math

from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.initializer import Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_positive_int, check_type

__all__ = ["RNNCell", "GRUCell", "LSTMCell"]


class _RNNCellBase(Cell):
    _gates = 1

    def __init__(self, input_size, hidden_size, has_bias, dtype):
        super().__init__()
        who, rows = self.cls_name, self._gates * check_positive_int(hidden_size, "hidden_size", self.cls_name)
        self.input_size = check_positive_int(input_size, "input_size", who)
        self.hidden_size = hidden_size
        self.has_bias = self.bias = check_type(has_bias, "has_bias", bool, who)
        bound = Uniform(1 / math.sqrt(hidden_size))
        self.weight_ih = Parameter(initializer(bound, [rows, input_size], dtype), name="weight_ih")
        self.weight_hh = Parameter(initializer(bound, [rows, hidden_size], dtype), name="weight_hh")
        self.bias_ih = self.bias_hh = None
        if has_bias:
            self.bias_ih = Parameter(initializer(bound, [rows], dtype), name="bias_ih")
            self.bias_hh = Parameter(initializer(bound, [rows], dtype), name="bias_hh")

    def _check(self, **tensors):
        for name, t in tensors.items():
            if not isinstance(t, Tensor):
                raise TypeError(f"For '{self.cls_name}', the '{name}' must be a Tensor, but got {type(t).__name__}.")
            if t.ndim != 2:
                raise ValueError(f"For '{self.cls_name}', the '{name}' must have 2 dimensions, but got {t.ndim}.")
            size = self.input_size if name == "x" else self.hidden_size
            if t.shape[1] != size:
                raise ValueError(f"For '{self.cls_name}', the second dimension of '{name}' must be {size}, but got {t.shape}.")

    def _step(self, kind, x, h, c=None):
        return _nn.rnn_cell(kind, x, h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class RNNCell(_RNNCellBase):
    """h' = tanh(W x + b + U h + d), or relu."""

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, nonlinearity: str = "tanh", dtype=mstype.float32):
        super().__init__(input_size, hidden_size, has_bias, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"For '{self.cls_name}', the 'nonlinearity' must be in ['tanh', 'relu'], but got {nonlinearity}.")
        self.nonlinearity = nonlinearity

    def construct(self, x, hx):
        self._check(x=x, hx=hx)
        return self._step("RNN_" + self.nonlinearity.upper(), x, hx)


class GRUCell(_RNNCellBase):
    """One step of gated recurrent units."""
    _gates = 3

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype=mstype.float32):
        super().__init__(input_size, hidden_size, has_bias, dtype)

    def construct(self, x, hx):
        self._check(x=x, hx=hx)
        return self._step("GRU", x, hx)


class LSTMCell(_RNNCellBase):
    """One step of long short-term memory; hx and the result are (h, c)."""
    _gates = 4

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype=mstype.float32):
        super().__init__(input_size, hidden_size, has_bias, dtype)

    def construct(self, x, hx):
        if not isinstance(hx, tuple) or len(hx) != 2:
            raise TypeError(f"For '{self.cls_name}', the 'hx' must be a tuple of two Tensors, but got {type(hx).__name__}.")
        self._check(x=x, hx=hx[0], c=hx[1])
        return self._step("LSTM", x, *hx)
