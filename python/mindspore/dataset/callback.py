"""Callbacks of a map: functions of the user that learn how far the pipeline is, and may hold it back."""
import threading

from mindspore.train.callback import Callback

from . import _check, config

__all__ = ['DSCallback', 'WaitedDSCallback']


class DSCallback:
    """Override what is wanted. Step functions are called at every step_size-th row, from the first row of an epoch on."""

    def __init__(self, step_size=1):
        self.step_size = _check.integer('step_size', step_size, 1)

    def ds_begin(self, ds_run_context):
        """The pipeline begins."""

    def ds_epoch_begin(self, ds_run_context):
        """An epoch begins."""

    def ds_epoch_end(self, ds_run_context):
        """An epoch has ended."""

    def ds_step_begin(self, ds_run_context):
        """A row is about to be mapped."""

    def ds_step_end(self, ds_run_context):
        """A row has been mapped."""


class WaitedDSCallback(Callback, DSCallback):
    """Also a callback of the training: an epoch or a step of the pipeline begins when the training is done with the one
    before. step_size is the number of rows of a training step."""

    def __init__(self, step_size=1):
        super().__init__()
        DSCallback.__init__(self, step_size)
        self._change = threading.Condition()
        self._reset()

    def _reset(self):
        self._epochs = self._steps = self._begun = 0  # steps: trained, and begun here, in this epoch
        self._epoch_context = self._step_context = None
        self._ended = False

    def __deepcopy__(self, memo):
        return self

    def sync_epoch_begin(self, train_run_context, ds_run_context):
        """An epoch of the pipeline begins, and the training has ended the one before."""

    def sync_step_begin(self, train_run_context, ds_run_context):
        """A step of the pipeline begins, and the training has ended the one before."""

    def _wait(self, what, reached):
        seconds = config.get_callback_timeout()
        with self._change:
            if not self._change.wait_for(lambda: self._ended or reached(), seconds):
                raise RuntimeError(f'{what} timed out after {seconds} second(s).')
            return not self._ended

    def ds_begin(self, ds_run_context):
        with self._change:
            self._reset()

    def ds_epoch_begin(self, ds_run_context):
        self._begun = 0
        done = ds_run_context.cur_epoch_num - 1
        if done and self._wait('ds_epoch_begin', lambda: self._epochs >= done):
            self.sync_epoch_begin(self._epoch_context, ds_run_context)

    def ds_step_begin(self, ds_run_context):
        if ds_run_context.cur_step_num > 1 and self._wait('ds_step_begin', lambda: self._steps >= self._begun):
            self.sync_step_begin(self._step_context, ds_run_context)
        self._begun += 1

    # what the training calls

    def epoch_end(self, run_context):
        with self._change:
            self._epochs, self._steps, self._epoch_context = self._epochs + 1, 0, run_context
            self._change.notify_all()

    def step_end(self, run_context):
        with self._change:
            self._steps, self._step_context = self._steps + 1, run_context
            self._change.notify_all()

    def end(self, run_context):
        with self._change:
            self._ended = True
            self._change.notify_all()


class RunContext:
    """What callbacks of a map are told: the epoch and the step, counted from 1."""

    def __init__(self, epoch, step_in_epoch, step):
        self.cur_epoch_num, self.cur_step_num_in_epoch, self.cur_step_num = epoch, step_in_epoch, step


EPOCH_BEGIN, ROW, EPOCH_END = range(3)  # what the library tells


class Watch:
    """Calls the callbacks of a map: `before` stands before it and `after` behind it."""

    def __init__(self, callbacks):
        self._callbacks = callbacks

    # what an iterator calls, as for workers

    def start(self):
        for c in self._callbacks:
            base = WaitedDSCallback if isinstance(c, WaitedDSCallback) else DSCallback
            if all(getattr(type(c), s) is getattr(base, s) for s in dir(base) if s.startswith(('ds_', 'sync_'))):
                raise AttributeError('Inheriting Callback class without overriding any methods, check the usage of user '
                                     'defined Callback.')
        self._begun = False

    def interrupt(self):
        for c in self._callbacks:
            if isinstance(c, WaitedDSCallback):
                c.end(None)

    def stop(self):
        """Nothing of it runs on its own."""

    def before(self, event, epoch, step, total):
        if event == EPOCH_BEGIN and not self._begun:
            self._begun = True
            self._tell('ds_begin', RunContext(0, 0, 0))
        if event == EPOCH_BEGIN:
            self._tell('ds_epoch_begin', RunContext(epoch + 1, 0, total))
        elif event == ROW:
            self._step('ds_step_begin', epoch, step, total)

    def after(self, event, epoch, step, total):
        if event == EPOCH_END:
            self._tell('ds_epoch_end', RunContext(epoch + 1, step, total))
        elif event == ROW:
            self._step('ds_step_end', epoch, step, total)

    def _tell(self, stage, context):
        for c in self._callbacks:
            getattr(c, stage)(context)

    def _step(self, stage, epoch, step, total):
        for c in self._callbacks:
            if (step - 1) % c.step_size == 0:
                getattr(c, stage)(RunContext(epoch + 1, step, total))
