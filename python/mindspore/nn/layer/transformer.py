"""Attention of several heads and the encoder and decoder layers made of it (Vaswani et al. 2017)."""
import copy
from typing import Callable, Optional, Union

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.initializer import XavierNormal, XavierUniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_positive_int
from mindspore.nn.layer.activation import GELU, ReLU
from mindspore.nn.layer.basic import Dense, Dropout
from mindspore.nn.layer.container import CellList
from mindspore.nn.layer.normalization import LayerNorm

__all__ = ["MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerDecoder", "Transformer"]


class MultiheadAttention(Cell):
    """Attention of ``num_heads`` heads over (length, batch, embed_dim); with batch_first (batch, length, embed_dim)."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, has_bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, dtype=mstype.float32):
        super().__init__()
        who = self.cls_name
        self.embed_dim = check_positive_int(embed_dim, "embed_dim", who)
        self.num_heads = check_positive_int(num_heads, "num_heads", who)
        if embed_dim % num_heads:
            raise ValueError(f"For '{who}', the 'embed_dim' must be divisible by 'num_heads', but got {embed_dim} and {num_heads}.")
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.head_dim = embed_dim // num_heads
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout = dropout
        for name, value in (("batch_first", batch_first), ("add_zero_attn", add_zero_attn), ("has_bias", has_bias),
                            ("add_bias_kv", add_bias_kv)):
            setattr(self, name, check_bool(value, name, who))
        if not 0 <= dropout < 1:
            raise ValueError(f"For '{who}', the 'dropout' must be a number in range [0, 1), but got {dropout}.")
        xavier = XavierUniform()
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(initializer(xavier, (3 * embed_dim, embed_dim), dtype), name="in_proj_weight")
            self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        else:
            for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
                setattr(self, f"{name}_proj_weight",
                        Parameter(initializer(xavier, (embed_dim, width), dtype), name=f"{name}_proj_weight"))
            self.in_proj_weight = None
        self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), name="in_proj_bias") if has_bias else None
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), name="bias_k")
            self.bias_v = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), name="bias_v")
        self.out_proj = Dense(embed_dim, embed_dim, bias_init="zeros", has_bias=has_bias, dtype=dtype)

    def construct(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor] = None,
                  need_weights: bool = True, attn_mask: Optional[Tensor] = None, average_attn_weights: bool = True):
        for name, t in (("query", query), ("key", key), ("value", value)):
            if not isinstance(t, Tensor):
                raise TypeError(f"For '{self.cls_name}', the '{name}' must be a Tensor, but got {type(t).__name__}.")
        swap = self.batch_first and query.ndim == 3
        if swap:
            query, key, value = (t.swapaxes(0, 1) for t in (query, key, value))
        if self._qkv_same_embed_dim:
            weights = (self.in_proj_weight, None, None)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        out = _nn.multi_head_attention(query, key, value, *weights, self.in_proj_bias, self.bias_k, self.bias_v,
                                       self.out_proj.weight, self.out_proj.bias, self.num_heads, self.add_zero_attn,
                                       float(self.dropout) if self.training else 0.0, key_padding_mask, attn_mask, need_weights,
                                       average_attn_weights)
        y, scores = out if need_weights else (out, None)
        y = y.swapaxes(0, 1) if swap else y
        return y, scores


def _activation(activation, who):
    if isinstance(activation, str):
        if activation not in ("relu", "gelu"):
            raise ValueError(f"For '{who}', the 'activation' must be 'relu' or 'gelu' if it is a str, but got {activation}.")
        return ops.relu if activation == "relu" else ops.gelu
    if isinstance(activation, Cell) and not isinstance(activation, (ReLU, GELU)):
        raise ValueError(f"For '{who}', the 'activation' must be nn.ReLU or nn.GELU if it is a Cell, but got {activation}.")
    if not callable(activation):
        raise ValueError(f"For '{who}', the 'activation' must be a str, a Cell or callable, but got {type(activation).__name__}.")
    return activation


class _Layer(Cell):
    """What encoder and decoder layers share."""

    def _feed_forward(self, x):
        return self.dense2(self.dropout(self.activation(self.dense1(x))))

    def _attend(self, attention, dropout, x, memory, mask, padding):
        return dropout(attention(x, memory, memory, padding, False, mask)[0])


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual and a layer norm (before them if norm_first)."""

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Union[str, Cell, Callable] = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, dtype=mstype.float32):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout1, self.dropout2 = Dropout(p=dropout), Dropout(p=dropout)
        self.activation = _activation(activation, self.cls_name)

    def construct(self, src: Tensor, src_mask: Optional[Tensor] = None, src_key_padding_mask: Optional[Tensor] = None):
        x = src
        if self.norm_first:
            y = self.norm1(x)
            x = x + self._attend(self.self_attn, self.dropout1, y, y, src_mask, src_key_padding_mask)
            return x + self.dropout2(self._feed_forward(self.norm2(x)))
        x = self.norm1(x + self._attend(self.self_attn, self.dropout1, x, x, src_mask, src_key_padding_mask))
        return self.norm2(x + self.dropout2(self._feed_forward(x)))


class TransformerDecoderLayer(_Layer):
    """Like the encoder's, with attention to the encoder's output between the two."""

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Union[str, Cell, Callable] = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, dtype=mstype.float32):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        for k in (1, 2, 3):
            setattr(self, f"norm{k}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for k in (1, 2, 3):
            setattr(self, f"dropout{k}", Dropout(p=dropout))
        self.activation = _activation(activation, self.cls_name)

    def construct(self, tgt: Tensor, memory: Tensor, tgt_mask: Optional[Tensor] = None, memory_mask: Optional[Tensor] = None,
                  tgt_key_padding_mask: Optional[Tensor] = None, memory_key_padding_mask: Optional[Tensor] = None):
        x, across = tgt, self.multihead_attn
        if self.norm_first:
            y = self.norm1(x)
            x = x + self._attend(self.self_attn, self.dropout1, y, y, tgt_mask, tgt_key_padding_mask)
            x = x + self._attend(across, self.dropout2, self.norm2(x), memory, memory_mask, memory_key_padding_mask)
            return x + self.dropout3(self._feed_forward(self.norm3(x)))
        x = self.norm1(x + self._attend(self.self_attn, self.dropout1, x, x, tgt_mask, tgt_key_padding_mask))
        x = self.norm2(x + self._attend(across, self.dropout2, x, memory, memory_mask, memory_key_padding_mask))
        return self.norm3(x + self.dropout3(self._feed_forward(x)))


def _copies(layer, n):
    """n layers like the given one, each with parameters of its own."""
    copies = []
    for _ in range(n):
        new = copy.deepcopy(layer)
        new.update_parameters_name("")
        copies.append(new)
    return CellList(copies)


class TransformerEncoder(Cell):
    """``num_layers`` copies of an encoder layer."""

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _copies(encoder_layer, check_positive_int(num_layers, "num_layers", self.cls_name))
        self.num_layers = num_layers
        self.norm = norm

    def construct(self, src: Tensor, src_mask: Optional[Tensor] = None, src_key_padding_mask: Optional[Tensor] = None):
        for layer in self.layers:
            src = layer(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """``num_layers`` copies of a decoder layer."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _copies(decoder_layer, check_positive_int(num_layers, "num_layers", self.cls_name))
        self.num_layers = num_layers
        self.norm = norm

    def construct(self, tgt: Tensor, memory: Tensor, tgt_mask: Optional[Tensor] = None, memory_mask: Optional[Tensor] = None,
                  tgt_key_padding_mask: Optional[Tensor] = None, memory_key_padding_mask: Optional[Tensor] = None):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """Encoder and decoder."""

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
                 dim_feedforward: int = 2048, dropout: float = 0.1, activation: Union[str, Cell, Callable] = "relu",
                 custom_encoder: Optional[Cell] = None, custom_decoder: Optional[Cell] = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, dtype=mstype.float32):
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype)
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for p in self.get_parameters():
            if p.ndim > 1:
                p.set_data(initializer(XavierUniform(), p.shape, p.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(self, src: Tensor, tgt: Tensor, src_mask: Optional[Tensor] = None, tgt_mask: Optional[Tensor] = None,
                  memory_mask: Optional[Tensor] = None, src_key_padding_mask: Optional[Tensor] = None,
                  tgt_key_padding_mask: Optional[Tensor] = None, memory_key_padding_mask: Optional[Tensor] = None):
        if src.ndim == 3 and src.shape[0 if self.batch_first else 1] != tgt.shape[0 if self.batch_first else 1]:
            raise ValueError(f"For '{self.cls_name}', the batch sizes of 'src' and 'tgt' must be equal, but got shapes {src.shape} "
                             f"and {tgt.shape}.")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(f"For '{self.cls_name}', the last dimension of 'src' and 'tgt' must be {self.d_model}, but got "
                             f"shapes {src.shape} and {tgt.shape}.")
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask)
