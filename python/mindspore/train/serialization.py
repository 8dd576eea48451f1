"""Checkpoints: saving and loading the values of Parameters."""
import difflib
import logging
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mindspore.common import dtype as mstype
from mindspore.common._rows import format as _format
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.model_files import export, load, sealing  # noqa: F401

__all__ = ["save_checkpoint", "load_checkpoint", "load_checkpoint_async", "load_param_into_net", "async_ckpt_thread_status",
           "ckpt_to_safetensors", "safetensors_to_ckpt"]

_log = logging.getLogger("mindspore")
_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64)
_INTS = (mstype.int8, mstype.int16, mstype.int32, mstype.int64)


def _check_format(format, who):
    if format not in ("ckpt", "safetensors"):
        raise ValueError(f"For '{who}', the 'format' must be 'ckpt' or 'safetensors', but got {format}.")


def _check_bools(**values):
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ValueError(f"The parameter '{name}' must be isinstance of {bool}, but got {value}.")


def _path(ckpt_file_name, format):
    """The full path with the suffix of the format; its folder exists."""
    if not isinstance(ckpt_file_name, (str, os.PathLike)):
        raise TypeError(f"For 'save_checkpoint', the parameter {ckpt_file_name} for checkpoint file name is invalid,"
                        f"'ckpt_file_name' must be string, but got {type(ckpt_file_name)}.")
    path = os.path.abspath(os.fspath(ckpt_file_name))
    if not path.endswith("." + format):
        path += "." + format
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise ValueError(f"The folder {folder} does not exist or is not a directory or permission denied!")
    return path


def _entry(name, value, who="save_checkpoint"):
    """A value as the file takes it: a Tensor or a str."""
    if isinstance(value, (Tensor, str)):
        return value
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if isinstance(value, bool):
        return Tensor(value, mstype.bool_)
    if isinstance(value, int):
        return Tensor(value, mstype.int64)
    if isinstance(value, float):
        return Tensor(value, mstype.float32)
    raise TypeError(f"For '{who}', the value of '{name}' must be a Parameter, Tensor, array, int, float, bool or str, but got "
                    f"{type(value)}.")


def _entries(save_obj, choice_func, append_dict):
    if isinstance(save_obj, Cell):
        items = list(save_obj.parameters_dict().items())
    elif isinstance(save_obj, dict):
        items = list(save_obj.items())
    elif isinstance(save_obj, (list, tuple)):
        items = []
        for entry in save_obj:
            if isinstance(entry, Parameter):
                items.append((entry.name, entry))
                continue
            if not isinstance(entry, dict) or "name" not in entry or "data" not in entry:
                raise TypeError("For 'save_checkpoint', every element of the list 'save_obj' must be a Parameter or a dict with "
                                f"'name' and 'data', but got {entry}.")
            if not isinstance(entry["data"], (Tensor, str)):
                raise TypeError(f"For 'save_checkpoint', the 'data' of '{entry['name']}' must be a Parameter, Tensor or str, but got "
                                f"{type(entry['data'])}.")
            items.append((entry["name"], entry["data"]))
    else:
        raise TypeError("For 'save_checkpoint', the parameter 'save_obj' must be nn.Cell, list or dict, but got "
                        f"{type(save_obj)}.")
    if choice_func is not None:
        items = [(name, value) for name, value in items if choice_func(name)]
    if append_dict is not None:
        if not isinstance(append_dict, dict):
            raise TypeError(f"For 'save_checkpoint', the argument 'append_dict' must be dict, but got {type(append_dict)}.")
        items = [(name, value) for name, value in items if name not in append_dict] + list(append_dict.items())
    for name, _ in items:
        if not isinstance(name, str):
            raise TypeError(f"For 'save_checkpoint', the names must be str, but got {type(name)}.")
    return [name for name, _ in items], [_entry(name, value) for name, value in items]


def save_checkpoint(save_obj, ckpt_file_name, integrated_save=True, async_save=False, append_dict=None, enc_key=None,
                    enc_mode="AES-GCM", choice_func=None, crc_check=False, format="ckpt", **kwargs):
    """Writes the Parameters of a Cell (or a dict, or a list of {"name", "data"}) to a file.

    The file replaces an older one only when it is complete, and holds a checksum, whatever ``crc_check`` says, with which
    ``load_checkpoint`` detects damage. ``async_save`` writes in a thread, from a copy taken now. With ``enc_key`` (bytes) the file
    is encrypted; ``enc_mode`` is 'AES-GCM', 'AES-CBC' or 'SM4-CBC'.
    """
    _check_format(format, "save_checkpoint")
    _check_bools(crc_check=crc_check, integrated_save=integrated_save)
    if async_save not in ("thread", "process") and not isinstance(async_save, bool):
        raise (ValueError if isinstance(async_save, str) else TypeError)(
            f"For 'save_checkpoint', the argument 'async_save' must be bool, 'process' or 'thread', but got {async_save!r}.")
    path = _path(ckpt_file_name, format)
    seal = sealing("save_checkpoint", enc_key, enc_mode, "enc")
    if seal and format == "safetensors":
        raise ValueError("For 'save_checkpoint', when format is 'safetensors', the parameter 'enc_key' must be set to default value "
                         "'None'.")
    for name in kwargs:
        if name not in ("incremental", "global_step_num", "remove_redundancy"):
            raise TypeError(f"For 'save_checkpoint', unknown argument '{name}'.")
    names, values = _entries(save_obj, choice_func, append_dict)
    write = _format.safetensors_save if format == "safetensors" else _format.ckpt_save
    if not async_save:
        write(path, names, values, *seal)
        return
    values = [v if isinstance(v, str) else v.copy() for v in values]
    threading.Thread(target=write, args=(path, names, values, *seal), name=_ASYNC_NAME).start()


_ASYNC_NAME = "asyn_save_ckpt"


def _async_threads():
    return [t for t in threading.enumerate() if t.name == _ASYNC_NAME]


def async_ckpt_thread_status():
    """Whether a checkpoint is being written in a thread."""
    return bool(_async_threads())


def wait_async():
    """Returns when the checkpoints being written in threads are complete."""
    for thread in _async_threads():
        thread.join()


def _chosen(names, filter_prefix, specify_prefix, choice_func):
    def prefixes(value, name):
        if value is None:
            return None
        values = (value,) if isinstance(value, str) else value
        if not isinstance(values, (list, tuple)) or not all(isinstance(v, str) for v in values):
            raise TypeError(f"For 'load_checkpoint', the type of '{name}' must be string, list[string] or tuple[string], but got {value!r}.")
        if not values or "" in values:
            raise ValueError(f"For 'load_checkpoint', the '{name}' can't be empty or include '', but got {value!r}.")
        return tuple(values)
    drop, keep = prefixes(filter_prefix, "filter_prefix"), prefixes(specify_prefix, "specify_prefix")
    chosen = {n for n in names if (keep is None or n.startswith(keep)) and not (drop is not None and n.startswith(drop))}
    if choice_func is None:
        return chosen
    try:
        return {n for n in chosen if choice_func(n)}
    except Exception as e:
        raise ValueError(f"For 'load_checkpoint', the 'choice_func' failed: {e}") from e


def load_checkpoint(ckpt_file_name, net=None, strict_load=False, filter_prefix=None, dec_key=None, dec_mode="AES-GCM",
                    specify_prefix=None, choice_func=None, crc_check=False, remove_redundancy=False, format="ckpt"):
    """Reads a file into a dict of Parameters (and str), and into ``net`` if given.

    The checksum is compared whenever the file has one. A damaged, truncated or foreign file is a ValueError that says where.
    """
    _check_format(format, "load_checkpoint")
    _check_bools(crc_check=crc_check, remove_redundancy=remove_redundancy)
    if not isinstance(ckpt_file_name, (str, os.PathLike)):
        raise TypeError(f"For 'load_checkpoint', the argument 'ckpt_file_name' must be string, but got "
                        f"{type(ckpt_file_name)}.")
    name = os.fspath(ckpt_file_name)
    if not name.endswith("." + format):
        raise ValueError(f"For 'load_checkpoint', the checkpoint file format must same with 'format', but got "
                         f"file_name:'{name}', format:'{format}'")
    path = os.path.abspath(name)
    if not os.path.exists(path):
        raise ValueError(f"For 'load_checkpoint', the checkpoint file: {path} does not exist, please check whether the "
                         "'ckpt_file_name' is correct.")
    seal = sealing("load_checkpoint", dec_key, dec_mode, "dec")
    if seal and format == "safetensors":
        raise ValueError("For 'load_checkpoint', when format is 'safetensors', the parameter 'dec_key' must be set to default value "
                         "'None'.")
    names, values = (_format.safetensors_load if format == "safetensors" else _format.ckpt_load)(path, *seal)
    chosen = _chosen(names, filter_prefix, specify_prefix, choice_func)
    found = {n: v if isinstance(v, str) else Parameter._ms_adopt(v, n) for n, v in zip(names, values) if n in chosen}
    if not found:
        raise ValueError("The loaded parameter dict is empty after filter or specify, please check whether 'filter_prefix' or "
                         "'specify_prefix' are set correctly.")
    if net is not None:
        load_param_into_net(net, found, strict_load, remove_redundancy)
    return found


def load_checkpoint_async(ckpt_file_name, net=None, strict_load=False, filter_prefix=None, dec_key=None, dec_mode="AES-GCM",
                          specify_prefix=None, choice_func=None):
    """load_checkpoint in a thread; returns a Future whose ``result()`` is the dict."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(load_checkpoint, ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix,
                         choice_func)
    pool.shutdown(wait=False)
    return future


def _check_pair(mine, new, strict_load):
    """Raises when ``new`` cannot be loaded into the Parameter ``mine``."""
    if tuple(mine.shape) != tuple(new.shape):
        raise RuntimeError(f"For 'load_param_into_net', {mine.name} in the argument 'net' should have the same shape as "
                           f"{mine.name} in the argument 'parameter_dict'. But got its shape {mine.shape} in the argument 'net' "
                           f"and shape {new.shape} in the argument 'parameter_dict'."
                           "May you need to check whether the checkpoint you loaded is correct or the batch size and so on in "
                           "the 'net' and 'parameter_dict' are same.")
    related = any(mine.dtype in kind and new.dtype in kind for kind in (_FLOATS, _INTS))
    if mine.dtype != new.dtype and (strict_load or not related):
        raise RuntimeError(f"For 'load_param_into_net', {mine.name} in the argument 'net' should have the same type as "
                           f"{mine.name} in the argument 'parameter_dict'. but got its type {mine.dtype} in the argument 'net' "
                           f"and type {new.dtype} in the argument 'parameter_dict'."
                           "May you need to check whether the checkpoint you loaded is correct.")


def _nearest(name, names):
    close = difflib.get_close_matches(name, names, 1, 0.0)
    return f"'{name}' (nearest: '{close[0]}')" if close else f"'{name}'"


def _inner_names(parameter_dict):
    """Tensors by what stands behind a dot in their names; the first of each."""
    found = {}
    for name, value in parameter_dict.items():
        while not isinstance(value, str) and "." in name:
            name = name.partition(".")[2]
            found.setdefault(name, value)
    return found


def load_param_into_net(net, parameter_dict, strict_load=False, remove_redundancy=False):
    """Copies values into the Parameters of the same name. Returns (names of ``net`` without a value, names without a
    Parameter). Unless ``strict_load``, floats convert to floats and integers to integers, and a Parameter without a value takes
    that of the first name which ends in its own behind a dot. Nothing is written when any value does not fit."""
    if not isinstance(net, Cell):
        raise TypeError(f"For 'load_param_into_net', the argument 'net' should be a Cell, but got {type(net)}.")
    if not isinstance(parameter_dict, dict):
        raise TypeError(f"For 'load_param_into_net', the argument 'parameter_dict' should be a dict, but got "
                        f"{type(parameter_dict)}.")
    if not isinstance(strict_load, bool):
        raise TypeError(f"For 'load_param_into_net', the 'strict_load' must be a bool, but got {type(strict_load).__name__}.")
    _check_bools(remove_redundancy=remove_redundancy)
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, (Tensor, str)):
            raise TypeError("For 'parameter_dict', the element in the argument 'parameter_dict' should be a 'str' and "
                            f"'Parameter' , but got {type(name)} and {type(value)}.")
    pairs, not_loaded, used = [], [], set()
    inner = {} if strict_load else _inner_names(parameter_dict)
    for param in net.get_parameters():
        new = parameter_dict.get(param.name, inner.get(param.name))
        if new is None or isinstance(new, str):
            not_loaded.append(param.name)
            continue
        _check_pair(param, new, strict_load)
        pairs.append((param, new))
        used.add(param.name)
    for param, new in pairs:
        param.assign_value(new)
    unused = [name for name in parameter_dict if name not in used]
    if not_loaded:
        free = [n for n in unused if not isinstance(parameter_dict[n], str)]
        _log.warning("For 'load_param_into_net', %d parameters in the 'net' are not loaded, because they are not in the "
                     "'parameter_dict', please check whether the network structure is consistent when training and loading "
                     "checkpoint: %s.", len(not_loaded), ", ".join(_nearest(n, free) for n in not_loaded))
    return not_loaded, unused


def _convert(who, file_path, save_path, name_map, file_name_regex, processes_num, source, target):
    """Rewrites one file, or those of a folder (and its subfolders), from one format into the other."""
    if not isinstance(processes_num, int) or isinstance(processes_num, bool) or processes_num < 1:
        raise ValueError(f"For '{who}', the 'processes_num' must be a positive int, but got {processes_num}.")
    if name_map is not None and not isinstance(name_map, dict):
        raise TypeError(f"For '{who}', the 'name_map' must be dict or None, but got {type(name_map).__name__}.")
    suffix = "." + source
    if os.path.isdir(file_path):
        files = [os.path.join(folder, name) for folder, _, names in os.walk(file_path) for name in sorted(names)
                 if name.endswith(suffix) and (file_name_regex is None or re.search(file_name_regex, name))]
        if not files:
            raise ValueError(f"For '{who}', no '{suffix}' files to convert are in the folder {file_path}.")
        root = file_path
    elif os.path.isfile(file_path) and str(file_path).endswith(suffix):
        files, root = [file_path], os.path.dirname(file_path)
    else:
        raise ValueError(f"For '{who}', the 'file_path' must be a folder or a '{suffix}' file, but got {file_path}.")

    def convert(path):
        values = load_checkpoint(path, format=source)
        out = os.path.join(save_path, os.path.relpath(path, root)) if save_path else path
        os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
        renamed = {(name_map or {}).get(name, name): value for name, value in values.items()}
        save_checkpoint(renamed, out[:-len(suffix)] + "." + target, format=target)

    with ThreadPoolExecutor(processes_num) as pool:
        list(pool.map(convert, files))


def ckpt_to_safetensors(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num=1):
    """Converts checkpoint files to safetensors, beside them or into ``save_path``; ``name_map`` renames entries."""
    _convert("ckpt_to_safetensors", file_path, save_path, name_map, file_name_regex, processes_num, "ckpt", "safetensors")


def safetensors_to_ckpt(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num=1):
    """Converts safetensors files to checkpoints, beside them or into ``save_path``; ``name_map`` renames entries."""
    _convert("safetensors_to_ckpt", file_path, save_path, name_map, file_name_regex, processes_num, "safetensors", "ckpt")
