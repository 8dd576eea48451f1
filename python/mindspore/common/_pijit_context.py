"""Compilation from bytecode, as existing code asks for it."""
from mindspore.jit import jit

__all__ = ["PIJitCaptureContext"]


def PIJitCaptureContext(fn=None, jit_config=None, *, fullgraph=False):
    """A decorator; the options of jit_config steer how the original reads the bytecode."""
    wrap = jit(capture_mode="bytecode", fullgraph=fullgraph)
    return wrap if fn is None else wrap(fn)
