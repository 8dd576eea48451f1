"""Names of the number formats of quantised weights."""
import enum

__all__ = ["QuantDtype"]


@enum.unique
class QuantDtype(enum.Enum):
    """INT1 to INT16 and UINT1 to UINT16; ``str(q)`` is the name and ``q.value()`` the number."""

    _ignore_ = "bits"
    for bits in range(1, 17):
        vars()[f"INT{bits}"] = bits - 1
    for bits in range(1, 17):
        vars()[f"UINT{bits}"] = bits + 99

    def __str__(self):
        return self.name

    def value(self):
        """The number of the format."""
        return self._value_
