"""Profiler: which operators a run spends its time on, as tables and as a Chrome trace.

A profile records every run of a kernel, in PyNative and in Graph mode. Its folder holds ``trace_view.json`` (for
chrome://tracing or Perfetto), ``operator_statistic.csv`` (sums by operator and kernel) and ``step_time.csv``.
"""
import csv
import enum
import json
import os
import socket
import time

from mindspore.common._rows import Rows

__all__ = ["AicoreMetrics", "ExportType", "HostSystem", "Profiler", "ProfilerAction", "ProfilerActivity", "ProfilerLevel",
           "mstx", "profile", "schedule", "tensorboard_trace_handler"]

_profile = Rows("_profile")


class ProfilerActivity(enum.Enum):
    """What is recorded. Only CPU has events here."""
    CPU, GPU, NPU = "CPU", "GPU", "NPU"


class ProfilerLevel(enum.Enum):
    """How much is recorded: from Level1 on also shapes."""
    LevelNone, Level0, Level1, Level2 = "LevelNone", "Level0", "Level1", "Level2"


class AicoreMetrics(enum.Enum):
    """Counters of Ascend cores, which the CPU does not have."""
    AiCoreNone = "None"
    PipeUtilization, ArithmeticUtilization, Memory = "PipeUtilization", "ArithmeticUtilization", "Memory"
    MemoryL0, MemoryUB, ResourceConflictRatio, L2Cache, MemoryAccess = ("MemoryL0", "MemoryUB", "ResourceConflictRatio", "L2Cache",
                                                                       "MemoryAccess")


class ExportType(enum.Enum):
    Text, Db = "text", "db"


class HostSystem(enum.Enum):
    CPU, MEM, DISK, NETWORK, OSRT = "cpu", "mem", "disk", "network", "osrt"


class _ExperimentalConfig:
    """Options of a profile; those of other devices are kept and have no effect."""

    def __init__(self, profiler_level=ProfilerLevel.Level0, aic_metrics=AicoreMetrics.AiCoreNone, l2_cache=False, mstx=False,
                 data_simplification=True, export_type=None, mstx_domain_include=None, mstx_domain_exclude=None, sys_io=False,
                 sys_interconnection=False, host_sys=None):
        if not isinstance(profiler_level, ProfilerLevel):
            raise TypeError(f"For '_ExperimentalConfig', the 'profiler_level' must be ProfilerLevel, but got {profiler_level}.")
        if export_type is not None and ExportType.Db in export_type:
            raise NotImplementedError("For '_ExperimentalConfig', the export type 'db' is not supported.")
        self.profiler_level, self.aic_metrics, self.l2_cache, self.mstx = profiler_level, aic_metrics, l2_cache, mstx
        self.data_simplification, self.export_type = data_simplification, export_type or [ExportType.Text]
        self.mstx_domain_include, self.mstx_domain_exclude = mstx_domain_include or [], mstx_domain_exclude or []
        self.sys_io, self.sys_interconnection, self.host_sys = sys_io, sys_interconnection, host_sys or []


class ProfilerAction(enum.Enum):
    NONE, WARM_UP, RECORD, RECORD_AND_SAVE = 0, 1, 2, 3


class schedule:  # noqa: N801
    """Which steps are recorded: ``skip_first`` none, then cycles of ``wait`` not, ``warmup`` not, ``active`` recorded; the
    cycle runs ``repeat`` times (0: always)."""

    def __init__(self, *, wait, active, warmup=0, repeat=0, skip_first=0):
        values = {"wait": wait, "active": active, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < (name == "active"):
                raise ValueError(f"For 'schedule', the '{name}' must be {'a positive int' if name == 'active' else 'an int, at least 0'}, "
                                 f"but got {value}.")
        self._values = values

    def __call__(self, step):
        v = self._values
        step -= v["skip_first"]
        if step < 0:
            return ProfilerAction.NONE
        cycle = v["wait"] + v["warmup"] + v["active"]
        if v["repeat"] and step >= v["repeat"] * cycle:
            return ProfilerAction.NONE
        at = step % cycle
        if at < v["wait"]:
            return ProfilerAction.NONE
        if at < v["wait"] + v["warmup"]:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD

    def to_dict(self):
        return dict(self._values)


def tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag=True, async_mode=False):
    """For ``on_trace_ready``: the profile's folder is made in ``dir_name``."""
    for name, value, kind in (("dir_name", dir_name, str), ("worker_name", worker_name, str)):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"For 'tensorboard_trace_handler', the '{name}' must be str, but got {type(value).__name__}.")
    for name, value in (("analyse_flag", analyse_flag), ("async_mode", async_mode)):
        if not isinstance(value, bool):
            raise TypeError(f"For 'tensorboard_trace_handler', the '{name}' must be bool, but got {type(value).__name__}.")

    def handler(prof):
        prof._save(dir_name or os.path.join(os.getcwd(), "data"), worker_name)
    return handler


class _Base:
    """Recording, marking of steps, and the folder of results."""

    def __init__(self, level, shapes, default_dir):
        self._shapes = shapes or level in (ProfilerLevel.Level1, ProfilerLevel.Level2)
        self._dir, self.output_path = default_dir, None
        self._metadata, self._steps = {}, []
        self._recording, self._since = False, 0

    def _record(self, on):
        if on == self._recording:
            return
        self._recording = on
        if on:
            _profile.clear()
            self._steps = []
            self._since = time.monotonic_ns()
            _profile.start(self._shapes)
        else:
            self._mark()
            _profile.stop()

    def _mark(self):
        """Ends a step."""
        now = time.monotonic_ns()
        _profile.range(f"step {len(self._steps)}", self._since, now)
        self._steps.append(now - self._since)
        self._since = now

    def add_metadata(self, key, value):
        """Keeps a text in the results."""
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"For 'add_metadata', the key and value must be str, but got {type(key).__name__} and {type(value).__name__}.")
        self._metadata[key] = value

    def add_metadata_json(self, key, value):
        """Keeps a text in JSON form in the results."""
        self.add_metadata(key, value)
        self._metadata[key] = json.loads(value)

    def _save(self, folder, worker=None):
        name = f"{worker or socket.gethostname() + '_' + str(os.getpid())}_{time.strftime('%Y%m%d%H%M%S')}_ms"
        self.output_path = os.path.join(folder, name)
        os.makedirs(self.output_path, exist_ok=True)
        _profile.save(os.path.join(self.output_path, "trace_view.json"))
        with open(os.path.join(self.output_path, "operator_statistic.csv"), "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["Operator", "Kernel", "Calls", "Total us", "Mean us", "Share %", "GB/s", "GFLOP/s"])
            out.writerows(self.statistic())
        with open(os.path.join(self.output_path, "step_time.csv"), "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["Step", "us"])
            out.writerows((k, f"{ns / 1e3:.1f}") for k, ns in enumerate(self._steps))
        with open(os.path.join(self.output_path, "profiler_metadata.json"), "w") as f:
            json.dump(self._metadata, f)

    @staticmethod
    def statistic():
        """Rows (operator, kernel, calls, total us, mean us, share in %, GB/s, GFLOP/s), the longest first."""
        rows = sorted(_profile.table(), key=lambda r: -r[3])
        total = sum(r[3] for r in rows) or 1
        return [(op, kernel, calls, round(ns / 1e3, 1), round(ns / 1e3 / calls, 2), round(100 * ns / total, 2),
                 round(size / max(ns, 1), 2), round(flops / max(ns, 1), 2)) for op, kernel, calls, ns, size, flops in rows]


class profile(_Base):  # noqa: N801
    """Records between ``start`` and ``stop`` or as a context; with a ``schedule`` only the steps it names, ``step()`` ending
    each. ``on_trace_ready(profile)`` is called when a recording is complete; without one results go to ``./data``. Stacks, memory,
    data processing, strategies and counters of other devices are not recorded: their options are checked only."""

    def __init__(self, activities=None, with_stack=False, profile_memory=False, data_process=False, parallel_strategy=False,
                 start_profile=True, hbm_ddr=False, pcie=False, sync_enable=True, record_shapes=False, schedule=None,
                 on_trace_ready=None, experimental_config=None):
        for name, value in (("with_stack", with_stack), ("profile_memory", profile_memory), ("data_process", data_process),
                            ("parallel_strategy", parallel_strategy), ("start_profile", start_profile), ("hbm_ddr", hbm_ddr),
                            ("pcie", pcie), ("sync_enable", sync_enable), ("record_shapes", record_shapes)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'profile', the '{name}' must be bool, but got {type(value).__name__}.")
        for activity in activities or ():
            if not isinstance(activity, ProfilerActivity):
                raise TypeError(f"For 'profile', the 'activities' must be ProfilerActivity, but got {activity}.")
        if schedule is not None and not callable(schedule):
            raise TypeError(f"For 'profile', the 'schedule' must be callable, but got {type(schedule).__name__}.")
        if on_trace_ready is not None and not callable(on_trace_ready):
            raise TypeError(f"For 'profile', the 'on_trace_ready' must be callable, but got {type(on_trace_ready).__name__}.")
        config = experimental_config or _ExperimentalConfig()
        super().__init__(config.profiler_level, record_shapes, os.path.join(os.getcwd(), "data"))
        self._schedule, self._ready = schedule, on_trace_ready
        self._step, self._started = 0, False
        if start_profile:
            self.start()

    def _action(self):
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self._step)

    def start(self):
        self._started = True
        self._record(self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE))

    def step(self):
        """Ends a step."""
        if not self._started:
            raise RuntimeError("For 'profile', 'start' must be called before 'step'.")
        done = self._action() is ProfilerAction.RECORD_AND_SAVE
        if self._recording and not done:
            self._mark()
        if done:
            self._finish()
        self._step += 1
        self._record(self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE))

    def _finish(self):
        if not self._recording:
            return
        self._record(False)
        if self._ready is not None:
            self._ready(self)
        else:
            self._save(self._dir)

    def stop(self):
        self._started = False
        self._finish()

    def __enter__(self):
        if not self._started:
            self.start()
        return self

    def __exit__(self, *error):
        self.stop()


class Profiler(_Base):
    """Records from its making (``start_profile``) or ``start()`` to ``stop()``; ``analyse()`` stops and writes the results
    to a folder in ``output_path`` (./data)."""

    _OPTIONS = ("output_path", "profiler_level", "activities", "schedule", "on_trace_ready", "profile_memory", "aic_metrics", "with_stack",
                "data_simplification", "l2_cache", "hbm_ddr", "pcie", "data_process", "parallel_strategy", "sync_enable", "mstx",
                "start_profile", "op_time", "timeline_limit", "profile_communication", "aicore_metrics", "ascend_job_id",
                "profile_framework", "host_stack", "env_enable", "export_type", "record_shapes", "sys_io", "sys_interconnection", "host_sys")

    def __init__(self, **kwargs):
        for name in kwargs:
            if name not in self._OPTIONS:
                raise TypeError(f"For 'Profiler', unknown argument '{name}'.")
        path = kwargs.get("output_path", "./data")
        if not isinstance(path, str):
            raise TypeError(f"For 'Profiler', the 'output_path' must be str, but got {type(path).__name__}.")
        super().__init__(kwargs.get("profiler_level"), kwargs.get("record_shapes", False), os.path.abspath(path))
        self._inner = None
        if kwargs.get("schedule") is not None or kwargs.get("on_trace_ready") is not None:
            self._inner = profile(schedule=kwargs.get("schedule"), record_shapes=self._shapes, start_profile=False,
                                  on_trace_ready=kwargs.get("on_trace_ready") or (lambda p: p._save(self._dir)))
        if kwargs.get("start_profile", True):
            self.start()

    def start(self):
        if self._inner is not None:
            self._inner.start()
        else:
            self._record(True)

    def step(self):
        if self._inner is not None:
            self._inner.step()
        elif self._recording:
            self._mark()

    def stop(self):
        if self._inner is not None:
            self._inner.stop()
        else:
            self._record(False)

    def analyse(self, offline_path=None, pretty=False, step_list=None, mode="sync"):
        """Stops and writes the results."""
        if mode not in ("sync", "async"):
            raise ValueError(f"For 'Profiler.analyse', the 'mode' must be 'sync' or 'async', but got {mode}.")
        if offline_path is not None or step_list is not None:
            raise NotImplementedError("For 'Profiler.analyse', 'offline_path' and 'step_list' are not supported: the results are complete "
                                      "when they are written.")
        self.stop()
        if self._inner is None:
            self._save(self._dir)

    def op_analyse(self, op_name, device_id=None):
        """The rows of ``statistic`` of an operator, or of a list of operators, as JSON."""
        names = [op_name] if isinstance(op_name, str) else op_name
        keys = ("op_type", "kernel", "op_count", "total_us", "op_avg_time(us)", "share(%)", "GB/s", "GFLOP/s")
        return json.dumps([dict(zip(keys, row)) for row in self.statistic() if row[0] in names])


class mstx:  # noqa: N801
    """Marks and ranges of the caller in the trace."""

    _open, _next = {}, 1

    @staticmethod
    def _check(who, message, domain):
        for name, value in (("message", message), ("domain", domain)):
            if not isinstance(value, str):
                raise TypeError(f"For '{who}', the '{name}' must be str, but got {type(value).__name__}.")

    @staticmethod
    def mark(message, stream=None, domain="default"):
        mstx._check("mark", message, domain)
        now = time.monotonic_ns()
        _profile.range(message, now, now)

    @staticmethod
    def range_start(message, stream=None, domain="default"):
        """Begins a range; returns the id that ends it."""
        mstx._check("range_start", message, domain)
        number, mstx._next = mstx._next, mstx._next + 1
        mstx._open[number] = message, time.monotonic_ns()
        return number

    @staticmethod
    def range_end(range_id, domain="default"):
        message, since = mstx._open.pop(range_id, (None, None))
        if message is not None:
            _profile.range(message, since, time.monotonic_ns())
