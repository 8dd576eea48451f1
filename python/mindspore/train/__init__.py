"""Training over datasets: Model, its callbacks and metrics, checkpoints, loss scaling, summaries."""
import importlib as _importlib

# Where a public name lives; imported when it is first named.
_LAZY = {
    'mindspore.train.model': 'Model',
    'mindspore.train.amp': 'build_train_network auto_mixed_precision custom_mixed_precision get_white_list get_black_list',
    'mindspore.train.dataset_helper': 'DatasetHelper connect_network_with_dataset data_sink',
    'mindspore.train.loss_scale_manager': 'LossScaleManager FixedLossScaleManager DynamicLossScaleManager',
    'mindspore.train.callback': 'Callback LambdaCallback RunContext LossMonitor TimeMonitor FlopsUtilizationCollector History EarlyStopping ReduceLROnPlateau '
                                'LearningRateScheduler CheckpointConfig ModelCheckpoint BackupAndRestore OnRequestExit SummaryCollector TrainFaultTolerance',
    'mindspore.train.metrics': 'Metric rearrange_inputs names get_metric_fn Accuracy Precision Recall Fbeta F1 '
                               'TopKCategoricalAccuracy Top1CategoricalAccuracy Top5CategoricalAccuracy ROC auc ConfusionMatrix '
                               'ConfusionMatrixMetric Loss MAE MSE CosineSimilarity Perplexity BleuScore Dice HausdorffDistance '
                               'MeanSurfaceDistance RootMeanSquareDistance OcclusionSensitivity',
    'mindspore.train.serialization': 'save_checkpoint load_checkpoint load_checkpoint_async load_param_into_net '
                                     'async_ckpt_thread_status ckpt_to_safetensors safetensors_to_ckpt',
    'mindspore.train.model_files': 'export load load_mindir save_mindir',
    'mindspore.train.summary': 'SummaryRecord',
}
_HOME = {name: module for module, names in _LAZY.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name in _HOME:
        value = getattr(_importlib.import_module(_HOME[name]), name)
    elif 'mindspore.train.' + name in _LAZY:
        return _importlib.import_module('mindspore.train.' + name)
    else:
        raise AttributeError(f"module 'mindspore.train' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
