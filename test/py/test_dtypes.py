"""Dtypes of results, for every pair of dtypes, beside those recorded from the original.

data/result_dtypes.tsv has a line per expression and a letter per dtype of `t` (or, a word per dtype of `a`, a letter
per dtype of `b`), in the order of CODES: the dtype of the result, `!` where the original refuses the types, `?`
where it has no kernel. DIFFERENT holds the cells that differ on purpose, and why.
"""
import pathlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops

CODES = dict(zip('bcsilBSILhyfdFD', ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16',
                                     'bfloat16', 'float32', 'float64', 'complex64', 'complex128']))
LETTER = {name: code for code, name in CODES.items()}
LINES = [line.split('\t') for line in (pathlib.Path(__file__).parent / 'data' / 'result_dtypes.tsv').read_text().splitlines()]

CALLS = {
    'ops.where': lambda a, b: ops.where(Tensor(True), a, b),
    'ops.matmul': lambda a, b: ops.matmul(a.reshape(1, 1), b.reshape(1, 1)),
    'ops.concat': lambda a, b: ops.concat((a, b)),
    'ops.ReduceSum': lambda t: ops.ReduceSum()(t),
    'Tensor.cumsum': lambda t: t.cumsum(0),
    'ops.cumsum': lambda t: ops.cumsum(t, 0),
    'ops.sort[0]': lambda t: ops.sort(t)[0],
    'ops.sort[1]': lambda t: ops.sort(t)[1],
    't += 2.5': lambda t: t.__add__(2.5),
}

# Computed here, refused by the original: `wide` has bool and a Python int beside the unsigned types of 16 bits and
# more (a result holds them all), and sorts every real dtype. Refused here: complex numbers have no floor. The
# magnitude of a complex number is real. See docs/differences.md.
WIDE = set('SIL')


def different(text, codes, want, got):
    if want == '!' and got != '!':
        return bool(WIDE & set(codes)) or text in ('ops.add', 'ops.sort[0]', 'ops.sort[1]')
    if '//' in text and got == '!':
        return bool(set(codes) & set('FD'))
    return text in ('ops.abs', 'ops.norm') and codes[0] in 'FD' and got == want.translate(str.maketrans('FD', 'fd'))


def expression(text):
    if text in CALLS:
        return CALLS[text]
    if text.startswith('Tensor.'):
        return lambda t: getattr(t, text[7:])()
    if text.startswith(('ops.', 'mint.')):
        group, name = text.split('.')
        return getattr({'ops': ops, 'mint': mint}[group], name)
    return eval(f'lambda {"a, b" if text.startswith("a ") else "t"}: {text}')


def result(fn, *codes):
    """The letter of the result's dtype, or `!` for TypeError."""
    try:
        return LETTER[str(fn(*[Tensor([1], ms._c.dtypes[CODES[code]]) for code in codes]).dtype).lower()]
    except TypeError:
        return '!'


def cells():
    for text, table in LINES:
        words = table.split()
        fn = expression(text)
        if len(words) == 1:
            for code, want in zip(CODES, table):
                yield text, (code,), want, fn
        else:
            for a, row in zip(CODES, words):
                for b, want in zip(CODES, row):
                    yield text, (a, b), want, fn


@pytest.mark.parametrize('text, table', LINES, ids=[text for text, _ in LINES])
def test_result_dtypes(text, table):
    wrong = []
    for name, codes, want, fn in cells():
        if name != text:
            continue
        got = result(fn, *codes)  # a cell without a kernel in the original: any dtype or TypeError, nothing else
        if want not in ('?', got) and not different(text, codes, want, got):
            wrong.append(f'{[CODES[c] for c in codes]}: {CODES.get(got, "TypeError")}, expected {CODES.get(want, "TypeError")}')
    assert not wrong, wrong


@pytest.mark.parametrize('dtype', ['int8', 'uint8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64', 'complex64'])
def test_sums_of_many_rows(dtype):
    x = Tensor(np.random.RandomState(0).randint(-50, 50, (3, 43, 1101))).astype(getattr(ms, dtype))
    exact = x.astype(ms.complex64).asnumpy().astype('c16')
    for axis in (1, 2, (0, 1), (0, 1, 2)):
        y = x.sum(axis=axis)  # rows are added eight at a time; what is left of them
        want = Tensor(exact.sum(axis).real).astype(y.dtype)
        np.testing.assert_array_equal(y.astype(ms.complex64).asnumpy(), want.astype(ms.complex64).asnumpy())
