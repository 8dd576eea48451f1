"""What a function did with tensors while it was staged, written down so that it can be done again for other sizes.

A Tape records every call of the extension that takes or gives tensors. Sizes that the Python code asks for are Size
objects: numbers that remember how they came about. Where code looks at one (compares, indexes, loops), what it saw
becomes a condition of the tape. Playing the tape for other inputs makes the same calls with the sizes of those inputs; a
condition that does not hold ends it, and the function is staged as usual. A tape counts only when playing it for sizes at
which the function was staged without it gives the same graph.

Refused: symbolic sizes inside the graph, which would reach every shape rule, attribute and kernel.
"""
import math
import operator

from mindspore import _c

_NUMBERS = (int, float)


class Differs(Exception):
    """The tape does not hold for these inputs."""


class Size:
    """A size, or what was computed from sizes. Looks like its value; whoever needs the value itself pins it."""

    __slots__ = ("value", "how", "tape", "pinned")

    def __init__(self, value, how, tape):
        self.value, self.how, self.tape, self.pinned = value, how, tape, False

    __class__ = property(lambda self: type(self.value))  # isinstance(n, int)
    __array_ufunc__ = None

    def pin(self):
        if not self.pinned:
            self.pinned = True
            self.tape.check(operator.eq, self, self.value, True)
        return self.value

    def __index__(self):
        if type(self.value) is not int:
            raise TypeError("'float' object cannot be interpreted as an integer")
        return self.pin()

    def __int__(self):
        return int(self.pin())

    def __float__(self):
        return float(self.pin())

    def __complex__(self):
        return complex(self.pin())

    def __bool__(self):
        return self.tape.check(operator.truth, self, None, bool(self.value))

    def __hash__(self):
        return hash(self.pin())

    def __repr__(self):
        return repr(self.pin())

    def __str__(self):
        return str(self.pin())

    def __format__(self, spec):
        return format(self.pin(), spec)

    def __reduce__(self):
        return type(self.value), (self.pin(),)

    def __getattr__(self, name):  # bit_length, is_integer ...
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.pin(), name)


def _number(x):
    return type(x) is Size or isinstance(x, _NUMBERS)


def _value(x):
    return x.value if type(x) is Size else x


def _binary(fn, swapped=False):
    def method(self, other):
        if not _number(other):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        return Size(fn(_value(a), _value(b)), (fn, a, b), self.tape)
    return method


def _unary(fn):
    return lambda self: Size(fn(self.value), (fn, self, None), self.tape)


def _compare(fn):
    def method(self, other):
        if not _number(other):
            return NotImplemented
        return self.tape.check(fn, self, other, fn(self.value, _value(other)))
    return method


for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"):
    _fn = getattr(operator, _name, None) or getattr(operator, _name + "_")
    setattr(Size, f"__{_name}__", _binary(_fn))
    setattr(Size, f"__r{_name}__", _binary(_fn, True))
Size.__divmod__ = lambda self, other: (self // other, self % other)
Size.__rdivmod__ = lambda self, other: (other // self, other % self)
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Size, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in ("floor", "ceil", "trunc"):
    setattr(Size, f"__{_name}__", _unary(getattr(math, _name)))
Size.__round__ = lambda self, digits=None: round(self.pin(), digits)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Size, f"__{_name}__", _compare(getattr(operator, _name)))


class _Slot:
    """The place of a tensor, a transformation, a graph or a number among those of a tape."""

    __slots__ = ("index",)

    def __init__(self, index):
        self.index = index


class _Tree:
    """A container with something in it that is not the same each time."""

    __slots__ = ("kind", "items", "keys")

    def __init__(self, kind, items, keys=None):
        self.kind, self.items, self.keys = kind, items, keys


_LIVE = (_c.Tensor, _c.Trace, _c.Graph)
_VARIES = (Size, _Slot, _Tree)
_Row = type(_c.row("ops.add"))
_NOT_PLAYED = {"custom", "peek", "call"}  # they hold Python code, or values
_FIXED = (bool, str, bytes, type(None), type(Ellipsis))


def plain(value):
    """value with the numbers in place of Sizes."""
    kind = type(value)
    if kind is Size:
        return value.value
    if kind is tuple or kind is list:
        return kind([plain(v) for v in value]) if any(type(v) in _HOLDS for v in value) else value
    if kind is dict:
        return {k: plain(v) for k, v in value.items()}
    if kind is slice:
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    return value


_HOLDS = (Size, tuple, list, dict, slice)


class Tape:
    def __init__(self):
        self.objects = []   # of the slots; kept, so that an id stands for one object
        self.slots = {}     # id -> slot
        self.steps = []     # ("call", fn, args, kwargs, results, expected, place) or ("check", fn, a, b, expected)
        self.sizes = {}     # (slot, dimension) -> Size
        self.checked = set()
        self.broken = None  # why it cannot be played
        self.open = True

    def begin(self, inputs, numbers):
        """The inputs of the function; gives Sizes for the numbers among them."""
        for x in inputs:
            self.slot(x)
        numbers = [Size(x, (self.slot(x), None), self) for x in numbers]
        self.n_in = len(self.objects)
        return numbers

    def slot(self, value):
        self.objects.append(value)
        self.slots[id(value)] = len(self.objects) - 1
        return len(self.objects) - 1

    def fail(self, why):
        self.broken = self.broken or why

    # ---- recording ----

    def check(self, fn, a, b, expected):
        """Notes that a comparison gave this; gives it."""
        if self.open:
            key = (fn, *[(id(x),) if type(x) is Size else x for x in (a, b)])
            if key not in self.checked:
                self.checked.add(key)
                self.steps.append(("check", fn, a, b, expected))
        return expected

    def size(self, slot, d, value):
        known = self.sizes.get((slot, d))
        if known is None:
            known = self.sizes[slot, d] = Size(value, (slot, d), self)
        return known

    def shape(self, tensor):
        shape = tensor.shape
        slot = self.slots.get(id(tensor))
        if slot is None:
            self.fail("a tensor came from elsewhere")
            return shape
        return tuple([self.size(slot, d, n) for d, n in enumerate(shape)])

    def __call__(self, fn, args, kwargs):
        """Stands for fn(*args, **kwargs) while a function is staged."""
        if type(fn) is str:
            return self.ask(fn, args[0])
        given, given_kw = plain(args), plain(kwargs) if kwargs else {}
        if not self.open:
            return fn(*given, **given_kw)
        try:
            spec = tuple([self.spec(a) for a in args])
            spec_kw = {k: self.spec(v) for k, v in kwargs.items()} if kwargs else None
            place = _c.place()
            out = fn(*given, **given_kw)
        except BaseException as e:
            self.fail(f"{getattr(fn, '__name__', fn)} raised {type(e).__name__}")
            raise
        if out is NotImplemented:
            return out
        if type(fn) is not _Row and fn.__name__ in _NOT_PLAYED:
            self.fail(f"it calls {fn.__name__}")
        results, expected = [], []
        step = ("call", fn, spec, spec_kw, results, expected, place)
        self.steps.append(step)
        return self.result(out, (), results, expected)

    def ask(self, what, tensor):
        if not tensor._traced:
            return None
        shape = self.shape(tensor)
        if what == "shape":
            return shape
        if what == "size":
            return math.prod(shape)
        for n in shape if what == "pin" else shape[:1]:
            if type(n) is Size:
                n.pin()
        return None

    def spec(self, value):
        """How to make value again."""
        kind = type(value)
        if kind is Size:
            return value
        if kind is tuple or kind is list:
            items = [self.spec(v) for v in value]
            return value if kind is tuple and not any(type(x) in _VARIES for x in items) else _Tree(kind, items)
        if kind is dict:
            return _Tree(dict, [self.spec(v) for v in value.values()], list(value))
        if kind is slice:
            items = [self.spec(v) for v in (value.start, value.stop, value.step)]
            return _Tree(slice, items) if any(type(x) in _VARIES for x in items) else value
        if isinstance(value, _LIVE):
            slot = self.slots.get(id(value))
            if slot is not None:
                return _Slot(slot)
            if not isinstance(value, _c.Tensor) or value._traced:
                self.fail("a tensor came from elsewhere")
        return value

    def result(self, value, path, results, expected):
        """value as the function sees it; notes where its parts go."""
        kind = type(value)
        if isinstance(value, _LIVE):
            if id(value) not in self.slots:
                results.append((path, self.slot(value)))
            return value
        if kind is tuple:
            return tuple([self.result(v, (*path, k), results, expected) for k, v in enumerate(value)])
        if kind is int or kind is float:
            slot = self.slot(value)
            results.append((path, slot))
            return Size(value, (slot, None), self)
        expected.append((path, value))
        return value

    # ---- playing ----

    def play(self, inputs, numbers):
        """The objects of the slots for these inputs, which are open already. Raises Differs."""
        now = [None] * self.n_slots
        now[:self.n_in] = *inputs, *numbers
        player = _Player(now)
        for step in self.steps:
            if step[0] == "check":
                _, fn, a, b, expected = step
                a = player.size(a) if type(a) is Size else a
                b = player.size(b) if type(b) is Size else b
                if (fn(a) if fn is operator.truth else fn(a, b)) != expected:
                    raise Differs(f"a size that the code looked at: {fn.__name__}({a}, {b}) is not {expected}")
                continue
            _, fn, args, kwargs, results, expected, place = step
            _c.set_place(place)
            out = fn(*[player.make(a) for a in args], **({} if kwargs is None else
                                                         {k: player.make(v) for k, v in kwargs.items()}))
            for path, slot in results:
                now[slot] = _at(out, path)
            for path, value in expected:
                if not _same(_at(out, path), value):
                    raise Differs("a call gives another answer")
        return player

    def close(self):
        """Ends the recording: what was recorded is let go."""
        self.open = False
        self.n_slots = len(self.objects)
        self.objects, self.slots, self.checked = None, None, None


def _at(value, path):
    for k in path:
        value = value[k]
    return value


def _same(a, b):
    return a is b or type(a) is type(b) and isinstance(a, _FIXED) and a == b


class _Player:
    def __init__(self, now):
        self.now, self.known = now, {}

    def size(self, s):
        value = self.known.get(id(s))
        if value is None:
            how = s.how
            if len(how) == 2:
                slot, d = how
                value = self.now[slot] if d is None else self.now[slot].shape[d]
            else:
                fn, a, b = how
                a = self.size(a) if type(a) is Size else a
                b = self.size(b) if type(b) is Size else b
                value = fn(a, b) if b is not None else fn(a)
            self.known[id(s)] = value
        return value

    def make(self, spec):
        kind = type(spec)
        if kind is _Slot:
            return self.now[spec.index]
        if kind is Size:
            return self.size(spec)
        if kind is _Tree:
            items = [self.make(v) for v in spec.items]
            if spec.kind is dict:
                return dict(zip(spec.keys, items))
            return slice(*items) if spec.kind is slice else spec.kind(items)
        return spec
