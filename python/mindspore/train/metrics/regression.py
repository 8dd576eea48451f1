"""Loss, errors, similarity, perplexity, BLEU and Dice."""
import math
from collections import Counter

import numpy as np

from mindspore.train.metrics.metric import PAIR, Metric, rearrange_inputs

__all__ = ["Loss", "MAE", "MSE", "CosineSimilarity", "Perplexity", "BleuScore", "Dice"]


class Loss(Metric):
    """The mean of the losses of the batches."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self._sum_loss = self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 1:
            raise ValueError(f"For 'Loss.update', it needs 1 input (loss), but got {len(inputs)}")
        loss = self._convert_data(inputs[0])
        if loss.ndim > 1:
            raise ValueError(f"For 'Loss.update', the dimension of your input (loss) must be 0 or 1, but got {loss.ndim}.")
        self._sum_loss += float(loss.mean())
        self._total_num += 1

    def eval(self):
        self._check_samples(self._total_num)
        return self._sum_loss / self._total_num


class _Error(Metric):
    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self._sum = self._samples = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._inputs(inputs, PAIR)
        if y_pred.shape != y.shape:
            y = y.reshape(y_pred.shape)
        self._sum += float(self._error(y_pred - y).sum())
        self._samples += len(y) if y.ndim else 1

    def eval(self):
        self._check_samples(self._samples)
        return self._sum / self._samples


class MAE(_Error):
    """The sum of absolute errors over the number of samples (rows)."""
    _error = staticmethod(np.abs)


class MSE(_Error):
    """The sum of squared errors over the number of samples (rows)."""
    _error = staticmethod(np.square)


class CosineSimilarity(Metric):
    """Similarity of every two rows: cosines, or dot products (``similarity='dot'``)."""

    def __init__(self, similarity="cosine", reduction="none", zero_diagonal=True):
        super().__init__()
        for name, value, allowed in (("similarity", similarity, ("dot", "cosine")), ("reduction", reduction, ("none", "sum", "mean"))):
            if value not in allowed:
                raise ValueError(f"For 'CosineSimilarity', the '{name}' must be in {allowed}, but got {value}.")
        if not isinstance(zero_diagonal, bool):
            raise TypeError(f"For 'CosineSimilarity', the 'zero_diagonal' must be bool, but got {type(zero_diagonal).__name__}.")
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, zero_diagonal
        self.clear()

    def clear(self):
        self.sqr_mtx_res = None

    @rearrange_inputs
    def update(self, inputs):
        x = self._convert_data(inputs)
        if x.ndim != 2:
            raise ValueError(f"For 'CosineSimilarity.update', the input must be 2-D, but got shape {x.shape}.")
        if self.similarity == "cosine":
            x = x / np.linalg.norm(x, axis=1, keepdims=True)
        self.sqr_mtx_res = x @ x.T

    def eval(self):
        if self.sqr_mtx_res is None:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        out = self.sqr_mtx_res.copy()
        if self.zero_diagonal:
            np.fill_diagonal(out, 0)
        return out.mean(-1) if self.reduction == "mean" else out.sum(-1) if self.reduction == "sum" else out


class Perplexity(Metric):
    """exp of the mean negative log probability of the labels; those equal to ``ignore_label`` count as certain."""

    def __init__(self, ignore_label=None):
        super().__init__()
        if ignore_label is not None and (not isinstance(ignore_label, int) or isinstance(ignore_label, bool)):
            raise TypeError(f"For 'Perplexity', the 'ignore_label' must be int or None, but got {type(ignore_label).__name__}.")
        self.ignore_label = ignore_label
        self.clear()

    def clear(self):
        self._sum, self._num = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs):
        probs, labels = self._inputs(inputs, ("preds", "labels"))
        if probs.size and labels.size * probs.shape[-1] != probs.size:
            raise RuntimeError(f"For 'Perplexity.update', predicted value and label do not match: {probs.shape} and {labels.shape}.")
        labels = labels.astype(np.int64).ravel()
        picked = probs.reshape(len(labels), -1)[np.arange(len(labels)), labels]
        n = len(labels)
        if self.ignore_label is not None:
            skip = labels == self.ignore_label
            n -= int(skip.sum())
            picked = np.where(skip, 1.0, picked)
        self._sum -= float(np.log(np.maximum(1e-10, picked)).sum())
        self._num += n

    def eval(self):
        self._check_samples(self._num)
        return math.exp(self._sum / self._num)


def _ngrams(words, n_gram):
    return Counter(tuple(words[i:i + n]) for n in range(1, n_gram + 1) for i in range(len(words) - n + 1))


class BleuScore(Metric):
    """BLEU of a corpus (Papineni et al. 2002): candidates (lists of words), each with its reference sentences."""

    def __init__(self, n_gram=4, smooth=False):
        super().__init__()
        if not isinstance(n_gram, int) or isinstance(n_gram, bool):
            raise TypeError(f"For 'BleuScore', the argument 'n_gram' must be an int, but got {type(n_gram).__name__}.")
        if not 1 <= n_gram <= 4:
            raise ValueError(f"For 'BleuScore', the argument 'n_gram' must be an int from 1 to 4, but got {n_gram}.")
        if not isinstance(smooth, bool):
            raise TypeError(f"For 'BleuScore', the 'smooth' must be bool, but got {type(smooth).__name__}.")
        self.n_gram, self.smooth = n_gram, smooth
        self.clear()

    def clear(self):
        self._matched, self._possible = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._c_len = self._r_len = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 2:
            raise ValueError(f"For 'BleuScore.update', it needs 2 inputs (candidate_corpus, reference_corpus), but got {len(inputs)}")
        candidates, references = inputs
        if len(candidates) != len(references):
            raise ValueError("For 'BleuScore.update', the number of candidates and of their references must be equal, but got "
                             f"{len(candidates)} and {len(references)}.")
        for words, refs in zip(candidates, references):
            self._c_len += len(words)
            self._r_len += len(min(refs, key=lambda r: abs(len(words) - len(r))))
            counts, best = _ngrams(words, self.n_gram), Counter()
            for r in refs:
                best |= _ngrams(r, self.n_gram)
            for gram, k in counts.items():
                self._possible[len(gram) - 1] += k
                self._matched[len(gram) - 1] += min(k, best[gram])
        self._is_update = True

    def eval(self):
        if not self._is_update:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        if self._matched.min() == 0 and not self.smooth:
            return 0.0
        matched, possible = (self._matched + 1, self._possible + 1) if self.smooth else (self._matched, self._possible)
        score = math.exp(np.log(matched / possible).mean())
        return score if self._c_len > self._r_len else score * math.exp(1 - self._r_len / self._c_len)


class Dice(Metric):
    """The sum over batches of 2 * |a * b| / (|a|^2 + |b|^2), over the number of rows."""

    def __init__(self, smooth=1e-5):
        super().__init__()
        if isinstance(smooth, bool) or not isinstance(smooth, float) or not smooth > 0:
            raise ValueError(f"For 'Dice', the 'smooth' must be a float above 0, but got {smooth}.")
        self.smooth = smooth
        self.clear()

    def clear(self):
        self._dice_coeff_sum = self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._inputs(inputs, PAIR)
        if y_pred.shape != y.shape:
            raise ValueError(f"For 'Dice.update', predicted value (input[0]) and true value (input[1]) should have same shape, but "
                             f"got predicted value shape: {y_pred.shape}, true value shape: {y.shape}.")
        a, b = y_pred.ravel().astype(np.float64), y.ravel().astype(np.float64)
        self._dice_coeff_sum += 2 * float(a @ b) / (float(a @ a) + float(b @ b) + self.smooth)
        self._samples_num += len(y)

    def eval(self):
        self._check_samples(self._samples_num)
        return self._dice_coeff_sum / self._samples_num
