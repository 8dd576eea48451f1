"""Nested tuples, lists, dicts and sparse tensors: how arguments, results and variables are taken apart and put together."""


class Leaf:
    """The place of a tensor in a taken-apart value."""

    __slots__ = ("index",)

    def __init__(self, index):
        self.index = index

    def __eq__(self, other):
        return type(other) is Leaf and other.index == self.index

    def __hash__(self):
        return hash((Leaf, self.index))

    def __repr__(self):
        return f"Leaf({self.index})"


class Scalar(Leaf):
    """The place of a tensor that stands for a number of Python."""

    __slots__ = ()


def _number(tensor):
    """Inside vmap a number has many values, and stays a tensor."""
    try:
        return tensor.item()
    except RuntimeError:
        return tensor


def is_named(value):
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def rebuild(value, items):
    """A container like value with other items."""
    kind = type(value)
    if is_named(value):
        return kind(*items)
    if isinstance(value, dict):
        return kind(zip(value, items)) if kind is dict else _like(value, items)
    if hasattr(kind, "ms_parts"):
        return kind.of_parts(items)
    return kind(items)


def _like(value, items):
    out = value.copy()
    for key, item in zip(value, items):
        out[key] = item
    return out


def children(value):
    """The items of a container that is looked into, else None."""
    kind = type(value)
    if kind is tuple or kind is list or is_named(value):
        return list(value)
    if kind is dict or (isinstance(value, dict) and kind.__name__ == "OrderedDict"):
        return list(value.values())
    return [getattr(value, name) for name in getattr(kind, "ms_parts", ())] or None


def take(value, kinds, tensors):
    """The value with a Leaf for every tensor (instance of kinds), which are appended to tensors."""
    if isinstance(value, kinds):
        tensors.append(value)
        return Leaf(len(tensors) - 1)
    items = children(value)
    if items is None:
        return value
    return rebuild(value, [take(item, kinds, tensors) for item in items])


def fill(value, tensors):
    """The value with tensors[k] for every Leaf k."""
    if type(value) is Leaf:
        return tensors[value.index]
    if type(value) is Scalar:
        return _number(tensors[value.index])
    items = children(value)
    if items is None:
        return value
    return rebuild(value, [fill(item, tensors) for item in items])


def has_leaf(value):
    if type(value) is Leaf:
        return True
    items = children(value)
    return items is not None and any(has_leaf(item) for item in items)
