"""Losses as Cells."""
from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_type

__all__ = ["LossBase", "L1Loss", "MSELoss", "RMSELoss", "MAELoss", "SmoothL1Loss", "HuberLoss", "SoftmaxCrossEntropyWithLogits",
           "CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "KLDivLoss", "CosineEmbeddingLoss",
           "SoftMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "HingeEmbeddingLoss",
           "MarginRankingLoss", "PoissonNLLLoss", "GaussianNLLLoss", "TripletMarginLoss"]


def _check_tensors(who, **values):
    for name, value in values.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{who}', the '{name}' must be 'Tensor', but got '{type(value).__name__}'")


class LossBase(Cell):
    """Base of losses: ``get_loss`` weighs and reduces."""

    _reductions = ("mean", "sum", "none")

    def __init__(self, reduction="mean"):
        super().__init__()
        if reduction not in self._reductions:
            raise ValueError(f"For '{self.cls_name}', the 'reduction' must be in {list(self._reductions)}, but got "
                             f"{reduction}.")
        self.reduction = reduction
        self.reduce, self.average = reduction != "none", reduction == "mean"

    def get_axis(self, x):
        """All axes of x."""
        return tuple(range(x.ndim))

    def get_loss(self, x, weights=1.0):
        """The reduced x * weights, in x's dtype."""
        dtype = x.dtype
        x = x.astype(mstype.float32) * weights
        if self.reduce:
            x = x.mean() if self.average else x.sum()
        return x.astype(dtype)

    def construct(self, logits, labels):
        raise NotImplementedError(f"'{self.cls_name}' must define 'construct'.")


class L1Loss(LossBase):
    """Absolute differences."""

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.l1_loss(logits, labels, self.reduction)


class MSELoss(LossBase):
    """Squared differences."""

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.mse_loss(logits, labels, self.reduction)


class RMSELoss(LossBase):
    """Root of the mean squared difference."""

    def __init__(self):
        super().__init__()

    def construct(self, logits, label):
        return ops.mse_loss(logits, label, "mean").sqrt()


class MAELoss(LossBase):
    """Absolute differences."""

    def construct(self, logits, label):
        _check_tensors(self.cls_name, logits=logits, label=label)
        return ops.l1_loss(logits, label, self.reduction)


class SmoothL1Loss(LossBase):
    """Quadratic below ``beta``, linear above."""

    def __init__(self, beta=1.0, reduction="none"):
        super().__init__(reduction)
        self.beta = beta

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class HuberLoss(LossBase):
    """Quadratic below ``delta``, linear with slope delta above."""

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction)
        self.delta = delta

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of a softmax with class indices (``sparse``) or with distributions."""

    def __init__(self, sparse=False, reduction="none"):
        super().__init__(reduction)
        self.sparse = check_bool(sparse, "sparse", self.cls_name)

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        if not self.sparse and not labels.is_floating_point():
            raise TypeError(f"For '{self.cls_name}', the labels must be floats unless sparse=True, but got {labels.dtype}.")
        if not self.sparse and tuple(labels.shape) != tuple(logits.shape):
            raise ValueError(f"For '{self.cls_name}', the labels must have the logits' shape {logits.shape} unless "
                             f"sparse=True, but got {labels.shape}.")
        if not self.sparse and labels.dtype != logits.dtype:
            raise TypeError(f"For '{self.cls_name}', the labels must have the logits' type {logits.dtype} unless "
                            f"sparse=True, but got {labels.dtype}.")
        return ops.cross_entropy(logits, labels, None, -100, self.reduction) if self.sparse else self._dense(logits, labels)

    def _dense(self, logits, labels):
        return self.get_loss(-(labels * ops.log_softmax(logits, -1)).sum(-1))


class _Weighted(LossBase):
    def __init__(self, weight, reduction):
        super().__init__(reduction)
        if weight is not None:
            check_type(weight, "weight", Tensor, self.cls_name)
        self.weight = weight


class CrossEntropyLoss(_Weighted):
    """Cross entropy of a softmax over axis 1 with class indices or with probabilities."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, reduction)
        check_type(ignore_index, "ignore_index", int, self.cls_name)
        check_type(label_smoothing, "label_smoothing", float, self.cls_name)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(_Weighted):
    """Negative log-likelihood of log-probabilities over axis 1."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(weight, reduction)
        check_type(ignore_index, "ignore_index", int, self.cls_name)
        self.ignore_index = ignore_index

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class BCELoss(LossBase):
    """Cross entropy of probabilities with targets in [0, 1]."""

    def __init__(self, weight=None, reduction="mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """Cross entropy of a sigmoid with targets in [0, 1]."""

    def __init__(self, reduction="mean", weight=None, pos_weight=None):
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


class KLDivLoss(LossBase):
    """Kullback-Leibler divergence of log-probabilities from targets."""

    _reductions = ("mean", "sum", "none", "batchmean")

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.kl_div(logits, labels, self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cos for pairs labelled 1, max(0, cos - margin) for pairs labelled -1."""

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        check_type(margin, "margin", float, self.cls_name)
        if not -1 <= margin <= 1:
            raise ValueError(f"For '{self.cls_name}', the 'margin' must be in range of [-1.0, 1.0], but got {margin} with type "
                             "'float'.")
        self.margin = margin

    def construct(self, logits_x1, logits_x2, labels):
        _check_tensors(self.cls_name, logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-y x))."""

    def construct(self, logits, labels):
        return ops.soft_margin_loss(logits, labels, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """Mean over the classes of the sigmoid cross entropy."""

    def __init__(self, weight=None, reduction="mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x, target):
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class MultiMarginLoss(LossBase):
    """Hinge between the class of the target and the others."""

    def __init__(self, p=1, margin=1.0, reduction="mean", weight=None):
        super().__init__(reduction)
        self.p, self.margin, self.weight = p, margin, weight

    def construct(self, x, target, weight=None):
        return ops.multi_margin_loss(x, target, self.p, self.margin, self.weight if weight is None else weight,
                                     self.reduction)


class HingeEmbeddingLoss(LossBase):
    """x where the label is 1, max(0, margin - x) where it is -1."""

    def __init__(self, margin=1.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits, labels):
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -y (x1 - x2) + margin)."""

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1, input2, target):
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class PoissonNLLLoss(LossBase):
    """Negative log-likelihood of a Poisson distribution."""

    def __init__(self, log_input=True, full=False, eps=1e-08, reduction="mean"):
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def construct(self, input, target):
        _check_tensors(self.cls_name, input=input, target=target)
        loss = input.exp() - target * input if self.log_input else input - target * (input + self.eps).log()
        if self.full:
            stirling = target * (target + self.eps).log() - target + 0.5 * (2 * 3.141592653589793 * (target + self.eps)).log()
            loss = loss + ops.where(target > 1, stirling, ops.zeros_like(stirling))
        return self.get_loss(loss)


class GaussianNLLLoss(LossBase):
    """Negative log-likelihood of a normal distribution."""

    def __init__(self, *, full=False, eps=1e-06, reduction="mean"):
        super().__init__(reduction)
        check_type(full, "full", bool, self.cls_name)
        check_type(eps, "eps", float, self.cls_name)
        self.full, self.eps = full, eps

    def construct(self, logits, labels, var):
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class TripletMarginLoss(LossBase):
    """max(0, |x - positive| - |x - negative| + margin)."""

    def __init__(self, p=2, swap=False, eps=1e-06, reduction="mean", margin=1.0):
        super().__init__(reduction)
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin

    def construct(self, x, positive, negative, margin=None):
        return ops.triplet_margin_loss(x, positive, negative, self.margin if margin is None else margin, self.p, self.eps,
                                       self.swap, self.reduction)
