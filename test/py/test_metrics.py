"""Metrics: values worked out by hand or recorded from the original, errors."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import nn
from mindspore.train import metrics as M

SCORES, LABELS = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]
MULTI, MULTI_TRUE = [[0, 1, 0], [1, 0, 1], [0, 0, 1]], [[0, 1, 0], [1, 1, 1], [0, 1, 1]]
TOP = [[0.2, 0.5, 0.3, 0.6, 0.2], [0.1, 0.35, 0.5, 0.2, 0.0], [0.9, 0.6, 0.2, 0.01, 0.3]]
A, B = [[3, 0, 1], [1, 3, 0], [1, 0, 2]], [[0, 2, 1], [1, 2, 1], [0, 0, 1]]

VALUES = [
    (M.Accuracy(), (SCORES, LABELS), 2 / 3), (M.Accuracy(), (SCORES, [[0, 1], [1, 0], [1, 0]]), 1.0),
    (M.Accuracy('multilabel'), (MULTI, MULTI_TRUE), 1 / 3),
    (M.Precision(), (SCORES, LABELS), [0.5, 1]), (M.Precision('multilabel'), (MULTI, MULTI_TRUE), [1, 1, 1]),
    (M.Recall(), (SCORES, LABELS), [1, 0.5]), (M.Recall('multilabel'), (MULTI, MULTI_TRUE), [1, 2 / 3, 0.5]),
    (M.Fbeta(2), (SCORES, LABELS), [5 / 6, 5 / 9]), (M.F1(), (SCORES, LABELS), [2 / 3, 2 / 3]),
    (M.MAE(), ([0.1, 0.2, 0.6, 0.9], [0.1, 0.25, 0.7, 0.9]), 0.0375), (M.MSE(), ([[0.1, 0.2]], [[0.4, 0.25]]), 0.0925),
    (M.Loss(), ([1.0, 2.0],), 1.5),
    (M.Top1CategoricalAccuracy(), (TOP, [2, 0, 1]), 0), (M.TopKCategoricalAccuracy(3), (TOP, [2, 0, 1]), 2 / 3),
    (M.TopKCategoricalAccuracy(3), (TOP[:2], [[0, 0, 1, 0, 0], [1, 0, 0, 0, 0]]), 0.5),
    (M.ConfusionMatrix(2), ([1, 0, 1, 0], [1, 0, 0, 1]), [[1, 1], [1, 1]]),
    (M.ConfusionMatrix(2, threshold=0.5), ([0.1, 0.7, 0.6], [0, 1, 0]), [[1, 1], [0, 1]]),
    (M.ConfusionMatrix(3, 'target'), ([0, 1, 2, 2], [0, 1, 1, 2]), [[1, 0, 0], [0, .5, .5], [0, 0, 1]]),
    (M.CosineSimilarity(similarity='dot'), ([[1, 3, 4, 7], [2, 4, 2, 5], [3, 1, 5, 8]],), [[0, 57, 82], [57, 0, 60], [82, 60, 0]]),
    (M.CosineSimilarity(reduction='sum'), ([[1, 3, 4, 7], [2, 4, 2, 5], [3, 1, 5, 8]],), [1.89188067, 1.80171714, 1.8130855]),
    (M.Dice(), (SCORES, [[0, 1], [1, 0], [0, 1]]), 0.2046779137180255),
    (M.Perplexity(), (SCORES, LABELS), 2.231443166940565), (M.Perplexity(0), (SCORES, LABELS), 1.8257418583505536),
    (M.HausdorffDistance(), (A, B, 0), 2 ** 0.5), (M.HausdorffDistance('chessboard'), (A, B, 0), 1),
    (M.HausdorffDistance('taxicab'), (A, B, 0), 2), (M.HausdorffDistance(percentile=50.0, directed=True), (A, B, 0), 1),
    (M.MeanSurfaceDistance(), (A, B, 0), 0.8047378541243649), (M.MeanSurfaceDistance(symmetric=True), (A, B, 0), 0.7357022603955158),
    (M.RootMeanSquareDistance(symmetric=True, distance_metric='taxicab'), (A, B, 0), 1.0801234497346435),
    (M.MeanSurfaceDistance(symmetric=True), ([[1, 0, 0, 0]], [[1, 1, 1, 1]], 1), (0 + 1.5) / 2),
    (M.RootMeanSquareDistance(symmetric=True), ([[1, 0, 0, 0]], [[1, 1, 1, 1]], 1), ((0 + 3.5) / 2) ** 0.5),
]


def tensors(inputs):
    return [ms.Tensor(np.array(x)) if isinstance(x, list) else x for x in inputs]


@pytest.mark.parametrize('metric,inputs,want', VALUES, ids=lambda v: type(v).__name__ if isinstance(v, M.Metric) else '')
def test_value(metric, inputs, want):
    np.testing.assert_allclose(metric(*tensors(inputs)), want, rtol=1e-6)


def test_updates_accumulate():
    whole, parts = M.Precision(), M.Precision()
    x, y = np.random.RandomState(0).rand(12, 3), np.random.RandomState(1).randint(0, 3, 12)
    for k in range(0, 12, 4):
        parts.update(x[k:k + 4], y[k:k + 4])
    np.testing.assert_array_equal(parts.eval(), whole(x, y))
    assert parts.eval(average=True) == pytest.approx(parts.eval().mean())


@pytest.mark.parametrize('make', [M.Accuracy, M.Precision, M.Recall, M.F1])
def test_classes_of_positions(make):
    """[n, class, h, w] counts as n * h * w samples."""
    r = np.random.RandomState(0)
    x, y = r.rand(2, 3, 4, 5), r.randint(0, 3, (2, 4, 5))
    np.testing.assert_array_equal(make()(x, y), make()(x.transpose(0, 2, 3, 1).reshape(-1, 3), y.ravel()))
    np.testing.assert_array_equal(make()(x, np.eye(3)[y].transpose(0, 3, 1, 2)), make()(x, y))


def test_bleu():
    m = M.BleuScore()
    said = [['i', 'have', 'a', 'pen', 'on', 'my', 'desk']]
    refs = [[['i', 'have', 'a', 'pen', 'in', 'my', 'desk'], ['there', 'is', 'a', 'pen', 'on', 'the', 'desk']]]
    assert m(said, refs) == pytest.approx(0.5946035575013605)
    assert M.BleuScore(2, True)(said, refs) == pytest.approx(0.9258200997725514)


def test_roc_and_auc():
    fpr, tpr, thresholds = M.ROC(pos_label=1)(np.array([3, 1, 4, 2]), np.array([0, 1, 2, 3]))
    np.testing.assert_allclose(fpr, [0, 1 / 3, 2 / 3, 1, 1])
    np.testing.assert_array_equal(tpr, [0, 0, 0, 0, 1])
    np.testing.assert_array_equal(thresholds, [5, 4, 3, 2, 1])
    assert M.auc(np.array([0., .25, .5, 1.]), np.array([0., .5, .75, 1.])) == 0.65625
    per_class = M.ROC(class_num=2)(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    assert len(per_class) == 3 and len(per_class[0]) == 2


def test_confusion_rates():
    x, y = np.array([[[0], [1]], [[1], [0]]]), np.array([[[0], [1]], [[0], [1]]])
    np.testing.assert_allclose(M.ConfusionMatrixMetric(metric_name='tpr')(x, y), [0.5])
    p, t = np.random.RandomState(0).randint(0, 2, (2, 3, 4, 5))
    tp, tn = (p & t).sum(), ((1 - p) & (1 - t)).sum()
    for name, want in (('accuracy', (tp + tn) / p.size), ('ppv', tp / p.sum()), ('recall', tp / t.sum()),
                       ('f1 score', 2 * tp / (p.sum() + t.sum()))):
        m = M.ConfusionMatrixMetric(skip_channel=False, metric_name=name)
        np.testing.assert_allclose(m(p, t), [want])
    m = M.ConfusionMatrixMetric(skip_channel=False, metric_name='accuracy', calculation_method=True, decrease='mean_batch')
    np.testing.assert_allclose(m(p, t), (p == t).mean((0, 2)))


def test_occlusion():
    class Total(nn.Cell):
        def construct(self, x):
            return ms.ops.stack([x.sum((1, 2, 3)), x.max((1, 2, 3))], 1)
    image = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    change, best = M.OcclusionSensitivity(margin=0, n_batch=5)(Total(), image, np.array([0]))
    np.testing.assert_array_equal(change, image[0, 0])
    assert (best == 0).all()


def test_names_and_indexes():
    assert 'acc' in M.names() and isinstance(M.get_metric_fn('acc'), M.Accuracy)
    with pytest.raises(KeyError, match='zz'):
        M.get_metric_fn('zz')
    m = M.Accuracy().set_indexes([0, 2])
    assert m(np.array(SCORES), np.array([9]), np.array(LABELS)) == pytest.approx(2 / 3)


@pytest.mark.parametrize('make,error', [
    (lambda: M.Accuracy('zz'), TypeError), (lambda: M.Accuracy().eval(), RuntimeError), (lambda: M.Accuracy().update(1), ValueError),
    (lambda: M.Accuracy().update('x', 'y'), TypeError), (lambda: M.Loss().update(1, 2), ValueError),
    (lambda: M.Precision()(np.ones((1, 2)), np.array([5])), ValueError), (lambda: M.TopKCategoricalAccuracy(0), ValueError),
    (lambda: M.TopKCategoricalAccuracy('1'), TypeError), (lambda: M.ConfusionMatrix(2, 'zz'), ValueError),
    (lambda: M.auc([0, 1], [0, 1]), TypeError), (lambda: M.Fbeta(0), ValueError), (lambda: M.BleuScore().eval(), RuntimeError),
    (lambda: M.HausdorffDistance('zz'), ValueError), (lambda: M.ConfusionMatrixMetric(metric_name='zz'), NotImplementedError),
    (lambda: M.ConfusionMatrixMetric(skip_channel=1), TypeError), (lambda: M.Metric().eval(), NotImplementedError),
])
def test_errors(make, error):
    with pytest.raises(error):
        make()
