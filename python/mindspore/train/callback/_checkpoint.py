"""Callbacks that save: checkpoints at intervals, and a backup from which an interrupted run goes on."""
import os
import re
import time

from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._monitor import check_count
from mindspore.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint, wait_async

__all__ = ["CheckpointConfig", "ModelCheckpoint", "BackupAndRestore"]


def _check_bool(who, **values):
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeError(f"For '{who}', the '{name}' must be bool, but got {type(value).__name__}.")


class CheckpointConfig:
    """When to save a checkpoint (every so many steps or seconds), how many to keep, and how to write them.

    ``append_info`` adds entries to each: the names "epoch_num", "step_num", "lr" and "loss_scale", or dicts of further
    values (Tensor, Parameter, number, str or a function without arguments).
    """

    def __init__(self, save_checkpoint_steps=1, save_checkpoint_seconds=0, keep_checkpoint_max=5,
                 keep_checkpoint_per_n_minutes=0, integrated_save=True, async_save=False, saved_network=None, append_info=None,
                 enc_key=None, enc_mode="AES-GCM", exception_save=False, crc_check=False, remove_redundancy=False, format="ckpt",
                 **kwargs):
        for name in kwargs:
            if name not in ("incremental", "map_param_inc"):
                raise TypeError(f"For 'CheckpointConfig', unknown argument '{name}'.")
        numbers = {"save_checkpoint_steps": save_checkpoint_steps, "save_checkpoint_seconds": save_checkpoint_seconds,
                   "keep_checkpoint_max": keep_checkpoint_max, "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes}
        for name, value in numbers.items():
            if value is not None:
                check_count(value, name)
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(f"For 'CheckpointConfig', the type of 'saved_network' must be None or Cell, but got "
                            f"{type(saved_network)}.")
        if not (save_checkpoint_steps or save_checkpoint_seconds or keep_checkpoint_max or keep_checkpoint_per_n_minutes):
            raise ValueError("For 'CheckpointConfig', the input arguments 'save_checkpoint_steps', 'save_checkpoint_seconds', "
                             "'keep_checkpoint_max' and 'keep_checkpoint_per_n_minutes' can't be all None or 0.")
        if format not in ("ckpt", "safetensors"):
            raise ValueError(f"For 'CheckpointConfig', the 'format' must be 'ckpt' or 'safetensors', but got {format}.")
        _check_bool("CheckpointConfig", integrated_save=integrated_save, exception_save=exception_save, crc_check=crc_check,
                    remove_redundancy=remove_redundancy)
        if async_save not in (True, False, "thread", "process"):
            raise ValueError(f"For 'CheckpointConfig', the 'async_save' must be bool, 'thread' or 'process', but got {async_save}.")
        # Steps count before seconds, a maximal number before minutes.
        self._steps, self._seconds = save_checkpoint_steps or None, None if save_checkpoint_steps else save_checkpoint_seconds or None
        self._max, self._minutes = keep_checkpoint_max or None, None if keep_checkpoint_max else keep_checkpoint_per_n_minutes or None
        if self._steps is None and self._seconds is None:
            self._steps = 1
        self._integrated_save, self._async_save, self._network = integrated_save, async_save, saved_network
        self._enc_key, self._enc_mode, self._crc_check = enc_key, enc_mode, crc_check
        self.exception_save, self._redundancy, self._format = exception_save, remove_redundancy, format
        self._map_param_inc = kwargs.get("incremental", kwargs.get("map_param_inc", False))
        self._append_names, self._append_values = self._append(append_info)

    @staticmethod
    def _append(append_info):
        names, values = set(), {}
        if append_info is not None and not isinstance(append_info, list):
            raise TypeError(f"For 'CheckpointConfig', the type of 'append_info' must be list, but got {type(append_info)}.")
        for entry in append_info or ():
            if isinstance(entry, dict):
                for name, value in entry.items():
                    if not isinstance(name, str):
                        raise TypeError(f"For 'CheckpointConfig', the keys of 'append_info' must be str, but got {type(name)}.")
                    if not isinstance(value, (Tensor, int, float, str)) and not callable(value):
                        raise TypeError(f"For 'CheckpointConfig', the value of '{name}' in 'append_info' must be a Tensor, Parameter, "
                                        f"number, str or function, but got {type(value)}.")
                    values[name] = value
            elif entry in ("epoch_num", "step_num", "lr", "loss_scale"):
                names.add(entry)
            else:
                raise TypeError("For 'CheckpointConfig', the elements of 'append_info' must be dict or one of 'epoch_num', 'step_num', "
                                f"'lr' and 'loss_scale', but got {entry}.")
        return names, values

    save_checkpoint_steps = property(lambda self: self._steps)
    save_checkpoint_seconds = property(lambda self: self._seconds)
    keep_checkpoint_max = property(lambda self: self._max)
    keep_checkpoint_per_n_minutes = property(lambda self: self._minutes)
    integrated_save = property(lambda self: self._integrated_save)
    async_save = property(lambda self: self._async_save)
    saved_network = property(lambda self: self._network)
    enc_key = property(lambda self: self._enc_key)
    enc_mode = property(lambda self: self._enc_mode)
    crc_check = property(lambda self: self._crc_check)
    remove_redundancy = property(lambda self: self._redundancy)
    format = property(lambda self: self._format)
    map_param_inc = property(lambda self: self._map_param_inc)

    @property
    def append_dict(self):
        """What ``append_info`` asked for: names of the run, and values."""
        return {**{name: None for name in sorted(self._append_names)}, **self._append_values}

    def get_checkpoint_policy(self):
        return {"save_checkpoint_steps": self._steps, "save_checkpoint_seconds": self._seconds, "keep_checkpoint_max": self._max,
                "keep_checkpoint_per_n_minutes": self._minutes, "saved_network": self._network}

    def _entries(self, p):
        """The entries to append for the run described by ``p``; None when there are none."""
        found = {}
        if "epoch_num" in self._append_names:
            found["epoch_num"] = p.cur_epoch_num
        if "step_num" in self._append_names:
            found["step_num"] = p.cur_step_num
        if "lr" in self._append_names and p.get("optimizer") is not None:
            lr = p.optimizer.get_lr()
            found["lr"] = lr[0] if isinstance(lr, (tuple, list)) else lr
        if "loss_scale" in self._append_names and p.get("loss_scale_mananger") is not None:
            found["loss_scale"] = p.loss_scale_mananger.get_loss_scale()
        found.update((name, value() if callable(value) and not isinstance(value, Tensor) else value)
                     for name, value in self._append_values.items())
        return found or None


class ModelCheckpoint(Callback):
    """Saves ``{prefix}-{epoch}_{step}.ckpt`` in ``directory``, and a last one at the end of training. When a run of the same
    prefix already left files there, a number is added to the prefix."""

    def __init__(self, prefix="CKP", directory=None, config=None):
        super().__init__()
        if not (callable(prefix) or (isinstance(prefix, str) and "/" not in prefix)):
            raise ValueError("For 'ModelCheckpoint', the argument 'prefix' for checkpoint file name is invalid, it must be callable or "
                             f"string that does not contain '/', but got {prefix}.")
        if directory is not None and not (isinstance(directory, (str, os.PathLike)) or callable(directory)):
            raise ValueError(f"For 'ModelCheckpoint', the argument 'directory' must be str or callable, but got {directory}.")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"For 'ModelCheckpoint', the type of argument 'config' should be 'CheckpointConfig', but got {type(config)}.")
        self._prefix, self._directory = prefix, directory
        self._config = config or CheckpointConfig()
        self._latest = ""
        self._name = None          # of this run
        self._saved = []           # (path, time), oldest first
        self._last_step = self._last_time = 0
        self._context = None

    @property
    def latest_ckpt_file_name(self):
        """The path of the newest checkpoint, '' when there is none."""
        return self._latest

    def begin(self, run_context):
        self._context = run_context
        self._last_step, self._last_time = 0, time.time()
        self._name, self._saved = None, []

    def step_end(self, run_context):
        p = run_context.original_args()
        if p.get("mode") == "eval":
            return
        c = self._config
        due = (p.cur_step_num - self._last_step >= c.save_checkpoint_steps if c.save_checkpoint_steps
               else time.time() - self._last_time >= c.save_checkpoint_seconds)
        if due:
            self._save(p)

    def end(self, run_context):
        p = run_context.original_args()
        if p.get("mode") != "eval" and p.get("cur_step_num", 0) > self._last_step:
            self._save(p)
        if self._config.async_save:
            wait_async()

    def on_eval_begin(self, run_context):
        """Evaluation saves nothing."""

    on_eval_end = on_eval_step_end = on_eval_begin

    def __exit__(self, kind, error, trace):
        if error is not None and self._config.exception_save and self._context is not None:
            p = self._context.original_args()
            self._save(p, "_breakpoint")

    def _place(self, p):
        """Folder and prefix of this run."""
        folder = self._directory(p) if callable(self._directory) else self._directory
        folder = os.path.abspath(os.fspath(folder) if folder else ".")
        os.makedirs(folder, exist_ok=True)
        if callable(self._prefix):
            return folder, self._prefix(p)
        if self._name is None:
            taken = re.compile(re.escape(self._prefix) + r"(?:_(\d+))?-\d+_\d+\." + self._config.format)
            runs = [int(m.group(1) or 0) for m in map(taken.fullmatch, os.listdir(folder)) if m]
            self._name = f"{self._prefix}_{max(runs) + 1}" if runs else self._prefix
        return folder, self._name

    def _save(self, p, mark=""):
        folder, prefix = self._place(p)
        c = self._config
        step = (p.cur_step_num - 1) % p.batch_num + 1
        place = "" if callable(self._prefix) else f"-{p.cur_epoch_num}_{step}"  # a function names the whole file
        path = os.path.join(folder, f"{prefix}{place}{mark}.{c.format}")
        self._make_room()
        save_checkpoint(c.saved_network or p.train_network, path, c.integrated_save, c.async_save, c._entries(p), c.enc_key, c.enc_mode,
                        crc_check=c.crc_check, format=c.format)
        self._latest = path
        self._last_step, self._last_time = p.cur_step_num, time.time()
        self._saved = [entry for entry in self._saved if entry[0] != path] + [(path, self._last_time)]
        p["last_save_ckpt_step"], p["latest_ckpt_file"] = p.cur_step_num, path

    def _make_room(self):
        """Removes checkpoints of this run that the limits do not keep."""
        c = self._config
        if c.keep_checkpoint_max:
            while len(self._saved) >= c.keep_checkpoint_max:
                self._remove(self._saved.pop(0)[0])
        elif c.keep_checkpoint_per_n_minutes:
            kept = []
            for path, at in self._saved:  # the first of each span of minutes stays
                if kept and at - kept[-1][1] < 60 * c.keep_checkpoint_per_n_minutes:
                    self._remove(path)
                else:
                    kept.append((path, at))
            self._saved = kept

    @staticmethod
    def _remove(path):
        if os.path.exists(path):
            os.remove(path)


class BackupAndRestore(Callback):
    """Writes the state of the run to ``backup_dir`` every epoch (``save_freq`` 'epoch') or so many steps; a run that begins
    where such a backup lies goes on from it. Removed at the end unless ``delete_checkpoint`` is False."""

    def __init__(self, backup_dir, save_freq="epoch", delete_checkpoint=True):
        super().__init__()
        if not isinstance(backup_dir, (str, os.PathLike)):
            raise ValueError(f"For 'BackupAndRestore', the 'backup_dir' must be str, but got {backup_dir}.")
        if save_freq != "epoch":
            check_count(save_freq, "save_freq", 1)
        _check_bool("BackupAndRestore", delete_checkpoint=delete_checkpoint)
        self.save_freq, self.delete_checkpoint = save_freq, delete_checkpoint
        os.makedirs(backup_dir, exist_ok=True)
        self.backup_file = os.path.join(os.path.abspath(backup_dir), "backup.ckpt")

    def _save(self, p, epoch):
        save_checkpoint(p.train_network, self.backup_file, append_dict={"epoch_num": epoch})

    def on_train_begin(self, run_context):
        if not os.path.exists(self.backup_file):
            return
        p = run_context.original_args()
        found = load_checkpoint(self.backup_file)
        epoch = int(found.pop("epoch_num"))
        load_param_into_net(p.train_network, found)
        p["initial_epoch"] = epoch

    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        if self.save_freq == "epoch":
            self._save(p, p.cur_epoch_num)

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        if self.save_freq != "epoch" and p.cur_step_num % self.save_freq == 0:
            self._save(p, p.cur_epoch_num - 1)

    def on_train_end(self, run_context):
        if self.delete_checkpoint and os.path.exists(self.backup_file):
            os.remove(self.backup_file)
