"""ms.jit and Graph mode: a call is looked up by the types of its tensors and by everything else it depends on; the
first of a kind stages the function into a graph.

ast     control flow of the function and of what it calls is rewritten (rewrite), then it is staged
trace   the function is staged as it is

bytecode  like ast; code without source (exec, lambdas that cannot be told apart) is staged as it runs

Where the function looks at the value of a tensor, or branches in a way that a graph cannot hold, the graph so far is run
and staging goes on with the value, which becomes a condition: later calls run the first part, compare, and run the rest,
or take another form. With fullgraph=True that is an error that names the line. What no graph can hold at all runs as plain
Python for that kind of call. Refused: going on in Python's frame between the parts; it would have to run on every call.

The second time that a call differs in sizes only, staging is recorded (tape); graphs for further sizes are made from the
record.
"""
import functools
import inspect
import os
import sys
import threading
import types
import weakref

from mindspore import _c, context
from mindspore.common import autocast, hooks
from mindspore.common._mutable import NUMBERS
from . import effects, guard, number, runtime, save, source, tape, tree
from .runtime import Unstageable, state

_MAX_LOOKS = 24   # values that one form looks at
_MAX_PATHS = 8    # forms of one kind of arguments that differ by such values
_MAX_SIZES = 64   # graphs for other sizes that are kept
_MAX_RECORDS = 2  # attempts to record a function
_MAX_FORMS = 64  # compiled forms of one function for one kind of arguments; more means that it never settles
_lock = threading.RLock()
_compiled = weakref.WeakKeyDictionary()  # code -> the Counts of its last Jit

runtime.tensor_type = _c.Tensor


class _Eager(threading.local):
    """Calls of the function as it is, in place of a graph."""
    depth = 0


_eager = _Eager()


def explain(text):
    if os.environ.get("MS_JIT_EXPLAIN", "0") not in ("", "0"):
        print(f"[jit] {text}", file=sys.stderr)


@functools.lru_cache(maxsize=None)
def _parameter_type():
    from mindspore.common.parameter import Parameter
    return Parameter


@functools.lru_cache(maxsize=None)
def _cell_type():
    from mindspore.nn.cell import Cell
    return Cell


class Session:
    """One staging, with everything it calls."""

    def __init__(self, rewrites):
        self.rewrites = rewrites
        self.root = Jit.stage.__code__  # of the frame that stages
        self.lost = {}       # variable -> why it has no value
        self.unread = []     # (function, why it was not rewritten)
        self.unstageable = False
        self.trace, self.inputs = None, ()
        self.may_look = False
        self.branches = True  # whether graphs may branch
        self.pending = []    # (weakly a tensor, what it is merged into): before it is known who else holds the first
        self.aliases = []    # (of either, its version then, the place): one tensor on one path, two on another
        self.aliased = None  # the place of those of which one was written
        self.looked = []     # (the tensor as it was, the content of its value)
        self.tape = None     # what is recorded
        self.lazy_text = False
        self.recipe = None   # and how it is done again
        self.avals = None    # what differs between calls of a kind: see _avals
        self.text = None     # hash of the graph's text as it was staged
        self.guards = guard.Guards(_cell_type(), _c.Tensor, runtime.is_user, deep=not rewrites)

    def saw(self, fn, first=guard.MISSING):
        self.guards.function(fn, first)
        if self.guards.unsettled:
            raise Unstageable(self.guards.unsettled)  # before it is used

    def keep_aliases(self):
        """A branch or loop has ended: a tensor that something else holds as well is also what it was merged into."""
        for ref, merged in self.pending:
            tensor = ref and ref()
            if tensor is not None:
                place = "{}:{}".format(*runtime.place(sys._getframe(1))[:2])
                if merged is None:  # the loop wrote it
                    self.aliased = place
                else:
                    self.aliases += [(x, _c.content_version(x), place) for x in (tensor, merged)]
        self.pending = []

    def leave_aliases(self, n=0):
        """The trace of all but the first n is ended."""
        self.aliased = next((place for x, version, place in self.aliases[n:] if _c.content_version(x) != version),
                            self.aliased)
        del self.aliases[n:]

    def look(self, tensor):
        """The value of a staged tensor, on which the form depends from now on."""
        if not self.may_look:
            raise Unstageable("the value of a tensor is needed while the graph is made")
        if self.tape is not None:
            self.tape.fail("it looks at the value of a tensor")
        if len(self.looked) == _MAX_LOOKS:
            raise Unstageable(f"the function looks at more than {_MAX_LOOKS} values")
        try:
            value, handle = self.trace.peek(tensor, self.inputs)
        except NotImplementedError as e:
            raise Unstageable(str(e)) from None
        self.looked.append((handle, _c.content(value)))
        explain("the graph so far is run: {}:{} looks at a value".format(*runtime.place(sys._getframe(1))[:2]))
        return value

    def line(self):
        return runtime.place(sys._getframe(1))[1]


def _no_value(tensor):
    """Asked by the extension for the value of a tensor that is being staged."""
    if state.session is None:
        return tensor
    return state.session.look(tensor)


def value_of(tensor):
    """For texts: the value of a staged tensor. Outside of a session, as in a debugger, the tensor itself."""
    return tensor if state.session is None else state.session.look(tensor)


def _looked_for_hooks(tensor):
    if state.session is not None:
        state.session.guards.hooked(tensor)


hooks.told = _looked_for_hooks


def _read(tensor):
    """Told by the extension that the content of a tensor of outside is looked at."""
    if state.session is not None:
        state.session.guards.content(tensor)


_c.watch_places(runtime.HERE)
_c.set_concrete_hook(_no_value)
_c.set_read_hook(_read)


def _lost(error, session):
    """Why a variable has no value that staging has taken it from, or None."""
    return session.lost.get(str(error).partition("'")[2].partition("'")[0]) if isinstance(error, NameError) else None


def _cannot_stage(error, session):
    return _lost(error, session) is not None or isinstance(error, (Unstageable, NotImplementedError, RecursionError)) or session.unstageable or \
        isinstance(error, RuntimeError) and "has no value yet" in str(error)


# ---- arguments ----

class _Object:
    """A static argument compared by identity (and by its attributes, through guards)."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return id(self.value)

    def __eq__(self, other):
        return type(other) is _Object and other.value is self.value

    def __repr__(self):
        return f"{type(self.value).__name__} object"


def _shape(tensor):
    return tensor.shape


def _rank(tensor):
    return tensor.ndim


def key_of(value, tensors, form=_shape):
    """A hashable description of an argument, with form(tensor) for the sizes; its tensors are appended to tensors."""
    kind = type(value)
    if kind is _c.Tensor:
        tensors.append(value)
        return (value.dtype, form(value))
    if kind is int or kind is str or kind is bool or value is None:
        return (kind, value)
    if kind is float or kind is complex:
        return (kind, repr(value))
    if kind is tuple or kind is list:
        return (kind, *[key_of(v, tensors, form) for v in value])
    if kind is dict:
        return (dict, tuple(value), *[key_of(v, tensors, form) for v in value.values()])
    if isinstance(value, _c.Tensor):
        if isinstance(value, _parameter_type()):
            return _Object(value)  # read and written by reference
        tensors.append(value)
        return (kind, value.dtype, form(value))
    if kind in NUMBERS:
        return (kind, repr(value) if form is _shape else None)
    items = tree.children(value)
    if items is not None:
        return (kind, *[key_of(v, tensors, form) for v in items])
    if kind.__module__ == "numpy":
        return (kind, getattr(value, "shape", None), str(getattr(value, "dtype", "")), value.tobytes()) \
            if hasattr(value, "tobytes") else _Object(value)
    if kind is slice:
        return (slice, *[key_of(v, tensors, form) for v in (value.start, value.stop, value.step)])
    return _Object(value)


def _is_input(value):
    return isinstance(value, _c.Tensor) and not isinstance(value, _parameter_type())


class _Place(tree.Leaf):
    """The place of a mutable number."""

    __slots__ = ()


def _twins(tensors):
    """For each tensor the first that is the same object: one that is given twice is one inside as well."""
    first = {}
    return tuple([first.setdefault(id(x), k) for k, x in enumerate(tensors)])


def _take_inputs(value, tensors, numbers):
    if isinstance(value, _c.Tensor):
        if not isinstance(value, _parameter_type()):
            tensors.append(value)
            return tree.Leaf(len(tensors) - 1)
        return value
    if type(value) in NUMBERS:
        numbers.append(value.plain())
        return _Place(len(numbers) - 1)
    if type(value) is slice:
        return slice(*[_take_inputs(v, tensors, numbers) for v in (value.start, value.stop, value.step)])
    items = tree.children(value)
    return value if items is None else tree.rebuild(value, [_take_inputs(v, tensors, numbers) for v in items])


def _fill_inputs(value, tensors, numbers):
    if type(value) is tree.Leaf:
        return tensors[value.index]
    if type(value) is _Place:
        return numbers[value.index]
    if type(value) is slice:
        return slice(*[_fill_inputs(v, tensors, numbers) for v in (value.start, value.stop, value.step)])
    items = tree.children(value)
    return value if items is None else tree.rebuild(value, [_fill_inputs(v, tensors, numbers) for v in items])


# ---- compiled forms ----

_OTHER = object()  # the values that a form has looked at are others now


class Form:
    """A graph for one kind of call, or the reason why there is none."""

    __slots__ = ("graph", "result", "writes", "guards", "reason", "passed", "single", "before", "expected", "boxes", "calls")

    def __init__(self, guards, reason=None):
        self.calls = 0
        self.guards, self.reason = guards, reason
        self.graph = self.result = self.before = None
        self.expected = ()
        self.writes = self.passed = self.boxes = ()
        self.single = False

    def run(self, tensors, args, kwargs):
        if self.before is None:
            outs = self.graph.call(tensors)
        else:
            try:
                values = self.before.call(tensors)
                if any(_c.content(v) != want for v, want in zip(values, self.expected)):
                    return _OTHER
            except Exception:  # on the way of other values: the right way tells whether it is an error
                return _OTHER
            outs = self.graph.call((*tensors, *values[len(self.expected):]))
        for index, k in self.writes:  # arguments that the function writes
            _c.write(tensors[index], outs[k])
        if self.single:
            return outs[0]
        if self.passed:
            outs = list(outs)
            for k, index in self.passed:  # results that are arguments
                outs.append(tensors[index])
        if not self.boxes:
            return tree.fill(self.result, outs)
        result, *contents = tree.fill(self.result, outs)
        places = [_at((args, kwargs), path) for path in self.boxes]  # all of them, before any changes
        for box, content in zip(places, contents):
            runtime.refill(box, content)
        return result


def _at(value, path):
    for k in path:
        value = value[k]
    return value


def _changed_boxes(old, new, path=()):
    """[(path, list or dict)] of the containers among the arguments that the function has changed; old: as they were."""
    kind = type(new)
    if kind not in (list, dict, tuple):
        return []
    if len(old) != len(new) or kind is dict and list(old) != list(new):
        return [(path, new)]
    pairs = [(k, old[k], new[k]) for k in (new if kind is dict else range(len(new)))]
    if any(a is not b and not (type(a) is type(b) and type(a) in (list, dict, tuple)) for _, a, b in pairs):
        return [(path, new)]
    return [found for k, a, b in pairs for found in _changed_boxes(a, b, (*path, k))]


class Sizes:
    """Calls of a function that differ in sizes only."""

    __slots__ = ("avals", "text", "guards", "recipe", "tries")

    def __init__(self):
        self.avals = self.text = self.guards = self.recipe = None  # of a form that was staged as usual
        self.tries = 0


class Recipe:
    """How to make the form for other sizes."""

    def __init__(self, record, form, outs):
        self.tape, self.guards = record, form.guards
        self.outs, self.result = record.spec(outs), record.spec(form.result)
        form.result = tape.plain(form.result)
        self.writes, self.passed, self.single, self.boxes = form.writes, form.passed, form.single, form.boxes
        record.close()

    def play(self, begin, inputs, numbers):
        """(graph, result). Raises Differs, or what a call raises."""
        trace, xs = begin(inputs)
        try:
            player = self.tape.play(xs, numbers)
            return trace.end(player.make(self.outs)), player.make(self.result)
        except BaseException:
            trace.end()
            raise
        finally:
            _c.set_place(-1)

    def form(self, inputs, numbers, level):
        new = Form(self.guards)
        new.graph, new.result = self.play(_c.stage_begin, inputs, numbers)
        new.graph.optimize(level)
        save.Saver().final(new.graph)
        new.writes, new.passed, new.single, new.boxes = self.writes, self.passed, self.single, self.boxes
        return new


class Counts:
    """What has become of a compiled function; kept when the function has gone."""

    __slots__ = ("name", "compiled", "breaks", "calls", "has_graph")

    def __init__(self, name):
        self.name, self.has_graph = name, False
        self.compiled = self.breaks = self.calls = 0  # calls: those of the form that was called last

    def called(self, form):
        form.calls += 1
        self.calls = form.calls


class Jit:
    """A function with its compiled forms."""

    compile_count = property(lambda self: self.counts.compiled)
    break_count = property(lambda self: self.counts.breaks)

    def __init__(self, fn, capture_mode="ast", jit_level="O1", fullgraph=False, name=None, call=None, dynamic=False):
        self.fn = fn
        self.mode, self.level, self.fullgraph = capture_mode, jit_level, fullgraph
        self.forms = {}
        self.kinds = {}     # key without sizes -> Sizes
        self.resized = []   # keys of the forms that recipes made, oldest first
        self.resize_count = 0
        self.reasons = []  # why it was compiled, each time
        self.described = None  # the arguments of the last time
        self.dynamic = dynamic
        self.cell = None  # gives the Cell that it stands for
        self.name = name or getattr(fn, "__qualname__", repr(fn))
        self.counts = Counts(self.name)
        self.call = call or (lambda *args, **kwargs: runtime.user(fn)(*args, **kwargs))

    def __call__(self, *args, **kwargs):
        if state.session is not None or _eager.depth:
            return self.inline(args, kwargs)
        key = None if kwargs else _c.avals_key(args)
        if key is not None:
            tensors = args
        else:
            tensors = []
            key = key_of(args, tensors)
            if kwargs:
                key += (tuple(kwargs), *[key_of(v, tensors) for v in kwargs.values()])
            if len(tensors) > 1 and _c.share_memory(tensors):
                key = (key, _twins(tensors))
        if hooks._tables or autocast.active:
            key = self.with_surroundings(key, tensors)
        forms = self.forms.get(key)
        why = None
        if forms is not None:
            for form in forms:
                why = form.guards.changed()
                if why is None:
                    if form.graph is None:
                        return self.eagerly(args, kwargs)
                    result = form.run(tensors, args, kwargs)
                    if result is not _OTHER:
                        self.counts.called(form)
                        return result
                    why = "a value that the function looked at is another one"
        with _lock:
            return self.compile(key, args, kwargs, tensors, why or self.difference(args, kwargs))

    def difference(self, args, kwargs):
        """What is new about these arguments, beside those of the last compilation."""
        old, new = self.described, _described(args, kwargs)
        if old is None:
            return "first call"
        found = [f"argument {k!r} was {old.get(k, 'absent')} and is {v}" for k, v in new.items() if old.get(k) != v]
        return ", ".join(found) or "the arguments differ from those of the last compilation"

    @staticmethod
    def with_surroundings(key, tensors):
        """The hooks of arguments and the precision around the call are part of what is compiled."""
        found, half = tuple([hooks.hooks_of(x) for x in tensors]), _c.autocast()
        return (key, found, half) if any(found) or half is not None else key

    def __reduce__(self):  # a copy of a Cell compiles anew
        return type(None), ()

    def inline(self, args, kwargs):
        session = state.session
        if session is None or self.mode == "trace":
            return self.fn(*args, **kwargs) if session is None else self.call(*args, **kwargs)
        outer, session.rewrites = session.rewrites, True
        try:
            return self.call(*args, **kwargs)
        finally:
            session.rewrites = outer

    def eagerly(self, args, kwargs):
        _eager.depth += 1
        try:
            return self.fn(*args, **kwargs)
        finally:
            _eager.depth -= 1

    # ---- staging ----

    def compile(self, key, args, kwargs, tensors, why):
        forms = self.forms.setdefault(key, [])
        twins = _twins(tensors) if len(tensors) > 1 and _c.share_memory(tensors) else None
        kind = (key_of((args, kwargs), [], _rank), twins)
        kind = self.kinds.setdefault(self.with_surroundings(kind, tensors), Sizes())
        form = self.resize(key, kind, args, kwargs)
        if form is not None:
            result = form.run(tensors, args, kwargs)
            self.counts.called(form)
            return result
        explain(f"compiling {self.name}: {why}")
        self.described = _described(args, kwargs)
        if sum(f.before is not None for f in forms) >= _MAX_PATHS:
            reason = f"it looks at values that took {_MAX_PATHS} different ways"
            explain(f"{self.name} runs as Python: {reason}")
            forms.insert(0, Form(forms[0].guards, reason))
            return self.eagerly(args, kwargs)
        self.counts.compiled += 1
        self.reasons.append(why)
        if len(forms) >= _MAX_FORMS:
            explain(f"{self.name} never settles ({why}); it runs as Python")
            return self.eagerly(args, kwargs)
        form = self.recorded(kind, args, kwargs)
        if form is None:
            form = self.staged(kind, args, kwargs)
            if self.sizes_open(args):
                self.recorded(kind, args, kwargs, at_once=True)
        if form.guards is not None:
            forms.insert(0, form)
        self.counts.breaks = max(self.counts.breaks, len(form.expected))
        self.counts.has_graph |= form.graph is not None
        result = form.run(tensors, args, kwargs) if form.graph is not None else _OTHER
        self.counts.called(form)
        return self.eagerly(args, kwargs) if result is _OTHER else result

    def staged(self, kind, args, kwargs):
        """The form of a call; one without a graph where none can be made."""
        session = Session(self.mode != "trace")
        session.may_look = not self.fullgraph
        try:
            try:
                form = self.stage(session, args, kwargs)
            except runtime.Aliased:
                if self.fullgraph:
                    raise
                session = Session(self.mode != "trace")
                session.may_look, session.branches = True, False
                form = self.stage(session, args, kwargs)
        except Exception as e:
            if not _cannot_stage(e, session):
                raise
            reason = self.reason(e, session)
            if self.fullgraph:
                raise RuntimeError(f"'{self.name}' cannot be one graph: {reason}") from e
            explain(f"{self.name} runs as Python: {reason}")
            session.guards.finish()
            form = Form(session.guards, reason)
            self.counts.breaks = max(self.counts.breaks, 1)
        if form.graph is not None and form.before is None and form.guards is not None:
            kind.avals, kind.text, kind.guards = session.avals, session.text, form.guards
        return form

    # ---- other sizes ----

    def resize(self, key, kind, args, kwargs):
        """The form for sizes that are new, made from what was recorded, or None."""
        recipe = kind.recipe
        if recipe is None or recipe.guards.changed() is not None:
            return None
        inputs, numbers = [], []
        _take_inputs((args, kwargs), inputs, numbers)
        try:
            form = recipe.form(inputs, numbers, 0 if self.level == "O0" else 1)
        except Exception as e:  # the usual way tells whether it is an error
            explain(f"{self.name} for other sizes: {_text(e)}")
            return None
        explain(f"made {self.name} for other sizes from what was recorded")
        self.resize_count += 1
        self.forms[key].insert(0, form)
        self.resized.append((key, form))
        if len(self.resized) > _MAX_SIZES:
            old, oldest = self.resized.pop(0)
            if oldest in self.forms.get(old, ()):
                self.forms[old].remove(oldest)
        return form

    def sizes_open(self, args):
        """Whether it was said that sizes will change: then the first call is recorded already."""
        cell = self.cell() if self.cell is not None else args[0] if args and isinstance(args[0], _cell_type()) else None
        return bool(self.dynamic or cell is not None and _has_open_inputs(cell))

    def recorded(self, kind, args, kwargs, at_once=False):
        """Stages and records a call for other sizes than another one had. The form, or None where no record was made."""
        if kind.text is None or kind.guards.changed() is not None or kind.tries == _MAX_RECORDS:
            return None
        inputs, numbers = [], []
        _take_inputs((args, kwargs), inputs, numbers)
        if not (inputs or numbers) or kind.avals == _avals(inputs, numbers) and not at_once:
            return None
        kind.tries += 1
        session = Session(self.mode != "trace")
        session.tape = record = tape.Tape()
        session.may_look = not self.fullgraph
        try:
            form = self.stage(session, args, kwargs)
            if record.broken or form.guards is None:
                raise tape.Differs(record.broken or "it uses values of an open transformation")
            recipe = session.recipe
            if hash(str(recipe.play(_c.stage_begin_avals, *kind.avals)[0])) != kind.text:
                raise tape.Differs("the graph depends on the sizes in another way")
        except Exception as e:
            explain(f"{self.name} is compiled for each size: {record.broken or _text(e)}")
            return None
        kind.recipe = recipe
        return form

    @staticmethod
    def reason(error, session):
        filename, line, _, text = runtime.place_of(error)
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        lost = _lost(error, session)
        out = (why if filename == "?" else f"{filename}:{line}: {text}: {why}") + (f": {lost}" if lost and lost not in why else "")
        for fn, cause in session.unread:
            out += f" ({fn.__qualname__} was not rewritten: {cause})"
        return out

    def stage(self, session, args, kwargs):
        inputs, numbers = [], []
        spec = _take_inputs((args, kwargs), inputs, numbers)
        self.note(session, args, kwargs)
        attach()
        trace, xs = _c.stage_begin(inputs)
        state.session = session
        session.trace, session.inputs = trace, inputs
        session.avals = _avals(inputs, numbers)
        for x, owner in zip(xs, inputs):
            hooks.borrow(x, owner)
        if session.tape is not None:
            numbers = session.tape.begin(xs, numbers)
        try:
            new_args, new_kwargs = given = _fill_inputs(spec, [xs[k] for k in _twins(inputs)], numbers)
            before = _copy(given)
            try:
                _c.set_recorder(session.tape)
                result = _settled(self.call(*new_args, **new_kwargs), Unstageable if self.mode == "bytecode" else RuntimeError)
            finally:
                _c.set_recorder(None)
            session.leave_aliases()
            if session.aliased:
                raise runtime.Aliased(f"{session.aliased}: a tensor that is another one as well on a path taken here is written")
            form = Form(session.guards)
            outs, passed = [], []
            boxes = _changed_boxes(before, given)
            if boxes:
                form.boxes = tuple([path for path, _ in boxes])
                result = (result, *[box for _, box in boxes])
            if isinstance(result, _parameter_type()) and not _c.is_traced(result):
                form.result = result  # a Parameter that the function only hands through
            else:
                form.result = _take_result(result, outs, xs, passed)
            base = len(outs)
            form.passed = tuple(passed)
            form.writes = []
            for k, x in enumerate(xs):
                if _c.stage_id(x) != k:
                    form.writes.append((k, len(outs)))
                    outs.append(x)
            form.result = _shift(form.result, base, len(outs))
            if form.writes and len(set(_twins(inputs))) > 1 and _c.share_memory([inputs[k] for k in set(_twins(inputs))]):
                raise Unstageable("arguments share memory and one of them is written")
            form.single = type(form.result) is tree.Leaf and form.result.index == 0 and base == 1
            if session.tape is not None:
                session.recipe = Recipe(session.tape, form, outs)
            graph = trace.end(outs + [handle for handle, _ in session.looked])
        except BaseException as e:
            if session.lazy_text:
                session.unstageable |= isinstance(e, TypeError)  # a Text is no str for code in C
                session.may_look = True  # for the message
                effects.settle(e)
            trace.end()
            if session.guards.changed() is not None:
                session.guards.restore()
            raise
        finally:
            state.session = None
        if not _c.graph_closed(graph):
            form.guards = None  # it captured values of an open transformation: of use once
        level = 0 if self.level == "O0" else 1
        text = str(graph)
        session.text = hash(text)
        files = save.Saver()
        files.staged(text)
        if session.looked:
            graph.optimize(0)
            form.before, graph = graph.split(len(session.looked))
            form.expected = tuple(content for _, content in session.looked)
            form.before.optimize(level)
            files.final(form.before)
        graph.optimize(level)
        files.final(graph)
        form.graph = graph
        session.guards.finish()
        why = session.guards.changed()
        if why is not None:
            session.guards.restore()
            raise Unstageable(f"the function changes what it reads: {why}")
        return form

    def note(self, session, args, kwargs):
        """Guards of the function itself and of static arguments."""
        fn = self.fn
        if isinstance(fn, types.MethodType):
            session.saw(fn.__func__, fn.__self__)
        elif isinstance(fn, types.FunctionType):
            session.saw(fn, args[0] if args else guard.MISSING)
        elif isinstance(fn, _cell_type()):
            session.guards.cell(fn)
        else:
            session.guards.value(fn)
        for value in (*args, *kwargs.values()):
            session.guards.value(value)


def _avals(tensors, numbers):
    return [(t.dtype, t.shape) for t in tensors], numbers


def _described(args, kwargs):
    return {k: guard.describe(v) for k, v in (*enumerate(args), *kwargs.items())}


def _has_open_inputs(cell):
    given = cell.get_inputs() or ()
    return any(isinstance(x, _c.Tensor) and min(x.shape, default=0) < 0
               for x in (given.values() if isinstance(given, dict) else given))


def _text(error):
    return str(error).partition("\n")[0] or type(error).__name__


def _copy(value):
    """value with new lists and dicts, at any depth, so that it stays as it is."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([_copy(v) for v in value])
    return {k: _copy(v) for k, v in value.items()} if kind is dict else value


_SEQUENCES = {types.GeneratorType: list, filter: list, map: tuple, zip: tuple, enumerate: tuple, range: tuple}


def _settled(value, refusal):
    """A result without what would go on after the staging: iterators as the sequences that they run over. A function is refused."""
    value = _SEQUENCES.get(type(value), lambda v: v)(value)
    items = tree.children(value)
    if items is not None:
        settled = [_settled(v, refusal) for v in items]
        return value if all(a is b for a, b in zip(items, settled)) else tree.rebuild(value, settled)
    if callable(value) and not isinstance(value, (type, _c.dtype)):
        raise refusal(f"Function in output is not supported. Please check your code: {getattr(value, '__name__', value)} is returned.")
    return value


def _take_result(value, outs, xs, passed):
    """The result as a tree: a Leaf for a computed tensor, a negative one for an argument handed through."""
    if isinstance(value, _c.Tensor):
        for k, x in enumerate(xs):
            if value is x and _c.stage_id(x) == k:
                passed.append((len(passed), k))
                return tree.Leaf(-len(passed))
        outs.append(value)
        return (tree.Scalar if type(value) is number.Number else tree.Leaf)(len(outs) - 1)
    if type(value) is runtime.Text:
        return str(value)
    if type(value) is dict and any(type(k) is runtime.Text for k in value):
        value = {str(k) if type(k) is runtime.Text else k: v for k, v in value.items()}
    items = tree.children(value)
    return value if items is None else tree.rebuild(value, [_take_result(v, outs, xs, passed) for v in items])


def _shift(result, base, n):
    """Arguments handed through come behind all outputs of the graph."""
    if type(result) is tree.Leaf:
        return result if result.index >= 0 else tree.Leaf(n - result.index - 1)
    items = tree.children(result)
    return result if items is None else tree.rebuild(result, [_shift(v, base, n) for v in items])


# ---- Cells and Graph mode ----

def attach():
    """From now on Cells and gradients ask at each call whether this thread stages a function, and Cells for the mode. It is not
    undone after a staging: other threads may be just calling."""
    from mindspore import autodiff
    from mindspore.nn import cell
    cell.graph_runner, cell.rewritten, autodiff.rewritten = call_cell, runtime.user, runtime.user


def call_cell(cell, args, kwargs):
    """Runs a Cell: staged as part of what is being staged, as a graph of its own in Graph mode, else as it is."""
    session = state.session
    if session is not None:
        session.guards.cell(cell)
        return cell._ms_run(args, kwargs)
    if _eager.depth or context._options["mode"] != context.GRAPH_MODE:
        return cell._ms_run(args, kwargs)
    jit = cell.__dict__.get("_ms_graph")  # with the Cell, so that they die together
    if jit is None or jit.cell() is not cell:
        ref = weakref.ref(cell)
        jit = Jit(None, name=type(cell).__name__, call=lambda *a, **k: ref()._ms_run(a, k))
        jit.fn, jit.cell = jit.call, ref
        jit.note = lambda session, a, k: [session.guards.value(v) for v in (ref(), *a, *k.values())]
        cell.__dict__["_ms_graph"] = jit
    return jit(*args, **kwargs)


# ---- ms.jit ----

def jit(function=None, *, capture_mode="ast", jit_level="O0", dynamic=0, fullgraph=False, backend="", **options):
    """Compiles a function, a method or a Cell into a graph at its first call with arguments of a kind.

    capture_mode: 'ast' (control flow on tensors is allowed), 'trace' (it is not) or 'bytecode'. jit_level: 'O0' or 'O1'.
    fullgraph: an error instead of running as Python where the function cannot be one graph.
    """
    capture_mode = {"PSJit": "ast", "PIJit": "bytecode"}.get(options.get("mode"), capture_mode)
    _check("capture_mode", capture_mode, ("ast", "bytecode", "trace"))
    _check("jit_level", jit_level, ("", "O0", "O1", "O2"))
    _check("backend", backend, ("", "ms_backend", "GE"))
    if not isinstance(fullgraph, bool):
        raise TypeError(f"For 'jit', the 'fullgraph' must be bool, but got {type(fullgraph).__name__}.")
    if isinstance(dynamic, bool) or dynamic not in (0, 1):
        raise ValueError(f"For 'jit', the 'dynamic' must be 0 or 1, but got {dynamic!r}.")
    if function is None:
        return functools.partial(jit, capture_mode=capture_mode, jit_level=jit_level, dynamic=dynamic,
                                 fullgraph=fullgraph, backend=backend)
    return _wrap(function, capture_mode, jit_level, fullgraph, dynamic)


def _check(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"For 'jit', the '{name}' must be in {list(allowed)}, but got {value!r}.")


def _wrap(function, capture_mode, jit_level, fullgraph, dynamic):
    if isinstance(function, _cell_type()):
        cell = function
        inner = Jit(cell._ms_run, capture_mode, jit_level, fullgraph, type(cell).__name__,
                    lambda *args, **kwargs: cell._ms_run(args, kwargs), dynamic)
        inner.fn, inner.cell = inner.call, lambda: cell
        inner.note = lambda session, a, k: session.guards.cell(cell)
        return types.MethodType(_function(inner, type(cell).construct, drop_first=True), cell)
    if isinstance(function, type):  # of a class, what its objects do when they are called
        name = "construct" if issubclass(function, _cell_type()) else "__call__"
        if not any(name in base.__dict__ for base in function.__mro__):
            raise TypeError(f"For 'jit', the class {function.__name__} has no '{name}'.")
        setattr(function, name, _wrap(getattr(function, name), capture_mode, jit_level, fullgraph, dynamic))
        return function
    if isinstance(function, types.MethodType):
        return types.MethodType(_wrap(function.__func__, capture_mode, jit_level, fullgraph, dynamic), function.__self__)
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_wrap(function.__func__, capture_mode, jit_level, fullgraph, dynamic))
    if not callable(function):
        raise TypeError(f"For 'jit', the 'function' must be callable, but got {type(function).__name__}.")
    inner = getattr(function, "ms_jit", None)
    if inner is not None:
        function = inner.fn
    return _function(Jit(function, capture_mode, jit_level, fullgraph, dynamic=dynamic), function)


def _function(inner, like, drop_first=False):
    if drop_first:
        def staged(self, *args, **kwargs):
            return inner(*args, **kwargs)
    else:
        def staged(*args, **kwargs):
            return inner(*args, **kwargs)
    functools.update_wrapper(staged, like)
    staged.ms_jit = inner
    if hasattr(like, "__code__"):
        _compiled[like.__code__] = inner.counts
    staged.explain = lambda: "\n".join(f"{k + 1}. {why}" for k, why in enumerate(inner.reasons)) or "not compiled yet"
    return staged


def counts_of(code):
    """What has become of a compiled function, in the words of the original."""
    counts = _compiled.get(code)
    return counts and {"stat": "GRAPH_CALLABLE" if counts.has_graph else "GRAPH_CANDIDATE",
                       "break_count_": counts.breaks, "compile_count_": counts.compiled,
                       "code": {"call_count_": counts.calls, "phase_": counts.name}}


def jit_class(cls):
    """Marks a class whose objects are used in compiled functions; any class may be used, so this only checks."""
    if not inspect.isclass(cls):
        raise TypeError(f"Decorator jit_class can only be used for class type, but got {cls}.")
    if issubclass(cls, _cell_type()):
        raise TypeError(f"Decorator jit_class is used for user-defined classes and cannot be used for nn.Cell: {cls}.")
    return cls


def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):
    """A function of constants that is evaluated while the graph is made."""
    if fn is None:
        return lambda f: constexpr(f, get_instance, name, reuse_result, check)
    fn.ms_rewrite = False
    return fn


def lazy_inline(fn=None, attrs=None, policy=None):
    """Accepted for the construct of large networks; graphs are inlined in any case."""
    return fn if fn is not None else lambda f: f


def no_inline(fn=None):
    """Accepted; see lazy_inline."""
    return fn if fn is not None else lambda f: f


