"""Functions with a gradient of their own, and code that no gradient follows."""
import copy
import functools

from mindspore import _c
from mindspore._c import Tensor
from mindspore.autodiff import _callee, _leaves, _replace
from mindspore.common.hooks import _zeros

__all__ = ['_Function', '_no_grad']


class _no_grad:
    """A context, or a decorator, in which no gradient is followed."""

    def __enter__(self):
        _c.pause(1)
        return self

    def __exit__(self, *exc):
        _c.pause(-1)

    def __call__(self, fn):
        @functools.wraps(fn)
        def call(*args, **kwargs):
            with self:
                return _callee(fn)(*args, **kwargs)
        return call


class _Context:
    """What forward leaves for backward."""

    def __init__(self, needs):
        self.needs_input_grad = needs
        self.saved_tensors = ()
        self.non_differentiable, self.dirty = (), ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors):
        self.dirty = tensors

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class _Function:
    """A function whose gradient is given: subclasses define the static methods forward(ctx, ...) and backward(ctx, ...)."""

    @staticmethod
    def forward(ctx, *args):
        raise NotImplementedError("'forward' of '_Function' must be defined.")

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError("'backward' of '_Function' must be defined.")

    @classmethod
    def apply(cls, *args, **kwargs):
        follows = _c.follows()
        xs = _leaves(args, [])
        ctx = _Context(tuple(isinstance(a, Tensor) and (not follows or _c.is_traced(a) or hasattr(a, 'requires_grad'))
                             for a in args))
        if not follows:
            return _callee(cls.forward)(ctx, *args, **kwargs)
        with _no_grad():
            out = _callee(cls.forward)(ctx, *args, **kwargs)
        ys = _leaves(out, [])
        for t in ctx.dirty:
            if all(t is not y for y in ys):
                raise RuntimeError('The dirty tensors must all be outputs of the forward function.')
        fixed = [any(y is t for t in ctx.non_differentiable) for y in ys]

        kept = _leaves(ctx.__dict__, [])

        def rule(now, of, cts):
            seen = copy.copy(ctx)
            seen.__dict__.update(_replace(ctx.__dict__, iter(now[len(xs):])))
            given = iter([_zeros(ct, y) if ctx.materialize_grads else ct for ct, y in zip(cts, of)])
            dys = [_zeros(None, y) if f else next(given) for y, f in zip(ys, fixed)]
            if isinstance(out, tuple) and len(_leaves(out, [])) < len(out):  # a place for outputs that are no tensors
                it = iter(dys)
                dys = [next(it) if isinstance(o, Tensor) else None for o in out]
            return tuple(cls._take(_callee(cls.backward)(seen, *dys), args, now)) + (None,) * len(kept)
        handed = iter(_c.custom(rule, (*xs, *kept), tuple(y for y, f in zip(ys, fixed) if not f)))
        stop = _c.row('ops.stop_gradient')
        return _replace(out, iter([stop(y) if f else next(handed) for y, f in zip(ys, fixed)]))

    @staticmethod
    def _take(got, args, now):
        got = got if isinstance(got, (tuple, list)) else (got,)
        if len(got) < len(args) or any(g is not None for g in got[len(args):]):
            raise RuntimeError(f'Function backward return a wrong number of gradients, expect: {len(args)}, but: {len(got)}')
        grads = []
        for arg, g in zip(args, got):
            if not isinstance(arg, Tensor):
                if g is not None:
                    raise RuntimeError('Input is not tensor, but gradient is not none')
                grads += [None] * len(_leaves(arg, []))
            elif g is not None and not isinstance(g, Tensor):
                raise RuntimeError('Gradient should be none or tensor')
            else:
                x = now[len(grads)]
                if g is not None and g.shape != x.shape and not _broadcasts(g.shape, x.shape):
                    raise RuntimeError(f'For custom function, grad tensor should be broadcast to {x.shape}, but got {g.shape}')
                grads.append(g if g is None or g.shape == x.shape or g.ndim > x.ndim else g.broadcast_to(x.shape))
        return grads


def _broadcasts(small, large):
    """Whether one of the shapes can be broadcast to the other."""
    return all(a == b or a == 1 or b == 1 for a, b in zip(reversed(small), reversed(large)))
