"""SummaryRecord: logs of a training run in the event files that TensorBoard reads.

An event file is a sequence of framed records (see the library's record.c), each an `Event` message of TensorFlow's
event.proto; the few fields used here are encoded directly.
"""
import os
import socket
import struct
import threading
import time
import zlib

import numpy as np

from mindspore.common._rows import format as _format
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.summary.enums import PluginEnum

__all__ = ["SummaryRecord"]


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


_PLUGINS = tuple(p.value for p in PluginEnum)
_WRITTEN = _PLUGINS[:5]
_DEFAULT_EXPORT_OPTIONS = {"tensor_format": {"npy", None}}


def check_type(name, value, *kinds):
    """Raises a TypeError unless the value is of one of these types; a bool is no int."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"For `{name}` the type should be a valid type of {[k.__name__ for k in kinds]}, but got {type(value).__name__}.")


def check_positive(who, name, value):
    """The int ``value``, which must be above zero."""
    check_type(name, value, int)
    if value <= 0:
        raise ValueError(f'For "{who}", the value of `{name}` should be greater than 0, but got `{value}`.')
    return value


def check_dir(log_dir):
    """The absolute path of a folder that is there or can be made."""
    if not isinstance(log_dir, (str, os.PathLike)):
        raise TypeError(f"The summary_dir is invalid, the type should be string. But got {type(log_dir)}.")
    if not str(log_dir).strip():
        raise ValueError("The summary_dir is invalid, it should be non-blank.")
    path = os.path.realpath(os.fspath(log_dir))
    if os.path.lexists(path) and not os.path.isdir(path):
        raise NotADirectoryError(f"The summary_dir is invalid, the given path '{path}' is not a directory.")
    os.makedirs(path, exist_ok=True)
    return path


def check_export_options(options):
    """Raises unless the options are None or say how tensors are written to files of their own."""
    check_type("export_options", options, dict, type(None))
    unknown = set(options or {}) - set(_DEFAULT_EXPORT_OPTIONS)
    if unknown:
        raise ValueError(f'For "SummaryRecord", the keys {unknown} of "export_options" are unsupported, expect the follow keys: '
                         f"{list(_DEFAULT_EXPORT_OPTIONS)}")
    for key, value in (options or {}).items():
        if value not in _DEFAULT_EXPORT_OPTIONS[key]:
            raise ValueError(f'For "SummaryRecord", the export_format {({value})} of "export_options" are unsupported for {key}, '
                             f"expect the follow values: {list(_DEFAULT_EXPORT_OPTIONS[key])}")


# ---- what the summary operators of a network say ----

_told = {}  # (plugin, name): the newest value, while a SummaryRecord is open
_open = 0


def check_shape(plugin, name, shape, size):
    """Raises unless a value of this shape can be shown as such."""
    if plugin == "scalar" and size != 1:
        raise ValueError(f"For '{name}', a scalar must be one number, but got shape {shape}.")
    if plugin == "image" and (len(shape) != 4 or shape[1] not in (1, 3) or not size):
        raise ValueError(f"For '{name}', an image must have the shape [batch, 1 or 3, height, width], but got {shape}.")


def tell(plugin, name, value):
    """Keeps the value of a summary operator for the next ``record``."""
    if _open:
        _told[plugin, name] = np.array(value.asnumpy())  # a graph's next step writes into the memory of this one


# ---- records ----

class SummaryRecord:
    """Writes values of steps to an event file in ``log_dir``: those of ``add_value`` and of the summary operators that ran since the
    last ``record(step)``.

    Plugins: 'scalar' (one number), 'image' ([batch, 1 or 3, height, width]), 'histogram' and 'tensor' (any numbers, shown
    as a histogram; with the export option ``{"tensor_format": "npy"}`` also as files), 'text' (str). Lineage and graph values are
    not part of event files and are refused.
    """

    def __init__(self, log_dir, file_prefix="events", file_suffix="_MS", num_process=32, network=None, max_file_size=None,
                 raise_exception=False, export_options=None):
        self._dir = check_dir(log_dir)
        for name, value in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(value, str):
                raise TypeError(f"For 'SummaryRecord', the '{name}' must be str, but got {type(value).__name__}.")
        check_positive("SummaryRecord", "num_process", num_process)
        if network is not None and not isinstance(network, Cell):
            raise TypeError(f"For 'SummaryRecord', the 'network' must be a Cell or None, but got {type(network).__name__}.")
        if max_file_size is not None:
            check_positive("SummaryRecord", "max_file_size", max_file_size)
        check_type("raise_exception", raise_exception, bool)
        check_export_options(export_options)
        self.network, self._max, self._raise = network, max_file_size, raise_exception
        now = int(time.time())
        self._export = os.path.join(self._dir, f"export_{now}", "tensor") if (export_options or {}).get("tensor_format") else None
        name = f"{file_prefix}.out.tfevents.{now}.{socket.gethostname()}.{os.getpid()}{file_suffix}"
        self.full_file_name = os.path.join(self._dir, name)
        self._values, self._arrays, self._size, self._full, self._closed, self._mode = [], [], 0, False, False, "train"
        self._lock = threading.Lock()
        self._write(_double_field(1, time.time()) + _bytes_field(3, b"brain.Event:2"))
        self._listen(1)

    @staticmethod
    def _listen(more):
        global _open
        _open += more
        if not _open:
            _told.clear()

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
            raise ValueError(f"For 'SummaryRecord.add_value', the 'plugin' must be in {_WRITTEN}, but got {plugin}.")
        if plugin not in _WRITTEN:
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
        check_shape(plugin, "SummaryRecord.add_value", x.shape, x.size)
        self._keep(plugin, name, x)

    def _keep(self, plugin, name, x):
        if plugin == "tensor" and self._export:
            self._arrays.append((name, x))
        make = {"scalar": lambda: _scalar(float(x.reshape(()))), "image": lambda: _image(x)}.get(plugin, lambda: _histogram(x))
        self._values.append((plugin, name, make()))

    def record(self, step, train_network=None, plugin_filter=None):
        """Writes the values kept since the last call, those that ``plugin_filter(plugin)`` accepts if given. False: not written."""
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(f"For 'SummaryRecord.record', the 'step' must be int, but got {type(step).__name__}.")
        if self._closed:
            return False
        for (plugin, name), x in _told.items():
            self._keep(plugin, name, x)
        _told.clear()
        (values, self._values), (arrays, self._arrays) = (self._values, []), (self._arrays, [])
        for name, x in arrays:
            if plugin_filter is None or plugin_filter("tensor"):
                os.makedirs(self._export, exist_ok=True)
                np.save(os.path.join(self._export, f"{name.replace('/', '_')}_{step}.npy"), x)
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
        if not self._closed:
            self._closed = True
            self._listen(-1)
