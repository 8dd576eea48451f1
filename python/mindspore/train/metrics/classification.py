"""Accuracy, precision, recall, F-scores, top-k, ROC and the area under a curve."""
import numpy as np

from mindspore.train.metrics.metric import PAIR, Classified, Metric, ratio, rearrange_inputs

__all__ = ["Accuracy", "Precision", "Recall", "Fbeta", "F1", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy",
           "Top5CategoricalAccuracy", "ROC", "auc"]


class Accuracy(Classified):
    """The share of right predictions; in the multi-label case a sample is right when all its labels are."""

    def clear(self):
        self._correct = self._total = self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        self._check_classes(y_pred.shape[-1])
        right = (y_pred == y).all(1) if self._type == "multilabel" else y_pred.argmax(-1) == y
        self._correct += int(right.sum())
        self._total += right.size

    def eval(self):
        self._check_samples(self._total)
        return self._correct / self._total


class _Rate(Classified):
    """True positives over `_of` (predicted or labelled): per class, or per sample in the multi-label case."""

    def clear(self):
        self._hits = self._all = None
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        self._check_classes(y_pred.shape[-1])
        counts = self._class_counts(y_pred, y)
        hits, of = counts[0], counts[self._of]
        if self._hits is None:
            self._hits, self._all = hits, of
        elif self._type == "multilabel":
            self._hits, self._all = np.append(self._hits, hits), np.append(self._all, of)
        else:
            self._hits, self._all = self._hits + hits, self._all + of

    def eval(self, average=False):
        """An array; its mean if ``average``."""
        self._check_samples(self._class_num)
        if not isinstance(average, bool):
            raise TypeError(f"For '{type(self).__name__}.eval', the 'average' must be bool, but got {type(average).__name__}.")
        rates = ratio(self._hits, self._all)
        return float(rates.mean()) if average else rates


class Precision(_Rate):
    """Right predictions of a class among all predictions of it."""
    _of = 1


class Recall(_Rate):
    """Right predictions of a class among all samples of it."""
    _of = 2


class Fbeta(Classified):
    """(1 + beta^2) * precision * recall / (beta^2 * precision + recall) per class."""

    def __init__(self, beta):
        if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not beta > 0:
            raise ValueError(f"For 'Fbeta', the argument 'beta' must be greater than 0, but got 'beta' value: {beta}.")
        super().__init__()
        self.beta = beta

    def clear(self):
        self._counts = np.zeros((3, 1), np.int64)
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        self._check_classes(y_pred.shape[-1])
        self._counts = self._counts + np.array(self._class_counts(y_pred, y))

    def eval(self, average=False):
        """An array by class; its mean if ``average``."""
        self._check_samples(self._class_num)
        if not isinstance(average, bool):
            raise TypeError(f"For 'Fbeta.eval', the 'average' must be bool, but got {type(average).__name__}.")
        hits, guessed, labelled = self._counts
        b2 = self.beta ** 2
        scores = ratio((1 + b2) * hits, b2 * labelled + guessed)
        return float(scores.mean()) if average else scores


class F1(Fbeta):
    """Fbeta with beta 1."""

    def __init__(self):
        super().__init__(1.0)


class TopKCategoricalAccuracy(Metric):
    """The share of samples whose label is among the k highest predictions."""

    def __init__(self, k):
        super().__init__()
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"For 'TopKCategoricalAccuracy', the argument 'k' must be int, but got {type(k)}.")
        if k < 1:
            raise ValueError(f"For 'TopKCategoricalAccuracy', the argument 'k' must be at least 1, but got 'k' value: {k}.")
        self.k = k
        self.clear()

    def clear(self):
        self._correct = self._samples = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._inputs(inputs, PAIR)
        if y_pred.ndim != 2:
            raise ValueError(f"For '{type(self).__name__}.update', the predicted value must be 2-D, but got shape {y_pred.shape}.")
        if y.ndim == y_pred.ndim:
            y = y.argmax(1)
        if y.shape != y_pred.shape[:1]:
            raise ValueError(f"For '{type(self).__name__}.update', the shapes of predicted value and true value do not match, but "
                             f"got {y_pred.shape} and {y.shape}.")
        top = np.argsort(-y_pred, axis=1, kind="stable")[:, :self.k]
        self._correct += int((top == y[:, None]).any(1).sum())
        self._samples += len(y)

    def eval(self):
        self._check_samples(self._samples)
        return self._correct / self._samples


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k 1."""

    def __init__(self):
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k 5."""

    def __init__(self):
        super().__init__(5)


def _roc(score, positive):
    """False and true positive rates at every distinct score, from the highest down."""
    order = np.argsort(-score, kind="stable")
    score, positive = score[order], positive[order]
    last = np.append(np.nonzero(np.diff(score))[0], len(score) - 1)
    tps = np.append(0, np.cumsum(positive)[last])
    fps = np.append(0, np.cumsum(~positive)[last])
    if tps[-1] == 0:
        raise ValueError("For 'ROC', there are no positive samples, so the true positive rate is undefined.")
    if fps[-1] == 0:
        raise ValueError("For 'ROC', there are no negative samples, so the false positive rate is undefined.")
    return fps / fps[-1], tps / tps[-1], np.append(score[0] + 1, score[last])


class ROC(Metric):
    """The receiver operating characteristic: (false positive rates, true positive rates, thresholds); lists of them, one
    class against the rest each, when ``class_num`` is above 1."""

    def __init__(self, class_num=None, pos_label=None):
        super().__init__()
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise TypeError(f"For 'ROC', the '{name}' must be int or None, but got {type(value).__name__}.")
        self.class_num = 1 if class_num is None else class_num
        self.pos_label = pos_label
        self.clear()

    def clear(self):
        self.y_pred = self.y = None

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._inputs(inputs, PAIR)
        if self.class_num == 1:
            if y_pred.ndim > 1 and y_pred.shape[-1] > 1 and y_pred.shape != y.shape:
                raise ValueError(f"For 'ROC.update', binary predictions must have the shape of the labels, but got {y_pred.shape} "
                                 f"and {y.shape}.")
            y_pred, y = y_pred.ravel(), y.ravel()
        else:
            if y_pred.ndim < 2 or y_pred.shape[1] != self.class_num:
                raise ValueError(f"For 'ROC.update', predicted value should have the same classes number as 'class_num' "
                                 f"{self.class_num}, but got shape {y_pred.shape}.")
            y_pred, y = np.moveaxis(y_pred, 1, -1).reshape(-1, self.class_num), y.ravel()
        if len(y_pred) != len(y):
            raise ValueError(f"For 'ROC.update', predicted value and true value must have equally many samples, but got "
                             f"{len(y_pred)} and {len(y)}.")
        self.y_pred = y_pred if self.y_pred is None else np.concatenate([self.y_pred, y_pred])
        self.y = y if self.y is None else np.concatenate([self.y, y])

    def eval(self):
        if self.y is None:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        if self.class_num == 1:
            return _roc(self.y_pred, self.y == (1 if self.pos_label is None else self.pos_label))
        return tuple(list(part) for part in zip(*(_roc(self.y_pred[:, k], self.y == k) for k in range(self.class_num))))


def auc(x, y, reorder=False):
    """The area under the curve through the points (x, y), by trapezoids. ``reorder`` sorts the points by x first."""
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"For 'auc', the argument 'x' and 'y' must all be np.ndarray, but got {type(x)}, {type(y)}")
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise ValueError(f"For 'auc', the 'x' and 'y' must be 1-D, of one length, at least 2, but got {x.shape} and {y.shape}.")
    sign = 1
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    else:
        step = np.diff(x)
        if (step < 0).any():
            if not (step <= 0).all():
                raise ValueError(f"For 'auc', the 'x' must be increasing or decreasing, but got {x}.")
            sign = -1
    return sign * float(np.sum((y[1:] + y[:-1]) * np.diff(x)) / 2)
