"""Metrics of trained networks, and the names under which Model takes them."""
from mindspore.train.metrics import classification, confusion, regression, surface
from mindspore.train.metrics.classification import *  # noqa: F403
from mindspore.train.metrics.confusion import *  # noqa: F403
from mindspore.train.metrics.metric import Metric, rearrange_inputs
from mindspore.train.metrics.regression import *  # noqa: F403
from mindspore.train.metrics.surface import *  # noqa: F403

__all__ = ["Metric", "rearrange_inputs", "names", "get_metric_fn", "get_metrics", *classification.__all__, *confusion.__all__,
           *regression.__all__, *surface.__all__]

_NAMES = {
    "accuracy": Accuracy, "acc": Accuracy, "precision": Precision, "recall": Recall, "F1": F1, "topk": TopKCategoricalAccuracy,
    "top_1_accuracy": Top1CategoricalAccuracy, "top_5_accuracy": Top5CategoricalAccuracy, "roc": ROC, "auc": auc, "loss": Loss,
    "mae": MAE, "mse": MSE, "cosine_similarity": CosineSimilarity, "perplexity": Perplexity, "bleu_score": BleuScore,
    "dice": Dice, "confusion_matrix": ConfusionMatrix, "confusion_matrix_metric": ConfusionMatrixMetric,
    "hausdorff_distance": HausdorffDistance, "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance, "occlusion_sensitivity": OcclusionSensitivity,
}


def names():
    """All names of metrics."""
    return sorted(_NAMES)


def get_metric_fn(name, *args, **kwargs):
    """The metric of this name, made with the other arguments."""
    if name not in _NAMES:
        raise KeyError(f"For 'get_metric_fn', unsupported metric {name}, please refer to official website for more details about "
                       "supported metrics.")
    return _NAMES[name](*args, **kwargs)


def get_metrics(metrics):
    """{name: Metric} from a set or list of names, or such a dict."""
    if metrics is None:
        return {}
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError("For 'get_metrics', if the argument 'metrics' is dict, the key and value must be str and Metric, but got "
                                f"{type(name).__name__} and {type(metric).__name__}.")
        return metrics
    if not isinstance(metrics, (set, list)):
        raise TypeError(f"For 'get_metrics', the argument 'metrics' must be None, dict or set, but got {metrics}")
    return {name: get_metric_fn(name) for name in metrics}
