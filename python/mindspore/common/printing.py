"""Texts of tensors and functions, in the original's form."""
import inspect


def _array_text(array):
    import numpy
    options = {'precision': 4 if array.dtype == numpy.float16 else 8, 'separator': ', ', 'threshold': 1000}
    if array.dtype.kind in 'fc':
        options['floatmode'] = 'fixed'
        kind = 'float_kind' if array.dtype.kind == 'f' else 'complex_kind'
        digits = options['precision']
        finite = array[numpy.isfinite(array)] if array.size else array
        width = None
        if array.dtype.kind == 'f':
            width = max((len(f'{v:.{digits}e}') for v in (finite.min(), finite.max())), default=0) if finite.size else 0

            def one(v):
                text = f'{v:.{digits}e}' if numpy.isfinite(v) else str(v)
                return text.rjust(width)
            options['formatter'] = {kind: one}
    return numpy.array2string(array, **options)


def tensor_repr(t):
    """Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])"""
    head = f'{type(t).__name__}(shape={list(t.shape)}, dtype={t.dtype}, value='
    if t._traced:
        return head + ' <traced>)'
    if t.size == 0:
        return head + ' )'
    array = t.asnumpy()
    if t.ndim == 0:
        return f'{head} {array})'
    text = _array_text(array)
    return f'{head}\n{text})' if t.ndim > 1 else f'{head} {text})'


def tensor_str(t):
    """numpy's text of the elements."""
    return tensor_repr(t) if t._traced else str(t.asnumpy())


def row_signature(row):
    """inspect.Signature of a function of the registry."""
    kinds = {1: inspect.Parameter.POSITIONAL_OR_KEYWORD, 2: inspect.Parameter.VAR_POSITIONAL,
             3: inspect.Parameter.KEYWORD_ONLY}
    return inspect.Signature([
        inspect.Parameter(name, kinds[kind], default=inspect.Parameter.empty if default is ... else default)
        for name, kind, default, _ in row._parameters])
