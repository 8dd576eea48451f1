"""Recurrent layers: RNN, GRU, LSTM over sequences (time, batch, in), several layers deep and in both directions."""
import math

from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.initializer import Uniform, initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_positive_int, check_type
from mindspore.nn.layer.basic import Dropout

__all__ = ["RNN", "GRU", "LSTM"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class _Recurrent(Cell):
    """The operator of a layer, for the text form."""

    def __init__(self, text):
        super().__init__(auto_prefix=False)
        self._text = text

    def __repr__(self):
        return self._text


class _RNNBase(Cell):
    """Parameters weight_ih_l<k>[_reverse] and so on; values uniform within 1 / sqrt(hidden_size)."""

    def __init__(self, mode, input_size, hidden_size, num_layers=1, has_bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, dtype=mstype.float32):
        super().__init__()
        who = self.cls_name
        self.input_size = check_positive_int(input_size, "input_size", who)
        self.hidden_size = check_positive_int(hidden_size, "hidden_size", who)
        self.num_layers = check_positive_int(num_layers, "num_layers", who)
        for name, value in (("has_bias", has_bias), ("batch_first", batch_first), ("bidirectional", bidirectional)):
            setattr(self, name, check_type(value, name, bool, who))
        check_type(dropout, "dropout", (int, float), who)
        if not 0 <= dropout < 1:
            raise ValueError(f"For '{who}', the 'dropout' must be a number in range [0, 1) representing the probability of an "
                             f"element being zeroed, but got {dropout}.")
        self.mode, self.dropout = mode, dropout
        self.rnn = _Recurrent({"LSTM": "_DynamicLSTMCPUGPU()", "GRU": "_DynamicGRUCPUGPU()", "RNN_TANH": "_DynamicRNNTanh()",
                               "RNN_RELU": "_DynamicRNNRelu()"}[mode])
        self.dropout_op = Dropout(p=float(dropout))
        rows, dirs = _GATES[mode] * hidden_size, ("", "_reverse") if bidirectional else ("",)
        bound = Uniform(1 / math.sqrt(hidden_size))

        def make(prefix, shape_of):
            return ParameterTuple(Parameter(initializer(bound, shape_of(k), dtype), name=f"{prefix}_l{k}{d}")
                                  for k in range(num_layers) for d in dirs)
        self.w_ih_list = make("weight_ih", lambda k: [rows, input_size if k == 0 else hidden_size * len(dirs)])
        self.w_hh_list = make("weight_hh", lambda k: [rows, hidden_size])
        if has_bias:
            self.b_ih_list = make("bias_ih", lambda k: [rows])
            self.b_hh_list = make("bias_hh", lambda k: [rows])

    def _weights(self):
        lists = [self.w_ih_list, self.w_hh_list] + ([self.b_ih_list, self.b_hh_list] if self.has_bias else [])
        return [weight for layer in zip(*lists) for weight in layer]

    def construct(self, x, hx=None, seq_length=None):
        who, lstm = self.cls_name, self.mode == "LSTM"
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{who}', the 'x' must be a Tensor, but got {type(x).__name__}.")
        if seq_length is not None and not isinstance(seq_length, Tensor):
            raise TypeError(f"For '{who}', the 'seq_length' must be a Tensor or None, but got {type(seq_length).__name__}.")
        h = c = None
        if hx is not None and lstm:
            if not isinstance(hx, tuple) or len(hx) != 2:
                raise TypeError(f"For '{who}', the 'hx' must be a tuple of two Tensors, but got {type(hx).__name__}.")
            h, c = hx
        elif hx is not None:
            h = hx
        drop = float(self.dropout) if self.training else 0.0
        y, h, *c = _nn.recurrent(self.mode, x, h, c, self._weights(), self.has_bias, self.num_layers, self.bidirectional,
                                 self.batch_first, seq_length, drop)
        return (y, (h, c[0])) if lstm else (y, h)


class RNN(_RNNBase):
    """h' = tanh(W x + b + U h + d), or relu."""

    def __init__(self, *args, **kwargs):
        mode = "RNN_TANH"
        if "nonlinearity" in kwargs:
            nonlinearity = kwargs.pop("nonlinearity")
            if nonlinearity not in ("tanh", "relu"):
                raise ValueError(f"For '{self.cls_name}', the 'nonlinearity' must be in ['tanh', 'relu'], but got {nonlinearity}.")
            mode = "RNN_" + nonlinearity.upper()
        super().__init__(mode, *args, **kwargs)


class GRU(_RNNBase):
    """Gated recurrent units (Cho et al. 2014)."""

    def __init__(self, *args, **kwargs):
        super().__init__("GRU", *args, **kwargs)


class LSTM(_RNNBase):
    """Long short-term memory (Hochreiter & Schmidhuber 1997)."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)
