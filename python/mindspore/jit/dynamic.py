"""enable_dynamic: which sizes of the arguments of a compiled function will change."""
import functools
import inspect

from mindspore import _c

__all__ = ["enable_dynamic"]


def _is_tensors(value):
    return isinstance(value, _c.Tensor) or isinstance(value, (tuple, list)) and all(isinstance(v, _c.Tensor) for v in value)


def _fits(given, said):
    """Whether an argument is as it was said: the same type, and the same size wherever one was given."""
    if not isinstance(said, _c.Tensor):
        return isinstance(given, type(said)) and len(given) == len(said) and all(map(_fits, given, said))
    if not isinstance(given, _c.Tensor) or given.dtype != said.dtype:
        return False
    shape = said.shape
    return -2 in shape or len(shape) == len(given.shape) and all(b < 0 or a == b for a, b in zip(given.shape, shape))


def enable_dynamic(**kwargs):
    """Decorates a function that ``jit`` compiles: parameters by name, as Tensors (or a tuple or list of them) whose shape holds None
    where a size will change, or is None where the number of axes will. The function is then recorded for other sizes at its first
    call, and an argument that does not fit is refused."""
    for name, value in kwargs.items():
        if not _is_tensors(value):
            raise TypeError(f"For 'enable_dynamic', the argument '{name}' must be Tensor, tuple[Tensor] or list[Tensor], but got "
                            f"{type(value).__name__}.")
    if not kwargs:
        raise ValueError("For 'enable_dynamic', at least one parameter must be given.")

    def decorate(function):
        inner = getattr(function, "ms_jit", None)
        if inner is not None:
            inner.dynamic = 1
        signature = inspect.signature(function)
        for name in kwargs:
            if name not in signature.parameters:
                raise ValueError(f"For 'enable_dynamic', the function '{function.__name__}' has no parameter '{name}'.")

        @functools.wraps(function)
        def call(*args, **more):
            given = signature.bind(*args, **more).arguments
            for name, said in kwargs.items():
                if name in given and not _fits(given[name], said):
                    raise ValueError(f"For 'enable_dynamic', the argument '{name}' does not fit what was declared for it: got "
                                     f"{_told(given[name])}, declared {_told(said)}.")
            return function(*args, **more)
        return call
    return decorate


def _told(value):
    if isinstance(value, _c.Tensor):
        return f"Tensor(shape={[None if n < 0 else n for n in value.shape]}, dtype={value.dtype})"
    return str([_told(v) for v in value]) if isinstance(value, (tuple, list)) else type(value).__name__
