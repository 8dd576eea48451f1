"""Processes that compute together; here it is always one."""
from mindspore.communication.management import *  # noqa: F403
from mindspore.communication.management import __all__ as _names

__all__ = [n for n in _names if n != "check_member"]


def __getattr__(name):
    if name == "comm_func":
        import importlib
        return importlib.import_module("mindspore.communication.comm_func")
    raise AttributeError(f"module 'mindspore.communication' has no attribute {name!r}")
