"""Finds the syntax tree of a function: whole files are parsed once and the node is looked up by position.

Refused: inspect.getsource with dedent, which follows ``__wrapped__``, loses columns and cannot tell two lambdas of
one line apart.
"""
import ast
import linecache
import types

_files = {}  # file name -> (source text, tree, {first line: [(node, name of the enclosing class)]})


class _Index(ast.NodeVisitor):
    """All functions of a module by the line where their code begins."""

    def __init__(self):
        self.by_line = {}
        self.owner = None

    def visit_ClassDef(self, node):
        outer, self.owner = self.owner, node.name
        self.generic_visit(node)
        self.owner = outer

    def visit_FunctionDef(self, node):
        line = min([node.lineno] + [d.lineno for d in node.decorator_list])
        self.by_line.setdefault(line, []).append((node, self.owner))
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.by_line.setdefault(node.lineno, []).append((node, self.owner))
        self.generic_visit(node)


def _index(filename, module_globals):
    lines = linecache.getlines(filename, module_globals)
    if not lines:
        return None
    text = "".join(lines)
    known = _files.get(filename)
    if known is None or known[0] != text:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return None
        index = _Index()
        index.visit(tree)
        known = _files[filename] = (text, index.by_line)
    return known[1]


def _arguments(node):
    a = node.args
    names = [x.arg for x in getattr(a, "posonlyargs", [])] + [x.arg for x in a.args] + [x.arg for x in a.kwonlyargs]
    return names + [x.arg for x in (a.vararg, a.kwarg) if x is not None]


def mangle(name, owner):
    """The name as the compiler spells it inside class ``owner``."""
    if owner and name.startswith("__") and not name.endswith("__") and "." not in name and owner.strip("_"):
        return f"_{owner.lstrip('_')}{name}"
    return name


def _columns(code):
    """(line, column) pairs that the instructions of code carry, where Python keeps them (3.11)."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return None
    return {(p[0], p[2]) for p in positions() if p[0] is not None and p[2] is not None and p[2] >= 0 and p[3]}


def _spans(node, columns):
    body = node.body
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    inside = [c for c in columns if first <= c <= last]
    return any(c == first or c > first for c in inside)


def _names(node):
    return {n.id for n in ast.walk(node.body) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node.body) if isinstance(n, ast.Attribute)}


def _pick(found, code):
    """Among several functions that begin on one line, the one that ``code`` comes from."""
    if len(found) > 1 and code.co_name == "<lambda>":
        columns = _columns(code)
        if columns:
            found = [f for f in found if _spans(f[0], columns)]
            # an outer lambda spans the inner one's columns as well: the narrowest wins
            found.sort(key=lambda f: (f[0].body.end_lineno - f[0].body.lineno,
                                      f[0].body.end_col_offset - f[0].body.col_offset))
        else:
            used = set(code.co_names) | set(code.co_freevars) | set(code.co_varnames)
            found = [f for f in found if _names(f[0]) >= set(code.co_names) | set(code.co_freevars)
                     and {n for n in _names(f[0])} <= used | set(code.co_cellvars)]
            if len(found) > 1:
                return None  # cannot tell: as if there was no source
    return found[0] if found else None


def find(fn):
    """(node, class name or None) for a Python function, or None where the source is not available."""
    if not isinstance(fn, types.FunctionType):
        return None
    code = fn.__code__
    index = _index(code.co_filename, fn.__globals__)
    if index is None:
        return None
    kind = ast.Lambda if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    n_args = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    args = list(code.co_varnames[:n_args])
    found = [(node, owner) for node, owner in index.get(code.co_firstlineno, ())
             if isinstance(node, kind) and getattr(node, "name", "<lambda>") == code.co_name
             and [mangle(a, owner) for a in _arguments(node)] == args]
    return _pick(found, code)


def line_text(filename, line):
    return linecache.getline(filename, line).strip()
