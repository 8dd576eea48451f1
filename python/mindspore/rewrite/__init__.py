"""Changing a Cell by the syntax tree of its construct: read the nodes, insert, replace and erase some, make the new Cell."""
from mindspore.rewrite.node import Node, NodeType
from mindspore.rewrite.scoped_value import ScopedValue, ValueType
from mindspore.rewrite.symbol_tree import SymbolTree

__all__ = ["SymbolTree", "Node", "NodeType", "ScopedValue", "ValueType"]
