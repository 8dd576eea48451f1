"""Primitive classes, functions, and the functions of mindspore.mint under their names with `_ext` and as classes `NameExt`."""
import inspect as _inspect
import re as _re
import sys as _sys

from mindspore import mint as _mint
from mindspore import ops as _ops
from mindspore.ops.primitive import make_class as _make_class


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    if name in _PARTS:
        return _sys.modules[__name__]
    try:
        return getattr(_ops, name)
    except AttributeError:
        if name.endswith('_ext'):
            return _positional(name, getattr(_mint if hasattr(_mint, name[:-4]) else _mint.nn.functional, name[:-4]))
        if name.endswith('Ext'):
            return _class_of(name)
        raise


def _positional(name, run):
    """The function with what mint takes by keyword alone allowed by position."""
    try:
        parameters = _inspect.signature(run).parameters.values()
    except ValueError:
        return run
    ordered = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    if not named or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return run

    def call(*args, **kwargs):
        n = len(ordered)
        return run(*args[:n], **dict(zip(named, args[n:])), **kwargs)
    call.__name__ = name
    globals()[name] = call
    return call


def _class_of(name):
    """The function of mindspore.mint as a Primitive class: SumExt of sum."""
    words = _re.sub('(?<=[a-z])(?=[A-Z])', '_', name[:-3]).lower()
    for home in (_mint, _mint.nn.functional):
        for fn in (words, words.replace('_', '')):
            if hasattr(home, fn):
                run, none = getattr(home, fn), _inspect.Signature()
                globals()[name] = _make_class(name, none, none, lambda self, *args, **kwargs: run(*args, **kwargs))
                return globals()[name]
    raise AttributeError(f"module 'mindspore.ops.auto_generate' has no attribute {name!r}")


def contiguous(input):
    """The tensor with its elements in order of the axes."""
    return input.contiguous()


def __dir__():
    return dir(_ops)


__path__ = []
_PARTS = ('gen_ops_def', 'gen_ops_prim', 'gen_arg_handler', 'gen_arg_dtype_cast', 'cpp_create_prim_instance_helper')
for _name in _PARTS:
    _sys.modules[f'{__name__}.{_name}'] = _sys.modules[__name__]
