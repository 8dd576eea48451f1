"""Groups of the registry that are no public module."""
from mindspore import _c


class Rows:
    """The functions of a group as attributes: ``Rows("_nn").conv``."""

    def __init__(self, prefix):
        self._prefix = prefix

    def __getattr__(self, name):
        try:
            row = _c.row(f"{self._prefix}.{name}")
        except KeyError:
            raise AttributeError(f"The library has no function '{self._prefix}.{name}'.") from None
        setattr(self, name, row)
        return row


nn = Rows("_nn")
optim = Rows("_optim")
init = Rows("_init")
format = Rows("_format")
