"""Symbol: a size of an input that is open, and what is known about it."""

__all__ = ["Symbol"]


class Symbol:
    """An open size in ``Tensor(shape=[Symbol(...), 3], dtype=...)``: at least min, at most max (0: no bound), and ``divisor * n +
    remainder``. With unique, sizes of the same Symbol are equal. Calls are not checked against it."""

    def __init__(self, max=0, min=1, divisor=1, remainder=0, unique=False, **kwargs):
        for name, value in (("max", max), ("min", min), ("divisor", divisor), ("remainder", remainder)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'Symbol', the argument '{name}' must be int, but got {type(value)}")
        if not isinstance(unique, bool):
            raise TypeError(f"For 'Symbol', the argument 'unique' must be bool, but got {type(unique)}")
        for name, value in (("min", min), ("divisor", divisor)):
            if value <= 0:
                raise ValueError(f"For 'Symbol', the '{name}' value should be positive, but got {value}")
        if not 0 <= remainder < divisor:
            raise ValueError(f"For 'Symbol', the 'remainder' value should be in the range '[0, {divisor})', but got {remainder}")
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique

    def to_dict(self):
        """What differs from a size of which nothing is known."""
        out = {}
        if self.max > self.min:
            out["max"] = self.max
        if self.min > self.divisor:
            out["min"] = self.min
        if self.divisor != 1:
            out["divisor"] = self.divisor
        if self.remainder != 0:
            out["remainder"] = self.remainder
        if self.unique:
            out["id"] = id(self)
        return out

    def __repr__(self):
        return str(self.to_dict())
