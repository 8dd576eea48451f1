"""What kind of error a wrong call raises: the table says the kind, and the original's where it differs on purpose."""
import os

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, mint, nn, ops  # noqa: F401  the calls name them

with open(os.path.join(os.path.dirname(__file__), 'data', 'error_kinds.tsv')) as table:
    ROWS = [line.rstrip('\n').split('\t') for line in list(table)[1:]]


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


@pytest.mark.parametrize('kind, original, call', ROWS, ids=[r[2] for r in ROWS])
def test_kind(kind, original, call):
    names = {'a': ones(2, 3), 'b': ones(4, 5), 'v': ones(3), 'i': Tensor([0, 1]), 'm': Tensor([True, False]), 's3': ones(2, 3, 4),
             'im': ones(1, 3, 8, 8), 'f': ms.float32}
    got = 'none'
    try:
        eval(call, globals(), names)
    except Exception as e:
        got = type(e).__name__
    assert got == kind
