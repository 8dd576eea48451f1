"""Control flow that tensors decide: the parts are staged as graphs and joined by the operators cond and while.

Variables are reached through the cells that the generated functions share. A part is run once; what it left in the
variables, what it returned and what it changed in lists and dicts becomes the outputs. Values that are no tensors stay
as they are where all paths agree; numbers that differ become tensors; anything else that differs cannot be staged.
"""
import functools
import operator
import weakref

from . import number, runtime, tree
from .number import Number
from .runtime import BREAK, UNDEFINED, Mixed, Return, Unstageable

_UNROLL = 32  # rows of a tensor up to which a for statement over it is written out
_ATTEMPTS = 12


def _c():
    from mindspore import _c as c
    return c


def _is_tensor(x):
    return isinstance(x, runtime.tensor_type)


def _tensor(value, dtype=None):
    from mindspore.common.tensor import Tensor
    return Tensor(value, dtype)


def _is_number(x):
    return type(x) in (bool, int, float)


def truth(x, line):
    """A tensor of one element as bool of no dimensions."""
    if x.size != 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. "
                         f"Use any() or all() (line {line}).")
    if x.ndim:
        x = x.reshape(())
    from mindspore.common import dtype
    return x if x.dtype == dtype.bool_ else x != 0


def contains(box, item):
    """Whether a list or tuple has the item: as Python tells it, but tensors of several elements are compared as a whole."""
    found = []
    for v in box:
        if v is item:
            return True
        ours, other = (v, item) if _is_tensor(v) else (item, v)
        if not _is_tensor(ours):
            if v == item:
                return True
        elif ours.size == 1 and (other.size == 1 if _is_tensor(other) else isinstance(other, (int, float))):
            found.append((ours == other).reshape(()))
        elif _is_tensor(other) and ours.shape == other.shape:
            found.append((ours == other).all())
    return number.of(functools.reduce(operator.or_, found)) if found else False


def not_(x):
    from mindspore import ops
    return number.of(ops.logical_not(truth(x, 0)))


def _either(a, b):
    """a or b, where each is a bool or a bool tensor."""
    if a is False or b is True:
        return b
    if b is False or a is True:
        return a
    from mindspore import ops
    return ops.logical_or(a, b)


# ---- variables ----

class Slot:
    """A variable of the runtime itself; looks like a cell."""

    def __init__(self, value):
        self.cell_contents = value


class Variables:
    """The variables that a construct may bind, and the lists and dicts that its parts can reach."""

    def __init__(self, names, functions, more=()):
        cells = runtime.cells(*functions)
        self.slots = {name: cells[name] for name in names if name in cells}
        self.foreign = [name for name in names if name not in cells]
        self.slots.update(more)
        reach = {id(c): c for c in list(cells.values()) + list(self.slots.values())}
        self.boxes = []
        self.known = set()  # ids of the tensors that they hold
        for cell in reach.values():
            self._boxes_of(runtime.get(cell), 4)
        self.before = self.read()

    def _boxes_of(self, value, depth):
        if type(value) in (list, dict) and all(value is not b for b in self.boxes):
            self.boxes.append(value)
        if _is_tensor(value):
            self.known.add(id(value))
        items = tree.children(value)
        if items is not None and depth:
            for item in items:
                self._boxes_of(item, depth - 1)

    def read(self):
        state = {name: runtime.get(cell) for name, cell in self.slots.items()}
        return state, [b.copy() for b in self.boxes]

    def restore(self, state=None):
        values, boxes = state or self.before
        for name, cell in self.slots.items():
            runtime.put(cell, values[name])
        for box, content in zip(self.boxes, boxes):
            runtime.refill(box, content)

    def changes(self):
        """{name: value} for variables that are bound differently now, (index, content) for lists and dicts."""
        values, boxes = self.before
        out = {}
        for name, cell in self.slots.items():
            new = runtime.get(cell)
            if new is not values[name]:
                out[name] = new
        for k, (box, content) in enumerate(zip(self.boxes, boxes)):
            if not runtime.same_items(box, content):
                out[k] = box.copy()
        return out

    def old(self, key):
        return self.before[0][key] if isinstance(key, str) else self.before[1][key]

    def set(self, key, value):
        if isinstance(key, str):
            runtime.put(self.slots[key], value)
            return
        runtime.refill(self.boxes[key], value)


# ---- branches ----

class Part:
    """A function without arguments that was staged: its graph, what it returned and bound, as trees of Leaf."""

    def __init__(self, fn, variables, outputs=True):
        c = _c()
        trace, _ = c.stage_begin([])
        session = runtime.state.session
        n_aliases = len(session.aliases)
        try:
            result = fn() if fn is not None else None
            self.changes = variables.changes() if outputs else {}
            tensors, result = [], _plain(result)
            taken = tree.take(tuple(result) if type(result) is _Signal else result, runtime.tensor_type, tensors)
            self.tree = (_Signal(taken) if type(result) is _Signal else taken,
                         tree.take(self.changes, runtime.tensor_type, tensors))
            self.numbers = {k for k, x in enumerate(tensors) if type(x) is Number}
            self.outside = {k: x for k, x in enumerate(tensors) if id(x) in variables.known or not c.is_traced(x)}
            session.leave_aliases(n_aliases)
            self.graph = trace.end(tensors)
        except BaseException:
            trace.end()
            raise
        finally:
            variables.restore()
            _keep_state()

    def alias(self, x):
        """A weak reference to the tensor of outside that a value of the trees is, or None."""
        x = self.outside.get(x.index) if type(x) is tree.Leaf else x
        return weakref.ref(x) if _is_tensor(x) and type(x) is not Number else None

    def is_number(self, x):
        """Whether a value of the trees is a number of Python."""
        return x.index in self.numbers if type(x) is tree.Leaf else number.is_number(x)


def _keep_state():
    """A part that may not run has changed attributes or containers of outside: no graph can hold that."""
    session = runtime.state.session
    why = session.guards.changed()
    if why is not None:
        session.guards.restore()
        session.unstageable = True
        raise Unstageable(f"state changes where a tensor decides: {why}")


class _Signal(tuple):
    """A loop's signal as a tree: (brk, ret, value)."""


def _plain(result):
    """Signals become tuples that can be joined."""
    if result is BREAK:
        return _Signal((True, False, None))
    if type(result) is Return:
        return _Signal((False, True, result.value))
    if type(result) is Mixed:
        return _Signal((result.brk, result.ret, result.value))
    return result


class _Join:
    """Brings the trees of two parts together; picks[k] are the outputs of either."""

    def __init__(self, yes, no, line):
        self.parts, self.line = (yes, no), line
        self.picks = ([], [])
        self.numbers = set()  # of the outputs, those that are numbers on both sides

    def fail(self, what, a, b):
        def text(x):
            if type(x) is tree.Leaf or _is_tensor(x):
                return "a tensor"
            if x is UNDEFINED:
                return "undefined"
            return f"a {type(x).__name__}" if tree.children(x) is not None else f"{type(x).__name__} {x!r:.60}"
        raise _Mismatch(f"Line {self.line}: {what} is {text(a)} in one branch and {text(b)} in the other")

    def leaf(self, a, b):
        if self.parts[0].is_number(a) and self.parts[1].is_number(b):
            self.numbers.add(len(self.picks[0]))
        self.picks[0].append(a)
        self.picks[1].append(b)
        return tree.Leaf(len(self.picks[0]) - 1)

    def join(self, a, b, what):
        """a, b: values with Leaf for outputs of the own part, tensors for those of outside."""
        tensor_a, tensor_b = (type(x) is tree.Leaf or _is_tensor(x) for x in (a, b))
        if a is b and not tensor_a:
            return a
        if tensor_a and tensor_b:
            return a if a is b else self.leaf(a, b)
        if tensor_a and _is_number(b) or tensor_b and _is_number(a):
            return self.leaf(a, b)
        if _is_number(a) and _is_number(b):
            if type(a) is type(b) and (a == b and str(a) == str(b) or a != a and b != b):
                return a
            return self.leaf(a, b)
        if type(a) is not type(b):
            self.fail(what, a, b)
        items_a, items_b = tree.children(a), tree.children(b)
        if items_a is not None:
            if len(items_a) != len(items_b) or isinstance(a, dict) and list(a) != list(b):
                raise _Mismatch(f"Line {self.line}: {what} has {len(items_a)} items in one branch and {len(items_b)} "
                                "in the other")
            return tree.rebuild(a, [self.join(x, y, what) for x, y in zip(items_a, items_b)])
        try:
            equal = bool(a == b)
        except Exception:
            equal = False
        if not equal:
            self.fail(what, a, b)
        return a

    def outputs(self):
        """Both parts' outputs as the extension takes them: an index, or a tensor of outside."""
        out = ([], [])
        for a, b in zip(*self.picks):
            dtype = None
            for side, x in enumerate((a, b)):
                aval = self.aval(side, x)
                dtype = aval or dtype
            if dtype is None:
                dtype = _number_dtype((a, b))
            for side, x in enumerate((a, b)):
                if type(x) is tree.Leaf:
                    out[side].append(x.index)
                elif _is_tensor(x):
                    out[side].append(x)
                else:
                    out[side].append(_number(x, dtype, self.line))
        return out

    def aval(self, side, x):
        if type(x) is tree.Leaf:
            return _c().graph_output(self.parts[side].graph, x.index)[0]
        return x.dtype if _is_tensor(x) else None

    def check(self, names):
        """Both sides of every output have one dtype and shape."""
        for k, (a, b) in enumerate(zip(*self.picks)):
            sides = []
            for side, x in enumerate((a, b)):
                if type(x) is tree.Leaf:
                    sides.append(_c().graph_output(self.parts[side].graph, x.index))
                elif _is_tensor(x):
                    sides.append((x.dtype, x.shape))
                else:
                    sides.append(None)
            if None in sides:
                other = sides[0] or sides[1]
                if other is not None and other[1] != ():
                    raise _Mismatch(f"Line {self.line}: {names[k]} is a number in one branch and a tensor of shape "
                                    f"{other[1]} in the other")
            elif sides[0] != sides[1]:
                raise _Mismatch(f"Line {self.line}: {names[k]} is {_aval_text(sides[0])} in one branch and "
                                f"{_aval_text(sides[1])} in the other")


class _Mismatch(TypeError, Unstageable):
    """Branches that do not fit together."""


def _aval_text(aval):
    return f"{aval[0]}{list(aval[1])}"


def _number_dtype(numbers):
    from mindspore.common import dtype
    kinds = {type(x) for x in numbers}
    return dtype.float32 if float in kinds else dtype.int64 if int in kinds else dtype.bool_


def _number(x, dtype, line):
    from mindspore.common import dtype as mstype
    kind = str(dtype)
    if type(x) is float and not kind.startswith(("Float", "BFloat", "Complex")) or \
            type(x) is int and dtype == mstype.bool_:
        raise _Mismatch(f"Line {line}: a variable is the number {x!r} on one path and a tensor of {dtype} on another")
    return _tensor(x, dtype)


def _part(fn, variables):
    """The staged branch, or the exception that it raises."""
    try:
        return Part(fn, variables)
    except (Unstageable, NotImplementedError, NameError, RecursionError):
        raise
    except Exception as e:
        return e


def _raising(pred, then, other, yes, no):
    """A branch that raises: the graph does when it is taken; what follows is the other branch."""
    if type(yes) is not Part and type(no) is not Part:
        raise Unstageable("both branches of a statement that a tensor decides raise exceptions") from yes
    variables, raises = Variables((), (then, other)), type(yes) is not Part
    failing = Part(lambda: effects().fail(then if raises else other), variables, False)
    nothing = Part(None, variables)
    _c().cond(pred, *((failing.graph, nothing.graph) if raises else (nothing.graph, failing.graph)), [], [])
    taken = other if raises else then
    return taken() if taken is not None else None


def _refuse_aliases():
    if not runtime.state.session.branches:
        raise Unstageable("a tensor is written that is also another one on a path that a tensor decides")


def effects():
    import importlib
    return importlib.import_module("mindspore.jit.effects")


def cond(test, then, other, names, line, tail):
    result = _cond(test, then, other, names, line, tail)
    runtime.state.session.keep_aliases()
    return result


def _cond(test, then, other, names, line, tail):
    _refuse_aliases()
    pred = truth(test, line)
    variables = Variables(names, (then, other))
    if variables.foreign:
        raise Unstageable(f"Line {line}: the global '{variables.foreign[0]}' is assigned where a tensor decides")
    yes, no = _part(then, variables), _part(other, variables)
    if type(yes) is not Part or type(no) is not Part:
        return _raising(pred, then, other, yes, no)
    join = _Join(yes, no, line)
    what, merged = [], {}

    def joined(a, b, name):
        value = join.join(a, b, name)
        what.extend([name] * (len(join.picks[0]) - len(what)))
        return value

    result = (yes.tree[0], no.tree[0])
    if any(type(r) is _Signal for r in result):
        signal = [r if type(r) is _Signal else _Signal((False, False, None)) for r in result]
        brk = joined(signal[0][0], signal[1][0], "break")
        ret = joined(signal[0][1], signal[1][1], "return")
        values = [s[2] for s in signal]
        for k in (0, 1):
            if signal[k][1] is False:  # returns nothing here: any value of the other's type will do
                values[k] = _zeros(values[1 - k], (yes, no)[1 - k])
        result = ("signal", brk, ret, joined(values[0], values[1], "the return value"))
    else:
        result = ("value", joined(*result, "the return value" if tail == "function" else "the expression"))
    lost = runtime.state.session.lost
    for key in {**yes.changes, **no.changes}:
        a, b = (p.tree[1][key] if key in p.changes else variables.old(key) for p in (yes, no))
        if a is UNDEFINED or b is UNDEFINED:
            merged[key] = UNDEFINED
            lost[key] = f"it is assigned in one branch only of the statement on line {line}, where a tensor decides"
        else:
            merged[key] = joined(a, b, f"'{key}'" if isinstance(key, str) else "a list or dict")
    join.check(what)
    outs = _c().cond(pred, yes.graph, no.graph, *join.outputs())
    outs = [number.of(x) if k in join.numbers else x for k, x in enumerate(outs)]
    runtime.state.session.pending += [(part.alias(x), out) for part, picks in zip((yes, no), join.picks)
                                      for x, out in zip(picks, outs)]
    for key, value in merged.items():
        variables.set(key, tree.fill(value, outs))
    if result[0] == "value":
        return tree.fill(result[1], outs)
    return _signal(*(tree.fill(x, outs) for x in result[1:]))


def _signal(brk, ret, value):
    """The simplest signal that says this."""
    if brk is False and ret is False:
        return None
    if brk is True and ret is False:
        return BREAK
    if ret is True:
        return Return(value)
    return Mixed(brk, ret, value)


def _zeros(value, part):
    """A value like `value`, whose leaves are part's outputs, that is never looked at."""
    if type(value) is tree.Leaf:
        dtype, shape = _c().graph_output(part.graph, value.index)
        return _zero(dtype, shape)
    if _is_tensor(value):
        return _zero(value.dtype, value.shape)
    items = tree.children(value)
    return value if items is None else tree.rebuild(value, [_zeros(x, part) for x in items])


def _zero(dtype, shape):
    """Zeros that are data, not an operator of the graph being staged."""
    from mindspore.common.tensor import Tensor
    return Tensor(shape=tuple(shape), dtype=dtype)


def and_(value, rest):
    if not rest:
        return value
    return cond(value, lambda: runtime.and_(rest[0](), *rest[1:]), lambda: value, (), _line(), "expression")


def or_(value, rest):
    if not rest:
        return value
    return cond(value, lambda: value, lambda: runtime.or_(rest[0](), *rest[1:]), (), _line(), "expression")


def _line():
    return runtime.state.session.line()


def check(test, message, line):
    text = None if message is None else message()
    found = () if text is None else (text,)

    def fail(*data):
        raise AssertionError(*data)
    effects().check(truth(test, line), fail, *found)


# ---- loops ----

class _Again(Exception):
    """The body was staged with a wrong idea of what it carries."""


class Loop:
    """A while loop being staged. The carried leaves are those of the variables' tree that are tensors, or numbers the
    body changes (promoted), then the signal's parts."""

    def __init__(self, test, body, variables, line, start):
        self.test, self.body, self.variables, self.line = test, body, variables, line
        self.state = dict(variables.before[0])  # lists and dicts join under their number once the body changes them
        self.local = {k for k, v in self.state.items() if v is UNDEFINED}  # bound by the body only
        self.promoted = {}  # leaf number -> (dtype, shape), numbers that become tensors
        self.mixed = set()  # leaf numbers of numbers that are tensors after a turn
        self.signal = None if start is None else [start.brk, start.ret, start.value]
        self.value_like = None  # what a return gives: tree of (dtype, shape)
        if start is not None and start.ret is not False:
            self.value_like = start.value

    def names(self):
        return [k for k in self.state if k not in self.local]

    def split(self):
        """(tree with Leaf for carried values, their initial tensors)."""
        leaves = []
        shape = _walk([self.state[k] for k in self.names()], leaves)
        init, carried = [], []
        for k, x in enumerate(leaves):
            if _is_tensor(x):
                carried.append(k)
                init.append(x)
            elif k in self.promoted:
                carried.append(k)
                init.append(_full(x, *self.promoted[k], self.line))
        return shape, leaves, carried, init

    def bind(self, shape, leaves, carried, xs):
        now = list(leaves)
        for k, x in zip(carried, xs):
            now[k] = number.of(x) if number.is_number(leaves[k]) and k not in self.mixed else x
        self.bound = dict(zip(self.names(), tree.fill(shape, now)))
        for name, value in self.bound.items():
            self.variables.set(name, value)
        for name in self.local:
            if isinstance(name, str):
                runtime.put(self.variables.slots[name], UNDEFINED)

    def stage_body(self):
        """(graph, picks, init, plan): raises _Again after learning something."""
        c = _c()
        shape, leaves, carried, init = self.split()
        extra = self.extra()
        trace, xs = c.stage_begin(init + extra)
        session = runtime.state.session
        n_aliases = len(session.aliases)
        try:
            self.bind(shape, leaves, carried, xs)
            if self.walrus:
                self.test()
            signal = self.body()
            picks = self.compare(shape, leaves, carried, init)
            picks += self.compare_signal(signal, len(extra))
            tensors, out = [], []
            for x in picks:
                if _is_tensor(x):
                    tensors.append(x)
                    out.append(len(tensors) - 1)
                else:
                    out.append(x)
            session.leave_aliases(n_aliases)
            self.written = [k for k, x in enumerate(xs[:len(carried)]) if c.stage_id(x) != k]
            graph = trace.end(tensors)
        except BaseException:
            trace.end()
            raise
        finally:
            self.variables.restore()
            _keep_state()
        return graph, out, init + extra, (shape, leaves, carried)

    walrus = False

    def compare(self, shape, leaves, carried, init):
        """The new values of the carried leaves."""
        now = []
        new = [runtime.get(self.variables.slots[k]) if isinstance(k, str) else self.variables.boxes[k].copy()
               for k in self.names()]
        for k, value in zip(self.names(), new):
            if value is UNDEFINED:
                raise Unstageable(f"Line {self.line}: '{k}' is deleted in a loop that a tensor decides")
        for k, (box, content) in enumerate(zip(self.variables.boxes, self.variables.before[1])):
            if k not in self.state and not runtime.same_items(box, content):
                self.state[k] = content
                raise _Again
        new_shape = _walk(new, now)
        if new_shape != shape:
            raise _Mismatch(f"Line {self.line}: a variable changes its structure in a loop that a tensor decides")
        out, learned = [], False
        place = dict(zip(carried, init))
        for k, (old, x) in enumerate(zip(leaves, now)):
            if k not in place:
                learned |= self.constant(k, old, x)
                continue
            aval = (place[k].dtype, tuple(place[k].shape))
            if number.is_number(old) and not number.is_number(x) and k not in self.mixed:
                self.mixed.add(k)
                learned = True
                continue
            if _is_number(x):
                out.append(_full(x, *aval, self.line))
                continue
            if not _is_tensor(x):
                raise _Mismatch(f"Line {self.line}: a variable is a tensor before the loop and {x!r:.60} after a turn")
            if (x.dtype, tuple(x.shape)) != aval:
                if k in self.promoted and self.promoted[k] != (x.dtype, tuple(x.shape)):
                    self.promoted[k] = (x.dtype, tuple(x.shape))
                    learned = True
                    continue
                raise _Mismatch(f"Line {self.line}: {self.name_of(k, leaves)} is {_aval_text(aval)} before a turn of "
                                f"the loop and {_aval_text((x.dtype, tuple(x.shape)))} after it")
            out.append(x)
        if learned:
            raise _Again
        return out

    def constant(self, k, old, new):
        """A value that is no tensor: it stays, or a number becomes carried. True when something was learned."""
        if _is_tensor(new):
            if not _is_number(old):
                raise _Mismatch(f"Line {self.line}: a variable is {old!r:.60} before the loop and a tensor after a turn")
            self.promoted[k] = (new.dtype, tuple(new.shape))
            return True
        if new is old or type(new) is type(old) and _equal(new, old):
            return False
        if _is_number(old) and _is_number(new):
            self.promoted[k] = (_number_dtype((old, new)), ())
            return True
        raise _Mismatch(f"Line {self.line}: a variable changes from {old!r:.60} to {new!r:.60} in a loop that a tensor "
                        "decides")

    def name_of(self, k, leaves):
        count = 0
        for name in self.names():
            own = []
            _walk([self.state[name]], own)
            count += len(own)
            if k < count:
                return f"'{name}'" if isinstance(name, str) else "an item of a list or dict"
        return "a variable"

    # the signal: (brk, ret, value leaves) carried behind the variables once the body gives one

    def scalar_test(self):
        value = self.test()
        return truth(value, self.line) if _is_tensor(value) else value

    def extra(self):
        if self.signal is None:
            return []
        out = [_tensor(x) if isinstance(x, bool) else x for x in self.signal[:2]]
        leaves = []
        _walk(self.signal[2], leaves)
        return out + [x for x in leaves if _is_tensor(x)]

    def compare_signal(self, signal, n_extra):
        signal = _plain(signal)
        if signal is None:
            signal = _Signal((False, False, None))
        brk, ret, value = signal
        if self.signal is None:
            if brk is False and ret is False:
                return []
            self.signal = [False, False, _like_zeros(value)]
            raise _Again
        if ret is False:
            value = self.signal[2]
        elif self.signal[1] is False and self.signal[2] is None and value is not None:
            self.signal[2] = _like_zeros(value)
            raise _Again
        leaves, like = [], []
        if _walk(value, leaves) != _walk(self.signal[2], like):
            raise _Mismatch(f"Line {self.line}: the loop returns values of different structure")
        out = [_tensor(x) if isinstance(x, bool) else x for x in (brk, ret)]
        for x, y in zip(leaves, like):
            if _is_tensor(y):
                if _is_number(x):
                    x = _full(x, y.dtype, tuple(y.shape), self.line)
                if not _is_tensor(x) or (x.dtype, x.shape) != (y.dtype, y.shape):
                    raise _Mismatch(f"Line {self.line}: the loop returns values of different type")
                out.append(x)
            elif not _equal(x, y):
                raise _Mismatch(f"Line {self.line}: the loop returns {x!r:.60} or {y!r:.60}")
        return out

    def stage_test(self, init, plan):
        c = _c()
        shape, leaves, carried = plan
        trace, xs = c.stage_begin(init)
        try:
            self.bind(shape, leaves, carried, xs)
            if self.signal is None:
                pred = self.test()
            else:
                stop = _either(*xs[len(carried):len(carried) + 2])
                pred = runtime.and_(not_(stop), self.scalar_test)
            pred = truth(pred, self.line) if _is_tensor(pred) else _tensor(bool(pred))
            self.variables_changed = bool(self.names_changed())
            return trace.end([pred])
        except BaseException:
            trace.end()
            raise
        finally:
            self.variables.restore()

    def names_changed(self):
        """Variables that the test binds (a walrus)."""
        return [n for n, cell in self.variables.slots.items() if runtime.get(cell) is not self.bound.get(n, UNDEFINED)]

    def run(self):
        for _ in range(_ATTEMPTS):
            try:
                graph, picks, init, plan = self.stage_body()
            except _Again:
                continue
            test = self.stage_test(init, plan)
            if not self.variables_changed or self.walrus:
                break
            self.walrus = True  # the body sees what the test has bound: there it is evaluated again
        else:
            raise Unstageable(f"Line {self.line}: the types of the loop's variables do not settle")
        outs = _c().while_(test, graph, init, picks)
        shape, leaves, carried = plan
        self.bind(shape, leaves, carried, outs[:len(carried)])
        runtime.state.session.pending += [(weakref.ref(leaves[k]), None if j in self.written else outs[j]) for j, k in enumerate(carried)
                                          if _is_tensor(leaves[k]) and type(leaves[k]) is not Number]
        lost = runtime.state.session.lost
        for name in self.local:
            lost[name] = f"it is assigned only inside the loop on line {self.line}, which a tensor decides"
        if self.signal is None:
            if self.walrus:
                self.test()  # as Python does once more than the body: its variables are of outside the loop
            return None
        rest = list(outs[len(carried):])
        if self.walrus:
            cond(not_(_either(*rest[:2])), _Shared(lambda: [self.test(), None][1], self.test), None, self.variables.slots, self.line,
                 "expression")
        leaves = []
        shape = _walk(self.signal[2], leaves)
        values = iter(rest[2:])
        value = tree.fill(shape, [next(values) if _is_tensor(x) else x for x in leaves])
        never = self.signal[1] is False and self.signal[2] is None
        return Mixed(rest[0], False if never else rest[1], value)


def _walk(value, leaves):
    """The tree with a Leaf for everything that is no container."""
    items = tree.children(value)
    if items is None:
        leaves.append(value)
        return tree.Leaf(len(leaves) - 1)
    return tree.rebuild(value, [_walk(x, leaves) for x in items])


def _equal(a, b):
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


def _full(number, dtype, shape, line):
    x = _number(number, dtype, line)
    return x if shape == () else x.broadcast_to(shape)


def _like_zeros(value):
    """Zeros in place of the tensors, and numbers as tensors, of a value that a loop returns."""
    if _is_tensor(value):
        return _zero(value.dtype, value.shape)
    if _is_number(value):
        return _zero(_number_dtype((value,)), ())
    items = tree.children(value)
    return value if items is None else tree.rebuild(value, [_like_zeros(x) for x in items])


def while_(test, body, names, line, start=None, more=()):
    variables = Variables(names, (test, body), more)
    if variables.foreign:
        raise Unstageable(f"Line {line}: the global '{variables.foreign[0]}' is assigned where a tensor decides")
    _refuse_aliases()
    signal = Loop(test, body, variables, line, start).run()
    del variables
    runtime.state.session.keep_aliases()
    return signal


def for_range(r, body, names, targets, line, start=None):
    """for over a range of which a bound is a tensor. The loop variable is a tensor."""
    index = Slot(number.of(r.start if _is_tensor(r.start) else _tensor(r.start)))

    def test():
        i = index.cell_contents
        if _is_tensor(r.step):
            from mindspore import ops
            return ops.where(r.step > 0, i < r.stop, i > r.stop)
        if r.step == 0:
            raise ValueError("range() arg 3 must not be zero")
        return i < r.stop if r.step > 0 else i > r.stop

    def turn():
        i = index.cell_contents
        signal = body(i)
        index.cell_contents = i + r.step
        return signal

    return while_(test, _Shared(turn, body), names, line, start, {"for ": index})


class _Shared:
    """A function of the runtime that shares the variables of a generated one."""

    def __init__(self, fn, body):
        self.fn, self.__code__, self.__closure__ = fn, body.__code__, body.__closure__

    def __call__(self, *args):
        return self.fn(*args)


def for_tensor(x, body, names, targets, line):
    """for over the rows of a tensor."""
    if x.ndim == 0:
        raise TypeError("Cannot iterate over a scalar tensor: iteration over a 0-d tensor")
    n = x.shape[0]
    if n <= _UNROLL:
        return runtime.for_([x[i] for i in range(n)], body, names, targets, line)
    row = _Shared(lambda i: body(x[i]), body)
    return for_range(runtime.TracedRange(_tensor(0), n, 1), row, names, targets, line)


def for_rest(items, body, names, line, signal):
    """The turns after one that may have left the loop: each happens if none before it did."""
    for item in items:
        stop = _either(signal.brk, signal.ret)
        if stop is True:
            break
        if stop is False:
            signal = body(item)
        else:
            keep, go = (lambda s=signal: s), (lambda i=item: body(i))
            signal = cond(stop, _Shared(keep, body), _Shared(go, body), names, line, "loop")
        if signal is None:
            signal = Mixed(False, False, None)
        elif type(signal) is not Mixed:
            return signal
    return _signal(signal.brk, signal.ret, signal.value)


def completed(signal):
    stop = _either(signal.brk, signal.ret)
    return not_(stop) if _is_tensor(stop) else not stop
