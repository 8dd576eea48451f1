"""Devices: which there are. Streams, events and memory are those of mindspore.runtime."""
from mindspore.runtime import (Event, Stream, StreamCtx, communication_stream, current_stream, default_stream, empty_cache,
                               max_memory_allocated as _max_allocated, max_memory_reserved as _max_reserved,
                               memory_allocated as _allocated, memory_reserved as _reserved, memory_stats as _stats,
                               memory_summary as _summary, reset_peak_memory_stats as _reset, set_cur_stream, synchronize)

__all__ = ["Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream", "set_cur_stream", "synchronize",
           "device_count", "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties", "is_available",
           "is_initialized", "empty_cache", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
           "memory_stats", "memory_summary", "reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats"]

_TARGETS = ["CPU", "GPU", "Ascend"]


def is_available(device_target):
    """Whether operators run on ``device_target``."""
    if device_target not in _TARGETS:
        raise ValueError(f"For 'hal.is_available', the argument 'device_target' must be one of {_TARGETS}, but got {device_target}.")
    return device_target == "CPU"


def is_initialized(device_target):
    if device_target not in _TARGETS:
        raise ValueError(f"For 'hal.is_initialized', the argument 'device_target' must be one of {_TARGETS}, but got {device_target}.")
    return device_target == "CPU"


def _check(device_target, device_id=0):
    if device_target not in (None, *_TARGETS):
        raise ValueError(f"The argument 'device_target' must be one of {_TARGETS}, but got {device_target}.")
    if device_target not in (None, "CPU"):
        raise ValueError(f"{device_target} backend is not available for this MindSpore package."
                         "You can call hal.is_available to check the reason.")
    if device_id != 0:
        raise ValueError(f"The argument 'device_id' must be 0: there is one CPU device, but got {device_id}.")


def device_count(device_target=None):
    _check(device_target)
    return 1


def get_arch_list(device_target=None):
    """None: the CPU has no list of architectures."""
    _check(device_target)


def get_device_capability(device_id, device_target=None):
    """None: the CPU has no capability number."""
    _check(device_target, device_id)


def get_device_name(device_id, device_target=None):
    _check(device_target, device_id)
    return "CPU"


def get_device_properties(device_id, device_target=None):
    """None: the CPU has no device properties."""
    _check(device_target, device_id)


def _of_target(fn):
    def call(device_target=None):
        _check(device_target)
        return fn()
    call.__name__ = call.__qualname__ = fn.__name__
    call.__doc__ = fn.__doc__
    return call


memory_allocated, max_memory_allocated = _of_target(_allocated), _of_target(_max_allocated)
memory_reserved, max_memory_reserved = _of_target(_reserved), _of_target(_max_reserved)
memory_stats, memory_summary, reset_peak_memory_stats = _of_target(_stats), _of_target(_summary), _of_target(_reset)
reset_max_memory_allocated = reset_max_memory_reserved = reset_peak_memory_stats
