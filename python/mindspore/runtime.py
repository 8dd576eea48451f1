"""Memory counters, streams and events. The CPU computes in the order of the calls and every call returns when its work is
done: there is one stream, and synchronizing has nothing to wait for."""
import os
import time

from mindspore import _c

__all__ = ["Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream", "dispatch_threads_num",
           "empty_cache", "launch_blocking", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
           "memory_stats", "memory_summary", "reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats",
           "set_cpu_affinity", "set_cur_stream", "set_kernel_launch_capture", "set_kernel_launch_group", "set_memory", "synchronize"]


# ---- streams ----

class Stream:
    """A queue of work: on the CPU all are the one of the calling thread."""

    def __init__(self, priority=0, **kwargs):
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(f"For 'Stream', the argument 'priority' should be int, but got {type(priority)}.")
        self.priority = priority
        self.stream_id = kwargs.pop("stream_id", 0)
        if kwargs:
            raise TypeError(f"For 'Stream', unknown argument '{next(iter(kwargs))}'.")

    def record_event(self, event=None):
        """Records an event (a new one if None) and returns it."""
        if event is None:
            event = Event()
        if not isinstance(event, Event):
            raise TypeError(f"For 'record_event', the argument 'event' should be Event, but got {type(event)}.")
        event.record(self)
        return event

    def wait_event(self, event):
        if not isinstance(event, Event):
            raise TypeError(f"For 'wait_event', the argument 'event' should be Event, but got {type(event)}.")
        event.wait(self)

    def wait_stream(self, stream):
        if not isinstance(stream, Stream):
            raise TypeError(f"For 'wait_stream', the argument 'stream' should be Stream, but got {type(stream)}.")

    def synchronize(self):
        pass

    def query(self):
        """Whether all work is done."""
        return True

    def __eq__(self, other):
        return isinstance(other, Stream) and other.stream_id == self.stream_id

    def __hash__(self):
        return hash(self.stream_id)

    def __repr__(self):
        return f"Stream(device_name=CPU, device_id:0, stream id:{self.stream_id})"


class Event:
    """A moment in a stream; with ``enable_timing`` the time between two is measured."""

    def __init__(self, enable_timing=False, blocking=False):
        for name, value in (("enable_timing", enable_timing), ("blocking", blocking)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'Event', the argument '{name}' should be bool, but got {type(value)}.")
        self.enable_timing, self.blocking = enable_timing, blocking
        self._at = None

    def record(self, stream=None):
        if stream is not None and not isinstance(stream, Stream):
            raise TypeError(f"For 'record', the argument 'stream' should be Stream, but got {type(stream)}.")
        self._at = time.perf_counter()

    def wait(self, stream=None):
        if stream is not None and not isinstance(stream, Stream):
            raise TypeError(f"For 'wait', the argument 'stream' should be Stream, but got {type(stream)}.")

    def synchronize(self):
        pass

    def query(self):
        return True

    def elapsed_time(self, end_event):
        """Milliseconds from this event to ``end_event``."""
        if not isinstance(end_event, Event):
            raise TypeError(f"For 'elapsed_time', the argument 'end_event' should be Event, but got {type(end_event)}.")
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("For 'elapsed_time', both events need 'enable_timing'.")
        if self._at is None or end_event._at is None:
            raise RuntimeError("For 'elapsed_time', both events must have been recorded.")
        return (end_event._at - self._at) * 1000

    def __repr__(self):
        return (f"Event(enable_timing={int(self.enable_timing)}, blocking:{int(self.blocking)}, "
                f"is_created:{int(self._at is not None)}, event:0)")


_default = Stream()
_current = _default


def default_stream():
    return _default


def communication_stream():
    return _default


def current_stream():
    return _current


def set_cur_stream(stream):
    global _current
    if stream is None:
        return
    if not isinstance(stream, Stream):
        raise TypeError(f"For 'set_cur_stream', the argument 'stream' should be Stream, but got {type(stream)}.")
    _current = stream


class StreamCtx:
    """``with StreamCtx(stream):`` makes it the current one."""

    def __init__(self, ctx_stream):
        if ctx_stream is not None and not isinstance(ctx_stream, Stream):
            raise TypeError(f"For 'StreamCtx', the argument 'ctx_stream' should be Stream, but got {type(ctx_stream)}.")
        self.stream, self._before = ctx_stream, None

    def __enter__(self):
        self._before = current_stream()
        set_cur_stream(self.stream)

    def __exit__(self, *error):
        set_cur_stream(self._before)


def synchronize():
    """Returns when all work is done: on the CPU at once."""


def launch_blocking():
    """Every operator ends before its call returns: on the CPU always so."""


# ---- memory ----

def memory_allocated():
    """Bytes in use by tensors, workspaces and graphs."""
    return _c.memory_stats()["allocated"]


def max_memory_allocated():
    """The highest ``memory_allocated`` since the start or the last reset."""
    return _c.memory_stats()["peak"]


def memory_reserved():
    """Bytes taken from the system: those in use and those kept for reuse."""
    return _c.memory_stats()["reserved"]


def max_memory_reserved():
    """The highest ``memory_reserved`` since the start or the last reset."""
    return _c.memory_stats()["peak_reserved"]


def memory_stats():
    """The counters of the allocator, in bytes."""
    s = _c.memory_stats()
    pool = {"block_unit_size": 0, "block_counts": s["n_alloc"], "blocks_info": {}}
    return {"total_reserved_memory": s["reserved"], "total_allocated_memory": s["allocated"],
            "total_idle_memory": s["reserved"] - s["allocated"], "total_eager_free_memory": 0, "max_reserved_memory": s["peak_reserved"],
            "max_allocated_memory": s["peak"], "common_mem_pool_stats": pool,
            "persistent_mem_pool_stats": {"block_counts": 0, "block_unit_size": 0, "blocks_info": {}}}


def memory_summary():
    """The counters as a table."""
    s = _c.memory_stats()
    rows = (("Reserved memory", s["reserved"]), ("Allocated memory", s["allocated"]), ("Idle memory", s["reserved"] - s["allocated"]),
            ("Max reserved memory", s["peak_reserved"]), ("Max allocated memory", s["peak"]))
    line = "|=============================================|"
    body = [f"| {name:<20} | {size / 1048576:12.3f} MB      |" for name, size in rows]
    return "\n".join([line, "|               Memory summary                |", line, "| Metric               | Data                 |",
                      "|" + "-" * 45 + "|", *body, line])


def reset_peak_memory_stats():
    _c.memory_reset_peak()


def reset_max_memory_allocated():
    _c.memory_reset_peak()


def reset_max_memory_reserved():
    _c.memory_reset_peak()


def empty_cache():
    """Gives memory kept for reuse back to the system."""
    _c.memory_empty_cache()


def _bytes(value, name):
    try:
        if value.endswith("GB"):
            return float(value[:-2])
    except AttributeError:
        pass
    raise ValueError(f"For 'set_memory', the '{name}' must be a str like '2GB', but got {value}.")


def set_memory(init_size="2GB", increase_size="2GB", max_size="1024GB", optimize_level="O0", huge_page_reserve_size="0GB"):
    """Checks the options of device memory pools; the CPU's allocator takes what is needed when it is needed."""
    for name, value in (("init_size", init_size), ("increase_size", increase_size), ("max_size", max_size),
                        ("huge_page_reserve_size", huge_page_reserve_size)):
        if _bytes(value, name) <= 0 and name != "huge_page_reserve_size":
            raise ValueError(f"For 'set_memory', the '{name}' must be above 0, but got {value}.")
    if optimize_level not in ("O0", "O1"):
        raise ValueError(f"For 'set_memory', the 'optimize_level' must be 'O0' or 'O1', but got {optimize_level}.")


# ---- threads ----

def _positive(who, name, value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{who}', the '{name}' must be int, but got {type(value).__name__}.")
    if value < 1:
        raise ValueError(f"For '{who}', the '{name}' must be positive, but got {value}.")


def dispatch_threads_num(threads_num):
    """Checked only: operators are not dispatched by other threads here."""
    _positive("dispatch_threads_num", "threads_num", threads_num)


def set_kernel_launch_group(thread_num=2, kernel_group_num=8):
    """Checked only: a graph's steps run one after another, each on all threads."""
    _positive("set_kernel_launch_group", "thread_num", thread_num)
    _positive("set_kernel_launch_group", "kernel_group_num", kernel_group_num)


def set_kernel_launch_capture(enable_capture_graph, op_capture_skip=None):
    """Checked only: the CPU has no launches to capture."""
    if not isinstance(enable_capture_graph, bool):
        raise TypeError("For 'set_kernel_launch_capture', the 'enable_capture_graph' must be bool, but got "
                        f"{type(enable_capture_graph).__name__}.")


def _cpus(ranges):
    found = set()
    for part in ranges:
        low, _, high = str(part).partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def set_cpu_affinity(enable_affinity, affinity_cpu_list=None, module_to_cpu_dict=None, bind_file=None):
    """Binds this process to the CPUs of ``affinity_cpu_list`` (["0-3", "6"]); without a list, or when not enabled, to all."""
    if not isinstance(enable_affinity, bool):
        raise TypeError(f"For 'set_cpu_affinity', the 'enable_affinity' must be bool, but got {type(enable_affinity).__name__}.")
    if module_to_cpu_dict is not None or bind_file is not None:
        raise NotImplementedError("For 'set_cpu_affinity', 'module_to_cpu_dict' and 'bind_file' are not supported.")
    cpus = affinity_cpu_list if enable_affinity and affinity_cpu_list else [f"0-{os.cpu_count() - 1}"]
    if isinstance(cpus, dict):
        cpus = cpus.get("device0", next(iter(cpus.values())))
    try:
        os.sched_setaffinity(0, _cpus(cpus))
    except (ValueError, OSError) as e:
        raise ValueError(f"For 'set_cpu_affinity', the 'affinity_cpu_list' {affinity_cpu_list} is not valid: {e}.") from None
