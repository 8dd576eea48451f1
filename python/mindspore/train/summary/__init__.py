"""Logs of training runs."""
from mindspore.train.summary.summary_record import SummaryRecord

__all__ = ["SummaryCollector", "SummaryRecord"]


def __getattr__(name):
    if name == "SummaryCollector":  # a callback: it needs this package itself
        from mindspore.train.callback._summary_collector import SummaryCollector
        return SummaryCollector
    raise AttributeError(f"module 'mindspore.train.summary' has no attribute {name!r}")
