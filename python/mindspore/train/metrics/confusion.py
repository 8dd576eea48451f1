"""The confusion matrix and the rates that derive from it."""
import numpy as np

from mindspore.train.metrics.metric import PAIR, Metric, ratio, rearrange_inputs

__all__ = ["ConfusionMatrix", "ConfusionMatrixMetric"]


class ConfusionMatrix(Metric):
    """[num_classes, num_classes] counts, label by prediction; normalised over labels ('target'), predictions or 'all'.
    Probabilities are compared with ``threshold``; predictions with one dimension more than labels are scores by class."""

    def __init__(self, num_classes, normalize="no_norm", threshold=0.5):
        super().__init__()
        if not isinstance(num_classes, int) or isinstance(num_classes, bool):
            raise TypeError(f"For 'ConfusionMatrix', the 'num_classes' must be int, but got {type(num_classes).__name__}.")
        if not isinstance(threshold, float):
            raise TypeError(f"For 'ConfusionMatrix', the 'threshold' must be float, but got {type(threshold).__name__}.")
        if normalize not in ("no_norm", "target", "prediction", "all", None):
            raise ValueError("For 'ConfusionMatrix', the argument 'normalize' must be in ['all', 'prediction', 'label', "
                             f"'no_norm'(None)], but got {normalize}.")
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self):
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._inputs(inputs, PAIR)
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            raise ValueError(f"For 'ConfusionMatrix.update', predicted value (input[0]) and true value (input[1]) should have same "
                             f"dimensions, or the dimension of predicted value equal the dimension of true value add 1, but got "
                             f"predicted value ndim: {y_pred.ndim}, true value ndim: {y.ndim}.")
        if y_pred.ndim == y.ndim + 1:
            y_pred = y_pred.argmax(1)
        elif np.issubdtype(y_pred.dtype, np.floating):
            y_pred = y_pred >= self.threshold
        at = self.num_classes * y.astype(np.int64).ravel() + y_pred.astype(np.int64).ravel()
        n = self.num_classes
        if at.size and (at.min() < 0 or at.max() >= n * n):
            raise ValueError(f"For 'ConfusionMatrix.update', classes must be in [0, {n}), but got larger or negative ones.")
        self.confusion_matrix += np.bincount(at, minlength=n * n).reshape(n, n)
        self._is_update = True

    def eval(self):
        if not self._is_update:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        m = self.confusion_matrix
        of = {"target": m.sum(1, keepdims=True), "prediction": m.sum(0, keepdims=True), "all": m.sum()}.get(self.normalize)
        return m.copy() if of is None else ratio(m, of)


def _mcc(tp, fp, tn, fn):
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


def _threshold(tp, fp, tn, fn):
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    return np.where(tpr == fpr, np.nan, (np.sqrt(tpr * fpr) - fpr) / (tpr - fpr))


_RATES = {
    "sensitivity recall hit_rate tpr": lambda tp, fp, tn, fn: tp / (tp + fn),
    "specificity selectivity tnr": lambda tp, fp, tn, fn: tn / (tn + fp),
    "precision positive_predictive_value ppv": lambda tp, fp, tn, fn: tp / (tp + fp),
    "negative_predictive_value npv": lambda tp, fp, tn, fn: tn / (tn + fn),
    "miss_rate fnr": lambda tp, fp, tn, fn: fn / (tp + fn),
    "fall_out fpr": lambda tp, fp, tn, fn: fp / (tn + fp),
    "false_discovery_rate fdr": lambda tp, fp, tn, fn: fp / (tp + fp),
    "false_omission_rate for": lambda tp, fp, tn, fn: fn / (tn + fn),
    "prevalence_threshold pt": _threshold,
    "threat_score critical_success_index ts csi": lambda tp, fp, tn, fn: tp / (tp + fn + fp),
    "accuracy acc": lambda tp, fp, tn, fn: (tp + tn) / (tp + fp + tn + fn),
    "balanced_accuracy ba": lambda tp, fp, tn, fn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "f1_score f1": lambda tp, fp, tn, fn: 2 * tp / (2 * tp + fp + fn),
    "matthews_correlation_coefficient mcc": _mcc,
    "fowlkes_mallows_index fm": lambda tp, fp, tn, fn: np.sqrt(tp / (tp + fp) * (tp / (tp + fn))),
    "informedness bookmaker_informedness bm": lambda tp, fp, tn, fn: tp / (tp + fn) + tn / (tn + fp) - 1,
    "markedness deltap mk": lambda tp, fp, tn, fn: tp / (tp + fp) + tn / (tn + fn) - 1,
}
_RATE = {name: fn for names, fn in _RATES.items() for name in names.split()}
_DECREASE = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


class ConfusionMatrixMetric(Metric):
    """A rate of the confusion matrix of 0/1 predictions [batch, channel, ...].

    ``calculation_method`` False counts over all samples and channels first and gives one rate as an array of one element;
    True takes the rate of each sample and channel and reduces them as ``decrease`` says; what is undefined is left out.
    ``skip_channel`` leaves out the first channel (the background).
    """

    def __init__(self, skip_channel=True, metric_name="sensitivity", calculation_method=False, decrease="mean"):
        super().__init__()
        for name, value, kind in (("skip_channel", skip_channel, bool), ("metric_name", metric_name, str),
                                  ("calculation_method", calculation_method, bool), ("decrease", decrease, str)):
            if not isinstance(value, kind):
                raise TypeError(f"For 'ConfusionMatrixMetric', the '{name}' must be {kind.__name__}, but got "
                                f"{type(value).__name__}.")
        if decrease not in _DECREASE:
            raise ValueError(f"For 'ConfusionMatrixMetric', the 'decrease' must be in {_DECREASE}, but got {decrease}.")
        self._rate = _RATE.get(metric_name.lower().replace(" ", "_"))
        if self._rate is None:
            raise NotImplementedError(f"For 'ConfusionMatrixMetric', the metric '{metric_name}' is not implemented.")
        self.skip_channel, self.metric_name = skip_channel, metric_name
        self.calculation_method, self.decrease = calculation_method, decrease
        self.clear()

    def clear(self):
        self._counts = []

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._inputs(inputs, ("y_pred", "y"))
        if y_pred.ndim < 3 or y_pred.shape != y.shape:
            raise ValueError("For 'ConfusionMatrixMetric.update', predicted value (input[0]) and true value (input[1]) must have the "
                             f"same shape [batch, channel, ...], but got {y_pred.shape} and {y.shape}.")
        if self.skip_channel and y_pred.shape[1] > 1:
            y_pred, y = y_pred[:, 1:], y[:, 1:]
        p, t = (a.reshape(*a.shape[:2], -1) != 0 for a in (y_pred, y))
        self._counts.append(np.stack([(p & t).sum(-1), (p & ~t).sum(-1), (~p & ~t).sum(-1), (~p & t).sum(-1)]).astype(np.float64))

    def eval(self):
        if not self._counts:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        counts = np.concatenate(self._counts, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            if not self.calculation_method:
                return np.atleast_1d(self._rate(*counts.sum((1, 2))))
            rate = self._rate(*counts)
        how, _, axis = self.decrease.partition("_")
        if how == "none":
            return rate
        if axis:
            return self._reduce(rate, how, ("batch", "channel").index(axis))
        return float(self._reduce(self._reduce(rate, how, 1), how, 0))

    @staticmethod
    def _reduce(rate, how, axis):
        there = ~np.isnan(rate)
        total = np.where(there, rate, 0).sum(axis)
        return total if how == "sum" else ratio(total, there.sum(axis))
