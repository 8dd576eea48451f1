"""What a compiled function took from outside, and whether it is still so.

A function names globals, closure variables and attributes; the values they had are noted when it is staged and looked
at again before each call. Numbers and texts are compared by value, containers by their items, modules, functions,
classes and tensors by identity, a Cell by its version counter, other objects by identity and by those attributes whose
names occur in the code that ran. A tensor's content needs no guard: graphs read it when they run.

Refused: following each attribute chain through the code; it misses what a called function does with an argument.
"""
import dis
import functools
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Collection, Iterator

from mindspore import _c
from mindspore.common import hook_handle, hooks
from . import tree

PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), slice, range)
_OPAQUE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.CodeType, property)
_LIBRARIES = {"mindspore", "numpy", "scipy", "builtins"}
_BOXES = (list, tuple, set, frozenset, dict, deque)
_CELL_OWN = ("_params", "_cells", "_buffers", "_func_graph_flags")
_CELL_CASTS = ("_ms_cast", "_ms_out", "_ms_autocast")
_REFLECTION = {"__dict__", "vars", "dir", "asdict", "astuple", "getmembers"}  # finds attributes that code does not name
_BY_TEXT = {"getattr", "hasattr", "setattr", "delattr"}  # seen where code is rewritten
_STDLIB = getattr(sys, "stdlib_module_names", frozenset(("collections", "types", "array")))
MISSING = type("Missing", (), {"__repr__": lambda s: "missing", "__slots__": ()})()
_named = {}
_global = {}
_stored = {}
_BY_NAME = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}


def named(code):
    """All names that code, with the code nested in it, looks up: globals and attributes together."""
    known = _named.get(code)
    if known is None:
        known = set(code.co_names)
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                known |= named(const)
        _named[code] = known
    return known


def stored_names(code):
    """The names of attributes that code, with the code nested in it, sets or deletes."""
    known = _stored.get(code)
    if known is None:
        known = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_ATTR", "DELETE_ATTR")}
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                known |= stored_names(const)
        _stored[code] = known
    return known


def global_names(code):
    """The names that code, with the code nested in it, looks up in its globals. An attribute may have the same name as a
    variable of the script that nobody reads here."""
    known = _global.get(code)
    if known is None:
        known = {i.argval for i in dis.get_instructions(code) if i.opname in _BY_NAME}
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                known |= global_names(const)
        _global[code] = known
    return known


def _home(kind):
    return kind.__module__.partition(".")[0] if isinstance(kind.__module__, str) else ""


def _of_scripts(value):
    """Whether an object's class is neither of the standard library nor of an installed package."""
    home = _home(type(value))
    return home not in _STDLIB and home not in _LIBRARIES and "-packages" not in str(getattr(sys.modules.get(home), "__file__", ""))


def _is_attributed(value):
    """Whether a user may have given a function attributes."""
    return type(value) is types.FunctionType and any(not k.startswith("ms_") for k in value.__dict__)


def same_plain(a, b):
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    return repr(a) == repr(b) if type(a) in (float, complex) else a == b


def read(how, container, name):
    if how == "item":
        return container.get(name, MISSING)
    if how == "default":
        return getattr(container, name)
    if how == "absent":
        return not container.__dict__.keys().isdisjoint(name)
    if how in _SPECIAL:
        return _SPECIAL[how](container)
    if how == "cell":
        try:
            return container.cell_contents
        except ValueError:
            return MISSING
    return attribute(container, name)


_SPECIAL = {
    "class": type,
    "dict": lambda value: value.__dict__,
    "content": lambda value: list(value.items() if hasattr(value, "items") else value),
    "partial": lambda value: [value.func, value.args, value.keywords],
    "referent": lambda value: value(),
}


def attribute(container, name):
    """An attribute as it is stored; nothing of the user's runs."""
    if isinstance(container, type):
        return next((base.__dict__[name] for base in container.__mro__ if name in base.__dict__), MISSING)
    own = getattr(container, "__dict__", {})
    if name in own:
        return own[name]
    member = attribute(type(container), name)
    return getattr(container, name, MISSING) if type(member) is types.MemberDescriptorType else MISSING


def describe(value):
    """A short text; nothing of the user's runs, and no tensor is looked at."""
    if isinstance(value, _c.Tensor):
        return f"{value.dtype}{list(value.shape)}"
    if value is MISSING or isinstance(value, (*PLAIN, *_OPAQUE, type)):
        return f"{value!r:.60}"
    items = tree.children(value)
    if items is None:
        return f"a {type(value).__name__} object"
    return f"{type(value).__name__}({', '.join(map(describe, items[:8]))}{', ...' if len(items) > 8 else ''})"


class Guards:
    """The notes of one compiled form."""

    def __init__(self, cell_type, tensor_type, is_user, deep):
        self.cell_type, self.tensor_type, self.is_user = cell_type, tensor_type, is_user
        self.deep = deep     # also follow functions that are named, not only those that were seen running
        self.items = []      # (how, container, name, value, snapshot)
        self.boxes = []      # (cell, attribute, container, its items): changed without the Cell's knowledge
        self.cells = {}      # id -> [cell, version, attributes]
        self.names, self.stored = set(), set()
        self.unsettled = None  # why no later call is like this one
        self.seen = {}       # key -> what keeps its ids alive
        self.objects = []    # whose attributes matter, if they are named
        self.reflects = False  # attributes that are not named matter too
        self.contents = {}   # id -> (tensor, bytes): looked at while staging, so that values are in the graph
        self.arrays = {}     # id -> (ndarray, copy)
        self.hooks = {}      # id -> (tensor, its hooks)
        self.hook_version = hook_handle.version[0]
        self.handles = {}    # id -> (tensor, number of its data): a graph reads the data it was made with
        self.marks = {}      # id -> (tensor, {attribute: value}) of those that code names

    # ---- noting ----

    def function(self, fn, first=MISSING):
        """Everything that fn names; first: the object it is a method of."""
        if first is not MISSING:
            self.value(first)
        key = ("function", id(fn))
        if key in self.seen:
            return
        self.seen[key] = fn
        self.learn(named(fn.__code__), stored_names(fn.__code__))
        for name in global_names(fn.__code__) & fn.__globals__.keys():
            self.note("item", fn.__globals__, name)
        for cell in fn.__closure__ or ():
            self.note("cell", cell, None)
        self.note("default", fn, "__code__")
        for where in ("__defaults__", "__kwdefaults__"):
            if getattr(fn, where):
                self.note("default", fn, where)
        if _is_attributed(fn):
            self.value(fn)

    def learn(self, names, stored):
        """Code that will run uses these attributes."""
        names, stored = names - self.names, stored - self.stored
        self.names |= names
        self.stored |= stored
        if names & _REFLECTION or self.deep and names & _BY_TEXT:
            names, self.reflects = self.names if not self.reflects else names, True
        for value in list(self.objects):
            self.attributes(value, names | stored, stored)
        for tensor, marks in self.marks.values():
            self.mark(tensor, marks)

    def by_text(self, value, name):
        """Code asks for an attribute whose name it computes."""
        if isinstance(name, str):
            self.learn({name}, {name})
            self.value(value)

    def mark(self, tensor, marks):
        """Notes attributes of a tensor: those of users, and of Parameters the name and whether it is trained."""
        own = tensor.__dict__
        for name in self.names:
            name = name if name in own else "_" + name
            if name in own and name not in marks:
                marks[name] = own[name]
                hook_handle.watched.add(name)

    def attributes(self, value, names, stored):
        """Notes attributes of an object, before code can change them."""
        own = getattr(value, "__dict__", ())
        if self.reflects and type(own) is dict and _of_scripts(value):
            self.note("dict", value, None)
        absent = []
        for name in names:
            if name in own:
                self.note("attr", value, name)
            elif not isinstance(value, types.ModuleType):
                found = self.class_attribute(value if isinstance(value, type) else type(value), name)
                if found is not MISSING and type(own) is dict:
                    absent.append(name)
                if name in stored or type(found) is types.MemberDescriptorType:
                    self.note("attr", value, name)
                elif type(found) is property and type(found.fget) is types.FunctionType and self.is_user(found.fget):
                    self.function(found.fget)
        if absent:
            self.note("absent", value, tuple(absent))

    def methods(self, cls):
        """What Python calls by itself: operators and the like of a user's class, which are not seen running."""
        if ("methods", id(cls)) in self.seen:
            return
        self.seen["methods", id(cls)] = cls
        for base in cls.__mro__:
            if self.foreign(base):
                for name, fn in base.__dict__.items():
                    if name.startswith("__") and type(fn) is types.FunctionType and self.is_user(fn) and \
                            "-packages" not in fn.__code__.co_filename:
                        self.function(fn)

    def note(self, how, container, name):
        key = (how, id(container), name)
        if key in self.seen:
            return
        self.seen[key] = container
        value = read(how, container, name)
        if isinstance(value, Iterator) and (how == "cell" or how == "item" and "-packages" not in str(
                container.get("__file__", ""))):
            self.unsettled = f"{name or 'a closure variable'} is an iterator, which changes with each use"
        self.items.append((how, container, name, value, self.snapshot(value)))
        self.value(value)

    def value(self, value):
        """An object that code can reach."""
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if isinstance(value, PLAIN) or value is MISSING:
            return
        if isinstance(value, self.tensor_type):
            self.handles[id(value)] = (value, _c.handle_of(value))
            if getattr(value, "__dict__", None):
                self.mark(value, self.marks.setdefault(id(value), (value, {}))[1])
        elif isinstance(value, self.cell_type):
            self.cell(value)
        elif type(value).__name__ == "ndarray" and type(value).__module__ == "numpy":
            self.arrays[id(value)] = (value, value.copy())
        elif isinstance(value, _BOXES):
            for item in value.values() if isinstance(value, dict) else value:
                if not isinstance(item, PLAIN):
                    self.value(item)
        elif type(value) is functools.partial:
            self.note("partial", value, None)
        elif isinstance(value, weakref.ref):
            self.note("referent", value, None)
        elif isinstance(value, operator.attrgetter):
            self.learn({name for path in value.__reduce__()[1] for name in path.split(".")}, set())
        elif _is_attributed(value) and ("object", id(value)) not in self.seen:
            self.object(value)
            self.value(value)
        elif self.deep and type(value) is types.FunctionType and self.is_user(value):
            self.function(value)
        elif self.deep and type(value) is types.MethodType and type(value.__func__) is types.FunctionType:
            self.function(value.__func__, value.__self__)
        elif type(getattr(value, "__wrapped__", None)) is types.FunctionType and not (
                isinstance(value, _OPAQUE) and (type(value) is not types.FunctionType or self.is_user(value))):
            self.function(value.__wrapped__)  # of a cache or a context manager: the library runs it unseen
        elif not isinstance(value, (type, *_OPAQUE)) and isinstance(value, Collection) and any(
                _home(base) in _STDLIB for base in type(value).__mro__[:-1]):
            self.note("dict" if hasattr(value, "__dict__") else "content", value, None)
            self.object(value)
        elif not isinstance(value, _OPAQUE) and self.foreign(value):
            self.object(value)

    def object(self, value):
        key = ("object", id(value))
        if key not in self.seen:
            self.seen[key] = value
            self.objects.append(value)
            self.attributes(value, tuple(self.names | self.stored), self.stored)
            if not isinstance(value, (type, types.ModuleType, types.FunctionType)):
                self.note("class", value, None)
                self.methods(type(value))

    def content(self, tensor):
        """A tensor of outside whose elements the code looks at."""
        key = _c.handle_of(tensor)
        if key not in self.contents:
            self.contents[key] = (tensor, _c.content(tensor))

    def hooked(self, tensor):
        """A tensor of outside whose hooks are part of the graph."""
        if not tensor._traced:
            self.hooks[id(tensor)] = (tensor, hooks.hooks_of(tensor))

    @staticmethod
    def foreign(value):
        """Whether an object, class or module is the user's."""
        if isinstance(value, types.ModuleType):
            home = value.__name__
        else:
            kind = value if isinstance(value, type) else type(value)
            if getattr(kind, "ms_rewrite", False):
                return True
            home = kind.__module__
        if not isinstance(home, str):  # a type of an extension
            return False
        return home.partition(".")[0] not in _LIBRARIES

    def finish(self):
        """Called when everything has run: the named attributes of the classes of Cells."""
        known = -1
        while known != len(self.names):  # what is found may be functions that name more
            known = len(self.names)
            for cell, _, _ in list(self.cells.values()):
                for name in ("construct", *self.names):
                    if name not in cell.__dict__:
                        self.class_attribute(type(cell), name)

    def class_attribute(self, cls, name):
        """Notes what a class gives by this name; gives it. Behind super() are those of its bases."""
        first = MISSING
        for base in cls.__mro__:
            found = base.__dict__.get(name, MISSING)
            if found is not MISSING:
                if self.foreign(base):
                    self.note("attr", base if self.deep else cls, name)
                if first is MISSING:
                    first = found
                if not self.deep:
                    break
        return first

    def cell(self, cell):
        """A Cell and all below it."""
        if id(cell) in self.cells:
            return
        for _, c in cell.cells_and_names():
            if id(c) not in self.cells:
                self.cells[id(c)] = [c, None, None]
        for note in list(self.cells.values()):
            if note[2] is None:
                note[1], note[2] = note[0]._ms_version, self.attributes_of(note[0])
                if self.deep:
                    construct = getattr(type(note[0]), "construct", None)
                    if type(construct) is types.FunctionType and self.is_user(construct):
                        self.function(construct)
                own = _names_of_cells(self.cell_type)
                for key, (value, snapshot) in note[2].items():
                    self.value(value)
                    if snapshot is not None and key not in own:
                        self.boxes.append((note[0], key, value, snapshot))

    def attributes_of(self, cell):
        d = cell.__dict__
        own = {k: (v, self.snapshot(v)) for k, v in d.items()
               if (not k.startswith("_ms_") or k in _CELL_CASTS) and k not in _CELL_OWN}
        for table in _CELL_OWN[:3]:
            for k, v in (d.get(table) or {}).items():
                own[table + k] = (v, None)
        return own

    def snapshot(self, value, depth=0):
        """None where identity or == says enough, else the items of a container with theirs."""
        if not isinstance(value, _BOXES) or depth > 8:
            return None
        items = [(x, self.snapshot(x, depth + 1)) for x in _flat(value)]
        return None if isinstance(value, tuple) and all(inner is None for _, inner in items) and depth == 0 else items

    # ---- looking ----

    def changed(self):
        """None, or what has changed since."""
        for how, container, name, value, snapshot in self.items:
            now = read(how, container, name)
            if now is value and snapshot is None:
                continue
            if not self.same(now, value, snapshot):
                return f"{name if name is not None else 'a closure variable'} was {describe(value)} and is {describe(now)}"
        for tensor, handle in self.handles.values():
            if _c.handle_of(tensor) != handle:
                return "a tensor was made to stand for other data"
        if self.hook_version != hook_handle.version[0]:
            if any(hooks.hooks_of(tensor) != old for tensor, old in self.hooks.values()):
                return "a tensor has other hooks"
            for tensor, marks in self.marks.values():
                for name, value in marks.items():
                    if not self.same(tensor.__dict__.get(name, MISSING), value, None):
                        return f"'{name.strip('_')}' of a tensor changed"
            for cell, _, attributes in self.cells.values():
                what = self.cell_changed(cell, attributes)
                if what is not None:
                    return f"{what} of {type(cell).__name__} changed"
            self.hook_version = hook_handle.version[0]
        for tensor, content in self.contents.values():
            if _c.content(tensor) != content:
                return "a tensor that the function looked at has other elements"
        for array, copy in self.arrays.values():
            if array.shape != copy.shape or array.dtype != copy.dtype or array.tobytes() != copy.tobytes():
                return "an array has other elements"
        for cell, key, value, snapshot in self.boxes:
            if not self.same(value, value, snapshot):
                return f"'{key}' of {type(cell).__name__} has other items"
        for note in self.cells.values():
            cell, version, attributes = note
            if cell._ms_version != version:
                what = self.cell_changed(cell, attributes)
                if what is not None:
                    return f"{what} of {type(cell).__name__} changed"
                note[1] = cell._ms_version
        return None

    def restore(self):
        """Undoes what staging has changed."""
        for how, container, name, value, snapshot in self.items:
            if read(how, container, name) is not value:
                _put(how, container, name, value)
            if snapshot is not None:
                _put_items(value, snapshot)
        for cell, version, attributes in self.cells.values():
            if self.cell_changed(cell, attributes) is None:
                continue
            now = self.attributes_of(cell)
            for k in now.keys() - attributes.keys():
                _put_attribute(cell, k, MISSING)
            for k, (value, snapshot) in attributes.items():
                if k not in now or now[k][0] is not value:
                    _put_attribute(cell, k, value)
                if snapshot is not None:
                    _put_items(value, snapshot)

    def cell_changed(self, cell, attributes):
        now = self.attributes_of(cell)
        if now.keys() != attributes.keys():
            return "the attributes"
        for k, (value, snapshot) in attributes.items():
            if not self.same(now[k][0], value, snapshot):
                return f"'{k}'"
        return None

    def same(self, now, value, snapshot):
        if snapshot is None:
            return now is value or isinstance(value, PLAIN) and same_plain(now, value)
        if type(now) is not type(value):
            return False
        flat = _flat(now)
        return len(flat) == len(snapshot) and all(self.same(x, *old) for x, old in zip(flat, snapshot))


def _put(how, container, name, value):
    if how == "absent":
        for key in name:
            container.__dict__.pop(key, None)
    elif how in _SPECIAL:
        pass  # what these give is put back itself
    elif how == "cell":
        if value is MISSING:
            del container.cell_contents
        else:
            container.cell_contents = value
    elif how == "item":
        if value is MISSING:
            del container[name]
        else:
            container[name] = value
    elif value is MISSING:
        delattr(container, name)
    else:
        setattr(container, name, value)


def _put_attribute(cell, key, value):
    table = next((t for t in _CELL_OWN[:3] if key.startswith(t) and key[len(t):] in (cell.__dict__.get(t) or ())), None)
    own, key = (cell.__dict__[table], key[len(table):]) if table else (cell.__dict__, key)
    if value is MISSING:
        own.pop(key, None)
    else:
        own[key] = value


def _put_items(value, snapshot):
    """Gives a list, dict or set the items that it had."""
    items = [x for x, _ in snapshot]
    if isinstance(value, list):
        value[:] = items
    elif isinstance(value, dict):
        value.clear()
        value.update(zip(items[::2], items[1::2]))
    elif isinstance(value, set):
        value.clear()
        value.update(items)
    elif isinstance(value, deque):
        value.clear()
        value.extend(items)
    for x, inner in snapshot:
        if inner is not None:
            _put_items(x, inner)


def _flat(value):
    return [x for pair in value.items() for x in pair] if isinstance(value, dict) else list(value)


@functools.lru_cache(maxsize=None)
def _names_of_cells(cell_type):
    """The attributes that every Cell has; its own code tells when they change."""
    return frozenset(cell_type().__dict__)
