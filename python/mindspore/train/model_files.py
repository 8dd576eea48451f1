"""Models to files and back: export, load."""
import inspect
import os
import shutil

import numpy as np

from mindspore import _c
from mindspore.common._rows import format as _format
from mindspore.train import mindir

_FORMATS = ("AIR", "ONNX", "MINDIR")
_SPLIT = 1 << 30   # bytes of weights from which they are in files of their own
_ALIGN = 64        # of a weight in such a file, and the size of the file's head
_PROBES = (7, 11)  # two sizes that stand for an open one


# ---- the network as a graph ----

def _stage(net, args):
    """The compiled form of the network for these arguments, whose results are all computed by its graph."""
    from mindspore import ops
    from mindspore.jit import front, tree

    def call(*given):
        result = net._ms_run(given, {}) if hasattr(net, "_ms_run") else front.runtime.user(net)(*given)
        tensors = []
        taken = tree.take(result, _c.Tensor, tensors)
        return tree.fill(taken, [ops.stop_gradient(t) for t in tensors])
    name = getattr(net, "__qualname__", type(net).__name__)
    compiled = front.Jit(None, "ast", "O0", True, name, call)
    compiled.fn = call
    compiled.note = lambda session, a, k: None
    session = front.Session(True)
    try:
        form = compiled.stage(session, args, {})
    except Exception as e:
        if not front._cannot_stage(e, session):
            raise
        raise RuntimeError(f"For 'export', '{name}' cannot be one graph: {compiled.reason(e, session)}") from e
    if form.writes or form.boxes:
        raise NotImplementedError("For 'export', the network changes its inputs, which cannot be written.")
    return form


def _is_open(x):
    return isinstance(x, _c.Tensor) and min(x.shape, default=0) < 0


def _probe(x, size):
    """x, or a tensor of its kind with other sizes for each open one."""
    from mindspore import ops
    from mindspore.jit import tree
    if _is_open(x):
        return ops.zeros(tuple([size + 2 * d if n < 0 else n for d, n in enumerate(x.shape)]), x.dtype)
    items = tree.children(x)
    return x if items is None else tree.rebuild(x, [_probe(v, size) for v in items])


def _tensors(x):
    """The tensors in an argument that a graph takes as inputs."""
    from mindspore.jit import tree
    from mindspore.common.parameter import Parameter
    if isinstance(x, _c.Tensor) and not isinstance(x, Parameter):
        return [x]
    return [t for item in tree.children(x) or () for t in _tensors(item)]


def _input_names(net, args):
    """A name for each input of the graph: of the parameter of construct."""
    fn = net.construct if hasattr(net, "construct") else net
    params = list(inspect.signature(fn).parameters.values())
    names = []
    for k, arg in enumerate(args):
        p = params[min(k, len(params) - 1)] if params else None
        name = f"input_{k}" if p is None else f"{p.name}_{k}" if p.kind is p.VAR_POSITIONAL else p.name
        tensors = _tensors(arg)
        names += [name] if len(tensors) == 1 else [f"{name}_{j}" for j in range(len(tensors))]
    return names


def _result_text(result):
    """How results are put together, as the writer reads it: a number for a tensor, brackets for tuples."""
    from mindspore.jit import tree
    if type(result) is tree.Leaf:
        return str(result.index)
    if result is None:
        return "N"
    if isinstance(result, (bool, int, float)):
        return f"{type(result).__name__[0]}{result + 0!r}"
    items = None if hasattr(type(result), "ms_parts") else tree.children(result)
    if items is None:
        raise NotImplementedError(f"For 'export', the network returns a {type(result).__name__}, which cannot be written.")
    return "(" + ",".join(map(_result_text, items)) + ")"


class _Model:
    """A network with example inputs, ready to be written."""

    def __init__(self, net, inputs):
        # Parameters among the inputs are inputs like others
        inputs = [_c.Tensor(x) if isinstance(x, _c.Tensor) and type(x) is not _c.Tensor and not _is_open(x) else x for x in inputs]
        is_open = any(_is_open(t) for x in inputs for t in _tensors(x))
        self.form = _stage(net, tuple([_probe(x, _PROBES[0]) for x in inputs]) if is_open else tuple(inputs))
        self.other = _stage(net, tuple([_probe(x, _PROBES[1]) for x in inputs])).graph if is_open else None
        self.input_names = _input_names(net, inputs)
        self.captured = list(_c.graph_captured(self.form.graph))
        known = {}
        for p in net.get_parameters() if hasattr(net, "get_parameters") else ():
            known[p.data_ptr(), tuple(p.shape)] = p.name
        self.names = [known.get((t.data_ptr(), tuple(t.shape))) for t in self.captured]
        self.title = getattr(net, "__qualname__", type(net).__name__).replace(":", "_")[:80]

    def places(self, folder):
        """(file, offset) of each weight, all in one file of `folder`."""
        at, where = _ALIGN, {}
        for k in sorted((k for k, n in enumerate(self.names) if n is not None), key=lambda k: self.names[k]):
            where[k] = at
            at += -(-self.captured[k].nbytes // _ALIGN) * _ALIGN
        return [f"{folder}/data_0" if k in where else None for k in range(len(self.names))], [where.get(k, 0) for k in range(len(self.names))]

    def write(self, file_format, result, split_folder=None):
        places, offsets = self.places(split_folder) if split_folder else ([None] * len(self.names), [0] * len(self.names))
        return _c.model_write(file_format, self.form.graph, self.other, f"1_1_{self.title}" if file_format == "MINDIR" else self.title,
                              self.input_names, self.names, places, offsets, result)

    def weights(self):
        """The content of the file of weights, in pieces."""
        yield bytes([1]) + bytes(_ALIGN - 1)
        _, offsets = self.places("")
        for k in sorted((k for k, n in enumerate(self.names) if n is not None), key=lambda k: offsets[k]):
            content = self.captured[k].get_bytes()
            yield content
            yield bytes(-len(content) % _ALIGN)


# ---- files ----

def _write(path, pieces):
    """A file that only its owner may read; it appears whole or not at all."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as f:
            for piece in pieces:
                f.write(piece)
        os.chmod(temporary, 0o400)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def sealing(who, key, mode, action):
    """Mode and key as the functions of files take them, nothing without a key."""
    if key is None:
        return ()
    if not isinstance(key, bytes):
        raise ValueError(f"For '{who}', the parameter '{action}_key' must be isinstance of bytes or None, but got {type(key)}.")
    if not isinstance(mode, str):
        raise ValueError(f"For '{who}', the parameter '{action}_mode' must be isinstance of str, but got {type(mode)}.")
    return mode, key.hex()


def _content(tensor_of, content, *args):
    """What ``_format.seal`` or ``_format.unseal`` makes of bytes."""
    return tensor_of(_c.Tensor(np.frombuffer(content, np.uint8)), *args).get_bytes()


def export(net, *inputs, file_name, file_format, **kwargs):
    """Writes a network, as it computes such inputs, to a file. file_format: 'MINDIR' (read by ``load``) or 'ONNX'. An input that is
    ``Tensor(shape=[None, ...], dtype=...)`` has open sizes. enc_key (bytes) encrypts it; enc_mode is 'AES-GCM',
    'AES-CBC', 'SM4-CBC' or a function of content and key."""
    if file_format not in _FORMATS:
        raise ValueError(f"For 'export', 'file_format' must be one of {list(_FORMATS)}, but got {file_format}.")
    if not isinstance(file_name, str):
        raise TypeError(f"For 'export', the argument 'file_name' must be string, but got {type(file_name)}.")
    unknown = set(kwargs) - {"enc_key", "enc_mode", "dataset", "obf_config", "incremental", "custom_func"}
    if unknown:
        raise TypeError(f"For 'export', there is no argument {sorted(unknown)[0]!r}.")
    for name in ("dataset", "obf_config", "custom_func"):
        if kwargs.get(name) is not None:
            raise NotImplementedError(f"For 'export', the argument '{name}' is not supported.")
    if not callable(net):
        raise TypeError(f"For 'export', the argument 'net' must be a Cell or a function, but got {type(net)}.")
    key, mode = kwargs.get("enc_key"), kwargs.get("enc_mode", "AES-GCM")
    mode_and_key = () if callable(mode) else sealing("export", key, mode, "enc")
    if file_format == "AIR":
        raise ValueError("Only support export file in 'AIR' format with Ascend backend.")
    suffix = "." + file_format.lower()
    path = os.path.realpath(file_name if file_name.endswith(suffix) else file_name + suffix)

    def encrypt(content):
        return mode(content, key) if callable(mode) else _content(_format.seal, content, *mode_and_key)
    seal = None if key is None else encrypt
    if file_format == "ONNX":
        write_onnx(net, inputs, path, seal)
    else:
        _write_mindir(net, inputs, path, seal)


def _write_mindir(net, inputs, path, seal):
    model = _Model(net, inputs)
    result = _result_text(model.form.result)
    if sum(t.nbytes for t, name in zip(model.captured, model.names) if name is not None) <= _SPLIT:
        _write(path, [_sealed(seal, model.write("MINDIR", result))])
        return
    _check_split(seal)
    base = path[:-len(".mindir")]
    folder = base + "_variables"
    shutil.rmtree(folder, ignore_errors=True)
    _write(os.path.join(folder, "data_0"), model.weights())
    _write(base + "_graph.mindir", [model.write("MINDIR", result, os.path.basename(folder))])


def _sealed(seal, content):
    return content if seal is None else seal(content)


def _check_split(seal):
    if seal is not None:
        raise NotImplementedError(f"For 'export', a network with more than {_SPLIT >> 20} MiB of weights cannot be encrypted.")


def _inference(net):
    """A context in which the network does not train."""
    from contextlib import contextmanager

    @contextmanager
    def context():
        training = [(c, c.training) for _, c in net.cells_and_names()] if hasattr(net, "cells_and_names") else []
        for c, _ in training:
            c.training = False
        try:
            yield
        finally:
            for c, flag in training:
                c.training = flag
    return context()


def write_onnx(net, inputs, path, encrypt=None, input_names=None, output_names=None, dynamic_axes=None):
    """The network for inference as an ONNX file; encrypt: a function of the content."""
    if not hasattr(net, "construct"):
        raise ValueError(f"For 'export', an ONNX model needs a Cell, but got {type(net)}.")
    names = list(input_names or ())
    names += _input_names(net, inputs)[len(names):]
    if dynamic_axes:
        inputs = [_opened(x, dynamic_axes.get(name)) for x, name in zip(inputs, names)]
    with _inference(net):
        model = _Model(net, inputs)
    model.input_names = names
    large = sum(t.nbytes for t in model.captured) > _SPLIT
    content = model.write("ONNX", None if output_names is None else list(output_names), os.path.basename(path) + "_data" if large else None)
    if large:
        _check_split(encrypt)
        _write(os.path.join(path + "_data", "data_0"), model.weights())
    _write(path, [_sealed(encrypt, content)])


def _opened(x, axes):
    """A description of x with these axes open."""
    if not axes or not isinstance(x, _c.Tensor):
        return x
    return _c.Tensor(shape=[None if d in axes else n for d, n in enumerate(x.shape)], dtype=x.dtype)


def load(file_name, **kwargs):
    """The model of a .mindir file, for ``nn.GraphCell``. dec_key and dec_mode (or a function of path and key) decrypt it."""
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError(f"For 'load', the argument 'file_name'(MindIR file) should end with '.mindir', please input the correct "
                         f"'file_name', but got {file_name!r}.")
    path = os.path.realpath(file_name)
    if not os.path.exists(path):
        raise ValueError(f"For 'load', the argument 'file_name'(MindIR file) does not exist, please check whether the 'file_name' is "
                         f"correct: {file_name!r}.")
    key, mode = kwargs.get("dec_key"), kwargs.get("dec_mode", "AES-GCM")
    if key is not None and callable(mode):
        content = mode(path, key)
        if not isinstance(content, bytes):
            raise RuntimeError(f"For 'load', 'dec_mode' must give bytes, but got {type(content)}.")
        return mindir.decode(f"The MindIR file {file_name}", content, os.path.dirname(path))
    seal = sealing("load", key, mode, "dec")
    with open(path, "rb") as f:
        content = f.read()
    if seal:
        try:
            content = _content(_format.unseal, content, *seal, f"the MindIR file {file_name}")
        except ValueError as e:
            raise RuntimeError(f"Load MindIR failed. {e}") from e
    return mindir.decode(f"The MindIR file {file_name}", content, os.path.dirname(path))


class _Proto(dict):
    """A model as nested dicts of its fields, with the bytes that it was read from."""


def load_mindir(file_name):
    """The content of a .mindir file as nested dicts of its fields, for ``save_mindir``."""
    with open(file_name, "rb") as f:
        content = f.read()
    try:
        model = _Proto(_c.mindir_decode(f"The MindIR file {file_name}", content, os.path.dirname(os.path.realpath(file_name))))
    except ValueError as e:
        raise RuntimeError(f"Load MindIR failed. {e}") from e
    model.content = content
    return model


def save_mindir(model, file_name):
    """Writes what ``load_mindir`` gave to another file; changes to the dicts are not written."""
    if not isinstance(model, _Proto):
        raise TypeError(f"For 'save_mindir', the argument 'model' must be what load_mindir gives, but got {type(model)}.")
    _write(os.path.realpath(file_name if file_name.endswith(".mindir") else file_name + ".mindir"), [model.content])
