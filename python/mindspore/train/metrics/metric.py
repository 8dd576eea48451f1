"""Metric: the base of what Model.eval computes, on the host, from the outputs of each batch."""
import functools

import numpy as np

from mindspore.common.tensor import Tensor

__all__ = ["Metric", "rearrange_inputs"]


def rearrange_inputs(func):
    """Decorates ``update``: its inputs are picked and ordered by the metric's ``indexes``."""
    @functools.wraps(func)
    def wrapper(self, *inputs):
        if self.indexes is not None:
            top = max(self.indexes, default=-1)
            if top >= len(inputs):
                raise ValueError(f"For '{type(self).__name__}', the 'indexes' {self.indexes} ask for input {top}, but 'update' "
                                 f"got {len(inputs)} inputs.")
            inputs = [inputs[i] for i in self.indexes]
        return func(self, *inputs)
    return wrapper


class Metric:
    """``clear``, then ``update`` with the outputs of every batch, then ``eval``; subclasses define the three."""

    def __init__(self):
        self._indexes = None

    @property
    def indexes(self):
        """Which inputs of ``update`` are used and in which order; None: all."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes):
        """Sets ``indexes``; returns the metric."""
        if not isinstance(indexes, list) or not all(isinstance(i, int) and not isinstance(i, bool) for i in indexes):
            raise ValueError(f"For 'set_indexes', the argument 'indexes' must be a list of int, but got {indexes}.")
        self._indexes = indexes
        return self

    def clear(self):
        raise NotImplementedError(f"Class {type(self).__name__} must define the method 'clear'.")

    def update(self, *inputs):
        raise NotImplementedError(f"Class {type(self).__name__} must define the method 'update'.")

    def eval(self):
        raise NotImplementedError(f"Class {type(self).__name__} must define the method 'eval'.")

    def __call__(self, *inputs):
        """The value for these inputs alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    # ---- for subclasses ----

    def _convert_data(self, data):
        """A Tensor, list or array as an array."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, list):
            return np.array(data)
        if isinstance(data, np.ndarray):
            return data
        raise TypeError("For 'Metric' and its derived classes, the input data type must be tensor, list or numpy.ndarray, but got "
                        f"{type(data)}.")

    def _inputs(self, inputs, what):
        """The inputs as arrays, their number checked against the names in ``what``."""
        if len(inputs) != len(what):
            raise ValueError(f"For '{type(self).__name__}.update', it needs {len(what)} input{'s' * (len(what) > 1)} "
                             f"({', '.join(what)}), but got {len(inputs)}")
        return [self._convert_data(x) for x in inputs]

    def _check_samples(self, n):
        if n == 0:
            raise RuntimeError(f"The '{type(self).__name__}' can not be calculated, because the number of samples is 0, please "
                               "check whether your inputs(predicted value, true value) are empty, or has called update method "
                               "before calling eval method.")


PAIR = ("predicted value", "true value")


class Classified(Metric):
    """Counts per class, for metrics of single-label ('classification') and multi-label ('multilabel') predictions."""

    def __init__(self, eval_type="classification"):
        super().__init__()
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(f"The argument 'eval_type' must be in {{'classification', 'multilabel'}}, but got {eval_type}")
        self._type = eval_type
        self.clear()

    def _pair(self, inputs):
        """Predictions with the classes last and labels, one-hot labels made indices; both 2-D [sample, class] in the multi-label
        case. Classes come as axis 1 of both: [n, class, ...] and [n, ...]."""
        y_pred, y = self._inputs(inputs, PAIR)
        name = type(self).__name__
        if self._type == "classification":
            if y_pred.ndim == y.ndim and y_pred.ndim > 1:
                if y.shape[1] != y_pred.shape[1]:
                    raise ValueError(f"In classification case, one-hot labels need as many classes as the predicted value, but "
                                     f"got y_pred shape: {y_pred.shape} and y shape: {y.shape}.")
                y = y.argmax(1)
            if y_pred.ndim != y.ndim + 1:
                raise ValueError("In classification case, the dimension of y_pred (predicted value) should equal to the dimension "
                                 f"of y (true value) add 1, but got y_pred dimension: {y_pred.ndim} and y dimension: {y.ndim}.")
            if y_pred.shape[:1] + y_pred.shape[2:] != y.shape:
                raise ValueError(f"For '{name}.update', the shapes of predicted value and true value do not match, but got "
                                 f"{y_pred.shape} and {y.shape}.")
            y_pred = np.moveaxis(y_pred, min(1, y_pred.ndim - 1), -1)
        else:
            if y_pred.ndim != y.ndim or y_pred.shape != y.shape:
                raise ValueError(f"In multilabel case, the shape of y_pred (predicted value) should be equal to the shape of y "
                                 f"(true value), but got y_pred shape: {y_pred.shape} and y shape: {y.shape}.")
            if not (np.isin(y_pred, (0, 1)).all() and np.isin(y, (0, 1)).all()):
                raise ValueError("For multilabel case, the values of y_pred (predicted value) and y (true value) must be 0 or 1.")
            if y_pred.ndim > 2:  # [n, class, ...]: every position is a sample
                y_pred, y = (np.moveaxis(a, 1, -1).reshape(-1, a.shape[1]) for a in (y_pred, y))
        return y_pred, y

    def _class_counts(self, y_pred, y):
        """(true positives, predicted, labelled) per class, or per sample and class in the multi-label case."""
        if self._type == "multilabel":
            y_pred, y = y_pred.astype(bool), y.astype(bool)
            return (y_pred & y).sum(1), y_pred.sum(1), y.sum(1)
        n = y_pred.shape[-1]
        y = y.astype(np.int64).ravel()
        self._check_labels(y, n)
        guess = y_pred.argmax(-1).ravel()
        hits = np.bincount(y[guess == y], minlength=n)
        return hits, np.bincount(guess, minlength=n), np.bincount(y, minlength=n)

    def _check_labels(self, y, n):
        if y.size and (y.max() >= n or y.min() < 0):
            bad = y.max() if y.max() >= n else y.min()
            raise ValueError(f"For '{type(self).__name__}.update', predicted value (input[0]) should have the same classes number "
                             f"as true value (input[1]), but got predicted value classes {n}, true value classes {bad + 1}.")

    def _check_classes(self, n):
        if self._class_num not in (0, n):
            raise ValueError(f"For '{type(self).__name__}.update', class number not match, last input predicted data contain "
                             f"{self._class_num} classes, but current predicted data contain {n} classes, please check your "
                             "predicted value(inputs[0])")
        self._class_num = n


def ratio(a, b):
    """a / b, with 0 where b is 0."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b != 0)
