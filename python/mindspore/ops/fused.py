"""Attention under the names of the fused kernels of other devices, as products and a softmax (which graphs join again)."""
import numpy as np

from mindspore._c import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._rows import Rows

__all__ = ["flash_attention_score", "prompt_flash_attention"]

_o = Rows("ops")
_ORDER = {"BNSD": None, "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (1, 2, 0, 3)}  # of what heads split it into to BNSD


def _heads(name, x, n, layout):
    """x as (batch, heads, length, size)."""
    if layout not in _ORDER:
        raise ValueError(f"For '{name}', the 'input_layout' must be one of {sorted(_ORDER)} on the CPU, but got '{layout}'.")
    if x.ndim != (3 if layout.endswith("H") else 4):
        raise ValueError(f"For '{name}', the inputs do not have the layout '{layout}', but shape {x.shape}.")
    if layout.endswith("H"):
        if x.shape[2] % n:
            raise ValueError(f"For '{name}', {n} heads do not divide the size {x.shape[2]}.")
        x = x.reshape((x.shape[0], x.shape[1], n, x.shape[2] // n))
    return x if layout == "BNSD" else _o.transpose(x, _ORDER[layout])


def _joined(y, layout):
    if layout == "BNSD":
        return y
    back = (2, 0, 1, 3) if layout == "SBH" else (0, 2, 1, 3)
    y = _o.transpose(y, back)
    return y.reshape((y.shape[0], y.shape[1], -1)) if layout.endswith("H") else y


def _hidden(name, mask, s1, s2, mode, before, after):
    """True where a query must not look: rules by distance, or the mask that is given."""
    row, column = np.arange(s1)[:, None], np.arange(s2)
    if mode in (0, 1):
        rule = np.zeros((s1, s2), bool) if mode == 1 else (column < row - before) | (column > row + after)
        if mask is None:
            return Tensor(rule) if rule.any() else None
        return _o.logical_or(mask.astype(mstype.bool_), Tensor(rule)) if rule.any() else mask.astype(mstype.bool_)
    shift = 0 if mode == 2 else s2 - s1
    if mode in (2, 3):
        return Tensor(column > row + shift)
    if mode == 4:
        return Tensor((column > row + shift + after) | (column < row + shift - before))
    raise ValueError(f"For '{name}', the 'sparse_mode' must be 0 to 4 on the CPU, but got {mode}.")


def _attention(name, query, key, value, heads, key_heads, layout, shift, hidden, scale, keep):
    q, k, v = _heads(name, query, heads, layout), _heads(name, key, key_heads, layout), _heads(name, value, key_heads, layout)
    if heads % k.shape[1]:
        raise ValueError(f"For '{name}', the {k.shape[1]} heads of the keys must divide the {heads} of the queries.")
    if k.shape[1] != heads:
        k, v = (_o.repeat_interleave(t, heads // t.shape[1], 1) for t in (k, v))
    x = _o.matmul(q, _o.transpose(k, (0, 1, 3, 2))).astype(mstype.float32) * scale
    if shift is not None:
        x = x + shift.astype(mstype.float32)
    if hidden is not None:
        x = _o.where(hidden, Tensor(float(np.finfo(np.float32).min), mstype.float32), x)
    p = _o.softmax(x, -1)
    if keep < 1:
        p = _o.dropout(p, 1 - keep)
    return _joined(_o.matmul(p.astype(v.dtype), v), layout)


def _absent(name, **given):
    for what, value in given.items():
        if value is not None:
            raise NotImplementedError(f"For '{name}', '{what}' is not supported on the CPU.")


def flash_attention_score(query, key, value, head_num, real_shift=None, drop_mask=None, padding_mask=None, attn_mask=None, prefix=None,
                          actual_seq_qlen=None, actual_seq_kvlen=None, keep_prob=1.0, scalar_value=1.0, pre_tokens=2147483647,
                          next_tokens=2147483647, inner_precise=0, input_layout="BSH", sparse_mode=0):
    """softmax(scale q k^T + shift, masked) v; a mask is true where a query must not look."""
    name = "flash_attention_score"
    _absent(name, drop_mask=drop_mask, padding_mask=padding_mask, prefix=prefix, actual_seq_qlen=actual_seq_qlen,
            actual_seq_kvlen=actual_seq_kvlen)
    if not 0 < keep_prob <= 1:
        raise ValueError(f"For '{name}', the 'keep_prob' must be in (0, 1], but got {keep_prob}.")
    axis = {"BNSD": 2, "SBH": 0}.get(input_layout, 1)
    hidden = _hidden(name, attn_mask, query.shape[axis], key.shape[axis], sparse_mode, pre_tokens, next_tokens)
    size = query.shape[-1] // head_num if input_layout.endswith("H") else query.shape[-1]
    key_heads = key.shape[-1] // size if input_layout.endswith("H") else head_num
    return _attention(name, query, key, value, head_num, key_heads, input_layout, real_shift, hidden, scalar_value, keep_prob)


def prompt_flash_attention(query, key, value, attn_mask=None, actual_seq_lengths=None, actual_seq_lengths_kv=None, pse_shift=None,
                           deq_scale1=None, quant_scale1=None, deq_scale2=None, quant_scale2=None, quant_offset2=None, num_heads=1,
                           scale_value=1.0, pre_tokens=2147483647, next_tokens=0, input_layout="BSH", num_key_value_heads=0, sparse_mode=0,
                           inner_precise=1):
    """flash_attention_score without dropout; by default a query looks at no later key."""
    name = "prompt_flash_attention"
    _absent(name, actual_seq_lengths=actual_seq_lengths, actual_seq_lengths_kv=actual_seq_lengths_kv, deq_scale1=deq_scale1,
            quant_scale1=quant_scale1, deq_scale2=deq_scale2, quant_scale2=quant_scale2, quant_offset2=quant_offset2)
    axis = {"BNSD": 2}.get(input_layout, 1)
    hidden = _hidden(name, attn_mask, query.shape[axis], key.shape[axis], sparse_mode, pre_tokens, next_tokens)
    return _attention(name, query, key, value, num_heads, num_key_value_heads or num_heads, input_layout, pse_shift, hidden, scale_value, 1.0)
