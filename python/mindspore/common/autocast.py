"""Half precision for what runs inside: products in the half type, exponentials, sums and norms in float32."""
import contextlib

from mindspore import _c

# The types that are on, of all threads: empty in most programs, where nobody else need ask.
active = []


@contextlib.contextmanager
def autocast(dtype):
    """While it is open, this thread's operators choose between ``dtype`` and float32; None: they do not."""
    before = _c.autocast(dtype)
    active.append(dtype)
    try:
        yield
    finally:
        active.pop()
        _c.autocast(before)
