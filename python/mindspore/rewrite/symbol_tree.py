"""SymbolTree: the nodes of a Cell, and the Cell that they make.

The new class extends the old one and brings the functions that were read: construct, the methods it calls that live in the same
module, and the Python functions it calls. Its code runs in the names of that module and those it needs on top; refused: a file
with imports, which would give other objects than the ones the network uses. The new Cell shares Parameters with the old one.
"""
import ast
import builtins
import copy
import inspect
import itertools
import linecache
import textwrap
import types
from collections import namedtuple

from mindspore import nn
from mindspore.jit.source import find, mangle
from mindspore.nn.cell import Cell, _Table
from mindspore.ops.primitive import Primitive
from mindspore.rewrite.flatten import Flattener, is_path, kind_of, last_name
from mindspore.rewrite.node import Block, Node, NodeType
from mindspore.rewrite.scoped_value import checked

__all__ = ["SymbolTree"]

Position = namedtuple("Position", "node after")
_files = itertools.count()
_NONE = object()


def take(new, old):
    """Gives ``new`` the attributes of ``old``; tables and containers of Cells are copied, for some will be replaced."""
    for key, value in vars(old).items():
        if isinstance(value, _Table):
            table = _Table(new)
            for name, item in value.items():
                table[name] = take(object.__new__(type(item)), item) if isinstance(item, nn.SequentialCell) else item
            value = table
        vars(new)[key] = value
    return new


class _Own(ast.NodeTransformer):
    """What a method means where its class is a base: super(), and names that begin with two underscores."""

    def __init__(self, owner, first):
        self.owner, self.first = owner, first

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name(self.owner, ast.Load()), ast.Name(self.first, ast.Load())]
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = mangle(node.attr, self.owner)
        return node


def _parameters(fn):
    a = fn.args
    return a.posonlyargs + a.args + a.kwonlyargs


class SymbolTree:
    """``SymbolTree(tree)`` is the tree; ``SymbolTree.create(network)`` makes one."""

    def __new__(cls, handler):
        return checked(handler, SymbolTree, "handler", "SymbolTree")

    @classmethod
    def create(cls, network):
        """The tree of a Cell whose construct has a source."""
        return cls._over(checked(network, Cell, "network", "SymbolTree"))

    @classmethod
    def _over(cls, network):
        construct = type(network).construct
        if _source(construct) is None:
            raise RuntimeError(f"For 'SymbolTree', the construct of '{type(network).__name__}' has no source, or global or nonlocal variables.")
        self = object.__new__(cls)
        self._network, self._globals = network, construct.__globals__
        self._node_names, self._names, self._bound, self._added, self._functions, self._trees = set(), set(), {}, {}, {}, {}
        self._block, self._self = Block(self), "self"
        self._read(construct, self._block)
        return self

    # ---- reading ----

    def _read(self, fn, block):
        """Fills a block with the nodes of a function."""
        node, owner = copy.deepcopy(_source(fn))
        method = owner is not None and not isinstance(inspect.getattr_static(self._network, node.name, None), staticmethod)
        if method:
            _Own(owner, node.args.args[0].arg).visit(node)
            self._bound.update((c.__name__, c) for c in type(self._network).__mro__ if c.__name__ == owner)
        for n in ast.walk(node):
            if isinstance(n, ast.arg):
                n.annotation = None
        node.returns = None
        block.function = node
        block.scope = {**fn.__globals__}
        block.scope.update((k, c.cell_contents) for k, c in zip(fn.__code__.co_freevars, fn.__closure__ or ()) if k != "__class__")
        if block is self._block:
            self._self = node.args.args[0].arg
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        for p in _parameters(node)[method:]:
            self._append(block, Node._make(NodeType.Input, "input_" + p.arg, p))
        self._fill(block, Flattener(lambda name: _unique(name, names, keep=True)).body(node.body))
        self._names |= names

    def _fill(self, block, stmts):
        for s in stmts:
            if isinstance(s, (ast.If, ast.For, ast.While)):
                self._control(block, s)
            else:
                self._append(block, self._statement(block, s))

    def _control(self, block, s):
        word = type(s).__name__.lower()
        for field, name in (("body", word + "_node"), ("orelse", "else_node" if word == "if" else word + "_else_node")):
            if getattr(s, field):
                node = Node._make(NodeType.ControlFlow, name, s)
                node._field = field
                self._append(block, node)
                node._inner = Block(self, node)
                self._fill(node._inner, getattr(s, field))

    def _append(self, block, node):
        node._name = self._node_name(node._name)
        node._block = block
        block.nodes.append(node)
        if node._kind is NodeType.CallFunction and isinstance(node._instance, types.FunctionType):
            self._enter_function(node)
        elif node._kind is NodeType.CellContainer:
            self._enter_container(node)

    def _statement(self, block, s):
        if isinstance(s, ast.Return):
            return Node._make(NodeType.Output, "return", s)
        if not isinstance(s, ast.Assign) or len(s.targets) > 1:
            return Node._make(NodeType.Python, type(s).__name__, s)
        e = s.value
        if isinstance(e, ast.Call):
            return self._call(block, s, e.func)
        if isinstance(e, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)):
            word = kind_of(e) if not isinstance(e, ast.Compare) else type(e.ops[0]).__name__.lower()
            return Node._make(NodeType.MathOps, f"{type(e).__name__.lower()}_{word}", s)
        if isinstance(e, (ast.Tuple, ast.List, ast.Dict)):
            return Node._make(NodeType.CallMethod, kind_of(e), s)
        if isinstance(e, ast.Subscript):
            return Node._make(NodeType.CallMethod, "subscript_var", s)
        if is_path(e) or isinstance(e, ast.Constant):
            return Node._make(NodeType.CallMethod, type(e).__name__.lower() + "_assign", s)
        return Node._make(NodeType.Python, "Assign", s)

    def _call(self, block, s, func):
        name, value, kind = last_name(func), self._value(block, func), NodeType.CallFunction
        if isinstance(value, Primitive):
            kind = NodeType.CallPrimitive
        elif isinstance(value, Cell):
            own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == self._self
            return self._call_cell(name, s, value, own)
        elif not callable(value) or isinstance(value, type):
            value = None
        return Node._make(kind, name, s, value)

    def _call_cell(self, name, s, cell, own=True):
        """``own``: it is an attribute of the network, so another Cell can take its place."""
        if own and isinstance(cell, nn.SequentialCell):
            return Node._make(NodeType.CellContainer, name, s, cell)
        own = own and type(cell).__module__.split(".")[0] != "mindspore" and _source(type(cell).construct) is not None
        node = Node._make(NodeType.Tree if own else NodeType.CallCell, name, s, cell)
        if own:
            if id(cell) not in self._trees:  # a Cell that is called twice is one Cell
                self._trees[id(cell)] = SymbolTree._over(cell)
            node._tree = self._trees[id(cell)]
        return node

    def _value(self, block, func):
        """The object that a path names before anything runs; None for what the function computes."""
        while block.function is None:
            block = block.up._block
        path = []
        while isinstance(func, ast.Attribute):
            path.append(func.attr)
            func = func.value
        if not isinstance(func, ast.Name):
            return None
        first = next((p.arg for p in _parameters(block.function)), None)
        stored = {n.id for n in ast.walk(block.function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if func.id == first and first == self._self and path:
            value = self._network
        elif func.id in stored or func.id in {p.arg for p in _parameters(block.function)} or func.id not in block.scope:
            return None
        else:
            value = block.scope[func.id]
        for name in reversed(path):
            value = getattr(value, name, _NONE)
            if value is _NONE:
                return None
        if isinstance(value, types.MethodType) and value.__self__ is self._network:
            return value.__func__
        return value

    def _enter_function(self, node):
        """Reads a function that can be rewritten: a method from this module, or one of the user's."""
        fn, func = node._instance, node._stmt.value.func
        method = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == self._self
        if _source(fn) is None or fn.__module__.split(".")[0] == "mindspore" or (method and fn.__globals__ is not self._globals):
            return
        if fn not in self._functions:
            self._functions[fn] = block = Block(self, node)
            block.method = method
            self._read(fn, block)
        node._inner = self._functions[fn]

    def _enter_container(self, node):
        node._inner = Block(self, node)
        for cell in node._instance.cells():
            child = self._call_cell(type(cell).__name__, None, cell)
            self._append(node._inner, child)

    # ---- names ----

    def _node_name(self, name, attribute=False):
        name = _unique(name, self._node_names | set(dir(self._network)) if attribute else self._node_names)
        self._node_names.add(name)
        return name

    def _bind(self, value, name="value"):
        """A global name of the new code that stands for an object."""
        for known, bound in self._bound.items():
            if bound is value:
                return known
        taken = self._names | set(self._bound)
        if self._globals.get(name, getattr(builtins, name, _NONE)) is not value:
            while name in taken or name in self._globals or hasattr(builtins, name):
                name = _unique(name, taken | {name})
        self._bound[name] = value
        return name

    def unique_name(self, name="output"):
        """A name that no variable has yet."""
        return _unique(checked(name, str, "name", "SymbolTree"), self._names, keep=True)

    # ---- nodes ----

    def get_handler(self):
        return self

    def _all(self, block=None):
        """All blocks of this tree, without those of sub trees."""
        seen, waiting = [], [block or self._block]
        while waiting:
            b = waiting.pop(0)
            if b not in seen:
                seen.append(b)
                waiting += [n._inner for n in b.nodes if n._inner is not None]
        return seen

    def nodes(self, all_nodes=False):
        """The nodes of construct; with ``all_nodes`` also those inside functions, branches, containers and sub trees."""
        if not checked(all_nodes, bool, "all_nodes", "SymbolTree"):
            return list(self._block.nodes)
        own = [n for b in self._all() for n in b.nodes]
        trees = {id(n._tree): n._tree for n in own if n._tree is not None}
        return own + [n for t in trees.values() for n in t.nodes(True)]

    def get_node(self, node_name):
        """The node of this name, or None."""
        checked(node_name, str, "node_name", "SymbolTree")
        return next((n for b in self._all() for n in b.nodes if n._name == node_name), None)

    def _mine(self, node):
        checked(node, (Node, str), "node", "SymbolTree")
        found = self.get_node(node) if isinstance(node, str) else node
        if found is None or found.get_symbol_tree() is not self or found not in found._block.nodes:
            raise RuntimeError(f"Node is not belong to current SymbolTree: {node if isinstance(node, str) else node._name}")
        return found

    def before(self, node):
        """The position before a node."""
        return Position(self._mine(node), False)

    def after(self, node):
        """The position after a node."""
        return Position(self._mine(node), True)

    def insert(self, position, node):
        """Inserts a new node at a position; returns it."""
        checked(position, Position, "position", "SymbolTree")
        checked(node, Node, "node", "SymbolTree")
        anchor = self._mine(position.node)
        block, is_input = anchor._block, node._kind is NodeType.Input
        if node._free is None:
            raise RuntimeError(f"The node '{node._name}' belongs to a SymbolTree already.")
        if block.up is not None and block.up._kind is NodeType.CellContainer:
            raise RuntimeError(f"A node cannot be inserted among the Cells of the container '{block.up._name}'.")
        at = block.nodes.index(anchor) + position.after
        inputs = sum(n._kind is NodeType.Input for n in block.nodes)
        if is_input and (block.function is None or at > inputs):
            raise RuntimeError(f"The input '{node._name}' must be inserted among the inputs of a function.")
        if not is_input and at < inputs:
            raise RuntimeError(f"Can not insert a node before or between parameters: {anchor._name}")
        if anchor._kind is NodeType.ControlFlow:  # not between the parts of one statement
            while 0 < at < len(block.nodes) and block.nodes[at]._stmt is block.nodes[at - 1]._stmt:
                at += 1 if position.after else -1
        node._enter(block)
        if is_input:
            self._add_parameter(block.function.args, at, node._stmt)
        block.nodes.insert(at, node)
        return node

    @staticmethod
    def _add_parameter(args, at, arg):
        """Parameter number ``at`` of those that have an Input node."""
        positional = args.posonlyargs + args.args
        skip = len(positional) and positional[0].arg == "self"
        first_default = len(positional) - len(args.defaults) - skip
        if at < first_default:
            raise RuntimeError(f"The input '{arg.arg}' has a default value and cannot stand before an input without one.")
        if at > len(positional) - skip:
            args.kwonlyargs.append(arg)
            args.kw_defaults.append(arg.default)
        else:
            args.args.insert(at + skip - len(args.posonlyargs), arg)
            args.defaults.insert(at - first_default, arg.default)

    def erase(self, node):
        """Takes a node out; returns it."""
        node = self._mine(node)
        up = node._block.up
        if node._kind is NodeType.Input or (up is not None and up._kind is NodeType.CellContainer):
            raise RuntimeError(f"The node '{node._name}' of type {node._kind} cannot be erased.")
        node._block.nodes.remove(node)
        self._node_names.discard(node._name)
        return node

    erase_node = erase

    def replace(self, old_node, new_nodes):
        """Puts new nodes, which must set what is used of it, in the place of a node; returns the last."""
        old = self._mine(old_node)
        for n in checked(new_nodes, (list, tuple), "new_nodes", "SymbolTree"):
            checked(n, Node, "new_nodes", "SymbolTree")
        if not new_nodes:
            raise ValueError("For 'replace', there must be at least one new node.")
        for n in new_nodes:
            self.insert(self.before(old), n)
        self.erase(old)
        return new_nodes[-1]

    def print_node_tabulate(self, all_nodes=False):
        """Prints type, name, code, arguments and users of the nodes."""
        head = ("node type", "name", "codes", "arg providers", "target users")
        rows = [(str(n._kind), n._name, "" if n._stmt is None else ast.unparse(n._stmt).split("\n")[0],
                 str([i._name for i in n.get_inputs()]), str([u._name for u in n.get_users()])) for n in self.nodes(all_nodes)]
        widths = [max(len(r[k]) for r in [head, *rows]) for k in range(5)]
        for r in [head, tuple("-" * w for w in widths), *rows]:
            print("  ".join(v.ljust(w) for v, w in zip(r, widths)).rstrip())

    # ---- code ----

    @staticmethod
    def _body(block):
        out, done = [], set()
        for n in block.nodes:
            if n._kind is NodeType.Input or id(n._stmt) in done:
                continue
            done.add(id(n._stmt))
            s = n._stmt
            if n._kind is NodeType.ControlFlow:
                s = copy.copy(s)
                parts = {m._field: SymbolTree._body(m._inner) for m in block.nodes if m._stmt is n._stmt}
                s.body, s.orelse = parts.get("body") or [ast.Pass()], parts.get("orelse") or []
            out.append(s)
        return out or [ast.Pass()]

    def _function_code(self, block):
        fn = copy.copy(block.function)
        fn.body = self._body(block)
        return ast.unparse(ast.fix_missing_locations(fn))

    @staticmethod
    def _place(node):
        """Where a Cell is in the network: ``name``, or ``name[k]`` in a container."""
        if node._stmt is None:
            return f"{SymbolTree._place(node._block.up)}[{node._block.nodes.index(node)}]"
        return last_name(node._stmt.value.func)

    def _extended(self, network):
        """A Cell like ``network`` that has the inserted ones too."""
        new = take(object.__new__(type(network)), network)
        for name, cell in self._added.items():
            setattr(new, name, cell)
        return new

    def _make(self, parts):
        """Makes functions and classes, those of sub trees first; returns the new class."""
        blocks = self._all()
        scope = {**self._block.scope, **self._bound}
        for b in blocks:
            if b.function is not None and b is not self._block and not b.method:
                name = b.function.name
                scope[name] = parts.add(name, self._function_code(b), {**b.scope, **self._bound})
        lines = ["        obj = extended(obj)"] if self._added else []
        for node in [n for b in blocks for n in b.nodes]:
            if node._name in self._added:
                at, value = node._name, f"obj.{node._name}"
            elif node._tree is None:
                continue
            else:
                at = self._place(node)
                value = f"self.{at}"
            if node._tree is not None:
                made = node._tree._make(parts)
                scope[made.__name__] = made
                value = f"{made.__name__}({value})"
            line = f"        self.{at} = {value}"
            if line not in lines:
                lines.append(line)
        body = ["    def __init__(self, obj):", "        take(self, obj)", *lines]
        for b in blocks:
            if b is self._block or (b.function is not None and b.method):
                body += ["", *("    " + line for line in self._function_code(b).split("\n"))]
        base = type(self._network)
        scope.update({base.__name__: base, "nn": nn, "take": take, "extended": self._extended})
        mine = self if self._added else None
        return parts.add(base.__name__ + "Opt", "\n".join(body), scope, base, mine)

    def get_code(self):
        """The code of the new class and of what it calls."""
        parts = _Parts()
        self._make(parts)
        return "\n\n\n".join(parts.texts) + "\n"

    def get_network(self):
        """The new Cell: its Parameters are those of the old one."""
        return self._make(_Parts())(self._network)


class _Parts:
    """Functions and classes of new code; what has the same text and means the same is made once."""

    def __init__(self):
        self.texts, self.made, self.names = [], {}, set()

    def add(self, name, text, scope, base=None, tree=None):
        """The function ``text`` called ``name``, or the class with this body that extends ``base``, run in ``scope``."""
        used = tuple((k, id(scope[k])) for k in sorted(names_in(text) & set(scope)) if k not in ("take", "extended"))
        key = name, text, used, id(tree)
        if key in self.made:
            return self.made[key]
        if base is not None:
            name = _unique(name, self.names, keep=True)
            text = f"class {name}({base.__name__}, nn.Cell):\n\n{text}"
        file = f"<rewrite {next(_files)}: {name}>"
        linecache.cache[file] = len(text), None, text.splitlines(True), file  # tracebacks and jit read it
        exec(compile(text, file, "exec"), scope)
        self.texts.append(text)
        self.made[key] = scope[name]
        return scope[name]


def names_in(text):
    return {n.id for n in ast.walk(ast.parse(textwrap.dedent(text))) if isinstance(n, ast.Name)}


def _unique(name, taken, keep=False):
    """name, or the first of name_1, name_2, ... that is free; ``keep``: it is taken then."""
    name = name if name not in taken else next(n for n in (f"{name}_{k}" for k in itertools.count(1)) if n not in taken)
    if keep:
        taken.add(name)
    return name


def _source(fn):
    """(definition, class name) of a function that can be written anew, or None: its variables are its own."""
    found = find(fn)
    if found is None or not isinstance(found[0], ast.FunctionDef):
        return None
    return None if any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(found[0])) else found
