"""Distances between the surfaces of two regions of label images, and the sensitivity of a network to occlusion."""
import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.train.metrics.metric import Metric, rearrange_inputs

__all__ = ["HausdorffDistance", "MeanSurfaceDistance", "RootMeanSquareDistance", "OcclusionSensitivity"]

_METRICS = {"euclidean": lambda d: np.sqrt((d * d).sum(-1)), "chessboard": lambda d: np.abs(d).max(-1),
            "taxicab": lambda d: np.abs(d).sum(-1)}


def _surface(mask):
    """Coordinates of the elements of ``mask`` with a neighbour outside it (outside the image counts)."""
    padded = np.pad(mask, 1)
    inner = mask.copy()
    core = tuple(slice(1, -1) for _ in mask.shape)
    for axis in range(mask.ndim):
        for step in (-1, 1):
            inner &= np.roll(padded, step, axis)[core]
    return np.argwhere(mask & ~inner)


class _Surface(Metric):
    def __init__(self, distance_metric):
        super().__init__()
        if distance_metric not in _METRICS:
            raise ValueError(f"For '{type(self).__name__}', the 'distance_metric' must be in {tuple(_METRICS)}, but got "
                             f"{distance_metric}.")
        self.distance_metric = distance_metric
        self.clear()

    def clear(self):
        self._pred_edge = self._true_edge = None

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 3:
            raise ValueError(f"For '{type(self).__name__}.update', it needs 3 inputs (predicted value, true value, label index), but "
                             f"got {len(inputs)}.")
        y_pred, y = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        label = inputs[2]
        if not isinstance(label, (int, float)) or isinstance(label, bool):
            raise TypeError(f"For '{type(self).__name__}.update', the label index (input[2]) must be int or float, but got "
                            f"{type(label).__name__}.")
        if y_pred.size == 0 or y_pred.shape != y.shape:
            raise ValueError(f"For '{type(self).__name__}.update', predicted value (input[0]) and true value (input[1]) must have the "
                             f"same shape and not be empty, but got {y_pred.shape} and {y.shape}.")
        if label not in y_pred and label not in y:
            raise ValueError(f"For '{type(self).__name__}.update', the label index {label} is in neither of the images.")
        self._pred_edge, self._true_edge = _surface(y_pred == label), _surface(y == label)

    def _distances(self, a, b):
        """For each point of ``a`` the distance to the nearest of ``b``."""
        if not len(a):
            return np.zeros(0)
        if not len(b):
            return np.full(len(a), np.inf)
        dist = _METRICS[self.distance_metric]
        step = max(1, 4_000_000 // (len(b) * a.shape[1]))
        return np.concatenate([dist(a[i:i + step, None] - b[None]).min(1) for i in range(0, len(a), step)])

    def _both(self):
        if self._pred_edge is None:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        return self._distances(self._pred_edge, self._true_edge), self._distances(self._true_edge, self._pred_edge)


class HausdorffDistance(_Surface):
    """The largest (or the ``percentile`` of the) distance from a surface to the other; one way if ``directed``.
    ``crop`` limits the computation to the regions, which does not change the result."""

    def __init__(self, distance_metric="euclidean", percentile=None, directed=False, crop=True):
        super().__init__(distance_metric)
        if percentile is not None and (not isinstance(percentile, float) or not 0 <= percentile <= 100):
            raise ValueError(f"For 'HausdorffDistance', the value of the argument 'percentile' should be [0, 100], but got {percentile}.")
        for name, value in (("directed", directed), ("crop", crop)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'HausdorffDistance', the '{name}' must be bool, but got {type(value).__name__}.")
        self.percentile, self.directed, self.crop = percentile, directed, crop

    def eval(self):
        def one(d):
            if not len(d):
                return np.inf
            return float(d.max() if self.percentile is None else np.percentile(d, self.percentile))
        there, back = self._both()
        return one(there) if self.directed else max(one(there), one(back))


class _Mean(_Surface):
    def __init__(self, symmetric=False, distance_metric="euclidean"):
        super().__init__(distance_metric)
        if not isinstance(symmetric, bool):
            raise TypeError(f"For '{type(self).__name__}', the 'symmetric' must be bool, but got {type(symmetric).__name__}.")
        self.symmetric = symmetric

    def _mean(self, power):
        """Of the distances to a power; the mean of both ways weighs them equally however large the surfaces are."""
        ways = self._both()[:1 + self.symmetric]
        return float(np.mean([np.mean(d ** power) for d in ways])) if all(map(len, ways)) else np.inf


class MeanSurfaceDistance(_Mean):
    """The mean distance from the predicted surface to the true one; the mean of both ways if ``symmetric``."""

    def eval(self):
        return self._mean(1)


class RootMeanSquareDistance(_Mean):
    """The root of the mean squared distance from the predicted surface to the true one, of both ways if ``symmetric``."""

    def eval(self):
        return self._mean(2) ** 0.5


class OcclusionSensitivity(Metric):
    """How the score of a label changes when a part of the image is covered: (baseline minus score by position, most likely
    class by position), for an image of shape [1, channels, ...].

    ``margin`` is the distance from a position to the edge of the covered box (one number, or one per spatial axis),
    ``pad_val`` what it is covered with, ``n_batch`` how many images go through the network at once, ``b_box`` the bounds
    [low, high, ...] of the spatial axes that are looked at.
    """

    def __init__(self, pad_val=0.0, margin=2, n_batch=128, b_box=None):
        super().__init__()
        if not isinstance(pad_val, float):
            raise TypeError(f"For 'OcclusionSensitivity', the 'pad_val' must be float, but got {type(pad_val).__name__}.")
        if not isinstance(margin, (int, list, tuple)) or isinstance(margin, bool):
            raise TypeError(f"For 'OcclusionSensitivity', the 'margin' must be int or a list of int, but got {type(margin).__name__}.")
        if not isinstance(n_batch, int) or isinstance(n_batch, bool) or n_batch < 1:
            raise ValueError(f"For 'OcclusionSensitivity', the 'n_batch' must be a positive int, but got {n_batch}.")
        if b_box is not None and not isinstance(b_box, list):
            raise TypeError(f"For 'OcclusionSensitivity', the 'b_box' must be a list or None, but got {type(b_box).__name__}.")
        self.pad_val, self.margin, self.n_batch, self.b_box = pad_val, margin, n_batch, b_box
        self.clear()

    def clear(self):
        self._result = None

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 3:
            raise ValueError(f"For 'OcclusionSensitivity.update', it needs 3 inputs (classification model, image, label), but got "
                             f"{len(inputs)}.")
        model, image, label = inputs[0], self._convert_data(inputs[1]), self._convert_data(inputs[2])
        if image.ndim < 3 or image.shape[0] != 1:
            raise RuntimeError(f"For 'OcclusionSensitivity.update', the image must have the shape [1, channels, ...], but got "
                               f"{image.shape}.")
        if label.size != 1:
            raise RuntimeError(f"For 'OcclusionSensitivity.update', the label must be one number, but got shape {label.shape}.")
        size = image.shape[2:]
        margin = self.margin if isinstance(self.margin, (list, tuple)) else [self.margin] * len(size)
        box = self.b_box if self.b_box is not None else [v for s in size for v in (0, s)]
        if len(margin) != len(size) or len(box) != 2 * len(size):
            raise ValueError(f"For 'OcclusionSensitivity.update', 'margin' needs {len(size)} and 'b_box' {2 * len(size)} numbers, but "
                             f"got {len(margin)} and {len(box)}.")
        lows, highs = box[::2], box[1::2]
        if any(not 0 <= lo < hi <= s for lo, hi, s in zip(lows, highs, size)):
            raise ValueError(f"For 'OcclusionSensitivity.update', the 'b_box' must be inside the image {size}, but got {box}.")
        label = int(label.ravel()[0])
        base = self._scores(model, image)[0, label]
        shape = tuple(hi - lo for lo, hi in zip(lows, highs))
        out = np.zeros((np.prod(shape, dtype=int), 2))
        at = list(np.ndindex(shape))
        for first in range(0, len(at), self.n_batch):
            part = at[first:first + self.n_batch]
            batch = np.repeat(image, len(part), 0)
            for k, p in enumerate(part):
                where = tuple(slice(max(0, lo + i - m), lo + i + m + 1) for i, lo, m in zip(p, lows, margin))
                batch[(k, slice(None)) + where] = self.pad_val
            scores = self._scores(model, batch)
            out[first:first + len(part), 0] = base - scores[:, label]
            out[first:first + len(part), 1] = scores.argmax(1)
        self._result = out[:, 0].reshape(shape), out[:, 1].astype(np.int64).reshape(shape)

    @staticmethod
    def _scores(model, batch):
        return model(Tensor(batch)).asnumpy()

    def eval(self):
        if self._result is None:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        return self._result
