"""The CPU and its options."""
import sys
import types

from mindspore import _c

__all__ = ["device_count", "is_available", "op_tuning", "threads_num"]


def device_count():
    return 1


def is_available():
    return True


def threads_num(num):
    """Sets how many threads an operator may use."""
    if isinstance(num, bool) or not isinstance(num, int):
        raise TypeError(f"For 'threads_num', the argument 'num' must be int, but got {type(num).__name__}.")
    if num < 1:
        raise ValueError(f"For 'threads_num', the argument 'num' must be positive, but got {num}.")
    _c.set_thread_count(num)


op_tuning = types.ModuleType(f"{__name__}.op_tuning")
op_tuning.threads_num = threads_num
sys.modules[op_tuning.__name__] = op_tuning
__path__ = []
