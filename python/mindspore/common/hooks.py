"""Functions that see and may replace gradients: hooks of tensors and Cells, and Cells with their own `bprop`.

A hook on a value inside a transformation is an identity whose gradient calls it; a hook on a tensor outside (a Parameter,
an argument) is called with the gradient that a transformation computed for it.
"""
import inspect
import weakref

from mindspore import _c, autodiff
from mindspore._c import Tensor
from mindspore.common.hook_handle import HookTable

__all__ = ["register_hook", "identity", "with_gradient", "call_with_bprop"]


def _zeros(ct, y):
    """The cotangent of y; zeros where nothing flows."""
    if ct is not None:
        return ct
    from mindspore import ops
    return ops.zeros_like(y)


# ---- values ----

def with_gradient(fn, inputs, outputs):
    """The tree ``outputs`` with fn(inputs, outputs, cotangents) as its gradient; trees in, trees given to fn; fn returns a tree
    like ``inputs``, None for zero."""
    flat_in, flat_out = autodiff._leaves(inputs, []), autodiff._leaves(outputs, [])

    def grad(xs, ys, cts):
        cts = iter([_zeros(ct, y) for ct, y in zip(cts, ys)])
        result = fn(autodiff._replace(inputs, iter(xs)), autodiff._replace(outputs, iter(ys)), autodiff._replace(outputs, cts))
        return _match(inputs, result)
    return autodiff._replace(outputs, iter(_c.custom(grad, tuple(flat_in), tuple(flat_out))))


def _match(inputs, result):
    """The gradients in ``result`` for the tensors of ``inputs``, in order."""
    found = []

    def walk(x, g):
        if isinstance(x, Tensor):
            if isinstance(g, (int, float)) and not isinstance(g, bool):
                from mindspore import ops
                g = ops.full_like(x, g)
            if g is not None and not isinstance(g, Tensor):
                raise TypeError(f"The gradient of a Tensor must be a Tensor or None, but got {type(g).__name__}.")
            if g is not None and g.size != x.size and g.ndim and not _reduces(g.shape, x.shape):
                raise RuntimeError(f"For custom function, grad tensor should be broadcast to {x.shape}, but got {g.shape}.")
            if g is not None and x.is_floating_point() and not (g.is_floating_point() or g.is_complex()):
                g = g.astype(x.dtype)
            found.append(g)
        elif isinstance(x, (tuple, list)):
            for k, item in enumerate(x):
                walk(item, g[k] if isinstance(g, (tuple, list)) else None)
        elif isinstance(x, dict):
            for key, item in x.items():
                walk(item, g.get(key) if isinstance(g, dict) else None)
    walk(inputs, result)
    return tuple(found)


def _reduces(large, small):
    """Whether sums over axes of the first shape give the second, which was broadcast."""
    return len(large) >= len(small) and all(a == b or b == 1 for a, b in zip(reversed(large), reversed(small)))


def identity(fn, inputs):
    """The tuple ``inputs`` again, with fn(cotangents) as its gradient: a tuple as long, or None to leave them."""
    def grad(xs, ys, cts):
        result = fn(cts)
        return cts if result is None else result
    return with_gradient(grad, tuple(inputs), tuple(inputs))


# ---- hooks of tensors ----

_tables = {}  # id of a tensor: its hooks
_inside = {}  # id of a tensor inside a transformation: its value that has hooks, and these


def _table(x):
    key = id(x)
    if key not in _tables:
        _tables[key] = HookTable()
        weakref.finalize(x, _tables.pop, key, None)
    return _tables[key]


def _run_hooks(table, grad):
    for hook in list(table.values()):
        out = hook(grad)
        if out is not None:
            if not isinstance(out, Tensor):
                raise TypeError(f"A hook of a Tensor must return a Tensor or None, but got {type(out).__name__}.")
            grad = out
    return grad


def apply_hooks(x, grad):
    """The gradient of x, a tensor outside the transformation, as its hooks leave it."""
    if told is not None:
        told(x)
    table = _tables.get(id(x))
    return grad if not table or grad is None else _run_hooks(table, grad)


told = None  # called with each tensor whose hooks are looked up


def hooks_of(x):
    """The hooks of a tensor outside of transformations, now."""
    return tuple(_tables[id(x)].values()) if id(x) in _tables else ()


def remove_hook(handle_id):
    """Ends the hook of a tensor whose handle has the number ``handle_id``."""
    for table in list(_tables.values()) + [known[1] for known in _inside.values()]:
        table.discard(handle_id)


def borrow(x, owner):
    """x, which stands for owner in a transformation, has owner's hooks."""
    if hooks_of(owner):
        _tables[id(x)] = _tables[id(owner)]
        weakref.finalize(x, _tables.pop, id(x), None)


def register_hook(x, hook_fn):
    """Calls ``hook_fn(grad)`` when the gradient of this tensor is computed; what it returns replaces the gradient. Gives a
    handle whose ``remove()`` ends that."""
    if not callable(hook_fn):
        raise TypeError(f"For 'register_hook', the 'hook_fn' must be a function, but got {type(hook_fn).__name__}.")
    if not _c.is_traced(x):
        return _table(x).add(hook_fn)
    known = _inside.get(id(x))
    if known is not None and known[0] == _c.handle_of(x):  # they run in the order in which they were registered
        return known[1].add(hook_fn)
    table = HookTable()
    handle = table.add(hook_fn)
    y, = identity(lambda cts: (_run_hooks(table, cts[0]),), (x,))
    _c.rebind(x, y)
    if known is None:
        weakref.finalize(x, _inside.pop, id(x), None)
    _inside[id(x)] = _c.handle_of(x), table
    return handle


autodiff.apply_hooks = apply_hooks


# ---- Cells ----

def call_with_bprop(cell, construct, bprop, args, kwargs):
    """``construct`` with the gradient that ``bprop(*args, out, dout)`` gives."""
    _check_bprop(bprop, len(args) + len(kwargs))
    _c.pause(1)  # how the outputs come about is not followed
    try:
        out = construct(*args, **kwargs)
    finally:
        _c.pause(-1)
    given = args
    if kwargs:
        bound = inspect.signature(type(cell).construct).bind(cell, *args, **kwargs)
        bound.apply_defaults()
        given = tuple(bound.arguments.values())[1:]

    inputs = {id(x) for x in autodiff._leaves(given, [])}
    leaves = autodiff._leaves(out, [])
    if any(id(y) in inputs for y in leaves):  # an output has hooks and attributes of its own
        out = autodiff._replace(out, iter([y[...] if id(y) in inputs else y for y in leaves]))

    def grad(xs, ys, cts):
        result = bprop(*xs, ys, cts)
        if not isinstance(result, (tuple, list)):
            result = (result,)
        tensors = [x for x in xs if autodiff._leaves(x, [])]
        if len(result) < len(xs) and len(result) != len(tensors):
            raise TypeError(f"For user defined method 'bprop' of net '{type(cell).__name__}', the number of return values (gradients) should "
                            f"be equal to the number of input arguments except 'out' and 'dout', which is: {len(xs)}, but got: "
                            f"{len(result)}.")
        if len(result) < len(xs):
            it = iter(result)
            result = [next(it) if autodiff._leaves(x, []) else None for x in xs]
        return tuple(result[:len(xs)])
    return with_gradient(grad, tuple(given), out)


def _check_bprop(bprop, n):
    """Raises when ``bprop`` cannot take n inputs, the output and its gradient."""
    code = getattr(bprop, "__code__", None)
    if code and code.co_argcount - inspect.ismethod(bprop) >= n + 2:
        return
    params = inspect.signature(bprop).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY) for p in params):
        return
    if len(params) < 2:
        raise TypeError("The function 'bprop' of Primitive or Cell requires at least 2 params 'out' and 'dout', but got only "
                        f"{len(params)}: {[p.name for p in params]}.")
    if len(params) < n + 2:
        raise TypeError("The params of function 'bprop' of Primitive or Cell requires the forward inputs as well as the 'out' and 'dout'. "
                        f"The number of forward inputs is {n}, but 'bprop' has {len(params)} params.")


def run_backward_hooks(cell, construct, args, kwargs):
    """construct between the identities that call the Cell's hooks: pre hooks(cell, grad_output), hooks(cell, grad_input,
    grad_output). Where no input has a gradient, hooks are called with None for each as soon as that of the output is known."""
    d = cell.__dict__
    pre, hooks = d.get("_backward_pre_hooks") or {}, d.get("_backward_hooks") or {}
    seen = {}

    def leaving(grads):  # gradients of the inputs, last in the backward pass
        for hook in list(hooks.values()):
            out = hook(cell, grads, seen.get("output", ()))
            if out is not None:
                grads = out if isinstance(out, tuple) else (out,)
        return grads

    def entering(grads):
        for hook in list(pre.values()):
            out = hook(cell, grads)
            if out is not None:
                grads = out if isinstance(out, tuple) else (out,)
        seen["output"] = grads
        if not followed:
            leaving((None,) * len(given))
        return grads
    given = autodiff._leaves(args, [])
    followed = any(map(_c.is_traced, given))
    if hooks and followed:
        args = autodiff._replace(args, iter(identity(leaving, tuple(given))))
    out = construct(*args, **kwargs)
    leaves = autodiff._leaves(out, [])
    return autodiff._replace(out, iter(identity(entering, tuple(leaves)))) if leaves else out
