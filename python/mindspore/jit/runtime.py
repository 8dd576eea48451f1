"""What rewritten functions call (as ``ms__rt``): control flow that looks at its test when it runs.

A plain value takes Python's way. A tensor, while a function is being staged, takes ``control``'s, which stages the
parts as graphs. ``call`` gives the rewritten form of a user's function, method or callable object; functions of this
package, of the standard library and of numpy are called as they are.
"""
import functools
import importlib
import itertools
import operator
import os
import sys
import sysconfig
import threading
import types
import weakref

from . import number, rewrite, source, tree

BREAK = type("Break", (), {"__slots__": (), "__repr__": lambda s: "BREAK"})()
UNDEFINED = type("Undefined", (), {"__slots__": (), "__repr__": lambda s: "UNDEFINED"})()


class Return:
    """A loop's body returned from the function."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Mixed:
    """A signal that tensors decide: the loop was left by break (brk), or by return with value (ret)."""

    __slots__ = ("brk", "ret", "value")

    def __init__(self, brk, ret, value):
        self.brk, self.ret, self.value = brk, ret, value


class Unstageable(RuntimeError):
    """Something that a graph cannot hold; the function runs eagerly unless fullgraph=True."""


class Aliased(Unstageable):
    """A tensor was written that is also another one on one path, so that a graph would have to write both there."""


class _State(threading.local):
    session = None  # what is being staged by this thread (cache.Session), or None


state = _State()
tensor_type = ()  # set by front: instances of it are tensors


def traced(x):
    return state.session is not None and isinstance(x, tensor_type)


def _control():
    return importlib.import_module("mindspore.jit.control")  # only tensor-dependent control flow needs it


# ---- places in the user's program ----

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def place(frame=None):
    """(file, line, function) of the innermost frame outside this package."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(HERE):
            return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back
    return "?", 1, "?"


def places(error=None):
    """[(file, line, function)] of the user's frames, outermost first: those that are being staged, then those of an exception."""
    found, frame = [], sys._getframe(1) if state.session is not None else None
    while frame is not None and frame.f_code is not state.session.root:
        found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    found.reverse()
    tb = error and error.__traceback__.tb_next  # the first one is of the frame that caught it
    while tb is not None:
        found.append((tb.tb_frame.f_code, tb.tb_lineno))
        tb = tb.tb_next
    return [(code.co_filename, line, code.co_name) for code, line in found if not code.co_filename.startswith(HERE)]


def place_of(error):
    """(file, line, function, expression) of the innermost user frame of an exception."""
    found, tb = ("?", 1, "?", ""), error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if not code.co_filename.startswith(HERE):
            found = (code.co_filename, tb.tb_lineno, code.co_name, _expression(code, tb.tb_lasti, tb.tb_lineno))
        tb = tb.tb_next
    return found


def _expression(code, lasti, line):
    text = source.line_text(code.co_filename, line)
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return text
    spans = list(positions())
    first, last, begin, end = spans[lasti // 2] if lasti // 2 < len(spans) else (None,) * 4
    if first is None or first != last or begin is None or end is None:
        return text
    import linecache
    raw = linecache.getline(code.co_filename, first).encode()
    return raw[begin:end].decode(errors="replace").strip() or text


# ---- names ----

def cells(*functions):
    """The variables that generated functions share, by name."""
    found, todo, seen = {}, [f for f in functions if f is not None], set()
    while todo:
        f = todo.pop()
        if f in seen:
            continue
        seen.add(f)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            if not name.startswith("ms__"):
                found.setdefault(name, cell)
                continue
            try:
                inner = cell.cell_contents
            except ValueError:
                continue
            if isinstance(inner, types.FunctionType):
                todo.append(inner)
    return found


def get(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return UNDEFINED


def put(cell, value):
    if value is not UNDEFINED:
        cell.cell_contents = value
    elif get(cell) is not UNDEFINED:
        del cell.cell_contents


def _unbound(error, names):
    """A name without a value is an UnboundLocalError in the original, where it is no variable of a closure."""
    name = getattr(error, "name", None) or str(error).partition("'")[2].partition("'")[0]
    if type(error) is not NameError or "free variable" not in str(error) or name not in names:
        return error
    session = state.session
    why = session.lost.get(name) if session is not None else None
    text = f"cannot access local variable '{name}' where it is not associated with a value"
    if why:
        session.unstageable = True
        text += f": {why}"
    return UnboundLocalError(text)


# ---- lists and dicts ----

def same_items(a, b):
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(k in b and b[k] is v for k, v in a.items()) and list(a) == list(b)
    return all(x is y for x, y in zip(a, b))


def refill(box, content):
    """Gives a list or dict other items."""
    if type(box) is list:
        box[:] = content
    else:
        box.clear()
        box.update(content)


# ---- statements ----

def if_(test, then, other, names, line, tail):
    if traced(test):
        try:
            return _control().cond(test, then, other, names, line, tail)
        except Unstageable as e:
            test = _decide(test, e)
    try:
        if test:
            return then()
        return other() if other is not None else None
    except NameError as e:
        new = _unbound(e, names)
        if new is e:
            raise
        raise new.with_traceback(e.__traceback__) from None


def _decide(test, error):
    """The value of a test by which a graph cannot branch: the graph so far is run. error where that is not allowed."""
    session = state.session
    if not session.may_look or session.unstageable:
        raise error
    try:
        return bool(test)
    except Unstageable:
        raise error from None


def while_(test, body, names, line):
    try:
        while True:
            t = test()
            if traced(t):
                try:
                    return _control().while_(test, body, names, line)
                except Unstageable as e:
                    t = _decide(t, e)
            if not t:
                return None
            signal = body()
            if signal is not None:
                if type(signal) is Mixed:
                    return _control().while_(test, body, names, line, signal)
                return signal
    except NameError as e:
        new = _unbound(e, names)
        if new is e:
            raise
        raise new.with_traceback(e.__traceback__) from None


def for_(iterable, body, names, targets, line):
    if type(iterable) is TracedRange:
        return _control().for_range(iterable, body, names, targets, line)
    if traced(iterable):
        return _control().for_tensor(iterable, body, names, targets, line)
    try:
        items = iter(iterable)
        for item in items:
            signal = body(item)
            if signal is not None:
                if type(signal) is Mixed:
                    return _control().for_rest(items, body, names, line, signal)
                return signal
        return None
    except NameError as e:
        new = _unbound(e, names)
        if new is e:
            raise
        raise new.with_traceback(e.__traceback__) from None


def completed(signal):
    """Whether a loop ran to its end: the test of its else part."""
    if type(signal) is Mixed:
        return _control().completed(signal)
    return signal is None


def after(signal, rest, names, line, tail):
    """What follows a loop that may have returned."""
    if type(signal) is Return:
        return signal if tail == "loop" else signal.value
    if type(signal) is Mixed:
        leave = Return(signal.value) if tail == "loop" else signal.value
        if signal.ret is not False:
            return if_(signal.ret, lambda: leave, rest, names, line, tail)
    return rest() if rest is not None else None


def returned(signal):
    if type(signal) is Mixed and signal.ret is not False:
        raise Unstageable("A loop inside try, with or match returns where a tensor decides")
    return type(signal) is Return


def value(signal):
    return signal.value


def plain_test(test, line):
    if traced(test):
        raise Unstageable(f"Line {line}: a tensor decides about return, break or continue inside try, with or match")
    return test


def assert_(test, message, line):
    if traced(test):
        return _control().check(test, message, line)
    if not test and __debug__:
        raise AssertionError() if message is None else AssertionError(message())
    return None


# ---- expressions ----

def and_(value, *rest):
    for k, thunk in enumerate(rest):
        if traced(value):
            return _control().and_(value, rest[k:])
        if not value:
            return value
        value = thunk()
    return value


def or_(value, *rest):
    for k, thunk in enumerate(rest):
        if traced(value):
            return _control().or_(value, rest[k:])
        if value:
            return value
        value = thunk()
    return value


def not_(value):
    if traced(value):
        return _control().not_(value)
    return not value


def ifexp(test, then, other, line):
    if traced(test):
        try:
            return _control().cond(test, then, other, (), line, "expression")
        except Unstageable as e:
            test = _decide(test, e)
    return then() if test else other()


_COMPARE = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
            "NotEq": operator.ne, "Is": operator.is_, "IsNot": operator.is_not,
            "In": lambda a, b: contains(b, a), "NotIn": lambda a, b: not_(contains(b, a))}


def contains(box, item):
    if type(box) in (list, tuple) and (traced(item) or any(traced(v) for v in box)):
        return _control().contains(box, item)
    return item in box


def chain(ops, left, right, *rest):
    """left op right op ...: every operand is evaluated once, and none behind the first false comparison."""
    result = _COMPARE[ops[0]](left, right)
    if not rest:
        return result

    def others():
        return chain(ops[1:], right, rest[0](), *rest[1:])

    return and_(result, others)


# ---- texts ----

class Text:
    """A text with staged tensors in it: printed or raised, it is made when the graph runs; who needs it now gets that of
    the tensors' values."""

    def __init__(self, fn, args, kwargs=None):
        self.fn, self.args, self.kwargs = fn, args, kwargs or {}
        state.session.lazy_text = True

    __class__ = property(lambda self: str)

    def __str__(self):
        return self.fn(*self.args, **self.kwargs)

    def __repr__(self):
        return repr(str(self))

    def __format__(self, spec):
        return format(str(self), spec)

    def __add__(self, other):
        return Text(operator.add, (self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other):
        return Text(operator.add, (other, self)) if isinstance(other, str) else NotImplemented

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(str(self), name)


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "contains", "getitem", "mul", "rmul", "mod"):
    setattr(Text, f"__{_name}__", lambda self, other, _name=f"__{_name}__": getattr(str(self), _name)(
        str(other) if type(other) is Text else other))
for _name in ("hash", "len", "iter"):
    setattr(Text, f"__{_name}__", lambda self, _name=f"__{_name}__": getattr(str(self), _name)())


def _waits(value):
    if isinstance(value, tensor_type):
        return value._traced
    if type(value) is Text:
        return True
    items = tree.children(value)
    return items is not None and any(_waits(v) for v in items)


def text(fn, *args, **kwargs):
    """fn(*args), a text."""
    if state.session is not None and (_waits(args) or kwargs and _waits(kwargs)):
        return Text(fn, args, kwargs)
    return fn(*args, **kwargs)


def percent(template, args):
    return text(operator.mod, template, args)


# ---- calls ----

class TracedRange:
    """range() of which a bound is a tensor."""

    def __init__(self, *args):
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        self.start, self.stop, self.step = start, stop, step

    def __iter__(self):
        raise Unstageable("range() over a tensor can only be used in a for statement")


def _range(*args):
    if 1 <= len(args) <= 3 and any(traced(a) for a in args):
        return TracedRange(*args)
    return range(*args)


def _isinstance(value, kinds):
    return isinstance(number.sample(value) if type(value) is number.Number else value, kinds)


def _calling(fn):
    """fn of the standard library, which calls functions that it is given."""
    def special(*args, **kwargs):
        args, kwargs = [_called(a) for a in args], {k: _called(v) for k, v in kwargs.items()}
        return fn(*args, **kwargs)
    return special


def _called(value):
    return call(value) if type(value) in (types.FunctionType, types.MethodType, functools.partial) else value


def _print(*args, **kwargs):
    return importlib.import_module("mindspore.jit.effects").show(*args, **kwargs)


def _by_text(fn):
    """fn, which takes the name of an attribute as a text."""
    def special(value, name, *more):
        if state.session is not None:
            state.session.guards.by_text(value, name)
        return fn(value, name, *more)
    return special


_SPECIAL = {
    **{fn: _by_text(fn) for fn in (getattr, hasattr, setattr, delattr)},
    range: _range,
    isinstance: _isinstance,
    print: _print,
    str: lambda *args, **kwargs: text(str, *args, **kwargs),
    repr: lambda x: text(repr, x),
    format: lambda *args: text(format, *args),
    **{fn: _calling(fn) for fn in (map, filter, sorted, max, min, functools.reduce, functools.cmp_to_key, itertools.accumulate,
                                   itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.groupby)},
}

_STDLIB = tuple({sysconfig.get_path(p) + "/" for p in ("stdlib", "platstdlib")})
_SITE = ("site-packages", "dist-packages")
_LIBRARIES = {"mindspore", "numpy", "scipy"}
_codes = {}                                # code object -> rewritten code, or the reason why there is none
_rewritten = weakref.WeakSet()             # rewritten code


def is_user(fn):
    """Whether a Python function is the user's: neither this package's nor the standard library's."""
    if "ms_rewrite" in fn.__dict__:
        return fn.__dict__["ms_rewrite"]
    if (fn.__globals__.get("__name__") or "").partition(".")[0] in _LIBRARIES:
        return False
    name = fn.__code__.co_filename
    return not (name.startswith(_STDLIB) and not any(s in name for s in _SITE))


def _new_code(fn):
    code = fn.__code__
    known = _codes.get(code)
    if known is None:
        found = source.find(fn)
        if found is None:
            known = "its source is not available"
        else:
            try:
                known = rewrite.rewrite(*found, code.co_freevars, code.co_filename)
            except rewrite.CannotRewrite as e:
                known = str(e)
        _codes[code] = known
    return known


def convert(fn):
    """The rewritten form of a user's function, with the same globals and the same closure cells; fn itself where it
    cannot be rewritten."""
    if "ms__original" in fn.__dict__ and fn.__code__ in _rewritten:
        return fn
    new = fn.__dict__.get("ms__rewritten")  # a decorator may have copied it from another function
    if new is not None and new.__dict__["ms__original"] is fn and new.__dict__["ms__code"] is fn.__code__:
        if new.__defaults__ is not fn.__defaults__:
            new.__defaults__ = fn.__defaults__
        if new.__kwdefaults__ is not fn.__kwdefaults__:
            new.__kwdefaults__ = fn.__kwdefaults__
        return new
    code = _new_code(fn) if is_user(fn) else ""
    if isinstance(code, str):
        session = state.session
        if code and session is not None:
            session.unread.append((fn, code))
            session.saw(fn)
            session.guards.deep = True  # what it calls is not seen
        return fn
    own = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    own[rewrite.RT] = _SELF
    new = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__,
                             tuple(own[name] for name in code.co_freevars))
    new.__kwdefaults__ = fn.__kwdefaults__
    new.__qualname__ = fn.__qualname__
    new.__module__ = fn.__module__
    new.__dict__.update(fn.__dict__)
    _rewritten.add(code)
    new.__dict__["ms__code"] = fn.__code__
    new.__dict__["ms__original"] = fn  # in the functions themselves, so that they die together
    fn.__dict__["ms__rewritten"] = new
    return new


def call(f):
    """What to call in place of f."""
    kind = type(f)
    if kind is types.FunctionType:
        new = convert(f)
        if new is not f and state.session is not None:
            state.session.saw(new.__dict__["ms__original"])
        return new
    if kind is types.MethodType:
        inner = call(f.__func__)
        if inner is f.__func__:
            return f
        if state.session is not None:
            state.session.guards.value(f.__self__)
        return types.MethodType(inner, f.__self__)
    if kind is functools.partial:
        inner = call(f.func)
        return f if inner is f.func else functools.partial(inner, *f.args, **f.keywords)
    if kind is types.BuiltinFunctionType or kind is type:
        if type(getattr(f, "__self__", None)) is str and f.__name__ in ("format", "join"):
            return functools.partial(text, f)
        if f.__name__ == "sort" and type(f.__self__) is list:
            return _calling(f)
        try:
            return _SPECIAL.get(f, f)
        except TypeError:
            return f
    if isinstance(f, type):
        if state.session is not None:
            state.session.guards.methods(f)
        return f
    method = getattr(kind, "__call__", None)
    if type(method) is types.FunctionType and is_user(method):
        return types.MethodType(call(method), f)
    return f


def user(f):
    """For functions of this package that call a user's function: its rewritten form while one is being staged."""
    session = state.session
    return call(f) if session is not None and session.rewrites else f


_SELF = types.CellType(sys.modules[__name__])
