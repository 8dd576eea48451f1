"""A callback that ends training or evaluation after the current step when it is asked to, and saves the network."""
import json
import os
import signal

from mindspore.train.callback._callback import Callback
from mindspore.train.serialization import save_checkpoint

__all__ = ["OnRequestExit"]


class OnRequestExit(Callback):
    """Ends after the current step when the process gets the signal ``sig``, or when the file ``config_file`` (JSON) says
    ``{"GracefulExit": 1}``; the checkpoint and the MindIR file (of a training step: the network with its loss) then lie in
    ``directory``/rank_0."""

    def __init__(self, save_ckpt=True, save_mindir=True, file_name="Net", directory="./", config_file=None, sig=signal.SIGTERM):
        for name, value, kind in (("save_ckpt", save_ckpt, bool), ("save_mindir", save_mindir, bool), ("file_name", file_name, str),
                                  ("directory", directory, str), ("sig", sig, int)):
            if not isinstance(value, kind):
                raise ValueError(f"The parameter '{name}' must be isinstance of {kind}, but got {value}.")
        if config_file is not None and not isinstance(config_file, str):
            raise ValueError(f"The parameter 'config_file' must be isinstance of {str}, but got {config_file}.")
        if sig in (signal.SIGKILL, signal.SIGSTOP) or sig not in signal.valid_signals():
            raise ValueError(f"Not support send exit request by signal {getattr(sig, 'name', sig)}.")
        self.save_ckpt, self.save_mindir, self.config_file, self.sig = save_ckpt, save_mindir, config_file, sig
        self._path = os.path.join(os.path.abspath(directory), "rank_0", file_name)
        self.stop, self._former, self._depth = False, None, 0

    def _begin(self):
        if self._depth == 0:  # evaluation may run inside training
            self.stop = False
            self._former = signal.signal(self.sig, self._asked)
        self._depth += 1

    def _asked(self, number, frame):
        self.stop = True

    def _end(self, run_context, network, suffix):
        self._depth -= 1
        if self._depth == 0:
            signal.signal(self.sig, self._former)
        if self.stop:
            self._save(network, suffix, run_context.original_args().get(suffix + "_dataset_element"))

    def _save(self, network, suffix, element):
        from mindspore.train import export
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        if self.save_ckpt:
            save_checkpoint(network, f"{self._path}_{suffix}.ckpt")
        if self.save_mindir:
            element = element if isinstance(element, (tuple, list)) else (element,)
            export(getattr(network, "network", network), *element, file_name=f"{self._path}_{suffix}", file_format="MINDIR")

    def _look(self, run_context):
        if self.config_file is not None and os.path.isfile(self.config_file):
            with open(self.config_file) as file:
                self.stop |= json.load(file).get("GracefulExit") == 1
        if self.stop:
            run_context.request_stop()

    def on_train_begin(self, run_context):
        self._begin()

    def on_train_step_begin(self, run_context):
        self._look(run_context)  # the step that begins is not broken off

    def on_train_step_end(self, run_context):
        self._look(run_context)

    def on_train_epoch_end(self, run_context):
        self._look(run_context)

    def on_train_end(self, run_context):
        self._end(run_context, run_context.original_args().train_network, "train")

    def on_eval_begin(self, run_context):
        self._begin()

    def on_eval_step_end(self, run_context):
        self._look(run_context)

    def on_eval_end(self, run_context):
        self._end(run_context, run_context.original_args().eval_network, "eval")
