"""Rewrites a Python function so that its control flow is decided at run time.

    if test: A            def t(): nonlocal x; A
    else: B          ->   def e(): nonlocal x; B
                          ms__rt.if_(test, t, e, ("x",), line)

The helpers (``runtime``) run the parts as Python does when the test is a plain value, and stage them when it is a
tensor. What a statement jumps to becomes a function as well: an ``if`` that contains return, break or continue takes
the rest of its block along as a third function, and the body of a loop answers with a signal (None = go on, BREAK,
Return). So no flags are invented, and plain values keep Python's meaning exactly.

Inside try, with and match a jumping ``if`` stays native: its test must be a plain value. Functions nested in the source
are left alone; they are rewritten when they are called. Generated names begin with ``ms__``.

Refused: getter and setter functions for the variables of a block; the cells of the nested functions are enough.
"""
import ast
import copy

from . import source

RT = "ms__rt"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.While, ast.For)
_NOT_SUPPORTED = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
_FRAME_READERS = {"locals", "eval", "exec", "vars", "dir"}


class CannotRewrite(Exception):
    """The function has a form that the rewriting does not handle; it is called as it is."""


def _own(node):
    """Every node of a function or block without those of nested scopes."""
    todo = list(node) if isinstance(node, list) else list(ast.iter_child_nodes(node))
    while todo:
        n = todo.pop()
        yield n
        if isinstance(n, _SCOPES):
            todo += getattr(n, "decorator_list", [])
            args = getattr(n, "args", None)
            if args is not None:
                todo += args.defaults + [d for d in args.kw_defaults if d is not None]
            todo += getattr(n, "bases", [])
        elif isinstance(n, _COMPREHENSIONS):
            todo.append(n.generators[0].iter)
            inner = [n.elt] if hasattr(n, "elt") else [n.key, n.value]
            for g in n.generators:
                inner += g.ifs + [g.iter]
            # a walrus in a comprehension binds in the function around it
            todo += [w for e in inner for w in ast.walk(e) if isinstance(w, ast.NamedExpr)]
        else:
            todo += ast.iter_child_nodes(n)


def assigned(nodes):
    """Names that a block binds in its function, in order of first appearance by name."""
    names = set()
    for n in _own(nodes):
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
            names.add(n.id)
        elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(n.name)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            names.update((a.asname or a.name).split(".")[0] for a in n.names)
        elif isinstance(n, ast.ExceptHandler) and n.name:
            names.add(n.name)
        elif type(n).__name__ in ("MatchAs", "MatchStar") and n.name:
            names.add(n.name)
        elif type(n).__name__ == "MatchMapping" and n.rest:
            names.add(n.rest)
    return names


def _jumps(nodes):
    """Whether a block returns from the function, or breaks or continues a loop around it."""
    todo = list(nodes)
    while todo:
        n = todo.pop()
        if isinstance(n, (ast.Return, ast.Break, ast.Continue)):
            return True
        if isinstance(n, _LOOPS):
            if _returns([n]) or _jumps(n.orelse):
                return True
        elif isinstance(n, ast.stmt) and not isinstance(n, _SCOPES):
            todo += _children(n)
    return False


def _returns(nodes):
    return any(isinstance(n, ast.Return) for n in _own(nodes))


def _children(stmt):
    """The statements directly inside a compound statement."""
    out = []
    for field in ("body", "orelse", "finalbody"):
        out += getattr(stmt, field, [])
    for part in getattr(stmt, "handlers", []) + getattr(stmt, "cases", []):
        out += part.body
    return out


def _ends(nodes):
    """Whether control never falls off the end of a block."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
        return True
    return isinstance(last, ast.If) and _ends(last.body) and _ends(last.orelse)


def _rt(name, *args):
    return ast.Call(ast.Attribute(ast.Name(RT, ast.Load()), name, ast.Load()), list(args), [])


def _const(value):
    return ast.Constant(value)


def _thunk(expr):
    return ast.Lambda(ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None,
                                    defaults=[]), expr)


class _Mangler(ast.NodeTransformer):
    """Spells private names as the class around the function would."""

    def __init__(self, owner):
        self.owner = owner

    def visit_Name(self, node):
        node.id = source.mangle(node.id, self.owner)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = source.mangle(node.attr, self.owner)
        return node

    def visit_arg(self, node):
        self.generic_visit(node)
        node.arg = source.mangle(node.arg, self.owner)
        return node

    def visit_keyword(self, node):
        self.generic_visit(node)
        if node.arg:
            node.arg = source.mangle(node.arg, self.owner)
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.name = source.mangle(node.name, self.owner)
        return node

    def visit_Global(self, node):
        node.names = [source.mangle(n, self.owner) for n in node.names]
        return node

    visit_Nonlocal = visit_Global

    def visit_ClassDef(self, node):
        return node  # its own names follow its own name


class _Expressions(ast.NodeTransformer):
    """Boolean operators, conditional expressions, comparison chains and calls."""

    def __init__(self, first_arg):
        self.first_arg = first_arg

    def visit_Lambda(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda

    @staticmethod
    def _binds(*exprs):
        return any(isinstance(n, ast.NamedExpr) for e in exprs for n in ast.walk(e))

    def visit_BoolOp(self, node):
        if self._binds(*node.values[1:]):
            return self.generic_visit(node)
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return _rt(name, node.values[0], *[_thunk(v) for v in node.values[1:]])

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return _rt("not_", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        if self._binds(node.body, node.orelse):
            return self.generic_visit(node)
        line = node.lineno
        self.generic_visit(node)
        return _rt("ifexp", node.test, _thunk(node.body), _thunk(node.orelse), _const(line))

    def visit_Compare(self, node):
        if len(node.ops) < 2 and not isinstance(node.ops[0], (ast.In, ast.NotIn)) or self._binds(*node.comparators[1:]):
            return self.generic_visit(node)
        self.generic_visit(node)
        ops = _const(tuple(type(op).__name__ for op in node.ops))
        return _rt("chain", ops, node.left, node.comparators[0], *[_thunk(c) for c in node.comparators[1:]])

    def visit_JoinedStr(self, node):
        """The values are evaluated here, in order; the text is made of them now, or when the graph runs."""
        if self._binds(*node.values):
            return self.generic_visit(node)
        values = []

        def argument(expr):
            values.append(self.visit(expr))
            return ast.Name(f"ms__{len(values)}", ast.Load())

        def parts(joined):
            for part in joined.values:
                if isinstance(part, ast.FormattedValue):
                    part.value = argument(part.value)
                    if part.format_spec is not None:
                        parts(part.format_spec)
        parts(node)
        fn = _thunk(node)
        fn.args.args = [ast.arg(f"ms__{k + 1}", None) for k in range(len(values))]
        return ast.copy_location(_rt("text", fn, *values), node) if values else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        left = node.left
        if isinstance(node.op, ast.Mod) and isinstance(left, ast.Constant) and isinstance(left.value, (str, bytes)):
            return ast.copy_location(_rt("percent", left, node.right), node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            if node.func.id == "super":
                if not node.args and self.first_arg:
                    node.args = [ast.Name("__class__", ast.Load()), ast.Name(self.first_arg, ast.Load())]
                return node
            if node.func.id.startswith("ms__"):
                return node
        node.func = ast.copy_location(_rt("call", node.func), node.func)
        return node


class _Function:
    """The state of rewriting one function."""

    def __init__(self, node, owner):
        self.node = node
        args = node.args
        self.args = {a.arg for a in getattr(args, "posonlyargs", []) + args.args + args.kwonlyargs}
        self.args |= {a.arg for a in (args.vararg, args.kwarg) if a is not None}
        first = (getattr(args, "posonlyargs", []) + args.args)[:1]
        self.expressions = _Expressions(first[0].arg if first and owner else None)
        self.globals, self.nonlocals = set(), set()
        for n in _own(node.body if isinstance(node.body, list) else [node.body]):
            if isinstance(n, _NOT_SUPPORTED):
                raise CannotRewrite("it is a generator or a coroutine")
            if isinstance(n, ast.Name) and n.id in _FRAME_READERS and isinstance(n.ctx, ast.Load):
                raise CannotRewrite(f"it uses {n.id}()")
            if isinstance(n, ast.Global):
                self.globals.update(n.names)
            elif isinstance(n, ast.Nonlocal):
                self.nonlocals.update(n.names)
        self.n = 0
        self.k_names = {}  # of every function that goes on with the rest of a block: the names it binds

    # ---- pieces ----

    def fresh(self, kind):
        self.n += 1
        return f"ms__{kind}{self.n}"

    def expr(self, e):
        return None if e is None else self.expressions.visit(e)

    def function(self, name, body, names, at, args=()):
        """def name(args): <declarations>; body"""
        names = {n for n in names if not n.startswith("ms__")}
        shared, outer = sorted(names - self.globals), sorted(names & self.globals)
        head = ([ast.Nonlocal(shared)] if shared else []) + ([ast.Global(outer)] if outer else [])
        a = ast.arguments(posonlyargs=[], args=[ast.arg(x, None) for x in args], vararg=None, kwonlyargs=[],
                          kw_defaults=[], kwarg=None, defaults=[])
        fn = ast.FunctionDef(name=name, args=a, body=head + (body or [ast.Pass()]), decorator_list=[], returns=None,
                             type_comment=None, type_params=[])
        return _at(fn, at)

    @staticmethod
    def names_const(names):
        return _const(tuple(sorted(n for n in names if not n.startswith("ms__"))))

    def jump(self, node, in_loop):
        if isinstance(node, ast.Break):
            return _at(ast.Return(ast.Attribute(ast.Name(RT, ast.Load()), "BREAK", ast.Load())), node)
        if isinstance(node, ast.Continue):
            return _at(ast.Return(_const(None)), node)
        value = self.expr(node.value) if node.value is not None else _const(None)
        return _at(ast.Return(_rt("Return", value) if in_loop else value), node)

    # ---- statements ----

    def block(self, stmts, in_loop, native=False, k=None):
        """The rewritten statements. in_loop: they are (part of) the body function of a loop, which answers with
        signals; native: inside try, with or match, where a block cannot take its rest along; k: the function that
        goes on where the block ends."""
        out = []
        for i, s in enumerate(stmts):
            rest = stmts[i + 1:]
            if isinstance(s, (ast.Return, ast.Break, ast.Continue)):
                return out + [self.jump(s, in_loop)]
            if isinstance(s, ast.If):
                if not _jumps([s]):
                    out += self.plain_if(s, in_loop)
                elif native:
                    out.append(self.native_if(s, in_loop))
                else:
                    return out + self.tail_if(s, rest, in_loop, k)
            elif isinstance(s, _LOOPS):
                if self.loop(s, out, rest, in_loop, native, k):
                    return out
            elif isinstance(s, (ast.Global, ast.Nonlocal)):
                continue
            elif isinstance(s, ast.AnnAssign):
                out += self.annotated(s)
            elif isinstance(s, ast.Assert):
                test, msg = self.expr(s.test), self.expr(s.msg)
                call = _rt("assert_", test, _thunk(msg) if msg is not None else _const(None), _const(s.lineno))
                out.append(_at(ast.Expr(call), s))
            elif isinstance(s, _SCOPES):
                out.append(s)
            elif _children(s):
                out.append(self.container(s, in_loop))
            elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
                out.append(s)
            else:
                out.append(ast.fix_missing_locations(self.expressions.visit(s)))
        if k is not None and not (stmts and isinstance(stmts[-1], ast.Raise)):
            out.append(ast.Return(ast.Call(ast.Name(k, ast.Load()), [], [])))
        return out

    def annotated(self, s):
        """The annotation of a local name is never evaluated, and may not meet a nonlocal declaration."""
        if not isinstance(s.target, ast.Name):
            s.annotation = _const(None)
            return [ast.fix_missing_locations(self.expressions.visit(s))]
        if s.value is None:
            return []
        return [_at(ast.Assign([s.target], self.expr(s.value)), s)]

    def container(self, s, in_loop):
        """try, with, match: the statement stays, its blocks are rewritten."""
        s = copy.copy(s)
        for item in getattr(s, "items", []):
            item.context_expr = self.expr(item.context_expr)
        for field in ("handlers", "cases"):
            parts = [copy.copy(part) for part in getattr(s, field, [])]
            for part in parts:
                name = "type" if field == "handlers" else "guard"
                setattr(part, name, self.expr(getattr(part, name)))
                part.body = self.block(part.body, in_loop, native=True)
            if parts:
                setattr(s, field, parts)
        if hasattr(s, "subject"):
            s.subject = self.expr(s.subject)
        for field in ("body", "orelse", "finalbody"):
            if getattr(s, field, None):
                setattr(s, field, self.block(getattr(s, field), in_loop, native=True))
        return ast.fix_missing_locations(s)

    def native_if(self, s, in_loop):
        test = _rt("plain_test", self._test(s), _const(s.lineno))
        return _at(ast.If(test, self.block(s.body, in_loop, True), self.block(s.orelse, in_loop, True)), s)

    def _test(self, s):
        return s.test if getattr(s, "ms_ready", False) else self.expr(s.test)

    def plain_if(self, s, in_loop):
        """No jumps: two functions side by side. elif chains nest in the else part."""
        names = assigned(s.body + s.orelse)
        then, other = self.fresh("then"), self.fresh("else")
        test = self._test(s)
        defs = [self.function(then, self.block(s.body, in_loop), assigned(s.body), s)]
        if s.orelse:
            defs.append(self.function(other, self.block(s.orelse, in_loop), assigned(s.orelse), s))
        call = _rt("if_", test, ast.Name(then, ast.Load()),
                   ast.Name(other, ast.Load()) if s.orelse else _const(None), self.names_const(names),
                   _const(s.lineno), _const(False))
        return defs + [_at(ast.Expr(call), s)]

    def rest(self, rest, in_loop, k, at):
        """([its definition], name, names) of the function that goes on with the rest of a block and then k."""
        if not rest:
            return [], k, self.k_names.get(k, set())
        name, names = self.fresh("rest"), assigned(rest)
        self.k_names[name] = names | self.k_names.get(k, set())
        return [self.function(name, self.block(rest, in_loop, k=k), names, at)], name, self.k_names[name]

    def tail_if(self, s, rest, in_loop, k):
        """With jumps: whatever falls through goes on with the rest of the block, and the whole is the answer."""
        if _ends(s.body) and _ends(s.orelse):
            rest, k = [], None
        then, other = self.fresh("then"), self.fresh("else")
        names = assigned(s.body + s.orelse)
        defs, k, more = self.rest(rest, in_loop, k, s)
        test = self._test(s)
        for name, stmts in ((then, s.body), (other, s.orelse)):
            bound = assigned(stmts)
            defs.append(self.function(name, self.block(stmts, in_loop, k=k), bound, s))
        call = _rt("if_", test, ast.Name(then, ast.Load()), ast.Name(other, ast.Load()),
                   self.names_const(names | more), _const(s.lineno), _const("loop" if in_loop else "function"))
        return defs + [_at(ast.Return(call), s)]

    def loop(self, s, out, rest, in_loop, native, k):
        """Appends the loop to out; True when it took the rest of the block along."""
        body, signal = self.fresh("body"), self.fresh("signal")
        names, returns = assigned([s]), _returns(s.body)
        if isinstance(s, ast.While):
            test = self.fresh("test")
            walrus, bound = assigned([ast.Expr(s.test)]), assigned(s.body)
            out.append(self.function(test, [ast.Return(self.expr(s.test))], walrus, s))
            out.append(self.function(body, self.block(s.body, True), bound, s))
            call = _rt("while_", ast.Name(test, ast.Load()), ast.Name(body, ast.Load()), self.names_const(names),
                       _const(s.lineno))
        else:
            item, take = self.fresh("item"), ast.Assign([s.target], _const(None))
            targets, bound = assigned([take]), assigned([take] + s.body)
            iterable = self.expr(s.iter)
            take = _at(ast.Assign([self.expr(s.target)], ast.Name(item, ast.Load())), s.target)
            out.append(self.function(body, [take] + self.block(s.body, True), bound, s, (item,)))
            call = _rt("for_", iterable, ast.Name(body, ast.Load()), self.names_const(names),
                       self.names_const(targets), _const(s.lineno))
        if not returns and not s.orelse:
            out.append(_at(ast.Expr(call), s))
            return False
        out.append(_at(ast.Assign([ast.Name(signal, ast.Store())], call), s))
        other = None
        if s.orelse:
            other = _at(ast.If(_rt("completed", ast.Name(signal, ast.Load())), s.orelse, []), s)
            other.ms_ready = True
        if native:
            self.native_exit(s, signal, returns, other, out, in_loop)
            return False
        if other is None:
            out += self.answer(signal, s, rest, in_loop, k)
            return True
        if not _jumps([other]):
            out += self.plain_if(other, in_loop)
            if returns:
                out += self.answer(signal, s, rest, in_loop, k)
            return returns
        if returns:
            after = self.fresh("rest")
            names = assigned(rest)
            self.k_names[after] = names | self.k_names.get(k, set())
            out.append(self.function(after, self.answer(signal, s, rest, in_loop, k), names, s))
            rest, k = [], after
        out += self.tail_if(other, rest, in_loop, k)
        return True

    def native_exit(self, s, signal, returns, other, out, in_loop):
        """Inside try, with or match: the else part of a loop and the return out of it."""
        if other is not None:
            out += self.block([other], in_loop, native=True)
        if returns:
            value = ast.Name(signal, ast.Load())
            leave = ast.Return(value if in_loop else _rt("value", value))
            out.append(_at(ast.If(_rt("returned", ast.Name(signal, ast.Load())), [leave], []), s))

    def answer(self, signal, s, rest, in_loop, k):
        """return what the loop returned, or go on with the rest."""
        defs, k, names = self.rest(rest, in_loop, k, s)
        call = _rt("after", ast.Name(signal, ast.Load()), ast.Name(k, ast.Load()) if k else _const(None),
                   self.names_const(names), _const(s.lineno), _const("loop" if in_loop else "function"))
        return defs + [_at(ast.Return(call), s)]


def _at(node, where):
    """Gives node and all parts without a place the place of `where`."""
    place = {"lineno": where.lineno, "col_offset": where.col_offset,
             "end_lineno": getattr(where, "end_lineno", where.lineno),
             "end_col_offset": getattr(where, "end_col_offset", where.col_offset)}
    if isinstance(where, (*_LOOPS, ast.If)):  # the head, not the whole statement
        place["end_lineno"], place["end_col_offset"] = where.lineno, where.col_offset + 1
    todo = [node]
    while todo:
        n = todo.pop()
        if hasattr(n, "lineno"):
            continue
        if "lineno" in n._attributes:
            for key, value in place.items():
                setattr(n, key, value)
        todo += ast.iter_child_nodes(n)
    return node


def rewrite(node, owner, freevars, filename):
    """The code object of the rewritten function. It has the free variable ``ms__rt`` beside those of the original.

    Raises CannotRewrite.
    """
    node = copy.deepcopy(node)
    if isinstance(node, ast.AsyncFunctionDef):
        raise CannotRewrite("it is a coroutine")
    if owner:
        node = _Mangler(owner).visit(node)
    f = _Function(node, owner)
    if isinstance(node, ast.Lambda):
        name = "<lambda>"
        body = [_at(ast.Return(f.expr(node.body)), node.body)]
        new = ast.FunctionDef(name="ms__function", args=node.args, body=body, decorator_list=[], returns=None,
                              type_comment=None, type_params=[])
    else:
        name = node.name
        local = (assigned(node.body) - f.globals - f.nonlocals) - f.args
        body = f.block(node.body, in_loop=False)
        head = []
        if f.globals:
            head.append(ast.Global(sorted(f.globals)))
        if f.nonlocals:
            head.append(ast.Nonlocal(sorted(f.nonlocals)))
        if local:  # never runs: makes every local name one of this function, whose parts only share it
            bind = [ast.Assign([ast.Name(n, ast.Store())], _const(None)) for n in sorted(local)]
            head.append(ast.If(_const(False), bind, []))
        doc = []
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) \
                and isinstance(node.body[0].value.value, str):
            doc, body = [body[0]], body[1:]
        new = ast.FunctionDef(name="ms__function", args=node.args, body=doc + head + body or [ast.Pass()], decorator_list=[],
                              returns=None, type_comment=None, type_params=[])
    _strip(new.args)
    _at(new, node)
    outer = ast.FunctionDef(
        name="ms__factory", decorator_list=[], returns=None, type_comment=None, type_params=[],
        args=ast.arguments(posonlyargs=[], args=[ast.arg(v, None) for v in (RT, *freevars)], vararg=None,
                           kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]),
        body=[new, ast.Return(ast.Name(new.name, ast.Load()))])
    module = ast.Module([_at(outer, node)], [])
    code = compile(ast.fix_missing_locations(module), filename, "exec")
    # Inside, the function's own name is what it was: a global, or one of the free variables.
    return _named(_inner(_inner(code, "ms__factory"), new.name).replace(co_name=name), name)


def _named(code, name):
    """The code, whose generated parts have the name of the function that they are of, as tracebacks tell it."""
    parts = [_named(c, name if c.co_name.startswith("ms__") else c.co_name) if hasattr(c, "co_code") else c for c in code.co_consts]
    return code.replace(co_name=name, co_consts=tuple(parts))


def _strip(args):
    """Defaults and annotations belong to the definition, which has been run already."""
    for a in getattr(args, "posonlyargs", []) + args.args + args.kwonlyargs + [args.vararg, args.kwarg]:
        if a is not None:
            a.annotation = None
    args.defaults = []
    args.kw_defaults = [None] * len(args.kwonlyargs)


def _inner(code, name):
    for const in code.co_consts:
        if hasattr(const, "co_code") and const.co_name == name:
            return const
    raise CannotRewrite("its code was not found")
