"""SummaryRecord and SummaryCollector: logs of a training run in the event files that TensorBoard reads.

An event file is a sequence of framed records (see the library's record.c), each an `Event` message of TensorFlow's
event.proto; the few fields used here are encoded directly.
"""
import os
import re
import socket
import struct
import threading
import time
import zlib

import numpy as np

from mindspore.common._rows import format as _format
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.callback import Callback
from mindspore.train.callback._callback import loss_of
from mindspore.train.callback._monitor import check_count

__all__ = ["SummaryRecord", "SummaryCollector"]


# ---- messages ----

def _varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes_field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _double_field(number, value):
    return _varint(number << 3 | 1) + struct.pack("<d", value)


def _event(step, what):
    return _double_field(1, time.time()) + _varint(2 << 3) + _varint(step) + what


def _value(tag, content):
    return _bytes_field(1, _bytes_field(1, tag.encode()) + content)


def _scalar(value):
    return _varint(2 << 3 | 5) + struct.pack("<f", value)


def _png(pixels):
    """[height, width, channels] bytes as a PNG file (RFC 2083), without filters."""
    h, w, c = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, {1: 0, 3: 2, 4: 6}[c], 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))


def _image(x):
    """The first image of [batch, channels, height, width]: bytes as they are, floats scaled to the range they span."""
    x = x[0]
    if x.dtype != np.uint8:
        low, high = float(np.nanmin(x)), float(np.nanmax(x))
        x = np.nan_to_num((x.astype(np.float64) - low) * (255 / (high - low) if high > low else 0)).astype(np.uint8)
    c, h, w = x.shape
    return _bytes_field(4, b"".join((_varint(1 << 3), _varint(h), _varint(2 << 3), _varint(w), _varint(3 << 3), _varint(c),
                                     _bytes_field(4, _png(np.ascontiguousarray(x.transpose(1, 2, 0)))))))


def _histogram(x):
    x = x.astype(np.float64).ravel()
    x = x[np.isfinite(x)]
    if not x.size:
        x = np.zeros(1)
    counts, edges = np.histogram(x, min(90, max(1, x.size)))
    limits = struct.pack(f"<{len(counts)}d", *edges[1:])
    return _bytes_field(5, b"".join(_double_field(k, v) for k, v in enumerate((x.min(), x.max(), x.size, x.sum(), (x * x).sum()), 1)) +
                        _bytes_field(6, limits) + _bytes_field(7, struct.pack(f"<{len(counts)}d", *counts)))


def _text(value):
    """A `TensorProto` of one string, marked for the text view."""
    metadata = _bytes_field(1, _bytes_field(1, b"text"))
    tensor = _varint(1 << 3) + _varint(7) + _bytes_field(2, _bytes_field(2, _varint(1 << 3) + _varint(1))) + _bytes_field(8, value)
    return _bytes_field(9, metadata) + _bytes_field(8, tensor)


_PLUGINS = ("scalar", "image", "tensor", "histogram", "text", "graph", "train_lineage", "eval_lineage", "dataset_graph",
            "custom_lineage_data", "landscape")


# ---- records ----

class SummaryRecord:
    """Writes values of steps to an event file in ``log_dir``: ``add_value`` as often as wanted, then ``record(step)``.

    Plugins: 'scalar' (one number), 'image' ([batch, 1 or 3, height, width]), 'histogram' and 'tensor' (any numbers, shown
    as a histogram), 'text' (str). Lineage and graph values are not part of event files and are refused.
    """

    def __init__(self, log_dir, file_prefix="events", file_suffix="_MS", num_process=32, network=None, max_file_size=None,
                 raise_exception=False, export_options=None):
        for name, value in (("log_dir", log_dir), ("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(value, (str, os.PathLike)):
                raise TypeError(f"For 'SummaryRecord', the '{name}' must be str, but got {type(value).__name__}.")
        check_count(num_process, "num_process", 1)
        if network is not None and not isinstance(network, Cell):
            raise TypeError(f"For 'SummaryRecord', the 'network' must be a Cell or None, but got {type(network).__name__}.")
        if max_file_size is not None:
            check_count(max_file_size, "max_file_size", 1)
        if not isinstance(raise_exception, bool):
            raise TypeError(f"For 'SummaryRecord', the 'raise_exception' must be bool, but got {type(raise_exception).__name__}.")
        if export_options is not None:
            raise NotImplementedError("For 'SummaryRecord', 'export_options' is not supported: values are in the event file.")
        self._dir = os.path.abspath(os.fspath(log_dir))
        os.makedirs(self._dir, exist_ok=True)
        self.network, self._max, self._raise = network, max_file_size, raise_exception
        name = f"{file_prefix}.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}{file_suffix}"
        self.full_file_name = os.path.join(self._dir, name)
        self._values, self._size, self._full, self._closed, self._mode = [], 0, False, False, "train"
        self._lock = threading.Lock()
        self._write(_double_field(1, time.time()) + _bytes_field(3, b"brain.Event:2"))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def log_dir(self):
        return self.full_file_name

    def set_mode(self, mode):
        """'train' or 'eval': values of an evaluation get tags of their own."""
        if mode not in ("train", "eval"):
            raise ValueError(f"For 'SummaryRecord.set_mode', the 'mode' must be 'train' or 'eval', but got {mode}.")
        self._mode = mode

    def add_value(self, plugin, name, value):
        """Keeps a value for the next ``record``."""
        if plugin not in _PLUGINS:
            raise ValueError(f"For 'SummaryRecord.add_value', the 'plugin' must be in {_PLUGINS[:5]}, but got {plugin}.")
        if plugin not in _PLUGINS[:5]:
            raise NotImplementedError(f"For 'SummaryRecord.add_value', the plugin '{plugin}' is not supported.")
        if not isinstance(name, str):
            raise TypeError(f"For 'SummaryRecord.add_value', the 'name' must be str, but got {type(name).__name__}.")
        if not name or any(n == name and p == plugin for p, n, _ in self._values):
            raise ValueError(f"For 'SummaryRecord.add_value', the 'name' must not be empty or used twice for '{plugin}', but got '{name}'.")
        if plugin == "text":
            if not isinstance(value, str):
                raise TypeError(f"For 'SummaryRecord.add_value', a text must be str, but got {type(value).__name__}.")
            self._values.append((plugin, name, _text(value.encode())))
            return
        if not isinstance(value, (Tensor, np.ndarray, int, float)):
            raise TypeError(f"For 'SummaryRecord.add_value', the 'value' must be a Tensor or a number, but got {type(value).__name__}.")
        x = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        if plugin == "scalar" and x.size != 1:
            raise ValueError(f"For 'SummaryRecord.add_value', a scalar must be one number, but got shape {x.shape}.")
        if plugin == "image" and (x.ndim != 4 or x.shape[1] not in (1, 3) or not x.size):
            raise ValueError(f"For 'SummaryRecord.add_value', an image must have the shape [batch, 1 or 3, height, width], but got {x.shape}.")
        make = {"scalar": lambda: _scalar(float(x.reshape(()))), "image": lambda: _image(x)}.get(plugin, lambda: _histogram(x))
        self._values.append((plugin, name, make()))

    def record(self, step, train_network=None, plugin_filter=None):
        """Writes the values kept since the last call, those that ``plugin_filter(plugin)`` accepts if given. False: not written."""
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(f"For 'SummaryRecord.record', the 'step' must be int, but got {type(step).__name__}.")
        if self._closed:
            return False
        values, self._values = self._values, []
        mode = "" if self._mode == "train" else self._mode + "/"
        content = b"".join(_value(mode + name, value) for plugin, name, value in values if plugin_filter is None or plugin_filter(plugin))
        return self._write(_event(step, _bytes_field(5, content))) if content else True

    def _write(self, record):
        with self._lock:
            if self._full or (self._max is not None and self._size + len(record) + 16 > self._max):
                if not self._full and self._raise:
                    raise RuntimeError(f"The event file '{self.full_file_name}' reached 'max_file_size' {self._max}.")
                self._full = True
                return False
            _format.record_append(self.full_file_name, Tensor(np.frombuffer(record, np.uint8)))
            self._size += len(record) + 16
            return True

    def flush(self):
        """Every record is in the file when ``record`` returns."""

    def close(self):
        self._closed = True


class SummaryCollector(Callback):
    """Records a run every ``collect_freq`` steps: loss, learning rate, the first input if it is an image, histograms of
    Parameters, and the metrics of evaluations.

    ``collect_specified_data`` chooses among 'collect_metric', 'collect_input_data' (bool each) and 'histogram_regular' (a
    regular expression over names of Parameters); without it and with ``keep_default_action`` all that is collected
    for the first five Parameters. The keys for graphs and lineage are accepted as False only.
    """

    _KEYS = ("collect_metric", "collect_graph", "collect_train_lineage", "collect_eval_lineage", "collect_input_data",
             "collect_dataset_graph", "histogram_regular", "collect_landscape")

    def __init__(self, summary_dir, collect_freq=10, num_process=32, collect_specified_data=None, keep_default_action=True,
                 custom_lineage_data=None, collect_tensor_freq=None, max_file_size=None, export_options=None):
        super().__init__()
        self._freq = check_count(collect_freq, "collect_freq", 1)
        if not isinstance(keep_default_action, bool):
            raise TypeError(f"For 'SummaryCollector', the 'keep_default_action' must be bool, but got {type(keep_default_action).__name__}.")
        if custom_lineage_data is not None:
            raise NotImplementedError("For 'SummaryCollector', 'custom_lineage_data' is not supported.")
        if collect_tensor_freq is not None:
            check_count(collect_tensor_freq, "collect_tensor_freq")
        chosen = collect_specified_data
        if chosen is not None and not isinstance(chosen, dict):
            raise TypeError(f"For 'SummaryCollector', the 'collect_specified_data' must be dict or None, but got {type(chosen).__name__}.")
        for key, value in (chosen or {}).items():
            if key not in self._KEYS:
                raise ValueError(f"For 'SummaryCollector', the key of 'collect_specified_data' must be in {self._KEYS}, but got {key}.")
            if not isinstance(value, str if key == "histogram_regular" else bool) and value is not None:
                raise TypeError(f"For 'SummaryCollector', the value of '{key}' in 'collect_specified_data' is of the wrong type: "
                                f"{type(value).__name__}.")
            if value and key in ("collect_graph", "collect_train_lineage", "collect_eval_lineage", "collect_dataset_graph",
                                 "collect_landscape"):
                raise NotImplementedError(f"For 'SummaryCollector', '{key}' is not supported.")
        self._data = {**(dict(collect_metric=True, collect_input_data=True) if keep_default_action else {}), **(chosen or {})}
        self._default_histogram = keep_default_action and "histogram_regular" not in self._data
        self._summary_dir, self._max, self._options, self._n = summary_dir, max_file_size, export_options, num_process
        self._record = None
        self._step = 0

    def __enter__(self):
        self._record = SummaryRecord(self._summary_dir, num_process=self._n, max_file_size=self._max, export_options=self._options)
        return self

    def __exit__(self, *error):
        self._record.close()

    def begin(self, run_context):
        self._record.set_mode("train" if run_context.original_args().mode == "train" else "eval")

    def on_eval_end(self, run_context):
        p = run_context.original_args()
        if self._data.get("collect_metric"):
            for name, value in p.metrics.items():
                if np.size(value) == 1:
                    self._record.add_value("scalar", f"metric/{name}", float(np.reshape(value, ())))
            self._record.record(self._step)
        self._record.set_mode("train")

    def on_eval_step_end(self, run_context):
        """Only the metrics of an evaluation are recorded."""

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        self._step = p.cur_step_num
        if (self._step - 1) % self._freq:
            return
        if self._data.get("collect_metric"):
            self._record.add_value("scalar", "loss", loss_of(p.net_outputs))
            if p.get("optimizer") is not None:
                lr = p.optimizer.get_lr()
                self._record.add_value("scalar", "learning_rate", float(lr[0] if isinstance(lr, (tuple, list)) else lr))
        if self._data.get("collect_input_data"):
            x = next((e for e in p.train_dataset_element if isinstance(e, Tensor) and e.ndim == 4 and e.shape[1] in (1, 3)), None)
            if x is not None:
                self._record.add_value("image", "input_data", x)
        self._histograms(p)
        self._record.record(self._step)

    def _histograms(self, p):
        params = [q for q in p.train_network.trainable_params()] if p.get("train_network") is not None else []
        regular = self._data.get("histogram_regular")
        if regular is not None:
            params = [q for q in params if re.match(regular, q.name)]
        elif self._default_histogram:
            params = params[:5]
        else:
            return
        for q in params:
            self._record.add_value("histogram", q.name, q)
