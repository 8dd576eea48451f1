"""Callback: what Model.train, fit and eval call at their stages, and what they tell it."""
import contextlib

import numpy as np

from mindspore.common.tensor import Tensor

__all__ = ["Callback", "LambdaCallback", "RunContext", "InternalCallbackParam"]

STAGES = ("on_train_begin", "on_train_epoch_begin", "on_train_step_begin", "on_train_step_end", "on_train_epoch_end",
          "on_train_end", "on_eval_begin", "on_eval_epoch_begin", "on_eval_step_begin", "on_eval_step_end", "on_eval_epoch_end",
          "on_eval_end")
SHORT = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


class InternalCallbackParam(dict):
    """What a run tells its callbacks, by name: network, optimizer, cur_epoch_num, cur_step_num, net_outputs, ..."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"The run has no '{name}'.") from None

    def __setattr__(self, name, value):
        self[name] = value


_InternalCallbackParam = InternalCallbackParam


class RunContext:
    """Handed to callbacks: the facts of the run, and a way to stop it."""

    def __init__(self, original_args):
        if not isinstance(original_args, dict):
            raise TypeError("The argument 'original_args' of RunContext should be dict type, but got "
                            f"{type(original_args)}.")
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self):
        return self._original_args

    def request_stop(self):
        """The run ends after this step."""
        self._stop_requested = True

    def get_stop_requested(self):
        return self._stop_requested


def loss_of(net_outputs):
    """The loss in what a train step returned, as a float."""
    loss = net_outputs
    while isinstance(loss, (tuple, list)) and loss:
        loss = loss[0]
    return float(np.mean(loss.asnumpy() if isinstance(loss, Tensor) else loss))


_handle_loss = loss_of  # its name in existing callbacks


class Callback:
    """Base of callbacks: define the stages wanted. The short names (``begin``, ``epoch_end``, ``step_end``, ...) are called
    in training and in evaluation, the long ones in one of them."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        """Called at the end of a run, also of one that failed."""

    def begin(self, run_context):
        pass

    def epoch_begin(self, run_context):
        pass

    def epoch_end(self, run_context):
        pass

    def step_begin(self, run_context):
        pass

    def step_end(self, run_context):
        pass

    def end(self, run_context):
        pass

    def on_train_begin(self, run_context):
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context):
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context):
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context):
        self.step_begin(run_context)

    def on_train_step_end(self, run_context):
        self.step_end(run_context)

    def on_train_end(self, run_context):
        self.end(run_context)

    def on_eval_begin(self, run_context):
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context):
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context):
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context):
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context):
        self.step_end(run_context)

    def on_eval_end(self, run_context):
        self.end(run_context)


class LambdaCallback(Callback):
    """A callback from functions of the run context, one per stage."""

    def __init__(self, on_train_epoch_begin=None, on_train_epoch_end=None, on_train_step_begin=None, on_train_step_end=None,
                 on_train_begin=None, on_train_end=None, on_eval_epoch_begin=None, on_eval_epoch_end=None,
                 on_eval_step_begin=None, on_eval_step_end=None, on_eval_begin=None, on_eval_end=None):
        super().__init__()
        given = locals()
        for stage in STAGES:
            if given[stage] is not None:
                if not callable(given[stage]):
                    raise TypeError(f"For 'LambdaCallback', the '{stage}' must be callable, but got "
                                    f"{type(given[stage]).__name__}.")
                setattr(self, stage, given[stage])


class CallbackList(Callback):
    """Several callbacks as one; entered together and left in reverse."""

    def __init__(self, callbacks):
        if callbacks is None:
            callbacks = []
        elif isinstance(callbacks, Callback):
            callbacks = [callbacks]
        elif not isinstance(callbacks, (list, tuple)) or not all(isinstance(c, Callback) for c in callbacks):
            raise TypeError("When the 'callbacks' is a list, the elements in 'callbacks' must be Callback functions.")
        self._callbacks = list(callbacks)
        self._stack = contextlib.ExitStack()

    def __iter__(self):
        return iter(self._callbacks)

    def __enter__(self):
        for c in self._callbacks:
            self._stack.enter_context(c)
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)


def _all(stage):
    def call(self, run_context):
        for c in self._callbacks:
            getattr(c, stage)(run_context)
    call.__name__ = stage
    return call


for _stage in STAGES + SHORT:
    setattr(CallbackList, _stage, _all(_stage))
