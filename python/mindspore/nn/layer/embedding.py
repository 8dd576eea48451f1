"""Embeddings."""
from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.nn.layer._check import check_positive_int
from mindspore.nn.layer.basic import Embedding, EmbeddingLookup

__all__ = ["Embedding", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """Rows of a table times values, combined (SUM, MEAN or MAX) per field."""

    def __init__(self, vocab_size, embedding_size, field_size, param_init="normal", target="CPU", slice_mode="batch_slice",
                 feature_num_list=None, max_norm=None, sparse=True, operator="SUM", dtype=mstype.float32):
        super().__init__(vocab_size, embedding_size, param_init, target, slice_mode, feature_num_list, max_norm, sparse, dtype)
        self.field_size = check_positive_int(field_size, "field_size", self.cls_name)
        if operator not in ("SUM", "MEAN", "MAX"):
            raise ValueError(f"For '{self.cls_name}', the 'operator' must be one of ['SUM', 'MAX', 'MEAN'], but got {operator}.")
        self.operator = operator

    def construct(self, input_indices, input_values, field_ids):
        rows = super().construct(input_indices) * input_values.expand_dims(-1)
        member = ops.one_hot(field_ids, self.field_size)                         # (N, L, fields)
        mine = (member == 1).astype(rows.dtype)
        if self.operator == "MAX":
            inside = mine.expand_dims(-1) == 1
            spread = ops.where(inside, rows.expand_dims(2), ops.full_like(rows.expand_dims(2), float("-inf")))
            best = spread.max(axis=1)
            return ops.where(best == float("-inf"), ops.zeros_like(best), best)
        total = ops.matmul(mine.swapaxes(1, 2), rows)
        if self.operator == "SUM":
            return total
        count = mine.sum(1).expand_dims(-1)
        return total / ops.where(count == 0, ops.ones_like(count), count)


