"""Callbacks that watch a run: loss, time, history, early stopping, learning rates."""
import logging
import time

import numpy as np

from mindspore.common._rows import Rows
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.runtime import synchronize
from mindspore.train.callback._callback import Callback, loss_of

__all__ = ["LossMonitor", "TimeMonitor", "History", "EarlyStopping", "ReduceLROnPlateau", "LearningRateScheduler", "FlopsUtilizationCollector"]

_profile = Rows("_profile")
_log = logging.getLogger("mindspore")


def check_count(value, name, least=0):
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"The input value must be int and must {'>' if least else '>='} 0, but got '{value}' with type "
                         f"'{type(value).__name__}' for '{name}'.")
    return value


class LossMonitor(Callback):
    """Prints the loss every ``per_print_times`` steps (0: never), and ends the run when it is not finite."""

    def __init__(self, per_print_times=1):
        super().__init__()
        self._per_print_times = check_count(per_print_times, "per_print_times")
        self._last_print_time = 0

    def step_end(self, run_context):
        p = run_context.original_args()
        loss = loss_of(p.net_outputs)
        step = (p.cur_step_num - 1) % p.batch_num + 1
        if not np.isfinite(loss):
            raise ValueError(f"In epoch: {p.cur_epoch_num} step: {step}, loss is NAN or INF, training process cannot continue, "
                             "terminating training.")
        if p.cur_step_num <= self._last_print_time:  # a new run
            self._last_print_time = 0
        if self._per_print_times and p.cur_step_num - self._last_print_time >= self._per_print_times:
            self._last_print_time = p.cur_step_num
            self._print_loss(p, loss, step)

    @staticmethod
    def _print_loss(p, loss, step):
        print(f"epoch: {p.cur_epoch_num} step: {step}, loss is {loss}")

    def on_eval_step_end(self, run_context):
        """Evaluation has no training loss."""

    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        if p.get("metrics"):
            print(f"Eval result: epoch {p.cur_epoch_num}, metrics: {p.metrics}")


class TimeMonitor(Callback):
    """Prints the time of each epoch and the mean time of its steps; with ``data_time`` also the time spent waiting for data."""

    def __init__(self, data_size=None, data_time=False):
        super().__init__()
        self.data_size = data_size
        if not isinstance(data_time, bool):
            raise TypeError(f"For 'TimeMonitor', the 'data_time' must be bool, but got {type(data_time).__name__}.")
        self.data_time = data_time
        self._start = self._waited = self._idle = 0.0

    def epoch_begin(self, run_context):
        run_context.original_args()["timer_begin"] = self._start = self._idle = time.time()
        self._waited = 0.0

    def on_train_step_begin(self, run_context):
        self._waited += time.time() - self._idle

    def on_train_step_end(self, run_context):
        self._idle = time.time()

    def epoch_end(self, run_context):
        ms = (time.time() - self._start) * 1000
        p = run_context.original_args()
        steps = self.data_size if isinstance(self.data_size, int) and self.data_size > 0 else p.get("batch_num") or 1
        text = f"{p.get('mode', 'train').title()} epoch time: {ms:5.3f} ms, per step time: {ms / steps:5.3f} ms"
        if self.data_time:
            text += f" (data time: {self._waited * 1000 / steps:5.3f} ms)"
        print(text)


class History(Callback):
    """Records per epoch the loss and the metrics of evaluation: attributes ``epoch`` and ``history``."""

    def __init__(self):
        super().__init__()
        self.history, self.epoch = {}, {}

    def begin(self, run_context):
        self.history, self.epoch = {}, {}

    def on_eval_begin(self, run_context):
        """An evaluation within training does not begin a new history."""

    def epoch_end(self, run_context):
        p = run_context.original_args()
        self.epoch.setdefault("epoch", []).append(p.get("cur_epoch_num", 1))
        out = p.get("net_outputs")
        if out is not None:
            self.history.setdefault("net_output", []).append(loss_of(out))
        for name, value in (p.get("metrics") or {}).items():
            self.history.setdefault(name, []).append(value)

    def on_eval_epoch_end(self, run_context):
        """Recorded at the end of the epoch of training."""


def _optimizer(p):
    optimizer = p.get("optimizer") or getattr(p.get("train_network"), "optimizer", None)
    if optimizer is None:
        raise ValueError("This callback needs a run with an optimizer.")
    return optimizer


def _rates(optimizer):
    """The Parameters that hold constant learning rates."""
    found = optimizer.learning_rate
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    if not all(isinstance(lr, Parameter) and lr.ndim == 0 for lr in found):
        raise ValueError("The learning rate of the optimizer must be a number, not a schedule, to be changed by a callback.")
    return found


class _Plateau(Callback):
    """Knows whether the monitored quantity got better."""

    def __init__(self, monitor, mode, min_delta, patience, verbose):
        super().__init__()
        name = type(self).__name__
        if not isinstance(monitor, str):
            raise TypeError(f"For '{name}', the 'monitor' must be str, but got {type(monitor).__name__}.")
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"For '{name}', the 'mode' must be in ['auto', 'min', 'max'], but got {mode}.")
        if isinstance(min_delta, bool) or not isinstance(min_delta, (int, float)):
            raise TypeError(f"For '{name}', the 'min_delta' must be a number, but got {type(min_delta).__name__}.")
        if not isinstance(verbose, bool):
            raise TypeError(f"For '{name}', the 'verbose' must be bool, but got {type(verbose).__name__}.")
        self.monitor, self.mode, self.verbose = monitor, mode, verbose
        self.min_delta, self.patience = abs(min_delta), check_count(patience, "patience")
        self._up = mode == "max" or (mode == "auto" and "acc" in monitor)

    def _value(self, p):
        metrics = p.get("eval_results") or {}
        if self.monitor in metrics:
            value = metrics[self.monitor]
        elif self.monitor == "loss" and p.get("net_outputs") is not None:
            value = loss_of(p.net_outputs)
        else:
            _log.warning("For '%s', the monitored '%s' is not among the results of this epoch: %s.", type(self).__name__,
                         self.monitor, sorted({"loss", *metrics}))
            return None
        return float(np.mean(value.asnumpy() if isinstance(value, Tensor) else value))

    def _worst(self):
        return -np.inf if self._up else np.inf

    def _better(self, value, than):
        return value - self.min_delta > than if self._up else value + self.min_delta < than


class FlopsUtilizationCollector(Callback):
    """Prints the time of each of ``data_size`` steps and which share of the machine's ``computility`` (operations a second) their
    multiplications and additions are, those of products and convolutions, recomputed ones too. They are counted while the first
    step runs. ``full_flops`` chooses between those of all devices and of this one, which are the same."""

    def __init__(self, data_size, computility=1, full_flops=True, enable_ma_collector=False):
        super().__init__()
        if isinstance(data_size, bool) or not isinstance(data_size, int):
            raise TypeError(f"The 'data_size' must be int, but got '{type(data_size).__name__}'")
        self.data_size = check_count(data_size, "data_size", 1)
        if isinstance(computility, bool) or not isinstance(computility, (int, float)) or computility <= 0:
            raise ValueError(f"The 'computility' must be a number > 0, but got {computility}.")
        for name, value in (("full_flops", full_flops), ("enable_ma_collector", enable_ma_collector)):
            if not isinstance(value, bool):
                raise TypeError(f"The '{name}' must be a bool, but got {type(value).__name__}.")
        if enable_ma_collector:
            raise NotImplementedError("For 'FlopsUtilizationCollector', there is no collector outside: 'enable_ma_collector' must be False.")
        self.computility, self.full_flops = computility, full_flops
        self.full_model_flops = None
        self._since, self._before = 0.0, 0

    @staticmethod
    def _counted():
        return sum(row[5] for row in _profile.table())

    def step_begin(self, run_context):
        if self.full_model_flops is None:
            self._before = self._counted()
            _profile.start(False)
        self._since = time.perf_counter()

    def step_end(self, run_context):
        synchronize()
        seconds = time.perf_counter() - self._since
        if self.full_model_flops is None:
            _profile.stop()
            self.full_model_flops = float(self._counted() - self._before)
            print(f"Full model flops is {self.full_model_flops}, Shard model flops is {self.full_model_flops}.")
        share = self.full_model_flops / seconds / self.computility
        print(f"Train per step time: {seconds * 1e3:.3f} ms mfu:{share:.2%}")


class EarlyStopping(_Plateau):
    """Stops the run when ``monitor`` has not got better for ``patience`` epochs."""

    def __init__(self, monitor="eval_loss", min_delta=0, patience=0, verbose=False, mode="auto", baseline=None,
                 restore_best_weights=False):
        super().__init__(monitor, mode, min_delta, patience, verbose)
        if baseline is not None and (isinstance(baseline, bool) or not isinstance(baseline, (int, float))):
            raise TypeError(f"For 'EarlyStopping', the 'baseline' must be a number or None, but got {type(baseline).__name__}.")
        if not isinstance(restore_best_weights, bool):
            raise TypeError("For 'EarlyStopping', the 'restore_best_weights' must be bool, but got "
                            f"{type(restore_best_weights).__name__}.")
        self.baseline, self.restore_best_weights = baseline, restore_best_weights
        self._reset()

    def _reset(self):
        self.wait = self.stopped_epoch = 0
        self.best = self._worst() if self.baseline is None else self.baseline
        self.best_weights = None

    def on_train_begin(self, run_context):
        self._reset()

    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        value = self._value(p)
        if value is None:
            return
        self.wait += 1
        if self._better(value, self.best):
            self.best, self.wait = value, 0
            if self.restore_best_weights:
                self.best_weights = {q.name: Parameter(q.copy(), name=q.name) for q in p.train_network.get_parameters()}
        if self.wait and self.wait >= self.patience:
            self.stopped_epoch = p.cur_epoch_num
            run_context.request_stop()
            if self.best_weights:
                if self.verbose:
                    print("Restoring model weights from the end of the best epoch.")
                for q in p.train_network.get_parameters():
                    q.assign_value(self.best_weights[q.name])

    def on_train_end(self, run_context):
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")


class ReduceLROnPlateau(_Plateau):
    """Multiplies the learning rate by ``factor`` when ``monitor`` has not got better for ``patience`` epochs."""

    def __init__(self, monitor="eval_loss", factor=0.1, patience=10, verbose=False, mode="auto", min_delta=1e-4, cooldown=0,
                 min_lr=0):
        super().__init__(monitor, mode, min_delta, patience, verbose)
        if isinstance(factor, bool) or not isinstance(factor, float) or not 0 < factor < 1:
            raise ValueError(f"For 'ReduceLROnPlateau', the 'factor' must be a float between 0 and 1, but got {factor}.")
        if isinstance(min_lr, bool) or not isinstance(min_lr, (int, float)) or min_lr < 0:
            raise ValueError(f"For 'ReduceLROnPlateau', the 'min_lr' must be a number, at least 0, but got {min_lr}.")
        self.factor, self.min_lr, self.cooldown = factor, min_lr, check_count(cooldown, "cooldown")
        self._reset()

    def _reset(self):
        self.wait = self.cooldown_counter = 0
        self.best = self._worst()

    def on_train_begin(self, run_context):
        self._reset()

    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        value = self._value(p)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value, self.best):
            self.best, self.wait = value, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._lower(p)
                self.cooldown_counter, self.wait = self.cooldown, 0

    def _lower(self, p):
        for lr in _rates(_optimizer(p)):
            old = float(lr)
            if old > self.min_lr:
                new = max(old * self.factor, self.min_lr)
                lr.assign_value(Tensor(new, lr.dtype))
                if self.verbose:
                    print(f"Epoch {p.cur_epoch_num:05d}: ReduceLROnPlateau reducing learning rate to {np.float32(new)!s}.")


class LearningRateScheduler(Callback):
    """Before each following step sets the learning rate to ``learning_rate_function(learning rate, step)``."""

    def __init__(self, learning_rate_function):
        super().__init__()
        if not callable(learning_rate_function):
            raise TypeError("For 'LearningRateScheduler', the 'learning_rate_function' must be callable, but got "
                            f"{type(learning_rate_function).__name__}.")
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context):
        p = run_context.original_args()
        for lr in _rates(_optimizer(p)):
            old = float(lr)
            new = self.learning_rate_function(old, p.cur_step_num)
            if new != old:
                lr.assign_value(Tensor(new, lr.dtype))

    def on_eval_step_end(self, run_context):
        """Evaluation does not step."""
