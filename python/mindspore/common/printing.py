"""Texts of tensors and functions, in the original's form."""
import inspect

_EDGE = 3         # elements shown at each end of a shortened axis
_SHORTEN = 1000   # a vector longer than this is shortened; of a matrix, every row longer than 2 * _EDGE


def _formats(array):
    """The text of every element that is shown, as a function, and how many stand on a line."""
    kind = array.dtype.kind
    if kind == 'f':
        digits, width = (4, 11) if array.dtype.itemsize == 2 else (8, 15)
        return lambda v: f'{v:.{digits}e}'.rjust(width) if v - v == 0 else str(v).rjust(width), 12
    if kind == 'c':
        def one(v):
            sign = '' if f'{v.imag:g}'.startswith('-') else '+'
            return f'{v.real:g}{sign}{v.imag:g}j'
        return one, 24
    if kind == 'b':
        return lambda v: str(v).rjust(5), 12
    width = max(len(str(array.max())), len(str(array.min())))
    return lambda v: str(v).rjust(width), 24


def _short_floats(array):
    """bfloat16: as few digits as possible, to the widest."""
    width = max(len(f'{v:g}') for v in array.ravel())
    return lambda v: f'{v:g}'.rjust(width), 12


def _rows(array, one, per_line, indent, shorten):
    n = len(array)
    cut = n > 2 * _EDGE and shorten
    if array.ndim == 1:
        texts = [one(v) for v in array.tolist()]
        if cut:
            return f"[{', '.join(texts[:_EDGE])} ... {', '.join(texts[-_EDGE:])}]"
        lines = [', '.join(texts[k:k + per_line]) for k in range(0, n, per_line)]
        return '[' + (', \n' + ' ' * (indent + 1)).join(lines) + ']'
    index = list(range(_EDGE)) + [None] + list(range(n - _EDGE, n)) if cut else range(n)
    parts = ['...' if i is None else _rows(array[i], one, per_line, indent + 1, shorten) for i in index]
    text = '['
    for k, part in enumerate(parts):
        if k:
            text += ('\n' if parts[k - 1] == '...' else ',\n') + ' ' * (indent + 1)
        text += part
    return text + ']'


def _valued(t):
    """The value of a tensor that a transformation follows, where it may be looked at; else t."""
    import sys
    front = sys.modules.get('mindspore.jit.front')
    value = front.value_of(t) if front is not None else t
    if value is t:
        try:
            value = type(t)(t.asnumpy(), dtype=t.dtype)
        except RuntimeError:  # of a batch, or of a graph that is being made
            pass
    return value


def tensor_repr(t):
    """Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])"""
    head = f'{type(t).__name__}(shape={list(t.shape)}, dtype={t.dtype}, value='
    if t._traced:
        value = _valued(t)
        return head + ' <traced>)' if value is t else tensor_repr(value)
    if t.size == 0:
        return head + '\n)' if t.ndim > 1 else head + ' )'
    if t.ndim == 0:
        v = t.item()
        if isinstance(v, complex):
            return f'{head} {_formats(t.asnumpy())[0](v)})'
        return f'{head} {v:g})' if isinstance(v, float) else f'{head} {v})'
    array = t.asnumpy()
    one, per_line = _short_floats(array) if str(t.dtype) == 'BFloat16' else _formats(array)
    text = _rows(array, one, per_line, 0, t.ndim > 1 or t.size > _SHORTEN)
    return f'{head}\n{text})' if t.ndim > 1 else f'{head} {text})'


def tensor_str(t):
    """numpy's text of the elements."""
    if t._traced:
        value = _valued(t)
        return tensor_repr(t) if value is t else tensor_str(value)
    if str(t.dtype) != 'BFloat16':
        return str(t.asnumpy())
    import numpy
    return numpy.array2string(t.asnumpy(), formatter={'float_kind': '{:f}'.format})


def row_signature(row):
    """inspect.Signature of a function of the registry."""
    kinds = {1: inspect.Parameter.POSITIONAL_OR_KEYWORD, 2: inspect.Parameter.VAR_POSITIONAL,
             3: inspect.Parameter.KEYWORD_ONLY}
    return inspect.Signature([
        inspect.Parameter(name, kinds[kind], default=inspect.Parameter.empty if default is ... else default)
        for name, kind, default, _ in row._parameters])
