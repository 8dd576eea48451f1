"""Printing and checking: at once where values are known, when the graph runs where they are not."""
import builtins

from mindspore import _c
from . import runtime, tape, tree


class Repr:
    """A value that prints as its repr."""

    def __init__(self, value):
        self.value = value

    def __str__(self):
        return repr(self.value)


class _Held:
    """The place of a staged tensor in what will be printed."""

    def __init__(self, index, exact):
        self.index, self.exact = index, exact


class _HeldText:
    def __init__(self, text, tensors):
        self.fn, self.args, self.kwargs = text.fn, _hold(text.args, tensors), _hold(text.kwargs, tensors)


def _hold(value, tensors):
    if type(value) is runtime.Text:
        return _HeldText(value, tensors)
    if type(value) is tape.Size:
        return value.pin()
    if isinstance(value, Repr):
        if not waits(value.value):
            return value
        tensors.append(value.value)
        return _Held(len(tensors) - 1, True)
    if waits(value):
        tensors.append(value)
        return _Held(len(tensors) - 1, False)
    items = tree.children(value)
    return value if items is None else tree.rebuild(value, [_hold(v, tensors) for v in items])


def _fill(value, tensors):
    if type(value) is _HeldText:
        return value.fn(*_fill(value.args, tensors), **_fill(value.kwargs, tensors))
    if type(value) is _Held:
        return Repr(tensors[value.index]) if value.exact else tensors[value.index]
    items = tree.children(value)
    return value if items is None else tree.rebuild(value, [_fill(v, tensors) for v in items])


def settle(error):
    """Texts in what an exception says become texts of the values."""
    error.args = tuple([str(a) if type(a) is runtime.Text else a for a in error.args])


def waits(value):
    """Whether a value is known only when the graph runs."""
    return runtime.state.session is not None and isinstance(value, _c.Tensor) and _c.is_traced(value)


def show(*args, **kwargs):
    """print() for values of which some may be staged; while a function is staged, part of its graph."""
    tensors = []
    held = [_hold(a, tensors) for a in args]
    if runtime.state.session is None:
        return builtins.print(*args, **kwargs)
    _c.host(lambda *now: builtins.print(*[_fill(a, now) for a in held], **kwargs), tuple(tensors))
    return None


def fail(fn):
    """fn(), which raises an exception, as part of the graph."""
    try:
        fn()
    except Exception as e:
        tensors, kind = [], type(e)
        args, place = _hold(e.args, tensors), runtime.place_of(e)[:3]
        _c.host(lambda *now: _raise_at(kind(*_fill(args, now)), *place), tuple(tensors))


def _raise_at(error, filename, line, name):
    """Raises it from the user's line, as the traceback will tell."""
    code = compile("\n" * (line - 1) + "raise ms__error", filename, "exec").replace(co_name=name)
    exec(code, {"ms__error": error})


def check(condition, fail, *data):
    """fail(*data) raises when the one-element tensor condition is false."""
    tensors = [condition]
    held, place = [_hold(d, tensors) for d in data], runtime.place()

    def run(*now):
        if not bool(now[0]):
            try:
                fail(*[_fill(d, now) for d in held])
            except Exception as e:
                error = e
            _raise_at(error, *place)
    if len(tensors) > 1 or waits(condition):
        _c.host(run, tuple(tensors))
    else:
        run(condition)
