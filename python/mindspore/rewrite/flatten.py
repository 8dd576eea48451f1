"""Brings the body of a function to a form in which every operation is a statement of its own: `y = f(g(x))` becomes
`g_var = g(x)` and `y = f(g_var)`.

What runs, and in which order, stays the same: only parts that are evaluated exactly once are taken out, each after those to its
left. Statements with an assignment inside an expression, and those that are no operation (assert, with, try), stay as they are.
"""
import ast

_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.Tuple, ast.List, ast.Dict)
_LEFT_ALONE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def is_path(e):
    """A name, or attributes of a name."""
    while isinstance(e, ast.Attribute):
        e = e.value
    return isinstance(e, ast.Name)


def last_name(func):
    """The name by which a function is called."""
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else "call"


def kind_of(e):
    """The word for an operation in the names of variables."""
    if isinstance(e, ast.Call):
        return last_name(e.func)
    return type(getattr(e, "op", e)).__name__.lower()


class Flattener:
    """``unique(name)`` gives a variable that the function does not use yet."""

    def __init__(self, unique):
        self.unique = unique

    def body(self, stmts):
        out = []
        for s in stmts:
            self.statement(s, out)
        return out

    def statement(self, s, out):
        done = getattr(self, "_" + type(s).__name__, None)
        if done is None or any(isinstance(n, _LEFT_ALONE) for n in ast.walk(s)):
            out.append(s)
        else:
            done(s, out)

    # ---- expressions ----

    def hoist(self, e, out):
        """e as a variable, unless it is a name or a constant."""
        if isinstance(e, ast.Constant) or is_path(e):
            return e
        if isinstance(e, ast.Starred):
            e.value = self.hoist(e.value, out)
            return e
        name = self.unique(kind_of(e) + "_var")
        out.append(ast.Assign([ast.Name(name, ast.Store())], self.parts(e, out)))
        return ast.Name(name, ast.Load())

    def parts(self, e, out):
        """e with its operands taken out."""
        if isinstance(e, ast.Call):
            if isinstance(e.func, ast.Attribute):
                e.func.value = self.hoist(e.func.value, out)
            elif not isinstance(e.func, ast.Name):
                e.func = self.hoist(e.func, out)
            e.args = [self.hoist(a, out) for a in e.args]
            for k in e.keywords:
                k.value = self.hoist(k.value, out)
        elif isinstance(e, ast.BinOp):
            e.left, e.right = self.hoist(e.left, out), self.hoist(e.right, out)
        elif isinstance(e, ast.UnaryOp):
            e.operand = self.hoist(e.operand, out)
        elif isinstance(e, ast.BoolOp):  # the others may not be reached
            e.values[0] = self.hoist(e.values[0], out)
        elif isinstance(e, ast.Compare):
            e.left = self.hoist(e.left, out)
            e.comparators[0] = self.hoist(e.comparators[0], out)
        elif isinstance(e, (ast.Subscript, ast.Attribute)):
            e.value = self.hoist(e.value, out)
        elif isinstance(e, (ast.Tuple, ast.List)):
            e.elts = [self.hoist(x, out) for x in e.elts]
        elif isinstance(e, ast.Dict) and None not in e.keys and all(isinstance(k, ast.Constant) for k in e.keys):
            e.values = [self.hoist(v, out) for v in e.values]
        return e

    # ---- statements ----

    def _Assign(self, s, out):
        *before, last = s.targets
        if before and not (is_path(last) or isinstance(last, ast.Tuple) and all(map(is_path, last.elts))):
            out.append(s)
            return
        s.value = self.parts(s.value, out)
        s.targets = [last]
        out.append(s)
        for t in before:  # a = b = f(x): b = f(x), then a = b
            self._Assign(ast.Assign([t], ast.parse(ast.unparse(last), mode="eval").body), out)

    def _AnnAssign(self, s, out):
        if s.value is not None:
            self._Assign(ast.Assign([s.target], s.value), out)

    def _Expr(self, s, out):
        if not isinstance(s.value, ast.Constant):
            s.value = self.parts(s.value, out)
            out.append(s)

    def _Return(self, s, out):
        if s.value is not None:
            s.value = self.hoist(s.value, out)
        out.append(s)

    def _If(self, s, out):
        s.test = self.hoist(s.test, out)
        self._blocks(s, out)

    def _For(self, s, out):
        s.iter = self.hoist(s.iter, out)
        self._blocks(s, out)

    def _While(self, s, out):  # its test is evaluated again and again
        self._blocks(s, out)

    def _blocks(self, s, out):
        s.body, s.orelse = self.body(s.body), self.body(s.orelse)
        out.append(s)
