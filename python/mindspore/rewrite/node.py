"""Node: a statement of a rewritten function, and what it calls.

A node keeps nothing that its statement says: arguments and targets are read from the syntax tree and written into it.
"""
import ast
from enum import Enum

from mindspore.nn.cell import Cell
from mindspore.ops.primitive import Primitive
from mindspore.rewrite.flatten import is_path
from mindspore.rewrite.scoped_value import ScopedValue, ValueType, checked

__all__ = ["Node", "NodeType"]


class NodeType(Enum):
    """What a node does."""
    Unknown = 0
    CallCell = 1
    CallPrimitive = 2
    CallModule = 3
    CallFunction = 4
    CallMethod = 5
    Python = 6
    Input = 7
    Output = 8
    Tree = 9
    CellContainer = 10
    MathOps = 11
    ControlFlow = 12


class Block:
    """Nodes in order: the body of a function (``function`` is its definition), of a branch or a loop, or the Cells of a container.
    ``up`` is the node that it belongs to."""

    def __init__(self, tree, up=None, function=None):
        self.tree, self.up, self.function, self.nodes = tree, up, function, []


def _items(values, name):
    for v in checked(values, (list, tuple), name):
        if not isinstance(v, ScopedValue):
            raise TypeError(f"For 'Node', the type of '{name}' should be ScopedValue, but got '{v}' with type '{type(v).__name__}'.")
    return list(values)


def _targets(targets):
    values = []
    for t in checked(targets, (list, tuple), "targets"):
        checked(t, (ScopedValue, str), "targets")
        values.append(ScopedValue._of(ast.parse(t, mode="eval").body) if isinstance(t, str) else t)
        if values[-1].type is not ValueType.NamingValue:
            raise ValueError(f"For 'Node', a target must be a name, but got '{t}'.")
    return values


class Node:
    """A statement of a SymbolTree; ``Node(node)`` is the node."""

    def __new__(cls, node):
        return checked(node, Node, "node")

    @classmethod
    def _make(cls, kind, name, stmt, instance=None):
        self = object.__new__(cls)
        self._kind, self._name, self._stmt, self._instance = kind, name, stmt, instance
        self._block = self._inner = self._tree = self._field = self._free = None
        return self

    @classmethod
    def _new_call(cls, kind, name, instance, targets, args, kwargs):
        args, kwargs = _items(args or [], "args"), checked(kwargs or {}, dict, "kwargs")
        for key in kwargs:
            checked(key, str, "kwargs")
        _items(list(kwargs.values()), "kwargs")
        node = cls._make(kind, name, None, instance)
        node._free = _targets(targets), args, kwargs  # a statement when the node is inserted
        return node

    # ---- making nodes ----

    @staticmethod
    def create_call_cell(cell, targets, args=None, kwargs=None, name="", is_sub_net=False):
        """A call of a Cell or primitive that becomes an attribute of the network, called ``name`` or by its class."""
        checked(cell, (Cell, Primitive), "cell")
        checked(name, str, "name")
        checked(is_sub_net, bool, "is_sub_net")
        kind = NodeType.CallPrimitive if isinstance(cell, Primitive) else NodeType.Tree if is_sub_net else NodeType.CallCell
        return Node._new_call(kind, name or type(cell).__name__, cell, targets, args, kwargs)

    @staticmethod
    def create_call_function(function, targets, args=None, kwargs=None):
        """A call of a function."""
        if not callable(function) or isinstance(function, (Cell, Primitive, type)):
            raise TypeError(f"For 'Node', the type of 'function' should be 'FunctionType', but got type '{type(function).__name__}'.")
        return Node._new_call(NodeType.CallFunction, function.__name__, function, targets, args, kwargs)

    @staticmethod
    def create_input(param_name, default=None):
        """A further parameter; without a ``default`` it is None."""
        checked(param_name, str, "param_name")
        default = checked(default, ScopedValue, "default") if default is not None else ScopedValue.create_variable_value(None)
        node = Node._make(NodeType.Input, "input_" + param_name, None)
        node._free = [ScopedValue.create_naming_value(param_name)], [default], {}
        return node

    # ---- what it is ----

    def get_handler(self):
        return self

    def get_name(self):
        """The name, unique in its SymbolTree."""
        return self._name

    def get_node_type(self):
        return self._kind

    def get_instance_type(self):
        """The class of the Cell or primitive, the function; else NoneType."""
        if isinstance(self._instance, (Cell, Primitive)):
            return type(self._instance)
        return self._instance if self._instance is not None else type(None)

    def get_instance(self):
        """The Cell, primitive or function that is called, or None."""
        return self._instance

    def get_symbol_tree(self):
        """The SymbolTree that it belongs to; None before it was inserted."""
        return self._block.tree if self._block is not None else None

    def get_node_manager(self):
        """The node whose nodes contain this one, or the SymbolTree."""
        return self._block.up or self._block.tree

    def get_sub_tree(self):
        """The SymbolTree of a node of type Tree."""
        if self._kind is not NodeType.Tree:
            raise TypeError(f"For 'get_sub_tree', the node type should be NodeType.Tree, but got {self._kind}.")
        return self._tree

    symbol_tree = property(get_sub_tree)

    def nodes(self):
        """The nodes inside: of a function, a branch, a loop or a container."""
        return list(self._inner.nodes) if self._inner is not None else []

    # ---- arguments and targets ----

    def _call(self):
        """(places of the arguments, places of the keyword arguments): a place is (holder, field, index or None)."""
        s = self._stmt
        e = s if isinstance(s, (ast.Return, ast.Expr)) else getattr(s, "value", None)
        if self._kind in (NodeType.Python, NodeType.Input) or s is None:
            return [], {}
        if self._kind is NodeType.ControlFlow:
            return ([] if isinstance(s, ast.While) else [(s, "iter" if isinstance(s, ast.For) else "test", None)]), {}
        if isinstance(e, ast.Return):
            return ([(e, "value", None)] if e.value is not None else []), {}
        if isinstance(e, ast.Call):
            return [(e.args, k, 0) for k in range(len(e.args))], {k.arg: (k, "value", None) for k in e.keywords if k.arg}
        if isinstance(e, ast.BinOp):
            return [(e, "left", None), (e, "right", None)], {}
        if isinstance(e, ast.UnaryOp):
            return [(e, "operand", None)], {}
        if isinstance(e, ast.BoolOp):
            return [(e.values, k, 0) for k in range(len(e.values))], {}
        if isinstance(e, ast.Compare):
            return [(e, "left", None)] + [(e.comparators, k, 0) for k in range(len(e.comparators))], {}
        if isinstance(e, (ast.Tuple, ast.List)):
            return [(e.elts, k, 0) for k in range(len(e.elts))], {}
        if isinstance(e, ast.Subscript):
            return [(e, "value", None), (e, "slice", None)], {}
        if isinstance(e, ast.Dict):
            return [], {k.value: (e.values, i, 0) for i, k in enumerate(e.keys) if isinstance(k, ast.Constant)}
        return [(s, "value", None)], {}

    @staticmethod
    def _read(place):
        holder, field, listed = place
        return ScopedValue._of(getattr(holder, field) if listed is None else holder[field])

    def get_args(self):
        """The arguments, as ScopedValues."""
        if self._free is not None:
            return list(self._free[1]) if self._kind is not NodeType.Input else []
        return [self._read(p) for p in self._call()[0]]

    def get_kwargs(self):
        """The keyword arguments, as ScopedValues by name."""
        if self._free is not None:
            return dict(self._free[2])
        return {k: self._read(p) for k, p in self._call()[1].items()}

    def set_arg(self, index, arg):
        """Makes ``arg``, a ScopedValue or the text of a name, the argument number ``index``; keyword arguments count after the
        others."""
        checked(index, int, "index")
        checked(arg, (ScopedValue, str), "arg")
        if isinstance(arg, str):
            arg = ScopedValue._of(ast.parse(arg, mode="eval").body)
        if self._free is not None:
            _, args, kwargs = self._free
            places = [(args, k) for k in range(len(args))] + [(kwargs, k) for k in kwargs]
        else:
            places = [*self._call()[0], *self._call()[1].values()]
        if not 0 <= index < len(places):
            raise ValueError(f"The 'index' must be in range of [0, {len(places)}), but got {index} with type 'int'.")
        if self._free is not None:
            holder, key = places[index]
            holder[key] = arg
            return
        holder, field, listed = places[index]
        e = arg._expr(self._block.tree._bind)
        if listed is None:
            setattr(holder, field, e)
        else:
            holder[field] = e

    def set_arg_by_node(self, arg_idx, src_node, out_idx=None):
        """Makes output ``out_idx`` (the only one if None) of ``src_node`` the argument number ``arg_idx``."""
        checked(arg_idx, int, "arg_idx")
        checked(src_node, Node, "src_node")
        targets = src_node.get_targets()
        if out_idx is None:
            if len(targets) != 1:
                raise ValueError(f"For 'set_arg_by_node', 'out_idx' must be given: the node '{src_node._name}' has {len(targets)} outputs.")
            out_idx = 0
        if not 0 <= checked(out_idx, int, "out_idx") < len(targets):
            raise ValueError(f"The 'out_idx' must be in range of [0, {len(targets)}), but got {out_idx} with type 'int'.")
        self.set_arg(arg_idx, targets[out_idx])

    def get_targets(self):
        """The names that the statement sets, as ScopedValues."""
        if self._free is not None:
            return list(self._free[0])
        if self._kind is NodeType.Input:
            return [ScopedValue.create_naming_value(self._stmt.arg)]
        if self._kind is NodeType.Python or not isinstance(self._stmt, ast.Assign):
            return []
        t = self._stmt.targets[0]
        return [ScopedValue._of(x) for x in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t]) if is_path(x)]

    # ---- neighbours ----

    def _before(self):
        """The nodes that run before this one in its function, last first."""
        node = self
        while node is not None and node._block is not None:
            nodes = node._block.nodes
            yield from reversed(nodes[:nodes.index(node)])
            node = node._block.up if node._block.function is None else None

    def get_inputs(self):
        """For each argument that another node computes, that node."""
        found = []
        for value in [*self.get_args(), *self.get_kwargs().values()]:
            if value.type is ValueType.NamingValue and self._block is not None:
                source = next((n for n in self._before() if value in n.get_targets()), None)
                if source is not None:
                    found.append(source)
        return found

    def get_users(self):
        """The nodes after this one that have an output of it as an argument."""
        nodes = self._block.nodes if self._block is not None else []
        return [n for n in nodes if self in n.get_inputs()]

    # ---- becoming part of a tree ----

    def _enter(self, block):
        """Gives a new node its unique name and its statement."""
        tree, (targets, args, kwargs) = block.tree, self._free
        if self._kind is NodeType.Input:
            self._stmt = ast.arg(targets[0].value)
            self._stmt.default = args[0]._expr(tree._bind)
            self._name = tree._node_name(self._name)
        else:
            if isinstance(self._instance, (Cell, Primitive)):
                self._name = tree._node_name(self._name, attribute=True)
                tree._added[self._name] = self._instance
                func = ast.Attribute(ast.Name(tree._self, ast.Load()), self._name, ast.Load())
                if self._kind is NodeType.Tree:
                    self._tree = type(tree)._over(self._instance)
            else:
                self._name = tree._node_name(self._name)
                func = ast.Name(tree._bind(self._instance, self._instance.__name__), ast.Load())
            call = ast.Call(func, [a._expr(tree._bind) for a in args],
                            [ast.keyword(k, v._expr(tree._bind)) for k, v in kwargs.items()])
            names = [t._expr(None) for t in targets]
            self._stmt = ast.Expr(call) if not names else ast.Assign([names[0] if len(names) == 1 else ast.Tuple(names)], call)
        self._free, self._block = None, block
        tree._names.update(t.value for t in targets)
