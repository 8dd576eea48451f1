"""Losses as Cells."""
import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.common._rows import nn as _nn
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_positive_int, check_type
from mindspore.nn.layer.activation import get_activation

__all__ = ["LossBase", "L1Loss", "MSELoss", "RMSELoss", "MAELoss", "SmoothL1Loss", "HuberLoss", "SoftmaxCrossEntropyWithLogits",
           "CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "KLDivLoss", "CosineEmbeddingLoss",
           "SoftMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "HingeEmbeddingLoss",
           "MarginRankingLoss", "PoissonNLLLoss", "GaussianNLLLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "CTCLoss",
           "DiceLoss", "MultiClassDiceLoss", "FocalLoss", "MultilabelMarginLoss", "SampledSoftmaxLoss"]


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
        if not 0 <= label_smoothing <= 1:
            raise ValueError(f"For '{self.cls_name}', the 'label_smoothing' must be in [0, 1], but got {label_smoothing}.")
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


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, d(x, positive) - d(x, negative) + margin) with a distance of one's own."""

    def __init__(self, distance_function=None, swap=False, reduction="mean", margin=1.0):
        super().__init__(reduction)
        if distance_function is not None and not callable(distance_function):
            raise TypeError(f"For '{self.cls_name}', the 'distance_function' must be callable, but got {type(distance_function)}.")
        self.distance_function = distance_function
        self.swap = check_bool(swap, "swap", self.cls_name)
        self.margin = check_type(margin, "margin", (int, float), self.cls_name)

    def construct(self, x, positive, negative):
        _check_tensors(self.cls_name, x=x, positive=positive, negative=negative)
        distance = self.distance_function
        if distance is None:
            return ops.triplet_margin_loss(x, positive, negative, self.margin, 2, 1e-6, self.swap, self.reduction)
        far = distance(x, negative)
        if self.swap:
            far = ops.minimum(far, distance(positive, negative))
        return self.get_loss(ops.relu(distance(x, positive) - far + self.margin))


class CTCLoss(LossBase):
    """Connectionist temporal classification (Graves et al. 2006)."""

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction)
        self.blank = check_type(blank, "blank", int, self.cls_name)
        self.zero_infinity = check_bool(zero_infinity, "zero_infinity", self.cls_name)

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        _check_tensors(self.cls_name, log_probs=log_probs, targets=targets)
        return ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)[0]


class DiceLoss(LossBase):
    """One minus twice the overlap over the sum of squares."""

    def __init__(self, smooth=1e-05):
        super().__init__()
        check_type(smooth, "smooth", float, self.cls_name)
        if smooth <= 0:
            raise ValueError(f"For '{self.cls_name}', the 'smooth' must be > 0, but got {smooth}.")
        self.smooth = smooth

    def construct(self, logits, label):
        _check_tensors(self.cls_name, logits=logits, label=label)
        if tuple(logits.shape) != tuple(label.shape):
            raise ValueError(f"For '{self.cls_name}', the shapes of 'logits' and 'label' must be equal, but got {logits.shape} and "
                             f"{label.shape}.")
        return _nn.dice_loss(logits, label, self.smooth)


class MultiClassDiceLoss(LossBase):
    """Mean over the classes (axis 1) of their dice losses, weighted."""

    def __init__(self, weights=None, ignore_indiex=None, activation="softmax"):
        super().__init__()
        if weights is not None:
            check_type(weights, "weights", Tensor, self.cls_name)
            if weights.ndim != 2:
                raise ValueError(f"For '{self.cls_name}', the dimension of 'weights' must be 2, but got {weights.ndim}.")
        if ignore_indiex is not None:
            check_type(ignore_indiex, "ignore_indiex", int, self.cls_name)
        self.weights, self.ignore_indiex = weights, ignore_indiex
        self.binarydiceloss = DiceLoss(smooth=1e-5)
        try:
            self.activation = get_activation(activation) if isinstance(activation, str) else activation
        except KeyError as e:
            raise ValueError(f"For '{self.cls_name}', the 'activation' is unknown: {e.args[0]}") from None
        if activation is not None and not isinstance(self.activation, Cell):
            raise TypeError(f"For '{self.cls_name}', the 'activation' must be str or Cell, but got {type(activation).__name__}.")

    def construct(self, logits, label):
        _check_tensors(self.cls_name, logits=logits, label=label)
        if tuple(logits.shape) != tuple(label.shape):
            raise ValueError(f"For '{self.cls_name}', the shapes of 'logits' and 'label' must be equal, but got {logits.shape} and "
                             f"{label.shape}.")
        if self.weights is not None and self.weights.shape[0] != label.shape[1]:
            raise ValueError(f"For '{self.cls_name}', the 'weights' must have {label.shape[1]} rows, but got {self.weights.shape}.")
        if self.activation is not None:
            logits = self.activation(logits)
        total = 0.0
        for k in range(label.shape[1]):
            if k != self.ignore_indiex:
                loss = self.binarydiceloss(logits[:, k], label[:, k])
                total = total + (loss if self.weights is None else loss * self.weights[k])
        return total / label.shape[1]


class FocalLoss(LossBase):
    """Cross entropy that leaves out what is sure already (Lin et al. 2017)."""

    def __init__(self, weight=None, gamma=2.0, reduction="mean"):
        super().__init__(reduction)
        self.gamma = check_type(gamma, "gamma", (int, float), self.cls_name)
        if weight is not None:
            check_type(weight, "weight", Tensor, self.cls_name)
            if weight.ndim != 1:
                raise ValueError(f"For '{self.cls_name}', the dimension of 'weight' must be 1, but got {weight.ndim}.")
        self.weight = weight

    def construct(self, logits, labels):
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return self.get_loss(_nn.focal_loss(logits, labels, self.weight, float(self.gamma)))


class MultilabelMarginLoss(LossBase):
    """Hinge between the classes listed in the target (up to -1) and all others."""

    def construct(self, x, target):
        return ops.multilabel_margin_loss(x, target, self.reduction)


class SampledSoftmaxLoss(LossBase):
    """Softmax over the true class and a sample of the others (Jean et al. 2015)."""

    def __init__(self, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, seed=0,
                 reduction="none"):
        super().__init__(reduction)
        who = self.cls_name
        if check_positive_int(num_true, "num_true", who) != 1:
            raise ValueError(f"For '{who}', the 'num_true' must be 1, but got {num_true}.")
        self.num_sampled = check_positive_int(num_sampled, "num_sampled", who)
        self.num_classes = check_positive_int(num_classes, "num_classes", who)
        if sampled_values is not None and (not isinstance(sampled_values, (tuple, list)) or len(sampled_values) != 3):
            raise ValueError(f"For '{who}', the 'sampled_values' must be None or a tuple of three Tensors.")
        if num_sampled > num_classes:
            raise ValueError(f"For '{who}', the 'num_sampled' must be at most {num_classes}, but got {num_sampled}.")
        self.num_true, self.sampled_values = num_true, sampled_values
        self.remove_accidental_hits = check_bool(remove_accidental_hits, "remove_accidental_hits", who)
        self.seed = check_type(seed, "seed", int, who)

    def construct(self, weights, biases, labels, logits):
        _check_tensors(self.cls_name, weights=weights, biases=biases, labels=labels, logits=logits)
        labels = labels.reshape((-1,))
        if self.sampled_values is None:  # log-uniform: frequent classes come first
            rank = Tensor(list(range(self.num_classes)), mstype.float32)
            p = ((rank + 2.0) / (rank + 1.0)).log() / float(np.log(self.num_classes + 1))
            noise = -(-ops.rand(self.num_classes).log()).log()
            sampled = ops.topk(p.log() + noise, self.num_sampled)[1]
            of_true, of_sampled = p[labels] * self.num_sampled, p[sampled] * self.num_sampled
        else:
            sampled, of_true, of_sampled = self.sampled_values
            of_true = of_true.reshape((-1,))
        true = (logits * weights[labels]).sum(-1) + biases[labels] - of_true.log()
        others = ops.matmul(logits, weights[sampled].T) + biases[sampled] - of_sampled.log()
        if self.remove_accidental_hits:
            hit = labels.expand_dims(-1) == sampled.astype(labels.dtype)
            others = ops.where(hit, ops.full_like(others, -1e37), others)
        scores = ops.concat((true.expand_dims(-1), others), -1)
        loss = -ops.log_softmax(scores, -1)[:, 0]
        return self.get_loss(loss)
