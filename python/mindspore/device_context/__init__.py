"""Options of each kind of device."""
from mindspore.device_context import ascend, cpu, gpu

__all__ = ["ascend", "cpu", "gpu"]
