"""Callbacks of Model."""
from mindspore.train.callback import _callback, _checkpoint, _monitor, _request_exit
from mindspore.train.callback._callback import *  # noqa: F403
from mindspore.train.callback._callback import CallbackList as _CallbackManager, _InternalCallbackParam
from mindspore.train.callback._fault_tolerance import TrainFaultTolerance
from mindspore.train.callback._checkpoint import *  # noqa: F403
from mindspore.train.callback._monitor import *  # noqa: F403
from mindspore.train.callback._request_exit import *  # noqa: F403
from mindspore.train.callback._summary_collector import SummaryCollector

__all__ = [*_callback.__all__, *_monitor.__all__, *_checkpoint.__all__, *_request_exit.__all__, "SummaryCollector", "TrainFaultTolerance"]
