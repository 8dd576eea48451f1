"""Model: trains, evaluates and applies a network over datasets."""
import itertools
import logging

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.context import ParallelMode
from mindspore.nn.cell import Cell
from mindspore.nn.wrap import TrainOneStepCell, WithEvalCell, WithLossCell
from mindspore.train.callback import InternalCallbackParam, RunContext
from mindspore.train.callback._callback import CallbackList, loss_of
from mindspore.train.dataset_helper import DatasetHelper
from mindspore.train.metrics import Loss, get_metrics

__all__ = ["Model"]

_log = logging.getLogger("mindspore")
_KWARGS = ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level")
_LEVELS = ("O0", "O1", "O2", "O3", "auto")


def _check_positive(value):
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"The input value must be int and must > 0, but got '{value}' with type '{type(value).__name__}'.")
    return value


def _check_bool(value):
    if not isinstance(value, bool):
        raise TypeError(f"The input value must be a bool, but got {type(value).__name__}.")
    return value


class Model:
    """A network with its loss, optimizer and metrics.

    With ``loss_fn`` the network maps data to predictions and batches are (data, label); without it the network returns the
    loss itself. ``amp_level`` and the ``loss_scale_manager`` set mixed precision. Evaluation uses ``eval_network``, or the
    network and its loss; ``eval_indexes`` are the positions of loss, prediction and label in what ``eval_network`` returns.
    """

    def __init__(self, network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level="O0",
                 boost_level="O0", **kwargs):
        if not isinstance(network, Cell):
            raise TypeError(f"The type of 'network' should be 'Cell', but got type '{type(network).__name__}'.")
        for name in kwargs:
            if name not in _KWARGS:
                raise ValueError("The argument in 'kwargs' should be 'loss_scale_manager' or 'keep_batchnorm_fp32' or 'boost_config_dict' "
                                 f"or 'acc_level', but got '{name}'.")
        if amp_level not in _LEVELS:
            raise ValueError(f"For 'Model', the 'amp_level' must be in {_LEVELS}, but got {amp_level}.")
        if boost_level not in ("O0", "O1", "O2"):
            raise ValueError(f"For 'Model', the 'boost_level' must be in ['O0', 'O1', 'O2'], but got {boost_level}.")
        if boost_level != "O0" or kwargs.get("boost_config_dict"):
            raise NotImplementedError("For 'Model', 'boost_level' other than 'O0' is not supported.")
        if optimizer is None and (amp_level != "O0" or kwargs.get("loss_scale_manager") is not None):
            what = "Auto mixed precision" if amp_level != "O0" else "Loss scaling"
            raise ValueError(f"{what} will not work because 'optimizer' is None.Please set amp_level='O0' to disable auto mixed precision "
                             "or set 'optimizer' not be None to use auto mixed precision.")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._amp_level = amp_level
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._amp_options = {name: kwargs[name] for name in ("keep_batchnorm_fp32", "loss_scale_manager") if name in kwargs}
        self._train_network = self._build_train_network()
        self._metric_fns = self._eval_network = None
        self._build_eval_network(metrics, eval_network, eval_indexes)
        self._device_number = 1
        self._parallel_mode = ParallelMode.STAND_ALONE

    # ---- networks ----

    train_network = property(lambda self: self._train_network)
    eval_network = property(lambda self: self._eval_network)
    predict_network = property(lambda self: self._network)

    def _build_train_network(self):
        if self._amp_level == "O0" and self._loss_scale_manager is None:
            network = self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)
            return network if self._optimizer is None else TrainOneStepCell(network, self._optimizer).set_train()
        from mindspore.train.amp import build_train_network  # only for mixed precision
        return build_train_network(self._network, self._optimizer, self._loss_fn, level=self._amp_level, **self._amp_options)

    def _build_eval_network(self, metrics, eval_network, eval_indexes):
        self._metric_fns = get_metrics(metrics)
        if eval_network is not None:
            if eval_indexes is not None and not (isinstance(eval_indexes, list) and len(eval_indexes) == 3):
                raise ValueError("The argument 'eval_indexes' must be a list or None. If 'eval_indexes' is a list, length of it must be "
                                 f"three. But got 'eval_indexes' {eval_indexes}.")
            self._eval_network, self._eval_indexes = eval_network, eval_indexes
        elif self._loss_fn is not None:
            self._eval_network = WithEvalCell(self._network, self._loss_fn, self._amp_level in ("O2", "O3", "auto"))
            self._eval_indexes = [0, 1, 2]
        elif self._metric_fns:
            raise ValueError("If `metrics` is set, `eval_network` must not be None. Do not set `metrics` if you don't want an evaluation.")

    # ---- metrics ----

    def _clear_metrics(self):
        for metric in self._metric_fns.values():
            metric.clear()

    def _update_metrics(self, outputs):
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        if not isinstance(outputs, tuple):
            raise ValueError(f"The argument 'outputs' should be tuple, but got {type(outputs)}.")
        if self._eval_indexes and len(outputs) < 3:
            raise ValueError("The length of 'outputs' must be >= 3, but got {}".format(len(outputs)))
        for metric in self._metric_fns.values():
            if metric.indexes is not None or not self._eval_indexes:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                metric.update(outputs[self._eval_indexes[0]])
            else:
                metric.update(outputs[self._eval_indexes[1]], outputs[self._eval_indexes[2]])

    # ---- running ----

    @staticmethod
    def _no_sink(sink):
        if _check_bool(sink):
            _log.info("The CPU has no dataset sink mode: the run goes step by step.")

    @staticmethod
    def _size(dataset, name):
        size = getattr(dataset, "get_dataset_size", None)
        if size is None:
            raise TypeError(f"For 'Model', the '{name}' must be a dataset, but got {type(dataset).__name__}.")
        size = size()
        if size == 0:
            raise ValueError(f"For 'Model', the '{name}' is empty: there is no data to process.")
        return size

    def _params(self, mode, callbacks, **more):
        return InternalCallbackParam(mode=mode, network=self._network, dataset_sink_mode=False, list_callback=callbacks, cur_step_num=0,
                                     **more)

    def train(self, epoch, train_dataset, callbacks=None, dataset_sink_mode=False, sink_size=-1, initial_epoch=0):
        """Trains for ``epoch`` epochs, the first of them numbered ``initial_epoch`` + 1.

        ``dataset_sink_mode`` has no effect on the CPU; with a positive ``sink_size`` an epoch is that many steps.
        """
        self._run_train(epoch, train_dataset, None, 1, callbacks, dataset_sink_mode, sink_size, initial_epoch, "train")

    def fit(self, epoch, train_dataset, valid_dataset=None, valid_frequency=1, callbacks=None, dataset_sink_mode=False,
            valid_dataset_sink_mode=False, sink_size=-1, initial_epoch=0):
        """Trains, and evaluates on ``valid_dataset`` after every ``valid_frequency`` epochs (or after those it lists)."""
        _check_bool(valid_dataset_sink_mode)
        frequency = valid_frequency
        if not isinstance(frequency, (int, list)) or isinstance(frequency, bool):
            raise TypeError(f"For Model.fit, the type of 'valid_frequency' must be a list or a integer, but got {type(frequency)}.")
        for value in frequency if isinstance(frequency, list) else [frequency]:
            _check_positive(value)
        if valid_dataset is not None and not self._metric_fns:
            raise ValueError("For Model.fit, if valid_dataset is not None, the model argument 'metrics' can not be None or empty, you should "
                             "set the argument 'metrics' for model.")
        self._run_train(epoch, train_dataset, valid_dataset, frequency, callbacks, dataset_sink_mode, sink_size, initial_epoch, "fit")

    def _run_train(self, epoch, train_dataset, valid_dataset, valid_frequency, callbacks, sink, sink_size, initial_epoch, who):
        _check_positive(epoch)
        self._no_sink(sink)
        if not isinstance(initial_epoch, int) or isinstance(initial_epoch, bool) or initial_epoch < 0:
            raise ValueError(f"For 'Model.{who}', the parameter 'initial_epoch' must be an int, at least 0, but got {initial_epoch}.")
        if initial_epoch >= epoch:
            raise ValueError(f"For 'Model.{who}', the parameter 'epoch' must bigger than parameter 'initial_epoch', but got the parameter "
                             f"'epoch' is {epoch}, 'initial_epoch' is {initial_epoch}.")
        if not isinstance(sink_size, int) or isinstance(sink_size, bool) or sink_size == 0 or sink_size < -1:
            raise ValueError(f"For 'Model.{who}', The argument 'sink_size' must be -1 or positive, but got {sink_size}.")
        if self._optimizer is None and self._loss_fn is not None:
            raise ValueError(f"For 'Model.{who}', the 'optimizer' of the model must not be None.")
        size = self._size(train_dataset, "train_dataset")
        sink_size = sink_size if sink else -1
        batches = sink_size if sink_size > 0 else size
        chain = CallbackList(callbacks)
        p = self._params("train", list(chain), train_network=self._train_network, train_dataset=train_dataset, optimizer=self._optimizer,
                         loss_fn=self._loss_fn, epoch_num=epoch, batch_num=batches, parallel_mode=self._parallel_mode,
                         device_number=self._device_number, loss_scale_mananger=self._loss_scale_manager, initial_epoch=initial_epoch,
                         last_save_ckpt_step=None, latest_ckpt_file=None, train_dataset_element=None, initial_step=initial_epoch * batches)
        if valid_dataset is not None:
            p["valid_dataset"] = valid_dataset
        context = RunContext(p)
        with chain:
            self._train_epochs(p, context, chain, train_dataset, sink_size, valid_dataset, valid_frequency)

    def _train_epochs(self, p, context, chain, train_dataset, sink_size, valid_dataset, valid_frequency):
        """sink_size > 0: steps of an epoch, which then may begin and end within the dataset."""
        chain.on_train_begin(context)
        p.cur_step_num = p.initial_step = p.initial_epoch * p.batch_num
        helper = DatasetHelper(train_dataset, False, epoch_num=p.epoch_num)
        stream = itertools.chain.from_iterable(itertools.repeat(helper)) if sink_size > 0 else None
        try:
            for p.cur_epoch_num in range(p.initial_epoch + 1, p.epoch_num + 1):
                self._train_network.set_train()
                self._train_network.phase = "train"
                chain.on_train_epoch_begin(context)
                for element in helper if stream is None else itertools.islice(stream, sink_size):
                    self._train_step(p, context, chain, element)
                    if context.get_stop_requested():
                        break
                if valid_dataset is not None and self._is_valid_epoch(p.cur_epoch_num, valid_frequency):
                    p["metrics"] = self._eval(valid_dataset, chain)
                    p["eval_results"] = {**p["metrics"], **({} if self._eval_loss is None else {"eval_loss": self._eval_loss})}
                chain.on_train_epoch_end(context)
                p.pop("metrics", None)
                p.pop("eval_results", None)
                if context.get_stop_requested():
                    break
        finally:
            helper.release()
        chain.on_train_end(context)

    @staticmethod
    def _is_valid_epoch(epoch, frequency):
        return epoch in frequency if isinstance(frequency, list) else epoch % frequency == 0

    def _train_step(self, p, context, chain, element):
        p.train_dataset_element = element
        p.cur_step_num += 1
        chain.on_train_step_begin(context)
        outputs = self._train_network(*element)
        p.net_outputs = outputs
        manager = self._loss_scale_manager
        if manager is not None and manager.get_drop_overflow_update() and isinstance(outputs, tuple) and len(outputs) == 3:
            manager.update_loss_scale(bool(np.all(outputs[1].asnumpy())))
        chain.on_train_step_end(context)

    def eval(self, valid_dataset, callbacks=None, dataset_sink_mode=False):
        """The metrics over a dataset, by name."""
        self._no_sink(dataset_sink_mode)
        if not self._metric_fns:
            raise ValueError("For Model.eval, the model argument 'metrics' can not be None or empty, you should set the argument 'metrics' for "
                             "model.")
        chain = CallbackList(callbacks)
        with chain:
            return self._eval(valid_dataset, chain)

    def _eval(self, valid_dataset, chain):
        self._clear_metrics()
        p = self._params("eval", list(chain), eval_network=self._eval_network, valid_dataset=valid_dataset,
                         batch_num=self._size(valid_dataset, "valid_dataset"))
        context = RunContext(p)
        self._eval_loss = None  # of the last batch, as in the original
        self._eval_network.set_train(False)
        self._eval_network.phase = "eval"
        chain.on_eval_begin(context)
        chain.on_eval_epoch_begin(context)
        for element in DatasetHelper(valid_dataset, False):
            p.cur_step_num += 1
            p.eval_dataset_element = element
            chain.on_eval_step_begin(context)
            outputs = self._eval_network(*element)
            p.net_outputs = outputs
            chain.on_eval_step_end(context)
            self._update_metrics(outputs)
            if context.get_stop_requested():
                break
        if isinstance(self._eval_network, WithEvalCell) and p.cur_step_num:
            self._eval_loss = loss_of(p.net_outputs)
        p.metrics = {name: metric.eval() for name, metric in self._metric_fns.items()}
        chain.on_eval_epoch_end(context)
        chain.on_eval_end(context)
        return p.metrics

    def predict(self, *predict_data, backend=None, config=None):
        """What the network gives for these inputs, in evaluation mode."""
        if backend not in (None, "lite"):
            raise ValueError(f"For Model.predict, the 'backend' must be None or 'lite', but got {backend}.")
        if backend == "lite" or config is not None:
            raise NotImplementedError("For Model.predict, the backend 'lite' is not supported.")
        if not predict_data:
            raise ValueError("For Model.predict, the inputs must not be empty.")
        self._network.set_train(False)
        self._network.phase = "predict"
        return self._network(*predict_data)

    def build(self, train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1, sink_mode=True):
        """Checks the datasets; graphs are compiled at the first step, in milliseconds."""
        _check_positive(epoch)
        _check_bool(sink_mode)
        for name, dataset in (("train_dataset", train_dataset), ("valid_dataset", valid_dataset)):
            if dataset is not None:
                self._size(dataset, name)

    def infer_train_layout(self, train_dataset, dataset_sink_mode=True, sink_size=-1):
        raise RuntimeError("For 'Model.infer_train_layout', the parallel mode must be semi_auto_parallel or auto_parallel, but it is "
                           f"{self._parallel_mode}.")

    def infer_predict_layout(self, *predict_data, skip_backend_compile=False):
        raise RuntimeError("For 'Model.infer_predict_layout', the parallel mode must be semi_auto_parallel or auto_parallel, but it is "
                           f"{self._parallel_mode}.")
