"""Printing and checking: at once where values are known, when the graph runs where they are not."""
import builtins
import types

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
        args, places = _hold(e.args, tensors), runtime.places(e)
        _c.host(lambda *now: _raise_at(kind(*_fill(args, now)), places), tuple(tensors))


def _raise_at(error, places):
    """Raises it from the user's lines, as the traceback will tell."""
    run, statement = error, "raise ms__next"
    for filename, line, name in reversed(places):
        code = compile("\n" * (line - 1) + statement, filename, "exec").replace(co_name=name)
        run, statement = types.FunctionType(code, {"ms__next": run}), "ms__next()"
    if not places:
        raise error
    run()


def check(condition, fail, *data):
    """fail(*data) raises when the one-element tensor condition is false."""
    tensors = [condition]
    held, places = [_hold(d, tensors) for d in data], runtime.places()

    def run(*now):
        if not bool(now[0]):
            try:
                fail(*[_fill(d, now) for d in held])
            except Exception as e:
                error = e
            _raise_at(error, places)
    if len(tensors) > 1 or waits(condition):
        _c.host(run, tuple(tensors))
    else:
        run(condition)
