"""Wrong arguments of every row: an exception of the right kind that names what is wrong, never a crash."""
import re

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor
from rows import TABLE
from test_rows import all_names, call, cast, flat, function, leaves

KINDS = (TypeError, ValueError, RuntimeError, IndexError, ZeroDivisionError, NotImplementedError, MemoryError, OverflowError)


@pytest.mark.parametrize('name', all_names())
def test_unknown_and_surplus_arguments(name):
    row, last = ms._c.row(name), name.rpartition('.')[2]
    with pytest.raises(TypeError, match=re.escape(last)) as info:
        row(no_such_parameter=1)
    assert 'no_such_parameter' in str(info.value) or 'valid calling' in str(info.value)
    if '*' not in re.sub(r'\*,', '', row.__doc__):
        with pytest.raises(TypeError, match=re.escape(last)):
            row(*[Tensor(1.0)] * 40)
    first = re.match(r'\w+\((\w+): ([^,)]*)', row.__doc__)
    if first and 'any' not in first.group(2):
        with pytest.raises(TypeError, match=re.escape(last)):
            row(object())


ODD = [np.zeros(()), np.zeros((0,)), np.zeros((2, 0, 3)), np.ones((1, 2, 1, 2, 1)), np.ones((7,)), np.ones((2, 3), bool),
       np.full((2, 3), 100, np.int8), np.ones((2, 3), np.complex64), np.full((3,), -7, np.int64)]


@pytest.mark.parametrize('row', TABLE, ids=lambda row: row.names[0])
def test_odd_tensors(row):
    """Each tensor of the first case in turn is something else: a result or an exception."""
    case = row.cases[0]
    fn = function(row.names[0])
    arrays = [cast(a, 'float32') for a in leaves((case.args, case.kw))]
    for k in range(len(arrays)):
        for odd in ODD:
            tensors = [Tensor(odd if n == k else a) for n, a in enumerate(arrays)]
            try:
                for result in flat(call(fn, case, tensors)):
                    if isinstance(result, Tensor):
                        result.asnumpy()
            except KINDS as e:
                assert str(e)

