"""ScopedValue: an argument or a target of a node, a name in a scope or a value."""
import ast
from enum import Enum

__all__ = ["ScopedValue", "ValueType"]


class ValueType(Enum):
    """What a ScopedValue is."""
    ConstantValue = 0
    TupleValue = 20
    ListValue = 21
    DictValue = 22
    NamingValue = 40
    CustomObjValue = 41
    UnsupportedValue = 50


_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(...))
_CONTAINERS = {tuple: ValueType.TupleValue, list: ValueType.ListValue, dict: ValueType.DictValue}


def checked(value, kinds, name, owner="Node"):
    if not isinstance(value, kinds):
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        names = [k.__name__ for k in kinds]
        should = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
        raise TypeError(f"For '{owner}', the type of '{name}' should be {should}, but got type '{type(value).__name__}'.")
    return value


class ScopedValue:
    """``value`` of kind ``arg_type``; of a name ``scope`` is what stands before the last dot."""

    def __init__(self, arg_type, scope="", value=None):
        checked(arg_type, ValueType, "arg_type", "ScopedValue")
        self.type, self.scope, self.value = arg_type, scope, value

    @classmethod
    def create_variable_value(cls, value):
        """A constant, a tuple, list or dict of values, or any other object."""
        if isinstance(value, cls):
            return value
        if isinstance(value, _CONSTANTS):
            return cls(ValueType.ConstantValue, "", value)
        if type(value) is dict:
            return cls(ValueType.DictValue, "", {k: cls.create_variable_value(v) for k, v in value.items()})
        if type(value) in _CONTAINERS:
            return cls(_CONTAINERS[type(value)], "", type(value)(cls.create_variable_value(v) for v in value))
        return cls(ValueType.CustomObjValue, "", value)

    @classmethod
    def create_naming_value(cls, name, scope=""):
        """The variable ``name``, or the attribute ``name`` of ``scope``."""
        return cls(ValueType.NamingValue, checked(scope, str, "scope", "ScopedValue"), checked(name, str, "name", "ScopedValue"))

    @staticmethod
    def create_name_values(names, scopes=None):
        """A list of names, each in its scope."""
        if not isinstance(names, (list, tuple)) or (scopes is not None and not isinstance(scopes, (list, tuple))):
            raise TypeError("For 'ScopedValue', 'names' and 'scopes' should be lists or tuples of str.")
        if scopes is not None and len(scopes) != len(names):
            raise ValueError(f"For 'ScopedValue', there are {len(names)} names but {len(scopes)} scopes.")
        return [ScopedValue.create_naming_value(n, s) for n, s in zip(names, scopes or [""] * len(names))]

    @classmethod
    def _of(cls, expr):
        """What an expression is."""
        if isinstance(expr, ast.Constant):
            return cls(ValueType.ConstantValue, "", expr.value)
        if isinstance(expr, ast.Name):
            return cls(ValueType.NamingValue, "", expr.id)
        if isinstance(expr, ast.Attribute):
            return cls(ValueType.NamingValue, ast.unparse(expr.value), expr.attr)
        if isinstance(expr, (ast.Tuple, ast.List)):
            kind, make = (ValueType.TupleValue, tuple) if isinstance(expr, ast.Tuple) else (ValueType.ListValue, list)
            return cls(kind, "", make(cls._of(e) for e in expr.elts))
        if isinstance(expr, ast.Dict) and all(isinstance(k, ast.Constant) for k in expr.keys):
            return cls(ValueType.DictValue, "", {k.value: cls._of(v) for k, v in zip(expr.keys, expr.values)})
        return cls(ValueType.UnsupportedValue, "", ast.unparse(expr))

    def _expr(self, bind):
        """The expression; ``bind(object)`` gives the name of an object that no text stands for."""
        if self.type is ValueType.ConstantValue:
            return ast.Constant(self.value)
        if self.type is ValueType.CustomObjValue:
            return ast.Name(bind(self.value), ast.Load())
        return ast.parse(self._text(bind), mode="eval").body

    def _text(self, bind):
        def inner(v):
            return ast.unparse(ScopedValue.create_variable_value(v)._expr(bind))
        if self.type is ValueType.NamingValue:
            return f"{self.scope}.{self.value}" if self.scope else self.value
        if self.type is ValueType.TupleValue:
            return "(" + ", ".join(map(inner, self.value)) + ("," if len(self.value) == 1 else "") + ")"
        if self.type is ValueType.ListValue:
            return "[" + ", ".join(map(inner, self.value)) + "]"
        if self.type is ValueType.DictValue:
            return "{" + ", ".join(f"{inner(k)}: {inner(v)}" for k, v in self.value.items()) + "}"
        return self.value

    def __str__(self):
        if self.type in (ValueType.ConstantValue, ValueType.CustomObjValue):
            return str(self.value)
        return self._text(lambda o: type(o).__name__)

    __repr__ = __str__

    def __eq__(self, other):
        return (isinstance(other, ScopedValue) and self.type is other.type and self.scope == other.scope
                and type(self.value) is type(other.value) and self.value == other.value)

    def __hash__(self):
        return hash((self.type, self.scope, str(self)))
